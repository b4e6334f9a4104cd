// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Loads and unloads the module, while processes ask it, write to it and hold it.
 *
 *      load MODULE.ko CYCLES
 *
 * The processes share a page: the parent says which cycle it is, each child in which
 * it has got through to the device last. A child opens the device, does one thing
 * and closes it; what it is told when there is none says so.
 */
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "stress.h"

#define N_CHILDREN 4
#define SECONDS_AT_MOST 240

static const char name[] = "stress-load";

struct shared {
	atomic_uint cycle; /* 0: between two */
	atomic_uint seen[N_CHILDREN];
	atomic_int wrong;
};

static struct shared *shared;
static struct baleen_filter filter;

/* --- the children ------------------------------------------------------------- */

static int ask(int fd)
{
	struct baleen_key keys[2] = { key_in(0, BALEEN_IP4, 7), key_in(1, BALEEN_IP4, 7) };
	u8 answers[2] = { 2, 2 };
	int err = all_keys(fd, BALEEN_DEV_QUERY, name, keys, 2, answers);

	if (err == -ENOENT)
		return 0;
	return err || answers[0] != 1 || answers[1] != 0;
}

static int store(int fd)
{
	return write(fd, filter.bytes, filter.n_bytes) != (ssize_t)filter.n_bytes;
}

/* Half an image, given up. */
static int store_half(int fd)
{
	return write(fd, filter.bytes, filter.n_bytes / 2) != (ssize_t)filter.n_bytes / 2;
}

static int read_table(int fd)
{
	char text[256];

	return read(fd, text, sizeof(text)) <= 0;
}

static void child(u32 number)
{
	static int (*const things[])(int fd) = { ask, store, store_half, read_table };
	u64 random = number;

	for (;;) {
		u32 cycle = shared->cycle;
		int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

		if (fd < 0) {
			if (errno != ENOENT && errno != ENXIO && errno != ENODEV)
				shared->wrong = errno;
		} else {
			if (things[random_below(&random, N_OF(things))](fd))
				shared->wrong = -1;
			close(fd);
			shared->seen[number] = cycle;
		}
		/* So that there are moments when none of them has it open. */
		usleep(random_below(&random, 4000));
	}
}

/* --- the parent --------------------------------------------------------------- */

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		errx(1, "%s: %s", path, strerror(errno));
	err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return err;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "baleen", O_NONBLOCK) ? -errno : 0;
}

/* Until every child has been there in this cycle; a file of the parent's is open. */
static bool all_seen(u32 cycle)
{
	for (u32 i = 0; i < N_CHILDREN;) {
		if (now_ms() >= deadline_ms)
			return false;
		if (shared->seen[i] == cycle)
			i++;
		else
			sched_yield();
	}
	return true;
}

/* While children have the device open it is refused, and for no other reason. */
static bool unload_between(u64 *n_refused)
{
	int err;

	while ((err = unload()) == -EAGAIN || err == -EBUSY) {
		if (now_ms() >= deadline_ms)
			return false;
		++*n_refused;
		sched_yield();
	}
	return !err;
}

/* What went wrong; NULL for nothing. */
static const char *one_cycle(const char *path, u32 cycle, u64 *n_refused)
{
	int err = load(path), fd, table;

	if (err)
		return strerror(-err);
	shared->cycle = cycle;
	fd = device_open(O_RDWR);
	if (device_n(fd) < 0)
		return "no list";
	if (!all_seen(cycle))
		return "a child does not get through";
	err = unload();
	if (err != -EAGAIN && err != -EBUSY)
		return "unloaded with a file open";
	table = dup(fd);
	close(fd);
	err = unload();
	if (err != -EAGAIN && err != -EBUSY)
		return "unloaded with the copy of a file open";
	close(table);
	return unload_between(n_refused) ? NULL : "cannot be unloaded";
}

static void children_start(pid_t *children)
{
	fflush(stdout);
	for (u32 i = 0; i < N_CHILDREN; i++) {
		children[i] = fork();
		if (children[i] < 0)
			err(1, "fork");
		if (!children[i])
			child(i);
	}
}

static bool children_end(const pid_t *children)
{
	bool all_lived = true;
	int status;

	for (u32 i = 0; i < N_CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], &status, 0);
		all_lived &= WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	}
	return all_lived;
}

int main(int argc, char **argv)
{
	struct baleen_build_options options = { .kind = BALEEN_KIND_CUCKOO, .name = name };
	struct baleen_list list = { 0 };
	u32 cycle, n_cycles = argc == 3 ? atoi(argv[2]) : 0;
	pid_t children[N_CHILDREN];
	const char *wrong = NULL;
	u64 n_refused = 0;

	if (!n_cycles)
		errx(1, "usage: load MODULE.ko CYCLES");
	list_hosts(&list, 0, 100);
	filter = filter_of(&list, options);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	children_start(children);
	deadline_ms = now_ms() + SECONDS_AT_MOST * 1000;
	for (cycle = 1; cycle <= n_cycles && !wrong; cycle++)
		wrong = one_cycle(argv[1], cycle, &n_refused);
	printf("# %llu refused while children had it open\n", (unsigned long long)n_refused);
	if (!check(!wrong, "cycles: %u times loaded and unloaded", n_cycles))
		printf("# cycle %u: %s\n", cycle - 1, wrong);
	check(children_end(children), "cycles: the processes lived through them");
	if (!check(!shared->wrong, "cycles: and were told what is right"))
		printf("# %s\n", shared->wrong < 0 ? "a wrong answer" : strerror(shared->wrong));
	return tap_end();
}
