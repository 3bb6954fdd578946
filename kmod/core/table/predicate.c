// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates of tables. See predicate.h.
 *
 * Context: engine, where nothing else is said.
 */
#include "predicate.h"

/*
 * Words of cells that a pass reads for predicates, more or less. The arithmetic of a look counts as
 * some words. So processes with many predicates cannot keep the engine from its other work.
 */
#define WORDS_A_PASS	65536U
#define WORDS_A_LOOK	1024U

/* ---- check: any context ------------------------------------------------ */

static bool is_zero(const void *p, size_t bytes)
{
	return !memchr_inv(p, 0, bytes);
}

static bool is_field(const struct spindle_field *f, u32 cells, u32 cell)
{
	u32 value = cell - sizeof(struct spindle_cell_seal);

	return f->cell < cells && (f->width == 1 || f->width == 2 || f->width == 4 ||
	       f->width == 8) && !(f->offset % f->width) && f->offset + f->width <= value &&
	       !(f->flags & ~SPINDLE_FIELD_SIGNED) && !f->resv;
}

/* The nodes of a list, and zeroes behind them. */
static bool is_nodes(const struct spindle_number *n)
{
	u32 i;

	if (n->rows != SPINDLE_ROWS_NODES)
		return !n->nodes && is_zero(n->node, sizeof(n->node));
	if (!n->nodes || n->nodes > SPINDLE_MAX_ROW_NODES)
		return false;
	for (i = 0; i < n->nodes; i++)
		if (!n->node[i])
			return false;
	return is_zero(&n->node[i], sizeof(n->node) - i * sizeof(n->node[0]));
}

static bool is_number(const struct spindle_number *n, u32 cells, u32 cell)
{
	if (n->fold > SPINDLE_FOLD_SUM || n->rows > SPINDLE_ROWS_NODES || n->resv || !is_nodes(n))
		return false;
	if (n->fold <= SPINDLE_FOLD_OWN && n->rows)
		return false;
	if (n->fold == SPINDLE_FOLD_NONE)
		return is_zero(&n->field, sizeof(n->field));
	return is_field(&n->field, cells, cell);
}

static bool is_term(const struct spindle_term *t, u32 cells, u32 cell)
{
	const struct spindle_number *left = &t->left, *right = &t->right;

	if (!is_number(left, cells, cell) || !is_number(right, cells, cell))
		return false;
	if (left->fold == SPINDLE_FOLD_NONE || right->fold == SPINDLE_FOLD_EACH)
		return false;
	/* One kind of comparison is right for both. */
	if (right->fold != SPINDLE_FOLD_NONE && right->field.flags != left->field.flags)
		return false;
	/* Each row is compared, and nothing is added to all of them: the right number has @add. */
	if (left->fold == SPINDLE_FOLD_EACH ? !t->least || left->add : t->least)
		return false;
	return t->compare <= SPINDLE_CMP_GE;
}

static bool is_trigger(const struct spindle_trigger *t, u32 cells, u32 cell)
{
	switch (t->what) {
	case SPINDLE_DO_SET:
		return !t->id && is_field(&t->field, cells, cell) &&
		       is_number(&t->value, cells, cell) && t->value.fold != SPINDLE_FOLD_EACH;
	case SPINDLE_DO_SIGNAL:
		return is_zero(&t->id, sizeof(*t) - offsetof(struct spindle_trigger, id));
	case SPINDLE_DO_ARM:
	case SPINDLE_DO_DISARM:
		return t->id < SPINDLE_MAX_PREDICATES &&
		       is_zero(&t->field, sizeof(*t) - offsetof(struct spindle_trigger, field));
	default:
		return false;
	}
}

static int check_triggers(struct spindle_predicate *p, u32 cells, u32 cell, bool own)
{
	u32 i;

	for (i = 0; i < p->triggers; i++) {
		p->bad = SPINDLE_BAD_TRIGGER + i;
		if (!is_trigger(&p->trigger[i], cells, cell))
			return -EINVAL;
		if (p->trigger[i].what == SPINDLE_DO_SET && !own)
			return -EBADF;
	}
	p->bad = 0;
	return 0;
}

/**
 * spindle_tb_pred_check() - is this a predicate of a table?
 * @p: a private copy of what the process says; @p->bad tells what is wrong
 * @cells: cells of a row
 * @cell: bytes of a cell
 * @own: the process writes the own row
 *
 * Context: any.
 * Return: 0, -EINVAL, or -EBADF: a trigger sets a field, but the process does not write the row
 */
int spindle_tb_pred_check(struct spindle_predicate *p, u32 cells, u32 cell, bool own)
{
	u32 i;

	if (p->bad || p->resv || p->kind > SPINDLE_KIND_TRANSITION ||
	    (p->flags & ~(SPINDLE_PREDICATE_ANY | SPINDLE_PREDICATE_DISARMED)) ||
	    (p->id >= SPINDLE_MAX_PREDICATES && p->id != SPINDLE_ANY_ID) ||
	    !p->terms || p->terms > SPINDLE_MAX_TERMS ||
	    !p->triggers || p->triggers > SPINDLE_MAX_TRIGGERS) {
		p->bad = 0;
		return -EINVAL;
	}
	if (!is_zero(&p->term[p->terms], (SPINDLE_MAX_TERMS - p->terms) * sizeof(p->term[0])) ||
	    !is_zero(&p->trigger[p->triggers],
		     (SPINDLE_MAX_TRIGGERS - p->triggers) * sizeof(p->trigger[0])))
		return -EINVAL;
	for (i = 0; i < p->terms; i++) {
		if (is_term(&p->term[i], cells, cell))
			continue;
		p->bad = 1 + i;
		return -EINVAL;
	}
	return check_triggers(p, cells, cell, own);
}

/* ---- life -------------------------------------------------------------- */

static bool has_field(const struct spindle_number *n)
{
	return n->fold != SPINDLE_FOLD_NONE;
}

/**
 * spindle_tb_pred_bytes() - memory of a predicate
 * @args: checked
 *
 * Context: any.
 * Return: bytes
 */
size_t spindle_tb_pred_bytes(const struct spindle_predicate *args)
{
	u32 fields = 0, i;

	for (i = 0; i < args->terms; i++)
		fields += has_field(&args->term[i].left) + has_field(&args->term[i].right);
	for (i = 0; i < args->triggers; i++)
		fields += has_field(&args->trigger[i].value);
	return sizeof(struct spindle_tb_pred) + (size_t)fields * SPINDLE_MAX_MEMBERS * sizeof(u64);
}

static void init_number(struct spindle_tb_pred *pred, struct spindle_tb_number *n,
			const struct spindle_number *args)
{
	u32 i;

	n->as = *args;
	if (!has_field(args))
		return;
	n->value = &pred->values[pred->numbers * SPINDLE_MAX_MEMBERS];
	for (i = pred->numbers++; i && pred->number[i - 1]->as.field.cell > args->field.cell; i--)
		pred->number[i] = pred->number[i - 1];
	pred->number[i] = n;
}

/**
 * spindle_tb_pred_init() - make a predicate ready to be added
 * @pred: spindle_tb_pred_bytes() of zeroes
 * @args: checked
 *
 * Context: any.
 */
void spindle_tb_pred_init(struct spindle_tb_pred *pred, const struct spindle_predicate *args)
{
	u32 i;

	pred->kind = args->kind;
	pred->any = args->flags & SPINDLE_PREDICATE_ANY;
	pred->armed = !(args->flags & SPINDLE_PREDICATE_DISARMED);
	pred->terms = args->terms;
	pred->triggers = args->triggers;
	for (i = 0; i < args->terms; i++) {
		pred->term[i].compare = args->term[i].compare;
		pred->term[i].least = args->term[i].least;
		init_number(pred, &pred->term[i].left, &args->term[i].left);
		init_number(pred, &pred->term[i].right, &args->term[i].right);
	}
	for (i = 0; i < args->triggers; i++) {
		pred->trigger[i].what = args->trigger[i].what;
		pred->trigger[i].id = args->trigger[i].id;
		pred->trigger[i].field = args->trigger[i].field;
		init_number(pred, &pred->trigger[i].value, &args->trigger[i].value);
	}
}

static u64 all_rows(const struct spindle_tb *tb)
{
	return U64_MAX >> (64 - tb->members);
}

/* The ranks of the rows of a number. */
static u64 rows_of(const struct spindle_tb *tb, const struct spindle_number *n)
{
	u64 rows = 0;
	u32 r, i;

	if (n->fold == SPINDLE_FOLD_OWN)
		return BIT_ULL(tb->me);
	if (n->rows == SPINDLE_ROWS_ALL)
		return all_rows(tb);
	if (n->rows == SPINDLE_ROWS_OTHERS)
		return all_rows(tb) & ~BIT_ULL(tb->me);
	for (r = 0; r < tb->members; r++)
		for (i = 0; i < n->nodes; i++)
			if (tb->member[r].node == n->node[i])
				rows |= BIT_ULL(r);
	return rows;
}

/* Bring the values of a number to the ranks of a view. Rows that have just come have none. */
static void move_values(struct spindle_tb_number *n, u32 members, const u32 *from)
{
	u64 old[SPINDLE_MAX_MEMBERS];
	u32 r;

	memcpy(old, n->value, sizeof(old));
	for (r = 0; r < members; r++)
		n->value[r] = from[r] != SPINDLE_NO_RANK ? old[from[r]] : 0;
}

/* A predicate in a view in which @from are the former ranks; NULL: the predicate is new. */
static void begin(const struct spindle_tb *tb, struct spindle_tb_pred *pred, const u32 *from)
{
	u32 i;

	for (i = 0; i < pred->numbers; i++) {
		pred->number[i]->rows = rows_of(tb, &pred->number[i]->as);
		if (from)
			move_values(pred->number[i], tb->members, from);
	}
	pred->stale = U64_MAX;
}

/**
 * spindle_tb_pred_add() - take a predicate into the list of a table, as the last one
 * @tb: the table
 * @set: predicates of the attachment
 * @id: of the predicate there, which is free
 * @pred: initialized; stays until spindle_tb_pred_remove(), or until the table has ended
 */
void spindle_tb_pred_add(struct spindle_tb *tb, struct spindle_tb_preds *set, u32 id,
			 struct spindle_tb_pred *pred)
{
	struct spindle_tb_pred **link = &tb->preds;

	while (*link)
		link = &(*link)->next;
	pred->link = link;
	pred->turn = tb->turns++;
	*link = pred;
	pred->set = set;
	set->pred[id] = pred;
	begin(tb, pred, NULL);
}

/**
 * spindle_tb_pred_remove() - take a predicate out of the list of its table
 * @set: predicates of the attachment, to a table that has not ended
 * @id: of a predicate there
 *
 * Return: the predicate, for the caller to free
 */
struct spindle_tb_pred *spindle_tb_pred_remove(struct spindle_tb_preds *set, u32 id)
{
	struct spindle_tb_pred *pred = set->pred[id];

	*pred->link = pred->next;
	if (pred->next)
		pred->next->link = pred->link;
	set->pred[id] = NULL;
	return pred;
}

/**
 * spindle_tb_preds_follow() - go on with the predicates of the same table in the view before
 * @tb: wired
 * @old: the table in the view before
 * @from: as for spindle_tb_follow()
 */
void spindle_tb_preds_follow(struct spindle_tb *tb, struct spindle_tb *old, const u32 *from)
{
	struct spindle_tb_pred *pred;

	tb->preds = old->preds;
	old->preds = NULL;
	if (tb->preds)
		tb->preds->link = &tb->preds;
	for (pred = tb->preds; pred; pred = pred->next)
		begin(tb, pred, from);
}

/* ---- numbers ------------------------------------------------------------ */

static u64 field_of(u64 word, const struct spindle_field *f)
{
	u32 rest = 64 - 8 * f->width;

	word <<= rest - 8 * (f->offset % sizeof(u64));
	if (f->flags & SPINDLE_FIELD_SIGNED)
		return (u64)((s64)word >> rest);
	return word >> rest;
}

/* Copy a cell. Returns false if the cell is torn, or is a guard that is not vouched for. */
static bool copy_cell(const struct spindle_tb *tb, u32 r, u32 cell)
{
	const struct spindle_tb_member *m = &tb->member[r];
	const u64 *from = (const u64 *)((r == tb->me ? tb->row : m->cells) + cell * tb->cell);
	u32 n = tb->cell / sizeof(u64);

	if (!spindle_tb_copy_cell(from, n, tb->copy))
		return false;
	return cell || !m->vouch || tb->copy[n - 2] <= m->guard;
}

/* Take all values of a row from its cells, or none. Returns the words that were read. */
static u32 refresh_row(const struct spindle_tb *tb, struct spindle_tb_pred *pred, u32 r)
{
	u64 value[SPINDLE_TB_NUMBERS];
	u32 cell = U32_MAX, words = 0, i;

	for (i = 0; i < pred->numbers; i++) {
		const struct spindle_field *f = &pred->number[i]->as.field;

		if (!(pred->number[i]->rows & BIT_ULL(r)))
			continue;
		if (f->cell != cell) {
			cell = f->cell;
			words += tb->cell / sizeof(u64);
			if (!copy_cell(tb, r, cell))
				return words;
		}
		value[i] = field_of(tb->copy[f->offset / sizeof(u64)], f);
	}
	for (i = 0; i < pred->numbers; i++)
		if (pred->number[i]->rows & BIT_ULL(r))
			pred->number[i]->value[r] = value[i];
	return words;
}

/* Numbers with a sign have the same order as these. */
static u64 in_order(u64 v, bool sign)
{
	return sign ? v ^ BIT_ULL(63) : v;
}

static u64 least_of(const struct spindle_tb_number *n, bool sign)
{
	u64 least = U64_MAX, set;

	for (set = n->rows; set; set &= set - 1)
		least = min(least, in_order(n->value[__ffs64(set)], sign));
	return in_order(least, sign);
}

static u64 greatest_of(const struct spindle_tb_number *n, bool sign)
{
	u64 greatest = 0, set;

	for (set = n->rows; set; set &= set - 1)
		greatest = max(greatest, in_order(n->value[__ffs64(set)], sign));
	return in_order(greatest, sign);
}

static u64 sum_of(const struct spindle_tb_number *n)
{
	u64 sum = 0, set;

	for (set = n->rows; set; set &= set - 1)
		sum += n->value[__ffs64(set)];
	return sum;
}

static u64 value_of(const struct spindle_tb_number *n)
{
	bool sign = n->as.field.flags & SPINDLE_FIELD_SIGNED;
	u64 v = 0;

	switch (n->as.fold) {
	case SPINDLE_FOLD_OWN:
		v = n->value[__ffs64(n->rows)];
		break;
	case SPINDLE_FOLD_MIN:
		v = least_of(n, sign);
		break;
	case SPINDLE_FOLD_MAX:
		v = greatest_of(n, sign);
		break;
	case SPINDLE_FOLD_SUM:
		v = sum_of(n);
		break;
	}
	return v + n->as.add;
}

/* ---- look --------------------------------------------------------------- */

static bool compare(u64 a, u64 b, u32 how)
{
	switch (how) {
	case SPINDLE_CMP_EQ:
		return a == b;
	case SPINDLE_CMP_NE:
		return a != b;
	case SPINDLE_CMP_LT:
		return a < b;
	case SPINDLE_CMP_LE:
		return a <= b;
	case SPINDLE_CMP_GT:
		return a > b;
	default:
		return a >= b;
	}
}

static bool holds_term(const struct spindle_tb_term *t)
{
	bool sign = t->left.as.field.flags & SPINDLE_FIELD_SIGNED;
	u64 right = in_order(value_of(&t->right), sign), set = t->left.rows;
	u32 least = t->least == SPINDLE_ALL_ROWS ? hweight64(set) : t->least, rows = 0;

	if (t->left.as.fold != SPINDLE_FOLD_EACH)
		return compare(in_order(value_of(&t->left), sign), right, t->compare);
	for (; set; set &= set - 1)
		rows += compare(in_order(t->left.value[__ffs64(set)], sign), right, t->compare);
	return rows >= least;
}

static bool holds(const struct spindle_tb_pred *pred)
{
	u32 i;

	for (i = 0; i < pred->terms; i++)
		if (holds_term(&pred->term[i]) == pred->any)
			return pred->any;
	return !pred->any;
}

/* Ranks of rows that have changed since the last look. */
static u64 stale_rows(const struct spindle_tb *tb, const struct spindle_tb_pred *pred)
{
	return pred->stale | (pred->sets != tb->sets ? BIT_ULL(tb->me) : 0);
}

static u32 refresh(const struct spindle_tb *tb, struct spindle_tb_pred *pred)
{
	u64 rows = stale_rows(tb, pred) & all_rows(tb);
	u32 words = 0;

	pred->stale = 0;
	pred->sets = tb->sets;
	for (; rows; rows &= rows - 1)
		words += refresh_row(tb, pred, __ffs64(rows));
	return words;
}

/* Does the predicate fire, now that its numbers are up to date? */
static bool fires(struct spindle_tb *tb, struct spindle_tb_pred *pred)
{
	bool held = pred->held;

	spindle_count(&tb->stats.looks, 1);
	pred->held = holds(pred);
	if (!pred->held)
		return false;
	if (pred->kind == SPINDLE_KIND_ONCE)
		pred->armed = false;
	return pred->kind != SPINDLE_KIND_TRANSITION || !held;
}

static void arm(struct spindle_tb_pred *pred, bool armed)
{
	if (!pred)
		return;
	pred->armed = armed;
	pred->held = false;
	/* A predicate that is armed is looked at once, whether rows change or not. */
	if (armed)
		pred->stale = U64_MAX;
}

/*
 * Triggers behind this one see the field, even while the process changes other cells of the row.
 * The engine alone writes the cell, so that no copy is needed.
 */
static void take_own(const struct spindle_tb *tb, struct spindle_tb_pred *pred, u32 cell)
{
	const u64 *from = (const u64 *)(tb->row + cell * tb->cell);
	u32 i;

	for (i = 0; i < pred->numbers; i++) {
		const struct spindle_field *f = &pred->number[i]->as.field;

		if (f->cell == cell)
			pred->number[i]->value[tb->me] =
				field_of(READ_ONCE(from[f->offset / sizeof(u64)]), f);
	}
}

static void set_field(struct spindle_tb *tb, struct spindle_tb_pred *pred,
		      const struct spindle_tb_trigger *t)
{
	spindle_tb_set(tb, &t->field, value_of(&t->value));
	take_own(tb, pred, t->field.cell);
}

static void pull(struct spindle_tb *tb, struct spindle_tb_pred *pred,
		 const struct spindle_tb_trigger *t)
{
	switch (t->what) {
	case SPINDLE_DO_SIGNAL:
		pred->signals++;
		tb->signals++;
		break;
	case SPINDLE_DO_SET:
		set_field(tb, pred, t);
		break;
	case SPINDLE_DO_ARM:
	case SPINDLE_DO_DISARM:
		arm(pred->set->pred[t->id], t->what == SPINDLE_DO_ARM);
		break;
	}
}

/**
 * spindle_tb_preds_stale() - rows have changed
 * @tb: the table
 * @rows: their ranks
 */
void spindle_tb_preds_stale(struct spindle_tb *tb, u64 rows)
{
	struct spindle_tb_pred *pred;

	for (pred = tb->preds; pred; pred = pred->next)
		pred->stale |= rows;
}

/* Look at a predicate. Returns whether it has fired. */
static bool look(struct spindle_tb *tb, struct spindle_tb_pred *pred)
{
	u32 i;

	if (!fires(tb, pred))
		return false;
	for (i = 0; i < pred->triggers; i++)
		pull(tb, pred, &pred->trigger[i]);
	spindle_count(&tb->stats.fired, 1);
	return true;
}

/**
 * spindle_tb_preds_look() - look once at each predicate for which a row has changed
 * @tb: the table
 *
 * Predicates come in the order in which they were added. Each is looked at once, so that a process
 * whose predicate fires for ever costs no more than one push of the row in a pass. A pass that has
 * read enough leaves the rest to the next one.
 *
 * Return: true if one has fired, or if some are left
 */
bool spindle_tb_preds_look(struct spindle_tb *tb)
{
	struct spindle_tb_pred *pred;
	u64 from = tb->turn;
	bool any = false;
	u32 words = 0;

	tb->turn = 0;
	if (tb->changed)
		spindle_tb_preds_stale(tb, tb->changed);
	tb->changed = 0;
	for (pred = tb->preds; pred; pred = pred->next) {
		if (!pred->armed || !stale_rows(tb, pred) || pred->turn < from)
			continue;
		if (words > WORDS_A_PASS) {
			tb->turn = pred->turn;
			break;
		}
		words += WORDS_A_LOOK + refresh(tb, pred);
		any |= look(tb, pred);
	}
	/* Those in front of @from were left out. */
	return any || pred || from;
}
