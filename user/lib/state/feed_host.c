// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A feed that is the name of a host. */
#include <errno.h>

#include "state/feed_host.h"
#include "util/resolve.h"

int baleen_feed_host_read(const struct baleen_feed_ask *ask, int fd, struct baleen_error *error)
{
	const char *source = ask->wanted->source;
	struct baleen_error why;
	int err;

	if (ask->is_offline)
		return baleen_fail(error, ENOENT, "%s: is not asked for now", source);
	err = baleen_resolve(source + sizeof(BALEEN_FEED_HOST) - 1,
			     ask->wanted->timeout_s ?: BALEEN_RESOLVE_TIMEOUT_S, fd, &why);
	return err ? baleen_fail(error, -err, "%.300s: %.600s", source, why.text) : 0;
}
