#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen replay` of a configuration and of a device: what it says of each frame of a capture is
# what becomes of the frame once the configuration is on, and its counts are those of the device.
# It changes nothing.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/pcap.bash
source "$ROOT/tests/pcap.bash"
isolate "$@"
make_pair
cd "$TMP" || exit 2
mkdir "$BALEEN_CONF_DIR" new
N=$(pick 240 1200)
baleen() { in_ns "$B" timeout 120 "$BALEEN" "$@"; }

# make_frames TO4 TO6 >FILE: $N of them from the EtherType on, no two alike; addresses in which
# something is decided, and others. The destinations are among those of the lists, or TO4 and TO6.
make_frames()
{
	/usr/bin/python3 - "$N" "$1" "$2" <<'PY'
import ipaddress, random, struct, sys
n, to4, to6 = int(sys.argv[1]), sys.argv[2], sys.argv[3]
draw = random.Random(36)
four = ["45.1.1.%d" % i for i in range(6)] + ["46.1.1.1", "47.9.9.9", "48.1.2.3", "48.1.2.3", "60.0.0.1",
        "60.0.0.2", "60.0.0.9", "60.0.0.9", "60.0.0.9", "61.5.5.5", "63.1.1.1", "62.1.1.1", "10.66.0.1", "10.66.0.2", "203.0.113.9"]
six = ["2600::%x" % i for i in range(6, 10)] + ["2601:0:0:1::%x" % i for i in (1, 2)] + \
      ["2602::1", "fd66::1", "2001:db8::9"]
for number in range(n):
    is_six = draw.random() < 0.4
    source = draw.choice(six if is_six else four)
    to = draw.choice((six if is_six else four) + [to6 if is_six else to4] * 6)
    source, to = (ipaddress.ip_address(a).packed for a in (source, to))
    protocol = draw.choice([6, 6, 17, 17, 58 if is_six else 1])
    ports = struct.pack(">HH", draw.choice([1000, 4000]), draw.choice([22, 53, 80, 443]))
    mark = struct.pack(">I", number)
    if protocol == 6:
        payload = ports + mark + bytes(4) + bytes([0x50, draw.choice([2, 16, 18])]) + bytes(6)
    elif protocol == 17:
        payload = ports + struct.pack(">HH", 12, 0) + mark
    else:
        payload = bytes([128 if is_six else 8, 0, 0, 0]) + mark
    if is_six:
        frame = b"\x86\xdd\x60\0\0\0" + struct.pack(">HBB", len(payload), protocol, 64) + source + to + payload
    else:
        frame = b"\x08\0" + struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), number, 0x4000, 64, protocol, 0) + \
                source + to + payload
    if draw.random() < 0.2:
        frame = b"\x81\0" + struct.pack(">H", draw.choice([7, 8])) + frame
    print(frame.hex())
PY
}

# capture FILE: frames of the text beside it
capture()
{
	local hex

	pcap_begin "$1.pcap"
	while read -r hex; do
		pcap_frame "$1.pcap" "$MACS$hex"
	done <"$1.hex"
	n_frames=$(wc -l <"$1.hex")
}

# sent FROM TO FILE: a letter for each frame that was sent
sent()
{
	local -a frames

	mapfile -t frames <"$3.hex"
	"$ROOT/build/tools/frame" -v "$1" "$2" "${frames[@]}" | tr -d '\n'
}

# letters ARGUMENT...: what replay says of each
letters()
{
	baleen replay -jv "$@" | jq -r '[.[] | if .verdict == "drop" then "D" else "P" end] | add'
}

# counts ARGUMENT...: of each rule, and what none decided
counts()
{
	baleen replay -j "$@" | jq -c '[(.rules[] | [.name, .frames, .bytes]), .unmatched.frames]'
}

# counted DEVICE: the same, as the device has counted
counted()
{
	baleen status -j "$1" | jq -c '.[0] | [(.rules[] | [.name, .packets, .packet_bytes]), .unmatched]'
}

# everything: all that a command could change, but what opening a database leaves beside it
everything()
{
	local book

	find state run conf -type f ! -name 'book.db*' -exec sha256sum {} + | sort
	book=$(book_of "$B")
	[ ! -f "$book" ] || sqlite3 "$book" .dump | sha256sum
	find state run conf ! -name '*-shm' ! -name '*-wal' | sort
	baleen status -j | jq -c '.[] | [.device, .rules, .unmatched]'
}

make_frames 10.66.0.2 fd66::2 >in.hex
capture in
make_frames 10.66.0.1 fd66::1 >out.hex
capture out

printf '%s\n' 45.1.1.0/30 2600::8/127 62.0.0.0/8 '!62.1.1.1' 63.1.1.1 >bad
printf '%s\n' 46.1.1.1 2600::6 >friends
printf '%s\n' 47.9.9.9 2602::1 >to
printf '%s\n' 45.1.1.{4,5},{22,53,80,443} 2600::9,443 >pairs
echo 443 >ports
printf 'address,country\n48.1.2.3,XX\n46.1.1.1,YY\n' >table.csv
/usr/bin/python3 - >flows <<'PY'
import ipaddress
for line in open("in.hex"):
    data = bytes.fromhex(line)
    data = data[4:] if data[:2] == b"\x81\0" else data
    if data[:2] == b"\x08\0" and data[11] == 17 and data[14:18] == bytes([60, 0, 0, 9]):
        port = lambda at: int.from_bytes(data[at:at + 2], "big")
        print("udp,60.0.0.9,%s,%d,%d" % (ipaddress.ip_address(data[18:22]), port(22), port(24)))
PY

# --- bans of before ---

cat >"$BALEEN_CONF_DIR/veth-b.conf" <<CONF
rule jail drop
  bans
rule own drop
CONF
check_status "rules that take bans" 3 baleen apply veth-b
check "a ban" baleen ban 60.0.0.1
check "of a lone IPv6 address, which is of its /64" baleen ban 2601:0:0:1::1
check "an entry of a rule" baleen add veth-b:own 60.0.0.2
check "the never-drop list" tee "$BALEEN_CONF_DIR/never.list" <<<46.1.1.1
# What other hosts of a fleet have banned, taken as it is so far.
sqlite3 "$(book_of "$B")" "INSERT INTO scope (name) VALUES ('feed fleet:shared');
	INSERT INTO single SELECT (SELECT id FROM scope WHERE name = 'feed fleet:shared'), x'043d050505', last, 0, length,
		'fleet:other/manual', '', added_ms, added_ms + 86400000, yields, 0 FROM single WHERE first = x'043c000001';" ||
	bail "cannot write the book"

# --- a configuration that is not on yet ---

ip -n "$B" address add 63.1.1.1/32 dev veth-b
check "the device with what it has" baleen status veth-b
cat >new/veth-b.conf <<CONF
rule friends allow
  feed $TMP/friends
rule seen count
  feed $TMP/bad
rule to drop
  key dst
  feed $TMP/to
rule pairs drop vlan 7
  key src,dport
  feed $TMP/pairs
rule flows drop
  key flow
  feed $TMP/flows
rule ports drop tcp-syn
  key dport
  feed $TMP/ports
rule bad drop
  feed $TMP/bad
rule table drop proto udp dport 53,80-443
  feed $TMP/table.csv column 1 where country=XX
  kind bloom
  fpp 0.0001
rule jail drop
  bans
  ban-width 64
rule fleet drop
  feed fleet:shared max-ttl 1h
rule own drop
CONF
before=$(everything)
check "a configuration and a capture" baleen replay -c new/veth-b.conf in.pcap
is "totals, not frames" "$(head -n 1 out | tr -d ,)" "in.pcap: $n_frames frames"
is "of each rule" "$(awk 'NR > 1 && NR < 13 { print $1, $2 }' out | xargs)" "allow friends count seen drop to drop pairs \
drop flows drop ports drop bad drop table drop jail drop fleet drop own"
said=$(letters -c new/veth-b.conf in.pcap)
counts=$(counts -c new/veth-b.conf in.pcap)
is "of a device that is named, too" "$(cp new/veth-b.conf other.cfg && counts veth-b -c other.cfg in.pcap)" "$counts"
is "a replay changes nothing" "$(everything)" "$before"
is "each rule decides some" "$(jq -c '[.[:-1][] | select(.[1] == 0) | .[0]]' <<<"$counts")" '[]'
check_status "the configuration" 3 baleen apply --force -c new/veth-b.conf veth-b
is "each frame has the fate that was told" "$(sent "$A:veth-a" "$B:veth-b" in)" "$said"
is "and the device has counted the same" "$(counted veth-b)" "$counts"

# --- a device ---

before=$(everything)
is "of the device the same frames" "$(letters veth-b in.pcap)" "$said"
is "and the same counts" "$(counts veth-b in.pcap)" "$counts"
is "whose counters stay" "$(everything)" "$before"
check "totals" baleen replay -j veth-b in.pcap
is "say of which device" "$(jq -c '[.device, .conf]' out)" '["veth-b",null]'
check "a ban that comes in place" baleen ban 62.1.1.0/24
check "is in the copy" baleen replay -jv veth-b in.pcap
is "at once" "$(jq -r '[.[] | select(.key == "62.1.1.1") | .rule] | unique | @csv' out)" '"jail"'
check "unban" baleen unban 62.1.1.0/24
is "and gone at once" "$(letters veth-b in.pcap)" "$said"
check "a dry run" baleen policy veth-b --dry-run
expect "is told, and what it would drop" 0 "$(baleen replay -j -c new/veth-b.conf in.pcap | jq .dropped.frames)" \
	"baleen: warning: veth-b: a dry run, which drops nothing: here is what it would drop" \
	eval 'baleen replay -j veth-b in.pcap | jq .dropped.frames'
check "policy" baleen policy veth-b --enforce
check "detached" baleen detach veth-b
check "what its state says" baleen replay -j veth-b in.pcap
is "is the same" "$(jq -c '[(.rules[] | [.name, .frames, .bytes]), .unmatched.frames]' out)" "$counts"
is "and told" "$(<err)" "baleen: warning: veth-b has no filter now: here is what its rules would do"
check_status "back" 3 baleen apply --force -c new/veth-b.conf veth-b

# --- default drop ---

{
	echo "default drop"
	sed '/^rule ports/,$s/ drop/ allow/; /^rule jail/,$d' new/veth-b.conf
} >new/drop.conf
said=$(letters veth-b -c new/drop.conf in.pcap)
counts=$(counts veth-b -c new/drop.conf in.pcap)
is "under default drop most is" "$([ "$(tr -d P <<<"$said" | wc -c)" -gt $((n_frames / 2)) ] && echo most)" most
check_status "put on" 3 baleen apply --force -c new/drop.conf veth-b
baleen status -j veth-b | jq -c '.[0].vital' >vital
is "each frame has the fate that was told" "$(sent "$A:veth-a" "$B:veth-b" in)" "$said"
is "and is counted so" "$(counted veth-b)" "$counts"
check "forgotten" baleen detach --forget veth-b

# --- what goes out ---

cat >new/veth-b@egress.conf <<CONF
egress
rule friends allow
  key src
  feed $TMP/friends
rule to drop
  feed $TMP/to
rule bad drop
  key src
  feed $TMP/bad
  special keep
rule pairs drop proto udp
  key src,dport
  feed $TMP/pairs
rule own drop
CONF
check "one of what goes out" baleen replay -jv -c new/veth-b@egress.conf out.pcap
said=$(letters -c new/veth-b@egress.conf out.pcap)
counts=$(counts -c new/veth-b@egress.conf out.pcap)
is "has another key" "$(jq -r '[.[] | select(.rule == "to") | .key] | unique | join(" ")' out)" "2602::1 47.9.9.9"
check_status "put on" 3 baleen apply --force -c new/veth-b@egress.conf veth-b@egress
is "each frame has the fate that was told" "$(sent "$B:veth-b" "$A:veth-a" out)" "$said"
is "and is counted so" "$(counted veth-b@egress)" "$counts"
is "of the device the same" "$(counts veth-b@egress out.pcap)" "$counts"
check "forgotten" baleen detach --forget veth-b@egress

# Frames that the kernel runs no such program over, and some that are long.
pcap_begin odd.pcap
for hex in 0800 080045 86dd60 8100 810000 88cc "0806$(zeros 28)" "080065$(zeros 30)" "8847$(zeros 40)" \
	"0800$(ip4 1 17 $UDP)" "0800$(ip4 1 6 $TCP)$(zeros 3000)" "0800$(ip4 1 6 $TCP)$(zeros 70000)"; do
	pcap_frame odd.pcap "$MACS$hex"
done
pcap_frame odd.pcap "${MACS}08"
odd="pass short, pass short, pass short, pass short, pass short, pass not_ip, pass not_ip, pass version, pass mpls, \
drop bad, drop bad, drop bad, pass short"
# odd_fates ARGUMENT...: verdict and rule, or why none, of each
odd_fates() { baleen replay -jv "$@" odd.pcap | jq -r '[.[] | "\(.verdict) \(.rule // .reason)"] | join(", ")'; }
echo 198.51.100.1 >one
printf 'egress\nrule bad drop\n  key src\n  feed %s/one\n  special keep\n' "$TMP" >new/veth-b@egress.conf
is "odd frames of what goes out" "$(odd_fates -c new/veth-b@egress.conf)" "$odd"
is "are those of what comes in" "$(odd_fates bad=one)" "$odd"
check "a device without Ethernet" ip -n "$B" tuntap add dev tun-b mode tun
check "which is up" ip -n "$B" link set dev tun-b up
check "attached" baleen attach tun-b --drop bad=one
is "odd frames of it, where no frame says that it is IP" "$(odd_fates tun-b | sed 's/not_ip/-/g; s/short/-/g; s/version/-/g; s/mpls/-/')" \
	"$(sed 's/not_ip/-/g; s/short/-/g; s/version/-/g; s/mpls/-/' <<<"$odd")"
check "detached" baleen detach tun-b

# --- a feed from a server ---

mkdir www
cp bad www/list
coproc SERVER { in_ns "$B" /usr/bin/python3 -uc 'import functools, http.server as h
server = h.HTTPServer(("127.0.0.1", 0), functools.partial(h.SimpleHTTPRequestHandler, directory="www"))
print(server.server_port, flush=True)
server.serve_forever()' 2>/dev/null; }
read -r port <&"${SERVER[0]}"
printf 'rule bad drop\n  feed http://127.0.0.1:%s/list private\n' "$port" >new/veth-b.conf
check "is fetched" baleen replay -j -c new/veth-b.conf in.pcap
was=$(jq -c .dropped out)
is "and drops" "$(jq '.dropped.frames > 10' out)" true
check_status "offline there is no copy" 1 baleen replay --offline -c new/veth-b.conf in.pcap
check_status "applied" 3 baleen apply -c new/veth-b.conf veth-b
kill "$SERVER_PID"
check "the copy of the device will do" baleen replay -j -c new/veth-b.conf in.pcap
is "and drops the same" "$(jq -c .dropped out)" "$was"
check "forgotten" baleen detach --forget veth-b

# --- elsewhere, and refused ---

cp new/veth-b.conf new/eth9.conf
check "a device that is not here" baleen replay -c new/eth9.conf in.pcap
is "is told" "$(<err)" "baleen: warning: eth9: no such device here: this host's own addresses are not known, and not \
taken out of lists"
expect "a file that names none" 2 "" "baleen: replay: -c other.cfg: of which device? its name is not DEV.conf (see \
'baleen help replay')" baleen replay -c other.cfg in.pcap
printf 'rule known allow established\n  any\nrule many drop limit 1/s ban 1m unverified\n  any\nrule bans drop\n  bans\n' \
	>new/veth-b.conf
check "what cannot be judged" baleen replay -c new/veth-b.conf in.pcap
is "is told" "$(<err)" "baleen: warning: rule 'known': established asks for the sockets of this host now, not for those of the capture
baleen: warning: rule 'many' matches nothing: a replay does not simulate time, so nobody is over its limit"
printf 'rule bad dorp\n' >new/veth-b.conf
refuses "a mistake" "new/veth-b.conf:1: rule 'dorp': not drop, allow or count" baleen replay -c new/veth-b.conf in.pcap
printf 'rule bad drop\n feed %s/none\n' "$TMP" >new/veth-b.conf
refuses "a feed that is not there" "new/veth-b.conf:2: $TMP/none: No such file or directory" baleen replay -c new/veth-b.conf in.pcap
printf 'default pass\n' >new/veth-b.conf
refuses "no rules" "new/veth-b.conf: has no rule" baleen replay -c new/veth-b.conf in.pcap
refuses "a device without a filter" "veth-b has no filter: 'baleen replay -c $BALEEN_CONF_DIR/veth-b.conf veth-b in.pcap' \
asks its configuration" baleen replay veth-b in.pcap
check "as can be pasted" baleen replay -c "$BALEEN_CONF_DIR/veth-b.conf" veth-b in.pcap
refuses "nor a configuration" "veth-a has no filter and no configuration: -c FILE asks one" \
	in_ns "$A" "$BALEEN" replay veth-a in.pcap
expect "rules beside a configuration" 2 "" "baleen: replay: -c other.cfg has rules of its own: other rules, --default and \
options of lists do not go with it (see 'baleen help replay')" baleen replay veth-b -c other.cfg --default drop in.pcap
expect "a list behind a device" 2 "" "baleen: replay: veth-b is a device, and has its rules: behind it comes the capture \
alone (./veth-b is a file) (see 'baleen help replay')" baleen replay veth-b bad in.pcap
cp bad veth-b
is "a file of its name" "$(baleen replay -j ./veth-b in.pcap | jq -c '[.device, .rules[].name]')" '[null,"veth-b"]'
