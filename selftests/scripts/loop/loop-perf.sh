#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-perf: all of its functions, in runs that are too short to measure anything. Counts have to
# be right, and figures have to exist. Their values are not checked.
# vm: own
# vm: mem=2048
# vm: timeout=600
. ./guest-lib.sh
. ./lib-loop.sh

OUT=/tmp/perf.json

# perf DESCRIPTION OPTION...: a run of 3 nodes that ends well; its results are in $OUT.
perf()
{
	local desc

	desc=$1
	shift
	rm -f "$OUT"
	check "$desc" limit 90 spindle-perf --setup -n 3 -S 1000 -c 200 -r 1 -q --wait 30 \
		--raw-count 100 --json="$OUT" "$@"
}

# get POINTER: a value of the first run.
get()
{
	json-get "$OUT" "/runs/${run:-0}/$1"
}

# metric NAME: a figure.
metric()
{
	get "metrics/$1/median"
}

# holds DESCRIPTION CONDITION: numbers are not only whole ones.
holds()
{
	check "$1 ($2)" awk "BEGIN { exit !($2) }"
}

# sends COUNT [MEMBERS]: COUNT messages were sent, and all members got all of them.
sends()
{
	is "  sent" "$(metric sent)" "$1"
	is "  delivered" "$(metric delivered)" $(($1 * ${2:-3}))
}

no_nodes()
{
	spindle-ctl node show | grep -q "There is no node"
}

# fails STATUS PATTERN OPTION...: it ends so, and says this.
fails()
{
	local want pattern rc

	want=$1
	pattern=$2
	shift 2
	rc=0
	limit 200 spindle-perf -q "$@" >/tmp/fails.out 2>&1 || rc=$?
	is "spindle-perf $*: status" "$rc" "$want"
	check "  says $pattern" grep -q -e "$pattern" /tmp/fails.out ||
		sed 's/^/#   /' /tmp/fails.out
}

check "module loads" loop_start

# ---- parts of every run ----------------------------------------------------

perf "throughput" --verify -r 2
sends 600
is "  repetitions" "$(get repetitions)" 2
is "  two values" "$(json-get "$OUT" /runs/0/metrics/sent/values/1)" 600
is "  all configured" "$(get config/nodes) $(get config/size) $(get config/mode)" \
	"3 1000 ordered"
is "  every message has a time" "$(metric own_count) $(metric slowest_count)" "600 600"
for name in goodput rate raw_bandwidth raw_latency efficiency own_p50 own_p99 own_p999 \
	    slowest_p999 messages_per_write wire_per_byte packets_per_message \
	    engine_busy syscalls_per_message send_batch recv_batch dlv_batch; do
	holds "  $name" "$(metric $name) > 0"
done
holds "  several messages in a write" "$(metric messages_per_write) > 1"
holds "  no byte is left out" "$(metric wire_per_byte) >= 1"
holds "  times are in order" "$(metric own_p50) <= $(metric own_p99) && \
	$(metric own_p99) <= $(metric own_max)"
writes=$(metric writes_per_message)
check "  nodes are gone" no_nodes

perf "the baseline" --tune all=off
sends 600
holds "  takes more writes" "$(metric writes_per_message) > 2 * $writes"
is "  sends one at a time" "$(metric send_batch)" 1
is "  without nulls" "$(metric nulls)" 0
perf "techniques one by one" --tune send-batch=off,packed=off,dlv-budget=1
sends 600
is "  no batch that is off" "$(metric send_batch)" 1
perf "no raw writes, no timing" --no-raw --no-timing
sends 600
is "  then they are not known" "$(metric efficiency) $(metric engine_busy)" "null null"

# ---- messages, members, modes ----------------------------------------------

for size in 1 23 24 25 128 129 64K; do
	perf "messages of $size bytes" -S $size -c 50 --verify
	sends 150
done
perf "a window of one" -w 1 -c 50
sends 150
perf "half of them send" -s half
sends 400
perf "one sends" -s one
sends 200
perf "one node alone" -n 1
sends 200 1
perf "unordered" --mode unordered --verify
sends 600
perf "guards by completion" --visibility imm
sends 600
perf "copied in and out" --copy-in --copy-out --verify
sends 600
perf "one of three subgroups" -k 3 -a one
sends 600
perf "all three" -k 3 --verify
sends 1800
perf "a thread for each node" --threads --verify
sends 600
perf "with a warm-up of its own length" -W 100
sends 600
perf "without one" -W 0
sends 600

# ---- time ------------------------------------------------------------------

perf "one at a time" --latency -c 50
sends 150
is "  times" "$(metric own_count)" 150
is "  none was due" "$(metric late_count) $(metric late_p50)" "0 null"
perf "by the clock" --rate 500 -c 0 -t 0.2
sends 300
is "  all were due" "$(metric late_count)" 300
holds "  lateness is a part of it" "$(metric late_p50) <= $(metric own_p50)"
perf "one in a long time" -s one -S 64 --rate 25 -c 0 -t 1
sends 25
alone=$(metric writes_per_message)
perf "one in a long time, not by express" -s one -S 64 --rate 25 -c 0 -t 1 --tune express=off
sends 25
# Engines that sleep in between report that now and then. Without express the message needs more
# writes.
holds "  takes two more writes to each member, about" \
	"$(metric writes_per_message) - $alone > 1 && $(metric writes_per_message) - $alone < 8"
perf "for a while" -c 0 -t 0.2 --verify
holds "  something was sent" "$(metric sent) > 0"
is "  and delivered" "$(metric delivered)" $(($(metric sent) * 3))
perf "for a while, unordered, with threads" -c 0 -t 0.2 --mode unordered --threads
is "  all is delivered" "$(metric delivered)" $(($(metric sent) * 3))

for delay in 20 100; do
	perf "a sender that rests for $delay us" -d $delay --delay-senders one
	holds "  the others send all" "$(metric sent) >= 400"
	is "  all is delivered" "$(metric delivered)" $(($(metric sent) * 3))
done
perf "all rest" -d 100 -c 50
sends 150
perf "a sender that does not send" -d long --delay-senders one
sends 400
holds "  it gives up its rounds" "$(metric nulls) + $(metric silent) > 0"
perf "a sender that says so" -d silent --delay-senders one
sends 400
holds "  it has given them up in advance" "$(metric silent) > 0"

perf "readers that take 5 us" -u 5 --verify
sends 600
for copy in "" --copy-out; do
	# shellcheck disable=SC2086 # an option or none
	perf "a reader that takes 1 ms $copy" -u 1000 --upcall-nodes one -c 50 --verify $copy
	sends 150
done

# ---- many runs -------------------------------------------------------------

perf "a sweep" -x size=1,1K -x 'tune=default;all=off,nulls=on' -c 50 --csv /tmp/perf.csv
is "  rows" "$(wc -l </tmp/perf.csv)" 5
is "  as many columns in each" \
	"$(sed 's/"[^"]*"/x/g' /tmp/perf.csv | awk -F, '{ print NF }' | sort -u | wc -l)" 1
run=3
is "  the last one" "$(get config/size) $(get config/tune)" "1024 all=off,nulls=on"
run=0
check "  nodes are gone" no_nodes
limit 200 spindle-perf --setup -n 3 -c 50 -r 1 -q >/tmp/table.out 2>&1
for word in goodput efficiency "messages per write" "bytes written per byte" doorbells nulls \
	    "system calls per message" "99.9 %" "batches of" "woken by peers"; do
	check "the table has: $word" grep -q "$word" /tmp/table.out
done

# ---- nodes that exist ------------------------------------------------------

check "4 nodes" loop_nodes 4
check "a view" loop_view 4 1 subgroup 7 window 32 max-msg 2000 senders 1,2,3
check "their subgroup" limit 200 spindle-perf -q -S 2000 -c 200 -r 2 --json="$OUT" \
	--tune late-post=off
sends 600 4
is "  is as it is" "$(get config/window) $(get config/max_msg) $(get members) $(get senders)" \
	"32 2000 4 3"
check "  the nodes stay" spindle-ctl node show id 4
spindle-ctl -j -p subgroup show node 1 id 7 >/tmp/sg.json
is "  as they were tuned" "$(sed -n 's/^ *"late_post": *\([a-z]*\).*/\1/p' /tmp/sg.json)" true
spindle-ctl -j -p node show >/tmp/nodes.json
is "  and do not measure time" "$(json-get /tmp/nodes.json /0/timing /3/timing | tr '\n' ' ')" \
	"false false "
check "one sends, the others are silent" limit 200 spindle-perf -q -S 2000 -c 200 -r 1 \
	-s one --json="$OUT"
sends 200 4
# A run of two hosts on this one: each has half of the nodes, and one starts later.
limit 90 spindle-perf -q -S 2000 -c 300 -r 2 --only-nodes 1,2 --json=/tmp/a.json \
	>/tmp/a.out 2>&1 &
first=$!
usleep 300000
check "two processes" limit 90 spindle-perf -q -S 2000 -c 300 -r 2 --only-nodes 3,4 \
	--json=/tmp/b.json
rc=0
wait $first || rc=$?
is "  both end well" "$rc" 0
sed 's/^/# /' /tmp/a.out | grep spindle-perf
is "  with the same order" "$(json-get /tmp/a.json /runs/0/order)" \
	"$(json-get /tmp/b.json /runs/0/order)"
OUT=/tmp/b.json
is "  one sender is here" "$(metric sent) $(get local) $(get members)" "300 2 4"
is "  two members get all" "$(metric delivered)" 1800
limit 200 spindle-perf -q -S 2000 -c 300 --only-nodes 1,2 --wait 8 >/tmp/a.out 2>&1 &
first=$!
fails 1 "other arguments" -S 1000 -c 300 --only-nodes 3,4 --wait 8
rc=0
wait $first || rc=$?
is "  for both of them" "$rc" 1
check "who was killed does no harm" sh -c '
	spindle-perf -q -S 2000 -t 60 --no-raw & pid=$!
	usleep 500000; kill -KILL $pid; wait $pid; usleep 200000; true'
check "  to those who come then" limit 200 spindle-perf -q -S 2000 -c 200 -r 1 --no-raw
fails 1 "has at most 2000" -S 2001 -c 10
fails 1 "no subgroup here of those" --only-subgroups 8
fails 1 "no node with a view here of those" --only-nodes 9
fails 1 "see --first-node" --setup -n 2
check "  a node that was there stays" spindle-ctl node show id 1
fails 0 "goodput" --setup -n 2 --first-node 11 -c 50 -r 1
check "nodes go" loop_del 4
fails 1 "no node with a view here; make one" -c 1

# ---- the end before the end ------------------------------------------------

fails 1 "no node\|not available\|no RDMA\|making node" --setup --addr 192.0.2.9
check "  nodes are gone" no_nodes
fails 1 "a budget is 1 to 65536" --setup -n 2 --tune send-budget=0
check "  nodes are gone" no_nodes
have_nodes()
{
	[ "$(spindle-ctl -j node show | grep -o '"id"' | wc -l)" = 3 ]
}

has_sent()
{
	[ "$(loop_stat 1 1 sent)" -gt 1000 ]
}

for sig in INT TERM; do
	for when in have_nodes has_sent; do
		spindle-perf --setup -n 3 -S 100 -t 300 -q >/tmp/sig.out 2>&1 &
		pid=$!
		check "$when" wait_until 60 $when
		kill -$sig $pid
		rc=0
		wait $pid || rc=$?
		holds "ended by $sig" "$rc > 128"
		check "  nodes are gone" no_nodes
	done
done
# Raw writes that would take minutes. No other process waits for them, and ending the program does
# not wait either.
spindle-perf --setup -n 3 -S 64K --raw-count 1000000 -q >/tmp/sig.out 2>&1 &
pid=$!
check "raw writes" wait_until 60 have_nodes
usleep 300000
check "  others are answered meanwhile" limit 30 spindle-ctl stats
kill -INT $pid
rc=0
wait $pid || rc=$?
is "ended by INT" "$rc" 130
check "  nodes are gone" no_nodes
check "module goes" rmmod spindle
finish
