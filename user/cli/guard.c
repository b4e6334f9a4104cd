// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is checked before a set of rules goes live. */
#include <stdlib.h>

#include "guard.h"
#include "host.h"
#include "plan.h"

int take_accept_fpp(const struct command *command, const char *argument, double *accept_fpp)
{
	if (parse_rate(argument, accept_fpp))
		return complain_usage(command, "--accept-fpp '%s': not a rate from 0 to below 1",
				      argument);
	return 0;
}

int guard_rate(const char *name, u32 action, const struct baleen_filter *filter, double accept_fpp)
{
	double fpp = baleen_filter_worst_fpp(filter);

	if (fpp <= accept_fpp)
		return 0;
	complain("%s: would %s %.*f unlisted packets in a million: false positive rate %.3g, "
		 "accepted %.3g (--accept-fpp)",
		 name, action == BALEEN_ACTION_DROP ? "drop" : "let pass", fpp < 1e-4 ? 3 : 0,
		 fpp * 1e6, fpp, accept_fpp);
	return EXIT_FAILED;
}

/* Addresses that are named; reading a list again for each takes its time. */
#define MAX_NAMED 20

/* The rule that drops a packet with this address, or NULL. */
static const struct guarded_rule *dropped_by(const struct guarded_rule *rules, u32 n_rules,
					     const struct baleen_host_address *address)
{
	for (u32 i = 0; i < n_rules; i++) {
		/* Packets that come in are addressed to us, whoever sent them. */
		if (rules[i].filter->image.key_spec == BALEEN_KEY_DST &&
		    address->role != BALEEN_HOST_OWN)
			continue;
		if (baleen_filter_test(rules[i].filter, &address->key))
			return rules[i].action == BALEEN_ACTION_DROP ? &rules[i] : NULL;
	}
	return NULL;
}

static void complain_of(const char *device, const struct guarded_rule *rule,
			const struct baleen_host_address *address)
{
	char text[BALEEN_KEY_TEXT], entry[BALEEN_KEY_TEXT * 2];
	const char *role = baleen_host_role_text(address->role);
	const char *whose =
		address->role == BALEEN_HOST_OWN || address->role == BALEEN_HOST_GATEWAY ?
			device :
			"this host";
	u64 line;

	baleen_key_format(&address->key, BALEEN_KEY_SRC, text);
	if (rule->input && input_find_line(rule->input, &address->key, &line, entry, sizeof(entry)))
		complain("%s:%llu: '%s': rule '%s' would drop %s, %s of %s", rule->input->path,
			 (unsigned long long)line, entry, rule->name, text, role, whose);
	else
		complain("%s: rule '%s' would drop %s, %s of %s",
			 rule->input ? rule->input->path : device, rule->name, text, role, whose);
}

int guard_host(const char *device, const struct guarded_rule *rules, u32 n_rules)
{
	struct baleen_host_address *addresses;
	struct baleen_error error;
	size_t n, n_dropped = 0;
	int ifindex;

	if (baleen_device_ifindex(device, &ifindex, &error) ||
	    baleen_host_addresses(ifindex, &addresses, &n, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < n; i++) {
		const struct guarded_rule *rule = dropped_by(rules, n_rules, &addresses[i]);

		if (rule && n_dropped++ < MAX_NAMED)
			complain_of(device, rule, &addresses[i]);
	}
	free(addresses);
	if (!n_dropped)
		return 0;
	if (n_dropped > MAX_NAMED)
		complain("%s: and %zu more addresses", device, n_dropped - MAX_NAMED);
	complain("%s: nothing changed, since this host would cut itself off (--force does it)",
		 device);
	return EXIT_FAILED;
}
