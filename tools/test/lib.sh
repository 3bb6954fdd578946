# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# What the scripts here share: source it with '. "$(dirname "$0")/lib.sh"'.
# shellcheck disable=SC2034 # for them

dir=$(cd "$(dirname "$0")/.." && pwd)
ctl=$dir/spindle-ctl
program=$ctl
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C
# shellcheck source=selftests/lib/tap.sh
. "$dir/../selftests/lib/tap.sh"

# verdict STATUS DESCRIPTION: what a program has said is in $tmp/out.
verdict()
{
	if [ "$1" = 0 ]; then
		ok "$2"
		return
	fi
	not_ok "$2"
	sed 's/^/#   /' "$tmp/out"
}

# says STATUS PATTERN WORD...: $program ends with this status and says this.
says()
{
	want=$1
	pattern=$2
	shift 2
	"$program" "$@" >"$tmp/out" 2>&1 </dev/null
	have=$?
	echo "status $have, wanted $want: $*" >>"$tmp/out"
	[ "$have" = "$want" ] && grep -q -e "$pattern" "$tmp/out"
	verdict $? "$*: $pattern"
}

# file STATUS PATTERN...: apply --dry-run of the file on stdin says all of this.
file()
{
	want=$1
	shift
	cat >"$tmp/t.conf"
	(cd "$tmp" && "$ctl" apply t.conf --dry-run) >"$tmp/out" 2>&1
	have=$?
	echo "status $have, wanted $want" >>"$tmp/out"
	[ "$have" = "$want" ]
	rc=$?
	for pattern; do
		grep -q -e "$pattern" "$tmp/out" || { rc=1 && echo "no '$pattern'" >>"$tmp/out"; }
	done
	verdict $rc "file: $*"
}
