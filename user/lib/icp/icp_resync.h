/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Another filter for a live sibling, of what its cache says that it holds, while the
 * feed goes on.
 *
 *      record events | read the sources | build aside | load | feed to the new one |
 *      correct what it missed | queries to the new one | record no more
 *
 * Why no event is lost or counted twice is in icp_journal.h. Whatever fails before the
 * feed is switched leaves the old filter as it was, and a command that is killed leaves
 * an old or a new one in force; what it left undone the next writer finishes.
 */
#ifndef BALEEN_ICP_RESYNC_H
#define BALEEN_ICP_RESYNC_H

#include "icp/squid_source.h"
#include "util/error.h"

/**
 * struct baleen_icp_resync - whose filter, of what
 * @device: the device's name now, or at attach
 * @sibling: as it was called at attach
 * @source: as for baleen_squid_source_read(). A sibling of several feeders has one of
 *          each: by the address in the URL, or in the order of its feeders
 * @n_sources: how many
 * @read: how to read them
 * @capacity: room for so many objects; 0: the old filter's geometry, unless it is too
 *            small for what there is
 */
struct baleen_icp_resync {
	const char *device;
	const char *sibling;
	const char *const *source;
	u32 n_sources;
	struct baleen_squid_read read;
	u64 capacity;
};

/**
 * struct baleen_icp_resync_report - what was done
 * @from: type of the sources
 * @n_entries: objects in the new filter; of a digest what it says
 * @is_compared: @n_missing and @n_gone are known: the sources had keys
 * @n_missing: objects that the old filter lacked: misses that should have been hits
 * @n_gone: entries of the old filter that the cache does not have
 * @is_estimate: @n_gone is a difference of counts, not of keys
 * @n_events: that came meanwhile
 * @n_corrected: changes that were made to the new filter because of them
 * @n_unsettled: objects that changed faster than they could be corrected
 * @n_attempts: how often it was begun
 * @has_grown: the new filter has another geometry
 * @n_bytes: size of the new filter
 * @took_ns: from the start of recording to its end
 * @text: what was found in the last source, see baleen_squid_source_text()
 */
struct baleen_icp_resync_report {
	enum baleen_squid_from from;
	u64 n_entries;
	bool is_compared;
	u64 n_missing;
	u64 n_gone;
	bool is_estimate;
	u64 n_events;
	u64 n_corrected;
	u64 n_unsettled;
	u32 n_attempts;
	bool has_grown;
	u64 n_bytes;
	u64 took_ns;
	char text[BALEEN_SQUID_SOURCE_TEXT];
};

/**
 * baleen_icp_resync() - give a sibling a filter of what its cache holds
 * @resync: the request
 * @report: filled in; untouched on failure
 * @error: filled in on failure
 *
 * Ends early when a signal is pending that the caller blocked, as long as nothing was
 * switched.
 *
 * Return: 0; -ENOENT without such an instance or sibling; -EOPNOTSUPP for a digest
 * where there is a feed; -EINVAL for sources that do not fit the feeders; -EAGAIN when
 * events came faster than they were recorded, several times; -ETIMEDOUT when another
 * writer held on; -EINTR; as baleen_squid_source_read(); a negative errno.
 */
int baleen_icp_resync(const struct baleen_icp_resync *resync,
		      struct baleen_icp_resync_report *report, struct baleen_error *error);

#endif /* BALEEN_ICP_RESYNC_H */
