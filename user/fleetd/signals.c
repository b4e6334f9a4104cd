// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Signals of this host that are to be sent. */
#include <string.h>
#include <syslog.h>

#include "fleet/fleet_kept.h"
#include "fleet/fleet_signal.h"
#include "fleetd/fleetd.h"

static int send_signal(struct fleet *fleet, struct redis *redis, const char *publisher,
		       const struct baleen_fleet_signal *signal, struct baleen_error *error)
{
	const struct baleen_fleet_signer signer = { .fleet = fleet->conf.fleet,
						    .keys = &fleet->keys,
						    .now_ms = broker_ms(fleet) };
	struct baleen_fleet_message message = { .control = BALEEN_FLEET_SIGNAL,
						.number = signal->number,
						.about = signal->digest,
						.value = signal->value };
	struct baleen_fleet_writer writer = { 0 };
	char name[BALEEN_FLEET_KEPT_NAME_BYTES];
	int err;

	strcpy(message.publisher, publisher);
	strcpy(message.topic, signal->topic);
	strcpy(message.subject, signal->subject);
	strcpy(message.reason, signal->reason);
	err = baleen_fleet_own_control(&signer, &message, &writer, error);
	if (!err)
		err = control_send(&fleet->conf, redis, baleen_fleet_kept_name(&message, name),
				   writer.bytes, writer.n_bytes, error);
	baleen_fleet_writer_free(&writer);
	return err;
}

/* Others would refuse it: it waits for another policy. */
static bool may_signal(struct fleet *fleet, const char *publisher)
{
	const struct baleen_fleet_grant *grant =
		baleen_fleet_policy_grant(&fleet->policy, publisher);
	bool may = grant && baleen_fleet_policy_key(&fleet->policy, publisher) &&
		   baleen_fleet_grant_may(grant, BALEEN_FLEET_SIGNAL);

	if (!may)
		say(fleet, LOG_WARNING,
		    "%s may not signal: the policy has no 'may signal' for it, so that what this "
		    "host has to say to others waits",
		    publisher);
	return may;
}

int signals_send(struct fleet *fleet, struct redis *redis, struct baleen_error *error)
{
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	struct baleen_fleet_signal signal;
	u64 id = 0;
	int ret;

	snprintf(publisher, sizeof(publisher), "%s/" OPERATOR, fleet->conf.host);
	while ((ret = baleen_fleet_signal_next(&fleet->store, &signal, &id, error)) > 0) {
		if (!may_signal(fleet, publisher))
			return 0;
		ret = send_signal(fleet, redis, publisher, &signal, error);
		if (!ret)
			ret = baleen_fleet_signal_sent(&fleet->store, id, error);
		if (ret)
			break;
	}
	return ret;
}
