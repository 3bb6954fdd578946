// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trees of attributes, and errors in them. See attrs.h.
 */
#include "attrs.h"

#define POOL 4096

/* Attributes live until the next request begins. */
static struct attr pool[POOL];
static unsigned int used;

static struct attr *new_attr(void)
{
	struct attr *a = &pool[used++ % POOL];

	memset(a, 0, sizeof(*a));
	return a;
}

/* Begin a list. The nests of a request begin before the request itself. */
void tree_begin(struct tree *t)
{
	t->first = NULL;
	t->end = &t->first;
}

static struct attr *append(struct tree *t, struct attr *a)
{
	*t->end = a;
	t->end = &a->next;
	return a;
}

struct attr *tree_put(struct tree *t, int type, const void *data, uint32_t len)
{
	struct attr *a = new_attr();

	a->type = type;
	a->len = len;
	if (data)
		memcpy(a->data, data, len < ATTR_BYTES ? len : ATTR_BYTES);
	return append(t, a);
}

struct attr *tree_u8(struct tree *t, int type, uint8_t v)
{
	return tree_put(t, type, &v, sizeof(v));
}

struct attr *tree_u16(struct tree *t, int type, uint16_t v)
{
	return tree_put(t, type, &v, sizeof(v));
}

struct attr *tree_u32(struct tree *t, int type, uint32_t v)
{
	return tree_put(t, type, &v, sizeof(v));
}

struct attr *tree_u64(struct tree *t, int type, uint64_t v)
{
	return tree_put(t, type, &v, sizeof(v));
}

struct attr *tree_nest(struct tree *t, int type, struct tree *in)
{
	struct attr *a = tree_put(t, type | NLA_F_NESTED, NULL, 0);

	a->child = in->first;
	return a;
}

/* ---- mutation ---------------------------------------------------------- */

/* The places of attributes, so that one can be removed. */
struct places {
	struct attr **at[POOL];
	unsigned int n;
};

static void find_places(struct attr **at, struct places *p)
{
	for (; *at && p->n < POOL; at = &(*at)->next) {
		p->at[p->n++] = at;
		find_places(&(*at)->child, p);
	}
}

static struct attr *copy_of(const struct attr *a)
{
	struct attr *b = new_attr();

	*b = *a;
	return b;
}

static void random_bytes(struct attr *a, uint32_t len)
{
	uint64_t v;
	unsigned int i;

	a->child = NULL;
	a->len = len;
	for (i = 0; i < ATTR_BYTES; i += sizeof(v)) {
		v = one_in(2) ? rnd() : odd();
		memcpy(a->data + i, &v, sizeof(v));
	}
}

/* One attribute becomes another one. */
static void spoil(struct places *p, struct attr **at)
{
	struct attr *a = *at, *b;
	uint64_t v = odd();

	switch (below(12)) {
	case 0:
	case 1:
	case 2:	/* a value, of the right length */
		memcpy(a->data, &v, sizeof(v));
		break;
	case 3:	/* a length that is not that of the type */
		a->child = NULL;
		a->len = one_in(8) ? below(60000) : below(20);
		break;
	case 4:	/* a header that lies */
		a->lie = one_in(2) ? (int)below(16) - 8 : (int16_t)rnd();
		break;
	case 5:	/* it is missing */
		*at = a->next;
		break;
	case 6:	/* it is there twice */
		b = copy_of(a);
		a->next = b;
		break;
	case 7:	/* another type */
		a->type = one_in(4) ? rnd() : below(SPINDLE_A_MAX + 2);
		break;
	case 8:	/* other flags */
		a->type ^= one_in(2) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER;
		break;
	case 9:	/* noise */
		random_bytes(a, below(64));
		break;
	case 10: /* one nest too many */
		b = copy_of(a);
		b->next = NULL;
		a->child = b;
		a->type |= NLA_F_NESTED;
		break;
	case 11: /* an attribute from elsewhere */
		b = copy_of(*p->at[below(p->n)]);
		b->next = a->next;
		/* An attribute below itself would never end. */
		if (b->child)
			b->child = NULL;
		a->next = b;
		break;
	}
}

/* Spoil a request in one to three places. */
void tree_mutate(struct tree *t)
{
	static struct places p;
	unsigned int n = one_in(2) ? 1 : 1 + below(3);

	while (n--) {
		p.n = 0;
		find_places(&t->first, &p);
		if (p.n)
			spoil(&p, p.at[below(p.n)]);
	}
}

/* ---- laying out -------------------------------------------------------- */

static void lay_out(const struct attr *a, struct nl_req *r)
{
	for (; a; a = a->next) {
		uint32_t start = r->nlh.nlmsg_len, len = a->child ? 0 : a->len, i;
		struct nlattr *nla;

		if (start + NLA_HDRLEN + NLA_ALIGN(len) + 64 > NL_REQ_MAX)
			return;
		nla = nl_put(r, a->type, NULL, len);
		for (i = 0; i < len; i++)
			((unsigned char *)nl_data(nla))[i] = i < ATTR_BYTES ? a->data[i] : mix(i);
		lay_out(a->child, r);
		nla->nla_len = r->nlh.nlmsg_len - start;
		/* The length has no padding, as in the kernel's own nests. */
		if (!a->child)
			nla->nla_len = NLA_HDRLEN + len;
		nla->nla_len += a->lie;
	}
}

/* Write the attributes behind the headers of a request. */
void tree_lay_out(const struct tree *t, struct nl_req *r)
{
	lay_out(t->first, r);
	used = 0;
}
