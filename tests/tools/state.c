// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One change of the state of a device, to be killed on the way:
 *
 *      state make DEV              there is none: one with all of it old
 *      state change DEV            text, feed and single entry become new
 *      state copy DEV PATH         put aside
 *      state replace DEV PATH      taken back
 *      state remove DEV
 *      state show DEV              "TEXT FEED ENTRY", or "none"
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <state/feeds.h>

#define TIMEOUT_MS 1000
#define RULE "drop"

static struct baleen_error error;

static void must(int code)
{
	if (code < 0)
		errx(1, "%s", error.text);
}

static int bytes_fd(const char *text)
{
	int fd = memfd_create("feed", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "memfd");
	return fd;
}

static void open_state(struct baleen_rule_store *state, const char *device)
{
	must(baleen_rule_store_open(state, device, TIMEOUT_MS, &error));
}

static int take_feed(const struct baleen_feed *feed, void *data)
{
	*(struct baleen_feed *)data = *feed;
	return 0;
}

/* Everything in one transaction: it is called by one word. */
static void write_all(struct baleen_rule_store *state, const char *word)
{
	struct baleen_feed feed = { .rule = RULE, .wanted.source = "feed" };
	int fd = bytes_fd(word);

	must(baleen_rule_store_set_text(state, "conf", word, &error));
	must(baleen_feeds_each(state, RULE, take_feed, &feed, &error));
	must(baleen_feeds_put(state, &feed, &error));
	must(baleen_feed_accept(state, &feed, fd, &error));
	close(fd);
}

/* What cannot be made is not left half-made. */
static struct baleen_rule_store made;

static void close_made(void)
{
	baleen_rule_store_close(&made);
}

static void make(const char *device)
{
	static struct baleen_stored_rules rules = { .n_rules = 1 };

	rules.rule[0] = (struct baleen_stored_rule){ .name = RULE,
						     .key_spec = BALEEN_KEY_SRC,
						     .kind = BALEEN_KIND_CUCKOO };
	must(baleen_rule_store_create(&made, device, true, TIMEOUT_MS, &error));
	atexit(close_made);
	must(baleen_rule_store_begin(&made, &error));
	must(baleen_rule_store_set_rules(&made, &rules, &error));
	write_all(&made, "old");
	must(baleen_rule_store_commit(&made, &error));
}

static void change(const char *device)
{
	struct baleen_rule_store state;

	open_state(&state, device);
	must(baleen_rule_store_begin(&state, &error));
	write_all(&state, "new");
	must(baleen_rule_store_commit(&state, &error));
	baleen_rule_store_close(&state);
}

static int print_feed(const struct baleen_feed *feed, void *data)
{
	int fd = baleen_feed_open(data, feed, &error);
	char text[64] = "";

	must(fd);
	if (read(fd, text, sizeof(text) - 1) < 0)
		err(1, "%s", feed->wanted.source);
	printf(" %s", text);
	close(fd);
	return 0;
}

static void show(const char *device)
{
	struct baleen_rule_store state;
	int code = baleen_rule_store_open(&state, device, 0, &error);
	char *text;

	if (code == -ENOENT) {
		puts("none");
		return;
	}
	must(code);
	must(baleen_rule_store_get_text(&state, "conf", &text));
	printf("%s", text ? text : "nothing");
	must(baleen_feeds_each(&state, NULL, print_feed, &state, &error));
	puts("");
	free(text);
	baleen_rule_store_close(&state);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "", *device = argv[2];
	struct baleen_rule_store state;

	if (argc == 3 && !strcmp(what, "make")) {
		make(device);
	} else if (argc == 3 && !strcmp(what, "change")) {
		change(device);
	} else if (argc == 3 && !strcmp(what, "show")) {
		show(device);
	} else if (argc == 3 && !strcmp(what, "remove")) {
		open_state(&state, device);
		baleen_rule_store_remove(&state);
	} else if (argc == 4 && !strcmp(what, "copy")) {
		open_state(&state, device);
		must(baleen_rule_store_copy(&state, argv[3], &error));
		baleen_rule_store_close(&state);
	} else if (argc == 4 && !strcmp(what, "replace")) {
		open_state(&state, device);
		must(baleen_rule_store_replace(&state, argv[3], &error));
		baleen_rule_store_close(&state);
	} else {
		errx(2, "usage: state make|change|copy|replace|remove|show DEV [PATH]");
	}
	return 0;
}
