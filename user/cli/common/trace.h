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

/**
 * struct trace - --trace of a command
 * @is_wanted: it was given; without it the functions below do nothing
 * @base: of the numbers in slots, see struct picture
 * @before: the image before a change
 * @steps: what -j prints: for each key an object; else NULL
 */
struct trace {
	bool is_wanted;
	u32 base;
	struct baleen_filter before;
	json_t *steps;
};

/* 0, or EXIT_USAGE after a message: --base without --trace. */
int trace_check(const struct trace *trace, const struct command *command);

/* Prints the steps of a build, or keeps them for trace_describe() when @is_json; 0, or
 * EXIT_FAILED after a message: the image is too large, or has prefixes.
 */
int trace_build(struct trace *trace, const char *name, const struct baleen_list *list,
		const struct baleen_filter *built, bool is_json);

/* The same of a change, in two parts: before it begins, and when it is made. @after is what
 * came out, NULL when nothing did.
 */
int trace_begin(struct trace *trace, const char *name, const struct baleen_filter *before,
		bool is_json);
int trace_change(struct trace *trace, const struct baleen_list *change, enum baleen_set_op op,
		 const struct baleen_filter *after);

/* Adds "trace" to what -j prints. */
void trace_describe(const struct trace *trace, json_t *json);

void trace_free(struct trace *trace);

#endif /* BALEEN_CLI_TRACE_H */
