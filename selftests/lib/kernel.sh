# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Kernels that are built here from Debian's sources, for the lanes that no installed
# kernel can serve. Source it after common.sh.
#
# Such a kernel is named by all that went into it, so whatever changes makes another
# one; that is up to the lanes, each of which has a cache of its own.

# kernel_source_version SERIES TARBALL: of Debian's package linux-source-SERIES
kernel_source_version()
{
	dpkg-query -Wf '${Version}' "linux-source-$1" 2>/dev/null ||
		stat -Lc '%s-%Y' "$2" 2>/dev/null
}

# kernel_unpack TARBALL DIR: only what small kernels are made of. Of the rest, two thirds,
# Kconfig and make want to see their own files but no code.
kernel_unpack()
{
	local top=${1##*/}

	top=${top%.tar.xz}
	say "  unpacking $1"
	tar -xf "$1" -C "$2" --strip-components=1 \
		--exclude="$top/Documentation/*/*" --exclude="$top/*.dts*" \
		--exclude="$top/drivers/gpu/*.[ch]" \
		--exclude="$top/drivers/media/*.[ch]" \
		--exclude="$top/drivers/staging/*.[ch]" \
		--exclude="$top/drivers/net/wireless/*.[ch]" \
		--exclude="$top/drivers/net/ethernet/*.[ch]" \
		--exclude="$top/drivers/scsi/*.[ch]" \
		--exclude="$top/sound/*.[ch]" \
		--exclude="$top/tools/perf" --exclude="$top/tools/testing"
}

# kernel_configure SRC OUT ARCH FRAGMENT: what the fragment does not name is off.
kernel_configure()
{
	local src=$1 out=$2 arch=$3 frag=$4 word lost=

	make -s -C "$src" O="$out" ARCH="$arch" KCONFIG_ALLCONFIG="$frag" \
		allnoconfig >"$out/build.log" 2>&1 || {
		tail -n 20 "$out/build.log" >&2
		die "cannot configure"
	}
	# An option whose dependencies are not met vanishes silently, a checker that
	# the compiler cannot do as well. What counts is the last word on each.
	while read -r word; do
		case $word in
		*=n) ! grep -q "^${word%=n}=" "$out/.config" ;;
		*) grep -qxF "$word" "$out/.config" ;;
		esac || lost+=" $word"
	done < <(awk -F = '/^CONFIG_/ { v[$1] = $0 } END { for (o in v) print v[o] }' "$frag")
	[[ ! $lost ]] || die "these options did not stick:$lost"
}

# What make says, as a count: kernel_progress ABOUT <OUTPUT
kernel_progress()
{
	local line n=0 start=$SECONDS shown=-99 end=$'\n' step=20

	if [[ -t 2 ]]; then
		end=$'\r'
		step=1
	fi
	while IFS= read -r line; do
		case $line in
		"  CC "* | "  AS "*) n=$((n + 1)) ;;
		esac
		if ((SECONDS - shown >= step)); then
			shown=$SECONDS
			printf '  %4d of about %d files, %d s%s' "$n" "$1" \
				$((SECONDS - start)) "$end" >&2
		fi
	done
	printf '  %4d files, %d s                    \n' "$n" $((SECONDS - start)) >&2
}

# kernel_make SRC OUT ARCH ABOUT: all of it goes to OUT/build.log.
kernel_make()
{
	local src=$1 out=$2 arch=$3 about=$4

	nice -n 10 make -C "$src" O="$out" ARCH="$arch" -j"${JOBS:-$(nproc)}" \
		KBUILD_BUILD_USER=spindle KBUILD_BUILD_HOST=spindle 2>&1 |
		tee -a "$out/build.log" | kernel_progress "$about" || {
		grep -E 'error|Error|\*\*\*' "$out/build.log" | head -n 20 >&2
		die "the kernel does not build, see $out/build.log"
	}
}
