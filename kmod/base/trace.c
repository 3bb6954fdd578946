// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints: their definitions. See trace.h.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
