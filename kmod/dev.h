/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The misc device /dev/baleen: images are written into it, a table of the filters is
 * read from it, and all else is an ioctl (see <linux/baleen.h>).
 */
#ifndef BALEEN_KMOD_DEV_H
#define BALEEN_KMOD_DEV_H

#include <linux/types.h>

struct file;
struct seq_file;

/* The ioctls, in dev_ioctl.c. */
long baleen_dev_ioctl(struct file *file, unsigned int command, unsigned long user);

/* The table that is read, in dev_table.c. */
int baleen_dev_table(struct seq_file *seq, void *unused);

/**
 * baleen_dev_check_size() - may a struct of an array have this size?
 * @n_bytes: as the process knows it
 * @n_first: as the first release had it
 *
 * Return: 0; -EINVAL; -E2BIG.
 */
int baleen_dev_check_size(u32 n_bytes, u32 n_first);

/**
 * baleen_dev_put() - give a process a struct that it may know in another size
 * @to: where it goes
 * @n_room: size that the process knows
 * @from: the struct
 * @n_bytes: its size here
 *
 * Context: may sleep.
 * Return: 0 or -EFAULT.
 */
int baleen_dev_put(void __user *to, u32 n_room, const void *from, u32 n_bytes);

int baleen_dev_init(void);
void baleen_dev_exit(void);

#endif /* BALEEN_KMOD_DEV_H */
