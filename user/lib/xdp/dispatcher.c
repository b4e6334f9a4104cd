// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A program in libxdp's dispatcher. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "net/bpffs.h"
#include "util/libbpf_log.h"
#include "slot.skel.h"
#include "xdp/dispatcher.h"

#define CHAIN_ROOT BALEEN_BPFFS "/xdp"

/* Programs that a dispatcher has room for. */
#define CHAIN_LENGTH 10

/* --- libxdp's words -------------------------------------------------------- */

static char reason[200];

/* libxdp says what went wrong before it gives up on it: the first is the cause. */
static int collect(enum libxdp_print_level level, const char *format, va_list args)
{
	if (level != LIBXDP_WARN || reason[0])
		return 0;
	vsnprintf(reason, sizeof(reason), format, args);
	reason[strcspn(reason, "\n")] = '\0';
	return 0;
}

static void start_log(void)
{
	reason[0] = '\0';
	libxdp_set_print(collect);
	baleen_log_start();
}

static int fail(int err, struct baleen_error *error)
{
	return baleen_fail(error, -err, "%s", reason[0] ? reason : baleen_log_reason(err));
}

/* libxdp knows none but BALEEN_BPFFS: elsewhere it would see no chain, and take one for gone.
 *
 * Return: 0 or -EXDEV.
 */
static int check_place(void)
{
	char path[BALEEN_BPFFS_BYTES];
	int err = baleen_bpffs_find(path, NULL);

	return !err && strcmp(path, BALEEN_BPFFS) ? -EXDEV : err;
}

/* --- load ------------------------------------------------------------------ */

/* The only function of libxdp that loads and does nothing else: it asks the
 * program about a frame without a byte, which the kernel refuses. On the way it
 * puts it in a dispatcher of its own, so what cannot be chained fails here.
 */
static int load(struct xdp_program *component)
{
	LIBBPF_OPTS(bpf_test_run_opts, nothing);
	int err = xdp_program__test_run(component, &nothing, 0);

	return err == -EINVAL && xdp_program__fd(component) >= 0 ? 0 : err ? err : -EINVAL;
}

static int make_component(struct bpf_object *object, struct bpf_program *program, int slot_fd,
			  bool frags, struct xdp_program **component)
{
	int err = bpf_program__set_type(program, BPF_PROG_TYPE_EXT);

	if (!err)
		err = bpf_program__set_expected_attach_type(program, 0);
	if (!err)
		err = bpf_program__set_attach_target(program, slot_fd, "baleen_slot");
	if (err)
		return err;
	*component = xdp_program__from_bpf_obj(object, bpf_program__section_name(program));
	err = libxdp_get_error(*component);
	if (err)
		return err;
	err = xdp_program__set_run_prio(*component, BALEEN_CHAIN_PRIORITY);
	if (!err)
		err = xdp_program__set_chain_call_enabled(*component, XDP_PASS, true);
	/* libxdp 1.3.1 does not go by the name of the section. */
	if (!err)
		err = xdp_program__set_xdp_frags_support(*component, frags);
	if (!err)
		err = load(*component);
	if (err)
		xdp_program__close(*component);
	return err;
}

int baleen_dispatcher_load(struct bpf_object *object, struct bpf_program *program, bool frags,
			   struct xdp_program **component, struct baleen_error *error)
{
	struct slot_bpf *slot;
	struct xdp_program *made;
	int err = check_place();

	start_log();
	if (err)
		return baleen_fail(error, -err,
				   "libxdp finds no bpffs on " BALEEN_BPFFS " in this mount "
				   "namespace");
	slot = slot_bpf__open_and_load();
	if (!slot)
		return fail(-errno, error);
	err = make_component(object, program, bpf_program__fd(slot->progs.baleen_slot), frags,
			     &made);
	slot_bpf__destroy(slot);
	if (err)
		return fail(err, error);
	*component = made;
	return 0;
}

/* --- look ------------------------------------------------------------------ */

/* -ENOENT when the device has no program, or one that is no dispatcher. */
static int open_chain(int ifindex, struct xdp_multiprog **chain)
{
	struct xdp_multiprog *found;
	int err = check_place();

	if (err)
		return err;
	start_log();
	found = xdp_multiprog__get_from_ifindex(ifindex);
	err = libxdp_get_error(found);
	if (err)
		return err;
	if (xdp_multiprog__is_legacy(found)) {
		xdp_multiprog__close(found);
		return -ENOENT;
	}
	*chain = found;
	return 0;
}

bool baleen_dispatcher_is_there(int ifindex)
{
	struct xdp_multiprog *chain;

	if (open_chain(ifindex, &chain))
		return false;
	xdp_multiprog__close(chain);
	return true;
}

static bool is_in(const struct xdp_multiprog *chain, u32 id)
{
	struct xdp_program *program = NULL;

	while ((program = xdp_multiprog__next_prog(program, chain)))
		if (xdp_program__id(program) == id)
			return true;
	return false;
}

int baleen_dispatcher_has(int ifindex, const u32 *ids, u32 n, u32 *found)
{
	struct xdp_multiprog *chain;
	int err = open_chain(ifindex, &chain);
	bool has = false;

	if (err)
		return err == -ENOENT ? 0 : err;
	for (u32 i = 0; i < n && !has; i++) {
		has = is_in(chain, ids[i]);
		if (has)
			*found = ids[i];
	}
	xdp_multiprog__close(chain);
	return has;
}

/* --- change ---------------------------------------------------------------- */

/* Marks that a change is on its way: a writer that finds it under the lock knows that
 * its maker was killed.
 */
static void marker(const struct baleen_pins *pins, char *path, size_t bytes)
{
	snprintf(path, bytes, "%s/changing", pins->path);
}

static int begin(const struct baleen_pins *pins, struct baleen_error *error)
{
	char path[BALEEN_PIN_BYTES + 16];

	marker(pins, path, sizeof(path));
	if (mkdir(path, 0700) && errno != EEXIST)
		return baleen_fail(error, errno, "%s: %m", path);
	start_log();
	return 0;
}

static void end(const struct baleen_pins *pins)
{
	char path[BALEEN_PIN_BYTES + 16];

	marker(pins, path, sizeof(path));
	rmdir(path);
}

static enum xdp_attach_mode mode_of(enum baleen_mode mode)
{
	return mode == BALEEN_MODE_GENERIC ? XDP_MODE_SKB : XDP_MODE_NATIVE;
}

static int add_program(const struct baleen_pins *pins, struct xdp_program *component,
		       enum baleen_mode mode)
{
	return xdp_program__attach(component, pins->ifindex, mode_of(mode), 0);
}

/* libxdp finds out the mode by itself, and 1.3.1 forgets it before the last step. */
static int detach_program(const struct baleen_pins *pins, struct xdp_program *program)
{
	struct baleen_program there;
	int err = baleen_device_program(pins->ifindex, &there);

	return err ? err : xdp_program__detach(program, pins->ifindex, mode_of(there.mode), 0);
}

static int remove_program(const struct baleen_pins *pins, u32 program_id)
{
	struct xdp_program *program;
	int fd = baleen_pins_open(pins, program_id, "prog");
	int err;

	if (fd < 0)
		return fd;
	program = xdp_program__from_fd(fd);
	close(fd);
	err = libxdp_get_error(program);
	if (err)
		return err;
	err = detach_program(pins, program);
	xdp_program__close(program);
	return err;
}

int baleen_dispatcher_add(const struct baleen_pins *pins, struct xdp_program *component,
			  enum baleen_mode mode, struct baleen_error *error)
{
	int err = begin(pins, error);

	if (err)
		return err;
	err = add_program(pins, component, mode);
	end(pins);
	return err ? fail(err, error) : 0;
}

int baleen_dispatcher_replace(const struct baleen_pins *pins, struct xdp_program *component,
			      u32 program_id, enum baleen_mode mode, struct baleen_error *error)
{
	int err = begin(pins, error);

	if (err)
		return err;
	err = add_program(pins, component, mode);
	if (!err) {
		err = remove_program(pins, program_id);
		if (err)
			detach_program(pins, component);
	}
	end(pins);
	return err ? fail(err, error) : 0;
}

int baleen_dispatcher_remove(const struct baleen_pins *pins, u32 program_id,
			     struct baleen_error *error)
{
	int err = begin(pins, error);

	if (err)
		return err;
	err = remove_program(pins, program_id);
	end(pins);
	return err ? fail(err, error) : 0;
}

/* --- after a kill ---------------------------------------------------------- */

/* Is program @i of this dispatcher's directory one of these? */
static bool is_one_of(const char *path, int i, const u32 *ids, u32 n)
{
	struct bpf_prog_info info = { 0 };
	char pin[BALEEN_PIN_BYTES];
	u32 bytes = sizeof(info);
	int fd;

	snprintf(pin, sizeof(pin), "%.100s/prog%d-prog", path, i);
	fd = bpf_obj_get(pin);
	if (fd < 0)
		return false;
	if (bpf_obj_get_info_by_fd(fd, &info, &bytes))
		info.id = 0;
	close(fd);
	for (u32 k = 0; k < n; k++)
		if (info.id == ids[k])
			return true;
	return false;
}

static bool has_pin(const char *path, int i, const char *what)
{
	char pin[BALEEN_PIN_BYTES];

	snprintf(pin, sizeof(pin), "%.100s/prog%d-%s", path, i, what);
	return !access(pin, F_OK);
}

/* libxdp pins the link of a program, then the program: who was killed in between left a
 * dispatcher that was never put on the device, in whatever network namespace. Nobody is
 * in between now: the caller has the lock of libxdp.
 */
static bool is_unfinished(const char *path, int i)
{
	return has_pin(path, i, "link") && !has_pin(path, i, "prog");
}

static void unpin(const char *path, int i, const char *what)
{
	char pin[BALEEN_PIN_BYTES];

	snprintf(pin, sizeof(pin), "%.100s/prog%d-%s", path, i, what);
	unlink(pin);
}

/* @whole: a dispatcher with a program of ours, or one never finished, goes with all it has */
static void unpin_ours(const char *path, const u32 *ids, u32 n, bool whole)
{
	bool ours[CHAIN_LENGTH], has_ours = false;

	for (int i = 0; i < CHAIN_LENGTH; i++) {
		ours[i] = is_one_of(path, i, ids, n);
		has_ours |= ours[i] || is_unfinished(path, i);
	}
	for (int i = 0; i < CHAIN_LENGTH; i++) {
		if (!ours[i] && !(whole && has_ours))
			continue;
		unpin(path, i, "link");
		unpin(path, i, "prog");
	}
	rmdir(path);
}

/* libxdp_clean_references() would do this for every device with this number: it
 * does not know of network namespaces. What holds a program of ours is ours.
 * @but: the dispatcher that stays
 */
static void unpin_dispatchers(int ifindex, u32 but, const u32 *ids, u32 n, bool whole)
{
	DIR *directory = opendir(CHAIN_ROOT);
	struct dirent *entry;

	if (!directory)
		return;
	/* The lock of libxdp. */
	flock(dirfd(directory), LOCK_EX);
	while ((entry = readdir(directory))) {
		char path[BALEEN_PIN_BYTES];
		int device;
		u32 id;

		if (sscanf(entry->d_name, "dispatch-%d-%u", &device, &id) != 2 ||
		    device != ifindex || id == but)
			continue;
		snprintf(path, sizeof(path), CHAIN_ROOT "/%.60s", entry->d_name);
		unpin_ours(path, ids, n, whole);
	}
	closedir(directory);
}

void baleen_dispatcher_tidy(const struct baleen_pins *pins, u32 program_id)
{
	u32 ids[BALEEN_MAX_PINNED], n = baleen_pins_programs(pins, ids);
	char path[BALEEN_PIN_BYTES + 16];
	struct baleen_program there;

	marker(pins, path, sizeof(path));
	if (access(path, F_OK))
		return;
	start_log();
	for (u32 i = 0; i < n; i++)
		if (ids[i] != program_id)
			remove_program(pins, ids[i]);
	if (!baleen_device_program(pins->ifindex, &there))
		unpin_dispatchers(pins->ifindex, there.id, ids, n, true);
	rmdir(path);
}

void baleen_dispatcher_forget(const struct baleen_pins *pins)
{
	u32 ids[BALEEN_MAX_PINNED], n = baleen_pins_programs(pins, ids);

	unpin_dispatchers(pins->ifindex, 0, ids, n, false);
}
