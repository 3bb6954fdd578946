/* SPDX-License-Identifier: MIT */
/*
 * Read a durable log: the messages of a subgroup that spindle-logd keeps in a directory.
 *
 *	spindle_log_open(&log, "/var/lib/spindle/1/0", 0);
 *	while ((n = spindle_log_read(log, &m)) == 1)
 *		m.len bytes at m.data
 *	spindle_log_close(log);
 *
 * Nothing is ever written. Another process may write the log in the meantime, or trim it.
 * Documentation/design/log.rst has the format.
 *
 * Positions: each message has one, and they grow by one. The log has the positions from
 * spindle_log_info.low up to spindle_log_info.next, without the latter.
 *
 * Conventions
 * -----------
 * Functions return 0 or a count on success and a negative errno on failure. They print nothing.
 *
 * Threads: the functions of one log are for one thread at a time. Two logs, also of one directory,
 * have nothing in common.
 *
 * Memory: a reader has a buffer as long as a segment of the log, SPINDLE_LOG_BUFFER at most, and up
 * to three of them while it reads all of the log. A file in the directory costs less than 200
 * bytes, and there may be SPINDLE_LOG_FILES of them. The time has no such bound: files that
 * somebody has made for that purpose take very long to read.
 */
#ifndef SPINDLE_LOG_H
#define SPINDLE_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** SPINDLE_LOG_DURABLE - for spindle_log_open(): end at spindle_log_info.acked */
#define SPINDLE_LOG_DURABLE	(1U << 0)

/** SPINDLE_LOG_OTHER - in spindle_log_msg.flags: a message for other members, without bytes */
#define SPINDLE_LOG_OTHER	(1U << 0)

/** SPINDLE_LOG_FILES - files of a log that one directory may have */
#define SPINDLE_LOG_FILES	(1U << 20)

/** SPINDLE_LOG_BUFFER - bytes of the largest buffer; no frame of a log is longer */
#define SPINDLE_LOG_BUFFER	(SPINDLE_MAX_MSG + (1U << 20))

/** SPINDLE_LOG_RANGES - damaged ranges that are listed; further ones are only counted */
#define SPINDLE_LOG_RANGES	4096U

/** SPINDLE_LOG_EPOCHS - epochs that are listed; further ones are only counted */
#define SPINDLE_LOG_EPOCHS	4096U

/* A reader of a log; private to the library. */
struct spindle_log;

/**
 * struct spindle_log_info - what a log is
 */
struct spindle_log_info {
	/** @lineage: of the group, see spindle-ctl(8) */
	uint8_t lineage[16];
	/** @subgroup: id of the subgroup */
	uint32_t subgroup;
	/** @node: id of the node that has written the log */
	uint32_t node;
	/** @low: position of the first message that is kept */
	uint64_t low;
	/** @next: position behind the last message */
	uint64_t next;
	/**
	 * @acked: all below was durable, as the log says of itself. A crash of the machine may take
	 * away what is at this position and behind it
	 */
	uint64_t acked;
	/** @time: nanoseconds of the wall clock when the newest message was written; 0: never */
	uint64_t time;
	/** @bytes: length of the files with messages */
	uint64_t bytes;
	/** @segment: length of each of them */
	uint32_t segment;
	/** @segments: how many there are */
	uint32_t segments;
	/** @damaged: ranges of positions whose messages are lost */
	uint32_t damaged;
	/** @epochs: views in which the messages were delivered */
	uint32_t epochs;
	/** @resv: 0 */
	uint64_t resv[4];
};

/**
 * struct spindle_log_epoch - a view in which messages were delivered
 */
struct spindle_log_epoch {
	/** @era: of the view */
	uint64_t era;
	/** @vid: id of the view */
	uint64_t vid;
	/** @lsn: position of its first message in the log, or of a later one if that is damaged */
	uint64_t lsn;
};

/**
 * struct spindle_log_msg - a message, or a damaged range
 */
struct spindle_log_msg {
	/** @lsn: its position; first position of a damaged range */
	uint64_t lsn;
	/** @next: position behind the message; position behind a damaged range */
	uint64_t next;
	/** @era: of the view in which it was delivered */
	uint64_t era;
	/** @vid: id of this view */
	uint64_t vid;
	/** @time: when it was written, in nanoseconds of the wall clock; never less than before */
	uint64_t time;
	/** @slot: index among the messages of its sender */
	uint64_t slot;
	/** @node: id of the sender's node */
	uint32_t node;
	/** @sender: rank of the sender in the view */
	uint32_t sender;
	/** @flags: of the writer */
	uint32_t flags;
	/** @len: bytes at @data */
	uint32_t len;
	/** @data: the bytes, valid until the next call with this log; no promise of alignment */
	const void *data;
};

/**
 * spindle_log_open() - open the log in a directory
 * @log: the reader; NULL after an error
 * @dir: path of the directory
 * @flags: SPINDLE_LOG_DURABLE, or 0
 *
 * Reads all of the log once, so this takes as long as the disk needs for that; damage is
 * looked at twice. The reader is at the first message that is kept.
 *
 * Return: 0; -ENODATA: there is no log; -EUCLEAN: there are messages, and no meta block checks;
 * -E2BIG: more than SPINDLE_LOG_FILES files; -EBUSY: the log changes faster than it can be read;
 * -EINVAL: unknown flags; -ENOMEM; or why the directory or a file cannot be read.
 */
SPINDLE_API int spindle_log_open(struct spindle_log **log, const char *dir, unsigned int flags);

/**
 * typedef spindle_log_tell_fn - how far spindle_log_open_tell() is
 * @arg: as given
 * @done: bytes of files that were read; they begin again at 0 when damage is looked at twice
 * @total: bytes of the files of the log, never 0
 *
 * Called from the thread that opens the log, and not more than once for each read.
 */
typedef void (*spindle_log_tell_fn)(void *arg, uint64_t done, uint64_t total);

/**
 * spindle_log_open_tell() - open the log in a directory, and say how far that is
 * @log: the reader; NULL after an error
 * @dir: path of the directory
 * @flags: as for spindle_log_open()
 * @tell: called while the log is read, and not later than that
 * @arg: for @tell
 *
 * Return: as spindle_log_open().
 */
SPINDLE_API int spindle_log_open_tell(struct spindle_log **log, const char *dir,
				      unsigned int flags, spindle_log_tell_fn tell, void *arg);

/**
 * spindle_log_close() - close a reader
 * @log: the reader, or NULL
 */
SPINDLE_API void spindle_log_close(struct spindle_log *log);

/**
 * spindle_log_refresh() - see what was written and trimmed since
 * @log: the reader, which stays at its position
 *
 * Reads the newest segment that the reader knows and those behind it. All of the log is read only
 * if other segments have changed, as after a repair. Damage that has come to these since is found
 * by spindle_log_read(), and not listed before.
 *
 * A restart of the group may cut a log and write other messages to positions that the reader has
 * passed. This is found while the log still has the segment that the cut has made, or a later one
 * that begins in front of the reader's position. The reader goes back to the beginning of the first
 * of these, or to the end of the log. A repair that makes a new segment at the damaged end of a log
 * has the same effect.
 *
 * Return: 0; -ERANGE: the log was cut in front of the reader, which went back and knows the log as
 * it is now; -EXDEV: another log is in the directory now; or the errors of spindle_log_open().
 * After the errors other than -ERANGE the reader knows what it knew before.
 */
SPINDLE_API int spindle_log_refresh(struct spindle_log *log);

/**
 * spindle_log_info() - what the log is
 * @log: the reader
 * @info: filled; as of the last spindle_log_refresh()
 */
SPINDLE_API void spindle_log_info(const struct spindle_log *log, struct spindle_log_info *info);

/**
 * spindle_log_damaged() - a range of positions whose messages are lost
 * @log: the reader
 * @i: its number, in order of positions
 * @from: set to its first position
 * @to: set to the position behind it
 *
 * Return: 0; -ENOENT: there are fewer, or they are only counted.
 */
SPINDLE_API int spindle_log_damaged(const struct spindle_log *log, uint32_t i, uint64_t *from,
				    uint64_t *to);

/**
 * spindle_log_epoch() - a view in which messages were delivered
 * @log: the reader
 * @i: its number, the oldest one is 0
 * @epoch: filled
 *
 * Return: 0; -ENOENT: there are fewer, or they are only counted.
 */
SPINDLE_API int spindle_log_epoch(const struct spindle_log *log, uint32_t i,
				  struct spindle_log_epoch *epoch);

/**
 * spindle_log_seek() - go to a position
 * @log: the reader
 * @lsn: position of the message that is read next
 *
 * Return: 0; -ESTALE: it was trimmed; -ERANGE: it is behind the end of the log. After an error the
 * reader stays where it was.
 */
SPINDLE_API int spindle_log_seek(struct spindle_log *log, uint64_t lsn);

/**
 * spindle_log_find_time() - go to the first message that is not older than a time
 * @log: the reader
 * @ns: nanoseconds of the wall clock
 *
 * Messages that were written together have one time. Damaged ones have none.
 *
 * Return: 0, also if all messages are older, with the reader at the end; or the errors of
 * spindle_log_refresh(). After an error the reader stays where it was.
 */
SPINDLE_API int spindle_log_find_time(struct spindle_log *log, uint64_t ns);

/**
 * spindle_log_read() - read the next message
 * @log: the reader
 * @m: filled
 *
 * If a file has gone that the log had, this does what spindle_log_refresh() does, and goes on.
 *
 * Return: 1; 0 at the end; -EUCLEAN: the messages from @m->lsn up to @m->next are lost, and the
 * next call goes on at @m->next; -ESTALE: the message was trimmed, seek to spindle_log_info.low; or
 * the errors of spindle_log_refresh(). After -ERANGE the next call reads where the log was cut.
 */
SPINDLE_API int spindle_log_read(struct spindle_log *log, struct spindle_log_msg *m);

/**
 * spindle_log_snapshot() - say that a program needs no message below a position any more
 * @dir: path of the directory of the log, which the program may write to
 * @name: of the program: small letters, digits, '-' and '_', at most 32 of them
 * @place: what is in front of it is in a snapshot of the program, or in no need of one
 *
 * Durable when this returns. spindle-logd(8) tells the kernel of the smallest snapshot, and drops
 * whole segments below it if its administrator wants that. A program that does not come back leaves
 * the file "snapshot.NAME" in the directory, and nothing above its position is dropped until
 * somebody removes the file.
 *
 * Return: 0; -EINVAL: the name; -ESTALE: the program has said a later position; or why the
 * directory cannot be written to. After another error than these two, the old or the new position
 * may be the one that counts.
 */
SPINDLE_API int spindle_log_snapshot(const char *dir, const char *name,
				     const struct spindle_place *place);

/**
 * spindle_log_trim() - ask for the end of the messages below a position
 * @dir: path of the directory of the log
 * @place: the position, and the group that it is of
 *
 * The process that writes the log drops them, or does so when it begins. What is not on disk yet is
 * never dropped.
 *
 * Return: 0; -ESTALE: a later position was said; or why the directory cannot be written to.
 */
SPINDLE_API int spindle_log_trim(const char *dir, const struct spindle_place *place);

/**
 * spindle_log_repair() - ask for the repair of a damaged range
 * @dir: path of the directory of the log
 * @place: the first damaged position, and the group that it is of
 *
 * The process that writes the log asks the logs of other nodes for the messages. It removes the
 * file "repair" from the directory when it has done what it can do now. A later call replaces the
 * request of an earlier one.
 *
 * Return: 0; or why the directory cannot be written to.
 */
SPINDLE_API int spindle_log_repair(const char *dir, const struct spindle_place *place);

/**
 * spindle_log_strerror() - say what an error means
 * @err: what a function returned
 *
 * Return: a constant string.
 */
SPINDLE_API const char *spindle_log_strerror(int err);

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_LOG_H */
