// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The misc device: writes of images, and reads of the table. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "dev.h"
#include "load.h"
#include "names.h"

/**
 * struct dev_file - the device, opened
 * @lock: of @load, and one write after the other
 * @load: the image that is being written
 */
struct dev_file {
	struct mutex lock;
	struct baleen_load load;
};

static struct dev_file *dev_file_of(struct file *file)
{
	return ((struct seq_file *)file->private_data)->private;
}

static int dev_open(struct inode *inode, struct file *file)
{
	struct dev_file *dev_file = kzalloc(sizeof(*dev_file), GFP_KERNEL_ACCOUNT);
	int err;

	if (!dev_file)
		return -ENOMEM;
	mutex_init(&dev_file->lock);
	dev_file->load.needs_name = true;
	/* The misc device leaves its own there. */
	file->private_data = NULL;
	err = single_open(file, baleen_dev_table, dev_file);
	if (err)
		kfree(dev_file);
	return err;
}

static int dev_release(struct inode *inode, struct file *file)
{
	struct dev_file *dev_file = dev_file_of(file);

	baleen_load_drop(&dev_file->load);
	kfree(dev_file);
	return single_release(inode, file);
}

/* A stream: the offset does not matter. A write completes at most one image, so that
 * its errno is that of this image.
 */
static ssize_t dev_write(struct file *file, const char __user *from, size_t n_bytes, loff_t *pos)
{
	struct dev_file *dev_file = dev_file_of(file);
	struct baleen_body *body;
	size_t n_taken;
	int err;

	if (!n_bytes)
		return 0;
	if (mutex_lock_killable(&dev_file->lock))
		return -EINTR;
	err = baleen_load_feed(&dev_file->load, from, n_bytes, &n_taken, &body);
	if (!err && body) {
		err = baleen_filter_store(body->image.name, body);
		if (err)
			baleen_body_free(body);
	}
	mutex_unlock(&dev_file->lock);
	return err ? err : n_taken;
}

/* A process closes the file in the middle of an image: it gets an error, which cat
 * prints. Other processes that have the file open may go on. The close does not wait
 * for a write of another process, whose pages may take any time.
 */
static int dev_flush(struct file *file, fl_owner_t owner)
{
	struct dev_file *dev_file = dev_file_of(file);
	int err;

	if (!(file->f_mode & FMODE_WRITE) || !mutex_trylock(&dev_file->lock))
		return 0;
	err = dev_file->load.n_done ? -EINVAL : 0;
	mutex_unlock(&dev_file->lock);
	return err;
}

static const struct file_operations dev_operations = {
	.owner = THIS_MODULE,
	.open = dev_open,
	.release = dev_release,
	.read = seq_read,
	.write = dev_write,
	.llseek = seq_lseek,
	.flush = dev_flush,
	.unlocked_ioctl = baleen_dev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "baleen",
	.fops = &dev_operations,
	.mode = 0600,
};

int baleen_dev_init(void)
{
	return misc_register(&device);
}

void baleen_dev_exit(void)
{
	misc_deregister(&device);
}
