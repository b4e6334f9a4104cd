// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Programs of Baleen on devices: found and opened. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/device.h"
#include "xdp/instance.h"

/* Times a reader starts again because a writer removed the program that it opened. */
#define MAX_READ_RETRIES 100

const char *baleen_attach_status_text(enum baleen_attach_status attach_status)
{
	static const char *const text[] = { "attached", "gone", "moved", "detached", "replaced" };

	return text[attach_status];
}

/* The attachment says whether there are packets; the device's number and the program
 * there now say the rest.
 */
static enum baleen_attach_status attach_status(const struct baleen_attachment *attachment,
					       bool exists, u32 there_id)
{
	bool is_link = attachment->attach_type == BALEEN_ATTACH_TYPE_LINK;

	if (attachment->is_taken && exists && (!is_link || there_id == attachment->program_id))
		return BALEEN_ATTACH_STATUS_ATTACHED;
	if (attachment->is_taken && is_link)
		return BALEEN_ATTACH_STATUS_MOVED;
	if (!exists)
		return BALEEN_ATTACH_STATUS_GONE;
	return there_id ? BALEEN_ATTACH_STATUS_REPLACED : BALEEN_ATTACH_STATUS_DETACHED;
}

int baleen_attach_status_find(const struct baleen_attachment *attachment,
			      const struct baleen_pins *pins, const char *old_name, char *device,
			      struct baleen_program *there, enum baleen_attach_status *status)
{
	int err;

	*there = (struct baleen_program){ 0 };
	err = baleen_attachment_look(pins, attachment, device, there);
	/* A question that fails is no answer: only a device that is gone is gone. */
	if (err && err != -ENODEV)
		return err;
	if (err)
		snprintf(device, BALEEN_POINT_BYTES, "%s", old_name);
	*status = attach_status(attachment, !err, there->id);
	/* The name of our own is known. */
	if (there->id != attachment->program_id)
		baleen_program_name(there);
	return 0;
}

/* A denied path helps nobody: name the capability that opens it. */
static int explain_denial(int err, struct baleen_error *error)
{
	if (err == -EACCES || err == -EPERM)
		baleen_device_privileges(error);
	return err;
}

/* --- open ------------------------------------------------------------------ */

static int check_unchanged(const struct baleen_instance_type *type, const struct baleen_pins *pins,
			   const struct baleen_attachment *attachment)
{
	struct baleen_attachment now;
	bool is_same;
	int err = type->find(pins, &now);

	if (err)
		return err == -ENOENT ? -EAGAIN : err;
	is_same = baleen_attachment_is_same(&now, attachment);
	baleen_attachment_close(&now);
	return is_same ? 0 : -EAGAIN;
}

/* -EAGAIN when a writer came in between: without the lock, attachment, pins and device
 * are read one after the other. Behind it they are one.
 */
static int try_open(const struct baleen_instance_type *type, const struct baleen_pins *pins,
		    struct baleen_attachment *attachment, void *instance)
{
	int err = type->open(instance);

	if (err)
		return err == -ENOENT ? -EAGAIN : err;
	return pins->lock_fd < 0 ? check_unchanged(type, pins, attachment) : 0;
}

int baleen_instance_open(const struct baleen_instance_type *type, const struct baleen_pins *pins,
			 struct baleen_attachment *attachment, void *instance,
			 struct baleen_error *error)
{
	int err = -EAGAIN;

	for (int i = 0; i < MAX_READ_RETRIES && err == -EAGAIN; i++) {
		type->close(instance);
		err = type->find(pins, attachment);
		if (err) {
			err = baleen_attachment_fail(pins, err, error);
			return explain_denial(err, error);
		}
		err = try_open(type, pins, attachment, instance);
	}
	if (!err)
		return 0;
	type->close(instance);
	if (err == -EPROTO)
		return baleen_fail(error, EPROTO,
				   "%s was made by another version of baleen: "
				   "detach and attach again",
				   pins->path);
	/* Not ENOENT, which says that nothing is attached. */
	if (err == -EAGAIN)
		return baleen_fail(error, ESTALE,
				   "%s/%u: pins are missing: detach and attach again", pins->path,
				   attachment->program_id);
	return baleen_fail(error, -err, "%s/%u: %s", pins->path, attachment->program_id,
			   strerror(-err));
}

/* --- find ------------------------------------------------------------------ */

int baleen_instance_each(const struct baleen_instance_type *type,
			 int (*visit)(const struct baleen_pins *pins, void *data), void *data,
			 struct baleen_error *error)
{
	return explain_denial(baleen_pins_each_in(type->purpose, visit, data, error), error);
}

struct search {
	const struct baleen_instance_type *type;
	const char *device;
	bool gone_only;
	bool is_found;
	u32 program_id;
	struct baleen_pins found;
};

static int match_old_name(const struct baleen_pins *pins, void *data)
{
	struct search *search = data;
	enum baleen_attach_status status;
	char device[BALEEN_POINT_BYTES];

	if (search->type->identify(pins, device, &status) || strcmp(device, search->device) ||
	    (search->gone_only && status != BALEEN_ATTACH_STATUS_GONE))
		return 0;
	search->found = *pins;
	search->is_found = true;
	return 0;
}

/* A device that comes back from another network namespace may have another number. Its program
 * stays on it, so one of those that the pins are of is there.
 */
static int match_program(const struct baleen_pins *pins, void *data)
{
	u32 ids[BALEEN_MAX_PINNED], n = baleen_pins_programs(pins, ids);
	struct search *search = data;

	for (u32 i = 0; i < n && !search->is_found; i++)
		search->is_found = ids[i] == search->program_id;
	if (search->is_found)
		search->found = *pins;
	return search->is_found;
}

/* Return: 1 when the pins of another number are those of the device, and have its number now. */
static int take_over(const struct baleen_instance_type *type, struct baleen_pins *pins,
		     struct baleen_error *error)
{
	struct search search = { .type = type };
	struct baleen_program there;
	int err;

	if (baleen_device_program(pins->ifindex, &there) || !there.id)
		return 0;
	search.program_id = there.id;
	err = baleen_pins_each_in(type->purpose, match_program, &search, NULL);
	if (err < 0 || !search.is_found)
		return 0;
	err = baleen_pins_move(&search.found, pins, error);
	return err ? err : 1;
}

/* By the name the device has; by the one it had, while no device has that; or the
 * pins of a gone device, when the device of that name now has none. Pins of another number
 * are taken over. Return: 1 when they have been seen to be there.
 */
static int find_pins(const struct baleen_instance_type *type, const char *device, int ifindex,
		     struct baleen_pins *pins, struct baleen_error *error)
{
	struct search search = { .type = type, .device = device, .gone_only = ifindex };
	int err;

	if (ifindex) {
		err = baleen_pins_name_in(type->purpose, pins, ifindex, error);
		if (err || !access(pins->path, F_OK))
			return err ? err : 1;
		err = take_over(type, pins, error);
		if (err)
			return err < 0 ? err : 0;
	}
	err = baleen_instance_each(type, match_old_name, &search, error);
	if (err)
		return err;
	if (search.is_found)
		*pins = search.found;
	else if (!ifindex)
		return baleen_fail(error, ENODEV, "%s: no such device", device);
	return 0;
}

int baleen_instance_find_at(const struct baleen_instance_type *type, const char *device,
			    int ifindex, struct baleen_pins *pins, struct baleen_error *error)
{
	int err = find_pins(type, device, ifindex, pins, error);

	if (err)
		return err < 0 ? err : 0;
	return access(pins->path, F_OK) && errno == ENOENT ? type->fail_absent(device, error) : 0;
}

int baleen_instance_find(const struct baleen_instance_type *type, const char *device,
			 struct baleen_pins *pins, struct baleen_error *error)
{
	int ifindex = baleen_device_index(device);

	if (!ifindex && errno != ENODEV)
		return baleen_fail(error, errno, "%s: %m", device);
	return baleen_instance_find_at(type, device, ifindex, pins, error);
}
