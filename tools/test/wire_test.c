// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a file to a message and back, and what becomes of a refusal: without a kernel,
 * as far as that goes. TAP.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "ctl.h"
#include "ctl-model.h"
#include "ctl-names.h"
#include "ctl-wire.h"

static unsigned int tests;
static bool bad;

static void ok(bool good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, what);
	bad |= !good;
}

/* Read a file with this text; NULL if it is not right. */
static struct ctl_conf *conf_of(const char *text)
{
	static struct ctl_conf conf;
	char path[] = "/tmp/wire_test.XXXXXX";
	int fd = mkstemp(path);
	bool good;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		exit(1);
	close(fd);
	good = !ctl_conf_read(&conf, path);
	if (good && !conf.errors)
		ctl_conf_check(&conf);
	unlink(path);
	return good && !conf.errors ? &conf : NULL;
}

static const char cluster[] =
	"[Node]\nId = 1\nAddress = 10.0.0.1\nCpu = 3\nCluster = \"a # b\"\n"
	"[Node]\nId = 2\nAddress = fd00::2\nPort = 5000\nVisibility = imm\n"
	"[Node]\nId = 3\nAddress = 10.0.0.3\n"
	"[View]\nVid = 0x1ffffffff\nMember = 1@10.0.0.1\nMember = 3@10.0.0.3\n"
	"Member = 2@[fd00::2]:5000\n"
	"[Subgroup]\nId = 0\n"
	"[Subgroup]\nId = 7\nName = x\nMode = unordered\nWindow = 100\nMaxMsg = 1K\nHold = 0\n"
	"Members = 2,1\nSenders = 2\n"
	"[Subgroup]\nId = 8\nSenders = none\n";

static struct nlmsghdr *view_message(struct ctl_conf *conf, struct ctl_req **reqp)
{
	struct ctl_req *req = ctl_req_new(NULL, SPINDLE_CMD_VIEW_SET, 0, "view set");

	req->file = "f.conf";
	ctl_view_put(req, &conf->node[0].val[CTL_NODE_ID], &conf->view[0]);
	*reqp = req;
	return nlmsg_hdr(req->msg);
}

static void test_view(struct ctl_conf *conf)
{
	struct ctl_view back;
	struct ctl_req *req;
	struct nlmsghdr *nlh = view_message(conf, &req);
	struct nlattr *attr;
	bool nested = true;
	int rem;

	nla_for_each_attr(attr, genlmsg_attrdata(nlmsg_data(nlh), 0),
			  genlmsg_attrlen(nlmsg_data(nlh), 0), rem)
		if (nla_type(attr) == SPINDLE_A_MEMBER || nla_type(attr) == SPINDLE_A_SUBGROUP)
			nested &= !!(attr->nla_type & NLA_F_NESTED);
	ok(nested, "nests say that they are");
	ctl_view_get(&back, nlh);
	ok(back.vid.num == 0x1ffffffff, "the view id has 64 bits");
	ok(back.members == 3 && back.member[1].id == 3 && back.member[2].port == 5000,
	   "members keep their order");
	ok(back.subgroups == 3 && !back.subgroup[0].members.set,
	   "no list of members means all, also on the wire");
	ok(back.subgroup[2].members.count == 3 && !back.subgroup[2].senders.count,
	   "no senders are members that do not send");
	ok(!ctl_view_diff(&back, &conf->view[0]) && !ctl_view_diff(&conf->view[0], &back),
	   "a view comes back as it was sent");
	back.subgroup[1].val[CTL_SG_WINDOW].num = 128;
	ok(!ctl_view_diff(&back, &conf->view[0]), "a window is rounded up");
	back.subgroup[1].val[CTL_SG_WINDOW].num = 129;
	ok(ctl_view_diff(&back, &conf->view[0]), "but not to anything");
}

static void test_node(struct ctl_conf *conf)
{
	struct ctl_node back;
	struct ctl_req *req;
	unsigned int i, k;
	bool same = true;

	for (i = 0; i < conf->nodes; i++) {
		req = ctl_req_new(NULL, SPINDLE_CMD_NODE_ADD, 0, "node add");
		ctl_node_put(req, &conf->node[i]);
		ctl_node_get(&back, ctl_msg_attrs(nlmsg_hdr(req->msg)));
		for (k = 0; k < CTL_NODE_VALS; k++)
			same &= ctl_val_equal(&ctl_node_keys[k], &conf->node[i].val[k],
					      &back.val[k]);
	}
	ok(same, "a node comes back as it was sent");
	ok(!strcmp(conf->node[0].val[CTL_NODE_CLUSTER].str, "a # b"), "quotes keep a #");
}

static uint64_t ring(uint64_t window, uint64_t max_msg)
{
	struct ctl_view view = { 0 };
	struct ctl_subgroup sg = { 0 };

	sg.val[CTL_SG_WINDOW] = (struct ctl_val){ .set = true, .num = window };
	sg.val[CTL_SG_MAX_MSG] = (struct ctl_val){ .set = true, .num = max_msg };
	return ctl_subgroup_resolve(&view, &sg).val[CTL_SG_RING].num;
}

static void test_ring(void)
{
	ok(ring(1, 1) == 4096, "the default ring has a page at least");
	ok(ring(128, 1024) == 131072, "and room for a window");
	ok(ring(128, 10240) == 1 << 20, "but no more than 1 MiB");
	ok(ring(128, 1 << 20) == 4 << 20, "or four messages");
}

static void test_ids(void)
{
	struct ctl_ids ids = { 0 };

	ok(!ctl_ids_parse("5,1-3,9-10,12", &ids, false) && ids.count == 7 &&
	   !strcmp(ctl_ids_text(&ids), "5,1-3,9,10,12"), "ranges of ids");
	memset(&ids, 0, sizeof(ids));
	ok(ctl_ids_parse("1-4294967295", &ids, false), "a range that is too long");
	memset(&ids, 0, sizeof(ids));
	ok(!ctl_ids_parse("4294967295-4294967295", &ids, false) && ids.count == 1,
	   "the last id ends a range");
}

/* The nth attribute of a type, inside a nest or at the top. */
static struct nlattr *nth(struct nlattr *first, int len, int type, int n)
{
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, first, len, rem)
		if (nla_type(attr) == type && !n--)
			return attr;
	return NULL;
}

/* What is said when the kernel dislikes an attribute. */
static char *said(struct ctl_req *req, int err, const char *text, const struct nlattr *attr,
		  bool range, bool capped, int *rc)
{
	const struct nlmsghdr *sent = nlmsg_hdr(req->msg);
	struct nl_msg *msg = nlmsg_alloc_size(64 << 10);
	struct nlmsgerr e = { .error = err, .msg = *sent };
	static char out[1000];
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	FILE *mem;

	nlmsg_put(msg, 0, 0, NLMSG_ERROR, 0, NLM_F_ACK_TLVS | (capped ? NLM_F_CAPPED : 0));
	nlmsg_append(msg, &e, sizeof(e), NLMSG_ALIGNTO);
	if (!capped)
		nlmsg_append(msg, nlmsg_data(sent), sent->nlmsg_len - NLMSG_HDRLEN,
			     NLMSG_ALIGNTO);
	if (text)
		nla_put_string(msg, NLMSGERR_ATTR_MSG, text);
	if (attr)
		nla_put_u32(msg, NLMSGERR_ATTR_OFFS, (char *)attr - (char *)sent);
	if (range) {
		nest = nla_nest_start(msg, NLMSGERR_ATTR_POLICY);
		nla_put_u64(msg, NL_POLICY_TYPE_ATTR_MIN_VALUE_U, 1);
		nla_put_u64(msg, NL_POLICY_TYPE_ATTR_MAX_VALUE_U, 65535);
		nla_nest_end(msg, nest);
	}
	nlh = nlmsg_hdr(msg);
	/* The sentence goes to stderr, which is a file for once. */
	fflush(stderr);
	memset(out, 0, sizeof(out));
	mem = stderr;
	stderr = fmemopen(out, sizeof(out) - 1, "w");
	*rc = ctl_refusal(req, nlh, CTL_SAY);
	fclose(stderr);
	stderr = mem;
	nlmsg_free(msg);
	return out;
}

static void test_refusal(struct ctl_conf *conf)
{
	struct ctl_req *req;
	struct nlmsghdr *nlh = view_message(conf, &req);
	struct nlattr *top = genlmsg_attrdata(nlmsg_data(nlh), 0), *sg, *member;
	int len = genlmsg_attrlen(nlmsg_data(nlh), 0), rc;
	char *out;

	sg = nth(top, len, SPINDLE_A_SUBGROUP, 1);
	member = nth(top, len, SPINDLE_A_MEMBER, 2);
	out = said(req, -EINVAL, "window is odd",
		   nth(nla_data(sg), nla_len(sg), SPINDLE_SUBGROUP_A_WINDOW, 0), false, true, &rc);
	ok(rc == -EINVAL && !strcmp(out, "f.conf:25: view set: window is odd\n"
					 "    at: subgroup 7 \"x\" window 100\n"),
	   "a refusal names file, line and key");
	out = said(req, -ERANGE, "integer out of range",
		   nth(nla_data(member), nla_len(member), SPINDLE_MEMBER_A_PORT, 0), true, false,
		   &rc);
	ok(rc == -ERANGE &&
	   !strcmp(out, "f.conf:18: view set: integer out of range\n"
			"    at: port of member 2@[fd00::2]:5000; allowed: from 1 to 65535\n"),
	   "and the limit, also when the request comes back whole");
	req->file = NULL;
	out = said(req, -EINVAL, "no nest like this", sg, false, true, &rc);
	ok(!strcmp(out, "spindle-ctl: view set: no nest like this\n"
			"    at: subgroup 7 \"x\"\n"), "a nest as a whole");
	out = said(req, -EPERM, NULL, NULL, false, true, &rc);
	ok(rc == -EPERM && strstr(out, "CAP_NET_ADMIN"), "no permission");
	out = said(req, -EEXIST, "evil\n\033[2J", NULL, false, true, &rc);
	ok(!strcmp(out, "spindle-ctl: view set: evil??[2J\n"), "the terminal is safe");
	out = said(req, 0, NULL, NULL, false, true, &rc);
	ok(!rc && !*out, "no error is no refusal");
}

static void test_bits(void)
{
	struct ctl_req *req = ctl_req_new(NULL, SPINDLE_CMD_VIEW_SET, 0, "view set");
	struct ctl_subgroup sg = { 0 };
	struct ctl_val node = { .set = true, .num = 1 };
	struct ctl_view view = { .subgroup = &sg, .subgroups = 1 };
	struct ctl_member *m;
	uint32_t i;

	for (i = 1; i <= 5000; i++) {
		view.member = ctl_grow(view.member, view.members, sizeof(*view.member));
		m = &view.member[view.members++];
		m->id = i;
		m->addr.family = AF_INET;
		ctl_ids_add(&sg.members, i);
	}
	sg.members.set = true;
	ctl_view_put(req, &node, &view);
	ok(req->full, "a nest beyond 64 KiB is noticed");
	ok(!strcmp(ctl_name(&ctl_event, 200), "event-200"), "events of the future");
}

int main(void)
{
	struct ctl_conf *conf = conf_of(cluster);

	ok(conf, "the file is right");
	if (conf) {
		test_view(conf);
		test_node(conf);
		test_refusal(conf);
	}
	test_ring();
	test_ids();
	test_bits();
	printf("1..%u\n", tests);
	return bad;
}
