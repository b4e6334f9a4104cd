// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Library versions: of libbpf by its function, of libxdp by the name of its file. */
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xdp/libxdp.h>

#include "xdp/library_versions.h"

void baleen_libbpf_version(char version[BALEEN_LIBRARY_VERSION_BYTES])
{
	snprintf(version, BALEEN_LIBRARY_VERSION_BYTES, "%u.%u", libbpf_major_version(),
		 libbpf_minor_version());
}

void baleen_libxdp_version(char version[BALEEN_LIBRARY_VERSION_BYTES])
{
	char path[PATH_MAX];
	const char *dot = NULL;
	Dl_info file;

	if (dladdr(libxdp_get_error, &file) && file.dli_fname && realpath(file.dli_fname, path))
		dot = strstr(path, ".so.");
	snprintf(version, BALEEN_LIBRARY_VERSION_BYTES, "%s", dot ? dot + strlen(".so.") : "");
}
