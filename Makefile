# kanon: k-anonymous releases inside PostgreSQL.
#
#   make demo       set up, build, publish a sample table on a throwaway server
#   make check      set up, build, run every test
#   make bench      set up, build, run the benchmarks; make paper: the tables of the papers anew
#   make site       the documentation as static pages in build/site; make pictures: its screenshots
#   make            build against the PostgreSQL of $(PG_CONFIG)
#   make install    install it there; make installcheck tests a running server
#   make dist       the archive that PGXN wants, of what is committed
#
# Parts of check: check-layers (the rooms' order and READMEs), check-limits (lengths of files and functions,
# parameters, fields), check-format, check-words, check-core, check-regress [REGRESS=…], check-isolation
# [ISOLATION=…], check-tap [PROVE_TESTS=t/….pl], check-page (what axe-core says of the pages), check-faults (a build in which
# things are broken on purpose), check-docs [DOCS=README.md] (runs what the pages
# show), check-oracle [CASES=… SEED=…] (every figure again, from the rows
# alone), check-crossing [CASES=… SEED=…] (all that kanon takes, crossed), check-nights [CASES=… SEED=…] (publications night after night, and a reader who keeps
# all releases), check-linked [CASES=… SEED=…] (several tables as one release, and every attacker), check-statements [CASES=… SEED=…]
# (every number of a page against SQL over the table; CASES=500), check-without (the libraries that kanon can do without), check-fuzz,
# check-sanitized (inside a server), check-reference, check-long (the whole
# of what those take a share of), check-releases (not a published cell has changed, for who
# changes the house), check-bare [BARE=bookworm] (the two commands on
# bare machines), check-platforms (make check on all of them), check-asserts [ASSERTS="15 18" PARTS="regress …"] (in servers built with
# assertions).  make fuzz SECONDS=300
# SEED=1: generated calls and inputs.  make mutants N=100 SEED=1 [JOBS=2]: do the tests notice
# when a line of src is wrong?
# Knobs: PG_CONFIG=…, WERROR=1 (default in CI), GLPK=no, LEMON=no, KEEP_DEBUG=1 (what is
# installed keeps its debug information),
# SANITIZE=address,undefined (for a server that has libasan: dev/with-server).

PG_CONFIG ?= pg_config

# Where the sources are: here, or where "make -f …/Makefile" says (a VPATH build).
TREE := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))
sources = $(patsubst $(TREE)/%,%,$(wildcard $(addprefix $(TREE)/,$(1))))

# PGXS would replace the caller's compilers by the server's.
ifeq ($(origin CC),environment)
override CC := $(CC)
endif
ifeq ($(origin CXX),environment)
override CXX := $(CXX)
endif

# These bring their own packages, so they must work where pg_config and PGXS
# are still missing; and PGXS has a "check" of its own.  Hence two makefiles in
# one: with one of these goals PGXS is left out, and what it takes to build is
# left to a make of its own, started by the scripts in dev/.
WHOLE = setup demo site pictures dist check check-layers check-limits check-format check-words check-core check-regress check-isolation check-tap check-page check-faults check-docs check-dist \
	check-oracle check-crossing check-nights check-linked check-statements check-without check-fuzz check-sanitized check-reference \
	check-long check-releases check-bare check-asserts check-platforms bench paper fuzz mutants
ifneq (,$(filter $(WHOLE),$(MAKECMDGOALS)))

.PHONY: $(MAKECMDGOALS)
.NOTPARALLEL:

setup:
	@$(TREE)/dev/setup
demo:
	@$(TREE)/dev/demo
site:
	@$(TREE)/dev/site
pictures:
	@$(TREE)/dev/pictures
dist:
	@$(TREE)/dev/dist
bench:
	@$(TREE)/dev/bench
paper:
	@$(TREE)/dev/paper
check:
	@$(TREE)/dev/check
check-bare:
	@$(TREE)/dev/bare $(BARE)
check-platforms:
	@$(TREE)/dev/platforms $(PLATFORMS)
check-asserts:
	@$(TREE)/dev/asserts $(ASSERTS)
$(filter-out check-bare check-asserts check-platforms,$(filter check-%,$(WHOLE))): check-%:
	@$(TREE)/dev/check $*
fuzz:
	@$(TREE)/test/fuzz/run $(or $(SECONDS),300) $(or $(SEED),1)
mutants:
	@$(TREE)/test/mutants/run $(or $(N),100) $(or $(SEED),1) $(JOBS)

# "make clean check": the other goals, in the order given.
$(filter-out $(WHOLE),$(MAKECMDGOALS)):
	@$(MAKE) -f $(TREE)/Makefile $@

else

EXTENSION = kanon
MODULE_big = kanon
# What CREATE EXTENSION runs is assembled from its pieces, in the order of their numbers.
SCRIPT = $(TREE)/kanon--$(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(TREE)/kanon.control).sql
SCRIPT_PIECES = $(sort $(wildcard $(TREE)/src/sql/script/*.sql))
DATA = $(call sources,kanon--*.sql)
PGFILEDESC = "kanon - k-anonymous releases"

# A new source file in any of the folders is built without further ado.
PG_SRCS = $(call sources,src/*.c src/*/*.c)
CORE_SRCS = $(call sources,src/core/*/*.c src/core/*/*/*.c)
OBJS = $(PG_SRCS:.c=.o)
MATCHING = src/core/cluster/matching
# (what takes longest begins first)
CORE_OBJS = $(MATCHING).o $(CORE_SRCS:.c=.o)
CORE_LIB = src/core/libkanon_core.a

# src/core knows nothing of PostgreSQL: its own flags, no include path of the
# server.  Results must be reproducible, so no -ffast-math and no fused
# multiply-add; its symbols stay inside kanon.so.  (Hardened as the rest is.)
CORE_CPPFLAGS = -I$(TREE)/src/core $(GLPK_CPPFLAGS) $(filter -D_FORTIFY_SOURCE%,$(CPPFLAGS))
CORE_CFLAGS = -std=c11 -O2 -g -fPIC -fvisibility=hidden -ffp-contract=off \
	-fstack-protector-strong -Wall -Wextra -Wmissing-prototypes -Wvla -Wswitch-enum $(COPT)

# PostgreSQL's headers and fmgr's calling convention need the -Wno-….  (A switch names each kind of an enum of kanon's, so
# that a new one is not forgotten; over the server's kinds, which are many, it is of (int).)
PG_CPPFLAGS = -I$(TREE)/src -Isrc -I$(TREE)/src/core $(GLPK_CPPFLAGS)
PG_CFLAGS = -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers -Wno-cast-function-type \
	-Wno-declaration-after-statement -Wswitch-enum -ffp-contract=off

# What a server built by gcc asks for, and clang does not know.
ifneq (,$(findstring clang,$(shell $(CC) --version 2>/dev/null)))
PG_CFLAGS += -Wno-unknown-warning-option -Wno-ignored-attributes -Wno-ignored-optimization-argument
endif

ifneq (,$(filter-out 0 no false,$(WERROR) $(if $(WERROR),,$(CI))))
CORE_CFLAGS += -Werror
PG_CFLAGS += -Werror
endif

# Things broken on purpose, for check-faults alone: see src/core/util/fault.h.
ifneq (,$(FAULTS))
CORE_CPPFLAGS += -DKANON_FAULTS
PG_CPPFLAGS += -DKANON_FAULTS
COPT += -O1 -g0
ifneq (,$(filter install,$(MAKECMDGOALS)))
$(if $(DESTDIR),,$(error a build with faults is for tests alone and is not installed))
endif
endif

# For check-sanitized: dev/with-server preloads what such a build needs; nobody counts on zeros in new memory.  (LEMON is
# others' code, and takes minutes to compile with all checks.)
ifneq (,$(SANITIZE))
SANITIZERS = -O1 -DKANON_GARBAGE -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
PG_CFLAGS += $(SANITIZERS)
CORE_CFLAGS += $(SANITIZERS)
endif

# The exact method's library, when it is there.
GLPK ?= $(shell echo '\#include <glpk.h>' | $(CC) -E - >/dev/null 2>&1 && echo yes || echo no)
override GLPK := $(GLPK)
ifeq ($(GLPK),yes)
GLPK_CPPFLAGS = -DHAVE_GLPK
GLPK_LIBS = -lglpk
endif

# The clusterings' library for matchings, headers alone, when they are there.
# matching.cc is the only C++; libstdc++ is linked only with it.
LEMON ?= $(shell echo '\#include <lemon/matching.h>' | $(CXX) -x c++ -E - >/dev/null 2>&1 && echo yes || echo no)
override LEMON := $(LEMON)
ifeq ($(LEMON),yes)
LEMON_CPPFLAGS = -DHAVE_LEMON
LEMON_LIBS = -lstdc++
endif
CORE_CXXFLAGS = -std=c++14 -O2 -g -fPIC -fvisibility=hidden -ffp-contract=off \
	-fstack-protector-strong -Wall -Wextra -Wno-unknown-warning-option -Wno-maybe-uninitialized $(filter -Werror,$(CORE_CFLAGS)) \
	$(if $(SANITIZE),-O1 -fsanitize=address) $(COPT)

SHLIB_LINK = $(CORE_LIB) $(GLPK_LIBS) $(LEMON_LIBS) -lm

# No bitcode: it wants clang, and nothing here gains from inlining into queries.
override with_llvm := no

# Tests of what a build lacks are left out; "without" is for one that lacks all.
LACKS = $(if $(filter yes,$(GLPK)),,dry exact glpk known ways_out wide) $(if $(filter yes,$(LEMON)),,matching) \
	$(if $(filter-out yes,$(GLPK) $(LEMON)),options returns) $(if $(filter yes,$(GLPK) $(LEMON)),without)
REGRESS = $(sort $(filter-out $(LACKS),$(patsubst sql/%.sql,%,$(call sources,sql/*.sql))))
ISOLATION = $(sort $(patsubst specs/%.spec,%,$(call sources,specs/*.spec)))
# Any server will do, whatever its locale, and any single test runs alone.
REGRESS_OPTS = --no-locale --encoding=UTF8 --load-extension=kanon
ISOLATION_OPTS = $(REGRESS_OPTS)
# How far a run is depends on the machine: on a slow one it would be told in the
# output.  t/ tests what is told.
installcheck: export PGOPTIONS += -c kanon.progress=off

BUILD_STAMP = src/.build
# What pages look like, as C strings: made below.
TEMPLATES = $(patsubst %,%.h,$(call sources,src/report/*.html src/report/*.css))

EXTRA_CLEAN = $(TEMPLATES) $(CORE_LIB) $(BUILD_STAMP) $(wildcard $(addsuffix *.[od],src/ src/*/ src/*/*/ src/*/*/*/))

PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifeq (,$(wildcard $(shell $(PG_CONFIG) --includedir-server 2>/dev/null)/postgres.h))
$(error PostgreSQL's server headers not found by "$(PG_CONFIG)": run "make setup", install postgresql-server-dev-NN, or name another PG_CONFIG)
endif
ifneq ($(TREE),.)
ifneq (,$(wildcard $(TREE)/$(BUILD_STAMP)))
$(error $(TREE) has objects of its own, which make would take: run "make clean" there first)
endif
endif
include $(PGXS)

# Headers: gcc writes down what each object needs (PGXS does so only when the
# server was configured for it).  The stamp changes with what else decides
# about the objects: the server's version, its paths, the library.
DEPFLAGS = -MMD -MP
override CPPFLAGS += $(DEPFLAGS)
-include $(PG_SRCS:.c=.d) $(CORE_OBJS:.o=.d)

$(OBJS) $(CORE_OBJS): $(BUILD_STAMP)
BUILD_KEY = $(CC) $(VERSION) $(includedir_server) GLPK=$(GLPK) LEMON=$(LEMON) FAULTS=$(FAULTS) $(SANITIZE) $(COPT)
ifneq ($(BUILD_KEY),$(shell cat $(BUILD_STAMP) 2>/dev/null))
.PHONY: $(BUILD_STAMP)
endif
$(BUILD_STAMP):
	@mkdir -p $(sort $(dir $(OBJS) $(CORE_OBJS)))
	@echo '$(BUILD_KEY)' >$@

# For a copy of this tree with other settings that takes the objects on which they have no bearing: see dev/check.
.PHONY: build-key
build-key:
	@echo '$(BUILD_KEY)'

# For scripts that divide them.
.PHONY: regress-files
regress-files:
	@echo $(REGRESS)

# It is written only when it changes, so that a tree that nobody may write to can be built from.
all: script
.PHONY: script
script:
	@awk 'FNR == 1 && NR > 1 { print "" } { print }' $(SCRIPT_PIECES) | cmp -s - $(SCRIPT) || \
		awk 'FNR == 1 && NR > 1 { print "" } { print }' $(SCRIPT_PIECES) >$(SCRIPT)

src/report/template.o: $(TEMPLATES)
$(TEMPLATES): %.h: $(TREE)/% | $(BUILD_STAMP)
	sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $< >$@

$(CORE_SRCS:.c=.o): %.o: %.c
	$(CC) $(CORE_CPPFLAGS) $(CORE_CFLAGS) $(DEPFLAGS) -c -o $@ $<

# Without LEMON it says so, in the C that it is then: no C++ compiler is needed.
$(MATCHING).o: $(MATCHING).cc
	$(if $(LEMON_LIBS),$(CXX) $(CORE_CPPFLAGS) $(LEMON_CPPFLAGS) $(CORE_CXXFLAGS),$(CC) -x c $(CORE_CPPFLAGS) \
		$(CORE_CFLAGS)) $(DEPFLAGS) -c -o $@ $<

$(CORE_LIB): $(CORE_OBJS)
	rm -f $@
	$(AR) crs $@ $^

$(shlib): $(CORE_LIB)

# What is installed has no debug information, five sixths of the file: kanon.so here keeps it.
# (A new file takes the place of the old one, so that a server that has it open is not harmed.)
ifeq (,$(SANITIZE)$(KEEP_DEBUG)$(if $(STRIP),,none))
INSTALLED = $(DESTDIR)$(pkglibdir)/$(shlib)
.PHONY: install-without-debug
install: install-without-debug
install-without-debug: install-lib
	$(STRIP) -S -o '$(INSTALLED).new' '$(INSTALLED)'
	mv -f '$(INSTALLED).new' '$(INSTALLED)'
endif

.PHONY: clean-tests
clean: clean-tests
clean-tests:
	rm -rf results output_iso regression.out regression.diffs
	$(if $(wildcard test/core/Makefile),$(MAKE) -C test/core clean)

endif
