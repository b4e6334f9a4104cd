// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why a packet is dropped or passes. */
#include <errno.h>
#include <string.h>

#include "deploy/explain.h"
#include "xdp/limits.h"

/* --- packet path ----------------------------------------------------------- */

static int ask(struct baleen_explainer *explainer, const struct baleen_question *question,
	       struct baleen_explanation *explanation, struct baleen_transport *transport,
	       struct baleen_error *error)
{
	u8 flags = question->is_established ? BALEEN_TCP_ACK : BALEEN_TCP_SYN;
	struct baleen_packet packet;
	struct baleen_frame frame;
	const u8 *end;

	baleen_frame_make(&question->fields, question->vlan, flags, question->shape, &frame);
	end = frame.bytes + frame.n_bytes;
	baleen_packet_parse(frame.bytes, end, &packet);
	baleen_packet_transport(packet.ip, end, question->fields.is_ip6, transport);
	explanation->is_other_version = !explainer->shadow.is_same;
	return baleen_shadow_prog_ask(&explainer->shadow, frame.bytes, frame.n_bytes,
				      &explanation->answer, error);
}

static bool would_drop(const struct baleen_config *config, const struct baleen_judgement *judgement)
{
	if (judgement->outcome == BALEEN_OUTCOME_RULE)
		return config->rule[judgement->rule].action == BALEEN_ACTION_DROP;
	return judgement->outcome != BALEEN_OUTCOME_VITAL && config->default_drop;
}

/* Whether there is a socket only the program tells, of the rules that it came to. */
static bool counts(const struct baleen_judgement *judgement, u32 index)
{
	return judgement->counted >> index & 1 ||
	       (judgement->outcome == BALEEN_OUTCOME_RULE && judgement->rule == index);
}

static bool asks_hidden(const struct baleen_rule *rule, const struct baleen_transport *transport)
{
	const struct baleen_qualifiers *asked = &rule->qualifiers;

	/* Only then does the action make a difference. */
	return baleen_packet_hides_key(transport, rule->image.key_spec) ||
	       baleen_qualifies(asked, BALEEN_ACTION_DROP, asked->vlan, transport, 0) !=
		       baleen_qualifies(asked, BALEEN_ACTION_ALLOW, asked->vlan, transport, 0);
}

static void look_at_map(const struct baleen_explainer *explainer, u32 index,
			const struct baleen_question *question,
			const struct baleen_transport *transport,
			const struct baleen_judgement *judgement,
			struct baleen_explained_rule *explained)
{
	const struct baleen_rule *rule = &explainer->xdp->config.rule[index];
	const struct baleen_limit *limit = &explainer->xdp->config.limit[index];
	const struct baleen_filter *filter = &explainer->filter[index];
	u32 established = counts(judgement, index) ? BALEEN_ESTABLISHED_ALL : 0;
	struct baleen_key key = baleen_key_fields(rule->image.key_spec, &question->fields);
	bool has_key = baleen_packet_has_key(transport, rule->image.key_spec), hit;

	explained->holds = baleen_filter_test(filter, &key);
	explained->is_exact = baleen_filter_worst_fpp(filter) <= 0;
	explained->asks_hidden = asks_hidden(rule, transport);
	hit = has_key ? explained->holds :
			baleen_takes_hidden(rule->action) &&
				baleen_packet_hides_key(transport, rule->image.key_spec);
	explained->matches = hit &&
			     baleen_qualifies(&rule->qualifiers, rule->action, question->vlan,
					      transport, established) &&
			     (!limit->interval_ns ||
			      (explained->is_over && explained->proof <= BALEEN_PROOF_NUMBERS));
}

static int look_at_limit(const struct baleen_explainer *explainer, u32 index,
			 const struct baleen_question *question,
			 struct baleen_explained_rule *explained, struct baleen_error *error)
{
	const struct baleen_fields *fields = &question->fields;

	if (!explainer->xdp->config.limit[index].interval_ns)
		return 0;
	explained->proof = baleen_limit_proof(&explainer->xdp->config, index, fields->proto,
					      !question->is_established);
	return baleen_limit_ask(explainer->xdp, index, fields, &explained->limited,
				&explained->is_over, error);
}

/* --- state ----------------------------------------------------------------- */

/**
 * struct reasons - what covers the key in one rule
 * @explained: gets the entries
 * @has_feeds: lines of feeds are among them
 * @feeds_hold: a feed holds the key; of such a feed the lines come first, and of these the one
 *              that decides
 */
struct reasons {
	struct baleen_explained_rule *explained;
	bool has_feeds;
	bool feeds_hold;
};

static int copy_reason(const struct baleen_reason *reason, void *data)
{
	struct reasons *reasons = data;
	struct baleen_explained_rule *explained = reasons->explained;

	if (reason->is_feed && !reasons->has_feeds)
		reasons->feeds_hold = !reason->is_exception;
	reasons->has_feeds |= reason->is_feed;
	if (explained->n_shown < BALEEN_MAX_REASONS)
		explained->reason[explained->n_shown++] = *reason;
	explained->n_reasons++;
	return 0;
}

/**
 * struct ended - an entry whose time has come, looked for
 * @now_ms: the time
 * @explained: gets it
 */
struct ended {
	u64 now_ms;
	struct baleen_explained_rule *explained;
};

static int copy_ended(const struct baleen_rule_entry *entry, void *data)
{
	struct ended *ended = data;

	if (entry->is_exception || !entry->expires_ms || entry->expires_ms > ended->now_ms)
		return 0;
	ended->explained->ended = *entry;
	ended->explained->has_ended = true;
	return 1;
}

/* An expired entry stays in the filter until a writer removes it. */
static void look_for_ended(const struct baleen_rule_store *state,
			   const struct baleen_stored_rule *rule, const struct baleen_key *key,
			   u64 now_ms, struct baleen_explained_rule *explained)
{
	struct ended ended = { .now_ms = now_ms, .explained = explained };

	baleen_rule_entries_find(state, rule->name, key, 0, copy_ended, &ended, NULL);
}

/* As baleen_derive_holds(), which would read the feeds once more. */
static int judge_rule(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		      const struct baleen_key *key, const struct reasons *reasons, u64 now_ms,
		      struct baleen_error *error)
{
	struct baleen_explained_rule *explained = reasons->explained;
	enum baleen_decision decision;
	bool holds;
	int err = baleen_derive_decides(state, rule, key, now_ms, &decision, error), found;

	if (err)
		return err;
	found = baleen_protected_find(state, rule, key, &explained->protected);
	explained->is_protected = found > 0;
	if (found < 0) {
		err = baleen_derive_settle(state, rule, key, decision, &holds, error);
		if (err)
			return err;
	} else {
		holds = !found && (decision == BALEEN_DECIDED_IN ||
				   (decision == BALEEN_UNDECIDED && reasons->feeds_hold));
	}
	explained->opinion = holds ? BALEEN_OPINION_HOLDS : BALEEN_OPINION_ABSENT;
	return 0;
}

static int look_at_rule(const struct baleen_rule_store *state,
			const struct baleen_stored_rule *rule,
			const struct baleen_question *question,
			struct baleen_explained_rule *explained, struct baleen_error *error)
{
	struct baleen_key key = baleen_key_fields(rule->key_spec, &question->fields);
	struct reasons reasons = { .explained = explained };
	u64 now_ms = baleen_now_ms();
	int err;

	err = baleen_derive_reasons(state, rule, &key, now_ms, copy_reason, &reasons, error);
	if (!err)
		err = judge_rule(state, rule, &key, &reasons, now_ms, error);
	if (err)
		return err;
	explained->is_any = rule->is_any;
	if (explained->holds && explained->opinion == BALEEN_OPINION_ABSENT)
		look_for_ended(state, rule, &key, now_ms, explained);
	return 0;
}

static int look_at_state(struct baleen_explainer *explainer, const struct baleen_question *question,
			 struct baleen_explanation *explanation, struct baleen_error *error)
{
	const struct baleen_xdp *xdp = explainer->xdp;
	int err = 0;

	explanation->has_state = explainer->has_state;
	if (!explainer->has_state)
		return 0;
	for (u32 i = 0; i < xdp->config.n_rules && !err; i++) {
		const struct baleen_image *image = &xdp->config.rule[i].image;
		int at = baleen_rule_store_find_rule(&explainer->rules, image->name);

		if (at >= 0 && explainer->rules.rule[at].key_spec == image->key_spec)
			err = look_at_rule(&explainer->state, &explainer->rules.rule[at], question,
					   &explanation->rule[i], error);
	}
	explanation->is_changing = baleen_rule_store_is_marked(&explainer->state) ||
				   baleen_rule_store_is_behind(&explainer->state);
	return err;
}

static void look_at_drops(const struct baleen_explainer *explainer,
			  const struct baleen_question *question,
			  struct baleen_explanation *explanation)
{
	const struct baleen_pins *pins = &explainer->xdp->pins;
	struct baleen_key source =
		baleen_key_fields(baleen_drops_key_spec(pins->ifindex), &question->fields);

	explanation->has_drop = explainer->drops &&
				baleen_drops_find(explainer->drops, pins->netns_cookie,
						  pins->ifindex, &source, &explanation->drop) > 0;
}

/* --- questions ------------------------------------------------------------- */

static void free_filters(struct baleen_explainer *explainer)
{
	for (u32 i = 0; i < explainer->xdp->config.n_rules; i++)
		baleen_filter_free(&explainer->filter[i]);
}

static int open_filters(struct baleen_explainer *explainer, struct baleen_error *error)
{
	int err = 0;

	for (u32 i = 0; i < explainer->xdp->config.n_rules && !err; i++)
		err = baleen_xdp_map_rule(explainer->xdp, i, &explainer->filter[i], error);
	if (err)
		free_filters(explainer);
	return err;
}

static int open_state(struct baleen_explainer *explainer, struct baleen_error *error)
{
	int err = baleen_rule_store_open(&explainer->state, explainer->xdp->device, 0, error);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = baleen_rule_store_get_rules(&explainer->state, &explainer->rules, error);
	if (err)
		baleen_rule_store_close(&explainer->state);
	explainer->has_state = !err;
	return err;
}

int baleen_explainer_open(struct baleen_explainer *explainer, const struct baleen_xdp *xdp,
			  struct baleen_error *error)
{
	int err;

	memset(explainer, 0, sizeof(*explainer));
	explainer->xdp = xdp;
	err = baleen_shadow_prog_open(xdp, &explainer->shadow, error);
	if (err)
		return err;
	err = open_filters(explainer, error);
	if (err)
		goto close_shadow;
	err = open_state(explainer, error);
	if (err)
		goto close_filters;
	/* Nobody need have written any. */
	if (baleen_drops_open(&explainer->drops, false, NULL))
		explainer->drops = NULL;
	return 0;

close_filters:
	free_filters(explainer);
close_shadow:
	baleen_shadow_prog_close(&explainer->shadow);
	return err;
}

int baleen_explain(struct baleen_explainer *explainer, const struct baleen_question *question,
		   struct baleen_explanation *explanation, struct baleen_error *error)
{
	const struct baleen_config *config = &explainer->xdp->config;
	struct baleen_transport transport;
	int err;

	memset(explanation, 0, sizeof(*explanation));
	err = ask(explainer, question, explanation, &transport, error);
	for (u32 i = 0; i < config->n_rules && !err; i++) {
		err = look_at_limit(explainer, i, question, &explanation->rule[i], error);
		look_at_map(explainer, i, question, &transport, &explanation->answer.judgement,
			    &explanation->rule[i]);
	}
	if (!err)
		err = look_at_state(explainer, question, explanation, error);
	if (err)
		return err;
	look_at_drops(explainer, question, explanation);
	explanation->would_drop = would_drop(config, &explanation->answer.judgement);
	return 0;
}

void baleen_explainer_close(struct baleen_explainer *explainer)
{
	baleen_drops_close(explainer->drops);
	if (explainer->has_state)
		baleen_rule_store_close(&explainer->state);
	free_filters(explainer);
	baleen_shadow_prog_close(&explainer->shadow);
}
