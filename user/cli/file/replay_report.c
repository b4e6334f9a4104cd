// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fate of the frames of a capture, in words and in JSON. */
#include <string.h>

#include "cli/file/replay.h"
#include "util/number.h"

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

static const char *rule_name(const struct replay *replay, u32 i)
{
	return replay->program.config.rule[i].image.name;
}

static const char *rule_action(const struct replay *replay, u32 i)
{
	return baleen_action_text(replay->program.config.rule[i].action);
}

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
	for (u32 i = 0; i < replay->program.config.n_rules; i++)
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
	for (u32 i = 0; i < replay->program.config.n_rules; i++)
		if (judgement->counted & 1u << i)
			print_note(&n_notes, "counted by ", rule_name(replay, i));
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
	    judgement->outcome == BALEEN_OUTCOME_RULE ? rule_name(replay, judgement->rule) :
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
				 is_rule ? rule_name(replay, judgement->rule) : NULL);

	if (!is_rule)
		json_object_set_new(json, "reason", json_string(outcomes[judgement->outcome].name));
	for (u32 i = 0; i < replay->program.config.n_rules; i++) {
		if (!(judgement->counted & 1u << i))
			continue;
		if (!counted)
			counted = json_array();
		json_array_append_new(counted, json_string(rule_name(replay, i)));
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
		if (!replay->shows_frames)
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
	for (u32 i = 0; i < replay->program.config.n_rules; i++)
		print_total(rule_action(replay, i), rule_name(replay, i), &replay->rule[i]);
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

static json_t *text_or_null(const char *text)
{
	return text ? json_text(text) : json_null();
}

static int print_totals_json(const struct replay *replay, u64 n_frames)
{
	json_t *rules = json_array(), *unparsed = json_object();

	for (u32 i = 0; i < replay->program.config.n_rules; i++) {
		json_t *rule = describe_total(&replay->rule[i]);

		json_object_set_new(rule, "name", json_string(rule_name(replay, i)));
		json_object_set_new(rule, "action", json_string(rule_action(replay, i)));
		json_array_append_new(rules, rule);
	}
	for (u32 i = BALEEN_OUTCOME_NOT_IP; i < BALEEN_N_OUTCOMES; i++)
		json_object_set_new(unparsed, outcomes[i].name,
				    describe_total(&replay->outcome[i]));
	return print_json(json_pack("{s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "device",
				    text_or_null(replay->device), "conf",
				    text_or_null(replay->conf_path), "frames", (json_int_t)n_frames,
				    "snapped", (json_int_t)replay->n_snapped, "dropped",
				    describe_total(&replay->dropped), "passed",
				    describe_total(&replay->passed), "rules", rules, "unmatched",
				    describe_total(&replay->outcome[BALEEN_OUTCOME_UNMATCHED]),
				    "vital", describe_total(&replay->outcome[BALEEN_OUTCOME_VITAL]),
				    "unparsed", unparsed));
}

int replay_print(struct replay *replay, struct baleen_trace *trace)
{
	int result;

	if (replay->json && replay->shows_frames)
		puts("[");
	result = judge_frames(replay, trace);
	if (replay->json && !replay->shows_frames)
		return print_totals_json(replay, trace->n_frames) ? EXIT_FAILED : result;
	if (replay->json) {
		if (trace->n_frames)
			putchar('\n');
		puts("]");
	} else if (!replay->shows_frames)
		print_totals(replay, trace);
	return finish_output(result);
}
