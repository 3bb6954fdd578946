// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to the kernel. See net.h.
 *
 * libnl builds the messages and reads the socket. Its receive loop is not used, because it drops
 * the extended ack and ignores the error at the end of a dump.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include <linux/spindle_genl.h>

#include "net.h"
#include "util.h"

/* A view of 64 members with 64 subgroups of all of them has about 90 KiB. */
#define MSG_MAX		(512 << 10)
#define SOCK_BUF	(1 << 20)

/* The kernel makes a dump message as large as the largest read that it has seen. */
#define READ_SIZE	(64 << 10)

/* How often a dump is repeated if the state changes while it runs. */
#define DUMP_TRIES	16

#ifndef SOL_NETLINK
#define SOL_NETLINK	270
#endif

/**
 * ctl_net_open() - open a socket and find the family
 * @net: out: the socket
 * @say: whether to tell the user the reason of a failure
 *
 * Return: 0 or -errno; -ENOENT: there is no such family
 */
int ctl_net_open(struct ctl_net *net, enum ctl_say say)
{
	int rc, one = 1;

	net->sk = nl_socket_alloc();
	if (!net->sk)
		return -ENOMEM;
	rc = genl_connect(net->sk);
	if (rc < 0) {
		if (say == CTL_SAY)
			ctl_err("generic netlink: %s", nl_geterror(rc));
		rc = -EIO;
		goto err_free;
	}
	nl_socket_set_buffer_size(net->sk, SOCK_BUF, SOCK_BUF);
	nl_socket_set_msg_buf_size(net->sk, READ_SIZE);
	nl_socket_enable_msg_peek(net->sk);
	net->family = genl_ctrl_resolve(net->sk, SPINDLE_GENL_NAME);
	if (net->family < 0) {
		rc = net->family == -NLE_OBJ_NOTFOUND ? -ENOENT : -EIO;
		if (say == CTL_SAY && rc == -ENOENT)
			ctl_err("spindle.ko is not loaded (modprobe spindle)");
		else if (say == CTL_SAY)
			ctl_err("looking for the netlink family '%s': %s",
				SPINDLE_GENL_NAME, nl_geterror(net->family));
		goto err_free;
	}
	setsockopt(nl_socket_get_fd(net->sk), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl_socket_get_fd(net->sk), SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(nl_socket_get_fd(net->sk), SOL_NETLINK, NETLINK_GET_STRICT_CHK,
		   &one, sizeof(one));
	return 0;

err_free:
	nl_socket_free(net->sk);
	net->sk = NULL;
	return rc;
}

static void drop_replies(struct ctl_replies *replies)
{
	unsigned int i;

	for (i = 0; i < replies->count; i++)
		ctl_free(replies->msg[i]);
	ctl_free(replies->msg);
	memset(replies, 0, sizeof(*replies));
}

static void keep_reply(struct ctl_replies *replies, const struct nlmsghdr *nlh)
{
	struct nlmsghdr *copy = ctl_alloc(nlh->nlmsg_len);

	memcpy(copy, nlh, nlh->nlmsg_len);
	*CTL_ADD(replies->msg, replies->count) = copy;
}

/* Take one message of an answer. Return: 1 if more follow, 0 at the end, or -errno. */
static int take(const struct ctl_req *req, const struct nlmsghdr *nlh,
		struct ctl_replies *replies, bool *interrupted, enum ctl_say say)
{
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		*interrupted = true;
	switch (nlh->nlmsg_type) {
	case NLMSG_NOOP:
		return 1;
	case NLMSG_ERROR:
	case NLMSG_DONE:
		return ctl_refusal(req, nlh, say);
	}
	if (replies)
		keep_reply(replies, nlh);
	return 1;
}

static int receive(struct ctl_net *net, const struct ctl_req *req,
		   struct ctl_replies *replies, bool *interrupted, enum ctl_say say)
{
	uint32_t seq = nlmsg_hdr(req->msg)->nlmsg_seq;
	struct sockaddr_nl from;
	struct nlmsghdr *nlh;
	unsigned char *buf;
	int len, rc = 1;

	while (rc == 1) {
		buf = NULL;
		len = nl_recv(net->sk, &from, &buf, NULL);
		if (len <= 0) {
			if (say == CTL_SAY)
				ctl_err("%s: reading the kernel's answer: %s", req->what,
					nl_geterror(len));
			return -EIO;
		}
		for (nlh = (struct nlmsghdr *)buf; rc == 1 && nlmsg_ok(nlh, len);
		     nlh = nlmsg_next(nlh, &len))
			if (!from.nl_pid && nlh->nlmsg_seq == seq)
				rc = take(req, nlh, replies, interrupted, say);
		free(buf);
	}
	return rc;
}

/**
 * ctl_net_call() - send a request and wait for the answer
 * @net: socket
 * @req: request
 * @replies: out: messages that answer it, or NULL
 * @say: whether to tell the user the reason of a refusal
 *
 * A dump during which the state changed is repeated.
 *
 * Return: 0 or -errno
 */
int ctl_net_call(struct ctl_net *net, struct ctl_req *req, struct ctl_replies *replies,
		 enum ctl_say say)
{
	unsigned int tries;
	bool interrupted;
	int rc;

	if (replies)
		memset(replies, 0, sizeof(*replies));
	if (req->full) {
		ctl_err("%s: this is more than a netlink message can carry", req->what);
		return -EMSGSIZE;
	}
	for (tries = 0; tries < DUMP_TRIES; tries++) {
		interrupted = false;
		if (replies)
			drop_replies(replies);
		nlmsg_hdr(req->msg)->nlmsg_seq = NL_AUTO_SEQ;
		rc = nl_send_auto(net->sk, req->msg);
		if (rc < 0) {
			ctl_err("%s: sending the request: %s", req->what, nl_geterror(rc));
			return -EIO;
		}
		rc = receive(net, req, replies, &interrupted, say);
		if (rc || !interrupted)
			return rc;
	}
	ctl_err("%s: the state keeps changing; what follows may contradict itself", req->what);
	return 0;
}

/**
 * ctl_req_new() - begin a request
 * @net: socket, or NULL if the request is not sent
 * @cmd: enum spindle_cmd
 * @flags: NLM_F_*
 * @what: purpose of the request, for messages
 *
 * Return: the request
 */
struct ctl_req *ctl_req_new(struct ctl_net *net, uint8_t cmd, int flags, const char *what)
{
	struct ctl_req *req = ctl_alloc(sizeof(*req));

	req->what = what;
	req->ctx = "";
	req->msg = nlmsg_alloc_size(MSG_MAX);
	if (!req->msg) {
		ctl_err("out of memory");
		exit(CTL_FAILED);
	}
	if (!(flags & NLM_F_DUMP))
		flags |= NLM_F_ACK;
	genlmsg_put(req->msg, NL_AUTO_PORT, NL_AUTO_SEQ, net ? net->family : 0, 0,
		    NLM_F_REQUEST | flags, cmd, SPINDLE_GENL_VERSION);
	return req;
}

/**
 * ctl_req_mark() - remember where the next attribute comes from
 * @req: request
 * @line: line of the file, or 0
 * @text: the attribute in the user's words
 */
void ctl_req_mark(struct ctl_req *req, int line, const char *text)
{
	struct ctl_mark *mark = CTL_ADD(req->mark, req->marks);

	mark->off = nlmsg_hdr(req->msg)->nlmsg_len;
	mark->line = line;
	mark->text = ctl_asprintf("%s%s", req->ctx, text);
}

/* Add a value with the attribute of its key, if there are both. */
void ctl_req_val(struct ctl_req *req, const struct ctl_key *key, const struct ctl_val *val)
{
	uint64_t num = val->num;

	if (!val->set || !key->attr)
		return;
	ctl_req_mark(req, val->line, ctl_asprintf("%s %s", key->name, ctl_val_text(key, val)));
	switch (key->kind) {
	case CTL_ENUM:
	case CTL_BOOL:
	case CTL_SWITCH:
		ctl_req_u8(req, key->attr, num);
		break;
	case CTL_U16:
		ctl_req_u16(req, key->attr, num);
		break;
	case CTL_U32:
	case CTL_BYTES:
		ctl_req_u32(req, key->attr, num);
		break;
	case CTL_U64:
		ctl_req_bytes(req, key->attr, &num, sizeof(num));
		break;
	case CTL_STR:
		ctl_req_bytes(req, key->attr, val->str, strlen(val->str) + 1);
		break;
	case CTL_ADDR:
		if (val->addr.family == AF_INET6)
			ctl_req_bytes(req, key->attr6, val->addr.ip, 16);
		else
			ctl_req_bytes(req, key->attr, val->addr.ip, 4);
		break;
	}
}

/* Add the values of a table of keys. */
void ctl_req_vals(struct ctl_req *req, const struct ctl_key *keys, const struct ctl_val *val)
{
	for (; keys->name; keys++, val++)
		ctl_req_val(req, keys, val);
}

void ctl_req_u8(struct ctl_req *req, int type, uint8_t v)
{
	ctl_req_bytes(req, type, &v, sizeof(v));
}

void ctl_req_u16(struct ctl_req *req, int type, uint16_t v)
{
	ctl_req_bytes(req, type, &v, sizeof(v));
}

void ctl_req_u32(struct ctl_req *req, int type, uint32_t v)
{
	ctl_req_bytes(req, type, &v, sizeof(v));
}

/* Add an attribute. If it does not fit, ctl_net_call() says so. */
void ctl_req_bytes(struct ctl_req *req, int type, const void *data, int len)
{
	if (len > UINT16_MAX - NLA_HDRLEN || nla_put(req->msg, type, len, data) < 0)
		req->full = true;
}

/* Begin a nest, after its mark. The kernel refuses a nest without NLA_F_NESTED. */
struct nlattr *ctl_req_nest(struct ctl_req *req, int type, const struct ctl_names *inside)
{
	struct nlattr *nest = nla_nest_start(req->msg, type | NLA_F_NESTED);

	if (!nest)
		req->full = true;
	req->mark[req->marks - 1].inside = inside;
	return nest;
}

void ctl_req_nest_end(struct ctl_req *req, struct nlattr *nest)
{
	/*
	 * Keep an empty nest, because its presence can be the whole message. libnl would drop it.
	 */
	if (nest && (char *)nlmsg_tail(nlmsg_hdr(req->msg)) - (char *)nest == NLA_HDRLEN)
		return;
	/* libnl would write the length modulo 2^16, or drop the nest without an error. */
	if (nest && (char *)nlmsg_tail(nlmsg_hdr(req->msg)) - (char *)nest > UINT16_MAX)
		req->full = true;
	if (nest && nla_nest_end(req->msg, nest) < 0)
		req->full = true;
}
