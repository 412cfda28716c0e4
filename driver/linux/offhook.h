/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel driver: one modem on one PCI card.
 *
 *   pci.c           the device: probe, interrupt, remove
 *   hardware.c      registers, card memory, descriptors; checks the card's values
 *   context.c       the callers of service, and its times
 *   modem.c         the modem end (driver/modem), and the user's octets; the only
 *                   file with floating point
 *   fpu.c           the vector registers, from any context
 *   device.c        /dev/offhookN, sysfs, debugfs
 *   tty.c           /dev/ttySMN
 *   terminal_end.c  its other end, for the program that handles the AT commands
 */
#ifndef OFFHOOK_LINUX_H
#define OFFHOOK_LINUX_H

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kfifo.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/serial.h>
#include <linux/tty.h>
#include <linux/tty_port.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "offhook/card_engine.h"
#include "offhook/kernel_modem.h"
#include "offhook/pci_card.h"

/* Of the log. */
static inline uint64_t oh_now_ns(void *clock)
{
	return ktime_get_mono_fast_ns();
}

/* fpu.c */

struct oh_fpu {
	u8 image[512] __aligned(16); /* of FXSAVE */
	unsigned long flags;
	bool own;
	bool preemptible; /* a thread's */
	struct oh_fpu *outer;
	u64 begun_ns;
	u32 longest_ns;
	/* code addresses: the start of this section, and both ends of the longest one */
	unsigned long begun_at, longest_from, longest_to;
};

/*
 * Between begin and end, SSE registers may be used, and MXCSR is 0x1F80. In a hard interrupt, and
 * in a softirq that came while a kernel thread used them, they are saved by hand with interrupts
 * off; else by kernel_fpu_begin(), which turns preemption off: sections are short
 * (oh_kernel_slice()).
 */
void oh_fpu_begin(struct oh_fpu *fpu);
void oh_fpu_end(struct oh_fpu *fpu);
/* Sections of threads are left and entered again within the core's longer steps. */
void oh_fpu_init(void);

/* hardware.c */

struct oh_hardware {
	struct pci_dev *pci;
	void __iomem *bar0;
	struct oh_pci_registers __iomem *registers;
	u32 features, doorbell, sequence;
	struct oh_streams streams;
	/* shared with the card */
	void *memory;
	dma_addr_t memory_bus;
	size_t memory_size;
	struct oh_pci_descriptor *queue;
	dma_addr_t queue_bus;
	/* as oh_card_attach() gave it, and as the driver gets it */
	struct oh_card raw, card;
	/* the interrupt's own */
	u32 next; /* sequence number of the next descriptor */
	u64 last_end;
	/* largest position that passed the checks */
	atomic64_t known;
	bool failed;
	u64 interrupts, coalesced, spurious, bad;
	/*
	 * The log of a program, or NULL. While this log is far behind, a card whose clock waits for
	 * the driver does not learn of its progress.
	 */
	const struct oh_event_log *read_log;
	int untold;
};

int oh_hardware_probe(struct oh_hardware *hw, struct pci_dev *pci);
/* New card memory; hw->card refers to it from now on. */
int oh_hardware_prepare(struct oh_hardware *hw);
int oh_hardware_start(struct oh_hardware *hw);
int oh_hardware_stop(struct oh_hardware *hw);
bool oh_hardware_ringing(const struct oh_hardware *hw);
/* The program has read events: ring the doorbell that was withheld. */
void oh_hardware_log_read(struct oh_hardware *hw);
/* Takes the card's finished descriptors. @return number of new descriptors */
u32 oh_hardware_take(struct oh_hardware *hw);

/* context.c */

enum { OH_LATENCY_BUCKETS = 32 };

struct oh_kernel_context {
	struct oh_context context; /* the interface for the driver core */
	struct oh_context_spec spec;
	void (*service)(void *arg); /* all owed blocks */
	void *arg;
	int irq; /* interrupts are quiet while the context changes */
	bool started;
	atomic_t requests;
	u64 requested_ns;
	struct oh_context_latency latency;
	u64 histogram[OH_LATENCY_BUCKETS]; /* k: below 2^k ns */
	struct tasklet_struct tasklet;
	/* Two locks: for lockdep, work that runs in softirqs and in threads could deadlock. */
	struct work_struct bh_work, work;
	struct workqueue_struct *workqueue;
	struct task_struct *thread;
};

int oh_kernel_context_init(struct oh_kernel_context *context, void (*service)(void *arg), void *arg,
			   int irq);
void oh_kernel_context_exit(struct oh_kernel_context *context);
/* The return value of the interrupt's handler. */
irqreturn_t oh_kernel_context_irq(struct oh_kernel_context *context);
/* The interrupt's thread. */
void oh_kernel_context_threaded(struct oh_kernel_context *context);

/* modem.c */

/* The driver's own events in the log. */
enum { OH_NEAR_END = 0 };

struct oh_kernel_end;

/* Not from interrupts. */
struct oh_kernel_end *oh_kernel_end_create(const struct oh_kernel_call *call,
					   const struct oh_streams *card, struct oh_event_log *log,
					   struct irq_work *wake);
void oh_kernel_end_destroy(struct oh_kernel_end *end);
struct oh_pump oh_kernel_end_pump(struct oh_kernel_end *end);
void oh_kernel_end_hang_up(struct oh_kernel_end *end);
void oh_kernel_end_hold(struct oh_kernel_end *end, enum oh_hold_order order);
/* One caller at a time. */
void oh_kernel_end_status(struct oh_kernel_end *end, struct oh_kernel_status *status);
/*
 * One reader and one writer. Above a DMT pump whole cells are taken, and
 * less than one is -EINVAL. If user memory ends, the whole cells before are
 * taken; -EFAULT: there was none.
 */
int oh_kernel_end_write(struct oh_kernel_end *end, const char __user *octets, size_t n,
			unsigned int *taken);
int oh_kernel_end_read(struct oh_kernel_end *end, char __user *octets, size_t n,
		       unsigned int *given);
bool oh_kernel_end_readable(struct oh_kernel_end *end);
bool oh_kernel_end_writable(struct oh_kernel_end *end);
/* There will be no more data. */
bool oh_kernel_end_ended(struct oh_kernel_end *end);

/* tty.c */

enum { OH_DEVICES_MAX = 32 };

struct oh_terminal {
	struct tty_port port; /* the terminal owns its references */
	int number;
	/* the DTE's output */
	spinlock_t lock;
	struct kfifo written; /* under the lock: either end may empty it */
	/* the DCE's end */
	wait_queue_head_t waiting;
	atomic_t taken;
	/* under the lock: TIOCM_DTR and RTS are the DTE's, the rest is the DCE's */
	unsigned int lines;
	struct async_icount counts;
};

int oh_tty_init(void);
void oh_tty_exit(void);
struct oh_terminal *oh_terminal_create(int number, struct device *parent);
/* Hangs up the program with the open port. */
void oh_terminal_remove(struct oh_terminal *terminal);

/* terminal_end.c */

/* @return a descriptor of the DCE's end, or an error */
int oh_terminal_take(struct oh_terminal *terminal);

/* device.c */

struct oh_device {
	struct kref references; /* references of the PCI device and of an open terminal */
	struct oh_hardware hardware;
	struct oh_kernel_context context;
	struct miscdevice misc;
	char name[16];
	int number;
	struct oh_terminal *terminal;
	struct dentry *debugfs;
	atomic_t opened;
	struct mutex lock; /* control: calls, contexts, removal */
	bool gone;	   /* whether the PCI device is present */
	/* of a call */
	bool running; /* whether the interrupt may use the members below */
	struct oh_driver driver;
	void *staging;
	struct oh_kernel_end *end;
	struct oh_card_report report;
	/* the log */
	struct oh_event_log log;
	struct oh_event *events;
	/* readers that wait for octets */
	wait_queue_head_t waiting;
	atomic_t wakes; /* how often there was a reason to check */
	struct irq_work wake;
	/* the interrupt, watched */
	struct delayed_work watchdog;
	u64 watched; /* number of interrupts at the watchdog's last check */
	unsigned int idle_s;
	struct delayed_work unmask;
	unsigned long spurious_jiffy;
	unsigned int spurious_in_jiffy;
	bool masked;
	u64 storms;
};

void oh_device_wake(struct oh_device *device);
int oh_device_start(struct oh_device *device, const struct oh_kernel_call *call);
void oh_device_stop(struct oh_device *device);
int oh_device_register(struct oh_device *device, struct pci_dev *pci);
void oh_device_unregister(struct oh_device *device);
void oh_device_release(struct kref *references);
extern const struct attribute_group *oh_device_groups[];
extern struct dentry *oh_debugfs;

#endif
