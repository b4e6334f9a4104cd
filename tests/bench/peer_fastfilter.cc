// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters of FastFilter/fastfilter_cpp for bench_lib, from their headers as they are. */
#include "filterapi.h"
#include "lib_peer.h"

/* Their blocked Bloom filter takes its size for keys at 24 to a line of 32 bytes. */
template <int per_line> struct bloom_peer : SimdBlockFilterFixed<SimpleMixSplit> {
	explicit bloom_peer(size_t n) : SimdBlockFilterFixed<SimpleMixSplit>(n * 24 / per_line)
	{
	}

	void fill(const uint64_t *keys, size_t n)
	{
		AddAll(keys, 0, n);
	}

	bool has(uint64_t key) const
	{
		return Find(key);
	}
};

template <class Table> struct cuckoo_peer : Table {
	explicit cuckoo_peer(size_t n) : Table(n)
	{
	}

	void fill(const uint64_t *keys, size_t n)
	{
		for (size_t i = 0; i < n; i++)
			FilterAPI<Table>::Add(keys[i], this);
	}

	bool has(uint64_t key) const
	{
		return this->Contain(key) == 0;
	}
};

/* Filters that are made of all keys at once, and take no more. */
template <class Table> struct static_peer : Table {
	explicit static_peer(size_t n) : Table(n)
	{
	}

	void fill(const uint64_t *keys, size_t n)
	{
		this->AddAll(vector<uint64_t>(keys, keys + n), 0, n);
	}

	bool has(uint64_t key) const
	{
		return this->Contain(key) == 0;
	}
};

template <class Filter> struct peer {
	static void *make(const uint64_t *keys, size_t n)
	{
		Filter *made = new Filter(n);

		try {
			made->fill(keys, n);
		} catch (const logic_error &) {
			delete made;
			return nullptr;
		}
		return made;
	}

	static size_t test(const void *made, const uint64_t *keys, size_t n)
	{
		const Filter *asked = static_cast<const Filter *>(made);
		size_t found = 0;

		for (size_t i = 0; i < n; i++)
			found += asked->has(keys[i]);
		return found;
	}

	static size_t bytes(const void *made)
	{
		return static_cast<const Filter *>(made)->SizeInBytes();
	}

	static void destroy(void *made)
	{
		delete static_cast<Filter *>(made);
	}
};

template <size_t bits>
using cuckoo = cuckoo_peer<CuckooFilterStable<uint64_t, bits, SingleTable, SimpleMixSplit>>;
template <class Word>
using fuse = static_peer<xorbinaryfusefilter_lowmem::XorBinaryFuseFilter<uint64_t, Word>>;

#define PEER(name, fpp, ...)                                                  \
	{                                                                     \
		name, fpp, peer<__VA_ARGS__>::make, peer<__VA_ARGS__>::test,  \
			peer<__VA_ARGS__>::bytes, peer<__VA_ARGS__>::destroy, \
	}

extern "C" {
extern const struct lib_peer lib_peers[];
const struct lib_peer lib_peers[] = {
	PEER("fastfilter blocked Bloom", 0.02, bloom_peer<28>),
	PEER("fastfilter blocked Bloom", 0.001, bloom_peer<14>),
	PEER("fastfilter cuckoo, 8 bits", 0.02, cuckoo<8>),
	PEER("fastfilter cuckoo, 12 bits", 0.001, cuckoo<12>),
	PEER("fastfilter cuckoo, 16 bits", 0.000244, cuckoo<16>),
	PEER("fastfilter binary fuse, 8 bits (static)", 0.001, fuse<uint8_t>),
	PEER("fastfilter binary fuse, 16 bits (static)", 0.000244, fuse<uint16_t>),
	{},
};
}
