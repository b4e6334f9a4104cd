# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make            build everything into build/, no root needed
# make demo       as root: install what is missing, build, drop real traffic
# make check      as root: install what is missing, run every test
# make unit       unit, worlds-without-kernel and command line tests, no root
# make check-xdp  tests on real devices in network namespaces, as root
# make check-kernels  load and attach under kernels 6.1 and 6.12, in a VM
# make bench-xdp  nanoseconds per packet of Baleen and its peers, as root
# make bench-path  packets per second through veth, with Baleen and its peers, as root
# make bench      every benchmark, as root
# make docs       check that the public headers are fully documented
# make install    DESTDIR= prefix=/usr/local
# make clean

SHELL := /bin/bash
# bpftool and ip live in sbin, which a user's PATH lacks on Debian.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:

prefix ?= /usr/local
CC := gcc
CLANG ?= clang
BPFTOOL ?= bpftool
# The kernel's own headers for <asm/types.h> when the target is BPF.
MULTIARCH = $(shell $(CC) -print-multiarch)

WARN := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
CPPFLAGS = -D_GNU_SOURCE -I include -I build -I user/lib
CFLAGS ?= -O2 -g
BASE_CFLAGS = -std=gnu11 $(WARN)
# The rules are unrolled: clang's own limit would make a loop of all 16, whose
# constants the verifier then does not see.
BPF_CFLAGS = -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter -I include -I bpf -I /usr/include/$(MULTIARCH) -mllvm -pragma-unroll-threshold=200000
LIBS = -lxdp -lbpf -lelf -ljansson -lmnl -lcurl -lcsv -lsqlite3 -lz -lm
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

LIB_SRC := $(wildcard user/lib/*.c)
CLI_SRC := $(wildcard user/cli/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
TOOL_SRC := $(wildcard tests/tools/*.c)
BENCH_SRC := $(filter-out %.bpf.c,$(wildcard tests/bench/*.c))
BPF_SRC := $(wildcard bpf/*.bpf.c)
TEST_BPF_SRC := $(wildcard tests/worlds/*.bpf.c tests/bench/*.bpf.c)

LIB_OBJ := $(LIB_SRC:%.c=build/%.o)
CLI_OBJ := $(CLI_SRC:%.c=build/%.o)
ASAN_OBJ := $(LIB_SRC:%.c=build/asan/%.o)
FUZZ_OBJ := $(LIB_SRC:%.c=build/fuzzed/%.o)
BPF_OBJ := $(BPF_SRC:bpf/%.bpf.c=build/%.bpf.o)
SKELETONS := $(patsubst bpf/%.bpf.c,build/%.skel.h,$(BPF_SRC))
TEST_SKELETONS := $(patsubst %.bpf.c,build/%.skel.h,$(TEST_BPF_SRC))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=build/unit/%)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)
TOOL_BIN := $(TOOL_SRC:tests/tools/%.c=build/tools/%)
BENCH_BIN := $(BENCH_SRC:tests/bench/%.c=build/bench/%)

.PHONY: all unit check check-xdp check-kernels check-all bench bench-xdp bench-path demo docs install clean tests
.PHONY: deps-build deps-demo deps-test deps-bench
all: build/baleen build/libbaleen.a $(BPF_OBJ)
tests: $(UNIT_BIN) $(TOOL_BIN) $(FUZZ_BIN) build/worlds/worlds build/worlds/live build/worlds/parity build/worlds/lists

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
	@$(call install,build demo test)
deps-bench:
	@$(call install,build demo test bench)

# --- BPF ------------------------------------------------------------------

HEADERS := $(wildcard include/baleen/*.h bpf/*.h)

build/%.bpf.o: bpf/%.bpf.c $(HEADERS)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@.tmp
	llvm-strip -g $@.tmp && mv $@.tmp $@

build/%.skel.h: build/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@

build/tests/%.bpf.o: tests/%.bpf.c $(HEADERS) $(wildcard tests/bench/*.h tests/worlds/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@.tmp
	llvm-strip -g $@.tmp && mv $@.tmp $@

build/tests/%.skel.h: build/tests/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@

# --- library and command line ---------------------------------------------

build/user/%.o: user/%.c $(SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -c $< -o $@

build/libbaleen.a: $(LIB_OBJ)
	rm -f $@
	ar rcs $@ $^

build/baleen: $(CLI_OBJ) build/libbaleen.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# --- tests ----------------------------------------------------------------

build/asan/%.o: %.c $(SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O1 -g $(SANITIZE) $(CPPFLAGS) -MMD -c $< -o $@

build/unit/%: build/asan/tests/unit/%.o $(ASAN_OBJ)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -o $@ $^ -lcmocka -lm $(LIBS)

build/fuzzed/%.o: %.c $(SKELETONS)
	@mkdir -p $(@D)
	$(CLANG) $(BASE_CFLAGS) -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all $(CPPFLAGS) -MMD -c $< -o $@

build/fuzz/%: build/fuzzed/tests/fuzz/%.o $(FUZZ_OBJ)
	@mkdir -p $(@D)
	$(CLANG) -fsanitize=fuzzer,address,undefined -o $@ $^ -lm $(LIBS)

build/tools/%: tests/tools/%.c build/libbaleen.a
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -MMD -MF $@.d -o $@ $< build/libbaleen.a -lm $(LIBS)

build/bench/%: tests/bench/%.c build/libbaleen.a $(TEST_SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -I build/tests/bench -MMD -MF $@.d -o $@ $< build/libbaleen.a -lm $(LIBS)

build/worlds/%: tests/worlds/%.c build/libbaleen.a $(TEST_SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(CPPFLAGS) -I build/tests/worlds -MMD -MF $@.d -o $@ $< build/libbaleen.a -lm $(LIBS)

unit: all tests
	tests/run unit

check-xdp: all tests
	tests/run xdp

check-kernels: all tests
	tests/run kernels

check: deps-test
	$(MAKE) -j$$(nproc) check-all

check-all: all tests
	tests/run unit fuzz xdp kernels

demo: deps-demo
	$(MAKE) all build/tools/traffic
	tests/demo

bench-xdp: deps-bench
	$(MAKE) all $(BENCH_BIN)
	tests/bench/bench-xdp

bench-path: deps-bench
	$(MAKE) all $(BENCH_BIN)
	tests/bench/bench-path

# One after the other, whatever -j says.
bench: deps-bench
	$(MAKE) bench-xdp
	$(MAKE) bench-path

docs:
	tests/docs

# --- install --------------------------------------------------------------

install: all
	install -D -m 0755 build/baleen $(DESTDIR)$(prefix)/sbin/baleen
	install -D -m 0644 -t $(DESTDIR)$(prefix)/include/baleen include/baleen/*.h

clean:
	rm -rf build

-include $(shell find build -name '*.d' 2>/dev/null)
