// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen top: the view as lines of text. */
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "cli/device/top.h"
#include "key/key_text.h"
#include "net/device.h"
#include "util/foreign.h"
#include "util/number.h"
#include "util/shell.h"
#include "util/sparkline.h"
#include "xdp/ruleset.h"

/* Narrower than this there is no room for action and total. */
#define WIDE 60

#define RATE_TEXT 16

/* --- lines ----------------------------------------------------------------- */

/* Cuts UTF-8 after so many characters, each of them one column wide. */
static void cut(char *text, u32 width)
{
	u32 n = 0;

	for (; *text; text++)
		if ((*text & 0xc0) != 0x80 && n++ == width)
			*text = '\0', text--;
}

static void add_line(struct top_page *page, enum top_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_line(struct top_page *page, enum top_style style, const char *format, ...)
{
	u32 room = page->height < TOP_MAX_LINES ? page->height : TOP_MAX_LINES;
	va_list args;

	if (page->n >= room)
		return;
	va_start(args, format);
	baleen_foreign_vformat(page->text[page->n], TOP_LINE_BYTES, format, args);
	va_end(args);
	cut(page->text[page->n], page->width);
	page->style[page->n++] = style;
}

/* Three digits and a unit: 0, 0.25, 12.3k. */
static const char *format_rate(double rate, char *text)
{
	static const char units[] = " kMGT";
	u32 unit = 0;

	while (rate >= 999.5 && units[unit + 1]) {
		rate /= 1000;
		unit++;
	}
	snprintf(text, RATE_TEXT, "%.*f%.*s",
		 !rate || rate >= 99.95 ? 0 :
		 rate >= 9.995		? 1 :
					  2,
		 rate, unit != 0, &units[unit]);
	return text;
}

/* --- head ------------------------------------------------------------------ */

static void add_title(const struct top_view *view, struct top_page *page)
{
	const struct baleen_rates *rates = &view->rates;
	char clock[16], left[TOP_LINE_BYTES];
	time_t now = time(NULL);
	struct tm parts;
	int pad;

	localtime_r(&now, &parts);
	strftime(clock, sizeof(clock), "%T", &parts);
	baleen_foreign_format(left, sizeof(left), "%s: %s%s%s, %s", rates->device,
			      view->is_paused ? "PAUSED, " : "", rates->dry_run ? "DRY RUN, " : "",
			      baleen_attach_status_text(rates->attach_status),
			      baleen_mode_text(rates->mode));
	pad = (int)page->width - (int)strlen(left) - (int)strlen(clock);
	if (pad < 1)
		add_line(page, TOP_TITLE, "%s", left);
	else
		add_line(page, TOP_TITLE, "%s%*s%s", left, pad, "", clock);
}

static void add_totals(const struct top_view *view, struct top_page *page)
{
	const struct baleen_rates *rates = &view->rates;
	char seen[RATE_TEXT], dropped[RATE_TEXT], bytes[RATE_TEXT];

	add_line(page, TOP_PLAIN, "seen %s/s, %sdropped %s/s, %sB/s",
		 format_rate(baleen_series_last(&rates->seen), seen),
		 rates->dry_run ? "would be " : "",
		 format_rate(baleen_series_last(&rates->dropped), dropped),
		 format_rate(baleen_series_last(&rates->dropped_bytes), bytes));
}

/* --- rules ----------------------------------------------------------------- */

/**
 * struct columns - of the rows of rules
 * @name: width of the name
 * @is_wide: there are action and total
 * @history: width of the sparkline; 0 for none
 */
struct columns {
	u32 name;
	bool is_wide;
	u32 history;
};

#define NAME_MIN 9

static struct columns find_columns(const struct top_view *view, u32 width)
{
	struct columns columns = { .name = NAME_MIN, .is_wide = width >= WIDE };
	u32 max = width >= WIDE ? width / 3 : width / 3 + 1, used;

	for (u32 i = 0; i < view->rates.n_rules; i++)
		if (strlen(view->rates.rule[i].name) > columns.name)
			columns.name = strlen(view->rates.rule[i].name);
	if (columns.name > max && max > NAME_MIN)
		columns.name = max;
	used = columns.name + 1 + 6 + 1 + 6 + (columns.is_wide ? 7 + 7 : 0);
	columns.history = width > used + 4 ? width - used - 1 : 0;
	if (columns.history > BALEEN_SERIES_LENGTH)
		columns.history = BALEEN_SERIES_LENGTH;
	return columns;
}

static void add_row(const struct top_view *view, struct top_page *page,
		    const struct columns *columns, const char *name, const char *action,
		    const struct baleen_series *packets, const struct baleen_series *bytes,
		    u64 total)
{
	char spark[BALEEN_SERIES_LENGTH * BALEEN_SPARK_BYTES + 1] = "", tail[RATE_TEXT + 8] = "";
	char packet_rate[RATE_TEXT], byte_rate[RATE_TEXT] = "-", sum[RATE_TEXT];
	double rates[BALEEN_SERIES_LENGTH];
	u32 n = baleen_series_get(packets, rates, columns->history);

	baleen_sparkline(rates, n, view->utf8, spark);
	format_rate(baleen_series_last(packets), packet_rate);
	if (bytes)
		format_rate(baleen_series_last(bytes), byte_rate);
	if (columns->is_wide)
		snprintf(tail, sizeof(tail), " %6s", format_rate(total, sum));
	add_line(page, TOP_PLAIN, "%-*.*s%s%-*s %6s %6s%s %*s%s", columns->name, columns->name,
		 name, columns->is_wide ? " " : "", columns->is_wide ? 6 : 0,
		 columns->is_wide ? action : "", packet_rate, byte_rate, tail, columns->history - n,
		 "", spark);
}

static void add_header(const struct top_view *view, struct top_page *page,
		       const struct columns *columns)
{
	add_line(page, TOP_HEADER, "%-*s%s %6s %6s%s %s%s%s", columns->name, "RULE",
		 columns->is_wide ? " ACTION" : "", "PKT/S", "BYTE/S",
		 columns->is_wide ? "  TOTAL" : "", columns->history ? "PKT/S" : "",
		 view->sort ? ", BY " : "",
		 view->sort == TOP_SORT_PACKETS ? "PKT/S" :
		 view->sort == TOP_SORT_BYTES	? "BYTE/S" :
						  "");
}

/* With as many rules as leave @below lines. */
static void add_rules(const struct top_view *view, struct top_page *page,
		      const struct columns *columns, u32 below)
{
	const struct baleen_rates *rates = &view->rates;
	u32 order[BALEEN_MAX_RULES], n = rates->n_rules;
	u32 room = page->height > page->n + below ? page->height - page->n - below : 1;

	top_order(view, order);
	if (n > room)
		n = room - 1;
	for (u32 i = 0; i < n; i++) {
		const struct baleen_rule_rates *rule = &rates->rule[order[i]];

		add_row(view, page, columns, rule->name, baleen_action_text(rule->action),
			&rule->packets, &rule->bytes, rule->counted.packets);
	}
	if (n < rates->n_rules)
		add_line(page, TOP_PLAIN, "... and %u more rules", rates->n_rules - n);
}

/* --- what no rule decided -------------------------------------------------- */

#define NUMBER_OF(counter) (offsetof(struct baleen_stats, counter) / sizeof(u64))

static void add_default(const struct top_view *view, struct top_page *page,
			const struct columns *columns)
{
	const struct baleen_rates *rates = &view->rates;

	add_row(view, page, columns, "(default)", rates->default_drop ? "drop" : "pass",
		&rates->counter[NUMBER_OF(unmatched)], NULL, rates->stats.unmatched);
	if (rates->default_drop)
		add_row(view, page, columns, "(vital)", "pass", &rates->counter[NUMBER_OF(vital)],
			NULL, rates->stats.vital);
}

static u64 moved(const struct baleen_rates *rates, u32 i)
{
	return ((const u64 *)&rates->stats)[i] - ((const u64 *)&rates->first)[i];
}

static bool any_unexamined(const struct baleen_rates *rates)
{
	for (u32 i = NUMBER_OF(not_ip); i <= NUMBER_OF(no_filter); i++)
		if (moved(rates, i))
			return true;
	return false;
}

/* Those counters that have moved since we look. */
static void add_unexamined(const struct top_view *view, struct top_page *page)
{
	const struct baleen_rates *rates = &view->rates;
	char text[TOP_LINE_BYTES] = "", rate[RATE_TEXT];
	size_t used = 0;

	for (u32 i = NUMBER_OF(not_ip); i <= NUMBER_OF(no_filter); i++) {
		if (!moved(rates, i))
			continue;
		used += snprintf(text + used, sizeof(text) - used, "  %s %llu, %s/s",
				 baleen_counter_name(i), (unsigned long long)moved(rates, i),
				 format_rate(baleen_series_last(&rates->counter[i]), rate));
	}
	if (used)
		add_line(page, moved(rates, NUMBER_OF(no_filter)) ? TOP_WARNING : TOP_PLAIN,
			 "unexamined:%s", text);
}

/* --- events ---------------------------------------------------------------- */

static void add_sampling(const struct top_view *view, struct top_page *page)
{
	const struct baleen_rates *rates = &view->rates;
	char rate[BALEEN_INTERVAL_TEXT], sampled[RATE_TEXT], left_out[RATE_TEXT];
	u64 lost = moved(rates, NUMBER_OF(sample_lost));

	if (view->reader == TOP_READER_NONE) {
		add_line(page, TOP_PLAIN,
			 "no events: 'baleen policy %s --sample 100/s' samples some",
			 baleen_shell_word(rates->device).text);
	} else if (view->reader == TOP_READER_OTHER) {
		if (view->watcher.pid)
			add_line(page, TOP_PLAIN, "events are read by process %d (%s)",
				 (int)view->watcher.pid, view->watcher.name);
		else
			add_line(page, TOP_PLAIN, "events are read by another process");
	} else {
		add_line(page, lost ? TOP_WARNING : TOP_PLAIN,
			 "events: %s/s, %s/s left out, %llu lost, at most %s",
			 format_rate(baleen_series_last(&rates->counter[NUMBER_OF(sampled)]),
				     sampled),
			 format_rate(baleen_series_last(&rates->counter[NUMBER_OF(not_sampled)]),
				     left_out),
			 (unsigned long long)lost,
			 baleen_interval_format(rates->sample_interval_ns, rate));
	}
}

const char *top_slot_name(const struct baleen_rates *rates, u32 slot)
{
	if (slot == BALEEN_EVENT_DEFAULT)
		return "(default)";
	if (slot == BALEEN_EVENT_UNPARSED)
		return "(unparsed)";
	for (u32 i = 0; i < rates->n_rules; i++)
		if (rates->rule[i].slot == slot)
			return rates->rule[i].name;
	return "(removed)";
}

static void add_hitter(const struct top_view *view, struct top_page *page,
		       const struct baleen_top_key *hitter, const struct columns *columns)
{
	double share = 100. * hitter->count / view->top_k.n_events;
	char key[BALEEN_KEY_TEXT];
	u32 width = page->width > columns->name + 17 + 1 ? page->width - columns->name - 17 - 1 : 1;

	baleen_key_format(&hitter->key, hitter->key_spec, key);
	if (width > 46 && strlen(key) <= 46)
		width = 46;
	add_line(page, TOP_PLAIN, "%-*.*s %8llu %6.1f%% %.*s", (int)width, (int)width, key,
		 (unsigned long long)hitter->count, share, (int)columns->name,
		 top_slot_name(&view->rates, hitter->slot));
}

static void add_top_k(const struct top_view *view, struct top_page *page,
		      const struct columns *columns)
{
	const struct baleen_top_key *top[TOP_MAX_LINES];
	char events[NUMBER_TEXT], bound[NUMBER_TEXT];
	u64 too_high = baleen_top_k_bound(&view->top_k);
	u32 n, room = page->height > page->n + 1 ? page->height - page->n - 1 : 0;
	const char *noun = baleen_plural(view->top_k.n_events, "event", "events");

	if (!view->top_k.n_events || !room)
		return;
	n = baleen_top_k_top(&view->top_k, top, room < TOP_MAX_LINES ? room : TOP_MAX_LINES);
	if (too_high)
		add_line(page, TOP_HEADER, "KEYS of %s %s; counts are too high by %s at most",
			 format_count(view->top_k.n_events, events), noun,
			 format_count(too_high, bound));
	else
		add_line(page, TOP_HEADER, "KEYS of %s %s",
			 format_count(view->top_k.n_events, events), noun);
	/* A count that may be half error is noise. */
	for (u32 i = 0; i < n && top[i]->error <= top[i]->count / 2; i++)
		add_hitter(view, page, top[i], columns);
}

void top_layout(const struct top_view *view, struct top_page *page)
{
	struct columns columns = find_columns(view, page->width);
	u32 below = 1 + view->rates.default_drop + any_unexamined(&view->rates) + 1;

	page->n = 0;
	add_title(view, page);
	add_totals(view, page);
	add_header(view, page, &columns);
	add_rules(view, page, &columns, below);
	add_default(view, page, &columns);
	add_unexamined(view, page);
	add_sampling(view, page);
	add_top_k(view, page, &columns);
}
