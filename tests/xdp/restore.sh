#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What is saved comes back as one thing, or not at all.
#
# Every refused restore is followed by a look at the device: it enforces what
# it did before. Every refused save is followed by a look at the directory.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair

VERDICT=$ROOT/build/tools/verdict
N_RESTORES=40
ASKED=(192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.9 198.51.100.7 2001:db8::1 2001:db8::2 2001:db8::3
	203.0.113.1 203.0.113.9 2001:db8:7::1 2001:db8:7::9)
# Room in tables is made anew.
# shellcheck disable=SC2016 # of jq
UNCOUNTED='.[0] | [ .device_at_attach, .requested_mode, .default, .dry_run, .sample.rate,
	[.rules[] | del(.packets, .packet_bytes, .feeds, .origins, .bytes, .tables)] ]'

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# state: what veth-b enforces, but for what it has counted
state()
{
	baleen status -j veth-b | jq -c "$UNCOUNTED"
	in_ns "$B" "$VERDICT" veth-b "${ASKED[@]}"
}

# beside DIR: everything in the directory of DIR, hidden files too
beside() { ls -A "$(dirname "$1")" 2>&1; }

# contents DIR: names, modes and bytes
contents() { (cd "$1" && stat -c '%a %n' -- . * && md5sum -- *) 2>&1; }

# --- round trip -----------------------------------------------------------

# The rules that are saved: each action, each qualifier, both families, prefixes
# with exceptions, and a default that only an allow-list survives.
attach_rules()
{
	baleen attach veth-b --force "$@" --allow "good=$TMP/good" \
		--drop "bad=$TMP/bad" proto tcp dport 22,80-90 tcp-syn \
		--count "seen=$TMP/seen" vlan 7 --drop "plain=$TMP/plain" \
		--default drop --sample 100/s
}

make_rules()
{
	printf '%s\n' 192.0.2.1 192.0.2.2 2001:db8::1 203.0.113.0/24 '!203.0.113.9' 2001:db8:7::/48 \
		'!2001:db8:7::9' >"$TMP/good"
	printf '%s\n' 192.0.2.2 192.0.2.3 2001:db8::2 >"$TMP/bad"
	printf '%s\n' 198.51.100.7 2001:db8::3 >"$TMP/seen"
	printf '%s\n' 192.0.2.9 192.0.2.1 >"$TMP/plain"
}

try_round_trip()
{
	local saved=$TMP/all/saved want counted

	mkdir "$TMP/all"
	check "attach" attach_rules
	want=$(state)
	is "the allow-list passes, all else is dropped" "$(tail -n 1 <<<"$want")" PPDDDPDDPDPD
	prints "save" "veth-b: saved 4 rules to $saved" baleen save veth-b -o "$saved"
	is "a configuration, copies of feeds, and the manifest" "$(cd "$saved" && stat -c '%a %n' -- . *)" \
		$'700 .\n600 bad.2\n600 device.conf\n600 good.1\n600 plain.4\n600 saved.json\n600 seen.3'
	is "nothing beside" "$(beside "$saved")" saved
	is "as they were listed" "$(for i in good.1 bad.2 seen.3 plain.4; do
		cmp "$saved/$i" "$TMP/${i%.*}"; done)" ""
	is "and as config prints it" "$(tr -s ' \t' ' ' <"$saved/device.conf")" "$(baleen config veth-b | tr -s ' \t' ' ')"

	counted=$(baleen status -j veth-b | jq '.[0].rules[0].packets')
	prints "restore over itself" "veth-b: restored 4 rules, updated, native" \
		baleen restore --force veth-b "$saved"
	is "changes no counter" "$(baleen status -j veth-b | jq '.[0].rules[0].packets')" "$counted"
	is "and nothing else" "$(state)" "$want"
	check "twice" baleen restore --force veth-b "$saved"
	is "is the same" "$(state)" "$want"

	check "turn the policy" baleen policy veth-b --default pass --dry-run --no-sample
	check "turn the order" baleen rule move veth-b:good --last
	check "delete a rule" baleen rule del veth-b:plain
	check "turn the allow-list into a drop-list" sh -c \
		"nsenter --net=/run/netns/$B $BALEEN rule del veth-b:good &&
		nsenter --net=/run/netns/$B $BALEEN rule add veth-b --first --drop good=$TMP/good --force"
	is "all is other now" "$([ "$(state)" = "$want" ] || echo other)" other
	check "restore" baleen restore --force veth-b "$saved"
	is "brings back everything" "$(state)" "$want"

	check "detach" baleen detach veth-b
	is "is off" "$(xdp_mode "$B" veth-b)" off
	prints "restore attaches" "veth-b: restored 4 rules, attached, native" \
		baleen restore --force veth-b "$saved"
	is "brings back everything again" "$(state)" "$want"
	prints "save -j" "[\"veth-b\",\"$TMP/all/again\",[\"good\",\"bad\",\"seen\",\"plain\"]]" \
		sh -c "nsenter --net=/run/netns/$B $BALEEN save -j veth-b -o $TMP/all/again |
			jq -c '[.device, .directory, .rules]'"
	is "saved again it is the same" "$(contents "$TMP/all/again")" "$(contents "$saved")"
	rm -r "$TMP/all/again"

	prints "another device" '["veth-a","veth-b","attached",4,"native",false,false]' \
		sh -c "nsenter --net=/run/netns/$A $BALEEN restore -j --force veth-a $saved |
			jq -c '[.device, .device_at_save, .how, .rules, .mode, .degraded, .dry_run]'"
	is "enforces the same" "$(in_ns "$A" "$VERDICT" veth-a "${ASKED[@]}")" PPDDDPDDPDPD
	check "detach that" in_ns "$A" "$BALEEN" detach veth-a
}

try_modes()
{
	local generic=$TMP/all/generic

	check "detach" baleen detach veth-b
	check "attach generic, dry run" attach_rules --mode generic --dry-run
	check "save generic" baleen save veth-b -o "$generic"
	check "detach generic" baleen detach veth-b
	prints "restore in the saved mode" "veth-b: restored 4 rules, attached, generic: degraded, \
behind the driver, DRY RUN: drops nothing" baleen restore --force veth-b "$generic"
	is "generic" "$(xdp_mode "$B" veth-b)" generic
	check "detach generic again" baleen detach veth-b
	check "restore in another mode" baleen restore --force --mode native veth-b "$generic"
	is "native" "$(xdp_mode "$B" veth-b)" native
	refuses "a mode that it is not attached in" "veth-b: is attached native, and mode generic is asked \
for: 'baleen detach veth-b' first" baleen restore --force veth-b "$generic"
	prints "unless any will do" "veth-b: restored 4 rules, updated, native, DRY RUN: drops \
nothing" baleen restore --force --mode auto veth-b "$generic"
	check "back to what was saved first" baleen restore --force veth-b "$TMP/all/saved"
	rm -r "$generic"
}

place() { baleen status -j veth-b | jq -r '.[0].place'; }

try_places()
{
	local netlink=$TMP/all/netlink

	check "detach" baleen detach veth-b
	check "attach without a link" attach_rules --no-link
	check "save that" baleen save veth-b -o "$netlink"
	refuses "a place that it is not in" "veth-b: is attached by netlink, and link is asked for: \
'baleen detach veth-b' first" baleen restore --force veth-b "$TMP/all/saved"
	check "the place that it is in" baleen restore --force veth-b "$netlink"
	check "detach that" baleen detach veth-b
	check "restore without a link" baleen restore --force veth-b "$netlink"
	is "there is none" "$(place)" netlink
	check "detach that again" baleen detach veth-b
	check "restore with a link" baleen restore --force veth-b "$TMP/all/saved"
	is "there is one" "$(place)" link
	rm -r "$netlink"
}

# Without --force the host does not cut itself off.
try_guard()
{
	local want=$TMP/all/cut

	printf '%s\n' 10.66.0.2 >"$TMP/own"
	check "detach" baleen detach veth-b
	check "attach what cuts off" baleen attach veth-b --force --drop "own=$TMP/own"
	check "save it" baleen save veth-b -o "$want"
	check "detach it" baleen detach veth-b
	refuses "restore what cuts off" "veth-b: rule 'own' would drop 10.66.0.2, address of veth-b
baleen: veth-b: nothing changed, since this host would cut itself off (--force does it)" \
		baleen restore veth-b "$want"
	is "nothing is attached" "$(xdp_mode "$B" veth-b)" off
	rm -r "$want"
	check "back" baleen restore --force veth-b "$TMP/all/saved"
}

# --- refused directories --------------------------------------------------

# damaged NAME MESSAGE COMMAND...: a copy, after the command in it, is refused
damaged()
{
	rm -rf "$TMP/d"
	cp -a "$TMP/all/saved" "$TMP/d"
	(cd "$TMP/d" && "${@:3}") || bail "$1: cannot be tried"
	refuses "$1" "$2" baleen restore --force veth-b "$TMP/d"
	is "$1: what was in force is" "$(state)" "$want"
}

# edit FILTER: the manifest by hand
edit() { jq "$1" saved.json >"$TMP/edited" && cp "$TMP/edited" saved.json; }
exchange() { mv "$1" "$TMP/x" && mv "$2" "$1" && mv "$TMP/x" "$2"; }
# flip FILE OFFSET: one bit
flip()
{
	printf '%b' "\\x$(printf %x $(($(od -An -tu1 -j "$2" -N 1 "$1") ^ 1)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

try_damage()
{
	local want d=$TMP/d by_hand

	by_hand="$d/saved.json: its checksum does not match: damaged, or changed by hand"
	want=$(state)
	damaged "exchanged copies" "$d/good.1: is not what was saved" exchange good.1 bad.2
	damaged "a copied copy" "$d/bad.2: is not what was saved" cp good.1 bad.2
	damaged "a renamed copy" "$d/goof.1: is no part of what was saved" mv good.1 goof.1
	damaged "a missing copy" "$d/good.1: No such file or directory" rm good.1
	damaged "a missing manifest" "$d/saved.json: No such file or directory" rm saved.json
	damaged "a missing configuration" "$d/device.conf: No such file or directory" rm device.conf
	damaged "a file too many" "$d/more.1: is no part of what was saved" cp good.1 more.1
	damaged "a directory too many" "$d/x: is no part of what was saved" mkdir x
	damaged "a truncated copy" "$d/good.1: is not what was saved" truncate -s -4 good.1
	damaged "an empty copy" "$d/good.1: is not what was saved" truncate -s 0 good.1
	damaged "a longer copy" "$d/good.1: is not what was saved" sh -c 'echo >>good.1'
	damaged "a flipped bit" "$d/good.1: is not what was saved" flip good.1 10
	damaged "a copy that is a link" "$d/good.1: Too many levels of symbolic links" \
		sh -c 'mv good.1 ../good.1 && ln -s ../good.1 good.1'
	damaged "a copy that is a pipe" "$d/good.1: not a regular file" sh -c 'rm good.1 && mkfifo good.1'
	damaged "a manifest that is a pipe" "$d/saved.json: not a regular file" \
		sh -c 'rm saved.json && mkfifo saved.json'
	damaged "an allow-list made a drop-list" "$d/device.conf: is not what was saved" \
		sed -i 's/rule good allow/rule good drop/' device.conf
	damaged "another default" "$d/device.conf: is not what was saved" sed -i 's/^default.*/default pass/' device.conf
	damaged "another device" "$by_hand" edit '.device = "eth0"'
	damaged "kept" "$by_hand" edit '.kept = true'
	damaged "another order" "$by_hand" edit '.copies |= reverse'
	damaged "a copy less" "$by_hand" edit 'del(.copies[0])'
	damaged "of another feed" "$by_hand" edit '.copies[0].feed = 1'
	damaged "another sum" "$by_hand" edit '.copies[1].file.crc = 7'
	damaged "a field more" "$by_hand" edit '.more = 1'
	damaged "another checksum" "$by_hand" edit '.checksum += 1'
	damaged "no checksum" "$d/saved.json: has no checksum" edit 'del(.checksum)'
	damaged "another version" "$d/saved.json: of version 2, not 1" edit '.version = 2'
	damaged "another format" "$d/saved.json: not written by 'baleen save'" edit '.format = "x"'
	damaged "an empty manifest" "$d/saved.json:1: '[' or '{' expected near end of file" \
		truncate -s 0 saved.json
	damaged "an oversized manifest" "$d/saved.json: no file of up to 67108864 bytes" \
		truncate -s 67108865 saved.json
	damaged "no directory" "$d: No such file or directory" rm -r "$d"
	damaged "a file instead" "$d: Not a directory" sh -c "rm -r $d && echo >$d"
	rm -rf "$d" "$TMP/good.1"
	check "no device" test "$(baleen restore no-such "$d" 2>&1)" = \
		"baleen: no-such: no such device"
	cp -a "$TMP/all/saved" "$d"
	(cd "$d" && edit .) || bail "cannot write the manifest anew"
	check "other blanks are no damage" baleen restore --force veth-b "$d"
	rm -r "$d"
	ln -s all/saved "$TMP/link"
	check "a link to the directory" baleen restore --force veth-b "$TMP/link"
	is "is followed" "$(state)" "$want"
}

# --- refused saves --------------------------------------------------------

# unsaved NAME MESSAGE DIR COMMAND...: refused; what is in and beside DIR stays
unsaved()
{
	local before
	before=$(beside "$3")$(contents "$3")
	refuses "$1" "$2" baleen save veth-b -o "$3"
	is "$1: all stays" "$(beside "$3")$(contents "$3")" "$before"
}

try_save()
{
	local s=$TMP/s

	mkdir "$s" "$s/foreign" "$s/empty" "$s/late"
	echo mine >"$s/file"
	echo mine >"$s/foreign/mine"
	unsaved "save to a file" "$s/file: Not a directory" "$s/file"
	unsaved "save over a directory of somebody else" "$s/foreign: not replaced, since nobody \
saved it: $s/foreign/saved.json: No such file or directory" "$s/foreign"
	unsaved "save into nowhere" "$s/no/such: No such file or directory" "$s/no/such"
	unsaved "save to no name" ": No such file or directory" ""
	check "save to an empty directory" baleen save veth-b -o "$s/empty"
	is "is what was saved" "$(contents "$s/empty")" "$(contents "$TMP/all/saved")"
	echo mine >"$s/empty/mine"
	unsaved "save over it with a file more" "$s/empty: not replaced, since nobody saved it: \
$s/empty/mine: is no part of what was saved" "$s/empty"
	rm "$s/empty/mine"
	flip "$s/empty/good.1" 3
	rm "$s/empty/bad.2"
	check "save over it with damaged copies" baleen save veth-b -o "$s/empty/"
	is "mends it" "$(contents "$s/empty")" "$(contents "$TMP/all/saved")"
	ln -s empty "$s/link"
	check "save through a link" baleen save veth-b -o "$s/link"
	is "leaves the link" "$(readlink "$s/link") $(contents "$s/empty")" \
		"empty $(contents "$TMP/all/saved")"
	ln -s nowhere "$s/void"
	unsaved "save through a link to nowhere" "$s/void: No such file or directory" "$s/void"
	is "nothing is left beside" "$(beside "$s/x" | tr '\n' ' ')" \
		"empty file foreign late link void "
	check "in the directory itself" env -C "$s/late" nsenter "--net=/run/netns/$B" "$BALEEN" \
		save veth-b -o .
	is "as anywhere" "$(contents "$s/late")" "$(contents "$TMP/all/saved")"
}

# Full disk, read-only, an interrupt: the former directory stays, and only that.
try_obstacles()
{
	local m=$TMP/m before i

	mkdir "$m"
	mount -t tmpfs -o size=96k baleen-test "$m" || bail "no tmpfs"
	check "save to a small disk" baleen save veth-b -o "$m/d"
	before=$(contents "$m/d")
	dd if=/dev/zero of="$m/fill" bs=4k count=100 status=none 2>/dev/null
	rm -f "$m/none"
	check_status "save to a full disk" 1 baleen save veth-b -o "$m/d"
	is "says so" "$(grep -c 'No space left on device$' "$TMP/err")" 1
	is "leaves what was there" "$(beside "$m/d" | tr '\n' ' ')$(contents "$m/d")" \
		"d fill $before"
	mount -o remount,ro "$m" || bail "no read-only tmpfs"
	check_status "save to a read-only disk" 1 baleen save veth-b -o "$m/d"
	is "says that" "$(grep -c 'Read-only file system$' "$TMP/err")" 1
	mount -o remount,rw,size=1m "$m" || bail "no writable tmpfs"
	rm "$m/fill"
	for i in 1 3 5; do
		check_status "interrupted at sync $i" 130 in_ns "$B" sh -c "strace -qq -o /dev/null \
			-e trace=fsync -e inject=fsync:signal=INT:when=$i \
			$BALEEN save veth-b -o $m/d; exit \$?"
		is "interrupted at sync $i: the former stays" "$(beside "$m/d")$(contents "$m/d")" \
			"d$before"
	done
	umount "$m"
}

try_parallel()
{
	local i p=$TMP/p pids=() status=''

	mkdir "$p"
	for i in {1..8}; do
		baleen save veth-b -o "$p/d" >/dev/null 2>"$TMP/err.$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
		status+=$?
	done
	is "eight saves at once" "$status$(cat "$TMP"/err.[1-8])" 00000000
	is "leave one directory" "$(beside "$p/d") $(contents "$p/d")" \
		"d $(contents "$TMP/all/saved")"
}

# --- under traffic --------------------------------------------------------

try_traffic()
{
	local traffic line i failed=''

	check "detach" baleen detach veth-b
	make_list "$TMP/listed" 500 500 301
	make_list "$TMP/more" 100000 0 302 --avoid "$TMP/listed"
	cat "$TMP/listed" "$TMP/more" >"$TMP/big"
	make_list "$TMP/unlisted" 500 500 303 --avoid "$TMP/big"
	check "attach the small list" baleen attach veth-b --drop "listed=$TMP/listed"
	check "save the small list" baleen save veth-b -o "$TMP/all/0"
	check "swap" baleen swap veth-b:listed "$TMP/big"
	check "and a rule before it" baleen rule add veth-b --first --count "more=$TMP/more"
	check "save the big list" baleen save veth-b -o "$TMP/all/1"
	mkfifo "$TMP/fifo"
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed "$TMP/listed" \
		--unlisted "$TMP/unlisted" --loop --expect -j >"$TMP/fifo" 2>"$TMP/traffic.err" &
	traffic=$!
	exec 3<"$TMP/fifo"
	read -r line <&3
	is "traffic runs" "$line" running
	for ((i = 0; i < N_RESTORES; i++)); do
		baleen restore veth-b "$TMP/all/$((i % 2))" >"$TMP/out" 2>&1 || failed+=" $i"
	done
	is "$N_RESTORES restores" "$failed" ""
	kill -INT "$traffic"
	cat <&3 >"$TMP/result"
	wait "$traffic"
	is "all listed dropped, all others passed" "$?$(cat "$TMP/traffic.err")" 0
	check "each frame of the listed is counted, by one rule" \
		test "$(baleen status -j veth-b | jq '.[0].rules[-1].packets')" -eq \
		"$(jq .listed.sent "$TMP/result")"
}

make_rules
try_round_trip
try_modes
try_places
try_guard
try_damage
try_save
try_obstacles
try_parallel
try_traffic
