// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Filters of many names come and go by many processes, which ask, list, read and
 * export them meanwhile.
 *
 *      life SECONDS
 *
 * The filter of name n holds set n, in one of two images, whoever made it: so who
 * finds a filter of that name knows each answer, and each byte of its export.
 */
#include <sys/wait.h>

#include "stress.h"

#define N_NAMES 24
#define N_LISTED 50
#define N_PROCESSES 6
#define N_ASKED 16

static struct baleen_filter image[N_NAMES][2];
static size_t most_bytes;

static const char *name_of(u32 n)
{
	static char name[BALEEN_NAME_BYTES];

	snprintf(name, sizeof(name), "stress-life-%u", n);
	return name;
}

static void make_images(void)
{
	static const struct baleen_build_options options[2] = {
		{ .kind = BALEEN_KIND_CUCKOO },
		{ .kind = BALEEN_KIND_QUOTIENT, .shape.load = 0.5, .capacity = 5 * N_LISTED },
	};

	for (u32 n = 0; n < N_NAMES; n++) {
		for (u32 i = 0; i < 2; i++) {
			struct baleen_list list = { 0 };

			list_hosts(&list, n, N_LISTED);
			image[n][i] = filter_of(&list, options[i]);
			rename_image(image[n][i].bytes, name_of(n));
			if (image[n][i].n_bytes > most_bytes)
				most_bytes = image[n][i].n_bytes;
		}
	}
}

/* An errno that others may be the reason of. */
static void expect(const char *what, int err, int other)
{
	if (err && err != -other)
		finding("process %d: %s: %s", getpid(), what, strerror(-err));
}

static void ask(int fd, u32 n, u64 *random)
{
	struct baleen_key keys[N_ASKED];
	u8 want[N_ASKED], answers[N_ASKED];
	int err;

	for (u32 i = 0; i < N_ASKED; i++) {
		u32 at = random_below(random, 2 * N_LISTED);

		want[i] = at < N_LISTED;
		keys[i] = key_in(n, random_below(random, 2), at);
	}
	err = all_keys(fd, BALEEN_DEV_QUERY, name_of(n), keys, N_ASKED, answers);
	expect("query", err, ENOENT);
	if (!err && memcmp(answers, want, N_ASKED))
		finding("process %d: wrong answers of %s", getpid(), name_of(n));
}

static void export(int fd, u32 n)
{
	const struct baleen_filter *either = image[n];
	u8 *bytes = need(malloc(most_bytes));
	int err = device_export(fd, name_of(n), bytes, most_bytes, NULL);

	expect("export", err, ENOENT);
	if (!err && memcmp(bytes, either[0].bytes, either[0].n_bytes) &&
	    memcmp(bytes, either[1].bytes, either[1].n_bytes))
		finding("process %d: the export of %s is none of its images", getpid(), name_of(n));
	free(bytes);
}

static void list(int fd)
{
	struct baleen_dev_info infos[N_NAMES + 1];
	struct baleen_dev_list arg = { .infos = address(infos),
				       .room = N_OF(infos),
				       .info_bytes = sizeof(infos[0]) };
	int err = command(fd, BALEEN_DEV_LIST, &arg);

	expect("list", err, 0);
	if (!err && arg.n > N_NAMES)
		finding("process %d: %u filters are listed", getpid(), arg.n);
	for (u32 i = 1; !err && i < arg.n && i < N_OF(infos); i++)
		if (strcmp((char *)infos[i - 1].name, (char *)infos[i].name) >= 0)
			finding("process %d: the list is out of order", getpid());
}

/* The table, as cat reads it. */
static void read_table(void)
{
	int fd = device_open(O_RDONLY);
	char text[4096];
	ssize_t n;

	while ((n = read(fd, text, sizeof(text))) > 0)
		;
	if (n)
		finding("process %d: read: %s", getpid(), strerror(errno));
	close(fd);
}

/* As cat does. */
static void store(const struct baleen_filter *one)
{
	int fd = device_open(O_WRONLY);

	if (write(fd, one->bytes, one->n_bytes) != (ssize_t)one->n_bytes)
		finding("process %d: write: %s", getpid(), strerror(errno));
	if (close(fd))
		finding("process %d: close: %s", getpid(), strerror(errno));
}

static void step(int fd, u64 *random)
{
	u32 n = random_below(random, N_NAMES);
	const struct baleen_filter *one = &image[n][random_below(random, 2)];
	struct baleen_dev_info info;

	switch (random_below(random, 12)) {
	case 0:
		expect("create", device_create(fd, name_of(n), one->bytes, one->n_bytes), EEXIST);
		break;
	case 1: expect("destroy", device_destroy(fd, name_of(n)), ENOENT); break;
	case 2:
		expect("swap", device_swap(fd, name_of(n), one->bytes, one->n_bytes, 0), ENOENT);
		break;
	case 3: list(fd); break;
	case 4: read_table(); break;
	case 5: expect("get", device_info(fd, name_of(n), &info), ENOENT); break;
	case 6: export(fd, n); break;
	case 7: store(one); break;
	default: ask(fd, n, random);
	}
}

/* The status of a process. */
static int live(u32 number)
{
	u64 random = number, n_steps = 0;
	int fd = device_open(O_RDWR);

	for (; !is_over_after(n_steps); n_steps++)
		step(fd, &random);
	close(fd);
	return n_findings || !n_steps;
}

static bool all_live(u32 seconds)
{
	pid_t children[N_PROCESSES];
	bool right = true;
	int status;

	deadline_ms = now_ms() + seconds * 1000;
	fflush(stdout);
	for (u32 i = 0; i < N_PROCESSES; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(live(i));
	}
	for (u32 i = 0; i < N_PROCESSES; i++) {
		if (children[i] < 0 || waitpid(children[i], &status, 0) < 0)
			errx(1, "no process");
		right &= WIFEXITED(status) && !WEXITSTATUS(status);
	}
	return right;
}

static bool destroy_all(int fd)
{
	for (u32 n = 0; n < N_NAMES; n++) {
		int err = device_destroy(fd, name_of(n));

		if (err && err != -ENOENT)
			return false;
	}
	return device_n(fd) == 0;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 2)
		errx(1, "usage: life SECONDS");
	make_images();
	fd = device_open(O_RDWR);
	check(all_live(atoi(argv[1])), "lives: who finds a filter gets its answers");
	check(destroy_all(fd), "lives: all are destroyed");
	return tap_end();
}
