// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sixteen siblings with a filter of another kind each: queries for random URLs get the
 * answer that userspace finds in the image, by its own MD5.
 *
 *      icp_kinds [QUERIES]    so many of each, 100,000; results as TAP
 */
#include "icp_rig.h"

#define N_KEYS 100000
#define URL_ROOM 256

#define CLASSIC(how, k, bits)                                                           \
	{                                                                               \
		.kind = BALEEN_KIND_CLASSIC, .hash = how, .n_hashes = k,                \
		.n_buckets = ((bits) + 511) / 512, .n_spare_bits = (0u - (bits)) & 511, \
	}
#define COUNTING(how, k, bits)                                                          \
	{                                                                               \
		.kind = BALEEN_KIND_COUNTING, .hash = how, .n_hashes = k,               \
		.n_buckets = ((bits) + 511) / 512, .n_spare_bits = (0u - (bits)) & 511, \
	}
#define BLOOM(k, blocks)                                                      \
	{                                                                     \
		.kind = BALEEN_KIND_BLOOM, .n_hashes = k, .n_buckets = blocks \
	}
#define CUCKOO(slots, bits, buckets)                                                             \
	{                                                                                        \
		.kind = BALEEN_KIND_CUCKOO, .slot_bits = bits,                                   \
		.bucket_slots = (slots) == 4 && (bits) >= 16 ? 0 : (slots), .n_buckets = buckets \
	}
#define QUOTIENT(q, r)                                                                       \
	{                                                                                    \
		.kind = BALEEN_KIND_QUOTIENT, .shape = BALEEN_QUOTIENT_META, .slot_bits = r, \
		.n_buckets = 1u << (q),                                                      \
	}

/* Of every other key of N_KEYS; short enough that some are wrong. */
static const struct {
	const char *name;
	struct baleen_table table;
} kinds[BALEEN_ICP_MAX_SIBLINGS] = {
	{ "cuckoo, 64-bit slots", CUCKOO(4, 64, 16384) },
	{ "cuckoo, 64-bit slots, 15,001 buckets", CUCKOO(4, 64, 15001) },
	{ "cuckoo, 32-bit slots", CUCKOO(4, 32, 15001) },
	{ "cuckoo, 16-bit slots", CUCKOO(4, 16, 16384) },
	{ "cuckoo 4 x 8", CUCKOO(4, 8, 15001) },
	{ "cuckoo 2 x 12", CUCKOO(2, 12, 35001) },
	{ "cuckoo 1 x 16", CUCKOO(1, 16, 120001) },
	{ "Bloom, k = 2", BLOOM(2, 800) },
	{ "Bloom, k = 8", BLOOM(8, 1201) },
	{ "classic, Squid's hash", CLASSIC(BALEEN_HASH_SQUID, 4, 250000) },
	{ "classic, Squid's hash, more bits", CLASSIC(BALEEN_HASH_SQUID, 4, 1000040) },
	{ "classic, keyed", CLASSIC(BALEEN_HASH_KEYED, 7, 400003) },
	{ "counting, Squid's hash", COUNTING(BALEEN_HASH_SQUID, 4, 300008) },
	{ "counting, blocked", COUNTING(BALEEN_HASH_BLOCKED, 6, 400384) },
	{ "counting, keyed", COUNTING(BALEEN_HASH_KEYED, 5, 400003) },
	{ "quotient", QUOTIENT(16, 13) },
};

struct tally {
	u32 asked, hits, missed, false_hits, differ;
};

/* Different i, different URL, of 20 to some 200 bytes. */
static void make_url(u32 i, char *url)
{
	u64 state = SEED + i;
	u32 n = next_random(&state) % 180;
	int at = snprintf(url, URL_ROOM, "http://www%u.example/%u/", i % 97, i);

	for (u32 k = 0; k < n; k++)
		url[at + k] = '!' + next_random(&state) % 94;
	url[at + n] = '\0';
}

static struct baleen_key key_of(u32 i)
{
	struct baleen_key key;
	char url[URL_ROOM];

	make_url(i, url);
	baleen_squid_key_url(url, strlen(url), &key);
	return key;
}

static void fill(struct rig *rig, struct baleen_icp_config *config)
{
	for (u32 n = 0; n < BALEEN_ICP_MAX_SIBLINGS; n++) {
		filter_make(&kinds[n].table, &rig->filter[n]);
		config->sibling[n].address_lo = 0xffff0a090100ull + n;
	}
	for (u32 i = 0; i < N_KEYS; i += 2) {
		struct baleen_key key = key_of(i);

		for (u32 n = 0; n < BALEEN_ICP_MAX_SIBLINGS; n++)
			filter_add(&rig->filter[n], &key);
	}
}

static void ask(struct rig *rig, u32 n, u32 i, struct tally *tally)
{
	struct message message = { .sport = 3130, .dport = 3130, .opcode = BALEEN_ICP_QUERY };
	struct baleen_key key = key_of(i);
	struct frame frame, out, want;
	bool is_in = baleen_filter_test(&rig->filter[n], &key);
	char url[URL_ROOM], dest[16];

	make_url(i, url);
	message.url = url;
	message.n_url = strlen(url);
	message.request = i;
	snprintf(dest, sizeof(dest), "10.9.1.%u", n);
	address_of("10.9.0.99", message.source);
	address_of(dest, message.dest);
	make_frame(&message, &frame);
	make_answer(&message, is_in ? BALEEN_ICP_HIT : BALEEN_ICP_MISS, &want);
	tally->asked++;
	tally->hits += is_in;
	tally->missed += i % 2 == 0 && !is_in;
	tally->false_hits += i % 2 && is_in;
	tally->differ += run(rig->loaded.answer_fd, &frame, &out) != XDP_TX || out.n != want.n ||
			 memcmp(out.byte, want.byte, want.n);
}

static void try_kind(struct rig *rig, u32 n, u32 n_queries)
{
	struct baleen_icp_stats before, after;
	struct tally tally = { 0 };

	read_stats(rig, &before);
	for (u32 i = 0; i < n_queries; i++)
		ask(rig, n, i, &tally);
	read_stats(rig, &after);
	printf("# %s: %u asked, %u hits, %u of them false\n", kinds[n].name, tally.asked,
	       tally.hits, tally.false_hits);
	result(!tally.missed && tally.hits >= tally.asked / 2, "%s: every key is found",
	       kinds[n].name);
	result(!tally.differ, "%s: %u queries get the answer of userspace, %u of them differ",
	       kinds[n].name, tally.asked, tally.differ);
	result(after.sibling[n].hits - before.sibling[n].hits == tally.hits &&
		       after.sibling[n].misses - before.sibling[n].misses ==
			       tally.asked - tally.hits,
	       "%s: hits and misses are counted", kinds[n].name);
}

int main(int argc, char **argv)
{
	u32 n_queries = argc > 1 ? atoi(argv[1]) : N_KEYS;
	struct baleen_icp_config config = { .n_siblings = BALEEN_ICP_MAX_SIBLINGS, .port = 3130 };
	struct rig rig;

	if (argc > 2 || n_queries < 1 || n_queries > N_KEYS)
		errx(2, "usage: icp_kinds [QUERIES]");
	printf("# seed 0x%llx\n", SEED);
	memset(&rig, 0, sizeof(rig));
	fill(&rig, &config);
	rig_load(&rig, &config);
	allow(&rig, "10.9.0.99", 128, 0xffff);
	for (u32 n = 0; n < BALEEN_ICP_MAX_SIBLINGS; n++) {
		try_kind(&rig, n, n_queries);
		baleen_filter_free(&rig.filter[n]);
	}
	rig_close(&rig);
	printf("1..%u\n", tap_n);
	return !!tap_failed;
}
