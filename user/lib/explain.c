// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why a packet is dropped or passes. */
#include <errno.h>
#include <string.h>

#include "explain.h"

/* --- packet path ----------------------------------------------------------- */

static int ask(const struct baleen_xdp *xdp, const struct baleen_question *question,
	       struct baleen_explanation *explanation, struct baleen_error *error)
{
	u8 flags = question->is_established ? BALEEN_TCP_ACK : BALEEN_TCP_SYN;
	struct baleen_frame frame;
	struct baleen_twin twin;
	int err = baleen_twin_open(xdp, &twin, error);

	if (err)
		return err;
	baleen_frame_make(&question->fields, question->vlan, flags, &frame);
	err = baleen_twin_ask(&twin, frame.bytes, frame.n_bytes, &explanation->answer, error);
	explanation->is_other_version = !twin.is_same;
	baleen_twin_close(&twin);
	return err;
}

static bool would_drop(const struct baleen_config *config, const struct baleen_judgement *judgement)
{
	if (judgement->outcome == BALEEN_OUTCOME_RULE)
		return config->rule[judgement->rule].action == BALEEN_ACTION_DROP;
	return judgement->outcome != BALEEN_OUTCOME_VITAL && config->default_drop;
}

static bool has_port(const struct baleen_qualifiers *asked, u16 port)
{
	for (u32 i = 0; i < asked->n_dports; i++)
		if (port >= asked->dport[i].first && port <= asked->dport[i].last)
			return true;
	return !asked->n_dports;
}

/* The qualifiers, as the documentation has them and not as the program does:
 * this only tells why a rule that holds the key does not decide.
 */
static bool is_qualified(const struct baleen_qualifiers *asked,
			 const struct baleen_question *question)
{
	const struct baleen_fields *fields = &question->fields;
	bool opens = fields->proto == BALEEN_PROTO_TCP && !question->is_established;

	return (!asked->has_proto || asked->proto == fields->proto) &&
	       (!asked->tcp_syn || opens) &&
	       (!asked->has_vlan || asked->vlan == question->vlan) && has_port(asked, fields->dport);
}

static int look_at_map(const struct baleen_xdp *xdp, u32 index,
		       const struct baleen_question *question,
		       struct baleen_explained_rule *explained, struct baleen_error *error)
{
	const struct baleen_rule *rule = &xdp->config.rule[index];
	struct baleen_filter filter = { 0 };
	struct baleen_key key;
	int err = baleen_xdp_map_rule(xdp, index, &filter, error);

	if (err)
		return err;
	key = baleen_key_fields(rule->image.key_spec, &question->fields);
	explained->holds = baleen_filter_test(&filter, &key);
	explained->is_exact = baleen_filter_worst_fpp(&filter) <= 0;
	explained->matches = explained->holds && is_qualified(&rule->qualifiers, question);
	baleen_filter_free(&filter);
	return 0;
}

/* --- state ----------------------------------------------------------------- */

static int take_reason(const struct baleen_reason *reason, void *data)
{
	struct baleen_explained_rule *explained = data;

	if (explained->n_reasons < BALEEN_MAX_REASONS)
		explained->reason[explained->n_reasons++] = *reason;
	return 0;
}

static int look_at_rule(const struct baleen_state *state, const struct baleen_state_rule *rule,
			const struct baleen_question *question,
			struct baleen_explained_rule *explained, struct baleen_error *error)
{
	struct baleen_key key = baleen_key_fields(rule->key_spec, &question->fields);
	u64 now_ms = baleen_now_ms();
	bool holds;
	int err = baleen_derive_holds(state, rule, &key, now_ms, &holds, error);

	if (!err)
		err = baleen_derive_reasons(state, rule, &key, now_ms, take_reason, explained,
					    error);
	if (err)
		return err;
	explained->opinion = holds ? BALEEN_OPINION_HOLDS : BALEEN_OPINION_ABSENT;
	err = baleen_withheld_find(state, rule, &key, &explained->withheld);
	explained->is_withheld = err > 0;
	return 0;
}

static const struct baleen_state_rule *find_rule(const struct baleen_state_rules *rules,
						 const char *name)
{
	for (u32 i = 0; i < rules->n_rules; i++)
		if (!strcmp(rules->rule[i].name, name))
			return &rules->rule[i];
	return NULL;
}

static int look_at_rules(const struct baleen_state *state, const struct baleen_xdp *xdp,
			 const struct baleen_question *question,
			 struct baleen_explanation *explanation, struct baleen_error *error)
{
	struct baleen_state_rules rules;
	int err = baleen_state_get_rules(state, &rules, error);

	for (u32 i = 0; i < xdp->config.n_rules && !err; i++) {
		const struct baleen_state_rule *rule =
			find_rule(&rules, xdp->config.rule[i].image.name);

		if (rule && rule->key_spec == xdp->config.rule[i].image.key_spec)
			err = look_at_rule(state, rule, question, &explanation->rule[i], error);
	}
	explanation->has_state = true;
	explanation->is_changing = baleen_state_is_marked(state);
	return err;
}

static int look_at_state(const struct baleen_xdp *xdp, const struct baleen_question *question,
			 struct baleen_explanation *explanation, struct baleen_error *error)
{
	struct baleen_state state;
	int err = baleen_state_open(&state, xdp->device, 0, error);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = look_at_rules(&state, xdp, question, explanation, error);
	baleen_state_close(&state);
	return err;
}

/* Nobody need have written any. */
static void look_at_drops(const struct baleen_xdp *xdp, const struct baleen_question *question,
			  struct baleen_explanation *explanation)
{
	struct baleen_key source = baleen_key_fields(BALEEN_KEY_SRC, &question->fields);
	sqlite3 *db;

	if (baleen_drops_open(&db, false, NULL))
		return;
	explanation->has_drop = baleen_drops_find(db, xdp->pins.netns_cookie, xdp->pins.ifindex,
						  &source, &explanation->drop) > 0;
	baleen_drops_close(db);
}

int baleen_explain(const struct baleen_xdp *xdp, const struct baleen_question *question,
		   struct baleen_explanation *explanation, struct baleen_error *error)
{
	int err;

	memset(explanation, 0, sizeof(*explanation));
	err = ask(xdp, question, explanation, error);
	for (u32 i = 0; i < xdp->config.n_rules && !err; i++)
		err = look_at_map(xdp, i, question, &explanation->rule[i], error);
	if (!err)
		err = look_at_state(xdp, question, explanation, error);
	if (err)
		return err;
	look_at_drops(xdp, question, explanation);
	explanation->would_drop = would_drop(&xdp->config, &explanation->answer.judgement);
	return 0;
}
