// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses that a server may lead to. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <baleen/port.h>

#include "fetch/addresses.h"

static const u8 nat64[] = { 0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0 };

/* IPv4 as the last four of 16 bytes, as IPv6 maps it; false for other families. */
static bool bytes_of(const struct sockaddr *address, struct in6_addr *bytes)
{
	const struct sockaddr_in6 *ip6 = (const void *)address;
	const struct sockaddr_in *ip4 = (const void *)address;

	memset(bytes, 0, sizeof(*bytes));
	if (address->sa_family == AF_INET) {
		memset(bytes->s6_addr + 10, 0xff, 2);
		memcpy(bytes->s6_addr + 12, &ip4->sin_addr, 4);
		return true;
	}
	if (address->sa_family != AF_INET6)
		return false;
	*bytes = ip6->sin6_addr;
	if (!memcmp(bytes, nat64, sizeof(nat64))) {
		memset(bytes, 0, 10);
		memset(bytes->s6_addr + 10, 0xff, 2);
	}
	return true;
}

static bool is_own(const struct in6_addr *bytes)
{
	struct ifaddrs *all, *one;
	struct in6_addr own;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (one = all; one && !found; one = one->ifa_next)
		found = one->ifa_addr && bytes_of(one->ifa_addr, &own) &&
			!memcmp(bytes, &own, sizeof(own));
	freeifaddrs(all);
	return found;
}

static enum address_class class_of(const struct in6_addr *bytes)
{
	const u8 *ip4 = bytes->s6_addr + 12;

	if (IN6_IS_ADDR_V4MAPPED(bytes)) {
		if (ip4[0] == 0 || ip4[0] == 127)
			return ADDRESS_THIS_HOST;
		if ((ip4[0] == 169 && ip4[1] == 254) || ip4[0] >= 224)
			return ADDRESS_LINK_LOCAL;
	} else {
		if (IN6_IS_ADDR_UNSPECIFIED(bytes) || IN6_IS_ADDR_LOOPBACK(bytes))
			return ADDRESS_THIS_HOST;
		if (IN6_IS_ADDR_LINKLOCAL(bytes) || IN6_IS_ADDR_MULTICAST(bytes))
			return ADDRESS_LINK_LOCAL;
	}
	return is_own(bytes) ? ADDRESS_THIS_HOST : ADDRESS_ANY;
}

enum address_class address_class(const struct sockaddr *address)
{
	struct in6_addr bytes;

	/* All but addresses of the network are sockets of this host. */
	return bytes_of(address, &bytes) ? class_of(&bytes) : ADDRESS_THIS_HOST;
}

static bool is_localhost(const char *name)
{
	size_t n = strlen(name);

	n -= n && name[n - 1] == '.';
	return (n == 9 && !strncasecmp(name, "localhost", 9)) ||
	       (n > 10 && !strncasecmp(name + n - 10, ".localhost", 10));
}

enum address_class address_class_of_host(const char *host)
{
	struct sockaddr_in6 ip6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in ip4 = { .sin_family = AF_INET };
	char text[INET6_ADDRSTRLEN + 2];

	if (is_localhost(host))
		return ADDRESS_THIS_HOST;
	if (inet_pton(AF_INET, host, &ip4.sin_addr) == 1)
		return address_class((const struct sockaddr *)&ip4);
	snprintf(text, sizeof(text), "%s", host[0] == '[' ? host + 1 : host);
	text[strcspn(text, "]%")] = '\0';
	if (inet_pton(AF_INET6, text, &ip6.sin6_addr) == 1)
		return address_class((const struct sockaddr *)&ip6);
	return ADDRESS_ANY;
}
