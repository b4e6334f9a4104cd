#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What must not go wrong on a live device: missing privileges, another program
# in the way, rules that would cut the host off or drop innocents, images that
# cannot be used, memory and disks that run out. Each is refused in words, and
# what was in force stays in force, which real frames prove.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
cd "$TMP" || exit 2

SESSION=$ROOT/build/tools/session
# A memory cgroup, of version 1 or 2.
if [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then
	CGROUP=/sys/fs/cgroup/baleen-$$
	LIMIT=memory.max
else
	CGROUP=/sys/fs/cgroup/memory/baleen-$$
	LIMIT=memory.limit_in_bytes
fi

# The group is empty when its last process has been reaped.
cleanup()
{
	[ ! -d "$CGROUP" ] || rmdir "$CGROUP"
}

# baleen ARGUMENT...: in the namespace that receives
baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# with CAPABILITIES ARGUMENT...: baleen as root with these and no others
with()
{
	in_ns "$B" setpriv --bounding-set "-all$1" -- "$BALEEN" "${@:2}"
}

# send NAME OPTION...
send()
{
	check "$1" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --expect "${@:2}"
}

# status PATH: a value of veth-b
status()
{
	baleen status -j veth-b >"$TMP/json"
	json "$TMP/json" "[0]$1"
}

attached="veth-b: attached, native"
detached="veth-b: detached"
make_list listed.txt 1000 0 1
make_list other.txt 1000 0 2 --avoid listed.txt
echo 192.0.2.1 >one.txt
check "an image of what is listed" "$BALEEN" build -o listed.bln listed.txt

# in_force NAME: listed.txt is what is dropped, and nothing else
in_force()
{
	send "$1" --listed listed.txt --unlisted other.txt --random 200
}

# nothing_attached NAME
nothing_attached()
{
	is "$1: nothing is attached" "$(xdp_mode "$B" veth-b)" off
	is "$1: nothing is left" "$(find /sys/fs/bpf -name 'ns*')" ""
}

# --- privileges ---

try_privileges()
{
	local command user=(setpriv --reuid 65534 --regid 65534 --clear-groups --)

	refuses "attach with no capability" "CAP_BPF is missing: run this as root" \
		with "" attach veth-b --drop one.txt
	refuses "attach without CAP_BPF" "CAP_BPF is missing: run this as root" \
		with ,+net_admin,+perfmon attach veth-b --drop one.txt
	refuses "attach without CAP_NET_ADMIN" "CAP_NET_ADMIN is missing: run this as root" \
		with ,+bpf,+perfmon attach veth-b --drop one.txt
	refuses "attach without CAP_PERFMON" "CAP_PERFMON is missing: run this as root" \
		with ,+bpf,+net_admin attach veth-b --drop one.txt
	nothing_attached "refused"
	prints "those three are enough" "$attached" \
		with ,+bpf,+net_admin,+perfmon attach veth-b --drop one.txt
	for command in "swap veth-b:one listed.txt" "detach veth-b"; do
		# shellcheck disable=SC2086 # words
		refuses "${command%% *} without CAP_BPF" "CAP_BPF is missing: run this as root" \
			with ,+net_admin,+perfmon $command
		# shellcheck disable=SC2086
		refuses "${command%% *} without CAP_NET_ADMIN" \
			"CAP_NET_ADMIN is missing: run this as root" with ,+bpf,+perfmon $command
	done
	for command in status "status veth-b" "match veth-b:one 192.0.2.1" "dump veth-b:one"; do
		# shellcheck disable=SC2086
		check "$command with CAP_BPF alone" with ,+bpf $command
		# Since 6.5 the kernel leaves it to the modes of the pins.
		# shellcheck disable=SC2086
		with ,+net_admin $command >out 2>err ||
			is "$command without CAP_BPF" "$(<out)$(<err)" \
				"baleen: CAP_BPF is missing: run this as root"
		# shellcheck disable=SC2086
		refuses "$command by a user" "CAP_BPF is missing: run this as root" \
			in_ns "$B" "${user[@]}" "$BALEEN" $command
	done
	is "pins are for root alone" "$(find /sys/fs/bpf/baleen -perm /077)" ""
	check "and there are some" test -e "$(echo /sys/fs/bpf/baleen/*/link)"
	check_status "a user does not get to them" 2 "${user[@]}" ls /sys/fs/bpf/baleen
	prints "detach with the three" "$detached" with ,+bpf,+net_admin,+perfmon detach veth-b
	nothing_attached "detached"
	check_status "root of another user namespace is refused" 1 \
		unshare --user --map-root-user --net "$BALEEN" attach lo --drop one.txt
	is "in one line" "$(wc -l <"$TMP/err")" 1
	nothing_attached "there"
}

# --- another program ---

# occupied MODE: what ip says to a program in this mode
try_occupied()
{
	local mode id option taken

	check "an object" "$BALEEN" compile -o drop.o one.txt
	for mode in native generic; do
		option=xdpdrv
		[ "$mode" = native ] || option=xdpgeneric
		check "$mode: ip attaches it" \
			in_ns "$B" ip link set dev veth-b $option obj drop.o sec xdp
		id=$(xdp_id "$B" veth-b)
		taken="veth-b runs the XDP program 'baleen_xdp' (id $id, $mode) already: \
detach it first, as an object with 'ip link set ... xdp off', else with baleen \
where the pins in /sys/fs/bpf are seen"
		refuses "$mode: attach is refused and names the program" "$taken" \
			baleen attach veth-b --drop listed.bln
		refuses "$mode: also with --force" "$taken" \
			baleen attach veth-b --force --drop listed.bln
		refuses "$mode: it is not taken for ours" "baleen is not attached to veth-b" \
			baleen status veth-b
		refuses "$mode: nor taken off" "baleen is not attached to veth-b" \
			baleen detach veth-b
		is "$mode: and is still there" "$(xdp_id "$B" veth-b) $(xdp_mode "$B" veth-b)" \
			"$id $mode"
		check "$mode: ip detaches it" in_ns "$B" ip link set dev veth-b $option off
	done
	prints "then it works" "$attached" baleen attach veth-b --drop listed.bln
	id=$(xdp_id "$B" veth-b)
	refuses "a second attach is refused" "baleen is attached to veth-b already: 'baleen swap' \
changes a rule, 'baleen detach veth-b' takes it off" baleen attach veth-b --drop one.txt
	is "and the first stays" "$(xdp_id "$B" veth-b)" "$id"
	in_force "with its list"
	prints "detach" "$detached" baleen detach veth-b
	refuses "a second detach" "baleen is not attached to veth-b" baleen detach veth-b
}

# --- modes ---

try_modes()
{
	local words="Underlying driver does not support XDP in native mode"

	refuses "--mode native never falls back" "lo: native with multi-buffer frames failed: $words
baleen: lo: native failed: $words
baleen: cannot attach to lo: $words" baleen attach lo --mode native --drop one.txt
	is "and leaves nothing" "$(xdp_mode "$B" lo) $(ls /sys/fs/bpf/baleen)" "off "
	expect "auto falls back and says why" 0 \
		"lo: attached, generic: degraded, behind the driver" \
		"baleen: lo: native with multi-buffer frames failed: $words
baleen: lo: native failed: $words" baleen attach lo --drop one.txt
	is "to generic" "$(xdp_mode "$B" lo)" generic
	check "swap there" baleen swap lo:one listed.txt
	is "status calls it degraded" "$(baleen status lo | head -n 1)" \
		"lo: attached, generic (degraded: behind the driver), program $(xdp_id "$B" lo)"
	prints "detach it" "lo: detached" baleen detach lo
	prints "--mode generic does so when asked" \
		"veth-b: attached, generic: degraded, behind the driver" \
		baleen attach veth-b --mode generic --drop listed.bln
	is "and nothing else" "$(xdp_mode "$B" veth-b) $(status .requested_mode)" "generic generic"
	in_force "generic"
	prints "detach veth-b" "$detached" baleen detach veth-b
}

# --- a host that would cut itself off ---

# whose ROLE: what an address of this role belongs to
whose()
{
	case $1 in
	resolver | peer*) echo "this host" ;;
	*) echo veth-b ;;
	esac
}

# cut FILE ENTRY ADDRESS ROLE: the refusal of this list, whose second line is at fault
cut()
{
	echo "$1:2: '$2': rule '$rule' would drop $3, $4 of $(whose "$4")
baleen: veth-b: nothing changed, since this host would cut itself off (--force does it)"
}

# try_guard NAME ENTRY ADDRESS ROLE [COMMAND...]: by attach, and by swap
try_guard()
{
	local rule=guard id
	local run=("${@:5}" nsenter "--net=/run/netns/$B" -- "$BALEEN")

	printf '# %s\n%s\n192.0.2.1\n' "$1" "$2" >guard.txt
	refuses "$1: attach is refused" "$(cut guard.txt "$2" "$3" "$4")" \
		"${run[@]}" attach veth-b --drop guard.txt
	nothing_attached "$1"
	check "$1: as an image" "$BALEEN" build -o guard.bln guard.txt
	refuses "$1: it has no lines to name" \
		"guard.bln: rule 'guard' would drop $3, $4 of $(whose "$4")
baleen: veth-b: nothing changed, since this host would cut itself off (--force does it)" \
		"${run[@]}" attach veth-b --drop guard.bln
	refuses "$1: an allow rule behind it does not help" "$(cut guard.txt "$2" "$3" "$4")" \
		"${run[@]}" attach veth-b --drop guard.txt --allow "ok=guard.bln"
	prints "$1: one before it does" "$attached" \
		"${run[@]}" attach veth-b --allow "ok=guard.bln" --drop guard.txt
	rule=ok
	refuses "$1: and cannot be swapped away" "veth-b: rule 'guard' would drop $3, $4 of $(whose "$4")
baleen: veth-b: nothing changed, since this host would cut itself off (--force does it)" \
		"${run[@]}" swap veth-b:ok one.txt
	prints "$1: detach" "$detached" baleen detach veth-b
	rule=guard
	expect "$1: --force attaches it" 0 "$attached" "baleen: warning: $(cut guard.txt "$2" "$3" "$4" |
		head -n 1)" "${run[@]}" attach veth-b --force --drop guard.txt
	prints "$1: detach it" "$detached" baleen detach veth-b

	rule=listed
	prints "$1: attach something else" "$attached" "${run[@]}" attach veth-b --drop listed.bln
	id=$(xdp_id "$B" veth-b)
	refuses "$1: swap is refused" "$(cut guard.txt "$2" "$3" "$4")" \
		"${run[@]}" swap veth-b:listed guard.txt
	is "$1: the program stays" "$(xdp_id "$B" veth-b)" "$id"
	in_force "$1: and what it drops"
	check "$1: --force swaps it" "${run[@]}" swap --force veth-b:listed guard.txt
	prints "$1: then it is dropped" "$3" baleen match veth-b:listed "$3"
	prints "$1: detach in the end" "$detached" baleen detach veth-b
}

try_guards()
{
	local words

	if [ -f /etc/resolv.conf ]; then
		echo "nameserver 10.53.0.1" >resolv.conf
		mount --bind resolv.conf /etc/resolv.conf || bail "cannot replace resolv.conf"
		try_guard "resolver" 10.53.0.0/24 10.53.0.1 resolver
		: >resolv.conf
	else
		skip "resolver" "no /etc/resolv.conf to replace"
	fi
	try_guard "own address" 10.66.0.2 10.66.0.2 address
	try_guard "own IPv6 address" fd66::2 fd66::2 address
	check "a gateway" ip -n "$B" route add default via 10.66.0.254
	check "an IPv6 gateway" ip -n "$B" route add default via fd66::fe
	try_guard "gateway" 10.66.0.250-10.66.0.255 10.66.0.254 gateway
	try_guard "IPv6 gateway" fd66::fe fd66::fe gateway
	check "no gateway" ip -n "$B" route del default
	check "no IPv6 gateway" ip -n "$B" -6 route del default
	try_guard "peer of a session" 10.66.0.1 10.66.0.1 "peer of a TCP session" \
		"$SESSION" "/run/netns/$A" "/run/netns/$B" 10.66.0.1
	try_guard "peer of an IPv6 session" fd66::1 fd66::1 "peer of a TCP session" \
		"$SESSION" "/run/netns/$A" "/run/netns/$B" fd66::1

	printf '10.66.0.2\nfd66::2\n' >both.txt
	words="both.txt:1: '10.66.0.2': rule 'both' would drop 10.66.0.2, address of veth-b
baleen: both.txt:2: 'fd66::2': rule 'both' would drop fd66::2, address of veth-b
baleen: veth-b: nothing changed, since this host would cut itself off (--force does it)"
	refuses "every address is named" "$words" baleen attach veth-b --drop both.txt
	refuses "a list of destinations may not hold them either" "$words" \
		baleen attach veth-b --key dst --drop both.txt
	echo 10.66.0.1 >peer.txt
	prints "but a peer, which no packet comes in for" "$attached" \
		"$SESSION" "/run/netns/$A" "/run/netns/$B" 10.66.0.1 \
		"$BALEEN" attach veth-b --key dst --drop peer.txt
	prints "detach" "$detached" baleen detach veth-b
}

# --- whose sessions ---

# An attacker's session reaches a port of ours; REMOTE and LOCAL are as in try_flows.
theirs=("$SESSION" "/run/netns/$B" "/run/netns/$A" 10.66.0.2 nsenter "--net=/run/netns/$B" --)

# inside COMMAND...: the command on a terminal below a process that holds the session, as a
# shell below sshd
cat >inside <<'END'
#!/bin/sh
script=$*
script -qec "$script" /dev/null
status=$?
exit $status
END
chmod +x inside

# Without CAP_SYS_PTRACE, as baleend is, nobody sees whose the sockets of others are.
try_logind()
{
	local blind=(capsh --drop=cap_sys_ptrace -- -c)

	mkdir -p /run/systemd
	mount -t tmpfs baleen-test /run/systemd && mkdir /run/systemd/sessions || bail "no /run/systemd"
	logs_in active 10.66.0.1
	prints "logind is not asked by who sees all" "$attached" \
		"${theirs[@]}" "$BALEEN" attach veth-b --drop peer.txt
	prints "logind: detach" "$detached" baleen detach veth-b
	refuses "logind names whoever is logged in" \
		"peer.txt:1: '10.66.0.1': rule 'peer' would drop $named
baleen: $cut" "${theirs[@]}" "${blind[@]}" "$BALEEN attach veth-b --drop peer.txt"
	logs_in closing 10.66.0.1
	prints "not whose session ends" "$attached" \
		"${theirs[@]}" "${blind[@]}" "$BALEEN attach veth-b --drop peer.txt"
	prints "logind: detach that" "$detached" baleen detach veth-b
	umount /run/systemd
}

# logs_in STATE ADDRESS: as systemd-logind keeps a session of sshd
logs_in()
{
	printf '%s\n' UID=0 ACTIVE=1 "STATE=$1" REMOTE=1 "REMOTE_HOST=$2" TYPE=tty CLASS=user >/run/systemd/sessions/c1
}

try_sessions()
{
	local cut="veth-b: nothing changed, since this host would cut itself off (--force does it)"
	local named="10.66.0.1, peer of a TCP session of this host"

	echo 10.66.0.1 >peer.txt
	prints "who reached a port of ours is no peer" "$attached" \
		"${theirs[@]}" "$BALEEN" attach veth-b --drop peer.txt
	prints "sessions: detach" "$detached" baleen detach veth-b
	prints "sessions: attach something else" "$attached" baleen attach veth-b --drop listed.bln
	check "nor for swap" "${theirs[@]}" "$BALEEN" swap veth-b:listed peer.txt
	check "back" baleen swap veth-b:listed listed.bln
	check "nor for add" "${theirs[@]}" "$BALEEN" add veth-b:listed 10.66.0.1
	prints "it is dropped" 10.66.0.1 baleen match veth-b:listed 10.66.0.1
	check "it goes" baleen flush veth-b:listed --all
	prints "sessions: detach that" "$detached" baleen detach veth-b

	check_status "but whoever is logged in by it" 1 \
		"${theirs[@]}" "$TMP/inside" "$BALEEN attach veth-b --drop peer.txt"
	is "is named" "$(tr -d '\r' <"$TMP/out")" \
		"baleen: peer.txt:1: '10.66.0.1': rule 'peer' would drop $named
baleen: $cut"
	nothing_attached "logged in"
	refuses "by SSH without a terminal, too" \
		"peer.txt:1: '10.66.0.1': rule 'peer' would drop $named
baleen: $cut" env "SSH_CONNECTION=10.66.0.1 $REMOTE 10.66.0.2 $LOCAL" "${theirs[@]}" \
		"$BALEEN" attach veth-b --drop peer.txt
	refuses "and behind a command that hides it" \
		"peer.txt:1: '10.66.0.1': rule 'peer' would drop $named
baleen: $cut" env "SSH_CONNECTION=10.66.0.1 $REMOTE 10.66.0.2 $LOCAL" "${theirs[@]}" \
		sh -c "env -u SSH_CONNECTION $BALEEN attach veth-b --drop peer.txt; exit \$?"
	prints "another session is not that" "$attached" \
		env "SSH_CONNECTION=10.66.0.1 1 10.66.0.2 $LOCAL" "${theirs[@]}" \
		"$BALEEN" attach veth-b --drop peer.txt
	prints "another: detach" "$detached" baleen detach veth-b
	try_logind
	expect "--force names what it cuts" 0 "$attached" \
		"baleen: warning: peer.txt:1: '10.66.0.1': rule 'peer' would drop $named" \
		"$SESSION" "/run/netns/$A" "/run/netns/$B" 10.66.0.1 \
		"$BALEEN" attach veth-b --force --drop peer.txt
	prints "forced: detach" "$detached" baleen detach veth-b
}

# --- the same by keys of several fields ---

# The ports of every session: REMOTE is that of $A, LOCAL that of $B
REMOTE=40022
LOCAL=50001

# ports NAMESPACE RANGE: those that sockets get
ports()
{
	in_ns "$1" tee /proc/sys/net/ipv4/ip_local_port_range <<<"$2" >/dev/null ||
		bail "cannot set the range of ports"
}

# try_flow SPEC ENTRY HARMLESS ADDRESS ROLE [COMMAND...]: ENTRY is refused, HARMLESS is not
try_flow()
{
	local rule=flow
	local attach=("${@:6}" nsenter "--net=/run/netns/$B" -- "$BALEEN" attach veth-b --key "$1")

	echo "$2" >ok.txt
	printf '%s\n%s\n' "$3" "$2" >flow.txt
	refuses "key $1: $2 is refused" "$(cut flow.txt "$2" "$4" "$5")" \
		"${attach[@]}" --drop flow.txt
	nothing_attached "key $1"
	prints "key $1: an allow rule before it helps" "$attached" \
		"${attach[@]}" --allow ok.txt --drop flow.txt
	prints "key $1: detach" "$detached" baleen detach veth-b
	echo "$3" >flow.txt
	prints "key $1: $3 is not" "$attached" "${attach[@]}" --drop flow.txt
	prints "key $1: detach it" "$detached" baleen detach veth-b
}

try_flow_sessions()
{
	local role="peer of a TCP session"
	local open=("$SESSION" "/run/netns/$A" "/run/netns/$B")
	local four=(10.66.0.1 "$role" "${open[@]}" 10.66.0.1)
	local six=(fd66::1 "$role" "${open[@]}" fd66::1)

	try_flow proto tcp udp "${four[@]}"
	try_flow dport $LOCAL $REMOTE "${four[@]}"
	try_flow sport $REMOTE $LOCAL "${four[@]}"
	try_flow src,dport 10.66.0.1,$LOCAL 10.66.0.1,22 "${four[@]}"
	try_flow dst,dport 10.66.0.2,$LOCAL 10.66.0.1,$LOCAL "${four[@]}"
	try_flow src,dst 10.66.0.1,10.66.0.2 10.66.0.2,10.66.0.1 "${four[@]}"
	try_flow proto,src tcp,10.66.0.1 udp,10.66.0.1 "${four[@]}"
	try_flow flow tcp,10.66.0.1,10.66.0.2,$REMOTE,$LOCAL \
		tcp,10.66.0.1,10.66.0.2,$LOCAL,$REMOTE "${four[@]}"
	try_flow dport $LOCAL $REMOTE "${six[@]}"
	try_flow src,dport fd66::1,$LOCAL fd66::1,22 "${six[@]}"
	try_flow flow tcp,fd66::1,fd66::2,$REMOTE,$LOCAL tcp,fd66::1,fd66::2,$REMOTE,22 "${six[@]}"
}

# gateways and resolvers
try_flow_others()
{
	check "flows: a gateway" ip -n "$B" route add default via 10.66.0.254
	try_flow sport,dport 0,0 0,53 10.66.0.254 gateway
	check "flows: an IPv6 gateway" ip -n "$B" route add default via fd66::fe
	try_flow proto icmp udp 10.66.0.254 gateway
	try_flow proto ipv6-icmp tcp fd66::fe gateway
	try_flow proto,dst icmp,10.66.0.2 icmp,10.66.0.254 10.66.0.254 gateway
	try_flow proto,src ipv6-icmp,fd66::fe icmp,10.66.0.250 fd66::fe gateway
	check "flows: no gateway" ip -n "$B" route del default
	check "flows: no IPv6 gateway" ip -n "$B" -6 route del default
	if [ ! -f /etc/resolv.conf ]; then
		skip "flows: resolver" "no /etc/resolv.conf to replace"
		return
	fi
	echo "nameserver 10.53.0.1" >resolv.conf
	try_flow proto,src,sport udp,10.53.0.1,53 tcp,10.53.0.1,53 10.53.0.1 resolver
	try_flow proto,src,dst udp,10.53.0.1,10.66.0.2 udp,10.53.0.1,10.66.0.1 10.53.0.1 resolver
	echo 10.53.0.1,53 >flow.txt
	prints "to which port it answers is not known" "$attached" \
		baleen attach veth-b --key src,dport --drop flow.txt
	prints "flows: detach" "$detached" baleen detach veth-b
	: >resolv.conf
}

# qualifiers, the default, and changes
try_flow_rules()
{
	local open=("$SESSION" "/run/netns/$A" "/run/netns/$B" 10.66.0.1 "$BALEEN")
	local peer="10.66.0.1, peer of a TCP session of this host"
	local cut="baleen: veth-b: nothing changed, since this host would cut itself off \
(--force does it)"

	echo 10.66.0.1,$LOCAL >flow.txt
	prints "it goes on when those that are opened are dropped" "$attached" \
		"${open[@]}" attach veth-b --key src,dport --drop flow.txt tcp-syn
	prints "flows: detach that" "$detached" baleen detach veth-b
	prints "what a list of flows allows is not dropped by default" "$attached" \
		"${open[@]}" attach veth-b --no-state --default drop --key src,dport --allow flow.txt
	refuses "until it is taken out" "veth-b: $peer, would be dropped by the default
$cut" "${open[@]}" del veth-b:flow 10.66.0.1,$LOCAL
	prints "flows: detach the default" "$detached" baleen detach veth-b
	echo 10.66.0.1,22 >flow.txt
	refuses "another flow does not help" "veth-b: $peer, would be dropped by the default
$cut" "${open[@]}" attach veth-b --default drop --key src,dport --allow flow.txt
	nothing_attached "another flow"
	prints "another flow" "$attached" "${open[@]}" attach veth-b --no-state --key src,dport --drop flow.txt
	refuses "one that cuts a session is not added" "veth-b: rule 'flow' would drop $peer
$cut" "${open[@]}" add veth-b:flow 10.66.0.1,$LOCAL
	prints "a third one is" "veth-b:flow: 1 added in place" \
		"${open[@]}" add veth-b:flow 10.66.0.1,23
	prints "flows: detach in the end" "$detached" baleen detach veth-b
}

try_flows()
{
	local range

	range=$(in_ns "$B" cat /proc/sys/net/ipv4/ip_local_port_range)
	ports "$A" "$REMOTE $REMOTE"
	ports "$B" "$LOCAL $LOCAL"
	try_flow_sessions
	try_flow_others
	try_flow_rules
	try_sessions
	ports "$A" "$range"
	ports "$B" "$range"
}

# --- innocents ---

# innocents NAME IMAGE ACCEPTED: the refusal of what errs more often than accepted
innocents()
{
	"$BALEEN" info -j "$2" >info.json
	json info.json '[0].fpp' | awk -v name="$1" -v accepted="$3" '{
		printf "%s: would drop %.*f unlisted packets in a million: ", name,
			($1 < 1e-4 ? 3 : 0), $1 * 1e6
		printf "false positive rate %.3g, accepted %s (--accept-fpp)\n", $1, accepted }'
}

try_innocents()
{
	check "a Bloom filter" "$BALEEN" build --kind bloom --fpp 1e-3 --seed 1 -o bloom.bln listed.txt
	refuses "attach of a Bloom filter is refused" "$(innocents bloom bloom.bln 1e-09)" \
		baleen attach veth-b --drop bloom.bln
	refuses "also with --force" "$(innocents bloom bloom.bln 1e-09)" \
		baleen attach veth-b --force --drop bloom.bln
	refuses "also when less is accepted" "$(innocents bloom bloom.bln 0.0001)" \
		baleen attach veth-b --accept-fpp 1e-4 --drop bloom.bln
	nothing_attached "innocents"
	prints "until it is accepted" "$attached" \
		baleen attach veth-b --accept-fpp 1e-3 --drop listed=bloom.bln
	is "status tells the rate" "$(status .rules[0].fpp) $(status .rules[0].exact)" \
		"$(json info.json '[0].fpp') false"
	send "it drops all that is listed" --listed listed.txt
	check "swap to an exact one" baleen swap veth-b:listed listed.bln
	is "is told" "$(status .rules[0].fpp) $(status .rules[0].exact)" "0.0 true"
	refuses "swap back asks again" "$(innocents listed bloom.bln 1e-09)" \
		baleen swap veth-b:listed bloom.bln
	in_force "and leaves the exact one"
	check "swap back, accepted" baleen swap --accept-fpp 1e-3 veth-b:listed bloom.bln
	refuses "a live Bloom filter is no less a Bloom filter" \
		"$(innocents listed bloom.bln 1e-09)" baleen swap veth-b:listed veth-b:listed
	prints "detach" "$detached" baleen detach veth-b
	make_list six.txt 0 1000 3
	check "hashes in 16 bits" "$BALEEN" build --fpp 1e-3 --seed 1 -o short.bln six.txt
	refuses "are refused" "$(innocents short short.bln 1e-09)" \
		baleen attach veth-b --drop short.bln
	prints "hashes in 64 bits are not" "$attached" baleen attach veth-b --drop six.txt
	send "IPv6: exactly the listed are dropped" --listed six.txt --random6 1000 --random 200
	prints "detach hashes" "$detached" baleen detach veth-b
}

# --- images that cannot be used ---

try_swaps()
{
	local id words

	echo '<html>' >page.html
	head -c 4000 listed.bln >cut.bln
	{ head -c 700 listed.bln; printf x; tail -c +702 listed.bln; } >flipped.bln
	check_status "a damaged image" 1 cmp -s listed.bln flipped.bln
	check "an image of destinations" "$BALEEN" build --key dst -o dst.bln listed.txt
	: >empty.txt
	for words in "cut.bln: truncated" "flipped.bln: body checksum does not match: damaged" \
		"empty.txt: not a single key in 0 lines: list refused (--allow-empty takes it)" \
		"none.bln: No such file or directory"; do
		refuses "attach of ${words%%:*}" "$words" baleen attach veth-b --drop "${words%%:*}"
		nothing_attached "${words%%:*}"
	done
	prints "attach" "$attached" baleen attach veth-b --drop listed.bln
	id=$(xdp_id "$B" veth-b)
	for words in "cut.bln: truncated" "flipped.bln: body checksum does not match: damaged" \
		"empty.txt: not a single key in 0 lines: list refused (--allow-empty takes it)" \
		"none.bln: No such file or directory"; do
		refuses "swap to ${words%%:*}" "$words" baleen swap veth-b:listed "${words%%:*}"
		is "leaves the program" "$(xdp_id "$B" veth-b)" "$id"
	done
	refuses "swap to a page, bad lines skipped" \
		"page.html: is an HTML or XML page, not a list" \
		baleen swap --skip-bad veth-b:listed page.html
	refuses "swap to another key" "veth-b:listed is keyed by src, the new image by dst" \
		baleen swap veth-b:listed dst.bln
	refuses "swap of a drop rule to --allow" \
		"veth-b:listed is a drop rule: 'baleen rule' deletes it and adds another" \
		baleen swap --allow veth-b:listed one.txt
	refuses "swap of no rule" "veth-b has no rule 'lister' (did you mean 'listed'?): see \
'baleen status veth-b'" \
		baleen swap veth-b:lister one.txt
	refuses "swap on a device without a filter" "baleen is not attached to lo" \
		baleen swap lo:listed one.txt
	refuses "swap on no device" "veth-c: no such device" baleen swap veth-c:listed one.txt
	refuses "attach to no device" "veth-c: no such device" baleen attach veth-c --drop one.txt
	is "the program is the first" "$(xdp_id "$B" veth-b)" "$id"
	in_force "and its list is in force"

	make_list many.txt 200000 0 4 --avoid listed.txt
	check "swap to a larger one, --drop" baleen swap --drop veth-b:listed many.txt
	send "which is in force" --listed many.txt --unlisted listed.txt
	check "swap to one of the other family" baleen swap veth-b:listed six.txt
	send "which is in force, too" --listed six.txt --unlisted listed.txt
	check "an image of nothing" baleen build --allow-empty -o nothing.bln empty.txt
	refuses "swap to an image of nothing" \
		"nothing.bln: holds not a single key: refused (--allow-empty takes it)" \
		baleen swap veth-b:listed nothing.bln
	refuses "a rule where a device is asked for" "veth-b:listed: no such device" \
		baleen status veth-b:listed
	check "swap to nothing at all" baleen swap --allow-empty veth-b:listed empty.txt
	send "which drops nothing" --unlisted listed.txt
	check "swap back" baleen swap veth-b:listed listed.bln
	in_force "after all that"
	prints "detach" "$detached" baleen detach veth-b
}

# --- the live map ---

# zero_block MAP BLOCK
zero_block()
{
	# shellcheck disable=SC2046 # one word a byte
	bpftool map update pinned "$1" key $(($2 & 255)) $(($2 >> 8)) 0 0 \
		value $(yes 0 | head -n 64) any
}

try_live()
{
	local map

	prints "attach" "$attached" baleen attach veth-b --drop listed.bln
	prints "match reads the live map" 1000 baleen match -c -f listed.txt veth-b:listed
	map=$(echo /sys/fs/bpf/baleen/*/*/rule0)
	check "a block of it is zeroed" zero_block "$map" 20
	baleen match -f listed.txt veth-b:listed >kept.txt
	baleen match -v -f listed.txt veth-b:listed >lost.txt
	check "then match misses some" test -s lost.txt
	is "and has the others" "$(sort kept.txt lost.txt)" "$(sort listed.txt)"
	send "packets go by the same map" --listed kept.txt --unlisted lost.txt
	is "dump, too" "$(baleen dump veth-b:listed | sort)" "$(sort kept.txt)"
	is "status, too" "$(status .rules[0].stored)" "$(wc -l <kept.txt)"
	check "swap to the image" baleen swap veth-b:listed listed.bln
	in_force "brings them back"
	check "the header of the map is damaged" zero_block \
		"$(echo /sys/fs/bpf/baleen/*/*/rule0)" 0
	refuses "match says so" "veth-b:listed: not a Baleen image" \
		baleen match veth-b:listed 192.0.2.1
	is "status says so" "$(status .rules[0].error)" "veth-b:listed: not a Baleen image"
	in_force "the program goes on"
	check "swap mends it" baleen swap veth-b:listed listed.bln
	is "status is content" "$(status .rules[0].entries)" 1000
	prints "detach" "$detached" baleen detach veth-b
}

# --- several rules ---

try_rules()
{
	local n rules=()

	head -n 100 listed.txt >good.txt
	tail -n +101 listed.txt >rest.txt
	prints "allow before drop" "$attached" \
		baleen attach veth-b --allow good=good.txt --drop listed.bln
	send "lets pass what it lists" --listed rest.txt --unlisted good.txt --random 200
	is "by its name" "$(status .rules[0].name) $(status .rules[0].action)" "good allow"
	is "and counts it" "$(status .rules[0].packets) $(status .rules[1].packets)" "100 900"
	prints "detach" "$detached" baleen detach veth-b
	prints "drop before allow" "$attached" \
		baleen attach veth-b --drop listed.bln --allow good.txt
	in_force "drops all"
	is "counts all" "$(status .rules[0].packets)" 1000
	is "and the allow rule nothing" "$(status .rules[1].packets)" 0
	prints "detach again" "$detached" baleen detach veth-b
	expect "a rule that can never match is warned about" 0 "$attached" \
		"baleen: warning: rule 'b' can never match: rule 'a' before it lists the same" \
		baleen attach veth-b --drop a=one.txt --allow b=one.txt
	prints "detach that" "$detached" baleen detach veth-b
	split -n l/16 -d listed.txt part-
	for n in {00..15}; do
		rules+=(--drop "r$n=part-$n")
	done
	prints "16 rules" "$attached" baleen attach veth-b "${rules[@]}"
	in_force "16 rules: all of them"
	is "the last one counts its own" "$(status .rules[15].packets) $(status .rules[15].name)" \
		"$(wc -l <part-15) r15"
	check "16 rules: swap the last" baleen swap veth-b:r15 one.txt
	cat part-0* part-1[0-4] >most.txt
	send "16 rules: the others stay" --listed most.txt --unlisted part-15
	prints "16 rules: detach" "$detached" baleen detach veth-b
}

# --- no room ---

try_disk()
{
	mkdir disk
	mount -t tmpfs -o size=64k,mode=0755 baleen-test disk || bail "no tmpfs"
	check "an image on a small disk" "$BALEEN" build -o disk/old.bln one.txt
	cp disk/old.bln old.bln
	refuses "a disk that fills" "disk/old.bln: No space left on device" \
		"$BALEEN" build -o disk/old.bln many.txt
	check "leaves the old image" cmp old.bln disk/old.bln
	refuses "a disk that fills with a new image" "disk/new.bln: No space left on device" \
		"$BALEEN" build -o disk/new.bln many.txt
	refuses "a disk that fills with an object" "disk/new.o: No space left on device" \
		"$BALEEN" compile -o disk/new.o many.txt
	is "leaves nothing else" "$(ls disk)" old.bln
	prints "and takes what fits" "" "$BALEEN" build -o disk/old.bln listed.txt
	prints "which is whole" 1000 "$BALEEN" match -c -f listed.txt disk/old.bln
	mount -o remount,nr_inodes=2 disk || bail "cannot limit the inodes"
	refuses "a disk without inodes" "disk/new.bln: No space left on device" \
		"$BALEEN" build -o disk/new.bln one.txt
	check "a read-only disk" mount -o remount,ro disk
	refuses "is refused" "disk/old.bln: Read-only file system" \
		"$BALEEN" build -o disk/old.bln one.txt
	umount disk
}

# limited COMMAND...: in a group that may use 100 MB
limited()
{
	# shellcheck disable=SC2016 # for the inner shell
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$CGROUP" "$@"
}

try_memory()
{
	if ! mkdir "$CGROUP" 2>/dev/null || [ ! -e "$CGROUP/$LIMIT" ]; then
		skip "memory that runs out" "no memory cgroup to make"
		return
	fi
	echo 100000000 >"$CGROUP/$LIMIT" || bail "cannot limit the memory"
	[ ! -e "$CGROUP/memory.swap.max" ] || echo 0 >"$CGROUP/memory.swap.max"
	# Read it is 67 MB, in a map 67 MB more.
	check "a large image" "$BALEEN" build --capacity 32M -o large.bln listed.txt
	# On a tmpfs the copy that the state keeps is memory, too.
	[ "$(stat -f -c %T "$TMP")" != tmpfs ] || echo 170000000 >"$CGROUP/$LIMIT"
	refuses "no memory for a map: attach" \
		"large: cannot create a map of 67368960 bytes: Cannot allocate memory" \
		limited nsenter "--net=/run/netns/$B" -- "$BALEEN" attach veth-b --drop large.bln
	echo 100000000 >"$CGROUP/$LIMIT"
	nothing_attached "no memory"
	prints "no memory: attach something small" "$attached" \
		limited nsenter "--net=/run/netns/$B" -- "$BALEEN" attach veth-b --no-state \
		--drop listed.bln
	refuses "no memory for a map: swap" \
		"listed: cannot create a map of 67368960 bytes: Cannot allocate memory" \
		limited nsenter "--net=/run/netns/$B" -- "$BALEEN" swap veth-b:listed large.bln
	in_force "no memory: the old filter goes on"
	check "with memory it works" baleen swap veth-b:listed large.bln
	in_force "in 67 MB"
	prints "detach 67 MB" "$detached" baleen detach veth-b
}

# --- without bpffs ---

try_bpffs()
{
	local n

	for ((n = 0; n < 10; n++)); do
		umount /sys/fs/bpf 2>/dev/null || break
	done
	check_status "no bpffs" 1 test "$(stat -f -c %T /sys/fs/bpf)" = bpf_fs
	prints "status without bpffs" "nothing is attached in this network namespace" \
		alone "$TMP/in-b" status
	refuses "detach without bpffs" "baleen is not attached to veth-b" \
		alone "$TMP/in-b" detach veth-b
	refuses "no filter that would end with this mount namespace" "no bpffs on /sys/fs/bpf in \
this mount namespace, and one mounted here would end with it: for 'ip netns exec NAME' say \
'nsenter --net=/run/netns/NAME', or mount it yourself" \
		alone sh -c 'unshare --mount -- "$@"; exit' - "$TMP/in-b" attach veth-b --drop listed.bln
	is "none is attached" "$(xdp_mode "$B" veth-b)" off
	# Where process 1 lives, attach mounts it; here by a process 1 of our own.
	# shellcheck disable=SC2016
	is "attach mounts it, for root alone" "$(alone \
		bash -c '"$0" attach veth-b --drop listed.bln; stat -f -c %T /sys/fs/bpf
			stat -c %A /sys/fs/bpf; "$0" status | head -n 1; "$0" detach veth-b' \
		"$TMP/in-b" | sed 's/program [0-9]*/program N/')" "$attached
bpf_fs
drwx-----T
veth-b: attached, native, program N
$detached"
}

# --- pins that are not ours ---

try_hostile_pins()
{
	local pins size

	check "a bpffs for everybody" mount -t bpf -o mode=1777 bpf /sys/fs/bpf
	check "where somebody was first" setpriv --reuid 65534 --regid 65534 --clear-groups \
		mkdir /sys/fs/bpf/baleen
	refuses "attach refuses" "/sys/fs/bpf/baleen is not root's alone: remove it first" \
		baleen attach veth-b --drop listed.bln
	refuses "status, too" "/sys/fs/bpf/baleen is not root's alone: remove it first" baleen status
	check "removed" rmdir /sys/fs/bpf/baleen
	prints "attach" "$attached" baleen attach veth-b --drop listed.bln
	pins=$(echo /sys/fs/bpf/baleen/*/[0-9]*)
	check "one pin is removed" rm "$pins/rule0"
	refuses "status does not say that nothing is attached" \
		"$pins: pins are missing: detach and attach again" baleen status veth-b
	prints "detach works" "$detached" baleen detach veth-b

	prints "attach again" "$attached" baleen attach veth-b --drop listed.bln
	pins=$(echo /sys/fs/bpf/baleen/*/[0-9]*)
	size=$(bpftool -j map show pinned "$pins/config" | jq .bytes_value)
	check "the counters are removed" rm "$pins/stats"
	check "others put in their place" bpftool map create "$pins/stats" type percpu_array \
		key 4 value 30000 entries 1 name other
	refuses "status refuses them" "${pins%/*} was made by another version of baleen: detach and \
attach again" baleen status veth-b
	check "the constants are removed" rm "$pins/config"
	check "others put in their place" bpftool map create "$pins/config" type array \
		key 4 value "$size" entries 1 name other
	# Version 1, and far more rules than there can be.
	# shellcheck disable=SC2046 # words
	check "that lie" bpftool map update pinned "$pins/config" key 0 0 0 0 value hex 1 0 0 0 \
		e8 3 0 0 $(yes 0 | head -n $((size - 8)))
	refuses "match refuses them" "${pins%/*} was made by another version of baleen: detach and \
attach again" baleen match veth-b:listed 192.0.2.1
	prints "detach works all the same" "$detached" baleen detach veth-b
}

# --- a list that can be read once ---

try_fifo()
{
	prints "attach for a pipe" "$attached" baleen attach veth-b --drop listed.bln
	check "a pipe" mkfifo pipe
	echo 10.66.0.2 >pipe &
	refuses "a list from a pipe that would cut us off" \
		"pipe: rule 'listed' would drop 10.66.0.2, address of veth-b
baleen: veth-b: nothing changed, since this host would cut itself off (--force does it)" \
		timeout 5 "$TMP/in-b" swap veth-b:listed pipe
	wait
	in_force "the old one goes on"
	prints "detach after the pipe" "$detached" baleen detach veth-b
}

# Baleen in the namespace of veth-b, for those who run a program.
cat >"$TMP/in-b" <<END
#!/bin/sh
exec nsenter --net=/run/netns/$B -- $BALEEN "\$@"
END
chmod +x "$TMP/in-b"

try_privileges
try_occupied
try_modes
try_guards
try_flows
try_innocents
try_swaps
try_live
try_rules
try_disk
try_memory
try_fifo
try_bpffs
try_hostile_pins
