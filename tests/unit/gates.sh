#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What packets ask is put in force by user/lib/deploy, where a door asks about it first. The
# objects tell who refers to what makes a filter live; `make all` first.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 2

# SYMBOL ROOM...: the rooms that may refer to it, or `nowhere` outside of its own file
doors=(
	# rules on a device, their update, a map that packets ask and that can be written
	"baleen_xdp_attach deploy"
	"baleen_xdp_update deploy"
	"baleen_xdp_live_rule deploy"
	# behind the door: a step that was prepared
	"baleen_deploy_attach deploy"
	"baleen_deploy_switch deploy"
	# in xdp, what these are made of; icp has programs of its own there, which drop nothing
	"baleen_attachment_attach xdp"
	"baleen_attachment_replace xdp"
	"baleen_attachment_link xdp icp"
	"baleen_clsact_put xdp icp"
	"baleen_load_view xdp icp"
	# the kernel's
	"bpf_link_create xdp"
	"bpf_link_update xdp icp"
	"bpf_xdp_attach xdp"
	"bpf_tc_attach xdp"
	"bpf_map_update_elem xdp icp"
	"bpf_map_update_batch nowhere"
	"bpf_set_link_xdp_fd nowhere"
)

# The objects of all programs, but of files that are no more. late.so stands for libraries.
objects=()
while read -r source; do
	objects+=("build/${source%.c}.o")
done < <(find user -name "*.c" ! -path "user/late/*" | sort)
missing=$(ls "${objects[@]}" 2>&1 >/dev/null)
is "each file of user/ has an object (${#objects[@]})" "$missing" ""

# referred: SYMBOL OBJECT, for each that an object refers to or defines
referred=$(nm -A "${objects[@]}" 2>/dev/null |
	awk '$(NF - 1) ~ /^[UT]$/ { sub(/:.*/, "", $1); print $NF, $1, $(NF - 1) }')

for line in "${doors[@]}"; do
	symbol=${line%% *} rooms=${line#* }
	users=$(awk -v symbol="$symbol" '$1 == symbol && $3 == "U" { print $2 }' <<<"$referred")
	stray=$(while read -r object; do
		room=${object#build/user/lib/}
		case " $rooms " in *" ${room%%/*} "*) ;; *) [ -z "$object" ] || echo "$object" ;; esac
	done <<<"$users")
	# A name that nobody has any more guards nothing.
	if [ "$rooms" != nowhere ] && [ -z "$users" ]; then
		stray="nobody refers to it"
	fi
	is "$symbol: $rooms" "$stray" ""
done
