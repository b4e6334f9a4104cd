# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random single entries: what packets meet, and what goes out and comes back, is what they mean.

	entries.py N SEED DEV:RULE DEV:RULE

Entries have hosts, prefixes, ranges and exceptions of both families, in each other, of several
origins, some with an end. They are put into the first rule by feed and add, exported in each
format, and imported into the second one, by way of the real ipset and nft, too. The meaning is
worked out here from the longest prefixes alone (sets.py), at each moment at which an entry ends.
"""
import json
import os
import random
import subprocess
import sys
import time

from sets import BITS, ListSet, Span, net_span, to_text

BALEEN = os.environ["BALEEN"]
VERDICT = os.environ["VERDICT"]
FOREVER = 10 ** 12
# Ends are ten minutes from each other at least, and a trial takes less than this.
SLACK = 120
# Not wider than what may be banned without --force.
NETS = [net_span("20.0.0.0/9"), net_span("2a01:db8::/33")]


class Entry:
    def __init__(self, span, is_exception, origin, ttl):
        self.span, self.is_exception, self.origin, self.ttl = span, is_exception, origin, ttl

    def key(self):
        return ("!" if self.is_exception else "") + self.span.canonical()

    def asked(self):
        """As it is listed: an IPv6 address without a length would mean its network."""
        is_alone = self.span.fam == 6 and self.span.first == self.span.last
        return self.key() + ("/128" if is_alone and not self.is_exception else "")

    def typed(self, rng):
        text = self.asked()
        if self.span.first != self.span.last and self.span.is_prefix() and rng.random() < 0.2:
            return "%s%s-%s" % ("!" if self.is_exception else "", *(
                to_text(self.span.fam, n) for n in (self.span.first, self.span.last)))
        return text


# --- Baleen ---

def run(*words, stdin="", statuses=(0,)):
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode not in statuses:
        raise SystemExit("%s: status %d\n%s%s" % (
            " ".join(words), done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
    return done.stdout


def export(rule, form):
    return run(BALEEN, "export", rule, "--format", form, "--set", "m")


def import_into(rule, text, *words):
    run(BALEEN, "flush", rule, "--all")
    run(BALEEN, "import", rule, *words, "-", stdin=text)


def listed(rule):
    return json.loads(run(BALEEN, "list", "-j", rule))


# --- what they mean ---

def draw_span(rng, near):
    """A span, often inside of or around one that is there."""
    net = rng.choice((NETS[0], NETS[0], NETS[1]))
    inside = [s for s in near if s.fam == net.fam]
    if inside and rng.random() < 0.7:
        other = rng.choice(inside)
        number = rng.choice((other.first, other.last, rng.randint(other.first, other.last)))
    else:
        number = rng.randint(net.first, net.last)
    if rng.random() < 0.25:
        return Span(net.fam, number, min(net.last, number + rng.getrandbits(rng.choice((2, 8, 20)))))
    bits = BITS[net.fam]
    length = rng.choice((bits, bits, bits - rng.randint(0, 8), rng.randint(net.prefix_length(), bits)))
    size = 2 ** (bits - length)
    return Span(net.fam, number // size * size, number // size * size + size - 1)


def draw_entries(rng):
    entries = {}
    for _ in range(rng.choice((3, 10, 25))):
        span = draw_span(rng, [e.span for e in entries.values()])
        entry = Entry(span, rng.random() < 0.3, rng.choice(("manual", "cron")),
                      rng.choice((None, None, 1200, 3600, 7200, 86400)))
        entries.setdefault((span.id, entry.is_exception, entry.origin), entry)
    return list(entries.values())


def is_in(entries, key, at):
    return ListSet([(e.span, e.is_exception) for e in entries if (e.ttl or FOREVER) > at]).holds(key)


def until(entries, key):
    """How long it is dropped from now on: 0 for not at all."""
    if not is_in(entries, key, 0):
        return 0
    for at in sorted({e.ttl for e in entries if e.ttl}):
        if not is_in(entries, key, at):
            return at
    return FOREVER


def edges(entries):
    """The addresses at which something may change."""
    keys = set()
    for entry in entries:
        span = entry.span
        span.length_at(span.first)
        for first, last, _ in span.blocks:
            keys |= {(span.fam, n) for n in (first - 1, first, (first + last) // 2, last, last + 1)}
    return sorted(k for k in keys if 0 <= k[1] < 2 ** BITS[k[0]])


# --- what is there ---

def parse_listed(rows):
    entries = []
    for row in rows:
        text = row["entry"].lstrip("!")
        if "-" in text:
            first, last = (net_span(part) for part in text.split("-"))
            span = Span(first.fam, first.first, last.first)
        else:
            span = net_span(text)
        ttl = None if row["left_ms"] is None else row["left_ms"] / 1000
        entries.append(Entry(span, row["entry"].startswith("!"), row["origin"], ttl))
    return entries


def check_packets(name, rule, entries, keys):
    got = run(VERDICT, rule.split(":")[0], *(to_text(*key) for key in keys)).strip()
    for letter, key in zip(got, keys, strict=True):
        if (letter == "D") != is_in(entries, key, 0):
            raise SystemExit("%s: %s gets %s" % (name, to_text(*key), letter))


def check_ends(name, rule, entries, keys):
    there = parse_listed(listed(rule))
    for key in keys:
        got, want = until(there, key), until(entries, key)
        if abs(got - want) > SLACK:
            raise SystemExit("%s: %s for %d s, not %d" % (name, to_text(*key), got, want))


# --- the trial ---

def put(rng, rule, entries):
    """Some by feed, some by add."""
    fed = [e for e in entries if rng.random() < 0.6]
    lines = ["add %s%s origin=%s" % (e.typed(rng), " ttl=%ds" % e.ttl if e.ttl else "", e.origin)
             for e in fed]
    answers = run(BALEEN, "feed", rule, "-", stdin="".join(line + "\n" for line in lines))
    if answers != "ok\n" * len(fed):
        raise SystemExit("feed: %s\n%s" % (answers, "\n".join(lines)))
    for entry in entries:
        if entry not in fed:
            run(BALEEN, "add", rule, entry.typed(rng), "--origin", entry.origin,
                *(("--ttl", "%ds" % entry.ttl) if entry.ttl else ()))


def exact(rows):
    return sorted((r["entry"], r["origin"], r["reason"], r["added_ms"], r["expires_ms"] or 0)
                  for r in rows)


def try_sets(rule, back, entries, keys):
    """By the programs themselves."""
    for form, load, head, save in (
            ("ipset", ("ipset", "restore"), "create %s ", ("ipset", "save")),
            ("nft", ("nft", "-f", "-"), "set %s {", ("nft", "-j", "list", "set", "inet", "m"))):
        text = export(rule, form)
        run(*load, stdin=text)
        run(BALEEN, "flush", back, "--all")
        for name in ("m", "m6"):
            if head % name in text:
                run(BALEEN, "import", back, "--format", form, "-", stdin=run(*save, name))
        run("ipset", "destroy") if form == "ipset" else run("nft", "flush", "ruleset")
        check_packets(form, back, entries, keys)
        check_ends(form, back, entries, keys)


def try_entries(rng, rule, back):
    entries = draw_entries(rng)
    keys = edges(entries)
    run(BALEEN, "flush", rule, "--all")
    put(rng, rule, entries)
    rows = listed(rule)
    if sorted((r["entry"], r["origin"]) for r in rows) != sorted((e.asked(), e.origin) for e in entries):
        raise SystemExit("list: %s" % [r["entry"] for r in rows])
    check_packets("put", rule, entries, keys)
    check_ends("put", rule, entries, keys)
    import_into(back, export(rule, "json"), "--format", "json")
    if exact(listed(back)) != exact(rows):
        raise SystemExit("json: %s instead of %s" % (exact(listed(back)), exact(rows)))
    check_packets("json", back, entries, keys)
    for form, words in (("text", ("--format", "list")), ("csv", ("--column", "key"))):
        import_into(back, export(rule, form), *words)
        check_packets(form, back, entries, keys)
    try_sets(rule, back, entries, keys)


def main():
    n, seed = int(sys.argv[1]), int(sys.argv[2])
    began = time.monotonic()
    for i in range(n):
        try:
            try_entries(random.Random(seed + i), *sys.argv[3:5])
        except SystemExit as why:
            raise SystemExit("seed %d: %s" % (seed + i, why)) from None
        if (time.monotonic() - began) / (i + 1) > SLACK:
            raise SystemExit("a trial takes too long for its ends")


main()
