// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contexts of a Linux kernel (include/offhook/context.h):
 *
 *   INT          the card's interrupt itself
 *   SOFTIRQ      a BH work item if the kernel has them, else a tasklet
 *   THREADED     the thread of the card's interrupt
 *   FIFO p, RR p, OTHER n, RES x/y   a kthread; RES is SCHED_DEADLINE
 *   WORKER       a work item of a high-priority workqueue
 *
 * Requests are counted. The running context takes the whole count and serves all owed blocks, so no
 * request is lost when one context takes over from another.
 */
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "offhook.h"

static void run(struct oh_kernel_context *c)
{
	u64 waited;
	int bucket;

	if (atomic_xchg(&c->requests, 0) == 0)
		return;
	waited = oh_now_ns(NULL) - READ_ONCE(c->requested_ns);
	bucket = min_t(int, fls64(waited), OH_LATENCY_BUCKETS - 1);
	WRITE_ONCE(c->histogram[bucket], c->histogram[bucket] + 1);
	WRITE_ONCE(c->latency.last_ns, waited);
	if (waited > c->latency.max_ns)
		WRITE_ONCE(c->latency.max_ns, waited);
	WRITE_ONCE(c->latency.count, c->latency.count + 1);
	c->service(c->arg);
}

static void run_tasklet(struct tasklet_struct *tasklet)
{
	run(container_of(tasklet, struct oh_kernel_context, tasklet));
}

static void run_bh_work(struct work_struct *work)
{
	run(container_of(work, struct oh_kernel_context, bh_work));
}

static void run_work(struct work_struct *work)
{
	run(container_of(work, struct oh_kernel_context, work));
}

static int run_thread(void *self)
{
	struct oh_kernel_context *c = self;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (atomic_read(&c->requests) == 0)
			schedule();
		__set_current_state(TASK_RUNNING);
		run(c);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

void oh_kernel_context_threaded(struct oh_kernel_context *c)
{
	run(c);
}

irqreturn_t oh_kernel_context_irq(struct oh_kernel_context *c)
{
	return c->spec.kind == OH_CONTEXT_THREADED ? IRQ_WAKE_THREAD : IRQ_HANDLED;
}

static void request(void *self)
{
	struct oh_kernel_context *c = self;

	if (atomic_inc_return(&c->requests) == 1)
		WRITE_ONCE(c->requested_ns, oh_now_ns(NULL));
	switch (c->spec.kind) {
	case OH_CONTEXT_INTERRUPT:
		run(c);
		break;
	case OH_CONTEXT_THREADED:
		break; /* the handler's return value wakes it */
	case OH_CONTEXT_SOFTIRQ:
#ifdef OFFHOOK_BH_WORK
		queue_work(system_bh_highpri_wq, &c->bh_work);
#else
		tasklet_hi_schedule(&c->tasklet);
#endif
		break;
	case OH_CONTEXT_WORKER:
		queue_work(c->workqueue, &c->work);
		break;
	default:
		wake_up_process(c->thread);
		break;
	}
}

/* @return 0, or -EINVAL: not a context of a Linux kernel */
static int attributes_of(const struct oh_context_spec *spec, struct sched_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	switch (spec->kind) {
	case OH_CONTEXT_FIFO:
	case OH_CONTEXT_ROUND_ROBIN:
		attr->sched_policy = spec->kind == OH_CONTEXT_FIFO ? SCHED_FIFO : SCHED_RR;
		attr->sched_priority = spec->priority;
		return spec->priority >= 1 && spec->priority < MAX_RT_PRIO ? 0 : -EINVAL;
	case OH_CONTEXT_NORMAL:
		attr->sched_policy = SCHED_NORMAL;
		attr->sched_nice = spec->nice;
		return spec->nice >= MIN_NICE && spec->nice <= MAX_NICE ? 0 : -EINVAL;
	case OH_CONTEXT_RESERVATION:
		attr->sched_policy = SCHED_DEADLINE;
		attr->sched_runtime =
			spec->period_ns ? spec->budget_ns : spec->x_ticks * (s64)TICK_NSEC;
		attr->sched_period =
			spec->period_ns ? spec->period_ns : spec->y_ticks * (s64)TICK_NSEC;
		attr->sched_deadline = attr->sched_period;
		return spec->budget_ns >= 0 && spec->period_ns >= 0 && spec->x_ticks >= 0 &&
				       attr->sched_runtime > 0 &&
				       attr->sched_runtime <= attr->sched_period
			       ? 0
			       : -EINVAL;
	case OH_CONTEXT_INTERRUPT:
	case OH_CONTEXT_SOFTIRQ:
	case OH_CONTEXT_THREADED:
	case OH_CONTEXT_WORKER:
		return 0;
	default:
		return -EINVAL;
	}
}

static bool has_thread(enum oh_context_kind kind)
{
	return kind == OH_CONTEXT_FIFO || kind == OH_CONTEXT_ROUND_ROBIN ||
	       kind == OH_CONTEXT_NORMAL || kind == OH_CONTEXT_RESERVATION;
}

/* @return NULL if the kind has no thread, or the thread has not run yet */
static struct task_struct *thread_for(struct oh_kernel_context *c,
				      const struct oh_context_spec *spec)
{
	struct sched_attr attr;
	struct task_struct *thread;
	int error = attributes_of(spec, &attr);

	if (error)
		return ERR_PTR(error);
	if (!has_thread(spec->kind))
		return NULL;
	thread = kthread_create(run_thread, c, "offhook");
	if (IS_ERR(thread))
		return thread;
	error = sched_setattr_nocheck(thread, &attr);
	if (error) {
		kthread_stop(thread);
		return ERR_PTR(error);
	}
	return thread;
}

/* Waits until all requested runs have ended or can
 * no longer begin. @pre there are no new requests */
static void quiesce(struct oh_kernel_context *c)
{
	if (c->thread)
		kthread_stop(c->thread);
	c->thread = NULL;
	tasklet_kill(&c->tasklet);
	cancel_work_sync(&c->bh_work);
	cancel_work_sync(&c->work);
}

static int start(void *self)
{
	struct oh_kernel_context *c = self;
	struct task_struct *thread = thread_for(c, &c->spec);

	if (IS_ERR(thread))
		return PTR_ERR(thread);
	c->thread = thread;
	if (thread)
		wake_up_process(thread);
	atomic_set(&c->requests, 0);
	memset(&c->latency, 0, sizeof(c->latency));
	memset(c->histogram, 0, sizeof(c->histogram));
	c->started = true;
	return 0;
}

static void stop(void *self)
{
	struct oh_kernel_context *c = self;

	if (!c->started)
		return;
	c->started = false;
	quiesce(c);
}

static int reconfigure(void *self, const struct oh_context_spec *spec)
{
	struct oh_kernel_context *c = self;
	struct oh_context_spec checked = *spec;
	struct task_struct *thread;

	if (!c->started) {
		struct sched_attr attr;
		int error = attributes_of(spec, &attr);

		if (!error)
			c->spec = *spec;
		return error;
	}
	thread = thread_for(c, &checked);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	disable_irq(c->irq); /* and the handler's thread has finished */
	quiesce(c);
	c->spec = checked;
	c->thread = thread;
	if (thread)
		wake_up_process(thread);
	/* For a request to the old context that has not begun: a thread checks by itself. */
	if (atomic_read(&c->requests) > 0 && !thread) {
		unsigned long flags;

		if (checked.kind == OH_CONTEXT_THREADED || checked.kind == OH_CONTEXT_INTERRUPT) {
			local_irq_save(flags);
			run(c);
			local_irq_restore(flags);
		} else {
			request(c);
		}
	}
	enable_irq(c->irq);
	return 0;
}

static void latency(void *self, struct oh_context_latency *out)
{
	struct oh_kernel_context *c = self;

	out->count = READ_ONCE(c->latency.count);
	out->last_ns = READ_ONCE(c->latency.last_ns);
	out->max_ns = READ_ONCE(c->latency.max_ns);
}

static int describe_ms(char *text, size_t size, s64 ns)
{
	s64 ms = ns / NSEC_PER_MSEC, us = ns % NSEC_PER_MSEC / NSEC_PER_USEC;

	return us ? scnprintf(text, size, "%lld.%03lldms", ms, us)
		  : scnprintf(text, size, "%lldms", ms);
}

static size_t describe(void *self, char *text, size_t size)
{
	struct oh_kernel_context *c = self;
	const struct oh_context_spec *s = &c->spec;
	char budget[32], period[32];

	switch (s->kind) {
	case OH_CONTEXT_INTERRUPT:
		return snprintf(text, size, "INT");
	case OH_CONTEXT_SOFTIRQ:
		return snprintf(text, size, "SOFTIRQ");
	case OH_CONTEXT_THREADED:
		return snprintf(text, size, "THREADED");
	case OH_CONTEXT_WORKER:
		return snprintf(text, size, "WORKER");
	case OH_CONTEXT_FIFO:
		return snprintf(text, size, "FIFO %d", s->priority);
	case OH_CONTEXT_ROUND_ROBIN:
		return snprintf(text, size, "RR %d", s->priority);
	case OH_CONTEXT_NORMAL:
		return snprintf(text, size, "OTHER %d", s->nice);
	case OH_CONTEXT_RESERVATION:
		if (!s->period_ns)
			return snprintf(text, size, "RES %d/%d", s->x_ticks, s->y_ticks);
		describe_ms(budget, sizeof(budget), s->budget_ns);
		describe_ms(period, sizeof(period), s->period_ns);
		return snprintf(text, size, "RES %s/%s", budget, period);
	default:
		return snprintf(text, size, "?");
	}
}

static const struct oh_context_ops operations = {
	.struct_size = sizeof(operations),
	.start = start,
	.request = request,
	.stop = stop,
	.reconfigure = reconfigure,
	.latency = latency,
	.describe = describe,
};

int oh_kernel_context_init(struct oh_kernel_context *c, void (*service)(void *arg), void *arg,
			   int irq)
{
	c->context.ops = &operations;
	c->context.self = c;
	c->service = service;
	c->arg = arg;
	c->irq = irq;
	c->spec.struct_size = sizeof(c->spec);
	c->spec.kind = OH_CONTEXT_FIFO;
	c->spec.priority = MAX_RT_PRIO / 2; /* as sched_set_fifo() does */
	tasklet_setup(&c->tasklet, run_tasklet);
	INIT_WORK(&c->bh_work, run_bh_work);
	INIT_WORK(&c->work, run_work);
	c->workqueue = alloc_workqueue("offhook", WQ_HIGHPRI, 1);
	return c->workqueue ? 0 : -ENOMEM;
}

void oh_kernel_context_exit(struct oh_kernel_context *c)
{
	stop(c);
	if (c->workqueue)
		destroy_workqueue(c->workqueue);
	c->workqueue = NULL;
}
