#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# save and restore keep feeds as what they are: their copies, and where later versions come from.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

ip -n "$B" link add veth-c type veth peer name veth-d
ip -n "$B" link set veth-c up
mkdir "$BALEEN_CONF_DIR"
baleen() { in_ns "$B" "$BALEEN" "$@"; }
dropped() { in_ns "$B" "$ROOT/build/tools/verdict" "$@"; }
ASKED=(45.1.1.1 45.2.2.2 45.2.2.3 46.1.1.1 47.9.9.9 47.9.9.8 48.1.1.1 49.1.1.1)
feeds() { baleen status -j "$1" | jq -c '.[0].rules[] | [.name, .feeds]'; }

mkdir "$TMP/www" "$TMP/lists"
echo 45.1.1.0/24 >"$TMP/www/list"
printf 'address,country\n45.2.2.2,XX\n45.2.2.3,YY\n' >"$TMP/table.csv"
gzip -k "$TMP/table.csv"
echo 46.1.1.0/24 >"$TMP/friends"
echo 47.9.9.9 >"$TMP/lists/one"
echo 47.9.9.8 >"$TMP/lists/"$'t\xffwo 100%'
echo 48.1.1.1 >"$TMP/image.list"
check "an image" "$BALEEN" build --kind bloom --fpp 1e-6 -o "$TMP/image.bln" "$TMP/image.list"
coproc SERVER { in_ns "$B" /usr/bin/python3 -uc 'import functools, http.server as h
server = h.HTTPServer(("127.0.0.1", 0), functools.partial(h.SimpleHTTPRequestHandler, directory="'"$TMP"'/www"))
print(server.server_port, flush=True)
server.serve_forever()' 2>/dev/null; }
read -r port <&"${SERVER[0]}"
cat >"$BALEEN_CONF_DIR/veth-b.conf" <<EOF
default pass
sample 100/s
never none
guard-sessions none
rule friends allow
  feed $TMP/friends
rule bad drop
  feed http://me:secret@127.0.0.1:$port/list private every 1h
  feed $TMP/table.csv.gz column 1 where country=XX
  feed $TMP/lists skip-bad
  max-shrink 90%
  bans
rule seen drop
  feed $TMP/image.bln
  accept-fpp 1e-6
EOF
check_status "apply" 3 baleen apply veth-b
check "a ban" baleen ban 49.1.1.1 1h --reason scan
want=$(dropped veth-b "${ASKED[@]}") text=$(baleen config --secrets veth-b) copies=$(feeds veth-b)
is "drops" "$want" DDPPDDDD
check "save" baleen save veth-b -o "$TMP/saved"
is "each file of a directory is a copy" "$(cd "$TMP/saved" && echo *)" \
	"bad.2 bad.3 bad.4 bad.5 device.conf entries.json friends.1 saved.json seen.6"
is "the table as it was received" "$(zcat <"$TMP/saved/bad.3")" "$(<"$TMP/table.csv")"
is "secrets are for root alone" "$(grep -c me:secret "$TMP/saved/device.conf") $(stat -c '%a' "$TMP/saved/device.conf")" "1 600"

# --- where nothing is left, not even its sources ---

mv "$TMP/lists" "$TMP/lists.away"
check "forget" baleen detach --forget --entries veth-b
check "and the ban" baleen flush bans --all
prints "restore" "veth-b: restored 3 rules, attached, native, 1 single entry" baleen restore veth-b "$TMP/saved"
is "drops as before" "$(dropped veth-b "${ASKED[@]}")" "$want"
is "is configured as before" "$(baleen config --secrets veth-b)" "$text"
is "and knows its copies, and since when it has them" "$(feeds veth-b)" "$copies"
check "save again" baleen save veth-b -o "$TMP/again"
is "the same bytes" "$(diff -r "$TMP/saved" "$TMP/again" 2>&1)" ""
prints "over itself" "veth-b: restored 3 rules, updated, native, 1 there already" baleen restore veth-b "$TMP/saved"
check "off" baleen detach veth-b
check "as at boot" baleen restore --boot veth-b
is "it is put on" "$(dropped veth-b "${ASKED[@]}")" "$want"
check_status "its directory is away" 1 baleen update veth-b
is "the page on its server is what was saved" "$(grep -c "127.0.0.1:$port/list: unchanged" "$TMP/out")" 1
is "and the copies stay" "$(dropped veth-b "${ASKED[@]}")" "$want"

# --- later versions come from where they came ---

mv "$TMP/lists.away" "$TMP/lists"
echo 47.9.9.7 >"$TMP/lists/one"
check_status "a file of the directory has changed" 3 baleen update veth-b:bad
is "it is read" "$(dropped veth-b 47.9.9.9 47.9.9.7 47.9.9.8)" PDD
prints "restore goes back" "veth-b: restored 3 rules, updated, native, 1 there already" baleen restore veth-b "$TMP/saved"
is "to what was saved" "$(dropped veth-b 47.9.9.9 47.9.9.7 47.9.9.8)" DPD
echo 47.9.9.6 >"$TMP/lists/three"
check_status "a file more" 3 baleen update veth-b:bad
is "is read, too" "$(dropped veth-b 47.9.9.6)" D
check "restore takes it away" baleen restore veth-b "$TMP/saved"
is "with what it had" "$(dropped veth-b 47.9.9.6 "${ASKED[@]}")" "P$want"

# --- another device ---

prints "is configured so, too" "veth-c: restored 3 rules, attached, native, 1 there already" \
	baleen restore veth-c "$TMP/saved"
is "drops the same" "$(dropped veth-c "${ASKED[@]}")" "$want"
is "of the same text" "$(baleen config --secrets veth-c)" "$text"
check "off" baleen detach --forget veth-c
check "attached by hand" baleen attach veth-c --drop "other=$TMP/image.list"
check "gets it, too" baleen restore veth-c "$TMP/saved"
is "and is kept" "$(baleen config --secrets veth-c)" "$text"
check "off" baleen detach veth-c
check "comes back as at boot" baleen restore --boot veth-c
is "as configured" "$(dropped veth-c "${ASKED[@]}")" "$want"

# --- what cannot be ---

cp -a "$TMP/saved" "$TMP/edited"
sed -i 's/^rule seen drop/rule seen allow/' "$TMP/edited/device.conf"
refuses "a text that was edited" "$TMP/edited/device.conf: is not what was saved" baleen restore veth-b "$TMP/edited"
is "changes nothing" "$(dropped veth-b "${ASKED[@]}")" "$want"
check "a filter by hand" baleen detach --forget veth-c
check "without a state" baleen attach --no-state veth-c --drop "bad=$TMP/friends"
check "has its image saved" baleen save veth-c -o "$TMP/image"
is "by the name of its rule" "$(grep feed "$TMP/image/device.conf")" $'\tfeed copy:bad'
check "off" baleen detach veth-c
check "and restored" baleen restore veth-c "$TMP/image"
is "drops what it did" "$(dropped veth-c 46.1.1.1 45.1.1.1)" DP
check "why tells the copy" baleen why veth-c 46.1.1.1
is "by name" "$(grep -c 'copy:bad' "$TMP/out")" 1
kill "$SERVER_PID"
