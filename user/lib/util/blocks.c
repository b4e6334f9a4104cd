// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file that several threads read, block by block. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/blocks.h"
#include "util/threads.h"

/* A shorter file is read sooner than threads are made. */
#define LONG_BYTES (1 << 20)

bool baleen_blocks_are_worth(int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	struct stat stat;

	return at >= 0 && !fstat(fd, &stat) && S_ISREG(stat.st_mode) &&
	       stat.st_size - at >= LONG_BYTES && baleen_threads() > 1;
}

void baleen_blocks_start(struct baleen_blocks *blocks, int fd, char end)
{
	*blocks = (struct baleen_blocks){
		.fd = fd,
		.end = end,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.came_on = PTHREAD_COND_INITIALIZER,
	};
}

/* The start of a line, from one thread to the next. */
static int put_tail(struct baleen_blocks *blocks, struct baleen_lines *lines)
{
	char *grown;

	while (lines->room < blocks->n_tail + 1) {
		grown = realloc(lines->buffer, lines->room * 2);
		if (!grown)
			return -ENOMEM;
		lines->buffer = grown;
		lines->room *= 2;
	}
	if (blocks->n_tail)
		memcpy(lines->buffer, blocks->tail, blocks->n_tail);
	lines->next = lines->complete = 0;
	lines->filled = blocks->n_tail;
	lines->at_end = blocks->at_end;
	return 0;
}

static int get_tail(struct baleen_blocks *blocks, struct baleen_lines *lines)
{
	size_t n = lines->filled - lines->complete;

	if (baleen_array_reserve(&blocks->tail, &blocks->room_tail, n + 1))
		return -ENOMEM;
	memcpy(blocks->tail, lines->buffer + lines->complete, n);
	blocks->n_tail = n;
	blocks->at_end = lines->at_end;
	lines->filled = lines->complete;
	lines->at_end = true;
	return 0;
}

/* Return: as baleen_lines_fill(). */
static int read_block(struct baleen_blocks *blocks, struct baleen_lines *lines)
{
	int ret = put_tail(blocks, lines);

	if (!ret)
		ret = baleen_lines_fill(lines);
	if (!ret)
		blocks->at_end = true;
	if (ret <= 0)
		return ret;
	if (get_tail(blocks, lines) ||
	    baleen_array_reserve(&blocks->n_lines, &blocks->room, blocks->n_blocks + 1))
		return -ENOMEM;
	blocks->n_lines[blocks->n_blocks++] = 0;
	return 1;
}

bool baleen_blocks_take(struct baleen_blocks *blocks, struct baleen_lines *lines, size_t *block)
{
	int ret = 0;

	pthread_mutex_lock(&blocks->lock);
	if (!blocks->err)
		ret = read_block(blocks, lines);
	if (ret < 0)
		blocks->err = ret;
	*block = blocks->n_blocks - 1;
	pthread_mutex_unlock(&blocks->lock);
	return ret > 0;
}

u64 baleen_blocks_wait(struct baleen_blocks *blocks, size_t block)
{
	u64 n_lines;

	pthread_mutex_lock(&blocks->lock);
	while (blocks->n_done < block)
		pthread_cond_wait(&blocks->came_on, &blocks->lock);
	n_lines = blocks->n_lines_done;
	pthread_mutex_unlock(&blocks->lock);
	return n_lines;
}

void baleen_blocks_end(struct baleen_blocks *blocks, size_t block, u64 n_lines, int err)
{
	pthread_mutex_lock(&blocks->lock);
	if (err && !blocks->err)
		blocks->err = err;
	blocks->n_lines[block] = n_lines + 1;
	while (blocks->n_done < blocks->n_blocks && blocks->n_lines[blocks->n_done])
		blocks->n_lines_done += blocks->n_lines[blocks->n_done++] - 1;
	pthread_cond_broadcast(&blocks->came_on);
	pthread_mutex_unlock(&blocks->lock);
}

int baleen_blocks_stop(struct baleen_blocks *blocks)
{
	free(blocks->n_lines);
	free(blocks->tail);
	/* No thread had a buffer. */
	if (!blocks->err && !blocks->at_end)
		return -ENOMEM;
	return blocks->err;
}
