#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What became of a day of traffic between caches that ask each other: see day.sh.

    day.py urls SEED N N_URLS       N requests of URLs, popular ones more often
    day.py capture PORT FILE        lines of store.log that go to PORT of this host
    day.py count DIRECTORY NAME...  figures of the caches in DIRECTORY/NAME

A request is a wrong miss when it went to the origin although another cache had its object
all the time, from before it began until after it ended, and was not down. What each cache
had is what its store.log said, a file or captured datagrams.
"""
import bisect
import hashlib
import os
import random
import socket
import struct
import sys

# Seconds around a request in which the store of another cache may change: what comes is said
# when it is on the disk.
MARGIN = 0.5


def urls(seed, n, n_urls):
    """Popularity falls with the rank to the power of 0.8, as Breslau et al. (INFOCOM 1999)
    found it between 0.64 and 0.83."""
    random.seed(seed)
    weights = [1 / rank ** 0.8 for rank in range(1, n_urls + 1)]
    for url in random.choices(range(n_urls), weights, k=n):
        print("http://10.9.0.3/obj/%d" % url)


def capture(port, path):
    """What is sent over the loopback device to a port, line by line: as it goes out, since a
    program of XDP takes it when it comes in."""
    outgoing = 4
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as link, \
            open(path, "wb", buffering=0) as file:
        link.bind(("lo", 0))
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        print("ready", flush=True)
        while True:
            frame, address = link.recvfrom(65536)
            if address[2] == outgoing and frame[12:15] == b"\x08\0\x45" and frame[23] == 17 \
                    and struct.unpack_from(">H", frame, 36)[0] == port:
                file.write(frame[42:])


def lines(directory):
    with open(os.path.join(directory, "store.log"), errors="replace") as file:
        return file.readlines()


def stays(directory):
    """For each key the times at which it came and went, by turns."""
    times = {}
    for line in lines(directory):
        word = line.split()
        if len(word) < 5 or word[1] not in ("SWAPOUT", "RELEASE") or word[2] == "-1":
            continue
        of_key = times.setdefault(word[4], [])
        is_in = word[1] == "SWAPOUT"
        if is_in == (len(of_key) % 2 == 0):
            of_key.append(float(word[0]))
    return times


def has(times, key, begin, end):
    of_key = times.get(key, ())
    at = bisect.bisect_right(of_key, begin)
    return at % 2 == 1 and (at == len(of_key) or of_key[at] > end)


def downs(directory):
    path = os.path.join(directory, "down")
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [tuple(map(float, line.split())) for line in file]


def requests(directory):
    with open(os.path.join(directory, "access.log")) as file:
        for line in file:
            word = line.split()
            yield (float(word[0]), int(word[1]) / 1000, word[2], word[3], word[6], word[8])


def count(root, names):
    stay = {name: stays(os.path.join(root, name)) for name in names}
    down = {name: downs(os.path.join(root, name)) for name in names}
    figure = dict.fromkeys(("requests", "own", "sibling", "origin", "false_hits",
                            "wrong_misses", "hung"), 0)

    for name in names:
        own = open(os.path.join(root, name, "address")).read().strip()
        with open(os.path.join(root, name, "all_statuses")) as file:
            figure["hung"] += sum(line.strip() != "200" for line in file)
        for end, elapsed, client, result, url, route in requests(os.path.join(root, name)):
            if "/obj/" not in url:
                continue
            if client != own:
                figure["false_hits"] += result.endswith("/504")
                continue
            figure["requests"] += 1
            if "SIBLING_HIT" in route:
                figure["sibling"] += 1
                continue
            if "HIER_DIRECT" not in route:
                figure["own"] += 1
                continue
            figure["origin"] += 1
            key = hashlib.md5(b"\1" + url.encode()).hexdigest().upper()
            begin = end - elapsed - MARGIN
            figure["wrong_misses"] += any(
                has(stay[other], key, begin, end + MARGIN) and
                not any(a <= end and begin <= b for a, b in down[other])
                for other in names if other != name)
    print(" ".join("%s %d" % item for item in figure.items()))


if sys.argv[1] == "urls":
    urls(*map(int, sys.argv[2:5]))
elif sys.argv[1] == "capture":
    capture(int(sys.argv[2]), sys.argv[3])
else:
    count(sys.argv[2], sys.argv[3:])
