#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The ingress hook of the module under each kernel: tests/kmod/in-vm-hook.sh in a
# machine, and in `make check-all` tests/kmod/in-vm-bind.sh in another. After `make kmod-vm`.

set -u
cd "$(dirname "$0")/../.." || exit 2
source tests/kmod/host.sh
source tests/frames.sh
source tests/shapes.sh

# Made here, ten times as fast; in `make check` the first and each twentieth go there. The
# programs for XDP, which parse by the same header, see all of them in tests/xdp/bypass.sh.
every=20
[ "${TEST_ALL-}" != 1 ] || every=1
shapes=build/kmod-test/shapes
mkdir -p "$shapes"
for class in "${!SOURCE4[@]}"; do
	(cd "$shapes" && make_shapes "$class" && for file in "$class"{,.jumbo}; do
		echo "# $file: one of $every shapes of $(wc -l <"$file") tried"
		awk -v every=$every 'NR == 1 || NR % every == 0' "$file" >"$file.some" && mv "$file.some" "$file"
	done)
done
# Of packets that hide something as many of each row.
(cd "$shapes" && make_hiding listed >hiding.all &&
	echo "# hiding: up to $((140 / every)) packets of a row tried, of $(wc -l <hiding.all) in all" &&
	awk -v most=$((140 / every)) 'n[$1]++ < most' hiding.all >hiding && rm hiding.all)
export VM_MODULES="macvlan nf_tables ipip sch_ingress cls_matchall act_mirred"
export VM_TIMEOUT=${VM_TIMEOUT:-1500}
scripts="in-vm-hook.sh in-vm-bind.sh"
[ "${TEST_ALL-}" = 1 ] || scripts=in-vm-hook.sh
for script in ${HOOK_SCRIPTS:-$scripts}; do
	for kernel in "${kernels[@]}"; do
		start "$kernel" "tests/kmod/$script" tests/frames.sh tests/shapes.sh tests/kernels/devices.sh \
			tests/kmod/hook-*.sh "$shapes"/* build/baleen \
			build/tools/{traffic,frame,json} build/kmod-test/{32,64}/hook_refused \
			build/kmod-test/64/{bind,hook_stream} "$(command -v nft)" "$(command -v tc)"
	done
	join
done
exit "$failed"
