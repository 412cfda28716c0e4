/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: events/offhook of tracefs. The event log has more; these are
 * for a trace of the whole kernel, next to sched_switch and irq.
 */
/* clang-format off */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM offhook

#if !defined(OFFHOOK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define OFFHOOK_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(offhook_interrupt,
	TP_PROTO(int device, u32 descriptors, u64 end),
	TP_ARGS(device, descriptors, end),
	TP_STRUCT__entry(
		__field(int, device)
		__field(u32, descriptors)
		__field(u64, end)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->descriptors = descriptors;
		__entry->end = end;
	),
	TP_printk("offhook%d descriptors=%u end=%llu", __entry->device,
		  __entry->descriptors, __entry->end)
);

TRACE_EVENT(offhook_service,
	TP_PROTO(int device, u64 waited_ns, u32 blocks, u32 pending),
	TP_ARGS(device, waited_ns, blocks, pending),
	TP_STRUCT__entry(
		__field(int, device)
		__field(u64, waited_ns)
		__field(u32, blocks)
		__field(u32, pending)
	),
	TP_fast_assign(
		__entry->device = device;
		__entry->waited_ns = waited_ns;
		__entry->blocks = blocks;
		__entry->pending = pending;
	),
	TP_printk("offhook%d waited_ns=%llu blocks=%u pending=%u", __entry->device,
		  __entry->waited_ns, __entry->blocks, __entry->pending)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
