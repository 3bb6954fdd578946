/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator of the durable log: a writer and readers over a model disk, with crashes and
 * faults. The same seed gives the same run.
 *
 *	disk.c		the disk
 *	check.c		what was appended, and what has to be there
 *	fix.c		repair of damaged ranges, by messages of the reference
 *	sim.c		the schedule, and the program
 *
 * Owner: sim.c has the one struct sim. Context: one thread.
 */
#ifndef SPINDLE_DLOG_TEST_SIM_H
#define SPINDLE_DLOG_TEST_SIM_H

#include "disk.h"
#include "fix.h"

#define SIM_MESSAGES 4096
#define SIM_FRAMES 2048
#define SIM_SEGMENTS 24
#define SIM_RANGES 256
#define SIM_EPOCHS 256
#define SIM_LONGEST (16U << 10)
#define SIM_BUFFER (SIM_LONGEST + SPINDLE_DLOG_BLOCK_MAX)

/* A message, as the reference knows it. Its bytes follow from the key. */
struct sim_message {
	u64 key;
	u64 era;
	u64 vid;
	u64 time;
	u32 len;
	bool hurt; /* was reported as damaged */
};

/* A frame that was written, to know what of it is intact. */
struct sim_frame {
	u64 seq;
	u64 offset;
	u64 lsn;
	u64 end;
	u64 base;
	u64 acked;
	u32 bytes;
	bool intact;
	bool fix; /* was written by a repair */
	u8 *copy;
};

struct sim {
	struct rng rng;
	u64 seed;
	bool verbose;
	char failure[256];

	struct disk disk;
	struct spindle_dlog log;
	struct spindle_dlog_scan scan;
	struct spindle_dlog_config config;
	struct spindle_dlog_ident id;
	struct spindle_dlog_reader reader;
	struct spindle_dlog_reader follower; /* of this life's log */
	bool running;
	bool stop; /* the schedule cannot go on, and nothing is wrong */

	struct spindle_dlog_repair repair;
	struct spindle_dlog_range todo[SIM_RANGES]; /* damaged, when this life began */
	u32 todos;
	u64 repair_from; /* first position that the repair is to bring back */
	u64 hurts; /* how often the disk was hurt */
	u64 hurts_before; /* when the repair began */
	struct spindle_dlog_range safe; /* what was repaired last */
	u64 safe_hurts; /* what the disk was hurt by then */

	u32 map_max;
	u32 eio; /* of 1000 operations */
	bool erred; /* an operation has failed in this life */
	bool corrupts; /* this schedule hurts acknowledged bytes */
	bool hurt; /* it has */
	bool meta_hurt; /* a meta block, in this life */
	bool bad_sector;

	bool cutting; /* this schedule cuts the log */
	bool may_cut; /* a cut at @cut_to has not ended */
	u64 cut_to;
	u64 cut_base; /* of the segment that cuts */
	u64 try_seq; /* its number */
	u64 cut_seq; /* number of the segment that has cut the log last */
	u64 cut_end; /* where it has */
	bool cut_hurt; /* one of its frames was hurt since */
	bool was_cut; /* in this schedule */
	struct spindle_dlog_range fix_range; /* of the segment whose repair began last */

	u64 first; /* position of message[0] */
	struct sim_message message[SIM_MESSAGES];
	/* Messages that a scan has lost in a log that was hurt, and nothing was written since. */
	struct spindle_dlog_range gone;
	struct sim_message gone_message[SIM_MESSAGES];
	u64 next; /* position of the next one */
	u64 persisted; /* all below was reported durable */
	u64 low;
	u64 low_asked;
	u64 era;
	u64 vid;
	u64 now;
	struct sim_frame *frame;
	u32 frames;

	u8 *slot[SPINDLE_DLOG_DEPTH + 1];
	u8 *meta;
	u8 *window[4];
	u8 *fix;
	struct spindle_dlog_segment segment[2][SIM_SEGMENTS];
	struct spindle_dlog_file file[DISK_FILES];
	struct spindle_dlog_range damaged[SIM_RANGES];
	struct spindle_dlog_epoch epoch[SIM_EPOCHS];

	u64 removals, crashes, reads, damages, cuts, fulls, fails, steps, appended;
	u64 skips;
	u64 repairs, repaired, refused, unrepaired, cut_repairs;
	u64 fixes_cut, fixes_gone, cut_fixed;
};

void sim_fail(struct sim *sim, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define SIM_SAY(sim, ...) do { if ((sim)->verbose) printf("# " __VA_ARGS__); } while (0)

/* check.c */
struct sim_message *sim_message(struct sim *sim, u64 lsn);
void sim_bytes(u64 key, u8 *to, u32 len);
void sim_note_write(struct sim *sim, const struct disk_op *p);
void sim_see_progress(struct sim *sim);
void sim_check_scan(struct sim *sim);
void sim_check_live(struct sim *sim);
void sim_follow(struct sim *sim);
void sim_begin_follower(struct sim *sim);
void sim_check_time(struct sim *sim);
void sim_check_whole(struct sim *sim, u64 from, u64 to);

/* fix.c */
void sim_repair_begin(struct sim *sim);
void sim_repair(struct sim *sim);
void sim_repair_done(struct sim *sim, int err);

#endif /* SPINDLE_DLOG_TEST_SIM_H */
