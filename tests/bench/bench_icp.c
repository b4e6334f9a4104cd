// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asks a cache by ICP, and says how fast the answers were:
 *
 *      bench_icp [--window N | --rate N] [--seconds S] [--hits PERCENT] ADDRESS PORT PREFIX MEMBERS
 *
 * URLs are PREFIX and a number: 1 to MEMBERS are in the cache, others are not; each
 * query has another one, at random from a fixed seed. With a window so many queries are
 * on their way all the time and the sender spins; with a rate it sends what is due each
 * millisecond and sleeps. What has no answer after 200 ms is lost.
 *
 * Prints a line of names and numbers: sent, answers, lost, hits, wrong (a hit for an
 * absent URL or a miss for a member), per second, p50 and p99 in microseconds, and the
 * share of a processor that the sender itself took.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <baleen/icp.h>

#include "util/clock.h"

#define MAX_WINDOW 4096
#define LOST_NS 200000000ull
#define MAX_SAMPLES (1u << 22)
/* Numbers of URLs that are not in the cache start here. */
#define FIRST_ABSENT 1000000000u

/**
 * struct query - one that is on its way
 * @sent_ns: when it was sent; 0: nothing is on its way
 * @number: of the request
 * @is_member: its URL is in the cache
 */
struct query {
	u64 sent_ns;
	u32 number;
	bool is_member;
};

struct run {
	int fd;
	const char *prefix;
	u32 n_members, window, rate, percent_hits;
	u64 seconds;
	u64 random;
	u64 n_sent, n_answers, n_lost, n_hits, n_wrong;
	struct query query[MAX_WINDOW];
	u32 *sample_ns;
	u32 n_samples;
};

static u64 next_random(struct run *run)
{
	run->random += 0x9e3779b97f4a7c15ull;
	return baleen_mix64(run->random);
}

/* A slot is taken again when its answer came, or never will. */
static void send_query(struct run *run, u32 slot)
{
	struct query *query = &run->query[slot];
	u8 message[512] = { BALEEN_ICP_QUERY, BALEEN_ICP_VERSION };
	bool is_member = next_random(run) % 100 < run->percent_hits;
	u32 url = is_member ? 1 + next_random(run) % run->n_members :
			      FIRST_ABSENT + next_random(run) % FIRST_ABSENT;
	int n = snprintf((char *)message + BALEEN_ICP_QUERY_BYTES,
			 sizeof(message) - BALEEN_ICP_QUERY_BYTES, "%s%u", run->prefix, url);
	u32 n_bytes = BALEEN_ICP_QUERY_BYTES + n + 1, number = query->number + MAX_WINDOW;
	u16 length_be = htons(n_bytes);
	u32 number_be = htonl(number);

	if (n_bytes > sizeof(message))
		errx(2, "the prefix is too long");
	memcpy(message + 2, &length_be, sizeof(length_be));
	memcpy(message + 4, &number_be, sizeof(number_be));
	*query = (struct query){ .sent_ns = baleen_clock_ns(CLOCK_MONOTONIC),
				 .number = number,
				 .is_member = is_member };
	if (send(run->fd, message, n_bytes, 0) != n_bytes && errno != ECONNREFUSED &&
	    errno != ENOBUFS)
		err(1, "send");
	run->n_sent++;
}

static void take_answer(struct run *run, const u8 *message, size_t n_bytes, u64 now)
{
	u32 number = n_bytes >= BALEEN_ICP_HEADER_BYTES ? baleen_load_be32(message + 4) : 0;
	struct query *query = &run->query[number % MAX_WINDOW];
	bool is_hit = message[0] == BALEEN_ICP_HIT;

	if (n_bytes < BALEEN_ICP_HEADER_BYTES || !query->sent_ns || query->number != number)
		return;
	run->n_answers++;
	run->n_hits += is_hit;
	run->n_wrong += is_hit != query->is_member;
	if (run->n_samples < MAX_SAMPLES)
		run->sample_ns[run->n_samples++] = now - query->sent_ns;
	query->sent_ns = 0;
}

static void take_answers(struct run *run)
{
	u8 message[2048];
	ssize_t n;

	while ((n = recv(run->fd, message, sizeof(message), MSG_DONTWAIT)) > 0)
		take_answer(run, message, n, baleen_clock_ns(CLOCK_MONOTONIC));
}

/* Frees the slot of a query that has waited for too long. */
static bool is_free(struct run *run, u32 slot, u64 now)
{
	struct query *query = &run->query[slot];

	if (query->sent_ns && now - query->sent_ns < LOST_NS)
		return false;
	run->n_lost += !!query->sent_ns;
	query->sent_ns = 0;
	return true;
}

static void run_window(struct run *run, u64 end)
{
	u64 now;

	while ((now = baleen_clock_ns(CLOCK_MONOTONIC)) < end) {
		for (u32 slot = 0; slot < run->window; slot++)
			if (is_free(run, slot, now))
				send_query(run, slot);
		take_answers(run);
	}
}

static void run_rate(struct run *run, u64 begin, u64 end)
{
	struct timespec tick = { .tv_nsec = 1000000 };
	struct pollfd poll = { .fd = run->fd, .events = POLLIN };
	u64 now, n_due;
	u32 slot = 0;

	while ((now = baleen_clock_ns(CLOCK_MONOTONIC)) < end) {
		n_due = (now - begin) * run->rate / 1000000000ull;
		/* Who was held up makes up for it by so many at a time. */
		if (n_due > run->n_sent + MAX_WINDOW)
			n_due = run->n_sent + MAX_WINDOW;
		while (run->n_sent < n_due) {
			slot = (slot + 1) % MAX_WINDOW;
			is_free(run, slot, now + LOST_NS);
			send_query(run, slot);
		}
		take_answers(run);
		ppoll(&poll, 0, &tick, NULL);
	}
}

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

static double percentile_us(const struct run *run, double share)
{
	return run->n_samples ? run->sample_ns[(u32)(share * (run->n_samples - 1))] / 1e3 : 0;
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int connected(const char *address, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST }, *to;
	int fd, size = 4 << 20;

	if (getaddrinfo(address, port, &hints, &to))
		errx(2, "'%s' port '%s' is no address", address, port);
	fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen))
		err(1, "%s", address);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	freeaddrinfo(to);
	return fd;
}

static void parse(struct run *run, int argc, char **argv)
{
	static const struct option options[] = {
		{ "window", required_argument, NULL, 'w' },
		{ "rate", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 's' },
		{ "hits", required_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'w': run->window = atoi(optarg); break;
		case 'r': run->rate = atoi(optarg); break;
		case 's': run->seconds = atoi(optarg); break;
		case 'h': run->percent_hits = atoi(optarg); break;
		default: exit(2);
		}
	}
	if (argc - optind != 4 || !run->window || run->window > MAX_WINDOW)
		errx(2, "usage: bench_icp [--window N | --rate N] [--seconds S] "
			"[--hits PERCENT] ADDRESS PORT PREFIX MEMBERS");
	run->fd = connected(argv[optind], argv[optind + 1]);
	run->prefix = argv[optind + 2];
	run->n_members = atoi(argv[optind + 3]);
	if (!run->n_members)
		errx(2, "no members");
}

int main(int argc, char **argv)
{
	static struct run run = { .window = 16, .seconds = 3, .percent_hits = 50, .random = 7 };
	u64 begin, end;
	double seconds;

	parse(&run, argc, argv);
	run.sample_ns = calloc(MAX_SAMPLES, sizeof(*run.sample_ns));
	if (!run.sample_ns)
		err(1, "no memory");
	for (u32 slot = 0; slot < MAX_WINDOW; slot++)
		run.query[slot].number = slot;
	begin = baleen_clock_ns(CLOCK_MONOTONIC);
	end = begin + run.seconds * 1000000000ull;
	if (run.rate)
		run_rate(&run, begin, end);
	else
		run_window(&run, end);
	seconds = (baleen_clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
	qsort(run.sample_ns, run.n_samples, sizeof(*run.sample_ns), compare);
	printf("sent %llu answers %llu lost %llu hits %llu wrong %llu per_second %.0f "
	       "p50_us %.1f p99_us %.1f sender_cpu %.2f\n",
	       (unsigned long long)run.n_sent, (unsigned long long)run.n_answers,
	       (unsigned long long)run.n_lost, (unsigned long long)run.n_hits,
	       (unsigned long long)run.n_wrong, run.n_answers / seconds, percentile_us(&run, 0.5),
	       percentile_us(&run, 0.99), cpu_seconds() / seconds);
	return 0;
}
