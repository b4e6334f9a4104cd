// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses that a server may lead to. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fetch/addresses.h"
#include "list/special.h"

/* Each address behind these is an IPv4 host: RFC 6052, RFC 3056, RFC 4380. */
static const u8 nat64[12] = { 0x00, 0x64, 0xff, 0x9b };
static const u8 six_to_four[2] = { 0x20, 0x02 };
static const u8 teredo[4] = { 0x20, 0x01, 0, 0 };

static struct in6_addr mapped(const u8 *ip4, u8 turn)
{
	struct in6_addr bytes = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	for (u32 i = 0; i < 4; i++)
		bytes.s6_addr[12 + i] = ip4[i] ^ turn;
	return bytes;
}

static struct in6_addr behind(const struct in6_addr *address)
{
	const u8 *bytes = address->s6_addr;

	if (!memcmp(bytes, nat64, sizeof(nat64)))
		return mapped(bytes + 12, 0);
	if (!memcmp(bytes, six_to_four, sizeof(six_to_four)))
		return mapped(bytes + 2, 0);
	if (!memcmp(bytes, teredo, sizeof(teredo)))
		return mapped(bytes + 12, 0xff);
	return *address;
}

/* IPv4 as the last four of 16 bytes, as IPv6 maps it; false for other families. */
static bool bytes_of(const struct sockaddr *address, struct in6_addr *bytes)
{
	const struct sockaddr_in6 *ip6 = (const void *)address;
	const struct sockaddr_in *ip4 = (const void *)address;

	if (address->sa_family == AF_INET)
		*bytes = mapped((const u8 *)&ip4->sin_addr, 0);
	else if (address->sa_family == AF_INET6)
		*bytes = behind(&ip6->sin6_addr);
	else
		return false;
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

/* Where clouds answer their instances outside of the link-local ranges. Sources: the manuals
 * of AWS, Google, Scaleway, Alibaba, Oracle and Azure on metadata of instances.
 */
static bool is_of_cloud(const struct in6_addr *bytes)
{
	static const char *const addresses[] = { "fd00:ec2::254",      "fd20:ce::254",
						 "fd00:42::42",	       "::ffff:100.100.100.200",
						 "::ffff:192.0.0.192", "::ffff:168.63.129.16" };
	struct in6_addr one;

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		if (inet_pton(AF_INET6, addresses[i], &one) == 1 &&
		    !memcmp(&one, bytes, sizeof(one)))
			return true;
	return false;
}

static const struct baleen_special *special_of(const struct in6_addr *bytes)
{
	struct baleen_key key = { .domain = BALEEN_IP6,
				  .hi = baleen_load_be64(bytes->s6_addr),
				  .lo = baleen_load_be64(bytes->s6_addr + 8) };

	if (IN6_IS_ADDR_V4MAPPED(bytes))
		key = (struct baleen_key){ .domain = BALEEN_IP4,
					   .ip4 = baleen_load_be32(bytes->s6_addr + 12) };
	return baleen_special_find(&key);
}

static bool is_private(const struct in6_addr *bytes)
{
	if (special_of(bytes))
		return true;
	/* Others than 2000::/3 are not allocated: RFC 4291. */
	return !IN6_IS_ADDR_V4MAPPED(bytes) && bytes->s6_addr[0] >> 5 != 1;
}

static bool is_loopback(const struct in6_addr *bytes)
{
	const u8 *ip4 = bytes->s6_addr + 12;

	if (IN6_IS_ADDR_V4MAPPED(bytes))
		return ip4[0] == 0 || ip4[0] == 127;
	return IN6_IS_ADDR_UNSPECIFIED(bytes) || IN6_IS_ADDR_LOOPBACK(bytes);
}

static bool is_link_local(const struct in6_addr *bytes)
{
	const u8 *ip4 = bytes->s6_addr + 12;

	if (IN6_IS_ADDR_V4MAPPED(bytes))
		return (ip4[0] == 169 && ip4[1] == 254) || ip4[0] >= 224;
	return IN6_IS_ADDR_LINKLOCAL(bytes) || IN6_IS_ADDR_MULTICAST(bytes);
}

enum address_class address_class(const struct sockaddr *address)
{
	struct in6_addr bytes;

	/* All but addresses of the network are sockets of this host. */
	if (!bytes_of(address, &bytes) || is_loopback(&bytes))
		return ADDRESS_THIS_HOST;
	if (is_link_local(&bytes) || is_of_cloud(&bytes))
		return ADDRESS_LINK_LOCAL;
	if (is_own(&bytes))
		return ADDRESS_THIS_HOST;
	return is_private(&bytes) ? ADDRESS_PRIVATE : ADDRESS_PUBLIC;
}

static bool is_localhost(const char *name)
{
	size_t n = strlen(name);

	n -= n && name[n - 1] == '.';
	return (n == 9 && !strncasecmp(name, "localhost", 9)) ||
	       (n > 10 && !strncasecmp(name + n - 10, ".localhost", 10));
}

static bool parse_host(const char *host, struct sockaddr_storage *address)
{
	struct sockaddr_in6 *ip6 = (void *)address;
	struct sockaddr_in *ip4 = (void *)address;
	char text[INET6_ADDRSTRLEN + 2];

	memset(address, 0, sizeof(*address));
	address->ss_family = AF_INET;
	if (inet_pton(AF_INET, host, &ip4->sin_addr) == 1)
		return true;
	snprintf(text, sizeof(text), "%s", host[0] == '[' ? host + 1 : host);
	text[strcspn(text, "]%")] = '\0';
	address->ss_family = AF_INET6;
	return inet_pton(AF_INET6, text, &ip6->sin6_addr) == 1;
}

bool address_is_said(const char *host, const struct sockaddr *address)
{
	bool is_this_host = address_class(address) == ADDRESS_THIS_HOST;
	struct in6_addr said_bytes, bytes;
	struct sockaddr_storage said;

	if (is_localhost(host))
		return is_this_host;
	if (!parse_host(host, &said))
		return false;
	if (is_this_host)
		return address_class((const struct sockaddr *)&said) == ADDRESS_THIS_HOST;
	return bytes_of(address, &bytes) && bytes_of((const struct sockaddr *)&said, &said_bytes) &&
	       !memcmp(&bytes, &said_bytes, sizeof(bytes));
}

const char *address_format(const struct sockaddr *address, char *text)
{
	const struct baleen_special *special = NULL;
	char number[INET6_ADDRSTRLEN] = "";
	struct in6_addr bytes;

	if (bytes_of(address, &bytes)) {
		special = special_of(&bytes);
		inet_ntop(address->sa_family,
			  address->sa_family == AF_INET ?
				  (const void *)&((const struct sockaddr_in *)address)->sin_addr :
				  (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr,
			  number, sizeof(number));
	}
	snprintf(text, ADDRESS_TEXT, special ? "%s (%s)" : "%s", number,
		 special ? special->name : "");
	return text;
}
