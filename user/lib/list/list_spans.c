// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The addresses of a set as the fewest spans. */
#include "list/list_spans.h"

/* One inside of the other, each longer. */
#define MAX_DEPTH 129

/**
 * struct around - an entry around the address at hand
 * @last: its last address
 * @is_in: it is no exception
 */
struct around {
	struct baleen_ip6 last;
	bool is_in;
};

/**
 * struct walk - a set on the way
 * @visit: called with each span
 * @data: passed to it
 * @span: the span at hand, to which what follows may be joined
 * @is_open: there is one
 * @around: entries around the address at hand, the widest first
 * @depth: how many
 * @at: the first address of IPv6 that is not decided yet
 * @is_at_end: all are
 */
struct walk {
	baleen_spans_visit *visit;
	void *data;
	struct baleen_span span;
	bool is_open;
	struct around around[MAX_DEPTH];
	u32 depth;
	struct baleen_ip6 at;
	bool is_at_end;
};

static struct baleen_ip6 next_of(struct baleen_ip6 address)
{
	address.lo++;
	address.hi += !address.lo;
	return address;
}

static struct baleen_ip6 before(struct baleen_ip6 address)
{
	address.hi -= !address.lo;
	address.lo--;
	return address;
}

static int end_span(struct walk *walk)
{
	bool was_open = walk->is_open;

	walk->is_open = false;
	return was_open ? walk->visit(&walk->span, walk->data) : 0;
}

static int add_span(struct walk *walk, const struct baleen_span *span)
{
	int ret;

	if (walk->is_open && walk->span.is_ip6 == span->is_ip6 &&
	    !baleen_ip6_compare(next_of(walk->span.last), span->first)) {
		walk->span.last = span->last;
		return 0;
	}
	ret = end_span(walk);
	walk->span = *span;
	walk->is_open = true;
	return ret;
}

/* --- IPv4 --- */

static int walk_ip4(struct walk *walk, const struct baleen_list *list)
{
	size_t net = 0, host = 0;
	int ret = 0;

	while (!ret && (net < list->n_net4 || host < list->n_ip4)) {
		bool is_host = net == list->n_net4 ||
			       (host < list->n_ip4 && list->ip4[host] < list->net4[net].first);
		u32 first = is_host ? list->ip4[host] : list->net4[net].first;
		u32 last = is_host ? first : list->net4[net].last;
		struct baleen_span span = baleen_span_of_ip4(first);

		span.last = baleen_span_of_ip4(last).first;
		ret = add_span(walk, &span);
		host += is_host;
		net += !is_host;
	}
	return ret ?: end_span(walk);
}

/* --- IPv6 --- */

/* All up to @last is as the innermost entry around it says. */
static int decide(struct walk *walk, struct baleen_ip6 last)
{
	struct baleen_span span = { .is_ip6 = true, .first = walk->at, .last = last };
	int ret = 0;

	if (walk->is_at_end || baleen_ip6_compare(walk->at, last) > 0)
		return 0;
	if (walk->depth && walk->around[walk->depth - 1].is_in)
		ret = add_span(walk, &span);
	walk->at = next_of(last);
	walk->is_at_end = !walk->at.hi && !walk->at.lo;
	return ret;
}

/* Goes out of the entries that end before @address; of all without one. */
static int leave(struct walk *walk, const struct baleen_ip6 *address)
{
	int ret = 0;

	while (!ret && walk->depth) {
		struct baleen_ip6 last = walk->around[walk->depth - 1].last;

		if (address && baleen_ip6_compare(last, *address) >= 0)
			break;
		ret = decide(walk, last);
		walk->depth--;
	}
	return ret;
}

/* Goes into an entry: those before it begin where it does, or earlier. */
static int enter(struct walk *walk, const struct baleen_span *span, bool is_in)
{
	int ret = leave(walk, &span->first);

	if (!ret && baleen_ip6_compare(walk->at, span->first) < 0)
		ret = decide(walk, before(span->first));
	walk->around[walk->depth++] = (struct around){ span->last, is_in };
	return ret;
}

static int walk_ip6(struct walk *walk, const struct baleen_list *list)
{
	size_t n = list->n_ip6 + list->n_prefix6;
	int ret = 0;

	/* A finished list has hosts alone, or prefixes. */
	for (size_t i = 0; i < n && !ret; i++) {
		struct baleen_prefix6 prefix;
		struct baleen_span span = { .is_ip6 = true };

		if (list->n_ip6) {
			span.first = span.last = list->ip6[i];
			ret = enter(walk, &span, true);
			continue;
		}
		prefix = list->prefix6[i];
		span.first = (struct baleen_ip6){ prefix.hi, prefix.lo };
		span = baleen_span_prefix(&span, prefix.length);
		ret = enter(walk, &span, !prefix.is_exception);
	}
	if (!ret)
		ret = leave(walk, NULL);
	return ret ?: end_span(walk);
}

int baleen_list_spans(const struct baleen_list *list, baleen_spans_visit *visit, void *data)
{
	struct walk walk = { .visit = visit, .data = data };
	int ret = walk_ip4(&walk, list);

	return ret ?: walk_ip6(&walk, list);
}
