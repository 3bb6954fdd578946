/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: every stage of a message, for perf, ftrace and bpftrace. A disabled tracepoint
 * costs a branch that is not taken. Documentation/use/performance.rst has examples.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM spindle

#if !defined(SPINDLE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SPINDLE_TRACE_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(spindle_batch,
	TP_PROTO(u32 node, u32 subgroup, u64 messages),
	TP_ARGS(node, subgroup, messages),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u32, subgroup)
		__field(u64, messages)
	),
	TP_fast_assign(
		__entry->node = node;
		__entry->subgroup = subgroup;
		__entry->messages = messages;
	),
	TP_printk("node=%u subgroup=%u messages=%llu", __entry->node, __entry->subgroup,
		  __entry->messages)
);

/* Own messages were given rounds; they are posted later in the pass. */
DEFINE_EVENT(spindle_batch, spindle_send,
	TP_PROTO(u32 node, u32 subgroup, u64 messages),
	TP_ARGS(node, subgroup, messages));

/* Messages of others were found in their rings. */
DEFINE_EVENT(spindle_batch, spindle_receive,
	TP_PROTO(u32 node, u32 subgroup, u64 messages),
	TP_ARGS(node, subgroup, messages));

/* Stable messages were given to the readers. */
DEFINE_EVENT(spindle_batch, spindle_deliver,
	TP_PROTO(u32 node, u32 subgroup, u64 messages),
	TP_ARGS(node, subgroup, messages));

/* The sender gave up rounds that others wait for, and more rounds in advance. */
TRACE_EVENT(spindle_null,
	TP_PROTO(u32 node, u32 subgroup, u64 nulls, u64 ahead),
	TP_ARGS(node, subgroup, nulls, ahead),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u32, subgroup)
		__field(u64, nulls)
		__field(u64, ahead)
	),
	TP_fast_assign(
		__entry->node = node;
		__entry->subgroup = subgroup;
		__entry->nulls = nulls;
		__entry->ahead = ahead;
	),
	TP_printk("node=%u subgroup=%u nulls=%llu ahead=%llu", __entry->node,
		  __entry->subgroup, __entry->nulls, __entry->ahead)
);

/* A chain of writes is posted to a peer. */
TRACE_EVENT(spindle_post,
	TP_PROTO(u32 node, u32 peer, u32 writes),
	TP_ARGS(node, peer, writes),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u32, peer)
		__field(u32, writes)
	),
	TP_fast_assign(
		__entry->node = node;
		__entry->peer = peer;
		__entry->writes = writes;
	),
	TP_printk("node=%u peer=%u writes=%u", __entry->node, __entry->peer, __entry->writes)
);

DECLARE_EVENT_CLASS(spindle_engine,
	TP_PROTO(u32 engine, u64 passes),
	TP_ARGS(engine, passes),
	TP_STRUCT__entry(
		__field(u32, engine)
		__field(u64, passes)
	),
	TP_fast_assign(
		__entry->engine = engine;
		__entry->passes = passes;
	),
	TP_printk("engine=%u passes=%llu", __entry->engine, __entry->passes)
);

/* The engine goes to sleep; @passes is the number of its passes so far. */
DEFINE_EVENT(spindle_engine, spindle_sleep,
	TP_PROTO(u32 engine, u64 passes),
	TP_ARGS(engine, passes));

/* The engine was woken. */
DEFINE_EVENT(spindle_engine, spindle_wake,
	TP_PROTO(u32 engine, u64 passes),
	TP_ARGS(engine, passes));

/* An attachment was frozen or detached; enum spindle_error. */
TRACE_EVENT(spindle_ring_error,
	TP_PROTO(u32 node, u32 subgroup, u32 error),
	TP_ARGS(node, subgroup, error),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u32, subgroup)
		__field(u32, error)
	),
	TP_fast_assign(
		__entry->node = node;
		__entry->subgroup = subgroup;
		__entry->error = error;
	),
	TP_printk("node=%u subgroup=%u error=%u", __entry->node, __entry->subgroup,
		  __entry->error)
);

/* The durable position of a subgroup has moved. */
TRACE_EVENT(spindle_durable,
	TP_PROTO(u32 node, u32 subgroup, u64 lsn),
	TP_ARGS(node, subgroup, lsn),
	TP_STRUCT__entry(
		__field(u32, node)
		__field(u32, subgroup)
		__field(u64, lsn)
	),
	TP_fast_assign(
		__entry->node = node;
		__entry->subgroup = subgroup;
		__entry->lsn = lsn;
	),
	TP_printk("node=%u subgroup=%u lsn=%llu", __entry->node, __entry->subgroup, __entry->lsn)
);

#endif /* SPINDLE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
