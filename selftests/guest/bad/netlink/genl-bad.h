/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts, and the sockets that all parts use.
 */
#ifndef SPINDLE_GENL_BAD_GENL_BAD_H
#define SPINDLE_GENL_BAD_GENL_BAD_H

#include "nl.h"

/* A socket for requests, and one that gets events from the beginning on. */
extern struct nl nl, events;

/* Switches as a dump shows them: a value, and the bits of it that are valid. All are on. */
#define SWITCHES_ALL (SPINDLE_SW_ALL | (uint64_t)SPINDLE_SW_ALL << 32)

/* The parts, one for each word that genl-bad understands. */
void refuse(void);		/* refuse.c */
void rights(void);		/* rights.c */
void pieces(void);		/* dump.c */
void change(void);		/* change.c */
void set(void);			/* set.c */
void shows(void);		/* shows.c */
void rdmc(void);		/* rdmc.c */
void last_id(void);		/* limits.c */
void largest_view(void);
void most_nodes(void);
void memory(void);

#endif /* SPINDLE_GENL_BAD_GENL_BAD_H */
