/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declarations that the files of the public library share; the contract is libbaleen.h.
 */
#ifndef BALEEN_API_H
#define BALEEN_API_H

#include <baleen/image.h>

#include "filter/filter.h"
#include "list/list.h"
#include "net/device.h"

/* All else is hidden: see BASE_CFLAGS in the Makefile. */
#pragma GCC visibility push(default)
#include "libbaleen.h"
#pragma GCC visibility pop

/**
 * struct baleen_keys - keys as they are collected
 * @list: the list read so far
 * @is_final: @list is finished, and has all of them
 * @has_exceptions: it had some
 */
struct baleen_keys {
	struct baleen_list list;
	bool is_final;
	bool has_exceptions;
};

/**
 * api_error() - where this thread's failures are told
 *
 * Return: the error that baleen_error_text() shows.
 */
struct baleen_error *api_error(void);

/**
 * api_keys_finish() - make the set of all keys
 * @keys: the keys; final afterwards
 *
 * Return: 0 or a negative errno.
 */
int api_keys_finish(struct baleen_keys *keys);

/**
 * api_set_image() - the image of a set
 * @set: the set
 * @copy: set up, of a live set with its image; free with baleen_filter_free() on success
 * @image: filled in: @copy, or what @set has, as long as it lives
 *
 * Return: 0 or a negative errno.
 */
int api_set_image(const struct baleen_set *set, struct baleen_filter *copy,
		  const struct baleen_filter **image);

/**
 * struct api_rule - a live rule by name
 * @device: device of the rule
 * @name: name of the rule
 */
struct api_rule {
	char device[BALEEN_POINT_BYTES];
	char name[BALEEN_NAME_BYTES];
};

/**
 * api_rule_parse() - a live rule from text
 * @text: DEV:RULE
 * @rule: filled in; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int api_rule_parse(const char *text, struct api_rule *rule);

#endif /* BALEEN_API_H */
