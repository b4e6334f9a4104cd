// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a list, the first of them as its fields: an address is in the
 * finished set when the longest of the entries that were read says so, and then
 * a line is found for it, and one of its spans has it; the text of each key is read back as itself. Strings
 * are what stands between newlines or NUL bytes, each once.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "list/list.h"
#include "list/list_spans.h"
#include "target.h"

/* Entries of which the addresses at both ends are tried. */
#define N_CHECKED 8

#define MAX_BYTES 1024
#define MAX_ENTRIES 65536

typedef unsigned __int128 u128;

/* An entry as it was read, or of the set: IPv4 or IPv6. */
struct entry {
	bool is_ip6;
	bool is_exception;
	int length;
	u128 first;
	u128 last;
};

struct entries {
	size_t n;
	struct entry entry[MAX_ENTRIES];
};

static void add(struct entries *entries, bool is_ip6, u128 first, int length, bool is_exception)
{
	int n_bits = (is_ip6 ? 128 : 32) - length;
	u128 mask = n_bits == 128 ? ~(u128)0 : ((u128)1 << n_bits) - 1;

	check(entries->n < MAX_ENTRIES && !(first & mask));
	entries->entry[entries->n++] = (struct entry){
		.is_ip6 = is_ip6,
		.is_exception = is_exception,
		.length = length,
		.first = first,
		.last = first | mask,
	};
}

/* Hosts and prefixes; intervals are added by the caller, for they are none. */
static void take_entries(const struct baleen_list *list, struct entries *entries)
{
	entries->n = 0;
	for (size_t i = 0; i < list->n_ip4; i++)
		add(entries, false, list->ip4[i], 32, false);
	for (size_t i = 0; i < list->n_prefix4; i++)
		add(entries, false, list->prefix4[i].address, list->prefix4[i].length,
		    list->prefix4[i].is_exception);
	for (size_t i = 0; i < list->n_ip6; i++)
		add(entries, true, (u128)list->ip6[i].hi << 64 | list->ip6[i].lo, 128, false);
	for (size_t i = 0; i < list->n_prefix6; i++)
		add(entries, true, (u128)list->prefix6[i].hi << 64 | list->prefix6[i].lo,
		    list->prefix6[i].length, list->prefix6[i].is_exception);
	for (size_t i = 0; i < list->n_net4; i++)
		entries->entry[entries->n++] = (struct entry){
			.first = list->net4[i].first,
			.last = list->net4[i].last,
		};
}

/* The longest wins; of two of one length the exception. */
static bool slow_test(const struct entries *entries, bool is_ip6, u128 address)
{
	bool is_in = false;
	int length = -1;

	for (size_t i = 0; i < entries->n; i++) {
		const struct entry *entry = &entries->entry[i];

		if (entry->is_ip6 != is_ip6 || entry->length < length || address < entry->first ||
		    address > entry->last)
			continue;
		is_in = !entry->is_exception && (is_in || entry->length > length);
		length = entry->length;
	}
	return is_in;
}

static int find_line(int fd, u32 key_spec, const struct baleen_key *key, u64 n_lines)
{
	char entry[64];
	u64 line = 0;
	int ret;

	check(!lseek(fd, 0, SEEK_SET));
	ret = baleen_list_find(fd, key_spec, key, &line, entry, sizeof(entry));
	check(ret == -ENOENT || (!ret && line >= 1 && line <= n_lines && *entry != '!'));
	return ret;
}

static void check_text(const struct baleen_key *key, u32 key_spec)
{
	char text[BALEEN_KEY_TEXT];
	struct baleen_key again;
	const char *reason;

	baleen_key_format(key, key_spec, text);
	check(!baleen_key_parse(text, strlen(text), key_spec, &again, &reason));
	check(!baleen_key_compare(key, &again));
}

struct spans {
	struct baleen_span last;
	bool has_last;
	struct baleen_key key;
	bool is_found;
};

/* In ascending order, IPv4 first, and none touches the next. */
static int check_span(const struct baleen_span *span, void *data)
{
	struct spans *spans = data;
	struct baleen_ip6 next = spans->last.last;

	check(baleen_ip6_compare(span->first, span->last) <= 0);
	if (spans->has_last && spans->last.is_ip6 == span->is_ip6) {
		next.lo++;
		next.hi += !next.lo;
		check(baleen_ip6_compare(next, span->first) < 0);
	}
	check(!spans->has_last || span->is_ip6 >= spans->last.is_ip6);
	spans->last = *span;
	spans->has_last = true;
	spans->is_found |= baleen_span_holds(span, &spans->key);
	return 0;
}

static bool has_span(const struct baleen_list *list, const struct baleen_key *key)
{
	struct spans spans = { .key = *key };

	check(!baleen_list_spans(list, check_span, &spans));
	return spans.is_found;
}

static void check_address(int fd, const struct baleen_list *list, const struct entries *read,
			  const struct entries *made, bool is_ip6, u128 address)
{
	struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = address };
	bool want = slow_test(read, is_ip6, address);

	if (is_ip6)
		key = (struct baleen_key){ .domain = BALEEN_IP6,
					   .hi = address >> 64,
					   .lo = address };
	check(slow_test(made, is_ip6, address) == want);
	check(has_span(list, &key) == want);
	/* The text of a single IPv4-mapped address is an IPv4 address. */
	if (!is_ip6 || address >> 32 != 0xffff)
		check_text(&key, list->key_spec);
	check(!find_line(fd, list->key_spec, &key, list->n_lines) == want);
}

static void check_addresses(int fd, const struct baleen_list *list, const struct entries *read,
			    const struct entries *made)
{
	for (size_t i = 0; i < read->n; i += 1 + read->n / N_CHECKED) {
		const struct entry *entry = &read->entry[i];
		u128 all = entry->is_ip6 ? ~(u128)0 : 0xffffffff;

		check_address(fd, list, read, made, entry->is_ip6, entry->first);
		check_address(fd, list, read, made, entry->is_ip6, entry->last);
		check_address(fd, list, read, made, entry->is_ip6, (entry->first - 1) & all);
		check_address(fd, list, read, made, entry->is_ip6, (entry->last + 1) & all);
	}
}

static void check_keys(int fd, const struct baleen_list *list)
{
	for (size_t i = 0; i < list->n_key; i += 1 + list->n_key / N_CHECKED) {
		check(!i || baleen_key_compare(&list->key[i - 1], &list->key[i]) < 0);
		check_text(&list->key[i], list->key_spec);
		check(!find_line(fd, list->key_spec, &list->key[i], list->n_lines));
	}
}

static void check_form(const struct baleen_list *list)
{
	check(!list->n_prefix4 && (!list->n_ip6 || !list->n_prefix6));
	for (size_t i = 1; i < list->n_ip4; i++)
		check(list->ip4[i - 1] < list->ip4[i]);
	for (size_t i = 1; i < list->n_ip6; i++)
		check(baleen_ip6_compare(list->ip6[i - 1], list->ip6[i]) < 0);
	for (size_t i = 0; i < list->n_net4; i++) {
		check(list->net4[i].first < list->net4[i].last);
		check(!i || list->net4[i - 1].last + 1ull < list->net4[i].first);
	}
	check(list->n_covered <= list->n_listed);
}

static void check_problem(void *data, const struct baleen_list_problem *problem)
{
	u64 *last_line = data;

	check(problem->line > *last_line && *problem->reason);
	/* Letters of any script stay as they are. */
	for (const char *p = problem->text; *p; p++)
		check((*p >= ' ' && *p <= '~') || (unsigned char)*p >= 0x80);
	*last_line = problem->line;
}

/* --- strings --- */

/* The next piece of what ends with @end, without it and without a carriage return. */
static struct baleen_string next_piece(const uint8_t **p, const uint8_t *stop, uint8_t end)
{
	const uint8_t *start = *p, *found = memchr(start, end, stop - start);
	size_t length = (found ? found : stop) - start;

	*p = found ? found + 1 : stop;
	if (end == '\n' && length && start[length - 1] == '\r')
		length--;
	return (struct baleen_string){ start, length };
}

static bool is_same(struct baleen_string a, struct baleen_string b)
{
	return a.n_bytes == b.n_bytes && !memcmp(a.bytes, b.bytes, a.n_bytes);
}

/* Is there one like it before it? */
static bool is_again(const uint8_t *bytes, const uint8_t *before, uint8_t end,
		     struct baleen_string string)
{
	while (bytes < before)
		if (is_same(next_piece(&bytes, before, end), string))
			return true;
	return false;
}

static void check_strings(const struct baleen_list *list, const uint8_t *bytes, size_t n_bytes,
			  uint8_t end)
{
	const uint8_t *p = bytes, *stop = bytes + n_bytes;
	struct baleen_string string;
	u64 n_listed = 0, n = 0;
	size_t at = 0;

	while (p < stop) {
		const uint8_t *start = p;
		struct baleen_string piece = next_piece(&p, stop, end);

		if (!piece.n_bytes)
			continue;
		n_listed++;
		if (is_again(bytes, start, end, piece))
			continue;
		check(baleen_strings_next(&list->strings, &at, &string) && is_same(string, piece));
		n++;
	}
	check(!baleen_strings_next(&list->strings, &at, &string));
	check(list->strings.n == n && list->n_listed == n_listed);
	check(list->n_covered == n_listed - n && !list->n_bad);
}

static void fuzz_strings(const uint8_t *bytes, size_t n_bytes, bool ends_with_nul)
{
	const struct baleen_list_reader reader = { .ends_with_nul = ends_with_nul };
	struct baleen_list list = { .key_spec = BALEEN_KEY_STRING };
	int fd = memfd_create("strings", MFD_CLOEXEC);

	check(fd >= 0 && write(fd, bytes, n_bytes) == (ssize_t)n_bytes);
	check(!lseek(fd, 0, SEEK_SET));
	check(!baleen_list_read(&list, fd, "fuzz", &reader, NULL));
	check(!baleen_list_finish(&list));
	check_strings(&list, bytes, n_bytes, ends_with_nul ? '\0' : '\n');
	baleen_list_free(&list);
	close(fd);
}

/* --- any --- */

/* Most lists are of addresses: what is no other spec is src. */
static u32 spec_of(uint8_t byte)
{
	if (byte == BALEEN_KEY_SQUID)
		return BALEEN_KEY_SQUID;
	return byte < BALEEN_KEY_FLOW ? byte + 1 : BALEEN_KEY_SRC;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static struct entries read, made;
	u64 last_line = 0;
	const struct baleen_list_reader reader = { .on_bad = check_problem, .data = &last_line };
	struct baleen_list list = { 0 };
	int fd;

	if (!n_bytes || n_bytes > MAX_BYTES)
		return 0;
	if (*bytes == BALEEN_KEY_STRING || *bytes == BALEEN_KEY_STRING + 1) {
		fuzz_strings(bytes + 1, n_bytes - 1, *bytes == BALEEN_KEY_STRING);
		return 0;
	}
	list.key_spec = spec_of(*bytes);
	n_bytes--;
	fd = memfd_create("list", MFD_CLOEXEC);
	check(fd >= 0 && write(fd, bytes + 1, n_bytes) == (ssize_t)n_bytes);
	check(!lseek(fd, 0, SEEK_SET));
	check(!baleen_list_read(&list, fd, "fuzz", &reader, NULL));
	check(list.n_bad <= list.n_lines && list.n_lines <= n_bytes);
	check(last_line <= list.n_lines);
	take_entries(&list, &read);
	check(!baleen_list_finish(&list));
	take_entries(&list, &made);
	check_form(&list);
	check_addresses(fd, &list, &read, &made);
	check_keys(fd, &list);
	baleen_list_free(&list);
	close(fd);
	return 0;
}
