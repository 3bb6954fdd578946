// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connection requests without a queue pair. Their private data is a hello with one error, a part of
 * one, or noise.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <poll.h>
#include <string.h>
#include <rdma/rdma_cma.h>

#include "hello.h"
#include "fuzz.h"
#include "peer.h"

#define WAIT_MS 5000

/* The next event, or -1; the first word of its private data goes to @word. */
static int next_event(struct rdma_event_channel *chan, uint32_t *word)
{
	struct pollfd p = { .fd = chan->fd, .events = POLLIN };
	struct rdma_cm_event *ev;
	int type;

	if (poll(&p, 1, WAIT_MS) != 1 || rdma_get_cm_event(chan, &ev))
		return -1;
	type = ev->event;
	*word = 0;
	if (ev->param.conn.private_data && ev->param.conn.private_data_len >= sizeof(*word))
		memcpy(word, ev->param.conn.private_data, sizeof(*word));
	rdma_ack_cm_event(ev);
	return type;
}

static struct sockaddr_in addr_of(uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	sin.sin_addr.s_addr = htonl(0x0a000001);
	sin.sin_port = htons(port);
	return sin;
}

static struct hello right_hello(uint32_t from, uint32_t to, uint64_t digest)
{
	struct hello h = {
		.magic = htole32(HELLO_MAGIC),
		.version = HELLO_VERSION,
		.flags = below(2),
		.port = htole16(4790),
		.src = htole32(from),
		.dst = htole32(to),
		.incarnation = rnd(),
		.digest = htole64(digest),
		.cluster = htole32(hello_cluster("spindle")),
	};

	return h;
}

/* Change one field, one bit, or some bytes. */
static void spoil(struct hello *h)
{
	unsigned char *byte = (unsigned char *)h;

	switch (below(8)) {
	case 0:
		h->magic = odd();
		break;
	case 1:
		h->version = odd();
		break;
	case 2:
		h->flags = rnd();
		/* Ask for any part of a card, or knock with any incarnation. */
		if (one_in(2))
			h->flags = one_in(2) ? HELLO_F_ASK : HELLO_F_JOIN;
		if (h->flags & (HELLO_F_ASK | HELLO_F_JOIN))
			h->incarnation = one_in(2) ? below(1000) : odd();
		if ((h->flags & HELLO_F_ASK) && one_in(2))
			h->dst = 0;
		/* Or ask for reads of any table. */
		if (one_in(3)) {
			h->flags = HELLO_F_READ;
			h->digest = one_in(2) ? below(8) | (uint64_t)below(8) << 32 : odd();
		}
		break;
	case 3:
		h->src = one_in(2) ? below(40) : odd();
		break;
	case 4:
		h->dst = one_in(2) ? below(40) : odd();
		break;
	case 5:
		h->digest = odd();
		break;
	case 6:
		h->cluster = odd();
		break;
	case 7:
		byte[below(sizeof(*h))] ^= 1 << below(8);
		break;
	}
}

/*
 * Are the fields right that a node checks? Other flags and the incarnation concern only the peer.
 */
static bool proper(const struct hello *h, const struct hello *right)
{
	return h->magic == right->magic && h->version == right->version &&
	       !(h->flags & (HELLO_F_JOIN | HELLO_F_ASK)) &&
	       h->src == right->src && h->dst == right->dst && h->digest == right->digest &&
	       h->cluster == right->cluster;
}

static int request(struct rdma_event_channel *chan, struct rdma_cm_id *id,
		   const struct hello *h, unsigned int len)
{
	struct rdma_conn_param param = {
		.private_data = h,
		.private_data_len = len,
		.responder_resources = one_in(4) ? rnd() : 0,
		.initiator_depth = one_in(4) ? rnd() : 0,
		.retry_count = below(8),
		.rnr_retry_count = below(8),
		.qp_num = one_in(8) ? 77 : rnd() & 0xffffff,
	};
	uint32_t word;

	if (rdma_connect(id, &param))
		return NO_ANSWER;
	switch (next_event(chan, &word)) {
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
		return 0;
	case RDMA_CM_EVENT_REJECTED:
		return word ? (int)be32toh(word) : NO_ANSWER;
	default:
		return NO_ANSWER;
	}
}

/*
 * Ask node @to for a connection in the name of @from. Returns 0 if the node would have made the
 * connection, else the code of the rejection, or NO_ANSWER.
 */
int hello_dial(uint32_t from, uint32_t to, uint64_t digest, bool right)
{
	struct rdma_event_channel *chan = rdma_create_event_channel();
	struct sockaddr_in src = addr_of(0), dst = addr_of(PORT(to));
	struct hello good = right_hello(from, to, digest), h = good;
	unsigned int len = sizeof(h), i, n = one_in(3) ? 3 : 1;
	struct rdma_cm_id *id;
	int ret = NO_ANSWER;
	uint32_t word;

	for (i = 0; !right && i < n; i++)
		spoil(&h);
	if (!right && one_in(4)) {
		len = below(sizeof(h) + 1);
		/* The CM sends zeroes for the rest, and these may be the bytes that were there. */
		memset((char *)&h + len, 0, sizeof(h) - len);
	}
	if (!chan)
		return NO_ANSWER;
	if (rdma_create_id(chan, &id, NULL, RDMA_PS_TCP))
		goto out_chan;
	if (!rdma_resolve_addr(id, (struct sockaddr *)&src, (struct sockaddr *)&dst, WAIT_MS) &&
	    next_event(chan, &word) == RDMA_CM_EVENT_ADDR_RESOLVED &&
	    !rdma_resolve_route(id, WAIT_MS) &&
	    next_event(chan, &word) == RDMA_CM_EVENT_ROUTE_RESOLVED)
		ret = request(chan, id, &h, len);
	if (!ret && !proper(&h, &good))
		broken("node %u accepted a hello that is wrong: flags %u, %u to %u, life %llu", to,
		       h.flags, h.src, h.dst, (unsigned long long)h.incarnation);
	rdma_destroy_id(id);
out_chan:
	rdma_destroy_event_channel(chan);
	return ret;
}
