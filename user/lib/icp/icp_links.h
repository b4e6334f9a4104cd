/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the programs of an instance of ICP sit: BPF links of XDP, and a filter of tc
 * on what leaves a device.
 */
#ifndef BALEEN_ICP_LINKS_H
#define BALEEN_ICP_LINKS_H

#include "icp/icp_load.h"
#include "xdp/clsact.h"

/**
 * baleen_icp_wait_for_programs() - until every program that runs now has ended
 *
 * An RCU grace period; where the kernel has no call for that, with processors that have
 * no tick (nohz_full), a second, in which no program of ours is at work.
 */
void baleen_icp_wait_for_programs(void);

/**
 * baleen_icp_link_switch() - give a link another program
 * @link_fd: the link
 * @program_fd: the program
 * @old_fd: the one that it has
 * @error: filled in on failure: the reason and no more
 *
 * When this returns the old one runs nowhere any more.
 *
 * Return: 0; -EPERM when it has another one; a negative errno.
 */
int baleen_icp_link_switch(int link_fd, int program_fd, int old_fd, struct baleen_error *error);

/* The place of the program that has a device's own answers seen, whatever it sees goes on. */
extern const struct baleen_clsact baleen_icp_egress;

#endif /* BALEEN_ICP_LINKS_H */
