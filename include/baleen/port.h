/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The differences between userspace, BPF programs and the kernel: types, byte
 * order, the CRC instruction and how a block of a filter is reached.
 *
 * This is the only header that looks at the world it is compiled in.
 */
#ifndef BALEEN_PORT_H
#define BALEEN_PORT_H

#if defined(__bpf__)
/* vmlinux.h, when it came first, has the kernel's own types, wchar_t too. */
#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <linux/bpf.h>
#include <stddef.h>
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
#ifndef NULL
#define NULL ((void *)0)
#endif
#include <linux/errno.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#elif defined(__KERNEL__)
#include <linux/types.h>
#include <linux/errno.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/crc32c.h>
#include <asm/barrier.h>
#else
#include <linux/types.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#endif
#endif

#ifndef __KERNEL__
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
#endif

#ifdef __cplusplus
#define _Static_assert static_assert
#endif

#define baleen_inline static inline __attribute__((always_inline, unused))

/* Before a loop that clang shall leave one, and before one of which it shall leave none. */
#ifdef __clang__
#define BALEEN_LOOP _Pragma("clang loop unroll(disable)")
#define BALEEN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define BALEEN_LOOP
#define BALEEN_UNROLL
#endif

#define BALEEN_BLOCK_BYTES 64
#define BALEEN_BLOCK_WORDS 8

/**
 * struct baleen_block - one cache line of a filter, the unit of its body
 * @word: eight little-endian 64-bit words; read them with baleen_le64()
 */
struct baleen_block {
	u64 word[BALEEN_BLOCK_WORDS];
} __attribute__((aligned(BALEEN_BLOCK_BYTES)));

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define baleen_le16(x) ((u16)(x))
#define baleen_le32(x) ((u32)(x))
#define baleen_le64(x) ((u64)(x))
#define baleen_be16(x) __builtin_bswap16(x)
#define baleen_be32(x) __builtin_bswap32(x)
#define baleen_be64(x) __builtin_bswap64(x)
#else
#define baleen_le16(x) __builtin_bswap16(x)
#define baleen_le32(x) __builtin_bswap32(x)
#define baleen_le64(x) __builtin_bswap64(x)
#define baleen_be16(x) ((u16)(x))
#define baleen_be32(x) ((u32)(x))
#define baleen_be64(x) ((u64)(x))
#endif

/*
 * Big-endian fields of a packet, at any alignment. For BPF a plain load: clang
 * makes memcpy() of an unaligned field byte by byte, and the verifier checks
 * alignment itself on machines that need it.
 */
#if defined(__bpf__)
#define BALEEN_LOAD(type, p) (*(const type *)(p))
#else
#define BALEEN_LOAD(type, p)                                     \
	({                                                       \
		type baleen_loaded_value;                        \
		memcpy(&baleen_loaded_value, (p), sizeof(type)); \
		baleen_loaded_value;                             \
	})
#endif

baleen_inline u32 baleen_load_be32(const void *p)
{
	return baleen_be32(BALEEN_LOAD(u32, p));
}

baleen_inline u64 baleen_load_be64(const void *p)
{
	return baleen_be64(BALEEN_LOAD(u64, p));
}

/*
 * baleen_opaque64(x): x, of which clang for BPF knows nothing more, so that it keeps a mask that
 * only the verifier needs, and makes no branches of arithmetic. From version 17 on it also finds
 * in what counts bits, or multiplies by halves, operations that its back end does not have.
 */
baleen_inline u64 baleen_opaque64(u64 x)
{
#if defined(__bpf__)
	asm("" : "+r"(x));
#endif
	return x;
}

/* How many bits are set of each byte. */
baleen_inline u64 baleen_byte_counts(u64 x)
{
	/* Warren, "Hacker's Delight", figure 5-2; no world has to link for it. */
	x -= x >> 1 & 0x5555555555555555ull;
	x = baleen_opaque64(x);
	x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
	return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
}

baleen_inline u32 baleen_popcount64(u64 x)
{
	return baleen_byte_counts(x) * 0x0101010101010101ull >> 56;
}

/*
 * baleen_lowest64(x), baleen_highest64(x): the position of the lowest and of the
 * highest bit set of x, which is not 0. BPF has no instruction for it.
 */
#if defined(__bpf__)
baleen_inline u32 baleen_lowest64(u64 x)
{
	return baleen_popcount64((x & -x) - 1);
}

baleen_inline u32 baleen_highest64(u64 x)
{
	x |= x >> 1;
	x |= x >> 2;
	x |= x >> 4;
	x |= x >> 8;
	x |= x >> 16;
	x |= x >> 32;
	return baleen_popcount64(x) - 1;
}
#else
baleen_inline u32 baleen_lowest64(u64 x)
{
	return __builtin_ctzll(x);
}

baleen_inline u32 baleen_highest64(u64 x)
{
	return 63 - __builtin_clzll(x);
}
#endif

/*
 * Rounds of a loop over the blocks of a filter: a verifier follows each one, and the
 * kernel cannot wait for long, so what packets are looked up in needs no more.
 */
#if defined(__bpf__) || defined(__KERNEL__)
#define BALEEN_MAX_ROUNDS 18
#else
#define BALEEN_MAX_ROUNDS (~0u)
#endif

/*
 * baleen_store_block(store, index): the block at @index of a filter, or NULL
 * when there is none. A store is whatever holds the image in this world.
 */
#if defined(__bpf__) && defined(BALEEN_STORE_SECTION)
/* The filter is the data section of this object; its size is a constant of
 * the load, and the barrier keeps clang from trusting the template's size.
 */
struct baleen_section {
	const void *start;
	u64 bytes;
};

baleen_inline const struct baleen_block *baleen_store_block(const void *store, u32 index)
{
	const struct baleen_section *section = store;
	const u8 *start = section->start;
	u64 offset = (u64)index * BALEEN_BLOCK_BYTES;

	asm volatile("" : "+r"(start), "+r"(offset));
	if (offset > section->bytes - BALEEN_BLOCK_BYTES)
		return NULL;
	/* clang would add before the check, and the verifier see no bound. */
	asm volatile("" : "+r"(offset));
	return (const struct baleen_block *)(start + offset);
}
#elif defined(__bpf__)
/* The store is a BPF array map of 64-byte values; the lookup is inlined. */
baleen_inline const struct baleen_block *baleen_store_block(const void *store, u32 index)
{
	return bpf_map_lookup_elem((void *)store, &index);
}
#else
/* The store is the image in memory; the validator has checked its geometry. */
baleen_inline const struct baleen_block *baleen_store_block(const void *store, u32 index)
{
	return (const struct baleen_block *)store + index;
}
#endif

/*
 * baleen_store_bits(store, first_block, bit, n_bits): n_bits, up to 128, from a bit of
 * a table on, which is a multiple of n_bits, with more behind them. Whoever wrote the table
 * left room for the last load: see packed.h.
 */
struct baleen_bits {
	u64 low;
	u64 high;
};

#if defined(__bpf__)
/* A map's value ends after a block, and no load may pass it: words, each of its block. */
baleen_inline u64 baleen_store_load(const void *store, u32 first_block, u64 word)
{
	const struct baleen_block *block =
		baleen_store_block(store, first_block + (u32)(word >> 3));

	return block ? baleen_le64(*(const volatile u64 *)&block->word[word & 7]) : 0;
}

/* Buckets of 64 + 2^t bits begin at multiples of 2^t, at bit 64 - 2^t of a word at the latest, so
 * two words have them. Others of more than 64 may need a third, wherever the loads begin: of a
 * bucket that has a byte in one block, and more than 64 bits in the next, no two loads get all.
 * No negation in it, which verifiers before 6.14 do not follow.
 */
baleen_inline bool baleen_bits_need_three_words(u32 n_bits)
{
	u32 rest = n_bits - 64;

	return n_bits > 64 && (rest & (rest - 1));
}

baleen_inline struct baleen_bits baleen_store_bits(const void *store, u32 first_block, u64 bit,
						   u32 n_bits)
{
	u32 shift = bit & 63;
	u64 word = bit >> 6, next = baleen_store_load(store, first_block, word + 1);
	struct baleen_bits bits = { 0 };

	bits.low = baleen_store_load(store, first_block, word) >> shift | next << 1 << (63 - shift);
	if (n_bits > 64)
		bits.high = next >> shift;
	if (baleen_bits_need_three_words(n_bits))
		bits.high |= baleen_store_load(store, first_block, word + 2) << 1 << (63 - shift);
	return bits;
}
#else
/* Two loads at the most: of 122 bits and more the first is of the first half of a byte. */
baleen_inline struct baleen_bits baleen_store_bits(const void *store, u32 first_block, u64 bit,
						   u32 n_bits)
{
	const u8 *start = (const u8 *)((const struct baleen_block *)store + first_block);
	u32 shift = bit & 7;
	struct baleen_bits bits = { 0 };
	u64 second;

	/* All in one aligned word. By one load, since another one may change all of them at once by
	 * one store (semi.h), and before ARMv8.4 a load from any byte on may see half of that.
	 */
	if (n_bits <= 64 && !(n_bits & (n_bits - 1))) {
		bits.low = baleen_le64(((const volatile u64 *)start)[bit >> 6]) >> (bit & 63);
		return bits;
	}
	bits.low = baleen_le64(BALEEN_LOAD(u64, start + (bit >> 3))) >> shift;
	if (n_bits + 7 > 64) {
		second = baleen_le64(BALEEN_LOAD(u64, start + (bit >> 3) + 8));
		bits.low |= second << 1 << (63 - shift);
		bits.high = second >> shift;
	}
	return bits;
}
#endif

/*
 * baleen_store_word(word, value): one whole store, seen after all those before it, to
 * a word that others load meanwhile. There is one writer at a time. Not in BPF, which
 * changes no filter.
 */
#if defined(__KERNEL__)
baleen_inline void baleen_store_word(u64 *word, u64 value)
{
	smp_store_release(word, value);
}
#elif !defined(__bpf__)
baleen_inline void baleen_store_word(u64 *word, u64 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}
#endif

/*
 * baleen_after(p, x): p, from which a load is made after the load that x came from. Loads of
 * volatiles stay in order on x86, but not on arm64, nor does a branch keep them there. An address
 * that is made of the first does: x and 0, which compilers do not know to be 0, but verifiers do.
 * Before kernel 6.15 BPF has else only atomics (tests/litmus/cuckoo-atomic.litmus), which are
 * dear. Its JIT for arm64 keeps what is here (tests/litmus/cuckoo-after.litmus), and it may lie on
 * the stack meanwhile (tests/litmus/cuckoo-through-stack.litmus); gcc and clang keep the eor of C
 * (tests/litmus/cuckoo-eor.litmus).
 *
 * baleen_after_line(p, x): the same of another line, which is on its way already, since a load that
 * waits for another one costs as much as both.
 *
 * On x86 a miss of BPF took 0.2 to 0.6 ns more by it, with 64-bit slots 1 ns, medians of 31
 * interleaved rounds of tests/bench/bench-xdp with 10,000 hosts. So an object with
 * BALEEN_KNOWS_MACHINE defines baleen_loads_stay() by a constant of its load: on x86 the verifier
 * removes all this. In a section nobody changes a filter.
 *
 * Source: tests/litmus/, which names what is reached without, and never with it.
 */
#if defined(BALEEN_KNOWS_MACHINE)
baleen_inline bool baleen_loads_stay(void);
#else
baleen_inline bool baleen_loads_stay(void)
{
#if (defined(__bpf__) && defined(BALEEN_STORE_SECTION)) || defined(__x86_64__) || \
	defined(__i386__)
	return true;
#elif defined(__bpf__) || defined(__aarch64__)
	return false;
#else
#error "Baleen runs on x86-64 and arm64: of other machines nobody has proved the order of loads"
#endif
}
#endif

baleen_inline const void *baleen_after_always(const void *p, u64 x)
{
#if defined(__bpf__)
	asm("%0 &= 0" : "+r"(x));
#elif defined(__aarch64__)
	asm("eor %0, %0, %0" : "+r"(x));
#endif
	return (const u8 *)p + x;
}

baleen_inline const void *baleen_after(const void *p, u64 x)
{
	return baleen_loads_stay() ? p : baleen_after_always(p, x);
}

baleen_inline const void *baleen_after_line(const void *p, u64 x)
{
	/* Asked once: each time is three instructions of a verifier. */
	if (baleen_loads_stay())
		return p;
#if defined(__bpf__)
	(void)*(const volatile u64 *)p;
#else
	__builtin_prefetch(p);
#endif
	return baleen_after_always(p, x);
}

/*
 * baleen_crc32c(crc, data, bytes): CRC-32C (Castagnoli), RFC 3720 appendix
 * B.4; start with 0 and chain. Measured on 2 MiB: 0.2 ms with the SSE 4.2
 * instruction, 8.6 ms with the table of nibbles. Of arm64, ARMv8.0 may lack the instruction.
 */
#if defined(__KERNEL__)
baleen_inline u32 baleen_crc32c(u32 crc, const void *data, size_t bytes)
{
	const u8 *p = (const u8 *)data;

	/* The kernel's length has 32 bits. */
	for (size_t piece; bytes; bytes -= piece, p += piece) {
		piece = bytes < 1u << 30 ? bytes : 1u << 30;
		crc = ~crc32c(~crc, p, piece);
	}
	return crc;
}
#else
static inline __attribute__((unused)) u32 baleen_crc32c_portable(u32 crc, const void *data,
								 size_t bytes)
{
	static const u32 nibble[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	const u8 *p = (const u8 *)data;

	crc = ~crc;
	while (bytes--) {
		crc ^= *p++;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}

#if defined(__x86_64__) && !defined(__bpf__)
static inline __attribute__((unused, target("sse4.2"))) u32
baleen_crc32c_sse42(u32 crc, const void *data, size_t bytes)
{
	const u8 *p = (const u8 *)data;
	u64 state = (u32)~crc;

	for (; bytes >= 8; bytes -= 8, p += 8) {
		u64 word;

		memcpy(&word, p, sizeof(word));
		state = __builtin_ia32_crc32di(state, word);
	}
	while (bytes--)
		state = __builtin_ia32_crc32qi((u32)state, *p++);
	return ~(u32)state;
}

static inline __attribute__((unused)) u32 baleen_crc32c(u32 crc, const void *data, size_t bytes)
{
	if (__builtin_cpu_supports("sse4.2"))
		return baleen_crc32c_sse42(crc, data, bytes);
	return baleen_crc32c_portable(crc, data, bytes);
}
#elif defined(__aarch64__) && !defined(__bpf__)
/* By asm, since compilers call it differently, and none knows of it without an option. */
static inline __attribute__((unused)) u32 baleen_crc32c_arm64(u32 crc, const void *data,
							      size_t bytes)
{
	const u8 *p = (const u8 *)data;

	crc = ~crc;
	for (; bytes >= 8; bytes -= 8, p += 8) {
		u64 word;

		memcpy(&word, p, sizeof(word));
		asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
	}
	while (bytes--)
		asm(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(*p++));
	return ~crc;
}

static inline __attribute__((unused)) u32 baleen_crc32c(u32 crc, const void *data, size_t bytes)
{
	if (getauxval(AT_HWCAP) & HWCAP_CRC32)
		return baleen_crc32c_arm64(crc, data, bytes);
	return baleen_crc32c_portable(crc, data, bytes);
}
#else
static inline __attribute__((unused)) u32 baleen_crc32c(u32 crc, const void *data, size_t bytes)
{
	return baleen_crc32c_portable(crc, data, bytes);
}
#endif
#endif

#endif /* BALEEN_PORT_H */
