/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The address and port that a server listens on, as text: 127.0.0.1:9733 or [::]:9733.
 */
#ifndef BALEEN_LISTEN_ADDRESS_H
#define BALEEN_LISTEN_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Room for an address and a port. */
#define BALEEN_LISTEN_TEXT 64

/**
 * baleen_listen_parse() - read an address and a port
 * @text: ADDRESS:PORT; an IPv6 address stands in brackets
 * @default_host: the address when @text is only a PORT; NULL refuses that
 * @address: filled in, also on failure
 *
 * Return: false when @text is malformed.
 */
bool baleen_listen_parse(const char *text, const char *default_host,
			 struct sockaddr_storage *address);

/**
 * baleen_listen_port() - the port of an IPv4 or IPv6 address
 * @address: the address
 *
 * Return: the port in host order.
 */
unsigned int baleen_listen_port(const struct sockaddr_storage *address);

/**
 * baleen_listen_format() - an address and a port as text
 * @address: its port is not used
 * @port: in host order
 * @text: BALEEN_LISTEN_TEXT bytes
 *
 * Return: @text.
 */
const char *baleen_listen_format(const struct sockaddr_storage *address, unsigned int port,
				 char *text);

#endif /* BALEEN_LISTEN_ADDRESS_H */
