# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Questions whose answers the model knows."""
import ipaddress
import json

from frames import PORT_PROTOS, frame_of, make_packet
from machine import DEV, HOST4, HOST6, RESOLVER
from rules import DROP, PASS, PROTO_NAME
from sets import BITS, Disagreement, ListSet, net_span, to_text


class Checks:
    def points(self, n, per_rule=12):
        """Packets worth asking about."""
        rng, world, out = self.rng, self.world, []
        others = [self.expected] if self.expected else []
        rules = list(world.rules)
        for other in others:
            rules += [r for r in other.rules]
        spans, tuples = [], []
        for rule in rules:
            here = rule.spans()
            if len(here) > per_rule:
                here = rng.sample(here, per_rule)
            spans += here
            keys = rule.keys()
            n_keys = per_rule // 3
            for key in (rng.sample(keys, n_keys) if len(keys) > n_keys else keys):
                tuples.append((rule.spec, key))
        targets = []
        for span in spans:
            top = (1 << BITS[span.fam]) - 1
            for number in (span.first - 1, span.first, span.last, span.last + 1,
                           rng.randint(span.first, span.last)):
                if 0 <= number <= top:
                    targets.append((span.fam, number))
        rng.shuffle(targets)
        targets = targets[:n]
        targets += [self.address() for _ in range(6)]
        targets += [(4, rng.getrandbits(32)), (6, rng.getrandbits(128))]
        targets += [(4, int(ipaddress.ip_address(HOST4))), (6, int(ipaddress.ip_address(HOST6))),
                    (4, int(ipaddress.ip_address(RESOLVER)))]
        for fam, number in targets:
            out.append(self.packet(fam, number))
        for spec, key in tuples:
            out.append(self.packet_of_key(spec, key))
        return out

    def packet(self, fam, number, **fixed):
        rng = self.rng
        src, dst = number, self.address(fam)[1]
        if rng.random() < 0.25:
            src, dst = dst, src
        qualified = [r for r in self.world.rules if r.quals]
        proto = rng.choice((6, 6, 17, 17, 132, 1 if fam == 4 else 58, 47))
        dport = rng.choice((22, 80, 443, 8000, 53, 1, 65535))
        vlan, opens = None, rng.random() < 0.6
        if qualified and rng.random() < 0.6:
            quals = rng.choice(qualified).quals
            if "proto" in quals and not (fam == 6 and quals["proto"] == 1):
                proto = quals["proto"]
            if "dport" in quals:
                first, last = rng.choice(quals["dport"])
                dport = rng.choice((first, last, last + 1, first - 1, dport)) or 1
                if "proto" not in quals:
                    proto = rng.choice((6, 17, 132))
            if "vlan" in quals:
                vlan = quals["vlan"]
            if "tcp-syn" in quals:
                proto, opens = 6, rng.random() < 0.7
        elif rng.random() < 0.15:
            vlan = rng.choice((1, 100, 200, 4094))
        shape = rng.choice(("plain", "plain", "plain", "options", "first", "later"))
        hop, icmp = 64, 128
        if proto == 58 and rng.random() < 0.5:
            hop = rng.choice((255, 1, 64))
            icmp = rng.choice((133, 134, 135, 136, 137, 130, 131, 132, 143, 128))
        return make_packet(rng, fam, src, dst, proto, rng.choice((40000, 53, 1024)), dport, opens,
                           vlan, shape, hop, icmp)

    def packet_of_key(self, spec, key):
        rng = self.rng
        values = dict(zip(spec, key))
        fam = next((v[0] for f, v in values.items() if f in ("src", "dst")),
                   rng.choice((4, 6)))
        src = values.get("src", (fam, self.address(fam)[1]))[1]
        dst = values.get("dst", (fam, self.address(fam)[1]))[1]
        if "src" in values and "dst" in values and values["src"][0] != values["dst"][0]:
            raise AssertionError
        proto = values.get("proto", rng.choice((6, 17)))
        sport, dport = values.get("sport", 40000), values.get("dport", 443)
        if proto not in PORT_PROTOS:
            sport = dport = 0
        change = rng.random()
        if change < 0.1 and sport:
            sport ^= 1
        elif change < 0.2 and dport:
            dport ^= 1
        elif change < 0.25:
            src ^= 1
        elif change < 0.3:
            dst ^= 1
        rules = [r for r in self.world.rules if r.spec == spec]
        vlan, opens = None, rng.random() < 0.6
        for rule in rules:
            if "vlan" in rule.quals and rng.random() < 0.7:
                vlan = rule.quals["vlan"]
        shape = rng.choice(("plain", "plain", "plain", "options", "first", "later"))
        return make_packet(rng, fam, src, dst, proto, sport, dport, opens, vlan, shape)

    @staticmethod
    def show(packet):
        keys = ("proto", "wire", "opens", "vlan", "shape", "hop", "icmp")
        return "%s -> %s %s" % (to_text(packet["fam"], packet["src"]),
                                to_text(packet["fam"], packet["dst"]),
                                " ".join("%s=%s" % (k, packet[k]) for k in keys))

    def check_frames(self, also=None):
        """The live program against the model; with also, either of the two may be."""
        world = self.world
        # A change of the program at the same time is nobody's: nothing runs meanwhile.
        self.m.find_program()
        if also is None and (self.m.prog_fd is not None) != world.attached:
            raise Disagreement("attached is %s, the model says %s" %
                               (self.m.prog_fd is not None, world.attached))
        for packet in self.points(90):
            self.ident += 1
            frame = frame_of(packet, self.ident)
            got = self.m.ask(frame)
            want, counted = world.judge(packet)
            self.n["frames"] += 1
            if also is None:
                if got != want:
                    raise Disagreement("test run of %s: %s, the model says %s (%s)" %
                                       (self.show(packet), self.word(got), self.word(want),
                                        self.who(counted)))
                world.count(counted)
            else:
                want2, _ = also.judge(packet)
                if got not in (want, want2):
                    # A batch in place: each key old or new, so each rule's answer may be
                    # either; all mixes of old and new single keys are too many to tell,
                    # so only packets on which both agree are held against it.
                    raise Disagreement("after a kill: %s: %s, both old and new say %s" %
                                       (self.show(packet), self.word(got), self.word(want)))

    def check_sent(self):
        if not self.world.attached:
            return
        rng, frames, wanted = self.rng, [], {}
        some = self.points(30)
        for packet in rng.sample(some, min(12, len(some))):
            self.ident += 1
            frame = frame_of(packet, self.ident)
            frames.append(frame)
            verdict, counted = self.world.judge(packet)
            self.world.count(counted)
            wanted[self.ident] = (verdict, packet, counted)
        self.ident += 1
        arrived = self.m.send(frames, self.ident)
        self.arp_counted()
        self.n["sent"] += len(frames)
        for ident, (verdict, packet, counted) in wanted.items():
            if (ident in arrived) != (verdict == PASS):
                raise Disagreement("sent %s: %s, the model says %s (%s)" % (
                    self.show(packet), "arrived" if ident in arrived else "did not arrive",
                    self.word(verdict), self.who(counted)))

    def arp_counted(self):
        if self.world.default_drop:
            self.world.vital += 1

    @staticmethod
    def word(verdict):
        return {DROP: "drop", PASS: "pass"}.get(verdict, str(verdict))

    def who(self, counted):
        return ", ".join(str(w) if isinstance(w, str) else self.world.rules[w].name
                         for w in counted)

    def check_status(self):
        status, out, err = self.m.run("status", "-j", DEV)
        self.n["status"] += 1
        if not self.world.attached:
            if status == 0:
                raise Disagreement("status of what is not attached: exit 0")
            return
        if status:
            raise Disagreement("status: exit %d: %s" % (status, err))
        told = json.loads(out)[0]
        world = self.world
        names = [(r["name"], r["action"]) for r in told["rules"]]
        if names != [(r.name, r.action) for r in world.rules]:
            raise Disagreement("rules are %s, the model says %s" %
                               (names, [(r.name, r.action) for r in world.rules]))
        for rule, has in zip(world.rules, told["rules"]):
            if has["packets"] != rule.packets:
                raise Disagreement("rule %s counted %d packets, the model says %d" %
                                   (rule.name, has["packets"], rule.packets))
            if rule.has_state and "origins" in has:
                origins = world.origins(rule)
                if has["origins"] != origins:
                    raise Disagreement("rule %s has entries %s, the model says %s" %
                                       (rule.name, has["origins"], origins))
        got = (told["default"], told["dry_run"], told["unmatched"], told["vital"])
        want = ("drop" if world.default_drop else "pass", world.dry_run, world.unmatched,
                world.vital)
        if got != want:
            raise Disagreement("default, dry run, unmatched, vital are %s, the model says %s" %
                               (got, want))

    def check_why(self):
        world, rng = self.world, self.rng
        if not world.attached or not all(r.has_state for r in world.rules):
            return
        packets = [p for p in self.points(12) if p["proto"] in (6, 17) and
                   p["shape"] in ("plain", "options")]
        if not packets:
            return
        first = rng.choice(packets)
        asked = [p for p in packets if p["fam"] == first["fam"]][:5]
        words = ["why", "-j", DEV] + [to_text(p["fam"], p["src"]) for p in asked]
        base = dict(first)
        words += ["--proto", PROTO_NAME[base["proto"]], "--dport", base["wire"][1], "--sport",
                  base["wire"][0], "--dst", to_text(base["fam"], base["dst"])]
        if base["vlan"] is not None:
            words += ["--vlan", base["vlan"]]
        if base["proto"] == 6 and not base["opens"]:
            words.append("--established")
        status, out, err = self.m.run(*words)
        self.n["why"] += len(asked)
        if status:
            raise Disagreement("why: exit %d: %s %s" % (status, err.strip(), out[:1500]))
        told = json.loads(out)
        if isinstance(told, dict):
            told = [told]
        for packet, answer in zip(asked, told):
            packet = dict(base, src=packet["src"])
            verdict, counted = world.judge(packet)
            if answer["other_version"]:
                # Loaded in another way, because a probe of libbpf had failed: then the live
                # program is asked, which counts.
                world.count(counted)
            if answer["verdict"] != self.word(verdict) or answer["differs"]:
                raise Disagreement("why %s: %s, the model says %s (%s)\n%s" % (
                    self.show(packet), answer["verdict"], self.word(verdict), self.who(counted),
                    json.dumps(answer)[:3000]))
            decider = [w for w in counted if not isinstance(w, str) and
                       world.rules[w].action != "count"]
            want = world.rules[decider[0]].name if decider else None
            if answer["rule"] != want:
                raise Disagreement("why %s: decided by %s, the model says %s" %
                                   (self.show(packet), answer["rule"], want))
            self.check_explained(packet, answer)

    def check_explained(self, packet, answer):
        for told in answer["rules"]:
            rule = self.world.rules[self.world.find(told["rule"])]
            if rule.is_any or not rule.is_address():
                continue
            key = (packet["fam"], packet[rule.spec[0]])
            holds = rule.listed(key, self.world)
            if told["holds"] != holds:
                raise Disagreement("why: rule %s holds %s: %s, the model says %s" % (
                    rule.name, to_text(*key), told["holds"], holds))
            entries = told["entries"]       # an image has no entry to name
            if entries and not entries[0].get("entry"):
                continue
            if not holds and not told.get("withheld") and entries and \
                    not entries[0]["entry"].startswith("!") and not rule.guarded:
                raise Disagreement("why: rule %s does not hold %s, but the first entry is %s" % (
                    rule.name, to_text(*key), entries[0]))
            if holds and entries and entries[0]["entry"].startswith("!"):
                raise Disagreement("why: rule %s holds %s, but the first entry is %s" % (
                    rule.name, to_text(*key), entries[0]))

    def check_match(self):
        world, rng = self.world, self.rng
        rules = [r for r in world.rules if r.is_address() and not r.is_any]
        if not world.attached or not rules:
            return
        rule = rng.choice(rules)
        keys = {}
        for packet in self.points(40):
            key = (packet["fam"], packet[rule.spec[0]])
            if key[0] == 6 and key[1] >> 32 == 0xffff:
                continue
            keys[to_text(*key)] = rule.listed(key, world)
        status, out, err = self.m.run("match", "%s:%s" % (DEV, rule.name), *keys)
        self.n["match"] += len(keys)
        got = set(out.split())
        want = {k for k, held in keys.items() if held}
        if got != want:
            raise Disagreement("match %s: wrong about %s" % (rule.name, sorted(got ^ want)[:5]))
        if status != (0 if want else 1):
            raise Disagreement("match: exit %d, %d match" % (status, len(want)))

    def check_dump(self):
        world, rng = self.world, self.rng
        rules = [r for r in world.rules if r.is_address() and not r.is_any]
        if not world.attached or not rules:
            return
        rule = rng.choice(rules)
        status, out, err = self.m.run("dump", "%s:%s" % (DEV, rule.name))
        if status:              # IPv6 hosts that are hashes
            if "hashes" not in err:
                raise Disagreement("dump: exit %d: %s" % (status, err))
            return
        self.n["dump"] += 1
        entries = []
        for line in out.split():
            is_exception = line.startswith("!")
            entries.append((net_span(line.lstrip("!")), is_exception))
        there = ListSet(entries)
        for packet in self.points(40):
            key = (packet["fam"], packet[rule.spec[0]])
            if there.holds(key) != rule.listed(key, world):
                raise Disagreement("dump of %s: %s is %s, the model says %s" % (
                    rule.name, to_text(*key), there.holds(key), rule.listed(key, world)))

    # --- guards

    def host_is_cut(self, before, after):
        """An own address that a rule of plain addresses drops, and did not before?"""
        for fam, text in ((4, HOST4), (6, HOST6)):
            number = int(ipaddress.ip_address(text))
            packet = make_packet(self.rng, fam, number, number, 6, 40000, 50123, False, None,
                                 "plain")
            rules = [r for r in after.rules if r.spec == ("src",)]
            if len(rules) != len(after.rules):
                continue
            was, _ = before.judge(packet)
            verdict, counted = after.judge(packet)
            if verdict == DROP and was != DROP and "unmatched" not in counted:
                return text
        return None

    def could_be_cut(self, after):
        """Does any drop rule, or the default, hold an address of this host?"""
        if after.default_drop:
            return True
        for rule in after.rules:
            if rule.action != "drop":
                continue
            if rule.is_any or not rule.is_address():
                return True
            for fam, text in ((4, HOST4), (6, HOST6), (4, RESOLVER)):
                if rule.listed((fam, int(ipaddress.ip_address(text))), after):
                    return True
        return False
