/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Logs of other nodes: a log is served to them, and what a log misses is fetched from them.
 *
 * A connection is TCP. The server sends a nonce, the client a hello with a proof, the server a
 * proof. Then the client sends requests, one at a time. All numbers are little endian.
 *
 *	server		nonce: PEER_NONCE bytes
 *	client		hello: PEER_HELLO bytes
 *	server		proof: PEER_MAC bytes
 *	both		frames: length and type, payload, MAC
 *
 * Owner: the main thread has all of it. Context: the main thread; sockets never block.
 */
#ifndef SPINDLE_LOGD_PEER_H
#define SPINDLE_LOGD_PEER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "log.h"
#include "restart/restart.h"
#include "snap-list.h"

#define PEER_MAGIC	0x504c5053U
#define PEER_VERSION	4U
#define PEER_NONCE	32U
#define PEER_MAC	32U
#define PEER_HELLO	96U
/* Bytes in front of the payload of a frame. */
#define PEER_HEAD	8U
/* Payloads of requests and of their replies. */
#define PEER_STATUS_REQ	32U
#define PEER_STATUS_REP	40U
#define PEER_READ_REQ	16U
#define PEER_DATA_HEAD	40U
#define PEER_RECORD	64U
#define PEER_NAME	32U
#define PEER_LOAD_REQ	16U
#define PEER_OFFER	(8U + PEER_NAME + SPINDLE_DLOG_SNAP_HEAD)
#define PEER_PIECE_HEAD	16U
/* Bytes of records that a reply has at most, and the longest payload. */
#define PEER_CHUNK	(256U << 10)
#define PEER_PAYLOAD	(PEER_DATA_HEAD + PEER_RECORD + PEER_CHUNK)
#define PEER_FRAME	(PEER_HEAD + PEER_PAYLOAD + PEER_MAC)
/* A question of an attempt to restart, and its answer, in front of a report or a proposal. */
#define PEER_ASK_HEAD	(16U + SPINDLE_RESTART_ADDRESS)
#define PEER_TELL_HEAD	(40U + SPINDLE_RESTART_ADDRESS)
#define PEER_ASK_MAX	(PEER_ASK_HEAD + SPINDLE_RESTART_BYTES)
#define PEER_TELL_MAX	(PEER_TELL_HEAD + SPINDLE_RESTART_BYTES)
/* Longest frame with another request, with a question, and with an answer. */
#define PEER_REQUEST	(PEER_HEAD + PEER_STATUS_REQ + PEER_MAC)
#define PEER_QUESTION	(PEER_HEAD + PEER_ASK_MAX + PEER_MAC)
#define PEER_ANSWER	(PEER_HEAD + PEER_TELL_MAX + PEER_MAC)

/* Connections of a server without a proof, and with one. */
#define PEER_STRANGERS	8U
#define PEER_FRIENDS	8U
#define PEER_GUESTS	(PEER_STRANGERS + PEER_FRIENDS)
/* Time for a proof, and for a connection on which nothing moves. */
#define PEER_PROOF_MS	5000U
#define PEER_QUIET_MS	30000U
/* Bytes of a snapshot that have to come in each second, behind the first PEER_QUIET_MS. */
#define PEER_PACE	(256U << 10)

/* In spindle_dlog_msg.flags: the message was for other members, and only its position is here. */
#define LOGD_OTHER	(1U << 0)
/* With LOGD_OTHER: this is what the log of another node has. */
#define LOGD_FETCHED	(1U << 1)

/**
 * enum peer_type - what a frame is
 */
enum peer_type {
	/** @PEER_STATUS: request: what does the log of a subgroup have? */
	PEER_STATUS = 1,
	/** @PEER_READ: request: messages from a position on */
	PEER_READ,
	/** @PEER_STATUS_IS: reply to PEER_STATUS */
	PEER_STATUS_IS,
	/** @PEER_DATA: reply to PEER_READ */
	PEER_DATA,
	/** @PEER_ASK: request of an attempt to restart */
	PEER_ASK,
	/** @PEER_TELL: reply to PEER_ASK */
	PEER_TELL,
	/** @PEER_FIND: request: the newest snapshot of the program behind a name */
	PEER_FIND,
	/** @PEER_FOUND: reply to PEER_FIND */
	PEER_FOUND,
	/** @PEER_LOAD: request: bytes of the state in the snapshot that was found last */
	PEER_LOAD,
	/** @PEER_PIECE: reply to PEER_LOAD */
	PEER_PIECE,
};

/**
 * enum peer_code - result of a request
 */
enum peer_code {
	/** @PEER_OK: done */
	PEER_OK,
	/** @PEER_NO_LOG: there is no log of this subgroup */
	PEER_NO_LOG,
	/** @PEER_LINEAGE: the log is of another lineage, or of a later era */
	PEER_LINEAGE,
	/** @PEER_TRIMMED: the position is below the log */
	PEER_TRIMMED,
	/** @PEER_END: the position is not on disk yet, or there is no other snapshot */
	PEER_END,
	/** @PEER_DAMAGED: the position is damaged, or the snapshot cannot be read */
	PEER_DAMAGED,
	/** @PEER_CODES: how many there are */
	PEER_CODES
};

/**
 * struct peer_id - a process, as it proves itself to others
 */
struct peer_id {
	/** @node: id of its node */
	uint32_t node;
	/** @mode: 1: with a key, 0: without one */
	uint32_t mode;
	/** @lineage: of the group */
	uint8_t lineage[16];
	/** @has_former: @former is valid */
	bool has_former;
	/** @former: the lineage that a forced restart has left; its nodes may only ask */
	uint8_t former[16];
	/** @key: made of the key of the group */
	uint8_t key[PEER_MAC];
};

/**
 * struct peer_way - one direction of a connection
 */
struct peer_way {
	/** @key: for the MACs */
	uint8_t key[PEER_MAC];
	/** @count: frames so far */
	uint64_t count;
};

/**
 * struct peer_session - what both sides know after the hello
 */
struct peer_session {
	/** @client: id of the client's node */
	uint32_t client;
	/** @former: at the server: the client is in the lineage that a forced restart has left */
	bool former;
	/** @up: frames of the client */
	struct peer_way up;
	/** @down: frames of the server */
	struct peer_way down;
	/** @proof: of the server */
	uint8_t proof[PEER_MAC];
};

/**
 * struct peer_status_req - PEER_STATUS
 */
struct peer_status_req {
	/** @lineage: of the group */
	uint8_t lineage[16];
	/** @era: of the group, as the client knows it */
	uint64_t era;
	/** @subgroup: its id; the requests that follow are about its log */
	uint32_t subgroup;
};

/**
 * struct peer_status - PEER_STATUS_IS
 */
struct peer_status {
	/** @code: enum peer_code */
	uint32_t code;
	/** @damaged: ranges that were damaged when the log was opened */
	uint32_t damaged;
	/** @low: position of the first message that is kept */
	uint64_t low;
	/** @end: first position that is not on disk */
	uint64_t end;
	/** @era: of the newest message */
	uint64_t era;
	/** @vid: of the newest message */
	uint64_t vid;
};

/**
 * struct peer_read_req - PEER_READ
 */
struct peer_read_req {
	/** @from: position of the first message */
	uint64_t from;
	/** @skip: bytes of this message that are left out */
	uint32_t skip;
	/** @max: bytes of records that are asked for */
	uint32_t max;
};

/**
 * struct peer_data - in front of the records of PEER_DATA
 */
struct peer_data {
	/** @code: enum peer_code; there are records with PEER_OK only */
	uint32_t code;
	/** @count: records */
	uint32_t count;
	/** @from: position that was asked for */
	uint64_t from;
	/** @low: as in struct peer_status */
	uint64_t low;
	/** @end: as in struct peer_status */
	uint64_t end;
	/** @next: with PEER_DAMAGED, the position behind the range */
	uint64_t next;
};

/**
 * struct peer_record - a message, or a part of one that is long
 */
struct peer_record {
	/** @m: the message; its data are those of the part */
	struct spindle_dlog_msg m;
	/** @skip: bytes of the message in front of the part */
	uint32_t skip;
	/** @part: bytes of the part */
	uint32_t part;
};

/**
 * struct peer_offer - PEER_FOUND: the newest snapshot of a program
 */
struct peer_offer {
	/** @code: enum peer_code; without PEER_OK the rest says nothing */
	uint32_t code;
	/** @name: of the program */
	char name[SPINDLE_DLOG_SNAP_NAME + 1];
	/** @st: what the head of its file says */
	struct spindle_dlog_snapshot st;
};

/**
 * struct peer_load_req - PEER_LOAD
 */
struct peer_load_req {
	/** @from: offset of the first byte in the state */
	uint64_t from;
	/** @max: bytes that are asked for */
	uint32_t max;
};

/**
 * struct peer_piece - in front of the bytes of PEER_PIECE
 */
struct peer_piece {
	/** @code: enum peer_code; there are bytes with PEER_OK only */
	uint32_t code;
	/** @count: bytes */
	uint32_t count;
	/** @from: offset of the first one in the state */
	uint64_t from;
};

/**
 * struct peer_want - what the next record has to be
 */
struct peer_want {
	/** @next: its position */
	uint64_t next;
	/** @era: of the record before, or of the log */
	uint64_t era;
	/** @vid: of the record before, in @era */
	uint64_t vid;
	/** @era_max: era of the group */
	uint64_t era_max;
	/** @vid_max: newest view that this node knows, in @era_max */
	uint64_t vid_max;
	/** @max_msg: bytes of the longest message */
	uint32_t max_msg;
};

/* peer-wire.c: functions over bytes. */

void peer_put(uint8_t *p, uint64_t v, unsigned int bytes);
uint64_t peer_get(const uint8_t *p, unsigned int bytes);
void peer_key(struct peer_id *id, const void *key, size_t len);
void peer_hello_build(uint8_t *buf, const struct peer_id *me, uint32_t server,
		      const uint8_t *server_nonce, const uint8_t *nonce, struct peer_session *s);
bool peer_hello_check(const uint8_t *buf, const struct peer_id *me, const uint8_t *nonce,
		      struct peer_session *s);
bool peer_equal(const uint8_t *a, const uint8_t *b);
uint32_t peer_seal(struct peer_way *way, uint8_t *buf, uint32_t type, uint32_t len);
int peer_unseal(struct peer_way *way, const uint8_t *buf, uint32_t have, uint32_t max,
		uint32_t *type, uint32_t *len);

/* peer-msg.c: payloads. */

void peer_status_req_put(uint8_t *p, const struct peer_status_req *r);
bool peer_status_req_get(const uint8_t *p, uint32_t len, struct peer_status_req *r);
void peer_status_put(uint8_t *p, const struct peer_status *s);
bool peer_status_get(const uint8_t *p, uint32_t len, struct peer_status *s);
void peer_read_req_put(uint8_t *p, const struct peer_read_req *r);
bool peer_read_req_get(const uint8_t *p, uint32_t len, struct peer_read_req *r);
void peer_data_put(uint8_t *p, const struct peer_data *d);
bool peer_data_get(const uint8_t *p, uint32_t len, struct peer_data *d);
uint32_t peer_record_put(uint8_t *p, const struct peer_record *r);
uint32_t peer_record_get(const uint8_t *p, uint32_t len, struct peer_record *r);
const char *peer_judge(const struct peer_want *want, const struct spindle_dlog_msg *m);

/* peer-snap-msg.c: payloads about snapshots. */

void peer_find_put(uint8_t *p, const char *after);
bool peer_find_get(const uint8_t *p, uint32_t len, char *after);
void peer_offer_put(uint8_t *p, const struct peer_offer *o);
bool peer_offer_get(const uint8_t *p, uint32_t len, struct peer_offer *o);
void peer_load_req_put(uint8_t *p, const struct peer_load_req *r);
bool peer_load_req_get(const uint8_t *p, uint32_t len, struct peer_load_req *r);
void peer_piece_put(uint8_t *p, const struct peer_piece *d);
bool peer_piece_get(const uint8_t *p, uint32_t len, struct peer_piece *d);

/**
 * struct peer_conn - a socket with buffers
 */
struct peer_conn {
	/** @fd: -1: none */
	int fd;
	/** @poll: what the loop has waited for, or NULL */
	struct pollfd *poll;
	/** @in: bytes that came */
	uint8_t *in;
	/** @in_size: room at @in */
	uint32_t in_size;
	/** @in_len: bytes at @in */
	uint32_t in_len;
	/** @out: bytes to send */
	uint8_t *out;
	/** @out_size: room at @out */
	uint32_t out_size;
	/** @out_len: bytes at @out */
	uint32_t out_len;
	/** @out_at: bytes of them that were sent */
	uint32_t out_at;
	/** @moved_ms: when a byte came or went */
	uint64_t moved_ms;
};

/* peer-conn.c: sockets. */

uint64_t peer_now_ms(void);
bool peer_conn_open(struct peer_conn *c, int fd, uint32_t in, uint32_t out);
bool peer_conn_grow(struct peer_conn *c, uint32_t in, uint32_t out);
void peer_conn_close(struct peer_conn *c);
bool peer_conn_fill(struct peer_conn *c, uint32_t most);
bool peer_conn_flush(struct peer_conn *c);
void peer_conn_drop(struct peer_conn *c, uint32_t n);
void peer_conn_poll(struct peer_conn *c, struct pollfd *fd, bool reads);
void peer_conn_age(const struct peer_conn *c, uint32_t limit, int *ms);
int peer_listen(const struct sockaddr *addr, socklen_t len);
int peer_connect(const struct sockaddr *addr, socklen_t len);

/**
 * struct peer_log - a log that is served
 */
struct peer_log {
	/** @log: the writer */
	const struct spindle_dlog *log;
	/** @damaged: ranges that were damaged when it was opened */
	uint32_t damaged;
	/** @frame: bytes of the longest frame that it may have, also of an earlier life */
	uint32_t frame;
	/** @dir: its directory, whose snapshots are served; -1: none are */
	int dir;
	/** @era: of the group */
	uint64_t era;
};

/**
 * struct peer_reader - the place of a guest in a log
 */
struct peer_reader {
	/** @id: what the log is */
	struct spindle_dlog_ident id;
	/** @r: the reader */
	struct spindle_dlog_reader r;
	/** @m: the message at @at */
	struct spindle_dlog_msg m;
	/** @at: its position */
	uint64_t at;
	/** @has: @m is there */
	bool has;
	/** @placed: @r is at a place of the log */
	bool placed;
};

/* peer-read.c: replies from a log. */

bool peer_reader_open(struct peer_reader *p, const struct peer_log *log);
void peer_reader_close(struct peer_reader *p);
int peer_reader_reply(struct peer_reader *p, const struct peer_read_req *req, uint8_t *buf,
		      uint32_t *len);

/**
 * struct peer_source - the snapshots that a guest asks for
 */
struct peer_source {
	/** @dir: directory of the log; -1: none */
	int dir;
	/** @log: the writer of that log */
	const struct spindle_dlog *log;
	/** @era: of the group */
	uint64_t era;
	/** @fd: the snapshot that was found last; -1: none */
	int fd;
	/** @bytes: of its state */
	uint64_t bytes;
};

/* peer-source.c: snapshots for guests. */

void peer_source_open(struct peer_source *s, const struct peer_log *log);
void peer_source_close(struct peer_source *s);
void peer_source_find(struct peer_source *s, const char *after, struct peer_offer *o);
uint32_t peer_source_load(const struct peer_source *s, const struct peer_load_req *req,
			  uint8_t *buf);

/**
 * struct peer_guest - a connection of a server
 */
struct peer_guest {
	/** @conn: the socket */
	struct peer_conn conn;
	/** @friend: the proof was right */
	bool friend;
	/** @begun_ms: when it was accepted */
	uint64_t begun_ms;
	/** @nonce: for its proof */
	uint8_t nonce[PEER_NONCE];
	/** @session: keys */
	struct peer_session session;
	/** @reader: the place in the log that the requests are about */
	struct peer_reader reader;
	/** @source: the snapshots beside that log */
	struct peer_source source;
	/** @req: PEER_READ that is not answered */
	struct peer_read_req req;
	/** @reading: there is one */
	bool reading;
};

/**
 * struct peer_server - the service of a process
 */
struct peer_server {
	/** @id: of this process */
	struct peer_id id;
	/** @listen: socket; -1: none */
	int listen;
	/** @poll: as in struct peer_conn */
	struct pollfd *poll;
	/** @guest: connections */
	struct peer_guest guest[PEER_GUESTS];
	/** @find: finds the log of a subgroup. Return: whether there is one. */
	bool (*find)(void *arg, uint32_t subgroup, struct peer_log *log);
	/**
	 * @ask: answers a question of an attempt to restart; NULL: there is none. Return: bytes of
	 * the reply, of which there may be PEER_TELL_MAX; 0: the question is none.
	 */
	uint32_t (*ask)(void *arg, const struct peer_session *session, const uint8_t *p,
			uint32_t len, uint8_t *reply);
	/** @arg: of @find */
	void *arg;
	/** @ask_arg: of @ask */
	void *ask_arg;
};

/* peer-serve.c: the server. */

void peer_server_begin(struct peer_server *s, int fd);
unsigned int peer_server_poll(struct peer_server *s, struct pollfd *fd, int *ms);
void peer_server_work(struct peer_server *s);
void peer_server_end(struct peer_server *s);

/**
 * enum peer_step - how far a client is
 */
enum peer_step {
	/** @PEER_IDLE: there is no connection */
	PEER_IDLE,
	/** @PEER_CONNECTS: the connection is not there yet */
	PEER_CONNECTS,
	/** @PEER_GREETS: the nonce has not come */
	PEER_GREETS,
	/** @PEER_PROVES: the proof has not come */
	PEER_PROVES,
	/** @PEER_PROVED: the proof was right, and the first request is due */
	PEER_PROVED,
	/** @PEER_ASKS: the reply to the first request has not come */
	PEER_ASKS,
	/** @PEER_KNOWS: the status is there, and nothing is under way */
	PEER_KNOWS,
	/** @PEER_FINDS: a snapshot was asked for */
	PEER_FINDS,
	/** @PEER_LOADS: bytes of a snapshot were asked for */
	PEER_LOADS,
	/** @PEER_READS: messages were asked for */
	PEER_READS,
	/** @PEER_TAKES: messages came that the log has not taken */
	PEER_TAKES,
	/** @PEER_DONE: the log of the peer has no more for this one */
	PEER_DONE,
	/** @PEER_FAILED: the text says why */
	PEER_FAILED,
};

/**
 * struct peer_client - the client side of a connection
 */
struct peer_client {
	/** @id: of this process */
	const struct peer_id *id;
	/** @server: id of the peer's node */
	uint32_t server;
	/** @step: enum peer_step */
	uint32_t step;
	/** @conn: the socket */
	struct peer_conn conn;
	/** @session: keys */
	struct peer_session session;
	/** @why: why it has failed, or what is missing */
	char why[160];
};

/* peer-client.c: connection, proofs and frames of a client. */

void peer_client_begin(struct peer_client *c, uint32_t server, int fd, uint32_t in, uint32_t out);
void peer_client_end(struct peer_client *c);
void peer_client_fail(struct peer_client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void peer_client_request(struct peer_client *c, uint32_t type, uint32_t len, uint32_t step);
uint32_t peer_client_frame(struct peer_client *c, uint32_t max, uint32_t *type, uint32_t *len);
unsigned int peer_client_poll(struct peer_client *c, struct pollfd *fd, int *ms);
bool peer_client_work(struct peer_client *c);

/**
 * typedef peer_take_fn - a message for the own log
 * @arg: as given
 * @m: the message, which was judged
 * @why: set to what is wrong with it
 *
 * Return: 0; -EAGAIN: try again later; -EBADMSG: @why says what is wrong with it; or another errno,
 * because of which no more may come.
 */
typedef int (*peer_take_fn)(void *arg, const struct spindle_dlog_msg *m, const char **why);

/**
 * typedef peer_put_fn - bytes of the state in a snapshot, in order
 * @arg: as given
 * @p: the bytes
 * @len: how many
 *
 * Return: 0 or a negative errno, because of which no more may come.
 */
typedef int (*peer_put_fn)(void *arg, const uint8_t *p, uint32_t len);

/**
 * struct peer_fetch - messages and snapshots that a client fetches
 */
struct peer_fetch {
	/** @client: the connection; PEER_ASKS: the status has not come */
	struct peer_client client;
	/** @subgroup: id of the subgroup */
	uint32_t subgroup;
	/** @status: what the peer has */
	struct peer_status status;
	/** @want: what the next record has to be */
	struct peer_want want;
	/** @stop: position behind the last one that is needed */
	uint64_t stop;
	/** @frame: bytes of the frame that is being taken */
	uint32_t frame;
	/** @at: place in it */
	uint32_t at;
	/** @end: end of its payload */
	uint32_t end;
	/** @left: records that it has behind the place */
	uint32_t left;
	/** @part: bytes of a long message, or NULL */
	uint8_t *part;
	/** @parted: how many there are */
	uint32_t parted;
	/** @shape: the message that @part belongs to */
	struct spindle_dlog_msg shape;
	/** @taken: messages that the log has taken */
	uint64_t taken;
	/** @take: takes a message */
	peer_take_fn take;
	/** @offer: the snapshot that was found last; PEER_END: there is no other one */
	struct peer_offer offer;
	/** @loaded: bytes of its state that have come */
	uint64_t loaded;
	/** @load_ms: when the first ones were asked for */
	uint64_t load_ms;
	/** @put: takes bytes of a state */
	peer_put_fn put;
	/** @arg: of @take and @put */
	void *arg;
};

/* peer-fetch.c, peer-data.c, peer-snap.c: messages and snapshots. */

void peer_fetch_begin(struct peer_fetch *f, uint32_t server, int fd);
void peer_fetch_read(struct peer_fetch *f, uint64_t from, uint64_t stop);
void peer_fetch_work(struct peer_fetch *f);
void peer_fetch_end(struct peer_fetch *f);
void peer_fetch_data(struct peer_fetch *f, uint32_t len);
void peer_fetch_take(struct peer_fetch *f);
void peer_fetch_find(struct peer_fetch *f, const char *after);
void peer_fetch_found(struct peer_fetch *f, uint32_t len);
void peer_fetch_load(struct peer_fetch *f);
void peer_fetch_piece(struct peer_fetch *f, uint32_t len);
bool peer_fetch_is_slow(const struct peer_fetch *f);

/**
 * struct peer_ask - a question of an attempt to restart, on a connection of its own
 */
struct peer_ask {
	/** @client: the connection; PEER_ASKS: the answer has not come, PEER_DONE: it is there */
	struct peer_client client;
	/** @question: the question, with room for PEER_ASK_MAX bytes */
	uint8_t *question;
	/** @len: bytes of the question */
	uint32_t len;
	/** @answer: bytes of the answer, which are behind the head of the frame in the buffer */
	uint32_t answer;
	/** @begun_ms: when the question was asked */
	uint64_t begun_ms;
};

/* peer-ask.c */

bool peer_ask_room(struct peer_ask *q);
void peer_ask_begin(struct peer_ask *q, uint32_t server, int fd);
void peer_ask_work(struct peer_ask *q);
void peer_ask_end(struct peer_ask *q);

#endif /* SPINDLE_LOGD_PEER_H */
