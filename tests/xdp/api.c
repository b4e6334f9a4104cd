// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The public library and one live rule, at a test's command: api DEV:RULE
 *
 * Reads lines, and says of each what came out:
 *	test KEY | refresh | entries | save FILE | add KEY | del KEY
 *	ban KEY | bans KEY (that the peer of a session may be) | unban KEY | flush
 */
#include <stdio.h>
#include <string.h>

#include "libbaleen.h"

static int change(struct baleen_set *set, const char *word, const char *key)
{
	struct baleen_keys *keys;
	int err = baleen_keys_new("src", &keys);

	if (err)
		return err;
	err = baleen_keys_add(keys, key);
	if (!err)
		err = strcmp(word, "add") ? baleen_set_del(set, keys) : baleen_set_add(set, keys);
	baleen_keys_free(keys);
	return err;
}

static int entries(const struct baleen_set *set)
{
	struct baleen_set_info info = { .size = sizeof(info) };
	int err = baleen_set_info(set, &info);

	return err ? err : info.is_live ? (int)info.n_entries : -1;
}

static int ban(const char *rule, const char *word, const char *key)
{
	const struct baleen_entry_options options = {
		.size = sizeof(options),
		.origin = "api",
		.reason = "a test",
		.ttl_s = 3600,
		.flags = strcmp(word, "bans") ? 0 : BALEEN_ENTRY_CUTS_SESSIONS,
	};

	if (!strcmp(word, "unban"))
		return baleen_rule_del(rule, &key, 1, "api");
	if (!strcmp(word, "flush"))
		return baleen_rule_flush(rule, "api");
	return baleen_rule_add(rule, &key, 1, &options);
}

static int obey(const char *rule, struct baleen_set *set, const char *word, const char *argument)
{
	if (strstr(word, "ban") || !strcmp(word, "flush"))
		return ban(rule, word, argument);
	if (!strcmp(word, "test"))
		return baleen_set_test(set, argument);
	if (!strcmp(word, "refresh"))
		return baleen_set_refresh(set);
	if (!strcmp(word, "entries"))
		return entries(set);
	if (!strcmp(word, "save"))
		return baleen_set_save(set, argument, 0600);
	return change(set, word, argument);
}

int main(int argc, char **argv)
{
	char line[256], word[16], argument[200];
	struct baleen_set *set;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2 || baleen_set_open_rule(argv[1], &set)) {
		fprintf(stderr, "%s\n", baleen_error_text());
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		int result;

		*argument = '\0';
		if (sscanf(line, "%15s %199s", word, argument) < 1)
			return 2;
		result = obey(argv[1], set, word, argument);
		printf("%d %s\n", result, result < 0 ? baleen_error_text() : "");
	}
	baleen_set_close(set);
	return 0;
}
