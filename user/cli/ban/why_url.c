// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Answers for caches that are asked for a URL, and why. */
#include <string.h>

#include "cli/ban/why_url.h"
#include "icp/icp_opinion.h"
#include "key/squid_key.h"
#include "util/duration.h"

/**
 * struct asking - the URLs that are asked about
 * @url: they
 * @n: how many
 * @all: descriptions, appended to; NULL for text
 * @n_siblings: caches that were found
 * @result: exit code so far
 */
struct asking {
	char *const *url;
	u32 n;
	json_t *all;
	u32 n_siblings;
	int result;
};

bool why_is_url(const char *text)
{
	return strstr(text, "://");
}

static json_t *describe(const struct baleen_icp *icp, u32 n, const char *url,
			const struct baleen_icp_opinion *opinion)
{
	bool is_answered =
		opinion->says == BALEEN_ICP_SAYS_HIT || opinion->says == BALEEN_ICP_SAYS_MISS;
	json_t *json = json_object();

	json_object_set_new(json, "device", json_text(icp->device));
	json_object_set_new(json, "sibling", json_string(icp->now.config.sibling[n].name));
	json_object_set_new(json, "url", json_text(url));
	json_object_set_new(json, "answer",
			    !is_answered ?
				    json_null() :
				    json_string(opinion->says == BALEEN_ICP_SAYS_HIT ? "hit" :
										       "miss"));
	json_object_set_new(json, "has", json_boolean(opinion->has));
	json_object_set_new(json, "fresh_s",
			    opinion->fresh_s ? json_integer(opinion->fresh_s) : json_null());
	json_object_set_new(json, "why", json_string(baleen_icp_says_text(opinion->says)));
	return json;
}

static void print(const struct baleen_icp *icp, u32 n, const char *url,
		  const struct baleen_icp_opinion *opinion)
{
	char span[BALEEN_DURATION_TEXT];

	say("%s:%s: %s: %s; its filter has it%s", icp->device, icp->now.config.sibling[n].name, url,
	    baleen_icp_says_text(opinion->says), opinion->has ? "" : " not");
	if (opinion->fresh_s)
		say(", fresh for %s", format_span(opinion->fresh_s * 1000, span));
	putchar('\n');
}

static void tell(const struct baleen_icp *icp, u32 n, const char *url, struct asking *asking)
{
	struct baleen_icp_opinion opinion;
	struct baleen_error error;
	struct baleen_key key;

	baleen_squid_key_url(url, strlen(url), &key);
	if (baleen_icp_opinion(icp, n, &key, &opinion, &error))
		asking->result = complain("%s", error.text);
	else if (asking->all)
		json_array_append_new(asking->all, describe(icp, n, url, &opinion));
	else
		print(icp, n, url, &opinion);
}

static void tell_all(const struct baleen_icp *icp, struct asking *asking)
{
	for (u32 n = 0; n < icp->now.config.n_siblings; n++) {
		asking->n_siblings++;
		for (u32 i = 0; i < asking->n; i++)
			tell(icp, n, asking->url[i], asking);
	}
}

static int visit(const struct baleen_pins *pins, void *data)
{
	struct baleen_icp icp;

	if (!baleen_icp_open_pins(&icp, pins, NULL)) {
		tell_all(&icp, data);
		baleen_icp_close(&icp);
	}
	return 0;
}

static int check_urls(const struct asking *asking)
{
	for (u32 i = 0; i < asking->n; i++)
		if (!why_is_url(asking->url[i]))
			return complain("'%s': not a URL, as the one before", asking->url[i]);
	return 0;
}

int why_urls(const char *device, char *const *url, u32 n, json_t *all)
{
	struct asking asking = { .url = url, .n = n, .all = all, .result = EXIT_DONE };
	struct baleen_error error;
	struct baleen_icp icp;

	if (check_urls(&asking))
		return EXIT_FAILED;
	if (!device && baleen_icp_each(visit, &asking, &error))
		return complain("%s", error.text);
	if (device && baleen_icp_open(&icp, device, false, &error))
		return complain("%s", error.text);
	if (device) {
		tell_all(&icp, &asking);
		baleen_icp_close(&icp);
	}
	if (!asking.n_siblings)
		return complain("no device here answers for caches: 'baleen icp attach' does");
	return asking.result;
}
