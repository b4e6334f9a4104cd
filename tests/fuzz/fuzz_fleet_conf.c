// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as fleet.conf, those above 127 as words of one: what is refused is refused with a line
 * that names the file, and leaves the configuration untouched; what is read is whole.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_conf.h"
#include "target.h"

#define MAX_BYTES 1024

/* So that it gets beyond the first word without knowing any. */
static const char *const words[] = {
	"fleet lab\n",	"fleet ",      "host web3\n",
	"host ",	"server a:1 ", "sentinel a:1 ",
	"master m\n",	"replica ",    "[fd00::1]:6379 ",
	"a:65535\n",	"tls-ca /c\n", "tls-cert /d\n",
	"tls-key /e\n", "user u ",     "/password\n",
	"key /k\n",	"policy /p ",  "/q\n",
	"publish ",	"fail2ban, ",  "\"",
	"# ",		"\n",	       "server a:1\nkey /k\npolicy /p /q\n",
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

static void check_text(const char *text, size_t room, bool is_needed)
{
	check(memchr(text, '\0', room));
	check(*text || !is_needed);
}

static void check_servers(const struct baleen_fleet_servers *servers)
{
	check(servers->n <= BALEEN_FLEET_MAX_SERVERS);
	for (u32 i = 0; i < servers->n; i++) {
		const struct baleen_fleet_server *server = &servers->server[i];
		unsigned long port = strtoul(server->port, NULL, 10);

		check_text(server->host, sizeof(server->host), true);
		check_text(server->port, sizeof(server->port), true);
		check(port >= 1 && port <= 65535);
	}
}

static void check_whole(const struct baleen_fleet_conf *conf)
{
	bool has_cert = *conf->tls_cert, has_user = *conf->user;

	check_text(conf->fleet, sizeof(conf->fleet), true);
	check_text(conf->host, sizeof(conf->host), true);
	check(!conf->servers.n != !conf->sentinels.n);
	check_text(conf->master, sizeof(conf->master), conf->sentinels.n);
	check_text(conf->tls_ca, sizeof(conf->tls_ca), has_cert);
	check_text(conf->tls_key, sizeof(conf->tls_key), has_cert);
	check_text(conf->password_path, sizeof(conf->password_path), has_user);
	check_text(conf->key_path, sizeof(conf->key_path), true);
	check_text(conf->policy_path, sizeof(conf->policy_path), true);
	check_text(conf->policy_key_path, sizeof(conf->policy_key_path), true);
	check_servers(&conf->servers);
	check_servers(&conf->sentinels);
	check_servers(&conf->replicas);
	check(conf->n_publish <= BALEEN_FLEET_MAX_ORIGINS);
	for (u32 i = 0; i < conf->n_publish; i++)
		check_text(conf->publish[i], sizeof(conf->publish[i]), true);
}

static size_t make_text(const uint8_t *bytes, size_t n_bytes, char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < n_bytes; i++) {
		if (bytes[i] < 128)
			text[n++] = bytes[i];
		else
			n += strlen(strcpy(text + n, words[(bytes[i] - 128) % N_WORDS]));
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static char text[MAX_BYTES * 48];
	static struct baleen_fleet_conf conf, poison;
	struct baleen_error error = { "" };

	if (n_bytes > MAX_BYTES)
		return 0;
	n_bytes = make_text(bytes, n_bytes, text);
	memset(&poison, 0xa5, sizeof(poison));
	conf = poison;
	if (baleen_fleet_conf_parse(text, n_bytes, "fuzz", &conf, &error)) {
		check(!strncmp(error.text, "fuzz:", 5));
		check(!memcmp(&conf, &poison, sizeof(conf)));
	} else {
		check_whole(&conf);
	}
	return 0;
}
