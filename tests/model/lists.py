# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random lists: what build, dump and import make of them is what the lines mean.

	lists.py N SEED

A list has hosts, prefixes, ranges and exceptions of both families, in each other, in several
spellings. Its meaning is worked out here from the longest prefixes alone (sets.py), between
all ends of entries; what dump prints is read here, too, and read by Baleen again.
"""
import ipaddress
import json
import os
import random
import re
import subprocess
import sys

from sets import BITS, ListSet, Span, net_span, to_text

BALEEN = os.environ["BALEEN"]
IMPORT = os.environ.get("IMPORT")


def run(*words, stdin=""):
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode or re.sub(r"baleen: .* superfluous: .*\n", "", done.stderr):
        raise SystemExit("%s: status %d\n%s" % (" ".join(words), done.returncode, done.stderr))
    return done.stdout


# --- lists ---

def draw_span(rng, near):
    """A span, often inside of or around one that is there."""
    fam = rng.choice((4, 4, 6))
    bits = BITS[fam]
    inside = [s for s in near if s.fam == fam]
    if inside and rng.random() < 0.7:
        other = rng.choice(inside)
        number = rng.choice((other.first, other.last, rng.randint(other.first, other.last)))
    else:
        number = rng.getrandbits(bits)
    if rng.random() < 0.25:
        last = min(2 ** bits - 1, number + rng.getrandbits(rng.choice((2, 8, 20))))
        return Span(fam, number, last)
    length = rng.choice((bits, bits, bits - rng.randint(0, 8), rng.randint(0, bits)))
    size = 2 ** (bits - length)
    return Span(fam, number // size * size, number // size * size + size - 1)


def spell(rng, span, is_exception):
    """A line that means this."""
    text = span.canonical()
    if rng.random() < 0.3 and span.fam == 6:
        text = text.upper()
    if span.first == span.last and rng.random() < 0.2:
        text += "/%d" % BITS[span.fam]
    behind = rng.choice(("", "", "", "\t%d" % rng.randint(1, 99), " US", " # 192.0.2.9", ";x", "\r"))
    return rng.choice(("", "", " ", "\t")) + ("!" if is_exception else "") + text + behind


def draw_list(rng):
    entries = []
    for _ in range(rng.choice((1, 3, 10, 30))):
        entries.append((draw_span(rng, [s for s, _ in entries]), rng.random() < 0.3))
    # Exceptions alone are no list, and IPv6 hosts alone are hashes, which nobody lists.
    entries.append((draw_span(rng, [s for s, _ in entries]), False))
    entries.append((net_span("3fff:%x::/%d" % (rng.getrandbits(8), rng.randint(33, 127))), False))
    lines = [spell(rng, *entry) for entry in entries]
    if rng.random() < 0.3:
        lines.insert(rng.randrange(len(lines)), rng.choice(("", "# a comment", "; 192.0.2.1")))
    return entries, "\n".join(lines) + rng.choice(("", "\n"))


def meaning(entries):
    """[(family, first, last)] of what is in the set; no two touch."""
    out = []
    for fam in (4, 6):
        here = [(s, e) for s, e in entries if s.fam == fam]
        cuts = sorted({s.first for s, _ in here} | {s.last + 1 for s, _ in here})
        # The prefixes of a range are of several lengths: they cut, too.
        for span, _ in here:
            span.length_at(span.first)
            cuts += [block[0] for block in span.blocks]
        cuts = sorted(set(cuts))
        for first, end in zip(cuts, cuts[1:]):
            if not ListSet(here).holds((fam, first)):
                continue
            if out and out[-1][0] == fam and out[-1][2] + 1 == first:
                out[-1] = (fam, out[-1][1], end - 1)
            else:
                out.append((fam, first, end - 1))
    return out


# --- what is printed ---

def parse(text):
    is_exception = text.startswith("!")
    text = text.lstrip("!")
    if "-" in text:
        first, last = (ipaddress.ip_address(t) for t in text.split("-"))
        return Span(first.version, int(first), int(last)), is_exception
    return net_span(text), is_exception


def read_list(text):
    return meaning([parse(line) for line in text.split("\n") if line])


def read_ipset(text):
    return meaning([parse(words[2] if words[3:] != ["nomatch"] else "!" + words[2])
                    for words in map(str.split, text.splitlines()) if words[0] == "add"])


def read_nft(text):
    """The elements of its text, and the same as nft -j has it."""
    sets = []
    for name, family, elements in re.findall(
            r"set (\S+) \{\s+type (\S+)\s+flags interval\s+(?:elements = \{([^}]*)\}\s+)?\}", text):
        sets.append((name, family, [e.strip() for e in elements.split(",") if e.strip()]))
    return sets


def nft_json(sets):
    def element(text):
        if "-" in text:
            return {"range": text.split("-")}
        if "/" in text:
            address, length = text.split("/")
            return {"prefix": {"addr": address, "len": int(length)}}
        return text
    return json.dumps({"nftables": [{"set": {
        "family": "inet", "table": "t", "name": name, "type": family,
        "elem": [element(e) for e in elements]}} for name, family, elements in sets]})


# --- the trial ---

def imported(form, path, names):
    """What the reader of import hands on, of all sets."""
    lines = []
    for name in names:
        lines += [line.split(" ")[0] for line in run(IMPORT, form, path, name).splitlines()]
    return meaning([parse(line) for line in lines])


def write(path, text):
    with open(path, "w", encoding="ascii", newline="") as out:
        out.write(text)


def try_list(rng):
    entries, text = draw_list(rng)
    want = meaning(entries)
    got = {}

    def build(name, path, *options):
        run(BALEEN, "build", "--allow-empty", "-o", "m.bln", *options, path)
        got[name] = read_list(run(BALEEN, "dump", "m.bln"))

    write("m.txt", text)
    if not want:
        return
    build("build", "m.txt")
    run(BALEEN, "build", "-o", "a.bln", "m.txt")
    for form in ("text", "ipset", "nft", "csv"):
        write("m." + form, run(BALEEN, "dump", "--format", form, "--set", "m", "a.bln"))
    build("text again", "m.text")
    build("csv again", "m.csv", "--column", "network")
    build("ipset as a list", "m.ipset")
    with open("m.ipset", encoding="ascii") as printed:
        ipset = printed.read()
    got["ipset"] = read_ipset(ipset)
    with open("m.nft", encoding="ascii") as printed:
        sets = read_nft(printed.read())
    got["nft"] = meaning([parse(e) for _, _, elements in sets for e in elements])
    write("m.json", json.dumps([{"ip": "!" * e + s.canonical(), "n": n}
                                for n, (s, e) in enumerate(entries)]))
    build("json", "m.json", "--column", ".[].ip")
    if IMPORT:
        write("nft.json", nft_json(sets))
        names = re.findall(r"^create (\S+)", ipset, re.M)
        got["import of ipset"] = imported("ipset", "m.ipset", names)
        got["import of nft"] = imported("nft", "nft.json", [name for name, _, _ in sets])
    for name, spans in got.items():
        if spans != want:
            first = next((a, b) for a, b in zip(spans + [None], want + [None]) if a != b)
            raise SystemExit("%s: %s instead of %s in\n%s" % (name, *(
                s and "%s-%s" % (to_text(s[0], s[1]), to_text(s[0], s[2])) for s in first), text))


def main():
    n, seed = int(sys.argv[1]), int(sys.argv[2])
    for i in range(n):
        try:
            try_list(random.Random(seed + i))
        except SystemExit as why:
            raise SystemExit("seed %d: %s" % (seed + i, why)) from None


main()
