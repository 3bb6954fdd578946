/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of one subgroup: an attachment that reads the history, and a writer that writes what was
 * read.
 *
 * Owner: the main thread has all logs. Context: the main thread, in one loop.
 */
#ifndef SPINDLE_LOGD_LOGD_H
#define SPINDLE_LOGD_LOGD_H

#include <poll.h>
#include <spindle/spindle.h>

#include "common/util.h"
#include "io.h"
#include "log.h"
#include "peers.h"
#include "progress.h"
#include "record.h"
#include "repair.h"
#include "snapshot.h"
#include "state.h"

/* Messages that are taken at once. Giving them back may be a system call. */
#define LOGD_BATCH	256
/* In logd_opts.wait: no limit. */
#define LOGD_FOR_EVER	UINT32_MAX

/**
 * struct logd_opts - command line
 */
struct logd_opts {
	/** @dir: base directory */
	const char *dir;
	/** @device: path of the device, or NULL */
	const char *device;
	/** @segment: MiB of a segment of a new log */
	uint32_t segment;
	/** @depth: writes at once */
	uint32_t depth;
	/** @keep: bytes that the log has at most, then the oldest segment goes; 0: no limit */
	uint64_t keep;
	/** @late: a new log of a subgroup with logs may begin behind the first position */
	bool late;
	/** @go_on: also go on behind a damaged end */
	bool go_on;
	/** @snapshots: drop segments that are below all snapshots */
	bool snapshots;
	/** @threads: do not use io_uring */
	bool threads;
	/** @node: the local node */
	uint32_t node;
	/** @key_file: file of the key of the group, or NULL */
	const char *key_file;
	/** @listen: address and port for other nodes; NULL: those of the node */
	const char *listen;
	/** @peers: "none", "open", or NULL */
	const char *peers;
	/** @snap_most: bytes of all snapshots in a directory, beyond which none is fetched */
	uint64_t snap_most;
	/** @wait: seconds that a log waits for what is missing */
	uint32_t wait;
	/** @add_log: id of a subgroup that gets logs, then the process ends; NULL: none does */
	const char *add_log;
};

/**
 * struct logd_last - the last message of a log that goes on
 */
struct logd_last {
	/** @known: there is one, and it was sent to this node, too */
	bool known;
	/** @node: id of the sender's node */
	uint32_t node;
	/** @slot: index among the messages of its sender */
	uint64_t slot;
	/** @len: bytes */
	uint32_t len;
	/** @crc: CRC-32C of its bytes */
	uint32_t crc;
};

/**
 * struct logd - the log of one subgroup
 */
struct logd {
	/** @opts: command line */
	const struct logd_opts *opts;
	/** @state: files for a restart; NULL: this process keeps none */
	struct logd_state *state;
	/** @peers: other nodes, or NULL */
	struct logd_peers *peers;
	/** @catch: how the log catches up from them */
	struct logd_catch catch;
	/** @repair: how damaged ranges are repaired from them */
	struct logd_repair repair;
	/** @snapshots: what programs do not need any more */
	struct logd_snapshots snapshots;
	/** @progress: long work that is under way */
	struct logd_progress progress;
	/** @attach: what to attach to */
	struct spindle_attach_opts attach;
	/** @title: "subgroup 1 of node 2", for messages */
	const char *title;
	/** @path: directory */
	const char *path;
	/** @lock: lock file */
	int lock;
	/** @io: the directory */
	struct logd_port io;
	/** @scan: what the last life has left; the writer uses its memory */
	struct spindle_dlog_scan scan;
	/** @log: the writer */
	struct spindle_dlog log;
	/** @frame: bytes of the longest frame that a life of the log may have written */
	uint32_t frame;
	/** @max_msg: bytes of the longest message of the subgroup */
	uint32_t max_msg;
	/** @era: of the group */
	uint64_t era;
	/** @last: what the history has to have in front of the next message */
	struct logd_last last;

	/** @role: the subgroup has logs, and this one is the node's */
	bool role;
	/** @records: view records, with @role */
	struct logd_records records;
	/** @pending: the view that has no record before its range is known; no members: none */
	struct spindle_restart_view pending;
	/** @pending_ms: since then */
	uint64_t pending_ms;
	/** @reported: what the kernel was told last */
	struct spindle_log_report reported;

	/** @q: attachment */
	struct spindle_queue q;
	/** @msg: messages that were taken */
	struct spindle_msg msg[LOGD_BATCH];
	/** @at: the first of them that is not in the log */
	unsigned int at;
	/** @n: how many were taken */
	unsigned int n;
	/** @vid: view in which the next message was delivered */
	uint64_t vid;
	/** @blocked: the log takes no message until an operation ends */
	bool blocked;
	/** @hung_up: the attachment is final */
	bool hung_up;
	/** @reading: messages may come */
	bool reading;
	/** @broken: the frame that is being filled has bytes that nobody may believe */
	bool broken;
	/** @failed: a sentence has said why the process ends */
	bool failed;
	/** @told: enum spindle_dlog_state that the administrator knows */
	uint32_t told;
	/** @told_ms: when this was said */
	uint64_t told_ms;
	/** @space_ms: when the log looked for space last */
	uint64_t space_ms;
	/** @busy_ms: @now_ms of the pass in which a message was appended last */
	uint64_t busy_ms;
	/** @wall_ns: the wall clock when logd_work() began */
	uint64_t wall_ns;
	/** @now_ms: the monotonic clock when logd_reap() began */
	uint64_t now_ms;
};

unsigned int logd_find(uint32_t node, char ***names);
bool logd_open(struct logd *l, const struct logd_opts *opts, const char *subgroup);
bool logd_attach(struct logd *l, const struct spindle_place *from);
bool logd_begin_again(struct logd *l);
bool logd_begin_reading(struct logd *l, bool next);
bool logd_role_open(struct logd *l);
bool logd_view_begins(struct logd *l, uint64_t base, bool next, bool first);
void logd_report(struct logd *l);
bool logd_take_range(struct logd *l, const struct spindle_restart_keep *other);
bool logd_append(struct logd *l, const struct spindle_dlog_msg *m);
void logd_work(struct logd *l);
void logd_reap(struct logd *l);
void logd_stop(struct logd *l);
bool logd_is_done(struct logd *l);
bool logd_close(struct logd *l);
int logd_timeout(const struct logd *l);
void logd_poll_set(const struct logd *l, struct pollfd fd[2]);
void logd_poll_get(struct logd *l, const struct pollfd fd[2]);
void logd_say(const struct logd *l, const char *fmt, ...) CTL_PRINTF(2, 3);
bool logd_fail(struct logd *l, const char *fmt, ...) CTL_PRINTF(2, 3);

#endif /* SPINDLE_LOGD_LOGD_H */
