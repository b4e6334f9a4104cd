// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet pardon, suspend and resume: what an operator says to all hosts.
 *
 * It is posted in the database of this host: baleen-fleetd numbers, signs and sends it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"
#include "fleet/fleet_health.h"
#include "fleet/fleet_word.h"
#include "state/entries.h"
#include "util/announce.h"

/**
 * struct control - one run of a command
 * @reason: kept with it
 * @json: report as JSON
 * @place: the fleet
 * @policy: of the fleet
 * @set: what the words go to
 * @verb: in reports
 */
struct control {
	const char *reason;
	bool json;
	struct fleet_place place;
	struct baleen_fleet_policy policy;
	const char *set;
	const char *verb;
};

/* --- may it be said? ----------------------------------------------------------------------- */

/* Others would hold it: that is told before it is said. */
static int check_right(const struct control *control, size_t n)
{
	const char *host = control->place.conf.host, *verb = control->verb;
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	struct baleen_fleet_publisher known = { .n = 0 };
	const struct baleen_fleet_grant *grant;
	bool pardons = !strcmp(verb, "pardon");

	snprintf(publisher, sizeof(publisher), "%s/" BALEEN_FLEET_CONTROL_ORIGIN, host);
	grant = baleen_fleet_policy_grant(&control->policy, publisher);
	if (!grant || !baleen_fleet_policy_key(&control->policy, publisher) ||
	    !(pardons ? grant->may_pardon : grant->may_suspend))
		return complain("%s may not %s: it is no operator of %s (where the policy is "
				"signed: baleen fleet admit --operator %s KEY)",
				host, verb, control->place.conf.fleet, host);
	if (baleen_fleet_store_find(&control->place.store, publisher, &known, NULL) >= 0 &&
	    known.n + n > grant->entries)
		return complain("%s has %llu pardons and suspensions, and the policy lets it have "
				"%llu: %zu more would not count",
				host, (unsigned long long)known.n,
				(unsigned long long)grant->entries, n);
	return 0;
}

static int check_length(const struct control *control, const struct baleen_fleet_key *key)
{
	const struct baleen_fleet_grant *grant;
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES], text[BALEEN_FLEET_KEY_TEXT];
	u32 least;

	snprintf(publisher, sizeof(publisher), "%s/" BALEEN_FLEET_CONTROL_ORIGIN,
		 control->place.conf.host);
	grant = baleen_fleet_policy_grant(&control->policy, publisher);
	least = key->family == 4 ? grant->shortest_ip4 : grant->shortest_ip6;
	if (key->length >= least)
		return 0;
	return complain("%s: the policy lets %s pardon no prefix shorter than /%u",
			baleen_fleet_key_format(key, text), control->place.conf.host, least);
}

/**
 * struct target - a publisher, or all of a host
 * @name: it
 * @is_known: there is one
 * @like: one that there is, for who has mistyped it
 */
struct target {
	const char *name;
	bool is_known;
	char like[BALEEN_FLEET_PUBLISHER_BYTES];
};

static int look_at_publisher(const struct baleen_fleet_publisher *publisher, void *data)
{
	struct target *target = data;
	size_t n_host = strcspn(target->name, "/") + 1;

	if (!strcmp(publisher->name, target->name) ||
	    (!strcmp(target->name + n_host, "*") &&
	     !strncmp(publisher->name, target->name, n_host)))
		target->is_known = true;
	if (!*target->like || !strncmp(publisher->name, target->name, n_host))
		strcpy(target->like, publisher->name);
	return 0;
}

/* A host that the policy knows may publish soon; whose name is none is a misprint. */
static int check_target(const struct control *control, const char *name)
{
	struct target target = { .name = name };
	struct baleen_error error;
	size_t n_host = strcspn(name, "/");

	if (baleen_fleet_store_each(&control->place.store, look_at_publisher, &target, &error))
		return complain("%s", error.text);
	for (size_t i = 0; i < control->policy.n_hosts && !strcmp(name + n_host, "/*"); i++)
		target.is_known |= strlen(control->policy.host[i].name) == n_host &&
				   !strncmp(control->policy.host[i].name, name, n_host);
	if (target.is_known)
		return 0;
	return complain("%s: no publisher of %s has this name%s%s", name, control->place.conf.fleet,
			*target.like ? "; one is " : "", target.like);
}

/* --- say it ---------------------------------------------------------------------------------- */

static int post(struct control *control, const struct baleen_fleet_key *key, size_t n)
{
	struct baleen_fleet_entry entry = { .set = "" };
	struct baleen_fleet_store store;
	struct baleen_error error;
	int err = baleen_fleet_store_open(&store, NULL, true, &error);

	if (err)
		return complain("%s", error.text);
	strcpy(entry.set, control->set);
	strcpy(entry.reason, control->reason ? control->reason : "");
	err = baleen_fleet_store_begin(&store, &error);
	if (!err)
		err = baleen_fleet_word_time(&store, fleet_now_ms(&control->place), &entry.made_ms,
					     &error);
	for (size_t i = 0; i < n && !err; i++) {
		entry.key = key[i];
		err = baleen_fleet_word_post(&store, &entry, &error);
	}
	if (!err)
		err = baleen_fleet_store_commit(&store, &error);
	baleen_fleet_store_close(&store);
	if (err)
		return complain("%s", error.text);
	baleen_announce();
	return 0;
}

static int report(const struct control *control, const struct baleen_fleet_key *key, size_t n)
{
	const char *fleet = control->place.conf.fleet;
	char text[BALEEN_FLEET_KEY_TEXT];
	struct baleen_fleet_health health = { .sends = "" };
	json_t *all = control->json ? json_array() : NULL;

	baleen_fleet_health_read(&control->place.store, baleen_now_ms(), &health, NULL);
	for (size_t i = 0; i < n; i++) {
		baleen_fleet_key_format(&key[i], text);
		if (control->json)
			json_array_append_new(all, json_text(text));
		else
			say("%s: asked of all hosts of %s: %s\n", text, fleet, control->verb);
	}
	if (control->json)
		return print_json(json_pack("{s:s, s:o, s:s, s:o}", "asked", control->verb, "of",
					    all, "fleet", fleet, "waits", json_text(health.sends)));
	if (*health.sends)
		say("it counts here, and is sent when there is a broker: %s\n", health.sends);
	return finish_output(EXIT_DONE);
}

static int say_it(struct control *control, const struct baleen_fleet_key *key, size_t n)
{
	struct baleen_error error;
	int err;

	if (baleen_fleet_site_policy(&control->place.conf, &control->policy, NULL, &error))
		return complain("%s", error.text);
	err = check_right(control, n);
	for (size_t i = 0; i < n && !err; i++)
		err = key[i].family == BALEEN_FLEET_FAMILY_NAME ?
			      check_target(control, (const char *)key[i].address) :
			      check_length(control, &key[i]);
	baleen_fleet_policy_free(&control->policy);
	if (!err)
		err = post(control, key, n);
	return err ? err : report(control, key, n);
}

/* --- the commands -------------------------------------------------------------------------- */

/* A misprint is told before anything else that may be wrong. */
static int parse_key(const struct command *command, const char *text, struct baleen_fleet_key *key)
{
	if (command == &fleet_pardon_command)
		return baleen_fleet_key_parse(text, key) ?
			       complain_usage(command, "'%s': no address or prefix", text) :
			       0;
	*key = baleen_fleet_key_name(text);
	return baleen_fleet_key_check(key) ?
		       0 :
		       complain_usage(command, "'%s': not HOST/ORIGIN, nor HOST/*", text);
}

static int parse_keys(const struct command *command, int argc, char **argv,
		      struct baleen_fleet_key *key)
{
	int err = 0;

	for (int i = 0; i < argc && !err; i++)
		err = parse_key(command, argv[i], &key[i]);
	return err;
}

static int run_control(const struct command *command, struct control *control, int argc,
		       char **argv)
{
	struct baleen_fleet_key *key;
	int err = options_parse(command, control, &argc, &argv);

	if (!err && control->reason && strlen(control->reason) >= BALEEN_FLEET_REASON_BYTES)
		err = complain("--reason: %d bytes or more", BALEEN_FLEET_REASON_BYTES);
	if (err)
		return err;
	key = calloc(argc + 1, sizeof(*key));
	err = key ? parse_keys(command, argc, argv, key) : complain("not enough memory");
	if (!err)
		err = fleet_place_open(&control->place);
	if (!err) {
		err = say_it(control, key, argc);
		fleet_place_close(&control->place);
	}
	free(key);
	return err;
}

static int run_pardon(int argc, char **argv)
{
	struct control control = { .set = BALEEN_FLEET_SET, .verb = "pardon" };

	return run_control(&fleet_pardon_command, &control, argc, argv);
}

static int run_suspend(int argc, char **argv)
{
	struct control control = { .set = BALEEN_FLEET_SUSPENDS, .verb = "suspend" };

	return run_control(&fleet_suspend_command, &control, argc, argv);
}

static int run_resume(int argc, char **argv)
{
	struct control control = { .set = BALEEN_FLEET_RESUMES, .verb = "resume" };

	return run_control(&fleet_resume_command, &control, argc, argv);
}

static const struct option_spec options[] = {
	VALUE("reason", 0, "TEXT", option_text, control, reason, "kept with it"),
	FLAG("json", 'j', control, json, "report as JSON"),
	{ 0 },
};

const struct command fleet_pardon_command = {
	.name = "fleet pardon",
	.synopsis = "[-j] [--reason TEXT] KEY...",
	.help = "Lets addresses or prefixes go on all hosts: no ban that was made before counts any\n"
		"more, and who made it takes it back. A ban that is made later counts again. Only an\n"
		"operator may; without a broker it counts on this host, and is sent later.\n",
	.options = options,
	.asks = { 1, INT_MAX, "an address or prefix is asked for" },
	.run = run_pardon,
};

const struct command fleet_suspend_command = {
	.name = "fleet suspend",
	.synopsis = "[-j] [--reason TEXT] HOST/ORIGIN...",
	.help = "No ban of this publisher counts on any host until 'baleen fleet resume'. They are\n"
		"kept, and go on coming. HOST/* is all that a host publishes. Only an operator may.\n",
	.options = options,
	.asks = { 1, INT_MAX, "a publisher is asked for" },
	.run = run_suspend,
};

const struct command fleet_resume_command = {
	.name = "fleet resume",
	.synopsis = "[-j] [--reason TEXT] HOST/ORIGIN...",
	.help = "The bans of a publisher that was suspended count again. Of words on a publisher, and\n"
		"on HOST/*, the newest counts.\n",
	.options = options,
	.asks = { 1, INT_MAX, "a publisher is asked for" },
	.run = run_resume,
};
