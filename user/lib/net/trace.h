/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading a capture file, frame by frame: pcap of either byte order, with
 * micro- or nanoseconds, and pcapng; of Ethernet, of raw IP (LINKTYPE 12, 14, 101, 228, 229) and of
 * Linux cooked captures (113, 276), as `tcpdump -i any` makes them, whose frames get an Ethernet
 * header.
 *
 * Not by libpcap, which refuses a pcapng file as soon as two of its interfaces
 * were captured with different snapshot lengths, as merged captures are.
 *
 * Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
 */
#ifndef BALEEN_TRACE_H
#define BALEEN_TRACE_H

#include <baleen/port.h>
#include <stdio.h>

#include "util/error.h"

/* The longest frame that tcpdump and Wireshark write. */
#define BALEEN_TRACE_FRAME_BYTES 262144

/**
 * struct baleen_traced_frame - one frame of a capture
 * @bytes: the captured bytes, from an Ethernet header on; valid until the next frame is read
 * @n_bytes: how much that is; can be 0
 * @n_wire_bytes: length of the frame when it was captured, with such a header; more than @n_bytes
 *                when only its start was kept
 */
struct baleen_traced_frame {
	const u8 *bytes;
	u32 n_bytes;
	u32 n_wire_bytes;
};

/**
 * struct baleen_traced_interface - where frames of a pcapng file come from
 * @link_type: LINKTYPE_ value
 * @snap_bytes: frames were cut to this; 0 for no limit
 */
struct baleen_traced_interface {
	u32 link_type;
	u32 snap_bytes;
};

/**
 * struct baleen_trace - a capture file
 * @file: open
 * @name: name of the file in messages
 * @is_ng: it is pcapng
 * @is_swapped: its numbers have the other byte order
 * @link_type: LINKTYPE_ value of pcap
 * @buffer: memory for a frame, and an Ethernet header before it
 * @interface: those of a pcapng section
 * @n_interfaces: how many
 * @n_frames: frames read so far
 * @first: the first frame, which baleen_trace_open() reads
 * @has_first: @first is still to be given out
 */
struct baleen_trace {
	FILE *file;
	const char *name;
	bool is_ng;
	bool is_swapped;
	u32 link_type;
	u8 *buffer;
	struct baleen_traced_interface *interface;
	u32 n_interfaces;
	u64 n_frames;
	struct baleen_traced_frame first;
	bool has_first;
};

/**
 * baleen_trace_open() - open a capture file
 * @trace: filled in; close with baleen_trace_close(); untouched on failure
 * @path: path of the file, which must outlive @trace; "-" is standard input
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when it is no capture or damaged up to its first frame;
 * -EPROTONOSUPPORT when that is of another link type; a negative errno.
 */
int baleen_trace_open(struct baleen_trace *trace, const char *path, struct baleen_error *error);

/**
 * baleen_trace_next() - the next frame
 * @trace: opened
 * @frame: filled in when there is one
 * @error: filled in on failure
 *
 * Return: 1; 0 at the end; -EINVAL when the file is cut off or damaged here;
 * -EPROTONOSUPPORT for a frame of another link type, which @error names; a
 * negative errno. Nothing can be read after a failure.
 */
int baleen_trace_next(struct baleen_trace *trace, struct baleen_traced_frame *frame,
		      struct baleen_error *error);

/**
 * baleen_trace_close() - close the file
 * @trace: opened
 */
void baleen_trace_close(struct baleen_trace *trace);

#endif /* BALEEN_TRACE_H */
