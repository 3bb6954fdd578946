/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The other side of the contract, in one thread: a device that the library attaches
 * to, with the module's own ends of the rings (kmod/core/multicast/txq.c and dlvq.c) behind it.
 * One attachment at a time.
 */
#ifndef SPINDLE_TEST_FAKE_H
#define SPINDLE_TEST_FAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/spindle.h>

/**
 * struct fake_opts - the subgroup to play; zero is a sensible default
 */
struct fake_opts {
	/** @window: slots, default 16 */
	uint32_t window;
	/** @max_msg: bytes, default 1000 */
	uint32_t max_msg;
	/** @ring_bytes: bytes, default 4096 */
	uint32_t ring_bytes;
	/** @senders: default 1; the local node has the highest sender rank */
	uint32_t senders;
	/** @slot: first slot number */
	uint64_t slot;
	/** @unit: first unit */
	uint64_t unit;
	/** @idle: passes without work before the engine sleeps */
	unsigned int idle;
	/** @manual: no engine thread, the test calls fake_step() */
	bool manual;
	/** @slow: free slots only now and then */
	bool slow;
	/** @peer_msgs: messages that each other sender sends */
	unsigned int peer_msgs;
	/** @unknown_every: distance between two entries of an unknown kind; 0: none */
	unsigned int unknown_every;
	/** @fail_after: number of deliveries after which the subgroup fails */
	unsigned int fail_after;
	/**
	 * @view_after: number of own messages after which a view begins in which node 200 has
	 * joined
	 */
	unsigned int view_after;
	/** @view_every: a view begins after each such number; node 200 joins and leaves in turn */
	unsigned int view_every;
	/** @forget: the fake forgets that view at once */
	bool forget;
	/** @seat_shift: instance of sender rank 0 in the view of the attach; the others follow */
	unsigned int seat_shift;
	/**
	 * @history: messages of sender 0 in a history of 8 KiB before the attach; 0: no history.
	 * Only with @manual
	 */
	unsigned int history;
	/** @logs: the subgroup has logs; each message has the position behind the one before */
	bool logs;
	/** @first: the subgroup had no view before */
	bool first;
	/** @gate: readers but the logger get a message when it is durable */
	bool gate;
	/** @has_logger: another process is the logger */
	bool has_logger;
	/** @durable: messages below are durable at first */
	uint64_t durable;
	/** @logged: an earlier logger has persisted the messages below */
	uint64_t logged;
	/** @lasts: the subgroup, and its history, last until the next fake_setup() */
	bool lasts;
	/** @era: of the lineage; 0: 3 */
	uint64_t era;
	/** @on_attach: called in each attach, in front of all else */
	void (*on_attach)(void);
	/** @attach_err: refuse the attachment with this errno */
	int attach_err;
	/** @seats_err: the errno of SPINDLE_IOC_SEATS */
	int seats_err;
	/** @map_err: the errno of mapping an rx section */
	int map_err;
	/** @memlock: value in the reply */
	uint64_t memlock;
	/** @mangle: spoils the reply */
	void (*mangle)(struct spindle_attach *a);
	/** @mangle_dlv: spoils a descriptor */
	void (*mangle_dlv)(struct spindle_dlv *d);
};

/* Results of a test, from the fake. */
struct fake_report {
	unsigned int kicks;
	unsigned int lost_wakeups;
	int open_files;
	int mappings;
	unsigned int populated;	/* mappings that got their pages at once */
	uint32_t tx_error;
	uint32_t dlv_error;
	uint64_t free_slot;
	uint64_t free_unit;
	uint64_t abandoned;
	unsigned int attaches;	/* that were tried */
	uint64_t lsn;		/* position of the next message */
	struct spindle_log_words log; /* of the logger, as the kernel took them last */
	/* Destinations of the last message that named some. */
	uint64_t to_mask;
	uint16_t to_vid;
};

void fake_setup(const struct fake_opts *o);
bool fake_step(void);
void fake_final(uint32_t state, uint32_t error);
struct fake_report fake_look(void);

/* Change @seats_err and @map_err of an attachment that is in use. */
void fake_errors(int seats_err, int map_err);

/*
 * Begin a view, or forget it. A sender that has joined gets new memory for its instance;
 * what was mapped of it before stays what it was.
 */
void fake_view(uint64_t vid, const struct spindle_seat *seat, uint32_t n);
void fake_forget(uint64_t vid);

/* Messages below @lsn are durable from now on. */
void fake_durable(uint64_t lsn);

/* What the process waits for. */
uint64_t fake_want(void);

/* The words of the logger, which the process may write now. */
const struct spindle_log_words *fake_log_words(void);

/* The log block of an instance, which the test writes. */
struct spindle_log_block *fake_log_block(uint32_t instance);

/* The next position belongs to a message for other members. */
void fake_other(void);

/* Change @era of the next attachments, and whether they are refused. */
void fake_era(uint64_t era);
void fake_refuse(int err);

/* Deliver message @n of another sender from its instance. */
void fake_deliver(uint32_t sender, uint64_t n);

/* Deliver the messages from @n to @end in one pass, before the reader sees any of them. */
void fake_burst(uint32_t sender, uint64_t n, uint64_t end);

/*
 * The bytes of message @n of another sender, and how many they are; fake_deliver() takes
 * the node id for @sender.
 */
uint32_t fake_peer_len(uint32_t sender, uint64_t n, uint32_t max_msg);
unsigned char fake_peer_byte(uint32_t sender, uint64_t n, uint32_t i);

#endif /* SPINDLE_TEST_FAKE_H */
