/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing a capture file, frame by frame: pcap of Ethernet, with nanoseconds.
 */
#ifndef BALEEN_CAPTURE_H
#define BALEEN_CAPTURE_H

#include <baleen/port.h>
#include <stdio.h>
#include <time.h>

#include "util/error.h"

/**
 * struct baleen_capture - a capture file that is being written
 * @file: the file
 * @name: name of the file in messages
 */
struct baleen_capture {
	FILE *file;
	const char *name;
};

/**
 * baleen_capture_open() - begin a capture file
 * @capture: filled in; close with baleen_capture_close()
 * @path: path of the file, which must outlive @capture; "-" is standard output
 * @max_bytes: the most that is captured of a frame
 * @error: filled in on failure
 *
 * A new file is for its owner only. One that is there is overwritten when it is
 * empty, a capture or no regular file.
 *
 * Return: 0; -EEXIST when there is a file of another kind; a negative errno.
 */
int baleen_capture_open(struct baleen_capture *capture, const char *path, u32 max_bytes,
			struct baleen_error *error);

/**
 * baleen_capture_add() - write a frame
 * @capture: opened
 * @time: time of the day
 * @bytes: the captured bytes
 * @n_bytes: how much that is
 * @n_wire_bytes: length of the frame
 * @error: filled in on failure
 *
 * The file is whole after each frame.
 *
 * Return: 0 or a negative errno.
 */
int baleen_capture_add(struct baleen_capture *capture, const struct timespec *time, const u8 *bytes,
		       u32 n_bytes, u32 n_wire_bytes, struct baleen_error *error);

/**
 * baleen_capture_close() - end the file
 * @capture: opened
 */
void baleen_capture_close(struct baleen_capture *capture);

#endif /* BALEEN_CAPTURE_H */
