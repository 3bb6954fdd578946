// SPDX-License-Identifier: GPL-2.0-only
/*
 * Join: how a node becomes a member of a live view. See join.h.
 */
#include <linux/ktime.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core/base/ranges.h"
#include "core/membership/rules.h"
#include "join.h"
#include "live.h"
#include "node/event.h"
#include "node/hello.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "question.h"

/* Pause between two rounds of asking all contacts: the first one, and the longest. */
#define AGAIN_MS	200
#define AGAIN_MAX_MS	5000
/* How often the chore checks whether the node is a member. */
#define LOOK_MS		10
/* How often the contact is asked whether its view has changed. */
#define CHECK_MS	500
/* Time for one contact, whatever it answers, before the next one is asked. */
#define CONTACT_MS	(3 * SPINDLE_JOIN_CONNECT_MS)

enum join_state {
	JOIN_ASKING,
	JOIN_CONNECTING,
};

/**
 * struct first - the view that the node begins if no contact is in one
 */
struct first {
	/** @view: the view */
	struct spindle_view view;
	/** @rules: its rules */
	struct spindle_rules rules;
	/** @ranges: views of earlier eras that it follows */
	struct spindle_ranges ranges;
};

/**
 * struct spindle_join - see join.h
 */
struct spindle_join {
	/** @node: the node */
	struct spindle_node *node;
	/** @ask: asks a contact; @ask and @chore never run at the same time */
	struct delayed_work ask;
	/** @chore: the steps, with the namespace's lock */
	struct spindle_chore chore;
	/** @state: enum join_state */
	enum join_state state;
	/** @stop: the join is cancelled */
	bool stop;
	/** @again: milliseconds before the next round */
	u32 again;
	/** @turned: when this contact was asked first, ktime; 0: not yet */
	u64 turned;
	/** @begun: when the node began to connect, ktime */
	u64 begun;
	/** @checked: when the contact was asked last, ktime */
	u64 checked;
	/**
	 * @err: result of asking: 0; -EPERM if the refusal is permanent; -EEXIST if the contact has
	 * a view, so that this node must not begin one; or another -errno
	 */
	int err;
	/** @digest: digest of the view that the node joins */
	u64 digest;
	/** @checking: @ask checks whether the contact still has that view */
	bool checking;
	/** @other: result of the check: the contact has another view */
	bool other;
	/** @stale: @other of the check before */
	bool stale;
	/** @want: the lineage that the view must have, or none */
	struct spindle_lineage want;
	/** @first: the view to begin if no contact is in one, or NULL */
	struct first *first;
	/** @reason: why the join takes so long, or has failed; a constant string */
	const char *reason;
	/** @card: room for a card */
	u8 *card;
	/** @view: the view of the card */
	struct spindle_view view;
	/** @rules: the rules of the card */
	struct spindle_rules rules;
	/** @at: the contact that is asked */
	u32 at;
	/** @contacts: their number */
	u32 contacts;
	/** @contact: nodes to ask */
	struct spindle_join_contact contact[];
};

/* ---- asking ------------------------------------------------------------- */

static u64 contact_until(const struct spindle_join *join)
{
	return join->turned + CONTACT_MS * (u64)NSEC_PER_MSEC;
}

static struct spindle_question question(struct spindle_join *join)
{
	return (struct spindle_question){
		.node = join->node,
		.to = join->contact[join->at].addr,
		.lineage = &join->want,
		.stop = &join->stop,
		.until = contact_until(join),
		.text = join->card,
		.reason = join->reason,
	};
}

/* Check the card, and read the view and its rules. Returns 0, or -errno as in join->err. */
static int read_card(struct spindle_join *join, u32 bytes)
{
	const struct spindle_card *card = (const void *)join->card;
	const struct spindle_view_member self = {
		.id = join->node->id,
		.addr = join->node->addr,
	};
	bool final = true;

	join->reason = spindle_card_read(card, bytes, &join->view, &join->rules);
	if (!join->reason)
		join->reason = spindle_card_admits(card, &join->view, &join->rules, &join->want,
						   &self, &final);
	if (!join->reason)
		return 0;
	return final ? -EPERM : -EAGAIN;
}

/*
 * Has this contact used up its time? This limits a contact that always answers, with short parts
 * or with a new view each time, and never admits this node.
 */
static bool is_late(struct spindle_join *join)
{
	if (ktime_get_ns() <= contact_until(join))
		return false;
	join->reason = "the contact answers, but does not admit this node";
	return true;
}

/* Ask for a whole card. Returns 0, or -errno as in join->err. */
static int ask_card(struct spindle_join *join)
{
	struct spindle_question q = question(join);
	int bytes = spindle_question_all(&q);

	if (bytes >= 0)
		return read_card(join, bytes);
	join->reason = q.reason;
	return bytes;
}

/* Does the contact allow that this node begins a view? Returns -errno as in join->err. */
static int ask_before(struct spindle_join *join)
{
	struct spindle_question q = question(join);
	u32 total;
	int err = spindle_question_part(&q, 0, &total);

	join->reason = err > 0 ? "it is in a view of this cluster" : q.reason;
	return err > 0 ? -EEXIST : err;
}

/* ---- steps; with the lock ------------------------------------------------ */

static void free_join(struct spindle_join *join)
{
	kvfree(join->first);
	kvfree(join->card);
	kvfree(join);
}

static void end(struct spindle_join *join)
{
	struct spindle_node *node = join->node;

	/* @ask has queued the chore, but its function may not have returned yet. */
	cancel_delayed_work_sync(&join->ask);
	spin_lock(&node->ep.lock);
	node->begins = false;
	spin_unlock(&node->ep.lock);
	node->join = NULL;
	free_join(join);
}

/* End the join with an event. The reason names a contact, unless that is NULL. */
static void fail(struct spindle_join *join, const struct spindle_addr *who)
{
	struct spindle_node *node = join->node;
	const char *reason = join->reason ? : "no contact has admitted this node";

	spindle_node_drop_view(node);
	if (who && who->family == 4)
		scnprintf(node->why_text, sizeof(node->why_text), "%pI4:%u: %s", who->ip,
			  who->port, reason);
	else if (who)
		scnprintf(node->why_text, sizeof(node->why_text), "[%pI6c]:%u: %s", who->ip,
			  who->port, reason);
	else
		strscpy(node->why_text, reason, sizeof(node->why_text));
	/* An event can be lost, so keep the reason for later status requests. */
	node->why = node->why_text;
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
	struct spindle_installed *inst;
	struct mem_cgroup *before;

	if (node->inst)
		spindle_node_drop_view(node);
	/* A new incarnation, so that no member takes the last attempt for this one. */
	node->incarnation = get_random_u64() | 1;
	before = spindle_payer_enter(&node->payer);
	inst = spindle_installed_create(node, &join->view, &join->rules, &card->lineage, NULL);
	spindle_payer_leave(before);
	if (!inst) {
		join->reason = "there is not enough memory, or row_mib is too small";
		return -EPERM;
	}
	inst->live->contact = card->contact;
	node->inst = inst;
	node->sn->generation++;
	join->state = JOIN_CONNECTING;
	join->begun = ktime_get_ns();
	join->checked = join->begun;
	join->stale = false;
	join->reason = "the members do not admit this node";
	spindle_installed_start(inst);
	return 0;
}

/* Take the reason from a peer that is not connected. */
static void find_reason(struct spindle_join *join)
{
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_installed_next(join->node->inst, &i)); i++)
		if (!spindle_peer_joined(peer))
			join->reason = READ_ONCE(peer->conn.reason) ? : join->reason;
}

/*
 * Has the contact gone on to a view without this node? The contact says so in its row, or refuses
 * the connection. This node knows the members of the view before, so it has to begin again.
 */
static bool passed_over(const struct spindle_join *join)
{
	const struct spindle_installed *inst = join->node->inst;
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++)
		if (peer->id == inst->live->contact)
			return READ_ONCE(peer->ready) > join->view.vid ||
			       READ_ONCE(peer->conn.reject) == SPINDLE_REFUSE_VIEW;
	return false;
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
	struct spindle_installed *inst = join->node->inst;

	/* The node is a member now, so membership reports the rest. */
	if (inst->mg.me != SPINDLE_NO_RANK)
		return OVER;
	if (inst->live->mb.state == SPINDLE_MB_STOPPED) {
		join->reason = spindle_live_why(inst->live->mb.reason);
		return FAILED;
	}
	find_reason(join);
	if (passed_over(join))
		return ASK_AGAIN;
	if (ktime_get_ns() - join->checked > CHECK_MS * (u64)NSEC_PER_MSEC)
		return CHECK;
	return WAIT;
}

/* ---- asking and steps take turns ------------------------------------------- */

/* Does the contact have another view than the one that this node joins? */
static void check(struct spindle_join *join)
{
	struct spindle_question q = question(join);
	u32 total;

	join->other = spindle_question_part(&q, 0, &total) < 0 || q.digest != join->digest;
	join->reason = q.reason;
}

/*
 * Runs without the namespace's lock, because it waits for another host. A holder of the lock may
 * also wait for this work item, see end().
 */
static void ask_work(struct work_struct *work)
{
	struct spindle_join *join = container_of(work, struct spindle_join, ask.work);

	if (!join->turned)
		join->turned = ktime_get_ns();
	if (join->state == JOIN_CONNECTING)
		check(join);
	else
		join->err = join->first ? ask_before(join) : ask_card(join);
	spindle_chore_queue(&join->chore, 0);
}

static void ask(struct spindle_join *join, u32 ms)
{
	queue_delayed_work(spindle_ask_wq, &join->ask, msecs_to_jiffies(ms));
}

static bool all_final(const struct spindle_join *join)
{
	u32 i;

	for (i = 0; i < join->contacts; i++)
		if (!join->contact[i].final)
			return false;
	return true;
}

/* Add up to half at random, so that hosts that were started together do not stay in step. */
static u32 wait_ms(struct spindle_join *join)
{
	u32 ms = join->again + get_random_u32() % (join->again / 2 + 1);

	join->again = min_t(u32, 2 * join->again, AGAIN_MAX_MS);
	return ms;
}

/* No contact is in a view, so this node begins its own. */
static void begin(struct spindle_join *join)
{
	struct spindle_node *node = join->node;
	struct spindle_lineage lineage = join->want;
	struct first *first = join->first;

	if (spindle_node_begin(node, &first->view, &first->rules, &lineage, &first->ranges, NULL)) {
		join->reason = "there is not enough memory, or row_mib is too small";
		fail(join, NULL);
		return;
	}
	end(join);
}

/* Ask the next contact at once. After the last one, start over later with the first. */
static void next_contact(struct spindle_join *join, bool final)
{
	struct spindle_join_contact *contact = &join->contact[join->at];

	contact->reason = join->reason;
	contact->final = final;
	join->turned = 0;
	join->state = JOIN_ASKING;
	spindle_node_drop_view(join->node);
	join->node->sn->generation++;
	if (++join->at < join->contacts) {
		ask(join, 0);
		return;
	}
	join->at = 0;
	if (join->first)
		begin(join);
	else if (all_final(join))
		fail(join, join->contacts > 1 ? &contact->addr : NULL);
	else
		ask(join, wait_ms(join));
}

static void asked(struct spindle_join *join)
{
	int err = join->err ? join->err : enter(join);

	if (!err)
		spindle_chore_queue(&join->chore, LOOK_MS);
	else if (err == -EEXIST && join->first)
		fail(join, &join->contact[join->at].addr);
	else
		next_contact(join, err == -EPERM);
}

static void checked(struct spindle_join *join)
{
	join->checking = false;
	/* A single difference may mean that the contact already has the view with this node. */
	if (join->other && join->stale)
		join->state = JOIN_ASKING;
	join->stale = join->other;
	join->checked = ktime_get_ns();
}

static void over(struct spindle_join *join)
{
	join->node->lineage = join->node->inst->live->lineage;
	end(join);
}

static void step(struct spindle_join *join)
{
	switch (look(join)) {
	case OVER:
		over(join);
		break;
	case FAILED:
		next_contact(join, true);
		break;
	case ASK_AGAIN:
		if (is_late(join)) {
			next_contact(join, false);
			break;
		}
		join->state = JOIN_ASKING;
		ask(join, LOOK_MS);
		break;
	case CHECK:
		if (ktime_get_ns() - join->begun > SPINDLE_JOIN_CONNECT_MS * (u64)NSEC_PER_MSEC ||
		    is_late(join)) {
			next_contact(join, false);
			break;
		}
		join->digest = join->node->inst->digest;
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

static struct first *copy_first(const struct spindle_join_config *cfg)
{
	const struct spindle_ranges none = {}, *ranges = cfg->ranges ? : &none;
	size_t views = flex_array_size(ranges, view, ranges->views);
	struct first *first = kvzalloc(sizeof(*first) + views, GFP_KERNEL_ACCOUNT);

	if (!first)
		return NULL;
	first->view = *cfg->view;
	first->rules = *cfg->rules;
	first->ranges.views = ranges->views;
	memcpy(first->ranges.view, ranges->view, views);
	return first;
}

static int take_config(struct spindle_join *join, const struct spindle_join_config *cfg)
{
	u32 i;

	for (i = 0; i < cfg->contacts; i++)
		join->contact[i].addr = cfg->contact[i];
	join->contacts = cfg->contacts;
	join->want = cfg->lineage;
	join->card = kvzalloc(spindle_card_max(), GFP_KERNEL_ACCOUNT);
	if (!join->card)
		return -ENOMEM;
	if (!cfg->view)
		return 0;
	join->first = copy_first(cfg);
	return join->first ? 0 : -ENOMEM;
}

/**
 * spindle_join_start() - begin to join, or to ask before a view begins
 * @node: in no view, and not joining
 * @cfg: configuration
 *
 * Return: the join, or NULL if there is no memory
 */
struct spindle_join *spindle_join_start(struct spindle_node *node,
					const struct spindle_join_config *cfg)
{
	struct spindle_join *join;

	lockdep_assert_held(&node->sn->lock);
	join = kvzalloc(struct_size(join, contact, cfg->contacts), GFP_KERNEL_ACCOUNT);
	if (!join)
		return NULL;
	if (take_config(join, cfg)) {
		free_join(join);
		return NULL;
	}
	join->node = node;
	join->again = AGAIN_MS;
	INIT_DELAYED_WORK(&join->ask, ask_work);
	spindle_chore_init(&join->chore, node->sn, join_chore);
	spin_lock(&node->ep.lock);
	node->begins = join->first;
	spin_unlock(&node->ep.lock);
	ask(join, 0);
	return join;
}

/**
 * spindle_join_contacts() - the contacts, and the results of asking them
 * @join: the join
 * @contact: out
 *
 * Context: the namespace's lock.
 * Return: number of contacts
 */
u32 spindle_join_contacts(const struct spindle_join *join,
			  const struct spindle_join_contact **contact)
{
	lockdep_assert_held(&join->node->sn->lock);
	*contact = join->contact;
	return join->contacts;
}

/**
 * spindle_join_reason() - why is the node not a member yet?
 * @join: the join
 *
 * Return: a constant string
 */
const char *spindle_join_reason(const struct spindle_join *join)
{
	const char *reason = READ_ONCE(join->reason);

	lockdep_assert_held(&join->node->sn->lock);
	if (reason)
		return reason;
	return join->first ? "the node asks the others before it begins" :
			     "the node asks the contacts";
}

/**
 * spindle_join_cancel() - cancel a join
 * @join: the join; the caller removes the installed view of the node, if there is one
 */
void spindle_join_cancel(struct spindle_join *join)
{
	lockdep_assert_held(&join->node->sn->lock);
	WRITE_ONCE(join->stop, true);
	cancel_delayed_work_sync(&join->ask);
	spindle_chore_cancel(&join->chore);
	end(join);
}
