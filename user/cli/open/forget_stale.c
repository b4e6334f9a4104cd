// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* detach --gone: what is left of devices that no longer exist. */
#include "cli/common/cli.h"
#include "cli/open/forget_stale.h"
#include "net/device.h"

/**
 * struct telling - how they are told
 * @also: what to do besides, or NULL
 * @all: the array of JSON, or NULL to print
 */
struct telling {
	void (*also)(const struct baleen_stale_pins *gone);
	json_t *all;
};

static void on_stale(const struct baleen_stale_pins *gone, void *data)
{
	const char *device = gone->device[0] ? gone->device : "?";
	const struct telling *telling = data;

	if (telling->also)
		telling->also(gone);
	if (telling->all)
		json_array_append_new(telling->all,
				      json_pack("{s:o, s:i, s:I}", "device", json_text(device),
						"ifindex", gone->ifindex, "namespace",
						(json_int_t)gone->netns_cookie));
	else
		say("%s: forgotten (namespace %llu)\n", device,
		    (unsigned long long)gone->netns_cookie);
}

int forget_gone(gone_forget *forget, void (*also)(const struct baleen_stale_pins *gone), bool json)
{
	struct telling telling = { .also = also, .all = json ? json_array() : NULL };
	struct baleen_error error;
	int result = EXIT_DONE;

	if (baleen_device_privileges(&error) || forget(on_stale, &telling, &error))
		result = complain("%s", error.text);
	if (!telling.all)
		return finish_output(result);
	return print_json(telling.all) || result ? EXIT_FAILED : EXIT_DONE;
}
