// SPDX-License-Identifier: GPL-2.0-only
/* tty.c, and terminal_end.c up to its descriptor: the
 * serial port as a user of a tty in the kernel sees it. */
#include <kunit/test.h>
#include <linux/fdtable.h>
#include <linux/tty_driver.h>

#include "driver/linux/offhook.h"

enum { NUMBER = OH_DEVICES_MAX - 1, WRITTEN = 4096 };

struct fixture {
	struct oh_terminal *terminal;
	struct tty_struct *line;
};

static int init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	char name[16];
	dev_t device;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->terminal = oh_terminal_create(NUMBER, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(f->terminal));
	snprintf(name, sizeof(name), "ttySM%d", NUMBER);
	KUNIT_ASSERT_EQ(test, tty_dev_name_to_number(name, &device), 0);
	f->line = tty_kopen_exclusive(device);
	KUNIT_ASSERT_FALSE(test, IS_ERR(f->line));
	KUNIT_ASSERT_EQ(test, f->line->ops->open(f->line, NULL), 0);
	tty_unlock(f->line);
	return 0;
}

static void done(struct kunit *test)
{
	struct fixture *f = test->priv;

	if (f->line) {
		tty_lock(f->line);
		f->line->ops->close(f->line, NULL);
		tty_unlock(f->line);
		tty_kclose(f->line);
	}
	if (!IS_ERR_OR_NULL(f->terminal))
		oh_terminal_remove(f->terminal);
}

static int lines(struct fixture *f)
{
	return f->line->ops->tiocmget(f->line);
}

static void the_port_raises_and_drops_dtr_and_rts(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct tty_port *port = &f->terminal->port;

	port->ops->dtr_rts(port, true);
	KUNIT_EXPECT_EQ(test, lines(f), TIOCM_DTR | TIOCM_RTS);
	port->ops->dtr_rts(port, false);
	KUNIT_EXPECT_EQ(test, lines(f), 0);
	/* The DTE's lines are its own; it cannot set those of the modem. */
	f->line->ops->tiocmset(f->line, TIOCM_DTR | TIOCM_CAR | TIOCM_DSR, 0);
	KUNIT_EXPECT_EQ(test, lines(f), TIOCM_DTR);
	KUNIT_EXPECT_FALSE(test, port->ops->carrier_raised(port));
}

static void without_a_modem_what_is_written_is_lost(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, f->line->ops->write(f->line, "ATD", 3), 3);
	KUNIT_EXPECT_EQ(test, f->line->ops->chars_in_buffer(f->line), 0);
	KUNIT_EXPECT_EQ(test, f->terminal->counts.tx, 0);
}

static void with_one_it_waits_and_no_more_than_there_is_room_for(struct kunit *test)
{
	struct fixture *f = test->priv;
	u8 *octets = kunit_kzalloc(test, WRITTEN + 1, GFP_KERNEL);
	struct serial_icounter_struct counts = {};

	KUNIT_ASSERT_NOT_NULL(test, octets);
	atomic_set(&f->terminal->taken, 1);
	KUNIT_EXPECT_EQ(test, oh_terminal_take(f->terminal), -EBUSY);
	KUNIT_EXPECT_EQ(test, f->line->ops->write(f->line, octets, 3), 3);
	KUNIT_EXPECT_EQ(test, f->line->ops->chars_in_buffer(f->line), 3);
	KUNIT_EXPECT_EQ(test, f->line->ops->write_room(f->line), WRITTEN - 3);
	KUNIT_EXPECT_EQ(test, f->line->ops->write(f->line, octets, WRITTEN + 1), WRITTEN - 3);
	KUNIT_EXPECT_EQ(test, f->line->ops->write_room(f->line), 0);
	KUNIT_EXPECT_EQ(test, f->line->ops->get_icount(f->line, &counts), 0);
	KUNIT_EXPECT_EQ(test, counts.tx, WRITTEN);
	f->line->ops->flush_buffer(f->line);
	KUNIT_EXPECT_EQ(test, f->line->ops->write_room(f->line), WRITTEN);
	atomic_set(&f->terminal->taken, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(the_port_raises_and_drops_dtr_and_rts),
	KUNIT_CASE(without_a_modem_what_is_written_is_lost),
	KUNIT_CASE(with_one_it_waits_and_no_more_than_there_is_room_for),
	{},
};

static struct kunit_suite suite = {
	.name = "offhook_tty", .init = init, .exit = done, .test_cases = cases};
kunit_test_suite(suite);
