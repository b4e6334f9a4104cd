// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Never-names and their answers, as commands tell them. */
#include "cli/open/never_names.h"
#include "state/entries.h"
#include "util/duration.h"
#include "util/number.h"

static void complain_of(const char *device, const struct baleen_never_answer *answer)
{
	complain("%s: never-name %s: %s; %s", device, answer->name, answer->failure,
		 answer->addresses ? "what it did answer is withheld" :
		 answer->is_first  ? "nothing is withheld for it yet" :
				     "its last answer stays in force");
}

int never_names_complain(const char *device, const struct baleen_never_answers *answers)
{
	int result = 0;

	for (size_t i = 0; i < answers->n; i++) {
		if (!*answers->answer[i].failure)
			continue;
		complain_of(device, &answers->answer[i]);
		result = EXIT_FAILED;
	}
	return result;
}

static bool is_changed(const struct baleen_never_answer *answer)
{
	return answer->n_added || answer->n_removed;
}

static void report_words(const char *device, const struct baleen_never_answer *answer)
{
	if (*answer->failure)
		complain_of(device, answer);
	if (!answer->addresses)
		return;
	if (!is_changed(answer))
		say("%s: never-name %s: unchanged\n", device, answer->name);
	else
		say("%s: never-name %s: %s, +%u -%u: %u %s\n", device, answer->name,
		    answer->is_first ? "new" : "changed", answer->n_added, answer->n_removed,
		    answer->n, baleen_plural(answer->n, "address", "addresses"));
}

static void report_json(const char *device, const struct baleen_never_answer *answer, json_t *json)
{
	const char *result = !answer->addresses	 ? "failed" :
			     !is_changed(answer) ? "same" :
			     answer->is_first	 ? "new" :
						   "changed";
	json_t *one = json_object();

	json_object_set_new(one, "device", json_text(device));
	json_object_set_new(one, "never_name", json_text(answer->name));
	json_object_set_new(one, "result", json_string(result));
	json_object_set_new(one, "addresses", json_integer(answer->n));
	json_object_set_new(one, "added", json_integer(answer->n_added));
	json_object_set_new(one, "removed", json_integer(answer->n_removed));
	json_object_set_new(one, "error",
			    *answer->failure ? json_text(answer->failure) : json_null());
	json_array_append_new(json, one);
}

int never_names_report(const char *device, const struct baleen_never_answers *answers, json_t *json,
		       int result)
{
	for (size_t i = 0; i < answers->n; i++) {
		const struct baleen_never_answer *answer = &answers->answer[i];

		if (json)
			report_json(device, answer, json);
		else
			report_words(device, answer);
		if (*answer->failure)
			result = EXIT_FAILED;
		else if (is_changed(answer) && result == EXIT_DONE)
			result = EXIT_CHANGED;
	}
	return result;
}

/* --- status ------------------------------------------------------------------- */

/* How long ago, or 0s when the clock was set back since. */
static const char *format_age(u64 ms, char *text)
{
	u64 now_ms = baleen_now_ms();

	return format_span(now_ms > ms ? now_ms - ms : 0, text);
}

static int print_name(const struct baleen_never_name *name, void *data)
{
	char age[BALEEN_DURATION_TEXT];

	say("  never-name %s: ", name->name);
	if (name->answered_ms)
		say("%u %s, answered %s ago", name->n,
		    baleen_plural(name->n, "address", "addresses"),
		    format_age(name->answered_ms, age));
	else
		say("no answer yet");
	if (*name->failure)
		say("; FAILED %s ago: %s", format_age(name->asked_ms, age), name->failure);
	putchar('\n');
	return 0;
}

void never_names_print(const struct baleen_rule_store *state)
{
	baleen_never_names_each(state, print_name, NULL, NULL);
}

static json_t *json_time(u64 ms)
{
	return ms ? json_integer(ms) : json_null();
}

static int describe_name(const struct baleen_never_name *name, void *data)
{
	json_t *one = json_object();

	json_object_set_new(one, "name", json_text(name->name));
	json_object_set_new(one, "addresses", json_integer(name->n));
	json_object_set_new(one, "asked_ms", json_time(name->asked_ms));
	json_object_set_new(one, "answered_ms", json_time(name->answered_ms));
	json_object_set_new(one, "error", *name->failure ? json_text(name->failure) : json_null());
	json_array_append_new(data, one);
	return 0;
}

void never_names_describe(const struct baleen_rule_store *state, json_t *json)
{
	json_t *names = json_array();

	baleen_never_names_each(state, describe_name, names, NULL);
	json_object_set_new(json, "never_names", names);
}
