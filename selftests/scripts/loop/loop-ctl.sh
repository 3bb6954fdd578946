#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# spindle-ctl against the module: files that are applied, what refusals say, views of
# all sizes, dumps while everything changes, events that are lost. Runs in a test guest.
# vm: timeout=300
. ./guest-lib.sh
. ./lib-tap.sh
. ./lib-loop.sh

conf=/tmp/c.conf

lines()
{
	grep -ce "$1" "$out"
}

# ---- a first look ---------------------------------------------------------

check "module loads" loop_start
says 0 'There is no node. Make one' node show
says 0 'No node has a view' view show
says 0 'There are no subgroups' subgroup show
says 0 'There is no node' stats
says 0 '^\[\]$' -j node show
says 0 '^\[\]$' -j stats
spindle-ctl showconf >"$out"
is "status without nodes prints nothing" "$(wc -c <"$out")" 0

# ---- refusals -------------------------------------------------------------

check "a node is added" spindle-ctl node add id 1 addr 10.0.0.1 cluster "a b" idle-us 0
says 1 'node add: ' node add id 1 addr 10.0.0.1 port 5
says 1 'at: port 0; allowed: from 1 to 65535' node add id 2 addr 10.0.0.1 port 0
says 1 'at: id 0' node add id 0 addr 10.0.0.1
says 1 'at: idle-us 1000001' node add id 2 addr 10.0.0.1 idle-us 1000001
says 1 'at: cluster 123456789012345678901234; allowed: at most 23 characters' \
	node add id 2 addr 10.0.0.1 port 5 cluster 123456789012345678901234
says 1 'at: cpu 4095' node add id 2 addr 10.0.0.1 port 5 cpu 4095
says 1 'in use' node add id 2 addr 10.0.0.1
says 1 'no RDMA device' node add id 2 addr 10.77.0.1
says 1 'at: id 9' node show 9
says 1 'at: id 9' node del 9
says 1 'stats: ' stats 9
says 1 'subgroup show: ' subgroup show node 9
says 0 'Node 1 has no view' view show 1
says 1 'no subgroup 3 at this node' subgroup show node 1 id 3
says 1 'at: vid 0' view set node 1 vid 0 member 1@10.0.0.1
says 1 'at: node 9' view set node 9 vid 1 member 9@10.0.0.1
says 1 'at: subgroup 3 "x" window 65537' \
	view set node 1 vid 1 member 1@10.0.0.1 subgroup 2 subgroup 3 name x window 65537
says 1 'at: subgroup 3 ring 5000' view set node 1 vid 1 member 1@10.0.0.1 subgroup 3 ring 5000
says 1 'at: port of member 2@10.0.0.2:0' \
	view set node 1 vid 1 member 1@10.0.0.1 member 2@10.0.0.2:0
says 1 'at: address of member 2@\[ff02::1\]:4790' \
	view set node 1 vid 1 member 1@10.0.0.1 member '2@[ff02::1]'
says 1 'at: subgroup 0 member 1$' \
	view set node 1 vid 1 member 1@10.0.0.1 subgroup 0 members 1,1
says 1 'no view' view del 1
check "the node is removed" spindle-ctl node del 1

# ---- files ----------------------------------------------------------------

cat >"$conf" <<X
[Node]
Id = 1
Address = [fd00::1]

[Node]
Id = 2
Address = fd00::1
Port = 4791
Cluster = spindle

[Node]
Id = 3
Address = fd00::3

[View]
Vid = 5
Member = 1@[fd00::1]
Member = 2@[fd00::1]:4791

[Subgroup]
Id = 0
Name = "all \"of\" us"

[Subgroup]
Id = 9
Mode = unordered
Window = 100000
Senders = 2
X
# A dry run also refuses requests that the kernel would refuse. Neither changes anything.
for dry in --dry-run ''; do
	# shellcheck disable=SC2086
	says 1 'c.conf:27: view of node 1: ' apply "$conf" $dry
	is "the refusal names the value" "$(lines 'at: subgroup 9 window 100000')" 2
	is "the refusal says that nothing was changed" "$(lines 'nothing was changed')" 1
	is "no node was added" "$(spindle-ctl -j node show)" "[]"
done
sed -i 's/100000/100/' "$conf"
says 0 'Dry run: nothing was changed' apply "$conf" --dry-run
is "a dry run adds no node" "$(spindle-ctl -j node show)" "[]"
says 0 '+ view of node 2: vid 5, members 1,2, 2 subgroups' apply "$conf"
is "apply adds both nodes" "$(lines '^+ node [12] at ')" 2
is "other hosts are skipped" "$(lines '^\. node 3 at \[fd00::3\]:4790 skipped')" 1
says 0 '= view of node 2 unchanged (vid 5)' apply "$conf"
is "a second apply changes nothing" "$(lines '^[-+~]')" 0
check "all subgroups are active" wait_until 60 all_active 4
says 0 'all "of" us' subgroup show node 1
says 0 '"name":"all \\"of\\" us"' -j subgroup show node 1
says 0 ' 2  \[fd00::1\]:4791  (this node)' view show 2
says 0 '"members":\[{"id":1,"addr":"fd00::1","port":4790},{"id":2,' -j view show 2
says 0 '^    PEER  STATE  VISIBILITY' stats 1
says 0 '"peers":\[{"id":2,"state":"up"' -j stats 1
spindle-ctl showconf >/tmp/conf1
says 0 'there is nothing to change' apply /tmp/conf1 --dry-run

sed -i 's/Senders = 2/Senders = 1/' "$conf"
says 1 'c.conf:16: Vid = 5: node 1 has this view with other content' apply "$conf"
is "the output names the changed value" "$(lines 'subgroup 9 senders: 2 -> 1')" 2
sed -i 's/Vid = 5/Vid = 4/' "$conf"
says 1 'c.conf:16: Vid = 4: node 1 has the view 5 already' apply "$conf"
sed -i 's/Vid = 4/Vid = 6/' "$conf"
says 0 '~ view of node 1: vid 5 -> 6' apply "$conf"
check "all subgroups are active again" wait_until 60 all_active 4
sed -i 's/Cluster = spindle/IdleUs = 51/' "$conf"
says 1 'c.conf:5: node 2 runs with other values' apply "$conf"
is "the output names the changed value" "$(lines 'idle-us: 50 -> 51')" 1
says 0 '+ view of node 2: vid 6' apply "$conf" --replace
says 0 'there is nothing to change' apply "$conf" --dry-run --replace --prune
says 0 '"action":"unchanged","object":"view","node":2' -j apply "$conf"

# Write the running state to a file, and apply the file again.
spindle-ctl view set node 1 vid 7 member '1@[fd00::1]' subgroup 0 name "#	x" hold 0
spindle-ctl showconf >/tmp/conf1
is "showconf names the nodes of each of two views" "$(grep -c '^Nodes = ' /tmp/conf1)" 2
printf '[Node]\nId = 3\nAddress = 10.0.0.1\nPort = 7\n' >/tmp/conf3
says 0 '^\. node 1 is not in .*left alone' apply /tmp/conf3
says 0 '^- node 2' apply /tmp/conf3 --prune
is "apply removes a node that is not in the file" "$(spindle-ctl showconf | grep '^Id =')" "Id = 3"
spindle-ctl node del 3
says 0 '+ node 1 at' apply - </tmp/conf1
spindle-ctl showconf >/tmp/conf2
check "apply of what showconf wrote changes nothing" cmp /tmp/conf1 /tmp/conf2
printf '[Node]\nId = 3\nAddress = 10.0.0.77\n' >/tmp/conf3
says 1 'no node of .* has an address of this machine' apply /tmp/conf3 --prune
check "nodes go" loop_del 2

# ---- files that the kernel refuses ------------------------------------------

cat >/tmp/good <<X
[Node]
Id = 1
Address = 10.0.0.1
IdleUs = 50
Engine = 3
Cpu = 0
Insecure = yes
[View]
Vid = 5
Live = yes
TimeoutMs = 500
MaxNodes = 8
Member = 1@10.0.0.1

[Subgroup]
Id = 7
Name = prices
Window = 128
MaxMsg = 10K
Ring = 1M
Shards = 1
Min = 1
X
# wrong LINE KEY VALUE TEXT: a dry run says it with its line, and so does a run; nothing is changed
wrong()
{
	sed "$1s/= .*/= $3/" /tmp/good >/tmp/wrong
	is "$2 is in line $1" "$(sed -n "$1s/ =.*//p" /tmp/wrong)" "$2"
	says 1 "wrong:$1: .*$4" apply /tmp/wrong --bootstrap --dry-run
	says 1 "wrong:$1: .*$4" apply /tmp/wrong --bootstrap
	is "$2 = $3: nothing was changed" "$(spindle-ctl -j node show)" "[]"
}
says 0 'Dry run: nothing was changed' apply /tmp/good --bootstrap --dry-run
wrong 2 Id 0 ''
wrong 3 Address 10.0.0.1:0 ''
wrong 4 IdleUs 1000001 'idle-us is 0 to 1000000'
wrong 5 Engine 1024 ''
wrong 6 Cpu 4095 'no such CPU is online'
wrong 9 Vid 0 ''
wrong 11 TimeoutMs 19 '20 to 60000'
wrong 12 MaxNodes 65 ''
wrong 17 Name this-is-a-name-of-more-than-64-characters-because-it-goes-on-and-on ''
wrong 18 Window 70000 'subgroup window is 1 to 65536'
wrong 19 MaxMsg 2M 'subgroup max-msg is at most the ring'
wrong 20 Ring 5000 'power of two'
wrong 21 Shards 65 ''
wrong 22 Min 65 ''
# The rule needs two members, and one begins, so the subgroup waits for the other.
sed '22s/= .*/= 2/' /tmp/good >/tmp/two
says 0 'Dry run: nothing was changed' apply /tmp/two --bootstrap --dry-run
says 0 'Dry run: nothing was changed' apply /tmp/two --force-new --dry-run

# Compare with the running state: an existing node, and a node that replaces it.
check "node 9 is added" spindle-ctl node add id 9 addr 10.0.0.1 engine 4
says 1 'good:3: node 1: the address and port are in use' apply /tmp/good --bootstrap --dry-run
says 0 '^- node 9' apply /tmp/good --bootstrap --dry-run --prune
spindle-ctl node del 9
says 0 '+ view of node 1' apply /tmp/good --bootstrap
says 0 'there is nothing to change' apply /tmp/good --dry-run
sed 's/^IdleUs = 50/IdleUs = 7/; s/^Vid = 5/Vid = 6/; s/^Cpu = 0//' /tmp/good >/tmp/other
says 0 '^- node 1, to make it again' apply /tmp/other --bootstrap --dry-run --replace
vid_of()
{
	spindle-ctl -j view show "$1" | grep -o '"vid":[0-9]*'
}
is "the present view stays" "$(vid_of 1)" '"vid":5'
sed 's/^Window = 128/Window = 70000/' /tmp/other >/tmp/wrong
says 1 'window is 1 to 65536' apply /tmp/wrong --bootstrap --replace
is "the present view still stays" "$(vid_of 1)" '"vid":5'
says 0 '^+ node 1' apply /tmp/other --bootstrap --replace
check "node goes" spindle-ctl node del 1

# ---- sizes ----------------------------------------------------------------

members=
for i in $(seq 2 64); do
	members="$members member $i@10.0.1.$i"
done
subgroups=
for i in $(seq 64); do
	subgroups="$subgroups subgroup $((i * 1000)) name a-name-of-some-length-$i
		window 1 max-msg 64 ring 4096 members 1-64 senders 64"
done
spindle-ctl node add id 1 addr 10.0.0.1
# shellcheck disable=SC2086
check "a view of 64 members and 64 subgroups is installed" \
	spindle-ctl view set node 1 vid 1 member 1@10.0.0.1 $members $subgroups
says 0 '63    64  10.0.1.64:4790\|63      64  10.0.1.64:4790' view show
is "show lists 64 subgroups" "$(lines 'a-name-of-some-length-.*1-64')" 64
spindle-ctl -j view show >"$out"
is "JSON has 64 subgroups" "$(grep -o '"name":"a-name' "$out" | wc -l)" 64
says 0 'subgroup 64000 .*: forming, not all' subgroup show
is "status has advice for each of 64 subgroups" "$(lines ': forming, not all')" 64
says 0 '^      64  connecting' stats 1
is "status lists 63 peers" "$(lines ' connecting ')" 63
spindle-ctl showconf >/tmp/conf1
says 0 'there is nothing to change' apply /tmp/conf1 --dry-run
says 0 '^   1     64000      64  *0  *0  *0  -$' top -b -n 1 -d 0.1
is "top shows 64 subgroups" "$(lines '^   1 .*forming .*a-name-of-some-length-')" 64
is "top shows 64 members of each subgroup" "$(lines '^   1  *[0-9]*000  *[0-9][0-9]* ')" 4096
says 0 'a-name-of-some-length-3$' top -b -n 1 -d 0.1 node 1 id 3000
is "top shows one subgroup on request" "$(lines '^   1 .*forming ')" 1
# top reads ten times a second, and must not use more memory.
memory()
{
	sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status"
}
frames()
{
	[ "$(grep -c '"seconds":' /tmp/topj)" -ge "$1" ]
}
spindle-ctl -j top -d 0.1 >/tmp/topj 2>&1 &
top=$!
check "top has drawn 5 frames" wait_until 60 frames 5
before=$(memory "$top")
check "top has drawn 40 frames" wait_until 60 frames 40
after=$(memory "$top")
check "the memory of top does not grow ($before -> $after KiB)" test $((after - before)) -lt 1024
kill "$top"
wait "$top"
# shellcheck disable=SC2086
spindle-ctl view set node 1 vid 2 member 1@10.0.0.1 $members member 65@10.0.2.1 >"$out" 2>&1
is "the refusal names the 65th member" "$(lines 'at: member 65@10.0.2.1:4790')" 1
# 251 characters
fields=$(printf 'f%031d:u8,' 1 2 3 4 5 6 7)
tables=
for i in $(seq 64); do
	tables="$tables table $i cells 1 fields ${fields%,}"
done
check "the view is removed" spindle-ctl view del node 1
# shellcheck disable=SC2086
check "a view of 64 tables with long fields is installed" \
	spindle-ctl view set node 1 vid 1 member 1@10.0.0.1 $tables
spindle-ctl -j view show >"$out"
is "show has the fields of 64 tables" "$(grep -o "\"fields\":\"${fields%,}\"" "$out" | wc -l)" 64
spindle-ctl -j table show >"$out"
is "each table has its fields" "$(grep -o "\"fields\":\"${fields%,}\"" "$out" | wc -l)" 64
spindle-ctl showconf >/tmp/conf1
says 0 'there is nothing to change' apply /tmp/conf1 --dry-run
check "node goes" spindle-ctl node del 1

# ---- namespaces and rights ------------------------------------------------

check "nodes" loop_nodes 2
mkdir -p /run /var && { [ -e /var/run ] || ln -s /run /var/run; }
if ip netns add other 2>/dev/null; then
	says 0 'There is no node' -n other node show
	says 0 'There is no node' --netns /var/run/netns/other node show
	says 1 'no RDMA device' -n other node add id 1 addr 10.0.0.1
	says 1 'no node of .* (in another network namespace? see -n)' -n other apply "$conf"
	ip netns del other
else
	skip "network namespaces" "no ip netns here"
fi
says 1 "network namespace 'none'" -n none node show
su nobody -s /bin/sh -c "spindle-ctl node show" >"$out" 2>&1
is "a user without rights may list nodes" "$(lines '10.0.0.1:500')" 2
su nobody -s /bin/sh -c "spindle-ctl node del 1" >"$out" 2>&1
is "a user without rights may not remove a node" "$(lines 'node del: this takes CAP_NET_ADMIN')" 1

# ---- dumps while things change --------------------------------------------

# Many nodes, so that a dump takes several messages, and one that comes and goes.
for i in $(seq 3 60); do
	spindle-ctl node add id "$i" addr 10.0.0.1 port $((5000 + i))
done
(
	while [ ! -e /tmp/stop ]; do
		spindle-ctl node add id 99 addr 10.0.0.1 port 6000
		spindle-ctl node del 99
	done
) &
churn=$!
wrong=0
for i in $(seq 30); do
	spindle-ctl node show >"$out" 2>&1
	case $(lines ':50[0-9][0-9] ') in
	60) ;;
	*) wrong=$((wrong + 1)) && sed 's/^/# /' "$out" ;;
	esac
done
is "each of 60 dumps shows the 60 nodes that stay" "$wrong" 0
says 0 'NODE  STATE  ENGINE' top -b -n 20 -d 0.1
is "top draws 20 frames after its first reading" "$(lines 'the last [0-9.]* s$')" 20
is "each frame has all nodes that stay" "$(lines '^ *[0-9]*  idle ')" \
	"$((1200 + $(lines '^  99  idle ')))"
is "an empty line separates the frames" "$(lines '^$')" 19
says 0 '"seconds":0\.[0-9]*,"nodes":\[{"node":1,"state":"idle","engine":{"pid":[0-9]*,' \
	-j top -n 2 -d 0.1
is "each frame is one line with JSON" "$(wc -l <"$out")" 2
# Events while a monitor starts are not taken for an answer to its requests.
monitors=
for i in $(seq 10); do
	spindle-ctl monitor >/tmp/mon.$i 2>&1 &
	monitors="$monitors $!"
done
hear=0
for i in $(seq 10); do
	wait_until 30 grep -q 'node 99' /tmp/mon.$i && hear=$((hear + 1))
done
is "monitors start while nodes are added and removed" "$hear" 10
# shellcheck disable=SC2086
kill $monitors
rm /tmp/mon.*
touch /tmp/stop
wait "$churn"

# ---- events ---------------------------------------------------------------

spindle-ctl monitor >/tmp/mon 2>&1 &
mon=$!
spindle-ctl -j monitor node 98 >/tmp/monj 2>&1 &
monj=$!
come_and_go()
{
	spindle-ctl node add id 98 addr 10.0.0.1 port 6000
	spindle-ctl node add id 99 addr 10.0.0.1 port 6001
	spindle-ctl node del 98
	spindle-ctl node del 99
	grep -q 'node-del  *node 98' /tmp/mon && grep -q '"event":"node-del","node":98}' /tmp/monj
}
check "monitors see nodes come and go" wait_until 30 come_and_go
is "a monitor of one node sees no other node" "$(grep -c '"node":99' /tmp/monj)" 0
# Let its socket overflow; how much fits depends on the kernel.
overflowed()
{
	awk '$2 == 16 && $9 > 0 { n++ } END { exit !n }' /proc/net/netlink
}
kill -STOP "$mon"
for i in $(seq 2000); do
	! overflowed || break
	spindle-ctl view set node 1 vid "$i" member 1@10.0.0.1:5001 \
		subgroup 1 window 1 max-msg 64 subgroup 2 window 1 max-msg 64 \
		subgroup 3 window 1 max-msg 64 subgroup 4 window 1 max-msg 64
done
kill -CONT "$mon"
check "lost events are reported" wait_until 20 grep -q events-lost /tmp/mon
# More may be lost until the socket has been read.
spindle-ctl node del 60
another_event()
{
	spindle-ctl node add id 60 addr 10.0.0.1 port 5060
	spindle-ctl node del 60
	sed '1,/events-lost/d' /tmp/mon | grep -q 'node-del  *node 60'
}
check "the monitor goes on after lost events" wait_until 20 another_event

# ---- top ------------------------------------------------------------------

check "a view of two nodes is installed" loop_view 2 10000 subgroup 0 name prices
check "both nodes are active" wait_until 60 all_active 2
says 1 'at: id 98' top -b -n 1 node 98
says 1 'no subgroup 7 at this node' top -b -n 1 node 1 id 7
says 0 '^NODE  SUBGROUP  STATE   SENT/S  DLV/S  MB/S  NULLS/S  SEND  RECV  DLV  NAME$' \
	top -b -n 2 -d 0.2
is "top draws two frames" "$(lines 'the last [0-9.]* s$')" 2
is "each frame has two nodes" "$(lines '^   [12]         0  active  .*  prices$')" 4
is "each node has two members" "$(lines '^   [12]         0       [12] ')" 8
limit 200 mcast-load -n 1-2 -g 0 -c 100000000 -w 60 >/tmp/load.out 2>&1 &
load=$!
fast()
{
	spindle-ctl -j top -n 1 -d 0.3 node 1 id 0 >"$out"
	grep -q '"sent_per_s":[1-9].*"delivered_per_s":[1-9].*"send_batch":[1-9]' "$out" &&
		grep -q '"delivered_bytes_per_s":[1-9]' "$out"
}
check "top shows rates" wait_until 30 fast
says 0 '^   1         0  active  [ 0-9]*[1-9][0-9.]*  ' top -d 0.3 -bn1 node 1
# on_tty ROWS COLUMNS KEYS STATUS WORD...: top on a terminal, until it has shown a rate
on_tty()
{
	local rows columns keys want rc

	rows=$1
	columns=$2
	keys=$3
	want=$4
	shift 4
	rc=0
	limit 60 on-tty "$rows" "$columns" "$keys" 'the last' spindle-ctl top "$@" \
		>"$out" 2>&1 || rc=$?
	is "top on a terminal of $rows lines, $keys: $*" "$rc" "$want"
}
on_tty 30 100 q 0
is "top sets up the terminal" "$(lines '^\^\[\[?1049h\^\[\[?25l\^\[\[?7l\^\[\[H')" 1
is "top restores the terminal" "$(lines '\^\[\[J\^\[\[?7h\^\[\[?25h\^\[\[?1049l$')" 1
check "top draws a frame after a second" grep -q 'the last 1\.[0-9]* s\^\[\[K$' "$out"
on_tty 8 40 ^C 130 -d 0.2
check "top says how many lines do not fit" grep -q '^([0-9]* more lines)\^\[\[K\^\[\[J' "$out"
is "top cuts off long lines" "$(lines 'MB/S')" 0
on_tty 24 80 x 0 -n 2 -d 0.2
is "the last frame stays on the terminal" \
	"$(sed '1,/1049l/d' "$out" | grep -c '^   [12]         0  active .*prices$')" 2

# The shown objects are added and removed while top runs.
spindle-ctl top -b -d 0.1 node 2 >/tmp/top 2>&1 &
top=$!
shows()
{
	tail -n 20 /tmp/top | grep -qe "$1"
}
# The output goes to a file that is read at the same time, so only new lines count.
gone()
{
	: >/tmp/top
	usleep 500000
	shows 'There is no node' && ! shows prices
}
back()
{
	: >/tmp/top
	usleep 500000
	shows '^   2 .* forming .* dollars$'
}
check "top shows a new node" wait_until 30 shows prices
spindle-ctl node del 2
check "top drops a removed node" wait_until 30 gone
wait "$load"
spindle-ctl node add id 2 addr 10.0.0.1 port 5002
spindle-ctl view set node 2 vid 10001 member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 \
	subgroup 3 name dollars
check "top shows a node that was added again" wait_until 30 back

# ---- the end --------------------------------------------------------------

check "nodes go" loop_del 59
rmmod spindle
rc=0
wait "$mon" || rc=$?
is "the monitor ends with the module" "$rc" 1
check "the monitor says that the module was unloaded" grep -q 'spindle.ko was unloaded' /tmp/mon
rc=0
wait "$top" || rc=$?
is "top ends with the module" "$rc" 1
check "top says that the module was unloaded" \
	grep -q 'spindle-ctl: top: spindle.ko was unloaded' /tmp/top
wait "$monj"
finish
