// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entries of signed sets, found in the lists of their publisher. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/ban/why_source.h"
#include "cli/common/cli.h"
#include "list/list.h"
#include "state/feed_set.h"
#include "state/set_feed.h"
#include "util/fd.h"
#include "util/write_file.h"

static bool is_same(const struct baleen_feed *a, const struct baleen_feed *b)
{
	return a->generation == b->generation && !strcmp(a->wanted.source, b->wanted.source) &&
	       !strcmp(a->wanted.key, b->wanted.key);
}

/* Several addresses may be entries of one set. */
static int open_source(struct why_source *source, const struct baleen_feed *feed)
{
	struct baleen_error error;
	size_t n_bytes;
	char *text;

	if (source->is_asked && is_same(&source->feed, feed))
		return source->fd;
	why_source_close(source);
	*source = (struct why_source){ .feed = *feed, .fd = -1, .is_asked = true };
	if (baleen_feed_set_source(feed, &text, &n_bytes, &error)) {
		complain("%s", error.text);
		return -1;
	}
	source->fd = memfd_create("baleen-source", MFD_CLOEXEC);
	if (source->fd >= 0 && baleen_write_all(source->fd, text, n_bytes))
		baleen_close_fd(&source->fd);
	free(text);
	return source->fd;
}

void why_source_close(struct why_source *source)
{
	if (source->is_asked)
		baleen_close_fd(&source->fd);
	source->is_asked = false;
}

/**
 * struct search - an entry of a set in its lists
 * @length: its prefix length; a line may be wider, and not the one
 * @line: number of the line
 */
struct search {
	u32 length;
	u64 line;
};

static int compare_length(const struct baleen_list_line *line, void *data)
{
	struct search *search = data;

	if (line->length != search->length)
		return 0;
	search->line = line->number;
	return 1;
}

static void find(struct why_source *source, const struct baleen_key *key,
		 struct baleen_reason *reason)
{
	const char *slash = strchr(reason->text, '/');
	struct search search = { .length = slash ? strtoul(slash + 1, NULL, 10) :
					   key->domain == BALEEN_IP4 ? 32 :
								       128 };
	int fd = open_source(source, &reason->feed);

	if (fd < 0 || lseek(fd, 0, SEEK_SET))
		return;
	if (baleen_list_find_each(fd, BALEEN_KEY_SRC, key, compare_length, &search) == 1)
		reason->source_line = search.line;
}

void why_source_find(struct why_source *source, const struct baleen_xdp *xdp,
		     const struct baleen_question *question, struct baleen_explanation *explanation)
{
	for (u32 i = 0; i < xdp->config.n_rules; i++) {
		struct baleen_explained_rule *rule = &explanation->rule[i];
		struct baleen_key key =
			baleen_key_fields(xdp->config.rule[i].image.key_spec, &question->fields);

		for (u32 j = 0; j < rule->n_shown; j++) {
			struct baleen_reason *reason = &rule->reason[j];

			if (reason->is_feed && reason->line && reason->feed.generation &&
			    baleen_feed_set_is(reason->feed.wanted.source))
				find(source, &key, reason);
		}
	}
}
