// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The addresses that a host must not drop on a device. */
#include <stdlib.h>

#include "net/device.h"
#include "net/host.h"
#include "net/host_survey.h"
#include "net/upper_devices.h"

const char *const baleen_session_guards[BALEEN_N_GUARDS] = {
	[BALEEN_GUARD_OUTGOING] = "outgoing",
	[BALEEN_GUARD_OWN] = "own",
	[BALEEN_GUARD_ALL] = "all",
	[BALEEN_GUARD_NONE] = "none",
};

const char *baleen_host_role_text(enum baleen_host_role role)
{
	switch (role) {
	case BALEEN_HOST_OWN: return "address";
	case BALEEN_HOST_GATEWAY: return "gateway";
	case BALEEN_HOST_RESOLVER: return "resolver";
	default: return "peer of a TCP session";
	}
}

static int pick(const struct baleen_host *host, const struct baleen_upper_devices *devices,
		struct baleen_address_set *set)
{
	int err = 0;

	for (size_t i = 0; i < host->all.n && !err; i++) {
		struct baleen_host_address address = host->all.address[i];

		if (address.ifindex && !baleen_upper_devices_has(devices, address.ifindex))
			continue;
		address.ifindex = 0;
		err = baleen_address_set_add(set, &address);
	}
	baleen_address_set_sort(set);
	return err;
}

/* Sixteen devices took 430 calls when each had a survey of its own. */
int baleen_host_survey(struct baleen_host *host, int ifindex, struct baleen_error *error)
{
	struct baleen_address_set set = { 0 };
	struct baleen_upper_devices devices;
	int real = baleen_device_real(ifindex);
	int err = 0;

	if (host->is_surveyed && host->ifindex == real)
		return 0;
	if (!host->is_surveyed)
		err = baleen_host_survey_all(&host->all, &host->links, error);
	host->is_surveyed |= !err;
	if (!err && !baleen_links_find(&host->links, real))
		err = baleen_fail(error, ENODEV, "device %d is not there any more", real);
	if (!err)
		err = baleen_upper_devices_find(&host->links, real, &devices, error);
	if (err)
		return err;
	err = pick(host, &devices, &set);
	baleen_upper_devices_free(&devices);
	if (err) {
		free(set.address);
		return baleen_no_memory(error);
	}
	free(host->address);
	host->ifindex = real;
	host->address = set.address;
	host->n = set.n;
	return 0;
}

bool baleen_host_guards(struct baleen_host *host, enum baleen_session_guard guard,
			const struct baleen_host_address *address)
{
	if (address->role != BALEEN_HOST_PEER || guard == BALEEN_GUARD_ALL)
		return true;
	if (guard == BALEEN_GUARD_NONE)
		return false;
	if (guard == BALEEN_GUARD_OUTGOING && address->session.is_outgoing)
		return true;
	if (!host->has_logins && baleen_logins_read(&host->logins))
		return true;
	host->has_logins = true;
	return baleen_logins_has(&host->logins, address);
}

void baleen_host_free(struct baleen_host *host)
{
	free(host->address);
	free(host->all.address);
	baleen_links_free(&host->links);
	baleen_logins_free(&host->logins);
	*host = (struct baleen_host){ 0 };
}
