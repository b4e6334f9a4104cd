# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random addresses, keys, qualifiers and lists."""
import os

from frames import PORT_PROTOS
from rules import PROTO_NAME
from sets import BITS, KeySet, ListSet, Span, to_text


FIELDS = ("proto", "src", "dst", "sport", "dport")


class Draw:
    def name(self):
        self.counter += 1
        return "r%d" % self.counter

    def address(self, fam=None):
        rng = self.rng
        fam = fam or (4 if rng.random() < 0.65 else 6)
        if fam == 4:
            base = rng.choice(self.areas4)
            return fam, (base & ~0xfff | rng.getrandbits(12)) if rng.random() < 0.9 \
                else rng.getrandbits(32)
        base = rng.choice(self.areas6)
        low = rng.choice((0, 1, rng.getrandbits(64), (1 << 64) - 1))
        middle = rng.choice((0, rng.getrandbits(4), rng.getrandbits(16), 0xffff)) << 64
        high = rng.getrandbits(3) << 80
        return fam, (base | high | middle | low) & ((1 << 128) - 1)

    def span(self, fam=None):
        rng = self.rng
        fam, number = self.address(fam)
        kind = rng.random()
        bits = BITS[fam]
        if kind < 0.4:
            return Span(fam, number, number)
        if kind < 0.85:
            if fam == 4:
                length = rng.choice((rng.randint(24, 32), rng.randint(17, 31),
                                     rng.randint(8, 24), 24, 31, 32))
                if rng.random() < 0.02:
                    length = rng.randint(0, 8)
            else:
                length = rng.choice((64, 48, 56, 32, rng.randint(33, 64), rng.randint(29, 48),
                                     rng.randint(65, 128), 128, 127, 63, 65))
                if rng.random() < 0.03:
                    length = rng.randint(0, 32)
            size = 1 << (bits - length)
            first = number & ~(size - 1)
            return Span(fam, first, first + size - 1)
        size = rng.choice((2, 3, rng.randint(2, 300), rng.randint(2, 70000),
                           1 << rng.randint(1, bits // 2)))
        last = min(number + size - 1, (1 << bits) - 1)
        return Span(fam, number, last)

    def span_text(self, span):
        """Some way to write it."""
        rng = self.rng
        out = span.canonical()
        if span.first == span.last and rng.random() < 0.2:
            out += "/%d" % BITS[span.fam]
        elif span.is_prefix() and span.first != span.last and rng.random() < 0.2:
            # host bits set: masked
            number = span.first | rng.randrange(span.last - span.first + 1)
            out = "%s/%d" % (to_text(span.fam, number), span.prefix_length())
        elif rng.random() < 0.05:
            out = "%s-%s" % (to_text(span.fam, span.first), to_text(span.fam, span.last))
        if span.fam == 6 and rng.random() < 0.3:
            out = out.upper()
        return out

    def tuple_key(self, spec, near=None):
        rng = self.rng
        fam = 4 if rng.random() < 0.6 else 6
        values = {"proto": rng.choice((6, 17, 1, 132, 47, 6, 17)),
                  "sport": rng.choice((40000, rng.randrange(1, 65536))),
                  "dport": rng.choice((22, 80, 443, rng.randrange(1, 65536)))}
        _, values["src"] = self.address(fam)
        _, values["dst"] = self.address(fam)
        if "proto" in spec and values["proto"] not in PORT_PROTOS:
            values["sport"] = values["dport"] = 0
        return tuple((fam, values[f]) if f in ("src", "dst") else values[f] for f in spec)

    @staticmethod
    def tuple_text(spec, key):
        out = []
        for field, value in zip(spec, key):
            if field in ("src", "dst"):
                out.append(to_text(*value))
            elif field == "proto":
                out.append(PROTO_NAME.get(value, str(value)))
            else:
                out.append(str(value))
        return ",".join(out)

    def quals(self, spec):
        rng, quals = self.rng, {}
        if rng.random() < 0.45:
            return quals
        if rng.random() < 0.4:
            quals["proto"] = rng.choice((6, 17, 132, 1, 6))
        if rng.random() < 0.4 and quals.get("proto", 6) in PORT_PROTOS:
            quals["dport"] = [(p, p + rng.choice((0, 0, 10)))
                              for p in (rng.choice((22, 80, 443, 8000, 53))
                                        for _ in range(rng.randint(1, 8)))]
        if rng.random() < 0.2 and quals.get("proto", 6) == 6:
            quals["tcp-syn"] = True
        if rng.random() < 0.2:
            quals["vlan"] = rng.choice((1, 100, 4094))
        return quals

    def list_file(self, spec, n=None, allow_exceptions=True):
        """(path, set)"""
        rng = self.rng
        self.counter += 1
        path = os.path.join(self.m.dir, "list%d.txt" % self.counter)
        n = n or rng.choice((1, 2, 5, 12, 30))
        lines = []
        if spec in (("src",), ("dst",)):
            entries = []
            for _ in range(n):
                span = self.span()
                if entries and rng.random() < 0.3:      # near one that is there
                    other = rng.choice(entries)[0]
                    number = rng.choice((other.first, other.last))
                    bits = BITS[other.fam]
                    size = 1 << rng.randint(0, min(bits, 40))
                    first = number & ~(size - 1)
                    span = Span(other.fam, first, first + size - 1)
                is_exception = allow_exceptions and rng.random() < 0.2
                entries.append((span, is_exception))
                lines.append(("!" if is_exception else "") + self.span_text(span) +
                             rng.choice(("", "", " # why", "\t; x", "  ", "\r")))
            made = ListSet(entries)
            while not any(made.holds((s.fam, n)) for s, e in entries if not e
                          for n in (s.first, s.last)):
                fam, number = self.address()
                entries.append((Span(fam, number, number), False))
                lines.append(to_text(fam, number))
        else:
            keys = [self.tuple_key(spec) for _ in range(n)]
            lines = [self.tuple_text(spec, k) + rng.choice(("", " # x")) for k in keys]
            made = KeySet(keys)
        if rng.random() < 0.2:
            lines.insert(rng.randrange(len(lines) + 1), "# a comment")
            lines.insert(0, "")
        text = "\n".join(lines) + rng.choice(("\n", ""))
        if rng.random() < 0.1:
            text = "\ufeff" + text
        with open(path, "w") as file:
            file.write(text)
        self.m.note("  %s: %s" % (os.path.basename(path), " ".join(
            x.strip() for x in lines)[:600]))
        return path, made

    def spec(self):
        rng = self.rng
        if rng.random() < 0.75:
            return ("src",)
        if rng.random() < 0.4:
            return ("dst",)
        n = rng.randint(1, 5)
        chosen = sorted(rng.sample(range(5), n))
        spec = tuple(FIELDS[i] for i in chosen)
        return spec
