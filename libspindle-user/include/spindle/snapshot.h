/* SPDX-License-Identifier: MIT */
/*
 * Snapshots: states of a program in files beside the log of a durable subgroup.
 *
 *	spindle_snapshot_create(&s, dir, "counters", subgroup);
 *	write the state to spindle_snapshot_fd(s)
 *	spindle_wait_durable(q, place.lsn, -1);
 *	spindle_snapshot_commit(s, &place);
 *
 * and in the next life
 *
 *	fd = spindle_snapshot_open(dir, "counters", subgroup, &group, &place);
 *	read the state from fd
 *	spindle_replay_open(&r, &(struct spindle_replay_opts){ .from = &place, .dir = dir, ... });
 *
 * A snapshot has a place: all messages in front of the place are in the state, and no other. The
 * files are "snap.NAME.LSN" in the directory of the log. The newest two of a program are kept. So
 * a damaged one leaves the one before, and the log keeps the messages behind that.
 *
 * Replicas do all this by themselves, see spindle_replica_opts.dir of <spindle/replica.h>.
 *
 * Conventions
 * -----------
 * Functions return 0 or more on success and a negative errno on failure. They print nothing. The
 * snapshots of one name are for one thread of one process at a time. Memory: less than 1 MiB,
 * whatever the length of a snapshot, and that of a reader of a log (<spindle/log.h>).
 */
#ifndef SPINDLE_SNAPSHOT_H
#define SPINDLE_SNAPSHOT_H

#include <spindle/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A snapshot that is being made; private to the library. */
struct spindle_snapshot;

/**
 * spindle_snapshot_create() - begin a snapshot
 * @s: the snapshot; NULL after an error
 * @dir: path of the directory of the log, which the program may write to
 * @name: of the program: small letters, digits, '-' and '_', at most 32 of them
 * @subgroup: id of the subgroup
 *
 * What an earlier call has left unfinished is removed. The file belongs to the user of this
 * process.
 *
 * Return: 0; -EINVAL: the name; -ENOMEM; or why the directory cannot be written to.
 */
SPINDLE_API int spindle_snapshot_create(struct spindle_snapshot **s, const char *dir,
					const char *name, uint32_t subgroup);

/**
 * spindle_snapshot_fd() - where the state is written to
 * @s: the snapshot
 *
 * Return: a descriptor, which belongs to @s. It stands where the state begins. The state has the
 * bytes from there up to the end of the file.
 */
SPINDLE_API int spindle_snapshot_fd(const struct spindle_snapshot *s);

/**
 * spindle_snapshot_commit() - make a snapshot the newest one of its program
 * @s: the snapshot, which is freed also after an error
 * @place: behind the last message that is in the state, of spindle_replay_place() or
 *	spindle_place()
 *
 * Reads the state once more for its checksum, and syncs the file. A caller waits before until
 * @place->lsn is durable, see spindle_wait_durable(). Otherwise a restart of the group may go on
 * without messages that are in the state, and then the snapshot is of no use.
 *
 * The log is told of the older one of the two snapshots that are kept, as with
 * spindle_log_snapshot().
 *
 * Return: 0: the snapshot is on disk; -ENOSPC: the disk is full; or another errno. After an error
 * the newest snapshot may be this one or the one before.
 */
SPINDLE_API int spindle_snapshot_commit(struct spindle_snapshot *s,
					const struct spindle_place *place);

/**
 * spindle_snapshot_abandon() - end a snapshot that nobody needs
 * @s: the snapshot, which is freed, or NULL
 */
SPINDLE_API void spindle_snapshot_abandon(struct spindle_snapshot *s);

/**
 * spindle_snapshot_open() - open the newest snapshot that the group has gone on from
 * @dir: path of the directory of the log
 * @name: of the program
 * @subgroup: id of the subgroup
 * @group: lineage and era of the group, as spindle_place() has them
 * @at: set to the place of the snapshot, with the era of the group, for spindle_replay_opts.from
 *
 * Reads the log and the snapshot once. A snapshot is passed over if its bytes do not check, if
 * messages behind it were trimmed, or if it is of another subgroup or lineage, or of a later era.
 * So is a file that anybody but root and the user of this process owns or may write to. A
 * snapshot of an earlier era counts only if the log shows that no message of a later era is in
 * front of its place.
 *
 * In a group that has begun again, call this when the log of this node is attached (see
 * spindle_log_block()). Before that, the log may have messages that the group has not gone on from.
 *
 * Return: a descriptor that stands where the state begins, and which the caller closes; -ENODATA:
 * there is no such snapshot, and @at has the position that the log begins with: if that is 0, an
 * empty state and a replay from there give the state; -EXDEV: the log is of another subgroup or
 * lineage; -EINVAL: the name; or the errors of spindle_log_open(). Of these, -ENODATA has
 * UINT64_MAX in @at: there is no log.
 */
SPINDLE_API int spindle_snapshot_open(const char *dir, const char *name, uint32_t subgroup,
				      const struct spindle_place *group, struct spindle_place *at);

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_SNAPSHOT_H */
