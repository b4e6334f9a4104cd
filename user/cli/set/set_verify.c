// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen set verify: is what a directory shows signed, whole and what it says? */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/common/options.h"
#include "cli/set/set_verbs.h"
#include "set/set_publish.h"
#include "util/minisign.h"
#include "util/number.h"
#include "util/small_file.h"

struct verify {
	const char *key;
	bool json;
	char base[PATH_MAX / 2];
	struct baleen_set_manifest manifest;
	struct baleen_canon full;
	u32 n_checked;
};

/* --- the manifest ---------------------------------------------------------------- */

static int read_key(const char *path, struct baleen_minisign_public *key)
{
	struct baleen_error error;
	size_t n_bytes;
	char *text;
	int err = baleen_small_file_read(path, BALEEN_INPUT_TYPED_FILE, 4096, &text, &n_bytes, NULL,
					 &error);

	if (err)
		return complain("%s", error.text);
	err = baleen_minisign_public_parse(text, key);
	free(text);
	return err ? complain("%s: not a public key of minisign", path) : 0;
}

static int read_part(const char *path, size_t most, char **bytes, size_t *n_bytes)
{
	struct baleen_error error;

	return baleen_small_file_read(path, BALEEN_INPUT_TYPED_FILE, most, bytes, n_bytes, NULL,
				      &error) ?
		       complain("%s", error.text) :
		       0;
}

/* The numbered one, as hosts do: it is there before the manifest is. */
static int check_signature(const struct verify *verify, const char *text, size_t n_bytes)
{
	char name[BALEEN_SET_FILE_NAME], path[PATH_MAX], *signature;
	struct baleen_minisign_public key;
	const char *why = "";
	size_t n_signature;
	int err;

	snprintf(path, sizeof(path), "%s%s", verify->base,
		 baleen_set_file_name(verify->manifest.name, verify->manifest.head.generation,
				      "minisig", name));
	if (read_key(verify->key, &key) || read_part(path, 16384, &signature, &n_signature))
		return EXIT_FAILED;
	err = baleen_minisign_verify(text, n_bytes, signature, n_signature, &key, NULL, &why);
	free(signature);
	return err ? complain("%s: %s", path, why) : 0;
}

static int read_manifest(struct verify *verify, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n_bytes;
	char *text;
	int err = read_part(path, BALEEN_SET_MANIFEST_BYTES, &text, &n_bytes);

	if (err)
		return err;
	snprintf(verify->base, sizeof(verify->base), "%.*s", slash ? (int)(slash + 1 - path) : 0,
		 path);
	if (baleen_set_manifest_parse(text, n_bytes, &verify->manifest))
		err = complain("%s: not a manifest of a set", path);
	else
		err = check_signature(verify, text, n_bytes);
	free(text);
	return err;
}

/* --- its files --------------------------------------------------------------------- */

static bool is_same_head(const struct baleen_set_head *a, const struct baleen_set_head *b)
{
	return a->generation == b->generation && a->created_s == b->created_s &&
	       a->expires_s == b->expires_s && !memcmp(a->digest, b->digest, sizeof(a->digest));
}

/* The file that the manifest has signed. */
static int read_signed(const struct verify *verify, const char *name,
		       const struct baleen_set_part *part, char *path, char **bytes,
		       size_t *n_bytes)
{
	const char *why = "";

	snprintf(path, PATH_MAX, "%s%s", verify->base, name);
	if (read_part(path, BALEEN_SET_FILE_MAX, bytes, n_bytes))
		return EXIT_FAILED;
	if (!baleen_set_part_check(part, *bytes, *n_bytes, &why))
		return 0;
	free(*bytes);
	return complain("%s: %s", path, why);
}

static int check_part(struct verify *verify, const struct baleen_set_part *part,
		      const struct baleen_canon *from, struct baleen_canon *to)
{
	char name[BALEEN_SET_FILE_NAME], path[PATH_MAX], *bytes;
	struct baleen_set_head head;
	const char *why = "";
	size_t n_bytes;
	int err;

	baleen_set_part_name(verify->manifest.name, verify->manifest.head.generation, part->from,
			     name);
	if (read_signed(verify, name, part, path, &bytes, &n_bytes))
		return EXIT_FAILED;
	err = baleen_set_head_read(bytes, n_bytes, &head, &why);
	if (!err && (!is_same_head(&head, &verify->manifest.head) || head.from != part->from)) {
		why = "is of another generation than its name says";
		err = -EINVAL;
	}
	if (!err && from)
		err = baleen_set_decode(bytes, n_bytes, from, to, &why);
	free(bytes);
	if (err)
		return complain("%s: %s", path, err == -ENOMEM ? strerror(ENOMEM) : why);
	verify->n_checked++;
	return 0;
}

/* Without the earlier set only its bytes can be looked at. */
static int check_delta(struct verify *verify, const struct baleen_set_part *part)
{
	char name[BALEEN_SET_FILE_NAME], path[PATH_MAX];
	struct baleen_canon from, to;
	struct baleen_set_head head;
	int err;

	baleen_set_part_name(verify->manifest.name, part->from, 0, name);
	snprintf(path, sizeof(path), "%s%s", verify->base, name);
	if (baleen_set_file_read(path, &head, &from, NULL))
		return check_part(verify, part, NULL, NULL);
	err = check_part(verify, part, &from, &to);
	if (!err)
		baleen_canon_free(&to);
	baleen_canon_free(&from);
	return err;
}

static int check_source(struct verify *verify)
{
	const struct baleen_set_manifest *manifest = &verify->manifest;
	char name[BALEEN_SET_FILE_NAME], path[PATH_MAX], *bytes;
	size_t n_bytes;

	if (!manifest->source.n_bytes)
		return 0;
	baleen_set_file_name(manifest->name, manifest->head.generation, "source", name);
	if (read_signed(verify, name, &manifest->source, path, &bytes, &n_bytes))
		return EXIT_FAILED;
	free(bytes);
	verify->n_checked++;
	return 0;
}

static int check_files(struct verify *verify)
{
	struct baleen_canon none;
	int err;

	baleen_canon_start(&none);
	err = check_part(verify, &verify->manifest.full, &none, &verify->full);
	if (err)
		return err;
	baleen_canon_free(&verify->full);
	for (u32 i = 0; i < verify->manifest.n_deltas && !err; i++)
		err = check_delta(verify, &verify->manifest.delta[i]);
	return err ? err : check_source(verify);
}

static int report(const struct verify *verify)
{
	const struct baleen_set_head *head = &verify->manifest.head;
	char entries[NUMBER_TEXT];

	if (verify->json)
		return print_json(describe_generation(verify->manifest.name, head));
	say("%s: generation %llu, %s %s, digest %s; %u %s as signed\n", verify->manifest.name,
	    (unsigned long long)head->generation, format_count(head->n_entries, entries),
	    baleen_plural(head->n_entries, "entry", "entries"), digest_text(head->digest).text,
	    verify->n_checked, baleen_plural(verify->n_checked, "file", "files"));
	return finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct verify verify = { .key = NULL };
	const struct baleen_set_head *head = &verify.manifest.head;
	int err = options_parse(&set_verify_command, &verify, &argc, &argv);

	if (err)
		return err;
	if (!verify.key)
		return complain_usage(&set_verify_command, "--key FILE is asked for");
	if (read_manifest(&verify, argv[0]) || check_files(&verify))
		return EXIT_FAILED;
	if (head->expires_s && head->expires_s <= (u64)time(NULL))
		return complain("%s: expired %s", argv[0], baleen_set_time(head->expires_s).text);
	return report(&verify);
}

static const struct option_spec table[] = {
	VALUE("key", 0, "FILE", option_text, verify, key, "the public key"),
	FLAG("json", 'j', verify, json, "an object"),
	{ 0 },
};

const struct command set_verify_command = {
	.name = "set verify",
	.synopsis = "[-j] --key FILE MANIFEST",
	.help = "Checks the signature of a manifest, its end, and the files beside it that it names:\n"
		"each has the bytes that were signed, and makes the set whose digest was signed.\n",
	.options = table,
	.asks = { 1, 1, "one manifest is asked for" },
	.run = run,
};
