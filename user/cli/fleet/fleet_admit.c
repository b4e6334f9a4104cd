// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet admit: a policy that knows one host more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fleet/fleet_setup.h"

/* Are the first words of a line these? The second may be NULL. */
static bool begins_with(const char *line, const char *first, const char *second)
{
	static const char blanks[] = " \t\r";
	size_t n;

	line += strspn(line, blanks);
	n = strcspn(line, " \t\r\n#");
	if (n != strlen(first) || strncmp(line, first, n))
		return false;
	return !second || begins_with(line + n, second, NULL);
}

/**
 * struct change - what becomes of a policy
 * @serial: the next one
 * @host: a host
 * @key: its key; NULL when it goes
 * @is_operator: it may pardon and suspend
 * @control: its name as an operator
 */
struct change {
	u64 serial;
	const char *host;
	const char *key;
	bool is_operator;
	char control[BALEEN_FLEET_PUBLISHER_BYTES];
};

/* A statement that is not about the publisher above it. */
static bool begins_anew(const char *line)
{
	return begins_with(line, "publisher", NULL) || begins_with(line, "host", NULL) ||
	       begins_with(line, "serial", NULL) || begins_with(line, "fleet", NULL) ||
	       begins_with(line, "never", NULL) || begins_with(line, "group", NULL) ||
	       begins_with(line, "expires", NULL);
}

static void print_line(FILE *file, const struct change *change, const char *line)
{
	if (begins_with(line, "serial", NULL))
		fprintf(file, "serial %llu\n", (unsigned long long)change->serial);
	else if (!begins_with(line, "host", change->host))
		fprintf(file, "%.*s\n", (int)strcspn(line, "\n"), line);
}

/* The text with the next serial and a host; of one that it names, its line goes, and if it is out,
 * what it may as an operator. The first pattern that fits counts, so that stands before the others.
 */
static char *edit(const char *text, const struct change *change)
{
	bool is_written = !change->is_operator, passes_over = false;
	size_t n = 0;
	char *edited = NULL;
	FILE *file = open_memstream(&edited, &n);

	while (file && *text) {
		bool is_publisher = begins_with(text, "publisher", NULL);

		if (begins_anew(text))
			passes_over = (!change->key || change->is_operator) &&
				      begins_with(text, "publisher", change->control);
		if (is_publisher && !is_written)
			fprintf(file, "publisher %s\n" FLEET_OPERATOR_LIMITS, change->control);
		is_written |= is_publisher;
		if (!passes_over)
			print_line(file, change, text);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	if (!file)
		return NULL;
	if (!is_written)
		fprintf(file, "publisher %s\n" FLEET_OPERATOR_LIMITS, change->control);
	if (change->key)
		fprintf(file, "host %s %s\n", change->host, change->key);
	if (fclose(file)) {
		free(edited);
		return NULL;
	}
	return edited;
}

/* The key of a host as text, and true; false when the policy has no such host. */
static bool find_key(const struct baleen_fleet_policy *policy, const char *host, char *text)
{
	const u8 *key;
	char name[BALEEN_FLEET_PUBLISHER_BYTES];

	snprintf(name, sizeof(name), "%s/" FLEET_OPERATOR, host);
	key = baleen_fleet_policy_key(policy, name);
	if (key)
		baleen_fleet_public_format(key, text);
	return key;
}

/* Does a text say what was asked for? It is parsed before it is signed. */
static int check(const struct baleen_fleet_conf *conf, const char *text, const char *host,
		 const char *key)
{
	struct baleen_fleet_policy policy = { 0 };
	char has[BALEEN_FLEET_PUBLIC_TEXT];
	struct baleen_error error;
	bool is_right;

	if (baleen_fleet_policy_parse(text, strlen(text), conf->policy_path, &policy, &error))
		return complain("%s", error.text);
	is_right = find_key(&policy, host, has) ? key && !strcmp(has, key) : !key;
	baleen_fleet_policy_free(&policy);
	return is_right ? 0 :
			  complain("%s: '%s' cannot be edited: do it by hand, and sign it",
				   conf->policy_path, host);
}

static int edit_and_sign(const struct baleen_fleet_conf *conf, const char *text,
			 const struct change *change)
{
	char *edited = edit(text, change);
	int err = edited ? check(conf, edited, change->host, change->key) :
			   complain("not enough memory");

	if (!err)
		err = fleet_policy_sign(conf, edited);
	free(edited);
	return err;
}

static int admit(const struct baleen_fleet_conf *conf, struct change *change)
{
	struct baleen_fleet_signed texts = { 0 };
	struct baleen_fleet_policy policy = { 0 };
	const char *host = change->host;
	char has[BALEEN_FLEET_PUBLIC_TEXT];
	struct baleen_error error;
	int err;

	if (baleen_fleet_site_policy(conf, &policy, &texts, &error))
		return complain("%s", error.text);
	change->serial = policy.serial + 1;
	snprintf(change->control, sizeof(change->control), "%.40s/" BALEEN_FLEET_CONTROL_ORIGIN,
		 host);
	err = change->key || find_key(&policy, host, has) ?
		      edit_and_sign(conf, texts.text, change) :
		      complain("%s: the policy knows no host '%s'", conf->fleet, host);
	baleen_fleet_policy_free(&policy);
	baleen_fleet_signed_free(&texts);
	if (err)
		return err;
	say("%s: %s is %s, policy %llu\n", conf->fleet, host,
	    !change->key	? "out" :
	    change->is_operator ? "admitted as an operator" :
				  "admitted",
	    (unsigned long long)change->serial);
	return finish_output(EXIT_DONE);
}

struct admit {
	bool removes, is_operator;
};

static int run(int argc, char **argv)
{
	u8 public_key[BALEEN_FLEET_PUBLIC_BYTES];
	struct admit asked = { 0 };
	struct baleen_fleet_conf conf;
	struct baleen_error error;
	struct change change = { .serial = 0 };
	int err = options_parse(&fleet_admit_command, &asked, &argc, &argv);

	if (err)
		return err;
	if (asked.removes && asked.is_operator)
		return complain_usage(&fleet_admit_command, "--remove takes no --operator");
	if (argc != 2 - asked.removes)
		return complain_usage(&fleet_admit_command,
				      asked.removes ? "one host is asked for" :
						      "a host and its key are asked for");
	if (!asked.removes && baleen_fleet_public_parse(argv[1], public_key))
		return complain_usage(&fleet_admit_command, "'%s': no public key of a host",
				      argv[1]);
	if (baleen_fleet_conf_read(&conf, &error))
		return complain("%s", error.text);
	change.host = argv[0];
	change.key = asked.removes ? NULL : argv[1];
	change.is_operator = asked.is_operator;
	return admit(&conf, &change);
}

static const struct option_spec options[] = {
	FLAG("operator", 0, admit, is_operator, "it may pardon, suspend, and ask all hosts"),
	FLAG("remove", 0, admit, removes, "take the host out: what it publishes counts no longer"),
	{ 0 },
};

const struct command fleet_admit_command = {
	.name = "fleet admit",
	.synopsis = "[--operator] HOST KEY | --remove HOST",
	.help = "Signs a policy that knows this host, by the key that 'baleen fleet join' printed\n"
		"there, and gives it the next serial. It reaches all hosts over Redis.\n",
	.options = options,
	.run = run,
};
