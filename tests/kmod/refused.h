/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls that have to be refused: each is a good one with one thing wrong, and has to
 * leave everything as it was.
 */
#ifndef BALEEN_TESTS_REFUSED_H
#define BALEEN_TESTS_REFUSED_H

#include <stddef.h>

#include "dev.h"

#define MAX_ARG 2048
#define MAX_MEMORY 16
#define MAX_INFOS 8

/**
 * struct call - a command with an argument that is right
 * @name: of the command
 * @number: of the command
 * @n_bytes: of its argument
 * @changes: it needs the device open for writing, else for reading
 * @gives: it writes to its argument
 * @make: fills in an argument that is right; what is given is poison
 * @undo: what it did; NULL when it does nothing
 * @target: where in the argument a struct baleen_dev_target is; -1: nowhere
 */
struct call {
	const char *name;
	unsigned long number;
	size_t n_bytes;
	bool changes;
	bool gives;
	void (*make)(void *arg);
	void (*undo)(void);
	int target;
};

/* What the device says of itself. */
struct state {
	struct baleen_dev_list list;
	struct baleen_dev_info infos[MAX_INFOS];
	u32 ifindexes[MAX_INFOS];
	long n_bound;
};

/* Memory that a refused call must not touch. */
struct memory {
	u8 *bytes;
	u8 *copy;
	size_t n_bytes;
};

static struct memory memory[MAX_MEMORY];
static size_t n_memory;
static int device = -1;

/* Refusals of one sort, which are one result. */
static unsigned int n_refused, n_wrong;

/* Memory that ends at the end of what is ours, watched from now on. */
static inline u8 *watch(size_t n_bytes)
{
	struct edge edge = edge_make(n_bytes);

	if (n_memory == MAX_MEMORY)
		errx(1, "too much to watch");
	memory[n_memory++] =
		(struct memory){ edge.start, need(malloc(edge.n_bytes)), edge.n_bytes };
	return edge.end - n_bytes;
}

static inline void memory_note(void)
{
	for (size_t i = 0; i < n_memory; i++)
		memcpy(memory[i].copy, memory[i].bytes, memory[i].n_bytes);
}

static inline bool memory_same(void)
{
	for (size_t i = 0; i < n_memory; i++)
		if (memcmp(memory[i].copy, memory[i].bytes, memory[i].n_bytes))
			return false;
	return true;
}

static inline void state_read(struct state *state)
{
	struct baleen_dev_bindings bindings = { .ifindexes = address(state->ifindexes),
						.room = MAX_INFOS };

	memset(state, 0, sizeof(*state));
	state->list.infos = address(state->infos);
	state->list.room = MAX_INFOS;
	state->list.info_bytes = sizeof(state->infos[0]);
	if (command(device, BALEEN_DEV_LIST, &state->list))
		err(1, "cannot list the filters");
	/* The rest is to be compared with that of another struct. */
	state->list.infos = 0;
	state->n_bound = command(device, BALEEN_DEV_BINDINGS, &bindings);
	if (!state->n_bound)
		state->n_bound = bindings.n;
}

/* A call on a file, with this argument, is refused with @want and does nothing. */
static inline void refuse_on(int fd, const struct call *call, unsigned long number, void *arg,
			     int want, const char *what)
{
	static struct state before, after;
	u8 copy[MAX_ARG];
	bool same;
	int got;

	memcpy(copy, arg, call->n_bytes);
	memory_note();
	state_read(&before);
	got = command(fd, number, arg);
	state_read(&after);
	same = !memcmp(copy, arg, call->n_bytes) && memory_same() &&
	       !memcmp(&before, &after, sizeof(before));
	n_refused++;
	if (got == want && same)
		return;
	n_wrong++;
	printf("# %s: %s: got %d, want %d%s%s%s\n", call->name, what, got, want,
	       memcmp(copy, arg, call->n_bytes) ? ", argument changed" : "",
	       memory_same() ? "" : ", memory changed",
	       memcmp(&before, &after, sizeof(before)) ? ", state changed" : "");
	if (!got && call->undo)
		call->undo();
}

static inline void refuse(const struct call *call, void *arg, int want, const char *what)
{
	refuse_on(device, call, call->number, arg, want, what);
}

static inline void refused_end(const char *name, const char *what)
{
	check(!n_wrong && n_refused, "%s: %s: refused, %u ways", name, what, n_refused);
	n_refused = n_wrong = 0;
}

/**
 * struct wrong - a field that makes a good argument a wrong one
 * @number: of the command
 * @offset: of the field
 * @size: of the field in bytes
 * @value: that is wrong
 * @want: the errno, negative
 * @what: for people
 */
struct wrong {
	unsigned long number;
	size_t offset;
	size_t size;
	u64 value;
	int want;
	const char *what;
};

#define WRONG(number, type, field, value, want)                                                 \
	{                                                                                       \
		number, offsetof(struct type, field), sizeof(((struct type *)0)->field), value, \
			want, #field " = " #value                                               \
	}

static inline void refuse_fields(const struct call *call, const struct wrong *wrongs, size_t n)
{
	u64 arg[MAX_ARG / 8];

	for (size_t i = 0; i < n; i++) {
		if (wrongs[i].number != call->number)
			continue;
		call->make(arg);
		/* Little-endian: the low bytes come first. */
		memcpy((u8 *)arg + wrongs[i].offset, &wrongs[i].value, wrongs[i].size);
		refuse(call, arg, wrongs[i].want, wrongs[i].what);
	}
	if (n_refused)
		refused_end(call->name, "fields");
}

/* Every bit of a field that has to be zero. */
static inline void refuse_reserved(const struct call *call, size_t offset, size_t n_bytes)
{
	u64 arg[MAX_ARG / 8];

	for (size_t bit = 0; bit < n_bytes * 8; bit++) {
		call->make(arg);
		((u8 *)arg)[offset + bit / 8] |= 1u << bit % 8;
		refuse(call, arg, -EINVAL, "reserved field");
	}
	refused_end(call->name, "a reserved field");
}

static const struct {
	const char *bytes;
	size_t n;
	const char *what;
} bad_names[] = {
	{ "", 0, "empty" },
	{ "12345678901234567890123456789012", 32, "not terminated" },
	{ "a\x1f", 2, "control character" },
	{ "a\nb", 3, "line feed" },
	{ "\x7f", 1, "delete" },
	{ "\x80", 1, "no ASCII" },
	{ "\xff\xff", 2, "no ASCII" },
	{ "a\0b", 3, "bytes behind the end" },
	{ "1234567890123456789012345678901\x01", 32, "no end but a one" },
	{ "123456789012345678901234567890\0x", 32, "a byte behind the end" },
};

static inline void refuse_names(const struct call *call, size_t offset)
{
	u64 arg[MAX_ARG / 8];

	for (size_t i = 0; i < N_OF(bad_names); i++) {
		call->make(arg);
		memset((u8 *)arg + offset, 0, BALEEN_DEV_NAME_BYTES);
		memcpy((u8 *)arg + offset, bad_names[i].bytes, bad_names[i].n);
		refuse(call, arg, -EINVAL, bad_names[i].what);
	}
	refused_end(call->name, "a name");
}

/* Addresses of which nothing can be read. */
static inline u64 bad_address(unsigned int i)
{
	static u8 *hole;

	if (!hole)
		hole = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	switch (i) {
	case 0: return 0;
	case 1: return 1;
	case 2: return address(hole);
	case 3: return 0xffff888000000000ull;
	case 4: return 0xffffffff81000000ull;
	case 5: return 0x8000000000000000ull;
	case 6: return 0x00007ffffffff000ull;
	case 7: return 0xffffffffffffffc0ull;
	default: return 0x0001000000000000ull;
	}
}
#define N_BAD_ADDRESSES 9

/* An address in the argument. @n_short: bytes of which the last are not ours. */
static inline void refuse_pointer(const struct call *call, size_t offset, size_t n_short,
				  bool is_output)
{
	static const u8 text[PAGE] __attribute__((aligned(PAGE))) = { 1 };
	struct edge edge = edge_make(PAGE);
	u64 arg[MAX_ARG / 8], value;

	for (unsigned int i = 0; i < N_BAD_ADDRESSES; i++) {
		call->make(arg);
		value = bad_address(i);
		memcpy((u8 *)arg + offset, &value, sizeof(value));
		refuse(call, arg, -EFAULT, "an address that is not ours");
	}
	if (is_output) {
		call->make(arg);
		value = address(text);
		memcpy((u8 *)arg + offset, &value, sizeof(value));
		refuse(call, arg, -EFAULT, "an address that cannot be written to");
	}
	if (n_short) {
		call->make(arg);
		value = address(edge.end - n_short);
		memcpy((u8 *)arg + offset, &value, sizeof(value));
		refuse(call, arg, -EFAULT, "an address too near the end");
	}
	edge_free(&edge);
	refused_end(call->name, "an address");
}

/* The argument itself is not where it should be, or only in part. */
static inline void refuse_argument(const struct call *call)
{
	struct edge edge = edge_make(PAGE);
	u64 arg[MAX_ARG / 8];
	struct call none = *call;

	/* Nothing of ours to compare; 32-bit addresses are all that a process has. */
	none.n_bytes = 0;
	for (unsigned int i = 0; i < N_BAD_ADDRESSES; i++) {
		u64 value = bad_address(i);

		if (value == (uintptr_t)value)
			refuse(&none, (void *)(uintptr_t)value, -EFAULT, "argument is not ours");
	}
	call->make(arg);
	for (size_t n = 4; n < call->n_bytes; n += n < 64 ? 4 : 60) {
		u8 *at = edge.end - n;

		memcpy(at, arg, n);
		refuse(&none, at, -EFAULT, "argument ends too early");
		n_wrong += !!memcmp(at, arg, n);
	}
	edge_free(&edge);
	refused_end(call->name, "the argument");
}

/* A number that differs from the command's in its direction or size. */
static inline void refuse_numbers(const struct call *call)
{
	unsigned int nr = _IOC_NR(call->number), size = _IOC_SIZE(call->number);
	u64 arg[MAX_ARG / 8];

	for (unsigned int dir = 0; dir < 4; dir++) {
		const unsigned int sizes[] = { 0, 1, size - 8, size - 1, size, size + 1, size + 8 };

		for (size_t i = 0; i < N_OF(sizes); i++) {
			unsigned long number = _IOC(dir, BALEEN_DEV_MAGIC, nr, sizes[i]);

			if (number == call->number)
				continue;
			call->make(arg);
			refuse_on(device, call, number, arg, -ENOTTY, "another size or direction");
		}
	}
	refused_end(call->name, "numbers beside its own");
}

/* A file that is open for something else. */
static inline void refuse_modes(const struct call *call)
{
	const int modes[] = { call->changes ? O_RDONLY : O_WRONLY, O_WRONLY | O_RDWR };
	u64 arg[MAX_ARG / 8];

	for (size_t i = 0; i < N_OF(modes); i++) {
		int fd = device_open(modes[i]);

		call->make(arg);
		refuse_on(fd, call, call->number, arg, -EBADF, "open for something else");
		close(fd);
	}
	refused_end(call->name, "the file's mode");
}

/* A good call is one, also on a file that is open for just this. */
static inline void accept_call(const struct call *call)
{
	int fd = device_open(call->changes ? O_WRONLY : O_RDONLY);
	u64 arg[MAX_ARG / 8];

	call->make(arg);
	check_is(call->name, command(fd, call->number, arg), 0);
	if (call->undo)
		call->undo();
	close(fd);
}

#endif /* BALEEN_TESTS_REFUSED_H */
