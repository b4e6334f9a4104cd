# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A lab of real Squids: an origin and any number of nodes on one switch. Sourced after
# tests/lib.sh and isolate.
#
#      $SW  br0 10.9.0.254, fd09::fe
#      +-----------------------------------------------------------+
#      |   port origin      port sibling     port asker   port ... |
#      +--------|----------------|---------------|------------|----+
#               | veth           |               |            |
#             eth0 .3          eth0 .1         eth0 .2      eth0 .N
#             nginx            Squid 3128,     Squid and    another
#             http://10.9.0.3  ICP on 3130     its client   node
#
# XDP on eth0 of sibling shields it; XDP on the port asker of the switch sees what
# the asker asks before it reaches anybody. Datagrams to 10.9.0.254 come in by the port of
# their sender, so a feed of sibling can be received on the port sibling of $SW.
#
#      lab_start                     the switch and the origin, without any Squid
#      lab_node NAME N               a node: namespace $(lab_ns NAME), eth0 10.9.0.N/24 and
#                                    fd09::N/64 (N below 100), port NAME of the switch
#      lab_ns NAME                   prints the namespace of a node
#      lab_in NAME COMMAND...        runs a command there
#      lab_native NAME               a program at the other end of its cable, so native XDP can transmit
#      squid_start NAME [LINE...]    a Squid on the node; lines are added to its configuration
#      squid_run NAME                the same again, with the same configuration and disk
#      squid_stop NAME [SIGNAL]      ends it (default TERM) and waits until it is gone
#      squid_mgr NAME PAGE           a page of its cache manager: info, counters, objects ...
#      squid_counter NAME COUNTER    a number of mgr:counters, such as icp.queries_recv
#      icp_counter NAME              ICP queries that it received: the one that must not move
#      squid_on_disk NAME            "on-disk objects" of mgr:info
#      squid_store_keys NAME         what its store.log (lines `cache_store_log stdio:...`, see
#                                    squid_store_log) leaves: live keys, HEX, sorted
#      squid_keys                    the keys of the URLs of the input, by nothing of Baleen
#      squid_sibling NAME N...       the lines of an asker: cache_peer, N of 10.9.0.N, no trap
#      lab_get NAME URL...           fetches through the Squid of a node, as its client: prints
#                                    a status per URL, in order; `lab_get NAME -` reads URLs;
#                                    $TMP/NAME/bodies has what came
#      lab_reload NAME URL...        the same, as by the reload of a browser
#      lab_purge NAME URL...         the same with PURGE
#      are NAME FILE < <(COMMAND)    a test: what the command prints is what the file has
#      counted                       equal lines of the input, as "N LINE,N LINE"
#      squid_routes NAME             of its access.log: how often each result and route, as
#                                    "N TCP_MISS/200 SIBLING_HIT,N ..."
#      squid_forget NAME             empties its access.log
#      squid_seed NAME IMAGE OPTION...  an image of the objects of a Squid, by its swap.state
#      icp_status NODE DEV WHO NAME  a counter of the instance on DEV of a node (the switch is
#                                    the node sw), of the sibling or feeder WHO; "" for neither
#      icp_delta NAME COMMAND...     runs it, prints by how much icp.pkts_recv of NAME moved
#      obj FIRST LAST                URLs http://10.9.0.3/obj/N
#      wait_for WHAT COMMAND...      until the command succeeds, 20 seconds at most, or bails
#
# The origin answers /obj/ANYTHING with a short body that may be cached for a day, and
# /big/ANYTHING with 16 KiB, /short/ANYTHING with one for 20 seconds. Files of NAME are in $TMP/NAME: squid.conf, cache.log,
# access.log, store.log, cache/.
#
# Four ways in which such a lab works without testing anything are kept out here: after one
# connection Debian's Squid goes direct to what is near (minimum_direct_rtt 0,
# minimum_direct_hops 0); a peer that was silent for dead_peer_timeout is asked, but not waited
# for (10 minutes in squid_sibling); `cache deny all` at the asker turns ICP off (proxy-only
# instead); a slow origin. The fifth is native XDP on veth: see lab_native. And mgr:objects,
# by which tests see what is on disk, stops in the middle for ever when it is longer than
# read_ahead_gap; nobody else needs that.

# shellcheck disable=SC2034 # for the tests
LAB=bln$$
SW=$LAB-sw
ORIGIN=10.9.0.3
declare -A squid_pid lab_host

# lab_missing: what the lab needs and is not there, one line
lab_missing()
{
	local command

	for command in squid nginx curl ip nsenter; do
		command -v "$command" >/dev/null || echo "$command"
	done | paste -sd ' '
}

# lab_start: see the top; a test without Squid is skipped
lab_start()
{
	local missing

	missing=$(lab_missing)
	if [ -n "$missing" ]; then
		skip "${SELF##*/}" "needs $missing"
		exit 0
	fi
	# Squid and nginx give up root for the user proxy.
	chmod 711 "$TMP"
	make_netns "$SW"
	if ! ip -n "$SW" link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0 ||
		! ip -n "$SW" address add 10.9.0.254/24 dev br0 ||
		! ip -n "$SW" address add fd09::fe/64 dev br0 nodad ||
		! ip -n "$SW" link set br0 up; then
		bail "cannot make the switch"
	fi
	lab_node origin 3
	origin_start
}

# lab_ns NAME
lab_ns()
{
	echo "$LAB-$1"
}

# lab_in NAME COMMAND...
lab_in()
{
	in_ns "$LAB-$1" "${@:2}"
}

# lab_node NAME N
lab_node()
{
	local ns=$LAB-$1

	lab_host[$1]=$2
	make_netns "$ns"
	mkdir -p "$TMP/$1"
	if ! ip -n "$SW" link add name "$1" type veth peer name eth0 netns "$ns" ||
		! ip -n "$ns" address add "10.9.0.$2/24" dev eth0 ||
		! ip -n "$ns" address add "fd09::$2/64" dev eth0 nodad ||
		! ip -n "$ns" link set eth0 up ||
		! ip -n "$SW" link set "$1" master br0 up; then
		bail "cannot make node $1"
	fi
}

# lab_native NAME: what native XDP sends back by a veth lies in the ring of the other end
# until that is polled for another reason, unless it has an XDP program; GRO is not enough
# (tried on 6.18: 80 sent back, none seen)
lab_native()
{
	in_ns "$SW" ip link set dev "$1" xdp obj "$ROOT/build/slot.bpf.o" sec xdp ||
		bail "no program at the other end of the cable of $1"
}

# wait_for WHAT COMMAND...
wait_for()
{
	local i

	for ((i = 0; i < 400; i++)); do
		"${@:2}" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	bail "no $1 within 20 seconds"
}

# --- the origin -----------------------------------------------------------

origin_start()
{
	local dir=$TMP/origin

	mkdir -p "$dir/big"
	head -c 16384 /dev/zero | tr '\0' B >"$dir/big/body"
	cat >"$dir/nginx.conf" <<-END
		user proxy proxy;
		worker_processes 1;
		daemon off;
		pid $dir/pid;
		error_log $dir/error.log;
		events { worker_connections 1024; }
		http {
			access_log off;
			keepalive_requests 100000;
			large_client_header_buffers 8 64k;
			client_body_temp_path $dir/body;
			proxy_temp_path $dir/proxy;
			fastcgi_temp_path $dir/fastcgi;
			uwsgi_temp_path $dir/uwsgi;
			scgi_temp_path $dir/scgi;
			add_header Cache-Control "public, max-age=86400";
			add_header Last-Modified "Thu, 01 Jan 2026 00:00:00 GMT";
			server {
				listen 80;
				listen [::]:80;
				location /big/ {
					root $dir;
					try_files /big/body =404;
				}
				location /short/ {
					add_header Cache-Control "public, max-age=20";
					return 200 "\$request_uri\n";
				}
				location / { return 200 "\$request_uri\n"; }
			}
		}
	END
	# No function here, nor below: it would be a shell that ends without its command.
	nsenter --net="/run/netns/$LAB-origin" -- nginx -e "$dir/error.log" \
		-c "$dir/nginx.conf" >"$dir/out" 2>&1 &
	wait_for "origin" lab_in origin curl -sf -o "$dir/first" "http://$ORIGIN/obj/0"
}

# obj FIRST LAST
obj()
{
	seq -f "http://$ORIGIN/obj/%.0f" "$1" "$2"
}

# --- Squids ---------------------------------------------------------------

# squid_site NAME: what every site has of its own: its places, and nobody asked outside
squid_site()
{
	local dir=$TMP/$1

	cat <<-END
		visible_hostname $1
		http_access allow all
		cache_effective_user proxy
		pid_filename $dir/pid
		cache_log $dir/cache.log
		access_log stdio:$dir/access.log
		coredump_dir $dir
		pinger_enable off
		netdb_filename none
		dns_nameservers 127.0.0.1
		hosts_file none
		shutdown_lifetime 0 seconds
		max_filedescriptors 1024
	END
}

# squid_config NAME [LINE...]
squid_config()
{
	squid_site "$1"
	cat <<-END
		http_port 3128
		icp_port 3130
		acl purge method PURGE
		icp_access allow all
		minimum_direct_rtt 0
		minimum_direct_hops 0
		cache_mem 8 MB
		read_ahead_gap 512 MB
	END
	grep -q '^cache_dir ' <<<"$(printf '%s\n' "${@:2}")" ||
		echo "cache_dir ufs $TMP/$1/cache 64 4 16"
	printf '%s\n' "${@:2}"
}

# squid_start NAME [LINE...]
squid_start()
{
	local dir=$TMP/$1

	mkdir -p "$dir"
	chown proxy:proxy "$dir"
	squid_config "$@" >"$dir/squid.conf"
	lab_in "$1" squid -N -n "$LAB$1" -z -f "$dir/squid.conf" >"$dir/out" 2>&1 ||
		bail "squid -z: $(tail -n 5 "$dir/out" "$dir/cache.log" 2>&1)"
	squid_run "$1"
}

# squid_run NAME
squid_run()
{
	local dir=$TMP/$1

	nsenter --net="/run/netns/$LAB-$1" -- squid -N -n "$LAB$1" -f "$dir/squid.conf" \
		>>"$dir/out" 2>&1 &
	squid_pid[$1]=$!
	wait_for "Squid of $1" squid_mgr "$1" info
}

# squid_stop NAME [SIGNAL]
squid_stop()
{
	kill "-${2:-TERM}" "${squid_pid[$1]}"
	wait "${squid_pid[$1]}" 2>/dev/null
	unset "squid_pid[$1]"
	rm -f "$TMP/$1/pid"
}

# squid_store_log NAME: the line that makes it write store.log
squid_store_log()
{
	echo "cache_store_log stdio:$TMP/$1/store.log"
}

# squid_keys
squid_keys()
{
	python3 -c 'import hashlib, sys
for line in sys.stdin.buffer:
    print(hashlib.md5(b"\1" + line.rstrip(b"\n")).hexdigest().upper())'
}

# squid_sibling NAME N...: NAME is for the reader
squid_sibling()
{
	local n

	for n in "${@:2}"; do
		echo "cache_peer 10.9.0.$n sibling 3128 3130 no-digest proxy-only name=peer$n"
	done
	echo "dead_peer_timeout 10 minutes"
	# How long a Squid waits for answers while the machine has other things to do.
	echo "icp_query_timeout 5000"
}

# squid_mgr NAME PAGE
squid_mgr()
{
	lab_in "$1" curl -sf --max-time 20 -H "Host: $1:3128" \
		"http://10.9.0.${lab_host[$1]}:3128/squid-internal-mgr/$2"
}

# squid_counter NAME COUNTER
squid_counter()
{
	squid_mgr "$1" counters | awk -v name="$2" '$1 == name { print $3 }'
}

# icp_counter NAME
icp_counter()
{
	squid_counter "$1" icp.queries_recv
}

# icp_delta NAME COMMAND...: messages of ICP, whatever they are
icp_delta()
{
	local before

	before=$(squid_counter "$1" icp.pkts_recv)
	"${@:2}" >/dev/null || return
	echo $(($(squid_counter "$1" icp.pkts_recv) - before))
}

# squid_seed NAME IMAGE OPTION...
squid_seed()
{
	"$BALEEN" icp seed -o "$2" "$TMP/$1/cache/swap.state" "${@:3}"
}

# icp_status NODE DEV WHO NAME
icp_status()
{
	lab_in "$1" "$BALEEN" icp status -j "$2" | jq -r --arg who "$3" --arg name "$4" '.[0] |
		if $who == "" then .
		else (.siblings[] | select(.name == $who)), (.feeders[] | select(.address == $who))
		end | [.. | objects | .[$name]? | values][0]'
}

# squid_on_disk NAME
squid_on_disk()
{
	squid_mgr "$1" info | awk '/on-disk objects/ { print $1 }'
}

# squid_store_keys NAME
squid_store_keys()
{
	awk '$2 == "SWAPOUT" { live[$5] = 1 }
		$2 == "RELEASE" && $3 != "-1" { delete live[$5] }
		END { for (key in live) print key }' "$TMP/$1/store.log" | sort
}

# squid_routes NAME
squid_routes()
{
	awk '{ split($9, route, "/"); print $4, route[1] }' "$TMP/$1/access.log" | counted
}

# squid_forget NAME: Squid appends, so it goes on at the beginning
squid_forget()
{
	: >"$TMP/$1/access.log"
}

# --- clients --------------------------------------------------------------

# lab_fetch NAME OPTION... -- URL...: OPTION of curl; - reads them
lab_fetch()
{
	local name=$1 options=() dir=$TMP/$1
	shift

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	if [ "$1" = - ]; then
		cat
	else
		printf '%s\n' "$@"
	fi | sed 's/.*/url = "&"/' >"$dir/urls"
	lab_in "$name" curl -s -g --max-time 60 -x "http://10.9.0.${lab_host[$name]}:3128" \
		"${options[@]}" -w '%{stderr}%{http_code}\n' -K "$dir/urls" \
		>"$dir/bodies" 2>"$dir/statuses"
	cat "$dir/statuses"
}

# lab_get NAME URL...
lab_get()
{
	lab_fetch "$1" -- "${@:2}"
}

# lab_reload NAME URL...
lab_reload()
{
	lab_fetch "$1" -H "Cache-Control: no-cache" -- "${@:2}"
}

# lab_purge NAME URL...
lab_purge()
{
	lab_fetch "$1" -X PURGE -- "${@:2}"
}

# counted: equal lines of the input, as "N LINE,N LINE"
counted()
{
	sort | uniq -c | sed 's/^ *//' | paste -sd ,
}

# are NAME FILE: no pipe ends here, since its last part is a shell that forgets its results
are()
{
	if cmp -s - "$2" < <(tee "$TMP/are"); then
		ok "$1"
	else
		not_ok "$1" "$(diff "$TMP/are" "$2" | head -n 10 | cut -c 1-300)"
	fi
}
