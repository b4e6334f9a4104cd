/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a device as an opened thing; see rule_store.h.
 */
#ifndef BALEEN_RULE_STORE_HANDLE_H
#define BALEEN_RULE_STORE_HANDLE_H

#include <baleen/stats.h>

#include "net/device.h"
#include "util/error.h"
#include "util/output.h"

#define BALEEN_RULE_STORE_ROOT "/var/lib/baleen" /* BALEEN_STATE_DIR in the environment */
#define BALEEN_RULE_STORE_PATH_BYTES 512

#define BALEEN_RULE_STORE_DB "state.db"
#define BALEEN_RULE_STORE_FEEDS "feeds"

/* The database of single entries (book.h). */
#define BALEEN_BOOK_DB "book.db"

/* Room for the id of a boot. */
#define BALEEN_BOOT_ID 64

/**
 * struct baleen_rule_store_owner - the device that a state is of
 * @device: its name, as far as a state says
 * @boot: id of the boot of the kernel
 * @netns_cookie: cookie of the network namespace; unique in one boot
 * @ifindex: interface index of the device; 0 when it is not there
 */
struct baleen_rule_store_owner {
	char device[BALEEN_POINT_BYTES];
	char boot[BALEEN_BOOT_ID];
	u64 netns_cookie;
	int ifindex;
};

/**
 * struct baleen_file_stamp - tells a file from others that had, or will have, its name
 * @inode: its number, which another may get once it is gone; 0 for no file
 * @changed_ns: when it got its name
 */
struct baleen_file_stamp {
	u64 inode;
	u64 changed_ns;
};

/**
 * struct baleen_rule_store - the state of one device, opened
 * @path: path of its directory
 * @unkept: of a book: path of the directory of its database, when that is not in @path but in
 *          memory; else empty
 * @file: name of its database there; NULL for BALEEN_RULE_STORE_DB
 * @stamp: of that, which each commit replaces, from before it was opened
 * @device: name of the device
 * @now: the name that it has now: another one when it was renamed and the new name has no state
 * @scope: its name in the scopes of its entries: the one it had when a writer was last there
 * @shared: name of the scope that is meant where no rule is named; NULL for the bans of all rules
 * @ban_width: of a book: how wide a lone IPv6 address is where no rule says it; 0 for
 *             BALEEN_BAN_WIDTH
 * @is: the device as it was found when the state was opened; no boot when it was made then
 * @is_kept: it is put on again at boot
 * @is_new: nothing was committed yet; closed like this, nothing is left
 * @is_synced: it has committed, so all that it has seen is on the disk
 * @drops_copies: the transaction may have left copies of feeds that no row speaks of
 * @lacks_room: the disk has refused a transaction; baleen_unkept_goes_on() is for that
 * @is_beside: a volatile one, and the kept state of this name is that of a device in
 *             another network namespace
 * @lock_fd: the locked directory, or -1 when it is only read
 * @db: the database
 * @is_written: what the transaction has made waits in @next for the name of @db
 * @next: that file
 * @n_noted: of a book: records of its journal that the transaction has made
 * @n_counted: of a book: changes that it has counted instead
 * @n_changes: of its rows, when the transaction began
 * @statements: prepared, in no order; to be changed also where the state is not
 * @book: the book that its entries are in (book.h), opened when it is asked for; NULL of a book
 * @shares_book: @book is another's, who closes it
 * @is_draft: it is changed in memory alone (rule_store_draft.h)
 * @draft_copy: of a draft: copies of feeds that no directory has
 * @n_draft_copies: how many
 */
struct baleen_rule_store {
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	char unkept[BALEEN_RULE_STORE_PATH_BYTES];
	const char *file;
	struct baleen_file_stamp stamp;
	char device[BALEEN_POINT_BYTES];
	char now[BALEEN_POINT_BYTES];
	char scope[BALEEN_POINT_BYTES];
	const char *shared;
	u32 ban_width;
	struct baleen_rule_store_owner is;
	bool is_kept;
	bool is_new;
	bool is_synced;
	bool drops_copies;
	bool lacks_room;
	bool is_beside;
	int lock_fd;
	struct sqlite3 *db;
	bool is_written;
	struct baleen_output next;
	u32 n_noted;
	u32 n_counted;
	u64 n_changes;
	struct baleen_rule_store_statement *statements;
	struct baleen_rule_store *book;
	bool shares_book;
	bool is_draft;
	struct baleen_draft_copy *draft_copy;
	size_t n_draft_copies;
};

#endif /* BALEEN_RULE_STORE_HANDLE_H */
