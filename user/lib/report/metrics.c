// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics: values as text for Prometheus and its kin. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/metrics.h"
#include "report/metrics_families.h"
#include "util/foreign.h"

/* --- text ------------------------------------------------------------------ */

/**
 * struct output - a family on its way out
 * @stream: into memory
 * @format: how
 * @family: the family
 * @is_begun: it has its header
 */
struct output {
	FILE *stream;
	enum baleen_metrics_format format;
	const struct baleen_metrics_family *family;
	bool is_begun;
};

static const char *suffix(enum baleen_metrics_type type)
{
	return type == BALEEN_METRICS_COUNTER ? "_total" :
	       type == BALEEN_METRICS_INFO    ? "_info" :
						"";
}

/* The older format has a header for the name of the samples, and fewer types. */
static void print_header(const struct output *out)
{
	static const char *const types[] = { "counter", "gauge", "stateset", "info" };
	static const char *const old_types[] = { "counter", "gauge", "gauge", "gauge" };
	const struct baleen_metrics_family *family = out->family;

	if (out->format == BALEEN_METRICS_PROMETHEUS) {
		const char *end = suffix(family->type);

		fprintf(out->stream, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, end,
			family->help, family->name, end, old_types[family->type]);
		return;
	}
	fprintf(out->stream, "# TYPE %s %s\n", family->name, types[family->type]);
	if (family->unit)
		fprintf(out->stream, "# UNIT %s %s\n", family->name, family->unit);
	fprintf(out->stream, "# HELP %s %s\n", family->name, family->help);
}

static void print_labels(const struct output *out, const void *row, const char *part)
{
	const struct baleen_metrics_family *family = out->family;
	const struct baleen_metrics_label *label = baleen_metrics_labels[family->set];
	const char *separator = "{";

	for (u32 i = 0; i < BALEEN_METRICS_LABELS && label[i].name; i++) {
		fprintf(out->stream, "%s%s=\"", separator, label[i].name);
		baleen_foreign_label(out->stream, (const char *)row + label[i].at);
		fputc('"', out->stream);
		separator = ",";
	}
	if (part) {
		/* That of a stateset is called like the family. */
		fprintf(out->stream, "%s%s=\"%s\"", separator,
			family->by ? family->by : family->name, part);
		separator = ",";
	}
	if (*separator == ',')
		fputc('}', out->stream);
}

static void print_name(struct output *out, const void *row, const char *part)
{
	if (!out->is_begun)
		print_header(out);
	out->is_begun = true;
	fprintf(out->stream, "%s%s", out->family->name, suffix(out->family->type));
	print_labels(out, row, part);
}

static u64 number_at(const void *row, size_t at)
{
	return *(const u64 *)((const u8 *)row + at);
}

static void print_number(struct output *out, const void *row, const char *part, u64 number)
{
	if (number == BALEEN_METRICS_UNKNOWN)
		return;
	print_name(out, row, part);
	fprintf(out->stream, " %llu\n", (unsigned long long)number);
}

static void print_real(struct output *out, const void *row)
{
	double value = *(const double *)((const u8 *)row + out->family->at);

	if (isnan(value))
		return;
	print_name(out, row, NULL);
	fprintf(out->stream, " %.6g\n", value);
}

static void print_states(struct output *out, const void *row)
{
	u64 state = number_at(row, out->family->at);

	for (const struct baleen_metrics_part *part = out->family->parts; part->name; part++)
		print_number(out, row, part->name,
			     state == BALEEN_METRICS_UNKNOWN ? state : part->at == state);
}

static void print_row(struct output *out, const void *row)
{
	const struct baleen_metrics_family *family = out->family;

	if (family->type == BALEEN_METRICS_STATES)
		print_states(out, row);
	else if (family->parts)
		for (const struct baleen_metrics_part *part = family->parts; part->name; part++)
			print_number(out, row, part->name, number_at(row, part->at));
	else if (family->is_real)
		print_real(out, row);
	else
		print_number(out, row, NULL, number_at(row, family->at));
}

/**
 * struct rows - the rows of a set
 * @first: of them
 * @n: how many
 * @row_bytes: size of one
 */
struct rows {
	const void *first;
	size_t n;
	size_t row_bytes;
};

static struct rows rows_of(const struct baleen_metrics_source *source, enum baleen_metrics_set set)
{
	const struct rows rows[BALEEN_METRICS_N_SETS] = {
		{ source->release, source->release != NULL, sizeof(*source->release) },
		{ source->daemon, source->daemon != NULL, sizeof(*source->daemon) },
		{ source->device, source->n_devices, sizeof(*source->device) },
		{ source->device, source->n_devices, sizeof(*source->device) },
		{ source->rule, source->n_rules, sizeof(*source->rule) },
		{ source->table, source->n_tables, sizeof(*source->table) },
		{ source->feed, source->n_feeds, sizeof(*source->feed) },
		{ source->origin, source->n_origins, sizeof(*source->origin) },
		{ source->name, source->n_names, sizeof(*source->name) },
		{ source->sibling, source->n_siblings, sizeof(*source->sibling) },
		{ &source->fleet, source->n_fleets, sizeof(source->fleet) },
	};

	return rows[set];
}

static void print_all(const struct baleen_metrics_source *source, struct output *out)
{
	const struct baleen_metrics_family *family;

	for (family = baleen_metrics_families; family->name; family++) {
		struct rows rows = rows_of(source, family->set);

		out->family = family;
		out->is_begun = false;
		for (size_t i = 0; i < rows.n; i++)
			print_row(out, (const u8 *)rows.first + i * rows.row_bytes);
	}
	if (out->format == BALEEN_METRICS_OPENMETRICS)
		fputs("# EOF\n", out->stream);
}

int baleen_metrics_format(const struct baleen_metrics_source *source,
			  enum baleen_metrics_format format, char **text, size_t *n_bytes,
			  struct baleen_error *error)
{
	struct output out = { .format = format };
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", NULL), locale;
	char *written = NULL;
	size_t n_written = 0;
	int err = -ENOMEM;

	if (c_locale)
		out.stream = open_memstream(&written, &n_written);
	if (out.stream) {
		locale = uselocale(c_locale);
		print_all(source, &out);
		uselocale(locale);
		err = ferror(out.stream) ? -ENOMEM : 0;
		if (fclose(out.stream))
			err = -ENOMEM;
	}
	if (c_locale)
		freelocale(c_locale);
	if (err) {
		free(written);
		return baleen_fail(error, ENOMEM, "no memory for metrics");
	}
	*text = written;
	*n_bytes = n_written;
	return 0;
}

/* --- HTTP ------------------------------------------------------------------ */

const char *baleen_metrics_content_type(enum baleen_metrics_format format)
{
	return format == BALEEN_METRICS_OPENMETRICS ?
		       "application/openmetrics-text; version=1.0.0; charset=utf-8" :
		       "text/plain; version=0.0.4; charset=utf-8";
}

/* A weight of 0, 0.0 and so on says: not this one (RFC 9110, 12.4.2). */
static bool is_refused(const char *parameters, size_t n)
{
	const char *weight = memmem(parameters, n, "q=", 2);
	const char *end = parameters + n;

	if (!weight)
		return false;
	for (weight += 2; weight < end && strchr("0.", *weight); weight++)
		;
	return weight == end || !(*weight >= '1' && *weight <= '9');
}

enum baleen_metrics_format baleen_metrics_accepted(const char *accept)
{
	static const char name[] = "application/openmetrics-text";
	const char *found = accept ? strstr(accept, name) : NULL;

	if (!found)
		return BALEEN_METRICS_PROMETHEUS;
	found += strlen(name);
	return is_refused(found, strcspn(found, ",")) ? BALEEN_METRICS_PROMETHEUS :
							BALEEN_METRICS_OPENMETRICS;
}
