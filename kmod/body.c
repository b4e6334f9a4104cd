// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The body of a filter: its memory, charged, limited and freed after a grace period. */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "body.h"
#include "filter.h"

#define MAX_BYTES_DEFAULT ULONG_MAX

static unsigned long max_bytes = MAX_BYTES_DEFAULT;
module_param(max_bytes, ulong, 0644);
MODULE_PARM_DESC(
	max_bytes,
	"bytes of memory for all images together; 0: no limit; default: a quarter of memory");

static DEFINE_SPINLOCK(used_lock);
static u64 used_bytes; /* of all images, under used_lock */

/* Frees retired bodies, filters, rules and bindings. */
static struct workqueue_struct *retired;

/* All that an image takes, a filter's counters included: a small one is mostly that. */
static size_t body_cost(size_t n_bytes)
{
	/* vmalloc_huge() rounds up to its pages, and keeps a pointer to each page. */
	size_t page_bytes = n_bytes < PMD_SIZE ? PAGE_SIZE : PMD_SIZE;
	size_t n_paged = round_up(n_bytes, page_bytes);

	return n_paged + (n_paged >> PAGE_SHIFT) * sizeof(struct page *) +
	       sizeof(struct vm_struct) + sizeof(struct vmap_area) +
	       kmalloc_size_roundup(sizeof(struct baleen_body)) +
	       kmalloc_size_roundup(sizeof(struct baleen_filter)) +
	       num_possible_cpus() * sizeof(struct baleen_dev_counters);
}

static int body_reserve(size_t n_bytes)
{
	u64 limit = READ_ONCE(max_bytes);
	int err = 0;

	spin_lock(&used_lock);
	if (limit && (used_bytes > limit || n_bytes > limit - used_bytes))
		err = -ENOSPC;
	else
		used_bytes += n_bytes;
	spin_unlock(&used_lock);
	return err;
}

static void body_unreserve(size_t n_bytes)
{
	spin_lock(&used_lock);
	used_bytes -= n_bytes;
	spin_unlock(&used_lock);
}

/* Large pages where the kernel can; no process is killed for an image, and the
 * caller's control group is charged.
 */
static int body_try(const struct baleen_image *image, struct baleen_body **body)
{
	size_t n_bytes = (size_t)image->n_blocks * BALEEN_BLOCK_BYTES;
	struct baleen_body *new;
	size_t cost = body_cost(n_bytes);
	int err = body_reserve(cost);

	if (err)
		return err;
	err = -ENOMEM;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		goto no_body;
	new->bytes = vmalloc_huge(n_bytes, GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!new->bytes)
		goto no_bytes;
	new->n_bytes = n_bytes;
	new->cost = cost;
	new->image = *image;
	*body = new;
	return 0;
no_bytes:
	kfree(new);
no_body:
	body_unreserve(cost);
	return err;
}

static void bodies_settle(void)
{
	/* Retired bodies become work at the end of their grace period. */
	rcu_barrier();
	flush_workqueue(retired);
}

/* Images that were replaced a moment ago still have their memory. */
int baleen_body_create(const struct baleen_image *image, struct baleen_body **body)
{
	int err = body_try(image, body);

	if (!err)
		return 0;
	bodies_settle();
	return body_try(image, body);
}

void baleen_body_free(struct baleen_body *body)
{
	if (!body)
		return;
	vfree(body->bytes);
	body_unreserve(body->cost);
	kfree(body);
}

static void body_free_retired(struct work_struct *work)
{
	baleen_body_free(container_of(to_rcu_work(work), struct baleen_body, work));
}

void baleen_retire(struct rcu_work *work)
{
	queue_rcu_work(retired, work);
}

void baleen_body_retire(struct baleen_body *body)
{
	INIT_RCU_WORK(&body->work, body_free_retired);
	baleen_retire(&body->work);
}

int baleen_bodies_init(void)
{
	if (max_bytes == MAX_BYTES_DEFAULT)
		max_bytes = (totalram_pages() << PAGE_SHIFT) / 4;
	retired = alloc_workqueue("baleen", WQ_UNBOUND, 0);
	return retired ? 0 : -ENOMEM;
}

void baleen_bodies_exit(void)
{
	bodies_settle();
	destroy_workqueue(retired);
}
