# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sets of addresses and keys, by spans: what a list means, without Baleen's code."""
import ipaddress


# IANA special-purpose registries, multicast and fec0::/10, written down from the RFCs.
SPECIAL = """0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12
192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24
203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ::/128 ::1/128 ::ffff:0:0/96 64:ff9b::/96
64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001:2::/48 2001:10::/28 2001:db8::/32 3fff::/20 5f00::/16 fc00::/7 fe80::/10
fec0::/10 ff00::/8""".split()

BITS = {4: 32, 6: 128}


class Disagreement(Exception):
    """Baleen and the model say different things."""


class CannotRun(Exception):
    """Nothing was found out."""


def to_text(fam, number):
    return str(ipaddress.IPv4Address(number) if fam == 4 else ipaddress.IPv6Address(number))


class Span:
    """Addresses side by side, and the prefixes they fall into."""
    cache = {}

    def __init__(self, fam, first, last):
        self.fam, self.first, self.last = fam, first, last
        self.id = (fam, first, last)
        self.blocks = None

    def holds(self, fam, number):
        return fam == self.fam and self.first <= number <= self.last

    def length_at(self, number):
        """Length of the prefix, of the fewest this span falls into, that holds number."""
        if self.blocks is None:
            if self.id not in Span.cache:
                kind = ipaddress.IPv4Address if self.fam == 4 else ipaddress.IPv6Address
                nets = ipaddress.summarize_address_range(kind(self.first), kind(self.last))
                Span.cache[self.id] = [(int(n.network_address), int(n.broadcast_address),
                                        n.prefixlen) for n in nets]
                if len(Span.cache) > 20000:
                    Span.cache.clear()
                    return self.length_at(number)
            self.blocks = Span.cache[self.id]
        for first, last, length in self.blocks:
            if first <= number <= last:
                return length
        raise AssertionError

    def is_prefix(self):
        size = self.last - self.first + 1
        return size & (size - 1) == 0 and self.first % size == 0

    def prefix_length(self):
        return BITS[self.fam] - (self.last - self.first + 1).bit_length() + 1

    def canonical(self):
        if self.first == self.last:
            return to_text(self.fam, self.first)
        if self.is_prefix():
            return "%s/%d" % (to_text(self.fam, self.first), self.prefix_length())
        return "%s-%s" % (to_text(self.fam, self.first), to_text(self.fam, self.last))


def net_span(text):
    net = ipaddress.ip_network(text)
    return Span(net.version, int(net.network_address), int(net.broadcast_address))


SPECIAL_SPANS = [net_span(s) for s in SPECIAL]


class ListSet:
    """A list of spans and exceptions: the longest prefix decides, of a tie the exception."""

    def __init__(self, entries):
        self.entries = entries          # [(Span, is_exception)]

    def holds(self, key):
        fam, number = key
        best = (-1, False)
        for span, is_exception in self.entries:
            if span.holds(fam, number):
                best = max(best, (span.length_at(number), is_exception))
        return best[0] >= 0 and not best[1]

    def spans(self):
        return [s for s, _ in self.entries]


class KeySet:
    def __init__(self, keys):
        self.keys = set(keys)

    def holds(self, key):
        return key in self.keys

    def spans(self):
        return []


class Made:
    """What a command made of other sets."""

    def __init__(self, function, parts, spans=()):
        self.function, self.parts, self.own = function, parts, list(spans)

    def holds(self, key):
        return self.function(key)

    def spans(self):
        out = list(self.own)
        for part in self.parts:
            out += part.spans()
        return out


class Everything:
    def holds(self, key):
        return True

    def spans(self):
        return []
