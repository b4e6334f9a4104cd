// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Gives the XDP program on a device the same frame again and again, on all CPUs
 * at once, by BPF_PROG_TEST_RUN: flood DEVICE ADDRESS SECONDS|xTIMES [BYTES]
 *
 * ADDRESS is the IPv4 source; the frame has 60 bytes, or BYTES. xTIMES is how
 * often in all instead of how long. Prints what was done, as
 * `{"runs":N,"dropped":N,"ns":N,"run_ns":N}`: ns is how long that took, run_ns
 * what one run took in the fastest round of 10,000. A round counts as dropped by
 * the verdict of its last run; the counters of the device tell the rest. Exit: 0
 * done, 2 bad usage, 3 failed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/bpf.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define ROUND 10000
#define MAX_CPUS 64
#define MAX_BYTES 1500

typedef unsigned long long count_t;

static struct {
	unsigned char bytes[MAX_BYTES];
	unsigned int n_bytes;
} frame = { .n_bytes = 60 };

struct worker {
	pthread_t thread;
	int cpu;
	int program_fd;
	count_t end_ns;
	count_t max_runs;
	count_t n_runs;
	count_t n_dropped;
	count_t run_ns;
};

static count_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void frame_make(const char *source)
{
	struct iphdr *ip = (struct iphdr *)(frame.bytes + ETH_HLEN);

	frame.bytes[12] = ETHERTYPE_IP >> 8;
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	if (inet_pton(AF_INET, source, &ip->saddr) != 1)
		errx(2, "'%s': no IPv4 address", source);
}

static void round_run(struct worker *worker)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.bytes,
		    .data_size_in = frame.n_bytes, .repeat = ROUND);

	if (bpf_prog_test_run_opts(worker->program_fd, &options))
		err(3, "BPF_PROG_TEST_RUN");
	worker->n_runs += ROUND;
	if (options.duration < worker->run_ns)
		worker->run_ns = options.duration;
	if (options.retval == XDP_DROP)
		worker->n_dropped += ROUND;
}

static void *work(void *data)
{
	struct worker *worker = data;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(worker->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(3, "CPU %d", worker->cpu);
	while (worker->n_runs < worker->max_runs && now_ns() < worker->end_ns)
		round_run(worker);
	return NULL;
}

static int program_open(const char *device)
{
	unsigned int ifindex = if_nametoindex(device);
	__u32 id;
	int fd;

	if (!ifindex || bpf_xdp_query_id(ifindex, 0, &id))
		err(3, "%s", device);
	fd = id ? bpf_prog_get_fd_by_id(id) : -1;
	if (fd < 0)
		errx(3, "%s has no program", device);
	return fd;
}

int main(int argc, char **argv)
{
	struct worker worker[MAX_CPUS] = { 0 }, sum = { .run_ns = ~0ull };
	count_t start_ns = now_ns(), end_ns = ~0ull, max_runs = ~0ull;
	int n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int program_fd;

	if (argc < 4 || argc > 5)
		errx(2, "usage: flood DEVICE ADDRESS SECONDS|xTIMES [BYTES]");
	if (n_cpus > MAX_CPUS)
		n_cpus = MAX_CPUS;
	program_fd = program_open(argv[1]);
	frame_make(argv[2]);
	if (argc > 4)
		frame.n_bytes = atoi(argv[4]);
	if (frame.n_bytes < ETH_HLEN + sizeof(struct iphdr) || frame.n_bytes > MAX_BYTES)
		errx(2, "'%s': no length", argv[4]);
	if (*argv[3] == 'x')
		max_runs = strtoull(argv[3] + 1, NULL, 10) / n_cpus;
	else
		end_ns = start_ns + strtoull(argv[3], NULL, 10) * 1000000000ull;
	for (int i = 0; i < n_cpus; i++) {
		worker[i] = (struct worker){ .cpu = i,
					     .program_fd = program_fd,
					     .end_ns = end_ns,
					     .max_runs = max_runs,
					     .run_ns = ~0ull };
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]))
			err(3, "thread");
	}
	for (int i = 0; i < n_cpus; i++) {
		pthread_join(worker[i].thread, NULL);
		sum.n_runs += worker[i].n_runs;
		sum.n_dropped += worker[i].n_dropped;
		if (worker[i].run_ns < sum.run_ns)
			sum.run_ns = worker[i].run_ns;
	}
	printf("{\"runs\":%llu,\"dropped\":%llu,\"ns\":%llu,\"run_ns\":%llu}\n", sum.n_runs,
	       sum.n_dropped, now_ns() - start_ns, sum.run_ns);
	return fflush(stdout) ? 3 : 0;
}
