#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The log of spindle-logd on xfs, after a power failure at each moment at which its disk had to be
# durable: all that was reported is there, and nothing else.
# vm: timeout=600 uml
. ./guest-lib.sh
. ./lib-loop.sh
. ./lib-live.sh
. ./lib-disk.sh

cuts xfs 1400 1000
