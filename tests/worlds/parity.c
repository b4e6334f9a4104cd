// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The packet parser in userspace and in a BPF program, given the same mutated
 * frames: parse result, VLAN, protocol, ports and keys must not differ.
 *
 * parity [FRAMES], by default 10 million. A frame is put together of layers at
 * random, then some of its bytes are changed and its end is cut off. The
 * numbers come from fixed seeds, whatever the number of CPUs.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/random.h"
#include "parse.h"

#include "parse.skel.h"

#define SEED 0x7061726974790000ull
#define N_CHUNKS 64
#define DEFAULT_FRAMES 10000000
#define MAX_FRAME 1500
#define MIN_FRAME 14 /* of BPF_PROG_TEST_RUN */
#define N_PARSES (BALEEN_PARSE_SHORT + 1)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* --- frames --------------------------------------------------------------- */

struct frame {
	struct random random;
	u8 bytes[MAX_FRAME];
	u32 n_bytes;
};

static u32 below(struct frame *frame, u32 n)
{
	return (random_next(&frame->random) >> 32) * n >> 32;
}

static void put_8(struct frame *frame, u32 x)
{
	if (frame->n_bytes < MAX_FRAME)
		frame->bytes[frame->n_bytes++] = x;
}

static void put_16(struct frame *frame, u32 x)
{
	put_8(frame, x >> 8);
	put_8(frame, x);
}

static void put_random(struct frame *frame, u32 n)
{
	for (u64 x = 0; n--; x >>= 8) {
		if (n % 8 == 7 || !x)
			x = random_next(&frame->random);
		put_8(frame, x);
	}
}

static void put_upper(struct frame *frame)
{
	put_random(frame, below(frame, 4) ? 20 : below(frame, 20));
}

static u32 any_protocol(struct frame *frame)
{
	static const u8 protocols[] = { 6, 6, 6, 17, 17, 58, 58, 132, 33, 136, 1, 50, 59, 47 };

	return below(frame, 20) ? protocols[below(frame, sizeof(protocols))] : below(frame, 256);
}

static void put_ip4(struct frame *frame)
{
	u32 n_options = below(frame, 3) ? 0 : below(frame, 11);

	put_8(frame, 0x45 + n_options);
	put_random(frame, 5);
	put_16(frame, below(frame, 3) ? 0x4000 : random_next(&frame->random) & 0x3fff);
	put_8(frame, 64);
	put_8(frame, any_protocol(frame));
	put_random(frame, 10 + 4 * n_options);
	put_upper(frame);
}

/* The type of the one behind it comes first. */
static void put_extension(struct frame *frame, u32 type)
{
	u32 length = below(frame, 3) ? 0 : below(frame, 6), n_bytes = 8 * (length + 1);

	put_8(frame, any_protocol(frame));
	if (type == 44) {
		put_random(frame, 1);
		put_16(frame, below(frame, 2) ? 1 : random_next(&frame->random));
		put_random(frame, 4);
		return;
	}
	if (type == 51)
		n_bytes = 4 * (length + 2);
	put_8(frame, below(frame, 50) ? length : below(frame, 256));
	put_random(frame, n_bytes - 2);
}

static void put_ip6(struct frame *frame)
{
	static const u8 types[] = { 0, 43, 44, 51, 60, 135 };
	static const u8 hop_limits[] = { 255, 255, 1, 64 };
	u32 n_extensions = below(frame, 2) ? 0 : below(frame, 11), next_at;

	put_8(frame, 0x60);
	put_random(frame, 5);
	next_at = frame->n_bytes;
	put_8(frame, any_protocol(frame));
	put_8(frame, hop_limits[below(frame, sizeof(hop_limits))]);
	put_random(frame, 32);
	while (n_extensions--) {
		u32 type = types[below(frame, sizeof(types))];

		if (next_at < MAX_FRAME)
			frame->bytes[next_at] = type;
		next_at = frame->n_bytes;
		put_extension(frame, type);
	}
	/* Half of the types of ICMPv6 at hand are those that matter. */
	if (below(frame, 2))
		put_8(frame, 128 + below(frame, 17));
	put_upper(frame);
}

static void put_ethertype(struct frame *frame, bool is_pppoe, bool is_ip6)
{
	static const u16 others[] = { 0x0806, 0x88cc, 0x8809, 0x888e, 0x8847, 0x8848,
				      0x0026, 0x05ff, 0x0600, 0x8863, 0x8864, 0x0008 };

	if (!below(frame, 16))
		put_16(frame, others[below(frame, ARRAY_SIZE(others))]);
	else if (is_pppoe)
		put_16(frame, is_ip6 ? 0x0057 : 0x0021);
	else
		put_16(frame, is_ip6 ? 0x86dd : 0x0800);
}

static void put_link(struct frame *frame, bool is_ip6)
{
	static const u16 tags[] = { 0x8100, 0x88a8, 0x9100 };
	u32 n_tags = below(frame, 2) ? 0 : below(frame, 6);

	put_random(frame, 12);
	while (n_tags--) {
		put_16(frame, tags[below(frame, ARRAY_SIZE(tags))]);
		put_16(frame, below(frame, 3) ? random_next(&frame->random) : 0xe000);
	}
	if (below(frame, 6)) {
		put_ethertype(frame, false, is_ip6);
		return;
	}
	put_16(frame, 0x8864);
	put_random(frame, 6);
	if (below(frame, 4))
		put_ethertype(frame, true, is_ip6);
	else
		put_8(frame, is_ip6 ? 0x57 : 0x21);
}

static void mutate(struct frame *frame)
{
	/* Most of what is looked at stands at the front. */
	for (u32 n = below(frame, 5); n; n--)
		frame->bytes[below(frame, below(frame, 2) ? 80 : frame->n_bytes) % frame->n_bytes] =
			random_next(&frame->random);
	if (!below(frame, 3))
		frame->n_bytes = below(frame, frame->n_bytes + 1);
	if (frame->n_bytes < MIN_FRAME)
		frame->n_bytes = MIN_FRAME;
}

static void make_frame(struct frame *frame)
{
	bool is_ip6 = below(frame, 2);

	frame->n_bytes = 0;
	put_link(frame, is_ip6);
	/* Spanning tree's service access points, where an IP header would be. */
	if (!below(frame, 32))
		put_16(frame, 0x4242);
	if (is_ip6)
		put_ip6(frame);
	else
		put_ip4(frame);
	mutate(frame);
}

/* --- the two worlds ------------------------------------------------------- */

static void answer_here(const u8 *bytes, u32 n_bytes, u32 spec, struct answer *answer)
{
	struct baleen_transport transport = { .has_proto = false };
	struct baleen_fields fields;
	struct baleen_packet packet;
	bool is_ip6;

	answer->parse = baleen_packet_parse(bytes, bytes + n_bytes, &packet);
	answer->vlan = packet.vlan;
	is_ip6 = answer->parse == BALEEN_PARSE_IP6;
	if (is_ip6 || answer->parse == BALEEN_PARSE_IP4) {
		baleen_packet_details(packet.ip, bytes + n_bytes, is_ip6, &transport, &fields);
		answer->ip_offset = packet.ip - bytes;
		answer_key(answer, spec, packet.ip, is_ip6, &transport, &fields);
	}
	answer->is_vital =
		baleen_packet_is_vital(bytes, bytes + n_bytes, answer->parse, &packet, &transport);
}

static void answer_there(struct parse_bpf *bpf, const struct frame *frame, u32 spec,
			 struct answer *answer)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame->bytes,
		    .data_size_in = frame->n_bytes);

	bpf->bss->spec = spec;
	memset(&bpf->bss->answer, 0, sizeof(bpf->bss->answer));
	if (bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.parse), &run))
		err(1, "cannot run the parser on %u bytes", frame->n_bytes);
	*answer = bpf->bss->answer;
}

/* --- the comparison ------------------------------------------------------- */

struct tally {
	u64 frames;
	u64 differ;
	u64 parse[N_PARSES];
	u64 keys;	 /* frames with the key that was asked for */
	u64 ports;	 /* of a protocol that has them */
	u64 protos_only; /* protocol, but no ports */
	u64 unknown;	 /* IP, but no protocol */
	u64 hidden;	 /* some of it could be there */
	u64 vlans;
	u64 vital;
};

static void count(struct tally *tally, const struct answer *answer)
{
	bool is_ip = answer->parse <= BALEEN_PARSE_IP6;

	tally->frames++;
	tally->parse[answer->parse]++;
	tally->keys += answer->has_key;
	tally->ports += answer->ports != 0;
	tally->protos_only += (answer->transport & 3) == 2;
	tally->unknown += is_ip && !(answer->transport & 3);
	tally->hidden += answer->transport >> 2 != 0;
	tally->vlans += answer->vlan != BALEEN_VLAN_NONE;
	tally->vital += answer->is_vital;
}

static void show(const struct frame *frame, u32 spec, const struct answer *here,
		 const struct answer *there)
{
	const u32 *a = (const u32 *)here, *b = (const u32 *)there;

	printf("# key %u differs:", spec);
	for (u32 i = 0; i < sizeof(*here) / sizeof(*a); i++)
		if (a[i] != b[i])
			printf(" word %u %#x/%#x", i, a[i], b[i]);
	printf("\n# frame ");
	for (u32 i = 0; i < frame->n_bytes; i++)
		printf("%02x", frame->bytes[i]);
	printf("\n");
}

static void compare(struct frame *frame, struct parse_bpf *bpf, struct tally *tally)
{
	struct answer here = { 0 }, there;
	u32 spec = 1 + below(frame, BALEEN_KEY_FLOW);

	answer_here(frame->bytes, frame->n_bytes, spec, &here);
	answer_there(bpf, frame, spec, &there);
	count(tally, &here);
	if (!memcmp(&here, &there, sizeof(here)))
		return;
	if (!tally->differ++)
		show(frame, spec, &here, &there);
}

static void compare_chunk(u32 chunk, u64 n_frames, struct parse_bpf *bpf, struct tally *tally)
{
	struct frame frame = { .random = { .state = SEED + chunk } };

	for (u64 i = 0; i < n_frames; i++) {
		make_frame(&frame);
		compare(&frame, bpf, tally);
	}
}

/* A process of its own, because each has its own program and variables. */
static pid_t start_worker(u32 worker, u32 n_workers, u64 n_frames, struct tally *tally)
{
	struct parse_bpf *bpf;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	bpf = parse_bpf__open_and_load();
	if (!bpf)
		err(1, "cannot load the parser");
	for (u32 chunk = worker; chunk < N_CHUNKS; chunk += n_workers)
		compare_chunk(chunk, n_frames / N_CHUNKS, bpf, &tally[chunk]);
	parse_bpf__destroy(bpf);
	exit(0);
}

static bool run_workers(u64 n_frames, struct tally *tally)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	u32 n_workers = n_cpus < 1 ? 1 : n_cpus > N_CHUNKS ? N_CHUNKS : n_cpus;
	bool right = true;
	int status;

	for (u32 worker = 0; worker < n_workers; worker++)
		if (start_worker(worker, n_workers, n_frames, tally) < 0)
			err(1, "fork");
	while (wait(&status) > 0)
		right &= status == 0;
	return right;
}

/* --- results -------------------------------------------------------------- */

static u32 tap_n, tap_failed;

static void result(bool right, const char *what)
{
	printf("%sok %u - %s\n", right ? "" : "not ", ++tap_n, what);
	tap_failed += !right;
}

/* A shape that hardly came was not tried. */
static bool is_enough(u64 n, const struct tally *sum)
{
	return n > sum->frames / 500;
}

static void report(const struct tally *sum, u64 n_frames)
{
	static const char *const names[N_PARSES] = { "IPv4",   "IPv6",	  "not IP",   "MPLS",
						     "5 tags", "version", "too short" };
	bool enough = is_enough(sum->keys, sum) && is_enough(sum->ports, sum) &&
		      is_enough(sum->protos_only, sum) && is_enough(sum->unknown, sum) &&
		      is_enough(sum->hidden, sum) &&
		      is_enough(sum->vlans, sum) && is_enough(sum->vital, sum);

	printf("# seed %#llx: %llu frames,", SEED, (unsigned long long)sum->frames);
	for (u32 parse = 0; parse < N_PARSES; parse++) {
		enough &= is_enough(sum->parse[parse], sum);
		printf(" %llu %s", (unsigned long long)sum->parse[parse], names[parse]);
	}
	printf("\n# %llu with their key, %llu with ports, %llu without, %llu of no known protocol, "
	       "%llu tagged, %llu vital\n",
	       (unsigned long long)sum->keys, (unsigned long long)sum->ports,
	       (unsigned long long)sum->protos_only, (unsigned long long)sum->unknown,
	       (unsigned long long)sum->vlans, (unsigned long long)sum->vital);
	result(sum->frames == n_frames / N_CHUNKS * N_CHUNKS && sum->frames,
	       "all frames were compared");
	result(enough, "every shape of frame came often");
	printf("# %llu of %llu frames differ\n", (unsigned long long)sum->differ,
	       (unsigned long long)sum->frames);
	result(!sum->differ, "BPF parses as userspace does");
}

int main(int argc, char **argv)
{
	u64 n_frames = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_FRAMES;
	struct tally sum = { 0 }, *tally;

	tally = mmap(NULL, N_CHUNKS * sizeof(*tally), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED)
		err(1, "mmap");
	result(run_workers(n_frames, tally), "every worker came to its end");
	for (u32 chunk = 0; chunk < N_CHUNKS; chunk++)
		for (u32 i = 0; i < sizeof(sum) / sizeof(u64); i++)
			((u64 *)&sum)[i] += ((u64 *)&tally[chunk])[i];
	report(&sum, n_frames);
	printf("1..%u\n", tap_n);
	return !!tap_failed;
}
