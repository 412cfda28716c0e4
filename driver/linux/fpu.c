// SPDX-License-Identifier: GPL-2.0-only
#include <asm/fpu/api.h>
#include <linux/instruction_pointer.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "dsp/blocks/preemption_point.h"
#include "offhook.h"

static const u32 mxcsr_default = 0x1f80;

/* Shorter sections are not worth the cost of saving and restoring. */
enum { YIELD_AFTER_NS = 20000 };

/* The section that this CPU is in; those that it interrupted follow as `outer`. */
static DEFINE_PER_CPU(struct oh_fpu *, held);

/*
 * FXSAVE alone is enough: the core is built for SSE2, and legacy SSE
 * instructions do not change the upper halves of the AVX registers.
 * Interrupts stay off, because a nested kernel_fpu_begin() would take the
 * registers for the state of the current process.
 */
static void begin(struct oh_fpu *fpu, unsigned long at)
{
	fpu->own = in_hardirq() || !irq_fpu_usable();
	fpu->preemptible = !fpu->own && !in_interrupt() && !irqs_disabled();
	if (fpu->own) {
		local_irq_save(fpu->flags);
		asm volatile("fxsave64 %0" : "=m"(fpu->image));
		asm volatile("ldmxcsr %0" : : "m"(mxcsr_default));
	} else {
		kernel_fpu_begin();
	}
	fpu->outer = this_cpu_read(held);
	this_cpu_write(held, fpu);
	fpu->begun_at = at;
	fpu->begun_ns = ktime_get_mono_fast_ns();
}

static void end(struct oh_fpu *fpu, unsigned long at)
{
	u64 ns = ktime_get_mono_fast_ns() - fpu->begun_ns;

	if (ns > fpu->longest_ns) {
		fpu->longest_ns = min_t(u64, ns, U32_MAX);
		fpu->longest_from = fpu->begun_at;
		fpu->longest_to = at;
	}
	this_cpu_write(held, fpu->outer);
	if (fpu->own) {
		asm volatile("fxrstor64 %0" : : "m"(fpu->image));
		local_irq_restore(fpu->flags);
	} else {
		kernel_fpu_end();
	}
}

void oh_fpu_begin(struct oh_fpu *fpu)
{
	begin(fpu, _RET_IP_);
}

void oh_fpu_end(struct oh_fpu *fpu)
{
	end(fpu, _RET_IP_);
}

/*
 * Within the core's longer steps, a thread leaves the section, lets others run and comes back,
 * perhaps on another CPU. A call leaves nothing in SSE registers, and MXCSR is the same in every
 * section.
 */
static void let_others_run(void)
{
	struct oh_fpu *fpu = this_cpu_read(held);

	if (!fpu || !fpu->preemptible || ktime_get_mono_fast_ns() - fpu->begun_ns < YIELD_AFTER_NS)
		return;
	end(fpu, _RET_IP_);
	cond_resched();
	begin(fpu, _RET_IP_);
}

void oh_fpu_init(void)
{
	oh_set_preemption_point(let_others_run);
}
