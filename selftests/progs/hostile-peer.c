// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile-peer: a member that does not keep to the protocol.
 *
 *	hostile-peer -i ID -t ID [-c CLUSTER] VIEW-WORDS... -- STEP...
 *
 * Connects as node -i to the node -t of this kernel over user-space verbs and does
 * what the steps say, one after the other. VIEW-WORDS are those of "spindle-ctl view
 * set" from "vid" on, so that a test gives the same words to both. Digest, layouts and
 * seals come from the module's own core/.
 *
 * A step is NAME[,KEY[=VALUE]]... and prints one line:
 *
 *	dial		request a connection. Wrong on purpose: nodata short junk magic
 *			version cluster digest src=ID dst=ID; flags=N retry=N rnr=N reads=N;
 *			norecv: post no receives. "up", "rejected CODE", or what else came
 *	flood,n=N	so many requests without a queue pair, keys as for dial; what
 *			became of them
 *	lure		be dialled, once, keys as for dial; reject=CODE refuses
 *	half		request and say nothing more when the answer comes
 *	give		send our rights; len=N key=N in them, size=N bytes, n=N pages
 *	take		wait for the node's rights: the number of chunks
 *	setup		give and take, correctly
 *	write		off= len= of the row, end: off counts from its end; key= near=
 *			addr=: this key, the key so much further on, this address;
 *			foreign: a chunk with another one's key; imm=V, fill=V.
 *			Prints the completion's status
 *	read, add	the same, one-sided read and atomic
 *	send		size=N bytes; inv=KEY: and invalidate
 *	block		sg=INDEX and sent= received= delivered= slots=, sealed, with a
 *			doorbell; seal=bad, quiet: without doorbell
 *	node		sleep=N lost=RANKS, the same of the node block
 *	hdr		sg= slot= round= unit= len=; word=N: another slot word
 *	garbage		n=N random writes into the row, seed=N, some with immediate data
 *	imms		n=N immediate data without a byte, v=V or random
 *	await		sg= and sent= received= delivered= slots=: until the node's own
 *			columns, as it pushed them to us, are at least so
 *	joined		wait until its engine uses the connection (where memory is polled)
 *	gone		wait until the node has disconnected
 *	mute		the queue pair is reset: nobody answers any more, nothing is said
 *	hangup, exit	disconnect; end without a word
 *	mark=F until=F	create a file; wait for one
 *
 * Exit status: 0 all steps were done, whatever became of them; 1 one could not be.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <endian.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "hello.h"
#include "layout.h"
#include "push.h"
#include "smc.h"

/* As in kmod/fabric, which has no headers for user space. */
#define CHUNK_SHIFT	21
#define CHUNK		(1ULL << CHUNK_SHIFT)
#define DESCS		(SPINDLE_PAGE / sizeof(struct desc))

#define LIMIT_S		60	/* for anything that has to happen */
#define SCRATCH		(1U << 20)
#define RECVS		255
#define MAX_PAGES	8

struct desc {
	uint64_t addr;
	uint32_t rkey;
	uint32_t len;
};

static struct spindle_view view;
static struct spindle_layout out, in;	/* our row there, its row here */
static uint32_t my_id, their_id;
static const char *cluster = "spindle";
static uint64_t rng = 1;

static struct rdma_event_channel *chan;
static struct rdma_cm_id *id;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *row_mr, *page_mr, *scratch_mr;
static unsigned char *row, *pages, *scratch;
static struct desc *theirs;
static uint32_t chunks_out, chunks_in, got_pages;
static bool disconnected;

#define die(...) do { fprintf(stderr, "hostile-peer: " __VA_ARGS__); exit(1); } while (0)

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static uint64_t random64(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

/* ---- arguments of a step ---------------------------------------------- */

/* The text behind "KEY=" or "" behind a bare KEY; NULL if it is not there. */
static const char *find(const char *step, const char *key)
{
	size_t n = strlen(key);
	const char *p = step;

	while ((p = strchr(p, ','))) {
		p++;
		if (!strncmp(p, key, n) && (p[n] == '=' || p[n] == ',' || !p[n]))
			return p + n + (p[n] == '=');
	}
	return NULL;
}

static uint64_t num(const char *step, const char *key, uint64_t def)
{
	const char *p = find(step, key);

	return p ? strtoull(p, NULL, 0) : def;
}

/* ---- the view --------------------------------------------------------- */

static void parse_member(const char *word)
{
	struct spindle_view_member *m = &view.member[view.num_members++];
	unsigned int a[4], port = SPINDLE_DEF_PORT, i;

	if (sscanf(word, "%u@%u.%u.%u.%u:%u", &m->id, &a[0], &a[1], &a[2], &a[3], &port) < 5)
		die("bad member '%s'\n", word);
	for (i = 0; i < 4; i++)
		m->addr.ip[i] = a[i];
	m->addr.port = port;
	m->addr.family = 4;
}

static uint64_t parse_mask(const char *word)
{
	uint64_t mask = 0;

	if (!strcmp(word, "all"))
		return view.num_members == 64 ? U64_MAX : BIT_ULL(view.num_members) - 1;
	while (*word) {
		char *end;
		int rank = spindle_view_rank(&view, strtoul(word, &end, 10));

		if (rank < 0 || end == word)
			die("bad list '%s'\n", word);
		mask |= BIT_ULL(rank);
		word = *end ? end + 1 : end;
	}
	return mask;
}

/* What is left out has the defaults of spindle-ctl and of the module. */
static void finish_subgroup(void)
{
	struct spindle_view_subgroup *sg;

	if (!view.num_subgroups)
		return;
	sg = &view.subgroup[view.num_subgroups - 1];
	if (!sg->members)
		sg->members = parse_mask("all");
	if (!sg->senders)
		sg->senders = sg->members;
	if (!sg->ring)
		sg->ring = spindle_view_default_ring(sg->window, sg->max_msg);
}

static void parse_view(char **word, int n)
{
	struct spindle_view_subgroup *sg = NULL;
	const char *err;
	int i;

	for (i = 0; i + 1 < n; i += 2) {
		const char *key = word[i], *val = word[i + 1];

		if (!strcmp(key, "vid")) {
			view.vid = strtoull(val, NULL, 0);
		} else if (!strcmp(key, "member")) {
			parse_member(val);
		} else if (!strcmp(key, "subgroup")) {
			finish_subgroup();
			sg = &view.subgroup[view.num_subgroups++];
			sg->id = strtoul(val, NULL, 0);
			sg->window = SPINDLE_DEF_WINDOW;
			sg->max_msg = SPINDLE_DEF_MAX_MSG;
		} else if (sg && !strcmp(key, "window")) {
			sg->window = strtoul(val, NULL, 0);
		} else if (sg && !strcmp(key, "max-msg")) {
			sg->max_msg = strtoul(val, NULL, 0);
		} else if (sg && !strcmp(key, "ring")) {
			sg->ring = strtoul(val, NULL, 0);
		} else if (sg && !strcmp(key, "members")) {
			sg->members = parse_mask(val);
		} else if (sg && !strcmp(key, "senders")) {
			sg->senders = parse_mask(val);
		} else if (sg && !strcmp(key, "mode")) {
			sg->mode = !strcmp(val, "unordered");
		} else if (!sg || strcmp(key, "hold")) {
			die("unknown word '%s'\n", key);
		}
	}
	finish_subgroup();
	err = spindle_view_check(&view, NULL);
	if (err)
		die("%s\n", err);
}

/* ---- verbs ------------------------------------------------------------ */

static void post_recv(bool page, uint32_t i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)pages + i * SPINDLE_PAGE,
		.length = SPINDLE_PAGE,
		.lkey = page_mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = page ? 2 : 3,
		.sg_list = &sge,
		.num_sge = page,
	}, *bad;

	if (ibv_post_recv(qp, &wr, &bad))
		die("post a receive: %s\n", strerror(errno));
}

/* Take one completion if there is one: receives are dealt with here. */
static bool poll_send(enum ibv_wc_status *status)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(cq, 1, &wc) != 1)
		return false;
	if (wc.wr_id == 1) {
		*status = wc.status;
		return true;
	}
	if (wc.status == IBV_WC_SUCCESS && wc.wr_id == 2)
		got_pages++;
	if (wc.status == IBV_WC_SUCCESS && wc.wr_id == 3)
		post_recv(false, 0);
	return false;
}

/* Post, and say how it ended. */
static const char *post_and_wait(struct ibv_send_wr *wr)
{
	uint64_t end = now_ms() + LIMIT_S * 1000;
	enum ibv_wc_status status;
	struct ibv_send_wr *bad;

	wr->wr_id = 1;
	wr->send_flags |= IBV_SEND_SIGNALED;
	if (ibv_post_send(qp, wr, &bad))
		return "cannot post";
	while (now_ms() < end)
		if (poll_send(&status))
			return ibv_wc_status_str(status);
	return "no completion";
}

/*
 * The queue pair goes through its states by hand where it is to have more rights than
 * the node has granted.
 */
static void move_qp(enum ibv_qp_state state, uint8_t reads)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(id, &attr, &mask))
		die("attributes: %s\n", strerror(errno));
	if (state == IBV_QPS_RTS)
		attr.max_rd_atomic = reads;
	if (ibv_modify_qp(qp, &attr, mask))
		die("modify: %s\n", strerror(errno));
}

static void make_queues(const char *step)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 64,
			.max_recv_wr = RECVS + MAX_PAGES + 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	uint32_t i;

	pd = ibv_alloc_pd(id->verbs);
	cq = pd ? ibv_create_cq(id->verbs, 1024, NULL, NULL, 0) : NULL;
	if (!cq)
		die("no completion queue: %s\n", strerror(errno));
	attr.send_cq = cq;
	attr.recv_cq = cq;
	if (find(step, "reads")) {
		qp = ibv_create_qp(pd, &attr);
		if (qp)
			move_qp(IBV_QPS_INIT, 0);
	} else if (!rdma_create_qp(id, pd, &attr)) {
		qp = id->qp;
	}
	if (!qp)
		die("no queue pair: %s\n", strerror(errno));
	row_mr = ibv_reg_mr(pd, row, in.size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	page_mr = ibv_reg_mr(pd, pages, 2 * MAX_PAGES * SPINDLE_PAGE, IBV_ACCESS_LOCAL_WRITE);
	scratch_mr = ibv_reg_mr(pd, scratch, SCRATCH, IBV_ACCESS_LOCAL_WRITE);
	if (!row_mr || !page_mr || !scratch_mr)
		die("no memory region: %s\n", strerror(errno));
	for (i = 0; i < DIV_ROUND_UP(chunks_out, DESCS); i++)
		post_recv(true, i);
	for (i = 0; !find(step, "norecv") && i < RECVS; i++)
		post_recv(false, 0);
}

/* ---- connections ------------------------------------------------------ */

/* The next event, or -1 when the time is over. The code of a rejection goes to @code. */
static int next_event(int ms, int64_t *code, struct rdma_cm_id **from)
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
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		disconnected = true;
	rdma_ack_cm_event(ev);
	return type;
}

static struct sockaddr_in member_addr(uint32_t node)
{
	int rank = spindle_view_rank(&view, node);
	struct sockaddr_in sin = { .sin_family = AF_INET };

	if (rank < 0)
		die("node %u is not in the view\n", node);
	memcpy(&sin.sin_addr, view.member[rank].addr.ip, 4);
	sin.sin_port = htons(view.member[rank].addr.port);
	return sin;
}

static struct hello make_hello(const char *step)
{
	struct hello h = {
		.magic = htole32(HELLO_MAGIC),
		.version = htole16(HELLO_VERSION),
		.flags = htole16(num(step, "flags", 0)),
		.src = htole32(num(step, "src", my_id)),
		.dst = htole32(num(step, "dst", their_id)),
		.incarnation = random64(),
		.digest = htole64(spindle_view_digest(&view)),
	};
	unsigned int i;

	snprintf(h.cluster, sizeof(h.cluster), "%s", cluster);
	if (find(step, "magic"))
		h.magic ^= 1;
	if (find(step, "version"))
		h.version = htole16(HELLO_VERSION + 1);
	if (find(step, "cluster"))
		h.cluster[sizeof(h.cluster) - 1] = 'x';
	if (find(step, "digest"))
		h.digest ^= htole64(1ULL << 63);
	for (i = 0; find(step, "junk") && i < sizeof(h) / 8; i++)
		((uint64_t *)&h)[i] = random64();
	return h;
}

static struct rdma_conn_param make_param(const char *step, struct hello *h)
{
	*h = make_hello(step);
	return (struct rdma_conn_param){
		.private_data = find(step, "nodata") ? NULL : h,
		.private_data_len = find(step, "nodata") ? 0 : find(step, "short") ? 20 :
							   sizeof(*h),
		.initiator_depth = num(step, "reads", 0),
		.responder_resources = num(step, "reads", 0),
		.retry_count = num(step, "retry", 6),
		.rnr_retry_count = num(step, "rnr", 6),
		.qp_num = qp ? qp->qp_num : 77,
	};
}

static void resolve(void)
{
	struct sockaddr_in src = member_addr(my_id), dst = member_addr(their_id);

	src.sin_port = 0;
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

static void step_dial(const char *step)
{
	struct rdma_conn_param param;
	struct hello h;
	int64_t code;
	int type;

	resolve();
	make_queues(step);
	param = make_param(step, &h);
	if (rdma_connect(id, &param))
		die("connect: %s\n", strerror(errno));
	type = next_event(LIMIT_S * 1000, &code, NULL);
	if (type == RDMA_CM_EVENT_CONNECT_RESPONSE) {
		/* Once more: the rights of the first time were those of no connection. */
		move_qp(IBV_QPS_INIT, 0);
		move_qp(IBV_QPS_RTR, 0);
		move_qp(IBV_QPS_RTS, num(step, "reads", 0));
		type = rdma_establish(id) ? -1 : RDMA_CM_EVENT_ESTABLISHED;
	}
	printf("dial: %s\n", outcome(type, code));
	/* Nothing that follows can be done without a connection. */
	if (type != RDMA_CM_EVENT_ESTABLISHED)
		exit(0);
}

static void step_half(const char *step)
{
	struct pollfd pfd = { .fd = chan->fd, .events = POLLIN };
	struct rdma_conn_param param;
	struct hello h;

	resolve();
	make_queues(step);
	param = make_param(step, &h);
	if (rdma_connect(id, &param))
		die("connect: %s\n", strerror(errno));
	/* The event is there, but who does not take it does not confirm either. */
	printf("half: %s\n", poll(&pfd, 1, LIMIT_S * 1000) == 1 ? "answered" : "no answer");
}

static void step_flood(const char *step)
{
	uint64_t n = num(step, "n", 1), i, most = 0;
	struct rdma_conn_param param;
	char first[64] = "";
	struct hello h;
	int64_t code;
	int type;

	for (i = 0; i < n; i++) {
		const char *what;

		resolve();
		param = make_param(step, &h);
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

static void step_lure(const char *step)
{
	struct sockaddr_in addr = member_addr(my_id);
	struct rdma_cm_id *listener, *from;
	struct rdma_conn_param param;
	struct hello h;
	uint32_t word = htobe32(num(step, "reject", 0));
	int type;

	if (rdma_create_id(chan, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&addr) || rdma_listen(listener, 16))
		die("listen: %s\n", strerror(errno));
	do {
		type = next_event(LIMIT_S * 1000, NULL, &from);
		if (type < 0)
			die("nobody dials\n");
	} while (type != RDMA_CM_EVENT_CONNECT_REQUEST);
	id = from;
	if (find(step, "reject")) {
		printf("lure: %s\n", rdma_reject(id, &word, sizeof(word)) ? "cannot reject" :
									     "rejected");
		return;
	}
	make_queues(step);
	param = make_param(step, &h);
	if (rdma_accept(id, &param))
		die("accept: %s\n", strerror(errno));
	type = next_event(LIMIT_S * 1000, NULL, NULL);
	/* Who ends it at once may be faster than the confirmation that it was there. */
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		type = RDMA_CM_EVENT_ESTABLISHED;
	printf("lure: %s\n", outcome(type, -1));
}

/* ---- set-up ----------------------------------------------------------- */

static uint32_t give(const char *step, const char **what)
{
	uint32_t i, n = num(step, "n", DIV_ROUND_UP(chunks_in, DESCS));
	struct desc *d = (struct desc *)(pages + MAX_PAGES * SPINDLE_PAGE);

	memset(d, 0, MAX_PAGES * SPINDLE_PAGE);
	for (i = 0; i < chunks_in && i < MAX_PAGES * DESCS; i++) {
		uint64_t left = in.size - i * CHUNK;

		d[i].addr = htole64((uintptr_t)row + i * CHUNK);
		d[i].rkey = htole32(num(step, "key", row_mr->rkey));
		d[i].len = htole32(num(step, "len", left < CHUNK ? left : CHUNK));
	}
	*what = "nothing";
	for (i = 0; i < n; i++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)d + i % MAX_PAGES * SPINDLE_PAGE,
			.length = num(step, "size", SPINDLE_PAGE),
			.lkey = page_mr->lkey,
		};
		struct ibv_send_wr wr = {
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
		};

		*what = post_and_wait(&wr);
		if (strcmp(*what, "success"))
			break;
	}
	return i;
}

static bool take(void)
{
	uint64_t end = now_ms() + LIMIT_S * 1000;
	uint32_t i, want = DIV_ROUND_UP(chunks_out, DESCS);
	enum ibv_wc_status status;
	bool over;

	do {
		over = disconnected || now_ms() >= end;
		for (i = 0; i < 64; i++)
			poll_send(&status);
		next_event(!over, NULL, NULL);
	} while (got_pages < want && !over);
	if (got_pages < want)
		return false;
	for (i = 0; i < chunks_out; i++)
		theirs[i] = ((struct desc *)pages)[i];
	return true;
}

static void step_give(const char *step)
{
	const char *what;
	uint32_t n = give(step, &what);

	printf("give: %u %s\n", n, what);
}

static void step_take(const char *step)
{
	(void)step;
	if (take())
		printf("take: %u chunks\n", chunks_out);
	else
		printf("take: nothing\n");
}

static void step_setup(const char *step)
{
	const char *what;

	give(step, &what);
	printf("setup: %s\n", strcmp(what, "success") ? what : take() ? "up" : "no rights");
}

/* ---- one-sided work --------------------------------------------------- */

/*
 * Of the first two chunks, the one that begins outside the other. Both lie somewhere in
 * the node's memory, so the first page of one may be in reach of the other's key; a
 * write to it is nothing that a key could prevent, and harmless.
 */
static uint32_t foreign(void)
{
	uint64_t a = le64toh(theirs[0].addr), b = le64toh(theirs[1].addr);

	return a >= b && a - b < le32toh(theirs[1].len);
}

/* Where an offset of the row is, with the right key unless the step says otherwise. */
static void aim(const char *step, struct ibv_send_wr *wr, uint64_t off)
{
	uint32_t c = off >> CHUNK_SHIFT;

	if (c >= chunks_out)
		c = chunks_out - 1;
	wr->wr.rdma.remote_addr = num(step, "addr", le64toh(theirs[c].addr) + off - c * CHUNK);
	wr->wr.rdma.rkey = le32toh(theirs[c].rkey);
	if (find(step, "foreign")) {
		if (chunks_out < 2)
			die("the row has one chunk\n");
		c = foreign();
		wr->wr.rdma.remote_addr = le64toh(theirs[c].addr) + 8;
		wr->wr.rdma.rkey = le32toh(theirs[!c].rkey);
	}
	if (find(step, "key"))
		wr->wr.rdma.rkey = num(step, "key", 0);
	if (find(step, "near"))
		wr->wr.rdma.rkey += num(step, "near", 0);
	if (find(step, "imm")) {
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr->imm_data = htobe32(num(step, "imm", 0));
	}
}

static const char *one_sided(const char *step, enum ibv_wr_opcode opcode, uint64_t off,
			     const void *data, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)scratch,
		.length = len,
		.lkey = scratch_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = len != 0,
		.opcode = opcode,
	};

	if (len > SCRATCH)
		die("too long\n");
	if (data)
		memcpy(scratch, data, len);
	aim(step, &wr, off);
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		uint64_t addr = wr.wr.rdma.remote_addr;
		uint32_t rkey = wr.wr.rdma.rkey;

		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.swap = 0;
	}
	return post_and_wait(&wr);
}

static void step_write(const char *step)
{
	uint64_t off = num(step, "off", 0) + (find(step, "end") ? out.size : 0);
	uint32_t len = num(step, "len", 8);

	memset(scratch, num(step, "fill", 0x55), min(len, SCRATCH));
	printf("write: %s\n", one_sided(step, IBV_WR_RDMA_WRITE, off, NULL, len));
}

static void step_read(const char *step)
{
	printf("read: %s\n", one_sided(step, IBV_WR_RDMA_READ, num(step, "off", 0), NULL,
				       num(step, "len", 8)));
}

static void step_add(const char *step)
{
	printf("add: %s\n", one_sided(step, IBV_WR_ATOMIC_FETCH_AND_ADD, num(step, "off", 0),
				      NULL, 8));
}

static void step_send(const char *step)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)scratch,
		.length = num(step, "size", 0),
		.lkey = scratch_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = sge.length != 0,
		.opcode = find(step, "inv") ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND,
		.invalidate_rkey = num(step, "inv", 0),
	};

	printf("send: %s\n", post_and_wait(&wr));
}

/* A block goes with a doorbell, so that an engine that sleeps looks at it. */
static void put_block(const char *step, uint32_t index, struct spindle_block *b)
{
	uint64_t off = index == SPINDLE_IMM_NODE ? SPINDLE_NODE_BLOCK :
						   spindle_layout_block(index);
	char imm[32] = "";

	b->seal = spindle_seal(b->word);
	if (find(step, "seal"))
		b->seal ^= 1;
	if (!find(step, "quiet"))
		snprintf(imm, sizeof(imm), "b,imm=%u", index << SPINDLE_IMM_SHIFT |
			 ((uint32_t)num(step, "slots", 0) & SPINDLE_IMM_SLOTS));
	printf("%.*s: %s\n", (int)strcspn(step, ","), step,
	       one_sided(imm, IBV_WR_RDMA_WRITE, off, b, SPINDLE_BLOCK_PUSH));
}

static void step_block(const char *step)
{
	struct spindle_block b = { .word = {
		[SPINDLE_COL_SENT] = num(step, "sent", 0),
		[SPINDLE_COL_RECEIVED] = num(step, "received", 0),
		[SPINDLE_COL_DELIVERED] = num(step, "delivered", 0),
		[SPINDLE_COL_SLOTS] = num(step, "slots", 0),
	} };

	put_block(step, num(step, "sg", 0), &b);
}

static void step_node(const char *step)
{
	struct spindle_block b = { .word = {
		[SPINDLE_NODE_COL_SLEEP] = num(step, "sleep", 0),
		[SPINDLE_NODE_COL_VID] = view.vid,
		[SPINDLE_NODE_COL_LOST] = num(step, "lost", 0),
	} };

	put_block(step, SPINDLE_IMM_NODE, &b);
}

static void step_hdr(const char *step)
{
	uint32_t sg = num(step, "sg", 0);
	uint64_t slot = num(step, "slot", 0);
	struct spindle_hdr h = {
		.round = num(step, "round", 0),
		.slot = num(step, "word", slot + 1),
		.unit = num(step, "unit", 0),
		.len = num(step, "len", 0),
	};
	uint64_t off = out.hdr[sg] + slot % view.subgroup[sg].window * sizeof(h);

	if (out.hdr[sg] == SPINDLE_NO_OFFSET)
		die("there is no header ring of subgroup index %u in our row\n", sg);
	printf("hdr: %s\n", one_sided(step, IBV_WR_RDMA_WRITE, off, &h, sizeof(h)));
}

static void step_garbage(const char *step)
{
	uint64_t n = num(step, "n", 100), i, j;
	const char *what = "success";

	rng = num(step, "seed", 1) * 0x9e3779b97f4a7c15ULL + 1;
	for (i = 0; i < n && !strcmp(what, "success"); i++) {
		/* Half of them where the columns and the first headers are. */
		uint64_t span = random64() & 1 ? out.size : min(out.size, 2 * SPINDLE_PAGE);
		uint64_t off = random64() % span;
		uint64_t len = 1 + random64() % 256;
		char imm[32] = "";

		len = min(len, min(out.size - off, CHUNK - (off & (CHUNK - 1))));
		for (j = 0; j < len; j += 8) {
			uint64_t r = random64();

			memcpy(scratch + j, &r, sizeof(r));
		}
		if (random64() % 4 == 0)
			snprintf(imm, sizeof(imm), "g,imm=%" PRIu32, (uint32_t)random64());
		what = one_sided(imm, IBV_WR_RDMA_WRITE, off, NULL, len);
	}
	printf("garbage: %s\n", what);
}

static void step_imms(const char *step)
{
	uint64_t n = num(step, "n", 100), i;
	const char *what = "success";

	for (i = 0; i < n && !strcmp(what, "success"); i++) {
		char imm[32];

		snprintf(imm, sizeof(imm), "i,imm=%" PRIu32,
			 (uint32_t)num(step, "v", random64() & 0xffffffff));
		what = one_sided(imm, IBV_WR_RDMA_WRITE, 0, NULL, 0);
	}
	printf("imms: %s\n", what);
}

/* ---- waiting, leaving ------------------------------------------------- */

static void step_await(const char *step)
{
	static const char * const col[SPINDLE_BLOCK_WORDS] = {
		[SPINDLE_COL_SENT] = "sent",
		[SPINDLE_COL_RECEIVED] = "received",
		[SPINDLE_COL_DELIVERED] = "delivered",
		[SPINDLE_COL_SLOTS] = "slots",
	};
	const struct spindle_block *b =
		(void *)(row + spindle_layout_block(num(step, "sg", 0)));
	uint64_t end = now_ms() + num(step, "ms", LIMIT_S * 1000);
	uint64_t word[SPINDLE_BLOCK_WORDS] = { 0 }, seal = 0;
	enum ibv_wc_status status;
	bool there = false;
	int i;

	while (!there && now_ms() < end && !disconnected) {
		poll_send(&status);
		next_event(0, NULL, NULL);
		spindle_block_read(b, &seal, word);
		there = true;
		for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
			there &= word[i] >= num(step, col[i], 0);
	}
	printf("await: %s\n", there ? "there" : disconnected ? "gone" : "not there");
	if (!there)
		fprintf(stderr, "# await: sent %" PRIu64 " received %" PRIu64 " delivered %"
			PRIu64 " slots %" PRIu64 "\n", word[0], word[1], word[2], word[3]);
}

/* The engine has the connection: it has told us once that it went to sleep. */
static void step_joined(const char *step)
{
	const struct spindle_block *b = (void *)(row + SPINDLE_NODE_BLOCK);
	uint64_t end = now_ms() + LIMIT_S * 1000;
	enum ibv_wc_status status;

	(void)step;
	while (!READ_ONCE(b->seal) && now_ms() < end && !disconnected) {
		poll_send(&status);
		next_event(1, NULL, NULL);
	}
	printf("joined: %s\n", READ_ONCE(b->seal) ? "yes" : "no");
}

static void step_gone(const char *step)
{
	uint64_t end = now_ms() + num(step, "ms", LIMIT_S * 1000);

	while (!disconnected && now_ms() < end)
		next_event(100, NULL, NULL);
	printf("gone: %s\n", disconnected ? "yes" : "no");
}

static void step_mute(const char *step)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	(void)step;
	printf("mute: %s\n", ibv_modify_qp(qp, &attr, IBV_QP_STATE) ? strerror(errno) :
									   "yes");
}

static void step_hangup(const char *step)
{
	(void)step;
	printf("hangup: %s\n", rdma_disconnect(id) ? strerror(errno) : "yes");
}

static void step_exit(const char *step)
{
	(void)step;
	fflush(stdout);
	_exit(0);
}

static void step_mark(const char *step)
{
	int fd = open(step + strcspn(step, "=") + 1, O_CREAT | O_WRONLY, 0600);

	if (fd < 0)
		die("%s: %s\n", step, strerror(errno));
	close(fd);
}

/* Meanwhile the node may write to us and finds receives. */
static void step_until(const char *step)
{
	const char *file = step + strcspn(step, "=") + 1;
	uint64_t end = now_ms() + 5 * LIMIT_S * 1000;
	enum ibv_wc_status status;

	while (access(file, F_OK)) {
		while (cq && poll_send(&status))
			;
		next_event(10, NULL, NULL);
		if (now_ms() > end)
			die("%s: it did not come\n", step);
	}
}

static const struct {
	const char *name;
	void (*fn)(const char *step);
} steps[] = {
	{ "dial", step_dial }, { "half", step_half }, { "flood", step_flood },
	{ "lure", step_lure }, { "give", step_give }, { "take", step_take },
	{ "setup", step_setup }, { "write", step_write }, { "read", step_read },
	{ "add", step_add }, { "send", step_send }, { "block", step_block },
	{ "node", step_node }, { "hdr", step_hdr }, { "garbage", step_garbage },
	{ "imms", step_imms }, { "await", step_await }, { "joined", step_joined },
	{ "gone", step_gone },
	{ "mute", step_mute }, { "hangup", step_hangup }, { "exit", step_exit },
	{ "mark", step_mark }, { "until", step_until },
};

static void run(const char *step)
{
	size_t n = strcspn(step, ",="), i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (strlen(steps[i].name) != n || strncmp(step, steps[i].name, n))
			continue;
		steps[i].fn(step);
		return;
	}
	die("unknown step '%s'\n", step);
}

int main(int argc, char **argv)
{
	int c, first, me, they;

	while ((c = getopt(argc, argv, "+i:t:c:")) != -1) {
		switch (c) {
		case 'i': my_id = strtoul(optarg, NULL, 0); break;
		case 't': their_id = strtoul(optarg, NULL, 0); break;
		case 'c': cluster = optarg; break;
		default: return 2;
		}
	}
	for (first = optind; first < argc && strcmp(argv[first], "--"); first++)
		;
	parse_view(argv + optind, first - optind);
	me = spindle_view_rank(&view, my_id);
	they = spindle_view_rank(&view, their_id);
	if (me < 0 || they < 0)
		die("-i and -t name members of the view\n");
	setvbuf(stdout, NULL, _IOLBF, 0);

	spindle_layout_row(&out, &view, me, they);
	spindle_layout_row(&in, &view, they, me);
	chunks_out = DIV_ROUND_UP(out.size, CHUNK);
	chunks_in = DIV_ROUND_UP(in.size, CHUNK);
	theirs = calloc(chunks_out, sizeof(*theirs));
	row = aligned_alloc(SPINDLE_PAGE, in.size);
	pages = aligned_alloc(SPINDLE_PAGE, 2 * MAX_PAGES * SPINDLE_PAGE);
	scratch = aligned_alloc(SPINDLE_PAGE, SCRATCH);
	chan = rdma_create_event_channel();
	if (!theirs || !row || !pages || !scratch || !chan)
		die("no memory, or no /dev/infiniband/rdma_cm\n");
	memset(row, 0, in.size);
	memset(pages, 0, 2 * MAX_PAGES * SPINDLE_PAGE);

	while (++first < argc)
		run(argv[first]);
	return 0;
}
