/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A thread of the fuzzer of /dev/baleen: what it knows, and where its bytes lie.
 *
 * An epoch begins without filters. In one of two there is one thread, alone, which
 * knows what every command has to say; in the others there are several, which only
 * know what must never be, and besides them one that scribbles over their arguments
 * and one that takes the memory away:
 *
 *      window   always there; the threads write and read here
 *      arena    the same memory at other addresses, in pieces there and gone; its
 *               addresses are what the kernel is given
 */
#ifndef BALEEN_TESTS_KMOD_FUZZ_H
#define BALEEN_TESTS_KMOD_FUZZ_H

#include <stdatomic.h>

#include "../dev.h"

#define N_NAMES 6
#define N_FDS 6
#define FIRST_FD 100
#define MAX_THREADS 4

/* Bytes of window for each thread. */
#define SLOT_BYTES (2u << 20)

/* What a thread that is alone knows of the filter of a name. */
struct known {
	u8 *bytes; /* NULL: there is none */
	size_t n_bytes;
	struct baleen_image image;
	bool loose; /* userspace may answer otherwise: loops over blocks are bounded here */
};

struct fuzz {
	u64 random;
	u64 seed;
	u32 epoch;
	u32 thread;
	u32 step;
	bool alone;
	const char *op;
	u8 *slot;	  /* of the window */
	u64 slot_address; /* that the kernel is given for it */
	size_t n_used;	  /* of the slot, in this step; not above half of it */
	bool has_end;	  /* a piece at its end is used, too */
	struct known known[N_NAMES];
};

/* A piece of a slot. */
struct place {
	u8 *at;
	u64 address;
	size_t n_bytes;
};

extern struct file *images;
extern u32 n_images;
extern atomic_int n_findings;
extern char devices[4][16]; /* of the network namespace */

__attribute__((format(printf, 2, 3))) void finding(const struct fuzz *fuzz, const char *format,
						   ...);

static inline u32 below(struct fuzz *fuzz, u32 n)
{
	return next_random(&fuzz->random) % n;
}

static inline bool one_in(struct fuzz *fuzz, u32 n)
{
	return !below(fuzz, n);
}

/* 0, 1, n - 1, n, n + 1, a power of two or so, any: what breaks a check. */
u64 odd_number(struct fuzz *fuzz, u64 n);

/* Of the slot, full of poison. */
struct place place(struct fuzz *fuzz, size_t n_bytes);

/* Its address or, once in a while when that is allowed, one that is no good. */
u64 address_of(struct fuzz *fuzz, const struct place *place, bool *spoiled);

/* A file of the device, most often open for both. */
int any_fd(struct fuzz *fuzz, bool *spoiled);

/* The size of a struct of an array: its own, or that of a later release. */
u32 size_of(struct fuzz *fuzz, u32 n_bytes);

void name_of(u32 n, u8 *name);

/* The name of a filter; a rule's now and then where nothing is known. */
struct baleen_dev_target any_target(struct fuzz *fuzz, u32 *n);

/**
 * make_image() - an image, or what looks like one
 * @fuzz: chooses
 * @name: in its header
 * @n_bytes: set
 *
 * Return: it, to be freed.
 */
u8 *make_image(struct fuzz *fuzz, const u8 *name, size_t *n_bytes);

/* Will the kernel take what userspace's checks take? */
bool image_fits_kernel(const struct baleen_image *image);

struct baleen_key any_key(struct fuzz *fuzz);

/**
 * call() - an ioctl in whose argument one thing may be wrong
 * @fuzz: chooses
 * @number: of the command
 * @arg: its argument; written back as the kernel left it
 * @n_bytes: of it
 * @spoiled: set when something is wrong with it; left alone otherwise
 *
 * Finds an errno that no command has, and an argument that a failure changed.
 *
 * Return: 0 or a negative errno.
 */
int call(struct fuzz *fuzz, unsigned long number, void *arg, size_t n_bytes, bool *spoiled);

/* The operations; each makes one command or a few. */
void op_create(struct fuzz *fuzz);
void op_swap(struct fuzz *fuzz);
void op_destroy(struct fuzz *fuzz);
void op_write(struct fuzz *fuzz);
void op_query(struct fuzz *fuzz);
void op_insert(struct fuzz *fuzz);
void op_delete(struct fuzz *fuzz);
void op_export(struct fuzz *fuzz);
void op_get(struct fuzz *fuzz);
void op_list(struct fuzz *fuzz);
void op_counters(struct fuzz *fuzz);
void op_read(struct fuzz *fuzz);
void op_unknown(struct fuzz *fuzz);
void op_files(struct fuzz *fuzz);
void op_fork(struct fuzz *fuzz);
void op_bind(struct fuzz *fuzz);
void op_unbind(struct fuzz *fuzz);
void op_binding(struct fuzz *fuzz);
void op_send(struct fuzz *fuzz);

/* Ask what is there, where something else than meant was done, or keys changed. */
void learn(struct fuzz *fuzz, u32 n);
void learn_all(struct fuzz *fuzz);
void forget_all(struct fuzz *fuzz);

#endif /* BALEEN_TESTS_KMOD_FUZZ_H */
