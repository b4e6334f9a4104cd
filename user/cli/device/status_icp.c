// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines of status about devices that answer ICP. */
#include "cli/device/status_rules.h"
#include "icp/icp.h"

struct mention {
	json_t *all;
	u32 n;
};

/* The name of a device that is gone may be that of another by now. */
static json_t *find_device(const struct baleen_icp *icp, json_t *all)
{
	json_t *known, *found = NULL, *name = json_text(icp->device);
	size_t i;

	json_array_foreach(all, i, known)
		if (icp->attach_status != BALEEN_ATTACH_STATUS_GONE &&
		    json_equal(json_object_get(known, "device"), name))
			found = known;
	json_decref(name);
	return found;
}

/* A device stays one object, and each has rules, so a reader that only knows filters finds
 * the fields it looks for.
 */
static void mention_json(const struct baleen_icp *icp, json_t *all)
{
	json_t *json = find_device(icp, all), *siblings = json_array();

	for (u32 i = 0; i < icp->now.config.n_siblings; i++)
		json_array_append_new(siblings, json_string(icp->now.config.sibling[i].name));
	if (!json) {
		json = json_pack("{s:o, s:s, s:b, s:[]}", "device", json_text(icp->device), "state",
				 baleen_attach_status_text(icp->attach_status), "enforced",
				 baleen_icp_is_enforced(icp), "rules");
		json_array_append_new(all, json);
	}
	json_object_set_new(json, "icp",
			    json_pack("{s:i, s:o}", "port", icp->now.config.port, "siblings",
				      siblings));
}

static int mention(const struct baleen_pins *pins, void *data)
{
	struct mention *mention = data;
	struct baleen_icp icp;

	if (baleen_icp_open_pins(&icp, pins, NULL))
		return 0;
	if (mention->all)
		mention_json(&icp, mention->all);
	else
		say("%s: answers ICP for %u sibling%s: 'baleen icp status' tells more\n",
		    icp.device, icp.now.config.n_siblings,
		    icp.now.config.n_siblings == 1 ? "" : "s");
	baleen_icp_close(&icp);
	mention->n++;
	return 0;
}

u32 status_icp_all(json_t *all)
{
	struct mention mentioned = { .all = all };

	baleen_icp_each(mention, &mentioned, NULL);
	return mentioned.n;
}
