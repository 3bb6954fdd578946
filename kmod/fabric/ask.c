// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ask: a question to an endpoint and its answer, without a connection. See ask.h.
 *
 * Context: process.
 */
#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/random.h>

#include "ask.h"

/* Time-out of each step. The first question may have to wait for neighbour discovery. */
#define STEP_MS 3000
/* How often @stop is checked while the question waits. */
#define LOOK_MS 50
/* The highest bit of the number of a queue pair, and the bits that are drawn. None has all bits. */
#define QP_NUM_TOP BIT(23)
#define QP_NUM_DRAWN (QP_NUM_TOP - 2)

struct asking {
	struct spindle_ask *ask;
	struct completion done;
	int event; /* last rdma_cm event, plus one */
	int status;
};

static int ask_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct asking *asking = id->context;
	struct spindle_reject *answer = &asking->ask->answer;
	const void *data;
	u8 len;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		break;
	case RDMA_CM_EVENT_REJECTED:
		data = rdma_consumer_reject_data(id, event, &len);
		if (data && len >= sizeof(answer->code)) {
			memcpy(&answer->code, data, sizeof(answer->code));
			answer->len = min_t(u8, len - sizeof(answer->code),
					    sizeof(answer->data));
			memcpy(answer->data, data + sizeof(answer->code), answer->len);
		} else {
			asking->status = -ECONNREFUSED;
		}
		break;
	default:
		/* ESTABLISHED is an error, too: a question never becomes a connection. */
		asking->status = event->status < 0 ? event->status : -EPROTO;
		break;
	}
	asking->event = event->event + 1;
	complete(&asking->done);
	return 0;
}

/* Wait for the next event. Any event other than @type is an error. */
static int wait_for_event(struct asking *asking, enum rdma_cm_event_type type)
{
	unsigned long end = jiffies + msecs_to_jiffies(STEP_MS);

	while (!wait_for_completion_timeout(&asking->done, msecs_to_jiffies(LOOK_MS))) {
		if (READ_ONCE(*asking->ask->stop))
			return -ECANCELED;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
	}
	if (asking->status)
		return asking->status;
	return asking->event == type + 1 ? 0 : -EPROTO;
}

/*
 * The connection manager of the other end knows a request by the sender's device and queue pair. It
 * takes two requests with one number for a stale connection, refuses the second and ends the first.
 * Questions have no queue pair, so each draws a number that devices give out late or never.
 */
static u32 draw_qp_num(void)
{
	return QP_NUM_TOP | (get_random_u32() & QP_NUM_DRAWN);
}

static int run(struct asking *asking, struct rdma_cm_id *id)
{
	struct spindle_ask *ask = asking->ask;
	struct rdma_conn_param param = {
		.qp_num = draw_qp_num(),
		.private_data = ask->hello,
		.private_data_len = sizeof(ask->hello),
		.retry_count = SPINDLE_RETRIES,
		.rnr_retry_count = SPINDLE_RETRIES,
	};
	int err;

	err = rdma_resolve_addr(id, (struct sockaddr *)&ask->src, (struct sockaddr *)&ask->dst,
				STEP_MS);
	if (!err)
		err = wait_for_event(asking, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!err)
		err = rdma_resolve_route(id, STEP_MS);
	if (!err)
		err = wait_for_event(asking, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (!err)
		err = rdma_connect(id, &param);
	if (!err)
		err = wait_for_event(asking, RDMA_CM_EVENT_REJECTED);
	return err;
}

/**
 * spindle_ask() - ask, and wait for the answer
 * @ask: the question, and room for the answer; the sender of the answer is not checked
 *
 * Context: process, may take seconds.
 * Return: 0 if there is an answer; -ECANCELED; -ETIMEDOUT; -ECONNREFUSED if no node listens there;
 * -EPROTO if the other end is no Spindle node; or an error of rdma_cm
 */
int spindle_ask(struct spindle_ask *ask)
{
	struct asking asking = { .ask = ask };
	struct rdma_cm_id *id;
	int err;

	init_completion(&asking.done);
	memset(&ask->answer, 0, sizeof(ask->answer));
	id = rdma_create_id(ask->net, ask_handler, &asking, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = run(&asking, id);
	/* This waits for a running handler, so @asking is not used after it. */
	rdma_destroy_id(id);
	return err;
}
