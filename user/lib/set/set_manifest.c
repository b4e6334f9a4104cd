// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The manifest of a set, to text and back. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "set/set_manifest.h"

#define HEX_BYTES (2 * BALEEN_CANON_DIGEST + 1)
#define NEVER "never"

struct baleen_set_time baleen_set_time(u64 seconds)
{
	struct baleen_set_time text = { NEVER };
	time_t time = seconds;
	struct tm parts;

	if (seconds && gmtime_r(&time, &parts))
		strftime(text.text, sizeof(text.text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	return text;
}

/* A time that is none makes another text than it was. */
static u64 seconds_of(const char *text)
{
	struct tm parts = { .tm_isdst = 0 };

	return strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts) ? (u64)timegm(&parts) : 0;
}

/* NAME-GENERATION is a file of the set NAME. */
static bool ends_like_a_file(const char *name)
{
	const char *dash = strrchr(name, '-');

	return dash && dash[1] && !dash[1 + strspn(dash + 1, "0123456789")];
}

bool baleen_set_name_is(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789._-");

	return length && length < BALEEN_SET_NAME_BYTES && !name[length] && *name != '.' &&
	       !ends_like_a_file(name);
}

const char *baleen_set_file_name(const char *name, u64 generation, const char *suffix, char *text)
{
	snprintf(text, BALEEN_SET_FILE_NAME, "%s-%" PRIu64 ".%s", name, (uint64_t)generation,
		 suffix);
	return text;
}

const char *baleen_set_part_name(const char *name, u64 generation, u64 from, char *text)
{
	if (from)
		snprintf(text, BALEEN_SET_FILE_NAME, "%s-%" PRIu64 "-%" PRIu64 ".delta", name,
			 (uint64_t)from, (uint64_t)generation);
	else
		baleen_set_file_name(name, generation, "set", text);
	return text;
}

/* --- files ---------------------------------------------------------------------- */

void baleen_set_part_describe(struct baleen_set_part *part, const void *bytes, size_t n_bytes)
{
	part->n_bytes = n_bytes;
	crypto_generichash(part->digest, BALEEN_CANON_DIGEST, bytes, n_bytes, NULL, 0);
}

int baleen_set_part_check(const struct baleen_set_part *part, const void *bytes, size_t n_bytes,
			  const char **why)
{
	struct baleen_set_part got;

	if (n_bytes != part->n_bytes) {
		*why = n_bytes < part->n_bytes ? "is cut short" :
						 "has more bytes than its manifest says";
		return -EINVAL;
	}
	baleen_set_part_describe(&got, bytes, n_bytes);
	if (memcmp(got.digest, part->digest, sizeof(got.digest))) {
		*why = "is not the file that its manifest tells of";
		return -EINVAL;
	}
	return 0;
}

/* --- to text -------------------------------------------------------------------- */

struct text {
	char *text;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *to, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	to->used += vsnprintf(to->text + to->used, BALEEN_SET_MANIFEST_BYTES - to->used, format,
			      arguments);
	va_end(arguments);
}

/* @what: the first word of its line */
static void add_part(struct text *to, const char *what, const struct baleen_set_part *part)
{
	char hex[HEX_BYTES];

	sodium_bin2hex(hex, sizeof(hex), part->digest, BALEEN_CANON_DIGEST);
	add(to, "%s ", what);
	if (part->from)
		add(to, "%llu ", (unsigned long long)part->from);
	add(to, "%llu %s\n", (unsigned long long)part->n_bytes, hex);
}

static void add_rollout(struct text *to, const struct baleen_set_rollout *rollout)
{
	if (rollout->n_rings)
		add(to, "canaries %u\n", rollout->n_canaries);
	for (u32 i = 0; i < rollout->n_rings; i++)
		add(to, "ring %u %u\n", rollout->ring[i].percent, rollout->ring[i].soak_s);
}

size_t baleen_set_manifest_format(const struct baleen_set_manifest *manifest, char *text)
{
	const struct baleen_set_head *head = &manifest->head;
	struct text to = { .text = text };
	char hex[HEX_BYTES];

	sodium_bin2hex(hex, sizeof(hex), head->digest, BALEEN_CANON_DIGEST);
	add(&to, "baleen-set 1\nname %s\n", manifest->name);
	add(&to, "generation %llu\nprevious %llu\n", (unsigned long long)head->generation,
	    (unsigned long long)manifest->previous);
	add(&to, "created %s\n", baleen_set_time(head->created_s).text);
	add(&to, "expires %s\n", baleen_set_time(head->expires_s).text);
	add(&to, "entries %llu\ndigest %s\n", (unsigned long long)head->n_entries, hex);
	add_rollout(&to, &manifest->rollout);
	add_part(&to, "full", &manifest->full);
	if (manifest->source.n_bytes)
		add_part(&to, "source", &manifest->source);
	for (u32 i = 0; i < manifest->n_deltas; i++)
		add_part(&to, "delta", &manifest->delta[i]);
	return to.used;
}

/* --- from text ------------------------------------------------------------------ */

static void read_digest(const char *hex, u8 *digest)
{
	sodium_hex2bin(digest, BALEEN_CANON_DIGEST, hex, strlen(hex), NULL, NULL, NULL);
}

static int read_part(const char *rest, struct baleen_set_part *part)
{
	char hex[HEX_BYTES];
	uint64_t n_bytes;

	if (sscanf(rest, "%20" SCNu64 " %64s", &n_bytes, hex) != 2)
		return -EINVAL;
	part->n_bytes = n_bytes;
	read_digest(hex, part->digest);
	return 0;
}

static int read_delta(const char *rest, struct baleen_set_manifest *manifest)
{
	struct baleen_set_part part;
	uint64_t from;
	int used;

	if (sscanf(rest, "%20" SCNu64 " %n", &from, &used) != 1 || read_part(rest + used, &part))
		return -EINVAL;
	part.from = from;
	if (manifest->n_deltas == BALEEN_SET_DELTAS || !from)
		return -EINVAL;
	if (from >= (manifest->n_deltas ? manifest->delta[manifest->n_deltas - 1].from :
					  manifest->head.generation))
		return -EINVAL;
	manifest->delta[manifest->n_deltas++] = part;
	return 0;
}

static int read_ring(const char *rest, struct baleen_set_rollout *rollout)
{
	struct baleen_set_ring *ring = &rollout->ring[rollout->n_rings];

	if (rollout->n_rings == BALEEN_SET_RINGS ||
	    sscanf(rest, "%9u %9u", &ring->percent, &ring->soak_s) != 2)
		return -EINVAL;
	rollout->n_rings++;
	return 0;
}

/* Fields may come in any order and form here: the text that they make is compared then. */
static int read_line(const char *line, struct baleen_set_manifest *manifest)
{
	struct baleen_set_head *head = &manifest->head;
	const char *rest = strchr(line, ' ');
	size_t n = rest ? rest - line : 0;
	struct {
		const char *word;
		u64 *number;
	} numbers[] = {
		{ "generation", &head->generation },
		{ "previous", &manifest->previous },
		{ "entries", &head->n_entries },
	};

	if (!rest)
		return -EINVAL;
	rest++;
#define IS(text) (n == strlen(text) && !memcmp(line, text, n))
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (IS(numbers[i].word))
			*numbers[i].number = strtoull(rest, NULL, 10);
	if (IS("name"))
		snprintf(manifest->name, sizeof(manifest->name), "%s", rest);
	if (IS("created"))
		head->created_s = seconds_of(rest);
	if (IS("expires"))
		head->expires_s = strcmp(rest, NEVER) ? seconds_of(rest) : 0;
	if (IS("digest"))
		read_digest(rest, head->digest);
	if (IS("canaries"))
		manifest->rollout.n_canaries = strtoul(rest, NULL, 10);
	if (IS("ring"))
		return read_ring(rest, &manifest->rollout);
	if (IS("full"))
		return read_part(rest, &manifest->full);
	if (IS("source"))
		return read_part(rest, &manifest->source);
	if (IS("delta"))
		return read_delta(rest, manifest);
#undef IS
	return 0;
}

static int read_lines(char *text, struct baleen_set_manifest *manifest)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (read_line(line, manifest))
			return -EINVAL;
	return 0;
}

int baleen_set_manifest_parse(const char *text, size_t n_bytes,
			      struct baleen_set_manifest *manifest)
{
	char copy[BALEEN_SET_MANIFEST_BYTES], again[BALEEN_SET_MANIFEST_BYTES];
	struct baleen_set_manifest read = { .n_deltas = 0 };

	if (n_bytes >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, n_bytes);
	copy[n_bytes] = '\0';
	if (read_lines(copy, &read) || !baleen_set_name_is(read.name) || !read.head.generation ||
	    read.previous >= read.head.generation || !read.head.created_s ||
	    read.head.n_entries > BALEEN_CANON_MAX || baleen_set_rollout_refuse(&read.rollout))
		return -EINVAL;
	if (baleen_set_manifest_format(&read, again) != n_bytes || memcmp(again, text, n_bytes))
		return -EINVAL;
	*manifest = read;
	return 0;
}

const struct baleen_set_part *baleen_set_manifest_delta(const struct baleen_set_manifest *manifest,
							u64 from)
{
	for (u32 i = 0; i < manifest->n_deltas; i++)
		if (manifest->delta[i].from == from)
			return &manifest->delta[i];
	return NULL;
}
