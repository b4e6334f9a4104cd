// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines of other formats, told from those of a list. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "key/key_text.h"
#include "key/span.h"
#include "list/foreign.h"

#define HAS_COMMAND "; baleen-lists(5) has the command for it"

static const char spaced_range[] = "range with white space: write it A-B";
static const char is_table[] = "columns of a table, which --column reads";

/**
 * struct word - a part of a line
 * @start: its first byte
 * @end: behind its last
 */
struct word {
	const char *start;
	const char *end;
};

static size_t length_of(struct word word)
{
	return word.end - word.start;
}

static bool is(struct word word, const char *text)
{
	return length_of(word) == strlen(text) && !memcmp(word.start, text, length_of(word));
}

static bool begins_with(struct word word, const char *text)
{
	return length_of(word) >= strlen(text) && !memcmp(word.start, text, strlen(text));
}

/* Only these bytes, and one of them or more. */
static bool is_of(struct word word, const char *bytes)
{
	const char *p = word.start;

	while (p < word.end && *p && strchr(bytes, *p))
		p++;
	return p == word.end && length_of(word);
}

static bool has(struct word word, char c)
{
	return memchr(word.start, c, length_of(word));
}

static u32 count(struct word word, char c)
{
	u32 n = 0;

	for (const char *p = word.start; p < word.end; p++)
		n += *p == c;
	return n;
}

/* The next word from @p on, which ends at white space or one of @stops; empty at the end. */
static struct word next_word(const char *p, const char *end, const char *stops)
{
	struct word word;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	word = (struct word){ p, p };
	while (word.end < end && *word.end != ' ' && *word.end != '\t' && !strchr(stops, *word.end))
		word.end++;
	return word;
}

static bool is_span(struct word word, struct baleen_span *span)
{
	const char *reason;

	/* Most words are none: a count, a date, a country. "::" stands between columns, too. */
	if (!length_of(word) || !(isxdigit((u8)*word.start) || *word.start == ':') ||
	    !(has(word, '.') || has(word, ':')) || is(word, "::"))
		return false;
	return !baleen_span_parse(word.start, length_of(word), span, &reason);
}

static bool is_host(struct word word, struct baleen_span *span)
{
	return is_span(word, span) && !baleen_ip6_compare(span->first, span->last);
}

/* --- behind a key ------------------------------------------------------------ */

/* 255.255.255.0, or 0.0.0.255: the lowest bits are all alike. */
static bool is_mask(u32 mask)
{
	return !(mask & (mask + 1));
}

static const char *second_address(const struct baleen_span *span)
{
	u32 ip4 = span->first.lo;
	bool is_ip4 = !span->is_ip6 && !baleen_ip6_compare(span->first, span->last);

	if (is_ip4 && ip4 && is_mask(~ip4))
		return "netmask behind the address: write it ADDR/LEN";
	if (is_ip4 && is_mask(ip4))
		return "wildcard mask behind the address: write it ADDR/LEN";
	return "a second address behind the address: a range is A-B, --column reads a table";
}

/* 0.0.0.0 ads.example.com: nobody means the address. */
static const char *hosts_line(const char *key, struct word word)
{
	static const char *const nowhere[] = { "0.0.0.0", "127.0.0.1", "::", "::1" };
	bool has_letter = false;

	for (const char *p = word.start; p < word.end; p++) {
		if (!isalnum((u8)*p) && !strchr(".-_", *p))
			return NULL;
		has_letter |= isalpha((u8)*p) != 0;
	}
	if (!has_letter || !has(word, '.'))
		return NULL;
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		size_t length = strlen(nowhere[i]);

		if (!strncmp(key, nowhere[i], length) &&
		    (key[length] == ' ' || key[length] == '\t'))
			return "a line of a hosts file" HAS_COMMAND;
	}
	return NULL;
}

/* 192.0.2.7 OK: tables of mail servers have those that may pass beside those that may not. */
static const char *lets_pass(const char *p, const char *end)
{
	static const char *const words[] = { "ok",     "dunno", "permit", "allow",
					     "accept", "pass",	"relay" };
	struct word word = next_word(p, end, "#"), rest = next_word(word.end, end, "#");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !length_of(rest); i++)
		if (length_of(word) == strlen(words[i]) &&
		    !strncasecmp(word.start, words[i], length_of(word)))
			return "a word that lets it pass: '!' makes an exception" HAS_COMMAND;
	return NULL;
}

/* 192.0.2.1 - - [27/Nov/2026:18:00:00 +0000] "GET /": whoever has come is banned by no log. */
static bool is_log_time(struct word word)
{
	return begins_with(word, "[") && count(word, '/') == 2 && count(word, ':') >= 2;
}

/* 192.0.2.0 /24, and 192.0.2.0 / 24. */
static bool is_length(struct word word, const char *end)
{
	if (!begins_with(word, "/"))
		return false;
	if (length_of(word) > 1)
		return isdigit((u8)word.start[1]);
	return is_of(next_word(word.end, end, ",;#|"), "0123456789");
}

static const char *behind_address(const char *key, const char *p, const char *end)
{
	bool is_first = true, is_range = false;
	struct baleen_span span;

	while (p < end && *p != '#') {
		struct word word = next_word(p, end, ",;#|");
		const char *reason = NULL;

		p = word.end;
		if (is_log_time(word))
			return "a line of an access log" HAS_COMMAND;
		if (begins_with(word, "!"))
			word.start++;
		if (is_first && is_length(word, end))
			return "prefix length behind white space: write it ADDR/LEN";
		if (begins_with(word, "-")) {
			is_range = true;
			word.start++;
		}
		if (is_span(word, &span))
			return is_range ? spaced_range : second_address(&span);
		if (is_first && length_of(word))
			reason = hosts_line(key, word);
		if (reason)
			return reason;
		is_range |= is(word, "to");
		is_first &= !length_of(word);
		if (p == end || *p == ' ' || *p == '\t')
			continue;
		if (*p == ';') {
			/* The rest is a comment, unless it is a column. */
			word = next_word(p + 1, end, ",;#|");
			return is_span(word, &span) ? second_address(&span) : NULL;
		}
		p += *p != '#';
	}
	return NULL;
}

/* A key of several fields: twice the same is a range, or two lines in one. */
static const char *behind_fields(u32 key_spec, const char *p, const char *end)
{
	struct word word = next_word(p, end, ";#");
	struct baleen_key key;
	const char *reason;
	bool is_range = begins_with(word, "-");

	if (is_range)
		word = next_word(word.start + 1, end, ";#");
	/* Behind ports alone a number may be a count. */
	if (!length_of(word) || (!is_range && !(key_spec & (BALEEN_KEY_SRC | BALEEN_KEY_DST))) ||
	    baleen_key_parse(word.start, length_of(word), key_spec, &key, &reason))
		return NULL;
	return is_range ? spaced_range : "a second key behind the key";
}

/* Most lines have nothing behind their key that could be one. */
static bool may_have_key(const char *p, const char *end)
{
	while (p < end && *p != '.' && *p != ':' && *p != '/' && *p != '#')
		p++;
	return p < end && *p != '#';
}

const char *baleen_foreign_behind(u32 key_spec, const char *key, const char *p, const char *end)
{
	if (p == end)
		return NULL;
	if (!baleen_spec_is_address(key_spec))
		return behind_fields(key_spec, p, end);
	return may_have_key(p, end) ? behind_address(key, p, end) : lets_pass(p, end);
}

/* --- instead of an address --------------------------------------------------- */

/* By the first word of the line, in any case. */
static const struct {
	const char *word;
	const char *reason;
} formats[] = {
	{ "access-list", "a line of Cisco's IOS" HAS_COMMAND },
	{ "blackhole", "a route of 'ip route'" HAS_COMMAND },
	{ "unreachable", "a route of 'ip route'" HAS_COMMAND },
	{ "prohibit", "a route of 'ip route'" HAS_COMMAND },
	{ "route:", "a route of a routing registry" HAS_COMMAND },
	{ "route6:", "a route of a routing registry" HAS_COMMAND },
	{ "geo", "a line of .htaccess or nginx" HAS_COMMAND },
	{ "deny", "a line of .htaccess or nginx" HAS_COMMAND },
	{ "allow", "a line of .htaccess or nginx" HAS_COMMAND },
	{ "order", "a line of .htaccess or nginx" HAS_COMMAND },
	{ "require", "a line of .htaccess or nginx" HAS_COMMAND },
	{ "<requireall>", "a line of .htaccess or nginx" HAS_COMMAND },
	{ "<limit", "a line of .htaccess or nginx" HAS_COMMAND },
	{ "/ip", "a line of MikroTik's RouterOS" HAS_COMMAND },
	{ "exitnode", "a line of Tor's exit addresses" HAS_COMMAND },
	{ "$ttl", "a line of a zone (RPZ)" HAS_COMMAND },
	{ "$origin", "a line of a zone (RPZ)" HAS_COMMAND },
	{ "@", "a line of a zone (RPZ)" HAS_COMMAND },
	{ "-a", "a line of iptables-save" HAS_COMMAND },
	{ "*filter", "a line of iptables-save" HAS_COMMAND },
	{ "*raw", "a line of iptables-save" HAS_COMMAND },
	{ "*nat", "a line of iptables-save" HAS_COMMAND },
	{ "*mangle", "a line of iptables-save" HAS_COMMAND },
	{ "chain", "what 'iptables -L' prints" HAS_COMMAND },
	{ "status:", "what 'ufw status' prints" HAS_COMMAND },
	{ "status", "what fail2ban-client prints" HAS_COMMAND },
	{ "name:", "what 'ipset list' prints: 'ipset save' prints what is read" },
	{ "-", "an item of YAML" HAS_COMMAND },
	{ "//", "a comment stands behind '#' or ';'" },
	{ "%", "a comment stands behind '#' or ';'" },
};

/* Both have a line that begins so: table inet f {, and table <bad> persist. */
static const char *table_of(struct word word, struct word line)
{
	if (!is(word, "table"))
		return NULL;
	return memchr(line.start, '<', length_of(line)) ?
		       "a table of pf: 'pfctl -t NAME -T show' prints a list" :
		       "nft's text: 'nft -j' prints what 'baleen import' reads";
}

static bool is_as_number(struct word word)
{
	return length_of(word) > 2 && !strncasecmp(word.start, "AS", 2) &&
	       is_of((struct word){ word.start + 2, word.end }, "0123456789");
}

static const char *format_of(struct word word, struct word line)
{
	const char *reason = table_of(word, line);

	if (reason)
		return reason;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (length_of(word) == strlen(formats[i].word) &&
		    !strncasecmp(word.start, formats[i].word, length_of(word)))
			return formats[i].reason;
	if (memmem(line.start, length_of(line), ".rpz-", 5))
		return "a line of a zone (RPZ)" HAS_COMMAND;
	if (is(word, "add") && memmem(line.start, length_of(line), "address=", 8))
		return "a line of MikroTik's RouterOS" HAS_COMMAND;
	if (memmem(line.start, length_of(line), "prefix-list", 11))
		return "a line of a prefix list" HAS_COMMAND;
	return is_as_number(word) ? "an AS number" HAS_COMMAND : NULL;
}

/* `sshd: 192.0.2.1` and `Name of it:192.0.2.0-192.0.2.255` */
static const char *behind_colon(struct word line)
{
	const char *colon = memrchr(line.start, ':', length_of(line));
	struct word word = { colon ? colon + 1 : line.end, line.end };
	struct baleen_span span;

	/* An IPv6 address has colons, and is bad for another reason. */
	if (!colon || colon == line.start ||
	    is_of((struct word){ line.start, colon }, "0123456789abcdefABCDEF:.-/"))
		return NULL;
	if (has(word, '-') && is_span(word, &span))
		return "a line of a P2P list" HAS_COMMAND;
	word = next_word(word.start, line.end, ",");
	return is_host(word, &span) ? "a line of hosts.deny" HAS_COMMAND : NULL;
}

/* As keys of several fields do. */
static bool begins_with_protocol(struct word word)
{
	return begins_with(word, "tcp,") || begins_with(word, "udp,");
}

/* 192.0.2.1,192.0.2.9 and a,b,c; not 192.0.2.1,tcp:80. */
static bool is_row(struct word word)
{
	u32 n_commas = count(word, ',');
	const char *comma = memchr(word.start, ',', length_of(word));
	struct baleen_span span;
	struct word rest;

	if (begins_with_protocol(word))
		return false;
	if (has(word, '|') || n_commas > 1)
		return true;
	if (!n_commas)
		return false;
	rest = (struct word){ comma + 1, word.end };
	if (is_span(rest, &span) || !length_of(rest) || is_of(rest, "0123456789"))
		return true;
	return isalpha((u8)*word.start) && !is_span((struct word){ word.start, comma }, &span);
}

/* 192.0.2.1,192.0.2.2,192.0.2.3: two may be the ends of a range. */
static bool is_row_of_spans(struct word word)
{
	const char *p = word.start;
	struct baleen_span span;

	if (count(word, ',') < 2)
		return false;
	while (p < word.end) {
		struct word cell = next_word(p, word.end, ",");

		if (!is_span(cell, &span))
			return false;
		p = cell.end + 1;
	}
	return true;
}

/* Signs that come with an address from a page, a program or another file. */
static const char *around(struct word word)
{
	if (begins_with(word, "\xef\xbb\xbf"))
		return "a byte order mark: another file begins here";
	if (begins_with(word, "'") && length_of(word) > 1 && isxdigit((u8)word.start[1]))
		return "quotes around the address" HAS_COMMAND;
	for (const char *p = word.start; p < word.end && isxdigit((u8)*word.start); p++)
		if ((u8)*p >= 0x80)
			return "a blank or sign that is not ASCII";
	return NULL;
}

/* As `uniq -c` prints it. */
static bool is_count(struct word word, struct word line)
{
	struct baleen_span span;

	return is_of(word, "0123456789") && is_span(next_word(word.end, line.end, ",;#|"), &span);
}

/* Commands, configurations and logs have addresses anywhere. */
static bool has_address(struct word line)
{
	const char *p = line.start;
	struct baleen_span span;

	while (p < line.end && *p != '#') {
		struct word word = next_word(p, line.end, ",;#|=(){}[]'\"");

		if (is_span(word, &span))
			return true;
		p = word.end + (word.end < line.end && *word.end != '#');
	}
	return false;
}

/* Octets that are missing or no numbers. */
static const char *octets(struct word word)
{
	struct word last = { memrchr(word.start, '-', length_of(word)), word.end };
	struct baleen_span span;

	if (is_of(word, "0123456789") && length_of(word) > 3)
		return "an integer" HAS_COMMAND;
	if (is_of(word, "0123456789./") && count(word, '/') == 1 && count(word, '.') < 3 &&
	    isdigit((u8)*word.start) && isdigit((u8)word.end[-1]))
		return "short prefix: write all four octets";
	if (is_of(word, "0123456789.*") && has(word, '*') && has(word, '.'))
		return "wildcard: write it ADDR/LEN";
	if (last.start && is_of((struct word){ last.start + 1, word.end }, "0123456789") &&
	    is_host((struct word){ word.start, last.start }, &span))
		return "range with a part of its end: write it A-B";
	last.start = memchr(word.start, '/', length_of(word));
	if (last.start && is_host((struct word){ last.start + 1, word.end }, &span) &&
	    is_host((struct word){ word.start, last.start }, &span))
		return "netmask behind the address: write it ADDR/LEN";
	return NULL;
}

const char *baleen_foreign_reason(const char *start, const char *word_end, const char *end,
				  const char *reason)
{
	struct word line = { start, end }, word = { start, word_end };
	const char *better = format_of(word, line);

	if (!better && is_count(word, line))
		better = "a count before the address" HAS_COMMAND;
	if (!better)
		better = octets(word);
	if (!better)
		better = around(word);
	if (!better && is_row_of_spans(word))
		better = "addresses with commas between" HAS_COMMAND;
	if (!better && is_row(word))
		better = is_table;
	if (!better)
		better = behind_colon(line);
	/* The first column has blanks in it, as a date does, and is no address. */
	if (!better && !has(word, '.') && count(line, ',') > 1)
		better = is_table;
	/* Another reason says more, and behind a lone exclamation mark there is no word. */
	if (!better && strstr(reason, "not an address") && length_of(word) &&
	    !begins_with_protocol(word) && has_address(line))
		better = "an address behind other words or signs" HAS_COMMAND;
	return better ?: reason;
}
