#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every live key of a running Squid and 1,000 that it does not have: what filters of each
# kind say in userspace and by ICP from XDP, what Squid's own digest says, and what Squid says.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source "$ROOT/tests/squid/lab.sh"

ASK=$ROOT/build/tools/icp_ask

# ask FILE: what is answered to the URLs of a file, an opcode and a URL per line
ask()
{
	lab_in asker "$ASK" -w 32 10.9.0.1 <"$TMP/$1"
}

# hits FILE: those of its URLs that are answered with a hit
hits()
{
	ask "$1" | sed -n 's/^HIT //p'
}

# members IMAGE FILE: keys of the file that are in the image, a line each
members()
{
	"$BALEEN" match "$1" -f "$2"
}

# A Squid with a history: objects of all sorts, some purged, some fetched again.
make_history()
{
	is "objects are fetched" "$(obj 1 1000 | lab_get sibling - | counted)" "1000 200"
	is "some long" "$(seq -f "http://$ORIGIN/obj/$(printf '%0400d' 0)/%.0f" 1 100 |
		lab_get sibling - | counted)" "100 200"
	is "some large" "$(seq -f "http://$ORIGIN/big/%.0f" 1 50 | lab_get sibling - | counted)" \
		"50 200"
	is "some go" "$(obj 901 1000 | lab_purge sibling - | counted)" "100 200"
	is "some come again" "$(obj 951 970 | lab_get sibling - | counted)" "20 200"
	is "some are reloaded" "$(obj 1 20 | lab_reload sibling - | counted)" "20 200"
}

# The keys that store.log leaves, and their URLs by its last lines; but for the digest
# that Squid keeps as an object, and which XDP would not know.
read_history()
{
	is "live keys, by the count of Squid" "$(squid_store_keys sibling | wc -l)" \
		"$(squid_on_disk sibling)"
	sed -i /squid-internal-periodic/d "$TMP/sibling/store.log"
	squid_store_keys sibling >"$TMP/live"
	awk '{ url[$5] = $NF } END { for (key in url) print key, url[key] }' \
		"$TMP/sibling/store.log" | sort >"$TMP/urls"
	join "$TMP/live" "$TMP/urls" | cut -d ' ' -f 2 >"$TMP/live.urls"
	{
		obj 971 1000
		obj 5001 5970
	} >"$TMP/absent.urls"
	squid_keys <"$TMP/absent.urls" >"$TMP/absent"
	is "there are so many" "$(wc -l <"$TMP/live")" 1070
	are "a key is what this test takes it for" "$TMP/live" \
		< <(squid_keys <"$TMP/live.urls")
	are "Squid lists the same" "$TMP/live" < <(squid_mgr sibling objects | awk '
		/^KEY/ { key = $2 }
		/SWAPOUT_DONE/ { live[key] = 1 }
		/squid-internal-periodic/ { delete live[key] }
		END { for (key in live) print key }' | sort)
}

# agree NAME IMAGE: userspace and XDP say the same, and yes to all that are live; prints how
# many others they take for live
agree()
{
	are "$1: live keys, in userspace" "$TMP/live" < <(members "$2" "$TMP/live")
	are "$1: by their URLs" "$TMP/live.urls" < <(members "$2" "$TMP/live.urls")
	members "$2" "$TMP/absent" >"$TMP/false"
	members "$2" "$TMP/absent.urls" >"$TMP/false.urls"
	is "$1: others, by key and by URL" "$(wc -l <"$TMP/false")" "$(wc -l <"$TMP/false.urls")"
	check "$1: attach" lab_in sibling "$BALEEN" icp attach eth0 --stale 0 \
		--asker 10.9.0.0/24 --sibling "peer=10.9.0.1,mode=answer,image=$2" --confirm never
	are "$1: live keys, by XDP" "$TMP/live.urls" < <(hits live.urls)
	are "$1: others, by XDP" "$TMP/false.urls" < <(hits absent.urls)
	is "$1: XDP has answered" "$(icp_status sibling eth0 peer hits) $(icp_status sibling \
		eth0 peer misses)" "$(($(wc -l <"$TMP/live") + $(wc -l <"$TMP/false"))) \
$((1000 - $(wc -l <"$TMP/false")))"
	check "$1: detach" lab_in sibling "$BALEEN" icp detach eth0
	echo "# $1: $(wc -l <"$TMP/false") of 1,000 others are taken for live"
}

# digest_of FILE KEYS: those that are in a digest, by the layout in PeerDigest.h and
# CacheDigest.cc, by nothing of Baleen
digest_of()
{
	python3 - "$1" "$2" <<-'END'
		import struct, sys

		digest = open(sys.argv[1], "rb").read()
		mask = digest[128:]
		assert struct.unpack_from(">i", digest, 16)[0] == len(mask)
		for line in open(sys.argv[2]):
		    key = bytes.fromhex(line.strip())
		    at = [p % (8 * len(mask)) for p in struct.unpack(">4I", key)]
		    if all(mask[p >> 3] >> (p & 7) & 1 for p in at):
		        print(line.strip())
	END
}

# is_made: has Squid made a digest of its cache, and put that on its disk?
is_made()
{
	lab_in sibling curl -sf -o "$TMP/digest" \
		http://10.9.0.1:3128/squid-internal-periodic/store_digest &&
		[ "$(od -A n -t u4 --endian=big -j 8 -N 4 "$TMP/digest")" -ge 1070 ]
}

try_digest()
{
	check "a digest becomes an image" "$BALEEN" icp seed -o "$TMP/digest.bln" "$TMP/digest"
	agree "digest" "$TMP/digest.bln"
	are "digest: Squid's own positions give the same others" "$TMP/false" \
		< <(digest_of "$TMP/digest" "$TMP/absent")
	check "fetched live" lab_in sibling "$BALEEN" icp seed -o "$TMP/live.bln" \
		http://10.9.0.1:3128 --from digest
	is "fetched live: all live keys" "$(members "$TMP/live.bln" "$TMP/live" | wc -l)" \
		"$(wc -l <"$TMP/live")"
}

try_kinds()
{
	local kind

	check "seed from the objects" squid_seed sibling "$TMP/objects.bln"
	agree "objects" "$TMP/objects.bln"
	is "objects: none of the others" "$(wc -l <"$TMP/false")" 0
	check "seed from store.log" "$BALEEN" icp seed -o "$TMP/log.bln" "$TMP/sibling/store.log" \
		--from log
	agree "log" "$TMP/log.bln"
	is "log: none of the others" "$(wc -l <"$TMP/false")" 0
	for kind in "cuckoo --fpp 0.001" "counting --fpp 0.01 --hash keyed" \
		"counting --fpp 0.05 --hash squid" "counting --fpp 0.01 --hash blocked" \
		"bloom --fpp 0.01" "classic --fpp 0.05 --hash squid" "quotient"; do
		# shellcheck disable=SC2086 # words of the command
		check "seed a $kind" squid_seed sibling "$TMP/kind.bln" --kind $kind
		agree "$kind" "$TMP/kind.bln"
	done
}

# Last: Squid 6 drops what is on its disk from its index when it is asked for it by ICP.
ask_squid()
{
	is "Squid says hit to all" "$(ask live.urls | cut -d ' ' -f 1 | counted)" \
		"$(wc -l <"$TMP/live") HIT"
	is "and miss to 1,000 others" "$(ask absent.urls | cut -d ' ' -f 1 |
		counted)" "1000 MISS"
}

lab_start
lab_node sibling 1
lab_node asker 2
squid_start sibling "$(squid_store_log sibling)"
make_history
# A digest is made at the start and once an hour.
squid_stop sibling
squid_run sibling
wait_for "digest of the whole cache" is_made
read_history
try_digest
try_kinds
ask_squid
