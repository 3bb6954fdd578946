// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-pipe: lines of stdin into a subgroup, deliveries to stdout.
 *
 * The program has one loop and no thread. It moves what it can in each direction, and sleeps in
 * ppoll() only when nothing can move. While it is busy, it makes a system call for each buffer and
 * not for each message.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/spindle.h>

#include "common/key.h"
#include "common/opts.h"

#define IN_BYTES	(256 * 1024)	/* at least room for two messages */
#define OUT_BYTES	(256 * 1024)
#define OUT_CHUNK	(32 * 1024)	/* write this much even while busy */
#define HEAD_BYTES	64		/* room for what is printed beside the bytes */
#define BUDGET		256		/* messages for each direction in a pass */
#define BUSY_PASSES	64		/* passes without a look at stdin and signals */
#define TICK_MS		2		/* interval where the kernel has no event to wait for */
#define MAX_TO		64		/* members of a view */

struct buffer {
	unsigned char *data;
	size_t room;
	size_t start;
	size_t end;
};

static struct pipe {
	/* options */
	struct spindle_attach_opts attach;
	bool binary, raw, quiet, stats, quit_after_eof, views, copy, send_only, receive_only;
	unsigned char delimiter;
	uint64_t count;
	uint32_t to[MAX_TO];	/* nodes that get what is sent */
	unsigned int tos;	/* how many; 0: all members */
	bool to_others;		/* the own node is not among them */
	struct spindle_place from; /* where to begin, of attach.from */

	struct spindle_queue q;
	struct spindle_dest dest; /* these nodes in the view @dest_vid */
	uint64_t dest_vid;	/* 0: none yet */
	int out_fd;
	bool out_socket;
	struct buffer in, out;
	size_t scanned;		/* bytes of the record at in.start without a delimiter */
	unsigned long long record; /* number of that record, from 1 */
	bool in_ready;		/* reading would not block */
	bool eof;
	bool blocked;		/* a record waits for room in the ring */
	bool told;		/* the kernel reported room, but there was not enough */
	bool earlier;		/* messages of an earlier sender were under way */
	bool drained;		/* all that was sent is delivered */
	bool all_read;		/* nothing was left to read, since then */
	bool ended;		/* the state is final and everything is read */
	bool broken_pipe;
	int status;
	unsigned long long sent, sent_bytes, delivered, delivered_bytes, returned, waits;
} p = { .delimiter = '\n', .out_fd = STDOUT_FILENO, .record = 1 };

static volatile sig_atomic_t caught;	/* the signal that ends the program */

static void on_signal(int sig)
{
	caught = sig;
}

/* Print a message, and make the exit status that of a failure. */
#define complain(...)	(ctl_err(__VA_ARGS__), p.status = EXIT_FAILURE)

static bool sending(void)
{
	return p.attach.flags & SPINDLE_ATTACH_SEND;
}

static bool receiving(void)
{
	return p.attach.flags & SPINDLE_ATTACH_RECV;
}

/* ---- stdin to the subgroup -------------------------------------------- */

static size_t buffered(const struct buffer *b)
{
	return b->end - b->start;
}

/* The input is invalid: send no more, and end when all that was sent has returned. */
static void stop_reading(void)
{
	p.eof = true;
	p.in.start = p.in.end;
	p.quit_after_eof = true;
}

/* Bytes of the largest message to the nodes that get it. */
static uint32_t max_len(void)
{
	uint32_t max = spindle_max_msg(&p.q);

	return p.tos && max > SPINDLE_MAX_DIRECT ? SPINDLE_MAX_DIRECT : max;
}

static bool too_long(size_t len)
{
	if (len <= max_len())
		return false;
	complain("%s %llu has %s%zu bytes, a message of subgroup %u at most %u (%s)",
		 p.binary ? "record" : "line", p.record, p.scanned && !p.eof ? "at least " : "",
		 len, p.attach.subgroup, max_len(),
		 max_len() < spindle_max_msg(&p.q) ? "to some members" : "max_msg");
	stop_reading();
	return true;
}

static bool next_line(const unsigned char **data, uint32_t *len, size_t *skip)
{
	const unsigned char *from = p.in.data + p.in.start;
	size_t have = buffered(&p.in), n;
	const unsigned char *end = NULL;

	if (have > p.scanned)
		end = memchr(from + p.scanned, p.delimiter, have - p.scanned);
	if (end) {
		p.scanned = 0;
		n = end - from;
		*skip = n + 1;
	} else {
		p.scanned = have;
		n = have;
		*skip = n;
	}
	if (too_long(n))
		return false;
	/* The last line needs no delimiter. */
	if (!end && (!p.eof || !n))
		return false;
	*data = from;
	*len = n;
	return true;
}

static bool next_binary(const unsigned char **data, uint32_t *len, size_t *skip)
{
	const unsigned char *from = p.in.data + p.in.start;
	size_t have = buffered(&p.in);
	uint32_t n;

	if (have >= 4) {
		n = from[0] | from[1] << 8 | from[2] << 16 | (uint32_t)from[3] << 24;
		if (too_long(n))
			return false;
		if (have - 4 >= n) {
			*data = from + 4;
			*len = n;
			*skip = 4 + (size_t)n;
			return true;
		}
	}
	if (p.eof && have) {
		complain("record %llu is cut off after %zu bytes by the end of the input",
			 p.record, have);
		stop_reading();
	}
	return false;
}

/* Find the destinations again in each view that the reader enters. */
static int find_destinations(void)
{
	int err;

	if (p.dest_vid == p.q.vid)
		return 0;
	err = spindle_destinations(&p.q, p.to, p.tos, &p.dest);
	if (err == -EOPNOTSUPP) {
		complain("subgroup %u has logs, which have all messages: none is for some members",
			 p.attach.subgroup);
		stop_reading();
		return err;
	}
	if (err) {
		complain("a node of --to is no member of subgroup %u in view %llu",
			 p.attach.subgroup, (unsigned long long)p.q.vid);
		stop_reading();
		return err;
	}
	p.dest_vid = p.q.vid;
	return 0;
}

/* Send to the nodes of --to. */
static int send_to(const void *data, uint32_t len)
{
	struct spindle_slot s;
	int err = find_destinations();

	if (!err)
		err = spindle_reserve(&p.q, len, &s);
	if (err)
		return err;
	memcpy(s.data, data, len);
	return spindle_commit_to(&p.q, &s, len, &p.dest);
}

static bool transmit(void)
{
	const unsigned char *data;
	unsigned int n;
	uint32_t len;
	size_t skip;
	int err;

	for (n = 0; n < BUDGET; n++) {
		if (!(p.binary ? next_binary : next_line)(&data, &len, &skip))
			break;
		err = p.tos ? send_to(data, len) : spindle_send_quiet(&p.q, data, len);
		p.blocked = err == -EAGAIN;
		if (err == -EPIPE && !receiving())
			p.ended = true;
		if (err) {
			p.scanned = 0;
			break;
		}
		p.in.start += skip;
		p.scanned = 0;
		p.record++;
		p.sent++;
		p.sent_bytes += len;
		p.told = false;
	}
	if (n)
		(void)spindle_flush(&p.q);
	return n;
}

static bool wants_input(void)
{
	return sending() && !p.eof && !p.blocked &&
	       (p.in.start || p.in.end < p.in.room);
}

static bool read_input(void)
{
	struct buffer *b = &p.in;
	ssize_t n;

	p.in_ready = false;
	memmove(b->data, b->data + b->start, buffered(b));
	b->end -= b->start;
	b->start = 0;
	n = read(STDIN_FILENO, b->data + b->end, b->room - b->end);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < 0) {
		complain("stdin: cannot read: %s", strerror(errno));
		stop_reading();
		return true;
	}
	if (!n)
		p.eof = true;
	b->end += n;
	return true;
}

/* ---- the subgroup to stdout ------------------------------------------- */

static void put(const void *data, size_t len)
{
	memcpy(p.out.data + p.out.end, data, len);
	p.out.end += len;
}

static void put_number(uint64_t v, char behind)
{
	char text[24], *at = text + sizeof(text);

	*--at = behind;
	do {
		*--at = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	put(at, text + sizeof(text) - at);
}

static void put_le(uint64_t v, size_t bytes)
{
	v = htole64(v);
	put(&v, bytes);
}

static void print(const struct spindle_msg *m)
{
	if (p.quiet)
		return;
	if (p.binary) {
		if (!p.raw) {
			put_le(m->lsn, 8);
			put_le(m->node, 4);
		}
		put_le(m->len, 4);
		put(m->data, m->len);
		return;
	}
	if (!p.raw) {
		put_number(m->lsn, ' ');
		put_number(m->node, ' ');
	}
	put(m->data, m->len);
	put(&p.delimiter, 1);
}

static bool write_output(void);

static void print_view(void)
{
	const char *before = " (joined";
	struct spindle_view v;
	uint32_t i;

	if (spindle_view(&p.q, &v))
		return;
	/* Earlier deliveries are printed before the view, if the reader takes them. */
	write_output();
	fprintf(stderr, "view %llu:", (unsigned long long)v.vid);
	for (i = 0; i < v.members; i++)
		fprintf(stderr, " %u", v.seat[i].node);
	for (i = 0; i < v.members; i++) {
		if (!(v.seat[i].flags & SPINDLE_SEAT_JOINED))
			continue;
		fprintf(stderr, "%s %u", before, v.seat[i].node);
		before = "";
	}
	fputs(*before ? "\n" : ")\n", stderr);
}

static bool out_room(void)
{
	return p.out.room - p.out.end >= (size_t)spindle_max_msg(&p.q) + HEAD_BYTES;
}

static bool counted(void)
{
	return p.count && p.delivered >= p.count;
}

/* Explain why reading cannot go on, unless the state explains it. */
static void explain(int err)
{
	uint32_t id = p.q.subgroup;

	if (err == -EBADMSG)
		complain("subgroup %u: the kernel delivered a descriptor that points nowhere", id);
	else if (err == -ESTALE && (p.q.features & SPINDLE_FEAT_HISTORY))
		complain("subgroup %u: too far behind, the history has forgotten position %llu", id,
			 (unsigned long long)spindle_lsn(&p.q));
	else if (err == -ESTALE)
		complain("subgroup %u: too far behind, the kernel has forgotten the next view", id);
	else if (err != -EPIPE && spindle_state(&p.q) <= SPINDLE_STATE_ACTIVE)
		complain("subgroup %u: cannot go on to the next view: %s", id, strerror(-err));
}

static bool receive(void)
{
	struct spindle_msg m;
	unsigned int n;
	size_t end;
	int got = 1;

	for (n = 0; n < BUDGET && out_room() && !counted(); n++) {
		got = spindle_peek(&p.q, &m);
		if (got <= 0)
			break;
		if (m.kind == SPINDLE_DLV_VIEW) {
			print_view();
			continue;
		}
		end = p.out.end;
		print(&m);
		if (!spindle_intact(&p.q)) {
			p.out.end = end;
			got = -ESTALE;
			break;
		}
		p.delivered++;
		p.delivered_bytes += m.len;
		/* A history has messages from before. */
		p.returned += m.sender == spindle_sender_rank(&p.q) && m.lsn >= p.q.next;
	}
	p.all_read |= !got;
	spindle_release(&p.q);
	if (got < 0) {
		explain(got);
		p.ended = true;
	}
	return n;
}

/*
 * A slow reader of the output must not keep this program from sending. O_NONBLOCK on the inherited
 * descriptor would affect all processes that share it. But a pipe can be opened again.
 */
static void own_output(void)
{
	struct stat st;
	int fd;

	if (fstat(STDOUT_FILENO, &st))
		return;
	p.out_socket = S_ISSOCK(st.st_mode);
	if (!S_ISFIFO(st.st_mode))
		return;
	fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		p.out_fd = fd;
}

static bool write_output(void)
{
	struct buffer *b = &p.out;
	ssize_t n;

	if (!buffered(b))
		return false;
	if (p.out_socket)
		n = send(p.out_fd, b->data + b->start, buffered(b), MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		n = write(p.out_fd, b->data + b->start, buffered(b));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < 0) {
		/* The reader of the output has closed the pipe. */
		p.broken_pipe = true;
		if (errno != EPIPE)
			complain("stdout: cannot write: %s", strerror(errno));
		return false;
	}
	b->start += n;
	memmove(b->data, b->data + b->start, buffered(b));
	b->end -= b->start;
	b->start = 0;
	return true;
}

/* ---- both directions ---------------------------------------------------- */

static bool all_sent(void)
{
	return p.eof && !buffered(&p.in);
}

/*
 * Does the number of own messages that came back say too little? Some may be those of an earlier
 * sender, and messages for other nodes do not come back. Then wait until all are delivered.
 */
static bool must_drain(void)
{
	return p.earlier || p.to_others;
}

/* Have all own messages been delivered here? */
static bool all_returned(void)
{
	if (!all_sent() || (p.returned < p.sent && !p.to_others))
		return false;
	if (!must_drain())
		return true;
	/* What is delivered into a history may still have to be read. */
	if (!p.drained) {
		p.drained = !spindle_drain(&p.q, 0);
		p.all_read = false;
	}
	return p.drained && p.all_read;
}

static bool finished(void)
{
	if (caught || p.ended || p.broken_pipe || counted())
		return true;
	if (!receiving())
		return all_sent();
	return sending() && p.quit_after_eof && all_returned();
}

/* Sleep until there is something to do. With @busy, only check. */
static void wait_for_work(bool busy)
{
	bool dead = spindle_state(&p.q) > SPINDLE_STATE_ACTIVE;
	struct timespec ts = { 0, 0 };
	bool tick, endless;
	struct pollfd fd[3] = {
		{ .fd = spindle_fd(&p.q) },
		{ .fd = wants_input() ? STDIN_FILENO : -1, .events = POLLIN },
		/*
		 * Poll the output even if there is nothing to write, because a closed pipe has to
		 * be noticed.
		 */
		{ .fd = receiving() && !p.quiet ? p.out_fd : -1 },
	};
	sigset_t none;

	/*
	 * The kernel reported room in vain, because units of other messages are not free yet. Only
	 * time helps, so look again after a tick.
	 */
	tick = (p.blocked && p.told) ||
	       (must_drain() && p.quit_after_eof && all_sent());
	if (receiving() && out_room())
		fd[0].events |= POLLIN;
	else if (dead)
		fd[0].fd = -1;
	if (p.blocked && !p.told)
		fd[0].events |= POLLOUT;
	if (buffered(&p.out))
		fd[2].events |= POLLOUT;
	endless = !busy && !tick;
	if (!busy && tick)
		ts.tv_nsec = TICK_MS * 1000000L;
	sigemptyset(&none);
	p.waits += !busy;
	if (ppoll(fd, 3, endless ? NULL : &ts, &none) < 0)
		return;
	if (p.blocked)
		p.told = fd[0].revents & POLLOUT;
	if ((fd[0].revents & (POLLERR | POLLHUP)) && !receiving())
		p.ended = true;
	if (fd[1].revents)
		p.in_ready = true;
	if (fd[2].revents & POLLNVAL)
		complain("stdout is closed");
	if (fd[2].revents & (POLLERR | POLLHUP | POLLNVAL))
		p.broken_pipe = true;
}

static void run(void)
{
	unsigned int passes = 0;
	bool moved;

	while (!finished()) {
		moved = receiving() && receive();
		if (sending()) {
			moved |= transmit();
			if (p.in_ready && wants_input())
				moved |= read_input();
		}
		if (buffered(&p.out) >= OUT_CHUNK)
			moved |= write_output();
		if (moved && ++passes < BUSY_PASSES)
			continue;
		passes = 0;
		write_output();
		if (!finished())
			wait_for_work(moved);
	}
}

static const char stats_text[] =
"sent %llu messages %llu bytes, delivered %llu messages %llu bytes, waited %llu times\n";

/* Write what was printed, and wait until what was sent is delivered. */
static void finish(void)
{
	struct pollfd fd = { .fd = p.out_fd, .events = POLLOUT };
	int err = 0;

	while (!caught && !p.broken_pipe && buffered(&p.out))
		if (!write_output() && !p.broken_pipe)
			poll(&fd, 1, -1);
	if (sending() && !receiving() && !p.ended && !caught) {
		do
			err = spindle_drain(&p.q, 100);
		while (err == -EAGAIN && !caught);
	}
	if ((p.ended || err == -EPIPE) && !p.status)
		complain("subgroup %u of node %u is %s: %s", p.q.subgroup, p.q.node,
			 spindle_state_string(spindle_state(&p.q)),
			 spindle_strerror(spindle_error_code(&p.q)));
	if (p.stats)
		fprintf(stderr, stats_text, p.sent, p.sent_bytes, p.delivered, p.delivered_bytes,
			p.waits);
}

/* ---- start ------------------------------------------------------------- */

/* What has to be given is in a group of its own. */
enum {
	MAY,
	NODE,
	SUBGROUP
};

#define AT(field)	CTL_OPT_AT(struct pipe, field)

static const char *take_delimiter(void *into, const char *text)
{
	unsigned char *delimiter = &((struct pipe *)into)->delimiter;

	if (!text)
		*delimiter = '\0';
	else if (text[0] && !text[1])
		*delimiter = (unsigned char)text[0];
	else if (text[0] == '\\' && text[1] && !text[2] && strchr("0nt", text[1]))
		*delimiter = text[1] == '0' ? 0 : text[1] == 'n' ? '\n' : '\t';
	else
		return "not one character";
	return NULL;
}

/* A number is an id, and any other word a name. */
static const char *take_subgroup(void *into, const char *text)
{
	struct spindle_attach_opts *attach = &((struct pipe *)into)->attach;
	uint64_t id = 0;

	attach->name = ctl_num_parse(text, UINT32_MAX, false, &id) ? text : NULL;
	attach->subgroup = (uint32_t)id;
	return *text ? NULL : "neither an id nor a name";
}

static const char *take_to(void *into, const char *text)
{
	struct pipe *pipe = into;
	const char *err;
	uint64_t node;

	if (pipe->tos == MAX_TO)
		return "too many nodes";
	err = ctl_num_parse(text, UINT32_MAX, false, &node);
	if (!err)
		pipe->to[pipe->tos++] = (uint32_t)node;
	return err;
}

static const char *take_from(void *into, const char *text)
{
	struct pipe *pipe = into;

	pipe->attach.from = NULL;
	pipe->attach.want = strcmp(text, "oldest") ? 0 : SPINDLE_WANT_OLDEST;
	if (pipe->attach.want || !strcmp(text, "now"))
		return NULL;
	pipe->attach.from = &pipe->from;
	return ctl_num_parse(text, UINT64_MAX, false, &pipe->from.lsn) ?
	       "neither a position nor oldest or now" : NULL;
}

static const struct ctl_opt options[] = {
	{ .name = "node", .letter = 'n', .kind = CTL_OPT_NUM, AT(attach.node), .group = NODE,
	  .max = UINT32_MAX, .value = "ID", .help = "local node" },
	{ .name = "subgroup", .letter = 'g', .kind = CTL_OPT_TAKE, .take = take_subgroup,
	  .group = SUBGROUP, .value = "ID",
	  .help = "id or name of a subgroup of the node's view" },
	{ .name = "send-only", .letter = 's', .kind = CTL_OPT_FLAG, AT(send_only),
	  .help = "send; end when everything sent is delivered" },
	{ .name = "receive-only", .letter = 'r', .kind = CTL_OPT_FLAG, AT(receive_only),
	  .help = "receive; do not read stdin" },
	{ .name = "to", .letter = 't', .kind = CTL_OPT_TAKE, .take = take_to, .value = "ID",
	  .help = "send to this node only, or to several: -t ID -t ID" },
	{ .name = "copy", .letter = 'c', .kind = CTL_OPT_FLAG, AT(copy),
	  .help = "receive through a ring of our own: slow readers hold up\n"
		  "                           nobody until it is full" },
	{ .name = "from", .letter = 'f', .kind = CTL_OPT_TAKE, .take = take_from, .value = "LSN",
	  .help = "begin with the message of a position of the history;\n"
		  "                           oldest: its first one, now (default): the next one" },
	{ .name = "count", .letter = 'N', .kind = CTL_OPT_NUM, AT(count), .min = 1,
	  .max = UINT64_MAX, .value = "N", .help = "end after N deliveries" },
	{ .name = "quit-after-eof", .letter = 'e', .kind = CTL_OPT_FLAG, AT(quit_after_eof),
	  .help = "end when stdin has ended and all own messages came back" },
	{ .name = "null", .letter = '0', .kind = CTL_OPT_TAKE, .take = take_delimiter,
	  .help = "lines end with NUL instead of newline" },
	{ .name = "delimiter", .letter = 'd', .kind = CTL_OPT_TAKE, .take = take_delimiter,
	  .value = "CHAR", .help = "lines end with CHAR; \\0, \\n and \\t are understood" },
	{ .name = "raw", .letter = 'R', .kind = CTL_OPT_FLAG, AT(raw),
	  .help = "print the bytes only, without lsn and sender" },
	{ .name = "binary", .letter = 'b', .kind = CTL_OPT_FLAG, AT(binary),
	  .help = "length-prefixed records instead of lines" },
	{ .name = "quiet", .letter = 'q', .kind = CTL_OPT_FLAG, AT(quiet),
	  .help = "count deliveries, do not print them" },
	{ .name = "stats", .letter = 'S', .kind = CTL_OPT_FLAG, AT(stats),
	  .help = "print totals on stderr at the end" },
	{ .name = "views", .letter = 'w', .kind = CTL_OPT_FLAG, AT(views),
	  .help = "print on stderr the members, and each view that begins" },
	{ .name = "device", .letter = 'D', .kind = CTL_OPT_TEXT, AT(attach.device),
	  .value = "PATH", .help = "default " SPINDLE_DEVICE },
	{ .name = "help", .letter = 'h', .kind = CTL_OPT_HELP, .help = "this text" },
	{ .name = "version", .letter = 'V', .kind = CTL_OPT_VERSION, .help = "version" },
	{ .name = NULL }
};

static const struct ctl_opt_part part = { .opt = options, .groups = CTL_OPT_ALL };

static const struct ctl_command command = {
	.name = "spindle-pipe",
	.head = "Usage: spindle-pipe -n NODE -g SUBGROUP [OPTION]...\n"
		"Send lines of stdin to a subgroup, print its deliveries as \"lsn sender bytes\".\n",
	.tail = "\nExit status: 0 done, 1 the subgroup, the input or the output failed, 2 usage.",
	.wide = 24, .part = &part, .parts = 1,
};

/* Does reading begin in the past? Only --from has set what is wanted by now. */
static bool from_before(void)
{
	return p.attach.from || p.attach.want;
}

/* Check whether the options fit together. Return: NULL, or what is wrong. */
static const char *check(const char *const *given)
{
	if (!given[NODE] || !given[SUBGROUP])
		return "--node and --subgroup are needed";
	if (p.send_only && p.receive_only)
		return "--send-only and --receive-only exclude each other";
	if (p.send_only && (p.count || p.copy || p.views || from_before()))
		return "--count, --copy, --views and --from need deliveries, "
		       "but --send-only was given";
	if (p.tos && from_before())
		return "--to names members of the view that is read, and --from may be an old one";
	if (p.receive_only && p.tos)
		return "--to needs stdin, but --receive-only was given";
	if (p.receive_only && p.quit_after_eof)
		return "--quit-after-eof needs stdin, but --receive-only was given";
	return NULL;
}

static int parse(int argc, char **argv)
{
	const char *given[CTL_OPT_GROUPS] = { NULL };
	int rc = ctl_command_parse(&command, &p, argc, argv, given);
	const char *err = rc ? NULL : check(given);
	unsigned int i = 0;

	if (rc || err)
		return rc ? rc : ctl_command_usage(&command, "%s", err);
	p.to_others = p.tos;
	while (i < p.tos)
		p.to_others &= p.to[i++] != p.attach.node;
	p.attach.want |= p.views ? SPINDLE_WANT_VIEWS : 0;
	p.attach.flags = (p.receive_only ? 0 : SPINDLE_ATTACH_SEND) |
			 (p.send_only ? 0 : SPINDLE_ATTACH_RECV) |
			 (p.copy ? SPINDLE_ATTACH_COPY : 0);
	return CTL_OK;
}

static bool attach(void)
{
	int err = spindle_attach(&p.q, &p.attach);
	char text[256];
	size_t room;

	if (err) {
		complain("%s%s",
			 spindle_attach_strerror(&p.q, &p.attach, err, text, sizeof(text)),
			 p.q.step == SPINDLE_STEP_ATTACH && (err == -EPERM || err == -EBUSY) ?
			 " (option -r)" : "");
		return false;
	}
	room = 2 * ((size_t)spindle_max_msg(&p.q) + HEAD_BYTES);
	p.in.room = room > IN_BYTES ? room : IN_BYTES;
	p.out.room = room > OUT_BYTES ? room : OUT_BYTES;
	p.in.data = malloc(p.in.room);
	p.out.data = malloc(p.out.room);
	if (!p.in.data || !p.out.data) {
		complain("no memory for buffers of %zu bytes", p.in.room + p.out.room);
		return false;
	}
	p.earlier = sending() && spindle_drain(&p.q, 0);
	return true;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t block;
	int rc;

	ctl_program = command.name;
	rc = parse(argc, argv);
	if (rc)
		return ctl_flush(rc == CTL_OPT_SHOWN ? CTL_OK : rc);
	if (!attach())
		return p.status;
	own_output();
	/* Line buffering keeps the text about a view in one piece. */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	if (p.views)
		print_view();

	/*
	 * Unblock signals in ppoll() only. Otherwise a signal could arrive just before the sleep.
	 */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	run();
	sigprocmask(SIG_UNBLOCK, &block, NULL);
	finish();

	spindle_detach(&p.q);
	free(p.in.data);
	free(p.out.data);
	if (caught) {
		signal(caught, SIG_DFL);
		raise(caught);
	}
	return p.status;
}
