/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a device's filter is kept between commands: directories on bpffs.
 *
 *      /sys/fs/bpf/baleen/                       0700
 *        ns<cookie>-if<ifindex>/                 the lock of its writers
 *          clsact                                it was made for what goes out: see clsact.h
 *          link                                  the BPF link, if there is one: see attachment.h
 *          changing                              a change of the chain goes on
 *          <program id>/                         what one program is made of
 *            prog config stats rule0 ... rule15 [events sampler]
 *                                                  [limits overruns limited]
 *
 * A directory whose number is not that of the program in force was left by a
 * command that was killed; the next writer removes it. Names with dots are refused
 * by bpffs and two namespaces may have an eth0 each, hence the numbers; that of what goes
 * out by a device has a minus: see net/device.h.
 */
#ifndef BALEEN_PINS_H
#define BALEEN_PINS_H

#include <baleen/port.h>
#include <linux/bpf.h>

#include "util/error.h"

/* The purpose of filters, and the name of their directory on bpffs. */
#define BALEEN_PINS "baleen"
#define BALEEN_PIN_ROOT_BYTES 64
#define BALEEN_PIN_BYTES 160

/* How long a writer waits for another, unless told. */
#define BALEEN_LOCK_TIMEOUT_MS 10000

/**
 * struct baleen_pins - the directory of one device
 * @root: the directory that it is in
 * @path: path of the directory
 * @netns_cookie: the network namespace's
 * @ifindex: the device's, with a minus of what goes out by it
 * @lock_fd: the locked directory, or -1
 */
struct baleen_pins {
	char root[BALEEN_PIN_ROOT_BYTES];
	char path[BALEEN_PIN_BYTES];
	u64 netns_cookie;
	int ifindex;
	int lock_fd;
};

/**
 * baleen_pins_root() - the directory of all pins of one purpose
 * @purpose: BALEEN_PINS or another name, up to 15 bytes
 * @root: filled in; BALEEN_PIN_ROOT_BYTES bytes
 * @error: filled in on failure; may be NULL
 *
 * Return: 0; -EXDEV as baleen_bpffs_find().
 */
int baleen_pins_root(const char *purpose, char *root, struct baleen_error *error);

/**
 * baleen_pins_name() - name the directory of a device of this namespace
 * @pins: filled in, not locked
 * @ifindex: the device
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_pins_name(struct baleen_pins *pins, int ifindex, struct baleen_error *error);

/**
 * baleen_pins_name_in() - the same of another purpose
 * @purpose: as for baleen_pins_root()
 * @pins: filled in, not locked
 * @ifindex: the device
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_pins_name_in(const char *purpose, struct baleen_pins *pins, int ifindex,
			struct baleen_error *error);

/**
 * baleen_pins_lock() - make the directory and become its only writer
 * @pins: as named; its lock is filled in
 * @timeout_ms: how long to wait for another writer
 * @error: filled in on failure
 *
 * Mounts bpffs when it is absent.
 *
 * Return: 0; -ETIMEDOUT when another writer held on; a negative errno.
 */
int baleen_pins_lock(struct baleen_pins *pins, u64 timeout_ms, struct baleen_error *error);

/**
 * baleen_pins_unlock() - let the next writer in
 * @pins: locked or not; a directory that holds nothing is removed
 */
void baleen_pins_unlock(struct baleen_pins *pins);

/**
 * baleen_pins_move() - give pins to another number
 * @from: not locked
 * @to: named, and not there
 * @error: filled in on failure
 *
 * Return: 0, also when somebody else has done so; -ETIMEDOUT when a writer held on; a negative
 * errno.
 */
int baleen_pins_move(const struct baleen_pins *from, const struct baleen_pins *to,
		     struct baleen_error *error);

/**
 * baleen_pins_clean() - remove what killed commands left behind
 * @pins: locked
 * @program_id: id of the link's program; its directory stays. 0 keeps none
 */
void baleen_pins_clean(const struct baleen_pins *pins, u32 program_id);

/**
 * baleen_pins_empty() - remove all that is pinned
 * @pins: locked, and it stays so
 */
void baleen_pins_empty(const struct baleen_pins *pins);

/**
 * baleen_pins_each() - visit the devices of this namespace that have pins
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_pins_each(int (*visit)(const struct baleen_pins *pins, void *data), void *data,
		     struct baleen_error *error);

/**
 * baleen_pins_each_in() - the same of another purpose
 * @purpose: as for baleen_pins_root()
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_pins_each_in(const char *purpose,
			int (*visit)(const struct baleen_pins *pins, void *data), void *data,
			struct baleen_error *error);

/**
 * baleen_pins_every_in() - visit the devices of all namespaces that have pins
 * @purpose: as for baleen_pins_root()
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_pins_every_in(const char *purpose,
			 int (*visit)(const struct baleen_pins *pins, void *data), void *data,
			 struct baleen_error *error);

/**
 * baleen_pins_are_there() - has a device pins, of whichever namespace?
 * @netns_cookie: cookie of the network namespace
 * @ifindex: the device
 *
 * Return: true when it has.
 */
bool baleen_pins_are_there(u64 netns_cookie, int ifindex);

/**
 * baleen_pins_are_here() - is the device of this network namespace?
 * @pins: as named
 *
 * Return: true when it is.
 */
bool baleen_pins_are_here(const struct baleen_pins *pins);

/* Killed commands leave directories; more of them in a row than this are not looked at. */
#define BALEEN_MAX_PINNED 64

/**
 * baleen_pins_programs() - the programs that have a directory
 * @pins: as named
 * @ids: filled in with BALEEN_MAX_PINNED of them at most, the newest first
 *
 * Return: how many; 0 also when the directory cannot be read.
 */
u32 baleen_pins_programs(const struct baleen_pins *pins, u32 *ids);

/**
 * baleen_pins_open_link() - open the pinned link
 * @pins: as named
 * @info: filled in; its ifindex is 0 when the link has lost its device
 *
 * Return: a descriptor or a negative errno.
 */
int baleen_pins_open_link(const struct baleen_pins *pins, struct bpf_link_info *info);

/**
 * baleen_pins_open_link_as() - open a pinned link of another name
 * @pins: as named
 * @name: name of the pin, up to 15 bytes
 * @info: filled in; its ifindex is 0 when the link has lost its device
 *
 * Return: a descriptor or a negative errno.
 */
int baleen_pins_open_link_as(const struct baleen_pins *pins, const char *name,
			     struct bpf_link_info *info);

/**
 * baleen_pins_add() - pin a descriptor
 * @directory: a directory of pins, or of a program
 * @name: name of the pin, up to 15 bytes
 * @fd: the descriptor; nothing is done for a negative one
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_pins_add(const char *directory, const char *name, int fd, struct baleen_error *error);

/**
 * baleen_pins_open() - open a pin of a program's directory
 * @pins: as named
 * @program_id: id of the program
 * @name: name of the pin
 *
 * Return: a descriptor or a negative errno.
 */
int baleen_pins_open(const struct baleen_pins *pins, u32 program_id, const char *name);

/**
 * baleen_pins_loaded_ns() - the time at which a pinned program was loaded
 * @pins: as named
 * @program_id: id of the program
 *
 * Return: nanoseconds of CLOCK_BOOTTIME; 0 when it is not known.
 */
u64 baleen_pins_loaded_ns(const struct baleen_pins *pins, u32 program_id);

#endif /* BALEEN_PINS_H */
