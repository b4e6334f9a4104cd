// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Batches of keys: of every length, at every place in memory, cut off by bad keys, by
 * memory that is not there, and by signals.
 *
 *	batch IMAGE     of IPv4 addresses in a cuckoo table, with room for 1,000 more
 */
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "dev.h"

#define NAME "batch"
#define N_MOST 100000
#define KEY_BYTES sizeof(struct baleen_dev_key)

/* Lengths around those at which a page of keys ends. */
static const u32 lengths[] = { 1, 2, 3, 84, 85, 86, 169, 170, 171, 255, 256, 1000, N_MOST };
static const u32 cuts[] = { 1, 2, 84, 85, 86, 170, 199 };
#define N_CUT 200

static struct file file;
static int device;

/* Every other one is listed in IMAGE, or nearly: what matters is userspace's answer. */
static struct baleen_dev_key key_at(u32 i)
{
	return (struct baleen_dev_key){ .ip4 = i * 0x9e3779b1u };
}

static void fill(void *keys, u32 first, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		struct baleen_dev_key key = key_at(first + i);

		memcpy((u8 *)keys + i * KEY_BYTES, &key, KEY_BYTES);
	}
}

static int answer_at(u32 i)
{
	struct baleen_dev_key key = key_at(i);
	struct baleen_key asked = key_of(&key);

	return baleen_image_test(&file.image, file.bytes, &asked);
}

/* Are the first @n answers right, and is what lies around them as it was? */
static bool right(const struct edge *edge, const u8 *answers, u32 first, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (answers[i] != answer_at(first + i))
			return false;
	return is_poison(edge->start, answers - edge->start) &&
	       is_poison(answers + n, edge->end - (answers + n));
}

static u64 entries(void)
{
	struct baleen_dev_info info = { 0 };

	if (device_info(device, NAME, &info))
		err(1, "no filter");
	return info.n_entries;
}

/* --- lengths and places --------------------------------------------------- */

/* @shift: keys and answers end so many bytes before memory does. */
static void try_length(u32 n, u32 shift)
{
	struct edge keys = edge_make(n * KEY_BYTES + shift), answers = edge_make(n + shift);
	u8 *at = keys.end - shift - n * KEY_BYTES, *out = answers.end - shift - n;
	u32 n_done = ~0u;
	int err;

	fill(at, 0, n);
	err = device_keys(device, NAME, BALEEN_DEV_QUERY, at, n, out, &n_done);
	check(!err && n_done == n && right(&answers, out, 0, n),
	      "%u keys that end %u bytes before the memory does", n, shift);
	edge_free(&keys);
	edge_free(&answers);
}

static void test_lengths(void)
{
	for (size_t i = 0; i < N_OF(lengths); i++)
		for (u32 shift = 0; shift < 24; shift += 7)
			try_length(lengths[i], shift);
}

/* --- what ends a batch ---------------------------------------------------- */

static void try_bad_key(u32 at)
{
	struct edge keys = edge_make(N_CUT * KEY_BYTES), answers = edge_make(N_CUT);
	struct baleen_dev_key bad = { .domain = 9 };
	u32 n_done = ~0u, rest = 0x12345678;
	int err;

	fill(keys.start, 0, N_CUT);
	memcpy(keys.start + at * KEY_BYTES, &bad, KEY_BYTES);
	err = device_keys(device, NAME, BALEEN_DEV_QUERY, keys.start, N_CUT, answers.start,
			  &n_done);
	check(!err && n_done == at && right(&answers, answers.start, 0, at),
	      "a bad key ends it after %u", at);
	err = device_keys(device, NAME, BALEEN_DEV_QUERY, keys.start + at * KEY_BYTES, N_CUT - at,
			  answers.start + at, &rest);
	check(err == -EINVAL && rest == 0x12345678 && right(&answers, answers.start, 0, at),
	      "and is the error when the rest is tried, after %u", at);
	edge_free(&keys);
	edge_free(&answers);
}

/* The memory of the keys ends behind @n of them and @more bytes. */
static void try_keys_end(u32 n, u32 more)
{
	struct edge keys = edge_make(N_CUT * KEY_BYTES), answers = edge_make(N_CUT);
	u8 *at = keys.end - n * KEY_BYTES - more, copy[KEY_BYTES];
	u32 n_done = ~0u;
	int err;

	fill(at, 0, n);
	fill(copy, n, 1);
	memcpy(at + n * KEY_BYTES, copy, more);
	err = device_keys(device, NAME, BALEEN_DEV_QUERY, at, N_CUT, answers.start, &n_done);
	check(!err && n_done == n && right(&answers, answers.start, 0, n),
	      "the memory of the keys ends after %u and %u bytes", n, more);
	edge_free(&keys);
	edge_free(&answers);
}

static void try_answers_end(u32 n)
{
	struct edge keys = edge_make(N_CUT * KEY_BYTES), answers = edge_make(N_CUT);
	u32 n_done = ~0u;
	int err;

	fill(keys.start, 0, N_CUT);
	err = device_keys(device, NAME, BALEEN_DEV_QUERY, keys.start, N_CUT, answers.end - n,
			  &n_done);
	check(!err && n_done == n && right(&answers, answers.end - n, 0, n),
	      "the memory of the answers ends after %u", n);
	edge_free(&keys);
	edge_free(&answers);
}

/* Of changes as many are done as are said to be. */
static void try_change_ends(u32 first, u32 n)
{
	struct edge keys = edge_make(N_CUT * KEY_BYTES);
	u8 *at = keys.end - n * KEY_BYTES;
	u64 before = entries();
	u32 n_done = ~0u;
	int err;

	fill(at, first, n);
	err = device_keys(device, NAME, BALEEN_DEV_INSERT, at, N_CUT, NULL, &n_done);
	check(!err && n_done == n && entries() == before + n,
	      "the memory of the keys to insert ends after %u", n);
	n_done = ~0u;
	err = device_keys(device, NAME, BALEEN_DEV_DELETE, at, N_CUT, NULL, &n_done);
	check(!err && n_done == n && entries() == before,
	      "the memory of the keys to delete ends after %u", n);
	edge_free(&keys);
}

/* A change whose answer has nowhere to go is not done. */
static void try_change_answers_end(u32 first, u32 n)
{
	struct edge keys = edge_make(N_CUT * KEY_BYTES), answers = edge_make(N_CUT);
	u64 before = entries();
	u32 n_done = ~0u;
	int err;

	fill(keys.start, first, N_CUT);
	err = device_keys(device, NAME, BALEEN_DEV_INSERT, keys.start, N_CUT, answers.end - n,
			  &n_done);
	check(!err && n_done == n && entries() == before + n,
	      "the memory of the answers to changes ends after %u", n);
	n_done = ~0u;
	err = device_keys(device, NAME, BALEEN_DEV_DELETE, keys.start, N_CUT, NULL, &n_done);
	check(!err && n_done == N_CUT && entries() == before, "and they go again, after %u", n);
	edge_free(&keys);
	edge_free(&answers);
}

static void test_ends(void)
{
	for (size_t i = 0; i < N_OF(cuts); i++) {
		try_bad_key(cuts[i]);
		try_keys_end(cuts[i], 0);
		try_keys_end(cuts[i], 1);
		try_keys_end(cuts[i], KEY_BYTES - 1);
		try_answers_end(cuts[i]);
		try_change_ends(1 << 20, cuts[i]);
		try_change_answers_end(1 << 20, cuts[i]);
	}
}

/* Answers that are written over the keys: the first ones are right, since a key is
 * read before its answer is written, and memory around them stays.
 */
static void test_overlap(void)
{
	struct edge keys = edge_make(1000 * KEY_BYTES);
	u32 n_done = ~0u;
	bool same = true;
	int err;

	fill(keys.start, 0, 1000);
	err = device_keys(device, NAME, BALEEN_DEV_QUERY, keys.start, 1000, keys.start, &n_done);
	for (u32 i = 0; i < 1000; i++)
		same &= keys.start[i] == answer_at(i);
	check(!err && n_done == 1000 && same, "answers that begin where the keys do");
	edge_free(&keys);
}

/* --- signals -------------------------------------------------------------- */

static volatile sig_atomic_t n_signals;

static void on_signal(int number)
{
	n_signals++;
}

static void set_timer(long usec)
{
	struct itimerval timer = { { 0, usec }, { 0, usec } };

	if (setitimer(ITIMER_REAL, &timer, NULL))
		err(1, "setitimer");
}

/* All keys, asked in as many pieces as signals make of them. Return: how many */
static u32 query_in_pieces(const u8 *keys, u8 *out)
{
	u32 done = 0, n_pieces = 0, n_done;
	int err = 0;

	while (done < N_MOST && (!err || err == -EINTR)) {
		n_done = 0;
		err = device_keys(device, NAME, BALEEN_DEV_QUERY, keys + done * KEY_BYTES,
				  N_MOST - done, out + done, &n_done);
		n_pieces += !err;
		done += n_done;
	}
	return n_pieces;
}

/* Signals all the time, until one has come in the middle of a batch: a machine that is
 * busy may deliver them between two. Interrupted or not, the answers are right.
 */
static void test_signals(void)
{
	struct edge keys = edge_make(N_MOST * KEY_BYTES), answers = edge_make(N_MOST);
	struct baleen_dev_count before = { .target = target_of(NAME) }, after = before;
	struct sigaction action = { .sa_handler = on_signal };
	u8 *out = answers.end - N_MOST;
	u32 n_rounds = 0, n_pieces = 0;
	bool is_right = true;

	sigaction(SIGALRM, &action, NULL);
	fill(keys.start, 0, N_MOST);
	command(device, BALEEN_DEV_COUNTERS, &before);
	set_timer(2000);
	while (n_pieces == n_rounds && n_rounds < 100) {
		memset(out, 0xff, N_MOST);
		n_pieces += query_in_pieces(keys.start, out);
		n_rounds++;
		is_right &= right(&answers, out, 0, N_MOST);
	}
	set_timer(0);
	command(device, BALEEN_DEV_COUNTERS, &after);
	printf("# %u pieces of %u batches, %d signals\n", n_pieces, n_rounds, (int)n_signals);
	check(n_pieces > n_rounds, "a signal ends a batch");
	check(is_right, "and what was done is right");
	check_is("each key is counted once", after.counters.queries - before.counters.queries,
		 (u64)n_rounds * N_MOST);
	edge_free(&keys);
	edge_free(&answers);
}

/* A process that dies in the middle of a batch leaves a filter that works. */
static void test_killed(void)
{
	struct edge keys = edge_make(N_MOST * KEY_BYTES);
	int to_child[2], status;
	u32 n_done = 0;
	u64 before = entries();
	pid_t child;
	char byte;

	fill(keys.start, 0, N_MOST);
	if (pipe(to_child))
		err(1, "pipe");
	child = fork();
	if (!child) {
		if (write(to_child[1], "", 1) != 1)
			_exit(1);
		for (;;)
			device_keys(device, NAME, BALEEN_DEV_DELETE, keys.start, N_MOST, NULL,
				    &n_done);
	}
	if (read(to_child[0], &byte, 1) != 1)
		err(1, "read");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	check(WIFSIGNALED(status), "who is in a batch can be killed");
	n_done = 0;
	check(!device_keys(device, NAME, BALEEN_DEV_INSERT, keys.start, 100, NULL, &n_done) &&
		      n_done == 100 && entries() <= before + 100,
	      "and others go on");
	close(to_child[0]);
	close(to_child[1]);
	edge_free(&keys);
}

/* --- an export whose memory is not there yet ------------------------------- */

static u8 *pending;
static int pending_err;

static void *export_pending(void *unused)
{
	pending_err = device_export(device, NAME, pending, file.n_bytes, NULL);
	return unused;
}

/* A fault in @pending waits until it is answered. */
static int hold_faults(void)
{
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register hold = {
		.range = { address(pending), (file.n_bytes + PAGE - 1) / PAGE * PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &hold))
		err(1, "userfaultfd");
	return fd;
}

/* Who gives a process its copy of an image holds up no writer. */
static void test_slow_export(void)
{
	const size_t n_bytes = (file.n_bytes + PAGE - 1) / PAGE * PAGE;
	struct baleen_dev_key key = key_at(7 * N_MOST);
	struct pollfd fault;
	pthread_t thread;
	u32 n_done = 0;
	pid_t child;
	int status = -1;

	pending = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pending == MAP_FAILED)
		err(1, "mmap");
	fault = (struct pollfd){ .fd = hold_faults(), .events = POLLIN };
	if (pthread_create(&thread, NULL, export_pending, NULL) || poll(&fault, 1, -1) != 1)
		err(1, "no fault");
	/* A process, which can be killed where it waits for the lock. */
	child = fork();
	if (!child) {
		signal(SIGALRM, SIG_DFL);
		alarm(20);
		_exit(device_keys(device, NAME, BALEEN_DEV_INSERT, &key, 1, NULL, &n_done) ||
		      n_done != 1);
	}
	waitpid(child, &status, 0);
	check_is("a key is added while an export waits for its reader", status, 0);
	close(fault.fd);
	pthread_join(thread, NULL);
	check_is("the export ends", pending_err, 0);
	check(!refusal(pending, file.n_bytes, &(struct baleen_image){ 0 }), "and is an image");
	munmap(pending, n_bytes);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: batch IMAGE");
	file = file_read(argv[1]);
	device = device_open(O_RDWR);
	check_is("a filter to ask", device_create(device, NAME, file.bytes, file.n_bytes), 0);
	test_lengths();
	test_ends();
	test_overlap();
	test_signals();
	test_killed();
	test_slow_export();
	check_is("the filter goes", device_destroy(device, NAME), 0);
	return tap_end();
}
