// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A place in a chain of XDP programs, for the time of a load.
 *
 * A program that replaces a function of another (freplace), as those in
 * libxdp's dispatcher do, is verified against one such function, and fits all
 * that look the same. libxdp makes the dispatcher, and with it the function
 * that we shall replace, when it attaches; this one is there before.
 */
#include <baleen/port.h>

SEC("xdp")
int baleen_slot(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
