/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The IMAGE argument of a command: an image or list in a file, a live rule
 * (DEV:RULE) or a filter of the kernel module (kmod:NAME).
 */
#ifndef BALEEN_CLI_FILTER_REF_H
#define BALEEN_CLI_FILTER_REF_H

#include "cli/open/filter_ref_type.h"

/* --- to read --- */

/* Is it an image, and not a list? */
bool filter_ref_is_image(const char *argument);

/* Opens an IMAGE argument; a list is built. 0, or EXIT_FAILED after a message. */
int filter_ref_open(struct filter_ref *ref, const char *argument, struct list_options *options);

/* The same, but a list is left as it was read. */
int filter_ref_open_set(struct filter_ref *ref, struct baleen_list *list, const char *argument,
			struct list_options *options);

/* Builds one filter of several lists, as filter_ref_open() does of one. @list, all zeros at
 * first, has their keys afterwards; to be freed also on failure.
 */
int filter_ref_build(struct filter_ref *ref, struct baleen_list *list, char **paths, int n_paths,
		     struct list_options *options);

/* Asks for @n keys, of strings also @string, what is there now; 0, or EXIT_FAILED after a
 * message.
 */
int filter_ref_test(struct filter_ref *ref, struct baleen_key *keys,
		    const struct baleen_string *string, u32 n, u8 *is_in);

/* Adds what is known beside the image to @json, or prints it when that is NULL; 0, or
 * EXIT_FAILED after a message.
 */
int filter_ref_describe(struct filter_ref *ref, json_t *json);

void filter_ref_close(struct filter_ref *ref);

/* --- to change --- */

/* Read the header of the filter that is to be changed; 0, or EXIT_FAILED after a message. */
int filter_ref_head(const char *argument, struct baleen_image *head);

/* Opens an IMAGE argument once nobody else changes it, has it changed, and closes it; again
 * when filter_ref_put() said -ESTALE, which @change then returns, for as long as is
 * waited. 0, or EXIT_FAILED after a message.
 */
int filter_ref_change(const char *argument, u64 wait_ms,
		      int (*change)(struct filter_ref *ref, void *data), void *data);

/* Reads the body when only the header was read; 0, or EXIT_FAILED after a message. */
int filter_ref_load(struct filter_ref *ref);

/* Are packets judged by it? */
bool filter_ref_is_live(const struct filter_ref *ref);

/* The same, and no view of a live map from then on, but a copy in memory in which the moves of
 * killed writers are finished.
 */
int filter_ref_copy(struct filter_ref *ref);

/* Is it a rule that is derived anew of what it is made of? */
bool filter_ref_is_derived(struct filter_ref *ref);

/* For a live filter: fails after a message when @after has a higher false positive rate
 * than the filter has now, and than @accept_fpp. A rule that is derived accepts that rate
 * from then on, and it is asked about what was derived.
 */
int filter_ref_guard_raise(struct filter_ref *ref, const struct baleen_filter *after,
			   double accept_fpp);

/* The same of what it comes to with these keys, as far as they find room. */
int filter_ref_guard_added(struct filter_ref *ref, const struct baleen_list *keys,
			   double accept_fpp);

/* For a live filter: fails after naming each protected address that would be dropped with
 * these keys added or taken out, or with another image in its place.
 */
int filter_ref_guard_keys(const struct filter_ref *ref, const struct baleen_filter *keys,
			  enum baleen_set_op op, bool is_forced);
int filter_ref_guard_image(const struct filter_ref *ref, const struct baleen_filter *filter,
			   bool is_forced);

/* Takes out of keys that are to be added what no rule that drops keeps: 0, or EXIT_FAILED after a
 * message when nothing is left.
 */
int filter_ref_leave_nobody(const struct filter_ref *ref, struct baleen_list *keys);

/* Adds keys where it is, or takes them out: 0; EXIT_FAILED after a message; -ENOSPC or
 * -EOPNOTSUPP when this must be built aside; -EALREADY when @noop says which keys change
 * nothing, without @exist.
 */
int filter_ref_change_in_place(struct filter_ref *ref, const struct baleen_list *list,
			       enum baleen_set_op op, bool exist, struct baleen_noop_keys *noop,
			       u64 *n_changed);

/* Puts another filter in its place, or the one in memory back into its file;
 * 0, EXIT_FAILED after a message, or -ESTALE. A rule with a state is derived anew from that
 * instead, so that it holds the rest of what it is made of, too. A rule that drops gets it
 * without what is nobody's, which is taken out of @filter.
 */
int filter_ref_put(struct filter_ref *ref, struct baleen_filter *filter);

/* The same, but the lists that a rule with a state was made of give way to the filter. */
int filter_ref_replace(struct filter_ref *ref, struct baleen_filter *filter,
		       const struct list_options *lists);

/* Adds @source to what a rule with a state is made of; 0, or EXIT_FAILED after a message. */
int filter_ref_remember(struct filter_ref *ref, const struct filter_ref *source,
			const struct list_options *lists);

/* Has a rule with a state leave room for so many keys from now on. */
void filter_ref_reserve(struct filter_ref *ref, u64 capacity);

/* --- to write --- */

/* Checks what -o says and names the filter after it; 0, EXIT_USAGE or EXIT_FAILED
 * after a message.
 */
int output_check(const struct command *command, const char *path, char *name);

/* Writes an image file, or a filter of the module; 0, or EXIT_FAILED after a message. */
int output_write(const char *path, const struct baleen_filter *filter, unsigned int mode);

#endif /* BALEEN_CLI_FILTER_REF_H */
