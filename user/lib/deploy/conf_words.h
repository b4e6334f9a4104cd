/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of a configuration as words, and messages about them.
 */
#ifndef BALEEN_CONF_WORDS_H
#define BALEEN_CONF_WORDS_H

#include "deploy/conf.h"
#include "util/nearest.h"

#define BALEEN_CONF_MAX_LINE 8192
#define BALEEN_CONF_MAX_WORDS 64

struct baleen_conf_icp;

/**
 * struct baleen_conf_parser - where the reading has come to
 * @name: name of the file
 * @line: number of the line
 * @conf: the configuration that was read
 * @rule: the rule that statements are of; NULL before the first
 * @rule_line: where each rule stands
 * @given: statements that were given, by index; those of rules since the last rule
 * @icp: statements about caches; NULL before the first; freed by baleen_conf_parse()
 * @icp_line: where the first of them stands
 * @text: the line
 * @buffer: its words
 * @word: them
 * @n_words: how many
 * @error: filled in on failure
 */
struct baleen_conf_parser {
	const char *name;
	u64 line;
	struct baleen_conf *conf;
	struct baleen_stored_rule *rule;
	u64 rule_line[BALEEN_MAX_RULES];
	u64 given;
	struct baleen_conf_icp *icp;
	u64 icp_line;
	char text[BALEEN_CONF_MAX_LINE + 1];
	char buffer[BALEEN_CONF_MAX_LINE + 1];
	char *word[BALEEN_CONF_MAX_WORDS + 1];
	u32 n_words;
	struct baleen_error *error;
};

/**
 * baleen_conf_refuse_statement() - say that the line begins with no statement
 * @parser: at the line
 * @nearest: the statement that may be meant
 *
 * Return: -EINVAL.
 */
int baleen_conf_refuse_statement(struct baleen_conf_parser *parser,
				 const struct baleen_nearest *nearest);

/**
 * baleen_conf_refuse() - say what is wrong with the line
 * @parser: at the line
 * @format: printf format of what is wrong
 *
 * Return: -EINVAL.
 */
int baleen_conf_refuse(struct baleen_conf_parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * baleen_conf_check_path() - is it a whole path?
 * @parser: at the line
 * @path: the path
 * @room: bytes that there are for it
 *
 * Return: 0 or -EINVAL.
 */
int baleen_conf_check_path(struct baleen_conf_parser *parser, const char *path, size_t room);

/**
 * baleen_conf_next_line() - go on to the next line
 * @parser: its line and text are filled in
 * @text: where the line begins; where the next one begins afterwards
 * @end: end of all lines
 *
 * Lines end with a newline, or with a carriage return and a newline.
 *
 * Return: 0 or -EINVAL.
 */
int baleen_conf_next_line(struct baleen_conf_parser *parser, const char **text, const char *end);

/**
 * baleen_conf_split() - split the line into words
 * @parser: its text is at hand; its words are filled in
 *
 * Return: 0 or -EINVAL.
 */
int baleen_conf_split(struct baleen_conf_parser *parser);

#endif /* BALEEN_CONF_WORDS_H */
