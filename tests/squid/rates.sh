#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# False hits of each kind at 4, 5, 8 and 10 bits an entry, with Squid's keys: what is
# measured is what the formulas say. Prints the table that the README has.

exec "$(dirname "$0")/../../build/tools/squid_rates"
