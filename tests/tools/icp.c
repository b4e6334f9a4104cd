// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Queries to the program that answers for caches, by BPF_PROG_TEST_RUN: what is not in
 * order first, then each length of a URL, each counter, and answers byte by byte.
 *
 *      icp          results as TAP
 *      icp bench    nanoseconds per answer, and per frame for nobody
 *
 * What it compares with is written the slow way, see icp_frames.h.
 */
#include "icp_rig.h"

#define SEED 0x737175696421ull
#define MINUTE_NS 60000000000ull

enum { ANSWER, CONFIRM, OBSERVE, FED };

static const char *const sibling4[N_SIBLINGS] = { "10.9.0.1", "10.9.0.2", "10.9.0.3", "10.9.0.4" };
static const char *const sibling6[N_SIBLINGS] = { "fd09::1", "fd09::2", "fd09::3", "fd09::4" };

static const char held[] = "http://10.9.0.3/obj/1";
static const char absent[] = "http://10.9.0.3/obj/2";
static char long_url[BALEEN_ICP_MAX_URL + 100];

static const char *const names[N_COUNTERS + 1] = {
	[COUNTER(hits)] = "hits",
	[COUNTER(misses)] = "misses",
	[COUNTER(confirmed)] = "confirmed",
	[COUNTER(observed)] = "observed",
	[COUNTER(stale)] = "stale",
	[COUNTER(strangers)] = "strangers",
	[COUNTER(fragments)] = "fragments",
	[COUNTER(too_long)] = "too_long",
	[COUNTER(malformed)] = "malformed",
	[COUNTER(other_opcodes)] = "other_opcodes",
	[COUNTER(with_options)] = "with_options",
	[COUNTER(odd_urls)] = "odd_urls",
	[COUNTER(failed)] = "failed",
	[COUNTER(agreed_hits)] = "agreed_hits",
	[COUNTER(agreed_misses)] = "agreed_misses",
	[COUNTER(false_hits)] = "false_hits",
	[COUNTER(false_misses)] = "false_misses",
	[OTHERS] = "others",
};

static const char *name_of(int counter)
{
	return counter < 0 ? "not one counter" : names[counter] ? names[counter] : "another";
}

/* An empty message from the asker to sibling @n. */
static struct message query_of(bool is_ip6, u32 n, const char *url, u32 n_url)
{
	struct message message = {
		.is_ip6 = is_ip6,
		.sport = 3130,
		.dport = 3130,
		.ttl = 61,
		.tos = 0x10,
		.flow_label = 0xfc1fe,
		.opcode = BALEEN_ICP_QUERY,
		.request = 0x01020304 + n_url,
		.option_data = 0x55,
		.sender = 0x66,
		.requester = 0x0a000001,
		.url = url,
		.n_url = n_url,
	};

	address_of(is_ip6 ? "fd09::99" : "10.9.0.99", message.source);
	address_of(is_ip6 ? sibling6[n] : sibling4[n], message.dest);
	return message;
}

static struct message query(bool is_ip6, u32 n, const char *url)
{
	return query_of(is_ip6, n, url, strlen(url));
}

/* The siblings of IPv6 are those of IPv4 once more. */
static void set_sibling(struct baleen_icp_sibling *sibling, const char *address, u32 which)
{
	u8 bytes[16];

	address_of(address, bytes);
	sibling->address_hi = half_of(bytes);
	sibling->address_lo = half_of(bytes + 8);
	sibling->mode = which == CONFIRM ? BALEEN_ICP_CONFIRM :
			which == OBSERVE ? BALEEN_ICP_OBSERVE :
					   BALEEN_ICP_ANSWER;
	sibling->feeders = which == FED ? 3 : 0;
}

static void rig_open(struct rig *rig, u64 stale_ns, bool frags)
{
	static const struct baleen_table table = { .kind = BALEEN_KIND_CUCKOO,
						   .slot_bits = 64,
						   .n_buckets = 1024 };
	struct baleen_icp_config config = {
		.version = BALEEN_ICP_CONFIG_VERSION,
		.stale_ns = stale_ns,
		.n_siblings = 2 * N_SIBLINGS,
		.n_feeders = 2,
		.port = 3130,
		.frags = frags,
	};

	memset(rig, 0, sizeof(*rig));
	for (u32 i = 0; i < N_SIBLINGS; i++) {
		set_sibling(&config.sibling[i], sibling4[i], i);
		set_sibling(&config.sibling[N_SIBLINGS + i], sibling6[i], i);
	}
	for (u32 i = 0; i < config.n_siblings; i++) {
		filter_make(&table, &rig->filter[i]);
		filter_add_url(&rig->filter[i], held);
		for (u32 n = 0; n <= BALEEN_ICP_MAX_URL; n += 2) {
			struct baleen_key key;

			baleen_squid_key_url(long_url, n, &key);
			filter_add(&rig->filter[i], &key);
		}
	}
	rig_load(rig, &config);
	allow(rig, "10.9.0.99", 128, 0xff);
	allow(rig, "fd09::99", 128, 0xff);
}

static void rig_free(struct rig *rig)
{
	for (u32 i = 0; i < rig->loaded.config.n_siblings; i++)
		baleen_filter_free(&rig->filter[i]);
	rig_close(rig);
}

/* --- one query at a time ---------------------------------------------------- */

/* Is the frame passed as it is, and counted there? */
static bool passes(struct rig *rig, u32 n, const struct frame *in, int counter, const char *what)
{
	struct frame out;
	u32 verdict = run(rig->loaded.answer_fd, in, &out);
	int which = moved(rig, n);

	if (verdict == XDP_PASS && which == counter && out.n == in->n &&
	    !memcmp(out.byte, in->byte, in->n))
		return true;
	printf("# %s: verdict %u, %u bytes of %u, %s instead of %s\n", what, verdict, out.n, in->n,
	       name_of(which), name_of(counter));
	return false;
}

static bool answers(struct rig *rig, u32 n, const struct message *message, int counter)
{
	struct frame in, out, want;
	u32 verdict;
	int which;

	make_frame(message, &in);
	make_answer(message, counter == COUNTER(hits) ? BALEEN_ICP_HIT : BALEEN_ICP_MISS, &want);
	verdict = run(rig->loaded.answer_fd, &in, &out);
	which = moved(rig, n);
	if (verdict == XDP_TX && which == counter && out.n == want.n &&
	    !memcmp(out.byte, want.byte, want.n))
		return true;
	printf("# URL of %u bytes, IPv%d, %u tags: verdict %u, %u bytes of %u, %s instead of %s\n",
	       message->n_url, message->is_ip6 ? 6 : 4, message->n_tags, verdict, out.n, want.n,
	       name_of(which), name_of(counter));
	for (u32 i = 0; i < want.n; i++)
		if (out.byte[i] != want.byte[i])
			printf("#   byte %u is %02x instead of %02x\n", i, out.byte[i],
			       want.byte[i]);
	return false;
}

static u32 slot_of(bool is_ip6, u32 n)
{
	return is_ip6 ? N_SIBLINGS + n : n;
}

/* --- what is not in order ---------------------------------------------------- */

/* Bytes of a query overwritten; places count from the UDP header. */
static const struct edit {
	const char *what;
	int at;
	u32 n_bytes;
	u32 value;
	int counter;
} edits[] = {
	{ "a port of nobody", 2, 2, 3131, OTHERS },
	{ "a UDP length below 8", 4, 2, 7, COUNTER(malformed) },
	{ "a UDP length one short", 4, 2, 8 + 24 + 21, COUNTER(malformed) },
	{ "a UDP length one more", 4, 2, 8 + 24 + 23, COUNTER(malformed) },
	{ "a UDP length of 0", 4, 2, 0, COUNTER(malformed) },
	{ "no opcode", 8, 1, 0, COUNTER(other_opcodes) },
	{ "a hit", 8, 1, BALEEN_ICP_HIT, COUNTER(other_opcodes) },
	{ "an opcode of 255", 8, 1, 255, COUNTER(other_opcodes) },
	{ "version 0", 9, 1, 0, COUNTER(malformed) },
	{ "version 3", 9, 1, 3, COUNTER(malformed) },
	{ "an ICP length one short", 10, 2, 24 + 21, COUNTER(malformed) },
	{ "an ICP length one more", 10, 2, 24 + 23, COUNTER(malformed) },
	{ "an ICP length of 0", 10, 2, 0, COUNTER(malformed) },
	{ "an ICP length of 65535", 10, 2, 65535, COUNTER(malformed) },
	{ "the flag HIT_OBJ", 16, 4, 0x80000000, COUNTER(with_options) },
	{ "the flag SRC_RTT", 16, 4, 0x40000000, COUNTER(with_options) },
	{ "an option that nobody knows", 16, 4, 1, COUNTER(with_options) },
	{ "no zero byte at the end", 8 + 24 + 21, 1, 'x', COUNTER(malformed) },
	{ "a zero byte within", 8 + 24 + 20, 1, 0, COUNTER(malformed) },
	{ "a zero byte in front", 8 + 24, 1, 0, COUNTER(malformed) },
	{ "a space", 8 + 24 + 20, 1, ' ', COUNTER(odd_urls) },
	{ "a control byte", 8 + 24 + 20, 1, 0x1f, COUNTER(odd_urls) },
	{ "a byte of 1", 8 + 24 + 20, 1, 1, COUNTER(odd_urls) },
	{ "another scheme", 8 + 24, 1, 'H', COUNTER(odd_urls) },
};

static const struct edit edits4[] = {
	{ "a length of IP one short", 2, 2, 20 + 8 + 24 + 21, COUNTER(malformed) },
	{ "a length of IP one more than the frame", 2, 2, 20 + 8 + 24 + 23, COUNTER(malformed) },
	{ "a length of IP of 0", 2, 2, 0, COUNTER(malformed) },
	{ "a header of IP below 20", 0, 1, 0x44, OTHERS },
	{ "version 5 of IP", 0, 1, 0x55, OTHERS },
	{ "a first fragment", 6, 2, 0x2000, COUNTER(fragments) },
	{ "a later fragment", 6, 2, 0x2001, OTHERS },
	{ "a last fragment", 6, 2, 0x0001, OTHERS },
	{ "TCP", 9, 1, 6, OTHERS },
	{ "another address", 19, 1, 99, OTHERS },
	{ "another asker", 15, 1, 98, COUNTER(strangers) },
};

static const struct edit edits6[] = {
	{ "a length of IP one short", 4, 2, 8 + 24 + 21, COUNTER(malformed) },
	{ "a length of IP one more than the frame", 4, 2, 8 + 24 + 23, COUNTER(malformed) },
	{ "a length of IP of 0", 4, 2, 0, COUNTER(malformed) },
	{ "version 5 of IP", 0, 1, 0x50, OTHERS },
	{ "TCP", 6, 1, 6, OTHERS },
	{ "no next header", 6, 1, 59, OTHERS },
	{ "another address", 39, 1, 99, OTHERS },
	{ "another asker", 23, 1, 0x98, COUNTER(strangers) },
};

static void test_edits(struct rig *rig, bool is_ip6, const struct edit *edit, u32 n, bool of_ip)
{
	for (u32 n_tags = 0; n_tags < 3; n_tags += 2) {
		bool right = true;

		for (u32 i = 0; i < n; i++) {
			struct message message = query(is_ip6, ANSWER, held);
			struct frame frame;
			u32 at;

			message.n_tags = n_tags;
			make_frame(&message, &frame);
			at = link_bytes(&message) + (of_ip ? 0 : ip_bytes(&message)) + edit[i].at;
			for (u32 byte = 0; byte < edit[i].n_bytes; byte++)
				frame.byte[at + byte] =
					edit[i].value >> 8 * (edit[i].n_bytes - 1 - byte);
			right &= passes(rig, slot_of(is_ip6, ANSWER), &frame, edit[i].counter,
					edit[i].what);
		}
		result(right, "IPv%d, %u tags: %u queries with a wrong %s header", is_ip6 ? 6 : 4,
		       n_tags, n, of_ip ? "IP" : "UDP or ICP");
	}
}

/* Whatever is cut off, and whoever is told: never an answer, and one counter. */
static void test_truncations(struct rig *rig, bool is_ip6)
{
	struct message message = query(is_ip6, ANSWER, held);
	u32 ip = link_bytes(&message), udp = ip + ip_bytes(&message);
	struct frame whole, frame;
	bool right = true;

	make_frame(&message, &whole);
	for (u32 n = 14; n < whole.n; n++) {
		frame = whole;
		frame.n = n;
		right &= passes(rig, slot_of(is_ip6, ANSWER), &frame,
				n < udp + 8 ? (int)OTHERS : (int)COUNTER(malformed), "cut off");
	}
	result(right, "IPv%d: a query that is cut off anywhere", is_ip6 ? 6 : 4);
	for (u32 n = udp + 8; n < whole.n; n++) {
		frame = whole;
		frame.n = n;
		poke(&frame, is_ip6 ? ip + 4 : ip + 2, n - (is_ip6 ? udp : ip));
		poke(&frame, udp + 4, n - udp);
		right &= passes(rig, slot_of(is_ip6, ANSWER), &frame, COUNTER(malformed),
				"cut off, IP and UDP agree");
		poke(&frame, udp + 10, n - udp - 8);
		right &= passes(rig, slot_of(is_ip6, ANSWER), &frame, COUNTER(malformed),
				"cut off, all lengths agree");
	}
	result(right, "IPv%d: the same with lengths that say so", is_ip6 ? 6 : 4);
}

/* URLs to which Squid says more than hit or miss, or may, and others like them. */
static const struct {
	const char *url;
	bool is_odd;
} urls[] = {
	{ "", true },
	{ "/foo", true },
	{ "http:", true },
	{ "http://", true },
	{ "http:///x", true },
	{ "http://:80/", true },
	{ "http://.h/", true },
	{ "http://a..b/", true },
	{ "http://u@h/", true },
	{ "http://h:/", true },
	{ "http://h:0/", true },
	{ "http://h:65536/", true },
	{ "http://h:99999999999/", true },
	{ "http://h:8a/", true },
	{ "http://h:80", false },
	{ "http://h:80/", false },
	{ "http://h:65535?x", false },
	{ "http://h:1#x", false },
	{ "http://i", false },
	{ "http://h/", false },
	{ "http://h?x", false },
	{ "http://H_-1.example./", false },
	{ "http://192.0.2.1/", false },
	{ "http://[::1]/", false },
	{ "http://[fd09::1]:8080/x", false },
	{ "http://[::ffff:192.0.2.1]/", false },
	{ "http://[]/", true },
	{ "http://[::1/", true },
	{ "http://[::1]x/", true },
	{ "http://[g::]/", true },
	{ "http://[::1]", false },
	{ "http://h/\xe4\xff\x7f", false },
	{ "http://h\xe4/", true },
	{ "https://h/", false },
	{ "ftp://h/", false },
	{ "ftp:/h/", true },
	{ "zzz://h/", true },
	{ "urn:ab:c", true },
	{ "http://h/a b", true },
	{ "http://h/\t", true },
	{ "http://h/\x0b", true },
	{ " http://h/", true },
};

static void test_urls(struct rig *rig)
{
	bool right = true;

	for (u32 i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		struct message message = query(false, ANSWER, urls[i].url);
		struct frame frame;

		make_frame(&message, &frame);
		right &= urls[i].is_odd ?
				 passes(rig, ANSWER, &frame, COUNTER(odd_urls), urls[i].url) :
				 answers(rig, ANSWER, &message, COUNTER(misses));
	}
	result(right, "URLs that Squid may answer with an error pass, and no other");
	right = true;
	for (u32 n = 200; n <= 300; n++) {
		char url[400] = "http://";
		struct message message;
		struct frame frame;

		memset(url + 7, 'h', n);
		message = query(false, ANSWER, url);
		make_frame(&message, &frame);
		right &= n > 255 ? passes(rig, ANSWER, &frame, COUNTER(odd_urls), "a long host") :
				   answers(rig, ANSWER, &message, COUNTER(misses));
	}
	result(right, "hosts of up to 255 letters are answered for");
}

static void test_options(struct rig *rig)
{
	struct message message = query(false, ANSWER, held);
	struct frame plain, frame = { .n = 0 };

	make_frame(&message, &plain);
	put_bytes(&frame, plain.byte, 34);
	put(&frame, 0x01010101, 4);
	put_bytes(&frame, plain.byte + 34, plain.n - 34);
	frame.byte[14] = 0x46;
	poke(&frame, 16, frame.n - 14);
	result(passes(rig, ANSWER, &frame, COUNTER(fragments), "options"), "IPv4 options");
	message = query(true, ANSWER, held);
	make_frame(&message, &plain);
	for (u32 next = 0; next < 2; next++) {
		frame.n = 0;
		put_bytes(&frame, plain.byte, 54);
		put(&frame, next ? 0x1100000012345678ull : 0x1100010400000000ull, 8);
		put_bytes(&frame, plain.byte + 54, plain.n - 54);
		frame.byte[20] = next ? 44 : 60;
		poke(&frame, 18, frame.n - 54);
		result(passes(rig, slot_of(true, ANSWER), &frame, COUNTER(fragments), "extension"),
		       "an IPv6 %s header", next ? "fragment" : "options");
	}
	message = query(false, ANSWER, held);
	make_frame(&message, &frame);
	frame.byte[0] = 0x33;
	result(passes(rig, ANSWER, &frame, COUNTER(failed), "group"),
	       "a frame to a group's MAC address is not answered from there");
	make_frame(&message, &plain);
	frame.n = 0;
	put_bytes(&frame, plain.byte, 12);
	put(&frame, 0x88641100, 4);
	put(&frame, 0x0001, 2);
	put(&frame, plain.n - 12, 2);
	put(&frame, 0x0021, 2);
	put_bytes(&frame, plain.byte + 14, plain.n - 14);
	result(passes(rig, ANSWER, &frame, COUNTER(failed), "PPPoE"), "a query in PPPoE");
}

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
	struct rig rig;
	u64 now;

	rig_open(&rig, MINUTE_NS, false);
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

static void bench_one(const struct rig *rig, const char *what, const struct message *message)
{
	struct frame frame;

	make_frame(message, &frame);
	printf("%-40s %5u ns\n", what, time_of(rig->loaded.answer_fd, &frame));
}

/* The frame of an answer is no query any more, so each is timed in a mode that leaves it as
 * it is, and the last steps by themselves: see the difference of answer and confirm.
 */
static void bench(void)
{
	struct message message;
	struct rig rig;

	rig_open(&rig, 0, false);
	message = query(false, ANSWER, held);
	message.dport = 53;
	bench_one(&rig, "for nobody, another port", &message);
	message = query(false, ANSWER, held);
	message.dest[15] = 99;
	bench_one(&rig, "for nobody, another address", &message);
	message = query(false, OBSERVE, held);
	bench_one(&rig, "observed, URL of 21 bytes", &message);
	for (u32 n = 30; n <= 1462; n = n == 30 ? 430 : 1462) {
		char what[64];

		message = query_of(false, CONFIRM, long_url, n);
		snprintf(what, sizeof(what), "confirmed, URL of %u bytes", n);
		bench_one(&rig, what, &message);
		if (n == 1462)
			break;
	}
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
	rig_open(&rig, 0, false);
	for (int is_ip6 = 0; is_ip6 < 2; is_ip6++) {
		test_edits(&rig, is_ip6, edits, sizeof(edits) / sizeof(edits[0]), false);
		test_edits(&rig, is_ip6, is_ip6 ? edits6 : edits4,
			   is_ip6 ? sizeof(edits6) / sizeof(edits6[0]) :
				    sizeof(edits4) / sizeof(edits4[0]),
			   true);
		test_truncations(&rig, is_ip6);
		test_lengths(&rig, is_ip6);
		test_modes(&rig, is_ip6);
	}
	test_urls(&rig);
	test_options(&rig);
	test_checksums(&rig);
	test_padding(&rig);
	test_askers(&rig);
	rig_free(&rig);
	test_gate();
	printf("1..%u\n", tap_n);
	return !!tap_failed;
}
