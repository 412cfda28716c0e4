// SPDX-License-Identifier: GPL-2.0-only
/* fpu.c: sections within sections of others, from a
 * hard interrupt and a softirq; no registers change. */
#include <asm/fpu/api.h>
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>

#include "driver/linux/offhook.h"
#include "dsp/blocks/preemption_point.h"

enum { REGISTERS = 16 };

struct vectors {
	u8 xmm[REGISTERS][16];
	u32 mxcsr;
};

struct fixture {
	struct oh_fpu fpu;
	struct irq_work work;
	struct tasklet_struct tasklet;
	struct vectors seen;
	bool own, preemptible, hard;
	int ran;
};

/* All sixteen registers and MXCSR. C code of the kernel uses none of them. */
#define EACH(instruction)                                                                          \
	instruction(0) instruction(1) instruction(2) instruction(3) instruction(4) instruction(5)  \
		instruction(6) instruction(7) instruction(8) instruction(9) instruction(10)        \
			instruction(11) instruction(12) instruction(13) instruction(14)            \
				instruction(15)
#define LOAD(n) "movdqu 16*" #n "(%0), %%xmm" #n "\n\t"
#define STORE(n) "movdqu %%xmm" #n ", 16*" #n "(%0)\n\t"

static void load(const struct vectors *v)
{
	asm volatile(EACH(LOAD) "ldmxcsr 256(%0)" : : "r"(v) : "memory");
}

static void store(struct vectors *v)
{
	asm volatile(EACH(STORE) "stmxcsr 256(%0)" : : "r"(v) : "memory");
}

static const struct vectors zeros = {.mxcsr = 0x1f80};

/* The worst effect of a pump: every register has another value afterwards. */
static void use(struct fixture *f)
{
	oh_fpu_begin(&f->fpu);
	store(&f->seen);
	f->own = f->fpu.own;
	f->preemptible = f->fpu.preemptible;
	load(&zeros);
	oh_fpu_end(&f->fpu);
	f->hard = in_hardirq();
	WRITE_ONCE(f->ran, f->ran + 1);
}

static void interrupt(struct irq_work *work)
{
	use(container_of(work, struct fixture, work));
}

static void softirq(struct tasklet_struct *tasklet)
{
	use(container_of(tasklet, struct fixture, tasklet));
}

static void raise_softirq_of(struct irq_work *work)
{
	tasklet_hi_schedule(&container_of(work, struct fixture, work)->tasklet);
}

static int init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	tasklet_setup(&f->tasklet, softirq);
	test->priv = f;
	return 0;
}

static void fill(struct vectors *v)
{
	int n, k;

	for (n = 0; n < REGISTERS; ++n)
		for (k = 0; k < 16; ++k)
			v->xmm[n][k] = 16 * n + k + 1;
	v->mxcsr = 0x1f80 | 0x6000; /* towards zero */
}

/* @param work interrupts a kernel user of the registers on this CPU */
static void interrupt_a_user(struct kunit *test, void (*work)(struct irq_work *work))
{
	struct fixture *f = test->priv;
	struct vectors before = {}, after = {};
	int round;

	fill(&before);
	init_irq_work(&f->work, work);
	for (round = 1; round <= 100; ++round) {
		kernel_fpu_begin();
		load(&before);
		irq_work_queue(&f->work);
		while (READ_ONCE(f->ran) < round)
			cpu_relax();
		store(&after);
		kernel_fpu_end();
		KUNIT_ASSERT_MEMEQ(test, &before, &after, sizeof(before));
		KUNIT_ASSERT_TRUE(test, f->own);
		KUNIT_ASSERT_FALSE(test, f->preemptible);
		KUNIT_ASSERT_EQ(test, f->seen.mxcsr, 0x1f80);
	}
}

static void a_hard_interrupt_leaves_the_registers_as_they_were(struct kunit *test)
{
	interrupt_a_user(test, interrupt);
	KUNIT_EXPECT_TRUE(test, ((struct fixture *)test->priv)->hard);
}

static void a_softirq_leaves_the_registers_as_they_were(struct kunit *test)
{
	interrupt_a_user(test, raise_softirq_of);
	KUNIT_EXPECT_FALSE(test, ((struct fixture *)test->priv)->hard);
}

static void a_thread_needs_no_image_of_its_own(struct kunit *test)
{
	struct fixture *f = test->priv;

	use(f);
	KUNIT_EXPECT_FALSE(test, f->own);
	KUNIT_EXPECT_TRUE(test, f->preemptible);
	KUNIT_EXPECT_EQ(test, f->seen.mxcsr, 0x1f80);
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
}

static void with_interrupts_off_a_section_is_not_left(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 begun;

	local_irq_disable();
	oh_fpu_begin(&f->fpu);
	begun = f->fpu.begun_ns;
	udelay(100);
	oh_preemption_point();
	KUNIT_EXPECT_EQ(test, f->fpu.begun_ns, begun);
	oh_fpu_end(&f->fpu);
	KUNIT_EXPECT_TRUE(test, irqs_disabled());
	local_irq_enable();
}

static void a_thread_s_section_ends_at_a_point_when_it_has_lasted(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 begun;

	oh_fpu_begin(&f->fpu);
	begun = f->fpu.begun_ns;
	udelay(100);
	oh_preemption_point();
	KUNIT_EXPECT_GT(test, f->fpu.begun_ns, begun);
	oh_fpu_end(&f->fpu);
	KUNIT_EXPECT_GE(test, f->fpu.longest_ns, 100 * NSEC_PER_USEC);
	oh_preemption_point(); /* outside of any section: no effect */
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
}

/* The interrupt's section is the newest while it lasts; after it, a preemption point belongs to the
 * thread again. */
static void the_section_that_was_interrupted_goes_on(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct oh_fpu *thread = kunit_kzalloc(test, sizeof(*thread), GFP_KERNEL);
	u64 begun;

	KUNIT_ASSERT_NOT_NULL(test, thread);
	init_irq_work(&f->work, interrupt);
	oh_fpu_begin(thread);
	begun = thread->begun_ns;
	irq_work_queue(&f->work);
	while (READ_ONCE(f->ran) == 0)
		cpu_relax();
	udelay(100);
	oh_preemption_point();
	KUNIT_EXPECT_GT(test, thread->begun_ns, begun);
	oh_fpu_end(thread);
	KUNIT_EXPECT_TRUE(test, f->own);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_hard_interrupt_leaves_the_registers_as_they_were),
	KUNIT_CASE(a_softirq_leaves_the_registers_as_they_were),
	KUNIT_CASE(a_thread_needs_no_image_of_its_own),
	KUNIT_CASE(with_interrupts_off_a_section_is_not_left),
	KUNIT_CASE(a_thread_s_section_ends_at_a_point_when_it_has_lasted),
	KUNIT_CASE(the_section_that_was_interrupted_goes_on),
	{},
};

static struct kunit_suite suite = {.name = "offhook_fpu", .init = init, .test_cases = cases};
kunit_test_suite(suite);
