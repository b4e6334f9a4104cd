/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which fields of a packet make the key, as text.
 *
 * The fields src, dst, sport, dport and proto with commas between, each once,
 * in any order; `flow` stands for all five. They are shown, and stand in the
 * text of a key, in the order proto,src,dst,sport,dport. `string` stands alone:
 * no field of a packet, but any bytes. So does `squid`: what Squid calls an object,
 * and `fingerprint`: bits that are their own hash.
 */
#ifndef BALEEN_KEY_SPEC_H
#define BALEEN_KEY_SPEC_H

#include <baleen/key.h>

#include "util/error.h"

#define BALEEN_KEY_SPEC_TEXT 32

/**
 * baleen_key_spec_parse() - fields from text
 * @text: such as "src" or "src,dport"
 * @spec: enum baleen_key_spec; untouched on failure
 * @error: filled in on failure; names the word that is wrong
 *
 * Return: 0 or -EINVAL.
 */
int baleen_key_spec_parse(const char *text, u32 *spec, struct baleen_error *error);

/**
 * baleen_key_spec_text() - fields as text
 * @spec: enum baleen_key_spec
 * @text: at least BALEEN_KEY_SPEC_TEXT bytes
 *
 * Return: @text.
 */
const char *baleen_key_spec_text(u32 spec, char *text);

/**
 * baleen_key_spec_refuse() - why packets have no such keys
 * @spec: enum baleen_key_spec
 *
 * Return: NULL when they have, or the reason, a constant string.
 */
const char *baleen_key_spec_refuse(u32 spec);

#endif /* BALEEN_KEY_SPEC_H */
