# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that talk over the network, for tests of what passes. Sourced after lib.sh, in
# the test's own directory.

BUSYBOX=$(command -v busybox)

# responder NAMESPACE PORT: says everything back
responder()
{
	cat >respond.py <<-END
	import socket
	s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
	s.bind(("::", $2))
	print("ready", flush=True)
	while True:
	    data, who = s.recvfrom(2000)
	    s.sendto(data, who)
	END
	coproc RESPONDER { exec nsenter --net="/run/netns/$1" -- python3 respond.py; }
	read -r -u "${RESPONDER[0]}" _ || bail "no responder"
}

# asks NAMESPACE ADDRESS PORT [connect]: one datagram, and the answer to it
asks()
{
	in_ns "$1" python3 - "${@:2}" <<-END
	import socket, sys
	where = socket.getaddrinfo(sys.argv[1], int(sys.argv[2]), type=socket.SOCK_DGRAM)[0]
	s = socket.socket(*where[:2])
	s.settimeout(5)
	if len(sys.argv) > 3:
	    s.connect(where[4])
	    s.send(b"hello")
	else:
	    s.sendto(b"hello", where[4])
	assert s.recv(100) == b"hello"
	END
}

# opens NAMESPACE ADDRESS PORT
opens()
{
	in_ns "$1" python3 -c "import socket; socket.create_connection(('$2', $3), 1)"
}

# in_ns in the background is a shell whose child outlives it: these are the programs.

# served NAMESPACE PORT: a web server of this directory, ready when it is asked
served()
{
	nsenter --net="/run/netns/$1" -- "$BUSYBOX" httpd -f -p "[::]:$2" -h . >/dev/null 2>&1 &
	until opens "$1" ::1 "$2" 2>/dev/null; do
		kill -0 $! || bail "no web server"
	done
}
