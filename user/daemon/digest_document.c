// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The cache digest that is served. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/open/filter_name.h"
#include "cli/open/filter_ref.h"
#include "daemon/digest_document.h"
#include "deploy/icp_follow.h"
#include "icp/icp.h"
#include "util/clock.h"
#include "util/input.h"

/* A copy of a live filter is used for so long, and what was read of a cache. */
#define LIVE_MS 1000
#define SOURCE_MS 20000

/* The current one, and those that readers have not read to the end. */
#define MAX_DOCUMENTS 3

/* Identity of a file; zeros for a missing file and for a live filter. */
struct digest_seen {
	dev_t device;
	ino_t inode;
	off_t n_bytes;
	struct timespec changed;
};

/* --- the filters ------------------------------------------------------------------ */

static bool is_live(const char *path)
{
	char device[IF_NAMESIZE];
	const char *name;

	return split_live(path, device, sizeof(device), &name);
}

/* Prints the same message only once, however often clients ask. */
static int fail(struct digest_maker *maker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(struct digest_maker *maker, const char *format, ...)
{
	char text[sizeof(maker->said)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (strcmp(text, maker->said))
		complain("%s", text);
	memcpy(maker->said, text, sizeof(text));
	return EXIT_FAILED;
}

static int encode(struct digest_maker *maker, const char *path, const struct baleen_filter *filter,
		  struct digest_document *made)
{
	struct baleen_error error;

	if (baleen_digest_encode(filter, &made->bytes, &made->n_bytes, &made->digest, &error))
		return fail(maker, "%s: %s", path, error.text);
	/* Later lists get its geometry, so that the digests can be united. */
	if (!maker->options.build.like) {
		maker->options.like = filter->image;
		maker->options.build.like = &maker->options.like;
	}
	return 0;
}

/* --- of what caches hold ---------------------------------------------------------- */

static int build_set(struct digest_maker *maker, const char *path, struct baleen_squid_set *set,
		     struct digest_document *made)
{
	struct baleen_list list = { 0 };
	struct baleen_filter filter;
	struct baleen_error error;
	int err;

	if (baleen_squid_set_finish(set) || baleen_squid_set_to_list(set, &list))
		return fail(maker, "%s: %s", path, strerror(ENOMEM));
	err = baleen_build(&list, &maker->options.build, &filter, &error);
	baleen_list_free(&list);
	if (err)
		return fail(maker, "%s: %s", path, error.text);
	err = encode(maker, path, &filter, made);
	baleen_filter_free(&filter);
	return err;
}

/* A digest has bits, which no other source adds to. */
static int make_of(struct digest_maker *maker, const char *path,
		   const struct baleen_conf_icp_source *from, struct digest_document *made)
{
	const struct baleen_squid_read read = { .from = from->from };
	struct baleen_squid_set all = { 0 };
	bool is_digest = false;
	int err = 0;

	for (u32 i = 0; i < from->n && !err; i++) {
		struct baleen_squid_source source;
		struct baleen_error error;

		if (baleen_squid_source_read(from->path[i], &read, &source, &error)) {
			err = fail(maker, "%s", error.text);
			break;
		}
		is_digest = source.from == BALEEN_SQUID_FROM_DIGEST;
		if (is_digest && from->n > 1)
			err = fail(maker, "%s: a digest has bits, and others have keys",
				   from->path[i]);
		else if (is_digest)
			err = encode(maker, path, &source.filter, made);
		else if (baleen_squid_set_add(&all, &source.set))
			err = fail(maker, "%s: %s", path, strerror(ENOMEM));
		baleen_squid_source_free(&source);
	}
	if (!err && !is_digest)
		err = build_set(maker, path, &all, made);
	baleen_squid_set_free(&all);
	return err;
}

/* A filter that keeps half of each key makes no digest: what its configuration says of the
 * cache does.
 */
static int make_of_sources(struct digest_maker *maker, const char *path, const char *device,
			   const char *name, const char *why, struct digest_document *made)
{
	struct baleen_conf_icp *icp;
	struct baleen_error error;
	u32 n;
	int err;

	if (baleen_icp_sources(device, name, &icp, &n, &error))
		return fail(maker,
			    "%s: %s; or serve what the cache holds, such as its swap.state: 'icp "
			    "source' of a configuration says where that is",
			    path, why);
	err = make_of(maker, path, &icp->source[n], made);
	baleen_conf_icp_free(icp);
	maker->live_ms = SOURCE_MS;
	return err;
}

/* --- live filters ------------------------------------------------------------------ */

/* Takes the count of entries from the counters: the header has the count at load time. */
static int read_live(const struct baleen_icp *icp, u32 n, struct baleen_filter *filter,
		     struct baleen_error *error)
{
	struct baleen_icp_stats stats;
	int err = baleen_icp_stats(icp, &stats, error);

	if (!err)
		err = baleen_icp_filter(icp, n, filter, error);
	if (!err)
		filter->image.table[BALEEN_TUPLE].n_entries = baleen_icp_entries(icp, n, &stats);
	return err;
}

static int make_live(struct digest_maker *maker, const char *path, struct digest_document *made)
{
	struct baleen_filter filter;
	char device[IF_NAMESIZE];
	struct baleen_error error;
	struct baleen_icp icp;
	const char *name;
	int n, err;

	split_live(path, device, sizeof(device), &name);
	if (baleen_icp_open(&icp, device, false, &error))
		return fail(maker, "%s", error.text);
	n = baleen_icp_sibling(&icp, name);
	if (n < 0) {
		err = fail(maker, "%s: no sibling '%s'", device, name);
	} else if (read_live(&icp, n, &filter, &error)) {
		err = fail(maker, "%s: %s", path, error.text);
	} else {
		bool fits = !baleen_digest_fits(&filter.image, &error);

		err = fits ? encode(maker, path, &filter, made) :
			     make_of_sources(maker, path, device, name, error.text, made);
		baleen_filter_free(&filter);
	}
	baleen_icp_close(&icp);
	return err;
}

/* Is it what a Squid says that it holds? By its first bytes. */
static bool is_source(const char *path)
{
	int fd = baleen_input_open(path, BALEEN_INPUT_NAMED, NULL);
	bool is_one = fd >= 0 && baleen_squid_source_is(fd);

	if (fd >= 0)
		close(fd);
	return is_one;
}

static int make_of_file(struct digest_maker *maker, const char *path, struct digest_document *made)
{
	const struct baleen_conf_icp_source source = { .path = { (char *)path }, .n = 1 };

	return make_of(maker, path, &source, made);
}

static int make_one(struct digest_maker *maker, const char *path, struct digest_document *made)
{
	struct filter_ref ref;
	int err;

	if (is_live(path)) {
		err = make_live(maker, path, made);
		maker->lost_live = err;
		return err;
	}
	if (is_source(path)) {
		maker->lost_file = make_of_file(maker, path, made);
		return maker->lost_file ? EXIT_FAILED : 0;
	}
	err = filter_ref_open(&ref, path, &maker->options);
	if (!err) {
		err = encode(maker, path, &ref.filter, made);
		filter_ref_close(&ref);
	}
	maker->lost_file = err;
	return err;
}

/* --- one over the other ------------------------------------------------------------- */

static int unite(struct digest_maker *maker, int i, struct digest_document *all,
		 const struct digest_document *one)
{
	if (!baleen_digest_unite(all->bytes, all->n_bytes, one->bytes, one->n_bytes, &all->digest))
		return 0;
	maker->lost_live = maker->is_live;
	maker->lost_file = !maker->is_live;
	return fail(maker,
		    "%s: %llu bits, %s has %llu: a key has other bits in each, so there is no "
		    "union of them: build them of one geometry (--like)",
		    maker->paths[i], one->digest.mask_bytes * 8ull, maker->paths[0],
		    all->digest.mask_bytes * 8ull);
}

static void warn_of_share(struct digest_maker *maker, double share)
{
	bool is_full = share > BALEEN_DIGEST_MAX_SHARE;

	if (is_full && !maker->is_full)
		complain(
			"%.0f %% of the bits are set, and Squid takes no digest of more than 65 %%: "
			"make the images with more room",
			100 * share);
	maker->is_full = is_full;
}

static double share_of(const struct digest_document *document)
{
	const u8 *bytes = document->bytes;
	u64 n_set = 0;

	for (size_t i = BALEEN_DIGEST_HEAD_BYTES; i < document->n_bytes; i++)
		n_set += __builtin_popcount(bytes[i]);
	return n_set / (document->digest.mask_bytes * 8.);
}

static int make_all(struct digest_maker *maker, struct digest_document *all)
{
	int err = 0;

	maker->options.build.like = NULL;
	maker->lost_live = maker->lost_file = false;
	maker->live_ms = LIVE_MS;
	for (int i = 0; i < maker->n_paths && !err; i++) {
		struct digest_document one = { 0 };

		err = make_one(maker, maker->paths[i], i ? &one : all);
		if (!err && i)
			err = unite(maker, i, all, &one);
		free(one.bytes);
	}
	if (err)
		return err;
	all->share = share_of(all);
	warn_of_share(maker, all->share);
	maker->said[0] = '\0';
	return 0;
}

/* An unchanged digest keeps its time, so that caches do not fetch it again. */
static void replace(struct digest_maker *maker, struct digest_document *made)
{
	struct digest_document *old = maker->now;

	if (old && old->n_bytes == made->n_bytes &&
	    !memcmp(old->bytes, made->bytes, made->n_bytes)) {
		digest_document_put(made);
		return;
	}
	made->modified_s = time(NULL);
	if (old && made->modified_s <= old->modified_s)
		made->modified_s = old->modified_s + 1;
	maker->now = made;
	digest_document_put(old);
}

static int make(struct digest_maker *maker)
{
	struct digest_document *made = calloc(1, sizeof(*made));

	if (!made) {
		complain("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	made->n_users = 1;
	made->maker = maker;
	maker->n_documents++;
	maker->read_at_ms = baleen_monotonic_ms();
	if (make_all(maker, made)) {
		digest_document_put(made);
		return EXIT_FAILED;
	}
	replace(maker, made);
	return 0;
}

/* --- anew --------------------------------------------------------------------------- */

static void look(const char *path, struct digest_seen *seen)
{
	struct stat there;

	memset(seen, 0, sizeof(*seen));
	if (is_live(path) || stat(path, &there))
		return;
	seen->device = there.st_dev;
	seen->inode = there.st_ino;
	seen->n_bytes = there.st_size;
	seen->changed = there.st_mtim;
}

/* Call this before reading, so that a change during the read is noticed next time. */
static bool has_changed(struct digest_maker *maker)
{
	bool changed = false;

	for (int i = 0; i < maker->n_paths; i++) {
		struct digest_seen seen;

		look(maker->paths[i], &seen);
		changed = changed || memcmp(&seen, &maker->seen[i], sizeof(seen));
		maker->seen[i] = seen;
	}
	return changed;
}

static int check_paths(struct digest_maker *maker)
{
	for (int i = 0; i < maker->n_paths; i++) {
		const char *path = maker->paths[i];
		struct stat there;

		maker->is_live = maker->is_live || is_live(path);
		if (is_live(path) || stat(path, &there) || S_ISREG(there.st_mode))
			continue;
		complain("%s: not a regular file, so it cannot be read again when it changes",
			 path);
		return EXIT_FAILED;
	}
	return 0;
}

int digest_maker_start(struct digest_maker *maker)
{
	if (check_paths(maker))
		return EXIT_FAILED;
	maker->seen = calloc(maker->n_paths, sizeof(*maker->seen));
	if (!maker->seen) {
		complain("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	has_changed(maker);
	return make(maker);
}

/* One that nobody reads makes way for the next. */
static bool may_make(const struct digest_maker *maker)
{
	return maker->n_documents < MAX_DOCUMENTS || maker->now->n_users == 1;
}

struct digest_document *digest_maker_collect(struct digest_maker *maker)
{
	bool is_old = maker->is_live && baleen_monotonic_ms() - maker->read_at_ms >= maker->live_ms;

	if (may_make(maker) && (has_changed(maker) || (is_old && !maker->lost_file))) {
		make(maker);
		if (maker->lost_file)
			complain("the digest of before is served on");
	}
	if (maker->lost_live)
		return NULL;
	maker->now->n_users++;
	return maker->now;
}

void digest_document_put(struct digest_document *document)
{
	if (!document || --document->n_users)
		return;
	document->maker->n_documents--;
	free(document->bytes);
	free(document);
}

void digest_maker_stop(struct digest_maker *maker)
{
	digest_document_put(maker->now);
	free(maker->seen);
}
