/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kind of filter that fits what is needed of it.
 *
 * Without a rate: cuckoo, which is exact or errs least, and can do everything.
 * With a rate: the smallest of the kinds that can do what is needed. Two are
 * left out unless their shape is asked for: the classic filter, which for a few
 * bits less reads up to k lines a probe, and all but the cuckoo table for IPv4
 * addresses of which nothing is needed, since these can be had exactly.
 */
#ifndef BALEEN_CHOOSE_H
#define BALEEN_CHOOSE_H

#include "ops/build.h"

/* Things that a filter may have to do; combined by |. */
enum baleen_need {
	BALEEN_NEED_DELETE = 1, /* forget a key */
	BALEEN_NEED_MERGE = 2,	/* become the union with another, without the keys */
	BALEEN_NEED_RESIZE = 4, /* take another size, without the keys */
	BALEEN_N_NEEDS = 3,
};

/**
 * baleen_need_name() - a need as it is typed
 * @i: the need 1 << @i, below BALEEN_N_NEEDS
 *
 * Return: the word.
 */
const char *baleen_need_name(u32 i);

/**
 * baleen_needs_parse() - needs from text
 * @text: words with commas between
 * @needs: enum baleen_need; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_needs_parse(const char *text, u32 *needs);

/**
 * baleen_table_can() - the operations that a table can do
 * @image: a checked or planned header
 * @domain: domain of the table, one of keys
 *
 * Return: enum baleen_need.
 */
u32 baleen_table_can(const struct baleen_image *image, u32 domain);

#define BALEEN_MAX_WAYS 3

/**
 * struct baleen_way - a way to have a kind
 * @fpp: false positive rate to plan for
 * @copies: copies count
 * @may_err: slots need not keep IPv4 addresses whole
 */
struct baleen_way {
	double fpp;
	bool copies;
	bool may_err;
};

/**
 * baleen_ways() - the ways to have a kind for what is needed, of which the smallest that can do
 * it is taken
 * @kind: enum baleen_kind
 * @needs: enum baleen_need
 * @asked: what was asked for, the first of the ways
 * @ways: filled in, up to BALEEN_MAX_WAYS of them
 *
 * Slots that keep too little of a key can delete where copies count, and those that keep whole
 * hashes, at no rate, can do all.
 *
 * Return: how many.
 */
u32 baleen_ways(u32 kind, u32 needs, struct baleen_way asked, struct baleen_way *ways);

/**
 * struct baleen_choice - the kind that was chosen
 * @kind: enum baleen_kind
 * @fpp: rate to build with: what was asked for, or 0 where the kind can do what
 *       is needed only then
 * @copies: build with copies, so that it can forget keys; also where it was asked for
 * @may_err: build with slots that need not keep IPv4 addresses whole
 * @why: in one line
 */
struct baleen_choice {
	u32 kind;
	double fpp;
	bool copies;
	bool may_err;
	char why[256];
};

/**
 * baleen_choose() - the kind that fits
 * @list: a finished list
 * @options: the filter to build; the kind is ignored
 * @kinds: kinds to choose from, a bit each
 * @needs: enum baleen_need
 * @choice: filled in; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when no kind can do all of it; -ENOMEM.
 */
int baleen_choose(const struct baleen_list *list, const struct baleen_build_options *options,
		  u32 kinds, u32 needs, struct baleen_choice *choice, struct baleen_error *error);

#endif /* BALEEN_CHOOSE_H */
