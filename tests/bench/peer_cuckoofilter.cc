// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The filters of efficient/cuckoofilter for bench_lib, from their headers as they are. */
#include <cstring>
#include <sstream>

#include "cuckoofilter.h"
#include "lib_peer.h"

template <size_t bits, template <size_t> class Table> struct cuckoo_peer {
	typedef cuckoofilter::CuckooFilter<uint64_t, bits, Table> filter;

	static void *make(const uint64_t *keys, size_t n)
	{
		filter *made = new filter(n);

		for (size_t i = 0; i < n; i++) {
			if (made->Add(keys[i]) != cuckoofilter::Ok) {
				delete made;
				return nullptr;
			}
		}
		return made;
	}

	static size_t test(const void *made, const uint64_t *keys, size_t n)
	{
		const filter *asked = static_cast<const filter *>(made);
		size_t found = 0;

		for (size_t i = 0; i < n; i++)
			found += asked->Contain(keys[i]) == cuckoofilter::Ok;
		return found;
	}

	static size_t bytes(const void *made)
	{
		return static_cast<const filter *>(made)->SizeInBytes();
	}

	static void destroy(void *made)
	{
		delete static_cast<filter *>(made);
	}
};

#define PEER(name, fpp, ...)                                                         \
	{                                                                            \
		name, fpp, __VA_ARGS__::make, __VA_ARGS__::test, __VA_ARGS__::bytes, \
			__VA_ARGS__::destroy,                                        \
	}

extern "C" {
extern const struct lib_peer lib_peers[];
const struct lib_peer lib_peers[] = {
	PEER("cuckoofilter 8 bits", 0.02, cuckoo_peer<8, cuckoofilter::SingleTable>),
	PEER("cuckoofilter 12 bits", 0.001, cuckoo_peer<12, cuckoofilter::SingleTable>),
	PEER("cuckoofilter 13 bits, sorted", 0.001, cuckoo_peer<13, cuckoofilter::PackedTable>),
	PEER("cuckoofilter 16 bits", 0.000244, cuckoo_peer<16, cuckoofilter::SingleTable>),
	{},
};
}
