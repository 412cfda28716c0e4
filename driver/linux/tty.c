// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ttySMN, the modem's serial port for programs that dial (DTE): octets both ways, DTR and RTS
 * from the program, DSR, CTS, DCD and RI to it, and a hang-up when the carrier is lost. A program,
 * the DCE, has the port's other end and handles the AT commands (include/offhook/kernel_modem.h).
 * The commands need no kernel code, and the same code serves pseudo-terminals.
 */
#include <linux/module.h>
#include <linux/serial.h>
#include <linux/slab.h>
#include <linux/tty_driver.h>

#include "offhook.h"

enum {
	WRITTEN = 4096, /* octets of the DTE that wait for the DCE */
	DTE_LINES = TIOCM_DTR | TIOCM_RTS,
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

/* The operations of the DTE */

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

	/* Under the lock, because end_release() empties it. Without a DCE, written octets are lost.
	 */
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

/* Discards octets that the DCE has not taken (tcflush). */
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

	/* B0 drops DTR (POSIX, cfsetospeed) */
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
	/* Raw: the port must not also echo the commands of a program that configures nothing. */
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
