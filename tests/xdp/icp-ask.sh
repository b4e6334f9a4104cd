#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen icp ask`: what is no question is refused, and an answer is told as it came, from
# whoever it is; `baleen icp demo` shows that, and leaves nothing.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
cd "$TMP" || exit 2

# ask ARGUMENT...: from the other end
ask() { in_ns "$A" "$BALEEN" icp ask "$@"; }

# answers: the words of the last one, without the times
answers() { sed -E 's/ +[0-9.]+ us +/ /; s/  +/ /g' "$TMP/out"; }

U=http://example.com
printf "$U/%s\n" one two >urls

check_status "no URL" 2 ask 10.66.0.2
check_status "no address" 2 ask cache.example "$U/one"
is "it is told" "$(head -n 1 "$TMP/err")" "baleen: icp ask: 'cache.example': not ADDRESS[:PORT] (see 'baleen help icp ask')"
check_status "port 65536" 2 ask 10.66.0.2:65536 "$U/one"
check_status "a time that is none" 2 ask --timeout 5 10.66.0.2 "$U/one"
check_status "an empty URL" 1 ask 10.66.0.2 ""
is "it is told, too" "$(<"$TMP/err")" "baleen: : a URL has 1 to 1462 bytes"
check_status "a URL that no query has room for" 1 ask 10.66.0.2 "$U/$(printf '%01443d' 0)x"

check_status "where nobody listens" 1 ask --timeout 100ms 10.66.0.2 "$U/one" "$U/two"
is "nobody answers, to each" "$(answers)" "no answer $U/one"$'\n'"no answer $U/two"
check "somebody answers" in_ns "$B" "$BALEEN" icp attach veth-b --asker 10.66.0.1 --stale never \
	--confirm never --sibling a=10.66.0.2,mode=answer,image=urls
check "what it has" ask 10.66.0.2 "$U/one" "$U/two"
is "are hits" "$(answers)" "hit $U/one"$'\n'"hit $U/two"
check_status "what it has and what it has not" 1 ask 10.66.0.2:3130 "$U/one" "$U/three"
is "are a hit and a miss" "$(answers)" "hit $U/one"$'\n'"miss $U/three"
check_status "another port" 1 ask --timeout 100ms 10.66.0.2:3131 "$U/one"
is "has no answer" "$(answers)" "no answer $U/one"
check_status "an IPv6 address, which is none of the sibling" 1 ask --timeout 100ms '[fd66::2]:3130' "$U/one"
check_status "the same without a port" 1 ask --timeout 100ms fd66::2 "$U/one"
check_status "as JSON" 1 ask -j 10.66.0.2 "$U/one" "$U/three"
cp "$TMP/out" json
is "with the answers" "$(json json '[0].answer') $(json json '[1].answer') $(json json '[1].url')" \
	"hit miss $U/three"
is "and their times" "$(awk '/"us"/ { n += /[0-9]/ } END { print n }' json)" 2
is "each was answered in XDP" "$(in_ns "$B" "$BALEEN" icp status -j >json; json json '[0].siblings[0].hits') \
$(json json '[0].siblings[0].misses')" "4 2"

export TMPDIR=$TMP/demo
mkdir "$TMPDIR"
check "the demo does it all" "$BALEEN" icp demo
cp "$TMP/out" shown
is "no answer, then hits and a miss" "$(sed -nE 's/^    (no answer|hit|miss) .*/\1/p' shown | paste -sd ' ')" \
	"no answer hit hit miss"
check "all are counted" grep -q 'answered: 502 hits, 501 misses' shown
check "none came from elsewhere" grep -qxF 'All 1003 answers came from XDP: there is no cache.' shown
is "nothing is left of it" "$(ls -A "$TMPDIR")" ""
