// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Siblings, askers and where the feed comes in, as they are typed. */
#include <stdlib.h>
#include <string.h>

#include "cli/icp/icp_words.h"
#include "key/key_text.h"

#define IP4_MAPPED 0xffff00000000ull

/* --- as text --------------------------------------------------------------- */

const char *icp_mode_text(u32 mode)
{
	static const char *const text[BALEEN_ICP_N_MODES] = { "answer", "confirm", "observe" };

	return text[mode];
}

const char *icp_address_text(u64 hi, u64 lo, char *text)
{
	struct baleen_key key = { .domain = BALEEN_IP6, .hi = hi, .lo = lo };

	if (!hi && lo >> 32 == IP4_MAPPED >> 32)
		key = (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = lo };
	baleen_key_format(&key, BALEEN_KEY_SRC, text);
	return text;
}

/* --- one thing ------------------------------------------------------------- */

static const char *read_address(const char *text, u64 *hi, u64 *lo, bool *is_ip4)
{
	struct baleen_key key = { 0 };
	const char *reason;

	if (baleen_address_parse(text, &key, &reason))
		return reason;
	*is_ip4 = key.domain == BALEEN_IP4;
	*hi = *is_ip4 ? 0 : key.hi;
	*lo = *is_ip4 ? IP4_MAPPED | key.ip4 : key.lo;
	return NULL;
}

static const char *read_length(const char *text, u32 most, u32 *length)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 3 || text[digits] || (text[0] == '0' && digits > 1))
		return "the length of a prefix is a number";
	*length = strtoul(text, NULL, 10);
	return *length > most ? "the prefix is longer than the address" : NULL;
}

/* Bits past the length of a prefix are no part of it. */
static u64 head_of(u64 word, u32 n_bits)
{
	return n_bits >= 64 ? word : n_bits ? word & ~0ull << (64 - n_bits) : 0;
}

static void store_be64(u64 word, u8 *bytes)
{
	for (u32 i = 0; i < 8; i++)
		bytes[i] = word >> (56 - 8 * i);
}

static const char *read_prefix(char *text, struct baleen_icp_asker *prefix)
{
	char *slash = strchr(text, '/');
	const char *reason;
	u32 length = 128;
	u64 hi, lo;
	bool is_ip4;

	if (slash)
		*slash = '\0';
	reason = read_address(text, &hi, &lo, &is_ip4);
	if (!reason && slash) {
		reason = read_length(slash + 1, is_ip4 ? 32 : 128, &length);
		length += is_ip4 ? 96 : 0;
	}
	if (slash)
		*slash = '/';
	if (reason)
		return reason;
	if (head_of(hi, length) != hi || head_of(lo, length > 64 ? length - 64 : 0) != lo)
		return "bits past the length of the prefix are set";
	prefix->length = length;
	store_be64(hi, prefix->address);
	store_be64(lo, prefix->address + 8);
	return NULL;
}

static const char *find_feeder(struct baleen_icp_config *config, u64 hi, u64 lo, u32 *n)
{
	for (u32 i = 0; i < config->n_feeders; i++) {
		if (config->feeder[i].address_hi == hi && config->feeder[i].address_lo == lo) {
			*n = i;
			return NULL;
		}
	}
	if (config->n_feeders == BALEEN_ICP_MAX_FEEDERS)
		return "there are 16 feeders already";
	*n = config->n_feeders++;
	config->feeder[*n] = (struct baleen_icp_feeder){ .address_hi = hi, .address_lo = lo };
	return NULL;
}

static const char *parse_feeder(struct baleen_icp_config *config, u32 sibling, const char *text)
{
	const char *reason;
	bool is_ip4;
	u64 hi, lo;
	u32 n = 0;

	reason = read_address(text, &hi, &lo, &is_ip4);
	if (!reason)
		reason = find_feeder(config, hi, lo, &n);
	if (reason)
		return reason;
	config->sibling[sibling].feeders |= 1u << n;
	config->feeder[n].siblings |= 1u << sibling;
	return NULL;
}

/* --- siblings -------------------------------------------------------------- */

static const char *parse_sibling_mode(struct baleen_icp_sibling *sibling, const char *text)
{
	for (u32 mode = 0; mode < BALEEN_ICP_N_MODES; mode++) {
		if (!strcmp(text, icp_mode_text(mode))) {
			sibling->mode = mode;
			return NULL;
		}
	}
	return "not answer, confirm or observe";
}

static const char *parse_image(struct icp_words *words, u32 n, const char *text)
{
	if (!*text)
		return "no image";
	if (words->image[n])
		return "a second image";
	words->image[n] = strdup(text);
	return words->image[n] ? NULL : "no memory";
}

static const char *parse_part(struct icp_words *words, u32 n, const char *part)
{
	struct baleen_icp_config *config = &words->config;

	if (!strncmp(part, "mode=", 5))
		return parse_sibling_mode(&config->sibling[n], part + 5);
	if (!strncmp(part, "image=", 6))
		return parse_image(words, n, part + 6);
	if (!strncmp(part, "feeder=", 7))
		return parse_feeder(config, n, part + 7);
	return "neither mode=, image= nor feeder=";
}

static const char *parse_name(struct baleen_icp_sibling *sibling, char *word, const char **at)
{
	char *equals = strchr(word, '=');
	bool is_ip4;

	*at = word;
	if (!equals)
		return "not NAME=ADDRESS";
	*equals = '\0';
	if (baleen_rule_name_check(word))
		return "not a name: up to 31 of A-Z a-z 0-9 . _ -";
	snprintf(sibling->name, sizeof(sibling->name), "%s", word);
	*at = equals + 1;
	return read_address(equals + 1, &sibling->address_hi, &sibling->address_lo, &is_ip4);
}

static const char *check_twice(const struct baleen_icp_config *config, u32 n, const char **at)
{
	const struct baleen_icp_sibling *sibling = &config->sibling[n];

	for (u32 i = 0; i < n; i++) {
		if (!strcmp(config->sibling[i].name, sibling->name)) {
			*at = sibling->name;
			return "the name of a sibling before";
		}
		if (config->sibling[i].address_hi == sibling->address_hi &&
		    config->sibling[i].address_lo == sibling->address_lo)
			return "the address of a sibling before";
	}
	return NULL;
}

static const char *parse_words(struct icp_words *words, char *text, const char **at)
{
	struct baleen_icp_config *config = &words->config;
	u32 n = config->n_siblings;
	const char *reason;
	char *rest = text;

	config->sibling[n].mode = BALEEN_ICP_CONFIRM;
	reason = parse_name(&config->sibling[n], strsep(&rest, ","), at);
	if (!reason)
		reason = check_twice(config, n, at);
	while (!reason && rest) {
		*at = strsep(&rest, ",");
		reason = parse_part(words, n, *at);
	}
	return reason;
}

int icp_words_sibling(const struct option_use *use)
{
	struct icp_words *words = use->to;
	struct baleen_icp_config *config = &words->config;
	const char *reason, *at = "";
	char *text;
	int err = 0;

	if (config->n_siblings == BALEEN_ICP_MAX_SIBLINGS)
		return complain_usage(use->command, "--sibling %s: there are %d already",
				      use->argument, BALEEN_ICP_MAX_SIBLINGS);
	text = strdup(use->argument);
	reason = text ? parse_words(words, text, &at) : "no memory";
	if (reason)
		err = complain_usage(use->command, "--sibling %s: '%s': %s", use->argument, at,
				     reason);
	else
		config->n_siblings++;
	free(text);
	return err;
}

void icp_words_free(struct icp_words *words)
{
	for (u32 i = 0; i < BALEEN_ICP_MAX_SIBLINGS; i++)
		free(words->image[i]);
}

/* --- askers ---------------------------------------------------------------- */

int icp_words_asker(const struct option_use *use)
{
	struct icp_words *words = use->to;
	char *text = strdup(use->argument), *rest = text, *word;
	const char *reason = text ? NULL : "no memory";
	int err = 0;

	while (!reason && (word = strsep(&rest, ","))) {
		struct baleen_icp_grant *asker = &words->asker[words->n_askers];

		if (words->n_askers == MAX_ASKERS) {
			reason = "there are 256 prefixes already";
			break;
		}
		reason = read_prefix(word, &asker->prefix);
		if (reason)
			err = complain_usage(use->command, "--asker '%s': %s", word, reason);
		words->n_askers++;
	}
	if (reason && !err)
		err = complain_usage(use->command, "--asker %s: %s", use->argument, reason);
	free(text);
	return err;
}

/* --- ports ----------------------------------------------------------------- */

static int parse_port(const struct option_use *use, const char *text, u16 *port)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long value = strtoul(text, NULL, 10);

	if (!digits || digits > 5 || text[digits] || !value || value > 0xffff)
		return complain_usage(use->command, "--%s '%s': not a port, 1 to 65535",
				      use->spec->name, text);
	*port = value;
	return 0;
}

int icp_words_port(const struct option_use *use)
{
	struct icp_words *words = use->to;

	return parse_port(use, use->argument, &words->config.port);
}

int icp_words_feed(const struct option_use *use)
{
	struct icp_words *words = use->to;
	const char *colon = strrchr(use->argument, ':');
	size_t length = colon ? colon - use->argument : 0;

	words->feed_device[0] = '\0';
	if (colon && (!length || length >= sizeof(words->feed_device)))
		return option_refuse(use, "not [DEV:]PORT");
	memcpy(words->feed_device, use->argument, length);
	words->feed_device[length] = '\0';
	return parse_port(use, colon ? colon + 1 : use->argument, &words->config.feed_port);
}

/* --- all of it ------------------------------------------------------------- */

int icp_words_check(const struct command *command, struct icp_words *words)
{
	struct baleen_icp_config *config = &words->config;

	if (!config->n_siblings)
		return complain_usage(command, "no --sibling given: nobody to answer for");
	if (!words->n_askers)
		return complain_usage(command, "no --asker given: nobody would be answered");
	for (u32 i = 0; i < config->n_siblings; i++)
		if (!words->image[i] && !config->sibling[i].feeders)
			return complain_usage(
				command,
				"sibling '%s' has neither image= nor feeder=: what it "
				"holds is not known",
				config->sibling[i].name);
	if (config->n_feeders && !config->feed_port)
		return complain_usage(command,
				      "a sibling has a feeder: --feed says where it is heard");
	if (!config->n_feeders && config->feed_port)
		return complain_usage(command, "--feed: no sibling has a feeder=");
	if (config->feed_port == config->port)
		return complain_usage(command, "--feed and --port are both %u", config->port);
	for (u32 i = 0; i < words->n_askers; i++)
		words->asker[i].siblings = (1u << config->n_siblings) - 1;
	return 0;
}
