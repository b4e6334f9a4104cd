// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The maps and the constants of an object that libbpf has opened. */
#include <bpf/libbpf.h>
#include <string.h>

#include "util/fd.h"
#include "xdp/object_maps.h"

int baleen_object_set_constants(struct bpf_object *object, const void *constants, size_t n_bytes)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.config");
	size_t n_there = 0;
	void *there = map ? (void *)bpf_map__initial_value(map, &n_there) : NULL;

	if (!there || n_there != n_bytes)
		return -EINVAL;
	memcpy(there, constants, n_bytes);
	return 0;
}

int baleen_object_use_map(struct bpf_object *object, const char *name, int fd, bool is_used)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	if (!map)
		return -ENOENT;
	return fd >= 0 ? bpf_map__reuse_fd(map, fd) : bpf_map__set_autocreate(map, is_used);
}

int baleen_object_keep_map(const struct bpf_object *object, const char *name, int *kept)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	/* From 1.4 on libbpf has a descriptor of something else for a map that is switched off. */
	return baleen_keep_fd(map && bpf_map__autocreate(map) ? bpf_map__fd(map) : -1, kept);
}
