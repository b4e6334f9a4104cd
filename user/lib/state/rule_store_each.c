// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A walk over the states of all devices. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/device.h"
#include "state/rule_store_each.h"
#include "state/rule_store_path.h"

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

static int visit_entry(const char *name, bool is_kept,
		       int (*visit)(struct baleen_rule_store_found *found, void *data), void *data)
{
	struct baleen_rule_store_found found = { .is_kept = is_kept };
	int ret = 0;

	if (!find_device(name, is_kept, found.device) || (!is_kept && is_kept_there(found.device)))
		return 0;
	found.err = baleen_rule_store_read(&found.state, found.device, is_kept, &found.error);
	if (is_state(found.err))
		ret = visit(&found, data);
	baleen_rule_store_let_go(&found);
	return ret;
}

/* Not alphasort(), which asks the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int visit_root(bool is_kept, int (*visit)(struct baleen_rule_store_found *found, void *data),
		      void *data, struct baleen_error *error)
{
	const char *root = baleen_rule_store_root(is_kept);
	struct dirent **entry;
	int n = scandir(root, &entry, NULL, by_name), ret = 0;

	if (n < 0)
		return errno == ENOENT ? 0 : baleen_fail(error, errno, "%s: %m", root);
	for (int i = 0; i < n; i++) {
		if (!ret)
			ret = visit_entry(entry[i]->d_name, is_kept, visit, data);
		free(entry[i]);
	}
	free(entry);
	return ret;
}

int baleen_rule_store_each(int (*visit)(struct baleen_rule_store_found *found, void *data),
			   void *data, struct baleen_error *error)
{
	int ret = baleen_rule_store_check_place(error);

	if (!ret)
		ret = visit_root(true, visit, data, error);
	return ret ? ret : visit_root(false, visit, data, error);
}
