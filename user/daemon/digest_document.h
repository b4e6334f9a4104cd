/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cache digest that is served: made of images, live filters of siblings and lists of
 * URLs, one over the other, and made anew when one of them changes.
 */
#ifndef BALEEN_DAEMON_DIGEST_DOCUMENT_H
#define BALEEN_DAEMON_DIGEST_DOCUMENT_H

#include <time.h>

#include "cli/common/list_options.h"
#include "icp/digest.h"

/**
 * struct digest_document - a digest, as it is sent
 * @bytes: of it
 * @n_bytes: how many
 * @digest: its head
 * @share: of its bits that are set
 * @modified_s: when it became what it is; later than the one before
 * @n_users: who keep it; the last one frees it
 */
struct digest_document {
	void *bytes;
	size_t n_bytes;
	struct baleen_digest digest;
	double share;
	time_t modified_s;
	u32 n_users;
};

/**
 * struct digest_maker - where it comes from
 * @options: how lists are built
 * @paths: IMAGE or DEV:NAME, as typed
 * @n_paths: how many
 * @seen: what each file was when it was read
 * @read_at_ms: when live filters were read
 * @is_live: one of them is live
 * @lost_live: the last attempt failed with a live filter: nobody knows what it holds now
 * @lost_file: it failed with a file: nothing is tried before one changes
 * @is_full: more bits are set than Squid takes, which was said
 * @said: the last message, so that it is said once; empty after a success
 * @now: the document; NULL: there is none
 */
struct digest_maker {
	struct list_options options;
	char **paths;
	int n_paths;
	struct digest_seen *seen;
	u64 read_at_ms;
	bool is_live;
	bool lost_live;
	bool lost_file;
	bool is_full;
	char said[1024];
	struct digest_document *now;
};

/* Makes the first document; 0, or EXIT_FAILED after a message. */
int digest_maker_start(struct digest_maker *maker);

/* The document as it is now, for one user more; NULL when a live filter cannot be read. Files
 * that are damaged, gone or do not fit leave the old document, after a message.
 */
struct digest_document *digest_maker_take(struct digest_maker *maker);

/* One user less. */
void digest_document_put(struct digest_document *document);

void digest_maker_stop(struct digest_maker *maker);

#endif /* BALEEN_DAEMON_DIGEST_DOCUMENT_H */
