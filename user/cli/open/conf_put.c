// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A configuration onto its device, with messages. */
#include "cli/common/cli.h"
#include "cli/open/conf_put.h"
#include "deploy/icp_follow.h"
#include "state/rule_store_mend.h"

int conf_put(struct baleen_conf_apply *apply)
{
	struct baleen_error error = { "" };
	int err = baleen_conf_apply(apply, &error);

	for (u32 i = 0; i < apply->attempts.n_failed; i++)
		complain("%s: %s failed: %s", apply->device, apply->attempts.failed[i].what,
			 apply->attempts.failed[i].reason);
	if (err < 0)
		complain("%s", error.text);
	return err ? EXIT_FAILED : 0;
}

/* The filter is in force by now. A cache that cannot be read yet is asked itself until then. */
int conf_follow_icp(const char *device)
{
	struct baleen_icp_followed followed;
	struct baleen_error error;

	if (baleen_icp_follow(device, &followed, &error))
		return complain("%s: caches are not answered for: %s", device, error.text);
	if (followed.did_attach && followed.report.is_veth)
		complain("warning: %s: " BALEEN_ICP_LOST_ON_VETH ": 'mode generic' does without",
			 device);
	if (followed.did_attach && baleen_icp_seed(device, &error))
		complain("warning: its queries go to the cache until baleend has read what it "
			 "holds: %s",
			 error.text);
	return 0;
}

bool conf_set_aside(const char *device)
{
	struct baleen_rule_store_aside aside;
	struct baleen_error error;
	int did = baleen_rule_store_set_aside(device, BALEEN_LOCK_TIMEOUT_MS, &aside, &error);

	if (did > 0)
		complain("%s: its state is damaged, and is set aside: %s: %s of it could be read; "
			 "the rest is made anew",
			 device, aside.path, aside.has_rules ? "rules" : "no rule");
	else if (did < 0)
		complain("%s", error.text);
	return did > 0;
}
