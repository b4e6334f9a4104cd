// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The symbols that are looked up when they are first needed (util/late_library.h).
 *
 * Nothing loads what is built from this file. build/late.h has the names of the libraries
 * that it is linked with, and dpkg-shlibdeps(1) makes dependencies of them.
 */
#include "cli/device/curses_calls.h"
#include "net/logind_calls.h"

#define ADDRESS(name) (const void *)&(name),

/* An array that is seen from outside is not optimized away. */
extern const void *const baleen_late_symbols[];

__attribute__((visibility("default")))
const void *const baleen_late_symbols[] = { CURSES_CALLS(ADDRESS) LOGIND_CALLS(ADDRESS) };
