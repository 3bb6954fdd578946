// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps that request, answer and leave connections, correctly or not. See connection.h.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "hostile-peer.h"
#include "connection.h"
#include "hello.h"
#include "proof.h"
#include "queues.h"
#include "table.h"

#define REJECT_BUSY	1

struct rdma_event_channel *chan;
struct rdma_cm_id *id;
bool disconnected;

static void hear(const void *data, size_t len)
{
	memset(&heard, 0, sizeof(heard));
	memcpy(&heard, data, len < sizeof(heard) ? len : sizeof(heard));
}

int next_event(int ms, int64_t *code, struct rdma_cm_id **from)
{
	struct pollfd pfd = { .fd = chan->fd, .events = POLLIN };
	struct rdma_cm_event *ev;
	uint32_t word;
	int type;

	if (poll(&pfd, 1, ms) != 1 || rdma_get_cm_event(chan, &ev))
		return -1;
	type = ev->event;
	if (from)
		*from = ev->id;
	if (code)
		*code = -1;
	if (code && type == RDMA_CM_EVENT_REJECTED && ev->param.conn.private_data_len >= 4) {
		memcpy(&word, ev->param.conn.private_data, sizeof(word));
		*code = be32toh(word);
	}
	/* The confirmation of an answer carries no data. */
	if ((type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_CONNECT_RESPONSE ||
	     type == RDMA_CM_EVENT_ESTABLISHED) && ev->param.conn.private_data_len)
		hear(ev->param.conn.private_data, ev->param.conn.private_data_len);
	/*
	 * A node may give up before it has seen that we are ready. It then rejects a connection
	 * that is already established here.
	 */
	if (type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_REJECTED)
		disconnected = true;
	rdma_ack_cm_event(ev);
	return type;
}

static struct sockaddr_in member_addr(uint32_t node)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int rank = spindle_view_rank(&view, node);

	/* A joiner is not in the view, and uses the address of the other node. */
	if (rank < 0 && live && node == my_id)
		rank = spindle_view_rank(&view, their_id);
	if (rank < 0)
		die("node %u is not in the view\n", node);
	memcpy(&sin.sin_addr, view.member[rank].addr.ip, 4);
	sin.sin_port = htons(view.member[rank].addr.port);
	return sin;
}

static void resolve(const char *step)
{
	struct sockaddr_in src = member_addr(my_id), dst = member_addr(their_id);

	/* The step gives the last byte of the address. */
	if (find(step, "from"))
		src.sin_addr.s_addr = (src.sin_addr.s_addr & htonl(~0xffU)) |
				      htonl(num(step, "from", 0));
	src.sin_port = 0;
	disconnected = false;
	if (rdma_create_id(chan, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, (struct sockaddr *)&src, (struct sockaddr *)&dst, 5000))
		die("resolve: %s\n", strerror(errno));
	if (next_event(LIMIT_S * 1000, NULL, NULL) != RDMA_CM_EVENT_ADDR_RESOLVED)
		die("the address does not resolve\n");
	if (rdma_resolve_route(id, 5000) ||
	    next_event(LIMIT_S * 1000, NULL, NULL) != RDMA_CM_EVENT_ROUTE_RESOLVED)
		die("no route\n");
}

static const char *outcome(int type, int64_t code)
{
	static char buf[64];

	if (type == RDMA_CM_EVENT_ESTABLISHED)
		return "up";
	if (type < 0)
		return "no answer";
	if (type == RDMA_CM_EVENT_REJECTED && code >= 0) {
		snprintf(buf, sizeof(buf), "rejected %" PRId64, code);
		return buf;
	}
	return rdma_event_str(type);
}

/* ---- begin a connection ------------------------------------------------ */

void step_dial(const char *step)
{
	struct rdma_conn_param param;
	int64_t code;
	int type;

	resolve(step);
	make_queues(step);
	param = make_request(step);
	if (rdma_connect(id, &param))
		die("connect: %s\n", strerror(errno));
	type = next_event(LIMIT_S * 1000, &code, NULL);
	if (type == RDMA_CM_EVENT_CONNECT_RESPONSE) {
		/*
		 * Move the queue pair again, because its first rights were set before the
		 * connection was known.
		 */
		move_qp(IBV_QPS_INIT, 0);
		move_qp(IBV_QPS_RTR, 0);
		move_qp(IBV_QPS_RTS, num(step, "reads", 0));
		type = rdma_establish(id) ? -1 : RDMA_CM_EVENT_ESTABLISHED;
	}
	printf("dial: %s\n", outcome(type, code));
	keep_heard(step);
	/* The steps behind this one need a connection. */
	if (type != RDMA_CM_EVENT_ESTABLISHED)
		exit(0);
}

void step_half(const char *step)
{
	struct pollfd pfd = { .fd = chan->fd, .events = POLLIN };
	struct rdma_conn_param param;

	resolve(step);
	make_queues(step);
	param = make_request(step);
	if (rdma_connect(id, &param))
		die("connect: %s\n", strerror(errno));
	/*
	 * The event is there. This step does not take it, and so does not confirm the connection.
	 */
	printf("half: %s\n", poll(&pfd, 1, LIMIT_S * 1000) == 1 ? "answered" : "no answer");
}

void step_flood(const char *step)
{
	uint64_t n = num(step, "n", 1), i, most = 0;
	struct rdma_conn_param param;
	char first[64] = "";
	int64_t code;
	int type;

	for (i = 0; i < n; i++) {
		const char *what;

		resolve(step);
		take_table(step);
		param = make_request(step);
		if (rdma_connect(id, &param))
			die("connect: %s\n", strerror(errno));
		type = next_event(LIMIT_S * 1000, &code, NULL);
		what = outcome(type, code);
		if (!i)
			snprintf(first, sizeof(first), "%s", what);
		most += !strcmp(first, what);
		rdma_destroy_id(id);
	}
	printf("flood: %" PRIu64 " %s\n", most, first);
}

void listen_here(void)
{
	struct sockaddr_in addr = member_addr(my_id);
	struct rdma_cm_id *listener;

	if (rdma_create_id(chan, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&addr) || rdma_listen(listener, 16))
		die("listen: %s\n", strerror(errno));
}

static void refuse(struct rdma_cm_id *from)
{
	uint32_t busy = htobe32(REJECT_BUSY);

	rdma_reject(from, &busy, sizeof(busy));
	rdma_destroy_id(from);
}

/* Is a request from the node, and for the kind of connection that the step wants? */
static bool is_wanted(const char *step)
{
	return le32toh(heard.hello.src) == their_id &&
	       wants_reads(step) == !!(heard.hello.flags & HELLO_F_READ);
}

static struct rdma_cm_id *next_request(const char *step)
{
	struct rdma_cm_id *from;

	for (;;) {
		int type = next_event(LIMIT_S * 1000, NULL, &from);

		if (type < 0)
			die("no node dials\n");
		if (type != RDMA_CM_EVENT_CONNECT_REQUEST)
			continue;
		if (is_wanted(step))
			return from;
		refuse(from);
	}
}

/* What becomes of the answer. Other requests may come in between. */
static int after_answer(void)
{
	struct reply kept = heard;
	struct rdma_cm_id *from;
	int type;

	while ((type = next_event(LIMIT_S * 1000, NULL, &from)) == RDMA_CM_EVENT_CONNECT_REQUEST)
		refuse(from);
	heard = kept;
	return type;
}

void step_lure(const char *step)
{
	struct rdma_conn_param param;
	uint32_t word = htobe32(num(step, "reject", 0));
	int type;

	listen_here();
	id = next_request(step);
	if (find(step, "reject")) {
		printf("lure: %s\n", rdma_reject(id, &word, sizeof(word)) ? "cannot reject" :
									     "rejected");
		return;
	}
	make_queues(step);
	param = make_answer(step);
	if (rdma_accept(id, &param))
		die("accept: %s\n", strerror(errno));
	type = after_answer();
	/* A node that disconnects at once may be faster than the event of the connection. */
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		type = RDMA_CM_EVENT_ESTABLISHED;
	printf("lure: %s\n", outcome(type, -1));
}

/* ---- end a connection -------------------------------------------------- */

void step_gone(const char *step)
{
	uint64_t end = now_ms() + num(step, "ms", LIMIT_S * 1000);

	while (!disconnected && now_ms() < end)
		next_event(100, NULL, NULL);
	printf("gone: %s\n", disconnected ? "yes" : "no");
}

void step_mute(const char *step)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	(void)step;
	printf("mute: %s\n", ibv_modify_qp(qp, &attr, IBV_QP_STATE) ? strerror(errno) :
									   "yes");
}

void step_hangup(const char *step)
{
	(void)step;
	printf("hangup: %s\n", rdma_disconnect(id) ? strerror(errno) : "yes");
}
