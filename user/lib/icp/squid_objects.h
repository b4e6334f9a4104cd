/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The content of a cache, from the list of objects of its cache manager
 * (/squid-internal-mgr/objects).
 *
 *      KEY BC803772231122E1307B152D75DB1774
 *              STORE_OK      IN_MEMORY     SWAPOUT_DONE PING_DONE
 *              DISPATCHED,VALIDATED
 *              LV:1795360115 LU:1795360115 LM:1767225600 EX:1795363715
 *              0 locks, 0 clients, 1 refs
 *              Swap Dir 0, File 0X00003B
 *              ... of what is in memory: method, URL and sizes
 *      (blank)
 *
 * The lines of an entry begin with a tab. What others can have is on disk, SWAPOUT_DONE
 * in a directory of which the number is not -1, and neither private nor being released.
 * Each worker of several puts its entries between "by kid1 {" and "} by kid1".
 *
 * Squid 5.7 stops in the middle of a report of more than read_ahead_gap, which is 16 KB:
 * some 60 objects. A larger gap is no way out: Squid then reads so far ahead for each
 * client that is slow (tried: 400 MB for one). swap.state has no such limit.
 *
 * Source: Squid 5.7, src/stat.cc, statStoreEntry() and statObjects().
 */
#ifndef BALEEN_SQUID_OBJECTS_H
#define BALEEN_SQUID_OBJECTS_H

#include "icp/squid_set.h"

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
