#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A matrix: each promise of the manual, tried on every way in; promises down, ways across.
#
#      tests/xdp/promises.sh [PROMISE [WAY]]     patterns of the shell; without them all cells
#      PROMISES_SAID=1, PROMISES_SECONDS=1       also prints what was said, and how long ways took
#
# tests/ways.sh has the ways. A promise is a line of the table PROMISES and a function
# promise_NAME, which fails, with the reason in $why, when it is not kept on $way. A cell that
# makes no sense is in the table LEFT_OUT, with the reason. A cell that is not kept yet is in
# promises.todo, with the step of ../shared/BOOK.md that will mend it; once it is kept its line
# has to go.
#
#      namespace $A: the gateway 9.3.3.1, and a peer      namespace $B: veth-b has 9.3.3.2

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"
# shellcheck source=tests/ways.sh
source "$ROOT/tests/ways.sh"

PROMISES="
never        never.list
edited       never.list, edited since
held         never.list, edited since: what the rule held before
forced       never.list, with --force
never_name   never-name
half_name    never-name, of which one family has an answer
own          own addresses
gateway      gateways
resolver     resolvers
peer         peers of sessions
covers       a prefix around own addresses and gateways
covers6      the /64 of an own address
lockout      lock-out
rate         false positive rate
width        shorter than /8 or /32
coverage     coverage
entries      number of entries
special      special ranges
nobody       0.0.0.0 and 255.255.255.255
ends         ends
origin       origin and reason
place        under ip netns exec
"

# Promises, ways, and why these cells are left out: the first line that fits.
LEFT_OUT="
*                             kmod*          the host loads no modules: tests/kmod/ tries them
never|edited|forced|*_name|own|gateway|resolver|peer|covers*|width|coverage|entries|special|nobody restore_boot/*|refresh*|subtract*|resize* brings no keys: what the rule holds is tried by 'held'
edited                        attach|apply|new_device/* is the first to read it: never
held                          attach|apply|new_device/*|restore there is no rule before
forced                        new_device/*|feed*|library*|crowdsec*|fail2ban*|limit*|fleet/* has no --force
half_name                     attach|apply/conf|take_over|set/*|new_device/*|r*|s*|merge*|ban*|add*|import*|feed*|library*|crowdsec*|fail2ban*|limit*|fleet/* apply and update ask the resolver
never_name                    attach|rule_add|swap|merge|restore|ban|add|add_f|import|feed|feed_bans|library|crowdsec|fail2ban|limit never-name is a statement of baleen.conf
covers6                       attach|apply*|take_over|update/*|set/*|new_device/*|rule_add|swap*|merge*|restore|add_f*|import* lists are exact: no address stands for its /64
lockout                       rule_add       a rule more cuts off by the keys that it drops: gateway, own, peer
lockout                       merge*|ban*|add*|import*|feed*|library*|crowdsec*|fail2ban*|limit*|fleet/* only brings keys: what cuts off is gateway, own, peer
lockout                       restore_boot/*|refresh*|resize* leaves the rules as they are
lockout                       new_device/*   this host reaches nobody by a new device
rate                          restore        puts back what was accepted
rate                          ban/*|library/*|fail2ban*|limit/*|fleet/* the same door as by hand, where a filter can be made so small
never_name                    new_device/*   asks no server: baleend does, as soon as it can
own|gateway|covers            new_device/*   a device that appears has no address and no gateway
rate                          refresh*|restore_boot/*|subtract* brings no keys
rate                          resize*        leaves room for the keys that are there
width                         attach|apply*|take_over|update/*|set/*|new_device/*|rule_add|swap*|merge*|restore a list is held to max-coverage, a typed one is meant as it is written
width|coverage                limit*|fleet/* its sources are no shorter than /8, its policy has shortest-prefix and coverage
coverage|entries              attach|rule_add|swap|merge|restore|ban|add|add_f|import|feed|feed_bans|library|crowdsec|fail2ban max-coverage and max-entries are statements of baleen.conf
coverage|entries              swap/*|merge/* a list that is typed is no feed, and is meant as it is written
coverage                      fail2ban/*     the door of feed, and no list
entries                       ban/*|fail2ban/*|crowdsec/*|library/* one at a time: the door of add and of feed
entries                       fleet/*        its policy has entries: tests/fleet
ends                          attach|apply|new_device/* brings a list, and lists have no end
origin                        attach|apply|new_device/* brings a list, which has no origin
place                         limit*|fleet/* a daemon is started where its unit says
"

NEVER=9.5.5.5 OWN=9.3.3.2 GATEWAY=9.3.3.1 RESOLVER=9.9.9.53 PEER=9.7.7.7 NAMED=9.6.6.6 HALF=9.6.7.7
OTHER=9.8.8.8
COVER=9.3.3.0/24 NEAR=9.3.3.77

# --- the host that is protected ---------------------------------------------------------------

# protect PEERS_NAMESPACE PEERS_DEVICE: $DEV in $NS gets an address, a gateway and a session
protect()
{
	ip -n "$1" address add "$GATEWAY/24" dev "$2"
	ip -n "$1" address add "$PEER/32" dev lo
	ip -n "$1" address add "$RESOLVER/32" dev lo
	ip -n "$NS" address add "$OWN/24" dev "$DEV"
	ip -n "$NS" address replace fd66::2/64 dev "$DEV" nodad
	ip -n "$1" neigh replace "$OWN" lladdr "$(mac "$NS" "$DEV")" dev "$2" nud permanent
	ip -n "$NS" neigh replace "$GATEWAY" lladdr "$(mac "$1" "$2")" dev "$DEV" nud permanent
	ip -n "$NS" route add default via "$GATEWAY" || bail "no gateway"
	"$ROOT/build/tools/session" "/run/netns/$1" "/run/netns/$NS" "$PEER" \
		bash -c 'trap "" ALRM; exec sleep 1000' >/dev/null 2>&1 &
	until_true has_session || bail "no session"
}

has_session() { inside ss -Htn state established dst "$PEER" | grep -q .; }

# --- promises ---------------------------------------------------------------------------------

# fails WHY: with what was said
fails()
{
	why="$1; answer $answer"$'\n'"$(tail -n 5 "$TMP/said" 2>/dev/null)"
	return 1
}

# is_ready: the device as the way finds it
is_ready()
{
	answer=none
	: >"$TMP/said"
	fresh || { cp "$TMP/fresh" "$TMP/said"; fails "the device cannot be made so"; }
}

# has FATES ADDRESS...: packets from there fare so
has()
{
	local got

	got=$(fates_of "${@:2}")
	[ "$got" = "$1" ] || fails "${*:2}: packets fare '$got', not '$1'"
}

# frame_has FATE ADDRESS: real frames, on one way
frame_has()
{
	local got

	[ "$way" = feed ] || return 0
	got=$(fates "$(ip4 "$2" 17 "$(udp 53)")" 2>&1)
	[ "$got" = "$1" ] || fails "$2: frames fare '$got', not '$1'"
}

# answers WANT...
answers()
{
	[[ " $* " == *" $answer "* ]] || fails "the answer should be $*"
}

# withholds KEY: what is itself protected is refused, or taken out of a list
withholds()
{
	if [ "$brings" = keys ]; then
		"way_$way" "$1"
		has P "$1" && frame_has P "$1" && { [[ $way == @(fleet|limit) ]] || answers refused; }
		return
	fi
	"way_$way" "$1" "$OTHER"
	if [ "$answer" = refused ]; then
		# Typed it may be refused whole; a feed goes on.
		[ "$asks" != fed ] || fails "a feed is refused for one address" || return
		grep -qF "$1" "$TMP/said" || fails "does not name $1" || return
		[ -z "$(inside "$BALEEN" match "$DEV:bad" "$1" 2>/dev/null)" ] || fails "$1 is in force"
		return
	fi
	has PD "$1" "$OTHER"
}

promise_never() { is_ready && withholds "$NEVER"; }
promise_nobody() { is_ready && withholds 255.255.255.255 && is_ready && withholds 0.0.0.0; }
promise_own() { is_ready && withholds "$OWN"; }
promise_gateway() { is_ready && withholds "$GATEWAY"; }
promise_resolver() { is_ready && withholds "$RESOLVER"; }

promise_edited()
{
	is_ready || return
	lines_of "$BALEEN_CONF_DIR/never.list" "$NEVER" 9.5.6.6
	withholds 9.5.6.6
}

# --force is for addresses of this host and for peers.
promise_forced()
{
	local FORCE=(--force)

	is_ready && withholds "$NEVER"
}

promise_held()
{
	is_ready || return
	inside "$BALEEN" add "$DEV:bad" 9.5.7.7 >"$TMP/said" 2>&1
	has D 9.5.7.7 || return
	lines_of "$BALEEN_CONF_DIR/never.list" "$NEVER" 9.5.7.7
	if [ "$brings" = nothing ]; then "way_$way"; else "way_$way" "$OTHER"; fi
	answers ok narrowed && has P 9.5.7.7
}

promise_never_name()
{
	local DEVICE_LINES=("never-name guarded.example")

	is_ready && withholds "$NAMED"
}

# Nobody listens at the resolver: the answer for IPv4 is of /etc/hosts, and there is none for IPv6.
promise_half_name()
{
	local DEVICE_LINES=("never-name half.example")

	is_ready && withholds "$HALF"
}

# Programs may ban peers of sessions, as the manual says: but the library unless it says so, and a
# fleet.
promise_peer()
{
	has_session || bail "the session has ended"
	is_ready || return
	if [ "$brings" = keys ] && [ "$asks" = fed ]; then
		"way_$way" "$PEER"
		answers ok && has D "$PEER"
	else
		withholds "$PEER"
	fi
}

# covers_protected PREFIX NEAR PROTECTED...: typed it is refused, with a command for the rest;
# otherwise what is protected is taken out
covers_protected()
{
	local passes command

	passes=$(printf P%.0s "${@:3}")
	is_ready || return
	"way_$way" "$1"
	if [ "$answer" = refused ] && [ "$brings" != keys ] && [ "$asks" != fed ]; then
		[ "$finds" = nothing ] || has "$passes" "${@:3}"
		return
	fi
	case $asks$brings in
	typedkeys)
		answers refused && has "$passes" "${@:3}" || return
		command=$(grep -oE "baleen [^()']* --narrow[^()']*" "$TMP/said" | tail -n 1)
		[ -n "$command" ] || fails "names no command with --narrow" || return
		say "${INSIDE[@]}" bash -c "$BALEEN ${command#* }"
		answers narrowed && has "D$passes" "$2" "${@:3}"
		;;
	librarykeys)
		answers refused narrowed && has "$passes" "${@:3}"
		;;
	*keys)
		# fail2ban shows nothing of a command that succeeds.
		has "D$passes" "$2" "${@:3}" && { [[ $way =~ ^(fleet|fail2ban)$ ]] || answers narrowed; }
		;;
	*)
		has "D$passes" "$2" "${@:3}" && answers ok narrowed
		;;
	esac
}

promise_covers()
{
	local PER=src/24

	covers_protected "$COVER" "$NEAR" "$OWN" "$GATEWAY"
}

promise_covers6()
{
	covers_protected fd66::66 fd66::66 fd66::2
}

# An allow rule under `default drop` has all that this host needs, and would lose half of it.
promise_lockout()
{
	local ACTION=allow ATTACH=(--default drop) DEVICE_LINES=("default drop") RULE_LINES=("max-shrink 100%")
	local BASE=(9.3.3.0/24 "$RESOLVER" "$PEER")

	is_ready || return
	[ "$brings" = nothing ] || BASE=()
	"way_$way" 9.3.3.0/24
	answers refused || return
	[ "$finds" = nothing ] || has PPP "$GATEWAY" "$RESOLVER" "$PEER"
}

# Of 1,000 addresses that nobody has listed 2 % may be dropped; 41 or more are less likely than one
# in 10,000. By hand the filter has 512 bits, of which 100 keys leave half.
promise_rate()
{
	local ATTACH=(--accept-fpp 0.02) IMAGE=(--kind classic --bits 512 --hashes 4) keys innocent n
	local RULE_LINES=("kind bloom" "fpp 0.02" "capacity 2")

	is_ready || return
	mapfile -t keys < <(printf '9.20.%d.1\n' {1..100})
	[[ $column != */conf ]] || mapfile -t keys < <(printf '9.20.%s\n' {1..5}.{1..240})
	mapfile -t innocent < <(printf '9.%s.9\n' {21..24}.{1..250})
	"way_$way" "${keys[@]}"
	# A program that feeds is told that it failed.
	[[ $answer =~ ^(refused|failed)$ ]] || has DD "${keys[0]}" "${keys[-1]}" || return
	n=$(fates_of "${innocent[@]}" | tr -cd D | wc -c)
	[ "$n" -le 40 ] || fails "$n of 1000 innocents are dropped"
}

promise_width()
{
	local FORCE=()

	is_ready || return
	"way_$way" 64.0.0.0/3
	answers refused && has P 64.9.9.9 || return
	"way_$way" 2000::/6
	answers refused && has P 2000:9::9 || return
	[[ $way == @(ban|add|add_f) ]] || return 0
	FORCE=(--force)
	"way_$way" 64.0.0.0/3
	answers ok && has D 64.9.9.9
}

promise_coverage()
{
	local keys=()

	mapfile -t keys < <(printf '%d.0.0.0/8\n' {11..76})
	[ "$way" != ban ] || keys=(11.0.0.0-76.255.255.255)
	is_ready || return
	"way_$way" "${keys[@]}"
	answers refused || return
	[ "$finds" = nothing ] || [ "$(fates_of 11.9.9.9 44.9.9.9 76.9.9.9)" != DDD ] || fails "all are dropped"
}

# A limit has its cap; all else max-entries.
promise_entries()
{
	local RULE_LINES=("max-entries 10") CAP=10 keys=() fates

	[ "$way" != limit ] || RULE_LINES=()
	mapfile -t keys < <(printf '9.30.%d.1\n' {1..20})
	is_ready || return
	if [ "$finds" != conf ] && [ "$way" != limit ]; then
		# The word is understood.
		"way_$way" 9.31.1.1
		answers ok && is_ready || return
	fi
	"way_$way" "${keys[@]}"
	fates=$(fates_of "${keys[@]}" | tr -cd D)
	[ "${#fates}" -le 10 ] || fails "${#fates} of 20 are dropped" || return
	[ "$way" = limit ] || answers refused
}

# A feed of a drop rule loses them, and so does a list that is put into it; a rule that is typed
# keeps them, and single entries are not concerned.
promise_special()
{
	is_ready || return
	"way_$way" 192.168.7.7 "$OTHER"
	answers ok narrowed || return
	case $brings/$way/$finds in
	feed/* | list/*/conf) has PD 192.168.7.7 "$OTHER" ;;
	*) has DD 192.168.7.7 "$OTHER" ;;
	esac
}

# later COMMAND...: two hours later by the clock
later() { inside env CLOCK_SHIM_S=7200 LD_PRELOAD="$ROOT/build/tools/clock.so" "$@"; }

# has_ended KEY
has_ended()
{
	later "$BALEEN" list "$DEV:bad" "$1" >"$TMP/said" 2>&1
	grep -q ended "$TMP/said" || fails "has ended, is in force, and is not said to be so" || return
	later "$BALEEN" add "$DEV:bad" 9.40.2.2 >"$TMP/said" 2>&1
	has P "$1"
}

# An entry that has ended is told so while it is in force, and the next command takes it out.
promise_ends()
{
	local TTL=1h ENTRY=9.40.1.1 key=9.40.1.1

	is_ready || return
	if [ "$brings" = keys ] || [ "$way" = restore ]; then
		if [ "$way" = restore ]; then "way_$way" "$OTHER"; else "way_$way" "$key"; fi
		answers ok && has D "$key" || return
		# The daemon of a fleet, which is of the present, would put it back.
		[ "$way" != fleet ] || signal_daemons STOP
		has_ended "$key"
		local result=$?
		[ "$way" != fleet ] || signal_daemons CONT
		return $result
	fi
	inside "$BALEEN" add "$DEV:bad" "$key" --ttl 1h >"$TMP/said" 2>&1
	has D "$key" || return
	local ENTER=("${INSIDE[@]}" env CLOCK_SHIM_S=7200 "LD_PRELOAD=$ROOT/build/tools/clock.so")
	if [ "$brings" = nothing ]; then "way_$way"; else "way_$way" "$OTHER"; fi
	answers ok narrowed && has P "$key"
}

# is_entry KEY ORIGIN REASON [END]: listed so
is_entry()
{
	local got

	got=$(inside "$BALEEN" list -j "$DEV:bad" "$1" 2>/dev/null | jq -r '.[0] | "\(.origin)/\(.reason)/\(.expires_ms != null)"')
	[ "$got" = "$2/$3/${4-true}" ] || fails "$1 is listed as '$got', not '$2/$3/${4-true}'"
}

promise_origin()
{
	local TTL=1h ENTRY=9.41.1.1 key=9.41.1.1

	is_ready || return
	if [ "$brings" = keys ]; then
		"way_$way" "$key"
		answers ok && is_entry "$key" "$origin_is" "$reason_is"
		return
	fi
	[ "$finds" = nothing ] ||
		inside "$BALEEN" add "$DEV:bad" "$key" --ttl 1h --origin ways --reason "a reason" >"$TMP/said" 2>&1
	if [ "$brings" = nothing ]; then "way_$way"; else "way_$way" "$OTHER"; fi
	answers ok narrowed && is_entry "$key" ways "a reason"
}

# books: of what is kept, anywhere
books()
{
	find "$BALEEN_RUN_DIR" "$BALEEN_STATE_DIR" \( -name state.db -o -name book.db \) -exec sqlite3 {} .dump \; 2>/dev/null |
		grep -v 'INSERT INTO owner' | sort | cksum
}

# Works, or is refused before anything is written.
promise_place()
{
	local before attached ENTER=(ip netns exec "$NS")

	is_ready || return
	before=$(books) attached=$(xdp_id "$NS" "$DEV")
	if [ "$brings" = nothing ]; then "way_$way"; else "way_$way" 9.42.1.1; fi
	if [[ $answer == @(refused|failed) ]]; then
		[ "$(books)" = "$before" ] || fails "refused, and written" || return
		[ "$way" = restore_boot ] || [ "$(xdp_id "$NS" "$DEV")" = "$attached" ] ||
			fails "refused, and another program"
	elif [ "$way" = subtract ]; then
		has P "${BASE[1]}"
	elif [ "$brings" = nothing ]; then
		has D "${BASE[1]}"
	else
		has D 9.42.1.1
	fi
}

# --- the matrix -------------------------------------------------------------------------------

kept=0 todo=0 turned=0 left_out=0

# reason_of TABLE PROMISE WAY: of the first line that fits
reason_of()
{
	local promises ways reason

	while read -r promises ways reason; do
		# shellcheck disable=SC2053 # patterns
		if [[ -n $promises && $2 == @($promises) && $3 == @($ways) ]]; then
			echo "$reason"
			return
		fi
	done <<<"$1"
}

# label_of: of the way, and how it finds the device
label_of()
{
	local label=${column%/conf}

	label=${label//_/ }
	case $finds in
	conf) label+=" (configured)" ;;
	hand) label+=" (by hand)" ;;
	esac
	echo "$label"
}

# cell PROMISE NAME: of $column
cell()
{
	local name reason

	name="$2: $(label_of)"
	reason=$(reason_of "$LEFT_OUT" "$1" "$column")
	if [ -n "$reason" ]; then
		left_out=$((left_out + 1))
		echo "# left out: $name: $reason"
		return
	fi
	reason=$(reason_of "$TODO" "$1" "$column")
	why=
	if "promise_$1"; then
		[ -z "${PROMISES_SAID-}" ] || sed "s|^|# said: $1 $column: |" "$TMP/said"
		if [ -z "$reason" ]; then
			kept=$((kept + 1))
			ok "$name"
		else
			turned=$((turned + 1))
			not_ok "$name" "has turned ok: remove its line from tests/xdp/promises.todo: $1 $column"
		fi
	elif [ -n "$reason" ]; then
		todo=$((todo + 1))
		todo "$name" "$reason" "$why"
	else
		not_ok "$name" "$1 $column: $why"
	fi
}

shopt -s extglob
TODO=$(<tests/xdp/promises.todo)
chmod 755 "$TMP"
mkdir -p "$BALEEN_CONF_DIR" "$BALEEN_RUN_DIR" "$BALEEN_STATE_DIR"
# shellcheck disable=SC2119 # the default pair
make_pair
# The device whose rules are saved, on a host without anything to protect.
make_netns "$WORLD_C"
ip -n "$WORLD_C" link add veth-c type veth peer name veth-d
echo "nameserver $RESOLVER" >"$TMP/resolv.conf"
printf "%s guarded.example\n" "$NAMED" 2620:fe::66 >>"$TMP/hosts.conf"
echo "$HALF half.example" >>"$TMP/hosts.conf"
protect "$A" veth-a

while read -r column finds brings asks; do
	# shellcheck disable=SC2053 # a pattern
	[[ -n $column && $column == ${2-*} ]] || continue
	way=${column%/conf}
	began=$EPOCHSECONDS
	declare -F "set_up_$way" >/dev/null && "set_up_$way"
	while read -r promise name; do
		# shellcheck disable=SC2053 # a pattern
		[[ -n $promise && $promise == ${1-*} ]] || continue
		cell "$promise" "$name"
	done <<<"$PROMISES"
	declare -F "take_down_$way" >/dev/null && "take_down_$way"
	[ -z "${PROMISES_SECONDS-}" ] || echo "# $column: $((EPOCHSECONDS - began)) s"
done <<<"$WAYS"
# A line of a cell that is not there would stay for ever.
[ $# -ne 0 ] || is "each line of promises.todo is of a cell" "$(grep -c '^[a-z]' tests/xdp/promises.todo)" $((todo + turned))
echo "# left out: everything: kmod: $(reason_of "$LEFT_OUT" never kmod)"
echo "# $kept cells are kept, $todo are TODO, $left_out make no sense"
