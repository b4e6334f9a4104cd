// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A set for a BPF program of another. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "xdp/load.h"

#define CONSTANTS ".rodata."

/* As BALEEN_FILTER() of <baleen/program.h> declares them. */
static int find_maps(struct bpf_object *object, const char *filter, struct bpf_map **blocks,
		     struct bpf_map **header)
{
	char name[256];

	if (snprintf(name, sizeof(name), CONSTANTS "%s", filter) >= (int)sizeof(name))
		return baleen_fail(api_error(), EINVAL, "a filter's name of %zu bytes",
				   strlen(filter));
	*blocks = bpf_object__find_map_by_name(object, filter);
	*header = bpf_object__find_map_by_name(object, name);
	if (!*blocks || !*header)
		return baleen_fail(api_error(), ENOENT, "%s has no BALEEN_FILTER(%s)",
				   bpf_object__name(object), filter);
	if (bpf_map__fd(*header) >= 0)
		return baleen_fail(api_error(), EBUSY, "%s is loaded already",
				   bpf_object__name(object));
	return 0;
}

static int fill_header(struct bpf_map *header, const struct bpf_object *object,
		       const struct baleen_image *image)
{
	if (bpf_map__set_initial_value(header, image, sizeof(*image)))
		return baleen_fail(api_error(), EINVAL,
				   "%s: compiled against headers of another release of Baleen",
				   bpf_object__name(object));
	return 0;
}

static int fill_blocks(struct bpf_map *blocks, const struct bpf_object *object,
		       const struct baleen_filter *image)
{
	int fd, err = baleen_load_copy(bpf_map__name(blocks), image, &fd, api_error());

	if (err)
		return err;
	err = bpf_map__reuse_fd(blocks, fd);
	if (err)
		err = baleen_fail(api_error(), -err, "%s: map %s: %s", bpf_object__name(object),
				  bpf_map__name(blocks), strerror(-err));
	/* The object has a copy. */
	close(fd);
	return err;
}

int baleen_set_load(const struct baleen_set *set, struct bpf_object *object, const char *filter)
{
	struct bpf_map *blocks = NULL, *header = NULL;
	const struct baleen_filter *image;
	struct baleen_filter copy;
	int err = find_maps(object, filter, &blocks, &header);

	if (!err)
		err = api_set_image(set, &copy, &image);
	if (err)
		return err;
	err = baleen_load_check(&image->image, api_error());
	if (!err)
		err = fill_blocks(blocks, object, image);
	/* Last: as long as it is all zero, the kernel loads nothing. */
	if (!err)
		err = fill_header(header, object, &image->image);
	baleen_filter_free(&copy);
	return err;
}
