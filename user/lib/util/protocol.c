// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* IP protocols by name. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "util/protocol.h"

/* Where a protocol has two names, messages show the first. */
static const struct {
	u8 number;
	const char *name;
} protocols[] = {
	{ 1, "icmp" },	   { 2, "igmp" },	{ 4, "ipip" },	    { 6, "tcp" },
	{ 8, "egp" },	   { 17, "udp" },	{ 33, "dccp" },	    { 41, "ipv6" },
	{ 46, "rsvp" },	   { 47, "gre" },	{ 50, "esp" },	    { 51, "ah" },
	{ 58, "icmpv6" },  { 58, "ipv6-icmp" }, { 88, "eigrp" },    { 89, "ospf" },
	{ 97, "etherip" }, { 103, "pim" },	{ 108, "ipcomp" },  { 112, "vrrp" },
	{ 115, "l2tp" },   { 132, "sctp" },	{ 136, "udplite" },
};

#define N_PROTOCOLS (sizeof(protocols) / sizeof(protocols[0]))

int baleen_protocol_parse(const char *text, u8 *protocol)
{
	size_t n_digits = strspn(text, "0123456789");

	for (size_t i = 0; i < N_PROTOCOLS; i++) {
		if (!strcasecmp(text, protocols[i].name)) {
			*protocol = protocols[i].number;
			return 0;
		}
	}
	if (!n_digits || n_digits > 3 || text[n_digits] || (n_digits > 1 && *text == '0') ||
	    atoi(text) > 255)
		return -EINVAL;
	*protocol = atoi(text);
	return 0;
}

const char *baleen_protocol_text(u8 protocol, char *text)
{
	for (size_t i = 0; i < N_PROTOCOLS; i++)
		if (protocols[i].number == protocol)
			return strcpy(text, protocols[i].name);
	sprintf(text, "%u", protocol);
	return text;
}
