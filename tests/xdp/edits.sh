#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What was edited since a configuration was applied, on the device by hand or in the file, is told
# by status, apply, doctor and metrics; apply --diff says which line is of whom. Bans are no edits.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
isolate "$@"
make_pair
mkdir "$BALEEN_CONF_DIR"
cd "$TMP" || exit 2
CONF=$BALEEN_CONF_DIR/veth-b.conf
baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }

# told: what status says of edits
told()
{
	baleen status veth-b | grep -E 'edited|applied|cannot be|gone' | sed 's/^ *//'
}

# json: as JSON: path, by hand, file
json_told()
{
	baleen status -j veth-b | jq -c '.[0].made_of.conf | [.edited_by_hand, .file]'
}

# everywhere NAME TEXT COMMAND JSON METRIC: what all of them say
everywhere()
{
	is "$1: status" "$(told)" "${2:+$2: '$3' shows it}"
	is "$1: as JSON" "$(json_told)" "$4"
	is "$1: doctor" "$(baleen doctor -j veth-b | jq -r '.[] | select(.check == "edited") | .text + "; " + .command')" \
		"${2:+$2; $3}"
	is "$1: metrics" "$(baleen metrics | grep '^baleen_device_edited{device="veth-b"}' | cut -d ' ' -f 2)" "$5"
}

printf '%s\n' 45.1.1.0/24 >list
printf '%s\n' 46.1.1.1 >friends
printf 'address,country\n45.2.2.2,XX\n' >table.csv
mkdir lists
echo 47.9.9.9 >lists/one
cat >"$CONF" <<EOF2
# comments go
sample 100/s
never none
guard-sessions none
rule friends allow
  feed $TMP/friends
rule bad drop
  feed $TMP/table.csv column 1 where country=XX
  feed $TMP/list every 1h
  feed $TMP/lists skip-bad
  min-entries 1
  max-shrink 90%
  bans
  ban-width 56
  widen 3 in /24
rule ssh drop proto tcp dport ssh,8000-8010 tcp-syn
  any
rule seen count
  feed $TMP/list
  kind bloom
  fpp 0.001
rule slow drop limit 50/s burst 100 ban 10m
  any
EOF2
check_status "a configuration" 3 baleen apply
everywhere "just applied" "" "" '[false,"same"]' 0
is "with its path" "$(baleen status -j veth-b | jq -r '.[0].made_of.conf.path')" "$CONF"
check "a ban" baleen ban 198.18.0.1 1h
check "an entry" baleen add veth-b:friends 46.1.1.2
check "an update" baleen update veth-b
everywhere "bans, entries and updates are no edits" "" "" '[false,"same"]' 0
sed -i 's/^# comments go/# others come/; s/^  feed/feed/' "$CONF"
everywhere "nor are comments and blanks" "" "" '[false,"same"]' 0
# The order of feeds is that in which they came.
sed -i "/every 1h/d; s|^feed $TMP/table|feed $TMP/list every 1h\\n&|" "$CONF"
everywhere "nor is the order of feeds" "" "" '[false,"same"]' 0

# --- by hand ---

check "a rule by hand" baleen rule add veth-b --count more=list
edited="edited since $CONF was applied"
everywhere "a rule by hand" "$edited" "baleen apply --diff veth-b" '[true,"same"]' 1
check_status "the diff" 3 baleen apply --diff veth-b
is "says what goes" "$(grep '^veth-b: -' out)" "veth-b: -rule more count    # added by hand
veth-b: -	feed $TMP/list    # added by hand
veth-b: -	special keep    # added by hand
veth-b: -	protect none    # added by hand"
check_status "apply --check" 3 baleen apply --check veth-b
is "says so" "$(grep edited out)" "veth-b: edited by hand since the last apply, which this takes back: 'baleen apply --diff veth-b' shows it"
check_status "as JSON" 3 baleen apply --diff -j veth-b
is "with the lines" "$(jq -c '.[0] | [.edited_by_hand, (.lines[] | [.sign, .rule, .line, .edit])]' out)" \
	"[true,[\"-\",\"more\",\"rule more count\",\"added by hand\"],[\"-\",\"more\",\"feed $TMP/list\",\"added by hand\"],\
[\"-\",\"more\",\"special keep\",\"added by hand\"],\
[\"-\",\"more\",\"protect none\",\"added by hand\"]]"
check_status "apply" 3 baleen apply veth-b
is "takes it back, and says so" "$(tail -n 2 out)" "veth-b: what was edited by hand since the last apply is taken back
veth-b: changed, native"
everywhere "applied again" "" "" '[false,"same"]' 0

check "a policy" baleen policy veth-b --default drop --force
check "a rule that goes" baleen rule del veth-b:ssh
everywhere "both" "$edited" "baleen apply --diff veth-b" '[true,"same"]' 1
check_status "the diff" 3 baleen apply --diff veth-b
is "says what comes back" "$(grep '^veth-b: [-+]' out)" "veth-b: -default drop    # added by hand
veth-b: +default pass    # removed by hand
veth-b: +rule ssh drop proto tcp dport 22,8000-8010 tcp-syn    # removed by hand
veth-b: +	any    # removed by hand"
check "put back by hand" baleen policy veth-b --default pass
check_status "apply" 3 baleen apply veth-b

check "another list" baleen swap veth-b:bad list
everywhere "a swap" "$edited" "baleen apply --diff veth-b" '[true,"same"]' 1
check_status "apply" 3 baleen apply veth-b
check "another order" baleen rule move veth-b:seen --first
check_status "the diff" 3 baleen apply --diff veth-b
is "says that it was moved" "$(grep -c '^veth-b: [-+].*    # moved by hand$' out) $(grep -c '^veth-b: [-+]' out)" "$(
	grep -c '^veth-b: [-+]' out) $(grep -c '^veth-b: [-+]' out)"
check_status "apply" 3 baleen apply veth-b
check "saved" baleen save veth-b -o saved
check "a rule that goes" baleen rule del veth-b:seen
check "restored" baleen restore veth-b saved --force
is "what was saved is what was applied, or an edit: it is told" "$(json_told | cut -c 1-5)" "$(
	baleen apply --diff veth-b >out; grep -q '^veth-b: [-+]' out && echo '[true' || echo '[fals')"
check "apply" eval 'baleen apply --quiet-change veth-b'

# --- the file ---

cp "$CONF" kept
sed -i 's/^rule friends allow/rule friends allow proto udp/' "$CONF"
changed="$CONF was edited since it was applied"
everywhere "the file" "$changed" "baleen apply --diff veth-b" '[false,"edited"]' 1
check_status "the diff" 3 baleen apply --diff veth-b
is "is nobody's edit" "$(grep '^veth-b: [-+]' out)" "veth-b: -rule friends allow
veth-b: +rule friends allow proto udp"
check "by hand, too" baleen rule del veth-b:seen
everywhere "both" "$changed, and the device, too" "baleen apply --diff veth-b" '[true,"edited"]' 1
check_status "the diff" 3 baleen apply --diff veth-b
is "says which is which" "$(grep '^veth-b: [-+][^ ]' out)" "veth-b: -rule friends allow
veth-b: +rule friends allow proto udp
veth-b: +rule seen count    # removed by hand
veth-b: +	feed $TMP/list    # removed by hand
veth-b: +	kind bloom    # removed by hand
veth-b: +	fpp 0.001    # removed by hand"
# The device was edited first, and the file after it.
sed -i '/^rule seen/,/fpp/d; s/ proto udp$//' "$CONF"
everywhere "the same in both" "" "" '[false,"same"]' 0
check "apply has nothing to do" baleen apply veth-b
sed -i 's/^rule friends allow/rule friends allow proto udp/' "$CONF"
everywhere "and what was edited before is forgotten" "$changed" "baleen apply --diff veth-b" '[false,"edited"]' 1
cp kept "$CONF"
check_status "applied" 3 baleen apply veth-b
echo "rule mistake dorp" >>"$CONF"
everywhere "a mistake" "$CONF cannot be applied any more as it is" "baleen apply --diff veth-b" '[false,"broken"]' 1
check_status "which the command names" 1 baleen apply --diff veth-b
rm "$CONF"
everywhere "no file" "$CONF, which was applied, is gone" "baleen config veth-b" '[false,"gone"]' 1
check "what is shown then" baleen config veth-b

# --- another file, and none ---

cp kept "other file.conf"
check "another file that says the same" baleen apply -c "other file.conf" veth-b
everywhere "of another name" "" "" '[false,"same"]' 0
check "by hand" baleen rule del veth-b:seen
everywhere "is named" "edited since $TMP/other file.conf was applied" \
	"baleen apply --diff -c '$TMP/other file.conf' veth-b" '[true,"same"]' 1
check_status "the command can be pasted" 3 eval "$(told | sed "s/.*: '\\(baleen.*\\)' shows it/\\1/")"
check_status "from standard input" 3 baleen apply -c /dev/stdin veth-b <kept
check "by hand" baleen rule del veth-b:ssh
everywhere "no file is named" "edited since its configuration was applied" "baleen apply --diff veth-b" '[true,"same"]' 1
check "forgotten" baleen detach --forget veth-b
check "attached by hand" baleen attach veth-b --drop bad=list
is "nothing was applied" "$(told)$(baleen status -j veth-b | jq -c '.[0].made_of.conf')" null
is "nothing is measured" "$(baleen metrics | grep -c '^baleen_device_edited{')" 0
cp kept "$CONF"
check_status "an apply takes it over" 3 baleen apply --diff veth-b
is "and says what goes" "$(grep -c '^veth-b: -.*    # added by hand' out)" "$(grep -c '^veth-b: -' out)"
check "forgotten" baleen detach --forget veth-b
echo "match veth-*" >"$BALEEN_CONF_DIR/default.conf"
cat kept >>"$BALEEN_CONF_DIR/default.conf"
rm "$CONF"
check_status "of default.conf" 3 baleen apply veth-b
everywhere "of default.conf" "" "" '[false,"same"]' 0
check "by hand" baleen rule del veth-b:seen
everywhere "of default.conf" "edited since $BALEEN_CONF_DIR/default.conf was applied" "baleen apply --diff veth-b" '[true,"same"]' 1
check "forgotten" baleen detach --forget --entries veth-b

# --- each statement is read back as it was written ---

printf '#!/bin/sh\n' >well; chmod 755 well
echo 45.1.1.1,53 >pairs
cat >"$CONF" <<EOF3
default drop
dry-run
sample 6/m
mode generic
no-link
never $TMP/list
never-name localhost
health $TMP/well arg "with blank"
max-memory 100M
guard-sessions all
rule a allow proto udp dport 53,1-10 vlan 7
  feed $TMP/list delimiter tab skip-bad every 90s
  capacity 1k
rule b drop
  key src,dport
  feed $TMP/pairs
  kind counting
  fpp 1e-3
rule c count
  feed $TMP/list
  kind classic
  fpp 0.0123456789
rule d drop
  feed $TMP/list
  special remove
  max-coverage 25%
  max-growth 0.1%
  max-shrink 33.3%
  max-entries 1M
  feed fleet:abc max-ttl 90m
rule e drop
  feed route:254 hold none
  special keep
rule e2 drop
  feed route:254
  min-entries 0
rule f allow
  feed name:localhost
  min-entries 0
  key dst
rule g allow established
  any
rule h drop limit 6/m burst 3 per src/24,src6/48 ban 90s cap 7 unverified
  any
rule i drop
  bans
  ban-width 64
rule j drop
  feed $TMP/list
  kind quotient
  fpp 0
EOF3
check_status "every statement" 3 baleen apply --force veth-b
everywhere "every statement" "" "" '[false,"same"]' 0
check "again" baleen apply veth-b
