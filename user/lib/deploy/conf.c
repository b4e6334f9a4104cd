// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Configurations of devices as files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "deploy/conf.h"
#include "net/device.h"
#include "util/input.h"

void baleen_conf_free(struct baleen_conf *conf)
{
	free(conf->feed);
	free(conf->text);
	*conf = (struct baleen_conf){ 0 };
}

u32 baleen_conf_key(const struct baleen_conf *conf)
{
	return conf->is_egress ? BALEEN_KEY_DST : BALEEN_KEY_SRC;
}

int baleen_conf_is_of(const struct baleen_conf *conf, const char *device, const char *path,
		      struct baleen_error *error)
{
	if (conf->is_egress == baleen_device_is_egress(device))
		return 0;
	return conf->is_egress ?
		       baleen_fail(error, EINVAL,
				   "%s: 'egress', and %s is what comes in: its file is "
				   "%s" BALEEN_EGRESS BALEEN_CONF_SUFFIX,
				   path, device, device) :
		       baleen_fail(error, EINVAL, "%s: says not 'egress', and %s is what goes out",
				   path, device);
}

/* --- where they are ------------------------------------------------------------------ */

const char *baleen_conf_dir(void)
{
	const char *dir = getenv("BALEEN_CONF_DIR");

	return dir && *dir ? dir : BALEEN_CONF_ROOT;
}

void baleen_conf_never_path(char *path, size_t n_bytes)
{
	if (snprintf(path, n_bytes, "%s/" BALEEN_NEVER_FILE, baleen_conf_dir()) >= (int)n_bytes)
		path[0] = '\0';
}

int baleen_conf_path(const char *device, char *path, size_t n_bytes)
{
	int n = snprintf(path, n_bytes, "%s/%s" BALEEN_CONF_SUFFIX, baleen_conf_dir(), device);

	return n < 0 || (size_t)n >= n_bytes ? -ENAMETOOLONG : 0;
}

/* --- read ---------------------------------------------------------------------------- */

static int read_file(int fd, const char *path, char *text, size_t *n_bytes,
		     struct baleen_error *error)
{
	size_t n = 0;

	while (n <= BALEEN_CONF_MAX_BYTES) {
		ssize_t got = read(fd, text + n, BALEEN_CONF_MAX_BYTES + 1 - n);

		if (got < 0)
			return baleen_fail(error, errno, "%s: %m", path);
		if (!got) {
			*n_bytes = n;
			return 0;
		}
		n += got;
	}
	return baleen_fail(error, E2BIG, "%s: larger than %u bytes", path, BALEEN_CONF_MAX_BYTES);
}

int baleen_conf_read(const char *path, struct baleen_conf *conf, struct baleen_error *error)
{
	int fd = baleen_input_open(path, BALEEN_INPUT_NAMED, error);
	char *text = NULL;
	size_t n_bytes = 0;
	int err = 0;

	if (fd < 0)
		return fd;
	text = malloc(BALEEN_CONF_MAX_BYTES + 1);
	if (!text)
		err = baleen_fail(error, ENOMEM, "%s: no memory", path);
	if (!err)
		err = read_file(fd, path, text, &n_bytes, error);
	if (!err)
		err = baleen_conf_parse(text, n_bytes, path, conf, error);
	free(text);
	close(fd);
	return err;
}
