// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Instructions per packet, or per key, of the kernel module and of the XDP program.
 *
 *	bench_kmod SENDER RECEIVER
 *
 * For a machine whose time stamp counter counts instructions, one each (qemu with
 * -icount shift=0,sleep=off), which is checked first, with one processor, the module
 * loaded, and a veth pair of these names. All get the same sources from the same random
 * numbers. What is printed is above a program, or a packet, that asks nothing, and for
 * batches the difference of two sizes; of several runs the least, the others were
 * interrupted.
 */
#include <err.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <x86intrin.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <baleen/probe.h>

#include "drive.skel.h"
#include "keys.h"
#include "kmod.skel.h"
#include "kmod/kmod.h"
#include "ops/build.h"
#include "xdp/load.h"

#define N_LISTED 20000
#define N_PACKETS 1000
#define N_SENT 100
#define N_RUNS 9
#define FRAME_BYTES 80
#define FILTER_NAME "bench"
#define BLOOM_FPP 0.002

/* What is asked, and for what. */
struct setting {
	const char *name;
	bool is_ip6;
	u32 kind;
	bool is_listed;
};

static const struct setting settings[] = {
	{ "IPv4, listed", false, BALEEN_KIND_CUCKOO, true },
	{ "not", false, BALEEN_KIND_CUCKOO, false },
	{ "IPv6, listed", true, BALEEN_KIND_CUCKOO, true },
	{ "not", true, BALEEN_KIND_CUCKOO, false },
	{ "Bloom, listed", false, BALEEN_KIND_BLOOM, true },
	{ "not", false, BALEEN_KIND_BLOOM, false },
};

#define N_SETTINGS (sizeof(settings) / sizeof(*settings))

enum row {
	ROW_MAP,
	ROW_KFUNC,
	ROW_NOBODY,
	ROW_QUERY,
	ROW_XDP,
	ROW_GENERIC,
	ROW_HOOK,
	N_ROWS,
};

static const char *const row_names[N_ROWS] = {
	[ROW_MAP] = "program, its own array map",
	[ROW_KFUNC] = "program, bpf_baleen_test()",
	[ROW_NOBODY] = "the same, no such filter",
	[ROW_QUERY] = "process, a key of a batch",
	[ROW_XDP] = "XDP: parse, one rule, count",
	[ROW_GENERIC] = "generic XDP: the same, attached",
	[ROW_HOOK] = "hook: parse, one rule, count",
};

static double cell[N_ROWS][N_SETTINGS];
static int device;

/* --- does the counter count instructions? -------------------------------------- */

static u64 loop_ticks(u64 n)
{
	u64 began = __rdtsc();

	asm volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
	return __rdtsc() - began;
}

static void check_counter(void)
{
	u64 least[2] = { ~0ull, ~0ull };

	for (int run = 0; run < N_RUNS; run++) {
		for (int i = 0; i < 2; i++) {
			u64 ticks = loop_ticks(10000 * (i + 1));

			if (ticks < least[i])
				least[i] = ticks;
		}
	}
	if (least[1] - least[0] != 20000)
		errx(1, "10,000 rounds of two instructions are %llu ticks: no -icount?",
		     least[1] - least[0]);
	printf("checked: 10,000 rounds of two instructions are 20,000 ticks\n");
}

/* --- sources --------------------------------------------------------------------- */

static u32 source_index(u32 i, bool is_listed)
{
	return is_listed ? i : N_LISTED + i;
}

static struct baleen_key source_key(const struct setting *setting, u32 i)
{
	u32 index = source_index(i, setting->is_listed);

	if (setting->is_ip6)
		return (struct baleen_key){ .domain = BALEEN_IP6,
					    .hi = bench_ip6_hi(index),
					    .lo = bench_ip6_lo(index) };
	return (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = bench_ip4(index) };
}

static void filter_make(const struct setting *setting, struct baleen_filter *filter)
{
	const struct baleen_build_options options = {
		.name = FILTER_NAME,
		.key_spec = BALEEN_KEY_SRC,
		.kind = setting->kind,
		.fpp = setting->kind == BALEEN_KIND_BLOOM ? BLOOM_FPP : 0,
	};
	struct baleen_list list = { .n_listed = N_LISTED };
	struct baleen_error error;

	list.ip4 = calloc(N_LISTED, sizeof(*list.ip4));
	list.ip6 = calloc(N_LISTED, sizeof(*list.ip6));
	if (!list.ip4 || !list.ip6)
		err(1, "memory");
	list.n_ip4 = list.room_ip4 = setting->is_ip6 ? 0 : N_LISTED;
	list.n_ip6 = list.room_ip6 = setting->is_ip6 ? N_LISTED : 0;
	for (u32 i = 0; i < N_LISTED; i++) {
		list.ip4[i] = bench_ip4(i);
		list.ip6[i] = (struct baleen_ip6){ bench_ip6_hi(i), bench_ip6_lo(i) };
	}
	if (baleen_list_finish(&list) || baleen_build(&list, &options, filter, &error))
		errx(1, "cannot build a filter");
	baleen_list_free(&list);
}

static void frame_make(bool is_ip6, u8 *frame)
{
	static const u8 ether[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

	memset(frame, 0, FRAME_BYTES);
	memcpy(frame, ether, sizeof(ether));
	memcpy(frame + 12, is_ip6 ? "\x86\xdd\x60" : "\x08\x00\x45", 3);
	if (is_ip6)
		memcpy(frame + 14 + 4, "\0\x1a\x11\x40", 4); /* 26 bytes, UDP, 64 */
	else
		memcpy(frame + 14 + 2, "\0\x42\0\0\0\0\x40\x11", 8); /* 66 bytes, 64, UDP */
}

static void frame_set_source(const struct baleen_key *key, u8 *frame)
{
	u32 ip4 = baleen_be32(key->ip4);
	u64 ip6[2] = { baleen_be64(key->hi), baleen_be64(key->lo) };

	if (key->domain == BALEEN_IP6)
		memcpy(frame + 14 + 8, ip6, sizeof(ip6));
	else
		memcpy(frame + 14 + 12, &ip4, sizeof(ip4));
}

/* --- programs --------------------------------------------------------------------- */

/* The kernel measures the loop itself, in whole ticks a round. From outside it is not to
 * be had: before the loop the kernel waits for a grace period.
 */
static u32 run_ticks(struct drive_bpf *drive, const struct setting *setting)
{
	const struct bpf_program *program =
		setting->is_ip6 ? drive->progs.drive_index_ip6 : drive->progs.drive_index_ip4;
	u8 frame[FRAME_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = N_PACKETS);
	u32 least = ~0u;

	frame_make(setting->is_ip6, frame);
	drive->bss->ip_offset = 14;
	drive->bss->n_listed = N_LISTED;
	drive->bss->listed_share = setting->is_listed ? 1ull << 32 : 0;
	for (int run = 0; run < N_RUNS; run++) {
		drive->bss->random_state = 1;
		if (bpf_prog_test_run_opts(bpf_program__fd(program), &options))
			err(1, "BPF_PROG_TEST_RUN");
		if (options.retval != XDP_PASS && options.retval != XDP_DROP)
			errx(1, "the program was not reached");
		if (options.duration < least)
			least = options.duration;
	}
	return least;
}

static double program_cost(struct drive_bpf *drive, const struct setting *setting, int program_fd)
{
	u32 zero = 0;

	if (bpf_map_update_elem(bpf_map__fd(drive->maps.bench_target), &zero, &program_fd, BPF_ANY))
		err(1, "choosing the program");
	return run_ticks(drive, setting);
}

/* The program of `baleen attach DEV --count`. */
static void xdp_load(const struct baleen_filter *filter, int filter_fd,
		     struct baleen_loaded *loaded)
{
	static struct baleen_config config;
	struct baleen_error error;

	memset(&config, 0, sizeof(config));
	config.n_rules = 1;
	baleen_rule_set(&config.rule[0], BALEEN_ACTION_COUNT, FILTER_NAME, NULL, &filter->image);
	baleen_loaded_init(loaded);
	loaded->rule_fd[0] = filter_fd;
	if (baleen_load_program(&config, loaded, &error))
		errx(1, "%s", error.text);
}

static struct kmod_bpf *kmod_load(const struct baleen_filter *filter, int filter_fd)
{
	struct kmod_bpf *kmod = kmod_bpf__open();

	if (!kmod)
		err(1, "kmod.bpf.c");
	memcpy((void *)&kmod->rodata->image, &filter->image, sizeof(filter->image));
	if (bpf_map__reuse_fd(kmod->maps.filter, filter_fd) || kmod_bpf__load(kmod))
		errx(1, "cannot load kmod.bpf.c");
	return kmod;
}

static void measure_programs(u32 n, const struct baleen_filter *filter)
{
	const struct setting *setting = &settings[n];
	struct drive_bpf *drive = drive_bpf__open_and_load();
	struct baleen_loaded loaded;
	struct baleen_error error;
	struct kmod_bpf *kmod;
	int filter_fd, map_fd, kfunc_fd;
	double nothing;

	if (!drive || baleen_load_map(FILTER_NAME, filter, &filter_fd, &error))
		errx(1, "cannot load");
	kmod = kmod_load(filter, filter_fd);
	map_fd = bpf_program__fd(setting->is_ip6 ? kmod->progs.map_ip6 : kmod->progs.map_ip4);
	kfunc_fd = bpf_program__fd(setting->is_ip6 ? kmod->progs.kfunc_ip6 : kmod->progs.kfunc_ip4);
	xdp_load(filter, filter_fd, &loaded);
	nothing = program_cost(drive, setting, bpf_program__fd(drive->progs.noop));
	cell[ROW_MAP][n] = program_cost(drive, setting, map_fd) - nothing;
	cell[ROW_KFUNC][n] = program_cost(drive, setting, kfunc_fd) - nothing;
	memcpy(kmod->data->name, "nobody", sizeof("nobody"));
	cell[ROW_NOBODY][n] = program_cost(drive, setting, kfunc_fd) - nothing;
	cell[ROW_XDP][n] = program_cost(drive, setting, loaded.program_fd) - nothing;
	baleen_loaded_close(&loaded);
	kmod_bpf__destroy(kmod);
	drive_bpf__destroy(drive);
}

/* --- the device ------------------------------------------------------------------- */

static u64 query_ticks(const struct baleen_key *keys, u32 n, const struct setting *setting)
{
	struct baleen_dev_target target = baleen_kmod_target(FILTER_NAME, 0);
	static u8 answers[2 * N_PACKETS];
	u64 least = ~0ull;
	size_t n_done;

	for (int run = 0; run < N_RUNS; run++) {
		u64 began = __rdtsc(), ticks;

		if (baleen_kmod_keys(device, &target, BALEEN_DEV_QUERY, keys, n, answers, &n_done))
			errx(1, "query");
		ticks = __rdtsc() - began;
		if (ticks < least)
			least = ticks;
	}
	for (u32 i = 0; i < n; i++)
		if (setting->kind == BALEEN_KIND_CUCKOO && answers[i] != setting->is_listed)
			errx(1, "a wrong answer");
	return least;
}

static void measure_query(u32 n)
{
	static struct baleen_key keys[2 * N_PACKETS];

	for (u32 i = 0; i < 2 * N_PACKETS; i++)
		keys[i] = source_key(&settings[n], i);
	cell[ROW_QUERY][n] = (double)(query_ticks(keys, 2 * N_PACKETS, &settings[n]) -
				      query_ticks(keys, N_PACKETS, &settings[n])) /
			     N_PACKETS;
}

/* --- the hook --------------------------------------------------------------------- */

static u64 n_asked(void)
{
	struct baleen_dev_count arg = { .target = baleen_kmod_target(FILTER_NAME, 0) };

	if (baleen_kmod_command(device, BALEEN_DEV_COUNTERS, &arg))
		errx(1, "counters");
	return arg.counters.packets;
}

/* Of the generic program, whose rule only counts, so that no rule decides. One processor. */
static int generic_stats_fd;

static u64 n_generic(void)
{
	static struct baleen_stats stats;
	u32 zero = 0;

	if (bpf_map_lookup_elem(generic_stats_fd, &zero, &stats))
		err(1, "counters");
	return stats.unmatched;
}

/* The least of the runs in which all packets got to who counts them before the end. */
static u64 send_ticks(int fd, u8 (*frames)[FRAME_BYTES], u32 n, u64 (*count)(void), bool is_bound)
{
	u64 least = ~0ull;

	for (int run = 0; run < N_RUNS; run++) {
		u64 asked = count(), began = __rdtsc(), ticks;

		for (u32 i = 0; i < n; i++)
			if (send(fd, frames[i], FRAME_BYTES, 0) != FRAME_BYTES)
				err(1, "send");
		ticks = __rdtsc() - began;
		if (count() - asked == (is_bound ? n : 0) && ticks < least)
			least = ticks;
	}
	if (least == ~0ull)
		errx(1, "the packets do not get there in time");
	return least;
}

static double send_cost(int fd, u8 (*frames)[FRAME_BYTES], u64 (*count)(void), bool is_bound)
{
	send_ticks(fd, frames, N_SENT, count, is_bound); /* caches of the kernel's allocators */
	return (double)(send_ticks(fd, frames, 2 * N_SENT, count, is_bound) -
			send_ticks(fd, frames, N_SENT, count, is_bound)) /
	       N_SENT;
}

/* Behind the driver, where the hook is: with what the kernel does for a program there. */
static double generic_cost(const struct baleen_filter *filter, int fd, u8 (*frames)[FRAME_BYTES],
			   u32 ifindex)
{
	struct baleen_loaded loaded;
	struct baleen_error error;
	int filter_fd;
	double cost;

	if (baleen_load_map(FILTER_NAME, filter, &filter_fd, &error))
		errx(1, "%s", error.text);
	xdp_load(filter, filter_fd, &loaded);
	if (bpf_xdp_attach(ifindex, loaded.program_fd, XDP_FLAGS_SKB_MODE, NULL))
		err(1, "generic XDP");
	generic_stats_fd = loaded.stats_fd;
	cost = send_cost(fd, frames, n_generic, true);
	bpf_xdp_detach(ifindex, XDP_FLAGS_SKB_MODE, NULL);
	baleen_loaded_close(&loaded);
	return cost;
}

static void measure_hook(u32 n, const struct baleen_filter *filter, int fd, u32 ifindex)
{
	static u8 frames[2 * N_SENT][FRAME_BYTES];
	struct baleen_dev_rule rule = { .name = FILTER_NAME,
					.filter = FILTER_NAME,
					.action = BALEEN_DEV_ONLY_COUNT };
	struct baleen_dev_bind bind = { .ifindex = ifindex,
					.rules = (uintptr_t)&rule,
					.n_rules = 1,
					.rule_bytes = sizeof(rule) };
	struct baleen_dev_unbind unbind = { .ifindex = ifindex };
	double nothing;

	for (u32 i = 0; i < 2 * N_SENT; i++) {
		struct baleen_key key = source_key(&settings[n], i);

		frame_make(settings[n].is_ip6, frames[i]);
		frame_set_source(&key, frames[i]);
	}
	nothing = send_cost(fd, frames, n_asked, false);
	cell[ROW_GENERIC][n] = generic_cost(filter, fd, frames, ifindex) - nothing;
	if (baleen_kmod_command(device, BALEEN_DEV_BIND, &bind))
		errx(1, "bind");
	cell[ROW_HOOK][n] = send_cost(fd, frames, n_asked, true) - nothing;
	if (baleen_kmod_command(device, BALEEN_DEV_UNBIND, &unbind))
		errx(1, "unbind");
}

/* --- main --------------------------------------------------------------------------- */

static int sender_open(const char *name)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(name) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || !at.sll_ifindex || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		err(1, "%s", name);
	return fd;
}

static void print_table(void)
{
	printf("%-30s", "instructions");
	for (u32 n = 0; n < N_SETTINGS; n++)
		printf(" %13s", settings[n].name);
	printf("\n");
	for (u32 row = 0; row < N_ROWS; row++) {
		printf("%-30s", row_names[row]);
		for (u32 n = 0; n < N_SETTINGS; n++)
			printf(" %13.1f", cell[row][n]);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	struct baleen_error error;
	u32 ifindex;
	int sender;

	if (argc != 3)
		errx(2, "usage: bench_kmod SENDER RECEIVER");
	check_counter();
	if (baleen_kmod_open(true, &device, &error))
		errx(1, "%s", error.text);
	sender = sender_open(argv[1]);
	ifindex = if_nametoindex(argv[2]);
	for (u32 n = 0; n < N_SETTINGS; n++) {
		struct baleen_filter filter;

		filter_make(&settings[n], &filter);
		if (baleen_kmod_store(device, FILTER_NAME, &filter, &error))
			errx(1, "%s", error.text);
		measure_programs(n, &filter);
		measure_query(n);
		measure_hook(n, &filter, sender, ifindex);
		baleen_filter_free(&filter);
	}
	print_table();
	return 0;
}
