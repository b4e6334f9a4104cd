#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# baleen-icp(8), as it stands there: the configuration of sibling and asker lets them ask
# each other, and the commands of the example, from observing to answering, do what the
# page says. Only addresses, paths and what every site has of its own are other ones.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source tests/squid/lab.sh

# block N: the Nth example of the section about Squid, as a reader sees it, with the
# addresses of the lab: the sibling is node 1, the asker node 2
block()
{
	sed -n '/^\.Sh SQUID/,/^\.Ss/p' user/man/baleen-icp.8 |
		awk -v n="$1" '/^\.Bd/ { i++; next } /^\.Ed/ { inside = 0; if (i == n) exit } i == n' |
		sed 's/\\e$/\\/; s/192\.0\.2\.20/10.9.0.1/; s/192\.0\.2\.10/10.9.0.2/'
}

# start NAME N: a Squid of block N
start()
{
	local dir=$TMP/$1

	{
		block "$2" | sed "s|/var/spool/squid|$dir/cache|"
		squid_site "$1"
		# How long a Squid waits for answers while the machine has other things to do.
		echo "icp_query_timeout 5000"
	} >"$dir/squid.conf"
	chown proxy:proxy "$dir"
	check "$1: Squid takes its configuration" squid -k parse -f "$dir/squid.conf"
	is "$1: and minds nothing" "$(grep -E 'WARNING|ERROR|FATAL' "$TMP/err")" ""
	lab_in "$1" squid -N -n "$LAB$1" -z -f "$dir/squid.conf" >"$dir/out" 2>&1 ||
		bail "squid -z: $(tail -n 5 "$dir/cache.log")"
	squid_run "$1"
}

# number NAME: of the sibling, as status says
number()
{
	lab_in sibling "$BALEEN" icp status -j eth0 | jq ".[0].siblings[0].$1"
}

# numbers NAME...
numbers()
{
	local name

	for name in "$@"; do
		number "$name"
	done | xargs
}

# place MODE: the commands of the page, in this mode
place()
{
	block 3 | sed -n 's/^# //; p' | sed -e :a -e '/\\$/N; s/\\\n//; ta' |
		sed "s/mode=observe/mode=$1/; s/icp attach/icp attach --stale 10m/
			s|/var/spool/squid|$TMP/sibling/cache|" >"$TMP/commands"
	is "$1: three commands" "$(wc -l <"$TMP/commands")" 3
	check "$1: they run" lab_in sibling env PATH="$ROOT/build:$PATH" bash -eu "$TMP/commands"
}

# fetch WHAT PRESENT ABSENT: 40 objects of the sibling and 40 of nobody
fetch()
{
	is "$1: all comes" \
		"$({ obj "$2" $(($2 + 39)); obj "$3" $(($3 + 39)); } | lab_get asker - | sort | uniq -c | xargs)" \
		"80 200"
	wait_for "80 lines" logged 80
	is "$1: by these ways" "$(awk '$7 ~ /obj/ { print $9 }' "$TMP/asker/access.log" | tail -n 80 |
		sort | uniq -c | xargs)" "40 HIER_DIRECT/$ORIGIN 40 SIBLING_HIT/10.9.0.1"
}

# logged N: more lines than when this succeeded last
logged()
{
	[ "$(grep -c /obj/ "$TMP/asker/access.log")" -eq $((n_logged + $1)) ] && n_logged=$((n_logged + $1))
}

lab_start
lab_node sibling 1
lab_node asker 2
start sibling 1
start asker 2
n_logged=0
obj 1 100 | lab_get sibling - >"$TMP/first"
is "the sibling has objects" "$(sort "$TMP/first" | uniq -c | xargs)" "100 200"
fetch "without us" 1 1001

place observe
fetch "observe" 11 2001
is "observe: what Squid said is what the filter says" \
	"$(numbers agreed_hits agreed_misses false_hits false_misses hits misses)" "40 40 0 0 0 0"
check "observe: taken off" lab_in sibling "$BALEEN" icp detach eth0

place confirm
before=$(icp_counter sibling)
fetch "confirm" 21 3001
is "confirm: Squid is asked for what may be there" $(($(icp_counter sibling) - before)) 40
is "confirm: the rest is answered" "$(numbers hits misses confirmed)" "0 40 40"
check "confirm: taken off" lab_in sibling "$BALEEN" icp detach eth0

place answer
before=$(icp_counter sibling)
fetch "answer" 31 4001
read -r hits misses confirmed agreed < <(numbers hits misses confirmed agreed_hits)
is "answer: Squid is asked for the hits that it confirms" \
	"$(($(icp_counter sibling) - before)) $agreed" "$confirmed $confirmed"
is "answer: the rest is answered" "$((hits + confirmed)) $misses $((hits > 0))" "40 40 1"
check "answer: taken off" lab_in sibling "$BALEEN" icp detach eth0
