#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest itself works: kernel, modules, rxe and the tools of the tests.
# vm: each
. ./guest-lib.sh

diag "$(uname -r), booted in $(uptime_s) s"
case $(uname -r) in
6.* | 7.*) ok "kernel is of a supported series" ;;
*) not_ok "kernel is of a supported series" ;;
esac
check "ip is the real one" sh -c 'ip -V | grep -q iproute2'
check "rxe on a dummy device" setup_rxe_loop
rdma link | sed 's/^/# /'
check "the link is active" sh -c 'rdma link | grep -q "rxe0/1 state ACTIVE"'
check "path MTU has a netdev MTU to go with" \
	grep -qx 4200 /sys/class/net/dummy0/mtu
check "user verbs have a device" wait_until 30 test -e /dev/infiniband/uverbs0
check "rdma_cm has a device" wait_until 30 test -e /dev/infiniband/rdma_cm
is "nothing was sent yet" "$(rxe_counter sent_pkts)" 0
check "debugfs is mounted" grep -q "^debugfs /sys/kernel/debug " /proc/mounts
check "rxe goes away" teardown_rxe
finish
