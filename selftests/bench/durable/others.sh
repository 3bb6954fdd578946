#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages per second that are acknowledged as durable: a durable subgroup, etcd and JetStream of
# NATS, each with three members on one disk and one client that does not wait for the message before.
# bench: mem=3072
# bench: disk=2048
. ./lib-bench.sh
# shellcheck source=selftests/bench/durable/lib-durable.sh
. "./${LIST:+durable/}lib-durable.sh"
# shellcheck source=selftests/scripts/lib/lib-live.sh
[ "${LIST:-}" ] || . ./lib-live.sh

SIZES="64 1024"
FLIGHT=1024
WARM=2
FIGURES="goodput rate p50 p99"

# ---- processes of the others ----------------------------------------------------

servers=

servers_end()
{
	local pid

	for pid in $servers; do
		kill "$pid" 2>/dev/null
		wait_until 30 dead "$pid" || kill -9 "$pid"
		wait "$pid" 2>/dev/null
	done
	servers=
	rm -rf $DISK/etcd $DISK/nats
}

etcd_begin()
{
	local i url members

	members=
	for i in 1 2 3; do
		members="$members${members:+,}n$i=http://127.0.0.1:238$i"
	done
	for i in 1 2 3; do
		url=http://127.0.0.1
		# A disk that takes longer than usual is no reason for an election.
		etcd --name "n$i" --data-dir "$DISK/etcd/$i" --listen-client-urls "$url:237$i" \
			--advertise-client-urls "$url:237$i" --listen-peer-urls "$url:238$i" \
			--initial-advertise-peer-urls "$url:238$i" --initial-cluster "$members" \
			--heartbeat-interval 500 --election-timeout 5000 \
			>"/tmp/etcd$i.log" 2>&1 &
		servers="$servers $!"
	done
}

# nats_begin [sync]: with the word each write to its files is durable when it ends
nats_begin()
{
	local i routes

	routes=
	for i in 1 2 3; do
		routes="$routes${routes:+, }nats://127.0.0.1:248$i"
	done
	mkdir -p $DISK/nats
	# New files below get the mark of their directory.
	[ "$1" != sync ] || chattr +S $DISK/nats || return 1
	for i in 1 2 3; do
		printf '%s\n' "server_name: n$i" "host: 127.0.0.1" "port: 247$i" \
			"jetstream { store_dir: \"$DISK/nats/$i\" }" \
			"cluster { name: bench, host: 127.0.0.1, port: 248$i, routes: [$routes] }" \
			>"/tmp/nats$i.conf"
		nats-server -c "/tmp/nats$i.conf" >"/tmp/nats$i.log" 2>&1 &
		servers="$servers $!"
	done
}

# peer CLIENT SIZE SERVERS: its figures
peer()
{
	rm -f /tmp/bench.csv
	limit "$POINT_LIMIT" "$1" -e "$3" -S "$2" -q $FLIGHT -t "$SECS" -W $WARM -w 60 \
		-C /tmp/bench.csv >/tmp/bench.out 2>&1 || return 1
	note goodput "$(column /tmp/bench.csv goodput)"
	note rate "$(column /tmp/bench.csv rate)"
	note p50 "$(column /tmp/bench.csv ack_p50)"
	note p99 "$(column /tmp/bench.csv ack_p99)"
}

# ---- the systems -------------------------------------------------------------------

run_durable()
{
	nodes_up "$1" && logged_count "$1" && group_perf $LOGGED "$1" -W 0 -c "$count" || return 1
	note goodput "$(column /tmp/bench.csv durable_goodput)"
	note rate "$(column /tmp/bench.csv durable_rate)"
	note p50 "$(column /tmp/bench.csv durable_p50)"
	note p99 "$(column /tmp/bench.csv durable_p99)"
}

run_etcd()
{
	etcd_begin && peer etcd-peer "$1" 127.0.0.1:2371,127.0.0.1:2372,127.0.0.1:2373 || return 1
	servers_end
}

run_nats()
{
	nats_begin && peer nats-peer "$1" \
		nats://127.0.0.1:2471,nats://127.0.0.1:2472,nats://127.0.0.1:2473 || return 1
	servers_end
}

run_natssync()
{
	nats_begin sync && peer nats-peer "$1" \
		nats://127.0.0.1:2471,nats://127.0.0.1:2472,nats://127.0.0.1:2473 || return 1
	servers_end
}

after_etcd()
{
	servers_end
}

after_nats()
{
	servers_end
}

after_natssync()
{
	servers_end
}

sweep()
{
	local size

	for size in $SIZES; do
		compare "$size" durable etcd nats natssync
	done
}

bench
