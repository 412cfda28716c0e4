// SPDX-License-Identifier: GPL-2.0-only
/*
 * The modem end (driver/modem/modem_end.h) in the kernel: its memory, sections
 * of the FPU around all of it, and queues of octets, so that user space never
 * waits for a section. (It is compiled with SSE, so all its code may use the registers.) The modem
 * end holds all state of the connection.
 */
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "driver/modem/modem_end.h"
#include "dsp/dmt/pump.h"
#include "dsp/v90/session/pump.h"
#include "offhook.h"
#include "offhook/modem.h"

enum {
	PIECE = 256,
};

struct oh_kernel_end {
	void *memory;
	struct oh_modem_end *modem; /* index into it; NULL: it was refused */
	size_t unit;		    /* octets that are taken as one unit */
	/* periods processed in one FPU section, and octets of a period */
	u32 slice, rx_octets, tx_octets;
	struct oh_event_log *log;
	struct irq_work *wake;
	struct oh_fpu fpu;
	/* the symbols at the ends of its longest section, as of `named_ns` */
	u32 named_ns;
	char from[OH_KERNEL_PLACE], to[OH_KERNEL_PLACE];
	struct kfifo to_line, from_line;
	u8 piece[PIECE];
	u8 written[PIECE]; /* written by user space, on its way into to_line */
	u32 delivered;	   /* octets, in order */
	bool hang_up;	   /* requested */
	u32 order;	   /* of enum oh_hold_order, plus 1; 0: none */
	u32 order_seen;	   /* of enum oh_kernel_order: the order in progress */
	bool ended;
	/* after the last piece of the line; `unsent` includes to_line */
	seqcount_t seen_count;
	struct oh_modem_end_status seen;
	/* the same, for readers */
	struct oh_modem_end_status shown;
};

static void feed(struct oh_kernel_end *end)
{
	size_t n;

	for (;;) {
		n = min3((size_t)kfifo_len(&end->to_line), sizeof(end->piece),
			 oh_modem_end_writable(end->modem));
		n -= n % end->unit;
		if (n == 0)
			return;
		n = kfifo_out(&end->to_line, end->piece, n);
		oh_modem_end_write(end->modem, end->piece, n);
	}
}

static void drain(struct oh_kernel_end *end)
{
	size_t n;

	while ((n = oh_modem_end_read(end->modem, end->piece,
				      min_t(u32, kfifo_avail(&end->from_line), PIECE))) > 0) {
		kfifo_in(&end->from_line, end->piece, n);
		end->delivered += n;
		oh_event_log_write(end->log, oh_now_ns(NULL), OH_EV_LINK_BYTES, OH_NEAR_END,
				   end->delivered);
	}
}

/* After a piece of the line is processed, with the FPU held. */
static void follow(struct oh_kernel_end *end)
{
	if (READ_ONCE(end->hang_up))
		oh_modem_end_hang_up(end->modem);
	if (oh_modem_end_ended(end->modem))
		WRITE_ONCE(end->ended, true);
	write_seqcount_begin(&end->seen_count);
	oh_modem_end_get_status(end->modem, &end->seen);
	end->seen.unsent += kfifo_len(&end->to_line);
	write_seqcount_end(&end->seen_count);
}

static void reschedule(void)
{
	if (!in_interrupt() && !irqs_disabled())
		cond_resched();
}

/* The result of an order is visible before the order is cleared (oh_kernel_end_status). */
static void obey(struct oh_kernel_end *end, u32 order)
{
	const int error = oh_modem_end_hold(end->modem, order - 1);

	WRITE_ONCE(end->order_seen, error ? OH_KERNEL_ORDER_REFUSED : OH_KERNEL_ORDER_NONE);
}

static void process(void *self, const void *rx, void *tx, size_t n)
{
	struct oh_kernel_end *end = self;
	const u8 *in = rx;
	u8 *out = tx;

	while (n > 0) {
		size_t now = min_t(size_t, n, end->slice);
		/* Pairs with oh_kernel_end_hold(). */
		u32 order = smp_load_acquire(&end->order);

		oh_fpu_begin(&end->fpu);
		if (order)
			obey(end, order);
		feed(end);
		oh_modem_end_process(end->modem, in, out, now);
		follow(end);
		if (order) /* a newer order stays; pairs with oh_kernel_end_status() */
			cmpxchg_release(&end->order, order, 0);
		drain(end);
		oh_fpu_end(&end->fpu);
		in += now * end->rx_octets;
		out += now * end->tx_octets;
		n -= now;
		reschedule();
	}
	irq_work_queue(end->wake);
}

static void report_gap(void *self, size_t n)
{
	struct oh_kernel_end *end = self;

	while (n > 0) {
		size_t now = min_t(size_t, n, end->slice);

		oh_fpu_begin(&end->fpu);
		oh_modem_end_report_gap(end->modem, now);
		follow(end);
		oh_fpu_end(&end->fpu);
		n -= now;
		reschedule();
	}
}

struct oh_pump oh_kernel_end_pump(struct oh_kernel_end *end)
{
	struct oh_pump pump = {.process = process, .report_gap = report_gap, .self = end};

	return pump;
}

static const struct oh_pump_type *find_pump(const struct oh_kernel_call *call)
{
	const bool answers = call->role == OH_PUMP_ANSWER;
	const struct oh_pump_type *dmt = answers ? oh_dmt_central_type() : oh_dmt_remote_type();
	const struct oh_pump_type *types[] = {oh_v90_type(), oh_v34_type(), oh_v32bis_type(),
					      oh_v22bis_type(), dmt};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); ++i) {
		if (!strncmp(types[i]->name, call->pump, OH_KERNEL_PUMP_NAME))
			return types[i];
	}
	return NULL;
}

static bool is_dmt(const struct oh_pump_type *type)
{
	return type == oh_dmt_remote_type() || type == oh_dmt_central_type();
}

static int create_modem(struct oh_kernel_end *end, const struct oh_kernel_call *call,
			const struct oh_streams *card)
{
	struct oh_modem_end_config config = {
		.pump = find_pump(call),
		.role = call->role,
		.format.rx = {card->rx.rate_hz, card->rx.encoding},
		.format.tx = {card->tx.rate_hz, card->tx.encoding},
		.link = call->link,
		.max_bit_rate = call->max_bit_rate,
		.io_delay_samples = call->transmit_lead_samples,
		.hold_timeout = call->hold_timeout,
		.log = end->log,
		.now_ns = oh_now_ns,
		.id = OH_NEAR_END,
	};
	size_t size;

	if (!config.pump)
		return -ENOENT;
	config.kind = is_dmt(config.pump) ? OH_LINK_CELLS : OH_LINK_OCTETS;
	oh_fpu_begin(&end->fpu);
	size = oh_modem_end_size(&config, NULL);
	oh_fpu_end(&end->fpu);
	if (size == 0)
		return -EINVAL;
	end->memory = vzalloc(size);
	if (!end->memory)
		return -ENOMEM;
	oh_fpu_begin(&end->fpu);
	end->modem = oh_modem_end_init(end->memory, &config);
	if (end->modem) {
		oh_modem_end_start(end->modem);
		end->unit = oh_modem_end_unit(end->modem);
	}
	oh_fpu_end(&end->fpu);
	return end->modem ? 0 : -EINVAL;
}

void oh_kernel_end_destroy(struct oh_kernel_end *end)
{
	if (!end)
		return;
	kfifo_free(&end->to_line);
	kfifo_free(&end->from_line);
	if (end->modem) {
		oh_fpu_begin(&end->fpu);
		oh_modem_end_release(end->modem);
		oh_fpu_end(&end->fpu);
	}
	vfree(end->memory);
	kfree(end);
}

struct oh_kernel_end *oh_kernel_end_create(const struct oh_kernel_call *call,
					   const struct oh_streams *card, struct oh_event_log *log,
					   struct irq_work *wake)
{
	struct oh_kernel_end *end;
	int error;

	end = kzalloc(sizeof(*end), GFP_KERNEL);
	if (!end)
		return ERR_PTR(-ENOMEM);
	seqcount_init(&end->seen_count);
	end->log = log;
	end->wake = wake;
	end->slice = oh_kernel_slice(oh_streams_rate_hz(card));
	end->rx_octets =
		card->rx.rate_hz / oh_streams_rate_hz(card) * oh_sample_bytes(card->rx.encoding);
	end->tx_octets =
		card->tx.rate_hz / oh_streams_rate_hz(card) * oh_sample_bytes(card->tx.encoding);
	error = kfifo_alloc(&end->to_line, OH_KERNEL_OCTETS, GFP_KERNEL);
	if (!error)
		error = kfifo_alloc(&end->from_line, OH_KERNEL_OCTETS, GFP_KERNEL);
	if (!error)
		error = create_modem(end, call, card);
	if (error) {
		oh_kernel_end_destroy(end);
		return ERR_PTR(error);
	}
	return end;
}

void oh_kernel_end_hang_up(struct oh_kernel_end *end)
{
	WRITE_ONCE(end->hang_up, true);
}

void oh_kernel_end_hold(struct oh_kernel_end *end, enum oh_hold_order order)
{
	/* Pairs with process(). */
	smp_store_release(&end->order, (u32)order + 1);
}

/* Searching for a name in the symbols of a module takes a while: only for a section that is new. */
static void name_longest_section(struct oh_kernel_end *end)
{
	u32 ns = READ_ONCE(end->fpu.longest_ns);

	if (ns == end->named_ns)
		return;
	end->named_ns = ns;
	scnprintf(end->from, sizeof(end->from), "%pS", (void *)READ_ONCE(end->fpu.longest_from));
	scnprintf(end->to, sizeof(end->to), "%pS", (void *)READ_ONCE(end->fpu.longest_to));
}

void oh_kernel_end_status(struct oh_kernel_end *end, struct oh_kernel_status *status)
{
	/* read the order first: an order in progress is included in the other values */
	const bool pending = smp_load_acquire(&end->order) != 0;

	const struct oh_modem_end_status *s = &end->shown;
	unsigned int count;

	status->hold_order = pending ? OH_KERNEL_ORDER_PENDING : READ_ONCE(end->order_seen);
	do {
		count = read_seqcount_begin(&end->seen_count);
		memcpy(&end->shown, &end->seen, sizeof(end->shown));
	} while (read_seqcount_retry(&end->seen_count, count));
	status->hold_timeout = s->pump.hold_timeout;
	status->hold = s->pump.hold;
	status->pump = s->pump.state;
	status->tx_bit_rate = s->pump.tx_bit_rate;
	status->rx_bit_rate = s->pump.rx_bit_rate;
	status->retrains = s->pump.retrains;
	memcpy(&status->rx_level_dbm0, &s->pump.rx_level_dbm0, sizeof(status->rx_level_dbm0));
	status->samples = s->pump.samples;
	status->link = s->link.state;
	status->compression = s->link.compression;
	status->v44 = s->link.v44;
	status->mnp_class = s->link.mnp_class;
	status->direct = s->direct;
	status->unsent = s->unsent;
	status->cells_sent = s->cells.sent;
	status->cells_received = s->cells.received;
	status->cells_idle = s->cells.idle_received;
	status->hec_errors = s->cells.hec_errors;
	status->delineation_losses = s->cells.losses;
	status->cells_unread = s->cells.overflows;
	name_longest_section(end);
	status->longest_section_ns = end->named_ns;
	memcpy(status->longest_section_from, end->from, sizeof(end->from));
	memcpy(status->longest_section_to, end->to, sizeof(end->to));
}

int oh_kernel_end_write(struct oh_kernel_end *end, const char __user *octets, size_t n,
			unsigned int *taken)
{
	size_t unit = end->unit;

	*taken = 0;
	if (n > 0 && n < unit)
		return -EINVAL;
	n = min_t(size_t, n, kfifo_avail(&end->to_line));
	n -= n % unit;
	/*
	 * Not kfifo_from_user(): if it faults, the octets that it took stay in the queue, perhaps a
	 * part of a cell, and user space gets no count of them.
	 */
	while (*taken < n) {
		size_t now = min_t(size_t, n - *taken, PIECE - PIECE % unit);
		size_t copied = now - copy_from_user(end->written, octets + *taken, now);

		*taken += kfifo_in(&end->to_line, end->written, copied - copied % unit);
		if (copied < now)
			return *taken ? 0 : -EFAULT;
	}
	return 0;
}

int oh_kernel_end_read(struct oh_kernel_end *end, char __user *octets, size_t n,
		       unsigned int *given)
{
	return kfifo_to_user(&end->from_line, octets, n, given);
}

bool oh_kernel_end_readable(struct oh_kernel_end *end)
{
	return !kfifo_is_empty(&end->from_line);
}

bool oh_kernel_end_writable(struct oh_kernel_end *end)
{
	return kfifo_avail(&end->to_line) >= end->unit;
}

bool oh_kernel_end_ended(struct oh_kernel_end *end)
{
	return READ_ONCE(end->ended);
}
