// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sources that are signed sets, by their names. */
#include "set/set_manifest.h"
#include "state/set_feed.h"
#include "util/url.h"

#define FILE_URL "file://"

const char *baleen_feed_set_refuse(const char *source)
{
	const char *url = source + sizeof(BALEEN_FEED_SET) - 1;
	const char *slash = strrchr(url, '/');

	if (!baleen_url_is(url) && strncmp(url, FILE_URL "/", sizeof(FILE_URL)))
		return "behind set+ stands https://, http:// or file:///";
	if (strpbrk(url, "?#\\\t "))
		return "a set has a URL without '?', '#' and blanks";
	if (!baleen_set_name_is(slash ? slash + 1 : ""))
		return "its last part is no name of a set: letters, digits, '.', '-' and '_'";
	return NULL;
}
