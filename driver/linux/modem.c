// SPDX-License-Identifier: GPL-2.0-only
/*
 * One end of a connection: a pump, and a link above it, as driver/modem is in
 * user space. All of the core is called inside of FPU
 * sections: it is compiled with SSE, so any of it may use the registers. What
 * user space writes and reads goes through queues, and never waits for a
 * section.
 */
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "dsp/dmt/pump.h"
#include "dsp/v90/session/pump.h"
#include "offhook.h"
#include "offhook/modem.h"

enum {
	PIECE = 256,
};

struct oh_modem_end {
	const struct oh_pump_type *type;
	void *pump;
	struct oh_link link;
	/* periods processed with the FPU held once, and octets of a period */
	u32 slice, rx_octets, tx_octets;
	struct oh_event_log *log;
	struct irq_work *wake;
	struct oh_fpu fpu;
	/* the ends of its longest section by their names, as of so many ns */
	u32 named_ns;
	char from[OH_KERNEL_PLACE], to[OH_KERNEL_PLACE];
	struct kfifo to_line, from_line;
	u8 piece[PIECE];
	u8 written[PIECE]; /* by user space, on its way into to_line */
	u32 delivered;	   /* octets, in order */
	bool hang_up;	   /* asked for */
	u32 order;	   /* of enum oh_hold_order, and 1 more; 0: none */
	u32 order_seen;	   /* enum oh_kernel_order: of one that was taken up */
	bool clearing;
	bool ended;
	/* as seen last; read by anybody, each by itself */
	u32 state, link_state, tx_bit_rate, rx_bit_rate, retrains, unsent, compression, v44;
	u32 rx_level; /* the bits of a float */
	u32 hold, hold_timeout;
	u64 samples;
};

static void record(const struct oh_modem_end *end, enum oh_event_kind kind, u32 argument)
{
	oh_event_log_write(end->log, oh_now_ns(NULL), kind, OH_NEAR_END, argument);
}

static void feed(struct oh_modem_end *end)
{
	size_t n;

	while ((n = oh_link_writable(&end->link, min_t(u32, kfifo_len(&end->to_line), PIECE))) >
	       0) {
		n = kfifo_out(&end->to_line, end->piece, n);
		oh_link_write(&end->link, end->piece, n);
	}
}

static void drain(struct oh_modem_end *end)
{
	size_t n;

	while ((n = oh_link_read(&end->link, end->piece,
				 min_t(u32, kfifo_avail(&end->from_line), PIECE))) > 0) {
		kfifo_in(&end->from_line, end->piece, n);
		end->delivered += n;
		record(end, OH_EV_LINK_BYTES, end->delivered);
	}
}

/* As driver/core/logged_rate.h has them: in 100 bit/s, ADSL's fast ones in steps. */
static u32 logged_rate(u32 bit_rate)
{
	if (bit_rate / 100 < 0x7f00)
		return bit_rate / 100;
	return 0x7f40 + min_t(u32, (bit_rate - 3200000) / 32000, 0xbf);
}

/* The link first, then the connection. On hold nothing of the link's is sent. */
static void hang_up(struct oh_modem_end *end)
{
	if (!oh_link_release(&end->link) && end->hold != OH_HOLD_AWAY)
		return;
	if (!end->clearing)
		end->type->hang_up(end->pump);
	end->clearing = true;
}

static void follow(struct oh_modem_end *end, size_t n)
{
	struct oh_pump_status pump = {.struct_size = sizeof(pump)};
	u32 rx_level;

	end->type->status(end->pump, &pump);
	if (pump.state != end->state) {
		WRITE_ONCE(end->state, pump.state);
		record(end, OH_EV_PUMP_STATE, pump.state);
		if (pump.state == OH_PUMP_DATA)
			record(end, OH_EV_PUMP_RATES,
			       logged_rate(pump.tx_bit_rate) | logged_rate(pump.rx_bit_rate) << 16);
	}
	if (pump.hold != end->hold)
		record(end, OH_EV_PUMP_HOLD, pump.hold | pump.hold_timeout << 16);
	WRITE_ONCE(end->hold_timeout, pump.hold_timeout);
	WRITE_ONCE(end->hold, pump.hold);
	oh_link_follow(&end->link, &pump, n);
	if (READ_ONCE(end->hang_up))
		hang_up(end);
	if (pump.state == OH_PUMP_FAILED ||
	    (pump.state == OH_PUMP_IDLE && pump.bits_received > 0) ||
	    (!end->hang_up && oh_link_is_over(&end->link)))
		WRITE_ONCE(end->ended, true);
	WRITE_ONCE(end->link_state, end->link.status.state);
	WRITE_ONCE(end->compression, end->link.status.compression);
	WRITE_ONCE(end->v44, end->link.status.v44);
	WRITE_ONCE(end->tx_bit_rate, pump.tx_bit_rate);
	WRITE_ONCE(end->rx_bit_rate, pump.rx_bit_rate);
	memcpy(&rx_level, &pump.rx_level_dbm0, sizeof(rx_level));
	WRITE_ONCE(end->rx_level, rx_level);
	WRITE_ONCE(end->retrains, pump.retrains);
	WRITE_ONCE(end->samples, pump.samples);
	WRITE_ONCE(end->unsent, oh_link_unsent(&end->link) + kfifo_len(&end->to_line));
}

static void reschedule(void)
{
	if (!in_interrupt() && !irqs_disabled())
		cond_resched();
}

/* What becomes of an order is to be seen before it is gone (oh_modem_end_status). */
static void obey(struct oh_modem_end *end, u32 order)
{
	const int error = oh_pump_hold(end->type, end->pump, order - 1);

	WRITE_ONCE(end->order_seen, error ? OH_KERNEL_ORDER_REFUSED : OH_KERNEL_ORDER_NONE);
}

static void process(void *self, const void *rx, void *tx, size_t n)
{
	struct oh_modem_end *end = self;
	const u8 *in = rx;
	u8 *out = tx;

	while (n > 0) {
		size_t now = min_t(size_t, n, end->slice);
		/* Pairs with oh_modem_end_hold(). */
		u32 order = smp_load_acquire(&end->order);

		oh_fpu_begin(&end->fpu);
		if (order)
			obey(end, order);
		feed(end);
		end->type->process(end->pump, in, out, now);
		follow(end, now);
		if (order) /* a newer one stays; pairs with oh_modem_end_status() */
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
	struct oh_modem_end *end = self;

	while (n > 0) {
		size_t now = min_t(size_t, n, end->slice);

		oh_fpu_begin(&end->fpu);
		end->type->report_gap(end->pump, now);
		follow(end, now);
		oh_fpu_end(&end->fpu);
		n -= now;
		reschedule();
	}
}

struct oh_pump oh_modem_end_pump(struct oh_modem_end *end)
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

/* @return whether the pump has the card's samples; config.format is then set */
static bool choose_format(struct oh_modem_end *end, const struct oh_streams *card,
			  struct oh_pump_config *config)
{
	u32 rate_hz = oh_streams_rate_hz(card), k;

	for (k = 0; k < end->type->format_count; ++k) {
		const struct oh_pump_format *format = &end->type->formats[k];

		if (format->rx.rate_hz != card->rx.rate_hz ||
		    format->tx.rate_hz != card->tx.rate_hz ||
		    format->rx.encoding != card->rx.encoding ||
		    format->tx.encoding != card->tx.encoding)
			continue;
		config->format = *format;
		end->slice = oh_kernel_slice(rate_hz);
		end->rx_octets = card->rx.rate_hz / rate_hz * oh_sample_bytes(card->rx.encoding);
		end->tx_octets = card->tx.rate_hz / rate_hz * oh_sample_bytes(card->tx.encoding);
		return true;
	}
	return false;
}

static int create_pump(struct oh_modem_end *end, const struct oh_kernel_call *call,
		       const struct oh_streams *card)
{
	struct oh_pump_config config = {
		.struct_size = sizeof(config),
		.role = call->role,
		.max_bit_rate = call->max_bit_rate,
		.tx_level_dbm0 = -12, /* as modems are set for the public network */
		.io_delay_samples = call->transmit_lead_samples,
	};
	size_t size;
	int error;

	if (!choose_format(end, card, &config))
		return -EINVAL;
	oh_fpu_begin(&end->fpu);
	oh_link_port(&end->link, &config.port);
	size = end->type->size(&config);
	oh_fpu_end(&end->fpu);
	if (size == 0)
		return -EINVAL;
	end->pump = vzalloc(size);
	if (!end->pump)
		return -ENOMEM;
	oh_fpu_begin(&end->fpu);
	error = end->type->init(end->pump, &config);
	if (!error && call->hold_timeout && oh_pump_has_hold(end->type))
		error = oh_pump_allow_hold(end->type, end->pump, call->hold_timeout);
	oh_fpu_end(&end->fpu);
	return error;
}

void oh_modem_end_destroy(struct oh_modem_end *end)
{
	if (!end)
		return;
	kfifo_free(&end->to_line);
	kfifo_free(&end->from_line);
	vfree(end->pump);
	oh_link_destroy(&end->link);
	kfree(end);
}

struct oh_modem_end *oh_modem_end_create(const struct oh_kernel_call *call,
					 const struct oh_streams *card, struct oh_event_log *log,
					 struct irq_work *wake)
{
	struct oh_modem_end *end;
	int error;

	if (call->role != OH_PUMP_CALL && call->role != OH_PUMP_ANSWER)
		return ERR_PTR(-EINVAL);
	if (call->error_control > OH_ERROR_CONTROL_REQUIRED)
		return ERR_PTR(-EINVAL);
	end = kzalloc(sizeof(*end), GFP_KERNEL);
	if (!end)
		return ERR_PTR(-ENOMEM);
	end->log = log;
	end->wake = wake;
	end->type = find_pump(call);
	error = end->type ? 0 : -ENOENT;
	if (!error)
		error = kfifo_alloc(&end->to_line, OH_KERNEL_OCTETS, GFP_KERNEL);
	if (!error)
		error = kfifo_alloc(&end->from_line, OH_KERNEL_OCTETS, GFP_KERNEL);
	if (!error)
		error = oh_link_create(&end->link, call, end->type, oh_streams_rate_hz(card), log,
				       &end->fpu);
	if (!error)
		error = create_pump(end, call, card);
	if (error) {
		oh_modem_end_destroy(end);
		return ERR_PTR(error);
	}
	return end;
}

void oh_modem_end_hang_up(struct oh_modem_end *end)
{
	WRITE_ONCE(end->hang_up, true);
}

void oh_modem_end_hold(struct oh_modem_end *end, enum oh_hold_order order)
{
	/* Pairs with process(). */
	smp_store_release(&end->order, (u32)order + 1);
}

/* Looking for a name in the symbols of a module takes a while: only for a section that is new. */
static void name_longest_section(struct oh_modem_end *end)
{
	u32 ns = READ_ONCE(end->fpu.longest_ns);

	if (ns == end->named_ns)
		return;
	end->named_ns = ns;
	scnprintf(end->from, sizeof(end->from), "%pS", (void *)READ_ONCE(end->fpu.longest_from));
	scnprintf(end->to, sizeof(end->to), "%pS", (void *)READ_ONCE(end->fpu.longest_to));
}

void oh_modem_end_status(struct oh_modem_end *end, struct oh_kernel_status *status)
{
	/* the order first: one that has been taken up is in the rest */
	const bool pending = smp_load_acquire(&end->order) != 0;

	status->hold_order = pending ? OH_KERNEL_ORDER_PENDING : READ_ONCE(end->order_seen);
	status->hold_timeout = READ_ONCE(end->hold_timeout);
	status->hold = READ_ONCE(end->hold);
	status->pump = READ_ONCE(end->state);
	status->link = READ_ONCE(end->link_state);
	status->direct = READ_ONCE(end->link.direct);
	status->compression = READ_ONCE(end->compression);
	status->v44 = READ_ONCE(end->v44);
	status->tx_bit_rate = READ_ONCE(end->tx_bit_rate);
	status->rx_bit_rate = READ_ONCE(end->rx_bit_rate);
	status->retrains = READ_ONCE(end->retrains);
	memcpy(&status->rx_level_dbm0, &end->rx_level, sizeof(end->rx_level));
	status->unsent = READ_ONCE(end->unsent);
	status->samples = READ_ONCE(end->samples);
	status->cells_sent = READ_ONCE(end->link.cells_status.sent);
	status->cells_received = READ_ONCE(end->link.cells_status.received);
	status->cells_idle = READ_ONCE(end->link.cells_status.idle_received);
	status->hec_errors = READ_ONCE(end->link.cells_status.hec_errors);
	status->delineation_losses = READ_ONCE(end->link.cells_status.losses);
	status->cells_unread = READ_ONCE(end->link.cells_status.overflows);
	name_longest_section(end);
	status->longest_section_ns = end->named_ns;
	memcpy(status->longest_section_from, end->from, sizeof(end->from));
	memcpy(status->longest_section_to, end->to, sizeof(end->to));
}

int oh_modem_end_write(struct oh_modem_end *end, const char __user *octets, size_t n,
		       unsigned int *taken)
{
	size_t unit = oh_link_unit(&end->link);

	*taken = 0;
	if (n > 0 && n < unit)
		return -EINVAL;
	n = min_t(size_t, n, kfifo_avail(&end->to_line));
	n -= n % unit;
	/*
	 * Not kfifo_from_user(): what it took before a fault stays in the queue,
	 * part of a cell, too, and user space is not told.
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

int oh_modem_end_read(struct oh_modem_end *end, char __user *octets, size_t n, unsigned int *given)
{
	return kfifo_to_user(&end->from_line, octets, n, given);
}

bool oh_modem_end_readable(struct oh_modem_end *end)
{
	return !kfifo_is_empty(&end->from_line);
}

bool oh_modem_end_writable(struct oh_modem_end *end)
{
	return kfifo_avail(&end->to_line) >= oh_link_unit(&end->link);
}

bool oh_modem_end_ended(struct oh_modem_end *end)
{
	return READ_ONCE(end->ended);
}
