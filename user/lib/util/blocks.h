/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that several threads read, block by block.
 *
 * Threads take turns to read a block, and work on their blocks at the same time: to read is
 * less than a tenth of the work. A block is cut at the end of a line; what is behind it
 * belongs to the next one. What has an order, such as messages and output, waits until all
 * blocks before are done, which then also tells the numbers of the lines.
 */
#ifndef BALEEN_BLOCKS_H
#define BALEEN_BLOCKS_H

#include <pthread.h>

#include "util/lines.h"

/**
 * struct baleen_blocks - a file on the way
 * @fd: read from where it is
 * @end: the byte that ends a line
 * @lock: guards all that follows
 * @came_on: @n_done has grown
 * @at_end: the file has been read
 * @err: the first failure
 * @tail: the start of the next line, read with the last block
 * @n_tail: its length
 * @room_tail: allocated
 * @n_lines: lines of each block plus one; 0 while it is worked on
 * @n_blocks: how many have been taken
 * @room: allocated
 * @n_done: the first so many are done
 * @n_lines_done: lines of these
 */
struct baleen_blocks {
	int fd;
	char end;
	pthread_mutex_t lock;
	pthread_cond_t came_on;
	bool at_end;
	int err;
	char *tail;
	size_t n_tail, room_tail;
	u64 *n_lines;
	size_t n_blocks, room;
	size_t n_done;
	u64 n_lines_done;
};

/**
 * baleen_blocks_are_worth() - is a file long enough for several threads, and are there any?
 * @fd: open for reading; a pipe is read by one
 *
 * Return: true or false.
 */
bool baleen_blocks_are_worth(int fd);

/**
 * baleen_blocks_start() - begin to read
 * @blocks: set up; end with baleen_blocks_stop()
 * @fd: open for reading
 * @end: the byte that ends a line
 */
void baleen_blocks_start(struct baleen_blocks *blocks, int fd, char end);

/**
 * baleen_blocks_take() - the next block
 * @blocks: started
 * @lines: of this thread: started with the same file and end; gets whole lines, and no more
 *         is read by it
 * @block: number of the block
 *
 * Each block that is taken must be ended by baleen_blocks_end().
 *
 * Return: false at the end of the file, or after a failure.
 */
bool baleen_blocks_take(struct baleen_blocks *blocks, struct baleen_lines *lines, size_t *block);

/**
 * baleen_blocks_wait() - wait until all blocks before are done
 * @blocks: started
 * @block: that was taken
 *
 * Return: the number of lines before the block.
 */
u64 baleen_blocks_wait(struct baleen_blocks *blocks, size_t block);

/**
 * baleen_blocks_end() - a block is done
 * @blocks: started
 * @block: that was taken
 * @n_lines: lines of it
 * @err: 0, or why no more blocks are to be taken: a negative errno
 */
void baleen_blocks_end(struct baleen_blocks *blocks, size_t block, u64 n_lines, int err);

/**
 * baleen_blocks_stop() - free what was allocated
 * @blocks: started; no thread uses it any more
 *
 * Return: 0, or the first failure: -ENOMEM, the negative errno of a failed read, or as told.
 */
int baleen_blocks_stop(struct baleen_blocks *blocks);

#endif /* BALEEN_BLOCKS_H */
