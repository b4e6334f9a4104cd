#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every kind of filter of a cache's objects: see tests/tools/icp_kinds.c.

cd "$(dirname "$0")/../.." || exit 2
exec build/tools/icp_kinds
