/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A cache digest over HTTP, as Squid fetches it.
 *
 * The server sends the head alone, and the mask after a pause. When a part of the mask comes
 * together with the head, Squid up to version 7 puts that part and the rest of the first 4 KiB
 * 128 bytes too far (its bug 5510), and finds next to nothing. It reads a mask that comes
 * later correctly.
 *
 *      HTTP header, head (128 bytes) | pause | mask
 *
 * One thread: a connection that pauses is suspended.
 */
#ifndef BALEEN_DAEMON_DIGEST_SERVER_H
#define BALEEN_DAEMON_DIGEST_SERVER_H

#include <sys/socket.h>

#include "daemon/digest_document.h"

/**
 * struct digest_server - how to serve
 * @maker: started
 * @address: where to listen; its port is that of the socket once it is open
 * @pause_ms: between head and mask
 * @max_age_s: how long Squid may keep it
 */
struct digest_server {
	struct digest_maker *maker;
	struct sockaddr_storage address;
	u64 pause_ms;
	u64 max_age_s;
};

/* Serves until a signal comes that was held back (signals.h); 0, or EXIT_FAILED after a
 * message. @on_ready: called once it listens, with the port.
 */
int digest_serve(const struct digest_server *server,
		 void (*on_ready)(const struct digest_server *server, u32 port));

/* baleend --serve-digest: the arguments are those of `baleen icp serve`; its exit status. */
int serve_digest(int argc, char **argv);

#endif /* BALEEN_DAEMON_DIGEST_SERVER_H */
