// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A list added to a filter of the kernel module, or taken out of it, where it is. */
#include <errno.h>
#include <stdlib.h>

#include "kmod/kmod_change.h"

/**
 * struct pass - one change
 * @fd: descriptor of the device
 * @target: which filter
 * @head: its header
 * @list: keys to add or delete
 * @op: which of them
 * @keys: the keys of @list
 * @n: how many
 * @answers: to each
 * @n_done: keys that were done
 */
struct pass {
	int fd;
	const struct baleen_dev_target *target;
	const struct baleen_filter *head;
	const struct baleen_list *list;
	enum baleen_set_op op;
	struct baleen_key *keys;
	size_t n;
	u8 *answers;
	size_t n_done;
};

static int begin(struct pass *pass)
{
	pass->n = baleen_change_n_keys(pass->list);
	pass->keys = calloc(pass->n + 1, sizeof(*pass->keys));
	pass->answers = calloc(pass->n + 1, sizeof(*pass->answers));
	if (!pass->keys || !pass->answers)
		return -ENOMEM;
	for (size_t i = 0; i < pass->n; i++)
		pass->keys[i] = baleen_change_key(pass->list, i);
	return 0;
}

static void end(struct pass *pass)
{
	free(pass->keys);
	free(pass->answers);
}

static int command(struct pass *pass, unsigned long number)
{
	return baleen_kmod_keys(pass->fd, pass->target, number, pass->keys, pass->n, pass->answers,
				&pass->n_done);
}

/* An addition frees its slot again; a key that was removed finds its slot free. */
static void undo(struct pass *pass)
{
	unsigned long back = pass->op == BALEEN_SET_UNION ? BALEEN_DEV_DELETE : BALEEN_DEV_INSERT;
	size_t n_changed = 0;

	for (size_t i = 0; i < pass->n_done; i++)
		if (pass->answers[i])
			pass->keys[n_changed++] = pass->keys[i];
	pass->n = n_changed;
	command(pass, back);
}

/* Which keys changed nothing, by the answers to the change: of an addition they say
 * what was not there.
 */
static int note_unchanged(const struct pass *pass, struct baleen_noop_keys *noop)
{
	u8 *was_in = malloc(pass->n + 1);

	if (!was_in)
		return -ENOMEM;
	for (size_t i = 0; i < pass->n; i++)
		was_in[i] = pass->answers[i] != (pass->op == BALEEN_SET_UNION);
	baleen_change_note_noop(pass->head, pass->list, pass->op, was_in, noop);
	free(was_in);
	return 0;
}

/* Others may have been as quick as this one. */
static int try_change(struct pass *pass, bool exist, struct baleen_noop_keys *noop)
{
	int err =
		command(pass, pass->op == BALEEN_SET_UNION ? BALEEN_DEV_INSERT : BALEEN_DEV_DELETE);

	if (!err)
		err = note_unchanged(pass, noop);
	if (!err && noop->n && !exist)
		err = -EALREADY;
	if (err)
		undo(pass);
	return err;
}

static int make(struct pass *pass, bool exist, struct baleen_noop_keys *noop, u64 *n_changed)
{
	int err = command(pass, BALEEN_DEV_QUERY);
	u64 sum = 0;

	if (err)
		return err;
	baleen_change_note_noop(pass->head, pass->list, pass->op, pass->answers, noop);
	if (noop->n && !exist)
		return -EALREADY;
	if (noop->n < noop->n_entries) {
		err = try_change(pass, exist, noop);
		for (size_t i = 0; i < pass->n && !err; i++)
			sum += pass->answers[i];
	}
	if (!err)
		*n_changed = sum;
	return err;
}

int baleen_kmod_change(int fd, const struct baleen_dev_target *target,
		       const struct baleen_filter *head, const struct baleen_list *change,
		       enum baleen_set_op op, bool exist, struct baleen_noop_keys *noop,
		       u64 *n_changed, struct baleen_error *error)
{
	struct pass pass = { .fd = fd, .target = target, .head = head, .list = change, .op = op };
	int err = baleen_change_check_in_place(head, change, op);

	if (err)
		return err;
	err = begin(&pass);
	if (!err)
		err = make(&pass, exist, noop, n_changed);
	end(&pass);
	if (err && err != -EALREADY && err != -ENOSPC && err != -EOPNOTSUPP)
		baleen_fail(error, -err, "%s", baleen_kmod_explain(err));
	return err;
}
