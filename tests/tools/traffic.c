// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sends real frames from given source addresses and proves which arrived.
 *
 *      namespace of --from                       namespace of --to
 *      +-----------------------+      veth       +------------------------+
 *      | AF_PACKET, sends -----|-----------------|-> XDP -> AF_PACKET     |
 *      +-----------------------+    one queue    +------------------------+
 *
 * Both ends are in this one process, which works in batches: up to 250
 * frames, one per source, then a marker that no address filter drops (it is
 * not IP). One queue keeps the order, so when the marker is there, a frame
 * that is not there will not come: it was dropped. No sleeps, no resending.
 * A batch with its marker fits into the 256 slots of a veth ring.
 *
 * Exit: 0 the measurement is sound, 1 it is but not as --expect wants it,
 * 2 bad usage, 3 not sound (marker lost, frame doubled or altered, socket
 * overrun).
 */
#include <fcntl.h>
#include <getopt.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "frames.h"

#define MAX_BATCH 250
#define MARKER_TIMEOUT_MS 10000
#define RECEIVE_BUFFER_BYTES (64 << 20)
#define N_OFFENDERS 10

struct tally {
	u64 sent;
	u64 passed;
	u64 bytes;
};

struct run {
	int from_fd, to_fd;
	struct wire wire;
	size_t batch;
	struct frame frame[MAX_BATCH + 1];
	struct tally listed, unlisted;
	u64 markers;
	u64 foreign;  /* frames that are not ours: neighbour discovery and the like */
	u64 sequence; /* of the first frame of the batch */
	struct source offender[N_OFFENDERS];
	u64 n_offenders;
};

struct options {
	const char *from, *to;
	const char *listed, *unlisted, *avoid;
	size_t n_random, n_random6;
	u64 seed;
	u32 rest_ms;
	bool loop, expect, json, print;
};

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
	stopped = signal;
}

static void sources_choose(struct sources *all, const struct options *opt)
{
	struct sources listed = {}, unlisted = {}, avoid = {};

	if (opt->listed)
		sources_read(&listed, opt->listed, true);
	if (opt->unlisted)
		sources_read(&unlisted, opt->unlisted, false);
	if (opt->avoid)
		sources_read(&avoid, opt->avoid, false);
	sources_merge(&avoid, &listed, &unlisted);
	if (avoid.n)
		qsort(avoid.at, avoid.n, sizeof(*avoid.at), source_compare);
	sources_random(&unlisted, &avoid, opt->n_random, opt->seed, source_random4);
	sources_random(&unlisted, &avoid, opt->n_random6, opt->seed, source_random6);
	sources_merge(all, &listed, &unlisted);
	free(listed.at);
	free(unlisted.at);
	free(avoid.at);
}

/* --- sockets --- */

static void netns_enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(EXIT_UNSOUND, "%s", path);
	close(fd);
}

static void set_receive(int fd)
{
	int bytes = RECEIVE_BUFFER_BYTES, one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		err(EXIT_UNSOUND, "SO_RCVBUFFORCE");
	if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)))
		err(EXIT_UNSOUND, "PACKET_IGNORE_OUTGOING");
}

/* @where is NAMESPACE:DEVICE. The sender listens to no protocol. */
static int socket_open(const char *where, bool receives, u8 *mac)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	const char *device = strchr(where, ':');
	struct ifreq request = {};
	char name[128];
	int fd;

	if (!device || strlen(device + 1) >= sizeof(request.ifr_name))
		errx(EXIT_USAGE, "'%s' is not NAMESPACE:DEVICE", where);
	snprintf(name, sizeof(name), "%.*s", (int)(device - where), where);
	netns_enter(name);
	strcpy(request.ifr_name, device + 1);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &request))
		err(EXIT_UNSOUND, "%s", where);
	memcpy(mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
	if (receives)
		set_receive(fd);
	if (ioctl(fd, SIOCGIFINDEX, &request))
		err(EXIT_UNSOUND, "%s", where);
	to.sll_protocol = receives ? htons(ETH_P_ALL) : 0;
	to.sll_ifindex = request.ifr_ifindex;
	if (bind(fd, (struct sockaddr *)&to, sizeof(to)))
		err(EXIT_UNSOUND, "%s", where);
	return fd;
}

static void check_overrun(const struct run *run)
{
	struct tpacket_stats stats;
	socklen_t n_bytes = sizeof(stats);

	if (getsockopt(run->to_fd, SOL_PACKET, PACKET_STATISTICS, &stats, &n_bytes))
		err(EXIT_UNSOUND, "PACKET_STATISTICS");
	if (stats.tp_drops)
		errx(EXIT_UNSOUND, "the receiving socket lost %u frames", stats.tp_drops);
}

/* Between two CPUs the backlog of a veth without NAPI keeps no order. */
static void pin_to_this_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(EXIT_UNSOUND, "sched_setaffinity");
}

/* --- one batch --- */

static void send_frames(struct run *run, size_t n)
{
	struct mmsghdr message[MAX_BATCH + 1] = {};
	struct iovec vector[MAX_BATCH + 1];
	struct pollfd writable = { .fd = run->from_fd, .events = POLLOUT };

	for (size_t i = 0; i < n; i++) {
		vector[i] = (struct iovec){ run->frame[i].bytes, run->frame[i].n_bytes };
		message[i].msg_hdr.msg_iov = &vector[i];
		message[i].msg_hdr.msg_iovlen = 1;
	}
	for (size_t done = 0; done < n;) {
		int sent = sendmmsg(run->from_fd, message + done, n - done, 0);

		if (sent > 0)
			done += sent;
		else if (errno == EAGAIN)
			poll(&writable, 1, MARKER_TIMEOUT_MS);
		else if (errno == ENOBUFS)
			done++; /* dropped at the egress, of which a sender is told */
		else if (errno != EINTR)
			err(EXIT_UNSOUND, "send");
	}
}

/* Return: true when it is the marker, frame number @n of the batch. */
static bool take_frame(struct run *run, size_t n, const u8 *bytes, size_t n_bytes)
{
	struct trailer trailer;
	struct frame *frame;
	size_t ip_bytes;
	u64 index;

	if (n_bytes >= sizeof(trailer))
		memcpy(&trailer, bytes + n_bytes - sizeof(trailer), sizeof(trailer));
	if (n_bytes < sizeof(trailer) || memcmp(trailer.magic, magic, sizeof(magic))) {
		run->foreign++;
		return false;
	}
	index = trailer.sequence - run->sequence;
	if (index > n)
		errx(EXIT_UNSOUND, "frame %llu came after its batch", trailer.sequence);
	frame = &run->frame[index];
	ip_bytes = frame->n_bytes - frame->ip_offset;
	if (n_bytes < ip_bytes ||
	    memcmp(bytes + n_bytes - ip_bytes, frame->bytes + frame->ip_offset, ip_bytes))
		errx(EXIT_UNSOUND, "frame %llu was altered", trailer.sequence);
	if (frame->arrived)
		errx(EXIT_UNSOUND, "frame %llu came twice", trailer.sequence);
	frame->arrived = true;
	return index == n;
}

static u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void receive_until_marker(struct run *run, size_t n)
{
	struct pollfd readable = { .fd = run->to_fd, .events = POLLIN };
	u64 deadline_ms = now_ms() + MARKER_TIMEOUT_MS;
	u8 bytes[2 * MAX_FRAME];

	for (;;) {
		ssize_t n_bytes = recv(run->to_fd, bytes, sizeof(bytes), 0);

		if (n_bytes >= 0) {
			if (take_frame(run, n, bytes, n_bytes))
				return;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			err(EXIT_UNSOUND, "receive");
		if (now_ms() >= deadline_ms) {
			check_overrun(run);
			errx(EXIT_UNSOUND,
			     "no marker within %d ms: frames that are not IP do not get through",
			     MARKER_TIMEOUT_MS);
		}
		poll(&readable, 1, 100);
	}
}

static void count(struct run *run, const struct source *source, const struct frame *frame)
{
	struct tally *tally = source->is_listed ? &run->listed : &run->unlisted;

	tally->sent++;
	tally->bytes += frame->n_bytes;
	tally->passed += frame->arrived;
	if (frame->arrived != source->is_listed)
		return;
	if (run->n_offenders < N_OFFENDERS)
		run->offender[run->n_offenders] = *source;
	run->n_offenders++;
}

static void run_batch(struct run *run, const struct source *source, size_t n)
{
	for (size_t i = 0; i < n; i++)
		frame_make(&run->wire, &run->frame[i], &source[i], run->sequence + i);
	frame_make_marker(&run->wire, &run->frame[n], run->sequence + n);
	send_frames(run, n + 1);
	receive_until_marker(run, n);
	for (size_t i = 0; i < n; i++)
		count(run, &source[i], &run->frame[i]);
	run->markers++;
	run->sequence += n + 1;
}

static void run_all(struct run *run, const struct sources *all, const struct options *opt)
{
	do {
		for (size_t i = 0; i < all->n && !stopped; i += run->batch) {
			size_t left = all->n - i;

			run_batch(run, all->at + i, left < run->batch ? left : run->batch);
			if (opt->loop && run->markers == 1) {
				puts("running");
				fflush(stdout);
			}
		}
		if (opt->loop && !stopped)
			poll(NULL, 0, opt->rest_ms);
	} while (opt->loop && !stopped);
	check_overrun(run);
}

/* --- result --- */

static json_t *tally_json(const struct tally *tally)
{
	return json_pack("{sI sI sI sI}", "sent", (json_int_t)tally->sent, "passed",
			 (json_int_t)tally->passed, "dropped",
			 (json_int_t)(tally->sent - tally->passed), "bytes",
			 (json_int_t)tally->bytes);
}

static void print_json(const struct run *run)
{
	json_t *root = json_pack("{so so sI sI}", "listed", tally_json(&run->listed), "unlisted",
				 tally_json(&run->unlisted), "markers", (json_int_t)run->markers,
				 "foreign", (json_int_t)run->foreign);

	if (!root || json_dumpf(root, stdout, JSON_INDENT(2)))
		errx(EXIT_UNSOUND, "JSON");
	putchar('\n');
	json_decref(root);
}

static void print_tally(const char *name, const struct tally *tally)
{
	printf("%s sent %llu passed %llu dropped %llu\n", name, tally->sent, tally->passed,
	       tally->sent - tally->passed);
}

static void print_text(const struct run *run)
{
	print_tally("listed", &run->listed);
	print_tally("unlisted", &run->unlisted);
	printf("markers %llu foreign %llu\n", run->markers, run->foreign);
}

static int judge(const struct run *run)
{
	for (u64 i = 0; i < run->n_offenders && i < N_OFFENDERS; i++) {
		fputs(run->offender[i].is_listed ? "traffic: listed but passed: " :
						   "traffic: not listed but dropped: ",
		      stderr);
		source_print(stderr, &run->offender[i]);
	}
	if (run->n_offenders > N_OFFENDERS)
		fprintf(stderr, "traffic: and %llu more\n", run->n_offenders - N_OFFENDERS);
	return run->n_offenders ? EXIT_UNEXPECTED : 0;
}

/* --- options --- */

static const char usage[] =
	"usage: traffic --from NS:DEV --to NS:DEV [SOURCES] [OPTION...]\n"
	"       traffic --print SOURCES\n"
	"sources, one UDP frame each:\n"
	"  --listed FILE     addresses that a filter is expected to drop\n"
	"  --unlisted FILE   addresses that it is expected to pass\n"
	"  --random N        N random public IPv4 addresses, unlisted\n"
	"  --random6 N       N random global IPv6 addresses, unlisted\n"
	"  --avoid FILE      none of them is in FILE, nor in the files above\n"
	"  --seed S          of the random addresses; 1\n"
	"options:\n"
	"  --tags N          N VLAN tags, at most 8\n"
	"  --pad N           N more bytes in each datagram, an even number up to 8960; 0\n"
	"  --batch N         frames between two markers, at most 250; 128\n"
	"  --loop            again and again until SIGINT or SIGTERM; says `running`\n"
	"                    when the first batch is through\n"
	"  --rest MS         do nothing for so long after each round of --loop, up to 1000; 0\n"
	"  --expect          exit 1 unless all listed are dropped, all others passed\n"
	"  --print           print the addresses, send nothing\n"
	"  -j                the result as JSON\n";

static u64 number(const char *text, u64 min, u64 max)
{
	char *end;
	u64 value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < min || value > max)
		errx(EXIT_USAGE, "'%s' is not a number from %llu to %llu", text, min, max);
	return value;
}

static void parse_option(struct run *run, struct options *opt, int option)
{
	switch (option) {
	case 'f': opt->from = optarg; break;
	case 't': opt->to = optarg; break;
	case 'l': opt->listed = optarg; break;
	case 'u': opt->unlisted = optarg; break;
	case 'a': opt->avoid = optarg; break;
	case 'r': opt->n_random = number(optarg, 0, 1 << 28); break;
	case 'R': opt->n_random6 = number(optarg, 0, 1 << 28); break;
	case 's': opt->seed = number(optarg, 0, ~0ull); break;
	case 'T': run->wire.n_tags = number(optarg, 0, 8); break;
	case 'P': run->wire.n_pad = number(optarg, 0, MAX_PAD); break;
	case 'b': run->batch = number(optarg, 1, MAX_BATCH); break;
	case 'L': opt->loop = true; break;
	case 'w': opt->rest_ms = number(optarg, 0, 1000); break;
	case 'e': opt->expect = true; break;
	case 'p': opt->print = true; break;
	case 'j': opt->json = true; break;
	default: fputs(usage, stderr); exit(EXIT_USAGE);
	}
}

static void parse_options(struct run *run, struct options *opt, int argc, char **argv)
{
	static const struct option options[] = {
		{ "from", 1, NULL, 'f' },    { "to", 1, NULL, 't' },
		{ "listed", 1, NULL, 'l' },  { "unlisted", 1, NULL, 'u' },
		{ "avoid", 1, NULL, 'a' },   { "random", 1, NULL, 'r' },
		{ "random6", 1, NULL, 'R' }, { "seed", 1, NULL, 's' },
		{ "tags", 1, NULL, 'T' },    { "pad", 1, NULL, 'P' },
		{ "batch", 1, NULL, 'b' },   { "loop", 0, NULL, 'L' },
		{ "expect", 0, NULL, 'e' },  { "print", 0, NULL, 'p' },
		{ "rest", 1, NULL, 'w' },    {},
	};
	int option;

	while ((option = getopt_long(argc, argv, "j", options, NULL)) != -1)
		parse_option(run, opt, option);
	if (run->wire.n_pad % 2)
		errx(EXIT_USAGE, "'--pad %u': not even", run->wire.n_pad);
	if (optind != argc || (!opt->print && (!opt->from || !opt->to)))
		parse_option(run, opt, '?');
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct options opt = { .seed = 1 };
	struct sources all = {};
	static struct run run = { .batch = 128, .sequence = 1 };

	parse_options(&run, &opt, argc, argv);
	sources_choose(&all, &opt);
	if (!all.n)
		errx(EXIT_USAGE, "no source addresses");
	if (opt.print) {
		for (size_t i = 0; i < all.n; i++)
			source_print(stdout, &all.at[i]);
		return 0;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	pin_to_this_cpu();
	run.from_fd = socket_open(opt.from, false, run.wire.from_mac);
	run.to_fd = socket_open(opt.to, true, run.wire.to_mac);
	run_all(&run, &all, &opt);
	free(all.at);
	if (opt.json)
		print_json(&run);
	else
		print_text(&run);
	return opt.expect ? judge(&run) : 0;
}
