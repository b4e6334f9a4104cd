// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A manifest of a signed set, and whether this host may take its generation. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "state/entries.h"
#include "state/feed_set_news.h"
#include "state/votes.h"

static const char *host_of(const struct baleen_feed_ask *ask, char *own, size_t n_bytes)
{
	if (ask->site && *ask->site->host)
		return ask->site->host;
	if (gethostname(own, n_bytes - 1))
		*own = '\0';
	own[n_bytes - 1] = '\0';
	return own;
}

u64 baleen_rollout_pace_ms(const struct baleen_set_rollout *rollout)
{
	u64 least_ms = BALEEN_ROLLOUT_PACE_MS;

	for (u32 i = 0; i < rollout->n_rings; i++)
		if (rollout->ring[i].soak_s && rollout->ring[i].soak_s * 100ull < least_ms)
			least_ms = rollout->ring[i].soak_s * 100ull;
	return least_ms < 1000 ? 1000 : least_ms;
}

static void note_veto(struct baleen_feed_rollout *rollout, const struct baleen_votes_count *count)
{
	if (rollout->vetoed == rollout->available || !count->n_vetoes)
		return;
	snprintf(rollout->why, sizeof(rollout->why), "%s: %.180s", count->veto.host,
		 count->veto.reason);
}

/* Words on another generation are over. */
static void begin(struct baleen_feed_rollout *rollout, const struct baleen_set_manifest *manifest)
{
	if (rollout->available == manifest->head.generation)
		return;
	rollout->available = manifest->head.generation;
	if (rollout->phase == BALEEN_PHASE_NONE)
		rollout->why[0] = '\0';
}

static u64 next_ms(const struct baleen_set_news *news, u64 held, u64 now_ms)
{
	const struct baleen_feed_rollout *rollout = &news->rollout;

	if (rollout->available <= held || rollout->step == BALEEN_ROLLOUT_GO ||
	    rollout->step == BALEEN_ROLLOUT_HELD)
		return 0;
	if (rollout->step == BALEEN_ROLLOUT_RING)
		return rollout->due_s * 1000;
	/* Only an operator takes a veto back. */
	return now_ms + baleen_rollout_pace_ms(&news->manifest.rollout) *
				(rollout->step == BALEEN_ROLLOUT_VETO ? 10 : 1);
}

void baleen_set_news_read(const struct baleen_feed_ask *ask, const struct baleen_feed *feed,
			  u64 now_ms, struct baleen_set_news *news)
{
	const struct baleen_set_manifest *manifest = &news->manifest;
	struct baleen_feed_rollout *rollout = &news->rollout;
	struct baleen_votes_count count;
	struct baleen_rollout_view view;
	char own[65];

	*rollout = (struct baleen_feed_rollout){ .available = 0 };
	if (ask->state && feed->id)
		baleen_feed_rollout_get(ask->state, feed->id, rollout);
	begin(rollout, manifest);
	rollout->created_s = manifest->head.created_s;
	rollout->ring = baleen_set_ring_of(&manifest->rollout, manifest->name,
					   host_of(ask, own, sizeof(own)), ask->wanted->ring);
	rollout->n_rings = manifest->rollout.n_rings;
	rollout->due_s =
		baleen_set_ring_due_s(&manifest->rollout, rollout->created_s, rollout->ring);
	baleen_votes_count(manifest->name, &manifest->head, &count);
	rollout->n_ok = count.n_ok;
	rollout->n_canaries = manifest->rollout.n_canaries;
	view = (struct baleen_rollout_view){
		.rollout = &manifest->rollout,
		.created_s = rollout->created_s,
		.now_s = now_ms / 1000,
		.ring = rollout->ring,
		.has_fleet = ask->site && ask->site->has_fleet,
		.n_ok = count.n_ok,
		.n_vetoes = count.n_vetoes + (rollout->vetoed == rollout->available),
		.is_held = rollout->is_held,
		.is_released = rollout->released == rollout->available,
	};
	rollout->step = baleen_rollout_decide(&view);
	if (rollout->step == BALEEN_ROLLOUT_VETO)
		note_veto(rollout, &count);
	news->next_ms = next_ms(news, feed->generation, now_ms);
}

/* --- the plan ----------------------------------------------------------------------- */

/* An operator who lets it come has decided. */
static bool is_canary(const struct baleen_feed_rollout *rollout)
{
	return rollout->ring == 1 && rollout->released != rollout->available;
}

static enum baleen_set_plan plan_first(const struct baleen_set_news *news)
{
	const struct baleen_feed_rollout *rollout = &news->rollout;
	bool goes = rollout->step == BALEEN_ROLLOUT_GO;

	if (goes && !is_canary(rollout))
		return BALEEN_SET_TAKE;
	if (news->manifest.previous)
		return BALEEN_SET_PREVIOUS;
	return goes || rollout->step == BALEEN_ROLLOUT_RING ||
			       rollout->step == BALEEN_ROLLOUT_CANARIES ?
		       BALEEN_SET_TAKE :
		       BALEEN_SET_REFUSE;
}

enum baleen_set_plan baleen_set_news_plan(const struct baleen_feed_ask *ask,
					  const struct baleen_feed *feed, bool has_copy,
					  const struct baleen_set_news *news)
{
	const struct baleen_feed_rollout *rollout = &news->rollout;
	struct baleen_feed next;

	if (!has_copy)
		return plan_first(news);
	if (rollout->step != BALEEN_ROLLOUT_GO || (rollout->n_rings && !ask->rolls_out))
		return BALEEN_SET_STAY;
	if (!is_canary(rollout))
		return BALEEN_SET_TAKE;
	if (rollout->phase == BALEEN_PHASE_TRIAL &&
	    baleen_feed_other(ask->state, feed, BALEEN_COPY_NEXT, &next) &&
	    next.generation == rollout->available)
		return BALEEN_SET_STAY;
	return BALEEN_SET_TRY;
}

/* --- in words ------------------------------------------------------------------------ */

const char *baleen_rollout_text(const struct baleen_feed_rollout *rollout, char *text)
{
	unsigned long long available = rollout->available;

	*text = '\0';
	switch (rollout->step) {
	case BALEEN_ROLLOUT_RING:
		snprintf(text, BALEEN_ROLLOUT_TEXT,
			 "generation %llu waits for ring %u of %u, which is due %s", available,
			 rollout->ring, rollout->n_rings, baleen_set_time(rollout->due_s).text);
		break;
	case BALEEN_ROLLOUT_CANARIES:
		snprintf(text, BALEEN_ROLLOUT_TEXT,
			 "generation %llu waits for canaries: %u of %u said it is good", available,
			 rollout->n_ok, rollout->n_canaries);
		break;
	case BALEEN_ROLLOUT_VETO:
		snprintf(text, BALEEN_ROLLOUT_TEXT, "generation %llu is refused: %s", available,
			 rollout->why);
		break;
	case BALEEN_ROLLOUT_HELD:
		snprintf(text, BALEEN_ROLLOUT_TEXT,
			 "generation %llu is held by the operator (set release lets it come)",
			 available);
		break;
	default: break;
	}
	return text;
}
