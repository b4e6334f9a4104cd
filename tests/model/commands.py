# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Commands, whole, killed or with a failing call, and what they may leave."""
import json

from frames import frame_of
from machine import DEV
from rules import N_HOST
from sets import BITS, Disagreement, to_text


FORCE_TEXT = "cut itself off"


class Commands:
    def do(self, what, words, after, stdin=None, ok=(0,), may_refuse=(), again=None, resets=False,
           forced=False):
        """Runs a command that should lead to the world `after`."""
        self.ops[what] = self.ops.get(what, 0) + 1
        kill = self.rng.random() < self.options.kill
        if kill:
            return self.do_killed(what, words, after, stdin, again, resets)
        if self.rng.random() < self.options.fault and 1 not in ok:
            return self.do_faulted(what, words, after, stdin, again, ok)
        status, out, err = self.m.run(*words, stdin=stdin)
        if status in ok:
            if not forced and after.attached and not after.dry_run:
                cut = self.host_is_cut(self.world, after)
                if cut and self.mode != "kept":
                    raise Disagreement("%s: took what drops %s of this host, without --force" %
                                       (what, cut))
            self.world = after
            return True
        if not forced and FORCE_TEXT in err:
            if not self.could_be_cut(after):
                raise Disagreement("%s: refused, though nothing drops this host: %s" % (what, err))
            self.n["guarded"] += 1
            return False
        # A list that is typed, and has what never.list has now.
        if self.world.withheld[N_HOST:] and "is never dropped (" in err:
            self.n["refused"] += 1
            return False
        for text in may_refuse:
            if text in err:
                self.n["refused"] += 1
                return False
        raise Disagreement("%s: exit %d: %s%s" % (what, status, err, out[-300:]))

    def do_killed(self, what, words, after, stdin, again, resets):
        if again is None:
            again = words
        delay = self.rng.choice((self.rng.random() * 0.1, self.rng.random() * 0.04))
        status, out, err = self.m.run(*words, stdin=stdin, kill_after=delay)
        before = self.world
        if status != -9:        # it was faster
            if status not in (0, 3):
                return False
            self.world = after
            return True
        self.n["killed"] += 1
        if self.m.shadow and self.rng.random() < 0.6 and before.rules and before.attached and \
                after.attached:
            after = after.copy()
            return self.power(before.copy(), after)
        if before.attached and after.attached:
            self.expected = after
            try:
                self.check_frames(also=after)
            finally:
                self.expected = None
        status, out, err = self.m.run(*again, stdin=stdin)
        if status not in (0, 3):
            # Done already, or refused: which of the two worlds is it?
            self.settle(before, after, status, err)
        else:
            self.world = after
        self.resync()
        return True

    FAULTS = (("write", 60), ("sync", 10), ("name", 18), ("open", 25), ("mem", 3500), ("map", 4),
              ("bpf", 45), ("net", 35))

    IN_FORCE = 4        # done, and not kept: the disk takes no more

    def do_faulted(self, what, words, after, stdin, again, ok):
        """One call of the system fails, or all from then on: the command says so, and nothing
        has changed; or it does what it should all the same."""
        rng = self.rng
        kind, n = rng.choice(self.FAULTS)
        errno = rng.choice((28, 5, 12, 1)) if kind in ("write", "sync", "name", "open") else \
            rng.choice((12, 12, 1, 16, 22, 7))
        fault = "%s:%d:%d%s" % (kind, rng.randrange(n), errno, rng.choice(("", "", "+")))
        self.m.note("  fault " + fault)
        before = self.world
        status, out, err = self.m.run(*words, stdin=stdin,
                                      env={"LD_PRELOAD": self.options.shim, "SHIM_FAIL": fault})
        self.n["faults"] = self.n.get("faults", 0) + 1
        self.faulted = (what, fault, status, err.strip()[-200:])
        if status in ok or status == self.IN_FORCE:
            self.world = after
            self.n["fault passed"] = self.n.get("fault passed", 0) + 1
            self.check_frames()
            return True
        if "its last good copy stays in force" in err:
            # Of one feed, maybe not the one that changed: the others are taken.
            self.settle(before, after, status, err)
            before = self.world
        # A text that does not fit the fault may be the refusal of any command.
        self.n["fault failed"] = self.n.get("fault failed", 0) + 1
        try:
            self.check_frames()
        except Disagreement as why:
            if not self.options.soft:
                raise Disagreement("after fault %s (exit %d: %s): %s" % (fault, status, err, why))
            self.n["fault CHANGED"] = self.n.get("fault CHANGED", 0) + 1
            self.m.note("  !!! fault %s of %s: exit %d %s, and yet: %s" % (fault, what, status,
                                                                          err, why))
            print("after fault %s of %s (exit %d: %s): %s" % (fault, what, status, err.strip(),
                                                              str(why)[:200]))
        status, out, err = self.m.run(*(again or words), stdin=stdin)
        if status in ok or status in (0, 3):
            self.world = after
        else:
            self.settle(before, after, status, err)
        self.resync()
        return True

    def settle(self, before, after, status, err):
        status2, out, _ = self.m.run("status", "-j", DEV)
        attached = status2 == 0
        told = json.loads(out)[0] if attached else None
        names = [r["name"] for r in told["rules"]] if attached else []
        # The same command that is refused now was refused then, if that is why.
        texts = self.IMAGE_REFUSALS + (FORCE_TEXT, "hash", "room")
        order = (before, after) if any(t in err for t in texts) else (after, before)
        # never.list is a file: whoever opens the device follows it, whatever rules it has.
        followed = before.copy()
        followed.withheld = list(after.withheld)
        order += (followed,)
        fits = [w for w in order if attached == w.attached and
                (not attached or self.is_as_told(w, told))]
        self.expected = after
        packets = self.points(500, 200)
        self.expected = None
        self.m.find_program()
        verdicts = [self.m.ask(frame_of(p, 0)) for p in packets]
        then = self.m.run("status", "-j", DEV)[1] if attached else None
        for world in fits:
            if verdicts == [world.judge(p)[0] for p in packets] and \
                    self.same_sets(world, before if world is after else after) and \
                    self.same_origins(world, out if attached else None) and \
                    (not attached or self.counted_by(world, packets, out, then)):
                self.world = world
                return
        raise Disagreement("after a kill, and the command again (exit %d: %s): rules %s" %
                           (status, err, names))

    @staticmethod
    def is_as_told(world, told):
        """Rules and policy: of a dry run no packet tells."""
        return [(r["name"], r["action"]) for r in told["rules"]] == \
            [(r.name, r.action) for r in world.rules] and \
            (told["default"], told["dry_run"]) == \
            ("drop" if world.default_drop else "pass", world.dry_run)

    def same_sets(self, world, other):
        """Does each live rule hold what this world says, where the other one says otherwise?
        A packet does not always tell: another rule may decide, or not even be asked."""
        if not world.attached or not other.attached:
            return True
        for rule in world.rules:
            at = other.find(rule.name)
            if rule.is_any or at is None or other.rules[at].spec != rule.spec:
                continue
            keys = {}
            for key in self.ends(rule) + self.ends(other.rules[at]):
                held = rule.listed(key, world)
                if held != other.rules[at].listed(key, other):
                    text = to_text(*key) if rule.is_address() else self.tuple_text(rule.spec, key)
                    keys[text] = held
            some = sorted(keys)[:200]
            if not some:
                continue
            _, out, _ = self.m.run("match", "%s:%s" % (DEV, rule.name), *some)
            wrong = set(out.split()) ^ {k for k in some if keys[k]}
            if wrong:
                self.m.note("  unlike one of the two: rule %s about %s of %d" %
                            (rule.name, sorted(wrong)[:5], len(some)))
                return False
        return True

    @staticmethod
    def ends(rule):
        """Keys of a rule, or the addresses at both sides of its spans' ends."""
        if not rule.is_address():
            return rule.keys()
        return [(span.fam, number) for span in rule.spans()
                for number in (span.first - 1, span.first, span.last, span.last + 1)
                if 0 <= number < 1 << BITS[span.fam] and
                not (span.fam == 6 and number >> 32 == 0xffff)]

    @staticmethod
    def counted_by(world, packets, before, then):
        """Were these packets counted between two statuses as this world would?"""
        before, then = json.loads(before)[0], json.loads(then)[0]
        n = [0] * len(world.rules)
        for packet in packets:
            for which in world.judge(packet)[1]:
                if not isinstance(which, str):
                    n[which] += 1
        return n == [b["packets"] - a["packets"] for a, b in zip(before["rules"], then["rules"])]

    @staticmethod
    def same_origins(world, out):
        if out is None:
            return True
        for rule, has in zip(world.rules, json.loads(out)[0]["rules"]):
            if rule.has_state and has.get("origins", {}) != world.origins(rule):
                return False
        return True

    def resync(self):
        """Counters may have begun anew: go on from what is there."""
        status, out, _ = self.m.run("status", "-j", DEV)
        self.world.attached = status == 0
        if status:
            return
        told = json.loads(out)[0]
        for rule, has in zip(self.world.rules, told["rules"]):
            rule.packets = has["packets"]
        self.world.unmatched, self.world.vital = told["unmatched"], told["vital"]
