#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A signed set as a feed, from nginx: by its difference, in full when that is of no use, and
# not at all when the publisher's word cannot be taken.
#
#      namespace $A: nginx, 10.66.0.1:80             namespace $B: veth-b, a rule with the feed
#
# A set of a hundred thousand addresses, in `make check-all` of a million, of which one in a
# hundred changes.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair

mkdir "$TMP/conf" "$TMP/www" "$TMP/nginx"
chmod 0711 "$TMP"
unset http_proxy https_proxy all_proxy no_proxy ALL_PROXY HTTPS_PROXY NO_PROXY
W=$TMP/www
CONF=$TMP/conf/veth-b.conf
VERDICT=$ROOT/build/tools/verdict
URL=set+http://10.66.0.1/lists/bans
N=$(pick 100000 1000000)
STEP=0

baleen() { in_ns "$B" "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$VERDICT" veth-b "$@"; }

cat >"$TMP/nginx.conf" <<END
user www-data;
worker_processes 1;
daemon off;
pid $TMP/nginx/pid;
error_log $TMP/nginx/error.log;
events { worker_connections 64; }
http {
	log_format bytes '\$request_uri \$status \$bytes_sent';
	access_log $TMP/access.log bytes;
	client_body_temp_path $TMP/nginx/body;
	proxy_temp_path $TMP/nginx/proxy;
	fastcgi_temp_path $TMP/nginx/fastcgi;
	uwsgi_temp_path $TMP/nginx/uwsgi;
	scgi_temp_path $TMP/nginx/scgi;
	server { listen 80; location /lists/ { alias $W/; } }
}
END
# No function here: it would be a shell that ends without its command.
nsenter --net="/run/netns/$A" -- nginx -e "$TMP/nginx/error.log" -c "$TMP/nginx.conf" >"$TMP/nginx/out" 2>&1 &
up=
for ((i = 0; i < 200 && !up; i++)); do
	in_ns "$B" curl -s -o "$TMP/got" http://10.66.0.1/lists/none && up=1 || read -r -t 0.05 <> <(:)
done
[ -n "$up" ] || bail "nginx does not start: $(<"$TMP/nginx/out")"

# --- lists --------------------------------------------------------------------------

# addresses KIND N SEED: N of KIND (ip4, ip6, nets or mixed), of which SEED changes one in a hundred
addresses()
{
	awk -v kind="$1" -v n="$2" -v seed="$3" 'BEGIN {
		srand(1)
		for (i = 0; i < n; i++)
			base[i] = i % 100 == seed % 100 && seed ? "" : one(kind)
		srand(seed + 2)
		for (i = 0; i < n; i++)
			print base[i] == "" ? one(kind) : base[i]
	}
	function byte(from, to) { return from + int(rand() * (to - from + 1)) }
	function ip4() { return sprintf("%d.%d.%d.%d", byte(11, 99), byte(0, 255), byte(0, 255), byte(0, 255)) }
	function ip6() { return sprintf("2a%02x:%x:%x::%x", byte(0, 15), byte(0, 65535), byte(0, 65535), byte(1, 65535)) }
	function net() { return sprintf("%d.%d.%d.0/24", byte(11, 99), byte(0, 255), byte(0, 255)) }
	function one(kind) {
		if (kind == "ip4") return ip4()
		if (kind == "ip6") return ip6()
		if (kind == "nets") return net()
		return rand() < 0.5 ? ip4() : rand() < 0.5 ? net() : sprintf("2a%02x:%x::/32", byte(0, 15), byte(0, 65535))
	}'
}

# publish LIST [OPTION...]
publish() { "$BALEEN" set publish -o "$W" --name bans --key "$TMP/sec" "${@:2}" "$1" >"$TMP/published" || bail "publish $1"; }

# configure [LINE...]
configure()
{
	printf '%s\n' "rule bad drop" "	feed $URL key $TMP/pub" "$@" >"$CONF"
}

generation() { sed -n 's/^generation //p' "$W/bans.manifest"; }
# The first is in force, the second is the previous generation.
copy() { find "$TMP/state" -path "*/veth-b/feeds/*" -type f | sort -V | head -n 1; }
same_copy() { cmp "$(copy)" "$W/bans-$1.set"; }
feed() { baleen update -j veth-b | jq -c "$1"; }
asked() { awk '{ print $1, $2 }' "$TMP/access.log" | sed 's|/lists/||' | paste -sd ' '; }
bytes() { awk '{ n += $3 } END { print n + 0 }' "$TMP/access.log"; }
forget() { : >"$TMP/access.log"; }

# updates NAME STATUS STDOUT STDERR: words of `baleen update veth-b`
updates()
{
	expect "$1" "$2" "${3:+veth-b:bad: $URL: $3}" "${4:+baleen: veth-b:bad: $4}" baleen update veth-b
}

STAYS="; its last good copy stays in force"

# --- the configuration -----------------------------------------------------------------

"$BALEEN" set keygen "$TMP/sec" "$TMP/pub" >"$TMP/out" || bail "keygen"
"$BALEEN" set keygen "$TMP/sec2" "$TMP/pub2" >"$TMP/out" || bail "keygen"

# conf_refuses NAME WHY FEED...
conf_refuses()
{
	printf '%s\n' "rule bad drop" "	feed ${*:3}" >"$CONF"
	check_status "$1" 1 baleen apply veth-b
	is "says why" "$(sed "s|.*$CONF:2: ||" "$TMP/err")" "$2"
}

conf_refuses "a set without a key" "feed $URL: key FILE is missing: the public key of its publisher" "$URL"
conf_refuses "a set over ftp" "feed 'set+ftp://10.66.0.1/bans': behind set+ stands https://, http:// or file:///" \
	"set+ftp://10.66.0.1/bans" key "$TMP/pub"
conf_refuses "a set with a question" "feed '$URL': a set has a URL without '?', '#' and blanks" \
	"$URL?x" key "$TMP/pub"
conf_refuses "a set without a name" \
	"feed 'set+http://10.66.0.1/': its last part is no name of a set: letters, digits, '.', '-' and '_'" \
	set+http://10.66.0.1/ key "$TMP/pub"
conf_refuses "a set that is a table" "feed $URL: only key, ring, every, timeout, access and private are for sets" \
	"$URL" key "$TMP/pub" column 1
conf_refuses "a key of a list" "key is for signed sets: feed set+https://..." http://10.66.0.1/x key "$TMP/pub"

# --- full, then by differences -----------------------------------------------------------

addresses ip4 "$N" 0 >"$TMP/one"
addresses ip4 "$N" 7 >"$TMP/two"
echo 8.8.4.4 >>"$TMP/one"
echo 9.9.9.9 >>"$TMP/two"
publish "$TMP/one" --expires 7d
configure
forget
check_status "apply" 3 baleen apply veth-b
is "enforces the set" "$(verdicts 8.8.4.4 9.9.9.9)" DP
is "asked for the manifest, its signature, the full set" "$(asked)" \
	"bans.manifest 200 bans-1.minisig 200 bans-1.set 200"
check "the copy is the publisher's full set" same_copy 1
forget
updates "nothing is new" 0 "unchanged" ""
is "asked for the manifest, if it had changed" "$(asked)" "bans.manifest 304"

publish "$TMP/two" --expires 7d
forget
check_status "a day later" 3 baleen update veth-b
is "says which generation" "$(sed 's/.*, //' "$TMP/out")" "generation 2"
is "asked for the difference" "$(asked)" "bans.manifest 200 bans-2.minisig 200 bans-1-2.delta 200"
n_bytes=$(bytes)
echo "# $N addresses, 1 % changed: text $(stat -c %s "$TMP/two"), full $(stat -c %s "$W/bans-2.set"), difference $(stat -c %s "$W/bans-1-2.delta"), sent $n_bytes bytes"
check "of at most 50 kB" test "$n_bytes" -le 50000
check "the result is that of a full fetch" same_copy 2
is "is in force" "$(verdicts 8.8.4.4 9.9.9.9)" PD
baleen why veth-b 9.9.9.9 >"$TMP/why"
check "why names list and generation" grep -q "9.9.9.9 *generation 2 of $URL" "$TMP/why"
is "why -j too" "$(baleen why -j veth-b 9.9.9.9 | jq -c '[.. | objects | select(has("generation")) | .generation] | .[0]')" 2


# The line of the publisher's lists, which no host asks for by itself.
{ echo "# scanners" && echo "9.9.9.8/31" && cat "$TMP/two"; } >"$TMP/three"
publish "$TMP/three" --source
forget
check_status "a set whose lists are shown" 3 baleen update veth-b
check "they are not fetched" eval '! grep -q source "$TMP/access.log"'
check "why --source" baleen why --source veth-b 9.9.9.9
is "names the lines" "$(grep -oE "^ +[0-9./]+ |line [0-9]+ of its lists" "$TMP/out" | xargs)" \
	"9.9.9.9 line $((N + 3)) of its lists 9.9.9.8/31 line 2 of its lists"
is "why -j, too" "$(baleen why --source -j veth-b 9.9.9.9 | jq -c '[.. | objects | .source_line // empty]')" "[$((N + 3)),2]"
check "why without it" baleen why veth-b 9.9.9.9
is "asks nobody" "$(grep -c 'lists,' "$TMP/out")" 0
echo >>"$W/bans-3.source"
check "lists that were changed" baleen why --source veth-b 9.9.9.9
is "are named, and no line" "$(<"$TMP/err") $(grep -c 'lists,' "$TMP/out")" \
	"baleen: bans-3.source: has more bytes than its manifest says 0"
publish "$TMP/two"
baleen update veth-b >"$TMP/out" 2>"$TMP/err"
check "lists that are not shown" baleen why --source veth-b 9.9.9.9
is "are named, too" "$(<"$TMP/err")" "baleen: $URL: its publisher does not show the lists"

for kind in ip6 nets mixed; do
	for seed in 0 3; do
		addresses "$kind" $((N / 10)) "$seed" >"$TMP/$kind-$seed"
		echo 9.9.9.9 >>"$TMP/$kind-$seed"
	done
	publish "$TMP/$kind-0"
	baleen update --force veth-b >"$TMP/out" 2>"$TMP/err"
	check "$kind: the copy of a full fetch" same_copy "$(generation)"
	publish "$TMP/$kind-3"
	forget
	check_status "$kind: a day later" 3 baleen update veth-b
	check "$kind: by the difference" grep -q '\.delta 200 ' "$TMP/access.log"
	check "$kind: has the bytes of a full fetch" same_copy "$(generation)"
	echo "# $kind: $((N / 10)) entries: text $(stat -c %s "$TMP/$kind-3"), sent $(bytes) bytes"
done

# --- what is refused ------------------------------------------------------------------------

seq -f '20.0.%.0f.1' 0 99 >"$TMP/a"
{ cat "$TMP/a"; echo 20.1.0.1; } >"$TMP/b"
publish "$TMP/a"
baleen update --force veth-b >"$TMP/out" 2>&1
g=$(generation)
cp -r "$W" "$TMP/before"

# restore: the directory as it was, but for its times, by which nginx tells what has changed
restore() { rm -rf "${W:?}"/* && cp -r "$TMP/before"/* "$W" && touch -d "+$((++STEP)) seconds" "$W"/*; }
# enforces NAME: still what it was
enforces() { is "$1: what was there stays" "$(verdicts 20.0.7.1 20.1.0.1) $(baleen info -j veth-b:bad | jq '.[0].entries')" "DP 100"; }

h=$((g + 1))
publish "$TMP/b"
cp -r "$W" "$TMP/after"
again() { rm -rf "${W:?}"/* && cp -r "$TMP/after"/* "$W" && touch -d "+$((++STEP)) seconds" "$W"/*; }

sed -i "s|$TMP/pub\$|$TMP/pub2|" "$CONF"
check_status "another key" 3 baleen apply veth-b
updates "a manifest of another key" 1 "" "$URL: another key signed it$STAYS"
enforces "another key"
sed -i "s|$TMP/pub2\$|$TMP/pub3|" "$CONF"
expect "a key that is not there" 1 "" "baleen: $CONF:2: $TMP/pub3: No such file or directory" baleen apply veth-b
cp "$TMP/sec" "$TMP/pub3"
expect "a secret key" 1 "" "baleen: $CONF:2: $TMP/pub3: not a public key of minisign" baleen apply veth-b
configure
check_status "the key again" 3 baleen apply veth-b

printf 'x' >>"$W/bans.manifest"
updates "a manifest with a byte more" 1 "" "$URL: its manifest cannot be read$STAYS"
again
sed -i 's/^entries .*/entries 5/' "$W/bans.manifest"
updates "a manifest that was changed" 1 "" "$URL: the signature is of another file$STAYS"
again
rm "$W/bans-$h.minisig"
updates "no signature" 1 "" "http://10.66.0.1/lists/bans-$h.minisig: HTTP status 404$STAYS"
enforces "no signature"
is "failures are counted" "$(baleen metrics | sed -n 's/^baleen_feed_consecutive_errors.* //p')" 4

again
"$BALEEN" set publish -o "$W" --name other --key "$TMP/sec" "$TMP/b" >"$TMP/out"
mv "$W/other.manifest" "$W/bans.manifest"
mv "$W/other-1.minisig" "$W/bans-1.minisig"
updates "a manifest of another set" 1 "" "$URL: its manifest is of another set$STAYS"
enforces "another set"

again
check_status "the later generation" 3 baleen update veth-b
is "is in force" "$(verdicts 20.1.0.1)" D
restore
updates "an older generation" 1 "" \
	"$URL: refused: generation $g is older than $h, which is at hand (update --force takes it)$STAYS"
is "leaves the later one in force" "$(verdicts 20.1.0.1)" D
check_status "--force takes it" 3 baleen update --force veth-b
enforces "--force"

# A generation whose end was a second after it was made: a clock that runs is no sleep.
again
publish "$TMP/b" --expires 1s
end=$(sed -n 's/^expires //p' "$W/bans.manifest")
while [ "$(date +%s)" -le "$(date -d "$end" +%s)" ]; do read -r -t 0.05 <> <(:); done
updates "a generation that has expired" 1 "" \
	"$URL: generation $((h + 1)) has expired at $end, and there is none after it$STAYS"
enforces "expired"

# The same of the copy at hand, when the server says that it has no other.
again
check_status "the later generation again" 3 baleen update veth-b
updates "has not changed" 0 "unchanged" ""
printf '\x01\0\0\0\0\0\0\0' | dd of="$(copy)" bs=1 seek=40 conv=notrunc status=none
forget
updates "a copy that has expired meanwhile" 1 "" \
	"$URL: generation $h has expired at 1970-01-01T00:00:01Z, and there is none after it$STAYS"
is "nothing else was asked for" "$(asked)" "bans.manifest 304"
is "it stays in force" "$(verdicts 20.1.0.1)" D
restore
check_status "back" 3 baleen update --force veth-b

again
head -c 1000000 /dev/zero >>"$W/bans.manifest"
updates "a manifest without an end" 1 "" \
	"http://10.66.0.1/lists/bans.manifest: is larger than the limit of 10624 bytes$STAYS"
again
head -c 1000000 /dev/zero >>"$W/bans-$h.minisig"
updates "a signature without an end" 1 "" \
	"http://10.66.0.1/lists/bans-$h.minisig: is larger than the limit of 16384 bytes$STAYS"
enforces "without an end"

# --- a difference that is of no use ------------------------------------------------------------

# falls_back NAME WHY: the full set comes, and the line says why; then back to the earlier one
falls_back()
{
	updates "$1" 3 "changed, +1 -0: 101 entries, generation $h" "$URL: the full set was fetched: $2"
	is "$1: is in force" "$(verdicts 20.1.0.1)" D
	check "$1: has the bytes of the full set" cmp "$(copy)" "$TMP/after/bans-$h.set"
	restore
	baleen update --force veth-b >"$TMP/out" 2>&1
}

delta=bans-$g-$h.delta
again
rm "$W/$delta"
falls_back "a difference that is not there" "http://10.66.0.1/lists/$delta: HTTP status 404"
again
truncate -s -1 "$W/$delta"
falls_back "a difference cut short" "$delta: is cut short"
again
printf '\x55' | dd of="$W/$delta" bs=1 seek=97 conv=notrunc status=none
falls_back "a difference with other bits" "$delta: is not the file that its manifest tells of"
again
head -c 1000000 /dev/zero >>"$W/$delta"
falls_back "a difference without an end" \
	"http://10.66.0.1/lists/$delta: is larger than the limit of $(($(stat -c %s "$TMP/after/$delta") + 65536)) bytes"
is "they are counted" "$(feed '.[0].fallbacks')" 4
is "metrics have generation and count" \
	"$(baleen metrics | sed -nE 's/^baleen_feed_(generation|fallbacks)(_total)?[{].* /\1 /p' | paste -sd " ")" "generation $g fallbacks 4"

again
rm "$W/$delta"
truncate -s -1 "$W/bans-$h.set"
check_status "neither difference nor full set" 1 baleen update veth-b
is "says it in one line" "$(<"$TMP/err")" "baleen: veth-b:bad: bans-$h.set: is cut short$STAYS"
enforces "neither"

# --- the guards of every feed ---------------------------------------------------------------------

again
head -n 10 "$TMP/b" >"$TMP/few"
publish "$TMP/few"
check_status "a set that shrinks too much" 1 baleen update veth-b
is "says so" "$(<"$TMP/err")" \
	"baleen: veth-b:bad: $URL: refused: entries fell by 90.0 %, from 100 to 10: more than max-shrink 50% allows$STAYS"
enforces "shrunk"
again

# --- at boot, and offline -----------------------------------------------------------------------------

check "detach, as a reboot does" baleen detach veth-b
mv "$W" "$W.gone"
check "the last good copy is put on without a server" baleen restore --boot veth-b
enforces "boot"
mv "$W.gone" "$W"

# --- from a directory ------------------------------------------------------------------------------------

URL=set+file://$W/bans
again
configure
check_status "the same set from a directory" 3 baleen apply veth-b
is "is in force" "$(verdicts 20.0.7.1 20.1.0.1)" DD
updates "unchanged" 0 "unchanged" ""

# --- another host -----------------------------------------------------------------------------------------

# Of namespace $A, with a state of its own.
other() { BALEEN_STATE_DIR=$TMP/state-a BALEEN_RUN_DIR=$TMP/run-a BALEEN_CONF_DIR=$TMP/conf-a in_ns "$A" "$BALEEN" "$@"; }

mkdir "$TMP/conf-a"
printf '%s\n' "rule bad drop" "	feed set+http://10.66.0.1/lists/bans key $TMP/pub" >"$TMP/conf-a/veth-a.conf"
check_status "another host takes the same set" 3 other apply veth-a
check "has the same bytes, so the same digest" cmp "$(copy)" "$(find "$TMP/state-a" -path "*/feeds/*" -type f)"
check "its image" other save -o "$TMP/a.bln" veth-a:bad
check "the other's" baleen save -o "$TMP/b.bln" veth-b:bad
check_status "differ: each has a seed of its own" 1 cmp -s "$TMP/a.bln" "$TMP/b.bln"
is "though they hold the same" "$("$BALEEN" dump "$TMP/a.bln" | sort | cksum)" "$("$BALEEN" dump "$TMP/b.bln" | sort | cksum)"

# What is saved is the set, which both have.
check "the other's rules" other save -o "$TMP/saved-a" veth-a
check "its own rules" baleen save -o "$TMP/saved-b" veth-b
check "of the same bytes" cmp "$TMP/saved-a/bad.1" "$TMP/saved-b/bad.1"
check "come back" baleen restore veth-b "$TMP/saved-b"
is "as they were" "$(verdicts 20.0.7.1 20.1.0.1)" DD

# --- another device of this host --------------------------------------------------------------------------

# add_device DEVICE: an end of a pair of its own
add_device()
{
	ip -n "$B" link add "$1" type veth peer name "$1-peer" && ip -n "$B" link set "$1" up || bail "no $1"
}

# join DEVICE [OPTION...]: the rule of veth-b for another device
join() { cp "$CONF" "$TMP/conf/$1.conf" && baleen apply "${@:2}" "$1"; }
# blocks NAME DEVICE VERDICTS: those of an address of both generations, and of one of the later
blocks() { is "$1" "$(in_ns "$B" "$VERDICT" "$2" 20.0.7.1 20.1.0.1)" "$3"; }
# copy_of DEVICE
copy_of() { find "$TMP/state" -path "*/$1/feeds/*" -type f | sort -V | head -n 1; }

URL=set+http://10.66.0.1/lists/bans
add_device veth-c
add_device veth-e
again
configure
check_status "the first device, from the server" 3 baleen apply veth-b
forget
check_status "a second device" 3 join veth-c
blocks "has the same set" veth-c DD
is "asked nobody" "$(asked)" ""

# The first has generation $h, the second has asked later and has generation $g.
restore
check_status "the second one goes back" 3 baleen update --force veth-c
blocks "as it was told" veth-c DP
forget
check_status "a third device" 3 join veth-e
blocks "takes the later generation, not the later copy" veth-e DD
is "asked nobody" "$(asked)" ""
echo "rule bad drop" >"$TMP/conf/veth-e.conf"
check_status "the third lets go of it" 3 baleen apply veth-e

# The server, too, has nothing later than generation $g.
printf '\x01\0\0\0\0\0\0\0' | dd of="$(copy_of veth-b)" bs=1 seek=40 conv=notrunc status=none
expect "what has expired is not shared" 1 "" \
	"baleen: $TMP/conf/veth-e.conf:2: $URL: no device has a later generation of it that has not expired, and no server is asked" \
	join veth-e --offline
forget
expect "a new device is no way back either" 1 "" \
	"baleen: $TMP/conf/veth-e.conf:2: $URL: refused: generation $g is older than $h, which veth-b has (--force takes it)" \
	join veth-e
is "the server was asked" "$(asked)" "bans.manifest 200 bans-$g.minisig 200"
check_status "--force takes it" 3 join veth-e --force
blocks "as it was told" veth-e DP

# Later than its own is not enough where another device has a later one still.
again
publish "$TMP/b" --expires 7d
check_status "the first device goes on" 3 baleen update veth-b
again
expect "the second may not stay behind it" 1 "" \
	"baleen: veth-c:bad: $URL: refused: generation $h is older than $((h + 1)), which veth-b has (--force takes it)$STAYS" \
	baleen update veth-c
blocks "keeps what it had" veth-c DP
check_status "--force takes that, too" 3 baleen update --force veth-c
blocks "as it was told" veth-c DD
updates "the first one has no part in it" 1 "" \
	"$URL: refused: generation $h is older than $((h + 1)), which is at hand (update --force takes it)$STAYS"

# --- all rules of another host ------------------------------------------------------------------------------

check_status "the other's rules as a whole" 0 baleen restore veth-c "$TMP/saved-a"
blocks "hold the other's set, by the other's seed" veth-c DD
