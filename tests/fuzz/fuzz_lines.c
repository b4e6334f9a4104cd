// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as lines of baleen export, the first of them as the fields of keys: what is taken is
 * written, by what export writes with, to lines that are read as the same entries.
 */
#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "key/key_spec.h"
#include "list/import.h"
#include "state/entries.h"
#include "state/entry_import.h"
#include "state/entry_json.h"
#include "target.h"

#define MAX_BYTES 4096
#define MAX_WORD 64
#define MAX_ENTRIES 256

/* 2026-11-27T18:00:00Z: times of lines are before it and behind it. */
#define NOW 1795802400000ull

static const char *const words[] = {
	"{\"key\":\"192.0.2.1\"",
	"{\"rule\":\"eth0:bans\",\"key\":\"!198.51.100.64/26\"",
	"\"key\"",
	"\"rule\"",
	",\"origin\":\"manual\"",
	",\"reason\":\"a \\\"scan\\\"",
	",\"since\":\"2026-11-27T17:00:00.250Z\"",
	",\"end\":\"2026-11-28T17:00:00Z\"",
	",\"end\":null}\n",
	"}\n",
	"\"203.0.113.4-203.0.113.9\"",
	"\"2001:db8::/48\"",
	"\"::ffff:192.0.2.1\"",
	"192.0.2.1,443",
	"tcp,192.0.2.1,443",
	"null",
	"\\u202e",
	"\\ud83d\\udc0b",
	"\\ud800",
	"\xc3\xbc",
	"\xe2\x80\xae",
	"\xed\xa0\x80",
	"\xff",
	"\xef\xbb\xbf",
	"9999-12-31T23:59:59.999Z",
	"1970-01-01T00:00:00.001Z",
};

/* The entries of a file, and the rule that each names. */
struct taken {
	struct baleen_entry_importing as;
	struct baleen_rule_entry entry[MAX_ENTRIES];
	char rule[MAX_ENTRIES][MAX_WORD];
	bool has_ended[MAX_ENTRIES];
	size_t n;
};

static int take(void *data, const struct baleen_import_entry *from, struct baleen_error *error)
{
	struct taken *taken = data;
	size_t n = taken->n;
	int err;

	if (n == MAX_ENTRIES)
		return baleen_fail(error, E2BIG, "enough");
	err = baleen_entry_import(&taken->as, from, &taken->entry[n], &taken->has_ended[n], error);
	if (err) {
		check(*error->text);
		return 0;
	}
	/* No scope is so long. */
	strcpy(taken->rule[n], from->rule && strlen(from->rule) < MAX_WORD ? from->rule : "");
	taken->n++;
	return 0;
}

static int import(struct taken *taken, const void *bytes, size_t n_bytes)
{
	struct baleen_importer importer = {
		.format = BALEEN_IMPORT_JSON,
		.on_entry = take,
		.data = taken,
	};
	struct baleen_error error = { "" };
	int fd = memfd_create("fuzz", MFD_CLOEXEC), err;

	check(fd >= 0 && write(fd, bytes, n_bytes) == (ssize_t)n_bytes);
	lseek(fd, 0, SEEK_SET);
	err = baleen_import(&importer, fd, "lines", &error);
	check(!err || *error.text);
	close(fd);
	return err;
}

static bool is_utf8(const char *text, size_t n_bytes)
{
	json_t *json = json_stringn(text, n_bytes);

	json_decref(json);
	return json;
}

static void check_same(const struct taken *a, const struct taken *b)
{
	check(a->n == b->n);
	for (size_t i = 0; i < a->n; i++) {
		const struct baleen_rule_entry *x = &a->entry[i], *y = &b->entry[i];

		check(!baleen_rule_entry_compare(x, y));
		check(!strcmp(x->origin, y->origin) && !strcmp(x->reason, y->reason));
		check(x->added_ms == y->added_ms && x->expires_ms == y->expires_ms);
		check(a->has_ended[i] == b->has_ended[i]);
		check(!strcmp(a->rule[i], b->rule[i]));
	}
}

static void check_again(const struct taken *taken)
{
	static struct taken again;
	char *text = NULL;
	size_t n_bytes = 0, n_lines = 0;
	FILE *stream = open_memstream(&text, &n_bytes);

	check(stream);
	for (size_t i = 0; i < taken->n; i++)
		check(!baleen_entry_json_write(stream, &taken->entry[i],
					       *taken->rule[i] ? taken->rule[i] : NULL));
	check(!fclose(stream));
	for (size_t i = 0; i < n_bytes; i++)
		n_lines += text[i] == '\n';
	check(n_lines == taken->n && is_utf8(text, n_bytes));
	again.as = taken->as;
	again.n = 0;
	check(!import(&again, text, n_bytes));
	check_same(taken, &again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static const char *const specs[] = { "src", "src,dport", "proto,src,dport", "dst" };
	static char text[MAX_BYTES * MAX_WORD];
	static struct taken taken;
	u32 key_spec;
	size_t n;

	if (!n_bytes || n_bytes > MAX_BYTES)
		return 0;
	check(!baleen_key_spec_parse(specs[*bytes & 3], &key_spec, NULL));
	taken.as = (struct baleen_entry_importing){
		.key_spec = key_spec,
		.origin = "import",
		.keeps_origins = *bytes & 4,
		.now_ms = NOW,
	};
	taken.n = 0;
	n = text_of_words(bytes + 1, n_bytes - 1, words, sizeof(words) / sizeof(words[0]), text);
	import(&taken, text, n);
	check_again(&taken);
	return 0;
}
