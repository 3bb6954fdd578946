/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/spindle-sst: the device through which processes attach to tables.
 */
#ifndef SPINDLE_DEV_SST_DEV_H
#define SPINDLE_DEV_SST_DEV_H

int spindle_sst_dev_init(void);
void spindle_sst_dev_exit(void);

#endif /* SPINDLE_DEV_SST_DEV_H */
