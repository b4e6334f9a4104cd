// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the process that reads the sampled events of a device. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "util/fd.h"
#include "util/input.h"
#include "xdp/watcher.h"

/* Does /proc/PID/fdinfo/FD tell of a read lock of an open file? Like
 * "lock:	1: OFDLCK  ADVISORY  READ -1 00:1c:4711 0 EOF".
 */
static bool has_lock(int fdinfo, const char *fd)
{
	int file = baleen_input_open_at(fdinfo, fd, fd, BALEEN_INPUT_SYSTEM, NULL);
	char line[256];
	FILE *stream = file < 0 ? NULL : fdopen(file, "r");
	bool found = false;

	if (!stream) {
		baleen_close_fd(&file);
		return false;
	}
	while (!found && fgets(line, sizeof(line), stream))
		found = !strncmp(line, "lock:", 5) && strstr(line, "OFDLCK") &&
			strstr(line, "READ");
	fclose(stream);
	return found;
}

static bool is_file(const char *process, const char *fd, const struct stat *file)
{
	char path[600];
	struct stat open;

	snprintf(path, sizeof(path), "/proc/%s/fd/%s", process, fd);
	return !stat(path, &open) && open.st_ino == file->st_ino && open.st_dev == file->st_dev;
}

static bool holds(const char *process, const struct stat *file)
{
	char path[300];
	struct dirent *entry;
	DIR *directory;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", process);
	directory = opendir(path);
	if (!directory)
		return false;
	while (!found && (entry = readdir(directory)))
		found = *entry->d_name != '.' && is_file(process, entry->d_name, file) &&
			has_lock(dirfd(directory), entry->d_name);
	closedir(directory);
	return found;
}

static void describe(const char *process, struct baleen_watcher *watcher)
{
	char path[300];
	FILE *stream;

	*watcher = (struct baleen_watcher){ .pid = atoi(process), .name = "?" };
	snprintf(path, sizeof(path), "/proc/%s/comm", process);
	stream = baleen_input_stream(path, BALEEN_INPUT_SYSTEM, NULL);
	if (!stream)
		return;
	if (fgets(watcher->name, sizeof(watcher->name), stream))
		watcher->name[strcspn(watcher->name, "\n")] = '\0';
	fclose(stream);
}

bool baleen_watcher_find(const struct baleen_pins *pins, struct baleen_watcher *watcher)
{
	struct dirent *entry;
	bool found = false;
	struct stat file;
	DIR *proc;

	if (stat(pins->path, &file))
		return false;
	proc = opendir("/proc");
	if (!proc)
		return false;
	while (!found && (entry = readdir(proc))) {
		if (*entry->d_name < '1' || *entry->d_name > '9')
			continue;
		found = holds(entry->d_name, &file);
		if (found)
			describe(entry->d_name, watcher);
	}
	closedir(proc);
	return found;
}
