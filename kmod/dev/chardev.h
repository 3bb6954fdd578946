/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/spindle: the device through which processes attach.
 */
#ifndef SPINDLE_DEV_CHARDEV_H
#define SPINDLE_DEV_CHARDEV_H

int spindle_chardev_init(void);
void spindle_chardev_exit(void);

#endif /* SPINDLE_DEV_CHARDEV_H */
