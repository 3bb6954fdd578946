#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the build makes: the version of dkms.conf everywhere, and programs without needless
# libraries. TAP.

# shellcheck source=tools/test/lib.sh
. "$(dirname "$0")/lib.sh"
root=$(cd "$dir/.." && pwd)
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$root/dkms.conf")

for name in ctl perf pipe cast recv dds logd; do
	program=$dir/spindle-$name
	says 0 "^spindle-$name $version\$" --version
done

make -s -C "$root/libspindle-user" spindle.pc >"$tmp/out" 2>&1 &&
	grep -qx "Version: $version" "$root/libspindle-user/spindle.pc"
verdict $? "the library has the version of dkms.conf"

# The flags of main.c as Kbuild computes them.
{
	echo "include $root/kmod/Kbuild"
	# shellcheck disable=SC2016 # it is make that expands it
	printf '$(info $(CFLAGS_main.o))\nall:\n'
} | make -s -f - all src="$root/kmod" srctree=/nonexistent >"$tmp/out" 2>&1
grep -qxF -e "-DSPINDLE_VERSION='\"$version\"'" "$tmp/out" &&
	grep -qxF 'MODULE_VERSION(SPINDLE_VERSION);' "$root/kmod/main.c"
verdict $? "the module has the version of dkms.conf"

# ldd -u lists the libraries of a program that define nothing that the program uses.
for program in "$dir"/spindle-ctl "$dir"/spindle-perf "$dir"/spindle-pipe "$dir"/spindle-cast \
	"$dir"/spindle-recv "$dir"/spindle-dds; do
	ldd -u "$program" >"$tmp/out" 2>&1
	! grep -q 'lib.*\.so\|not a dynamic' "$tmp/out"
	verdict $? "${program##*/} uses each library that it is linked with"
done

# systemd finds the program in its path. Here it is where it was built.
unit=$tmp/spindle-logd@.service
sed "s|^ExecStart=|&$dir/|" "$dir/logd/spindle-logd.service" >"$unit"
if command -v systemd-analyze >/dev/null; then
	systemd-analyze verify --man=no "$tmp/spindle-logd@1.service" >"$tmp/out" 2>&1 &&
		[ ! -s "$tmp/out" ]
	verdict $? "systemd takes the unit of spindle-logd"
fi

tap_end
