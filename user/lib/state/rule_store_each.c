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
#include "net/netns.h"
#include "state/rule_store_each.h"
#include "state/rule_store_path.h"
#include "util/array.h"

/**
 * struct place - a directory that may be the state of a device
 * @path: its path
 * @device: the device
 * @is_kept: it is one of the kept ones
 * @may_be_kept: of a volatile one: there is a kept one, too, which comes before it
 * @is: of a volatile one: whose it is
 */
struct place {
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	char device[BALEEN_POINT_BYTES];
	bool is_kept;
	bool may_be_kept;
	struct baleen_rule_store_owner is;
};

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

/* The device of a volatile state; false for those of other namespaces. */
static bool find_volatile(const char *name, u64 netns_cookie, struct place *place)
{
	struct baleen_rule_store_owner *is = &place->is;
	unsigned long long cookie;
	int end = 0;

	*is = (struct baleen_rule_store_owner){ .netns_cookie = netns_cookie };
	return sscanf(name, "ns%llu-if%d%n", &cookie, &is->ifindex, &end) == 2 && !name[end] &&
	       cookie == netns_cookie && is->ifindex && !baleen_boot_id(is->boot, NULL) &&
	       baleen_device_name(is->ifindex, place->device);
}

static bool find_kept(const char *name, struct place *place)
{
	if (!baleen_device_is_name(name))
		return false;
	strcpy(place->device, name);
	return true;
}

/**
 * struct names - the directories in a root, in the order of their names
 * @root: its path
 * @entry: they
 * @n: how many
 */
struct names {
	char root[PATH_MAX];
	struct dirent **entry;
	int n;
};

static int list_names(bool is_kept, struct names *names, struct baleen_error *error)
{
	snprintf(names->root, sizeof(names->root), "%s", baleen_rule_store_root(is_kept));
	names->n = scandir(names->root, &names->entry, may_be_state, by_name);
	if (names->n >= 0)
		return 0;
	names->n = 0;
	return errno == ENOENT ? 0 : baleen_fail(error, errno, "%s: %m", names->root);
}

static bool has_name(const struct names *names, const char *name)
{
	for (int i = 0; i < names->n; i++)
		if (!strcmp(names->entry[i]->d_name, name))
			return true;
	return false;
}

static void free_names(struct names *names)
{
	for (int i = 0; i < names->n; i++)
		free(names->entry[i]);
	free(names->entry);
}

static bool name_place(const struct names *names, int i, struct place *place)
{
	return snprintf(place->path, sizeof(place->path), "%s/%s", names->root,
			names->entry[i]->d_name) < (int)sizeof(place->path);
}

static int each_kept(const struct names *kept, int (*visit)(const struct place *place, void *data),
		     void *data)
{
	struct place place = { .is_kept = true };
	int ret = 0;

	for (int i = 0; i < kept->n && !ret; i++)
		if (find_kept(kept->entry[i]->d_name, &place) && name_place(kept, i, &place))
			ret = visit(&place, data);
	return ret;
}

static int each_volatile(const struct names *names, const struct names *kept,
			 int (*visit)(const struct place *place, void *data), void *data,
			 struct baleen_error *error)
{
	u64 netns_cookie;
	int ret = baleen_netns_cookie(&netns_cookie, error);

	for (int i = 0; i < names->n && !ret; i++) {
		struct place place = { .is_kept = false };

		if (!find_volatile(names->entry[i]->d_name, netns_cookie, &place) ||
		    !name_place(names, i, &place))
			continue;
		place.may_be_kept = has_name(kept, place.device);
		ret = visit(&place, data);
	}
	return ret;
}

/* In both roots: the kept ones come first. */
static int each_place(int (*visit)(const struct place *place, void *data), void *data,
		      struct baleen_error *error)
{
	struct names kept = { .n = 0 }, names = { .n = 0 };
	int ret = baleen_rule_store_check_place(error);

	if (!ret)
		ret = list_names(true, &kept, error);
	if (!ret)
		ret = each_kept(&kept, visit, data);
	if (!ret)
		ret = list_names(false, &names, error);
	if (!ret)
		ret = each_volatile(&names, &kept, visit, data, error);
	free_names(&kept);
	free_names(&names);
	return ret;
}

/* --- opened ------------------------------------------------------------------ */

struct opening {
	int (*visit)(struct baleen_rule_store_found *found, void *data);
	void *data;
};

static int open_state(const struct place *place, void *data)
{
	struct baleen_rule_store_found found = { .is_kept = place->is_kept };
	const struct opening *opening = data;
	int ret = 0;

	if (place->may_be_kept && is_kept_there(place->device))
		return 0;
	strcpy(found.device, place->device);
	found.err = baleen_rule_store_read_at(&found.state, place->path, place->device,
					      place->is_kept ? NULL : &place->is, &found.error);
	if (is_state(found.err))
		ret = opening->visit(&found, opening->data);
	baleen_rule_store_let_go(&found);
	return ret;
}

int baleen_rule_store_each(int (*visit)(struct baleen_rule_store_found *found, void *data),
			   void *data, struct baleen_error *error)
{
	struct opening opening = { .visit = visit, .data = data };

	return each_place(open_state, &opening, error);
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

static int compare_stamp(const struct place *place, void *data)
{
	const struct comparing *comparing = data;
	const struct baleen_rule_store_stamps *stamps = comparing->stamps;
	struct baleen_file_stamp file = baleen_rule_store_stamp(place->path);

	for (size_t i = 0; i < stamps->n; i++)
		if (stamps->stamp[i].is_kept == place->is_kept &&
		    is_same(&stamps->stamp[i].file, &file) &&
		    !strcmp(stamps->stamp[i].device, place->device))
			return 0;
	return file.inode ? comparing->visit(place->device, comparing->data) : 0;
}

int baleen_rule_store_each_news(const struct baleen_rule_store_stamps *stamps,
				int (*visit)(const char *device, void *data), void *data,
				struct baleen_error *error)
{
	struct comparing comparing = { .stamps = stamps, .visit = visit, .data = data };

	return each_place(compare_stamp, &comparing, error);
}
