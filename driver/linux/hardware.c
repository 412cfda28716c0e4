// SPDX-License-Identifier: GPL-2.0-only
/*
 * The card, from the driver's side. Others write its memory, so every value is checked. Positions
 * must grow, by at most a second between two checks; otherwise the card has failed. Descriptors
 * must be in sequence and end blocks that have passed; others are counted as bad and ignored.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iopoll.h>

#include "offhook.h"

enum {
	QUEUE_ENTRIES = 256, /* of blocks of one sample: 32 ms */
	MEMORY_MAX = SZ_1M,
	COMMAND_TIMEOUT_US = 5000000,
	SECONDS_AT_ONCE = 1,
	UNREAD_MAX = 1024, /* of the log: about 100 blocks' events */
};

static struct oh_hardware *hardware_of(void *self)
{
	return self;
}

static u64 believed(struct oh_hardware *hw, u64 position)
{
	u64 known = atomic64_read(&hw->known);

	if (position <= known)
		return known;
	if (position - known > (u64)SECONDS_AT_ONCE * oh_streams_rate_hz(&hw->streams)) {
		WRITE_ONCE(hw->failed, true);
		return known;
	}
	atomic64_cmpxchg(&hw->known, known, position);
	return position;
}

static u64 op_acknowledge(void *self)
{
	return hardware_of(self)->last_end;
}

static u64 op_position(void *self)
{
	struct oh_hardware *hw = self;

	return believed(hw, hw->raw.ops->rx_position(hw->raw.self));
}

static int op_set_block(void *self, u32 periods)
{
	struct oh_hardware *hw = self;

	return hw->raw.ops->set_block(hw->raw.self, periods);
}

static void ring(struct oh_hardware *hw, enum oh_pci_doorbell vector)
{
	writel(hw->doorbell + vector, hw->bar0 + OH_PCI_DOORBELL);
}

static bool log_is_behind(const struct oh_hardware *hw)
{
	const struct oh_event_log *log = READ_ONCE(hw->read_log);

	return log && READ_ONCE(log->head) - READ_ONCE(log->tail) > UNREAD_MAX;
}

/*
 * Such a card's next interrupt follows this one immediately. If these are served in the interrupt,
 * no program gets the CPU during the call.
 */
static void tell_progress(struct oh_hardware *hw)
{
	WRITE_ONCE(hw->untold, 1);
	smp_mb(); /* the program takes events, and then checks it */
	if (!log_is_behind(hw) && xchg(&hw->untold, 0))
		ring(hw, OH_PCI_DOORBELL_PROGRESS);
}

void oh_hardware_log_read(struct oh_hardware *hw)
{
	smp_mb(); /* as above */
	if (!log_is_behind(hw) && xchg(&hw->untold, 0))
		ring(hw, OH_PCI_DOORBELL_PROGRESS);
}

static void op_tx_written(void *self, u64 position)
{
	struct oh_hardware *hw = self;

	hw->raw.ops->tx_written(hw->raw.self, position);
	if (hw->features & OH_PCI_WANTS_PROGRESS)
		tell_progress(hw);
}

static void op_rx_read(void *self, u64 position)
{
	struct oh_hardware *hw = self;

	hw->raw.ops->rx_read(hw->raw.self, position);
}

static u64 op_rx_lost_before(void *self)
{
	struct oh_hardware *hw = self;

	return min_t(u64, hw->raw.ops->rx_lost_before(hw->raw.self), atomic64_read(&hw->known));
}

static const struct oh_card_ops operations = {
	.acknowledge = op_acknowledge,
	.rx_position = op_position,
	.tx_position = op_position,
	.set_block = op_set_block,
	.tx_written = op_tx_written,
	.rx_read = op_rx_read,
	.rx_lost_before = op_rx_lost_before,
};

static int command(struct oh_hardware *hw, enum oh_pci_command what)
{
	struct oh_pci_registers __iomem *r = hw->registers;
	u32 done;
	int error;

	writel(what, &r->command);
	writel(++hw->sequence, &r->command_sequence);
	ring(hw, OH_PCI_DOORBELL_COMMAND);
	error = readl_poll_timeout(&r->command_done, done, done == hw->sequence, 1000,
				   COMMAND_TIMEOUT_US);
	if (error) {
		dev_err(&hw->pci->dev, "the card does not answer to %d\n", what);
		return error;
	}
	if (readl(&r->status) == OH_PCI_FAILED) {
		dev_err(&hw->pci->dev, "the card refused %d: error %u\n", what, readl(&r->error));
		return -EIO;
	}
	return 0;
}

int oh_hardware_probe(struct oh_hardware *hw, struct pci_dev *pci)
{
	struct oh_pci_registers __iomem *r;
	int error;

	hw->pci = pci;
	error = pcim_enable_device(pci);
	if (error)
		return error;
	if (pci_resource_len(pci, 2) < sizeof(*r))
		return -ENODEV;
	error = pcim_iomap_regions(pci, BIT(0) | BIT(2), KBUILD_MODNAME);
	if (error)
		return error;
	hw->bar0 = pcim_iomap_table(pci)[0];
	r = pcim_iomap_table(pci)[2];
	hw->registers = r;
	/* An ivshmem device of another owner is not a card. */
	if (readl(&r->magic) != OH_PCI_MAGIC)
		return -ENODEV;
	if (readl(&r->version) != OH_PCI_VERSION) {
		dev_info(&pci->dev, "a card of version %u; this driver supports %u\n",
			 readl(&r->version), OH_PCI_VERSION);
		return -ENODEV;
	}
	hw->features = readl(&r->features);
	hw->doorbell = readl(&r->doorbell);
	hw->sequence = readl(&r->command_sequence);
	memcpy_fromio(&hw->streams, &r->streams, sizeof(hw->streams));
	hw->memory_size = oh_card_size(&hw->streams);
	if (hw->memory_size == 0 || hw->memory_size > MEMORY_MAX) {
		dev_err(&pci->dev, "the card describes invalid streams\n");
		return -EINVAL;
	}
	pci_set_master(pci);
	error = dma_set_mask_and_coherent(&pci->dev, DMA_BIT_MASK(64));
	if (error)
		return error;
	hw->memory = dmam_alloc_coherent(&pci->dev, hw->memory_size, &hw->memory_bus, GFP_KERNEL);
	hw->queue = dmam_alloc_coherent(&pci->dev, QUEUE_ENTRIES * sizeof(*hw->queue),
					&hw->queue_bus, GFP_KERNEL);
	if (!hw->memory || !hw->queue)
		return -ENOMEM;
	return command(hw, OH_PCI_RESET);
}

int oh_hardware_prepare(struct oh_hardware *hw)
{
	int error = command(hw, OH_PCI_RESET);

	if (error)
		return error;
	error = oh_card_init(hw->memory, &hw->streams);
	if (!error)
		error = oh_card_attach(&hw->raw, hw->memory, hw->memory_size);
	if (error)
		return error;
	memset(hw->queue, 0, QUEUE_ENTRIES * sizeof(*hw->queue));
	hw->card = hw->raw;
	hw->card.ops = &operations;
	hw->card.self = hw;
	hw->next = 1;
	hw->last_end = 0;
	atomic64_set(&hw->known, 0);
	hw->failed = false;
	hw->interrupts = 0;
	hw->coalesced = 0;
	hw->spurious = 0;
	hw->bad = 0;
	hw->untold = 0;
	return 0;
}

int oh_hardware_start(struct oh_hardware *hw)
{
	struct oh_pci_registers __iomem *r = hw->registers;

	writeq(hw->memory_bus, &r->memory_address);
	writeq(hw->memory_size, &r->memory_size);
	writeq(hw->queue_bus, &r->queue_address);
	writel(QUEUE_ENTRIES, &r->queue_entries);
	return command(hw, OH_PCI_START);
}

int oh_hardware_stop(struct oh_hardware *hw)
{
	return command(hw, OH_PCI_STOP);
}

bool oh_hardware_ringing(const struct oh_hardware *hw)
{
	return readl(&hw->registers->ringing) != 0;
}

u32 oh_hardware_take(struct oh_hardware *hw)
{
	u32 taken = 0, looked;

	for (looked = 0; looked < QUEUE_ENTRIES; ++looked) {
		const struct oh_pci_descriptor *d = &hw->queue[(hw->next - 1) % QUEUE_ENTRIES];
		/* The card writes `end` before it. */
		u32 sequence = smp_load_acquire(&d->sequence);
		u64 end;

		if (sequence != hw->next) {
			/* A newer descriptor is in this place: the queue was lapped. */
			if (sequence - hw->next != QUEUE_ENTRIES)
				break;
			hw->bad++;
			hw->next = sequence;
		}
		end = READ_ONCE(d->end);
		hw->next++;
		if (end <= hw->last_end || end > op_position(hw)) {
			hw->bad++;
			continue;
		}
		hw->last_end = end;
		++taken;
	}
	if (taken == 0) {
		hw->spurious++;
		return 0;
	}
	hw->interrupts++;
	hw->coalesced += taken - 1;
	return taken;
}
