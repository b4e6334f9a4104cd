/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The misc device /dev/baleen: images are written into it, a table of the filters is
 * read from it, and all else is an ioctl (see <linux/baleen.h>).
 */
#ifndef BALEEN_KMOD_DEV_H
#define BALEEN_KMOD_DEV_H

struct file;
struct seq_file;

/* The ioctls, in dev_ioctl.c. */
long baleen_dev_ioctl(struct file *file, unsigned int command, unsigned long user);

/* The table that is read, in dev_table.c. */
int baleen_dev_table(struct seq_file *seq, void *unused);

int baleen_dev_init(void);
void baleen_dev_exit(void);

#endif /* BALEEN_KMOD_DEV_H */
