// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How far a download is. */
#include <stdio.h>

#include "cli/common/feed_progress.h"
#include "cli/common/progress.h"
#include "util/url.h"

static bool is_begun;

void feed_progress(void *data, u64 n_received, u64 n_total)
{
	char what[sizeof(struct baleen_url_name) + sizeof("fetching ")];

	if (!is_begun) {
		snprintf(what, sizeof(what), "fetching %s", baleen_url_name(data).text);
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
