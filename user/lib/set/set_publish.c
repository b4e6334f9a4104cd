// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Generations of a set as plain files in a directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "set/set_publish.h"
#include "util/fd.h"
#include "util/lock.h"
#include "util/minisign.h"
#include "util/output.h"
#include "util/small_file.h"

/* Another one compares a dozen generations of ten million entries at the most. */
#define LOCK_MS 600000

/**
 * struct work - a generation that is being published
 * @publish: how
 * @canon: the set
 * @dir: descriptor of the directory
 * @before: manifest of the generation that is there; its generation is 0 when none is
 * @manifest: of the new generation
 * @is_published: hosts see the manifest
 * @error: filled in on failure
 */
struct work {
	const struct baleen_set_publish *publish;
	const struct baleen_canon *canon;
	int dir;
	struct baleen_set_manifest before;
	struct baleen_set_manifest manifest;
	bool is_published;
	struct baleen_error *error;
};

/* Files of a generation, beside those that lead to it. */
static const char *const suffixes[] = { "set", "source", "manifest", "minisig" };

#define N_SUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

/* --- files ---------------------------------------------------------------------- */

static void path_of(const struct work *work, const char *name, char *path)
{
	snprintf(path, PATH_MAX, "%s/%s", work->publish->directory, name);
}

static int write_file(const struct work *work, const char *name, const void *bytes, size_t n_bytes)
{
	char path[PATH_MAX];

	path_of(work, name, path);
	return baleen_output_write(path, BALEEN_OUTPUT_NAMED, 0644, bytes, n_bytes, work->error);
}

int baleen_set_file_read(const char *path, struct baleen_set_head *head, struct baleen_canon *canon,
			 struct baleen_error *error)
{
	struct baleen_canon none;
	const char *why = "";
	size_t n_bytes;
	char *bytes;
	int err = baleen_small_file_read(path, BALEEN_INPUT_NAMED, BALEEN_SET_FILE_MAX, &bytes,
					 &n_bytes, NULL, error);

	if (err)
		return err;
	baleen_canon_start(&none);
	err = baleen_set_head_read(bytes, n_bytes, head, &why);
	if (!err && head->from) {
		why = "is a difference, not a full set";
		err = -EINVAL;
	}
	if (!err)
		err = baleen_set_decode(bytes, n_bytes, &none, canon, &why);
	free(bytes);
	if (err == -ENOMEM)
		return baleen_no_memory(error);
	return err ? baleen_fail(error, EINVAL, "%s: %s", path, why) : 0;
}

/* --- the generation before ------------------------------------------------------- */

static int find_previous(struct work *work)
{
	char name[BALEEN_SET_FILE_NAME], path[PATH_MAX], *text;
	size_t n_bytes;
	int err;

	snprintf(name, sizeof(name), "%s.manifest", work->publish->name);
	path_of(work, name, path);
	if (access(path, F_OK) && errno == ENOENT)
		return 0;
	err = baleen_small_file_read(path, BALEEN_INPUT_NAMED, BALEEN_SET_MANIFEST_BYTES, &text,
				     &n_bytes, NULL, work->error);
	if (err)
		return err;
	err = baleen_set_manifest_parse(text, n_bytes, &work->before);
	free(text);
	/* Another generation 1 would be refused by every host that has a later one. */
	if (err || strcmp(work->before.name, work->publish->name))
		return baleen_fail(work->error, EINVAL, "%s: not a manifest of '%s'", path,
				   work->publish->name);
	work->manifest.previous = work->before.head.generation;
	return 0;
}

static int choose_generation(struct work *work)
{
	u64 previous = work->manifest.previous, wanted = work->publish->generation;

	if (wanted && wanted <= previous)
		return baleen_fail(work->error, EEXIST, "%s: generation %llu is published already",
				   work->publish->name, (unsigned long long)previous);
	work->manifest.head.generation = wanted ? wanted : previous + 1;
	return 0;
}

/* --- the new one ------------------------------------------------------------------ */

static int write_part(struct work *work, const struct baleen_canon *from,
		      struct baleen_set_part *part)
{
	struct baleen_set_head head = work->manifest.head;
	char name[BALEEN_SET_FILE_NAME];
	size_t n_bytes;
	u8 *bytes;
	int err;

	head.from = part->from;
	err = baleen_set_encode(from, work->canon, &head, &bytes, &n_bytes);
	if (err)
		return baleen_no_memory(work->error);
	baleen_set_part_describe(part, bytes, n_bytes);
	baleen_set_part_name(work->publish->name, head.generation, part->from, name);
	err = write_file(work, name, bytes, n_bytes);
	free(bytes);
	return err;
}

static int write_full(struct work *work)
{
	struct baleen_canon none;

	baleen_canon_start(&none);
	return write_part(work, &none, &work->manifest.full);
}

/* A generation whose set is gone or damaged has no difference: hosts take the full set. */
static int write_delta(struct work *work, u64 from)
{
	struct baleen_set_part *part = &work->manifest.delta[work->manifest.n_deltas];
	char name[BALEEN_SET_FILE_NAME], path[PATH_MAX];
	struct baleen_set_head head;
	struct baleen_canon earlier;
	int err;

	baleen_set_part_name(work->publish->name, from, 0, name);
	path_of(work, name, path);
	err = baleen_set_file_read(path, &head, &earlier, work->error);
	if (err == -ENOMEM)
		return err;
	if (err || head.generation != from) {
		if (!err)
			baleen_canon_free(&earlier);
		return 0;
	}
	part->from = from;
	err = write_part(work, &earlier, part);
	baleen_canon_free(&earlier);
	/* One that is larger than the full set is nobody's. */
	if (!err && part->n_bytes < work->manifest.full.n_bytes)
		work->manifest.n_deltas++;
	return err;
}

static int write_deltas(struct work *work)
{
	u64 previous = work->manifest.previous;
	int err = 0;

	for (u32 i = 0; i < work->publish->n_deltas && i < previous && !err; i++)
		err = write_delta(work, previous - i);
	return err;
}

/* Hosts ask for it when somebody asks them why. */
static int write_source(struct work *work)
{
	const struct baleen_set_publish *publish = work->publish;
	char name[BALEEN_SET_FILE_NAME];

	if (!publish->n_source)
		return 0;
	baleen_set_part_describe(&work->manifest.source, publish->source, publish->n_source);
	baleen_set_file_name(publish->name, work->manifest.head.generation, "source", name);
	return write_file(work, name, publish->source, publish->n_source);
}

/* The rename of the manifest is the switch; hosts look for NAME-GEN.minisig. */
static int write_manifest(struct work *work)
{
	char text[BALEEN_SET_MANIFEST_BYTES], comment[BALEEN_SET_FILE_NAME], *signature;
	size_t n_bytes = baleen_set_manifest_format(&work->manifest, text);
	const char *name = work->publish->name;
	u64 generation = work->manifest.head.generation;
	char file[BALEEN_SET_FILE_NAME];
	int err;

	snprintf(comment, sizeof(comment), "baleen set %s generation %llu", name,
		 (unsigned long long)generation);
	err = baleen_minisign_sign(work->publish->key, text, n_bytes, comment, &signature,
				   work->error);
	if (err)
		return err;
	baleen_set_file_name(name, generation, "minisig", file);
	err = write_file(work, file, signature, strlen(signature));
	baleen_set_file_name(name, generation, "manifest", file);
	if (!err)
		err = write_file(work, file, text, n_bytes);
	snprintf(file, sizeof(file), "%s.manifest", name);
	if (!err)
		err = write_file(work, file, text, n_bytes);
	work->is_published = !err;
	snprintf(file, sizeof(file), "%s.manifest.minisig", name);
	if (!err)
		err = write_file(work, file, signature, strlen(signature));
	free(signature);
	return err;
}

/* A disk that was full has its room back. */
static void discard(const struct work *work)
{
	char name[BALEEN_SET_FILE_NAME];
	u64 generation = work->manifest.head.generation;

	for (u32 i = 0; i < work->publish->n_deltas && i < work->manifest.previous; i++) {
		baleen_set_part_name(work->publish->name, generation, work->manifest.previous - i,
				     name);
		unlinkat(work->dir, name, 0);
	}
	for (u32 i = 0; i < N_SUFFIXES; i++) {
		baleen_set_file_name(work->publish->name, generation, suffixes[i], name);
		unlinkat(work->dir, name, 0);
	}
}

/* --- what nobody asks for any more -------------------------------------------------- */

/* Hosts that have just read the earlier manifest find what it names. */
static bool is_old(const struct work *work, const char *file)
{
	size_t length = strlen(work->publish->name);
	u64 newest = work->manifest.head.generation, keep = work->publish->n_deltas + 1ull;
	unsigned long long a, b;
	int used = 0, at = 0;

	if (strncmp(file, work->publish->name, length) || file[length] != '-')
		return false;
	file += length + 1;
	if (sscanf(file, "%20llu-%20llu.delta%n", &a, &b, &used) == 2 && used && !file[used])
		return b + 1 < newest;
	if (sscanf(file, "%20llu.%n", &a, &at) != 1 || !at)
		return false;
	for (u32 i = 0; i < N_SUFFIXES; i++)
		if (!strcmp(file + at, suffixes[i]))
			return a < newest && newest - a > keep;
	return false;
}

/* Files that stay do no harm. */
static void remove_old(const struct work *work)
{
	int fd = openat(work->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!directory) {
		baleen_close_fd(&fd);
		return;
	}
	while ((entry = readdir(directory)))
		if (is_old(work, entry->d_name))
			unlinkat(work->dir, entry->d_name, 0);
	closedir(directory);
}

/* Another number or end is news to hosts, too. */
static bool is_unchanged(const struct work *work)
{
	const struct baleen_set_head *old = &work->before.head, *new = &work->manifest.head;

	return old->generation && !work->publish->generation && !new->expires_s &&
	       !old->expires_s && !memcmp(old->digest, new->digest, sizeof(new->digest));
}

static void note_overtaken(const struct work *work, struct baleen_set_published *published)
{
	const struct baleen_set_rollout *rollout = &work->before.rollout;
	u64 until_s = baleen_set_ring_due_s(rollout, work->before.head.created_s, rollout->n_rings);

	if (!rollout->n_rings || until_s <= work->publish->now_s)
		return;
	published->overtaken = work->before.head.generation;
	published->overtaken_until_s = until_s;
}

static int publish_next(struct work *work, struct baleen_set_published *published)
{
	int err = choose_generation(work);

	if (!err)
		err = write_full(work);
	if (!err)
		err = write_deltas(work);
	if (!err)
		err = write_source(work);
	if (!err)
		err = write_manifest(work);
	if (!err) {
		remove_old(work);
		published->manifest = work->manifest;
		note_overtaken(work, published);
	} else if (work->manifest.head.generation && !work->is_published) {
		discard(work);
	}
	return err;
}

int baleen_set_publish(const struct baleen_set_publish *publish, const struct baleen_canon *canon,
		       struct baleen_set_published *published, struct baleen_error *error)
{
	struct work work = { .publish = publish,
			     .canon = canon,
			     .manifest.rollout = publish->rollout,
			     .error = error };
	struct baleen_set_published done = { .is_unchanged = false };
	struct baleen_set_head *head = &work.manifest.head;
	int err;

	work.dir = open(publish->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (work.dir < 0)
		return baleen_fail(error, errno, "%s: %m", publish->directory);
	snprintf(work.manifest.name, sizeof(work.manifest.name), "%s", publish->name);
	head->n_entries = baleen_canon_n(canon);
	head->created_s = publish->now_s;
	head->expires_s = publish->expires_s;
	baleen_canon_digest(canon, head->digest);
	err = baleen_lock_within(work.dir, LOCK_MS);
	if (err)
		err = baleen_fail(error, -err, "%s: %s", publish->directory, strerror(-err));
	else
		err = find_previous(&work);
	if (!err && is_unchanged(&work)) {
		done.manifest = work.before;
		done.is_unchanged = true;
	} else if (!err) {
		err = publish_next(&work, &done);
	}
	close(work.dir);
	if (!err)
		*published = done;
	return err;
}
