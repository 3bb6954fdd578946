#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A hostile member of RDMC groups: the program hostile-peer plays node 1. It lies in every message
# and every block, or is silent, or exits. The group ends with an error that names the culprit. The
# next group works, and so do groups of others at the same time.
# vm: own
# vm: uml
# vm: timeout=1200 hostile
. ./guest-lib.sh
. ./lib-loop.sh

out=/tmp/rdmc
group=100
view="vid 1 member 1@10.0.0.1:5001 member 2@10.0.0.1:5002 member 3@10.0.0.1:5003"

# hostile STEP...: act as node 1 to node 2, and repeat while node 2 does not expect it, $TRIES times
# at most.
hostile()
{
	local said tries

	tries=0
	while [ $tries -lt "${TRIES:-200}" ]; do
		# shellcheck disable=SC2086
		said=$(limit 60 hostile-peer -i 1 -t 2 $view -- "$@" 2>&1 |
			sed 's/^[a-z]*: //' | paste -s -d '|')
		case $said in
		"rejected 1" | "rejected 1|"* | "rejected 20") ;;
		*) break ;;
		esac
		tries=$((tries + 1))
		usleep 20000
	done
	echo "$said"
}

# attack ROLE MEMBERS DESCRIPTION ERROR STEP...: node 2 is in a group with node 1, as its root
# (ROLE "root") or not, and it ends with this error. "hi" stands for a hello that is right.
attack()
{
	local members desc error rc said step load list

	members=$1
	desc=$2
	error=$3
	shift 3
	group=$((group + 1))
	list=
	for step in "$@"; do
		case $step in
		hi | hi,*) step="hi,group=$group,members=$(echo "$members" | tr , .)${step#hi}" ;;
		chatter*) step="$step,group=$group" ;;
		esac
		list="$list $step"
	done
	limit 60 rdmc-load -m "$members" -n 2 -G $group -b 4096 -l 20000 -c 20 -t "${MS:-3000}" \
		-w 30 >$out 2>&1 &
	load=$!
	# shellcheck disable=SC2086
	said=$(hostile dial,flags=8 $list)
	rc=0
	wait $load || rc=$?
	if [ $rc = 3 ] && grep -q "^node 2 group 0: error $error" $out; then
		ok "$members: $desc: $said"
	else
		not_ok "$members: $desc: $said"
		diag "status $rc, wanted 3 and error $error"
		sed 's/^/# /' $out
	fi
	limit 60 rdmc-load -m 2,3 -n 2,3 -G 7 -c 3 -b 4096 -l 1-50000 >$out.after 2>&1 || {
		not_ok "groups of other nodes go on"
		sed 's/^/# /' $out.after
	}
}

as_root()
{
	attack 1,2 "$@"
}

as_receiver()
{
	attack 2,1 "$@"
}

check "module loads" loop_start
check "nodes" sh -c "for i in 2 3; do spindle-ctl node add id \$i addr 10.0.0.1 port 500\$i || exit 1; done"
for i in 2 3; do
	# shellcheck disable=SC2086
	check "a view of node $i with a member that is played" \
		spindle-ctl view set node $i $view
done

# 3: time, 4: lost, 5: left, 6: protocol, 7: mismatch
protocol="6 node 1"
lost="4 node 1"
time="3 node 1"
# Where the connection breaks before or behind the message that says why.
broken="[46] node 1"

# ---- the connection ------------------------------------------------------------

for bad in nodata short junk magic version cluster dst=3 src=3 src=7; do
	is "refused: $bad" \
		"$(TRIES=5 hostile "dial,flags=8,$bad" | sed 's/rejected 2*[0-9]*/no/')" no
done
as_root "a root that is silent after the answer" "$time" gone
as_root "half a page of rights" "$time" give,size=2048 gone
as_root "a page too long" "$time" give,size=8192 gone
as_root "a message instead of rights" "$time" msg,word=1 gone
as_root "gone after the answer" "$time" hangup
# Nothing was heard of it: another one may still come.
as_root "a root that dies after the rights" "$time" setup exit
as_root "rights, then silence" "$time" setup gone

# An object that rdmc-load expects.
obj=msg,word=2,b=20000,c=1

# ---- hellos and heads ------------------------------------------------------------

as_root "another digest" "7 node 1" setup hi,digest=1 gone
as_receiver "another digest" "7 node 1" setup hi,digest=1 gone
as_root "no life" "$protocol" setup hi,life=0 gone
as_root "a farewell of a member that was never there" "$time" setup hi,rack=0x50000 gone
as_root "a farewell" "5 node 1" setup hi hi,rack=0x50000 gone,ms=500
as_root "a farewell because of no member" "$protocol" setup hi hi,rack=0x02050000 gone
as_root "a farewell without a reason" "$protocol" setup hi hi,rack=0x00ff0000 gone
as_root "a life that the member was not given" "$time" setup hi,yours=5 gone
as_root "another group" "$time" setup hi,to=99999 gone
as_root "another life" "5 node 1" setup hi hear,word=1,ms=100 hi,life=78 gone,ms=500
as_root "messages before hello" "$protocol" setup hear,word=1 msg,word=2,a=0,b=1 gone
as_root "an empty message" "$lost" setup hi msg,len=0 gone
as_root "a short message" "$lost" setup hi msg,len=55 gone
as_root "a long message" "$lost" setup hi msg,len=57 gone
as_root "a message with immediate data" "$lost" setup hi msg,word=2,a=0,b=1,imm=5 gone
as_root "more receives than it can have" "$lost" setup hi msg,word=2,a=0,b=1,more=100000 gone
as_root "receives that it takes back" "$lost" setup hi msg,flags=0,more=-1 hangup
as_root "a count and no text, 300 times" "$lost" setup hi msg,flags=0,n=300 hangup

# ---- messages of the root -----------------------------------------------------------

as_root "word 0" "$protocol" setup hi msg,word=0 gone
as_root "word 10" "$protocol" setup hi msg,word=10 gone
as_root "the last word" "$protocol" setup hi msg,word=0xffffffff gone
as_root "500 messages for no group" "$lost" setup hi msg,word=2,to=1,n=500 hangup
as_root "object 1 first" "$protocol" setup hi msg,word=2,a=1,b=1 gone
as_root "object -1" "$protocol" setup hi msg,word=2,a=-1,b=1 gone
as_root "an object without bytes" "$protocol" setup hi msg,word=2,a=0,b=0 gone
as_root "an object with too many bytes" "$protocol" setup hi msg,word=2,a=0,b=0x10000000001 gone
as_root "the same object twice" "$protocol" setup hi $obj,n=2 gone
as_root "a stop from a root" "$protocol" setup hi $obj msg,word=5,b=1 gone
as_root "progress from a root" "$protocol" setup hi msg,word=4,a=1 gone
as_root "an abort of an object that does not exist" "$protocol" setup hi msg,word=6,a=0,b=1 gone
as_root "abort without a reason" "$protocol" setup hi $obj msg,word=6,b=0 gone
as_root "an abort because of no member" "$protocol" setup hi $obj msg,word=6,b=1,arg=2 gone
as_root "abort with a long reason" "$protocol" \
	setup hi $obj msg,word=6,b=1,c=0x100000000 gone
as_root "a return of an object that does not exist" "$protocol" setup hi msg,word=7,a=0 gone
as_root "a failure of no member" "$protocol" setup hi msg,word=8,a=4,arg=2 gone
as_root "failure without a reason" "$protocol" setup hi msg,word=8,a=0 gone
as_root "a failure with another reason" "$protocol" setup hi msg,word=8,a=10 gone
as_root "failure of the node itself" "4 node 2" setup hi msg,word=8,a=4,arg=1 gone,ms=500
as_root "an end of more objects than there were" "$protocol" setup hi msg,word=9,a=3,b=3 gone
as_root "more complete objects than there were" "$protocol" setup hi msg,word=9,a=0,b=1 gone
as_root "the end, then an object" "$protocol" setup hi $obj msg,word=9,a=1,b=1 $obj,a=1 gone
as_root "a flood of failures" "4 node 1" setup hi msg,word=8,a=4,n=300 hangup

# ---- blocks ------------------------------------------------------------------------

take="setup hi $obj hear,word=3"
# shellcheck disable=SC2086
{
	as_root "a block that was not granted" "$protocol" setup hi blk,len=0,imm=0 gone
	as_root "a block of a link that does not exist" "$lost" setup hi blk,len=0,imm=0x1fffc gone
	as_root "a block with the last number" "$lost" setup hi blk,len=0,imm=0xffffffff gone
	as_root "a block for the next grant" "$lost" $take blk,more=1 hangup
	as_root "a block of another turn" "$lost" $take blk,more=65536 gone
	as_root "a block of another link" "$lost" $take blk,more=4 gone
	as_root "a block twice" "$broken" $take blk blk gone
	as_root "a block twice, the second time empty" "$broken" $take blk blk,len=0 gone
	as_root "a block with another key" "$lost" $take blk,near=1 gone
	as_root "a block with the key of another grant" "$lost" $take blk,near=256 gone
	as_root "a block in front of the memory" "$lost" $take blk,off=-1 gone
	as_root "a block behind the memory" "$lost" $take blk,off=4096 gone
	as_root "a block across the end of the memory" "$lost" $take blk,off=1 gone
	as_root "a block that is much too long" "$lost" $take blk,len=65536 gone
	as_root "a silent block, then a hangup" "$lost" $take blk,silent hangup
	as_root "a block after the end" "$broken" $take msg,word=8,a=4 blk gone
	as_root "a block after a return" "$broken" $take msg,word=7,a=0 blk gone
	as_root "no block after a grant" "[34] node 1" $take gone,ms=6000
	as_root "a root that is mute after a grant" "[34] node 1" $take mute gone,ms=6000
	as_root "a root that dies after a grant" "$lost" $take exit
}

# ---- what receivers say --------------------------------------------------------------

told="setup hi hear,word=2"
# shellcheck disable=SC2086
{
	as_receiver "an object of its own" "$protocol" $told msg,word=2,a=0,b=1 gone
	as_receiver "a key of nothing" "$lost" $told grant,key=1 gone
	as_receiver "an address of nothing" "$lost" $told grant,addr=8 gone
	as_receiver "the last address" "$lost" $told grant,addr=-1 gone
	as_receiver "another block" "$protocol" $told grant,b=3 gone
	as_receiver "another length" "$protocol" $told grant,l=19999 gone
	as_receiver "a grant of a block that does not exist" \
		"$protocol" $told grant,b=0xffffffff gone
	as_receiver "a grant of an object that does not exist" "$protocol" $told grant,o=100 gone
	as_receiver "a grant of the last object" "$protocol" $told grant,o=-1 gone
	as_receiver "a grant of the next object" "[36] node 1" $told grant,o=1 gone
	as_receiver "five grants" "$protocol" $told grant,o=2 grant,o=2 grant,o=2 grant,o=2 \
		grant,o=2 gone
	as_receiver "a grant of the same block twice" "$protocol" $told grant grant gone
	as_receiver "grants of all blocks and one more" \
		"$broken" $told grant grant,b=1 grant,b=2 grant,b=3 \
		grant,b=4 grant,b=4 gone
	as_receiver "progress of blocks before they came" \
		"$protocol" $told msg,word=4,a=1,b=1 msg,word=4,a=99 \
		gone
	as_receiver "progress beyond the last object" "$protocol" $told msg,word=4,a=17 gone
	as_receiver "more complete objects than ended ones" \
		"$protocol" $told msg,word=4,a=1,b=2 gone
	as_receiver "progress beyond the last block" "$protocol" $told msg,word=4,a=0,c=6 gone
	as_receiver "progress that goes back" "$protocol" $told msg,word=4,c=3 msg,word=4,c=2 gone
	as_receiver "a stop of an object that does not exist" \
		"$protocol" $told msg,word=5,a=50,b=1 gone
	as_receiver "a stop with an unknown reason" "$protocol" $told msg,word=5,a=0,b=3 gone
	as_receiver "a stop with a long reason" "$protocol" $told \
		msg,word=5,a=0,b=1,c=0x100000000 gone
	as_receiver "aborts" "$protocol" $told msg,word=6,a=0,b=1 gone
	as_receiver "a close without a request" "$protocol" $told msg,word=9 gone
	as_receiver "a stop of each object" "[0-9]" $told msg,word=5,a=0,b=1,n=16,step=1 hangup
	as_receiver "a receiver that is silent" "$time" $told gone,ms=20000
	as_receiver "a receiver that is mute after a grant" "$broken" $told grant mute gone,ms=20000
	as_receiver "a receiver that hangs up after a grant" "$lost" $told grant hangup
	as_receiver "a receiver that hangs up" "$lost" $told hangup
}

# ---- anything --------------------------------------------------------------------------

for i in $(seq 25); do
	as_root "chatter $i" "[0-9]" setup hi "chatter,n=200,seed=$i" hangup
	as_receiver "chatter $i" "[0-9]" setup hi "chatter,n=200,seed=$((i + 1000))" hangup
done

check "nodes go" sh -c "spindle-ctl node del id 2 && spindle-ctl node del id 3"
check "no memory is pinned" sh -c "[ \"\$(awk '/nr_foll_pin/ { n = \$2 - n } END { print n }' \
	/proc/vmstat)\" = 0 ]"
check "module goes" limit 60 rmmod spindle
finish
