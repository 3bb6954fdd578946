// SPDX-License-Identifier: GPL-2.0-only
/*
 * PID 1 of the test guests.
 *
 * The program mounts the file systems that tests need, loads the few modules of the verdict
 * channel, runs one script, and reports. The verdict goes over its own virtio-serial port, never
 * over the console. So a kernel message in the middle of a test line, or a guest that dies, cannot
 * be taken for a result.
 *
 * The binary has a second name, "limit": limit SECONDS COMMAND... runs a command in its own process
 * group. If the command takes too long, the kernel logs every blocked task, and then "limit" kills
 * the group.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT_NAME	"org.spindle.verdict"
#define CONF_FILE	"/etc/vm.conf"
#define MODULE_LIST	"/etc/modules.boot"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define DUMP_START	"vm: dump start"
#define DUMP_END	"vm: dump end"

#define MAX_ARGS	64
#define SPLAT_LINES	60

/* Exit codes of our own, apart from those that tests use. */
#define EXIT_TIMEOUT	124
#define EXIT_SPLAT	97
#define EXIT_INIT	98

/* Bits of /proc/sys/kernel/tainted that mean the kernel complained. */
#define TAINT_BAD	((1UL << 4) | (1UL << 5) | (1UL << 7) | (1UL << 9) | \
			 (1UL << 14))

static int verdict = -1;

/* Texts in the kernel log that make the run a failure. */
static const char * const splats[] = {
	"WARNING: ",
	"BUG: ",
	"kernel BUG at",
	"Oops",
	"Call Trace:",
	"general protection fault",
	"stack segment",
	"divide error:",
	"unable to handle",
	"Unable to handle",
	"INFO: task ",
	"self-detected stall",
	"detected stalls on",
	"possible recursive locking",
	"possible circular locking",
	"possible irq lock inversion",
	"inconsistent lock state",
	"suspicious RCU usage",
	"bad unlock balance",
	"scheduling while atomic",
	"sleeping function called",
	"list_add corruption",
	"list_del corruption",
	"refcount_t: ",
	"UBSAN: ",
	"unreferenced object",
	"unregister_netdevice: waiting for",
	"Kernel panic",
};

static void say(const char *fmt, ...)
{
	char buf[1024];
	size_t done = 0;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	if ((size_t)len >= sizeof(buf))
		len = sizeof(buf) - 1;
	while (done < (size_t)len) {
		ssize_t n = write(verdict >= 0 ? verdict : 2, buf + done,
				  len - done);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0)
			done += n;
	}
}

static void off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	/* Without ACPI a reset also ends QEMU, see -no-reboot. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static void mount_one(const char *type, const char *dir, const char *data)
{
	mkdir(dir, 0755);
	if (mount(type, dir, type, 0, data) && errno != EBUSY)
		say("# init: mount %s: %s\n", dir, strerror(errno));
}

static void mount_all(void)
{
	mount_one("proc", "/proc", NULL);
	mount_one("sysfs", "/sys", NULL);
	mount_one("devtmpfs", "/dev", NULL);
	mount_one("devpts", "/dev/pts", "ptmxmode=0666");
	mount_one("tmpfs", "/dev/shm", "mode=1777");
	mount_one("tmpfs", "/tmp", "mode=1777");
	mount_one("tmpfs", "/run", "mode=0755");
	mount_one("debugfs", "/sys/kernel/debug", NULL);
	/* A kernel without tracing has no such directory. */
	if (!access("/sys/kernel/tracing", F_OK))
		mount_one("tracefs", "/sys/kernel/tracing", NULL);
	if (symlink("/proc/self/fd", "/dev/fd") ||
	    symlink("/proc/self/fd/0", "/dev/stdin") ||
	    symlink("/proc/self/fd/1", "/dev/stdout") ||
	    symlink("/proc/self/fd/2", "/dev/stderr"))
		say("# init: /dev/fd: %s\n", strerror(errno));
}

static void load_modules(void)
{
	FILE *f = fopen(MODULE_LIST, "re");
	char line[512];

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		int fd;

		line[strcspn(line, "\n")] = '\0';
		if (!line[0])
			continue;
		fd = open(line, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) &&
			       errno != EEXIST))
			say("# init: %s: %s\n", line, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	fclose(f);
}

static void lo_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
		say("# init: lo: %s\n", strerror(errno));
	if (fd >= 0)
		close(fd);
}

static int open_port(void)
{
	char path[300], name[128];
	struct dirent *de;
	int fd = -1;
	DIR *dir;

	dir = opendir("/sys/class/virtio-ports");
	if (!dir)
		return -1;
	while (fd < 0 && (de = readdir(dir))) {
		ssize_t n = 0;
		int nfd;

		if (de->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name",
			 de->d_name);
		nfd = open(path, O_RDONLY | O_CLOEXEC);
		if (nfd >= 0) {
			n = read(nfd, name, sizeof(name) - 1);
			close(nfd);
		}
		if (n <= 0)
			continue;
		name[n] = '\0';
		name[strcspn(name, "\n")] = '\0';
		if (strcmp(name, PORT_NAME))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", de->d_name);
		fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	closedir(dir);
	return fd;
}

/* The port appears some time after its driver: wait, but not for ever. */
static int wait_port(void)
{
	int i, fd;

	for (i = 0; i < 600; i++) {
		fd = open_port();
		if (fd >= 0)
			return fd;
		usleep(50 * 1000);
	}
	return -1;
}

static unsigned long taint(void)
{
	char buf[32] = "";
	int fd = open("/proc/sys/kernel/tainted", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (read(fd, buf, sizeof(buf) - 1) < 0)
			buf[0] = '\0';
		close(fd);
	}
	return strtoul(buf, NULL, 10);
}

static const char *splat_in(const char *line)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(splats); i++)
		if (strstr(line, splats[i]))
			return splats[i];
	return NULL;
}

/*
 * Read the kernel log from the position of @fd. From the first splat on, some lines go to the
 * channel. A file of the host has the whole log.
 */
static int scan_log(int fd)
{
	char rec[8192];
	int found = 0, shown = 0;
	bool dump = false;

	for (;;) {
		ssize_t n = read(fd, rec, sizeof(rec) - 1);
		char *text;

		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (n <= 0)
			break;
		rec[n] = '\0';
		/* prefix;text\n KEY=value\n ... */
		text = strchr(rec, ';');
		text = text ? text + 1 : rec;
		text[strcspn(text, "\n")] = '\0';
		/* Lines that "limit" made the kernel print are no splat. */
		if (strstr(text, DUMP_START))
			dump = true;
		if (!dump && splat_in(text))
			found++;
		if (strstr(text, DUMP_END))
			dump = false;
		if (found && !dump && shown++ < SPLAT_LINES)
			say("# splat: %s\n", text);
	}
	return found;
}

struct conf {
	char name[64];
	char script[256];
	char args[8192];
};

static void read_conf(struct conf *c)
{
	FILE *f = fopen(CONF_FILE, "re");
	char line[9000];

	memset(c, 0, sizeof(*c));
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "name=", 5))
			snprintf(c->name, sizeof(c->name), "%.60s", line + 5);
		else if (!strncmp(line, "script=", 7))
			snprintf(c->script, sizeof(c->script), "%.250s",
				 line + 7);
		else if (!strncmp(line, "args=", 5))
			snprintf(c->args, sizeof(c->args), "%.8000s", line + 5);
		else if (!strncmp(line, "env=", 4))
			putenv(strdup(line + 4));
	}
	fclose(f);
}

static void child(struct conf *c)
{
	char path[300];
	char *argv[MAX_ARGS + 3];
	int argc = 0, fd;
	char *save, *word;
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		dup2(fd, 0);
	dup2(verdict, 1);
	dup2(verdict, 2);
	if (chdir("/tests"))
		say("# init: /tests: %s\n", strerror(errno));
	snprintf(path, sizeof(path), "%s%s",
		 c->script[0] == '/' ? "" : "/tests/", c->script);
	argv[argc++] = "/bin/sh";
	argv[argc++] = path;
	for (word = strtok_r(c->args, " ", &save); word && argc < MAX_ARGS;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	execv(argv[0], argv);
	say("# init: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int status_of(int st)
{
	return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

static int run_script(struct conf *c)
{
	pid_t pid, p;
	int st;

	pid = fork();
	if (pid < 0)
		return EXIT_INIT;
	if (!pid)
		child(c);
	for (;;) {
		p = waitpid(-1, &st, 0);
		if (p == pid)
			return status_of(st);
		if (p < 0 && errno != EINTR)
			return EXIT_INIT;
	}
}

static int do_init(void)
{
	unsigned long taint0;
	struct conf conf;
	int fd, kmsg, rc;

	mount_all();
	fd = open("/dev/console", O_RDWR);
	if (fd >= 0) {
		dup2(fd, 0);
		dup2(fd, 1);
		dup2(fd, 2);
		if (fd > 2)
			close(fd);
	}
	/* The boot is quiet, because output is slow. From here on the kernel logs everything. */
	klogctl(8, NULL, 8);
	read_conf(&conf);
	if (conf.name[0] && sethostname(conf.name, strlen(conf.name)))
		say("# init: hostname: %s\n", strerror(errno));
	load_modules();
	verdict = wait_port();
	if (verdict < 0) {
		say("init: no port " PORT_NAME "\n");
		off();
	}
	lo_up();
	/* Emulated guests on a shared machine are slow, not locked up. */
	put("/proc/sys/kernel/watchdog_thresh", "60");
	put("/proc/sys/kernel/sysrq", "1");
	put("/proc/sys/kernel/printk_devkmsg", "on");
	put("/proc/sys/kernel/core_pattern", "core");

	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg >= 0)
		lseek(kmsg, 0, SEEK_END);
	taint0 = taint();
	put("/dev/kmsg", "vm: start\n");
	say("# vm: up\n");

	rc = run_script(&conf);

	/* A process that a test left behind must neither write to the channel nor live on. */
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	if (kmsg < 0 || scan_log(kmsg) || (taint() & ~taint0 & TAINT_BAD)) {
		say("# vm: the kernel complained, taint %#lx\n", taint());
		rc = EXIT_SPLAT;
	}
	put("/dev/kmsg", "vm: end\n");
	say("exit %d\n", rc);
	off();
	return 0;
}

/* A kernel with checkers is slower: PATIENCE says how many times a limit counts. */
static int patience(void)
{
	const char *word = getenv("PATIENCE");
	int times = word ? atoi(word) : 1;

	return times > 0 ? times : 1;
}

static int do_limit(int argc, char **argv)
{
	struct timespec ts = { 0 };
	sigset_t set;
	pid_t pid;
	int st;

	if (argc < 3 || atoi(argv[1]) <= 0)
		return 125;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid = fork();
	if (pid < 0)
		return 125;
	if (!pid) {
		setpgid(0, 0);
		/* A script may end and take "limit" along, but not this process group. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	setpgid(pid, pid);
	ts.tv_sec = atoi(argv[1]) * patience();
	while (!waitpid(pid, &st, WNOHANG)) {
		if (sigtimedwait(&set, NULL, &ts) >= 0 || errno == EINTR)
			continue;
		put("/dev/kmsg", DUMP_START ": time limit, blocked tasks\n");
		put("/proc/sysrq-trigger", "w");
		put("/proc/sysrq-trigger", "l");
		put("/dev/kmsg", DUMP_END "\n");
		kill(-pid, SIGKILL);
		waitpid(pid, &st, 0);
		return EXIT_TIMEOUT;
	}
	/* The background processes of the command end with it. */
	kill(-pid, SIGKILL);
	return status_of(st);
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');

	name = name ? name + 1 : argv[0];
	if (!strcmp(name, "limit"))
		return do_limit(argc, argv);
	if (getpid() != 1) {
		fprintf(stderr, "%s: not PID 1\n", name);
		return 1;
	}
	return do_init();
}
