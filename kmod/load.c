// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An image on its way into the kernel: checked, and copied once. */
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <baleen/probe.h>

#include "load.h"

/* Bytes copied and summed up at a time. */
#define PIECE_BYTES 65536

/* --- checks ------------------------------------------------------------------ */

static int load_refuse(const char *reason, int err)
{
	pr_info_ratelimited("baleen: image refused: %s\n", reason);
	return err;
}

/* Refuses tables in which the module cannot look up a key. */
static int load_check_tables(const struct baleen_image *image)
{
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++) {
		const struct baleen_table *table = &image->table[domain];

		if (baleen_kind_has_chains(table->kind))
			return load_refuse("a kind that only userspace asks", -EOPNOTSUPP);
		if (baleen_needs_string(table, domain))
			return load_refuse("its hash needs the bytes of a string", -EOPNOTSUPP);
		if (table->kind == BALEEN_KIND_QUOTIENT && !baleen_quotient_fits_packets(table))
			return load_refuse("a cluster is longer than a packet may read",
					   -EOPNOTSUPP);
	}
	return 0;
}

/* @n_bytes: the size that the image must have; 0: the size that its header says */
static int load_check_header(const struct baleen_image_header *header, u64 n_bytes,
			     struct baleen_image *image)
{
	const char *reason;

	if (!n_bytes)
		n_bytes = (u64)baleen_le32(header->n_blocks_le) * BALEEN_BLOCK_BYTES;
	if (baleen_header_decode(header, n_bytes, image, &reason))
		return load_refuse(reason, -EBADMSG);
	return load_check_tables(image);
}

static int load_check_body(const struct baleen_load *load)
{
	const struct baleen_image *image = &load->body->image;

	if (!(image->flags & BALEEN_FLAG_LIVE) && image->body_crc != load->crc)
		return load_refuse("body checksum does not match: damaged", -EBADMSG);
	return 0;
}

/* --- pieces ------------------------------------------------------------------ */

static int load_start(struct baleen_load *load)
{
	struct baleen_image *image = kmalloc(sizeof(*image), GFP_KERNEL);
	int err = -ENOMEM;

	if (!image)
		return err;
	err = load_check_header((const struct baleen_image_header *)load->header, load->n_total,
				image);
	if (!err && load->needs_name && !image->name[0])
		err = load_refuse("it has no name", -EINVAL);
	if (!err)
		err = baleen_body_create(image, &load->body);
	if (!err)
		memcpy(load->body->bytes, load->header, sizeof(load->header));
	kfree(image);
	return err;
}

/* Other bytes are refused before a header is complete: a line of text that was written
 * by mistake would get no error.
 */
static bool load_is_image_so_far(const struct baleen_load *load)
{
	return !memcmp(load->header, BALEEN_MAGIC,
		       min_t(size_t, load->n_done, sizeof(BALEEN_MAGIC) - 1));
}

static int load_feed_header(struct baleen_load *load, const u8 __user *from, size_t n_bytes,
			    size_t *n_taken)
{
	size_t n = min(n_bytes, sizeof(load->header) - load->n_done);

	if (copy_from_user(load->header + load->n_done, from, n))
		return -EFAULT;
	load->n_done += n;
	*n_taken = n;
	if (!load_is_image_so_far(load))
		return load_refuse("not a Baleen image", -EBADMSG);
	return load->n_done == sizeof(load->header) ? load_start(load) : 0;
}

static int load_feed_body(struct baleen_load *load, const u8 __user *from, size_t n_bytes,
			  size_t *n_taken)
{
	size_t n = min(n_bytes, load->body->n_bytes - load->n_done), piece;

	for (size_t at = 0; at < n; at += piece) {
		u8 *to = (u8 *)load->body->bytes + load->n_done;

		piece = min_t(size_t, n - at, PIECE_BYTES);
		if (fatal_signal_pending(current))
			return -EINTR;
		if (copy_from_user(to, from + at, piece))
			return -EFAULT;
		load->crc = baleen_crc32c(load->crc, to, piece);
		load->n_done += piece;
		cond_resched();
	}
	*n_taken += n;
	return 0;
}

static int load_feed(struct baleen_load *load, const u8 __user *from, size_t n_bytes,
		     size_t *n_taken)
{
	int err = 0;

	*n_taken = 0;
	if (!load->body)
		err = load_feed_header(load, from, n_bytes, n_taken);
	if (err || !load->body)
		return err;
	err = load_feed_body(load, from + *n_taken, n_bytes - *n_taken, n_taken);
	if (err || load->n_done < load->body->n_bytes)
		return err;
	return load_check_body(load);
}

int baleen_load_feed(struct baleen_load *load, const void __user *from, size_t n_bytes,
		     size_t *n_taken, struct baleen_body **body)
{
	size_t n;
	int err = load_feed(load, from, n_bytes, &n);

	if (err) {
		baleen_load_drop(load);
		return err;
	}
	*n_taken = n;
	*body = NULL;
	if (load->body && load->n_done == load->body->n_bytes) {
		*body = load->body;
		load->body = NULL;
		baleen_load_drop(load);
	}
	return 0;
}

int baleen_load_whole(const void __user *from, u64 n_bytes, struct baleen_body **body)
{
	struct baleen_load *load;
	struct baleen_body *new;
	size_t n_taken;
	int err;

	if (n_bytes < BALEEN_HEADER_BYTES || n_bytes % BALEEN_BLOCK_BYTES)
		return -EINVAL;
	load = kzalloc(sizeof(*load), GFP_KERNEL);
	if (!load)
		return -ENOMEM;
	load->n_total = n_bytes;
	err = baleen_load_feed(load, from, n_bytes, &n_taken, &new);
	kfree(load);
	if (!err)
		*body = new;
	return err;
}

void baleen_load_drop(struct baleen_load *load)
{
	baleen_body_free(load->body);
	load->body = NULL;
	load->n_done = 0;
	load->crc = 0;
}
