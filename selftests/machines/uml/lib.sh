# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the scripts of this directory share: which kernel is meant and where it
# is. Source it after lib/common.sh.
# shellcheck source=selftests/lib/kernel.sh
. "$SPN_SELFTESTS/lib/kernel.sh"

UML_DIR=$SPN_SELFTESTS/machines/uml
UML_CACHE=${UML_CACHE:-$SPN_CACHE/uml}
UML_VARIANTS="fast debug smp"
# Of this system's own release; scripts for other kernels alone are not for UML.
UML_SERIES=6.12

uml_check_variant()
{
	[[ " $UML_VARIANTS " == *" $1 "* ]] || die "no variant '$1', there are: $UML_VARIANTS"
}

# uml_prog NAME: build/uml/NAME is there, one of the programs in the Makefile.
uml_prog()
{
	mkdir -p "$SPN_BUILD/uml"
	env -u MAKEFLAGS make -s --no-print-directory -C "$UML_DIR" \
		OUT="$SPN_BUILD/uml" "$1" >&2
}

# The sources of a variant. 6.12 has no SMP on UML; the newest has, and is fetched
# from another suite by machines/uml/build.
uml_tarball()
{
	case $1 in
	smp) compgen -G "$UML_CACHE/newest/usr/src/linux-source-*.tar.xz" | tail -n 1 ;;
	*) compgen -G "/usr/src/linux-source-$UML_SERIES.tar.xz" ;;
	esac
}

# The size of what ptrace says of a process's vector registers. 6.12 has a
# constant that a processor with AMX exceeds, and then no program starts; later
# kernels ask the host's kernel. Here a program asks it, because there is no other
# way.
uml_fp_size()
{
	[[ $1 != smp ]] || {
		echo 0
		return
	}
	local size

	uml_prog fpsize || return 1
	size=$("$SPN_BUILD/uml/fpsize") || return 1
	# What is enough is left alone, so that most hosts share one kernel.
	((size > 2696)) || size=2696
	printf '%s\n' "$size"
}

# The fragments of a variant, in order.
uml_fragments()
{
	local variant=$1 fp=$2

	printf '%s\n' "$UML_DIR/base.config"
	case $variant in
	debug) printf '%s\n' "$UML_DIR/debug.config" ;;
	smp) printf '%s\n' "$UML_DIR/smp.config" ;;
	esac
	if [[ $variant == debug ]] || ((fp > 4096)); then
		printf '%s\n' "$UML_DIR/stack.config"
	fi
}

# The version of a variant's source package.
uml_version()
{
	case $1 in
	smp) cat "$UML_CACHE/newest/version" 2>/dev/null ;;
	*)
		kernel_source_version "$UML_SERIES" "$(uml_tarball "$1")"
		;;
	esac
}

# The patches of a variant: those for its sources.
uml_patches()
{
	[[ $1 == smp ]] || compgen -G "$UML_DIR/patches/*.patch"
}

# uml_paths VARIANT: sets uml_src, the patched sources, and uml_out, where the
# kernel is; both are named by all that goes into them.
uml_paths()
{
	local variant=$1 fp version key patches

	uml_check_variant "$variant"
	fp=$(uml_fp_size "$variant") || die "cannot ask for the size of the FP registers"
	version=$(uml_version "$variant") || return 1
	mapfile -t patches < <(uml_patches "$variant")
	# Comments do not count.
	key=$({
		printf '%s\n' "$version $fp"
		((!${#patches[@]})) || sed -sn '/^--- [^ ]/,$p' "${patches[@]}"
	} | sha256sum)
	uml_src=$UML_CACHE/linux-$(cut -d . -f 1,2 <<<"$version")-${key:0:12}
	# Modules are built by the compiler that built the kernel, so that is
	# part of the key.
	key=$({
		printf '%s\n' "$key" "$(gcc -dumpfullversion -dumpmachine)"
		uml_fragments "$variant" "$fp" | xargs cat | grep '^CONFIG_'
	} | sha256sum)
	uml_out=$UML_CACHE/$variant-${version//[^A-Za-z0-9.+-]/_}-${key:0:12}
}

# Is it there? Sets the paths, too.
uml_ready()
{
	uml_paths "$1" && [[ -e $uml_out/ready && -d $uml_src ]]
}
