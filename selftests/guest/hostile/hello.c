// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hellos with an error: a node has to check the length and every field. See hello.h.
 */
#include <endian.h>
#include <stdio.h>

#include "hostile-peer.h"
#include "hello.h"
#include "proof.h"
#include "queues.h"
#include "table.h"

/* Reads at a time, as a node has them. */
#define DEPTH	1

static struct hello make_hello(const char *step)
{
	struct hello h = {
		.magic = htole32(HELLO_MAGIC),
		.version = HELLO_VERSION,
		.flags = num(step, "flags", 0),
		.port = htole16(SPINDLE_DEF_PORT),
		.src = htole32(num(step, "src", my_id)),
		.dst = htole32(num(step, "dst", their_id)),
		.incarnation = htole64(num(step, "inc", random64())),
		.digest = htole64(reading ? table_digest() : view_digest()),
		.cluster = htole32(hello_cluster(cluster)),
	};
	unsigned int i;

	if (find(step, "anybody"))
		h.src = 1000 + random64() % 100000;
	if (find(step, "magic"))
		h.magic ^= 1;
	if (find(step, "version"))
		h.version = HELLO_VERSION + 1;
	if (find(step, "cluster"))
		h.cluster ^= htole32(1);
	if (find(step, "digest"))
		h.digest ^= htole64(1ULL << 63);
	for (i = 0; find(step, "junk") && i < sizeof(h) / 8; i++)
		((uint64_t *)&h)[i] = random64();
	return h;
}

static struct rdma_conn_param make_param(const char *step, size_t len)
{
	uint8_t depth = num(step, "depth", num(step, "reads", reading ? DEPTH : 0));

	keep(step, &said, len);
	return (struct rdma_conn_param){
		.private_data = find(step, "nodata") ? NULL : &said,
		.private_data_len = find(step, "nodata") ? 0 : find(step, "short") ? 20 :
				    num(step, "bytes", len),
		.initiator_depth = depth,
		.responder_resources = depth,
		.retry_count = num(step, "retry", 6),
		.rnr_retry_count = num(step, "rnr", 6),
		.qp_num = qp ? qp->qp_num : 77,
	};
}

struct rdma_conn_param make_request(const char *step)
{
	said.hello = make_hello(step);
	if (!find(step, "junk"))
		seal(step, &said.hello);
	return make_param(step, sizeof(said.hello));
}

struct rdma_conn_param make_answer(const char *step)
{
	said.hello = make_hello(step);
	said.hello.nonce = htole64(random64());
	if (find(step, "tag"))
		seal(step, &said.hello);
	prove(step, PROOF_ANSWER, said.proof);
	return make_param(step, sizeof(said));
}
