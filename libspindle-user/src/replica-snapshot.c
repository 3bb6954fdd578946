// SPDX-License-Identifier: MIT
/*
 * A replica saves its state beside the log, for the next process of this node. No other replica has
 * a part in this.
 *
 * The child that saves has the file on disk when it ends. The file gets its name when all messages
 * in the state are durable, because a restart of the group may go on without later ones.
 */
#include <errno.h>
#include <sys/mman.h>

#include "internal.h"
#include "replica.h"

/* Of the memory that the child shares. */
#define SHARED	4096U

static int save(struct spindle_replica *r, int fd, uint64_t lsn)
{
	int err = r->ops.save(r->ctx, fd, lsn);

	if (!err)
		err = spindle_snapshot_seal(r->keeper.s, &r->keeper.at);
	if (!err)
		*r->keeper.sealed = true;
	return err > 0 ? -EINVAL : err;
}

static int begin(struct spindle_replica *r)
{
	struct keeper *k = &r->keeper;
	int err = spindle_replica_place(r, &k->at);
	void *shared;

	if (err)
		return err;
	shared = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return -errno;
	k->sealed = shared;
	err = spindle_snapshot_create(&k->s, r->restore.dir, r->restore.program,
				      r->q.subgroup);
	if (err)
		return err;
	if (!(r->opts.flags & SPINDLE_REPLICA_NO_FORK))
		return replica_fork(r, spindle_snapshot_fd(k->s), save, k->at.lsn, &k->child);
	k->look_at = replica_now();
	replica_wake(r);
	return save(r, spindle_snapshot_fd(k->s), k->at.lsn);
}

/* End a snapshot, well or not. A child that still saves ends, too. */
void keeper_end(struct spindle_replica *r, int error)
{
	struct keeper *k = &r->keeper;

	replica_kill(r, &k->child);
	if (k->sealed)
		munmap(k->sealed, SHARED);
	spindle_snapshot_abandon(k->s);
	*k = (struct keeper){ .child = -1 };
	if (error)
		r->st.error = error;
}

int spindle_replica_snapshot(struct spindle_replica *r)
{
	int err;

	if (!replica_has_log(r))
		return -EOPNOTSUPP;
	if (r->st.state != SPINDLE_REPLICA_CURRENT || r->keeper.s)
		return -EBUSY;
	err = begin(r);
	if (err)
		keeper_end(r, err);
	return err;
}

static void publish(struct spindle_replica *r)
{
	struct keeper *k = &r->keeper;
	int err = spindle_snapshot_publish(k->s, &k->at);

	k->s = NULL;
	keeper_end(r, err);
	r->st.snapshots += !err;
	replica_changed(r);
}

/* Go on with a snapshot, as far as that is possible now. */
void keeper_run(struct spindle_replica *r)
{
	struct keeper *k = &r->keeper;

	if (!k->s)
		return;
	if (k->child >= 0) {
		if (!replica_ended(r, &k->child))
			return;
		if (!*k->sealed) {
			keeper_end(r, -EIO);
			replica_changed(r);
			return;
		}
	}
	if (spindle_durable(&r->q) >= k->at.lsn)
		publish(r);
	else
		k->look_at = replica_now() + PAUSE_MS;
}
