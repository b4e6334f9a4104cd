// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy of a fleet: read from text. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fleet/fleet_keys.h"
#include "fleet/fleet_policy.h"
#include "util/array.h"
#include "util/duration.h"
#include "util/number.h"

#define MAX_WORDS 16
#define MAX_LINE 1024

/**
 * struct parser - where the reading has come to
 * @name: name of the file
 * @number: number of the line
 * @line: the line, cut into words
 * @word: them, behind the first one
 * @n_words: how many, without the first one
 * @given: statements that the pattern at hand has had, by index
 * @policy: what was read
 * @error: filled in on failure
 */
struct parser {
	const char *name;
	u64 number;
	char line[MAX_LINE];
	char *word[MAX_WORDS];
	u32 n_words;
	u32 given;
	struct baleen_fleet_policy *policy;
	struct baleen_error *error;
};

static int refuse(struct parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int refuse(struct parser *parser, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return baleen_fail(parser->error, EINVAL, "%.400s:%llu: %s", parser->name,
			   (unsigned long long)parser->number, text);
}

static struct baleen_fleet_grant *last_grant(struct parser *parser)
{
	return &parser->policy->grant[parser->policy->n_grants - 1];
}

static int take_count(struct parser *parser, const char *what, const char *text, u64 *count)
{
	if (baleen_count_parse(text, count))
		return refuse(parser, "%s '%.64s': not a count such as 10000 or 10k", what, text);
	return 0;
}

/* --- statements ------------------------------------------------------------ */

static int parse_fleet(struct parser *parser)
{
	if (parser->policy->fleet[0])
		return refuse(parser, "fleet is given twice");
	if (!baleen_fleet_name_is(parser->word[0]))
		return refuse(parser,
			      "fleet '%.64s': a name has 1 to %d of a-z, 0-9, '.', '_', '-'",
			      parser->word[0], BALEEN_FLEET_NAME_BYTES - 1);
	strcpy(parser->policy->fleet, parser->word[0]);
	return 0;
}

static int parse_serial(struct parser *parser)
{
	if (parser->policy->serial)
		return refuse(parser, "serial is given twice");
	return take_count(parser, "serial", parser->word[0], &parser->policy->serial);
}

/* The end of a day, by UTC. */
static int parse_expires(struct parser *parser)
{
	struct tm day = { 0 };
	const char *end = strptime(parser->word[0], "%Y-%m-%d", &day);
	time_t midnight;
	int day_of_month;

	if (parser->policy->expires_ms)
		return refuse(parser, "expires is given twice");
	day_of_month = day.tm_mday;
	midnight = end && !*end ? timegm(&day) : -1;
	/* 31 April has become 1 May. */
	if (midnight <= 0 || day.tm_mday != day_of_month)
		return refuse(parser, "expires '%.64s': not a day such as 2027-06-30",
			      parser->word[0]);
	parser->policy->expires_ms = (midnight + 86400ull) * 1000;
	return 0;
}

static int parse_never(struct parser *parser)
{
	struct baleen_fleet_policy *policy = parser->policy;
	struct baleen_fleet_key key;

	for (u32 i = 0; i < parser->n_words; i++) {
		if (baleen_fleet_key_parse(parser->word[i], &key))
			return refuse(parser, "never '%.64s': no address or prefix",
				      parser->word[i]);
		if (baleen_array_add(&policy->never, policy->n_never))
			return baleen_no_memory(parser->error);
		policy->never[policy->n_never++] = key;
	}
	return 0;
}

/* A host is a publisher without an origin. */
static bool is_host(const char *name)
{
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];

	return !strchr(name, '/') &&
	       snprintf(publisher, sizeof(publisher), "%s/o", name) < (int)sizeof(publisher) &&
	       baleen_fleet_publisher_is(publisher);
}

static int parse_host(struct parser *parser)
{
	struct baleen_fleet_policy *policy = parser->policy;
	struct baleen_fleet_host host = { 0 };

	if (!is_host(parser->word[0]))
		return refuse(parser, "host '%.64s': not the name of a host", parser->word[0]);
	for (size_t i = 0; i < policy->n_hosts; i++)
		if (!strcmp(policy->host[i].name, parser->word[0]))
			return refuse(parser, "host %s is given twice", parser->word[0]);
	if (baleen_fleet_public_parse(parser->word[1], host.public_key))
		return refuse(parser,
			      "host %s: '%.64s' is not a public key: 44 characters of base64",
			      parser->word[0], parser->word[1]);
	strcpy(host.name, parser->word[0]);
	if (baleen_array_add(&policy->host, policy->n_hosts))
		return baleen_no_memory(parser->error);
	policy->host[policy->n_hosts++] = host;
	return 0;
}

/* With the stars taken for letters it is the name of a publisher. */
static bool is_pattern(const char *text)
{
	char name[BALEEN_FLEET_PUBLISHER_BYTES];

	if (strlen(text) >= sizeof(name))
		return false;
	strcpy(name, text);
	for (char *at = name; *at; at++)
		*at = *at == '*' ? 'x' : *at;
	return baleen_fleet_publisher_is(name);
}

static int parse_publisher(struct parser *parser)
{
	struct baleen_fleet_policy *policy = parser->policy;
	struct baleen_fleet_grant grant = { .n_sets = 1,
					    .set = { BALEEN_FLEET_SET },
					    .rate = BALEEN_FLEET_RATE,
					    .rate_ms = BALEEN_FLEET_RATE_MS,
					    .entries = BALEEN_FLEET_ENTRIES,
					    .shortest_ip4 = BALEEN_FLEET_SHORTEST_IP4,
					    .shortest_ip6 = BALEEN_FLEET_SHORTEST_IP6,
					    .coverage = BALEEN_FLEET_COVERAGE,
					    .max_ttl_ms = BALEEN_FLEET_TTL_MS };

	if (!is_pattern(parser->word[0]))
		return refuse(parser, "publisher '%.64s': not HOST/ORIGIN, which may have stars",
			      parser->word[0]);
	for (size_t i = 0; i < policy->n_grants; i++)
		if (!strcmp(policy->grant[i].pattern, parser->word[0]))
			return refuse(parser, "publisher %s is given twice", parser->word[0]);
	strcpy(grant.pattern, parser->word[0]);
	if (baleen_array_add(&policy->grant, policy->n_grants))
		return baleen_no_memory(parser->error);
	policy->grant[policy->n_grants++] = grant;
	parser->given = 0;
	return 0;
}

static int parse_sets(struct parser *parser)
{
	struct baleen_fleet_grant *grant = last_grant(parser);

	if (parser->n_words > BALEEN_FLEET_MAX_SETS)
		return refuse(parser, "sets: more than %d", BALEEN_FLEET_MAX_SETS);
	for (u32 i = 0; i < parser->n_words; i++) {
		if (!baleen_fleet_name_is(parser->word[i]))
			return refuse(parser, "sets: '%.64s' is not the name of a set",
				      parser->word[i]);
		strcpy(grant->set[i], parser->word[i]);
	}
	grant->n_sets = parser->n_words;
	return 0;
}

static int parse_rate(struct parser *parser)
{
	static const struct {
		const char *unit;
		u64 ms;
	} units[] = { { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
	struct baleen_fleet_grant *grant = last_grant(parser);
	char *slash = strchr(parser->word[0], '/');

	for (u32 i = 0; slash && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(slash + 1, units[i].unit))
			continue;
		*slash = '\0';
		grant->rate_ms = units[i].ms;
		return take_count(parser, "rate", parser->word[0], &grant->rate);
	}
	return refuse(parser, "rate '%.64s': not N/s, N/m or N/h", parser->word[0]);
}

static int parse_entries(struct parser *parser)
{
	u64 n;
	int err = take_count(parser, "entries", parser->word[0], &n);

	if (err)
		return err;
	if (n > BALEEN_FLEET_LIVE_MAX)
		return refuse(parser, "entries: more than %d", BALEEN_FLEET_LIVE_MAX);
	last_grant(parser)->entries = n;
	return 0;
}

static int take_length(struct parser *parser, const char *text, u32 most, u32 *length)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || n > most)
		return refuse(parser, "shortest-prefix '%.64s': not a length from 0 to %u", text,
			      most);
	*length = n;
	return 0;
}

static int parse_shortest(struct parser *parser)
{
	struct baleen_fleet_grant *grant = last_grant(parser);
	int err = take_length(parser, parser->word[0], 32, &grant->shortest_ip4);

	return err ? err : take_length(parser, parser->word[1], 128, &grant->shortest_ip6);
}

static int parse_coverage(struct parser *parser)
{
	return take_count(parser, "coverage", parser->word[0], &last_grant(parser)->coverage);
}

static int parse_ttl(struct parser *parser)
{
	u64 ms;

	if (baleen_duration_parse(parser->word[0], &ms) || ms < 1000 ||
	    ms > BALEEN_FLEET_MAX_TTL_MS)
		return refuse(parser, "max-ttl '%.64s': not a time from 1s to 30d such as 24h",
			      parser->word[0]);
	last_grant(parser)->max_ttl_ms = ms;
	return 0;
}

/* A pardon is of HOST/control: a right that nobody could use would look like one. */
static bool fits_control(const struct baleen_fleet_grant *grant)
{
	return !fnmatch(strchr(grant->pattern, '/') + 1, BALEEN_FLEET_CONTROL_ORIGIN, FNM_NOESCAPE);
}

static int parse_may(struct parser *parser)
{
	for (u32 i = 0; i < parser->n_words; i++) {
		if (!strcmp(parser->word[i], "pardon"))
			last_grant(parser)->may_pardon = true;
		else if (!strcmp(parser->word[i], "suspend"))
			last_grant(parser)->may_suspend = true;
		else if (!strcmp(parser->word[i], "signal"))
			last_grant(parser)->may_signal = true;
		else
			return refuse(parser, "may '%.64s': only pardon, suspend and signal",
				      parser->word[i]);
	}
	if ((last_grant(parser)->may_pardon || last_grant(parser)->may_suspend) &&
	    !fits_control(last_grant(parser)))
		return refuse(parser,
			      "may pardon, suspend: of HOST/" BALEEN_FLEET_CONTROL_ORIGIN
			      " alone, and not of %s",
			      last_grant(parser)->pattern);
	return 0;
}

/**
 * struct statement - one sort of line
 * @name: its first word
 * @least: words behind it
 * @most: words behind it
 * @in_publisher: it stands behind a publisher, once
 * @parse: reads it
 */
static const struct statement {
	const char *name;
	u32 least;
	u32 most;
	bool in_publisher;
	int (*parse)(struct parser *parser);
} statements[] = {
	{ "fleet", 1, 1, false, parse_fleet },
	{ "serial", 1, 1, false, parse_serial },
	{ "expires", 1, 1, false, parse_expires },
	{ "never", 1, MAX_WORDS, false, parse_never },
	{ "host", 2, 2, false, parse_host },
	{ "publisher", 1, 1, false, parse_publisher },
	{ "sets", 1, MAX_WORDS, true, parse_sets },
	{ "rate", 1, 1, true, parse_rate },
	{ "entries", 1, 1, true, parse_entries },
	{ "shortest-prefix", 2, 2, true, parse_shortest },
	{ "coverage", 1, 1, true, parse_coverage },
	{ "max-ttl", 1, 1, true, parse_ttl },
	{ "may", 1, 3, true, parse_may },
};

#define N_STATEMENTS (sizeof(statements) / sizeof(*statements))

static int parse_statement(struct parser *parser, const char *first)
{
	const struct statement *statement = statements;
	u32 i = 0;

	while (i < N_STATEMENTS && strcmp(statements[i].name, first))
		i++;
	if (i == N_STATEMENTS)
		return refuse(parser, "'%.64s': not a statement of a policy", first);
	statement = &statements[i];
	if (!parser->policy->fleet[0] && statement->parse != parse_fleet)
		return refuse(parser, "the first statement is not fleet");
	if (parser->n_words < statement->least || parser->n_words > statement->most)
		return refuse(parser, "%s: %s", first,
			      parser->n_words ? "too many words, or too few" :
						"its value is missing");
	if (statement->in_publisher && !parser->policy->n_grants)
		return refuse(parser, "%s stands before the first publisher", first);
	if (statement->in_publisher && parser->given & 1u << i)
		return refuse(parser, "%s is given twice", first);
	if (statement->in_publisher)
		parser->given |= 1u << i;
	return statement->parse(parser);
}

/* --- lines ----------------------------------------------------------------- */

static int parse_line(struct parser *parser, const char *text, size_t length)
{
	char *at, *first = NULL, *save;

	if (length >= sizeof(parser->line))
		return refuse(parser, "a line of more than %zu bytes", sizeof(parser->line) - 1);
	if (memchr(text, '\0', length))
		return refuse(parser, "a NUL byte");
	memcpy(parser->line, text, length);
	parser->line[length] = '\0';
	parser->line[strcspn(parser->line, "#")] = '\0';
	parser->n_words = 0;
	for (at = strtok_r(parser->line, " \t\r", &save); at; at = strtok_r(NULL, " \t\r", &save)) {
		if (!first)
			first = at;
		else if (parser->n_words == MAX_WORDS)
			return refuse(parser, "more than %d words", MAX_WORDS + 1);
		else
			parser->word[parser->n_words++] = at;
	}
	return first ? parse_statement(parser, first) : 0;
}

static int parse_all(struct parser *parser, const char *text, size_t n_bytes)
{
	const char *end = text + n_bytes;
	int err = 0;

	while (text < end && !err) {
		const char *stop = memchr(text, '\n', end - text);

		parser->number++;
		err = parse_line(parser, text, (stop ? stop : end) - text);
		text = stop ? stop + 1 : end;
	}
	if (err)
		return err;
	if (!parser->policy->fleet[0])
		return baleen_fail(parser->error, EINVAL, "%.400s: no statement fleet",
				   parser->name);
	if (!parser->policy->serial)
		return baleen_fail(parser->error, EINVAL, "%.400s: no statement serial",
				   parser->name);
	return 0;
}

int baleen_fleet_policy_parse(const char *text, size_t n_bytes, const char *name,
			      struct baleen_fleet_policy *policy, struct baleen_error *error)
{
	struct baleen_fleet_policy read = { 0 };
	struct parser parser = { .name = name, .policy = &read, .error = error };
	int err = parse_all(&parser, text, n_bytes);

	if (err)
		baleen_fleet_policy_free(&read);
	else
		*policy = read;
	return err;
}

void baleen_fleet_policy_free(struct baleen_fleet_policy *policy)
{
	free(policy->never);
	free(policy->host);
	free(policy->grant);
	memset(policy, 0, sizeof(*policy));
}

/* --- questions ------------------------------------------------------------- */

const u8 *baleen_fleet_policy_key(const struct baleen_fleet_policy *policy, const char *publisher)
{
	size_t n_host = strcspn(publisher, "/");

	for (size_t i = 0; i < policy->n_hosts; i++) {
		const char *name = policy->host[i].name;

		if (strlen(name) == n_host && !memcmp(name, publisher, n_host))
			return policy->host[i].public_key;
	}
	return NULL;
}

const struct baleen_fleet_grant *baleen_fleet_policy_grant(const struct baleen_fleet_policy *policy,
							   const char *publisher)
{
	for (size_t i = 0; i < policy->n_grants; i++)
		if (!fnmatch(policy->grant[i].pattern, publisher, FNM_PATHNAME | FNM_NOESCAPE))
			return &policy->grant[i];
	return NULL;
}

bool baleen_fleet_policy_never(const struct baleen_fleet_policy *policy,
			       const struct baleen_fleet_key *key)
{
	for (size_t i = 0; i < policy->n_never; i++)
		if (baleen_fleet_key_covers(&policy->never[i], key))
			return true;
	return false;
}

bool baleen_fleet_grant_may(const struct baleen_fleet_grant *grant, u32 control)
{
	return control == BALEEN_FLEET_SIGNAL ? grant->may_signal : grant->may_suspend;
}

const char *baleen_fleet_right_name(u32 control)
{
	return control == BALEEN_FLEET_SIGNAL ? "signal" : "suspend";
}
