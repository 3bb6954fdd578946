// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device surface: processes that open, attach, map, write and exit in any order, and die at any
 * time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

#define DEVICE		"/dev/spindle"
#define LIFE_S		60	/* a life ends sooner, unless a call does not return */

bool not_alone;

static struct file files[FILES];
static int epfd;
static unsigned int children;
static bool may_fork;

/* A fault jumps here, because the process may touch memory that is gone. */
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t guarded;

static void on_fault(int sig)
{
	if (guarded)
		siglongjmp(back, 1);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* ---- files ------------------------------------------------------------- */

static struct file *any_file(bool attached)
{
	unsigned int i = below(FILES), n;

	for (n = 0; n < FILES; n++, i++) {
		struct file *f = &files[i % FILES];

		if (f->fd >= 0 && (!attached || f->attached))
			return f;
	}
	return NULL;
}

static void open_one(struct file *f)
{
	static const int flags[] = { O_RDWR, O_RDWR, O_RDWR | O_NONBLOCK, O_RDONLY, O_WRONLY };
	int fd;

	if (f->fd >= 0)
		return;
	if (one_in(8))
		starve();
	fd = open(DEVICE, flags[one_in(8) ? below(5) : 0] | O_CLOEXEC);
	feed();
	count(OP_OPEN, fd < 0 ? errno : 0);
	memset(f, 0, sizeof(*f));
	f->fd = fd;
}

/* The mappings may stay, because they hold the file. */
static void close_one(struct file *f)
{
	unsigned int i;

	for (i = 0; i < MAPS; i++) {
		if (f->map[i].at && !one_in(4))
			munmap(f->map[i].at, f->map[i].len);
	}
	close(f->fd);
	f->fd = -1;
	f->attached = false;
}

static uint32_t any_node(void)
{
	static const uint32_t others[] = { CHURN_FIRST, CHURN_FIRST + 1, CHURN_FIRST + 2,
					   CHURN_FIRST + 3, VICTIM, HIGH_PEER };

	return one_in(3) ? others[below(ARRAY_SIZE(others))] : 1 + below(BYSTANDERS);
}

static void spoil_args(struct spindle_attach *a)
{
	uint64_t v = odd();

	switch (below(6)) {
	case 0:
		a->size = one_in(2) ? sizeof(*a) + below(16) - 8 : v;
		break;
	case 1:
		a->flags = v;
		break;
	case 2:
		a->node = v;
		break;
	case 3:
		a->event_fd = one_in(2) ? (int)below(20) : (int)v;
		break;
	case 4:
		a->copy_bytes = v;
		break;
	case 5:	/* any word */
		((uint64_t *)a)[below(sizeof(*a) / 8)] = v;
		break;
	}
}

/* Only bystanders may send in the subgroup in which they check all messages. */
static void spare_bystanders(struct spindle_attach *a)
{
	if (a->subgroup == QUIET_SUBGROUP && a->node >= 1 && a->node <= BYSTANDERS)
		a->flags &= ~SPINDLE_ATTACH_SEND;
}

static enum op attach_op(uint32_t flags)
{
	return flags & SPINDLE_ATTACH_SEND ? OP_ATTACH_SEND :
	       flags & SPINDLE_ATTACH_COPY ? OP_ATTACH_COPY : OP_ATTACH_RECV;
}

static void attach(struct file *f)
{
	static const uint32_t roles[] = {
		SPINDLE_ATTACH_SEND, SPINDLE_ATTACH_RECV,
		SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV,
		SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_COPY,
		SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_COPY,
	};
	struct spindle_attach a = {
		.size = sizeof(a),
		.flags = roles[below(ARRAY_SIZE(roles))],
		.node = any_node(),
		.subgroup = 1 + below(one_in(4) ? 5 : 3),
		.event_fd = one_in(3) ? eventfd(0, EFD_NONBLOCK) : -1,
	};
	int efd = a.event_fd, err;
	bool odd_one = one_in(4);
	enum op op;

	if (!one_in(4))
		a.flags |= SPINDLE_ATTACH_HISTORY;
	if (a.flags & SPINDLE_ATTACH_COPY && one_in(2))
		a.copy_bytes = 4096ULL << below(6);
	if (odd_one)
		spoil_args(&a);
	spare_bystanders(&a);
	op = odd_one ? OP_ATTACH_ODD : attach_op(a.flags);
	if (one_in(5))
		starve();
	err = ioctl(f->fd, SPINDLE_IOC_ATTACH, &a) ? errno : 0;
	feed();
	count(op, err);
	if (efd >= 0)
		close(efd);
	if (err)
		return;
	f->attached = true;
	f->a = a;
	/* Map as a program would, so that there is memory to spoil. */
	if (!one_in(5)) {
		map_whole(f, CTL);
		map_whole(f, USR);
		map_whole(f, TX);
		map_whole(f, DLV);
	}
}

/* Pass an argument that is not mapped, or only half mapped. */
static void attach_nowhere(struct file *f)
{
	unsigned char *two = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct spindle_attach *a;

	if (two == MAP_FAILED)
		return;
	a = (void *)(two + PAGE - below(sizeof(*a) / 8) * 8);
	/* The flags are 0, so the attach cannot succeed. */
	a->size = sizeof(*a);
	mprotect(two + PAGE, PAGE, one_in(2) ? PROT_NONE : PROT_READ);
	count(OP_ATTACH_ODD, ioctl(f->fd, SPINDLE_IOC_ATTACH, a) ? errno : 0);
	munmap(two, 2 * PAGE);
}

/* ---- calls ------------------------------------------------------------- */

static void members(struct file *f)
{
	struct spindle_member m[SPINDLE_MAX_MEMBERS];
	struct spindle_members arg = {
		.count = one_in(2) ? ARRAY_SIZE(m) : odd(),
		.resv = one_in(8) ? odd() : 0,
		.ptr = one_in(4) ? odd() : (uintptr_t)m,
	};
	int err = ioctl(f->fd, SPINDLE_IOC_MEMBERS, one_in(10) ? NULL : &arg) ? errno : 0;

	count(OP_MEMBERS, err);
	if (!err && (arg.count < 1 || arg.count > SPINDLE_MAX_MEMBERS))
		broken("a subgroup of %u members", arg.count);
}

static void silence(struct file *f)
{
	uint64_t rounds = one_in(2) ? below(64) : odd();
	bool there = !one_in(8);
	int err = ioctl(f->fd, SPINDLE_IOC_SILENCE, there ? &rounds : (void *)rnd()) ? errno : 0;

	count(OP_SILENCE, err);
	if (!err && there && rounds > SPINDLE_MAX_ROUNDS)
		broken("silence of %llu rounds", (unsigned long long)rounds);
	if (!err && f->attached && !(f->a.flags & SPINDLE_ATTACH_SEND))
		broken("silence of an attachment that does not send");
}

/* Put messages in front of a history. Most of them would be right. */
static void fill(struct file *f)
{
	struct spindle_seat seat[3] = {
		{ .node = 1 }, { .node = 2, .sender_rank = 1 }, { .node = 3, .sender_rank = 2 },
	};
	unsigned char data[8 * 64] = { 0 };
	struct spindle_dlv dlv[8] = { 0 };
	struct spindle_fill arg = {
		.lineage = { f->a.lineage[0], f->a.lineage[1] }, .era = f->a.era,
		.lsn = f->a.oldest, .seats = (uintptr_t)seat, .dlv = (uintptr_t)dlv,
		.data = (uintptr_t)data, .members = 3, .count = 1 + below(8),
		.bytes = sizeof(data),
	};
	uint32_t i;
	int err;

	if (one_in(2)) {
		arg.vid = f->a.vid;
		arg.before = f->a.vid - 1;
	}
	for (i = 0; i < arg.count; i++)
		dlv[i] = (struct spindle_dlv){
			.lsn = arg.lsn - arg.count + i, .offset = i * 64, .len = below(65),
			.sender = below(3),
		};
	if (one_in(3))
		((uint64_t *)&arg)[below(sizeof(arg) / 8)] = odd();
	if (one_in(3))
		((uint64_t *)dlv)[below(sizeof(dlv) / 8)] = odd();
	if (one_in(3))
		((uint64_t *)seat)[below(sizeof(seat) / 8)] = odd();
	err = ioctl(f->fd, SPINDLE_IOC_FILL, one_in(10) ? NULL : &arg) ? errno : 0;
	count(OP_FILL, err);
	if (!err && f->attached && !(f->a.features & SPINDLE_FEAT_HISTORY))
		broken("messages in front of no history");
}

static void odd_ioctl(struct file *f)
{
	unsigned char buf[512] = { 0 };
	unsigned int cmd = one_in(2) ? _IOC(below(4), SPINDLE_IOC_MAGIC, 1 + below(4), below(512)) :
				       (unsigned int)rnd();

	/* The attach has its own function, which spares the bystanders. */
	if (cmd != SPINDLE_IOC_ATTACH)
		count(OP_IOCTL_ODD, ioctl(f->fd, cmd, one_in(4) ? (void *)rnd() : buf) ? errno : 0);
}

static void poll_some(struct file *f)
{
	struct pollfd p = { .fd = f->fd, .events = one_in(4) ? rnd() : POLLIN | POLLOUT };
	struct epoll_event e = { .events = one_in(2) ? EPOLLIN | EPOLLET : (uint32_t)rnd() };
	int err = 0;

	switch (below(4)) {
	case 0:
		err = epoll_ctl(epfd, EPOLL_CTL_ADD, f->fd, &e);
		break;
	case 1:
		err = epoll_ctl(epfd, EPOLL_CTL_DEL, f->fd, &e);
		break;
	case 2:
		err = epoll_wait(epfd, &e, 1, below(4));
		break;
	case 3:
		err = poll(&p, 1, below(12));
		break;
	}
	count(OP_POLL, err < 0 ? errno : 0);
}

/* Send a descriptor in a message that no process receives. */
static void send_away(int fd)
{
	char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 }, c = 0;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = room, .msg_controllen = sizeof(room),
	};
	struct cmsghdr *h = CMSG_FIRSTHDR(&msg);
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return;
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	count(OP_FILE_ODD, sendmsg(pair[0], &msg, MSG_NOSIGNAL) < 0 ? errno : 0);
	close(pair[0]);
	close(pair[1]);
}

static void odd_call(struct file *f)
{
	char buf[64] = "";
	long n = 0;
	int other;

	switch (below(8)) {
	case 0:
		n = read(f->fd, buf, sizeof(buf));
		break;
	case 1:
		n = pwrite(f->fd, buf, sizeof(buf), odd() >> 1);
		break;
	case 2:
		n = lseek(f->fd, odd(), SEEK_SET);
		break;
	case 3:
		n = ftruncate(f->fd, odd() >> 1);
		break;
	case 4:
		n = sendfile(epfd, f->fd, NULL, 100);
		break;
	case 5:
		n = fcntl(f->fd, F_SETFL, rnd());
		break;
	case 6:
		other = dup(f->fd);
		n = other < 0 ? -1 : close(other);
		break;
	case 7:
		send_away(f->fd);
		return;
	}
	count(OP_FILE_ODD, n < 0 ? errno : 0);
}

/* ---- a life ------------------------------------------------------------ */

static void act(bool child);

/* A child has the files, and not the mappings. */
static void fork_one(void)
{
	unsigned int n = below(8);
	pid_t pid;

	if (children >= 3 || !may_fork)
		return;
	pid = fork();
	if (pid > 0)
		children++;
	if (pid)
		return;
	alarm(LIFE_S);
	rng = rnd();
	not_alone = true;
	for (unsigned int i = 0; i < FILES; i++)
		memset(files[i].map, 0, sizeof(files[i].map));
	while (n--)
		act(true);
	_exit(0);
}

/* Act on the rings, mostly as a correct process does. */
static void act_on_ring(struct file *f)
{
	struct pollfd p = { .fd = f->fd, .events = POLLIN };
	unsigned int i, n = 1 + below(24);

	for (i = 0; i < n && !f->frozen; i++) {
		ring_look(f);
		if (one_in(2))
			ring_commit(f, !one_in(16));
		else
			ring_consume(f, !one_in(20));
		/* Let the engine run, because otherwise no message is sent or delivered. */
		if (one_in(4))
			poll(&p, 1, 5);
	}
	if (one_in(20))
		ring_scribble(f);
	/* Wait until the kernel detaches the reader, if there is a limit. */
	if (one_in(8))
		usleep(60000);
	ring_look(f);
	/* A frozen attachment has no further use. */
	if (f->frozen && one_in(2))
		close_one(f);
}

static void act_on_file(struct file *f, bool child)
{
	uint32_t p = below(100);

	if (!f->attached && p < 60)
		attach(f);
	else if (p < 44 && !child)
		act_on_ring(f);
	else if (p < 58)
		map_any(f);
	else if (p < 66)
		map_whole(f, below(PARTS));
	else if (p < 74)
		map_odd(f);
	else if (p < 77)
		close_one(f);
	else if (p < 78)
		members(f);
	else if (p < 80)
		fill(f);
	else if (p < 83)
		odd_ioctl(f);
	else if (p < 85)
		count(OP_KICK, ioctl(f->fd, SPINDLE_IOC_KICK) ? errno : 0);
	else if (p < 88)
		silence(f);
	else if (p < 93)
		poll_some(f);
	else if (p < 95)
		odd_call(f);
	else if (p < 97)
		attach_nowhere(f);
	else if (p < 98)
		attach(f);
	else if (!child)
		fork_one();
}

/* @f: NULL: files of the device of tables. */
static void act_guarded(struct file *f, bool child)
{
	guarded = 1;
	if (!sigsetjmp(back, 0)) {
		if (f)
			act_on_file(f, child);
		else
			table_act();
	}
	guarded = 0;
}

static void act(bool child)
{
	bool table = !child && one_in(12);
	struct file *f = table ? NULL : any_file(!one_in(4));

	if (!table && (!f || one_in(12))) {
		open_one(&files[below(FILES)]);
		return;
	}
	act_guarded(f, child);
	feed();
}

/* Words that change while the kernel looks at them. */
static void *scribbler(void *arg)
{
	/* The variable is static, because it must survive the jump. */
	static unsigned int n = 200;

	(void)arg;
	while (n--) {
		struct file *f = &files[n % FILES];

		guarded = 1;
		if (!sigsetjmp(back, 0) && f->attached && n % 8 == 0)
			ring_scribble(f);
		guarded = 0;
		sched_yield();
	}
	return NULL;
}

void device_life(unsigned int acts, bool forks)
{
	struct sigaction sa = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	pthread_t thread;
	bool other = one_in(4);
	unsigned int i;

	may_fork = forks;
	/* The parent reports a call that never returns. */
	alarm(LIFE_S);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; i < FILES; i++)
		files[i].fd = -1;
	for (i = 0; i < 2; i++)
		open_one(&files[i]);
	while (acts--) {
		if (other && acts == 20) {
			not_alone = true;
			if (pthread_create(&thread, NULL, scribbler, NULL))
				broken("no thread");
		}
		act(false);
	}
	for (i = 0; i < FILES; i++)
		if (files[i].fd >= 0 && one_in(2))
			close_one(&files[i]);
}

/* Run one life after the other, and cut some short. */
void fuzz_device(unsigned int lives)
{
	while (lives--) {
		uint64_t seed = rnd();
		unsigned int cut = one_in(3) ? 1 + below(60) : 0;
		int status;
		pid_t pid = fork();

		if (pid < 0) {
			broken("fork: %s", strerror(errno));
			return;
		}
		if (!pid) {
			rng = seed;
			/*
			 * UML 6.12 crashes if a process is killed during fork(): flush_tlb_mm()
			 * takes the marker of the missing rest for a vma. So lives that are cut
			 * short do not fork.
			 */
			device_life(20 + below(120), !cut);
			_exit(0);
		}
		if (cut) {
			struct timespec ts = { .tv_nsec = cut * 10 * 1000000L };

			nanosleep(&ts, NULL);
			kill(pid, SIGKILL);
		}
		waitpid(pid, &status, 0);
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
			broken("a process needed more than %d s", LIFE_S);
		count(OP_LIFE, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	}
}
