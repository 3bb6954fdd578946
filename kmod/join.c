// SPDX-License-Identifier: GPL-2.0-only
/*
 * Join: how a node becomes a member of a live view. See join.h.
 */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core/rules.h"
#include "door.h"
#include "event.h"
#include "fabric/ask.h"
#include "group.h"
#include "hello.h"
#include "join.h"
#include "live.h"
#include "node.h"
#include "peer.h"

/* A join that has not come to its end by then has failed. */
#define JOIN_MS		20000
/* Between two attempts to get an answer. */
#define AGAIN_MS	200
/* How often it is looked whether the node is in. */
#define LOOK_MS		10
/* How often the contact is asked whether it has gone on without this node. */
#define CHECK_MS	500

enum join_state {
	JOIN_ASKING,
	JOIN_CONNECTING,
};

/**
 * struct spindle_join - see join.h
 * @node: the node
 * @ask: asks the contact; it and @chore take turns
 * @chore: the steps, with the namespace's lock
 * @state: enum join_state
 * @stop: nobody wants it any more
 * @begun: when it began, ktime
 * @checked: when the contact was asked last, ktime
 * @err: what came of asking for the card
 * @digest: of the view that is being joined
 * @checking: @ask looks whether the contact has that view
 * @other: it has another one
 * @stale: it had another one the time before
 * @contact: whom to ask
 * @reason: why it takes so long, or has failed; a constant string
 * @card: room for a card
 * @view: of the card
 * @rules: of the card
 */
struct spindle_join {
	struct spindle_node *node;
	struct delayed_work ask;
	struct spindle_chore chore;
	enum join_state state;
	bool stop;
	u64 begun;
	u64 checked;
	int err;
	u64 digest;
	bool checking;
	bool other;
	bool stale;
	struct spindle_addr contact;
	const char *reason;
	u8 *card;
	struct spindle_view view;
	struct spindle_rules rules;
};

/* ---- asking ------------------------------------------------------------- */

/* Will another attempt have the same answer? */
static bool final(u32 refusal)
{
	switch (refusal) {
	case SPINDLE_REFUSE_NOT_SPINDLE:
	case SPINDLE_REFUSE_VERSION:
	case SPINDLE_REFUSE_CLUSTER:
	case SPINDLE_REFUSE_KEY:
		return true;
	default:
		return false;
	}
}

static const char *ask_text(int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return "the contact does not answer";
	case -ECONNREFUSED:
	case -EPROTO:
		return "the contact is no spindle node";
	default:
		return "the contact cannot be reached";
	}
}

/* One part of the card, from @from on. Returns its length, or -errno; -EPERM: give up. */
static int ask_part(struct spindle_join *join, u32 from, u64 *digest, u32 *total)
{
	struct spindle_node *node = join->node;
	struct spindle_addr own = node->addr;
	struct spindle_answer answer;
	struct spindle_ask ask = { .net = node->net, .stop = &join->stop };
	struct spindle_hello hello;
	u32 code, len;
	int err;

	own.port = 0;
	spindle_sockaddr(&ask.src, &own);
	spindle_sockaddr(&ask.dst, &join->contact);
	spindle_hello_node(&hello, node);
	hello.flags |= SPINDLE_HELLO_F_ASK;
	hello.incarnation = cpu_to_le64(from);
	spindle_hello_seal(&hello, node, SPINDLE_KEY_PRESENT);
	memcpy(ask.hello, &hello, sizeof(hello));
	err = spindle_ask(&ask);
	if (err) {
		join->reason = ask_text(err);
		return err;
	}
	code = be32_to_cpu(ask.answer.code);
	if (code != SPINDLE_REJECT_ANSWER) {
		join->reason = spindle_refusal_text(code);
		return final(code) ? -EPERM : -EAGAIN;
	}
	memcpy(&answer, ask.answer.data, sizeof(answer));
	if (!spindle_answer_proven(&answer, &node->key, ask.hello)) {
		join->reason = "the contact has another key";
		return -EPERM;
	}
	len = le32_to_cpu(answer.len);
	*digest = le64_to_cpu(answer.digest);
	*total = le32_to_cpu(answer.total);
	if (ask.answer.len < sizeof(answer) || !len || len > sizeof(answer.data) ||
	    *total > spindle_card_max() || from + len > *total) {
		join->reason = "the contact's answer makes no sense";
		return -EPERM;
	}
	memcpy(join->card + from, answer.data, len);
	return len;
}

/* The card, all of it of one view. Returns 0, or -errno; -EPERM: give up. */
static int ask_card(struct spindle_join *join)
{
	u64 digest, now;
	u32 at = 0, total;
	int n;

	do {
		n = ask_part(join, at, &now, &total);
		if (n < 0)
			return n;
		/* It has gone on in the middle of the answer. */
		if (at && now != digest)
			return -EAGAIN;
		digest = now;
		at += n;
	} while (at < total);
	join->reason = spindle_card_read((const void *)join->card, total, &join->view,
					 &join->rules);
	return join->reason ? -EPERM : 0;
}

/* ---- steps; with the lock ------------------------------------------------ */

static bool in_time(const struct spindle_join *join)
{
	return ktime_get_ns() - join->begun < JOIN_MS * (u64)NSEC_PER_MSEC;
}

static void end(struct spindle_join *join)
{
	/* It has had its turn, but may be on its way out. */
	cancel_delayed_work_sync(&join->ask);
	join->node->join = NULL;
	kvfree(join->card);
	kvfree(join);
}

static void fail(struct spindle_join *join)
{
	struct spindle_node *node = join->node;

	if (node->group)
		spindle_node_drop_view(node);
	/* The event can be missed; this stays for who asks later. */
	node->why = join->reason ? join->reason : "it took too long";
	spindle_event(node, SPINDLE_EVENT_JOIN_FAILED, &(struct spindle_event_info){
		.reason = node->why,
	});
	node->sn->generation++;
	end(join);
}

static int enter(struct spindle_join *join)
{
	const struct spindle_card *card = (const void *)join->card;
	struct spindle_node *node = join->node;
	struct spindle_group *group;
	struct mem_cgroup *before;

	if (spindle_view_rank(&join->view, node->id) >= 0) {
		join->reason = "the view has a member with this id";
		return -EAGAIN;
	}
	if (join->view.num_members >= join->rules.max_nodes) {
		join->reason = "the view has no room for another node";
		return -EAGAIN;
	}
	if (node->group)
		spindle_node_drop_view(node);
	/* What came of the last attempt is not about this one. */
	node->incarnation = get_random_u64() | 1;
	before = spindle_payer_enter(&node->payer);
	group = spindle_group_create_live(node, &join->view, &join->rules);
	spindle_payer_leave(before);
	if (!group) {
		join->reason = "there is not enough memory, or row_mib is too small";
		return -EPERM;
	}
	group->live->contact = card->contact;
	node->group = group;
	node->sn->generation++;
	join->state = JOIN_CONNECTING;
	join->checked = ktime_get_ns();
	join->stale = false;
	join->reason = "the members do not let it in";
	spindle_group_start(group);
	return 0;
}

/* Why is it not connected to all of them? */
static void find_reason(struct spindle_join *join)
{
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_group_next(join->node->group, &i)); i++)
		if (!peer->joined)
			join->reason = spindle_peer_reason(peer) ? : join->reason;
}

enum outcome {
	OVER,
	FAILED,
	ASK_AGAIN,
	CHECK,
	WAIT,
};

static enum outcome look(struct spindle_join *join)
{
	struct spindle_group *group = join->node->group;

	/* What becomes of it now is told by membership. */
	if (group->me != SPINDLE_NO_RANK)
		return OVER;
	if (group->live->mb.state == SPINDLE_MB_STOPPED) {
		join->reason = spindle_live_why(group->live->mb.reason);
		return FAILED;
	}
	find_reason(join);
	if (ktime_get_ns() - join->checked > CHECK_MS * (u64)NSEC_PER_MSEC)
		return CHECK;
	return WAIT;
}

/* ---- asking and steps take turns ------------------------------------------- */

/* Has the contact gone on? */
static void check(struct spindle_join *join)
{
	u64 digest;
	u32 total;

	join->other = ask_part(join, 0, &digest, &total) < 0 || digest != join->digest;
}

/* Without the lock: another host is waited for, and a holder of the lock may wait for this. */
static void ask_work(struct work_struct *work)
{
	struct spindle_join *join = container_of(work, struct spindle_join, ask.work);

	if (join->state == JOIN_ASKING)
		join->err = ask_card(join);
	else
		check(join);
	spindle_chore_queue(&join->chore, 0);
}

static void ask(struct spindle_join *join, u32 ms)
{
	queue_delayed_work(spindle_ask_wq, &join->ask, msecs_to_jiffies(ms));
}

static void asked(struct spindle_join *join)
{
	int err = join->err ? join->err : enter(join);

	if (err == -EPERM || (err && !in_time(join)))
		fail(join);
	else if (err)
		ask(join, AGAIN_MS);
	else
		spindle_chore_queue(&join->chore, LOOK_MS);
}

static void checked(struct spindle_join *join)
{
	join->checking = false;
	/* The first time it may be the view that this node is in. */
	if (join->other && join->stale)
		join->state = JOIN_ASKING;
	join->stale = join->other;
	join->checked = ktime_get_ns();
}

static void step(struct spindle_join *join)
{
	switch (look(join)) {
	case OVER:
		end(join);
		break;
	case FAILED:
		fail(join);
		break;
	case CHECK:
		if (!in_time(join)) {
			fail(join);
			break;
		}
		join->digest = join->node->group->digest;
		join->checking = true;
		ask(join, 0);
		break;
	default:
		spindle_chore_queue(&join->chore, LOOK_MS);
		break;
	}
}

static void join_chore(struct spindle_chore *chore)
{
	struct spindle_join *join = container_of(chore, struct spindle_join, chore);

	if (join->state == JOIN_ASKING) {
		asked(join);
		return;
	}
	if (join->checking)
		checked(join);
	if (join->state == JOIN_ASKING)
		ask(join, LOOK_MS);
	else
		step(join);
}

/**
 * spindle_join_start() - begin to join
 * @node: in no view, and not joining
 * @contact: address of a member
 *
 * Return: the join, or NULL
 */
struct spindle_join *spindle_join_start(struct spindle_node *node,
					const struct spindle_addr *contact)
{
	struct spindle_join *join = kvzalloc(sizeof(*join), GFP_KERNEL_ACCOUNT);

	if (!join)
		return NULL;
	join->card = kvzalloc(spindle_card_max(), GFP_KERNEL_ACCOUNT);
	if (!join->card) {
		kvfree(join);
		return NULL;
	}
	join->node = node;
	join->contact = *contact;
	join->begun = ktime_get_ns();
	INIT_DELAYED_WORK(&join->ask, ask_work);
	spindle_chore_init(&join->chore, node->sn, join_chore);
	ask(join, 0);
	return join;
}

/**
 * spindle_join_reason() - why is the node not in yet?
 * @join: the join
 *
 * Return: a constant string
 */
const char *spindle_join_reason(const struct spindle_join *join)
{
	return READ_ONCE(join->reason) ? : "it asks the contact";
}

/**
 * spindle_join_cancel() - nobody wants it any more
 * @join: the join; its group, if it has one, is the caller's to remove
 */
void spindle_join_cancel(struct spindle_join *join)
{
	WRITE_ONCE(join->stop, true);
	cancel_delayed_work_sync(&join->ask);
	spindle_chore_cancel(&join->chore);
	end(join);
}
