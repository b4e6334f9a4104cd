// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Configurations of devices as files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "deploy/conf.h"

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
	int n = snprintf(path, n_bytes, "%s/%s" BALEEN_CONF_SUFFIX, baleen_conf_dir(), device);

	return n < 0 || (size_t)n >= n_bytes ? -ENAMETOOLONG : 0;
}
