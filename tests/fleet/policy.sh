#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Policies go from the host that signs them to all others, whose baleend may not write to /etc.
# One that is half written stops nobody. What `admit` says has happened.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

make_lab 1 2
begin_fleet 1 2
etc=$TMP/h1/conf/fleet

# kept N: the policy that came to a host; serial N: of it
kept() { tail -n +5 "$(find "$TMP/h$1/state" -name fleet.policy)"; }
serial() { kept "$1" | sed -n 's/^serial //p'; }
has_serial() { [ "$(serial "$1")" = "$2" ]; }

# --- how they go ------------------------------------------------------------------------

check_status "baleend of the host that joined may not write where fleet.conf is" 1 \
	nsenter --mount="/proc/${daemon_pid[2]}/ns/mnt" -- touch "$TMP/h2/conf/x"
await "the policy comes to it all the same" has_serial 2 2
check "it wrote none there" test ! -e "$TMP/h2/conf/fleet/policy"
is "the host that signs has it for people, too" "$(cat "$etc/policy")" \
	"$(kept 1)"
check "minisign knows what baleen signed" minisign -Vm "$etc/policy" -p "$etc/policy.pub"

# --- admit --------------------------------------------------------------------------------

check "a ban of the second" ban 2 192.0.2.2
await "holds on the first" drops 1 192.0.2.2
check_status "a host that the policy does not know" 1 b 1 fleet admit --remove h22
is "is said not to be in it" "$(sed 's/^baleen: //' "$TMP/err")" "lab: the policy knows no host 'h22'"
is "and nothing was signed" "$(serial 1)" 2
sed -i 's/^host h2 /\t host \t h2\t/' "$etc/policy"
sed -i 's/^serial.*/serial 3/' "$etc/policy"
check "a policy with more blanks, by hand" minisign -S -s "$etc/policy.key" -m "$etc/policy"
await "comes to the second" has_serial 2 3
key=$(awk '$1 == "host" && $2 == "h2" { print $3 }' "$etc/policy")
check "the host is taken out of it" b 1 fleet admit --remove h2
is "and is out" "$(kept 1 | grep -c h2)" 0
await "its ban holds no longer" passes 1 192.0.2.2
await "the second knows" has_serial 2 4
await "and says so" eval 'b 2 fleet status | grep -q "the policy does not know this host"'

# --- old ------------------------------------------------------------------------------------

# sign STATEMENT: the policy with the next serial and one statement more, by hand
sign()
{
	local next=$(($(sed -n 's/^serial //p' "$etc/policy") + 1))

	sed -i "s/^serial.*/serial $next/; /^expires/d; /^serial/a $1" "$etc/policy"
	minisign -S -s "$etc/policy.key" -m "$etc/policy" >/dev/null
}
check "a policy that expires in days" sign "expires $(date -u -d '+3 days' +%F)"
await "comes to the second" has_serial 2 5
await "which tells" eval 'b 2 fleet status | grep -q "the policy expires in "'
check_status "and so does doctor" 0 b 2 doctor
is "with what to do" "$(grep -c 'sign one with a later day' "$TMP/out")" 1
check "one that has expired" sign "expires $(date -u -d yesterday +%F)"
await "comes to the second, too: it is signed, and newer" has_serial 2 6
await "which alarms" grep -q "policy 6 has expired" "$TMP/h2/log"
check_status "and doctor fails" 1 b 2 doctor
is "and says why" "$(grep -c 'the policy has expired' "$TMP/out")" 1
check "one without a day" sign "# no day"
await "comes" has_serial 2 7
await "and all is well" eval '! b 2 fleet status | grep -q "the policy .*expire"'

# --- half written -------------------------------------------------------------------------

# Killed between the signature and the text of another policy.
cp "$etc/policy" "$TMP/edited"
sed -i 's/^serial.*/serial 9/' "$TMP/edited"
minisign -S -s "$etc/policy.key" -m "$TMP/edited" -x "$etc/policy.minisig" >/dev/null ||
	bail "minisign does not sign"
check "baleend of the first is killed" stop_daemon 1 KILL
start_daemon 1
await "it says what is wrong with the file" grep -q "policy.minisig: the signature is of another" \
	"$TMP/h1/log"
check "a ban of the first" ban 1 192.0.2.1
await "holds on the second" drops 2 192.0.2.1
check "a host is admitted" b 1 fleet admit h2 "$key"
check "the files are one again" minisign -Vm "$etc/policy" -p "$etc/policy.pub"
await "the ban of the second holds again" drops 1 192.0.2.2
