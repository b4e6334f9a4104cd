// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a table, the first of them as its options: the list has as many
 * lines as the table, and what is in a line are keys and never a comment.
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

static u64 count_lines(const char *bytes, size_t n_bytes)
{
	u64 n = n_bytes && bytes[n_bytes - 1] != '\n';

	for (size_t i = 0; i < n_bytes; i++)
		n += bytes[i] == '\n';
	return n;
}

/* Every row that is wanted is an entry of the list, good or bad. */
static void check_list(int fd, u64 n_lines, const struct baleen_csv_counts *counts)
{
	struct baleen_list list = { 0 };
	char *text = calloc(1, 8 * MAX_BYTES);
	ssize_t n = pread(fd, text, 8 * MAX_BYTES, 0);
	u64 n_entries = 0;

	check(text && n >= 0 && n < 8 * MAX_BYTES && count_lines(text, n) == n_lines);
	for (ssize_t i = 0; i < n; i++)
		n_entries += text[i] != '\n' && (!i || text[i - 1] == '\n');
	check(n_entries == counts->n_wanted && counts->n_wanted <= counts->n_rows);
	check(!strpbrk(text, " \t\r#;"));
	check(!baleen_list_read(&list, fd, "list", NULL, NULL));
	check(list.n_lines == n_lines && list.n_bad <= n_entries);
	check(list.n_listed || list.n_bad == n_entries);
	baleen_list_free(&list);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static const char *const columns[] = {
		NULL, "1", "2", "1-2", "a", "a-b", "start-end", "x"
	};
	static const char *const wheres[] = { "2=x", "country=br", "asn=7", "1=" };
	struct baleen_csv_options options = { 0 };
	struct baleen_csv_counts counts;
	int fd, out;

	if (!n_bytes || n_bytes > MAX_BYTES)
		return 0;
	options.column = columns[*bytes & 7];
	options.delimiter = ",\0;\t"[*bytes >> 3 & 3];
	options.n_where = *bytes >> 5 & 1;
	options.where[0] = wheres[*bytes >> 6];
	fd = open_bytes(bytes + 1, n_bytes - 1);
	if (!baleen_csv_read(fd, "table", &options, &counts, &out, NULL)) {
		check_list(out, count_lines((const char *)bytes + 1, n_bytes - 1), &counts);
		close(out);
	}
	close(fd);
	return 0;
}
