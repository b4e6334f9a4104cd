/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The configuration of a fleet, fleet.conf: one statement a line, as of devices.
 *
 *      fleet prod                          its name: all keys in Redis begin with it
 *      host web3                           this host; the name of the host unless given
 *      server redis.example.org:6379       where Redis is; or, in place of it:
 *      sentinel 192.0.2.1:26379            who knows where the master is, up to 16
 *      master baleen                       and by which name
 *      replica 192.0.2.5:6379              read from here, up to 16; from the master unless given
 *      tls-ca /etc/baleen/fleet/ca.pem     speak TLS with servers of this authority
 *      tls-cert /etc/baleen/fleet/me.pem
 *      tls-key /etc/baleen/fleet/me.key
 *      user web3 /etc/baleen/fleet/password
 *      key /etc/baleen/fleet/host.key      signs what this host publishes
 *      policy /etc/baleen/fleet/policy /etc/baleen/fleet/policy.pub
 *      publish fail2ban soc                origins whose entries go out
 */
#ifndef BALEEN_FLEET_CONF_H
#define BALEEN_FLEET_CONF_H

#include "fleet/fleet_entry.h"

#define BALEEN_FLEET_MAX_SERVERS 16
#define BALEEN_FLEET_MAX_ORIGINS 32
/* HOST/ORIGIN is the name of a publisher, of which each has half. */
#define BALEEN_FLEET_PART_BYTES 28
#define BALEEN_FLEET_PATH 256
#define BALEEN_FLEET_PASSWORD 256

/**
 * struct baleen_fleet_server - a server
 * @host: its name or address
 * @port: its port
 */
struct baleen_fleet_server {
	char host[254];
	char port[6];
};

/**
 * struct baleen_fleet_servers - servers of one sort
 * @n: how many
 * @server: they, in the order in which they are tried
 */
struct baleen_fleet_servers {
	u32 n;
	struct baleen_fleet_server server[BALEEN_FLEET_MAX_SERVERS];
};

/**
 * struct baleen_fleet_conf - the configuration
 * @fleet: name of the fleet
 * @host: name of this host in it
 * @servers: Redis
 * @sentinels: who knows the master
 * @replicas: whom to read from
 * @master: name of the master for Sentinel
 * @tls_ca: certificates of the authority; empty: no TLS
 * @tls_cert: certificate of this host; empty for none
 * @tls_key: its key
 * @user: name for Redis; empty for none
 * @password_path: file with its password
 * @key_path: secret key of the host
 * @policy_path: policy; its signature has .minisig behind it
 * @policy_key_path: public key that it is signed with
 * @least_serial: no policy with a smaller one counts
 * @publish: origins that are published
 * @n_publish: how many
 */
struct baleen_fleet_conf {
	char fleet[BALEEN_FLEET_NAME_BYTES];
	char host[BALEEN_FLEET_PART_BYTES];
	struct baleen_fleet_servers servers;
	struct baleen_fleet_servers sentinels;
	struct baleen_fleet_servers replicas;
	char master[64];
	char tls_ca[BALEEN_FLEET_PATH];
	char tls_cert[BALEEN_FLEET_PATH];
	char tls_key[BALEEN_FLEET_PATH];
	char user[64];
	char password_path[BALEEN_FLEET_PATH];
	char key_path[BALEEN_FLEET_PATH];
	char policy_path[BALEEN_FLEET_PATH];
	char policy_key_path[BALEEN_FLEET_PATH];
	u64 least_serial;
	char publish[BALEEN_FLEET_MAX_ORIGINS][BALEEN_FLEET_PART_BYTES];
	u32 n_publish;
};

/**
 * baleen_fleet_conf_parse() - a configuration from text
 * @text: the text
 * @n_bytes: its length
 * @name: of the file, for messages
 * @conf: filled in; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_fleet_conf_parse(const char *text, size_t n_bytes, const char *name,
			    struct baleen_fleet_conf *conf, struct baleen_error *error);

/**
 * baleen_fleet_conf_path() - where it is
 * @path: filled in, BALEEN_FLEET_PATH bytes
 *
 * Return: @path.
 */
const char *baleen_fleet_conf_path(char *path);

/**
 * baleen_fleet_conf_read() - the configuration of this host
 * @conf: filled in; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when this host is in no fleet; another negative errno.
 */
int baleen_fleet_conf_read(struct baleen_fleet_conf *conf, struct baleen_error *error);

/**
 * baleen_fleet_conf_password() - the password for Redis
 * @conf: the configuration
 * @password: filled in, BALEEN_FLEET_PASSWORD bytes; empty when none is asked for
 * @error: filled in on failure
 *
 * The file may be read by its owner alone.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_conf_password(const struct baleen_fleet_conf *conf, char *password,
			       struct baleen_error *error);

#endif /* BALEEN_FLEET_CONF_H */
