// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How far a download is. */
#include <unistd.h>

#include "cli.h"
#include "feed_progress.h"
#include "fetch.h"

static bool is_shown;

void feed_progress(void *data, u64 n_received, u64 n_total)
{
	char name[BALEEN_FETCH_NAME], received[NUMBER_TEXT], total[NUMBER_TEXT];

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s: %s", baleen_fetch_name(data, name),
		format_bytes(n_received, received));
	if (n_total)
		fprintf(stderr, " of %s", format_bytes(n_total, total));
	is_shown = true;
}

void feed_progress_end(void)
{
	if (is_shown)
		fputs("\r\033[K", stderr);
	is_shown = false;
}
