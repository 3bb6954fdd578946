/* SPDX-License-Identifier: MIT */
/*
 * What the files of libspindle-dds share. Programs use <spindle/dds.h> alone.
 *
 *	participant.c	open, close, options
 *	control.c	the control subgroup: a replica of the directory, and own records
 *	watch.c		heartbeats, and participants that have gone without a word
 *	list.c		what the directory says of topics, writers and readers
 *	lane.c		attachments to the subgroups of topics
 *	writer.c	samples in the ring of the local sender
 *	reader.c	samples that match
 *	late.c		the last samples of each key, for a reader that comes late
 *
 * Owner: a participant has its lanes, writers and readers. Context: the thread of the caller, but
 * for heartbeats and for dds_load().
 */
#ifndef SPINDLE_DDS_INTERNAL_H
#define SPINDLE_DDS_INTERNAL_H

#include <pthread.h>
#include <spindle/replica.h>
#include <spindle/spindle.h>

#include "core.h"

/* Bytes of the words of an error. */
#define WHY_BYTES	512U
/* Messages that are taken from the ring at once. */
#define BATCH		64U

/* The local sender of a subgroup, for all writers of the participant. */
struct lane {
	struct lane *next;
	char name[SPINDLE_DDS_SUBGROUP];
	struct spindle_queue q;
	uint32_t writers;
};

/* A record of this participant that has to come back. */
struct awaited {
	bool on;
	uint32_t kind;
	uint32_t number;	/* of ADD */
	enum spindle_dds_outcome outcome;
	uint64_t id;		/* one more than its position */
};

/* When a participant was heard last. */
struct heard {
	uint64_t id;		/* of the participant; 0: nothing was heard in this entry */
	int64_t at;		/* ms */
	bool said;		/* this participant has said GONE of it */
};

struct spindle_dds {
	struct spindle_dds_opts opts;
	uint64_t incarnation;
	uint64_t id;			/* own one in the directory; 0: HELLO did not come back */
	bool lost;			/* others have said GONE of this one */
	struct spindle_replica *replica;
	struct spindle_dds_directory *directory;
	struct spindle_dds_directory *fresh;	/* of dds_load(), until the replica goes on */
	bool loaded;			/* @fresh is the state of the replica */
	int applied;			/* records of this call of spindle_dds_work() */
	uint32_t number;		/* of the last ADD */
	struct awaited awaited;
	struct heard heard[SPINDLE_DDS_PARTICIPANTS];	/* by entry of the directory */
	pthread_t beat;
	bool beats;			/* @beat runs */
	int stop;			/* eventfd that ends it; -1: none */
	struct lane *lanes;
	struct spindle_dds_writer *writers;
	struct spindle_dds_reader *readers;
	char why[WHY_BYTES];
};

struct spindle_dds_writer {
	struct spindle_dds *p;
	struct spindle_dds_writer *next;
	struct lane *lane;
	struct spindle_dds_head head;	/* of the next sample */
	uint32_t max_bytes;
	bool keyed;
	bool begun;			/* @slot has a sample */
	struct spindle_slot slot;
};

/* A reader that came late, and has not handed out all that it found in the history. */
struct late {
	uint64_t end;			/* position behind the history at the attach */
	bool full;			/* all of it was read */
	struct spindle_dds_cache cache;
	struct spindle_dds_cached *given;	/* samples of the last take, @givens of them */
	unsigned int givens, room;
};

struct spindle_dds_reader {
	struct spindle_dds *p;
	struct spindle_dds_reader *next;
	struct spindle_queue q;
	uint64_t id;
	struct spindle_msg msg[BATCH];	/* taken from the ring, and not given back */
	unsigned int n, at;		/* how many, and the next one to look at */
	int64_t ahead_since;		/* ms; 0: the directory has what it needs */
	uint64_t wrong;			/* messages that no honest participant has sent */
	struct late *late;		/* or NULL */
};

/* participant.c */
int dds_fail(struct spindle_dds *p, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int64_t dds_now(void);

/* control.c */
extern const struct spindle_replica_ops dds_replica_ops;
int dds_say(struct spindle_dds *p, const struct spindle_dds_record *record);
int dds_say_and_wait(struct spindle_dds *p, const struct spindle_dds_record *record);
int dds_wait(struct spindle_dds *p, int events, int64_t end);
int dds_is_lost(struct spindle_dds *p);
int dds_check(struct spindle_dds *p, const struct spindle_dds_topic *topic,
	      const struct spindle_dds_qos *qos);
int dds_add(struct spindle_dds *p, const struct spindle_dds_topic *topic,
	    const struct spindle_dds_qos *qos, bool writer, uint64_t *id);
void dds_remove(struct spindle_dds *p, uint64_t id);

/* watch.c */
int dds_beat_begin(struct spindle_dds *p);
void dds_beat_end(struct spindle_dds *p);
void dds_heard(struct spindle_dds *p, uint32_t node);
void dds_look(struct spindle_dds *p);

/* list.c */
void dds_status(const struct spindle_dds *p, uint64_t id, struct spindle_dds_status *st);

/* lane.c */
int dds_attach(struct spindle_dds *p, struct spindle_queue *q,
	       const struct spindle_dds_topic *topic, const struct spindle_dds_qos *qos,
	       uint32_t flags);
int lane_get(struct spindle_dds *p, const struct spindle_dds_topic *topic,
	     const struct spindle_dds_qos *qos, struct lane **out);
void lane_put(struct spindle_dds *p, struct lane *lane);

/* late.c */
int late_begin(struct spindle_dds_reader *r, uint32_t depth);
void late_end(struct spindle_dds_reader *r);
int late_put(struct spindle_dds_reader *r, const struct spindle_msg *m,
	     const struct spindle_dds_head *head);
int late_take(struct spindle_dds_reader *r, struct spindle_dds_sample *s, unsigned int most);

#endif /* SPINDLE_DDS_INTERNAL_H */
