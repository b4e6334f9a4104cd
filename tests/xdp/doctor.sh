#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `baleen doctor` finds, and that the command it names mends it: each is run
# as it is printed. Bonds, VLANs, tc and the settings of a kernel are in
# tests/kernels/in-vm-doctor.sh.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/doctor.sh
source "$ROOT/tests/doctor.sh"
NEXT=$(tests/next) || bail "no later release"
make_pair
cd "$TMP" || exit 2
export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run BALEEN_CONF_DIR=$TMP/conf

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# --- refused --------------------------------------------------------------

try_refused()
{
	check_status "no device, and none has a filter" 1 baleen doctor
	check_status "two devices" 2 baleen doctor veth-b lo
	check_status "an option there is not" 2 baleen doctor --fix veth-b
	refuses "no such device" "veth-x: no such device" baleen doctor veth-x
	refuses "an alias" "veth-b:0: no such device" baleen doctor veth-b:0
}

# --- a sound device -------------------------------------------------------

try_sound()
{
	local order before

	before=$(ls -A /sys/fs/bpf)
	check "a sound device" baleen doctor veth-b
	is "nothing is attached by it" "$(xdp_mode "$B" veth-b) $(ls -A /sys/fs/bpf)" "off $before"
	is "nor kept" "$(find state run 2>/dev/null)" ""
	look
	order=$(jq -c 'map(.check)' findings)
	is "as JSON: what was looked at, in order" "$order" "$(jq -c . <<-'END'
		["capabilities","kernel","libbpf","libxdp","clang","bpffs","program","jit","chain",
		"conntrack","jit-harden","bpf-stats","filter","mode","mtu","other-xdp","tc","lro","gro","rx-gro-hw","queues","rxvlan",
		"promiscuous","state","space","daemon","clock"]
	END
	)"
	check "again" look
	is "again the same" "$(jq -c 'map(.check)' findings)" "$order"
	is "each has all fields" "$(jq -c 'map(keys) | unique' findings)" \
		'[["check","command","device","level","text"]]'
	is "veth has native XDP" "$(text mode)" "'veth' has native XDP"
	check "attach" baleen attach veth-b --drop listed
	check "a sound filter" baleen doctor veth-b
	is "is native" "$(level mode) $(text mode)" "ok native, in the driver 'veth'"
	is "and in force" "$(level filter) $(text filter)" "ok in force, rules: 1"
	check "detach" baleen detach veth-b
}

# --- versions ---------------------------------------------------------------

# tried NAME: the releases in its row of docs/platforms.md, oldest and newest
tried()
{
	awk -F'|' -v name="$1" '{ gsub(/ /, "") } $2 == name { print $3, $4 }' "$ROOT/docs/platforms.md"
}

# installed PACKAGE: major and minor number
installed()
{
	dpkg-query -Wf '${Version}' "$1" | grep -oE '[0-9]+\.[0-9]+' | head -n 1
}

try_versions()
{
	local name oldest newest old=(in_ns "$B" setarch --uname-2.6 "$BALEEN")

	look
	check "the running kernel" grep -q "^Linux $(uname -r): " <(text kernel)
	for name in libbpf libxdp; do
		read -r oldest newest <<<"$(tried "$name")"
		check "$name as installed" grep -q "^$name $(installed "${name}1")[.0-9]*: " <(text "$name")
		check "and as in the table of platforms" grep -qE \
			" $oldest to $newest\$|newer than .*, $newest\$" <(text "$name")
	done
	check "the compiler of the programs" grep -q "^programs of clang [1-9][0-9.]*: " <(text clang)
	check_status "a kernel of long ago" 1 "${old[@]}" doctor veth-b
	is "is too old" "$(grep -oE '^problem  kernel .*(baleen needs .*)' "$TMP/out" | sed 's/.*: //')" \
		"baleen needs 6.1 or newer"
}

# --- privileges -----------------------------------------------------------

try_privileges()
{
	local with=(in_ns "$B" setpriv --bounding-set -all -- "$BALEEN")

	check "attach" baleen attach veth-b --drop listed
	check_status "without capabilities" 1 "${with[@]}" doctor veth-b
	is "says so" "$(head -n 1 "$TMP/out")" \
		"problem  capabilities  CAP_BPF is missing: run this as root: it cannot attach, and not \
all is seen here"
	is "and what to do" "$(sed -n 2p "$TMP/out" | xargs)" "# sudo baleen doctor veth-b"
	in_ns "$B" setpriv --reuid 65534 --regid 65534 --clear-groups -- "$BALEEN" doctor -j veth-b \
		>user.json
	is "for a user the filter is not unattached" \
		"$(jq -r '.[] | select(.check == "filter") | .level, .text' user.json)" \
		"problem"$'\n'"CAP_BPF is missing: run this as root"
	is "nor a stranger's, to be taken off; what cannot be told is not guessed" \
		"$(jq -r '.[] | select(.check | IN("other-xdp", "state", "daemon")) | [.level, .text, .command] | @tsv' \
		user.json)" "$(printf 'note\tunknown without root: %s\t\n' \
		"whether the XDP program that is there is Baleen's" "what is kept of this device" \
		"whether baleend is running")"
	check "detach" baleen detach veth-b
}

# --- bpffs ----------------------------------------------------------------

try_bpffs()
{
	local n

	# Also those below, which are the host's.
	for ((n = 0; n < 10; n++)); do
		umount /sys/fs/bpf 2>/dev/null || break
	done
	[ "$(stat -f -c %T /sys/fs/bpf)" != bpf_fs ] || bail "cannot unmount bpffs"
	LOOK_BY=(alone)
	mends "no bpffs" bpffs note ok
	LOOK_BY=()
	is "it is root's" "$(stat -f -c %T /sys/fs/bpf) $(stat -c %a /sys/fs/bpf)" "bpf_fs 1700"
	check "a bpffs for everybody" chmod 1777 /sys/fs/bpf
	check "where somebody was first" setpriv --reuid 65534 --regid 65534 --clear-groups \
		mkdir /sys/fs/bpf/baleen
	mends "another's pins" bpffs problem ok
	check "then attach works" baleen attach veth-b --drop listed
	check "and detach" baleen detach veth-b
}

# --- the filter -----------------------------------------------------------

# in_force NAME: and it is what was attached
in_force()
{
	is "$1: in force" "$(baleen status -j veth-b | jq -r '.[0] | .state, .rules[0].name' |
		paste -sd ' ')" "attached listed"
}

try_out_of_force()
{
	check "attach without a link" baleen attach veth-b --no-link --drop listed
	check "somebody takes it off" ip -n "$B" link set dev veth-b xdp off
	mends "detached" filter problem ok
	in_force "detached"
	check "somebody takes it off again" ip -n "$B" link set dev veth-b xdp off
	check "and puts another there" ip -n "$B" link set dev veth-b xdp obj "$OBJECT" sec xdp
	is "that is told, too" "$(level other-xdp)" problem
	mends "replaced" filter problem ok
	in_force "replaced"
	check "detach" baleen detach veth-b

	check "attach" baleen attach veth-b --drop listed
	check "its link is detached" detach_link
	mends "link detached" filter problem ok
	in_force "link detached"
	check "detach" baleen detach veth-b
}

# detach_link: as nobody should
detach_link()
{
	bpftool link detach id "$(bpftool -j link show pinned /sys/fs/bpf/baleen/ns*/link | jq .id)"
}

# origins: of the single entries, and how many each has
origins()
{
	baleen status -j veth-b | jq -c '.[0].rules[0].origins'
}

# What was applied comes back with its entries; what was attached by hand has
# them in its image, and it is said that they are not what they were.
try_state()
{
	mkdir -p conf
	printf 'rule listed drop\n\tfeed %s/listed\n' "$TMP" >conf/veth-b.conf
	check_status "apply" 3 baleen apply veth-b
	is "it is kept" "$(level state) $(text state)" \
		"ok kept in $(kept_of "$B")/veth-b, and put on again at boot"
	check "a ban" baleen add veth-b:listed 192.0.2.99 --ttl 1h --origin fail2ban
	check "its link is detached" detach_link
	mends "detached, kept" filter problem ok
	in_force "detached, kept"
	is "bans are what they were" "$(origins)" '{"fail2ban":1}'
	# shellcheck disable=SC2046 # words
	check "a damaged map" bpftool map update \
		pinned /sys/fs/bpf/baleen/ns*/"$(xdp_id "$B" veth-b)"/rule0 \
		key 0 0 0 0 value $(printf '0 %.0s' {1..64})
	mends "a damaged map, kept" rules problem ""
	is "bans are what they were still" "$(origins)" '{"fail2ban":1}'
	check "taken off by hand" baleen detach veth-b
	mends "taken off by hand, kept" filter problem ok
	in_force "taken off by hand, kept"
	check "a mark of one who was killed" touch "run/$(basename /sys/fs/bpf/baleen/ns*).changing"
	mends "a mark of one who was killed" interrupted note ""
	in_force "a mark of one who was killed"
	check "detach" baleen detach --forget --entries veth-b

	check "attach by hand" baleen attach veth-b --drop listed --mode generic
	is "it is not kept" "$(level state)" note
	is "nothing is lost" "$(level mode) $(text mode | grep -c 'are forgotten')" "note 0"
	check "a ban" baleen add veth-b:listed 192.0.2.99 --ttl 1h --origin fail2ban
	is "a ban would lose its end" "$(level mode) $(text mode)" "note generic, behind the driver, \
several times slower than native, as asked for (1 single entries become part of the lists: \
origin and end are forgotten)"
	mends "by hand" mode note ok
	check "the ban is there" baleen match veth-b:listed 192.0.2.99
	check "detach" baleen detach veth-b
}

try_policy()
{
	check "attach, a dry run" baleen attach veth-b --drop listed --dry-run
	mends "dry run" dry-run note ""
	is "it drops" "$(baleen status -j veth-b | jq '.[0].dry_run')" false
	BALEEN=$NEXT mends "another release's program" release note ok
	check "detach" in_ns "$B" "$NEXT" detach veth-b
}

try_damage()
{
	local id

	check "attach" baleen attach veth-b --drop listed
	id=$(xdp_id "$B" veth-b)
	is "a map as it should be" "$(level rules)" ""
	# shellcheck disable=SC2046 # words
	check "a damaged map" bpftool map update pinned /sys/fs/bpf/baleen/ns*/"$id"/rule0 \
		key 0 0 0 0 value $(printf '0 %.0s' {1..64})
	is "is told" "$(level rules)" problem
	is "with what to do" "$(command_of rules)" "baleen swap veth-b:listed LIST"
	check "which mends it" baleen swap veth-b:listed listed
	is "it is as it should be" "$(level rules)" ""
	check "detach" baleen detach veth-b
}

# --- mode -----------------------------------------------------------------

try_mode()
{
	check "attach, generic as asked for" baleen attach veth-b --drop listed --mode generic
	mends "generic as asked for" mode note ok
	in_force "generic as asked for"
	is "generic as asked for: native" "$(xdp_mode "$B" veth-b)" native
	check "detach" baleen detach veth-b

	# A veth has no native XDP for fewer queues than its peer sends by.
	ip -n "$A" link add name veth-q numtxqueues 2 type veth peer name veth-r netns "$B" \
		numrxqueues 2 && in_ns "$A" ethtool -L veth-q tx 2 && ip -n "$A" link set veth-q up &&
		ip -n "$B" link set veth-r up || bail "no second pair"
	DEVICE=veth-r
	is "one queue of two" "$(level queues)" note
	check "attach falls back" baleen attach veth-r --drop listed
	is "to generic" "$(xdp_mode "$B" veth-r)" generic
	is "the driver has nothing better, as it is" "$(level mode)" note
	mends "one queue of two" queues note ok
	mends "a fallback" mode problem ok
	is "a fallback: native" "$(xdp_mode "$B" veth-r)" native
	check "detach" baleen detach veth-r
	DEVICE=veth-b
}

try_mtu()
{
	check "a jumbo MTU" ip -n "$B" link set veth-b mtu 9000
	is "veth takes it" "$(level mtu) $(text mtu)" \
		"ok 9000 bytes: the driver takes frames of several buffers"
	is "natively" "$(level mode)" ok
	check "back" ip -n "$B" link set veth-b mtu 1500
}

# --- other programs -------------------------------------------------------

try_others()
{
	check "another program" ip -n "$B" link set dev veth-b xdp obj "$OBJECT" sec xdp
	mends "another program" other-xdp problem ok
	check "another program, generic" ip -n "$B" link set dev veth-b xdpgeneric obj "$OBJECT" sec xdp
	mends "another program, generic" other-xdp problem ok

	check "attach" baleen attach veth-b --drop listed
	check "its link, pinned elsewhere" bpftool link pin \
		id "$(bpftool -j link show pinned /sys/fs/bpf/baleen/ns*/link | jq .id)" /sys/fs/bpf/other
	check "and forgotten here" rm -r /sys/fs/bpf/baleen
	mends "another's link" other-xdp problem ok
	rm /sys/fs/bpf/other

	mkfifo hold there
	in_ns "$B" "$ROOT/build/tools/tcx" veth-b <hold >there &
	exec 4>hold
	if read -r <there; then
		is "a tcx program" "$(level tc) $(text tc | cut -d : -f 1)" \
			"note 0 tc filters and 1 tcx programs look at what is received"
	else
		skip "a tcx program" "this kernel has no tcx"
	fi
	exec 4>&-
	wait
	is "is gone" "$(level tc)" ok
}

# --- what the driver does -------------------------------------------------

try_offloads()
{
	check "attach, generic" baleen attach veth-b --drop listed --mode generic
	check "GRO" in_ns "$B" ethtool -K veth-b gro on
	mends "GRO" gro note ok
	check "GRO again" in_ns "$B" ethtool -K veth-b gro on
	check "detach" baleen detach veth-b
	check "attach" baleen attach veth-b --drop listed
	is "GRO behind native XDP" "$(level gro) $(text gro)" \
		"ok the kernel merges packets behind native XDP"
	check "tags are taken off" in_ns "$B" ethtool -K veth-b rxvlan on
	is "no rule asks for one" "$(level rxvlan)" ok
	check "a rule asks" baleen rule add veth-b --drop tagged=listed vlan 7
	mends "tags are taken off" rxvlan problem ok
	check "promiscuous" ip -n "$B" link set veth-b promisc on
	mends "promiscuous" promiscuous note ok
	check "detach" baleen detach veth-b
}

# --- host -----------------------------------------------------------------

try_host()
{
	local daemon

	check "attach" baleen attach veth-b --drop listed
	mkdir -p "$(kept_of "$B")/veth-b"
	echo 'not a database, but long enough to be taken for one' >"$(kept_of "$B")/veth-b/state.db"
	is "a damaged state" "$(level state)" problem
	rm -r state

	check "a disk of 1 MB" mount -t tmpfs -o size=1m,X-mount.mkdir small state
	is "is too small" "$(level space)" problem
	check "what looks for more" sh -c "$(command_of space)"
	umount state
	check "a disk that is read only" mount -t tmpfs -o ro,X-mount.mkdir small state
	mends "read only" space problem ok
	umount state
	rmdir state

	try_daemon
	try_fleet
	check "detach" baleen detach veth-b
}

# What speaks with other hosts is tried in tests/fleet/silent.sh.
try_fleet()
{
	local -x BALEEN_CONF_DIR=$TMP/etc

	mkdir -p etc
	is "a host in no fleet has none" "$(level fleet)" ""
	echo "fleet prod" >etc/fleet.conf
	is "a fleet.conf that is not right" "$(level fleet) $(text fleet | cut -d: -f2-)" \
		"problem $("$BALEEN" fleet status 2>&1 | cut -d: -f3-)"
	printf '%s\n' "fleet prod" "host web1" "server redis.example.net:6379" "key $TMP/etc/key" \
		"policy $TMP/etc/policy $TMP/etc/policy.pub" >etc/fleet.conf
	is "a host that has heard nothing" "$(level fleet) $(text fleet)" \
		"problem this host has heard nothing of prod yet: baleend runs what speaks with the others"
}

# start_in NAMESPACE DEVICE: a baleend, until it is the one of its namespace
start_in()
{
	nsenter --net="/run/netns/$1" -- "$ROOT/build/baleend" --listen off --no-drops \
		2>>baleend.log &
	daemon=$!
	until in_ns "$1" "$BALEEN" doctor -j "$2" 2>/dev/null | grep -q '"baleend is running"'; do
		kill -0 "$daemon" || bail "baleend ends: $(<baleend.log)"
	done
}

# The one of this namespace is asked for, whatever others are called.
try_daemon()
{
	local daemon other

	start_in "$A" veth-a
	other=$daemon
	is "a daemon of another namespace is none" "$(level daemon) $(text daemon)" \
		"ok baleend is not running, and there is nothing for it to do"
	start_in "$B" veth-b
	is "the daemon" "$(level daemon) $(text daemon)" "ok baleend is running"
	kill -KILL "$daemon"
	wait "$daemon" 2>/dev/null
	is "one that was killed is none" "$(level daemon) $(text daemon)" \
		"ok baleend is not running, and there is nothing for it to do"
	kill "$other"
	wait "$other"
}

# Work for a daemon, where there is none.
try_ends()
{
	check "attach by hand" baleen attach veth-b --drop bad=listed
	is "which has nothing for it" "$(level daemon)" ok
	check "an entry with an end" baleen add veth-b:bad 192.0.2.9 --ttl 1h
	is "has" "$(level daemon) $(text daemon)" "note baleend is not running: entries stay in force \
after their end, until the next command that changes the device"
	check "detach" baleen detach veth-b
	printf "%s\n" "rule jail drop" bans "rule flood drop limit 1000000/s ban 10m" any >conf/veth-b.conf
	check_status "apply" 3 baleen apply veth-b
	is "a limit and a configuration have, too" "$(level daemon) $(text daemon)" "note baleend is not \
running: limits ban nobody, feeds are not looked for, a device that comes again has no filter"
	check "forget it" baleen detach --forget --entries veth-b
	rm conf/veth-b.conf
}

make_list listed 10 10 601
OBJECT=$TMP/object.bpf.o
check "an object" "$BALEEN" compile -o "$OBJECT" listed
DEVICE=veth-b
try_refused
try_sound
try_versions
try_privileges
try_bpffs
try_out_of_force
try_state
try_policy
try_damage
try_mode
try_mtu
try_others
try_offloads
try_host
try_ends
