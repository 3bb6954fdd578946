// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schedules of a domain. Participants apply the same records, each at its own pace. Some crash, and
 * go on from a snapshot of another one. At each position all have the same directory, which a model
 * without lists and hashes knows as well. Then a cache is compared with a model in the same manner.
 *
 *	sim [-s SEED] [-n SCHEDULES]
 */
#include <getopt.h>

#include "make.h"
#include "rng.h"
#include "tap.h"

#define NODES		4U
#define TOPICS		6U
#define RECORDS		120U
#define PARTICIPANTS	3U

static const struct spindle_dds_limits limits = { .topics = 4, .endpoints = 14, .own = 5 };
static uint64_t seed;

#define NEED(cond) do {								\
	if (!(cond))								\
		die("seed %llu, line %d: not so: %s", (unsigned long long)seed,	\
		    __LINE__, #cond);						\
} while (0)

/* ---- the model ----------------------------------------------------------------------------- */

struct model_end {
	uint64_t id;
	uint32_t node, topic;
	bool writer, gone;
	struct spindle_dds_qos qos;
};

static struct model {
	uint32_t shared, ends;
	uint64_t participant[NODES];
	struct {
		uint64_t id;
		uint32_t level, maker;
	} topic[TOPICS];
	struct model_end end[RECORDS];
} model;

/* Endpoints of a node, or of a topic, or of both; UINT32_MAX: of all. */
static uint32_t model_count(uint32_t node, uint32_t topic)
{
	uint32_t i, n = 0;

	for (i = 0; i < model.ends; i++)
		n += !model.end[i].gone && (node == UINT32_MAX || model.end[i].node == node) &&
		     (topic == UINT32_MAX || model.end[i].topic == topic);
	return n;
}

/* Topics that are there, or of them the stored ones that a node has made. */
static uint32_t model_topics(uint32_t maker)
{
	uint32_t i, n = 0;

	for (i = 0; i < TOPICS; i++)
		n += model.topic[i].id &&
		     (maker == UINT32_MAX || (model.topic[i].level >= SPINDLE_DDS_TRANSIENT &&
					      model.topic[i].maker == maker));
	return n;
}

static void model_sweep(void)
{
	uint32_t i;

	for (i = 0; i < TOPICS; i++)
		if (model.topic[i].level < SPINDLE_DDS_TRANSIENT && !model_count(UINT32_MAX, i))
			model.topic[i].id = 0;
}

static void model_end_node(uint32_t node)
{
	uint32_t i;

	for (i = 0; i < model.ends; i++)
		model.end[i].gone |= model.end[i].node == node;
	model.participant[node] = 0;
	model_sweep();
}

static enum spindle_dds_outcome model_hello(uint64_t id, uint32_t node, uint32_t shared)
{
	uint32_t i, n = 0;

	model_end_node(node);
	for (i = 0; i < NODES; i++)
		n += model.participant[i] != 0;
	if ((n || model_topics(UINT32_MAX)) && model.shared != shared)
		return SPINDLE_DDS_OTHER_SHARED;
	model.shared = shared;
	model.participant[node] = id;
	return SPINDLE_DDS_DONE;
}

static enum spindle_dds_outcome model_add(uint64_t id, uint32_t node,
					  const struct spindle_dds_record *r)
{
	uint32_t t = r->number;

	if (!model.participant[node])
		return SPINDLE_DDS_NO_PARTICIPANT;
	if (model_count(node, UINT32_MAX) >= limits.own)
		return SPINDLE_DDS_TOO_MANY_OWN;
	if (model_count(UINT32_MAX, UINT32_MAX) >= limits.endpoints)
		return SPINDLE_DDS_TOO_MANY_ENDPOINTS;
	if (model.topic[t].id && model.topic[t].level != r->topic.level)
		return SPINDLE_DDS_OTHER_LEVEL;
	if (!model.topic[t].id) {
		if (model_topics(UINT32_MAX) >= limits.topics)
			return SPINDLE_DDS_TOO_MANY_TOPICS;
		if (r->topic.level >= SPINDLE_DDS_TRANSIENT && model_topics(node) >= limits.own)
			return SPINDLE_DDS_TOO_MANY_OWN;
		model.topic[t].id = id;
		model.topic[t].level = r->topic.level;
		model.topic[t].maker = node;
	}
	model.end[model.ends++] = (struct model_end){ .id = id, .node = node, .topic = t,
						      .writer = r->writer, .qos = r->qos };
	return SPINDLE_DDS_DONE;
}

static enum spindle_dds_outcome model_remove(uint32_t node, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < model.ends; i++) {
		if (model.end[i].id != id || model.end[i].gone)
			continue;
		if (model.end[i].node != node)
			return SPINDLE_DDS_NOT_OWN;
		model.end[i].gone = true;
		model_sweep();
		return SPINDLE_DDS_DONE;
	}
	return SPINDLE_DDS_NOT_THERE;
}

static enum spindle_dds_outcome model_name(uint32_t kind, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < NODES && kind == SPINDLE_DDS_GONE; i++) {
		if (model.participant[i] != id)
			continue;
		model_end_node(i);
		return SPINDLE_DDS_DONE;
	}
	for (i = 0; i < TOPICS && kind == SPINDLE_DDS_DROP; i++) {
		if (model.topic[i].id != id)
			continue;
		if (model_count(UINT32_MAX, i))
			return SPINDLE_DDS_IN_USE;
		model.topic[i].id = 0;
		return SPINDLE_DDS_DONE;
	}
	return SPINDLE_DDS_NOT_THERE;
}

static enum spindle_dds_outcome model_apply(uint64_t id, uint32_t node,
					    const struct spindle_dds_record *r)
{
	if (r->kind == SPINDLE_DDS_HELLO)
		return model_hello(id, node, r->shared);
	if (r->kind == SPINDLE_DDS_ADD)
		return model_add(id, node, r);
	if (r->kind == SPINDLE_DDS_REMOVE)
		return model_remove(node, r->id);
	if (r->kind == SPINDLE_DDS_BEAT)
		return model.participant[node] == r->id ? SPINDLE_DDS_DONE : SPINDLE_DDS_NOT_THERE;
	return model_name(r->kind, r->id);
}

/* Do the counts of an endpoint agree with those of the directory? */
static bool model_agrees(const struct model_end *own, struct spindle_dds_counts have)
{
	uint64_t first = 0;
	uint32_t i, n[2] = { 0 };
	bool match;

	for (i = 0; i < model.ends; i++) {
		const struct model_end *e = &model.end[i];

		if (own->gone || e->gone || e->topic != own->topic || e->writer == own->writer)
			continue;
		match = spindle_dds_match(own->writer ? &own->qos : &e->qos,
					  own->writer ? &e->qos : &own->qos) == SPINDLE_DDS_MATCH;
		n[match]++;
		if (!match && !first)
			first = e->id;
	}
	return n[1] == have.matched && n[0] == have.mismatched &&
	       (have.first ? have.first->id : 0) == first;
}

static void compare(const struct spindle_dds_directory *d)
{
	char name[SPINDLE_DDS_NAME];
	uint32_t i;

	for (i = 0; i < NODES; i++) {
		const struct spindle_dds_participant *p = spindle_dds_find_participant(d, i);

		NEED((p ? p->id : 0) == model.participant[i]);
		NEED(!p || p->endpoints == model_count(i, UINT32_MAX));
	}
	for (i = 0; i < TOPICS; i++) {
		const struct spindle_dds_entry *t;

		snprintf(name, sizeof(name), "t%u", i);
		t = spindle_dds_find_topic(d, name);
		NEED((t ? t->id : 0) == model.topic[i].id);
		NEED(!t || t->endpoints.n == model_count(UINT32_MAX, i));
	}
	NEED(d->topics == model_topics(UINT32_MAX));
	NEED(d->live.n == model_count(UINT32_MAX, UINT32_MAX));
	for (i = 0; i < model.ends; i++) {
		const struct spindle_dds_endpoint *e;

		e = spindle_dds_find_endpoint(d, model.end[i].id);
		NEED(e ? !e->gone == !model.end[i].gone : model.end[i].gone);
		NEED(model_agrees(&model.end[i], spindle_dds_count(d, model.end[i].id)));
	}
}

/* ---- records -------------------------------------------------------------------------------- */

static struct message {
	uint64_t lsn;
	uint32_t node, outcome;
	size_t len;
	uint64_t digest;
	uint8_t bytes[SPINDLE_DDS_RECORD_BYTES];
} message[RECORDS];

static struct spindle_dds_directory directory[PARTICIPANTS];
static uint32_t at[PARTICIPANTS];	/* the next message of each */
static uint8_t snapshot[SPINDLE_DDS_SNAPSHOT_BYTES];

/* An id that there was, or almost. */
static uint64_t some_id(struct rng *rng, uint32_t kind)
{
	if (rng_chance(rng, 5))
		return rng_below(rng, 20);
	if (kind == SPINDLE_DDS_GONE || kind == SPINDLE_DDS_BEAT)
		return model.participant[rng_below(rng, NODES)];
	if (kind == SPINDLE_DDS_DROP)
		return model.topic[rng_below(rng, TOPICS)].id;
	return model.ends ? model.end[model.ends - 1 - rng_below(rng, model.ends) / 2].id : 0;
}

static struct spindle_dds_record some_record(struct rng *rng)
{
	uint32_t dice = rng_below(rng, 100), topic = rng_below(rng, TOPICS), kind;
	struct spindle_dds_record r;

	if (dice < 12)
		return make_hello(1 + rng_chance(rng, 15), rng_u64(rng));
	if (dice < 65) {
		/* The level of a topic is another one now and then. */
		r = make_add(topic, (topic + rng_chance(rng, 10)) % SPINDLE_DDS_LEVELS,
			     rng_chance(rng, 50));
		r.qos.max_bytes += rng_below(rng, 3);
		if (rng_chance(rng, 50))
			r.qos.level = 0, r.qos.depth = 0;
		return r;
	}
	kind = dice < 83 ? SPINDLE_DDS_REMOVE : dice < 89 ? SPINDLE_DDS_GONE :
	       dice < 95 ? SPINDLE_DDS_DROP : SPINDLE_DDS_BEAT;
	return make_id(kind, some_id(rng, kind));
}

/* All messages, as the first participant and the model apply them. */
static void make_messages(struct rng *rng)
{
	struct spindle_dds_directory *d = &directory[0];
	uint64_t lsn = rng_below(rng, 3);
	uint32_t i;

	memset(&model, 0, sizeof(model));
	spindle_dds_directory_init(d, &limits);
	for (i = 0; i < RECORDS; i++, lsn += 1 + rng_chance(rng, 10)) {
		struct spindle_dds_record r = some_record(rng);
		struct message *m = &message[i];
		enum spindle_dds_outcome want;

		m->lsn = lsn;
		m->node = rng_below(rng, NODES);
		m->len = spindle_dds_put_record(&r, m->bytes, sizeof(m->bytes));
		m->outcome = spindle_dds_apply(d, lsn, m->node, m->bytes, m->len);
		/* Zero names nothing. The model has zeroes for what is not there. */
		want = r.kind > SPINDLE_DDS_ADD && !r.id ? SPINDLE_DDS_NOT_THERE :
		       model_apply(lsn + 1, m->node, &r);
		NEED(m->outcome == want);
		compare(d);
		m->digest = spindle_dds_digest(d);
	}
	at[0] = RECORDS;
}

static void step(uint32_t who)
{
	const struct message *m = &message[at[who]++];

	NEED(spindle_dds_apply(&directory[who], m->lsn, m->node, m->bytes, m->len) == m->outcome);
	NEED(spindle_dds_digest(&directory[who]) == m->digest);
}

/* A new process takes the snapshot of another one, which is ahead or behind. */
static void crash(struct rng *rng, uint32_t who)
{
	uint32_t donor = (who + 1 + rng_below(rng, PARTICIPANTS - 1)) % PARTICIPANTS;
	size_t len;

	if (!donor && rng_chance(rng, 80))
		return;
	len = spindle_dds_save(&directory[donor], snapshot, sizeof(snapshot));
	NEED(len);
	NEED(spindle_dds_load(&directory[who], &limits, snapshot, len));
	NEED(spindle_dds_digest(&directory[who]) == spindle_dds_digest(&directory[donor]));
	at[who] = at[donor];
}

static void run_domain(struct rng *rng)
{
	uint32_t i, who, left = PARTICIPANTS - 1;

	make_messages(rng);
	for (i = 1; i < PARTICIPANTS; i++) {
		spindle_dds_directory_init(&directory[i], &limits);
		at[i] = 0;
	}
	while (left) {
		who = 1 + rng_below(rng, PARTICIPANTS - 1);
		if (rng_chance(rng, 3))
			crash(rng, who);
		for (i = rng_below(rng, 9); i && at[who] < RECORDS; i--)
			step(who);
		for (i = 1, left = 0; i < PARTICIPANTS; i++)
			left += at[i] < RECORDS;
	}
}

/* ---- the cache ------------------------------------------------------------------------------ */

#define SAMPLES	8U
#define KEYS	3U
#define SOME_KEYS 5U

static struct kept {
	uint64_t sequence;
	uint32_t key;
} kept[SAMPLES];
static uint32_t kepts;
static struct {
	bool known;
	uint32_t state, idle;
	uint64_t writer;
} of_key[SOME_KEYS];
static uint32_t now;

static uint32_t kept_of(uint32_t key)
{
	uint32_t i, n = 0;

	for (i = 0; i < kepts; i++)
		n += kept[i].key == key;
	return n;
}

static uint64_t forget(uint32_t i)
{
	uint64_t sequence = kept[i].sequence;

	memmove(&kept[i], &kept[i + 1], (--kepts - i) * sizeof(*kept));
	return sequence;
}

/* Room for a key: the one that has been idle for the longest time goes. */
static bool room_for_key(bool go)
{
	uint32_t i, n = 0, best = SOME_KEYS;

	for (i = 0; i < SOME_KEYS; i++) {
		n += of_key[i].known;
		if (of_key[i].known && !kept_of(i) && of_key[i].state != SPINDLE_DDS_ALIVE &&
		    (best == SOME_KEYS || of_key[i].idle < of_key[best].idle))
			best = i;
	}
	if (n < KEYS)
		return true;
	if (best < SOME_KEYS && go)
		of_key[best].known = false;
	return best < SOME_KEYS;
}

/* Return: what has to come of it; @gone is the sample that is replaced, or 0. */
static enum spindle_dds_kept model_put(uint32_t key, const struct spindle_dds_head *h,
				       uint32_t depth, uint64_t *gone)
{
	bool unregister = h->flags & SPINDLE_DDS_UNREGISTER, full;
	uint32_t i;

	*gone = 0;
	if (unregister && (!of_key[key].known || of_key[key].state != SPINDLE_DDS_ALIVE ||
			   of_key[key].writer != h->writer))
		return SPINDLE_DDS_NO_NEWS;
	if (!of_key[key].known && !room_for_key(false))
		return SPINDLE_DDS_KEYS_FULL;
	full = depth && kept_of(key) == depth;
	if (!full && kepts == SAMPLES)
		return SPINDLE_DDS_SAMPLES_FULL;
	if (!of_key[key].known)
		room_for_key(true);
	for (i = 0; full && kept[i].key != key; i++)
		;
	if (full)
		*gone = forget(i);
	kept[kepts++] = (struct kept){ h->sequence, key };
	of_key[key].known = true;
	of_key[key].writer = h->writer;
	of_key[key].state = h->flags & SPINDLE_DDS_DISPOSE ? SPINDLE_DDS_DISPOSED :
			    unregister ? SPINDLE_DDS_UNREGISTERED : SPINDLE_DDS_ALIVE;
	return full ? SPINDLE_DDS_REPLACED : SPINDLE_DDS_KEPT;
}

static void try_put(struct rng *rng, struct spindle_dds_cache *c, uint64_t sequence)
{
	static const uint32_t flags[] = { 0, 0, 0, SPINDLE_DDS_DISPOSE, SPINDLE_DDS_UNREGISTER };
	struct spindle_dds_cached s = { .head.sequence = sequence };
	uint32_t key = rng_below(rng, SOME_KEYS);
	enum spindle_dds_kept want;
	uint64_t gone;
	void *out;

	s.head.flags = flags[rng_below(rng, ARRAY_SIZE(flags))];
	s.head.writer = 1 + rng_below(rng, 2);
	s.head.key[0] = (uint8_t)key;
	s.data = (void *)(uintptr_t)sequence;
	want = model_put(key, &s.head, c->depth, &gone);
	NEED(spindle_dds_cache_put(c, &s, &out) == want);
	NEED((uintptr_t)out == gone);
}

static void try_take(struct spindle_dds_cache *c)
{
	struct spindle_dds_cached s;
	uint32_t state, key;

	if (!kepts) {
		NEED(!spindle_dds_cache_take(c, &s, &state));
		return;
	}
	key = kept[0].key;
	NEED(spindle_dds_cache_take(c, &s, &state));
	NEED(s.head.sequence == kept[0].sequence);
	NEED((uintptr_t)s.data == kept[0].sequence);
	NEED(state == of_key[key].state);
	forget(0);
	of_key[key].idle = now;
}

static void run_cache(struct rng *rng)
{
	static struct spindle_dds_cached sample[SAMPLES];
	static struct spindle_dds_key key[KEYS];
	static uint32_t head[2];
	struct spindle_dds_cache c = { .depth = rng_below(rng, 4), .max_samples = SAMPLES,
				       .max_keys = KEYS, .heads = 2, .sample = sample,
				       .key = key, .head = head };

	spindle_dds_cache_init(&c);
	kepts = 0;
	memset(of_key, 0, sizeof(of_key));
	for (now = 1; now < 300; now++) {
		if (rng_chance(rng, 55))
			try_put(rng, &c, now);
		else
			try_take(&c);
		NEED(c.order.n == kepts);
	}
}

int main(int argc, char **argv)
{
	uint64_t first = 1, n = 400;
	struct rng rng;
	int c;

	while ((c = getopt(argc, argv, "s:n:")) != -1) {
		if (c == 's')
			first = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			n = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	for (seed = first; seed < first + n; seed++) {
		rng = (struct rng){ .state = rng_mix(seed) };
		run_domain(&rng);
		run_cache(&rng);
	}
	ok(true, "%llu schedules from seed %llu on", (unsigned long long)n,
	   (unsigned long long)first);
	return tap_end();
}
