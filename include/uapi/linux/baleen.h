/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * The ioctls of /dev/baleen, the device of the module baleen.ko. Above 500 lines: it is all that
 * a program needs, and most of it is contract.
 *
 * A filter of the module has a name, which is one for the whole machine, and holds
 * one image (struct baleen_image_header in <baleen/image.h>). Any number of
 * processes, rules and BPF programs ask it at the same time: as one copy in memory that
 * devices of many network namespaces share. Who is to see only some of the filters must not
 * get the device, which is root's.
 *
 * Rules ask for packets: the ingress hook of a network device of the caller's
 * network namespace has up to BALEEN_DEV_MAX_RULES of them. They belong to the device, so
 * they are seen and changed in its network namespace alone, and go with it.
 *
 * No version: the number of a command holds the size of its struct, and a command
 * that the module does not know is -ENOTTY. An array of structs comes with the size of
 * one as its program knows it, which later releases may make larger, but never smaller: of what
 * the module reads, fields that the program does not know are zero, and those that the
 * module does not know have to be (-E2BIG); of what it writes, it writes the fields that both
 * know, and zeros behind them. A size below that of this header is -EINVAL, one above a page
 * -E2BIG. Every reserved field has to be zero (-EINVAL), so that it can get a meaning. All structs
 * have the same layout for programs of 32 and of 64 bits; pointers are numbers of 64 bits.
 *
 * Unless a command says otherwise it has done nothing, and no byte of the caller's
 * memory is changed, when it fails. What every command may return:
 *
 *	-EBADF   the file is not open for reading (commands that ask) or for writing
 *	         (commands that change)
 *	-E2BIG   of an array of structs: see above
 *	-EFAULT  an address is not the caller's; where memory to be written to ends too
 *	         early, what is there may have been written
 *	-EINVAL  a reserved field is not zero, a name is empty, not terminated or not
 *	         printable ASCII, a number is out of the range stated
 *	-ENOMEM  the kernel, or the caller's control group, has not enough memory
 *	-ENOTTY  no such command
 *
 * The plain use of the device needs none of this: write an image into it, read a
 * table of the filters from it.
 */
#ifndef _UAPI_LINUX_BALEEN_H
#define _UAPI_LINUX_BALEEN_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Bytes of a name, of which the last is zero, as are all behind its end. */
#define BALEEN_DEV_NAME_BYTES 32

/* Rules of a network device at the most, and ranges of ports of one. */
#define BALEEN_DEV_MAX_RULES 16
#define BALEEN_DEV_MAX_PORTS 8

/* Keys of one command at the most. */
#define BALEEN_DEV_MAX_KEYS (1u << 24)

/**
 * struct baleen_dev_target - which filter is meant
 * @name: name of the filter; when @ifindex is not 0, of a rule whose filter is meant
 * @ifindex: 0, or the index of a device of the caller's network namespace that
 *           has rules
 * @reserved: zero
 *
 * Errors: -ENOENT when there is no such filter or rule.
 */
struct baleen_dev_target {
	__u8 name[BALEEN_DEV_NAME_BYTES];
	__u32 ifindex;
	__u32 reserved;
};

/**
 * enum baleen_dev_domain - which set of keys a key belongs to
 * @BALEEN_DEV_IP4: IPv4 addresses
 * @BALEEN_DEV_IP6: IPv6 addresses
 * @BALEEN_DEV_WORD: keys that fit in 64 bits
 * @BALEEN_DEV_TUPLE: longer keys
 */
enum baleen_dev_domain {
	BALEEN_DEV_IP4 = 0,
	BALEEN_DEV_IP6 = 1,
	BALEEN_DEV_WORD = 2,
	BALEEN_DEV_TUPLE = 3,
};

/**
 * enum baleen_dev_kind - how a filter stores its keys
 * @BALEEN_DEV_CUCKOO: a table of their bits, exact for addresses
 * @BALEEN_DEV_BLOOM: bits, of one cache line for a key
 * @BALEEN_DEV_PREFIXES: prefixes, and hosts beside them
 * @BALEEN_DEV_CLASSIC: bits, anywhere
 * @BALEEN_DEV_COUNTING: bits, with counters for userspace
 * @BALEEN_DEV_QUOTIENT: remainders, sorted
 *
 * Numbers between them are of tables inside an image, none of which is a whole one. A later
 * release may have others.
 */
enum baleen_dev_kind {
	BALEEN_DEV_CUCKOO = 1,
	BALEEN_DEV_BLOOM = 2,
	BALEEN_DEV_PREFIXES = 4,
	BALEEN_DEV_CLASSIC = 6,
	BALEEN_DEV_COUNTING = 7,
	BALEEN_DEV_QUOTIENT = 8,
};

/**
 * enum baleen_dev_key_spec - fields of a packet that make a key; combined by |
 * @BALEEN_DEV_SRC: source address
 * @BALEEN_DEV_DST: destination address
 * @BALEEN_DEV_SPORT: source port
 * @BALEEN_DEV_DPORT: destination port
 * @BALEEN_DEV_PROTO: protocol above IP
 * @BALEEN_DEV_STRING: no field, but a string of bytes; alone
 * @BALEEN_DEV_SQUID: no field, but an object of Squid; alone
 * @BALEEN_DEV_FINGERPRINT: no field, but the fingerprint of a key; alone
 */
enum baleen_dev_key_spec {
	BALEEN_DEV_SRC = 1,
	BALEEN_DEV_DST = 2,
	BALEEN_DEV_SPORT = 4,
	BALEEN_DEV_DPORT = 8,
	BALEEN_DEV_PROTO = 16,
	BALEEN_DEV_STRING = 32,
	BALEEN_DEV_SQUID = 64,
	BALEEN_DEV_FINGERPRINT = 128,
};

/**
 * struct baleen_dev_key - a key in canonical form
 * @domain: enum baleen_dev_domain
 * @ip4: IPv4: the address as a number: 192.0.2.1 is 0xc0000201; else zero
 * @hi: IPv6: bits 127..64 of the address as a number; tuple: of the source; else zero
 * @lo: IPv6, tuple: bits 63..0; word: the whole key; else zero
 * @dst_hi: tuple: bits 127..64 of the destination; else zero
 * @dst_lo: tuple: bits 63..0; else zero
 * @rest: tuple: the other fields; else zero
 *
 * The same as struct baleen_key in <baleen/key.h>, which says how fields of a packet
 * become a key.
 */
struct baleen_dev_key {
	__u32 domain;
	__u32 ip4;
	__aligned_u64 hi;
	__aligned_u64 lo;
	__aligned_u64 dst_hi;
	__aligned_u64 dst_lo;
	__aligned_u64 rest;
};

/**
 * struct baleen_dev_counters - what a filter was asked
 * @packets: packets that asked it through a rule, or through bpf_baleen_test()
 * @bytes: of those that asked through a rule; merged packets count as they are
 * @hits: packets that were in it
 * @queries: keys that were asked by BALEEN_DEV_QUERY
 * @query_hits: of them, those that were in it
 */
struct baleen_dev_counters {
	__aligned_u64 packets;
	__aligned_u64 bytes;
	__aligned_u64 hits;
	__aligned_u64 queries;
	__aligned_u64 query_hits;
};

/* Flags of struct baleen_dev_info. */
#define BALEEN_DEV_COUNT_KNOWN 1u /* n_entries is known */

/**
 * struct baleen_dev_info - a filter as it is
 * @name: name of the filter, or of the rule whose own it is
 * @kind: enum baleen_dev_kind
 * @key_spec: enum baleen_dev_key_spec
 * @flags: BALEEN_DEV_COUNT_KNOWN, or 0 of an image that was saved live
 * @n_rules: rules that ask it
 * @n_entries: keys; of the Bloom kinds as many as changed a bit when they were added
 * @n_bytes: size of its image
 * @version: another number after every change of its keys and after every swap
 * @counters: since it was created
 * @reserved: zero
 */
struct baleen_dev_info {
	__u8 name[BALEEN_DEV_NAME_BYTES];
	__u32 kind;
	__u32 key_spec;
	__u32 flags;
	__u32 n_rules;
	__aligned_u64 n_entries;
	__aligned_u64 n_bytes;
	__aligned_u64 version;
	struct baleen_dev_counters counters;
	__aligned_u64 reserved[4];
};

/**
 * struct baleen_dev_list - argument of BALEEN_DEV_LIST
 * @infos: address of @room structs baleen_dev_info; may be 0 when @room is
 * @room: how many there is room for
 * @n: out: how many filters with a name there are; the first @room of them in the
 *     order of their names are filled in
 * @info_bytes: size of one; does not matter when @room is 0
 * @reserved: zero
 */
struct baleen_dev_list {
	__aligned_u64 infos;
	__u32 room;
	__u32 n;
	__u32 info_bytes;
	__u32 reserved;
};

/**
 * struct baleen_dev_get - argument of BALEEN_DEV_GET
 * @target: which filter
 * @info: out
 * @header: out: the header of its image as BALEEN_DEV_EXPORT would give it
 */
struct baleen_dev_get {
	struct baleen_dev_target target;
	struct baleen_dev_info info;
	__u8 header[512];
};

/**
 * struct baleen_dev_image - argument of BALEEN_DEV_CREATE, _SWAP and _EXPORT
 * @target: which filter; of BALEEN_DEV_CREATE without an ifindex
 * @image: address of the image; written to by BALEEN_DEV_EXPORT
 * @n_bytes: size of the image, a multiple of 64, at least 512; BALEEN_DEV_EXPORT: room
 *           at @image
 * @version: BALEEN_DEV_SWAP: what the version has to be, or 0 for any;
 *           BALEEN_DEV_EXPORT: out: the version that was given;
 *           BALEEN_DEV_CREATE: zero
 * @reserved: zero
 *
 * The name in an image's header does not count here, nor has it to be one.
 *
 * Errors of BALEEN_DEV_CREATE: -EEXIST when the name is taken; -EBADMSG when the
 * image is refused by the checks that every image has to pass; -EOPNOTSUPP when it
 * holds keys that are not to be had in the kernel (strings whose hash is not keyed),
 * or a quotient table with a cluster longer than a packet may read; -ENOSPC when the
 * images would be more than the parameter max_bytes of the module allows.
 *
 * Errors of BALEEN_DEV_SWAP: as those, but -EEXIST; -ESTALE when the version is
 * another; -EINVAL when a rule asks the filter and the keys are of other fields.
 * A query gets an answer of the old image or of the new one.
 *
 * Errors of BALEEN_DEV_EXPORT: -EMSGSIZE when the image is larger than @n_bytes.
 * A filter that has not changed since it came in is given byte for byte; the header of
 * a changed one says that it is live, without counts and checksum.
 */
struct baleen_dev_image {
	struct baleen_dev_target target;
	__aligned_u64 image;
	__aligned_u64 n_bytes;
	__aligned_u64 version;
	__aligned_u64 reserved;
};

/**
 * struct baleen_dev_keys - argument of BALEEN_DEV_QUERY, _INSERT and _DELETE
 * @target: which filter
 * @keys: address of @n structs baleen_dev_key
 * @answers: address of @n bytes; 0 of BALEEN_DEV_INSERT and _DELETE for none
 * @n: how many, 1 to BALEEN_DEV_MAX_KEYS
 * @n_done: out: so many keys were done, the first ones
 * @key_bytes: size of one: there is only that of this header (-EINVAL)
 * @reserved: zero
 *
 * The answer to a query is 1 when the key is in the filter (or, of a filter that
 * errs, may be), else 0; that to a change is 1 when the filter changed. Bytes of
 * @answers behind @n_done are not touched. Where another thread takes the memory of
 * the answers away meanwhile, some keys may be changed beyond @n_done; where this
 * struct itself is in memory that cannot be written, keys were changed and -EFAULT
 * is all that is said.
 *
 * Keys are done in their order. One that cannot be done, is not the caller's memory,
 * or whose answer has nowhere to go, ends the command: with an error when it is the
 * first, else with @n_done below @n, and the error comes when the rest is tried
 * again. A signal ends it in the same way (-EINTR).
 *
 * Errors: -EINVAL for a key of no domain, or with a field that is not of its
 * domain. Changes: -ENOSPC when there is no room for the key, no table for its
 * domain, or part of a prefix would have to go: export the image, change that, and
 * swap it; -EOPNOTSUPP when this kind of filter cannot be changed so while it is
 * asked (quotient; any with copies of keys; deletion from Bloom filters), or a
 * deletion could take another key with it.
 */
struct baleen_dev_keys {
	struct baleen_dev_target target;
	__aligned_u64 keys;
	__aligned_u64 answers;
	__u32 n;
	__u32 n_done;
	__u32 key_bytes;
	__u32 reserved;
};

/**
 * struct baleen_dev_count - argument of BALEEN_DEV_COUNTERS
 * @target: which filter
 * @counters: out
 */
struct baleen_dev_count {
	struct baleen_dev_target target;
	struct baleen_dev_counters counters;
};

/**
 * struct baleen_dev_port_range - ports of a rule
 * @first: lowest
 * @last: highest, not below @first; both in host order
 */
struct baleen_dev_port_range {
	__u16 first;
	__u16 last;
};

/**
 * struct baleen_dev_qualifiers - what a packet has to have besides its key
 * @has_proto: 1: @proto is asked for; else 0
 * @proto: IANA protocol number; zero unless it is asked for
 * @tcp_syn: 1: a TCP segment that opens a connection; else 0
 * @has_vlan: 1: @vlan is asked for; else 0
 * @vlan: number of the outermost VLAN, 1 to 4094; zero unless it is asked for
 * @n_dports: ranges of @dport, 0 to BALEEN_DEV_MAX_PORTS; 0 asks for none
 * @reserved: zero
 * @dport: destination ports, any of them; zero behind @n_dports
 *
 * The same as struct baleen_qualifiers in <baleen/stats.h>.
 */
struct baleen_dev_qualifiers {
	__u8 has_proto;
	__u8 proto;
	__u8 tcp_syn;
	__u8 has_vlan;
	__u16 vlan;
	__u8 n_dports;
	__u8 reserved;
	struct baleen_dev_port_range dport[BALEEN_DEV_MAX_PORTS];
};

/**
 * enum baleen_dev_action - what a rule does with a packet that matches
 * @BALEEN_DEV_DROP: drops it
 * @BALEEN_DEV_ALLOW: lets it pass
 * @BALEEN_DEV_ONLY_COUNT: counts it, and goes on to the next rule
 */
enum baleen_dev_action {
	BALEEN_DEV_DROP = 0,
	BALEEN_DEV_ALLOW = 1,
	BALEEN_DEV_ONLY_COUNT = 2,
};

/**
 * struct baleen_dev_rule - a rule to be bound
 * @name: name of the rule, one for its device
 * @filter: name of the filter that it asks; empty: its own, or what it has
 * @image: address of the image of a filter of its own; 0 when @filter is a name.
 *         Neither: the filter that the rule of this name has now
 * @n_bytes: size of the image; 0 without one
 * @action: enum baleen_dev_action
 * @reserved: zero
 * @qualifiers: further conditions that a packet has to meet
 *
 * A filter of a rule's own has no name: a target with an ifindex means it. It goes
 * with the last rule that asks it.
 */
struct baleen_dev_rule {
	__u8 name[BALEEN_DEV_NAME_BYTES];
	__u8 filter[BALEEN_DEV_NAME_BYTES];
	__aligned_u64 image;
	__aligned_u64 n_bytes;
	__u32 action;
	__u32 reserved;
	struct baleen_dev_qualifiers qualifiers;
};

/* Flags of BALEEN_DEV_BIND. */
#define BALEEN_DEV_DEFAULT_DROP 1u /* what no rule decides is dropped, unless vital */
#define BALEEN_DEV_DRY_RUN 2u	   /* count what would be dropped, drop nothing */
#define BALEEN_DEV_REPLACE 4u	   /* the rules that the device has */

/**
 * struct baleen_dev_bind - argument of BALEEN_DEV_BIND
 * @ifindex: interface index of an Ethernet device of the caller's network namespace
 * @flags: BALEEN_DEV_DEFAULT_DROP, _DRY_RUN and _REPLACE
 * @rules: address of @n_rules structs baleen_dev_rule, in the order of evaluation:
 *         the first that matches and does not only count decides
 * @n_rules: 1 to BALEEN_DEV_MAX_RULES
 * @priority: priority of the hook among others on the device, lower ones first; with
 *            BALEEN_DEV_REPLACE zero, and what it was stays
 * @version: with BALEEN_DEV_REPLACE: what the version of the binding has to be, or
 *           0 for any; else zero
 * @rule_bytes: size of a rule
 * @reserved: zero
 *
 * All rules are put in place at once. A rule keeps the counters of the one of the
 * same name that was there.
 *
 * Errors: -EPERM without CAP_NET_ADMIN over the network namespace; -ENODEV when
 * there is no such device; -EOPNOTSUPP when it is no Ethernet device; -EEXIST when
 * it has rules already, -ENOENT when it has none and BALEEN_DEV_REPLACE is given, or
 * when a filter or a rule to keep the filter of is not there; -ESTALE when the
 * version is another; -EINVAL when two rules have one name; as BALEEN_DEV_CREATE of
 * the images, and -EOPNOTSUPP of a filter of strings.
 */
struct baleen_dev_bind {
	__u32 ifindex;
	__u32 flags;
	__aligned_u64 rules;
	__u32 n_rules;
	__s32 priority;
	__aligned_u64 version;
	__u32 rule_bytes;
	__u32 reserved;
};

/**
 * struct baleen_dev_unbind - argument of BALEEN_DEV_UNBIND
 * @ifindex: interface index of a device of the caller's network namespace
 * @reserved: zero
 *
 * Errors: -EPERM without CAP_NET_ADMIN over the network namespace; -ENOENT when it
 * has no rules.
 */
struct baleen_dev_unbind {
	__u32 ifindex;
	__u32 reserved;
};

/**
 * struct baleen_dev_bound_rule - a rule that is bound
 * @name: name of the rule
 * @filter: name of its filter; empty when that is its own
 * @action: enum baleen_dev_action
 * @reserved: zero
 * @qualifiers: further conditions that a packet has to meet
 * @packets: that it decided, or counted
 * @bytes: of them
 * @info: its filter
 */
struct baleen_dev_bound_rule {
	__u8 name[BALEEN_DEV_NAME_BYTES];
	__u8 filter[BALEEN_DEV_NAME_BYTES];
	__u32 action;
	__u32 reserved;
	struct baleen_dev_qualifiers qualifiers;
	__aligned_u64 packets;
	__aligned_u64 bytes;
	struct baleen_dev_info info;
};

/**
 * struct baleen_dev_binding - argument of BALEEN_DEV_BINDING
 * @ifindex: interface index of a device of the caller's network namespace
 * @room: how many rules there is room for at @rules
 * @rules: address of @room structs baleen_dev_bound_rule; may be 0 when @room is
 * @n_rules: out: how many rules there are; the first @room of them are filled in
 * @flags: out: BALEEN_DEV_DEFAULT_DROP and _DRY_RUN
 * @priority: out
 * @rule_bytes: size of a rule; does not matter when @room is 0
 * @version: out: another number after each BALEEN_DEV_BIND
 * @unmatched: out: packets that no rule decided
 * @vital: out: those that passed because no host can live without them
 * @not_ip: out: not decided: another protocol than IP
 * @mpls: out: not decided: MPLS-labelled
 * @tags: out: not decided: more than four VLAN tags
 * @ip_version: out: not decided: IP version contradicts the EtherType
 * @too_short: out: not decided: ends before its headers do
 *
 * The counters are those of struct baleen_stats in <baleen/stats.h>.
 * Errors: -ENOENT when the device has no rules, or is not there.
 */
struct baleen_dev_binding {
	__u32 ifindex;
	__u32 room;
	__aligned_u64 rules;
	__u32 n_rules;
	__u32 flags;
	__s32 priority;
	__u32 rule_bytes;
	__aligned_u64 version;
	__aligned_u64 unmatched;
	__aligned_u64 vital;
	__aligned_u64 not_ip;
	__aligned_u64 mpls;
	__aligned_u64 tags;
	__aligned_u64 ip_version;
	__aligned_u64 too_short;
};

/**
 * struct baleen_dev_bindings - argument of BALEEN_DEV_BINDINGS
 * @ifindexes: address of @room numbers of 32 bits; may be 0 when @room is
 * @room: how many there is room for
 * @n: out: how many devices of the caller's network namespace have rules; the
 *     first @room of them, in ascending order, are filled in
 */
struct baleen_dev_bindings {
	__aligned_u64 ifindexes;
	__u32 room;
	__u32 n;
};

/*
 * Documentation/userspace-api/ioctl/ioctl-number.rst has nobody with the magic number 0xbc.
 *
 * Commands that ask need the file open for reading, those that change for
 * writing. BALEEN_DEV_DESTROY: -EBUSY while a rule asks the filter; -EINVAL with an
 * ifindex.
 */
#define BALEEN_DEV_MAGIC 0xbc
#define BALEEN_DEV_LIST _IOWR(BALEEN_DEV_MAGIC, 0, struct baleen_dev_list)
#define BALEEN_DEV_GET _IOWR(BALEEN_DEV_MAGIC, 1, struct baleen_dev_get)
#define BALEEN_DEV_CREATE _IOW(BALEEN_DEV_MAGIC, 2, struct baleen_dev_image)
#define BALEEN_DEV_DESTROY _IOW(BALEEN_DEV_MAGIC, 3, struct baleen_dev_target)
#define BALEEN_DEV_SWAP _IOW(BALEEN_DEV_MAGIC, 4, struct baleen_dev_image)
#define BALEEN_DEV_EXPORT _IOWR(BALEEN_DEV_MAGIC, 5, struct baleen_dev_image)
#define BALEEN_DEV_QUERY _IOWR(BALEEN_DEV_MAGIC, 6, struct baleen_dev_keys)
#define BALEEN_DEV_INSERT _IOWR(BALEEN_DEV_MAGIC, 7, struct baleen_dev_keys)
#define BALEEN_DEV_DELETE _IOWR(BALEEN_DEV_MAGIC, 8, struct baleen_dev_keys)
#define BALEEN_DEV_COUNTERS _IOWR(BALEEN_DEV_MAGIC, 9, struct baleen_dev_count)
#define BALEEN_DEV_BIND _IOW(BALEEN_DEV_MAGIC, 10, struct baleen_dev_bind)
#define BALEEN_DEV_UNBIND _IOW(BALEEN_DEV_MAGIC, 11, struct baleen_dev_unbind)
#define BALEEN_DEV_BINDING _IOWR(BALEEN_DEV_MAGIC, 12, struct baleen_dev_binding)
#define BALEEN_DEV_BINDINGS _IOWR(BALEEN_DEV_MAGIC, 13, struct baleen_dev_bindings)

#endif /* _UAPI_LINUX_BALEEN_H */
