// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the kernel, and resolv.conf, for the addresses that a host must not drop. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>

#include "net/host_survey.h"
#include "net/netlink.h"
#include "util/array.h"
#include "util/input.h"

/* Sessions that would be cut. Not SYN_RECV: a flood of forged SYNs, the very
 * reason to attach, must not look like peers.
 */
#define PEER_STATES                                                                           \
	(1 << TCP_ESTABLISHED | 1 << TCP_SYN_SENT | 1 << TCP_FIN_WAIT1 | 1 << TCP_FIN_WAIT2 | \
	 1 << TCP_CLOSE_WAIT | 1 << TCP_LAST_ACK | 1 << TCP_CLOSING)

/* A nexthop object through a device, or one member of a group of them. */
struct next_hop {
	u32 id;
	u32 member; /* id of the member; 0: not a group */
	u32 ifindex;
	struct baleen_key gateway;
};

/* All devices together: a view of one is picked out of it. */
struct survey {
	struct baleen_links links;
	struct baleen_address_set set;
	struct next_hop *hop;
	size_t n_hops;
	u8 listens[(1 << 16) / 8]; /* a bit for each TCP port */
};

/* Addresses of other families than IP are of no concern here. @ifindex: 0 for the whole host */
static int add(struct survey *survey, enum baleen_host_role role, u32 ifindex, const void *bytes,
	       size_t n_bytes)
{
	struct baleen_host_address address = { .role = role, .ifindex = ifindex };

	if (!baleen_address_key(bytes, n_bytes, &address.key))
		return 0;
	return baleen_address_set_add(&survey->set, &address);
}

/* Returns what libmnl expects of a visitor; the failed allocation has set errno. */
static int visited(int err)
{
	return err ? MNL_CB_ERROR : MNL_CB_OK;
}

static bool has_header(const struct nlmsghdr *message, size_t header_bytes)
{
	return mnl_nlmsg_get_payload_len(message) >= header_bytes;
}

/* --- addresses ------------------------------------------------------------ */

static int visit_address(const struct nlmsghdr *message, void *data)
{
	const struct ifaddrmsg *header = mnl_nlmsg_get_payload(message);
	struct survey *survey = data;
	/* IFA_LOCAL, if there is one: IFA_ADDRESS is then the other end. */
	const struct nlattr *attr, *own = NULL;

	if (!has_header(message, sizeof(*header)))
		return MNL_CB_OK;
	mnl_attr_for_each(attr, message, sizeof(*header)) {
		u16 type = mnl_attr_get_type(attr);

		if (type == IFA_LOCAL || (type == IFA_ADDRESS && !own))
			own = attr;
	}
	if (!own)
		return MNL_CB_OK;
	return visited(add(survey, BALEEN_HOST_OWN, header->ifa_index, mnl_attr_get_payload(own),
			   mnl_attr_get_payload_len(own)));
}

/* --- gateways ------------------------------------------------------------- */

static int add_hop(struct survey *survey, const struct next_hop *hop)
{
	if (baleen_array_add(&survey->hop, survey->n_hops))
		return -ENOMEM;
	survey->hop[survey->n_hops++] = *hop;
	return 0;
}

static int add_group(struct survey *survey, u32 id, const struct nlattr *attr)
{
	size_t n = mnl_attr_get_payload_len(attr) / sizeof(struct nexthop_grp);
	const struct nexthop_grp *member = mnl_attr_get_payload(attr);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = add_hop(survey, &(struct next_hop){ .id = id, .member = member[i].id });
	return err;
}

static int visit_nexthop(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attr, *group = NULL;
	struct next_hop hop = { .id = 0 };
	struct survey *survey = data;
	bool has_gateway = false;

	mnl_attr_for_each(attr, message, sizeof(struct nhmsg)) {
		switch (mnl_attr_get_type(attr)) {
		case NHA_ID: hop.id = baleen_netlink_u32(attr); break;
		case NHA_OIF: hop.ifindex = baleen_netlink_u32(attr); break;
		case NHA_GROUP: group = attr; break;
		case NHA_GATEWAY:
			has_gateway =
				baleen_address_key(mnl_attr_get_payload(attr),
						   mnl_attr_get_payload_len(attr), &hop.gateway);
			break;
		}
	}
	if (group)
		return visited(add_group(survey, hop.id, group));
	return has_gateway && hop.ifindex ? visited(add_hop(survey, &hop)) : MNL_CB_OK;
}

static int add_object_gateway(struct survey *survey, u32 id)
{
	for (size_t i = 0; i < survey->n_hops; i++) {
		const struct next_hop *hop = &survey->hop[i];

		if (hop->id == id && !hop->member)
			return baleen_address_set_add(&survey->set,
						      &(struct baleen_host_address){
							      .role = BALEEN_HOST_GATEWAY,
							      .key = hop->gateway,
							      .ifindex = hop->ifindex });
	}
	return 0;
}

/* The gateways of a nexthop object; the members of a group are no groups. */
static int add_object(struct survey *survey, u32 id)
{
	int err = add_object_gateway(survey, id);

	for (size_t i = 0; i < survey->n_hops && !err; i++)
		if (survey->hop[i].id == id && survey->hop[i].member)
			err = add_object_gateway(survey, survey->hop[i].member);
	return err;
}

/* @attr: RTA_GATEWAY, or RTA_VIA, which has the family before the address. */
static int add_gateway(struct survey *survey, u32 ifindex, const struct nlattr *attr)
{
	const u8 *bytes = mnl_attr_get_payload(attr);
	size_t n_bytes = mnl_attr_get_payload_len(attr);
	size_t skip = 0;

	if (mnl_attr_get_type(attr) == RTA_VIA)
		skip = offsetof(struct rtvia, rtvia_addr);
	if (n_bytes < skip || !ifindex)
		return 0;
	return add(survey, BALEEN_HOST_GATEWAY, ifindex, bytes + skip, n_bytes - skip);
}

static int add_multipath_hop(struct survey *survey, const struct rtnexthop *hop)
{
	const struct nlattr *attr;
	int err = 0;

	mnl_attr_for_each_payload((void *)RTNH_DATA(hop), hop->rtnh_len - RTNH_LENGTH(0))
	{
		u16 type = mnl_attr_get_type(attr);

		if (!err && (type == RTA_GATEWAY || type == RTA_VIA))
			err = add_gateway(survey, hop->rtnh_ifindex, attr);
	}
	return err;
}

static int add_multipath(struct survey *survey, const struct nlattr *attr)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(attr);
	int left = mnl_attr_get_payload_len(attr);
	int err = 0;

	while (!err && left >= (int)sizeof(*hop) && RTNH_OK(hop, left)) {
		err = add_multipath_hop(survey, hop);
		left -= RTNH_ALIGN(hop->rtnh_len);
		hop = RTNH_NEXT(hop);
	}
	return err;
}

static int visit_route(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attr, *gateway = NULL;
	struct survey *survey = data;
	u32 ifindex = 0;
	int err = 0;

	mnl_attr_for_each(attr, message, sizeof(struct rtmsg)) {
		if (err)
			break;
		switch (mnl_attr_get_type(attr)) {
		case RTA_OIF: ifindex = baleen_netlink_u32(attr); break;
		case RTA_GATEWAY:
		case RTA_VIA: gateway = attr; break;
		case RTA_MULTIPATH: err = add_multipath(survey, attr); break;
		case RTA_NH_ID: err = add_object(survey, baleen_netlink_u32(attr)); break;
		}
	}
	if (!err && gateway)
		err = add_gateway(survey, ifindex, gateway);
	return visited(err);
}

/* --- peers ---------------------------------------------------------------- */

static int visit_socket(const struct nlmsghdr *message, void *data)
{
	const struct inet_diag_msg *socket = mnl_nlmsg_get_payload(message);
	struct baleen_host_address peer = { .role = BALEEN_HOST_PEER };
	struct baleen_host_session *session = &peer.session;
	struct survey *survey = data;
	size_t n_bytes;

	if (!has_header(message, sizeof(*socket)))
		return MNL_CB_OK;
	session->port = ntohs(socket->id.idiag_sport);
	if (socket->idiag_state == TCP_LISTEN) {
		survey->listens[session->port / 8] |= 1 << session->port % 8;
		return MNL_CB_OK;
	}
	n_bytes = socket->idiag_family == AF_INET ? 4 : 16;
	baleen_address_key(socket->id.idiag_dst, n_bytes, &peer.key);
	baleen_address_key(socket->id.idiag_src, n_bytes, &session->own);
	session->peer_port = ntohs(socket->id.idiag_dport);
	session->inode = socket->idiag_inode;
	return visited(baleen_address_set_add(&survey->set, &peer));
}

#define ASKED_STATES (PEER_STATES | 1 << TCP_LISTEN)

static int add_peers(struct survey *survey, struct baleen_netlink *sessions, u8 family)
{
	struct inet_diag_req_v2 request = {
		.sdiag_family = family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = ASKED_STATES,
	};
	int err = baleen_netlink_dump_on(sessions, SOCK_DIAG_BY_FAMILY, &request, sizeof(request),
					 visit_socket, survey);

	/* A kernel without inet_diag, or without the family. */
	return err == -ENOENT || err == -EPROTONOSUPPORT ? 0 : err;
}

/* The older request is for both families: the kernel walks its table of sockets, the dearest
 * part of a survey, once and not twice.
 */
static int add_all_peers(struct survey *survey, struct baleen_netlink *sessions)
{
	struct inet_diag_req request = { .idiag_family = AF_INET, .idiag_states = ASKED_STATES };
	int err = baleen_netlink_dump_on(sessions, TCPDIAG_GETSOCK, &request, sizeof(request),
					 visit_socket, survey);

	if (!err)
		return 0;
	err = add_peers(survey, sessions, AF_INET);
	return err ? err : add_peers(survey, sessions, AF_INET6);
}

/* Whatever the address that is listened on: who takes over an own port for a session could
 * have been asked there, too.
 */
static void find_outgoing(struct survey *survey)
{
	for (size_t i = 0; i < survey->set.n; i++) {
		struct baleen_host_address *address = &survey->set.address[i];
		u16 port = address->session.port;

		if (address->role == BALEEN_HOST_PEER)
			address->session.is_outgoing = !(survey->listens[port / 8] & 1 << port % 8);
	}
}

/* --- resolvers ------------------------------------------------------------ */

/* Reads a line as the C library's resolver does; others are no nameservers. */
static int add_resolver(struct survey *survey, char *line)
{
	static const char keyword[] = "nameserver";
	struct in_addr ip4;
	struct in6_addr ip6;

	if (strncmp(line, keyword, strlen(keyword)))
		return 0;
	line += strlen(keyword);
	if (*line != ' ' && *line != '\t')
		return 0;
	line += strspn(line, " \t");
	line[strcspn(line, " \t\r\n%")] = '\0'; /* %: the zone of fe80::1%eth0 */
	if (inet_aton(line, &ip4))
		return add(survey, BALEEN_HOST_RESOLVER, 0, &ip4, sizeof(ip4));
	if (inet_pton(AF_INET6, line, &ip6) == 1)
		return add(survey, BALEEN_HOST_RESOLVER, 0, &ip6, sizeof(ip6));
	return 0;
}

static int add_resolvers(struct survey *survey, const char *path)
{
	FILE *file = baleen_input_stream(path, BALEEN_INPUT_SYSTEM, NULL);
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	if (!file)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	while (!err && getline(&line, &room, file) >= 0)
		err = add_resolver(survey, line);
	if (!err && !feof(file))
		err = -errno;
	free(line);
	fclose(file);
	return err;
}

/* --- all ------------------------------------------------------------------ */

/* Nexthop objects come before the routes that name them. */
static const struct step {
	u16 type;
	u16 header_bytes;
	mnl_cb_t visit;
	const char *what;
} steps[] = {
	{ RTM_GETADDR, sizeof(struct ifaddrmsg), visit_address, "addresses" },
	{ RTM_GETNEXTHOP, sizeof(struct nhmsg), visit_nexthop, "nexthop objects" },
	{ RTM_GETROUTE, sizeof(struct rtmsg), visit_route, "routes" },
};

static int survey_steps(struct survey *survey, struct baleen_netlink *route,
			struct baleen_error *error)
{
	static const struct rtmsg every_family; /* the longest of the headers */
	int err;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		err = baleen_netlink_dump_on(route, steps[i].type, &every_family,
					     steps[i].header_bytes, steps[i].visit, survey);
		if (err)
			return baleen_fail(error, -err, "cannot list the %s of the host: %s",
					   steps[i].what, strerror(-err));
	}
	return 0;
}

static int survey_devices(struct survey *survey, struct baleen_error *error)
{
	struct baleen_netlink route = { .bus = NETLINK_ROUTE };
	int err = baleen_links_read_on(&route, &survey->links, error);

	if (!err)
		err = survey_steps(survey, &route, error);
	baleen_netlink_close(&route);
	return err;
}

static int survey_peers(struct survey *survey, struct baleen_error *error)
{
	struct baleen_netlink sessions = { .bus = NETLINK_SOCK_DIAG };
	int err = add_all_peers(survey, &sessions);

	baleen_netlink_close(&sessions);
	find_outgoing(survey);
	if (err)
		return baleen_fail(error, -err, "cannot list the TCP sessions of the host: %s",
				   strerror(-err));
	return 0;
}

static int survey_resolvers(struct survey *survey, const char *path, struct baleen_error *error)
{
	int err = add_resolvers(survey, path);

	return err ? baleen_fail(error, -err, "%s: %s", path, strerror(-err)) : 0;
}

/* @err: of what was done with it */
static int end(struct survey *survey, int err)
{
	free(survey->hop);
	if (err) {
		baleen_links_free(&survey->links);
		free(survey->set.address);
	} else {
		baleen_address_set_sort(&survey->set);
	}
	return err;
}

int baleen_host_resolvers(const char *path, struct baleen_host_address **out, size_t *n,
			  struct baleen_error *error)
{
	struct survey survey = { 0 };
	int err = end(&survey, survey_resolvers(&survey, path, error));

	if (err)
		return err;
	*out = survey.set.address;
	*n = survey.set.n;
	return 0;
}

int baleen_host_survey_all(struct baleen_address_set *set, struct baleen_links *links,
			   struct baleen_error *error)
{
	struct survey survey = { 0 };
	int err = survey_devices(&survey, error);

	if (!err)
		err = survey_peers(&survey, error);
	if (!err)
		err = survey_resolvers(&survey, "/etc/resolv.conf", error);
	err = end(&survey, err);
	if (err)
		return err;
	*set = survey.set;
	*links = survey.links;
	return 0;
}
