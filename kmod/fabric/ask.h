/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ask: a question to an endpoint and its answer, without a connection.
 *
 * The question is the private data of a connection request, the answer that of its
 * rejection. The node that answers keeps no state and allocates no memory for a question.
 */
#ifndef SPINDLE_FABRIC_ASK_H
#define SPINDLE_FABRIC_ASK_H

#include "conn.h"

/**
 * struct spindle_ask - a question
 */
struct spindle_ask {
	/** @net: network namespace */
	struct net *net;
	/** @src: own address, port 0 */
	struct sockaddr_storage src;
	/** @dst: address and port of the node that is asked */
	struct sockaddr_storage dst;
	/** @hello: the question */
	u8 hello[SPINDLE_HELLO_LEN];
	/** @stop: set to cancel the question */
	const bool *stop;
	/** @answer: out: code and data of the rejection */
	struct spindle_reject answer;
};

int spindle_ask(struct spindle_ask *ask);

#endif /* SPINDLE_FABRIC_ASK_H */
