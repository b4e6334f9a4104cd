#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen icp attach`, `status` and `detach` on devices: what is refused leaves nothing;
# what is attached is told, with what has become of it when others took it off; and what
# is detached leaves neither pins nor a clsact, unless that was there before.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
cd "$TMP" || exit 2

PINS=/sys/fs/bpf/baleen-icp
VETH="baleen: veth-b: generic, since answers of a native program are lost on a veth unless \
its other end has an XDP program: --mode native tries that"

# baleen ARGUMENT...: in the namespace that receives
baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# left: what there is of an instance: pins, programs of XDP, qdiscs and filters of tc
left()
{
	local device

	{
		find "$PINS" -mindepth 1 -printf '%P\n' 2>/dev/null
		for device in veth-b lo; do
			in_ns "$B" ip link show dev "$device" 2>/dev/null | grep -o 'prog/xdp'
			in_ns "$B" tc qdisc show dev "$device" 2>/dev/null | grep -o clsact
			in_ns "$B" tc filter show dev "$device" egress 2>/dev/null
		done
	} | paste -sd ' '
}

# nothing NAME
nothing()
{
	is "$1 leaves nothing" "$(left)" ""
}

# refused NAME MESSAGE ARGUMENT...: attach fails so, and leaves nothing
refused()
{
	refuses "$1" "$2" baleen icp attach "${@:3}"
	nothing "$1"
}

# status PATH...: values of the first device
status()
{
	local path

	baleen icp status -j >"$TMP/json" 2>"$TMP/err"
	for path in "$@"; do
		json "$TMP/json" "[0]$path"
	done | paste -sd ' '
}

# says NAME STATUS PATTERN ARGUMENT...: ends so, and a line is like that
says()
{
	local status

	baleen "${@:4}" >"$TMP/said" 2>&1
	status=$?
	is "$1" "$status $(grep -c "$3" "$TMP/said")" "$2 1"
}

# --- refused ---

ASK=(--asker 10.66.0.0/24)
FED=(--sibling "s=10.66.0.2,feeder=10.66.0.2" "${ASK[@]}" --feed 3131)

printf 'http://10.66.0.2/obj/%d\n' {1..100} >urls.txt
printf '192.0.2.1\n' >hosts.txt
check "an image of addresses" "$BALEEN" build -o hosts.bln hosts.txt
check "an image that is fixed" "$BALEEN" build --key squid --kind classic --hash squid \
	--fpp 0.01 -o classic.bln urls.txt
check "one with a stash" "$BALEEN" build --key squid --slot-bits 64 --stash -o stash.bln urls.txt
check "one of narrow slots" "$BALEEN" build --key squid --slot-bits 16 -o narrow.bln urls.txt
check "one that counts" "$BALEEN" build --key squid --kind counting --hash squid --fpp 0.001 \
	-o counting.bln urls.txt
check "a set" "$BALEEN" build --key squid --capacity 1000 --slot-bits 64 -o set.bln urls.txt
printf 'no image at all, and no list of URLs: \1\2\3\n' >garbage

# one IMAGE [PART...]: arguments for a sibling that has it
one() { echo veth-b --sibling "s=10.66.0.2,image=$1$(printf ',%s' "${@:2}")"; }

refused "no such device" "none9: no such device" none9 "${FED[@]}"
refused "no such device for the feed" "none9: no such device" veth-b "${FED[@]}" --feed none9:3131
refused "no such image" "absent.bln: No such file or directory" \
	veth-b --sibling s=10.66.0.2,image=absent.bln "${ASK[@]}"
refused "an image of addresses" "hosts.bln: its keys are no objects of Squid: build it with \
--key squid" veth-b --sibling s=10.66.0.2,image=hosts.bln "${ASK[@]}"
refused "a fixed image that is fed" \
	"classic.bln: kind classic cannot follow a feed: counting and cuckoo can" \
	veth-b --sibling s=10.66.0.2,image=classic.bln,feeder=10.66.0.2 "${ASK[@]}" --feed 3131
for image in stash narrow; do
	refused "a fed image: $image" "$image.bln: only a cuckoo table of 64-bit slots, four a \
bucket and without a stash, can follow a feed" veth-b \
		--sibling "s=10.66.0.2,image=$image.bln,feeder=10.66.0.2" "${ASK[@]}" --feed 3131
done
refused "two feeders of a set" "set.bln: only kind counting can follow several feeders" veth-b \
	--sibling s=10.66.0.2,image=set.bln,feeder=10.66.0.2,feeder=10.66.0.3 "${ASK[@]}" --feed 3131
refused "two feeders of an empty set" "sibling 's': only kind counting can follow several feeders" \
	veth-b --sibling s=10.66.0.2,feeder=10.66.0.2,feeder=10.66.0.3 "${ASK[@]}" --feed 3131
check_status "a list of something else" 1 baleen icp attach veth-b \
	--sibling s=10.66.0.2,image=garbage "${ASK[@]}"
nothing "a list of something else"

check "another program to be there" "$BALEEN" compile -o "$TMP/object.o" hosts.txt
OBJECT=$TMP/object.o
for device in veth-b lo; do
	check "it is put on $device" ip -n "$B" link set dev "$device" xdpgeneric obj "$OBJECT" sec xdp
	baleen icp attach veth-b "${FED[@]}" --feed lo:3131 >"$TMP/out" 2>"$TMP/err"
	is "$device is busy" "$? $(sed 's/(id [0-9]*/(id N/; s/program .[a-z_]*. /program /' "$TMP/err")" \
		"1 baleen: $device runs the XDP program (id N, generic) already, and there is room for \
one: detach it first"
	check "it is taken off $device" ip -n "$B" link set dev "$device" xdpgeneric off
	nothing "a busy $device"
done
check "rules are put on" baleen attach veth-b --drop hosts.txt
baleen icp attach veth-b "${FED[@]}" >"$TMP/out" 2>"$TMP/err"
is "rules are there, in native mode" "$? $(head -n 1 "$TMP/err")" \
	"0 baleen: warning: veth-b: its filter is native, and answers of a native program are lost on \
a veth unless its other end has an XDP program: attach the filter with --mode generic"
check "rules are taken off, and what is behind them" baleen detach veth-b
nothing "a device with rules"

refuses "status of what is not there" "nothing answers ICP on veth-b: 'baleen icp attach' does" \
	baleen icp status veth-b
refuses "detach of what is not there" "nothing answers ICP on veth-b: 'baleen icp attach' does" \
	baleen icp detach veth-b
refuses "status of no device" "none9: no such device" baleen icp status none9
refuses "detach of no device" "none9: no such device" baleen icp detach none9
prints "status of none" "nothing answers ICP in this network namespace" baleen icp status
prints "status of none in JSON" "[]" baleen icp status -j
prints "none is gone" "" baleen icp detach --gone

# --- one that is fed where it is asked ---

expect "attach" 0 "veth-b: attached, generic: degraded, behind the driver, port 3130, fed at veth-b:3131
  s            10.66.0.2, confirm: 0 entries, cuckoo, false positive rate 0, 10.7 MB; fed by 10.66.0.2" \
	"$VETH
baleen: warning: veth-b:s starts empty: what its cache has already is a miss, until 'baleen icp resync'" \
	baleen icp attach veth-b "${FED[@]}"
is "it is in force" "$(status .state .enforced .mode .generation .feed.device .feed.attached)" \
	"attached true generic 0 veth-b true"
is "its sibling" "$(status .siblings[0].{name,address,mode,feeders[0],entries,fresh,synced_ms})" \
	"s 10.66.0.2 confirm 10.66.0.2 0 false null"
is "its feeder" "$(status .feeders[0].{address,heard_ms,inserts,lost})" "10.66.0.2 null 0 0"
refuses "a second one" "veth-b answers ICP already: 'baleen icp detach veth-b' takes it off, \
'baleen icp resync' changes a filter" baleen icp attach veth-b "${FED[@]}"
baleen attach veth-b --drop hosts.txt >"$TMP/out" 2>"$TMP/err"
is "no rules beside it" "$? $(sed 's/(id [0-9]*/(id N/' "$TMP/err")" \
	"1 baleen: veth-b runs the XDP program 'baleen_icp' (id N, generic) already: 'baleen icp detach \
veth-b' takes it off"
prints "plain status tells" "veth-b: answers ICP for 1 sibling: 'baleen icp status' tells more" \
	baleen status
check "and in JSON" baleen status -j
is "with what each device has" "$(jq -c . "$TMP/out")" '[{"device":"veth-b","state":"attached",'\
'"enforced":true,"rules":[],"icp":{"port":3130,"siblings":["s"]}}]'
is "a reader that knows of filters only goes on" "$(jq -c \
	'[[.[] | .rules[] | .packets], all(.[]; .enforced)]' "$TMP/out")" '[[],true]'
refuses "status of a filter that is not there" \
	"veth-b has no filter; it answers ICP queries: see 'baleen icp status veth-b'" \
	baleen status veth-b
refuses "nor to be taken off" \
	"veth-b has no filter; it answers ICP queries: 'baleen icp detach veth-b' ends that" \
	baleen detach veth-b
check "rules on another device" baleen attach lo --drop hosts.txt
check "status of both" baleen status -j
is "the filter comes first" "$(jq -c 'map([.device, has("mode") or has("requested_mode"), has("icp")])' \
	"$TMP/out")" '[["lo",true,false],["veth-b",false,true]]'
check "they are taken off" baleen detach lo
prints "detach" "veth-b: detached" baleen icp detach veth-b
nothing "detach"

# --- all that there is: two siblings, a feed on lo, one observed ---

ALL=(veth-b --sibling "s=10.66.0.2,mode=observe,image=counting.bln,feeder=10.66.0.2"
	--sibling "t=fd66::2,mode=confirm,image=classic.bln" --sibling "p=10.66.0.9,mode=answer,image=urls.txt"
	--asker "10.66.0.0/24,fd66::/64" --feed lo:3131 --stale never --port 3133)

check "attach all" baleen icp attach "${ALL[@]}" -j
is "it says what it did in JSON" "$(for path in .device .mode .port .feed.device .feed.port .stale_ms \
	.siblings[1].name .siblings[1].mode .siblings[2].entries; do
	json "$TMP/out" "$path"
done | paste -sd ' ')" "veth-b generic 3133 lo 3131 0 t confirm 100"
is "and that it is generic" "$(<"$TMP/err")" "$VETH"
is "all in force" "$(status .enforced .port .feed.device .feed.attached .switching .stale_ms)" \
	"true 3133 lo true false 0"
is "modes" "$(status .siblings[0].mode .siblings[1].mode .siblings[2].mode)" "observe confirm answer"
is "addresses" "$(status .siblings[0].address .siblings[1].address)" "10.66.0.2 fd66::2"
is "entries" "$(status .siblings[0].entries .siblings[1].entries .siblings[2].entries)" "100 100 100"
is "all fresh" "$(status .siblings[0].fresh .siblings[1].fresh .siblings[2].fresh)" "true true true"
says "what was agreed is told of who is observed" 0 "^        agreed: 0 hits, 0 misses" \
	icp status veth-b
check "tc has it" grep -q baleen_icp_egre <(in_ns "$B" tc filter show dev veth-b egress)

baleen icp attach lo --sibling u=127.0.0.1,image=urls.txt --asker 127.0.0.0/8 >"$TMP/out" 2>"$TMP/err"
is "no other instance where the feed comes in" "$? $(sed 's/(id [0-9]*/(id N/' "$TMP/err")" \
	"1 baleen: lo runs the XDP program 'baleen_icp_feed' (id N, generic) already, and there is \
room for one: 'baleen icp detach veth-b' takes it off"
baleen attach lo --drop hosts.txt >"$TMP/out" 2>"$TMP/err"
is "nor rules" "$? $(sed 's/(id [0-9]*/(id N/' "$TMP/err")" \
	"1 baleen: lo runs the XDP program 'baleen_icp_feed' (id N, generic) already, for another \
device that answers ICP: 'baleen icp status' says which"
prints "detach all" "veth-b: detached" baleen icp detach veth-b
nothing "detach of all"

# --- two instances ---

says "one on veth-b goes stale, which is said" 0 \
	"^baleen: warning: veth-b:s has no feeder and goes stale in 30s" \
	icp attach veth-b --sibling s=10.66.0.2,image=set.bln "${ASK[@]}"
check "one on lo" baleen icp attach lo --sibling s=127.0.0.1,image=set.bln --asker 127.0.0.0/8
is "both are told" "$(baleen icp status -j | jq -r '[.[].device] | sort | join(" ")')" "lo veth-b"
prints "one is taken off" "lo: detached" baleen icp detach lo
is "the other goes on" "$(status .device .enforced)" "veth-b true"
prints "and is taken off" "veth-b: detached" baleen icp detach veth-b
nothing "detach of both"

# --- what others do ---

check "a clsact of another" in_ns "$B" tc qdisc add dev veth-b clsact
check "attach beside it" baleen icp attach "${ALL[@]}"
check "detach" baleen icp detach veth-b
is "the clsact stays" "$(left)" clsact
check "it is taken away" in_ns "$B" tc qdisc del dev veth-b clsact

check "attach, and then a filter of another" baleen icp attach "${ALL[@]}"
check "there is one" in_ns "$B" tc filter add dev veth-b ingress bpf \
	bytecode "1,6 0 0 4294967295" flowid 1:1
check "detach" baleen icp detach veth-b
is "its clsact stays" "$(left)" clsact
check "it is taken away" in_ns "$B" tc qdisc del dev veth-b clsact

check "attach again" baleen icp attach "${ALL[@]}"
check "somebody takes the filter out of tc" in_ns "$B" tc filter del dev veth-b egress
is "nothing is observed" "$(status .state .enforced)" "attached false"
says "which is a failure" 1 "^  NOT OBSERVED: " icp status
check "detach" baleen icp detach veth-b
nothing "detach without tc"

check "attach, to be renamed" baleen icp attach "${ALL[@]}"
check "down" ip -n "$B" link set dev veth-b down
check "renamed" ip -n "$B" link set dev veth-b name other
is "it has the other name" "$(status .device .device_at_attach .enforced)" "other veth-b true"
prints "and is taken off by it" "other: detached" baleen icp detach other
check "renamed back" ip -n "$B" link set dev other name veth-b
check "up" ip -n "$B" link set dev veth-b up
nothing "a device with another name"

check "a device to go" ip -n "$B" link add gone0 type veth peer name gone1
check "attach to it" baleen icp attach gone0 --sibling s=10.66.0.2,feeder=10.66.0.2 "${ASK[@]}" \
	--feed lo:3131
check "it goes" ip -n "$B" link del gone0
is "it is gone" "$(status .device .state .enforced .feed.attached)" "gone0 gone false true"
says "which is a failure" 1 "^gone0: NOT IN FORCE: device [0-9]* is gone; " icp status
prints "it is taken off by the name it had" "gone0: detached" baleen icp detach gone0
nothing "a device that is gone"

check "a device to go again" ip -n "$B" link add gone0 type veth peer name gone1
check "attach to it" baleen icp attach gone0 --sibling s=10.66.0.2,image=set.bln "${ASK[@]}"
check "it goes" ip -n "$B" link del gone0
says "what is gone is forgotten" 0 '^gone0: forgotten (namespace [0-9]*)$' icp detach --gone
nothing "what was forgotten"

check "a device for the feed" ip -n "$B" link add feed0 type veth peer name feed1
check "attach, fed by it" baleen icp attach veth-b "${FED[@]}" --feed feed0:3131
is "it is heard" "$(status .enforced .feed.device .feed.attached)" "true feed0 true"
check "it goes" ip -n "$B" link del feed0
is "nobody is heard any more" "$(status .enforced .feed.device .feed.attached)" "false feed0 false"
says "which is a failure" 1 "^  feed at feed0:3131: NOT HEARD: " icp status
prints "detach" "veth-b: detached" baleen icp detach veth-b
nothing "a feed that is gone"

# --- native where it is asked for ---

check "attach native" baleen icp attach veth-b "${FED[@]}" --mode native
is "it is native" "$(xdp_mode "$B" veth-b) $(status .mode)" "native native"
check "detach native" baleen icp detach veth-b
nothing "native"

# --- JSON is what the page says ---

# documented VERB: `MEMBER TYPE` of each in the page, in order
documented()
{
	awk -v verb="$1" '/^\.S[sh] / { here = $2 == verb } here && /^\.It Cm .* Pq / {
		sub(/^\.It Cm /, ""); split($0, part, / Pq /); n = split(part[1], name, / , /)
		m = split(part[2], type, / or /)
		for (i = 1; i <= n; i++) for (k = 1; k <= m; k++) print name[i], type[k]
	}' "$ROOT/user/man/baleen-icp.8" | sort -u
}

# members FILE...: the same of documents
members()
{
	jq -r 'paths as $p | getpath($p) as $v |
		($p | map(if type == "number" then "[]" else "." + . end) | join("") | ltrimstr(".")) +
		" " + ($v | type)' "$@" | grep -v '\[\] ' | sort -u
}

# of_filter VERB PREFIX: members that the page leaves to `baleen info -j`
of_filter()
{
	members filters | sed -n "s/^\\[\\]\\./$2/p" | grep -Fvxf <(documented "$1")
}

# same VERB PREFIX FILE...: what the page says is what comes, but for what is of a filter
same()
{
	is "the JSON of icp $1" "$(members "${@:3}" | grep -Fvxf <(of_filter "$1" "$2"))" \
		"$(documented "$1")"
}

key=$(printf '\1http://10.66.0.2/obj/1' | md5sum | cut -c1-32 | tr a-f A-F)
printf '%s\n' "KEY $key" "	STORE_OK      IN_MEMORY     SWAPOUT_DONE PING_NONE" \
	"	DISPATCHED,VALIDATED" "	LV:1 LU:1 LM:1 EX:-1" "	0 locks, 0 clients, 1 refs" \
	"	Swap Dir 0, File 0X00003B" "	GET http://10.66.0.2/obj/1" "" >objects.txt
printf '1700000000.001 SWAPOUT 00 00000001 %s  200 1700000000 -1 -1 text/plain 1/1 GET %s\n' \
	"$key" http://10.66.0.2/obj/1 >store.log
"$BALEEN" info -j counting.bln set.bln classic.bln >filters

# Not by in_ns: what finish kills is the server itself then, not the shell that waits for it.
nsenter --net="/run/netns/$B" -- "$BALEEN" icp serve --listen 0 -j classic.bln >served 2>/dev/null &
for ((i = 0; i < 1200; i++)); do
	[ ! -s served ] || break
	sleep 0.05
done
same serve "" served
check "a digest" in_ns "$B" curl -s -o one.digest "$(jq -r .url served)"

for source in objects.txt store.log one.digest; do
	check "an image of $source" "$BALEEN" icp seed -j -o seeded.bln "$source"
	cp "$TMP/out" "seed.$source"
done
same seed "" seed.*

check "attach" baleen icp attach -j veth-b --sibling s=10.66.0.2,image=counting.bln,feeder=10.66.0.2 \
	--sibling t=10.66.0.3,address=fd66::3,image=set.bln "${ASK[@]}" --feed 3131
cp "$TMP/out" attach.one
check "attach where native does not go" baleen icp attach -j lo --sibling s=127.0.0.1,image=set.bln \
	"${ASK[@]}"
cp "$TMP/out" attach.two
same attach 'siblings[].' attach.*

check "resync" baleen icp resync -j veth-b:s store.log
cp "$TMP/out" resync.json
is "the JSON of icp resync" "$(members resync.json)" \
	"$(documented resync | grep -v '^unsettled ')" # of which there are none

check "detach" baleen icp detach -j lo
cp "$TMP/out" detach.one
check "and the other" baleen icp detach veth-b
check "a device to go" ip -n "$B" link add gone0 type veth peer name gone1
check "attach to it" baleen icp attach gone0 --sibling s=10.66.0.2,image=set.bln "${ASK[@]}"
check "it goes" ip -n "$B" link del gone0
check "it is forgotten" baleen icp detach --gone -j
cp "$TMP/out" detach.gone
same detach "" detach.*

# --- no room on bpffs is no success ---

check "a bpffs that others may read" chmod 0755 /sys/fs/bpf
mkdir "$PINS" 2>/dev/null
check "a directory of others" chown 65534 "$PINS"
refuses "pins that are not root's" "$PINS is not root's alone: remove it first" \
	baleen icp attach veth-b "${FED[@]}"
chown 0 "$PINS"
