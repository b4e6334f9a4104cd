// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys of several fields: which domain they are of, and that each is its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <baleen/key.h>

#include "random.h"

#define ROUNDS 2000

static const u32 each_field[] = { BALEEN_KEY_SRC, BALEEN_KEY_DST, BALEEN_KEY_SPORT,
				  BALEEN_KEY_DPORT, BALEEN_KEY_PROTO };

static u32 slow_bits(u32 spec, bool is_ip6)
{
	u32 bits = 0;

	for (u32 i = 0; i < 5; i++) {
		if (!(spec & each_field[i]))
			continue;
		bits += i < 2 ? (is_ip6 ? 128 : 32) : i < 4 ? 16 : 8;
	}
	return bits;
}

static u32 slow_domain(u32 spec, bool is_ip6)
{
	if (spec == BALEEN_KEY_SRC || spec == BALEEN_KEY_DST)
		return is_ip6 ? BALEEN_IP6 : BALEEN_IP4;
	return slow_bits(spec, is_ip6) > 64 ? BALEEN_TUPLE : BALEEN_WORD;
}

static struct baleen_fields random_fields(struct random *random, bool is_ip6)
{
	struct baleen_fields fields = {
		.is_ip6 = is_ip6,
		.src_lo = random_next(random) >> (is_ip6 ? 0 : 32),
		.dst_lo = random_next(random) >> (is_ip6 ? 0 : 32),
		.sport = random_next(random),
		.dport = random_next(random),
		.proto = random_next(random),
	};

	if (is_ip6) {
		fields.src_hi = random_next(random);
		fields.dst_hi = random_next(random);
	}
	return fields;
}

static bool same_key(const struct baleen_key *a, const struct baleen_key *b)
{
	return a->domain == b->domain && a->ip4 == b->ip4 && a->hi == b->hi && a->lo == b->lo &&
	       a->dst_hi == b->dst_hi && a->dst_lo == b->dst_lo && a->rest == b->rest;
}

/* Changes one bit of the field number @i; bit @bit of as many as it has. */
static void flip(struct baleen_fields *fields, u32 i, u32 bit)
{
	switch (each_field[i]) {
	case BALEEN_KEY_SRC:
		*(fields->is_ip6 && bit & 64 ? &fields->src_hi : &fields->src_lo) ^=
			1ull << bit % (fields->is_ip6 ? 64 : 32);
		break;
	case BALEEN_KEY_DST:
		*(fields->is_ip6 && bit & 64 ? &fields->dst_hi : &fields->dst_lo) ^=
			1ull << bit % (fields->is_ip6 ? 64 : 32);
		break;
	case BALEEN_KEY_SPORT: fields->sport ^= 1 << bit % 16; break;
	case BALEEN_KEY_DPORT: fields->dport ^= 1 << bit % 16; break;
	default: fields->proto ^= 1 << bit % 8; break;
	}
}

static void test_domains(void **state)
{
	for (u32 spec = 1; spec <= BALEEN_KEY_FLOW; spec++) {
		for (u32 is_ip6 = 0; is_ip6 < 2; is_ip6++) {
			assert_int_equal(baleen_spec_bits(spec, is_ip6), slow_bits(spec, is_ip6));
			assert_int_equal(baleen_spec_domain(spec, is_ip6),
					 slow_domain(spec, is_ip6));
		}
		assert_int_equal(baleen_spec_is_address(spec), spec == 1 || spec == 2);
	}
	/* The longest that fits is a word: src,dst of IPv4 and src,sport,dport. */
	assert_int_equal(baleen_spec_domain(3, false), BALEEN_WORD);
	assert_int_equal(baleen_spec_domain(13, false), BALEEN_WORD);
	assert_int_equal(baleen_spec_domain(29, false), BALEEN_TUPLE);
	assert_int_equal(baleen_spec_domain(28, true), BALEEN_WORD);
}

/* Members that the domain does not have are zero. */
static void test_unused_members(void **state)
{
	struct random random = random_from(1);

	for (u32 round = 0; round < ROUNDS; round++) {
		u32 spec = 1 + round % BALEEN_KEY_FLOW;
		struct baleen_fields fields = random_fields(&random, round / 31 % 2);
		struct baleen_key key = baleen_key_fields(spec, &fields);

		assert_int_equal(key.domain, slow_domain(spec, fields.is_ip6));
		if (key.domain != BALEEN_IP4)
			assert_int_equal(key.ip4, 0);
		if (key.domain == BALEEN_IP4 || key.domain == BALEEN_WORD)
			assert_int_equal(key.hi, 0);
		if (key.domain == BALEEN_IP4)
			assert_int_equal(key.lo, 0);
		if (key.domain == BALEEN_WORD && slow_bits(spec, fields.is_ip6) < 64)
			assert_int_equal(key.lo >> slow_bits(spec, fields.is_ip6), 0);
		if (key.domain != BALEEN_TUPLE)
			assert_true(!key.dst_hi && !key.dst_lo && !key.rest);
	}
}

/* A key changes with each bit of a field it names, and with no other. */
static void test_fields(void **state)
{
	struct random random = random_from(2);

	for (u32 round = 0; round < 20 * 31 * 2; round++) {
		u32 spec = 1 + round % BALEEN_KEY_FLOW;
		struct baleen_fields fields = random_fields(&random, round / 31 % 2);
		struct baleen_key key = baleen_key_fields(spec, &fields);

		for (u32 i = 0; i < 5 * 128; i++) {
			struct baleen_fields other = fields;
			struct baleen_key changed;

			flip(&other, i / 128, i % 128);
			changed = baleen_key_fields(spec, &other);
			if (same_key(&key, &changed) == !!(spec & each_field[i / 128]))
				fail_msg("key %u, IPv%u: bit %u of field %u", spec,
					 fields.is_ip6 ? 6 : 4, i % 128, i / 128);
		}
	}
}

static u64 take(u64 *word, u32 bits)
{
	u64 value = bits < 64 ? *word % (1ull << bits) : *word;

	*word = bits < 64 ? *word >> bits : 0;
	return value;
}

/* The fields can be had back from the key, so no two sets share one. */
static void assert_back(u32 spec, const struct baleen_fields *fields)
{
	struct baleen_key key = baleen_key_fields(spec, fields);
	u64 word = key.lo, rest = key.rest, mapped = fields->is_ip6 ? 0 : 0xffffull << 32;

	if (key.domain == BALEEN_WORD) {
		if (spec & BALEEN_KEY_DPORT)
			assert_int_equal(take(&word, 16), fields->dport);
		if (spec & BALEEN_KEY_SPORT)
			assert_int_equal(take(&word, 16), fields->sport);
		if (spec & BALEEN_KEY_DST)
			assert_int_equal(take(&word, 32), fields->dst_lo);
		if (spec & BALEEN_KEY_SRC)
			assert_int_equal(take(&word, 32), fields->src_lo);
		if (spec & BALEEN_KEY_PROTO)
			assert_int_equal(take(&word, 8), fields->proto);
		assert_int_equal(word, 0);
		return;
	}
	if (key.domain != BALEEN_TUPLE)
		return;
	assert_int_equal(take(&rest, 16), spec & BALEEN_KEY_DPORT ? fields->dport : 0);
	assert_int_equal(take(&rest, 16), spec & BALEEN_KEY_SPORT ? fields->sport : 0);
	assert_int_equal(take(&rest, 8), spec & BALEEN_KEY_PROTO ? fields->proto : 0);
	assert_int_equal(rest, fields->is_ip6);
	assert_int_equal(key.hi, spec & BALEEN_KEY_SRC ? fields->src_hi : 0);
	assert_int_equal(key.lo, spec & BALEEN_KEY_SRC ? fields->src_lo | mapped : 0);
	assert_int_equal(key.dst_hi, spec & BALEEN_KEY_DST ? fields->dst_hi : 0);
	assert_int_equal(key.dst_lo, spec & BALEEN_KEY_DST ? fields->dst_lo | mapped : 0);
}

static void test_back(void **state)
{
	struct random random = random_from(3);

	for (u32 round = 0; round < ROUNDS; round++) {
		struct baleen_fields fields = random_fields(&random, round % 2);

		for (u32 spec = 1; spec <= BALEEN_KEY_FLOW; spec++)
			assert_back(spec, &fields);
	}
}

/* The family that @fields are of is part of every key that has an address,
 * even when the IPv6 packet has the IPv4-mapped address of the IPv4 packet.
 */
static void test_families(void **state)
{
	struct random random = random_from(4);

	for (u32 round = 0; round < ROUNDS; round++) {
		struct baleen_fields ip4 = random_fields(&random, false), ip6 = ip4;

		ip6.is_ip6 = true;
		if (round % 2) {
			ip6.src_lo |= 0xffffull << 32;
			ip6.dst_lo |= 0xffffull << 32;
		}
		for (u32 spec = 1; spec <= BALEEN_KEY_FLOW; spec++) {
			struct baleen_key a = baleen_key_fields(spec, &ip4);
			struct baleen_key b = baleen_key_fields(spec, &ip6);
			bool has_address = spec & BALEEN_KEY_SRC || spec & BALEEN_KEY_DST;

			if (same_key(&a, &b) == has_address)
				fail_msg("key %u", spec);
		}
	}
}

/* The order in which a word is packed is part of the image. */
static void test_values(void **state)
{
	struct baleen_fields fields = {
		.src_lo = 0xc0000201,
		.dst_lo = 0xc6336402,
		.sport = 0x1234,
		.dport = 22,
		.proto = 6,
	};
	struct baleen_key key;

	assert_int_equal(baleen_key_fields(BALEEN_KEY_SRC, &fields).ip4, 0xc0000201);
	assert_int_equal(baleen_key_fields(BALEEN_KEY_DST, &fields).ip4, 0xc6336402);
	assert_int_equal(baleen_key_fields(3, &fields).lo, 0xc0000201c6336402ull);
	assert_int_equal(baleen_key_fields(13, &fields).lo, 0xc000020112340016ull);
	assert_int_equal(baleen_key_fields(28, &fields).lo, 0x0612340016ull);
	assert_int_equal(baleen_key_fields(BALEEN_KEY_PROTO, &fields).lo, 6);
	key = baleen_key_fields(BALEEN_KEY_FLOW, &fields);
	assert_int_equal(key.lo, 0xffffc0000201ull);
	assert_int_equal(key.dst_lo, 0xffffc6336402ull);
	assert_int_equal(key.rest, 0x0612340016ull);
	fields.is_ip6 = true;
	fields.src_hi = 0x20010db800000000ull;
	key = baleen_key_fields(BALEEN_KEY_FLOW, &fields);
	assert_int_equal(key.hi, 0x20010db800000000ull);
	assert_int_equal(key.lo, 0xc0000201);
	assert_int_equal(key.rest, 0x10612340016ull);
}

/* Which fields a key of each domain has: ip4, hi, lo, dst_hi, dst_lo, rest. */
static const char *const fields_of[] = { "100000", "011000", "001000", "011111" };

static void test_bad_keys(void **state)
{
	for (u32 domain = 0; domain < 300; domain++) {
		for (int field = 0; field < 6; field++) {
			struct baleen_key key = { .domain = domain };
			u64 *wide[] = { &key.hi, &key.lo, &key.dst_hi, &key.dst_lo, &key.rest };
			bool own = domain <= BALEEN_TUPLE && fields_of[domain][field] == '1';

			assert_int_equal(baleen_key_is_bad(&key), domain > BALEEN_TUPLE);
			for (int bit = 0; bit < (field ? 64 : 32); bit++) {
				if (field)
					*wide[field - 1] = 1ull << bit;
				else
					key.ip4 = 1u << bit;
				assert_int_equal(baleen_key_is_bad(&key), !own);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_domains),	 cmocka_unit_test(test_unused_members),
		cmocka_unit_test(test_fields),	 cmocka_unit_test(test_back),
		cmocka_unit_test(test_families), cmocka_unit_test(test_values),
		cmocka_unit_test(test_bad_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
