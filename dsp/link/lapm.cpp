// SPDX-License-Identifier: MIT
// The C interface, and the life of a link from detection to release.
#include "dsp/link/lapm.h"

#include <errno.h>
#include <string.h>

#include "dsp/link/v42_link.h"

namespace offhook::v42 {

void Link::set_state(oh_lapm_state state) {
  if (state == OH_LAPM_DISCONNECTED && status.cause) state = OH_LAPM_FAILED;  // released because of an error
  status.state = state;
  if (state != OH_LAPM_DETECTION) t400.stop();
  if (state >= OH_LAPM_DISCONNECTED) {
    t401.stop();
    t403.stop();
    t401_break.stop();
    mnp.t402.stop();
    mnp.t404.stop();
    recovery = poll_due = sabme_due = disc_due = xid_due = false;
    framing = state != OH_LAPM_UNSUPPORTED;  // otherwise marks: later frames are not from this end
    pattern_sender.start(PatternSender::kMarks);
  }
  notify(OH_LAPM_EVENT_STATE, state);
}

// 8.4.9.2
void Link::fail(oh_lapm_cause cause) {
  status.cause = cause;
  set_state(OH_LAPM_FAILED);
}

void Link::start_t403() {
  if (config.t403_ms) t403.start(samples(config.t403_ms));
}

void Link::start_detection() {
  mnp.active = false;
  if (!wants_v42() && originator()) {
    request_link();
    return;
  }
  if (config.link.skip_detection && wants_v42()) {
    start_framing();
    return;
  }
  if (originator()) pattern_sender.start(PatternSender::kOriginator);
  // An originator with V.42 begins with its pattern, and comes to MNP only later.
  const uint32_t later_ms = wants_v42() ? 0 : 2 * mnp_t401_ms();
  t400.start(samples(config.t400_ms + later_ms));
}

// The detection phase is over: from here on, flags and frames are sent.
void Link::start_framing() {
  framing = true;
  attempts = 0;
  if (status.state > OH_LAPM_NEGOTIATION) return;
  if (originator()) {
    set_state(OH_LAPM_NEGOTIATION);
    xid_due = true;
  } else {
    set_state(OH_LAPM_ESTABLISHMENT);
    t401.start(t401_samples);
  }
}

void Link::establish() {
  attempts = 0;
  xid_due = false;
  t401.stop();
  sabme_due = true;
  set_state(OH_LAPM_ESTABLISHMENT);
}

void Link::enter_connected() {
  // C-INIT. Not again if the UA was lost: neither end has accepted a frame yet, and this end's frames are unchanged.
  if (!connected() && status.compression) compression.start(status);
  for (; va != vs; va = modulo(va + 1u)) unframed_user += sent[va].user;
  vs = va = vr = next = 0;
  framed = out.tail;
  again.clear();
  holding.clear();
  asked.clear();
  asks = 0;
  to_ask.clear();
  rejecting = recovery = false;
  status.far_busy = 0;
  poll_due = final_due = ready_due = reject_due = ack_due = sabme_due = false;
  fresh = true;
  attempts = 0;
  t401.stop();
  start_t403();
  if (!connected()) set_state(OH_LAPM_CONNECTED);
  update_busy();
}

size_t Link::uncompress(uint8_t* bytes, size_t n) {
  size_t made = 0;
  for (uint32_t size = 1; size > 0 && made < n;) {
    size_t used = 0;
    const uint8_t* octets = in.front(&size);
    made += compression.decode(octets, size, &used, bytes + made, n - made);
    in.tail += uint32_t(used);
    if (compression.failed()) {
      in.tail = in.head;
      if (status.cause == OH_LAPM_NO_CAUSE) status.cause = OH_LAPM_BAD_COMPRESSION;
      oh_lapm_disconnect(static_cast<oh_lapm*>(this));
      break;
    }
  }
  status.bytes_delivered += made;
  update_busy();
  return made;
}

// 8.4.7. There must be room for a full frame; the condition ends when half of the buffer is free.
void Link::update_busy() {
  const uint32_t needed = busy() ? in.size / 2 : status.n401_rx;
  const bool now = user_busy || in.free() < needed;
  if (now == busy()) return;
  status.busy = now;
  if (connected()) ready_due = true;
  if (now) {  // held frames would be requested again anyway
    holding.clear();
    asked.clear();
    to_ask.clear();
    rejecting = reject_due = false;
  }
}

namespace {

constexpr size_t kMaxHeader = 3;

size_t aligned(size_t n) {
  return (n + 63) / 64 * 64;
}

uint32_t wanted_window(const oh_lapm_config& c) {
  return c.link.window == 0 ? uint32_t(kDefaultK) : c.link.window;
}

bool permits_mnp(const oh_lapm_config& c) {
  return c.link.protocols & OH_PROTOCOL_MNP;
}

bool possible_mnp(const oh_lapm_config& c) {
  const oh_link_config& l = c.link;
  return (l.mnp_class == 0 || (l.mnp_class >= 2 && l.mnp_class <= 5)) &&
         (l.mnp_block == 0 || (l.mnp_block >= kShortField && l.mnp_block <= kLongField)) && c.detections >= 1 &&
         c.buffer_bytes >= 2u * kLongField;
}

bool possible(const oh_lapm_config* c) {
  return c && (c->role == OH_PUMP_CALL || c->role == OH_PUMP_ANSWER) && c->sample_rate_hz > 0 && c->bit_rate > 0 &&
         wanted_window(*c) >= kDefaultK && wanted_window(*c) < kModulus && c->n401 >= kDefaultN401 && c->n401 <= 1024 &&
         c->n400 >= 1 && c->t400_ms > 0 && c->buffer_bytes >= 2u * c->n401 && c->buffer_bytes <= 1u << 24 &&
         Compression::possible(c->link) && c->link.protocols <= (OH_PROTOCOL_V42 | OH_PROTOCOL_MNP) &&
         (!permits_mnp(*c) || possible_mnp(*c));
}

// With a window of more than half the modulus, a repeated frame cannot be distinguished from a new one (selective
// retransmission holds it, and delivers it 128 frames later).
uint8_t window(const oh_lapm_config& c) {
  return uint8_t(c.srej && wanted_window(c) > kModulus / 2 ? kModulus / 2 : wanted_window(c));
}

uint32_t ring_size(const oh_lapm_config& c) {
  uint32_t size = 256;
  while (size < c.buffer_bytes) size *= 2;
  return size;
}

constexpr size_t kMnpFrameSize = kMaxMnpHeader + kLongField + kMaxFcs;

size_t frame_size(const oh_lapm_config& c) {
  const size_t size = kMaxHeader + c.n401 + kMaxFcs;
  return permits_mnp(c) && size < kMnpFrameSize ? kMnpFrameSize : size;
}

// 9.2.1 and Appendix IV. The sum of this end's longest frame, and of the far end's frame that begins just before, with
// inserted zeros; a round trip of 1.2 s; and the delays of filters, buffers and both ends' cards.
uint32_t t401_ms(const oh_lapm_config& c, uint32_t tx_bit_rate, uint32_t rx_bit_rate) {
  if (c.t401_ms) return c.t401_ms;
  const uint64_t frame_bits = (kMaxHeader + c.n401 + kMaxFcs) * 8 * 6 / 5;
  return uint32_t(frame_bits * 1000 / tx_bit_rate + frame_bits * 1000 / rx_bit_rate) + 1200 + 300;
}

}  // namespace

void Link::update_t401() {
  t401_samples = samples(mnp.active ? mnp_t401_ms() : t401_ms(config, tx_bit_rate, rx_bit_rate));
}

}  // namespace offhook::v42

using namespace offhook::v42;

void oh_lapm_default_config(oh_lapm_config* config, oh_pump_role role, uint32_t bit_rate) {
  *config = oh_lapm_config{};
  config->role = role;
  config->sample_rate_hz = 8000;
  config->bit_rate = bit_rate;
  config->srej = 1;
  config->n401 = kDefaultN401;
  config->n400 = 10;
  config->t400_ms = 750;
  config->detections = 1;
  config->t403_ms = 10000;
  config->buffer_bytes = 8192;
}

size_t oh_lapm_size(const oh_lapm_config* c) {
  if (!possible(c)) return 0;
  return aligned(sizeof(oh_lapm)) + 2 * aligned(ring_size(*c)) + aligned(size_t(wanted_window(*c)) * c->n401) +
         2 * aligned(frame_size(*c)) + (permits_mnp(*c) ? aligned(kMnpFrameSize) : 0) +
         (Compression::wanted(c->link) ? aligned(ring_size(*c)) + Compression::size(c->link) : 0);
}

oh_lapm* oh_lapm_init(void* memory, const oh_lapm_config* config) {
  if (!memory || !possible(config)) return nullptr;
  auto* at = static_cast<uint8_t*>(memory);
  auto take = [&](size_t n) {
    uint8_t* taken = at;
    at += aligned(n);
    return taken;
  };
  auto* lapm = reinterpret_cast<oh_lapm*>(take(sizeof(oh_lapm)));
  *lapm = oh_lapm{};
  Link& link = *lapm;
  link.config = *config;
  link.k = window(*config);
  link.in.size = link.out.size = ring_size(*config);
  link.in.bytes = take(link.in.size);
  link.out.bytes = take(link.out.size);
  link.held = take(size_t(wanted_window(*config)) * config->n401);
  link.receiver.init(take(frame_size(*config)), frame_size(*config));
  link.sender.init(take(frame_size(*config)));
  link.mnp.sender.init(link.sender.buffer());
  if (link.wants_mnp()) link.mnp.receiver.init(take(kMnpFrameSize), kMnpFrameSize);
  if (link.wants_compression()) {
    link.written.size = ring_size(*config);
    link.written.bytes = take(link.written.size);
    link.compression.init(take(Compression::size(config->link)), config->link);
  }
  link.tx_bit_rate = link.rx_bit_rate = config->bit_rate;
  link.update_t401();
  link.status.protocols = uint8_t(config->link.protocols != 0 ? config->link.protocols : uint32_t(OH_PROTOCOL_V42));
  link.status.n401_tx = link.status.n401_rx = kDefaultN401;
  link.status.k_tx = link.status.k_rx = kDefaultK;
  link.start_detection();
  return lapm;
}

void oh_lapm_port(oh_lapm* lapm, oh_bit_port* port) {
  *port = {nullptr, nullptr, lapm,
           [](void* user, uint8_t* octets, size_t n) { static_cast<oh_lapm*>(user)->get_bits(octets, n); },
           [](void* user, const uint8_t* octets, size_t n) { static_cast<oh_lapm*>(user)->put_bits(octets, n); }};
}

void oh_lapm_advance(oh_lapm* lapm, uint32_t n) {
  if (lapm->t400.advance(n)) lapm->fire(LinkEvent::kT400, Frame{});
  if (lapm->t401.advance(n)) lapm->t401_expired();
  if (lapm->mnp.active) lapm->advance_mnp(n);
  if (lapm->t403.advance(n) && lapm->connected() && !lapm->recovery) {  // 8.12.3.3
    lapm->recovery = true;
    lapm->attempts = 0;
    lapm->poll_due = true;
  }
  if (lapm->t401_break.advance(n)) {
    if (++lapm->break_attempts < lapm->config.n400) {
      lapm->break_due = true;
    } else {
      lapm->break_pending = false;  // 8.13.3.4: not acknowledged, so no BREAK_DONE
    }
  }
}

void oh_lapm_set_bit_rates(oh_lapm* lapm, uint32_t tx_bit_rate, uint32_t rx_bit_rate) {
  if (tx_bit_rate == 0 || rx_bit_rate == 0) return;
  const uint32_t before = lapm->t401_samples;
  lapm->tx_bit_rate = tx_bit_rate;
  lapm->rx_bit_rate = rx_bit_rate;
  lapm->update_t401();
  lapm->t401.prolong(before, lapm->t401_samples);
  lapm->t401_break.prolong(before, lapm->t401_samples);
}

size_t oh_lapm_writable(const oh_lapm* lapm) {
  if (lapm->status.state > OH_LAPM_CONNECTED) return 0;
  return (lapm->wants_compression() ? lapm->written : lapm->out).free();
}

size_t oh_lapm_write(oh_lapm* lapm, const void* bytes, size_t n) {
  const size_t room = oh_lapm_writable(lapm);
  if (n > room) n = room;
  if (n) (lapm->wants_compression() ? lapm->written : lapm->out).put(static_cast<const uint8_t*>(bytes), uint32_t(n));
  return n;
}

size_t oh_lapm_read(oh_lapm* lapm, void* bytes, size_t n) {
  if (lapm->status.compression & OH_LAPM_COMPRESS_RECEIVED) return lapm->uncompress(static_cast<uint8_t*>(bytes), n);
  if (n > lapm->in.used()) n = lapm->in.used();
  if (n == 0) return 0;
  lapm->in.copy(lapm->in.tail, static_cast<uint8_t*>(bytes), uint32_t(n));
  lapm->in.tail += uint32_t(n);
  lapm->update_busy();
  return n;
}

void oh_lapm_set_busy(oh_lapm* lapm, int busy) {
  lapm->user_busy = busy != 0;
  lapm->update_busy();
}

void oh_lapm_do_without(oh_lapm* lapm) {
  if (lapm->status.state == OH_LAPM_UNSUPPORTED) return;
  lapm->status.cause = OH_LAPM_NO_CLOCK;
  lapm->set_state(OH_LAPM_UNSUPPORTED);
}

void oh_lapm_disconnect(oh_lapm* lapm) {
  if (lapm->connected()) {
    lapm->attempts = 0;
    lapm->recovery = lapm->poll_due = false;
    lapm->t401.stop();
    lapm->t403.stop();
    lapm->t401_break.stop();
    (lapm->mnp.active ? lapm->mnp.disconnect_due : lapm->disc_due) = true;
    lapm->mnp.reason = kUser;
    lapm->set_state(OH_LAPM_RELEASE);
  } else if (lapm->status.state < OH_LAPM_CONNECTED) {
    lapm->set_state(OH_LAPM_DISCONNECTED);
  }
}

int oh_lapm_send_break(oh_lapm* lapm, uint8_t handling, uint8_t length) {
  if (!lapm->connected()) return -ENOTCONN;
  if (lapm->break_pending) return -EAGAIN;
  lapm->break_handling = handling;
  lapm->break_length = length;
  lapm->break_pending = lapm->break_due = true;
  lapm->break_attempts = 0;
  return 0;
}

int oh_lapm_send_test(oh_lapm* lapm, const void* bytes, size_t n) {
  if (!lapm->connected()) return -ENOTCONN;
  if (!lapm->test_agreed) return -EOPNOTSUPP;
  if (n == 0 || n > kTestSize) return -EINVAL;
  if (lapm->test_due) return -EAGAIN;
  memcpy(lapm->test, bytes, n);
  lapm->test_n = uint8_t(n);
  lapm->test_due = lapm->test_pending = true;
  return 0;
}

void oh_lapm_get_status(const oh_lapm* lapm, struct oh_lapm_status* status) {
  *status = lapm->status;
  status->unacknowledged = lapm->out.used() + lapm->written.used();
}
