#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# RDMC over several guests: objects of all sizes by all algorithms, several groups at once
# that have members in common, a bad wire, with large messages of a subgroup, too, and files by
# spindle-cast. rdmc-load looks at every byte.
# vm: uml timeout=300 nodes=4
# shellcheck disable=SC2154 # node and nodes come from lib-wire.sh
. ./lib-wire.sh
. ./lib-rdmc.sh

# One byte, block - 1, block, block + 1, two blocks, an odd number, many blocks.
SIZES=1,4095,4096,4097,8192,8193,100000,300001

wire_start
try_load sch_netem
# Before there is a connection: see wire-live-loss.sh.
tc qdisc add dev eth0 root netem limit 100000 || bail "a wire"
wire_conf 1 >/tmp/conf <<EOT

[Subgroup]
Id = 1
MaxMsg = 1M
Ring = 4M
Window = 8
EOT
check "a view is installed" spindle-ctl apply /tmp/conf
check "racks" spindle-ctl node set "$node" rack $((node % 2))
barrier "$node" "$nodes" racks || bail "all are in racks"
for a in pipeline sequential chain tree hybrid; do
	for members in 1,2 3,1,2 4,2,1,3; do
		rdmc_whole "$a, $members" $members -a $a -b 4096 -l $SIZES -c 8
	done
	rdmc_whole "$a, two blocks for three members" 2,3,4 -a $a -b 65536 -l 65537,131072 -c 4
done
rdmc_whole "1 MiB, blocks of 1 MiB, nothing aligned" 1,2,3,4 -b 1048576 -l 1048576,3145729 \
	-c 2 -o 17
rdmc_whole "four groups at once, each has another root" 1,2,3,4 -g 4 -l 1-1000000 -c 6
# Groups of the same nodes that begin by chance.
begin other limit 100 rdmc-load -m 4,3,2,1 -n "$node" -G 5000 -l 1-500000 -c 20 -w 80
rdmc_whole "three of them, beside a group of all" 2,1,3 -G 6000 -l 1-500000 -c 20
check "the other group ends" wait_until 100 has_ended other
is "the other group is complete" "$(cat /tmp/other.rc)" 0 || sed 's/^/# /' /tmp/other.out
rdmc_whole "16 MiB to three" 3,1,2,4 -l 16777216 -M
rdmc_whole "64 MiB to three" 1,2,3,4 -l 67108864 -b 1048576

# Slow, but nothing is lost.
barrier "$node" "$nodes" good || bail "all meet on a good wire"
check "the wire becomes slow" tc qdisc change dev eth0 root netem delay 1ms slot 1ms 5ms \
	limit 100000
barrier "$node" "$nodes" slow || bail "all meet on a slow wire"
for a in pipeline chain; do
	rdmc_whole "a slow wire, $a" 1,2,3,4 -a $a -l 1-1000000 -c 6
done

barrier "$node" "$nodes" slow.over || bail "all meet behind a slow wire"
check "the wire loses packets" tc qdisc change dev eth0 root netem loss 1% limit 100000
barrier "$node" "$nodes" loss || bail "all meet on a bad wire"
for a in pipeline sequential chain tree hybrid; do
	rdmc_whole "a bad wire, $a" 1,2,3,4 -a $a -l 1-1000000 -c 6
done
rdmc_whole "a bad wire, four groups at once" 1,2,3,4 -g 4 -l 1-300000 -c 6
check "a bad wire, large messages of all, in order" limit 100 mcast-load -n "$node" -g 1 -s all \
	-c 10 -l 1-1000000 -w 90
publish dropped "$(dropped)"
barrier "$node" "$nodes" lost || bail "all meet on a bad wire"
check "packets were lost" [ "$(dropped_by_all)" -gt 0 ]
check "the wire is good again" tc qdisc change dev eth0 root netem limit 100000
barrier "$node" "$nodes" loss.over || bail "all meet behind a bad wire"

check "racks are for nothing more" spindle-ctl node set "$node" rack none
wire_conf 2 </dev/null >/tmp/conf
check "another view: the last one may have ended" spindle-ctl apply /tmp/conf
barrier "$node" "$nodes" again || bail "all are in another view"
cast_files 5000000
cast_all "files to three" 1,2,3,4
barrier "$node" "$nodes" cast || bail "all have files"

# As the README has it: one node, and all members of its view.
if [ "$node" = 1 ]; then
	check "all members of the view: the files are sent" limit 100 spindle-cast /tmp/from/*
else
	check "all members of the view: no file is sent again" limit 100 \
		spindle-recv --from 1 /tmp/to
	rm -f /tmp/to/*
fi
barrier "$node" "$nodes" readme || bail "all have no files"
if [ "$node" = 1 ]; then
	check "once more: is sent" limit 100 spindle-cast /tmp/from/*
else
	check "once more: is received" limit 100 spindle-recv --from 1 /tmp/to
	check "once more: is what was sent" cast_whole
fi
is "rdmc show lists no group" "$(spindle-ctl -j rdmc show)" "[]"
wire_end
finish
