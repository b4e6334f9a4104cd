// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The outcome of a message. */
#include <stdlib.h>

#include "fleet/fleet_result.h"

const char *baleen_fleet_cause_name(u32 cause)
{
	static const char *const names[] = { "none",	  "form", "fleet",  "publisher",
					     "signature", "time", "replay", "clone",
					     "right",	  "full", "held" };

	return cause < BALEEN_FLEET_N_CAUSES ? names[cause] : "unknown";
}

void baleen_fleet_result_free(struct baleen_fleet_result *result)
{
	free(result->effect);
	result->effect = NULL;
	result->n_effects = 0;
}
