# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The hashes of the textbooks: MurmurHash3_x86_32 and FNV-1a, and a text in its form."""

import ipaddress

M32 = 0xffffffff


def rotate(x, n):
    return (x << n | x >> 32 - n) & M32


def murmur3(data, seed):
    """MurmurHash3_x86_32, as an unsigned number."""
    state = seed & M32
    for at in range(0, len(data) - len(data) % 4, 4):
        four = int.from_bytes(data[at:at + 4], "little")
        state ^= rotate(four * 0xcc9e2d51 & M32, 15) * 0x1b873593 & M32
        state = (rotate(state, 13) * 5 + 0xe6546b64) & M32
    tail = int.from_bytes(data[len(data) - len(data) % 4:], "little")
    state ^= rotate(tail * 0xcc9e2d51 & M32, 15) * 0x1b873593 & M32
    state ^= len(data)
    state = (state ^ state >> 16) * 0x85ebca6b & M32
    state = (state ^ state >> 13) * 0xc2b2ae35 & M32
    return state ^ state >> 16


def fnv1a(data):
    state = 0x811c9dc5
    for byte in data:
        state = (state ^ byte) * 0x01000193 & M32
    return state


def in_form(text, form):
    """The bytes of a text that are hashed."""
    if "hex" in form:
        return bytes.fromhex(text)
    return f"'{text}'".encode() if "quoted" in form else text.encode()


class Positions:
    """The k positions of a text in m bits; hash: murmur3, murmur3-fnv1a or bip37."""

    def __init__(self, m, k, name="murmur3", seed=0, form=()):
        self.m, self.k, self.name, self.seed, self.form = m, k, name, seed, tuple(form)
        self.counts_each = name != "bip37"

    def of(self, text):
        """In the order of the hashes; two may be the same."""
        data = in_form(text, self.form)
        if self.name == "bip37":
            return [murmur3(data, self.seed + i * 0xfba4c795) % self.m for i in range(self.k)]
        first = [self.number(murmur3(data, self.seed + i)) % self.m for i in range(self.k)]
        if self.name == "murmur3-fnv1a":
            bare = in_form(text, [word for word in self.form if word != "quoted"])
            return [first[0], fnv1a(bare) % self.m]
        return first

    def number(self, x):
        return x if "unsigned" in self.form or x < 1 << 31 else x - (1 << 32)


class Text:
    """One hash of 32 bits of a text, and that of a fingerprint."""

    def __init__(self, seed=0, form=()):
        self.seed, self.form = seed, tuple(form)

    def of(self, text):
        return murmur3(in_form(text, self.form), self.seed)

    def of_print(self, fingerprint):
        return murmur3(fingerprint.to_bytes(4, "little"), self.seed)


def permute32(words, x):
    """The permuted address: a bijection under the seed of an image."""
    x = (x ^ words[0]) & M32
    x = x * (words[0] >> 32 | 1) & M32
    x ^= x >> 16
    return x * (words[1] | 1) & M32


# --- the keyed hashes of Baleen ---------------------------------------------------

M64 = 0xffffffffffffffff


def splitmix64(state, n):
    """The words of a seed that is given as a number."""
    words = []
    for _ in range(n):
        state = (state + 0x9e3779b97f4a7c15) & M64
        words.append(mix64(state))
    return words


def mix64(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & M64
    x = (x ^ x >> 27) * 0x94d049bb133111eb & M64
    return x ^ x >> 31


def permute64(words, x):
    return mix64((words[0] ^ x) * (words[1] | 1) & M64)


def hash_ip6(words, address):
    """Multilinear-HM, twice (Lemire and Kaser 2014)."""
    k = words[2:]
    a = [address >> shift & M32 for shift in (96, 64, 32, 0)]
    x, y = ((k[i] + (k[i + 1] + a[0]) * (k[i + 2] + a[1]) +
             (k[i + 3] + a[2]) * (k[i + 4] + a[3])) & M64 for i in (0, 5))
    return mix64(x >> 32 << 32 | y >> 32)


class Keyed:
    """The hashes of an address under the words of a seed."""

    def __init__(self, words):
        self.words = words

    def number(self, address):
        return int(ipaddress.ip_address(address))

    def hash64(self, address):
        if ":" in address:
            return hash_ip6(self.words, self.number(address))
        return permute64(self.words, self.number(address))

    def permuted(self, address):
        return permute32(self.words, self.number(address))


class KeyedPositions:
    """p_i = mix64(hash + i * odd) * m >> 64."""
    counts_each = False

    def __init__(self, m, k, keyed):
        self.m, self.k, self.keyed = m, k, keyed

    def of(self, address):
        hashed = self.keyed.hash64(address)
        return [mix64(hashed + i * 0x9e3779b97f4a7c15 & M64) * self.m >> 64
                for i in range(self.k)]


class BlockedPositions:
    """One block of 512 bits, two of its words, k / 2 bits of each."""
    counts_each = False

    def __init__(self, n_blocks, k, keyed):
        self.n_blocks, self.m, self.k, self.keyed = n_blocks, 512 * n_blocks, k, keyed

    def of(self, address):
        hashed = self.keyed.hash64(address)
        g = hashed * 0x9e3779b97f4a7c15 & M64
        g ^= g >> 32
        block = (hashed >> 32) * self.n_blocks >> 32
        word = g & 7
        words = (word, word ^ 1 + ((g >> 3 & 255) * 7 >> 8))
        return [block * 512 + words[half] * 64 + (g >> (11, 35)[half] + 6 * i & 63)
                for half in (0, 1) for i in range(self.k // 2)]
