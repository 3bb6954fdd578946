// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-logd fetches snapshots that its log lacks: from a peer that has them, after a crash, and
 * from peers that lie. A log that nobody can go on with skips to where a snapshot begins. Logs and
 * snapshots are in real directories, and a liar is another process with the key.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "logd_others.h"
#include "tap.h"

#define OLDEST		900U
#define NEXT		1000U
/* Bytes of a state: more than two replies. */
#define STATE		600000U

static uint64_t oldest, attached;

/* ---- what the rest of spindle-logd does ------------------------------------------ */

bool logd_attach(struct logd *l, const struct spindle_place *from)
{
	l->q.next = NEXT;
	if (from->lsn < oldest)
		return logd_catch_up(l, oldest) && false;
	attached = from->lsn;
	return true;
}

bool logd_begin_reading(struct logd *l, bool next)
{
	(void)next;
	l->reading = true;
	return true;
}

/* ---- snapshots -------------------------------------------------------------------- */

static uint8_t state[STATE];

static void fill_state(void)
{
	uint32_t i;

	for (i = 0; i < STATE; i++)
		state[i] = (uint8_t)(i * 7 + i / 251);
}

static struct spindle_dlog_snapshot head_of(uint64_t lsn)
{
	return (struct spindle_dlog_snapshot){
		.at = { .lineage = "lineage", .era = STORE_ERA, .lsn = lsn },
		.subgroup = STORE_SUBGROUP, .bytes = STATE,
		.body = spindle_dlog_crc(0, state, STATE),
	};
}

/* A file with a head and a state, as a program leaves it. */
static void put_snapshot(const struct store *s, const char *name,
			 const struct spindle_dlog_snapshot *st)
{
	struct spindle_dlog_snapshot_disk head;
	char file[SPINDLE_DLOG_SNAP_FILE];
	int fd;

	spindle_dlog_snapshot_file(name, st->at.lsn, file);
	spindle_dlog_snapshot_build(&head, st);
	fd = openat(s->io.dir, file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, &head, sizeof(head)) != (ssize_t)sizeof(head) ||
	    write(fd, state, st->bytes) != (ssize_t)st->bytes)
		bail_out("no snapshot");
	close(fd);
}

static void make_snapshot(const struct store *s, const char *name, uint64_t lsn)
{
	struct spindle_dlog_snapshot st = head_of(lsn);

	put_snapshot(s, name, &st);
}

static void remove_snapshot(const struct store *s, const char *name, uint64_t lsn)
{
	char file[SPINDLE_DLOG_SNAP_FILE];

	spindle_dlog_snapshot_file(name, lsn, file);
	unlinkat(s->io.dir, file, 0);
}

/* Has the own directory this snapshot, with the bytes that a peer has? */
static bool has_snapshot(const char *name, uint64_t lsn)
{
	static uint8_t have[STATE + SPINDLE_DLOG_SNAP_HEAD + 1];
	struct spindle_dlog_snapshot st = head_of(lsn);
	struct spindle_dlog_snapshot_disk head;
	char file[SPINDLE_DLOG_SNAP_FILE];
	ssize_t n;
	int fd;

	spindle_dlog_snapshot_file(name, lsn, file);
	spindle_dlog_snapshot_build(&head, &st);
	fd = openat(own.io.dir, file, O_RDONLY);
	if (fd < 0)
		return false;
	n = read(fd, have, sizeof(have));
	close(fd);
	return n == (ssize_t)sizeof(have) - 1 && !memcmp(have, &head, sizeof(head)) &&
	       !memcmp(have + sizeof(head), state, STATE);
}

/* Bytes of all snapshots of the own directory; nothing else is left there. */
static uint64_t snapshot_bytes(void)
{
	CHECK(faccessat(own.io.dir, LOGD_LOAD_FILE, F_OK, 0) && errno == ENOENT);
	return logd_snap_bytes(own.io.dir);
}

/* ---- the world -------------------------------------------------------------------- */

static void make_other(struct other *o, uint32_t node, uint64_t low, uint64_t end)
{
	if (!store_make(&o->store, low))
		bail_out("no directory");
	store_write(&o->store, end);
	other_serve(o, node);
}

/* The own log, with messages up to a position. */
static void make_world(uint64_t low, uint64_t end)
{
	memset(&logd, 0, sizeof(logd));
	opts = (struct logd_opts){ .wait = LOGD_FOR_EVER, .snap_most = LOGD_SNAP_MOST };
	peers = (struct logd_peers){ .on = true, .node = 9, .server.id = other_id(9, OTHERS_KEY) };
	oldest = OLDEST;
	attached = 0;
	forget_said();
	if (!store_make(&own, low))
		bail_out("no directory");
	store_write(&own, end);
	logd.opts = &opts;
	logd.peers = &peers;
	logd.role = true;
	logd.attach.subgroup = STORE_SUBGROUP;
	logd.q.subgroup = STORE_SUBGROUP;
	logd.q.next = NEXT;
	logd.era = STORE_ERA;
	logd.max_msg = STORE_LONGEST;
	logd.io = own.io;
	logd.scan.id = own.log.id;
	logd.log = own.log;
}

static void op_done(void *arg, uint32_t token, int err)
{
	struct logd *l = arg;

	CHECK_EQ(err, 0);
	l->blocked = false;
	spindle_dlog_done(&l->log, token, err);
}

static void work(struct logd *l)
{
	logd_catch_work(l);
	spindle_dlog_commit(&l->log, 1);
}

static const struct others_work catches = {
	.poll = logd_catch_poll, .done = op_done, .work = work,
};

/* Until the log reads the history, or has said these words. */
static void run_until(const char *words)
{
	uint64_t begun = peer_now_ms();

	logd_catch_up(&logd, oldest);
	while (!logd.reading && !logd.failed && !(words && strstr(said, words))) {
		if (peer_now_ms() - begun > 60000)
			bail_out("the test does not end");
		others_turn(OTHERS, &catches);
	}
}

/* The log is whole from its beginning on, also for a scan. */
static void end_world(uint64_t low, uint64_t next)
{
	struct pollfd fd = { .fd = own.io.event, .events = POLLIN };

	logd_catch_end(&logd);
	while (!logd.log.opened || logd.log.persisted != logd.log.next) {
		spindle_dlog_commit(&logd.log, 1);
		poll(&fd, 1, 10);
		logd_port_reap(&own.io, op_done, &logd);
	}
	own.log = logd.log;
	CHECK_EQ(own.log.next, next);
	CHECK_EQ(store_right(&own), next);
	store_close(&own);
	CHECK(store_open(&own, 0));
	CHECK(own.scan.map.low == low && own.scan.next == next && !own.scan.n_damaged);
	store_settle(&own);
	store_remove(&own);
}

/* ---- honest peers ------------------------------------------------------------------ */

/* other[0] has 500 to 1000, and snapshots of two programs. */
static void honest(void)
{
	make_world(500, OLDEST);
	make_snapshot(&other[0].store, "b", 700);
	other_place(1, &other[0].addr);
	run_until(NULL);
	CHECK(logd.reading && attached == OLDEST);
	CHECK(has_snapshot("a", 800) && has_snapshot("b", 700) && !has_snapshot("a", 600));
	CHECK(has_said("a snapshot of a at position 800 comes from node 1: 600000 bytes\n"));
	CHECK_EQ(snapshot_bytes(), 2 * (STATE + SPINDLE_DLOG_SNAP_HEAD));
	remove_snapshot(&other[0].store, "b", 700);
	end_world(500, OLDEST);
}

/* Systemd hears how far the work is. */
static void progress(void)
{
	static const char path[] = "@spindle-logd-load-test";
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	unsigned int messages = 0, snapshots = 0, ends = 0;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char got[256];
	ssize_t n;

	memcpy(addr.sun_path + 1, path + 1, sizeof(path) - 2);
	if (bind(fd, (struct sockaddr *)&addr,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(path) - 1)))
		bail_out("no socket");
	setenv("NOTIFY_SOCKET", path, 1);
	make_world(500, 510);
	logd.progress.title = "the log";
	other_place(1, &other[0].addr);
	run_until(NULL);
	unsetenv("NOTIFY_SOCKET");
	while ((n = recv(fd, got, sizeof(got) - 1, 0)) > 0) {
		got[n] = '\0';
		messages += !strncmp(got, "STATUS=the log fetches messages: ", 33);
		snapshots += !strncmp(got, "STATUS=the log fetches a snapshot: ", 35);
		ends += !strcmp(got, "STATUS=");
	}
	CHECK(messages && snapshots && ends == 1);
	close(fd);
	end_world(500, logd.log.next);
}

/* What the log misses comes first, and the snapshot in front of the attachment. */
static void messages_first(void)
{
	make_world(500, 510);
	other_place(1, &other[0].addr);
	run_until(NULL);
	CHECK(logd.reading && attached >= OLDEST && has_snapshot("a", 800));
	end_world(500, logd.log.next);
}

static void nothing_missing(void)
{
	struct sockaddr_in none = other[0].addr;

	none.sin_port = htons(1);
	make_world(500, OLDEST);
	make_snapshot(&own, "own", 500);
	other_place(7, &none);
	run_until(NULL);
	CHECK(logd.reading && snapshot_bytes() == STATE + SPINDLE_DLOG_SNAP_HEAD);
	CHECK(!strstr(said, "node 7"));
	end_world(500, OLDEST);
	/* A log that begins with position 0 needs no snapshot. */
	make_world(0, OLDEST);
	other_place(7, &none);
	run_until(NULL);
	CHECK(logd.reading && !snapshot_bytes() && !strstr(said, "node 7"));
	end_world(0, OLDEST);
	/* A subgroup without logs needs none, either. */
	make_world(500, OLDEST);
	logd.role = false;
	other_place(7, &none);
	run_until(NULL);
	CHECK(logd.reading && !snapshot_bytes() && !strstr(said, "node 7"));
	end_world(500, OLDEST);
}

/* Another program has its snapshot, and the one of this program does not check. */
static void damaged(void)
{
	struct spindle_dlog_snapshot st = head_of(800);

	make_world(500, OLDEST);
	make_snapshot(&own, "own", 600);
	st.bytes = 10;
	put_snapshot(&own, "a", &st);
	CHECK(!ftruncate(openat(own.io.dir, "snap.a.0000000000000320", O_RDWR), 70));
	other_place(1, &other[0].addr);
	run_until(NULL);
	CHECK(logd.reading && has_snapshot("a", 800) && has_snapshot("own", 600));
	end_world(500, OLDEST);
}

/* A file that checks is of another group, and nobody but the administrator removes it. */
static void another_group(void)
{
	struct spindle_dlog_snapshot st = head_of(800);
	struct stat info;

	make_world(500, OLDEST);
	strcpy((char *)st.at.lineage, "former");
	st.bytes = 10;
	put_snapshot(&own, "a", &st);
	other_place(1, &other[0].addr);
	run_until(NULL);
	CHECK(logd.reading && has_said("the log begins with position 500, and a program may lack a "
				       "snapshot: node 1: its snapshot cannot be kept: File"));
	CHECK(!fstatat(own.io.dir, "snap.a.0000000000000320", &info, 0) &&
	      info.st_size == 10 + (off_t)SPINDLE_DLOG_SNAP_HEAD);
	end_world(500, OLDEST);
}

static void crash(void)
{
	make_world(500, OLDEST);
	other_place(1, &other[0].addr);
	logd_catch_up(&logd, oldest);
	while (!logd.catch.load.bytes)
		others_turn(OTHERS, &catches);
	CHECK(!faccessat(own.io.dir, LOGD_LOAD_FILE, F_OK, 0));
	/* The process is gone, and leaves its file. */
	close(logd.catch.load.fd);
	logd.catch.load.step = LOGD_LOAD_OFF;
	logd_catch_end(&logd);
	memset(&logd.catch, 0, sizeof(logd.catch));
	run_until(NULL);
	CHECK(logd.reading && has_snapshot("a", 800));
	CHECK_EQ(snapshot_bytes(), STATE + SPINDLE_DLOG_SNAP_HEAD);
	end_world(500, OLDEST);
}

static void limit(void)
{
	make_world(500, OLDEST);
	opts.snap_most = STATE + SPINDLE_DLOG_SNAP_HEAD - 1;
	other_place(1, &other[0].addr);
	run_until(NULL);
	CHECK(logd.reading && !snapshot_bytes());
	CHECK(has_said("node 1: its snapshot is longer than the limit allows (option -m)"));
	end_world(500, OLDEST);
	/* Those of before count, too, whatever they are. */
	make_world(500, OLDEST);
	make_snapshot(&own, "b", 400);
	opts.snap_most = 2 * (STATE + SPINDLE_DLOG_SNAP_HEAD) - 1;
	other_place(1, &other[0].addr);
	run_until(NULL);
	CHECK(logd.reading && !has_snapshot("a", 800) && has_snapshot("b", 400));
	end_world(500, OLDEST);
}

/* ---- a log that nobody can go on with ---------------------------------------------- */

static void skips(void)
{
	make_world(0, 100);
	other_place(1, &other[0].addr);
	other_place(2, &other[1].addr);
	run_until(NULL);
	CHECK(logd.reading && attached >= OLDEST && has_snapshot("a", 800));
	CHECK(has_said("positions 100 to 499 are in no log any more, and a snapshot has what"));
	end_world(500, logd.log.next);
}

/* A peer that cannot be asked may have the messages. */
static void waits_for_peer(void)
{
	struct sockaddr_in none = other[0].addr;

	none.sin_port = htons(1);
	make_world(0, 100);
	other_place(1, &other[0].addr);
	other_place(7, &none);
	run_until("are missing");
	CHECK(!logd.reading && !snapshot_bytes() && logd.log.next == 100);
	end_world(0, 100);
}

static void waits_for_snapshot(void)
{
	make_world(0, 100);
	other_place(2, &other[1].addr);
	run_until("are missing");
	CHECK(!logd.reading && logd.log.next == 100);
	CHECK(has_said("positions 100 to 899 are missing: node 2: it has no snapshot\n"));
	opts.wait = 0;
	run_until(NULL);
	CHECK(logd.failed && logd.log.next == 100 && !snapshot_bytes());
	end_world(0, 100);
}

/* ---- liars ------------------------------------------------------------------------- */

enum lie {
	TRUTH, BODY, HEAD, LINEAGE, SUBGROUP, ERA, OLD_ERA, BELOW, BEYOND, FOREVER, LONG, HUGE_LONG,
	PATH, UPPER, NO_NAME, NO_END, BACK, PROGRAMS, CODE, STOPS, SHORT, MORE, OFFSET, EMPTY,
	COUNT, UNREAD, TYPE, MAC, LIES
};

static const char *const lie_name[] = {
	"the truth", "another checksum", "a wrong head", "another lineage", "another subgroup",
	"a later era", "an earlier era at the first position", "in front of the log",
	"behind the end of the subgroup", "the last position", "longer than it is",
	"an impossible length", "a path", "a capital letter", "no name", "bytes behind the name",
	"the same program again", "programs without end", "an unknown code",
	"it stops in the middle", "half a reply", "more than was asked for", "another offset",
	"no bytes", "a wrong count", "it cannot read", "an unknown type", "a wrong MAC",
};

static void send_all(int fd, const uint8_t *buf, size_t len)
{
	if (send(fd, buf, len, MSG_NOSIGNAL) != (ssize_t)len)
		_exit(0);
}

static void recv_all(int fd, uint8_t *buf, size_t len)
{
	if (recv(fd, buf, len, MSG_WAITALL) != (ssize_t)len)
		_exit(0);
}

/* The next request. Return: its type, with the payload at @p. */
static uint32_t hear(int fd, struct peer_session *s, uint8_t *p)
{
	uint8_t buf[PEER_HELLO];
	uint32_t len, type;

	recv_all(fd, buf, PEER_HEAD);
	len = (uint32_t)peer_get(buf, 4);
	recv_all(fd, buf + PEER_HEAD, len + PEER_MAC);
	if (peer_unseal(&s->up, buf, sizeof(buf), PEER_STATUS_REQ, &type, &len) <= 0)
		_exit(1);
	memcpy(p, buf + PEER_HEAD, len);
	return type;
}

static void twist_head(struct spindle_dlog_snapshot *st, enum lie lie)
{
	switch (lie) {
	case BODY: st->body++; break;
	case LINEAGE: st->at.lineage[0]++; break;
	case SUBGROUP: st->subgroup++; break;
	case ERA: st->at.era++; break;
	case OLD_ERA: st->at.era--; st->at.lsn = 500; break;
	case BELOW: st->at.lsn = 499; break;
	case BEYOND: st->at.lsn = NEXT + 1; break;
	case FOREVER: st->at.lsn = UINT64_MAX; break;
	case LONG: st->bytes++; break;
	case HUGE_LONG: st->bytes = 1ULL << 62; break;
	default: break;
	}
}

static uint32_t lie_offer(uint8_t *p, enum lie lie, const char *after)
{
	static const char *const name[LIES] = {
		[PATH] = "../../evil", [UPPER] = "A", [NO_NAME] = "",
	};
	struct peer_offer o = { .code = *after ? PEER_END : PEER_OK, .st = head_of(800) };

	strcpy(o.name, name[lie] ? name[lie] : "evil");
	if (lie == PROGRAMS) {
		/* None of these is wanted, because it is in front of the log. */
		o.code = PEER_OK;
		o.st.at.lsn = 1;
		snprintf(o.name, sizeof(o.name), "p%u", *after ? (unsigned int)atoi(after + 1) + 1 :
			 100);
	}
	if (lie == BACK)
		o.code = PEER_OK;
	if (lie == CODE)
		o.code = PEER_CODES;
	twist_head(&o.st, lie);
	peer_offer_put(p, &o);
	p[8 + PEER_NAME - 1] = lie == NO_END ? 'x' : p[8 + PEER_NAME - 1];
	p[8 + PEER_NAME + 40] ^= lie == HEAD;
	return PEER_OFFER;
}

static uint32_t lie_piece(uint8_t *p, enum lie lie, const struct peer_load_req *req)
{
	struct peer_piece d = { .from = req->from + (lie == OFFSET), .count = req->max };

	if (lie == STOPS && req->from)
		_exit(0);
	/* The limit of the length has stopped any other one. */
	if (req->from + req->max > STATE)
		d.count = (uint32_t)(STATE - req->from);
	if (!d.count || lie == EMPTY)
		d.count = 0;
	memcpy(p + PEER_PIECE_HEAD, state + req->from, d.count);
	if (lie == MORE) {
		memset(p + PEER_PIECE_HEAD + d.count, 0, 8);
		d.count += req->from + req->max == STATE ? 8 : 0;
	}
	if (lie == UNREAD)
		d = (struct peer_piece){ .code = PEER_DAMAGED, .from = d.from };
	peer_piece_put(p, &d);
	if (lie == COUNT)
		peer_put(p + 4, d.count + 1, 4);
	return PEER_PIECE_HEAD + d.count - (lie == SHORT && d.count ? 9 : 0);
}

static uint32_t answer(uint8_t *p, enum lie lie, uint32_t type, const uint8_t *req, uint32_t *as)
{
	struct peer_status st = { .low = 500, .end = NEXT, .era = STORE_ERA, .vid = 1 };
	struct peer_load_req load;
	char after[PEER_NAME + 1];

	if (type == PEER_STATUS) {
		*as = PEER_STATUS_IS;
		peer_status_put(p, &st);
		return PEER_STATUS_REP;
	}
	if (type == PEER_FIND) {
		if (!peer_find_get(req, PEER_NAME, after))
			_exit(1);
		*as = PEER_FOUND;
		return lie_offer(p, lie, after);
	}
	if (type != PEER_LOAD || !peer_load_req_get(req, PEER_LOAD_REQ, &load))
		_exit(1);
	*as = lie == TYPE ? 99 : PEER_PIECE;
	return lie_piece(p, lie, &load);
}

/* Serve one client, and then no other one. */
static void liar(int listener, enum lie lie)
{
	uint8_t nonce[PEER_NONCE] = { 1 }, hello[PEER_HELLO], req[PEER_STATUS_REQ];
	struct peer_id id = other_id(3, OTHERS_KEY);
	static uint8_t buf[PEER_FRAME + 64];
	struct peer_session s;
	uint32_t len, as = 0, n;
	int fd;

	while ((fd = accept(listener, NULL, NULL)) < 0)
		if (errno != EAGAIN && errno != EINTR)
			_exit(1);
	fcntl(fd, F_SETFL, 0);
	send_all(fd, nonce, sizeof(nonce));
	recv_all(fd, hello, sizeof(hello));
	if (!peer_hello_check(hello, &id, nonce, &s))
		_exit(1);
	send_all(fd, s.proof, sizeof(s.proof));
	for (;;) {
		len = hear(fd, &s, req);
		len = answer(buf + PEER_HEAD, lie, len, req, &as);
		n = peer_seal(&s.down, buf, as, len);
		buf[n - 1] ^= lie == MAC && as == PEER_PIECE;
		send_all(fd, buf, n);
	}
}

static pid_t begin_liar(enum lie lie)
{
	struct sockaddr_in addr;
	int fd = other_socket(&addr);
	pid_t pid;

	fcntl(fd, F_SETFL, 0);
	fflush(stdout);
	pid = fork();
	if (!pid)
		liar(fd, lie);
	close(fd);
	other_place(3, &addr);
	return pid;
}

static void meet(enum lie lie)
{
	pid_t pid;

	make_world(500, OLDEST);
	pid = begin_liar(lie);
	run_until(NULL);
	/* A program without its snapshot asks others. */
	CHECK(logd.reading && attached == OLDEST);
	/* The first one of a peer that names a program twice is right. */
	if (lie == TRUTH || lie == BACK)
		CHECK(has_snapshot("evil", 800));
	else if (!CHECK_EQ(snapshot_bytes(), 0))
		printf("# %s: %s", lie_name[lie], said);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	end_world(500, OLDEST);
}

static void liars(void)
{
	unsigned int lie;

	for (lie = TRUTH; lie < LIES; lie++)
		meet(lie);
}

static void liar_and_friend(void)
{
	pid_t pid;

	make_world(500, OLDEST);
	pid = begin_liar(BODY);
	other_place(1, &other[0].addr);
	run_until(NULL);
	CHECK(logd.reading && has_snapshot("a", 800));
	CHECK_EQ(snapshot_bytes(), STATE + SPINDLE_DLOG_SNAP_HEAD);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	end_world(500, OLDEST);
}

/* A liar has false bytes and an honest peer the messages: nothing is given up. */
static void liar_and_messages(void)
{
	pid_t pid;

	make_world(500, 510);
	pid = begin_liar(BEYOND);
	other_place(1, &other[0].addr);
	run_until(NULL);
	CHECK(logd.reading && has_snapshot("a", 800) && !strstr(said, "in no log any more"));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	end_world(500, logd.log.next);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a log gets the newest snapshot of each program", honest },
		{ "its messages come first", messages_first },
		{ "systemd hears how far the work is", progress },
		{ "nobody is asked if nothing is missing", nothing_missing },
		{ "a snapshot that does not check is replaced", damaged },
		{ "one of another group stays", another_group },
		{ "a process that dies in between begins again", crash },
		{ "the limit counts all snapshots of the directory", limit },
		{ "a log that nobody can go on with skips to a snapshot", skips },
		{ "it waits for a peer that may have the messages", waits_for_peer },
		{ "it waits while nobody has a snapshot", waits_for_snapshot },
		{ "lies bring nothing into the directory", liars },
		{ "behind a liar an honest peer has the snapshot", liar_and_friend },
		{ "a liar does not make the log give up messages", liar_and_messages },
	};
	int rc;

	fill_state();
	make_other(&other[0], 1, 500, NEXT);
	make_other(&other[1], 2, 600, NEXT);
	make_snapshot(&other[0].store, "a", 600);
	make_snapshot(&other[0].store, "a", 800);
	rc = tap_run(cases, ARRAY_SIZE(cases));
	other_drop(&other[0]);
	other_drop(&other[1]);
	return rc;
}
