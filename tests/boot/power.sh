#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The power fails under traffic and while entries are being added. The next boot,
# without a network, has the same filters in force before the first application
# listens, and every entry that was acknowledged.

# shellcheck source=tests/boot/lib.sh
source "$(dirname "$0")/lib.sh"

make_tree
install_baleen
enable_baleen
make_lists
in_machine 6.1 tests/boot/in-vm-power.sh
