/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by all steps: the view and our member in it, the arguments of a step, and the time limit.
 */
#ifndef SPINDLE_HOSTILE_PEER_HOSTILE_PEER_H
#define SPINDLE_HOSTILE_PEER_HOSTILE_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/layout.h"
#include "core/membership/card.h"
#include "core/membership/rules.h"

#define LIMIT_S		60	/* for any event that has to come */

#define die(...) do { fprintf(stderr, "hostile-peer: " __VA_ARGS__); exit(1); } while (0)

/* From the command line: VIEW-WORDS, -i, -t and -c. */
extern struct spindle_view view;
extern uint32_t my_id, their_id;
extern const char *cluster;

/* The view is live. "-i" need not be a member, because it may want to join. */
extern bool live;
extern struct spindle_rules rules;

/* The layouts that follow: our row there, its row here. */
extern struct spindle_layout out, in;

/* Parse the view, from "vid" on. The program ends if the view is invalid: words.c */
void parse_view(char **word, int n);

/* ---- time and chance --------------------------------------------------- */

/* The digest that a member of the view has in its hello. */
uint64_t view_digest(void);

/* Milliseconds of a monotonic clock. */
uint64_t now_ms(void);

/* The state of the random numbers. The step "garbage" has its own seed. */
extern uint64_t rng;
uint64_t random64(void);

/* ---- arguments of a step ----------------------------------------------- */

/* The text behind "KEY=" or "" behind a bare KEY; NULL if it is not there. */
const char *find(const char *step, const char *key);

/* The number behind "KEY=", or @def if the step does not say. */
uint64_t num(const char *step, const char *key, uint64_t def);

/* ---- the steps --------------------------------------------------------- */

/* One function for each step. hostile-peer.c describes the steps. */
void step_dial(const char *step);	/* connection.c */
void step_half(const char *step);
void step_flood(const char *step);
void step_lure(const char *step);
void step_gone(const char *step);
void step_mute(const char *step);
void step_hangup(const char *step);
void step_listen(const char *step);	/* contact.c */
void step_contact(const char *step);
void step_give(const char *step);	/* rights.c */
void step_take(const char *step);
void step_setup(const char *step);
void step_write(const char *step);	/* access.c */
void step_read(const char *step);
void step_add(const char *step);
void step_send(const char *step);
void step_garbage(const char *step);
void step_imms(const char *step);
void step_block(const char *step);	/* row.c */
void step_express(const char *step);
void step_node(const char *step);
void step_hdr(const char *step);
void step_await(const char *step);
void step_joined(const char *step);
const char *put_beat(uint64_t offer);	/* member.c */
void step_beat(const char *step);
void step_wish(const char *step);
void step_state(const char *step);
void step_rubbish(const char *step);
void step_cells(const char *step);	/* table.c */
void step_churn(const char *step);
void step_hi(const char *step);		/* bulk.c */
void step_msg(const char *step);
void step_grant(const char *step);
void step_hear(const char *step);
void step_blk(const char *step);
void step_chatter(const char *step);

#endif /* SPINDLE_HOSTILE_PEER_HOSTILE_PEER_H */
