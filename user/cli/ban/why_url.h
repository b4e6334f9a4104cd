/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `baleen why` of a URL: what is answered for the caches of a device.
 */
#ifndef BALEEN_CLI_WHY_URL_H
#define BALEEN_CLI_WHY_URL_H

#include "cli/common/cli.h"

/* Is it a URL, and no address? */
bool why_is_url(const char *text);

/* Tells of @n URLs, of each cache that @device, NULL for all, answers for; an exit code. With
 * @all, which is appended to, as JSON.
 */
int why_urls(const char *device, char *const *url, u32 n, json_t *all);

#endif /* BALEEN_CLI_WHY_URL_H */
