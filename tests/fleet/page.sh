#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `man baleen-fleet` tells to type on two hosts works as it stands there, and README tells
# the same. Only the keys are those that the commands print.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

PAGE=$ROOT/user/man/baleen-fleet.8

# commands FILE: a line `N COMMAND` for each of host webN
commands() { sed -n 's/^web\([12]\)# /\1 /p' "$1"; }

# rules FILE: what both hosts have as eth0.conf
rules() { sed -n '/^rule bad drop$/,/^ *feed fleet:bans/p' "$1"; }

is "the page has six commands" "$(commands "$PAGE" | wc -l)" 6
is "README has the same" "$(commands README.md)" "$(commands "$PAGE")"
while read -r line; do
	check "README has the rules, too: $line" grep -qF "\`$line\`" README.md
done < <(rules "$PAGE")

# users: of the page, as the file has them
users()
{
	sed -n '/^user default off$/,/^\.Ed/p' "$PAGE" | grep -v '^\.' | sed 's/\\(ti/~/g; s/\\-/-/g'
}
is "the page has the users of Redis" "$(users | tr -s ' \n' ' ')" "$(tr -s ' \n' ' ' <user/redis/users.acl)"

make_lab 1 2
server=$(commands "$PAGE" | sed -n 's/.* --server \([^ :]*\):6379.*/\1/p' | sort -u)
{ cat /etc/hosts && echo "10.77.0.101 $server"; } >"$TMP/hosts"
mount --bind "$TMP/hosts" /etc/hosts || bail "no name for Redis"
for host in 1 2; do
	rules "$PAGE" >"$TMP/h$host/conf/eth0.conf"
	start_daemon "$host"
done

# key: what the command before has printed for the next one
key() { sed -n 's/.*--trust \([^ ]*\).*/\1/p; s/.* admit [^ ]* \([^ ]*\)$/\1/p' "$TMP/said"; }

# type_on N COMMAND: exit 3 of `apply`: something changed
type_on()
{
	on "$1" env PATH="$ROOT/build:$PATH" "$BASH" -c "${2//KEY/$(key)}" >"$TMP/out" 2>"$TMP/err"
	case $? in
	0 | 3) ok "web$1# $2" ;;
	*) not_ok "web$1# $2" "$(cat "$TMP/err")" ;;
	esac
	cp "$TMP/out" "$TMP/said"
}

: >"$TMP/said"
while read -r host command; do
	type_on "$host" "$command" </dev/null
done < <(commands "$PAGE")
banned=$(commands "$PAGE" | sed -n 's/.*fleet ban \([^ ]*\).*/\1/p')
for host in 1 2; do
	await "$banned is dropped on web$host" drops "$host" "$banned"
done
check "web2 knows who and why" b 2 fleet who "$banned"
is "from the page" "$(sed 's/ends in [^:]*/ends/' "$TMP/out")" \
	"$banned  web1/operator  in force, ends: scans ports"
