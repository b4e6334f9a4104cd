#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What is mistyped on the way into a fleet is told before anything is written, or asked of others.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

export BALEEN_CONF_DIR=$PWD/etc BALEEN_STATE_DIR=$PWD/state BALEEN_RUN_DIR=$PWD/run

# misuse NAME MESSAGE VERB ARGUMENT...
misuse()
{
	expect "$1" 2 "" "baleen: fleet $3: $2 (see 'baleen help fleet $3')" baleen fleet "${@:3}"
}

misuse "no server" "server or sentinel is missing" init prod
misuse "no port" "server 'redis': not HOST:PORT" init prod --server redis
misuse "no name of a fleet" "fleet 'Prod': not 1 to 31 of a to z, digits, '.', '_' and '-'" \
	init Prod --server redis:6379
misuse "both ways to the master" "server and sentinel exclude each other" \
	init prod --server redis:6379 --sentinel redis:26379
misuse "no key to trust" "--trust is missing: whose policy?" join prod --server redis:6379
misuse "no key of minisign" "--trust 'KEY': no public key of minisign" \
	join prod --server redis:6379 --trust KEY
misuse "no key of a host" "'KEY': no public key of a host" admit web2 KEY
misuse "no address to let go" "'192.0.2': no address or prefix" pardon 192.0.2
misuse "no address to ask for" "'192.0.2': no address or prefix" who 192.0.2
misuse "no publisher" "'web1': not HOST/ORIGIN, nor HOST/*" suspend web1
is "nothing was written" "$(ls)" ""
for command in "status" "who 192.0.2.1" "pardon 192.0.2.1" "suspend web1/fail2ban"; do
	# shellcheck disable=SC2086 # words
	expect "$command of a host in no fleet" 1 "" \
		"baleen: this host is in no fleet: see 'baleen help fleet'" baleen fleet $command
done
expect "the demo is for root" 1 "" \
	"baleen: fleet demo: it makes network namespaces: run this as root" baleen fleet demo
check "a fleet" baleen fleet init prod --server redis.example.org:6379 --host web1
misuse "no address, before baleend has run" "'192.0.2': no address or prefix" pardon 192.0.2
sed -i 's/^server/sever/' etc/fleet.conf
expect "a misprint in fleet.conf" 1 "" \
	"baleen: $BALEEN_CONF_DIR/fleet.conf:3: 'sever': no statement begins so (did you mean 'server'?)" baleen fleet status
expect "a second fleet" 1 "" \
	"baleen: $BALEEN_CONF_DIR/fleet.conf: is there: this host is in a fleet already" \
	baleen fleet init other --server redis.example.org:6379

# --- a broker that lies ---

# Any answer is of so many elements; hiredis allocates for them before the first one comes.
exec {broker}< <(exec python3 -c 'import socket
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
while True:
    client = listening.accept()[0]
    client.recv(65536)
    client.sendall(b"*500000000\r\n")
    client.recv(65536)
    client.close()')
broker_pid=$!
read -r -t 30 -u "$broker" port || bail "the broker does not start"
printf 'fleet prod\nhost web1\nserver 127.0.0.1:%s\nkey %s\npolicy %s %s\n' "$port" "$PWD/key" \
	"$PWD/policy" "$PWD/policy.pub" >etc/fleet.conf
expect "more elements than fit in its memory" 1 "" "127.0.0.1:$port: Out of memory" \
	"$ROOT/build/libexec/baleen/baleen-fleetd" --check
kill "$broker_pid"
