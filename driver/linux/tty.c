// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/ttySMN, the modem's serial port as a program sees it that dials (DTE):
 * octets both ways, DTR and RTS from it, DSR, CTS, DCD and RI to it, and a
 * hang-up when the carrier goes. Who speaks the AT commands (DCE) is a program
 * that has the port's other end (include/offhook/kernel_modem.h): the commands
 * are no matter of a kernel, and the same code speaks them on pseudo-terminals.
 */
#include <linux/anon_inodes.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/serial.h>
#include <linux/slab.h>
#include <linux/tty_driver.h>
#include <linux/tty_flip.h>
#include <linux/uaccess.h>

#include "offhook.h"

enum {
	WRITTEN = 4096, /* octets of the DTE that wait for the DCE */
	PIECE = 256,
	DTE_LINES = TIOCM_DTR | TIOCM_RTS,
	DCE_LINES = TIOCM_DSR | TIOCM_CTS | TIOCM_CAR | TIOCM_RI,
};

static struct tty_driver *tty;
static struct oh_terminal *terminals[OH_DEVICES_MAX];
static DEFINE_MUTEX(terminals_lock);

static struct oh_terminal *terminal_of(struct tty_port *port)
{
	return container_of(port, struct oh_terminal, port);
}

/* The port */

static void set_dte_lines(struct oh_terminal *terminal, unsigned int set, unsigned int clear)
{
	unsigned long flags;

	spin_lock_irqsave(&terminal->lock, flags);
	terminal->lines = (terminal->lines & ~(clear & DTE_LINES)) | (set & DTE_LINES);
	spin_unlock_irqrestore(&terminal->lock, flags);
	wake_up_interruptible(&terminal->waiting);
}

#ifdef OFFHOOK_TTY_CARRIER_BOOL
static bool carrier_raised(struct tty_port *port)
#else
static int carrier_raised(struct tty_port *port)
#endif
{
	return (READ_ONCE(terminal_of(port)->lines) & TIOCM_CAR) != 0;
}

#ifdef OFFHOOK_TTY_DTR_BOOL
static void dtr_rts(struct tty_port *port, bool raise)
#else
static void dtr_rts(struct tty_port *port, int raise)
#endif
{
	set_dte_lines(terminal_of(port), raise ? DTE_LINES : 0, raise ? 0 : DTE_LINES);
}

static void destruct(struct tty_port *port)
{
	struct oh_terminal *terminal = terminal_of(port);

	kfifo_free(&terminal->written);
	kfree(terminal);
}

static const struct tty_port_operations port_operations = {
	.carrier_raised = carrier_raised,
	.dtr_rts = dtr_rts,
	.destruct = destruct,
};

/* What the DTE does with it */

static int dte_install(struct tty_driver *of, struct tty_struct *line)
{
	struct oh_terminal *terminal;
	int error = -ENODEV;

	mutex_lock(&terminals_lock);
	terminal = terminals[line->index];
	if (terminal)
		error = tty_port_install(&terminal->port, of, line);
	if (!error) {
		tty_port_get(&terminal->port); /* until cleanup */
		line->driver_data = terminal;
	}
	mutex_unlock(&terminals_lock);
	return error;
}

static void dte_cleanup(struct tty_struct *line)
{
	struct oh_terminal *terminal = line->driver_data;

	tty_port_put(&terminal->port);
}

static int dte_open_port(struct tty_struct *line, struct file *file)
{
	struct oh_terminal *terminal = line->driver_data;

	return tty_port_open(&terminal->port, line, file);
}

static void dte_close_port(struct tty_struct *line, struct file *file)
{
	struct oh_terminal *terminal = line->driver_data;

	tty_port_close(&terminal->port, line, file);
}

static void dte_hang_up(struct tty_struct *line)
{
	struct oh_terminal *terminal = line->driver_data;

	tty_port_hangup(&terminal->port);
}

#ifdef OFFHOOK_TTY_WRITE_SIZE
static ssize_t dte_take(struct tty_struct *line, const u8 *octets, size_t n)
#else
static int dte_take(struct tty_struct *line, const unsigned char *octets, int n)
#endif
{
	struct oh_terminal *terminal = line->driver_data;
	unsigned int taken = n;
	unsigned long flags;

	/* Under the lock, as end_release() empties it. With nobody there the modem is off: what is
	 * written is lost. */
	spin_lock_irqsave(&terminal->lock, flags);
	if (atomic_read(&terminal->taken)) {
		taken = kfifo_in(&terminal->written, octets, n);
		terminal->counts.tx += taken;
	}
	spin_unlock_irqrestore(&terminal->lock, flags);
	wake_up_interruptible(&terminal->waiting);
	return taken;
}

static unsigned int dte_write_room(struct tty_struct *line)
{
	struct oh_terminal *terminal = line->driver_data;

	return kfifo_avail(&terminal->written);
}

static unsigned int dte_chars_in_buffer(struct tty_struct *line)
{
	struct oh_terminal *terminal = line->driver_data;

	return kfifo_len(&terminal->written);
}

/* What the DCE has not taken is discarded (tcflush). */
static void dte_flush(struct tty_struct *line)
{
	struct oh_terminal *terminal = line->driver_data;
	unsigned long flags;

	spin_lock_irqsave(&terminal->lock, flags);
	kfifo_reset_out(&terminal->written);
	spin_unlock_irqrestore(&terminal->lock, flags);
	tty_port_tty_wakeup(&terminal->port);
}

static void dte_set_termios(struct tty_struct *line, const struct ktermios *old)
{
	struct oh_terminal *terminal = line->driver_data;

	/* B0 is to drop DTR (POSIX, cfsetospeed) */
	if (C_BAUD(line) == B0)
		set_dte_lines(terminal, 0, DTE_LINES);
	else if (old && (old->c_cflag & CBAUD) == B0)
		set_dte_lines(terminal, DTE_LINES, 0);
}

static int dte_get_lines(struct tty_struct *line)
{
	struct oh_terminal *terminal = line->driver_data;

	return READ_ONCE(terminal->lines);
}

static int dte_set_lines(struct tty_struct *line, unsigned int set, unsigned int clear)
{
	struct oh_terminal *terminal = line->driver_data;

	set_dte_lines(terminal, set, clear);
	return 0;
}

static int dte_get_counts(struct tty_struct *line, struct serial_icounter_struct *counts)
{
	struct oh_terminal *terminal = line->driver_data;
	struct async_icount seen;
	unsigned long flags;

	spin_lock_irqsave(&terminal->lock, flags);
	seen = terminal->counts;
	spin_unlock_irqrestore(&terminal->lock, flags);
	counts->cts = seen.cts;
	counts->dsr = seen.dsr;
	counts->rng = seen.rng;
	counts->dcd = seen.dcd;
	counts->rx = seen.rx;
	counts->tx = seen.tx;
	return 0;
}

static bool changed(struct oh_terminal *terminal, const struct async_icount *since,
		    unsigned int lines)
{
	struct async_icount now;
	unsigned long flags;

	spin_lock_irqsave(&terminal->lock, flags);
	now = terminal->counts;
	spin_unlock_irqrestore(&terminal->lock, flags);
	return ((lines & TIOCM_RNG) && now.rng != since->rng) ||
	       ((lines & TIOCM_DSR) && now.dsr != since->dsr) ||
	       ((lines & TIOCM_CD) && now.dcd != since->dcd) ||
	       ((lines & TIOCM_CTS) && now.cts != since->cts);
}

static int dte_wait_lines(struct tty_struct *line, struct oh_terminal *terminal, unsigned int lines)
{
	struct async_icount since;
	unsigned long flags;
	int error;

	spin_lock_irqsave(&terminal->lock, flags);
	since = terminal->counts;
	spin_unlock_irqrestore(&terminal->lock, flags);
	error = wait_event_interruptible(terminal->port.delta_msr_wait,
					 changed(terminal, &since, lines) || tty_io_error(line));
	if (error)
		return error;
	return tty_io_error(line) ? -EIO : 0;
}

static int dte_ioctl(struct tty_struct *line, unsigned int what, unsigned long argument)
{
	return what == TIOCMIWAIT ? dte_wait_lines(line, line->driver_data, argument)
				  : -ENOIOCTLCMD;
}

static const struct tty_operations dte_operations = {
	.install = dte_install,
	.cleanup = dte_cleanup,
	.open = dte_open_port,
	.close = dte_close_port,
	.hangup = dte_hang_up,
	.write = dte_take,
	.write_room = dte_write_room,
	.chars_in_buffer = dte_chars_in_buffer,
	.flush_buffer = dte_flush,
	.set_termios = dte_set_termios,
	.tiocmget = dte_get_lines,
	.tiocmset = dte_set_lines,
	.get_icount = dte_get_counts,
	.ioctl = dte_ioctl,
};

/* What the DCE does with its end */

static ssize_t end_read(struct file *file, char __user *octets, size_t n, loff_t *at)
{
	struct oh_terminal *terminal = file->private_data;
	u8 piece[PIECE];
	size_t done = 0;

	while (done < n) {
		unsigned int now = kfifo_out_spinlocked(
			&terminal->written, piece, min_t(size_t, n - done, PIECE), &terminal->lock);

		if (now == 0)
			break;
		if (copy_to_user(octets + done, piece, now))
			return done ? done : -EFAULT;
		done += now;
	}
	if (done > 0) {
		tty_port_tty_wakeup(&terminal->port);
		return done;
	}
	return READ_ONCE(terminal->lines) & TIOCM_DTR ? -EAGAIN : -EIO;
}

static ssize_t end_write(struct file *file, const char __user *octets, size_t n, loff_t *at)
{
	struct oh_terminal *terminal = file->private_data;
	u8 piece[PIECE];
	unsigned long flags;
	size_t done = 0;

	if (!tty_port_initialized(&terminal->port))
		return n; /* nobody has it open */
	while (done < n) {
		size_t now = min_t(size_t, n - done, PIECE);
		size_t taken;

		if (copy_from_user(piece, octets + done, now))
			return done ? done : -EFAULT;
		/* two who write at once share one buffer */
		spin_lock_irqsave(&terminal->lock, flags);
		taken = tty_insert_flip_string(&terminal->port, piece, now);
		tty_flip_buffer_push(&terminal->port);
		terminal->counts.rx += taken;
		spin_unlock_irqrestore(&terminal->lock, flags);
		done += taken;
		if (taken < now)
			break;
	}
	return done || n == 0 ? done : -EAGAIN;
}

static __poll_t end_poll(struct file *file, poll_table *table)
{
	struct oh_terminal *terminal = file->private_data;
	__poll_t events = EPOLLOUT | EPOLLWRNORM;

	poll_wait(file, &terminal->waiting, table);
	if (!kfifo_is_empty(&terminal->written))
		events |= EPOLLIN | EPOLLRDNORM;
	if (!(READ_ONCE(terminal->lines) & TIOCM_DTR))
		events |= EPOLLHUP;
	return events;
}

static void set_dce_lines(struct oh_terminal *terminal, unsigned int lines)
{
	unsigned int before, now, changes;
	unsigned long flags;

	spin_lock_irqsave(&terminal->lock, flags);
	before = terminal->lines;
	now = (before & ~DCE_LINES) | (lines & DCE_LINES);
	changes = before ^ now;
	WRITE_ONCE(terminal->lines, now);
	terminal->counts.dsr += !!(changes & TIOCM_DSR);
	terminal->counts.cts += !!(changes & TIOCM_CTS);
	terminal->counts.dcd += !!(changes & TIOCM_CAR);
	terminal->counts.rng += !!(changes & before & TIOCM_RI); /* as a UART: the trailing edge */
	spin_unlock_irqrestore(&terminal->lock, flags);
	if (!changes)
		return;
	wake_up_interruptible(&terminal->port.delta_msr_wait);
	if (changes & now & TIOCM_CAR)
		wake_up_interruptible(&terminal->port.open_wait);
	if (changes & before & TIOCM_CAR)
		tty_port_tty_hangup(&terminal->port, true);
}

static u32 rate_of(struct oh_terminal *terminal)
{
	struct tty_struct *line = tty_port_tty_get(&terminal->port);
	u32 rate = line ? tty_get_baud_rate(line) : 0;

	tty_kref_put(line);
	return rate;
}

static long end_ioctl(struct file *file, unsigned int what, unsigned long argument)
{
	struct oh_terminal *terminal = file->private_data;

	switch (what) {
	case OH_TERMINAL_SET_LINES:
		set_dce_lines(terminal, argument);
		return 0;
	case OH_TERMINAL_GET_RATE:
		return put_user(rate_of(terminal), (u32 __user *)argument);
	default:
		return -ENOTTY;
	}
}

static int end_release(struct inode *inode, struct file *file)
{
	struct oh_terminal *terminal = file->private_data;
	unsigned long flags;

	set_dce_lines(terminal, 0);
	spin_lock_irqsave(&terminal->lock, flags);
	atomic_set(&terminal->taken, 0);
	kfifo_reset_out(&terminal->written); /* nobody will take it */
	spin_unlock_irqrestore(&terminal->lock, flags);
	tty_port_tty_wakeup(&terminal->port);
	tty_port_put(&terminal->port);
	return 0;
}

static const struct file_operations end_operations = {
	.owner = THIS_MODULE,
	.release = end_release,
	.read = end_read,
	.write = end_write,
	.poll = end_poll,
	.unlocked_ioctl = end_ioctl,
	.llseek = noop_llseek,
};

int oh_terminal_take(struct oh_terminal *terminal)
{
	int end;

	if (atomic_cmpxchg(&terminal->taken, 0, 1))
		return -EBUSY;
	tty_port_get(&terminal->port);
	end = anon_inode_getfd("[offhook terminal]", &end_operations, terminal, O_RDWR | O_CLOEXEC);
	if (end < 0) {
		atomic_set(&terminal->taken, 0);
		tty_port_put(&terminal->port);
	}
	return end;
}

struct oh_terminal *oh_terminal_create(int number, struct device *parent)
{
	struct oh_terminal *terminal = kzalloc(sizeof(*terminal), GFP_KERNEL);
	struct device *device;

	if (!terminal)
		return ERR_PTR(-ENOMEM);
	if (kfifo_alloc(&terminal->written, WRITTEN, GFP_KERNEL)) {
		kfree(terminal);
		return ERR_PTR(-ENOMEM);
	}
	terminal->number = number;
	spin_lock_init(&terminal->lock);
	init_waitqueue_head(&terminal->waiting);
	tty_port_init(&terminal->port);
	terminal->port.ops = &port_operations;
	mutex_lock(&terminals_lock);
	terminals[number] = terminal;
	mutex_unlock(&terminals_lock);
	device = tty_port_register_device(&terminal->port, tty, number, parent);
	if (!IS_ERR(device))
		return terminal;
	mutex_lock(&terminals_lock);
	terminals[number] = NULL;
	mutex_unlock(&terminals_lock);
	tty_port_put(&terminal->port);
	return ERR_CAST(device);
}

void oh_terminal_remove(struct oh_terminal *terminal)
{
	struct tty_struct *line;

	mutex_lock(&terminals_lock);
	terminals[terminal->number] = NULL;
	mutex_unlock(&terminals_lock);
	line = tty_port_tty_get(&terminal->port);
	if (line) {
		tty_vhangup(line);
		tty_kref_put(line);
	}
	wake_up_interruptible(&terminal->port.delta_msr_wait);
	tty_unregister_device(tty, terminal->number);
	tty_port_put(&terminal->port);
}

int oh_tty_init(void)
{
	int error;

	tty = tty_alloc_driver(OH_DEVICES_MAX, TTY_DRIVER_REAL_RAW | TTY_DRIVER_DYNAMIC_DEV);
	if (IS_ERR(tty))
		return PTR_ERR(tty);
	tty->driver_name = KBUILD_MODNAME;
	tty->name = "ttySM";
	tty->type = TTY_DRIVER_TYPE_SERIAL;
	tty->subtype = SERIAL_TYPE_NORMAL;
	/* Raw: programs that set nothing must not see their commands echoed by the port, too. */
	tty->init_termios = tty_std_termios;
	tty->init_termios.c_iflag = 0;
	tty->init_termios.c_oflag = 0;
	tty->init_termios.c_lflag = 0;
	tty->init_termios.c_cflag = B115200 | CS8 | CREAD | HUPCL | CLOCAL;
	tty_set_operations(tty, &dte_operations);
	error = tty_register_driver(tty);
	if (error)
		tty_driver_kref_put(tty);
	return error;
}

void oh_tty_exit(void)
{
	tty_unregister_driver(tty);
	tty_driver_kref_put(tty);
}
