# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Traffic that is to end with an error: source it after guest-lib.sh and lib-loop.sh.

# load_start: endless traffic in subgroup 1, and a reader in subgroup 2 that gets no message.
# shellcheck disable=SC2034 # load_pid and idle_pid are for the scripts
load_start()
{
	limit 200 mcast-load -n 1-4 -g 1 -c 100000000 -l 1-1000 -w 120 >/tmp/load.out 2>&1 &
	load_pid=$!
	limit 200 mcast-load -n 2 -g 2 -s one -c 5 -w 120 >/tmp/idle.out 2>&1 &
	idle_pid=$!
	wait_until 60 flows 4 200 &&
		wait_until 60 sh -c "spindle-ctl -j -p subgroup show node 2 id 2 |
			grep -q '\"readers\": *1'"
}

# flows NODE COUNT: has the node delivered more than that?
flows()
{
	[ "$(loop_stat "$1" 1 delivered)" -gt "$2" ]
}

# Not by check, which would keep the numbers of the processes to itself.
traffic()
{
	if load_start; then
		ok "traffic"
	else
		not_ok "traffic"
		sed 's/^/#   /' /tmp/load.out /tmp/idle.out
	fi
}

# load_failed DESCRIPTION FILE PID TEXT: the load ended with this error, without a signal.
load_failed()
{
	local rc

	rc=0
	wait "$3" || rc=$?
	if [ $rc = 1 ] && grep -q "$4" "$2"; then
		ok "$1"
		return
	fi
	not_ok "$1"
	diag "it ended with $rc"
	sed 's/^/#   /' "$2"
}

# configure VISIBILITY: four nodes and two subgroups.
configure()
{
	loop_nodes 4 visibility "$1" && loop_view 4 1 \
		subgroup 1 window 32 max-msg 1024 subgroup 2 window 8 max-msg 1024 members 1,2
}

no_device()
{
	! [ -e /sys/class/infiniband/rxe0 ]
}
