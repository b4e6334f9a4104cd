// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Queries to the program that answers for caches, by BPF_PROG_TEST_RUN: what is not in
 * order first, then each length of a URL, each counter, and answers byte by byte.
 *
 *      icp          results as TAP
 *      icp bench    nanoseconds per answer, and per frame for nobody
 *
 * What it compares with is written the slow way, see icp_frames.h. What is not answered is in
 * icp_wrong.h.
 */
#include "icp_wrong.h"

/* --- what is in order -------------------------------------------------------- */

static void test_lengths(struct rig *rig, bool is_ip6)
{
	bool right = true;

	for (u32 n = 0; n <= BALEEN_ICP_MAX_URL + 20; n++) {
		struct message message = query_of(is_ip6, ANSWER, long_url, n);
		u32 slot = slot_of(is_ip6, ANSWER);
		struct frame frame;

		message.n_tags = n % 5;
		message.sport = 1024 + n;
		make_frame(&message, &frame);
		if (n < 8 || n > BALEEN_ICP_MAX_URL)
			right &= passes(rig, slot, &frame,
					n < 8 ? (int)COUNTER(odd_urls) : (int)COUNTER(too_long),
					"a length");
		else
			right &= answers(rig, slot, &message,
					 n % 2 ? COUNTER(misses) : COUNTER(hits));
	}
	result(right, "IPv%d: URLs of 0 to %d bytes, behind 0 to 4 tags", is_ip6 ? 6 : 4,
	       BALEEN_ICP_MAX_URL + 20);
}

/* Every sum there is, so that 0 is written 0xffff. */
static void test_checksums(struct rig *rig)
{
	bool right = true;
	u32 n_zero = 0;
	struct frame frame;

	for (u32 request = 0; request < 65536; request++) {
		struct message message = query(true, ANSWER, absent);

		message.request = request;
		right &= answers(rig, slot_of(true, ANSWER), &message, COUNTER(misses));
		make_answer(&message, BALEEN_ICP_MISS, &frame);
		n_zero += frame.byte[60] == 0xff && frame.byte[61] == 0xff;
	}
	result(right && n_zero, "65,536 request numbers, %u of them with a checksum of 0", n_zero);
}

static void test_padding(struct rig *rig)
{
	struct message message = query(false, ANSWER, held);
	struct frame in, out, want;
	u32 verdict;

	make_frame(&message, &in);
	make_answer(&message, BALEEN_ICP_HIT, &want);
	memset(in.byte + in.n, 0xee, 9);
	in.n += 9;
	verdict = run(rig->loaded.answer_fd, &in, &out);
	result(verdict == XDP_TX && moved(rig, ANSWER) == COUNTER(hits) && out.n == want.n + 9 &&
		       !memcmp(out.byte, want.byte, want.n),
	       "what stands behind the packet stays there");
}

static void test_modes(struct rig *rig, bool is_ip6)
{
	struct message hit = query(is_ip6, CONFIRM, held), miss = query(is_ip6, CONFIRM, absent);
	u32 slot = slot_of(is_ip6, CONFIRM);
	struct frame frame;

	make_frame(&hit, &frame);
	result(passes(rig, slot, &frame, COUNTER(confirmed), "confirm") &&
		       answers(rig, slot, &miss, COUNTER(misses)),
	       "IPv%d: mode confirm answers misses and no hits", is_ip6 ? 6 : 4);
	slot = slot_of(is_ip6, OBSERVE);
	hit = query(is_ip6, OBSERVE, held);
	make_frame(&hit, &frame);
	result(passes(rig, slot, &frame, COUNTER(observed), "observe"),
	       "IPv%d: mode observe answers nothing", is_ip6 ? 6 : 4);
}

static void test_askers(struct rig *rig)
{
	static const struct {
		bool is_ip6;
		const char *prefix;
		u32 length, siblings;
		const char *asker;
		u32 sibling;
		bool may;
	} cases[] = {
		{ false, "192.0.2.0", 96 + 24, 1, "192.0.2.255", 0, true },
		{ false, "192.0.2.0", 96 + 24, 1, "192.0.3.0", 0, false },
		{ false, "192.0.2.0", 96 + 24, 8, "192.0.2.255", 0, false },
		{ false, "192.0.2.0", 96 + 24, 9, "192.0.2.255", 0, true },
		{ false, "192.0.2.7", 128, 2, "192.0.2.7", 0, false },
		{ false, "192.0.2.7", 128, 2, "192.0.2.6", 0, true },
		{ true, "fd09:1::", 32, 0x10, "fd09:1:ffff::1", 0, true },
		{ true, "fd09:1::", 32, 0x10, "fd09:2::1", 0, false },
		{ true, "::", 0, 0x10, "fd09:2::1", 0, true },
		{ true, "0.0.0.0", 96, 0, "fd09:2::1", 0, true },
	};

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct message message = query(cases[i].is_ip6, cases[i].sibling, held);
		u32 slot = slot_of(cases[i].is_ip6, cases[i].sibling);
		struct frame frame;

		allow(rig, cases[i].prefix, cases[i].length, cases[i].siblings);
		address_of(cases[i].asker, message.source);
		make_frame(&message, &frame);
		result(cases[i].may ? answers(rig, slot, &message, COUNTER(hits)) :
				      passes(rig, slot, &frame, COUNTER(strangers), "an asker"),
		       "%s/%u for %x: %s %s", cases[i].prefix, cases[i].length, cases[i].siblings,
		       cases[i].asker, cases[i].may ? "is answered" : "is a stranger");
	}
}

/* --- the sibling's own answers ------------------------------------------------ */

/* An answer goes out: what counts? */
static bool sees(struct rig *rig, const struct frame *in, u32 n, int counter, const char *what)
{
	struct frame out;
	int verdict = run(rig->loaded.egress_fd, in, &out), which;
	bool is_same = out.n == in->n && !memcmp(out.byte, in->byte, in->n);
	struct baleen_icp_stats after;

	if (counter < 0) {
		read_stats(rig, &after);
		which = memcmp(&after, &rig->before, sizeof(after)) ? (int)OTHERS : -1;
		rig->before = after;
	} else {
		which = moved(rig, n);
	}
	if (verdict == -1 && is_same && which == counter)
		return true;
	printf("# %s: verdict %d, %s instead of %s\n", what, verdict, name_of(which),
	       name_of(counter));
	return false;
}

static void test_observed(struct rig *rig, bool is_ip6)
{
	static const struct {
		u8 opcode;
		bool is_held;
		int counter;
	} cases[] = {
		{ BALEEN_ICP_HIT, true, COUNTER(agreed_hits) },
		{ BALEEN_ICP_HIT, false, COUNTER(false_misses) },
		{ BALEEN_ICP_MISS, true, COUNTER(false_hits) },
		{ BALEEN_ICP_MISS, false, COUNTER(agreed_misses) },
		{ BALEEN_ICP_MISS_NOFETCH, true, COUNTER(false_hits) },
		{ BALEEN_ICP_MISS_NOFETCH, false, COUNTER(agreed_misses) },
		{ BALEEN_ICP_DENIED, true, -1 },
		{ BALEEN_ICP_ERR, true, -1 },
	};
	struct message message;
	struct frame frame, cut;
	bool right = true;

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		message = query(is_ip6, OBSERVE, cases[i].is_held ? held : absent);
		message.n_tags = i % 3;
		make_answer(&message, cases[i].opcode, &frame);
		right &= sees(rig, &frame, slot_of(is_ip6, OBSERVE), cases[i].counter, "answer");
	}
	result(right, "IPv%d: the answers of a sibling are compared", is_ip6 ? 6 : 4);
	right = true;
	for (u32 n = 8; n <= BALEEN_ICP_MAX_URL + 1; n++) {
		message = query_of(is_ip6, OBSERVE, long_url, n);
		make_answer(&message, BALEEN_ICP_HIT, &frame);
		right &= sees(rig, &frame, slot_of(is_ip6, OBSERVE),
			      n > BALEEN_ICP_MAX_URL ? -1 :
			      n % 2		     ? (int)COUNTER(false_misses) :
						       (int)COUNTER(agreed_hits),
			      "a length");
	}
	result(right, "IPv%d: of any length", is_ip6 ? 6 : 4);
	message = query(is_ip6, OBSERVE, held);
	make_answer(&message, BALEEN_ICP_HIT, &frame);
	right = true;
	for (cut = frame; cut.n > link_bytes(&message) + ip_bytes(&message);) {
		cut.n--;
		right &= sees(rig, &cut, 0, -1, "cut off");
	}
	cut = frame;
	cut.byte[link_bytes(&message) + ip_bytes(&message) + 1]++;
	right &= sees(rig, &cut, 0, -1, "another port");
	message = query(is_ip6, ANSWER, held);
	make_answer(&message, BALEEN_ICP_HIT, &frame);
	right &= sees(rig, &frame, 0, -1, "a sibling that is not observed");
	result(right, "IPv%d: nothing else is counted, and nothing changed", is_ip6 ? 6 : 4);
}

/* --- the gate ----------------------------------------------------------------- */

static bool is_answered(struct rig *rig, u32 n)
{
	struct message message = query(false, n, held);
	struct frame frame;

	make_frame(&message, &frame);
	if (n == FED || n == ANSWER) {
		struct frame out;
		u32 verdict = run(rig->loaded.answer_fd, &frame, &out);
		int which = moved(rig, n);

		if (verdict == XDP_TX && which == COUNTER(hits))
			return true;
		if (verdict != XDP_PASS || which != COUNTER(stale))
			printf("# verdict %u, %s\n", verdict, name_of(which));
	}
	return false;
}

static void test_gate(void)
{
	struct message message;
	struct frame frame;
	struct rig rig;
	u64 now;

	rig_open(&rig, (struct gates){ .stale_ns = MINUTE_NS });
	now = now_ns();
	result(!is_answered(&rig, ANSWER) && !is_answered(&rig, FED),
	       "a sibling that was never heard of is not answered for");
	rig.state->synced_ns[ANSWER] = now - MINUTE_NS - 1000000000;
	result(!is_answered(&rig, ANSWER), "nor one that was seeded too long ago");
	rig.state->synced_ns[ANSWER] = now - MINUTE_NS / 2;
	result(is_answered(&rig, ANSWER), "but one that was seeded lately");
	rig.state->synced_ns[ANSWER] = now + 1000000000;
	result(is_answered(&rig, ANSWER), "also by a clock that is a tick ahead");
	result(!is_answered(&rig, FED), "which says nothing of another");
	rig.state->heard[0].at_ns = now;
	result(!is_answered(&rig, FED), "one of two feeders is not enough");
	rig.state->heard[1].at_ns = now;
	result(is_answered(&rig, FED), "both are");
	rig.state->heard[0].at_ns = now - 2 * MINUTE_NS;
	result(!is_answered(&rig, FED), "until one is silent for too long");
	rig.state->synced_ns[FED] = now;
	result(is_answered(&rig, FED), "and a seed will do");
	message = query(false, OBSERVE, held);
	make_answer(&message, BALEEN_ICP_HIT, &frame);
	result(sees(&rig, &frame, 0, -1, "stale"), "a stale sibling is not compared with");
	rig.state->synced_ns[OBSERVE] = now;
	result(sees(&rig, &frame, OBSERVE, COUNTER(agreed_hits), "fresh"), "a fresh one is");
	rig_free(&rig);
}

/* --- the gate of hits ------------------------------------------------------------ */

/* The sibling itself answers: does it count there? */
static bool says(struct rig *rig, u8 opcode, const char *url, int counter)
{
	struct message message = query(false, ANSWER, url);
	struct frame frame;

	make_answer(&message, opcode, &frame);
	return sees(rig, &frame, ANSWER, counter, url);
}

/* A query for what it holds: is it left to the sibling? */
static bool is_left(struct rig *rig)
{
	struct message message = query(false, ANSWER, held);
	struct frame frame;

	make_frame(&message, &frame);
	return passes(rig, ANSWER, &frame, COUNTER(confirmed), held);
}

static void test_hits(void)
{
	struct message hit, miss;
	struct rig rig;

	rig_open(&rig, (struct gates){ .confirm_ns = MINUTE_NS });
	hit = query(false, ANSWER, held);
	miss = query(false, ANSWER, absent);
	result(is_left(&rig), "hits of a sibling that never said one pass");
	result(answers(&rig, ANSWER, &miss, COUNTER(misses)), "misses do not");
	result(says(&rig, BALEEN_ICP_MISS, absent, COUNTER(agreed_misses)) && is_left(&rig),
	       "a miss of its own, which XDP in front of it may have sent, changes nothing");
	result(says(&rig, BALEEN_ICP_HIT, absent, COUNTER(false_misses)) && is_left(&rig),
	       "nor a hit that is none of the filter");
	result(says(&rig, BALEEN_ICP_DENIED, held, -1) && is_left(&rig), "nor that it denies");
	result(says(&rig, BALEEN_ICP_HIT, held, COUNTER(agreed_hits)) &&
		       answers(&rig, ANSWER, &hit, COUNTER(hits)),
	       "a hit of its own does: hits are answered");
	result(!rig.state->confirmed_ns[FED] && !rig.state->confirmed_ns[N_SIBLINGS + ANSWER],
	       "of that sibling alone");
	rig.state->confirmed_ns[ANSWER] = now_ns() - MINUTE_NS / 2;
	result(answers(&rig, ANSWER, &hit, COUNTER(hits)), "for as long as was said");
	rig.state->confirmed_ns[ANSWER] = now_ns() - MINUTE_NS - 1000000000;
	result(is_left(&rig) && answers(&rig, ANSWER, &miss, COUNTER(misses)), "and no longer");
	rig.state->confirmed_ns[ANSWER] = now_ns();
	result(says(&rig, BALEEN_ICP_MISS, held, COUNTER(false_hits)) && is_left(&rig),
	       "until it says miss where the filter says hit");
	result(says(&rig, BALEEN_ICP_HIT, held, COUNTER(agreed_hits)) &&
		       answers(&rig, ANSWER, &hit, COUNTER(hits)),
	       "and again when it says hit");
	rig_free(&rig);
}

/* --- times ----------------------------------------------------------------------- */

/* Slot @slot of the block where the time of @held is. */
static void put_time(const struct rig *rig, u32 n, u32 slot, u32 tag_less, u64 until_s)
{
	struct baleen_icp_times times = { 0 };
	struct baleen_key key;
	u32 at;

	baleen_squid_key_url(held, strlen(held), &key);
	at = baleen_icp_times_at(n, key.lo, rig->loaded.config.n_times);
	times.slot_le[slot] = (u64)((u32)key.hi - tag_less) << 32 | until_s;
	if (bpf_map_update_elem(rig->loaded.times_fd, &at, &times, BPF_ANY))
		err(1, "cannot set a time");
}

static bool is_expired(struct rig *rig)
{
	struct message message = query(false, ANSWER, held);
	struct frame frame;

	make_frame(&message, &frame);
	return passes(rig, ANSWER, &frame, COUNTER(expired), held);
}

static void test_times(void)
{
	struct message hit = query(false, ANSWER, held), miss = query(false, ANSWER, absent);
	u64 now_s = now_ns() / 1000000000;
	struct frame frame;
	bool right = true;
	struct rig rig;

	rig_open(&rig, (struct gates){ .has_times = true });
	result(is_expired(&rig), "a hit of which nobody knows until when it is fresh passes");
	result(answers(&rig, ANSWER, &miss, COUNTER(misses)), "a miss does not");
	for (u32 slot = 0; slot < BALEEN_ICP_TIMES; slot++) {
		put_time(&rig, ANSWER, slot, 0, now_s + 3600);
		right &= answers(&rig, ANSWER, &hit, COUNTER(hits));
		put_time(&rig, ANSWER, slot, 1, now_s + 3600);
		right &= is_expired(&rig);
	}
	result(right, "one that is fresh is answered, another of its block is not");
	put_time(&rig, ANSWER, 0, 0, now_s - 1);
	result(is_expired(&rig), "one that is stale passes");
	put_time(&rig, ANSWER, 0, 0, now_s + BALEEN_SQUID_MARGIN_S - 1);
	result(is_expired(&rig), "and one that is about to be");
	put_time(&rig, ANSWER, 0, 0, 0);
	put_time(&rig, CONFIRM, 0, 0, now_s + 3600);
	result(is_expired(&rig), "and one that another sibling has fresh");
	hit = query(false, OBSERVE, held);
	make_answer(&hit, BALEEN_ICP_MISS, &frame);
	put_time(&rig, OBSERVE, 0, 0, now_s - 1);
	result(sees(&rig, &frame, OBSERVE, -1, "stale"),
	       "what the sibling says of one that is stale is not compared");
	put_time(&rig, OBSERVE, 0, 0, now_s + 3600);
	result(sees(&rig, &frame, OBSERVE, COUNTER(false_hits), "fresh"), "of a fresh one it is");
	rig_free(&rig);
}

/* --- nanoseconds -------------------------------------------------------------- */

static u32 time_of(int fd, const struct frame *in)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = in->byte, .data_size_in = in->n,
		    .repeat = 1000000);

	if (bpf_prog_test_run_opts(fd, &options))
		err(1, "BPF_PROG_TEST_RUN");
	return options.duration;
}

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* The median of single runs, each with two readings of the clock. */
static u32 median_of(int fd, const struct frame *in)
{
	static u32 ns[10001];
	struct frame out;

	for (u32 i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = in->byte, .data_size_in = in->n,
			    .data_out = out.byte, .data_size_out = sizeof(out.byte), .repeat = 1);

		if (bpf_prog_test_run_opts(fd, &options))
			err(1, "BPF_PROG_TEST_RUN");
		ns[i] = options.duration;
	}
	qsort(ns, sizeof(ns) / sizeof(ns[0]), sizeof(ns[0]), compare);
	return ns[sizeof(ns) / sizeof(ns[0]) / 2];
}

static void bench_one(const struct rig *rig, const char *what, const struct message *message)
{
	struct frame frame;

	make_frame(message, &frame);
	printf("%-42s %5u ns\n", what, time_of(rig->loaded.answer_fd, &frame));
}

/* An answered frame is no query any more, so it cannot be answered twice: what writing the
 * answer takes is the difference of single runs in the modes answer and confirm.
 */
static void bench_url(const struct rig *rig, u32 n_url)
{
	struct message answer = query_of(false, ANSWER, long_url, n_url);
	struct message confirm = query_of(false, CONFIRM, long_url, n_url);
	struct frame answered, confirmed;
	u32 ns, entry;

	make_frame(&answer, &answered);
	make_frame(&confirm, &confirmed);
	ns = time_of(rig->loaded.answer_fd, &confirmed);
	entry = median_of(rig->loaded.answer_fd, &confirmed);
	printf("URL of %4u bytes: asked the filter %13u ns\n", n_url, ns);
	printf("URL of %4u bytes: answered %21d ns\n", n_url,
	       (int)(ns + median_of(rig->loaded.answer_fd, &answered) - entry));
}

static void bench(void)
{
	struct message message;
	struct rig rig;

	rig_open(&rig, (struct gates){ 0 });
	message = query(false, ANSWER, held);
	message.dport = 53;
	bench_one(&rig, "for nobody, another port", &message);
	message = query(false, ANSWER, held);
	message.dest[15] = 99;
	bench_one(&rig, "for nobody, another address", &message);
	message = query(false, OBSERVE, held);
	bench_one(&rig, "observed", &message);
	bench_url(&rig, 30);
	bench_url(&rig, 430);
	bench_url(&rig, BALEEN_ICP_MAX_URL);
	rig_free(&rig);
}

int main(int argc, char **argv)
{
	struct rig rig;

	snprintf(long_url, sizeof(long_url), "http://h");
	for (u32 i = 8; i < sizeof(long_url) - 1; i++)
		long_url[i] = i == 8 ? '/' : 'a' + i % 26;
	if (argc == 2 && !strcmp(argv[1], "bench")) {
		bench();
		return 0;
	}
	if (argc > 1)
		errx(2, "usage: icp [bench]");
	printf("# seed 0x%llx\n", SEED);
	rig_open(&rig, (struct gates){ 0 });
	for (int is_ip6 = 0; is_ip6 < 2; is_ip6++) {
		test_edits(&rig, is_ip6, edits, sizeof(edits) / sizeof(edits[0]), false);
		test_edits(&rig, is_ip6, is_ip6 ? edits6 : edits4,
			   is_ip6 ? sizeof(edits6) / sizeof(edits6[0]) :
				    sizeof(edits4) / sizeof(edits4[0]),
			   true);
		test_truncations(&rig, is_ip6);
		test_lengths(&rig, is_ip6);
		test_modes(&rig, is_ip6);
		test_observed(&rig, is_ip6);
	}
	test_urls(&rig);
	test_options(&rig);
	test_checksums(&rig);
	test_padding(&rig);
	test_askers(&rig);
	rig_free(&rig);
	rig_open(&rig, (struct gates){ .frags = true });
	printf("# the program for frames of several buffers\n");
	test_lengths(&rig, false);
	test_lengths(&rig, true);
	rig_free(&rig);
	test_gate();
	test_hits();
	test_times();
	printf("1..%u\n", tap_n);
	return !!tap_failed;
}
