# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests of this directory. $work is a directory for their files.

# shellcheck source=selftests/lib/tap.sh
. "$SPN_SELFTESTS/lib/tap.sh"
# check DESCRIPTION COMMAND...
check()
{
	local desc=$1 rc=0
	shift

	# shellcheck disable=SC2154 # see above
	"$@" >"$work/out" 2>&1 </dev/null || rc=$?
	if ((rc == 0)); then
		ok "$desc"
	else
		not_ok "$desc"
		head -n 20 "$work/out" | sed 's/^/#   /'
	fi
}

# ends STATUS COMMAND...
ends()
{
	local want=$1 rc=0
	shift

	"$@" || rc=$?
	[[ $rc == "$want" ]]
}
