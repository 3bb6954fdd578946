#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What every message needs of the guest: system calls, and being woken.
. ./lib-bench.sh

sweep()
{
	table bench-host ${QUICK:+quick}
}

bench
