# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the scripts of this directory share: which kernel is meant and where it
# is. Source it after lib/common.sh.
# shellcheck source=selftests/lib/kernel.sh
. "$SPN_SELFTESTS/lib/kernel.sh"

RACE_DIR=$SPN_SELFTESTS/machines/race
RACE_CACHE=${RACE_CACHE:-$SPN_CACHE/race}
RACE_SERIES=6.12
RACE_TARBALL=/usr/src/linux-source-$RACE_SERIES.tar.xz

# race_paths: sets race_src, the sources, and race_out, where the kernel is; both
# are named by all that goes into them.
race_paths()
{
	local version key

	version=$(kernel_source_version "$RACE_SERIES" "$RACE_TARBALL") || return 1
	key=$(printf '%s\n' "$version" | sha256sum)
	race_src=$RACE_CACHE/linux-$RACE_SERIES-${key:0:12}
	# Modules are built by the compiler that built the kernel, so that is
	# part of the key. Comments are not.
	key=$({
		printf '%s\n' "$key" "$(gcc -dumpfullversion -dumpmachine)"
		grep '^CONFIG_' "$RACE_DIR/kcsan.config"
	} | sha256sum)
	race_out=$RACE_CACHE/kcsan-${version//[^A-Za-z0-9.+-]/_}-${key:0:12}
}

# Is it there? Sets the paths, too.
race_ready()
{
	race_paths && [[ -e $race_out/ready && -d $race_src ]]
}
