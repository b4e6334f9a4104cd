/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cache digest that is served: the union of images, live filters of siblings and lists
 * of URLs. It is made again when one of them changes.
 */
#ifndef BALEEN_DAEMON_DIGEST_DOCUMENT_H
#define BALEEN_DAEMON_DIGEST_DOCUMENT_H

#include <time.h>

#include "cli/common/list_options.h"
#include "icp/digest.h"

/**
 * struct digest_document - a digest, as it is sent
 * @bytes: the digest
 * @n_bytes: its size
 * @digest: its head
 * @share: share of its bits that are set
 * @modified_s: time of its last change; later than that of the previous digest
 * @n_users: references; the last user frees it
 * @maker: counts it
 */
struct digest_document {
	void *bytes;
	size_t n_bytes;
	struct baleen_digest digest;
	double share;
	time_t modified_s;
	u32 n_users;
	struct digest_maker *maker;
};

/**
 * struct digest_maker - the sources of the digest
 * @options: how lists are built
 * @paths: IMAGE or DEV:NAME, as typed
 * @n_paths: number of paths
 * @seen: identity of each file when it was read
 * @read_at_ms: when live filters were read
 * @live_ms: for so long they are used
 * @is_live: at least one source is a live filter
 * @lost_live: the last attempt failed at a live filter, so its content is unknown
 * @lost_file: the last attempt failed at a file; the next one follows its change
 * @is_full: warned that more bits are set than Squid accepts
 * @said: the last message, so that it is printed once; empty after a success
 * @now: the current document, or NULL
 * @n_documents: in memory; slow readers keep those of before
 */
struct digest_maker {
	struct list_options options;
	char **paths;
	int n_paths;
	struct digest_seen *seen;
	u64 read_at_ms;
	u64 live_ms;
	bool is_live;
	bool lost_live;
	bool lost_file;
	bool is_full;
	char said[1024];
	struct digest_document *now;
	u32 n_documents;
};

/* Makes the first document; 0, or EXIT_FAILED after a message. */
int digest_maker_start(struct digest_maker *maker);

/* Returns the current document and adds a user; NULL when a live filter cannot be read. When
 * a file is damaged, missing or does not fit, the old document stays, after a message. It also
 * stays while readers hold the two before it: slow ones cannot fill the memory.
 */
struct digest_document *digest_maker_collect(struct digest_maker *maker);

/* Removes a user. */
void digest_document_put(struct digest_document *document);

void digest_maker_stop(struct digest_maker *maker);

#endif /* BALEEN_DAEMON_DIGEST_DOCUMENT_H */
