#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The programs that answer for caches and that are fed, under the verifier of this kernel.
#
# Not executable, because it is for the machines of icp.sh.

build/tools/icp && build/tools/icp_kinds 2000 && build/tools/icp_feed
