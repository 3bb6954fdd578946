// SPDX-License-Identifier: GPL-2.0-only
/*
 * A group for large objects, or a stream, at one honest member. The honest member runs the core.
 * The other members say what the input says, write blocks with any number, and lose their lanes.
 * The honest member's process sends, accepts, refuses, cancels and closes. The embedder of a stream
 * sends, gives memory and ends the view. The lanes are honest: each request to a lane ends once.
 *
 * The honest member grants and writes only inside of its objects. It gives memory back when no
 * device uses it any more. It blames only members that have spoken, and believes no progress on
 * objects that it has not announced. It ends each pass.
 */
#include "fuzz.h"
#include "core/rdmc/rdmc.h"

#define MEMBERS	5
#define ID	77
#define LIFE	1000	/* of rank r: this and r */
#define TIMEOUT	1000
#define BLOCK	4096
#define OPS	64	/* under way at a time */

/* Memory of an object. */
struct mem {
	u64 len;
	unsigned long have[2];
	u32 grants, writes;
	bool released;
};

/* A write or a revocation that has not ended. */
struct op {
	enum { NONE, WRITE, REVOKE } kind;
	u32 m, g;
	u64 object;
	struct mem *mem;
};

struct world {
	struct input in;
	struct spindle_rdmc r;
	u64 now, calls;
	u64 sent, shown, done;
	u64 spoke;	/* ranks that have said or written anything */
	u64 lost, cut;
	bool deaf, full, ended;
	struct mem *granted[MEMBERS][SPINDLE_RDMC_GRANTS];
	struct op op[OPS];
};

static struct world world;

static struct world *world_of(struct spindle_rdmc *r)
{
	MUST(r == &world.r);
	/* The calls of a pass are bounded by the number of members, grants, writes and objects. */
	MUST(++world.calls < 10000);
	return &world;
}

static void check_peer(const struct world *w, u32 m)
{
	MUST(m < w->r.cfg.n && m != w->r.cfg.me);
}

static void check_block(const struct world *w, const struct mem *mem, u32 block, u32 len)
{
	MUST(mem && !mem->released && len && len <= BLOCK);
	MUST((u64)block * BLOCK + len <= mem->len);
}

static struct op *new_op(struct world *w)
{
	u32 i;

	for (i = 0; i < OPS && w->op[i].kind != NONE; i++)
		;
	MUST(i < OPS);
	return &w->op[i];
}

/* ---- operations of the core ------------------------------------------------------------- */

static bool op_room(struct spindle_rdmc *r, u32 m)
{
	struct world *w = world_of(r);

	check_peer(w, m);
	return !w->full;
}

static void op_say(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	struct world *w = world_of(r);

	check_peer(w, m);
	MUST(!w->full && !(w->lost >> m & 1));
	MUST(msg->word && msg->word <= SPINDLE_RDMC_END);
	MUST(r->cfg.stream || msg->word != SPINDLE_RDMC_END);
}

static void op_grant(struct spindle_rdmc *r, u32 m, u32 g, void *memory, u32 block, u32 len,
		     struct spindle_rdmc_msg *msg)
{
	struct world *w = world_of(r);
	struct mem *mem = memory;

	check_peer(w, m);
	check_block(w, mem, block, len);
	MUST(g < SPINDLE_RDMC_GRANTS && !w->granted[m][g] && !(w->lost >> m & 1));
	w->granted[m][g] = mem;
	mem->grants++;
}

static void op_revoke(struct spindle_rdmc *r, u32 m, u32 g)
{
	struct world *w = world_of(r);

	check_peer(w, m);
	MUST(g < SPINDLE_RDMC_GRANTS && w->granted[m][g]);
	*new_op(w) = (struct op) { .kind = REVOKE, .m = m, .g = g };
}

static void op_write(struct spindle_rdmc *r, u32 m, u64 object, void *memory, u32 block,
		     u32 len, const struct spindle_rdmc_grant *grant)
{
	struct world *w = world_of(r);
	struct mem *mem = memory;

	check_peer(w, m);
	check_block(w, mem, block, len);
	MUST(grant->object == object && grant->block == block);
	MUST(w->spoke >> m & 1);
	mem->writes++;
	*new_op(w) = (struct op) { .kind = WRITE, .m = m, .object = object, .mem = mem };
}

static bool op_flushed(struct spindle_rdmc *r, u32 m)
{
	return !world_of(r)->full;
}

static void op_cut(struct spindle_rdmc *r, u32 m)
{
	struct world *w = world_of(r);

	check_peer(w, m);
	MUST(!(w->cut >> m & 1));
	w->cut |= BIT_ULL(m);
}

static bool op_listens(struct spindle_rdmc *r)
{
	return !world_of(r)->deaf;
}

static void op_event(struct spindle_rdmc *r, const struct spindle_rdmc_event *ev)
{
	struct world *w = world_of(r);

	MUST(!r->cfg.stream && !w->ended && ev->node <= r->cfg.n);
	switch (ev->kind) {
	case SPINDLE_RDMC_INCOMING:
		MUST(ev->object == w->shown++ && ev->len && ev->len <= SPINDLE_RDMC_MAX_LEN);
		break;
	case SPINDLE_RDMC_DONE:
		MUST(ev->object == w->done++);
		break;
	case SPINDLE_RDMC_CLOSED:
	case SPINDLE_RDMC_FAILED:
		w->ended = true;
		break;
	}
}

static bool op_release(struct spindle_rdmc *r, void *memory)
{
	struct mem *mem = memory;

	world_of(r);
	MUST(!mem->released && !mem->grants && !mem->writes);
	mem->released = true;
	fuzz_free(mem);
	return true;
}

static const struct spindle_rdmc_ops ops = {
	.room = op_room,
	.say = op_say,
	.grant = op_grant,
	.revoke = op_revoke,
	.write = op_write,
	.flushed = op_flushed,
	.cut = op_cut,
	.listens = op_listens,
	.event = op_event,
	.release = op_release,
};

/* ---- invariants ------------------------------------------------------------------------ */

static void check(const struct world *w)
{
	const struct spindle_rdmc *r = &w->r;
	u32 m;

	MUST(r->ended <= r->announced && r->complete <= r->ended && r->shown <= r->announced);
	MUST(r->announced - r->ended <= SPINDLE_RDMC_QUEUE);
	MUST(r->writing <= SPINDLE_RDMC_SENDS);
	MUST(r->culprit <= r->cfg.n);
	for (m = 0; m < r->cfg.n; m++) {
		const struct spindle_rdmc_member *p = &r->m[m];

		MUST(p->grant_tail - p->grant_head <= SPINDLE_RDMC_GRANTS);
		MUST(p->complete <= p->ended);
		MUST(!spindle_rdmc_is_root(r) || p->ended <= p->told);
	}
	if (r->culprit && r->error == SPINDLE_RDMC_PROTOCOL)
		MUST(w->spoke);
}

/* Run passes until there is nothing to do. That must end. */
static void pass(struct world *w)
{
	u32 i;

	for (i = 0; i < 100; i++) {
		w->calls = 0;
		if (!spindle_rdmc_pass(&w->r, w->now))
			break;
	}
	MUST(i < 100);
	check(w);
}

/* ---- lanes ------------------------------------------------------------------------------ */

static void revoked(struct world *w, u32 m, u32 g)
{
	if (!w->granted[m][g])
		return;
	w->granted[m][g]->grants--;
	w->granted[m][g] = NULL;
}

static void end_op(struct world *w, struct op *op)
{
	struct op was = *op;

	op->kind = NONE;
	if (was.kind == WRITE) {
		was.mem->writes--;
		spindle_rdmc_written(&w->r, was.object);
	} else if (was.kind == REVOKE) {
		revoked(w, was.m, was.g);
		spindle_rdmc_revoked(&w->r, was.m, was.g);
	}
}

static void lose(struct world *w, u32 m)
{
	u32 g;

	w->lost |= BIT_ULL(m);
	spindle_rdmc_lost(&w->r, m);
	for (g = 0; g < SPINDLE_RDMC_GRANTS; g++)
		revoked(w, m, g);
	spindle_rdmc_quiet(&w->r, m);
}

static void lane(struct world *w, u8 op)
{
	u32 m = in_below(&w->in, w->r.cfg.n);

	if (m == w->r.cfg.me || w->lost >> m & 1)
		return;
	switch (op) {
	case 0:
		lose(w, m);
		break;
	case 1:
		/* Another lane may replace the first one. */
		if (!spindle_rdmc_down(&w->r, m))
			lose(w, m);
		break;
	default:
		spindle_rdmc_up(&w->r, m);
		break;
	}
}

/* A block arrives with any number, but only from a member with a right to write. */
static void arrive(struct world *w)
{
	u8 pick = in_u8(&w->in);
	u32 m = pick % w->r.cfg.n, g = pick >> 4;

	if (m == w->r.cfg.me)
		return;
	w->spoke |= BIT_ULL(m);
	spindle_rdmc_arrived(&w->r, m, g);
}

/* ---- members ------------------------------------------------------------------------------ */

static void hello(struct world *w, u32 m, struct spindle_rdmc_msg *msg, u8 how)
{
	msg->to = ID;
	msg->w[0] = w->r.digest;
	msg->w[1] = LIFE + m;
	msg->w[2] = how & 1 ? w->r.cfg.life : 0;
	if (how & 2)
		msg->arg = in_u32(&w->in);
	if (how & 4)
		msg->w[how >> 3 & 1] = in_near(&w->in, msg->w[how >> 3 & 1]);
}

/* The message is near the one that a correct member would send now. */
static void say(struct world *w, u8 op)
{
	u8 pick = in_u8(&w->in), how = in_u8(&w->in);
	struct spindle_rdmc *r = &w->r;
	u32 m = pick % r->cfg.n;
	struct spindle_rdmc_member *p = &r->m[m];
	struct spindle_rdmc_msg msg = { .to = r->cfg.life, .word = op };

	if (m == r->cfg.me)
		return;
	switch (op) {
	case SPINDLE_RDMC_HELLO:
		hello(w, m, &msg, how);
		break;
	case SPINDLE_RDMC_ANNOUNCE:
		msg.w[0] = r->announced;
		msg.w[1] = how & 1 ? in_near(&w->in, 0) : BLOCK * (how >> 4) + 100;
		break;
	case SPINDLE_RDMC_GRANT:
		msg.w[0] = r->send.object;
		msg.arg = r->send.hop.block;
		break;
	case SPINDLE_RDMC_PROGRESS:
		msg.w[0] = p->ended + (how >> 4 & 1);
		msg.w[1] = p->complete + (how >> 4 & 1);
		msg.w[2] = how >> 5;
		break;
	case SPINDLE_RDMC_STOP:
	case SPINDLE_RDMC_ABORT:
		msg.w[0] = r->ended;
		msg.w[1] = how & 1 ? SPINDLE_RDMC_CANCELLED : SPINDLE_RDMC_REFUSED;
		break;
	case SPINDLE_RDMC_FAIL:
		msg.w[0] = SPINDLE_RDMC_TIMEOUT;
		break;
	case SPINDLE_RDMC_CLOSE:
		msg.w[0] = r->announced;
		msg.w[1] = r->announced;
		break;
	default:
		msg.w[0] = r->ended;
		break;
	}
	if (how & 2)
		msg.arg = in_near(&w->in, msg.arg);
	if (how & 4)
		msg.w[how >> 4 & 1] = in_near(&w->in, msg.w[how >> 4 & 1]);
	if (how & 8)
		msg.w[2] = in_near(&w->in, msg.w[2]);
	w->spoke |= BIT_ULL(m);
	spindle_rdmc_hear(r, m, &msg);
	check(w);
}

/* ---- the process ----------------------------------------------------------------------------- */

static struct mem *new_mem(u64 len)
{
	struct mem *mem = fuzz_alloc(sizeof(*mem));

	mem->len = len;
	return mem;
}

static void send(struct world *w, u64 len)
{
	struct mem *mem = new_mem(len);
	u64 object;

	if (spindle_rdmc_send(&w->r, len, 1, mem, &object)) {
		fuzz_free(mem);
		return;
	}
	MUST(object == w->sent++);
	if (!w->r.cfg.stream)
		w->shown++;
}

static void accept(struct world *w, u64 object)
{
	struct spindle_rdmc_object *obj = spindle_rdmc_object(&w->r, object);
	struct mem *mem;

	/*
	 * A member knows the length of each object that it knows. There is no memory for very long
	 * ones.
	 */
	if (object >= (w->r.cfg.stream ? w->r.shown : w->shown) ||
	    obj->blocks > 8 * sizeof(mem->have))
		return;
	mem = new_mem(obj->len);
	if (spindle_rdmc_accept(&w->r, object, mem->len, mem, mem->have))
		fuzz_free(mem);
}

/* Operations that only a group's process has. */
static void group_process(struct world *w, u8 op, u64 object)
{
	switch (op & 7) {
	case 4:
		spindle_rdmc_cancel(&w->r, object, op >> 5, in_u8(&w->in));
		break;
	case 5:
		spindle_rdmc_close(&w->r);
		break;
	default:
		w->deaf = !w->deaf;
		break;
	}
}

/* A stream has no process. Its embedder sends messages, gives memory, and ends the view. */
static void process(struct world *w, u8 op)
{
	u64 object = w->r.ended + (op >> 3 & 3);

	switch (op & 7) {
	case 0:
	case 1:
		send(w, in_u8(&w->in) * (op & 1 ? 1ULL : BLOCK / 2));
		break;
	case 2:
	case 3:
		accept(w, object);
		break;
	case 7:
		w->full = !w->full;
		break;
	default:
		if (!w->r.cfg.stream)
			group_process(w, op, object);
		else if ((op & 7) == 5)
			spindle_rdmc_fail(&w->r, 0, SPINDLE_RDMC_VIEW);
		break;
	}
}

static void step(struct world *w)
{
	u8 op = in_u8(&w->in);
	u32 i;

	switch (op & 7) {
	case 0:
		w->now += (op >> 3) * (TIMEOUT / 8);
		pass(w);
		break;
	case 1:
		lane(w, op >> 3 & 3);
		break;
	case 2:
		for (i = 0; i < OPS; i++)
			end_op(w, &w->op[(i + (op >> 3)) % OPS]);
		pass(w);
		break;
	case 3:
		arrive(w);
		break;
	case 4:
		process(w, op >> 3 | (op & 0x80) >> 2);
		break;
	default:
		say(w, (op >> 3 & 15) % (SPINDLE_RDMC_CLOSE + 3));
		if (op & 0x80)
			pass(w);
		break;
	}
	/* A member that the core asked to cut is lost soon. */
	for (i = 0; i < w->r.cfg.n; i++)
		if ((w->cut & ~w->lost) >> i & 1 && op & 8)
			lose(w, i);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct spindle_rdmc_config cfg = { .id = ID, .block = BLOCK, .timeout_ns = TIMEOUT };
	struct world *w = &world;
	u8 how, more;
	u32 i;

	fuzz_begin();
	memset(w, 0, sizeof(*w));
	w->in = (struct input){ .at = data, .left = size };
	how = in_u8(&w->in);
	cfg.n = 2 + (how & 3);
	cfg.me = (how >> 2 & 7) % cfg.n;
	cfg.algorithm = (how >> 5) % (SPINDLE_ALG_HYBRID + 1);
	more = in_u8(&w->in);
	cfg.stream = more & 2;
	if (cfg.stream)
		cfg.algorithm = SPINDLE_ALG_PIPELINE;
	cfg.life = LIFE + cfg.me;
	for (i = 0; i < cfg.n; i++)
		cfg.member[i] = i + 1;
	w->now = 100 * TIMEOUT;
	spindle_rdmc_init(&w->r, &cfg, &ops);
	if (more & 1)
		for (i = 0; i < cfg.n; i++)
			if (i != cfg.me)
				spindle_rdmc_up(&w->r, i);
	while (w->in.left)
		step(w);
	/* At the end all lanes are lost. After that no grant and no write may be left. */
	for (i = 0; i < cfg.n; i++)
		if (i != cfg.me && !(w->lost >> i & 1))
			lose(w, i);
	for (i = 0; i < OPS; i++)
		end_op(w, &w->op[i]);
	w->deaf = false;
	pass(w);
	MUST(!w->r.granted && !w->r.writing);
	return 0;
}
