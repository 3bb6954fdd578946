/* SPDX-License-Identifier: MIT */
/*
 * What the files of libspindle-dds share. Programs use <spindle/dds.h> alone.
 *
 *	participant.c	open, close, the directory, and records that come back
 *	lane.c		attachments to the subgroups of topics
 *	writer.c	samples in the ring of the local sender
 *	reader.c	samples that match
 */
#ifndef SPINDLE_DDS_INTERNAL_H
#define SPINDLE_DDS_INTERNAL_H

#include <spindle/spindle.h>

#include "core.h"

/* Bytes of the words of an error. */
#define WHY_BYTES	256U
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

struct spindle_dds {
	struct spindle_dds_opts opts;
	struct spindle_queue q;		/* the control subgroup */
	bool attached;
	uint64_t incarnation;
	uint32_t number;		/* of the last ADD */
	struct awaited awaited;
	struct spindle_dds_directory *directory;
	struct lane *lanes;
	struct spindle_dds_writer *writers;
	struct spindle_dds_reader *readers;
	bool look;			/* a participant may have gone with its node */
	uint64_t said[SPINDLE_DDS_PARTICIPANTS];	/* ids that GONE was said of, by entry */
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

struct spindle_dds_reader {
	struct spindle_dds *p;
	struct spindle_dds_reader *next;
	struct spindle_queue q;
	uint64_t id;
	struct spindle_msg msg[BATCH];	/* taken from the ring, and not given back */
	unsigned int n, at;		/* how many, and the next one to look at */
	int64_t ahead_since;		/* ms; 0: the directory has what it needs */
	uint64_t foreign;		/* messages that no honest participant has sent */
};

/* participant.c */
int dds_fail(struct spindle_dds *p, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int64_t dds_now(void);
int dds_say(struct spindle_dds *p, const struct spindle_dds_record *record);
int dds_add(struct spindle_dds *p, const struct spindle_dds_topic *topic,
	    const struct spindle_dds_qos *qos, bool writer, uint64_t *id);
void dds_remove(struct spindle_dds *p, uint64_t id);

/* lane.c */
int dds_attach(struct spindle_dds *p, struct spindle_queue *q,
	       const struct spindle_dds_topic *topic, const struct spindle_dds_qos *qos,
	       uint32_t flags);
int lane_get(struct spindle_dds *p, const struct spindle_dds_topic *topic,
	     const struct spindle_dds_qos *qos, struct lane **out);
void lane_put(struct spindle_dds *p, struct lane *lane);

#endif /* SPINDLE_DDS_INTERNAL_H */
