# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Steps that change single entries."""
import json
import time

from machine import DEV
from rules import N_HOST, Single, is_nobody
from sets import Disagreement, KeySet, Made, Span


class EntrySteps:
    def pick(self, test=lambda r: True):
        rules = [r for r in self.world.rules if test(r)]
        return self.rng.choice(rules) if rules else None

    def change(self, rule):
        """A copy of the world, and the rule in it."""
        after = self.world.copy()
        return after, after.rules[after.find(rule.name)]

    IMAGE_REFUSALS = ("its image:", "build it again", "hashes", "cannot be listed", "whole keys",
                      "without the list")

    # All of a list is in special-purpose ranges, and its rule takes those out.
    NOTHING_LEFT = ("not a single key outside of special-purpose ranges",)

    def refusals(self, rule):
        return self.IMAGE_REFUSALS if rule.from_image else ()

    def some_what(self, rule, for_del=False):
        rng = self.rng
        if not rule.is_address():
            keys = rule.keys()
            if keys and rng.random() < (0.8 if for_del else 0.2):
                return rng.choice(keys)
            return self.tuple_key(rule.spec)
        spans = [s.what for s in rule.singles.values()]
        if spans and rng.random() < (0.85 if for_del else 0.2):
            return rng.choice(spans)
        all_spans = rule.spans()
        if all_spans and rng.random() < 0.4:
            other = rng.choice(all_spans)
            number = rng.choice((other.first, other.last, rng.randint(other.first, other.last)))
            size = 1 << rng.choice((0, 0, rng.randint(0, 16)))
            first = number & ~(size - 1)
            return Span(other.fam, first, first + size - 1)
        return self.span()

    def text_of(self, rule, what):
        return self.span_text(what) if isinstance(what, Span) else \
            self.tuple_text(rule.spec, what)

    def protected_in(self, rule, what, force):
        """What of a span a drop rule does not take."""
        if rule.action != "drop" or not rule.is_address():
            return []
        forced = force and not rule.guarded
        return [s for s in self.world.withheld[N_HOST if forced else 0:]
                if what.fam == s.fam and what.first <= s.last and s.first <= what.last]

    def is_wide(self, rule, what):
        return rule.action == "drop" and rule.is_address() and \
            what.last - what.first >= 1 << (24 if what.fam == 4 else 96)

    def refused_single(self, rule, what, force):
        """What a drop rule does not take of a person."""
        return bool(self.protected_in(rule, what, force)) or self.is_nobody(rule, what) or \
            (not force and self.is_wide(rule, what))

    @staticmethod
    def is_nobody(rule, what):
        return rule.action == "drop" and rule.is_address() and what.first == what.last and \
            is_nobody(what.fam, what.first)

    def refused_fed(self, rule, what):
        """What it does not take of a program: all of it is protected, or it is too wide."""
        if self.is_wide(rule, what):
            return True
        protected = sorted(self.protected_in(rule, what, False), key=lambda s: s.first)
        if not protected:
            return self.is_nobody(rule, what)
        number = what.first
        for span in protected:
            if span.first <= number <= span.last:
                number = span.last + 1
        return number > what.last

    def op_add(self):
        rng = self.rng
        rule = self.pick(lambda r: not r.is_any)
        if not rule:
            return
        if self.mode == "bare":
            return self.bare_change(rule, True)
        after, changed = self.change(rule)
        n = rng.choice((1, 1, 1, 2, 5, 20))
        origin = rng.choice((None, None, "one", "two"))
        force = self.force()
        words = ["add"]
        if origin:
            words += ["--origin", origin]
        if rng.random() < 0.3:
            words += ["--ttl", rng.choice(("1h", "2d", "90m"))]
        if rng.random() < 0.2:
            words += ["--reason", rng.choice(("a reason", "x;y 'z'", "gr\u00fcn"))]
        exist = rng.random() < 0.6
        if exist:
            words.append("--exist")
        if rng.random() < 0.2:
            words.append("--atomic")
        from_file = rng.random() < 0.3 and n > 1
        texts, there, refused = [], False, 0
        for _ in range(n):
            what = self.some_what(rule)
            is_exception = rule.is_address() and rng.random() < 0.2
            text = self.text_of(rule, what)
            if not from_file and not is_exception and "/" not in text and "-" not in text:
                what = rule.banned(what)
            single = Single(what, is_exception, origin or "manual")
            if not is_exception and self.refused_single(rule, what, bool(force)):
                refused += 1
                texts.append(text)
                continue
            # Existence is asked of the state as it was before the command.
            there |= single.id() in rule.singles
            changed.singles[single.id()] = single
            texts.append(("!" if is_exception else "") + text)
        if there and not exist:
            status, _, err = self.m.run(*(words + force + ["%s:%s" % (DEV, rule.name)] + texts))
            self.ops["add there"] = self.ops.get("add there", 0) + 1
            if status != 1 or "nothing changed" not in err:
                if refused and status == 1:
                    return
                raise Disagreement("add of what is there: exit %d: %s" % (status, err))
            return
        stdin = None
        if from_file:
            words += ["-f", "-", "%s:%s" % (DEV, rule.name)]
            stdin = "\n".join(t + rng.choice(("", " # x", "\t; y")) for t in texts) + "\n"
        else:
            words += ["%s:%s" % (DEV, rule.name)] + texts
        if refused:
            # All or some are refused: what was, is told by the state of the entries.
            self.m.run(*(words + force), stdin=stdin)
            self.ops["add refused"] = self.ops.get("add refused", 0) + 1
            return self.fix_refused(rule, after, changed)
        self.do("add", words + force, after, stdin=stdin, may_refuse=self.refusals(rule),
                again=[w for w in words if w != "--exist"][:1] + ["--exist"] +
                [w for w in words if w != "--exist"][1:] + ["--force"], forced=bool(force))

    def fix_refused(self, rule, after, changed):
        """Either nothing has changed (the guard of the command), or all but the refused."""
        status, out, _ = self.m.run("status", "-j", DEV)
        origins = {}
        if status == 0:
            for has in json.loads(out)[0]["rules"]:
                if has["name"] == rule.name:
                    origins = has["origins"]

        def count(r):
            got = {}
            for single in r.singles.values():
                got[single.origin] = got.get(single.origin, 0) + 1
            return got
        if origins == count(rule):
            return
        if origins == count(changed):
            self.world = after
            return
        raise Disagreement("add, partly refused: entries are %s, not %s or %s" %
                           (origins, count(rule), count(changed)))

    def bare_change(self, rule, is_add):
        rng = self.rng
        after, changed = self.change(rule)
        n = rng.choice((1, 1, 2, 6))
        whats = [self.some_what(rule, not is_add) for _ in range(n)]
        texts = [self.text_of(rule, w) for w in whats]
        old = rule.snapshot(self.world)
        if rule.is_address():
            def listed(key, spans=whats, old=old):
                inside = any(s.holds(*key) for s in spans)
                return (inside or old.holds(key)) if is_add else \
                    (old.holds(key) and not inside)
            changed.feeds = [("", Made(listed, [old], whats))]
        else:
            keys = {k for k in rule.keys()}
            keys = keys | set(whats) if is_add else keys - set(whats)
            changed.feeds = [("", KeySet(keys))]
        force = self.force()
        words = ["add" if is_add else "del", "--exist"] + force
        if rng.random() < 0.2:
            words.append("--atomic")
        words += ["%s:%s" % (DEV, rule.name)] + texts
        self.do("bare add" if is_add else "bare del", words, after, forced=bool(force),
                may_refuse=self.IMAGE_REFUSALS + ("slots of",))
        if len(changed.feeds[0][1].spans()) > 60:
            self.op_detach()        # sets of sets of sets become slow

    def op_del(self):
        rng = self.rng
        rule = self.pick(lambda r: not r.is_any)
        if not rule:
            return
        if self.mode == "bare":
            return self.bare_change(rule, False)
        after, changed = self.change(rule)
        n = rng.choice((1, 1, 2, 5))
        exist = rng.random() < 0.6
        origin = rng.choice((None, "one", "two"))
        if rule.singles and rng.random() < 0.8:
            origin = rng.choice(list(rule.singles.values())).origin
            origin = None if origin == "manual" else origin
        words = ["del"] + (["--exist"] if exist else [])
        if origin:
            words += ["--origin", origin]
        texts, absent = [], False
        for _ in range(n):
            what = self.some_what(rule, True)
            is_exception = False
            mine = [s for s in rule.singles.values() if s.origin == (origin or "manual")]
            if mine and rng.random() < 0.8:
                single = rng.choice(mine)
                what, is_exception = single.what, single.is_exception
            single = Single(what, is_exception, origin or "manual")
            wide = Single(rule.banned(what), is_exception, origin or "manual")
            text = what.canonical() if isinstance(what, Span) else self.text_of(rule, what)
            if single.id() in rule.singles:
                changed.singles.pop(single.id(), None)
            elif wide.id() in rule.singles and not is_exception:
                # Banned with its /64, lifted by the address.
                changed.singles.pop(wide.id(), None)
            elif wide.id() in rule.singles:
                continue
            else:
                absent = True
            texts.append(("!" if is_exception else "") + text)
        if not texts:
            return
        words += self.force()
        words += ["%s:%s" % (DEV, rule.name)] + texts
        if absent and not exist:
            status, _, err = self.m.run(*words)
            self.ops["del absent"] = self.ops.get("del absent", 0) + 1
            if status != 1:
                raise Disagreement("del of what is not there: exit %d: %s" % (status, err))
            return
        self.do("del", words, after, may_refuse=self.refusals(rule),
                again=words[:1] + ["--exist"] + [w for w in words[1:] if w != "--exist"],
                forced="--force" in words)

    def op_ttl(self):
        """An entry that ends, by the next change or by the daemon."""
        rng = self.rng
        rule = self.pick(lambda r: not r.is_any and not r.from_image)
        if not rule or self.mode == "bare":
            return
        self.ops["ttl"] = self.ops.get("ttl", 0) + 1
        whats = [self.some_what(rule) for _ in range(rng.randint(1, 4))]
        texts, during = [], self.world.copy()
        changed = during.rules[during.find(rule.name)]
        for what in whats:
            if self.refused_single(rule, what, False):
                continue
            if isinstance(what, Span) and what.fam == 6 and what.first == what.last:
                texts.append(what.canonical() + "/128")
            else:
                texts.append(what.canonical() if isinstance(what, Span) else
                             self.text_of(rule, what))
            single = Single(what, False, "short")
            changed.singles[single.id()] = single
        if not texts:
            return
        words = ["add", "--origin", "short", "--ttl", "1s", "--force",
                 "%s:%s" % (DEV, rule.name)] + texts
        status, _, err = self.m.run(*(words[:1] + ["--exist"] + words[1:]))
        began = time.time()
        if status:
            raise Disagreement("add --ttl: exit %d: %s" % (status, err))
        before, self.world = self.world, during
        self.expected = before
        if time.time() - began < 0.7 and self.world.attached:
            start = time.time()
            try:
                self.check_frames()
            except Disagreement:
                if time.time() - began < 0.9:
                    raise
            if time.time() - start > 0.5:
                pass
        for old, new in zip(before.rules, self.world.rules):
            old.packets = new.packets
        before.unmatched, before.vital = self.world.unmatched, self.world.vital
        self.world, self.expected = before, None
        for single in list(self.world.rules[self.world.find(rule.name)].singles.values()):
            if single.origin == "short":
                raise AssertionError
        if self.options.daemon:
            time.sleep(max(0, began + 3.2 - time.time()))
        else:
            time.sleep(max(0, began + 1.1 - time.time()))
            other = self.pick(lambda r: not r.is_any)
            self.m.run("del", "--exist", "--origin", "nobody", "%s:%s" % (DEV, other.name),
                       "192.0.2.77" if other.is_address() else
                       self.tuple_text(other.spec, self.tuple_key(other.spec)))
        self.check_frames()

    def op_flush(self):
        rule = self.pick(lambda r: not r.is_any)
        if not rule or self.mode == "bare":
            return
        after, changed = self.change(rule)
        origin = self.rng.choice((None, "one", "two", "manual", "feed"))
        changed.singles = {i: s for i, s in changed.singles.items()
                           if origin is not None and s.origin != origin}
        after.flush_parked(rule.name, origin)
        self.do("flush", ["flush", "%s:%s" % (DEV, rule.name)] +
                (["--origin", origin] if origin else ["--all"]), after,
                may_refuse=self.refusals(rule))

    def op_feed(self):
        """Lines of another program."""
        rng = self.rng
        rule = self.pick(lambda r: not r.is_any and not r.from_image)
        if not rule or self.mode == "bare":
            return
        after, changed = self.change(rule)
        lines, replies = [], []
        origin = rng.choice(("feed", "feed", "one"))
        is_snapshot = rng.random() < 0.4
        if is_snapshot:
            lines.append("begin")
            keep = {}
        any_refused = False
        for _ in range(rng.randint(1, 15)):
            what = self.some_what(rule)
            if isinstance(what, Span) and what.fam == 6 and what.first == what.last:
                text = what.canonical()
                if rng.random() < 0.5:
                    text += "/128"
                else:
                    what = rule.banned(what)
            else:
                text = what.canonical() if isinstance(what, Span) else \
                    self.text_of(rule, what)
            single = Single(what, False, origin)
            if not is_snapshot and rng.random() < 0.35:
                if rule.singles and rng.random() < 0.8:
                    some = rng.choice(list(rule.singles.values()))
                    if not some.is_exception:
                        what = some.what
                        text = what.canonical() if isinstance(what, Span) else \
                            self.text_of(rule, what)
                        if isinstance(what, Span) and what.fam == 6 and what.first == what.last:
                            text += "/128"
                        single = Single(what, False, some.origin)
                lines.append("del %s origin=%s" % (text, single.origin))
                replies.append("ok" if changed.singles.pop(single.id(), None) else "ok absent")
                continue
            lines.append("add " + text + rng.choice(("", " ttl=1h", " ttl=3d reason=some words",
                                                     " reason=\"quoted\"")))
            if not is_snapshot and origin != "feed":
                pass
            if self.refused_fed(rule, what):
                any_refused = True
                replies.append("refused")
                continue
            single.yields = bool(self.protected_in(rule, what, False))
            replies.append("ok renewed" if single.id() in changed.singles else "ok")
            changed.singles[single.id()] = single
            if is_snapshot:
                keep[single.id()] = single
        if is_snapshot:
            lines.append("commit")
            changed.singles = {i: s for i, s in changed.singles.items()
                               if s.origin != origin or i in keep}
        stdin = "\n".join(lines) + "\n"
        words = ["feed", "%s:%s" % (DEV, rule.name), "-", "--origin", origin]
        if rng.random() < self.options.kill:
            # A snapshot is idempotent, other lines may be made in part.
            if not is_snapshot or any_refused:
                return
            self.do_killed("feed", words, after, stdin, None, False)
            return
        status, out, err = self.m.run(*words, stdin=stdin)
        self.ops["feed"] = self.ops.get("feed", 0) + 1
        told = out.splitlines()
        if status != (1 if any_refused else 0):
            raise Disagreement("feed: exit %d: %s %s" % (status, err, out))
        if not is_snapshot:
            short = ["refused" if t.startswith("refused") else t.split(" narrowed ")[0]
                     for t in told]
            if short != replies:
                raise Disagreement("feed: replies %s, the model says %s" % (told, replies))
        self.world = after

    def op_import(self):
        rng = self.rng
        rule = self.pick(lambda r: r.is_address() and not r.is_any and not r.from_image)
        if not rule or self.mode == "bare":
            return
        after, changed = self.change(rule)
        lines = ["create s hash:net family inet hashsize 1024 maxelem 65536 timeout 0 comment"]
        keep = {}
        for _ in range(rng.randint(1, 8)):
            span = self.span(4)
            if not span.is_prefix() or span.prefix_length() == 0 or \
                    self.refused_single(rule, span, False):
                continue
            is_exception = rng.random() < 0.3
            single = Single(span, is_exception, "import")
            other = Single(span, not is_exception, "import")
            if other.id() in keep:
                continue
            keep[single.id()] = single
            lines.append("add s %s%s%s" % (span.canonical(),
                                           rng.choice((" timeout 0", " timeout 3600")),
                                           " nomatch" if is_exception else ""))
        if not keep:
            return
        is_snapshot = rng.random() < 0.5
        if is_snapshot:
            changed.singles = {i: s for i, s in changed.singles.items() if s.origin != "import"}
        changed.singles.update(keep)
        self.do("import", ["import", "%s:%s" % (DEV, rule.name), "--format", "ipset", "-"] +
                (["--snapshot"] if is_snapshot else []), after, stdin="\n".join(lines) + "\n")
