/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the programs of an instance of ICP sit: BPF links of XDP, and a filter of tc
 * on what leaves a device.
 */
#ifndef BALEEN_ICP_LINKS_H
#define BALEEN_ICP_LINKS_H

#include "icp/icp_load.h"

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

/**
 * baleen_icp_egress_put() - have a device's own answers seen
 * @pins: pins of the device, locked; remembers whether its clsact is ours
 * @egress_fd: the program; replaces one of ours
 * @error: filled in on failure
 *
 * It comes first of what others have there, and whatever it sees goes on to them.
 *
 * Return: 0; -EBUSY when somebody else has its place; a negative errno.
 */
int baleen_icp_egress_put(const struct baleen_pins *pins, int egress_fd,
			  struct baleen_error *error);

/**
 * baleen_icp_egress_id() - the program in our place on what leaves a device
 * @ifindex: the device
 *
 * Return: its number; 0 when there is none.
 */
u32 baleen_icp_egress_id(int ifindex);

/**
 * baleen_icp_egress_remove() - the opposite of baleen_icp_egress_put()
 * @pins: pins of the device, locked
 *
 * Removes the program in our place if it belongs to these pins, and our clsact with it
 * unless somebody uses it meanwhile.
 */
void baleen_icp_egress_remove(const struct baleen_pins *pins);

#endif /* BALEEN_ICP_LINKS_H */
