// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a capture file: frames are read as long as there are some, none
 * of them holds more than the file, and what is wrong with it is said.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net/trace.h"
#include "target.h"

/* Reads it to its end, and every byte of every frame. */
static int read_frames(struct baleen_trace *trace, size_t n_bytes, struct baleen_error *error)
{
	struct baleen_traced_frame frame;
	u64 sum = 0, n_frames = 0, n_read = 0;
	int result;

	while ((result = baleen_trace_next(trace, &frame, error)) > 0) {
		/* Raw IP has got an Ethernet header. */
		check(frame.n_bytes <= BALEEN_TRACE_FRAME_BYTES + 14);
		check(frame.n_wire_bytes >= frame.n_bytes);
		for (u32 i = 0; i < frame.n_bytes; i++)
			sum += frame.bytes[i];
		n_read += frame.n_bytes;
		check(trace->n_frames == ++n_frames && n_read < n_bytes);
	}
	check(sum <= 255 * n_read);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct baleen_error error = { "" };
	struct baleen_trace trace;
	char path[32];
	int result;

	check(fd >= 0 && write(fd, bytes, n_bytes) == (ssize_t)n_bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	result = baleen_trace_open(&trace, path, &error);
	if (!result) {
		result = read_frames(&trace, n_bytes, &error);
		baleen_trace_close(&trace);
	}
	check(result == 0 || (result < 0 && strncmp(error.text, path, strlen(path)) == 0));
	close(fd);
	return 0;
}
