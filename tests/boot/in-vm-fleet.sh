# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Inside the machine of fleet.sh: the machine itself is host near, whose baleend systemd starts;
# host far, with the Redis, is the other end of lan0, and its baleend is started here.

# shellcheck source=tests/boot/guest.sh
source tests/boot/guest.sh

# far_baleen ARGUMENT...: the command on host far
far_baleen()
{
	BALEEN_RUN_DIR=/run/far BALEEN_STATE_DIR=/var/lib/far BALEEN_CONF_DIR=/etc/far \
		far "$BALEEN" "$@"
}

start_far()
{
	far redis-server --bind 10.66.0.1 --protected-mode no --save '' --dir /run >/run/redis.log 2>&1 &
	until_true far bash -c ': <>/dev/tcp/10.66.0.1/6379' || bail "no Redis: $(</run/redis.log)"
	BALEEN_RUN_DIR=/run/far BALEEN_STATE_DIR=/var/lib/far BALEEN_CONF_DIR=/etc/far \
		far /usr/sbin/baleend --listen off >/run/far.log 2>&1 &
}

# await NAME COMMAND...
await()
{
	until_true "${@:2}" && ok "$1" || not_ok "$1" "$(journalctl -q -u baleend | tail -n 5
		tail -n 5 /run/redis.log /run/far.log
		"$BALEEN" fleet status 2>&1
		far_baleen fleet status 2>&1
		"$BALEEN" fleet why 192.0.2.1 2>&1
		far_baleen fleet why 192.0.2.1 2>&1
		"$BALEEN" list lan0:bad 2>&1
		far_baleen list far0:bad 2>&1
		"$BALEEN" doctor 2>&1 | tail -n 30)"
}

near_knows() { "$BALEEN" fleet who "$1"; }
far_knows() { far_baleen fleet who "$1"; }
near_drops() { [ "$(build/tools/verdict lan0 "$1")" = D ]; }
near_passes() { [ "$(build/tools/verdict lan0 "$1")" = P ]; }
far_drops() { [ "$(far build/tools/verdict far0 "$1")" = D ]; }

# complaints: of the sandbox, or of anything else, in the journal
complaints()
{
	journalctl -q -u baleend -o cat | grep -iE 'fleetd.*(denied|not permitted|read-only|cannot)'
}

# rights: of each baleen-fleetd of the unit; that of host far has all
rights()
{
	local pid

	while read -r pid; do
		[ "$(cat "/proc/$pid/comm")" != baleen-fleetd ] || grep CapBnd "/proc/$pid/status"
	done </sys/fs/cgroup/system.slice/baleend.service/cgroup.procs | sort -u
}

first()
{
	local trust key

	check_status "apply" 3 "$BALEEN" apply lan0
	check_status "apply on the other host" 3 far_baleen apply far0
	trust=$("$BALEEN" fleet init vm --host near --publish fail2ban \
		--server 10.66.0.1:6379 -j | jq -r .trust)
	key=$(far_baleen fleet join vm --host far --publish fail2ban --trust "$trust" \
		--server 10.66.0.1:6379 -j | jq -r .key)
	check "the other host is admitted" "$BALEEN" fleet admit --operator far "$key"
	start_far
	check "a ban here" "$BALEEN" add lan0:bad 192.0.2.1 --origin fail2ban --ttl 1h
	await "comes to the other host" far_knows 192.0.2.1
	await "and holds there" far_drops 192.0.2.1
	check "a ban there" far_baleen fleet ban 192.0.2.2 --reason elsewhere
	await "comes here" near_knows 192.0.2.2
	await "and holds here" near_drops 192.0.2.2
	check "it is let go" far_baleen fleet pardon 192.0.2.2
	await "and passes here" near_passes 192.0.2.2
	check "a ban there again" far_baleen fleet ban 192.0.2.3
	await "holds here" near_drops 192.0.2.3
	is "the sandbox lets it do what it must" "$(complaints)" ""
	is "baleen-fleetd of the unit has no more rights than baleend" "$(rights)" \
		"$(grep -h CapBnd /proc/"$(systemctl show -P MainPID baleend)"/status)"
	sync
	cut_the_power
}

second()
{
	is "what came of the other host is in force, before it is there" \
		"$(build/tools/verdict lan0 192.0.2.1 192.0.2.3)" DD
	start_far
	check "a ban there" far_baleen fleet ban 192.0.2.4
	await "holds here" near_drops 192.0.2.4
	check "a ban here" "$BALEEN" add lan0:bad 192.0.2.5 --origin fail2ban --ttl 1h
	await "comes to the other host" far_knows 192.0.2.5
	is "the sandbox lets it do what it must" "$(complaints)" ""
	is "no unit failed" "$(failed_units)" ""
}

if [ "$VM_BOOT" = 1 ]; then first; else second; fi
