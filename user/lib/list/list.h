/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a list as people write it to a set of canonical keys.
 *
 * One entry a line: an address, ADDR/LEN, or a range A-B; then, after white
 * space, what does not make it another entry (a score, a comment; foreign.h).
 * `#` and `;` start a comment. Blank lines, CRLF and a UTF-8 byte order mark
 * are fine. `ipset save` files are
 * read: `add NAME KEY ...` gives KEY, whatever its timeout, and of a set that
 * `create` gives a netmask its network. Bits below a prefix length are masked, as ipset does.
 *
 * `!KEY` and ipset's nomatch are exceptions: the longest prefix that covers an
 * address decides whether it is in the set, and of two of one length the
 * exception. A range counts as the prefixes that make it up.
 *
 * A key of several fields is their values in the order proto, src, dst, sport,
 * dport, with commas between: `192.0.2.1,443` for src,dport. It has neither
 * prefixes nor ranges nor exceptions. ipset's `192.0.2.1,tcp:443` is read for
 * keys of proto, one address and one port (key_text.h).
 *
 * A string is its line as it stands, without a carriage return at its end: any
 * bytes, and no comments. Empty lines are passed over.
 *
 * A key of Squid is a URL or 32 hexadecimal digits, alone in its line but for white
 * space around it. `#` and `;` start a comment only where the line begins: URLs have
 * them.
 *
 * An ambiguous line is a bad line, never a guess: 010.0.0.1,
 * `A - B` with white space, zones, a carriage return or NUL byte in the line,
 * more than 4096 bytes; of a URL 8191.
 */
#ifndef BALEEN_LIST_H
#define BALEEN_LIST_H

#include "key/key_text.h"
#include "key/span.h"
#include "list/string_keys.h"
#include "util/error.h"

/**
 * struct baleen_net4 - an interval of IPv4 addresses
 * @first: lowest address as a number
 * @last: highest
 */
struct baleen_net4 {
	u32 first;
	u32 last;
};

/**
 * struct baleen_prefix4 - an IPv4 prefix or exception as it was listed
 * @address: as a number; bits below the length are zero
 * @length: 0 to 32
 * @is_exception: the keys that it covers are not in the set
 */
struct baleen_prefix4 {
	u32 address;
	u8 length;
	u8 is_exception;
};

/**
 * struct baleen_prefix6 - an IPv6 prefix or exception
 * @hi: bits 127..64; bits below the length are zero
 * @lo: bits 63..0
 * @length: 0 to 128
 * @is_exception: the keys that it covers are not in the set
 */
struct baleen_prefix6 {
	u64 hi;
	u64 lo;
	u8 length;
	u8 is_exception;
};

/**
 * struct baleen_list - the keys of one or more lists
 * @key_spec: enum baleen_key_spec, set before the first list is read; 0 is src
 * @ip4: IPv4 hosts
 * @n_ip4: how many
 * @room_ip4: allocated
 * @net4: IPv4 intervals of two addresses or more; empty before
 *        baleen_list_finish()
 * @n_net4: how many
 * @room_net4: allocated
 * @ip6: IPv6 hosts
 * @n_ip6: how many
 * @room_ip6: allocated
 * @prefix6: IPv6 prefixes and exceptions
 * @n_prefix6: how many
 * @room_prefix6: allocated
 * @key: keys of several fields, or of Squid
 * @n_key: how many
 * @room_key: allocated
 * @prefix4: IPv4 prefixes and exceptions as read; empty after
 *           baleen_list_finish()
 * @n_prefix4: how many
 * @room_prefix4: allocated
 * @strings: strings; @key is empty but for baleen_list_resolve()
 * @keeps_copies: set before the first list is read: what is listed twice stays
 *                twice, where no prefixes are listed beside it; for a filter of
 *                copies only
 * @n_lines: lines read
 * @n_bad: bad lines that were passed over
 * @n_ends: entries of `ipset save` that end, which is not kept
 * @n_listed: entries read; a range counts as its prefixes
 * @n_covered: of them, those that another makes superfluous: duplicates, what
 *             is also listed as an exception of the same length, and hosts,
 *             prefixes and exceptions that say what the next wider one around
 *             them says (where there is none: not in the set); valid after
 *             baleen_list_finish()
 *
 * All zeros is an empty list of addresses. After baleen_list_finish() every
 * array is sorted and without duplicates, and
 *
 * - @net4 are disjoint and no two of them touch; @ip4 are outside of them, and
 *   hosts side by side stay hosts. Together they are the set: exceptions have
 *   been cut out, and what is left of a prefix may be a host.
 * - @prefix6 is empty and @ip6 the set; or @ip6 is empty and @prefix6, hosts as
 *   /128 among them, is what the longest prefix decides by. In it no entry says
 *   what the next wider one around it says already, and no two halves of one
 *   prefix say the same (the wider one stands for them); no exception stands
 *   where nothing would be in the set anyway. Sorted by address, then length.
 */
struct baleen_list {
	u32 key_spec;
	u32 *ip4;
	size_t n_ip4, room_ip4;
	struct baleen_net4 *net4;
	size_t n_net4, room_net4;
	struct baleen_ip6 *ip6;
	size_t n_ip6, room_ip6;
	struct baleen_prefix6 *prefix6;
	size_t n_prefix6, room_prefix6;
	struct baleen_key *key;
	size_t n_key, room_key;
	struct baleen_prefix4 *prefix4;
	size_t n_prefix4, room_prefix4;
	struct baleen_strings strings;
	bool keeps_copies;
	u64 n_lines;
	u64 n_bad;
	u64 n_ends;
	u64 n_listed;
	u64 n_covered;
};

/**
 * struct baleen_list_problem - one bad line
 * @file: the name given to baleen_list_read()
 * @line: line number, from 1
 * @text: the offending text, fit to be shown (util/foreign.h), cut to 64 bytes and "..."; NULL
 *        when the list is private
 * @reason: why it is bad, a constant string
 *
 * @file and @text are valid during the callback.
 */
struct baleen_list_problem {
	const char *file;
	u64 line;
	const char *text;
	const char *reason;
};

/**
 * struct baleen_list_reader - what to do with bad lines, and what ends one
 * @on_bad: called for each bad line; may be NULL
 * @data: passed to @on_bad
 * @ends_with_nul: strings end with NUL bytes, and newlines are part of them
 * @is_private: not everybody who sees messages may see what stands in the list
 * @max_entries: reading ends with -E2BIG when there are more; 0 for any number
 * @written: entries as they were written (written.h), filled in by who finishes the list that was
 *           read; NULL for no need of them
 */
struct baleen_list_reader {
	void (*on_bad)(void *data, const struct baleen_list_problem *problem);
	void *data;
	bool ends_with_nul;
	bool is_private;
	u64 max_entries;
	struct baleen_list *written;
};

/**
 * baleen_list_problem_fail() - a bad line as an error
 * @problem: the line
 * @error: filled in: file, line, the text unless the list is private, and the reason
 *
 * Return: -EINVAL.
 */
int baleen_list_problem_fail(const struct baleen_list_problem *problem, struct baleen_error *error);

/**
 * baleen_list_read() - append the keys of one list
 * @list: appended to, also when some lines are bad
 * @fd: open for reading; a file, pipe or terminal; read to its end
 * @name: name of the list in messages
 * @reader: how to treat bad lines
 * @error: filled in on failure
 *
 * Bad lines are reported to @reader, counted in @list->n_bad and passed over;
 * the caller decides whether the list may be used. After a failure the list
 * holds the keys read so far.
 *
 * A long file is parsed by all threads (threads.h): keys come in any order, which
 * baleen_list_finish() settles; bad lines are reported in theirs, one at a time, by any
 * of the threads.
 *
 * Return: 0, -ENOMEM, -E2BIG, or the negative errno of a failed read.
 */
int baleen_list_read(struct baleen_list *list, int fd, const char *name,
		     const struct baleen_list_reader *reader, struct baleen_error *error);

/**
 * baleen_list_read_text() - the same from memory
 * @list: to be appended to; with the fields of a key, not for strings
 * @text: lines
 * @name: of the text, for messages
 * @reader: as of baleen_list_read()
 * @error: filled in on failure
 *
 * Nothing is written, so that a filter is derived also while nothing can be.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_read_text(struct baleen_list *list, const char *text, const char *name,
			  const struct baleen_list_reader *reader, struct baleen_error *error);

/**
 * baleen_list_add() - append one key as it was typed
 * @list: appended to
 * @text: what a line can be, without blanks, a comment or anything else around it
 * @reason: why it is bad, a constant string; untouched otherwise
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int baleen_list_add(struct baleen_list *list, const char *text, const char **reason);

/**
 * baleen_list_add_ip4() - append a host
 * @list: appended to; its count of entries is left alone
 * @host: in host order
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_add_ip4(struct baleen_list *list, u32 host);

/**
 * baleen_list_add_ip6() - the same of IPv6
 * @list: as for baleen_list_add_ip4()
 * @host: the host
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_add_ip6(struct baleen_list *list, struct baleen_ip6 host);

/**
 * baleen_list_add_prefix4() - append a prefix
 * @list: as for baleen_list_add_ip4()
 * @address: its first address, in host order
 * @length: its length
 * @is_exception: what is in it is not in the set
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_add_prefix4(struct baleen_list *list, u32 address, u32 length, bool is_exception);

/**
 * baleen_list_add_prefix6() - the same of IPv6
 * @list: as for baleen_list_add_ip4()
 * @address: its first address
 * @length: its length
 * @is_exception: what is in it is not in the set
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_add_prefix6(struct baleen_list *list, struct baleen_ip6 address, u32 length,
			    bool is_exception);

/**
 * baleen_list_has_exceptions() - does one of the lines begin with `!`?
 * @list: as read, before baleen_list_finish()
 *
 * Return: true when one does.
 */
bool baleen_list_has_exceptions(const struct baleen_list *list);

/**
 * baleen_list_finish() - make the set: sort, merge, cut out the exceptions
 * @list: as read; untouched on failure but for the order of its arrays. Strings
 *        stay in their order
 *
 * A list without prefixes needs no further memory, but takes some where threads sort it. No
 * more lists may be read after it.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_finish(struct baleen_list *list);

/**
 * baleen_list_free() - free the arrays and make the list empty
 * @list: the list
 */
void baleen_list_free(struct baleen_list *list);

struct baleen_entry;

/**
 * baleen_list_append() - append what a line says
 * @list: appended to, and its count of entries
 * @entry: the parsed line; a blank or bad one is nothing
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_append(struct baleen_list *list, const struct baleen_entry *entry);

/**
 * baleen_list_append_string() - append a string
 * @list: appended to, and its count of entries
 * @bytes: the string; an empty one is none
 * @n_bytes: its length
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_append_string(struct baleen_list *list, const char *bytes, size_t n_bytes);

/**
 * baleen_list_append_all() - append all entries of another list
 * @list: appended to, also its counts of entries and bad lines
 * @more: as read, without strings; stays as it is
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_append_all(struct baleen_list *list, const struct baleen_list *more);

/* Called with a line of a list; a nonzero return ends the walk. */
typedef int baleen_list_visit(const struct baleen_entry *entry, u64 line, void *data);

/**
 * baleen_list_scan() - all lines of a list, parsed
 * @fd: open for reading; read from where it is
 * @key_spec: enum baleen_key_spec of the list; not BALEEN_KEY_STRING
 * @visit: called with each line (list_entry.h), blank and bad ones among them, which it may
 *         not keep, and its number, from 1
 * @data: passed to @visit
 *
 * Return: 0, what @visit returned, -ENOMEM, or the negative errno of a failed read.
 */
int baleen_list_scan(int fd, u32 key_spec, baleen_list_visit *visit, void *data);

/**
 * baleen_list_find() - which line of a list makes a key a member of it
 * @fd: open for reading; read from where it is
 * @key_spec: enum baleen_key_spec of the list
 * @key: the key to look for
 * @line: number of the line that decides: of those with the longest prefix
 *        that covers @key the first
 * @text: that line's entry, NUL-terminated, cut to @text_bytes
 * @text_bytes: size of @text
 *
 * Return: 0; -ENOENT when no line holds it or an exception decides; -ENOMEM, or
 * the negative errno of a failed read. Outputs are untouched on failure.
 */
int baleen_list_find(int fd, u32 key_spec, const struct baleen_key *key, u64 *line, char *text,
		     size_t text_bytes);

/**
 * struct baleen_list_line - a line of a list that covers a key
 * @number: number of the line, from 1
 * @length: length of the prefix of it that covers the key; 0 for a key of several fields
 * @is_exception: the keys that it covers are not in the set
 * @text: the entry as it stands there, behind `!` when it is an exception
 */
struct baleen_list_line {
	u64 number;
	u32 length;
	bool is_exception;
	char text[2 * BALEEN_KEY_TEXT];
};

/**
 * baleen_list_find_each() - all lines of a list that cover a key
 * @fd: open for reading; read from where it is
 * @key_spec: enum baleen_key_spec of the list
 * @key: the key to look for
 * @visit: called with each, in the order of the file; a nonzero return ends the walk
 * @data: passed to @visit
 *
 * Return: 0, what @visit returned, -ENOMEM, or the negative errno of a failed read.
 */
int baleen_list_find_each(int fd, u32 key_spec, const struct baleen_key *key,
			  int (*visit)(const struct baleen_list_line *line, void *data),
			  void *data);

#endif /* BALEEN_LIST_H */
