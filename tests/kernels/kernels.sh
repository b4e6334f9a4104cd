#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs tests/kernels/in-vm.sh under each kernel that Baleen promises to run on (in
# `make check` 6.1, whose verifier takes least) and compares what programs cost the
# verifier, there and on this host, with tests/kernels/instructions.
#
#	tests/kernels/kernels.sh             as `make check-kernels` runs it
#	tests/kernels/kernels.sh --update    only writes the file anew, after `make`

set -u
cd "$(dirname "$0")/../.." || exit 2
export PATH="$PATH:/usr/sbin:/sbin"
source tests/kernels/counted.sh
source tests/kernels/ceilings.sh
files=(tests/lib.sh tests/kernels/*.sh build/baleen build/*.bpf.o
	tests/frames.sh build/tools/{traffic,json,program,frame,crowd} "$(command -v nft)" "$(command -v wg)")
read -ra kernels <<<"$(tests/kernels/which kernels)"
instructions=tests/kernels/instructions
update="make && tests/kernels/kernels.sh --update"
clang=$("${CLANG:-clang}" --version | sed -n 's/.*clang version \([^ ]*\).*/\1/p')
in_vm=tests/kernels/in-vm.sh
if [ "${1-}" = --update ]; then
	in_vm=tests/kernels/only-counts.sh
	export TEST_ALL=1
	kernels=(6.1 6.12)
fi
failed=0
machines=()
work=$(mktemp -d "${TMPDIR:-/tmp}/baleen.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap '[ ${#machines[@]} -eq 0 ] || kill "${machines[@]}"; exit 143' TERM INT HUP

# report NAME STATUS WHAT: the results of one kernel. Each machine counts from 1,
# so the numbers go and the kernel's version comes.
report()
{
	sed -E "/^1\.\./d; s/^((not )?ok) [0-9]+ - /\1 - $1: /" "$work/$1"
	if [ "$2" -eq 0 ]; then
		echo "ok - $1: $3"
	else
		echo "not ok - $1: $3"
		failed=1
	fi
}

# --- the file -------------------------------------------------------------

# counts KERNEL: what was printed, as rows of the file
counts()
{
	awk '/^# kernel / { kernel = $3 } /^# count / { print kernel, $3, $4, $5 }' "$work/$1"
}

# series RELEASE: 6.1 of 6.1.0-56-cloud-amd64
series()
{
	[[ $1 =~ ^[0-9]+\.[0-9]+ ]] && echo "${BASH_REMATCH[0]}"
}

# rows SERIES: of the file
rows()
{
	awk -v prefix="$1." '!/^#/ && index($1, prefix) == 1' "$instructions"
}

write_file()
{
	local name

	{
		echo "# What programs cost the verifier; see tests/kernels/counts.sh for the programs."
		echo "# A change of program, compiler or kernel changes it; to write this file anew:"
		echo "#     $update"
		echo "# clang $clang"
		echo "# kernel configuration verified-instructions xlated-bytes"
		for name in "$@"; do
			counts "$name"
		done
	} >"$instructions"
}

# compare_row NAME RELEASE CONFIGURATION
compare_row()
{
	local name="$1: instructions of $3" now release filed

	now=$(counts "$1" | awk -v name="$3" '$2 == name { print $3, $4 }')
	read -r release filed < <(rows "$(series "$2")" | awk -v name="$3" \
		'$2 == name { print $1, $3, $4 }')
	if [ -n "$now" ] && [ "$now" = "${filed-}" ]; then
		echo "ok - $name"
	elif [ -n "$now" ] && [ -n "${release-}" ] && [ "$release" != "$2" ]; then
		echo "ok - $name # SKIP $now under $2, but $filed under $release: $update"
	else
		echo "not ok - $name"
		echo "# verified instructions and bytes now:         ${now:-none}"
		echo "# verified instructions and bytes in the file: ${filed:-none}"
		echo "# if that is meant: $update"
		failed=1
	fi
}

# hold_counts NAME SERIES: of another compiler than that of the file
hold_counts()
{
	local name verified line

	while read -r _ name verified _; do
		line=$(hold_count "$2" "$name" "$verified")
		echo "${line/ - / - $1, clang $clang: }"
		[[ $line == ok* ]] || failed=1
	done < <(counts "$1")
}

# compare NAME: what was counted with what the file has
compare()
{
	local release configuration

	release=$(sed -n 's/^# kernel //p' "$work/$1")
	[ -n "$release" ] || return 0
	if ! grep -qxF "# clang $clang" "$instructions"; then
		hold_counts "$1" "$(series "$release")"
		return
	fi
	if [ "$1" = host ] && [ -z "$(rows "$(series "$release")")" ]; then
		echo "ok - $1: instructions # SKIP $instructions has no kernel like $release"
		return
	fi
	for configuration in $({ counts "$1"; rows "$(series "$release")"; } |
		awk '!seen[$2]++ { print $2 }'); do
		is_counted "$configuration" "$release" || continue
		compare_row "$1" "$release" "$configuration"
	done
}

# --- the kernels ----------------------------------------------------------

for kernel in "${kernels[@]}"; do
	VM_TIMEOUT=${VM_TIMEOUT:-850} VM_MODULES="sch_ingress cls_bpf nf_tables nft_ct ipip ip_gre sit wireguard" tests/vm/run "$kernel" "$in_vm" "${files[@]}" >"$work/$kernel" &
	machines+=($!)
done
# At the same time: a machine has a processor to itself, the host needs little.
tests/kernels/only-counts.sh >"$work/host"
report host $? "the script ended"
for kernel in "${kernels[@]}"; do
	wait "${machines[0]}"
	report "$kernel" $? "the script ended, the kernel log is clean"
	machines=("${machines[@]:1}")
done
if [ "${1-}" = --update ] && [ "$failed" -ne 0 ]; then
	echo "# $instructions is not written, because something failed"
elif [ "${1-}" = --update ]; then
	write_file "${kernels[@]}" host
fi
for kernel in "${kernels[@]}" host; do
	compare "$kernel"
done
exit "$failed"
