#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Runs in the guest: one race on purpose after the other. What the checker says about
# them is looked at by the host.
. ./guest-lib.sh

for race in plain mixed assert order unseen marked locked; do
	check "race $race" insmod /lib/planted_race.ko race=$race
	check "and gone" rmmod planted_race
done
finish
