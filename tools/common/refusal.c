// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals of the kernel. The extended ack has a text and an attribute; this file maps the
 * attribute to the words of the command line or of the file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "names.h"
#include "net.h"
#include "util.h"
#include "wire.h"

/**
 * struct refusal - an extended ack
 */
struct refusal {
	/** @err: positive errno */
	int err;
	/** @text: sentence of the kernel, or NULL */
	const char *text;
	/** @where: the attribute that the kernel rejects, or NULL */
	const struct ctl_mark *where;
	/** @limit: the values that the attribute may have, or NULL */
	const char *limit;
	/** @missing: the attribute that the request lacks, or NULL */
	const char *missing;
};

/* The innermost attribute that begins at or before an offset. */
static const struct ctl_mark *find_mark(const struct ctl_req *req, uint32_t off)
{
	const struct ctl_mark *best = NULL;
	unsigned int i;

	for (i = 0; i < req->marks && req->mark[i].off <= off; i++)
		best = &req->mark[i];
	return best;
}

/* The policy that a value broke, as the kernel describes it. */
static const char *read_policy(struct nlattr *nest)
{
	struct nlattr *a[NL_POLICY_TYPE_ATTR_MAX + 1];
	const char *min = NULL, *max = NULL;

	if (nla_parse_nested(a, NL_POLICY_TYPE_ATTR_MAX, nest, NULL) < 0)
		return NULL;
	if (a[NL_POLICY_TYPE_ATTR_MIN_VALUE_U])
		min = ctl_asprintf("%llu", (unsigned long long)
				   ctl_attr_num(a[NL_POLICY_TYPE_ATTR_MIN_VALUE_U]));
	if (a[NL_POLICY_TYPE_ATTR_MAX_VALUE_U])
		max = ctl_asprintf("%llu", (unsigned long long)
				   ctl_attr_num(a[NL_POLICY_TYPE_ATTR_MAX_VALUE_U]));
	if (min && max)
		return ctl_asprintf("from %s to %s", min, max);
	if (a[NL_POLICY_TYPE_ATTR_MAX_LENGTH])
		return ctl_asprintf("at most %llu characters", (unsigned long long)
				    ctl_attr_num(a[NL_POLICY_TYPE_ATTR_MAX_LENGTH]));
	return NULL;
}

/* Name the missing attribute. The nest that lacks it has the names for its numbers. */
static const char *read_missing(const struct ctl_req *req, uint32_t type,
				const struct nlattr *nest_off)
{
	const struct ctl_mark *nest = NULL;

	if (nest_off && nla_len(nest_off) >= 4)
		nest = find_mark(req, nla_get_u32(nest_off));
	if (!nest || !nest->inside)
		return ctl_name(&ctl_attr, type);
	return ctl_asprintf("%s: %s", nest->text, ctl_name(nest->inside, type));
}

static void read_ext_ack(const struct ctl_req *req, void *data, int len, struct refusal *r)
{
	struct nlattr *a[NLMSGERR_ATTR_MAX + 1];

	if (len <= 0 || nla_parse(a, NLMSGERR_ATTR_MAX, data, len, NULL) < 0)
		return;
	if (a[NLMSGERR_ATTR_MSG] && nla_len(a[NLMSGERR_ATTR_MSG]) > 0)
		r->text = ctl_clean(ctl_asprintf("%.*s", nla_len(a[NLMSGERR_ATTR_MSG]),
						 (char *)nla_data(a[NLMSGERR_ATTR_MSG])));
	if (a[NLMSGERR_ATTR_OFFS] && nla_len(a[NLMSGERR_ATTR_OFFS]) >= 4)
		r->where = find_mark(req, nla_get_u32(a[NLMSGERR_ATTR_OFFS]));
	if (a[NLMSGERR_ATTR_POLICY])
		r->limit = read_policy(a[NLMSGERR_ATTR_POLICY]);
	if (a[NLMSGERR_ATTR_MISS_TYPE] && nla_len(a[NLMSGERR_ATTR_MISS_TYPE]) >= 4)
		r->missing = read_missing(req, nla_get_u32(a[NLMSGERR_ATTR_MISS_TYPE]),
					  a[NLMSGERR_ATTR_MISS_NEST]);
}

static void say_refusal(const struct ctl_req *req, const struct refusal *r)
{
	const char *text = r->text ? r->text : strerror(r->err);

	if (r->err == EPERM && !r->text)
		text = "this takes CAP_NET_ADMIN; run it as root or with sudo";
	else if (r->err == EOPNOTSUPP && !r->text)
		text = "the spindle.ko that is loaded does not know this request";
	else if (r->err == ENOENT && !r->text)
		text = "spindle.ko was unloaded";	/* the kernel does not know the family */
	fflush(stdout);
	if (req->file && r->where && r->where->line)
		fprintf(stderr, "%s:%d: %s: %s\n", req->file, r->where->line, req->what, text);
	else
		ctl_err("%s: %s", req->what, text);
	if (r->where)
		fprintf(stderr, "    at: %s%s%s\n", ctl_clean(r->where->text),
			r->limit ? "; allowed: " : "", r->limit ? r->limit : "");
	if (r->missing)
		fprintf(stderr, "    missing: %s\n", ctl_clean(r->missing));
}

/**
 * ctl_refusal() - read the end of an answer: done, or refused
 * @req: the request
 * @nlh: NLMSG_ERROR or NLMSG_DONE
 * @say: whether to tell the user
 *
 * Return: 0 or -errno
 */
int ctl_refusal(const struct ctl_req *req, const struct nlmsghdr *nlh, enum ctl_say say)
{
	const struct nlmsgerr *e = nlmsg_data(nlh);
	struct refusal r = { 0 };
	size_t skip;

	if (nlmsg_datalen(nlh) < (int)sizeof(int))
		return nlh->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;
	/*
	 * Both messages begin with the error. In an NLMSG_ERROR, the header of the request follows.
	 */
	if (e->error >= 0)
		return 0;
	r.err = -e->error;
	skip = sizeof(int);
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		if (nlmsg_datalen(nlh) < (int)sizeof(*e))
			return -EBADMSG;
		skip = sizeof(*e);
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
			skip += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
	}
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		read_ext_ack(req, (char *)nlmsg_data(nlh) + skip,
			     nlmsg_datalen(nlh) - (int)skip, &r);
	if (say == CTL_SAY)
		say_refusal(req, &r);
	return -r.err;
}
