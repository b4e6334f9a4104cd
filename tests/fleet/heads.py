#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Publishers that are only for show: an own implementation of docs/fleet.md.

    heads.py policy N SEED-FILE    lines `host mNNNNN KEY`, all with one key, which is made
    heads.py ban N SEED-FILE       commands for redis-cli --pipe: a batch of each, with one ban
    heads.py send N SEED-FILE      likewise: a head of each, signed now
"""

import base64
import ctypes
import ctypes.util
import hashlib
import ipaddress
import os
import struct
import sys
import time

sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))


def keys(path, is_new):
    """Public and secret key of Ed25519, from a file of 32 bytes."""
    if is_new:
        with open(path, "wb") as file, open("/dev/urandom", "rb") as random:
            file.write(random.read(32))
    with open(path, "rb") as file:
        seed = file.read()
    public, secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
    sodium.crypto_sign_seed_keypair(public, secret, seed)
    return public.raw, secret.raw


def message(sort, publisher, secret, made, body):
    """Number 1 of incarnation 1 of a publisher of the fleet lab."""
    names = b"lab" + publisher.encode()
    signed = b"BLNF" + bytes([2, sort, 0, 0])
    signed += struct.pack("<II", 64 + len(names) + len(body) + 64, 1) + struct.pack("<QQ", 1, 1)
    signed += struct.pack("<QQQ", 1, 1, made) + bytes([3, len(publisher)]) + bytes(6) + names + body
    signature = ctypes.create_string_buffer(64)
    sodium.crypto_sign_detached(signature, None, signed, ctypes.c_ulonglong(len(signed)), secret)
    return signed + signature.raw


def entry(i, begun):
    """One ban of each, for a day."""
    address = ipaddress.ip_address("100.64.0.0") + i
    return bytes([1, 4, 32, 4]) + address.packed + b"bans" + \
        struct.pack("<QQ", begun, begun + 86400000) + b"\0"


def main():
    """As the head says."""
    what, n, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    sodium.sodium_init()
    public, secret = keys(path, what == "policy")
    out = sys.stdout.buffer
    now = int(time.time() * 1000)
    # Bans and heads are of one time, which the file of the seed has.
    begun = int(os.stat(path).st_mtime * 1000)
    for i in range(n):
        name = f"m{i:05}"
        if what == "policy":
            out.write(f"host {name} {base64.b64encode(public).decode()}\n".encode())
            continue
        ban = entry(i, begun)
        if what == "ban":
            words = [b"XADD", b"{lab}:log", b"*", b"m", message(1, f"{name}/a", secret, now, ban)]
        else:
            digest = hashlib.blake2b(ban, digest_size=16).digest()
            words = [b"HSET", b"{lab}:heads", f"{name}/a".encode(),
                     message(2, f"{name}/a", secret, now, digest)]
        out.write(b"*%d\r\n" % len(words))
        for word in words:
            out.write(b"$%d\r\n%s\r\n" % (len(word), word))


main()
