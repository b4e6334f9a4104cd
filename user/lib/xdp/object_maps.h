/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps and the constants of an object that libbpf has opened.
 */
#ifndef BALEEN_OBJECT_MAPS_H
#define BALEEN_OBJECT_MAPS_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_object;

/**
 * baleen_object_set_constants() - set what the programs read from .rodata.config
 * @object: not yet loaded
 * @constants: its new content
 * @n_bytes: size of @constants
 *
 * Return: 0; -EINVAL when the object has none of that size.
 */
int baleen_object_set_constants(struct bpf_object *object, const void *constants, size_t n_bytes);

/**
 * baleen_object_use_map() - say where a map comes from
 * @object: not yet loaded
 * @name: name of the map
 * @fd: a map that is there already; negative: none
 * @is_used: without @fd: make a new one at load?
 *
 * Return: 0; -ENOENT when the object has no such map; a negative errno of libbpf.
 */
int baleen_object_use_map(struct bpf_object *object, const char *name, int fd, bool is_used);

/**
 * baleen_object_keep_map() - keep a map when the object is closed
 * @object: loaded
 * @name: name of the map
 * @kept: a descriptor that is there already stays; else set to a copy; untouched when there is no
 *        such map, or it is switched off
 *
 * Return: 0 or a negative errno.
 */
int baleen_object_keep_map(const struct bpf_object *object, const char *name, int *kept);

#endif /* BALEEN_OBJECT_MAPS_H */
