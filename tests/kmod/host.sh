# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the scripts on the host share that try the module in virtual machines, one
# for each kernel: KMOD_KERNELS, or in `make check-all` those that the module is promised
# for, else 6.1, or those that the script has put into CHECK_KERNELS. Sourced in the
# root of the repository.

[ "${TEST_ALL-}" != 1 ] || CHECK_KERNELS="6.1 6.12"
read -ra kernels <<<"${KMOD_KERNELS:-${CHECK_KERNELS:-6.1}}"
# Who allocated and freed an object costs a stack each time.
slub=FZP
[ "${TEST_ALL-}" != 1 ] || slub=FZPU
machines=()
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/baleen.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap '[ ${#machines[@]} -eq 0 ] || kill "${machines[@]}"; exit 143' TERM INT HUP

# result STATUS NAME [DIAGNOSTICS]
result()
{
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		[ -z "${3-}" ] || echo "# ${3//$'\n'/$'\n'# }"
		# shellcheck disable=SC2034 # of those who source this
		failed=1
	fi
}

# release KERNEL: what uname -r will say there
release()
{
	local headers

	headers=$(tests/vm/fetch headers "$1") &&
		sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$headers/include/generated/utsrelease.h"
}

# module KERNEL: what `make kmod-vm` has built for it
module()
{
	echo "build/kmod/$(release "$1")/baleen.ko"
}

# start KERNEL SCRIPT FILE...: a machine with the module
start()
{
	VM_ARGUMENTS="slub_debug=$slub ${VM_ARGUMENTS-}" tests/vm/run "$1" "$2" \
		tests/lib.sh tests/kmod/vm.sh "$(module "$1")" "${@:3}" >"$work/$1" &
	machines+=($!)
}

# join: waits for all machines, and reports in the order they were started. Each
# counts from 1, so the numbers go and the kernel's version comes.
join()
{
	local kernel status

	for kernel in "${kernels[@]}"; do
		wait "${machines[0]}"
		status=$?
		machines=("${machines[@]:1}")
		sed -E "/^1\.\./d; s/^((not )?ok) [0-9]+ - /\1 - $kernel: /" "$work/$kernel"
		result "$status" "$kernel: the script ended, the kernel log is clean"
	done
}
