#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that the packages that the lanes need are installed.
#
#   deps.sh PURPOSE...	build lib style vm kernel-6.1 kernel-6.12
#			headers-6.1 headers-6.12 bench bench-peers bench-rdmc
#			bench-durable model fuzz docs cost
#
# Nothing is said or done when nothing is missing.  As root on Debian the rest
# is installed with apt; elsewhere it is listed and the status is 1.
set -euo pipefail
# shellcheck source=selftests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

PATH=$PATH:/usr/sbin:/sbin

# How to see it, a colon, the Debian package.  cmd/NAME a program, pc/NAME a
# pkg-config module, file/GLOB, kernel/SERIES and headers/SERIES installed.
needs_lib="cmd/gcc:gcc cmd/g++:g++ cmd/make:make cmd/pkg-config:pkg-config
	cmd/perl:perl cmd/setpriv:util-linux
	file/usr/include/*/sys/types.h:libc6-dev
	file/usr/lib/gcc/*/*/libasan.so:gcc
	pc/libnl-3.0:libnl-3-dev pc/libnl-genl-3.0:libnl-genl-3-dev
	pc/json-c:libjson-c-dev pc/liburing:liburing-dev
	pc/nettle:nettle-dev"
needs_build="$needs_lib cmd/sparse:sparse cmd/pahole:dwarves cmd/bc:bc
	cmd/xz:xz-utils cmd/flock:util-linux cmd/depmod:kmod"
needs_style="cmd/perl:perl cmd/xz:xz-utils cmd/shellcheck:shellcheck
	cmd/clang-format:clang-format
	checkpatch/any:linux-source-6.12 cmd/python3:python3
	file/usr/lib/python3/dist-packages/yaml/__init__.py:python3-yaml
	file/usr/lib/python3/dist-packages/jsonschema/__init__.py:python3-jsonschema
	file/usr/src/linux-source-6.12.tar.xz:linux-source-6.12"
needs_vm="cmd/gcc:gcc file/usr/include/*/sys/types.h:libc6-dev
	cmd/qemu-system-x86_64:qemu-system-x86 file/usr/share/seabios/bios.bin:seabios
	cmd/busybox:busybox-static
	cmd/dash:dash cmd/ip:iproute2 cmd/rdma:iproute2 cmd/depmod:kmod
	cmd/cpio:cpio cmd/strace:strace cmd/strip:binutils cmd/xz:xz-utils
	cmd/flock:util-linux file/etc/rdma:rdma-core
	file/usr/lib/*/libibverbs/librxe-rdmav*.so:ibverbs-providers
	pc/librdmacm:librdmacm-dev pc/libibverbs:libibverbs-dev pc/nettle:nettle-dev"
# Packages for "make bench" alone.
needs_bench="cmd/gnuplot:gnuplot-nox cmd/perl:perl cmd/dash:dash cmd/gcc:gcc
	cmd/flock:util-linux"
# Further packages for "make bench-peers": the other systems.
needs_bench_peers="cmd/corosync:corosync cmd/corosync-cmapctl:corosync
	pc/libcpg:libcpg-dev cmd/tipc:iproute2 cmd/tc:iproute2"
# Further packages for "make bench-rdmc", besides those of "make bench": the
# other system.
needs_bench_rdmc="cmd/mpirun:openmpi-bin cmd/mpicc:libopenmpi-dev"
# Further packages for "make bench-durable": the other systems, and what measures a disk.
needs_bench_durable="cmd/etcd:etcd-server cmd/nats-server:nats-server cmd/fio:fio
	cmd/mkfs.ext4:e2fsprogs pc/libnghttp2:libnghttp2-dev pc/libnats:libnats-dev"
# Packages for "make -C selftests/core/fuzz" alone.
needs_fuzz="cmd/clang-14:clang-14 cmd/perl:perl cmd/make:make
	file/usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a:libclang-rt-14-dev"
# Packages for the counts of selftests/bench/test/cost.
needs_cost="cmd/valgrind:valgrind"
# Packages for "make html", and for its check in the build lane.
needs_docs="cmd/sphinx-build:python3-sphinx"
# Packages for "make check-model" alone.
needs_model="cmd/spin:spin cmd/gcc:gcc"

purposes=("$@")
((${#purposes[@]})) || purposes=(build style vm headers-6.1 headers-6.12
	kernel-6.1 kernel-6.12)

# The packages of a series by what Debian 12 calls them.
kernel_package()
{
	case $2 in
	6.1) printf 'linux-%s-amd64\n' "$1" ;;
	*) printf 'linux-%s-%s-amd64\n' "$1" "$2" ;;
	esac
}

present()
{
	local kind=${1%%/*} what=${1#*/} rel

	case $kind in
	cmd) command -v "$what" >/dev/null ;;
	pc) command -v pkg-config >/dev/null && pkg-config --exists "$what" ;;
	file) compgen -G "/$what" >/dev/null ;;
	checkpatch)
		[[ -e $SPN_CACHE/checkpatch/checkpatch.pl ]] ||
			compgen -G "/usr/src/linux-source-*.tar.xz" >/dev/null
		;;
	kernel)
		rel=$(kernel_release "$what") && [[ -e /boot/vmlinuz-$rel ]]
		;;
	headers)
		for rel in /lib/modules/"$what".*/build/Makefile; do
			[[ -e $rel ]] && return 0
		done
		return 1
		;;
	esac
}

missing=()
want()
{
	local pkg

	present "$1" && return 0
	for pkg in ${missing[@]+"${missing[@]}"}; do
		[[ $pkg == "$2" ]] && return 0
	done
	missing+=("$2")
}

find_missing()
{
	local purpose need needs

	missing=()
	for purpose in "${purposes[@]}"; do
		case $purpose in
		build) needs=$needs_build ;;
		lib) needs=$needs_lib ;;
		style) needs=$needs_style ;;
		vm) needs=$needs_vm ;;
		bench) needs=$needs_bench ;;
		bench-peers) needs=$needs_bench_peers ;;
		bench-rdmc) needs=$needs_bench_rdmc ;;
		bench-durable) needs=$needs_bench_durable ;;
		model) needs=$needs_model ;;
		docs) needs=$needs_docs ;;
		fuzz) needs=$needs_fuzz ;;
		cost) needs=$needs_cost ;;
		kernel-* | headers-*)
			needs=${purpose%%-*}/${purpose#*-}
			case $purpose in
			kernel-*) needs+=:$(kernel_package image "${purpose#*-}") ;;
			*) needs+=:$(kernel_package headers "${purpose#*-}") ;;
			esac
			;;
		*) die "unknown purpose $purpose" ;;
		esac
		set -f
		for need in $needs; do
			set +f
			want "${need%%:*}" "${need#*:}"
		done
		set +f
	done
}

find_missing
((${#missing[@]})) || exit 0

say "deps: missing for ${purposes[*]}: ${missing[*]}"
if [[ ! -e /etc/debian_version ]] || ! command -v apt-get >/dev/null; then
	die "please install them (the names are Debian's)"
fi
if ((EUID != 0)); then
	die "please install them: apt-get install ${missing[*]}"
fi

export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -qq -y --no-install-recommends -o "DPkg::Lock::Timeout=600"
	-o "Dpkg::Use-Pty=0")
# A package with a daemon would start it, now and whenever this machine boots.
policy=/usr/sbin/policy-rc.d
daemons=()
for daemon in corosync:corosync etcd-server:etcd nats-server:nats-server; do
	[[ " ${missing[*]} " != *" ${daemon%%:*} "* ]] || daemons+=("${daemon#*:}")
done
if ((${#daemons[@]})); then
	on_exit "systemctl disable ${daemons[*]} >/dev/null 2>&1 || :"
	if [[ ! -e $policy ]]; then
		on_exit "rm -f $policy"
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
	fi
fi
mkdir -p "$SPN_BUILD/logs"
log=$SPN_BUILD/logs/apt.log
if ! "${apt[@]}" install "${missing[@]}" </dev/null >"$log" 2>&1; then
	# The lists may be old or absent.
	"${apt[@]}" update </dev/null >>"$log" 2>&1 || :
	if ! "${apt[@]}" install "${missing[@]}" </dev/null >>"$log" 2>&1; then
		tail -n 5 "$log" >&2
		die "apt-get could not install them"
	fi
fi
find_missing
((${#missing[@]} == 0)) || die "still missing: ${missing[*]}"
