// SPDX-License-Identifier: GPL-2.0-only
/* Offer: how other rules get from the member that wants them to all members. See offer.h. */
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "base/engine.h"
#include "base/extack.h"
#include "live.h"
#include "node/event.h"
#include "node/installed.h"
#include "node/node.h"
#include "offer.h"
#include "question.h"

/* The members have this time to follow. Then the node that wants the rules gives up. */
#define OFFER_NS	(20ULL * NSEC_PER_SEC)
/* Time for a member to answer. */
#define FETCH_NS	(5ULL * NSEC_PER_SEC)
/* Shortest time between two questions. A member may want other rules each time. */
#define PAUSE_NS	(100ULL * NSEC_PER_MSEC)

/**
 * struct spindle_fetch - a question for the rules that a member wants
 */
struct spindle_fetch {
	/** @live: the live view */
	struct spindle_live *live;
	/** @work: asks */
	struct work_struct work;
	/** @question: the question */
	struct spindle_question question;
	/** @name: of the rules, as the member shows it */
	u64 name;
	/** @stop: the live view is removed */
	bool stop;
	/** @bytes: of the answer, or -errno; valid when @done is set */
	int bytes;
	/** @done: the answer is here; written with release */
	bool done;
};

/* ---- engine ---------------------------------------------------------------- */

struct letter {
	struct spindle_live *live;
	struct spindle_offer *offer;
	u64 wanted;
	u32 rank;
	bool done;
};

/**
 * spindle_offer_pass() - show the offer, and see what other members want
 * @live: the live view
 *
 * Context: engine.
 */
void spindle_offer_pass(struct spindle_live *live)
{
	const struct spindle_offer *offer = live->offer;
	struct spindle_mb *mb = &live->mb;
	u64 wanted;
	u32 rank;

	if (offer && !offer->taken && mb->rules != offer->name)
		spindle_mb_offer(mb, offer->name | (offer->wants ? SPINDLE_MB_WANTS : 0));
	if (!mb->offered)
		return;
	wanted = spindle_mb_wanted(mb, &rank);
	if (wanted == (offer ? offer->name : 0) || wanted == READ_ONCE(live->refused) ||
	    live->looked - READ_ONCE(live->asked) < PAUSE_NS)
		return;
	spindle_live_chore(live, SPINDLE_CHORE_OFFER);
}

/**
 * spindle_offer_rules() - the rules of an offer
 * @live: the live view
 * @name: name of the offer; 0: none
 *
 * Context: engine.
 * Return: the rules; those in force if there is no such offer
 */
const struct spindle_rules *spindle_offer_rules(const struct spindle_live *live, u64 name)
{
	bool offered = name && live->offer && live->offer->name == name;

	return offered ? &live->offer->rules : &live->rules;
}

/**
 * spindle_offer_install() - the next view begins: its rules are in force
 * @live: the live view
 *
 * Context: engine; a holder of the namespace's lock waits, so no other reader of the rules runs.
 */
void spindle_offer_install(struct spindle_live *live)
{
	u64 name = spindle_mb_own_decree(&live->mb)[SPINDLE_DECREE_RULES];

	WRITE_ONCE(live->refused, 0);
	if (!name)
		return;
	live->rules = *spindle_offer_rules(live, name);
	live->offer->taken = true;
	spindle_live_chore(live, SPINDLE_CHORE_OFFER);
}

static void look_fn(void *ctx)
{
	struct letter *letter = ctx;

	letter->wanted = spindle_mb_wanted(&letter->live->mb, &letter->rank);
}

static void set_fn(void *ctx)
{
	struct letter *letter = ctx;

	letter->live->offer = letter->offer;
	spindle_offer_pass(letter->live);
}

/* Take the offer back, unless the view changes now, perhaps to these rules. */
static void drop_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_live *live = letter->live;

	if (!live->offer->taken && live->mb.rules && !spindle_mb_offer(&live->mb, 0))
		return;
	letter->offer = live->offer;
	live->offer = NULL;
	letter->done = true;
}

static void call(struct spindle_live *live, void (*fn)(void *ctx), struct letter *letter)
{
	letter->live = live;
	spindle_engine_call(live->inst->node->engine, fn, letter);
}

/* ---- the offer ---------------------------------------------------------------- */

/* Why the members of the installed view do not follow rules. */
struct misfit {
	/* A sentence. */
	const char *text;
	/* The rule that the sentence is about, or NULL. */
	const struct spindle_rule *rule;
};

/* Would the next view be valid? Returns 0 or -errno. */
static int check_next(const struct spindle_live *live, const struct spindle_rules *rules,
		      struct misfit *misfit)
{
	const struct spindle_view *view = &live->inst->view;
	struct spindle_view *next = kvzalloc(sizeof(*next), GFP_KERNEL);
	struct spindle_view_fault fault = { -1, -1 };

	if (!next)
		return -ENOMEM;
	next->vid = view->vid + 1;
	next->num_members = view->num_members;
	memcpy(next->member, view->member, sizeof(next->member));
	misfit->text = spindle_rules_next(rules, view, next) ? :
		       spindle_view_check(next, true, &fault);
	if (misfit->text && fault.subgroup >= 0)
		misfit->rule = spindle_rules_of(rules, fault.subgroup);
	kvfree(next);
	return misfit->text ? -EINVAL : 0;
}

/*
 * May the members of the installed view follow these rules? Returns 0, -ENOMEM, or -EINVAL with
 * @misfit.
 */
static int check(const struct spindle_live *live, const struct spindle_rules *rules,
		 struct misfit *misfit)
{
	int fault;

	misfit->rule = NULL;
	misfit->text = spindle_rules_check(rules, &fault);
	if (misfit->text && fault >= 0)
		misfit->rule = &rules->rule[fault];
	if (!misfit->text)
		misfit->text = spindle_rules_change(&live->rules, rules);
	return misfit->text ? -EINVAL : check_next(live, rules, misfit);
}

static int begin(struct spindle_live *live, const struct spindle_rules *rules, bool wants)
{
	struct spindle_offer *offer = kvmalloc(sizeof(*offer), GFP_KERNEL_ACCOUNT);
	struct letter letter = { .offer = offer };
	int err = 0;

	if (!offer)
		return -ENOMEM;
	offer->rules = *rules;
	offer->name = spindle_rules_offer(rules);
	offer->wants = wants;
	offer->taken = false;
	offer->since = ktime_get_ns();
	if (wants)
		err = spindle_door_rules(&live->door, &live->inst->node->ep, &live->inst->view,
					 rules, &live->lineage);
	if (err)
		kvfree(offer);
	else
		call(live, set_fn, &letter);
	return err;
}

/* Returns false if the view changes now. */
static bool drop(struct spindle_live *live)
{
	struct letter letter = {};

	call(live, drop_fn, &letter);
	if (!letter.done)
		return false;
	spindle_door_no_rules(&live->door, &live->inst->node->ep);
	kvfree(letter.offer);
	return true;
}

static void give_up(struct spindle_live *live, const char *reason)
{
	bool wants = live->offer->wants;

	if (drop(live) && wants)
		spindle_event(live->inst->node, SPINDLE_EVENT_RULES_FAILED,
			      &(struct spindle_event_info){ .reason = reason });
}

/**
 * spindle_offer_want() - the administrator of this node wants other rules
 * @live: the live view; this node is a member
 * @rules: the rules
 * @fault: out: the rule that an error is about, or NULL
 * @extack: for the reason of an error
 *
 * The members agree later, or not. SPINDLE_EVENT_VIEW_INSTALL or SPINDLE_EVENT_RULES_FAILED reports
 * that.
 *
 * Return: 0; -EBUSY if another change is under way; -EINVAL or -ENOMEM
 */
int spindle_offer_want(struct spindle_live *live, const struct spindle_rules *rules,
		       const struct spindle_rule **fault, struct netlink_ext_ack *extack)
{
	struct spindle_node *node = live->inst->node;
	struct letter letter = {};
	struct misfit misfit;
	int err;

	lockdep_assert_held(&node->sn->lock);
	*fault = NULL;
	call(live, look_fn, &letter);
	if (letter.wanted || live->offer)
		return spindle_deny(extack, NULL, -EBUSY,
				    "another change of the subgroups is under way");
	err = check(live, rules, &misfit);
	if (err == -EINVAL) {
		extack->_msg = misfit.text;
		*fault = misfit.rule;
	}
	return err ? : begin(live, rules, true);
}

/* ---- what other members want ------------------------------------------------------ */

static void fetch_work(struct work_struct *work)
{
	struct spindle_fetch *fetch = container_of(work, struct spindle_fetch, work);

	fetch->bytes = spindle_question_all(&fetch->question);
	/* Pairs with the acquire in follow(). */
	smp_store_release(&fetch->done, true);
	spindle_live_chore(fetch->live, SPINDLE_CHORE_OFFER);
}

static void free_fetch(struct spindle_live *live)
{
	kvfree(live->fetch->question.text);
	kfree(live->fetch);
	live->fetch = NULL;
}

static void start_fetch(struct spindle_live *live, u64 name, u32 rank)
{
	struct spindle_fetch *fetch = kzalloc(sizeof(*fetch), GFP_KERNEL_ACCOUNT);

	if (!fetch)
		return;
	fetch->live = live;
	fetch->name = name;
	INIT_WORK(&fetch->work, fetch_work);
	fetch->question = (struct spindle_question){
		.node = live->inst->node,
		.to = live->inst->view.member[rank].addr,
		.rules = true,
		.lineage = &live->lineage,
		.stop = &fetch->stop,
		.until = ktime_get_ns() + FETCH_NS,
		.text = kvzalloc(spindle_card_max(), GFP_KERNEL_ACCOUNT),
	};
	live->fetch = fetch;
	WRITE_ONCE(live->asked, ktime_get_ns());
	if (fetch->question.text)
		queue_work(spindle_ask_wq, &fetch->work);
	else
		free_fetch(live);
}

/*
 * Follow the member that was asked, if it still wants these rules. This node asks again after a
 * refusal that may pass, or when it lacked memory, but not for rules that it cannot follow.
 */
static void follow(struct spindle_live *live, u64 wanted)
{
	const struct spindle_fetch *fetch = live->fetch;
	struct spindle_rules *rules;
	struct misfit misfit;
	int err = -EINVAL;

	if (fetch->name != wanted || fetch->bytes < 0)
		return;
	rules = kvzalloc(sizeof(*rules), GFP_KERNEL);
	if (!rules)
		return;
	if (!spindle_card_rules((void *)fetch->question.text, fetch->bytes, rules) &&
	    spindle_rules_offer(rules) == wanted)
		err = check(live, rules, &misfit) ? : begin(live, rules, false);
	if (err && err != -ENOMEM)
		WRITE_ONCE(live->refused, wanted);
	kvfree(rules);
}

/**
 * spindle_offer_work() - follow other members, and drop offers that are over
 * @live: the live view
 */
void spindle_offer_work(struct spindle_live *live)
{
	const struct spindle_offer *offer = live->offer;
	struct letter letter = {};

	lockdep_assert_held(&live->inst->node->sn->lock);
	call(live, look_fn, &letter);
	if (offer && offer->taken)
		drop(live);
	else if (offer && letter.wanted != offer->name && (letter.wanted || !offer->wants))
		give_up(live, "another member changes the subgroups");
	else if (offer && offer->wants && ktime_get_ns() - offer->since > OFFER_NS)
		give_up(live, "some members do not follow");
	if (live->fetch) {
		/* Pairs with the release in fetch_work(). */
		if (!smp_load_acquire(&live->fetch->done))
			return;
		if (!live->offer)
			follow(live, letter.wanted);
		free_fetch(live);
	} else if (!live->offer && letter.wanted && letter.wanted != live->refused) {
		start_fetch(live, letter.wanted, letter.rank);
	}
}

/**
 * spindle_offer_forget() - free the offer, and end the question
 * @live: the live view; the engine does not run it any more, and its chore waits for the lock
 *
 * The question queues the chore, so the caller cancels the chore after this.
 */
void spindle_offer_forget(struct spindle_live *live)
{
	if (live->fetch) {
		WRITE_ONCE(live->fetch->stop, true);
		cancel_work_sync(&live->fetch->work);
		free_fetch(live);
	}
	kvfree(live->door.rules);
	kvfree(live->offer);
}
