// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A shared library that is loaded at its first use. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "util/late_library.h"

/* POSIX lets a pointer to a function be a void *, and all of them have one size. */
static int find_symbols(void *library, const char *const *names, void **pointers)
{
	size_t i;

	for (i = 0; names[i]; i++)
		if (!dlsym(library, names[i]))
			return -ENOENT;
	while (i--)
		pointers[i] = dlsym(library, names[i]);
	return 0;
}

int baleen_late_load(const char *file, const char *const *names, void *pointers,
		     struct baleen_error *error)
{
	void *first, *library;

	memcpy(&first, pointers, sizeof(first));
	if (first)
		return 0;
	library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (library && !find_symbols(library, names, pointers))
		return 0;
	baleen_fail(error, ENOENT, "cannot load a library: %s", dlerror());
	if (library)
		dlclose(library);
	return -ENOENT;
}
