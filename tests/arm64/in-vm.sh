#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Baleen on a machine of arm64: what a host needs it for, with traffic to show for it, and what two
# processors do at once. An emulator keeps loads in their order, so this shows no missing barrier.
#
# Not executable, because it is for the machine of arm64.sh.

source "$(dirname "$0")/../lib.sh"
source tests/kernels/lib.sh
source tests/baleend.sh
export BALEEN_RUN_DIR=$TMP/run BALEEN_STATE_DIR=$TMP/state BALEEN_CONF_DIR=$TMP/conf

mkdir -p /run/netns "$TMP/conf"
echo "# kernel $(uname -r), $(uname -m)"
is "it is arm64" "$(uname -m)" aarch64
"$TRAFFIC" --print --random 2000 --random6 500 --seed 1 >"$LISTED" &&
	"$TRAFFIC" --print --random 2000 --random6 500 --seed 2 --avoid "$LISTED" >"$FREE" || bail "no lists"
head -n 500 "$FREE" >"$OTHER"
make_pair
printf '%s\n' "rule bad drop" "  bans" "  feed $LISTED every 1h" >"$TMP/conf/veth-b.conf"
check_status "apply" 3 on_b "$BALEEN" apply
is "in the driver" "$(xdp_mode "$B" veth-b)" native
is "compiled, not interpreted" "$(bpftool prog show | grep -c ' jited ')" "$(bpftool prog show | grep -c xlated)"
judges "5,000 packets: listed ones are dropped, others pass" "$LISTED"

# --- bans, and changes under traffic ------------------------------------------

check "a ban" on_b "$BALEEN" ban 198.51.100.7 --reason tried
echo 198.51.100.7 >"$TMP/banned"
judges "drops at once" "$TMP/banned"
check "an unban" on_b "$BALEEN" unban 198.51.100.7
lets_by "lets by at once" "$TMP/banned"
"$TRAFFIC" --from "$FROM" --to "$TO" --listed "$LISTED" --loop --expect >"$TMP/loop" 2>&1 &
looping=$!
await "traffic that goes on" grep -q running "$TMP/loop"
for ((i = 0; i < 10; i++)); do
	on_b "$BALEEN" add -f "$OTHER" veth-b:bad >"$TMP/out" 2>&1 || not_ok "add" "$(<"$TMP/out")"
	on_b "$BALEEN" del -f "$OTHER" veth-b:bad >"$TMP/out" 2>&1 || not_ok "del" "$(<"$TMP/out")"
done
kill -INT "$looping"
wait "$looping"
is "500 keys came and went ten times, and no listed packet passed" "$?" 0

# --- a boot: the devices are there, the programs are not ------------------------------

ip -n "$B" link del veth-b
ip -n "$A" link add veth-a type veth peer name veth-b netns "$B" || bail "no veth pair"
ip -n "$A" link set veth-a up && ip -n "$B" link set veth-b up
lets_by "after a boot all packets pass" "$LISTED"
check "restore, as at boot" on_b "$BALEEN" restore --boot
judges "and listed ones are dropped again" "$LISTED"

# --- what was saved on another machine, and here -----------------------------------------

tar -C "$TMP" -xf saved.tar || bail "no saved.tar"
check "what x86 saved is restored" on_b "$BALEEN" restore --force veth-b "$TMP/saved"
echo 203.0.113.9 >"$TMP/of-saved"
judges "and drops" "$TMP/of-saved"
check "save" on_b "$BALEEN" save -o "$TMP/back" veth-b
echo "# saved $(tar -C "$TMP" -cf - back | base64 -w 0)"

# --- two processors -----------------------------------------------------------------

check "no reader misses a key that moves" build/worlds/live 20
! tests_all || check "userspace and BPF answer alike" build/worlds/worlds
! tests_all || check "processors that change one filter at once" build/tools/icp_change
