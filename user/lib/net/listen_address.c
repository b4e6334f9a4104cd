// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The address and port that a server listens on, as text. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/listen_address.h"

static bool parse_port(const char *text, in_port_t *port_be)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || port > 65535)
		return false;
	*port_be = htons(port);
	return true;
}

static bool parse_host(char *host, struct sockaddr_storage *address, in_port_t port_be)
{
	struct sockaddr_in6 *ip6 = (struct sockaddr_in6 *)address;
	struct sockaddr_in *ip4 = (struct sockaddr_in *)address;
	size_t length = strlen(host);

	if (inet_pton(AF_INET, host, &ip4->sin_addr) == 1) {
		ip4->sin_family = AF_INET;
		ip4->sin_port = port_be;
		return true;
	}
	if (length < 3 || *host != '[' || host[length - 1] != ']')
		return false;
	host[length - 1] = '\0';
	ip6->sin6_family = AF_INET6;
	ip6->sin6_port = port_be;
	return inet_pton(AF_INET6, host + 1, &ip6->sin6_addr) == 1;
}

bool baleen_listen_parse(const char *text, const char *default_host,
			 struct sockaddr_storage *address)
{
	const char *colon = strrchr(text, ':');
	char host[BALEEN_LISTEN_TEXT];
	in_port_t port_be;
	int n;

	memset(address, 0, sizeof(*address));
	if (colon)
		n = snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	else
		n = snprintf(host, sizeof(host), "%s", default_host ? default_host : "");
	return n < (int)sizeof(host) && parse_port(colon ? colon + 1 : text, &port_be) &&
	       parse_host(host, address, port_be);
}

/* The port is at the same place in both families. */
unsigned int baleen_listen_port(const struct sockaddr_storage *address)
{
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

const char *baleen_listen_format(const struct sockaddr_storage *address, unsigned int port,
				 char *text)
{
	const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *ip4 = (const struct sockaddr_in *)address;
	bool is_ip6 = address->ss_family == AF_INET6;
	char host[INET6_ADDRSTRLEN] = "";

	inet_ntop(address->ss_family,
		  is_ip6 ? (const void *)&ip6->sin6_addr : (const void *)&ip4->sin_addr, host,
		  sizeof(host));
	snprintf(text, BALEEN_LISTEN_TEXT, is_ip6 ? "[%s]:%u" : "%s:%u", host, port);
	return text;
}
