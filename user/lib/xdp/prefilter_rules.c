// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which rules of a program a prefilter stands for, and its map. */
#include <sys/mman.h>

#include "filter/prefilter.h"
#include "filter/recent.h"
#include "xdp/prefilter_rules.h"

/* With fewer, most packets gain less than those that match a rule lose. */
#define LEAST_TABLES 3

/* The verifier follows the other rules twice, with what the prefilter says and without: thirteen
 * of a kind with long code would be more than the million instructions of kernel 6.1.
 */
#define MOST_OTHERS 4

static bool is_like(const struct baleen_rule *rule, u32 key_offset)
{
	return baleen_prefilter_covers(&rule->image) && rule->key_offset[BALEEN_IP4] == key_offset;
}

/* The rules that can have one; of rules keyed by different addresses those like the first. */
static u32 choose(struct baleen_config *config)
{
	u32 chosen = 0, n_tables = 0, n_others = 0;

	for (u32 i = 0; i < config->n_rules; i++) {
		const struct baleen_rule *rule = &config->rule[i];

		if (!chosen)
			config->prefilter_key_offset = rule->key_offset[BALEEN_IP4];
		if (!is_like(rule, config->prefilter_key_offset)) {
			n_others++;
			continue;
		}
		chosen |= 1u << i;
		n_tables += rule->image.table[BALEEN_IP4].kind != BALEEN_KIND_NONE;
	}
	return n_tables < LEAST_TABLES || n_others > MOST_OTHERS ? 0 : chosen;
}

/* Those of IPv6 do not count. */
static bool has_recent(const struct baleen_filter *filter)
{
	return filter->n_recent && baleen_recent_head(filter)->word[0];
}

static int make(struct baleen_config *config, u32 chosen, struct baleen_loaded *loaded)
{
	struct baleen_filter filter[BALEEN_MAX_RULES] = { 0 }, prefilter;
	bool is_disabled = false;
	u32 n = 0;
	int err = 0;

	for (u32 i = 0; i < config->n_rules && !err; i++) {
		if (!(chosen >> i & 1))
			continue;
		err = baleen_load_view(loaded->rule_fd[i], &config->rule[i].image,
				       config->recent_buckets[i], PROT_READ, &filter[n]);
		if (!err)
			is_disabled |= has_recent(&filter[n++]);
	}
	if (!err)
		err = baleen_prefilter_build(filter, n, &prefilter);
	while (n)
		baleen_filter_free(&filter[--n]);
	if (err)
		return err;
	err = baleen_load_prefilter_map(&prefilter, is_disabled, &loaded->prefilter_fd);
	if (!err)
		config->prefilter = prefilter.image;
	baleen_filter_free(&prefilter);
	return err;
}

void baleen_prefilter_rules(struct baleen_config *config, struct baleen_loaded *loaded)
{
	u32 chosen = choose(config);

	config->prefilter = (struct baleen_image){ 0 };
	config->prefilter_rules = 0;
	if (chosen && !make(config, chosen, loaded))
		config->prefilter_rules = chosen;
	else
		config->prefilter_key_offset = 0;
}
