# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Common parts of all scripts of the test lanes. Source this file, after "set -euo pipefail".

SPN_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
SPN_SELFTESTS=$SPN_ROOT/selftests
SPN_BUILD=${SPINDLE_BUILD:-$SPN_ROOT/build}
SPN_CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/spindle
# shellcheck disable=SC2034 # for scripts that source this
readonly SPN_ROOT SPN_SELFTESTS SPN_BUILD SPN_CACHE

# Series of kernels that the module supports and that the VM lanes boot.
# shellcheck disable=SC2034
SPN_KERNELS="6.1 6.12"

# Texts in a kernel log that are complaints. machines/vm/init.c looks for the same.
# shellcheck disable=SC2034
SPN_SPLAT='WARNING: |BUG: |kernel BUG at|Oops|Call Trace:|general protection fault'
SPN_SPLAT+='|[Uu]nable to handle|INFO: task |detected stalls|self-detected stall'
SPN_SPLAT+='|Kernel panic|refcount_t: '

say()
{
	printf '%s\n' "$*" >&2
}

die()
{
	say "${0##*/}: $*"
	exit 1
}

# Clean-up: commands run in reverse order when the script ends, however it
# ends. Signals end the script through "exit", so there is one path only.
spn_cleanups=()
spn_cleanup_pid=

on_exit()
{
	if [[ $spn_cleanup_pid != "$BASHPID" ]]; then
		# A subshell must not run what its parent registered.
		spn_cleanups=()
		spn_cleanup_pid=$BASHPID
		trap spn_run_cleanups EXIT
		trap 'exit 129' HUP
		trap 'exit 130' INT
		trap 'exit 143' TERM
	fi
	spn_cleanups+=("$1")
}

spn_run_cleanups()
{
	local rc=$? i

	# A second Ctrl-C must not cut the clean-up short.
	trap '' HUP INT TERM
	set +e
	for ((i = ${#spn_cleanups[@]} - 1; i >= 0; i--)); do
		eval "${spn_cleanups[i]}"
	done
	exit "$rc"
}

# Is this a child of this very shell, and running? A dead one stays visible until the shell waits
# for it. After that its number may soon belong to a process of another user, and no signal of ours
# must reach that. Read one line only, because read seeks back behind each line, and /proc may then
# return moved text.
alive()
{
	local stat state parent rest

	read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
	# The name is in parentheses and may contain some.
	read -r state parent rest <<<"${stat##*) }"
	[[ $parent == "$BASHPID" && $state != [ZX] ]]
}

# End one process that we started: ask, wait a little, insist.
end_pid()
{
	local pid=$1 i

	alive "$pid" || return 0
	kill -TERM "$pid" 2>/dev/null || return 0
	for ((i = 0; i < ${2:-50}; i++)); do
		alive "$pid" || break
		nap 0.1
	done
	if alive "$pid"; then
		kill -KILL "$pid" 2>/dev/null || :
	fi
	wait "$pid" 2>/dev/null || :
}

# Sleep in the shell itself, so that signals are seen at once: wait for input from a pipe without a
# writer.
exec {spn_nap_fd}<> <(:)

nap()
{
	read -rt "$1" -u "$spn_nap_fd" || :
}

# next_line FD: read a line into $line. Status 1: no line is there yet, after a short nap; 2: none
# follows. The writer at the other end must write whole lines, as "sed -u" does. A time limit of
# read is no way, because bash (5.2) loses a byte that comes while the time of a read runs out.
next_line()
{
	line=
	if read -rt 0 -u "$1"; then
		IFS= read -r -u "$1" line || [[ $line ]] || return 2
		return 0
	fi
	nap 0.2
	return 1
}

# pause_for MILLISECONDS PID: a machine that its own script wants to stand still. A signal,
# as the emulator's own command would stop the guest's clocks as well.
pause_for()
{
	kill -STOP "$2" 2>/dev/null || return 0
	sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"
	kill -CONT "$2" 2>/dev/null || :
}

# The newest installed kernel of a series ("6.1"), or the release itself.
# Flavours other than the plain one of an architecture are passed over.
kernel_release()
{
	local want=$1 dir rel

	if [[ -d /lib/modules/$want && $want == *.*.* ]]; then
		printf '%s\n' "$want"
		return 0
	fi
	for dir in /lib/modules/"$want".*; do
		rel=${dir##*/}
		[[ $rel == *-cloud-* || $rel == *-rt-* ]] && continue
		[[ -d $dir/kernel ]] || continue
		printf '%s\n' "$rel"
	done | sort -V | tail -n 1 | grep .
}

# The build directory of the installed headers of a release.
kernel_headers()
{
	local dir=/lib/modules/$1/build

	[[ -e $dir/Makefile ]] || return 1
	printf '%s\n' "$dir"
}

# need_packages PROGRAM:PACKAGE...: as lib/deps.sh does it, with what some lane needs
# beyond. A program may be a path, with wildcards.
need_packages()
{
	local n missing=() apt log=$SPN_BUILD/logs/apt.log

	for n in "$@"; do
		case $n in
		/*) compgen -G "${n%%:*}" >/dev/null ;;
		*) PATH=$PATH:/usr/sbin:/sbin command -v "${n%%:*}" >/dev/null ;;
		esac || missing+=("${n#*:}")
	done
	((${#missing[@]})) || return 0
	say "missing: ${missing[*]}"
	if [[ ! -e /etc/debian_version ]] || ((EUID != 0)); then
		die "please install them (the names are Debian's)"
	fi
	mkdir -p "${log%/*}"
	export DEBIAN_FRONTEND=noninteractive
	apt=(apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=600
		-o Dpkg::Use-Pty=0)
	# The lists may be old or absent.
	"${apt[@]}" install "${missing[@]}" </dev/null >"$log" 2>&1 ||
		{ "${apt[@]}" update && "${apt[@]}" install "${missing[@]}"; } \
			</dev/null >>"$log" 2>&1 || {
		tail -n 5 "$log" >&2
		die "apt-get could not install them"
	}
}
