#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Documents from a web server on loopback: what is new, what has not changed,
# and every way in which a body can come short. No root.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

FETCH=$ROOT/build/tools/fetch
unset http_proxy https_proxy all_proxy no_proxy ALL_PROXY HTTPS_PROXY NO_PROXY
cd "$TMP" || exit 2

# serve [CERTIFICATE KEY]: a server of files/, its requests on descriptor $REQUESTS
serve()
{
	coproc SERVER { exec "$ROOT/build/tools/feed_server" files "$@"; }
	REQUESTS=${SERVER[0]}
	read -r -t 30 -u "$REQUESTS" port || bail "the server does not start"
}

# What libcurl says in words of its own, which it has changed since 7.88. @ is a number, or a protocol.
case $(pkg-config --modversion libcurl) in
7.*)
	SHORT="transfer closed with @ bytes remaining to read"
	NO_PROTOCOL="Protocol \"@\" not supported or disabled in libcurl"
	NO_HOST="URL using bad/illegal format or missing URL"
	NOT_SIGNED="server certificate verification failed."
	;;
*)
	SHORT="end of response with @ bytes missing"
	NO_PROTOCOL="Protocol \"@\" disabled"
	NO_HOST="URL rejected: No host part in the URL"
	NOT_SIGNED="server verification failed: certificate signer not trusted."
	;;
esac

# requests N: the last of N requests, of which there are to be no more
requests()
{
	local i line=
	for ((i = 0; i < $1; i++)); do
		read -r -t 30 -u "$REQUESTS" line || line="only $i requests"
	done
	if read -r -t 0 -u "$REQUESTS"; then
		read -r -u "$REQUESTS" line
		line="one more: $line"
	fi
	echo "$line"
}

# fetches NAME OUTPUT PATH [NAME=VALUE...]
fetches()
{
	prints "$1" "$2" "$FETCH" "$URL$3" body "${@:4}"
}

# fails NAME MESSAGE N PATH [NAME=VALUE...]: after N requests; @ is the document
fails()
{
	expect "$1" 1 "" "${2//@/$URL${4%%\?*}}" "$FETCH" "$URL$4" body "${@:5}"
	[ "$3" -eq 0 ] || is "$1: after $3" "$(requests "$3")" "$4 - - $AGENT"
}

# fails_after NAME MESSAGE URL [NAME=VALUE...]: the message goes on with a time
fails_after()
{
	check_status "$1" 1 "$FETCH" "$3" body "${@:4}"
	local error
	error=$(<"$TMP/err")
	is "$1: is said" "${error%% after *}" "$2"
}

mkdir files
for ((i = 0; i < 2000; i++)); do
	echo "198.51.$((i / 200)).$((i % 200))"
done >files/list
: >files/empty
printf '<html>\n' >files/page.html
gzip -k files/list
serve
URL=http://127.0.0.1:$port
AGENT=baleen/$("$BALEEN" --version | cut -d ' ' -f 2)
size=$(stat -c %s files/list)

# --- new, and unchanged ---

check "a document" "$FETCH" "$URL/list" body
etag=$(sed 's/.*etag \(.*\), modified .*/\1/' "$TMP/out")
is "is new" "$(<"$TMP/out")" "new $size bytes, 1 attempt, etag $etag, modified "
check "arrives as it is" cmp body files/list
is "is asked for by our name" "$(requests 1)" "/list - - $AGENT"
fetches "with its ETag" "unchanged, 1 attempt, etag $etag, modified " /list "etag=$etag"
is "is asked for so" "$(requests 1)" "/list $etag - $AGENT"
fetches "with another" "new $size bytes, 1 attempt, etag $etag, modified " /list 'etag="old"'
requests 1 >/dev/null
date="Thu, 01 Jan 2026 00:00:00 GMT"
fetches "a document with a date" "new $size bytes, 1 attempt, etag , modified $date" /date/list
requests 1 >/dev/null
fetches "of that date" "unchanged, 1 attempt, etag , modified $date" /date/list "modified=$date"
is "is asked for so" "$(requests 1)" "/date/list - $date $AGENT"
fetches "compressed on the way" "new $size bytes, 1 attempt, etag , modified " /gzip/list
check "arrives unpacked" cmp body files/list
check "compressed by itself" "$FETCH" "$URL/list.gz" body
check "stays so" cmp body files/list.gz
requests 2 >/dev/null
check "nothing" "$FETCH" "$URL/empty" body
check "arrives as nothing" cmp body files/empty
check "a page" "$FETCH" "$URL/page.html" body
check "is judged by who reads it" cmp body files/page.html
fetches "a redirection" "new $size bytes, 1 attempt, etag $etag, modified " "/to/$URL/list"
check "leads to the document" cmp body files/list
requests 4 >/dev/null
expect "an ETag that would be a header of its own is not sent" 0 \
	"new $size bytes, 1 attempt, etag $etag, modified " "" \
	"$FETCH" "$URL/list" body $'etag="x"\r\nCookie: y'
is "at all" "$(requests 1)" "/list - - $AGENT"

# --- what may pass ---

fetches "500, then the document" "new $size bytes, 2 attempts, etag $etag, modified " \
	/first/1/500/list
check "arrives" cmp body files/list
requests 2 >/dev/null
fetches "503 three times" "new $size bytes, 4 attempts, etag $etag, modified " /first/3/503/list
requests 4 >/dev/null
fails "503 four times" "@: HTTP status 503" 4 /first/4/503/list
fails "and no retry" "@: HTTP status 502" 1 /status/502 retries=0
fetches "429" "new $size bytes, 2 attempts, etag $etag, modified " /later/1/list
requests 2 >/dev/null
fails "429 for an hour" "@: HTTP status 429: asks to come back in 3600 s" 1 /later/3600/list
fails "a connection that ends" "@: Empty reply from server" 4 /reset
fails "half of a body" "@: ${SHORT/@/$size}" 4 /short/list
fails "no last chunk" "@: transfer closed with outstanding read data remaining" 4 /cut-chunks/list
fails "half of a gzip stream" "@: gzip cut short" 4 /cut-gzip/list
fails "nothing more for a second" "@: Operation too slow. Less than 10 bytes/sec transferred the \
last 1 seconds" 1 /stall stall=1 retries=0
fails_after "a server that is not there" "http://127.0.0.1:1/list: Failed to connect to 127.0.0.1 \
port 1" http://127.0.0.1:1/list
fails_after "too long in all" "$URL/stall: Operation timed out" "$URL/stall" timeout=300 retries=9
requests 1 >/dev/null

# --- what came before a cut ---

# resumes NAME ATTEMPTS PATH ETAG LAST: in so many attempts, of which the last asks for LAST
resumes()
{
	fetches "$1" "new $size bytes, $2 attempts, etag $4, modified " "$3"
	check "$1: arrives whole" cmp body files/list
	is "$1: is asked for so" "$(requests "$2")" "$3 - - $AGENT$5"
}

resumes "half, then the rest" 2 /half/list "$etag" " bytes=$((size / 2))- $etag"
resumes "half of a document that changes" 2 /half-new/list '"new"' " bytes=$((size / 2))- $etag"
resumes "half, then another part" 3 /half-other/list "$etag" ""
resumes "half, then no part" 3 /half-416/list "$etag" ""
resumes "half by a weak ETag" 2 /half-weak/list "W/$etag" ""
expect "half behind a redirection" 1 "" \
	"$URL/to/$URL/half/list: ${SHORT/@/$((size - size / 2))}" \
	"$FETCH" "$URL/to/$URL/half/list" body retries=1
is "is asked for anew" "$(requests 4)" "/half/list - - $AGENT"

# --- what does not pass ---

fails "404" "@: HTTP status 404" 1 /none
fails "a status that is no document" "@: HTTP status 203" 1 /status/203
fails "304 unasked" "@: HTTP status 304" 1 /status/304
fails "another encoding" "@: comes in an encoding that was not asked for" 1 /br/list
fails "a redirection to a file" "@: ${NO_PROTOCOL/@/file}" \
	1 "/to/file:///etc/passwd"
fails "to another protocol" "@: ${NO_PROTOCOL/@/ftp}" \
	1 "/to/ftp://127.0.0.1:$port/list"
expect "round and round" 1 "" "$URL/status/302: Maximum (5) redirects followed" \
	"$FETCH" "$URL/status/302" body
is "five times" "$(requests 6)" "/status/302 - - $AGENT"
fails "more than the limit, as it says" "@: is larger than the limit of 268435456 bytes" 1 /huge
fails "more than the limit, in fact" "@: is larger than the limit of 1000000 bytes" 1 \
	/endless max=1000000
fails "more than the limit when unpacked" "@: is larger than the limit of 1000000 bytes" 1 \
	/bomb max=1000000
fetches "as much as the limit" "new $size bytes, 1 attempt, etag $etag, modified " /list max="$size"
requests 1 >/dev/null
# Of a file system or a limit on files.
expect "no room" 1 "" "$URL/list: cannot be stored: File too large" \
	bash -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' - "$FETCH" "$URL/list" body
requests 1 >/dev/null
fails "a signal that is pending" "@: interrupted" 0 /none interrupt=start
is "ends it before it is asked for" "$(requests 0)" ""
fails "a signal as the data comes" "@: interrupted" 1 /endless interrupt=progress
fails "a signal while it waits" "@: interrupted" 1 /status/500 interrupt=pause pause=600000 \
	timeout=3000000
expect "neither http nor https" 1 "" "'ftp://127.0.0.1/': neither http:// nor https://" \
	"$FETCH" ftp://127.0.0.1/ body
expect "no URL" 1 "" "malformed URL: $NO_HOST" \
	"$FETCH" 'http://user:secret@/list' body
expect "secrets stay out of messages" 1 "" "$URL/none: HTTP status 404" \
	"$FETCH" "http://user:secret@${URL#http://}/none?key=secret#secret" body
requests 1 >/dev/null

# Two answers by hand, the second of which goes on with a header that the first one had. What is made
# of that is libcurl's.
exec {folds}< <(exec python3 -c 'import socket
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
for answer in (b"503 Later\r\nX-First: %s\r\n" % (b"x" * 20), b"200 OK\r\n X-Folded: x\r\n"):
    client = listening.accept()[0]
    client.recv(65536)
    client.sendall(b"HTTP/1.1 " + answer + b"Content-Length: 4\r\nConnection: close\r\n\r\nbody")
    client.close()
    print("answered", flush=True)')
read -r -t 30 -u "$folds" port || bail "the server does not start"
"$FETCH" "http://127.0.0.1:$port/" body retries=1 pause=1 >out 2>&1
read -r -t 30 -u "$folds" && read -r -t 30 -u "$folds"
is "an answer begins with a folded line" "$REPLY" "answered"
is "the helper lives on" "$(grep -o "ended without a word" out)" ""

# --- TLS ---

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 \
	-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem 2>/dev/null ||
	bail "no certificate"
# The end of its input ends the first server.
in=${SERVER[1]} pid=$SERVER_PID
exec {in}>&-
wait "$pid"
serve cert.pem key.pem
URL=https://127.0.0.1:$port
check_status "a certificate that nobody vouches for" 1 "$FETCH" "$URL/list" body
is "is refused" "$(sed 's/ (\{0,1\}CAfile.*//' "$TMP/err")" "$URL/list: $NOT_SIGNED"
