/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line of a configuration that names a feed.
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

#endif /* BALEEN_CONF_FEED_H */
