#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The protocol of a fleet, checked in every order: docs/fleet-protocol.md has its invariants.

    model.py [new|before] [SECONDS]

Two operators, one of which also bans, and a host that only listens; a broker that may lose, repeat,
reorder, rewind and withhold, whose clock may be set back, and hosts that lose their disk: at most
two faults a run. All interleavings of what people do, of deliveries and of faults are tried; in
each state in which nothing is left to be done the invariants are asked.

"before" has the rules of before: pardons and suspensions beside the logs, with times of the
broker's clock, and logs that begin empty after a loss of the disk. It prints which invariants
each set of rules breaks, with the shortest run that does.
"""

import sys
import time
from collections import namedtuple

HOSTS = "OBR"
# Logs: who writes them. b: bans of B; o, q: what the operators on O and on B say.
OWNER = {"b": "B", "o": "O", "q": "B"}
# Ten minutes each. The broker's clock is set back by STEP; a ban lasts TTL.
STEP, TTL = 3, 5
MAX_FAULTS = 2
NEVER = -99

# An entry: what ("ban", "pardon", "suspend", "resume"), when it was made, and when it ends.
Entry = namedtuple("Entry", "what made end")
# What a host knows of a log: incarnation, number, entries (before: also of words that it has heard
# beside logs), the largest number that a head told of.
Known = namedtuple("Known", "incarnation number entries told")
State = namedtuple("State", "t broker offset log incarnation known lost hidden did facts faults end")


def replace(pairs, key, value):
    """One pair of a tuple of pairs."""
    return tuple((k, value if k == key else v) for k, v in pairs)


def get(pairs, key):
    """Its value."""
    for k, v in pairs:
        if k == key:
            return v
    raise KeyError(key)


class Rules:
    """new: what an operator says is a log; before: it is not."""

    def __init__(self, is_new, logs):
        self.is_new = is_new
        self.logs = logs

    def start(self):
        """Nothing has happened."""
        blank = Known(0, 0, (), 0)
        return State(0, 0, tuple((h, 0) for h in HOSTS), tuple((l, ()) for l in self.logs),
                     tuple((l, 1) for l in self.logs),
                     tuple(((h, l), blank) for h in HOSTS for l in self.logs), (), (), (), (), 0, None)

    # --- times -----------------------------------------------------------------------

    def now(self, s, h):
        """The broker's time, as a host believes it."""
        return s.t + get(s.offset, h)

    def latest(self, s, h):
        """The latest time that a host has heard of."""
        return max((e.made for l in self.logs for e in get(s.known, (h, l)).entries),
                   default=NEVER)

    def pardoned(self, s, h):
        """The latest pardon that a host has heard of."""
        return max((e.made for l in self.logs for e in get(s.known, (h, l)).entries
                    if e.what == "pardon"), default=NEVER)

    def made(self, s, h, what):
        """When what is said now is said to be made."""
        now = self.now(s, h)
        if not self.is_new:
            return now
        return max(now, (self.pardoned if what == "ban" else self.latest)(s, h) + 1)

    def signed(self, s, l):
        """When the newest message of a log is signed: now, and not before what it says."""
        now = self.now(s, OWNER[l])
        if self.is_new:
            return max([now] + [e.made for e in get(s.log, l)])
        return now

    def is_early(self, s, h, l):
        """Is it signed in the future? New, that may be so as far as a clock may be set."""
        return not self.is_new and self.signed(s, l) > self.now(s, h)

    # --- what people do ----------------------------------------------------------------

    def say(self, s, l, what):
        """Its owner says something, and has it himself."""
        h = OWNER[l]
        entry = Entry(what, self.made(s, h, what), self.now(s, h) + TTL)
        log = get(s.log, l) + (entry,)
        known = get(s.known, (h, l))
        known = known._replace(incarnation=get(s.incarnation, l), number=len(log), told=len(log),
                               entries=known.entries + (entry,))
        return s._replace(log=replace(s.log, l, log), known=replace(s.known, (h, l), known))

    def counts(self, s, h):
        """Does the ban of B count on a host? A word on B, and a pardon, go by their times."""
        said = [e for l in self.logs if l != "b" for e in get(s.known, (h, l)).entries]
        words = sorted((e.made, e.what == "suspend") for e in said
                       if e.what in ("suspend", "resume"))
        if words and words[-1][1]:
            return False
        return any(e.made > self.pardoned(s, h) for e in get(s.known, (h, "b")).entries)

    # --- deliveries ----------------------------------------------------------------------

    def take_beside(self, s, h, l, n):
        """Before: a control message stands alone; the newer of two about the same counts."""
        known = get(s.known, (h, l))
        entry = get(s.log, l)[n]
        if entry in known.entries:
            return s
        known = known._replace(entries=known.entries + (entry,))
        return s._replace(known=replace(s.known, (h, l), known))

    def take(self, s, h, l, n):
        """A batch with change n + 1: applied when it is the next one; else a gap, or nothing."""
        known = get(s.known, (h, l))
        log, incarnation = get(s.log, l), get(s.incarnation, l)
        if not self.is_new and l != "b":
            return self.take_beside(s, h, l, n)
        is_blank = not known.incarnation and n == 0
        if known.incarnation != incarnation and not is_blank:
            return s
        if n + 1 <= known.number:
            return s
        told = max(known.told, n + 1)
        if n + 1 > known.number + 1 or self.is_early(s, h, l):
            known = known._replace(told=told)
        else:
            entry = log[n]._replace(made=min(log[n].made, self.signed(s, l)))
            known = Known(incarnation, n + 1, known.entries + (entry,), told)
        return s._replace(known=replace(s.known, (h, l), known))

    def head(self, s, h, l):
        """A head tells how far the log is."""
        known = get(s.known, (h, l))
        log, incarnation = get(s.log, l), get(s.incarnation, l)
        if self.is_early(s, h, l):
            return s
        # Of another incarnation all is missing, and the later one counts, whatever clocks say.
        told = len(log) if known.incarnation == incarnation else known.number + bool(log)
        return s._replace(known=replace(s.known, (h, l), known._replace(told=max(told, known.told))))

    def snapshot(self, s, h, l):
        """All of a log, for who lacks some of it."""
        known = get(s.known, (h, l))
        log, incarnation = get(s.log, l), get(s.incarnation, l)
        if known.told <= known.number or self.is_early(s, h, l):
            return s
        entries = tuple(e._replace(made=min(e.made, self.signed(s, l))) for e in log)
        known = Known(incarnation, len(log), entries, len(log))
        return s._replace(known=replace(s.known, (h, l), known))

    # --- clocks ------------------------------------------------------------------------

    def believe(self, s, h):
        """The broker's clock has been steady for long enough after it was set."""
        delta = s.broker - get(s.offset, h)
        s = s._replace(offset=replace(s.offset, h, s.broker))
        # Bans that are published here are published anew, with their ends moved along. When something
        # was made stays as it is: that is an order, and no time.
        if self.is_new and OWNER["b"] == h and get(s.log, "b"):
            log = tuple(e._replace(end=e.end + delta) for e in get(s.log, "b"))
            s = self.renew(s, "b", log)
        return s

    def renew(self, s, l, log):
        """The next incarnation of a log."""
        h, incarnation = OWNER[l], get(s.incarnation, l) + 1
        known = Known(incarnation, len(log), log, len(log))
        return s._replace(log=replace(s.log, l, log),
                          incarnation=replace(s.incarnation, l, incarnation),
                          known=replace(s.known, (h, l), known),
                          lost=tuple(x for x in s.lost if x[0] != l))

    def lose_disk(self, s, l):
        """The owner of a log has lost it: new, it inherits what the broker has, signed by itself."""
        return self.renew(s, l, get(s.log, l) if self.is_new else ())


# --- all runs ---------------------------------------------------------------------------------


def can_say(rules, s, scenario):
    """What people may do now, and what they knew when they did."""
    did = dict(s.did)
    for what, l, after in scenario:
        if what in did or (after and after not in did):
            continue
        h = OWNER[l]
        kind = what.rstrip("2")
        if kind == "resume" and not any(
                e.what == "suspend" for e in get(s.known, (h, "o")).entries):
            continue
        new = rules.say(s, l, kind)
        knew = tuple(sorted({e.what for m in rules.logs
                             for e in get(s.known, (h, m)).entries}))
        yield f"{h}: {what}", new._replace(did=s.did + ((what, s.t),),
                                          facts=s.facts + ((what, knew),))


def can_deliver(rules, s):
    """What the broker gives, and hosts do by themselves."""
    for h in HOSTS:
        for l in rules.logs:
            if OWNER[l] == h or (h, l, "all") in s.hidden:
                continue
            known = get(s.known, (h, l))
            beside = not rules.is_new and l != "b"
            numbers = range(len(get(s.log, l))) if beside else \
                range(known.number, min(known.number + 1, len(get(s.log, l))))
            for n in numbers:
                if (l, n) not in s.lost and (h, l, "messages") not in s.hidden:
                    yield f"{h} <- {l}{n + 1}", rules.take(s, h, l, n)
            if beside:
                continue
            # A head, and the snapshot that it asks for.
            told = rules.head(s, h, l)
            if (h, l, "messages") not in s.hidden:
                told = rules.snapshot(told, h, l)
            yield f"{h} <- head of {l}", told
    # Before: each host gives the broker control messages that it lacks.
    if not rules.is_new and any(l != "b" for l, _ in s.lost):
        yield "controls are put back", s._replace(lost=tuple(x for x in s.lost if x[0] == "b"))
    for h in HOSTS:
        if get(s.offset, h) != s.broker:
            yield f"{h} believes the clock", rules.believe(s, h)


def can_fail(rules, s):
    """One fault more."""
    if s.faults == MAX_FAULTS:
        return
    more = s._replace(faults=s.faults + 1)
    for l in rules.logs:
        n = len(get(s.log, l))
        if not n:
            continue
        yield f"lost: {l}{n}", more._replace(lost=tuple(sorted(set(s.lost) | {(l, n - 1)})))
        yield f"rewound: {l}", more._replace(
            lost=tuple(sorted(set(s.lost) | {(l, i) for i in range(n)})))
        yield f"disk lost: {l}", rules.lose_disk(more, l)
        if n > 1:
            yield f"R <- {l}{n}, before others", rules.take(more, "R", l, n - 1)
        yield f"R <- {l}1, again", rules.take(more, "R", l, 0)
        for what in ("messages", "all"):
            yield f"withheld from R: {what} of {l}", more._replace(
                hidden=tuple(sorted(set(s.hidden) | {("R", l, what)})))
    if not s.broker:
        yield "the broker's clock is set back", more._replace(broker=-STEP)


# --- invariants ---------------------------------------------------------------------------------


def broken(rules, s):
    """The invariants that a state breaks in which nothing is left to be done."""
    did, facts = dict(s.did), dict(s.facts)
    for l in rules.logs:
        known = get(s.known, ("R", l))
        lacks = get(s.log, l) and len(known.entries) < len(get(s.log, l))
        beside = not rules.is_new and l != "b"
        tells = not beside and (("R", l, "all") in s.hidden or known.told > known.number)
        if lacks and not tells:
            yield "I1 what is withheld is seen"
    def has(h, *whats):
        """Does it have all of them?"""
        all_of = [e.what for l in rules.logs for e in get(s.known, (h, l)).entries]
        return all(all_of.count(w.rstrip("2")) >= (2 if w.endswith("2") else 1) for w in whats)
    def has_all(h):
        """Is nothing kept from it, that it knows of?"""
        return all(OWNER[l] == h or not get(s.log, l) or (not rules.is_new and l != "b") or
                   (get(s.known, (h, l)).incarnation == get(s.incarnation, l) and
                    get(s.known, (h, l)).number == len(get(s.log, l))) for l in rules.logs)
    for h in filter(has_all, HOSTS):
        if "pardon" in did and "ban2" not in did and "ban" in facts["pardon"] and \
                has(h, "ban", "pardon") and rules.counts(s, h):
            yield "I2 a pardon lets go what its operator knew of"
        if "ban2" in did and "pardon" in facts["ban2"] and has(h, "ban2", "pardon") and \
                not rules.counts(s, h):
            yield "I3 a ban that was made since counts"
        if "resume" in did and has(h, "suspend", "resume", "ban") and not rules.counts(s, h):
            yield "I4 the last word on a publisher counts"
        if "ban" in did and not {"pardon", "suspend"} & set(did) and h != "B" and \
                not has(h, "ban") and not s.hidden:
            yield "I5 what was banned stays, and comes"
    for l in rules.logs:
        log = [e.what for e in get(s.log, l)]
        for h in HOSTS:
            known = get(s.known, (h, l))
            if known.incarnation == get(s.incarnation, l) and (rules.is_new or l == "b") and \
                    [e.what for e in known.entries] != log[:len(known.entries)]:
                yield "I6 what a host has is a beginning of the log"


def ends(rules, s):
    """A ban lasts TTL on every host that has it, by a clock on the wall; 1 more at the most."""
    made = dict(s.did)["ban"]
    for h in HOSTS if "ban2" not in dict(s.did) else "":
        known = get(s.known, (h, "b"))
        if known.incarnation != get(s.incarnation, "b"):
            continue
        for e in known.entries:
            left = e.end - rules.now(s, h)
            if e.what == "ban" and abs(left - (made + TTL - s.t)) > 1:
                yield "I7 a ban lasts as long as it says"


# What people do, in which log, and after what.
SCENARIOS = {
    "an end": ("b", (("ban", "b", None),)),
    "a suspension": ("boq", (("ban", "b", None), ("suspend", "o", "ban"),
                             ("resume", "q", "suspend"))),
    "a pardon": ("bo", (("ban", "b", None), ("pardon", "o", None), ("ban2", "b", "pardon"))),
}


def steps(rules, s, scenario):
    """All that may happen next."""
    yield from can_say(rules, s, scenario)
    for name, new in can_deliver(rules, s):
        if new != s:
            yield name, new
    yield from can_fail(rules, s)


def is_done(rules, s):
    """Nothing is left that a host or the broker does by itself."""
    return all(new == s for _, new in can_deliver(rules, s))


def search(rules, scenario, until, found):
    """Each state once, the shortest runs first."""
    start = rules.start()
    before = {start: None}
    level, n = [start], 0
    while level:
        following = []
        for s in level:
            n += 1
            if n % 1024 == 0 and time.monotonic() > until:
                return n, False
            if is_done(rules, s):
                bad = list(broken(rules, s))
                if "ban" in dict(s.did):
                    bad += ends(rules, s)
                for name in bad:
                    found.setdefault(name, path(before, s))
            for name, new in steps(rules, s, scenario):
                # Time goes on with what people do, which is what its order is about.
                if new.did != s.did:
                    new = new._replace(t=s.t + 1)
                if new not in before:
                    before[new] = (s, name)
                    following.append(new)
        level = following
    return n, True


def path(before, s):
    """What happened."""
    names = []
    while before[s]:
        s, name = before[s]
        names.append(name)
    return "; ".join(reversed(names))


def main():
    """Prints what is broken; ends with 1 when something is, with 2 when time was too short."""
    name = sys.argv[1] if len(sys.argv) > 1 else "new"
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 600
    if name not in ("new", "before"):
        sys.exit("model.py [new|before] [SECONDS]")
    found, is_whole = {}, True
    until = time.monotonic() + seconds
    for title, (logs, scenario) in SCENARIOS.items():
        begun = time.monotonic()
        n, whole = search(Rules(name == "new", logs), scenario, until, found)
        is_whole &= whole
        print(f"# {name}, {title}: {n} states{'' if whole else ', not all'},"
              f" {time.monotonic() - begun:.0f} s")
    for invariant in sorted(found):
        print(f"broken: {invariant}\n  {found[invariant]}")
    sys.exit(1 if found else 0 if is_whole else 2)


if __name__ == "__main__":
    main()
