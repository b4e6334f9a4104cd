// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The manifest of what was saved, as JSON. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deploy/manifest.h"
#include "util/array.h"

#define FORMAT "baleen device"
#define VERSION 1

/* A thousand feeds need a hundredth of it, a thousand directories all of it. */
#define MAX_BYTES (64 << 20)

/* --- to text --- */

/* A name as %XX where it is not printable ASCII: names of devices and files are any bytes, a JSON
 * string is UTF-8. NULL for none.
 */
static json_t *json_name(const char *name)
{
	char text[3 * BALEEN_SOURCE_BYTES + 1], *end = text;

	for (; *name; name++)
		end += sprintf(end, *name > ' ' && *name <= '~' && *name != '%' ? "%c" : "%%%02x",
			       (u8)*name);
	return end > text ? json_string(text) : NULL;
}

static json_t *file_to_json(const struct baleen_saved_file *file)
{
	return json_pack("{s:I, s:I}", "bytes", (json_int_t)file->n_bytes, "crc",
			 (json_int_t)file->crc);
}

static json_t *copy_to_json(const struct baleen_saved_copy *copy)
{
	const struct baleen_feed *feed = &copy->feed;

	return json_pack("{s:s, s:s, s:i, s:o, s:o*, s:o*, s:o*, s:I, s:I, s:I, s:I}", "name",
			 copy->name, "rule", copy->rule, "feed", (int)copy->place, "file",
			 file_to_json(&copy->file), "path", json_name(feed->file), "etag",
			 json_name(feed->etag), "last_modified", json_name(feed->last_modified),
			 "received_ms", (json_int_t)feed->received_ms, "confirmed_ms",
			 (json_int_t)feed->confirmed_ms, "checked_ms", (json_int_t)feed->checked_ms,
			 "generation", (json_int_t)feed->generation);
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
static json_t *entries_to_json(const struct baleen_saved *saved)
{
	if (!saved->n_entries)
		return NULL;
	return json_pack("{s:I, s:o}", "n", (json_int_t)saved->n_entries, "file",
			 file_to_json(&saved->entries_file));
}

/* NULL for none. */
static json_t *answers_to_json(const struct baleen_never_answers *answers)
{
	json_t *all = answers->n ? json_array() : NULL;

	for (size_t i = 0; i < answers->n; i++)
		json_array_append_new(all, json_pack("{s:s, s:s, s:I}", "name",
						     answers->answer[i].name, "addresses",
						     answers->answer[i].addresses, "asked_ms",
						     (json_int_t)answers->answer[i].asked_ms));
	return all;
}

char *baleen_manifest_format(const struct baleen_saved *saved)
{
	json_t *copies = json_array(), *json;
	char *text = NULL, *line = NULL;
	u32 crc;

	for (size_t i = 0; i < saved->n_copies; i++)
		json_array_append_new(copies, copy_to_json(&saved->copy[i]));
	json = json_pack("{s:s, s:i, s:o, s:b, s:o, s:o, s:o*, s:o*}", "format", FORMAT, "version",
			 VERSION, "device", json_name(saved->device), "kept", saved->is_kept,
			 "configuration", file_to_json(&saved->conf_file), "copies", copies,
			 "never_names", answers_to_json(&saved->answers), "single_entries",
			 entries_to_json(saved));
	if (json && json_array_size(copies) == saved->n_copies && !checksum(json, &crc) &&
	    !json_object_set_new(json, "checksum", json_integer(crc)))
		text = json_dumps(json, JSON_INDENT(2));
	json_decref(json);
	if (text && asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	return line;
}

/* --- from text --- */

static int read_name(const char *from, char *to, size_t n_bytes, struct baleen_error *error)
{
	const char *name = from;

	for (size_t n = 0; from && *from; n++) {
		bool is_escaped = *from == '%';
		char digits[3] = { 0 };
		u8 byte = *from;

		if (is_escaped && isxdigit((u8)from[1]) && isxdigit((u8)from[2]))
			byte = strtoul(memcpy(digits, from + 1, 2), NULL, 16);
		else if (is_escaped)
			byte = 0;
		if (n + 1 >= n_bytes || !byte)
			return baleen_fail(error, EINVAL, "'%.40s' is no name", name);
		to[n] = byte;
		to[n + 1] = '\0';
		from += is_escaped ? 3 : 1;
	}
	return 0;
}

/* A text of the manifest, if it fits. */
static int read_text(const char *from, char *to, size_t n_bytes, struct baleen_error *error)
{
	if (from && strlen(from) >= n_bytes)
		return baleen_fail(error, EINVAL, "'%.40s...' is too long", from);
	if (from)
		strcpy(to, from);
	return 0;
}

static int read_file(json_t *json, struct baleen_saved_file *file, struct baleen_error *error)
{
	json_int_t n_bytes, crc;
	json_error_t json_error;

	if (json_unpack_ex(json, &json_error, JSON_STRICT, "{s:I, s:I}", "bytes", &n_bytes, "crc",
			   &crc))
		return baleen_fail(error, EINVAL, "%s", json_error.text);
	if (n_bytes < 0 || crc != (u32)crc)
		return baleen_fail(error, EINVAL, "a number out of range");
	*file = (struct baleen_saved_file){ .n_bytes = n_bytes, .crc = crc };
	return 0;
}

static int read_copy(json_t *json, struct baleen_saved *saved, struct baleen_error *error)
{
	const char *name, *rule, *path = NULL, *etag = NULL, *last_modified = NULL;
	json_int_t received, confirmed, checked, generation;
	struct baleen_saved_copy copy = { .fd = -1 };
	char own[BALEEN_SAVED_FILE_BYTES];
	json_error_t json_error;
	json_t *file;
	int place, err;

	if (json_unpack_ex(json, &json_error, JSON_STRICT,
			   "{s:s, s:s, s:i, s:o, s?:s, s?:s, s?:s, s:I, s:I, s:I, s:I}", "name",
			   &name, "rule", &rule, "feed", &place, "file", &file, "path", &path,
			   "etag", &etag, "last_modified", &last_modified, "received_ms", &received,
			   "confirmed_ms", &confirmed, "checked_ms", &checked, "generation",
			   &generation))
		return baleen_fail(error, EINVAL, "copy %zu: %s", saved->n_copies + 1,
				   json_error.text);
	snprintf(own, sizeof(own), "%.*s.%zu", BALEEN_NAME_BYTES - 1, rule, saved->n_copies + 1);
	if (baleen_rule_name_check(rule) || strcmp(name, own))
		return baleen_fail(error, EINVAL, "copy %zu: is not %s", saved->n_copies + 1, own);
	if (place < 0 || received < 0 || confirmed < 0 || checked < 0 || generation < 0)
		return baleen_fail(error, EINVAL, "copy %s: a number out of range", name);
	strcpy(copy.name, name);
	strcpy(copy.rule, rule);
	copy.place = place;
	copy.feed.received_ms = received;
	copy.feed.confirmed_ms = confirmed;
	copy.feed.checked_ms = checked;
	copy.feed.generation = generation;
	err = read_file(file, &copy.file, error);
	if (!err)
		err = read_name(path, copy.feed.file, sizeof(copy.feed.file), error);
	if (!err)
		err = read_name(etag, copy.feed.etag, sizeof(copy.feed.etag), error);
	if (!err)
		err = read_name(last_modified, copy.feed.last_modified,
				sizeof(copy.feed.last_modified), error);
	if (err)
		return err;
	if (baleen_array_add(&saved->copy, saved->n_copies))
		return baleen_no_memory(error);
	saved->copy[saved->n_copies++] = copy;
	return 0;
}

static int read_answer(json_t *json, struct baleen_saved *saved, struct baleen_error *error)
{
	struct baleen_never_answer answer = { .n = 0 };
	const char *name, *addresses;
	json_error_t json_error;
	json_int_t asked;
	int err;

	if (json_unpack_ex(json, &json_error, JSON_STRICT, "{s:s, s:s, s:I}", "name", &name,
			   "addresses", &addresses, "asked_ms", &asked))
		return baleen_fail(error, EINVAL, "never_names: %s", json_error.text);
	err = read_text(name, answer.name, sizeof(answer.name), error);
	if (err)
		return err;
	if (asked < 0 || baleen_never_answer_fault(addresses))
		return baleen_fail(error, EINVAL, "never_names: of %.200s are no addresses", name);
	answer.asked_ms = asked;
	answer.addresses = strdup(addresses);
	if (!answer.addresses || baleen_array_add(&saved->answers.answer, saved->answers.n)) {
		free(answer.addresses);
		return baleen_no_memory(error);
	}
	saved->answers.answer[saved->answers.n++] = answer;
	return 0;
}

static int read_entries(json_t *json, struct baleen_saved *saved, struct baleen_error *error)
{
	json_error_t json_error;
	json_t *file;
	json_int_t n;

	if (json_unpack_ex(json, &json_error, JSON_STRICT, "{s:I, s:o}", "n", &n, "file", &file))
		return baleen_fail(error, EINVAL, "single_entries: %s", json_error.text);
	if (n < 1)
		return baleen_fail(error, EINVAL, "single_entries: a number out of range");
	saved->n_entries = n;
	return read_file(file, &saved->entries_file, error);
}

static int read_all(json_t *json, struct baleen_saved *saved, struct baleen_error *error)
{
	json_t *conf, *copies, *names = NULL, *entries = NULL;
	const char *format, *device;
	json_error_t json_error;
	int version, is_kept, err;

	if (json_unpack_ex(json, &json_error, JSON_STRICT,
			   "{s:s, s:i, s:s, s:b, s:o, s:o, s?:o, s?:o}", "format", &format,
			   "version", &version, "device", &device, "kept", &is_kept,
			   "configuration", &conf, "copies", &copies, "never_names", &names,
			   "single_entries", &entries))
		return baleen_fail(error, EINVAL, "%s", json_error.text);
	if (!json_is_array(copies))
		return baleen_fail(error, EINVAL, "copies are no array");
	saved->is_kept = is_kept;
	err = read_name(device, saved->device, sizeof(saved->device), error);
	if (!err)
		err = read_file(conf, &saved->conf_file, error);
	for (size_t i = 0; i < json_array_size(copies) && !err; i++)
		err = read_copy(json_array_get(copies, i), saved, error);
	for (size_t i = 0; i < json_array_size(names) && !err; i++)
		err = read_answer(json_array_get(names, i), saved, error);
	return err || !entries ? err : read_entries(entries, saved, error);
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

	memset(saved, 0, sizeof(*saved));
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
	err = read_checked(json, saved, &what);
	json_decref(json);
	return err ? baleen_fail(error, -err, "%s: %s", name, what.text) : 0;
}
