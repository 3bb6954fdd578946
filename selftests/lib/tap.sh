# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Test Anything Protocol for all tests in shell, on the host and in guests. Plain POSIX sh;
# "local" is the only extension.
#
#	plan 3			# or nothing: finish prints the plan
#	ok "first"
#	check "second" grep -q x /proc/modules
#	skip "third" "no such device"
#	finish			# last command: exit status from the counts

tap_n=0
tap_bad=0
tap_planned=

plan()
{
	tap_planned=$1
	echo "1..$1"
}

ok()
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $*"
}

not_ok()
{
	tap_n=$((tap_n + 1))
	tap_bad=$((tap_bad + 1))
	echo "not ok $tap_n - $*"
}

# skip DESCRIPTION REASON
skip()
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP ${2:-}"
}

diag()
{
	echo "# $*"
}

# check DESCRIPTION COMMAND...: one test; the output of a failing command is
# shown.
check()
{
	local desc out rc

	desc=$1
	shift
	rc=0
	out=$("$@" 2>&1) || rc=$?
	if [ "$rc" = 0 ]; then
		ok "$desc"
		return 0
	fi
	not_ok "$desc"
	diag "failed ($rc): $*"
	[ -z "$out" ] || printf '%s\n' "$out" | sed 's/^/#   /'
	return 1
}

# is DESCRIPTION HAVE WANT
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
		return 0
	fi
	not_ok "$1"
	diag "have '$2', want '$3'"
	return 1
}

# End of a script without a chance to go on.
bail()
{
	not_ok "$*"
	finish
}

# Skip a whole script.
skip_all()
{
	echo "1..0 # SKIP $*"
	exit 0
}

# The plan behind the tests, unless it was before them.
tap_plan()
{
	[ -n "$tap_planned" ] || echo "1..$tap_n"
}

# The plan, and whether all tests ran and passed: the last command of a script of the host.
tap_end()
{
	tap_plan
	if [ -n "$tap_planned" ] && [ "$tap_planned" != "$tap_n" ]; then
		diag "planned $tap_planned tests, ran $tap_n"
		return 1
	fi
	[ "$tap_bad" = 0 ]
}

finish()
{
	tap_end
	exit
}

# A block of one test, which has failed.
tap_failed()
{
	tap_n=0
	plan 1
	not_ok "$@"
}

# tap_ok and tap_not_ok DESCRIPTION: lines without a number, for output that tally.awk numbers.
tap_ok()
{
	echo "ok - $*"
}

tap_not_ok()
{
	echo "not ok - $*"
}
