/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of the kernel that headers of glibc have, and those of musl do not.
 */
#ifndef BALEEN_MUSL_H
#define BALEEN_MUSL_H

#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1) /* <linux/fs.h> */

static inline int renameat2(int from_fd, const char *from, int to_fd, const char *to,
			    unsigned int flags)
{
	return syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}
#endif

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* <asm-generic/socket.h> */
#endif

#endif /* BALEEN_MUSL_H */
