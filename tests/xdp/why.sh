#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen why` on a thousand packets that are dropped and a thousand that pass: each
# answer is compared, word for word, with what a slow reference says
# (tests/tools/why.c), each verdict with what becomes of a real frame.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck disable=SC2119 # the default pair
make_pair
W=$TMP/world
D=veth-b
mkdir -p "$TMP/conf" "$W/dir"

baleen() { in_ns "$B" "$BALEEN" "$@"; }

now_ms() { date +%s%3N; }

# As tests/tools/why.c writes them.
cat >"$TMP/answers.jq" <<'JQ'
def entry:
	if .feed then "\(.entry)@\(.feed | ltrimstr($dir)):\(.line)"
	else "\((.stands_for // .entry) | sub("/128$"; ""))=\(.origin)/\(.reason)/\(
		if .expires_ms then .expires_ms - .added_ms else 0 end)" end;
def withheld:
	if . == null then "" elif .role == "never" then "never:\(.what)"
	else "\(.role):\(.key)" end;
def bit: if . then 1 else 0 end;
.[] | "\(.address) \(.verdict) \(if .would_drop then "would" else "not" end) " +
	(if .because == "rule" then .rule else .because | sub("unmatched"; "default") end) +
	([.rules[] | " \(.rule)=\(.holds | bit)\(.matches | bit)\(.differs | bit)[" +
		([.entries[] | entry + " "] | add // "") +
		"\(.n_entries)]\(.withheld | withheld)"] | add)
JQ

# counted: all that the device has counted
counted()
{
	baleen status -j "$D" | jq -c '.[0] | [.rules[].packets, .rules[].packet_bytes, .unmatched,
		.vital, .unparsed[], .sample.sampled, .sample.not_sampled]'
}

# --- two thousand questions ---------------------------------------------------

# make_world SEED N DEFAULT [dry-run]: and put it on
make_world()
{
	local rule file

	"$ROOT/build/tools/why" "$W" "$@" >"$TMP/seed" || bail "no world"
	gzip -nc "$W/packed" >"$W/packed.gz"
	"$BALEEN" build -o "$W/image" "$W/image.list" 2>"$TMP/err" || bail "$(cat "$TMP/err")"
	cp "$W/conf" "$TMP/conf/$D.conf"
	began_ms=$(now_ms)
	check_status "$NAME: apply" 3 baleen apply --force
	[ -n "$(xdp_id "$B" "$D")" ] || bail "nothing to ask"
	for file in "$W"/singles.*; do
		rule=${file##*.}
		check "$NAME: single entries of $rule" baleen feed "$D:$rule" - <"$file"
	done
	ended_ms=$(now_ms)
}

# compare_answers N: group by group
compare_answers()
{
	local i

	for i in {0..7}; do
		# shellcheck disable=SC2046 # words
		check "$NAME: ask group $i:$(sed 's/^./ &/' "$W/options.$i")" \
			baleen why -j "$D" $(cat "$W/asked.$i" "$W/options.$i")
		mv "$TMP/out" "$TMP/out.$i"
		jq -r --arg dir "$W/" -f "$TMP/answers.jq" "$TMP/out.$i" >"$TMP/got.$i"
		is "$NAME: group $i, $(wc -l <"$W/want.$i") answers" \
			"$(diff "$TMP/got.$i" "$W/want.$i" | head -n 4)" ""
	done
	is "$NAME: as many drops as passes" "$(cat "$TMP"/got.? | cut -d' ' -f3 | sort | uniq -c |
		paste -sd' ' | tr -s ' ')" " $1 not $1 would"
	is "$NAME: entries and feeds came when they came" "$(cat "$TMP"/out.? | jq -s "[.[][].rules[]
		.entries[] | .added_ms // .received_ms | . >= $began_ms and . <= $ended_ms] |
		unique | tostring" -r)" "[true]"
}

# frames FILE: a letter for each
frames()
{
	# shellcheck disable=SC2046 # words
	"$ROOT/build/tools/frame" -v "$A:veth-a" "$B:veth-b" $(<"$1")
}

compare_frames()
{
	local part

	split -l 500 "$W/frames" "$TMP/part."
	for part in "$TMP"/part.*; do
		frames "$part"
	done | tr -d '\n' >"$TMP/fates"
	is "$NAME: so fare real frames" "$(cat "$TMP/fates")" "$(cat "$W/fates")"
	rm "$TMP"/part.*
}

# try_world NAME SEED N DEFAULT [dry-run]: N drops, N passes
try_world()
{
	local before

	NAME=$1
	make_world "${@:2}"
	before=$(counted)
	compare_answers "$3"
	is "$NAME: nothing was counted" "$(counted)" "$before"
	compare_frames
	check "$NAME: detach" baleen detach "$D"
	rm -r "$TMP/state"
}

try_world "default pass" 1 1000 pass
try_world "default drop" 2 200 drop
try_world "dry run" 3 200 pass dry-run
