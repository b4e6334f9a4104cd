#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A device, a rule, feeds, files, reasons and lines of lists that are called so that a terminal, a
# shell or a page would obey them. No command sends such a byte to stdout or stderr, -j is JSON, a
# command that a message suggests is the one that it means, completion runs nothing, and of a
# file that not everybody may read no message quotes a line.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
play_systemd
make_pair
chmod 755 "$TMP"
mkdir "$TMP/conf" "$TMP/lists" "$TMP/here" "$TMP/bin"
ln -s "$BALEEN" "$TMP/bin/baleen"
# What would be executed makes files in here.
cd "$TMP/here" || exit 2

# All 15 bytes that a name can have: a title for xterm, the other direction, quotes, no UTF-8.
DEV=$'$(>x)\e]0;\xe2\x80\xae\'"\x9b'
SHOWN='$(>x)\x1b]0;\u{202e}'\''"\x9b'
RULE=bad
REASON=$'$(>s)\xe2\x80\xae\xe2\x80\x8b<b>&"\'\\'
L=$TMP/lists
EVIL=$L/$'e\e[2J\n$(>f).txt'
# In a file of options, as of `baleen info *`.
OPTION=$'--\e[2J'

in_ns "$B" ip link set veth-b down
in_ns "$B" ip link set veth-b name "$DEV" || bail "no such name for a device"
in_ns "$B" ip link set "$DEV" up

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# raw FILE: which lines have bytes that a terminal obeys, or no UTF-8
raw()
{
	LC_ALL=C grep -naP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf' "$1" |
		cat -v
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || echo "$1 is no UTF-8"
}

n_shown=0

# clean NAME COMMAND...: whatever it does, no such byte comes out; what did is in $TMP/out and
# $TMP/err, with how it has ended in $status
clean()
{
	"${@:2}" >"$TMP/out" 2>"$TMP/err" </dev/null
	status=$?
	grep -qF '\x1b' "$TMP/out" "$TMP/err" && n_shown=$((n_shown + 1))
	is "$1" "$(raw "$TMP/out")$(raw "$TMP/err")" ""
}

# clean_json NAME COMMAND...: the same, and stdout is JSON of the device as it is called, but for
# what is no UTF-8
clean_json()
{
	clean "$@"
	jq -e . "$TMP/out" >/dev/null 2>"$TMP/jq" || not_ok "$1: JSON" "$(head -c 500 "$TMP/jq" "$TMP/out" "$TMP/err")"
}

# --- something to say ----------------------------------------------------------

printf '9.9.9.9\n' >"$L/good.txt"
printf '9.9.9.8\n' >"$EVIL"
printf '9.9.9.0/24\n\e]0;x\a\xe2\x80\xae $(>l)\n' >"$L/bad.txt"
printf '9.9.9.0/24,%s\n' $'\e[31m' >"$L/bad.csv"
cat >"$TMP/conf/$DEV.conf" <<END
rule $RULE drop
    bans
    special keep
    feed $L/good.txt
rule files drop
    special keep
    feed $L
END
rm -f "$L/bad.txt" "$L/bad.csv"
clean "attach of a file that is called so" baleen attach "$DEV" --drop "$EVIL"
clean "attach of a rule that is called so" baleen attach "$DEV" --drop "\$(>n)=$L/good.txt"
clean "apply says what changes" baleen apply "$DEV" --diff
clean "apply" baleen apply "$DEV"
is "is done" "$(baleen status -s "$DEV" | grep -c attached)" 1
clean_json "apply -j" baleen apply "$DEV" -j
clean "ban" baleen ban 9.9.9.7 1h --reason "$REASON" --origin o
clean_json "ban -j" baleen ban 9.9.9.6 1h --reason "$REASON" -j
baleen policy "$DEV" --sample 1000/s >/dev/null

# --- commands -------------------------------------------------------------------

clean "status" baleen status "$DEV"
is "shows the device" "$(head -n 1 "$TMP/out" | grep -cF "$SHOWN: ")" 1
clean "status of all" baleen status
clean "status -s" baleen status -s
clean_json "status -j" baleen status -j "$DEV"
is "has the device as it is called" "$(jq -r '.[0].device' "$TMP/out")" "${DEV%?}\x9b"
clean "list" baleen list "$DEV"
is "shows the reason" "$(grep -cF '$(>s)\u{202e}\u{200b}<b>&"'\''\' "$TMP/out")" 2
clean_json "list -j" baleen list "$DEV" -j
is "has the reason as it is" "$(jq -r '.[] | select(.origin == "o") | .reason' "$TMP/out")" "$REASON"
clean "list of a rule that is not there" baleen list "$DEV:none"
clean "why" baleen why "$DEV" 9.9.9.7
clean "why of a file" baleen why "$DEV" 9.9.9.8
is "shows the file" "$(grep -cF 'e\x1b[2J\x0a$(>f).txt' "$TMP/out")" 1
clean_json "why -j" baleen why "$DEV" 9.9.9.8 -j
clean "doctor" baleen doctor "$DEV"
clean_json "doctor -j" baleen doctor "$DEV" -j
clean "top" baleen top --once "$DEV"
clean_json "top -j" baleen top -j -n 1 "$DEV"
clean "top --feeds" baleen top --feeds "$DEV"
clean "metrics" baleen metrics "$DEV"
is "has the device as a label" "$(grep -cF 'baleen_device_attached{device="$(>x)\\x1b]0;\\u{202e}'\''\"\\x9b"} 1' "$TMP/out")" 1
is "and its state" "$(grep -c '^baleen_feed_entries{.*} 1$' "$TMP/out")" 3
clean "metrics for OpenMetrics" baleen metrics --openmetrics "$DEV"
clean "metrics of all" baleen metrics
clean "refresh" baleen refresh "$DEV"
clean "update" baleen update "$DEV"
clean_json "update -j" baleen update "$DEV" -j
clean "save" baleen save "$DEV" -o "$TMP/saved"
clean_json "save -j" baleen save "$DEV" -o "$TMP/saved2" -j
clean "restore" baleen restore "$DEV" "$TMP/saved"
clean "apply after it" baleen apply "$DEV"
clean "rule that is not there" baleen rule del "$DEV:$RULE-2"
clean "swap of one" baleen swap "$DEV:no"$'\e' "$L/good.txt"
clean "add" baleen add "$DEV:$RULE" 9.9.9.5 --reason "$REASON"
clean "add of no key" baleen add "$DEV:$RULE" $'\e]0;9\a'
clean_json "add -j" baleen add "$DEV:$RULE" 9.9.9.4 --reason "$REASON" -j
clean "del of none" baleen del "$DEV:$RULE" 9.9.9.3
clean "del of another origin" baleen del "$DEV:$RULE" 9.9.9.7 --origin x
clean "an origin that is none" baleen del "$DEV:$RULE" 9.9.9.7 --origin $'\e'
clean "unban" baleen unban 9.9.9.6
clean "flush" baleen flush "$DEV:$RULE" --origin o
clean "policy" baleen policy "$DEV" --dry-run
clean "policy -j" baleen policy "$DEV" --enforce -j
clean "attach twice" baleen attach "$DEV" --drop "$L/good.txt"
clean "confirm of nothing" baleen confirm "$DEV"
clean "icp of nothing" baleen icp status "$DEV"
clean "icp" baleen icp detach "$DEV"
clean "set of nothing" baleen set release "$DEV:$RULE"
clean "feed" baleen feed "$DEV:$RULE" -
clean "watch" in_ns "$B" timeout 1 "$BALEEN" watch -c 1 "$DEV"
clean "a device that is not there" baleen status $'\e[2J'
clean "a command that is none" baleen $'\e[2J'
clean "a verb that is none" baleen fleet $'\e[2J'
clean "an option that is none" baleen info "$OPTION"
clean "an option without its name" baleen info -$'\e'
clean "a value that is none" baleen build --seed $'\e[2J'
clean "a file that is not there" baleen info $'no\e[2J'
clean "info of a file" baleen info "$EVIL"
clean_json "info -j" baleen info -j "$EVIL"
clean "match" baleen match "$EVIL" $'\e]0;'
clean "dump" baleen dump "$EVIL"
clean "show" baleen show "$EVIL" 9.9.9.8
clean "show as SVG" baleen show --svg "$EVIL" 9.9.9.8
cp "$TMP/out" "$TMP/svg"
check "is XML" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$TMP/svg"
clean "compare" baleen compare "$EVIL" "$L/good.txt"
clean "build" baleen build -o "$TMP/evil"$'\e'.bln "$EVIL"
clean "plan" baleen plan --capacity $'\e[2J'
clean "replay of no trace" baleen replay "$EVIL" "$EVIL"
clean "merge" baleen merge -o "$TMP/m"$'\e' "$EVIL" "$L/good.txt"
printf '9.9.9.0/24\n\e]0;x\a\xe2\x80\xae $(>l)\n' >"$TMP/bad.txt"
printf 'a\e,b\n9.9.9.9,\e\n' >"$TMP/bad.csv"
clean "a list with such a line" baleen build -o "$TMP/no.bln" "$TMP/bad.txt"
is "quotes it" "$(grep -cF "'\x1b]0'" "$TMP/err")" 1
clean "a table with such names" baleen build -o "$TMP/no.bln" --column c "$TMP/bad.csv"
clean "a list of ipset" baleen import "$DEV:$RULE" --format ipset "$TMP/bad.txt"
clean "a list of nft" baleen import "$DEV:$RULE" --format nft "$TMP/bad.txt"
printf 'rule %s drop\n' $'\e[2J' $'\e[2J' >"$TMP/bad.conf"
clean "a configuration" baleen apply "$DEV" -c "$TMP/bad.conf"
printf 'frob \e[2J\n' >"$TMP/bad.conf"
clean "a configuration with a statement" baleen apply "$DEV" -c "$TMP/bad.conf"
printf '\e[2J\n' >"$TMP/conf/never.list"
clean "a list of what is never dropped" baleen apply "$DEV"
rm "$TMP/conf/never.list"
clean "restore of no directory" baleen restore "$DEV" "$EVIL"
is "most had such text to show" "$((n_shown > 45))" 1

# --- what is suggested ----------------------------------------------------------

baleen attach "$DEV" --drop "$L/good.txt" 2>"$TMP/err"
suggested=$(sed -n "s/.*'baleen detach \(.*\)' takes it off.*/\1/p" "$TMP/err")
is "a command that is suggested can be pasted" "$(bash -c "printf %s $suggested")" "$DEV"
for mend in "$(baleen doctor "$DEV" -j | jq -r '.[] | .command // empty')" "$suggested"; do
	bash -n <<<"$mend" || not_ok "can be read by a shell" "$mend"
done

# --- completion -----------------------------------------------------------------

COMPLETE='source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; COMP_WORDBREAKS=; _baleen
	printf "%s\n" "${COMPREPLY[@]}"'

# complete_ LINE: what bash offers; /sys is that of the namespace
complete_()
{
	nsenter --net="/run/netns/$B" -- unshare --mount --propagation private -- bash -c '
		mount -t sysfs sysfs /sys && mount --bind "$1" /sys/fs/bpf
		PATH=$2:$PATH
		shift 2
		exec bash -c "$@"' - /sys/fs/bpf "$TMP/bin" "$COMPLETE" - "$ROOT/user/completion/baleen" "$1"
}

# shellcheck disable=SC2016 # names
names=("$DEV" '$(>y)' '`>z`' ';>v;#' 'a|>u' '*')
for name in "${names[@]:1}"; do
	in_ns "$B" ip link add "$name" type veth peer name "p${#name}$RANDOM" || bail "no device $name"
done
complete_ "baleen status " | grep -v '^lo$\|^p[0-9]*$' >"$TMP/offered"
is "completion offers all devices" "$(wc -l <"$TMP/offered")" "${#names[@]}"
is "so that a shell takes them for what they are" \
	"$(bash -fc "printf '%s\n' $(tr '\n' ' ' <"$TMP/offered")" | LC_ALL=C sort)" \
	"$(printf '%s\n' "${names[@]}" | LC_ALL=C sort)"
is "and a terminal, too" "$(raw "$TMP/offered")" ""
is "by the beginning of the quoted name" "$(complete_ 'baleen detach \$\(\>y')" '\$\(\>y\)'
complete_ "baleen swap " >"$TMP/out"
complete_ "baleen list " >"$TMP/out"
complete_ 'baleen status s/x/y/e;w' >"$TMP/out"
complete_ "baleen info $EVIL" >"$TMP/out"
is "nothing was executed" "$(ls -A "$TMP/here")" ""

# --- baleend ----------------------------------------------------------------------

rm -f "$EVIL"
printf '9.9.9.9\nno\e[2J\n' >"$EVIL"
start_baleend "$B" --textfile "$TMP/baleen.prom"
# It says that the device is back.
in_ns "$B" ip link del "$DEV"
in_ns "$B" ip link add "$DEV" type veth peer name back
in_ns "$B" ip link set "$DEV" up
await "baleend names the device" grep -qF "$SHOWN: is back" "$TMP/baleend.log" "$TMP/systemd"
http "$B" GET /metrics >"$TMP/http"
is "metrics by HTTP" "$(tr -d '\r' <"$TMP/http" >"$TMP/out"; raw "$TMP/out")" ""
is "have the device" "$(grep -cF 'baleen_device_attached{device="$(>x)\\x1b]0;' "$TMP/out")" 1
http "$B" GET $'/\e[2J' | tr -d '\r' >"$TMP/out"
is "an answer repeats nothing" "$(raw "$TMP/out")" ""
stop_baleend
is "its log" "$(raw "$TMP/baleend.log")" ""
is "the journal but for the field with the name" "$(grep -a '^MESSAGE=' "$TMP/systemd" >"$TMP/out"; raw "$TMP/out")" ""
is "the textfile" "$(raw "$TMP/baleen.prom")" ""
is "which has the device" "$(grep -cF 'baleen_device_attached{device="$(>x)\\x1b]0;' "$TMP/baleen.prom")" 1

# --- what others may not read ----------------------------------------------------

printf 'SECRET:$y$j9T:20000\n' >"$TMP/shadow"
mkdir -m 700 "$TMP/private"
cp "$TMP/shadow" "$TMP/private/open"
chmod 600 "$TMP/shadow"
printf 'a,b\nSECRET,x\n' >"$TMP/table.csv"
chmod 640 "$TMP/table.csv"

# feed_says FILE [OPTION]: what update says of a feed that is a link to it
feed_says()
{
	rm -f "$TMP/feed"
	printf '9.9.9.9\n' >"$TMP/feed"
	printf '%s\n' "rule bad drop" "    special keep" "    feed $TMP/feed ${2-}" >"$TMP/conf/$DEV.conf"
	baleen apply "$DEV" >/dev/null 2>&1 || [ $? -eq 3 ] || not_ok "apply for $1"
	ln -sf "$1" "$TMP/feed"
	baleen update "$DEV" 2>&1
	baleen status "$DEV" 2>&1
	baleen update "$DEV" -j 2>&1
}

# hides NAME FILE [OPTION]
hides()
{
	local said
	said=$(feed_says "${@:2}")
	is "$1: not a word of it" "$(grep -c SECRET <<<"$said")" 0
	check "$1: the line, and why" grep -q "feed:1: " <<<"$said"
}

hides "a file of root's" "$TMP/shadow"
hides "a file that all could read, but for its directory" "$TMP/private/open"
printf 'SECRET:x\n' >"$TMP/public"
check "a file of all is quoted" grep -q "feed:1: 'SECRET:x'" <<<"$(feed_says "$TMP/public")"
check "a list that was typed is quoted" grep -q "'SECRET:" <<<"$(baleen add -f "$TMP/shadow" "$DEV:bad" 2>&1)"
check "a filter of a list that was typed, too" grep -q "'SECRET:" <<<"$(baleen swap "$DEV:bad" "$TMP/shadow" 2>&1)"
