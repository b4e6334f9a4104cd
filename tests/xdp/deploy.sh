#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# State and device changed together: bans, feeds, expiry, snapshots, what is
# withheld, a full disk, a filter that is gone.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

DEPLOY=$ROOT/build/tools/deploy
VERDICT=$ROOT/build/tools/verdict
SESSION=$ROOT/build/tools/session
export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run DEPLOY_NEVER=$TMP/never.list

cleanup()
{
	umount "$TMP/full" 2>/dev/null
}

deploy() { in_ns "$B" "$DEPLOY" "$1" veth-b "${@:2}"; }

# dropped: a letter for each address
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }

# batch NAME WANT CHANGE...: of rule ban; prints this
batch() { is "$1" "$(deploy batch ban "${@:3}" 2>&1)" "$2"; }

# holds: what the state says
holds() { deploy holds ban "$@"; }

# fresh RULE...: another state and device
fresh()
{
	take_off "$B" veth-b
	rm -rf "$TMP/state" "$TMP/run"
	deploy make kept "$@" >"$TMP/out" 2>&1 || bail "cannot make: $(<"$TMP/out")"
	id=$(xdp_id "$B" veth-b)
}

# is_swapped NAME yes|no: since the last time the program is another one
is_swapped()
{
	local now

	now=$(xdp_id "$B" veth-b)
	is "$1: another program" "$([ "$now" = "$id" ] && echo no || echo yes)" "$2"
	id=$now
}

packets() { in_ns "$B" "$BALEEN" status -j veth-b | jq -r "[.[0].rules[] | .packets] | @text"; }

echo 20.9.9.0/24 >"$TMP/never.list"
printf '%s\n' 20.1.1.1 20.1.1.2 21.0.0.0/16 '!21.0.5.0/24' 2400::1 10.66.0.2 20.9.9.9 192.168.1.1 \
	>"$TMP/feed"

# --- put ---

fresh drop+guarded:ban="$TMP/feed"
is "the feed is in force" "$(dropped 20.1.1.{1,2,3} 21.0.1.1 21.0.5.1 2400::{1,2})" DDPDPDP
is "but for what is withheld" "$(dropped 10.66.0.2 20.9.9.9 192.168.1.1)" PPP
is "the state says the same" "$(holds 20.1.1.{1,2,3} 21.0.1.1 21.0.5.1 2400::{1,2} 10.66.0.2 20.9.9.9 192.168.1.1)" \
	yynynynnnn
is "and why not" "$(deploy why ban 10.66.0.2 | head -n 1)" "withheld: 10.66.0.2, address"
is "never" "$(deploy why ban 20.9.9.9)" "withheld: 20.9.9.9, 20.9.9.0/24
$TMP/feed:7 20.9.9.9"

# --- hosts in place ---

batch "two bans" "ok ok in-place" +30.0.0.1 +20.1.1.1
is_swapped "bans" no
is "in force" "$(dropped 30.0.0.1 20.1.1.1)" DD
batch "again" "renewed in-place" +30.0.0.1
batch "of another origin" "ok in-place" @fail2ban +30.0.0.1
batch "one is lifted" "ok in-place" -30.0.0.1
is "the other holds it" "$(dropped 30.0.0.1)" D
batch "both are lifted" "ok in-place" @fail2ban -30.0.0.1
is "it passes" "$(dropped 30.0.0.1)" P
batch "what is not there" "absent in-place" -30.0.0.1
batch "a ban of what the feed has" "ok in-place" -20.1.1.1
is "the feed holds it" "$(dropped 20.1.1.1)" D
batch "an exception" "ok in-place" +!20.1.1.1
is "takes it out of the feed" "$(dropped 20.1.1.{1,2})" PD
batch "and lifted" "ok in-place" -!20.1.1.1
is "it is back" "$(dropped 20.1.1.1)" D
batch "many" "ok ok ok absent in-place" +30.0.0.1 +30.0.0.2 -30.0.0.1 -30.0.0.3
is "in their order" "$(dropped 30.0.0.{1,2})" PD
is_swapped "none of it" no

# --- prefixes ---

batch "a prefix" "ok in-place" +30.0.0.0/24
is_swapped "a prefix" no
is "in force" "$(dropped 30.0.0.{1,2} 30.0.1.1)" DDP
batch "an IPv6 prefix beside hosts of the feed" "ok anew" +2500::/64
is "in force" "$(dropped 2500::7 2500:0:0:1::1)" DP
batch "a prefix lifted" "ok anew" -30.0.0.0/24
is "what is narrower stays" "$(dropped 30.0.0.{1,2} 30.0.0.3)" PDP
batch "an exception in a prefix of the feed" "ok in-place" '+!21.0.1.0/28'
is "in force" "$(dropped 21.0.1.{1,15,16})" PPD
batch "a host of it, back" "ok in-place" +21.0.1.5
is "in force" "$(dropped 21.0.1.{4,5})" PD
before=$(packets) id=$(xdp_id "$B" veth-b)
batch "atomic" "ok anew" --atomic +31.0.0.1
is_swapped "atomic" yes
is "the counters go on" "$(packets)" "$before"
is "in force" "$(dropped 31.0.0.1)" D

# --- origins as a whole ---

id=$(xdp_id "$B" veth-b)
batch "a snapshot" "ok ok ok flushed:0 in-place" --snapshot cs @cs +40.0.0.1 +40.0.0.2 +40.0.0.3
batch "another" "renewed ok flushed:2 in-place" --snapshot cs @cs +40.0.0.2 +40.0.0.4
is "in force" "$(dropped 40.0.0.{1,2,3,4})" PDPD
batch "with the same key of another origin" "ok flushed:2 in-place" --snapshot cs @other +40.0.0.2
is "that one stays" "$(dropped 40.0.0.{2,4})" DP
batch "a flush" "flushed:1 in-place" --flush other
is "in force" "$(dropped 40.0.0.2)" P
batch "of nobody" "flushed:0 in-place" --flush nobody
is_swapped "hosts" no

# --- withheld ---

batch "an own address" "withheld(10.66.0.2 address) in-place" +10.66.0.2
batch "a prefix with it" "withheld(10.66.0.2 address) in-place" +10.66.0.0/16
batch "never" "withheld(20.9.9.7 20.9.9.0/24) in-place" +20.9.9.7
batch "others of the batch" "ok withheld(fd66::2 address) ok in-place" +50.0.0.1 +fd66::/64 +50.0.0.2
is "are in force" "$(dropped 50.0.0.{1,2} fd66::2 fd66::9 10.66.0.2)" DDPPP
batch "an exception is never refused" "ok in-place" '+!10.66.0.2'
batch "forced, of a guarded rule" "withheld(10.66.0.2 address) in-place" --force +10.66.0.2

# --- expiry ---

batch "for a minute" "ok ok in-place" +60.0.0.1%60000 @b +60.0.0.1%120000
is "not yet" "$(deploy expire 1000) $(dropped 60.0.0.1)" "0 D"
is "one of them" "$(deploy expire 61000) $(dropped 60.0.0.1)" "1 D"
is "both" "$(deploy expire 121000) $(dropped 60.0.0.1)" "1 P"
batch "a prefix for a minute" "ok in-place" +62.0.0.0/16%60000
is "its end" "$(deploy expire 61000) $(dropped 62.0.0.1)" "1 P"
deploy batch ban +61.0.0.0/16%1 >"$TMP/out"
is "a prefix for a moment: is gone with the next command" "$(deploy open) $(dropped 61.0.0.1)" "attached P"

# --- growth ---

batch "as many as there is no room for" "$(printf 'ok %.0s' {1..500})anew" $(printf '+70.0.%d.%d ' \
	$(for i in {1..500}; do echo $((i / 250)) $((i % 250)); done))
is "all of them" "$(dropped $(printf '70.0.%d.%d ' \
	$(for i in {1..500}; do echo $((i / 250)) $((i % 250)); done)))" "$(printf 'D%.0s' {1..500})"
batch "then there is room again" "ok in-place" +70.1.0.1

# --- feeds ---

printf '20.1.1.2\n22.0.0.1\n' >"$TMP/feed2"
check "another copy" deploy update ban "$TMP/feed2"
is "is in force" "$(dropped 20.1.1.{1,2} 22.0.0.1 21.0.2.1)" PDDP
is "with all bans" "$(dropped 31.0.0.1 50.0.0.1 70.0.0.1 2500::1 21.0.1.5)" DDDDD
printf 'nonsense\n' >"$TMP/feed3"
check_status "a damaged copy" 1 deploy update ban "$TMP/feed3"
is "is not in force" "$(dropped 20.1.1.{1,2} 22.0.0.1)" PDD
is "nor in the state" "$(holds 20.1.1.{1,2} 22.0.0.1)" nyy

# --- a filter that is gone ---

keys=(20.1.1.1 20.1.1.2 22.0.0.1 31.0.0.1 70.0.0.1 2500::1 10.66.0.2 1.2.3.4)
before=$(dropped "${keys[@]}")
take_off "$B" veth-b
is "taken off" "$(dropped 31.0.0.1)" none
is "a look does not put it on" "$(deploy open) $(dropped 31.0.0.1)" "not attached none"
batch "its state changes" "ok in-place" +80.0.0.1
is "restored" "$(deploy restore)" attached
is "it is as before" "$(dropped "${keys[@]}")" "$before"
is "and as was changed" "$(dropped 80.0.0.1)" D
is "restored once" "$(deploy restore)" attached

# --- rules ---

echo 90.0.0.0/8 >"$TMP/allow"
echo 90.0.0.1 >"$TMP/drop"
fresh drop:ban="$TMP/drop" allow:good="$TMP/allow" drop:none
dropped 90.0.0.{1,2,3} >/dev/null
is "counted" "$(packets)" "[1,2,0]"
check "another order" deploy swap good ban none
is "is in force" "$(dropped 90.0.0.1)" P
is "with their counters" "$(packets)" "[3,1,0]"
check "one less" deploy swap good ban
is "counted on" "$(packets)" "[3,1]"

# --- by hand: of feeds the never-drop list is withheld, bans are refused unless forced ---

fresh drop:ban="$TMP/feed"
is "the feed but what is never dropped" "$(dropped 20.9.9.9 192.168.1.1 10.66.0.2)" PDD
batch "a ban" "withheld(10.66.0.2 address) in-place" +10.66.0.2
batch "forced" "ok in-place" --force +10.66.0.2

# --- peers ---

# in_session COMMAND...: during a session of $B with 10.66.0.1
in_session()
{
	"$SESSION" "/run/netns/$A" "/run/netns/$B" 10.66.0.1 "$@" 2>&1
}

fresh drop+guarded:ban
is "a peer" "$(in_session "$DEPLOY" batch veth-b ban +10.66.0.1)" \
	"withheld(10.66.0.1 peer of a TCP session) in-place"
is "a prefix with one" "$(in_session "$DEPLOY" batch veth-b ban +10.66.0.0/31)" \
	"withheld(10.66.0.1 peer of a TCP session) in-place"
is "who is meant" "$(in_session "$DEPLOY" batch veth-b ban --cut +10.66.0.1)" "ok in-place"
is "is dropped" "$(dropped 10.66.0.1)" D
is "a peer no more" "$(deploy batch ban -10.66.0.1 +10.66.0.1)" "ok ok in-place"

# --- several at a time ---

id=$(xdp_id "$B" veth-b)
for i in {1..8}; do
	deploy batch ban @origin$i +40.0.$i.1 +40.0.$i.2 +40.0.0.9 -40.0.$i.2 &
done >"$TMP/said" 2>&1
wait
is "all come through" "$(sort -u "$TMP/said")" "ok ok ok ok in-place"
is "all is in force" "$(dropped 40.0.{1..8}.1 40.0.{1..8}.2 40.0.0.9)" DDDDDDDDPPPPPPPPD
is_swapped "several" no

# --- any ---

fresh drop+guarded+any:ban
is "every address but a few" "$(dropped 1.2.3.4 2400::1 20.9.9.9 10.66.0.2 10.66.0.3)" DDPPD
batch "entries do not matter" "ok ok in-place" +1.2.3.4 '+!1.2.3.5'
is "at all" "$(dropped 1.2.3.{4,5})" DD

# --- a full disk ---

mkdir -p "$TMP/full"
mount -t tmpfs -o size=1m baleen-test "$TMP/full" || bail "no tmpfs"
export BALEEN_STATE_DIR=$TMP/full/state
echo 20.1.1.1 >"$TMP/feed"
fresh drop:ban="$TMP/feed"
batch "a ban for later" "ok in-place" +30.0.0.1%1000000
before=$(xdp_id "$B" veth-b)
# Nor has the memory where the state would go on; tests/xdp/full-disk.sh is for that.
mount -t tmpfs -o size=4k,X-mount.mkdir baleen-test "$BALEEN_RUN_DIR/unkept" || bail "no tmpfs"
dd if=/dev/zero of="$TMP/full/fill" bs=4k 2>/dev/null
mapfile -t many < <(printf '+30.0.1.%d\n' {1..200})
check_status "no room for the rows of many" 1 deploy batch ban "${many[@]}"
is "none is in force" "$(dropped 30.0.1.{1,100,200} 30.0.0.1 20.1.1.1)" PPPDD
is "nor in the state" "$(holds 30.0.1.{1,100,200} 30.0.0.1 20.1.1.1)" nnnyy
check_status "nor for a prefix" 1 deploy batch ban "${many[@]}" +31.0.0.0/16
is "it is not in force" "$(dropped 31.0.0.1 30.0.1.1 30.0.0.1 20.1.1.1)" PPDD
check_status "nor for another feed" 1 deploy update ban "$ROOT/build/baleen"
is "what was in force is" "$(dropped 30.0.0.1 20.1.1.1 30.0.1.1)" DDP
is "expiry needs no room" "$(deploy expire 2000000 >/dev/null 2>&1; dropped 30.0.0.1 20.1.1.1)" PD
take_off "$B" veth-b
is "nor does a restore" "$(deploy restore 2>&1) $(dropped 20.1.1.1 30.0.1.1)" "attached DP"
rm -f "$TMP/full/fill"
is "then there is" "$(deploy batch ban +30.0.1.1) $(dropped 30.0.1.1 20.1.1.1)" "ok in-place DD"
umount "$BALEEN_RUN_DIR/unkept"

# --- a disk that fails: what failed stays failed, and packets see what the state has ---

export BALEEN_STATE_DIR=$TMP/state
echo 20.1.1.2 >"$TMP/feed2"

# on_bad_disk CALL N WORD...: from the Nth sync by CALL on nothing comes to the disk. The book
# makes one by fdatasync; the state is written by fsync.
on_bad_disk()
{
	in_ns "$B" strace -qq -o "$TMP/syncs" -e trace="$1" -e inject="$1:error=EIO:when=$2+" \
		"$DEPLOY" "$3" veth-b "${@:4}"
}

# n_fsyncs WORD...: of a command on a disk that does not fail
n_fsyncs()
{
	on_bad_disk fsync 1000 "$@" >"$TMP/out" 2>&1
	grep -c 'fsync(' "$TMP/syncs"
}

# fails NAME CALL N WORD...: the command fails, and packets see what they saw
fails()
{
	local before

	before=$(dropped "${keys[@]}")
	check_status "$1, $2 $3" 1 on_bad_disk "${@:2}"
	is "$1, $2 $3: nothing has changed" "$(dropped "${keys[@]}")" "$before"
	check "$1, $2 $3: then it is looked at" deploy open
	is "$1, $2 $3: packets and state agree" "$(dropped "${keys[@]}")" \
		"$(holds "${keys[@]}" | tr yn DP)"
}

keys=(20.1.1.1 20.1.1.2 30.0.0.1 31.0.0.1)
fresh drop:ban="$TMP/feed"
# An empty log gets a head, which is a sync more.
check "the log is begun" deploy batch ban +30.9.9.9
fails "a host" fdatasync 1 batch ban +30.0.0.1
is "what failed does not come after all" "$(dropped 30.0.0.1)" P
fails "a prefix" fdatasync 1 batch ban +31.0.0.0/16
echo 20.1.1.3 >"$TMP/feed3"
n=$(n_fsyncs update ban "$TMP/feed3")
check "a feed has several syncs" test "$n" -ge 3
for ((; n > 0; n--)); do
	fails "a feed" fsync "$n" update ban "$TMP/feed2"
done
take_off "$B" veth-b
rm -rf "$TMP/state" "$TMP/run"
# The last ones are of the book, which is made when the filter is in force; that is no failure.
n_failed=0
for ((n = $(n_fsyncs make kept "drop:ban=$TMP/feed"); n > 0; n--)); do
	take_off "$B" veth-b
	rm -rf "$TMP/state" "$TMP/run"
	if on_bad_disk fsync "$n" make kept "drop:ban=$TMP/feed" >"$TMP/out" 2>&1; then
		is "an attach, fsync $n: is attached" "$(dropped 20.1.1.1) $n_failed" "D 0"
	else
		is "an attach, fsync $n: nothing is attached" "$(dropped 20.1.1.1)" none
		n_failed=$((n_failed + 1))
	fi
done
check "an attach has several syncs" test "$n_failed" -ge 3
