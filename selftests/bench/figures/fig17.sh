#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Final latency: measured with figure 16.
# bench: data=fig16
. ./lib-bench.sh

sweep()
{
	:
}

bench
