#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Millions of inserts, deletes, resizes and merges: each kind holds what a plain set does.

exec "$(dirname "$0")/../../build/tools/churn"
