/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The number of this release.
 */
#ifndef BALEEN_RELEASE_H
#define BALEEN_RELEASE_H

#define BALEEN_RELEASE "0.1"

#endif /* BALEEN_RELEASE_H */
