# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the shell tests share: results as TAP, and two namespaces joined by a veth pair.
#
#      namespace $A                           namespace $B
#      +-----------------------+              +-----------------------+
#      | veth-a  10.66.0.1/24  |     veth     | veth-b  10.66.0.2/24  |
#      |         fd66::1/64    |==============|         fd66::2/64    |
#      +-----------------------+  one queue   +-----------------------+
#        sends, and only what                   receives: XDP goes here
#        the test sends
#
# A test begins with
#
#      source "$(dirname "$0")/../lib.sh"
#      isolate "$@"            # only when it needs namespaces or pins
#      make_pair
#
# and runs in the root of the repository. isolate starts it again with a
# /sys/fs/bpf and a /run/netns of its own, so pins and namespaces end with the
# test, however it ends, and two tests never meet. Never `ip netns exec`: it
# mounts another /sys, and bpftool sees no pins there; in_ns enters the network
# namespace only.
#
# What this machine is called, asks for names, speaks and hides from others is none of a test:
# isolate gives it a name, /etc/hosts and a resolv.conf ($TMP/resolv.conf) of its own.

# shellcheck disable=SC2034 # for the tests
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SELF=$(realpath "$0")
cd "$ROOT" || exit 2
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" LC_ALL=C TZ=UTC
unset LANG LANGUAGE SSH_CONNECTION SSH_CLIENT
umask 022
BALEEN=$ROOT/build/baleen
TRAFFIC=$ROOT/build/tools/traffic
A=bln$$-a
B=bln$$-b
TMP=$(mktemp -d "${TMPDIR:-/tmp}/baleen.XXXXXX")

tap_n=0
tap_failed=0

# cleanup: what a test has to undo itself, on any exit; it may redefine this
cleanup()
{
	:
}

finish()
{
	local status=$? running

	trap - EXIT
	cleanup
	running=$(jobs -p)
	# shellcheck disable=SC2086
	[ -z "$running" ] || { kill $running; wait; } 2>/dev/null
	rm -rf "$TMP"
	[ "$tap_n" -eq 0 ] || echo "1..$tap_n"
	[ "$tap_failed" -eq 0 ] || status=1
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- results --------------------------------------------------------------

# ok NAME
ok()
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1"
}

# not_ok NAME [DIAGNOSTICS]
not_ok()
{
	tap_n=$((tap_n + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_n - $1"
	[ -z "${2-}" ] || echo "${2//$'\n'/$'\n'# }" | sed '1s/^/# /'
}

# skip NAME WHY
skip()
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

# todo NAME REASON [DIAGNOSTICS]: known not to be so yet; tests/run counts it apart
todo()
{
	tap_n=$((tap_n + 1))
	echo "not ok $tap_n - $1 # TODO $2"
	[ -z "${3-}" ] || echo "# ${3//$'\n'/$'\n'# }"
}

# retell NAME LINE: a line of TAP that another test printed, as ours; of other lines what is for a reader
retell()
{
	case $2 in
	"ok "*"# SKIP "* | "not ok "*"# SKIP "*) skip "$1: ${2#* - }" "${2##*# SKIP }" ;;
	"not ok "*"# TODO "*) todo "$1: $(sed 's/^[^-]*- //; s/ # TODO .*//' <<<"$2")" "${2##*# TODO }" ;;
	"ok "*) ok "$1: ${2#* - }" ;;
	"not ok "*) not_ok "$1: ${2#* - }" ;;
	*) echo "# ${2#\# }" ;;
	esac
}

# bail WHY: the test cannot go on, which is a failure
bail()
{
	not_ok "${SELF##*/} goes on" "$1"
	exit 1
}

# check NAME COMMAND...: the command succeeds
check()
{
	check_status "$1" 0 "${@:2}"
}

# check_status NAME STATUS COMMAND...: the command ends with this exit status;
# its output is left in $TMP/out and $TMP/err, which it therefore cannot read
check_status()
{
	local status

	case " ${*:3} " in *" $TMP/out "* | *" $TMP/err "*) bail "$1: reads what it overwrites" ;; esac
	"${@:3}" >"$TMP/out" 2>"$TMP/err"
	status=$?
	if [ "$status" -eq "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "status $status, not $2: ${*:3}"
		tail -n 20 "$TMP/out" "$TMP/err" | sed 's/^/# /'
	fi
}

# is NAME GOT WANT: two strings are equal
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:  $2"$'\n'"want: $3"
	fi
}

# --- samples ----------------------------------------------------------------

# So that `make check` takes 20 minutes slow tests try samples, always the same ones, and
# say how many. With TEST_ALL=1, which `make check-all` sets, they try everything.

# tests_all: this test is to try everything
tests_all() { [ "${TEST_ALL-}" = 1 ]; }

# pick SOME ALL: the second in `make check-all`, else the first
pick() { tests_all && echo "$2" || echo "$1"; }

# sampled WHAT N OF: says how many of how many were tried
sampled() { echo "# $1: $2 of $3 tried"; }

# is_sample N OF EVERY: whether to try the Nth of OF: the first, the last and each EVERYth,
# or any
is_sample() { tests_all || [ "$1" -eq 1 ] || [ "$1" -eq "$2" ] || [ $(($1 % $3)) -eq 0 ]; }

# --- network --------------------------------------------------------------

# isolate "$@": see the top; a test without root is skipped
isolate()
{
	if [ "$(id -u)" -ne 0 ]; then
		skip "${SELF##*/}" "needs root"
		exit 0
	fi
	if [ "${BALEEN_TEST_ISOLATED-}" != $$ ]; then
		rm -rf "$TMP"
		export BALEEN_TEST_ISOLATED=$$
		exec unshare --mount --uts --propagation private -- "$SELF" "$@"
	fi
	hostname baleen-test
	hide_names
	mkdir -p /run/netns
	mount -t tmpfs -o mode=0755 baleen-test /run/netns || bail "no tmpfs on /run/netns"
	mount -t bpf baleen-test /sys/fs/bpf || bail "no bpffs on /sys/fs/bpf"
	export BALEEN_RUN_DIR=$TMP/run BALEEN_STATE_DIR=$TMP/state BALEEN_CONF_DIR=$TMP/conf
}

# hide_names: the resolvers and names that this machine knows; for who downloads, the former stay
# in $TMP/resolv.conf.host
hide_names()
{
	: >"$TMP/resolv.conf"
	cat /etc/resolv.conf >"$TMP/resolv.conf.host" 2>/dev/null
	printf '%s\n' "127.0.0.1 localhost baleen-test" "::1 localhost" >"$TMP/hosts.conf"
	[ ! -f /etc/resolv.conf ] || mount --bind "$TMP/resolv.conf" /etc/resolv.conf || bail "cannot hide resolvers"
	[ ! -f /etc/hosts ] || mount --bind "$TMP/hosts.conf" /etc/hosts || bail "cannot hide names"
}

# kept_of NAMESPACE: the directory of the kept states of its devices
kept_of()
{
	echo "$BALEEN_STATE_DIR/network-namespaces/$1"
}

# states_in NAMESPACE: the names of these, and of what is beside them
states_in()
{
	ls -I book-of-the-host -- "$(kept_of "$1")" 2>/dev/null
}

# book_of NAMESPACE: the database of its entries
book_of()
{
	echo "$(kept_of "$1")/book-of-the-host/book.db"
}

# in_ns NAMESPACE COMMAND...
in_ns()
{
	nsenter --net="/run/netns/$1" -- "${@:2}"
}

# alone COMMAND...: by a process 1 of its own, whom nobody calls from another mount namespace
alone() { unshare --pid --fork --kill-child --mount-proc -- "$@"; }

# make_netns NAMESPACE...: lo is up; IPv6 has no duplicate address detection,
# no link-local addresses and no router solicitations
make_netns()
{
	local ns

	for ns in "$@"; do
		if ! ip netns add "$ns" || ! ip -n "$ns" link set lo up ||
			! set_sysctl "$ns" accept_dad 0 || ! set_sysctl "$ns" addr_gen_mode 1 ||
			! set_sysctl "$ns" router_solicitations 0; then
			bail "cannot make namespace $ns"
		fi
	done
}

# set_sysctl NAMESPACE NAME VALUE: of the IPv6 devices to come
set_sysctl()
{
	in_ns "$1" tee "/proc/sys/net/ipv6/conf/default/$2" <<<"$3" >/dev/null
}

# make_pair [A B]: the two namespaces of the picture, by default $A and $B.
# Neighbours are static and veth-a is NOARP, so it sends
# no frame but the test's.
make_pair()
{
	local a=${1:-$A} b=${2:-$B} mac_a mac_b

	make_netns "$a" "$b"
	if ! ip -n "$a" link add name veth-a numtxqueues 1 numrxqueues 1 type veth \
		peer name veth-b netns "$b" numtxqueues 1 numrxqueues 1; then
		bail "cannot make a veth pair"
	fi
	mac_a=$(mac "$a" veth-a)
	mac_b=$(mac "$b" veth-b)
	if ! ip -n "$a" link set dev veth-a arp off || ! make_end "$a" veth-a 1 2 "$mac_b" ||
		! make_end "$b" veth-b 2 1 "$mac_a"; then
		bail "cannot set up the veth pair"
	fi
}

# make_list FILE N N6 SEED [TRAFFIC_OPTION...]: N random IPv4 and N6 IPv6 addresses
make_list()
{
	"$TRAFFIC" --print --random "$2" --random6 "$3" --seed "$4" "${@:5}" >"$1" ||
		bail "cannot make a list"
}

# xdp_id NAMESPACE DEVICE: id of the XDP program that is attached, or nothing
xdp_id()
{
	ip -n "$1" link show dev "$2" | sed -n 's/.*prog\/xdp id \([0-9]*\).*/\1/p'
}

# waiters: ids of the processes of Baleen that this test has left waiting, sessions of
# their own. Other tests run the same program at the same time: those of this test are
# in the mount namespace that isolate made.
waiters()
{
	local exe world

	world=$(readlink /proc/self/ns/mnt)
	for exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$exe" 2>/dev/null)" = "$BALEEN" ] &&
			[ "$(readlink "${exe%exe}ns/mnt" 2>/dev/null)" = "$world" ] &&
			basename "${exe%/exe}"
	done
}

# One that is killed may just have got another one into its place.
kill_waiters()
{
	local pids n_none=0

	while [ "$n_none" -lt 3 ]; do
		pids=$(waiters)
		n_none=$((n_none + 1))
		[ -n "$pids" ] || continue
		n_none=0
		# shellcheck disable=SC2086 # words
		kill -KILL $pids 2>/dev/null
	done
}

# next_second: the state has the second in which a filter was derived, and is written only when
# that is another one
next_second()
{
	local last=$EPOCHSECONDS

	while [ "$EPOCHSECONDS" = "$last" ]; do
		read -rt 0.02 <> <(:)
	done
}

# take_off NAMESPACE DEVICE: its filter goes with all pins; the kernel frees it late
take_off()
{
	local i

	rm -rf /sys/fs/bpf/baleen
	for i in {1..200}; do
		[ -n "$(xdp_id "$1" "$2")" ] || return
		sleep 0.05
	done
	bail "the filter does not go"
}

# xdp_mode NAMESPACE DEVICE: native, generic or off
xdp_mode()
{
	case $(ip -n "$1" link show dev "$2") in
	*" xdpgeneric "*) echo generic ;;
	*" xdp "*) echo native ;;
	*) echo off ;;
	esac
}

# unpin NAMESPACE: removes all pins, as the end of the power does; the kernel takes
# what was pinned off the devices a moment later
unpin()
{
	local n

	rm -rf /sys/fs/bpf/baleen
	for ((n = 0; n < 1200; n++)); do
		in_ns "$1" ip link show | grep -q prog/xdp || return 0
		sleep 0.05
	done
	bail "a filter stays without its pins"
}

# counters NAMESPACE DEVICE: as one line, of the first rule its packets and
# their bytes; then unmatched, not IP, and all that was not examined for another
# reason
counters()
{
	local status

	status=$(in_ns "$1" "$BALEEN" status -j "$2") &&
		jq -c '.[0] | [ .rules[0].packets, .rules[0].packet_bytes, .unmatched, .unparsed.not_ip,
			([.unparsed[]] | add) - .unparsed.not_ip + .no_filter ]' <<<"$status"
}

# mac NAMESPACE DEVICE
mac()
{
	ip -n "$1" -br link show dev "$2" | awk '{ print $3 }'
}

# make_end NAMESPACE DEVICE HOST PEER_HOST PEER_MAC
make_end()
{
	ip -n "$1" address add "10.66.0.$3/24" dev "$2" &&
		ip -n "$1" address add "fd66::$3/64" dev "$2" nodad &&
		ip -n "$1" link set dev "$2" up &&
		ip -n "$1" neigh replace "10.66.0.$4" lladdr "$5" dev "$2" nud permanent &&
		ip -n "$1" neigh replace "fd66::$4" lladdr "$5" dev "$2" nud permanent
}
