/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of a configuration that name a feed, or a host that is not dropped.
 */
#ifndef BALEEN_CONF_FEED_H
#define BALEEN_CONF_FEED_H

#include "deploy/conf_words.h"

/**
 * baleen_conf_parse_feed() - parse a line that names a feed
 * @parser: at the line, of a rule; its words are at hand
 * @to: unused
 *
 * Return: 0; -EINVAL; -ENOMEM.
 */
int baleen_conf_parse_feed(struct baleen_conf_parser *parser, void *to);

/**
 * baleen_conf_check_feeds() - do the feeds of a rule suit it?
 * @parser: all lines of the rule were read
 * @rule: index of the rule
 *
 * Return: 0 or -EINVAL.
 */
int baleen_conf_check_feeds(struct baleen_conf_parser *parser, u32 rule);

/**
 * baleen_conf_parse_never_name() - parse a line that names a host
 * @parser: at the line; its words are at hand
 * @to: never_names of the rules; the name is added
 *
 * Return: 0 or -EINVAL.
 */
int baleen_conf_parse_never_name(struct baleen_conf_parser *parser, void *to);

/**
 * baleen_conf_parse_health() - parse a line that names a health command
 * @parser: at the line
 * @to: health of the rules
 *
 * Return: 0 or -EINVAL.
 */
int baleen_conf_parse_health(struct baleen_conf_parser *parser, void *to);

#endif /* BALEEN_CONF_FEED_H */
