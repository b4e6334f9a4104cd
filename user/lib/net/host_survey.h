/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The addresses that a host must not drop, of all its devices.
 */
#ifndef BALEEN_HOST_SURVEY_H
#define BALEEN_HOST_SURVEY_H

#include "net/address_set.h"
#include "net/links.h"
#include "util/error.h"

/**
 * baleen_host_survey_all() - ask for them
 * @set: filled in: sorted, each with its device; its array is to be freed
 * @links: filled in: the devices; free with baleen_links_free()
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno; outputs are untouched on failure.
 */
int baleen_host_survey_all(struct baleen_address_set *set, struct baleen_links *links,
			   struct baleen_error *error);

/**
 * baleen_host_resolvers() - the nameservers of a resolv.conf
 * @path: path of the file; a missing one has no nameservers
 * @out: array of addresses, to be freed by the caller, as in struct baleen_host
 * @n: how many
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno; outputs are untouched on failure.
 */
int baleen_host_resolvers(const char *path, struct baleen_host_address **out, size_t *n,
			  struct baleen_error *error);

#endif /* BALEEN_HOST_SURVEY_H */
