#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Queries to the program that answers for caches, without a network: see tests/tools/icp.c.

cd "$(dirname "$0")/../.." || exit 2
exec build/tools/icp
