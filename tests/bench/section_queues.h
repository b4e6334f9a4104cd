/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two queues: packets per second of one program on two CPUs at once, beside one CPU.
 *
 * Each CPU has a driver of its own, with its own random numbers, as each queue of a card has
 * its own frames; the program and its maps are the same. The threads are of the class
 * SCHED_FIFO, so that nothing else runs on either CPU meanwhile: the one that has nothing to
 * do spins. How much of the time on the wall they ran stands beside it.
 */
#ifndef BENCH_SECTION_QUEUES_H
#define BENCH_SECTION_QUEUES_H

#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <pthread.h>
#include <sys/ioctl.h>

#include "table.h"

#define N_QUEUES 2
#define QUEUES_HOSTS 1000000
#define QUEUES_RULES 16
#define QUEUES_MS 100

/**
 * struct queue - one CPU and what it does
 * @bench: its driver
 * @subject: the program
 * @stream: its packets
 * @packets: how many; 0: none, until the others are through
 * @cpu: the CPU
 * @start: all begin together
 * @n_busy: how many have packets
 * @rate: million packets per second; filled in
 * @share: of the time on the wall that the thread ran; filled in
 */
struct queue {
	struct bench bench;
	const struct subject *subject;
	struct stream stream;
	u32 packets;
	u32 cpu;
	pthread_barrier_t *start;
	u32 *n_busy;
	double rate;
	double share;
};

/* BPF_PROG_TEST_RUN waits for all programs that run, before and after, unless the program is on
 * a device: one CPU would wait for the other. So each driver gets a device of its own.
 * Return: what holds the device.
 */
static int put_on_device(int prog_fd)
{
	struct ifreq name = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, TUNSETIFF, &name))
		err(1, "/dev/net/tun");
	if (bpf_xdp_attach(if_nametoindex(name.ifr_name), prog_fd, XDP_FLAGS_DRV_MODE, NULL))
		err(1, "%s", name.ifr_name);
	return fd;
}

/* The only thread of its CPU. */
static void rule_cpu(u32 cpu)
{
	const struct sched_param first = { .sched_priority = 1 };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus) ||
	    pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		errx(1, "CPU %u", cpu);
}

static void *run_queue(void *argument)
{
	struct queue *queue = argument;
	u64 began, wall_began, took;

	rule_cpu(queue->cpu);
	aim(&queue->bench, queue->subject, &queue->stream);
	if (queue->packets)
		drive(&queue->bench, queue->subject, &queue->stream, WARM_PACKETS);
	pthread_barrier_wait(queue->start);
	if (queue->packets) {
		began = baleen_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		wall_began = baleen_clock_ns(CLOCK_MONOTONIC);
		drive(&queue->bench, queue->subject, &queue->stream, queue->packets);
		took = baleen_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
		queue->rate = queue->packets * 1e3 / took;
		queue->share = (double)took / (baleen_clock_ns(CLOCK_MONOTONIC) - wall_began);
		__atomic_fetch_sub(queue->n_busy, 1, __ATOMIC_RELAXED);
	}
	while (__atomic_load_n(queue->n_busy, __ATOMIC_RELAXED))
		;
	return NULL;
}

/* Those of all queues that have packets, together. */
static double run_queues(struct queue *queues)
{
	pthread_t thread[N_QUEUES];
	pthread_barrier_t start;
	u32 n_busy = 0;
	double rate = 0;

	pthread_barrier_init(&start, NULL, N_QUEUES);
	for (u32 i = 0; i < N_QUEUES; i++)
		n_busy += queues[i].packets != 0;
	for (u32 i = 0; i < N_QUEUES; i++) {
		queues[i].start = &start;
		queues[i].n_busy = &n_busy;
		if (pthread_create(&thread[i], NULL, run_queue, &queues[i]))
			errx(1, "a thread");
	}
	for (u32 i = 0; i < N_QUEUES; i++) {
		pthread_join(thread[i], NULL);
		if (queues[i].packets)
			rate += queues[i].rate;
	}
	pthread_barrier_destroy(&start);
	return rate;
}

static void load_queues(struct bench *bench)
{
	struct baleen_filter filter[QUEUES_RULES], whole;
	struct bench_rule rule[QUEUES_RULES];
	struct peers none = {};

	bench->n_listed = QUEUES_HOSTS;
	filter_of_hosts(false, 0, QUEUES_HOSTS, BALEEN_KIND_CUCKOO, &whole);
	bench_add_drop(bench, "Baleen, a million hosts", &whole);
	baleen_filter_free(&whole);
	for (u32 i = 0; i < QUEUES_RULES; i++) {
		filter_of_hosts(false, i * (QUEUES_HOSTS / QUEUES_RULES),
				QUEUES_HOSTS / QUEUES_RULES, BALEEN_KIND_CUCKOO, &filter[i]);
		rule[i] = (struct bench_rule){ BALEEN_ACTION_DROP, NULL, &filter[i] };
	}
	bench_add_rules(bench, "Baleen, the same in 16 rules", NULL, rule, QUEUES_RULES);
	for (u32 i = 0; i < QUEUES_RULES; i++)
		baleen_filter_free(&filter[i]);
	peers_add(bench, &none);
	set_peer(bench, bench_add(bench, "the same, and one counter of all CPUs", JUDGE_BLIND),
		 bench->peers->progs.peer_shared, NULL);
}

/* Of each round. */
struct queue_figures {
	double one[MAX_ROUNDS];
	double two[MAX_ROUNDS];
	double ratio[MAX_ROUNDS];
	double share[MAX_ROUNDS];
};

static double run_some(struct queue *queues, u32 packets_0, u32 packets_1)
{
	queues[0].packets = packets_0;
	queues[1].packets = packets_1;
	return run_queues(queues);
}

static void run_round(const struct subject *subject, struct queue *queues, u32 packets, u32 round,
		      struct queue_figures *figures)
{
	for (u32 q = 0; q < N_QUEUES; q++) {
		queues[q].subject = subject;
		queues[q].stream.state = baleen_mix64(2 * round + q + 1);
	}
	figures->one[round] =
		(run_some(queues, packets, 0) + run_some(queues, 0, packets)) / N_QUEUES;
	figures->two[round] = run_some(queues, packets, packets);
	figures->ratio[round] = figures->two[round] / figures->one[round];
	figures->share[round] =
		queues[0].share < queues[1].share ? queues[0].share : queues[1].share;
}

static void print_queues(const char *name, struct queue_figures *figures, u32 n)
{
	struct spread spread = quartiles(figures->ratio, n);

	printf("%-*s %8.1f %8.1f %9.2f (%.2f-%.2f) %7.0f %%\n", NAME_WIDTH, name,
	       quartiles(figures->one, n).median, quartiles(figures->two, n).median, spread.median,
	       spread.low, spread.high, 100 * quartiles(figures->share, n).median);
}

static void measure_queues(const struct effort *effort, struct bench *bench, struct queue *queues)
{
	static struct queue_figures figures[MAX_SUBJECTS];
	u32 packets[MAX_SUBJECTS];

	for (u32 i = 0; i < bench->n; i++) {
		queues[0].subject = queues[1].subject = &bench->subject[i];
		packets[i] = QUEUES_MS * 1000 * run_some(queues, WARM_PACKETS, 0);
	}
	for (u32 round = 0; round < effort->rounds; round++)
		for (u32 i = 0; i < bench->n; i++)
			run_round(&bench->subject[i], queues, packets[i], round, &figures[i]);
	for (u32 i = 0; i < bench->n; i++)
		print_queues(bench->subject[i].name, &figures[i], effort->rounds);
}

/* Half of the packets are listed, so that both counters of a rule and of what passes count. */
static void run_two_queues(const struct effort *effort)
{
	static struct bench bench;
	static struct queue queues[N_QUEUES];
	int device[N_QUEUES];

	if (sysconf(_SC_NPROCESSORS_ONLN) < N_QUEUES) {
		printf("\ntwo queues: this machine has one CPU\n");
		return;
	}
	bench_open(&bench, false);
	load_queues(&bench);
	for (u32 q = 0; q < N_QUEUES; q++) {
		queues[q] = (struct queue){
			.bench = { .n_listed = bench.n_listed },
			.stream = { .by_index = true, .share = SHARE_ONE / 2 },
			.cpu = q,
		};
		queues[q].bench.drive = q ? drive_bpf__open_and_load() : bench.drive;
		if (!queues[q].bench.drive)
			err(1, "loading drive.bpf.o");
		device[q] = put_on_device(
			bpf_program__fd(queues[q].bench.drive->progs.drive_index_ip4));
	}
	printf("\n%-*s %8s %8s %9s %21s\n", NAME_WIDTH, "two queues, million packets per second",
	       "one CPU", "two CPUs", "times", "ran");
	measure_queues(effort, &bench, queues);
	for (u32 q = 0; q < N_QUEUES; q++)
		close(device[q]);
	for (u32 q = 1; q < N_QUEUES; q++)
		drive_bpf__destroy(queues[q].bench.drive);
	bench_close(&bench);
}

#endif /* BENCH_SECTION_QUEUES_H */
