/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * States, for the folders above core/: fabric/ takes spindle_may() from here, because fabric/ does
 * not know core/.
 */
#ifndef SPINDLE_BASE_STATES_H
#define SPINDLE_BASE_STATES_H

#include "core/base/states.h"

#endif /* SPINDLE_BASE_STATES_H */
