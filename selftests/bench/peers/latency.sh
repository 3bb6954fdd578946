#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A second plot of what peers.sh measures.
# bench: machine=vm
# bench: data=peers
. ./lib-bench.sh

sweep()
{
	:
}

bench
