// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Changes a device together with its state, by the library alone:
 *
 *      deploy make DEV kept|volatile ACTION[+guarded]:RULE[=FEED]...
 *      deploy batch DEV RULE [--snapshot ORIGIN] [--flush ORIGIN] [--atomic] [--cut]
 *             [--force] [+[!]KEY | -[!]KEY | +KEY%TTL_MS]... [@ORIGIN]...
 *      deploy update DEV RULE FEED     another copy of the rule's only feed
 *      deploy swap DEV RULE...         the same rules in this order
 *      deploy open DEV                 open and close
 *      deploy restore DEV
 *      deploy expire DEV MS            as if it were so much later
 *      deploy holds DEV RULE KEY...    y or n for each, by the state
 *      deploy why DEV RULE KEY         the entries that hold it
 *      deploy derive DEV RULE          how long it takes
 *
 * @ORIGIN is that of the changes behind it. A batch prints the result of each
 * change and whether it was made in place.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <deploy/deploy.h>

#define TIMEOUT_MS 10000

static struct baleen_error error;

static void must(int code)
{
	if (code)
		errx(1, "%s (%s)", error.text, strerror(-code));
}

static const struct baleen_stored_rule *find_rule(const struct baleen_stored_rules *rules,
						  const char *name)
{
	for (u32 i = 0; i < rules->n_rules; i++)
		if (!strcmp(rules->rule[i].name, name))
			return &rules->rule[i];
	errx(1, "no rule '%s'", name);
}

/* --- make ------------------------------------------------------------------ */

static void add_rule(struct baleen_stored_rules *rules, char *word)
{
	struct baleen_stored_rule *rule = &rules->rule[rules->n_rules++];
	char *colon = strchr(word, ':');

	if (!colon)
		errx(2, "'%s': no ACTION:RULE", word);
	*colon = '\0';
	*rule = (struct baleen_stored_rule){ .key_spec = BALEEN_KEY_SRC,
					     .kind = BALEEN_KIND_CUCKOO,
					     .limits = baleen_feed_limits_default() };
	rule->guards_feeds = strstr(word, "+guarded");
	rule->limits.keep_special = !rule->guards_feeds;
	rule->is_any = strstr(word, "+any");
	rule->action = !strncmp(word, "allow", 5) ? BALEEN_ACTION_ALLOW :
		       !strncmp(word, "count", 5) ? BALEEN_ACTION_COUNT :
						    BALEEN_ACTION_DROP;
	snprintf(rule->name, sizeof(rule->name), "%.*s", (int)strcspn(colon + 1, "="), colon + 1);
}

static void take_copy(struct baleen_rule_store *state, struct baleen_feed *feed, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "%s", path);
	feed->format = strstr(path, ".bln") ? BALEEN_FEED_IMAGE : BALEEN_FEED_LIST;
	must(baleen_feed_accept(state, feed, fd, &error));
	must(baleen_feeds_put(state, feed, &error));
	close(fd);
}

static void add_feed(struct baleen_rule_store *state, const char *rule, const char *path)
{
	struct baleen_feed feed = { .id = 0 };

	snprintf(feed.rule, sizeof(feed.rule), "%s", rule);
	snprintf(feed.wanted.source, sizeof(feed.wanted.source), "%s", path);
	must(baleen_feeds_put(state, &feed, &error));
	take_copy(state, &feed, path);
}

static int make(int argc, char **argv)
{
	struct baleen_deploy deploy = { 0 };
	struct baleen_deploy_plan plan = { 0 };
	struct baleen_attempts attempts;
	const char *never = getenv("DEPLOY_NEVER");

	for (int i = 2; i < argc; i++)
		add_rule(&plan.rules, strdup(argv[i]));
	snprintf(plan.rules.never_path, sizeof(plan.rules.never_path), "%s", never ? never : "");
	must(baleen_rule_store_create(&deploy.state, argv[0], !strcmp(argv[1], "kept"), TIMEOUT_MS,
				      &error));
	must(baleen_rule_store_begin(&deploy.state, &error));
	must(baleen_rule_store_set_rules(&deploy.state, &plan.rules, &error));
	for (int i = 2; i < argc; i++)
		if (strchr(argv[i], '='))
			add_feed(&deploy.state, plan.rules.rule[i - 2].name,
				 strchr(argv[i], '=') + 1);
	must(baleen_protected_refresh(&deploy.state, &error));
	must(baleen_deploy_put(&deploy, &plan, &attempts, NULL, NULL, &error));
	baleen_deploy_close(&deploy);
	return 0;
}

/* --- batch ----------------------------------------------------------------- */

static const char *result_text(const struct baleen_rule_entry_change *change)
{
	static char text[512];

	switch (change->result) {
	case 0: return "ok";
	case -EEXIST: return "renewed";
	case -ENOENT: return "absent";
	case -EPERM:
		snprintf(text, sizeof(text), "withheld(%s %s)", change->protected.key,
			 change->protected.what);
		return text;
	default: return "?";
	}
}

static void add_change(struct baleen_batch *batch, const char *word, const char *origin)
{
	struct baleen_rule_entry_change *change = &batch->change[batch->n++];
	struct baleen_rule_entry *entry = &change->entry;
	char text[256];
	char *ttl;

	snprintf(text, sizeof(text), "%s", word + 1);
	ttl = strchr(text, '%');
	if (ttl)
		*ttl++ = '\0';
	*change = (struct baleen_rule_entry_change){
		.op = *word == '+' ? BALEEN_RULE_ENTRY_PUT : BALEEN_RULE_ENTRY_REMOVE,
	};
	must(baleen_rule_entry_parse(text, BALEEN_KEY_SRC, BALEEN_AS_WRITTEN, entry, &error));
	snprintf(entry->origin, sizeof(entry->origin), "%s", origin);
	entry->added_ms = baleen_now_ms();
	if (ttl)
		entry->expires_ms = entry->added_ms + atoll(ttl);
}

static void read_words(struct baleen_batch *batch, int argc, char **argv)
{
	const char *origin = BALEEN_ORIGIN_MANUAL;

	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--snapshot"))
			batch->snapshot_of = argv[++i];
		else if (!strcmp(argv[i], "--flush"))
			batch->flush_of = argv[++i];
		else if (!strcmp(argv[i], "--atomic"))
			batch->atomic = true;
		else if (!strcmp(argv[i], "--cut"))
			batch->cuts_sessions = true;
		else if (!strcmp(argv[i], "--force"))
			batch->forces = true;
		else if (argv[i][0] == '@')
			origin = argv[i] + 1;
		else
			add_change(batch, argv[i], origin);
	}
}

static int run_batch(int argc, char **argv)
{
	struct baleen_batch batch = { .rule = argv[1] };
	struct baleen_deploy deploy;

	batch.change = calloc(argc, sizeof(*batch.change));
	read_words(&batch, argc - 2, argv + 2);
	must(baleen_deploy_open(&deploy, argv[0], TIMEOUT_MS, &error));
	must(baleen_deploy_batch(&deploy, &batch, &error));
	for (size_t i = 0; i < batch.n; i++)
		printf("%s ", result_text(&batch.change[i]));
	if (batch.snapshot_of || batch.flush_of)
		printf("flushed:%llu ", (unsigned long long)batch.n_flushed);
	puts(batch.in_place ? "in-place" : "anew");
	baleen_deploy_close(&deploy);
	free(batch.change);
	return 0;
}

/* --- put ------------------------------------------------------------------- */

static int keep_feed(const struct baleen_feed *feed, void *data)
{
	*(struct baleen_feed *)data = *feed;
	return 0;
}

static int update(int argc, char **argv)
{
	struct baleen_deploy_plan plan = { 0 };
	struct baleen_feed feed = { 0 };
	struct baleen_deploy deploy;

	must(baleen_deploy_open(&deploy, argv[0], TIMEOUT_MS, &error));
	must(baleen_rule_store_begin(&deploy.state, &error));
	must(baleen_rule_store_get_rules(&deploy.state, &plan.rules, &error));
	plan.rebuild[find_rule(&plan.rules, argv[1]) - plan.rules.rule] = true;
	must(baleen_feeds_each(&deploy.state, argv[1], keep_feed, &feed, &error));
	take_copy(&deploy.state, &feed, argv[2]);
	must(baleen_protected_refresh(&deploy.state, &error));
	must(baleen_deploy_put(&deploy, &plan, NULL, NULL, NULL, &error));
	baleen_deploy_close(&deploy);
	return 0;
}

static int swap(int argc, char **argv)
{
	struct baleen_deploy_plan plan = { 0 };
	struct baleen_stored_rules rules;
	struct baleen_deploy deploy;

	must(baleen_deploy_open(&deploy, argv[0], TIMEOUT_MS, &error));
	must(baleen_rule_store_begin(&deploy.state, &error));
	must(baleen_rule_store_get_rules(&deploy.state, &rules, &error));
	plan.rules = rules;
	for (int i = 1; i < argc; i++)
		plan.rules.rule[i - 1] = *find_rule(&rules, argv[i]);
	plan.rules.n_rules = argc - 1;
	must(baleen_rule_store_set_rules(&deploy.state, &plan.rules, &error));
	must(baleen_deploy_put(&deploy, &plan, NULL, NULL, NULL, &error));
	baleen_deploy_close(&deploy);
	return 0;
}

static int open_only(int argc, char **argv)
{
	struct baleen_deploy deploy;

	must(baleen_deploy_open(&deploy, argv[0], TIMEOUT_MS, &error));
	puts(deploy.has_xdp ? "attached" : "not attached");
	baleen_deploy_close(&deploy);
	return 0;
}

static int restore(int argc, char **argv)
{
	struct baleen_attempts attempts;
	struct baleen_deploy deploy;

	must(baleen_deploy_open(&deploy, argv[0], TIMEOUT_MS, &error));
	must(baleen_deploy_restore(&deploy, &attempts, &error));
	puts(deploy.has_xdp ? "attached" : "not attached");
	baleen_deploy_close(&deploy);
	return 0;
}

static int expire(int argc, char **argv)
{
	struct baleen_deploy deploy;
	u64 n;

	must(baleen_deploy_open(&deploy, argv[0], TIMEOUT_MS, &error));
	must(baleen_deploy_expire(&deploy, baleen_now_ms() + atoll(argv[1]), &n, &error));
	printf("%llu\n", (unsigned long long)n);
	baleen_deploy_close(&deploy);
	return 0;
}

/* --- ask ------------------------------------------------------------------- */

static const struct baleen_stored_rule *open_rule(struct baleen_rule_store *state, char **argv)
{
	static struct baleen_stored_rules rules;

	must(baleen_rule_store_open(state, argv[0], 0, &error));
	must(baleen_rule_store_get_rules(state, &rules, &error));
	return find_rule(&rules, argv[1]);
}

static struct baleen_key parse_key(const char *text)
{
	const char *reason;
	struct baleen_key key;

	if (baleen_key_parse(text, strlen(text), BALEEN_KEY_SRC, &key, &reason))
		errx(2, "'%s': %s", text, reason);
	return key;
}

static int holds(int argc, char **argv)
{
	struct baleen_rule_store state;
	const struct baleen_stored_rule *rule = open_rule(&state, argv);
	bool is_held;

	for (int i = 2; i < argc; i++) {
		struct baleen_key key = parse_key(argv[i]);

		must(baleen_derive_holds(&state, rule, &key, baleen_now_ms(), &is_held, &error));
		putchar(is_held ? 'y' : 'n');
	}
	putchar('\n');
	baleen_rule_store_close(&state);
	return 0;
}

static int print_reason(const struct baleen_reason *reason, void *data)
{
	if (reason->is_feed)
		printf("%s:%llu %s\n", baleen_feed_name(&reason->feed).text,
		       (unsigned long long)reason->line, reason->text);
	else
		printf("%s %s\n", baleen_rule_entry_text(&reason->entry).text,
		       reason->entry.origin);
	return 0;
}

static int why(int argc, char **argv)
{
	struct baleen_rule_store state;
	const struct baleen_stored_rule *rule = open_rule(&state, argv);
	struct baleen_key key = parse_key(argv[2]);
	struct baleen_protected protected;

	if (baleen_protected_find(&state, rule, &key, &protected) == 1)
		printf("withheld: %s, %s\n", protected.key, protected.what);
	must(baleen_derive_reasons(&state, rule, &key, baleen_now_ms(), print_reason, NULL,
				   &error));
	baleen_rule_store_close(&state);
	return 0;
}

static int derive(int argc, char **argv)
{
	struct baleen_rule_store state;
	const struct baleen_stored_rule *rule = open_rule(&state, argv);
	struct baleen_derived derived;
	struct baleen_filter filter;
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	must(baleen_derive(&state, rule, baleen_now_ms(), &filter, &derived, &error));
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%llu entries, %llu withheld, %.3f s\n", (unsigned long long)filter.image.n_entries,
	       (unsigned long long)derived.n_protected,
	       to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) * 1e-9);
	baleen_filter_free(&filter);
	baleen_rule_store_close(&state);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
		int n_arguments;
	} commands[] = {
		{ "make", make, 3 },	 { "batch", run_batch, 2 }, { "update", update, 3 },
		{ "swap", swap, 2 },	 { "open", open_only, 1 },  { "restore", restore, 1 },
		{ "expire", expire, 2 }, { "holds", holds, 3 },	    { "why", why, 3 },
		{ "derive", derive, 2 },
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && argc > 1; i++)
		if (!strcmp(argv[1], commands[i].name) && argc - 2 >= commands[i].n_arguments)
			return commands[i].run(argc - 2, argv + 2);
	errx(2, "usage: see the top of tests/tools/deploy.c");
}
