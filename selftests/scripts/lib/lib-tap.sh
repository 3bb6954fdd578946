# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# For scripts with programs that print TAP themselves: source it after guest-lib.sh.

# tap_run COMMAND...: a program's lines "ok - x" and "not ok - x" become tests of the
# script, as they come; all else is shown. Its exit status is one more test.
# shellcheck disable=SC2154
# tap_n is of guest-lib.sh, which comes first.
tap_run()
{
	local fifo line pid rc

	fifo=/tmp/tap.$tap_n
	rm -f "$fifo"
	mkfifo "$fifo" || return 1
	"$@" >"$fifo" 2>&1 &
	pid=$!
	while IFS= read -r line; do
		case $line in
		"ok - "*) ok "${line#ok - }" ;;
		"not ok - "*) not_ok "${line#not ok - }" ;;
		*) diag "${line#\# }" ;;
		esac
	done <"$fifo"
	rc=0
	wait "$pid" || rc=$?
	rm -f "$fifo"
	is "$*: exit status" "$rc" 0
}

# tap_wait DESCRIPTION PID FILE: a program in the background whose output went to a file
# ends well; its own "ok" and "not ok" are no tests of the script, its status tells.
tap_wait()
{
	local rc

	rc=0
	wait "$2" || rc=$?
	is "$1" "$rc" 0
	tail -n "$([ "$rc" = 0 ] && echo 5 || echo 50)" "$3" | sed 's/^\(# \)*/# /'
}

# all_active N: are N subgroups active, over all nodes?
all_active()
{
	[ "$(spindle-ctl -j -p subgroup show | grep -c '"state": *"active"')" = "$1" ]
}
