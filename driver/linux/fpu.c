// SPDX-License-Identifier: GPL-2.0
#include <asm/fpu/api.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/preempt.h>

#include "offhook.h"

static const u32 mxcsr_default = 0x1f80;

/*
 * FXSAVE alone is enough: the core is built for SSE2, and legacy SSE
 * instructions leave the upper halves of the AVX registers as they are.
 * Interrupts stay off, because a nested kernel_fpu_begin() would take what is
 * in the registers for the state of the current process.
 */
void oh_fpu_begin(struct oh_fpu *fpu)
{
	fpu->own = in_hardirq() || !irq_fpu_usable();
	if (fpu->own) {
		local_irq_save(fpu->flags);
		asm volatile("fxsave64 %0" : "=m"(fpu->image));
		asm volatile("ldmxcsr %0" : : "m"(mxcsr_default));
	} else {
		kernel_fpu_begin();
	}
	fpu->begun_ns = ktime_get_mono_fast_ns();
}

void oh_fpu_end(struct oh_fpu *fpu)
{
	u64 ns = ktime_get_mono_fast_ns() - fpu->begun_ns;

	if (ns > fpu->longest_ns)
		fpu->longest_ns = min_t(u64, ns, U32_MAX);
	if (fpu->own) {
		asm volatile("fxrstor64 %0" : : "m"(fpu->image));
		local_irq_restore(fpu->flags);
	} else {
		kernel_fpu_end();
	}
}
