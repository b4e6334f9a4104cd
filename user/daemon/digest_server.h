/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A cache digest over HTTP, as Squid fetches it.
 *
 * The head leaves alone, and the mask a pause later: Squid up to 7 shifts what came of the
 * mask with the head by 128 bytes and the rest of the first 4 KiB with it (its bug 5510), so
 * that it finds next to nothing. A mask that comes later it reads right.
 *
 *      HTTP header, head (128 bytes) | pause | mask
 *
 * One thread: a connection that pauses is suspended.
 */
#ifndef BALEEN_CLI_DIGEST_SERVER_H
#define BALEEN_CLI_DIGEST_SERVER_H

#include <sys/socket.h>

#include "cli/icp/digest_document.h"

/* Where Squid has its own. */
#define DIGEST_PATH "/squid-internal-periodic/store_digest"

/**
 * struct digest_server - how to serve
 * @maker: started
 * @address: where to listen; its port is that of the socket once it is open
 * @pause_ms: between head and mask
 * @max_age_s: how long Squid shall think it new
 */
struct digest_server {
	struct digest_maker *maker;
	struct sockaddr_storage address;
	u64 pause_ms;
	u64 max_age_s;
};

/* Room for an address and a port, such as [2001:db8::1]:8129. */
#define DIGEST_ADDRESS_TEXT 64

/* ADDRESS:PORT as a URL has it; returns @text. */
const char *digest_address_text(const struct digest_server *server, u32 port, char *text);

/* Serves until a signal comes that was held back (signals.h); 0, or EXIT_FAILED after a
 * message. @on_ready: called once it listens, with the port.
 */
int digest_serve(const struct digest_server *server,
		 void (*on_ready)(const struct digest_server *server, u32 port));

#endif /* BALEEN_CLI_DIGEST_SERVER_H */
