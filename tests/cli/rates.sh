#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# False positive rates: what is measured is what the formulas say.

exec "$(dirname "$0")/../../build/tools/rates"
