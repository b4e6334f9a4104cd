/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses that a server may lead to.
 *
 * Who answers for a name, and who redirects, chooses where the next request goes. This host
 * (loopback, its own addresses) and link-local addresses (169.254.169.254 of clouds) answer
 * requests that strangers cannot make, so only who configured the URL may send us there: by
 * an address, or localhost, in the URL or in a proxy of the environment. Private networks
 * are as good as any: feeds inside of companies are there.
 */
#ifndef BALEEN_ADDRESSES_H
#define BALEEN_ADDRESSES_H

#include <sys/socket.h>

/**
 * enum address_class - who is behind an address
 * @ADDRESS_ANY: some host
 * @ADDRESS_THIS_HOST: this one
 * @ADDRESS_LINK_LOCAL: link-local, multicast
 */
enum address_class {
	ADDRESS_ANY,
	ADDRESS_THIS_HOST,
	ADDRESS_LINK_LOCAL,
};

/**
 * address_class() - who is behind an address
 * @address: IPv4 or IPv6, also mapped or behind NAT64
 *
 * Return: its class.
 */
enum address_class address_class(const struct sockaddr *address);

/**
 * address_class_of_host() - who is behind what a URL says
 * @host: an address, IPv6 also in brackets, or a name
 *
 * Return: the class of an address and of localhost; ADDRESS_ANY for other names.
 */
enum address_class address_class_of_host(const char *host);

#endif /* BALEEN_ADDRESSES_H */
