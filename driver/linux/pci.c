// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/slab.h>

#include "offhook.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

enum {
	WATCHDOG_S =
		5, /* time without an interrupt during a call after which the card has failed */
	SPURIOUS_IN_JIFFY = 100, /* beyond this number, the interrupt is masked for UNMASK_MS */
	UNMASK_MS = 100,
};

/* A stream of spurious interrupts would occupy a CPU permanently. */
static void calm(struct oh_device *device)
{
	if (time_after(jiffies, device->spurious_jiffy)) {
		device->spurious_jiffy = jiffies;
		device->spurious_in_jiffy = 0;
	}
	if (++device->spurious_in_jiffy < SPURIOUS_IN_JIFFY || device->masked)
		return;
	device->masked = true;
	device->storms++;
	disable_irq_nosync(device->context.irq);
	schedule_delayed_work(&device->unmask, msecs_to_jiffies(UNMASK_MS));
}

static void unmask(struct work_struct *work)
{
	struct oh_device *device = container_of(work, struct oh_device, unmask.work);

	device->spurious_in_jiffy = 0;
	device->masked = false;
	enable_irq(device->context.irq);
}

static irqreturn_t handle(int irq, void *self)
{
	struct oh_device *device = self;
	u32 taken = 0;

	/* All parts of the call exist when this is set. */
	if (smp_load_acquire(&device->running) && !READ_ONCE(device->hardware.failed))
		taken = oh_hardware_take(&device->hardware);
	if (taken == 0) {
		calm(device);
		return IRQ_HANDLED; /* the line is not shared */
	}
	trace_offhook_interrupt(device->number, taken, device->hardware.last_end);
	oh_card_log_changes(&device->report, device->hardware.memory, oh_now_ns(NULL));
	oh_driver_isr(&device->driver);
	return oh_kernel_context_irq(&device->context);
}

static irqreturn_t handle_threaded(int irq, void *self)
{
	struct oh_device *device = self;

	oh_kernel_context_threaded(&device->context);
	return IRQ_HANDLED;
}

static void watch(struct work_struct *work)
{
	struct oh_device *device = container_of(work, struct oh_device, watchdog.work);
	u64 interrupts = READ_ONCE(device->hardware.interrupts);

	device->idle_s = interrupts == device->watched ? device->idle_s + 1 : 0;
	device->watched = interrupts;
	if (device->idle_s >= WATCHDOG_S || READ_ONCE(device->hardware.failed)) {
		WRITE_ONCE(device->hardware.failed, true);
		dev_err(&device->hardware.pci->dev, "the card has failed: %s\n",
			device->idle_s >= WATCHDOG_S ? "no interrupt" : "invalid positions");
		oh_device_wake(device);
		return;
	}
	schedule_delayed_work(&device->watchdog, HZ);
}

static void wake(struct irq_work *work)
{
	oh_device_wake(container_of(work, struct oh_device, wake));
}

static void service(void *self)
{
	struct oh_device *device = self;
	u32 blocks = 0;

	/* One block per run is the vendor's policy: one run for each owed block. */
	do {
		blocks += oh_driver_service(&device->driver);
	} while (device->driver.config.policy == OH_SERVICE_ONE_BLOCK &&
		 oh_driver_owed(&device->driver) > 0);
	trace_offhook_service(device->number, device->context.latency.last_ns, blocks,
			      device->driver.counters.pending_last);
}

static int probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct oh_device *device;
	int error;

	device = kzalloc(sizeof(*device), GFP_KERNEL);
	if (!device)
		return -ENOMEM;
	kref_init(&device->references);
	mutex_init(&device->lock);
	init_waitqueue_head(&device->waiting);
	init_irq_work(&device->wake, wake);
	INIT_DELAYED_WORK(&device->watchdog, watch);
	INIT_DELAYED_WORK(&device->unmask, unmask);

	error = oh_hardware_probe(&device->hardware, pci);
	if (error)
		goto put;
	error = pci_alloc_irq_vectors(pci, OH_PCI_VECTORS, OH_PCI_VECTORS, PCI_IRQ_MSIX);
	if (error < 0)
		goto put;
	error = oh_kernel_context_init(&device->context, service, device, pci_irq_vector(pci, 0));
	if (error)
		goto vectors;
	/* IRQF_NO_THREAD: INT is a hard interrupt on PREEMPT_RT, too. */
	error = request_threaded_irq(device->context.irq, handle, handle_threaded, IRQF_NO_THREAD,
				     KBUILD_MODNAME, device);
	if (error)
		goto context;
	error = oh_device_register(device, pci);
	if (error)
		goto irq;
	pci_set_drvdata(pci, device);
	return 0;

irq:
	free_irq(device->context.irq, device);
context:
	oh_kernel_context_exit(&device->context);
vectors:
	pci_free_irq_vectors(pci);
put:
	kref_put(&device->references, oh_device_release);
	return error;
}

static void remove(struct pci_dev *pci)
{
	struct oh_device *device = pci_get_drvdata(pci);

	oh_device_unregister(device);
	cancel_delayed_work_sync(&device->unmask);
	free_irq(device->context.irq, device);
	/* From here on nothing masks it, and a running unmasking has ended. */
	oh_kernel_context_exit(&device->context);
	pci_free_irq_vectors(pci);
	irq_work_sync(&device->wake);
	kref_put(&device->references, oh_device_release);
}

/* The call ends; the next open of the device probes the card again. */
static int suspend(struct device *dev)
{
	struct oh_device *device = dev_get_drvdata(dev);

	mutex_lock(&device->lock);
	if (device->end) {
		oh_device_stop(device);
		/* There is no other writer of the log now. */
		oh_event_log_write(&device->log, oh_now_ns(NULL), OH_EV_PUMP_STATE, 0,
				   OH_PUMP_IDLE);
		dev_info(dev, "the call ends because the machine is suspended\n");
	}
	mutex_unlock(&device->lock);
	return 0;
}

static int resume(struct device *dev)
{
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(power, suspend, resume);

static const struct pci_device_id ids[] = {{PCI_DEVICE(OH_PCI_VENDOR_ID, OH_PCI_DEVICE_ID)}, {}};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver driver = {
	.name = KBUILD_MODNAME,
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.dev_groups = oh_device_groups,
	.driver.pm = pm_sleep_ptr(&power),
};

static int __init offhook_init(void)
{
	int error;

	oh_fpu_init();
	error = oh_tty_init();
	if (error)
		return error;
	oh_debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);
	error = pci_register_driver(&driver);
	if (error) {
		debugfs_remove_recursive(oh_debugfs);
		oh_tty_exit();
	}
	return error;
}

static void __exit offhook_exit(void)
{
	pci_unregister_driver(&driver);
	debugfs_remove_recursive(oh_debugfs);
	oh_tty_exit();
}

module_init(offhook_init);
module_exit(offhook_exit);
MODULE_DESCRIPTION("Soft modem on a PCI card, in any processing context");
MODULE_AUTHOR("The Offhook authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(OFFHOOK_VERSION);
