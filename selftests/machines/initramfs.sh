# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the makers of initramfs have in common. Source it after lib/common.sh.
#
# An initramfs is cpio archives one after another, which the kernel unpacks in order: the host's
# programs, everything of this project, and what one guest alone has. The first two are kept, because
# a look for the libraries of each program takes seconds.

# pack ROOT: the archive of what is below ROOT
pack()
{
	(cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
		cpio --null --quiet -o -H newc -R 0:0)
}

# copy_prog ROOT BASE FILE DEST: a program with the libraries that it is linked to and that neither
# ROOT nor BASE has. copy_project puts our own library into /lib.
copy_prog()
{
	local root=$1 base=$2 file=$3 dest=$4 lib

	mkdir -p "$root${dest%/*}"
	rm -f "$root$dest"
	cp -L "$file" "$root$dest"
	chmod 755 "$root$dest"
	while read -r lib; do
		[[ $lib == "$SPN_ROOT"/* || -e $root$lib || -e $base$lib ]] && continue
		mkdir -p "$root${lib%/*}"
		cp -L "$lib" "$root$lib"
	done < <(LD_LIBRARY_PATH=$SPN_ROOT/libspindle-user ldd "$file" \
		2>/dev/null | grep -o '/[^ ]*' || :)
}

# The files of this project that guests of all machines have.
project_files()
{
	local f

	for f in "$SPN_ROOT"/libspindle-user/*.so* "$SPN_ROOT"/tools/* "$SPN_SELFTESTS"/guest/bin/* \
		"$SPN_SELFTESTS"/machines/vm/guest-*.sh "$SPN_SELFTESTS/lib/tap.sh" \
		"$SPN_SELFTESTS"/scripts/*/*.sh; do
		[[ ! -f $f ]] || [[ ! -x $f && $f == */tools/* ]] || printf '%s\n' "$f"
	done
}

# copy_project ROOT BASE FILE...: libraries go to /lib, scripts to /tests, programs to /bin.
copy_project()
{
	local root=$1 base=$2 f
	shift 2

	mkdir -p "$root"/{bin,lib,tests}
	for f in "$@"; do
		case $f in
		*.so*) cp -P "$f" "$root/lib/" ;;
		*.sh) cp "$f" "$root/tests/" ;;
		*) copy_prog "$root" "$base" "$f" "/bin/${f##*/}" ;;
		esac
	done
}

# copy_adds ROOT BASE SRC[:DEST]...: what one guest alone has, by default in /bin
copy_adds()
{
	local root=$1 base=$2 add src dest
	shift 2

	for add in "$@"; do
		src=${add%%:*}
		dest=/bin/${src##*/}
		[[ $add == *:* ]] && dest=${add#*:}
		copy_prog "$root" "$base" "$src" "$dest"
		[[ -x $src ]] || chmod 644 "$root$dest"
	done
}

# states FILE...: text that differs once one of them has changed
states()
{
	stat -Lc '%n %i %s %.9Z' "$@"
}

# kept ARCHIVE KEY COMMAND...: the archive that the command makes, unless it is there, and was made
# with this key. The command writes ARCHIVE.new.
kept()
{
	local file=$1 key=$2
	shift 2

	[[ ! -e $file || $(cat "$file.key" 2>/dev/null) != "$key" ]] || return 0
	rm -f "$file.key"
	"$@"
	mv "$file.new" "$file"
	printf '%s\n' "$key" >"$file.key"
}
