// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The verdict on a packet and the entries that cause it, in JSON. */
#include "cli/ban/describe_entry.h"
#include "cli/ban/why.h"
#include "xdp/ruleset.h"

static const char *outcome_text(enum baleen_outcome outcome)
{
	switch (outcome) {
	case BALEEN_OUTCOME_RULE: return "rule";
	case BALEEN_OUTCOME_UNMATCHED: return "default";
	case BALEEN_OUTCOME_VITAL: return "vital";
	default: return "unparsed";
	}
}

static json_t *describe_reason(const struct baleen_reason *reason)
{
	json_t *json;

	if (!reason->is_feed)
		return describe_entry(&reason->entry);
	json = json_object();
	json_object_set_new(json, "entry", reason->line ? json_text(reason->text) : json_null());
	json_object_set_new(json, "feed", json_text(baleen_feed_name(&reason->feed).text));
	json_object_set_new(json, "line", reason->line ? json_integer(reason->line) : json_null());
	json_object_set_new(json, "generation",
			    reason->feed.generation ? json_integer(reason->feed.generation) :
						      json_null());
	json_object_set_new(json, "source_line",
			    reason->source_line ? json_integer(reason->source_line) : json_null());
	json_object_set_new(json, "received_ms", json_integer(reason->feed.received_ms));
	json_object_set_new(json, "route_of",
			    *reason->route.protocol ? json_text(reason->route.protocol) :
						      json_null());
	json_object_set_new(json, "withdrawn_ms",
			    reason->route.withdrawn_ms ? json_integer(reason->route.withdrawn_ms) :
							 json_null());
	json_object_set_new(json, "failure",
			    reason->feed.n_failures ? json_text(reason->feed.failure) :
						      json_null());
	return json;
}

static json_t *describe_rule(const struct baleen_xdp *xdp, u32 index,
			     const struct baleen_explained_rule *explained)
{
	const struct baleen_protected *protected = &explained->protected;
	static const char *const roles[] = { "never", "name", "host", "peer", "nobody", "special" };
	static const char *const proofs[] = { "not-asked", "numbers", "none", "unreadable" };
	json_t *json = json_object(), *reasons = json_array();

	for (u32 i = 0; i < explained->n_shown; i++)
		json_array_append_new(reasons, describe_reason(&explained->reason[i]));
	json_object_set_new(json, "rule", json_text(xdp->config.rule[index].image.name));
	json_object_set_new(json, "action",
			    json_string(baleen_action_text(xdp->config.rule[index].action)));
	json_object_set_new(json, "holds", json_boolean(explained->holds));
	json_object_set_new(json, "matches", json_boolean(explained->matches));
	json_object_set_new(json, "asks_hidden", json_boolean(explained->asks_hidden));
	json_object_set_new(json, "over_limit",
			    explained->limited ? json_boolean(explained->is_over) : json_null());
	json_object_set_new(json, "proof",
			    explained->limited ? json_string(proofs[explained->proof]) :
						 json_null());
	json_object_set_new(json, "differs", json_boolean(baleen_explained_differs(explained)));
	json_object_set_new(json, "any", json_boolean(explained->is_any));
	json_object_set_new(json, "entries", reasons);
	json_object_set_new(json, "n_entries", json_integer(explained->n_reasons));
	json_object_set_new(json, "withheld",
			    explained->is_protected ?
				    json_pack("{s:s, s:o, s:o}", "role", roles[protected->role],
					      "what", json_text(protected->what), "key",
					      json_text(protected->key)) :
				    json_null());
	if (explained->is_protected && protected->role == BALEEN_PROTECTED_NAME) {
		json_t *shown = json_object_get(json, "withheld");

		json_object_set_new(shown, "asked_ms", json_integer(protected->asked_ms));
		json_object_set_new(shown, "answered_ms", json_integer(protected->answered_ms));
	}
	return json;
}

static json_t *describe_drop(const struct baleen_explanation *explanation)
{
	const struct baleen_drop *drop = &explanation->drop;
	json_t *json;

	if (!explanation->has_drop)
		return json_null();
	json = json_object();
	json_object_set_new(json, "last_ms", json_integer(drop->last_ms));
	json_object_set_new(json, "rule", *drop->rule ? json_text(drop->rule) : json_null());
	json_object_set_new(json, "sampled", json_integer(drop->n));
	return json;
}

bool why_differs(const struct baleen_xdp *xdp, const struct baleen_explanation *explanation)
{
	for (u32 i = 0; i < xdp->config.n_rules; i++)
		if (baleen_explained_differs(&explanation->rule[i]))
			return true;
	return explanation->answer.judgement.is_drop != explanation->answer.is_live_drop;
}

json_t *describe_why(const struct why *why, const char *address, const struct baleen_xdp *xdp,
		     const struct baleen_explanation *explanation)
{
	const struct baleen_judgement *judgement = &explanation->answer.judgement;
	bool by_rule = judgement->outcome == BALEEN_OUTCOME_RULE;
	json_t *json = json_object(), *rules = json_array();

	for (u32 i = 0; i < xdp->config.n_rules; i++)
		json_array_append_new(rules, describe_rule(xdp, i, &explanation->rule[i]));
	json_object_set_new(json, "device", json_text(why->device));
	json_object_set_new(json, "address", json_text(address));
	json_object_set_new(json, "verdict",
			    json_string(explanation->answer.is_live_drop ? "drop" : "pass"));
	json_object_set_new(json, "would_drop", json_boolean(explanation->would_drop));
	json_object_set_new(json, "because", json_string(outcome_text(judgement->outcome)));
	json_object_set_new(json, "rule",
			    by_rule ? json_text(xdp->config.rule[judgement->rule].image.name) :
				      json_null());
	json_object_set_new(json, "default",
			    json_string(xdp->config.default_drop ? "drop" : "pass"));
	json_object_set_new(json, "dry_run", json_boolean(xdp->config.dry_run));
	json_object_set_new(json, "differs", json_boolean(why_differs(xdp, explanation)));
	json_object_set_new(json, "has_state", json_boolean(explanation->has_state));
	json_object_set_new(json, "changing", json_boolean(explanation->is_changing));
	json_object_set_new(json, "other_version", json_boolean(explanation->is_other_version));
	json_object_set_new(json, "rules", rules);
	json_object_set_new(json, "last_drop", describe_drop(explanation));
	return json;
}
