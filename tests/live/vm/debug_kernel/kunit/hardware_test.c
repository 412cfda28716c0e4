// SPDX-License-Identifier: GPL-2.0-only
/* hardware.c on registers, card memory and a queue in plain memory: which values of a card are
 * accepted, and which are not. */
#include <kunit/test.h>

#include "driver/linux/offhook.h"

enum { QUEUE = 256, RATE_HZ = 8000, RING = 512 };

static const struct oh_stream_format format = {
	.rate_hz = RATE_HZ,
	.encoding = OH_LINEAR16,
	.ring_samples = RING,
	.block_min = 1,
	.block_max = RING / 2,
};

/* A card that has already executed every command: its answer is the number of the newest. */
static void answer(struct oh_hardware *hw, u32 status)
{
	writel(hw->sequence + 1, &hw->registers->command_done);
	writel(status, &hw->registers->status);
}

static int init(struct kunit *test)
{
	struct oh_hardware *hw = kunit_kzalloc(test, sizeof(*hw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hw);
	hw->pci = kunit_kzalloc(test, sizeof(*hw->pci), GFP_KERNEL);
	hw->bar0 = (void __iomem __force *)kunit_kzalloc(test, 256, GFP_KERNEL);
	hw->registers = (void __iomem __force *)kunit_kzalloc(test, OH_PCI_BAR_SIZE, GFP_KERNEL);
	hw->queue = kunit_kzalloc(test, QUEUE * sizeof(*hw->queue), GFP_KERNEL);
	hw->streams.rx = format;
	hw->streams.tx = format;
	hw->memory_size = oh_card_size(&hw->streams);
	hw->memory = kunit_kzalloc(test, hw->memory_size, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, hw->pci && hw->bar0 && hw->registers && hw->queue && hw->memory);
	answer(hw, OH_PCI_STOPPED);
	KUNIT_ASSERT_EQ(test, oh_hardware_prepare(hw), 0);
	test->priv = hw;
	return 0;
}

static void pass(struct oh_hardware *hw, u64 position)
{
	struct oh_card_state *state = hw->memory;

	WRITE_ONCE(state->position, position);
}

static void end_block(struct oh_hardware *hw, u32 sequence, u64 end)
{
	struct oh_pci_descriptor *d = &hw->queue[(sequence - 1) % QUEUE];

	d->end = end;
	smp_store_release(&d->sequence, sequence);
}

static void takes_every_descriptor_of_one_interrupt(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;
	u32 k;

	pass(hw, 240);
	for (k = 1; k <= 3; ++k)
		end_block(hw, k, 80 * k);
	KUNIT_EXPECT_EQ(test, oh_hardware_take(hw), 3);
	KUNIT_EXPECT_EQ(test, hw->last_end, 240);
	KUNIT_EXPECT_EQ(test, hw->coalesced, 2);
	KUNIT_EXPECT_EQ(test, hw->interrupts, 1);
	KUNIT_EXPECT_EQ(test, hw->bad, 0);
	KUNIT_EXPECT_EQ(test, oh_hardware_take(hw), 0);
	KUNIT_EXPECT_EQ(test, hw->spurious, 1);
}

static void takes_descriptors_beyond_the_end_of_the_queue(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;
	u32 k;

	for (k = 1; k <= 3 * QUEUE; ++k) {
		pass(hw, k);
		end_block(hw, k, k);
		KUNIT_ASSERT_EQ(test, oh_hardware_take(hw), 1);
	}
	KUNIT_EXPECT_EQ(test, hw->bad, 0);
	KUNIT_EXPECT_EQ(test, hw->last_end, 3 * QUEUE);
}

static void counts_a_queue_that_was_lapped(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;
	u32 k;

	pass(hw, QUEUE + 2);
	for (k = 1; k <= QUEUE + 2; ++k)
		end_block(hw, k, k);
	/* The first two entries are from the second round, so their earlier contents are lost. */
	KUNIT_EXPECT_GT(test, oh_hardware_take(hw), 0);
	KUNIT_EXPECT_GT(test, hw->bad, 0);
	KUNIT_EXPECT_EQ(test, hw->last_end, QUEUE + 2);
}

static void ignores_a_block_that_has_not_passed(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;

	pass(hw, 80);
	end_block(hw, 1, 81);
	KUNIT_EXPECT_EQ(test, oh_hardware_take(hw), 0);
	KUNIT_EXPECT_EQ(test, hw->bad, 1);
	KUNIT_EXPECT_EQ(test, hw->last_end, 0);
	end_block(hw, 2, 80);
	KUNIT_EXPECT_EQ(test, oh_hardware_take(hw), 1);
}

static void ignores_a_block_that_ends_before_the_last_one(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;

	pass(hw, 160);
	end_block(hw, 1, 160);
	end_block(hw, 2, 80);
	KUNIT_EXPECT_EQ(test, oh_hardware_take(hw), 1);
	KUNIT_EXPECT_EQ(test, hw->bad, 1);
	KUNIT_EXPECT_EQ(test, hw->last_end, 160);
}

static void ignores_a_number_out_of_sequence(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;

	pass(hw, 80);
	hw->queue[0].end = 80;
	hw->queue[0].sequence = 7;
	KUNIT_EXPECT_EQ(test, oh_hardware_take(hw), 0);
	KUNIT_EXPECT_EQ(test, hw->next, 1);
}

static u64 position(struct oh_hardware *hw)
{
	return hw->card.ops->rx_position(hw->card.self);
}

static void believes_no_position_that_runs_back(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;

	pass(hw, 100);
	KUNIT_EXPECT_EQ(test, position(hw), 100);
	pass(hw, 99);
	KUNIT_EXPECT_EQ(test, position(hw), 100);
	KUNIT_EXPECT_FALSE(test, hw->failed);
}

static void fails_where_positions_jump_by_more_than_a_second(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;

	pass(hw, RATE_HZ);
	KUNIT_EXPECT_EQ(test, position(hw), RATE_HZ);
	KUNIT_EXPECT_FALSE(test, hw->failed);
	pass(hw, 2 * RATE_HZ + 1);
	KUNIT_EXPECT_EQ(test, position(hw), RATE_HZ);
	KUNIT_EXPECT_TRUE(test, hw->failed);
}

static void believes_no_loss_beyond_the_position(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;
	struct oh_card_state *state = hw->memory;

	pass(hw, 100);
	position(hw);
	WRITE_ONCE(state->rx_lost_before, U64_MAX);
	KUNIT_EXPECT_EQ(test, hw->card.ops->rx_lost_before(hw->card.self), 100);
}

static void rings_for_progress_only_where_the_card_wants_it(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;

	hw->doorbell = 0x10000;
	writel(0, hw->bar0 + OH_PCI_DOORBELL);
	hw->card.ops->tx_written(hw->card.self, 8);
	KUNIT_EXPECT_EQ(test, readl(hw->bar0 + OH_PCI_DOORBELL), 0);
	hw->features = OH_PCI_WANTS_PROGRESS;
	hw->card.ops->tx_written(hw->card.self, 16);
	KUNIT_EXPECT_EQ(test, readl(hw->bar0 + OH_PCI_DOORBELL),
			0x10000 + OH_PCI_DOORBELL_PROGRESS);
}

static void says_what_the_card_refuses(struct kunit *test)
{
	struct oh_hardware *hw = test->priv;

	answer(hw, OH_PCI_RUNNING);
	hw->memory_bus = 0x1122334455667780;
	KUNIT_EXPECT_EQ(test, oh_hardware_start(hw), 0);
	KUNIT_EXPECT_EQ(test, readl(&hw->registers->command), OH_PCI_START);
	KUNIT_EXPECT_EQ(test, readq(&hw->registers->memory_address), hw->memory_bus);
	KUNIT_EXPECT_EQ(test, readl(&hw->registers->queue_entries), QUEUE);
	answer(hw, OH_PCI_FAILED);
	KUNIT_EXPECT_EQ(test, oh_hardware_stop(hw), -EIO);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(takes_every_descriptor_of_one_interrupt),
	KUNIT_CASE(takes_descriptors_beyond_the_end_of_the_queue),
	KUNIT_CASE(counts_a_queue_that_was_lapped),
	KUNIT_CASE(ignores_a_block_that_has_not_passed),
	KUNIT_CASE(ignores_a_block_that_ends_before_the_last_one),
	KUNIT_CASE(ignores_a_number_out_of_sequence),
	KUNIT_CASE(believes_no_position_that_runs_back),
	KUNIT_CASE(fails_where_positions_jump_by_more_than_a_second),
	KUNIT_CASE(believes_no_loss_beyond_the_position),
	KUNIT_CASE(rings_for_progress_only_where_the_card_wants_it),
	KUNIT_CASE(says_what_the_card_refuses),
	{},
};

static struct kunit_suite suite = {.name = "offhook_hardware", .init = init, .test_cases = cases};
kunit_test_suite(suite);
