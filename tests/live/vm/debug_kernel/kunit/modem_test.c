// SPDX-License-Identifier: GPL-2.0-only
/* modem.c: one end of a connection from its creation on, and two of them on one line. */
#include <kunit/test.h>
#include <linux/irq_work.h>
#include <linux/vmalloc.h>

#include "driver/linux/offhook.h"

enum { RATE_HZ = 8000, EVENTS = 4096, BLOCK = 80 };

struct fixture {
	struct oh_event_log log;
	struct oh_event *events;
	struct irq_work wake;
	int woken;
};

static void wake(struct irq_work *work)
{
	struct fixture *f = container_of(work, struct fixture, wake);

	WRITE_ONCE(f->woken, f->woken + 1);
}

static int init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	init_irq_work(&f->wake, wake);
	f->events = vzalloc(EVENTS * sizeof(*f->events));
	KUNIT_ASSERT_NOT_NULL(test, f->events);
	return oh_event_log_init(&f->log, f->events, EVENTS, 0);
}

static void done(struct kunit *test)
{
	struct fixture *f = test->priv;

	irq_work_sync(&f->wake);
	vfree(f->events);
}

static struct oh_kernel_call call_of(const char *pump)
{
	struct oh_kernel_call call = {
		.struct_size = sizeof(call),
		.role = OH_PUMP_CALL,
		.link.error_control = OH_ERROR_CONTROL_REQUIRED,
		.transmit_lead_samples = BLOCK,
	};

	strscpy(call.pump, pump, sizeof(call.pump));
	return call;
}

static struct oh_kernel_end *create(struct kunit *test, const struct oh_kernel_call *call)
{
	const struct oh_stream_format format = {
		.rate_hz = RATE_HZ,
		.encoding = OH_LINEAR16,
		.ring_samples = 512,
		.block_min = 1,
		.block_max = 256,
	};
	const struct oh_streams card = {.rx = format, .tx = format};
	struct fixture *f = test->priv;

	return oh_kernel_end_create(call, &card, &f->log, &f->wake);
}

static void refuses_what_is_no_call(struct kunit *test)
{
	struct oh_kernel_call call = call_of("v17");

	KUNIT_EXPECT_EQ(test, PTR_ERR(create(test, &call)), -ENOENT);
	call = call_of("dmt"); /* with a rate other than the card's */
	KUNIT_EXPECT_EQ(test, PTR_ERR(create(test, &call)), -EINVAL);
	call = call_of("v34");
	call.role = 7;
	KUNIT_EXPECT_EQ(test, PTR_ERR(create(test, &call)), -EINVAL);
	call = call_of("v34");
	call.link.error_control = OH_ERROR_CONTROL_REQUIRED + 1;
	KUNIT_EXPECT_EQ(test, PTR_ERR(create(test, &call)), -EINVAL);
	call = call_of("v34");
	call.max_bit_rate = 1;
	KUNIT_EXPECT_TRUE(test, IS_ERR(create(test, &call)));
	/* A name as long as its field has no terminator. */
	memset(call.pump, 'v', sizeof(call.pump));
	KUNIT_EXPECT_EQ(test, PTR_ERR(create(test, &call)), -ENOENT);
}

/* Two ends, each the far end of the other. Too large for a stack. */
struct talk {
	struct oh_kernel_call call[2];
	struct oh_kernel_end *end[2];
	s16 sent[2][BLOCK], heard[2][BLOCK];
	struct oh_kernel_status status;
};

static const struct oh_kernel_status *look(struct talk *t, int k)
{
	memset(&t->status, 0, sizeof(t->status));
	oh_kernel_end_status(t->end[k], &t->status);
	return &t->status;
}

/* V.32bis, because its start-up is the shortest. */
static void two_on_one_line_reach_data(struct kunit *test)
{
	struct talk *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct fixture *f = test->priv;
	int k, n;

	KUNIT_ASSERT_NOT_NULL(test, t);
	for (k = 0; k < 2; ++k) {
		t->call[k] = call_of("v32bis");
		t->call[k].role = k == 0 ? OH_PUMP_CALL : OH_PUMP_ANSWER;
		t->end[k] = create(test, &t->call[k]);
		KUNIT_ASSERT_FALSE(test, IS_ERR(t->end[k]));
		KUNIT_EXPECT_FALSE(test, oh_kernel_end_readable(t->end[k]));
		KUNIT_EXPECT_TRUE(test, oh_kernel_end_writable(t->end[k]));
	}
	for (n = 0; n < 20 * RATE_HZ; n += BLOCK) {
		memcpy(t->heard[0], t->sent[1], sizeof(t->heard[0]));
		memcpy(t->heard[1], t->sent[0], sizeof(t->heard[1]));
		for (k = 0; k < 2; ++k)
			oh_kernel_end_pump(t->end[k]).process(t->end[k], t->heard[k], t->sent[k],
							      BLOCK);
		if (look(t, 0)->pump == OH_PUMP_DATA && look(t, 1)->pump == OH_PUMP_DATA)
			break;
	}
	for (k = 0; k < 2; ++k) {
		KUNIT_EXPECT_EQ(test, look(t, k)->pump, OH_PUMP_DATA);
		KUNIT_EXPECT_EQ(test, t->status.samples, n + BLOCK);
		KUNIT_EXPECT_GT(test, t->status.tx_bit_rate, 0);
		KUNIT_EXPECT_FALSE(test, oh_kernel_end_ended(t->end[k]));
		oh_kernel_end_pump(t->end[k]).report_gap(t->end[k], 3);
		KUNIT_EXPECT_EQ(test, look(t, k)->samples, n + BLOCK + 3);
	}
	KUNIT_EXPECT_GT(test, READ_ONCE(f->woken), 0);
	for (k = 0; k < 2; ++k)
		oh_kernel_end_destroy(t->end[k]);
}

enum {
	LOOP_HZ = 276000,
	LOOP_RATIO = 4,
	LOOP_BLOCK = 1104,
	LOOP_LOST_MS = 40,
	LOOP_LOSS = 8, /* 18 dB, because a receiver's level is not full scale */
};

/* G.lite: the exchange's end sends four samples per period. */
struct loop {
	struct oh_kernel_call call[2];
	struct oh_kernel_end *end[2];
	s16 up[LOOP_BLOCK], down[LOOP_BLOCK * LOOP_RATIO];
	struct oh_kernel_status status[2];
};

static bool loop_in_data(struct loop *t)
{
	int k;

	for (k = 0; k < 2; ++k) {
		memset(&t->status[k], 0, sizeof(t->status[k]));
		oh_kernel_end_status(t->end[k], &t->status[k]);
	}
	return t->status[0].pump == OH_PUMP_DATA && t->status[1].pump == OH_PUMP_DATA;
}

/* Each receives what the other one sent in the previous block. */
static void loop_block(struct loop *t, s16 *up, s16 *down)
{
	int k;

	oh_kernel_end_pump(t->end[0]).process(t->end[0], t->down, up, LOOP_BLOCK);
	oh_kernel_end_pump(t->end[1]).process(t->end[1], t->up, down, LOOP_BLOCK);
	for (k = 0; k < LOOP_BLOCK; ++k)
		t->up[k] = up[k] / LOOP_LOSS;
	for (k = 0; k < LOOP_BLOCK * LOOP_RATIO; ++k)
		t->down[k] = down[k] / LOOP_LOSS;
}

/* The effect of a lost piece of the line is in the status: idle cells, which have no reader. */
static void cells_lost_on_a_loop_are_in_the_status(struct kunit *test)
{
	const struct oh_stream_format slow = {
		.rate_hz = LOOP_HZ,
		.encoding = OH_LINEAR16,
		.ring_samples = 4096,
		.block_min = 1,
		.block_max = 2048,
	};
	struct oh_stream_format fast = slow;
	struct loop *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	s16 *up = kunit_kzalloc(test, sizeof(t->up), GFP_KERNEL);
	s16 *down = kunit_kzalloc(test, sizeof(t->down), GFP_KERNEL);
	struct fixture *f = test->priv;
	u64 idle;
	int k, n;

	KUNIT_ASSERT_TRUE(test, t && up && down);
	fast.rate_hz *= LOOP_RATIO;
	fast.ring_samples *= LOOP_RATIO;
	for (k = 0; k < 2; ++k) {
		const struct oh_streams card = {.rx = k == 0 ? fast : slow,
						.tx = k == 0 ? slow : fast};

		t->call[k] = call_of("dmt");
		t->call[k].role = k == 0 ? OH_PUMP_CALL : OH_PUMP_ANSWER;
		t->end[k] = oh_kernel_end_create(&t->call[k], &card, &f->log, &f->wake);
		KUNIT_ASSERT_FALSE(test, IS_ERR(t->end[k]));
	}
	for (n = 0; n < 3 * LOOP_HZ && !loop_in_data(t); n += LOOP_BLOCK)
		loop_block(t, up, down);
	for (n = 0; n < LOOP_HZ / 5; n += LOOP_BLOCK)
		loop_block(t, up, down);
	KUNIT_ASSERT_TRUE(test, loop_in_data(t));
	for (k = 0; k < 2; ++k) {
		KUNIT_EXPECT_GT(test, t->status[k].cells_idle, 0);
		KUNIT_EXPECT_EQ(test, t->status[k].cells_sent, 0);
		KUNIT_EXPECT_EQ(test, t->status[k].cells_received, 0);
		KUNIT_EXPECT_EQ(test, t->status[k].hec_errors, 0);
		KUNIT_EXPECT_EQ(test, t->status[k].delineation_losses, 0);
	}
	idle = t->status[0].cells_idle;
	for (n = 0; n < LOOP_HZ / 1000 * LOOP_LOST_MS; n += LOOP_BLOCK) {
		memset(t->down, 0, sizeof(t->down));
		loop_block(t, up, down);
	}
	for (n = 0; n < LOOP_HZ / 5; n += LOOP_BLOCK)
		loop_block(t, up, down);
	KUNIT_EXPECT_TRUE(test, loop_in_data(t));
	KUNIT_EXPECT_GT(test, t->status[0].hec_errors, 0);
	KUNIT_EXPECT_GE(test, t->status[0].delineation_losses, 1);
	KUNIT_EXPECT_GT(test, t->status[0].cells_idle, idle);
	KUNIT_EXPECT_EQ(test, t->status[0].cells_unread, 0);
	KUNIT_EXPECT_EQ(test, t->status[1].delineation_losses, 0);
	for (k = 0; k < 2; ++k)
		oh_kernel_end_destroy(t->end[k]);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(refuses_what_is_no_call),
	KUNIT_CASE_SLOW(two_on_one_line_reach_data),
	KUNIT_CASE_SLOW(cells_lost_on_a_loop_are_in_the_status),
	{},
};

static struct kunit_suite suite = {
	.name = "offhook_modem", .init = init, .exit = done, .test_cases = cases};
kunit_test_suite(suite);
