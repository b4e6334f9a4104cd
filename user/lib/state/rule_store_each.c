// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A walk over the states of all devices. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "net/device.h"
#include "state/rule_store_each.h"
#include "state/rule_store_path.h"
#include "util/array.h"

/* The device of a volatile state; false for those of other namespaces. */
static bool volatile_device(const char *name, char *device)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	unsigned long long cookie;
	const char *base;
	int ifindex;

	if (sscanf(name, "ns%llu-if%d", &cookie, &ifindex) != 2 || !ifindex ||
	    !baleen_device_name(ifindex, device) ||
	    baleen_rule_store_name(device, false, path, NULL))
		return false;
	base = strrchr(path, '/') + 1;
	return !strcmp(base, name);
}

/* A damaged state is there, too. */
static bool is_state(int err)
{
	return err != -ENOENT && err != -EXDEV && err != -ENOTDIR && err != -ENODEV;
}

static bool is_kept_there(const char *device)
{
	struct baleen_rule_store state;
	int err = baleen_rule_store_read(&state, device, true, NULL);

	if (!err)
		baleen_rule_store_close(&state);
	return is_state(err);
}

static bool find_device(const char *name, bool is_kept, char *device)
{
	if (!is_kept)
		return volatile_device(name, device);
	if (!baleen_device_is_name(name))
		return false;
	strcpy(device, name);
	return true;
}

void baleen_rule_store_let_go(struct baleen_rule_store_found *found)
{
	if (!found->err && !found->is_taken)
		baleen_rule_store_close(&found->state);
	found->is_taken = true;
}

static bool is_same(const struct baleen_file_stamp *a, const struct baleen_file_stamp *b)
{
	return a->inode == b->inode && a->changed_ns == b->changed_ns;
}

/* Not alphasort(), which asks the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* A state is a directory. */
static int may_be_state(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/* Each directory in one of the two roots, in the order of names. */
static int each_name(bool is_kept,
		     int (*visit)(const char *root, const char *name, bool is_kept, void *data),
		     void *data, struct baleen_error *error)
{
	char root[PATH_MAX];
	struct dirent **entry;
	int n, ret = 0;

	snprintf(root, sizeof(root), "%s", baleen_rule_store_root(is_kept));
	n = scandir(root, &entry, may_be_state, by_name);
	if (n < 0)
		return errno == ENOENT ? 0 : baleen_fail(error, errno, "%s: %m", root);
	for (int i = 0; i < n; i++) {
		if (!ret)
			ret = visit(root, entry[i]->d_name, is_kept, data);
		free(entry[i]);
	}
	free(entry);
	return ret;
}

static int each_name_of_both(int (*visit)(const char *root, const char *name, bool is_kept,
					  void *data),
			     void *data, struct baleen_error *error)
{
	int ret = baleen_rule_store_check_place(error);

	if (!ret)
		ret = each_name(true, visit, data, error);
	return ret ? ret : each_name(false, visit, data, error);
}

/* --- opened ------------------------------------------------------------------ */

struct opening {
	int (*visit)(struct baleen_rule_store_found *found, void *data);
	void *data;
};

static int open_state(const char *root, const char *name, bool is_kept, void *data)
{
	struct baleen_rule_store_found found = { .is_kept = is_kept };
	const struct opening *opening = data;
	int ret = 0;

	if (!find_device(name, is_kept, found.device) || (!is_kept && is_kept_there(found.device)))
		return 0;
	found.err = baleen_rule_store_read(&found.state, found.device, is_kept, &found.error);
	if (is_state(found.err))
		ret = opening->visit(&found, opening->data);
	baleen_rule_store_let_go(&found);
	return ret;
}

int baleen_rule_store_each(int (*visit)(struct baleen_rule_store_found *found, void *data),
			   void *data, struct baleen_error *error)
{
	struct opening opening = { .visit = visit, .data = data };

	return each_name_of_both(open_state, &opening, error);
}

/* --- what came since ---------------------------------------------------------- */

struct baleen_rule_store_stamp {
	char device[BALEEN_POINT_BYTES];
	bool is_kept;
	struct baleen_file_stamp file;
};

int baleen_rule_store_stamps_add(struct baleen_rule_store_stamps *stamps,
				 const struct baleen_rule_store_found *found,
				 struct baleen_error *error)
{
	struct baleen_rule_store_stamp *stamp;

	if (baleen_array_add(&stamps->stamp, stamps->n))
		return baleen_no_memory(error);
	stamp = &stamps->stamp[stamps->n++];
	stamp->is_kept = found->is_kept;
	stamp->file = found->err ? (struct baleen_file_stamp){ 0 } : found->state.stamp;
	strcpy(stamp->device, found->device);
	return 0;
}

void baleen_rule_store_stamps_free(struct baleen_rule_store_stamps *stamps)
{
	free(stamps->stamp);
	*stamps = (struct baleen_rule_store_stamps){ 0 };
}

struct comparing {
	const struct baleen_rule_store_stamps *stamps;
	int (*visit)(const char *device, void *data);
	void *data;
};

static int compare_stamp(const char *root, const char *name, bool is_kept, void *data)
{
	const struct comparing *comparing = data;
	const struct baleen_rule_store_stamps *stamps = comparing->stamps;
	char device[BALEEN_POINT_BYTES];
	char directory[2 * PATH_MAX];
	struct baleen_file_stamp file;

	if (!find_device(name, is_kept, device))
		return 0;
	snprintf(directory, sizeof(directory), "%s/%s", root, name);
	file = baleen_rule_store_stamp(directory);
	for (size_t i = 0; i < stamps->n; i++)
		if (stamps->stamp[i].is_kept == is_kept && is_same(&stamps->stamp[i].file, &file) &&
		    !strcmp(stamps->stamp[i].device, device))
			return 0;
	return file.inode ? comparing->visit(device, comparing->data) : 0;
}

int baleen_rule_store_each_news(const struct baleen_rule_store_stamps *stamps,
				int (*visit)(const char *device, void *data), void *data,
				struct baleen_error *error)
{
	struct comparing comparing = { .stamps = stamps, .visit = visit, .data = data };

	return each_name_of_both(compare_stamp, &comparing, error);
}
