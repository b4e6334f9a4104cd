#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Rules that lock out a TCP session are taken back unless they are confirmed:
# also when apply and the daemon are killed, and by a boot within the window.

# shellcheck source=tests/boot/lib.sh
source "$(dirname "$0")/lib.sh"

make_tree
install_baleen
enable_baleen
make_lists
in_machine 6.1 tests/boot/in-vm-confirm.sh
