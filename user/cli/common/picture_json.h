/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters place by place, as JSON.
 */
#ifndef BALEEN_CLI_PICTURE_JSON_H
#define BALEEN_CLI_PICTURE_JSON_H

#include <jansson.h>

#include "cli/common/picture.h"

/* All that `baleen show -j` prints of a filter; @argument is its name. */
json_t *picture_json(struct picture *picture, const char *argument);

#endif /* BALEEN_CLI_PICTURE_JSON_H */
