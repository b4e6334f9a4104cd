/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work cut into tasks that several threads do.
 *
 * What comes out must not depend on which thread does which task, nor on how many there
 * are. A program has one thread until it asks for more: the daemons and programs that
 * link libbaleen do not.
 */
#ifndef BALEEN_THREADS_H
#define BALEEN_THREADS_H

#include <baleen/port.h>

#define BALEEN_MAX_THREADS 64

/**
 * baleen_threads_set() - how many threads long work may take from now on
 * @n: 1 to BALEEN_MAX_THREADS, more are cut to that; 0 for one a processor of the affinity of
 *     this process, and no more than the quota of its control group lets run at a time
 */
void baleen_threads_set(u32 n);

/**
 * baleen_threads() - how many threads long work may take
 *
 * Return: as set; 1 at first.
 */
u32 baleen_threads(void);

/**
 * baleen_threads_run() - do tasks, as many at a time as there are threads
 * @n_tasks: how many
 * @task: called once with each number below @n_tasks, and the number of the thread that does
 *        it: below baleen_threads(), 0 for the caller's own
 * @data: passed to @task
 *
 * All tasks are done when it returns. Signals go to the caller's thread. Where no thread can
 * be made, those that there are do the work.
 */
void baleen_threads_run(u32 n_tasks, void (*task)(void *data, u32 number, u32 thread), void *data);

#endif /* BALEEN_THREADS_H */
