// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A set: an image in memory, or the live map of a rule. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api.h"
#include "filter/asker.h"
#include "filter/filter_strings.h"
#include "key/key_spec.h"
#include "ops/build.h"
#include "ops/change.h"
#include "ops/image_file.h"
#include "util/input.h"
#include "util/output.h"
#include "xdp/xdp.h"

/**
 * struct baleen_set - the handle
 * @filter: the image, or a view of the map
 * @ip4: @filter, ready to be asked for IPv4 addresses
 * @is_live: which of them
 * @rule: rule of a live set
 * @map_id: its map
 */
struct baleen_set {
	struct baleen_filter filter;
	struct baleen_asker ip4;
	bool is_live;
	struct api_rule rule;
	u32 map_id;
};

/* After each change of the filter. */
static void get_ready(struct baleen_set *set)
{
	baleen_asker_init(&set->ip4, &set->filter, BALEEN_IP4, baleen_lanes_width());
}

/* Hands the set over, or frees what was to be one. */
static int finish(struct baleen_set *made, int err, struct baleen_set **set)
{
	if (err) {
		free(made);
		return err;
	}
	get_ready(made);
	*set = made;
	return 0;
}

void baleen_set_close(struct baleen_set *set)
{
	if (!set)
		return;
	baleen_filter_free(&set->filter);
	free(set);
}

/* --- built ----------------------------------------------------------------- */

static int parse_kind(const char *kind, u32 *value)
{
	if (!kind || !strcmp(kind, "cuckoo"))
		*value = BALEEN_KIND_CUCKOO;
	else if (!strcmp(kind, "bloom"))
		*value = BALEEN_KIND_BLOOM;
	else
		return baleen_fail(api_error(), EINVAL, "kind '%s': not cuckoo or bloom", kind);
	return 0;
}

static int check_name(const char *name)
{
	size_t length = 0;

	while (name && name[length] >= ' ' && name[length] <= '~')
		length++;
	if (name && (name[length] || length >= BALEEN_NAME_BYTES))
		return baleen_fail(api_error(), EINVAL, "a name is up to 31 printable characters");
	return 0;
}

static int convert_options(const struct baleen_set_options *from, struct baleen_build_options *to)
{
	int err;

	*to = (struct baleen_build_options){ .kind = BALEEN_KIND_CUCKOO };
	if (!from)
		return 0;
	if (from->size < sizeof(*from))
		return baleen_fail(api_error(), EINVAL, "options of %zu bytes", from->size);
	if (!(from->fpp >= 0 && from->fpp < 1))
		return baleen_fail(api_error(), EINVAL, "%g is not a rate from 0 to below 1",
				   from->fpp);
	err = parse_kind(from->kind, &to->kind);
	if (!err)
		err = check_name(from->name);
	if (!err && to->kind == BALEEN_KIND_BLOOM && !from->fpp)
		err = baleen_fail(api_error(), EINVAL, "a Bloom filter needs a rate");
	if (err)
		return err;
	to->name = from->name;
	to->fpp = from->fpp;
	to->capacity = from->capacity;
	return 0;
}

int baleen_set_build(struct baleen_keys *keys, const struct baleen_set_options *options,
		     struct baleen_set **set)
{
	struct baleen_build_options build;
	struct baleen_set *made;
	int err;

	err = convert_options(options, &build);
	if (!err)
		err = api_keys_finish(keys);
	if (err)
		return err;
	made = calloc(1, sizeof(*made));
	if (!made)
		return baleen_no_memory(api_error());
	build.key_spec = keys->list.key_spec;
	err = baleen_build(&keys->list, &build, &made->filter, api_error());
	return finish(made, err, set);
}

/* --- a file ---------------------------------------------------------------- */

static int read_image(const char *path, struct baleen_filter *filter)
{
	int fd = baleen_input_open(path, BALEEN_INPUT_TYPED_FILE, api_error()), err;

	if (fd < 0)
		return fd;
	if (baleen_image_file_is(fd))
		err = baleen_image_file_read(fd, path, filter, api_error());
	else
		err = baleen_fail(api_error(), EINVAL, "%s: is not an image", path);
	close(fd);
	return err;
}

int baleen_set_open(const char *path, struct baleen_set **set)
{
	struct baleen_set *made = calloc(1, sizeof(*made));

	if (!made)
		return baleen_no_memory(api_error());
	return finish(made, read_image(path, &made->filter), set);
}

/* A plain copy of a live map could miss a key that moves meanwhile. */
static int copy_live(const struct baleen_set *set, struct baleen_filter *copy)
{
	struct baleen_filter view;
	struct baleen_xdp xdp;
	int index, err;

	err = baleen_xdp_open(&xdp, set->rule.device, true, api_error());
	if (err)
		return err;
	index = baleen_xdp_rule_index(&xdp, set->rule.name);
	if (index < 0)
		err = baleen_fail(api_error(), ENOENT, "%s has no rule '%s'", set->rule.device,
				  set->rule.name);
	else
		err = baleen_xdp_map_rule(&xdp, index, &view, api_error());
	if (!err) {
		err = baleen_filter_snapshot(&view, copy, api_error());
		baleen_filter_free(&view);
	}
	baleen_xdp_close(&xdp);
	return err;
}

int api_set_image(const struct baleen_set *set, struct baleen_filter *copy,
		  const struct baleen_filter **image)
{
	int err = 0;

	*copy = (struct baleen_filter){ 0 };
	if (set->is_live)
		err = copy_live(set, copy);
	if (!err)
		*image = set->is_live ? copy : &set->filter;
	return err;
}

int baleen_set_save(const struct baleen_set *set, const char *path, unsigned int mode)
{
	const struct baleen_filter *image;
	struct baleen_filter copy;
	int err;

	if (!baleen_file_may_replace(path, BALEEN_MAGIC, sizeof(BALEEN_MAGIC) - 1))
		return baleen_fail(api_error(), EEXIST, "%s: exists and is not an image", path);
	err = api_set_image(set, &copy, &image);
	if (!err)
		err = baleen_output_write(path, BALEEN_OUTPUT_TYPED, mode, image->bytes,
					  image->n_bytes, api_error());
	baleen_filter_free(&copy);
	return err;
}

/* --- a live rule ----------------------------------------------------------- */

static int map_live(struct baleen_set *set, const struct baleen_xdp *xdp)
{
	int index = baleen_xdp_rule_index(xdp, set->rule.name);
	struct bpf_map_info info = { 0 };
	u32 info_bytes = sizeof(info);

	if (xdp->attach_status != BALEEN_ATTACH_STATUS_ATTACHED &&
	    xdp->attach_status != BALEEN_ATTACH_STATUS_MOVED)
		return baleen_fail(api_error(), ENOENT, "%s: its filter is not in force (%s)",
				   set->rule.device, baleen_attach_status_text(xdp->attach_status));
	if (index < 0)
		return baleen_fail(api_error(), ENOENT, "%s has no rule '%s'", set->rule.device,
				   set->rule.name);
	if (bpf_obj_get_info_by_fd(xdp->rule_fd[index], &info, &info_bytes))
		return baleen_fail(api_error(), errno, "%s: its map cannot be read: %m",
				   set->rule.device);
	set->map_id = info.id;
	return baleen_xdp_map_rule(xdp, index, &set->filter, api_error());
}

/* Fills in the map and the view of it. */
static int look_at(struct baleen_set *set)
{
	struct baleen_xdp xdp;
	int err;

	err = baleen_xdp_open(&xdp, set->rule.device, false, api_error());
	if (err)
		return err;
	err = map_live(set, &xdp);
	baleen_xdp_close(&xdp);
	return err;
}

int baleen_set_open_rule(const char *rule, struct baleen_set **set)
{
	struct baleen_set *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return baleen_no_memory(api_error());
	made->is_live = true;
	err = api_rule_parse(rule, &made->rule);
	if (!err)
		err = look_at(made);
	return finish(made, err, set);
}

int baleen_set_refresh(struct baleen_set *set)
{
	struct baleen_set now = *set;
	bool is_other;
	int err;

	if (!set->is_live)
		return 0;
	err = look_at(&now);
	if (err)
		return err;
	is_other = now.map_id != set->map_id;
	baleen_filter_free(&set->filter);
	*set = now;
	get_ready(set);
	return is_other;
}

/* --- asked ----------------------------------------------------------------- */

static int key_from(const struct baleen_set *set, const char *text, struct baleen_key *key)
{
	const struct baleen_string string = { (const u8 *)text, strlen(text) };
	const char *reason;

	if (set->filter.image.key_spec == BALEEN_KEY_STRING)
		*key = baleen_string_key(&set->filter, string);
	else if (baleen_key_parse(text, strlen(text), set->filter.image.key_spec, key, &reason))
		return baleen_fail(api_error(), EINVAL, "'%.64s': %s", text, reason);
	return 0;
}

int baleen_set_test(const struct baleen_set *set, const char *key)
{
	struct baleen_key parsed;
	int err = key_from(set, key, &parsed);

	return err ? err : baleen_filter_test(&set->filter, &parsed);
}

int baleen_set_test_many(const struct baleen_set *set, const char *const *keys, size_t n,
			 uint8_t *found)
{
	struct baleen_key *parsed = calloc(n ? n : 1, sizeof(*parsed));
	int err = 0;

	if (!parsed)
		return baleen_no_memory(api_error());
	for (size_t i = 0; i < n && !err; i++)
		err = key_from(set, keys[i], &parsed[i]);
	if (!err)
		baleen_filter_test_many(&set->filter, parsed, n, found);
	free(parsed);
	return err;
}

/* Dual-stack sockets tell the addresses of IPv4 peers so. */
static bool is_mapped(const void *address)
{
	static const u8 prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(address, prefix, sizeof(prefix));
}

static int check_family(const struct baleen_set *set, int family)
{
	if (!baleen_spec_is_address(set->filter.image.key_spec))
		return baleen_fail(api_error(), EINVAL, "the keys of the set are not addresses");
	if (family != AF_INET && family != AF_INET6)
		return baleen_fail(api_error(), EAFNOSUPPORT, "address family %d", family);
	return 0;
}

int baleen_set_test_address(const struct baleen_set *set, int family, const void *address)
{
	struct baleen_key key;
	int err = check_family(set, family);

	if (err)
		return err;
	if (family == AF_INET)
		return baleen_asker_test(&set->ip4, baleen_load_be32(address));
	if (is_mapped(address))
		return baleen_asker_test(&set->ip4, baleen_load_be32((const u8 *)address + 12));
	key = baleen_key_ip6(address);
	return baleen_filter_test(&set->filter, &key);
}

/* Addresses that are turned into keys at a time: they stay in the L1 cache. */
#define AT_ONCE 256

static void test_ip4(const struct baleen_set *set, const u8 *address, size_t n, u8 *found)
{
	u64 number[AT_ONCE];

	for (size_t i = 0; i < n; i++)
		number[i] = baleen_load_be32(address + i * 4);
	baleen_filter_test_numbers(&set->filter, BALEEN_IP4, number, n, found);
}

static void test_ip6(const struct baleen_set *set, const u8 *address, size_t n, u8 *found)
{
	struct baleen_key key[AT_ONCE];

	for (size_t i = 0; i < n; i++, address += 16)
		key[i] =
			is_mapped(address) ? baleen_key_ip4(address + 12) : baleen_key_ip6(address);
	baleen_filter_test_many(&set->filter, key, n, found);
}

int baleen_set_test_addresses(const struct baleen_set *set, int family, const void *addresses,
			      size_t n, uint8_t *found)
{
	const u8 *address = addresses;
	int err = check_family(set, family);

	if (err)
		return err;
	for (size_t at = 0; at < n; at += AT_ONCE) {
		size_t n_now = n - at < AT_ONCE ? n - at : AT_ONCE;

		if (family == AF_INET)
			test_ip4(set, address + at * 4, n_now, &found[at]);
		else
			test_ip6(set, address + at * 16, n_now, &found[at]);
	}
	return 0;
}

static const char *kind_of(const struct baleen_filter *filter)
{
	const struct baleen_table *table = filter->image.table;

	if (table[BALEEN_IP4_GROUPS].kind || table[BALEEN_IP6_STEMS].kind)
		return "prefixes";
	return baleen_filter_has_bloom(filter) ? "bloom" : "cuckoo";
}

static u64 count(const struct baleen_filter *filter)
{
	u64 n = 0;

	if (filter->is_mapped && baleen_filter_has_bloom(filter))
		return BALEEN_SET_UNKNOWN;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		n += baleen_filter_count(filter, domain);
	return n;
}

int baleen_set_info(const struct baleen_set *set, struct baleen_set_info *info)
{
	const struct baleen_filter *filter = &set->filter;

	if (info->size < sizeof(*info))
		return baleen_fail(api_error(), EINVAL, "info of %zu bytes", info->size);
	*info = (struct baleen_set_info){
		.size = sizeof(*info),
		.n_entries = count(filter),
		.n_bytes = (u64)filter->image.n_blocks * BALEEN_BLOCK_BYTES,
		.fpp = baleen_filter_worst_fpp(filter),
		.is_exact = baleen_image_is_exact(&filter->image),
		.is_live = set->is_live,
	};
	strcpy(info->kind, kind_of(filter));
	baleen_key_spec_text(filter->image.key_spec, info->key);
	strcpy(info->name, filter->image.name);
	return 0;
}

/* --- changed --------------------------------------------------------------- */

static int check_change(const struct baleen_set *set, struct baleen_keys *keys)
{
	int err;

	if (set->is_live)
		return baleen_fail(api_error(), EROFS,
				   "%s:%s is live: baleen_rule_add() lists entries in it",
				   set->rule.device, set->rule.name);
	if (keys->list.key_spec != set->filter.image.key_spec)
		return baleen_fail(api_error(), EINVAL, "the keys are of other fields");
	err = api_keys_finish(keys);
	if (!err && keys->has_exceptions)
		err = baleen_fail(api_error(), EINVAL,
				  "exceptions can be neither added nor deleted");
	if (!err && baleen_list_resolve(&keys->list, &set->filter))
		err = baleen_no_memory(api_error());
	return err;
}

static int change(struct baleen_set *set, struct baleen_keys *keys, enum baleen_set_op op)
{
	struct baleen_filter *filter = &set->filter, built;
	u64 n_changed;
	int err = check_change(set, keys);

	if (err)
		return err;
	err = baleen_change_in_place(filter, &keys->list, op, &n_changed);
	if (!err) {
		baleen_change_seal(filter);
		get_ready(set);
		return 0;
	}
	err = baleen_change_aside(filter, &keys->list, op, err == -ENOSPC, false, &built,
				  api_error());
	if (err)
		return err;
	baleen_filter_free(filter);
	*filter = built;
	get_ready(set);
	return 0;
}

int baleen_set_add(struct baleen_set *set, struct baleen_keys *keys)
{
	return change(set, keys, BALEEN_SET_UNION);
}

int baleen_set_del(struct baleen_set *set, struct baleen_keys *keys)
{
	return change(set, keys, BALEEN_SET_DIFFERENCE);
}
