// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-logd: write what is delivered to a node to disk.
 *
 * One loop waits for deliveries, for the disk, and for signals.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/key.h"
#include "common/opts.h"
#include "logd.h"
#include "restart.h"

#define AT(field)	CTL_OPT_AT(struct logd_opts, field)

static const struct ctl_opt options[] = {
	{ .name = "dir", .letter = 'd', .kind = CTL_OPT_TEXT, AT(dir), .value = "DIR",
	  .help = "the log is in DIR/NODE/ID (default: /var/lib/spindle)" },
	{ .name = "segment", .letter = 'S', .kind = CTL_OPT_NUM, AT(segment), .min = 1,
	  .max = 1024, .def = 64, .value = "MIB", .help = "size of a segment of a new log" },
	{ .name = "keep", .letter = 'k', .kind = CTL_OPT_BYTES, AT(keep), .max = UINT64_MAX,
	  .value = "BYTES", .help = "drop the oldest segment when the log has so many\n"
		  "                         bytes (default: keep all)" },
	{ .name = "depth", .letter = 'q', .kind = CTL_OPT_NUM, AT(depth), .min = 1,
	  .max = LOGD_DEPTH, .def = 2, .value = "N", .help = "writes at once" },
	{ .name = "go-on", .letter = 'g', .kind = CTL_OPT_FLAG, AT(go_on),
	  .help = "go on behind a damaged end of the log" },
	{ .name = "late", .letter = 'l', .kind = CTL_OPT_FLAG, AT(late),
	  .help = "begin a new log with the history, although nobody has what\n"
		  "                         was in front of it" },
	{ .name = "snapshots", .letter = 's', .kind = CTL_OPT_FLAG, AT(snapshots),
	  .help = "drop segments that are below the snapshots of all programs" },
	{ .name = "threads", .letter = 't', .kind = CTL_OPT_FLAG, AT(threads),
	  .help = "write by threads and not by io_uring" },
	{ .name = "key-file", .letter = 'K', .kind = CTL_OPT_TEXT, AT(key_file), .value = "FILE",
	  .help = "key of the group: serve the log to other nodes, and\n"
		  "                         fetch what is missing from theirs" },
	{ .name = "listen", .letter = 'L', .kind = CTL_OPT_TEXT, AT(listen),
	  .value = "ADDR:PORT", .help = "where other nodes ask (default: as the node)" },
	{ .name = "peers", .letter = 'P', .kind = CTL_OPT_TEXT, AT(peers), .value = "WORD",
	  .help = "none: no other nodes; open: also without a key" },
	{ .name = "snapshot-max", .letter = 'm', .kind = CTL_OPT_BYTES, AT(snap_most),
	  .max = INT64_MAX, .def = LOGD_SNAP_MOST, .value = "BYTES",
	  .help = "fetch no snapshot of another node with which those of a\n"
		  "                         log have more bytes (0: none)" },
	{ .name = "wait", .letter = 'w', .kind = CTL_OPT_NUM, AT(wait), .max = UINT32_MAX,
	  .def = LOGD_FOR_EVER, .value = "SECONDS",
	  .help = "give up when nothing has come for so long\n"
		  "                         (default: never)" },
	{ .name = "add-log", .letter = 'A', .kind = CTL_OPT_TEXT, AT(add_log), .value = "ID",
	  .help = "only have the subgroup get logs with the next restart of\n"
		  "                         the group" },
	{ .name = "device", .letter = 'D', .kind = CTL_OPT_TEXT, AT(device),
	  .value = "PATH", .help = "default " SPINDLE_DEVICE },
	{ .name = "help", .letter = 'h', .kind = CTL_OPT_HELP, .help = "this text" },
	{ .name = "version", .letter = 'V', .kind = CTL_OPT_VERSION, .help = "version" },
	{ .name = NULL }
};

static const struct ctl_opt_part part = { .opt = options, .groups = CTL_OPT_ALL };

static const struct ctl_command command = {
	.name = "spindle-logd",
	.head = "Usage: spindle-logd [OPTION]... NODE [SUBGROUP...]\n"
		"Write the messages of ordered subgroups to disk: of those that have logs, or of\n"
		"those that are named and have a history.\n",
	.tail = "\nA subgroup is an id or a name.\n"
		"Exit status: 0 stopped by a signal, 1 a sentence says what failed, 2 usage.",
	.wide = 22, .words = true, .part = &part, .parts = 1,
};

static struct logd_opts opts;
static struct logd *logs;
static unsigned int count;
static struct logd_peers peers;
static struct logd_state state;
static bool has_state;
static struct logd_restart restart;

static int open_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		ctl_err("cannot wait for signals: %s", strerror(errno));
	return fd;
}

static void wait_for_work(struct pollfd *fd, int signals, bool *stop)
{
	unsigned int room = logd_peers_room(&peers);
	struct signalfd_siginfo info;
	int ms = -1;
	unsigned int i;

	fd[2 * count] = (struct pollfd){ .fd = signals, .events = POLLIN };
	for (i = 0; i < count; i++) {
		/* A log that has just failed ends the others, too. */
		int wait = logs[i].failed && !*stop ? 0 : logd_timeout(&logs[i]);

		ms = ms < 0 || wait < ms ? wait : ms;
		logd_poll_set(&logs[i], &fd[2 * i]);
	}
	logd_peers_poll(&peers, fd + 2 * count + 1, room, &ms);
	logd_restart_range_poll(&restart, fd + 2 * count + 1 + room, &ms);
	if (poll(fd, 2 * count + 2 + room, ms) < 0 && errno != EINTR) {
		ctl_err("cannot wait: %s", strerror(errno));
		exit(CTL_FAILED);
	}
	for (i = 0; i < count; i++)
		logd_poll_get(&logs[i], &fd[2 * i]);
	/* A second signal finds a process that waits for its disk, and ends it. */
	if (fd[2 * count].revents && read(signals, &info, sizeof(info)) == sizeof(info)) {
		if (*stop)
			exit(CTL_FAILED);
		*stop = true;
	}
}

/*
 * One log that has failed ends the process, because its supervisor shall know. Return: whether the
 * files for a restart are as they have to be.
 */
static bool run(int signals)
{
	struct pollfd *fd = ctl_alloc((2 * count + 2 + logd_peers_room(&peers)) * sizeof(*fd));
	bool stop = false, done = false, kept = true;
	unsigned int i;

	while (!done) {
		wait_for_work(fd, signals, &stop);
		kept = kept && logd_restart_watch(&restart);
		stop |= !kept;
		for (i = 0; i < count; i++)
			stop |= logs[i].failed;
		done = stop;
		for (i = 0; i < count; i++) {
			logd_reap(&logs[i]);
			if (stop)
				logd_stop(&logs[i]);
			else
				logd_work(&logs[i]);
			logd_report(&logs[i]);
			done = done && logd_is_done(&logs[i]);
		}
		logd_peers_work(&peers);
		logd_restart_range_work(&restart);
	}
	peer_server_end(&peers.server);
	ctl_free(fd);
	return kept;
}

static int parse(int argc, char **argv)
{
	int rc = ctl_command_parse(&command, &opts, argc, argv, NULL);
	const char *err;
	uint64_t node;

	if (rc)
		return rc;
	if (!opts.dir)
		opts.dir = "/var/lib/spindle";
	if (opts.peers && strcmp(opts.peers, "none") && strcmp(opts.peers, "open"))
		return ctl_command_usage(&command, "'%s' is neither none nor open", opts.peers);
	if (opts.listen && !logd_peers_place(opts.listen))
		return ctl_command_usage(&command, "'%s' is no address with a port", opts.listen);
	if (argc - optind < 1)
		return ctl_command_usage(&command, "a node is needed");
	if (opts.add_log && argc - optind > 1)
		return ctl_command_usage(&command, "nothing follows the node of --add-log");
	err = ctl_num_parse(argv[optind], UINT32_MAX, false, &node);
	if (err)
		return ctl_command_usage(&command, "'%s' is not the id of a node", argv[optind]);
	opts.node = (uint32_t)node;
	return CTL_OK;
}

/* Only a process that has all logs of its node keeps what a restart needs. */
static bool open_state(void)
{
	if (has_state)
		return true;
	has_state = logd_state_open(&state, opts.dir, opts.node);
	if (!has_state)
		ctl_err("%s", state.why);
	return has_state;
}

/* Open the logs that are named, or all. Return: whether they are open. */
static bool open_logs(char **names)
{
	bool named = count;
	unsigned int i;

	if (!named)
		count = logd_find(opts.node, &names);
	/* The node may be in another view than when the process began. */
	if (!count || (peers.on && !logd_peers_refresh(&peers)))
		return false;
	if (!named && (!open_state() || !logd_kernel_tune(&restart) ||
		       logd_peers_keep(&peers, &state) <= 0))
		return false;
	logs = ctl_alloc(count * sizeof(*logs));
	if (has_state)
		logd_state_release(&state);
	for (i = 0; i < count; i++) {
		logs[i].peers = &peers;
		logs[i].state = named ? NULL : &state;
		if (!logd_open(&logs[i], &opts, names[i]))
			return false;
	}
	if (has_state)
		logd_state_forget(&state);
	logd_peers_listen(&peers, &opts, logs, count);
	if (!named)
		logd_restart_serve(&restart, logs, count);
	return true;
}

/* A node that is in no view finds its group, if its files know one. */
static bool find_group(int signals)
{
	restart.opts = &opts;
	restart.peers = &peers;
	restart.state = &state;
	if (count || !logd_restart_knows(&opts))
		return true;
	if (!open_state())
		return false;
	return !logd_restart_is_due(&restart) || logd_restart_run(&restart, signals);
}

/* Is the node in a view, or on its way into one? A machine without the module has no node. */
static bool is_in_view(void)
{
	struct logd_seat seat;
	enum logd_kernel kernel;

	if (ctl_net_open(&peers.net, CTL_QUIET))
		return false;
	kernel = logd_kernel_look(&restart, &seat);
	return kernel == LOGD_KERNEL_ACTIVE || kernel == LOGD_KERNEL_FORMING ||
	       kernel == LOGD_KERNEL_JOINING;
}

/* All nodes of the group are down, and begin again with a subgroup that has logs from then on. */
static bool add_log(void)
{
	uint64_t id;

	restart.opts = &opts;
	restart.peers = &peers;
	restart.state = &state;
	if (ctl_num_parse(opts.add_log, UINT32_MAX, false, &id)) {
		ctl_err("'%s' is not the id of a subgroup", opts.add_log);
		return false;
	}
	if (!open_state())
		return false;
	if (is_in_view()) {
		ctl_err("node %u is in a view: it leaves that first", opts.node);
		return false;
	}
	if (logd_state_add_log(&state, (uint32_t)id, opts.segment << 20))
		return true;
	ctl_err("%s", state.why);
	return false;
}

int main(int argc, char **argv)
{
	int rc, signals;
	unsigned int i;

	ctl_program = command.name;
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	rc = parse(argc, argv);
	if (rc)
		return ctl_flush(rc == CTL_OPT_SHOWN ? CTL_OK : rc);
	if (opts.add_log)
		return add_log() ? CTL_OK : CTL_FAILED;
	count = (unsigned int)(argc - optind - 1);
	if (!logd_peers_begin(&peers, &opts))
		return CTL_FAILED;
	signals = open_signals();
	if (signals < 0)
		return CTL_FAILED;
	if (!find_group(signals)) {
		logd_restart_end(&restart);
		return restart.stopped ? CTL_OK : CTL_FAILED;
	}
	if (!open_logs(argv + optind + 1))
		return CTL_FAILED;
	/* All logs are open. */
	logd_notify("READY=1");
	if (!run(signals))
		rc = CTL_FAILED;
	for (i = 0; i < count; i++)
		if (!logd_close(&logs[i]))
			rc = CTL_FAILED;
	logd_restart_end(&restart);
	return rc;
}
