#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# No filter goes live with a higher false positive rate than its rule accepts, by whatever command
# and whatever it is made of: innocents are counted before and after.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
cd "$TMP" || exit 2
export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run BALEEN_CONF_DIR=$TMP/conf
mkdir -p conf

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# A filter that is full of others would be refused since it holds addresses of this host, too: a few
# of them, and one seed.

# addresses FIRST N: so many IPv4 addresses
addresses()
{
	awk -v first="$1" -v n="$2" 'BEGIN { for (i = first; i < first + n; i++)
		printf "%d.%d.%d.%d\n", 20 + i % 7, i * 31 % 256, i / 256 % 256, 1 + i * 7 % 250 }'
}

addresses 0 100 >listed
addresses 1000 1000 >others
addresses 10000 20000 >innocents
head -n 150 others >few
awk 'BEGIN { for (i = 0; i < 800; i++) printf "2a00:%x:%x:%x::1\n", i, i * 7, i * 31 }' >listed6
awk 'BEGIN { for (i = 0; i < 100; i++) printf "2a01:%x:%x:%x::1/128\n", i, i * 7, i * 31 }' >few6
# made OUT KIND CAPACITY: an image of what is listed
made()
{
	"$BALEEN" build --kind "$2" --fpp 0.01 --capacity "$3" --seed rates -o "$1" listed >/dev/null || bail "no $1"
}

for kind in bloom counting classic; do
	made $kind.bln $kind 110
	made large-$kind.bln $kind 2000
	cp $kind.bln full-$kind.bln
	"$BALEEN" add -f few full-$kind.bln >/dev/null 2>&1 || bail "$kind is not filled"
done
"$BALEEN" build --fpp 0.001 --capacity 1000 -o narrow.bln listed6 >/dev/null || bail "no narrow slots"

# hit: innocents that the rule takes for listed
hit()
{
	baleen match -c -f innocents veth-b:bad
}

# rate: what the rule comes to
rate()
{
	baleen info -j veth-b:bad | jq -r '.[0].fpp'
}

# at_most A B
at_most()
{
	jq -ne --argjson a "$1" --argjson b "$2" '$a <= $b' >/dev/null
}

# refused NAME COMMAND...: for its rate; what is in force stays
refused()
{
	local before

	before=$(rate)
	check_status "$1: is refused" 1 "${@:2}"
	is "$1: it says why in one line" "$(grep -cE 'rate (to )?[0-9.e-]+, accepted [0-9.e-]+' "$TMP/err") $(wc -l <"$TMP/err")" "1 1"
	is "$1: the rate stays" "$(rate)" "$before"
}

by_hand()
{
	baleen detach --forget --entries veth-b >/dev/null 2>&1
	baleen attach veth-b "$@" --accept-fpp 0.02 >/dev/null 2>"$TMP/log" || bail "attach: $(cat "$TMP/log")"
}

# --- by hand --------------------------------------------------------------------

# try_image KIND ACTION
try_image()
{
	local kind=$1 before

	by_hand "--$2" bad="$kind.bln"
	check "$kind, $2: one more" baleen add veth-b:bad 9.9.9.9
	before=$(hit)
	refused "$kind, $2: add -f" baleen add veth-b:bad -f others
	is "that can be pasted" "$(grep -oE "'baleen swap .*'" "$TMP/err")" \
		"'baleen swap veth-b:bad IMAGE --accept-fpp 0.02'"
	refused "$kind, $2: merge" baleen merge veth-b:bad others
	refused "$kind, $2: swap" baleen swap veth-b:bad "full-$kind.bln" --accept-fpp 0.02
	sed 's/^/add /' others >lines
	check_status "$kind, $2: feed" 1 baleen feed veth-b:bad - <lines
	is "$kind, $2: innocents that are hit" "$(hit)" "$before"
	check "$kind, $2: a larger image" baleen swap veth-b:bad "large-$kind.bln" --accept-fpp 0.02
	check "$kind, $2: takes them" baleen add veth-b:bad -f others
	is "all" "$(baleen match -c -f others veth-b:bad)" 1000
	check "and hits no more innocents" at_most "$(rate)" 0.02
}

try_restored()
{
	by_hand --drop bad=bloom.bln
	check "save" baleen save -o saved veth-b
	baleen detach --forget --entries veth-b >/dev/null
	check "restore" baleen restore veth-b saved
	check "restored: one more" baleen add veth-b:bad 9.9.9.9
	refused "restored: add -f" baleen add veth-b:bad -f few
	check "merge takes what is said" baleen merge veth-b:bad few --accept-fpp 0.2
	check "and so do entries from then on" baleen add veth-b:bad 9.9.9.8
}

# Keys that are known are built larger.
try_list()
{
	by_hand --drop bad=listed --kind bloom --fpp 0.01
	check "a list: add -f" baleen add veth-b:bad -f others
	check "hits no more innocents" at_most "$(rate)" 0.02
	check "a list: merge" baleen merge veth-b:bad innocents
	check "hits no more innocents" at_most "$(rate)" 0.02
}

try_narrow()
{
	baleen detach --forget --entries veth-b >/dev/null 2>&1
	check "narrow slots" baleen attach veth-b --drop bad=narrow.bln --accept-fpp 0.00075
	check "a few more find room" baleen add veth-b:bad 2a02::1/128 2a02:1::1/128
	refused "narrow slots: add -f" baleen add veth-b:bad -f few6
	mapfile -t keys <few6
	refused "narrow slots: add" baleen add veth-b:bad "${keys[@]}"
	baleen detach --forget --entries veth-b >/dev/null
	check "without a state" baleen attach veth-b --drop bad=narrow.bln --accept-fpp 0.00075 --no-state
	refused "narrow slots without a state: add" baleen add veth-b:bad "${keys[@]}" --accept-fpp 0.00075
	check "accepted" baleen add veth-b:bad "${keys[@]}" --accept-fpp 0.002
}

# --- configured -----------------------------------------------------------------

# configured FPP: the image that is there
configured()
{
	printf '%s\n' "rule bad drop" "	bans" "	fpp $1" "	feed $TMP/image.bln" >conf/veth-b.conf
}

try_configured()
{
	baleen detach --forget --entries veth-b >/dev/null 2>&1
	cp bloom.bln image.bln
	configured 0.02
	check_status "apply" 3 baleen apply veth-b
	check "configured: one more" baleen ban 9.9.9.9
	refused "configured: add -f" baleen add veth-b:bad -f few
	is "it says what consents" "$(grep -c "'fpp .*' in its configuration consents to it" "$TMP/err")" 1
	refused "configured: merge" baleen merge veth-b:bad few
	cp full-bloom.bln image.bln
	refused "configured: update" baleen update --force veth-b
	refused "configured: apply --force" baleen apply --force veth-b
	cp bloom.bln image.bln
	configured 0.001
	refused "configured: apply of a lower rate" baleen apply veth-b
	configured 0.2
	check_status "a higher one" 3 baleen apply veth-b
	check "consents" baleen add veth-b:bad -f few
	configured 0.02
	refused "and is taken back only with the entries" baleen apply veth-b
}

# --- who looks ---------------------------------------------------------------------

try_seen()
{
	by_hand --drop bad=bloom.bln
	is "doctor finds nothing" "$(baleen doctor -j veth-b | jq -c '.[] | select(.check == "rate")')" ""
	baleen metrics >families
	is "metrics: what is accepted" "$(sed -n 's/^baleen_rule_accepted_false_positive_ratio.* //p' families)" 0.02
	check "what is" at_most "$(sed -n 's/^baleen_rule_false_positive_ratio.* //p' families)" 0.02
	sqlite3 "$(find run state -name state.db 2>/dev/null)" \
		"UPDATE text SET value = '1e-6' WHERE name = 'accept-fpp bad'" || bail "no state"
	check_status "a filter that errs more often than its rule accepts" 1 baleen doctor -j veth-b
	jq -c '.[] | select(.check == "rate")' "$TMP/out" >finding
	is "is a problem" "$(jq -r '.level + " " + .text' finding | sed -E 's/is [0-9.e-]+,/is X,/')" \
		"problem rule bad: its false positive rate is X, and it accepts 1e-06"
	is "that a command mends" "$(jq -r .command finding)" "baleen swap veth-b:bad LIST"
	check "it" baleen swap veth-b:bad listed
	is "does" "$(baleen doctor -j veth-b | jq -c '.[] | select(.check == "rate")')" ""
}

for kind in bloom counting classic; do
	try_image $kind drop
done
try_image bloom allow
try_restored
try_list
try_narrow
try_configured
try_seen
