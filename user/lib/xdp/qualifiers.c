// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Qualifiers of a rule as words. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/protocol.h"
#include "util/service.h"
#include "xdp/limit_words.h"
#include "xdp/qualifiers.h"

/* A number of digits only, at the start of @text; NULL when there is none. */
static const char *scan_number(const char *text, u32 max, u32 *number)
{
	const char *p = text;
	u32 value = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (*p - '0');
		if (value > max)
			return NULL;
	}
	if (p == text)
		return NULL;
	*number = value;
	return p;
}

static int add_proto(struct baleen_qualifiers *qualifiers, const char *value,
		     struct baleen_error *error)
{
	u8 proto;

	if (baleen_protocol_parse(value, &proto))
		return baleen_fail(error, EINVAL,
				   "proto '%s': neither a protocol such as tcp nor a number to 255",
				   value);
	if (qualifiers->has_proto)
		return baleen_fail(error, EEXIST, "proto is given twice");
	qualifiers->has_proto = 1;
	qualifiers->proto = proto;
	return 0;
}

/* N, A-B or the name of a service, which may have dashes in it. */
static int parse_ports(const char *text, struct baleen_port_range *range)
{
	u32 first, last;
	const char *p;
	u16 port = 0;
	int err;

	if (*text < '0' || *text > '9') {
		err = baleen_service_parse(text, &port);
		*range = (struct baleen_port_range){ port, port };
		return err;
	}
	p = scan_number(text, 65535, &first);
	last = first;
	if (p && *p == '-')
		p = scan_number(p + 1, 65535, &last);
	if (!p || *p || last < first || !first)
		return -EINVAL;
	*range = (struct baleen_port_range){ first, last };
	return 0;
}

static int add_dport(struct baleen_qualifiers *qualifiers, const char *value,
		     struct baleen_error *error)
{
	struct baleen_qualifiers added = *qualifiers;
	const char *rest = value;
	char one[64];

	if (qualifiers->n_dports)
		return baleen_fail(error, EEXIST, "dport is given twice: say dport A,B,C-D");
	do {
		size_t length = strcspn(rest, ",");
		struct baleen_port_range range;
		int err;

		snprintf(one, sizeof(one), "%.*s", (int)length, rest);
		err = length < sizeof(one) ? parse_ports(one, &range) : -EINVAL;
		if (err == -ENOENT)
			return baleen_fail(error, EINVAL,
					   "dport '%s': '%s' is no service of /etc/services", value,
					   one);
		if (err)
			return baleen_fail(error, EINVAL,
					   "dport '%s': not ports and ranges such as 22,8000-8010",
					   value);
		if (added.n_dports == BALEEN_MAX_PORTS)
			return baleen_fail(error, EINVAL,
					   "dport '%s': more than %d ports and ranges", value,
					   BALEEN_MAX_PORTS);
		added.dport[added.n_dports++] = range;
		rest += length;
	} while (*rest++ == ',');
	*qualifiers = added;
	return 0;
}

static int add_vlan(struct baleen_qualifiers *qualifiers, const char *value,
		    struct baleen_error *error)
{
	u32 vlan = 0;
	const char *end = scan_number(value, 4094, &vlan);

	if (!end || *end || !vlan)
		return baleen_fail(error, EINVAL, "vlan '%s': not a VLAN from 1 to 4094", value);
	if (qualifiers->has_vlan)
		return baleen_fail(error, EEXIST, "vlan is given twice");
	qualifiers->has_vlan = 1;
	qualifiers->vlan = vlan;
	return 0;
}

/* The words for whoever may know a connection; any of them suffices. */
static const struct {
	const char *word;
	u8 bit;
} sources[] = {
	{ "established", BALEEN_ESTABLISHED_SOCKET },
	{ "conntrack", BALEEN_ESTABLISHED_CONNTRACK },
};

#define N_SOURCES (sizeof(sources) / sizeof(sources[0]))

/* 0: it is another word */
static u8 source_bit(const char *word)
{
	for (size_t i = 0; i < N_SOURCES; i++)
		if (!strcmp(word, sources[i].word))
			return sources[i].bit;
	return 0;
}

static int add_established(struct baleen_qualifiers *qualifiers, const char *word,
			   struct baleen_error *error)
{
	if (qualifiers->established & source_bit(word))
		return baleen_fail(error, EEXIST, "%s is given twice", word);
	qualifiers->established |= source_bit(word);
	return 0;
}

int baleen_is_qualifier(const char *word)
{
	if (!strcmp(word, "tcp-syn") || source_bit(word))
		return 0;
	if (!strcmp(word, "proto") || !strcmp(word, "dport") || !strcmp(word, "vlan"))
		return 1;
	return baleen_is_limit_word(word);
}

int baleen_qualifier_add(struct baleen_qualifiers *qualifiers, struct baleen_rate_limit *limit,
			 const char *word, const char *value, struct baleen_error *error)
{
	int takes = baleen_is_qualifier(word);

	if (takes < 0)
		return baleen_fail(error, ENOENT,
				   "'%s': not a qualifier: proto, dport, tcp-syn, vlan, "
				   "established, conntrack or limit",
				   word);
	if (takes && !value)
		return baleen_fail(error, EINVAL, "%s: its value is missing", word);
	if (baleen_is_limit_word(word) >= 0)
		return baleen_limit_word_add(limit, word, value, error);
	if (!strcmp(word, "proto"))
		return add_proto(qualifiers, value, error);
	if (!strcmp(word, "dport"))
		return add_dport(qualifiers, value, error);
	if (!strcmp(word, "vlan"))
		return add_vlan(qualifiers, value, error);
	if (source_bit(word))
		return add_established(qualifiers, word, error);
	if (qualifiers->tcp_syn)
		return baleen_fail(error, EEXIST, "tcp-syn is given twice");
	qualifiers->tcp_syn = 1;
	return 0;
}

int baleen_qualifiers_parse(const char *text, struct baleen_qualifiers *qualifiers,
			    struct baleen_rate_limit *limit, struct baleen_error *error)
{
	struct baleen_qualifiers parsed = { 0 };
	struct baleen_rate_limit limited = { 0 };
	char *words = strdup(text), *rest = words, *word;
	int err = 0;

	if (!words)
		return baleen_fail(error, ENOMEM, "no memory for qualifiers");
	while (!err && (word = strsep(&rest, " "))) {
		const char *value = NULL;

		/* One empty word is an empty text, and no qualifier. */
		if (!*word && !rest && word == words)
			break;
		if (baleen_is_qualifier(word) > 0)
			value = strsep(&rest, " ");
		err = baleen_qualifier_add(&parsed, &limited, word, value, error);
	}
	free(words);
	if (!err)
		err = baleen_qualifiers_check(&parsed, &limited, error);
	if (!err) {
		*qualifiers = parsed;
		*limit = limited;
	}
	return err;
}

static int check_proto(const struct baleen_qualifiers *qualifiers, struct baleen_error *error)
{
	if (!qualifiers->has_proto)
		return 0;
	if (qualifiers->tcp_syn && qualifiers->proto != BALEEN_PROTO_TCP)
		return baleen_fail(error, EINVAL,
				   "tcp-syn and another protocol than tcp: "
				   "no packet is both");
	if (qualifiers->n_dports && !baleen_proto_has_ports(qualifiers->proto))
		return baleen_fail(error, EINVAL,
				   "dport and a protocol without ports: "
				   "no packet has both");
	return 0;
}

/* Without `unverified` only TCP counts, by the numbers of its connection: bpf/limit.h. */
static int check_limit(const struct baleen_qualifiers *qualifiers,
		       const struct baleen_rate_limit *limit, struct baleen_error *error)
{
	if (!limit->rate || limit->unverified)
		return 0;
	if (qualifiers->tcp_syn || (qualifiers->has_proto && qualifiers->proto != BALEEN_PROTO_TCP))
		return baleen_fail(error, EINVAL,
				   "limit: none of these packets comes after a handshake, so "
				   "their senders may be made up: say unverified to count them");
	return 0;
}

int baleen_qualifiers_check(const struct baleen_qualifiers *qualifiers,
			    const struct baleen_rate_limit *limit, struct baleen_error *error)
{
	int err;

	if (qualifiers->n_dports > BALEEN_MAX_PORTS)
		return baleen_fail(error, EINVAL, "more than %d ports and ranges",
				   BALEEN_MAX_PORTS);
	/* Port 0 is what protocols without ports have. */
	for (u32 i = 0; i < qualifiers->n_dports; i++)
		if (!qualifiers->dport[i].first ||
		    qualifiers->dport[i].first > qualifiers->dport[i].last)
			return baleen_fail(error, EINVAL, "ports %u-%u: no range from 1 to 65535",
					   qualifiers->dport[i].first, qualifiers->dport[i].last);
	if (qualifiers->has_vlan && (!qualifiers->vlan || qualifiers->vlan > 4094))
		return baleen_fail(error, EINVAL, "vlan %u: not a VLAN from 1 to 4094",
				   qualifiers->vlan);
	if (qualifiers->established & ~BALEEN_ESTABLISHED_ALL)
		return baleen_fail(error, EINVAL, "established is %u: not of this version",
				   qualifiers->established);
	err = check_proto(qualifiers, error);
	if (!err)
		err = baleen_limit_words_check(limit, error);
	return err ? err : check_limit(qualifiers, limit, error);
}

/* Would cut off text that does not fit; all qualifiers fit in BALEEN_QUALIFIERS_TEXT. */
static char *append(char *at, char *end, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static char *append(char *at, char *end, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(at, end - at, format, args);
	va_end(args);
	return n < end - at ? at + n : end - 1;
}

void baleen_qualifiers_format(const struct baleen_qualifiers *qualifiers,
			      const struct baleen_rate_limit *limit, char *text)
{
	char line[BALEEN_QUALIFIERS_TEXT + 1] = " ", *at = line, *end = line + sizeof(line);
	char proto[BALEEN_PROTOCOL_TEXT], words[BALEEN_LIMIT_WORDS_TEXT];

	if (qualifiers->has_proto)
		at = append(at, end, " proto %s", baleen_protocol_text(qualifiers->proto, proto));
	for (u32 i = 0; i < qualifiers->n_dports && i < BALEEN_MAX_PORTS; i++) {
		const struct baleen_port_range *range = &qualifiers->dport[i];

		at = append(at, end, "%s%u", i ? "," : " dport ", range->first);
		if (range->last != range->first)
			at = append(at, end, "-%u", range->last);
	}
	if (qualifiers->tcp_syn)
		at = append(at, end, " tcp-syn");
	if (qualifiers->has_vlan)
		at = append(at, end, " vlan %u", qualifiers->vlan);
	for (size_t i = 0; i < N_SOURCES; i++)
		if (qualifiers->established & sources[i].bit)
			at = append(at, end, " %s", sources[i].word);
	if (limit->rate)
		append(at, end, " %s", baleen_limit_words_format(limit, words));
	memcpy(text, line + 1, BALEEN_QUALIFIERS_TEXT);
}
