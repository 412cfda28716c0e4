// SPDX-License-Identifier: GPL-2.0-only
/* link.c above a DMT pump: what is counted of the cells, from a write to a read. */
#include <kunit/test.h>

#include "driver/linux/offhook.h"
#include "dsp/dmt/pump.h"

enum {
	RATE_HZ = 276000,
	LINE_CELL = 53,
	HEC = 4,      /* its place in a cell of the line */
	SETTLED = 32, /* cells: the sender begins with 16 idle ones, the receiver is sure after 7 */
	ALPHA = 7,    /* wrong headers in a row that lose the delineation: I.432.1 4.3.3.2 */
	HELD = 78,    /* cells that the link holds for who reads */
};

/* Octets of the first one's pump are those of the second one's. */
struct fixture {
	struct oh_fpu fpu;
	struct oh_link link[2];
	struct oh_bit_port port[2];
	u8 line[LINE_CELL], cells[(HELD + 1) * OH_CELL_OCTETS];
};

static const struct oh_cells_status *look(struct fixture *f, int k)
{
	const struct oh_pump_status pump = {.state = OH_PUMP_DATA};

	oh_fpu_begin(&f->fpu);
	oh_link_follow(&f->link[k], &pump, 0);
	oh_fpu_end(&f->fpu);
	return &f->link[k].cells_status;
}

/* So many cells go over the line; with `damage`, each with a wrong header. */
static void pass(struct fixture *f, int cells, bool damage)
{
	int k;

	for (k = 0; k < cells; ++k) {
		oh_fpu_begin(&f->fpu);
		oh_port_get(&f->port[0], f->line, 8 * LINE_CELL);
		if (damage)
			f->line[HEC] ^= 0x81;
		oh_port_put(&f->port[1], f->line, 8 * LINE_CELL);
		oh_fpu_end(&f->fpu);
	}
}

/* The cell with this number, which is no idle one. */
static void make(u8 *cell, u8 number)
{
	int k;

	for (k = 0; k < OH_CELL_OCTETS; ++k)
		cell[k] = number + k;
}

static void put(struct kunit *test, u8 number)
{
	struct fixture *f = test->priv;
	size_t room;

	make(f->cells, number);
	oh_fpu_begin(&f->fpu);
	room = oh_link_writable(&f->link[0], OH_CELL_OCTETS);
	oh_link_write(&f->link[0], f->cells, room);
	oh_fpu_end(&f->fpu);
	KUNIT_ASSERT_EQ(test, room, OH_CELL_OCTETS);
}

/* @return octets */
static size_t get(struct fixture *f)
{
	size_t n;

	oh_fpu_begin(&f->fpu);
	n = oh_link_read(&f->link[1], f->cells, sizeof(f->cells));
	oh_fpu_end(&f->fpu);
	return n;
}

static int init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	const struct oh_kernel_call call = {.struct_size = sizeof(call)};
	int k;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	for (k = 0; k < 2; ++k) {
		KUNIT_ASSERT_EQ(
			test,
			oh_link_create(&f->link[k], &call,
				       k == 0 ? oh_dmt_central_type() : oh_dmt_remote_type(),
				       RATE_HZ, NULL, &f->fpu),
			0);
		oh_fpu_begin(&f->fpu);
		oh_link_port(&f->link[k], &f->port[k]);
		oh_fpu_end(&f->fpu);
		KUNIT_ASSERT_EQ(test, oh_link_unit(&f->link[k]), OH_CELL_OCTETS);
	}
	pass(f, SETTLED, false);
	return 0;
}

static void done(struct kunit *test)
{
	struct fixture *f = test->priv;

	if (!f)
		return;
	oh_link_destroy(&f->link[0]);
	oh_link_destroy(&f->link[1]);
}

static void cells_come_whole_and_are_counted(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 idle = look(f, 1)->idle_received;
	u8 wanted[OH_CELL_OCTETS];
	u8 k;

	KUNIT_EXPECT_GT(test, idle, 0);
	for (k = 1; k <= 3; ++k)
		put(test, k);
	KUNIT_EXPECT_EQ(test, oh_link_unsent(&f->link[0]), 3 * OH_CELL_OCTETS);
	pass(f, 8, false);
	KUNIT_EXPECT_EQ(test, oh_link_unsent(&f->link[0]), 0);
	KUNIT_EXPECT_EQ(test, look(f, 0)->sent, 3);
	KUNIT_EXPECT_EQ(test, look(f, 1)->received, 3);
	KUNIT_EXPECT_EQ(test, look(f, 1)->idle_received, idle + 5);
	KUNIT_EXPECT_EQ(test, look(f, 1)->hec_errors, 0);
	KUNIT_EXPECT_EQ(test, look(f, 1)->losses, 0);
	KUNIT_EXPECT_EQ(test, look(f, 1)->overflows, 0);
	KUNIT_ASSERT_EQ(test, get(f), 3 * OH_CELL_OCTETS);
	for (k = 1; k <= 3; ++k) {
		make(wanted, k);
		KUNIT_EXPECT_EQ(test,
				memcmp(f->cells + (k - 1) * OH_CELL_OCTETS, wanted, sizeof(wanted)),
				0);
	}
}

static void cells_that_find_those_before_unread_are_dropped_and_counted(struct kunit *test)
{
	struct fixture *f = test->priv;
	u8 k;

	for (k = 1; k <= HELD + 22; ++k) {
		put(test, k);
		pass(f, 1, false);
	}
	KUNIT_EXPECT_EQ(test, look(f, 1)->received, HELD + 22);
	KUNIT_EXPECT_EQ(test, look(f, 1)->overflows, 22);
	KUNIT_EXPECT_EQ(test, get(f), HELD * OH_CELL_OCTETS);
	put(test, k);
	pass(f, 1, false);
	KUNIT_EXPECT_EQ(test, look(f, 1)->overflows, 22);
	KUNIT_EXPECT_EQ(test, get(f), OH_CELL_OCTETS);
	KUNIT_EXPECT_EQ(test, f->cells[0], k);
}

static void wrong_headers_are_counted_and_too_many_lose_the_delineation(struct kunit *test)
{
	struct fixture *f = test->priv;

	pass(f, ALPHA - 1, true);
	pass(f, 1, false);
	KUNIT_EXPECT_EQ(test, look(f, 1)->hec_errors, ALPHA - 1);
	KUNIT_EXPECT_EQ(test, look(f, 1)->losses, 0);
	pass(f, ALPHA, true);
	KUNIT_EXPECT_EQ(test, look(f, 1)->hec_errors, 2 * ALPHA - 1);
	KUNIT_EXPECT_EQ(test, look(f, 1)->losses, 1);
	/* It is found again. */
	pass(f, SETTLED, false);
	put(test, 9);
	pass(f, 1, false);
	KUNIT_EXPECT_EQ(test, get(f), OH_CELL_OCTETS);
	KUNIT_EXPECT_EQ(test, look(f, 1)->losses, 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(cells_come_whole_and_are_counted),
	KUNIT_CASE(cells_that_find_those_before_unread_are_dropped_and_counted),
	KUNIT_CASE(wrong_headers_are_counted_and_too_many_lose_the_delineation),
	{},
};

static struct kunit_suite suite = {
	.name = "offhook_link", .init = init, .exit = done, .test_cases = cases};
kunit_test_suite(suite);
