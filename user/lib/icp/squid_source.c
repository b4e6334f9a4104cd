// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the content of a Squid cache from its reports. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "icp/squid_source.h"
#include "util/fd.h"
#include "util/fetch.h"
#include "util/input.h"
#include "util/number.h"
#include "util/unpack.h"
#include "util/url.h"

/* Largest log or list that is fetched: a store of 100 million objects. */
#define MAX_BYTES (64ull << 30)

/* A list of hundreds of megabytes takes its time, and silence ends it sooner. */
#define TIMEOUT_MS 600000

/* Bytes in which a line of store.log is looked for. */
#define START_BYTES 65536

/* Largest digest: its head and fewer than 2^31 bits. */
#define MAX_DIGEST_BYTES (BALEEN_DIGEST_HEAD_BYTES + (1ull << 28))

typedef unsigned long long ull;

static const struct {
	const char *name;
	const char *path;
	const char *what;
} sources[BALEEN_SQUID_N_FROM] = {
	[BALEEN_SQUID_FROM_ANY] = { "any", NULL, NULL },
	[BALEEN_SQUID_FROM_DIGEST] = { "digest", "/squid-internal-periodic/store_digest",
				       "a cache digest" },
	[BALEEN_SQUID_FROM_LOG] = { "log", NULL, "store.log" },
	[BALEEN_SQUID_FROM_OBJECTS] = { "objects", "/squid-internal-mgr/objects",
					"Squid's list of objects" },
	[BALEEN_SQUID_FROM_SWAP] = { "swap", NULL, "swap.state" },
};

const char *baleen_squid_from_name(enum baleen_squid_from from)
{
	return sources[from].name;
}

int baleen_squid_from_parse(const char *name, enum baleen_squid_from *from)
{
	for (u32 i = BALEEN_SQUID_FROM_DIGEST; i < BALEEN_SQUID_N_FROM; i++) {
		if (!strcmp(name, sources[i].name)) {
			*from = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* --- bytes ------------------------------------------------------------------ */

/* A file without a name, so that nobody has to remove it. */
static int open_spool(struct baleen_error *error)
{
	const char *directory = getenv("TMPDIR") ?: "/tmp";
	char path[4096];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof(path), "%s/baleen.XXXXXX", directory) >= (int)sizeof(path))
		return baleen_fail(error, ENAMETOOLONG, "%s: %s", directory,
				   strerror(ENAMETOOLONG));
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return baleen_fail(error, errno, "%s: no temporary file: %m", directory);
	unlink(path);
	return fd;
}

static const char *path_of(const char *url)
{
	return strpbrk(strstr(url, "://") + 3, "/?#");
}

/* With the path that Squid has, where there is none. */
static int complete_url(const char *url, enum baleen_squid_from from, char **whole,
			struct baleen_error *error)
{
	const char *path = path_of(url), *end = path ?: url + strlen(url);
	int n;

	if (path && strcmp(path, "/")) {
		*whole = strdup(url);
		return *whole ? 0 : baleen_fail(error, ENOMEM, "no memory");
	}
	if (!sources[from].path)
		return baleen_fail(error, EINVAL,
				   "%s: a URL without a path: --from digest or --from objects "
				   "says which one Squid has for it",
				   baleen_url_name(url).text);
	n = asprintf(whole, "%.*s%s", (int)(end - url), url, sources[from].path);
	return n < 0 ? baleen_fail(error, ENOMEM, "no memory") : 0;
}

/* Squid's own reason not to come to an end is worth a word. */
static int explain_stall(int err, enum baleen_squid_from from, struct baleen_error *error)
{
	size_t length = error ? strlen(error->text) : 0;

	if (error && err == -ETIMEDOUT && from == BALEEN_SQUID_FROM_OBJECTS)
		snprintf(error->text + length, sizeof(error->text) - length,
			 "; Squid 5.7 stops in a list of more than 16 KB: read swap.state of its "
			 "cache_dir");
	return err;
}

static bool is_objects_url(const char *url)
{
	const char *path = path_of(url);

	return path && strstr(path, "objects");
}

static int fetch_source(const char *url, const struct baleen_squid_read *read, int *fd,
			struct baleen_error *error)
{
	struct baleen_fetch_request request;
	struct baleen_fetch_result result;
	enum baleen_squid_from from = read->from;
	char *whole = NULL;
	int spool, err = complete_url(url, from, &whole, error);

	if (err)
		return err;
	spool = open_spool(error);
	if (spool < 0) {
		free(whole);
		return spool;
	}
	if (from == BALEEN_SQUID_FROM_ANY && is_objects_url(whole))
		from = BALEEN_SQUID_FROM_OBJECTS;
	request = baleen_fetch_defaults(whole, spool);
	request.timeout_ms = read->timeout_ms ?: TIMEOUT_MS;
	request.max_bytes = from == BALEEN_SQUID_FROM_DIGEST ? MAX_DIGEST_BYTES : MAX_BYTES;
	request.n_retries = read->n_retries;
	/* Caches are inside, and whoever types a URL says which. */
	request.may_be_private = true;
	request.on_progress = read->on_progress;
	request.data = read->data;
	err = explain_stall(baleen_fetch(&request, &result, error), from, error);
	free(whole);
	if (err)
		close(spool);
	else
		*fd = spool;
	return err;
}

/* Copies a pipe to a file: the start of the data tells its type and is read again. */
static int spool_pipe(int pipe, const char *name, int *fd, struct baleen_error *error)
{
	int spool = open_spool(error);
	char bytes[65536];
	ssize_t n, at;

	if (spool < 0)
		return spool;
	while ((n = read(pipe, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR)) {
		for (at = 0; at < n;) {
			ssize_t done = write(spool, bytes + at, n - at);

			if (done < 0 && errno != EINTR)
				goto fail;
			at += done > 0 ? done : 0;
		}
	}
	if (n < 0)
		goto fail;
	*fd = spool;
	return 0;
fail:
	n = errno;
	close(spool);
	return baleen_fail(error, n, "%s: %s", name, strerror(n));
}

static int open_file(const char *path, const char *name, int *fd, struct baleen_error *error)
{
	int packed = strcmp(path, "-") ? baleen_input_open(path, BALEEN_INPUT_TYPED, error) :
					 dup(STDIN_FILENO);
	int plain, err = 0;
	struct stat stat;

	if (packed < 0 && strcmp(path, "-"))
		return packed;
	if (packed < 0 || fstat(packed, &stat))
		err = baleen_fail(error, errno, "%s: %m", name);
	else if (S_ISDIR(stat.st_mode))
		err = baleen_fail(error, EISDIR, "%s: %s", name, strerror(EISDIR));
	else if (!S_ISREG(stat.st_mode) && !(err = spool_pipe(packed, name, &plain, error)))
		err = dup3(plain, packed, O_CLOEXEC) < 0 || close(plain) ?
			      baleen_fail(error, errno, "%s: %m", name) :
			      0;
	if (!err)
		err = baleen_unpack(packed, name, BALEEN_UNPACK_MAX_BYTES, fd, error);
	baleen_close_fd(&packed);
	return err;
}

/* --- what it is -------------------------------------------------------------- */

static bool has_store_line(const char *bytes, size_t n_bytes)
{
	const char *end = bytes + n_bytes, *next;
	u64 hi, lo;

	for (; bytes < end; bytes = next + 1) {
		next = memchr(bytes, '\n', end - bytes) ?: end;
		if (next - bytes >= BALEEN_STORE_LINE_BYTES &&
		    baleen_store_parse((const u8 *)bytes, &hi, &lo) != BALEEN_STORE_BAD)
			return true;
	}
	return false;
}

static bool starts_with(const char *bytes, size_t n_bytes, const char *start)
{
	return n_bytes >= strlen(start) && !memcmp(bytes, start, strlen(start));
}

static int detect(int fd, const char *name, enum baleen_squid_from *from,
		  struct baleen_error *error)
{
	char *bytes = malloc(START_BYTES);
	ssize_t n = bytes ? pread(fd, bytes, START_BYTES, 0) : -1;
	int err = 0;

	if (n < 0)
		err = baleen_fail(error, bytes ? errno : ENOMEM, "%s: %m", name);
	else if (baleen_digest_is(bytes, n))
		*from = BALEEN_SQUID_FROM_DIGEST;
	else if (baleen_swap_state_is(bytes, n))
		*from = BALEEN_SQUID_FROM_SWAP;
	else if (starts_with(bytes, n, "KEY ") || starts_with(bytes, n, "by kid"))
		*from = BALEEN_SQUID_FROM_OBJECTS;
	else if (has_store_line(bytes, n))
		*from = BALEEN_SQUID_FROM_LOG;
	else if (!n)
		err = baleen_fail(error, EINVAL,
				  "%s: empty: it may be the log of an empty cache, which --from "
				  "log says",
				  name);
	else
		err = baleen_fail(error, EINVAL,
				  "%s: neither swap.state, nor a cache digest, nor store.log, nor "
				  "Squid's list of objects",
				  name);
	free(bytes);
	return err;
}

/* --- reading ----------------------------------------------------------------- */

bool baleen_squid_source_is(int fd)
{
	enum baleen_squid_from from = BALEEN_SQUID_FROM_ANY;

	return !detect(fd, "", &from, NULL);
}

static int read_digest(int fd, const char *name, struct baleen_squid_source *source,
		       struct baleen_error *error)
{
	struct baleen_error why;
	struct stat stat;
	ssize_t n = -1;
	void *bytes;
	int err;

	if (fstat(fd, &stat))
		return baleen_fail(error, errno, "%s: %m", name);
	if ((u64)stat.st_size > MAX_DIGEST_BYTES)
		return baleen_fail(error, EINVAL,
				   "%s: no cache digest: larger than Squid can make one", name);
	bytes = malloc(stat.st_size + 1);
	if (bytes)
		n = pread(fd, bytes, stat.st_size, 0);
	if (n < 0) {
		err = baleen_fail(error, bytes ? errno : ENOMEM, "%s: %m", name);
	} else {
		err = baleen_digest_decode(bytes, n, &source->filter, &source->digest, &why);
		if (err)
			baleen_fail(error, -err, "%s: %s", name, why.text);
	}
	free(bytes);
	return err;
}

static int read_log(int fd, const char *name, struct baleen_squid_source *source,
		    struct baleen_error *error)
{
	const struct baleen_store_log *log = &source->log;
	int err = baleen_store_log_read(fd, &source->set, &source->log);

	if (err)
		return baleen_fail(error, -err, "%s: %s", name, strerror(-err));
	if (log->n_bad && !log->n_inserts && !log->n_deletes && !log->n_others)
		return baleen_fail(error, EINVAL, "%s:%llu: no line of store.log, nor any other",
				   name, (ull)log->first_bad);
	return 0;
}

static int read_objects(int fd, const char *name, struct baleen_squid_source *source,
			struct baleen_error *error)
{
	const char *reason = NULL;
	u64 line = 0;
	int err = baleen_squid_objects_read(fd, &source->set, &source->objects, &reason, &line);

	if (err == -EINVAL)
		return baleen_fail(error, EINVAL, "%s:%llu: %s", name, (ull)line, reason);
	return err ? baleen_fail(error, -err, "%s: %s", name, strerror(-err)) : 0;
}

static int read_swap(int fd, const char *name, struct baleen_squid_source *source,
		     struct baleen_error *error)
{
	const char *reason = NULL;
	u64 record = 0;
	int err = baleen_swap_state_read(fd, &source->set, &source->swap, &reason, &record);

	if (err == -EINVAL)
		return baleen_fail(error, EINVAL, "%s: record %llu: %s", name, (ull)record, reason);
	return err ? baleen_fail(error, -err, "%s: %s", name, strerror(-err)) : 0;
}

static int read_open(int fd, const char *name, struct baleen_squid_source *source,
		     struct baleen_error *error)
{
	int err = 0;

	if (source->from == BALEEN_SQUID_FROM_ANY)
		err = detect(fd, name, &source->from, error);
	if (!err && lseek(fd, 0, SEEK_SET))
		err = baleen_fail(error, errno, "%s: %m", name);
	if (err)
		return err;
	switch (source->from) {
	case BALEEN_SQUID_FROM_DIGEST: err = read_digest(fd, name, source, error); break;
	case BALEEN_SQUID_FROM_LOG: err = read_log(fd, name, source, error); break;
	case BALEEN_SQUID_FROM_SWAP: err = read_swap(fd, name, source, error); break;
	default: err = read_objects(fd, name, source, error);
	}
	if (!err && baleen_squid_set_finish(&source->set))
		err = baleen_fail(error, ENOMEM, "%s: no memory for its objects", name);
	return err;
}

int baleen_squid_source_read(const char *text, const struct baleen_squid_read *read,
			     struct baleen_squid_source *source, struct baleen_error *error)
{
	static const struct baleen_squid_read usual = { 0 };
	struct baleen_squid_source made = { 0 };
	bool is_url = baleen_url_is(text);
	const struct baleen_url_name shown = baleen_url_name(text);
	const char *name = strcmp(text, "-") ? text : "standard input";
	int fd, err;

	if (!read)
		read = &usual;
	made.from = read->from;
	if (is_url)
		name = shown.text;
	err = is_url ? fetch_source(text, read, &fd, error) : open_file(text, name, &fd, error);
	if (err)
		return err;
	err = read_open(fd, name, &made, error);
	close(fd);
	if (err)
		baleen_squid_source_free(&made);
	else
		*source = made;
	return err;
}

/* --- for people -------------------------------------------------------------- */

static void describe_log(const struct baleen_squid_source *source, char *text)
{
	const struct baleen_store_log *log = &source->log;
	int n = snprintf(text, BALEEN_SQUID_SOURCE_TEXT, "%zu %s of store.log, %llu in, %llu out",
			 source->set.n, baleen_plural(source->set.n, "object", "objects"),
			 (ull)log->n_inserts, (ull)log->n_deletes);

	if (log->n_bad && n < BALEEN_SQUID_SOURCE_TEXT)
		snprintf(text + n, BALEEN_SQUID_SOURCE_TEXT - n,
			 "; %llu %s skipped, the first is line %llu%s", (ull)log->n_bad,
			 baleen_plural(log->n_bad, "line", "lines"), (ull)log->first_bad,
			 log->is_torn ? ", the last one is cut off" : "");
}

const char *baleen_squid_source_text(const struct baleen_squid_source *source, char *text)
{
	switch (source->from) {
	case BALEEN_SQUID_FROM_DIGEST:
		snprintf(text, BALEEN_SQUID_SOURCE_TEXT,
			 "a cache digest of %u %s in %llu bits, %.1f %% of them set",
			 source->digest.count,
			 baleen_plural(source->digest.count, "object", "objects"),
			 (ull)source->digest.mask_bytes * 8,
			 100 * baleen_digest_share(&source->filter));
		break;
	case BALEEN_SQUID_FROM_LOG: describe_log(source, text); break;
	case BALEEN_SQUID_FROM_SWAP:
		snprintf(text, BALEEN_SQUID_SOURCE_TEXT,
			 "%zu %s of swap.state, %llu in, %llu out%s", source->set.n,
			 baleen_plural(source->set.n, "object", "objects"),
			 (ull)source->swap.n_added, (ull)source->swap.n_deleted,
			 source->swap.is_torn ? "; its last record is cut off" : "");
		break;
	default:
		snprintf(text, BALEEN_SQUID_SOURCE_TEXT, "%zu %s of %s, of %llu %s", source->set.n,
			 baleen_plural(source->set.n, "object", "objects"),
			 sources[source->from].what, (ull)source->objects.n_entries,
			 baleen_plural(source->objects.n_entries, "entry", "entries"));
	}
	return text;
}

void baleen_squid_source_free(struct baleen_squid_source *source)
{
	baleen_squid_set_free(&source->set);
	baleen_filter_free(&source->filter);
	*source = (struct baleen_squid_source){ 0 };
}
