// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Preloaded into a command under test: one of its system calls fails, or what it
 * syncs is kept aside, as a disk would have it after a power cut.
 *
 *   SHIM_FAIL=CLASS:N:ERRNO[+]  the N-th call of the class fails, from 0; +: and all after it
 *   SHIM_COUNT=FILE             says there how many calls of the class there were
 *   SHIM_SHADOW=DIR             what was synced below SHIM_ROOT: DIR/i/INODE holds the
 *                               bytes of a file, DIR/d/PATH the names of a directory
 *                               (each / of PATH is a %)
 *
 * Calls go to the kernel directly: to ask the dynamic linker for the next function
 * takes memory, and memory is one of the classes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);

static struct {
	char class[16];
	long nth;
	int error;
	bool lasts;
	long n_seen;
} fault;

static const char *shadow, *root, *count;

__attribute__((constructor)) static void init(void)
{
	const char *text = getenv("SHIM_FAIL");
	char plus = '\0';

	shadow = getenv("SHIM_SHADOW");
	root = getenv("SHIM_ROOT");
	count = getenv("SHIM_COUNT");
	if (text &&
	    sscanf(text, "%15[^:]:%ld:%d%c", fault.class, &fault.nth, &fault.error, &plus) < 3)
		fault.class[0] = '\0';
	fault.lasts = plus == '+';
}

static bool fails(const char *class)
{
	long n;

	if (strcmp(class, fault.class))
		return false;
	n = __atomic_fetch_add(&fault.n_seen, 1, __ATOMIC_RELAXED);
	if (n != fault.nth && !(fault.lasts && n > fault.nth))
		return false;
	errno = fault.error;
	return true;
}

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 asm("r10") = d, r8 asm("r8") = e, r9 asm("r9") = f;
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return result;
}

static long failed(long result)
{
	if (result >= 0 || result < -4095)
		return result;
	errno = -result;
	return -1;
}

#define CALL(number, a, b, c, d, e, f) \
	failed(kernel(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))

static int create(const char *path)
{
	return CALL(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600, 0, 0);
}

__attribute__((destructor)) static void tell(void)
{
	char text[32];
	int fd;

	if (!count)
		return;
	snprintf(text, sizeof(text), "%ld\n", fault.n_seen);
	fd = create(count);
	CALL(SYS_write, fd, text, strlen(text), 0, 0, 0);
	CALL(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* --- what was synced ------------------------------------------------------- */

static void keep_bytes(int fd, const char *to)
{
	char buffer[65536], self[64];
	off_t at = 0;
	long n;
	int in, out = create(to);

	/* It may be open for writing only. */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	in = CALL(SYS_openat, AT_FDCWD, self, O_RDONLY, 0, 0, 0);
	while (in >= 0 && out >= 0 &&
	       (n = CALL(SYS_pread64, in, buffer, sizeof(buffer), at, 0, 0)) > 0) {
		CALL(SYS_write, out, buffer, n, 0, 0, 0);
		at += n;
	}
	if (in >= 0)
		CALL(SYS_close, in, 0, 0, 0, 0, 0);
	if (out >= 0)
		CALL(SYS_close, out, 0, 0, 0, 0, 0);
}

static void keep_names(const char *directory, const char *to)
{
	DIR *names = opendir(directory);
	struct dirent *name;
	char line[512];
	int out = create(to);

	while (names && out >= 0 && (name = readdir(names))) {
		int n;

		if (!strcmp(name->d_name, ".") || !strcmp(name->d_name, ".."))
			continue;
		n = snprintf(line, sizeof(line), "%c %lu %s\n", name->d_type == DT_DIR ? 'd' : 'f',
			     name->d_ino, name->d_name);
		CALL(SYS_write, out, line, n, 0, 0, 0);
	}
	if (names)
		closedir(names);
	if (out >= 0)
		CALL(SYS_close, out, 0, 0, 0, 0, 0);
}

static void keep(int fd)
{
	char self[64], path[4096], name[4200], made[4300];
	struct stat stat;
	ssize_t n;

	if (!shadow || fstat(fd, &stat))
		return;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, path, sizeof(path) - 1);
	if (n < 0)
		return;
	path[n] = '\0';
	if (root && strncmp(path, root, strlen(root)))
		return;
	if (S_ISREG(stat.st_mode)) {
		snprintf(name, sizeof(name), "%s/i/%lu", shadow, stat.st_ino);
	} else {
		int at = snprintf(name, sizeof(name), "%s/d/", shadow);

		for (const char *c = path; *c && at < (int)sizeof(name) - 1; c++)
			name[at++] = *c == '/' ? '%' : *c;
		name[at] = '\0';
	}
	snprintf(made, sizeof(made), "%s.tmp", name);
	if (S_ISREG(stat.st_mode))
		keep_bytes(fd, made);
	else
		keep_names(path, made);
	CALL(SYS_rename, made, name, 0, 0, 0, 0);
}

int fsync(int fd)
{
	int err = fails("sync") ? -1 : CALL(SYS_fsync, fd, 0, 0, 0, 0, 0);

	if (!err)
		keep(fd);
	return err;
}

int fdatasync(int fd)
{
	int err = fails("sync") ? -1 : CALL(SYS_fdatasync, fd, 0, 0, 0, 0, 0);

	if (!err)
		keep(fd);
	return err;
}

int syncfs(int fd)
{
	return fails("sync") ? -1 : CALL(SYS_syncfs, fd, 0, 0, 0, 0, 0);
}

/* --- write: not of what is printed ----------------------------------------- */

ssize_t write(int fd, const void *bytes, size_t n)
{
	return fd > 2 && fails("write") ? -1 : CALL(SYS_write, fd, bytes, n, 0, 0, 0);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	return fd > 2 && fails("write") ? -1 : CALL(SYS_writev, fd, parts, n, 0, 0, 0);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t at)
{
	return fails("write") ? -1 : CALL(SYS_pwrite64, fd, bytes, n, at, 0, 0);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	return pwrite64(fd, bytes, n, at);
}

int ftruncate64(int fd, off_t n)
{
	return fails("write") ? -1 : CALL(SYS_ftruncate, fd, n, 0, 0, 0, 0);
}

int ftruncate(int fd, off_t n)
{
	return ftruncate64(fd, n);
}

int fallocate(int fd, int mode, off_t at, off_t n)
{
	return fails("write") ? -1 : CALL(SYS_fallocate, fd, mode, at, n, 0, 0);
}

/* --- name ------------------------------------------------------------------ */

#define BPF_FS_MAGIC 0xcafe4a11

/* The names of pins are in the kernel's memory: they fail as bpf() does, not as a disk. */
static const char *name_class(int at, const char *path)
{
	struct statfs in = { 0 };

	if (*path == '/')
		return strncmp(path, "/sys/fs/bpf/", strlen("/sys/fs/bpf/")) ? "name" : "bpf";
	CALL(SYS_fstatfs, at, &in, 0, 0, 0, 0);
	return in.f_type == BPF_FS_MAGIC ? "bpf" : "name";
}

int rename(const char *from, const char *to)
{
	return fails(name_class(AT_FDCWD, from)) ? -1 : CALL(SYS_rename, from, to, 0, 0, 0, 0);
}

int renameat(int at, const char *from, int to_at, const char *to)
{
	return fails(name_class(at, from)) ? -1 : CALL(SYS_renameat, at, from, to_at, to, 0, 0);
}

int renameat2(int at, const char *from, int to_at, const char *to, unsigned int flags)
{
	return fails(name_class(at, from)) ? -1 :
					     CALL(SYS_renameat2, at, from, to_at, to, flags, 0);
}

int unlink(const char *path)
{
	return fails(name_class(AT_FDCWD, path)) ? -1 : CALL(SYS_unlink, path, 0, 0, 0, 0, 0);
}

int unlinkat(int at, const char *path, int flags)
{
	return fails(name_class(at, path)) ? -1 : CALL(SYS_unlinkat, at, path, flags, 0, 0, 0);
}

int mkdir(const char *path, mode_t mode)
{
	return fails(name_class(AT_FDCWD, path)) ? -1 : CALL(SYS_mkdir, path, mode, 0, 0, 0, 0);
}

int mkdirat(int at, const char *path, mode_t mode)
{
	return fails(name_class(at, path)) ? -1 : CALL(SYS_mkdirat, at, path, mode, 0, 0, 0);
}

int linkat(int at, const char *from, int to_at, const char *to, int flags)
{
	return fails(name_class(to_at, to)) ? -1 : CALL(SYS_linkat, at, from, to_at, to, flags, 0);
}

/* --- open ------------------------------------------------------------------ */

static int open_file(int at, const char *path, int flags, va_list *more)
{
	mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(*more, mode_t) : 0;

	return fails("open") ? -1 : CALL(SYS_openat, at, path, flags, mode, 0, 0);
}

#define OPEN(at, path, flags)                           \
	({                                              \
		va_list more;                           \
		int fd;                                 \
                                                        \
		va_start(more, flags);                  \
		fd = open_file(at, path, flags, &more); \
		va_end(more);                           \
		fd;                                     \
	})

int open(const char *path, int flags, ...)
{
	return OPEN(AT_FDCWD, path, flags);
}

int open64(const char *path, int flags, ...)
{
	return OPEN(AT_FDCWD, path, flags);
}

int openat(int at, const char *path, int flags, ...)
{
	return OPEN(at, path, flags);
}

int openat64(int at, const char *path, int flags, ...)
{
	return OPEN(at, path, flags);
}

/* --- map, mem -------------------------------------------------------------- */

void *mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return fails("map") ? MAP_FAILED :
			      (void *)CALL(SYS_mmap, at, n, protection, flags, fd, offset);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return mmap64(at, n, protection, flags, fd, offset);
}

void *malloc(size_t bytes)
{
	return fails("mem") ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	return fails("mem") ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return fails("mem") ? NULL : __libc_realloc(old, bytes);
}

/* --- bpf, net -------------------------------------------------------------- */

long syscall(long number, ...)
{
	va_list more;
	long word[6];

	va_start(more, number);
	for (int i = 0; i < 6; i++)
		word[i] = va_arg(more, long);
	va_end(more);
	if (number == SYS_bpf && fails("bpf"))
		return -1;
	return CALL(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

int socket(int domain, int type, int protocol)
{
	return fails("net") ? -1 : CALL(SYS_socket, domain, type, protocol, 0, 0, 0);
}

ssize_t sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
	       socklen_t to_bytes)
{
	return fails("net") ? -1 : CALL(SYS_sendto, fd, bytes, n, flags, to, to_bytes);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	return fails("net") ? -1 : CALL(SYS_sendmsg, fd, message, flags, 0, 0, 0);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	return fails("net") ? -1 : CALL(SYS_recvmsg, fd, message, flags, 0, 0, 0);
}
