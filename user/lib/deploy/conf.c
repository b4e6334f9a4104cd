// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Configurations of devices as files. */
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/conf.h"

#define SUFFIX ".conf"

void baleen_conf_free(struct baleen_conf *conf)
{
	free(conf->feed);
	free(conf->text);
	*conf = (struct baleen_conf){ 0 };
}

/* --- where they are ------------------------------------------------------------------ */

const char *baleen_conf_dir(void)
{
	const char *dir = getenv("BALEEN_CONF_DIR");

	return dir && *dir ? dir : BALEEN_CONF_ROOT;
}

int baleen_conf_path(const char *device, char *path, size_t n_bytes)
{
	int n = snprintf(path, n_bytes, "%s/%s%s", baleen_conf_dir(), device, SUFFIX);

	return n < 0 || (size_t)n >= n_bytes ? -ENAMETOOLONG : 0;
}

static int is_conf(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);

	return entry->d_name[0] != '.' && length > suffix && length - suffix < IF_NAMESIZE &&
	       !strcmp(entry->d_name + length - suffix, SUFFIX);
}

int baleen_conf_each(int (*visit)(const char *device, void *data), void *data,
		     struct baleen_error *error)
{
	struct dirent **entry;
	int n = scandir(baleen_conf_dir(), &entry, is_conf, alphasort), ret = 0;

	if (n < 0)
		return baleen_fail(error, errno, "%s: %m", baleen_conf_dir());
	for (int i = 0; i < n; i++) {
		char *suffix = entry[i]->d_name + strlen(entry[i]->d_name) - strlen(SUFFIX);

		*suffix = '\0';
		if (!ret)
			ret = visit(entry[i]->d_name, data);
		free(entry[i]);
	}
	free(entry);
	return ret;
}
