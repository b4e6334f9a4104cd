#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What README.md and docs/coming-from.md tell to type works as it stands there, and the
# pictures of README are what `status` and `top` print. Only /etc/baleen is elsewhere.
#
#      namespace $A                           namespace $B
#      +-----------------------+              +-----------------------+
#      | veth-a  10.66.0.1/24  |==============| eth0    10.66.0.2/24  |
#      +-----------------------+              +-----------------------+

# shellcheck disable=SC2016 # backquotes are those of Markdown
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
README=$ROOT/README.md
PEERS=$ROOT/docs/coming-from.md
BANNED=203.0.113.9
traffic=

cleanup()
{
	[ -z "$traffic" ] || kill "$traffic" 2>/dev/null
}

make_devices()
{
	local mac_a mac_b

	make_netns "$A" "$B"
	if ! ip -n "$A" link add name veth-a numtxqueues 1 numrxqueues 1 type veth \
		peer name eth0 netns "$B" numtxqueues 1 numrxqueues 1; then
		bail "cannot make a veth pair"
	fi
	mac_a=$(mac "$A" veth-a)
	mac_b=$(mac "$B" eth0)
	if ! ip -n "$A" link set dev veth-a arp off || ! make_end "$A" veth-a 1 2 "$mac_b" ||
		! make_end "$B" eth0 2 1 "$mac_a"; then
		bail "cannot set up the veth pair"
	fi
}

# as_typed NAME: the commands on stdin succeed, or say that they changed something. What
# is for a person at a terminal looks once.
as_typed()
{
	{
		# shellcheck disable=SC2016 # for the shell that runs it
		echo 'trap '\''s=$?; [ "$s" -eq 3 ] || echo "status $s: $BASH_COMMAND" >>failed'\'' ERR'
		sed "s|/etc/baleen|$TMP/conf|g; s/^baleen top eth0/baleen top --once eth0/"
	} >commands
	rm -f failed
	in_ns "$B" env PATH="$ROOT/build:$PATH" bash -u -o pipefail commands >out 2>err
	is "$1" "$(cat failed 2>/dev/null)" ""
	[ ! -e failed ] || tail -n 20 out err | sed 's/^/# /'
}

# --- README ----------------------------------------------------------------

# block TYPE HEADING N: the Nth fenced block of this type below a heading
block()
{
	awk -v type="$1" -v heading="## $2" -v n="$3" '
		/^## / { here = $0 == heading }
		/^```/ { inside = here && $0 == "```" type && ++i == n; next }
		inside' "$README"
}

# picture COMMAND: what README says that it prints
picture()
{
	block text "What it looks like" 1 | awk -v prompt="# $1" '
		/^# / { inside = $0 == prompt; next }
		inside && NF'
}

# shape: without the numbers, units and bars, and of which rule a sampled key is
shape()
{
	sed -E 's/[▁▂▃▄▅▆▇█]+//g; s/% (bans|bad)$/% RULE/; s/[0-9]([0-9.,]*[0-9])?[kMGT]?/N/g; s/N ?[kMGT]?B/N B/g; s/ +/ /g; s/ $//'
}

send_on()
{
	local line

	{
		for _ in {1..30}; do
			echo 198.51.100.77
			echo "$BANNED"
			sed -n '1p; 1p; 1p; 2p; 2p' list.txt
		done
		for _ in {1..300}; do echo 10.66.0.9; done
	} >mix
	mkfifo said
	"$TRAFFIC" --from "$A:veth-a" --to "$B:eth0" --unlisted mix --loop >said &
	traffic=$!
	exec 4<said
	IFS= read -r -t 60 line <&4
	[ "$line" = running ] || bail "traffic says '$line'"
}

try_readme()
{
	local way

	make_list list.txt 1000 0 7
	is "the configuration of README has seven lines" \
		"$(block sh Use 1 | sed -n "/^cat/,/^END/p" | grep -cv '^cat\|^END')" 7
	as_typed "README: apply" < <(block sh Use 1)
	as_typed "README: confirm, ban, list, why, unban" < <(block sh Use 2)
	is "README: the ban was listed" "$(grep -c '^bans *203\.0\.113\.7 *manual .* ssh scan$' out)" 1
	is "README: and why answered" "$(grep -c '^203\.0\.113\.7 to eth0, tcp, opening: dropped$' out)" 1
	as_typed "README: after a change" <<<"baleen apply eth0; baleen update eth0"
	as_typed "what the picture has" <<<"baleen add eth0:bans ${BANNED%.*}.0/24"
	send_on
	in_ns "$B" env LC_ALL=C.UTF-8 COLUMNS=80 "$BALEEN" top -b -n 3 -i 500ms eth0 >pages
	kill "$traffic"
	wait "$traffic"
	traffic=
	is "README: status looks so" "$(picture "baleen status eth0" | shape)" \
		"$(in_ns "$B" "$BALEEN" status eth0 | shape)"
	is "README: top looks so" "$(picture "baleen top eth0" | shape)" \
		"$(tac pages | sed '/^eth0:/q' | tac | shape | head -n "$(picture "baleen top eth0" | wc -l)")"

	sed -n 's/^\*\*Remove it\.\*\* `\([^`]*\)`.*`\(.*\)`.*/\1\n\2/p' "$README" >ways
	is "README: two ways to remove it" "$(wc -l <ways)" 2
	as_typed "README: detach" < <(head -n 1 ways)
	as_typed "a boot" <<<"baleen restore --boot"
	check "README: it is back" in_ns "$B" "$BALEEN" status eth0
	as_typed "README: detach for ever" < <(tail -n 1 ways)
	as_typed "another boot" <<<"baleen restore --boot"
	check_status "README: it is not back" 1 in_ns "$B" "$BALEEN" status eth0

	as_typed "README: locked out" < <(block sh Use 1)
	way=$(sed -n 's/.*`\(rm [^`]*\)`.*/\1/p' "$README")
	as_typed "README: the way out" <<<"${way:?}"
	take_off "$B" eth0
	rm -rf state run
}

# --- what others know ------------------------------------------------------

# section NAME
section()
{
	awk -v heading="## $1" '/^## / { here = $0 == heading } here' "$PEERS"
}

# side N: of the rows on stdin the commands of a column that can be run here, a line each
side()
{
	grep '^| ' | cut -d '|' -f "$(($1 + 1))" | grep -oE '`[^`]+`' | tr -d '`' |
		grep -E '^(ipset|nft|xdp-filter|baleen) ' | grep -vE '^(xdp-filter poll|baleen watch)'
}

# both NAME: the rows on stdin, left and right
both()
{
	cat >rows
	as_typed "$1: what they know" < <(side 1 <rows)
	as_typed "$1: what is here" < <(side 2 <rows)
}

# rows: of the table on stdin that has commands of ours, without those of other tables
rows()
{
	grep -E '^\| `.*\| `baleen '
}

try_peers()
{
	local name

	make_list bad.txt 1000 0 1
	make_list new.txt 500 0 2
	echo 198.51.100.0/24 >office.txt
	printf 'table netdev other {\n}\n' >rules.nft
	for name in ipset nftables xdp-filter; do
		check "$name: is told of" test -n "$(section "$name" | rows)"
		if section "$name" | grep -q '^    '; then
			both "$name, to be taken over" < <(section "$name" | rows | sed -n 1,2p)
			as_typed "$name: taken over" < <(section "$name" | sed -n 's/^    //p')
			both "$name, away" < <(section "$name" | rows | grep -E '`(ipset destroy|nft delete table)')
			# Its entries would be there again.
			in_ns "$B" "$BALEEN" detach --forget --entries eth0 >/dev/null 2>&1
		fi
		both "$name" < <(section "$name" | rows)
		in_ns "$B" "$BALEEN" detach --forget --entries eth0 >/dev/null 2>&1
	done
	for name in fail2ban CrowdSec; do
		as_typed "$name: a rule" <<<"baleen attach eth0 --drop bad.txt bans"
		as_typed "$name: what is here" < <(section "$name" | side 2)
		as_typed "$name: away" <<<"baleen detach eth0"
	done
}

cd "$TMP" && mkdir conf || exit 2
make_devices
try_readme
try_peers
