/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries that are not answered: each passes as it is, and counts once.
 */
#ifndef BALEEN_TESTS_ICP_WRONG_H
#define BALEEN_TESTS_ICP_WRONG_H

#include "icp_siblings.h"

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

static inline void test_edits(struct rig *rig, bool is_ip6, const struct edit *edit, u32 n,
			      bool of_ip)
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
static inline void test_truncations(struct rig *rig, bool is_ip6)
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

static inline void test_urls(struct rig *rig)
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

static inline void test_options(struct rig *rig)
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

#endif /* BALEEN_TESTS_ICP_WRONG_H */
