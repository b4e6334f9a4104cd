#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kmod:NAME on the command line, in a machine of each kernel; what others do at the same
# time in one of 6.12, in `make check-all`. After `make kmod-vm`.

set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/kmod/host.sh
source tests/kmod/host.sh
files=(build/baleen build/tools/json tests/words.sh)

for kernel in "${kernels[@]}"; do
	start "$kernel" tests/kmod/in-vm-cli.sh "${files[@]}" "$(command -v setpriv)"
done
join
if [ "${TEST_ALL-}" = 1 ]; then
	kernels=(6.12)
	start 6.12 tests/kmod/in-vm-cli-live.sh "${files[@]}" build/tools/traffic
	join
else
	echo "# in-vm-cli-live.sh is for make check-all"
fi
exit "$failed"
