/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device /dev/spindle-rdmc.
 */
#ifndef SPINDLE_DEV_RDMC_DEV_H
#define SPINDLE_DEV_RDMC_DEV_H

int spindle_rdmc_dev_init(void);
void spindle_rdmc_dev_exit(void);

#endif /* SPINDLE_DEV_RDMC_DEV_H */
