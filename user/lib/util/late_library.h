/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A shared library that is loaded at its first use.
 *
 * What most commands do without need not be loaded by all. A header lists the functions that are
 * used, and makes a struct of pointers to them:
 *
 *      #define CURSES_CALLS(CALL) CALL(newterm) CALL(endwin)
 *      static struct { CURSES_CALLS(BALEEN_LATE_POINTER) } lib;
 *      ...
 *      lib.endwin();
 *
 * user/late/late.c refers to the same functions: the link editor finds the name of each
 * library by it (build/late.h), and Debian's tools find the packages.
 */
#ifndef BALEEN_LATE_LIBRARY_H
#define BALEEN_LATE_LIBRARY_H

#include <stddef.h>

#include "util/error.h"

/* A pointer to a function or variable, and its name, for lists as above. */
#define BALEEN_LATE_POINTER(name) typeof(name) *name;
#define BALEEN_LATE_NAME(name) #name,

/**
 * baleen_late_load() - load a library and find its symbols
 * @file: name of the library for the loader, such as "libz.so.1"
 * @names: names of the symbols, in the order of the pointers; ends with NULL
 * @pointers: a struct of pointers, as BALEEN_LATE_POINTER() makes it; filled in
 * @error: filled in on failure
 *
 * Does nothing when the first pointer is set. The library stays until the process ends.
 *
 * Return: 0, or -ENOENT when the library or one of the symbols is missing.
 */
int baleen_late_load(const char *file, const char *const *names, void *pointers,
		     struct baleen_error *error);

#endif /* BALEEN_LATE_LIBRARY_H */
