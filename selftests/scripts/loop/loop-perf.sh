#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-perf: all of its functions, in runs that are too short to measure anything. Counts have to
# be right, and figures have to exist. Their values are not checked.
# vm: own uml
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
	is "  all messages are sent" "$(metric sent)" "$1"
	is "  all messages are delivered" "$(metric delivered)" $(($1 * ${2:-3}))
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
is "  the result has two repetitions" "$(get repetitions)" 2
is "  the result has two values" "$(json-get "$OUT" /runs/0/metrics/sent/values/1)" 600
is "  the result has the configuration" \
	"$(get config/nodes) $(get config/size) $(get config/mode)" \
	"3 1000 ordered"
is "  every message has a time" "$(metric own_count) $(metric slowest_count)" "600 600"
for name in goodput rate raw_bandwidth raw_latency efficiency own_p50 own_p99 own_p999 \
	    slowest_p999 messages_per_write wire_per_byte packets_per_message \
	    engine_busy syscalls_per_message send_batch recv_batch dlv_batch; do
	holds "  $name" "$(metric $name) > 0"
done
holds "  a write has several messages" "$(metric messages_per_write) > 1"
holds "  every byte is counted" "$(metric wire_per_byte) >= 1"
holds "  times are in order" "$(metric own_p50) <= $(metric own_p99) && \
	$(metric own_p99) <= $(metric own_max)"
writes=$(metric writes_per_message)
check "  the nodes are removed" no_nodes

perf "all techniques off" --tune all=off
sends 600
holds "  the baseline takes more writes" "$(metric writes_per_message) > 2 * $writes"
is "  the baseline sends one message at a time" "$(metric send_batch)" 1
is "  the baseline sends no nulls" "$(metric nulls)" 0
perf "three techniques off" --tune send-batch=off,packed=off,dlv-budget=1
sends 600
is "  no messages are batched" "$(metric send_batch)" 1
perf "raw writes and timing off" --no-raw --no-timing
sends 600
is "  figures without a measurement are null" \
	"$(metric efficiency) $(metric engine_busy)" "null null"

# ---- messages, members, modes ----------------------------------------------

for size in 1 23 24 25 128 129 64K; do
	perf "messages of $size bytes" -S $size -c 50 --verify
	sends 150
done
perf "a window of one" -w 1 -c 50
sends 150
perf "half of the members send" -s half
sends 400
perf "one member sends" -s one
sends 200
perf "one node without peers" -n 1
sends 200 1
perf "unordered" --mode unordered --verify
sends 600
perf "guards are believed by completion" --visibility imm
sends 600
perf "messages copied in and out" --copy-in --copy-out --verify
sends 600
perf "one of three subgroups active" -k 3 -a one
sends 600
perf "three subgroups active" -k 3 --verify
sends 1800
perf "one thread for each node" --threads --verify
sends 600
perf "a warm-up of 100 messages" -W 100
sends 600
perf "no warm-up" -W 0
sends 600

# ---- time ------------------------------------------------------------------

perf "one message at a time" --latency -c 50
sends 150
is "  every message has a time" "$(metric own_count)" 150
is "  no message has a due time" "$(metric late_count) $(metric late_p50)" "0 null"
perf "a fixed rate" --rate 500 -c 0 -t 0.2
sends 300
is "  every message has a due time" "$(metric late_count)" 300
holds "  the latency includes the lateness" "$(metric late_p50) <= $(metric own_p50)"
perf "one message in 40 ms" -s one -S 64 --rate 25 -c 0 -t 1
sends 25
alone=$(metric writes_per_message)
perf "one message in 40 ms, without express" -s one -S 64 --rate 25 -c 0 -t 1 --tune express=off
sends 25
# Engines that sleep in between report that now and then. Without express the message needs more
# writes.
holds "  a message takes about two more writes to each member" \
	"$(metric writes_per_message) - $alone > 1 && $(metric writes_per_message) - $alone < 8"
perf "a run of 0.2 s" -c 0 -t 0.2 --verify
holds "  members have sent messages" "$(metric sent) > 0"
is "  all members have delivered them" "$(metric delivered)" $(($(metric sent) * 3))
perf "a run of 0.2 s, unordered, with threads" -c 0 -t 0.2 --mode unordered --threads
is "  all messages are delivered" "$(metric delivered)" $(($(metric sent) * 3))

for delay in 20 100; do
	perf "a sender that rests for $delay us" -d $delay --delay-senders one
	holds "  the other members send all messages" "$(metric sent) >= 400"
	is "  all messages are delivered" "$(metric delivered)" $(($(metric sent) * 3))
done
perf "all members rest between messages" -d 100 -c 50
sends 150
perf "a sender that does not send" -d long --delay-senders one
sends 400
holds "  the silent sender gives up rounds" "$(metric nulls) + $(metric silent) > 0"
perf "a sender that declares silence" -d silent --delay-senders one
sends 400
holds "  the silent sender gives up rounds in advance" "$(metric silent) > 0"

perf "readers that take 5 us" -u 5 --verify
sends 600
for copy in "" --copy-out; do
	# shellcheck disable=SC2086 # an option or none
	perf "a reader that takes 1 ms $copy" -u 1000 --upcall-nodes one -c 50 --verify $copy
	sends 150
done

# ---- logs ------------------------------------------------------------------

is "  without logs nothing is durable" "$(metric durable_count) $(metric durable_p50)" "0 null"
perf "subgroups with logs" --log --log-dir /tmp -k 2 -c 100 --verify
sends 600
is "  every message becomes durable" "$(metric durable_count)" 600
is "  the result has the configuration" "$(get config/log)" true
holds "  there is a rate" "$(metric durable_rate) > 0 && $(metric durable_goodput) > 0"
holds "  no message is durable before it is delivered" "$(metric durable_p50) >= $(metric own_p50)"
perf "a run of 0.5 s with logs, one member sends" --log --log-dir /tmp -s one -c 0 -t 0.5
is "  all of its messages become durable" "$(metric durable_count)" "$(metric sent)"
check "  no logs are left" sh -c '! ls -d /tmp/spindle-perf.*'
check "  no logger is left" sh -c '! pidof spindle-logd'
check "  the nodes are removed" no_nodes
fails 1 "log-dir /none" --setup -n 2 --log --log-dir /none
check "  the nodes are removed" no_nodes

# ---- many runs -------------------------------------------------------------

perf "a sweep" -x size=1,1K -x 'tune=default;all=off,nulls=on' -c 50 --csv /tmp/perf.csv
is "  the file has all rows" "$(wc -l </tmp/perf.csv)" 5
is "  all rows have as many columns" \
	"$(sed 's/"[^"]*"/x/g' /tmp/perf.csv | awk -F, '{ print NF }' | sort -u | wc -l)" 1
run=3
is "  the result has the last configuration" \
	"$(get config/size) $(get config/tune)" "1024 all=off,nulls=on"
run=0
check "  the nodes are removed" no_nodes
limit 200 spindle-perf --setup -n 3 -c 50 -r 1 -q >/tmp/table.out 2>&1
for word in goodput efficiency "messages per write" "bytes written per byte" doorbells nulls \
	    "system calls per message" "99.9 %" "batches of" "woken by peers"; do
	check "the table has: $word" grep -q "$word" /tmp/table.out
done

# ---- nodes that exist ------------------------------------------------------

check "four nodes are added" loop_nodes 4
check "a view of four nodes is installed" \
	loop_view 4 1 subgroup 7 window 32 max-msg 2000 senders 1,2,3
check "spindle-perf measures an existing subgroup" \
	limit 200 spindle-perf -q -S 2000 -c 200 -r 2 --json="$OUT" \
	--tune late-post=off
sends 600 4
is "  the result has the subgroup's configuration" \
	"$(get config/window) $(get config/max_msg) $(get members) $(get senders)" \
	"32 2000 4 3"
check "  the nodes stay" spindle-ctl node show id 4
spindle-ctl -j -p subgroup show node 1 id 7 >/tmp/sg.json
is "  the subgroup keeps its tuning" \
	"$(sed -n 's/^ *"late_post": *\([a-z]*\).*/\1/p' /tmp/sg.json)" true
spindle-ctl -j -p node show >/tmp/nodes.json
is "  the nodes do not measure time" \
	"$(json-get /tmp/nodes.json /0/timing /3/timing | tr '\n' ' ')" \
	"false false "
check "one member sends, the others declare silence" limit 200 spindle-perf -q -S 2000 -c 200 -r 1 \
	-s one --json="$OUT"
sends 200 4
# A run of two hosts on this one: each has half of the nodes, and one starts later.
limit 90 spindle-perf -q -S 2000 -c 300 -r 2 --only-nodes 1,2 --json=/tmp/a.json \
	>/tmp/a.out 2>&1 &
first=$!
usleep 300000
check "two processes measure together" \
	limit 90 spindle-perf -q -S 2000 -c 300 -r 2 --only-nodes 3,4 \
	--json=/tmp/b.json
rc=0
wait $first || rc=$?
is "  both processes succeed" "$rc" 0
sed 's/^/# /' /tmp/a.out | grep spindle-perf
is "  both processes have the same order" "$(json-get /tmp/a.json /runs/0/order)" \
	"$(json-get /tmp/b.json /runs/0/order)"
OUT=/tmp/b.json
is "  the first process has one sender" "$(metric sent) $(get local) $(get members)" "300 2 4"
is "  two members deliver all messages" "$(metric delivered)" 1800
limit 200 spindle-perf -q -S 2000 -c 300 --only-nodes 1,2 --wait 8 >/tmp/a.out 2>&1 &
first=$!
fails 1 "other arguments" -S 1000 -c 300 --only-nodes 3,4 --wait 8
rc=0
wait $first || rc=$?
is "  both processes fail" "$rc" 1
check "a killed process leaves no traces" sh -c '
	spindle-perf -q -S 2000 -t 60 --no-raw & pid=$!
	usleep 500000; kill -KILL $pid; wait $pid; usleep 200000; true'
check "  later processes can measure" limit 200 spindle-perf -q -S 2000 -c 200 -r 1 --no-raw
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
check "  the nodes are removed" no_nodes
fails 1 "a budget is 1 to 65536" --setup -n 2 --tune send-budget=0
check "  the nodes are removed" no_nodes
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
		check "  the nodes are removed" no_nodes
	done
done
# Raw writes that would take minutes. No other process waits for them, and ending the program does
# not wait either.
spindle-perf --setup -n 3 -S 64K --raw-count 1000000 -q >/tmp/sig.out 2>&1 &
pid=$!
check "a long raw run has nodes" wait_until 60 have_nodes
usleep 300000
check "  other requests are answered during a raw run" limit 30 spindle-ctl stats
kill -INT $pid
rc=0
wait $pid || rc=$?
is "ended by INT" "$rc" 130
check "  the nodes are removed" no_nodes
check "module goes" rmmod spindle
finish
