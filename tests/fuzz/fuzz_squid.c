// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a store.log and as the list of objects of a cache: each line is counted once, what
 * is refused is refused with a line, and what is read is a set, twice the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "icp/squid_objects.h"
#include "icp/store_log.h"
#include "target.h"

#define MAX_BYTES 1024

/* So that it gets beyond the first word without knowing any. */
static const char *const words[] = {
	"1700000000.123 SWAPOUT 00 00000000 271B10FA47F72704CF53F2C5EACD81B0  200\n",
	"1700000000.123 RELEASE 00 00000000 271B10FA47F72704CF53F2C5EACD81B0  200\n",
	"1700000000.123 RELEASE -1 FFFFFFFF 271B10FA47F72704CF53F2C5EACD81B0  ? \n",
	"1700000000.123 SWAPIN  00 00000000 ",
	"1700000000.123 ",
	"271B10FA47F72704CF53F2C5EACD81B0 ",
	"KEY ",
	"BC803772231122E1307B152D75DB1774",
	"KEY BC803772231122E1307B152D75DB1774\n",
	"\tSTORE_OK IN_MEMORY SWAPOUT_DONE PING_DONE\n",
	"\tDISPATCHED,VALIDATED\n",
	"\tDISPATCHED,PRIVATE,VALIDATED\n",
	"\tLV:1795360115 LU:1795360115 LM:1767225600 EX:1795363715\n",
	"\t0 locks, 0 clients, 1 refs\n",
	"\tSwap Dir 0, File 0X00003B\n",
	"\tSwap Dir -1, File 0XFFFFFF\n",
	"\tSwap Dir ",
	"by kid1 {\n",
	"} by kid1\n",
	"by kid",
	"\t",
	"\n",
	"\r\n",
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

/* Ascending, each once. Return: a sum of it. */
static u64 finish(struct baleen_squid_set *set)
{
	u64 sum = 0;

	check(!baleen_squid_set_finish(set));
	for (size_t i = 0; i < set->n; i++) {
		const struct baleen_squid_object *object = &set->object[i];

		check(!i || object[-1].hi < object->hi ||
		      (object[-1].hi == object->hi && object[-1].lo < object->lo));
		sum = 31 * sum + (object->hi ^ object->lo);
	}
	baleen_squid_set_free(set);
	return sum;
}

static u64 read_log(int fd)
{
	struct baleen_squid_set set = { 0 };
	struct baleen_store_log log;

	check(!lseek(fd, 0, SEEK_SET) && !baleen_store_log_read(fd, &set, &log));
	check(log.n_inserts + log.n_deletes + log.n_others + log.n_bad <= log.n_lines);
	check(!log.n_bad == !log.first_bad && log.first_bad <= log.n_lines);
	check(set.n_order == log.n_inserts + log.n_deletes);
	return finish(&set);
}

static u64 read_objects(int fd, u64 n_newlines)
{
	struct baleen_squid_set set = { 0 };
	struct baleen_squid_objects objects;
	const char *reason = NULL;
	u64 line = 0;

	check(!lseek(fd, 0, SEEK_SET));
	if (baleen_squid_objects_read(fd, &set, &objects, &reason, &line)) {
		check(reason && line <= n_newlines + 1);
		baleen_squid_set_free(&set);
		return 1;
	}
	check(objects.n_entries && objects.n_on_disk <= objects.n_entries);
	check(set.n_order == objects.n_on_disk);
	return finish(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static char text[MAX_BYTES * 80];
	u64 n_newlines = 0, sum;
	int fd;

	if (n_bytes > MAX_BYTES)
		return 0;
	n_bytes = text_of_words(bytes, n_bytes, words, N_WORDS, text);
	for (size_t i = 0; i < n_bytes; i++)
		n_newlines += text[i] == '\n';
	fd = memfd_create("squid", MFD_CLOEXEC);
	check(fd >= 0 && write(fd, text, n_bytes) == (ssize_t)n_bytes);
	sum = read_log(fd);
	check(read_log(fd) == sum);
	sum = read_objects(fd, n_newlines);
	check(read_objects(fd, n_newlines) == sum);
	close(fd);
	return 0;
}
