/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Four siblings, each of IPv4 and of IPv6: two are answered for, one in mode confirm, and one
 * is observed. Of URLs of even lengths they hold every one.
 */
#ifndef BALEEN_TESTS_ICP_SIBLINGS_H
#define BALEEN_TESTS_ICP_SIBLINGS_H

#include "icp_rig.h"

#define MINUTE_NS 60000000000ull

enum { ANSWER, CONFIRM, OBSERVE, FED };

static const char *const sibling4[N_SIBLINGS] = { "10.9.0.1", "10.9.0.2", "10.9.0.3", "10.9.0.4" };
static const char *const sibling6[N_SIBLINGS] = { "fd09::1", "fd09::2", "fd09::3", "fd09::4" };

static const char held[] = "http://10.9.0.3/obj/1";
static const char absent[] = "http://10.9.0.3/obj/2";
static char long_url[BALEEN_ICP_MAX_URL + 100];

static const char *const names[N_COUNTERS + 1] = {
	[COUNTER(hits)] = "hits",
	[COUNTER(misses)] = "misses",
	[COUNTER(confirmed)] = "confirmed",
	[COUNTER(expired)] = "expired",
	[COUNTER(observed)] = "observed",
	[COUNTER(stale)] = "stale",
	[COUNTER(strangers)] = "strangers",
	[COUNTER(fragments)] = "fragments",
	[COUNTER(too_long)] = "too_long",
	[COUNTER(malformed)] = "malformed",
	[COUNTER(other_opcodes)] = "other_opcodes",
	[COUNTER(with_options)] = "with_options",
	[COUNTER(odd_urls)] = "odd_urls",
	[COUNTER(failed)] = "failed",
	[COUNTER(agreed_hits)] = "agreed_hits",
	[COUNTER(agreed_misses)] = "agreed_misses",
	[COUNTER(false_hits)] = "false_hits",
	[COUNTER(false_misses)] = "false_misses",
	[OTHERS] = "others",
};

static const char *name_of(int counter)
{
	return counter < 0 ? "not one counter" : names[counter] ? names[counter] : "another";
}

/* An empty message from the asker to sibling @n. */
static inline struct message query_of(bool is_ip6, u32 n, const char *url, u32 n_url)
{
	struct message message = {
		.is_ip6 = is_ip6,
		.sport = 3130,
		.dport = 3130,
		.ttl = 61,
		.tos = 0x10,
		.flow_label = 0xfc1fe,
		.opcode = BALEEN_ICP_QUERY,
		.request = 0x01020304 + n_url,
		.option_data = 0x55,
		.sender = 0x66,
		.requester = 0x0a000001,
		.url = url,
		.n_url = n_url,
	};

	address_of(is_ip6 ? "fd09::99" : "10.9.0.99", message.source);
	address_of(is_ip6 ? sibling6[n] : sibling4[n], message.dest);
	return message;
}

static inline struct message query(bool is_ip6, u32 n, const char *url)
{
	return query_of(is_ip6, n, url, strlen(url));
}

/* The siblings of IPv6 are those of IPv4 once more. */
static inline void set_sibling(struct baleen_icp_sibling *sibling, const char *address, u32 which)
{
	u8 bytes[16];

	address_of(address, bytes);
	sibling->address_hi = half_of(bytes);
	sibling->address_lo = half_of(bytes + 8);
	sibling->mode = which == CONFIRM ? BALEEN_ICP_CONFIRM :
			which == OBSERVE ? BALEEN_ICP_OBSERVE :
					   BALEEN_ICP_ANSWER;
	sibling->feeders = which == FED ? 3 : 0;
}

/**
 * struct gates - what lets a query by
 * @stale_ns: as of struct baleen_icp_config
 * @confirm_ns: as there
 * @has_times: of each sibling
 * @frags: as of struct baleen_icp_config
 */
struct gates {
	u64 stale_ns;
	u64 confirm_ns;
	bool has_times;
	bool frags;
};

static inline void rig_open(struct rig *rig, struct gates gates)
{
	static const struct baleen_table table = { .kind = BALEEN_KIND_CUCKOO,
						   .slot_bits = 64,
						   .n_buckets = 1024 };
	struct baleen_icp_config config = {
		.version = BALEEN_ICP_CONFIG_VERSION,
		.stale_ns = gates.stale_ns,
		.confirm_ns = gates.confirm_ns,
		.n_siblings = 2 * N_SIBLINGS,
		.n_feeders = 2,
		.port = 3130,
		.n_times = 64,
		.frags = gates.frags,
	};

	memset(rig, 0, sizeof(*rig));
	for (u32 i = 0; i < N_SIBLINGS; i++) {
		set_sibling(&config.sibling[i], sibling4[i], i);
		set_sibling(&config.sibling[N_SIBLINGS + i], sibling6[i], i);
	}
	for (u32 i = 0; i < config.n_siblings; i++) {
		config.sibling[i].has_times = gates.has_times;
		filter_make(&table, &rig->filter[i]);
		filter_add_url(&rig->filter[i], held);
		for (u32 n = 0; n <= BALEEN_ICP_MAX_URL; n += 2) {
			struct baleen_key key;

			baleen_squid_key_url(long_url, n, &key);
			filter_add(&rig->filter[i], &key);
		}
	}
	rig_load(rig, &config);
	allow(rig, "10.9.0.99", 128, 0xff);
	allow(rig, "fd09::99", 128, 0xff);
}

static inline void rig_free(struct rig *rig)
{
	for (u32 i = 0; i < rig->loaded.config.n_siblings; i++)
		baleen_filter_free(&rig->filter[i]);
	rig_close(rig);
}

/* --- one query at a time ---------------------------------------------------- */

/* Is the frame passed as it is, and counted there? */
static inline bool passes(struct rig *rig, u32 n, const struct frame *in, int counter,
			  const char *what)
{
	struct frame out;
	u32 verdict = run(rig->loaded.answer_fd, in, &out);
	int which = moved(rig, n);

	if (verdict == XDP_PASS && which == counter && out.n == in->n &&
	    !memcmp(out.byte, in->byte, in->n))
		return true;
	printf("# %s: verdict %u, %u bytes of %u, %s instead of %s\n", what, verdict, out.n, in->n,
	       name_of(which), name_of(counter));
	return false;
}

static inline bool answers(struct rig *rig, u32 n, const struct message *message, int counter)
{
	struct frame in, out, want;
	u32 verdict;
	int which;

	make_frame(message, &in);
	make_answer(message, counter == COUNTER(hits) ? BALEEN_ICP_HIT : BALEEN_ICP_MISS, &want);
	verdict = run(rig->loaded.answer_fd, &in, &out);
	which = moved(rig, n);
	if (verdict == XDP_TX && which == counter && out.n == want.n &&
	    !memcmp(out.byte, want.byte, want.n))
		return true;
	printf("# URL of %u bytes, IPv%d, %u tags: verdict %u, %u bytes of %u, %s instead of %s\n",
	       message->n_url, message->is_ip6 ? 6 : 4, message->n_tags, verdict, out.n, want.n,
	       name_of(which), name_of(counter));
	for (u32 i = 0; i < want.n; i++)
		if (out.byte[i] != want.byte[i])
			printf("#   byte %u is %02x instead of %02x\n", i, out.byte[i],
			       want.byte[i]);
	return false;
}

static inline u32 slot_of(bool is_ip6, u32 n)
{
	return is_ip6 ? N_SIBLINGS + n : n;
}

#endif /* BALEEN_TESTS_ICP_SIBLINGS_H */
