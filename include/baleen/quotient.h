/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The quotient filter: sorted fingerprints in a table of slots.
 *
 * Idea: a fingerprint of q + r bits is split. Its upper q bits, the quotient,
 * say in which slot it belongs; a slot keeps the lower r, the remainder. Those
 * of one quotient stand side by side, sorted: a run. A remainder whose slot is taken
 * stands further on, in the order of the quotients; three bits a slot say
 * which is which, so nothing is lost and the fingerprints can be read back in
 * order. That is why such filters merge in one pass like sorted lists, and
 * double without their keys by moving a bit from remainder to quotient.
 *
 * Papers: Cleary, "Compact Hash Tables Using Bidirectional Linear Probing"
 * (IEEE Transactions on Computers, 1984); Bender et al., "Don't Thrash: How to
 * Cache Your Hash on Flash" (VLDB 2012), section 3.
 *
 *      occupied   of slot i: there is a run of quotient i, here or further on
 *      continued  the remainder in slot i belongs to the run of slot i - 1
 *      shifted    the remainder in slot i is not of quotient i
 *
 *      A cluster: a slot in use that is not shifted, and those after it that are.
 *      A slot is empty when it has none of the three bits. After the last slot
 *      comes slot 0.
 *
 *      body: groups of 64 slots, each of 3 + r words of 64 bits
 *      +----------+-----------+---------+-----------------------------+
 *      | occupied | continued | shifted | 64 remainders of r bits     |
 *      +----------+-----------+---------+-----------------------------+
 *       bit i: slot i of the group        remainder i at bit i * r
 *
 * Example: q = 5, r = 6, quotient|remainder 10001|001010, 10011|100111,
 * 10011|111111, 10100|000000, 10100|101101, 10100|111110:
 *
 *      slot        17      18   19      20      21      22      23
 *      remainder   001010       100111  111111  000000  101101  111110
 *      o, c, s     1 0 0        1 0 0   1 1 1   0 0 1   0 1 1   0 1 1
 *
 * Where is 10100|101101? Slot 20 is occupied. Back from it, 20 is shifted and
 * 19 is not: the cluster starts there. Slots 19 to 20 have two occupied bits,
 * so it is in the second run of the cluster. From 19 on the second slot that is
 * not continued is 21, the next one is 24 (empty): the run is 21 to 23.
 *
 * The fingerprint is the top q + r bits of the permuted IPv4 key or of
 * baleen_hash64(). All bits of an IPv4 or WORD key: exact. Otherwise a key
 * outside a set of n is found with probability 1 - e^(-n / 2^(q + r)), load
 * times 2^-r: 1 % at r = 6 and load 0.64.
 *
 * With BALEEN_FLAG_COPIES it is a multiset: each key that is added takes a slot,
 * also where its fingerprint is there, and copies of one stand side by side in its
 * run. So deleting a key leaves the others that look the same. Without it a
 * fingerprint is there once.
 *
 * Bound of the scan: a probe reads one cluster. For one to start at a given
 * slot and be longer than L, L keys have to fall on L slots, where a L are
 * expected at load a: at most e^(-L (a - 1 - ln a)) (Chernoff). A packet
 * program reads BALEEN_QUOTIENT_SCAN = 1024 slots each way. At the load that is
 * planned for at most, 0.75, that is 1.8e-17 a slot: 1.8e-11 for a table of a
 * million slots and 3.8e-8 for the largest, 2^31. Then, or in a table that was
 * filled further, or has many copies of one key, it is too long for packets: attach refuses the
 * image, see baleen_quotient_fits_packets(); userspace reads all of it.
 */
#ifndef BALEEN_QUOTIENT_H
#define BALEEN_QUOTIENT_H

#include <baleen/image.h>

/* Slots of the longest cluster that a packet program reads. */
#define BALEEN_QUOTIENT_SCAN 1024

/* Words of 64 slots that a cluster of so many, and its next slot, can touch. */
#define BALEEN_QUOTIENT_ROUNDS(cluster) ((cluster) / 64 + 2)

#if BALEEN_QUOTIENT_ROUNDS(BALEEN_QUOTIENT_SCAN) > BALEEN_MAX_ROUNDS
#error "a packet program cannot read clusters as long as it says"
#endif

/**
 * enum baleen_quotient_plane - the words of a group that come before remainders
 * @BALEEN_QUOTIENT_OCCUPIED: bit i: there is a run of quotient i
 * @BALEEN_QUOTIENT_CONTINUED: bit i: of the run of slot i - 1
 * @BALEEN_QUOTIENT_SHIFTED: bit i: not in the slot of its quotient
 */
enum baleen_quotient_plane {
	BALEEN_QUOTIENT_OCCUPIED = 0,
	BALEEN_QUOTIENT_CONTINUED = 1,
	BALEEN_QUOTIENT_SHIFTED = 2,
};

/**
 * struct baleen_quotient_run - slots side by side that hold one quotient
 * @cluster: the first slot of the cluster it is in
 * @first: its first slot
 * @n: how many; 0 where the body makes no sense
 *
 * Slot numbers are below that of the table's slots; what follows the last one
 * is slot 0.
 */
struct baleen_quotient_run {
	u32 cluster;
	u32 first;
	u32 n;
};

/**
 * baleen_quotient_fits_packets() - can a packet program hold this table?
 * @table: a quotient table, sealed
 *
 * Context: any.
 * Return: false when a cluster is longer than the program reads.
 */
baleen_inline bool baleen_quotient_fits_packets(const struct baleen_table *table)
{
	return table->longest_cluster <= BALEEN_QUOTIENT_SCAN;
}

/**
 * baleen_quotient_fold() - the fingerprint of a hash
 * @table: a quotient table
 * @domain: its domain
 * @hash: the permuted IPv4 key, or baleen_hash64() of another
 *
 * Context: any, BPF-safe.
 * Return: its upper q + r bits.
 */
baleen_inline u64 baleen_quotient_fold(const struct baleen_table *table, u32 domain, u64 hash)
{
	return hash >> (baleen_key_bits(domain) - table->log2_buckets - table->slot_bits);
}

/**
 * baleen_quotient_fingerprint() - the fingerprint of a key
 * @table: a quotient table of @key's domain
 * @seed: the filter's seed
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: q + r bits.
 */
baleen_inline u64 baleen_quotient_fingerprint(const struct baleen_table *table,
					      const struct baleen_seed *seed,
					      const struct baleen_key *key)
{
	u64 hash = key->domain == BALEEN_IP4 ? baleen_permute32(seed, key->ip4) :
					       baleen_hash64(seed, key);

	return baleen_quotient_fold(table, key->domain, hash);
}

/* A word of a group; what is outside of the store is empty. */
baleen_inline u64 baleen_quotient_word(const struct baleen_table *table, const void *store,
				       u32 group, u32 i)
{
	u64 word = (u64)group * (BALEEN_QUOTIENT_META + table->slot_bits) + i;
	const struct baleen_block *block =
		baleen_store_block(store, table->first_block + (u32)(word >> 3));

	return block ? baleen_le64(block->word[word & 7]) : 0;
}

/* The bits of 64 slots. @group is modulo their number, and a table of less than
 * 64 slots repeats them.
 */
baleen_inline u64 baleen_quotient_bits(const struct baleen_table *table, const void *store,
				       u32 group, enum baleen_quotient_plane plane)
{
	u32 mask = (table->n_buckets - 1) >> 6;
	u64 bits = baleen_quotient_word(table, store, group & mask, plane);

	BALEEN_LOOP
	for (u32 log2 = table->log2_buckets; log2 < 6; log2++)
		bits |= bits << (1u << log2);
	return bits;
}

/**
 * baleen_quotient_get() - the remainder in a slot
 * @table: a quotient table
 * @store: the image (see baleen_store_block())
 * @slot: number of the slot, modulo their number
 *
 * Context: any, BPF-safe.
 * Return: table->slot_bits bits.
 */
baleen_inline u64 baleen_quotient_get(const struct baleen_table *table, const void *store, u32 slot)
{
	u32 group = (slot & (table->n_buckets - 1)) >> 6;
	u32 bit = (slot & (table->n_buckets - 1) & 63) * table->slot_bits;
	u32 i = BALEEN_QUOTIENT_META + (bit >> 6), shift = bit & 63;
	/* 1 where the remainder goes on in the next word; otherwise what is read
	 * again is above the remainder. A branch would go either way.
	 */
	u32 more = (64 - shift - table->slot_bits) >> 31;
	u64 remainder = baleen_quotient_word(table, store, group, i) >> shift;

	remainder |= baleen_quotient_word(table, store, group, i + more) << 1 << (63 - shift);
	return remainder & ~(~0ull << table->slot_bits);
}

/* The bytes of x, each 0 to 128, that are at most n, 0 to 127: how many. */
baleen_inline u32 baleen_bytes_up_to(u64 x, u32 n)
{
	u64 ones = 0x0101010101010101ull;

	return ((n * ones + (ones << 7) - x) >> 7 & ones) * ones >> 56;
}

/* The position of the bit set of x before which there are n others; there is one.
 * Vigna, "Broadword implementation of rank/select queries" (WEA 2008), section 4.
 */
baleen_inline u32 baleen_select64(u64 x, u32 n)
{
	u64 ones = 0x0101010101010101ull, sums, bits;
	u32 shift;

	/* Byte i: the bits set of bytes 0 to i, then bits 0 to i of one byte. */
	sums = baleen_byte_counts(x) * ones;
	shift = baleen_bytes_up_to(sums, n) * 8;
	n -= sums << 8 >> shift & 0xff;
	bits = (x >> shift & 0xff) * ones & 0x8040201008040201ull;
	sums = ((bits + 0x7f7f7f7f7f7f7f7full) >> 7 & ones) * ones;
	return shift + baleen_bytes_up_to(sums, n);
}

/* From @group's @bits on, in words of slots that are not continued, to the word
 * of the one before which there are @n_before others; what is left of @n_before
 * are bits of that word. False when it is too far for a cluster of the table.
 */
baleen_inline bool baleen_quotient_skip(const struct baleen_table *table, const void *store,
					u32 *group, u64 *bits, u32 *n_before)
{
	u32 rounds = BALEEN_QUOTIENT_ROUNDS(table->longest_cluster);

	BALEEN_LOOP
	for (u32 i = 0; i < rounds && i < BALEEN_MAX_ROUNDS; i++) {
		u32 n = baleen_popcount64(*bits);

		if (n > *n_before)
			return true;
		*n_before -= n;
		++*group;
		*bits = ~baleen_quotient_bits(table, store, *group, BALEEN_QUOTIENT_CONTINUED);
	}
	return false;
}

/**
 * baleen_quotient_find() - the run of a quotient, or the last one before it
 * @table: a quotient table
 * @store: the image (see baleen_store_block())
 * @quotient: number of a slot that is in use
 *
 * Context: any, BPF-safe.
 * Return: where @quotient is occupied its run; else the run of the nearest
 * quotient before it that is, which reaches past slot @quotient.
 */
baleen_inline struct baleen_quotient_run baleen_quotient_find(const struct baleen_table *table,
							      const void *store, u32 quotient)
{
	u32 rounds = BALEEN_QUOTIENT_ROUNDS(table->longest_cluster);
	u64 reach = ~0ull >> (63 - (quotient & 63)), occupied = 0, bits = 0;
	struct baleen_quotient_run run = { 0 };
	u32 group = quotient >> 6, n_runs = 0, first;

	/* Back to the start of the cluster, counting its runs. */
	BALEEN_LOOP
	for (u32 i = 0; i < rounds && i < BALEEN_MAX_ROUNDS; i++) {
		bits = ~baleen_quotient_bits(table, store, group, BALEEN_QUOTIENT_SHIFTED) & reach;
		occupied = baleen_quotient_bits(table, store, group, BALEEN_QUOTIENT_OCCUPIED);
		n_runs += baleen_popcount64(occupied & reach);
		if (bits)
			break;
		reach = ~0ull;
		group--;
	}
	if (!bits)
		return run;
	run.cluster = (group * 64 + baleen_highest64(bits)) & (table->n_buckets - 1);
	reach = ~0ull << baleen_highest64(bits);
	n_runs -= baleen_popcount64(occupied & ~reach);
	if (!n_runs)
		return run;

	/* As many runs on. */
	bits = ~baleen_quotient_bits(table, store, group, BALEEN_QUOTIENT_CONTINUED) & reach;
	n_runs--;
	if (!baleen_quotient_skip(table, store, &group, &bits, &n_runs))
		return run;
	first = group * 64 + baleen_select64(bits, n_runs);
	bits &= ~1ull << (first & 63);
	/* The run ends before the next one that is not continued. */
	BALEEN_LOOP
	for (u32 i = 0; !bits && i < rounds && i < BALEEN_MAX_ROUNDS; i++) {
		group++;
		bits = ~baleen_quotient_bits(table, store, group, BALEEN_QUOTIENT_CONTINUED);
	}
	if (!bits)
		return run;
	run.first = first & (table->n_buckets - 1);
	run.n = group * 64 + baleen_lowest64(bits) - first;
	return run;
}

/**
 * baleen_quotient_has() - is a fingerprint in the table?
 * @table: a quotient table
 * @store: the image (see baleen_store_block())
 * @fingerprint: q + r bits
 *
 * Context: any, BPF-safe.
 * Return: 1 it is, once or more often, 0 it is not.
 */
baleen_inline int baleen_quotient_has(const struct baleen_table *table, const void *store,
				      u64 fingerprint)
{
	u32 quotient = fingerprint >> table->slot_bits;
	u64 remainder = fingerprint & ~(~0ull << table->slot_bits);
	struct baleen_quotient_run run;

	if (!(baleen_quotient_bits(table, store, quotient >> 6, BALEEN_QUOTIENT_OCCUPIED) >>
		      (quotient & 63) &
	      1))
		return 0;
	run = baleen_quotient_find(table, store, quotient);
	BALEEN_LOOP
	for (u32 i = 0; run.n && i < BALEEN_MAX_ROUNDS; i++) {
		u32 half = run.n / 2;
		u64 middle = baleen_quotient_get(table, store, run.first + half);
		u32 is_less = baleen_opaque64(middle - remainder) >> 63;

		if (middle == remainder)
			return 1;
		/* The upper n - half - 1 of n, or the lower half. */
		run.first += (half + 1) & -is_less;
		run.n = half - (is_less & ~run.n);
	}
	return 0;
}

/**
 * baleen_quotient_test() - may the key be in the filter?
 * @table: a quotient table of @key's domain
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: 1 maybe (yes, when the table is exact), 0 surely not.
 */
baleen_inline int baleen_quotient_test(const struct baleen_table *table,
				       const struct baleen_seed *seed, const void *store,
				       const struct baleen_key *key)
{
	return baleen_quotient_has(table, store, baleen_quotient_fingerprint(table, seed, key));
}

#endif /* BALEEN_QUOTIENT_H */
