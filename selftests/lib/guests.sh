# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For lanes that run the scripts of scripts/ in guests, and the last line of them all.
# Source it after common.sh.
# shellcheck source=selftests/lib/tap.sh
. "$SPN_SELFTESTS/lib/tap.sh"

# find_directive FILE NAME: sets value to what follows "NAME=" in a line "# vm:" of a script, or to
# nothing. Status 1: no line has the name. No program is started, because a lane asks a thousand times.
find_directive()
{
	local lines line

	value=
	mapfile -t lines <"$1"
	for line in "${lines[@]}"; do
		[[ $line =~ ^"# vm:"(.*[[:space:]])?"$2"(=([^[:space:]]+)|[[:space:]]|$) ]] || continue
		value=${BASH_REMATCH[3]}
		return 0
	done
	return 1
}

# directive FILE NAME DEFAULT: the value of "# vm: NAME=value" in a script.
directive()
{
	local value

	find_directive "$1" "$2" || :
	printf '%s\n' "${value:-$3}"
}

# Is there "# vm: NAME", with a value or without?
has_directive()
{
	local value

	find_directive "$1" "$2"
}

# Sort lines "SECONDS WHAT" by time, the longest first, and print what it is.
longest_first()
{
	sort -s -k1,1rn | cut -d ' ' -f 2-
}

# run COMMAND ARG...: start a guest that ends with this shell. The shell handles no signal while it
# runs a command in the foreground. The guest's output goes through.
run()
{
	local rc=0

	"$@" &
	child=$!
	trap 'kill -TERM "$child"; wait "$child"; exit 143' INT TERM
	wait "$child" || rc=$?
	trap 'exit 130' INT
	trap 'exit 143' TERM
	return "$rc"
}

# load_patience: how many times a limit counts, because other work has the processors: the load for
# each of them, from 2 to 5, because more work may come later. PATIENCE=n is another number.
load_patience()
{
	[[ ! ${PATIENCE:-} ]] || {
		printf '%s\n' "$PATIENCE"
		return
	}
	awk -v cpus="$(nproc)" '{
		n = int($1 / cpus + 0.5)
		print (n < 2 ? 2 : n > 5 ? 5 : n)
	}' /proc/loadavg
}

# guest_end GUEST STATUS: one test: the end of a guest. A script that failed has said so itself.
guest_end()
{
	case $2 in
	0 | 1) tap_ok "$1: end and kernel log" ;;
	*) tap_not_ok "$1: end and kernel log ($2)" ;;
	esac
}

# logs_agree DIR: one test: do all logs of live-load in DIR agree, for each group separately? Names
# are GROUP-NODE.LIFE.
logs_agree()
{
	local dir=$1 f group groups files out rc=0

	groups=$(for f in "$dir"/[0-9]*-*; do
		[[ ! -s $f ]] || { f=${f##*/}; echo "${f%%-*}"; }
	done | sort -u)
	[[ $groups ]] || rc=1
	for group in $groups; do
		files=()
		for f in "$dir/$group"-*; do
			[[ ! -s $f ]] || files+=("$f")
		done
		sed -sn 's/^g \([0-9]*\) \([0-9]*\)$/\1 \2/p;T;F' "${files[@]}" | paste - - |
			sort -rn | sed -n '1,4s/^\([0-9]*\) \([0-9]*\).*-\(.*\)/# no message for \1 us at \3, in view \2/p'
		out=$("$SPN_SELFTESTS/guest/bin/live-check" "${files[@]}" 2>&1) || rc=1
		echo "# group $group, ${#files[@]} logs: ${out//"$dir"\//}"
	done
	if ((rc)); then
		tap_not_ok "logs agree"
	else
		tap_ok "logs agree"
	fi
}

# node_frames NODE: the frames of one guest of many get the number of its node.
node_frames()
{
	awk -v node="$1" '
	/^# test(-end)?: / { $3 = $3 ".node" node }
	{ print }'
}

# The function closes a frame that its guest left open when it died. The end of the frame goes
# before the last line of the caller, or to the end. The plan of a script waits for the end of the
# script.
close_frames()
{
	awk '
	function end() {
		if (open != "") {
			print "not ok - the guest died in it"
			print "1.." 1 + seen
			print "# test-end: " open " 0"
			open = ""
		}
	}
	/^# vm [^ ]*: / { end() }
	/^# test: / { open = $3; seen = 0; plan = "" }
	/^# test-end: / {
		if (plan != "")
			print plan
		open = plan = ""
	}
	open != "" && /^(not )?ok/ { seen++ }
	open != "" && /^1\.\.[1-9]/ && plan == "" { plan = $0; next }
	{ print; fflush() }
	END { end() }'
}

# time_is_up: no more guests are begun, see CHECK_MINUTES in run.
time_is_up()
{
	[[ ${CHECK_END:-} ]] && ((EPOCHSECONDS >= CHECK_END))
}

# skip_scripts SCRIPT...: a skipped block for each of them.
skip_scripts()
{
	local f

	for f in "$@"; do
		f=${f##*/}
		printf '%s\n' "# test: ${f%.sh}" "1..0 # SKIP no time is left" \
			"# test-end: ${f%.sh} 0"
	done
}

# say_verdict TOTALS: print all failures again, and the last line. The status is 1 if any test
# failed. Sets passed, for callers that need at least one test.
say_verdict()
{
	local failed skipped line

	read -r passed failed skipped <"$1"
	line="$passed passed, $failed failed"
	if ((skipped)); then
		line+=", $skipped skipped"
	fi
	if [[ -s $1.failed ]]; then
		echo "# what failed:"
		head -n 40 "$1.failed"
	fi
	echo "$line"
	((failed == 0))
}

# say_lane NAME TOTALS SECONDS: the last two lines of a lane; status 1 unless all is well.
say_lane()
{
	local passed failed skipped

	read -r passed failed skipped <"$2"
	echo "# lane $1: $passed passed, $failed failed, $skipped skipped, $3 s"
	say_verdict "$2" && ((passed > 0))
}
