# SPDX-License-Identifier: GPL-2.0-only
#
# Spindle: everything that a human types.  "make help" lists it.
#
# What the module is made of is in Kbuild, what the programs are made of in the
# Makefiles next to them; nothing here knows an object file.

PREFIX ?= /usr/local
DESTDIR ?=
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

# The kernel to build for: the running one if its headers are installed, else
# the newest that has headers here.
installed = $(shell ls -d /lib/modules/*/build/Makefile 2>/dev/null | \
	sed 's|/Makefile$$||' | sort -V)
running := /lib/modules/$(shell uname -r)/build
KDIR ?= $(if $(wildcard $(running)/Makefile),$(running),$(lastword $(installed)))
# As uname -r says it: kernel.release of Debian's 6.1 headers says something else.
release = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)

# The module is built in a directory per kernel, from links to the sources, so
# that kernels do not meet.
MODOUT ?= $(CURDIR)/build/$(release)

# Without pahole the kernel's rules would stop at the BTF of the module, which
# nobody needs here.
nobtf := $(if $(shell command -v pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=)
kbuild = +flock $(MODOUT)/.lock $(MAKE) -C $(KDIR) M=$(MODOUT) $(nobtf)

PROGS := $(wildcard selftests/guest/Makefile)

all: modules lib tools

help:
	@sed -n 's/^#: //p' Makefile
	@echo
	@echo "Variables: KDIR (kernel headers, now $(KDIR)),"
	@echo "  W=1 C=1 V=1 (as in the kernel), PREFIX=$(PREFIX), DESTDIR"

#: all              module, library and tools
#: modules          spindle.ko for one kernel, in build/RELEASE/kmod
modules: modules_links
	$(kbuild) modules

#: modules-all      the same for every kernel whose headers are installed
modules-all:
	@set -e; for k in $(installed); do \
		echo "  $$k"; $(MAKE) --no-print-directory modules KDIR=$$k; \
	done

modules_links:
	@if [ -z "$(release)" ]; then \
		echo "No kernel headers in '$(KDIR)', give KDIR=" >&2; exit 1; \
	fi
	@mkdir -p $(MODOUT)
	@find kmod uapi -type d | sed 's|^|$(MODOUT)/|' | xargs mkdir -p
	@find kmod uapi Kbuild dkms.conf -name '*.[ch]' -o -name Kbuild -o -name dkms.conf | \
	while read -r f; do \
		[ -L $(MODOUT)/$$f ] || ln -srf $$f $(MODOUT)/$$f; \
	done
	@find $(MODOUT) -xtype l -delete

# What is built where its sources are, by one make at a time.
one_at_a_time = @mkdir -p build && flock build/.programs $(MAKE) --no-print-directory

#: lib              libspindle-user and libspindle-dds
lib:
	$(one_at_a_time) -C libspindle-user all
	$(one_at_a_time) -C libspindle-user/dds all

#: tools            spindle-ctl, -perf, -pipe, -cast, -recv, -dds and -logd
tools: lib
	$(one_at_a_time) -C tools all

# The programs that run in test guests.
progs: lib
	$(if $(PROGS),$(one_at_a_time) -C selftests/guest all)

#: demo             what it does, shown in a guest
demo:
	selftests/demo/run

#: check            all tests; the last line is "N passed, N failed"
#: check-unit         the core in user space, with sanitizers
#: check-build        kernels, headers, warnings, style
#: check-vm           guests: LANE="wire tear loop" KERNEL=6.1 TEST=loop-basic
check:
	@selftests/run $(LANE)
check-unit:
	@selftests/run unit
check-build:
	@selftests/run build
check-vm:
	@selftests/run $(or $(LANE),wire tear loop)

#: sim              the core of many nodes under faults: SEEDS=n FIRST=n JOBS=k
sim:
	@$(MAKE) -s --no-print-directory -C selftests/core/sim sim

#: check-model      all orders of a small view change, of a restart: ONLY=rules or ONLY=mutants
check-model:
	@selftests/core/model/run $(ONLY)

#: uml              a User-Mode Linux kernel to test in, once: VARIANT=fast|debug
#: check-native     the loop tests in it, at the speed of the machine: TEST=x
#: check-debug      the same under KASAN, lockdep, kmemleak: TEST=x
#: fuzz             random requests in it: MINUTES=10 or SEED=n; and fuzz-core
#: fuzz-core        hostile members and processes of the core in user space: MINUTES=5
#: chaos            faults of live views at random, over guests of it: MINUTES=5 SEED=n
#: check-race       core traffic under KCSAN, in an emulated x86 guest: TEST=x
#: try              one of them, from the edit to the verdict: TEST=loop-mcast
uml:
	@selftests/machines/uml/build $(or $(VARIANT),fast)
check-native:
	@selftests/machines/uml/check native
check-debug:
	@selftests/machines/uml/check debug
fuzz:
	@SEED=$(SEED) selftests/machines/uml/fuzz $(MINUTES)
	@$(if $(SEED),,$(MAKE) -s --no-print-directory fuzz-core)
fuzz-core:
	@selftests/lib/deps.sh fuzz
	@$(MAKE) -s --no-print-directory -C selftests/core/fuzz fuzz $(if $(MINUTES),MINUTES=$(MINUTES))
chaos:
	@SEED=$(SEED) MINUTES=$(or $(MINUTES),5) selftests/machines/uml/chaos
check-race:
	@selftests/machines/race/check
try:
	@VARIANT=$(or $(VARIANT),fast) selftests/machines/uml/check try $(TEST)

#: bench            the evaluation of the paper: FIG=3,6 QUICK=1 MACHINE=uml|icount
#:                  PAGE=1 plots again, UPDATE=1 puts it into Documentation
#: bench-peers      the same of ordered multicast, TIPC and Corosync: QUICK=1
#:                  PAGE=1 UPDATE=1
#: bench-rdmc       the evaluation of the RDMC paper: FIG=4,6 QUICK=1 MACHINE=icount|uml|vm
#:                  PAGE=1 UPDATE=1
#: bench-sst        the evaluation of the SST paper: FIG=8,12 QUICK=1 MACHINE=uml|icount
#:                  PAGE=1 UPDATE=1; and "make bench FIG=sst"
#: bench-durable    groups with logs, beside etcd, NATS and fio: FIG=goodput,others QUICK=1
#:                  PAGE=1 UPDATE=1 LOG_MB=1024
bench:
	@selftests/bench/run
bench-peers:
	@SWEEPS=peers selftests/bench/run
bench-rdmc:
	@SWEEPS=rdmc selftests/bench/run
bench-sst:
	@SWEEPS=sst selftests/bench/run
bench-durable:
	@SWEEPS=durable selftests/bench/run

#: html             the pages of Documentation as a site, in build/html
# A reference to nothing is a warning (-n), and a warning is an error (-W).
html:
	@selftests/lib/deps.sh docs
	sphinx-build -q -W --keep-going -n -b html -d build/doctrees Documentation build/html

#: style            checkpatch, kernel-doc, shellcheck; clang-format as a report
style:
	@selftests/build/style

#: modules_install  the module alone, for the kernel of KDIR
# Headers have no key to sign with, unless somebody has put it there. And they have no
# System.map, without which the kernel's rules run no depmod.
signkey = $(shell sed -n 's/^CONFIG_MODULE_SIG_KEY="\(.*\)"/\1/p' $(KDIR)/.config 2>/dev/null)
nosign = $(if $(or $(wildcard $(KDIR)/certs/signing_key.pem \
	$(addprefix $(KDIR)/,$(signkey)) $(filter /%,$(signkey))),\
	$(filter pkcs11:%,$(signkey))),,CONFIG_MODULE_SIG_ALL=)
modules_install: modules
	$(kbuild) $(nosign) $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install
	$(if $(DESTDIR),,depmod $(release))

#: install          module, library, tools and headers
install: modules_install lib tools
	$(MAKE) -C libspindle-user install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	$(MAKE) -C libspindle-user/dds install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	$(MAKE) -C tools install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	install -d $(DESTDIR)$(PREFIX)/include/linux
	install -m 644 uapi/linux/*.h $(DESTDIR)$(PREFIX)/include/linux/
	$(if $(DESTDIR),,-ldconfig)

#: dkms-install     the module by DKMS, for every kernel to come
dkmsdir = /usr/src/spindle-$(VERSION)
# DKMS takes a version that it knows for the same, whatever the sources are now.
dkms-install:
	$(if $(DESTDIR),,if dkms status spindle/$(VERSION) | grep -q .; then \
		dkms remove spindle/$(VERSION) --all; fi)
	rm -rf $(DESTDIR)$(dkmsdir)
	install -d $(DESTDIR)$(dkmsdir)
	find kmod uapi Kbuild dkms.conf LICENSE \( -name '*.[ch]' -o -name Kbuild \
		-o -name dkms.conf -o -name LICENSE \) -print0 2>/dev/null | \
		xargs -0 cp --parents -t $(DESTDIR)$(dkmsdir)
	$(if $(DESTDIR),,dkms install spindle/$(VERSION))

#: uninstall        what install and dkms-install put there
# What "install" would write into an empty place is what has to go.
uninstall:
	@set -e; t=$$(mktemp -d); trap 'rm -rf "$$t"' EXIT; \
	$(MAKE) -s -C libspindle-user install DESTDIR=$$t PREFIX=$(PREFIX); \
	$(MAKE) -s -C libspindle-user/dds install DESTDIR=$$t PREFIX=$(PREFIX); \
	$(MAKE) -s -C tools install DESTDIR=$$t PREFIX=$(PREFIX); \
	(cd $$t && find . ! -type d) | sed 's|^\./|$(DESTDIR)/|' | \
		xargs -d '\n' rm -fv; \
	cd uapi/linux && for h in *.h; do \
		rm -fv $(DESTDIR)$(PREFIX)/include/linux/$$h; \
	done
	rm -fv $(DESTDIR)/lib/modules/*/*/spindle.ko* \
		$(DESTDIR)/lib/modules/*/*/kmod/spindle.ko*
	if [ -z "$(DESTDIR)" ] && [ -d $(dkmsdir) ]; then \
		dkms remove spindle/$(VERSION) --all; fi
	rm -rf $(DESTDIR)$(dkmsdir)
	$(if $(DESTDIR),,-depmod -a; ldconfig)

#: clean            everything that was built; the cache of downloads stays
clean:
	-$(MAKE) -C libspindle-user/dds clean
	-$(MAKE) -C libspindle-user clean
	-$(MAKE) -C tools clean
	$(if $(PROGS),-$(MAKE) -C selftests/guest clean)
	rm -rf build

.PHONY: all help modules modules-all modules_links lib tools progs demo check \
	check-unit check-build check-vm sim check-model uml check-native check-debug fuzz fuzz-core \
	chaos check-race try bench bench-peers bench-rdmc bench-sst bench-durable html style modules_install install dkms-install \
	uninstall clean
