# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make            build everything into build/, no root needed
# make demo       as root: install what is missing, build, drop real traffic
# make check      as root: install what is missing, run every test; slow ones take samples
# make check-all  the same, and the slow ones try everything: CONTRIBUTING.md says what
# make check T=why  only the tests whose names hold `why`, or the unit tests of the room
#                 user/lib/why; of check-all, too
# make unit       unit, worlds-without-kernel and command line tests, no root
# make ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=DIR   for arm64, in a clean tree, with
#                 the libraries of a Debian of arm64 in DIR: tests/arm64/sysroot makes one
# make kmod       the kernel module, into build/kmod/RELEASE/, KDIR= for another kernel
# make check-xdp  tests on real devices in network namespaces, as root
# make check-model  random sequences of commands, held to a model, as root
# make check-kmod  the kernel module under kernels 6.1 and 6.12, in a VM
# make check-kasan  the same under a kernel with KASAN, lockdep, kmemleak and UBSAN
# make fuzz-kmod  the ioctls and writes of the kernel module, in a VM, FUZZ_SECONDS=300
# make check-kernels  load and attach under kernels 6.1 and 6.12, in a VM
# make check-boot  power cuts, boots and upgrades of a virtual machine, as root
# make check-fleet  bans of a fleet over Redis, in network namespaces, as root
# make check-squid  ICP, digests and feeds with real Squids in network namespaces, as root
# make check-arm64  for arm64: builds all there is, and tries it in emulated processes and machines, as root
# make check-order  ORDER_ROUNDS=10000: loads and stores of several processors; for real arm64, as root
# make check-html  the pages of --html in a headless Chromium, as root
# make check-releases  in the other Debian, 12 or 13, and by every clang of both, as root
# make check-deb  build the packages, install, upgrade and remove them, as root
# make bench-xdp  nanoseconds per packet of Baleen and its peers, as root
# make bench-set   a signed set beside a local list: bytes, and milliseconds to what packets see
# make bench-build  seconds to build an image of a list, and to match one, by one thread and two
# make bench-path  packets per second through veth, with Baleen and its peers, as root
# make bench-lib  nanoseconds per key of the filters in userspace and of their peers
# make bench-bans  milliseconds per ban, and bans per second by `baleen feed`
# make bench-kmod  instructions per query of the kernel module and of the XDP program
# make bench-commands  milliseconds of one command, and of its peers, as root
# make bench-fleet  bans to 10, 100 and 500 readers over a Redis: latency, and what it costs, as root
# make bench-squid  answers to ICP queries, and what they cost a Squid, as root
# make bench      every benchmark, as root
# make vectors    build/vectors/*.json: small tables of every kind for other implementations, see docs/vectors.md
# make docs       check that the public headers are fully documented
# make install    DESTDIR= prefix=/usr/local sbindir= libdir= docdir= mandir= unitdir= udevdir= sysconfdir= exampledir=
# make uninstall  the same variables: removes what that puts there, but sysconfdir
# make install-dkms  DESTDIR= the module's sources for DKMS, into /usr/src
# make deb        Debian packages into build/deb/, RELEASE= for another version
# make clean

SHELL := /bin/bash
# bpftool and ip live in sbin, which a user's PATH lacks on Debian.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:

# debian/changelog is the one place that says which release this is.
RELEASE ?= $(shell sed -n '1s/^baleen (\(.*\)) .*/\1/p' debian/changelog)
# What user/api/libbaleen.map calls LIBBALEEN_0.1.
API_VERSION := 0.1
API_SONAME := libbaleen.so.0

prefix ?= /usr/local
sbindir ?= $(prefix)/sbin
includedir ?= $(prefix)/include
libdir ?= $(prefix)/lib
datadir ?= $(prefix)/share
docdir ?= $(datadir)/doc/baleen
mandir ?= $(datadir)/man
unitdir ?= $(prefix)/lib/systemd/system
udevdir ?= $(prefix)/lib/udev/rules.d
sysconfdir ?= /etc
exampledir ?= $(docdir)/examples
# Kbuild takes the first two, too, where they are given to make.
CC := $(CROSS_COMPILE)gcc$(if $(SYSROOT), --sysroot=$(SYSROOT))
LD := $(CROSS_COMPILE)ld
AR := $(CROSS_COMPILE)ar
OBJCOPY := $(CROSS_COMPILE)objcopy
OBJDUMP := $(CROSS_COMPILE)objdump
CLANG ?= clang
BPFTOOL ?= bpftool
# The kernel's own headers for <asm/types.h> when the target is BPF.
MULTIARCH = $(shell $(CC) -print-multiarch)

WARN := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
CPPFLAGS += -D_GNU_SOURCE -I include -I include/uapi -I build -I user -I user/lib -I user/api
CFLAGS ?= -O2 -g
# The same bytes from any directory.
PREFIX_MAP := -ffile-prefix-map=$(CURDIR)=.
# One object serves the programs and the shared library, which shows only its API.
BASE_CFLAGS = $(PREFIX_MAP) -std=gnu11 -fPIC -fvisibility=hidden $(WARN)
# The rules are unrolled: clang's own limit would make a loop of all 16, whose
# constants the verifier then does not see.
BPF_CFLAGS = $(PREFIX_MAP) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter -I include -I bpf -I $(SYSROOT)/usr/include/$(MULTIARCH) -mllvm -pragma-unroll-threshold=200000
# Only programs that sign or verify load libsodium.
LIBS = -lxdp -lbpf -lelf -lz -ljansson -lmnl -lcsv -lsqlite3 -Wl,--push-state,--as-needed -lsodium -Wl,--pop-state -lm
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

LIB_SRC := $(wildcard user/lib/*.c user/lib/*/*.c)
CLI_SRC := $(wildcard user/cli/*.c user/cli/*/*.c)
API_SRC := $(wildcard user/api/*.c)
FETCH_SRC := $(wildcard user/fetch/*.c)
FLEETD_SRC := $(wildcard user/fleetd/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
TOOL_SRC := $(wildcard tests/tools/*.c)
KMOD_TEST_SRC := $(filter-out %.bpf.c,$(wildcard tests/kmod/*.c))
UNITS := $(wildcard user/systemd/*.service user/systemd/*.timer user/systemd/*.path)
UDEV_RULES := $(wildcard user/udev/*.rules)
SHARED := $(wildcard user/adapters/* user/grafana/* user/prometheus/* user/redis/*) user/conf/example.conf
BENCH_SRC := $(filter-out %.bpf.c,$(wildcard tests/bench/*.c))
BPF_SRC := $(wildcard bpf/*.bpf.c)
TEST_BPF_SRC := $(wildcard tests/worlds/*.bpf.c tests/bench/*.bpf.c tests/kmod/kfunc/*.bpf.c)

LIB_OBJ := $(LIB_SRC:%.c=build/%.o)
CLI_OBJ := $(CLI_SRC:%.c=build/%.o)
DAEMON_SRC := $(wildcard user/daemon/*.c)
DAEMON_OBJ := $(DAEMON_SRC:%.c=build/%.o)
API_OBJ := $(API_SRC:%.c=build/%.o)
API_LIB := build/api/libbaleen.so.$(API_VERSION) build/api/libbaleen.a
ASAN_OBJ := $(LIB_SRC:%.c=build/asan/%.o) $(API_SRC:%.c=build/asan/%.o) \
	$(patsubst %.c,build/asan/%.o,$(filter-out %/main.c,$(FETCH_SRC)))
# What the fuzz targets link; each of clang's objects takes a second of a processor.
FUZZ_LIB := $(wildcard $(patsubst %,user/lib/%.c,util/* key/* list/* net/* filter/* deploy/conf* report/metrics report/metrics_families report/metrics_rows \
	fleet/fleet_entry fleet/fleet_batch fleet/fleet_conf fleet/fleet_keys fleet/fleet_policy icp/digest icp/icp_words icp/squid_objects icp/squid_source icp/squid_set icp/store_log icp/swap_state set/* state/book state/book_shared state/database_file state/draft_copies state/entries* state/entry_bytes state/entry_import state/entry_json state/entry_key state/entry_line state/entry_row state/feed_guard state/feeds state/journal state/rule_bans state/rule_scopes state/scope \
	state/rule_store state/rule_store_commit state/rule_store_path state/rule_store_rules state/rule_store_texts \
	state/set_feed state/sql* state/unkept xdp/limit_words xdp/pins xdp/qualifiers xdp/ruleset))
FUZZ_OBJ := $(FUZZ_LIB:%.c=build/fuzzed/%.o)
# The program of bpf/baleen.bpf.c for what comes in and what goes out, with room for fewer
# rules, and with calls of conntrack, which not every kernel can load. user/lib/xdp/bpf_objects.c
# carries these and that of ICP compressed; others have a skeleton.
FLAGS_baleen_1 := -D BALEEN_PROGRAM_RULES=1
FLAGS_baleen_4 := -D BALEEN_PROGRAM_RULES=4
FLAGS_egress_1 := -D BALEEN_PROGRAM_EGRESS $(FLAGS_baleen_1)
FLAGS_egress_16 := -D BALEEN_PROGRAM_EGRESS
FLAGS_conntrack_in_4 := -D BALEEN_PROGRAM_CONNTRACK $(FLAGS_baleen_4)
FLAGS_conntrack_in_16 := -D BALEEN_PROGRAM_CONNTRACK
FLAGS_conntrack_out_4 := -D BALEEN_PROGRAM_CONNTRACK -D BALEEN_PROGRAM_EGRESS $(FLAGS_baleen_4)
FLAGS_conntrack_out_16 := -D BALEEN_PROGRAM_CONNTRACK $(FLAGS_egress_16)
CARRIED := build/baleen.bpf.o $(patsubst FLAGS_%,build/%.bpf.o,$(filter FLAGS_%,$(.VARIABLES)))
BPF_OBJ := $(sort $(BPF_SRC:bpf/%.bpf.c=build/%.bpf.o) $(CARRIED))
SKELETONS := build/section.skel.h build/slot.skel.h
TEST_SKELETONS := $(patsubst %.bpf.c,build/%.skel.h,$(TEST_BPF_SRC))
PROGRAMS := build/baleen build/baleend
# Programs that others start, as installed: found from where the one that starts them is.
HELPERS := $(patsubst %,build/libexec/baleen/baleen-%,fetch fleetd fleet-demo icp-demo)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=build/unit/%)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)
TOOL_BIN := $(TOOL_SRC:tests/tools/%.c=build/tools/%) build/tools/shim.so build/tools/clock.so
KFUNC_TEST_BIN := $(patsubst tests/kmod/kfunc/%.c,build/kmod-test/kfunc/%,$(filter-out %.bpf.c,$(wildcard tests/kmod/kfunc/*.c)))
# What a 32-bit process sees, where the compiler makes those, too.
KMOD_TEST_BIN := $(foreach bits,$(if $(CROSS_COMPILE),,32) 64,$(KMOD_TEST_SRC:tests/kmod/%.c=build/kmod-test/$(bits)/%))
KMOD_STRESS_SRC := $(wildcard tests/kmod/stress/*.c)
KMOD_STRESS_BIN := $(KMOD_STRESS_SRC:tests/kmod/stress/%.c=build/kmod-test/stress/%) build/kmod-test/fuzz/fuzz
BENCH_BIN := $(BENCH_SRC:tests/bench/%.c=build/bench/%)

.PHONY: all kmod kmod-vm unit check check-kmod check-xdp check-kernels check-boot check-deb check-fleet check-squid check-releases check-all bench bench-xdp bench-bans bench-build bench-set bench-path bench-limit bench-lib bench-kmod bench-commands bench-fleet bench-squid demo docs vectors install uninstall install-dkms deb clean tests
.PHONY: releases-built check-model check-arm64 check-order check-now check-all-now check-chosen check-html
.PHONY: deps-browser deps-build deps-demo deps-test deps-bench deps-deb FORCE
.PHONY: check-kasan fuzz-kmod deps-kasan
all: $(PROGRAMS) $(HELPERS) build/libbaleen.a $(API_LIB) $(BPF_OBJ)
tests: $(UNIT_BIN) $(TOOL_BIN) $(KMOD_TEST_BIN) $(KFUNC_TEST_BIN) $(KMOD_STRESS_BIN) build/worlds/worlds build/worlds/live build/worlds/parity build/worlds/lists

# --- packages -------------------------------------------------------------

# $(call install,GROUP...): installs the packages of these groups that are missing.
define install
missing=$$(sed 's/#.*//' packages | while read -r group package; do \
	case " $(1) " in *" $$group "*) ;; *) continue ;; esac; \
	dpkg-query -W -f '$${Status}' "$$package" 2>/dev/null | grep -q '^install ok' || echo "$$package"; \
done); \
if [ -n "$$missing" ]; then \
	echo "installing:" $$missing; \
	apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends $$missing; \
fi
endef

deps-build:
	@$(call install,build)
deps-demo:
	@$(call install,build demo)
deps-test:
	@$(call install,build demo test deb cross)
deps-browser:
	@$(call install,browser)
deps-bench:
	@$(call install,build demo test bench)
deps-kasan:
	@$(call install,build demo test kasan)
deps-deb:
	@$(call install,build deb)

# --- BPF ------------------------------------------------------------------

HEADERS := $(wildcard include/baleen/*.h bpf/*.h)

build/%.bpf.o: bpf/%.bpf.c $(HEADERS)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@.tmp
	llvm-strip -g $@.tmp && mv $@.tmp $@

$(CARRIED): build/%.bpf.o: bpf/baleen.bpf.c $(HEADERS)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) $(FLAGS_$*) -c $< -o $@.tmp
	llvm-strip -g $@.tmp && mv $@.tmp $@

build/%.skel.h: build/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@

build/%.bpf.o.gz: build/%.bpf.o
	gzip -9nc $< >$@

build/user/lib/xdp/bpf_objects.o build/asan/user/lib/xdp/bpf_objects.o: $(CARRIED:%=%.gz) build/icp.bpf.o.gz

build/tests/%.bpf.o: tests/%.bpf.c $(HEADERS) $(wildcard tests/bench/*.h tests/worlds/*.h tests/kmod/kfunc/*.h include/uapi/linux/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@.tmp
	llvm-strip -g $@.tmp && mv $@.tmp $@

build/tests/%.skel.h: build/tests/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@

# --- library and command line ---------------------------------------------

BPF_COMPILER := $(shell $(CLANG) -dumpversion)
define RELEASE_H
#define BALEEN_RELEASE "$(RELEASE)"
#define BALEEN_BPF_COMPILER "$(BPF_COMPILER)"
endef
export RELEASE_H

# Written when it says another release, so that only who shows it is built anew.
build/release.h: FORCE
	@mkdir -p $(@D)
	@echo "$$RELEASE_H" | cmp -s - $@ || echo "$$RELEASE_H" >$@

# The libraries that are loaded at their first use, and their names: user/late/late.c.
build/late.so: user/late/late.c user/cli/device/curses_calls.h user/lib/net/logind_calls.h
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) -shared -o $@ $< -lncursesw -lsystemd

build/late.h: build/late.so
	$(OBJDUMP) -p $< | sed -nE 's/.*NEEDED +(lib(ncursesw|systemd)[-.].*)/#define BALEEN_LIB\U\2\E "\1"/p' >$@

build/textbook.inc: user/cli/file/textbook.awk user/man/baleen-textbook.7
	@mkdir -p $(@D)
	awk -f $^ >$@

# Pages allow their scripts, and no others, by hash: base64 of SHA-256, as `script-src` of a
# Content-Security-Policy has it.
PAGE_SCRIPTS := user/cli/common/hash.js user/cli/common/page.js

build/page_hash.h: $(PAGE_SCRIPTS)
	@mkdir -p $(@D)
	for script in $^; do \
		printf "'sha256-%s' " "$$(printf "$$(sha256sum <$$script | cut -c -64 | sed 's/../\\x&/g')" | base64)"; \
	done | sed 's/ $$//; s/.*/#define PAGE_SCRIPT_HASHES "&"\n/' >$@

build/user/cli/common/page.o: $(PAGE_SCRIPTS) user/cli/common/page.css

# What is made before the first object; the *.d files then say which object needs which.
MADE_HEADERS := $(SKELETONS) build/release.h build/late.h build/textbook.inc build/page_hash.h

build/user/%.o: user/%.c | $(MADE_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c $< -o $@

build/libbaleen.a: $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

# baleend takes from it what `baleen icp serve` needs.
build/cli.a: $(filter-out build/user/cli/main.o,$(CLI_OBJ))
	rm -f $@
	$(AR) rcs $@ $^

build/baleen: build/user/cli/main.o build/cli.a build/libbaleen.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

build/baleend: $(DAEMON_OBJ) build/cli.a build/libbaleen.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lsystemd -lmicrohttpd $(LIBS)

build/libexec/baleen/baleen-fetch: $(FETCH_SRC:%.c=build/%.o) build/libbaleen.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcurl -lz

build/libexec/baleen/baleen-fleetd: $(FLEETD_SRC:%.c=build/%.o) build/libbaleen.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lhiredis -lgnutls $(LIBS)

build/libexec/baleen/baleen-fleet-demo: user/fleetd/demo.sh
	@mkdir -p $(@D)
	install $< $@

build/libexec/baleen/baleen-icp-demo: user/cli/icp/demo.sh
	@mkdir -p $(@D)
	install $< $@

# --- the library for others ------------------------------------------------

# Of the archive the linker takes what the API needs.
build/api/libbaleen.so.$(API_VERSION): $(API_OBJ) build/libbaleen.a user/api/libbaleen.map
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(API_SONAME) \
		-Wl,--version-script=user/api/libbaleen.map -Wl,-z,defs -Wl,--as-needed \
		-o $@ $(API_OBJ) build/libbaleen.a $(LIBS)

# One object, whose inner names are nobody else's.
build/api/libbaleen.a: $(API_OBJ) build/libbaleen.a user/api/libbaleen.map
	@mkdir -p $(@D)
	sed -n 's/^\t\(baleen_.*\);$$/\1/p' user/api/libbaleen.map >build/api/names
	$(LD) -r -o build/api/libbaleen.o $(API_OBJ) build/libbaleen.a
	$(OBJCOPY) --keep-global-symbols=build/api/names build/api/libbaleen.o
	rm -f $@
	$(AR) rcs $@ build/api/libbaleen.o

# --- the kernel module ------------------------------------------------------

# Kbuild leaves its files beside the sources, so it gets copies of them. What does
# not change keeps its time.
KDIR ?= /lib/modules/$(shell uname -r)/build
KMOD_DIR ?= build/kmod

kmod:
	@[ -r $(KDIR)/include/generated/utsrelease.h ] || { \
		echo "no kernel headers in $(KDIR): 'apt-get install linux-headers-$$(uname -r)', or KDIR= says where they are" >&2; exit 1; }
	release=$$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h) && \
		tree=$(abspath $(KMOD_DIR))/$$release && mkdir -p $$tree && \
		cp -ru --preserve=timestamps Kbuild kmod include $$tree && \
		$(MAKE) -C $(KDIR) M=$$tree KCFLAGS="-ffile-prefix-map=$$tree=. -ffile-prefix-map=$(abspath $(KDIR))=/kernel" modules

# For the kernels of the virtual machines.
kmod-vm:
	for kernel in 6.1 6.12; do \
		$(MAKE) kmod KDIR="$$(tests/vm/fetch headers $$kernel)" || exit; \
	done

# --- tests ----------------------------------------------------------------

# A report needs lines, and no types: -g1 makes these programs a third smaller.
build/asan/%.o: %.c | $(MADE_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O1 -g1 $(SANITIZE) $(CPPFLAGS) -MMD -MP -c $< -o $@

build/asan/libbaleen.a: $(ASAN_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

build/unit/%: build/asan/tests/unit/%.o build/asan/libbaleen.a
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -o $@ $(filter %.o,$^) build/asan/libbaleen.a -lcmocka -lcurl -lz -lm $(LIBS)

build/unit/test_http_listen: build/asan/user/daemon/http_listen.o
build/unit/test_http_listen: LIBS += -lmicrohttpd -Wl,--wrap=baleen_monotonic_ms
build/unit/test_redis: build/asan/user/fleetd/redis.o
build/unit/test_redis: LIBS += -lhiredis -lgnutls

build/fuzzed/%.o: %.c | $(MADE_HEADERS)
	@mkdir -p $(@D)
	$(CLANG) $(BASE_CFLAGS) -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all $(CPPFLAGS) -MMD -MP -c $< -o $@

# FUZZ_LIB is above: another one is another archive.
build/fuzzed/libbaleen.a: $(FUZZ_OBJ) Makefile
	rm -f $@
	$(AR) rcs $@ $(FUZZ_OBJ)

build/fuzz/%: build/fuzzed/tests/fuzz/%.o build/fuzzed/libbaleen.a
	@mkdir -p $(@D)
	$(CLANG) -fsanitize=fuzzer,address,undefined -o $@ $(filter %.o,$^) build/fuzzed/libbaleen.a -lm $(LIBS)

build/fuzz/fuzz_fetch: $(patsubst %,build/fuzzed/user/fetch/%.o,transfer request unpacker addresses)
build/fuzz/fuzz_fetch: LIBS += -lcurl
build/fuzz/fuzz_http: $(patsubst %,build/fuzzed/user/daemon/%.o,digest_server http_listen)
build/fuzz/fuzz_http: LIBS += -lmicrohttpd
build/fuzz/fuzz_redis: build/fuzzed/user/fleetd/redis.o
build/fuzz/fuzz_redis: LIBS += -lhiredis -lgnutls

build/tools/shim.so: tests/model/shim.c
build/tools/clock.so: tests/fleet/clock.c
build/tools/%.so:
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -fvisibility=default -D_GNU_SOURCE -shared -o $@ $<

build/tools/%: tests/tools/%.c build/libbaleen.a
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -MF $@.d -o $@ $< build/libbaleen.a -lm $(LIBS)

build/tools/feed_server build/tools/lapi: LIBS += -lmicrohttpd -lz

build/bench/bench_lib: LIBS += -lbloom

# They speak to the module alone and go into a virtual machine, so they bring all
# that they need. The 32-bit ones are what a 32-bit process sees; the compiler for these can be
# there beside one for arm64, which conflicts with gcc-multilib.
build/kmod-test/64/%: tests/kmod/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) $(CFLAGS) $(CPPFLAGS) -static -pthread -fno-strict-aliasing -MMD -MP -MF $@.d -o $@ $<

build/kmod-test/32/%: tests/kmod/%.c
	@mkdir -p $(@D)
	i686-linux-gnu-gcc -std=gnu11 $(WARN) $(CFLAGS) $(CPPFLAGS) -static -pthread -fno-strict-aliasing -MMD -MP -MF $@.d -o $@ $<

# With libbpf, which is not to be had for 32 bits.
build/kmod-test/kfunc/%: tests/kmod/kfunc/%.c build/tests/kmod/kfunc/calls.skel.h build/tests/kmod/kfunc/guard.skel.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) $(CFLAGS) $(CPPFLAGS) -I build/tests/kmod/kfunc -pthread -MMD -MP -MF $@.d -o $@ $< -lbpf

build/kmod-test/stress/%: tests/kmod/stress/%.c build/libbaleen.a
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -static -pthread -MMD -MP -MF $@.d -o $@ $< build/libbaleen.a -lm

# Anywhere in memory, where a number that is no address seldom is one.
build/kmod-test/fuzz/fuzz: $(wildcard tests/kmod/fuzz/*) tests/kmod/dev.h include/uapi/linux/baleen.h
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -static-pie -pthread -o $@ $(filter %.c,$^)

build/bench/%: tests/bench/%.c build/libbaleen.a $(TEST_SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -I build/tests/bench -MMD -MP -MF $@.d -o $@ $< build/libbaleen.a -lm $(LIBS)

build/bench/bench_fleet: tests/bench/bench_fleet.c build/user/fleetd/redis.o build/libbaleen.a
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MP -MF $@.d -o $@ $(filter-out %.h,$^) -lhiredis -lgnutls -lm $(LIBS)

build/worlds/%: tests/worlds/%.c build/libbaleen.a $(TEST_SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -I build/tests/worlds -MMD -MP -MF $@.d -o $@ $< build/libbaleen.a -lm $(LIBS)

unit: all tests
	tests/run unit

check-xdp: all tests
	tests/run xdp

check-kmod: all tests kmod-vm
	tests/run kmod

# Other Debians, which tests/releases tries.
releases-built:
	@tests/releases/built >/dev/null || echo "no other Debian: tests/releases fail and say why"

# MODEL_STEPS, MODEL_SEED: see tests/xdp/model.sh
check-model: all build/tools/shim.so
	MODEL_STEPS=$${MODEL_STEPS:-5000} tests/xdp/model.sh
	MODEL_STEPS=$${MODEL_STEPS:-5000} tests/xdp/book-model.sh

# FUZZ_SECONDS, FUZZ_SEED, FUZZ_KERNELS: see tests/kmod/fuzz.sh
fuzz-kmod: build/baleen build/kmod-test/fuzz/fuzz kmod-vm
	tests/kmod/fuzz.sh

# Not part of check: it takes its time, see tests/kasan/kasan.sh.
check-kasan: deps-kasan
	$(MAKE) all tests kmod-vm
	tests/kasan/kasan.sh

check-kernels: all tests
	tests/run --all kernels

check-boot: all tests
	tests/run --all boot

check-fleet: deps-test all tests
	tests/run --all fleet

check-squid: deps-test all tests
	tests/run squid

check-deb: deps-test all tests
	tests/run deb

check-releases: deps-test all tests
	tests/run --all releases

check-arm64: deps-test all tests
	tests/run arm64

# Not part of check: for processors that others than x86 make, and an evening. An emulator keeps
# loads in their order, so what passes there says nothing.
ORDER_ROUNDS ?= 10000
check-order: all build/worlds/worlds build/worlds/live build/tools/icp_change build/tools/order
	@[ "$$(nproc)" -ge 2 ] || { echo "check-order takes two processors" >&2; exit 1; }
	build/worlds/live $(ORDER_ROUNDS)
	build/tools/icp_change $(ORDER_ROUNDS)
	build/tools/order $(ORDER_ROUNDS)

check-html: deps-test deps-browser all
	tests/run --all html

CHECK_GROUPS := releases arm64 kmod kernels boot deb fuzz squid fleet html xdp unit

ifdef T
# What these tests need, and no more.
CHOSEN := $(shell tests/run --list --only '$(T)' $(CHECK_GROUPS))
# Words of lines of shell tests, and of what they share, that name build/tools.
CHOSEN_WORDS := $(shell grep -hs tools/ $(addprefix tests/,$(filter %.sh,$(CHOSEN))) tests/*.sh tests/*/*lib* \
	tests/squid/lab.sh | grep -oE '[a-z_]+' | sort -u)
CHOSEN_NEEDS := all $(patsubst %,build/%,$(filter unit/test_%,$(CHOSEN))) \
	$(filter $(addprefix build/tools/,$(CHOSEN_WORDS)),$(TOOL_BIN)) \
	$(if $(filter fuzz/%,$(CHOSEN)),$(FUZZ_BIN)) \
	$(if $(filter xdp/worlds% xdp/live% xdp/parity%,$(CHOSEN)),build/worlds/worlds build/worlds/live build/worlds/parity build/worlds/lists) \
	$(if $(filter kmod/%,$(CHOSEN)),$(KMOD_TEST_BIN) $(KFUNC_TEST_BIN) $(KMOD_STRESS_BIN) kmod-vm)

check check-all:
	$(MAKE) -j$$(nproc) check-chosen RUN_ALL=$(if $(filter check-all,$@),--all)
check-chosen: $(CHOSEN_NEEDS)
	tests/run $(RUN_ALL) --only '$(T)' $(CHECK_GROUPS)
else
check-all: deps-browser
check check-all: deps-test
	$(MAKE) -j$$(nproc) $@-now
check-now: all tests kmod-vm releases-built
	tests/run $(CHECK_GROUPS)
check-all-now: all tests $(FUZZ_BIN) kmod-vm releases-built
	tests/run --all $(CHECK_GROUPS)
endif

demo: deps-demo
	$(MAKE) all build/tools/traffic
	tests/demo

bench-xdp: deps-bench
	$(MAKE) all $(BENCH_BIN)
	tests/bench/bench-xdp

bench-set: deps-test
	$(MAKE) all
	tests/bench/bench-set

bench-build: deps-build
	$(MAKE) all build/bench/usage
	tests/bench/bench-build

bench-bans: deps-test
	$(MAKE) all
	tests/bench/bench-bans
	tests/bench/bench-bans-devices

bench-path: deps-bench
	$(MAKE) all $(BENCH_BIN)
	tests/bench/bench-path

bench-limit: deps-test
	$(MAKE) all
	tests/bench/bench-limit

# CUCKOOFILTER_DIR and FASTFILTER_DIR: sources of others to measure beside ours.
bench-lib: deps-bench
	$(MAKE) build/bench/bench_lib
	tests/bench/bench-lib

bench-squid: deps-test deps-bench
	$(MAKE) all tests $(BENCH_BIN)
	tests/bench/bench-squid

bench-kmod: deps-test deps-bench
	$(MAKE) all build/bench/bench_kmod
	$(MAKE) kmod KDIR="$$(tests/vm/fetch headers 6.12)"
	tests/bench/bench-kmod

bench-fleet: deps-test
	$(MAKE) all build/bench/bench_fleet
	tests/bench/bench-fleet

bench-commands: deps-bench
	$(MAKE) all build/bench/usage
	tests/bench/bench-commands

# One after the other, whatever -j says.
bench: deps-bench
	$(MAKE) bench-xdp
	$(MAKE) bench-bans
	$(MAKE) bench-build
	$(MAKE) bench-set
	$(MAKE) bench-path
	$(MAKE) bench-limit
	$(MAKE) bench-lib
	$(MAKE) bench-kmod
	$(MAKE) bench-commands
	$(MAKE) bench-squid
	$(MAKE) bench-fleet

docs:
	tests/docs

vectors:
	/usr/bin/python3 -B tests/model/textbook.py vectors build/vectors

# --- install --------------------------------------------------------------

INSTALL_FILE = install -m 0644 -t
share = $(datadir)/baleen
# Where the programs look: user/lib/util/helper.c.
libexecdir = $(patsubst %/,%,$(dir $(patsubst %/,%,$(sbindir))))/libexec/baleen
# Units and adapters name the programs where packages have them.
ELSEWHERE = $(filter-out /usr/sbin,$(sbindir))
PLACES = $(if $(ELSEWHERE),s|/usr/sbin/baleend|$(sbindir)/baleend --command $(sbindir)/baleen|; s|/usr/sbin/|$(sbindir)/|;) \
	$(if $(filter-out /usr/share/baleen,$(share)),s|/usr/share/baleen/|$(share)/|)

# What others add to these directories is installed with them.
install: all
	install -d $(addprefix $(DESTDIR),$(sbindir) $(libexecdir) $(libdir)/pkgconfig $(includedir)/baleen \
		$(includedir)/linux $(exampledir)/xdp $(exampledir)/textbook \
		$(mandir)/man3 $(mandir)/man5 $(mandir)/man7 $(mandir)/man8 $(unitdir) $(udevdir) $(share) \
		$(docdir)/docs $(datadir)/bash-completion/completions $(sysconfdir)/baleen)
	install -t $(DESTDIR)$(sbindir) $(PROGRAMS)
	install -t $(DESTDIR)$(libexecdir) $(HELPERS)
	$(INSTALL_FILE) $(DESTDIR)$(includedir)/baleen include/baleen/*.h user/api/libbaleen.h
	$(INSTALL_FILE) $(DESTDIR)$(includedir)/linux include/uapi/linux/baleen.h
	$(INSTALL_FILE) $(DESTDIR)$(exampledir) examples/Makefile examples/*.c
	$(INSTALL_FILE) $(DESTDIR)$(exampledir)/xdp examples/xdp/Makefile examples/xdp/*.c
	$(INSTALL_FILE) $(DESTDIR)$(exampledir)/textbook examples/textbook/Makefile
	$(INSTALL_FILE) $(DESTDIR)$(libdir) $(API_LIB)
	ln -sf libbaleen.so.$(API_VERSION) $(DESTDIR)$(libdir)/$(API_SONAME)
	ln -sf $(API_SONAME) $(DESTDIR)$(libdir)/libbaleen.so
	umask 022 && sed -e 's|@includedir@|$(includedir)|; s|@libdir@|$(libdir)|; s|@version@|$(API_VERSION)|' \
		user/api/libbaleen.pc.in >$(DESTDIR)$(libdir)/pkgconfig/libbaleen.pc
	for section in 3 5 7 8; do \
		$(INSTALL_FILE) $(DESTDIR)$(mandir)/man$$section user/man/*.$$section; \
	done
	$(INSTALL_FILE) $(DESTDIR)$(docdir) README.md CONTRIBUTING.md SECURITY.md
	$(INSTALL_FILE) $(DESTDIR)$(docdir)/docs docs/*.md
	$(INSTALL_FILE) $(DESTDIR)$(datadir)/bash-completion/completions user/completion/baleen
	umask 022 && for unit in $(UNITS); do \
		sed '$(PLACES)' $$unit >$(DESTDIR)$(unitdir)/$${unit##*/}; \
	done
	umask 022 && for rules in $(UDEV_RULES); do \
		sed '$(PLACES)' $$rules >$(DESTDIR)$(udevdir)/$${rules##*/}; \
	done
	cp -rt $(DESTDIR)$(share) $(SHARED)
	sed -i '$(PLACES)' $(DESTDIR)$(share)/*
	chmod -R u=rwX,go=rX $(DESTDIR)$(share)
	[ -e $(DESTDIR)$(sysconfdir)/baleen/never.list ] || \
		$(INSTALL_FILE) $(DESTDIR)$(sysconfdir)/baleen user/conf/never.list
	[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

# The files that `make install` with the same variables puts there, but those of sysconfdir, and
# then directories of ours that are empty. Attached filters go on.
uninstall: all
	staged=$$(mktemp -d) && trap "rm -rf $$staged" EXIT && \
	$(MAKE) -s install DESTDIR=$$staged && rm -rf $$staged$(sysconfdir) && \
	(cd $$staged && find . ! -type d -print0) | (cd $(DESTDIR)/ && xargs -0 rm -f) && \
	(cd $$staged && find . -depth -type d -name baleen -o -depth -type d -path '*/baleen/*') | \
		(cd $(DESTDIR)/ && xargs -r rmdir --ignore-fail-on-non-empty)
	[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

DKMS_DIR = $(DESTDIR)/usr/src/baleen-$(RELEASE)

install-dkms:
	install -d $(addprefix $(DKMS_DIR)/,kmod include/baleen include/uapi/linux)
	umask 022 && sed 's/#MODULE_VERSION#/$(RELEASE)/' dkms.conf >$(DKMS_DIR)/dkms.conf
	$(INSTALL_FILE) $(DKMS_DIR) Kbuild LICENSE
	$(INSTALL_FILE) $(DKMS_DIR)/kmod kmod/*.[ch]
	$(INSTALL_FILE) $(DKMS_DIR)/include/baleen include/baleen/*.h
	$(INSTALL_FILE) $(DKMS_DIR)/include/uapi/linux include/uapi/linux/*.h

deb: deps-deb
	debian/build $(RELEASE)

clean:
	rm -rf build

-include $(shell find build -path build/deb -prune -o -path build/releases -prune -o -path build/kasan -prune -o -path build/vm -prune -o -name '*.d' -type f -print 2>/dev/null)
