/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbaleen: the sets that Baleen filters by, for other programs.
 *
 * Keys are collected from text, addresses or lists, and built into a set; or a
 * set is opened, from an image file or as the live filter of a rule. A set is
 * asked, changed, described and saved. Single entries are listed in a live rule
 * by baleen_rule_add().
 *
 *      struct baleen_keys *keys;
 *      struct baleen_set *set;
 *
 *      if (!baleen_keys_new("src", &keys) &&
 *          !baleen_keys_read(keys, "list.txt") &&
 *          !baleen_set_build(keys, NULL, &set))
 *              listed = baleen_set_test(set, "192.0.2.1");
 *
 * Functions return 0, or a negative errno after which baleen_error_text() says
 * why in words; those that answer a question return 1 for yes. Outputs are
 * untouched on failure. Handles are opaque; one thread at a time may change
 * one, and while none does any number may ask it. Nothing is printed, no signal
 * handled and no thread started.
 *
 * The promise: a program linked against libbaleen.so.0 runs with every later
 * library of that name. Declarations here keep their meaning; functions are
 * added under new symbol versions (LIBBALEEN_0.1 is the first); structs begin
 * with their size and grow at the end. A change that breaks this gets
 * another soname. All other headers of Baleen, and the symbols of a static
 * library beyond these, are not part of it.
 */
#ifndef LIBBALEEN_H
#define LIBBALEEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number of entries that is not known. */
#define BALEEN_SET_UNKNOWN UINT64_MAX

/* Peers of TCP sessions of this host may be listed, too. */
#define BALEEN_ENTRY_CUTS_SESSIONS 1

struct baleen_keys;
struct baleen_set;
struct bpf_object;

/**
 * struct baleen_set_options - how a set is built
 * @size: sizeof(struct baleen_set_options)
 * @name: name in the image, printable ASCII of up to 31 bytes; may be NULL
 * @kind: "cuckoo" or "bloom"; NULL is cuckoo
 * @fpp: false positive rate allowed, 0 to below 1; a Bloom filter needs one
 * @capacity: room for this many hosts and keys; 0 for as many as are listed
 */
struct baleen_set_options {
	size_t size;
	const char *name;
	const char *kind;
	double fpp;
	uint64_t capacity;
};

/**
 * struct baleen_set_info - what a set is
 * @size: sizeof(struct baleen_set_info), set by the caller
 * @n_entries: hosts, keys and prefixes in it, after merging; BALEEN_SET_UNKNOWN
 *             for a live Bloom filter
 * @n_bytes: size of the image
 * @fpp: false positive rate as it is; 0 when @is_exact
 * @is_exact: it holds what is listed and nothing else
 * @is_live: it is that of a rule of a device
 * @kind: "cuckoo", "bloom" or "prefixes"
 * @key: the fields looked up, such as "src" or "src,dport"
 * @name: name in the image; may be empty
 */
struct baleen_set_info {
	size_t size;
	uint64_t n_entries;
	uint64_t n_bytes;
	double fpp;
	uint32_t is_exact;
	uint32_t is_live;
	char kind[16];
	char key[32];
	char name[32];
};

/**
 * struct baleen_entry_options - what is kept with entries of a live rule
 * @size: sizeof(struct baleen_entry_options)
 * @origin: who lists them, 1 to 63 printable bytes without blanks; NULL is
 *          "manual"
 * @reason: why, UTF-8 of up to 255 bytes; may be NULL
 * @ttl_s: seconds until they end; 0 for never
 * @flags: BALEEN_ENTRY_CUTS_SESSIONS or 0
 */
struct baleen_entry_options {
	size_t size;
	const char *origin;
	const char *reason;
	uint64_t ttl_s;
	uint64_t flags;
};

/**
 * baleen_version() - the version of the library
 *
 * Return: such as "0.1"; constant.
 */
const char *baleen_version(void);

/**
 * baleen_error_text() - why the last call of this thread that failed did
 *
 * Return: one line without a newline; valid until the next failure in this
 * thread. Empty when there was none.
 */
const char *baleen_error_text(void);

/**
 * baleen_keys_new() - an empty collection of keys
 * @key: the fields of a packet that make a key: "src" (as NULL), "dst", or any
 *       of proto,src,dst,sport,dport with commas between; or "string": no field
 *       of a packet, but any text; or "squid": what Squid calls an object, a URL
 *       or 32 hexadecimal digits
 * @keys: filled in; free with baleen_keys_free()
 *
 * Return: 0; -EINVAL for other fields; -ENOMEM.
 */
int baleen_keys_new(const char *key, struct baleen_keys **keys);

/**
 * baleen_keys_add() - add an entry, as a line of a list would have it
 * @keys: the keys
 * @entry: an address, prefix, range A-B, '!' and one of these as an exception,
 *         or the fields of a key with commas between; or the text of a string;
 *         or a URL
 *
 * Return: 0; -EINVAL, and nothing was added; -EBUSY after the keys were used
 * for a set; -ENOMEM.
 */
int baleen_keys_add(struct baleen_keys *keys, const char *entry);

/**
 * baleen_keys_add_address() - add an address or prefix
 * @keys: the keys, of "src" or "dst"
 * @family: AF_INET or AF_INET6
 * @address: 4 or 16 bytes in network order, at any alignment
 * @length: length of the prefix in bits, 32 or 128 for a host; bits below it are masked
 *
 * Return: as baleen_keys_add().
 */
int baleen_keys_add_address(struct baleen_keys *keys, int family, const void *address,
			    unsigned int length);

/**
 * baleen_keys_read() - add all entries of a list
 * @keys: the keys
 * @path: path of the list, as 'baleen build' reads it
 *
 * Return: 0; -EINVAL for a list with a bad line, naming the first one: the good
 * ones have been added; -EBUSY and -ENOMEM as baleen_keys_add(); the errno of a
 * failed open or read.
 */
int baleen_keys_read(struct baleen_keys *keys, const char *path);

/**
 * baleen_keys_free() - free them
 * @keys: the keys; may be NULL
 */
void baleen_keys_free(struct baleen_keys *keys);

/**
 * baleen_set_build() - make a set of keys
 * @keys: the keys; nothing can be added to them any more
 * @options: how; NULL for an exact set wherever that can be
 * @set: filled in; close with baleen_set_close()
 *
 * Return: 0; -EINVAL for options that are out of range or contradict each other;
 * -ENOSPC when there are more keys than the capacity; -ENOMEM, -E2BIG.
 */
int baleen_set_build(struct baleen_keys *keys, const struct baleen_set_options *options,
		     struct baleen_set **set);

/**
 * baleen_set_open() - read a set from an image file
 * @path: path of the image
 * @set: filled in; close with baleen_set_close()
 *
 * The file is read whole and checked; the set is a copy of it.
 *
 * Return: 0; -EINVAL for a file that is no valid image; -ENOMEM; the errno of a
 * failed open or read.
 */
int baleen_set_open(const char *path, struct baleen_set **set);

/**
 * baleen_set_open_rule() - look at the live filter of a rule
 * @rule: DEV:RULE
 * @set: filled in; close with baleen_set_close()
 *
 * The set is a read-only view of the map that packets are looked up in, as it
 * changes. A swap or an apply puts another map in its place: see
 * baleen_set_refresh(). Needs the right to open BPF maps.
 *
 * Return: 0; -EINVAL for what is not DEV:RULE; -ENOENT when the device has no
 * filter or the filter no such rule; a negative errno.
 */
int baleen_set_open_rule(const char *rule, struct baleen_set **set);

/**
 * baleen_set_refresh() - look at the map that is in force now
 * @set: a live one; others are left as they are
 *
 * Return: 1 when it is another one than before, or may be; 0 when it is the
 * same; as baleen_set_open_rule() on failure, and the set stays as it was.
 */
int baleen_set_refresh(struct baleen_set *set);

/**
 * baleen_set_test() - is a key in the set?
 * @set: the set
 * @key: an address, the fields of the set's key with commas between, or the text
 *       of a string
 *
 * Return: 1 yes (or maybe, when the set is not exact), 0 surely not; -EINVAL for
 * what is no key of this set.
 */
int baleen_set_test(const struct baleen_set *set, const char *key);

/**
 * baleen_set_test_address() - is an address in the set?
 * @set: the set, keyed by "src" or "dst"
 * @family: AF_INET or AF_INET6
 * @address: 4 or 16 bytes in network order, at any alignment
 *
 * An IPv4-mapped IPv6 address, as accept() gives, is the IPv4 address.
 *
 * Return: as baleen_set_test(); -EAFNOSUPPORT for another family.
 */
int baleen_set_test_address(const struct baleen_set *set, int family, const void *address);

/**
 * baleen_set_test_many() - which of these keys are in the set?
 * @set: the set
 * @keys: keys as for baleen_set_test()
 * @n: how many
 * @found: filled in with @n answers, 1 yes (or maybe), 0 surely not
 *
 * The memory of one key is fetched while others are hashed.
 *
 * Return: 0; -EINVAL when one is no key of this set, naming the first; -ENOMEM.
 */
int baleen_set_test_many(const struct baleen_set *set, const char *const *keys, size_t n,
			 uint8_t *found);

/**
 * baleen_set_test_addresses() - which of these addresses are in the set?
 * @set: the set, keyed by "src" or "dst"
 * @family: AF_INET or AF_INET6, of all
 * @addresses: 4 or 16 bytes each in network order, one behind the other, at any alignment
 * @n: how many
 * @found: filled in with @n answers of baleen_set_test_address()
 *
 * Several times as fast as one after the other. Where the CPU has AVX2 or AVX-512, several
 * are asked for in one instruction; the answers are the same.
 *
 * Return: 0; -EINVAL or -EAFNOSUPPORT as baleen_set_test_address().
 */
int baleen_set_test_addresses(const struct baleen_set *set, int family, const void *addresses,
			      size_t n, uint8_t *found);

/**
 * baleen_set_add() - add keys
 * @set: the set, not a live one
 * @keys: keys of the same fields, without exceptions; nothing can be added to them
 *        any more
 *
 * Keys that the set has already are fine. The set grows when keys find no room. It
 * changes in memory: baleen_set_save() writes it.
 *
 * Return: 0; -EINVAL for other fields or exceptions; -EROFS for a live set;
 * -EOPNOTSUPP for what the set keeps too little for; -ENOSPC, -ENOMEM, -E2BIG.
 * On failure nothing has changed.
 */
int baleen_set_add(struct baleen_set *set, struct baleen_keys *keys);

/**
 * baleen_set_del() - delete keys
 * @set: the set, not a live one
 * @keys: as for baleen_set_add()
 *
 * The set holds none of them afterwards, also when a wider prefix held them. Keys that
 * the set does not have are fine. A Bloom filter cannot forget.
 *
 * Return: as baleen_set_add().
 */
int baleen_set_del(struct baleen_set *set, struct baleen_keys *keys);

/**
 * baleen_set_info() - describe a set
 * @set: the set
 * @info: its size is set by the caller; as many bytes are filled in
 *
 * Counts by looking at every slot.
 *
 * Return: 0, or -EINVAL for a size that no version had.
 */
int baleen_set_info(const struct baleen_set *set, struct baleen_set_info *info);

/**
 * baleen_set_save() - write an image file
 * @set: the set; of a live one what it holds between two changes
 * @path: path of the file; the old one stays until the new one is whole
 * @mode: its permissions; 0600 keeps the seed from who would craft keys that
 *        fill a bucket
 *
 * Return: 0; -EEXIST when something that is no image stands there; -ETIMEDOUT
 * when another program keeps changing a live set; a negative errno.
 */
int baleen_set_save(const struct baleen_set *set, const char *path, unsigned int mode);

/**
 * baleen_set_load() - put a set into a BPF program of yours
 * @set: the set, of keys of packets; of a live one what it holds now
 * @object: opened by libbpf and not yet loaded
 * @filter: name of a BALEEN_FILTER() in it, see <baleen/program.h> and baleen-probe(7)
 *
 * Fills in the filter's header and gives it a map of its size. The kernel refuses to load a
 * program that asks a filter without this. The set is copied: another one needs another load.
 *
 * Return: 0; -ENOENT when @object has no such filter; -EINVAL when it was compiled against
 * headers of another release; -EBUSY when it is loaded; -EOPNOTSUPP for keys that are not of
 * packets; a negative errno.
 */
int baleen_set_load(const struct baleen_set *set, struct bpf_object *object, const char *filter);

/**
 * baleen_set_close() - free it; a rule is not changed by that
 * @set: the set; may be NULL
 */
void baleen_set_close(struct baleen_set *set);

/**
 * baleen_rule_add() - list entries in a live rule: ban them
 * @rule: DEV:RULE
 * @entries: keys as in a list; a lone IPv6 address stands for its /64, or as ban-width says
 * @n: how many
 * @options: who, why and how long; NULL for "manual", for ever
 *
 * An entry that this origin has listed gets the new time, and the new reason if there is one. They
 * are on disk, and packets see them, when this returns; the state of the device keeps them beside
 * what its feeds hold, as 'baleen add' does. Where the disk is full or read-only, they come to it
 * when there is room. Protected addresses (the never-drop list, addresses of this host, its
 * gateways and resolvers, and peers of its TCP sessions unless a flag says so) are not added; of a
 * prefix that covers some, the rest is dropped. Prefixes shorter than /8, or /32 of
 * IPv6, are not added.
 *
 * Return: 0; 1 when what must not be dropped was left out of some of them; -EPERM when
 * some must not be dropped at all, or are too wide: the others are listed; -EINVAL for
 * an entry that is no key; -ENOENT when there is no such
 * rule, or no state of its device; -ETIMEDOUT when another program keeps
 * changing it; a negative errno. But for -EPERM nothing has changed on failure.
 */
int baleen_rule_add(const char *rule, const char *const *entries, size_t n,
		    const struct baleen_entry_options *options);

/**
 * baleen_rule_del() - take back entries of a live rule
 * @rule: DEV:RULE
 * @entries: as they were added
 * @n: how many
 * @origin: name of the origin; NULL for "manual"
 *
 * Entries of feeds, of other origins and other entries stay in force. Keys that are not
 * there are fine.
 *
 * Return: as baleen_rule_add(), but for -EPERM.
 */
int baleen_rule_del(const char *rule, const char *const *entries, size_t n, const char *origin);

/**
 * baleen_rule_flush() - take back all entries of an origin
 * @rule: DEV:RULE
 * @origin: name of the origin; NULL for "manual"
 *
 * Return: as baleen_rule_del().
 */
int baleen_rule_flush(const char *rule, const char *origin);

#ifdef __cplusplus
}
#endif

#endif /* LIBBALEEN_H */
