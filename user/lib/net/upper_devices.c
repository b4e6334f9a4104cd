// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds the devices that get the packets a device receives.
 */
#include <errno.h>
#include <stdlib.h>

#include "net/links.h"
#include "net/upper_devices.h"

static void add_distinct(struct baleen_upper_devices *upper_devices, u32 ifindex)
{
	for (size_t i = 0; i < upper_devices->n; i++)
		if (upper_devices->ifindex[i] == ifindex)
			return;
	upper_devices->ifindex[upper_devices->n++] = ifindex;
}

/* A device passes frames to its master, and to devices made of it. */
static void add_above(const struct baleen_links *links, u32 ifindex,
		      struct baleen_upper_devices *upper_devices)
{
	for (size_t i = 0; i < links->n; i++) {
		const struct baleen_link *link = &links->link[i];

		if (link->ifindex == ifindex && link->master)
			add_distinct(upper_devices, link->master);
		if (link->lower == ifindex)
			add_distinct(upper_devices, link->ifindex);
	}
}

static int compare(const void *left, const void *right)
{
	u32 a = *(const u32 *)left, b = *(const u32 *)right;

	return (a > b) - (a < b);
}

/* Each device adds at most itself and its master, whichever way they turn. */
static int follow(const struct baleen_links *links, u32 ifindex,
		  struct baleen_upper_devices *upper_devices)
{
	struct baleen_upper_devices found = { .n = 1 };

	found.ifindex = calloc(2 * links->n + 1, sizeof(*found.ifindex));
	if (!found.ifindex)
		return -ENOMEM;
	found.ifindex[0] = ifindex;
	for (size_t i = 0; i < found.n; i++)
		add_above(links, found.ifindex[i], &found);
	qsort(found.ifindex, found.n, sizeof(*found.ifindex), compare);
	*upper_devices = found;
	return 0;
}

int baleen_upper_devices_find(const struct baleen_links *links, u32 ifindex,
			      struct baleen_upper_devices *upper_devices,
			      struct baleen_error *error)
{
	return follow(links, ifindex, upper_devices) ?
		       baleen_fail(error, ENOMEM, "no memory for the devices of the host") :
		       0;
}

bool baleen_upper_devices_has(const struct baleen_upper_devices *upper_devices, u32 ifindex)
{
	return upper_devices->n && bsearch(&ifindex, upper_devices->ifindex, upper_devices->n,
					   sizeof(ifindex), compare);
}

void baleen_upper_devices_free(struct baleen_upper_devices *upper_devices)
{
	free(upper_devices->ifindex);
	*upper_devices = (struct baleen_upper_devices){ 0 };
}
