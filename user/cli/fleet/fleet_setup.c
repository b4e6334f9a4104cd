// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files of a host in a fleet. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/fleet/fleet_setup.h"
#include "deploy/conf.h"
#include "util/announce.h"
#include "util/minisign.h"
#include "util/output.h"
#include "util/small_file.h"

#define DIRECTORY "fleet"

const struct option_spec fleet_setup_options[] = {
	VALUE("server", 0, "HOST:PORT", option_text, fleet_setup, server, "where Redis is"),
	VALUE("sentinel", 0, "HOST:PORT,...", option_text, fleet_setup, sentinel,
	      "who knows where it is, in place of --server"),
	VALUE("master", 0, "NAME", option_text, fleet_setup, master, "its name for Sentinel"),
	VALUE("replica", 0, "HOST:PORT,...", option_text, fleet_setup, replica,
	      "read from one of these; from the master unless given"),
	VALUE("tls-ca", 0, "FILE", option_text, fleet_setup, tls_ca,
	      "speak TLS with servers that this authority knows"),
	VALUE("tls-cert", 0, "FILE", option_text, fleet_setup, tls_cert,
	      "certificate of this host"),
	VALUE("tls-key", 0, "FILE", option_text, fleet_setup, tls_key, "its key"),
	VALUE("user", 0, "NAME:FILE", option_text, fleet_setup, user,
	      "log in under this name, with the password that the file holds"),
	VALUE("host", 0, "NAME", option_text, fleet_setup, host,
	      "name of this host in the fleet; its own unless given"),
	VALUE("publish", 0, "ORIGIN,...", option_text, fleet_setup, publish,
	      "origins whose bans go out, such as fail2ban"),
	{ 0 },
};

const char *fleet_setup_path(const char *name, char *path)
{
	int n = snprintf(path, BALEEN_FLEET_PATH, "%s/" DIRECTORY "%s%s", baleen_conf_dir(),
			 *name ? "/" : "", name);

	if (n >= BALEEN_FLEET_PATH)
		*path = '\0';
	return path;
}

/* --- fleet.conf --------------------------------------------------------------------------- */

/* A statement, if there is something to say; commas become blanks. */
static void print_statement(FILE *file, const char *word, const char *values)
{
	if (!values)
		return;
	fprintf(file, "%s ", word);
	for (; *values; values++)
		fputc(*values == ',' ? ' ' : *values, file);
	fputc('\n', file);
}

static void print_file(FILE *file, const char *word, const char *name)
{
	char path[BALEEN_FLEET_PATH];

	fprintf(file, "%s %s\n", word, fleet_setup_path(name, path));
}

static void print_user(FILE *file, const char *user)
{
	const char *colon = user ? strchr(user, ':') : NULL;

	if (colon)
		fprintf(file, "user %.*s %s\n", (int)(colon - user), user, colon + 1);
	else if (user)
		fprintf(file, "user %s\n", user);
}

/* The text, to be freed; NULL without memory. */
static char *make_text(const struct fleet_setup *setup, size_t *n_bytes)
{
	char *text = NULL, path[BALEEN_FLEET_PATH];
	FILE *file = open_memstream(&text, n_bytes);

	if (!file)
		return NULL;
	print_statement(file, "fleet", setup->fleet);
	print_statement(file, "host", setup->host);
	print_statement(file, "server", setup->server);
	print_statement(file, "sentinel", setup->sentinel);
	print_statement(file, "master", setup->master);
	print_statement(file, "replica", setup->replica);
	print_statement(file, "tls-ca", setup->tls_ca);
	print_statement(file, "tls-cert", setup->tls_cert);
	print_statement(file, "tls-key", setup->tls_key);
	print_user(file, setup->user);
	print_file(file, "key", FLEET_HOST_KEY);
	fprintf(file, "policy %s", fleet_setup_path(FLEET_POLICY, path));
	fprintf(file, " %s\n", fleet_setup_path(FLEET_PUBLIC, path));
	print_statement(file, "least-serial", setup->serial);
	print_statement(file, "publish", setup->publish);
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}

/* --- steps ---------------------------------------------------------------------------------- */

static int make_directory(void)
{
	char path[BALEEN_FLEET_PATH];

	if (mkdir(baleen_conf_dir(), 0755) && errno != EEXIST)
		return complain("%s: %s", baleen_conf_dir(), strerror(errno));
	if (mkdir(fleet_setup_path("", path), 0700) && errno != EEXIST)
		return complain("%s: %s", path, strerror(errno));
	return 0;
}

/* A key that is there is kept: the fleet may know it already. */
static int find_key(const char *path, struct baleen_fleet_keys *keys)
{
	struct baleen_error error;
	int err = baleen_fleet_keys_load(path, keys, &error);

	if (err == -ENOENT)
		err = baleen_fleet_keys_make(path, keys, &error);
	return err ? complain("%s", error.text) : 0;
}

/* An error without "FILE:LINE: " before it: nobody has written that file. */
static const char *without_place(const char *text, const char *path)
{
	size_t n = strlen(path);

	if (strncmp(text, path, n) || text[n] != ':')
		return text;
	text += n + 1;
	return text + strspn(text, "0123456789: ");
}

int fleet_setup_begin(const struct command *command, const struct fleet_setup *setup,
		      struct baleen_fleet_conf *conf, struct baleen_fleet_keys *keys)
{
	char path[BALEEN_FLEET_PATH], *text;
	struct baleen_error error;
	size_t n = 0;
	int err;

	if (!access(baleen_fleet_conf_path(path), F_OK))
		return complain("%s: is there: this host is in a fleet already", path);
	text = make_text(setup, &n);
	if (!text)
		return complain("not enough memory");
	err = baleen_fleet_conf_parse(text, n, path, conf, &error);
	free(text);
	if (err)
		return complain_usage(command, "%s", without_place(error.text, path));
	err = make_directory();
	return err ? err : find_key(conf->key_path, keys);
}

int fleet_setup_end(const struct fleet_setup *setup)
{
	char path[BALEEN_FLEET_PATH], *text;
	struct baleen_error error;
	size_t n = 0;
	int err;

	text = make_text(setup, &n);
	if (!text)
		return complain("not enough memory");
	err = baleen_output_write(baleen_fleet_conf_path(path), BALEEN_OUTPUT_NAMED, 0644, text, n,
				  &error);
	free(text);
	if (err)
		return complain("%s", error.text);
	baleen_announce();
	return 0;
}

int fleet_policy_sign(const struct baleen_fleet_conf *conf, const char *text)
{
	char secret[BALEEN_FLEET_PATH], comment[64];
	struct baleen_fleet_signed texts = { .text = (char *)text };
	struct baleen_error error;
	int err;

	snprintf(comment, sizeof(comment), "policy of %s", conf->fleet);
	err = baleen_minisign_sign(fleet_setup_path(FLEET_SECRET, secret), text, strlen(text),
				   comment, &texts.signature, &error);
	if (err == -ENOENT)
		return complain("%s: not there: do this on the host, or with the disk, that has it",
				secret);
	if (err)
		return complain("%s", error.text);
	err = baleen_fleet_site_policy_take(conf, &texts, &error);
	if (err > 0) {
		baleen_announce();
		err = baleen_fleet_site_write(conf, &texts, &error);
	} else if (!err) {
		err = baleen_fail(&error, EEXIST, "%s: its serial is not larger than before",
				  conf->policy_path);
	}
	free(texts.signature);
	return err ? complain("%s", error.text) : 0;
}
