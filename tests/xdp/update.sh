#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# New versions of feeds come into force together, and each that does not come, or
# is refused, leaves its last good copy there.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
# A line is quoted only of a list that everybody may read.
chmod 755 "$TMP"

export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run BALEEN_CONF_DIR=$TMP/conf
mkdir "$TMP/conf" "$TMP/files"
unset http_proxy https_proxy all_proxy no_proxy ALL_PROXY HTTPS_PROXY NO_PROXY
F=$TMP/files
CONF=$TMP/conf/veth-b.conf
VERDICT=$ROOT/build/tools/verdict
ASKED=(1.1.1.1 2.2.2.2 3.3.3.3 4.4.4.4 5.5.5.5)

baleen() { in_ns "$B" "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$VERDICT" veth-b "${ASKED[@]}"; }
program() { xdp_id "$B" veth-b; }

# updates NAME STATUS STDOUT STDERR [ARGUMENT...]: each line is of veth-b
updates()
{
	expect "$1" "$2" "${3:+$(sed 's/^/veth-b:/' <<<"$3")}" \
		"${4:+$(sed 's/^/baleen: veth-b:/' <<<"$4")}" baleen update "${@:5}"
}

serve()
{
	coproc SERVER { exec nsenter "--net=/run/netns/$B" "$ROOT/build/tools/feed_server" "$F"; }
	SERVER_OUT=${SERVER[0]}
	read -r -t 30 -u "$SERVER_OUT" port || bail "the server does not start"
	URL=http://127.0.0.1:$port
}

# asked: the next request, its path and If-None-Match
asked()
{
	local path etag
	read -r -t 30 -u "$SERVER_OUT" path etag _ || path="no request"
	echo "$path $etag"
}

# --- what is asked ---------------------------------------------------------------

try_none()
{
	prints "no device has a state" "" baleen update
	refuses "this one has none" "veth-b: has no state" baleen update veth-b
}

try_all()
{
	local id

	echo 1.1.1.1 >"$F/a"
	echo 2.2.2.2 >"$F/b"
	mkdir "$F/d"
	echo 3.3.3.3 >"$F/d/one"
	printf 'network,country\n4.4.4.4/32,BR\n5.5.5.5/32,US\n' | gzip >"$F/table.csv.gz"
	printf '%s\n' "rule first drop" "  feed $F/a" "  feed $URL/b" "rule second drop" \
		"  feed $F/d" "  feed $F/table.csv.gz column network where country=BR" >"$CONF"
	check_status "apply" 3 baleen apply
	is "enforces all four" "$(verdicts)" DDDDP
	is "asked the server" "$(asked)" "/b -"
	id=$(program)
	updates "nothing is new" 0 "first: $F/a: unchanged
first: $URL/b: unchanged
second: $F/d/one: unchanged
second: $F/table.csv.gz: unchanged" ""
	check "the server was told what we have" test "$(asked)" != "/b -"
	is "no program was loaded" "$(program)" "$id"
	echo 5.5.5.5 >>"$F/b"
	echo 5.5.5.5 >"$F/d/two"
	updates "one rule alone" 3 "second: $F/d/one: unchanged
second: $F/d/two: new, +1 -0: 1 entry
second: $F/table.csv.gz: unchanged" "" veth-b:second
	is "is in force" "$(verdicts)" DDDDD
	rm "$F/d/two"
	updates "a file goes, a page changed" 3 "first: $F/a: unchanged
first: $URL/b: changed, +1 -0: 2 entries
second: $F/d/one: unchanged
second: $F/d/two: gone, +0 -1: 0 entries
second: $F/table.csv.gz: unchanged" "" veth-b
	is "is in force by the other rule" "$(verdicts)" DDDDD
	asked >"$TMP/out"
	refuses "no such rule" "veth-b has no rule 'third': see 'baleen status veth-b'" \
		baleen update veth-b:third
	is "-j" "$(baleen update -j veth-b:first | jq -c '[.[] | [.rule, .result, .entries]]')" \
		'[["first","same",1],["first","same",2]]'
	asked >"$TMP/out"
}

# --- what fails --------------------------------------------------------------------

try_failures()
{
	echo wrong >"$F/a"
	echo 4.4.4.4 >>"$F/d/one"
	updates "one fails, another comes" 1 "first: $URL/b: unchanged
second: $F/d/one: changed, +1 -0: 2 entries
second: $F/table.csv.gz: unchanged" "first: $F/a:1: 'wrong': a host name, not an address; 1 bad \
line of 1; its last good copy stays in force"
	is "both are in force" "$(verdicts)" DDDDD
	asked >"$TMP/out"
	mv "$F/d" "$F/e"
	updates "a directory that is gone" 1 "second: $F/table.csv.gz: unchanged" \
		"second: $F/d: is no directory any more; its last good copy stays in force" \
		veth-b:second
	mv "$F/e" "$F/d"
	echo 1.1.1.1 >"$F/a"
	is "failures are counted" "$(baleen metrics veth-b |
		awk '/^baleen_feed_consecutive_errors/ { n += $NF } END { print n }')" 2
	updates "all is well again" 0 "first: $F/a: unchanged
first: $URL/b: unchanged
second: $F/d/one: unchanged
second: $F/table.csv.gz: unchanged" ""
	asked >"$TMP/out"
	is "failures are over" "$(baleen metrics veth-b |
		awk '/^baleen_feed_consecutive_errors/ { n += $NF } END { print n }')" 0
	{ cat "$F/b"; printf '77.0.0.%d\n' {1..9}; } >"$F/b.new"
	mv "$F/b.new" "$F/b"
	check_status "a long one, a change with exit 0" 0 baleen update --quiet-change veth-b:first
	echo 2.2.2.2 >"$F/b"
	updates "a short one is refused" 1 "first: $F/a: unchanged" \
		"first: $URL/b: refused: entries fell by 90.9 %, from 11 to 1: more than max-shrink 50% \
allows; its last good copy stays in force" veth-b:first
	is "it is in force still" "$(in_ns "$B" "$VERDICT" veth-b 2.2.2.2 77.0.0.9)" DD
	updates "unless it is forced" 3 "first: $F/a: unchanged
first: $URL/b: changed, +0 -10: 1 entry" "" --force veth-b:first
	is "then it is in force" "$(in_ns "$B" "$VERDICT" veth-b 2.2.2.2 77.0.0.9)" DP
}

# Without the server the copies are enough, for updates and for a boot.
try_no_server()
{
	local pid=$SERVER_PID

	kill "$pid"
	wait "$pid" 2>/dev/null
	sed -i "s|feed $URL/b.*|feed $URL/b timeout 1s|" "$CONF"
	check_status "apply asks no server" 3 baleen apply
	check_status "update says that it is down" 1 baleen update veth-b:first
	is "in a line" "$(grep -c 'its last good copy stays in force$' "$TMP/err")" 1
	is "what it gave is in force" "$(verdicts)" DDDDP
	unpin "$B"
	mv "$F" "$F.away"
	prints "restore --boot asks nobody" "veth-b: attached, native, 2 rules" \
		baleen restore --boot
	is "and enforces it" "$(verdicts)" DDDDP
	mv "$F.away" "$F"
}

# --- what is withheld ----------------------------------------------------------------

try_withheld()
{
	printf '%s\n' "never $TMP/never" "rule first drop" "  feed $F/a" >"$CONF"
	: >"$TMP/never"
	printf '%s\n' 1.1.1.1 2.2.2.2 3.3.3.3 >"$F/a"
	check_status "apply" 3 baleen apply
	is "all three" "$(verdicts)" DDDPP
	ip -n "$B" address add 2.2.2.1/24 dev veth-b
	ip -n "$B" route add 9.0.0.0/8 via 2.2.2.2
	echo 3.3.3.3 >"$TMP/never"
	updates "a new gateway, a new never-drop list" 0 "first: $F/a: unchanged" ""
	is "are not dropped" "$(verdicts)" DPPPP
	echo nonsense >"$TMP/never"
	check_status "a bad never-drop list" 1 baleen update
	is "leaves what was" "$(verdicts)" DPPPP
	ip -n "$B" route del 9.0.0.0/8
	: >"$TMP/never"
	check_status "both go" 0 baleen update
	is "are dropped again" "$(verdicts)" DDDPP
	ip -n "$B" address del 2.2.2.1/24 dev veth-b
}

# An allow-list that loses the way to this host, under a default that drops.
try_guard()
{
	ip -n "$B" route add default via 10.66.0.1
	printf '%s\n' 10.66.0.0/24 1.1.1.1 2.2.2.2 3.3.3.3 >"$F/allowed"
	printf '%s\n' "default drop" "rule good allow" "  feed $F/allowed" "  max-shrink 100%" >"$CONF"
	check_status "apply" 3 baleen apply
	printf '%s\n' 1.1.1.1 2.2.2.2 4.4.4.4 >"$F/allowed"
	check_status "an update that cuts this host off" 1 baleen update
	is "is refused" "$(grep -c 'would cut itself off' "$TMP/err")" 2
	is "leaves what was in force" "$(verdicts)" PPPDD
	is "is a failure of its feed" \
		"$(baleen metrics veth-b | awk '/^baleen_feed_consecutive_errors/ { print $NF }')" 1
	check_status "unless it is forced" 3 baleen update --force
	is "then it is in force" "$(verdicts)" PPDPD
	echo 5.5.5.5 >>"$F/allowed"
	check_status "what was forced is not asked about again" 3 baleen update
	is "the next version comes" "$(verdicts)" PPDPP
	ip -n "$B" route del default
}

# What grows by more than max-growth comes when it is asked for, or may come.
try_growth()
{
	local wide="covers 0.195 % of the IPv4 space more than before: more than max-growth 0.1% allows"

	mkdir "$F/nets"
	echo 3.3.3.3 >"$F/nets/a"
	printf '%s\n' "rule first drop" "  feed $F/nets" >"$CONF"
	check_status "apply" 3 baleen apply
	echo 20.0.0.0/9 >"$F/nets/b"
	updates "a /9 more is refused, by its line" 1 "" "first: $F/nets: refused: $wide; widest: \
$F/nets/b line 1, 20.0.0.0/9; its last good copy stays in force"
	refuses "by apply, too" "$CONF:2: $F/nets: refused: $wide; widest: $F/nets/b line 1, \
20.0.0.0/9" baleen apply
	is "is not in force" "$(in_ns "$B" "$VERDICT" veth-b 3.3.3.3 20.0.0.1)" DP
	check_status "unless it is forced" 3 baleen update --force
	is "then it is in force" "$(in_ns "$B" "$VERDICT" veth-b 3.3.3.3 20.0.0.1)" DD
	{ seq -f '45.77.%.0f.9' 0 255; echo 22.0.0.0/10; } >>"$F/nets/a"
	check_status "a /10 and hosts more come" 3 baleen update
	echo 24.0.0.0/8 >>"$F/nets/a"
	check_status "a /8 more does not" 1 baleen update
	is "its line is named" "$(grep -c "widest: $F/nets/a line 259, 24.0.0.0/8;" "$TMP/err")" 1
	echo "  max-growth 1%" >>"$CONF"
	check_status "it does where it may" 3 baleen apply
	is "apply says by what" "$(grep max-growth "$TMP/out")" "veth-b: ~ rule first: max-growth 1%"
	is "then it is in force" "$(in_ns "$B" "$VERDICT" veth-b 24.0.0.1)" D
	rm "$F/nets/b"
	check_status "a file goes" 3 baleen update --force
}

# --- what is due -------------------------------------------------------------------

try_due()
{
	printf '%s\n' "rule first drop" "  feed $F/a every 1h" "  feed $F/b" >"$CONF"
	printf '%s\n' 1.1.1.1 >"$F/a"
	printf '%s\n' 2.2.2.2 >"$F/b"
	check_status "apply" 3 baleen apply --force
	echo 3.3.3.3 >>"$F/a"
	echo 4.4.4.4 >>"$F/b"
	prints "nothing is due" "" baleen update --due
	is "nothing came" "$(verdicts)" DDPPP
	# As if they had been asked two hours ago.
	check "time passes" sqlite3 "$(kept_of "$B")/veth-b/state.db" \
		"UPDATE feed SET checked_ms = checked_ms - 7200000"
	updates "after an hour one is" 3 "first: $F/a: changed, +1 -0: 2 entries" "" --due
	is "that one came" "$(verdicts)" DDDPP
}

# --- killed, interrupted, no room ------------------------------------------------------

# Ctrl-C while a server keeps us waiting.
try_interrupt()
{
	local pid before request

	serve
	printf '%s\n' "rule first drop" "  feed $F/a" "  feed $URL/b" >"$CONF"
	check_status "apply" 3 baleen apply --force
	asked >"$TMP/out"
	# The same feed from a page that never ends.
	check "a page that stalls" sqlite3 "$(kept_of "$B")/veth-b/state.db" \
		"UPDATE feed SET source = '$URL/stall' WHERE source = '$URL/b'"
	before=$(program)
	nsenter "--net=/run/netns/$B" -- "$BALEEN" update >"$TMP/out" 2>"$TMP/err" &
	pid=$!
	request=$(asked)
	is "waits for the server" "${request%% *}" /stall
	kill -TERM "$pid"
	wait "$pid"
	is "a signal ends it" "$? $(<"$TMP/err")" "1 baleen: veth-b: $URL/stall: interrupted"
	is "and changes nothing" "$(program) $(verdicts)" "$before DDDDP"
	check "back to the page" sqlite3 "$(kept_of "$B")/veth-b/state.db" \
		"UPDATE feed SET source = '$F/b' WHERE source = '$URL/stall'"
	printf '%s\n' "rule first drop" "  feed $F/a every 1h" "  feed $F/b" >"$CONF"
	check_status "apply again" 3 baleen apply --force
}

# Killed at any step: the old entries or the new ones.
try_kill()
{
	local when

	echo 5.5.5.5 >>"$F/a"
	for when in 1 2 3 4 5; do
		in_ns "$B" strace -qq -f -o /dev/null -e trace=fsync,fdatasync,rename \
			-e "inject=fsync,fdatasync,rename:signal=KILL:when=$when" \
			"$BALEEN" update >"$TMP/out" 2>&1
		case $(verdicts) in
		DDDDP | DDDDD) ok "killed at sync $when: old or new" ;;
		*) not_ok "killed at sync $when: old or new" "$(verdicts)" ;;
		esac
	done
	for when in 30 50 70 90; do
		in_ns "$B" strace -qq -f -o /dev/null -e trace=bpf \
			-e "inject=bpf:signal=KILL:when=$when" "$BALEEN" update >"$TMP/out" 2>&1
		case $(verdicts) in
		DDDDP | DDDDD) ok "killed at bpf $when: old or new" ;;
		*) not_ok "killed at bpf $when: old or new" "$(verdicts)" ;;
		esac
	done
	check "the next one finishes it" sh -c "nsenter --net=/run/netns/$B $BALEEN update; [ \$? -ne 1 ]"
	is "it is in force" "$(verdicts)" DDDDD
	check "and is the state" sh -c "nsenter --net=/run/netns/$B $BALEEN apply --check"
}

try_disk()
{
	local m=$TMP/small id

	mkdir "$m"
	mount -t tmpfs -o size=400k baleen-test "$m" || bail "no tmpfs"
	cp -a "$TMP/state" "$m/state"
	export BALEEN_STATE_DIR=$m/state
	make_list "$TMP/large" 30000 0 7
	cat "$TMP/large" >>"$F/a"
	id=$(program)
	check_status "a feed that finds no room" 1 baleen update
	is "says so" "$(grep -c 'No space left on device' "$TMP/err")" 1
	is "leaves the program" "$(program)" "$id"
	is "and what it drops" "$(verdicts)" DDDDD
	export BALEEN_STATE_DIR=$TMP/state
	umount "$m"
	check_status "with room it comes" 3 baleen update
	is "all of it" "$(in_ns "$B" "$VERDICT" veth-b "$(head -n 1 "$TMP/large")")" D
}

# A feed keeps no timeouts, which its line says.
try_ends()
{
	printf '%s\n' "create b hash:ip netmask 24 timeout 600" "add b 6.6.6.6 timeout 60" >"$F/saved"
	printf '%s\n' "rule first drop" "  feed $F/saved" >"$CONF"
	check_status "a feed that ipset saved" 3 baleen apply
	is "a host of a set with a netmask is its network" \
		"$(in_ns "$B" "$VERDICT" veth-b 6.6.6.9 | tr -d '\n')" D
	echo "add b 6.6.7.7" >>"$F/saved"
	updates "its timeouts" 3 "first: $F/saved: changed, +1 -0: 2 entries, without 2 timeouts" ""
}

serve
try_none
try_all
try_failures
try_no_server
try_withheld
try_guard
try_growth
try_due
try_interrupt
try_kill
try_disk
try_ends
