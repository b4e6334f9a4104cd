/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The TCP sessions by which people are logged in to this host.
 */
#ifndef BALEEN_LOGINS_H
#define BALEEN_LOGINS_H

#include "net/address_set.h"

/**
 * struct baleen_logins - sessions of people
 * @inode: sockets, sorted
 * @n_inodes: how many
 * @session: sessions that $SSH_CONNECTION names, and, without ports, what logind knows
 * @n_sessions: how many
 *
 * All zeros has none. baleen_logins_free() frees the arrays.
 */
struct baleen_logins {
	u32 *inode;
	size_t n_inodes;
	struct baleen_host_address *session;
	size_t n_sessions;
};

/**
 * baleen_logins_read() - find them
 * @logins: filled in
 *
 * Reads /proc. The sockets of a process are of a login when a shell or another leader of a
 * session on a terminal descends from it, as from sshd. A server has none below it, so who
 * only reached its port is not logged in, and neither is who did not get past sshd's question
 * for a password. A command without a terminal has $SSH_CONNECTION, and behind sudo its
 * parents have it. To whom may not read this, as baleend without CAP_SYS_PTRACE, systemd-logind
 * tells who is logged in, and from where.
 *
 * What may not be read is passed over.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_logins_read(struct baleen_logins *logins);

/**
 * baleen_logins_has() - is somebody logged in by a session?
 * @logins: read
 * @address: peer of the session
 *
 * Return: true or false.
 */
bool baleen_logins_has(const struct baleen_logins *logins,
		       const struct baleen_host_address *address);

/**
 * baleen_logins_free() - free the arrays
 * @logins: read, or all zeros
 */
void baleen_logins_free(struct baleen_logins *logins);

#endif /* BALEEN_LOGINS_H */
