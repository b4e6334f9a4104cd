// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reading a capture file, frame by frame. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/trace.h"
#include "util/array.h"
#include "util/input.h"

#define PCAP_MAGIC 0xa1b2c3d4u
#define PCAP_MAGIC_NS 0xa1b23c4du
#define PCAP_FILE_BYTES 24
#define PCAP_FRAME_BYTES 16

/* Section header, the same in both byte orders; the magic behind it is not. */
#define NG_SECTION 0x0a0d0d0au
#define NG_MAGIC 0x1a2b3c4du
#define NG_INTERFACE 1
#define NG_PACKET 2 /* obsolete, but still met */
#define NG_SIMPLE 3
#define NG_ENHANCED 6
#define NG_FRAME_BYTES 8 /* type and length; the length again at the end: 4 */
#define NG_BLOCK_BYTES 12
#define NG_SECTION_BYTES 16
#define NG_INTERFACE_BYTES 8
#define NG_SIMPLE_BYTES 4
#define NG_PACKET_BYTES 20

/* LINKTYPE_ values that are read, and what stands before the packet. */
#define LINK_ETHERNET 1
#define LINK_RAW_BSD 12
#define LINK_RAW_OPENBSD 14
#define LINK_RAW 101
#define LINK_COOKED 113
#define LINK_RAW_IP4 228
#define LINK_RAW_IP6 229
#define LINK_COOKED2 276
#define COOKED_BYTES 16
#define COOKED_PROTOCOL 14
#define COOKED2_BYTES 20
#define COOKED2_PROTOCOL 0

/* Programs see Ethernet: such a header is put in front of what has none. */
#define ETHERNET_BYTES 14

/* https://www.tcpdump.org/linktypes.html: those that general tools capture. */
static const char *link_type_name(u32 type)
{
	switch (type) {
	case 0: return "BSD loopback";
	case 1: return "Ethernet";
	case 6: return "Token Ring";
	case 9: return "PPP";
	case 10: return "FDDI";
	case 12:
	case 14:
	case 101: return "raw IP";
	case 50: return "PPP in HDLC";
	case 51: return "PPPoE without Ethernet";
	case 104: return "Cisco HDLC";
	case 105: return "802.11";
	case 107: return "Frame Relay";
	case 108: return "OpenBSD loopback";
	case 113: return "Linux cooked v1";
	case 117: return "pflog";
	case 119: return "802.11 with Prism header";
	case 127: return "802.11 with radiotap header";
	case 163: return "802.11 with AVS header";
	case 187: return "Bluetooth HCI";
	case 189:
	case 220: return "Linux USB";
	case 192: return "PPI";
	case 195: return "802.15.4";
	case 201: return "Bluetooth HCI with pseudo-header";
	case 227: return "SocketCAN";
	case 228: return "raw IPv4";
	case 229: return "raw IPv6";
	case 239: return "nflog";
	case 249: return "USBPcap";
	case 253: return "netlink";
	case 276: return "Linux cooked v2";
	default: return type >= 147 && type <= 162 ? "private use" : "unknown to Baleen";
	}
}

static u32 number(const struct baleen_trace *trace, const u8 *bytes)
{
	u32 value;

	memcpy(&value, bytes, sizeof(value));
	return trace->is_swapped ? __builtin_bswap32(value) : value;
}

static int fail(const struct baleen_trace *trace, int code, const char *what,
		struct baleen_error *error)
{
	if (!trace->n_frames)
		return baleen_fail(error, code, "%s: %s", trace->name, what);
	return baleen_fail(error, code, "%s: frame %llu: %s", trace->name,
			   (unsigned long long)trace->n_frames + 1, what);
}

static int fail_damaged(const struct baleen_trace *trace, const char *what,
			struct baleen_error *error)
{
	return fail(trace, EINVAL, what, error);
}

/* Reads all of it: 1, or 0 when there is nothing any more. */
static int read_bytes(const struct baleen_trace *trace, void *bytes, size_t n_bytes,
		      struct baleen_error *error)
{
	size_t n = fread(bytes, 1, n_bytes, trace->file);

	if (n == n_bytes)
		return 1;
	if (ferror(trace->file))
		return fail(trace, errno, strerror(errno), error);
	return n ? fail_damaged(trace, "the file is cut off here", error) : 0;
}

/* The same where something must follow: 0. */
static int read_rest(const struct baleen_trace *trace, void *bytes, size_t n_bytes,
		     struct baleen_error *error)
{
	int result = n_bytes ? read_bytes(trace, bytes, n_bytes, error) : 1;

	if (result < 0)
		return result;
	return result ? 0 : fail_damaged(trace, "the file is cut off here", error);
}

static int skip(const struct baleen_trace *trace, u64 n_bytes, struct baleen_error *error)
{
	u8 chunk[4096];
	int err = 0;

	while (n_bytes && !err) {
		size_t n = n_bytes < sizeof(chunk) ? n_bytes : sizeof(chunk);

		err = read_rest(trace, chunk, n, error);
		n_bytes -= n;
	}
	return err;
}

static int check_link_type(const struct baleen_trace *trace, u32 type, struct baleen_error *error)
{
	char what[128];

	switch (type) {
	case LINK_ETHERNET:
	case LINK_RAW_BSD:
	case LINK_RAW_OPENBSD:
	case LINK_RAW:
	case LINK_RAW_IP4:
	case LINK_RAW_IP6:
	case LINK_COOKED:
	case LINK_COOKED2: return 0;
	}
	snprintf(what, sizeof(what),
		 "its link type is %u, %s: not Ethernet, raw IP or Linux cooked", type,
		 link_type_name(type));
	return fail(trace, EPROTONOSUPPORT, what, error);
}

/* The first half byte of an IP packet is its version. */
static void put_type_of_ip(u8 *header, const u8 *packet, u32 n_bytes)
{
	u32 version = n_bytes ? *packet >> 4 : 0;
	u16 type = version == 4 ? 0x0800 : version == 6 ? 0x86dd : 0;

	header[ETHERNET_BYTES - 2] = type >> 8;
	header[ETHERNET_BYTES - 1] = type & 0xff;
}

/* @frame: as captured, with ETHERNET_BYTES of room before it. Nothing is left of a cooked header
 * that was cut.
 */
static void make_ethernet(u32 link_type, struct baleen_traced_frame *frame)
{
	bool is_cooked = link_type == LINK_COOKED || link_type == LINK_COOKED2;
	u32 protocol = link_type == LINK_COOKED ? COOKED_PROTOCOL : COOKED2_PROTOCOL;
	u32 n_before = link_type == LINK_COOKED	 ? COOKED_BYTES :
		       link_type == LINK_COOKED2 ? COOKED2_BYTES :
						   0;
	u8 header[ETHERNET_BYTES] = { 0 };

	if (frame->n_bytes < n_before) {
		frame->n_bytes = frame->n_wire_bytes = 0;
		return;
	}
	if (is_cooked)
		memcpy(header + ETHERNET_BYTES - 2, frame->bytes + protocol, 2);
	else
		put_type_of_ip(header, frame->bytes, frame->n_bytes);
	frame->bytes += (int)n_before - ETHERNET_BYTES;
	memcpy((u8 *)frame->bytes, header, ETHERNET_BYTES);
	frame->n_bytes += ETHERNET_BYTES - n_before;
	/* A length that cannot be stays as it is said. */
	if (frame->n_wire_bytes <= UINT32_MAX - ETHERNET_BYTES)
		frame->n_wire_bytes += ETHERNET_BYTES - n_before;
}

/* The bytes of a frame whose header has been read. */
static int read_frame(const struct baleen_trace *trace, u32 link_type, u32 n_bytes,
		      u32 n_wire_bytes, struct baleen_traced_frame *frame,
		      struct baleen_error *error)
{
	u8 *bytes = trace->buffer + ETHERNET_BYTES;
	int err;

	if (n_bytes > BALEEN_TRACE_FRAME_BYTES)
		return fail_damaged(trace, "the file is damaged: longer than any frame", error);
	err = read_rest(trace, bytes, n_bytes, error);
	if (err)
		return err;
	*frame = (struct baleen_traced_frame){
		.bytes = bytes,
		.n_bytes = n_bytes,
		.n_wire_bytes = n_wire_bytes > n_bytes ? n_wire_bytes : n_bytes,
	};
	if (link_type != LINK_ETHERNET)
		make_ethernet(link_type, frame);
	return 0;
}

static int next_pcap(const struct baleen_trace *trace, struct baleen_traced_frame *frame,
		     struct baleen_error *error)
{
	u8 header[PCAP_FRAME_BYTES];
	int result = read_bytes(trace, header, sizeof(header), error);

	if (result <= 0)
		return result;
	result = read_frame(trace, trace->link_type, number(trace, header + 8),
			    number(trace, header + 12), frame, error);
	return result ? result : 1;
}

/* The byte order is that of the magic behind type and length. */
static int start_section(struct baleen_trace *trace, u8 *header, u64 *body_bytes,
			 struct baleen_error *error)
{
	u8 section[NG_SECTION_BYTES];
	int err = read_rest(trace, section, sizeof(section), error);

	if (err)
		return err;
	trace->is_swapped = false;
	trace->is_swapped = number(trace, section) != NG_MAGIC;
	if (number(trace, section) != NG_MAGIC)
		return fail_damaged(trace, "the file is damaged: a section without magic", error);
	if (number(trace, header + 4) < NG_BLOCK_BYTES + sizeof(section))
		return fail_damaged(trace, "the file is damaged: a section cut short", error);
	trace->n_interfaces = 0;
	*body_bytes = number(trace, header + 4) - NG_BLOCK_BYTES - sizeof(section);
	return 0;
}

static int add_interface(struct baleen_trace *trace, u64 *body_bytes, struct baleen_error *error)
{
	u8 body[NG_INTERFACE_BYTES];
	u16 type;
	int err;

	if (*body_bytes < sizeof(body))
		return fail_damaged(trace, "the file is damaged: an interface cut short", error);
	err = read_rest(trace, body, sizeof(body), error);
	if (err)
		return err;
	if (baleen_array_add(&trace->interface, trace->n_interfaces))
		return baleen_fail(error, ENOMEM, "%s: out of memory", trace->name);
	memcpy(&type, body, sizeof(type));
	trace->interface[trace->n_interfaces++] = (struct baleen_traced_interface){
		.link_type = trace->is_swapped ? __builtin_bswap16(type) : type,
		.snap_bytes = number(trace, body + 4),
	};
	*body_bytes -= sizeof(body);
	return 0;
}

static int check_interface(const struct baleen_trace *trace, u32 id, struct baleen_error *error)
{
	if (id >= trace->n_interfaces)
		return fail_damaged(trace, "the file is damaged: of an interface that it lacks",
				    error);
	return check_link_type(trace, trace->interface[id].link_type, error);
}

/* An enhanced packet, or the obsolete one, whose interface has 16 bits. */
static int read_packet(const struct baleen_trace *trace, u32 type, u64 *body_bytes,
		       struct baleen_traced_frame *frame, struct baleen_error *error)
{
	u8 body[NG_PACKET_BYTES];
	u32 id, n_bytes;
	u16 short_id;
	int err;

	if (*body_bytes < sizeof(body))
		return fail_damaged(trace, "the file is damaged: a packet cut short", error);
	err = read_rest(trace, body, sizeof(body), error);
	if (err)
		return err;
	memcpy(&short_id, body, sizeof(short_id));
	id = number(trace, body);
	if (type == NG_PACKET)
		id = trace->is_swapped ? __builtin_bswap16(short_id) : short_id;
	n_bytes = number(trace, body + 12);
	*body_bytes -= sizeof(body);
	if (n_bytes > *body_bytes)
		return fail_damaged(trace, "the file is damaged: longer than its block", error);
	*body_bytes -= n_bytes;
	err = check_interface(trace, id, error);
	return err ? err :
		     read_frame(trace, trace->interface[id].link_type, n_bytes,
				number(trace, body + 16), frame, error);
}

/* A simple packet says only how long it was: it is of the first interface. */
static int read_simple(const struct baleen_trace *trace, u64 *body_bytes,
		       struct baleen_traced_frame *frame, struct baleen_error *error)
{
	u8 body[NG_SIMPLE_BYTES];
	u32 n_bytes, snap_bytes;
	int err;

	if (*body_bytes < sizeof(body))
		return fail_damaged(trace, "the file is damaged: a packet cut short", error);
	err = read_rest(trace, body, sizeof(body), error);
	if (!err)
		err = check_interface(trace, 0, error);
	if (err)
		return err;
	*body_bytes -= sizeof(body);
	n_bytes = number(trace, body);
	snap_bytes = trace->interface[0].snap_bytes;
	if (snap_bytes && n_bytes > snap_bytes)
		n_bytes = snap_bytes;
	if (n_bytes > *body_bytes)
		n_bytes = *body_bytes;
	*body_bytes -= n_bytes;
	return read_frame(trace, trace->interface[0].link_type, n_bytes, number(trace, body), frame,
			  error);
}

/* One block behind its type and length; 1 when it holds a frame. */
static int read_block(struct baleen_trace *trace, u8 *header, struct baleen_traced_frame *frame,
		      struct baleen_error *error)
{
	u32 type = number(trace, header);
	u64 body_bytes = number(trace, header + 4);
	bool is_frame = type == NG_ENHANCED || type == NG_PACKET || type == NG_SIMPLE;
	int err = 0;

	if (type != NG_SECTION) {
		if (body_bytes < NG_BLOCK_BYTES || body_bytes % 4)
			return fail_damaged(trace, "the file is damaged: a block of no length",
					    error);
		body_bytes -= NG_BLOCK_BYTES;
	}
	switch (type) {
	case NG_SECTION: err = start_section(trace, header, &body_bytes, error); break;
	case NG_INTERFACE: err = add_interface(trace, &body_bytes, error); break;
	case NG_PACKET:
	case NG_ENHANCED: err = read_packet(trace, type, &body_bytes, frame, error); break;
	case NG_SIMPLE: err = read_simple(trace, &body_bytes, frame, error); break;
	}
	/* Options, padding, and the length again. */
	if (!err)
		err = skip(trace, body_bytes + sizeof(u32), error);
	return err ? err : is_frame;
}

static int next_ng(struct baleen_trace *trace, struct baleen_traced_frame *frame,
		   struct baleen_error *error)
{
	u8 header[NG_FRAME_BYTES];
	int result;

	do {
		result = read_bytes(trace, header, sizeof(header), error);
		if (result <= 0)
			return result;
		result = read_block(trace, header, frame, error);
	} while (!result);
	return result;
}

int baleen_trace_next(struct baleen_trace *trace, struct baleen_traced_frame *frame,
		      struct baleen_error *error)
{
	int result = 1;

	if (trace->has_first) {
		*frame = trace->first;
		trace->has_first = false;
	} else if (trace->is_ng) {
		result = next_ng(trace, frame, error);
	} else {
		result = next_pcap(trace, frame, error);
	}
	if (result > 0)
		trace->n_frames++;
	return result;
}

/* The first bytes of a file tell its format. */
static int read_start(struct baleen_trace *trace, struct baleen_error *error)
{
	u8 start[PCAP_FILE_BYTES], header[NG_FRAME_BYTES] = { 0 };
	struct baleen_traced_frame none;
	size_t n = fread(header, 1, sizeof(header), trace->file);
	u32 magic = number(trace, header);
	int err;

	if (ferror(trace->file))
		return fail(trace, errno, strerror(errno), error);
	if (!n)
		return baleen_fail(error, EINVAL, "%s: is empty, no capture", trace->name);
	trace->is_ng = magic == NG_SECTION;
	if (trace->is_ng)
		return read_block(trace, header, &none, error);
	trace->is_swapped = magic != PCAP_MAGIC && magic != PCAP_MAGIC_NS;
	magic = number(trace, header);
	if (n < sizeof(header) || (magic != PCAP_MAGIC && magic != PCAP_MAGIC_NS))
		return baleen_fail(error, EINVAL, "%s: is no capture: neither pcap nor pcapng",
				   trace->name);
	err = read_rest(trace, start, sizeof(start) - sizeof(header), error);
	/* The upper bits tell whether frames end with their FCS. */
	trace->link_type = err ? 0 : number(trace, start + 12) & 0xffff;
	return err ? err : check_link_type(trace, trace->link_type, error);
}

int baleen_trace_open(struct baleen_trace *trace, const char *path, struct baleen_error *error)
{
	struct baleen_trace opened = { .name = strcmp(path, "-") ? path : "stdin" };
	int result;

	opened.file =
		strcmp(path, "-") ? baleen_input_stream(path, BALEEN_INPUT_TYPED, error) : stdin;
	if (!opened.file)
		return -errno;
	opened.buffer = malloc(ETHERNET_BYTES + BALEEN_TRACE_FRAME_BYTES);
	result = opened.buffer ? read_start(&opened, error) :
				 baleen_fail(error, ENOMEM, "%s: out of memory", opened.name);
	if (!result)
		result = baleen_trace_next(&opened, &opened.first, error);
	if (result < 0) {
		baleen_trace_close(&opened);
		return result;
	}
	opened.has_first = result;
	opened.n_frames = 0;
	*trace = opened;
	return 0;
}

void baleen_trace_close(struct baleen_trace *trace)
{
	free(trace->buffer);
	free(trace->interface);
	if (trace->file != stdin)
		fclose(trace->file);
	*trace = (struct baleen_trace){ .file = stdin };
}
