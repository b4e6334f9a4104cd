/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of every command that reads lists and builds filters of them.
 */
#ifndef BALEEN_CLI_LIST_OPTIONS_H
#define BALEEN_CLI_LIST_OPTIONS_H

#include "cli/common/options.h"
#include "list/csv_table.h"
#include "ops/choose.h"
#include "util/input.h"

/* Options about the shape of a table. */
enum list_shape {
	SHAPE_BITS,
	SHAPE_HASHES,
	SHAPE_HASH,
	SHAPE_HASH_SEED,
	SHAPE_HASH_FORM,
	SHAPE_SLOT_BITS,
	SHAPE_BUCKET_SLOTS,
	SHAPE_BUCKETS,
	SHAPE_PARTNER,
	SHAPE_SEMI_SORT,
	SHAPE_STASH,
	SHAPE_COPIES,
	SHAPE_REMAINDER_BITS,
	SHAPE_LOAD,
	N_SHAPE_OPTIONS,
};

/**
 * enum list_special - what a command does with special-purpose ranges in a list
 * @SPECIAL_IS_IGNORED: nothing
 * @SPECIAL_IS_COUNTED: it counts them
 * @SPECIAL_IS_REMOVED: it counts them, and takes them out
 */
enum list_special {
	SPECIAL_IS_IGNORED,
	SPECIAL_IS_COUNTED,
	SPECIAL_IS_REMOVED,
};

/**
 * struct list_options - how lists are read and built
 * @skip_bad: count bad lines instead of refusing the list
 * @allow_empty: take a list without a key
 * @ends_with_nul: a string ends with a NUL byte, not with its line
 * @input: whence the paths of lists come: unless set, a user has typed them
 * @n_reported: bad lines of the list at hand that were printed
 * @looks_at_live: a live rule is looked at as it changes, not copied between
 *                 two changes
 * @special: what becomes of special-purpose ranges
 * @leaves_nobody: what is nobody's is taken out: baleen_special_nobody
 * @csv: of a table: columns and conditions
 * @build: kind, key, rate, capacity, geometry
 * @accept_fpp: false positive rate that a rule made of them may come to
 * @shaped_by: the last option that says what to build, such as "kind"
 * @is_kind_given: --kind was one of them
 * @kinds: kinds that have all that was asked for, a bit each
 * @needs: --need: what the filter has to do
 * @chooses: the kind is chosen to fit, and why goes to @choice; otherwise it is
 *           the first of @kinds
 * @choice: storage for that
 * @is_key_given: --key was one of them
 * @shape_text: the options about the shape of a table as they were typed; NULL where one
 *              was not given
 * @like_path: --like; its header goes to @like
 * @like: storage for @build.like
 * @seed_text: --seed; what it makes goes to @seed
 * @seed: storage for @build.seed
 */
struct list_options {
	bool skip_bad;
	bool allow_empty;
	bool ends_with_nul;
	bool looks_at_live;
	enum baleen_input input;
	u64 n_reported;
	enum list_special special;
	bool leaves_nobody;
	struct baleen_csv_options csv;
	struct baleen_build_options build;
	double accept_fpp;
	const char *shaped_by;
	bool is_kind_given;
	u32 kinds;
	u32 needs;
	bool chooses;
	struct baleen_choice choice;
	bool is_key_given;
	const char *shape_text[N_SHAPE_OPTIONS];
	const char *like_path;
	struct baleen_image like;
	const char *seed_text;
	struct baleen_seed seed;
};

/* The values of --kind and --hash, and some of --key, for their rows. Kinds that packets ask
 * come first.
 */
#define PACKET_KIND_WORDS "cuckoo bloom classic counting quotient"
#define KIND_WORDS PACKET_KIND_WORDS " chained compact"
#define HASH_WORDS "blocked keyed murmur3 murmur3-fnv1a squid bip37"
#define KEY_WORDS "src dst proto,dport src,dport flow string squid fingerprint"

/* All of them, and those of what to build; each is of a struct list_options. */
extern const struct option_spec list_option_table[];

/* --column, --where and --delimiter; of a struct baleen_csv_options. */
extern const struct option_spec csv_option_table[];
extern const struct option_spec shape_option_table[];

/* Take one of them, of a struct list_options. */
int list_kind(const struct option_use *use);
int list_key(const struct option_use *use);
int list_fpp(const struct option_use *use);
int list_capacity(const struct option_use *use);
int list_need(const struct option_use *use);
int list_shape(const struct option_use *use); /* @value is an enum list_shape */

void list_options_init(struct list_options *options);

/**
 * list_options_of() - what follows from the device that lists are for
 * @options: parsed; without --key, what goes out is looked up by its destination
 * @device: its name, or that of what goes out by it
 */
void list_options_of(struct list_options *options, const char *device);

/* Finds the kinds that have all that was asked for, of which the first becomes
 * that of the build; 0, or EXIT_USAGE after a message.
 */
int list_options_find_kinds(const struct command *command, struct list_options *options);

/* The same, and what else may contradict. */
int list_options_check(const struct command *command, struct list_options *options);

#endif /* BALEEN_CLI_LIST_OPTIONS_H */
