// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Siblings, askers and where the feed comes in, as they are typed and configured. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icp/icp_words.h"
#include "key/key_text.h"
#include "util/duration.h"
#include "xdp/ruleset.h"

#define IP4_MAPPED 0xffff00000000ull

/* --- as text --------------------------------------------------------------- */

const char *baleen_icp_mode_text(u32 mode)
{
	static const char *const text[BALEEN_ICP_N_MODES] = { "answer", "confirm", "observe" };

	return text[mode];
}

const char *baleen_icp_address_text(u64 hi, u64 lo, char *text)
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
		if (!strcmp(text, baleen_icp_mode_text(mode))) {
			sibling->mode = mode;
			return NULL;
		}
	}
	return "not answer, confirm or observe";
}

static const char *parse_image(struct baleen_icp_words *words, u32 n, const char *text)
{
	if (!*text)
		return "no image";
	if (words->image[n])
		return "a second image";
	words->image[n] = strdup(text);
	return words->image[n] ? NULL : "no memory";
}

/* A cache that is asked by IPv4 and by IPv6 is one cache. */
static const char *parse_other(struct baleen_icp_sibling *sibling, const char *text)
{
	bool is_ip4, first_is_ip4 =
			     !sibling->address_hi && sibling->address_lo >> 32 == IP4_MAPPED >> 32;
	const char *reason;

	if (sibling->other_lo)
		return "a third address";
	reason = read_address(text, &sibling->other_hi, &sibling->other_lo, &is_ip4);
	if (!reason && is_ip4 == first_is_ip4)
		return "an address of the same family: a cache has one of each";
	return reason;
}

static const char *parse_part(struct baleen_icp_words *words, u32 n, const char *part)
{
	struct baleen_icp_config *config = &words->config;

	if (!strncmp(part, "mode=", 5))
		return parse_sibling_mode(&config->sibling[n], part + 5);
	if (!strncmp(part, "address=", 8))
		return parse_other(&config->sibling[n], part + 8);
	if (!strncmp(part, "image=", 6))
		return parse_image(words, n, part + 6);
	if (!strncmp(part, "feeder=", 7))
		return parse_feeder(config, n, part + 7);
	return "neither mode=, address=, image= nor feeder=";
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
	}
	return NULL;
}

static const char *parse_words(struct baleen_icp_words *words, char *text, const char **at)
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
	for (u32 i = 0; i < n && !reason; i++)
		if (baleen_icp_siblings_meet(&config->sibling[i], &config->sibling[n]))
			reason = "the address of a sibling before";
	return reason;
}

int baleen_icp_words_sibling(struct baleen_icp_words *words, const char *text,
			     struct baleen_error *error)
{
	struct baleen_icp_config *config = &words->config;
	const char *reason, *at = "";
	char *copy;
	int err = 0;

	if (config->n_siblings == BALEEN_ICP_MAX_SIBLINGS)
		return baleen_fail(error, EINVAL, "there are %d already", BALEEN_ICP_MAX_SIBLINGS);
	copy = strdup(text);
	if (!copy)
		return baleen_no_memory(error);
	reason = parse_words(words, copy, &at);
	if (reason)
		err = baleen_fail(error, EINVAL, "'%s': %s", at, reason);
	else
		config->n_siblings++;
	free(copy);
	return err;
}

int baleen_icp_words_find(const struct baleen_icp_words *words, const char *name)
{
	for (u32 i = 0; i < words->config.n_siblings; i++)
		if (!strcmp(words->config.sibling[i].name, name))
			return i;
	return -ENOENT;
}

void baleen_icp_words_init(struct baleen_icp_words *words)
{
	*words = (struct baleen_icp_words){ .stale_ms = BALEEN_ICP_STALE_MS,
					    .confirm_ms = BALEEN_ICP_CONFIRM_MS,
					    .config.port = BALEEN_ICP_PORT };
}

void baleen_icp_words_free(struct baleen_icp_words *words)
{
	for (u32 i = 0; i < BALEEN_ICP_MAX_SIBLINGS; i++)
		free(words->image[i]);
}

/* --- askers ---------------------------------------------------------------- */

int baleen_icp_words_asker(struct baleen_icp_words *words, const char *text,
			   struct baleen_error *error)
{
	char *copy = strdup(text), *rest = copy, *word;
	int err = 0;

	if (!copy)
		return baleen_no_memory(error);
	while (!err && (word = strsep(&rest, ","))) {
		const char *reason = "there are 256 prefixes already";

		if (words->n_askers < BALEEN_ICP_MAX_ASKERS)
			reason = read_prefix(word, &words->asker[words->n_askers].prefix);
		if (reason)
			err = baleen_fail(error, EINVAL, "'%s': %s", word, reason);
		else
			words->n_askers++;
	}
	free(copy);
	return err;
}

/* --- ports and times ------------------------------------------------------- */

static int parse_port(const char *text, u16 *port, struct baleen_error *error)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long value = strtoul(text, NULL, 10);

	if (!digits || digits > 5 || text[digits] || !value || value > 0xffff)
		return baleen_fail(error, EINVAL, "not a port, 1 to 65535");
	*port = value;
	return 0;
}

int baleen_icp_words_port(struct baleen_icp_words *words, const char *text,
			  struct baleen_error *error)
{
	return parse_port(text, &words->config.port, error);
}

int baleen_icp_words_feed(struct baleen_icp_words *words, const char *text,
			  struct baleen_error *error)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? colon - text : 0;

	words->feed_device[0] = '\0';
	if (colon && (!length || length >= sizeof(words->feed_device)))
		return baleen_fail(error, EINVAL, "not [DEV:]PORT");
	memcpy(words->feed_device, text, length);
	words->feed_device[length] = '\0';
	return parse_port(colon ? colon + 1 : text, &words->config.feed_port, error);
}

int baleen_icp_words_span(u64 *ms, const char *text, struct baleen_error *error)
{
	*ms = 0;
	if (!strcmp(text, "never") || !strcmp(text, "0") || !baleen_duration_parse(text, ms))
		return 0;
	return baleen_fail(error, EINVAL, "not a span of time such as 30s, or never");
}

/* --- all of it ------------------------------------------------------------- */

static int check_known(const struct baleen_icp_words *words, struct baleen_error *error)
{
	const struct baleen_icp_config *config = &words->config;

	for (u32 i = 0; i < config->n_siblings; i++)
		if (!words->image[i] && !config->sibling[i].feeders)
			return baleen_fail(error, EINVAL,
					   "sibling '%s' has neither image= nor feeder=: what it "
					   "holds is not known",
					   config->sibling[i].name);
	return 0;
}

int baleen_icp_words_check(struct baleen_icp_words *words, const char *prefix,
			   struct baleen_error *error)
{
	struct baleen_icp_config *config = &words->config;

	if (!config->n_siblings)
		return baleen_fail(error, EINVAL, "no %ssibling given: nobody to answer for",
				   prefix);
	if (!words->n_askers)
		return baleen_fail(error, EINVAL, "no %sasker given: nobody would be answered",
				   prefix);
	if (check_known(words, error))
		return -EINVAL;
	if (config->n_feeders && !config->feed_port)
		return baleen_fail(error, EINVAL,
				   "a sibling has a feeder: %sfeed says where it is heard", prefix);
	if (!config->n_feeders && config->feed_port)
		return baleen_fail(error, EINVAL, "%sfeed: no sibling has a feeder=", prefix);
	if (config->feed_port == config->port)
		return baleen_fail(error, EINVAL, "%sfeed and %sport are both %u", prefix, prefix,
				   config->port);
	for (u32 i = 0; i < words->n_askers; i++)
		words->asker[i].siblings = (1u << config->n_siblings) - 1;
	return 0;
}

void baleen_icp_words_plan(const struct baleen_icp_words *words, const char *device,
			   struct baleen_icp_plan *plan)
{
	plan->config = words->config;
	plan->config.stale_ns = words->stale_ms * 1000000;
	plan->config.confirm_ns = words->confirm_ms * 1000000;
	plan->device = device;
	plan->feed_device = words->feed_device[0] ? words->feed_device : NULL;
	plan->asker = words->asker;
	plan->n_askers = words->n_askers;
}

/* --- filters --------------------------------------------------------------- */

void baleen_icp_shape(struct baleen_build_options *build, bool is_kind_given, bool is_hash_given)
{
	build->key_spec = BALEEN_KEY_SQUID;
	if ((is_hash_given || build->fpp) && !is_kind_given)
		build->kind = BALEEN_KIND_COUNTING;
	if (build->kind != BALEEN_KIND_CUCKOO && build->kind != BALEEN_KIND_QUOTIENT && !build->fpp)
		build->fpp = BALEEN_ICP_FPP;
	if (build->kind == BALEEN_KIND_COUNTING && !is_hash_given)
		build->shape.hash = BALEEN_HASH_SQUID;
}

/* Room for objects to come, in a kind that changes in place. */
void baleen_icp_shape_fed(struct baleen_build_options *build)
{
	if (!build->capacity)
		build->capacity = BALEEN_ICP_CAPACITY;
	if (build->kind == BALEEN_KIND_CUCKOO) {
		build->shape.slot_bits = 64;
		build->shape.load = BALEEN_ICP_CUCKOO_LOAD;
	}
}
