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
n=0
bad=0

# verdict STATUS DESCRIPTION: what a program has said is in $tmp/out.
verdict()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	echo "not ok $n - $2"
	sed 's/^/#   /' "$tmp/out"
	bad=1
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
