#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The examples of the manual pages can be pasted: mandoc and groff show the same commands, in
# 80 columns, of which a shell takes each; those that need files alone are run as they stand.
# The pages baleen-textbook(7), baleen-uses(7) and baleen.conf(5) are run by their own tests.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

MAN=$ROOT/user/man

# shown RENDERER PAGE: as a reader sees it
shown()
{
	case $1 in
	mandoc) mandoc -Tutf8 -Owidth=78 "$2" ;;
	groff) groff -k -Tutf8 -mandoc -P-c -rLL=78n "$2" ;;
	esac | sed 's/.\x08//g'
}

# commands: of a shown page on stdin, a command a line, without its prompt
commands()
{
	sed -nE ':next
		/^ {5,}([#$]|[a-z0-9]+#) [a-z{]/ {
			s/^ *([#$]|[a-z0-9]+#) //
			:more
			/[\\|]$/ { N; s/ *\\\n */ /; s/\| *\n */| /; b more }
			p
		}'
}

export LC_ALL=C.UTF-8
: >all
for page in "$MAN"/*.[1-9]; do
	name=${page##*/}
	is "$name: no line of mandoc is wider than 80 columns" "$(shown mandoc "$page" | grep -E '.{81}')" ""
	is "$name: nor of groff" "$(shown groff "$page" | grep -E '.{81}')" ""
	shown mandoc "$page" | commands >of-mandoc
	is "$name: both show the same commands" "$(shown groff "$page" | commands)" "$(<of-mandoc)"
	is "$name: no command has a dash or quote that no keyboard has" "$(grep -P '[^\x00-\x7f]' of-mandoc |
		grep -v …)" ""
	case $name in baleen-textbook.7) ;; *) cat of-mandoc >>all ;; esac
done
export LC_ALL=C

n=0
while read -r command; do
	case $command in *…* | *'[...]'*) continue ;; esac
	bash -n <<<"$command" 2>/dev/null || not_ok "a shell takes: $command"
	n=$((n + 1))
done <all
echo "# a shell takes $n commands"
check "there are some" test "$n" -gt 100

# --- those that need files alone ---

printf '%s\n' 192.0.2.1 192.0.2.7 198.51.100.0/24 >ipsum.txt
printf '%s\n' 203.0.113.9 >local.txt
printf '%s\n' 192.0.2.7 203.0.113.8 >feodo.txt
printf '%s\n' 192.0.2.7 203.0.113.200 >ours.txt
seq -f 10.0.0.%g 1 20 >a.txt
seq -f 10.0.1.%g 1 20 >b.txt
seq -f 192.0.2.%g 1 9 >bans.txt
echo ./ours.txt >names.txt
printf 'aN\x9b' >bits
cp ipsum.txt list.txt
cp bans.txt bans.list
baleen build -o peer.bln feodo.txt
baleen build --kind counting --fpp 0.01 -o 1.bln a.txt
baleen build --like 1.bln -o 2.bln b.txt
baleen build --key string -o names.bln names.txt

# is_for_files COMMAND: it asks for no device, daemon, host, nor for a directory of the system
is_for_files()
{
	case $1 in
	*eth[0-9]* | *kmod* | *:[0-9]* | */srv/* | */var/* | */etc/* | */root/* | */dev/* | *http* | *.pcap*) return 1 ;;
	esac
	grep -qE '(^|[|] *)baleen (build|compare|compile|info|intersect|match|merge|plan|show|subtract) |^baleen import --format bits|^baleen set keygen' <<<"$1"
}

n=0
while read -r command; do
	is_for_files "$command" || continue
	n=$((n + 1))
	printf '%s\n' "$command" >pasted
	check "runs: $command" user env PATH="$TMP:/usr/bin:/bin" bash -o pipefail pasted
done < <(awk '!seen[$0]++' all)
check "some were run" test "$n" -ge 20
