// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The ioctls of the device: arguments in, the command, outputs out. */
#include <linux/fs.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "dev.h"
#include "hook.h"
#include "load.h"
#include "names.h"

static_assert(BALEEN_DEV_NAME_BYTES == BALEEN_NAME_BYTES);

/* --- structs of arrays ------------------------------------------------------- */

int baleen_dev_check_size(u32 n_bytes, u32 n_first)
{
	if (n_bytes > PAGE_SIZE)
		return -E2BIG;
	return n_bytes < n_first ? -EINVAL : 0;
}

int baleen_dev_put(void __user *to, u32 n_room, const void *from, u32 n_bytes)
{
	u32 n = min(n_room, n_bytes);

	return copy_to_user(to, from, n) || clear_user(to + n, n_room - n) ? -EFAULT : 0;
}

/* --- targets ----------------------------------------------------------------- */

static int ioctl_check_target(const struct baleen_dev_target *target)
{
	const char *name = (const char *)target->name;

	return target->reserved || !*name || baleen_image_check_name(name) ? -EINVAL : 0;
}

/* A filter that has a name of its own. */
static int ioctl_check_named(const struct baleen_dev_target *target)
{
	return target->ifindex ? -EINVAL : ioctl_check_target(target);
}

static int ioctl_find_target(struct net *net, const struct baleen_dev_target *target,
			     struct baleen_filter **filter)
{
	struct baleen_filter *found;
	int err = ioctl_check_target(target);

	if (err)
		return err;
	found = target->ifindex ? baleen_hook_filter(net, target) :
				  baleen_filter_find((const char *)target->name);
	if (!found)
		return -ENOENT;
	*filter = found;
	return 0;
}

/* --- commands: the argument is in the kernel, and so is what comes out ------- */

static int ioctl_put_infos(struct baleen_filter **list, u32 n, u8 __user *infos, u32 info_bytes)
{
	struct baleen_dev_info info;

	for (u32 i = 0; i < n; i++) {
		baleen_filter_info(list[i], &info, NULL);
		if (baleen_dev_put(infos + (size_t)i * info_bytes, info_bytes, &info, sizeof(info)))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

static int ioctl_list(struct baleen_dev_list *arg)
{
	struct baleen_filter **list;
	u32 n;
	int err = 0;

	if (arg->reserved)
		return -EINVAL;
	if (arg->room)
		err = baleen_dev_check_size(arg->info_bytes, sizeof(struct baleen_dev_info));
	if (!err)
		err = baleen_filter_list(&list, &n);
	if (err)
		return err;
	err = ioctl_put_infos(list, min(n, arg->room), u64_to_user_ptr(arg->infos),
			      arg->info_bytes);
	baleen_filter_list_free(list, n);
	arg->n = n;
	return err;
}

static int ioctl_get(struct net *net, struct baleen_dev_get *arg)
{
	struct baleen_filter *filter;
	int err = ioctl_find_target(net, &arg->target, &filter);

	if (err)
		return err;
	baleen_filter_info(filter, &arg->info, arg->header);
	baleen_filter_put(filter);
	/* A rule's own filter has none. */
	if (!arg->info.name[0])
		memcpy(arg->info.name, arg->target.name, sizeof(arg->info.name));
	return 0;
}

static int ioctl_create(const struct baleen_dev_image *arg)
{
	struct baleen_filter *filter;
	struct baleen_body *body;
	int err;

	if (arg->version || arg->reserved)
		return -EINVAL;
	err = ioctl_check_named(&arg->target);
	if (err)
		return err;
	err = baleen_load_whole(u64_to_user_ptr(arg->image), arg->n_bytes, &body);
	if (err)
		return err;
	err = baleen_filter_create((const char *)arg->target.name, body, &filter);
	if (err)
		baleen_body_free(body);
	else
		baleen_filter_put(filter);
	return err;
}

static int ioctl_destroy(const struct baleen_dev_target *arg)
{
	int err = ioctl_check_named(arg);

	return err ? err : baleen_filter_destroy((const char *)arg->name);
}

static int ioctl_swap(struct net *net, const struct baleen_dev_image *arg)
{
	struct baleen_filter *filter;
	struct baleen_body *body;
	int err;

	if (arg->reserved)
		return -EINVAL;
	err = ioctl_find_target(net, &arg->target, &filter);
	if (err)
		return err;
	err = baleen_load_whole(u64_to_user_ptr(arg->image), arg->n_bytes, &body);
	if (err)
		goto no_body;
	err = baleen_filter_swap(filter, body, arg->version);
	if (err)
		baleen_body_free(body);
no_body:
	baleen_filter_put(filter);
	return err;
}

static int ioctl_export(struct net *net, struct baleen_dev_image *arg)
{
	struct baleen_filter *filter;
	int err;

	if (arg->reserved)
		return -EINVAL;
	err = ioctl_find_target(net, &arg->target, &filter);
	if (err)
		return err;
	err = baleen_filter_export(filter, u64_to_user_ptr(arg->image), arg->n_bytes,
				   &arg->version);
	baleen_filter_put(filter);
	return err;
}

static int ioctl_keys(struct net *net, unsigned int command, struct baleen_dev_keys *arg)
{
	struct baleen_filter *filter;
	int err;

	if (arg->reserved || !arg->n || arg->n > BALEEN_DEV_MAX_KEYS ||
	    arg->key_bytes != sizeof(struct baleen_dev_key))
		return -EINVAL;
	if (command == BALEEN_DEV_QUERY && !arg->answers)
		return -EFAULT;
	err = ioctl_find_target(net, &arg->target, &filter);
	if (err)
		return err;
	err = baleen_kfilter_keys(filter, command, u64_to_user_ptr(arg->keys),
				  u64_to_user_ptr(arg->answers), arg->n, &arg->n_done);
	baleen_filter_put(filter);
	return err;
}

static int ioctl_counters(struct net *net, struct baleen_dev_count *arg)
{
	struct baleen_filter *filter;
	int err = ioctl_find_target(net, &arg->target, &filter);

	if (err)
		return err;
	baleen_filter_counters(filter, &arg->counters);
	baleen_filter_put(filter);
	return 0;
}

/* --- commands by their numbers ---------------------------------------------------------- */

/* The argument of any command. */
union argument {
	struct baleen_dev_list list;
	struct baleen_dev_get get;
	struct baleen_dev_image image;
	struct baleen_dev_target target;
	struct baleen_dev_keys keys;
	struct baleen_dev_count count;
	struct baleen_dev_bind bind;
	struct baleen_dev_unbind unbind;
	struct baleen_dev_binding binding;
	struct baleen_dev_bindings bindings;
};

/* The mode that a command needs; 0: there is no such command. */
static fmode_t ioctl_mode(unsigned int command)
{
	switch (command) {
	case BALEEN_DEV_LIST:
	case BALEEN_DEV_GET:
	case BALEEN_DEV_EXPORT:
	case BALEEN_DEV_QUERY:
	case BALEEN_DEV_COUNTERS:
	case BALEEN_DEV_BINDING:
	case BALEEN_DEV_BINDINGS: return FMODE_READ;
	case BALEEN_DEV_CREATE:
	case BALEEN_DEV_DESTROY:
	case BALEEN_DEV_SWAP:
	case BALEEN_DEV_INSERT:
	case BALEEN_DEV_DELETE:
	case BALEEN_DEV_BIND:
	case BALEEN_DEV_UNBIND: return FMODE_WRITE;
	default: return 0;
	}
}

static int ioctl_run(struct net *net, unsigned int command, union argument *arg)
{
	switch (command) {
	case BALEEN_DEV_LIST: return ioctl_list(&arg->list);
	case BALEEN_DEV_GET: return ioctl_get(net, &arg->get);
	case BALEEN_DEV_CREATE: return ioctl_create(&arg->image);
	case BALEEN_DEV_DESTROY: return ioctl_destroy(&arg->target);
	case BALEEN_DEV_SWAP: return ioctl_swap(net, &arg->image);
	case BALEEN_DEV_EXPORT: return ioctl_export(net, &arg->image);
	case BALEEN_DEV_QUERY:
	case BALEEN_DEV_INSERT:
	case BALEEN_DEV_DELETE: return ioctl_keys(net, command, &arg->keys);
	case BALEEN_DEV_COUNTERS: return ioctl_counters(net, &arg->count);
	case BALEEN_DEV_BIND: return baleen_hook_bind(net, &arg->bind);
	case BALEEN_DEV_UNBIND: return baleen_hook_unbind(net, &arg->unbind);
	case BALEEN_DEV_BINDING: return baleen_hook_binding(net, &arg->binding);
	case BALEEN_DEV_BINDINGS: return baleen_hook_bindings(net, &arg->bindings);
	default: return -ENOTTY;
	}
}

/* The number says how large the argument is, and whether there are outputs. The
 * argument is read whole, also when it has only outputs: one that ends too early is
 * refused before anything changes.
 */
long baleen_dev_ioctl(struct file *file, unsigned int command, unsigned long user)
{
	fmode_t mode = ioctl_mode(command);
	size_t n_bytes = _IOC_SIZE(command);
	union argument arg;
	int err;

	if (!mode)
		return -ENOTTY;
	if (!(file->f_mode & mode))
		return -EBADF;
	if (copy_from_user(&arg, (void __user *)user, n_bytes))
		return -EFAULT;
	err = ioctl_run(current->nsproxy->net_ns, command, &arg);
	if (!err && _IOC_DIR(command) & _IOC_READ &&
	    copy_to_user((void __user *)user, &arg, n_bytes))
		err = -EFAULT;
	return err;
}
