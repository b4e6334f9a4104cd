/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Members of the kernel's sockets, found in the BTF of the running kernel.
 */
#ifndef BALEEN_KERNEL_SOCK_H
#define BALEEN_KERNEL_SOCK_H

#include <baleen/stats.h>

/**
 * baleen_kernel_port_lock_bit() - where SOCK_BINDPORT_LOCK stands in a struct sock
 *
 * Return: bits from the start of the struct; 0 when the kernel has no BTF, or another
 * struct. The bit says that a process chose the port of a socket itself: a server, or a
 * client with a port of its own. The port of any other was chosen by the kernel.
 */
u32 baleen_kernel_port_lock_bit(void);

/**
 * baleen_kernel_tcp_fields() - where the numbers of a connection stand in a struct tcp_sock
 *
 * Return: bytes from the start of the struct; all are 0 when the kernel has no BTF, or a struct
 * that lacks one of them.
 */
struct baleen_tcp_fields baleen_kernel_tcp_fields(void);

#endif /* BALEEN_KERNEL_SOCK_H */
