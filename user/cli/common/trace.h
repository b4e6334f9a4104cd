/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --trace: each step by which the keys of a list come into a small image, or go.
 *
 * The keys change one after the other in a copy, by the functions that change the image and in
 * their order. Only when the copy comes to what came out are the steps told.
 */
#ifndef BALEEN_CLI_TRACE_H
#define BALEEN_CLI_TRACE_H

#include <jansson.h>

#include "cli/common/cli.h"
#include "filter/filter.h"
#include "list/list_combine.h"

struct page_change;
struct page_moves;

/**
 * struct trace - --trace of a command
 * @is_wanted: it was given; without it the functions below do nothing
 * @base: of the numbers in slots, see struct picture
 * @is_html: --html was given, too
 * @before: the image before a change
 * @steps: what -j prints: for each key an object; NULL without -j and --html
 * @page: the page of --html, or NULL
 * @moves: the same of a resize or a merge
 * @shown: what `show -j` prints of each filter of the page
 */
struct trace {
	bool is_wanted;
	u32 base;
	bool is_html;
	struct baleen_filter before;
	json_t *steps;
	struct page_change *page;
	struct page_moves *moves;
	json_t *shown;
};

/* Do the options go together? 0, or EXIT_USAGE after a message. */
int trace_check(const struct trace *trace, const struct command *command, bool is_json);

/* Prints the steps of a build, or keeps them for trace_describe() when @is_json; 0, or
 * EXIT_FAILED after a message: the image is too large, or has prefixes.
 */
int trace_build(struct trace *trace, const char *name, const struct baleen_list *list,
		const struct baleen_filter *built, bool is_json);

/* The same of a change, in two parts: before it begins, and when it is made. @after is what
 * came out, NULL when nothing did.
 */
int trace_begin(struct trace *trace, const char *name, const struct baleen_filter *before,
		enum baleen_set_op op, bool is_json);
int trace_change(struct trace *trace, const struct baleen_list *change, enum baleen_set_op op,
		 const struct baleen_filter *after);

/* The same where filters came to another one, by a resize or a merge: where each place of them is
 * in that.
 */
int trace_moves(struct trace *trace, const struct baleen_filter *const *sources,
		const char *const *names, u32 n, const struct baleen_filter *result, bool is_json);

/* Prints what -j prints, with "trace", or the page with that; an exit code. @command and
 * @argument are its title; @report is freed.
 */
int trace_report(struct trace *trace, const char *command, const char *argument, json_t *report);

void trace_free(struct trace *trace);

#endif /* BALEEN_CLI_TRACE_H */
