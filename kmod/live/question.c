// SPDX-License-Identifier: GPL-2.0-only
/* Question: ask a member for a card, or for the rules that it wants. See question.h. */
#include <linux/ktime.h>

#include "base/addr.h"
#include "door.h"
#include "fabric/ask.h"
#include "node/hello.h"
#include "node/node.h"
#include "question.h"

/* Is a refusal permanent? */
static bool final(u32 refusal)
{
	switch (refusal) {
	case SPINDLE_REFUSE_NOT_SPINDLE:
	case SPINDLE_REFUSE_VERSION:
	case SPINDLE_REFUSE_CLUSTER:
	case SPINDLE_REFUSE_KEY:
	case SPINDLE_REFUSE_LINEAGE:
	case SPINDLE_REFUSE_ERA:
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

static int refused(struct spindle_question *q, u32 code)
{
	q->reason = spindle_refusal_text(code);
	if (code == SPINDLE_REFUSE_BEGINS)
		return -EEXIST;
	return final(code) ? -EPERM : -EAGAIN;
}

/* Take a part from an answer. Returns its length, or -EPERM: it is malformed, or of another key. */
static int take_part(struct spindle_question *q, const struct spindle_ask *ask, u32 from,
		     u32 *total)
{
	struct spindle_answer answer;
	u32 len;

	memcpy(&answer, ask->answer.data, sizeof(answer));
	if (!spindle_answer_proven(&answer, &q->node->key, ask->hello)) {
		q->reason = "the contact has another key";
		return -EPERM;
	}
	len = le32_to_cpu(answer.len);
	q->digest = le64_to_cpu(answer.digest);
	*total = le32_to_cpu(answer.total);
	if (ask->answer.len < sizeof(answer) || !len || len > sizeof(answer.data) ||
	    *total > spindle_card_max() || from + len > *total) {
		q->reason = "the contact's answer is malformed";
		return -EPERM;
	}
	memcpy(q->text + from, answer.data, len);
	return len;
}

/**
 * spindle_question_part() - ask for a part of the answer
 * @q: the question
 * @from: bytes that are there already
 * @total: out: bytes of the whole answer
 *
 * Return: bytes of the part; -EPERM: the refusal is permanent; -EEXIST: the member is about to
 *	begin a view; or another -errno
 */
int spindle_question_part(struct spindle_question *q, u32 from, u32 *total)
{
	struct spindle_node *node = q->node;
	struct spindle_addr own = node->addr;
	struct spindle_ask ask = { .net = node->net, .stop = q->stop };
	struct spindle_hello hello;
	u32 code;
	int err;

	own.port = 0;
	spindle_sockaddr(&ask.src, &own);
	spindle_sockaddr(&ask.dst, &q->to);
	spindle_hello_node(&hello, node);
	hello.flags |= SPINDLE_HELLO_F_ASK | (q->rules ? SPINDLE_HELLO_F_RULES : 0);
	hello.incarnation = cpu_to_le64(from);
	hello.lineage = cpu_to_le32(spindle_lineage_mark(q->lineage));
	spindle_hello_seal(&hello, node, SPINDLE_KEY_PRESENT);
	memcpy(ask.hello, &hello, sizeof(hello));
	err = spindle_ask(&ask);
	if (err) {
		q->reason = ask_text(err);
		return err;
	}
	code = be32_to_cpu(ask.answer.code);
	return code == SPINDLE_REJECT_ANSWER ? take_part(q, &ask, from, total) : refused(q, code);
}

/**
 * spindle_question_all() - ask for the whole answer, all parts from one view
 * @q: the question
 *
 * The time limits a member that always answers, with short parts or with a new view each time.
 *
 * Return: bytes, or an error of spindle_question_part(); -EAGAIN: the member's view has changed
 *	between two parts; -ETIMEDOUT: the time is over
 */
int spindle_question_all(struct spindle_question *q)
{
	u32 at = 0, total;
	u64 digest;
	int n;

	do {
		digest = q->digest;
		n = spindle_question_part(q, at, &total);
		if (n < 0)
			return n;
		if (ktime_get_ns() > q->until) {
			q->reason = "the contact answers, but does not admit this node";
			return -ETIMEDOUT;
		}
		if (at && q->digest != digest)
			return -EAGAIN;
		at += n;
	} while (at < total);
	return total;
}
