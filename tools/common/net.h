/* SPDX-License-Identifier: GPL-2.0-only */
/* Communication with the kernel: requests, replies and refusals of the netlink family. */
#ifndef SPINDLE_COMMON_NET_H
#define SPINDLE_COMMON_NET_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/netlink.h>

struct nl_msg;
struct nl_sock;
struct nlattr;
struct ctl_key;
struct ctl_names;
struct ctl_val;

/**
 * struct ctl_net - a socket that speaks to the family
 */
struct ctl_net {
	/** @sk: socket */
	struct nl_sock *sk;
	/** @family: number of the family */
	int family;
};

/**
 * struct ctl_mark - where an attribute of a request comes from
 */
struct ctl_mark {
	/** @off: offset of the attribute in the message */
	uint32_t off;
	/** @line: line of the file; 0: none */
	int line;
	/** @text: the attribute in the user's words, like "subgroup 2 window 100" */
	const char *text;
	/** @inside: names of the attributes inside, if this attribute is a nest */
	const struct ctl_names *inside;
};

/**
 * struct ctl_req - a request, with marks that map its attributes to the user's words
 */
struct ctl_req {
	/** @msg: message */
	struct nl_msg *msg;
	/** @what: purpose of the request, for messages */
	const char *what;
	/** @file: file that the request comes from, or NULL */
	const char *file;
	/** @ctx: prefix of the marks that follow, like "subgroup 2 " */
	const char *ctx;
	/** @mark: marks in the order of their offsets */
	struct ctl_mark *mark;
	/** @marks: entries of @mark */
	unsigned int marks;
	/** @full: an attribute did not fit */
	bool full;
};

/**
 * struct ctl_replies - messages that answer a request
 */
struct ctl_replies {
	/** @msg: each with its own memory */
	struct nlmsghdr **msg;
	/** @count: entries of @msg */
	unsigned int count;
};

/**
 * enum ctl_say - where a refusal is reported
 */
enum ctl_say {
	/** @CTL_SAY: on standard error and to the caller */
	CTL_SAY,
	/** @CTL_QUIET: to the caller only */
	CTL_QUIET
};

int ctl_net_open(struct ctl_net *net, enum ctl_say say);
int ctl_net_call(struct ctl_net *net, struct ctl_req *req, struct ctl_replies *replies,
		 enum ctl_say say);

struct ctl_req *ctl_req_new(struct ctl_net *net, uint8_t cmd, int flags, const char *what);
void ctl_req_mark(struct ctl_req *req, int line, const char *text);
void ctl_req_val(struct ctl_req *req, const struct ctl_key *key, const struct ctl_val *val);
void ctl_req_vals(struct ctl_req *req, const struct ctl_key *keys, const struct ctl_val *val);
void ctl_req_u8(struct ctl_req *req, int type, uint8_t v);
void ctl_req_u16(struct ctl_req *req, int type, uint16_t v);
void ctl_req_u32(struct ctl_req *req, int type, uint32_t v);
void ctl_req_bytes(struct ctl_req *req, int type, const void *data, int len);
struct nlattr *ctl_req_nest(struct ctl_req *req, int type, const struct ctl_names *inside);
void ctl_req_nest_end(struct ctl_req *req, struct nlattr *nest);

/* refusal.c */
int ctl_refusal(const struct ctl_req *req, const struct nlmsghdr *reply, enum ctl_say say);

#endif /* SPINDLE_COMMON_NET_H */
