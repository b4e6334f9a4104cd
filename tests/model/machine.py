# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The machine under test: namespaces of its own, a veth pair, commands, the live program.
"""
import ctypes
import json
import os
import shutil
import socket
import struct
import subprocess
import time

from frames import DST_MAC
from rules import PASS
from sets import CannotRun, Disagreement


LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
MS_REC, MS_PRIVATE, MS_BIND = 16384, 1 << 18, 4096
SYS_BPF = 321
DEV, PEER = "va", "vb"
HOST4, HOST6, RESOLVER = "10.99.0.1", "fd99::1", "11.53.53.53"


def bpf(command, attr):
    ret = LIBC.syscall(SYS_BPF, command, ctypes.byref(attr), ctypes.sizeof(attr))
    if ret < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return ret


class ById(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("next", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("pad", ctypes.c_uint32 * 29)]


class TestRun(ctypes.Structure):
    _fields_ = [("fd", ctypes.c_uint32), ("retval", ctypes.c_uint32), ("n_in", ctypes.c_uint32),
                ("n_out", ctypes.c_uint32), ("data_in", ctypes.c_uint64),
                ("data_out", ctypes.c_uint64), ("repeat", ctypes.c_uint32),
                ("duration", ctypes.c_uint32), ("ctx", ctypes.c_uint32 * 22)]


def unshare(flags):
    if LIBC.unshare(flags):
        raise CannotRun("unshare: " + os.strerror(ctypes.get_errno()))


def setns(fd):
    if LIBC.setns(fd, 0):
        raise CannotRun("setns: " + os.strerror(ctypes.get_errno()))


def mount(source, target, fstype, flags=0, data=None):
    if LIBC.mount(source.encode(), target.encode(), fstype.encode() if fstype else None, flags,
                  data.encode() if data else None):
        raise CannotRun("mount %s: %s" % (target, os.strerror(ctypes.get_errno())))


class Machine:
    def __init__(self, baleen, directory):
        self.baleen, self.dir = baleen, directory
        self.log = []
        self.n_commands = self.n_killed = 0
        self.shadow = self.shim = None
        unshare(CLONE_NEWNS)
        mount("none", "/", None, MS_REC | MS_PRIVATE)
        mount("bpf", "/sys/fs/bpf", "bpf")
        resolv = os.path.join(directory, "resolv.conf")
        with open(resolv, "w") as file:
            file.write("nameserver %s\n" % RESOLVER)
        if os.path.exists("/etc/resolv.conf"):
            mount(resolv, "/etc/resolv.conf", None, MS_BIND)
        for name in ("CONF", "STATE", "RUN"):
            path = os.path.join(directory, name.lower())
            os.makedirs(path, mode=0o700)
            os.environ["BALEEN_%s_DIR" % name] = path
        self.conf_dir = os.environ["BALEEN_CONF_DIR"]
        os.environ["LC_ALL"] = "C"
        self.make_pair()
        self.prog_id = self.prog_fd = None

    def ip(self, *words):
        subprocess.run(["ip"] + list(words), check=True)

    @staticmethod
    def name_namespace(name):
        """What is applied in a namespace without a name ends with the boot."""
        os.makedirs("/run/netns", exist_ok=True)
        mount("netns", "/run/netns", "tmpfs")
        open("/run/netns/" + name, "w").close()
        mount("/proc/self/ns/net", "/run/netns/" + name, None, MS_BIND)

    def make_pair(self):
        unshare(CLONE_NEWNET)
        self.sender_ns = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.ip("link", "set", "lo", "up")
        unshare(CLONE_NEWNET)
        self.own_ns = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.name_namespace("model")
        self.ip("link", "set", "lo", "up")
        for name, value in (("accept_dad", 0), ("addr_gen_mode", 1), ("router_solicitations", 0)):
            with open("/proc/sys/net/ipv6/conf/default/" + name, "w") as file:
                file.write(str(value))
        self.ip("link", "add", DEV, "numrxqueues", "1", "numtxqueues", "1", "address",
                "02:00:00:00:00:01", "type", "veth", "peer", "name", PEER, "address",
                "02:00:00:00:00:02", "numrxqueues", "1", "numtxqueues", "1")
        self.ip("link", "set", PEER, "netns", "/proc/%d/fd/%d" % (os.getpid(), self.sender_ns))
        self.ip("addr", "add", HOST4 + "/24", "dev", DEV)
        self.ip("addr", "add", HOST6 + "/64", "dev", DEV, "nodad")
        self.ip("link", "set", DEV, "up")
        subprocess.run(["ethtool", "-K", DEV, "rxvlan", "off"], stderr=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        setns(self.sender_ns)
        with open("/proc/sys/net/ipv6/conf/%s/disable_ipv6" % PEER, "w") as file:
            file.write("1")
        self.ip("link", "set", PEER, "arp", "off")
        self.ip("link", "set", PEER, "up")
        subprocess.run(["ethtool", "-K", PEER, "txvlan", "off"], stderr=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        self.sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sender.bind((PEER, 0))
        setns(self.own_ns)
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.tap.bind((DEV, 3))
        self.tap.settimeout(5)
        time.sleep(0.2)

    # --- commands

    def note(self, text):
        self.log.append(text)
        if len(self.log) > 20000:
            del self.log[:10000]

    # --- a disk on which only what was synced survives

    def shadow_reset(self):
        shutil.rmtree(self.shadow, ignore_errors=True)
        os.makedirs(self.shadow + "/i")
        os.makedirs(self.shadow + "/d")
        for top, directories, files in os.walk(os.environ["BALEEN_STATE_DIR"]):
            with open(self.shadow + "/d/" + top.replace("/", "%"), "w") as listing:
                for name in directories + files:
                    path = os.path.join(top, name)
                    inode = os.lstat(path).st_ino
                    listing.write("%s %d %s\n" % ("d" if name in directories else "f", inode, name))
                    if name in files:
                        shutil.copy(path, "%s/i/%d" % (self.shadow, inode))

    def shadow_restore(self):
        """The state directory as a power cut leaves it."""
        root = os.environ["BALEEN_STATE_DIR"]
        made = root + ".new"
        lost = []

        def build(source, target):
            os.makedirs(target, mode=0o700, exist_ok=True)
            listing = self.shadow + "/d/" + source.replace("/", "%")
            if not os.path.exists(listing):
                lost.append("names of " + source)
                return
            with open(listing) as file:
                lines = file.read().splitlines()
            for line in lines:
                kind, inode, name = line.split(" ", 2)
                if kind == "d":
                    build(source + "/" + name, target + "/" + name)
                    continue
                content = "%s/i/%s" % (self.shadow, inode)
                if os.path.exists(content):
                    shutil.copy(content, target + "/" + name)
                else:
                    open(target + "/" + name, "w").close()
                    lost.append("bytes of " + source + "/" + name)
                os.chmod(target + "/" + name, 0o600)
        build(root, made)
        shutil.rmtree(root)
        os.rename(made, root)
        for top, directories, files in os.walk(os.environ["BALEEN_RUN_DIR"]):
            for name in files:
                os.unlink(os.path.join(top, name))
        self.shadow_reset()
        return lost

    def run(self, *words, stdin=None, kill_after=None, env=None):
        """(exit status, stdout, stderr); the status is -9 when it was killed."""
        words = [str(w) for w in words]
        self.n_commands += 1
        if self.shadow and env is None:
            env = {"LD_PRELOAD": self.shim, "SHIM_SHADOW": self.shadow,
                   "SHIM_ROOT": os.environ["BALEEN_STATE_DIR"]}
        self.note("$ baleen " + " ".join("'%s'" % w if set(w) & set(" !*'") else w
                                         for w in words) +
                  (" <<<%r" % stdin if stdin else ""))
        child = subprocess.Popen([self.baleen] + words, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 start_new_session=True,
                                 env=dict(os.environ, **env) if env else None)
        if kill_after is not None:
            if stdin:
                child.stdin.write(stdin)
                child.stdin.close()
                child.stdin = None
            try:
                child.wait(kill_after)
            except subprocess.TimeoutExpired:
                child.kill()
                self.n_killed += 1
            out, err = child.communicate()
        else:
            try:
                out, err = child.communicate(stdin, timeout=60)
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
                raise Disagreement("hangs for 60 s")
        self.note("  -> %d %s" % (child.returncode, (err or out).strip().replace("\n", " | ")[:300]))
        if child.returncode < 0 and not (kill_after is not None and child.returncode == -9):
            raise Disagreement("ended by signal %d: %s" % (-child.returncode, err[-300:]))
        return child.returncode, out, err

    # --- the live program

    def find_program(self):
        out = subprocess.run(["ip", "-j", "link", "show", DEV], stdout=subprocess.PIPE,
                             text=True, check=True).stdout
        link = json.loads(out)[0]
        prog = link.get("xdp", {}).get("prog", {}).get("id")
        if prog != self.prog_id or prog is None:
            if self.prog_fd is not None:
                os.close(self.prog_fd)
            self.prog_fd = None
            self.prog_id = prog
            if prog is not None:
                self.prog_fd = bpf(13, ById(id=prog))
        return prog

    def ask(self, frame):
        if self.prog_fd is None:
            return PASS
        buffer = ctypes.create_string_buffer(frame, len(frame))
        attr = TestRun(fd=self.prog_fd, n_in=len(frame), data_in=ctypes.addressof(buffer),
                       repeat=1)
        bpf(10, attr)
        return attr.retval

    # --- real frames

    def send(self, frames, end_ident):
        """Which identifications arrived; an ARP frame of the last one ends them."""
        self.tap.setblocking(False)
        try:
            while True:
                self.tap.recv(4096)
        except BlockingIOError:
            pass
        self.tap.settimeout(5)
        for frame in frames:
            self.sender.send(frame)
        mark = b"BLNM" + struct.pack("!I", end_ident)
        self.sender.send(DST_MAC + b"\x02\0\0\0\0\x02" + struct.pack("!H", 0x0806) +
                         b"\0" * 38 + mark)
        arrived = set()
        while True:
            try:
                data, address = self.tap.recvfrom(4096)
            except socket.timeout:
                raise Disagreement("an ARP frame did not arrive")
            if address[2] == 4 or data[-8:-4] != b"BLNM":
                continue
            ident = struct.unpack("!I", data[-4:])[0]
            if ident == end_ident:
                return arrived
            arrived.add(ident)
