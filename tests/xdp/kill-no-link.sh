#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/xdp/kill.sh for filters that are attached without a link.

KILL_WAY=--no-link exec "$(dirname "$0")/kill.sh" "$@"
