// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fleet.conf: what is refused, where and why, and what is read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fleet/fleet_conf.h"

#define GOOD "fleet lab\nhost h1\nserver 192.0.2.1:6379\nkey /k\npolicy /p /q\n"

static int parse(const char *text, struct baleen_fleet_conf *conf, struct baleen_error *error)
{
	return baleen_fleet_conf_parse(text, strlen(text), "f", conf, error);
}

static const struct {
	const char *text;
	const char *reason;
} refused[] = {
	{ "", "f: fleet is missing" },
	{ "fleets lab\n", "f:1: 'fleets': no statement begins so (did you mean 'fleet'?)" },
	{ "fleet\n", "f:1: fleet: its name is missing" },
	{ "fleet Lab\n", "f:1: fleet 'Lab': not 1 to 31 of a to z, digits, '.', '_' and '-'" },
	{ "fleet a b\n", "f:1: fleet: 'b' is a word too many" },
	{ "fleet a\nfleet a\n", "f:2: fleet is given twice" },
	{ "host a/b\n", "f:1: host 'a/b': not 1 to 27 letters, digits, '.', '_' and '-'" },
	{ "server 192.0.2.1\n", "f:1: server '192.0.2.1': not HOST:PORT" },
	{ "server a:0\n", "f:1: server 'a:0': not HOST:PORT" },
	{ "server a:65536\n", "f:1: server 'a:65536': not HOST:PORT" },
	{ "server a:1x\n", "f:1: server 'a:1x': not HOST:PORT" },
	{ "server :1\n", "f:1: server ':1': not HOST:PORT" },
	{ "server fd00::1:6379\n", "f:1: server 'fd00::1:6379': not HOST:PORT" },
	{ "server []:6379\n", "f:1: server '[]:6379': not HOST:PORT" },
	{ "key host.key\n", "f:1: key 'host.key': not a whole path, from / on" },
	{ "policy /p\n", "f:1: policy: its path, then that of the public key is missing" },
	{ "user web3\n", "f:1: user: a name, then the file with its password is missing" },
	{ "publish a/b\n", "f:1: publish 'a/b': not 1 to 27 letters, digits, '.', '_' and '-'" },
	{ "least-serial few\n", "f:1: least-serial 'few': not a number" },
	{ "publish fail2ban control\n",
	  "f:1: publish: control is what an operator says, and no origin of bans" },
	{ "fleet a\nkey /k\npolicy /p /q\n", "f: server or sentinel is missing" },
	{ "fleet a\nsentinel a:1\nkey /k\n",
	  "f: master, the name that Sentinel knows, is missing" },
	{ GOOD "sentinel a:1\nmaster m\n", "f: server and sentinel exclude each other" },
	{ GOOD "tls-cert /c\ntls-key /d\n", "f: tls-ca is missing" },
	{ GOOD "tls-ca /c\ntls-key /d\n", "f: tls-cert and tls-key need each other" },
	{ "fleet a\nserver a:1\npolicy /p /q\n", "f: key is missing" },
	{ "fleet a\nserver a:1\nkey /k\n", "f: policy is missing" },
};

static void test_refused(void **state)
{
	struct baleen_fleet_conf conf, poison;

	memset(&poison, 0xa5, sizeof(poison));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct baleen_error error = { "" };

		conf = poison;
		assert_int_equal(parse(refused[i].text, &conf, &error), -EINVAL);
		assert_string_equal(error.text, refused[i].reason);
		assert_memory_equal(&conf, &poison, sizeof(conf));
	}
}

static void test_read(void **state)
{
	struct baleen_fleet_conf conf;
	struct baleen_error error = { "" };

	assert_int_equal(parse(GOOD "replica [fd00::1]:6380 b:1\nreplica c:65535\n"
				    "tls-ca /ca\ntls-cert /cert\ntls-key /tls\n"
				    "user web3 /password # comment\npublish fail2ban, soc\n",
			       &conf, &error),
			 0);
	assert_string_equal(conf.fleet, "lab");
	assert_string_equal(conf.host, "h1");
	assert_int_equal(conf.servers.n, 1);
	assert_string_equal(conf.servers.server[0].host, "192.0.2.1");
	assert_string_equal(conf.servers.server[0].port, "6379");
	assert_int_equal(conf.replicas.n, 3);
	assert_string_equal(conf.replicas.server[0].host, "fd00::1");
	assert_string_equal(conf.replicas.server[2].port, "65535");
	assert_string_equal(conf.user, "web3");
	assert_string_equal(conf.password_path, "/password");
	assert_string_equal(conf.policy_path, "/p");
	assert_string_equal(conf.policy_key_path, "/q");
	assert_int_equal(conf.n_publish, 2);
	assert_string_equal(conf.publish[0], "fail2ban");
	assert_string_equal(conf.publish[1], "soc");
}

static void test_too_many(void **state)
{
	char text[2048] = "";
	struct baleen_fleet_conf conf;
	struct baleen_error error = { "" };

	for (int i = 0; i <= BALEEN_FLEET_MAX_SERVERS; i++)
		strcat(text, "server a:1\n");
	assert_int_equal(parse(text, &conf, &error), -EINVAL);
	assert_string_equal(error.text, "f:17: server: more than 16 of them");
	*text = '\0';
	for (int i = 0; i <= BALEEN_FLEET_MAX_ORIGINS; i++)
		strcat(text, "publish a\n");
	assert_int_equal(parse(text, &conf, &error), -EINVAL);
	assert_string_equal(error.text, "f:33: publish: more than 32 origins");
}

static void test_password(void **state)
{
	char path[] = "/tmp/baleen.XXXXXX", password[BALEEN_FLEET_PASSWORD];
	struct baleen_fleet_conf conf = { .user = "u" };
	struct baleen_error error = { "" };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "secret\n", 7), 7);
	strcpy(conf.password_path, path);
	assert_int_equal(baleen_fleet_conf_password(&conf, password, &error), 0);
	assert_string_equal(password, "secret");
	assert_int_equal(fchmod(fd, 0640), 0);
	assert_int_equal(baleen_fleet_conf_password(&conf, password, &error), -EPERM);
	assert_non_null(strstr(error.text, "others may read it: chmod 0600 "));
	assert_int_equal(ftruncate(fd, BALEEN_FLEET_PASSWORD), 0);
	assert_int_equal(fchmod(fd, 0600), 0);
	assert_int_equal(baleen_fleet_conf_password(&conf, password, &error), -E2BIG);
	conf.user[0] = '\0';
	assert_int_equal(baleen_fleet_conf_password(&conf, password, &error), 0);
	assert_string_equal(password, "");
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_password),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
