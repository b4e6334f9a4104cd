#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the adapter of CrowdSec makes of awkward decisions, a purge of the package where its
# directories are mount points, and what `make deb` installs.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# --- crowdsec ---

mkdir "$TMP/bin"
printf '#!/bin/sh\ncat >"%s/fed"\n' "$TMP" >"$TMP/bin/baleen"
printf '#!/bin/sh\ncat >/dev/null\n' >"$TMP/bin/logger"
chmod +x "$TMP/bin/"*

# becomes NAME SCENARIO REASON: a decision with this scenario, as JSON has it
becomes()
{
	printf '{"duration":"4h","scenario":"%s","type":"ban","value":"192.0.2.1","action":"add"}\n' "$2" |
		PATH="$TMP/bin:$PATH" BALEEN=$TMP/bin/baleen sh user/adapters/baleen-crowdsec
	is "$1" "$(<"$TMP/fed")" "add 192.0.2.1 ttl=4h reason=$3"
}

becomes "a plain scenario" 'crowdsecurity/ssh-bf' 'crowdsecurity/ssh-bf'
becomes "quotes" 'manual \"bad guy\" again' 'manual "bad guy" again'
becomes "a backslash at the end" 'a\\' 'a\'
becomes "a quote behind a backslash" 'a\\\"b' 'a\"b'
becomes "what looks like a field" 'x\",\"value\":\"192.0.2.9' 'x","value":"192.0.2.9'
becomes "a line end is a blank" 'a\nadd 192.0.2.9' 'a add 192.0.2.9'
becomes "another character" 'a\u0022b' 'a?b'
becomes "the shell's own" '$(id) `id` *; #' '$(id) `id` *; #'

# lasts NAME DURATION TTL [TOLD]
lasts()
{
	printf '#!/bin/sh\ncat >>"%s/told"\n' "$TMP" >"$TMP/bin/logger"
	: >"$TMP/told"
	printf '{"duration":"%s","scenario":"x","type":"ban","value":"192.0.2.1","action":"add"}\n' "$2" |
		PATH="$TMP/bin:$PATH" BALEEN=$TMP/bin/baleen sh user/adapters/baleen-crowdsec
	is "$1" "$(<"$TMP/fed") $(<"$TMP/told")" "add 192.0.2.1 ttl=$3 reason=x ${4-}"
}

lasts "the longest that CrowdSec has" 2562047h47m16.854s 2562047h47m16s
lasts "the longest ban" 8766000h 8766000h
for n in 8766001h 99999999h1m 99999999999999999999h; do
	lasts "$n is cut, and told" "$n" 8766000h "192.0.2.1: cut from $n to 8766000h, the longest"
done
lasts "no hours" 3m2s 3m2s

# --- fail2ban ---

# bans NAME BANTIME STATUS FED: what its action hands on for a ban of this time
bans()
{
	rm -f "$TMP/fed"
	sed -n '/^actionban = /,/^$/ { s/^actionban = //; p }' user/adapters/fail2ban-baleen.conf |
		sed "s/<ip>/192.0.2.1/g; s/<bantime>/$2/g; s/<failures>/3/; s/%%/%/g
			s|<baleen>|$TMP/bin/baleen|; s/<target>/eth0:bad/; s/<name>/sshd/" >"$TMP/action"
	check_status "$1" "$3" sh "$TMP/action"
	is "$1: what it hands on" "$(cat "$TMP/fed" 2>/dev/null)" "$4"
}

bans "a whole number of seconds" 600 0 "add 192.0.2.1 ttl=600s reason=3 failures"
bans "as fail2ban before 1.0 has it" 600.0 0 "add 192.0.2.1 ttl=600s reason=3 failures"
bans "a part of a second" 0.5 0 "add 192.0.2.1 ttl=1s reason=3 failures"
bans "for ever" -1 0 "add 192.0.2.1  reason=3 failures"
bans "for ever, as before 1.0" -1.0 0 "add 192.0.2.1  reason=3 failures"
bans "what is no number bans nobody" 1h 1 ""

# --- packages ---

is "make deb installs nothing to make a Debian of its own" \
	"$(grep -E '^(build|deb) (debootstrap|qemu)' packages)" ""

if [ "$(id -u)" -ne 0 ]; then
	skip "a purge of mount points" "needs root"
	exit 0
fi
mkdir -p "$TMP/etc/baleen" "$TMP/var/lib/baleen"
sed "s|/etc/baleen|$TMP&|g; s|/var/lib/baleen|$TMP&|g; s|/sys/fs/bpf|$TMP|g" debian/baleen.postrm >"$TMP/postrm"
check "a purge of directories on mounts succeeds" unshare --mount --propagation private sh -ec '
	mount -t tmpfs none "$1/etc/baleen"
	mount -t tmpfs none "$1/var/lib/baleen"
	mkdir "$1/var/lib/baleen/eth0"
	touch "$1/etc/baleen/eth0.conf" "$1/var/lib/baleen/eth0/state.db"
	sh "$1/postrm" purge
	ls -A "$1/etc/baleen" "$1/var/lib/baleen" >"$1/left"' - "$TMP"
is "leaves nothing in them" "$(grep -c 'eth0' "$TMP/left")" 0
touch "$TMP/etc/baleen/eth0.conf"
check "a purge of plain directories" sh "$TMP/postrm" purge
is "removes them" "$(ls -d "$TMP/etc/baleen" "$TMP/var/lib/baleen" 2>/dev/null)" ""
