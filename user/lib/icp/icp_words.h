/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Siblings, askers and where the feed comes in, as they are typed and configured.
 */
#ifndef BALEEN_ICP_WORDS_H
#define BALEEN_ICP_WORDS_H

#include "icp/icp_attach.h"
#include "ops/build_options.h"

#define BALEEN_ICP_MAX_ASKERS 256

/* The usual values. */
#define BALEEN_ICP_STALE_MS 30000
#define BALEEN_ICP_CONFIRM_MS 1000
#define BALEEN_ICP_CAPACITY 1000000
#define BALEEN_ICP_FPP 0.001

/**
 * struct baleen_icp_words - what was said of an instance
 * @config: names, addresses, modes and feeders; ports
 * @image: of each sibling: what holds its objects; NULL: none was given
 * @asker: prefixes that may ask
 * @n_askers: how many
 * @feed_device: where the feed comes in; empty: where queries do
 * @stale_ms: silence after which a sibling's queries pass; 0: never
 * @confirm_ms: mode answer: time after a hit of the sibling itself in which hits are
 *              answered; 0: always
 */
struct baleen_icp_words {
	struct baleen_icp_config config;
	char *image[BALEEN_ICP_MAX_SIBLINGS];
	struct baleen_icp_grant asker[BALEEN_ICP_MAX_ASKERS];
	u32 n_askers;
	char feed_device[IF_NAMESIZE];
	u64 stale_ms;
	u64 confirm_ms;
};

/**
 * baleen_icp_words_init() - nothing said
 * @words: filled with what holds then; free with baleen_icp_words_free()
 */
void baleen_icp_words_init(struct baleen_icp_words *words);

/**
 * baleen_icp_words_free() - free what words point to
 * @words: as initialised, or all zeros
 */
void baleen_icp_words_free(struct baleen_icp_words *words);

/**
 * baleen_icp_words_sibling() - another sibling
 * @words: it is added; undefined but to be freed after a failure
 * @text: NAME=ADDRESS[,WORD=VALUE]...
 * @error: says what is wrong with it, without @text
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int baleen_icp_words_sibling(struct baleen_icp_words *words, const char *text,
			     struct baleen_error *error);

/**
 * baleen_icp_words_asker() - more prefixes that may ask
 * @words: they are added
 * @text: PREFIX[,PREFIX]...
 * @error: as for baleen_icp_words_sibling()
 *
 * Return: as there.
 */
int baleen_icp_words_asker(struct baleen_icp_words *words, const char *text,
			   struct baleen_error *error);

/**
 * baleen_icp_words_port() - the port of queries
 * @words: changed
 * @text: PORT
 * @error: as for baleen_icp_words_sibling()
 *
 * Return: 0 or -EINVAL.
 */
int baleen_icp_words_port(struct baleen_icp_words *words, const char *text,
			  struct baleen_error *error);

/**
 * baleen_icp_words_feed() - where lines of store.log come in
 * @words: changed
 * @text: [DEV:]PORT
 * @error: as for baleen_icp_words_sibling()
 *
 * Return: 0 or -EINVAL.
 */
int baleen_icp_words_feed(struct baleen_icp_words *words, const char *text,
			  struct baleen_error *error);

/**
 * baleen_icp_words_span() - a time, or never
 * @ms: set; 0 for never
 * @text: such as 30s, or never
 * @error: as for baleen_icp_words_sibling()
 *
 * Return: 0 or -EINVAL.
 */
int baleen_icp_words_span(u64 *ms, const char *text, struct baleen_error *error);

/**
 * baleen_icp_words_find() - the sibling of a name
 * @words: some were said
 * @name: its name
 *
 * Return: its number, or -ENOENT.
 */
int baleen_icp_words_find(const struct baleen_icp_words *words, const char *name);

/**
 * baleen_icp_words_check() - do all words go together?
 * @words: all that are said; who may ask is completed
 * @prefix: what stands before a word: "--" where they are options
 * @error: filled in when they do not
 *
 * Return: 0 or -EINVAL.
 */
int baleen_icp_words_check(struct baleen_icp_words *words, const char *prefix,
			   struct baleen_error *error);

/**
 * baleen_icp_words_plan() - what is to be put on a device
 * @words: checked
 * @device: where queries come in
 * @plan: all is filled in but filters, what they have, and the mode
 */
void baleen_icp_words_plan(const struct baleen_icp_words *words, const char *device,
			   struct baleen_icp_plan *plan);

/**
 * baleen_icp_shape() - what holds of a filter of a cache's objects without a word
 * @build: kind, hash and rate as they were asked for; completed
 * @is_kind_given: the kind was asked for
 * @is_hash_given: the hash was asked for
 *
 * A hash or a rate alone mean a counting filter.
 */
void baleen_icp_shape(struct baleen_build_options *build, bool is_kind_given, bool is_hash_given);

/**
 * baleen_icp_shape_fed() - the same, of one that follows a feed
 * @build: completed by baleen_icp_shape(); gets room, and a geometry that changes in place
 */
void baleen_icp_shape_fed(struct baleen_build_options *build);

/**
 * baleen_icp_address_text() - an address of the configuration as text
 * @hi: bits 127..64
 * @lo: bits 63..0; IPv4 is mapped
 * @text: at least BALEEN_KEY_TEXT bytes
 *
 * Return: @text.
 */
const char *baleen_icp_address_text(u64 hi, u64 lo, char *text);

/**
 * baleen_icp_mode_text() - a mode as a word
 * @mode: enum baleen_icp_mode
 *
 * Return: "answer", "confirm" or "observe".
 */
const char *baleen_icp_mode_text(u32 mode);

#endif /* BALEEN_ICP_WORDS_H */
