/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generations of a set as plain files in a directory, for any web server or cache.
 *
 *      NAME.manifest            the newest generation (set_manifest.h)
 *      NAME.manifest.minisig    its signature
 *      NAME-GEN.minisig         the same, which one finds without a race: GEN is in the manifest
 *      NAME-GEN.manifest        manifests of the last generations: a host that has none yet takes
 *                               the previous one while the newest is on its way (rollout.h)
 *      NAME-GEN.set             full sets of the last generations
 *      NAME-GEN.source          the lists that they are made of, when the publisher shows them
 *      NAME-FROM-GEN.delta      differences that lead to the last two
 *
 * Each is written aside, synced, and given its name; the manifest is the last that hosts look
 * at. So a publisher that is killed, or whose disk is full, leaves the earlier generation whole.
 */
#ifndef BALEEN_SET_PUBLISH_H
#define BALEEN_SET_PUBLISH_H

#include "set/set_manifest.h"

/* Most bytes of a file: 2^26 entries of IPv6, at 128 bits each. */
#define BALEEN_SET_FILE_MAX (1ull << 30)

/**
 * struct baleen_set_publish - what is published, and where
 * @directory: path of the directory, which is there
 * @name: name of the set
 * @key: path of the secret key
 * @now_s: the time
 * @expires_s: until when the generation may be taken; 0 for ever
 * @generation: its number, above those that are there; 0 for the next one
 * @n_deltas: from so many earlier generations, BALEEN_SET_DELTAS at the most
 * @rollout: which hosts take it when
 * @source: the lists, shown to hosts that ask for the line of an entry; NULL not to
 * @n_source: bytes of them
 */
struct baleen_set_publish {
	const char *directory;
	const char *name;
	const char *key;
	u64 now_s;
	u64 expires_s;
	u64 generation;
	u32 n_deltas;
	struct baleen_set_rollout rollout;
	const char *source;
	size_t n_source;
};

/**
 * struct baleen_set_published - the outcome
 * @manifest: of the generation that hosts see now
 * @is_unchanged: it was there before, with the same set
 * @overtaken: the generation before it, which has not reached all hosts and no longer does
 * @overtaken_until_s: when it would have; 0 when it has
 */
struct baleen_set_published {
	struct baleen_set_manifest manifest;
	bool is_unchanged;
	u64 overtaken;
	u64 overtaken_until_s;
};

/**
 * baleen_set_publish() - publish the next generation
 * @publish: how
 * @canon: the set
 * @published: filled in
 * @error: filled in on failure
 *
 * One publisher works at a time in a directory; another waits for it. A set that is there already
 * makes no generation, unless that has a number or an end of its own.
 *
 * Return: 0; -EEXIST when the generation is no later one; a negative errno.
 */
int baleen_set_publish(const struct baleen_set_publish *publish, const struct baleen_canon *canon,
		       struct baleen_set_published *published, struct baleen_error *error);

/**
 * baleen_set_file_read() - a full set from a file
 * @path: of the file
 * @head: filled in
 * @canon: filled in; to be freed by the caller
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when it is no full set; a negative errno.
 */
int baleen_set_file_read(const char *path, struct baleen_set_head *head, struct baleen_canon *canon,
			 struct baleen_error *error);

#endif /* BALEEN_SET_PUBLISH_H */
