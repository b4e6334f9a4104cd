// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Work cut into tasks that several threads do. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "util/input.h"
#include "util/threads.h"

/* 0 until it is asked for the first time how many there are. */
static u32 n_allowed = 1;

/* --- how many -------------------------------------------------------------- */

static u32 of_affinity(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

/* The processors that a file such as `150000 100000` gives, rounded up; `max` is no limit. */
static u32 of_quota(const char *path)
{
	unsigned long long quota, period;
	FILE *file = baleen_input_stream(path, BALEEN_INPUT_SYSTEM, NULL);
	u32 n = BALEEN_MAX_THREADS;

	if (!file)
		return n;
	if (fscanf(file, "%llu %llu", &quota, &period) == 2 && period &&
	    quota < period * BALEEN_MAX_THREADS)
		n = (quota + period - 1) / period;
	fclose(file);
	return n;
}

/* The control group of this process and those around it, by the unified hierarchy. */
static u32 of_control_group(void)
{
	char group[512] = "", path[sizeof(group) + 64], *slash;
	u32 least = BALEEN_MAX_THREADS, n;
	FILE *file = baleen_input_stream("/proc/self/cgroup", BALEEN_INPUT_SYSTEM, NULL);

	if (!file)
		return least;
	while (fgets(path, sizeof(path), file))
		if (sscanf(path, "0::%511[^\n]", group) == 1)
			break;
	fclose(file);
	while ((slash = strrchr(group, '/'))) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
		n = of_quota(path);
		if (n < least)
			least = n;
		*slash = '\0';
	}
	return least;
}

static u32 of_system(void)
{
	u32 n = of_affinity(), most = n > 1 ? of_control_group() : 1;

	if (n > most)
		n = most;
	return n ? n : 1;
}

void baleen_threads_set(u32 n)
{
	n_allowed = n < BALEEN_MAX_THREADS ? n : BALEEN_MAX_THREADS;
}

u32 baleen_threads(void)
{
	if (!n_allowed)
		n_allowed = of_system();
	return n_allowed;
}

/* --- tasks ----------------------------------------------------------------- */

/**
 * struct work - tasks that are being done
 * @next: the first that nobody has taken
 * @n_tasks: how many
 * @task: does one
 * @data: for @task
 */
struct work {
	u32 next;
	u32 n_tasks;
	void (*task)(void *data, u32 number, u32 thread);
	void *data;
};

struct worker {
	struct work *work;
	u32 number;
	pthread_t thread;
};

static void *do_tasks(void *data)
{
	const struct worker *worker = data;
	struct work *work = worker->work;
	u32 number;

	while ((number = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < work->n_tasks)
		work->task(work->data, number, worker->number);
	return NULL;
}

void baleen_threads_run(u32 n_tasks, void (*task)(void *data, u32 number, u32 thread), void *data)
{
	struct work work = { .n_tasks = n_tasks, .task = task, .data = data };
	struct worker worker[BALEEN_MAX_THREADS] = { { .work = &work } };
	u32 n = n_tasks > 1 ? baleen_threads() : 1, made = 1;
	sigset_t all, before;

	if (n > n_tasks)
		n = n_tasks;
	if (n > 1) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		for (; made < n; made++) {
			worker[made] = (struct worker){ .work = &work, .number = made };
			if (pthread_create(&worker[made].thread, NULL, do_tasks, &worker[made]))
				break;
		}
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	do_tasks(&worker[0]);
	while (made-- > 1)
		pthread_join(worker[made].thread, NULL);
}
