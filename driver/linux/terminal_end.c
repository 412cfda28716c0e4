// SPDX-License-Identifier: GPL-2.0-only
/*
 * The other end of /dev/ttySMN, for the program that is the modem to it (DCE):
 * a descriptor that gives the DTE's output, takes the DTE's input,
 * and sets DSR, CTS, DCD and RI (include/offhook/kernel_modem.h).
 */
#include <linux/anon_inodes.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/serial.h>
#include <linux/tty_flip.h>
#include <linux/uaccess.h>

#include "offhook.h"

enum {
	PIECE = 256,
	DCE_LINES = TIOCM_DSR | TIOCM_CTS | TIOCM_CAR | TIOCM_RI,
};

static ssize_t end_read(struct file *file, char __user *octets, size_t n, loff_t *at)
{
	struct oh_terminal *terminal = file->private_data;
	u8 piece[PIECE];
	size_t done = 0;

	while (done < n) {
		unsigned int now = min_t(size_t, n - done, PIECE);

		now = kfifo_out_spinlocked(&terminal->written, piece, now, &terminal->lock);
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
		return n; /* not open */
	while (done < n) {
		size_t now = min_t(size_t, n - done, PIECE);
		size_t taken;

		if (copy_from_user(piece, octets + done, now))
			return done ? done : -EFAULT;
		/* two concurrent writers share one buffer */
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
	terminal->counts.rng +=
		!!(changes & before & TIOCM_RI); /* like a UART: the trailing edge */
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
	kfifo_reset_out(&terminal->written); /* there is no reader */
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
