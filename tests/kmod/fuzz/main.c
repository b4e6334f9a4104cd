// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fuzzes /dev/baleen: ioctls, writes, reads, and packets through what they made.
 *
 *      fuzz SECONDS SEED FIRST_EPOCH N_EPOCHS IMAGE...
 *
 * An epoch and all of its steps follow from the seed, but for how the threads of the
 * odd ones meet; the kernel log says which epoch it is, so that one that ends in a
 * splat can be run alone. Ends after SECONDS, or after N_EPOCHS if that is not 0.
 */
#include <pthread.h>
#include <time.h>

#include "fuzz.h"

#define N_STEPS 300
#define PIECE_BYTES (64u << 10)

struct file *images;
u32 n_images;
atomic_int n_findings;
char devices[4][16] = { "fuzz-a", "fuzz-b", "fuzz-c", "fuzz-d" };

static u8 *window, *arena;
static int memory_fd;
static atomic_bool stopped;
static const size_t all_bytes = (size_t)MAX_THREADS * SLOT_BYTES;

void finding(const struct fuzz *fuzz, const char *format, ...)
{
	va_list args;

	if (n_findings++ >= 10)
		return;
	flockfile(stdout);
	printf("# seed %llu epoch %u thread %u step %u %s: ", (unsigned long long)fuzz->seed,
	       fuzz->epoch, fuzz->thread, fuzz->step, fuzz->op);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	funlockfile(stdout);
}

/* --- one thread ----------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(struct fuzz *fuzz);
	u32 weight;
	bool racing; /* only beside others: nothing is known afterwards */
} ops[] = {
	{ "create", op_create, 8, false },     { "swap", op_swap, 4, false },
	{ "destroy", op_destroy, 2, false },   { "write", op_write, 4, false },
	{ "query", op_query, 16, false },      { "insert", op_insert, 8, false },
	{ "delete", op_delete, 6, false },     { "export", op_export, 4, false },
	{ "get", op_get, 3, false },	       { "list", op_list, 2, false },
	{ "counters", op_counters, 2, false }, { "read", op_read, 2, false },
	{ "unknown", op_unknown, 2, false },   { "files", op_files, 2, false },
	{ "fork", op_fork, 1, false },	       { "bind", op_bind, 8, true },
	{ "unbind", op_unbind, 2, true },      { "binding", op_binding, 3, true },
	{ "send", op_send, 8, true },
};

static void step(struct fuzz *fuzz)
{
	u32 total = 0, at, i;

	for (i = 0; i < N_OF(ops); i++)
		total += fuzz->alone && ops[i].racing ? 0 : ops[i].weight;
	at = below(fuzz, total);
	for (i = 0; i < N_OF(ops); i++) {
		u32 weight = fuzz->alone && ops[i].racing ? 0 : ops[i].weight;

		if (at < weight)
			break;
		at -= weight;
	}
	fuzz->op = ops[i].name;
	fuzz->n_used = 0;
	fuzz->has_end = false;
	ops[i].run(fuzz);
}

static void *run(void *data)
{
	struct fuzz *fuzz = data;

	for (fuzz->step = 0; fuzz->step < N_STEPS && !n_findings; fuzz->step++)
		step(fuzz);
	forget_all(fuzz);
	return NULL;
}

/* --- who disturbs them ---------------------------------------------------------- */

/* Pieces of the arena go, become read-only, and are there again. */
static void *take_away(void *data)
{
	u64 random = *(u64 *)data;

	while (!stopped) {
		u8 *at = arena + next_random(&random) % (all_bytes / PIECE_BYTES) * PIECE_BYTES;
		struct timespec while_gone = { .tv_nsec = next_random(&random) % 300000 };

		if (next_random(&random) % 2)
			munmap(at, PIECE_BYTES);
		else
			mprotect(at, PIECE_BYTES, PROT_READ);
		nanosleep(&while_gone, NULL);
		if (mmap(at, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_fd,
			 at - arena) == MAP_FAILED)
			err(1, "mmap");
		nanosleep(&while_gone, NULL);
	}
	return NULL;
}

/* What the kernel has read is something else when it reads it again. */
static void *scribble(void *data)
{
	u64 random = *(u64 *)data + 1;

	while (!stopped) {
		struct timespec pause = { .tv_nsec = next_random(&random) % 100000 };

		for (u32 i = 0; i < 16; i++) {
			u32 slot = next_random(&random) % MAX_THREADS;
			u32 at = next_random(&random) % (next_random(&random) % 2 ? 512 : 16384);

			window[slot * SLOT_BYTES + at] = next_random(&random);
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* --- epochs --------------------------------------------------------------------- */

/* Also those whose names were spoiled. */
static void destroy_all(void)
{
	static struct baleen_dev_info infos[1000];
	struct baleen_dev_list arg = { .infos = address(infos),
				       .room = N_OF(infos),
				       .info_bytes = sizeof(infos[0]) };
	u32 indexes[64];
	struct baleen_dev_bindings bindings = { .ifindexes = address(indexes), .room = 64 };

	if (!command(FIRST_FD, BALEEN_DEV_BINDINGS, &bindings))
		for (u32 i = 0; i < bindings.n && i < N_OF(indexes); i++) {
			struct baleen_dev_unbind unbind = { .ifindex = indexes[i] };

			command(FIRST_FD, BALEEN_DEV_UNBIND, &unbind);
		}
	if (command(FIRST_FD, BALEEN_DEV_LIST, &arg))
		errx(1, "no list");
	for (u32 i = 0; i < arg.n && i < N_OF(infos); i++)
		if (device_destroy(FIRST_FD, (char *)infos[i].name))
			errx(1, "cannot destroy %s", infos[i].name);
}

static void fuzz_begin(struct fuzz *fuzz, u64 seed, u32 epoch, u32 thread)
{
	u64 random = seed * 0x10000 + epoch;

	*fuzz = (struct fuzz){ .seed = seed, .epoch = epoch, .thread = thread };
	fuzz->random = next_random(&random) + thread;
	fuzz->alone = epoch % 2 == 0;
	fuzz->slot = window + thread * SLOT_BYTES;
	fuzz->slot_address = address(fuzz->alone ? window : arena) + thread * SLOT_BYTES;
}

static void files_open(void)
{
	for (int i = 0; i < N_FDS; i++) {
		int fd = device_open(i % 3 == 2 ? O_RDONLY : i % 3 == 1 ? O_WRONLY : O_RDWR);

		if (dup2(fd, FIRST_FD + i) < 0)
			err(1, "dup2");
		close(fd);
	}
}

static void epoch_run(u64 seed, u32 epoch)
{
	struct fuzz fuzzes[MAX_THREADS];
	pthread_t threads[MAX_THREADS], taker, scribbler;
	u32 n = epoch % 2 ? MAX_THREADS : 1;

	files_open();
	destroy_all();
	stopped = false;
	for (u32 i = 0; i < n; i++)
		fuzz_begin(&fuzzes[i], seed, epoch, i);
	if (n > 1 && (pthread_create(&taker, NULL, take_away, &fuzzes[0].random) ||
		      pthread_create(&scribbler, NULL, scribble, &fuzzes[0].random)))
		errx(1, "no thread");
	for (u32 i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, &fuzzes[i]))
			errx(1, "no thread");
	for (u32 i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	stopped = true;
	if (n > 1) {
		pthread_join(taker, NULL);
		pthread_join(scribbler, NULL);
	}
	destroy_all();
}

/* In the log, so that a splat has the epoch before it. */
static void log_epoch(u64 seed, u32 epoch)
{
	FILE *log = fopen("/dev/kmsg", "w");

	if (!log)
		return;
	fprintf(log, "fuzz: seed %llu epoch %u\n", (unsigned long long)seed, epoch);
	fclose(log);
}

/* The same memory twice, and nothing behind it. */
static void memory_make(void)
{
	memory_fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (memory_fd < 0 || ftruncate(memory_fd, all_bytes))
		err(1, "memfd");
	window = mmap(NULL, all_bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	arena = mmap(NULL, all_bytes + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (window == MAP_FAILED || arena == MAP_FAILED)
		err(1, "mmap");
	if (mmap(window, all_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_fd, 0) ==
		    MAP_FAILED ||
	    mmap(arena, all_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_fd, 0) ==
		    MAP_FAILED)
		err(1, "mmap");
}

int main(int argc, char **argv)
{
	struct timespec began, now;
	u32 epoch, first, n_epochs;
	u64 seed;

	if (argc < 6)
		errx(2, "usage: fuzz SECONDS SEED FIRST_EPOCH N_EPOCHS IMAGE...");
	seed = strtoull(argv[2], NULL, 0);
	first = atoi(argv[3]);
	n_epochs = atoi(argv[4]);
	n_images = argc - 5;
	images = need(calloc(n_images, sizeof(*images)));
	for (u32 i = 0; i < n_images; i++)
		images[i] = file_read(argv[5 + i]);
	memory_make();
	clock_gettime(CLOCK_MONOTONIC, &began);
	for (epoch = first; !n_findings; epoch++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (n_epochs ? epoch == first + n_epochs :
			       now.tv_sec - began.tv_sec >= atoi(argv[1]))
			break;
		log_epoch(seed, epoch);
		epoch_run(seed, epoch);
	}
	printf("# seed %s, epochs %u to %u\n", argv[2], first, epoch);
	check(!n_findings, "fuzz: no finding");
	check(epoch > first, "fuzz: there was an epoch");
	return tap_end();
}
