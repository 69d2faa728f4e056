# Fenceline. One Makefile for everything; what it makes goes to build/MODE.
#
#   make [MODE=release|plain|asan|cov] [CC=gcc|clang] [V=1] [WERROR=1]
#   make check            unit tests and behaviour tests of this mode
#   make install          DESTDIR=, PREFIX=/usr/local
#
# To try another compiler beside the first: make CC=clang BUILD=build/clang

MODE    ?= release
BUILD   ?= build/$(MODE)
# One spelling of the folder, however it was given: dependency files name objects by it.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR  ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share/fenceline
PKG_CONFIG ?= pkg-config
VERSION := 0.1.0

ifeq ($(origin CC),default)
CC := gcc
endif

ifeq ($(filter $(MODE),release plain asan cov),)
$(error MODE=$(MODE): unknown mode; use release, plain, asan or cov)
endif

# --- flags -------------------------------------------------------------------
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wformat=2 -Wundef -Wvla -Wwrite-strings -Wpointer-arith
ifneq ($(findstring clang,$(CC)),)
WARN += -Wno-gnu-statement-expression # fence_take_mem
else
WARN += -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init
endif
ifneq ($(WERROR),)
WARN += -Werror
endif

CPPFLAGS_ALL := -D_GNU_SOURCE -I. -I$(BUILD)/gen -DFENCE_VERSION='"$(VERSION)"' \
	-DFENCE_BINDIR='"$(BINDIR)"' -DFENCE_DATADIR='"$(DATADIR)"' $(CPPFLAGS)
CFLAGS_ALL := -std=gnu11 -g -fno-common -fstack-protector-strong \
	-fstack-clash-protection -fcf-protection -fPIE \
	-ffile-prefix-map=$(CURDIR)=. $(WARN)
LDFLAGS_ALL := -Wl,-z,relro,-z,now -Wl,-z,noexecstack -Wl,--as-needed
# Set below: what only an instrumented mode, and what only the library's objects get.
INSTRUMENT :=
PIC :=
STATIC := -static-pie
DYNAMIC := -pie

ifeq ($(MODE),release)
CFLAGS_ALL += -O2 -ffunction-sections -fdata-sections
CPPFLAGS_ALL += -D_FORTIFY_SOURCE=2
LDFLAGS_ALL += -Wl,--gc-sections
else ifeq ($(MODE),plain)
CFLAGS_ALL += -O0
else ifeq ($(MODE),asan)
INSTRUMENT := -fsanitize=address,undefined
CFLAGS_ALL += -O1 $(INSTRUMENT) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS_ALL += $(INSTRUMENT)
STATIC := $(DYNAMIC)
else ifeq ($(MODE),cov)
INSTRUMENT := --coverage
CFLAGS_ALL += -O0 $(INSTRUMENT)
LDFLAGS_ALL += $(INSTRUMENT)
endif
CFLAGS_ALL += $(CFLAGS)
LDFLAGS_ALL += $(LDFLAGS)

# A library's own word for how it is linked; its usual name where it has none.
libs = $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null || echo $(2))
YAML_LIBS  := $(call libs,yaml-0.1,-lyaml)
CJSON_LIBS := $(call libs,libcjson,-lcjson)
SECCOMP_LIBS := $(call libs,libseccomp,-lseccomp)
CMOCKA_LIBS := $(call libs,cmocka,-lcmocka)

Q := $(if $(V),,@)
# Silent under make -s, a short line a file otherwise, the whole command with V=1.
SILENT := $(findstring s,$(firstword -$(MAKEFLAGS)))
say = $(if $(V)$(SILENT),@:,@printf '  %-7s %s\n' $(1) $(2))

# --- what is made from what ----------------------------------------------------
# A program's main file has the program's name with underscores; every other .c of
# a folder goes into that folder's archive, from which a program takes what it uses.
PROGRAM_MAINS := fence/fence_marker.c supervisor/fence_run.c \
	supervisor/fence_supervisor.c guard/fence_guard.c guard/fence_policy.c \
	guard/fence_bwrap.c guard/fence_chromium.c gate/fence_gate.c
PROGRAM_MAINS := $(wildcard $(PROGRAM_MAINS))
program_name = $(subst _,-,$(basename $(notdir $(1))))
PROGRAMS := $(foreach m,$(PROGRAM_MAINS),$(BUILD)/bin/$(call program_name,$(m)))

sources = $(filter-out $(PROGRAM_MAINS),$(wildcard $(addsuffix /*.c,$(1))))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

FENCE_SRC := $(call sources,fence)
MARKER_SRC := $(call sources,fence/cli)
CONF_SRC  := $(call sources,fence/conf)
SUPERVISOR_SRC := $(call sources,supervisor)
GUARD_SRC := $(call sources,guard guard/policy guard/confine guard/bwrap)
READER_SRC := $(call sources,guard/reader)
BROWSER_SRC := $(call sources,guard/browser)
GATE_SRC  := $(call sources,gate gate/report)

LIBFENCE     := $(BUILD)/lib/libfence.a
LIBFENCECONF := $(BUILD)/lib/libfenceconf.a
ARCHIVES := $(LIBFENCE) $(LIBFENCECONF) $(BUILD)/lib/marker.a $(BUILD)/lib/supervisor.a $(BUILD)/lib/guard.a \
	$(BUILD)/lib/reader.a $(BUILD)/lib/browser.a $(BUILD)/lib/gate.a

# The C library of the small static programs. glibc's start-up asks the processor
# about itself dozens of times (cpuid), and in a virtual machine each question traps to
# the host: measured here, 270 of the 400 us in which an empty static program starts
# and ends. musl asks nothing (137 us in all). So a release build uses Debian's
# musl-gcc for them where it is installed; LIBC=glibc does without, and the other
# modes do always, so that the tests see both.
ifeq ($(origin LIBC),undefined)
LIBC := $(if $(and $(filter release,$(MODE)),$(filter gcc,$(CC)),$(shell command -v musl-gcc)),musl,glibc)
endif
ifeq ($(LIBC),musl)
SLIM := $(BUILD)/musl
MUSL_LIB := /usr/lib/$(patsubst %-gnu,%-musl,$(shell $(CC) -dumpmachine))
# The kernel's headers are glibc's neighbours; musl's own come first.
SLIM_CPPFLAGS := -idirafter /usr/include -idirafter /usr/include/$(shell $(CC) -dumpmachine)
# musl-gcc knows -static but not -static-pie: the start files are named here.
define slim_link
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)musl-gcc $(CFLAGS_ALL) $(LDFLAGS_ALL) -nostartfiles -static \
		-Wl,-pie,--no-dynamic-linker,-z,text -o $@ $(MUSL_LIB)/rcrt1.o $(MUSL_LIB)/crti.o \
		$(shell $(CC) -print-file-name=crtbeginS.o) $(filter %.o %.a,$(1)) \
		-lc -lgcc $(shell $(CC) -print-file-name=crtendS.o) $(MUSL_LIB)/crtn.o
endef
SLIM_ARCHIVES := $(addprefix $(SLIM)/lib/,libfence.a marker.a supervisor.a guard.a browser.a)
$(SLIM)/obj/%.o: %.c
	$(call say,MUSL,$<)
	@mkdir -p $(@D)
	$(Q)musl-gcc $(CPPFLAGS_ALL) $(SLIM_CPPFLAGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
else
SLIM := $(BUILD)
slim_link = $(call link,$(1),$(STATIC),)
SLIM_ARCHIVES :=
endif

.PHONY: all clean check install uninstall fuzz
all: $(PROGRAMS) $(LIBFENCE)

$(LIBFENCE): $(call objects,$(FENCE_SRC))
$(LIBFENCECONF): $(call objects,$(CONF_SRC))
$(BUILD)/lib/marker.a: $(call objects,$(MARKER_SRC))
$(BUILD)/lib/supervisor.a: $(call objects,$(SUPERVISOR_SRC))
$(BUILD)/lib/guard.a: $(call objects,$(GUARD_SRC))
$(BUILD)/lib/reader.a: $(call objects,$(READER_SRC))
$(BUILD)/lib/browser.a: $(call objects,$(BROWSER_SRC))
$(BUILD)/lib/gate.a: $(call objects,$(GATE_SRC))
ifeq ($(LIBC),musl)
slim_objects = $(patsubst %.c,$(SLIM)/obj/%.o,$(1))
$(SLIM)/lib/libfence.a: $(call slim_objects,$(FENCE_SRC))
$(SLIM)/lib/marker.a: $(call slim_objects,$(MARKER_SRC))
$(SLIM)/lib/supervisor.a: $(call slim_objects,$(SUPERVISOR_SRC))
$(SLIM)/lib/guard.a: $(call slim_objects,$(GUARD_SRC))
$(SLIM)/lib/browser.a: $(call slim_objects,$(BROWSER_SRC))
endif

$(ARCHIVES) $(SLIM_ARCHIVES):
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcsD $@ $(filter %.o,$^)

# libfence.a is installed, and whoever takes it may be building a shared object.
$(call objects,$(FENCE_SRC)): PIC := -fPIC -fno-semantic-interposition

$(BUILD)/obj/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PIC) -MMD -MP -c -o $@ $<

# link (objects and archives in order, kind of link, further libraries)
define link
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(2) -o $@ $(filter %.o %.a,$(1)) $(3)
endef

# fence-run, fence-marker: static, libc only.
$(BUILD)/bin/fence-marker: $(SLIM)/obj/fence/fence_marker.o $(SLIM)/lib/marker.a \
		$(SLIM)/lib/libfence.a
	$(call slim_link,$^)
$(BUILD)/bin/fence-run: $(SLIM)/obj/supervisor/fence_run.o $(SLIM)/lib/supervisor.a \
		$(SLIM)/lib/libfence.a
	$(call slim_link,$^)

$(BUILD)/bin/fence-supervisor: $(SLIM)/obj/supervisor/fence_supervisor.o \
		$(SLIM)/lib/supervisor.a $(SLIM)/lib/libfence.a
	$(call slim_link,$^)

# --- guard -----------------------------------------------------------------------
# The seccomp filters are made here, by libseccomp, and built in: fence-guard itself
# needs the C library alone.
FILTERS := $(BUILD)/gen/guard_filters.h
$(BUILD)/gen/make_filters: guard/policy/gen/make_filters.c guard/policy/gen/program.c \
		guard/policy/gen/program.h guard/policy/calls.h
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) -std=gnu11 -O1 $(WARN) -o $@ $(filter %.c,$^) $(SECCOMP_LIBS)
$(FILTERS): $(BUILD)/gen/make_filters
	$(call say,GEN,$@)
	$(Q)$< >$@
CALL_NAMES := $(BUILD)/gen/guard_call_names.h
$(BUILD)/gen/make_calls: guard/policy/gen/make_calls.c guard/policy/calls.h
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) -std=gnu11 -O1 $(WARN) -o $@ $< $(SECCOMP_LIBS)
$(CALL_NAMES): $(BUILD)/gen/make_calls
	$(call say,GEN,$@)
	$(Q)$< >$@
$(sort $(BUILD)/obj/guard/policy/callnames.o $(SLIM)/obj/guard/policy/callnames.o) \
$(BUILD)/obj/tests/lib/guard_calls.o $(BUILD)/obj/tests/unit/guard/policy/filter_test.o: $(CALL_NAMES)
$(sort $(BUILD)/obj/guard/confine/filter.o $(SLIM)/obj/guard/confine/filter.o) \
$(BUILD)/obj/tests/unit/guard/policy/filter_test.o: $(FILTERS)

$(BUILD)/bin/fence-guard: $(SLIM)/obj/guard/fence_guard.o $(SLIM)/lib/guard.a $(SLIM)/lib/libfence.a
	$(call slim_link,$^)
# What reads YAML is a program of its own, so that exec starts as fast as without.
$(BUILD)/bin/fence-policy: $(BUILD)/obj/guard/fence_policy.o $(BUILD)/lib/reader.a \
		$(BUILD)/lib/guard.a $(LIBFENCECONF) $(LIBFENCE)
	$(call link,$^,$(STATIC),$(YAML_LIBS))
$(BUILD)/bin/fence-bwrap: $(SLIM)/obj/guard/fence_bwrap.o $(SLIM)/lib/guard.a $(SLIM)/lib/libfence.a
	$(call slim_link,$^)
$(BUILD)/bin/fence-chromium: $(SLIM)/obj/guard/fence_chromium.o $(SLIM)/lib/browser.a \
		$(SLIM)/lib/libfence.a
	$(call slim_link,$^)

# --- gate ------------------------------------------------------------------------
# Static as well: it forks a monitor for each stage, and a process with few mappings
# is forked and ended sooner (200 stages of true take a tenth less).
$(BUILD)/bin/fence-gate: $(BUILD)/obj/gate/fence_gate.o $(BUILD)/lib/gate.a $(LIBFENCECONF) $(LIBFENCE)
	$(call link,$^,$(STATIC),$(YAML_LIBS))

# --- tests -----------------------------------------------------------------------
# tests/unit/NAME_test.c is a cmocka program linked with every archive it may need;
# tests/lib/NAME.c is a helper program for behaviour tests (build/MODE/test/NAME).
UNIT_SRC := $(shell find tests/unit -name '*_test.c' 2>/dev/null | sort)
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SRC))
HELPER_SRC := $(wildcard tests/lib/*.c)
HELPER_BIN := $(patsubst tests/lib/%.c,$(BUILD)/test/%,$(HELPER_SRC))

$(BUILD)/unit/%: $(BUILD)/obj/tests/unit/%.o $(ARCHIVES)
	$(call link,$< $(BUILD)/lib/gate.a $(BUILD)/lib/reader.a $(BUILD)/lib/guard.a $(BUILD)/lib/browser.a $(BUILD)/lib/supervisor.a $(BUILD)/lib/marker.a $(LIBFENCECONF) $(LIBFENCE),$(DYNAMIC),$(CMOCKA_LIBS) $(YAML_LIBS) $(CJSON_LIBS))
$(BUILD)/test/%: $(BUILD)/obj/tests/lib/%.o $(LIBFENCE)
	$(call link,$^,$(DYNAMIC),)

# tests/bench/NAME.c measures; scripts/bench says what.
BENCH_BIN := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))
$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(LIBFENCE)
	$(call link,$^,$(STATIC),)
.PHONY: bench-programs
bench-programs: $(BENCH_BIN)

.PHONY: unit-programs helpers check-unit check-behave
unit-programs: $(UNIT_BIN)
helpers: $(HELPER_BIN)

check-unit: $(UNIT_BIN)
	@for t in $(UNIT_BIN); do "$$t" || exit 1; done

check-behave: all helpers
	@FENCE_BUILD=$(abspath $(BUILD)) tests/run $(TESTS)

check: check-unit check-behave

# tests/fuzz/NAME_fuzz.c is a libFuzzer target; its seeds lie in tests/fuzz/corpus/NAME.
# `make fuzz` builds them all, and everything beneath them, with clang and the
# sanitizers in a build folder of its own, and runs each for FUZZ_SECONDS; FUZZ=NAME
# runs one.
FUZZ_SECONDS ?= 30
FUZZ ?= $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))
FUZZ_BUILD := build/fuzz

fuzz:
	@$(MAKE) --no-print-directory BUILD=$(FUZZ_BUILD) MODE=asan CC=clang \
		CFLAGS='$(CFLAGS) -fsanitize=fuzzer-no-link' fuzz-programs
	@tests/fuzz/run $(FUZZ_BUILD) $(FUZZ_SECONDS) $(FUZZ)

.PHONY: fuzz-programs
fuzz-programs: $(addprefix $(BUILD)/fuzz/,$(FUZZ))
$(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%_fuzz.o $(ARCHIVES)
	$(call link,$< $(BUILD)/lib/gate.a $(BUILD)/lib/reader.a $(BUILD)/lib/guard.a $(BUILD)/lib/browser.a $(BUILD)/lib/supervisor.a $(LIBFENCECONF) $(LIBFENCE),$(DYNAMIC) -fsanitize=fuzzer,$(YAML_LIBS) $(CJSON_LIBS))

# --- house -----------------------------------------------------------------------
# Completions are what the programs themselves say.
COMPDIR_BASH := $(PREFIX)/share/bash-completion/completions
COMPDIR_ZSH  := $(PREFIX)/share/zsh/site-functions
COMPDIR_FISH := $(PREFIX)/share/fish/vendor_completions.d

# What libfence offers to other programs (libfence.3): the modules of markers and of
# identities, and what their headers include. The other headers are ours alone.
PUBLIC_HEADERS := $(addprefix fence/,attempt.h err.h ident.h json.h jsonw.h marker.h vocab.h)
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
# A folder below the prefix is named by it, so that the tree can be moved.
from_prefix = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
define PKGCONFIG_LINES
'prefix=$(PREFIX)' \
'includedir=$(call from_prefix,$(INCLUDEDIR))' \
'libdir=$(call from_prefix,$(LIBDIR))' \
'' \
'Name: libfence' \
'Description: markers of attempts, and the identity of processes' \
'Version: $(VERSION)' \
'Cflags: -I$${includedir}' \
'Libs: -L$${libdir} -lfence$(addprefix $() ,$(INSTRUMENT))' \
'Libs.private:'
endef

install: all
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(DATADIR)/schemas \
		$(INCLUDEDIR)/fence $(LIBDIR) $(PKGCONFIGDIR) \
		$(MANDIR)/man1 $(MANDIR)/man3 $(MANDIR)/man5 $(MANDIR)/man7 \
		$(COMPDIR_BASH) $(COMPDIR_ZSH) $(COMPDIR_FISH))
	install -m 755 $(PROGRAMS) $(DESTDIR)$(BINDIR)
	for page in man/*.[1357]; do \
		install -m 644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.} || exit 1; done
	install -m 644 schemas/*.json $(DESTDIR)$(DATADIR)/schemas
	install -m 644 $(PUBLIC_HEADERS) $(DESTDIR)$(INCLUDEDIR)/fence
	install -m 644 $(LIBFENCE) $(DESTDIR)$(LIBDIR)
	printf '%s\n' $(PKGCONFIG_LINES) >$(DESTDIR)$(PKGCONFIGDIR)/libfence.pc
	chmod 644 $(DESTDIR)$(PKGCONFIGDIR)/libfence.pc
	for program in $(PROGRAMS); do name=$${program##*/}; \
		$$program --completions bash >$(DESTDIR)$(COMPDIR_BASH)/$$name && \
		$$program --completions zsh >$(DESTDIR)$(COMPDIR_ZSH)/_$$name && \
		$$program --completions fish >$(DESTDIR)$(COMPDIR_FISH)/$$name.fish || exit 1; \
	done

uninstall:
	for program in $(notdir $(PROGRAMS)); do rm -f $(DESTDIR)$(BINDIR)/$$program \
		$(DESTDIR)$(COMPDIR_BASH)/$$program $(DESTDIR)$(COMPDIR_ZSH)/_$$program \
		$(DESTDIR)$(COMPDIR_FISH)/$$program.fish; done
	for page in man/*.[1357]; do rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; done
	rm -f $(addprefix $(DESTDIR)$(INCLUDEDIR)/,$(PUBLIC_HEADERS)) \
		$(DESTDIR)$(LIBDIR)/libfence.a $(DESTDIR)$(PKGCONFIGDIR)/libfence.pc
	rmdir $(DESTDIR)$(INCLUDEDIR)/fence 2>/dev/null || :
	rm -rf $(DESTDIR)$(DATADIR)

clean:
	rm -rf build

-include $(shell find $(BUILD)/obj $(SLIM)/obj -name '*.d' 2>/dev/null)
.SECONDARY:
.DELETE_ON_ERROR:
