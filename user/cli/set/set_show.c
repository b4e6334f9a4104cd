// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen set show: what is in a file of a set. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/set/set_verbs.h"
#include "set/set_publish.h"
#include "util/number.h"
#include "util/small_file.h"

struct show {
	bool json;
	bool entries;
};

/* A full set is a list again. */
static int print_entries(const char *path)
{
	char text[BALEEN_KEY_TEXT];
	struct baleen_set_head head;
	struct baleen_canon canon;
	struct baleen_error error;

	if (baleen_set_file_read(path, &head, &canon, &error))
		return complain("%s", error.text);
	for (u32 g = 0; g < BALEEN_CANON_GROUPS; g++)
		for (size_t i = 0; i < canon.group[g].n; i++)
			say("%s\n", baleen_canon_text(&canon, g, i, text));
	baleen_canon_free(&canon);
	return 0;
}

static void print_head(const char *path, const struct baleen_set_head *head, size_t n_bytes)
{
	char entries[NUMBER_TEXT], size[NUMBER_TEXT], from[64] = "full";

	if (head->from)
		snprintf(from, sizeof(from), "from generation %llu",
			 (unsigned long long)head->from);
	say("%s: generation %llu, %s, %s %s, %s\n", path, (unsigned long long)head->generation,
	    from, format_count(head->n_entries, entries),
	    baleen_plural(head->n_entries, "entry", "entries"), format_bytes(n_bytes, size));
	say("  created %s, expires %s\n", baleen_set_time(head->created_s).text,
	    baleen_set_time(head->expires_s).text);
	say("  digest %s\n", digest_text(head->digest).text);
}

static json_t *describe_group(const struct baleen_set_group *group)
{
	return json_pack("{s:i, s:i, s:I, s:I, s:i, s:i, s:I}", "family",
			 baleen_canon_is_ip6(group->group) ? 6 : 4, "length",
			 (int)baleen_canon_length(group->group), "removed",
			 (json_int_t)group->n_removed, "added", (json_int_t)group->n_added,
			 "rice_removed", (int)group->k_removed, "rice_added", (int)group->k_added,
			 "bytes", (json_int_t)group->n_bytes);
}

static void print_group(const struct baleen_set_group *group)
{
	char removed[NUMBER_TEXT], added[NUMBER_TEXT], size[NUMBER_TEXT];

	say("  IPv%d/%-3u  %s removed, %s added, Rice %u and %u, %s\n",
	    baleen_canon_is_ip6(group->group) ? 6 : 4, baleen_canon_length(group->group),
	    format_count(group->n_removed, removed), format_count(group->n_added, added),
	    group->k_removed, group->k_added, format_bytes(group->n_bytes, size));
}

/* @all: the JSON array, or NULL to print */
static int show_file(const char *path, const u8 *bytes, size_t n_bytes, json_t *all)
{
	struct baleen_set_head head;
	struct baleen_set_group group;
	json_t *json = NULL, *groups = json_array();
	size_t at = BALEEN_SET_HEAD_BYTES;
	const char *why = "";
	int err = baleen_set_head_read(bytes, n_bytes, &head, &why);

	if (!err && all) {
		json = describe_generation(path, &head);
		json_object_set_new(json, "from", json_integer(head.from));
	} else if (!err) {
		print_head(path, &head, n_bytes);
	}
	while (!err && at < n_bytes) {
		err = baleen_set_group_read(bytes + at, n_bytes - at, &group, &why);
		if (err)
			break;
		if (all)
			json_array_append_new(groups, describe_group(&group));
		else
			print_group(&group);
		at += BALEEN_SET_GROUP_BYTES + group.n_bytes;
	}
	if (json) {
		json_object_set(json, "groups", groups);
		json_array_append_new(all, json);
	}
	json_decref(groups);
	return err ? complain("%s: %s", path, why) : 0;
}

/* --- manifests ---------------------------------------------------------------- */

static json_t *describe_manifest(const char *path, const struct baleen_set_manifest *manifest)
{
	json_t *json = describe_generation(path, &manifest->head);

	json_object_set_new(json, "set", json_string(manifest->name));
	json_object_set_new(json, "previous", json_integer(manifest->previous));
	json_object_set_new(json, "canaries", json_integer(manifest->rollout.n_canaries));
	json_object_set_new(json, "rings", describe_rings(&manifest->rollout));
	return json;
}

static void print_part(const struct baleen_set_manifest *manifest,
		       const struct baleen_set_part *part)
{
	char name[BALEEN_SET_FILE_NAME], size[NUMBER_TEXT];

	baleen_set_part_name(manifest->name, manifest->head.generation, part->from, name);
	say("  %s, %s\n", name, format_bytes(part->n_bytes, size));
}

static void print_manifest(const char *path, const struct baleen_set_manifest *manifest)
{
	const struct baleen_set_rollout *rollout = &manifest->rollout;
	const struct baleen_set_head *head = &manifest->head;
	char entries[NUMBER_TEXT], size[NUMBER_TEXT], source[BALEEN_SET_FILE_NAME];

	say("%s: manifest of %s, generation %llu, %s %s\n", path, manifest->name,
	    (unsigned long long)head->generation, format_count(head->n_entries, entries),
	    baleen_plural(head->n_entries, "entry", "entries"));
	say("  created %s, expires %s\n", baleen_set_time(head->created_s).text,
	    baleen_set_time(head->expires_s).text);
	say("  digest %s\n", digest_text(head->digest).text);
	for (u32 i = 0; i < rollout->n_rings; i++)
		say("  ring %u: to %u %% of hosts, from %s\n", i + 1, rollout->ring[i].percent,
		    baleen_set_time(baleen_set_ring_due_s(rollout, head->created_s, i + 1)).text);
	print_part(manifest, &manifest->full);
	for (u32 i = 0; i < manifest->n_deltas; i++)
		print_part(manifest, &manifest->delta[i]);
	if (manifest->source.n_bytes)
		say("  %s, %s\n",
		    baleen_set_file_name(manifest->name, head->generation, "source", source),
		    format_bytes(manifest->source.n_bytes, size));
}

static bool show_manifest(const char *path, const char *bytes, size_t n_bytes, json_t *all)
{
	struct baleen_set_manifest manifest;

	if (baleen_set_manifest_parse(bytes, n_bytes, &manifest))
		return false;
	if (all)
		json_array_append_new(all, describe_manifest(path, &manifest));
	else
		print_manifest(path, &manifest);
	return true;
}

static int show_path(const char *path, json_t *all)
{
	struct baleen_error error;
	size_t n_bytes;
	char *bytes;
	int err;

	if (baleen_small_file_read(path, BALEEN_INPUT_TYPED_FILE, BALEEN_SET_FILE_MAX, &bytes,
				   &n_bytes, NULL, &error))
		return complain("%s", error.text);
	err = show_manifest(path, bytes, n_bytes, all) ?
		      0 :
		      show_file(path, (const u8 *)bytes, n_bytes, all);
	free(bytes);
	return err;
}

static int run(int argc, char **argv)
{
	struct show show = { .json = false };
	int err = options_parse(&set_show_command, &show, &argc, &argv), result = EXIT_DONE;
	json_t *all;

	if (err)
		return err;
	if (show.json && show.entries)
		return complain_usage(&set_show_command, "--entries prints a list, not JSON");
	all = show.json ? json_array() : NULL;
	for (int i = 0; i < argc; i++)
		if (show.entries ? print_entries(argv[i]) : show_path(argv[i], all))
			result = EXIT_FAILED;
	return finish_collected(all, result);
}

static const struct option_spec table[] = {
	FLAG("entries", 0, show, entries, "print the entries of a full set, a list again"),
	FLAG("json", 'j', show, json, "an array with one object per file"),
	{ 0 },
};

const struct command set_show_command = {
	.name = "set show",
	.synopsis = "[-j | --entries] FILE...",
	.help = "Says what is in a NAME-GEN.set or NAME-FROM-GEN.delta: generation, times, digest,\n"
		"and of each family and prefix length how many entries go and come; of a manifest\n"
		"which files it names, and when each ring of hosts takes them.\n",
	.options = table,
	.asks = { 1, INT_MAX, "what is shown? FILE is missing" },
	.run = run,
};
