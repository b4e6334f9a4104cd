/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a host in a fleet, which `fleet init` and `fleet join` make.
 */
#ifndef BALEEN_CLI_FLEET_SETUP_H
#define BALEEN_CLI_FLEET_SETUP_H

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"

/**
 * struct fleet_setup - how a host gets into a fleet
 * @fleet: name of the fleet
 * @host: name of the host; NULL for its own
 * @server: HOST:PORT
 * @sentinel: HOST:PORT, or several with commas
 * @master: name of the master for Sentinel
 * @replica: HOST:PORT, or several with commas
 * @tls_ca: file
 * @tls_cert: file
 * @tls_key: file
 * @user: NAME:FILE
 * @publish: origins with commas
 * @trust: public key of minisign that the policy is signed with
 * @serial: the least that a policy must have; NULL for any
 * @json: report as JSON
 */
struct fleet_setup {
	const char *fleet;
	const char *host;
	const char *server, *sentinel, *master, *replica;
	const char *tls_ca, *tls_cert, *tls_key;
	const char *user;
	const char *publish;
	const char *trust;
	const char *serial;
	bool json;
};

/* The options but --trust and --json. */
extern const struct option_spec fleet_setup_options[];

/* A file in the directory of the fleet, as /etc/baleen/fleet/NAME; returns @path of
 * BALEEN_FLEET_PATH bytes.
 */
const char *fleet_setup_path(const char *name, char *path);

/* Checks fleet.conf as it will be, makes the directory and the key of the host; an exit code. */
int fleet_setup_begin(const struct command *command, const struct fleet_setup *setup,
		      struct baleen_fleet_conf *conf, struct baleen_fleet_keys *keys);

/* Writes fleet.conf, the last of the files, and tells baleend; an exit code. */
int fleet_setup_end(const struct fleet_setup *setup);

/* Signs a policy, puts it in force, and writes it for people; an exit code. */
int fleet_policy_sign(const struct baleen_fleet_conf *conf, const char *text);

/* Statements of a policy on an operator: what it pardons is not to be all addresses at once. */
#define FLEET_OPERATOR_LIMITS           \
	"  sets " BALEEN_FLEET_SET "\n" \
	"  entries 100k\n"              \
	"  shortest-prefix 16 32\n"     \
	"  coverage 16M\n"              \
	"  may pardon suspend\n"

#define FLEET_SECRET "policy.key"
#define FLEET_PUBLIC "policy.pub"
#define FLEET_POLICY "policy"
#define FLEET_HOST_KEY "host.key"

#endif /* BALEEN_CLI_FLEET_SETUP_H */
