/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /etc/baleen/DEV.conf: what a device shall enforce, as a file.
 *
 *      # Statements of the device stand before the first rule.
 *      default pass                      or drop: what no rule decides
 *      dry-run                           count what would be dropped, drop nothing
 *      sample 100/s                      events, at most so many
 *      mode auto                         native, generic
 *      no-link | chain                   where the program is, as for attach
 *      never /etc/baleen/never.list      or none; this one, if it is there, is the default
 *      never-name mail.example.net       no rule drops an address of it
 *      health /usr/local/bin/well arg    is this host well after a new generation of a set?
 *      icp sibling a=192.0.2.20          answers for caches: deploy/conf_icp.h
 *      match eth* !eth7                  in default.conf only: the devices it is for
 *
 *      # Rules are evaluated in the order they stand in.
 *      rule friends allow
 *              feed /etc/baleen/friends.list
 *              feed name:mail.example.net
 *      rule bad drop proto tcp dport ssh,80-90 tcp-syn vlan 7
 *              feed https://example.org/drop.txt every 1h timeout 30s
 *              feed https://example.org/paid.txt access /etc/baleen/example.access
 *              feed /var/lib/lists skip-bad
 *              feed https://example.org/geo.csv.gz column 1-2 where country=XX every 1d
 *              feed https://example.org/ips.json json .[].ip where type=ban
 *              feed https://example.org/ip-ranges.json format aws where service=S3
 *              feed set+https://example.org/bans key /etc/baleen/bans.pub ring 1
 *              feed route:rtbh hold 1h   routes of a kernel table that lead nowhere
 *              feed fleet:bans max-ttl 24h   what other hosts of a fleet have banned
 *              feed copy:stdin           what was typed from a pipe: this device alone has it
 *              min-entries 100
 *              max-entries 1M
 *              max-shrink 50%
 *              max-coverage 25%
 *              max-growth 0.1%
 *              special keep              private and other such ranges stay in
 *              protect none              and addresses of this host: its lists mean them
 *      rule flows drop
 *              key src,dport
 *              capacity 1M
 *              kind bloom                or cuckoo, classic, counting, quotient
 *              fpp 1e-6                  consents to it, too
 *              accept-fpp 1e-3           and to more: an image is as it is
 *      rule bans drop
 *              bans                      'baleen ban' adds to it
 *              widen 8 in /24, 8 in /48  so many bans in such a prefix ban the prefix
 *      rule rest count
 *              any                       every address
 *
 * One statement a line, words with blanks between, comments from a `#` at the
 * start of a word; blanks in front mean nothing. "..." makes one word of what
 * has blanks in it; inside, \" and \\ stand for " and \. A rule without feeds
 * holds single entries. A path is whole, from / on: whoever reads the file, from
 * wherever, reads the same lists.
 */
#ifndef BALEEN_CONF_H
#define BALEEN_CONF_H

#include "state/feeds.h"
#include "state/rule_store.h"

#define BALEEN_CONF_ROOT "/etc/baleen" /* BALEEN_CONF_DIR in the environment */
#define BALEEN_CONF_SUFFIX ".conf"
#define BALEEN_NEVER_FILE "never.list"
/* The file of every device that it matches and that has no file of its own. No device is called
 * default: the kernel needs that name for /proc/sys/net.
 */
#define BALEEN_CONF_DEFAULT "default"
/* The file of the fleet that this host is in: user/lib/fleet/fleet_conf.h. */
#define BALEEN_CONF_FLEET "fleet"

/* Larger files are no configurations. */
#define BALEEN_CONF_MAX_BYTES (1u << 20)
#define BALEEN_CONF_MAX_FEEDS 1024
#define BALEEN_CONF_MATCH_BYTES 512

/**
 * struct baleen_conf_feed - a feed of a rule
 * @rule: index of the rule
 * @wanted: where it comes from, how it is read
 * @line: where that stands; 0 when it does not come from a file
 */
struct baleen_conf_feed {
	u32 rule;
	struct baleen_feed_source wanted;
	u64 line;
};

/**
 * struct baleen_conf - a configuration
 * @rules: rules and policy
 * @is_egress: of what goes out
 * @feed: feeds, rule by rule
 * @n_feeds: how many
 * @match: words of its match statements, with blanks between; empty for none
 * @text: the file, NUL-terminated
 */
struct baleen_conf {
	struct baleen_stored_rules rules;
	bool is_egress;
	struct baleen_conf_feed *feed;
	size_t n_feeds;
	char match[BALEEN_CONF_MATCH_BYTES];
	char *text;
};

/**
 * baleen_conf_parse() - a configuration from text
 * @text: its bytes
 * @n_bytes: how many
 * @name: name of the file in messages
 * @conf: filled in, to be freed with baleen_conf_free(); untouched on failure
 * @error: filled in on failure: names file and line
 *
 * Return: 0; -EINVAL; -E2BIG; -ENOMEM.
 */
int baleen_conf_parse(const char *text, size_t n_bytes, const char *name, struct baleen_conf *conf,
		      struct baleen_error *error);

/**
 * baleen_conf_read() - a configuration from a file
 * @path: path of the file
 * @conf: as for baleen_conf_parse()
 * @error: as for baleen_conf_parse()
 *
 * Return: as baleen_conf_parse(), or a negative errno.
 */
int baleen_conf_read(const char *path, struct baleen_conf *conf, struct baleen_error *error);

/**
 * baleen_conf_free() - free what a configuration points to
 * @conf: parsed, or all zeros
 */
void baleen_conf_free(struct baleen_conf *conf);

/**
 * baleen_conf_format() - a configuration as text that says every thing one way
 * @conf: of any origin; its text is not asked
 * @shows_secrets: URLs are whole; otherwise they are as baleen_url_name() has them
 *
 * Defaults are left out. Parsed again, the text with secrets gives the same configuration.
 *
 * Return: to be freed by the caller; NULL without memory.
 */
char *baleen_conf_format(const struct baleen_conf *conf, bool shows_secrets);

/**
 * baleen_conf_key() - what a rule looks up unless it says otherwise
 * @conf: of what comes in, or of what goes out
 *
 * Return: BALEEN_KEY_SRC or BALEEN_KEY_DST.
 */
u32 baleen_conf_key(const struct baleen_conf *conf);

/**
 * baleen_conf_is_of() - is it of what comes in or goes out, as a name is?
 * @conf: parsed
 * @device: name of a device, or of what goes out by it
 * @path: the file, for messages
 * @error: filled in when it is not
 *
 * Return: 0 or -EINVAL.
 */
int baleen_conf_is_of(const struct baleen_conf *conf, const char *device, const char *path,
		      struct baleen_error *error);

/**
 * baleen_conf_never_path() - the never-drop list of who names no other
 * @path: filled in; empty when it is too long
 * @n_bytes: room
 */
void baleen_conf_never_path(char *path, size_t n_bytes);

/**
 * baleen_conf_dir() - where configurations are
 *
 * Return: BALEEN_CONF_DIR of the environment, or BALEEN_CONF_ROOT.
 */
const char *baleen_conf_dir(void);

/**
 * baleen_conf_path() - the configuration of a device
 * @device: its name
 * @path: filled in
 * @n_bytes: size of @path
 *
 * Return: 0 or -ENAMETOOLONG.
 */
int baleen_conf_path(const char *device, char *path, size_t n_bytes);

#endif /* BALEEN_CONF_H */
