/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netlink family "spindle" by hand. No library is used, because libraries do not build the
 * malformed messages of these tests, and hide acknowledgments.
 */
#ifndef SPINDLE_GUEST_NL_H
#define SPINDLE_GUEST_NL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/spindle_genl.h>

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif
#define NL_REQ_MAX	(256 << 10)
#define NL_BUF		(256 << 10)

struct nl {
	int fd;
	uint16_t family;
	uint32_t group;
	uint32_t seq;
	uint32_t room;		/* bytes that a read offers: dumps come in such pieces */
};

/* A request under construction. @nest has the open nests. */
struct nl_req {
	union {
		struct nlmsghdr nlh;
		unsigned char buf[NL_REQ_MAX];
	};
	struct nlattr *nest[4];
	int depth;
};

/* The contents of an acknowledgment. */
struct nl_ack {
	int err;		/* 0 or -errno */
	char text[256];
	bool has_offs, has_policy, has_miss, intr;
	uint32_t offs, miss;
};

static inline void *nl_data(const struct nlattr *a)
{
	return (char *)a + NLA_HDRLEN;
}

static inline int nl_len(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

static inline int nl_type(const struct nlattr *a)
{
	return a->nla_type & NLA_TYPE_MASK;
}

/* The attribute at a place, or NULL behind the last one before @end. */
static inline const struct nlattr *nl_at(const void *at, const void *end)
{
	const struct nlattr *a = at;

	return (char *)end - (char *)at >= NLA_HDRLEN && a->nla_len >= NLA_HDRLEN ? a : NULL;
}

static inline const struct nlattr *nl_behind(const struct nlattr *a, const void *end)
{
	return nl_at((char *)a + NLA_ALIGN(a->nla_len), end);
}

/* The attributes of a message of a generic family. */
static inline void *nl_attrs(const struct nlmsghdr *nlh)
{
	return (char *)nlh + NLMSG_HDRLEN + GENL_HDRLEN;
}

static inline int nl_attrs_len(const struct nlmsghdr *nlh)
{
	return nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
}

static inline const struct nlattr *nl_find(const void *start, int bytes, int type)
{
	const void *end = (char *)start + bytes;
	const struct nlattr *a;

	for (a = nl_at(start, end); a; a = nl_behind(a, end))
		if (nl_type(a) == type)
			return a;
	return NULL;
}

static inline uint64_t nl_num(const struct nlattr *a)
{
	uint64_t v = 0;

	if (a)
		memcpy(&v, nl_data(a), nl_len(a) < 8 ? nl_len(a) : 8);
	return v;
}

/* ---- requests --------------------------------------------------------- */

static inline void nl_begin(struct nl *nl, struct nl_req *r, int cmd, int flags)
{
	struct genlmsghdr *g = (void *)(r->buf + NLMSG_HDRLEN);

	memset(r->buf, 0, 64);
	r->nlh.nlmsg_type = nl->family;
	r->nlh.nlmsg_flags = NLM_F_REQUEST | flags;
	r->nlh.nlmsg_seq = ++nl->seq;
	r->nlh.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	g->cmd = cmd;
	g->version = SPINDLE_GENL_VERSION;
	r->depth = 0;
}

/* Append bytes as they are. */
static inline void *nl_raw(struct nl_req *r, const void *data, int len)
{
	void *at = r->buf + r->nlh.nlmsg_len;

	memset(at, 0, NLA_ALIGN(len));
	if (data)
		memcpy(at, data, len);
	r->nlh.nlmsg_len += NLA_ALIGN(len);
	return at;
}

static inline struct nlattr *nl_put(struct nl_req *r, int type, const void *data, int len)
{
	struct nlattr *a = nl_raw(r, NULL, NLA_HDRLEN + len);

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	if (data)
		memcpy(nl_data(a), data, len);
	return a;
}

static inline struct nlattr *nl_put_u32(struct nl_req *r, int type, uint32_t v)
{
	return nl_put(r, type, &v, sizeof(v));
}

static inline struct nlattr *nl_nest(struct nl_req *r, int type)
{
	return r->nest[r->depth++] = nl_put(r, type, NULL, 0);
}

static inline void nl_nest_end(struct nl_req *r)
{
	struct nlattr *a = r->nest[--r->depth];

	a->nla_len = r->buf + r->nlh.nlmsg_len - (unsigned char *)a;
}

static inline int nl_send(struct nl *nl, const struct nl_req *r)
{
	return send(nl->fd, r->buf, r->nlh.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* ---- answers ---------------------------------------------------------- */

static inline void nl_take_ack(const struct nlmsghdr *nlh, struct nl_ack *ack)
{
	const struct nlmsgerr *e = (void *)((char *)nlh + NLMSG_HDRLEN);
	bool done = nlh->nlmsg_type == NLMSG_DONE;
	int hdr = NLMSG_HDRLEN + (done ? sizeof(int) : sizeof(*e));
	const void *end = (char *)nlh + nlh->nlmsg_len;
	const struct nlattr *a;

	memset(ack, 0, sizeof(*ack));
	ack->err = nlh->nlmsg_len >= NLMSG_HDRLEN + sizeof(int) ? e->error : 0;
	ack->intr = nlh->nlmsg_flags & NLM_F_DUMP_INTR;
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	/* Without NETLINK_CAP_ACK an error includes the request, which the tests do not ask for. */
	for (a = nl_at((char *)nlh + hdr, end); a; a = nl_behind(a, end)) {
		switch (nl_type(a)) {
		case NLMSGERR_ATTR_MSG:
			snprintf(ack->text, sizeof(ack->text), "%.*s", nl_len(a),
				 (char *)nl_data(a));
			break;
		case NLMSGERR_ATTR_OFFS:
			ack->has_offs = true;
			ack->offs = nl_num(a);
			break;
		case NLMSGERR_ATTR_POLICY:
			ack->has_policy = true;
			break;
		case 5: /* NLMSGERR_ATTR_MISS_TYPE */
			ack->has_miss = true;
			ack->miss = nl_num(a);
			break;
		}
	}
}

/*
 * Read until the acknowledgment of the last request, or the end of its dump. Each message of the
 * family goes to @fn. If @fn does not return 0, the reading ends.
 */
static inline int nl_read(struct nl *nl, struct nl_ack *ack,
			  int (*fn)(void *ctx, const struct nlmsghdr *nlh), void *ctx)
{
	static unsigned char buf[NL_BUF] __attribute__((aligned(8)));

	for (;;) {
		ssize_t n = recv(nl->fd, buf, nl->room, MSG_TRUNC);
		struct nlmsghdr *nlh = (void *)buf;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || n > nl->room)
			return n < 0 ? -errno : -EMSGSIZE;
		for (; NLMSG_OK(nlh, n); nlh = NLMSG_NEXT(nlh, n)) {
			if (nlh->nlmsg_seq != nl->seq)
				continue;
			if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
				nl_take_ack(nlh, ack);
				return 0;
			}
			if (fn && fn(ctx, nlh))
				return -EINTR;
		}
	}
}

/* Send a request and wait for its end; returns 0 or -errno of the socket. */
static inline int nl_talk(struct nl *nl, struct nl_req *r, struct nl_ack *ack,
			  int (*fn)(void *ctx, const struct nlmsghdr *nlh), void *ctx)
{
	int err;

	memset(ack, 0, sizeof(*ack));
	if ((r->nlh.nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		r->nlh.nlmsg_flags |= NLM_F_ACK;
	err = nl_send(nl, r);
	return err ? err : nl_read(nl, ack, fn, ctx);
}

/* ---- the socket ------------------------------------------------------- */

static inline int nl_take_family(void *ctx, const struct nlmsghdr *nlh)
{
	struct nl *nl = ctx;
	const struct nlattr *a = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), CTRL_ATTR_FAMILY_ID);
	const struct nlattr *g = nl_find(nl_attrs(nlh), nl_attrs_len(nlh),
					 CTRL_ATTR_MCAST_GROUPS);

	nl->family = nl_num(a);
	if (g) {
		const struct nlattr *first = nl_data(g);

		nl->group = nl_num(nl_find(nl_data(first), nl_len(first),
					   CTRL_ATTR_MCAST_GRP_ID));
	}
	return 0;
}

/* Returns 0, or -errno; -ENOENT: the module is not loaded. */
static inline int nl_open(struct nl *nl)
{
	static struct nl_req r;
	struct nl_ack ack;
	int one = 1, err;

	memset(nl, 0, sizeof(*nl));
	nl->room = NL_BUF;
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		return -errno;
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	nl->family = GENL_ID_CTRL;
	nl_begin(nl, &r, CTRL_CMD_GETFAMILY, 0);
	nl_put(&r, CTRL_ATTR_FAMILY_NAME, SPINDLE_GENL_NAME, sizeof(SPINDLE_GENL_NAME));
	err = nl_talk(nl, &r, &ack, nl_take_family, nl);
	return err ? err : ack.err;
}

/* Receive events from now on. */
static inline int nl_listen(struct nl *nl)
{
	int size = 4 << 20;

	setsockopt(nl->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return setsockopt(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &nl->group,
			  sizeof(nl->group)) ? -errno : 0;
}

/* Pass the received events to @fn. Returns their number or -errno, and does not wait. */
static inline int nl_events(struct nl *nl, void (*fn)(void *ctx, const struct nlmsghdr *nlh),
			    void *ctx)
{
	static unsigned char buf[NL_BUF] __attribute__((aligned(8)));
	int count = 0;

	for (;;) {
		ssize_t n = recv(nl->fd, buf, sizeof(buf), MSG_DONTWAIT);
		struct nlmsghdr *nlh = (void *)buf;

		if (n < 0)
			return errno == EAGAIN ? count : -errno;
		for (; NLMSG_OK(nlh, n); nlh = NLMSG_NEXT(nlh, n)) {
			if (nlh->nlmsg_type != nl->family)
				continue;
			if (fn)
				fn(ctx, nlh);
			count++;
		}
	}
}

/* ---- subgroups ------------------------------------------------------------ */

struct nl_subgroup {
	uint32_t readers, state, error;
	bool found, sender;
	uint64_t stat[SPINDLE_SUBGROUP_S_MAX + 1];
};

static inline int nl_take_subgroup(void *ctx, const struct nlmsghdr *nlh)
{
	struct nl_subgroup *sg = ctx;
	const struct nlattr *nest, *stats, *a;
	const void *end;

	nest = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_SUBGROUP);
	if (!nest)
		return 0;
	sg->found = true;
	sg->readers = nl_num(nl_find(nl_data(nest), nl_len(nest), SPINDLE_SUBGROUP_A_READERS));
	sg->sender = nl_num(nl_find(nl_data(nest), nl_len(nest), SPINDLE_SUBGROUP_A_SENDER));
	sg->state = nl_num(nl_find(nl_data(nest), nl_len(nest), SPINDLE_SUBGROUP_A_STATE));
	sg->error = nl_num(nl_find(nl_data(nest), nl_len(nest), SPINDLE_SUBGROUP_A_ERROR));
	stats = nl_find(nl_data(nest), nl_len(nest), SPINDLE_SUBGROUP_A_STATS);
	if (!stats)
		return 0;
	end = (char *)nl_data(stats) + nl_len(stats);
	for (a = nl_at(nl_data(stats), end); a; a = nl_behind(a, end))
		if (nl_type(a) <= SPINDLE_SUBGROUP_S_MAX)
			sg->stat[nl_type(a)] = nl_num(a);
	return 0;
}

/* Returns 0 or -errno; -ENOENT: there is no such subgroup at this node. */
static inline int nl_subgroup(struct nl *nl, uint32_t node, uint32_t id, struct nl_subgroup *sg)
{
	static struct nl_req r;
	struct nl_ack ack;
	int err;

	memset(sg, 0, sizeof(*sg));
	nl_begin(nl, &r, SPINDLE_CMD_SUBGROUP_GET, NLM_F_DUMP);
	nl_put_u32(&r, SPINDLE_A_NODE_ID, node);
	nl_put_u32(&r, SPINDLE_A_SUBGROUP_ID, id);
	err = nl_talk(nl, &r, &ack, nl_take_subgroup, sg);
	if (!err)
		err = ack.err;
	return err ? err : sg->found ? 0 : -ENOENT;
}

#endif /* SPINDLE_GUEST_NL_H */
