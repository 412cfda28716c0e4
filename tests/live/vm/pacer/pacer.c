// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hardware of the PCI card inside the virtual machine, by the machine's own clock. A
 * card outside has another clock than a machine whose time is its instructions, so its
 * time would be noise. This card is a dedicated CPU: each millisecond it moves the
 * samples that have passed, ends blocks with descriptors, and interrupts CPU 0. The
 * driver sees no difference: registers, card memory and queue are those of the card
 * (`offhook line card --clock guest` has written the constant ones, and does not answer).
 *
 * The line is a recording of the modem's input in the same call elsewhere;
 * write it to /dev/pacer. As long as no sample is lost, the pump must send
 * the same as there. Reading returns the number of samples played during
 * the recording, their hash, and the largest delay of this CPU itself, us.
 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/irq_work.h>
#include <linux/irqdesc.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "offhook/card_engine.h"
#include "offhook/pci_card.h"

enum { TICK_MS = 1, RATE_HZ = 8000, SAMPLES_MAX = 60 * RATE_HZ, CARD_CPU = 1, DRIVER_CPU = 0 };

static struct pci_dev *pci;
static struct oh_pci_registers __iomem *registers;
static int irq;
static s16 *line;
static size_t line_octets;
static struct hrtimer timer;
/* of the current call; only for the card's CPU */
static struct oh_card card;
static struct oh_card_engine engine;
static struct oh_pci_descriptor *queue;
static u32 entries, sequence;
static bool running;
static u64 begun_ns, at;
static u64 hash, hashed, late_ns;

static void exchange(void *self, const void *played, void *captured, size_t n)
{
	const s16 *out = played;
	s16 *in = captured;
	size_t k;

	for (k = 0; k < n; ++k, ++at) {
		in[k] = at < line_octets / sizeof(s16) ? line[at] : 0;
		if (at < line_octets / sizeof(s16)) {
			hash = (hash ^ (u16)out[k]) *
			       0x100000001b3ull; /* FNV-1a, one sample at a time */
			++hashed;
		}
	}
}

static const struct oh_line_end line_end = {.exchange = exchange};

static void interrupt_driver(struct irq_work *unused)
{
	generic_handle_irq(irq);
}

static struct irq_work interrupt = IRQ_WORK_INIT_HARD(interrupt_driver);

/* An idle CPU receives a message without an interrupt. */
static void take_message(void *unused)
{
	irq_work_queue(&interrupt);
}

static call_single_data_t message;

static void begin(u64 now_ns)
{
	void *memory = phys_to_virt(readq(&registers->memory_address));

	if (oh_card_attach(&card, memory, readq(&registers->memory_size)))
		return;
	queue = phys_to_virt(readq(&registers->queue_address));
	entries = readl(&registers->queue_entries);
	sequence = 0;
	at = 0;
	hash = 0xcbf29ce484222325ull;
	hashed = 0;
	late_ns = 0;
	oh_card_engine_init(&engine, &card, NULL);
	oh_card_engine_start(&engine, now_ns);
	begun_ns = now_ns;
	running = true;
}

static void take_command(u64 now_ns)
{
	u32 wanted = readl(&registers->command_sequence);

	if (wanted == readl(&registers->command_done))
		return;
	running = false;
	if (readl(&registers->command) == OH_PCI_START)
		begin(now_ns);
	writel(running ? OH_PCI_RUNNING : OH_PCI_STOPPED, &registers->status);
	writel(wanted, &registers->command_done);
}

static enum hrtimer_restart tick(struct hrtimer *self)
{
	u64 now_ns = ktime_get_ns();

	take_command(now_ns);
	if (running) {
		u64 passed = mul_u64_u32_div(now_ns - begun_ns, RATE_HZ, NSEC_PER_SEC);
		bool ended = false;

		/* The delay of this CPU itself does not concern the driver. */
		late_ns = max_t(u64, late_ns, now_ns - ktime_to_ns(hrtimer_get_expires(self)));
		while (engine.position < passed) {
			u64 now =
				min_t(u64, oh_card_engine_left(&engine), passed - engine.position);

			oh_card_engine_pass(&engine, &line_end, now, now_ns);
			if (oh_card_engine_end_block(&engine, now_ns)) {
				struct oh_pci_descriptor *d = &queue[sequence++ % entries];

				d->end = READ_ONCE(engine.state->finished_end);
				/* Written after `end`, because the driver reads it first. */
				smp_store_release(&d->sequence, sequence);
				ended = true;
			}
		}
		/* One that is still in progress also covers this block, because messages coalesce.
		 */
		if (ended)
			smp_call_function_single_async(DRIVER_CPU, &message);
	}
	hrtimer_forward_now(self, ms_to_ktime(TICK_MS));
	return HRTIMER_RESTART;
}

static ssize_t pacer_write(struct file *file, const char __user *octets, size_t n, loff_t *position)
{
	irq = pci_irq_vector(pci, 0); /* the driver has started by now */
	if (irq < 0)
		return irq;
	if (*position + n > SAMPLES_MAX * sizeof(s16))
		return -ENOSPC;
	if (copy_from_user((char *)line + *position, octets, n))
		return -EFAULT;
	*position += n;
	line_octets = *position;
	return n;
}

static ssize_t pacer_read(struct file *file, char __user *octets, size_t n, loff_t *position)
{
	char text[64];
	int length = scnprintf(text, sizeof(text), "%llu %016llx %llu\n", READ_ONCE(hashed),
			       READ_ONCE(hash), READ_ONCE(late_ns) / NSEC_PER_USEC);

	return simple_read_from_buffer(octets, n, position, text, length);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE, .write = pacer_write, .read = pacer_read};
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR, .name = "pacer", .fops = &operations};

static void start_timer(void *unused)
{
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = tick;
	hrtimer_start(&timer, ms_to_ktime(TICK_MS), HRTIMER_MODE_REL_PINNED_HARD);
}

static int __init pacer_init(void)
{
	int error = -ENODEV;

	INIT_CSD(&message, take_message, NULL);
	pci = pci_get_device(OH_PCI_VENDOR_ID, OH_PCI_DEVICE_ID, NULL);
	if (!pci || !cpu_online(CARD_CPU))
		goto put;
	registers = ioremap(pci_resource_start(pci, 2), sizeof(*registers));
	line = vzalloc(SAMPLES_MAX * sizeof(s16));
	error = registers && line ? misc_register(&device) : -ENOMEM;
	if (error)
		goto free;
	return smp_call_function_single(CARD_CPU, start_timer, NULL, 1);
free:
	vfree(line);
	if (registers)
		iounmap(registers);
put:
	pci_dev_put(pci);
	return error;
}

static void __exit pacer_exit(void)
{
	hrtimer_cancel(&timer);
	irq_work_sync(&interrupt);
	misc_deregister(&device);
	vfree(line);
	iounmap(registers);
	pci_dev_put(pci);
}

module_init(pacer_init);
module_exit(pacer_exit);
MODULE_DESCRIPTION("The hardware of Offhook's PCI card, by a virtual machine's own clock");
MODULE_LICENSE("GPL");
