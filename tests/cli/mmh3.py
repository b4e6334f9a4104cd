# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The Bloom filter that Python programs have, beside which ours is held.

mmh3.py make DIRECTORY       writes lists, and a line of options for each
mmh3.py compare DIRECTORY    compares the images that were built of them
"""
import ipaddress
import json
import random
import struct
import sys
from pathlib import Path

from bitarray import bitarray
from murmurhash import mrmr

SEED = 20110825
HEADER_BYTES = 512
DOMAIN = {"src4": 0, "src6": 1, "string": 3, "hex": 3}
FORMS = ("", "unsigned", "quoted", "unsigned,quoted", "hex", "unsigned,hex")
STEPS = {"murmur3": 1, "bip37": 0xFBA4C795}


class BloomFilter:
    """The usual class: mmh3.hash(item, i) % size, hash and remainder signed as
    Python has them.
    """

    def __init__(self, size, hash_count):
        self.size = size
        self.hash_count = hash_count
        self.bit_array = bitarray(size, endian="little")
        self.bit_array.setall(0)
        self.counts = [0] * size

    def hash(self, item, i):
        return mrmr.hash(item, i)

    def positions(self, item):
        return [self.hash(item, i) % self.size for i in range(self.hash_count)]

    def counted(self, item):
        """Positions that coincide count each, as the texts have it."""
        return self.positions(item)

    def add(self, item):
        for position in self.counted(item):
            self.counts[position] += 1
            self.bit_array[position] = 1

    def check(self, item):
        return all(self.bit_array[position] for position in self.positions(item))


class TwoHashes(BloomFilter):
    """Murmur3 and FNV-1a, for k = 2."""

    def positions(self, item):
        fnv = 0x811C9DC5
        for byte in item:
            fnv = (fnv ^ byte) * 0x01000193 & 0xFFFFFFFF
        return [mrmr.hash(item, 0) % self.size, fnv % self.size]


class Formed(BloomFilter):
    """From a seed on, unsigned, of the item in quotes or of what its digits say."""

    def __init__(self, size, hash_count, step, seed, form):
        super().__init__(size, hash_count)
        self.step, self.seed, self.form = step, seed, form

    def counted(self, item):
        """BIP 37 has no counters: there they count once."""
        return self.positions(item) if self.step == 1 else set(self.positions(item))

    def hash(self, item, i):
        if "quoted" in self.form:
            item = b"'" + item + b"'"
        if "hex" in self.form:
            item = bytes.fromhex(item.decode())
        value = mrmr.hash(item, (self.seed + i * self.step) % 2**32)
        return value % 2**32 if "unsigned" in self.form or self.step != 1 else value


def random_key(rng, key):
    if key == "src4":
        return str(ipaddress.IPv4Address(rng.getrandbits(32)))
    if key == "src6":
        return str(ipaddress.IPv6Address(rng.getrandbits(128)))
    if key == "hex":
        return rng.randbytes(rng.randrange(1, 40)).hex()
    letters = "abcdefghijklmnopqrstuvwxyz0123456789:/.#é \t"
    return "x" + "".join(rng.choice(letters) for _ in range(rng.randrange(40)))


def key_bytes(key, text):
    if key in ("string", "hex"):
        return text.encode()
    return ipaddress.ip_address(text).packed


def cases():
    rng = random.Random(SEED)
    for i in range(36):
        key = ("src4", "src6", "string")[i % 3]
        size = 2 ** rng.randrange(16) if i % 4 == 0 else rng.randrange(1, 40000)
        kind = "counting" if i % 5 == 4 else "classic"
        hash_name, hash_count = "murmur3", rng.randrange(1, 33)
        if i % 7 == 6:
            hash_name, hash_count = "murmur3-fnv1a", 2
        keys = sorted({random_key(rng, key) for _ in range(rng.randrange(1, 300))})
        others = [random_key(rng, key) for _ in range(300)] + keys[:50]
        yield i, key, kind, hash_name, size, hash_count, None, keys, others
    for i in range(36, 48):
        form = FORMS[i % 6]
        hash_name = "bip37" if i >= 42 and "quoted" not in form else "murmur3"
        key, kind = "hex" if "hex" in form else "string", ("classic", "counting")[i % 5 == 4]
        keys = sorted({random_key(rng, key) for _ in range(rng.randrange(1, 300))})
        others = [random_key(rng, key) for _ in range(300)] + keys[:50]
        size, hash_count = rng.randrange(1, 40000), rng.randrange(1, 33)
        formed = STEPS[hash_name], rng.getrandbits(32), form
        yield i, key, kind, hash_name, size, hash_count, formed, keys, others


def form_options(formed):
    if not formed:
        return ""
    return f"--hash-seed {formed[1]} " + (f"--hash-form {formed[2]} " if formed[2] else "")


def new_filter(hash_name, size, hash_count, formed):
    if formed:
        return Formed(size, hash_count, *formed)
    return (TwoHashes if hash_name == "murmur3-fnv1a" else BloomFilter)(size, hash_count)


def make(directory):
    for i, key, kind, hash_name, size, hash_count, formed, keys, others in cases():
        base = directory / str(i)
        base.with_suffix(".list").write_text("".join(k + "\n" for k in keys))
        base.with_suffix(".others").write_text("".join(k + "\n" for k in others))
        base.with_suffix(".options").write_text(
            f"--key {'string' if DOMAIN[key] == 3 else 'src'} --kind {kind} "
            f"--hash {hash_name} {form_options(formed)}--bits {size} --hashes {hash_count}\n"
        )


def body(image, domain):
    """The blocks of a table, and where its counters begin."""
    at = 256 + 32 * domain
    first, n_blocks, n_buckets = struct.unpack_from("<III", image, at + 4)
    return image[first * 64 : (first + n_blocks) * 64], n_buckets * 64


def compare(directory):
    n_bits = n_found = n_asked = 0
    for i, key, kind, hash_name, size, hash_count, formed, keys, others in cases():
        bloom = new_filter(hash_name, size, hash_count, formed)
        for text in keys:
            bloom.add(key_bytes(key, text))
        image = (directory / f"{i}.bln").read_bytes()
        table, n_plane = body(image, DOMAIN[key])
        plane = bloom.bit_array.tobytes().ljust(n_plane, b"\0")
        what = f"case {i}: {kind} {hash_name}, m = {size}, k = {hash_count}, {len(keys)} {key}"
        assert table[:n_plane] == plane, f"{what}: other bits"
        if kind == "counting":
            nibbles = [min(count, 15) for count in bloom.counts] + [0] * (n_plane * 8 - size)
            counters = bytes(a | b << 4 for a, b in zip(nibbles[::2], nibbles[1::2]))
            assert table[n_plane:] == counters, f"{what}: other counters"
        want = [text for text in others if bloom.check(key_bytes(key, text))]
        got = (directory / f"{i}.found").read_text().split("\n")[:-1]
        assert got == want, f"{what}: found {len(got)}, not {len(want)}"
        n_bits += size
        n_found += len(want)
        n_asked += len(others)
    print(json.dumps({"bits": n_bits, "asked": n_asked, "found": n_found}))


def verify():
    """The verification value of SMHasher: this is MurmurHash3_x86_32."""
    hashes = (mrmr.hash(bytes(range(i)), 256 - i) for i in range(256))
    value = mrmr.hash(b"".join(struct.pack("<i", h) for h in hashes), 0)
    assert value % 2**32 == 0xB0F57EE3, hex(value % 2**32)


verify()
{"make": make, "compare": compare}[sys.argv[1]](Path(sys.argv[2]))
