// SPDX-License-Identifier: MIT
#include "driver/user_modem/fsk.h"

#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

#include <cerrno>
#include <cmath>
#include <new>

#include "dsp/blocks/level.h"
#include "dsp/blocks/line_activity.h"
#include "dsp/blocks/sincos.h"
#include "dsp/blocks/tone.h"
#include "dsp/pump/pump_type.h"

namespace offhook::fsk {
namespace {

constexpr uint32_t kRateHz = 8000;
constexpr uint32_t ms(uint32_t t) {
  return t * kRateHz / 1000;
}

// V.25 4.3 and 4.4: 1.8 to 2.5 s of silence after going off hook, the tone, then 75 ms of silence. spandsp puts 0.2 s
// of silence before its tone.
constexpr uint32_t kToneSilence = ms(200);
constexpr uint32_t kAnswerSilence = ms(1900);
constexpr uint32_t kBeforeMark = ms(75);
// Speech does not produce a mark of this length, which is
// required of V.22's unscrambled ones (V.22 6.3.1.1.1).
constexpr float kMarkMs = 155;
// Circuit 106: several times kMarkMs, the time in which the far end detects the mark; our choice.
constexpr uint32_t kClearToSend = ms(700);
constexpr uint32_t kUnanswered = ms(60000);  // no answer, or an unknown one
constexpr uint32_t kPatience = ms(30000);    // after begin()
// A gap in the far end's samples is shorter than the first time; the second one ends the call.
constexpr uint32_t kCarrierGone = ms(30);
constexpr uint32_t kCarrierLost = ms(2000);
constexpr float kLost = 0.1f;  // -10 dB, as a power
constexpr float kLeastDbm0 = -48;
constexpr float kPowerWindow = 64;
constexpr float kLevelWindow = 8000;

enum class Stage : uint8_t { kSilence, kAnswerTone, kAfterTone, kListen, kMark, kData, kReleased, kFailed };

/// A filter for the far end's channel: a sinc under a Blackman window, 6 dB down at the edges and 70 dB another
/// 290 Hz away; between the channels there are 470 Hz and more.
class ChannelFilter {
 public:
  static constexpr int kTaps = 80;
  static constexpr double kDelaySamples = (kTaps - 1) / 2.0;

  explicit ChannelFilter(const Channel& c) {
    const double centre = (c.zero_hz + c.one_hz) / 2.0 / kRateHz;
    const double half = (std::abs(c.zero_hz - c.one_hz) / 2.0 + std::fmax(200, c.bit_rate * 0.35)) / kRateHz;
    double gain = 0;
    double tap[kTaps];
    for (int k = 0; k < kTaps; ++k) {
      const double t = k - kDelaySamples, u = (k + 0.5) / kTaps;
      const double window = 0.42 - 0.5 * std::cos(2 * kPi * u) + 0.08 * std::cos(4 * kPi * u);
      tap[k] = std::sin(2 * kPi * half * t) / (kPi * t) * window * 2 * std::cos(2 * kPi * centre * t);
      gain += tap[k] * std::cos(2 * kPi * centre * t);
    }
    for (int k = 0; k < kTaps; ++k) tap_[k] = float(tap[k] / gain);
  }

  float put(float x) {
    history_[at_] = history_[at_ + kTaps] = x;
    at_ = at_ + 1 == kTaps ? 0 : at_ + 1;
    float sum[8]{};
    for (int k = 0; k < kTaps; k += 8) {
      for (int j = 0; j < 8; ++j) sum[j] += tap_[k + j] * history_[at_ + k + j];
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
  }

 private:
  float tap_[kTaps];
  float history_[2 * kTaps]{};  // each sample twice, so that the newest ones are always contiguous
  int at_ = 0;
};

struct Modem {
  Modem(const oh_pump_config& c, const Line& l)
      : config(c), line(&l), filter(answers() ? l.call : l.answer), mark(receives().one_hz) {}

  bool answers() const { return config.role == OH_PUMP_ANSWER; }
  const Channel& sends() const { return answers() ? line->answer : line->call; }
  const Channel& receives() const { return answers() ? line->call : line->answer; }
  void enter(Stage s) {
    stage = s;
    in_stage = 0;
  }

  oh_pump_config config;
  const Line* line;
  Stage stage = Stage::kListen;
  uint32_t in_stage = 0;  // samples in this stage
  uint32_t patience = kUnanswered;
  ChannelFilter filter;
  ToneDetector mark;
  LineActivity activity;  // of the caller, while it is silent
  float power = 0;        // in the channel, of the last 8 ms
  float level = 0;        // of the carrier, over a second
  uint32_t absent = 0;    // samples since the carrier was lost
  bool connected = false;
  uint64_t samples = 0, filled_in = 0, bits_sent = 0, bits_received = 0;
  modem_connect_tones_tx_state_t tone;
  fsk_tx_state_t tx;
  fsk_rx_state_t rx;
};

int get_bit(void* user) {
  Modem& m = *static_cast<Modem*>(user);
  if (m.stage != Stage::kData || m.in_stage < kClearToSend) return 1;
  ++m.bits_sent;
  return oh_port_get_bit(&m.config.port);
}

void put_bit(void* user, int bit) {
  Modem& m = *static_cast<Modem*>(user);
  if (m.stage != Stage::kData || bit < 0) return;  // below zero: spandsp's status
  ++m.bits_received;
  oh_port_put_bit(&m.config.port, m.absent >= kCarrierGone ? 1 : bit);
}

void begin_data(Modem& m) {
  m.level = m.power;
  m.absent = 0;
  m.connected = true;
  m.enter(Stage::kData);
}

// The far end's carrier: its level, and whether it is present.
void watch_carrier(Modem& m) {
  if (m.power < m.level * kLost) {
    ++m.absent;
  } else {
    m.absent = 0;
    m.level += (m.power - m.level) * (1 / kLevelWindow);
  }
  if (m.absent >= kCarrierLost) m.enter(Stage::kFailed);
}

bool is_silent(Stage s) {
  return s == Stage::kSilence || s == Stage::kAnswerTone || s == Stage::kAfterTone || s == Stage::kListen;
}

// One sample in, one out.
int16_t step(Modem& m, int16_t rx) {
  ++m.samples;
  ++m.in_stage;
  const float x = m.filter.put(rx);
  m.power += (x * x - m.power) * (1 / kPowerWindow);
  const int16_t filtered = clip(x);
  fsk_rx(&m.rx, &filtered, 1);
  int16_t tx = 0;
  if (!is_silent(m.stage)) fsk_tx(&m.tx, &tx, 1);
  switch (m.stage) {
    case Stage::kSilence:
      if (m.in_stage < (m.line->answer_tone ? kAnswerSilence - kToneSilence : kAnswerSilence)) break;
      m.enter(m.line->answer_tone ? Stage::kAnswerTone : Stage::kMark);
      break;
    case Stage::kAnswerTone:
      if (modem_connect_tones_tx(&m.tone, &tx, 1) == 0) m.enter(Stage::kAfterTone);
      break;
    case Stage::kAfterTone:
      if (m.in_stage >= kBeforeMark) m.enter(Stage::kMark);
      break;
    case Stage::kListen:
    case Stage::kMark:
      m.mark.put(x);
      if (!m.answers()) m.activity.put(rx);
      if (m.mark.steady_ms() >= kMarkMs) {
        begin_data(m);
      } else if (m.in_stage >= m.patience) {
        m.enter(Stage::kFailed);
      }
      break;
    case Stage::kData:
      watch_carrier(m);
      break;
    case Stage::kReleased:
    case Stage::kFailed:
      tx = 0;
      break;
  }
  return tx;
}

constexpr uint32_t least_bit_rate(const Line& l) {
  return uint32_t(l.call.bit_rate > l.answer.bit_rate ? l.call.bit_rate : l.answer.bit_rate);
}

fsk_spec_t spec_of(const Line& l, const Channel& c) {
  return {.name = l.name,
          .freq_zero = c.zero_hz,
          .freq_one = c.one_hz,
          .tx_level = 0,
          .min_level = int(kLeastDbm0),
          .baud_rate = c.bit_rate * 100};
}

}  // namespace

size_t size(const oh_pump_config* config, const Line& line) {
  return is_possible(config, least_bit_rate(line)) ? (sizeof(Modem) + 63) / 64 * 64 : 0;
}

int init(void* self, const oh_pump_config* config, const Line& line) {
  if (self == nullptr || size(config, line) == 0) return -EINVAL;
  Modem& m = *new (self) Modem(*config, line);
  const fsk_spec_t sends = spec_of(line, m.sends()), receives = spec_of(line, m.receives());
  fsk_tx_init(&m.tx, &sends, get_bit, &m);
  fsk_tx_power(&m.tx, config->tx_level_dbm0);
  fsk_rx_init(&m.rx, &receives, FSK_FRAME_MODE_ASYNC, put_bit, &m);
  // Only this carrier detector is used. That of spandsp measures differences of samples, so it misses V.23's backward
  // channel.
  m.rx.carrier_on_power = m.rx.carrier_off_power = 0;
  if (m.answers()) {
    modem_connect_tones_tx_init(&m.tone, MODEM_CONNECT_TONES_ANS);
    m.tone.level = dds_scaling_dbm0(config->tx_level_dbm0);
    m.enter(Stage::kSilence);
  }
  return 0;
}

void process(void* self, const void* rx, void* tx, size_t n) {
  Modem& m = *static_cast<Modem*>(self);
  const auto* in = static_cast<const int16_t*>(rx);
  auto* out = static_cast<int16_t*>(tx);
  for (size_t i = 0; i < n; ++i) out[i] = step(m, in[i]);
}

void report_gap(void* self, size_t n) {
  Modem& m = *static_cast<Modem*>(self);
  m.filled_in += n;
  for (size_t i = 0; i < n; ++i) step(m, 0);
}

void status(const void* self, oh_pump_status* s) {
  const Modem& m = *static_cast<const Modem*>(self);
  oh_pump_status all{};
  all.state = m.stage == Stage::kData       ? OH_PUMP_DATA
              : m.stage == Stage::kReleased ? OH_PUMP_IDLE
              : m.stage == Stage::kFailed   ? OH_PUMP_FAILED
                                            : OH_PUMP_CONNECTING;
  all.modulation = m.line->id;
  if (m.stage == Stage::kFailed && !m.connected && m.activity.heard()) all.failure = OH_PUMP_NOTHING_IN_COMMON;
  if (m.stage == Stage::kData) {
    all.tx_bit_rate = uint32_t(m.sends().bit_rate);
    all.rx_bit_rate = uint32_t(m.receives().bit_rate);
  }
  const float power = m.stage == Stage::kData ? m.level : m.power;
  all.rx_level_dbm0 = power > 0 ? float(mean_square_to_dbm0(double(power))) : -100;
  all.samples = m.samples;
  all.filled_in = m.filled_in;
  all.bits_sent = m.bits_sent;
  all.bits_received = m.bits_received;
  give_status(all, s);
}

void hang_up(void* self) {
  static_cast<Modem*>(self)->enter(Stage::kReleased);
}

void begin(void* self, bool, float) {
  Modem& m = *static_cast<Modem*>(self);
  m.patience = kPatience;
  m.enter(m.answers() ? Stage::kMark : Stage::kListen);
}

}  // namespace offhook::fsk
