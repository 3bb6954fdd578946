#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The visible state of RDMC groups: spindle-ctl rdmc of groups that open, that move, that have
# failed; events; racks; a dump of many; requests that are refused.
# vm: uml mem=2048
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

events=/tmp/events
json=/tmp/rdmc.json

# event WORDS: has it come? Words of "spindle-ctl monitor", one blank between them.
event()
{
	tr -s ' ' <"$events" | grep -q "$1\( (.*)\)*\$"
}

# expect_event WORDS
expect_event()
{
	wait_until 20 event "$1"
	check "event: $1" event "$1" || sed 's/^/# /' "$events"
}

# get POINTER WORD...: a value of "spindle-ctl -j rdmc show WORD..."
get()
{
	local pointer

	pointer=$1
	shift
	limit 60 spindle-ctl -j rdmc show "$@" >"$json" && json-get "$json" "$pointer"
}

# has POINTER VALUE WORD...
has()
{
	local pointer want

	pointer=$1
	want=$2
	shift 2
	[ "$(get "$pointer" "$@" 2>/dev/null)" = "$want" ]
}

# becomes POINTER VALUE WORD...: it has, sooner or later
becomes()
{
	wait_until 30 has "$@"
	is "$*" "$(get "$1" "$3" "$4" "$5" "$6" 2>&1)" "$2"
}

lines()
{
	grep -ce "$1" "$out"
}

no_groups()
{
	[ "$(spindle-ctl -j rdmc show)" = '[]' ]
}

# ---- nothing there --------------------------------------------------------

check "module loads" loop_start
says 0 'There are no RDMC groups' rdmc show
says 0 'There are no RDMC groups' rdmc stats
says 0 '^\[\]$' -j rdmc show
says 1 'at: id 9' rdmc show node 9
says 1 'no RDMC group 7$' rdmc show group 7
says 1 'no RDMC group 7$' rdmc stats group 7
spindle-ctl monitor >"$events" &
monitor=$!
spindle-ctl -j monitor node 2 >/tmp/events-json &
monitor_json=$!
check "the first monitor listens" wait_until 30 listens "$monitor"
check "the second monitor listens" wait_until 30 listens "$monitor_json"

# ---- racks ----------------------------------------------------------------

check "8 nodes" loop_nodes 8
is "nodes have no rack by default" "$(spindle-ctl node show | grep -c RACK)" 0
for i in 1 2 3; do
	spindle-ctl node set "$i" rack 0
done
for i in 4 5 6; do
	spindle-ctl node set id "$i" rack 7
done
spindle-ctl node set 7 rack 65534
says 0 ' RACK ' node show
is "node show lists racks" \
	"$(awk '{ print $11 }' "$out" | tr '\n' ' ')" "RACK 0 0 0 7 7 7 65534 none "
says 0 '"rack":7' -j node show 5
says 2 "rack '65536': not a number" node set 1 rack 65536
spindle-ctl node set 1 rack 3
spindle-ctl showconf >/tmp/conf
is "showconf writes racks" "$(sed -n 's/^Rack = //p' /tmp/conf | tr '\n' ' ')" "3 0 0 7 7 7 65534 "
says 0 'there is nothing to change' apply /tmp/conf --dry-run
sed -i 's/^Rack = 3/Rack = 0/' /tmp/conf
says 1 'runs with other values' apply /tmp/conf --dry-run
is "the output names the changed rack" "$(lines 'rack: 3 -> 0')" 1
says 0 '+ node 1 at' apply /tmp/conf --replace
says 0 '"rack":0' -j node show 1
says 2 "nothing to set; there is: idle-us, timing, rack" node set 1
check "a view of eight nodes is installed" loop_view 8 1
check "a hybrid schedule works for three racks and a node without" \
	limit 120 rdmc-load -a hybrid -m 1-8 -b 4096 -l 1,4095,4096,4097,100000,300001 -c 6
check "a hybrid schedule works with another root" \
	limit 120 rdmc-load -a hybrid -m 5,1-4,6-8 -b 4096 -l 1-300000 -c 6
check "the groups are gone" wait_until 30 no_groups
check "node 7 loses its rack" spindle-ctl node set 7 rack none
is "node show lists no rack for node 7" "$(spindle-ctl -j node show 7 | grep -c rack)" 0

# ---- a group that opens ---------------------------------------------------

limit 200 rdmc-load -m 1-3 -n 1,2 -G 70 -t 60000 -a hybrid >/tmp/load.out 2>&1 &
load=$!
becomes /0/members/1/created true group 70 node 1
becomes /0/state opening group 70 node 1
becomes /0/members/1/state up group 70 node 1
is "members" "$(json-get $json /0/members/0/id /0/members/1/id /0/members/2/id | tr '\n' ' ')" \
	"1 2 3 "
is "rdmc show says which members have created the group" \
	"$(json-get $json /0/members/0/created /0/members/2/created |
	tr '\n' ' ')" "true false "
is "rdmc show lists the known racks" \
	"$(json-get $json /0/members/0/rack /0/members/1/rack | tr '\n' ' ')" \
	"0 0 "
is "rdmc show lists the properties of the group" \
	"$(json-get $json /0/algorithm /0/block /0/timeout_ms /0/rank /0/comm \
	/0/released | tr '\n' ' ')" "hybrid 262144 60000 0 rdmc-load false "
check "rdmc show names the process" kill -0 "$(json-get $json /0/pid)"
says 0 '^   1     70  opening  -      hybrid     262144  1-3 ' rdmc show
is "rdmc show lists both nodes" "$(lines '^   [12]     70  opening ')" 2
check "rdmc show names the member that the group waits for" \
	grep -q '^group 70 of node 1: opening, .*: 3' "$out"
says 0 '^NODE  GROUP  MEMBER  STATE ' rdmc show node 2 -v
is "rdmc show of a node lists no other node" "$(lines '^   1 ')" 0
says 0 '^   2     70  opening  *0  *0  *0  *0 ' rdmc stats node 2
says 1 'no RDMC group 71 at this node' rdmc show 2 group 71
expect_event "rdmc-created node 1 rdmc 70"
expect_event "rdmc-created node 2 rdmc 70"
process=$(get /0/pid group 70 node 1)
kill -KILL "$process"
wait "$load"
check "a group ends with its process" wait_until 30 no_groups
expect_event "rdmc-failed node 1 peer [12] rdmc 70 error left"
expect_event "rdmc-failed node 2 peer [12] rdmc 70 error left"
check "the JSON event names node, peer and group" \
	grep -q '"event":"rdmc-failed","node":2,"peer":[12],"rdmc":70,"error":"left"' \
	/tmp/events-json

# ---- one that moves -------------------------------------------------------

# The process of a receiver does not run: it gives no memory.
limit 200 rdmc-load -m 1-3 -n 3 -G 80 -l 4000000 -c 400 -t 100000 >/tmp/load3.out 2>&1 &
limit3=$!
becomes /0/state opening group 80 node 3
load3=$(json-get $json /0/pid)
limit 200 rdmc-load -m 1-3 -n 1,2 -G 80 -l 4000000 -c 400 -t 100000 >/tmp/load.out 2>&1 &
load=$!
moving()
{
	get /0/state group 80 node 1 >/dev/null && [ "$(json-get $json /0/ended)" -ge 2 ]
}
check "objects move" wait_until 60 moving
expect_event "rdmc-opened node 1 rdmc 80"
expect_event "rdmc-opened node 3 rdmc 80"
kill -STOP "$load3"
stuck()
{
	get /0/state group 80 node 3 >/dev/null &&
		json-get $json /0/objects/0/phase 2>/dev/null | grep -q waiting &&
		get /0/state group 80 node 1 >/dev/null &&
		json-get $json /0/objects/0/slowest 2>/dev/null | grep -q '[ ,]3 '
}
check "an object waits for memory" wait_until 60 stuck
is "status shows the object that waits" \
	"$(json-get $json /0/objects/0/bytes /0/objects/0/total /0/state | tr '\n' ' ')" \
	"4000000 16 open "
now=$(get /0/ended group 80 node 3)
is "the root knows how many objects the receiver has" \
	"$(get /0/members/2/ended group 80 node 1)" "$now"
is "the first object in the list is the missing one" "$(json-get $json /0/objects/0/object)" "$now"
check "the process has unread events" test "$(get /0/unread group 80 node 3)" -ge 1
says 0 '^   1     80 *[0-9]*  4000000 .*  0.0  .*3  ' rdmc show node 1 group 80
says 0 '^   3     80 *[0-9]*  4000000 .*  waiting  *0.0 ' rdmc show node 3
says 0 '"phase":"waiting"' -j rdmc show node 3 group 80
kill -CONT "$load3"
fast()
{
	limit 60 spindle-ctl -j rdmc show -n 1 -d 0.3 node 3 >"$json" &&
		json-get $json /groups/0/bytes_in_per_s | grep -q '^[1-9]'
}
check "rdmc top shows a rate" wait_until 30 fast
says 0 'the last [0-9.]* s$' rdmc show node 1 -w -b -n 2 -d 0.2
is "rdmc top draws two frames" "$(lines 'IN-MB/S  OUT-MB/S')" 2
says 0 '^   1     80  open .*' rdmc stats group 80
is "rdmc top shows three counters" "$(lines '^   [123]     80  open')" 3

# ---- one that has failed --------------------------------------------------

# The others do not see it, and do not close.
others=$(get /0/pid group 80 node 1)
kill -STOP "$others"
kill -KILL "$load3"
becomes /0/state failed group 80 node 1
is "rdmc show names error and culprit" \
	"$(json-get $json /0/error /0/culprit | tr '\n' ' ')" "left 3 "
is "the failed group has no objects" "$(json-get $json /0/objects)" "[ ]"
says 0 '^   1     80  failed  left ' rdmc show
check "rdmc show explains the failure" grep -q \
	'^group 80 of node 1: failed, a member has closed its file (node 3)' "$out"
expect_event "rdmc-failed node 1 peer 3 rdmc 80 error left"
expect_event "rdmc-failed node 3 peer 3 rdmc 80 error left"
kill -CONT "$others"
wait "$load"
wait "$limit3"
check "the groups end with their processes" wait_until 30 no_groups

# ---- many -----------------------------------------------------------------

# More than a message holds.
limit 250 rdmc-load -m 1,2 -n 1 -g 250 -G 1000 -t 200000 -w 240 >/tmp/load1.out 2>&1 &
load1=$!
limit 250 rdmc-load -m 3,4 -n 3 -g 250 -G 1000 -t 200000 -w 240 >/tmp/load2.out 2>&1 &
load2=$!
all_there()
{
	[ "$(spindle-ctl -j rdmc show | grep -o '"group":' | wc -l)" = 500 ]
}
check "500 groups exist" wait_until 60 all_there
spindle-ctl -j rdmc show >"$json"
is "rdmc show lists each group once" \
	"$(grep -o '"node":[13],"group":[0-9]*' $json | sort -u | wc -l)" 500
is "rdmc show lists one group on request" "$(get /0/group group 1249 node 3)" 1249
(
	while [ ! -e /tmp/stop ]; do
		limit 60 rdmc-load -m 5,6 -l 1 -G 5
	done >/dev/null
) &
churn=$!
wrong=0
for i in $(seq 20); do
	spindle-ctl -j rdmc show >"$json" 2>&1
	[ "$(grep -o '"node":[13],"group":[0-9]*' $json | sort -u | wc -l)" = 500 ] ||
		wrong=$((wrong + 1))
done
is "rdmc show lists each group while others come and go" "$wrong" 0
touch /tmp/stop
wait "$churn"
tap_run limit 60 genl-bad rdmc
kill -KILL "$(get /0/pid node 1)" "$(get /0/pid node 3)"
wait "$load1"
wait "$load2"
check "all groups are gone" wait_until 60 no_groups

# ---- a group that closes --------------------------------------------------

check "a group ends without an error" limit 60 rdmc-load -m 6,7 -G 90
expect_event "rdmc-closed node 6 rdmc 90"
expect_event "rdmc-closed node 7 rdmc 90"
kill "$monitor" "$monitor_json"
check "nodes go" loop_del 8
check "module goes" rmmod spindle
finish
