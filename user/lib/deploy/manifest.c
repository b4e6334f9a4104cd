// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The manifest of what was saved, as JSON. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deploy/manifest.h"
#include "net/device.h"
#include "xdp/qualifiers.h"

#define FORMAT "baleen rules"
#define VERSION 1

/* A rule without this word keeps special-purpose ranges, or its release knew of none. */
#define REMOVE "remove"

/* Sixteen rules with all qualifiers need a tenth of it. */
#define MAX_BYTES 65536

static const char *const defaults[] = { "pass", "drop" };

static const char *const modes[] = {
	[BALEEN_MODE_AUTO] = "auto",
	[BALEEN_MODE_NATIVE] = "native",
	[BALEEN_MODE_GENERIC] = "generic",
};

static const char *const places[] = {
	[BALEEN_ATTACH_TYPE_LINK] = "link",
	[BALEEN_ATTACH_TYPE_NETLINK] = "netlink",
	[BALEEN_ATTACH_TYPE_CHAIN] = "chain",
};

#define N_WORDS(words) (sizeof(words) / sizeof((words)[0]))

static int find_word(const char *word, const char *const *words, u32 n_words, const char *what,
		     u32 *value, struct baleen_error *error)
{
	for (u32 i = 0; i < n_words; i++) {
		if (!strcmp(words[i], word)) {
			*value = i;
			return 0;
		}
	}
	return baleen_fail(error, EINVAL, "%s '%.40s' is unknown", what, word);
}

static int find_action(const char *word, u32 *action, struct baleen_error *error)
{
	const char *text;

	for (u32 i = 0; (text = baleen_action_text(i)); i++) {
		if (!strcmp(text, word)) {
			*action = i;
			return 0;
		}
	}
	return baleen_fail(error, EINVAL, "action '%.40s' is unknown", word);
}

void baleen_saved_file(const char *name, char *file)
{
	snprintf(file, BALEEN_SAVED_FILE_BYTES, "%.*s.bln", BALEEN_NAME_BYTES - 1, name);
}

/* --- to text --- */

/* The name of a device is any bytes, a JSON string is UTF-8. */
static json_t *json_device(const char *device)
{
	json_t *json = json_string(device);
	char shown[BALEEN_POINT_BYTES];

	if (json)
		return json;
	snprintf(shown, sizeof(shown), "%s", device);
	for (char *c = shown; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return json_string(shown);
}

/* NULL for the usual: an older release knows no such field. */
static json_t *json_fleet(const struct baleen_rule_fleet *fleet)
{
	if (!*fleet->set)
		return NULL;
	return json_pack("{s:s, s:i}", "set", fleet->set, "max_ttl", (int)fleet->max_ttl_s);
}

static json_t *json_bans(const struct baleen_rule_bans *bans)
{
	char widen[BALEEN_WIDEN_TEXT];

	if (!*baleen_widen_format(bans->widen, widen) && !bans->takes_bans && !bans->ban_width &&
	    !*bans->fleet.set)
		return NULL;
	return json_pack("{s:b, s:i, s:s, s:o*}", "takes_bans", bans->takes_bans, "ban_width",
			 (int)bans->ban_width, "widen", widen, "fleet", json_fleet(&bans->fleet));
}

/* NULL for the usual. */
static json_t *json_rate(double rate)
{
	return rate > 0 ? json_real(rate) : NULL;
}

static json_t *json_rule(const struct baleen_saved *saved, u32 i)
{
	const struct baleen_ruleset_rule *rule = &saved->ruleset.rule[i];
	const struct baleen_saved_image *image = &saved->image[i];
	char qualifiers[BALEEN_QUALIFIERS_TEXT], file[BALEEN_SAVED_FILE_BYTES];

	baleen_qualifiers_format(&rule->qualifiers, &rule->rate_limit, qualifiers);
	baleen_saved_file(rule->name, file);
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o*, s:s*, s:o*}", "name",
			 rule->name, "action", baleen_action_text(rule->action), "qualifiers",
			 qualifiers, "image", file, "entries", (json_int_t)image->n_entries,
			 "header_crc", (json_int_t)image->header_crc, "body_crc",
			 (json_int_t)image->body_crc, "bans", json_bans(&saved->bans[i]), "special",
			 saved->removes_special[i] ? REMOVE : NULL, "accept_fpp",
			 json_rate(saved->accept_fpp[i]));
}

/* The checksum is of one form of the values, so blanks and order do not matter. */
static int checksum(const json_t *json, u32 *crc)
{
	char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);

	if (!text)
		return -ENOMEM;
	*crc = baleen_crc32c(0, text, strlen(text));
	free(text);
	return 0;
}

/* NULL for none. */
static json_t *json_entries(const struct baleen_saved *saved)
{
	if (!saved->n_entries)
		return NULL;
	return json_pack("{s:I, s:I, s:I}", "n", (json_int_t)saved->n_entries, "bytes",
			 (json_int_t)saved->n_entry_bytes, "crc",
			 (json_int_t)baleen_crc32c(0, saved->entries, saved->n_entry_bytes));
}

char *baleen_manifest_format(const struct baleen_saved *saved)
{
	const struct baleen_ruleset *ruleset = &saved->ruleset;
	json_t *rules = json_array(), *json;
	char *text = NULL, *line = NULL;
	u32 crc;

	for (u32 i = 0; i < ruleset->n_rules; i++)
		json_array_append_new(rules, json_rule(saved, i));
	json = json_pack("{s:s, s:i, s:o, s:s, s:s, s:s, s:b, s:I, s:o, s:o*}", "format", FORMAT,
			 "version", VERSION, "device", json_device(saved->device), "mode",
			 modes[saved->mode], "place", places[saved->attach_type], "default",
			 defaults[ruleset->default_drop], "dry_run", ruleset->dry_run,
			 "sample_interval_ns", (json_int_t)ruleset->sample_interval_ns, "rules",
			 rules, "single_entries", json_entries(saved));
	if (json && json_array_size(rules) == ruleset->n_rules && !checksum(json, &crc) &&
	    !json_object_set_new(json, "checksum", json_integer(crc)))
		text = json_dumps(json, JSON_INDENT(2));
	json_decref(json);
	if (text && asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	return line;
}

/* --- from text --- */

static int read_fleet(json_t *json, const char *rule, struct baleen_rule_fleet *fleet,
		      struct baleen_error *error)
{
	json_error_t json_error;
	const char *set;
	int max_ttl_s;

	if (json_unpack_ex(json, &json_error, JSON_STRICT, "{s:s, s:i}", "set", &set, "max_ttl",
			   &max_ttl_s))
		return baleen_fail(error, EINVAL, "rule '%s': fleet: %s", rule, json_error.text);
	if (!baleen_rule_fleet_is_set(set) || max_ttl_s < 0 || max_ttl_s > BALEEN_RULE_FLEET_MAX_S)
		return baleen_fail(error, EINVAL,
				   "rule '%s': fleet: no set, or a time out of range", rule);
	strcpy(fleet->set, set);
	fleet->max_ttl_s = max_ttl_s;
	return 0;
}

static int read_bans(json_t *json, const char *rule, struct baleen_rule_bans *bans,
		     struct baleen_error *error)
{
	const char *widen, *reason = NULL;
	json_error_t json_error;
	int takes_bans, width;
	json_t *fleet = NULL;

	if (json_unpack_ex(json, &json_error, JSON_STRICT, "{s:b, s:i, s:s, s?:o}", "takes_bans",
			   &takes_bans, "ban_width", &width, "widen", &widen, "fleet", &fleet))
		return baleen_fail(error, EINVAL, "rule '%s': bans: %s", rule, json_error.text);
	if (width && (width < BALEEN_BAN_WIDTH_MIN || width > BALEEN_BAN_WIDTH_MAX))
		return baleen_fail(error, EINVAL, "rule '%s': bans: a number out of range", rule);
	if (*widen)
		reason = baleen_widen_parse(widen, bans->widen);
	if (reason)
		return baleen_fail(error, EINVAL, "rule '%s': widen: %s", rule, reason);
	bans->takes_bans = takes_bans;
	bans->ban_width = width;
	return fleet ? read_fleet(fleet, rule, &bans->fleet, error) : 0;
}

static int read_rule(json_t *json, struct baleen_saved *saved, u32 i, struct baleen_error *error)
{
	struct baleen_ruleset_rule *rule = &saved->ruleset.rule[i];
	struct baleen_saved_image *image = &saved->image[i];
	const char *name, *action, *qualifiers, *file;
	json_int_t n_entries, header_crc, body_crc;
	char own_file[BALEEN_SAVED_FILE_BYTES];
	json_error_t json_error;
	const char *reason, *special = NULL;
	json_t *bans = NULL;
	double accept_fpp = 0;
	int err;

	if (json_unpack_ex(json, &json_error, JSON_STRICT,
			   "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s?:o, s?:s, s?:F}", "name", &name,
			   "action", &action, "qualifiers", &qualifiers, "image", &file, "entries",
			   &n_entries, "header_crc", &header_crc, "body_crc", &body_crc, "bans",
			   &bans, "special", &special, "accept_fpp", &accept_fpp))
		return baleen_fail(error, EINVAL, "rule %u: %s", i + 1, json_error.text);
	reason = baleen_rule_name_check(name);
	if (reason)
		return baleen_fail(error, EINVAL, "rule %u: %s", i + 1, reason);
	snprintf(rule->name, sizeof(rule->name), "%s", name);
	baleen_saved_file(name, own_file);
	if (strcmp(file, own_file))
		return baleen_fail(error, EINVAL, "rule '%s': its image is not %s", name, own_file);
	if (n_entries < 0 || header_crc != (u32)header_crc || body_crc != (u32)body_crc ||
	    !(accept_fpp >= 0 && accept_fpp < 1))
		return baleen_fail(error, EINVAL, "rule '%s': a number out of range", name);
	if (special && strcmp(special, REMOVE))
		return baleen_fail(error, EINVAL, "rule '%s': special '%.40s' is unknown", name,
				   special);
	saved->removes_special[i] = special;
	saved->accept_fpp[i] = accept_fpp;
	*image = (struct baleen_saved_image){ n_entries, header_crc, body_crc };
	rule->filter = &saved->filter[i];
	rule->live = BALEEN_RULE_NEW;
	err = find_action(action, &rule->action, error);
	if (!err)
		err = baleen_qualifiers_parse(qualifiers, &rule->qualifiers, &rule->rate_limit,
					      error);
	if (!err && bans)
		err = read_bans(bans, name, &saved->bans[i], error);
	return err;
}

static int read_rules(json_t *rules, struct baleen_saved *saved, struct baleen_error *error)
{
	size_t n = json_array_size(rules);
	int err = 0;

	if (n > BALEEN_MAX_RULES)
		return baleen_fail(error, E2BIG, "more than %d rules", BALEEN_MAX_RULES);
	saved->ruleset.n_rules = n;
	for (u32 i = 0; i < n && !err; i++)
		err = read_rule(json_array_get(rules, i), saved, i, error);
	return err ? err : baleen_ruleset_check(&saved->ruleset, error);
}

static int read_entries(json_t *json, struct baleen_saved *saved, struct baleen_error *error)
{
	json_int_t n, n_bytes, crc;
	json_error_t json_error;

	if (json_unpack_ex(json, &json_error, JSON_STRICT, "{s:I, s:I, s:I}", "n", &n, "bytes",
			   &n_bytes, "crc", &crc))
		return baleen_fail(error, EINVAL, "single_entries: %s", json_error.text);
	if (n < 1 || n_bytes < n || crc != (u32)crc)
		return baleen_fail(error, EINVAL, "single_entries: a number out of range");
	saved->n_entries = n;
	saved->n_entry_bytes = n_bytes;
	saved->entries_crc = crc;
	return 0;
}

static int read_all(json_t *json, struct baleen_saved *saved, struct baleen_error *error)
{
	struct baleen_ruleset *ruleset = &saved->ruleset;
	const char *format, *device, *mode, *place, *policy;
	u32 mode_number = 0, default_drop = 0;
	json_error_t json_error;
	json_int_t interval;
	json_t *rules, *entries = NULL;
	int version, dry_run, err;

	if (json_unpack_ex(json, &json_error, JSON_STRICT,
			   "{s:s, s:i, s:s, s:s, s:s, s:s, s:b, s:I, s:o, s?:o}", "format", &format,
			   "version", &version, "device", &device, "mode", &mode, "place", &place,
			   "default", &policy, "dry_run", &dry_run, "sample_interval_ns", &interval,
			   "rules", &rules, "single_entries", &entries))
		return baleen_fail(error, EINVAL, "%s", json_error.text);
	if (strlen(device) >= sizeof(saved->device) || interval < 0 || !json_is_array(rules))
		return baleen_fail(error, EINVAL, "a value out of range");
	err = find_word(mode, modes, N_WORDS(modes), "mode", &mode_number, error);
	if (!err)
		err = find_word(place, places, N_WORDS(places), "place", &saved->attach_type,
				error);
	if (!err)
		err = find_word(policy, defaults, N_WORDS(defaults), "default", &default_drop,
				error);
	if (err)
		return err;
	snprintf(saved->device, sizeof(saved->device), "%s", device);
	saved->mode = mode_number;
	ruleset->default_drop = default_drop;
	ruleset->dry_run = dry_run;
	ruleset->sample_interval_ns = interval;
	if (entries)
		err = read_entries(entries, saved, error);
	return err ? err : read_rules(rules, saved, error);
}

/* Version first: another one may mean other things by the same words. */
static int read_checked(json_t *json, struct baleen_saved *saved, struct baleen_error *error)
{
	const char *format;
	json_int_t written;
	int version, err;
	u32 crc;

	if (json_unpack(json, "{s:s, s:i}", "format", &format, "version", &version) ||
	    strcmp(format, FORMAT))
		return baleen_fail(error, EINVAL, "not written by 'baleen save'");
	if (version != VERSION)
		return baleen_fail(error, EINVAL, "of version %d, not %d", version, VERSION);
	if (json_unpack(json, "{s:I}", "checksum", &written))
		return baleen_fail(error, EINVAL, "has no checksum");
	json_object_del(json, "checksum");
	err = checksum(json, &crc);
	if (err)
		return baleen_fail(error, -err, "%s", strerror(-err));
	if (crc != written)
		return baleen_fail(error, EINVAL,
				   "its checksum does not match: damaged, or changed by hand");
	return read_all(json, saved, error);
}

int baleen_manifest_read(int fd, const char *name, struct baleen_saved *saved,
			 struct baleen_error *error)
{
	struct baleen_error what;
	json_error_t json_error;
	struct stat stat;
	json_t *json;
	FILE *stream;
	int err;

	if (fstat(fd, &stat) || stat.st_size > MAX_BYTES) {
		close(fd);
		return baleen_fail(error, EINVAL, "%s: no file of up to %d bytes", name, MAX_BYTES);
	}
	stream = fdopen(fd, "r");
	if (!stream) {
		close(fd);
		return baleen_fail(error, errno, "%s: %m", name);
	}
	json = json_loadf(stream, JSON_REJECT_DUPLICATES, &json_error);
	fclose(stream);
	if (!json)
		return baleen_fail(error, EINVAL, "%s:%d: %s", name, json_error.line,
				   json_error.text);
	memset(saved, 0, sizeof(*saved));
	err = read_checked(json, saved, &what);
	json_decref(json);
	return err ? baleen_fail(error, -err, "%s: %s", name, what.text) : 0;
}
