// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Another ruleset for a device that has one, as a single step. */
#include <errno.h>
#include <string.h>

#include "key/key_spec.h"
#include "util/announce.h"
#include "util/fd.h"
#include "xdp/bpf_objects.h"
#include "xdp/config.h"
#include "xdp/load.h"
#include "xdp/prefilter_rules.h"
#include "xdp/update.h"

static int check_kept(const struct baleen_xdp *xdp, u32 live, struct baleen_error *error)
{
	struct baleen_filter filter = { 0 };
	int err = baleen_xdp_map_rule(xdp, live, &filter, error);

	if (!err)
		baleen_filter_free(&filter);
	return err;
}

static int refuse_key(const struct baleen_xdp *xdp, const struct baleen_ruleset_rule *rule,
		      struct baleen_error *error)
{
	char old[BALEEN_KEY_SPEC_TEXT], new[BALEEN_KEY_SPEC_TEXT];

	baleen_key_spec_text(xdp->config.rule[rule->live].image.key_spec, old);
	baleen_key_spec_text(rule->filter->image.key_spec, new);
	return baleen_fail(error, EINVAL, "%s:%s is keyed by %s, the new image by %s", xdp->device,
			   rule->name, old, new);
}

/* A kept map must be valid: an allow rule over a damaged map would drop
 * what it shall let pass.
 */
static int check_live(const struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset,
		      struct baleen_error *error)
{
	int err = 0;

	for (u32 i = 0; i < ruleset->n_rules && !err; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];

		if (rule->live == BALEEN_RULE_NEW)
			continue;
		if (rule->live < 0 || (u32)rule->live >= xdp->config.n_rules)
			err = baleen_fail(error, EINVAL, "rule '%s' continues none of %s",
					  rule->name, xdp->device);
		else if (!rule->filter)
			err = check_kept(xdp, rule->live, error);
		else if (rule->filter->image.key_spec !=
			 xdp->config.rule[rule->live].image.key_spec)
			err = refuse_key(xdp, rule, error);
	}
	return err;
}

/* The maps that the new program takes over from the one that runs. Another
 * rate gets another sampler: the old one might wait for an hour.
 */
static int carry_over(const struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset,
		      struct baleen_loaded *loaded, struct baleen_error *error)
{
	int err = baleen_copy_fd(xdp->stats_fd, &loaded->stats_fd);

	if (!err)
		err = baleen_copy_fd(xdp->events_fd, &loaded->events_fd);
	if (!err)
		err = baleen_copy_fd(xdp->next_fd, &loaded->next_fd);
	if (!err && ruleset->sample_interval_ns == xdp->config.sample_interval_ns)
		err = baleen_copy_fd(xdp->sampler_fd, &loaded->sampler_fd);
	for (u32 i = 0; i < ruleset->n_rules && !err; i++)
		if (!ruleset->rule[i].filter)
			err = baleen_copy_fd(xdp->rule_fd[ruleset->rule[i].live],
					     &loaded->rule_fd[i]);
	if (err)
		return baleen_fail(error, -err, "%s: cannot take over its maps: %s", xdp->device,
				   strerror(-err));
	return 0;
}

/* The table of other limits does not go on: a source that was over the old ones may be within the
 * new. */
static int carry_over_limits(const struct baleen_xdp *xdp, const struct baleen_config *config,
			     struct baleen_loaded *loaded, struct baleen_error *error)
{
	int err = 0;

	if (!baleen_limits_are_same(&xdp->config, config))
		return 0;
	for (u32 i = 0; i < BALEEN_N_LIMIT_MAPS && !err; i++)
		err = baleen_copy_fd(xdp->limit_fd[i], &loaded->limit_fd[i]);
	return err ? baleen_fail(error, -err, "%s: cannot take over its limits: %s", xdp->device,
				 strerror(-err)) :
		     0;
}

static int replace(struct baleen_xdp *xdp, const struct baleen_loaded *loaded,
		   struct baleen_error *error)
{
	struct baleen_error why;
	int err = baleen_attachment_replace(&xdp->attachment, &xdp->pins, loaded, xdp->there.mode,
					    &why);

	if (err)
		return baleen_fail(error, -err, "%s: cannot switch programs: %s", xdp->device,
				   why.text);
	return 0;
}

static void swap_fd(int *a, int *b)
{
	int fd = *a;

	*a = *b;
	*b = fd;
}

/* @xdp has what is loaded; what it had is left in @loaded to be closed. */
static void become(struct baleen_xdp *xdp, const struct baleen_config *config,
		   struct baleen_loaded *loaded)
{
	xdp->program_id = loaded->program_id;
	xdp->config = *config;
	xdp->config.code = baleen_bpf_objects_code();
	swap_fd(&xdp->stats_fd, &loaded->stats_fd);
	swap_fd(&xdp->events_fd, &loaded->events_fd);
	swap_fd(&xdp->sampler_fd, &loaded->sampler_fd);
	swap_fd(&xdp->prefilter_fd, &loaded->prefilter_fd);
	swap_fd(&xdp->next_fd, &loaded->next_fd);
	for (u32 i = 0; i < BALEEN_N_LIMIT_MAPS; i++)
		swap_fd(&xdp->limit_fd[i], &loaded->limit_fd[i]);
	for (u32 i = 0; i < BALEEN_MAX_RULES; i++)
		swap_fd(&xdp->rule_fd[i], &loaded->rule_fd[i]);
	baleen_filter_free(&xdp->live);
}

static int put_on(struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset,
		  struct baleen_loaded *loaded, struct baleen_error *error)
{
	struct baleen_config config;
	struct baleen_stats counted;
	int err = baleen_load_maps(ruleset, loaded, error);

	/* Counters are read last: what comes in between is not the new rule's. */
	if (!err)
		err = baleen_xdp_stats(xdp, &counted, error);
	if (err)
		return err;
	baleen_ruleset_configure(ruleset, &xdp->config, &counted, &config);
	/* An earlier release did not look at the type of the device. */
	baleen_config_set_device(&config, xdp->config.device, xdp->pins.ifindex);
	err = carry_over_limits(xdp, &config, loaded, error);
	if (!err)
		baleen_prefilter_rules(&config, loaded);
	if (!err)
		err = baleen_load_program(&config, loaded, error);
	if (!err)
		err = baleen_loaded_pin(loaded, xdp->pins.path, error);
	if (!err)
		err = replace(xdp, loaded, error);
	if (!err)
		become(xdp, &config, loaded);
	return err;
}

int baleen_xdp_update(struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset,
		      struct baleen_error *error)
{
	struct baleen_loaded loaded;
	int err;

	if (xdp->attach_status != BALEEN_ATTACH_STATUS_ATTACHED)
		return baleen_fail(error, ENOLINK, "%s: the filter is not in force here (%s)",
				   xdp->device, baleen_attach_status_text(xdp->attach_status));
	err = baleen_ruleset_check(ruleset, error);
	if (!err)
		err = check_live(xdp, ruleset, error);
	if (!err)
		err = baleen_ruleset_fits(ruleset, &xdp->config, error);
	if (err)
		return err;
	baleen_loaded_init(&loaded);
	baleen_attachment_tidy(&xdp->attachment, &xdp->pins);
	err = carry_over(xdp, ruleset, &loaded, error);
	if (!err)
		err = put_on(xdp, ruleset, &loaded, error);
	if (!err)
		baleen_announce();
	baleen_pins_clean(&xdp->pins, xdp->program_id);
	baleen_loaded_close(&loaded);
	return err;
}

int baleen_xdp_hand_on(struct baleen_xdp *xdp, struct baleen_error *error)
{
	struct baleen_ruleset ruleset;
	int err;

	if (xdp->config.hands_on)
		return 0;
	if (xdp->config.attach_type == BALEEN_ATTACH_TYPE_CHAIN)
		return baleen_fail(error, EOPNOTSUPP,
				   "%s: its filter is in a chain, where only the chain says what "
				   "comes next: attach it without",
				   xdp->device);
	baleen_ruleset_from_config(&xdp->config, &ruleset);
	xdp->config.hands_on = 1;
	err = baleen_xdp_update(xdp, &ruleset, error);
	if (err)
		xdp->config.hands_on = 0;
	return err;
}
