// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A filter in words and in JSON. */
#include <string.h>

#include "cli/common/describe.h"
#include "cli/common/describe_table.h"
#include "filter/directory_table.h"
#include "filter/estimate.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "filter/recent.h"
#include "ops/edit.h"
#include "state/feeds.h"
#include "util/number.h"
#include "xdp/ruleset.h"

static const char *const domain_text[BALEEN_N_DOMAINS] = {
	"ipv4", "ipv6", "short", "long", "ipv4", "ipv6", "ipv6", "ipv6",
};
static const char *const domain_title[BALEEN_N_DOMAINS] = {
	"IPv4", "IPv6", "keys of up to 64 bits", "longer keys", "IPv4", "IPv6", "IPv6", "IPv6",
};

const char *describe_family(u32 domain)
{
	return domain_title[domain];
}

struct baleen_image counted_image(const struct baleen_filter *filter)
{
	struct baleen_image image = filter->image;

	image.n_entries = baleen_recent_entries(filter);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		image.table[domain].n_entries = baleen_filter_count(filter, domain);
		image.n_entries += image.table[domain].n_entries;
	}
	return image;
}

bool is_uncounted(const struct baleen_filter *filter)
{
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (is_uncounted_table(filter, domain))
			return true;
	return false;
}

static bool has_prefixes(const struct baleen_image *image)
{
	return image->table[BALEEN_IP4_GROUPS].kind || image->table[BALEEN_IP6_STEMS].kind;
}

/* The directory counts prefixes. */
static u64 count_ip4(const struct baleen_filter *filter)
{
	u64 n = baleen_filter_count(filter, BALEEN_IP4), number = 0;
	struct baleen_net4 net;

	while (filter->image.table[BALEEN_IP4_GROUPS].kind &&
	       baleen_directory_next(filter, &number, &net))
		n += (u64)net.last - net.first + 1;
	return n;
}

/* The same where recent changes say more than the image. */
static u64 count_ip4_now(const struct baleen_filter *filter, bool *has_wide6)
{
	struct baleen_list list;
	u64 n;

	if (baleen_recent_is_empty(filter) || baleen_filter_list_exact(filter, &list, NULL))
		return count_ip4(filter);
	n = list.n_ip4 + list.n_ip6;
	for (size_t i = 0; i < list.n_net4; i++)
		n += (u64)list.net4[i].last - list.net4[i].first + 1;
	*has_wide6 |= list.n_prefix6 > 0;
	baleen_list_free(&list);
	return n;
}

/* Counts the keys of a filter; nobody counts the addresses of IPv6 prefixes. */
static u64 count_keys(const struct baleen_filter *filter, const char **one, const char **many)
{
	bool has_wide6 = filter->image.table[BALEEN_IP6_STEMS].kind;
	u64 n_ip4 = count_ip4_now(filter, &has_wide6);

	*one = has_wide6 ? "IPv4 address" : "address";
	*many = has_wide6 ? "IPv4 addresses" : "addresses";
	if (baleen_spec_is_address(filter->image.key_spec))
		return n_ip4 + (has_wide6 ? 0 : baleen_filter_count(filter, BALEEN_IP6));
	*one = "key";
	*many = "keys";
	return counted_image(filter).n_entries;
}

const char *entries_text(const struct baleen_filter *filter, u64 n_written, char *text)
{
	u64 n = n_written ?: counted_image(filter).n_entries, n_keys;
	char entries[NUMBER_TEXT], keys[NUMBER_TEXT];
	const char *one, *many;
	int used;

	if (n_written == BALEEN_WRITTEN_ANY)
		return strcpy(text, "any address");
	used = snprintf(text, ENTRIES_TEXT, "%s %s", format_count(n, entries),
			baleen_plural(n, "entry", "entries"));
	n_keys = count_keys(filter, &one, &many);
	if (n != n_keys)
		snprintf(text + used, ENTRIES_TEXT - used, ", %s %s", format_count(n_keys, keys),
			 baleen_plural(n_keys, one, many));
	return text;
}

u64 written_entries(const struct baleen_filter *filter)
{
	return filter->image.n_listed - filter->image.n_covered;
}

static double bits_per_key(const struct baleen_table *table)
{
	return table->n_entries ?
		       (double)table->n_blocks * BALEEN_BLOCK_BYTES * 8 / table->n_entries :
		       0;
}

static bool has_length(const struct baleen_image *image, u32 length)
{
	return image->prefix_lengths[(length - 1) / 64] >> (length - 1) % 64 & 1;
}

/* --- JSON ----------------------------------------------------------------- */

static json_t *describe_lengths(const struct baleen_image *image)
{
	json_t *lengths = json_array();

	for (u32 length = 1; length <= 128; length++)
		if (has_length(image, length))
			json_array_append_new(lengths, json_integer(length));
	return lengths;
}

static void describe_directory(json_t *json, const struct baleen_table *table)
{
	json_object_set_new(json, "group_bits", json_integer(table->group_bits));
	json_object_set_new(json, "leaves", json_integer(table->n_buckets));
}

static void describe_tree(json_t *json, const struct baleen_table *table)
{
	json_object_set_new(json, "group_bits", json_integer(table->group_bits));
	json_object_set_new(json, "blocks", json_integer(table->n_buckets));
}

/* Members that only tables of this kind have. */
static void describe_shape(json_t *json, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	switch (table->kind) {
	case BALEEN_KIND_DIRECTORY: describe_directory(json, table); break;
	case BALEEN_KIND_TREE: describe_tree(json, table); break;
	case BALEEN_KIND_ENTRIES: break;
	case BALEEN_KIND_PREFIXES:
		describe_geometry(json, filter, domain);
		json_object_set_new(json, "lengths", describe_lengths(&filter->image));
		break;
	default: describe_geometry(json, filter, domain); break;
	}
}

/* @table is that of the filter, with its count. */
static json_t *describe_table(const struct baleen_filter *filter, const struct baleen_table *table,
			      u32 domain)
{
	bool is_counted = !is_uncounted_table(filter, domain);
	json_t *json = json_object();

	json_object_set_new(json, "family", json_string(domain_text[domain]));
	json_object_set_new(json, "kind", json_string(baleen_kind_name(table->kind)));
	json_object_set_new(json, "keys",
			    is_counted ? json_integer(table->n_entries) : json_null());
	json_object_set_new(json, "bytes",
			    json_integer((json_int_t)table->n_blocks * BALEEN_BLOCK_BYTES));
	json_object_set_new(json, "bits_per_key",
			    is_counted ? json_real(bits_per_key(table)) : json_null());
	json_object_set_new(json, "exact",
			    json_boolean(baleen_table_is_exact(&filter->image, domain)));
	json_object_set_new(json, "fpp", json_real(baleen_filter_fpp(filter, domain)));
	describe_shape(json, filter, domain);
	return json;
}

/* Counts the entries that were written, the addresses in them, and what is stored. */
static void describe_counts(json_t *json, const struct baleen_filter *filter, u64 n_written)
{
	u64 n_stored = counted_image(filter).n_entries;
	const char *ignored;

	if (is_uncounted(filter)) {
		json_object_set_new(json, "entries",
				    n_written && n_written != BALEEN_WRITTEN_ANY ?
					    json_integer(n_written) :
					    json_null());
		json_object_set_new(json, "addresses", json_null());
		json_object_set_new(json, "stored", json_null());
		return;
	}
	json_object_set_new(json, "entries",
			    n_written == BALEEN_WRITTEN_ANY ? json_null() :
							      json_integer(n_written ?: n_stored));
	json_object_set_new(json, "addresses",
			    baleen_spec_is_address(filter->image.key_spec) ?
				    json_integer(count_keys(filter, &ignored, &ignored)) :
				    json_null());
	json_object_set_new(json, "stored", json_integer(n_stored));
}

json_t *describe_filter(const struct baleen_filter *filter)
{
	return describe_written(filter, written_entries(filter));
}

json_t *describe_written(const struct baleen_filter *filter, u64 n_written)
{
	struct baleen_image image = counted_image(filter);
	json_t *tables = json_array(), *json = json_object();

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (image.table[domain].kind != BALEEN_KIND_NONE)
			json_array_append_new(tables,
					      describe_table(filter, &image.table[domain], domain));
	json_object_set_new(json, "name", json_string(image.name));
	json_object_set_new(json, "key", json_string(key_spec_text(image.key_spec)));
	describe_counts(json, filter, n_written);
	json_object_set_new(json, "listed", json_integer(image.n_listed));
	json_object_set_new(json, "covered", json_integer(image.n_covered));
	json_object_set_new(json, "bytes",
			    json_integer((json_int_t)image.n_blocks * BALEEN_BLOCK_BYTES));
	json_object_set_new(json, "exact", json_boolean(baleen_image_is_exact(&image)));
	json_object_set_new(json, "fpp", json_real(baleen_filter_worst_fpp(filter)));
	json_object_set_new(json, "tables", tables);
	return json;
}

/* --- text ----------------------------------------------------------------- */

static void print_count(FILE *stream, u64 n, const char *one, const char *many)
{
	char text[NUMBER_TEXT];

	say_to(stream, "%s %s, ", format_count(n, text), n == 1 ? one : many);
}

static void print_directory(FILE *stream, const struct baleen_table *table, u32 domain)
{
	if (domain == BALEEN_IP4_GROUPS)
		print_count(stream, table->n_entries, "prefix", "prefixes");
	else
		fputs("stems of /32, ", stream);
	say_to(stream, "directory of /%u groups, ", table->group_bits);
	print_count(stream, table->n_buckets, "leaf", "leaves");
}

static void print_tree(FILE *stream, const struct baleen_table *table)
{
	say_to(stream, "tree of prefixes, groups of /%u, ", table->group_bits);
	print_count(stream, table->n_buckets, "block", "blocks");
}

static void print_prefixes(FILE *stream, const struct baleen_filter *filter)
{
	print_count(stream, baleen_filter_used(filter, BALEEN_IP6_PREFIXES), "prefix or marker",
		    "prefixes and markers");
	fputs("of lengths", stream);
	for (u32 length = 1; length <= 128; length++)
		if (has_length(&filter->image, length))
			say_to(stream, " %u", length);
	fputs(", ", stream);
	print_geometry(stream, filter, BALEEN_IP6_PREFIXES);
}

/* Hosts and keys. */
static void print_keys(FILE *stream, const struct baleen_filter *filter,
		       const struct baleen_table *table, u32 domain)
{
	bool is_counted = !is_uncounted_table(filter, domain);
	bool is_hosts = domain == BALEEN_IP4 || domain == BALEEN_IP6;

	if (is_counted)
		print_count(stream, table->n_entries, is_hosts ? "host" : "key",
			    is_hosts ? "hosts" : "keys");
	say_to(stream, "%s, ", baleen_kind_name(table->kind));
	print_geometry(stream, filter, domain);
	if (is_counted)
		say_to(stream, "%.1f bits a key, ", bits_per_key(table));
}

/* The rate as it is, and as a plan expects it where that may be another. */
static void print_rate(FILE *stream, const struct baleen_filter *filter,
		       const struct baleen_table *table, u32 domain)
{
	if (baleen_table_is_exact(&filter->image, domain)) {
		fputs("exact\n", stream);
		return;
	}
	say_to(stream, "false positive rate %.2g", baleen_filter_fpp(filter, domain));
	if (baleen_table_is_bit_array(table) && !is_uncounted_table(filter, domain))
		say_to(stream, " (%.2g expected)",
		       baleen_table_fpp(&filter->image, domain, table->n_entries));
	fputc('\n', stream);
}

static void print_table(FILE *stream, const struct baleen_filter *filter,
			const struct baleen_table *table, u32 domain)
{
	say_to(stream, "  %s  ", domain_title[domain]);
	switch (table->kind) {
	case BALEEN_KIND_DIRECTORY: print_directory(stream, table, domain); break;
	case BALEEN_KIND_TREE: print_tree(stream, table); break;
	case BALEEN_KIND_PREFIXES: print_prefixes(stream, filter); break;
	case BALEEN_KIND_ENTRIES:
		print_count(stream, table->n_entries, "prefix or exception",
			    "prefixes and exceptions");
		break;
	default: print_keys(stream, filter, table, domain); break;
	}
	print_rate(stream, filter, table, domain);
}

/* Where there is something to tell. */
static void print_overlap(FILE *stream, const struct baleen_image *image)
{
	char listed[NUMBER_TEXT], covered[NUMBER_TEXT], left[NUMBER_TEXT];

	if (!image->n_covered && !(image->n_listed && has_prefixes(image)))
		return;
	say_to(stream, "  %s entr%s listed, %s of them twice or inside another; merging left %s\n",
	       format_count(image->n_listed, listed), image->n_listed == 1 ? "y" : "ies",
	       format_count(image->n_covered, covered), format_count(image->n_entries, left));
}

void describe_kind(const struct baleen_filter *filter, char *text, size_t bytes)
{
	const struct baleen_image *image = &filter->image;
	u32 domain = BALEEN_IP4;
	const char *kind;

	while (domain < BALEEN_TUPLE && image->table[domain].kind == BALEEN_KIND_NONE)
		domain++;
	kind = has_prefixes(image) ? "prefixes" : baleen_kind_name(image->table[domain].kind);
	if (baleen_image_is_exact(image))
		snprintf(text, bytes, "%s, exact", kind);
	else
		snprintf(text, bytes, "%s, false positive rate %.2g", kind,
			 baleen_filter_worst_fpp(filter));
}

void print_filter(FILE *stream, const char *path, const struct baleen_filter *filter, u64 n_written)
{
	struct baleen_image image = counted_image(filter);
	char entries[ENTRIES_TEXT], bytes[NUMBER_TEXT];

	say_to(stream, "%s: ", path);
	if (!is_uncounted(filter))
		say_to(stream, "%s, ", entries_text(filter, n_written, entries));
	say_to(stream, "key %s, %s\n", key_spec_text(image.key_spec),
	       format_bytes((u64)image.n_blocks * BALEEN_BLOCK_BYTES, bytes));
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (image.table[domain].kind != BALEEN_KIND_NONE)
			print_table(stream, filter, &image.table[domain], domain);
	print_overlap(stream, &image);
}

const char *rule_name_from_path(const char *path, char *name)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);

	if (!strcmp(path, "-")) {
		base = "stdin";
		length = strlen(base);
	}
	if (length >= BALEEN_NAME_BYTES)
		length = BALEEN_NAME_BYTES - 1;
	memcpy(name, base, length);
	name[length] = '\0';
	for (char *c = name; *c; c++) {
		char one[2] = { *c, '\0' };

		if (baleen_rule_name_check(one) && !(c > name && *c == '-'))
			*c = '_';
	}
	return baleen_rule_name_check(name);
}
