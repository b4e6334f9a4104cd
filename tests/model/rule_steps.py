# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Steps that change rules, policy and whole lists."""
import os

from machine import DEV
from rules import Rule, World
from sets import Disagreement, Everything, KeySet, Made


class RuleSteps:
    def new_rule(self, name=None, spec=None):
        """(rule, words of the command line)"""
        rng = self.rng
        spec = spec or self.spec()
        name = name or self.name()
        action = rng.choice(("drop", "drop", "drop", "allow", "count"))
        rule = Rule(name, action, spec, {})
        if rng.random() < 0.08 and spec == ("src",):
            rule.is_any = True
            rule.quals = self.quals(spec) or {"dport": [(443, 443)]}
            return rule, ["--" + action, "%s=any" % name] + rule.words()
        path, made = self.list_file(spec)
        rule.quals = self.quals(spec)
        if rng.random() < 0.2:
            path = self.image_of(path, spec)
            rule.from_image = True
        rule.feeds = [(path, made)]
        return rule, ["--" + action, "%s=%s" % (name, path)] + rule.words()

    def image_of(self, path, spec):
        self.counter += 1
        out = os.path.join(self.m.dir, "image%d.bln" % self.counter)
        words = ["build", "-o", out, "--key", ",".join(spec), path]
        kind = self.rng.choice(("cuckoo", "cuckoo", "quotient"))
        words += ["--kind", kind]
        if self.rng.random() < 0.3:
            words += ["--capacity", self.rng.choice((100, 1000, 5000))]
        status, _, err = self.m.run(*words)
        if status:
            raise Disagreement("build: exit %d: %s" % (status, err))
        return out

    def force(self):
        return ["--force"] if self.rng.random() < 0.7 else []

    def op_attach(self):
        rng = self.rng
        if self.world.attached:
            status, _, err = self.m.run("attach", DEV, "--drop", "any")
            if status != 1:
                raise Disagreement("attach of what is attached: exit %d" % status)
            return
        n = rng.choice((1, 1, 2, 3, 5, 8, 16)) if rng.random() < 0.7 else rng.randint(1, 16)
        spec = ("src",) if rng.random() < 0.6 else self.spec()
        after = World()
        after.withheld = self.world.withheld
        after.attached = True
        words = ["attach", DEV]
        for _ in range(n):
            rule, more = self.new_rule(spec=spec)
            rule.has_state = self.mode != "bare"
            after.rules.append(rule)
            words += more
        if spec != ("src",):
            words += ["--key", ",".join(spec)]
        if self.mode == "bare":
            words.append("--no-state")
        if rng.random() < 0.25:
            after.default_drop = True
            words += ["--default", "drop"]
        if rng.random() < 0.1:
            after.dry_run = True
            words.append("--dry-run")
        if rng.random() < 0.2:
            words += ["--sample", "100/s"]
        if rng.random() < 0.1:
            words += ["--capacity", "1000"]
        after.inherit(self.world)
        force = self.force()
        self.do("attach", words + force, after, forced=bool(force), resets=True)

    def op_detach(self):
        after = self.world.copy()
        after.attached = False
        if not self.world.attached:
            return
        if self.mode != "kept":
            after.rules = []
            after.inherit(self.world)
        after.unmatched = after.vital = 0
        for rule in after.rules:
            rule.packets = 0
        self.do("detach", ["detach", DEV], after, resets=True)

    def op_swap(self):
        rng = self.rng
        rule = self.pick()
        if not rule:
            return
        after, changed = self.change(rule)
        path, made = self.list_file(rule.spec)
        changed.from_image = False
        if rng.random() < 0.25:
            path = self.image_of(path, rule.spec)
            changed.from_image = True
        changed.is_any = False
        changed.feeds = [(path, made)]
        force = self.force()
        words = ["swap", "%s:%s" % (DEV, rule.name), path] + force
        if rng.random() < 0.3:
            words.append("--" + rule.action)
        if not rule.is_address() and not changed.from_image:
            words += ["--key", ",".join(rule.spec)]
        elif rule.spec == ("dst",):
            words += ["--key", "dst"]
        self.do("swap", words, after, may_refuse=self.refusals(changed) + self.NOTHING_LEFT,
                forced=bool(force))

    def op_set(self):
        """merge, intersect and subtract into a live rule"""
        rng = self.rng
        rule = self.pick(lambda r: not r.is_any)
        if not rule:
            return
        op = rng.choice(("merge", "merge", "intersect", "subtract"))
        after, changed = self.change(rule)
        path, made = self.list_file(rule.spec)
        if rng.random() < 0.2:
            path = self.image_of(path, rule.spec)
        old = rule.snapshot(self.world)
        if op == "merge":
            if rule.has_state:
                changed.feeds.append((path, made))
                changed.from_image |= path.endswith(".bln")
            else:
                changed.feeds = [("", Made(lambda k: old.holds(k) or made.holds(k), [old, made]))
                                 if rule.is_address() else
                                 ("", KeySet(set(rule.keys()) | made.keys))]
        else:
            keep = (lambda k: old.holds(k) and made.holds(k)) if op == "intersect" else \
                (lambda k: old.holds(k) and not made.holds(k))
            if rule.is_address():
                changed.feeds = [("", Made(keep, [old, made]))]
            else:
                keys = set(rule.keys())
                changed.feeds = [("", KeySet(keys & made.keys if op == "intersect" else
                                             keys - made.keys))]
            changed.from_image = True
        force = self.force()
        words = [op, "%s:%s" % (DEV, rule.name), path] + force
        self.do(op, words, after, forced=bool(force),
                may_refuse=("hash", "cannot be listed", "its image:", "without the list",
                            "geometry", "seed", "no key", "build it again", ": kind quotient", ": kind cuckoo"))

    def op_resize(self):
        rule = self.pick(lambda r: not r.is_any)
        if not rule or (self.mode == "bare" and "resize" in self.options.tolerate):
            return
        self.do("resize", ["resize", "--capacity", self.rng.choice((50, 300, 2000, 10000)),
                           "%s:%s" % (DEV, rule.name)], self.world.copy(),
                may_refuse=("hash", "room", "holds", "its image:", "slots", "fewer"))

    def op_rule_add(self):
        rng = self.rng
        if len(self.world.rules) >= 16:
            status, _, err = self.m.run("rule", "add", DEV, "--drop", "seventeen=any", "--force")
            if status != 1:
                raise Disagreement("a 17th rule: exit %d: %s" % (status, err))
            return
        rule, more = self.new_rule()
        rule.has_state = self.mode != "bare"
        after = self.world.copy()
        place, at = [], len(after.rules)
        kind = rng.random()
        if kind < 0.25:
            place, at = ["--first"], 0
        elif kind < 0.4:
            place = ["--last"]
        elif after.rules and kind < 0.8:
            other = rng.randrange(len(after.rules))
            if rng.random() < 0.5:
                place, at = ["--before", after.rules[other].name], other
            else:
                place, at = ["--after", after.rules[other].name], other + 1
        after.rules.insert(at, rule)
        after.inherit(self.world)
        force = self.force()
        words = ["rule", "add", DEV] + place + more + force
        if rule.spec != ("src",):
            words += ["--key", ",".join(rule.spec)]
        self.do("rule add", words, after, forced=bool(force))

    def op_rule_del(self):
        if len(self.world.rules) < 2:
            return
        rng = self.rng
        after = self.world.copy()
        names = rng.sample([r.name for r in after.rules],
                           rng.randint(1, min(2, len(after.rules) - 1)))
        after.rules = [r for r in after.rules if r.name not in names]
        after.inherit(self.world)
        force = self.force()
        self.do("rule del", ["rule", "del"] + ["%s:%s" % (DEV, n) for n in names] + force, after,
                forced=bool(force))

    def op_rule_move(self):
        if len(self.world.rules) < 2:
            return
        rng = self.rng
        after = self.world.copy()
        rule = after.rules.pop(rng.randrange(len(after.rules)))
        other = rng.randrange(len(after.rules))
        choice = rng.randrange(4)
        place, at = [(["--first"], 0), (["--last"], len(after.rules)),
                     (["--before", after.rules[other].name], other),
                     (["--after", after.rules[other].name], other + 1)][choice]
        after.rules.insert(at, rule)
        force = self.force()
        self.do("rule move", ["rule", "move", "%s:%s" % (DEV, rule.name)] + place + force, after,
                forced=bool(force))

    def op_policy(self):
        rng = self.rng
        after = self.world.copy()
        words = ["policy", DEV]
        if rng.random() < 0.6:
            after.default_drop = rng.random() < 0.4
            words += ["--default", "drop" if after.default_drop else "pass"]
        if rng.random() < 0.4:
            after.dry_run = rng.random() < 0.3
            words.append("--dry-run" if after.dry_run else "--enforce")
        if rng.random() < 0.2:
            words += rng.choice((["--sample", "50/s"], ["--no-sample"]))
        force = self.force()
        if len(words) == 2:
            return
        self.do("policy", words + force, after, forced=bool(force))

    def op_save(self):
        self.counter += 1
        path = os.path.join(self.m.dir, "saved%d" % self.counter)
        status, out, err = self.m.run("save", DEV, "-o", path)
        self.ops["save"] = self.ops.get("save", 0) + 1
        if status:
            raise Disagreement("save: exit %d: %s" % (status, err))
        world = self.world.copy()
        for rule in world.rules:
            if rule.is_any:
                rule.frozen = Everything()
            elif rule.is_address():
                rule.frozen = rule.snapshot(self.world)
            else:
                rule.frozen = KeySet(rule.keys())
        self.saved = (path, world)

    def op_restore(self):
        if not self.saved:
            return
        path, saved = self.saved
        after = World()
        after.withheld = self.world.withheld
        after.attached = True
        after.default_drop, after.dry_run = saved.default_drop, saved.dry_run
        if self.world.attached:
            after.unmatched, after.vital = self.world.unmatched, self.world.vital
        for rule in saved.rules:
            new = rule.copy()
            new.singles, new.packets = {}, 0
            new.is_any = False
            new.guarded = False
            new.feeds = [(path, rule.frozen)]
            new.from_image = True
            new.has_state = self.mode != "bare" or not self.world.attached
            at = self.world.find(rule.name)
            if at is not None and self.world.attached:
                old = self.world.rules[at]
                if old.spec == rule.spec:
                    new.packets = old.packets
                    new.singles = dict(old.singles)
                    new.guarded, new.keep_special = old.guarded, old.keep_special
            after.rules.append(new)
        if self.mode == "bare" and self.world.attached:
            for rule in after.rules:
                rule.has_state = False
        after.inherit(self.world)
        force = self.force()
        if not self.world.attached and self.mode == "bare":
            return
        self.do("restore", ["restore", DEV, path] + force, after, forced=bool(force),
                may_refuse=("its image:", "hash"), resets=True)

    def op_refresh(self):
        self.do("refresh", ["refresh", "--force", DEV], self.world.copy())
