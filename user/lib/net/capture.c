// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writing a capture file, frame by frame. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/capture.h"
#include "util/input.h"
#include "util/output.h"

#define MAGIC_NS 0xa1b23c4d
#define LINK_ETHERNET 1

/* draft-ietf-opsawg-pcap, sections 4 and 5; in the order of bytes of the machine. */
struct file_header {
	u32 magic;
	u16 major;
	u16 minor;
	u32 reserved[2];
	u32 max_bytes;
	u32 link_type;
};

struct frame_header {
	u32 time_s;
	u32 time_ns;
	u32 n_bytes;
	u32 n_wire_bytes;
};

/* pcap with micro- and nanoseconds, pcapng; all but the last in either order. */
static bool is_capture(u32 magic)
{
	static const u32 magics[] = { 0xa1b2c3d4, 0xd4c3b2a1, MAGIC_NS, 0x4d3cb2a1, 0x0a0d0d0a };

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (magic == magics[i])
			return true;
	return false;
}

/* A slip of the hand must not cost a list. */
static int check_old(const char *path, struct baleen_error *error)
{
	struct stat old;
	u32 magic = 0;
	int fd;

	if (stat(path, &old) || !S_ISREG(old.st_mode) || !old.st_size)
		return 0;
	fd = baleen_input_open(path, BALEEN_INPUT_TYPED_FILE, error);
	if (fd < 0)
		return fd;
	if (read(fd, &magic, sizeof(magic)) < 0)
		magic = 0;
	close(fd);
	if (!is_capture(magic))
		return baleen_fail(error, EEXIST,
				   "%s is there and no capture: remove it first, or take another "
				   "name",
				   path);
	return 0;
}

static int open_file(const char *path, FILE **file, struct baleen_error *error)
{
	struct baleen_output output;
	int fd, err;

	if (!strcmp(path, "-")) {
		if (isatty(STDOUT_FILENO))
			return baleen_fail(error, EINVAL, "a capture is nothing for a terminal");
		*file = stdout;
		return 0;
	}
	err = check_old(path, error);
	if (err)
		return err;
	/* Named at once: others read it while it grows. */
	err = baleen_output_open(&output, path, BALEEN_OUTPUT_TYPED, 0600, error);
	if (err)
		return err;
	err = baleen_output_name(&output);
	fd = err ? -1 : fcntl(output.fd, F_DUPFD_CLOEXEC, 0);
	if (!err && fd < 0)
		err = -errno;
	baleen_output_drop(&output);
	if (err)
		return baleen_fail(error, -err, "%s: %s", path, strerror(-err));
	*file = fdopen(fd, "w");
	if (*file)
		return 0;
	close(fd);
	return baleen_fail(error, ENOMEM, "%s: no memory", path);
}

static int put(struct baleen_capture *capture, const void *header, size_t header_bytes,
	       const void *bytes, size_t n_bytes, struct baleen_error *error)
{
	if (fwrite(header, header_bytes, 1, capture->file) == 1 &&
	    fwrite(bytes, 1, n_bytes, capture->file) == n_bytes && !fflush(capture->file))
		return 0;
	return baleen_fail(error, errno, "%s: %m", capture->name);
}

int baleen_capture_open(struct baleen_capture *capture, const char *path, u32 max_bytes,
			struct baleen_error *error)
{
	const struct file_header header = {
		.magic = MAGIC_NS,
		.major = 2,
		.minor = 4,
		.max_bytes = max_bytes,
		.link_type = LINK_ETHERNET,
	};
	int err;

	capture->name = strcmp(path, "-") ? path : "standard output";
	err = open_file(path, &capture->file, error);
	if (err)
		return err;
	err = put(capture, &header, sizeof(header), "", 0, error);
	if (err)
		baleen_capture_close(capture);
	return err;
}

int baleen_capture_add(struct baleen_capture *capture, const struct timespec *time, const u8 *bytes,
		       u32 n_bytes, u32 n_wire_bytes, struct baleen_error *error)
{
	const struct frame_header header = {
		.time_s = time->tv_sec,
		.time_ns = time->tv_nsec,
		.n_bytes = n_bytes,
		.n_wire_bytes = n_wire_bytes,
	};

	return put(capture, &header, sizeof(header), bytes, n_bytes, error);
}

void baleen_capture_close(struct baleen_capture *capture)
{
	if (capture->file != stdout)
		fclose(capture->file);
}
