// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is above a pump: V.42 or start-stop characters; above a DMT pump, ATM
 * cells. All but create and destroy is called inside of FPU sections.
 */
#include <linux/vmalloc.h>

#include "dsp/dmt/pump.h"
#include "dsp/link/start_stop_link.h"
#include "dsp/link/lapm.h"
#include "offhook.h"

enum {
	RATE_BEFORE_DATA = 1200, /* bit/s; no timer runs down before data mode */
	WINDOW = 15,
	DETECTION_MS = 3000, /* a pattern's answer may take a round trip of 1.2 s */
};

static void record(const struct oh_link *link, enum oh_event_kind kind, u32 argument)
{
	oh_event_log_write(link->log, oh_now_ns(NULL), kind, OH_NEAR_END, argument);
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
static size_t room(const struct oh_link *link)
{
	struct oh_lapm_status status;

	if (link->cells)
		return oh_cells_writable(link->cells);
	if (link->direct)
		return oh_v14_writable(link->characters);
	if (link->characters) {
		oh_lapm_get_status(link->lapm, &status);
		if (status.state != OH_LAPM_CONNECTED)
			return 0;
	}
	return oh_lapm_writable(link->lapm);
}

size_t oh_link_unit(const struct oh_link *link)
{
	return link->cells ? OH_CELL_OCTETS : 1;
}

size_t oh_link_writable(const struct oh_link *link, size_t most)
{
	most = min_t(size_t, most, room(link));
	return most - most % oh_link_unit(link);
}

void oh_link_write(struct oh_link *link, const u8 *octets, size_t n)
{
	if (link->cells)
		oh_cells_write(link->cells, octets, n);
	else if (link->direct)
		oh_v14_write(link->characters, octets, n);
	else
		oh_lapm_write(link->lapm, octets, n);
}

size_t oh_link_read(struct oh_link *link, u8 *octets, size_t most)
{
	if (link->cells)
		return oh_cells_read(link->cells, octets, most);
	if (link->direct)
		return oh_v14_read(link->characters, octets, most);
	return oh_lapm_read(link->lapm, octets, most);
}

u32 oh_link_unsent(const struct oh_link *link)
{
	if (link->cells)
		return oh_cells_unsent(link->cells);
	return link->direct ? oh_v14_unsent(link->characters) : link->status.unacknowledged;
}

void oh_link_follow(struct oh_link *link, const struct oh_pump_status *pump, size_t n)
{
	bool data = pump->state == OH_PUMP_DATA;

	if (link->cells) {
		struct oh_cells_status now;

		oh_cells_get_status(link->cells, &now);
		WRITE_ONCE(link->cells_status.sent, now.sent);
		WRITE_ONCE(link->cells_status.received, now.received);
		WRITE_ONCE(link->cells_status.idle_received, now.idle_received);
		WRITE_ONCE(link->cells_status.hec_errors, now.hec_errors);
		WRITE_ONCE(link->cells_status.losses, now.losses);
		WRITE_ONCE(link->cells_status.overflows, now.overflows);
		return;
	}
	if (data &&
	    (pump->tx_bit_rate != link->tx_bit_rate || pump->rx_bit_rate != link->rx_bit_rate)) {
		link->tx_bit_rate = pump->tx_bit_rate;
		link->rx_bit_rate = pump->rx_bit_rate;
		oh_lapm_set_bit_rates(link->lapm, pump->tx_bit_rate, pump->rx_bit_rate);
	}
	/* The link ages only while the pump carries bits. */
	if (data && !link->direct)
		oh_lapm_advance(link->lapm, n);
	oh_lapm_get_status(link->lapm, &link->status);
	if (link->characters && link->status.state == OH_LAPM_UNSUPPORTED)
		WRITE_ONCE(link->direct, true);
}

bool oh_link_release(struct oh_link *link)
{
	if (link->lapm && !link->disconnecting) {
		link->disconnecting = true;
		oh_lapm_disconnect(link->lapm);
		return false;
	}
	return link->direct || link->status.state == OH_LAPM_DISCONNECTED ||
	       link->status.state == OH_LAPM_FAILED;
}

bool oh_link_is_over(const struct oh_link *link)
{
	u32 state = link->status.state;

	return !link->direct && (state == OH_LAPM_FAILED || state == OH_LAPM_DISCONNECTED ||
				 state == OH_LAPM_UNSUPPORTED);
}

static struct oh_v44_parameters v44_parameters(const struct oh_kernel_v44 *v44)
{
	struct oh_v44_parameters parameters = {
		.codewords = min_t(u32, v44->codewords, U16_MAX),
		.history = min_t(u32, v44->history, U16_MAX),
		.max_string = min_t(u32, v44->max_string, U8_MAX),
	};

	return parameters;
}

static int create_lapm(struct oh_link *link, const struct oh_kernel_call *call, u32 rate_hz,
		       struct oh_fpu *fpu)
{
	struct oh_lapm_config config;
	size_t size;

	oh_fpu_begin(fpu);
	oh_lapm_default_config(&config, call->role, RATE_BEFORE_DATA);
	config.sample_rate_hz = rate_hz;
	config.detect = !call->skip_detection;
	config.k = call->window ? min_t(u32, call->window, U8_MAX) : WINDOW;
	if (call->compression) {
		config.compression = min_t(u32, call->compression, U8_MAX);
		config.codewords = min_t(u32, call->codewords, U16_MAX);
		config.max_string = min_t(u32, call->max_string, U8_MAX);
	}
	if (call->v44) {
		config.v44 = min_t(u32, call->v44, U8_MAX);
		config.v44_tx = v44_parameters(&call->v44_tx);
		config.v44_rx = v44_parameters(&call->v44_rx);
	}
	config.t400_ms = DETECTION_MS;
	config.event = link_event;
	config.user = link;
	size = oh_lapm_size(&config);
	oh_fpu_end(fpu);
	if (size == 0)
		return -EINVAL;
	link->lapm_memory = vzalloc(size);
	if (!link->lapm_memory)
		return -ENOMEM;
	oh_fpu_begin(fpu);
	link->lapm = oh_lapm_init(link->lapm_memory, &config);
	oh_fpu_end(fpu);
	return link->lapm ? 0 : -EINVAL;
}

static int create_characters(struct oh_link *link, struct oh_fpu *fpu)
{
	link->characters_memory = vzalloc(oh_v14_size());
	if (!link->characters_memory)
		return -ENOMEM;
	oh_fpu_begin(fpu);
	link->characters = oh_v14_init(link->characters_memory);
	oh_v14_port(link->characters, &link->characters_port);
	oh_fpu_end(fpu);
	return 0;
}

static const struct oh_bit_port *port_of(const struct oh_link *link)
{
	return link->direct ? &link->characters_port : &link->lapm_port;
}

static void get_bits(void *self, u8 *octets, size_t n)
{
	oh_port_get(port_of(self), octets, n);
}

static void put_bits(void *self, const u8 *octets, size_t n)
{
	oh_port_put(port_of(self), octets, n);
}

static int create_cells(struct oh_link *link, struct oh_fpu *fpu)
{
	link->cells_memory = vzalloc(oh_cells_size());
	if (!link->cells_memory)
		return -ENOMEM;
	oh_fpu_begin(fpu);
	link->cells = oh_cells_init(link->cells_memory);
	oh_fpu_end(fpu);
	link->direct = true;
	return 0;
}

static bool takes_cells(const struct oh_pump_type *type)
{
	return type == oh_dmt_remote_type() || type == oh_dmt_central_type();
}

void oh_link_port(struct oh_link *link, struct oh_bit_port *port)
{
	struct oh_bit_port either = {
		.user = link,
		.get_bits = get_bits,
		.put_bits = put_bits,
	};

	if (link->cells) {
		oh_cells_port(link->cells, port);
		return;
	}
	oh_lapm_port(link->lapm, &link->lapm_port);
	*port = link->characters ? either : link->lapm_port;
}

int oh_link_create(struct oh_link *link, const struct oh_kernel_call *call,
		   const struct oh_pump_type *pump, u32 rate_hz, struct oh_event_log *log,
		   struct oh_fpu *fpu)
{
	int error;

	link->log = log;
	link->direct = call->error_control == OH_ERROR_CONTROL_NONE;
	if (takes_cells(pump))
		return create_cells(link, fpu);
	error = create_lapm(link, call, rate_hz, fpu);
	if (!error && call->error_control != OH_ERROR_CONTROL_REQUIRED)
		error = create_characters(link, fpu);
	return error;
}

void oh_link_destroy(struct oh_link *link)
{
	vfree(link->lapm_memory);
	vfree(link->characters_memory);
	vfree(link->cells_memory);
}
