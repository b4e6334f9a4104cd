// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Roll-outs of signed sets, for the commands that take them a step further. */
#include <string.h>
#include <unistd.h>

#include "cli/open/rollout_site.h"
#include "fleet/fleet_conf.h"
#include "fleet/fleet_signal.h"
#include "state/entries.h"
#include "state/set_feed.h"
#include "util/announce.h"

#define TOPIC "set"

enum { SAYS_OK = 1, SAYS_VETO, TAKES_BACK };

/* --- the fleet ------------------------------------------------------------------------ */

/* HOST/ORIGIN: a host has a vote, whoever of it says so. */
static int hear(const struct baleen_fleet_signal *signal, void *data)
{
	const struct baleen_rollout_site *site = data;
	size_t length = strcspn(signal->publisher, "/");
	struct baleen_vote vote = { .is_veto = signal->value == SAYS_VETO,
				    .is_taken_back = signal->value == TAKES_BACK,
				    .generation = signal->number,
				    .digest = signal->digest,
				    .made_s = signal->made_ms / 1000 };

	if (signal->value < SAYS_OK || signal->value > TAKES_BACK || length >= sizeof(vote.host) ||
	    strlen(signal->subject) >= sizeof(vote.set))
		return 0;
	memcpy(vote.host, signal->publisher, length);
	strcpy(vote.set, signal->subject);
	snprintf(vote.reason, sizeof(vote.reason), "%s", signal->reason);
	/* The own one is there. A name that no vote can have says nothing. */
	if (strcmp(vote.host, site->host))
		baleen_votes_put(&vote, NULL);
	return 0;
}

static void hear_all(const struct baleen_rollout_site *site)
{
	struct baleen_fleet_store store;

	if (baleen_fleet_store_open(&store, NULL, false, NULL))
		return;
	baleen_fleet_signals_each(&store, TOPIC, NULL, baleen_now_ms(), hear, (void *)site, NULL);
	baleen_fleet_store_close(&store);
}

static int tell(struct baleen_fleet_store *store, const struct baleen_vote *vote,
		struct baleen_error *error)
{
	struct baleen_fleet_signal signal = { .topic = TOPIC,
					      .number = vote->generation,
					      .digest = vote->digest,
					      .value = vote->is_taken_back ? TAKES_BACK :
						       vote->is_veto	   ? SAYS_VETO :
									     SAYS_OK };

	strcpy(signal.subject, vote->set);
	snprintf(signal.reason, sizeof(signal.reason), "%.*s", (int)sizeof(signal.reason) - 1,
		 vote->reason);
	return baleen_fleet_signal_post(store, &signal, error);
}

static void tell_all(const struct baleen_trial *trial)
{
	struct baleen_fleet_store store;
	struct baleen_error error;
	int err = baleen_fleet_store_open(&store, NULL, true, &error);
	bool is_open = !err;

	for (u32 i = 0; i < trial->n_votes && !err; i++)
		err = tell(&store, &trial->vote[i], &error);
	if (err)
		complain("the fleet does not hear of it: %s", error.text);
	else
		baleen_announce();
	if (is_open)
		baleen_fleet_store_close(&store);
}

/* --- this host ------------------------------------------------------------------------ */

static void read_site(struct baleen_rollout_site *site, bool hears)
{
	struct baleen_fleet_conf conf;

	*site = (struct baleen_rollout_site){ .has_fleet = false };
	if (!baleen_fleet_conf_read(&conf, NULL)) {
		site->has_fleet = true;
		strcpy(site->host, conf.host);
		if (hears)
			hear_all(site);
	} else if (gethostname(site->host, sizeof(site->host) - 1)) {
		strcpy(site->host, "localhost");
	}
}

void rollout_site_read(struct baleen_rollout_site *site)
{
	read_site(site, true);
}

void rollout_site_read_for(const struct baleen_conf *conf, bool hears,
			   struct baleen_rollout_site *site)
{
	for (size_t i = 0; i < conf->n_feeds && !*site->host; i++)
		if (baleen_feed_set_is(conf->feed[i].wanted.source))
			read_site(site, hears);
}

void rollout_votes_put(const struct baleen_trial *trial)
{
	struct baleen_trial told = *trial;
	struct baleen_error error;

	told.n_votes = 0;
	for (u32 i = 0; i < trial->n_votes; i++) {
		int ret = baleen_votes_put(&trial->vote[i], &error);

		if (ret < 0)
			complain("%s", error.text);
		/* One that was never given need not be taken back. */
		if (ret || !trial->vote[i].is_taken_back)
			told.vote[told.n_votes++] = trial->vote[i];
	}
	if (told.n_votes && trial->site->has_fleet)
		tell_all(&told);
}

static void append(json_t *json, const char *device, const struct baleen_trial_note *note)
{
	json_t *one = json_object();

	json_object_set_new(one, "device", json_text(device));
	json_object_set_new(one, "rule", json_text(note->rule));
	json_object_set_new(one, "result", json_string(note->is_veto ? "veto" : "rollout"));
	json_object_set_new(one, "text", json_text(note->text));
	json_array_append_new(json, one);
}

int rollout_notes_report(const char *device, const struct baleen_trial *trial, json_t *json,
			 int result)
{
	for (u32 i = 0; i < trial->n_notes; i++) {
		const struct baleen_trial_note *note = &trial->note[i];

		if (json)
			append(json, device, note);
		else if (note->is_veto)
			complain("%s:%s: %s", device, note->rule, note->text);
		else
			say("%s:%s: %s\n", device, note->rule, note->text);
	}
	return trial->is_changed && result == EXIT_DONE ? EXIT_CHANGED : result;
}
