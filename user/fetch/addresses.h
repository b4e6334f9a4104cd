/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses that a server may lead to.
 *
 * Who answers for a name, and who redirects, chooses where the next request goes. Hosts that
 * are not public answer requests that strangers cannot make: this host (loopback, its own
 * addresses), link-local ones (169.254.169.254 of clouds), and private networks. So only who
 * configured the feed may send us there: to an address, or localhost, that the URL itself
 * names; to the proxies of the environment; and to private networks by the word 'private'.
 */
#ifndef BALEEN_ADDRESSES_H
#define BALEEN_ADDRESSES_H

#include <baleen/port.h>
#include <sys/socket.h>

#define ADDRESS_TEXT 64

/**
 * enum address_class - who is behind an address
 * @ADDRESS_PUBLIC: some host of the internet
 * @ADDRESS_PRIVATE: in a special-purpose range (list/special.h), or an IPv6 address that is
 *                   not allocated to anybody
 * @ADDRESS_THIS_HOST: this one
 * @ADDRESS_LINK_LOCAL: link-local, multicast, and where clouds answer instances only
 */
enum address_class {
	ADDRESS_PUBLIC,
	ADDRESS_PRIVATE,
	ADDRESS_THIS_HOST,
	ADDRESS_LINK_LOCAL,
};

/**
 * address_class() - who is behind an address
 * @address: IPv4 or IPv6, also mapped, or in a range of NAT64, 6to4 or Teredo
 *
 * Return: its class.
 */
enum address_class address_class(const struct sockaddr *address);

/**
 * address_is_said() - does a URL name this very address?
 * @host: its host: an address, IPv6 also in brackets, or a name
 * @address: the address to connect to
 *
 * Return: true when they are the same, or @host is localhost or another address of this host
 * and @address is this host, too; false for other names.
 */
bool address_is_said(const char *host, const struct sockaddr *address);

/**
 * address_format() - an address as text
 * @address: the address
 * @text: filled in, ADDRESS_TEXT bytes
 *
 * Return: @text, with the name of its special-purpose range where it is in one.
 */
const char *address_format(const struct sockaddr *address, char *text);

#endif /* BALEEN_ADDRESSES_H */
