/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verbs of spindle-dds. Each has its participant from the start to the end.
 *
 * Owner: main() has the options. Context: main thread.
 */
#ifndef SPINDLE_DDS_TOOL_CMD_H
#define SPINDLE_DDS_TOOL_CMD_H

#include "link.h"

/* cmd.c */
int dds_cmd(const struct dds_opts *o);

/* cmd-list.c */
int dds_cmd_list(struct dds_link *l);
int dds_cmd_info(struct dds_link *l);
int dds_need_topic(struct dds_link *l);

/* cmd-echo.c */
int dds_cmd_echo(struct dds_link *l);

/* cmd-rate.c */
int dds_cmd_rate(struct dds_link *l);

/* cmd-pub.c */
int dds_cmd_pub(struct dds_link *l);

#endif /* SPINDLE_DDS_TOOL_CMD_H */
