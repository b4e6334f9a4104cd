// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From one publisher over a Redis to many readers:
 *
 *      bench_fleet PORT DIRECTORY READERS...
 *
 * A reader is a process with a database of its own below DIRECTORY, which is to be in memory. It
 * does what baleen-fleetd does: XREAD, verify, hold to the policy, write with the cursor in one
 * transaction. It has no device. For each number of READERS one row is printed: single bans, one
 * after the other, and how long each takes to a reader's database; then batches of 512, as fast
 * as the slowest reader takes them. What it costs is what Redis itself says before and after.
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "fleet/fleet_keys.h"
#include "fleet/fleet_receive.h"
#include "fleet/fleet_store.h"
#include "fleetd/redis.h"
#include "state/entries.h"
#include "util/clock.h"

#define FLEET "bench"
#define PUBLISHER "web1/bench"
#define N_SINGLE 50
#define MAX_READERS 1000
/* All readers together put so many into their databases. */
#define N_ALL 1000000
/* And each no more than this. */
#define N_MOST 100000
#define LIMIT_NS 600000000000ull
/* All readers share the processors of one machine. */
#define PATIENCE_MS 60000

/* So many numbers of changes that no reader could fall behind unseen. */
struct shared {
	u64 n_ready;
	u64 n_taken[MAX_READERS];
	float took_ms[MAX_READERS][N_SINGLE];
};

struct cost {
	double cpu_s;
	double bytes;
};

static struct shared *shared;
static struct baleen_fleet_conf conf = { .fleet = FLEET };
static struct baleen_fleet_server server = { .host = "127.0.0.1" };
static struct baleen_fleet_keys keys;
static struct baleen_fleet_policy policy;
static struct baleen_error error;

static void must(int ret)
{
	if (ret)
		errx(1, "%s", error.text);
}

/* --- a reader -------------------------------------------------------------------------- */

struct reader {
	u32 index;
	struct redis redis;
	struct baleen_fleet_store store;
	char cursor[64];
};

/* The reason of a single ban is when it was made. */
static void note_time(struct reader *reader, const struct baleen_fleet_result *result)
{
	u64 at = result->message.last - 1, made_ns;

	if (at >= N_SINGLE || result->n_effects != 1)
		return;
	made_ns = strtoull(result->effect[0].entry.reason, NULL, 10);
	shared->took_ms[reader->index][at] = (baleen_clock_ns(CLOCK_MONOTONIC) - made_ns) / 1e6;
}

static void take(struct reader *reader, const redisReply *message,
		 struct baleen_fleet_result *result)
{
	const struct baleen_fleet_receiver receiver = { .store = &reader->store,
							.policy = &policy,
							.host = "reader",
							.now_ms = baleen_now_ms() };

	must(baleen_fleet_receive(&receiver, message->str, message->len, result, &error));
	if (result->verdict != BALEEN_FLEET_APPLIED || result->n_held)
		errx(1, "reader %u: a batch is not applied: %s", reader->index, result->why);
}

static void take_all(struct reader *reader, const redisReply *entries)
{
	struct baleen_fleet_result *result = calloc(entries->elements, sizeof(*result));

	if (!result)
		errx(1, "no memory");
	must(baleen_fleet_store_begin(&reader->store, &error));
	for (size_t i = 0; i < entries->elements; i++) {
		const redisReply *entry = entries->element[i];

		take(reader, entry->element[1]->element[1], &result[i]);
		snprintf(reader->cursor, sizeof(reader->cursor), "%s", entry->element[0]->str);
	}
	must(baleen_fleet_store_set(&reader->store, BALEEN_FLEET_TEXT_CURSOR, reader->cursor,
				    &error));
	must(baleen_fleet_store_commit(&reader->store, &error));
	for (size_t i = 0; i < entries->elements; i++) {
		note_time(reader, &result[i]);
		__atomic_store_n(&shared->n_taken[reader->index], result[i].message.last,
				 __ATOMIC_RELAXED);
		baleen_fleet_result_free(&result[i]);
	}
	free(result);
}

static void read_on(u32 index, const char *directory)
{
	struct reader reader = { .index = index, .cursor = "0-0" };
	char path[256];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof(path), "%s/%u", directory, index);
	mkdir(path, 0700);
	must(baleen_fleet_store_open(&reader.store, path, true, &error));
	/* Hundreds begin at once. */
	while (redis_connect(&reader.redis, &conf, &server, &error))
		usleep(100000);
	__atomic_fetch_add(&shared->n_ready, 1, __ATOMIC_RELAXED);
	for (;;) {
		redisReply *reply = NULL;

		must(redis_send(&reader.redis, &error,
				"XREAD COUNT 256 BLOCK 1000 STREAMS {" FLEET "}:log %s",
				reader.cursor));
		must(redis_receive(&reader.redis, PATIENCE_MS, -1, &reply, &error));
		if (reply->type == REDIS_REPLY_ARRAY)
			take_all(&reader, reply->element[0]->element[1]);
		freeReplyObject(reply);
	}
}

/* --- the publisher ------------------------------------------------------------------------ */

static void free_reply(redisReply *reply)
{
	freeReplyObject(reply);
}

static void publish(struct redis *redis, u64 first, u32 n)
{
	struct baleen_fleet_message message = { .type = BALEEN_FLEET_BATCH,
						.fleet = FLEET,
						.publisher = PUBLISHER,
						.incarnation = { 1 },
						.first = first,
						.made_ms = baleen_now_ms() };
	struct baleen_fleet_writer batch = { 0 };
	redisReply *reply = NULL;

	if (baleen_fleet_writer_start(&batch, &message))
		errx(1, "no batch");
	for (u32 i = 0; i < n; i++) {
		struct baleen_fleet_change change = { .entry = { .set = "bans",
								 .made_ms = message.made_ms } };
		u64 at = 0x2d000000 + first + i;

		change.entry.end_ms = message.made_ms + 3600000;
		change.entry.key = (struct baleen_fleet_key){ .family = 4, .length = 32 };
		for (u32 byte = 0; byte < 4; byte++)
			change.entry.key.address[byte] = at >> (24 - 8 * byte);
		snprintf(change.entry.reason, sizeof(change.entry.reason), "%llu",
			 (unsigned long long)baleen_clock_ns(CLOCK_MONOTONIC));
		if (baleen_fleet_writer_add(&batch, &change))
			errx(1, "no change");
	}
	if (baleen_fleet_writer_sign(&batch, keys.secret_key))
		errx(1, "no signature");
	must(redis_call(redis, &reply, &error, "XADD {" FLEET "}:log MAXLEN ~ 16384 * m %b",
			batch.bytes, batch.n_bytes));
	free_reply(reply);
	baleen_fleet_writer_free(&batch);
}

static void wait_for(const u64 *number, u64 wanted, u64 until_ns)
{
	while (__atomic_load_n(number, __ATOMIC_RELAXED) < wanted) {
		if (baleen_clock_ns(CLOCK_MONOTONIC) > until_ns)
			errx(1, "readers do not keep up");
		if (waitpid(-1, NULL, WNOHANG) > 0)
			errx(1, "a reader ended");
		usleep(500);
	}
}

static void wait_for_all(u32 n_readers, u64 sequence)
{
	u64 until_ns = baleen_clock_ns(CLOCK_MONOTONIC) + LIMIT_NS;

	for (u32 i = 0; i < n_readers; i++)
		wait_for(&shared->n_taken[i], sequence, until_ns);
}

/* --- costs --------------------------------------------------------------------------------- */

static double read_number(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at)
		errx(1, "Redis says no %s", name);
	return strtod(at + strlen(name), NULL);
}

static struct cost read_cost(struct redis *redis)
{
	redisReply *reply = NULL;
	struct cost cost;

	must(redis_call(redis, &reply, &error, "INFO all"));
	cost.cpu_s = read_number(reply->str, "used_cpu_sys:") +
		     read_number(reply->str, "used_cpu_user:");
	cost.bytes = read_number(reply->str, "total_net_output_bytes:");
	freeReplyObject(reply);
	return cost;
}

/* --- one row ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static void start_readers(pid_t *pid, u32 n_readers, const char *directory)
{
	shared->n_ready = 0;
	memset(shared->n_taken, 0, sizeof(shared->n_taken));
	for (u32 i = 0; i < n_readers; i++) {
		pid[i] = fork();
		if (!pid[i])
			read_on(i, directory);
		if (pid[i] < 0)
			err(1, "fork");
	}
	wait_for(&shared->n_ready, n_readers, baleen_clock_ns(CLOCK_MONOTONIC) + LIMIT_NS);
}

static void measure(struct redis *redis, u32 n_readers, const char *directory)
{
	static float took_ms[MAX_READERS * N_SINGLE];
	u32 n_took = n_readers * N_SINGLE, n_bans = N_ALL / n_readers, n_batches;
	pid_t pid[MAX_READERS];
	struct cost begun, single, many;
	redisReply *reply = NULL;
	u64 sequence = 0, begun_ns;
	double took_s, n_delivered;

	if (n_bans > N_MOST)
		n_bans = N_MOST;
	n_batches = n_bans / BALEEN_FLEET_BATCH_MAX;
	n_bans = n_batches * BALEEN_FLEET_BATCH_MAX;
	n_delivered = (double)n_readers * n_bans;
	must(redis_call(redis, &reply, &error, "FLUSHALL"));
	free_reply(reply);
	start_readers(pid, n_readers, directory);
	begun = read_cost(redis);
	for (u32 i = 0; i < N_SINGLE; i++) {
		publish(redis, ++sequence, 1);
		wait_for_all(n_readers, sequence);
	}
	single = read_cost(redis);
	begun_ns = baleen_clock_ns(CLOCK_MONOTONIC);
	for (u32 i = 0; i < n_batches; i++, sequence += BALEEN_FLEET_BATCH_MAX)
		publish(redis, sequence + 1, BALEEN_FLEET_BATCH_MAX);
	wait_for_all(n_readers, sequence);
	took_s = (baleen_clock_ns(CLOCK_MONOTONIC) - begun_ns) / 1e9;
	many = read_cost(redis);
	for (u32 i = 0; i < n_readers; i++) {
		memcpy(&took_ms[i * N_SINGLE], shared->took_ms[i], sizeof(shared->took_ms[i]));
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	qsort(took_ms, n_took, sizeof(*took_ms), compare);
	printf("%7u %9.1f %9.1f %9.1f %12.1f %9.0f %12.0f %12.2f %9.0f\n", n_readers,
	       took_ms[n_took / 2], took_ms[n_took * 99 / 100], took_ms[n_took - 1],
	       (single.cpu_s - begun.cpu_s) / n_took * 1e6, (single.bytes - begun.bytes) / n_took,
	       n_bans / took_s, (many.cpu_s - single.cpu_s) / n_delivered * 1e6,
	       (many.bytes - single.bytes) / n_delivered);
	fflush(stdout);
}

static void make_policy(void)
{
	static const u8 seed[crypto_sign_SEEDBYTES] = { 1 };
	char text[512], public_text[BALEEN_FLEET_PUBLIC_TEXT];
	int n;

	crypto_sign_seed_keypair(keys.public_key, keys.secret_key, seed);
	n = snprintf(text, sizeof(text),
		     "fleet " FLEET "\nserial 1\nhost web1 %s\npublisher */*\n  rate 1000000/s\n"
		     "  entries 262144\n",
		     baleen_fleet_public_format(keys.public_key, public_text));
	must(baleen_fleet_policy_parse(text, n, "policy", &policy, &error));
}

int main(int argc, char **argv)
{
	struct redis redis = REDIS_CLOSED;
	char directory[200];

	if (argc < 4)
		errx(2, "bench_fleet PORT DIRECTORY READERS...");
	snprintf(server.port, sizeof(server.port), "%s", argv[1]);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || sodium_init() < 0)
		errx(1, "no memory");
	make_policy();
	must(redis_connect(&redis, &conf, &server, &error));
	for (int i = 3; i < argc; i++) {
		u32 n = strtoul(argv[i], NULL, 10);

		if (!n || n > MAX_READERS)
			errx(2, "'%s': not 1 to %d readers", argv[i], MAX_READERS);
		snprintf(directory, sizeof(directory), "%s/%u", argv[2], n);
		if (mkdir(directory, 0700))
			err(1, "%s", directory);
		measure(&redis, n, directory);
	}
	redis_close(&redis);
	return 0;
}
