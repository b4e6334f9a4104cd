// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters come, change their image and go; whole images come out. */
#include "fuzz.h"

/* --- what a thread that is alone knows ----------------------------------------- */

static void forget(struct known *known)
{
	free(known->bytes);
	*known = (struct known){ .bytes = NULL };
}

static void know(struct known *known, const u8 *bytes, size_t n_bytes)
{
	forget(known);
	known->bytes = need(aligned_alloc(BALEEN_BLOCK_BYTES, n_bytes));
	memcpy(known->bytes, bytes, n_bytes);
	known->n_bytes = n_bytes;
	if (refusal(known->bytes, n_bytes, &known->image))
		errx(1, "what is known is no image");
	for (u32 i = 0; i <= BALEEN_TUPLE; i++)
		known->loose |= known->image.table[i].kind == BALEEN_KIND_QUOTIENT;
}

void learn(struct fuzz *fuzz, u32 n)
{
	struct baleen_dev_get get = { .target.ifindex = 0 };
	struct baleen_image image;
	const char *reason;
	u64 version = 0;
	u8 *bytes;

	name_of(n, get.target.name);
	if (command(FIRST_FD, BALEEN_DEV_GET, &get)) {
		forget(&fuzz->known[n]);
		return;
	}
	bytes = need(aligned_alloc(BALEEN_BLOCK_BYTES, get.info.n_bytes));
	if (device_export(FIRST_FD, (char *)get.target.name, bytes, get.info.n_bytes, &version))
		finding(fuzz, "cannot be exported");
	reason = refusal(bytes, get.info.n_bytes, &image);
	if (reason)
		finding(fuzz, "the export is refused: %s", reason);
	else if (memcmp(bytes, get.header, sizeof(get.header)) || version != get.info.version)
		finding(fuzz, "the export is another than was said");
	else
		know(&fuzz->known[n], bytes, get.info.n_bytes);
	free(bytes);
}

void learn_all(struct fuzz *fuzz)
{
	for (u32 n = 0; n < N_NAMES; n++)
		learn(fuzz, n);
}

void forget_all(struct fuzz *fuzz)
{
	for (u32 n = 0; n < N_NAMES; n++)
		forget(&fuzz->known[n]);
}

/* --- images in ------------------------------------------------------------------ */

/* The errno that an image itself is the reason of: its header, then its body. */
static int image_errno(const u8 *bytes, size_t n_bytes)
{
	u8 *aligned = need(aligned_alloc(BALEEN_BLOCK_BYTES, n_bytes));
	struct baleen_image image;
	const char *reason;
	int err = 0;

	memcpy(aligned, bytes, n_bytes);
	if (baleen_header_check(aligned, n_bytes, &image, &reason))
		err = -EBADMSG;
	else if (!image_fits_kernel(&image))
		err = -EOPNOTSUPP;
	else if (refusal(aligned, n_bytes, &image))
		err = -EBADMSG;
	free(aligned);
	return err;
}

/* Is this the answer to an image, where a filter of the name is or is not? */
static bool is_right(int err, unsigned long number, bool is_there, int of_image)
{
	if (is_there == (number == BALEEN_DEV_CREATE) && number) {
		int of_name = is_there ? -EEXIST : -ENOENT;

		return err == of_name || (of_image && err == of_image);
	}
	return err == of_image;
}

/* BALEEN_DEV_CREATE or _SWAP. */
static void put(struct fuzz *fuzz, unsigned long number)
{
	struct baleen_dev_image arg = { .version = 0 };
	bool spoiled = false;
	struct known *known;
	struct place at;
	size_t n_bytes;
	int err, want;
	u8 *bytes;
	u32 n;

	arg.target = any_target(fuzz, &n);
	known = &fuzz->known[n];
	bytes = make_image(fuzz, arg.target.name, &n_bytes);
	at = place(fuzz, n_bytes);
	memcpy(at.at, bytes, n_bytes);
	arg.image = address_of(fuzz, &at, &spoiled);
	arg.n_bytes = n_bytes;
	err = call(fuzz, number, &arg, sizeof(arg), &spoiled);
	want = image_errno(bytes, n_bytes);
	if (fuzz->alone && !spoiled && !is_right(err, number, known->bytes, want))
		finding(fuzz, "errno %d, an image of errno %d", -err, -want);
	if (fuzz->alone && !spoiled && !err)
		know(known, bytes, n_bytes);
	else if (fuzz->alone && !err)
		learn_all(fuzz);
	free(bytes);
}

void op_create(struct fuzz *fuzz)
{
	put(fuzz, BALEEN_DEV_CREATE);
}

void op_swap(struct fuzz *fuzz)
{
	put(fuzz, BALEEN_DEV_SWAP);
}

/* In pieces; now and then not to its end, or with another behind it. */
void op_write(struct fuzz *fuzz)
{
	size_t n_bytes, done = 0, end;
	bool spoiled = false;
	u8 name[BALEEN_DEV_NAME_BYTES];
	struct place at;
	ssize_t n = 0;
	int fd = open(DEVICE, O_WRONLY | O_CLOEXEC);
	u8 *bytes;

	name_of(below(fuzz, N_NAMES), name);
	bytes = make_image(fuzz, name, &n_bytes);
	at = place(fuzz, n_bytes);
	memcpy(at.at, bytes, n_bytes);
	end = one_in(fuzz, 6) ? below(fuzz, n_bytes) : n_bytes;
	while (done < end) {
		size_t piece = 1 + below(fuzz, end - done);
		u64 from = address_of(fuzz, &at, &spoiled);

		n = one_in(fuzz, 8) ? pwrite(fd, (void *)(uintptr_t)(from + done), piece, done) :
				      write(fd, (void *)(uintptr_t)(from + done), piece);
		if (n <= 0)
			break;
		if ((size_t)n > piece)
			finding(fuzz, "%zd of %zu bytes are written", n, piece);
		done += n;
	}
	if (fuzz->alone && done == n_bytes && refusal(bytes, n_bytes, &(struct baleen_image){ 0 }))
		finding(fuzz, "a write takes what userspace refuses");
	close(fd);
	if (fuzz->alone)
		learn_all(fuzz);
	free(bytes);
}

void op_destroy(struct fuzz *fuzz)
{
	bool spoiled = false;
	struct baleen_dev_target arg;
	int err;
	u32 n;

	arg = any_target(fuzz, &n);
	err = call(fuzz, BALEEN_DEV_DESTROY, &arg, sizeof(arg), &spoiled);
	if (!fuzz->alone)
		return;
	if (!spoiled && err != (fuzz->known[n].bytes ? 0 : -ENOENT))
		finding(fuzz, "errno %d", -err);
	if (!err)
		learn_all(fuzz);
}

/* --- images out ----------------------------------------------------------------- */

void op_export(struct fuzz *fuzz)
{
	struct baleen_dev_image arg = { .version = 0 };
	bool spoiled = false;
	struct known *known;
	size_t room = SLOT_BYTES / 4;
	struct place at;
	int err, want;
	u32 n;

	arg.target = any_target(fuzz, &n);
	known = &fuzz->known[n];
	if (known->bytes)
		room = known->n_bytes + (one_in(fuzz, 2) ? 64 : 0) - (one_in(fuzz, 4) ? 64 : 0);
	at = place(fuzz, room);
	arg.image = address_of(fuzz, &at, &spoiled);
	arg.n_bytes = room;
	err = call(fuzz, BALEEN_DEV_EXPORT, &arg, sizeof(arg), &spoiled);
	if (!fuzz->alone || spoiled)
		return;
	want = known->bytes ? (room < known->n_bytes ? -EMSGSIZE : 0) : -ENOENT;
	if (err != want)
		finding(fuzz, "errno %d, not %d", -err, -want);
	else if (err && !is_poison(at.at, room))
		finding(fuzz, "a failure writes");
	else if (!err && memcmp(at.at, known->bytes, known->n_bytes))
		finding(fuzz, "the image is another");
	else if (!err && !is_poison(at.at + known->n_bytes, room - known->n_bytes))
		finding(fuzz, "more is written than the image");
}
