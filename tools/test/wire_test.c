// SPDX-License-Identifier: GPL-2.0-only
/* From a file to a message and back, and the output for a refusal, all without a kernel. TAP. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "common/event.h"
#include "common/model.h"
#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "ctl/conf.h"
#include "ctl/detail.h"
#include "ctl/diff.h"
#include "common/stats.h"
#include "tap.h"

/* Read a file with this text; NULL if the file has mistakes. */
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
	ok(ctl_view_diff(&back, &conf->view[0]), "a window is not rounded up further");
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
		ctl_node_get(&back, nlmsg_hdr(req->msg));
		/* A node without a rack comes back with the default for "none". */
		ctl_val_default(&ctl_node_keys[CTL_NODE_RACK], &conf->node[i].val[CTL_NODE_RACK]);
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
	ok(ring(128, 1024) == 131072, "the default ring has room for a window");
	ok(ring(128, 10240) == 1 << 20, "the default ring has at most 1 MiB");
	ok(ring(128, 1 << 20) == 4 << 20, "the default ring has room for four messages");
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

/* The nth attribute of a type, in a nest or at the top. */
static struct nlattr *nth(struct nlattr *first, int len, int type, int n)
{
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, first, len, rem)
		if (nla_type(attr) == type && !n--)
			return attr;
	return NULL;
}

/* The message for a refusal of the kernel that names an attribute. */
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
	/* The message goes to stderr, which is a buffer during this call. */
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
	   "a refusal names the limit, also when the request comes back whole");
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

/* The words of "subgroup set" as attributes. */
static void test_tune(void)
{
	struct ctl_req *req = ctl_req_new(NULL, SPINDLE_CMD_SUBGROUP_SET, 0, "subgroup set");
	struct nlmsghdr *nlh = nlmsg_hdr(req->msg);
	struct ctl_val tune[CTL_TUNE_VALS] = { 0 };
	struct nla_bitfield32 bits;
	struct nlattr **a, *nest;
	int rc;

	ctl_val_parse(&ctl_tune_keys[CTL_TUNE_NULLS], &tune[CTL_TUNE_NULLS], "off");
	ctl_val_parse(&ctl_tune_keys[CTL_TUNE_PACKED], &tune[CTL_TUNE_PACKED], "on");
	ctl_val_parse(&ctl_tune_keys[CTL_TUNE_STALL_MS], &tune[CTL_TUNE_STALL_MS], "never");
	ctl_val_parse(&ctl_tune_keys[CTL_TUNE_SILENCE], &tune[CTL_TUNE_SILENCE], "7");
	ctl_val_parse(&ctl_tune_keys[CTL_TUNE_LARGE], &tune[CTL_TUNE_LARGE], "64K");
	ctl_tune_put(req, tune);
	nest = ctl_msg_attrs(nlh)[SPINDLE_A_TUNE];
	a = ctl_nest_attrs(nest, SPINDLE_TUNE_A_MAX);
	ok(nest->nla_type & NLA_F_NESTED, "the tuning is a nest and says so");
	memcpy(&bits, nla_data(a[SPINDLE_TUNE_A_SWITCHES]), sizeof(bits));
	ok(bits.selector == (SPINDLE_SW_NULLS | SPINDLE_SW_PACKED) &&
	   bits.value == SPINDLE_SW_PACKED, "switches that are not named are not touched");
	ok(nla_len(a[SPINDLE_TUNE_A_STALL_MS]) == 4 &&
	   !nla_get_u32(a[SPINDLE_TUNE_A_STALL_MS]) &&
	   nla_get_u32(a[SPINDLE_TUNE_A_SILENCE]) == 7 && !a[SPINDLE_TUNE_A_SEND_BUDGET],
	   "never is 0, and what is not given is not there");
	ok(nla_len(a[SPINDLE_TUNE_A_LARGE]) == 4 &&
	   nla_get_u32(a[SPINDLE_TUNE_A_LARGE]) == 65536, "large is in bytes");
	ok(!strcmp(said(req, -EBUSY, "a sender is attached", a[SPINDLE_TUNE_A_SWITCHES], false,
			true, &rc),
		   "spindle-ctl: subgroup set: a sender is attached\n"
		   "    at: nulls off packed on\n"), "a refusal names the switches");
	ok(!strcmp(said(req, -EINVAL, "large is 4096 to 1048576 bytes", a[SPINDLE_TUNE_A_LARGE],
			false, true, &rc),
		   "spindle-ctl: subgroup set: large is 4096 to 1048576 bytes\n"
		   "    at: large 65536\n"), "a refusal names the threshold");
	ok(!strcmp(said(req, -ERANGE, "integer out of range", a[SPINDLE_TUNE_A_SILENCE], true,
			true, &rc),
		   "spindle-ctl: subgroup set: integer out of range\n"
		   "    at: silence 7; allowed: from 1 to 65535\n"), "a refusal names the number");
	req = ctl_req_new(NULL, SPINDLE_CMD_SUBGROUP_SET, 0, "subgroup set");
	memset(tune, 0, sizeof(tune));
	tune[CTL_TUNE_SEND_BUDGET] = (struct ctl_val){ .set = true, .num = 9 };
	ctl_tune_put(req, tune);
	nest = ctl_msg_attrs(nlmsg_hdr(req->msg))[SPINDLE_A_TUNE];
	ok(!ctl_nest_attrs(nest, SPINDLE_TUNE_A_MAX)[SPINDLE_TUNE_A_SWITCHES],
	   "no switch, no bitfield");
}

static void put_reader(struct nl_msg *msg, uint32_t pid, const char *comm, uint64_t lag,
		       uint64_t idle_ms, enum spindle_reads reads)
{
	struct nlattr *nest = nla_nest_start(msg, SPINDLE_SUBGROUP_A_READER);

	nla_put_u32(msg, SPINDLE_READER_A_PID, pid);
	nla_put_string(msg, SPINDLE_READER_A_COMM, comm);
	nla_put_u8(msg, SPINDLE_READER_A_COPY, pid == 2);
	nla_put_u8(msg, SPINDLE_READER_A_READS, reads);
	nla_put_u64(msg, SPINDLE_READER_A_LAG, lag);
	nla_put_u64(msg, SPINDLE_READER_A_IDLE_MS, idle_ms);
	nla_put_u64(msg, SPINDLE_READER_A_LSN, 100 - lag);
	nla_nest_end(msg, nest);
}

static void put_row(struct nl_msg *msg, uint32_t id, bool sender, uint64_t sent,
		    uint64_t received, uint64_t delivered)
{
	struct nlattr *nest = nla_nest_start(msg, SPINDLE_SUBGROUP_A_NODE);

	nla_put_u32(msg, SPINDLE_SUBGROUP_NODE_A_ID, id);
	nla_put_u8(msg, SPINDLE_SUBGROUP_NODE_A_SENDER, sender);
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, SPINDLE_SUBGROUP_A_ROW);
	nla_put_u32(msg, SPINDLE_ROW_A_ID, id);
	nla_put_u64(msg, SPINDLE_ROW_A_SENT, sent);
	nla_put_u64(msg, SPINDLE_ROW_A_SLOTS, sent / 2);
	nla_put_u64(msg, SPINDLE_ROW_A_RECEIVED, received);
	nla_put_u64(msg, SPINDLE_ROW_A_DELIVERED, delivered);
	nla_nest_end(msg, nest);
}

/* A subgroup as the kernel shows it, with three members, of which the last one does not send. */
static struct nlattr *subgroup_message(uint8_t mode)
{
	struct nla_bitfield32 bits = { .value = 0x1f0, .selector = SPINDLE_SW_ALL };
	uint64_t hist[CTL_HIST_MAX + 1] = { 3, 0, 5 };
	struct nl_msg *msg = nlmsg_alloc_size(8192);
	struct nlattr *sg, *nest;

	genlmsg_put(msg, 0, 0, 0, 0, 0, SPINDLE_CMD_SUBGROUP_GET, 1);
	sg = nla_nest_start(msg, SPINDLE_A_SUBGROUP);
	nla_put_u32(msg, SPINDLE_SUBGROUP_A_ID, 7);
	nla_put_u8(msg, SPINDLE_SUBGROUP_A_MODE, mode);
	nest = nla_nest_start(msg, SPINDLE_SUBGROUP_A_TUNE);
	nla_put(msg, SPINDLE_TUNE_A_SWITCHES, sizeof(bits), &bits);
	nla_put_u32(msg, SPINDLE_TUNE_A_SEND_BUDGET, 1);
	nla_put_u32(msg, SPINDLE_TUNE_A_STALL_MS, 0);
	if (mode == SPINDLE_MODE_ORDERED)
		nla_put_u32(msg, SPINDLE_TUNE_A_LARGE, 65536);
	nla_nest_end(msg, nest);
	nla_put(msg, SPINDLE_SUBGROUP_A_SEND_HIST, SPINDLE_HIST_BUCKETS * 8, hist);
	nla_put(msg, SPINDLE_SUBGROUP_A_RECV_HIST, sizeof(hist), hist);
	nla_put(msg, SPINDLE_SUBGROUP_A_DLV_HIST, 23, hist);
	put_reader(msg, 1, "one", 5, 10, SPINDLE_READS_SLOTS);
	put_reader(msg, 2, "two\n", 9, 0, SPINDLE_READS_COPIES);
	put_reader(msg, 3, "three", 9, 20, SPINDLE_READS_SLOTS);
	put_reader(msg, 4, "four", 90, 20, SPINDLE_READS_HISTORY);
	put_row(msg, 1, true, 12, 30, 28);
	put_row(msg, 2, true, 10, 25, 20);
	put_row(msg, 3, false, 0, 27, 27);
	nla_nest_end(msg, sg);
	return sg;
}

/* A table as the kernel shows it. */
static struct nlattr *table_message(uint8_t mode)
{
	struct nl_msg *msg = nlmsg_alloc_size(8192);
	struct nlattr *sg, *nest;
	uint32_t id;

	genlmsg_put(msg, 0, 0, 0, 0, 0, SPINDLE_CMD_SUBGROUP_GET, 1);
	sg = nla_nest_start(msg, SPINDLE_A_SUBGROUP);
	nla_put_u32(msg, SPINDLE_SUBGROUP_A_ID, 8);
	nla_put_u8(msg, SPINDLE_SUBGROUP_A_MODE, mode);
	nla_put_u32(msg, SPINDLE_SUBGROUP_A_CELLS, 16);
	nla_put_u32(msg, SPINDLE_SUBGROUP_A_CELL, 128);
	for (id = 2; id < 4; id++) {
		nest = nla_nest_start(msg, SPINDLE_SUBGROUP_A_NODE);
		nla_put_u32(msg, SPINDLE_SUBGROUP_NODE_A_ID, id);
		nla_nest_end(msg, nest);
	}
	nla_nest_end(msg, sg);
	return sg;
}

static void test_subgroup(void)
{
	static const char want[] =
		"{\"tune\":{\"send_batch\":false,\"recv_batch\":false,\"dlv_batch\":false,"
		"\"nulls\":false,\"late_post\":true,\"merged_acks\":true,\"packed\":true,"
		"\"tracking\":true,\"express\":true,\"send_budget\":1,\"stall_ms\":0,"
		"\"large\":65536},"
		"\"batches\":{\"send\":[3,0,5,0,0,0,0,0,0,0,0,0,0,0,0,0,0],\"recv\":[3,";
	struct json_object *obj = json_object_new_object();
	struct ctl_subgroup sg;
	const struct ctl_row *row;
	const char *text;

	ctl_subgroup_get(&sg, subgroup_message(SPINDLE_MODE_ORDERED));
	ok(sg.tune[CTL_TUNE_NULLS].set && !sg.tune[CTL_TUNE_NULLS].num &&
	   sg.tune[CTL_TUNE_PACKED].num && sg.tune[CTL_TUNE_SEND_BUDGET].num == 1 &&
	   !sg.tune[CTL_TUNE_SILENCE].set, "the tuning comes back");
	ok(sg.hist[CTL_SEND].entries == SPINDLE_HIST_BUCKETS && sg.hist[CTL_SEND].num[2] == 5,
	   "histograms come back");
	ok(sg.hist[CTL_RECV].entries == CTL_HIST_MAX && sg.hist[CTL_DLV].entries == 2,
	   "histograms have any size");
	ok(sg.reader_count == 4 && sg.reader[1].pid == 2 && sg.reader[1].copy &&
	   sg.reader[0].idle_ms == 10, "readers come back");
	ok(ctl_subgroup_holder(&sg) == &sg.reader[2],
	   "the holder of two readers with the same lag is the one that sleeps, or none of a history");
	ok(sg.rows == 3 && sg.row[1].received == 25 && sg.row[0].slots == 6, "columns come back");
	row = &sg.row[0];
	ok(row->sends && row->ahead == 2 && !row->recv_lag && !row->dlv_lag,
	   "what is delivered here and not stable there is no lag");
	row = &sg.row[1];
	ok(row->sends && !row->ahead && row->recv_lag == 5 && row->dlv_lag == 5,
	   "a member that holds up the others");
	row = &sg.row[2];
	ok(!row->sends && row->recv_lag == 3 && !row->dlv_lag,
	   "a member that does not send waits for none");
	ctl_detail_json(obj, &sg);
	text = json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PLAIN);
	ok(!strncmp(text, want, strlen(want)) &&
	   strstr(text, "{\"pid\":2,\"comm\":\"two\\n\",\"copy\":true,\"lag\":9,\"idle_ms\":0,"
			"\"lsn\":91,\"reads\":\"copies\"}") &&
	   strstr(text, "{\"id\":3,\"sent\":0,\"slots\":0,\"received\":27,\"delivered\":27,"
			"\"recv_lag\":3,\"dlv_lag\":0}"), "the details of a subgroup in JSON");
	ctl_subgroup_get(&sg, subgroup_message(SPINDLE_MODE_UNORDERED));
	ok(!sg.tune[CTL_TUNE_LARGE].set, "a subgroup without large messages has no threshold");
	row = &sg.row[0];
	ok(row->dlv_lag == 2, "without order a member delivers what it has received");
	ctl_subgroup_get(&sg, table_message(SPINDLE_MODE_TABLE));
	ok(ctl_is_table(&sg) && sg.val[CTL_SG_CELLS].num == 16 && sg.val[CTL_SG_CELL].num == 128 &&
	   !sg.val[CTL_SG_WINDOW].set && !strcmp(ctl_ids_text(&sg.members), "2,3") &&
	   !strcmp(ctl_ids_text(&sg.senders), "none"), "a table has members, and no senders");
	ok(!strcmp(ctl_subgroup_title(&sg), "table 8"), "its name in messages");
	ok(!ctl_is_read(&sg) && !strcmp(ctl_mode_text(&sg), "write"), "its rows are written");
	ctl_subgroup_get(&sg, table_message(SPINDLE_MODE_TABLE_READ));
	ok(ctl_is_table(&sg) && ctl_is_read(&sg) && sg.val[CTL_SG_CELLS].num == 16 &&
	   !strcmp(ctl_ids_text(&sg.senders), "none") && !strcmp(ctl_mode_text(&sg), "read"),
	   "a table whose rows are read");
	ctl_subgroup_get(&sg, NULL);
	ok(!sg.tune[CTL_TUNE_NULLS].set && !sg.hist[CTL_DLV].entries && !sg.reader_count &&
	   !ctl_subgroup_holder(&sg), "an older kernel sends no details");
	json_object_put(obj);
}

/* The rate with this name. */
static const struct ctl_rate *rate(const struct ctl_rate *list, const char *word)
{
	while (list->word && strcmp(list->word, word))
		list++;
	return list;
}

static void set_stat(struct ctl_stats *stats, unsigned int stat, uint64_t num)
{
	stats->has |= 1ULL << stat;
	stats->num[stat] = num;
}

static void test_rates(void)
{
	struct ctl_running_subgroup a = { .node = 1, .vid = 1 }, b;
	struct ctl_node_stats n = { .id = 1 }, m;
	struct ctl_sample before = { .node = &n, .nodes = 1, .sg = &a, .sgs = 1 };
	const struct ctl_stats *was;
	const struct ctl_rate *r;

	set_stat(&a.sg.stats, SPINDLE_SUBGROUP_S_SENT, 100);
	set_stat(&a.sg.stats, SPINDLE_SUBGROUP_S_SEND_BATCHES, 10);
	set_stat(&a.sg.stats, SPINDLE_SUBGROUP_S_ROW_BYTES, 4096);
	b = a;
	was = ctl_subgroup_before(&before, &b);
	r = rate(ctl_subgroup_rates, "send-batch");
	ok(was && isnan(ctl_rate(r, &b.sg.stats, was, 2)), "no batches have no size");
	set_stat(&b.sg.stats, SPINDLE_SUBGROUP_S_SENT, 150);
	set_stat(&b.sg.stats, SPINDLE_SUBGROUP_S_SEND_BATCHES, 14);
	set_stat(&b.sg.stats, SPINDLE_SUBGROUP_S_ROW_BYTES, 1);
	set_stat(&a.sg.stats, SPINDLE_SUBGROUP_S_LARGE_WAITING, 1);
	set_stat(&b.sg.stats, SPINDLE_SUBGROUP_S_LARGE_WAITING, 0);
	was = ctl_subgroup_before(&before, &b);
	ok(was && ctl_rate(r, &b.sg.stats, was, 2) == 12.5, "the mean size of a batch");
	set_stat(&a.sg.stats, SPINDLE_SUBGROUP_S_RECEIVED, 300);
	set_stat(&a.sg.stats, SPINDLE_SUBGROUP_S_RECV_BATCHES, 1);
	set_stat(&b.sg.stats, SPINDLE_SUBGROUP_S_RECEIVED, 450);
	set_stat(&b.sg.stats, SPINDLE_SUBGROUP_S_RECV_BATCHES, 21);
	r = rate(ctl_subgroup_rates, "recv-batch");
	ok(ctl_rate(r, &b.sg.stats, was, 2) == 5, "own messages come in no batch");
	r = rate(ctl_subgroup_rates, "sent-per-s");
	ok(ctl_rate(r, &b.sg.stats, was, 2) == 25, "messages per second");
	ok(isnan(ctl_rate(r, &b.sg.stats, NULL, 2)), "there is no rate without a past");
	r = rate(ctl_subgroup_rates, "nulls-per-s");
	ok(isnan(ctl_rate(r, &b.sg.stats, was, 2)), "a counter that is missing has no rate");
	set_stat(&b.sg.stats, SPINDLE_SUBGROUP_S_SENT, 99);
	ok(!ctl_subgroup_before(&before, &b), "a counter that went back is another life");
	b = a;
	b.vid = 2;
	ok(!ctl_subgroup_before(&before, &b), "another view is another life");
	set_stat(&n.engine, SPINDLE_ENGINE_S_PID, 77);
	set_stat(&n.engine, SPINDLE_ENGINE_S_SPIN_US, 50);
	set_stat(&n.engine, SPINDLE_ENGINE_S_BUSY_NS, 0);
	set_stat(&n.engine, SPINDLE_ENGINE_S_TIMED_NS, 0);
	m = n;
	set_stat(&m.engine, SPINDLE_ENGINE_S_SPIN_US, 1);
	was = ctl_node_before(&before, &m);
	r = rate(ctl_node_rates, "busy-share");
	ok(was && isnan(ctl_rate(r, &m.engine, was, 1)), "a share only while time is measured");
	set_stat(&m.engine, SPINDLE_ENGINE_S_BUSY_NS, 1);
	set_stat(&m.engine, SPINDLE_ENGINE_S_TIMED_NS, 4);
	ok(ctl_rate(r, &m.engine, was, 1) == 0.25, "a share of the time");
	set_stat(&m.engine, SPINDLE_ENGINE_S_PID, 78);
	ok(!ctl_node_before(&before, &m), "another thread is another engine");
	m.id = 2;
	ok(!ctl_node_before(&before, &m) && !ctl_node_before(NULL, &n), "a node that is new");
}

/* This test is meant for a sanitizer. */
static void test_pools(void)
{
	struct ctl_pool one = { 0 }, two = { 0 };
	unsigned int *list = NULL, i;
	char *other, *keep;

	keep = ctl_asprintf("%s %d", "keep", 1);
	for (i = 0; i < 1000; i++) {
		ctl_pool_use(i % 2 ? &one : &two);
		list = ctl_grow(list, i, sizeof(*list));
		list[i] = i;
	}
	ctl_pool_use(&one);
	other = ctl_strdup("other");
	ctl_free(ctl_alloc(1));
	ctl_free(NULL);
	/* The list belongs to the pool of its last growth. */
	ctl_pool_use(&two);
	list = ctl_grow(list, i, sizeof(*list));
	ctl_pool_use(NULL);
	ok(list[999] == 999 && !list[1000] && !strcmp(other, "other"), "pools keep what they have");
	ctl_pool_drop(&one);
	ok(list[500] == 500 && !strcmp(keep, "keep 1"), "one pool goes without the other");
	ctl_pool_drop(&two);
	ctl_pool_drop(&two);
	ctl_pool_use(&two);
	ok(!*ctl_strdup(""), "an empty pool can be filled again");
	ctl_pool_drop(&two);
	ctl_pool_use(NULL);
}

/*
 * Send more to all listeners than they have room for. The kernel itself does not listen, so it
 * refuses the messages.
 */
static void flood(unsigned int groups)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = groups };
	struct { struct nlmsghdr nlh; char data[1000]; } msg = { 0 };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK), n;

	msg.nlh.nlmsg_len = sizeof(msg);
	for (n = 0; n < 1000; n++)
		if (sendto(fd, &msg, sizeof(msg), 0, (struct sockaddr *)&to, sizeof(to)) < 0 &&
		    errno != ECONNREFUSED)
			break;
	close(fd);
}

/* A socket loses events that it has no room for. */
static void test_events(void)
{
	struct ctl_net net = { .sk = nl_socket_alloc() };
	struct nlmsghdr *nlh;
	int rc;

	nl_connect(net.sk, NETLINK_USERSOCK);
	ok(!ctl_event_recv(&net, 10, &nlh), "no event comes in time");
	nl_socket_set_buffer_size(net.sk, 10000, 0);
	if (nl_socket_add_memberships(net.sk, 17, 0)) {
		ok(true, "events that are lost # SKIP no permission to listen");
		return;
	}
	flood(1 << 16);
	rc = ctl_event_recv(&net, 1000, &nlh);
	ok(rc == -ENOBUFS, "the loss of events is noticed");
	rc = ctl_event_recv(&net, 1000, &nlh);
	ok(rc > 1000 && nlmsg_ok(nlh, rc), "events before the loss can be read");
	while (ctl_event_recv(&net, 10, &nlh) > 0)
		;
	ok(!ctl_event_recv(&net, 10, &nlh), "no event is left after the others");
	nl_socket_free(net.sk);
}

static void test_words(void)
{
	bool all = true;
	uint64_t i;

	for (i = 0; i <= SPINDLE_ERR_LOG; i++)
		all &= !!ctl_error_text(i) && !!strncmp(ctl_name(&ctl_error, i), "error-", 6);
	ok(all && !ctl_error_text(i), "all errors have words and a sentence");
	ok(!strcmp(ctl_name(&ctl_event, SPINDLE_EVENT_LOG_OK), "log-ok"),
	   "the last event has a word");
	all = true;
	for (i = 0; i < CTL_TUNE_VALS; i++)
		all &= ctl_tune_keys[i].name && (i < CTL_TUNE_SWITCHES) == !ctl_tune_keys[i].attr;
	ok(all && 1U << CTL_TUNE_SWITCHES == SPINDLE_SW_ALL + 1 &&
	   1U << CTL_TUNE_PACKED == SPINDLE_SW_PACKED &&
	   1U << CTL_TUNE_TRACKING == SPINDLE_SW_TRACKING &&
	   1U << CTL_TUNE_EXPRESS == SPINDLE_SW_EXPRESS,
	   "switches are at the places of their bits");
}

/* Has the nest these ids, as attributes of a type? */
static bool has_ids(struct nlattr *nest, int type, const char *want)
{
	struct ctl_ids ids = { .set = true };
	struct nlattr *attr;
	int rem;

	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) == type)
			ctl_ids_add(&ids, nla_get_u32(attr));
	return !strcmp(ctl_ids_text(&ids), want);
}

/* Shards go to the kernel in their order, each with members, position and range. */
static void test_shards(void)
{
	struct ctl_val node = ctl_val_num(1);
	struct ctl_view view = { .is_live = true, .vid = ctl_val_num(5) };
	struct ctl_req *req = ctl_req_new(NULL, SPINDLE_CMD_VIEW_SET, 0, "view set");
	struct ctl_subgroup *sg = CTL_ADD(view.subgroup, view.subgroups);
	struct nlattr *nest, *shard, *attr;
	struct ctl_ids *range;
	unsigned int i;
	uint64_t lsn;

	sg->val[CTL_SG_ID] = ctl_val_num(7);
	for (i = 0; i < 2; i++) {
		struct ctl_shard *s = CTL_ADD(sg->shard, sg->shards);

		s->lsn = 1000 + i;
		ctl_ids_add(&s->members, 3 + i);
		ctl_ids_add(&s->members, 9 + i);
	}
	range = CTL_ADD(sg->shard[1].range, sg->shard[1].ranges);
	ctl_ids_add(range, 4);
	ctl_ids_add(range, 6);
	ctl_view_put(req, &node, &view);
	nest = nlmsg_find_attr(nlmsg_hdr(req->msg), GENL_HDRLEN, SPINDLE_A_SUBGROUP);
	for (i = 0; i < 2; i++) {
		shard = nth(nla_data(nest), nla_len(nest), SPINDLE_SUBGROUP_A_SHARD, (int)i);
		ok(shard && has_ids(shard, SPINDLE_SHARD_A_ID, i ? "4,10" : "3,9"),
		   "shard %u has its members", i);
		attr = nth(nla_data(shard), nla_len(shard), SPINDLE_SHARD_A_LSN, 0);
		memcpy(&lsn, nla_data(attr), sizeof(lsn));
		attr = nth(nla_data(shard), nla_len(shard), SPINDLE_SHARD_A_RANGE, 0);
		ok(lsn == 1000 + i && !attr == !i &&
		   (!i || has_ids(attr, SPINDLE_RANGE_A_ID, "4,6")),
		   "shard %u has its position and range", i);
	}
	ok(!nth(nla_data(nest), nla_len(nest), SPINDLE_SUBGROUP_A_SHARD, 2), "there are two");
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
	test_shards();
	test_bits();
	test_tune();
	test_subgroup();
	test_rates();
	test_pools();
	test_events();
	test_words();
	return tap_end();
}
