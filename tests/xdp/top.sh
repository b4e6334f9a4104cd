#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen top`: pages for scripts against what was sent, and the full screen in a
# real terminal, tmux: small and large, in UTF-8 and without, resized; and the
# terminal is as it was, however it ends.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
cd "$TMP" || exit 2

# baleen ARGUMENT...: in the namespace that receives
baleen()
{
	in_ns "$B" timeout 60 "$BALEEN" "$@"
}

cleanup()
{
	tm kill-server 2>/dev/null
}

# --- traffic ---------------------------------------------------------------

traffic=0

# send_on: heavy.txt again and again: two addresses of bad.txt in a third and a
# ninth of the frames, the others of it once each; nothing of good.txt
send_on()
{
	local heavy other line

	make_list bad.txt 500 0 7
	make_list good.txt 100 0 8 --avoid bad.txt
	heavy=$(sed -n 1p bad.txt) other=$(sed -n 2p bad.txt)
	{
		cat bad.txt
		for _ in {1..300}; do echo "$heavy"; done
		for _ in {1..100}; do echo "$other"; done
	} >mix.txt
	HEAVY=$heavy OTHER=$other
	check "attach" baleen attach veth-b --dry-run --drop bad.txt --allow good.txt
	mkfifo said
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --unlisted mix.txt --loop >said &
	traffic=$!
	exec 4<said
	IFS= read -r -t 60 line <&4
	[ "$line" = running ] || bail "traffic says '$line'"
}

# --- pages -----------------------------------------------------------------

# page OPTION...: one page as JSON into $TMP/page
page()
{
	baleen top --once -j "$@" veth-b >page 2>errors || bail "top: $(<errors)"
}

try_pages()
{
	local before after

	before=$(counters "$B" veth-b | jq '.[0]')
	page -i 300ms
	after=$(counters "$B" veth-b | jq '.[0]')
	is "one line" "$(wc -l <page)" 1
	is "what it is" "$(jq -c '[.device, .state, .mode, .dry_run, .default]' page)" \
		'["veth-b","attached","native",true,"pass"]'
	is "its rules" "$(jq -c '[.rules[] | [.name, .action]]' page)" '[["bad","drop"],["good","allow"]]'
	is "what matches has a rate" \
		"$(jq '.rules[0] | .packets_per_second > 0 and .bytes_per_second > .packets_per_second' page)" \
		true
	is "what does not has none" "$(jq '.rules[1] | [.packets_per_second, .packets] == [0, 0]' page)" true
	is "sums are of their parts" "$(jq '.dropped_packets_per_second == .rules[0].packets_per_second and
		.packets_per_second > .dropped_packets_per_second' page)" true
	is "the count is between two others" \
		"$(jq --argjson a "$before" --argjson b "$after" '.rules[0].packets | . > $a and . <= $b' page)" \
		true
	is "nobody reads events" "$(jq -c '.events | [.reader, .read, .keys]' page)" '["none",0,[]]'

	check "three pages" baleen top -b -i 200ms -n 3 veth-b
	cp out pages
	is "are three" "$(grep -c '^veth-b: DRY RUN, attached, native ' pages)" 3
	is "with a line for each rule" "$(grep -cE '^(bad +drop|good +allow|\(default\) +pass) ' pages)" 9
	is "in columns" "$(grep -m 1 '^RULE' pages)" "RULE      ACTION  PKT/S BYTE/S  TOTAL PKT/S"
	is "none of them too wide" "$(grep -E '^.{81}' pages)" ""
	is "no more than ASCII here" "$(LC_ALL=C grep -c '[^ -~]' pages)" 0
	is "two rates make two columns of a picture" "$(grep -cE '^bad .* [_.=+*#-]{2}$' pages)" 1
	is "no events" "$(grep -c "^no events: 'baleen policy veth-b --sample 100/s' samples some" pages)" 3
	check "as wide as is said" env COLUMNS=40 nsenter --net="/run/netns/$B" -- \
		"$BALEEN" top --once -i 100ms veth-b
	is "no line is wider" "$(grep -E '^.{41}' out)" ""
	is "and what has no place is left out" "$(grep -c ACTION out)" 0
	check "blocks, where the locale has them" env LC_ALL=C.UTF-8 nsenter \
		--net="/run/netns/$B" -- "$BALEEN" top --once -i 100ms veth-b
	is "one" "$(grep -c '█' out)" 1
	check "none of them when not wanted" env LC_ALL=C.UTF-8 nsenter --net="/run/netns/$B" -- \
		"$BALEEN" top --once --ascii -i 100ms veth-b
	is "not one" "$(grep -c '█' out)" 0
	check "sorted" baleen top --once -j -i 100ms --sort packets veth-b
	is "the busy one first" "$(jq -r '.rules[0].name' out)" bad
	check "in order" baleen rule move veth-b:good --first
	check "unsorted" baleen top --once -j -i 100ms veth-b
	is "the first one first" "$(jq -r '.rules[0].name' out)" good
	check "sorted by bytes" baleen top --once -j -i 100ms --sort bytes veth-b
	is "the busy one again" "$(jq -r '.rules[0].name' out)" bad
}

# --- events ----------------------------------------------------------------

try_events()
{
	local line watcher

	check "sample" baleen policy veth-b --sample 5000/s
	check "two pages" baleen top -j -i 500ms -n 2 veth-b
	tail -n 1 out >page
	is "we read the events" "$(jq -r '.events | .reader, (.read > 0)' page | paste -s -d ' ')" "top true"
	is "the most frequent keys" "$(jq -r '.events.keys[:2][] | .key, .rule' page | paste -s -d ' ')" \
		"$HEAVY bad $OTHER bad"
	is "within the bound" "$(jq '.events | .error_bound <= .read / 256 and
		all(.keys[]; .error <= .count and .error <= $bound)' --argjson bound \
		"$(jq .events.error_bound page)" page)" true

	mkfifo told
	nsenter --net="/run/netns/$B" -- "$BALEEN" watch veth-b >/dev/null 2>told &
	watcher=$!
	exec 3<told
	IFS= read -r -t 60 line <&3
	[ "$line" = "baleen: watching veth-b" ] || bail "watch says '$line'"
	page -i 200ms
	is "another reader is named" "$(jq -c '.events | [.reader, .reader_pid, .read]' page)" \
		"[\"other\",$watcher,0]"
	is "there are rates all the same" "$(jq '.rules[1].packets_per_second > 0' page)" true
	check "on a page, too" baleen top --once -i 100ms veth-b
	is "by its name" "$(grep '^events' out)" "events are read by process $watcher (baleen)"
	kill "$watcher"
	wait "$watcher"
	exec 3<&-
}

# --- refused ---------------------------------------------------------------

# misuse NAME MESSAGE ARGUMENT...
misuse()
{
	expect "$1" 2 "" "baleen: top: $2 (see 'baleen help top')" baleen top "${@:3}"
}

try_refusals()
{
	misuse "no device" "one device is asked for" -b
	misuse "two" "one device is asked for" -b veth-b lo
	misuse "an interval too short" "--interval '99ms': not 100ms to 1h" -i 99ms veth-b
	misuse "too long" "--interval '2h': not 100ms to 1h" -i 2h veth-b
	misuse "no span of time" "--interval '1': not 100ms to 1h" -i 1 veth-b
	misuse "no order" "--sort 'name': not order, packets or bytes" --sort name veth-b
	misuse "no number" "'0': no number of looks" -n 0 veth-b
	misuse "no terminal" "this is no terminal: --batch, --once or -j" veth-b
	refuses "no filter" "baleen is not attached to lo" baleen top -b lo
	refuses "no device" "nosuch: no such device" baleen top -b nosuch
	expect "a full disk" 1 "" "baleen: cannot write the output: No space left on device" \
		full_disk
}

full_disk()
{
	baleen top --once -i 100ms veth-b >/dev/full
}

# --- the screen ------------------------------------------------------------

# tm ARGUMENT...: a tmux of our own, whose terminals speak UTF-8. Each terminal has a server of
# its own: one that is about to end takes no new session.
tm()
{
	LC_ALL=C.UTF-8 tmux -S "$TMP/tmux.$terminals" -f /dev/null "$@"
}

terminal=screen-256color
terminals=0

# start LOCALE WIDTH HEIGHT [OPTION...]: top in a terminal; the shell around it
# tells how it ended and what it left of the terminal
start()
{
	rm -f before after
	terminals=$((terminals + 1))
	cat >run.sh <<-END
		stty -g >before
		sh -c 'echo \$\$ >pid; LC_ALL=$1 TERM=$terminal exec nsenter --net=/run/netns/$B -- \
			$BALEEN top -i 100ms ${*:4} veth-b'
		echo "ended \$?"
		stty -g >after
		read -r
	END
	tm new-session -d -x "$2" -y "$3" "bash --norc $TMP/run.sh" || bail "no tmux"
}

# shown: the screen, without what is blank at its end
shown()
{
	tm capture-pane -p
}

# until_shown REGEX: waits for it, for a minute at most; is left in $TMP/shown
until_shown()
{
	local deadline=$((SECONDS + 60))

	while shown >shown; ! grep -qE "$1" shown; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

# see NAME REGEX: the screen comes to show this
see()
{
	if until_shown "$2"; then
		ok "$1"
	else
		not_ok "$1" "not shown: $2"$'\n'"$(<shown)"
	fi
}

# said NAME [TEXT]: all that is left to be read when it has ended
said()
{
	is "$1: this was said" "$(grep -v '^ended' shown | grep -v '^$')" "${2-}"
}

# restored NAME STATUS: it has ended so, and the terminal is as it was
restored()
{
	see "$1" "^ended $2\$"
	is "$1: the screen is the shell's, with a cursor" \
		"$(tm display-message -p '#{alternate_on} #{cursor_flag}')" "0 1"
	until [ -s after ] || [ "$SECONDS" -gt 600 ]; do :; done
	is "$1: the terminal is as it was" "$(<after)" "$(<before)"
	tm kill-session
}

# too_wide COLUMNS: lines of $TMP/shown that are
too_wide()
{
	LC_ALL=C.UTF-8 grep -E "^.{$(($1 + 1))}" shown
}

try_sizes()
{
	local locale size width height

	for locale in C.UTF-8 C; do
		for size in "80 24" "40 10" "3 2"; do
			read -r width height <<<"$size"
			start "$locale" "$width" "$height"
			if [ "$width" -ge 40 ]; then
				see "$locale $size: the title" "^veth-b: DRY RUN, attached, native"
				see "$locale $size: a rule" "^bad .* [0-9.]+[kM]? +[0-9.]+[kM]?"
				see "$locale $size: the keys" "^q quit  p pause  s sort"
				is "$locale $size: in the last line" "$(grep -n '^q quit' shown | cut -d: -f1)" \
					"$height"
				see "$locale $size: a picture" \
					"$([ "$locale" = C ] && echo '^bad .* [_.=+*#-]{3,}$' || echo '^bad .* [▁▂▃▄▅▆▇█]{3,}$')"
				is "$locale $size: no other characters" "$([ "$locale" != C ] || LC_ALL=C \
					grep -c '[^ -~]' shown)" "$([ "$locale" != C ] || echo 0)"
			else
				see "$locale $size: what there is room for" "^ve"
			fi
			is "$locale $size: as wide as the terminal" "$(too_wide "$width")" ""
			tm send-keys q
			see "$locale $size: ends" "^(ended 0|end|0)"
			tm kill-session
		done
	done
}

try_keys()
{
	start C.UTF-8 80 24
	see "all columns" "^RULE +ACTION +PKT/S +BYTE/S +TOTAL PKT/S$"
	see "the keys of events" "^KEYS of [0-9,]+ events?"
	see "the most frequent first" "^$HEAVY +[0-9]+ +[0-9.]+% bad$"
	tm send-keys s
	see "by packets" "PKT/S, BY PKT/S$"
	tm send-keys s
	see "by bytes" "PKT/S, BY BYTE/S$"
	tm send-keys s
	see "in order" "TOTAL PKT/S$"
	tm send-keys p
	see "paused" "^veth-b: PAUSED, DRY RUN"
	cp shown frozen
	tm send-keys s
	see "sorts what is there" "PKT/S, BY PKT/S$"
	is "and counts no further" "$(grep '^bad' shown)" "$(grep '^bad' frozen)"
	tm send-keys p
	see "and goes on" "^veth-b: DRY RUN"
	tm resize-window -x 40 -y 10
	see "made smaller" "^RULE +PKT/S BYTE/S PKT/S"
	is "it fits" "$(too_wide 40)" ""
	is "with the keys below" "$(sed -n 10p shown)" "q quit  p pause  s sort  c clear keys"
	tm resize-window -x 100 -y 30
	see "made larger" "^RULE +ACTION +PKT/S"
	is "with the keys below, again" "$(sed -n 30p shown)" "q quit  p pause  s sort  c clear keys"
	check "no more events" baleen policy veth-b --no-sample
	see "it says so" "^no events: "
	check "events again" baleen policy veth-b --sample 1000/s
	see "and reads them" "^events: "
	check "another rule" baleen rule add veth-b --count extra=bad.txt
	see "it is shown" "^extra +count"
	check "is deleted" baleen rule del veth-b:extra
	see "the others stay" "^bad +drop"
	tm send-keys q
	# Of a screen that was resized tmux may show lines again that were there before.
	restored "q" 0
}

try_ends()
{
	start C.UTF-8 80 24
	see "for Ctrl-C" "^bad .*[1-9]"
	tm send-keys C-c
	restored "Ctrl-C" 0
	said "Ctrl-C"
	for signal in TERM HUP QUIT; do
		start C.UTF-8 80 24
		see "for SIG$signal" "^bad .*[1-9]"
		kill "-$signal" "$(<pid)"
		restored "SIG$signal" 0
		said "SIG$signal"
	done
	terminal=nosuch
	start C.UTF-8 80 24
	restored "an unknown terminal" 1
	said "an unknown terminal" \
		"baleen: this terminal is of an unknown kind: use --batch, or set TERM"
	terminal=screen-256color

	start C.UTF-8 80 24
	see "for a detach" "^bad .*[1-9]"
	check "detach" baleen detach veth-b
	restored "detached" 1
	# It may look between the two steps of a detach.
	said "detached" "$(grep -x -e "baleen: baleen is not attached to veth-b" \
		-e "baleen: veth-b: the filter is not in force (detached)" shown)"

	check "attach again" baleen attach veth-b --dry-run --drop bad.txt
	start C.UTF-8 80 24
	see "for a deletion" "^bad .*[0-9]"
	kill "$traffic"
	wait "$traffic"
	check "delete the device" ip -n "$B" link del veth-b
	restored "the device is gone" 1
	said "the device is gone" "baleen: veth-b: the filter is not in force (gone)"
}

make_pair
send_on
try_pages
try_events
try_refusals
try_sizes
try_keys
try_ends
