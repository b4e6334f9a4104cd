/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Releases of the libraries that load programs, as they are linked now.
 */
#ifndef BALEEN_LIBRARY_VERSIONS_H
#define BALEEN_LIBRARY_VERSIONS_H

#include <stddef.h>

#define BALEEN_LIBRARY_VERSION_BYTES 32

/**
 * baleen_libbpf_version() - the release of libbpf
 * @version: numbers and dots
 */
void baleen_libbpf_version(char version[BALEEN_LIBRARY_VERSION_BYTES]);

/**
 * baleen_libxdp_version() - the release of libxdp, which has no function for it
 * @version: numbers and dots, from the name of its file; empty when that has none
 */
void baleen_libxdp_version(char version[BALEEN_LIBRARY_VERSION_BYTES]);

#endif /* BALEEN_LIBRARY_VERSIONS_H */
