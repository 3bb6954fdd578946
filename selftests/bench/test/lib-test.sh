# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# TAP for the tests of this directory. $work is a directory for their files.

n=0
bad=0
# check DESCRIPTION COMMAND...
check()
{
	local desc=$1 rc=0
	shift

	n=$((n + 1))
	# shellcheck disable=SC2154 # see above
	"$@" >"$work/out" 2>&1 </dev/null || rc=$?
	if ((rc == 0)); then
		echo "ok $n - $desc"
	else
		bad=$((bad + 1))
		echo "not ok $n - $desc"
		head -n 20 "$work/out" | sed 's/^/#   /'
	fi
}

skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# ends STATUS COMMAND...
ends()
{
	local want=$1 rc=0
	shift

	"$@" || rc=$?
	[[ $rc == "$want" ]]
}
