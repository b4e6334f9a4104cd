// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Datagrams of store.log through the packet program: whose are taken, what each line does
 * to filters and counters, what counts as lost, and what is recorded.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <time.h>

#include "icp_live.h"

#define WORLD "feed"
#define N_LINES 5000
#define HEADERS 42

static const char swapout[] = "1700000000.123 SWAPOUT 00 0000001A 271B10FA47F72704CF53F2C5EACD81B0"
			      "  200 1700000000 -1 -1 text/plain 5/5 GET http://10.9.0.3/obj/1\n";

static const struct baleen_key example = {
	.domain = BALEEN_TUPLE,
	.hi = 0x271b10fa47f72704,
	.lo = 0xcf53f2c5eacd81b0,
};

/**
 * struct sender - where datagrams are from
 * @address: of IPv4
 * @port: of UDP
 * @id: of the next datagram
 */
struct sender {
	u32 address;
	u16 port;
	u16 id;
};

/* An IPv4 frame with UDP to the feed; the verdict. */
static u32 send_bytes(const struct live *live, struct sender *from, const void *payload, u32 n)
{
	u8 frame[1500] = { [12] = 0x08, [14] = 0x45, [22] = 64, [23] = 17, [30] = 10, [33] = 9 };
	u16 total = baleen_be16((u16)(28 + n)), udp = baleen_be16((u16)(8 + n));
	u16 id = baleen_be16(from->id), sport = baleen_be16(from->port);
	u16 dport = baleen_be16((u16)FEED_PORT);
	u32 saddr = baleen_be32(from->address);
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = HEADERS + n);

	memcpy(frame + 16, &total, 2);
	memcpy(frame + 18, &id, 2);
	memcpy(frame + 26, &saddr, 4);
	memcpy(frame + 34, &sport, 2);
	memcpy(frame + 36, &dport, 2);
	memcpy(frame + 38, &udp, 2);
	memcpy(frame + HEADERS, payload, n);
	from->id++;
	if (bpf_prog_test_run_opts(live->loaded.feed_fd, &run))
		err(1, "cannot run the program");
	return run.retval;
}

static u32 send_line(const struct live *live, struct sender *from, const char *line)
{
	return send_bytes(live, from, line, strlen(line));
}

static u32 send_event(const struct live *live, struct sender *from, const char *tag,
		      const struct baleen_key *key)
{
	char line[128];

	snprintf(line, sizeof(line), "1700000000.123 %-7s 00 00000001 %016llX%016llX  200\n", tag,
		 (unsigned long long)key->hi, (unsigned long long)key->lo);
	return send_line(live, from, line);
}

static bool both_have(const struct live *live, const struct baleen_key *key, bool first,
		      bool second)
{
	return !!baleen_filter_test(&live->filter[0], key) == first &&
	       !!baleen_filter_test(&live->filter[1], key) == second;
}

static void lines_change_filters(struct live *live)
{
	struct sender one = { FEEDER(0), 1000, 1 }, both = { FEEDER(1), 1001, 1 };
	bool right = send_line(live, &one, swapout) == XDP_DROP;
	struct baleen_icp_stats stats;

	result(right && both_have(live, &example, true, false), WORLD, "one feeder, one filter");
	send_line(live, &both, swapout);
	result(both_have(live, &example, true, true), WORLD, "the other feeder, both filters");
	send_event(live, &both, "RELEASE", &example);
	send_event(live, &both, "RELEASE", &example);
	send_event(live, &both, "CREATE", &example);
	result(both_have(live, &example, false, false), WORLD, "a release deletes");
	stats = live_stats(live);
	result(stats.feeder[0].inserts == 1 && stats.feeder[1].inserts == 1 &&
		       stats.feeder[1].deletes == 2 && stats.feeder[1].others == 1,
	       WORLD, "lines are counted");
	result(stats.sibling[0].inserted == 1 && stats.sibling[0].again == 1 &&
		       stats.sibling[0].deleted == 1 && stats.sibling[0].absent == 1 &&
		       stats.sibling[1].inserted == 1 && !stats.sibling[1].again,
	       WORLD, "what became of them is counted");
}

static void many_lines(struct live *live)
{
	struct sender from = { FEEDER(1), 1001, 60000 };
	bool right = true;

	for (u32 i = 0; i < N_LINES; i++) {
		struct baleen_key key = nth_key(i);

		right &= send_event(live, &from, "SWAPOUT", &key) == XDP_DROP;
	}
	for (u32 i = 0; i < N_LINES; i += 2) {
		struct baleen_key key = nth_key(i);

		right &= send_event(live, &from, "RELEASE", &key) == XDP_DROP;
	}
	for (u32 i = 0; i < N_LINES; i++) {
		struct baleen_key key = nth_key(i);

		right &= both_have(live, &key, i & 1, i & 1);
	}
	result(right, WORLD, "5,000 objects came and every other one went");
}

/* --- times --- */

/* Until when sibling @n has the object fresh; 0: it does not say. */
static u32 until_of(const struct live *live, u32 n, const struct baleen_key *key)
{
	u32 at = baleen_icp_times_at(n, key->lo, N_TIMES), until = 0;
	struct baleen_icp_times times;

	if (bpf_map_lookup_elem(live->loaded.times_fd, &at, &times))
		err(1, "cannot read times");
	for (u32 i = 0; i < BALEEN_ICP_TIMES; i++)
		if ((u32)(baleen_le64(times.slot_le[i]) >> 32) == (u32)key->hi)
			until = (u32)baleen_le64(times.slot_le[i]);
	return until;
}

static u32 now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* A line of @key with these dates, as Squid prints them; then: for how long is it fresh? The
 * clock may tick meanwhile.
 */
static bool is_fresh_for(const struct live *live, const struct baleen_key *key, s64 date,
			 s64 modified, s64 expires, u32 want_s)
{
	struct sender from = { FEEDER(1), 1001, 3 };
	u32 before_s = now_s(), until_s;
	char line[200];

	snprintf(
		line, sizeof(line),
		"1700000000.123 SWAPOUT 00 0000001A %016llX%016llX %4d %9lld %9lld %9lld text/plain "
		"5/5 GET http://h/\n",
		(unsigned long long)key->hi, (unsigned long long)key->lo, 200, (long long)date,
		(long long)modified, (long long)expires);
	send_line(live, &from, line);
	until_s = until_of(live, 0, key);
	if (until_of(live, 1, key) - until_s > 1)
		return false;
	return want_s ? until_s >= before_s + want_s && until_s <= now_s() + want_s : !until_s;
}

static void dates_are_kept(struct live *live)
{
	static const struct {
		s64 date, modified, expires;
		u32 want_s;
		const char *what;
	} cases[] = {
		{ 1700000000, 1690000000, 1700003600, 3600, "a date of expiry" },
		{ 1700000000, -1, 1700003600, 3600, "without having been modified" },
		{ -1, -1, 1700003600, 3600, "without any other" },
		{ 1700000000, 900000000, 1700003600, 3600, "modified before 2001" },
		{ 1700000000, 100000000, 1700000001, 1, "soon" },
		{ 1700000000, 1699990000, 1700000000, 0, "stale already" },
		{ 1700000000, 1699990000, 0, 0, "stale since 1970" },
		{ 1700000000, 1699990000, -1, 1000, "a tenth of its age" },
		{ 1700000000, 1000000000, -1, 86400, "of an old one a day" },
		{ 1699999500, 1699990000, -1, 450, "less what has passed" },
		{ 1600000000, 1599990000, -1, 0, "which may be all" },
		{ 1700000000, 1700000000, -1, 0, "modified now" },
		{ 1700000000, 1800000000, -1, 0, "modified in the future" },
		{ 1700000000, -1, -1, 0, "nothing known" },
		{ 1700000000, 0, -1, 0, "modified in 1970" },
		{ 1700000000, -1, 9999999999, 1u << 30, "for ever" },
	};

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		result(is_fresh_for(live, &example, cases[i].date, cases[i].modified,
				    cases[i].expires, cases[i].want_s),
		       "dates", cases[i].what);
}

/* A full block forgets what is stale first. */
static void blocks_get_full(struct live *live)
{
	struct baleen_key key = { .domain = BALEEN_TUPLE, .lo = 1 };
	bool right = true;

	for (u32 i = 0; i <= BALEEN_ICP_TIMES; i++) {
		key.hi = i + 1;
		right &= is_fresh_for(live, &key, 1700000000, -1, 1700001000 + 100 * (i ? i : 9),
				      1000 + 100 * (i ? i : 9));
	}
	for (u32 i = 0; i <= BALEEN_ICP_TIMES; i++) {
		key.hi = i + 1;
		right &= !!until_of(live, 0, &key) == (i != 1);
	}
	result(right, "dates", "a full block forgets what is stale first");
}

/* No letter, digit, space, sign or dot is a bell. */
static void bad_lines_do_nothing(struct live *live)
{
	struct sender from = { FEEDER(0), 1000, 2 };
	struct baleen_icp_stats before = live_stats(live), after;
	char line[sizeof(swapout)];
	bool right = true;

	live->state->heard[0].at_ns = 5;
	for (u32 column = 0; column < BALEEN_STORE_LINE_BYTES; column++) {
		strcpy(line, swapout);
		line[column] = '\a';
		right &= send_line(live, &from, line) == XDP_DROP;
		right &= send_bytes(live, &from, swapout, column) == XDP_DROP;
	}
	after = live_stats(live);
	result(right && after.feeder[0].malformed - before.feeder[0].malformed ==
				2 * BALEEN_STORE_LINE_BYTES,
	       WORLD, "lines damaged in any column, and cut off at any, are malformed");
	result(live->state->heard[0].at_ns == 5, WORLD, "and no sign of life");
	result(!memcmp(&before.sibling, &after.sibling, sizeof(before.sibling)), WORLD,
	       "and change nothing");
	send_event(live, &from, "SO_FAIL", &example);
	result(live->state->heard[0].at_ns > 5, WORLD, "any good line is a sign of life");
}

/* The feed has a device of its own, and whoever sends to the other one is no feeder. */
static void other_device_passes(struct live *live)
{
	struct sender from = { FEEDER(0), 1000, 2 };
	u64 before = live_stats(live).others;
	int feed_fd = live->loaded.feed_fd;
	bool right;

	live->loaded.feed_fd = live->loaded.answer_fd;
	right = send_line(live, &from, swapout) == XDP_PASS;
	live->loaded.feed_fd = feed_fd;
	result(right && live_stats(live).others == before + 1 &&
		       both_have(live, &example, false, false),
	       WORLD, "a line by the device of queries passes and changes nothing");
}

static void strangers_pass(struct live *live)
{
	struct sender from = { FEEDER(2), 1000, 2 };
	u64 before = live_stats(live).feed_strangers;
	bool right = send_line(live, &from, swapout) == XDP_PASS;

	result(right && live_stats(live).feed_strangers == before + 1 &&
		       both_have(live, &example, false, false),
	       WORLD, "a stranger's line passes, is counted and changes nothing");
}

/* Datagrams of one port with these numbers; how many count as lost, and as late. */
static void send_ids(struct live *live, u16 port, const u16 *ids, u32 n, s64 *lost, u64 *late)
{
	struct baleen_icp_stats before = live_stats(live), after;

	for (u32 i = 0; i < n; i++) {
		struct sender from = { FEEDER(0), port, ids[i] };

		send_event(live, &from, "CREATE", &example);
	}
	after = live_stats(live);
	*lost = after.feeder[0].lost - before.feeder[0].lost;
	*late = after.feeder[0].reordered - before.feeder[0].reordered;
}

struct ids {
	const char *what;
	u16 id[6];
	u32 n;
	u16 port;
	s64 lost;
	u64 late;
};

/* In this order: each goes on where the one before ended, unless the port is another. */
static const struct ids sequences[] = {
	{ "the first number is no loss", { 40000 }, 1, 2000, 0, 0 },
	{ "one by one nothing is lost", { 40001, 40002, 40003 }, 3, 2000, 0, 0 },
	{ "a gap is lost", { 40005, 40010 }, 2, 2000, 5, 0 },
	{ "what comes late is not lost", { 40013, 40011, 40012, 40014 }, 4, 2000, 0, 2 },
	{ "another port begins anew", { 65533, 65534 }, 2, 2001, 0, 0 },
	{ "numbers begin again at 65536", { 65535, 0, 1 }, 3, 2001, 0, 0 },
	{ "a gap there is lost", { 2, 4 }, 2, 2001, 1, 0 },
	{ "a port before that begins anew", { 65534, 1, 65535, 0, 2 }, 5, 2002, 0, 2 },
	{ "the same number twice is no loss", { 2, 2, 3 }, 3, 2002, 0, 0 },
	{ "far behind is another socket", { 50000, 50001 }, 2, 2002, 0, 0 },
};

static void losses_are_counted(struct live *live)
{
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		const struct ids *ids = &sequences[i];
		u64 late;
		s64 lost;

		send_ids(live, ids->port, ids->id, ids->n, &lost, &late);
		if (lost != ids->lost || late != ids->late)
			printf("# lost %lld, late %llu\n", (long long)lost,
			       (unsigned long long)late);
		result(lost == ids->lost && late == ids->late, WORLD, ids->what);
	}
}

/* --- the log --------------------------------------------------------------------- */

struct events {
	struct baleen_icp_event event[4];
	u32 n;
};

static int take_event(void *context, void *data, size_t n_bytes)
{
	struct events *events = context;

	if (n_bytes == sizeof(events->event[0]) && events->n < 4)
		memcpy(&events->event[events->n], data, n_bytes);
	events->n++;
	return 0;
}

static void events_are_recorded(struct live *live)
{
	struct sender one = { FEEDER(0), 1000, 1 }, both = { FEEDER(1), 1001, 1 };
	struct events events = { .n = 0 };
	struct ring_buffer *ring = ring_buffer__new(live->loaded.log_fd, take_event, &events, NULL);
	const struct baleen_icp_event *event = events.event;

	if (!ring)
		err(1, "cannot read the log");
	send_line(live, &one, swapout);
	live->state->is_recording = 1;
	send_line(live, &both, swapout);
	send_event(live, &both, "SWAPIN", &example);
	send_event(live, &one, "RELEASE", &example);
	live->state->is_recording = 0;
	send_event(live, &both, "RELEASE", &example);
	ring_buffer__consume(ring);
	result(events.n == 2, WORLD, "changes are recorded while somebody records");
	result(event[0].key_hi == example.hi && event[0].key_lo == example.lo &&
		       event[0].siblings == 3 && event[0].changed == 2 &&
		       event[0].generation == 7 && event[0].event == BALEEN_STORE_INSERT &&
		       event[0].feeder == 1,
	       WORLD, "with the filters that changed");
	result(event[1].siblings == 1 && event[1].changed == 1 &&
		       event[1].event == BALEEN_STORE_DELETE && !event[1].feeder,
	       WORLD, "in their order");
	ring_buffer__free(ring);
}

static void what_finds_no_room_is_counted(struct live *live)
{
	struct sender from = { FEEDER(0), 1000, 1 };
	u32 room = 4 << 20, each = sizeof(struct baleen_icp_event) + 8, n = room / each + 100;

	live->state->is_recording = 1;
	for (u32 i = 0; i < n; i++)
		send_event(live, &from, "RELEASE", &example);
	live->state->is_recording = 0;
	result(live->state->n_unrecorded >= 100 && live->state->n_unrecorded < 200, WORLD,
	       "events that the log has no room for are counted");
}

static void bad_batches_are_refused(struct live *live)
{
	struct baleen_icp_batch many = { .siblings = 1, .n = BALEEN_ICP_BATCH + 1 };
	struct baleen_icp_batch wide = { .siblings = 1 << 16, .n = 1 };
	struct baleen_icp_batch odd = { .siblings = 1, .n = 1, .event = { BALEEN_STORE_BAD } };
	struct baleen_error error;
	bool right = baleen_icp_apply(&live->loaded, &many, &error) &&
		     baleen_icp_apply(&live->loaded, &wide, &error);

	right &= !baleen_icp_apply(&live->loaded, &odd, &error);
	result(right && odd.event[0] == BALEEN_STORE_OTHER, WORLD, "bad batches are refused");
}

/* Each is another program to the verifier. */
static void each_kind_is_fed(u32 kind, u32 hash, const char *what)
{
	struct baleen_image image = make_image(kind, hash, N_LINES);
	struct sender from = { FEEDER(1), 1001, 1 };
	struct live live;
	bool right;

	live_open(&live, &image, 2);
	send_line(&live, &from, swapout);
	right = both_have(&live, &example, true, true);
	send_event(&live, &from, "RELEASE", &example);
	right &= both_have(&live, &example, false, false);
	result(right, what, "an object comes and goes");
	live_close(&live);
}

int main(void)
{
	struct baleen_image image = make_image(BALEEN_KIND_CUCKOO, 0, 2 * N_LINES);
	struct live live;

	live_open(&live, &image, 2);
	lines_change_filters(&live);
	many_lines(&live);
	bad_lines_do_nothing(&live);
	strangers_pass(&live);
	other_device_passes(&live);
	losses_are_counted(&live);
	events_are_recorded(&live);
	what_finds_no_room_is_counted(&live);
	bad_batches_are_refused(&live);
	dates_are_kept(&live);
	blocks_get_full(&live);
	live_close(&live);
	each_kind_is_fed(BALEEN_KIND_COUNTING, BALEEN_HASH_BLOCKED, "counting, blocked");
	each_kind_is_fed(BALEEN_KIND_COUNTING, BALEEN_HASH_KEYED, "counting, keyed");
	each_kind_is_fed(BALEEN_KIND_COUNTING, BALEEN_HASH_SQUID, "counting, squid");
	return finish_tests();
}
