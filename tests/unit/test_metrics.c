// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Metrics as text: both formats to the letter, labels that are hostile, values
 * that are not known, and that what dashboard and alerts ask for is in the table.
 * What Prometheus itself makes of it is for tests/xdp/metrics.sh.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <report/metrics.h>
#include <report/metrics_families.h>

#define DASHBOARD "user/grafana/dashboard.json"
#define ALERTS "user/prometheus/baleen.rules.yml"

static char *format(const struct baleen_metrics_source *source, enum baleen_metrics_format format)
{
	struct baleen_error error;
	size_t n_bytes = 0;
	char *text = NULL;

	assert_int_equal(baleen_metrics_format(source, format, &text, &n_bytes, &error), 0);
	assert_non_null(text);
	assert_int_equal(strlen(text), n_bytes);
	return text;
}

static void assert_text(const struct baleen_metrics_source *source, enum baleen_metrics_format how,
			const char *want)
{
	char *text = format(source, how);

	assert_string_equal(text, want);
	free(text);
}

static void assert_has(const struct baleen_metrics_source *source, const char *line)
{
	char *text = format(source, BALEEN_METRICS_OPENMETRICS);

	if (!strstr(text, line))
		fail_msg("no %s in\n%s", line, text);
	free(text);
}

static void assert_lacks(const struct baleen_metrics_source *source, const char *part)
{
	char *text = format(source, BALEEN_METRICS_OPENMETRICS);

	if (strstr(text, part))
		fail_msg("%s in\n%s", part, text);
	free(text);
}

/* --- formats --------------------------------------------------------------- */

static void nothing(void **state)
{
	const struct baleen_metrics_source source = { 0 };

	assert_text(&source, BALEEN_METRICS_OPENMETRICS, "# EOF\n");
	assert_text(&source, BALEEN_METRICS_PROMETHEUS, "");
}

/* A row of which nothing is known is not worth a header. */
static void unknown(void **state)
{
	struct baleen_metrics_source source = { 0 };

	assert_non_null(baleen_metrics_add_device(&source, "eth0"));
	assert_non_null(baleen_metrics_add_rule(&source, "eth0", "bad", "drop"));
	assert_non_null(baleen_metrics_add_table(&source, "eth0", "bad", "ipv4"));
	assert_non_null(baleen_metrics_add_feed(&source, "eth0", "bad", "list.txt"));
	assert_non_null(baleen_metrics_add_origin(&source, "eth0", "bad", "manual"));
	assert_non_null(baleen_metrics_add_name(&source, "eth0", "mail.example.net"));
	/* A second one would be the same series twice. */
	assert_null(baleen_metrics_add_name(&source, "eth0", "mail.example.net"));
	assert_text(&source, BALEEN_METRICS_OPENMETRICS, "# EOF\n");
	baleen_metrics_free(&source);
	assert_int_equal(source.n_devices, 0);
	assert_null(source.rule);
}

static void fill(struct baleen_metrics_source *source)
{
	static const struct baleen_metrics_release release = { "0.1", 1 };
	struct baleen_metrics_device *device = baleen_metrics_add_device(source, "eth0");
	struct baleen_metrics_rule *rule;

	source->release = &release;
	device->mode = 2;
	device->dry_run = 0;
	device->stats.sampled = 3;
	device->stats.not_sampled = 0;
	rule = baleen_metrics_add_rule(source, "eth0", "bad", "drop");
	rule->packets = 18446744073709551614ull;
	rule->fpp = 1.5e-7;
	rule = baleen_metrics_add_rule(source, "eth0", "good", "allow");
	rule->packets = 0;
}

static void openmetrics(void **state)
{
	struct baleen_metrics_source source = { 0 };

	fill(&source);
	assert_text(&source, BALEEN_METRICS_OPENMETRICS,
		    "# TYPE baleen_build info\n"
		    "# HELP baleen_build Release of baleen that wrote this.\n"
		    "baleen_build_info{version=\"0.1\"} 1\n"
		    "# TYPE baleen_device_mode stateset\n"
		    "# HELP baleen_device_mode Where on the receive path the program runs; "
		    "generic is slow.\n"
		    "baleen_device_mode{device=\"eth0\",baleen_device_mode=\"native\"} 0\n"
		    "baleen_device_mode{device=\"eth0\",baleen_device_mode=\"generic\"} 1\n"
		    "baleen_device_mode{device=\"eth0\",baleen_device_mode=\"offload\"} 0\n"
		    "baleen_device_mode{device=\"eth0\",baleen_device_mode=\"egress\"} 0\n"
		    "# TYPE baleen_device_dry_run gauge\n"
		    "# HELP baleen_device_dry_run 1 when what is counted as dropped has passed, "
		    "else 0.\n"
		    "baleen_device_dry_run{device=\"eth0\"} 0\n"
		    "# TYPE baleen_sample_packets counter\n"
		    "# UNIT baleen_sample_packets packets\n"
		    "# HELP baleen_sample_packets Frames that became events, or were to: left out "
		    "by the rate, or lost.\n"
		    "baleen_sample_packets_total{device=\"eth0\",result=\"sampled\"} 3\n"
		    "baleen_sample_packets_total{device=\"eth0\",result=\"not_sampled\"} 0\n"
		    "# TYPE baleen_rule_packets counter\n"
		    "# UNIT baleen_rule_packets packets\n"
		    "# HELP baleen_rule_packets Frames that the rule matched.\n"
		    "baleen_rule_packets_total{device=\"eth0\",rule=\"bad\",action=\"drop\"} "
		    "18446744073709551614\n"
		    "baleen_rule_packets_total{device=\"eth0\",rule=\"good\",action=\"allow\"} 0\n"
		    "# TYPE baleen_rule_false_positive_ratio gauge\n"
		    "# UNIT baleen_rule_false_positive_ratio ratio\n"
		    "# HELP baleen_rule_false_positive_ratio Chance that a key that is not listed "
		    "matches; 0 is exact.\n"
		    "baleen_rule_false_positive_ratio{device=\"eth0\",rule=\"bad\","
		    "action=\"drop\"} 1.5e-07\n"
		    "# EOF\n");
	baleen_metrics_free(&source);
}

static void prometheus(void **state)
{
	struct baleen_metrics_source source = { 0 };

	fill(&source);
	assert_text(&source, BALEEN_METRICS_PROMETHEUS,
		    "# HELP baleen_build_info Release of baleen that wrote this.\n"
		    "# TYPE baleen_build_info gauge\n"
		    "baleen_build_info{version=\"0.1\"} 1\n"
		    "# HELP baleen_device_mode Where on the receive path the program runs; "
		    "generic is slow.\n"
		    "# TYPE baleen_device_mode gauge\n"
		    "baleen_device_mode{device=\"eth0\",baleen_device_mode=\"native\"} 0\n"
		    "baleen_device_mode{device=\"eth0\",baleen_device_mode=\"generic\"} 1\n"
		    "baleen_device_mode{device=\"eth0\",baleen_device_mode=\"offload\"} 0\n"
		    "baleen_device_mode{device=\"eth0\",baleen_device_mode=\"egress\"} 0\n"
		    "# HELP baleen_device_dry_run 1 when what is counted as dropped has passed, "
		    "else 0.\n"
		    "# TYPE baleen_device_dry_run gauge\n"
		    "baleen_device_dry_run{device=\"eth0\"} 0\n"
		    "# HELP baleen_sample_packets_total Frames that became events, or were to: "
		    "left out by the rate, or lost.\n"
		    "# TYPE baleen_sample_packets_total counter\n"
		    "baleen_sample_packets_total{device=\"eth0\",result=\"sampled\"} 3\n"
		    "baleen_sample_packets_total{device=\"eth0\",result=\"not_sampled\"} 0\n"
		    "# HELP baleen_rule_packets_total Frames that the rule matched.\n"
		    "# TYPE baleen_rule_packets_total counter\n"
		    "baleen_rule_packets_total{device=\"eth0\",rule=\"bad\",action=\"drop\"} "
		    "18446744073709551614\n"
		    "baleen_rule_packets_total{device=\"eth0\",rule=\"good\",action=\"allow\"} 0\n"
		    "# HELP baleen_rule_false_positive_ratio Chance that a key that is not listed "
		    "matches; 0 is exact.\n"
		    "# TYPE baleen_rule_false_positive_ratio gauge\n"
		    "baleen_rule_false_positive_ratio{device=\"eth0\",rule=\"bad\","
		    "action=\"drop\"} 1.5e-07\n");
	baleen_metrics_free(&source);
}

static void daemon_and_parts(void **state)
{
	const struct baleen_metrics_daemon daemon = {
		.started_s = 5, .n_updates = 7, .n_failed_updates = 2, .n_reattached = 1
	};
	const struct baleen_metrics_source source = { .daemon = &daemon };

	assert_has(&source, "\nbaleen_daemon_start_timestamp_seconds 5\n");
	assert_has(&source, "\nbaleen_daemon_updates_total{result=\"done\"} 7\n"
			    "baleen_daemon_updates_total{result=\"failed\"} 2\n");
	assert_has(&source, "\nbaleen_daemon_reattachments_total 1\n");
}

/* --- labels ---------------------------------------------------------------- */

/* A host is in one fleet, or in none; of one that has heard nothing only that is known. */
static void fleet(void **state)
{
	struct baleen_metrics_source source = { 0 };
	struct baleen_metrics_fleet *row = &source.fleet;

	memset(row, 0xff, sizeof(*row));
	strcpy(row->fleet, "prod");
	row->sends = row->receives = 0;
	row->lag_s = NAN;
	assert_text(&source, BALEEN_METRICS_PROMETHEUS, "");
	source.n_fleets = 1;
	assert_text(&source, BALEEN_METRICS_PROMETHEUS,
		    "# HELP baleen_fleet_connected 1 when bans go out to the fleet, or come in, "
		    "else 0.\n"
		    "# TYPE baleen_fleet_connected gauge\n"
		    "baleen_fleet_connected{fleet=\"prod\",direction=\"out\"} 0\n"
		    "baleen_fleet_connected{fleet=\"prod\",direction=\"in\"} 0\n");
	row->receives = 1;
	row->n_publishers = 7;
	row->n_silent = 2;
	row->lag_s = 0.046;
	row->clone = 3;
	assert_has(&source, "baleen_fleet_connected{fleet=\"prod\",direction=\"in\"} 1\n");
	assert_has(&source, "baleen_fleet_publishers{fleet=\"prod\",what=\"all\"} 7\n"
			    "baleen_fleet_publishers{fleet=\"prod\",what=\"silent\"} 2\n");
	assert_has(&source, "baleen_fleet_lag_seconds{fleet=\"prod\"} 0.046\n");
	assert_has(&source,
		   "baleen_fleet_refused_messages_total{fleet=\"prod\",cause=\"clone\"} 3\n");
	assert_lacks(&source, "cause=\"form\"");
	baleen_metrics_free(&source);
	assert_int_equal(source.n_fleets, 0);
}

static void escaped(void **state)
{
	struct baleen_metrics_source source = { 0 };

	baleen_metrics_add_device(&source, "a\"b\\c\nd")->attached = 1;
	baleen_metrics_add_device(&source, "\t\x01\x7f")->attached = 1;
	baleen_metrics_add_device(&source, "\xc3\xa9\xf0\x9f\x90\xb3")->attached = 1;
	/* Overlong, a surrogate, beyond U+10FFFF, cut short, a stray byte. */
	baleen_metrics_add_device(&source, "1\xc0\xaf")->attached = 1;
	baleen_metrics_add_device(&source, "2\xed\xa0\x80")->attached = 1;
	baleen_metrics_add_device(&source, "3\xf4\x90\x80\x80")->attached = 1;
	baleen_metrics_add_device(&source, "4\xe2\x82")->attached = 1;
	baleen_metrics_add_device(&source, "5\x80z")->attached = 1;
	baleen_metrics_add_device(&source, "6\xe0\x9f\xbf\xf0\x8f\xbf\xbf")->attached = 1;
	assert_has(&source, "{device=\"a\\\"b\\\\c\\\\x0ad\"} 1\n");
	assert_has(&source, "{device=\"\\\\x09\\\\x01\\\\x7f\"} 1\n");
	assert_has(&source, "{device=\"\xc3\xa9\xf0\x9f\x90\xb3\"} 1\n");
	assert_has(&source, "{device=\"1\\\\xc0\\\\xaf\"} 1\n");
	assert_has(&source, "{device=\"2\\\\xed\\\\xa0\\\\x80\"} 1\n");
	assert_has(&source, "{device=\"3\\\\xf4\\\\x90\\\\x80\\\\x80\"} 1\n");
	assert_has(&source, "{device=\"4\\\\xe2\\\\x82\"} 1\n");
	assert_has(&source, "{device=\"5\\\\x80z\"} 1\n");
	assert_has(&source, "{device=\"6\\\\xe0\\\\x9f\\\\xbf\\\\xf0\\\\x8f\\\\xbf\\\\xbf\"} 1\n");
	baleen_metrics_free(&source);
}

/* What everybody can read tells no secrets. */
static void secrets(void **state)
{
	static const struct {
		const char *address;
		const char *want;
	} cases[] = {
		{ "https://u:p%40ss@example.net/l.txt?key=SECRET#x", "https://example.net/l.txt" },
		{ "http://a@b@example.net", "http://example.net" },
		{ "https://example.net?key=SECRET", "https://example.net" },
		{ "https://example.net/a@b/c", "https://example.net/a@b/c" },
		{ "https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443/x" },
		{ "/etc/baleen/a://b@c?d", "/etc/baleen/a://b@c?d" },
		{ "lists/a?b", "lists/a?b" },
		{ "https://", "malformed URL" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct baleen_metrics_source source = { 0 };

		assert_non_null(baleen_metrics_add_feed(&source, "eth0", "r", cases[i].address));
		assert_string_equal(source.feed[0].feed, cases[i].want);
		baleen_metrics_free(&source);
	}
}

/* One series twice makes Prometheus refuse the whole text. */
static void unique(void **state)
{
	struct baleen_metrics_source source = { 0 };
	char name[600];

	assert_non_null(baleen_metrics_add_device(&source, "eth0"));
	assert_null(baleen_metrics_add_device(&source, "eth0"));
	assert_non_null(baleen_metrics_add_rule(&source, "eth0", "r", "drop"));
	assert_null(baleen_metrics_add_rule(&source, "eth0", "r", "drop"));
	assert_non_null(baleen_metrics_add_rule(&source, "eth1", "r", "drop"));
	assert_non_null(baleen_metrics_add_table(&source, "eth0", "r", "ipv4"));
	assert_null(baleen_metrics_add_table(&source, "eth0", "r", "ipv4"));
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "https://example.net/l?%d", i);
		assert_non_null(baleen_metrics_add_feed(&source, "eth0", "r", name));
	}
	assert_non_null(baleen_metrics_add_feed(&source, "eth0", "s", name));
	assert_string_equal(source.feed[0].feed, "https://example.net/l");
	assert_string_equal(source.feed[1].feed, "https://example.net/l#2");
	assert_string_equal(source.feed[2].feed, "https://example.net/l#3");
	assert_string_equal(source.feed[3].feed, "https://example.net/l");
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 12; i++)
		assert_non_null(baleen_metrics_add_origin(&source, "eth0", "r", name));
	assert_int_equal(strlen(source.origin[0].origin), BALEEN_METRICS_LABEL - 1);
	assert_string_equal(source.origin[11].origin + BALEEN_METRICS_LABEL - 5, "x#12");
	for (size_t i = 0; i < source.n_origins; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(source.origin[i].origin, source.origin[j].origin);
	baleen_metrics_free(&source);
}

/* Bytes that are not shown as they are may make two names one. */
static void unique_as_shown(void **state)
{
	struct baleen_metrics_source source = { 0 };

	assert_non_null(baleen_metrics_add_device(&source, "a\x80"));
	assert_non_null(baleen_metrics_add_device(&source, "a\x81"));
	assert_null(baleen_metrics_add_device(&source, "a\\x80"));
	assert_non_null(baleen_metrics_add_origin(&source, "a", "r", "o\x80"));
	assert_non_null(baleen_metrics_add_origin(&source, "a", "r", "o\\x80"));
	assert_string_equal(source.origin[0].origin, "o\\x80");
	assert_string_equal(source.origin[1].origin, "o\\x80#2");
	assert_lacks(&source, "\x80");
	baleen_metrics_free(&source);
}

/* --- HTTP ------------------------------------------------------------------ */

static void accepted(void **state)
{
	static const struct {
		const char *accept;
		enum baleen_metrics_format want;
	} cases[] = {
		{ NULL, BALEEN_METRICS_PROMETHEUS },
		{ "", BALEEN_METRICS_PROMETHEUS },
		{ "*/*", BALEEN_METRICS_PROMETHEUS },
		{ "text/plain", BALEEN_METRICS_PROMETHEUS },
		{ "application/openmetrics-text", BALEEN_METRICS_OPENMETRICS },
		/* What Prometheus 2.42 says. */
		{ "application/openmetrics-text;version=1.0.0,"
		  "application/openmetrics-text;version=0.0.1;q=0.75,"
		  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  BALEEN_METRICS_OPENMETRICS },
		{ "text/plain, application/openmetrics-text; q=0.001", BALEEN_METRICS_OPENMETRICS },
		{ "application/openmetrics-text;q=0, text/plain;q=1", BALEEN_METRICS_PROMETHEUS },
		{ "application/openmetrics-text; q=0.000", BALEEN_METRICS_PROMETHEUS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(baleen_metrics_accepted(cases[i].accept), cases[i].want);
	assert_non_null(strstr(baleen_metrics_content_type(BALEEN_METRICS_OPENMETRICS),
			       "application/openmetrics-text; version=1.0.0"));
	assert_non_null(strstr(baleen_metrics_content_type(BALEEN_METRICS_PROMETHEUS),
			       "text/plain; version=0.0.4"));
}

/* --- the table ------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);

	return n >= n_end && !strcmp(text + n - n_end, end);
}

static void table(void **state)
{
	const struct baleen_metrics_family *family, *other;
	size_t n = 0;

	for (family = baleen_metrics_families; family->name; family++, n++) {
		assert_int_equal(strspn(family->name, "abcdefghijklmnopqrstuvwxyz_"),
				 strlen(family->name));
		assert_int_equal(strncmp(family->name, "baleen_", 7), 0);
		assert_false(ends_with(family->name, "_total") || ends_with(family->name, "_info"));
		if (family->unit)
			assert_true(ends_with(family->name, family->unit));
		assert_true(ends_with(family->help, "."));
		assert_null(strpbrk(family->help, "\\\"\n"));
		assert_int_equal(family->by && !family->parts, false);
		for (other = baleen_metrics_families; other < family; other++)
			assert_string_not_equal(other->name, family->name);
	}
	assert_true(n > 30);
}

static const char *suffix_of(const struct baleen_metrics_family *family)
{
	return family->type == BALEEN_METRICS_COUNTER ? "_total" :
	       family->type == BALEEN_METRICS_INFO    ? "_info" :
							"";
}

/* Is that what the samples of some family are called? */
static bool is_sample(const char *name, size_t n)
{
	const struct baleen_metrics_family *family;
	char own[128];

	for (family = baleen_metrics_families; family->name; family++) {
		snprintf(own, sizeof(own), "%s%s", family->name, suffix_of(family));
		if (strlen(own) == n && !strncmp(own, name, n))
			return true;
	}
	return false;
}

static u32 check_names(const char *path)
{
	static const char name_chars[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
	FILE *stream = fopen(path, "r");
	char *line = NULL, *at;
	size_t room = 0;
	u32 n = 0;

	if (!stream)
		fail_msg("%s: %s", path, strerror(errno));
	while (getline(&line, &room, stream) >= 0) {
		for (at = line; (at = strstr(at, "baleen_")); n++) {
			size_t length = strspn(at, name_chars);

			if (!is_sample(at, length))
				fail_msg("%s: %.*s is no metric", path, (int)length, at);
			at += length;
		}
	}
	free(line);
	fclose(stream);
	return n;
}

static void asked_for(void **state)
{
	assert_true(is_sample("baleen_rule_packets_total", 25));
	assert_false(is_sample("baleen_rule_packets", 19));
	assert_false(is_sample("baleen_rule_packets_totally", 27));
	assert_true(check_names(DASHBOARD) > 10);
	assert_true(check_names(ALERTS) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),	    cmocka_unit_test(unknown),
		cmocka_unit_test(openmetrics),	    cmocka_unit_test(prometheus),
		cmocka_unit_test(daemon_and_parts), cmocka_unit_test(fleet),
		cmocka_unit_test(escaped),	    cmocka_unit_test(secrets),
		cmocka_unit_test(unique),	    cmocka_unit_test(unique_as_shown),
		cmocka_unit_test(accepted),	    cmocka_unit_test(table),
		cmocka_unit_test(asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
