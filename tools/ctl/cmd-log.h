/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands "log" share: a log that is open, and words.
 *
 * Owner: the command, which closes the log. Context: one thread.
 */
#ifndef SPINDLE_CTL_CMD_LOG_H
#define SPINDLE_CTL_CMD_LOG_H

#include <spindle/log.h>

#include "args.h"
#include "common/bar.h"
#include "common/out.h"

/**
 * struct look - a command at work
 */
struct look {
	/** @what: the command, for messages */
	const char *what;
	/** @dir: directory of the log */
	const char *dir;
	/** @log: the log */
	struct spindle_log *log;
	/** @info: what it is */
	struct spindle_log_info info;
	/** @work: what is under way, for the bar */
	struct ctl_work work;
	/** @seen: bytes or positions that the bar was told */
	uint64_t seen;
};

int ctl_log_failed(const struct look *l, int err);
int ctl_log_dir(struct ctl_args *a, struct look *l);
int ctl_log_no_more(struct ctl_args *a);
int ctl_log_open(struct look *l);
void ctl_log_reads(struct look *l, uint64_t from, uint64_t end);
void ctl_log_is_at(struct look *l, uint64_t lsn);
void ctl_log_place(const struct look *l, uint64_t lsn, struct spindle_place *place);

const char *ctl_log_time(uint64_t ns);
const char *ctl_log_range(uint64_t from, uint64_t to);
struct json_object *ctl_log_range_json(uint64_t from, uint64_t to);

int ctl_log_dump(struct ctl_args *a);
int ctl_log_repair(struct ctl_args *a);

#endif /* SPINDLE_CTL_CMD_LOG_H */
