// SPDX-License-Identifier: GPL-2.0-only
/*
 * Link: the share of a group or stream in a lane. See link.h.
 */
#include "lane.h"
#include "link.h"
#include "pinned.h"

/**
 * spindle_link_due() - is the lane up, and does the link have no regions yet?
 * @link: the link
 *
 * Context: process, the namespace's lock.
 * Return: true if so
 */
bool spindle_link_due(const struct spindle_link *link)
{
	const struct spindle_lane *lane = link->lane;

	return lane && !READ_ONCE(link->ready) && !READ_ONCE(lane->lost) &&
	       READ_ONCE(lane->joined);
}

/**
 * spindle_link_prepare() - allocate the memory regions for grants
 * @link: the link; spindle_link_due() is true
 * @source: the other end may send blocks to us
 *
 * Context: process, the namespace's lock.
 * Return: 0 or -errno
 */
int spindle_link_prepare(struct spindle_link *link, bool source)
{
	/* One page more, because a block may begin within a page. */
	return source ? spindle_lane_prepare(link, (link->r->cfg.block >> PAGE_SHIFT) + 1) : 0;
}

/**
 * spindle_link_room() - room of struct spindle_rdmc_ops
 * @r: group or stream
 * @m: rank
 *
 * Return: true if a message, a grant or a block can go to the member now
 */
bool spindle_link_room(struct spindle_rdmc *r, u32 m)
{
	const struct spindle_lane *lane = spindle_link_to(r, m)->lane;

	return lane->joined && !lane->lost && spindle_bulk_room(&lane->bulk);
}

/**
 * spindle_link_say() - say of struct spindle_rdmc_ops
 * @r: group or stream
 * @m: rank
 * @msg: message
 */
void spindle_link_say(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	struct spindle_link *link = spindle_link_to(r, m);

	link->said = spindle_bulk_say(&link->lane->bulk, msg);
}

/**
 * spindle_link_grant() - grant of struct spindle_rdmc_ops
 * @r: group or stream
 * @m: rank
 * @g: number of the grant
 * @mem: struct spindle_pinned
 * @block: block of it
 * @len: its bytes
 * @msg: message that announces the grant, to be completed
 */
void spindle_link_grant(struct spindle_rdmc *r, u32 m, u32 g, void *mem, u32 block, u32 len,
			struct spindle_rdmc_msg *msg)
{
	const struct spindle_pinned *pinned = mem;
	struct spindle_link *link = spindle_link_to(r, m);
	const struct sg_table *sgt = &pinned->block[block];
	struct spindle_bulk *bulk = &link->lane->bulk;
	struct ib_mr *mr = link->mr[g];
	u32 number;
	int n;

	if (!mr) {
		spindle_conn_fail(&bulk->conn, "the peer is not a source of this member");
		return;
	}
	/* A new key for each grant, so that the last key gives no rights any more. */
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	n = ib_map_mr_sg(mr, sgt->sgl, sgt->nents, NULL, PAGE_SIZE);
	if (n != sgt->nents || mr->length != len) {
		spindle_conn_fail(&bulk->conn, "the device cannot map a block");
		return;
	}
	/* Hide the address from the peer, but keep the offset in the page for the device. */
	mr->iova = offset_in_page(mr->iova);
	link->turn[g]++;
	number = (u32)link->turn[g] << 16 | (link->index * SPINDLE_RDMC_GRANTS + g);
	msg->w[1] = mr->iova;
	msg->w[2] = mr->rkey | (u64)number << 32;
	link->said = spindle_bulk_grant(bulk, mr, msg);
}

static void revoked(void *ctx, u64 g)
{
	struct spindle_link *link = ctx;

	spindle_rdmc_revoked(link->r, link->m, g);
}

/**
 * spindle_link_revoke() - revoke of struct spindle_rdmc_ops
 * @r: group or stream
 * @m: rank
 * @g: number of the grant
 */
void spindle_link_revoke(struct spindle_rdmc *r, u32 m, u32 g)
{
	struct spindle_link *link = spindle_link_to(r, m);
	struct spindle_keys_job job = { .done = revoked, .ctx = link, .arg = g };

	spindle_bulk_revoke(&link->lane->bulk, link->mr[g], &job);
}

static void written(void *ctx, u64 object)
{
	spindle_rdmc_written(ctx, object);
}

/**
 * spindle_link_write() - write of struct spindle_rdmc_ops
 * @r: group or stream
 * @m: rank
 * @object: number of the object
 * @mem: struct spindle_pinned
 * @block: block of it
 * @len: its bytes
 * @grant: the grant to write to
 */
void spindle_link_write(struct spindle_rdmc *r, u32 m, u64 object, void *mem, u32 block, u32 len,
			const struct spindle_rdmc_grant *grant)
{
	const struct spindle_pinned *pinned = mem;
	struct spindle_bulk_job job = {
		.done = written,
		.ctx = r,
		.arg = object,
		.anyway = true,
	};

	spindle_bulk_write(&spindle_link_to(r, m)->lane->bulk, &pinned->block[block], grant->addr,
			   grant->key, grant->number, &job);
}

/**
 * spindle_link_flushed() - flushed of struct spindle_rdmc_ops
 * @r: group or stream
 * @m: rank
 *
 * Return: true if all messages have arrived, or the lane is lost
 */
bool spindle_link_flushed(struct spindle_rdmc *r, u32 m)
{
	const struct spindle_link *link = spindle_link_to(r, m);

	return link->lane->lost || spindle_bulk_acked(&link->lane->bulk, link->said);
}
