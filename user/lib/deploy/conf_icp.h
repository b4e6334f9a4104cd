/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Statements of a configuration about caches: what `baleen icp attach`, `resync` and their
 * options do by hand.
 *
 *      icp sibling a=192.0.2.20,mode=answer,feeder=127.0.0.1
 *      icp source a /var/spool/squid/swap.state every 20s
 *      icp asker 192.0.2.0/24
 *      icp feed lo:3131
 *      icp port 3130
 *      icp stale 30s
 *      icp confirm 1s
 *      icp capacity 1M
 *      icp kind counting
 *      icp hash squid
 *      icp fpp 0.001
 *
 * The state of a device keeps them as text: a statement a line, without the first word, with
 * tabs between words. There is no order among them but that a source comes behind its sibling.
 */
#ifndef BALEEN_CONF_ICP_H
#define BALEEN_CONF_ICP_H

#include "deploy/conf_words.h"
#include "icp/icp_words.h"
#include "icp/squid_source.h"
#include "ops/build_options.h"

/* Sources of one sibling: a parent has one for each of its children. */
#define BALEEN_CONF_ICP_SOURCES BALEEN_ICP_MAX_FEEDERS
/* Time between two readings of a source that says none. */
#define BALEEN_CONF_ICP_EVERY_MS 3600000

/**
 * struct baleen_conf_icp_source - where it stands what a sibling has
 * @path: paths or URLs, as for `baleen icp resync`; owned
 * @n: how many; 0: nobody says
 * @from: what they are
 * @every_ms: time between two readings
 */
struct baleen_conf_icp_source {
	char *path[BALEEN_CONF_ICP_SOURCES];
	u32 n;
	enum baleen_squid_from from;
	u64 every_ms;
};

/**
 * struct baleen_conf_icp - the statements of a device, understood
 * @words: siblings, askers, ports and times
 * @source: of each sibling
 * @build: kind, hash, rate and capacity of filters
 * @is_kind_given: the kind was said
 * @is_hash_given: the hash was said
 * @given: statements that were given, a bit each
 */
struct baleen_conf_icp {
	struct baleen_icp_words words;
	struct baleen_conf_icp_source source[BALEEN_ICP_MAX_SIBLINGS];
	struct baleen_build_options build;
	bool is_kind_given;
	bool is_hash_given;
	u32 given;
};

/**
 * baleen_conf_parse_icp() - parse a line about caches
 * @parser: at the line; its words are at hand
 * @to: icp of the rules; the line is added
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int baleen_conf_parse_icp(struct baleen_conf_parser *parser, void *to);

/**
 * baleen_conf_check_icp() - do the statements of a device go together?
 * @parser: all lines were read
 *
 * Return: 0 or -EINVAL.
 */
int baleen_conf_check_icp(struct baleen_conf_parser *parser);

/**
 * baleen_conf_icp_read() - the statements that a state has
 * @text: icp of struct baleen_stored_rules, not empty
 * @icp: set, to be freed with baleen_conf_icp_free(); untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL for a text of another release; -ENOMEM.
 */
int baleen_conf_icp_read(const char *text, struct baleen_conf_icp **icp,
			 struct baleen_error *error);

/**
 * baleen_conf_icp_free() - free statements
 * @icp: from baleen_conf_icp_read(); NULL is nothing
 */
void baleen_conf_icp_free(struct baleen_conf_icp *icp);

/**
 * baleen_conf_icp_has() - is a statement among others?
 * @text: statements
 * @line: the statement, up to a newline or its end
 *
 * Return: true or false.
 */
bool baleen_conf_icp_has(const char *text, const char *line);

/* Room for a statement as one line. */
#define BALEEN_CONF_ICP_LINE 512

/**
 * baleen_conf_icp_line() - a statement for people
 * @line: the statement, up to a newline or its end
 * @text: BALEEN_CONF_ICP_LINE bytes, with blanks between words
 *
 * Return: @text.
 */
const char *baleen_conf_icp_line(const char *line, char *text);

#endif /* BALEEN_CONF_ICP_H */
