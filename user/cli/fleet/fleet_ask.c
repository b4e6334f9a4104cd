// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet who --all, why --all: how a key stands on each host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"
#include "fleet/fleet_answer.h"
#include "fleet/fleet_own.h"
#include "util/clock.h"

/* Hosts have so long to get what was said here. */
#define UNTIL_MS 10000

/**
 * struct asked - a question and its answers
 * @policy: the hosts
 * @answer: of each host of @policy: enum baleen_fleet_answer, -1 for none
 * @reason: of each host, inside @text; NULL for none
 * @n_banned: hosts on which it is in force
 * @text: all answers
 */
struct asked {
	struct baleen_fleet_policy policy;
	int *answer;
	const char **reason;
	size_t n_banned;
	char *text;
};

static const char *word_of(int answer)
{
	static const char *const words[] = {
		[BALEEN_FLEET_NOT_BANNED] = "knows of no ban",
		[BALEEN_FLEET_BANNED] = "in force",
		[BALEEN_FLEET_NOT_COUNTED] = "does not count",
		[BALEEN_FLEET_NO_RULE] = "no rule takes bans of the fleet",
		[BALEEN_FLEET_NOT_HELD] = "not in force",
	};

	return answer < 0 ? "no answer" : words[answer];
}

/* Lines of HOST, answer and reason, as baleen-fleetd has verified them. */
static void take_answers(struct asked *asked, char *text)
{
	char *rest, *end;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t n = strcspn(line, " ");
		unsigned long answer = line[n] ? strtoul(line + n, &end, 10) : ~0ul;

		for (size_t i = 0; answer <= BALEEN_FLEET_NOT_HELD && i < asked->policy.n_hosts;
		     i++) {
			const char *host = asked->policy.host[i].name;

			if (strlen(host) != n || strncmp(host, line, n))
				continue;
			asked->answer[i] = answer;
			asked->reason[i] = *end ? end + 1 : end;
			asked->n_banned += answer == BALEEN_FLEET_BANNED;
		}
	}
}

static int print_text(const struct asked *asked, const char *key)
{
	say("%s: in force on %zu of %zu\n", key, asked->n_banned, asked->policy.n_hosts);
	for (size_t i = 0; i < asked->policy.n_hosts; i++) {
		const char *reason = asked->reason[i];

		if (asked->answer[i] == BALEEN_FLEET_BANNED)
			continue;
		say("  %s  %s%s%s\n", asked->policy.host[i].name, word_of(asked->answer[i]),
		    reason && *reason ? ": " : "", reason ? reason : "");
	}
	return finish_output(EXIT_DONE);
}

static int print_objects(const struct asked *asked, const char *key)
{
	json_t *hosts = json_array();

	for (size_t i = 0; i < asked->policy.n_hosts; i++)
		json_array_append_new(
			hosts, json_pack("{s:s, s:b, s:s, s:o}", "host", asked->policy.host[i].name,
					 "in_force", asked->answer[i] == BALEEN_FLEET_BANNED,
					 "state", word_of(asked->answer[i]), "reason",
					 json_text(asked->reason[i] ? asked->reason[i] : "")));
	return print_json(json_pack("{s:s, s:I, s:I, s:o}", "key", key, "in_force",
				    (json_int_t)asked->n_banned, "of",
				    (json_int_t)asked->policy.n_hosts, "hosts", hosts));
}

static int sign(const struct fleet_place *place, const struct baleen_fleet_policy *policy,
		const struct baleen_fleet_message *message, struct baleen_fleet_writer *writer)
{
	struct baleen_fleet_keys keys;
	struct baleen_error error;
	bool is_next;
	int err = baleen_fleet_site_keys(&place->conf, policy, &keys, &is_next, &error);

	if (!err) {
		const struct baleen_fleet_signer signer = { .fleet = place->conf.fleet,
							    .keys = &keys,
							    .now_ms = fleet_now_ms(place) };

		err = baleen_fleet_own_control(&signer, message, writer, &error);
		baleen_fleet_keys_wipe(&keys);
	}
	return err ? complain("%s", error.text) : 0;
}

static void forget_answers(struct asked *asked)
{
	for (size_t i = 0; i < asked->policy.n_hosts; i++) {
		asked->answer[i] = -1;
		asked->reason[i] = NULL;
	}
	asked->n_banned = 0;
	free(asked->text);
	asked->text = NULL;
}

static int ask(const struct fleet_place *place, struct asked *asked,
	       const struct baleen_fleet_key *key, u64 wait_ms)
{
	struct baleen_fleet_writer writer = { 0 };
	struct baleen_fleet_message message = { .type = BALEEN_FLEET_CONTROL,
						.control = BALEEN_FLEET_ASK,
						.set = BALEEN_FLEET_SET,
						.key = *key };
	char wait[24];
	int err;

	strcpy(message.fleet, place->conf.fleet);
	snprintf(message.publisher, sizeof(message.publisher), "%s/" BALEEN_FLEET_CONTROL_ORIGIN,
		 place->conf.host);
	snprintf(wait, sizeof(wait), "%llu", (unsigned long long)wait_ms);
	forget_answers(asked);
	err = sign(place, &asked->policy, &message, &writer);
	if (!err)
		err = fleet_run_order("--ask", wait, writer.bytes, writer.n_bytes, &asked->text);
	baleen_fleet_writer_free(&writer);
	if (!err)
		take_answers(asked, asked->text);
	return err;
}

/* Hosts would not answer: that is said before they are asked. */
static int check_right(const struct fleet_place *place, const struct asked *asked)
{
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	const struct baleen_fleet_grant *grant;

	snprintf(publisher, sizeof(publisher), "%s/" BALEEN_FLEET_CONTROL_ORIGIN, place->conf.host);
	grant = baleen_fleet_policy_grant(&asked->policy, publisher);
	if (grant && grant->may_suspend && baleen_fleet_policy_key(&asked->policy, publisher))
		return 0;
	return complain("%s may not ask all hosts: it is no operator of %s (where the policy is "
			"signed: baleen fleet admit --operator %s KEY)",
			place->conf.host, place->conf.fleet, place->conf.host);
}

/* Until enough hosts have it, or time is over. */
static int ask_until(const struct fleet_place *place, struct asked *asked,
		     const struct baleen_fleet_key *key, const struct fleet_asking *asking)
{
	u64 until_ms = baleen_monotonic_ms() + UNTIL_MS;
	u64 least = asking->least < asked->policy.n_hosts ? asking->least : asked->policy.n_hosts;
	char subject[BALEEN_FLEET_KEY_TEXT];
	int err;

	do {
		err = ask(place, asked, key, asking->wait_ms);
	} while (!err && asked->n_banned < least && baleen_monotonic_ms() < until_ms);
	if (err)
		return err;
	baleen_fleet_key_format(key, subject);
	err = asking->is_json ? print_objects(asked, subject) : print_text(asked, subject);
	return err ? err : asked->n_banned >= (least ? least : 1) ? EXIT_DONE : EXIT_FAILED;
}

int fleet_ask(const struct fleet_place *place, const struct baleen_fleet_key *key,
	      const struct fleet_asking *asking)
{
	struct asked asked = { 0 };
	struct baleen_error error;
	int err;

	if (baleen_fleet_site_policy(&place->conf, &asked.policy, NULL, &error))
		return complain("%s", error.text);
	if (check_right(place, &asked)) {
		baleen_fleet_policy_free(&asked.policy);
		return EXIT_FAILED;
	}
	asked.answer = malloc((asked.policy.n_hosts + 1) * sizeof(*asked.answer));
	asked.reason = calloc(asked.policy.n_hosts + 1, sizeof(*asked.reason));
	err = asked.answer && asked.reason ? ask_until(place, &asked, key, asking) :
					     complain("not enough memory");
	free(asked.text);
	free(asked.answer);
	free(asked.reason);
	baleen_fleet_policy_free(&asked.policy);
	return err;
}
