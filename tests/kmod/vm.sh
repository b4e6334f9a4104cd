# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the scripts in the virtual machines share: the module comes and goes, and
# leaves nothing. Sourced after tests/lib.sh.

MODULE=build/kmod/$(uname -r)/baleen.ko

# Bits of /proc/sys/kernel/tainted, see admin-guide/tainted-kernels.rst.
TAINT_OUT_OF_TREE=$((1 << 12)) TAINT_UNSIGNED=$((1 << 13))

# load_module [PARAMETER=VALUE...]
load_module()
{
	insmod "$MODULE" "$@" || bail "the module does not load"
}

# run NAME COMMAND...: a program that prints TAP of its own; its results become ours
run()
{
	local name=$1 status began=$SECONDS

	timeout "${PROGRAM_TIMEOUT:-300}" "${@:2}" >"$TMP/tap" 2>&1
	status=$?
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "$name: ${line#ok * - }" ;;
		"not ok "*) not_ok "$name: ${line#not ok * - }" ;;
		1..*) ;;
		*) echo "# $line" ;;
		esac
	done <"$TMP/tap"
	if ! grep -q '^1\.\.[1-9]' "$TMP/tap" ||
		[ "$status" -ne 0 ] && ! grep -q '^not ok ' "$TMP/tap"; then
		not_ok "$name: it ends" "status $status"
	fi
	echo "# $name: $((SECONDS - began)) s"
}

# test_leaks: what kmemleak finds, where the kernel has it; twice, since it takes what
# is younger than five seconds for used
test_leaks()
{
	local leaks=/sys/kernel/debug/kmemleak

	mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
	[ -e "$leaks" ] || return 0
	echo scan >"$leaks"
	sleep 6
	echo scan >"$leaks"
	is "kmemleak finds nothing" "$(head -n 60 "$leaks")" ""
}

# is_gone: nothing of the module is left behind, and the kernel has nothing to say.
# Where memory comes from the module its caller is an address without a name.
test_gone()
{
	local tainted

	check "the module goes" rmmod baleen
	is "no device is left" "$(ls /dev/baleen /sys/class/misc/baleen 2>/dev/null)" ""
	is "no memory is left" "$(awk '$3 ~ /^0x/ || /baleen/' /proc/vmallocinfo)" ""
	is "no cache is left" "$(grep baleen /proc/slabinfo)" ""
	read -r tainted </proc/sys/kernel/tainted
	is "the kernel is tainted by a module from elsewhere only" \
		$((tainted & ~(TAINT_OUT_OF_TREE | TAINT_UNSIGNED))) 0
	test_leaks
	is "the kernel log has no complaint" \
		"$(dmesg | grep -E '\<(BUG|WARNING|Oops)\>|Call Trace|refcount_t|UBSAN|suspected memory leaks|Objects remaining')" ""
}
