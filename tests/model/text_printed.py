# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The algorithms that text 000 prints, line by line, and how many keys they lose.

Algorithms 8 to 13, of the quotient filter: `QF[i]` is the remainder of a slot, since it is
compared with one and set to one; its three bits are named beside it. Slot numbers are modulo
m, also where the text lets them run on. A loop that a damaged table keeps going for ever is
cut: Endless. They are read in two ways:

  letter   as they stand: ShiftRight and ShiftLeft move whole slots, `occupied` with them
  kind     as if slips of the pen were mended: ShiftRight moves nothing from an empty slot,
           leaves `occupied` where it is, and marks the last remainder, too, as shifted
           (Algorithm 8); the index of line 23 is that of line 22 (Algorithm 10); ShiftLeft
           leaves `occupied`, too, where it is (12); line 16 clears the bit of f_q (13)

What is left in the kind reading is the algorithms': each remainder that ShiftRight moves is
marked as continuing the run before it, so runs grow into one; ShiftLeft goes on into the next
cluster, and is not called for the last remainder of a run.

Algorithm 2.14, of the cuckoo filter: buckets are a power of two.

Nothing here is what Baleen does: the corrected algorithms are in text_tables.py.
"""
import itertools
import random

from text_tables import Quotient

KICKS = 500


class Endless(Exception):
    """A loop of a printed algorithm that does not end."""


class PrintedQuotient:
    """Algorithms 8 to 13."""

    def __init__(self, q, r, kind=False):
        self.q, self.r, self.m, self.kind = q, r, 1 << q, kind
        self.rem = [None] * self.m
        self.occupied = [0] * self.m
        self.continued = [0] * self.m
        self.shifted = [0] * self.m
        self.steps = 0

    def step(self):
        self.steps += 1
        if self.steps > 64 * self.m:
            raise Endless

    def split(self, fingerprint):
        return fingerprint >> self.r, fingerprint & (1 << self.r) - 1

    def shift_right(self, i):
        """Algorithm 8."""
        if self.kind and self.rem[i] is None:
            return
        qbl, occupied, k = self.rem[i], self.occupied[i], i + 1
        while True:
            self.step()
            if k >= self.m:
                k = 0
            if self.rem[k] is None:
                self.rem[k] = qbl
                self.continued[k] = 1
                self.rem[i] = None
                if self.kind:
                    self.shifted[k] = 1
                else:
                    self.occupied[k], self.occupied[i] = occupied, 0
                return
            self.rem[k], qbl = qbl, self.rem[k]
            if not self.kind:
                self.occupied[k], occupied = occupied, self.occupied[k]
            self.continued[k] = 1
            self.shifted[k] = 1
            k += 1

    def scan(self, f_q):
        """Algorithm 9."""
        m, j = self.m, f_q
        while self.shifted[j] == 1:
            self.step()
            j = (j - 1) % m
        start = j
        while j != f_q:
            while self.continued[(start + 1) % m] == 1:
                self.step()
                start = (start + 1) % m
            start = (start + 1) % m
            while self.occupied[(j + 1) % m] != 1:
                self.step()
                j = (j + 1) % m
            self.step()
            j = (j + 1) % m
        end = start
        while self.continued[(end + 1) % m] == 1:
            self.step()
            end = (end + 1) % m
        return start, end

    def run(self, f_q):
        start, end = self.scan(f_q)
        return start, end, [(start + i) % self.m for i in range((end - start) % self.m + 1)]

    def insert(self, fingerprint):
        """Algorithm 10."""
        self.steps = 0
        f_q, f_r = self.split(fingerprint)
        if self.occupied[f_q] == 0 and self.rem[f_q] is None:
            self.rem[f_q] = f_r
            self.occupied[f_q] = 1
            return
        self.occupied[f_q] = 1
        start, end, run = self.run(f_q)
        for i in run:
            if self.rem[i] == f_r:
                return
            if self.rem[i] is not None and self.rem[i] > f_r:
                self.shift_right(i)
                self.rem[i] = f_r
                if i != start:
                    self.continued[i] = 1
                if i != f_q:
                    self.shifted[i] = 1
                return
        behind = (end + 1) % self.m
        self.shift_right(behind)
        self.rem[behind] = f_r
        self.continued[behind if self.kind else end] = 1
        if behind != f_q:
            self.shifted[behind] = 1

    def has(self, fingerprint):
        """Algorithm 11."""
        self.steps = 0
        f_q, f_r = self.split(fingerprint)
        return self.occupied[f_q] == 1 and any(self.rem[i] == f_r for i in self.run(f_q)[2])

    def shift_left(self, i):
        """Algorithm 12."""
        k = (i + 1) % self.m
        while self.rem[k] is not None:
            self.step()
            before = (k - 1) % self.m
            self.rem[before] = self.rem[k]
            self.shifted[before] = self.shifted[k]
            self.continued[before] = self.continued[k]
            if not self.kind:
                self.occupied[before] = self.occupied[k]
            self.rem[k] = None
            self.continued[k] = 0
            self.shifted[k] = 0
            k = (k + 1) % self.m

    def delete(self, fingerprint):
        """Algorithm 13."""
        self.steps = 0
        f_q, f_r = self.split(fingerprint)
        if self.occupied[f_q] != 1:
            return True
        start, end, run = self.run(f_q)
        for i in run:
            if self.rem[i] == f_r:
                self.rem[i] = None
                self.continued[i] = 0
                self.shifted[i] = 0
                if i != end:
                    self.shift_left(i)
                if start == end:
                    self.occupied[f_q if self.kind else i] = 0
                return True
        return False

    def slots(self):
        return [(self.rem[i], self.occupied[i], self.continued[i], self.shifted[i])
                for i in range(self.m)]

    def take(self, table):
        """The slots of a table that is right."""
        for i, (rem, *bits) in enumerate(table.slots()):
            self.rem[i] = rem
            self.occupied[i], self.continued[i], self.shifted[i] = bits


class PrintedCuckoo:
    """Algorithms 2.14 and 2.15; h is a random function, buckets are a power of two."""

    def __init__(self, rng, log2_buckets, b, p):
        self.rng, self.m, self.b, self.p = rng, 1 << log2_buckets, b, p
        self.bucket = [[] for _ in range(self.m)]
        self.salt = rng.randrange(1 << 30)

    def h(self, f):
        return random.Random(self.salt << 32 | f).randrange(self.m)

    def insert(self, f, i):
        j = i ^ self.h(f)
        for k in (i, j):
            if len(self.bucket[k]) < self.b:
                self.bucket[k].append(f)
                return True
        k = self.rng.choice((i, j))
        for _ in range(KICKS):
            x = self.rng.randrange(self.b)
            f, self.bucket[k][x] = self.bucket[k][x], f
            k ^= self.h(f)
            if len(self.bucket[k]) < self.b:
                self.bucket[k].append(f)
                return True
        return False

    def has(self, f, i):
        return f in self.bucket[i] or f in self.bucket[i ^ self.h(f)]


# --- how often -----------------------------------------------------------------

def lost_of(table, keys):
    """The keys that a look-up does not find, or does not end for."""
    lost = []
    for key in keys:
        try:
            if not table.has(key):
                lost.append(key)
        except Endless:
            lost.append(key)
    return lost


def insert_all(q, r, keys, kind):
    """A table by Algorithm 10, and whether every insertion ended."""
    table = PrintedQuotient(q, r, kind)
    try:
        for key in keys:
            table.insert(key)
    except Endless:
        return table, False
    return table, True


def right_table(q, r, keys):
    right = Quotient(q, r)
    for key in keys:
        right.insert(key)
    return right


def draw(seed, load, q=5, r=6):
    rng = random.Random(seed)
    return rng, rng.sample(range(1 << q + r), int(load * (1 << q)))


def quotient_insertions(load, n_tables, kind, q=5, r=6):
    n_lost = 0
    for seed in range(n_tables):
        _, keys = draw(seed, load)
        table, ended = insert_all(q, r, keys, kind)
        n_lost += not ended or bool(lost_of(table, keys))
    return n_lost


def quotient_lookups(load, n_tables, q=5, r=6):
    """Right tables in which Algorithms 9 and 11 miss a key."""
    n_missed = 0
    for seed in range(n_tables):
        _, keys = draw(seed, load)
        table = PrintedQuotient(q, r)
        table.take(right_table(q, r, keys))
        n_missed += bool(lost_of(table, keys))
    return n_missed


def delete_one(q, r, keys, victim, kind):
    """The keys that are lost when one is deleted from a right table by Algorithms 12 and 13."""
    table = PrintedQuotient(q, r, kind)
    table.take(right_table(q, r, keys))
    others = [key for key in keys if key != victim]
    try:
        table.delete(victim)
    except Endless:
        return others
    return lost_of(table, others)


def quotient_deletions(load, n_tables, kind, q=5, r=6):
    n_lost = 0
    for seed in range(n_tables):
        rng, keys = draw(seed, load)
        n_lost += bool(delete_one(q, r, keys, rng.choice(keys), kind))
    return n_lost


def cuckoo_first_false(n_tables, log2_buckets, b, p=16):
    """Tables that have lost a key which was reported inserted, at the first False; and the
    tables in which the key that was refused is found."""
    n_lost = n_refused_found = 0
    for seed in range(n_tables):
        rng = random.Random(seed)
        table, inserted = PrintedCuckoo(rng, log2_buckets, b, p), []
        while True:
            key = rng.randrange(1, 1 << p), rng.randrange(table.m)
            if not table.insert(*key):
                break
            inserted.append(key)
        n_lost += any(not table.has(*each) for each in inserted)
        n_refused_found += table.has(*key)
    return n_lost, n_refused_found


# --- the smallest examples -------------------------------------------------------

def show(q, r, key):
    return f"{key >> r:0{q}b}:{key & (1 << r) - 1:0{r}b}"


def smallest_insertion(kind, q=2, r=1):
    """The fewest keys of which one is lost, in a table of four slots that is not full."""
    for n in range(1, 1 << q):
        for keys in itertools.permutations(range(1 << q + r), n):
            table, ended = insert_all(q, r, keys, kind)
            if not ended or lost_of(table, keys):
                return keys, lost_of(table, keys)
    return None


def smallest_deletion(kind, q=2, r=1):
    for n in range(2, 1 << q):
        for keys in itertools.combinations(range(1 << q + r), n):
            for victim in keys:
                lost = delete_one(q, r, keys, victim, kind)
                if lost:
                    return keys, victim, lost
    return None


def example_12(kind):
    """The first key of Example 12 after which Algorithm 10 has other slots than the text."""
    named = [("v", 0b10001001010), ("w", 0b10011100111), ("x", 0b10011111111),
             ("y", 0b10100101101), ("z", 0b10100111110), ("a", 0b10100000000)]
    printed, right = PrintedQuotient(5, 6, kind), Quotient(5, 6)
    for n, (name, key) in enumerate(named, 1):
        printed.insert(key)
        right.insert(key)
        if printed.slots() != right.slots():
            lost = [other for other, each in named[:n] if not printed.has(each)]
            slots = [i for i in range(32) if printed.slots()[i] != right.slots()[i]]
            return name, slots, lost
    return None


def say_reading(kind):
    name = "kind" if kind else "letter"
    differs = example_12(kind)
    if differs:
        key, slots, lost = differs
        print(f"{name}: Example 12 by Algorithm 10: after {key} slots "
              f"{', '.join(map(str, slots))} are not those of the text; lost: "
              f"{', '.join(lost) or 'none'}")
    for load in (0.5, 0.9):
        print(f"{name}: Algorithms 8 to 11, q = 5, r = 6, load {load}: "
              f"{quotient_insertions(load, 400, kind)} of 400 tables lose a key")
    print(f"{name}: Algorithms 12 and 13, q = 5, r = 6, load 0.5, one deletion from a right "
          f"table: {quotient_deletions(0.5, 1000, kind)} of 1000 lose another key")
    keys, lost = smallest_insertion(kind)
    print(f"{name}: the smallest insertion, q = 2, r = 1: "
          f"{' '.join(show(2, 1, k) for k in keys)}: lost: "
          f"{' '.join(show(2, 1, k) for k in lost)}")
    keys, victim, lost = smallest_deletion(kind)
    print(f"{name}: the smallest deletion, q = 2, r = 1: of "
          f"{' '.join(show(2, 1, k) for k in keys)} goes {show(2, 1, victim)}: lost: "
          f"{' '.join(show(2, 1, k) for k in lost)}")


def report():
    say_reading(kind=False)
    say_reading(kind=True)
    print(f"Algorithms 9 and 11 on right tables, q = 5, r = 6, load 0.9: "
          f"{quotient_lookups(0.9, 400)} of 400 miss a key")
    for log2_buckets, b in ((7, 4), (3, 1)):
        n_lost, n_found = cuckoo_first_false(100, log2_buckets, b)
        print(f"Algorithm 2.14, {1 << log2_buckets} buckets of {b}, p = 16, {KICKS} kicks, at the "
              f"first False: {n_lost} of 100 tables have lost a key that was reported inserted; "
              f"{n_found} find the one that was refused")
