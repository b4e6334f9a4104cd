/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ports by the names of their services.
 *
 * The names are those of /etc/services. They are read, and never printed: what is kept,
 * shown and compared is the number, which means the same on every host.
 */
#ifndef BALEEN_SERVICE_H
#define BALEEN_SERVICE_H

#include <baleen/port.h>

/**
 * baleen_service_parse() - a port from its number or the name of its service
 * @text: such as "22" or "ssh"
 * @port: the number; untouched on failure
 *
 * Return: 0; -ENOENT for a name that /etc/services has not; -EINVAL.
 */
int baleen_service_parse(const char *text, u16 *port);

#endif /* BALEEN_SERVICE_H */
