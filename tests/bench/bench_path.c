// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Packets per second on one core, from a veth pair through a filter to a
 * socket.
 *
 *   namespace of the sender                  a namespace of each filter
 *   BPF_PROG_TEST_RUN, live frames           veth-b: NAPI -> XDP -> skb -> ingress
 *     -> path.bpf.c: a fresh source            -> raw PREROUTING -> IP -> UDP
 *     -> XDP_REDIRECT -> veth ------------>    -> one socket for listed sources,
 *                                                 one for the others
 *
 * Live frames are to veth-b what a driver's are: pages out of a pool, made
 * into an skb by its NAPI poll, and only when they pass. That poll runs where
 * the frames were sent, at the end of each batch: sender and receiver take
 * turns on one core, and no frame is lost. (With the poll in a thread on
 * another core the figures are the same, but the ring overflows before the
 * stack and runs dry before XDP_DROP.) What the sender takes alone is measured
 * in the same round and taken off. CPU time, not wall time: neighbours
 * disturb only the caches. The frame is in the cache, where a card would have
 * put it into memory; that would add the same to every row.
 *
 * Both sockets refuse every datagram and count it. A filter is shown only if
 * in all rounds no listed source came to its socket and each of the others did.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <sys/socket.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "path.h"
#include "path.skel.h"
#include "report.h"
#include "util/clock.h"

#define MAX_ROUNDS 101
#define MAX_SUBJECTS 32
#define WARM_PACKETS 20000
#define SHARE_ONE (1ull << 32)
#define FRAME_BYTES 60
/* What a poll takes at most, and a quarter of veth's ring. */
#define BATCH 64

enum fate {
	FATE_SENDER, /* goes nowhere */
	FATE_PASS,
	FATE_DROP,
	FATE_FILTER,
};

static const char *const fate_name[] = {
	[FATE_PASS] = "pass",
	[FATE_DROP] = "drop",
	[FATE_FILTER] = "filter",
};

enum { UNLISTED, LISTED, N_GROUPS };

static const u64 shares[] = { 0, SHARE_ONE / 2, SHARE_ONE };

#define N_SHARES (sizeof(shares) / sizeof(*shares))

/**
 * struct subject - a filter under test
 * @name: what is printed
 * @n_listed: entries of its list
 * @fate: what it has to do with packets
 * @ifindex: the sender's end of its veth pair
 * @socket: where its packets end
 * @n_wrong: packets that came through and must not, or the other way round
 * @ns: CPU time per packet of each round, the sender's included
 */
struct subject {
	const char *name;
	u32 n_listed;
	enum fate fate;
	u32 ifindex;
	int socket[N_GROUPS];
	u64 n_wrong[N_GROUPS];
	double ns[N_SHARES][MAX_ROUNDS];
};

/* The first is the sender alone. */
struct bench {
	struct path_bpf *skel;
	u8 frame[FRAME_BYTES];
	char ksoftirqd[64];
	u32 rounds;
	u32 packets;
	u32 n_subjects;
	struct subject subject[MAX_SUBJECTS + 1];
};

/* --- setting up ---------------------------------------------------------- */

/* Refuses what it counts: a reader would be part of the figure. */
static int open_socket(u16 port)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog filter = { .len = 1, .filter = &nothing };
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "UDP port %u", port);
	return fd;
}

static void enter_netns(int fd)
{
	if (setns(fd, CLONE_NEWNET))
		err(1, "entering a network namespace");
}

static int open_netns(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void open_sockets(struct subject *subject, const char *netns)
{
	int own = open_netns("/proc/self/ns/net"), other = open_netns(netns);

	enter_netns(other);
	for (int group = 0; group < N_GROUPS; group++)
		subject->socket[group] = open_socket(PATH_PORT + group);
	enter_netns(own);
	close(own);
	close(other);
}

static enum fate parse_fate(const char *text)
{
	for (int fate = FATE_PASS; fate <= FATE_FILTER; fate++)
		if (!strcmp(text, fate_name[fate]))
			return fate;
	errx(2, "'%s': not pass, drop or filter", text);
}

/* FATE,ENTRIES,DEVICE,NETNS,NAME */
static void add_subject(struct bench *bench, char *text)
{
	struct subject *subject = &bench->subject[bench->n_subjects];
	char *field[4];

	if (bench->n_subjects > MAX_SUBJECTS)
		errx(2, "more than %u filters", MAX_SUBJECTS);
	for (int i = 0; i < 4; i++) {
		field[i] = strsep(&text, ",");
		if (!text)
			errx(2, "'%s': a filter has five fields", field[0]);
	}
	subject->fate = parse_fate(field[0]);
	subject->n_listed = strtoul(field[1], NULL, 10);
	subject->ifindex = if_nametoindex(field[2]);
	subject->name = text;
	if (!subject->n_listed || !subject->ifindex)
		errx(2, "'%s': no entries or no device", subject->name);
	open_sockets(subject, field[3]);
	bench->n_subjects++;
}

static u32 sum_words(const u8 *words, u32 n_bytes)
{
	u32 sum = 0;

	for (u32 i = 0; i < n_bytes; i += 2)
		sum += words[i] | words[i + 1] << 8;
	return sum;
}

/* To the addresses that bench-path gives every veth-b; UDP with 18 bytes. */
static void load_sender(struct bench *bench)
{
	static const u8 headers[] = {
		2, 0,  0,  0, 0, 2, 2, 0, 0, 0,	 0,  1, 0x08, 0x00, 0x45, 0, 0, 46, 0,	0, 0,
		0, 64, 17, 0, 0, 0, 0, 0, 0, 10, 66, 0, 2,    0x23, 0x28, 0, 0, 0,  26, 0, 0,
	};

	memcpy(bench->frame, headers, sizeof(headers));
	bench->skel = path_bpf__open_and_load();
	if (!bench->skel)
		err(1, "loading path.bpf.o");
	bench->skel->bss->header_sum = sum_words(bench->frame + 14, 20);
}

/* The thread that takes over when a CPU has too much to receive. */
static void find_ksoftirqd(struct bench *bench, int cpu)
{
	char name[32], path[64], comm[64];
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	snprintf(name, sizeof(name), "ksoftirqd/%d", cpu);
	while (proc && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
		read_line(path, "", comm, sizeof(comm));
		if (!strcmp(comm, name))
			snprintf(bench->ksoftirqd, sizeof(bench->ksoftirqd),
				 "/proc/%.20s/schedstat", entry->d_name);
	}
	if (!bench->ksoftirqd[0])
		errx(1, "no %s", name);
	closedir(proc);
}

/* --- measuring ----------------------------------------------------------- */

static u64 cpu_ns(const struct bench *bench)
{
	char softirq[64];
	u64 now = baleen_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	read_line(bench->ksoftirqd, "", softirq, sizeof(softirq));
	return now + strtoull(softirq, NULL, 10);
}

static void send_frames(const struct bench *bench, u32 packets)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = bench->frame, .data_size_in = FRAME_BYTES,
		    .repeat = packets, .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH);

	if (bpf_prog_test_run_opts(bpf_program__fd(bench->skel->progs.path_send), &opts))
		err(1, "BPF_PROG_TEST_RUN with live frames");
}

/* A 32-bit counter that wraps. */
static u32 n_arrived(const struct subject *subject, int group)
{
	u32 info[SK_MEMINFO_VARS];
	socklen_t bytes = sizeof(info);

	if (getsockopt(subject->socket[group], SOL_SOCKET, SO_MEMINFO, info, &bytes))
		err(1, "SO_MEMINFO");
	return info[SK_MEMINFO_DROPS];
}

/* Each sent packet of the group either has to be at its socket or must not. */
static void check(struct subject *subject, int group, u32 before, u64 sent)
{
	bool is_dropped =
		subject->fate == FATE_DROP || (subject->fate == FATE_FILTER && group == LISTED);
	long long arrived = (u32)(n_arrived(subject, group) - before);

	subject->n_wrong[group] += llabs(arrived - (long long)(is_dropped ? 0 : sent));
}

static double measure(const struct bench *bench, struct subject *subject, u64 share, u32 round)
{
	struct path_bpf__bss *sender = bench->skel->bss;
	u32 before[N_GROUPS] = {};
	u64 began, ended;

	for (int group = 0; subject->ifindex && group < N_GROUPS; group++)
		before[group] = n_arrived(subject, group);
	sender->out_ifindex = subject->ifindex;
	sender->random_state = (round + 1) * 0x9e3779b97f4a7c15ull;
	sender->listed_share = share;
	sender->n_listed = subject->n_listed;
	sender->sent = sender->sent_listed = 0;
	send_frames(bench, WARM_PACKETS);
	began = cpu_ns(bench);
	send_frames(bench, bench->packets);
	ended = cpu_ns(bench);
	if (subject->ifindex) {
		check(subject, LISTED, before[LISTED], sender->sent_listed);
		check(subject, UNLISTED, before[UNLISTED], sender->sent - sender->sent_listed);
	}
	return (double)(ended - began) / bench->packets;
}

/* All but the sender's own time are kept without it. */
static void run_rounds(struct bench *bench)
{
	for (u32 round = 0; round < bench->rounds; round++) {
		for (u32 share = 0; share < N_SHARES; share++) {
			for (u32 i = 0; i < bench->n_subjects; i++) {
				struct subject *subject = &bench->subject[i];

				subject->ns[share][round] =
					measure(bench, subject, shares[share], round);
				if (i)
					subject->ns[share][round] -=
						bench->subject[0].ns[share][round];
			}
		}
	}
}

/* --- printing ------------------------------------------------------------ */

static void print_cell(struct spread ns, bool as_rate)
{
	char text[64];

	if (as_rate)
		snprintf(text, sizeof(text), "%.2f (%.2f-%.2f)", 1e3 / ns.median, 1e3 / ns.high,
			 1e3 / ns.low);
	else
		snprintf(text, sizeof(text), "%.0f (%.0f-%.0f)", ns.median, ns.low, ns.high);
	printf("%22s", text);
}

static bool is_wrong(const struct subject *subject)
{
	return subject->n_wrong[LISTED] || subject->n_wrong[UNLISTED];
}

static void print_row(struct bench *bench, struct subject *subject, bool as_rate)
{
	printf("%-34s", subject->name);
	if (is_wrong(subject))
		printf("  not shown: judged %llu listed and %llu other packets wrongly",
		       subject->n_wrong[LISTED], subject->n_wrong[UNLISTED]);
	for (u32 share = 0; !is_wrong(subject) && share < N_SHARES; share++)
		print_cell(quartiles(subject->ns[share], bench->rounds), as_rate);
	printf("\n");
}

static void print_rows(struct bench *bench, u32 n_listed, bool as_rate)
{
	char title[64];

	snprintf(title, sizeof(title), "%s, %u listed", as_rate ? "Mpps" : "ns per packet",
		 n_listed);
	printf("\n%-34s%22s%22s%22s\n", title, "no packet listed", "half of them", "all of them");
	for (u32 i = as_rate ? 1 : 0; i < bench->n_subjects; i++)
		if (!i || bench->subject[i].n_listed == n_listed)
			print_row(bench, &bench->subject[i], as_rate);
}

/* A table for each list; the subjects come in their order. */
static void print_tables(struct bench *bench)
{
	u32 last = 0;

	for (u32 i = 1; i < bench->n_subjects; i++) {
		u32 n_listed = bench->subject[i].n_listed;

		if (n_listed == last)
			continue;
		print_rows(bench, n_listed, true);
		print_rows(bench, n_listed, false);
		last = n_listed;
	}
}

static int n_refused(const struct bench *bench)
{
	int refused = 0;

	for (u32 i = 0; i < bench->n_subjects; i++)
		refused += is_wrong(&bench->subject[i]);
	return refused;
}

static void print_head(const struct bench *bench, int cpu)
{
	printf("million packets per second (Mpps) on one core, through veth to a UDP socket;\n");
	printf("live frames of %u bytes, a new random source in each\n", FRAME_BYTES);
	print_machine(cpu);
	printf("median (quartiles) of %u interleaved rounds of %u packets, without the sender\n",
	       bench->rounds, bench->packets);
	fflush(stdout);
}

/* --- the whole ----------------------------------------------------------- */

static void print_list(u32 n)
{
	for (u32 i = 0; i < n; i++) {
		struct in_addr addr = { htonl(path_source(i)) };

		puts(inet_ntoa(addr));
	}
}

static void usage(void)
{
	fprintf(stderr, "usage: bench_path --list N\n"
			"       bench_path [--rounds N] [--packets N] FILTER...\n"
			"a FILTER is pass|drop|filter,ENTRIES,DEVICE,NETNS,NAME\n");
	exit(2);
}

static void parse_options(int argc, char **argv, struct bench *bench)
{
	static const struct option longs[] = {
		{ "list", required_argument, NULL, 'l' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "packets", required_argument, NULL, 'p' },
		{},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'l': print_list(strtoul(optarg, NULL, 10)); exit(0);
		case 'r': bench->rounds = strtoul(optarg, NULL, 10); break;
		case 'p': bench->packets = strtoul(optarg, NULL, 10); break;
		default: usage();
		}
	}
	if (optind == argc || !bench->rounds || bench->rounds > MAX_ROUNDS || !bench->packets)
		usage();
}

int main(int argc, char **argv)
{
	static struct bench bench = {
		.rounds = 11,
		.packets = 100000,
		.n_subjects = 1,
		.subject = { { .name = "the sender alone (taken off below)", .n_listed = 1 } },
	};
	int cpu;

	parse_options(argc, argv, &bench);
	for (int i = optind; i < argc; i++)
		add_subject(&bench, argv[i]);
	cpu = pin_to_cpu();
	find_ksoftirqd(&bench, cpu);
	load_sender(&bench);
	print_head(&bench, cpu);
	run_rounds(&bench);
	print_tables(&bench);
	return n_refused(&bench) ? 1 : 0;
}
