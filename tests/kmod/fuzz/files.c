// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files of the device: unknown commands, copies, other modes, other processes. */
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fuzz.h"

static bool is_known(u32 number)
{
	static const u32 known[] = {
		BALEEN_DEV_LIST,    BALEEN_DEV_GET,	 BALEEN_DEV_CREATE, BALEEN_DEV_DESTROY,
		BALEEN_DEV_SWAP,    BALEEN_DEV_EXPORT,	 BALEEN_DEV_QUERY,  BALEEN_DEV_INSERT,
		BALEEN_DEV_DELETE,  BALEEN_DEV_COUNTERS, BALEEN_DEV_BIND,   BALEEN_DEV_UNBIND,
		BALEEN_DEV_BINDING, BALEEN_DEV_BINDINGS,
	};

	for (u32 i = 0; i < N_OF(known); i++)
		if (number == known[i])
			return true;
	return false;
}

/* Numbers that are one bit off, and any. The kernel has some of its own (FIONBIO ...). */
void op_unknown(struct fuzz *fuzz)
{
	struct place at = place(fuzz, 4096);
	u32 number = BALEEN_DEV_LIST;
	int err;

	number ^= 1u << below(fuzz, 32) ^ below(fuzz, 20);
	if (is_known(number) || (number >> 8 & 0xff) != BALEEN_DEV_MAGIC)
		return;
	err = command(FIRST_FD, number, (void *)(uintptr_t)at.address);
	if (err != -ENOTTY)
		finding(fuzz, "unknown command %#x: errno %d", number, -err);
	if (fuzz->alone && !is_poison(at.at, at.n_bytes))
		finding(fuzz, "unknown command %#x writes", number);
}

/* Another file, of another mode, takes the place of one that others may be using. */
void op_files(struct fuzz *fuzz)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	int fd = FIRST_FD + 1 + below(fuzz, N_FDS - 1), other;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN | POLLOUT };

	if (one_in(fuzz, 3))
		other = dup(FIRST_FD + below(fuzz, N_FDS));
	else
		other = open(DEVICE, modes[below(fuzz, 3)] | O_CLOEXEC);
	if (other < 0)
		return;
	dup2(other, fd);
	close(other);
	poll(&poll_fd, 1, 0);
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, FIRST_FD, 0) != MAP_FAILED)
		finding(fuzz, "the device can be mapped");
}

/* A child inherits files, and half an image, and ends with them. */
void op_fork(struct fuzz *fuzz)
{
	u8 name[BALEEN_DEV_NAME_BYTES];
	size_t n_bytes;
	int fd = open(DEVICE, O_RDWR);
	pid_t child;
	u8 *bytes;

	name_of(below(fuzz, N_NAMES), name);
	bytes = make_image(fuzz, name, &n_bytes);
	if (write(fd, bytes, 512 + below(fuzz, n_bytes - 512)) < 0)
		errno = 0;
	child = fork();
	if (!child) {
		struct baleen_dev_list arg = { .room = 0 };

		command(fd, BALEEN_DEV_LIST, &arg);
		if (write(fd, bytes, below(fuzz, n_bytes)) < 0)
			errno = 0;
		_exit(0);
	}
	close(fd);
	if (child > 0)
		waitpid(child, NULL, 0);
	free(bytes);
	if (fuzz->alone)
		learn_all(fuzz);
}
