#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A device that disappears and comes back gets its filter back, under systemd,
# whose view of our units stays clean.

# shellcheck source=tests/boot/lib.sh
source "$(dirname "$0")/lib.sh"

make_tree
install_baleen
enable_baleen
make_lists
in_machine 6.12 tests/boot/in-vm-device.sh
