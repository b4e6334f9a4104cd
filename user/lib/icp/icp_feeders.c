// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which of a sibling's feeders a source of its objects is of. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "icp/icp_feeders.h"
#include "util/url.h"

/* The address of a host as numbers, IPv4 mapped; false for a name. */
static bool parse_host(const char *host, u64 *hi, u64 *lo)
{
	char text[INET6_ADDRSTRLEN + 2];
	struct in6_addr ip6;
	struct in_addr ip4;
	u64 words[2];

	if (inet_pton(AF_INET, host, &ip4) == 1) {
		*hi = 0;
		*lo = 0xffff00000000ull | ntohl(ip4.s_addr);
		return true;
	}
	snprintf(text, sizeof(text), "%s", host[0] == '[' ? host + 1 : host);
	text[strcspn(text, "]")] = '\0';
	if (inet_pton(AF_INET6, text, &ip6) != 1)
		return false;
	memcpy(words, &ip6, sizeof(words));
	*hi = baleen_be64(words[0]);
	*lo = baleen_be64(words[1]);
	return true;
}

static bool host_of(const char *url, u64 *hi, u64 *lo)
{
	char host[INET6_ADDRSTRLEN + 2];

	return baleen_url_host(url, host, sizeof(host)) && parse_host(host, hi, lo);
}

/* The feeder of this address that has no source yet, or -1. */
static int find_feeder(const struct baleen_icp_config *config, u32 feeders, const char *source)
{
	u64 hi, lo;

	if (!host_of(source, &hi, &lo))
		return -1;
	for (u32 i = 0; i < config->n_feeders; i++)
		if (feeders >> i & 1 && config->feeder[i].address_hi == hi &&
		    config->feeder[i].address_lo == lo)
			return i;
	return -1;
}

static bool match_addresses(const struct baleen_icp_config *config, u32 feeders,
			    const char *const *source, u32 n_sources, u32 *feeder)
{
	for (u32 i = 0; i < n_sources; i++) {
		int found = find_feeder(config, feeders, source[i]);

		if (found < 0)
			return false;
		feeder[i] = found;
		feeders &= ~(1u << found);
	}
	return true;
}

int baleen_icp_feeders_match(const struct baleen_icp_config *config, u32 n,
			     const char *const *source, u32 n_sources, u32 *feeder,
			     struct baleen_error *error)
{
	u32 feeders = config->sibling[n].feeders;
	u32 n_feeders = __builtin_popcount(feeders);
	u32 matched[BALEEN_ICP_MAX_FEEDERS];

	if (n_feeders > 1 && n_sources != n_feeders)
		return baleen_fail(error, EINVAL, "it has %u feeders: give a source of each",
				   n_feeders);
	if (n_feeders > 1 && match_addresses(config, feeders, source, n_sources, matched)) {
		memcpy(feeder, matched, n_sources * sizeof(*feeder));
		return 0;
	}
	for (u32 i = 0; i < n_sources; i++) {
		feeder[i] = n_feeders ? (u32)__builtin_ctz(feeders) : i;
		if (n_feeders > 1)
			feeders &= feeders - 1;
	}
	return 0;
}
