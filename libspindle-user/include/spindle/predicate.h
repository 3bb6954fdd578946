/* SPDX-License-Identifier: MIT */
/*
 * Predicates: conditions over the rows of a table, and what happens when they hold.
 *
 * The engine in the kernel watches predicates of a closed form while the process sleeps:
 *
 *	struct spindle_field count = SPINDLE_FIELD(struct my_cell, count, 1);
 *
 *	spindle_predicate_init(&p, SPINDLE_KIND_RECURRENT);
 *	spindle_predicate_when(&p, spindle_term_all(count, SPINDLE_CMP_GE,
 *						    spindle_number_own(count)));
 *	spindle_predicate_then(&p, spindle_do_add(count, 1));
 *	id = spindle_predicate_add(t, &p);
 *
 * <linux/spindle_table.h> says when the engine looks, and what the kinds mean. For conditions that
 * this form cannot say, struct spindle_loop runs tests in C over the rows in a loop of the process.
 * spindle_table_barrier() and spindle_table_elect() are made of predicates.
 *
 * Builders do not fail. What they cannot express becomes a predicate that
 * spindle_predicate_add() refuses with -EINVAL, and spindle_predicate_strerror() says why.
 *
 * Threads: builders, and structures of the caller, belong to one thread at a time.
 * spindle_predicate_add(), spindle_predicate_remove() and spindle_predicate_fired() are for any
 * thread. spindle_table_barrier() and spindle_table_elect() wait for signals, so no other thread
 * may be in them or in spindle_table_wait_signal(). A loop belongs to one thread.
 *
 * In a table of mode read, predicates and loops see a change of another row when that row has been
 * read. So a process that waits for one calls spindle_table_every() first.
 */
#ifndef SPINDLE_PREDICATE_H
#define SPINDLE_PREDICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/spindle_table.h>
#include <spindle/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- fields ----------------------------------------------------------- */

/**
 * spindle_field_make() - an integer in the value of a cell
 * @cell: 0 to cells - 1
 * @offset: bytes from the begin of the cell, a multiple of @width
 * @width: 1, 2, 4 or 8 bytes
 * @flags: SPINDLE_FIELD_SIGNED or 0
 *
 * Return: the field; one of no bytes if a number is too large for struct spindle_field.
 */
static inline struct spindle_field spindle_field_make(uint32_t cell, size_t offset, size_t width,
						      unsigned int flags)
{
	struct spindle_field f = { 0, 0, 0, 0, 0 };

	if (cell > 0xffff || offset > 0xffff || width > 0xff || flags > 0xff)
		return f;
	f.cell = (__u16)cell;
	f.offset = (__u16)offset;
	f.width = (__u8)width;
	f.flags = (__u8)flags;
	return f;
}

/**
 * spindle_field_u64() - an unsigned integer of 64 bits
 * @cell: 0 to cells - 1
 * @offset: bytes from the begin of the cell, a multiple of 8
 *
 * Return: the field.
 */
static inline struct spindle_field spindle_field_u64(uint32_t cell, size_t offset)
{
	return spindle_field_make(cell, offset, 8, 0);
}

/**
 * SPINDLE_FIELD() - a member of the structure that a program keeps in a cell
 * @type: the structure, which begins at the begin of the cell
 * @member: an integer in it; an element of an array as well
 * @cell: 0 to cells - 1
 *
 * A member that is no integer becomes a field of no bytes, which is refused.
 */
#define SPINDLE_FIELD(type, member, cell)						\
	spindle_field_make(cell, offsetof(type, member),				\
			   SPINDLE_AS(((type *)0)->member, 1) / 2 == 0 ?		\
				sizeof(((type *)0)->member) : 0,			\
			   SPINDLE_AS(((type *)0)->member, -1) <			\
				SPINDLE_AS(((type *)0)->member, 1) ? SPINDLE_FIELD_SIGNED : 0)

/* private: a number of the type of another one */
#define SPINDLE_AS(sample, number) ((__typeof__(sample))(number))

/* ---- numbers ---------------------------------------------------------- */

/*
 * private: in spindle_number.resv, which the kernel refuses: the builder could not express this.
 */
enum spindle_wrong {
	SPINDLE_WRONG_ROWS = 1,		/* rows of a number that has none, or has them already */
	SPINDLE_WRONG_NODES,		/* too many nodes, or none */
	SPINDLE_WRONG_EACH,		/* a constant is added to the field of each row */
};

/* private: */
static inline struct spindle_number spindle_number_make(enum spindle_fold fold,
							struct spindle_field field)
{
	struct spindle_number n;

	memset(&n, 0, sizeof(n));
	n.fold = (__u8)fold;
	n.field = field;
	return n;
}

/**
 * spindle_number_constant() - a number that does not change
 * @value: the number; a negative one as int64_t or as its two's complement
 *
 * Return: the number.
 */
static inline struct spindle_number spindle_number_constant(uint64_t value)
{
	struct spindle_number n;

	memset(&n, 0, sizeof(n));
	n.add = value;
	return n;
}

/**
 * spindle_number_own() - a field of the own row
 * @field: the field
 *
 * Return: the number.
 */
static inline struct spindle_number spindle_number_own(struct spindle_field field)
{
	return spindle_number_make(SPINDLE_FOLD_OWN, field);
}

/**
 * spindle_number_each() - a field of each row, for spindle_term_rows()
 * @field: the field
 *
 * The rows are those of all members, unless spindle_number_others() or spindle_number_nodes() names
 * others.
 *
 * Return: the number, which only the left side of a term may be.
 */
static inline struct spindle_number spindle_number_each(struct spindle_field field)
{
	return spindle_number_make(SPINDLE_FOLD_EACH, field);
}

/**
 * spindle_number_min() - the least value of a field in the rows
 * @field: the field
 *
 * Return: the number, over the rows of all members. Of no rows it is the greatest number.
 */
static inline struct spindle_number spindle_number_min(struct spindle_field field)
{
	return spindle_number_make(SPINDLE_FOLD_MIN, field);
}

/**
 * spindle_number_max() - the greatest value of a field in the rows
 * @field: the field
 *
 * Return: the number, over the rows of all members. Of no rows it is the least number.
 */
static inline struct spindle_number spindle_number_max(struct spindle_field field)
{
	return spindle_number_make(SPINDLE_FOLD_MAX, field);
}

/**
 * spindle_number_sum() - the sum of a field in the rows
 * @field: the field
 *
 * Return: the number, over the rows of all members, modulo 2^64.
 */
static inline struct spindle_number spindle_number_sum(struct spindle_field field)
{
	return spindle_number_make(SPINDLE_FOLD_SUM, field);
}

/* private: give a number its rows, once. */
static inline struct spindle_number spindle_number_over(struct spindle_number n,
							enum spindle_row_set rows)
{
	if (n.fold == SPINDLE_FOLD_NONE || n.fold == SPINDLE_FOLD_OWN || n.rows)
		n.resv = SPINDLE_WRONG_ROWS;
	n.rows = (__u8)rows;
	return n;
}

/**
 * spindle_number_others() - the same number over the rows of all other members
 * @n: a number of spindle_number_each(), _min(), _max() or _sum()
 *
 * Return: the number.
 */
static inline struct spindle_number spindle_number_others(struct spindle_number n)
{
	return spindle_number_over(n, SPINDLE_ROWS_OTHERS);
}

/**
 * spindle_number_nodes() - the same number over the rows of some nodes
 * @n: a number of spindle_number_each(), _min(), _max() or _sum()
 * @node: their ids, above 0; a node that is no member is left out
 * @count: how many, 1 to SPINDLE_MAX_ROW_NODES
 *
 * Return: the number.
 */
static inline struct spindle_number spindle_number_nodes(struct spindle_number n,
							 const uint32_t *node, unsigned int count)
{
	n = spindle_number_over(n, SPINDLE_ROWS_NODES);
	if (!count || count > SPINDLE_MAX_ROW_NODES) {
		n.resv = SPINDLE_WRONG_NODES;
		return n;
	}
	n.nodes = (__u16)count;
	memcpy(n.node, node, count * sizeof(*node));
	return n;
}

/**
 * spindle_number_plus() - a number and a constant
 * @n: any number but one of spindle_number_each(); subtract on the right side of the term instead
 * @add: the constant; to subtract, a negative one
 *
 * Return: the sum, modulo 2^64. If the field has a sign, so has the sum.
 */
static inline struct spindle_number spindle_number_plus(struct spindle_number n, int64_t add)
{
	if (n.fold == SPINDLE_FOLD_EACH)
		n.resv = SPINDLE_WRONG_EACH;
	n.add += (uint64_t)add;
	return n;
}

/* ---- terms ------------------------------------------------------------ */

/**
 * spindle_term_compare() - compare two numbers
 * @left: a number with a field
 * @compare: enum spindle_compare
 * @right: a number; if it has a field, that field has a sign if the left one has
 *
 * Return: the term.
 */
static inline struct spindle_term spindle_term_compare(struct spindle_number left,
						       enum spindle_compare compare,
						       struct spindle_number right)
{
	struct spindle_term term;

	memset(&term, 0, sizeof(term));
	term.compare = compare;
	term.left = left;
	term.right = right;
	return term;
}

/**
 * spindle_term_rows() - compare a field of rows, and ask of how many rows the comparison holds
 * @least: of so many at least, from 1; SPINDLE_ALL_ROWS: of all
 * @each: a number of spindle_number_each()
 * @compare: enum spindle_compare
 * @right: a number of another kind
 *
 * Return: the term.
 */
static inline struct spindle_term spindle_term_rows(uint32_t least, struct spindle_number each,
						    enum spindle_compare compare,
						    struct spindle_number right)
{
	struct spindle_term term = spindle_term_compare(each, compare, right);

	term.least = least;
	return term;
}

/**
 * spindle_term_all() - is it so in the rows of all members?
 * @field: of each row
 * @compare: enum spindle_compare
 * @right: a number
 *
 * Return: the term, true of no rows.
 */
static inline struct spindle_term spindle_term_all(struct spindle_field field,
						   enum spindle_compare compare,
						   struct spindle_number right)
{
	return spindle_term_rows(SPINDLE_ALL_ROWS, spindle_number_each(field), compare, right);
}

/**
 * spindle_term_any() - is it so in the row of a member?
 * @field: of each row
 * @compare: enum spindle_compare
 * @right: a number
 *
 * Return: the term, false of no rows.
 */
static inline struct spindle_term spindle_term_any(struct spindle_field field,
						   enum spindle_compare compare,
						   struct spindle_number right)
{
	return spindle_term_rows(1, spindle_number_each(field), compare, right);
}

/* ---- triggers --------------------------------------------------------- */

/* private: */
static inline struct spindle_trigger spindle_do_make(enum spindle_do what, uint32_t id)
{
	struct spindle_trigger d;

	memset(&d, 0, sizeof(d));
	d.what = what;
	d.id = id;
	return d;
}

/**
 * spindle_do_signal() - wake the process, see spindle_table_wait_signal()
 *
 * Return: the trigger.
 */
static inline struct spindle_trigger spindle_do_signal(void)
{
	return spindle_do_make(SPINDLE_DO_SIGNAL, 0);
}

/**
 * spindle_do_set() - store a number into a field of the own row
 * @field: the field, of a cell that the process does not write while the predicate is there
 * @value: any number but one of spindle_number_each()
 *
 * Return: the trigger, which needs SPINDLE_TABLE_WRITE.
 */
static inline struct spindle_trigger spindle_do_set(struct spindle_field field,
						    struct spindle_number value)
{
	struct spindle_trigger d = spindle_do_make(SPINDLE_DO_SET, 0);

	d.field = field;
	d.value = value;
	return d;
}

/**
 * spindle_do_add() - add a constant to a field of the own row
 * @field: as for spindle_do_set()
 * @add: the constant; to subtract, a negative one
 *
 * Return: the trigger, which needs SPINDLE_TABLE_WRITE.
 */
static inline struct spindle_trigger spindle_do_add(struct spindle_field field, int64_t add)
{
	return spindle_do_set(field, spindle_number_plus(spindle_number_own(field), add));
}

/**
 * spindle_do_arm() - arm a predicate of this attachment
 * @id: of the predicate; nothing happens if there is none
 *
 * Return: the trigger.
 */
static inline struct spindle_trigger spindle_do_arm(uint32_t id)
{
	return spindle_do_make(SPINDLE_DO_ARM, id);
}

/**
 * spindle_do_disarm() - disarm a predicate of this attachment
 * @id: of the predicate; nothing happens if there is none
 *
 * Return: the trigger.
 */
static inline struct spindle_trigger spindle_do_disarm(uint32_t id)
{
	return spindle_do_make(SPINDLE_DO_DISARM, id);
}

/* ---- predicates of the engine ----------------------------------------- */

/**
 * spindle_predicate_init() - begin a predicate
 * @p: memory of the caller; its content does not matter
 * @kind: enum spindle_kind
 *
 * The predicate is armed, gets an id of the kernel's choice, and all its terms must hold. For
 * another choice, set @p->flags (SPINDLE_PREDICATE_ANY, SPINDLE_PREDICATE_DISARMED) and @p->id (0
 * to SPINDLE_MAX_PREDICATES - 1) after this call.
 */
static inline void spindle_predicate_init(struct spindle_predicate *p, enum spindle_kind kind)
{
	memset(p, 0, sizeof(*p));
	p->id = SPINDLE_ANY_ID;
	p->kind = kind;
}

/**
 * spindle_predicate_when() - add a term
 * @p: begun
 * @term: the term
 *
 * A term too many makes spindle_predicate_add() fail. The limit is SPINDLE_MAX_TERMS.
 */
static inline void spindle_predicate_when(struct spindle_predicate *p, struct spindle_term term)
{
	if (p->terms < SPINDLE_MAX_TERMS)
		p->term[p->terms] = term;
	p->terms++;
}

/**
 * spindle_predicate_then() - add a trigger, which runs after those that were added before
 * @p: begun
 * @trigger: the trigger
 *
 * A trigger too many makes spindle_predicate_add() fail. The limit is SPINDLE_MAX_TRIGGERS.
 */
static inline void spindle_predicate_then(struct spindle_predicate *p,
					  struct spindle_trigger trigger)
{
	if (p->triggers < SPINDLE_MAX_TRIGGERS)
		p->trigger[p->triggers] = trigger;
	p->triggers++;
}

/**
 * spindle_predicate_add() - give a predicate to the engine
 * @t: attached
 * @p: the predicate, which can be added again; on -EINVAL and -EBADF @p->bad says what is wrong
 *
 * The predicate ends with the attachment. Process context, may sleep. Any thread.
 *
 * Return: the id, 0 to SPINDLE_MAX_PREDICATES - 1; -EINVAL (spindle_predicate_strerror() says why);
 * -EBADF: a trigger sets a field without SPINDLE_TABLE_WRITE, or @t is not attached; -EBUSY: the id
 * is taken; -ENOSPC: SPINDLE_MAX_PREDICATES are there; -ENOTCONN: the table has ended; -ENOMEM;
 * -EPROTONOSUPPORT: the module is newer than this library; -ENOTTY: it is older; -EPROTO: the
 * kernel's reply makes no sense.
 */
SPINDLE_API int spindle_predicate_add(struct spindle_table *t, struct spindle_predicate *p);

/**
 * spindle_predicate_remove() - take a predicate back
 * @t: attached
 * @id: what spindle_predicate_add() returned
 *
 * When the call returns, the triggers of the predicate do not run any more. The counter of
 * spindle_predicate_fired() stays until the id is used again. Any thread.
 *
 * Return: 0; -ENOENT: there is no such predicate; -ENOTCONN or -EBADF: @t is not attached.
 */
SPINDLE_API int spindle_predicate_remove(struct spindle_table *t, uint32_t id);

/**
 * spindle_predicate_fired() - how often a predicate has signalled
 * @t: attached
 * @id: what spindle_predicate_add() returned
 *
 * No system call. Any thread.
 *
 * Return: signals of the predicate since it was added; 0 if @id is none, or @t is not attached.
 */
SPINDLE_API uint64_t spindle_predicate_fired(const struct spindle_table *t, uint32_t id);

/**
 * spindle_predicate_strerror() - say why spindle_predicate_add() failed
 * @t: attached
 * @p: as spindle_predicate_add() left it
 * @err: what it returned
 * @buf: memory of the caller; 160 bytes are enough
 * @len: bytes of @buf, at least 1; the text is cut off there
 *
 * For -EINVAL the text names the term or the trigger, and the limit.
 *
 * Return: @buf, with one line of text without a final newline.
 */
SPINDLE_API const char *spindle_predicate_strerror(const struct spindle_table *t,
						   const struct spindle_predicate *p, int err,
						   char *buf, size_t len);

/* ---- applications ----------------------------------------------------- */

/**
 * spindle_table_barrier() - wait until all members have entered a round
 * @t: attached with SPINDLE_TABLE_WRITE
 * @cell: a cell that nothing else uses: its first 8 bytes are the round of the row's node
 * @round: above 0; a node enters rounds in increasing order
 * @timeout_ms: milliseconds, 0 only to enter, -1 without limit
 *
 * Enters the round in the own row, and leaves the comparison to a predicate of the engine. When the
 * call returns 0, each node that was a member when the engine looked had entered this round or a
 * later one. A member that leaves holds nobody up. A member that joins does, until it enters: it
 * begins with the greatest round that it finds in the rows.
 *
 * If @cell is 0, the guard, this process then sees in the rows of all members what their writers
 * had sealed before they entered. Other cells make no such promise.
 *
 * When the time is up, and after -EINTR, the node is still in the round. The same call goes on.
 * Signals of other predicates are not lost: the next spindle_table_wait_signal() reports them.
 *
 * Return: 0; -ETIMEDOUT; -EINVAL: @round is 0, or @cell is out of range; -EPIPE: the state is
 * final; -EINTR on a signal; or an errno of spindle_predicate_add() or spindle_cell_put().
 */
SPINDLE_API int spindle_table_barrier(struct spindle_table *t, uint32_t cell, uint64_t round,
				      int timeout_ms);

/**
 * struct spindle_leader - the result of an election
 */
struct spindle_leader {
	/** @vid: id of the view that the election is about */
	uint64_t vid;
	/** @node: the leader: the member of lowest rank in that view */
	uint32_t node;
	/** @me: 1 if this is the own node, else 0 */
	uint32_t me;
};

/**
 * spindle_table_elect() - name the leader of the present view
 * @t: attached with SPINDLE_TABLE_WRITE
 * @cell: a cell that nothing else uses: its first 8 bytes are the id of the view that a node is in
 * @timeout_ms: milliseconds, -1 without limit
 * @leader: set to the result
 *
 * Maps the rows of the present view, as spindle_table_seats() does. One process of each member
 * calls this once in each view. A call gives up what calls before it have returned. Then:
 *
 * - Calls at all members that return the same view return the same leader.
 * - When a call returns, each member of that view has called in that view or in a later one, if it
 *   is a member still. So no member takes the leader of an older view for its leader any more.
 *
 * The call promises nothing about nodes that are no members any more. A leader that was evicted, or
 * is cut off from the others, goes on until its table ends at its node. A service that must exclude
 * this lets the leader send its decisions as messages of a subgroup, or writes the view into all
 * that it changes, so that the receiver can refuse an older one.
 *
 * The view may end as soon as the call returns. spindle_table_wait() reports that, and
 * spindle_table_seats() sets t->vid.
 *
 * Return: 0; -ETIMEDOUT: a member has not called, and @leader is as it was; other errors as
 * spindle_table_barrier() and spindle_table_seats().
 */
SPINDLE_API int spindle_table_elect(struct spindle_table *t, uint32_t cell, int timeout_ms,
				    struct spindle_leader *leader);

/* ---- predicates in user space ----------------------------------------- */

/** spindle_test_fn - does a condition hold? @ctx is watch.ctx */
typedef bool (*spindle_test_fn)(void *ctx);
/** spindle_act_fn - a trigger of a watch; @ctx is watch.ctx */
typedef void (*spindle_act_fn)(void *ctx);

/**
 * struct spindle_watch - a predicate in user space; the caller owns the memory
 *
 * Set the whole structure to zero first, then the fields that are needed. It must neither move nor
 * be freed while it is in a loop.
 */
struct spindle_watch {
	/** @test: the condition; it may be called at any time while the watch is in a loop */
	spindle_test_fn test;
	/** @act: triggers, which run in this order; memory of the caller */
	const spindle_act_fn *act;
	/** @acts: entries of @act, at least 1 */
	uint32_t acts;
	/** @kind: enum spindle_kind; a watch of SPINDLE_KIND_ONCE is removed when it fires */
	uint32_t kind;
	/** @ctx: argument of @test and @act */
	void *ctx;

	/* private: */
	struct spindle_loop *loop;
	struct spindle_watch *prev, *next;
	uint64_t since;		/* the look in which it was added */
	bool held;		/* at the look before */
};

/**
 * struct spindle_loop - predicates in user space; the caller owns the memory
 *
 * Set the whole structure to zero to begin with an empty loop. No memory is allocated.
 */
struct spindle_loop {
	/* private: */
	struct spindle_watch *first, *last;
	struct spindle_watch *cursor;	/* what the present look comes to next */
	struct spindle_watch *current;	/* whose test or triggers run */
	uint64_t look;			/* looks that have begun */
	bool looking, again, stopped;
	int result;
};

/**
 * spindle_loop_add() - add a watch behind the others
 * @l: the loop
 * @w: the watch, in no loop
 *
 * From within a test or a trigger as well. The present look does not come to it, and the next one
 * follows without waiting. A watch of SPINDLE_KIND_TRANSITION begins as if it had not held.
 *
 * Return: 0; -EEXIST: @w is in a loop; -EINVAL: @w has no test, no triggers or an unknown kind.
 */
SPINDLE_API int spindle_loop_add(struct spindle_loop *l, struct spindle_watch *w);

/**
 * spindle_loop_remove() - remove a watch
 * @l: the loop
 * @w: the watch
 *
 * From within a test or a trigger as well: of any watch, also of the one that runs. Its test and
 * its other triggers do not run any more, and its memory may be freed at once.
 *
 * Return: 0; -ENOENT: @w is not in this loop.
 */
SPINDLE_API int spindle_loop_remove(struct spindle_loop *l, struct spindle_watch *w);

/**
 * spindle_loop_look() - evaluate each watch once, in the order of their addition
 * @l: the loop
 *
 * A watch whose condition holds, by its kind, runs its triggers before the next watch is tested.
 *
 * Return: watches that have fired; -EBUSY from within a test or a trigger.
 */
SPINDLE_API int spindle_loop_look(struct spindle_loop *l);

/**
 * spindle_loop_again() - let spindle_loop_run() look once more before it waits
 * @l: the loop
 *
 * For a trigger that changes what other tests look at, and that is not in the table.
 */
static inline void spindle_loop_again(struct spindle_loop *l)
{
	l->again = true;
}

/**
 * spindle_loop_stop() - let spindle_loop_run() return after the present look
 * @l: the loop
 * @result: what it returns
 */
static inline void spindle_loop_stop(struct spindle_loop *l, int result)
{
	l->result = result;
	l->stopped = true;
}

/**
 * spindle_loop_run() - look, and look again whenever a row may have changed
 * @l: the loop
 * @t: attached without SPINDLE_TABLE_SIGNALS
 * @timeout_ms: milliseconds, 0 to look once, -1 without limit
 *
 * Looks at least once, unless the table has ended. A change that comes during a look makes another
 * look follow, so none is missed. Tests of a live view call spindle_table_seats(), because the loop
 * does not.
 *
 * Return: @result of spindle_loop_stop(); 0 when no watch is left; -ETIMEDOUT; -EBUSY from within a
 * test or a trigger; or an errno of spindle_table_wait(), as -EPIPE after the last change.
 */
SPINDLE_API int spindle_loop_run(struct spindle_loop *l, struct spindle_table *t, int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif /* SPINDLE_PREDICATE_H */
