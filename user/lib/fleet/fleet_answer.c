// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Answers of hosts to a question about a key. */
#include <stdio.h>
#include <string.h>

#include "fleet/fleet_answer.h"
#include "fleet/fleet_view.h"
#include "util/little_endian.h"

/**
 * struct looking - bans of a key
 * @set: of the question
 * @counts: one counts
 * @is_own: this host made it
 * @publisher: whose it is; else of the first that does not
 * @state: enum baleen_fleet_state of that one
 * @hold: enum baleen_fleet_hold
 */
struct looking {
	const char *set;
	bool counts;
	bool is_own;
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	u32 state;
	u32 hold;
};

static int look(const struct baleen_fleet_found *found, void *data)
{
	struct looking *looking = data;
	/* A suspension takes nothing out of the rules of the host that made it. */
	bool counts = found->state == BALEEN_FLEET_COUNTS ||
		      (found->is_own && found->state == BALEEN_FLEET_IS_SUSPENDED);

	if (strcmp(found->entry.set, looking->set) || looking->counts ||
	    (!counts && *looking->publisher))
		return 0;
	looking->counts = counts;
	looking->is_own = found->is_own;
	strcpy(looking->publisher, found->publisher);
	looking->state = found->state;
	looking->hold = found->hold;
	return 0;
}

static u32 answer_of_counted(const struct looking *looking, const struct baleen_fleet_live *live)
{
	if (baleen_fleet_live_holds(live, looking->is_own))
		return BALEEN_FLEET_BANNED;
	return looking->is_own || live->taken.n_rules ? BALEEN_FLEET_NOT_HELD :
							BALEEN_FLEET_NO_RULE;
}

static void fill(const struct looking *looking, const struct baleen_fleet_live *live,
		 struct baleen_fleet_message *message)
{
	const char *why = looking->is_own ? live->own.why : live->taken.why;
	char state[64];

	if (!*looking->publisher) {
		message->value = BALEEN_FLEET_NOT_BANNED;
		return;
	}
	message->value =
		looking->counts ? answer_of_counted(looking, live) : BALEEN_FLEET_NOT_COUNTED;
	snprintf(message->reason, sizeof(message->reason), "%s: %.150s", looking->publisher,
		 message->value == BALEEN_FLEET_NOT_HELD ?
			 why :
			 baleen_fleet_state_text(looking->state, looking->hold, state,
						 sizeof(state)));
}

int baleen_fleet_answer_make(const struct baleen_fleet_store *store,
			     const struct baleen_fleet_message *question,
			     const struct baleen_fleet_live *live, const char *publisher,
			     const struct baleen_fleet_signer *signer,
			     struct baleen_fleet_writer *writer, struct baleen_error *error)
{
	struct baleen_fleet_message message = {
		.control = BALEEN_FLEET_ANSWER,
		.about = baleen_get_le64(question->incarnation),
		.topic = BALEEN_FLEET_ANSWER_TOPIC,
	};
	struct looking looking = { .set = question->set };
	int err = baleen_fleet_view_find(store, &question->key, signer->now_ms, look, &looking,
					 error);

	if (err)
		return err;
	strcpy(message.publisher, publisher);
	baleen_fleet_key_format(&question->key, message.subject);
	fill(&looking, live, &message);
	return baleen_fleet_own_control(signer, &message, writer, error);
}

bool baleen_fleet_answer_read(const struct baleen_fleet_policy *policy,
			      const struct baleen_fleet_message *question, const char *host,
			      const void *bytes, size_t n_bytes,
			      struct baleen_fleet_message *answer)
{
	struct baleen_fleet_message read;
	size_t n_host = strlen(host);
	const char *why;
	const u8 *key;

	if (baleen_fleet_decode(bytes, n_bytes, &read, &why) || read.type != BALEEN_FLEET_CONTROL ||
	    read.control != BALEEN_FLEET_ANSWER || read.value > BALEEN_FLEET_NOT_HELD ||
	    strcmp(read.fleet, policy->fleet) ||
	    read.about != baleen_get_le64(question->incarnation) ||
	    strncmp(read.publisher, host, n_host) || read.publisher[n_host] != '/')
		return false;
	key = baleen_fleet_policy_key(policy, read.publisher);
	if (!key || !baleen_fleet_verify(bytes, n_bytes, key))
		return false;
	*answer = read;
	return true;
}
