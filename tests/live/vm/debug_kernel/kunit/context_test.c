// SPDX-License-Identifier: GPL-2.0-only
/* context.c on simulated interrupts: which code calls service,
 * that no request is lost, and which contexts are refused. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/irq_sim.h>
#include <linux/irqdomain.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <uapi/linux/sched/types.h>

#include "driver/linux/offhook.h"

struct fixture {
	struct oh_kernel_context context;
	struct irq_domain *domain;
	int irq;
	struct completion served;
	/* of the latest service run */
	bool hard, soft, worker;
	unsigned int policy;
	int priority;
	/* requests when it ran: a service run after the last request has seen all of them */
	atomic_t requested, seen;
};

static void service(void *arg)
{
	struct fixture *f = arg;

	f->hard = in_hardirq();
	f->soft = !f->hard && in_serving_softirq();
	f->worker = in_task() && (current->flags & PF_WQ_WORKER);
	f->policy = in_task() ? current->policy : 0;
	f->priority = in_task() ? current->rt_priority : 0;
	atomic_set(&f->seen, atomic_read(&f->requested));
	complete(&f->served);
}

static irqreturn_t handle(int irq, void *arg)
{
	struct fixture *f = arg;

	atomic_inc(&f->requested);
	f->context.context.ops->request(f->context.context.self);
	return oh_kernel_context_irq(&f->context);
}

static irqreturn_t handle_threaded(int irq, void *arg)
{
	struct fixture *f = arg;

	oh_kernel_context_threaded(&f->context);
	return IRQ_HANDLED;
}

static int init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	init_completion(&f->served);
	f->domain = irq_domain_create_sim(NULL, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(f->domain));
	f->irq = irq_create_mapping(f->domain, 0);
	KUNIT_ASSERT_GT(test, f->irq, 0);
	KUNIT_ASSERT_EQ(test, oh_kernel_context_init(&f->context, service, f, f->irq), 0);
	KUNIT_ASSERT_EQ(test,
			request_threaded_irq(f->irq, handle, handle_threaded, IRQF_NO_THREAD,
					     "offhook test", f),
			0);
	test->priv = f;
	return 0;
}

static void done(struct kunit *test)
{
	struct fixture *f = test->priv;

	free_irq(f->irq, f);
	oh_kernel_context_exit(&f->context);
	irq_dispose_mapping(f->irq);
	irq_domain_remove_sim(f->domain);
}

static void fire(struct fixture *f)
{
	irq_set_irqchip_state(f->irq, IRQCHIP_STATE_PENDING, true);
}

static int become(struct fixture *f, struct oh_context_spec spec)
{
	spec.struct_size = sizeof(spec);
	return oh_context_reconfigure(&f->context.context, &spec);
}

static void start(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, f->context.context.ops->start(f->context.context.self), 0);
}

/* One interrupt, and the service run that it causes. */
static void serve(struct kunit *test, struct oh_context_spec spec)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, become(f, spec), 0);
	start(test);
	fire(f);
	KUNIT_ASSERT_GT(test, wait_for_completion_timeout(&f->served, 10 * HZ), 0);
	KUNIT_EXPECT_EQ(test, oh_context_latency_of(&f->context.context).count, 1);
	f->context.context.ops->stop(f->context.context.self);
}

static void int_runs_in_the_hard_interrupt(struct kunit *test)
{
	serve(test, (struct oh_context_spec){.kind = OH_CONTEXT_INTERRUPT});
	KUNIT_EXPECT_TRUE(test, ((struct fixture *)test->priv)->hard);
}

static void softirq_runs_in_one(struct kunit *test)
{
	serve(test, (struct oh_context_spec){.kind = OH_CONTEXT_SOFTIRQ});
	KUNIT_EXPECT_TRUE(test, ((struct fixture *)test->priv)->soft);
}

static void threaded_runs_in_the_thread_of_the_interrupt(struct kunit *test)
{
	struct fixture *f = test->priv;

	serve(test, (struct oh_context_spec){.kind = OH_CONTEXT_THREADED});
	KUNIT_EXPECT_FALSE(test, f->hard || f->soft || f->worker);
	KUNIT_EXPECT_EQ(test, f->policy, SCHED_FIFO);
}

static void worker_runs_in_a_workqueue(struct kunit *test)
{
	serve(test, (struct oh_context_spec){.kind = OH_CONTEXT_WORKER});
	KUNIT_EXPECT_TRUE(test, ((struct fixture *)test->priv)->worker);
}

static void threads_have_the_policy_that_was_asked_for(struct kunit *test)
{
	struct fixture *f = test->priv;

	serve(test, (struct oh_context_spec){.kind = OH_CONTEXT_FIFO, .priority = 37});
	KUNIT_EXPECT_EQ(test, f->policy, SCHED_FIFO);
	KUNIT_EXPECT_EQ(test, f->priority, 37);
	serve(test, (struct oh_context_spec){.kind = OH_CONTEXT_ROUND_ROBIN, .priority = 1});
	KUNIT_EXPECT_EQ(test, f->policy, SCHED_RR);
	serve(test, (struct oh_context_spec){.kind = OH_CONTEXT_NORMAL, .nice = -5});
	KUNIT_EXPECT_EQ(test, f->policy, SCHED_NORMAL);
	serve(test, (struct oh_context_spec){.kind = OH_CONTEXT_RESERVATION,
					     .budget_ns = 2 * NSEC_PER_MSEC,
					     .period_ns = 16 * NSEC_PER_MSEC});
	KUNIT_EXPECT_EQ(test, f->policy, SCHED_DEADLINE);
}

static void no_request_is_lost_when_the_context_changes(struct kunit *test)
{
	static const struct oh_context_spec specs[] = {
		{.kind = OH_CONTEXT_INTERRUPT},
		{.kind = OH_CONTEXT_SOFTIRQ},
		{.kind = OH_CONTEXT_THREADED},
		{.kind = OH_CONTEXT_FIFO, .priority = 50},
		{.kind = OH_CONTEXT_WORKER},
		{.kind = OH_CONTEXT_RESERVATION,
		 .budget_ns = NSEC_PER_MSEC,
		 .period_ns = 8 * NSEC_PER_MSEC},
		{.kind = OH_CONTEXT_NORMAL},
	};
	struct fixture *f = test->priv;
	int requests = 0, from, to, k;

	start(test);
	for (from = 0; from < ARRAY_SIZE(specs); ++from) {
		for (to = 0; to < ARRAY_SIZE(specs); ++to, requests += 2) {
			/* without waiting: the old context may or may not have begun */
			fire(f);
			KUNIT_ASSERT_EQ(test, become(f, specs[from]), 0);
			fire(f);
			KUNIT_ASSERT_EQ(test, become(f, specs[to]), 0);
		}
	}
	for (k = 0; k < 1000 && atomic_read(&f->seen) != requests; ++k)
		msleep(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->requested), requests);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->seen), requests);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->context.requests), 0);
}

static void what_is_no_context_of_a_kernel_is_refused(struct kunit *test)
{
	static const struct oh_context_spec specs[] = {
		{.kind = OH_CONTEXT_DPC},
		{.kind = OH_CONTEXT_THREAD, .priority = 24},
		{.kind = OH_CONTEXT_FIFO, .priority = 0},
		{.kind = OH_CONTEXT_FIFO, .priority = MAX_RT_PRIO},
		{.kind = OH_CONTEXT_ROUND_ROBIN, .priority = -1},
		{.kind = OH_CONTEXT_NORMAL, .nice = MIN_NICE - 1},
		{.kind = OH_CONTEXT_NORMAL, .nice = MAX_NICE + 1},
		{.kind = OH_CONTEXT_RESERVATION},
		{.kind = OH_CONTEXT_RESERVATION,
		 .budget_ns = 9 * NSEC_PER_MSEC,
		 .period_ns = 8 * NSEC_PER_MSEC},
		{.kind = OH_CONTEXT_RESERVATION, .budget_ns = -1, .period_ns = NSEC_PER_MSEC},
		{.kind = OH_CONTEXT_RESERVATION, .x_ticks = -2, .y_ticks = -1},
		{.kind = OH_CONTEXT_RESERVATION, .x_ticks = 3, .y_ticks = 2},
	};
	struct fixture *f = test->priv;
	int running, k;

	for (running = 0; running < 2; ++running) {
		for (k = 0; k < ARRAY_SIZE(specs); ++k)
			KUNIT_EXPECT_EQ_MSG(test, become(f, specs[k]), -EINVAL, "spec %d", k);
		if (!running)
			start(test);
	}
	KUNIT_EXPECT_EQ(test, f->context.spec.kind, OH_CONTEXT_FIFO);
}

/* No kernel admits more than its CPUs; the context is unchanged. */
static void a_reservation_that_is_not_admitted_changes_nothing(struct kunit *test)
{
	struct fixture *f = test->priv;

	start(test);
	KUNIT_EXPECT_EQ(test,
			become(f,
			       (struct oh_context_spec){
				       .kind = OH_CONTEXT_RESERVATION,
				       .budget_ns = 8 * NSEC_PER_MSEC * num_online_cpus(),
				       .period_ns = 8 * NSEC_PER_MSEC * num_online_cpus()}),
			-EBUSY);
	fire(f);
	KUNIT_EXPECT_GT(test, wait_for_completion_timeout(&f->served, 10 * HZ), 0);
	KUNIT_EXPECT_EQ(test, f->policy, SCHED_FIFO);
}

static void describes_itself_in_the_grammar(struct kunit *test)
{
	static const struct {
		struct oh_context_spec spec;
		const char *text;
	} rows[] = {
		{{.kind = OH_CONTEXT_INTERRUPT}, "INT"},
		{{.kind = OH_CONTEXT_NORMAL, .nice = -5}, "OTHER -5"},
		{{.kind = OH_CONTEXT_RESERVATION, .x_ticks = 2, .y_ticks = 8}, "RES 2/8"},
		{{.kind = OH_CONTEXT_RESERVATION,
		  .budget_ns = 1500 * NSEC_PER_USEC,
		  .period_ns = 8 * NSEC_PER_MSEC},
		 "RES 1.500ms/8ms"},
	};
	struct fixture *f = test->priv;
	char text[64];
	int k;

	for (k = 0; k < ARRAY_SIZE(rows); ++k) {
		KUNIT_EXPECT_EQ(test, become(f, rows[k].spec), 0);
		KUNIT_EXPECT_EQ(test, oh_context_describe(&f->context.context, text, sizeof(text)),
				strlen(rows[k].text));
		KUNIT_EXPECT_STREQ(test, text, rows[k].text);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(int_runs_in_the_hard_interrupt),
	KUNIT_CASE(softirq_runs_in_one),
	KUNIT_CASE(threaded_runs_in_the_thread_of_the_interrupt),
	KUNIT_CASE(worker_runs_in_a_workqueue),
	KUNIT_CASE(threads_have_the_policy_that_was_asked_for),
	KUNIT_CASE(no_request_is_lost_when_the_context_changes),
	KUNIT_CASE(what_is_no_context_of_a_kernel_is_refused),
	KUNIT_CASE(a_reservation_that_is_not_admitted_changes_nothing),
	KUNIT_CASE(describes_itself_in_the_grammar),
	{},
};

static struct kunit_suite suite = {
	.name = "offhook_context", .init = init, .exit = done, .test_cases = cases};
kunit_test_suite(suite);
