// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finished lists as sets: made of text, asked, united, and taken from each other. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "list/list_algebra.h"
#include "list/list_set.h"
#include "util/write_file.h"

/* --- text ------------------------------------------------------------------ */

int baleen_text_open(const char *text, size_t n_bytes)
{
	int fd = memfd_create("baleen-text", MFD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = baleen_write_all(fd, text, n_bytes);
	if (err) {
		close(fd);
		return err;
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* The first bad line is the error. */
static void note_bad(void *data, const struct baleen_list_problem *problem)
{
	struct baleen_error *error = data;

	if (error && !error->text[0])
		baleen_list_problem_fail(problem, error);
}

int baleen_list_from_text(const char *text, const char *name, u32 key_spec, struct baleen_list *set,
			  struct baleen_error *error)
{
	const struct baleen_list_reader reader = { .on_bad = note_bad, .data = error };
	struct baleen_list list = { .key_spec = key_spec };
	int err = 0;

	if (error)
		error->text[0] = '\0';
	if (text)
		err = baleen_list_read_text(&list, text, name, &reader, error);
	if (!err && list.n_bad)
		err = -EINVAL;
	if (!err && baleen_list_finish(&list))
		err = baleen_fail(error, ENOMEM, "%s: no memory for it", name);
	if (err)
		baleen_list_free(&list);
	else
		*set = list;
	return err;
}

/* --- asked ----------------------------------------------------------------- */

static int compare_ip4(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

/* @key: an address; where it is in the interval, they are equal */
static int compare_net4(const void *key, const void *element)
{
	const struct baleen_net4 *net = element;
	u32 ip4 = *(const u32 *)key;

	return ip4 < net->first ? -1 : ip4 > net->last;
}

static int compare_ip6(const void *a, const void *b)
{
	return baleen_ip6_compare(*(const struct baleen_ip6 *)a, *(const struct baleen_ip6 *)b);
}

static int compare_key(const void *a, const void *b)
{
	return baleen_key_compare(a, b);
}

static bool has_ip4(const struct baleen_list *set, u32 ip4)
{
	return (set->n_ip4 && bsearch(&ip4, set->ip4, set->n_ip4, sizeof(ip4), compare_ip4)) ||
	       (set->n_net4 &&
		bsearch(&ip4, set->net4, set->n_net4, sizeof(*set->net4), compare_net4));
}

static bool has_ip6(const struct baleen_list *set, struct baleen_ip6 ip6)
{
	const struct baleen_prefix6 host = { .hi = ip6.hi, .lo = ip6.lo, .length = 128 };
	bool is_in = false;

	if (set->n_ip6)
		return bsearch(&ip6, set->ip6, set->n_ip6, sizeof(ip6), compare_ip6);
	/* The longest prefix around it comes last. */
	for (size_t i = 0; i < set->n_prefix6; i++)
		if (baleen_prefix6_is_around(&set->prefix6[i], &host))
			is_in = !set->prefix6[i].is_exception;
	return is_in;
}

bool baleen_list_has(const struct baleen_list *set, const struct baleen_key *key)
{
	switch (key->domain) {
	case BALEEN_IP4: return has_ip4(set, key->ip4);
	case BALEEN_IP6: return has_ip6(set, (struct baleen_ip6){ key->hi, key->lo });
	default: return set->n_key && bsearch(key, set->key, set->n_key, sizeof(*key), compare_key);
	}
}

static void describe4(u32 from, u32 to, char *text, struct baleen_key *first)
{
	const struct baleen_key last = { .domain = BALEEN_IP4, .ip4 = to };
	char last_text[BALEEN_KEY_TEXT];
	size_t length;

	*first = (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = from };
	baleen_key_format(first, BALEEN_KEY_SRC, text);
	if (from == to)
		return;
	baleen_key_format(&last, BALEEN_KEY_SRC, last_text);
	length = strlen(text);
	snprintf(text + length, BALEEN_LIST_TEXT - length, "-%s", last_text);
}

static void describe6(const struct baleen_prefix6 *prefix, char *text, struct baleen_key *first)
{
	*first = (struct baleen_key){ .domain = BALEEN_IP6, .hi = prefix->hi, .lo = prefix->lo };
	baleen_key_format(first, BALEEN_KEY_SRC, text);
	if (prefix->length < 128)
		snprintf(text + strlen(text), 8, "/%u", prefix->length);
}

/* The first entry of a set of addresses is never an exception. */
static void describe_first(const struct baleen_list *set, char *text, struct baleen_key *first)
{
	if (set->n_net4)
		describe4(set->net4[0].first, set->net4[0].last, text, first);
	else if (set->n_ip4)
		describe4(set->ip4[0], set->ip4[0], text, first);
	else if (set->n_prefix6)
		describe6(&set->prefix6[0], text, first);
	else
		describe6(&(struct baleen_prefix6){ set->ip6[0].hi, set->ip6[0].lo, 128, 0 }, text,
			  first);
}

int baleen_list_meets(const struct baleen_list *set, const struct baleen_list *other, u64 *n,
		      char *text, struct baleen_key *first)
{
	struct baleen_list both;
	int err = baleen_list_combine(set, other, BALEEN_SET_INTERSECTION, &both);

	if (err)
		return err;
	*n = both.n_ip4 + both.n_net4 + both.n_ip6 + both.n_prefix6;
	if (*n)
		describe_first(&both, text, first);
	baleen_list_free(&both);
	return 0;
}

/* --- changed --------------------------------------------------------------- */

static int combine(struct baleen_list *set, const struct baleen_list *other, enum baleen_set_op op)
{
	struct baleen_list made;
	int err = baleen_list_combine(set, other, op, &made);

	if (err)
		return err;
	baleen_list_free(set);
	*set = made;
	return 0;
}

int baleen_list_unite(struct baleen_list *set, const struct baleen_list *other)
{
	if (set->key_spec == other->key_spec && baleen_list_is_empty(other))
		return 0;
	return combine(set, other, BALEEN_SET_UNION);
}

int baleen_list_subtract(struct baleen_list *set, const struct baleen_list *other)
{
	struct baleen_list rest = *other;
	size_t n = 0;

	if (set->key_spec != other->key_spec)
		return -EINVAL;
	if (!set->n_net4) {
		for (size_t i = 0; i < set->n_ip4; i++)
			if (!has_ip4(other, set->ip4[i]))
				set->ip4[n++] = set->ip4[i];
		set->n_ip4 = n;
		rest.n_ip4 = 0;
		rest.n_net4 = 0;
	}
	if (baleen_list_is_empty(&rest))
		return 0;
	return combine(set, &rest, BALEEN_SET_DIFFERENCE);
}
