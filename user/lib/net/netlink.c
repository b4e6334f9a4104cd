// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asks the kernel for a list over netlink, and listens to its news.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/netlink.h"
#include "util/error.h"

/* The kernel fills at most 32 KiB at a time. */
#define DUMP_BYTES 32768
#define DUMP_SEQ 1
#define DUMP_TRIES 8

/* libmnl 1.0.4 takes a dump that ended in an error for one that is empty. */
static int dump_done(const struct nlmsghdr *message, void *data)
{
	int code = 0;

	if (mnl_nlmsg_get_payload_len(message) >= sizeof(code))
		memcpy(&code, mnl_nlmsg_get_payload(message), sizeof(code));
	if (code >= 0)
		return MNL_CB_STOP;
	errno = -code;
	return MNL_CB_ERROR;
}

static int dump_failed(const struct nlmsghdr *message, void *data)
{
	const struct nlmsgerr *reply = mnl_nlmsg_get_payload(message);

	errno = mnl_nlmsg_get_payload_len(message) < sizeof(*reply) ? EBADMSG : -reply->error;
	return MNL_CB_ERROR;
}

static int dump_receive(struct mnl_socket *socket, mnl_cb_t visit, void *data)
{
	/* A type that is in range and NULL would be passed over, not left to libmnl. */
	static mnl_cb_t control[NLMSG_MIN_TYPE] = {
		[NLMSG_ERROR] = dump_failed,
		[NLMSG_DONE] = dump_done,
	};
	char buffer[DUMP_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	u32 portid = mnl_socket_get_portid(socket);
	ssize_t n;
	int more;

	do {
		n = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
		if (n < 0)
			return -errno;
		more = mnl_cb_run2(buffer, n, DUMP_SEQ, portid, visit, data, control,
				   NLMSG_MIN_TYPE);
	} while (more > MNL_CB_STOP);
	return more == MNL_CB_STOP ? 0 : -errno;
}

static int open_once(struct baleen_netlink *netlink)
{
	if (netlink->socket)
		return 0;
	netlink->socket = mnl_socket_open2(netlink->bus, SOCK_CLOEXEC);
	if (!netlink->socket || mnl_socket_bind(netlink->socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	return 0;
}

/* A dump that failed leaves messages behind, which are no answer to the next request:
 * the socket goes with them.
 */
static int dump_once(struct baleen_netlink *netlink, const struct nlmsghdr *request, mnl_cb_t visit,
		     void *data)
{
	int err = open_once(netlink);

	if (!err && mnl_socket_sendto(netlink->socket, request, request->nlmsg_len) < 0)
		err = -errno;
	if (!err)
		err = dump_receive(netlink->socket, visit, data);
	if (err)
		baleen_netlink_close(netlink);
	return err;
}

static int send_request(struct baleen_netlink *netlink, u16 type, u16 flags, const void *header,
			size_t header_bytes, mnl_cb_t visit, void *data)
{
	char buffer[256] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	int err = -EINTR;

	request->nlmsg_type = type;
	request->nlmsg_flags = NLM_F_REQUEST | flags;
	request->nlmsg_seq = DUMP_SEQ;
	memcpy(mnl_nlmsg_put_extra_header(request, header_bytes), header, header_bytes);
	/* EINTR: something changed under the dump, so it may lack entries. */
	for (int i = 0; i < DUMP_TRIES && err == -EINTR; i++)
		err = dump_once(netlink, request, visit, data);
	return err;
}

int baleen_netlink_dump_on(struct baleen_netlink *netlink, u16 type, const void *header,
			   size_t header_bytes, mnl_cb_t visit, void *data)
{
	return send_request(netlink, type, NLM_F_DUMP, header, header_bytes, visit, data);
}

int baleen_netlink_ask(int bus, u16 type, const void *header, size_t header_bytes, mnl_cb_t visit,
		       void *data)
{
	struct baleen_netlink netlink = { .bus = bus };
	int err = send_request(&netlink, type, 0, header, header_bytes, visit, data);

	baleen_netlink_close(&netlink);
	return err;
}

int baleen_netlink_dump(int bus, u16 type, const void *header, size_t header_bytes, mnl_cb_t visit,
			void *data)
{
	struct baleen_netlink netlink = { .bus = bus };
	int err = baleen_netlink_dump_on(&netlink, type, header, header_bytes, visit, data);

	baleen_netlink_close(&netlink);
	return err;
}

void baleen_netlink_close(struct baleen_netlink *netlink)
{
	if (netlink->socket)
		mnl_socket_close(netlink->socket);
	netlink->socket = NULL;
}

int baleen_netlink_listen(u32 groups, u32 buffer_bytes, const char *subject,
			  struct baleen_error *error)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = groups };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	int err;

	if (fd < 0)
		return baleen_fail(error, errno, "cannot listen for %s: %m", subject);
	if (buffer_bytes &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof(buffer_bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof(buffer_bytes));
	if (!bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = baleen_fail(error, errno, "cannot listen for %s: %m", subject);
	close(fd);
	return err;
}
