// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sample of a module that asks a filter of baleen.ko: by its name when it starts,
 * without looking for it again as long as it is loaded.
 *
 *	insmod asker.ko filter=NAME
 *	echo 0xc0000201 > /sys/module/asker/parameters/ask    192.0.2.1
 *	cat /sys/module/asker/parameters/answer
 *
 * For the test of the module's memory it also tells in how many pages of 2 MiB, and
 * of 4 KiB, the image of the filter is mapped.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pgtable.h>

#include "names.h"

static char *filter = "";
module_param(filter, charp, 0444);
MODULE_PARM_DESC(filter, "name of the filter");

static int answer = -ENODATA;
module_param(answer, int, 0444);
MODULE_PARM_DESC(answer, "what was answered last");

static unsigned int large_pages, small_pages;
module_param(large_pages, uint, 0444);
module_param(small_pages, uint, 0444);

static struct baleen_filter *asked;

static int ask(const char *value, const struct kernel_param *param)
{
	struct baleen_key key = { .domain = BALEEN_IP4 };
	int err = kstrtou32(value, 0, &key.ip4);

	if (err)
		return err;
	if (!asked)
		return -ENODEV;
	answer = baleen_filter_ask(asked, &key, 0);
	return 0;
}

static const struct kernel_param_ops ask_ops = { .set = ask };
module_param_cb(ask, &ask_ops, NULL, 0200);
MODULE_PARM_DESC(ask, "an IPv4 address as a number");

/* The image stays while its filter is not swapped, which this test does not. */
static void count_pages(void)
{
	const struct baleen_body *body = rcu_dereference_protected(asked->body, true);
	unsigned long at = (unsigned long)body->bytes, end = at + body->n_bytes;
	unsigned int level;

	while (at < end && lookup_address(at, &level)) {
		if (level == PG_LEVEL_2M)
			large_pages++;
		else
			small_pages++;
		at += level == PG_LEVEL_2M ? PMD_SIZE : PAGE_SIZE;
	}
}

static int __init asker_init(void)
{
	char name[BALEEN_NAME_BYTES] = "";

	if (strscpy_pad(name, filter, sizeof(name)) < 0)
		return -ENAMETOOLONG;
	asked = baleen_filter_find(name);
	if (!asked)
		return -ENOENT;
	count_pages();
	return 0;
}

static void __exit asker_exit(void)
{
	baleen_filter_put(asked);
}

module_init(asker_init);
module_exit(asker_exit);
MODULE_DESCRIPTION("Sample: asks a filter of baleen.ko");
MODULE_LICENSE("Dual BSD/GPL");
