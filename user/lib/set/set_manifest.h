/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The manifest of a set: which generation is the newest, and its files. A signature of minisign
 * vouches for it (util/minisign.h), and it for all other files.
 *
 *      baleen-set 1
 *      name bans
 *      generation 7
 *      previous 6
 *      created 2026-11-25T03:00:00Z
 *      expires 2026-12-02T03:00:00Z             or never
 *      entries 1000000
 *      digest HEX                              of the generation (canon.h)
 *      canaries 2                              of a roll-out (rollout.h): so many must say ok
 *      ring 1 3600                             hosts up to 1 %, and seconds until the next ring
 *      ring 100 3600
 *      full 1704321 HEX                        NAME-7.set: bytes, BLAKE2b-256 of the file
 *      source 14300000 HEX                     NAME-7.source: the lists, likewise
 *      delta 6 35012 HEX                       NAME-6-7.delta: from which, likewise
 *      delta 5 70130 HEX
 *
 * There is one way to write a manifest; anything else is refused, and so are lines that this
 * release does not know.
 */
#ifndef BALEEN_SET_MANIFEST_H
#define BALEEN_SET_MANIFEST_H

#include "set/rollout.h"
#include "set/set_file.h"

#define BALEEN_SET_NAME_BYTES 64
/* Most differences that lead to a generation. */
#define BALEEN_SET_DELTAS 64
/* Bytes of a manifest, with its NUL byte: a line has at most 128. */
#define BALEEN_SET_MANIFEST_BYTES (128 * (11 + BALEEN_SET_RINGS + BALEEN_SET_DELTAS))
/* Name, two generations and suffix. */
#define BALEEN_SET_FILE_NAME 128

/**
 * struct baleen_set_part - a file that makes the generation
 * @from: generation that it is the difference from; 0 of the full set
 * @n_bytes: its size
 * @digest: BLAKE2b-256 of it
 */
struct baleen_set_part {
	u64 from;
	u64 n_bytes;
	u8 digest[BALEEN_CANON_DIGEST];
};

/**
 * struct baleen_set_manifest - a manifest
 * @name: name of the set
 * @previous: the generation before; 0 for none
 * @head: generation, entries, times and digest; its from is 0
 * @rollout: which hosts take it when
 * @full: the full set
 * @source: the lists that it is made of, one behind the other; without bytes when the publisher
 *          does not show them
 * @delta: differences, from the newest earlier generation to the oldest
 * @n_deltas: how many
 */
struct baleen_set_manifest {
	char name[BALEEN_SET_NAME_BYTES];
	u64 previous;
	struct baleen_set_head head;
	struct baleen_set_rollout rollout;
	struct baleen_set_part full;
	struct baleen_set_part source;
	struct baleen_set_part delta[BALEEN_SET_DELTAS];
	u32 n_deltas;
};

/**
 * struct baleen_set_time - a time as the manifest has it
 * @text: such as 2026-11-25T03:00:00Z, or never
 */
struct baleen_set_time {
	char text[32];
};

/**
 * baleen_set_time() - a time as text
 * @seconds: since 1970; 0 for never
 *
 * Return: the text.
 */
struct baleen_set_time baleen_set_time(u64 seconds);

/**
 * baleen_set_name_is() - can a set have this name?
 * @name: letters, digits, dot, dash and underscore; the first is no dot, and no dash and number end it:
 *        its files are called NAME-GENERATION
 *
 * Return: true or false.
 */
bool baleen_set_name_is(const char *name);

/**
 * baleen_set_part_name() - the name of a file of a generation
 * @name: name of the set
 * @generation: the generation
 * @from: of the difference; 0 for the full set
 * @text: BALEEN_SET_FILE_NAME bytes, filled in
 *
 * Return: @text.
 */
const char *baleen_set_part_name(const char *name, u64 generation, u64 from, char *text);

/**
 * baleen_set_file_name() - the name of another file of a generation
 * @name: name of the set
 * @generation: the generation
 * @suffix: minisig, manifest or source
 * @text: BALEEN_SET_FILE_NAME bytes, filled in
 *
 * Return: @text.
 */
const char *baleen_set_file_name(const char *name, u64 generation, const char *suffix, char *text);

/**
 * baleen_set_part_describe() - fill in size and digest of a file
 * @part: its from is left alone
 * @bytes: the file
 * @n_bytes: how many
 */
void baleen_set_part_describe(struct baleen_set_part *part, const void *bytes, size_t n_bytes);

/**
 * baleen_set_part_check() - is this the file that the manifest tells of?
 * @part: the file
 * @bytes: the file as it came
 * @n_bytes: how many
 * @why: why not, a constant string; untouched on success
 *
 * Return: 0 or -EINVAL.
 */
int baleen_set_part_check(const struct baleen_set_part *part, const void *bytes, size_t n_bytes,
			  const char **why);

/**
 * baleen_set_manifest_format() - a manifest as text
 * @manifest: the manifest
 * @text: BALEEN_SET_MANIFEST_BYTES, filled in
 *
 * Return: bytes of it, without the NUL byte.
 */
size_t baleen_set_manifest_format(const struct baleen_set_manifest *manifest, char *text);

/**
 * baleen_set_manifest_parse() - a manifest from text
 * @text: the text, from whomever
 * @n_bytes: how many
 * @manifest: filled in; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_set_manifest_parse(const char *text, size_t n_bytes,
			      struct baleen_set_manifest *manifest);

/**
 * baleen_set_manifest_delta() - the difference from a generation
 * @manifest: the manifest
 * @from: the generation
 *
 * Return: the file; NULL when there is none.
 */
const struct baleen_set_part *baleen_set_manifest_delta(const struct baleen_set_manifest *manifest,
							u64 from);

#endif /* BALEEN_SET_MANIFEST_H */
