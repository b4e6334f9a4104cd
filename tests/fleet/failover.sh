#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The replica is cut off, bans are acknowledged, the master dies, the replica is promoted by
# Sentinel: all bans come to all hosts. With TLS, users and replicas to read from.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

make_hub
for n in 1 2 3; do
	make_redis "$n"
done

# --- certificates -----------------------------------------------------------------

mkdir "$TMP/tls"
ssl() { openssl "$@" 2>>"$TMP/tls/log" || bail "openssl $1: $(tail -n 3 "$TMP/tls/log")"; }
ssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=lab \
	-keyout "$TMP/tls/ca.key" -out "$TMP/tls/ca.pem"
# certify NAME ADDRESS
certify()
{
	ssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
		-keyout "$TMP/tls/$1.key" -out "$TMP/tls/$1.csr"
	ssl x509 -req -in "$TMP/tls/$1.csr" -CA "$TMP/tls/ca.pem" -CAkey "$TMP/tls/ca.key" \
		-CAcreateserial -days 2 -out "$TMP/tls/$1.pem" \
		-extfile <(echo "subjectAltName=IP:$2,IP:127.0.0.1")
}
for n in 1 2 3; do
	certify "r$n" "10.77.0.10$n"
done
certify host 127.0.0.1

# --- Redis ----------------------------------------------------------------------------

sed "s/FLEET/lab/; s/web3/hosts/; s/PASSWORD/secret/" user/redis/users.acl >"$TMP/users.acl"
# For the test itself.
sed -i 's/^user default off/user default on nopass ~* +@all/' "$TMP/users.acl"

# tls_options N
tls_options()
{
	echo --port 0 --tls-port 6379 --tls-cert-file "$TMP/tls/r$1.pem" \
		--tls-key-file "$TMP/tls/r$1.key" --tls-ca-cert-file "$TMP/tls/ca.pem" \
		--tls-replication yes --tls-auth-clients yes
}

# redis N ARGUMENT...: with TLS
redis()
{
	in_ns "$(redis_ns "$1")" redis-cli --tls --cacert "$TMP/tls/ca.pem" \
		--cert "$TMP/tls/r$1.pem" --key "$TMP/tls/r$1.key" "${@:2}"
}

# start_tls N [OPTION...]
start_tls()
{
	# shellcheck disable=SC2046 # words
	start_redis "$1" $(tls_options "$1") --aclfile "$TMP/users.acl" --masteruser replica \
		--masterauth secret "${@:2}"
}

start_tls 1
start_tls 2 --replicaof 10.77.0.101 6379

start_sentinel()
{
	cat >"$TMP/r3/sentinel.conf" <<-END
		port 0
		tls-port 26379
		tls-cert-file $TMP/tls/r3.pem
		tls-key-file $TMP/tls/r3.key
		tls-ca-cert-file $TMP/tls/ca.pem
		tls-replication yes
		dir $TMP/r3
		sentinel monitor lab 10.77.0.101 6379 1
		sentinel auth-user lab sentinel
		sentinel auth-pass lab secret
		sentinel down-after-milliseconds lab 1000
		sentinel failover-timeout lab 5000
	END
	nsenter --net="/run/netns/$(redis_ns 3)" -- redis-sentinel "$TMP/r3/sentinel.conf" \
		>"$TMP/r3/log" 2>&1 &
	redis_pid[3]=$!
}

start_sentinel
await "Sentinel knows the master" eval 'in_ns "$(redis_ns 3)" redis-cli -p 26379 --tls \
	--cacert "$TMP/tls/ca.pem" --cert "$TMP/tls/r3.pem" --key "$TMP/tls/r3.key" \
	sentinel replicas lab | grep -q 10.77.0.102'

# --- the fleet ----------------------------------------------------------------------------

for n in 1 2 3; do
	make_host "$n"
	(umask 077 && echo secret >"$TMP/h$n/password")
done
FLEET_OPTIONS="--sentinel 10.77.0.103:26379 --master lab --replica 10.77.0.101:6379,10.77.0.102:6379"
FLEET_OPTIONS+=" --tls-ca $TMP/tls/ca.pem --tls-cert $TMP/tls/host.pem --tls-key $TMP/tls/host.key"
FLEET_OPTIONS+=" --user hosts:$TMP/h1/password"
begin_fleet 1 2 3
check "the connection is by TLS" b 1 fleet status --check
is "to the master" "$(head -n 1 "$TMP/out")" "10.77.0.101:6379 is the master, by TLS"

check "a ban" ban 1 192.0.2.1
for n in 2 3; do
	await "holds on host $n" drops "$n" 192.0.2.1
done

check "the replica is cut off from its master" ip -n "$(redis_ns 1)" route add blackhole 10.77.0.102
for ((n = 1; n <= 200; n++)); do
	echo "add 203.0.113.$n ttl=1h origin=fail2ban"
done >"$TMP/bans"
is "200 bans are acknowledged here" \
	"$(b 1 feed eth0:bad - <"$TMP/bans" | grep -c '^ok')" 200
await "and the master has them" eval '[ "$(b 1 fleet status -j | jq ".publishers[] |
	select(.name == \"h1/fail2ban\") | .sequence == .acknowledged and .sequence > 200")" = true ]'
stop_redis 1 KILL
begun=$SECONDS
AWAIT_SECONDS=180 await "it is promoted" eval 'redis 2 role | grep -qx master'
echo "# after $((SECONDS - begun)) s"
mapfile -t all < <(printf '203.0.113.%s\n' {1..200})
within 15 "all 200 hold on hosts 2 and 3" eval 'drops 2 "${all[@]}" && drops 3 "${all[@]}"'
await "digests agree" agree 1 2 3
check "a ban after it" ban 2 192.0.2.2
await "holds on the first" drops 1 192.0.2.2
