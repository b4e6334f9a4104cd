// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The verdict on a packet and the entries that cause it, in words. */
#include <string.h>

#include "cli/ban/describe_entry.h"
#include "cli/ban/why.h"
#include "util/duration.h"
#include "util/protocol.h"
#include "xdp/limits.h"
#include "xdp/qualifiers.h"
#include "xdp/ruleset.h"

/* "3m ago" or "in 3m", in whole seconds. */
static const char *format_distance(u64 ms, char *text)
{
	u64 now = baleen_now_ms(), distance = ms > now ? ms - now : now - ms;
	char span[BALEEN_DURATION_TEXT];

	if (distance < 1000)
		return strcpy(text, "now");
	sprintf(text, ms > now ? "in %s" : "%s ago", format_span(distance, span));
	return text;
}

static const char *verdict_text(const struct baleen_explanation *explanation)
{
	if (explanation->answer.is_live_drop)
		return "dropped";
	return explanation->would_drop ? "passes, but only since this is a dry run" : "passes";
}

/* By the end that is not asked about? */
static bool asks_for_other_end(const struct baleen_xdp *xdp, bool is_egress)
{
	u32 end = is_egress ? BALEEN_KEY_SRC : BALEEN_KEY_DST;

	for (u32 i = 0; i < xdp->config.n_rules; i++)
		if (xdp->config.rule[i].image.key_spec & end)
			return true;
	return false;
}

static void print_packet(const struct why *why, const char *address)
{
	const struct baleen_question *question = &why->question;
	const struct baleen_fields *fields = &question->fields;
	char protocol[BALEEN_PROTOCOL_TEXT];

	say(why->is_egress ? "to %s by %s, %s" : "%s to %s, %s", address, why->device,
	    baleen_protocol_text(fields->proto, protocol));
	if (fields->dport)
		say(" port %u", fields->dport);
	if (fields->proto == BALEEN_PROTO_TCP)
		say(question->is_established ? ", established" : ", opening");
	if (question->shape == BALEEN_FRAME_CUT)
		say(", cut before its ports");
	else if (question->shape == BALEEN_FRAME_DEEP)
		say(", behind %d extension headers", BALEEN_FRAME_EXTENSIONS);
	else if (question->shape == BALEEN_FRAME_FRAGMENT)
		say(", a later fragment");
	if (question->vlan != BALEEN_VLAN_NONE)
		say(", VLAN %u", question->vlan);
}

static void print_held(const struct baleen_reason *reason)
{
	u64 until_ms = reason->route.withdrawn_ms + reason->feed.wanted.hold_s * 1000ull;
	char when[ENTRY_TIME_TEXT], distance[BALEEN_DURATION_TEXT + 8];

	say(", withdrawn %s (%s) with others or by a reboot",
	    format_entry_time(reason->route.withdrawn_ms, when),
	    format_distance(reason->route.withdrawn_ms, distance));
	say(", held until %s (%s)", format_entry_time(until_ms, when),
	    format_distance(until_ms, distance));
}

static void print_feed_reason(const struct baleen_reason *reason)
{
	char when[ENTRY_TIME_TEXT], distance[BALEEN_DURATION_TEXT + 8];

	if (*reason->route.protocol)
		say("    %-20s route of %s in %s", reason->text, reason->route.protocol,
		    baleen_feed_name(&reason->feed).text);
	else if (reason->feed.generation)
		say("    %-20s generation %llu of %s", reason->text,
		    (unsigned long long)reason->feed.generation,
		    baleen_feed_name(&reason->feed).text);
	else if (reason->line)
		say("    %-20s line %llu of %s", reason->text, (unsigned long long)reason->line,
		    baleen_feed_name(&reason->feed).text);
	else
		say("    %-20s %s", "(an image)", baleen_feed_name(&reason->feed).text);
	if (reason->source_line)
		say(", line %llu of its lists", (unsigned long long)reason->source_line);
	say(", received %s (%s)", format_entry_time(reason->feed.received_ms, when),
	    format_distance(reason->feed.received_ms, distance));
	if (reason->route.withdrawn_ms)
		print_held(reason);
	if (reason->feed.n_failures)
		say(", not renewed since: %s", reason->feed.failure);
	putchar('\n');
}

static void print_entry_reason(const struct baleen_rule_entry *entry)
{
	char when[ENTRY_TIME_TEXT], distance[BALEEN_DURATION_TEXT + 8];

	say("    %-20s entry of %s", entry_shown(entry).text, entry->origin);
	if (*entry->reason)
		say(": %s", entry->reason);
	say(", added %s", format_entry_time(entry->added_ms, when));
	if (entry->expires_ms)
		say(", ends %s (%s)", format_entry_time(entry->expires_ms, when),
		    format_distance(entry->expires_ms, distance));
	putchar('\n');
}

static void print_protected(const struct baleen_protected *protected)
{
	static const char *const roles[] = {
		[BALEEN_PROTECTED_NEVER] = "the never-drop list",
		[BALEEN_PROTECTED_NAME] = "an address of",
		[BALEEN_PROTECTED_HOST] = "this host",
		[BALEEN_PROTECTED_PEER] = "a TCP session",
		[BALEEN_PROTECTED_NOBODY] = "nobody's",
		[BALEEN_PROTECTED_SPECIAL] = "special-purpose range",
	};
	char when[ENTRY_TIME_TEXT], distance[BALEEN_DURATION_TEXT + 8];

	say("    %-20s %s: %s%s %s", protected->key,
	    protected->role == BALEEN_PROTECTED_SPECIAL ? "not taken from feeds" : "never dropped",
	    roles[protected->role], protected->role == BALEEN_PROTECTED_NAME ? "" : ",",
	    protected->what);
	if (protected->asked_ms)
		say(", asked %s (%s)", format_entry_time(protected->asked_ms, when),
		    format_distance(protected->asked_ms, distance));
	if (protected->asked_ms != protected->answered_ms)
		say(", without an answer since %s",
		    format_entry_time(protected->answered_ms, when));
	putchar('\n');
}

static void print_reasons(const struct baleen_explained_rule *explained)
{
	if (explained->is_any)
		puts("    any                  every address");
	for (u32 i = 0; i < explained->n_shown; i++) {
		if (explained->reason[i].is_feed)
			print_feed_reason(&explained->reason[i]);
		else
			print_entry_reason(&explained->reason[i].entry);
	}
	if (explained->n_reasons > explained->n_shown)
		say("    and %u more\n", explained->n_reasons - explained->n_shown);
	if (explained->is_protected)
		print_protected(&explained->protected);
}

/* Whoever it is; special-purpose ranges only tell what feeds cannot bring. */
static bool is_guarded(const struct baleen_explained_rule *explained)
{
	return explained->is_protected && explained->protected.role != BALEEN_PROTECTED_SPECIAL;
}

static void print_limit(const struct baleen_rate_limit *limit,
			const struct baleen_explained_rule *explained)
{
	static const char *const proofs[] = {
		[BALEEN_PROOF_NOT_ASKED] = "counts, though nothing proves who sent it",
		[BALEEN_PROOF_NUMBERS] = "counts if TCP's numbers prove who sent it; forwarded, it "
					 "does not",
		[BALEEN_PROOF_NONE] = "does not count: nothing proves who sent it",
		[BALEEN_PROOF_UNREADABLE] =
			"does not count: the kernel does not show TCP's numbers",
	};
	char source[BALEEN_LIMIT_SOURCE_TEXT];

	say("    %-20s is %s its limit now\n",
	    baleen_limit_source_format(limit, explained->limited, source),
	    explained->is_over ? "over" : "within");
	say("    %-20s %s\n", "such a packet", proofs[explained->proof]);
}

/* A rule that holds the key, and yet does not match. */
static void print_unmatched(const struct baleen_explained_rule *explained, const char *qualifiers)
{
	if (explained->asks_hidden)
		puts("holds it, but the packet hides what the rule asks for");
	else if (*qualifiers)
		say("holds it, but is only for %s\n", qualifiers);
	else
		puts("holds it, but the packet has no ports to look for");
}

static void print_rule(const struct baleen_xdp *xdp, u32 index,
		       const struct baleen_explanation *explanation)
{
	const struct baleen_explained_rule *explained = &explanation->rule[index];
	const struct baleen_judgement *judgement = &explanation->answer.judgement;
	const struct baleen_rule *rule = &xdp->config.rule[index];
	bool decides = judgement->outcome == BALEEN_OUTCOME_RULE && judgement->rule == index;
	const struct baleen_qualifiers known = { .established = rule->qualifiers.established };
	char qualifiers[BALEEN_QUALIFIERS_TEXT], decision[BALEEN_QUALIFIERS_TEXT];

	if (!decides && !explained->holds && !explained->matches && !explained->n_reasons &&
	    !is_guarded(explained))
		return;
	say("  rule '%s' (%s, %u of %u) ", rule->image.name, baleen_action_text(rule->action),
	    index + 1, xdp->config.n_rules);
	baleen_qualifiers_format(&rule->qualifiers, &xdp->config.limit[index].typed, qualifiers);
	if (decides && known.established) {
		baleen_qualifiers_format(&known, &(const struct baleen_rate_limit){ 0 }, decision);
		say("decides (%s)\n", decision);
	} else if (decides)
		say("decides%s\n",
		    explained->asks_hidden ? ": the packet hides what the rule asks for" : "");
	else if (!explained->holds && !explained->matches)
		puts("does not hold it");
	else if (!explained->matches)
		print_unmatched(explained, qualifiers);
	else if (rule->action == BALEEN_ACTION_COUNT)
		puts("counts it");
	else
		puts("holds it, too, and is not asked any more");
	if (explained->limited)
		print_limit(&xdp->config.limit[index].typed, explained);
	print_reasons(explained);
}

static void print_difference(const struct baleen_xdp *xdp, u32 index,
			     const struct baleen_explanation *explanation)
{
	const struct baleen_explained_rule *explained = &explanation->rule[index];
	const char *name = xdp->config.rule[index].image.name;

	if (!baleen_explained_differs(explained))
		return;
	if (explained->has_ended)
		say("  DISAGREEMENT: rule '%s' holds it, its entry %s of %s has ended and nobody has "
		    "taken it out: is baleend running?\n",
		    name, baleen_entry_key_text(&explained->ended.key).text,
		    explained->ended.origin);
	else if (explained->holds && !explained->is_exact)
		say("  DISAGREEMENT: rule '%s' holds it by error of its filter, no entry does\n",
		    name);
	else
		say("  DISAGREEMENT: the live filter of rule '%s' %s it, its entries say it %s%s\n",
		    name, explained->holds ? "holds" : "does not hold",
		    explained->holds ? "should not" : "should",
		    explanation->is_changing ? " (a change goes on, or was cut off)" : "");
}

static void print_differences(const struct baleen_xdp *xdp,
			      const struct baleen_explanation *explanation)
{
	const struct baleen_shadow_prog_answer *answer = &explanation->answer;

	for (u32 i = 0; i < xdp->config.n_rules; i++)
		print_difference(xdp, i, explanation);
	if (answer->judgement.is_drop != answer->is_live_drop)
		say("  DISAGREEMENT: the program %s it, this version's would %s it\n",
		    answer->is_live_drop ? "drops" : "passes",
		    answer->judgement.is_drop ? "drop" : "pass");
}

static void print_others(const struct why *why, const struct baleen_xdp *xdp,
			 const struct baleen_explanation *explanation)
{
	const struct baleen_drop *drop = &explanation->drop;
	char when[ENTRY_TIME_TEXT];

	if (explanation->has_drop)
		say("  last sampled drop: %s by %s%s%s, %llu in all\n",
		    format_entry_time(drop->last_ms, when), *drop->rule ? "rule '" : "the default",
		    drop->rule, *drop->rule ? "'" : "", (unsigned long long)drop->n);
	if (!explanation->has_state)
		puts("  its lists were not kept (attach --no-state): no entry can be named");
	if (explanation->is_other_version)
		say("  the program is of another version of baleen%s\n",
		    explanation->answer.is_live_asked ?
			    "; it was asked itself and has counted a packet" :
			    "");
	if (!why->dst && !why->src && asks_for_other_end(xdp, why->is_egress))
		say("  a rule looks at the %s, too: --%s ADDR\n",
		    why->is_egress ? "source" : "destination", why->is_egress ? "src" : "dst");
}

void print_why(const struct why *why, const char *address, const struct baleen_xdp *xdp,
	       const struct baleen_explanation *explanation)
{
	enum baleen_outcome outcome = explanation->answer.judgement.outcome;

	print_packet(why, address);
	say(": %s\n", verdict_text(explanation));
	if (outcome == BALEEN_OUTCOME_VITAL)
		puts("  passes by default, since no host lives without it");
	else if (outcome != BALEEN_OUTCOME_RULE)
		say("  no rule decides: default %s\n", xdp->config.default_drop ? "drop" : "pass");
	for (u32 i = 0; i < xdp->config.n_rules; i++)
		print_rule(xdp, i, explanation);
	print_differences(xdp, explanation);
	print_others(why, xdp, explanation);
}
