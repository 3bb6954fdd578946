#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Runs in the guest: one race on purpose after the other. What the checker says about
# them is looked at by the host. Where a busy host leaves the two threads little to meet
# in, they get more time: the checker samples.
. ./guest-lib.sh

TRIES=6

once()
{
	insmod /lib/planted_race.ko "race=$1" && rmmod planted_race
}

told()
{
	dmesg | grep -q "KCSAN: .* in $1_"
}

for race in plain mixed assert order unseen; do
	check "race $race" once $race
	for _ in $(seq $TRIES); do
		told $race || check "race $race again" once $race
	done
done
for race in marked locked; do
	check "race $race" once $race
done
finish
