// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the content of a cache from its swap.state. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icp/swap_state.h"

/* Records read at a time. */
#define CHUNK 4096

#define VERSION 2

enum { OP_ADD = 1, OP_DELETE = 2, OP_VERSION = 3 };

/* Bits of the flags: RELEASE_REQUEST and KEY_PRIVATE. */
#define NOT_FOR_OTHERS (1u << 3 | 1u << 7)

/* ENTRY_REVALIDATE_ALWAYS: Squid asks the origin each time. */
#define NEVER_FRESH (1u << 1)

struct header {
	u8 op;
	u8 checksum[3];
	u32 version;
	u32 record_bytes;
};

struct record {
	u8 op;
	u8 checksum[3];
	u32 file;
	s64 timestamp;
	s64 last_reference;
	s64 expires;
	s64 last_modified;
	u64 n_bytes;
	u16 n_references;
	u16 flags;
	u8 key[16];
	u8 unused[4];
};

_Static_assert(sizeof(struct record) == BALEEN_SWAP_RECORD_BYTES, "layout of swap.state");

static bool is_sum(const u8 *checksum, u32 a, u32 b, u32 c)
{
	u64 sum = (u64)a + b + c;

	while (sum >> 24)
		sum = (sum & 0xffffff) + (sum >> 24);
	sum = ~sum;
	return checksum[0] == (u8)sum && checksum[1] == (u8)(sum >> 8) &&
	       checksum[2] == (u8)(sum >> 16);
}

static bool is_header(const struct header *header)
{
	return header->op == OP_VERSION &&
	       is_sum(header->checksum, header->version, header->record_bytes, 0);
}

bool baleen_swap_state_is(const void *bytes, size_t n_bytes)
{
	struct header header;

	if (n_bytes < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	return is_header(&header);
}

static const char *check_header(const void *bytes)
{
	struct header header;

	memcpy(&header, bytes, sizeof(header));
	if (!is_header(&header))
		return "no swap.state of a Squid on a machine like this";
	if (header.version != VERSION || header.record_bytes != BALEEN_SWAP_RECORD_BYTES)
		return "a swap.state of another version: only 2, with records of 72 bytes, is known";
	return NULL;
}

static int add_record(const struct record *record, struct baleen_squid_set *set,
		      struct baleen_swap_state *state, const char **reason)
{
	u64 hi = baleen_load_be64(record->key), lo = baleen_load_be64(record->key + 8);

	if (!is_sum(record->checksum, record->file, record->n_bytes >> 32, (u32)record->n_bytes) ||
	    (record->op != OP_ADD && record->op != OP_DELETE)) {
		*reason = "a damaged record";
		return -EINVAL;
	}
	if (record->op == OP_DELETE) {
		state->n_deleted++;
		return baleen_squid_set_put(set, hi, lo, BALEEN_STORE_DELETE, 0);
	}
	if (record->flags & NOT_FOR_OTHERS) {
		state->n_others++;
		return 0;
	}
	state->n_added++;
	return baleen_squid_set_put(set, hi, lo, BALEEN_STORE_INSERT,
				    record->flags & NEVER_FRESH ?
					    0 :
					    baleen_squid_fresh_until(record->timestamp,
								     record->last_modified,
								     record->expires));
}

/* Returns how many bytes there were, fewer than asked for only at the end. */
static ssize_t read_whole(int fd, u8 *bytes, size_t n_bytes)
{
	size_t n = 0;
	ssize_t got;

	while (n < n_bytes) {
		got = read(fd, bytes + n, n_bytes - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += got;
	}
	return n;
}

int baleen_swap_state_read(int fd, struct baleen_squid_set *set, struct baleen_swap_state *state,
			   const char **reason, u64 *record)
{
	struct baleen_swap_state read = { 0 };
	struct record *chunk = malloc(CHUNK * sizeof(*chunk));
	u64 n_read = 0;
	ssize_t n;
	int err = 0;

	if (!chunk)
		return -ENOMEM;
	do {
		n = read_whole(fd, (u8 *)chunk, CHUNK * sizeof(*chunk));
		if (n < 0)
			err = n;
		if (!err && !n_read) {
			*reason = n < (ssize_t)sizeof(*chunk) ? "shorter than its header" :
								check_header(chunk);
			err = *reason ? -EINVAL : 0;
			n_read = !err;
		}
		for (ssize_t i = n_read == 1; !err && (i + 1) * (ssize_t)sizeof(*chunk) <= n; i++) {
			err = add_record(&chunk[i], set, &read, reason);
			n_read += !err;
		}
	} while (!err && n == (ssize_t)(CHUNK * sizeof(*chunk)));
	free(chunk);
	if (!err) {
		read.is_torn = n % sizeof(struct record);
		*state = read;
	} else {
		*record = n_read;
	}
	return err;
}
