#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A random configuration of a device: confs.py SEED DIR, on standard output.

DIR has addresses, table.csv, lists/, image.bln (a Bloom filter of 1e-3) and flows, as
tests/xdp/conf-random.sh makes them. The text is one that apply takes.
"""
import random
import sys


def maybe(r, share, *lines):
    return [r.choice(lines)] if r.random() < share else []


def device(r):
    lines = ["default pass", "guard-sessions %s" % r.choice(("none", "own", "all", "outgoing"))]
    lines += ["never none"]
    lines += maybe(r, 0.3, "dry-run")
    lines += maybe(r, 0.3, "sample 100/s", "sample 6/m", "sample 1/h")
    lines += maybe(r, 0.2, "max-memory 500M", "max-memory 123456789")
    lines += maybe(r, 0.2, 'health /bin/true "a b" -c', "health /bin/true")
    lines += maybe(r, 0.2, "mode generic", "mode native")
    lines += maybe(r, 0.2, "no-link")
    return lines


def qualifiers(r):
    words = maybe(r, 0.3, "proto tcp dport 22,80-90", "proto udp dport 53", "proto tcp tcp-syn")
    words += maybe(r, 0.2, "vlan 7", "established")
    return " ".join([""] + words)


def feeds(r, where):
    options = [
        "%s/addresses" % where,
        "%s/addresses skip-bad every 1h" % where,
        "file://%s/addresses every %dm" % (where, r.randint(1, 500)),
        "%s/table.csv column 1 where country=XX" % where,
        '%s/table.csv column 1 where "country=Y Y" delimiter ,' % where,
        "%s/table.csv column address skip-bad" % where,
        '"%s/lists"' % where,
    ]
    chosen, seen = [], set()
    for option in r.sample(options, r.randint(0, 4)):
        # By both names it is one feed; so are two ways to read it.
        source = option.replace("file://", "").split(" skip-bad")[0].split(" every")[0]
        if source not in seen:
            seen.add(source)
            chosen.append("feed " + option)
    return chosen


def limits(r):
    lines = maybe(r, 0.2, "min-entries 0", "min-entries 1")
    lines += maybe(r, 0.2, "max-entries 1M", "max-entries 4321")
    lines += maybe(r, 0.2, "max-shrink 90%", "max-shrink 12.5%")
    lines += maybe(r, 0.2, "max-coverage 30%", "max-coverage 100%")
    lines += maybe(r, 0.2, "max-growth 3%", "max-growth 0.333%")
    return lines


def rule(r, where, name, n):
    action = r.choice(("drop", "drop", "allow", "count"))
    head = "rule %s %s%s" % (name, action, qualifiers(r))
    shape = r.random()
    if shape < 0.1:
        return [head, "any"]
    if shape < 0.2:
        return [head, "key src,dport", "feed %s/flows" % where]
    if shape < 0.3:
        return [head, "feed %s/image.bln" % where, r.choice(("fpp 0.002", "accept-fpp 0.0012345"))]
    lines = [head] + feeds(r, where) + limits(r)
    lines += maybe(r, 0.2, "capacity 2000", "capacity 10k")
    lines += maybe(r, 0.2, "special keep", "special remove") if action == "drop" else []
    lines += maybe(r, 0.2, "protect none", "protect host")
    if r.random() < 0.2:
        lines += ["kind " + r.choice(("bloom", "classic")), "fpp " + r.choice(("0.001", "1e-6"))]
    else:
        lines += maybe(r, 0.1, "fpp 1e-7", "kind quotient")
    if action == "drop" and not any(line.startswith("kind") for line in lines):
        if r.random() < 0.4:
            lines += ["bans"] + maybe(r, 0.5, "ban-width 56", "ban-width 128")
        lines += maybe(r, 0.3, "widen 3 in /24", "widen 8 in /24, 5 in /48")
    return lines


def main():
    r = random.Random(int(sys.argv[1]))
    names = r.sample(["a", "b.c", "D_1", "drop", "bans", "rule", "x" * 31, "none"], r.randint(1, 6))
    lines = device(r)
    for n, name in enumerate(names):
        lines += rule(r, sys.argv[2], name, n)
    if "bans" in lines and r.random() < 0.3 and len(names) < 16:
        lines += ["rule limited count limit 9/s burst 20 ban 10m unverified", "any"]
    print("\n".join(lines))


main()
