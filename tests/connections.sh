# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Connections with servers of $B whose numbers are known, and segments that go on with them.
# Sourced after lib.sh and frames.sh, in the test's own directory.

# shellcheck disable=SC2034 # for the tests
PORT=8080
declare -A SPORT RCV WINDOW SND MAX

# open_connections: of clients of $A with servers of $B, which stay open until their input ends.
# They print what the server expects of each: the client's port, rcv_nxt, the receive window behind
# it, snd_nxt (nothing is on its way), and the largest window of the client.
open_connections()
{
	local name sport rcv window snd max i

	ip -n "$B" address add 198.51.100.1/32 dev lo
	ip -n "$B" address add 2001:db8::1/128 dev lo nodad
	for i in {1..9}; do
		ip -n "$A" address add "10.66.1.$i/32" dev lo
	done
	ip -n "$B" route add 10.66.1.0/24 via 10.66.0.1
	ip -n "$A" route add 198.51.100.1 via 10.66.0.2
	ip -n "$A" route add 2001:db8::1 via fd66::2
	cat >connections.py <<-'END'
	import ctypes, os, socket as s, struct, sys
	A, B, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
	REPAIR, QUEUE, QUEUE_SEQ, WINDOW = 19, 20, 21, 29    # linux/tcp.h
	RECEIVED, SENT, OFF = 1, 2, -1
	FIN_WAIT2, CLOSE_WAIT = 5, 8                         # enum tcp_state of TCP_INFO
	libc = ctypes.CDLL(None, use_errno=True)
	kept = []

	def enter(name):
	    fd = os.open("/run/netns/" + name, os.O_RDONLY)
	    assert libc.setns(fd, 0) == 0
	    os.close(fd)

	def number(sock, queue):
	    sock.setsockopt(s.IPPROTO_TCP, QUEUE, queue)
	    return struct.unpack("I", sock.getsockopt(s.IPPROTO_TCP, QUEUE_SEQ, 4))[0]

	def show(name, client, server, fins=0):
	    server.setsockopt(s.IPPROTO_TCP, REPAIR, 1)
	    rcv, snd = number(server, RECEIVED), number(server, SENT)
	    window = struct.unpack("5I", server.getsockopt(s.IPPROTO_TCP, WINDOW, 20))
	    server.setsockopt(s.IPPROTO_TCP, REPAIR, OFF)
	    print(name, client.getsockname()[1], rcv + fins, (window[3] + window[4] - rcv) % 2**32,
	          snd + fins, window[2])

	def wait_for(server, state):
	    while server.getsockopt(s.IPPROTO_TCP, s.TCP_INFO, 1)[0] != state:
	        pass

	def connect(listener, source, destination):
	    client = s.socket(listener.family if ":" in destination else s.AF_INET, s.SOCK_STREAM)
	    client.bind((source, 0))
	    client.connect((destination, listener.getsockname()[1]))
	    server, _ = listener.accept()
	    client.sendall(b"hello")
	    server.recv(5, s.MSG_WAITALL)
	    server.sendall(b"hello")
	    client.recv(5, s.MSG_WAITALL)
	    kept.extend((client, server))
	    return client, server

	enter(B)
	four, six = s.socket(s.AF_INET, s.SOCK_STREAM), s.socket(s.AF_INET6, s.SOCK_STREAM)
	four.bind(("198.51.100.1", PORT))
	six.bind(("::", PORT + 1))
	four.listen()
	six.listen()
	udp = s.socket(s.AF_INET, s.SOCK_DGRAM)
	udp.bind(("198.51.100.1", 4001))
	udp.connect(("10.66.1.1", 9))
	enter(A)
	for n in range(1, 6):
	    show("open%d" % n, *connect(four, "10.66.1.%d" % n, "198.51.100.1"))
	show("mapped", *connect(six, "10.66.1.6", "198.51.100.1"))
	show("six", *connect(six, "fd66::1", "2001:db8::1"))
	client, server = connect(four, "10.66.1.7", "198.51.100.1")
	client.shutdown(s.SHUT_WR)
	wait_for(server, CLOSE_WAIT)
	show("close-wait", client, server)
	client, server = connect(four, "10.66.1.8", "198.51.100.1")
	server.shutdown(s.SHUT_WR)
	wait_for(server, FIN_WAIT2)
	show("fin-wait-2", client, server)
	client, server = connect(four, "10.66.1.9", "198.51.100.1")
	server.shutdown(s.SHUT_WR)
	wait_for(server, FIN_WAIT2)
	show("time-wait", client, server, 1)
	client.close()
	while server.recv(1):
	    pass
	server.close()
	print("end", 0, 0, 0, 0, 0, flush=True)
	sys.stdin.read()
	END
	coproc CONNECTIONS { exec python3 connections.py "$A" "$B" "$PORT"; }
	while read -r -u "${CONNECTIONS[0]}" name sport rcv window snd max; do
		[ "$name" != end ] || return 0
		SPORT[$name]=$sport RCV[$name]=$rcv WINDOW[$name]=$window SND[$name]=$snd MAX[$name]=$max
	done
	bail "no connections"
}

# segment CONNECTION SEQ ACK [FLAGS [DATA [PORT]]]: SEQ is added to what the server expects
# next, ACK to what it sends next; the checksum is wrong, so no socket takes it
segment()
{
	printf '%04x%04x%08x%08x50%02x%s%s' "${SPORT[$1]}" "${6-$PORT}" $(((RCV[$1] + $2) & 0xffffffff)) \
		$(((SND[$1] + $3) & 0xffffffff)) "${4-$ACK}" 0400abcd0000 "${5-}"
}
