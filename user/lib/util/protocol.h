/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * IP protocols by name.
 *
 * The names are those of the IANA registry in small letters, read in any case;
 * what has none here goes by its number. /etc/protocols is not asked: a list
 * means the same on every host.
 */
#ifndef BALEEN_PROTOCOL_H
#define BALEEN_PROTOCOL_H

#include <baleen/port.h>

#define BALEEN_PROTOCOL_TEXT 16

/**
 * baleen_protocol_parse() - a protocol from its name or number
 * @text: such as "tcp", "TCP" or "6"
 * @protocol: the number; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_protocol_parse(const char *text, u8 *protocol);

/**
 * baleen_protocol_text() - name of a protocol, or its number when it has none
 * @protocol: the number
 * @text: at least BALEEN_PROTOCOL_TEXT bytes
 *
 * Return: @text.
 */
const char *baleen_protocol_text(u8 protocol, char *text);

#endif /* BALEEN_PROTOCOL_H */
