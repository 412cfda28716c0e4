// SPDX-License-Identifier: MIT
#include "driver/modem/modem_end.h"

#include <errno.h>
#include <string.h>

#include <new>

#include "driver/core/logged_instrument.h"
#include "driver/core/logged_rate.h"
#include "dsp/blocks/level.h"
#include "dsp/link/start_stop_link.h"

struct oh_modem_end {
  oh_modem_end_config config;
  void* pump;
  oh_lapm* lapm;       // if error control may run
  oh_v14* characters;  // if V.14 may run
  oh_cells* cells;
  oh_bit_port lapm_port, characters_port;
  bool direct, started;
  bool hanging_up, clearing, released;  // three states: requested; the pump has the request; done
  oh_pump_state state;
  oh_hold_state hold;
  uint32_t tx_bit_rate, rx_bit_rate;  // of LAPM
  uint32_t good_frames, bad_frames;   // of the link, as the pump knows them
  uint64_t silence;                   // remaining periods of an answerer's delay
  uint32_t symbols;
  oh_modem_end_line line;
  bool end_logged;
};

namespace offhook {
namespace {

constexpr uint32_t kRateBeforeData = 1200;  // bit/s; irrelevant: no timer runs before data mode
constexpr uint32_t kSymbolsPerEvent = 8;    // sufficient for a constellation
constexpr float kTxLevelDbm0 = -12;         // as modems are configured for the public network
constexpr float kSilentTapDb = -90;
// See the header: the time that the far end may need to show that it has V.42.
constexpr uint32_t kRoundTripMs = 1200, kTrainingMs = 15'000 + 5 * kRoundTripMs, kOptionalMs = 3000;
// With MNP, link requests follow the pattern. They take about as long as the pattern.
constexpr uint16_t kRounds = 1 + kTrainingMs / (2 * kOptionalMs);

oh_modem_end& of(void* self) {
  return *static_cast<oh_modem_end*>(self);
}

void record(const oh_modem_end& end, oh_event_kind kind, uint32_t argument) {
  const oh_modem_end_config& c = end.config;
  if (c.log != nullptr) oh_event_log_write(c.log, c.now_ns(c.clock), kind, c.id, argument);
}

oh_lapm_status link_status(const oh_modem_end& end) {
  oh_lapm_status status{};
  if (end.lapm != nullptr) oh_lapm_get_status(end.lapm, &status);
  return status;
}

void note_link(void* self, oh_lapm_event event, uint32_t argument) {
  switch (event) {
    case OH_LAPM_EVENT_STATE:
      record(of(self), OH_EV_LINK_STATE, argument | uint32_t{link_status(of(self)).mnp_class} << 8);
      break;
    case OH_LAPM_EVENT_RETRANSMIT:
      record(of(self), OH_EV_LINK_RETRANSMIT, argument);
      break;
    case OH_LAPM_EVENT_BAD_FRAME:
      record(of(self), OH_EV_LINK_BAD_FRAME, argument);
      break;
    default:
      break;
  }
}

// A coordinate as Q4.12, in 16 bits.
uint32_t q12(float x) {
  const float limited = x < -7.9f ? -7.9f : x > 7.9f ? 7.9f : x;
  return static_cast<uint16_t>(static_cast<int16_t>(limited * 4096));
}

void note_symbol(void* self, float re, float im) {
  if (of(self).symbols++ % kSymbolsPerEvent == 0) record(of(self), OH_EV_SYMBOL, q12(re) | q12(im) << 16);
}

void keep_instrument(oh_modem_end_line& line, oh_instrument what, float value) {
  switch (what) {
    case OH_INSTRUMENT_SNR:
      line.snr_db = value;
      break;
    case OH_INSTRUMENT_CLOCK:
      line.clock_ppm = value;
      break;
    case OH_INSTRUMENT_CARRIER:
      line.carrier_hz = value;
      break;
    case OH_INSTRUMENT_ECHO_RETURN_LOSS:
      line.echo_return_loss_db = value;
      break;
    case OH_INSTRUMENT_ROUND_TRIP:
      line.round_trip_ms = value;
      break;
    case OH_INSTRUMENT_TX_SYMBOL_RATE:
      line.tx_symbol_rate = value;
      break;
    case OH_INSTRUMENT_RX_SYMBOL_RATE:
      line.rx_symbol_rate = value;
      break;
    case OH_INSTRUMENT_START_UP:
      line.start_up = static_cast<uint32_t>(value);
      break;
    case OH_INSTRUMENT_SLIPS:
      line.slips = static_cast<uint32_t>(value);
      break;
    case OH_INSTRUMENT_RETRAIN_CAUSE:
      if (value >= 0 && value <= static_cast<float>(OH_RETRAIN_TIMEOUT)) ++line.retrains[static_cast<int>(value)];
      break;
    default:
      break;
  }
}

void note_instrument(void* self, oh_instrument what, float value) {
  keep_instrument(of(self).line, what, value);
  if (of(self).config.log_symbols == 0) return;
  record(of(self), OH_EV_PUMP_INSTRUMENT, static_cast<uint32_t>(what) << 24 | logged_hundredths(value));
}

void note_sequence(void* self, oh_sequence which, const uint8_t* octets, size_t n) {
  constexpr size_t kAnEvent = 3;
  if (which >= OH_SEQUENCES || n > OH_SEQUENCE_OCTETS) return;
  oh_modem_end_line& line = of(self).line;
  memset(line.sequence[which], 0, OH_SEQUENCE_OCTETS);
  memcpy(line.sequence[which], octets, n);
  line.sequence_octets[which] = static_cast<uint8_t>(n);
  for (size_t k = 0; k < n && of(self).config.log_symbols != 0; k += kAnEvent) {
    uint32_t argument = static_cast<uint32_t>(which) << 28 | static_cast<uint32_t>(k / kAnEvent) << 24;
    for (size_t i = 0; i < kAnEvent && k + i < n; ++i) argument |= static_cast<uint32_t>(octets[k + i]) << 8 * i;
    record(of(self), OH_EV_PUMP_SEQUENCE, argument);
  }
}

void note_taps(void* self, const float* re, const float* im, int n) {
  float largest = 0;
  for (int k = 0; k < n; ++k) {
    const float power = re[k] * re[k] + im[k] * im[k];
    if (power > largest) largest = power;
  }
  for (int k = 0; k < n && largest > 0; ++k) {
    const float power = (re[k] * re[k] + im[k] * im[k]) / largest;
    const float db = power > 1e-9f ? static_cast<float>(power_db(power)) : kSilentTapDb;
    record(of(self), OH_EV_PUMP_TAP, static_cast<uint32_t>(k) << 24 | logged_hundredths(-db));
  }
}

bool carries_octets(const oh_modem_end_config& c) {
  return c.kind == OH_LINK_OCTETS;
}
bool may_run_v42(const oh_modem_end_config& c) {
  return carries_octets(c) && c.link.error_control != OH_ERROR_CONTROL_NONE;
}
bool may_run_v14(const oh_modem_end_config& c) {
  return carries_octets(c) && c.link.error_control != OH_ERROR_CONTROL_REQUIRED;
}

// A period is one sample of the slower direction.
uint32_t periods_per_second(const oh_modem_end_config& c) {
  return c.format.rx.rate_hz < c.format.tx.rate_hz ? c.format.rx.rate_hz : c.format.tx.rate_hz;
}

oh_lapm_config lapm_config(const oh_modem_end_config& c, void* end) {
  oh_lapm_config l;
  oh_lapm_default_config(&l, c.role, kRateBeforeData);
  l.sample_rate_hz = periods_per_second(c);
  l.link = c.link;
  const bool required = c.link.error_control == OH_ERROR_CONTROL_REQUIRED;
  const bool tries_both = c.role == OH_PUMP_CALL && (c.link.protocols & OH_PROTOCOL_MNP) != 0;
  l.t400_ms = required && !tries_both ? kTrainingMs : kOptionalMs;
  if (required && tries_both) l.detections = kRounds;
  l.event = note_link;
  l.user = end;
  return l;
}

// V.42, until it is known that the far end does not support it.
void get_bits(void* self, uint8_t* octets, size_t n) {
  oh_port_get(of(self).direct ? &of(self).characters_port : &of(self).lapm_port, octets, n);
}
void put_bits(void* self, const uint8_t* octets, size_t n) {
  oh_port_put(of(self).direct ? &of(self).characters_port : &of(self).lapm_port, octets, n);
}

oh_bit_port port_of(oh_modem_end& end) {
  oh_bit_port port = {nullptr, nullptr, &end, get_bits, put_bits};
  if (end.config.kind == OH_LINK_RAW) return end.config.raw;
  if (end.cells != nullptr) {
    oh_cells_port(end.cells, &port);
  } else if (end.characters == nullptr) {
    port = end.lapm_port;
  }
  return port;
}

oh_pump_config pump_config(const oh_modem_end_config& c, const oh_bit_port& port) {
  oh_pump_config p{};
  p.format = c.format;
  p.role = c.role;
  p.tx_level_dbm0 = kTxLevelDbm0;
  p.port = port;
  p.max_bit_rate = c.max_bit_rate;
  p.min_bit_rate = c.min_bit_rate;
  p.modulations = c.modulations;
  if (carries_octets(c) && !may_run_v14(c) && c.without_v42 != 0)  // these are not offered to the far end
    p.modulations = (c.modulations != 0 ? c.modulations : UINT32_MAX) & ~c.without_v42;
  p.io_delay_samples = c.io_delay_samples;
  p.guard_tone_hz = c.guard_tone_hz;
  return p;
}

/// Octets of the parts, in their order in memory.
struct Parts {
  size_t end, lapm, characters, cells, pump;
  size_t all() const { return end + lapm + characters + cells + pump; }
};

size_t aligned(size_t n) {
  return (n + 63) / 64 * 64;
}

/// @param reason  set if the parts are not available
Parts parts_of(const oh_modem_end_config& c, const char** reason) {
  Parts parts = {aligned(sizeof(oh_modem_end)), 0, 0, 0, 0};
  const oh_lapm_config lapm = lapm_config(c, nullptr);
  if (may_run_v42(c)) parts.lapm = aligned(oh_lapm_size(&lapm));
  if (may_run_v14(c)) parts.characters = aligned(oh_v14_size());
  if (c.kind == OH_LINK_CELLS) parts.cells = aligned(oh_cells_size());
  // A pump refuses a port without functions, so this port has some. The size does not depend on them.
  const oh_pump_config pump = pump_config(c, {nullptr, nullptr, nullptr, get_bits, put_bits});
  parts.pump = aligned(c.pump->size(&pump));
  if (may_run_v42(c) && parts.lapm == 0) {
    *reason = "invalid V.42 window or compression parameters";
  } else if (c.modulations != 0 && pump.modulations == 0) {
    *reason = "V.42 is required, but no modulation supports it";
  } else if (parts.pump == 0) {
    *reason = "the pump supports none of these samples, modulations and rates";
  }
  return parts;
}

oh_modem_end_config completed(const oh_modem_end_config& given) {
  oh_modem_end_config c = given;
  if (c.format.rx.rate_hz == 0) c.format = c.pump->formats[0];
  return c;
}

const char* refusal(const oh_modem_end_config& c, Parts* parts) {
  const char* reason = nullptr;
  if (c.link.error_control > OH_ERROR_CONTROL_REQUIRED)
    return "invalid error control; expected none, optional or required";
  if (c.role != OH_PUMP_CALL && c.role != OH_PUMP_ANSWER) return "invalid role; expected call or answer";
  if (c.kind == OH_LINK_RAW && !oh_port_is_whole(&c.raw)) return "a raw link without a bit port";
  *parts = parts_of(c, &reason);
  return reason;
}

bool init_pump(oh_modem_end& end) {
  const bool all = end.config.log_symbols != 0;
  const oh_pump_observer observer = {
      sizeof observer, &end, all ? note_symbol : nullptr, note_instrument, all ? note_taps : nullptr, note_sequence};
  oh_pump_config pump = pump_config(end.config, port_of(end));
  pump.observer = &observer;
  if (end.config.pump->init(end.pump, &pump) != 0) return false;
  if (end.config.hold_timeout == 0 || !oh_pump_has_hold(end.config.pump)) return true;
  return oh_pump_allow_hold(end.config.pump, end.pump, end.config.hold_timeout) == 0;
}

oh_pump_status pump_status(const oh_modem_end& end) {
  oh_pump_status status{};
  end.config.pump->status(end.pump, &status);
  return status;
}

bool is_over(oh_lapm_state state) {
  return state == OH_LAPM_DISCONNECTED || state == OH_LAPM_FAILED;
}

// Once: the log gets the reason if a connection ends by itself.
void note_end(oh_modem_end& end) {
  oh_modem_end_status status{};
  status.pump = pump_status(end);
  status.link = link_status(end);
  status.direct = end.direct;
  if (end.end_logged || end.hanging_up || oh_modem_end_failure(&status)[0] == 0) return;
  end.end_logged = true;
  record(end, OH_EV_CALL_END, oh_modem_end_cause(&status));
}

void note_pump(oh_modem_end& end, const oh_pump_status& now) {
  if (now.state != end.state) {
    end.state = now.state;
    record(end, OH_EV_PUMP_STATE, now.state);
    if (now.state == OH_PUMP_FAILED || now.state == OH_PUMP_IDLE) note_end(end);
    if (now.state == OH_PUMP_DATA)
      record(end, OH_EV_PUMP_RATES, logged_rate(now.tx_bit_rate) | logged_rate(now.rx_bit_rate) << 16);
  }
  if (now.hold != end.hold) {
    end.hold = now.hold;
    record(end, OH_EV_PUMP_HOLD, now.hold | now.hold_timeout << 16);
  }
}

// Before the first good frame, the bits may be no frames at all: the pattern of the detection, or characters.
void note_frames(oh_modem_end& end, const oh_lapm_status& link) {
  const uint32_t good = link.frames_received - end.good_frames, bad = link.bad_frames - end.bad_frames;
  end.good_frames = link.frames_received;
  end.bad_frames = link.bad_frames;
  if (good + bad > 0 && link.frames_received > 0) oh_pump_note_frames(end.config.pump, end.pump, good, bad);
}

// In data mode.
void age_link(oh_modem_end& end, const oh_pump_status& pump, size_t n) {
  if (pump.tx_bit_rate != end.tx_bit_rate || pump.rx_bit_rate != end.rx_bit_rate) {
    end.tx_bit_rate = pump.tx_bit_rate;
    end.rx_bit_rate = pump.rx_bit_rate;
    oh_lapm_set_bit_rates(end.lapm, pump.tx_bit_rate, pump.rx_bit_rate);
  }
  if (end.direct) return;
  if ((pump.modulation & end.config.without_v42) != 0) oh_lapm_do_without(end.lapm);
  oh_lapm_advance(end.lapm, static_cast<uint32_t>(n));
  const oh_lapm_status link = link_status(end);
  note_frames(end, link);
  if (is_over(link.state)) note_end(end);
  end.direct = end.characters != nullptr && link.state == OH_LAPM_UNSUPPORTED;
}

// The link first, then the connection.
void clear(oh_modem_end& end) {
  const bool on_hold = end.hold == OH_HOLD_AWAY;  // otherwise nothing of the link would be sent
  if (!end.direct && !on_hold && !is_over(link_status(end).state)) return;
  if (!end.clearing) end.config.pump->hang_up(end.pump);
  end.clearing = true;
  end.released = pump_status(end).state == OH_PUMP_IDLE;
}

// @return whether these periods belong to the silence before the pump begins
bool keeps_silent(oh_modem_end& end, size_t n) {
  if (!end.started || end.silence == 0) return !end.started;
  end.silence -= end.silence < n ? end.silence : n;
  return true;
}

void follow(oh_modem_end& end, size_t n) {
  const oh_pump_status now = pump_status(end);
  note_pump(end, now);
  if (end.lapm != nullptr && now.state == OH_PUMP_DATA) age_link(end, now, n);
  if (end.hanging_up && !end.released) clear(end);
}

}  // namespace
}  // namespace offhook

using namespace offhook;

size_t oh_modem_end_size(const oh_modem_end_config* config, const char** reason) {
  Parts parts{};
  const char* why = refusal(completed(*config), &parts);
  if (reason != nullptr) *reason = why;
  return why == nullptr ? parts.all() : 0;
}

oh_modem_end* oh_modem_end_init(void* memory, const oh_modem_end_config* config) {
  const oh_modem_end_config c = completed(*config);
  Parts parts{};
  if (refusal(c, &parts) != nullptr) return nullptr;
  auto* at = static_cast<uint8_t*>(memory);
  const auto take = [&at](size_t n) {
    uint8_t* taken = at;
    at += n;
    return taken;
  };
  auto& end = *new (take(parts.end)) oh_modem_end{};
  end.config = c;
  if (c.role == OH_PUMP_ANSWER) end.silence = uint64_t{c.answer_delay_ms} * periods_per_second(c) / 1000;
  end.direct = !may_run_v42(c);
  if (parts.lapm != 0) {
    const oh_lapm_config lapm = lapm_config(c, &end);
    end.lapm = oh_lapm_init(take(parts.lapm), &lapm);
    oh_lapm_port(end.lapm, &end.lapm_port);
  }
  if (parts.characters != 0) {
    end.characters = oh_v14_init(take(parts.characters));
    oh_v14_port(end.characters, &end.characters_port);
  }
  if (parts.cells != 0) end.cells = oh_cells_init(take(parts.cells));
  end.pump = take(parts.pump);
  return init_pump(end) ? &end : nullptr;
}

void oh_modem_end_release(oh_modem_end* end) {
  if (end != nullptr) end->config.pump->release(end->pump);
}

void oh_modem_end_start(oh_modem_end* end) {
  end->started = true;
}

void oh_modem_end_process(oh_modem_end* end, const void* rx, void* tx, size_t n) {
  if (keeps_silent(*end, n)) {
    const oh_sample_format &in = end->config.format.rx, &out = end->config.format.tx;
    const uint32_t ratio = out.rate_hz > in.rate_hz ? out.rate_hz / in.rate_hz : 1;
    memset(tx, oh_silence(out.encoding), n * ratio * oh_sample_bytes(out.encoding));
    return;
  }
  end->config.pump->process(end->pump, rx, tx, n);
  follow(*end, n);
}

void oh_modem_end_report_gap(oh_modem_end* end, size_t n) {
  if (keeps_silent(*end, n)) return;
  end->config.pump->report_gap(end->pump, n);
  follow(*end, n);
}

size_t oh_modem_end_unit(const oh_modem_end* end) {
  return end->cells != nullptr ? OH_CELL_OCTETS : 1;
}

size_t oh_modem_end_writable(const oh_modem_end* end) {
  if (end->config.kind == OH_LINK_RAW) return 0;
  if (end->cells != nullptr) return oh_cells_writable(end->cells);
  if (end->direct) return oh_v14_writable(end->characters);
  return end->characters != nullptr && link_status(*end).state != OH_LAPM_CONNECTED ? 0 : oh_lapm_writable(end->lapm);
}

size_t oh_modem_end_write(oh_modem_end* end, const uint8_t* octets, size_t n) {
  const size_t most = oh_modem_end_writable(end);
  if (n > most) n = most;
  if (n == 0) return 0;
  if (end->cells != nullptr) return oh_cells_write(end->cells, octets, n);
  return end->direct ? oh_v14_write(end->characters, octets, n) : oh_lapm_write(end->lapm, octets, n);
}

size_t oh_modem_end_read(oh_modem_end* end, uint8_t* octets, size_t n) {
  if (end->config.kind == OH_LINK_RAW) return 0;
  if (end->cells != nullptr) return oh_cells_read(end->cells, octets, n);
  return end->direct ? oh_v14_read(end->characters, octets, n) : oh_lapm_read(end->lapm, octets, n);
}

void oh_modem_end_hang_up(oh_modem_end* end) {
  if (end->lapm != nullptr && !end->hanging_up) oh_lapm_disconnect(end->lapm);
  end->hanging_up = true;
}

int oh_modem_end_hold(oh_modem_end* end, oh_hold_order order) {
  return oh_pump_hold(end->config.pump, end->pump, order);
}

void oh_modem_end_get_status(const oh_modem_end* end, oh_modem_end_status* status) {
  *status = oh_modem_end_status{};
  status->pump = pump_status(*end);
  status->link = link_status(*end);
  if (end->cells != nullptr) oh_cells_get_status(end->cells, &status->cells);
  status->direct = end->direct;
  status->unsent = end->direct ? oh_modem_end_unsent(end) : status->link.unacknowledged;
  status->released = end->released;
  status->line = end->line;
}

void oh_modem_end_pump_status(const oh_modem_end* end, oh_pump_status* status) {
  *status = pump_status(*end);
}

void oh_modem_end_link_status(const oh_modem_end* end, oh_lapm_status* status) {
  *status = link_status(*end);
}

int oh_modem_end_direct(const oh_modem_end* end) {
  return end->direct;
}

uint32_t oh_modem_end_unsent(const oh_modem_end* end) {
  if (end->config.kind == OH_LINK_RAW) return 0;
  if (end->cells != nullptr) return static_cast<uint32_t>(oh_cells_unsent(end->cells));
  return end->direct ? static_cast<uint32_t>(oh_v14_unsent(end->characters)) : link_status(*end).unacknowledged;
}

int oh_modem_end_released(const oh_modem_end* end) {
  return end->released;
}

int oh_modem_end_ended(const oh_modem_end* end) {
  if (end->released) return 1;
  oh_modem_end_status status{};
  status.pump = pump_status(*end);
  status.link = link_status(*end);
  status.direct = end->direct || end->hanging_up;  // a link that is being released on request has not ended yet
  return oh_modem_end_failure(&status)[0] != 0;
}

void* oh_modem_end_pump_memory(oh_modem_end* end) {
  return end->pump;
}

const char* oh_modem_end_failure(const oh_modem_end_status* s) {
  const bool carried = s->pump.bits_received > 0;
  if (s->pump.state == OH_PUMP_FAILED) {
    switch (s->pump.failure) {
      case OH_PUMP_NOTHING_IN_COMMON:
        return "has no modulation in common with the other end";
      case OH_PUMP_TOO_SLOW:
        return "ended the call: the negotiated rate is below the configured minimum";
      default:
        return carried ? "lost the carrier" : "could not connect";
    }
  }
  if (s->pump.state == OH_PUMP_IDLE && carried) return "was cleared down by the far end";
  if (s->direct) return "";
  const bool mnp = s->link.mnp_class != 0;
  switch (s->link.state) {
    case OH_LAPM_FAILED:
      return mnp ? "gave up the MNP link" : "gave up the V.42 link";
    case OH_LAPM_UNSUPPORTED:
      if (s->link.cause == OH_LAPM_NO_CLOCK) return "requires V.42, which does not run over this modulation";
      return s->link.protocols == OH_PROTOCOL_MNP  ? "found no MNP at the other end"
             : s->link.protocols > OH_PROTOCOL_MNP ? "found neither V.42 nor MNP at the other end"
                                                   : "found no V.42 at the other end";
    case OH_LAPM_DISCONNECTED:
      return mnp ? "released the MNP link" : "released the V.42 link";
    default:
      return "";
  }
}

// If the far end has left, the following retrain receives nothing.
oh_call_end oh_modem_end_cause(const oh_modem_end_status* s) {
  constexpr float kSilenceDbm0 = -48;
  const bool carried = s->pump.bits_received > 0;
  if (s->pump.state == OH_PUMP_FAILED) {
    if (s->pump.failure == OH_PUMP_NOTHING_IN_COMMON) return OH_CALL_END_NOTHING_IN_COMMON;
    if (s->pump.failure == OH_PUMP_TOO_SLOW || !carried) return OH_CALL_END_TRAINING_FAILED;
    const bool heard = s->pump.rx_level_dbm0 > kSilenceDbm0;
    return s->pump.retrains > 0 && heard ? OH_CALL_END_RETRAIN_FAILED : OH_CALL_END_CARRIER_LOST;
  }
  if (s->pump.state == OH_PUMP_IDLE && carried) return OH_CALL_END_CLEARED_DOWN;
  return s->link.state == OH_LAPM_DISCONNECTED ? OH_CALL_END_CLEARED_DOWN : OH_CALL_END_PROTOCOL_ERROR;
}
