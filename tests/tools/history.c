// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A random history of a rule, each step held against what every entry says:
 *
 *      history DEV SEED STEPS CHANGES
 *
 * Makes a kept state with one guarded rule `drop`, puts it on the device, and
 * goes STEPS steps: a batch of about so many CHANGES in single entries of three
 * origins (now and then a snapshot or a flush), an expiry, or another copy of
 * one of two feeds. After each the live map is asked for random addresses. At the
 * end every address is printed with D or P, for whoever asks the program.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <deploy.h>

#define TIMEOUT_MS 10000
#define RULE "drop"
#define N_KEYS 300
#define N_HOSTS 200
#define N_ORIGINS 3
#define N_FEEDS 2
#define N_PROBES 64

/* Ends lie so far ahead that none comes by itself. */
#define FAR_MS 1000000000ull

static const char *const origin_name[N_ORIGINS] = { "manual", "fail2ban", "crowdsec" };

/**
 * struct entry - one of the keys that entries are made of
 * @text: KEY
 * @address: its first address
 * @length: of the prefix
 * @is_exception: by origin and sign, see is_there()
 */
struct entry {
	char text[BALEEN_SINGLE_TEXT];
	struct baleen_key address;
	u32 length;
};

/**
 * struct place - is there a single entry?
 * @is_there: there is
 * @ends: step at whose expiry it ends; 0 for never
 */
struct place {
	bool is_there;
	u64 ends;
};

static struct baleen_error error;
static struct entry entry[N_KEYS];
static struct place place[N_KEYS][2][N_ORIGINS];
static bool in_feed[N_FEEDS][N_KEYS][2];
static struct entry never;
static u64 random_state, from_ms, step;

static void must(int code)
{
	if (code < 0)
		errx(1, "step %llu: %s (%s)", (unsigned long long)step, error.text,
		     strerror(-code));
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static u64 any(u64 n)
{
	u64 x = random_state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (x ^ x >> 31) % n;
}

/* --- the keys --------------------------------------------------------------- */

/* Few bits, so that entries meet; none of them special. */
static struct baleen_key any_address(void)
{
	if (any(3))
		return (struct baleen_key){ .domain = BALEEN_IP4,
					    .ip4 = 20u << 24 | any(2) << 16 | any(128) };
	return (struct baleen_key){ .domain = BALEEN_IP6,
				    .hi = 0x2400ull << 48 | any(2) << 16 | any(4),
				    .lo = any(16) };
}

static void mask(struct baleen_key *key, u32 length)
{
	if (key->domain == BALEEN_IP4) {
		key->ip4 &= ~0ull << (32 - length);
		return;
	}
	key->hi = length >= 64 ? key->hi : key->hi & ~0ull << (64 - length);
	key->lo = length <= 64 ? 0 : length == 128 ? key->lo : key->lo & ~0ull << (128 - length);
}

static void make_entry(struct entry *made, bool is_host)
{
	static const u32 lengths4[] = { 15, 25, 27, 29, 31 };
	static const u32 lengths6[] = { 48, 62, 64, 126 };
	struct baleen_single single;
	char text[BALEEN_SINGLE_TEXT];
	bool is_ip6;

	made->address = any_address();
	is_ip6 = made->address.domain == BALEEN_IP6;
	made->length =
		is_ip6 ? (is_host ? 128 : lengths6[any(4)]) : (is_host ? 32 : lengths4[any(5)]);
	mask(&made->address, made->length);
	baleen_key_format(&made->address, BALEEN_KEY_SRC, text);
	if (!is_host)
		sprintf(text + strlen(text), "/%u", made->length);
	must(baleen_single_parse(text, BALEEN_KEY_SRC, false, &single, NULL, &error));
	strcpy(made->text, single.key);
}

static bool is_known(u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (!strcmp(entry[i].text, entry[n].text))
			return true;
	return false;
}

static void make_entries(void)
{
	for (u32 i = 0; i < N_KEYS; i++)
		do
			make_entry(&entry[i], i < N_HOSTS);
		while (is_known(i));
	make_entry(&never, false);
}

/* --- what each entry says --------------------------------------------------- */

static bool covers(const struct entry *of, struct baleen_key key)
{
	if (of->address.domain != key.domain)
		return false;
	mask(&key, of->length);
	return key.ip4 == of->address.ip4 && key.hi == of->address.hi && key.lo == of->address.lo;
}

static bool is_single(u32 i, bool is_exception)
{
	for (u32 origin = 0; origin < N_ORIGINS; origin++)
		if (place[i][is_exception][origin].is_there)
			return true;
	return false;
}

static bool is_listed(u32 feed, u32 i, bool is_exception)
{
	return in_feed[feed][i][is_exception];
}

/* 1 in, 0 out, -1 not covered; feed N_FEEDS is the single entries */
static int decides(u32 feed, const struct baleen_key *key)
{
	int longest = -1, in = -1;

	for (u32 i = 0; i < N_KEYS; i++) {
		bool plain, exception;

		if ((int)entry[i].length <= longest || !covers(&entry[i], *key))
			continue;
		plain = feed == N_FEEDS ? is_single(i, false) : is_listed(feed, i, false);
		exception = feed == N_FEEDS ? is_single(i, true) : is_listed(feed, i, true);
		if (!plain && !exception)
			continue;
		longest = entry[i].length;
		in = !exception;
	}
	return in;
}

static bool is_in(const struct baleen_key *key)
{
	int decision = decides(N_FEEDS, key);

	if (covers(&never, *key))
		return false;
	for (u32 feed = 0; feed < N_FEEDS && decision < 0; feed++)
		if (decides(feed, key) == 1)
			return true;
	return decision == 1;
}

/* --- steps ------------------------------------------------------------------ */

static bool is_refused(u32 i)
{
	return covers(&never, entry[i].address) || covers(&entry[i], never.address);
}

static void fill(struct baleen_single_change *change, u32 i, bool is_exception, u32 origin)
{
	*change = (struct baleen_single_change){ .op = BALEEN_SINGLE_PUT };
	strcpy(change->single.key, entry[i].text);
	change->single.is_exception = is_exception;
	strcpy(change->single.origin, origin_name[origin]);
	change->single.added_ms = from_ms;
}

static void expect(const struct baleen_single_change *change, int want)
{
	if (change->result != want)
		errx(1, "step %llu: %s%s of %s: %d, not %d", (unsigned long long)step,
		     change->single.is_exception ? "!" : "", change->single.key,
		     change->single.origin, change->result, want);
}

/* Returns what is to come of it. */
static int put(struct baleen_single_change *change, u32 i, bool is_exception, u32 origin)
{
	struct place *at = &place[i][is_exception][origin];
	bool was_there = at->is_there;

	fill(change, i, is_exception, origin);
	if (!is_exception && is_refused(i))
		return -EPERM;
	*at = (struct place){ .is_there = true, .ends = any(3) ? 0 : step + any(40) };
	if (at->ends)
		change->single.expires_ms = from_ms + FAR_MS + at->ends;
	return was_there ? -EEXIST : 0;
}

static int take(struct baleen_single_change *change, u32 i, bool is_exception, u32 origin)
{
	struct place *at = &place[i][is_exception][origin];
	bool was_there = at->is_there;

	fill(change, i, is_exception, origin);
	change->op = BALEEN_SINGLE_REMOVE;
	at->is_there = false;
	return was_there ? 0 : -ENOENT;
}

static void forget_origin(u32 origin)
{
	for (u32 i = 0; i < N_KEYS; i++)
		place[i][false][origin].is_there = place[i][true][origin].is_there = false;
}

/* Mostly hosts, which change in place; in some batches anything. */
static void go_batch(struct baleen_deploy *deploy, u32 n_changes)
{
	u32 n = any(2 * n_changes) + 1, n_keys = any(20) ? N_HOSTS : N_KEYS, kind = any(20);
	u32 whole = any(N_ORIGINS);
	struct baleen_single_change *change = calloc(2 * n_changes, sizeof(*change));
	struct baleen_batch batch = { .rule = RULE, .change = change, .n = n };
	int *want = calloc(2 * n_changes, sizeof(*want));

	/* A snapshot says nothing twice, and nothing of others. */
	if (kind == 0) {
		batch.snapshot_of = origin_name[whole];
		forget_origin(whole);
		n = batch.n = any(n_changes < n_keys ? n_changes : n_keys);
	} else if (kind == 1) {
		batch.flush_of = origin_name[whole];
		forget_origin(whole);
	}
	for (u32 i = 0; i < n; i++) {
		u32 key = kind ? any(n_keys) : i, origin = kind ? any(N_ORIGINS) : whole;
		bool is_exception = !any(6);

		want[i] = !kind || any(2) ? put(&change[i], key, is_exception, origin) :
					    take(&change[i], key, is_exception, origin);
	}
	must(baleen_deploy_batch(deploy, &batch, &error));
	for (u32 i = 0; i < n && kind; i++)
		expect(&change[i], want[i]);
	free(want);
	free(change);
}

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
	if (n != want)
		errx(1, "step %llu: %llu ended, not %llu", (unsigned long long)step,
		     (unsigned long long)n, (unsigned long long)want);
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

	must(baleen_state_begin(&deploy->state, &error));
	must(baleen_state_get_rules(&deploy->state, &plan.rules, &error));
	must(baleen_feeds_each(&deploy->state, RULE, keep, &search, &error));
	must(baleen_feed_take(&deploy->state, &search.feed[feed], fd, &error));
	must(baleen_feeds_put(&deploy->state, &search.feed[feed], &error));
	must(baleen_deploy_put(deploy, &plan, NULL, NULL, NULL, &error));
	close(fd);
}

static void check_map(const struct baleen_deploy *deploy)
{
	struct baleen_filter filter;
	char text[BALEEN_KEY_TEXT];

	must(baleen_xdp_map_rule(&deploy->xdp, 0, &filter, &error));
	for (u32 i = 0; i < N_PROBES; i++) {
		struct baleen_key key = any_address();

		if (baleen_filter_test(&filter, &key) == is_in(&key))
			continue;
		baleen_key_format(&key, BALEEN_KEY_SRC, text);
		errx(1, "step %llu: %s is %s, and shall not", (unsigned long long)step, text,
		     is_in(&key) ? "not in" : "in");
	}
	baleen_filter_free(&filter);
}

/* --- begin and end ---------------------------------------------------------- */

static void make(struct baleen_deploy *deploy, const char *device)
{
	struct baleen_deploy_plan plan = { .rules = { .n_rules = 1 } };
	struct baleen_state_rule *rule = &plan.rules.rule[0];
	char text[BALEEN_SINGLE_TEXT + 1];

	*rule = (struct baleen_state_rule){ .name = RULE,
					    .action = BALEEN_ACTION_DROP,
					    .key_spec = BALEEN_KEY_SRC,
					    .kind = BALEEN_KIND_CUCKOO,
					    .guards_feeds = true };
	must(baleen_state_create(&deploy->state, device, true, TIMEOUT_MS, &error));
	must(baleen_state_begin(&deploy->state, &error));
	must(baleen_state_set_rules(&deploy->state, &plan.rules, &error));
	for (u32 i = 0; i < N_FEEDS; i++) {
		struct baleen_feed feed = { .rule = RULE };

		must(baleen_feeds_put(&deploy->state, &feed, &error));
	}
	sprintf(text, "%s\n", never.text);
	must(baleen_state_set_text(&deploy->state, "never", text, &error));
	must(baleen_deploy_put(deploy, &plan, NULL, NULL, NULL, &error));
}

static void go_step(struct baleen_deploy *deploy, u32 n_changes)
{
	u64 kind = any(100);

	if (kind < 2)
		go_feed(deploy);
	else if (kind < 12)
		go_expiry(deploy);
	else
		go_batch(deploy, n_changes);
	check_map(deploy);
}

static void print_address(struct baleen_key key)
{
	char text[BALEEN_KEY_TEXT];

	baleen_key_format(&key, BALEEN_KEY_SRC, text);
	printf("%s %c\n", text, is_in(&key) ? 'D' : 'P');
}

static void print_all(void)
{
	for (u32 i = 0; i < 2 * 128; i++)
		print_address((struct baleen_key){ .domain = BALEEN_IP4,
						   .ip4 = 20u << 24 | (i & 1) << 16 | i >> 1 });
	for (u32 i = 0; i < 2 * 4 * 16; i++)
		print_address(
			(struct baleen_key){ .domain = BALEEN_IP6,
					     .hi = 0x2400ull << 48 | (i & 1) << 16 | (i >> 1 & 3),
					     .lo = i >> 3 });
}

int main(int argc, char **argv)
{
	struct baleen_deploy deploy = { 0 };
	u64 n_steps;

	if (argc != 5)
		errx(2, "usage: history DEV SEED STEPS CHANGES");
	random_state = strtoull(argv[2], NULL, 0);
	n_steps = strtoull(argv[3], NULL, 0);
	from_ms = baleen_now_ms();
	make_entries();
	make(&deploy, argv[1]);
	for (step = 1; step <= n_steps; step++)
		go_step(&deploy, atoi(argv[4]));
	baleen_deploy_close(&deploy);
	print_all();
	return 0;
}
