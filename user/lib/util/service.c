// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Ports by the names of their services. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "util/service.h"

int baleen_service_parse(const char *text, u16 *port)
{
	size_t n_digits = strspn(text, "0123456789");
	const struct servent *service;

	if (n_digits) {
		if (n_digits > 5 || text[n_digits] || atoi(text) > 65535)
			return -EINVAL;
		*port = atoi(text);
		return 0;
	}
	service = *text ? getservbyname(text, NULL) : NULL;
	if (!service)
		return *text ? -ENOENT : -EINVAL;
	*port = ntohs(service->s_port);
	return 0;
}
