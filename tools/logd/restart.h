/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The node in a total restart of its group: attempts, the questions to other nodes over TCP, and
 * the entry into a view of the kernel. See Documentation/design/restart.rst.
 *
 *	restart.c		the loop until the node is in a view, and answers from then on
 *	restart-ask.c		questions to other nodes
 *	restart-force.c		a forced restart
 *	restart-kernel.c	the node in the kernel
 *	restart-status.c	what "spindle-ctl status" shows
 *	restart-watch.c		the group file of a node that is in a view
 *
 * Owner: main() has the one of the process. Context: the main thread; sockets never block, and the
 * files do.
 */
#ifndef SPINDLE_LOGD_RESTART_H
#define SPINDLE_LOGD_RESTART_H

#include "attempt.h"
#include "peers.h"
#include "state.h"

struct logd_opts;

/* A first view that has not formed after so long is given up: a member may be away. */
#define LOGD_FORM_MS	30000U
/* A join that has not succeeded after so long is given up. */
#define LOGD_JOIN_MS	60000U
/* A node that has joined waits so long for the range of its view. */
#define LOGD_RANGE_MS	30000U
/* The members are asked for it this often. */
#define LOGD_ASK_MS	300U
/* The kernel is asked this often whether the node is in its view. */
#define LOGD_KERNEL_MS	200U
/* A node that looks for its group asks the kernel this often whether it is in a view after all. */
#define LOGD_LOOK_MS	1000U
/* A node in a view asks the kernel this often whether view or tuning have changed. */
#define LOGD_WATCH_MS	1000U

/* Behind an error, the kernel is asked after so long. */
#define LOGD_ERROR_MS	5000U

/**
 * enum logd_kernel - the node in the kernel
 */
enum logd_kernel {
	/** @LOGD_KERNEL_ERROR: the kernel does not say so */
	LOGD_KERNEL_ERROR,
	/** @LOGD_KERNEL_NONE: it is in no view */
	LOGD_KERNEL_NONE,
	/** @LOGD_KERNEL_FORMING: its first view forms */
	LOGD_KERNEL_FORMING,
	/** @LOGD_KERNEL_JOINING: it joins a view */
	LOGD_KERNEL_JOINING,
	/** @LOGD_KERNEL_ACTIVE: it is a member of a view */
	LOGD_KERNEL_ACTIVE,
	/** @LOGD_KERNEL_STOPPED: it was a member */
	LOGD_KERNEL_STOPPED,
};

/**
 * struct logd_seat - the view of the node in the kernel
 */
struct logd_seat {
	/** @has_lineage: there is a view, and it has a lineage */
	bool has_lineage;
	/** @lineage: of the group */
	uint64_t lineage[2];
	/** @era: of the view; 0: there is none, or it has this era */
	uint64_t era;
	/** @vid: of the view; 0: there is none */
	uint64_t vid;
};

/**
 * enum logd_going - how far the node is on its way into a view
 */
enum logd_going {
	/** @LOGD_GOING_NOT: it has not begun */
	LOGD_GOING_NOT,
	/** @LOGD_GOING_ASKS: it asks a member for its view record */
	LOGD_GOING_ASKS,
	/** @LOGD_GOING_WAITS: the kernel was told, and the node is not in the view yet */
	LOGD_GOING_WAITS,
};

/**
 * struct logd_asked - a question to another node
 */
struct logd_asked {
	/** @q: the question */
	struct peer_ask q;
	/** @turn: round of the attempt */
	uint64_t turn;
	/** @place: the node */
	struct logd_place place;
	/** @address: address and port of its node in the kernel, as it says; "": unknown */
	char address[SPINDLE_RESTART_ADDRESS];
};

/**
 * struct logd_heard - a forced restart, as another node has told it
 */
struct logd_heard {
	/** @is: there is one */
	bool is;
	/** @begun: the group of the node has begun by that */
	bool begun;
	/** @node: id of the node */
	uint32_t node;
	/** @code: its code, which is the lineage that it begins */
	uint64_t code[2];
	/** @force: its contents */
	struct spindle_restart_force force;
};

/**
 * struct logd_restart - the node in a total restart
 */
struct logd_restart {
	/** @opts: command line */
	const struct logd_opts *opts;
	/** @peers: key, service, and netlink */
	struct logd_peers *peers;
	/** @stopped: a signal has ended the loop */
	bool stopped;
	/** @begun: @attempt has its memory */
	bool begun;
	/** @state: the files, which main() opens */
	struct logd_state *state;
	/** @attempt: the attempt */
	struct attempt attempt;
	/** @ask: a place for each node that is known, in the order of the nodes of @attempt */
	struct logd_asked ask[SPINDLE_MAX_MEMBERS];
	/** @record: the question for a view record */
	struct logd_asked record;
	/** @going: enum logd_going */
	uint32_t going;
	/** @going_ms: since then */
	uint64_t going_ms;
	/** @limit: with LOGD_GOING_WAITS: milliseconds after which the view is given up */
	uint32_t limit;
	/** @found: the node in the kernel when the process began */
	enum logd_kernel found;
	/** @looked_ms: when the kernel was asked last */
	uint64_t looked_ms;
	/** @look_failed: it gave no answer */
	bool look_failed;
	/** @place: address and port of the node in the kernel */
	char place[SPINDLE_RESTART_ADDRESS];
	/** @ears: where other nodes can ask this process */
	char ears[SPINDLE_RESTART_ADDRESS];
	/** @report: room for what another node says */
	struct spindle_restart_report *report;
	/** @proposal: room for what another node says */
	struct spindle_restart_proposal *proposal;
	/** @force: room for what another node says */
	struct spindle_restart_force *force;
	/** @heard: the forced restart that the node may follow */
	struct logd_heard *heard;
	/** @consents: the administrator has consented to a forced restart */
	bool consents;
	/** @consent: its code */
	uint64_t consent[2];
	/** @consent_ms: the consent is looked for then */
	uint64_t consent_ms;
	/** @moved: the node is of another lineage now */
	bool moved;
	/** @logs: the logs of this process, once the node is in a view */
	struct logd *logs;
	/** @count: how many */
	unsigned int count;
	/** @member: index of the member that is asked next for the range of a view */
	unsigned int member;
	/** @asked_ms: when one was asked last */
	uint64_t asked_ms;
	/** @watched_ms: when the kernel was asked last for the view, once the node is in one */
	uint64_t watched_ms;
	/** @watch_failed: it gave no answer */
	bool watch_failed;
	/** @told: what the administrator was told last */
	char told[400];
	/** @shown: enum attempt_state that the status file has */
	uint32_t shown;
	/** @spent: the administrator knows that no era is left */
	bool spent;
	/** @mute: the administrator knows that the status file cannot be written */
	bool mute;
	/** @shown_ms: when the status file was written last */
	uint64_t shown_ms;
};

/* restart.c */

bool logd_restart_knows(const struct logd_opts *opts);
bool logd_restart_is_due(struct logd_restart *r);
bool logd_restart_run(struct logd_restart *r, int signals);
void CTL_PRINTF(2, 3) logd_restart_tell(struct logd_restart *r, const char *fmt, ...);
void logd_restart_serve(struct logd_restart *r, struct logd *logs, unsigned int count);
void logd_restart_end(struct logd_restart *r);

/* restart-ask.c */

bool logd_restart_know(struct logd_restart *r, uint32_t node, const char *address);
struct logd_asked *logd_restart_find(struct logd_restart *r, uint32_t node);
uint32_t logd_restart_answer(void *arg, const struct peer_session *session, const uint8_t *p,
			     uint32_t len, uint8_t *reply);
void logd_restart_ask(struct logd_restart *r, uint64_t now);
unsigned int logd_restart_poll(struct logd_restart *r, struct pollfd *fd, int *ms);
void logd_restart_take(struct logd_restart *r, uint64_t now);
bool logd_restart_ask_record(struct logd_restart *r, const struct logd_place *place);
int logd_restart_take_record(struct logd_restart *r);

/* restart-force.c */

void logd_restart_heard(struct logd_restart *r, uint32_t node,
			const struct spindle_restart_force *force, bool begun);
const struct logd_heard *logd_restart_left(struct logd_restart *r);
bool logd_restart_force(struct logd_restart *r, uint64_t now);

/* restart-range.c */

void logd_restart_range_poll(struct logd_restart *r, struct pollfd *fd, int *ms);
void logd_restart_range_work(struct logd_restart *r);

/* restart-watch.c */

bool logd_restart_watch(struct logd_restart *r);

/* restart-kernel.c */

enum logd_kernel logd_kernel_look(struct logd_restart *r, struct logd_seat *seat);
bool logd_kernel_enter(struct logd_restart *r);
bool logd_kernel_join(struct logd_restart *r, const char *contact);
void logd_kernel_leave(struct logd_restart *r);
bool logd_kernel_tune(struct logd_restart *r);

/* restart-status.c */

void logd_restart_show(struct logd_restart *r, uint64_t now);

#endif /* SPINDLE_LOGD_RESTART_H */
