// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sets of addresses as ipset restore and nft -f read them. */
#include <stdio.h>
#include <string.h>

#include "cli/common/set_text.h"
#include "state/entry_key.h"

/* The limit of ipset where a set names none. */
#define IPSET_MAXELEM 65536

/* A comment, without the NUL. */
#define IPSET_COMMENT 255
#define NFT_COMMENT 127

int set_check_name(const struct command *command, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char others[] = "0123456789_-.";
	bool is_good = *name && strchr(letters, *name) && strlen(name) < SET_NAME_BYTES;

	for (const char *p = name; *p && is_good; p++)
		is_good = strchr(letters, *p) || strchr(others, *p);
	return is_good ? 0 :
			 complain_usage(command,
					"--set '%s': not a letter and up to %d more of letters, "
					"digits, _, - and .",
					name, SET_NAME_BYTES - 2);
}

/* ipset has no prefix of length 0. */
static void split(enum set_format format, struct baleen_span *rest, struct baleen_span *prefix)
{
	struct baleen_span all = *rest;

	if (baleen_span_split(rest, prefix) || format != SET_IPSET)
		return;
	*prefix = baleen_span_prefix(&all, 1);
	rest->first = all.last;
	*rest = baleen_span_prefix(rest, 1);
}

/* nft has intervals of any ends. */
u64 set_elements(enum set_format format, const struct baleen_span *span)
{
	struct baleen_span rest = *span, prefix;
	u64 n = 0;

	if (format == SET_NFT)
		return 1;
	do {
		split(format, &rest, &prefix);
		n++;
	} while (baleen_ip6_compare(prefix.last, span->last));
	return n;
}

/* --- around ------------------------------------------------------------------- */

void set_table_begin(const struct set_writer *writer)
{
	if (writer->format == SET_NFT)
		say("table inet %s {\n", writer->name);
}

void set_table_end(const struct set_writer *writer)
{
	if (writer->format == SET_NFT)
		say("}\n");
}

void set_begin(struct set_writer *writer, bool is_ip6, u64 n)
{
	const char *six = is_ip6 ? "6" : "";

	writer->is_ip6 = is_ip6;
	writer->n = 0;
	if (writer->format == SET_IPSET) {
		say("create %s%s hash:net family inet%s maxelem %llu%s%s\n", writer->name, six, six,
		    (unsigned long long)(n > IPSET_MAXELEM ? n : IPSET_MAXELEM),
		    writer->has_ends ? " timeout 0" : "", writer->has_comments ? " comment" : "");
		return;
	}
	say("\tset %s%s {\n\t\ttype ipv%s_addr\n\t\tflags interval%s\n", writer->name, six,
	    is_ip6 ? "6" : "4", writer->has_ends ? ", timeout" : "");
}

void set_end(struct set_writer *writer)
{
	if (writer->format != SET_NFT)
		return;
	if (writer->n)
		say(" }\n");
	say("\t}\n");
}

/* --- elements ------------------------------------------------------------------ */

/* Neither program has a way to write a quote in a comment. */
static void put_comment(const struct set_writer *writer, const char *comment)
{
	char text[IPSET_COMMENT + 1];
	size_t most = writer->format == SET_IPSET ? IPSET_COMMENT : NFT_COMMENT, n = 0;

	for (; comment[n] && n < most; n++)
		text[n] = comment[n] == '"' ? '\'' : comment[n];
	/* Never half of a character. */
	while (comment[n] && n && ((unsigned char)comment[n] & 0xc0) == 0x80)
		n--;
	text[n] = '\0';
	if (n)
		say(" comment \"%s\"", text);
}

static void put_text(struct set_writer *writer, const char *text, const struct set_extra *extra)
{
	unsigned long long timeout = extra ? extra->timeout_s : 0;

	writer->n++;
	if (writer->format == SET_IPSET)
		say("add %s%s %s", writer->name, writer->is_ip6 ? "6" : "", text);
	else if (writer->n > 1)
		say(",\n\t\t\t     %s", text);
	else
		say("\t\telements = { %s", text);
	if (timeout)
		say(writer->format == SET_IPSET ? " timeout %llu" : " timeout %llus", timeout);
	if (extra && extra->comment)
		put_comment(writer, extra->comment);
	if (writer->format == SET_IPSET)
		say("%s\n", extra && extra->is_exception ? " nomatch" : "");
}

static void put_span(struct set_writer *writer, const struct baleen_span *span,
		     const struct set_extra *extra)
{
	const struct baleen_entry_key key = { .span = *span };

	put_text(writer, baleen_entry_key_text(&key).text, extra);
}

int set_put(struct set_writer *writer, const struct baleen_span *span,
	    const struct set_extra *extra)
{
	struct baleen_span rest = *span, prefix;

	if (writer->format == SET_NFT) {
		put_span(writer, span, extra);
		return ferror(stdout);
	}
	do {
		split(writer->format, &rest, &prefix);
		put_span(writer, &prefix, extra);
	} while (!ferror(stdout) && baleen_ip6_compare(prefix.last, span->last));
	return ferror(stdout);
}
