// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The configuration of a fleet from text. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deploy/conf_words.h"
#include "fleet/fleet_conf.h"
#include "util/number.h"
#include "util/fd.h"
#include "util/input.h"

#define FILE_NAME BALEEN_CONF_FLEET BALEEN_CONF_SUFFIX
/* More than any fleet needs. */
#define MAX_BYTES 65536

#define MANY BALEEN_CONF_MAX_WORDS
#define AT(field) offsetof(struct baleen_fleet_conf, field)

/* --- names ---------------------------------------------------------------------- */

/* Such a name is part of keys in Redis, of origins and of file names. */
static bool is_name(const char *text)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._-";

	return *text && strlen(text) < BALEEN_FLEET_PART_BYTES && !text[strspn(text, good)];
}

static int take_name(struct baleen_conf_parser *parser, const char *word, char *to)
{
	if (!is_name(word))
		return baleen_conf_refuse(parser,
					  "%s '%s': not 1 to %d letters, digits, '.', '_' and '-'",
					  parser->word[0], word, BALEEN_FLEET_PART_BYTES - 1);
	strcpy(to, word);
	return 0;
}

static int parse_fleet(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf, void *to)
{
	if (!baleen_fleet_name_is(parser->word[1]))
		return baleen_conf_refuse(
			parser, "fleet '%s': not 1 to %d of a to z, digits, '.', '_' and '-'",
			parser->word[1], BALEEN_FLEET_NAME_BYTES - 1);
	strcpy(conf->fleet, parser->word[1]);
	return 0;
}

static int parse_name(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf, void *to)
{
	return take_name(parser, parser->word[1], to);
}

static int parse_master(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf, void *to)
{
	if (strlen(parser->word[1]) >= sizeof(conf->master))
		return baleen_conf_refuse(parser, "master: a name of %zu bytes or more",
					  sizeof(conf->master));
	strcpy(conf->master, parser->word[1]);
	return 0;
}

static int parse_serial(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf, void *to)
{
	if (baleen_count_parse(parser->word[1], &conf->least_serial))
		return baleen_conf_refuse(parser, "least-serial '%.64s': not a number",
					  parser->word[1]);
	return 0;
}

static int parse_publish(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf,
			 void *to)
{
	for (u32 i = 1; i < parser->n_words; i++) {
		char *comma = strchr(parser->word[i], ',');

		/* One comma behind a word is how people write a list. */
		if (comma && !comma[1])
			*comma = '\0';
		if (conf->n_publish == BALEEN_FLEET_MAX_ORIGINS)
			return baleen_conf_refuse(parser, "publish: more than %d origins",
						  BALEEN_FLEET_MAX_ORIGINS);
		if (!strcmp(parser->word[i], BALEEN_FLEET_CONTROL_ORIGIN))
			return baleen_conf_refuse(
				parser, "publish: " BALEEN_FLEET_CONTROL_ORIGIN
					" is what an operator says, and no origin of bans");
		if (take_name(parser, parser->word[i], conf->publish[conf->n_publish]))
			return -EINVAL;
		conf->n_publish++;
	}
	return 0;
}

/* --- servers -------------------------------------------------------------------- */

/* HOST:PORT, [ADDRESS]:PORT of IPv6. */
static bool split_server(const char *text, struct baleen_fleet_server *server)
{
	const char *host = text, *port = strrchr(text, ':');
	size_t length;
	char *end;

	if (!port)
		return false;
	length = port++ - text;
	if (*host == '[') {
		if (length < 3 || text[length - 1] != ']')
			return false;
		host++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return false;
	}
	if (!length || length >= sizeof(server->host) || strlen(port) >= sizeof(server->port) ||
	    port[strspn(port, "0123456789")] || strtoul(port, &end, 10) - 1 > 65534)
		return false;
	memcpy(server->host, host, length);
	server->host[length] = '\0';
	strcpy(server->port, port);
	return true;
}

static int parse_servers(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf,
			 void *to)
{
	struct baleen_fleet_servers *servers = to;

	for (u32 i = 1; i < parser->n_words; i++) {
		struct baleen_fleet_server server = { 0 };

		if (!split_server(parser->word[i], &server))
			return baleen_conf_refuse(parser, "%s '%s': not HOST:PORT", parser->word[0],
						  parser->word[i]);
		if (servers->n == BALEEN_FLEET_MAX_SERVERS)
			return baleen_conf_refuse(parser, "%s: more than %d of them",
						  parser->word[0], BALEEN_FLEET_MAX_SERVERS);
		servers->server[servers->n++] = server;
	}
	return 0;
}

/* --- files ---------------------------------------------------------------------- */

static int take_path(struct baleen_conf_parser *parser, const char *path, char *to)
{
	if (baleen_conf_check_path(parser, path, BALEEN_FLEET_PATH))
		return -EINVAL;
	strcpy(to, path);
	return 0;
}

static int parse_path(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf, void *to)
{
	return take_path(parser, parser->word[1], to);
}

static int parse_user(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf, void *to)
{
	if (strlen(parser->word[1]) >= sizeof(conf->user))
		return baleen_conf_refuse(parser, "user: a name of %zu bytes or more",
					  sizeof(conf->user));
	strcpy(conf->user, parser->word[1]);
	return take_path(parser, parser->word[2], conf->password_path);
}

static int parse_policy(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf, void *to)
{
	int err = take_path(parser, parser->word[1], conf->policy_path);

	return err ? err : take_path(parser, parser->word[2], conf->policy_key_path);
}

/* --- the table ------------------------------------------------------------------ */

/**
 * struct statement - a word that begins a line
 * @word: the word
 * @min_words: at least, itself included
 * @max_words: at most
 * @repeats: it may stand more than once
 * @missing: what is missing when there are fewer words
 * @parse: parses the words of the line
 * @at: where in struct baleen_fleet_conf it goes, the @to of @parse
 */
static const struct statement {
	const char *word;
	u32 min_words, max_words;
	bool repeats;
	const char *missing;
	int (*parse)(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf, void *to);
	size_t at;
} statements[] = {
	{ "fleet", 2, 2, false, "its name", parse_fleet, 0 },
	{ "host", 2, 2, false, "a name", parse_name, AT(host) },
	{ "server", 2, MANY, true, "HOST:PORT", parse_servers, AT(servers) },
	{ "sentinel", 2, MANY, true, "HOST:PORT", parse_servers, AT(sentinels) },
	{ "replica", 2, MANY, true, "HOST:PORT", parse_servers, AT(replicas) },
	{ "master", 2, 2, false, "the name that Sentinel knows", parse_master, 0 },
	{ "tls-ca", 2, 2, false, "a path", parse_path, AT(tls_ca) },
	{ "tls-cert", 2, 2, false, "a path", parse_path, AT(tls_cert) },
	{ "tls-key", 2, 2, false, "a path", parse_path, AT(tls_key) },
	{ "user", 3, 3, false, "a name, then the file with its password", parse_user, 0 },
	{ "key", 2, 2, false, "a path", parse_path, AT(key_path) },
	{ "policy", 3, 3, false, "its path, then that of the public key", parse_policy, 0 },
	{ "least-serial", 2, 2, false, "a number", parse_serial, 0 },
	{ "publish", 2, MANY, true, "an origin", parse_publish, 0 },
};

#define N_STATEMENTS (sizeof(statements) / sizeof(statements[0]))

static int check_line(struct baleen_conf_parser *parser, u32 *index)
{
	struct baleen_nearest nearest = { .typed = parser->word[0] };
	const struct statement *statement;

	for (*index = 0; *index < N_STATEMENTS; (*index)++) {
		if (!strcmp(parser->word[0], statements[*index].word))
			break;
		baleen_nearest_offer(&nearest, statements[*index].word);
	}
	if (*index == N_STATEMENTS)
		return baleen_conf_refuse_statement(parser, &nearest);
	statement = &statements[*index];
	if (parser->n_words < statement->min_words)
		return baleen_conf_refuse(parser, "%s: %s is missing", statement->word,
					  statement->missing);
	if (parser->n_words > statement->max_words)
		return baleen_conf_refuse(parser, "%s: '%s' is a word too many", statement->word,
					  parser->word[statement->max_words]);
	if (parser->given & 1u << *index && !statement->repeats)
		return baleen_conf_refuse(parser, "%s is given twice", statement->word);
	parser->given |= 1u << *index;
	return 0;
}

static int parse_line(struct baleen_conf_parser *parser, struct baleen_fleet_conf *conf)
{
	u32 index;
	int err = baleen_conf_split(parser);

	if (err || !parser->n_words)
		return err;
	err = check_line(parser, &index);
	return err ? err : statements[index].parse(parser, conf, (u8 *)conf + statements[index].at);
}

/* --- the whole ------------------------------------------------------------------ */

static int find_host(const char *name, struct baleen_fleet_conf *conf, struct baleen_error *error)
{
	char host[256];

	if (*conf->host)
		return 0;
	if (gethostname(host, sizeof(host)) || !is_name(host))
		return baleen_fail(error, EINVAL,
				   "%s: the name of this host is no name in a fleet: 'host' gives "
				   "it one",
				   name);
	strcpy(conf->host, host);
	return 0;
}

static int check(const char *name, struct baleen_fleet_conf *conf, struct baleen_error *error)
{
	if (!*conf->fleet)
		return baleen_fail(error, EINVAL, "%s: fleet is missing", name);
	if (!conf->servers.n && !conf->sentinels.n)
		return baleen_fail(error, EINVAL, "%s: server or sentinel is missing", name);
	if (conf->servers.n && conf->sentinels.n)
		return baleen_fail(error, EINVAL, "%s: server and sentinel exclude each other",
				   name);
	if (conf->sentinels.n && !*conf->master)
		return baleen_fail(error, EINVAL,
				   "%s: master, the name that Sentinel knows, is missing", name);
	if (!*conf->tls_ca && (*conf->tls_cert || *conf->tls_key))
		return baleen_fail(error, EINVAL, "%s: tls-ca is missing", name);
	if (!*conf->tls_cert != !*conf->tls_key)
		return baleen_fail(error, EINVAL, "%s: tls-cert and tls-key need each other", name);
	if (!*conf->key_path)
		return baleen_fail(error, EINVAL, "%s: key is missing", name);
	if (!*conf->policy_path)
		return baleen_fail(error, EINVAL, "%s: policy is missing", name);
	return find_host(name, conf, error);
}

int baleen_fleet_conf_parse(const char *text, size_t n_bytes, const char *name,
			    struct baleen_fleet_conf *conf, struct baleen_error *error)
{
	struct baleen_fleet_conf parsed = { 0 };
	struct baleen_error unused;
	struct baleen_conf_parser parser = { .name = name, .error = error ? error : &unused };
	const char *end = text + n_bytes;
	int err = 0;

	while (text < end && !err) {
		err = baleen_conf_next_line(&parser, &text, end);
		if (!err)
			err = parse_line(&parser, &parsed);
	}
	if (!err)
		err = check(name, &parsed, parser.error);
	if (!err)
		*conf = parsed;
	return err;
}

/* --- files of this host --------------------------------------------------------- */

const char *baleen_fleet_conf_path(char *path)
{
	int n = snprintf(path, BALEEN_FLEET_PATH, "%s/%s", baleen_conf_dir(), FILE_NAME);

	if (n >= BALEEN_FLEET_PATH)
		strcpy(path, BALEEN_CONF_ROOT "/" FILE_NAME);
	return path;
}

/* A whole small file; what is behind @room - 1 bytes makes it fail. */
static int read_small(const char *path, mode_t forbidden, char *text, size_t room, size_t *n_bytes,
		      struct baleen_error *error)
{
	struct stat stat;
	int fd = baleen_input_open(path, BALEEN_INPUT_NAMED, error), err = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (fstat(fd, &stat))
		err = baleen_fail(error, errno, "%s: %m", path);
	else if (stat.st_mode & forbidden)
		err = baleen_fail(error, EPERM, "%s: others may read it: chmod 0600 %s", path,
				  path);
	n = err ? 0 : read(fd, text, room);
	if (n < 0)
		err = baleen_fail(error, errno, "%s: %m", path);
	else if ((size_t)n == room)
		err = baleen_fail(error, E2BIG, "%s: %zu bytes or more", path, room);
	else if (!err)
		*n_bytes = n;
	close(fd);
	return err;
}

int baleen_fleet_conf_read(struct baleen_fleet_conf *conf, struct baleen_error *error)
{
	char path[BALEEN_FLEET_PATH], *text = malloc(MAX_BYTES);
	size_t n_bytes = 0;
	int err;

	if (!text)
		return baleen_no_memory(error);
	err = read_small(baleen_fleet_conf_path(path), 0, text, MAX_BYTES, &n_bytes, error);
	if (!err)
		err = baleen_fleet_conf_parse(text, n_bytes, path, conf, error);
	free(text);
	return err;
}

int baleen_fleet_conf_password(const struct baleen_fleet_conf *conf, char *password,
			       struct baleen_error *error)
{
	size_t n = 0;
	int err = *conf->user ? read_small(conf->password_path, 077, password,
					   BALEEN_FLEET_PASSWORD, &n, error) :
				0;

	if (err)
		return err;
	password[n] = '\0';
	password[strcspn(password, "\r\n")] = '\0';
	return 0;
}
