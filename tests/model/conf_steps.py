# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Steps of a device with a configuration: apply, confirm, update, boot."""
import json
import os
import shutil
import time

from machine import DEV, HOST4, HOST6, RESOLVER
from rules import N_HOST, Rule, Single, World
from sets import Disagreement, net_span


class ConfSteps:
    def conf_rule(self, name=None):
        rng = self.rng
        spec = self.spec()
        rule = Rule(name or self.name(), rng.choice(("drop", "drop", "drop", "allow", "count")),
                    spec, self.quals(spec))
        rule.guarded = True
        rule.keep_special = rng.random() < 0.3
        if rng.random() < 0.07 and spec == ("src",):
            rule.is_any = True
            rule.quals = rule.quals or {"dport": [(443, 443)]}
        else:
            for _ in range(rng.choice((0, 1, 1, 2, 3))):
                rule.feeds.append(self.list_file(spec))
        return rule

    def write_conf(self):
        lines = []
        if self.conf.default_drop:
            lines.append("default drop")
        if self.conf.dry_run:
            lines.append("dry-run")
        for rule in self.conf.rules:
            lines.append("rule %s %s %s" % (rule.name, rule.action, " ".join(rule.words())))
            if rule.spec != ("src",):
                lines.append("    key " + ",".join(rule.spec))
            if rule.is_any:
                lines.append("    any")
            for path, _ in rule.feeds:
                lines.append("    feed " + path)
            if rule.is_any:
                continue
            lines.append("    max-shrink 100%")
            lines.append("    max-coverage 100%")
            lines.append("    max-growth 100%")
            lines.append("    special %s" % ("keep" if rule.keep_special else "remove"))
        with open(os.path.join(self.m.conf_dir, DEV + ".conf"), "w") as file:
            file.write("\n".join(lines) + "\n")
        self.m.note("  conf: " + " / ".join(x.strip() for x in lines))

    def conf_edit(self):
        rng = self.rng
        if self.conf is None:
            self.conf = World()
            for _ in range(rng.randint(1, 6)):
                self.conf.rules.append(self.conf_rule())
            return
        for _ in range(rng.randint(1, 3)):
            kind = rng.random()
            rules = self.conf.rules
            if kind < 0.25 and len(rules) < 14:
                rules.insert(rng.randint(0, len(rules)), self.conf_rule())
            elif kind < 0.35 and len(rules) > 1:
                rules.pop(rng.randrange(len(rules)))
            elif kind < 0.5:
                rng.shuffle(rules)
            elif kind < 0.65:
                rule = rng.choice(rules)
                rule.quals = self.quals(rule.spec)
                if rule.is_any and not rule.quals:
                    rule.quals = {"dport": [(22, 22)]}
            elif kind < 0.75:
                rule = rng.choice(rules)
                rule.action = rng.choice(("drop", "allow", "count"))
            elif kind < 0.85:
                rule = rng.choice(rules)
                if not rule.is_any:
                    if rule.feeds and rng.random() < 0.5:
                        rule.feeds.pop()
                    else:
                        rule.feeds.append(self.list_file(rule.spec))
            elif kind < 0.9:
                self.conf.default_drop = rng.random() < 0.4
            else:
                self.conf.dry_run = rng.random() < 0.2

    def op_apply(self):
        rng = self.rng
        if self.conf is None or rng.random() < 0.7:
            if self.conf is not None and rng.random() < 0.4:
                self.touch_feed()
            self.conf_edit()
            self.write_conf()
        if rng.random() < 0.2:
            self.write_never([self.span() for _ in range(rng.randint(1, 3))])
        after = World()
        after.attached = True
        after.withheld = [net_span(a) for a in (HOST4, HOST6, RESOLVER)] + \
            getattr(self, "never", [])
        after.default_drop, after.dry_run = self.conf.default_drop, self.conf.dry_run
        after.unmatched, after.vital = self.world.unmatched, self.world.vital
        for rule in self.conf.rules:
            new = rule.copy()
            at = self.world.find(rule.name)
            if at is not None and self.world.rules[at].spec == rule.spec:
                new.singles = dict(self.world.rules[at].singles)
                new.packets = self.world.rules[at].packets
            after.rules.append(new)
        after.inherit(self.world)
        status, out, err = self.m.run("apply", "--check", DEV, "--force")
        if status not in (0, 3):
            raise Disagreement("apply --check: exit %d: %s" % (status, err))
        says = status
        confirm = rng.random() < 0.15
        words = ["apply", DEV, "--force"] + (["--confirm", "60s"] if confirm else [])
        killed, faults = self.m.n_killed, self.n.get("faults", 0)
        done = self.do("apply", words, after, ok=(says,), forced=True,
                       resets=not self.world.attached)
        if [s.id for s in self.world.withheld] != [s.id for s in after.withheld]:
            self.write_never(self.world.withheld[N_HOST:])   # or the next change would take it over
        if not done:
            return
        if confirm and says == 3:
            status, _, err = self.m.run("confirm", DEV)
            if status and self.m.n_killed == killed:
                raise Disagreement("confirm: exit %d: %s" % (status, err))
        status, out, err = self.m.run("apply", DEV, "--force")
        # A mark that could not be removed makes the next command look once more.
        if status == 3 and "a change of it was cut short" in out and \
                self.n.get("faults", 0) > faults:
            status, out, err = self.m.run("apply", DEV, "--force")
        if status:
            raise Disagreement("a second apply: exit %d: %s %s" % (status, out, err))

    def write_never(self, spans):
        with open(os.path.join(self.m.conf_dir, "never.list"), "w") as file:
            file.write("".join(s.canonical() + "\n" for s in spans))
        self.m.note("  never.list: " + " ".join(s.canonical() for s in spans))
        self.never = spans

    def op_unconfirmed(self):
        """What is not confirmed goes."""
        if self.conf is None or self.options.kill or not self.world.attached:
            return
        conf, self.conf = self.conf, self.conf.copy()
        self.conf_edit()
        self.write_conf()
        self.ops["unconfirmed"] = self.ops.get("unconfirmed", 0) + 1
        status, _, err = self.m.run("apply", "--confirm", "1s", "--force", DEV)
        if status not in (0, 3):
            raise Disagreement("apply --confirm: exit %d: %s" % (status, err))
        time.sleep(1.9)
        self.conf = conf
        self.write_conf()
        self.resync_names()

    def resync_names(self):
        deadline = time.time() + 4
        while True:
            status, out, _ = self.m.run("status", "-j", DEV)
            told = json.loads(out)[0]
            names = [(r["name"], r["action"]) for r in told["rules"]]
            waits = told["made_of"]["confirm_until_ms"]
            if names == [(r.name, r.action) for r in self.world.rules] and not waits:
                break
            if time.time() > deadline:
                raise Disagreement("not confirmed, and rules are %s (waits: %s), the model says "
                                   "%s" % (names, waits,
                                           [(r.name, r.action) for r in self.world.rules]))
            time.sleep(0.3)
        self.resync()

    def touch_feed(self):
        rng = self.rng
        rules = [r for r in self.conf.rules if r.feeds]
        if not rules:
            return
        rule = rng.choice(rules)
        at = rng.randrange(len(rule.feeds))
        path = rule.feeds[at][0]
        fresh, made = self.list_file(rule.spec)
        os.rename(fresh, path)
        rule.feeds[at] = (path, made)
        self.m.note("  %s is %s now" % (os.path.basename(path), os.path.basename(fresh)))

    def op_update(self):
        if self.conf is None or not self.world.attached:
            return
        self.touch_feed()
        after = self.world.copy()
        for rule in after.rules:
            at = self.conf.find(rule.name)
            if at is None:
                continue
            fresh = dict(self.conf.rules[at].feeds)
            rule.feeds = [(p, fresh.get(p, s)) for p, s in rule.feeds]
        # What intersect, subtract and restore leave as a feed has no source that can be
        # asked: it fails, and the others go on.
        unsourced = "unsourced" in self.options.tolerate and any(not os.path.exists(p) for r in after.rules for p, _ in r.feeds)
        self.do("update", ["update", DEV, "--force"], after,
                ok=(0, 1, 3) if unsourced else (0, 3), forced=True, may_refuse=())

    def op_reapply(self):
        """Off, and on again by what is kept."""
        if not self.world.attached or self.conf is None:
            return
        self.op_detach()
        if self.world.attached:
            return
        self.check_frames()
        if self.rng.random() < 0.5:
            rule = self.pick(lambda r: not r.is_any)
            if rule and rule.is_address():
                after, changed = self.change(rule)
                span = self.span()
                if not self.refused_single(rule, rule.banned(span), False):
                    single = Single(rule.banned(span), False, "manual")
                    changed.singles[single.id()] = single
                    status, _, err = self.m.run("add", "--exist", "%s:%s" % (DEV, rule.name),
                                                span.canonical())
                    if status:
                        raise Disagreement("add while detached: exit %d: %s" % (status, err))
                    self.world = after
        after = self.world.copy()
        after.attached = True
        self.do("restore --boot", ["restore", "--boot", DEV], after, ok=(0,), resets=True,
                forced=True)

    def boot(self):
        after = self.world.copy()
        after.attached = True
        self.do("restore --boot", ["restore", "--boot", DEV], after, ok=(0,), resets=True,
                forced=True)

    # --- power cuts

    def power(self, before, after):
        """What is on the disk is one of the two; off and on again."""
        self.n["power cuts"] = self.n.get("power cuts", 0) + 1
        shutil.rmtree("/sys/fs/bpf/baleen", ignore_errors=True)
        lost = self.m.shadow_restore()
        self.m.note("  power cut: lost %s" % lost)
        status, out, err = self.m.run("restore", "--boot", DEV)
        if status and before.attached:
            raise Disagreement("after a power cut: restore --boot: exit %d: %s (lost %s)" %
                               (status, err, lost))
        if not status and self.m.find_program():
            for world in (before, after):
                world.attached = True
            self.world = before
            if before is not after:
                self.settle(before, after, 0, "")
        self.resync()

    def op_power(self):
        self.ops["power cut"] = self.ops.get("power cut", 0) + 1
        if self.conf is None or not self.world.rules:
            return
        for rule in self.world.rules:
            rule.packets = 0
        self.power(self.world, self.world)
