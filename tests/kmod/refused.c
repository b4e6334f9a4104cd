// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every command on filters, with everything that it has to refuse.
 *
 *	refused IMAGE     of IPv4 addresses in a cuckoo table, with room for another
 */
#include <sys/wait.h>

#include "refused.h"

#define NAME "good"
#define N_KEYS 4

static struct file file;
static u8 *image, *out, *answers, *infos;
static struct baleen_dev_key *keys;
static u64 version;

/* --- good calls ----------------------------------------------------------- */

static void make_list(void *arg)
{
	struct baleen_dev_list *list = arg;

	*list = (struct baleen_dev_list){ .infos = address(infos),
					  .room = 1,
					  .info_bytes = sizeof(struct baleen_dev_info) };
	poison(&list->n, sizeof(list->n));
}

static void make_get(void *arg)
{
	struct baleen_dev_get *get = arg;

	poison(get, sizeof(*get));
	get->target = target_of(NAME);
}

static void make_image(void *arg)
{
	struct baleen_dev_image *create = arg;

	memcpy(image, file.bytes, file.n_bytes);
	*create = (struct baleen_dev_image){ .target = target_of("other"),
					     .image = address(image),
					     .n_bytes = file.n_bytes };
}

static void undo_create(void)
{
	if (device_destroy(device, "other"))
		errx(1, "cannot undo");
}

static void make_destroy(void *arg)
{
	*(struct baleen_dev_target *)arg = target_of(NAME);
}

static void undo_destroy(void)
{
	if (device_create(device, NAME, file.bytes, file.n_bytes))
		errx(1, "cannot undo");
}

static void make_swap(void *arg)
{
	struct baleen_dev_image *swap = arg;
	struct baleen_dev_info info;

	make_image(arg);
	swap->target = target_of(NAME);
	if (device_info(device, NAME, &info))
		errx(1, "no version");
	swap->version = version = info.version;
}

static void make_export(void *arg)
{
	struct baleen_dev_image *export = arg;

	*export = (struct baleen_dev_image){ .target = target_of(NAME),
					     .image = address(out),
					     .n_bytes = file.n_bytes };
	poison(&export->version, sizeof(export->version));
}

static void make_keys(void *arg)
{
	struct baleen_dev_keys *batch = arg;

	for (u32 i = 0; i < N_KEYS; i++)
		keys[i] = (struct baleen_dev_key){ .ip4 = 0xc0000201 + i };
	*batch = (struct baleen_dev_keys){ .target = target_of(NAME),
					   .keys = address(keys),
					   .answers = address(answers),
					   .n = N_KEYS,
					   .key_bytes = sizeof(*keys) };
	poison(&batch->n_done, sizeof(batch->n_done));
}

static void make_count(void *arg)
{
	struct baleen_dev_count *count = arg;

	poison(count, sizeof(*count));
	count->target = target_of(NAME);
}

#define CALL(name, type, changes, gives, make, undo, target)                                      \
	{                                                                                         \
#name, BALEEN_DEV_##name, sizeof(struct type), changes, gives, make, undo, target \
	}

static const struct call calls[] = {
	CALL(LIST, baleen_dev_list, false, true, make_list, NULL, -1),
	CALL(GET, baleen_dev_get, false, true, make_get, NULL, 0),
	CALL(CREATE, baleen_dev_image, true, false, make_image, undo_create, 0),
	CALL(DESTROY, baleen_dev_target, true, false, make_destroy, undo_destroy, 0),
	CALL(SWAP, baleen_dev_image, true, false, make_swap, NULL, 0),
	CALL(EXPORT, baleen_dev_image, false, true, make_export, NULL, 0),
	CALL(QUERY, baleen_dev_keys, false, true, make_keys, NULL, 0),
	CALL(INSERT, baleen_dev_keys, true, true, make_keys, NULL, 0),
	CALL(DELETE, baleen_dev_keys, true, true, make_keys, NULL, 0),
	CALL(COUNTERS, baleen_dev_count, false, true, make_count, NULL, 0),
};

/* --- wrong fields --------------------------------------------------------- */

#define IMAGE_BYTES(number, value, want) WRONG(number, baleen_dev_image, n_bytes, value, want)
#define TO_16GIB (1ull << 34)

static const struct wrong wrongs[] = {
	IMAGE_BYTES(BALEEN_DEV_CREATE, 0, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_CREATE, 1, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_CREATE, 64, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_CREATE, 448, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_CREATE, 511, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_CREATE, 513, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_CREATE, 575, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_CREATE, ~0ull, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_CREATE, 512, -EBADMSG),
	IMAGE_BYTES(BALEEN_DEV_CREATE, 576, -EBADMSG),
	IMAGE_BYTES(BALEEN_DEV_CREATE, TO_16GIB, -EBADMSG),
	IMAGE_BYTES(BALEEN_DEV_CREATE, TO_16GIB + 64, -EBADMSG),
	IMAGE_BYTES(BALEEN_DEV_CREATE, 1ull << 63, -EBADMSG),
	IMAGE_BYTES(BALEEN_DEV_CREATE, -64ull, -EBADMSG),
	WRONG(BALEEN_DEV_CREATE, baleen_dev_image, version, 1, -EINVAL),
	WRONG(BALEEN_DEV_CREATE, baleen_dev_image, version, 1ull << 63, -EINVAL),
	WRONG(BALEEN_DEV_CREATE, baleen_dev_image, target.ifindex, 1, -EINVAL),
	WRONG(BALEEN_DEV_CREATE, baleen_dev_image, target.ifindex, ~0u, -EINVAL),
	WRONG(BALEEN_DEV_DESTROY, baleen_dev_target, ifindex, 1, -EINVAL),
	WRONG(BALEEN_DEV_DESTROY, baleen_dev_target, ifindex, ~0u, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_SWAP, 0, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_SWAP, 511, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_SWAP, 513, -EINVAL),
	IMAGE_BYTES(BALEEN_DEV_SWAP, 512, -EBADMSG),
	IMAGE_BYTES(BALEEN_DEV_SWAP, 1ull << 63, -EBADMSG),
	IMAGE_BYTES(BALEEN_DEV_SWAP, -64ull, -EBADMSG),
	WRONG(BALEEN_DEV_SWAP, baleen_dev_image, version, ~0ull, -ESTALE),
	IMAGE_BYTES(BALEEN_DEV_EXPORT, 0, -EMSGSIZE),
	IMAGE_BYTES(BALEEN_DEV_EXPORT, 1, -EMSGSIZE),
	IMAGE_BYTES(BALEEN_DEV_EXPORT, 511, -EMSGSIZE),
	IMAGE_BYTES(BALEEN_DEV_EXPORT, 512, -EMSGSIZE),
	WRONG(BALEEN_DEV_LIST, baleen_dev_list, info_bytes, 0, -EINVAL),
	WRONG(BALEEN_DEV_LIST, baleen_dev_list, info_bytes, sizeof(struct baleen_dev_info) - 1,
	      -EINVAL),
	WRONG(BALEEN_DEV_LIST, baleen_dev_list, info_bytes, PAGE + 1, -E2BIG),
	WRONG(BALEEN_DEV_LIST, baleen_dev_list, info_bytes, ~0u, -E2BIG),
	WRONG(BALEEN_DEV_QUERY, baleen_dev_keys, key_bytes, 0, -EINVAL),
	WRONG(BALEEN_DEV_QUERY, baleen_dev_keys, key_bytes, 47, -EINVAL),
	WRONG(BALEEN_DEV_QUERY, baleen_dev_keys, key_bytes, 56, -EINVAL),
	WRONG(BALEEN_DEV_INSERT, baleen_dev_keys, key_bytes, 56, -EINVAL),
	WRONG(BALEEN_DEV_QUERY, baleen_dev_keys, n, 0, -EINVAL),
	WRONG(BALEEN_DEV_QUERY, baleen_dev_keys, n, BALEEN_DEV_MAX_KEYS + 1, -EINVAL),
	WRONG(BALEEN_DEV_QUERY, baleen_dev_keys, n, ~0u, -EINVAL),
	WRONG(BALEEN_DEV_INSERT, baleen_dev_keys, n, 0, -EINVAL),
	WRONG(BALEEN_DEV_INSERT, baleen_dev_keys, n, BALEEN_DEV_MAX_KEYS + 1, -EINVAL),
	WRONG(BALEEN_DEV_INSERT, baleen_dev_keys, n, ~0u, -EINVAL),
	WRONG(BALEEN_DEV_DELETE, baleen_dev_keys, n, 0, -EINVAL),
	WRONG(BALEEN_DEV_DELETE, baleen_dev_keys, n, BALEEN_DEV_MAX_KEYS + 1, -EINVAL),
	WRONG(BALEEN_DEV_DELETE, baleen_dev_keys, n, ~0u, -EINVAL),
};

/* --- what all have in common ---------------------------------------------- */

static void refuse_target(const struct call *call)
{
	u64 arg[MAX_ARG / 8];
	struct baleen_dev_target *target = (void *)((u8 *)arg + call->target);
	const u32 ifindexes[] = { 1, 2, 0x7fffffff, 0x80000000, ~0u };

	refuse_reserved(call, call->target + offsetof(struct baleen_dev_target, reserved), 4);
	refuse_names(call, call->target);
	if (call->number == BALEEN_DEV_CREATE)
		return;
	call->make(arg);
	*target = target_of("nobody");
	refuse(call, arg, -ENOENT, "no such filter");
	call->make(arg);
	*target = target_of(NAME "x");
	refuse(call, arg, -ENOENT, "a name that only begins like that");
	for (size_t i = 0; i < N_OF(ifindexes) && call->number != BALEEN_DEV_DESTROY; i++) {
		call->make(arg);
		target->ifindex = ifindexes[i];
		refuse(call, arg, -ENOENT, "a device without rules");
	}
	refused_end(call->name, "who is not there");
}

static void test_common(void)
{
	for (size_t i = 0; i < N_OF(calls); i++) {
		const struct call *call = &calls[i];

		accept_call(call);
		refuse_fields(call, wrongs, N_OF(wrongs));
		refuse_argument(call);
		refuse_numbers(call);
		refuse_modes(call);
		if (call->target >= 0)
			refuse_target(call);
	}
}

static const struct call *call_of(unsigned long number)
{
	for (size_t i = 0; i < N_OF(calls); i++)
		if (calls[i].number == number)
			return &calls[i];
	errx(1, "no such call");
}

/* --- what one has --------------------------------------------------------- */

static void test_reserved(void)
{
	const size_t at = offsetof(struct baleen_dev_image, reserved);
	const size_t at_keys = offsetof(struct baleen_dev_keys, reserved);

	refuse_reserved(call_of(BALEEN_DEV_CREATE), at, 8);
	refuse_reserved(call_of(BALEEN_DEV_SWAP), at, 8);
	refuse_reserved(call_of(BALEEN_DEV_EXPORT), at, 8);
	refuse_reserved(call_of(BALEEN_DEV_LIST), offsetof(struct baleen_dev_list, reserved), 4);
	refuse_reserved(call_of(BALEEN_DEV_QUERY), at_keys, 4);
	refuse_reserved(call_of(BALEEN_DEV_INSERT), at_keys, 4);
	refuse_reserved(call_of(BALEEN_DEV_DELETE), at_keys, 4);
}

/* One key is too many for what is left of a page; so are a header and an image. */
static void test_pointers(void)
{
	const size_t at = offsetof(struct baleen_dev_image, image);
	const size_t at_keys = offsetof(struct baleen_dev_keys, keys);
	const size_t at_answers = offsetof(struct baleen_dev_keys, answers);

	refuse_pointer(call_of(BALEEN_DEV_LIST), offsetof(struct baleen_dev_list, infos), 8, true);
	refuse_pointer(call_of(BALEEN_DEV_CREATE), at, 511, false);
	refuse_pointer(call_of(BALEEN_DEV_SWAP), at, 511, false);
	refuse_pointer(call_of(BALEEN_DEV_EXPORT), at, 511, true);
	refuse_pointer(call_of(BALEEN_DEV_QUERY), at_keys, 47, false);
	refuse_pointer(call_of(BALEEN_DEV_INSERT), at_keys, 47, false);
	refuse_pointer(call_of(BALEEN_DEV_DELETE), at_keys, 47, false);
	refuse_pointer(call_of(BALEEN_DEV_QUERY), at_answers, 0, true);
}

/* The header is there and the body is not, or not whole. */
static void test_cut(unsigned long number)
{
	const struct call *call = call_of(number);
	struct edge edge = edge_make(file.n_bytes);
	const size_t cuts[] = { 512, 513, 576, PAGE - 1, PAGE, file.n_bytes - 1 };
	u64 arg[MAX_ARG / 8];

	for (size_t i = 0; i < N_OF(cuts); i++) {
		u8 *at = edge.end - cuts[i];

		if (cuts[i] >= file.n_bytes)
			continue;
		call->make(arg);
		memcpy(at, image, cuts[i]);
		((struct baleen_dev_image *)arg)->image = address(at);
		refuse(call, arg, -EFAULT, "an image of which a part is not ours");
	}
	edge_free(&edge);
	refused_end(call->name, "an image that is not all there");
}

static void test_keys(unsigned long number)
{
	static const struct baleen_dev_key bad[] = {
		{ .domain = 4 },
		{ .domain = 5 },
		{ .domain = 7 },
		{ .domain = 8 },
		{ .domain = 255 },
		{ .domain = 0x80000000 },
		{ .domain = ~0u },
		{ .domain = 0, .hi = 1 },
		{ .domain = 0, .lo = 1ull << 63 },
		{ .domain = 0, .dst_hi = 1 },
		{ .domain = 0, .dst_lo = 1ull << 32 },
		{ .domain = 0, .rest = 1ull << 32 },
		{ .domain = 1, .ip4 = 1 },
		{ .domain = 1, .dst_hi = 1ull << 63 },
		{ .domain = 1, .dst_lo = 1 },
		{ .domain = 1, .rest = 1 },
		{ .domain = 2, .ip4 = 1u << 31 },
		{ .domain = 2, .hi = 1 },
		{ .domain = 2, .dst_hi = 1 },
		{ .domain = 2, .dst_lo = 1 },
		{ .domain = 2, .rest = 1 },
		{ .domain = 3, .ip4 = 1 },
	};
	const struct call *call = call_of(number);
	u64 arg[MAX_ARG / 8];

	for (size_t i = 0; i < N_OF(bad); i++) {
		call->make(arg);
		keys[0] = bad[i];
		refuse(call, arg, -EINVAL, "no key");
	}
	refused_end(call->name, "the first key");
}

static void test_names_taken(void)
{
	const struct call *call = call_of(BALEEN_DEV_CREATE);
	u64 arg[MAX_ARG / 8];

	call->make(arg);
	*(struct baleen_dev_target *)arg = target_of(NAME);
	refuse(call, arg, -EEXIST, "a name that is taken");
	refused_end(call->name, "a name that is taken");
}

static void test_unknown(void)
{
	struct call call = { .name = "unknown" };
	const unsigned int sizes[] = { 0, 8, 40, 16383 };
	const unsigned long others[] = { 0x5401, 0x541b, 0, ~0u };

	for (unsigned int nr = 14; nr < 256; nr++)
		for (size_t i = 0; i < N_OF(sizes); i++)
			for (unsigned int dir = 0; dir < 4; dir++)
				refuse_on(device, &call, _IOC(dir, BALEEN_DEV_MAGIC, nr, sizes[i]),
					  NULL, -ENOTTY, "no such command");
	for (unsigned int type = 0xb9; type <= 0xbb; type += 2)
		refuse_on(device, &call, _IOC(3, type, 0, sizeof(struct baleen_dev_list)), NULL,
			  -ENOTTY, "another device's command");
	for (size_t i = 0; i < N_OF(others); i++)
		refuse_on(device, &call, others[i], NULL, -ENOTTY, "not ours");
	refused_end("unknown commands", "all");
}

/* A program that knows more of a filter than the module does gets zeros for that. */
static void test_larger_infos(void)
{
	const u32 n_bytes = sizeof(struct baleen_dev_info) + 24;
	struct edge edge = edge_make(n_bytes);
	u8 *at = edge.end - n_bytes, zeros[24] = { 0 };
	struct baleen_dev_list arg = { .infos = address(at), .room = 1, .info_bytes = n_bytes };

	check_is("LIST with larger infos", command(device, BALEEN_DEV_LIST, &arg), 0);
	check(!strcmp((char *)at, NAME), "the filter is told");
	check(!memcmp(edge.end - 24, zeros, 24), "what the module does not know is zero");
	edge_free(&edge);
}

/* What is given has nowhere to go; counters may say that the keys were asked. */
static void test_readonly_argument(void)
{
	u8 *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 arg[MAX_ARG / 8];

	for (size_t i = 0; i < N_OF(calls); i++) {
		if (!calls[i].gives)
			continue;
		calls[i].make(arg);
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		memcpy(page, arg, calls[i].n_bytes);
		mprotect(page, PAGE, PROT_READ);
		n_wrong += command(device, calls[i].number, page) != -EFAULT;
		n_refused++;
		n_wrong += !!memcmp(page, arg, calls[i].n_bytes);
	}
	munmap(page, PAGE);
	refused_end("an argument that cannot be written to", "all that give");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: refused IMAGE");
	file = file_read(argv[1]);
	device = device_open(O_RDWR);
	image = watch(file.n_bytes);
	out = watch(file.n_bytes);
	keys = (void *)watch(N_KEYS * sizeof(*keys));
	answers = watch(N_KEYS);
	infos = watch(sizeof(struct baleen_dev_info));
	check_is("a filter to try it on", device_create(device, NAME, file.bytes, file.n_bytes), 0);
	test_common();
	test_reserved();
	test_pointers();
	test_cut(BALEEN_DEV_CREATE);
	test_cut(BALEEN_DEV_SWAP);
	test_keys(BALEEN_DEV_QUERY);
	test_keys(BALEEN_DEV_INSERT);
	test_keys(BALEEN_DEV_DELETE);
	test_names_taken();
	test_unknown();
	test_readonly_argument();
	test_larger_infos();
	check_is("the filter goes", device_destroy(device, NAME), 0);
	check_is("none is left", device_n(device), 0);
	return tap_end();
}
