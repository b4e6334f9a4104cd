#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Two network namespaces, each with an eth0: what one applies, bans, forgets or restores,
# the other never sees; also by `ip netns exec`, where no pins can be seen, and in a namespace
# without a name.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
play_systemd
make_netns "$A" "$B"
VERDICT=$ROOT/build/tools/verdict
mkdir "$TMP/conf"
echo 8.8.8.8 >"$TMP/list"
printf '%s\n' "rule bad drop" "  feed $TMP/list" >"$TMP/conf/eth0.conf"

make_eth0()
{
	if ! ip -n "$1" link add eth0 type veth peer name peer0 ||
		! ip -n "$1" link set eth0 up || ! ip -n "$1" link set peer0 up; then
		bail "cannot make eth0"
	fi
}

a() { in_ns "$A" "$BALEEN" "$@"; }
b() { in_ns "$B" "$BALEEN" "$@"; }

# verdicts NAMESPACE: of what is fed, banned in the first, and in the second
verdicts() { in_ns "$1" "$VERDICT" eth0 8.8.8.8 9.9.9.1 9.9.9.2; }

# bans NAMESPACE: the single entries that its state knows
bans() { in_ns "$1" "$BALEEN" dump eth0:bad 2>/dev/null | grep '^9' | paste -sd ' '; }

power_cut()
{
	find /sys/fs/bpf/baleen -type f -delete
	find /sys/fs/bpf/baleen -mindepth 1 -type d -delete
	rm -rf "$BALEEN_RUN_DIR"
}

try_two()
{
	check_status "apply in one" 3 a apply eth0
	check "a ban there" a add eth0:bad 9.9.9.1 --ttl 1h --origin one
	is "the other has no state" "$(b status)" "nothing is attached in this network namespace"
	check_status "nothing to forget" 1 b detach --forget --entries eth0
	check "attach by hand in the other" b attach eth0 --drop "bad=$TMP/list"
	is "the first is as it was" "$(verdicts "$A") $(bans "$A")" "DDP 9.9.9.1"
	check "detach it for good" b detach --forget --entries eth0
	is "the first is as it was" "$(verdicts "$A") $(bans "$A")" "DDP 9.9.9.1"
	check_status "apply in the other" 3 b apply eth0
	check "a ban there" b add eth0:bad 9.9.9.2 --ttl 1h --origin two
	is "each has its own" "$(verdicts "$A") $(bans "$A") $(verdicts "$B") $(bans "$B")" \
		"DDP 9.9.9.1 DPD 9.9.9.2"
	is "each status names one" "$(a status -j | jq -c 'map([.device, .enforced])')$(b status -j |
		jq -c 'map([.device, .enforced])')" '[["eth0",true]][["eth0",true]]'
	check_status "a change to be confirmed in the one" 3 \
		a apply --confirm 1h "$(newer)"
	check_status "is not the other's" 1 b confirm eth0
	check "but its own" a confirm eth0
}

# newer: the device, after its configuration has got another rule
newer()
{
	printf '%s\n' "rule bad drop" "  feed $TMP/list" "rule more drop" "  feed $TMP/list" \
		>"$TMP/conf/eth0.conf"
	echo eth0
}

# `ip netns exec` mounts another /sys: the pins of who calls it are those that packets meet.
exec_b() { ip netns exec "$B" "$BALEEN" "$@"; }

try_netns_exec()
{
	check "forget it in the other" b detach --forget --entries eth0
	check_status "ip netns exec: nothing to forget" 1 exec_b detach --forget --entries eth0
	is "the first is as it was" "$(verdicts "$A") $(bans "$A")" "DDP 9.9.9.1"
	check_status "ip netns exec: apply" 3 exec_b apply eth0
	check "ban" exec_b add eth0:bad 9.9.9.2 --ttl 1h --origin two
	is "feed" "$(echo "add 9.9.9.1" | exec_b feed eth0:bad - --origin fed)" ok
	is "it is in force" "$(verdicts "$B") $(exec_b status -j | jq -c 'map(.enforced)')" \
		"DDD [true]"
	check "unban" exec_b del eth0:bad 9.9.9.1 --origin fed
	is "in force, too" "$(verdicts "$B") $(b status -j | jq -c 'map(.enforced)')" "DPD [true]"
	# Who called it has ended, so process 1 is asked. One look for both names: the shell becomes baleen.
	mkfifo "$TMP/ended"
	is "also for who goes on alone" "$(alone sh -c \
		"ip netns exec '$B' sh -c \"(read -r _ <'$TMP/ended'; '$BALEEN' status -j) &\"
		echo >'$TMP/ended'; while pgrep -x 'baleen|sh' -P 1; do :; done >/dev/null" |
		jq -c 'map(.enforced)')" "[true]"
	check "detach" exec_b detach --forget --entries eth0
	is "nothing is left" "$(verdicts "$B") $(xdp_mode "$B" eth0) $(states_in "$B")" "none off "
	is "the first is as it was" "$(verdicts "$A") $(bans "$A")" "DDP 9.9.9.1"
}

# nowhere COMMAND...: who calls has no bpffs, either
nowhere()
{
	# shellcheck disable=SC2016
	alone sh -c \
		'while [ "$(stat -f -c %T /sys/fs/bpf)" = bpf_fs ]; do umount /sys/fs/bpf; done
		unshare --mount -- "$@"; exit' - nsenter --net="/run/netns/$B" -- "$BALEEN" "$@"
}

# files_of: each file of states, with its sum
files_of() { find "$BALEEN_STATE_DIR" "$BALEEN_RUN_DIR" -type f ! -name '*-shm' -exec sha256sum {} + | sort; }

try_nowhere()
{
	local before words

	printf '%s\n' "rule bad drop" "  feed $TMP/list" "  bans" >"$TMP/conf/eth0.conf"
	check_status "apply for bans" 3 b apply eth0
	check "with a ban" b ban 9.9.9.2 1h
	before=$(files_of)
	while read -ra words; do
		check_status "nowhere: ${words[*]}" 1 nowhere "${words[@]}" </dev/null
		is "${words[0]}: says why" "$(grep -c 'no bpffs on /sys/fs/bpf in this mount' "$TMP/err")" 1
	done <<-END
		status
		list eth0
		why eth0 9.9.9.2
		ban 9.9.9.1 1h
		unban 9.9.9.2
		add eth0:bad 9.9.9.1
		del eth0:bad 9.9.9.2
		flush --all eth0:bad
		feed eth0:bad -
		apply --force eth0
		update eth0
		rule add eth0 --drop more=any
		policy eth0 --default drop
		attach eth0 --drop $TMP/list
		restore --boot
		detach eth0
		detach --forget --entries eth0
	END
	is "nothing was written" "$(files_of)" "$before"
	is "nothing was changed" "$(verdicts "$B") $(bans "$B")" "DPD 9.9.9.2"
	check "forget it" b detach --forget --entries eth0
	printf '%s\n' "rule bad drop" "  feed $TMP/list" >"$TMP/conf/eth0.conf"
}

# Cookies end with the boot, names do not.
try_reboot()
{
	local ns

	check_status "the other's again" 3 b apply eth0
	check "with a ban" b add eth0:bad 9.9.9.2 --ttl 1h --origin two
	power_cut
	for ns in "$A" "$B"; do
		check "another boot" sqlite3 "$(kept_of "$ns")/eth0/state.db" \
			"UPDATE owner SET boot = 'before', netns_cookie = netns_cookie + 100000"
	done
	check "restore in one" a restore --boot
	is "it is as it was" "$(verdicts "$A") $(bans "$A")" "DDP 9.9.9.1"
	is "the other has nothing yet" "$(b status -j | jq -c 'map(.enforced)')" '[false]'
	check "restore in the other" b restore --boot
	is "it is as it was" "$(verdicts "$B") $(bans "$B")" "DPD 9.9.9.2"
}

# A namespace that is made again has another cookie, in the same boot.
try_again()
{
	ip netns del "$B"
	make_netns "$B"
	make_eth0 "$B"
	check "restore where the namespace was made again" b restore --boot
	is "it is as it was" "$(verdicts "$B") $(bans "$B")" "DPD 9.9.9.2"
}

# baleend serves the namespace it runs in.
try_baleend()
{
	start_baleend "$B"
	check "a short ban in each" a add eth0:bad 9.9.9.2 --ttl 1s --origin short
	check "a short ban in each" b add eth0:bad 9.9.9.1 --ttl 1s --origin short
	await "ends where baleend runs" is_verdict "$B" DPD
	is "and not in the other" "$(verdicts "$A")" DDD
	check "a writer ends it" a del --exist eth0:bad 9.9.9.2 --origin short
	stop_baleend TERM
}

is_verdict() { [ "$(verdicts "$1")" = "$2" ]; }

# Process 1 of these processes is in another namespace, and no name is to be found: what
# is applied there ends with the boot.
try_anonymous()
{
	cat >"$TMP/inside" <<-EOF
		set -e
		umount -l /run/netns
		ip link add eth0 type veth peer name peer0
		'$BALEEN' apply eth0 || [ \$? = 3 ]
		'$BALEEN' add eth0:bad 9.9.9.3 --origin three >/dev/null
		'$BALEEN' status -j | jq -c 'map(.enforced)'
		'$BALEEN' detach --forget --entries eth0
	EOF
	is "without a name" "$(unshare --pid --fork --kill-child --mount --mount-proc -- \
		sh -c "unshare --net --mount sh '$TMP/inside'; :" 2>&1 | tail -n 2 | paste -sd ' ')" \
		"[true] eth0: detached"
	is "nothing is kept of it on disk" "$(ls "$BALEEN_STATE_DIR")" network-namespaces
	is "the named are as they were" "$(bans "$A") $(bans "$B")" "9.9.9.1 9.9.9.2"
}

# That of process 1 is found without a name, and has its state where a boot finds it,
# before and after `ip netns attach` has given it a name, too, also by who has no more
# rights than baleend in its unit.
try_home()
{
	cat >"$TMP/inside" <<-EOF
		set -e
		umount -l /run/netns
		mount -t tmpfs home /run/netns
		ip link add eth0 type veth peer name peer0
		'$BALEEN' apply eth0 || [ \$? = 3 ]
		ip netns attach main 1
		'$BALEEN' add eth0:bad 9.9.9.3 --origin three >/dev/null
		setpriv --bounding-set -all,+bpf,+net_admin,+perfmon,+dac_read_search,+kill -- \
			'$BALEEN' add eth0:bad 9.9.9.4 --origin three >/dev/null
		ls '$BALEEN_STATE_DIR'
		'$BALEEN' detach --forget --entries eth0
	EOF
	is "of process 1, which has a name, too" "$(unshare --net --pid --fork --kill-child --mount \
		--mount-proc -- sh "$TMP/inside" 2>&1 | tail -n 3 | paste -sd ' ')" \
		"eth0 network-namespaces eth0: detached"
	is "the named are as they were" "$(bans "$A") $(bans "$B")" "9.9.9.1 9.9.9.2"
}

make_eth0 "$A"
make_eth0 "$B"
try_two
try_netns_exec
try_nowhere
try_reboot
try_again
try_baleend
try_anonymous
try_home
check "forget one" a detach --forget --entries eth0
is "the other is as it was" "$(verdicts "$B") $(bans "$B")" "DPD 9.9.9.2"
