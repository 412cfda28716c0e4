// SPDX-License-Identifier: GPL-2.0-only
/*
 * One end of a connection: a pump, and above it V.42 or start-stop characters,
 * as driver/modem is in user space. All of the core is called inside of FPU
 * sections: it is compiled with SSE, so any of it may use the registers. What
 * user space writes and reads goes through queues, and never waits for a
 * section.
 */
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "dsp/v14/link.h"
#include "dsp/v42/lapm.h"
#include "offhook.h"
#include "offhook/modem.h"

enum {
	RATE_BEFORE_DATA = 1200, /* bit/s; no timer runs down before data mode */
	WINDOW = 15,
	DETECTION_MS = 3000, /* a pattern's answer may take a round trip of 1.2 s */
	PIECE = 256,
	LOG_ID = 0,
};

struct oh_modem_end {
	const struct oh_pump_type *type;
	void *pump, *lapm_memory;
	struct oh_lapm *lapm;
	struct oh_bit_port lapm_port;
	/* where error control is not required */
	void *characters_memory;
	struct oh_v14 *characters;
	struct oh_bit_port characters_port;
	bool direct; /* no error control: configured so, or the far end has none */
	struct oh_event_log *log;
	struct irq_work *wake;
	struct oh_fpu fpu;
	/* the ends of its longest section by their names, as of so many ns */
	u32 named_ns;
	char from[OH_KERNEL_PLACE], to[OH_KERNEL_PLACE];
	struct kfifo to_line, from_line;
	u8 piece[PIECE];
	u32 delivered; /* octets, in order */
	bool hang_up;  /* asked for */
	bool disconnecting, clearing;
	bool ended;
	/* as seen last; read by anybody, each by itself */
	u32 state, link, tx_bit_rate, rx_bit_rate, retrains, unsent, compression;
	u32 rx_level; /* the bits of a float */
	u64 samples;
	u32 link_tx_bit_rate, link_rx_bit_rate; /* that the link knows */
};

static void record(const struct oh_modem_end *end, enum oh_event_kind kind, u32 argument)
{
	oh_event_log_write(end->log, oh_now_ns(NULL), kind, LOG_ID, argument);
}

static void link_event(void *user, enum oh_lapm_event event, u32 argument)
{
	switch (event) {
	case OH_LAPM_EVENT_STATE:
		record(user, OH_EV_LINK_STATE, argument);
		break;
	case OH_LAPM_EVENT_RETRANSMIT:
		record(user, OH_EV_LINK_RETRANSMIT, argument);
		break;
	case OH_LAPM_EVENT_BAD_FRAME:
		record(user, OH_EV_LINK_BAD_FRAME, argument);
		break;
	default:
		break;
	}
}

/* Octets wait until it is known what is under them. */
static size_t writable(const struct oh_modem_end *end)
{
	struct oh_lapm_status link;

	if (end->direct)
		return oh_v14_writable(end->characters);
	if (end->characters) {
		oh_lapm_get_status(end->lapm, &link);
		if (link.state != OH_LAPM_CONNECTED)
			return 0;
	}
	return oh_lapm_writable(end->lapm);
}

static void feed(struct oh_modem_end *end)
{
	size_t room;

	while ((room = writable(end)) > 0) {
		unsigned int n = kfifo_out(&end->to_line, end->piece, min_t(size_t, room, PIECE));

		if (n == 0)
			return;
		if (end->direct)
			oh_v14_write(end->characters, end->piece, n);
		else
			oh_lapm_write(end->lapm, end->piece, n);
	}
}

static void drain(struct oh_modem_end *end)
{
	unsigned int room;

	while ((room = kfifo_avail(&end->from_line)) > 0) {
		size_t most = min_t(unsigned int, room, PIECE);
		size_t n = end->direct ? oh_v14_read(end->characters, end->piece, most)
				       : oh_lapm_read(end->lapm, end->piece, most);

		if (n == 0)
			return;
		kfifo_in(&end->from_line, end->piece, n);
		end->delivered += n;
		record(end, OH_EV_LINK_BYTES, end->delivered);
	}
}

/* The link first, then the connection. */
static void hang_up(struct oh_modem_end *end, enum oh_lapm_state link)
{
	if (!end->disconnecting) {
		end->disconnecting = true;
		oh_lapm_disconnect(end->lapm);
		return;
	}
	if (!end->direct && link != OH_LAPM_DISCONNECTED && link != OH_LAPM_FAILED)
		return;
	if (!end->clearing)
		end->type->hang_up(end->pump);
	end->clearing = true;
}

static void follow(struct oh_modem_end *end, size_t n)
{
	struct oh_pump_status pump = {.struct_size = sizeof(pump)};
	struct oh_lapm_status link;
	u32 rx_level, waiting;

	end->type->status(end->pump, &pump);
	if (pump.state != end->state) {
		WRITE_ONCE(end->state, pump.state);
		record(end, OH_EV_PUMP_STATE, pump.state);
		if (pump.state == OH_PUMP_DATA)
			record(end, OH_EV_PUMP_RATES,
			       pump.tx_bit_rate / 100 | pump.rx_bit_rate / 100 << 16);
	}
	if (pump.state == OH_PUMP_DATA && (pump.tx_bit_rate != end->link_tx_bit_rate ||
					   pump.rx_bit_rate != end->link_rx_bit_rate)) {
		end->link_tx_bit_rate = pump.tx_bit_rate;
		end->link_rx_bit_rate = pump.rx_bit_rate;
		oh_lapm_set_bit_rates(end->lapm, pump.tx_bit_rate, pump.rx_bit_rate);
	}
	/* The link ages only while the pump carries bits. */
	if (pump.state == OH_PUMP_DATA && !end->direct)
		oh_lapm_advance(end->lapm, n);
	oh_lapm_get_status(end->lapm, &link);
	if (end->characters && link.state == OH_LAPM_UNSUPPORTED)
		WRITE_ONCE(end->direct, true);
	if (READ_ONCE(end->hang_up))
		hang_up(end, link.state);
	if (pump.state == OH_PUMP_FAILED ||
	    (pump.state == OH_PUMP_IDLE && pump.bits_received > 0) ||
	    (!end->hang_up && !end->direct &&
	     (link.state == OH_LAPM_FAILED || link.state == OH_LAPM_DISCONNECTED ||
	      link.state == OH_LAPM_UNSUPPORTED)))
		WRITE_ONCE(end->ended, true);
	WRITE_ONCE(end->link, link.state);
	WRITE_ONCE(end->compression, link.compression);
	WRITE_ONCE(end->tx_bit_rate, pump.tx_bit_rate);
	WRITE_ONCE(end->rx_bit_rate, pump.rx_bit_rate);
	memcpy(&rx_level, &pump.rx_level_dbm0, sizeof(rx_level));
	WRITE_ONCE(end->rx_level, rx_level);
	WRITE_ONCE(end->retrains, pump.retrains);
	WRITE_ONCE(end->samples, pump.samples);
	waiting = end->direct ? oh_v14_unsent(end->characters) : link.unacknowledged;
	WRITE_ONCE(end->unsent, waiting + kfifo_len(&end->to_line));
}

static void reschedule(void)
{
	if (!in_interrupt() && !irqs_disabled())
		cond_resched();
}

static void process(void *self, const void *rx, void *tx, size_t n)
{
	struct oh_modem_end *end = self;
	const s16 *in = rx;
	s16 *out = tx;

	while (n > 0) {
		size_t now = min_t(size_t, n, OH_KERNEL_SLICE);

		oh_fpu_begin(&end->fpu);
		feed(end);
		end->type->process(end->pump, in, out, now);
		follow(end, now);
		drain(end);
		oh_fpu_end(&end->fpu);
		in += now;
		out += now;
		n -= now;
		reschedule();
	}
	irq_work_queue(end->wake);
}

static void fill_in(void *self, size_t n)
{
	struct oh_modem_end *end = self;

	while (n > 0) {
		size_t now = min_t(size_t, n, OH_KERNEL_SLICE);

		oh_fpu_begin(&end->fpu);
		end->type->fill_in(end->pump, now);
		follow(end, now);
		oh_fpu_end(&end->fpu);
		n -= now;
		reschedule();
	}
}

struct oh_pump oh_modem_end_pump(struct oh_modem_end *end)
{
	struct oh_pump pump = {.process = process, .fill_in = fill_in, .self = end};

	return pump;
}

static const struct oh_pump_type *find_pump(const char *name)
{
	const struct oh_pump_type *types[] = {oh_v34_type(), oh_v32bis_type(), oh_v22bis_type()};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); ++i) {
		if (!strncmp(types[i]->name, name, OH_KERNEL_PUMP_NAME))
			return types[i];
	}
	return NULL;
}

static int create_link(struct oh_modem_end *end, const struct oh_kernel_call *call, u32 rate_hz)
{
	struct oh_lapm_config config;
	size_t size;

	oh_fpu_begin(&end->fpu);
	oh_lapm_default_config(&config, call->role, RATE_BEFORE_DATA);
	config.sample_rate_hz = rate_hz;
	config.detect = !call->skip_detection;
	config.k = call->window ? min_t(u32, call->window, U8_MAX) : WINDOW;
	if (call->compression) {
		config.compression = min_t(u32, call->compression, U8_MAX);
		config.codewords = min_t(u32, call->codewords, U16_MAX);
		config.max_string = min_t(u32, call->max_string, U8_MAX);
	}
	config.t400_ms = DETECTION_MS;
	config.event = link_event;
	config.user = end;
	size = oh_lapm_size(&config);
	oh_fpu_end(&end->fpu);
	if (size == 0)
		return -EINVAL;
	end->lapm_memory = vzalloc(size);
	if (!end->lapm_memory)
		return -ENOMEM;
	oh_fpu_begin(&end->fpu);
	end->lapm = oh_lapm_init(end->lapm_memory, &config);
	oh_fpu_end(&end->fpu);
	return end->lapm ? 0 : -EINVAL;
}

static int create_characters(struct oh_modem_end *end)
{
	end->characters_memory = vzalloc(oh_v14_size());
	if (!end->characters_memory)
		return -ENOMEM;
	oh_fpu_begin(&end->fpu);
	end->characters = oh_v14_init(end->characters_memory);
	oh_v14_port(end->characters, &end->characters_port);
	oh_fpu_end(&end->fpu);
	return 0;
}

static const struct oh_bit_port *port_of(const struct oh_modem_end *end)
{
	return end->direct ? &end->characters_port : &end->lapm_port;
}

static void get_bits(void *self, u8 *octets, size_t n)
{
	oh_port_get(port_of(self), octets, n);
}

static void put_bits(void *self, const u8 *octets, size_t n)
{
	oh_port_put(port_of(self), octets, n);
}

static int create_pump(struct oh_modem_end *end, const struct oh_kernel_call *call)
{
	struct oh_pump_config config = {
		.struct_size = sizeof(config),
		.format = end->type->formats[0],
		.role = call->role,
		.max_bit_rate = call->max_bit_rate,
		.tx_level_dbm0 = -12, /* as modems are set for the public network */
		.io_delay_samples = call->transmit_lead_samples,
	};
	size_t size;
	int error;

	oh_fpu_begin(&end->fpu);
	oh_lapm_port(end->lapm, &end->lapm_port);
	config.port = end->lapm_port;
	if (end->characters) {
		struct oh_bit_port either = {
			.user = end,
			.get_bits = get_bits,
			.put_bits = put_bits,
		};

		config.port = either;
	}
	size = end->type->size(&config);
	oh_fpu_end(&end->fpu);
	if (size == 0)
		return -EINVAL;
	end->pump = vzalloc(size);
	if (!end->pump)
		return -ENOMEM;
	oh_fpu_begin(&end->fpu);
	error = end->type->init(end->pump, &config);
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
	vfree(end->lapm_memory);
	vfree(end->characters_memory);
	kfree(end);
}

struct oh_modem_end *oh_modem_end_create(const struct oh_kernel_call *call, u32 rate_hz,
					 struct oh_event_log *log, struct irq_work *wake)
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
	end->direct = call->error_control == OH_ERROR_CONTROL_NONE;
	end->type = find_pump(call->pump);
	error = end->type ? 0 : -ENOENT;
	if (!error)
		error = kfifo_alloc(&end->to_line, OH_KERNEL_OCTETS, GFP_KERNEL);
	if (!error)
		error = kfifo_alloc(&end->from_line, OH_KERNEL_OCTETS, GFP_KERNEL);
	if (!error)
		error = create_link(end, call, rate_hz);
	if (!error && call->error_control != OH_ERROR_CONTROL_REQUIRED)
		error = create_characters(end);
	if (!error)
		error = create_pump(end, call);
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
	status->pump = READ_ONCE(end->state);
	status->link = READ_ONCE(end->link);
	status->direct = READ_ONCE(end->direct);
	status->compression = READ_ONCE(end->compression);
	status->tx_bit_rate = READ_ONCE(end->tx_bit_rate);
	status->rx_bit_rate = READ_ONCE(end->rx_bit_rate);
	status->retrains = READ_ONCE(end->retrains);
	memcpy(&status->rx_level_dbm0, &end->rx_level, sizeof(end->rx_level));
	status->unsent = READ_ONCE(end->unsent);
	status->samples = READ_ONCE(end->samples);
	name_longest_section(end);
	status->longest_section_ns = end->named_ns;
	memcpy(status->longest_section_from, end->from, sizeof(end->from));
	memcpy(status->longest_section_to, end->to, sizeof(end->to));
}

int oh_modem_end_write(struct oh_modem_end *end, const char __user *octets, size_t n,
		       unsigned int *taken)
{
	return kfifo_from_user(&end->to_line, octets, n, taken);
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
	return !kfifo_is_full(&end->to_line);
}

bool oh_modem_end_ended(struct oh_modem_end *end)
{
	return READ_ONCE(end->ended);
}
