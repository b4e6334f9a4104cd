# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Packets as the model sees them, and their bytes."""
import struct


PORT_PROTOS = (6, 17, 132, 33, 136)
DST_MAC = b"\x02\0\0\0\0\x01"


def checksum(data):
    if len(data) & 1:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def make_packet(rng, fam, src, dst, proto, sport, dport, opens, vlan, shape, hop=64, icmp=128):
    """A packet as the model sees it."""
    packet = {"fam": fam, "src": src, "dst": dst, "proto": proto, "sport": 0, "dport": 0,
              "opens": opens, "vlan": vlan, "shape": shape, "vital": False, "hop": hop,
              "icmp": icmp, "wire": (sport, dport)}
    if proto in PORT_PROTOS:
        packet["sport"], packet["dport"] = sport, dport
    if shape == "later":            # a later fragment
        packet["opens"] = False
        if proto in PORT_PROTOS:
            packet["sport"] = packet["dport"] = None
    if proto == 58 and shape != "later":
        packet["vital"] = (hop == 255 and 133 <= icmp <= 137) or \
            (hop == 1 and (130 <= icmp <= 132 or icmp == 143))
    return packet


def frame_of(packet, ident):
    """Its bytes; the last eight are the identification."""
    proto, shape = packet["proto"], packet["shape"]
    sport, dport = packet["wire"]
    if proto == 6:
        flags = 0x02 if packet["opens"] else 0x10
        upper = struct.pack("!HHIIBBHHH", sport, dport, 1, 2, 5 << 4, flags, 1000, 0, 0)
    elif proto in PORT_PROTOS:
        upper = struct.pack("!HHHH", sport, dport, 16, 0)
    elif proto == 58:
        upper = struct.pack("!BBHI", packet["icmp"], 0, 0, 0)
    else:
        upper = struct.pack("!BBHI", 8, 0, 0, 0)
    payload = upper + b"BLNM" + struct.pack("!I", ident)
    if packet["fam"] == 4:
        options = b"\x01" * 8 if shape == "options" else b""
        frag = 185 if shape == "later" else (0x2000 if shape == "first" else 0)
        length = 20 + len(options) + len(payload)
        head = struct.pack("!BBHHHBBH", 0x45 + len(options) // 4, 0, length, ident & 0xffff, frag,
                           packet["hop"], proto, 0)
        head += packet["src"].to_bytes(4, "big") + packet["dst"].to_bytes(4, "big") + options
        head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
        body, ethertype = head + payload, 0x0800
    else:
        following, extra = proto, b""
        if shape == "options":      # hop-by-hop, destination options, routing
            extra = struct.pack("!BB6s", 60, 0, b"\x01\x04\0\0\0\0") + \
                struct.pack("!BB6s", 43, 0, b"\x01\x04\0\0\0\0") + \
                struct.pack("!BBBB4s", proto, 0, 4, 0, b"\0\0\0\0")
            following = 0
        elif shape in ("later", "first"):
            extra = struct.pack("!BBHI", proto, 0, 185 << 3 if shape == "later" else 1, ident)
            following = 44
        body = struct.pack("!IHBB", 6 << 28, len(extra) + len(payload), following, packet["hop"])
        body += packet["src"].to_bytes(16, "big") + packet["dst"].to_bytes(16, "big")
        body += extra + payload
        ethertype = 0x86dd
    tags = b""
    if packet["vlan"] is not None:
        tags = struct.pack("!HH", 0x8100, packet["vlan"])
        if ident % 5 == 0:          # a priority tag before it
            tags = struct.pack("!HH", 0x8100, 0x6000) + tags
        elif ident % 5 == 1:        # another VLAN behind it
            tags = struct.pack("!HH", 0x88a8, packet["vlan"]) + struct.pack("!HH", 0x8100, 77)
    return DST_MAC + b"\x02\0\0\0\0\x02" + tags + struct.pack("!H", ethertype) + body
