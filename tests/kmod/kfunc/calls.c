// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which calls of bpf_baleen_test() the verifier takes, and what they answer.
 *
 *	calls FILTER LISTED UNLISTED
 *
 * FILTER is the name of a filter of the module that holds the addresses of the file
 * LISTED and none of UNLISTED.
 */
#include <errno.h>
#include <stddef.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "calls.h"
#include "calls.skel.h"
#include "device.h"

static const char *filter;

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

/* --- programs ----------------------------------------------------------------- */

/* With one of its programs loaded, or NULL; @log is what the verifier says. */
static struct calls_bpf *load_only(const char *name, char *log, size_t log_bytes)
{
	struct calls_bpf *skeleton = calls_bpf__open();
	struct bpf_program *program;

	if (!skeleton)
		err(2, "calls.bpf.c");
	bpf_object__for_each_program(program, skeleton->obj)
	{
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
		if (log)
			bpf_program__set_log_buf(program, log, log_bytes);
	}
	if (!calls_bpf__load(skeleton))
		return skeleton;
	calls_bpf__destroy(skeleton);
	return NULL;
}

static struct calls_bpf *load_or_die(const char *name)
{
	struct calls_bpf *skeleton = load_only(name, NULL, 0);

	if (!skeleton)
		errx(2, "%s does not load", name);
	return skeleton;
}

static int program_of(const struct calls_bpf *skeleton, const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(skeleton->obj, name));
}

/* What the program returns for a frame of CALL_FRAME_BYTES. */
static int run(int program_fd, const __u8 *frame)
{
	static const __u8 zeros[CALL_FRAME_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame ? frame : zeros,
		    .data_size_in = CALL_FRAME_BYTES, .repeat = 1);

	if (bpf_prog_test_run_opts(program_fd, &options))
		err(2, "BPF_PROG_TEST_RUN");
	return options.retval;
}

static void call_set(struct calls_bpf *skeleton, const char *name, const struct baleen_dev_key *key)
{
	struct baleen_dev_target target = target_of(name);

	memcpy(skeleton->bss->call.name, target.name, sizeof(target.name));
	memcpy(&skeleton->bss->call.key, key, sizeof(*key));
}

/* --- what the verifier refuses ------------------------------------------------ */

/* And what it says of it, under 6.12. */
static const struct {
	const char *program, *why;
} refused[] = {
	{ "no_stack", "invalid" },
	{ "no_name_beyond", "invalid access to map value" },
	{ "no_key_beyond", "invalid access to map value" },
	{ "no_bound", "unbounded memory access" },
	{ "no_null", "expected" },
	{ "no_number", "expected" },
	{ "no_frame", "invalid access to packet" },
	{ "no_socket", "is not allowed" },
	{ "no_trace", "is not allowed" },
	{ "no_cgroup", "is not allowed" },
};

static void test_refused(void)
{
	static char log[1 << 16];
	char name[100];

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct calls_bpf *skeleton = load_only(refused[i].program, log, sizeof(log));
		bool good = !skeleton && strstr(log, refused[i].why);

		snprintf(name, sizeof(name), "the verifier refuses %s: %s", refused[i].program,
			 refused[i].why);
		check(good, name);
		if (!good)
			printf("# %s\n", log);
		calls_bpf__destroy(skeleton);
	}
}

/* --- what the function refuses ------------------------------------------------ */

static const char *const other_sizes[] = { "ok_short_name", "ok_short_key", "ok_long_key",
					   "ok_no_bytes" };

static void test_other_sizes(const struct baleen_dev_key *listed)
{
	char name[100];

	for (size_t i = 0; i < sizeof(other_sizes) / sizeof(*other_sizes); i++) {
		struct calls_bpf *skeleton = load_or_die(other_sizes[i]);

		call_set(skeleton, filter, listed);
		snprintf(name, sizeof(name), "%s is -EINVAL", other_sizes[i]);
		check(run(program_of(skeleton, other_sizes[i]), NULL) == -EINVAL, name);
		calls_bpf__destroy(skeleton);
	}
}

static void test_other_names(struct calls_bpf *skeleton, const struct baleen_dev_key *listed)
{
	int fd = program_of(skeleton, "ok_xdp");
	__u8 *name = skeleton->bss->call.name;

	call_set(skeleton, "", listed);
	check(run(fd, NULL) == -ENOENT, "no name is -ENOENT");
	call_set(skeleton, "nobody", listed);
	check(run(fd, NULL) == -ENOENT, "an unknown name is -ENOENT");
	call_set(skeleton, filter, listed);
	name[strlen(filter)] = 'x';
	check(run(fd, NULL) == -ENOENT, "a longer name is -ENOENT");
	name[strlen(filter)] = 0;
	name[strlen(filter) - 1] = 0;
	check(run(fd, NULL) == -ENOENT, "a shorter name is -ENOENT");
	call_set(skeleton, filter, listed);
	name[BALEEN_DEV_NAME_BYTES - 1] = 1;
	check(run(fd, NULL) == -ENOENT, "a name that is not padded is -ENOENT");
	memset(name, 'x', BALEEN_DEV_NAME_BYTES);
	check(run(fd, NULL) == -ENOENT, "a name without an end is -ENOENT");
	call_set(skeleton, filter, listed);
	check(run(fd, NULL) == 1, "and the filter's own name has an answer");
}

/* Fields of struct baleen_dev_key by their bytes, and the domains that have them. */
static const struct {
	const char *name;
	size_t first, last;
	unsigned int domains;
} fields[] = {
	{ "ip4", offsetof(struct baleen_dev_key, ip4), offsetof(struct baleen_dev_key, hi) - 1,
	  1 << 0 },
	{ "hi", offsetof(struct baleen_dev_key, hi), offsetof(struct baleen_dev_key, lo) - 1,
	  1 << 1 | 1 << 3 },
	{ "lo", offsetof(struct baleen_dev_key, lo), offsetof(struct baleen_dev_key, dst_hi) - 1,
	  1 << 1 | 1 << 2 | 1 << 3 },
	{ "dst_hi, dst_lo, rest", offsetof(struct baleen_dev_key, dst_hi),
	  sizeof(struct baleen_dev_key) - 1, 1 << 3 },
};

static bool field_is_judged(int fd, struct calls_bpf *skeleton, __u32 domain, size_t field)
{
	bool has = domain < 4 && fields[field].domains >> domain & 1;

	for (size_t byte = fields[field].first; byte <= fields[field].last; byte++) {
		struct baleen_dev_key key = { .domain = domain };

		((__u8 *)&key)[byte] = 0x40;
		call_set(skeleton, filter, &key);
		if ((run(fd, NULL) == -EINVAL) == has)
			return false;
	}
	return true;
}

static void test_other_keys(struct calls_bpf *skeleton)
{
	static const __u32 domains[] = { 0, 1, 2, 3, 4, 5, 7, 8, 0x100, 0x80000000, 0xffffffff };
	int fd = program_of(skeleton, "ok_xdp");
	char name[100];

	for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++) {
		bool good = true;

		for (size_t field = 0; field < sizeof(fields) / sizeof(*fields); field++)
			good &= field_is_judged(fd, skeleton, domains[i], field);
		snprintf(name, sizeof(name), "fields of domain %#x are -EINVAL unless its own",
			 domains[i]);
		check(good, name);
	}
}

/* --- answers ------------------------------------------------------------------ */

static __u32 n_wrong(struct calls_bpf *skeleton, int fd, struct keys keys, int want)
{
	__u32 n = 0;

	for (__u32 i = 0; i < keys.n; i++) {
		call_set(skeleton, filter, &keys.key[i]);
		n += run(fd, NULL) != want;
	}
	return n;
}

static void test_answers(const char *program, struct keys listed, struct keys unlisted)
{
	struct calls_bpf *skeleton = load_or_die(program);
	int device = device_open(), fd = program_of(skeleton, program);
	struct baleen_dev_counters before, after;
	char name[100];

	before = counters_get(device, filter);
	snprintf(name, sizeof(name), "%s: %u listed addresses are in it", program, listed.n);
	check(listed.n && !n_wrong(skeleton, fd, listed, 1), name);
	snprintf(name, sizeof(name), "%s: %u others are not", program, unlisted.n);
	check(unlisted.n && !n_wrong(skeleton, fd, unlisted, 0), name);
	after = counters_get(device, filter);
	snprintf(name, sizeof(name), "%s: each is counted as a packet without bytes", program);
	check(after.packets - before.packets == listed.n + unlisted.n &&
		      after.hits - before.hits == listed.n && after.bytes == before.bytes &&
		      after.queries == before.queries,
	      name);
	close(device);
	calls_bpf__destroy(skeleton);
}

static void test_frame(struct keys listed, struct keys unlisted)
{
	struct calls_bpf *skeleton = load_or_die("ok_frame");
	struct baleen_dev_target target = target_of(filter);
	int fd = program_of(skeleton, "ok_frame");
	__u8 frame[CALL_FRAME_BYTES] = { 0 };

	memcpy(frame + CALL_NAME_OFFSET, target.name, sizeof(target.name));
	memcpy(frame + CALL_KEY_OFFSET, &listed.key[0], sizeof(listed.key[0]));
	check(run(fd, frame) == 1, "name and key at odd addresses of a frame: in it");
	memcpy(frame + CALL_KEY_OFFSET, &unlisted.key[0], sizeof(unlisted.key[0]));
	check(run(fd, frame) == 0, "name and key at odd addresses of a frame: not in it");
	calls_bpf__destroy(skeleton);
}

int main(int argc, char **argv)
{
	struct keys listed, unlisted;
	struct calls_bpf *skeleton;

	if (argc != 4)
		errx(2, "usage: calls FILTER LISTED UNLISTED");
	filter = argv[1];
	listed = keys_read(argv[2]);
	unlisted = keys_read(argv[3]);
	libbpf_set_print(quiet);
	test_refused();
	test_other_sizes(&listed.key[0]);
	skeleton = load_or_die("ok_xdp");
	test_other_names(skeleton, &listed.key[0]);
	test_other_keys(skeleton);
	calls_bpf__destroy(skeleton);
	test_answers("ok_xdp", listed, unlisted);
	test_answers("ok_tc", listed, unlisted);
	test_frame(listed, unlisted);
	return results_end();
}
