#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen icp seed` on what a running Squid tells of itself: its swap.state, its store.log, its
# list of objects and its digest, each held against the keys that are on its disk.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/squid/lab.sh
source "$ROOT/tests/squid/lab.sh"

N=300

# has_on_disk N: so many objects are on the disk, not more
has_on_disk()
{
	[ "$(squid_on_disk sibling)" -eq "$1" ]
}

# has_digest N: the digest has so many entries at least
has_digest()
{
	lab_in sibling curl -sf -o "$TMP/digest" "$URL/squid-internal-periodic/store_digest" &&
		"$BALEEN" icp seed -j -o "$TMP/try.bln" "$TMP/digest" >"$TMP/try.json" &&
		[ "$(json "$TMP/try.json" .sources[0].objects)" -ge "$1" ]
}

# seed IMAGE ARGUMENT...: from the namespace of the sibling
seed()
{
	lab_in sibling "$BALEEN" icp seed -j -o "$TMP/$1.bln" "${@:2}" >"$TMP/$1.json"
}

# n_found IMAGE KEYS: how many of the keys of a file are in it
n_found()
{
	"$BALEEN" match -c -f "$2" "$TMP/$1.bln"
}

URL=http://10.9.0.1:3128
lab_start
lab_node sibling 1
squid_start sibling "$(squid_store_log sibling)" "read_ahead_gap 512 MB" \
	"digest_rebuild_period 2 seconds" "digest_rewrite_period 2 seconds" \
	"acl purge method PURGE" "http_access allow purge"
obj 1 $N | lab_get sibling - >"$TMP/got"
obj 1 100 | lab_purge sibling - >"$TMP/purged"
wait_for "200 objects on the disk" has_on_disk $((N - 100))
squid_store_keys sibling >"$TMP/live.keys"
awk '$2 == "RELEASE" && $3 != "-1" { print $5 }' "$TMP/sibling/store.log" | sort |
	comm -23 - "$TMP/live.keys" >"$TMP/gone.keys"
is "the lab has keys that live" "$(wc -l <"$TMP/live.keys")" 200
is "and keys that are gone" "$(wc -l <"$TMP/gone.keys")" 100

# --- keys -------------------------------------------------------------------

check "swap.state becomes an image" seed swap "$TMP/sibling/cache/swap.state"
is "of the live objects" "$(json "$TMP/swap.json" .sources[0].objects)" 200
is "each of them" "$(n_found swap "$TMP/live.keys")" 200
is "and none that is gone" "$(n_found swap "$TMP/gone.keys")" 0
check "store.log becomes an image" seed log "$TMP/sibling/store.log"
is "of the live objects" "$(json "$TMP/log.json" .sources[0].objects)" 200
is "each of them" "$(n_found log "$TMP/live.keys")" 200
is "and none that is gone" "$(n_found log "$TMP/gone.keys")" 0
check "Squid's list of objects becomes one, by a URL without a path" \
	seed objects --from objects "$URL"
is "of the live objects" "$(json "$TMP/objects.json" .sources[0].objects)" 200
is "each of them" "$(n_found objects "$TMP/live.keys")" 200
is "and none that is gone" "$(n_found objects "$TMP/gone.keys")" 0

# --- the digest -------------------------------------------------------------

# Squid keeps what was in a digest until it makes it anew, and it counts its icons.
wait_for "digest of the live objects" has_digest 200
check "the digest becomes an image" seed digest --from digest "$URL"
is "a classic one of hash squid" \
	"$(json "$TMP/digest.json" .tables[0].kind) $(json "$TMP/digest.json" .tables[0].hash)" \
	"classic squid"
is "with each live object" "$(n_found digest "$TMP/live.keys")" 200
tail -c +129 "$TMP/digest" | od -An -v -tx1 | xargs | tr -d ' ' >"$TMP/mask"
tail -c +513 "$TMP/try.bln" | head -c "$(($(stat -c %s "$TMP/digest") - 128))" |
	od -An -v -tx1 | xargs | tr -d ' ' >"$TMP/body"
check "its body is the mask, bit for bit" cmp "$TMP/mask" "$TMP/body"

# --- a list that does not come to its end -----------------------------------

# With the read_ahead_gap of 16 KB that it has by itself, Squid 5.7 stops there.
squid_stop sibling
sed -i '/^read_ahead_gap/d' "$TMP/sibling/squid.conf"
squid_run sibling
cp "$TMP/objects.bln" "$TMP/before.bln"
check_status "a list that stops in the middle is refused" 1 \
	lab_in sibling "$BALEEN" icp seed -o "$TMP/objects.bln" --from objects "$URL"
cp "$TMP/err" "$TMP/why"
check "with a word on what to read" grep -q swap.state "$TMP/why"
check "and the image stays" cmp "$TMP/objects.bln" "$TMP/before.bln"
check "swap.state needs no such setting" seed swap "$TMP/sibling/cache/swap.state"
is "also not after a start, which writes it anew" "$(n_found swap "$TMP/live.keys")" 200
