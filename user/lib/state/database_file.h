/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of databases; of one that is read as a whole, and written as a whole.
 */
#ifndef BALEEN_DATABASE_FILE_H
#define BALEEN_DATABASE_FILE_H

#include "util/error.h"
#include "util/output.h"

struct sqlite3;

/**
 * baleen_database_check() - are the files of a database Baleen's own?
 * @path: path of the database
 * @error: filled in on failure
 *
 * SQLite would wait for a FIFO, and write through a link.
 *
 * Return: 0, also when there are none; -EINVAL or -EPERM as baleen_input_open().
 */
int baleen_database_check(const char *path, struct baleen_error *error);

/**
 * baleen_database_load() - read a file into a database in memory
 * @db: opened, in memory; what it has goes
 * @path: path of the file
 * @error: filled in on failure
 *
 * Return: 0; 1 when SQLite does not take it, and says why; a negative errno.
 */
int baleen_database_load(struct sqlite3 *db, const char *path, struct baleen_error *error);

/**
 * baleen_database_write() - write a database to a file that waits for its name
 * @db: opened, without a transaction
 * @path: path of the file
 * @output: filled in, all on the disk: baleen_output_swap() gives it the name; ended by
 *          baleen_output_drop()
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_database_write(struct sqlite3 *db, const char *path, struct baleen_output *output,
			  struct baleen_error *error);

/**
 * baleen_database_save() - replace a file by a database, whole or not at all
 * @db: opened, without a transaction
 * @path: path of the file
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_database_save(struct sqlite3 *db, const char *path, struct baleen_error *error);

#endif /* BALEEN_DATABASE_FILE_H */
