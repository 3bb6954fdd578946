/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nodes, views and subgroups, either as the user wants them (command line, file) or as the kernel
 * has them.
 */
#ifndef SPINDLE_COMMON_MODEL_H
#define SPINDLE_COMMON_MODEL_H

#include <linux/spindle_genl.h>

#include "key.h"

/* Values of a node; the index into ctl_node_keys. */
enum {
	CTL_NODE_ID,
	CTL_NODE_ADDR,
	CTL_NODE_PORT,
	CTL_NODE_CLUSTER,
	CTL_NODE_VISIBILITY,
	CTL_NODE_IDLE_US,
	CTL_NODE_ENGINE,
	CTL_NODE_CPU,
	CTL_NODE_RACK,
	CTL_NODE_VALS
};

/* Values of a subgroup; the index into ctl_subgroup_keys. */
enum {
	CTL_SG_ID,
	CTL_SG_NAME,
	CTL_SG_MODE,
	CTL_SG_WINDOW,
	CTL_SG_MAX_MSG,
	CTL_SG_RING,
	CTL_SG_HOLD,
	CTL_SG_LOG,
	CTL_SG_ACK,
	CTL_SG_DELIVER,
	CTL_SG_MIN_COPIES,
	CTL_SG_CELLS,
	CTL_SG_CELL,
	CTL_SG_FIELDS,
	CTL_SG_LSN,
	CTL_SG_VALS
};

/*
 * Values of the tuning of a subgroup; the index into ctl_tune_keys. The switches come
 * first, each at the place of its bit in enum spindle_switch.
 */
enum {
	CTL_TUNE_SEND_BATCH,
	CTL_TUNE_RECV_BATCH,
	CTL_TUNE_DLV_BATCH,
	CTL_TUNE_NULLS,
	CTL_TUNE_LATE_POST,
	CTL_TUNE_MERGED_ACKS,
	CTL_TUNE_PACKED,
	CTL_TUNE_TRACKING,
	CTL_TUNE_EXPRESS,
	CTL_TUNE_SWITCHES,
	CTL_TUNE_SEND_BUDGET = CTL_TUNE_SWITCHES,
	CTL_TUNE_RECV_BUDGET,
	CTL_TUNE_DLV_BUDGET,
	CTL_TUNE_SILENCE,
	CTL_TUNE_STALL_MS,
	CTL_TUNE_LARGE,
	CTL_TUNE_HISTORY,
	CTL_TUNE_HISTORY_FILL,
	CTL_TUNE_LOG_STALL_MS,
	CTL_TUNE_ON_LOG_STALL,
	CTL_TUNE_VALS
};

/* Values of a live view; the index into ctl_live_keys. */
enum {
	CTL_LIVE_TIMEOUT,
	CTL_LIVE_MAX_NODES,
	CTL_LIVE_QUORUM,
	CTL_LIVE_SPARES,
	CTL_LIVE_SPARE_WINDOW,
	CTL_LIVE_SPARE_RING,
	CTL_LIVE_VALS
};

/* Values of the rule of a subgroup of a live view; the index into ctl_rule_keys. */
enum {
	CTL_RULE_SHARDS,
	CTL_RULE_MIN,
	CTL_RULE_ON_EXIT,
	CTL_RULE_VALS
};

extern const struct ctl_key ctl_at_node_keys[];
extern const struct ctl_key ctl_node_keys[];
extern const struct ctl_key ctl_subgroup_keys[];
extern const struct ctl_key ctl_table_mode_key;
extern const struct ctl_key ctl_tune_keys[];
extern const struct ctl_key ctl_timing_key;
extern const struct ctl_key ctl_former_key;
extern const struct ctl_key ctl_vid_key;
extern const struct ctl_key ctl_secret_key;

struct ctl_secret;

/**
 * struct ctl_member - a member of a view, or a node of which only the address is known
 */
struct ctl_member {
	/** @id: node id */
	uint32_t id;
	/** @addr: address */
	struct ctl_addr addr;
	/** @has_port: whether @port was given */
	bool has_port;
	/** @port: port, the default one if none was given */
	uint16_t port;
	/** @line: line of the file */
	int line;
};

/**
 * struct ctl_node - a node
 */
struct ctl_node {
	/** @val: configuration */
	struct ctl_val val[CTL_NODE_VALS];
	/** @line: line of the node's section */
	int line;
	/** @key_file: file: path of the node's key */
	struct ctl_val key_file;
	/** @secret: file: the key, if the node belongs to this machine; NULL: none */
	struct ctl_secret *secret;
	/**
	 * @insecure: file: the node's live view may be without a key; kernel: the view is without a
	 * key
	 */
	struct ctl_val insecure;
	/** @contact: file: nodes that the node asks for the live view that it is to join */
	struct ctl_member *contact;
	/** @contacts: entries of @contact */
	unsigned int contacts;
	/** @device: kernel: name of the RDMA device */
	const char *device;
	/** @state: kernel: enum spindle_node_state */
	uint64_t state;
	/** @incarnation: kernel: number that tells two lives of the node apart */
	uint64_t incarnation;
	/** @vid: kernel: installed view, 0 if there is none */
	uint64_t vid;
	/** @timing: kernel: the engine measures where its time goes */
	struct ctl_val timing;
	/** @keyed: kernel: the node was added with a key */
	struct ctl_val keyed;
	/** @former_key: kernel: the node also accepts peers with the key that it had before */
	struct ctl_val former_key;
};

/**
 * struct ctl_ids - a list of node ids
 */
struct ctl_ids {
	/** @set: the list was given; otherwise the default, all, is meant */
	bool set;
	/** @line: line of the file */
	int line;
	/** @id: ids */
	uint32_t *id;
	/** @count: entries of @id */
	unsigned int count;
};

/* The size of a table of counters, which has a place for each attribute number. */
#define CTL_STATS_MAX	64

/**
 * struct ctl_stats - counters
 */
struct ctl_stats {
	/** @has: bit mask of those that were sent */
	uint64_t has;
	/** @num: counters by attribute number */
	uint64_t num[CTL_STATS_MAX];
};

/* Stages of a message, each with its batches. */
enum {
	CTL_SEND,
	CTL_RECV,
	CTL_DLV,
	CTL_STAGES
};

/* Larger than the number of entries of any kernel. */
#define CTL_HIST_MAX	64

/**
 * struct ctl_hist - batches by size
 */
struct ctl_hist {
	/**
	 * @num: entry i counts batches of 2^i messages and more, but fewer than 2^(i+1). The last
	 * entry has no upper bound.
	 */
	uint64_t num[CTL_HIST_MAX];
	/** @entries: entries of @num; 0: the kernel sent none */
	unsigned int entries;
};

/**
 * struct ctl_reader - an attachment that reads
 */
struct ctl_reader {
	/** @pid: process of the attachment, 0: unknown here */
	uint64_t pid;
	/** @comm: name of the process */
	const char *comm;
	/** @copy: the attachment reads copies; otherwise it holds the slots of the senders */
	bool copy;
	/** @reads: enum spindle_reads */
	uint64_t reads;
	/** @lag: messages that the attachment has not consumed */
	uint64_t lag;
	/**
	 * @idle_ms: milliseconds since it last consumed a message, while there was one to consume
	 */
	uint64_t idle_ms;
	/** @lsn: position of the next message that it consumes */
	uint64_t lsn;
	/**
	 * @replica: enum spindle_replica_state, as the process reports it; if that is NONE, the
	 * process reports nothing of what follows
	 */
	uint64_t replica;
	/** @replica_ms: milliseconds in that state, with that donor */
	uint64_t replica_ms;
	/** @donor: node that the snapshot comes or came from; 0: none */
	uint64_t donor;
	/** @received: bytes of the snapshot that have arrived */
	uint64_t received;
	/** @bytes: length of the snapshot; 0: not known */
	uint64_t bytes;
	/** @serving: nodes that it gives its state to */
	uint64_t serving;
	/** @left_ms: milliseconds until the snapshot is here, at the rate so far, if known */
	struct ctl_val left_ms;
};

/**
 * struct ctl_row - the columns of a member, as the node sees them
 */
struct ctl_row {
	/** @id: node id of the member */
	uint64_t id;
	/** @sent: rounds that the member has decided */
	uint64_t sent;
	/** @slots: messages that the member has sent */
	uint64_t slots;
	/** @received: the member has received all messages below this sequence number */
	uint64_t received;
	/**
	 * @delivered: the member has delivered all below, and none of its readers holds one of them
	 */
	uint64_t delivered;
	/** @sends: the member may send */
	bool sends;
	/** @ahead: rounds that it has decided and another sender has not */
	uint64_t ahead;
	/** @recv_lag: messages that another member has received and this one has not */
	uint64_t recv_lag;
	/** @dlv_lag: messages that it could have delivered and released, and has not */
	uint64_t dlv_lag;
	/** @logged: the subgroup has logs; otherwise nothing of what follows is known */
	bool logged;
	/** @persisted: messages below this position are on the member's disk */
	uint64_t persisted;
	/** @low: first position that its log keeps */
	uint64_t low;
	/** @snapshot: position of the newest snapshot on its disk; 0: none */
	uint64_t snapshot;
	/** @record: id of the newest view whose record is on its disk */
	uint64_t record;
	/** @log_state: enum spindle_log_state */
	uint64_t log_state;
	/** @awaited: the durable position waits for its log */
	bool awaited;
};

/**
 * struct ctl_shard - user: how a shard begins again
 */
struct ctl_shard {
	/** @members: members of the first view that are in it */
	struct ctl_ids members;
	/** @lsn: position that it begins with */
	uint64_t lsn;
	/** @range: views of earlier eras that it follows, each with its members */
	struct ctl_ids *range;
	/** @ranges: entries of @range */
	unsigned int ranges;
};

/**
 * struct ctl_subgroup - a subgroup
 */
struct ctl_subgroup {
	/** @val: configuration */
	struct ctl_val val[CTL_SG_VALS];
	/**
	 * @way: user: the mode, if the subgroup was begun as a table; set: ctl_table_mode_key gave
	 * it; its number is 0 for all other subgroups
	 */
	struct ctl_val way;
	/** @members: members; not set: all of the view */
	struct ctl_ids members;
	/** @senders: members that may send; not set: all, but none of a table */
	struct ctl_ids senders;
	/** @range: user: views of earlier eras that a first view follows, each with its members */
	struct ctl_ids *range;
	/** @ranges: entries of @range */
	unsigned int ranges;
	/** @shard: user: how each shard begins again, in place of CTL_SG_LSN and @range */
	struct ctl_shard *shard;
	/** @shards: entries of @shard */
	unsigned int shards;
	/** @rule: live view: the rule for the members of the subgroup in the following views */
	struct ctl_val rule[CTL_RULE_VALS];
	/**
	 * @named: kernel: nodes that the rule names, members or not; not set: all may be in the
	 * subgroup
	 */
	struct ctl_ids named;
	/** @named_senders: kernel: named nodes that may send; not set: all */
	struct ctl_ids named_senders;
	/** @line: line of its section */
	int line;
	/** @state: kernel: enum spindle_state */
	uint64_t state;
	/** @error: kernel: enum spindle_error */
	uint64_t error;
	/** @readers: kernel: attachments that read; of a table: all attachments */
	uint64_t readers;
	/** @sender: kernel: a sender is attached; of a table: a writer */
	bool sender;
	/** @oldest: kernel: position of the oldest message of the history; not set: no history */
	struct ctl_val oldest;
	/** @logged: the subgroup has logs */
	bool logged;
	/** @durable: kernel: messages below this position are durable */
	uint64_t durable;
	/** @established: kernel: a restart cannot miss the present view */
	bool established;
	/**
	 * @durable_ms: kernel: milliseconds for which @durable has stood still although messages
	 * wait for that; 0: none waits
	 */
	uint64_t durable_ms;
	/** @tabular: the subgroup is a table; its counters are @table_stats */
	bool tabular;
	/** @messages: the subgroup has messages; its counters are @stats */
	bool messages;
	/** @stats: kernel: counters */
	struct ctl_stats stats;
	/** @table_stats: kernel: counters of a table */
	struct ctl_stats table_stats;
	/** @tune: kernel: tuning */
	struct ctl_val tune[CTL_TUNE_VALS];
	/** @hist: kernel: batches of each stage */
	struct ctl_hist hist[CTL_STAGES];
	/** @reader: kernel: attachments that read */
	struct ctl_reader *reader;
	/** @reader_count: entries of @reader */
	unsigned int reader_count;
	/** @row: kernel: columns of the members, by rank */
	struct ctl_row *row;
	/** @rows: entries of @row */
	unsigned int rows;
};

/**
 * struct ctl_view - a view
 */
struct ctl_view {
	/** @vid: id of the view */
	struct ctl_val vid;
	/** @line: line of the view's section */
	int line;
	/** @nodes: file: the view is only for these nodes */
	struct ctl_ids nodes;
	/** @member: members by rank */
	struct ctl_member *member;
	/** @members: entries of @member */
	unsigned int members;
	/** @subgroup: subgroups */
	struct ctl_subgroup *subgroup;
	/** @subgroups: entries of @subgroup */
	unsigned int subgroups;
	/** @said: file: whether the file says that the view is live, or that it is not */
	struct ctl_val said;
	/** @is_live: the view is live: its members change it as nodes join and leave */
	bool is_live;
	/** @live: properties of a live view */
	struct ctl_val live[CTL_LIVE_VALS];
	/** @witnesses: members that are in no subgroup of the view */
	struct ctl_ids witnesses;
	/** @lineage: number that all views that follow from this one share, in hexadecimal */
	struct ctl_val lineage;
	/** @insecure: the view is live, and without a key */
	bool insecure;
	/** @contact: nodes that are asked for a running view before this one begins */
	struct ctl_member *contact;
	/** @contacts: entries of @contact */
	unsigned int contacts;
};

/* Parsers of words, and values that follow from them. */
const char *ctl_member_parse(const char *text, struct ctl_member *member);
const char *ctl_contact_parse(const char *text, struct ctl_member *contact);
const char *ctl_members_add(struct ctl_member **list, unsigned int *count, const char *text,
			    int line,
			    const char *(*parse)(const char *text, struct ctl_member *member));
const char *ctl_member_text(const struct ctl_member *member);
const char *ctl_place_text(const struct ctl_member *member);
bool ctl_same_place(const struct ctl_member *a, const struct ctl_member *b);
struct ctl_member ctl_node_member(const struct ctl_node *node);
void ctl_ids_add(struct ctl_ids *ids, uint32_t id);
const char *ctl_ids_parse(const char *text, struct ctl_ids *ids, bool none);
const char *ctl_ids_text(const struct ctl_ids *ids);
bool ctl_ids_has(const struct ctl_ids *ids, uint32_t id);
struct ctl_member *ctl_view_member(const struct ctl_view *view, uint32_t id);
const struct ctl_subgroup *ctl_view_subgroup(const struct ctl_view *view, uint64_t id);
const struct ctl_subgroup *ctl_view_named(const struct ctl_view *view, const char *name);
struct ctl_ids ctl_view_ids(const struct ctl_view *view);
struct ctl_ids ctl_view_users(const struct ctl_view *view);
struct ctl_subgroup ctl_subgroup_resolve(const struct ctl_view *view,
					 const struct ctl_subgroup *sg);
bool ctl_is_table(const struct ctl_subgroup *sg);
bool ctl_is_read(const struct ctl_subgroup *sg);
bool ctl_is_logged(const struct ctl_subgroup *sg);
void ctl_make_table(struct ctl_subgroup *sg, int line);
void ctl_take_way(struct ctl_subgroup *sg);
const char *ctl_mode_text(const void *subgroup);
bool ctl_subgroup_has(const struct ctl_subgroup *sg, unsigned int val);
bool ctl_rule_has(const struct ctl_subgroup *sg, unsigned int val);
const char *ctl_subgroup_title(const struct ctl_subgroup *sg);
const char *ctl_subgroup_check(const struct ctl_view *view, const struct ctl_subgroup *sg,
			       int *line);

/* lag.c */
void ctl_row_lag(const struct ctl_subgroup *sg, struct ctl_row *row);
const struct ctl_reader *ctl_subgroup_holder(const struct ctl_subgroup *sg);

#endif /* SPINDLE_COMMON_MODEL_H */
