// SPDX-License-Identifier: GPL-2.0-only
/*
 * The speed of the device without Spindle: writes of the same size to the same number of members.
 * See run.h.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include <linux/spindle_genl.h>

#include "common/util.h"
#include "common/wire.h"
#include "net.h"
#include "place.h"
#include "run.h"
#include "stop.h"

/* Without a count: this number of bytes for each member, within bounds for the number of writes. */
#define AUTO_BYTES	(32ULL << 20)
#define AUTO_MIN	500
#define AUTO_MAX	20000

#define PINGPONGS	2000

#define TRY_NS		10000000
#define TRIES		100

/* The sum of the answers of all requests RAW_RUN. */
struct answer {
	uint64_t ns;
	uint64_t writes;
	uint64_t count;
};

static int take(const struct ctl_replies *replies, struct answer *answer)
{
	struct nlattr *nest = replies->count ? ctl_msg_attrs(replies->msg[0])[SPINDLE_A_RAW] : NULL;
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_RAW_A_MAX);

	if (!nest)
		return -EBADMSG;
	answer->ns += ctl_attr_num(a[SPINDLE_RAW_A_NS]);
	answer->writes += ctl_attr_num(a[SPINDLE_RAW_A_WRITES]);
	answer->count += ctl_attr_num(a[SPINDLE_RAW_A_COUNT]);
	return 0;
}

static int run_once(const struct perf_place *place, uint32_t node, uint8_t kind, uint32_t size,
		    uint32_t count, struct answer *answer)
{
	struct ctl_req *req = perf_net_req(place->net, SPINDLE_CMD_RAW_RUN, node, "raw writes");
	struct ctl_replies replies;
	struct nlattr *nest;
	int rc;

	perf_net_u32(req, SPINDLE_A_SUBGROUP_ID, "subgroup", place->group[0].id);
	ctl_req_mark(req, 0, "raw");
	nest = ctl_req_nest(req, SPINDLE_A_RAW, NULL);
	ctl_req_u8(req, SPINDLE_RAW_A_KIND, kind);
	perf_net_u32(req, SPINDLE_RAW_A_SIZE, "size", size);
	perf_net_u32(req, SPINDLE_RAW_A_COUNT, "count", count);
	ctl_req_nest_end(req, nest);
	rc = perf_net_call(place->net, req, &replies, CTL_QUIET);
	return rc ? rc : take(&replies, answer);
}

/*
 * Repeat the request, because earlier writes may still be under way, and because the kernel bounds
 * the time of a request.
 */
static int run(const struct perf_place *place, uint32_t node, uint8_t kind, uint32_t size,
	       uint32_t count, struct answer *answer)
{
	static struct ctl_pool pool;
	struct ctl_pool *before = ctl_pool_use(&pool);
	struct timespec ts = { 0, TRY_NS };
	unsigned int tries = 0;
	int rc = -EBUSY;

	memset(answer, 0, sizeof(*answer));
	while (answer->count < count && tries < TRIES && !perf_stopped()) {
		rc = run_once(place, node, kind, size, count - answer->count, answer);
		if (rc && rc != -EBUSY)
			break;
		if (rc) {
			tries++;
			nanosleep(&ts, NULL);
		}
	}
	/* Drop the requests and their answers, because there may be many. */
	ctl_pool_use(before);
	ctl_pool_drop(&pool);
	/*
	 * A member in another kernel does not answer pings. A member that another process drives
	 * may be in use. In both cases the value stays unknown.
	 */
	if (rc == -EOPNOTSUPP || (rc == -EBUSY && perf_place_remote(place))) {
		answer->ns = 0;
		return 0;
	}
	if (rc && !perf_stopped())
		ctl_err("raw writes of node %u: %s", node, strerror(-rc));
	return rc;
}

/* Find a node of the place that may send. */
static int sender_of(const struct perf_place *place, uint32_t *node)
{
	unsigned int i;

	for (i = 0; i < place->nodes; i++) {
		if (place->group[0].spot[i].sender) {
			*node = place->node[i];
			return 0;
		}
	}
	return -ENOENT;
}

static uint32_t auto_count(const struct perf_place *place, uint64_t size)
{
	uint64_t count = AUTO_BYTES / (size * (place->group[0].members - 1));

	return count < AUTO_MIN ? AUTO_MIN : count > AUTO_MAX ? AUTO_MAX : count;
}

/**
 * perf_raw() - take one more sample of the device
 * @place: place; no process is attached to its nodes
 * @size: bytes of a write
 * @count: writes to each member, and round trips; 0: automatic
 * @raw: gets the sample
 *
 * Return: 0 or -errno, after a message
 */
int perf_raw(const struct perf_place *place, uint64_t size, uint64_t count, struct perf_raw *raw)
{
	unsigned int i = raw->samples;
	struct answer answer;
	uint32_t node, trips;
	int rc;

	raw->bandwidth = ctl_grow(raw->bandwidth, i, sizeof(*raw->bandwidth));
	raw->latency = ctl_grow(raw->latency, i, sizeof(*raw->latency));
	raw->samples++;
	raw->bandwidth[i] = NAN;
	raw->latency[i] = NAN;
	/* There is no member to write to, or no node that may send. */
	if (place->group[0].members < 2 || sender_of(place, &node))
		return 0;
	rc = run(place, node, SPINDLE_RAW_WRITE, size, count ? count : auto_count(place, size),
		 &answer);
	if (rc)
		return rc;
	if (answer.ns)
		raw->bandwidth[i] = (double)answer.writes * size * 1e9 / answer.ns;
	trips = count ? count : PINGPONGS;
	rc = run(place, node, SPINDLE_RAW_PINGPONG, size, trips, &answer);
	if (!rc && answer.ns)
		raw->latency[i] = (double)answer.ns / answer.count / 2;
	return rc;
}
