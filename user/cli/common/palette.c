// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The colours of pictures: each kind of filter has one, in every picture. */
#include <string.h>

#include "cli/common/palette.h"

struct colour {
	const char *name, *light, *dark;
};

/* Found by a search for the largest of the least distances, near hues that have been chosen. The
 * last one is that of all other names.
 */
static const struct colour kinds[] = {
	{ "bloom", "#2462f3", "#9ccdf9" },    { "classic", "#a0100d", "#d4981d" },
	{ "counting", "#e71fb8", "#c813ab" }, { "cuckoo", "#36a25c", "#54ffaa" },
	{ "quotient", "#c0830c", "#fcfe5c" }, { "chained", "#090756", "#a420fc" },
	{ "compact", "#351422", "#e7314e" },  { "other", "#666666", "#aaaaaa" },
};

static const struct colour keys[PALETTE_KEYS] = {
	{ "k0", "#671e04", "#c74414" }, { "k1", "#0821fb", "#cbecf6" },
	{ "k2", "#2a9f87", "#07fe99" }, { "k3", "#f220de", "#a357fb" },
	{ "k4", "#ad8714", "#f6da20" }, { "k5", "#091b2b", "#0a857a" },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

const char *palette_class(const char *name)
{
	u32 i = 0;

	/* The formulas of the literature are of classic filters, whose name there is Bloom's. */
	if (!strcmp(name, "Bloom"))
		return "classic";
	while (i < N_KINDS - 1 && strcmp(kinds[i].name, name))
		i++;
	return kinds[i].name;
}

static void print_rules(FILE *stream, const struct colour *colours, u32 n, bool is_dark)
{
	for (u32 i = 0; i < n; i++)
		fprintf(stream, ".%s{color:%s}", colours[i].name,
			is_dark ? colours[i].dark : colours[i].light);
}

void palette_print(FILE *stream)
{
	fputs(".ground{fill:#fff}text{fill:#1a1a1a}.faint{fill:#555}", stream);
	print_rules(stream, kinds, N_KINDS, false);
	print_rules(stream, keys, PALETTE_KEYS, false);
	fputs("\n@media(prefers-color-scheme:dark){"
	      ".ground{fill:#1a1a1a}text{fill:#eee}.faint{fill:#bbb}",
	      stream);
	print_rules(stream, kinds, N_KINDS, true);
	print_rules(stream, keys, PALETTE_KEYS, true);
	fputs("}\n", stream);
}
