// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Formats of publishers that are known by a name. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "list/list_format.h"

/* Each has a file of it in tests/cli/inputs.table, with where it comes from. */
static const struct baleen_list_format formats[] = {
	{ "abuseipdb", ".data[].ipAddress", '\0' },
	{ "atlassian", ".items[].cidr", '\0' },
	{ "aws", ".prefixes[].ip_prefix,.ipv6_prefixes[].ipv6_prefix", '\0' },
	{ "azure", ".values[].properties.addressPrefixes[]", '\0' },
	{ "cloudflare", ".result.ipv4_cidrs[],.result.ipv6_cidrs[]", '\0' },
	{ "crowdsec", ".[].value", '\0' },
	{ "cscli", ".[].decisions[].value", '\0' },
	{ "dshield", "1-2", '\t' },
	{ "fastly", ".addresses[],.ipv6_addresses[]", '\0' },
	{ "geofeed", "1", ',' },
	{ "github-actions", ".actions[]", '\0' },
	{ "github-hooks", ".hooks[]", '\0' },
	{ "google", ".prefixes[].ipv4Prefix,.prefixes[].ipv6Prefix", '\0' },
	{ "misp", "value", ',' },
	{ "oracle", ".regions[].cidrs[].cidr", '\0' },
	{ "spamhaus", ".cidr", '\0' },
};

const struct baleen_list_format *baleen_list_format_find(const char *name,
							 struct baleen_error *error)
{
	const size_t n = sizeof(formats) / sizeof(formats[0]);
	char names[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	for (size_t i = 0; i < n && used < sizeof(names); i++)
		used += snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
				 formats[i].name);
	baleen_fail(error, EINVAL, "no format '%.64s': there are %s", name, names);
	return NULL;
}

int baleen_list_format_resolve(const struct baleen_csv_options *options,
			       struct baleen_csv_options *resolved, struct baleen_error *error)
{
	const struct baleen_list_format *format;

	*resolved = *options;
	if (!options->column || *options->column != '@')
		return 0;
	format = baleen_list_format_find(options->column + 1, error);
	if (!format)
		return -EINVAL;
	resolved->column = format->column;
	if (!resolved->delimiter)
		resolved->delimiter = format->delimiter;
	return 0;
}
