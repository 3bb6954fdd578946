# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Are tests any good? Break a copy of the core in one place after the other; each time they
# have to notice. Prints which mutants were killed, by what, and which survived.
#
# Who sources this has three functions, for the copy in $work/core:
#
#	build		compile the tests
#	survives	run them: do all pass?
#	killer		what has noticed, for people

SPN_CORE=${CORE:-$SPN_ROOT/kmod/core}
work=
only=()
killed=0
survived=()

# mutants_begin WORK [NAME]...: in this directory, these mutants (none: all). One copy for
# all: what a mutant does not touch need not be compiled again.
mutants_begin()
{
	work=$1
	shift
	only=("$@")
	rm -rf "$work"
	mkdir -p "$work"
	cp -r "$SPN_CORE" "$work/core"
	# What fails already would kill all of them.
	if ! { build && survives; } >"$work/log" 2>&1; then
		tail -n 20 "$work/log"
		die "fails already without a mutant"
	fi
}

survivor()
{
	printf '%-10s %s\n' "$1" "$2${3:+ ($3)}"
	survived+=("$2")
}

# mutant NAME FILE SED-SCRIPT: one change, which must change something.
mutant()
{
	local name=$1 file=$2 script=$3

	if [[ ${#only[@]} -gt 0 && " ${only[*]} " != *" $name "* ]]; then
		return
	fi
	sed "$script" "$SPN_CORE/$file" >"$work/core/$file"
	if cmp -s "$SPN_CORE/$file" "$work/core/$file"; then
		survivor stale "$name" "the line is not there any more"
	elif ! build >"$work/log" 2>&1; then
		survivor "no build" "$name"
	elif survives >"$work/log" 2>&1; then
		survivor SURVIVED "$name"
	else
		printf '%-10s %s (%s)\n' killed "$name" "$(killer)"
		killed=$((killed + 1))
	fi
	cp "$SPN_CORE/$file" "$work/core/$file"
}

mutants_end()
{
	echo "$killed killed, ${#survived[@]} not${survived[*]:+: ${survived[*]}}"
	[[ ${#survived[@]} -eq 0 ]]
}
