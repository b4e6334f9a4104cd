// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A checkup: the device is opened, and each part looks at it. */
#include <errno.h>
#include <stdio.h>

#include "net/device.h"
#include "report/checkup.h"
#include "report/checkup_parts.h"
#include "state/entries.h"
#include "state/feed_set_news.h"
#include "state/set_feed.h"
#include "util/shell.h"
#include "state/book.h"

const char *baleen_level_text(enum baleen_level level)
{
	static const char *const text[] = { "ok", "note", "problem" };

	return text[level];
}

/* A state that is kept comes back as at boot. Else by what it is saved as; that
 * was in force, so it cuts nobody off.
 */
static void describe_again(struct baleen_patient *patient)
{
	const char *name = patient->word.text;

	if (patient->is_kept)
		snprintf(patient->again, sizeof(patient->again),
			 "baleen detach %s && baleen restore --boot %s", name, name);
	else
		snprintf(patient->again, sizeof(patient->again),
			 "d=$(mktemp -d) && baleen save %s -o $d/filter && baleen detach %s && "
			 "baleen restore %s $d/filter --mode auto --force",
			 name, name, name);
}

/**
 * struct sets - the signed sets of a state
 * @patient: gets what is found
 * @state: the state
 */
struct sets {
	struct baleen_patient *patient;
	const struct baleen_rule_store *state;
};

/* The generation before stays in force, so this is no problem of today. */
static int look_at_set(const struct baleen_feed *feed, void *data)
{
	const struct baleen_shell_word rule = baleen_shell_word(feed->rule);
	const struct sets *sets = data;
	struct baleen_feed_rollout rollout;
	char text[BALEEN_ROLLOUT_TEXT];
	struct baleen_finding *finding;

	if (!baleen_feed_set_is(feed->wanted.source))
		return 0;
	baleen_feed_rollout_get(sets->state, feed->id, &rollout);
	if (rollout.available <= feed->generation ||
	    (rollout.step != BALEEN_ROLLOUT_VETO && rollout.step != BALEEN_ROLLOUT_HELD))
		return 0;
	finding = baleen_checkup_add(sets->patient, BALEEN_LEVEL_NOTE, "roll-out", "rule %s: %s",
				     feed->rule, baleen_rollout_text(&rollout, text));
	baleen_finding_mend(finding, "baleen set release %s:%s && baleen update %s:%s",
			    sets->patient->word.text, rule.text, sets->patient->word.text,
			    rule.text);
	return 0;
}

static void look_at_state(struct baleen_patient *patient)
{
	const struct baleen_stored_rules *rules = &patient->rules;
	struct baleen_rule_store state;
	struct sets sets = { .patient = patient, .state = &state };

	patient->state_code =
		baleen_rule_store_open(&state, patient->link->name, 0, &patient->state_error);
	if (patient->state_code)
		return;
	patient->is_kept = state.is_kept;
	patient->unkept = baleen_book_unkept_why(&state);
	patient->is_marked = baleen_rule_store_is_marked(&state);
	patient->is_behind = baleen_rule_store_is_behind(&state);
	baleen_conf_edits(&state, &patient->edits);
	snprintf(patient->state_path, sizeof(patient->state_path), "%s",
		 patient->unkept ? state.book->path : state.path);
	baleen_rule_store_get_rules(&state, &patient->rules, NULL);
	patient->n_single_entries = baleen_rules_count_entries(&state, rules);
	for (u32 i = 0; i < rules->n_rules; i++) {
		patient->has_ends |= baleen_rule_entries_ending(&state, rules->rule[i].name);
		patient->limits_ban |= rules->rule[i].rate_limit.ban_ms;
	}
	baleen_feeds_each(&state, NULL, look_at_set, &sets, NULL);
	baleen_rule_store_close(&state);
}

static int open_patient(struct baleen_patient *patient, u32 ifindex, struct baleen_error *error)
{
	int err = baleen_links_read(&patient->links, error);

	if (err)
		return err;
	patient->link = baleen_links_find(&patient->links, ifindex);
	if (!patient->link)
		return baleen_fail(error, ENODEV, "the device has just gone");
	patient->word = baleen_shell_word(patient->link->name);
	patient->may_load = !baleen_device_privileges(NULL);
	patient->has_features = !baleen_links_xdp_features(ifindex, &patient->features);
	if (baleen_ethtool_driver(patient->link->name, patient->driver))
		patient->driver[0] = '\0';
	if (baleen_device_program(ifindex, &patient->there))
		patient->there.id = 0;
	return 0;
}

int baleen_checkup_run(const char *device, struct baleen_checkup *checkup,
		       struct baleen_error *error)
{
	struct baleen_patient patient = { .checkup = checkup };
	char base[BALEEN_POINT_BYTES];
	int ifindex, err;

	err = baleen_device_ifindex(device, &ifindex, error);
	if (!err && ifindex < 0)
		err = baleen_fail(error, EINVAL,
				  "%s: doctor looks at devices: say 'baleen doctor %s'", device,
				  baleen_shell_word(baleen_device_base(device, base)).text);
	if (err)
		return err;
	err = open_patient(&patient, ifindex, error);
	if (err)
		goto out;
	checkup->n = 0;
	look_at_state(&patient);
	patient.why_code = baleen_xdp_open(&patient.xdp, device, false, &patient.why);
	patient.has_xdp = !patient.why_code;
	baleen_checkup_kernel(&patient);
	if (patient.has_xdp)
		describe_again(&patient);
	baleen_checkup_filter(&patient);
	baleen_checkup_icp(&patient);
	baleen_checkup_device(&patient);
	baleen_checkup_host(&patient);
	baleen_checkup_fleet(&patient);
	if (patient.has_xdp)
		baleen_xdp_close(&patient.xdp);
out:
	baleen_links_free(&patient.links);
	return err;
}
