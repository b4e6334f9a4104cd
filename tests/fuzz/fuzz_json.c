// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as JSON, the first of them as a path and a condition: each key that is wanted is a
 * line of the list, in order, and never a comment. Or, of the last path, any bytes as the path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "list/csv_table.h"
#include "list/list.h"
#include "target.h"

#define MAX_BYTES 4096

static int open_bytes(const void *bytes, size_t n_bytes)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	check(fd >= 0 && write(fd, bytes, n_bytes) == (ssize_t)n_bytes);
	return fd;
}

static void check_list(int fd, const struct baleen_csv_counts *counts)
{
	struct baleen_list list = { 0 };
	char *text = calloc(1, 8 * MAX_BYTES);
	ssize_t n = pread(fd, text, 8 * MAX_BYTES, 0);
	u64 n_entries = 0;

	check(text && n >= 0 && n < 8 * MAX_BYTES);
	for (ssize_t i = 0; i < n; i++)
		n_entries += text[i] != '\n' && (!i || text[i - 1] == '\n');
	check(!n || text[n - 1] == '\n');
	check(n_entries == counts->n_wanted && counts->n_wanted <= counts->n_rows);
	check(!strpbrk(text, " \t\r#;"));
	check(!baleen_list_read(&list, fd, "list", NULL, NULL));
	check(list.n_bad <= n_entries && (list.n_listed || list.n_bad == n_entries));
	baleen_list_free(&list);
	free(text);
}

static void fuzz_path(const uint8_t *bytes, size_t n_bytes)
{
	struct baleen_csv_options options = { 0 };
	char *text = strndup((const char *)bytes, n_bytes);

	check(text);
	check(!baleen_csv_parse_column(&options, text, NULL) == (options.column == text));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static const char *const paths[] = {
		".[]", ".a", ".[].a", ".a[].b", ".a[],.b[]", ".[][]", "@aws",
	};
	static const char *const wheres[] = { "a=x", "n=1", "b=true", "c=" };
	struct baleen_csv_options options = { 0 };
	struct baleen_csv_counts counts;
	struct baleen_error error = { "" };
	int fd, out;

	if (!n_bytes || n_bytes > MAX_BYTES)
		return 0;
	if ((*bytes & 7) == sizeof(paths) / sizeof(paths[0])) {
		fuzz_path(bytes + 1, n_bytes - 1);
		return 0;
	}
	options.column = paths[*bytes & 7];
	options.n_where = *bytes >> 3 & 1;
	options.where[0] = wheres[*bytes >> 4 & 3];
	options.is_private = *bytes >> 6 & 1;
	fd = open_bytes(bytes + 1, n_bytes - 1);
	if (!baleen_csv_read(fd, "json", &options, &counts, &out, &error)) {
		check_list(out, &counts);
		close(out);
	} else {
		check(*error.text);
	}
	close(fd);
	return 0;
}
