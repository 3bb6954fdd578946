# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Hostile peers: source it after guest-lib.sh and lib-loop.sh. Node 1 is the hostile
# one, played by hostile-peer (see there for its steps), and has the lowest id so that
# it dials.

# shellcheck disable=SC2034
EV=/tmp/events
vid=0
view=
RING=4096

# listen_in: events go to $EV from now on, until listen_out.
listen_in()
{
	spindle-ctl monitor >>$EV 2>/dev/null &
	monitor_pid=$!
	wait_until 30 listens $monitor_pid
}

listen_out()
{
	kill "$monitor_pid"
	wait "$monitor_pid" 2>/dev/null
}

# event REGEX: has it been told since the view was set?
event()
{
	grep -q "$1" $EV
}

# told DESCRIPTION REGEX: such an event comes, sooner or later.
told()
{
	check "$1" wait_until 30 event "$2" || sed 's/^/#   /' $EV
}

# fresh WORD...: the next view of nodes 1 and 2 with one subgroup, on node 2.
fresh()
{
	vid=$((vid + 1))
	view="vid $vid member 1@10.0.0.1:5001 member 2@10.0.0.1:5002"
	view="$view subgroup 1 window 8 max-msg 512 ring $RING hold 0 $*"
	: >$EV
	# shellcheck disable=SC2086
	limit 30 spindle-ctl view set node 2 $view
}

# hostile STEP...: the output of the steps, joined. As another node than 1, or to another than 2:
# FROM=, TO=. A node that is still busy with the last attempt is asked again, up to TRIES= times.
hostile()
{
	local said tries

	tries=0
	while [ $tries -lt "${TRIES:-100}" ]; do
		# shellcheck disable=SC2086
		said=$(limit 200 hostile-peer -i "${FROM:-1}" -t "${TO:-2}" \
			${HOSTILE_KEY:+-k $HOSTILE_KEY} $view -- "$@" 2>&1 |
			sed 's/^[a-z]*: //' | paste -s -d '|')
		case $said in
		"rejected 1" | "rejected 1|"*) ;;
		*) break ;;
		esac
		tries=$((tries + 1))
		usleep 100000
	done
	echo "$said"
}

# hostile_bg STEP...: does the steps, then stays until let_go.
hostile_bg()
{
	local tries

	tries=0
	rm -f /tmp/ready /tmp/go
	while [ $tries -lt 100 ]; do
		# shellcheck disable=SC2086
		limit 200 hostile-peer -i "${FROM:-1}" -t "${TO:-2}" \
			${HOSTILE_KEY:+-k $HOSTILE_KEY} $view -- "$@" \
			mark=/tmp/ready until=/tmp/go >/tmp/hostile.out 2>&1 &
		hostile_pid=$!
		wait_until 60 ready_or_gone && [ -e /tmp/ready ] && return 0
		grep -q "rejected 1$" /tmp/hostile.out || return 1
		tries=$((tries + 1))
		usleep 100000
	done
	return 1
}

ready_or_gone()
{
	[ -e /tmp/ready ] || ! kill -0 "$hostile_pid" 2>/dev/null
}

let_go()
{
	: >/tmp/go
	wait "$hostile_pid"
}

# The keys of all memory regions of the kernel.
kernel_keys()
{
	rdma -d resource show mr |
		sed -n 's/.*rkey \(0x[0-9a-f]*\) .*comm \[spindle\].*/\1/p'
}
