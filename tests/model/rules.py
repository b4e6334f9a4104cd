# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the model believes of a device: its rules, in order, and the policy."""
from sets import SPECIAL_SPANS, KeySet, Made, Span


DROP, PASS = 1, 2
PROTO_NAME = {6: "tcp", 17: "udp", 1: "icmp", 132: "sctp", 47: "gre", 33: "dccp", 136: "udplite"}


N_HOST = 3      # own addresses of both families, and a resolver


def is_nobody(fam, number):
    """Of hosts that have no address yet: no list that drops keeps these."""
    return number == 0 or (fam == 4 and number == (1 << 32) - 1)


def shape(spec):
    """Entries of a rule are entries of another of its name when their keys look alike."""
    if spec in (("src",), ("dst",)):
        return "address"
    return tuple("address" if f in ("src", "dst") else "port" if f in ("sport", "dport") else f
                 for f in spec)


class Single:
    def __init__(self, what, is_exception, origin):
        self.what, self.is_exception, self.origin = what, is_exception, origin
        self.yields = False         # narrowed: it says nothing of this host

    def id(self):
        key = self.what.id if isinstance(self.what, Span) else self.what
        return (key, self.is_exception, self.origin)


class Rule:
    def __init__(self, name, action, spec, quals, kind="cuckoo"):
        self.name, self.action, self.spec, self.quals = name, action, spec, dict(quals)
        self.feeds = []             # [(path, set)]
        self.singles = {}           # id -> Single
        self.is_any = False
        self.guarded = False        # by baleen.conf
        self.keep_special = False
        self.kind = kind
        self.has_state = True
        self.packets = 0
        self.from_image = False

    def banned(self, what):
        """What a lone address stands for that is typed as a ban: of IPv6 its /64."""
        if self.action != "drop" or not isinstance(what, Span) or what.fam != 6 or \
                what.first != what.last:
            return what
        first = what.first & ~((1 << 64) - 1)
        return Span(6, first, first + (1 << 64) - 1)

    def is_address(self):
        return self.spec in (("src",), ("dst",))

    def takes(self, singles, spec):
        """Those of a rule of its name that are entries of this one, too, and those that are not."""
        if shape(spec) != shape(self.spec):
            return {}, singles
        return singles, {}

    def copy(self):
        new = Rule(self.name, self.action, self.spec, self.quals, self.kind)
        new.__dict__.update(self.__dict__)
        new.feeds = list(self.feeds)
        new.singles = dict(self.singles)
        return new

    def listed(self, key, world):
        if self.is_any:
            return not (self.action == "drop" and self.is_address() and
                        self.withholds(world, *key))
        if not self.is_address():
            return any(s.holds(key) for _, s in self.feeds) or \
                any(s.what == key for s in self.singles.values())
        fam, number = key
        best = (-1, False)
        for single in self.singles.values():
            if single.what.holds(fam, number) and \
                    not (single.yields and world.is_withheld(fam, number)):
                best = max(best, (single.what.length_at(number), single.is_exception))
        guards = self.guarded and self.action == "drop"
        if best[0] >= 0:
            held = not best[1]
        else:
            held = any(s.holds(key) for _, s in self.feeds)
            if held and guards and not self.keep_special:
                held = not any(s.holds(fam, number) for s in SPECIAL_SPANS)
        if held and self.action == "drop":
            held = not is_nobody(fam, number) and not self.withholds(world, fam, number)
        return held

    def withholds(self, world, fam, number):
        """Whatever it came by. By hand, a list is meant as it is, but for never.list."""
        if self.guarded:
            return world.is_withheld(fam, number)
        return self.has_state and world.is_never(fam, number)

    def snapshot(self, world):
        """What it holds now, as a set of its own."""
        frozen = self.copy()
        withheld = list(world.withheld)

        class Then:
            def is_withheld(self, fam, number):
                return any(s.holds(fam, number) for s in withheld)

            def is_never(self, fam, number):
                return any(s.holds(fam, number) for s in withheld[N_HOST:])
        then = Then()
        if self.is_address():
            return Made(lambda key: frozen.listed(key, then), [],
                        self.spans())
        return Made(lambda key: frozen.listed(key, then), [])

    def spans(self):
        out = []
        for _, part in self.feeds:
            out += part.spans()
        out += [s.what for s in self.singles.values() if isinstance(s.what, Span)]
        return out

    def keys(self):
        out = []
        for _, part in self.feeds:
            if isinstance(part, KeySet):
                out += part.keys
        out += [s.what for s in self.singles.values() if not isinstance(s.what, Span)]
        return out

    def qualifies(self, packet):
        quals = self.quals
        if "vlan" in quals and packet["vlan"] != quals["vlan"]:
            return False
        if "proto" in quals and packet["proto"] != quals["proto"]:
            return False
        if "tcp-syn" in quals and not (packet["proto"] == 6 and packet["opens"]):
            return False
        if "dport" in quals:
            if packet["dport"] is None:
                return False
            return any(a <= packet["dport"] <= b for a, b in quals["dport"])
        return True

    def matches(self, packet, world):
        if not self.qualifies(packet):
            return False
        if self.is_address():
            return self.listed((packet["fam"], packet[self.spec[0]]), world)
        key = []
        for field in self.spec:
            if packet[field] is None:
                return False
            value = packet[field]
            key.append((packet["fam"], value) if field in ("src", "dst") else value)
        return self.listed(tuple(key), world)

    def words(self):
        out = []
        if "proto" in self.quals:
            out += ["proto", PROTO_NAME.get(self.quals["proto"], str(self.quals["proto"]))]
        if "dport" in self.quals:
            out += ["dport", ",".join(str(a) if a == b else "%d-%d" % (a, b)
                                      for a, b in self.quals["dport"])]
        if "tcp-syn" in self.quals:
            out.append("tcp-syn")
        if "vlan" in self.quals:
            out += ["vlan", str(self.quals["vlan"])]
        return out


class World:
    """What the model believes of the device."""

    def __init__(self):
        self.attached = False
        self.rules = []
        self.default_drop = False
        self.dry_run = False
        self.unmatched = self.vital = 0
        self.withheld = []          # spans: N_HOST of this host, then never.list
        self.parked = {}            # name of a rule -> [(spec, singles)] that wait for one

    def inherit(self, before):
        """Entries are of the host: those of a rule that goes wait for one of its name."""
        parked = {name: list(waiting) for name, waiting in before.parked.items()}
        for old in before.rules:
            at = self.find(old.name)
            if old.has_state and old.singles and \
                    (at is None or self.rules[at].spec != old.spec):
                parked.setdefault(old.name, []).append((old.spec, dict(old.singles)))
        for rule in self.rules:
            at = before.find(rule.name)
            if not rule.has_state or (at is not None and before.rules[at].spec == rule.spec):
                continue
            rule.singles, left = {}, []
            for spec, singles in parked.pop(rule.name, []):
                mine, others = rule.takes(singles, spec)
                rule.singles.update(mine)
                if others:
                    left.append((spec, others))
            if left:
                parked[rule.name] = left
        self.parked = parked

    def flush_parked(self, name, origin):
        waiting = [(spec, {i: s for i, s in singles.items()
                           if origin is not None and s.origin != origin})
                   for spec, singles in self.parked.get(name, [])]
        self.parked = {**self.parked, name: [w for w in waiting if w[1]]}

    def origins(self, rule):
        """Of all entries that the book has of a rule's name."""
        origins = {}
        for singles in [rule.singles] + [s for _, s in self.parked.get(rule.name, [])]:
            for single in singles.values():
                origins[single.origin] = origins.get(single.origin, 0) + 1
        return origins

    def copy(self):
        new = World()
        new.__dict__.update(self.__dict__)
        new.rules = [r.copy() for r in self.rules]
        new.withheld = list(self.withheld)
        return new

    def is_withheld(self, fam, number):
        return any(s.holds(fam, number) for s in self.withheld)

    def is_never(self, fam, number):
        return any(s.holds(fam, number) for s in self.withheld[N_HOST:])

    def find(self, name):
        for i, rule in enumerate(self.rules):
            if rule.name == name:
                return i
        return None

    def judge(self, packet):
        """(verdict, counters that count it)"""
        counted = []
        if not self.attached:
            return PASS, counted
        for i, rule in enumerate(self.rules):
            if not rule.matches(packet, self):
                continue
            counted.append(i)
            if rule.action == "count":
                continue
            if rule.action == "allow":
                return PASS, counted
            return (PASS if self.dry_run else DROP), counted
        if not self.default_drop:
            counted.append("unmatched")
            return PASS, counted
        if packet["vital"]:
            counted.append("vital")
            return PASS, counted
        counted.append("unmatched")
        return (PASS if self.dry_run else DROP), counted

    def count(self, counted):
        for which in counted:
            if which == "unmatched":
                self.unmatched += 1
            elif which == "vital":
                self.vital += 1
            else:
                self.rules[which].packets += 1
