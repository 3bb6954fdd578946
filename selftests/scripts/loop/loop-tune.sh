#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tuning of a subgroup that runs: every switch and number is set, shown and refused; messages flow
# with each, and the counts of batches, readers and members add up.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

switches="send-batch recv-batch dlv-batch nulls late-post merged-acks packed tracking express"

# set_sg WORD...: subgroup 1 of node 1
set_sg()
{
	check "set $*" spindle-ctl subgroup set node 1 id 1 "$@"
}

# tune NODE: its tuning of subgroup 1, as words "key:value". Switches that are on are not listed.
tune()
{
	spindle-ctl -j subgroup show node "$1" id 1 |
		sed 's/.*"tune":{\([^}]*\)}.*/\1/; s/"\([a-z_]*\)":true,*//g; s/"//g; s/,/ /g'
}

# hist STAGE: the histogram of node 1, as words
hist()
{
	spindle-ctl -j subgroup show node 1 id 1 |
		sed "s/.*\"batches\":{[^}]*\"$1\":\\[\\([^]]*\\)\\].*/\\1/; s/,/ /g"
}

# reader NODE WORD: a value of the only reader
reader()
{
	spindle-ctl -j subgroup show node "$1" id 1 | grep -o '"reader":\[{[^}]*}\]' |
		sed "s/.*\"$2\":\"*\\([^,\"}]*\\).*/\\1/"
}

# row NODE MEMBER WORD: a column of a member, as the node sees it
row()
{
	spindle-ctl -j subgroup show node "$1" id 1 | grep -o "{\"id\":$2,\"sent\":[^}]*}" |
		sed "s/.*\"$3\":\\([0-9]*\\).*/\\1/"
}

rows()
{
	spindle-ctl -j subgroup show node "$1" id 1 | grep -o '"row":\[.*\]'
}

# engine WORD...: counters of node 1's engine, all of one moment
engine()
{
	local stats word

	stats=$(spindle-ctl -j stats node 1)
	for word; do
		echo "$stats" | sed "s/.*\"engine\":{[^}]*\"$word\":\\([0-9]*\\).*/\\1/"
	done
}

traffic()
{
	check "messages flow: $1" limit 60 mcast-load -n 1-3 -g 1 -c "${2:-100}" -l 1-1000
}

# ---- defaults -----------------------------------------------

check "module loads" loop_start
check "three nodes" loop_nodes 3
check "a view of three nodes is installed" loop_view 3 1 subgroup 1 name x window 64 max-msg 1024 \
	subgroup 2 mode unordered members 1,2 max-msg 64 senders 1
check "all subgroups are active" wait_until 60 all_active 5

defaults="send_budget:512 recv_budget:65536 dlv_budget:2048 silence:1024 stall_ms:0 history:0 history_fill:false"
is "defaults" "$(tune 1)" "$defaults"
says 0 '^    off      nothing$' subgroup show node 1 id 1 -v
says 0 '^    tuning   send-budget 512  recv-budget 65536  dlv-budget 2048  silence 1024  stall-ms never  history none  history-fill 0$' \
	-v subgroup show node 1 id 1
says 0 '^    memory   [1-9][0-9]* bytes of the table, [1-9][0-9]* bytes of the engine$' \
	subgroup show node 1 id 1 --verbose
is "no batches are shown before traffic" "$(grep -c batches "$out")" 0
is "three members are shown" "$(sed -n '/^      MEMBER /,$p' "$out" | wc -l)" 4
says 0 '^subgroup 2 of node 1$' subgroup show -v
is "a member that does not send is not ahead" \
	"$(spindle-ctl -j subgroup show node 1 id 2 | grep -o '"row":.*' | grep -o ahead | wc -l)" 1

# ---- refusals -------------------------------------------------------------

says 1 'no node has this id' subgroup set node 9 id 1 nulls off
is "the refusal names the node" "$(grep -c 'at: node 9' "$out")" 1
says 1 'the node is in no subgroup with this id' subgroup set node 1 id 9 nulls off
is "the refusal names the subgroup" "$(grep -c 'at: id 9' "$out")" 1
says 1 'the node is in no subgroup with this id' subgroup set node 3 id 2 nulls off
says 1 'a budget is 1 to 65536 messages' subgroup set 1 id 1 nulls off send-budget 0
is "the refusal names the value" "$(grep -c 'at: send-budget 0' "$out")" 1
is "the tuning is unchanged" "$(tune 1)" "$defaults"
for budget in send recv dlv; do
	says 1 "at: $budget-budget 65537" subgroup set 1 id 1 $budget-budget 65537
done
says 1 'silence is 0 to 1048576 rounds' subgroup set 1 id 1 silence 1048577
says 1 'stall-ms is 0 to 3600000' subgroup set 1 id 1 stall-ms 3600001
says 1 'at: stall-ms 3600001' subgroup set 1 id 1 stall-ms 3600001
says 1 'no node has this id' node set 9 timing on
says 1 'idle-us is 0 to 1000000' node set 1 timing on idle-us 1000001
is "the refusal names the value" "$(grep -c 'at: idle-us 1000001' "$out")" 1
is "no time was measured" "$(engine timed_ns)" 0
su nobody -s /bin/sh -c "spindle-ctl subgroup set 1 id 1 nulls off" >"$out" 2>&1
is "a user without rights may not tune a subgroup" \
	"$(grep -c 'subgroup set: this takes CAP_NET_ADMIN' "$out")" 1
su nobody -s /bin/sh -c "spindle-ctl node set 1 timing on" >"$out" 2>&1
is "a user without rights may not tune a node" \
	"$(grep -c 'node set: this takes CAP_NET_ADMIN' "$out")" 1

# ---- the baseline ---------------------------------------------------------

# all_set WORD...: at all members, which together are the baseline of the paper
all_set()
{
	local i

	for i in 1 2 3; do
		spindle-ctl subgroup set "$i" id 1 "$@" || return 1
	done
}

# Without nulls all members have to send equally many messages from the first one on.
check "all techniques are off" all_set all off
traffic "the baseline"
check "nulls are on" all_set nulls on
traffic "the baseline with nulls"
check "all techniques are on" all_set all on

# ---- every key ------------------------------------------------------------

for s in $switches; do
	word=$(echo "$s" | tr - _)
	set_sg "$s" off
	is "$s is off, and nothing else" "$(tune 1)" "$word:false $defaults"
	says 0 "^    off      $s\$" subgroup show node 1 id 1 -v
	[ "$s" = nulls ] || traffic "$s off"
	set_sg "$s" on
	is "$s is on" "$(tune 1)" "$defaults"
done
is "the tuning of the other node is unchanged" "$(tune 2)" "$defaults"
set_sg all off nulls on
is "all switches but one are off" "$(tune 1 | sed 's/history_fill.*//' | grep -o false | wc -l)" \
	$(($(echo "$switches" | wc -w) - 1))
set_sg silence 0 nulls off all on
is "all switches but one are set the other way, in any order" "$(tune 1)" \
	"nulls:false $(echo "$defaults" | sed 's/silence:1024/silence:0/')"
set_sg all on send-budget 1 recv-budget 2 dlv-budget 3 silence 1048576 stall-ms 3600000
is "every number is set" "$(tune 1)" \
	"send_budget:1 recv_budget:2 dlv_budget:3 silence:1048576 stall_ms:3600000 history:0 history_fill:false"
traffic "small budgets"
set_sg send-budget 512 recv-budget 65536 dlv-budget 2048 silence 1024 stall-ms never
is "the tuning has its defaults again" "$(tune 1)" "$defaults"

# ---- counters ------------------------------------------------------

# batches STAGE: how many a histogram has
batches()
{
	hist "$1" | tr ' ' '\n' | awk '{ n += $1 } END { print n }'
}

# larger STAGE BUCKET: how many of them are larger than those of this entry
larger()
{
	hist "$1" | tr ' ' '\n' | awk -v b="$2" 'NR > b + 1 { n += $1 } END { print n + 0 }'
}

# adds_up STAGE COUNTER MESSAGES: the number of batches equals the counter, and these can have
# MESSAGES messages
adds_up()
{
	is "$1: the histogram has 17 sizes" "$(hist "$1" | wc -w)" 17
	is "$1: every batch is in the histogram" "$(batches "$1")" "$(loop_stat 1 1 "$2")"
	check "$1: the sizes of the batches are possible" sh -c "echo $(hist "$1") $3 |
		awk '{ size = 1
			for (i = 1; i < NF; i++) {
				low += \$i * size
				size *= 2
				high += \$i * (size - 1)
			}
			exit !(low <= \$NF && \$NF <= high) }'"
}

adds_up send send_batches "$(loop_stat 1 1 sent)"
# Own messages are received when they are sent, in no batch of that stage.
adds_up recv recv_batches $(($(loop_stat 1 1 received) - $(loop_stat 1 1 sent)))
adds_up dlv dlv_batches "$(loop_stat 1 1 delivered)"
set_sg send-batch off recv-batch off dlv-batch off
was_send=$(larger send 0)
was_recv=$(larger recv 0)
was_dlv=$(larger dlv 0)
many=$(batches send)
traffic "one at a time" 50
is "a budget of one sends single messages" "$(larger send 0)" "$was_send"
is "a budget of one receives single messages" "$(larger recv 0)" "$was_recv"
is "a budget of one delivers single messages" "$(larger dlv 0)" "$was_dlv"
is "a budget of one makes 50 batches" "$(($(batches send) - many))" 50
set_sg all on send-budget 3
was_send=$(larger send 1)
traffic "a budget of three"
is "a budget of three is kept" "$(larger send 1)" "$was_send"
set_sg send-budget 512
says 0 '^      MESSAGES  SEND ' subgroup show node 1 id 1 -v
# Sizes in between may have no batches, and so no bars.
is "the histogram has bars" "$(sed -n '/^      MESSAGES/,/^ *members/p' "$out" | grep -c '#')" \
	"$(sed -n '/^      MESSAGES/,/^ *members/p' "$out" |
		awk '/^      [0-9]/ { for (i = 2; i <= NF && $i !~ /^[1-9]/; i++); n += i <= NF }
		     END { print n }')"

# With nothing on the way all know the same of all.
settled()
{
	[ "$(rows 1)" = "$(rows 2)" ] && [ "$(rows 1)" = "$(rows 3)" ] &&
		[ "$(loop_stat 1 1 free)" = "$(loop_stat 1 1 sent)" ]
}
check "all members see the same columns" wait_until 30 settled
diag "$(rows 1)"
for i in 1 2 3; do
	is "slots of member $i are its messages" "$(row 1 "$i" slots)" "$(loop_stat "$i" 1 sent)"
	is "rounds of member $i are its rounds" "$(row 1 "$i" sent)" "$(loop_stat "$i" 1 round)"
	is "member $i is not behind" "$(row 1 "$i" recv_lag) $(row 1 "$i" dlv_lag)" "0 0"
done
is "the slots of delivered messages are free again" "$(loop_stat 1 1 free)" "$(row 1 1 slots)"
is "all received messages are stable" "$(loop_stat 1 1 stable)" "$(row 1 1 received)"
check "visits are no fewer than activations" \
	test "$(loop_stat 1 1 visits)" -ge "$(loop_stat 1 1 activations)"
ring=$(loop_stat 1 1 ring)
is "memory: per sender a ring, 64 headers of 32 bytes, 192 for express; 64 per member" \
	"$(loop_stat 1 1 row_bytes)" $((3 * (ring + 64 * 32 + 192) + 3 * 64))
says 0 "row-bytes  *$(loop_stat 1 1 row_bytes)" stats node 1

# ---- readers --------------------------------------------------------------

reader_lag()
{
	[ "$(reader 2 lag)" = "$1" ]
}

# send COUNT: from node 1, in the background
send()
{
	seq "$1" | limit 100 spindle-pipe -n 1 -g 1 -s >/tmp/send.out 2>&1 &
	sender=$!
}

send_to_the_end()
{
	local rc

	send "$1"
	rc=0
	wait "$sender" || rc=$?
	is "  the sender has ended" "$rc" 0
}

readers()
{
	[ "$(loop_stat 2 1 readers)" = "$1" ]
}

# slow OPTION...: one more reader at node 2, which is asleep when there is something to read
slow()
{
	local more

	more=$(($(loop_stat 2 1 readers) + 1))
	spindle-pipe -n 2 -g 1 -r "$@" >/tmp/slow.out 2>/tmp/slow.err &
	slow=$!
	wait_until 30 readers $more
	kill -STOP $slow
}

slow
is "the reader is shown" "$(reader 2 comm) $(reader 2 pid) $(reader 2 copy) $(reader 2 idle_ms)" \
	"spindle-pipe $slow false 0"
send 20
check "the reader is behind" wait_until 30 reader_lag 20
idles()
{
	[ "$(reader 2 idle_ms)" -ge 300 ]
}
check "the reader is idle" wait_until 30 idles
says 0 "^      $slow  spindle-pipe  slots  *20 " subgroup show node 2 id 1 -v
held()
{
	[ "$(row 1 2 dlv_lag)" -ge 20 ] && [ "$(row 1 2 recv_lag)" = 0 ]
}
check "the sender sees which member holds its slots" wait_until 30 held
is "the sender has no slot of them back" "$(loop_stat 1 1 free)" "$(($(loop_stat 1 1 sent) - 20))"
says 0 "spindle-pipe\\[$slow\\] holds 20, idle [0-9]* ms\$" top -b -n 1 -d 0.1 node 2
says 0 "\"held_by\":{\"pid\":$slow,\"comm\":\"spindle-pipe\",\"copy\":false,\"lag\":20," \
	-j top -n 1 -d 0.1 node 2
says 1 'packed cannot change while a sender is attached' subgroup set 1 id 1 packed off nulls on
is "the refusal names the value" "$(grep -c 'at: nulls on packed off' "$out")" 1
set_sg packed on nulls on
check "another node can switch off packing" spindle-ctl subgroup set 2 id 1 packed off
check "another node can switch it on again" spindle-ctl subgroup set 2 id 1 all on
kill -CONT $slow
check "the reader catches up" wait_until 30 reader_lag 0
is "the reader is not idle" "$(reader 2 idle_ms)" 0
rc=0
wait "$sender" || rc=$?
is "the sender has ended" "$rc" 0
kill $slow
wait $slow

slow -c
is "a reader of copies is shown" "$(reader 2 copy)" true
# The reader that lags comes first in the list, whatever the order of attaching.
spindle-pipe -n 2 -g 1 -r >/dev/null &
others=$!
check "another reader is attached" wait_until 30 readers 2
first_reader()
{
	spindle-ctl -j -p subgroup show node 2 id 1 | sed -n '/"reader"/,$p' |
		sed -n 's/^ *"pid": *\([0-9]*\),*$/\1/p' | head -n 1
}
send_to_the_end 20
is "  the slow reader is first in the list" "$(first_reader)" $slow
kill -CONT $slow
kill $slow
wait $slow
slow -c
send_to_the_end 20
is "  the slow reader is first after another order of attaching" "$(first_reader)" $slow
kill -CONT $slow
kill $slow $others
wait $slow $others

slow -c
send 20
check "the reader of copies is behind" wait_until 30 reader_lag 20
rc=0
wait "$sender" || rc=$?
is "the sender does not wait for the reader of copies" "$rc" 0
says 0 "^      $slow  spindle-pipe  copies  *20 " subgroup show node 2 id 1 -v
says 0 "spindle-pipe\\[$slow\\] has to copy 20, idle" top -b -n 1 -d 0.1 node 2
kill -CONT $slow
kill $slow
wait $slow

# One that consumes nothing is detached.
spindle-ctl monitor node 2 >/tmp/mon 2>&1 &
mon=$!
check "the monitor listens" wait_until 30 listens $mon
check "node 2 gets a limit for stalled readers" spindle-ctl subgroup set 2 id 1 stall-ms 300
slow
send 20
rc=0
wait "$sender" || rc=$?
is "the sender goes on without the reader" "$rc" 0
is "the detached reader is counted" "$(loop_stat 2 1 stalled)" 1
check "an event names the detached reader" wait_until 10 grep -q \
	"reader-stalled .*node 2 .*subgroup 1 .*error stalled  (process $slow (spindle-pipe) consumed nothing for 300 ms)" \
	/tmp/mon
kill -CONT $slow
rc=0
wait $slow || rc=$?
is "the detached reader ends" "$rc" 1
check "the detached reader says why" \
	grep -q 'frozen: the process consumed nothing for longer' /tmp/slow.err
kill "$mon"
wait "$mon"
is "no reader is left" "$(loop_stat 2 1 readers)" 0
check "the limit is removed" spindle-ctl subgroup set 2 id 1 stall-ms never
traffic "after that"

# ---- where the time goes --------------------------------------------------

says 0 '"busy_share":null' -j top -n 1 -d 0.1 node 1
says 0 ' any  *off$' node show 1
check "timing is switched on" spindle-ctl node set 1 timing on idle-us 200
says 0 '"timing":true' -j node show 1
says 0 ' 50  *0  any  *on$' node show 2
is "the node polls for longer" \
	"$(spindle-ctl -j node show 1 | grep -o '"idle_us":[0-9]*')" '"idle_us":200'
traffic "timed"
shares()
{
	diag "posting, busy, timed: $*"
	[ 0 -lt "$1" ] && [ "$1" -le "$2" ] && [ "$2" -le "$3" ]
}
# shellcheck disable=SC2046
check "busy time includes posting time" \
	shares $(engine post_ns busy_ns timed_ns)
says 0 '"busy_share":[01]\.[0-9]*,"post_share":[01]\.' -j top -n 1 -d 0.3 node 1
check "the engine spins no longer than its limit" test "$(engine spin_us)" -le 200
check "timing is switched off" spindle-ctl node set id 1 timing off
timed=$(engine timed_ns)
traffic "not timed"
is "no time is measured" "$(engine timed_ns)" "$timed"

# ---- a new view -----------------------------------------------------------

set_sg all off nulls on send-budget 1 stall-ms 5
check "a new view is installed" loop_view 3 2 subgroup 1 name x window 64 max-msg 1024
check "all subgroups are active" wait_until 60 all_active 3
is "the new view has the default tuning" "$(tune 1)" "$defaults"
is "the new view has no batches" "$(batches send) $(batches recv) $(batches dlv)" "0 0 0"
traffic "in the new view"
check "nodes go" loop_del 3
check "module goes" limit 60 rmmod spindle
finish
