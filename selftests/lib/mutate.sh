# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Are tests any good? Break the core in one place after the other; each time they have to
# notice. Prints which mutants were killed, by what, and which survived.
#
# A script that sources this has three functions, for the copy in $work/core, and then calls
# mutants_begin, mutant for each of them, and mutants_end:
#
#	build		compile the tests, into $work/build
#	survives	run them: do all pass?
#	killer		what has noticed, for people
#
# A set may have one more function, for a quick first check:
#
#	notices FILE	build and run the tests that notice most mutants of this file: does one of them?
#
# JOBS workers (the number of processors) run mutants side by side, each in its own copy, so that
# only the files that a mutant changes are compiled again. "make -C selftests mutate" runs all sets
# at once. Their workers share the tokens in the pipe MUTATE_TOKENS, one for each job, and the sets
# leave their scores in MUTATE_SCORES. With STALE=1 nothing is built, and the script only checks
# that each mutant still changes something.

SPN_CORE=${CORE:-$SPN_ROOT/kmod/core}
JOBS=${JOBS:-$(nproc)}
base=
work=
only=()
names=()
files=()
scripts=()

# mutants_begin WORK [NAME]...: in this directory, these mutants (none: all).
mutants_begin()
{
	base=$1
	shift
	only=("$@")
	[[ $JOBS =~ ^[1-9][0-9]?$ ]] || die "not a number of jobs: '$JOBS'"
	rm -rf "$base"
	mkdir -p "$base"
}

# mutant NAME FILE SED-SCRIPT: one change, which must change something.
mutant()
{
	if [[ ${#only[@]} -gt 0 && " ${only[*]} " != *" $1 "* ]]; then
		return
	fi
	names+=("$1")
	files+=("$2")
	scripts+=("$3")
}

notices()
{
	return 1
}

take_token()
{
	[[ ! ${MUTATE_TOKENS:-} ]] || read -rN 1 <"$MUTATE_TOKENS"
}

give_token()
{
	[[ ! ${MUTATE_TOKENS:-} ]] || printf x >"$MUTATE_TOKENS"
}

# Sets next to the number of a mutant that no worker has had.
next_mutant()
{
	{
		flock 8
		next=$(<"$base/next")
		echo $((next + 1)) >"$base/next"
	} 8>"$base/lock"
	((next < ${#names[@]}))
}

# verdict WORD NAME [WHY]
verdict()
{
	printf '%-10s %s\n' "$1" "$2${3:+ ($3)}" | tee -a "$base/verdicts"
}

# is_stale N FILE: the mutant, which goes to FILE, is the core as it is
is_stale()
{
	sed "${scripts[$1]}" "$SPN_CORE/${files[$1]}" >"$2"
	cmp -s "$SPN_CORE/${files[$1]}" "$2"
}

look_for_stale()
{
	local i bad=0

	for ((i = 0; i < ${#names[@]}; i++)); do
		if is_stale "$i" "$base/mutant"; then
			echo "${files[$i]}: mutant ${names[$i]} changes nothing any more"
			bad=1
		fi
	done
	return "$bad"
}

try_mutant()
{
	local name=${names[$1]} file=${files[$1]}

	if is_stale "$1" "$work/core/$file"; then
		verdict stale "$name" "the line is not there any more"
	elif notices "$file" >"$work/log" 2>&1; then
		verdict killed "$name" "$(killer)"
	elif ! build >"$work/log" 2>&1; then
		verdict "no build" "$name"
	elif survives >"$work/log" 2>&1; then
		verdict SURVIVED "$name"
	else
		verdict killed "$name" "$(killer)"
	fi
	cp "$SPN_CORE/$file" "$work/core/$file"
}

open_work()
{
	work=$base/$1
	mkdir -p "$work"
	cp -r "$SPN_CORE" "$work/core"
	build >"$work/log" 2>&1
}

# One of JOBS, in a subshell. The first one has its copy already.
worker()
{
	local next=0

	(($1 == 0)) || open_work "$1" || exit 1
	while next_mutant; do
		take_token
		try_mutant "$next"
		give_token
	done
}

# A test that fails already would kill all mutants.
try_core()
{
	if ! { open_work 0 && survives >"$work/log" 2>&1; }; then
		tail -n 20 "$work/log"
		die "fails already without a mutant"
	fi
}

mutants_end()
{
	local i killed bad pids=()

	((${#names[@]})) || die "no such mutant"
	if [[ ${STALE:-} ]]; then
		look_for_stale
		return
	fi
	try_core
	echo 0 >"$base/next"
	: >"$base/verdicts"
	for ((i = 0; i < JOBS && i < ${#names[@]}; i++)); do
		worker "$i" &
		pids+=($!)
		on_exit "end_pid $!"
	done
	for i in "${pids[@]}"; do
		wait "$i" || say "a worker could not build the tests"
	done
	killed=$(grep -c '^killed' "$base/verdicts" || :)
	# A mutant without a verdict was not killed either.
	bad=$(sed 's/^no build/no-build/' "$base/verdicts" | awk '!/^killed/ { printf " %s", $2 }')
	[[ ! ${MUTATE_SCORES:-} ]] || echo "$killed ${#names[@]}$bad" >>"$MUTATE_SCORES"
	echo "$killed of ${#names[@]} killed${bad:+, not:$bad}"
	[[ $killed -eq ${#names[@]} ]]
}
