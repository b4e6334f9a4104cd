/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a cache holds, by the list of objects of its cache manager
 * (/squid-internal-mgr/objects).
 *
 * Source: Squid 5.7, src/stat.cc, statStoreEntry().
 */
#ifndef BALEEN_SQUID_OBJECTS_H
#define BALEEN_SQUID_OBJECTS_H

#include "error.h"
#include "squid_set.h"

/**
 * struct baleen_squid_objects - what was in a report
 * @n_entries: entries of the store
 * @n_on_disk: of them, those that others can have: they are in the set
 */
struct baleen_squid_objects {
	u64 n_entries;
	u64 n_on_disk;
};

/**
 * baleen_squid_objects_read() - append the objects of a report
 * @fd: open for reading; read from where it is to its end, a line at a time
 * @set: appended to, also before a failure
 * @objects: filled in; untouched on failure
 * @reason: why not, a constant string, of -EINVAL
 * @line: where, from 1
 *
 * Return: 0; -EINVAL for what is no such report, or not the whole of it; -ENOMEM, or
 * the negative errno of a failed read.
 */
int baleen_squid_objects_read(int fd, struct baleen_squid_set *set,
			      struct baleen_squid_objects *objects, const char **reason, u64 *line);

#endif /* BALEEN_SQUID_OBJECTS_H */
