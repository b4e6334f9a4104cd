// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A filter is swapped and destroyed while programs ask it: changes A B BOTH NEITHER
 *
 * A and B are images, BOTH is an address of either, NEITHER one of none. Two threads
 * run a program over and over; the program counts what it was answered.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "calls.h"
#include "calls.skel.h"
#include "device.h"

#define N_CHANGES 300

static const char name[] = "changing";

/* A thread that asks for one key. */
struct asker {
	struct calls_bpf *skeleton;
	pthread_t thread;
	_Atomic bool stop;
	_Atomic unsigned long n_runs;
};

static void *ask_on(void *arg)
{
	static const __u8 frame[64];
	struct asker *asker = arg;
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = 1000);

	while (!atomic_load(&asker->stop)) {
		if (bpf_prog_test_run_opts(bpf_program__fd(asker->skeleton->progs.ok_count),
					   &options))
			err(2, "BPF_PROG_TEST_RUN");
		atomic_fetch_add(&asker->n_runs, 1);
	}
	return NULL;
}

static void asker_start(struct asker *asker, const char *address)
{
	struct baleen_dev_target target = target_of(name);
	struct bpf_program *program;

	asker->skeleton = calls_bpf__open();
	if (!asker->skeleton)
		err(2, "calls.bpf.c");
	bpf_object__for_each_program(program, asker->skeleton->obj)
		bpf_program__set_autoload(program, program == asker->skeleton->progs.ok_count);
	if (calls_bpf__load(asker->skeleton))
		errx(2, "ok_count does not load");
	memcpy(asker->skeleton->bss->call.name, target.name, sizeof(target.name));
	if (!key_of(address, &asker->skeleton->bss->call.key))
		errx(2, "'%s': no address", address);
	if (pthread_create(&asker->thread, NULL, ask_on, asker))
		errx(2, "no thread");
}

static void asker_end(struct asker *asker)
{
	atomic_store(&asker->stop, true);
	pthread_join(asker->thread, NULL);
}

/* Until both have asked with the filter as it is now. */
static void both_run(struct asker *askers)
{
	for (int i = 0; i < 2; i++) {
		unsigned long until = atomic_load(&askers[i].n_runs) + 2;

		while (atomic_load(&askers[i].n_runs) < until)
			sched_yield();
	}
}

static void swap_often(int fd, struct file a, struct file b)
{
	for (int i = 0; i < N_CHANGES; i++) {
		if (image_give(fd, BALEEN_DEV_SWAP, name, i & 1 ? a : b))
			err(2, "swap %d", i);
	}
}

static void destroy_often(int fd, struct file a)
{
	struct baleen_dev_target target = target_of(name);

	for (int i = 0; i < N_CHANGES; i++) {
		if (ioctl(fd, BALEEN_DEV_DESTROY, &target))
			err(2, "destroy %d", i);
		if (image_give(fd, BALEEN_DEV_CREATE, name, a))
			err(2, "create %d", i);
	}
}

int main(int argc, char **argv)
{
	struct asker askers[2] = { { .skeleton = NULL } };
	struct baleen_dev_target target = target_of(name);
	struct file a, b;
	struct call *both, *neither;
	__u64 n_errors;
	int fd;

	if (argc != 5)
		errx(2, "usage: changes A B BOTH NEITHER");
	a = file_read(argv[1]);
	b = file_read(argv[2]);
	fd = device_open();
	if (image_give(fd, BALEEN_DEV_CREATE, name, a))
		err(2, "create");
	asker_start(&askers[0], argv[3]);
	asker_start(&askers[1], argv[4]);
	both = (struct call *)&askers[0].skeleton->bss->call;
	neither = (struct call *)&askers[1].skeleton->bss->call;

	both_run(askers);
	swap_often(fd, a, b);
	both_run(askers);
	check(both->n_yes && !both->n_no, "swaps: what is in both images is always there");
	check(neither->n_no && !neither->n_yes, "swaps: what is in none never is");
	check(!both->n_error && !neither->n_error, "swaps: there is always a filter");

	destroy_often(fd, a);
	both_run(askers);
	check(!both->n_no && !neither->n_yes, "destroyed and created again: no wrong answer");
	if (ioctl(fd, BALEEN_DEV_DESTROY, &target))
		err(2, "destroy");
	n_errors = both->n_error;
	both_run(askers);
	check(both->n_error > n_errors, "destroyed: the program is told");
	asker_end(&askers[0]);
	asker_end(&askers[1]);
	calls_bpf__destroy(askers[0].skeleton);
	calls_bpf__destroy(askers[1].skeleton);
	return results_end();
}
