// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Images among the feeds of a rule: do they hold a key? */
#include <unistd.h>

#include "deploy/derive_image.h"
#include "ops/image_file.h"

int baleen_derive_image_holds(const struct baleen_rule_store *state, const struct baleen_feed *feed,
			      u32 key_spec, const struct baleen_key *key,
			      struct baleen_error *error)
{
	int fd = baleen_feed_open(state, feed, error), ret;
	struct baleen_filter image;

	if (fd < 0)
		return fd;
	ret = baleen_image_file_read(fd, baleen_feed_name(feed).text, &image, error);
	close(fd);
	if (ret)
		return ret;
	ret = image.image.key_spec == key_spec && baleen_filter_test(&image, key);
	baleen_filter_free(&image);
	return ret;
}
