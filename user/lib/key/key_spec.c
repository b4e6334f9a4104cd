// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which fields of a packet make the key, as text. */
#include <stdio.h>

#include "key/key_spec.h"

static const struct {
	u32 spec;
	const char *name;
} words[] = {
	{ BALEEN_KEY_PROTO, "proto" }, { BALEEN_KEY_SRC, "src" },     { BALEEN_KEY_DST, "dst" },
	{ BALEEN_KEY_SPORT, "sport" }, { BALEEN_KEY_DPORT, "dport" }, { BALEEN_KEY_FLOW, "flow" },
};

#define N_FIELDS 5

/* Return: the fields of a word, or 0. */
static u32 word_spec(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (length == strlen(words[i].name) && !memcmp(word, words[i].name, length))
			return words[i].spec;
	return 0;
}

int baleen_key_spec_parse(const char *text, u32 *spec, struct baleen_error *error)
{
	u32 all = 0;

	if (!strcmp(text, "string")) {
		*spec = BALEEN_KEY_STRING;
		return 0;
	}
	if (!strcmp(text, "squid")) {
		*spec = BALEEN_KEY_SQUID;
		return 0;
	}
	if (!strcmp(text, "fingerprint")) {
		*spec = BALEEN_KEY_FINGERPRINT;
		return 0;
	}
	for (;;) {
		int length = strcspn(text, ",");
		u32 one = word_spec(text, length);

		if (!one)
			return baleen_fail(
				error, EINVAL,
				"'%.*s' is none of proto, src, dst, sport, dport, flow, string, "
				"squid, fingerprint",
				length, text);
		if (all & one)
			return baleen_fail(error, EINVAL, "'%.*s' is there already", length, text);
		all |= one;
		if (!text[length])
			break;
		text += length + 1;
	}
	*spec = all;
	return 0;
}

const char *baleen_key_spec_text(u32 spec, char *text)
{
	size_t n = 0;

	text[0] = '\0';
	if (spec == BALEEN_KEY_FLOW)
		return strcpy(text, "flow");
	if (spec == BALEEN_KEY_STRING)
		return strcpy(text, "string");
	if (spec == BALEEN_KEY_SQUID)
		return strcpy(text, "squid");
	if (spec == BALEEN_KEY_FINGERPRINT)
		return strcpy(text, "fingerprint");
	for (size_t i = 0; i < N_FIELDS; i++)
		if (spec & words[i].spec)
			n += sprintf(text + n, "%s%s", n ? "," : "", words[i].name);
	return text;
}

const char *baleen_key_spec_refuse(u32 spec)
{
	if (spec == BALEEN_KEY_STRING)
		return "its keys are strings, which are no field of a packet";
	if (spec == BALEEN_KEY_SQUID)
		return "its keys are Squid's, which are no field of a packet";
	if (spec == BALEEN_KEY_FINGERPRINT)
		return "its keys are fingerprints, which are no field of a packet";
	return baleen_spec_has_fields(spec) ? NULL : "no such key";
}
