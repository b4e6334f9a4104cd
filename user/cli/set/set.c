// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen set: signed sets for many hosts, by verbs. */
#include "cli/common/options.h"
#include "cli/set/set_verbs.h"

/* A line each, so that two who add one do not collide. */
/* clang-format off */
static const struct command *const verbs[] = {
	&set_keygen_command,
	&set_publish_command,
	&set_verify_command,
	&set_show_command,
	&set_diff_command,
	&set_status_command,
	&set_hold_command,
	&set_release_command,
	&set_rollback_command,
	NULL,
};
/* clang-format on */

struct digest_text digest_text(const u8 *digest)
{
	struct digest_text text;

	for (u32 i = 0; i < BALEEN_CANON_DIGEST; i++)
		snprintf(text.text + 2 * i, 3, "%02x", digest[i]);
	return text;
}

json_t *describe_generation(const char *name, const struct baleen_set_head *head)
{
	return json_pack("{s:o, s:I, s:I, s:s, s:s, s:s}", "name", json_text(name), "generation",
			 (json_int_t)head->generation, "entries", (json_int_t)head->n_entries,
			 "created", baleen_set_time(head->created_s).text, "expires",
			 baleen_set_time(head->expires_s).text, "digest",
			 digest_text(head->digest).text);
}

json_t *describe_rings(const struct baleen_set_rollout *rollout)
{
	json_t *rings = json_array();

	for (u32 i = 0; i < rollout->n_rings; i++)
		json_array_append_new(rings, json_pack("{s:i, s:i}", "percent",
						       (int)rollout->ring[i].percent, "soak",
						       (int)rollout->ring[i].soak_s));
	return rings;
}

static int run(int argc, char **argv)
{
	return run_verb(&set_command, argc, argv);
}

const struct command set_command = {
	.name = "set",
	.synopsis = "VERB ...",
	.help = "Publishes a big list for many hosts as plain files for any web server: generations\n"
		"that are signed, and the differences between them, of which a host fetches a few\n"
		"kilobytes a day. Hosts take it as a feed: 'feed set+https://HOST/PATH/NAME key FILE'\n"
		"in baleen.conf(5). The files: baleen-set(5).\n",
	.verbs = verbs,
	.run = run,
};
