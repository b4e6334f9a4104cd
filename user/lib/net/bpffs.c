// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where bpffs is, which keeps programs and maps between commands. */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "net/bpffs.h"
#include "util/input.h"

bool baleen_bpffs_is_mounted(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && (u32)fs.f_type == BPF_FS_MAGIC;
}

/* 0 when it has none that is seen here. */
static int parent_of(int pid)
{
	char path[32], line[128];
	int parent = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = baleen_input_stream(path, BALEEN_INPUT_SYSTEM, NULL);
	while (status && fgets(line, sizeof(line), status) &&
	       sscanf(line, "PPid: %d", &parent) != 1)
		;
	if (status)
		fclose(status);
	return parent;
}

static bool mount_namespace_of(int pid, struct stat *of)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return !stat(path, of);
}

/* The nearest process that has one decides. Of those in its namespace the last is taken, as a
 * rule process 1: who called us may end before we do.
 *
 * Return: whether the caller or process 1 is in another mount namespace, so that this one is not
 * to stay.
 */
static bool look_at_callers(char *path)
{
	struct stat own, of, taken = { 0 };
	bool is_passing = false;

	if (!mount_namespace_of(getpid(), &own))
		return false;
	/* Process 1 calls also who came into its pid namespace from outside. */
	for (int pid = getppid() ?: 1; pid; pid = pid == 1 ? 0 : parent_of(pid) ?: 1) {
		char there[BALEEN_BPFFS_BYTES];

		if (!mount_namespace_of(pid, &of) || of.st_ino == own.st_ino)
			continue;
		is_passing |= pid == getppid() || pid == 1;
		snprintf(there, sizeof(there), "/proc/%d/root" BALEEN_BPFFS, pid);
		if (taken.st_ino ? of.st_ino != taken.st_ino : !baleen_bpffs_is_mounted(there))
			continue;
		taken = of;
		strcpy(path, there);
	}
	return is_passing;
}

int baleen_bpffs_find(char *path, struct baleen_error *error)
{
	char there[BALEEN_BPFFS_BYTES] = BALEEN_BPFFS;
	/* A command asks for each device. */
	static bool is_here;

	if (!is_here)
		is_here = baleen_bpffs_is_mounted(BALEEN_BPFFS);
	if (!is_here && look_at_callers(there) && !strcmp(there, BALEEN_BPFFS))
		return baleen_fail(error, EXDEV,
				   "no bpffs on " BALEEN_BPFFS " in this mount namespace, and one "
				   "mounted here would end with it: for 'ip netns exec NAME' say "
				   "'nsenter --net=/run/netns/NAME', or mount it yourself");
	strcpy(path, there);
	return 0;
}

int baleen_bpffs_mount(struct baleen_error *error)
{
	char path[BALEEN_BPFFS_BYTES];
	int err = baleen_bpffs_find(path, error);

	if (err || baleen_bpffs_is_mounted(path))
		return err;
	if (mount("bpf", path, "bpf", 0, "mode=0700"))
		return baleen_fail(error, errno, "cannot mount bpffs on %s: %m", path);
	return 0;
}
