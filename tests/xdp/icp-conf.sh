#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Answers for caches as a configuration says: applied, checked, diffed, taken back unless they
# are confirmed, restored at boot, and followed by baleend, which reads the sources again.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck disable=SC2119 # a pair as it is
make_pair
cd "$TMP" || exit 2
# shellcheck source=tests/icp.sh
source "$ROOT/tests/icp.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
chmod 755 "$TMP"
export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run BALEEN_CONF_DIR=$TMP/conf
mkdir conf
CONF=$TMP/conf/veth-b.conf
U=http://example.com
ICP=("icp sibling a=10.66.0.2,address=fd66::2,mode=answer,feeder=10.66.0.1"
	"icp source a $TMP/store.log every 1s" "icp asker 10.66.0.1,fd66::1" "icp feed 3131"
	"icp stale never" "icp confirm never" "icp capacity 1k")

# conf LINE...: the configuration, with the statements of the device before the rule
conf() { printf '%s\n' "mode generic" "$@" "rule bad drop" bans >"$CONF"; }

# held URL...: what the cache holds, in its store.log; fresh for a day
held()
{
	local url key now

	now=$(date +%s)
	: >store.new
	for url; do
		key=$(printf '\1%s' "$url" | md5sum | cut -c1-32 | tr a-f A-F)
		printf '%d.001 SWAPOUT 00 00000001 %s  200 %d %d %d text/plain 1/1 GET %s\n' \
			"$now" "$key" "$now" "$now" $((now + 86400)) "$url" >>store.new
	done
	mv store.new store.log
}

# ask ADDRESS URL...: answers in the order of the URLs
ask()
{
	in_ns "$A" "$BALEEN" icp ask --timeout 200ms "$@" 2>/dev/null |
		sed -E 's/^(no answer|hit|miss) .*/\1/' | paste -sd ' '
}

# answers WHAT ADDRESS URL...: it comes to that
answers() { [ "$(ask "${@:2}")" = "$1" ]; }

# refused NAME MESSAGE LINE...: with such lines nothing is applied
refused()
{
	conf "${@:3}"
	refuses "$1" "$CONF:$2" baleen apply veth-b
}

held $U/one $U/two

refused "an unknown word" "2: icp: 'sib': not sibling, source, asker, feed, port, stale, confirm, \
capacity, kind, hash or fpp" "icp sib a=10.66.0.2"
refused "nobody may ask" "2: icp: no icp asker given: nobody would be answered" "${ICP[0]}"
refused "nobody is answered for" "2: icp: no icp sibling given: nobody to answer for" "${ICP[2]}"
refused "a sibling of which nothing is known" \
	"2: icp: sibling 'a' has neither image= nor feeder=: what it holds is not known" \
	"icp sibling a=10.66.0.2" "${ICP[2]}"
refused "a source of nobody" "2: icp: source b: no sibling of this name is above" \
	"icp source b /store.log"
refused "a relative source" "3: icp: source a: 'store.log': neither a whole path, from / on, nor a URL" \
	"${ICP[0]}" "icp source a store.log"
refused "a password" "3: icp: source a: a URL with a name or a password, which everybody would see" \
	"${ICP[0]}" "icp source a http://me:secret@10.66.0.1:3128/squid-internal-mgr/objects"
refused "a time that is none" "3: icp: source a: 'soon': not a time of 1s or more such as 20s" \
	"${ICP[0]}" "icp source a /store.log every soon"
refused "a time that is missing" "3: icp: source a: every: a time such as 20s is missing" \
	"${ICP[0]}" "icp source a /store.log every"
refused "a port twice" "3: icp: port is given twice" "icp port 3130" "icp port 3131"
refused "a rate of a cuckoo filter" "2: icp: a cuckoo filter has 64-bit slots and one rate: hash and \
fpp are of counting ones" "icp kind cuckoo" "icp fpp 0.1"
refused "an address that is none" "2: icp: sibling a=10.66.0.300: '10.66.0.300': octet above 255" \
	"icp sibling a=10.66.0.300"
refused "a chain" "3: icp: in a chain only the chain says what comes next: without 'chain' the filter does" \
	"chain" "${ICP[@]}"

# --- applied ----------------------------------------------------------------

conf "${ICP[@]}"
cp "$CONF" whole.conf
check_status "it is looked at" 3 baleen apply --check veth-b
is "and changes nothing" "$(ask 10.66.0.2 $U/one)" "no answer"
check_status "it is applied" 3 baleen apply veth-b
is "and answers, by both families, from what the cache holds" \
	"$(ask 10.66.0.2 $U/one $U/two $U/three), $(ask fd66::2 $U/one $U/three)" "hit hit miss, hit miss"
is "behind the filter" "$(instance .behind_filter .enforced)" "true true"
check "a second time there is nothing to do" baleen apply veth-b
is "it says so" "$(<"$TMP/out")" "veth-b: unchanged, generic"
check "it is printed as it was typed" baleen config veth-b
is "each statement" "$(grep '^icp' "$TMP/out")" "$(printf '%s\n' "${ICP[@]}")"
cp "$TMP/out" again.conf
check "what is printed can be applied" baleen apply -c again.conf veth-b
is "and is the same" "$(<"$TMP/out")" "veth-b: unchanged, generic"
# --- asked about ------------------------------------------------------------

check "match asks the filter of a sibling" baleen match veth-b:a $U/one $U/two $U/three
is "it has two" "$(paste -sd ' ' "$TMP/out")" "$U/one $U/two"
check "info describes it" baleen info veth-b:a
check_status "a sibling that is not there" 1 baleen match veth-b:b $U/one
check "why tells of a hit" baleen why veth-b $U/one
is "and for how long" "$(sed 's/fresh for .*/fresh for HOURS/' "$TMP/out")" \
	"veth-b:a: $U/one: answered: hit; its filter has it, fresh for HOURS"
check "and of a miss, on every device" baleen why -j $U/three
is "as JSON" "$(jq -c '.[0] | [.device, .sibling, .answer, .has, .fresh_s]' "$TMP/out")" \
	'["veth-b","a","miss",false,null]'
check_status "of URLs and addresses at once" 1 baleen why veth-b $U/one 10.66.0.1
held $U/one $U/two
baleen metrics >now.metrics
is "metrics have it" "$(grep -c '^baleen_icp_' now.metrics) \
$(sed -n 's/^baleen_icp_objects{device="veth-b",sibling="a"} //p' now.metrics) \
$(sed -n 's/^baleen_icp_answers_total{device="veth-b",sibling="a",answer="hit"} //p' now.metrics)" "26 2 3"
is "those of one device, too" "$(baleen metrics veth-b | grep -c '^baleen_icp_')" 26
check "another device has none" test "$(baleen metrics lo | grep -c '^baleen_icp_')" = 0
baleen doctor veth-b >now.doctor
is "doctor finds it well" "$(grep -c 'ok.*icp.*1 of 1 cache is answered for' now.doctor)" 1

# serve WHAT: in $B; the process is $server, the digest in got.digest; n_served: of URLs
serve()
{
	: >served
	nsenter --net="/run/netns/$B" -- "$BALEEN" icp serve --listen 0 --pause 0 "$1" >served 2>served.said &
	server=$!
	until_true "$1 is served" grep -q '^http:' served
	in_ns "$B" curl -s -o got.digest "$(sed -n 's|^\(http://[^ ]*\): .*|\1|p' served)"
	kill "$server"
	wait "$server"
}
printf '%s\n' $U/one $U/two $U/three >urls
n_served() { "$BALEEN" icp seed -o got.bln got.digest --from digest && "$BALEEN" match -f urls got.bln | paste -sd ' '; }
serve veth-b:a
is "a cuckoo filter is served as a digest, of its source" "$(n_served)" "$U/one $U/two"
serve store.log
is "so is a file that says what a cache holds" "$(n_served)" "$U/one $U/two"
cp got.digest one.digest
serve one.digest
is "and a digest" "$(n_served) $(cmp one.digest got.digest && echo same)" "$U/one $U/two same"

check "a ban of the asker" baleen ban 10.66.0.1
is "is a ban for queries, too" "$(ask 10.66.0.2 $U/one)" "no answer"
check "it ends" baleen unban 10.66.0.1
is "and they are answered" "$(ask 10.66.0.2 $U/one)" "hit"

check "somebody takes it off" baleen icp detach veth-b
check_status "doctor sees it" 1 baleen doctor veth-b
is "and says how it is mended" "$(grep -A1 'not answered for' "$TMP/out" | grep -c 'baleen apply veth-b')" 1
check_status "that is seen" 3 baleen apply --check veth-b
is "it is told" "$(head -n 1 "$TMP/out")" "veth-b: ~ icp: not in force"
check_status "and mended" 3 baleen apply veth-b
is "it answers again" "$(ask 10.66.0.2 $U/one)" "hit"

conf "${ICP[@]/mode=answer/mode=confirm}"
check_status "another mode" 3 baleen apply --diff veth-b
is "is one line of a difference" "$(grep -c "^veth-b: [-+]icp" "$TMP/out")" 2
check_status "is applied" 3 baleen apply veth-b
is "hits go to the cache now" "$(ask 10.66.0.2 $U/one $U/three)" "no answer miss"
baleen why veth-b $U/one >now.why
is "why says so" "$(grep -c 'left to the cache: mode confirm leaves hits to it; its filter has it' now.why)" 1

# --- taken back ---------------------------------------------------------------

conf "${ICP[@]}"
check_status "on trial" 3 baleen apply --confirm 4s veth-b
is "it is in force" "$(ask 10.66.0.2 $U/one)" "hit"
await "unless it is confirmed it ends" answers "no answer miss" 10.66.0.2 $U/one $U/three
check_status "on trial once more" 3 baleen apply --confirm 60s veth-b
check "confirmed" baleen confirm veth-b
is "it stays" "$(ask 10.66.0.2 $U/one)" "hit"

# --- boot ---------------------------------------------------------------------

check "the filter is detached until the next boot" baleen detach veth-b
is "nobody answers" "$(ask 10.66.0.2 $U/one) $(baleen icp status -j)" "no answer []"
check "the boot" baleen restore --boot veth-b
is "it says what is on again" "$(tail -n 1 "$TMP/out")" "veth-b: answers for caches"
is "and the answers come back, of an empty filter" "$(ask 10.66.0.2 $U/one)" "miss"

# --- saved ----------------------------------------------------------------------

baleen config veth-b >before.text
check "it is saved" baleen save veth-b -o "$TMP/icp.saved"
check "forgotten" baleen detach --forget --entries veth-b
is "nobody answers" "$(ask 10.66.0.2 $U/one)" "no answer"
check "restored" baleen restore veth-b "$TMP/icp.saved"
is "the caches are answered for" "$(ask 10.66.0.2 $U/one)" "hit"
is "as a configuration says" "$(baleen config veth-b)" "$(<before.text)"

# --- baleend ------------------------------------------------------------------

play_systemd
start_baleend "$B"
await "baleend reads what the cache holds" answers "hit miss" 10.66.0.2 $U/one $U/three
held $U/three
await "and reads it again" answers "miss hit" 10.66.0.2 $U/one $U/three
check "another one takes the programs off" baleen icp detach veth-b
check "a ban, which announces a change" baleen ban 192.0.2.7
await "baleend puts them on again" answers "hit" 10.66.0.2 $U/three
n_children() { pgrep -c -P "$baleend_pid" baleen; }
is "one resync runs" "$(n_children)" 1
is "it is no news each time" "$(grep -c 'objects\? in' "$TMP/baleend.log")" 0
conf
check_status "without statements" 3 baleen apply veth-b
is "nobody answers, and the filter stays" "$(ask 10.66.0.2 $U/three) $(baleen status -j | jq length)" "no answer 1"
none_runs() { ! n_children; }
await "and no resync runs" none_runs
cp whole.conf "$CONF"
check_status "with them again" 3 baleen apply veth-b
await "a resync runs again" n_children
child=$(pgrep -P "$baleend_pid" baleen)
kill -9 "$baleend_pid"
gone() { ! kill -0 "$child" 2>/dev/null; }
await "a baleend that is killed leaves none" gone
