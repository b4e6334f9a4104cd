/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists from text and back, for tests.
 */
#ifndef BALEEN_TESTS_LISTS_H
#define BALEEN_TESTS_LISTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "list/list.h"

static inline int open_bytes(const void *bytes, size_t n_bytes)
{
	int fd = memfd_create("list", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n_bytes), n_bytes);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* What a list holds, in words separated by spaces. */
struct words {
	char text[2048];
	size_t used;
};

static inline void add_word(struct words *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	words->used += snprintf(words->text + words->used, sizeof(words->text) - words->used, "%s",
				words->used ? " " : "");
	words->used += vsnprintf(words->text + words->used, sizeof(words->text) - words->used,
				 format, args);
	va_end(args);
	assert_true(words->used < sizeof(words->text));
}

static inline const char *ip4_text(u32 ip4, char *text)
{
	const struct baleen_key key = {.domain = BALEEN_IP4, .ip4 = ip4};

	baleen_key_format(&key, BALEEN_KEY_SRC, text);
	return text;
}

static inline const char *ip6_text(u64 hi, u64 lo, char *text)
{
	const struct baleen_key key = {.domain = BALEEN_IP6, .hi = hi, .lo = lo};

	baleen_key_format(&key, BALEEN_KEY_SRC, text);
	return text;
}

static inline void add_ip4_words(const struct baleen_list *list, struct words *words)
{
	char first[BALEEN_KEY_TEXT], last[BALEEN_KEY_TEXT];

	for (size_t i = 0; i < list->n_ip4; i++)
		add_word(words, "%s", ip4_text(list->ip4[i], first));
	for (size_t i = 0; i < list->n_prefix4; i++)
		add_word(words, "%s%s/%u", list->prefix4[i].is_exception ? "!" : "",
			 ip4_text(list->prefix4[i].address, first), list->prefix4[i].length);
	for (size_t i = 0; i < list->n_net4; i++)
		add_word(words, "%s-%s", ip4_text(list->net4[i].first, first),
			 ip4_text(list->net4[i].last, last));
}

/* Hosts, prefixes and intervals, IPv4 before IPv6; then keys. */
static inline void assert_keys(const struct baleen_list *list, const char *want)
{
	struct words words = {.used = 0};
	char text[BALEEN_KEY_TEXT];

	add_ip4_words(list, &words);
	for (size_t i = 0; i < list->n_ip6; i++)
		add_word(&words, "%s", ip6_text(list->ip6[i].hi, list->ip6[i].lo, text));
	for (size_t i = 0; i < list->n_prefix6; i++)
		add_word(&words, "%s%s/%u", list->prefix6[i].is_exception ? "!" : "",
			 ip6_text(list->prefix6[i].hi, list->prefix6[i].lo, text),
			 list->prefix6[i].length);
	for (size_t i = 0; i < list->n_key; i++) {
		baleen_key_format(&list->key[i], list->key_spec, text);
		add_word(&words, "%s", text);
	}
	words.text[words.used] = '\0';
	assert_string_equal(words.text, want);
}

#endif /* BALEEN_TESTS_LISTS_H */
