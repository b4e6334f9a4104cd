// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen import --format bits: a Bloom filter that another program made. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ban/import_bits.h"
#include "cli/common/describe.h"
#include "cli/open/filter_ref.h"
#include "ops/bits.h"
#include "util/input.h"

/* Reads up to @room bytes: how many there were, or -1 with errno set. */
static ssize_t read_all(int fd, u8 *bytes, size_t room)
{
	size_t n = 0;

	while (n < room) {
		ssize_t ret = read(fd, bytes + n, room - n);

		if (ret < 0)
			return -1;
		if (!ret)
			break;
		n += ret;
	}
	return n;
}

/* The file is as many bytes as there are bits for, and no more. */
static int read_bytes(const char *path, u8 *bytes, size_t n_bytes)
{
	bool is_stdin = !strcmp(path, "-");
	struct baleen_error error;
	int fd = is_stdin ? STDIN_FILENO : baleen_input_open(path, BALEEN_INPUT_TYPED, &error);
	int err = 0;
	ssize_t n;

	if (fd < 0)
		return complain("%s", error.text);
	n = read_all(fd, bytes, n_bytes + 1);
	if (n < 0)
		err = complain("%s: %m", path);
	else if ((size_t)n != n_bytes)
		err = complain("%s: %s %zu bytes, which so many bits take", path,
			       (size_t)n > n_bytes ? "more than the" : "less than the", n_bytes);
	if (!is_stdin)
		close(fd);
	return err;
}

static int check(struct import_bits *import, char *name)
{
	struct baleen_build_options *build = &import->lists.build;

	if (!import->out)
		return complain_usage(&import_command, "-o IMAGE is missing");
	if (!build->shape.n_bits || !build->shape.hash)
		return complain_usage(&import_command,
				      "--format bits needs --bits M, --hashes K and --hash H");
	if (!build->shape.n_hashes && build->shape.hash != BALEEN_HASH_MURMUR3_FNV1A &&
	    build->shape.hash != BALEEN_HASH_SQUID)
		return complain_usage(&import_command, "--hashes K is missing");
	if (build->shape.n_bits > (u64)BALEEN_MAX_BLOCKS * BALEEN_BLOCK_BYTES * 8)
		return complain_usage(&import_command, "--bits: too many for one filter");
	return output_check(&import_command, import->out, name);
}

int import_bits(struct import_bits *import, const char *path, bool json)
{
	struct baleen_build_options *build = &import->lists.build;
	char name[BALEEN_NAME_BYTES];
	struct baleen_filter filter = { 0 };
	struct baleen_error error;
	u8 *bytes;
	int err;

	if (!import->lists.is_key_given)
		build->key_spec = BALEEN_KEY_STRING;
	build->name = name;
	err = check(import, name);
	if (err)
		return err;
	bytes = malloc(baleen_bits_bytes(build->shape.n_bits) + 1);
	if (!bytes)
		return complain("not enough memory");
	err = read_bytes(path, bytes, baleen_bits_bytes(build->shape.n_bits));
	if (!err && baleen_bits_read(build, bytes, import->is_msb, &filter, &error))
		err = complain("%s: %s", path, error.text);
	if (!err)
		err = output_write(import->out, &filter, 0600);
	if (!err && json)
		err = print_json(describe_filter(&filter));
	baleen_filter_free(&filter);
	free(bytes);
	return err;
}

/* A row each. */
/* clang-format off */
const struct option_spec import_bits_option_table[] = {
	{ .help = "Of bits:\n" },
	VALUE("output", 'o', "IMAGE", option_text, import_bits, out, "where to write the image"),
	{ "bits", 0, "M", list_shape, .value = SHAPE_BITS,
	  .help = "FILE has M bits, m of the texts" },
	{ "hashes", 0, "K", list_shape, .value = SHAPE_HASHES, .help = "K bits are set per key" },
	{ "hash", 0, "H", list_shape, .value = SHAPE_HASH,
	  .words = "murmur3 murmur3-fnv1a squid bip37",
	  .help = "murmur3, murmur3-fnv1a, squid or bip37" },
	{ "hash-seed", 0, "N", list_shape, .value = SHAPE_HASH_SEED,
	  .help = "strings: the seed of murmur3 to start from, the tweak of bip37" },
	{ "hash-form", 0, "FORM", list_shape, .value = SHAPE_HASH_FORM,
	  .words = "unsigned quoted unsigned,quoted hex",
	  .help = "strings: unsigned, quoted or hex, with commas between; see baleen-build(8)" },
	{ "key", 0, "SPEC", list_key, .words = "string src dst squid",
	  .help = "string (default), src or dst, IPv4 addresses, or squid" },
	VALUE("bit-order", 0, "ORDER", option_choice, import_bits, is_msb,
	      "lsb (default): the first bit of a byte is its lowest, as of BIP 37; msb: its highest, "
	      "as of Python's bitarray",
	      .words = "lsb msb"),
	{ 0 },
};
/* clang-format on */
