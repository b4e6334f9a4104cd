// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rings of hosts, and which of them may take a generation. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "set/rollout.h"
#include "util/duration.h"

#define DEFAULT_RINGS "1:1h,10:4h,50:12h,100:1h"
#define PLACE_BYTES 16
#define MAX_TEXT 256

const char *baleen_set_rollout_refuse(const struct baleen_set_rollout *rollout)
{
	u32 percent = 0;

	if (rollout->n_canaries > BALEEN_SET_CANARIES_MAX)
		return "more than 1000 canaries";
	if (!rollout->n_rings)
		return rollout->n_canaries ? "canaries are for rings" : NULL;
	for (u32 i = 0; i < rollout->n_rings; i++) {
		const struct baleen_set_ring *ring = &rollout->ring[i];

		if (ring->percent <= percent || ring->percent > 100)
			return "percents ascend, from 1 to 100";
		if (ring->soak_s > BALEEN_SET_SOAK_MAX_S)
			return "a soak time is 30 days at most";
		percent = ring->percent;
	}
	return percent == 100 ? NULL : "the last ring has 100 percent";
}

static const char *parse_ring(const char *text, struct baleen_set_ring *ring)
{
	char *end;
	u64 soak_ms = 0;

	ring->percent = strtoul(text, &end, 10);
	if (end == text || *text == '-' || (*end && *end != ':'))
		return "not percents and soak times such as 1:1h,10:4h,100";
	if (*end && (baleen_duration_parse(end + 1, &soak_ms) || soak_ms % 1000))
		return "a soak time is whole seconds, such as 30s, 1h or 2d";
	if (soak_ms > BALEEN_SET_SOAK_MAX_S * 1000ull)
		return "a soak time is 30 days at most";
	ring->soak_s = soak_ms / 1000;
	return NULL;
}

const char *baleen_set_rollout_parse(const char *text, struct baleen_set_rollout *rollout)
{
	struct baleen_set_rollout read = { .n_canaries = rollout->n_canaries };
	char copy[MAX_TEXT], *rest = NULL;
	const char *why = NULL;

	if (!strcmp(text, "default"))
		text = DEFAULT_RINGS;
	if (strlen(text) >= sizeof(copy))
		return "too long";
	strcpy(copy, strcmp(text, "none") ? text : "");
	for (char *word = strtok_r(copy, ",", &rest); word && !why;
	     word = strtok_r(NULL, ",", &rest)) {
		if (read.n_rings == BALEEN_SET_RINGS)
			return "more than 8 rings";
		why = parse_ring(word, &read.ring[read.n_rings++]);
	}
	if (!why && !read.n_rings && strcmp(text, "none"))
		why = "no ring";
	if (!why && read.n_rings)
		why = baleen_set_rollout_refuse(&read);
	if (!why)
		*rollout = read;
	return why;
}

u32 baleen_set_place(const char *list, const char *host)
{
	crypto_generichash_state state;
	u8 hash[PLACE_BYTES];

	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	crypto_generichash_update(&state, (const u8 *)list, strlen(list));
	crypto_generichash_update(&state, (const u8 *)" ", 1);
	crypto_generichash_update(&state, (const u8 *)host, strlen(host));
	crypto_generichash_final(&state, hash, sizeof(hash));
	return (u32)hash[0] << 24 | hash[1] << 16 | hash[2] << 8 | hash[3];
}

u32 baleen_set_ring_of(const struct baleen_set_rollout *rollout, const char *list, const char *host,
		       u32 wanted)
{
	u64 place = baleen_set_place(list, host);
	u32 ring = 1;

	if (!rollout->n_rings)
		return 0;
	if (wanted)
		return wanted < rollout->n_rings ? wanted : rollout->n_rings;
	while (ring < rollout->n_rings && place * 100 >= (u64)rollout->ring[ring - 1].percent << 32)
		ring++;
	return ring;
}

u64 baleen_set_ring_due_s(const struct baleen_set_rollout *rollout, u64 created_s, u32 ring)
{
	u64 due_s = created_s;

	for (u32 i = 0; i + 1 < ring && i < rollout->n_rings; i++)
		due_s += rollout->ring[i].soak_s;
	return due_s;
}

enum baleen_rollout_step baleen_rollout_decide(const struct baleen_rollout_view *view)
{
	if (view->is_held)
		return BALEEN_ROLLOUT_HELD;
	if (view->is_released)
		return BALEEN_ROLLOUT_GO;
	if (view->n_vetoes)
		return BALEEN_ROLLOUT_VETO;
	if (view->ring <= 1)
		return BALEEN_ROLLOUT_GO;
	if (view->now_s < baleen_set_ring_due_s(view->rollout, view->created_s, view->ring))
		return BALEEN_ROLLOUT_RING;
	if (view->has_fleet && view->n_ok < view->rollout->n_canaries)
		return BALEEN_ROLLOUT_CANARIES;
	return BALEEN_ROLLOUT_GO;
}
