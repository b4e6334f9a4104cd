# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The filters of the textbooks as their corrected algorithms make them, slot by slot.

Written from the texts and docs/vectors.md, in the slowest way that is clear.
"""


class Quotient:
    """A quotient filter of 2^q slots with remainders of r bits.

    copies: a fingerprint is there as often as it was inserted; else once.
    """

    def __init__(self, q, r, copies=False):
        self.q, self.r, self.m, self.copies = q, r, 1 << q, copies
        self.rem = [None] * self.m
        self.occupied = [0] * self.m
        self.continued = [0] * self.m
        self.shifted = [0] * self.m

    def split(self, fingerprint):
        return fingerprint >> self.r, fingerprint & (1 << self.r) - 1

    def next(self, i):
        return (i + 1) % self.m

    def before(self, i):
        return (i - 1) % self.m

    def is_empty(self, i):
        return self.rem[i] is None

    def start_of(self, f_q):
        """Where the run of f_q begins, or would; f_q is occupied, slot f_q is in use."""
        i, n_runs = f_q, 0
        while self.shifted[i]:
            n_runs += self.occupied[self.before(i)]
            i = self.before(i)
        # As many runs on as there are occupied slots from the cluster's start to before f_q.
        for _ in range(n_runs):
            i = self.next(i)
            while self.continued[i]:
                i = self.next(i)
        return i

    def run(self, f_q):
        """The slots of the run of f_q, which is occupied."""
        slots = [self.start_of(f_q)]
        while self.continued[self.next(slots[-1])]:
            slots.append(self.next(slots[-1]))
        return slots

    def has(self, fingerprint):
        f_q, f_r = self.split(fingerprint)
        return bool(self.occupied[f_q]) and any(self.rem[i] == f_r for i in self.run(f_q))

    def push(self, at, rem, continued):
        """Puts a remainder into a slot; it and those behind move on to the next empty one.

        The bit occupied stays with its slot, continued goes with its remainder, and all that
        moved are shifted.
        """
        shifted = self.shifted[at]
        while True:
            rem, self.rem[at] = self.rem[at], rem
            continued, self.continued[at] = self.continued[at], continued
            shifted, self.shifted[at] = 1, shifted
            if rem is None:
                return
            at = self.next(at)
            shifted = 1

    def insert(self, fingerprint):
        """Whether the table has changed. It has a free slot."""
        f_q, f_r = self.split(fingerprint)
        if self.is_empty(f_q):
            self.rem[f_q] = f_r
            self.occupied[f_q] = 1
            return True
        is_new = not self.occupied[f_q]
        self.occupied[f_q] = 1
        if is_new:
            at = self.start_of(f_q)
            self.push(at, f_r, 0)
            self.shifted[at] = int(at != f_q)
            return True
        run = self.run(f_q)
        if not self.copies and any(self.rem[i] == f_r for i in run):
            return False
        behind = [i for i in run if self.rem[i] > f_r]
        at = behind[0] if behind else self.next(run[-1])
        self.push(at, f_r, int(at != run[0]))
        if at == run[0]:
            # The remainder that was first goes on in the same run.
            self.continued[self.next(at)] = 1
        self.shifted[at] = int(at != f_q)
        return True

    def delete(self, fingerprint):
        """Whether it was there; one copy goes."""
        f_q, f_r = self.split(fingerprint)
        if not self.occupied[f_q]:
            return False
        run = self.run(f_q)
        found = [i for i in run if self.rem[i] == f_r]
        if not found:
            return False
        at = found[0]
        quotient = self.quotients_from(at)
        if len(run) == 1:
            self.occupied[f_q] = 0
        elif at == run[0]:
            # The second of the run becomes its first.
            self.continued[self.next(at)] = 0
        i = at
        while self.shifted[self.next(i)]:
            follower = self.next(i)
            self.rem[i] = self.rem[follower]
            self.continued[i] = self.continued[follower]
            self.shifted[i] = int(quotient[follower] != i)
            i = follower
        self.rem[i], self.continued[i], self.shifted[i] = None, 0, 0
        return True

    def quotients_from(self, at):
        """The quotient of each remainder of the cluster of a slot."""
        start = at
        while self.shifted[start]:
            start = self.before(start)
        quotient, i, f_q = {start: start}, self.next(start), start
        while self.shifted[i]:
            if not self.continued[i]:
                f_q = self.next(f_q)
                while not self.occupied[f_q]:
                    f_q = self.next(f_q)
            quotient[i] = f_q
            i = self.next(i)
            if i == start:
                break
        return quotient

    def fingerprints(self):
        """All, in ascending order."""
        every = []
        for f_q in range(self.m):
            if self.occupied[f_q]:
                every += [f_q << self.r | self.rem[i] for i in self.run(f_q)]
        return every

    def resized(self, q):
        """A bit moves from the remainder to the quotient, or back; no key is needed."""
        table = Quotient(q, self.r + self.q - q, self.copies)
        for fingerprint in self.fingerprints():
            table.insert(fingerprint)
        return table

    def merged(self, other, q):
        """The fingerprints of both, in one pass over two ascending sequences."""
        table = Quotient(q, self.r + self.q - q, self.copies)
        for fingerprint in sorted(self.fingerprints() + other.fingerprints()):
            table.insert(fingerprint)
        return table

    def slots(self):
        return [(self.rem[i], self.occupied[i], self.continued[i], self.shifted[i])
                for i in range(self.m)]

    def body(self):
        """Groups of 64 slots: three words of bits, then the remainders."""
        groups = b""
        for first in range(0, self.m, 64):
            here = range(first, min(first + 64, self.m))
            for bits in (self.occupied, self.continued, self.shifted):
                groups += packed([bits[i] for i in here], 1).ljust(8, b"\0")
            remainders = packed([self.rem[i] or 0 for i in here], self.r)
            groups += remainders.ljust(8 * self.r, b"\0")
        return blocks(groups)

    def take(self, slots):
        for i, (rem, *bits) in enumerate(slots):
            self.rem[i] = rem
            self.occupied[i], self.continued[i], self.shifted[i] = bits


class Bloom:
    """A Bloom filter of m bits."""

    def __init__(self, positions):
        self.positions, self.bit = positions, [0] * positions.m

    def insert(self, text):
        for position in self.positions.of(text):
            self.bit[position] = 1

    def has(self, text):
        return all(self.bit[position] for position in self.positions.of(text))

    def combined(self, other, both):
        """The filter of bits that are set in one of the two, or in both."""
        table = type(self)(self.positions)
        table.bit = [int(x + y > both) for x, y in zip(self.bit, other.bit)]
        return table

    def body(self):
        return plane(self.bit)


class Counting(Bloom):
    """A counting Bloom filter of m counters; one that has come to 15 stays.

    Positions of the texts that coincide count each, as in Algorithms 4 and 6, others once.
    """

    def __init__(self, positions):
        super().__init__(positions)
        self.each, self.counter = positions.counts_each, [0] * positions.m

    def counted(self, text):
        positions = self.positions.of(text)
        return positions if self.each else sorted(set(positions))

    def insert(self, text):
        super().insert(text)
        for position in self.counted(text):
            self.counter[position] = min(15, self.counter[position] + 1)

    def delete(self, text):
        """Algorithm 6, behind the look-up that the text asks for. A counter of 15 does not know
        how many it stands for, and is not counted down."""
        if not self.has(text):
            return False
        stuck = {i for i in self.counted(text) if self.counter[i] == 15}
        for position in self.counted(text):
            if position not in stuck and self.counter[position]:
                self.counter[position] -= 1
            if not self.counter[position]:
                self.bit[position] = 0
        return True

    def combined(self, other, both=False):
        table = Counting(self.positions)
        table.bit = [x | y for x, y in zip(self.bit, other.bit)]
        table.counter = [min(15, x + y) for x, y in zip(self.counter, other.counter)]
        return table

    def body(self):
        bits = plane(self.bit)
        counters = packed(self.counter, 4)
        return bits + counters.ljust(4 * len(bits), b"\0")


def packed(numbers, width):
    """Numbers of so many bits one behind the other, the lowest bit first."""
    value = 0
    for i, number in enumerate(numbers):
        value |= number << i * width
    return value.to_bytes((len(numbers) * width + 7) // 8, "little")


def blocks(data):
    """Filled up to blocks of 64 bytes."""
    return data.ljust(-(-len(data) // 64) * 64, b"\0")


def plane(bits):
    return blocks(packed(bits, 1))


def aligned(width, b):
    return width in (8, 16, 32, 64) and b != 3


class Cuckoo:
    """m buckets of b slots of p bits; the other bucket by XOR, as Fan et al. have it.

    What the texts leave to chance, here: the first bucket comes first; a walk begins in the
    other one; the slot that gives way is that of a xorshift generator, which starts from
    bucket + 2 f + 1; a walk of 2,048 kicks that finds no free slot is taken back.
    """

    KICKS = 2048

    def __init__(self, m, b, p, hashes, copies=False):
        self.m, self.b, self.p, self.hashes, self.copies = m, b, p, hashes, copies
        self.slot = [[0] * b for _ in range(m)]

    def partner(self, bucket, f):
        return (bucket ^ self.hashes.of_print(f)) % self.m

    def place(self, text):
        h = self.hashes.of(text)
        f = h % (1 << self.p) or 1
        i = h % self.m
        return f, i, self.partner(i, f)

    def count(self, text):
        f, i, j = self.place(text)
        return sum(self.slot[bucket].count(f) for bucket in {i, j})

    def has(self, text):
        return self.count(text) > 0

    def put_if_free(self, bucket, f):
        if 0 not in self.slot[bucket]:
            return False
        self.slot[bucket][self.slot[bucket].index(0)] = f
        return True

    def insert(self, text):
        """Whether the key is in, now or before."""
        f, i, j = self.place(text)
        if not self.copies and self.has(text):
            return True
        if self.copies and self.count(text) >= self.b * len({i, j}):
            return False
        if self.put_if_free(i, f):
            return True
        bucket, path, state = j, [], (j + 2 * f + 1) % (1 << 32)
        while not self.put_if_free(bucket, f):
            if len(path) == self.KICKS:
                for at, k, victim in reversed(path):
                    self.slot[at][k] = victim
                return False
            state = xorshift(state)
            k = state % self.b
            path.append((bucket, k, self.slot[bucket][k]))
            f, self.slot[bucket][k] = self.slot[bucket][k], f
            bucket = self.partner(bucket, f)
        return True

    def delete(self, text):
        """Takes one copy; from the other bucket first."""
        f, i, j = self.place(text)
        for bucket in (j, i):
            if f in self.slot[bucket]:
                self.slot[bucket][self.slot[bucket].index(f)] = 0
                return True
        return False

    def body(self):
        slots = [slot for bucket in self.slot for slot in bucket]
        data = packed(slots, self.p)
        # Packed buckets have 128 bits behind them, for loads that take some along.
        return blocks(data if aligned(self.p, self.b) else data.ljust(
            (self.m * self.b * self.p + 128 + 7) // 8, b"\0"))


def xorshift(state):
    """Marsaglia's, of 32 bits."""
    state ^= state << 13 & 0xffffffff
    state ^= state >> 17
    return state ^ state << 5 & 0xffffffff


class Chains:
    """m buckets with chains of values of l bits; a value v is in bucket v mod m.

    A new entry is the first of its chain; where one goes, the last takes its number.
    """

    def __init__(self, m, bits, room, copies=False):
        self.m, self.bits, self.room, self.copies = m, bits, room, copies
        self.head, self.link, self.value = [None] * m, [], []

    def chain(self, bucket):
        """The entries, from the head on."""
        entry = self.head[bucket]
        while entry is not None:
            yield entry
            entry = self.link[entry]

    def has(self, value):
        return any(self.value[entry] == value for entry in self.chain(value % self.m))

    def insert(self, value):
        """Whether it is in, now or before."""
        if not self.copies and self.has(value):
            return True
        if len(self.value) == self.room:
            return False
        self.link.append(self.head[value % self.m])
        self.head[value % self.m] = len(self.value)
        self.value.append(value)
        return True

    def point(self, bucket, entry, to):
        """What leads to an entry leads elsewhere."""
        if self.head[bucket] == entry:
            self.head[bucket] = to
            return
        before = next(each for each in self.chain(bucket) if self.link[each] == entry)
        self.link[before] = to

    def delete(self, value):
        bucket = value % self.m
        found = [entry for entry in self.chain(bucket) if self.value[entry] == value]
        if not found:
            return False
        self.point(bucket, found[0], self.link[found[0]])
        last = len(self.value) - 1
        if found[0] != last:
            self.point(self.value[last] % self.m, last, found[0])
            self.value[found[0]], self.link[found[0]] = self.value[last], self.link[last]
        self.value.pop()
        self.link.pop()
        return True

    def rebuilt(self, m, room, others=()):
        """The same values, and those of others, in another table: no key is needed."""
        table = Chains(m, self.bits, room, self.copies)
        for each in (self, *others):
            for value in each.value:
                table.insert(value)
        return table

    def body(self):
        def numbers(links, n):
            plain = [0 if link is None else link + 1 for link in links]
            return blocks(packed(plain + [0] * (n - len(plain)), 32))

        values = packed(self.value + [0] * (self.room - len(self.value)), self.bits)
        return numbers(self.head, self.m) + numbers(self.link, self.room) + blocks(values)


class OwnCuckoo:
    """The cuckoo table of Baleen: any number of buckets, (h(tag) - bucket) mod m for the other.

    Without walks: for so few keys that each finds a free slot at home or in its other bucket.
    exact: an IPv4 address or a hash of 64 bits is kept whole, with a bit that says that the slot
    is in use and one that it is not at home; else a slot is a fingerprint of 1 to 2^w - 1.
    """

    def __init__(self, m, b, width, keyed, exact, semi=False):
        self.m, self.b, self.width, self.keyed, self.exact = m, b, width, keyed, exact
        self.semi, self.log2 = semi, m.bit_length() - 1
        self.slot = [[0] * b for _ in range(m)]
        self.side = 1 << width - 2 if exact else 0

    def place(self, key):
        """Home bucket, what a slot there holds, other bucket."""
        if self.exact and self.width < 64:
            product = self.keyed.permuted(key) * self.m
            tag = (product & 0xffffffff) >> self.log2
            return product >> 32, tag | self.side << 1, self.other(product >> 32, tag)
        hashed = self.keyed.hash64(key)
        product, low = (hashed >> 32) * self.m, hashed & 0xffffffff
        home = product >> 32
        if self.exact:
            tag = ((product & 0xffffffff) >> self.log2) << 32 | low
            return home, tag | self.side << 1, self.other(home, tag)
        tag = 1 + (low * ((1 << self.width) - 1) >> 32)
        mixed = tag * 0x85ebca6b & 0xffffffff
        return home, tag, self.other(home, mixed ^ mixed >> 15)

    def other(self, bucket, tag):
        hashed = ((tag ^ tag >> 32) & 0xffffffff) * 0x9e3779b1 & 0xffffffff
        return ((hashed >> 32 - self.log2 if self.log2 else 0) - bucket) % self.m

    def has(self, key):
        home, slot, other = self.place(key)
        return slot in self.slot[home] or slot | self.side in self.slot[other]

    def insert(self, key):
        home, slot, other = self.place(key)
        if self.has(key):
            return
        bucket, slot = (home, slot) if 0 in self.slot[home] else (other, slot | self.side)
        self.slot[bucket][self.slot[bucket].index(0)] = slot
        if self.semi:
            self.slot[bucket].sort()

    def delete(self, key):
        home, slot, other = self.place(key)
        for bucket, held in ((other, slot | self.side), (home, slot)):
            self.slot[bucket] = [0 if each == held else each for each in self.slot[bucket]]
            if self.semi:
                self.slot[bucket].sort()

    def bits_of(self, bucket):
        """A number of 12 bits for the upper four of each, which ascend; then what is left."""
        rest = self.width - 4
        a, b, c, d = (slot >> rest for slot in bucket)
        number = (a + b * (b + 1) // 2 + c * (c + 1) * (c + 2) // 6 +
                  d * (d + 1) * (d + 2) * (d + 3) // 24)
        for i, slot in enumerate(bucket):
            number |= (slot & (1 << rest) - 1) << 12 + i * rest
        return number

    def body(self):
        if self.semi:
            n_bits = 4 * (self.width - 1)
            data = packed([self.bits_of(bucket) for bucket in self.slot], n_bits)
        else:
            n_bits = self.b * self.width
            data = packed([slot for bucket in self.slot for slot in bucket], self.width)
        if self.semi or not aligned(self.width, self.b):
            data = data.ljust((self.m * n_bits + 128 + 7) // 8, b"\0")
        return blocks(data)
