// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen replay: what rules would do with the frames of a capture. */
#include <errno.h>
#include <string.h>

#include "cli/open/policy.h"
#include "cli/open/rule_images.h"
#include "net/device.h"
#include "net/trace.h"
#include "util/number.h"
#include "xdp/qualifiers.h"
#include "xdp/replay.h"

/* The outcomes by the names that the counters have in the map and in status. */
static const struct {
	const char *name;
	const char *text;
} outcomes[BALEEN_N_OUTCOMES] = {
	[BALEEN_OUTCOME_RULE] = { "rule", "a rule" },
	[BALEEN_OUTCOME_UNMATCHED] = { "unmatched", "default" },
	[BALEEN_OUTCOME_VITAL] = { "vital", "vital" },
	[BALEEN_OUTCOME_NOT_IP] = { "not_ip", "not IP" },
	[BALEEN_OUTCOME_MPLS] = { "mpls", "MPLS" },
	[BALEEN_OUTCOME_TAGS] = { "tags", "more than 4 VLAN tags" },
	[BALEEN_OUTCOME_VERSION] = { "version", "wrong IP version" },
	[BALEEN_OUTCOME_SHORT] = { "short", "cut short" },
};

/**
 * struct total - frames that were judged alike
 * @frames: how many
 * @bytes: their length on the wire
 */
struct total {
	u64 frames;
	u64 bytes;
};

/**
 * struct replay - one run of replay
 * @rules: in the order typed
 * @lists: how their lists are read
 * @policy: the verdict when no rule decides
 * @count_only: print totals, not frames
 * @json: print JSON
 * @program: that judges
 * @key_width: width of the widest key so far
 * @rule: what each rule decided or, of one that only counts, saw
 * @outcome: what came of the frames; those of rules are in @rule
 * @dropped: of all of them
 * @passed: of all of them
 * @n_snapped: frames of which the capture holds only the start
 */
struct replay {
	struct rules rules;
	struct list_options lists;
	struct policy policy;
	bool count_only;
	bool json;
	struct baleen_replay program;
	int key_width;
	struct total rule[BALEEN_MAX_RULES];
	struct total outcome[BALEEN_N_OUTCOMES];
	struct total dropped;
	struct total passed;
	u64 n_snapped;
};

static void count(struct total *total, const struct baleen_traced_frame *frame)
{
	total->frames++;
	total->bytes += frame->n_wire_bytes;
}

static bool is_snapped(const struct baleen_traced_frame *frame)
{
	return frame->n_bytes < frame->n_wire_bytes;
}

static void add_to_totals(struct replay *replay, const struct baleen_traced_frame *frame,
			  const struct baleen_judgement *judgement)
{
	for (u32 i = 0; i < replay->rules.n; i++)
		if (judgement->counted & 1u << i)
			count(&replay->rule[i], frame);
	if (judgement->outcome == BALEEN_OUTCOME_RULE)
		count(&replay->rule[judgement->rule], frame);
	else
		count(&replay->outcome[judgement->outcome], frame);
	count(judgement->is_drop ? &replay->dropped : &replay->passed, frame);
	replay->n_snapped += is_snapped(frame);
}

/* The key as text, or NULL when there is none. */
static const char *key_text(const struct replay *replay, const struct baleen_judgement *judgement,
			    char *text)
{
	if (!judgement->has_key)
		return NULL;
	baleen_key_format(&judgement->key,
			  replay->program.config.rule[judgement->rule].image.key_spec, text);
	return text;
}

static bool is_ip(const struct baleen_judgement *judgement)
{
	return judgement->parse == BALEEN_PARSE_IP4 || judgement->parse == BALEEN_PARSE_IP6;
}

/* Prints ` (one, two)` piece by piece. */
static void print_note(u32 *n_notes, const char *note, const char *what)
{
	say("%s%s%s", (*n_notes)++ ? ", " : "  (", note, what);
}

static void print_notes(const struct replay *replay, const struct baleen_traced_frame *frame,
			const struct baleen_judgement *judgement)
{
	u32 n_notes = 0;

	if (is_ip(judgement) && !judgement->has_key)
		print_note(&n_notes, "no ports or protocol to be had", "");
	for (u32 i = 0; i < replay->rules.n; i++)
		if (judgement->counted & 1u << i)
			print_note(&n_notes, "counted by ", replay->rules.rule[i].name);
	if (is_snapped(frame))
		print_note(&n_notes, "snapped", "");
	if (judgement->run == BALEEN_RUN_START)
		print_note(&n_notes, "too long for the kernel: judged by its start", "");
	if (judgement->run == BALEEN_RUN_NONE)
		print_note(&n_notes, "too short for the kernel: judged alike", "");
	if (n_notes)
		putchar(')');
}

static void print_frame(struct replay *replay, u64 number, const struct baleen_traced_frame *frame,
			const struct baleen_judgement *judgement)
{
	char text[BALEEN_KEY_TEXT];
	const char *key = key_text(replay, judgement, text);
	int width = say("%8llu  %s", (unsigned long long)number, key ? key : "-") - 10;

	/* It is not known before which key will be the widest. */
	if (width > replay->key_width)
		replay->key_width = width;
	say("%*s  %s  %s", replay->key_width - width, "", judgement->is_drop ? "drop" : "pass",
	    judgement->outcome == BALEEN_OUTCOME_RULE ? replay->rules.rule[judgement->rule].name :
							outcomes[judgement->outcome].text);
	print_notes(replay, frame, judgement);
	putchar('\n');
}

static json_t *describe_frame(const struct replay *replay, u64 number,
			      const struct baleen_traced_frame *frame,
			      const struct baleen_judgement *judgement)
{
	bool is_rule = judgement->outcome == BALEEN_OUTCOME_RULE;
	char text[BALEEN_KEY_TEXT];
	json_t *counted = NULL;
	json_t *json = json_pack("{s:I, s:s?, s:s, s:s?}", "frame", (json_int_t)number, "key",
				 key_text(replay, judgement, text), "verdict",
				 judgement->is_drop ? "drop" : "pass", "rule",
				 is_rule ? replay->rules.rule[judgement->rule].name : NULL);

	if (!is_rule)
		json_object_set_new(json, "reason", json_string(outcomes[judgement->outcome].name));
	for (u32 i = 0; i < replay->rules.n; i++) {
		if (!(judgement->counted & 1u << i))
			continue;
		if (!counted)
			counted = json_array();
		json_array_append_new(counted, json_string(replay->rules.rule[i].name));
	}
	if (counted)
		json_object_set_new(json, "counted", counted);
	if (is_snapped(frame))
		json_object_set_new(json, "snapped", json_true());
	if (judgement->run != BALEEN_RUN_WHOLE)
		json_object_set_new(json,
				    judgement->run == BALEEN_RUN_START ? "too_long" : "too_short",
				    json_true());
	return json;
}

/* One element of an array that is printed as it goes, whatever its length. */
static void print_frame_json(const struct replay *replay, u64 number,
			     const struct baleen_traced_frame *frame,
			     const struct baleen_judgement *judgement)
{
	if (number > 1)
		fputs(",\n", stdout);
	fputs("  ", stdout);
	print_json_line(describe_frame(replay, number, frame, judgement), 0);
}

/* Judges frame after frame; an exit code. What was judged has been printed. */
static int judge_frames(struct replay *replay, struct baleen_trace *trace)
{
	struct baleen_traced_frame frame;
	struct baleen_judgement judgement;
	struct baleen_error error;
	int result;

	while ((result = baleen_trace_next(trace, &frame, &error)) > 0) {
		result = baleen_replay_frame(&replay->program, frame.bytes, frame.n_bytes,
					     &judgement, &error);
		if (result)
			break;
		add_to_totals(replay, &frame, &judgement);
		if (replay->count_only)
			continue;
		if (replay->json)
			print_frame_json(replay, trace->n_frames, &frame, &judgement);
		else
			print_frame(replay, trace->n_frames, &frame, &judgement);
		if (ferror(stdout))
			break;
	}
	if (result >= 0)
		return EXIT_DONE;
	fflush(stdout);
	return complain("%s", error.text);
}

static void print_total(const char *what, const char *name, const struct total *total)
{
	char frames[NUMBER_TEXT], bytes[NUMBER_TEXT];

	say("  %-5s  %-31s  %15s %-6s  %9s\n", what, name, format_count(total->frames, frames),
	    baleen_plural(total->frames, "frame", "frames"), format_bytes(total->bytes, bytes));
}

static void print_totals(const struct replay *replay, const struct baleen_trace *trace)
{
	bool is_default_drop = replay->program.config.default_drop;
	char number[NUMBER_TEXT];

	say("%s: %s %s", trace->name, format_count(trace->n_frames, number),
	    baleen_plural(trace->n_frames, "frame", "frames"));
	if (replay->n_snapped)
		say(", %s of them snapped", format_count(replay->n_snapped, number));
	putchar('\n');
	for (u32 i = 0; i < replay->rules.n; i++)
		print_total(baleen_action_text(replay->rules.rule[i].action),
			    replay->rules.rule[i].name, &replay->rule[i]);
	for (u32 i = BALEEN_OUTCOME_UNMATCHED; i < BALEEN_N_OUTCOMES; i++)
		if (replay->outcome[i].frames || i == BALEEN_OUTCOME_UNMATCHED)
			print_total(is_default_drop && i != BALEEN_OUTCOME_VITAL ? "drop" : "pass",
				    outcomes[i].text, &replay->outcome[i]);
	print_total("", "all that was dropped", &replay->dropped);
	print_total("", "all that passed", &replay->passed);
}

static json_t *describe_total(const struct total *total)
{
	return json_pack("{s:I, s:I}", "frames", (json_int_t)total->frames, "bytes",
			 (json_int_t)total->bytes);
}

static int print_totals_json(const struct replay *replay, u64 n_frames)
{
	json_t *rules = json_array(), *unparsed = json_object();

	for (u32 i = 0; i < replay->rules.n; i++) {
		json_t *rule = describe_total(&replay->rule[i]);

		json_object_set_new(rule, "name", json_string(replay->rules.rule[i].name));
		json_object_set_new(rule, "action",
				    json_string(baleen_action_text(replay->rules.rule[i].action)));
		json_array_append_new(rules, rule);
	}
	for (u32 i = BALEEN_OUTCOME_NOT_IP; i < BALEEN_N_OUTCOMES; i++)
		json_object_set_new(unparsed, outcomes[i].name,
				    describe_total(&replay->outcome[i]));
	return print_json(json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "frames",
				    (json_int_t)n_frames, "snapped", (json_int_t)replay->n_snapped,
				    "dropped", describe_total(&replay->dropped), "passed",
				    describe_total(&replay->passed), "rules", rules, "unmatched",
				    describe_total(&replay->outcome[BALEEN_OUTCOME_UNMATCHED]),
				    "vital", describe_total(&replay->outcome[BALEEN_OUTCOME_VITAL]),
				    "unparsed", unparsed));
}

/* Judges a capture and prints it all; an exit code. */
static int print_trace(struct replay *replay, struct baleen_trace *trace)
{
	int result;

	if (replay->json && !replay->count_only)
		puts("[");
	result = judge_frames(replay, trace);
	if (replay->json && replay->count_only)
		return print_totals_json(replay, trace->n_frames) ? EXIT_FAILED : result;
	if (replay->json) {
		if (trace->n_frames)
			putchar('\n');
		puts("]");
	} else if (replay->count_only)
		print_totals(replay, trace);
	return finish_output(result);
}

/* All frames of a capture come at once. */
static void warn_of_limits(const struct baleen_ruleset *ruleset)
{
	for (u32 i = 0; i < ruleset->n_rules; i++)
		if (ruleset->rule[i].rate_limit.rate)
			complain("warning: rule '%s' matches nothing: a replay does not simulate "
				 "time, so nobody is over its limit",
				 ruleset->rule[i].name);
}

/* Loads the rules and replays the capture; an exit code. */
static int replay_trace(struct replay *replay, struct baleen_trace *trace)
{
	struct baleen_ruleset ruleset = { 0 };
	struct baleen_error error;
	int result;

	if (rules_insert(&replay->rules, &ruleset, 0))
		return EXIT_FAILED;
	policy_apply(&replay->policy, &ruleset);
	rules_warn_dead(&replay->rules, &ruleset);
	warn_of_limits(&ruleset);
	if (baleen_replay_open(&replay->program, &ruleset, &error))
		return complain("%s", error.text);
	result = print_trace(replay, trace);
	baleen_replay_close(&replay->program);
	return result;
}

/* A word without an option is a drop rule, but the last one is the capture: so each
 * waits for the next.
 */
static int parse_word(const struct option_use *use)
{
	struct rules *rules = &((struct replay *)use->to)->rules;
	int err = 0;

	if (baleen_is_qualifier(use->argument) >= 0)
		err = rules_end_wait(use->command, rules);
	if (!err && !rules->waiting) {
		err = rules_word_parse(use->command, rules, use->argument);
		if (err != -ENOENT)
			return err;
		err = 0;
	}
	if (!err)
		err = rules_end_wait(use->command, rules);
	rules->waiting = use->argument;
	return err;
}

static int parse(struct replay *replay, int argc, char **argv)
{
	int err = options_parse(&replay_command, replay, &argc, &argv);

	if (!err)
		err = rules_check(&replay_command, &replay->rules);
	if (err)
		return err;
	if (!replay->rules.waiting)
		return complain_usage(&replay_command, "the capture comes last: none is given");
	if (!replay->rules.n)
		return complain_usage(&replay_command, "no IMAGE given before the capture '%s'",
				      replay->rules.waiting);
	for (u32 i = 0; i < replay->rules.n; i++)
		if (!strcmp(replay->rules.rule[i].path, "-") && !strcmp(replay->rules.waiting, "-"))
			return complain_usage(&replay_command,
					      "standard input cannot be both list and capture");
	return list_options_check(&replay_command, &replay->lists);
}

static int run(int argc, char **argv)
{
	struct replay replay = { .key_width = sizeof("255.255.255.255") - 1 };
	struct baleen_trace trace;
	struct baleen_error error;
	int err;

	list_options_init(&replay.lists);
	err = parse(&replay, argc, argv);
	if (err)
		return err;
	/* Say what is missing before a long list is read. */
	if (baleen_device_privileges(&error) ||
	    baleen_trace_open(&trace, replay.rules.waiting, &error))
		return complain("%s", error.text);
	err = rules_open(&replay.rules, &replay.lists);
	if (!err)
		err = replay_trace(&replay, &trace);
	rules_close(&replay.rules);
	baleen_trace_close(&trace);
	return err;
}

static const struct option_spec options[] = {
	{ .table = rule_option_table, .at = offsetof(struct replay, rules) },
	VALUE("default", 0, "V", policy_default, replay, policy,
	      "what no rule decides: pass (default) or drop, but for what a host needs to live",
	      .words = "pass drop"),
	FLAG("totals", 'c', replay, count_only,
	     "print how many frames each rule decided, not which"),
	FLAG("json", 'j', replay, json, "an array of the frames; with -c one object"),
	{ .table = list_option_table, .at = offsetof(struct replay, lists) },
	{ 0 },
};

const struct command replay_command = {
	.name = "replay",
	.synopsis =
		"[-cj] {[NAME=]IMAGE|{--allow|--drop|--count} [NAME=]IMAGE} [QUALIFIER...]... TRACE",
	.help = "Prints what the rules would do with each frame of a capture: its number, key,\n"
		"verdict, and the rule that decided or why none did. The verdicts are those of the\n"
		"XDP program itself, run by the kernel over counters of its own; nothing is attached\n"
		"and no device is needed. An IMAGE without an option is dropped.\n"
		"TRACE is a pcap or pcapng file of Ethernet frames, raw IP or Linux cooked packets;\n"
		"- is standard input.\n",
	.options = options,
	.word = parse_word,
	.run = run,
};
