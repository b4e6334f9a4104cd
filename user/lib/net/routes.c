// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The routes of a kernel table that lead nowhere. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "key/key_text.h"
#include "net/address_set.h"
#include "net/netlink.h"
#include "net/route_names.h"
#include "net/routes.h"
#include "util/array.h"

/* Messages of a socket that are read before others have their turn. */
#define HEAR_AT_ONCE 256

int baleen_route_compare(const struct baleen_route *a, const struct baleen_route *b)
{
	int order = baleen_key_compare(&a->key, &b->key);

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare(const void *a, const void *b)
{
	const struct baleen_route *x = a, *y = b;
	int order = baleen_route_compare(x, y);

	return order ? order : (x->protocol > y->protocol) - (x->protocol < y->protocol);
}

/* --- messages -------------------------------------------------------------- */

static bool leads_nowhere(u8 type)
{
	return type == RTN_BLACKHOLE || type == RTN_UNREACHABLE || type == RTN_PROHIBIT;
}

static bool is_route(const struct nlmsghdr *message)
{
	return mnl_nlmsg_get_payload_len(message) >= sizeof(struct rtmsg);
}

static u32 table_of(const struct nlmsghdr *message)
{
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;
	u32 table = header->rtm_table;

	mnl_attr_for_each(attr, message, sizeof(*header))
		if (mnl_attr_get_type(attr) == RTA_TABLE)
			table = baleen_netlink_u32(attr);
	return table;
}

/* The default route has no destination. Those by source, by TOS, and the kernel's cached
 * ones are no entries.
 */
static bool parse_route(const struct nlmsghdr *message, struct baleen_route *route)
{
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	bool is_ip6 = header->rtm_family == AF_INET6;
	const struct nlattr *attr;
	u8 bytes[16] = { 0 };

	if ((!is_ip6 && header->rtm_family != AF_INET) || header->rtm_src_len || header->rtm_tos ||
	    header->rtm_flags & RTM_F_CLONED || header->rtm_dst_len > (is_ip6 ? 128 : 32))
		return false;
	mnl_attr_for_each(attr, message, sizeof(*header))
		if (mnl_attr_get_type(attr) == RTA_DST &&
		    mnl_attr_get_payload_len(attr) == (is_ip6 ? 16 : 4))
			memcpy(bytes, mnl_attr_get_payload(attr), is_ip6 ? 16 : 4);
	*route = (struct baleen_route){ .length = header->rtm_dst_len,
					.type = header->rtm_type,
					.protocol = header->rtm_protocol };
	if (!baleen_address_key(bytes, is_ip6 ? 16 : 4, &route->key))
		return false;
	/* A mapped prefix is IPv4 in a packet, too; a shorter one is of no packet. */
	if (is_ip6 && route->key.domain == BALEEN_IP4) {
		if (route->length < 96)
			return false;
		route->length -= 96;
	}
	return true;
}

/* --- a table as a whole ---------------------------------------------------- */

struct reading {
	u32 table;
	bool own;
	struct baleen_routes routes;
};

static int visit(const struct nlmsghdr *message, void *data)
{
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	struct reading *reading = data;
	struct baleen_routes *routes = &reading->routes;
	struct baleen_route route;

	if (message->nlmsg_type != RTM_NEWROUTE || !is_route(message) ||
	    !(leads_nowhere(header->rtm_type) || (reading->own && header->rtm_type == RTN_THROW)) ||
	    (header->rtm_protocol == BALEEN_ROUTE_PROTOCOL) != reading->own ||
	    table_of(message) != reading->table || !parse_route(message, &route))
		return MNL_CB_OK;
	if (routes->n == BALEEN_ROUTES_MAX || baleen_array_add(&routes->route, routes->n)) {
		errno = routes->n == BALEEN_ROUTES_MAX ? E2BIG : ENOMEM;
		return MNL_CB_ERROR;
	}
	routes->route[routes->n++] = route;
	return MNL_CB_OK;
}

/* One prefix may have several routes, of other metrics. */
static void sort(struct baleen_routes *routes)
{
	size_t n = 0;

	if (!routes->n)
		return;
	qsort(routes->route, routes->n, sizeof(*routes->route), compare);
	for (size_t i = 1; i < routes->n; i++)
		if (baleen_route_compare(&routes->route[n], &routes->route[i]))
			routes->route[++n] = routes->route[i];
	routes->n = n + 1;
}

int baleen_routes_read(u32 table, bool own, struct baleen_routes *routes,
		       struct baleen_error *error)
{
	static const u8 families[] = { AF_INET, AF_INET6 };
	struct reading reading = { .table = table, .own = own };
	int err = 0;

	for (size_t i = 0; i < sizeof(families) && !err; i++) {
		const struct rtmsg request = { .rtm_family = families[i] };

		err = baleen_netlink_dump(NETLINK_ROUTE, RTM_GETROUTE, &request, sizeof(request),
					  visit, &reading);
		/* A kernel without the family. */
		if (err == -EOPNOTSUPP)
			err = 0;
	}
	if (err) {
		baleen_routes_free(&reading.routes);
		if (err == -E2BIG)
			return baleen_fail(error, E2BIG, "routing table %u: more than %u routes",
					   table, BALEEN_ROUTES_MAX);
		return baleen_fail(error, -err, "routing table %u: cannot list its routes: %s",
				   table, strerror(-err));
	}
	sort(&reading.routes);
	*routes = reading.routes;
	return 0;
}

void baleen_routes_free(struct baleen_routes *routes)
{
	free(routes->route);
	*routes = (struct baleen_routes){ 0 };
}

/* --- changes --------------------------------------------------------------- */

int baleen_routes_listen(u32 buffer_bytes, struct baleen_error *error)
{
	return baleen_netlink_listen(RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE, buffer_bytes, "routes",
				     error);
}

static void add_table(struct baleen_routes_news *news, u32 table)
{
	for (size_t i = 0; i < news->n; i++)
		if (news->table[i] == table)
			return;
	if (news->n == BALEEN_ROUTES_HEARD)
		news->is_lost = true;
	else
		news->table[news->n++] = table;
}

/* A route of another type may have replaced one that led nowhere. */
static int receive_news(const struct nlmsghdr *message, void *data)
{
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	bool is_new = message->nlmsg_type == RTM_NEWROUTE;

	if ((!is_new && message->nlmsg_type != RTM_DELROUTE) || !is_route(message))
		return MNL_CB_OK;
	if (leads_nowhere(header->rtm_type) || (is_new && message->nlmsg_flags & NLM_F_REPLACE))
		add_table(data, table_of(message));
	return MNL_CB_OK;
}

void baleen_routes_hear(int fd, struct baleen_routes_news *news)
{
	char bytes[32768] __attribute__((aligned(NLMSG_ALIGNTO)));

	*news = (struct baleen_routes_news){ 0 };
	for (u32 i = 0; i < HEAR_AT_ONCE; i++) {
		struct sockaddr_nl from = { 0 };
		socklen_t from_bytes = sizeof(from);
		ssize_t n =
			recvfrom(fd, bytes, sizeof(bytes), MSG_TRUNC, (void *)&from, &from_bytes);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0 || n > (ssize_t)sizeof(bytes))
			news->is_lost = true;
		/* Other processes may send to this socket, too; the kernel is 0. */
		else if (!from.nl_pid)
			mnl_cb_run(bytes, n, 0, 0, receive_news, news);
	}
}
