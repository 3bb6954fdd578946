/* SPDX-License-Identifier: GPL-2.0-only */
/* A terminal on which a text is drawn repeatedly. */
#ifndef SPINDLE_CTL_SCREEN_H
#define SPINDLE_CTL_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

bool ctl_screen_there(void);
void ctl_screen_prepare(void);
void ctl_screen_close(void);
void ctl_screen_draw(const char *text);
bool ctl_screen_wait(uint64_t until);

#endif /* SPINDLE_CTL_SCREEN_H */
