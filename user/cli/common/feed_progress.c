// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How far a download is. */
#include <stdio.h>

#include "cli/common/feed_progress.h"
#include "cli/common/progress.h"
#include "util/fetch.h"

static bool is_begun;

void feed_progress(void *data, u64 n_received, u64 n_total)
{
	char name[BALEEN_FETCH_NAME], what[sizeof(name) + sizeof("fetching ")];

	if (!is_begun) {
		snprintf(what, sizeof(what), "fetching %s", baleen_fetch_name(data, name));
		progress_begin(what);
	}
	is_begun = true;
	progress_set(n_received, n_total);
}

void feed_progress_end(void)
{
	if (is_begun)
		progress_end();
	is_begun = false;
}
