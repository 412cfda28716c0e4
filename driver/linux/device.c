// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interface for user space: /dev/offhookN (include/offhook/kernel_modem.h), the
 * attribute `context` of the PCI device, and in debugfs counters and the
 * histogram of the dispatch latency.
 */
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "offhook.h"

static DEFINE_IDA(numbers);

struct dentry *oh_debugfs;

void oh_device_wake(struct oh_device *device)
{
	atomic_inc(&device->wakes);
	wake_up_interruptible(&device->waiting);
}

void oh_device_stop(struct oh_device *device)
{
	if (!device->end)
		return;
	cancel_delayed_work_sync(&device->watchdog);
	oh_hardware_stop(&device->hardware);
	/* From here on, the interrupt uses no data of the call. */
	smp_store_release(&device->running, false);
	synchronize_irq(device->context.irq);
	device->context.context.ops->stop(device->context.context.self);
	irq_work_sync(&device->wake);
	oh_kernel_end_destroy(device->end);
	device->end = NULL;
	vfree(device->staging);
	device->staging = NULL;
	oh_device_wake(device);
}

static int prepare(struct oh_device *device, const struct oh_kernel_call *call)
{
	struct oh_hardware *hw = &device->hardware;
	struct oh_driver_config config = {
		.context = device->context.context,
		.now_ns = oh_now_ns,
		.log = &device->log,
		.id = 1,
		.policy = call->policy,
		.transmit_lead_samples = call->transmit_lead_samples,
		.block_plan_length = call->block_plan_length,
	};
	int error = oh_hardware_prepare(hw);

	if (error)
		return error;
	config.card = hw->card;
	memcpy(config.block_plan, call->block_plan, sizeof(config.block_plan));
	device->staging = vzalloc(oh_driver_staging_size(&config.card));
	if (!device->staging)
		return -ENOMEM;
	config.staging = device->staging;
	config.pump = oh_kernel_end_pump(device->end);
	return oh_driver_init(&device->driver, &config);
}

int oh_device_start(struct oh_device *device, const struct oh_kernel_call *call)
{
	struct oh_kernel_context *context = &device->context;
	int error;

	if (device->end)
		return -EBUSY;
	if (call->policy != OH_SERVICE_ONE_BLOCK && call->policy != OH_SERVICE_DRAIN_ALL)
		return -EINVAL;
	device->end =
		oh_kernel_end_create(call, &device->hardware.streams, &device->log, &device->wake);
	if (IS_ERR(device->end)) {
		error = PTR_ERR(device->end);
		device->end = NULL;
		return error;
	}
	error = prepare(device, call);
	if (error)
		goto end;
	error = context->context.ops->start(context->context.self);
	if (error)
		goto end;
	memset(&device->report, 0, sizeof(device->report));
	device->report.log = &device->log;
	device->report.id = 1;
	device->storms = 0;
	device->watched = 0;
	device->idle_s = 0;
	oh_card_log_changes(&device->report, device->hardware.memory, oh_now_ns(NULL));
	/* From here on, all data of the call that the interrupt uses exist. */
	smp_store_release(&device->running, true);
	error = oh_hardware_start(&device->hardware);
	if (error) {
		oh_device_stop(device);
		return error;
	}
	schedule_delayed_work(&device->watchdog, HZ);
	return 0;

end:
	oh_kernel_end_destroy(device->end);
	device->end = NULL;
	vfree(device->staging);
	device->staging = NULL;
	return error;
}

static void give_status(struct oh_device *device, struct oh_kernel_status *s)
{
	const struct oh_hardware *hw = &device->hardware;
	struct oh_card_counters card;
	const struct oh_driver_counters *c = &device->driver.counters;

	memset(s, 0, sizeof(*s));
	s->struct_size = sizeof(*s);
	s->log_lost = oh_event_log_lost(&device->log);
	s->streams = hw->streams;
	if (!device->end) {
		s->ringing = oh_hardware_ringing(hw);
		return;
	}
	s->card = READ_ONCE(hw->failed) ? OH_KERNEL_CARD_FAILED : OH_KERNEL_IN_CALL;
	oh_kernel_end_status(device->end, s);
	card = oh_card_counts(hw->memory);
	s->interrupts = READ_ONCE(hw->interrupts);
	s->coalesced = READ_ONCE(hw->coalesced);
	s->spurious = READ_ONCE(hw->spurious);
	s->bad = READ_ONCE(hw->bad);
	s->storms = READ_ONCE(device->storms);
	s->overrun = card.overrun_samples;
	s->underrun = card.underrun_samples;
	s->blocks = READ_ONCE(c->blocks_served);
	s->blocks_late = READ_ONCE(c->blocks_late);
	s->samples_late = READ_ONCE(c->samples_late);
	s->samples_filled_in = READ_ONCE(c->samples_filled_in);
	s->pending_max = READ_ONCE(c->pending_max);
	s->latency = oh_context_latency_of(&device->context.context);
}

/* /dev/offhookN */

static int device_open(struct inode *inode, struct file *file)
{
	struct oh_device *device = container_of(file->private_data, struct oh_device, misc);

	if (atomic_cmpxchg(&device->opened, 0, 1))
		return -EBUSY;
	kref_get(&device->references);
	/* From the ring's first slot on, without unread events of the call before. */
	oh_event_log_init(&device->log, device->events, OH_KERNEL_LOG_EVENTS, 0);
	WRITE_ONCE(device->hardware.read_log, NULL); /* until the program maps it */
	file->private_data = device;
	return 0;
}

static int device_close(struct inode *inode, struct file *file)
{
	struct oh_device *device = file->private_data;

	mutex_lock(&device->lock);
	oh_device_stop(device);
	mutex_unlock(&device->lock);
	atomic_set(&device->opened, 0);
	kref_put(&device->references, oh_device_release);
	return 0;
}

static noinline_for_stack long release_log(struct oh_device *device, unsigned long n)
{
	struct oh_event events[16];

	if (n > OH_KERNEL_LOG_EVENTS)
		return -EINVAL;
	while (n > 0) {
		size_t got = oh_event_log_read(&device->log, events,
					       min_t(size_t, n, ARRAY_SIZE(events)));

		if (got == 0)
			return -EINVAL; /* more than there were before */
		n -= got;
	}
	oh_hardware_log_read(&device->hardware);
	return 0;
}

static long control(struct oh_device *device, unsigned int what, void __user *argument)
{
	union {
		struct oh_kernel_call call;
		struct oh_context_spec spec;
		struct oh_kernel_status status;
	} of;

	switch (what) {
	case OH_KERNEL_START:
		if (copy_from_user(&of.call, argument, sizeof(of.call)))
			return -EFAULT;
		if (of.call.struct_size != sizeof(of.call))
			return -EINVAL;
		return oh_device_start(device, &of.call);
	case OH_KERNEL_STOP:
		oh_device_stop(device);
		return 0;
	case OH_KERNEL_SET_CONTEXT:
		if (copy_from_user(&of.spec, argument, sizeof(of.spec)))
			return -EFAULT;
		if (of.spec.struct_size != sizeof(of.spec))
			return -EINVAL;
		return oh_context_reconfigure(&device->context.context, &of.spec);
	case OH_KERNEL_GET_STATUS:
		if (get_user(of.status.struct_size, (u32 __user *)argument))
			return -EFAULT;
		if (of.status.struct_size != sizeof(of.status))
			return -EINVAL;
		give_status(device, &of.status);
		return copy_to_user(argument, &of.status, sizeof(of.status)) ? -EFAULT : 0;
	case OH_KERNEL_RELEASE_LOG:
		return release_log(device, (unsigned long)argument);
	case OH_KERNEL_HANG_UP:
		if (!device->end)
			return -ENOTCONN;
		oh_kernel_end_hang_up(device->end);
		return 0;
	case OH_KERNEL_HOLD:
		if (!device->end)
			return -ENOTCONN;
		if ((unsigned long)argument > OH_HOLD_CLEAR_OTHER)
			return -EINVAL;
		oh_kernel_end_hold(device->end, (unsigned long)argument);
		return 0;
	case OH_KERNEL_TERMINAL:
		return oh_terminal_take(device->terminal);
	default:
		return -ENOTTY;
	}
}

static long device_ioctl(struct file *file, unsigned int what, unsigned long argument)
{
	struct oh_device *device = file->private_data;
	long result;

	if (mutex_lock_interruptible(&device->lock))
		return -ERESTARTSYS;
	result = device->gone ? -ENODEV : control(device, what, (void __user *)argument);
	mutex_unlock(&device->lock);
	return result;
}

/* With the lock held. @return octets; 0: end of data; -EAGAIN: not now; or another error */
static ssize_t transfer(struct oh_device *device, char __user *octets, size_t n, bool read)
{
	unsigned int moved = 0;
	int error;

	if (device->gone)
		return -ENODEV;
	if (!device->end)
		return -ENOTCONN;
	error = read ? oh_kernel_end_read(device->end, octets, n, &moved)
		     : oh_kernel_end_write(device->end, octets, n, &moved);
	if (error)
		return error;
	if (moved > 0)
		return moved;
	if (READ_ONCE(device->hardware.failed))
		return -EIO;
	if (oh_kernel_end_ended(device->end))
		return read ? 0 : -EPIPE;
	return -EAGAIN;
}

static ssize_t move_octets(struct file *file, char __user *octets, size_t n, bool read)
{
	struct oh_device *device = file->private_data;
	ssize_t moved;

	for (;;) {
		int seen = atomic_read(&device->wakes);

		if (mutex_lock_interruptible(&device->lock))
			return -ERESTARTSYS;
		moved = transfer(device, octets, n, read);
		mutex_unlock(&device->lock);
		if (moved != -EAGAIN || file->f_flags & O_NONBLOCK || n == 0)
			return moved;
		if (wait_event_interruptible(device->waiting, atomic_read(&device->wakes) != seen))
			return -ERESTARTSYS;
	}
}

static ssize_t device_read(struct file *file, char __user *octets, size_t n, loff_t *at)
{
	return move_octets(file, octets, n, true);
}

static ssize_t device_write(struct file *file, const char __user *octets, size_t n, loff_t *at)
{
	return move_octets(file, (char __user *)octets, n, false);
}

static __poll_t device_poll(struct file *file, poll_table *table)
{
	struct oh_device *device = file->private_data;
	__poll_t events = 0;

	poll_wait(file, &device->waiting, table);
	mutex_lock(&device->lock);
	if (device->gone || !device->end || READ_ONCE(device->hardware.failed)) {
		events = EPOLLERR | EPOLLHUP;
	} else {
		if (oh_kernel_end_readable(device->end))
			events |= EPOLLIN | EPOLLRDNORM;
		if (oh_kernel_end_writable(device->end))
			events |= EPOLLOUT | EPOLLWRNORM;
		if (oh_kernel_end_ended(device->end))
			events |= EPOLLHUP;
	}
	mutex_unlock(&device->lock);
	return events;
}

static int device_mmap(struct file *file, struct vm_area_struct *area)
{
	struct oh_device *device = file->private_data;
	int error;

	if (area->vm_flags & VM_WRITE)
		return -EPERM;
	error = remap_vmalloc_range(area, device->events, area->vm_pgoff);
	if (!error)
		WRITE_ONCE(device->hardware.read_log, &device->log);
	return error;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_close,
	.unlocked_ioctl = device_ioctl,
	.read = device_read,
	.write = device_write,
	.poll = device_poll,
	.mmap = device_mmap,
	.llseek = noop_llseek,
};

/* sysfs */

static ssize_t context_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct oh_device *device = dev_get_drvdata(dev);
	size_t n;

	mutex_lock(&device->lock);
	n = oh_context_describe(&device->context.context, text, PAGE_SIZE - 1);
	mutex_unlock(&device->lock);
	return n + sysfs_emit_at(text, n, "\n");
}
static DEVICE_ATTR_RO(context);

static struct attribute *attributes[] = {&dev_attr_context.attr, NULL};
static const struct attribute_group group = {.attrs = attributes};
const struct attribute_group *oh_device_groups[] = {&group, NULL};

/* debugfs */

static int counters_show(struct seq_file *file, void *unused)
{
	struct oh_device *device = file->private;
	struct oh_kernel_status s;

	mutex_lock(&device->lock);
	give_status(device, &s);
	mutex_unlock(&device->lock);
	seq_printf(file, "interrupts %llu\ncoalesced %llu\nspurious %llu\nbad %llu\nstorms %llu\n",
		   s.interrupts, s.coalesced, s.spurious, s.bad, s.storms);
	seq_printf(file, "overrun %llu\nunderrun %llu\n", s.overrun, s.underrun);
	seq_printf(file,
		   "blocks %llu\nblocks_late %llu\nsamples_late %llu\nsamples_filled_in %llu\n",
		   s.blocks, s.blocks_late, s.samples_late, s.samples_filled_in);
	seq_printf(file, "pending_max %u\nlongest_section_ns %u\nlog_lost %llu\n", s.pending_max,
		   s.longest_section_ns, s.log_lost);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int latency_show(struct seq_file *file, void *unused)
{
	struct oh_device *device = file->private;
	int k;

	for (k = 0; k < OH_LATENCY_BUCKETS; ++k) {
		u64 n = READ_ONCE(device->context.histogram[k]);

		if (n)
			seq_printf(file, "%llu ns: %llu\n", 1ull << k, n);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(latency);

int oh_device_register(struct oh_device *device, struct pci_dev *pci)
{
	int error;

	device->events = vmalloc_user(OH_KERNEL_LOG_EVENTS * sizeof(*device->events));
	if (!device->events)
		return -ENOMEM;
	oh_event_log_init(&device->log, device->events, OH_KERNEL_LOG_EVENTS, 0);
	device->number = ida_alloc_max(&numbers, OH_DEVICES_MAX - 1, GFP_KERNEL);
	if (device->number < 0)
		return device->number;
	snprintf(device->name, sizeof(device->name), KBUILD_MODNAME "%d", device->number);
	device->misc.minor = MISC_DYNAMIC_MINOR;
	device->misc.name = device->name;
	device->misc.fops = &operations;
	device->misc.parent = &pci->dev;
	pci_set_drvdata(pci, device);
	device->terminal = oh_terminal_create(device->number, &pci->dev);
	if (IS_ERR(device->terminal)) {
		error = PTR_ERR(device->terminal);
		goto number;
	}
	error = misc_register(&device->misc);
	if (error)
		goto terminal;
	device->debugfs = debugfs_create_dir(device->name, oh_debugfs);
	debugfs_create_file("counters", 0444, device->debugfs, device, &counters_fops);
	debugfs_create_file("latency", 0444, device->debugfs, device, &latency_fops);
	return 0;

terminal:
	oh_terminal_remove(device->terminal);
number:
	ida_free(&numbers, device->number);
	return error;
}

void oh_device_unregister(struct oh_device *device)
{
	debugfs_remove_recursive(device->debugfs);
	misc_deregister(&device->misc);
	mutex_lock(&device->lock);
	oh_device_stop(device);
	device->gone = true;
	mutex_unlock(&device->lock);
	oh_device_wake(device);
	oh_terminal_remove(device->terminal);
	ida_free(&numbers, device->number);
}

void oh_device_release(struct kref *references)
{
	struct oh_device *device = container_of(references, struct oh_device, references);

	vfree(device->events);
	kfree(device);
}
