// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Starts and stops the parts of the module, in order. */
#include <linux/init.h>
#include <linux/module.h>

#include "body.h"
#include "dev.h"
#include "hook.h"
#include "kfunc.h"
#include "names.h"

static int __init baleen_init(void)
{
	int err = baleen_bodies_init();

	if (err)
		return err;
	err = baleen_names_init();
	if (err)
		goto no_names;
	err = baleen_hook_init();
	if (err)
		goto no_hook;
	err = baleen_dev_init();
	if (err)
		goto no_dev;
	baleen_kfunc_init();
	return 0;
no_dev:
	baleen_hook_exit();
no_hook:
	baleen_names_exit();
no_names:
	baleen_bodies_exit();
	return err;
}

static void __exit baleen_exit(void)
{
	baleen_dev_exit();
	baleen_hook_exit();
	baleen_names_exit();
	baleen_bodies_exit();
}

module_init(baleen_init);
module_exit(baleen_exit);
MODULE_DESCRIPTION("Packet filtering by set membership");
MODULE_LICENSE("Dual BSD/GPL");
