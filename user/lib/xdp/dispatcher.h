/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program in libxdp's dispatcher, which calls the XDP programs of a device one
 * after the other, by priority, until one gives a final verdict.
 *
 * libxdp changes a dispatcher by making another, with all the programs that
 * stay, and putting that on the device in place of the old one, in one step.
 * It adds programs or removes them, so a replacement is two steps, between
 * which both are asked: a packet sees the old rules, or both, or the new.
 *
 * It keeps its pins on bpffs; our programs are pinned there, too:
 *
 *      /sys/fs/bpf/xdp/dispatch-<ifindex>-<dispatcher's id>/prog<n>-{link,prog}
 *
 * Source: protocol.org of xdp-tools 1.3.1. Finding programs by their id takes
 * CAP_SYS_ADMIN.
 */
#ifndef BALEEN_DISPATCHER_H
#define BALEEN_DISPATCHER_H

#include <bpf/libbpf.h>

#include "net/device.h"
#include "xdp/pins.h"

/* Before programs of the default priority, 50: what is dropped costs them nothing. */
#define BALEEN_CHAIN_PRIORITY 10

struct xdp_program;

/**
 * baleen_dispatcher_load() - load a program that can be put in a chain
 * @object: opened, its maps and constants set
 * @program: the program in the object
 * @frags: it takes multi-buffer frames; the chain does when all its programs do
 * @component: to be closed by xdp_program__close() before @object is
 * @error: filled in on failure
 *
 * Return: 0; a negative errno, also when the kernel cannot replace functions of
 * programs, or libxdp has no dispatcher.
 */
int baleen_dispatcher_load(struct bpf_object *object, struct bpf_program *program, bool frags,
			   struct xdp_program **component, struct baleen_error *error);

/**
 * baleen_dispatcher_is_there() - is the program of a device a dispatcher?
 * @ifindex: the device
 *
 * Return: true; false also when there is none, or it may not be looked at.
 */
bool baleen_dispatcher_is_there(int ifindex);

/**
 * baleen_dispatcher_has() - is one of these programs in a device's chain?
 * @ifindex: the device
 * @ids: ids of the programs
 * @n: how many
 * @found: the first of them that is; untouched when none is
 *
 * Return: 1; 0 when none is, or there is no chain; a negative errno.
 */
int baleen_dispatcher_has(int ifindex, const u32 *ids, u32 n, u32 *found);

/**
 * baleen_dispatcher_add() - put a program in the chain of a device
 * @pins: pins of the device, locked
 * @component: from baleen_dispatcher_load(), pinned
 * @mode: native or generic; another dispatcher there has to have the same
 * @error: filled in on failure: the reason and no more
 *
 * Return: 0 or a negative errno.
 */
int baleen_dispatcher_add(const struct baleen_pins *pins, struct xdp_program *component,
			  enum baleen_mode mode, struct baleen_error *error);

/**
 * baleen_dispatcher_replace() - put a program in a chain and take another out
 * @pins: pins of the device, locked
 * @component: from baleen_dispatcher_load(), pinned
 * @program_id: id of the one to take out, which is pinned there
 * @mode: that of the dispatcher
 * @error: filled in on failure: the reason and no more
 *
 * Return: 0; a negative errno, and the old one stays alone.
 */
int baleen_dispatcher_replace(const struct baleen_pins *pins, struct xdp_program *component,
			      u32 program_id, enum baleen_mode mode, struct baleen_error *error);

/**
 * baleen_dispatcher_remove() - take a program out of the chain of a device
 * @pins: pins of the device, locked
 * @program_id: id of the program, which is pinned there
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno; -ENOENT when it is not in the chain.
 */
int baleen_dispatcher_remove(const struct baleen_pins *pins, u32 program_id,
			     struct baleen_error *error);

/**
 * baleen_dispatcher_tidy() - undo what a killed command left half done
 * @pins: pins of the device, locked
 * @program_id: the program that stays in the chain, or 0
 *
 * Takes every other program that is pinned for the device out of the chain, and
 * removes the pins of dispatchers with such programs that did not get on the
 * device.
 */
void baleen_dispatcher_tidy(const struct baleen_pins *pins, u32 program_id);

/**
 * baleen_dispatcher_forget() - let go of what libxdp keeps of our programs
 * @pins: pins of a device that is gone, or whose chain has them no more
 *
 * Should the device be in another network namespace, this takes them off.
 */
void baleen_dispatcher_forget(const struct baleen_pins *pins);

#endif /* BALEEN_DISPATCHER_H */
