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

# --- a directory that somebody wrote, with the right checksums ---

# sums DIR: makes the checksums of a directory right
sums()
{
	python3 - "$1" <<'EOF'
import json, os, sys
POLY, table = 0x82f63b78, []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (POLY if i & 1 else 0)
    table.append(i)
def crc(data):
    c = 0xffffffff
    for b in data:
        c = c >> 8 ^ table[(c ^ b) & 255]
    return c ^ 0xffffffff
def of(name):
    data = open(os.path.join(sys.argv[1], name), "rb").read()
    return {"bytes": len(data), "crc": crc(data)}
path = os.path.join(sys.argv[1], "saved.json")
saved = json.load(open(path))
saved.pop("checksum")
saved["configuration"] = of("device.conf")
for copy in saved["copies"]:
    copy["file"] = of(copy["name"])
if "single_entries" in saved:
    saved["single_entries"]["file"] = of("entries.json")
saved["checksum"] = crc(json.dumps(saved, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())
json.dump(saved, open(path, "w"))
EOF
}

# forged NAME MESSAGE COMMAND...: a copy, after the command in it, is refused
forged()
{
	rm -rf "$TMP/forged"
	cp -a "$TMP/saved" "$TMP/forged"
	(cd "$TMP/forged" && "${@:3}") || bail "$1: cannot be tried"
	sums "$TMP/forged"
	refuses "$1" "baleen: $TMP/forged/$2" baleen restore veth-b "$TMP/forged"
	is "$1: nothing has changed" "$(baleen config --secrets veth-b)" "$text"
}
edit() { jq "$1" saved.json >"$TMP/edited.json" && cp "$TMP/edited.json" saved.json; }
refuses() { local name=$1 want=${2#baleen: }; "${@:3}" >"$TMP/out" 2>"$TMP/err"; is "$name" "$? $(<"$TMP/err")" "1 baleen: $want"; }

check "what was saved is in force" baleen restore veth-b "$TMP/saved"
sums "$TMP/again"
check "with checksums made anew" baleen restore veth-b "$TMP/again"
forged "entries that are none" "entries.json:1: not JSON: invalid token near 'garbage'" sh -c 'echo garbage >entries.json'
forged "a line more" "entries.json: has not as many lines as were saved" sh -c 'cat entries.json entries.json >x && mv x entries.json'
forged "a copy of no rule" "others.1: is of no feed" \
	sh -c 'mv friends.1 others.1; jq ".copies[0].rule = \"others\" | .copies[0].name = \"others.1\"" saved.json >x && mv x saved.json'
forged "a copy of no feed" "friends.1: is of no feed" edit '.copies[0].feed = 1'
forged "two of a feed" "bad.3: is another one of its feed" edit '.copies[2].feed = 0'
forged "a file of a page" "bad.2: is of no feed" edit '.copies[1].path = "/x"'
for name in % %a %-1 %00 %g0 "$(printf 'x%.0s' {1..1024})"; do
	forged "the name '${name:0:8}'" "saved.json: '${name:0:40}' is no name" edit ".copies[3].path = \"$name\""
done
forged "answers that are prefixes" "saved.json: never_names: of x are no addresses" \
	edit '.never_names = [{"name": "x", "addresses": "0.0.0.0/0\n", "asked_ms": 1}]'
rm -r "$TMP/forged"
cp -a "$TMP/saved" "$TMP/forged"
truncate -s 1T "$TMP/forged/friends.1"
refuses "a file as large as a disk" "$TMP/forged/friends.1: is not what was saved" baleen restore veth-b "$TMP/forged"
rm -r "$TMP/forged"

# --- what cannot be saved whole is not saved ---

before=$(md5sum "$TMP/saved/"*)
state=$(find "$BALEEN_STATE_DIR" -path '*/veth-b/state.db')
state=${state%/*}
find "$state/feeds" -type f | head -n 1 | xargs rm
check_status "a copy is gone" 1 baleen save veth-b -o "$TMP/saved"
is "what was saved stays" "$(md5sum "$TMP/saved/"*)" "$before"
check "restore mends it" baleen restore veth-b "$TMP/saved"
mkdir "$TMP/many"
for i in {1..600}; do echo "50.$((i / 256)).$((i % 256)).1" >"$TMP/many/$i"; done
sed "s|feed $TMP/lists skip-bad|feed $TMP/many|" "$BALEEN_CONF_DIR/veth-b.conf" >"$TMP/many.conf"
check_status "600 files" 3 baleen apply -c "$TMP/many.conf" veth-b
check "are saved with few descriptors" in_ns "$B" sh -c "ulimit -Sn 256; exec $BALEEN save veth-b -o $TMP/many.saved"
check_status "other ones" 3 baleen apply veth-b
check "and restored" in_ns "$B" sh -c "ulimit -Sn 256; exec $BALEEN restore veth-b $TMP/many.saved"
is "all of them" "$(dropped veth-b 50.0.1.1 50.2.88.1 47.9.9.9)" DDP

# --- a trial ---

check_status "back, on trial" 3 baleen apply --confirm 5m veth-b
"$BALEEN" help restore >/dev/null
baleen restore veth-b "$TMP/saved" >"$TMP/out" 2>"$TMP/err"
is "is not changed without a word" "$? $(sed 's/in [45]m[0-9s]*:/in TIME:/; s/in 5m:/in TIME:/' "$TMP/err")" \
	"1 baleen: veth-b: goes back to what was in TIME: 'baleen confirm veth-b' first, or --confirm"
check "confirmed" baleen confirm veth-b
check "then it is" baleen restore veth-b "$TMP/saved"

# --- directories without files, and names that are no words ---

mkdir "$TMP/empty"
printf '%s\n' "never none" "rule bad drop" "  feed $TMP/empty" "  min-entries 0" >"$TMP/empty.conf"
check_status "no file yet" 3 baleen apply -c "$TMP/empty.conf" veth-b
check "is saved" baleen save veth-b -o "$TMP/none"
echo 51.1.1.1 >"$TMP/empty/one"
check_status "a file comes" 3 baleen update veth-b
is "and is in force" "$(dropped veth-b 51.1.1.1)" D
check "restore takes it away" baleen restore veth-b "$TMP/none"
is "as it was" "$(dropped veth-b 51.1.1.1)" P
check_status "it comes again" 3 baleen update veth-b
is "as before" "$(dropped veth-b 51.1.1.1)" D
echo 52.1.1.1 >"$TMP/a"$'\n'"any"
check "forget" baleen detach --forget veth-c
check "a name with a newline" baleen attach veth-c --drop bad="$TMP/a"$'\n'"any"
is "is a copy" "$(baleen config veth-c | grep feed)" "    feed copy:$TMP/a?any"
check "is saved" baleen save veth-c -o "$TMP/odd"
check "and restored" baleen restore veth-c "$TMP/odd"

# --- a damaged state ---

check "off" baleen detach veth-c
head -c 4096 /dev/urandom >"$state/state.db"
rm -f "$state"/state.db-*
check_status "a damaged state is not saved" 1 baleen save veth-b -o "$TMP/damaged"
is "and nothing is there" "$(ls "$TMP/damaged" 2>&1 | wc -l)" 1
check "restore sets it aside" baleen restore veth-b "$TMP/saved"
is "and all is as it was saved" "$(baleen config --secrets veth-b)" "$text"
