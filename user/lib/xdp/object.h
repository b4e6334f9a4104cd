/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A self-contained XDP object: the program with the filter baked in.
 */
#ifndef BALEEN_OBJECT_H
#define BALEEN_OBJECT_H

#include <baleen/stats.h>

#include "util/error.h"

/**
 * baleen_object_make() - an ELF object that drops what an image lists
 * @bytes: a checked image, not live
 * @n_bytes: its size
 * @rule: the rule: action and the decoded header of @bytes
 * @out: the object, to be freed by the caller; untouched on failure
 * @out_bytes: its size
 * @error: filled in on failure
 *
 * Needs no compiler: it is the template object of this library with its data
 * sections replaced.
 *
 * Return: 0; -EINVAL for a live image, a size that is not the header's or an
 * unknown action; -E2BIG above 2^29 bytes, as far as the verifier reaches;
 * -ENOMEM.
 */
int baleen_object_make(const void *bytes, size_t n_bytes, const struct baleen_rule *rule,
		       void **out, size_t *out_bytes, struct baleen_error *error);

#endif /* BALEEN_OBJECT_H */
