// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A random history of a rule, each step held against what every entry says:
 *
 *      history DEV SEED OPERATIONS CHANGES
 *
 * Makes a kept state with one guarded rule `drop`, puts it on the device, and
 * goes on until there were so many operations: batches of about so many CHANGES
 * in single entries of three origins (now and then a snapshot or a flush),
 * expiries, other copies of two feeds, and new writers, to some of whom a killed
 * one left a map that was being changed. After each step the live map and the
 * live program are asked for the addresses at and beside both ends of every key.
 * No time passes but that of the history.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <deploy/deploy.h>
#include <net/frame.h>

#include "history_model.h"

#define TIMEOUT_MS 10000
#define RULE "drop"

/* Ends lie so far ahead that none comes by itself. */
#define FAR_MS 1000000000ull

static const char *const origin_name[N_ORIGINS] = { "manual", "fail2ban", "crowdsec" };

static struct baleen_error error;
static const char *device;
static u64 from_ms, step, n_operations;

static void must(int code)
{
	if (code < 0)
		errx(1, "step %llu: %s (%s)", (unsigned long long)step, error.text,
		     strerror(-code));
}

static void expect_n(const char *what, u64 n, u64 want)
{
	if (n != want)
		errx(1, "step %llu: %llu %s, not %llu", (unsigned long long)step,
		     (unsigned long long)n, what, (unsigned long long)want);
}

/* --- batches ---------------------------------------------------------------- */

/* A change, and what is to come of it. */
struct planned {
	struct baleen_rule_entry_change *change;
	int *want;
	u32 n;
};

static void fill(struct baleen_rule_entry_change *change, u32 i, bool is_exception, u32 origin)
{
	*change = (struct baleen_rule_entry_change){ .op = BALEEN_RULE_ENTRY_PUT };
	change->entry.key.span = entry[i].span;
	change->entry.is_exception = is_exception;
	strcpy(change->entry.origin, origin_name[origin]);
	change->entry.added_ms = from_ms;
}

static int put(struct baleen_rule_entry_change *change, u32 i, bool is_exception, u32 origin)
{
	struct place *at = &place[i][is_exception][origin];
	bool was_there = at->is_there;

	fill(change, i, is_exception, origin);
	if (!is_exception && is_refused(i))
		return -EPERM;
	*at = (struct place){ .is_there = true, .ends = any(3) ? 0 : step + any(40) };
	if (at->ends)
		change->entry.expires_ms = from_ms + FAR_MS + at->ends;
	return was_there ? -EEXIST : 0;
}

static int take(struct baleen_rule_entry_change *change, u32 i, bool is_exception, u32 origin)
{
	struct place *at = &place[i][is_exception][origin];
	bool was_there = at->is_there;

	fill(change, i, is_exception, origin);
	change->op = BALEEN_RULE_ENTRY_REMOVE;
	at->is_there = false;
	return was_there ? 0 : -ENOENT;
}

/* Return: how many there were. */
static u64 forget_origin(u32 origin, u32 from_key)
{
	u64 n = 0;

	for (u32 i = 0; i < N_KEYS; i++)
		for (u32 is_exception = 0; is_exception < 2; is_exception++) {
			struct place *at = &place[i][is_exception][origin];

			n += at->is_there && i >= from_key;
			at->is_there &= i < from_key;
		}
	return n;
}

/* All of an origin, each key once: as what it is, or as an exception. */
static u64 plan_snapshot(struct planned *planned, u32 origin)
{
	u64 n_gone;

	if (planned->n > N_KEYS)
		planned->n = any(N_KEYS);
	n_gone = forget_origin(origin, planned->n);
	for (u32 i = 0; i < planned->n; i++) {
		bool is_exception = !any(6);
		struct place *other = &place[i][!is_exception][origin];

		planned->want[i] = put(&planned->change[i], i, is_exception, origin);
		/* What is refused is not part of it either. */
		if (planned->want[i] == -EPERM && place[i][is_exception][origin].is_there)
			errx(1, "step %llu: what is refused is there", (unsigned long long)step);
		n_gone += other->is_there;
		other->is_there = false;
	}
	return n_gone;
}

/* Mostly hosts, which change in place; in some batches anything. */
static void plan_changes(struct planned *planned)
{
	u32 n_keys = any(20) ? N_HOSTS : N_KEYS;

	for (u32 i = 0; i < planned->n; i++) {
		u32 key = any(n_keys), origin = any(N_ORIGINS);
		bool is_exception = !any(6);

		planned->want[i] = any(2) ? put(&planned->change[i], key, is_exception, origin) :
					    take(&planned->change[i], key, is_exception, origin);
	}
}

static void go_batch(struct baleen_deploy *deploy, u32 n_changes)
{
	struct planned planned = { .n = any(2 * n_changes) + 1 };
	u32 kind = any(20), origin = any(N_ORIGINS);
	struct baleen_batch batch = { .rule = RULE };
	u64 n_gone = 0;

	planned.change = calloc(planned.n, sizeof(*planned.change));
	planned.want = calloc(planned.n, sizeof(*planned.want));
	if (!planned.change || !planned.want)
		errx(1, "no memory");
	if (kind == 0) {
		batch.snapshot_of = origin_name[origin];
		n_gone = plan_snapshot(&planned, origin);
	} else {
		if (kind == 1) {
			batch.flush_of = origin_name[origin];
			n_gone = forget_origin(origin, 0);
		}
		plan_changes(&planned);
	}
	batch.change = planned.change;
	batch.n = planned.n;
	must(baleen_deploy_batch(deploy, &batch, &error));
	for (u32 i = 0; i < planned.n; i++)
		if (planned.change[i].result != planned.want[i])
			errx(1, "step %llu: %s of %s: %d, not %d", (unsigned long long)step,
			     baleen_rule_entry_text(&planned.change[i].entry).text,
			     planned.change[i].entry.origin, planned.change[i].result,
			     planned.want[i]);
	expect_n("are gone", batch.n_flushed, n_gone);
	n_operations += planned.n;
	free(planned.want);
	free(planned.change);
}

/* --- other steps ------------------------------------------------------------ */

/* Return: whether it was there, and ends by now. */
static bool ends(struct place *at)
{
	bool has_ended = at->is_there && at->ends && at->ends <= step;

	if (has_ended)
		at->is_there = false;
	return has_ended;
}

static void go_expiry(struct baleen_deploy *deploy)
{
	u64 n, want = 0;

	for (u32 i = 0; i < N_KEYS; i++)
		for (u32 origin = 0; origin < N_ORIGINS; origin++)
			want += ends(&place[i][false][origin]) + ends(&place[i][true][origin]);
	must(baleen_deploy_expire(deploy, from_ms + FAR_MS + step, &n, &error));
	expect_n("have ended", n, want);
	n_operations += n;
}

static int write_feed(u32 feed)
{
	int fd = memfd_create("feed", MFD_CLOEXEC);
	FILE *stream = fdopen(dup(fd), "w");

	for (u32 i = 0; i < N_KEYS; i++)
		for (u32 is_exception = 0; is_exception < 2; is_exception++) {
			in_feed[feed][i][is_exception] = !any(is_exception ? 30 : 6);
			if (in_feed[feed][i][is_exception])
				fprintf(stream, "%s%s\n", is_exception ? "!" : "", entry[i].text);
		}
	fclose(stream);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

struct search {
	u32 n;
	struct baleen_feed feed[N_FEEDS];
};

static int keep(const struct baleen_feed *feed, void *data)
{
	struct search *search = data;

	search->feed[search->n++] = *feed;
	return 0;
}

static void go_feed(struct baleen_deploy *deploy)
{
	struct baleen_deploy_plan plan = { .rebuild = { true } };
	struct search search = { .n = 0 };
	u32 feed = any(N_FEEDS);
	int fd = write_feed(feed);

	must(baleen_rule_store_begin(&deploy->state, &error));
	must(baleen_rule_store_get_rules(&deploy->state, &plan.rules, &error));
	must(baleen_feeds_each(&deploy->state, RULE, keep, &search, &error));
	must(baleen_feed_accept(&deploy->state, &search.feed[feed], fd, &error));
	must(baleen_feeds_put(&deploy->state, &search.feed[feed], &error));
	must(baleen_deploy_put(deploy, &plan, NULL, NULL, NULL, &error));
	close(fd);
	n_operations++;
}

static void go_writer(struct baleen_deploy *deploy)
{
	if (any(2))
		must(baleen_rule_store_mark(&deploy->state, &error));
	baleen_deploy_close(deploy);
	must(baleen_deploy_open(deploy, device, TIMEOUT_MS, &error));
	n_operations++;
}

static void go_step(struct baleen_deploy *deploy, u32 n_changes)
{
	u64 kind = any(100);

	if (kind < 2)
		go_feed(deploy);
	else if (kind < 4)
		go_writer(deploy);
	else if (kind < 14)
		go_expiry(deploy);
	else
		go_batch(deploy, n_changes);
}

/* --- what came of it -------------------------------------------------------- */

static bool is_dropped(int program_fd, const struct baleen_key *key)
{
	const struct baleen_fields fields = {
		.is_ip6 = key->domain == BALEEN_IP6,
		.src_hi = key->hi,
		.src_lo = key->domain == BALEEN_IP6 ? key->lo : key->ip4,
	};
	struct baleen_frame frame;
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.bytes, .repeat = 1);

	baleen_frame_make(&fields, BALEEN_VLAN_NONE, 0, BALEEN_FRAME_WHOLE, &frame);
	options.data_size_in = frame.n_bytes;
	if (bpf_prog_test_run_opts(program_fd, &options))
		err(1, "BPF_PROG_TEST_RUN");
	return options.retval == XDP_DROP;
}

static void check(const struct baleen_deploy *deploy)
{
	int program_fd = bpf_prog_get_fd_by_id(deploy->xdp.program_id);
	struct baleen_filter filter;
	char text[BALEEN_KEY_TEXT];

	if (program_fd < 0)
		err(1, "program %u", deploy->xdp.program_id);
	must(baleen_xdp_map_rule(&deploy->xdp, 0, &filter, &error));
	for (u32 i = 0; i < n_edges; i++) {
		bool want = is_in(i), is_held = baleen_filter_test(&filter, &edge[i]);
		bool drops = is_dropped(program_fd, &edge[i]);

		if (is_held == want && drops == want)
			continue;
		baleen_key_format(&edge[i], BALEEN_KEY_SRC, text);
		errx(1, "step %llu: %s is %s the map and %s, and shall %s",
		     (unsigned long long)step, text, is_held ? "in" : "not in",
		     drops ? "dropped" : "passed", want ? "be dropped" : "pass");
	}
	baleen_filter_free(&filter);
	close(program_fd);
}

/* --- begin and end ---------------------------------------------------------- */

static void make(struct baleen_deploy *deploy)
{
	struct baleen_deploy_plan plan = { .rules = { .n_rules = 1 } };
	struct baleen_stored_rule *rule = &plan.rules.rule[0];
	char text[BALEEN_RULE_ENTRY_TEXT + 1];

	*rule = (struct baleen_stored_rule){ .name = RULE,
					     .action = BALEEN_ACTION_DROP,
					     .key_spec = BALEEN_KEY_SRC,
					     .limits = baleen_feed_limits_default(),
					     .kind = BALEEN_KIND_CUCKOO,
					     .guards_feeds = true };
	must(baleen_rule_store_create(&deploy->state, device, true, TIMEOUT_MS, &error));
	must(baleen_rule_store_begin(&deploy->state, &error));
	must(baleen_rule_store_set_rules(&deploy->state, &plan.rules, &error));
	for (u32 i = 0; i < N_FEEDS; i++) {
		struct baleen_feed feed = { .rule = RULE };

		must(baleen_feeds_put(&deploy->state, &feed, &error));
	}
	sprintf(text, "%s\n", never.text);
	must(baleen_rule_store_set_text(&deploy->state, "never", text, &error));
	/* As if it had been read of a list that is not there any more. */
	must(baleen_rule_store_set_text(&deploy->state, "never stamp", "none", &error));
	must(baleen_deploy_put(deploy, &plan, NULL, NULL, NULL, &error));
}

int main(int argc, char **argv)
{
	struct baleen_deploy deploy = { 0 };
	u64 n_wanted;

	if (argc != 5)
		errx(2, "usage: history DEV SEED OPERATIONS CHANGES");
	device = argv[1];
	random_state = strtoull(argv[2], NULL, 0);
	n_wanted = strtoull(argv[3], NULL, 0);
	from_ms = baleen_now_ms();
	make_entries();
	measure_edges();
	make(&deploy);
	while (n_operations < n_wanted) {
		step++;
		go_step(&deploy, atoi(argv[4]));
		check(&deploy);
	}
	baleen_deploy_close(&deploy);
	printf("%llu operations in %llu steps, %u addresses asked after each\n",
	       (unsigned long long)n_operations, (unsigned long long)step, n_edges);
	return 0;
}
