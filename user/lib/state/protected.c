// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses that a rule is not to drop. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "list/special.h"
#include "net/device.h"
#include "state/never_names.h"
#include "state/protected.h"
#include "util/input.h"

/* A never-drop list is written by hand. */
#define MAX_NEVER_BYTES (16u << 20)

#define CONF_ROOT "/etc/baleen" /* BALEEN_CONF_DIR in the environment */
#define DEFAULT_NEVER "never.list"

/* Named texts of the state, by role; those of names are put together, that of nobody is ours. */
static const char *const text_name[BALEEN_N_WITHHELD] = {
	[BALEEN_PROTECTED_NEVER] = "never",
	[BALEEN_PROTECTED_HOST] = "host",
	[BALEEN_PROTECTED_PEER] = "peers",
};

/* In messages. */
static const char *const list_name[BALEEN_N_WITHHELD] = {
	[BALEEN_PROTECTED_NEVER] = "never-drop list",
	[BALEEN_PROTECTED_NAME] = "addresses of never-names",
	[BALEEN_PROTECTED_HOST] = "addresses of this host",
	[BALEEN_PROTECTED_PEER] = "peers of this host",
	[BALEEN_PROTECTED_NOBODY] = "addresses of nobody",
};

bool baleen_protected_applies(const struct baleen_stored_rule *rule)
{
	return rule->action == BALEEN_ACTION_DROP && baleen_spec_is_address(rule->key_spec);
}

bool baleen_protected_of_feeds(const struct baleen_stored_rule *rule,
			       enum baleen_protected_role role)
{
	return baleen_protected_applies(rule) &&
	       (role == BALEEN_PROTECTED_NOBODY ?
			!rule->is_any :
			rule->guards_feeds || role == BALEEN_PROTECTED_NEVER ||
				role == BALEEN_PROTECTED_NAME);
}

bool baleen_protected_of_entry(const struct baleen_stored_rule *rule, u32 yields,
			       enum baleen_protected_role role)
{
	if (!baleen_protected_applies(rule))
		return false;
	switch (role) {
	case BALEEN_PROTECTED_NEVER:
	case BALEEN_PROTECTED_NAME: return true;
	case BALEEN_PROTECTED_NOBODY: return !rule->is_any;
	case BALEEN_PROTECTED_HOST: return rule->guards_feeds || yields & BALEEN_YIELDS_HOST;
	case BALEEN_PROTECTED_PEER: return yields & BALEEN_YIELDS_PEERS;
	default: return false;
	}
}

bool baleen_rule_removes_special(const struct baleen_stored_rule *rule)
{
	return (rule->action == BALEEN_ACTION_DROP || rule->trial_of) &&
	       !rule->limits.keep_special && baleen_spec_is_address(rule->key_spec);
}

/* --- the never-drop list --------------------------------------------------- */

static bool is_default_never(const char *path)
{
	const char *root = getenv("BALEEN_CONF_DIR");
	char expected[BALEEN_RULE_STORE_PATH_BYTES];

	snprintf(expected, sizeof(expected), "%s/" DEFAULT_NEVER, root ? root : CONF_ROOT);
	return !strcmp(path, expected);
}

/* Return: -EINVAL when there is a NUL byte in it, as in no text. */
static int read_whole(int fd, size_t n_bytes, char **text)
{
	char *bytes = malloc(n_bytes + 1);
	size_t done = 0;
	ssize_t n = 1;

	if (!bytes)
		return -ENOMEM;
	while (done < n_bytes && n > 0) {
		n = read(fd, bytes + done, n_bytes - done);
		done += n > 0 ? n : 0;
	}
	if (n < 0) {
		free(bytes);
		return -errno;
	}
	bytes[done] = '\0';
	if (strlen(bytes) != done) {
		free(bytes);
		return -EINVAL;
	}
	*text = bytes;
	return 0;
}

/* @text: NULL when there is no list */
static int read_never(const char *path, char **text, struct baleen_error *error)
{
	struct stat stat;
	int fd, err;

	*text = NULL;
	if (!path[0])
		return 0;
	fd = baleen_input_open(path, BALEEN_INPUT_NAMED, error);
	if (fd == -ENOENT && is_default_never(path))
		return 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &stat))
		err = baleen_fail(error, errno, "%.600s: %m", path);
	else if (stat.st_size > MAX_NEVER_BYTES)
		err = baleen_fail(error, EINVAL, "%.600s: too long for a never-drop list", path);
	else if ((err = read_whole(fd, stat.st_size, text)))
		baleen_fail(error, -err, "%.600s: %s", path,
			    err == -EINVAL ? "a NUL byte: not a list" : strerror(-err));
	close(fd);
	return err;
}

int baleen_protected_read_never(const char *path, struct baleen_list *never,
				struct baleen_error *error)
{
	char *text;
	int err = read_never(path, &text, error);

	if (!err)
		err = baleen_list_from_text(text, path, BALEEN_KEY_SRC, never, error);
	free(text);
	return err;
}

#define STAMP "never stamp"
#define STAMP_BYTES 96

/* Which file it was, and when it was written: one that was put in its place is another. */
static void stamp_never(const char *path, char stamp[static STAMP_BYTES])
{
	struct stat file;

	if (!*path || stat(path, &file))
		snprintf(stamp, STAMP_BYTES, "none");
	else
		snprintf(stamp, STAMP_BYTES, "%llu %lld %lld.%09ld",
			 (unsigned long long)file.st_ino, (long long)file.st_size,
			 (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

bool baleen_protected_never_is_stale(const struct baleen_rule_store *state, const char *path)
{
	char now[STAMP_BYTES], *last = NULL;
	bool is_stale;

	stamp_never(path, now);
	is_stale = baleen_rule_store_get_text(state, STAMP, &last) || !last || strcmp(now, last);
	free(last);
	return is_stale;
}

int baleen_protected_refresh_never(struct baleen_rule_store *state, const char *path,
				   struct baleen_error *error)
{
	char stamp[STAMP_BYTES], *text = NULL;
	struct baleen_list list = { 0 };
	int err;

	/* Bytes that are written meanwhile make it another one. */
	stamp_never(path, stamp);
	err = read_never(path, &text, error);
	if (!err)
		err = baleen_list_from_text(text, path, BALEEN_KEY_SRC, &list, error);
	if (!err)
		err = baleen_rule_store_set_text(state, text_name[BALEEN_PROTECTED_NEVER], text,
						 error);
	if (!err)
		err = baleen_rule_store_set_text(state, STAMP, stamp, error);
	baleen_list_free(&list);
	free(text);
	return err;
}

int baleen_protected_never_differs(const struct baleen_rule_store *state, const char *path,
				   struct baleen_error *error)
{
	char *now = NULL, *last = NULL;
	int ret = read_never(path, &now, error);

	if (!ret &&
	    (ret = baleen_rule_store_get_text(state, text_name[BALEEN_PROTECTED_NEVER], &last)))
		baleen_fail(error, -ret, "%s: %s", state->path, strerror(-ret));
	if (!ret)
		ret = !now != !last || (now && strcmp(now, last));
	free(now);
	free(last);
	return ret;
}

/* --- this host ------------------------------------------------------------- */

/* Lists of a host's addresses, each with its role behind it. */
struct host_texts {
	char *host;
	char *peers;
};

static void write_host(FILE *stream, const struct baleen_host_address *address)
{
	char text[BALEEN_KEY_TEXT];

	baleen_key_format(&address->key, BALEEN_KEY_SRC, text);
	fprintf(stream, "%s %s\n", text, baleen_host_role_text(address->role));
}

static int write_texts(struct baleen_host *survey, enum baleen_session_guard guard,
		       struct host_texts *texts)
{
	const struct baleen_host_address *address = survey->address;
	const struct baleen_key *last = NULL;
	size_t ignored;
	FILE *host = open_memstream(&texts->host, &ignored);
	FILE *peers = open_memstream(&texts->peers, &ignored);
	bool is_bad = !host || !peers;

	for (size_t i = 0; i < survey->n && !is_bad; i++) {
		bool is_peer = address[i].role == BALEEN_HOST_PEER;

		/* Sessions of one peer come one after the other. */
		if (is_peer && last && !baleen_key_compare(last, &address[i].key))
			continue;
		if (!baleen_host_guards(survey, guard, &address[i]))
			continue;
		last = is_peer ? &address[i].key : NULL;
		write_host(is_peer ? peers : host, &address[i]);
	}
	is_bad |= host && fclose(host);
	is_bad |= peers && fclose(peers);
	return is_bad ? -ENOMEM : 0;
}

static void free_texts(struct host_texts *texts)
{
	free(texts->host);
	free(texts->peers);
}

/* Return: -ENODEV when there is no such device now. */
static int find_host(const struct baleen_rule_store *state, enum baleen_session_guard guard,
		     struct baleen_host *host, struct host_texts *texts, struct baleen_error *error)
{
	struct host_texts made = { 0 };
	int ifindex = state->is.ifindex ?: baleen_device_index(state->now), err;

	if (!ifindex)
		return baleen_fail(error, ENODEV, "%s: no such device", state->now);
	err = baleen_host_survey(host, ifindex, error);
	if (!err && write_texts(host, guard, &made))
		err = baleen_fail(error, ENOMEM, "no memory for the addresses of this host");
	if (err)
		free_texts(&made);
	else
		*texts = made;
	return err;
}

static int refresh_host(struct baleen_rule_store *state, enum baleen_session_guard guard,
			struct baleen_error *error)
{
	struct baleen_host host = { 0 };
	struct host_texts texts;
	int err = find_host(state, guard, &host, &texts, error);

	baleen_host_free(&host);
	if (err)
		return err == -ENODEV ? 0 : err;
	err = baleen_rule_store_set_text(state, text_name[BALEEN_PROTECTED_HOST], texts.host,
					 error);
	if (!err)
		err = baleen_rule_store_set_text(state, text_name[BALEEN_PROTECTED_PEER],
						 texts.peers, error);
	free_texts(&texts);
	return err;
}

int baleen_protected_refresh(struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_stored_rules *rules = malloc(sizeof(*rules));
	int err;

	if (!rules)
		return baleen_no_memory(error);
	err = baleen_rule_store_get_rules(state, rules, error);
	if (!err)
		err = baleen_protected_refresh_never(state, rules->never_path, error);
	if (!err)
		err = refresh_host(state, rules->guard_sessions, error);
	free(rules);
	return err;
}

/* --- what is withheld ------------------------------------------------------ */

static int make_sets(struct baleen_protected_set *set, struct baleen_error *error)
{
	int err = 0;

	for (u32 role = 0; role < BALEEN_N_WITHHELD && !err; role++)
		err = baleen_list_from_text(set->text[role], list_name[role], BALEEN_KEY_SRC,
					    &set->set[role], error);
	return err;
}

static int get_texts(const struct baleen_rule_store *state, struct baleen_protected_set *set,
		     struct baleen_error *error)
{
	for (u32 role = 0; role < BALEEN_N_WITHHELD; role++) {
		int err;

		if (!text_name[role])
			continue;
		err = baleen_rule_store_get_text(state, text_name[role], &set->text[role]);
		if (err)
			return baleen_fail(error, -err, "%s: cannot read its %s: %s", state->path,
					   list_name[role], strerror(-err));
	}
	set->text[BALEEN_PROTECTED_NOBODY] = strdup(baleen_special_nobody);
	if (!set->text[BALEEN_PROTECTED_NOBODY])
		return baleen_no_memory(error);
	return baleen_never_names_text(state, &set->text[BALEEN_PROTECTED_NAME], error);
}

/* Addresses of the last update stay protected: the filter may have been built without them. */
static int add_now(const struct baleen_rule_store *state, enum baleen_session_guard guard,
		   struct baleen_host *host, struct baleen_protected_set *set,
		   struct baleen_error *error)
{
	char *before = set->text[BALEEN_PROTECTED_HOST], *both;
	struct host_texts texts;
	int err = find_host(state, guard, host, &texts, error);

	if (err)
		return err == -ENODEV ? 0 : err;
	free(set->text[BALEEN_PROTECTED_PEER]);
	set->text[BALEEN_PROTECTED_PEER] = texts.peers;
	if (asprintf(&both, "%s%s", texts.host, before ? before : "") < 0)
		err = baleen_fail(error, ENOMEM, "no memory for the addresses of this host");
	else
		set->text[BALEEN_PROTECTED_HOST] = both;
	free(texts.host);
	if (!err)
		free(before);
	return err;
}

/* @host: of now; NULL for what was found at the last update */
static int load(const struct baleen_rule_store *state, enum baleen_session_guard guard,
		struct baleen_host *host, struct baleen_protected_set *set,
		struct baleen_error *error)
{
	struct baleen_protected_set loaded = { 0 };
	int err = get_texts(state, &loaded, error);

	if (!err && host)
		err = add_now(state, guard, host, &loaded, error);
	if (!err)
		err = make_sets(&loaded, error);
	if (err)
		baleen_protected_free(&loaded);
	else
		*set = loaded;
	return err;
}

int baleen_protected_load(const struct baleen_rule_store *state, struct baleen_protected_set *set,
			  struct baleen_error *error)
{
	return load(state, BALEEN_GUARD_NONE, NULL, set, error);
}

int baleen_protected_load_now(const struct baleen_rule_store *state,
			      enum baleen_session_guard guard, struct baleen_host *host,
			      struct baleen_protected_set *set, struct baleen_error *error)
{
	return load(state, guard, host, set, error);
}

void baleen_protected_free(struct baleen_protected_set *set)
{
	for (u32 role = 0; role < BALEEN_N_WITHHELD; role++) {
		free(set->text[role]);
		baleen_list_free(&set->set[role]);
	}
	*set = (struct baleen_protected_set){ 0 };
}

/* The role stands behind the address in its line. */
static void copy_role(const char *text, u64 line, char *what, size_t what_bytes)
{
	while (--line && (text = strchr(text, '\n')))
		text++;
	if (text)
		text = strchr(text, ' ');
	if (text)
		snprintf(what, what_bytes, "%.*s", (int)strcspn(text + 1, "\n"), text + 1);
}

void baleen_protected_describe(const struct baleen_protected_set *set,
			       enum baleen_protected_role role, const struct baleen_key *key,
			       struct baleen_protected *protected)
{
	const char *text = set->text[role];
	char entry[BALEEN_LIST_TEXT] = "";
	u64 line = 0;
	int fd = baleen_text_open(text, strlen(text));

	protected->role = role;
	snprintf(protected->what, sizeof(protected->what), "%s", list_name[role]);
	if (fd < 0)
		return;
	if (!baleen_list_find(fd, BALEEN_KEY_SRC, key, &line, entry, sizeof(entry))) {
		if (role == BALEEN_PROTECTED_NEVER)
			snprintf(protected->what, sizeof(protected->what), "%.*s",
				 (int)sizeof(protected->what) - 1, entry);
		else
			copy_role(text, line, protected->what, sizeof(protected->what));
	}
	close(fd);
}

int baleen_protected_meets(const struct baleen_protected_set *set, enum baleen_protected_role role,
			   const struct baleen_list *keys, u64 *n,
			   struct baleen_protected *protected)
{
	struct baleen_list asked = *keys;
	struct baleen_key first;
	int err;

	asked.key_spec = BALEEN_KEY_SRC;
	err = baleen_list_meets(&asked, &set->set[role], n, protected->key, &first);
	if (!err && *n)
		baleen_protected_describe(set, role, &first, protected);
	return err;
}

int baleen_protected_find_in(const struct baleen_protected_set *set,
			     const struct baleen_stored_rule *rule,
			     const struct baleen_rule_entry *entry, u64 *n,
			     struct baleen_protected *protected)
{
	struct baleen_list keys = { .key_spec = BALEEN_KEY_SRC };
	u64 found = 0;
	int err = 0;

	if (entry->is_exception || !baleen_protected_applies(rule) ||
	    baleen_entry_key_add(&entry->key, false, &keys) == -EINVAL)
		goto out;
	err = baleen_list_finish(&keys);
	for (u32 role = 0; role < BALEEN_N_WITHHELD && !err && !found; role++)
		if (baleen_protected_of_entry(rule, entry->yields, role) &&
		    !baleen_list_is_empty(&set->set[role]))
			err = baleen_protected_meets(set, role, &keys, &found, protected);
out:
	baleen_list_free(&keys);
	if (!err)
		*n = found;
	return err;
}
