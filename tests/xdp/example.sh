#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The example of a configuration that is installed: it is applied as it stands, and with
# all that it leaves out.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
VERDICT=$ROOT/build/tools/verdict
EXAMPLE=$TMP/usr/share/baleen/example.conf
CONF=$BALEEN_CONF_DIR/veth-b.conf

baleen() { in_ns "$B" "$BALEEN" "$@"; }
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }
rules() { baleen status -j veth-b | jq -r '[.[].rules[] | "\(.action) \(.name)"] | join(", ")'; }

check "it is installed" make -s install DESTDIR="$TMP" prefix=/usr
mkdir "$BALEEN_CONF_DIR"
cp "$EXAMPLE" "$CONF" || bail "no example"

# --- as it stands ---

check_status "it is applied" 3 baleen apply
is "its rules" "$(rules)" "allow office, drop bans"
is "drops nobody" "$(dropped 192.0.2.7 10.66.0.1 2001:db8::1)" PPP
check "bans" baleen ban 192.0.2.7 1h
check "the office" baleen add veth-b:office 192.0.2.8
check "which is banned" baleen ban 192.0.2.8
is "decides first" "$(dropped 192.0.2.7 192.0.2.8)" DP
is "again it changes nothing" "$(baleen apply)" "veth-b: unchanged, native"

# --- with all that it leaves out ---

printf '198.51.100.0/24\n' >"$TMP/office.txt"
printf '5.5.5.%d\n' {0..199} >"$TMP/bad.txt"
printf 'network,country\n100.64.0.0/16,DE\n100.65.0.0/16,FR\n' >"$TMP/country.csv"
sed -E "s/^#([^ ])/\1/; s|https://[^ ]*( every .*)timeout 30s|$TMP/list.txt\1|; s|/etc/baleen/|$TMP/|" \
	"$EXAMPLE" >"$CONF"
seq -f '9.9.9.%g' 1 200 >"$TMP/list.txt"
check_status "all of it is applied" 3 baleen apply --force
is "its rules, too" "$(rules)" "allow office, drop bans, drop bad, allow ssh-home, drop ssh-abroad"
is "it is a dry run" "$(baleen policy veth-b)" "veth-b: default pass, DRY RUN, sampling 100/s"
check "enforced" baleen policy veth-b --enforce --force
is "each does what it says" "$(baleen why -j veth-b --dport ssh 198.51.100.9 5.5.5.9 9.9.9.9 \
	100.64.1.1 100.65.1.1 | jq -r 'map(.rule) | join(" ")')" "office bad bad ssh-home ssh-abroad"
