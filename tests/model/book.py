#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Random commands about bans, on three devices whose rules come and go, held step by step to a
model that shares no code with Baleen: which rows the book has, and what packets meet.

    BALEEN=path VERDICT=path python3 book.py [--seed N] [--steps N] [--kill P]

Runs as root in a network namespace of the caller's, where it makes its devices. With --kill P a
share P of the commands is killed at a random moment: then the book has all of the command or
nothing, and the next writer makes the devices follow.

Exit: 0 all agreed; 1 they did not; 2 it could not run.
"""
import argparse
import copy
import ipaddress
import json
import os
import random
import subprocess
import sys
import time

DEVICES = ("d1", "d2", "d3")
RULES = ("one", "two")
BANS = "bans"

HOSTS4 = ["20.0.0.%d" % i for i in range(16)]
HOSTS6 = ["2a00:0:0:%d::%d" % (net, i) for net in (0, 1) for i in range(4)]
ASKED = HOSTS4 + HOSTS6
KEYS = HOSTS4 * 2 + ["20.0.0.0/28", "20.0.0.0/29", "20.0.0.8/29", "20.0.0.4/30", "20.0.0.12/30",
                     "20.0.0.2-20.0.0.9"] + \
    HOSTS6 + [host + "/128" for host in HOSTS6] + ["2a00::/63", "2a00::/126", "2a00:0:0:1::/64"]
ORIGINS = ("manual", "f2b", "soc")

# Nobody has banned it: a writer that changes nothing of what is asked about.
NEUTRAL = "20.0.1.1"


class Disagreement(Exception):
    pass


def span_of(text):
    """(family, first, last)"""
    if "-" in text:
        first, last = (ipaddress.ip_address(part) for part in text.split("-"))
        return 4, int(first), int(last)
    net = ipaddress.ip_network(text, strict=False)
    return net.version, int(net[0]), int(net[-1])


def typed(text):
    """A key: its span, and True behind it of a lone IPv6 address, which a rule has as wide as it says."""
    return span_of(text) + (":" in text and "/" not in text,)


def written(text):
    return span_of(text) + (False,)


def wide(key, width):
    """What a key stands for where lone addresses have this width."""
    fam, first, last, is_lone = key
    size = 1 << (128 - width) if is_lone else 1
    return (fam, first // size * size, first // size * size + size - 1) if is_lone else key[:3]


def covers(outer, inner):
    return outer[0] == inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2]


def length_at(span, address):
    """Of the widest prefix in a span that holds an address, its length: a range is in pieces."""
    fam, first, last = span
    bits = 32 if fam == 4 else 128
    while True:
        size = 1
        while size < 1 << bits and first % (2 * size) == 0 and first + 2 * size - 1 <= last:
            size *= 2
        if first <= address < first + size:
            return bits - size.bit_length() + 1
        first += size


def in_order(rows, address):
    """The one that decides first: the longest, of two of a length the exception."""
    return sorted((row for row in rows if row[0][0] == address[0] and
                   row[0][1] <= address[1] <= row[0][2]),
                  key=lambda row: (-length_at(row[0], address[1]), not row[1]))


class World:
    """rows: {scope: {(span, is_exception): set of origins}}; device: {name: {rule: what}}."""

    def __init__(self):
        self.rows = {}
        self.device = {name: None for name in DEVICES}

    def copy(self):
        return copy.deepcopy(self)

    def scope(self, name):
        return self.rows.setdefault(name, {})

    def put(self, scope, key, is_exception, origin):
        self.scope(scope).setdefault((key, is_exception), set()).add(origin)

    def take(self, scope, key, is_exception=False, origin=None):
        rows = self.scope(scope)
        origins = rows.get((key, is_exception), set())
        gone = set(origins) if origin is None else origins & {origin}
        origins -= gone
        if (key, is_exception) in rows and not origins:
            del rows[key, is_exception]
        return bool(gone)

    # --- bans

    def ban(self, key, origin):
        """Anew it ends the exceptions in it; renewed it does not."""
        if origin not in self.scope(BANS).get((key, False), ()):
            for other, is_exception in list(self.scope(BANS)):
                if is_exception and covers(wide(key, self.widest()), other) and \
                        (not key[3] or covers(other, key)):
                    self.take(BANS, other, True)
        self.put(BANS, key, False, origin)

    def settle(self):
        """Exceptions go with the last ban around them."""
        for key, is_exception in list(self.scope(BANS)):
            if is_exception and not self.is_in_ban(key):
                self.take(BANS, key, True)

    def is_in_ban(self, key):
        """Without a rule that takes bans, as wide as any may have them."""
        width = min(self.widths(), default=32)
        return any(covers(wide(other, width), key) for other, exc in self.scope(BANS)
                   if not exc)

    def widths(self):
        return [rule["width"] for rules in self.device.values() if rules
                for rule in rules.values() if rule["bans"]]

    def widest(self):
        return min(self.widths(), default=64)

    def widths_of(self, scope):
        device, _, rule = scope.partition(":")
        rules = self.device.get(device) or {}
        return (self.widths() if scope == BANS else [rules[rule]["width"]] if rule in rules else []) or [64]

    def reached(self):
        """Scopes that unban reaches: bans, those of rules that take bans, parked ones."""
        for scope in list(self.rows):
            device, _, rule = scope.partition(":")
            rules = self.device.get(device) or {}
            if scope == BANS or rule not in rules or rules[rule]["bans"]:
                yield scope

    def stands_for(self, scope, key):
        """The keys that go with one: a prefix takes the lone addresses that stand for it."""
        return [key] + [other for other, exc in self.scope(scope) if other[3] and not key[3] and
                        not exc and any(wide(other, width) == key[:3] for width in self.widths_of(scope))]

    def has(self, scope, key):
        return any((other, False) in self.scope(scope) for other in self.stands_for(scope, key))

    def unban(self, keys):
        for scope in list(self.reached()):
            for key in keys:
                for other in self.stands_for(scope, key):
                    self.take(scope, other)

    def takers(self):
        return any(rule["bans"] for rules in self.device.values() if rules for rule in rules.values())

    def part_of(self, key):
        rows = [(wide(other, self.widest()), exc) for other, exc in self.scope(BANS)]
        around = [row for row in in_order(rows, key) if covers(row[0], key)]
        return bool(around) and not around[0][1]

    # --- packets

    def holds(self, device, rule, address):
        what = self.device[device][rule]
        rows = [(wide(key, what["width"]), exc, False)
                for key, exc in self.rows.get("%s:%s" % (device, rule), {})]
        if what["bans"]:
            rows += [(wide(key, what["width"]), exc, True) for key, exc in self.rows.get(BANS, {})]
        rows = in_order(rows, address)
        if rows and not rows[0][1]:
            return True
        if any(exc and not is_ban for _, exc, is_ban in rows):
            return False
        return any(covers(line, address) for line in what["list"])

    def fate(self, device, address):
        return "D" if any(self.holds(device, rule, address) for rule in self.device[device]) else "P"


class Walk:
    def __init__(self, seed, kill):
        self.rng = random.Random(seed)
        self.kill = kill
        self.world = World()
        self.log, self.others = [], []
        self.n_killed = self.n_lost = self.n_parts = 0
        self.has_strays = False
        self.conf = os.environ["BALEEN_CONF_DIR"]
        os.makedirs(self.conf, exist_ok=True)
        for name in DEVICES:
            self.make_device(name)

    @staticmethod
    def ip(*words):
        subprocess.run(("ip",) + words, check=True)

    def make_device(self, name):
        self.ip("link", "add", name, "type", "veth", "peer", "name", "p" + name)

    def run(self, *words, stdin=None):
        """Return: (status, stdout); the status is -9 when it was killed."""
        self.log.append("$ baleen %s%s" % (" ".join(words), " <<<%r" % stdin if stdin else ""))
        child = subprocess.Popen((os.environ["BALEEN"],) + words, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.rng.random() < self.kill:
            if stdin:
                child.stdin.write(stdin)
            child.stdin.close()
            child.stdin = None
            try:
                child.wait(self.rng.uniform(0, 0.08))
            except subprocess.TimeoutExpired:
                child.kill()
                self.n_killed += 1
        out, err = child.communicate(stdin if child.stdin else None, timeout=60)
        if words[0] == "list":
            self.log.pop()
        else:
            self.log.append("  -> %d %s" % (child.returncode,
                                            (err or out).strip().replace("\n", " | ")[:300]))
        if child.returncode not in (0, 1, 3, 5, -9):
            raise Disagreement("ended with %d: %s" % (child.returncode, err[-300:]))
        return child.returncode, out

    def calm(self, *words):
        """A command that is not killed."""
        kill, self.kill = self.kill, 0
        try:
            return self.run(*words)
        finally:
            self.kill = kill

    # --- steps: each returns the world that is wanted

    def step_ban(self):
        after, key, origin = self.world.copy(), self.rng.choice(KEYS), self.rng.choice(ORIGINS)
        if not after.takers():
            return None
        after.ban(typed(key), origin)
        self.run("ban", "--exist", "--origin", origin, key)
        return after

    def step_unban(self):
        after, text = self.world.copy(), self.rng.choice(KEYS)
        keys = [typed(text)] + [written(text)] * typed(text)[3]
        had = any(after.has(scope, key) for scope in list(after.reached()) for key in keys)
        if not had and after.takers() and after.part_of(keys[-1]):
            after.put(BANS, keys[-1], True, "unban")
            after.settle()
            self.n_parts += 1
        elif had:
            after.unban(keys)
            after.settle()
        self.run("unban", text)
        return after

    def step_feed(self):
        after, origin = self.world.copy(), self.rng.choice(ORIGINS[1:])
        if not after.takers():
            return None
        lines = []
        for _ in range(self.rng.choice((1, 2, 5))):
            key = self.rng.choice(KEYS)
            if self.rng.random() < 0.7:
                lines.append("ban " + key)
            else:
                lines.append("unban " + key)
        if self.rng.random() < 0.3:
            lines = ["begin"] + [line for line in lines if line.startswith("ban")] + ["commit"]
            wanted = [typed(line[4:]) for line in lines[1:-1]]
            for key in wanted:
                after.ban(key, origin)
            for key, exc in list(after.scope(BANS)):
                if key not in wanted and not exc:
                    after.take(BANS, key, False, origin)
            after.settle()
        else:
            # Lines that are there together are one batch, at whose end exceptions go.
            one = after.copy()
            for line in lines:
                word, key = line.split()
                for world in (after, one):
                    if word == "ban":
                        world.ban(typed(key), origin)
                    else:
                        world.unban([typed(key), written(key)] if typed(key)[3] else [typed(key)])
                one.settle()
                self.others.append(one.copy())
            after.settle()
        self.run("feed", BANS, "-", "--origin", origin, stdin="\n".join(lines) + "\n")
        return after

    def step_flush(self):
        after, origin = self.world.copy(), self.rng.choice(ORIGINS + (None,))
        if not after.takers():
            return None
        for key, exc in list(after.scope(BANS)):
            after.take(BANS, key, exc, origin)
        after.settle()
        self.run("flush", BANS, *(("--origin", origin) if origin else ("--all",)))
        return after

    def some_rule(self):
        there = [(device, rule) for device in DEVICES for rule in self.world.device[device] or ()]
        return self.rng.choice(there) if there else (None, None)

    def step_add(self):
        device, rule = self.some_rule()
        if not device:
            return None
        after, key = self.world.copy(), self.rng.choice(KEYS)
        is_exception = self.rng.random() < 0.3
        # What is taken out is no more than was said.
        after.put("%s:%s" % (device, rule), written(key) if is_exception else typed(key),
                  is_exception, "manual")
        self.run("add", "--exist", "%s:%s" % (device, rule), ("!" if is_exception else "") + key)
        return after

    def step_del(self):
        device, rule = self.some_rule()
        rows = self.world.rows.get("%s:%s" % (device, rule))
        if not rows:
            return None
        after = self.world.copy()
        key, exc = self.rng.choice(sorted(rows))
        scope = "%s:%s" % (device, rule)
        for other in [key] if exc else after.stands_for(scope, key):
            after.take(scope, other, exc)
        self.run("del", "%s:%s" % (device, rule), ("!" if exc else "") + text_of(key))
        return after

    def step_apply(self):
        device = self.rng.choice(DEVICES)
        after, rules, lines = self.world.copy(), {}, []
        for rule in self.rng.sample(RULES, self.rng.choice((1, 2, 2))):
            bans, listed = self.rng.random() < 0.7, self.rng.sample(HOSTS4 + HOSTS6, 3)
            path = "%s/%s-%s.list" % (self.conf, device, rule)
            with open(path, "w") as file:
                file.write("\n".join(listed) + "\n")
            width = self.rng.choice((64, 64, 64, 63, 126, 128))
            lines += ["rule %s drop" % rule] + ["bans"] * bans + ["ban-width %d" % width, "feed " + path]
            rules[rule] = {"bans": bans, "width": width, "list": [span_of(line) for line in listed]}
        with open("%s/%s.conf" % (self.conf, device), "w") as file:
            file.write("\n".join(lines) + "\n")
        after.device[device] = rules
        # What is killed is neither: the file is applied until it is in force.
        if self.run("apply", "--force", device)[0] not in (0, 3):
            self.calm("apply", "--force", device)
        return after

    def step_detach(self):
        device = self.rng.choice(DEVICES)
        if not self.world.device[device]:
            return None
        after = self.world.copy()
        after.device[device] = None
        if self.run("detach", "--forget", device)[0]:
            self.calm("detach", "--forget", device)
        return after

    def step_recreate(self):
        """Deleted, and there again; bans that come meanwhile are for it, too."""
        device = self.rng.choice(DEVICES)
        self.ip("link", "del", device)
        after = (self.step_ban() if self.rng.random() < 0.5 else None) or self.world.copy()
        self.make_device(device)
        if after.device[device]:
            self.calm("restore", "--boot", "--", device)
        return after

    def step_rename(self):
        """Called another name for a while."""
        device = self.rng.choice(DEVICES)
        self.ip("link", "set", device, "name", "other")
        after = (self.step_ban() if self.rng.random() < 0.7 else None) or self.world.copy()
        self.ip("link", "set", "other", "name", device)
        self.calm("unban", "--exist", NEUTRAL)
        return after

    STEPS = (("ban", 8), ("unban", 6), ("feed", 5), ("flush", 1), ("add", 3), ("del", 2),
             ("apply", 3), ("detach", 1), ("recreate", 1), ("rename", 1))

    # --- checks

    def rows_there(self):
        status, out = self.calm("list", "-j")
        if status:
            raise Disagreement("list fails")
        rows = {}
        for row in json.loads(out):
            scope = BANS if row["rule"] == BANS else "%s:%s" % (row["device"], row["rule"])
            exc = row["entry"].startswith("!")
            key = (written if exc else typed)(row["entry"].lstrip("!"))
            rows.setdefault(scope, {}).setdefault((key, exc), set()).add(row["origin"])
        return rows

    @staticmethod
    def rows_wanted(world):
        return {scope: rows for scope, rows in world.rows.items() if rows}

    def check(self, before, after, killed):
        if killed:
            self.calm("unban", "--exist", NEUTRAL)
            for device in DEVICES:
                for rule in list(after.device[device] or ())[:1]:
                    self.calm("del", "--exist", "%s:%s" % (device, rule), NEUTRAL)
        there = self.rows_there()
        # Bans that got narrower leave exceptions outside of them, until a ban is taken back.
        self.has_strays |= after.widest() > before.widest()
        if self.has_strays:
            for row in [row for row in there.get(BANS, {}) if row[1] and not after.is_in_ban(row[0])]:
                after.scope(BANS).setdefault(row, there[BANS][row])
            self.has_strays = any(exc for _, exc in after.scope(BANS))
        for other in self.others + [before] * killed:
            if there == self.rows_wanted(other) != self.rows_wanted(after):
                after.rows = other.rows
                self.n_lost += other is before
                break
        if there != self.rows_wanted(after):
            raise Disagreement("rows: there %r, wanted %r; widths %s" % (
                there, self.rows_wanted(after), after.widths()))
        self.world = after
        for device in DEVICES:
            if not after.device[device]:
                continue
            out = subprocess.run((os.environ["VERDICT"], device) + tuple(ASKED), check=True,
                                 stdout=subprocess.PIPE, text=True).stdout.strip()
            wanted = "".join(after.fate(device, span_of(a)) for a in ASKED)
            if out != wanted:
                raise Disagreement("%s: %s, wanted %s, of %s; its rules %s; rows %s" % (
                    device, out, wanted,
                    " ".join(a for a, is_, want in zip(ASKED, out, wanted) if is_ != want),
                    {rule: [what["bans"]] + [text_of(line + (False,)) for line in what["list"]]
                     for rule, what in after.device[device].items()},
                    {scope: sorted("!" * exc + text_of(key) for key, exc in rows)
                     for scope, rows in after.rows.items()
                     if scope == BANS or scope.startswith(device)}))

    def go(self, n_steps):
        names = [name for name, weight in self.STEPS for _ in range(weight)]
        for device in DEVICES:
            self.world = self.step_apply_calm(device)
        for _ in range(n_steps):
            name, n_killed, before = self.rng.choice(names), self.n_killed, self.world.copy()
            self.log.append("# " + name)
            self.others = []
            after = getattr(self, "step_" + name)()
            if after:
                self.check(before, after, self.n_killed > n_killed)

    def step_apply_calm(self, _):
        kill, self.kill = self.kill, 0
        try:
            return self.step_apply()
        finally:
            self.kill = kill


def text_of(key):
    fam, first, last, is_lone = key
    kind = ipaddress.IPv4Address if fam == 4 else ipaddress.IPv6Address
    nets = list(ipaddress.summarize_address_range(kind(first), kind(last)))
    text = str(nets[0]) if len(nets) == 1 else "%s-%s" % (kind(first), kind(last))
    return text.split("/")[0] if is_lone else text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--kill", type=float, default=0)
    args = parser.parse_args()
    walk, began = Walk(args.seed, args.kill), time.time()
    try:
        walk.go(args.steps)
    except Disagreement as why:
        print("disagreement: %s\n%s" % (why, "\n".join(walk.log[-40:])))
        return 1
    except OSError as why:
        print("cannot run: %s" % why)
        return 2
    print("ok: %d steps, %d killed, %d of them undone, %d parts unbanned, %.0f s" %
          (args.steps, walk.n_killed, walk.n_lost, walk.n_parts, time.time() - began))
    return 0


if __name__ == "__main__":
    sys.exit(main())
