// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters place by place, as JSON. */
#include "cli/common/describe.h"
#include "cli/common/picture_json.h"
#include "filter/slots.h"

static void set_count(json_t *json, const char *name, u64 n)
{
	json_object_set_new(json, name, json_integer(n));
}

static json_t *describe_summary(const struct picture *picture)
{
	const struct baleen_table *table = picture_table(picture);
	json_t *json = json_object(), *bars = json_object();
	struct baleen_view_summary summary;
	char name[BALEEN_VIEW_NAME];

	baleen_view_summarise(picture->filter, picture->domain, &summary);
	set_count(json, "places", summary.n_places);
	set_count(json, "used", summary.n_used);
	if (table->kind == BALEEN_KIND_COUNTING)
		set_count(json, "stuck", summary.n_stuck);
	if (table->kind == BALEEN_KIND_QUOTIENT) {
		set_count(json, "runs", summary.n_runs);
		set_count(json, "clusters", summary.n_clusters);
		set_count(json, "longest_run", summary.longest_run);
		set_count(json, "longest_cluster", summary.longest_cluster);
	}
	for (u32 i = 0; i < summary.n_bars; i++)
		set_count(bars, baleen_view_bar_name(table, picture->domain, i, name),
			  summary.bar[i]);
	json_object_set_new(json, "histogram", bars);
	return json;
}

static json_t *describe_slot(const struct picture *picture, u32 slot)
{
	struct baleen_view_slot view = baleen_view_slot(picture->filter, picture->domain, slot);
	json_t *json = json_object();

	set_count(json, "slot", slot);
	json_object_set_new(json, "occupied", json_boolean(view.occupied));
	json_object_set_new(json, "continued", json_boolean(view.continued));
	json_object_set_new(json, "shifted", json_boolean(view.shifted));
	json_object_set_new(json, "remainder",
			    view.is_used ? json_integer(view.remainder) : json_null());
	json_object_set_new(json, "quotient",
			    view.is_used ? json_integer(view.quotient) : json_null());
	return json;
}

/* A free slot is null; of one in use the bits that say so are left out. */
static json_t *describe_bucket(const struct picture *picture, u32 bucket)
{
	struct baleen_slots slots = baleen_slots_of(picture->filter, picture->domain);
	u64 side = slots.side;
	json_t *json = json_object(), *all = json_array();

	for (u32 i = 0; i < slots.n_slots; i++) {
		u64 slot = baleen_slots_get(&slots, bucket, i);
		json_t *one = slot ? json_object() : json_null();

		if (slot) {
			set_count(one, "fingerprint", slot & ~(side << 1 | side));
			if (side)
				json_object_set_new(one, "moved", json_boolean(slot & side));
		}
		json_array_append_new(all, one);
	}
	set_count(json, "bucket", bucket);
	json_object_set_new(json, "slots", all);
	return json;
}

/* From the head on. */
static json_t *describe_chain(const struct picture *picture, u32 bucket)
{
	u64 value[PICTURE_CELLS];
	u32 n = baleen_view_chain(picture->filter, picture->domain, bucket, value, PICTURE_CELLS);
	json_t *json = json_object(), *chain = json_array();
	char text[PICTURE_CELL_TEXT];

	for (u32 i = 0; i < n && i < PICTURE_CELLS; i++)
		json_array_append_new(chain, json_string(picture_value(picture, value[i], text)));
	set_count(json, "bucket", bucket);
	set_count(json, "length", n);
	json_object_set_new(json, "chain", chain);
	return json;
}

static json_t *describe_place(const struct picture *picture, u64 place)
{
	const struct baleen_table *table = picture_table(picture);
	char name[BALEEN_VIEW_NAME];
	struct picture_row row;

	switch (table->kind) {
	case BALEEN_KIND_COUNTING:
		return json_integer(baleen_counter_get(table, picture->filter->bytes, place));
	case BALEEN_KIND_BLOOM:
	case BALEEN_KIND_CLASSIC:
		return json_integer(baleen_plane_get(table, picture->filter->bytes, place));
	case BALEEN_KIND_QUOTIENT: return describe_slot(picture, place);
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: return describe_chain(picture, place);
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE:
		return json_string(baleen_view_bar_name(table, picture->domain,
							baleen_view_group(picture->filter,
									  picture->domain, place),
							name));
	case BALEEN_KIND_ENTRIES:
		picture_make_row(picture, place, &row);
		return json_string(row.cell[0].text);
	default: return describe_bucket(picture, place);
	}
}

static json_t *describe_table(const struct picture *picture)
{
	u64 n_places = baleen_view_places(picture_table(picture)), from = 0, end = 0;
	json_t *json = json_object(), *places = json_array();

	if (picture->is_ranged) {
		from = picture->from;
		end = picture->end < n_places ? picture->end : n_places;
	} else if (picture_rows(picture) <= PICTURE_SMALL_ROWS) {
		end = n_places;
	}
	json_object_set_new(json, "kind",
			    json_string(baleen_kind_name(picture_table(picture)->kind)));
	json_object_set_new(json, "summary", describe_summary(picture));
	set_count(json, "from", from);
	for (; from < end; from++)
		json_array_append_new(places, describe_place(picture, from));
	json_object_set_new(json, "places", places);
	return json;
}

/* --- keys ------------------------------------------------------------------ */

static void describe_buckets(json_t *json, const struct baleen_view_key *where)
{
	json_t *found = json_null();

	for (u32 i = 2; i--;)
		if (where->slot[i] != BALEEN_VIEW_NOWHERE)
			found = json_pack("{si si}", "bucket", where->bucket[i], "slot",
					  where->slot[i]);
	set_count(json, "fingerprint", where->fingerprint);
	json_object_set_new(json, "buckets",
			    json_pack("[I I]", (json_int_t)where->bucket[0],
				      (json_int_t)where->bucket[1]));
	json_object_set_new(json, "found", found);
	json_object_set_new(json, "stashed", json_boolean(where->is_stashed));
	set_count(json, "copies", where->n_copies);
}

static void describe_run(json_t *json, const struct baleen_view_key *where)
{
	set_count(json, "quotient", where->quotient);
	set_count(json, "remainder", where->remainder);
	json_object_set_new(json, "run",
			    where->run.n ?
				    json_pack("{sI sI}", "first", (json_int_t)where->run.first,
					      "length", (json_int_t)where->run.n) :
				    json_null());
	json_object_set_new(json, "found",
			    where->slot[0] != BALEEN_VIEW_NOWHERE ? json_integer(where->slot[0]) :
								    json_null());
	set_count(json, "copies", where->n_copies);
}

static void describe_value(json_t *json, const struct picture *picture,
			   const struct baleen_view_key *where)
{
	char text[PICTURE_CELL_TEXT];

	json_object_set_new(json, "value",
			    json_string(picture_value(picture, where->fingerprint, text)));
	set_count(json, "bucket", where->bucket[0]);
	json_object_set_new(json, "found",
			    where->n_copies ? json_integer(where->slot[0]) : json_null());
	set_count(json, "copies", where->n_copies);
}

static json_t *describe_key(const struct picture *picture, const struct picture_key *key)
{
	const struct baleen_view_key *where = &key->where;
	json_t *json = json_object(), *bits;

	switch (picture_table(picture)->kind) {
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_TREE: set_count(json, "group", where->group); break;
	case BALEEN_KIND_CUCKOO: describe_buckets(json, where); break;
	case BALEEN_KIND_QUOTIENT: describe_run(json, where); break;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: describe_value(json, picture, where); break;
	default:
		bits = json_array();
		for (u32 i = 0; i < where->positions.n; i++)
			json_array_append_new(bits, json_integer(where->positions.bit[i]));
		json_object_set_new(json, "bits", bits);
	}
	return json;
}

/* --- the whole ------------------------------------------------------------- */

static json_t *describe_keys(struct picture *picture)
{
	json_t *keys = json_array();

	for (u32 i = 0; i < picture->n_keys; i++)
		json_array_append_new(keys, json_pack("{so ss s[]}", "key",
						      json_text(picture->keys[i].text), "verdict",
						      picture_verdict(picture, &picture->keys[i]),
						      "asks"));
	return keys;
}

json_t *picture_json(struct picture *picture, const char *argument)
{
	json_t *json = describe_filter(picture->filter), *keys = describe_keys(picture);
	size_t n_tables = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		if (picture->filter->image.table[domain].kind == BALEEN_KIND_NONE)
			continue;
		picture_turn_to(picture, domain);
		json_object_update_new(json_array_get(json_object_get(json, "tables"), n_tables),
				       describe_table(picture));
		for (u32 i = 0; i < picture->n_keys; i++) {
			const struct picture_key *key = &picture->keys[i];
			json_t *asks = json_object_get(json_array_get(keys, i), "asks"), *one;

			if (!key->is_asked)
				continue;
			one = describe_key(picture, key);
			json_object_set_new(one, "table", json_integer(n_tables));
			json_array_append_new(asks, one);
		}
		n_tables++;
	}
	json_object_set_new(json, "file", json_text(argument));
	json_object_set_new(json, "keys", keys);
	return json;
}
