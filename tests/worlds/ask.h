/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same keys asked in every world: userspace, a BPF program over the live
 * map, and frames through the real XDP program.
 */
#ifndef BALEEN_TESTS_ASK_H
#define BALEEN_TESTS_ASK_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <baleen/packet.h>

#include "filter/filter.h"
#include "filter/plan.h"
#include "key/squid_key.h"
#include "xdp/load.h"

#include "probe.skel.h"

#define BATCH 65536
#define MAX_FRAMES 100000
#define NO_ANSWER 77
#define FRAME_BYTES (BALEEN_ETHER_BYTES + BALEEN_IP6_BYTES + BALEEN_PORTS_BYTES)

static u32 tap_n, tap_failed;

static inline void result(bool right, const char *world, const char *what)
{
	printf("%sok %u - %s: %s\n", right ? "" : "not ", ++tap_n, world, what);
	tap_failed += !right;
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static inline u64 next_random(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/**
 * struct question - one key
 * @fields: what a frame with this key is made of
 * @is_listed: it is in the set
 */
struct question {
	struct baleen_fields fields;
	bool is_listed;
};

/**
 * struct questions - the keys to ask for
 * @name: of the world
 * @n: how many
 * @at: makes question @i
 * @data: for @at
 */
struct questions {
	u32 n;
	void (*at)(const void *data, u32 i, struct question *question);
	const void *data;
};

struct tally {
	u64 asked;
	u64 listed;
	u64 missed; /* listed, and userspace says no */
	u64 false_hits;
	u64 differ; /* BPF says something else than userspace */
	u64 frames;
	u64 misjudged; /* the verdict is not what userspace says */
};

/* --- the BPF program ------------------------------------------------------ */

struct prober {
	struct probe_bpf *skeleton;
	struct baleen_key *keys;
	u64 *answers;
};

static inline void *map_memory(struct bpf_map *map, size_t n_bytes)
{
	void *memory = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (memory == MAP_FAILED)
		err(1, "mmap %s", bpf_map__name(map));
	return memory;
}

static inline void prober_open(struct prober *prober, const struct baleen_image *image,
			       int filter_fd)
{
	struct probe_bpf *skeleton = probe_bpf__open();

	if (!skeleton)
		err(1, "cannot open the probe");
	memcpy((void *)&skeleton->rodata->image, image, sizeof(*image));
	if (bpf_map__reuse_fd(skeleton->maps.filter, filter_fd) || probe_bpf__load(skeleton))
		err(1, "cannot load the probe");
	prober->skeleton = skeleton;
	prober->keys = map_memory(skeleton->maps.keys, BATCH * sizeof(*prober->keys));
	prober->answers = map_memory(skeleton->maps.answers, BATCH * sizeof(*prober->answers));
}

static inline void prober_close(struct prober *prober)
{
	munmap(prober->keys, BATCH * sizeof(*prober->keys));
	munmap(prober->answers, BATCH * sizeof(*prober->answers));
	probe_bpf__destroy(prober->skeleton);
}

static inline void prober_run(struct prober *prober)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	for (u32 i = 0; i < BATCH; i++)
		prober->answers[i] = NO_ANSWER;
	if (bpf_prog_test_run_opts(bpf_program__fd(prober->skeleton->progs.probe), &run))
		err(1, "cannot run the probe");
	if (run.retval != BATCH)
		errx(1, "the probe made %u rounds of %u", run.retval, BATCH);
}

/* Of what is no packet the fields make a URL, for Squid's own hash. */
static inline struct baleen_key question_key(u32 key_spec, const struct baleen_fields *fields)
{
	struct baleen_key key;
	char url[80];

	if (key_spec != BALEEN_KEY_SQUID)
		return baleen_key_fields(key_spec, fields);
	baleen_squid_key_url(url,
			     snprintf(url, sizeof(url), "http://%llx.example/%llx",
				      (unsigned long long)fields->src_hi,
				      (unsigned long long)fields->src_lo),
			     &key);
	return key;
}

static inline void ask_keys(struct prober *prober, const struct baleen_filter *filter,
			    const struct questions *questions, struct tally *tally)
{
	static bool is_listed[BATCH];

	for (u32 first = 0; first < questions->n; first += BATCH) {
		for (u32 i = 0; i < BATCH; i++) {
			struct question question;

			questions->at(questions->data, first + i, &question);
			is_listed[i] = question.is_listed;
			prober->keys[i] = question_key(filter->image.key_spec, &question.fields);
		}
		prober_run(prober);
		for (u32 i = 0; i < BATCH && first + i < questions->n; i++) {
			u64 answer = baleen_filter_test(filter, &prober->keys[i]);

			tally->asked++;
			tally->listed += is_listed[i];
			tally->missed += is_listed[i] && !answer;
			tally->false_hits += !is_listed[i] && answer;
			tally->differ += prober->answers[i] != answer;
		}
	}
}

/* --- the XDP program ------------------------------------------------------ */

static inline void write_be(u8 *out, u64 x, u32 n_bytes)
{
	while (n_bytes--) {
		out[n_bytes] = x;
		x >>= 8;
	}
}

/* What the fields do not say is zero. */
static inline void make_frame(const struct baleen_fields *fields, u8 *frame)
{
	u8 *ip = frame + BALEEN_ETHER_BYTES, *ports;

	memset(frame, 0, FRAME_BYTES);
	if (fields->is_ip6) {
		write_be(frame + 12, BALEEN_ETHERTYPE_IP6, 2);
		ip[0] = 0x60;
		ip[6] = fields->proto;
		write_be(ip + 8, fields->src_hi, 8);
		write_be(ip + 16, fields->src_lo, 8);
		write_be(ip + 24, fields->dst_hi, 8);
		write_be(ip + 32, fields->dst_lo, 8);
		ports = ip + BALEEN_IP6_BYTES;
	} else {
		write_be(frame + 12, BALEEN_ETHERTYPE_IP4, 2);
		ip[0] = 0x45;
		ip[9] = fields->proto;
		write_be(ip + 12, fields->src_lo, 4);
		write_be(ip + 16, fields->dst_lo, 4);
		ports = ip + BALEEN_IP4_BYTES;
	}
	write_be(ports, fields->sport, 2);
	write_be(ports + 2, fields->dport, 2);
}

static inline void send_frames(int program_fd, const struct baleen_filter *filter,
			       const struct questions *questions, struct tally *tally)
{
	/* Odd, so that listed and unlisted keys take turns. */
	u32 step = questions->n / MAX_FRAMES | 7;

	for (u32 i = 0; i < questions->n; i += step) {
		u8 frame[FRAME_BYTES];
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = FRAME_BYTES);
		struct question question;
		struct baleen_key key;
		bool is_drop;

		questions->at(questions->data, i, &question);
		key = baleen_key_fields(filter->image.key_spec, &question.fields);
		make_frame(&question.fields, frame);
		if (bpf_prog_test_run_opts(program_fd, &run))
			err(1, "cannot run the XDP program");
		is_drop = baleen_filter_test(filter, &key);
		tally->frames++;
		tally->misjudged += run.retval != (is_drop ? XDP_DROP : XDP_PASS);
	}
}

static inline void load_xdp(const struct baleen_image *image, int filter_fd,
			    struct baleen_loaded *loaded)
{
	struct baleen_config config = { .version = BALEEN_CONFIG_VERSION, .n_rules = 1 };
	struct baleen_error error;

	baleen_rule_set(&config.rule[0], BALEEN_ACTION_DROP, image->name, NULL, image);
	baleen_loaded_init(loaded);
	loaded->rule_fd[0] = filter_fd;
	if (baleen_load_program(&config, loaded, &error))
		errx(1, "%s", error.text);
}

/* --- results -------------------------------------------------------------- */

static inline void report(const char *name, double fpp, const struct tally *tally)
{
	printf("# %s: %llu keys, %llu of them listed, %llu missed, %llu false hits, %llu differ; "
	       "%llu frames, %llu misjudged\n",
	       name, (unsigned long long)tally->asked, (unsigned long long)tally->listed,
	       (unsigned long long)tally->missed, (unsigned long long)tally->false_hits,
	       (unsigned long long)tally->differ, (unsigned long long)tally->frames,
	       (unsigned long long)tally->misjudged);
	result(tally->listed > tally->asked / 16 &&
		       tally->asked - tally->listed > tally->asked / 16,
	       name, "listed and unlisted keys are asked");
	result(!tally->missed, name, "every listed key is found");
	/* 64-bit slots err once in 2^64 / n: with these seeds, not at all. */
	if (fpp < 1e-12)
		result(!tally->false_hits, name, "and no other");
	result(!tally->differ, name, "BPF answers as userspace does");
}

/* Asks all @questions of a sealed filter; @fpp is what it may err. */
static inline void ask(const char *name, const struct baleen_filter *filter,
		       const struct questions *questions, u32 n_questions, double fpp)
{
	bool has_frames = baleen_spec_has_fields(filter->image.key_spec);
	struct tally tally = { 0 };
	struct baleen_loaded loaded;
	struct baleen_error error;
	struct prober prober;
	int filter_fd;

	if (baleen_load_copy("worlds", filter, &filter_fd, &error))
		errx(1, "%s", error.text);
	prober_open(&prober, &filter->image, filter_fd);
	if (has_frames)
		load_xdp(&filter->image, filter_fd, &loaded);
	for (u32 i = 0; i < n_questions; i++) {
		ask_keys(&prober, filter, &questions[i], &tally);
		if (has_frames)
			send_frames(loaded.program_fd, filter, &questions[i], &tally);
	}
	report(name, fpp, &tally);
	if (has_frames) {
		result(!tally.misjudged, name, "frames get the verdict userspace gives");
		baleen_loaded_close(&loaded);
	} else {
		close(filter_fd);
	}
	prober_close(&prober);
}

#endif /* BALEEN_TESTS_ASK_H */
