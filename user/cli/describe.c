// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A filter in words and in JSON. */
#include <string.h>

#include "describe.h"
#include "plan.h"
#include "xdp.h"

static const char *const domain_text[] = { "ipv4", "ipv6" };
static const char *const domain_title[] = { "IPv4", "IPv6" };
static const char *const kind_text[] = { "none", "cuckoo", "bloom" };

struct baleen_image counted_image(const struct baleen_filter *filter)
{
	struct baleen_image image = filter->image;

	image.n_entries = 0;
	for (u32 domain = 0; domain <= BALEEN_IP6; domain++) {
		image.table[domain].n_entries = baleen_filter_count(filter, domain);
		image.n_entries += image.table[domain].n_entries;
	}
	return image;
}

static double fill_of(const struct baleen_table *table)
{
	return table->kind == BALEEN_KIND_CUCKOO ?
		       (double)table->n_entries / table->n_buckets / BALEEN_BUCKET_SLOTS :
		       0;
}

static double bits_per_key(const struct baleen_table *table)
{
	return table->n_entries ?
		       (double)table->n_blocks * BALEEN_BLOCK_BYTES * 8 / table->n_entries :
		       0;
}

static json_t *describe_table(const struct baleen_filter *filter, const struct baleen_table *table,
			      u32 domain)
{
	json_t *json = json_object();

	json_object_set_new(json, "family", json_string(domain_text[domain]));
	json_object_set_new(json, "kind", json_string(kind_text[table->kind]));
	json_object_set_new(json, "entries", json_integer(table->n_entries));
	json_object_set_new(json, "bytes",
			    json_integer((json_int_t)table->n_blocks * BALEEN_BLOCK_BYTES));
	json_object_set_new(json, "bits_per_key", json_real(bits_per_key(table)));
	json_object_set_new(json, "exact",
			    json_boolean(baleen_table_is_exact(&filter->image, domain)));
	json_object_set_new(json, "fpp", json_real(baleen_filter_fpp(filter, domain)));
	if (table->kind == BALEEN_KIND_CUCKOO) {
		json_object_set_new(json, "buckets", json_integer(table->n_buckets));
		json_object_set_new(json, "slots_per_bucket", json_integer(BALEEN_BUCKET_SLOTS));
		json_object_set_new(json, "slot_bits", json_integer(table->slot_bits));
		json_object_set_new(json, "fill", json_real(fill_of(table)));
		json_object_set_new(json, "capacity", json_integer(baleen_table_capacity(table)));
	} else {
		json_object_set_new(json, "blocks", json_integer(table->n_blocks));
		json_object_set_new(json, "hashes", json_integer(table->n_hashes));
	}
	return json;
}

json_t *describe_filter(const struct baleen_filter *filter)
{
	struct baleen_image image = counted_image(filter);
	json_t *tables = json_array(), *json = json_object();

	for (u32 domain = 0; domain <= BALEEN_IP6; domain++)
		if (image.table[domain].kind != BALEEN_KIND_NONE)
			json_array_append_new(tables,
					      describe_table(filter, &image.table[domain], domain));
	json_object_set_new(json, "name", json_string(image.name));
	json_object_set_new(json, "key", json_string(key_spec_text(image.key_spec)));
	json_object_set_new(json, "entries", json_integer(image.n_entries));
	json_object_set_new(json, "bytes",
			    json_integer((json_int_t)image.n_blocks * BALEEN_BLOCK_BYTES));
	json_object_set_new(json, "exact", json_boolean(baleen_image_is_exact(&image)));
	json_object_set_new(json, "fpp", json_real(baleen_filter_worst_fpp(filter)));
	json_object_set_new(json, "tables", tables);
	return json;
}

static void print_table(FILE *stream, const struct baleen_filter *filter,
			const struct baleen_table *table, u32 domain)
{
	char entries[NUMBER_TEXT], units[NUMBER_TEXT];

	fprintf(stream, "  %s  %s entr%s, %s, ", domain_title[domain],
		format_count(table->n_entries, entries), table->n_entries == 1 ? "y" : "ies",
		kind_text[table->kind]);
	if (table->kind == BALEEN_KIND_CUCKOO)
		fprintf(stream, "%s buckets of %d slots of %u bits, %.1f %% full, ",
			format_count(table->n_buckets, units), BALEEN_BUCKET_SLOTS,
			table->slot_bits, 100 * fill_of(table));
	else
		fprintf(stream, "%s blocks of 64 bytes, %u bits set per key, ",
			format_count(table->n_blocks, units), table->n_hashes);
	fprintf(stream, "%.1f bits a key, ", bits_per_key(table));
	if (baleen_table_is_exact(&filter->image, domain))
		fputs("exact\n", stream);
	else
		fprintf(stream, "false positive rate %.2g\n", baleen_filter_fpp(filter, domain));
}

void describe_kind(const struct baleen_filter *filter, char *text, size_t bytes)
{
	const struct baleen_image *image = &filter->image;
	u32 kind = image->table[BALEEN_IP4].kind ? image->table[BALEEN_IP4].kind :
						   image->table[BALEEN_IP6].kind;

	if (baleen_image_is_exact(image))
		snprintf(text, bytes, "%s, exact", kind_text[kind]);
	else
		snprintf(text, bytes, "%s, false positive rate %.2g", kind_text[kind],
			 baleen_filter_worst_fpp(filter));
}

void print_filter(FILE *stream, const char *path, const struct baleen_filter *filter)
{
	struct baleen_image image = counted_image(filter);
	char bytes[NUMBER_TEXT];

	fprintf(stream, "%s: key %s, %s\n", path, key_spec_text(image.key_spec),
		format_bytes((u64)image.n_blocks * BALEEN_BLOCK_BYTES, bytes));
	for (u32 domain = 0; domain <= BALEEN_IP6; domain++)
		if (image.table[domain].kind != BALEEN_KIND_NONE)
			print_table(stream, filter, &image.table[domain], domain);
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
