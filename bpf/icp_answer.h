/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A query for a sibling, answered or passed on.
 *
 * The cheap checks come first, which decides only the counter: a malformed query of a
 * stranger counts as malformed.
 */
#ifndef BALEEN_BPF_ICP_ANSWER_H
#define BALEEN_BPF_ICP_ANSWER_H

#include "icp_gate.h"
#include "icp_reply.h"
#include "icp_times.h"

/* A counter of struct baleen_icp_sibling_stats by its place: a frame has exactly one. */
#define ICP_COUNTER(name) (offsetof(struct baleen_icp_sibling_stats, name) / sizeof(u64))
#define ICP_N_COUNTERS (sizeof(struct baleen_icp_sibling_stats) / sizeof(u64))

baleen_inline void icp_count(struct baleen_icp_stats *stats, u32 n, u32 counter)
{
	u64 *value = (u64 *)&stats->sibling[n & (BALEEN_ICP_MAX_SIBLINGS - 1)];

	/* clang knows it of the functions that return it, the verifier does not. */
	asm volatile("" : "+r"(counter));
	if (counter < ICP_N_COUNTERS)
		value[counter]++;
}

/* Copies a URL of a valid length and what follows it behind the method byte. */
baleen_inline int icp_url_load(struct xdp_md *ctx, u32 at, u32 n_url, struct icp_scratch *scratch)
{
	/* clang would compare what n_url was made of, and the verifier see no bound. */
	asm volatile("" : "+r"(n_url));
	if (n_url > BALEEN_ICP_MAX_URL)
		return -EINVAL;
	return bpf_xdp_load_bytes(ctx, at, scratch->message.byte + ICP_URL_AT, n_url + 1);
}

/* Is the datagram a query in order? Returns the counter of what is wrong, or of hits;
 * then the URL is in the scratch memory.
 */
__noinline u32 icp_check(struct xdp_md *ctx, const struct icp_datagram *datagram)
{
	struct icp_scratch *scratch = icp_scratch();
	const struct icp_header *query;
	u32 n_bytes, n_url;

	if (!scratch || !datagram)
		return ICP_COUNTER(failed);
	query = &scratch->query;
	n_bytes = datagram->payload_bytes;
	if (datagram->is_fragment || datagram->has_options)
		return ICP_COUNTER(fragments);
	if (!datagram->is_whole || n_bytes < BALEEN_ICP_HEADER_BYTES ||
	    bpf_xdp_load_bytes(ctx, datagram->payload_at, &scratch->query, sizeof(*query)))
		return ICP_COUNTER(malformed);
	if (query->version != BALEEN_ICP_VERSION || baleen_be16(query->bytes_be) != n_bytes)
		return ICP_COUNTER(malformed);
	if (query->opcode != BALEEN_ICP_QUERY)
		return ICP_COUNTER(other_opcodes);
	if (n_bytes <= BALEEN_ICP_QUERY_BYTES)
		return ICP_COUNTER(malformed);
	if (query->options)
		return ICP_COUNTER(with_options);
	n_url = n_bytes - BALEEN_ICP_QUERY_BYTES - 1;
	if (n_url > BALEEN_ICP_MAX_URL)
		return ICP_COUNTER(too_long);
	if (icp_url_load(ctx, datagram->payload_at + BALEEN_ICP_QUERY_BYTES, n_url, scratch) ||
	    icp_byte(scratch, ICP_URL_AT + n_url))
		return ICP_COUNTER(malformed);
	return ICP_COUNTER(hits);
}

/* Asks the filter for the URL hashed last; returns the counter of hits, expired or misses. */
baleen_inline u32 icp_ask(u32 n)
{
	struct icp_scratch *scratch = icp_scratch();

	if (!scratch)
		return ICP_COUNTER(failed);
	if (!sibling_test(n, scratch->hi, scratch->lo))
		return ICP_COUNTER(misses);
	if (config.sibling[n & (BALEEN_ICP_MAX_SIBLINGS - 1)].has_times &&
	    !icp_is_object_fresh(n, scratch->hi, scratch->lo))
		return ICP_COUNTER(expired);
	return ICP_COUNTER(hits);
}

/* Decides a well-formed query for sibling @n; returns its counter. */
baleen_inline u32 icp_decide(const struct icp_datagram *datagram, u32 n, u32 n_url)
{
	u32 mode = config.sibling[n & (BALEEN_ICP_MAX_SIBLINGS - 1)].mode, bytes, answer;

	if (!icp_may_ask(datagram, n))
		return ICP_COUNTER(strangers);
	if (!icp_is_fresh(n))
		return ICP_COUNTER(stale);
	bytes = icp_url_bytes(n_url);
	if (bytes != ICP_BYTES_FINE)
		return bytes == ICP_BYTES_ZERO ? ICP_COUNTER(malformed) : ICP_COUNTER(odd_urls);
	if (!icp_url_is_plain(n_url))
		return ICP_COUNTER(odd_urls);
	if (mode == BALEEN_ICP_OBSERVE)
		return ICP_COUNTER(observed);
	if (icp_url_hash(n_url))
		return ICP_COUNTER(failed);
	answer = icp_ask(n);
	if (answer == ICP_COUNTER(hits) && (mode == BALEEN_ICP_CONFIRM || !icp_is_confirmed(n)))
		return ICP_COUNTER(confirmed);
	return answer;
}

/* A datagram to config.port, for anybody. Out of line, so that what it has on the stack is
 * not below the filters that the feed changes: kernel 6.1 counts in steps of 32 bytes.
 */
static __noinline int icp_answer(struct xdp_md *ctx, const struct icp_datagram *datagram)
{
	u32 n = icp_find_sibling(datagram->dest_hi, datagram->dest_lo), n_url, counter, opcode;
	struct baleen_icp_stats *stats = icp_stats();
	int verdict = XDP_PASS;

	if (!stats)
		return XDP_PASS;
	if (n == ICP_NOBODY) {
		stats->others++;
		return XDP_PASS;
	}
	n_url = datagram->payload_bytes - BALEEN_ICP_QUERY_BYTES - 1;
	counter = icp_check(ctx, datagram);
	if (counter == ICP_COUNTER(hits))
		counter = icp_decide(datagram, n, n_url);
	if (counter == ICP_COUNTER(hits) || counter == ICP_COUNTER(misses)) {
		opcode = counter == ICP_COUNTER(hits) ? BALEEN_ICP_HIT : BALEEN_ICP_MISS;
		if (icp_reply(ctx, datagram, opcode, n_url))
			counter = ICP_COUNTER(failed);
		else
			verdict = XDP_TX;
	}
	icp_count(stats, n, counter);
	return verdict;
}

#endif /* BALEEN_BPF_ICP_ANSWER_H */
