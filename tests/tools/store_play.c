// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Plays a Squid whose objects come and go: store_play [OPTION]... ADDRESS FILE
 *
 *      -p PORT     where it sends a line of store.log for each event, 3131
 *      -l PORT     where it listens and lists its objects, as the report "objects", 3128
 *      -a ADDRESS  where it listens and what it sends from, 127.0.0.1
 *      -s N        objects that stay, 2000: http://play/stay/1 and so on
 *      -k N        objects that come and go, 5000: http://play/come/1 and so on
 *      -r N        events a second, 3000
 *      -m MS       that a report takes, 200: each object is looked at in its turn
 *      -S SEED     of chance, 1
 *
 * The path of a request says what else becomes of the report: /die, the connection ends
 * in the middle; /cut, the report does, as if it were whole; /slow, it takes ten times
 * as long.
 *
 * Half of those that come and go are there at the start, and nobody is told of them.
 * Prints "ready", and when SIGUSR1 comes "EVENTS events" and goes on without; when
 * SIGTERM comes it writes the keys of its objects to FILE, prints the same, and ends.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "key/squid_key.h"
#include "util/clock.h"

#include "../unit/random.h"

#define TICK_NS 1000000ull
#define PARTS 50

struct object {
	char key[BALEEN_SQUID_HEX_DIGITS + 1];
	bool is_there;
};

/**
 * struct play - the store
 * @lock: of @object
 * @object: those that stay, then those that come and go
 * @n_events: that were sent
 */
static struct play {
	pthread_mutex_t lock;
	struct object *object;
	u32 n_stay, n_come, rate, report_ms;
	u64 n_events;
	struct random random;
	const char *address, *listen, *file;
	u16 feed_port, port;
	int feed_fd;
} play = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.n_stay = 2000,
	.n_come = 5000,
	.rate = 3000,
	.report_ms = 200,
	.random = { 1 },
	.listen = "127.0.0.1",
	.feed_port = 3131,
	.port = 3128,
};

static struct sockaddr_in at(const char *address, u16 port)
{
	struct sockaddr_in where = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, address, &where.sin_addr) != 1)
		errx(2, "%s: no IPv4 address", address);
	return where;
}

/* --- the store ---------------------------------------------------------------- */

static void name_object(struct object *object, const char *set, u32 number)
{
	struct baleen_key key;
	char url[64];
	int n = snprintf(url, sizeof(url), "http://play/%s/%u", set, number);

	baleen_squid_key_url(url, n, &key);
	baleen_squid_key_format(&key, object->key);
}

static void fill_store(void)
{
	play.object = calloc(play.n_stay + play.n_come, sizeof(*play.object));
	if (!play.object)
		err(1, NULL);
	for (u32 i = 0; i < play.n_stay; i++) {
		name_object(&play.object[i], "stay", i + 1);
		play.object[i].is_there = true;
	}
	for (u32 i = 0; i < play.n_come; i++) {
		name_object(&play.object[play.n_stay + i], "come", i + 1);
		play.object[play.n_stay + i].is_there = random_below(&play.random, 2);
	}
}

/* As Squid does it: the store changes, then the line goes out. */
static void make_event(void)
{
	struct object *object = &play.object[play.n_stay + random_below(&play.random, play.n_come)];
	char line[256];
	int n;

	pthread_mutex_lock(&play.lock);
	object->is_there = !object->is_there;
	n = snprintf(line, sizeof(line),
		     "1700000000.123 %s 00 %08X %s  200 1700000000 1700000000 4000000000 text/html "
		     "100/100 GET http://play/\n",
		     object->is_there ? "SWAPOUT" : "RELEASE", 17, object->key);
	while (send(play.feed_fd, line, n, 0) != n)
		if (errno != ECONNREFUSED && errno != EINTR)
			err(1, "send");
	play.n_events++;
	pthread_mutex_unlock(&play.lock);
}

static void write_keys(void)
{
	FILE *file = fopen(play.file, "w");

	if (!file)
		err(1, "%s", play.file);
	for (u32 i = 0; i < play.n_stay + play.n_come; i++)
		if (play.object[i].is_there)
			fprintf(file, "%s\n", play.object[i].key);
	if (fclose(file))
		err(1, "%s", play.file);
}

/* --- reports -------------------------------------------------------------------- */

static void put_chunk(FILE *stream, const char *format, ...)
{
	char text[512];
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fprintf(stream, "%x\r\n%s\r\n", n, text);
}

static void put_object(FILE *stream, u32 i)
{
	bool is_there;

	pthread_mutex_lock(&play.lock);
	is_there = play.object[i].is_there;
	pthread_mutex_unlock(&play.lock);
	if (is_there)
		put_chunk(stream,
			  "KEY %s\n\tSTORE_OK      NOT_IN_MEMORY SWAPOUT_DONE PING_DONE   \n"
			  "\tCACHABLE,VALIDATED\n\tLV:1700000000 LU:1700000000 LM:-1        EX:4000000000\n"
			  "\t0 locks, 0 clients, 1 refs\n\tSwap Dir 0, File 0X000011\n\n",
			  play.object[i].key);
}

static void put_report(FILE *stream, const char *path)
{
	u32 n = play.n_stay + play.n_come;
	u64 part_ns = play.report_ms * 1000000ull / PARTS * (strcmp(path, "/slow") ? 1 : 10);
	struct timespec pause = { part_ns / 1000000000, part_ns % 1000000000 };

	fprintf(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
			"Transfer-Encoding: chunked\r\n\r\n");
	/* From the end, so that what comes and goes is looked at first. */
	for (u32 i = 0; i < n; i++) {
		put_object(stream, n - 1 - i);
		if ((i + 1) % (n / PARTS + 1))
			continue;
		if (i > n / 2 && !strcmp(path, "/die"))
			return;
		if (i > n / 2 && !strcmp(path, "/cut")) {
			put_chunk(stream, "KEY %s\n\tSTORE_OK", play.object[0].key);
			break;
		}
		fflush(stream);
		nanosleep(&pause, NULL);
	}
	fprintf(stream, "0\r\n\r\n");
}

static void *serve_one(void *data)
{
	FILE *stream = data;
	char line[1024], path[128] = "/";

	if (fgets(line, sizeof(line), stream))
		sscanf(line, "GET %127s", path);
	while (fgets(line, sizeof(line), stream) && strcmp(line, "\r\n"))
		;
	put_report(stream, path);
	fclose(stream);
	return NULL;
}

static void *serve(void *unused)
{
	struct sockaddr_in where = at(play.listen, play.port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&where, sizeof(where)) || listen(fd, 16))
		err(1, "%s:%u", play.listen, play.port);
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		int connection = accept(fd, NULL, NULL);
		pthread_t thread;

		if (connection < 0)
			continue;
		if (pthread_create(&thread, NULL, serve_one, fdopen(connection, "r+")))
			errx(1, "no thread");
		pthread_detach(thread);
	}
	return NULL;
}

/* --- time -------------------------------------------------------------------------- */

/* Events until a signal comes, at the rate that is asked for. */
static int make_events(int signal_fd)
{
	u64 begun_ns = baleen_clock_ns(CLOCK_MONOTONIC), n_made = 0;
	struct pollfd poll_fd = { .fd = signal_fd, .events = POLLIN };
	struct timespec tick = { 0, TICK_NS };
	struct signalfd_siginfo info;

	while (ppoll(&poll_fd, 1, &tick, NULL) <= 0) {
		u64 passed_ns = baleen_clock_ns(CLOCK_MONOTONIC) - begun_ns;
		u64 due = passed_ns / 1000 * play.rate / 1000000;

		/* What was missed is not made up for in one burst, which would be lost. */
		if (due > n_made + 64) {
			n_made = due - 64;
		}
		for (; n_made < due; n_made++)
			make_event();
	}
	if (read(signal_fd, &info, sizeof(info)) != sizeof(info))
		err(1, "signalfd");
	printf("%llu events\n", (unsigned long long)play.n_events);
	fflush(stdout);
	return info.ssi_signo;
}

static void parse(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "p:l:a:s:k:r:m:S:")) != -1) {
		switch (option) {
		case 'p': play.feed_port = atoi(optarg); break;
		case 'l': play.port = atoi(optarg); break;
		case 'a': play.listen = optarg; break;
		case 's': play.n_stay = atoi(optarg); break;
		case 'k': play.n_come = atoi(optarg); break;
		case 'r': play.rate = atoi(optarg); break;
		case 'm': play.report_ms = atoi(optarg); break;
		case 'S': play.random.state = atoi(optarg); break;
		default: exit(2);
		}
	}
	if (argc - optind != 2 || !play.n_come)
		errx(2, "usage: store_play [OPTION]... ADDRESS FILE");
	play.address = argv[optind];
	play.file = argv[optind + 1];
}

int main(int argc, char **argv)
{
	struct sockaddr_in feed, own;
	pthread_t thread;
	sigset_t signals;
	int signal_fd;

	parse(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	feed = at(play.address, play.feed_port);
	play.feed_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	own = at(play.listen, 0);
	if (signal_fd < 0 || play.feed_fd < 0 ||
	    bind(play.feed_fd, (struct sockaddr *)&own, sizeof(own)) ||
	    connect(play.feed_fd, (struct sockaddr *)&feed, sizeof(feed)))
		err(1, "%s:%u", play.address, play.feed_port);
	fill_store();
	if (pthread_create(&thread, NULL, serve, NULL))
		errx(1, "no thread");
	while (make_events(signal_fd) == SIGUSR1)
		play.rate = 0;
	write_keys();
	return 0;
}
