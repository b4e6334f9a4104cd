// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the XDP program for its verdict on a frame. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pkt_cls.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/fd.h"
#include "xdp/replay.h"

/* Longer than any page that a kernel puts a frame in. */
#define PROBE_BYTES 66000

/* Frame size for a program that takes no frames of several buffers. */
#define ONE_BUFFER_BYTES 1500

/* Where the program counts each outcome; each frame is counted once. */
static const size_t counters[BALEEN_N_OUTCOMES] = {
	[BALEEN_OUTCOME_UNMATCHED] = offsetof(struct baleen_stats, unmatched),
	[BALEEN_OUTCOME_VITAL] = offsetof(struct baleen_stats, vital),
	[BALEEN_OUTCOME_NOT_IP] = offsetof(struct baleen_stats, not_ip),
	[BALEEN_OUTCOME_MPLS] = offsetof(struct baleen_stats, mpls),
	[BALEEN_OUTCOME_TAGS] = offsetof(struct baleen_stats, tags),
	[BALEEN_OUTCOME_VERSION] = offsetof(struct baleen_stats, version),
	[BALEEN_OUTCOME_SHORT] = offsetof(struct baleen_stats, too_short),
};

/* An array instead of the per-CPU array of a device, so that it can be mapped:
 * two system calls less a frame.
 */
static int map_stats(struct baleen_replay *replay, struct baleen_error *error)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	void *stats;
	int fd;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bln_replay", sizeof(u32), sizeof(*replay->stats),
			    1, &options);
	if (fd < 0)
		return baleen_fail(error, -fd, "cannot create the map of the counters: %s",
				   strerror(-fd));
	replay->loaded.stats_fd = fd;
	stats = mmap(NULL, sizeof(*replay->stats), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (stats == MAP_FAILED)
		return baleen_fail(error, errno, "cannot map the counters: %m");
	replay->stats = stats;
	return 0;
}

/* The first buffer of a frame of several is as long as this kernel makes it. */
static int find_readable(struct baleen_replay *replay, struct baleen_error *error)
{
	static const u8 zeros[PROBE_BYTES];
	struct xdp_md in = { .data_end = sizeof(zeros) }, out = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = zeros, .data_size_in = sizeof(zeros),
		    .ctx_in = &in, .ctx_size_in = sizeof(in), .ctx_out = &out,
		    .ctx_size_out = sizeof(out), .repeat = 1);
	int err = bpf_prog_test_run_opts(replay->loaded.program_fd, &options);

	if (err)
		return baleen_fail(error, -err, "the kernel cannot run the XDP program: %s",
				   strerror(-err));
	replay->n_readable = out.data_end - out.data;
	return 0;
}

/* Over maps of rules that are there. */
static int load(struct baleen_replay *replay, struct baleen_error *error)
{
	int err = baleen_load_program(&replay->config, &replay->loaded, error);

	/* The kernel has one buffer for what goes out. */
	replay->n_readable = ONE_BUFFER_BYTES;
	return err || replay->config.is_egress ? err : find_readable(replay, error);
}

/* Nobody is over a limit, since time stands still. */
static void configure(struct baleen_replay *replay)
{
	replay->config.frags = true;
	replay->config.dry_run = false;
	replay->config.sample_interval_ns = 0;
	replay->config.limits = BALEEN_LIMITS_PEEK;
}

int baleen_replay_open(struct baleen_replay *replay, const struct baleen_ruleset *ruleset,
		       bool is_egress, struct baleen_error *error)
{
	int err = baleen_ruleset_check(ruleset, error);

	if (err)
		return err;
	*replay = (struct baleen_replay){ .config.is_egress = is_egress };
	baleen_ruleset_configure(ruleset, &replay->config, NULL, &replay->config);
	configure(replay);
	baleen_loaded_init(&replay->loaded);
	err = map_stats(replay, error);
	if (!err)
		err = baleen_load_maps(ruleset, &replay->loaded, error);
	if (!err)
		err = load(replay, error);
	if (err)
		baleen_replay_close(replay);
	return err;
}

static int copy_rules(struct baleen_replay *replay, const struct baleen_xdp *xdp,
		      struct baleen_error *error)
{
	int err = 0;

	for (u32 i = 0; i < xdp->config.n_rules && !err; i++) {
		struct baleen_filter live;

		err = baleen_xdp_map_rule(xdp, i, &live, error);
		if (err)
			break;
		err = baleen_load_twin(xdp->config.rule[i].image.name, &live,
				       &replay->loaded.rule_fd[i], error);
		baleen_filter_free(&live);
	}
	return err;
}

int baleen_replay_open_copy(struct baleen_replay *replay, const struct baleen_xdp *xdp,
			    struct baleen_error *error)
{
	int err;

	*replay = (struct baleen_replay){ .config = xdp->config };
	replay->config.attach_type = BALEEN_ATTACH_TYPE_LINK;
	/* It only asks them sooner. */
	replay->config.prefilter_rules = 0;
	configure(replay);
	baleen_loaded_init(&replay->loaded);
	err = map_stats(replay, error);
	if (!err)
		err = copy_rules(replay, xdp, error);
	if (!err)
		err = load(replay, error);
	if (err)
		baleen_replay_close(replay);
	return err;
}

/* The constants stay those of the device, so that the instructions do, but for
 * the place: no program of a chain can be run.
 */
static void configure_live(struct baleen_replay *replay, const struct baleen_xdp *xdp)
{
	*replay = (struct baleen_replay){ .config = xdp->config, .n_readable = ONE_BUFFER_BYTES };
	replay->config.attach_type = BALEEN_ATTACH_TYPE_LINK;
	replay->config.limits = BALEEN_LIMITS_PEEK;
	baleen_loaded_init(&replay->loaded);
}

static int share_rules(struct baleen_replay *replay, const struct baleen_xdp *xdp,
		       struct baleen_error *error)
{
	for (u32 i = 0; i < xdp->config.n_rules; i++) {
		replay->loaded.rule_fd[i] = fcntl(xdp->rule_fd[i], F_DUPFD_CLOEXEC, 0);
		if (replay->loaded.rule_fd[i] < 0)
			return baleen_fail(error, errno, "%s: cannot share its maps: %m",
					   xdp->device);
	}
	if (baleen_copy_fd(xdp->prefilter_fd, &replay->loaded.prefilter_fd))
		return baleen_fail(error, errno, "%s: cannot share its prefilter: %m", xdp->device);
	for (u32 i = 0; i < BALEEN_N_LIMIT_MAPS; i++)
		if (baleen_copy_fd(xdp->limit_fd[i], &replay->loaded.limit_fd[i]))
			return baleen_fail(error, errno, "%s: cannot share its limits: %m",
					   xdp->device);
	return 0;
}

/* A place for events that nobody reads, the smallest there is. */
static int make_events(struct baleen_replay *replay, struct baleen_error *error)
{
	int fd;

	if (!replay->config.sample_interval_ns)
		return 0;
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "bln_replay", 0, 0, getpagesize(), NULL);
	if (fd < 0)
		return baleen_fail(error, -fd, "cannot create a map for events: %s", strerror(-fd));
	replay->loaded.events_fd = fd;
	return 0;
}

int baleen_replay_open_live(struct baleen_replay *replay, const struct baleen_xdp *xdp,
			    struct baleen_error *error)
{
	int err;

	configure_live(replay, xdp);
	err = share_rules(replay, xdp, error);
	if (!err)
		err = map_stats(replay, error);
	if (!err)
		err = make_events(replay, error);
	if (!err)
		err = baleen_load_program(&replay->config, &replay->loaded, error);
	if (err)
		baleen_replay_close(replay);
	return err;
}

u32 baleen_replay_skips(const struct baleen_config *config, const u8 *frame, u32 n_bytes)
{
	struct baleen_packet packet;
	enum baleen_parse parse;

	if (!config->no_ethernet)
		return 0;
	parse = baleen_packet_parse(frame, frame + n_bytes, &packet);
	return parse == BALEEN_PARSE_IP4 || parse == BALEEN_PARSE_IP6 ? packet.ip - frame :
									BALEEN_ETHER_BYTES;
}

bool baleen_replay_is_drop(const struct baleen_config *config, u32 action)
{
	return action == (u32)(config->is_egress ? TC_ACT_SHOT : XDP_DROP);
}

static int test_run(const struct baleen_replay *replay, const u8 *frame, u32 n_bytes, u32 *action)
{
	u32 n_skipped = baleen_replay_skips(&replay->config, frame, n_bytes);
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame + n_skipped,
		    .data_size_in = n_bytes - n_skipped, .repeat = 1);
	int err;

	memset(replay->stats, 0, sizeof(*replay->stats));
	err = bpf_prog_test_run_opts(replay->loaded.program_fd, &options);
	if (!err)
		*action = options.retval;
	return err;
}

/* Reads from the counters what has decided. */
static void find_outcome(const struct baleen_replay *replay, struct baleen_judgement *judgement)
{
	for (u32 i = 0; i < replay->config.n_rules; i++) {
		const struct baleen_rule *rule = &replay->config.rule[i];

		if (!replay->stats->rule[rule->slot].packets)
			continue;
		if (rule->action == BALEEN_ACTION_COUNT)
			judgement->counted |= 1u << i;
		else
			judgement->rule = i;
	}
	for (u32 i = BALEEN_OUTCOME_UNMATCHED; i < BALEEN_N_OUTCOMES; i++)
		if (*(const u64 *)((const u8 *)replay->stats + counters[i]))
			judgement->outcome = i;
}

/* Finds the key that the deciding rule looked up, by the functions of the program. */
static void find_key(const struct baleen_replay *replay, const u8 *frame, const u8 *end,
		     struct baleen_judgement *judgement)
{
	u32 key_spec = replay->config.rule[judgement->rule].image.key_spec;
	struct baleen_transport transport;
	struct baleen_fields fields;
	struct baleen_packet packet;

	judgement->parse = baleen_packet_parse(frame, end, &packet);
	if (judgement->parse != BALEEN_PARSE_IP4 && judgement->parse != BALEEN_PARSE_IP6)
		return;
	judgement->is_ip6 = judgement->parse == BALEEN_PARSE_IP6;
	baleen_packet_details(packet.ip, end, judgement->is_ip6, &transport, &fields);
	if (!baleen_packet_has_key(&transport, key_spec))
		return;
	judgement->key = baleen_key_fields(key_spec, &fields);
	judgement->has_key = true;
}

/* A frame that the kernel runs no program over: one that is shorter than Ethernet's header or, of
 * what goes out and of a device without Ethernet, than what it says that it is. No rule is asked
 * about such a frame. Return: -EINVAL for one that rules are asked about.
 */
static int judge_unrun(const struct baleen_replay *replay, const u8 *frame, u32 n_bytes,
		       struct baleen_judgement *judgement)
{
	static const enum baleen_outcome outcomes[] = {
		[BALEEN_PARSE_NOT_IP] = BALEEN_OUTCOME_NOT_IP,
		[BALEEN_PARSE_MPLS] = BALEEN_OUTCOME_MPLS,
		[BALEEN_PARSE_TAGS] = BALEEN_OUTCOME_TAGS,
		[BALEEN_PARSE_VERSION] = BALEEN_OUTCOME_VERSION,
		[BALEEN_PARSE_SHORT] = BALEEN_OUTCOME_SHORT,
	};
	struct baleen_packet packet;
	enum baleen_parse parse = baleen_packet_parse(frame, frame + n_bytes, &packet);

	if (parse == BALEEN_PARSE_IP4 || parse == BALEEN_PARSE_IP6)
		return -EINVAL;
	*judgement = (struct baleen_judgement){ .is_drop = replay->config.default_drop,
						.outcome = outcomes[parse],
						.run = BALEEN_RUN_NONE,
						.parse = parse };
	return 0;
}

int baleen_replay_frame(struct baleen_replay *replay, const u8 *frame, u32 n_bytes,
			struct baleen_judgement *judgement, struct baleen_error *error)
{
	u32 n_readable = n_bytes < replay->n_readable ? n_bytes : replay->n_readable;
	struct baleen_judgement found = { .outcome = BALEEN_OUTCOME_RULE };
	u32 action;
	int err;

	if (n_bytes < BALEEN_ETHER_BYTES)
		return judge_unrun(replay, frame, n_bytes, judgement);
	err = test_run(replay, frame, n_bytes, &action);
	if (err && n_bytes > n_readable) {
		found.run = BALEEN_RUN_START;
		err = test_run(replay, frame, n_readable, &action);
	}
	if (err == -EINVAL && !judge_unrun(replay, frame, n_bytes, judgement))
		return 0;
	if (err)
		return baleen_fail(error, -err, "the kernel refused to run a frame of %u bytes: %s",
				   n_bytes, strerror(-err));
	found.is_drop = baleen_replay_is_drop(&replay->config, action);
	find_outcome(replay, &found);
	find_key(replay, frame, frame + n_readable, &found);
	*judgement = found;
	return 0;
}

void baleen_replay_close(struct baleen_replay *replay)
{
	if (replay->stats)
		munmap(replay->stats, sizeof(*replay->stats));
	replay->stats = NULL;
	baleen_loaded_close(&replay->loaded);
}
