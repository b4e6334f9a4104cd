// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Images that are written into the device in all kinds of pieces, and the table that
 * is read from it.
 *
 *	stream IMAGE
 */
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "dev.h"

static struct file file;
static int device;

/* 0, or the negative errno of write(); what it took in @taken. */
static int put(int fd, const void *bytes, size_t n_bytes, size_t *taken)
{
	ssize_t n = write(fd, bytes, n_bytes);

	*taken = n < 0 ? 0 : n;
	return n < 0 ? -errno : 0;
}

/* The image under another name; to be freed. */
static u8 *named(const char *name)
{
	u8 *bytes = need(malloc(file.n_bytes));

	memcpy(bytes, file.bytes, file.n_bytes);
	rename_image(bytes, name);
	return bytes;
}

/* It is there, and what comes out is what went in. */
static bool is_there(const char *name, const void *bytes)
{
	u8 *out = need(malloc(file.n_bytes));
	bool same = !device_export(device, name, out, file.n_bytes, NULL) &&
		    !memcmp(out, bytes, file.n_bytes);

	free(out);
	return same;
}

static bool is_not_there(const char *name)
{
	struct baleen_dev_info info;

	return device_info(device, name, &info) == -ENOENT;
}

static void gone(const char *name)
{
	if (device_destroy(device, name))
		check(false, "%s goes", name);
}

/* --- pieces --------------------------------------------------------------- */

/* Nothing is there before the last byte is. */
static void try_pieces(size_t piece)
{
	u8 *bytes = named("pieces");
	int fd = device_open(O_WRONLY), err = 0;
	bool early = false;
	size_t n = 0, taken;

	while (!err && n < file.n_bytes) {
		size_t left = file.n_bytes - n;

		if (left <= piece || n < 1024)
			early |= !is_not_there("pieces");
		err = put(fd, bytes + n, left < piece ? left : piece, &taken);
		n += taken;
	}
	check(!err && !early && is_there("pieces", bytes), "pieces of %zu bytes", piece);
	check_is("the file closes", close(fd), 0);
	gone("pieces");
	free(bytes);
}

static void test_pieces(void)
{
	static const size_t pieces[] = { 1, 7, 63, 511, 512, 513, 4095, 4096, 4097, 1 << 20 };

	for (size_t i = 0; i < N_OF(pieces); i++)
		try_pieces(pieces[i]);
}

/* As many as write() takes of two images, and the rest with the next one. */
static void test_two(void)
{
	u8 *one = named("one"), *two = named("two");
	u8 *both = need(malloc(2 * file.n_bytes));
	int fd = device_open(O_WRONLY), err = 0;
	size_t n = 0, taken;

	memcpy(both, one, file.n_bytes);
	memcpy(both + file.n_bytes, two, file.n_bytes);
	while (!err && n < 2 * file.n_bytes) {
		err = put(fd, both + n, 2 * file.n_bytes - n, &taken);
		n += taken;
	}
	check(!err && is_there("one", one) && is_there("two", two), "two images in one write");
	check_is("and the file closes", close(fd), 0);
	gone("one");
	gone("two");
	free(one);
	free(two);
	free(both);
}

static void test_vectors(void)
{
	u8 *bytes = named("vectors");
	struct iovec parts[] = { { bytes, 100 },
				 { bytes + 100, 412 },
				 { bytes + 512, 1 },
				 { bytes + 513, file.n_bytes - 513 } };
	int fd = device_open(O_WRONLY);
	ssize_t n = writev(fd, parts, N_OF(parts));

	check(n == (ssize_t)file.n_bytes && is_there("vectors", bytes), "writev()");
	close(fd);
	gone("vectors");
	free(bytes);
}

/* A process says more than it has: what was whole before is taken. */
static void test_huge(void)
{
	u8 *bytes = named("huge");
	struct edge edge = edge_make(file.n_bytes);
	int fd = device_open(O_WRONLY), err;
	size_t taken;

	memcpy(edge.end - file.n_bytes, bytes, file.n_bytes);
	err = put(fd, edge.end - file.n_bytes, 1 << 30, &taken);
	check(!err && taken == file.n_bytes && is_there("huge", bytes),
	      "a write of 1 GiB that is not there takes the image that is");
	check_is("what comes behind it is not", put(fd, edge.end, 1 << 30, &taken), -EFAULT);
	check_is("nor is an address of the kernel",
		 put(fd, (void *)(uintptr_t)0xffff888000000000ull, 512, &taken), -EFAULT);
	check_is("nothing is nothing", put(fd, bytes, 0, &taken), 0);
	check_is("and the file closes", close(fd), 0);
	gone("huge");
	edge_free(&edge);
	free(bytes);
}

/* --- what ends in the middle ---------------------------------------------- */

static void try_end(size_t n)
{
	u8 *bytes = named("part");
	int fd = device_open(O_WRONLY);
	size_t taken;

	put(fd, bytes, n, &taken);
	errno = 0;
	check(taken == n && close(fd) == -1 && errno == EINVAL && is_not_there("part"),
	      "who closes after %zu bytes is told", n);
	free(bytes);
}

static void test_ends(void)
{
	const size_t ends[] = { 1, 511, 512, 513, file.n_bytes - 1 };

	for (size_t i = 0; i < N_OF(ends); i++)
		try_end(ends[i]);
	check_is("an open file that nothing was written to", close(device_open(O_WRONLY)), 0);
}

/* --- refused images ------------------------------------------------------- */

/* @at: the byte that is damaged; the write that has it complete is refused. */
static void try_refused(size_t at, size_t piece)
{
	u8 *good = named("good"), *bad = named("bad");
	int fd = device_open(O_WRONLY), err = 0;
	size_t n = 0, taken, whole = at < 8 ? 8 : at < 512 ? 512 : file.n_bytes;

	bad[at] ^= 1;
	while (!err && n < file.n_bytes) {
		size_t left = file.n_bytes - n;

		err = put(fd, bad + n, left < piece ? left : piece, &taken);
		n += taken;
	}
	check(err == -EBADMSG && n <= whole && n + piece >= whole && is_not_there("bad"),
	      "damage at %zu, pieces of %zu: refused by the write that completes it", at, piece);
	err = put(fd, good, file.n_bytes, &taken);
	check(!err && taken == file.n_bytes && is_there("good", good), "a good one after it");
	check_is("and the file closes", close(fd), 0);
	gone("good");
	free(good);
	free(bad);
}

static void try_name(const char *name, const char *what)
{
	u8 *bytes = named(name);
	int fd = device_open(O_WRONLY);
	long before = device_n(device);
	size_t taken;
	int err = put(fd, bytes, file.n_bytes, &taken);

	check(err == -EINVAL && device_n(device) == before, "an image %s", what);
	close(fd);
	free(bytes);
}

/* A line of text, and a byte of it that may be that of an image. */
static void test_text(void)
{
	int fd = device_open(O_WRONLY);
	size_t taken;

	check_is("a line of text", put(fd, "x\n", 2, &taken), -EBADMSG);
	check_is("one that begins as an image does", put(fd, BALEEN_MAGIC, 1, &taken), 0);
	check_is("and goes on otherwise", put(fd, "\n", 1, &taken), -EBADMSG);
	check_is("and the file closes", close(fd), 0);
}

static void test_refused(void)
{
	const size_t places[] = { 0, 24, 64, 511, 512, file.n_bytes - 1 };
	const size_t pieces[] = { 1 << 20, 512, 511 };

	for (size_t i = 0; i < N_OF(places); i++)
		for (size_t j = 0; j < N_OF(pieces); j++)
			try_refused(places[i], pieces[j]);
	try_name("", "without a name");
	test_text();
}

/* --- several writers ------------------------------------------------------ */

/* Two files, a piece of each by turns: each has an image of its own. */
static void test_two_files(void)
{
	u8 *one = named("one"), *two = named("two");
	int a = device_open(O_WRONLY), b = device_open(O_WRONLY), err = 0;
	size_t taken;

	for (size_t n = 0; n < file.n_bytes && !err; n += 100) {
		size_t piece = file.n_bytes - n < 100 ? file.n_bytes - n : 100;

		err = put(a, one + n, piece, &taken);
		err = err ? err : put(b, two + n, piece, &taken);
	}
	check(!err && is_there("one", one) && is_there("two", two), "two files by turns");
	check(!close(a) && !close(b), "both close");
	gone("one");
	gone("two");
	free(one);
	free(two);
}

/* One file of two processes: the child writes the rest; or only closes it. */
static void test_fork(bool writes)
{
	u8 *bytes = named("fork");
	int fd = device_open(O_WRONLY), status = -1;
	size_t half = file.n_bytes / 2, taken;
	pid_t child;

	put(fd, bytes, half, &taken);
	child = fork();
	if (!child) {
		if (writes)
			put(fd, bytes + half, file.n_bytes - half, &taken);
		_exit(writes && taken != file.n_bytes - half);
	}
	waitpid(child, &status, 0);
	if (!writes)
		put(fd, bytes + half, file.n_bytes - half, &taken);
	check(!status && is_there("fork", bytes),
	      writes ? "a child writes the rest" : "a child that goes takes nothing along");
	check_is("and the file closes", close(fd), 0);
	gone("fork");
	free(bytes);
}

/* Pieces of many processes on one file come one at a time: of two whole images that
 * are written at once, both are taken.
 */
static void test_crowd(void)
{
	int fd = device_open(O_WRONLY), status, bad = 0;
	char name[16];

	for (int i = 0; i < 8; i++) {
		if (fork())
			continue;
		snprintf(name, sizeof(name), "crowd%d", i);
		for (int round = 0; round < 20; round++) {
			size_t taken;

			if (put(fd, named(name), file.n_bytes, &taken) || taken != file.n_bytes)
				_exit(1);
		}
		_exit(0);
	}
	while (wait(&status) > 0)
		bad += !!status;
	for (int i = 0; i < 8; i++) {
		u8 *bytes;

		snprintf(name, sizeof(name), "crowd%d", i);
		bytes = named(name);
		bad += !is_there(name, bytes);
		gone(name);
		free(bytes);
	}
	check_is("eight processes write whole images to one file", bad, 0);
	check_is("and it closes", close(fd), 0);
}

/* --- other ways to write -------------------------------------------------- */

static void test_append(void)
{
	u8 *bytes = named("append");
	int fd = device_open(O_WRONLY | O_APPEND);
	size_t taken;

	check(!put(fd, bytes, file.n_bytes, &taken) && is_there("append", bytes), "O_APPEND");
	check(!put(fd, bytes, file.n_bytes, &taken) && is_there("append", bytes),
	      "the same again swaps it");
	close(fd);
	gone("append");
	free(bytes);
}

/* No place but the next: others are refused, and nothing of them stays. */
static void test_places(void)
{
	u8 *bytes = named("places");
	int fd = device_open(O_WRONLY);
	ssize_t n = pwrite(fd, bytes, file.n_bytes, 64);
	size_t taken;

	check(n == -1 && errno == ESPIPE && is_not_there("places"), "pwrite() is refused");
	check(!put(fd, bytes, file.n_bytes, &taken) && is_there("places", bytes),
	      "write() goes on");
	check_is("and the file closes", close(fd), 0);
	gone("places");
	free(bytes);
}

/* From a file by sendfile(), from a pipe by splice(): refused, or right. */
static void test_splice(void)
{
	u8 *bytes = named("splice");
	int from = memfd_create("image", 0), fd = device_open(O_WRONLY), ends[2];
	ssize_t n;

	if (write(from, bytes, file.n_bytes) != (ssize_t)file.n_bytes || pipe(ends))
		err(1, "no file");
	lseek(from, 0, SEEK_SET);
	n = sendfile(fd, from, NULL, file.n_bytes);
	check(n == (ssize_t)file.n_bytes ? is_there("splice", bytes) :
					   n == -1 && errno == EINVAL && is_not_there("splice"),
	      "sendfile() is right or refused");
	close(fd);
	device_destroy(device, "splice");
	fd = device_open(O_WRONLY);
	if (write(ends[1], bytes, 512) != 512)
		err(1, "pipe");
	n = splice(ends[0], NULL, fd, NULL, 512, 0);
	check((n == 512 || (n == -1 && errno == EINVAL)) && is_not_there("splice"),
	      "splice() is right or refused");
	close(fd);
	close(from);
	close(ends[0]);
	close(ends[1]);
	free(bytes);
}

/* Who may not write learns it before anything is looked at. */
static void test_modes(void)
{
	int fd = device_open(O_RDONLY);
	size_t taken;
	char byte;

	check_is("a file open for reading", put(fd, file.bytes, file.n_bytes, &taken), -EBADF);
	close(fd);
	fd = device_open(O_WRONLY);
	check(read(fd, &byte, 1) == -1 && errno == EBADF, "a file open for writing is not read");
	close(fd);
	check(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, device, 0) == MAP_FAILED && errno == ENODEV,
	      "the device is no memory");
}

/* --- the table ------------------------------------------------------------ */

static size_t slurp(size_t piece, char *text, size_t room)
{
	int fd = device_open(O_RDONLY);
	size_t n = 0;
	ssize_t got;

	while (n < room && (got = read(fd, text + n, piece)) > 0)
		n += got;
	close(fd);
	return n;
}

static size_t n_lines(const char *text, size_t n)
{
	size_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

static void test_table(void)
{
	enum { ROOM = 1 << 20, N = 1000 };
	char *whole = need(malloc(ROOM)), *pieces = need(malloc(ROOM)), name[32];
	size_t n;
	int bad = 0;

	n = slurp(ROOM, whole, ROOM);
	check_is("a table without filters is its heading", n_lines(whole, n), 1);
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "name-%026d", N - 1 - i);
		bad += !!device_create(device, name, file.bytes, file.n_bytes);
	}
	check_is("a thousand filters", bad, 0);
	check_is("all of them are listed", device_n(device), N);
	n = slurp(ROOM, whole, ROOM);
	check_is("the table has a line for each", n_lines(whole, n), N + 1);
	for (size_t piece = 1; piece < 10000; piece = piece * 7 + 3)
		check(slurp(piece, pieces, ROOM) == n && !memcmp(whole, pieces, n),
		      "the table in pieces of %zu bytes", piece);
	bad = 0;
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "name-%026d", i);
		bad += !!device_destroy(device, name);
	}
	check_is("and they go", bad, 0);
	free(whole);
	free(pieces);
}

/* Filters come and go beside who reads: each line is one of a filter that was there. */
static void test_table_beside(void)
{
	enum { ROOM = 1 << 16, ROUNDS = 300 };
	char *text = need(malloc(ROOM));
	int bad = 0, status;
	pid_t child;

	device_create(device, "stays", file.bytes, file.n_bytes);
	child = fork();
	if (!child) {
		for (;;) {
			device_create(device, "comes", file.bytes, file.n_bytes);
			device_destroy(device, "comes");
		}
	}
	for (int i = 0; i < ROUNDS; i++) {
		size_t n = slurp(i % 2 ? 13 : ROOM, text, ROOM - 1), lines;

		text[n] = 0;
		lines = n_lines(text, n);
		bad += lines < 2 || lines > 3 || !strstr(text, "stays");
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	check_is("the table is right while filters come and go", bad, 0);
	gone("stays");
	device_destroy(device, "comes");
	free(text);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: stream IMAGE");
	file = file_read(argv[1]);
	device = device_open(O_RDWR);
	test_modes();
	test_refused();
	test_pieces();
	test_two();
	test_vectors();
	test_huge();
	test_ends();
	test_two_files();
	test_fork(true);
	test_fork(false);
	test_crowd();
	test_append();
	test_places();
	test_splice();
	test_table();
	test_table_beside();
	check_is("none is left", device_n(device), 0);
	return tap_end();
}
