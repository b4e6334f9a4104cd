// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which configuration is of which device. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deploy/conf_find.h"
#include "net/device.h"

#define PATH_BYTES BALEEN_RULE_STORE_PATH_BYTES

/* Frames that go out are looked up by other keys: they have a file of their own, or none. */
static bool fits(const char *pattern, const char *device)
{
	if (baleen_device_is_egress(device))
		return false;
	if (!strcmp(device, "lo"))
		return !strcmp(pattern, device);
	return !fnmatch(pattern, device, 0);
}

/* The last pattern that fits decides; one with ! takes devices out. */
static bool matches(const char *match, const char *device)
{
	char words[BALEEN_CONF_MATCH_BYTES], *rest = words, *word;
	bool is_matched = false;

	snprintf(words, sizeof(words), "%s", match);
	while ((word = strsep(&rest, " "))) {
		bool is_exception = *word == '!';

		if (fits(word + is_exception, device))
			is_matched = !is_exception;
	}
	return is_matched;
}

/* The words of `match` in default.conf; -ENOENT without the file. */
static int read_match(char *match, struct baleen_error *error)
{
	struct baleen_conf conf;
	char path[PATH_BYTES];
	int err = baleen_conf_path(BALEEN_CONF_DEFAULT, path, sizeof(path));

	if (err || access(path, F_OK))
		return -ENOENT;
	err = baleen_conf_read(path, &conf, error);
	if (err)
		return err == -ENOENT ? -EINVAL : err;
	strcpy(match, conf.match);
	baleen_conf_free(&conf);
	if (!*match)
		return baleen_fail(error, EINVAL,
				   "%s: for which devices? write a line such as 'match eth*'",
				   path);
	return 0;
}

int baleen_conf_find(const char *device, char *path, size_t n_bytes, bool *is_default,
		     struct baleen_error *error)
{
	char match[BALEEN_CONF_MATCH_BYTES], other[PATH_BYTES];
	int err = baleen_conf_path(device, path, n_bytes);

	*is_default = false;
	if (err)
		return baleen_fail(error, -err, "%s: name too long", device);
	if (!access(path, F_OK))
		return 0;
	err = read_match(match, error);
	if (err)
		return err == -ENOENT ? 0 : err;
	baleen_conf_path(BALEEN_CONF_DEFAULT, other, sizeof(other));
	if (!matches(match, device))
		return baleen_fail(error, ENOENT,
				   "%s: no configuration: %s is not there, and %s does not match "
				   "this device",
				   device, path, other);
	if (strlen(other) >= n_bytes)
		return baleen_fail(error, ENAMETOOLONG, "%s: name too long", other);
	strcpy(path, other);
	*is_default = true;
	return 0;
}

/* --- all of them ----------------------------------------------------------------- */

static int is_conf(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(BALEEN_CONF_SUFFIX);

	char device[BALEEN_POINT_BYTES];

	if (entry->d_name[0] == '.' || length <= suffix || length - suffix >= sizeof(device) ||
	    strcmp(entry->d_name + length - suffix, BALEEN_CONF_SUFFIX) ||
	    !strcmp(entry->d_name, BALEEN_CONF_DEFAULT BALEEN_CONF_SUFFIX) ||
	    !strcmp(entry->d_name, BALEEN_CONF_FLEET BALEEN_CONF_SUFFIX))
		return false;
	snprintf(device, sizeof(device), "%.*s", (int)(length - suffix), entry->d_name);
	return baleen_device_is_name(device);
}

static int each_own(int (*visit)(const char *device, void *data), void *data,
		    struct baleen_error *error)
{
	struct dirent **entry;
	int n = scandir(baleen_conf_dir(), &entry, is_conf, alphasort), ret = 0;

	if (n < 0)
		return baleen_fail(error, errno, "%s: %m", baleen_conf_dir());
	for (int i = 0; i < n; i++) {
		char *suffix = strrchr(entry[i]->d_name, '.');

		*suffix = '\0';
		if (!ret)
			ret = visit(entry[i]->d_name, data);
		free(entry[i]);
	}
	free(entry);
	return ret;
}

static bool has_own(const char *device)
{
	char path[PATH_BYTES];

	return !baleen_conf_path(device, path, sizeof(path)) && !access(path, F_OK);
}

static int each_matched(const char *match, int (*visit)(const char *device, void *data), void *data,
			struct baleen_error *error)
{
	struct if_nameindex *all = if_nameindex();
	int ret = 0;

	if (!all)
		return baleen_fail(error, errno, "cannot list the devices: %m");
	for (struct if_nameindex *one = all; one->if_index && !ret; one++)
		if (matches(match, one->if_name) && !has_own(one->if_name))
			ret = visit(one->if_name, data);
	if_freenameindex(all);
	return ret;
}

int baleen_conf_each(int (*visit)(const char *device, void *data), void *data,
		     struct baleen_error *error)
{
	char match[BALEEN_CONF_MATCH_BYTES];
	int err = each_own(visit, data, error);

	if (!err)
		err = read_match(match, error);
	if (err)
		return err == -ENOENT ? 0 : err;
	return each_matched(match, visit, data, error);
}
