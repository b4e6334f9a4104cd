#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen icp serve`: what is refused, what comes over HTTP, and in which pieces.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# The server itself is the job, so that a signal gets to it.
as_user=(env)
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups --)

# urls FIRST LAST: a list of them
urls()
{
	seq -f 'http://h/%.0f' "$1" "$2"
}

# serve OPTION... IMAGE...: in the background; $url is where
serve()
{
	: >served
	"${as_user[@]}" "$TMP/baleen" icp serve --listen 0 "$@" >served 2>said &
	server=$!
	for ((i = 0; i < 400; i++)); do
		url=$(sed -n 's|^\(http://[^ ]*\): .*|\1|p' served)
		[ -z "$url" ] || return 0
		sleep 0.05
	done
	bail "nothing is served: $(<said)"
}

# stop: ends it; its exit status
stop()
{
	kill -TERM "$server"
	wait "$server"
}

# get FILE ARGUMENT...: the status, the body into FILE
get()
{
	curl -s -o "$1" -w '%{http_code}' "${@:2}"
}

# part FILE: until there is the head of a digest in it
part()
{
	for ((i = 0; i < 400; i++)); do
		[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -lt 128 ] || return 0
		sleep 0.05
	done
}

: >served
: >said
[ "$(id -u)" -ne 0 ] || chown 65534:65534 served said

urls 1 200 >urls.list
baleen build --key squid --kind classic --hash squid --fpp 0.01 -o classic.bln urls.list
baleen build --key squid --kind counting --hash squid --fpp 0.01 -o counting.bln urls.list
baleen build --key squid -o cuckoo.bln urls.list
baleen build --key squid --kind classic --hash keyed --fpp 0.01 -o keyed.bln urls.list
urls 201 300 >more.list
urls 1 300 >all.list
baleen build --like classic.bln -o more.bln more.list
baleen build --key squid --kind classic --hash squid --fpp 0.01 -o small.bln more.list

# --- refused ------------------------------------------------------------------

check_status "without an image" 2 baleen icp serve
check_status "a port that is none" 2 baleen icp serve --listen 99999 classic.bln
check_status "an address that is none" 2 baleen icp serve --listen h:1 classic.bln
check_status "a pause without a unit" 2 baleen icp serve --pause 5 classic.bln
check_status "a pause of an hour" 2 baleen icp serve --pause 1h classic.bln
check_status "an age below a second" 2 baleen icp serve --max-age 5ms classic.bln
refuses "a cuckoo filter" "cuckoo.bln: a cuckoo filter, and a cache digest is a Bloom filter: make \
it with --kind classic or counting and --hash squid" baleen icp serve cuckoo.bln
refuses "a keyed one" "keyed.bln: a Bloom filter of other positions than Squid's, and Squid would \
look for its keys elsewhere: make it with --hash squid" baleen icp serve keyed.bln
check_status "two geometries" 1 baleen icp serve classic.bln small.bln
cp "$TMP/err" why
check "say what to do" grep -q 'build them of one geometry (--like)' why
refuses "what cannot be read twice" \
	"/dev/null: not a regular file, so it cannot be read again when it changes" \
	baleen icp serve /dev/null
refuses "an address of another host" "cannot listen on 192.0.2.1:8129: Cannot assign requested \
address" baleen icp serve --listen 192.0.2.1:8129 classic.bln
if [ "$(</proc/sys/net/ipv4/ip_unprivileged_port_start)" -gt 1 ]; then
	refuses "a port of root" "cannot listen on 127.0.0.1:1: Permission denied: a port below 1024 \
takes root or CAP_NET_BIND_SERVICE" baleen icp serve --listen 1 classic.bln
else
	skip "a port of root" "here any user may have it"
fi

# --- what is served -----------------------------------------------------------

serve --pause 0 --max-age 90s classic.bln
is "a digest is there" "$(get digest "$url")" 200
port=${url#http://127.0.0.1:} port=${port%%/*}
# A limit, since what is not refused goes on.
refuses "the port is taken" "cannot listen on 127.0.0.1:$port: Address already in use" \
	user timeout 60 "$TMP/baleen" icp serve --listen "$port" classic.bln
is "and at any path that ends so" "$(get again "${url%%/squid*}/x/store_digest?y")" 200
check "the same" cmp digest again
is "nothing elsewhere" "$(get no "${url%%/squid*}/")" 404
is "nor for who wants to change it" "$(get no -X POST -d x "$url")" 405
baleen icp seed -o back.bln digest
check "it is the image, bit for bit" cmp <(tail -c +513 back.bln) <(tail -c +513 classic.bln)
is "all entries" "$(info back.bln .entries)" 200
curl -sI "$url" | tr -d '\r' >head.txt
is "of its type and length" \
	"$(grep -E '^Content-(Type|Length):' head.txt | sort)" \
	"Content-Length: $(stat -c %s digest)"$'\n'"Content-Type: application/cache-digest"
modified=$(sed -n 's/^Last-Modified: //p' head.txt)
expires=$(date -d "$(sed -n 's/^Expires: //p' head.txt)" +%s)
is "to be kept for 90 seconds" \
	"$((expires - $(date -d "$(sed -n 's/^Date: //p' head.txt)" +%s)))" 90
is "who has it gets it no more" "$(get no -H "If-Modified-Since: $modified" "$url")" 304
is "who has an older one does" \
	"$(get no -H "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT" "$url")" 200

# --- files that change --------------------------------------------------------

baleen merge -o new.bln classic.bln more.bln >/dev/null
user cp new.bln beside && mv beside classic.bln
is "a new image is served" "$(get newer -H "If-Modified-Since: $modified" "$url")" 200
baleen icp seed -o back.bln newer
is "with its entries" "$(baleen match -c -f all.list back.bln)" 300
head -c 600 new.bln >beside && chmod 644 beside && mv beside classic.bln
is "a damaged one is not" "$(get kept "$url")" 200
is "nor later" "$(get kept "$url")" 200
check "but the one of before" cmp newer kept
is "which is said once" "$(grep -c 'served on' said)" 1
rm classic.bln
is "nor when it is gone" "$(get kept "$url")" 200
check "the one of before, still" cmp newer kept
check "a signal ends it well" stop

# --- several, and lists -------------------------------------------------------

baleen build --key squid --kind classic --hash squid --fpp 0.01 -o classic.bln urls.list
serve --pause 0 classic.bln more.bln
is "two images" "$(get both "$url")" 200
baleen icp seed -o back.bln both
is "are one digest" "$(baleen match -c -f all.list back.bln)" 300
stop
serve --pause 0 counting.bln more.list
is "a counting one and a list" "$(get both "$url")" 200
baleen icp seed -o back.bln both
is "too" "$(baleen match -c -f all.list back.bln)" 300
stop
serve --pause 0 --capacity 1000 urls.list
is "a list alone" "$(get alone "$url")" 200
cp all.list urls.list
is "and when it grows" "$(get alone "$url")" 200
baleen icp seed -o back.bln alone
is "what it has then" "$(baleen match -c -f all.list back.bln)" 300
stop
urls 1 200 >urls.list
baleen build --key squid --kind classic --hash squid --bits 512 -o full.bln all.list
serve --pause 0 full.bln
check "more bits than Squid takes are served" test "$(get full "$url")" = 200
check "after a warning" grep -q 'Squid takes no digest of more than 65 %' said
stop

# --- pieces -------------------------------------------------------------------

serve --pause 60s counting.bln
curl -sN -o part "$url" &
client=$!
part part
is "in the pause the head has left, alone" "$(stat -c %s part)" 128
is "others are served meanwhile" "$(curl -sI -o no -w '%{http_code}' "$url")" 200
check "a signal ends it in the pause, too" stop
wait "$client"
serve --pause 10ms counting.bln
is "after the pause comes the rest" "$(get whole "$url")" 200
check "behind the same head" cmp -n 128 whole part
baleen icp seed -o back.bln whole
is "with all that is in" "$(baleen match -c -f urls.list back.bln)" 200
stop

# --- readers that take their time ---------------------------------------------

urls 1 100 >urls.list
serve --pause 60s --capacity 1000 urls.list
readers=()
for n in 1 2 3 4 5; do
	urls 1 $((n * 100)) >urls.next
	mv urls.next urls.list
	curl -sN -o "held$n" "$url" &
	readers+=($!)
	part "held$n"
done
is "readers hold three digests at the most" "$(md5sum held[1-5] | cut -d' ' -f1 | uniq | wc -l)" 3
check "others get the last of these" cmp held3 held5
for n in {1..20}; do
	curl -sN -o "many$n" "$url" &
	readers+=($!)
	part "many$n"
done
for ((i = 0; i < 400; i++)); do
	kill -0 "${readers[0]}" 2>/dev/null || break
	sleep 0.05
done
check_status "an address has 16 readers, and the first makes room" 1 kill -0 "${readers[0]}"
kill "${readers[@]}" 2>/dev/null
stop
wait "${readers[@]}" 2>/dev/null
serve --pause 0 --capacity 1000 urls.list
for n in 1 2 3 4 5; do
	urls 1 $((n * 100)) >urls.next
	mv urls.next urls.list
	get "whole$n" "$url" >/dev/null
done
is "who reads to the end gets each" "$(md5sum whole[1-5] | cut -d' ' -f1 | uniq | wc -l)" 5
mv urls.list urls.next
mkfifo urls.list
is "a FIFO in place of a list" "$(get held "$url")" 200
check "keeps nobody waiting" cmp held whole5
check "and is told" grep -q 'urls.list: not a regular file' said
rm urls.list
mv urls.next urls.list
stop
