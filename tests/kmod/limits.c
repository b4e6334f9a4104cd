// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who may do what, and how much memory images may take: the parameter max_bytes and
 * the control group of the caller.
 *
 *	limits IMAGE     of some MiB
 */
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "dev.h"

#define PARAMETER "/sys/module/baleen/parameters/max_bytes"
#define GROUPS "/sys/fs/cgroup"
#define GROUP GROUPS "/test"
#define MIB (1ull << 20)

static struct file file;
static int device;

static unsigned long long read_number(const char *path, const char *word)
{
	char text[4096];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	const char *at;

	close(fd);
	if (n <= 0)
		err(1, "%s", path);
	text[n] = 0;
	at = word ? strstr(text, word) : text;
	if (!at)
		errx(1, "%s: no %s", path, word);
	return strtoull(at + (word ? strlen(word) : 0), NULL, 10);
}

static void write_text(const char *path, const char *format, ...)
{
	char text[64];
	va_list args;
	int fd = open(path, O_WRONLY);

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err(1, "%s", path);
	close(fd);
}

static void set_limit(unsigned long long n_bytes)
{
	write_text(PARAMETER, "%llu", n_bytes);
}

/* The header of an empty Bloom filter of so many blocks. */
static void claim(void *header, u32 n_blocks)
{
	struct baleen_image image = { .n_blocks = BALEEN_HEADER_BLOCKS + n_blocks,
				      .key_spec = BALEEN_KEY_SRC,
				      .flags = BALEEN_FLAG_LIVE,
				      .name = "claim" };

	image.table[BALEEN_IP4] = (struct baleen_table){ .kind = BALEEN_KIND_BLOOM,
							 .n_hashes = 4,
							 .first_block = BALEEN_HEADER_BLOCKS,
							 .n_blocks = n_blocks,
							 .n_buckets = n_blocks };
	baleen_header_write(&image, header);
}

/* The memory that an image takes: of some MiB in pages of 2 MiB, a pointer to each of 4 KiB, and
 * its structures: less than a page, but in a kernel with lockdep more.
 */
static u64 cost_of(u64 n_bytes)
{
	u64 n_paged = (n_bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);

	return n_paged + n_paged / PAGE * 8 + 4 * PAGE;
}

/* Writes the header: memory is taken for all that it claims. Closes the file. */
static int write_claim(unsigned long long n_bytes)
{
	u8 header[BALEEN_HEADER_BYTES];
	int fd = device_open(O_WRONLY), err;

	claim(header, n_bytes / BALEEN_BLOCK_BYTES);
	err = write(fd, header, sizeof(header)) == sizeof(header) ? 0 : -errno;
	close(fd);
	return err;
}

/* --- the parameter -------------------------------------------------------- */

static void test_default(void)
{
	unsigned long long total = read_number("/proc/meminfo", "MemTotal:") * 1024;
	unsigned long long limit = read_number(PARAMETER, NULL);
	struct stat stat_of;

	check(limit > total / 5 && limit < total / 3, "the limit is a quarter of memory");
	check(!stat(PARAMETER, &stat_of) && (stat_of.st_mode & 0777) == 0644,
	      "root may change it, all may read it");
	check_is("a header that claims more is refused", write_claim(limit + MIB), -ENOSPC);
	check_is("one that claims 16 GiB, too", write_claim((1ull << 34) - 512), -ENOSPC);
	check_is("without a limit memory is", (set_limit(0), write_claim((1ull << 34) - 512)),
		 -ENOMEM);
	set_limit(limit);
}

static void test_limit(void)
{
	unsigned long long limit = read_number(PARAMETER, NULL);
	struct baleen_dev_info before, after;
	u8 *bytes = need(malloc(file.n_bytes));
	int fd = device_open(O_WRONLY);

	memcpy(bytes, file.bytes, file.n_bytes);
	rename_image(bytes, "one");
	set_limit(2 * cost_of(file.n_bytes));
	check_is("the first", device_create(device, "one", bytes, file.n_bytes), 0);
	check_is("the second", device_create(device, "two", bytes, file.n_bytes), 0);
	device_info(device, "one", &before);
	check_is("for the third there is no room",
		 device_create(device, "three", bytes, file.n_bytes), -ENOSPC);
	check_is("nor to swap, which takes both",
		 device_swap(device, "one", bytes, file.n_bytes, 0), -ENOSPC);
	check(write(fd, bytes, file.n_bytes) == -1 && errno == ENOSPC, "nor to write");
	device_info(device, "one", &after);
	check(!memcmp(&before, &after, sizeof(before)) && device_n(device) == 2,
	      "and nothing has changed");
	check_is("one goes", device_destroy(device, "two"), 0);
	check_is("and its place is free at once",
		 device_swap(device, "one", bytes, file.n_bytes, 0), 0);
	for (int i = 0; i < 10; i++)
		if (device_swap(device, "one", bytes, file.n_bytes, 0))
			check(false, "swap %d", i);
	set_limit(1);
	check_is("a limit below what is there", device_create(device, "two", bytes, file.n_bytes),
		 -ENOSPC);
	check_is("takes nothing away", device_info(device, "one", &after), 0);
	check_is("the last goes", device_destroy(device, "one"), 0);
	set_limit(limit);
	check_is("who wrote has nothing open", close(fd), 0);
	free(bytes);
}

/* What was refused or closed half-way gives its memory back. */
static void test_leak(void)
{
	unsigned long long limit = read_number(PARAMETER, NULL);
	int bad = 0;

	set_limit(cost_of(file.n_bytes) + MIB);
	file.bytes[file.n_bytes - 1] ^= 1;
	for (int i = 0; i < 10; i++) {
		bad += device_create(device, "bad", file.bytes, file.n_bytes) != -EBADMSG;
		bad += write_claim(file.n_bytes) != 0;
	}
	file.bytes[file.n_bytes - 1] ^= 1;
	check_is("refused and forgotten images leave their place", bad, 0);
	check_is("to another", device_create(device, "good", file.bytes, file.n_bytes), 0);
	check_is("which goes", device_destroy(device, "good"), 0);
	set_limit(limit);
}

/* --- control groups ------------------------------------------------------- */

static unsigned long long group_bytes(void)
{
	return read_number(GROUP "/memory.current", NULL);
}

/* In a process of the group: the status is 0 when @run is right. */
static int in_group(bool (*run)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		write_text(GROUP "/cgroup.procs", "%d", getpid());
		_exit(!run());
	}
	waitpid(child, &status, 0);
	return status;
}

static bool makes_image(void)
{
	return !device_create(device, "group", file.bytes, file.n_bytes);
}

static bool claims_too_much(void)
{
	for (int i = 0; i < 20; i++)
		if (write_claim(200 * MIB) != -ENOMEM)
			return false;
	return true;
}

/* Frees what is to be freed before it is looked at. */
static void settle(void)
{
	unsigned long long limit = read_number(PARAMETER, NULL);

	set_limit(1);
	if (write_claim(MIB) != -ENOSPC)
		errx(1, "no limit");
	set_limit(limit);
}

static void test_group(void)
{
	unsigned long long before, after;

	if (mount("none", GROUPS, "cgroup2", 0, NULL))
		err(1, "cgroup2");
	write_text(GROUPS "/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0700))
		err(1, "%s", GROUP);
	write_text(GROUP "/memory.max", "%llu", 64 * MIB);
	before = group_bytes();
	check_is("a process of a group makes a filter", in_group(makes_image), 0);
	after = group_bytes();
	printf("# charged: %llu before, %llu after, an image of %zu\n", before, after,
	       file.n_bytes);
	check(after >= before + file.n_bytes, "its image is charged to the group");
	check_is("the filter goes", device_destroy(device, "group"), 0);
	settle();
	check(group_bytes() < before + file.n_bytes / 2, "and is charged no longer");
	check_is("images beyond the group's limit are -ENOMEM", in_group(claims_too_much), 0);
	settle();
	check(group_bytes() < before + file.n_bytes / 2, "nothing of them stays");
	check_is("no process was killed for them", read_number(GROUP "/memory.events", "oom_kill "),
		 0);
	check_is("and the group is as good as before", in_group(makes_image), 0);
	check_is("its filter goes", device_destroy(device, "group"), 0);
	check_is("the group is empty", rmdir(GROUP), 0);
	umount(GROUPS);
}

#define SMALL_LIMIT (8 * MIB)

static unsigned int n_small;

/* Filters of one block each until there is no room. */
static bool makes_small(void)
{
	_Alignas(BALEEN_BLOCK_BYTES) u8 bytes[BALEEN_HEADER_BYTES + BALEEN_BLOCK_BYTES] = { 0 };
	char name[BALEEN_NAME_BYTES];
	int err = 0;

	claim(bytes, 1);
	while (!err) {
		snprintf(name, sizeof(name), "small-%u", n_small);
		err = device_create(device, name, bytes, sizeof(bytes));
		n_small += !err;
	}
	return err == -ENOSPC;
}

/* The limit is of memory, not of what images say that they have: a small one is mostly page. */
static void test_small(void)
{
	unsigned long long limit = read_number(PARAMETER, NULL), before, after;
	char name[BALEEN_NAME_BYTES];

	if (mount("none", GROUPS, "cgroup2", 0, NULL) || mkdir(GROUP, 0700))
		err(1, "%s", GROUP);
	before = group_bytes();
	set_limit(SMALL_LIMIT);
	check_is("small filters until there is no room", in_group(makes_small), 0);
	set_limit(limit);
	after = group_bytes();
	n_small = device_n(device);
	printf("# %u filters of 576 bytes took %llu of %llu\n", n_small, after - before,
	       SMALL_LIMIT);
	/* An allocator that checks takes small objects twice. */
	check(n_small > 500 && after - before < 2 * SMALL_LIMIT,
	      "they took no more memory than was allowed");
	for (unsigned int i = 0; i < n_small; i++) {
		snprintf(name, sizeof(name), "small-%u", i);
		if (device_destroy(device, name))
			check(false, "%s goes", name);
	}
	settle();
	check_is("the group is empty, too", rmdir(GROUP), 0);
	umount(GROUPS);
}

/* --- privileges ----------------------------------------------------------- */

static void drop_net_admin(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		err(1, "capget");
	data[0].effective &= ~(1u << CAP_NET_ADMIN);
	if (syscall(SYS_capset, &header, data))
		err(1, "capset");
}

/* The file's mode decides about filters; rules ask for CAP_NET_ADMIN. */
static int without_rights(void)
{
	struct baleen_dev_rule rule = { .name = "rule", .filter = "filter" };
	struct baleen_dev_bind bind = {
		.ifindex = 1, .rules = address(&rule), .n_rules = 1, .rule_bytes = sizeof(rule)
	};
	struct baleen_dev_unbind unbind = { .ifindex = 1 };

	drop_net_admin();
	check_is("BIND without CAP_NET_ADMIN", command(device, BALEEN_DEV_BIND, &bind), -EPERM);
	check_is("UNBIND without it", command(device, BALEEN_DEV_UNBIND, &unbind), -EPERM);
	check_is("CREATE without it", device_create(device, "mine", file.bytes, file.n_bytes), 0);
	if (setuid(65534))
		err(1, "setuid");
	check(open(DEVICE, O_RDONLY) == -1 && errno == EACCES, "others cannot open the device");
	check(open(DEVICE, O_WRONLY) == -1 && errno == EACCES, "nor for writing");
	check_is("but use an open one that was given to them", device_n(device), 1);
	check_is("also to change", device_destroy(device, "mine"), 0);
	return tap_end();
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: limits IMAGE");
	file = file_read(argv[1]);
	device = device_open(O_RDWR);
	test_default();
	test_limit();
	test_leak();
	test_group();
	test_small();
	return without_rights();
}
