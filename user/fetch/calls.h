/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The system calls that the process may make: a list of those that a fetch needs.
 *
 * It is what libcurl, its TLS library and the resolver of glibc call, threads included, on
 * Debian 12 and 13. Of calls that do many things the arguments are looked at: no process is
 * started, no namespace is made, no file is opened for writing, and a socket is of TCP, UDP,
 * routing netlink or this host (where systemd-resolved, nscd and sssd answer).
 *
 * A call that is not on the list fails with EPERM, since libraries try calls and do without
 * them; one that is newer than the list with ENOSYS, as on an older kernel. A call that only
 * an attack makes ends the process, and the kernel logs its number (audit, type 1326).
 */
#ifndef BALEEN_CALLS_H
#define BALEEN_CALLS_H

/**
 * calls_restrict() - allow these calls and no others, for good
 *
 * Context: behind PR_SET_NO_NEW_PRIVS.
 * Return: 0, also of a kernel without seccomp, where the other bounds remain; or a negative
 * errno.
 */
int calls_restrict(void);

#endif /* BALEEN_CALLS_H */
