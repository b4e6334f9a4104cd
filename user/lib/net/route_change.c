// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Our own routes in a kernel table. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "key/key_text.h"
#include "net/netlink.h"
#include "net/route_change.h"
#include "net/route_names.h"

/* Requests that are sent together; their answers fit into any socket. */
#define BATCH 64
/* Header, table and the longest destination. */
#define REQUEST_BYTES 128

/**
 * struct batch - requests on their way to the kernel
 * @socket: the socket
 * @table: the table
 * @bytes: requests that are not sent yet
 * @used: of them
 * @route: what each is about
 * @n: how many
 * @seq: number of the first of them
 * @changes: what was done
 * @error: filled in on failure
 */
struct batch {
	struct mnl_socket *socket;
	u32 table;
	char bytes[BATCH * REQUEST_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	size_t used;
	const struct baleen_route *route[BATCH];
	u32 n;
	u32 seq;
	struct baleen_route_changes *changes;
	struct baleen_error *error;
};

bool baleen_route_table_is_used(u32 table)
{
	return table == RT_TABLE_MAIN || table == RT_TABLE_LOCAL || table == RT_TABLE_DEFAULT;
}

/* --- requests ------------------------------------------------------------------ */

static void put_destination(struct nlmsghdr *message, const struct baleen_key *key)
{
	u8 bytes[16];

	if (key->domain == BALEEN_IP4) {
		mnl_attr_put_u32(message, RTA_DST, htonl(key->ip4));
		return;
	}
	for (int i = 0; i < 8; i++) {
		bytes[i] = key->hi >> (56 - 8 * i);
		bytes[8 + i] = key->lo >> (56 - 8 * i);
	}
	mnl_attr_put(message, RTA_DST, sizeof(bytes), bytes);
}

static void put_request(struct batch *batch, const struct baleen_route *route, bool is_new)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(batch->bytes + batch->used);
	struct rtmsg *header;

	message->nlmsg_type = is_new ? RTM_NEWROUTE : RTM_DELROUTE;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (is_new ? NLM_F_CREATE | NLM_F_EXCL : 0);
	message->nlmsg_seq = batch->seq + batch->n;
	header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	header->rtm_family = route->key.domain == BALEEN_IP4 ? AF_INET : AF_INET6;
	header->rtm_dst_len = route->length;
	header->rtm_protocol = BALEEN_ROUTE_PROTOCOL;
	header->rtm_scope = is_new ? RT_SCOPE_UNIVERSE : RT_SCOPE_NOWHERE;
	header->rtm_type = route->type;
	put_destination(message, &route->key);
	mnl_attr_put_u32(message, RTA_TABLE, batch->table);
	batch->used += MNL_ALIGN(message->nlmsg_len);
	batch->route[batch->n++] = route;
}

/* --- answers ------------------------------------------------------------------- */

static int fail(const struct batch *batch, const struct baleen_route *route, int code)
{
	char key[BALEEN_KEY_TEXT];

	baleen_key_format(&route->key, BALEEN_KEY_SRC, key);
	return baleen_fail(batch->error, code, "routing table %u: %s/%u: %s", batch->table, key,
			   route->length, strerror(code));
}

/* Somebody may have taken ours away meanwhile. */
static int receive_answer(struct batch *batch, u32 index, int code, bool is_new)
{
	if (!code && is_new)
		batch->changes->n_added++;
	else if (!code || code == ESRCH)
		batch->changes->n_removed++;
	else if (code == EEXIST)
		batch->changes->n_others++;
	else
		return fail(batch, batch->route[index], code);
	return 0;
}

static int receive_message(struct batch *batch, const struct nlmsghdr *message, bool is_new,
			   u32 *done)
{
	const struct nlmsgerr *reply = mnl_nlmsg_get_payload(message);
	u32 index = message->nlmsg_seq - batch->seq;

	if (message->nlmsg_type != NLMSG_ERROR ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*reply) || index >= batch->n)
		return 0;
	++*done;
	return receive_answer(batch, index, -reply->error, is_new);
}

static int receive_answers(struct batch *batch, bool is_new)
{
	char bytes[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
	u32 done = 0;
	int err = 0;

	while (done < batch->n && !err) {
		ssize_t n = mnl_socket_recvfrom(batch->socket, bytes, sizeof(bytes));
		int left = n;

		if (n < 0)
			return baleen_fail(batch->error, errno, "routing table %u: %m",
					   batch->table);
		for (const struct nlmsghdr *message = (void *)bytes;
		     mnl_nlmsg_ok(message, left) && !err; message = mnl_nlmsg_next(message, &left))
			err = receive_message(batch, message, is_new, &done);
	}
	return err;
}

static int flush(struct batch *batch, bool is_new)
{
	int err = 0;

	if (!batch->n)
		return 0;
	if (mnl_socket_sendto(batch->socket, batch->bytes, batch->used) < 0)
		err = baleen_fail(batch->error, errno, "routing table %u: %m", batch->table);
	if (!err)
		err = receive_answers(batch, is_new);
	batch->seq += batch->n;
	batch->n = batch->used = 0;
	return err;
}

static int add(struct batch *batch, const struct baleen_route *route, bool is_new)
{
	put_request(batch, route, is_new);
	return batch->n == BATCH ? flush(batch, is_new) : 0;
}

/* --- the difference -------------------------------------------------------------- */

/* Removes or adds the routes of @a that are not in @b, in any way or with this type. */
static int apply(struct batch *batch, const struct baleen_routes *a, const struct baleen_routes *b,
		 bool is_new)
{
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; i < a->n && !err; i++) {
		const struct baleen_route *route = &a->route[i];

		while (at < b->n && baleen_route_compare(&b->route[at], route) < 0)
			at++;
		if (at == b->n || baleen_route_compare(&b->route[at], route) ||
		    b->route[at].type != route->type)
			err = add(batch, route, is_new);
		else if (is_new)
			batch->changes->n_same++;
	}
	return err ? err : flush(batch, is_new);
}

static struct mnl_socket *open_socket(void)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);

	if (socket && mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(socket);
		return NULL;
	}
	return socket;
}

int baleen_routes_set(u32 table, const struct baleen_routes *wanted,
		      struct baleen_route_changes *changes, struct baleen_error *error)
{
	struct batch batch = { .table = table, .seq = 1, .changes = changes, .error = error };
	struct baleen_routes own;
	int err;

	*changes = (struct baleen_route_changes){ 0 };
	err = baleen_routes_read(table, true, &own, error);
	if (err)
		return err;
	batch.socket = open_socket();
	if (!batch.socket) {
		err = baleen_fail(error, errno, "routing table %u: %m", table);
	} else {
		err = apply(&batch, &own, wanted, false);
		if (!err)
			err = apply(&batch, wanted, &own, true);
		mnl_socket_close(batch.socket);
	}
	baleen_routes_free(&own);
	return err;
}
