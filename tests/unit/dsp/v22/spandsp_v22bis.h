// SPDX-License-Identifier: MIT
//
// A V.22bis pump that we did not write: spandsp's modem in V.25's answer sequence and with a recovery of ours. The
// independent far end of our own pump.
#ifndef OFFHOOK_TESTS_UNIT_DSP_V22_SPANDSP_V22BIS_H
#define OFFHOOK_TESTS_UNIT_DSP_V22_SPANDSP_V22BIS_H

#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

#include <cerrno>
#include <climits>
#include <cmath>
#include <new>

#include "dsp/blocks/line_activity.h"
#include "dsp/blocks/tone.h"
#include "dsp/pump/pump_type.h"

namespace offhook::test::spandsp {
inline namespace {

constexpr uint32_t kRateHz = 8000;
constexpr uint32_t ms(uint32_t t) {
  return t * kRateHz / 1000;
}

// V.25 4.3: 1.8 to 2.5 s of silence after going off hook, then the tone. spandsp has 0.2 s of silence before it, sends
// 2.6 s of tone (3.3 +- 0.7 s required), and its modem starts with the 75 ms of silence of V.25 4.4.
constexpr uint32_t kAnswerSilence = ms(1700);
// V.25 3.10: the tone is over after an absence of 75 +- 20 ms.
constexpr uint32_t kToneAbsent = ms(75);
constexpr uint32_t kToneTimeout = ms(60000);  // an unanswered call
// spandsp's tx_power is too high by this, because it scales by 1.6 (not a power) and by the peak instead of the mean.
constexpr float kTxPowerExcessDb = 1.6f;

// Loss of a modem's signal in spandsp's band filter before the level meter, measured with its own transmitter in both
// bands (v22bis_rx_signal_power adds 6.34).
constexpr float kBandLossDb = 7.4f;

constexpr float kLeastDbm0 = -45.5f;  // below it there is no carrier

// Recovery. A far end that drops its carrier intentionally remains silent until it detects our silence; a gap in its
// samples is shorter.
constexpr uint32_t kCarrierGone = ms(100);    // data mode: duration at 10 dB below the usual level
constexpr uint32_t kFarQuiet = ms(60);        // the far end has also become silent
constexpr uint32_t kAnswererQuiet = ms(300);  // silence that the caller cannot miss
constexpr uint32_t kTrainTimeout = ms(6000);  // training takes 1.8 s and two round trips
constexpr uint32_t kGiveUp = ms(40000);       // limit without data mode, after which the call has failed
constexpr float kLost = 0.1f;                 // -10 dB, as a power
// Mean squared distance to the nearest point that indicates a lost receiver. With 16 points that are two apart, noise
// 17 dB below the signal (mean power 10) gives 0.2, and random values give 0.67. Four points are 4.5 apart.
constexpr float kLostError16 = 0.45f;
constexpr float kLostError4 = 2.5f;
constexpr uint32_t kLostSymbols = 300;  // half a second at 600 baud
constexpr uint32_t kFloorWindow = ms(100);
constexpr uint32_t kLevelWindow = ms(1000);

// The caller answers unscrambled ones after 611 ms. Until then the answerer may measure the line's noise.
constexpr uint32_t kFloorTime = ms(400);
constexpr float kS1Ms = 60;

// 6.3.1.1.1 a: unscrambled ones for 155 ms show the caller that a V.22bis modem answers; some send no answer tone
// first. They are a tone, 2400 Hz turned by -90 degrees 600 times a second, 25 Hz from the answer tone of Bell 103.
constexpr int kUnscrambledOnesHz = 2250;
constexpr float kUnscrambledOnesMs = 155;
constexpr float kMaxOffsetHz = 10;  // V.22bis 2.2 asks for 7

enum class Stage : uint8_t { kSilence, kAnswerTone, kListen, kFloor, kQuiet, kTrain, kData, kReleased, kFailed };

struct Modem {
  oh_pump_config config;
  oh_pump_observer observer;
  int bit_rate;
  Stage stage;
  uint32_t in_stage;      // samples in this stage
  uint32_t without_data;  // samples since data mode, or since the tone
  uint32_t absent;        // samples since tone or carrier were lost
  bool tone_heard;
  LineActivity activity;  // of the caller, before it sends
  bool answered;          // the far end has shown that it has V.22bis
  float tone_dbm0;
  // Meter reading while the far end is silent in this band: peak of the last window. Includes the AA of a V.32 caller.
  int32_t window_peak, floor;
  float level;             // meter reading in data mode, averaged over a second
  float error;             // squared distance to the constellation, averaged over 64 symbols
  uint32_t error_symbols;  // symbols for which it was too high
  bool carrier_down;       // spandsp restarted itself
  uint64_t samples, filled_in, bits_sent, bits_received;
  uint32_t retrains;
  // S1 is 900 and 1500 Hz. spandsp's answerer needs 66 of its 100 ms to find the symbols, and with a telephone
  // channel's filters it often finds them too late.
  ToneDetector ones{kUnscrambledOnesHz};  // of the caller, before the end of the answer tone
  ToneDetector s1_low{900}, s1_high{1500};
  bool s1_heard;
  modem_connect_tones_tx_state_t tone_tx;
  modem_connect_tones_rx_state_t tone_rx;
  v22bis_state_t v22bis;
  bool bell = false;  // Bell 212A: 2225 Hz in place of the answer tone and of unscrambled ones
  double bell_phase = 0;
};

bool answers(const Modem& m) {
  return m.config.role == OH_PUMP_ANSWER;
}

void enter(Modem& m, Stage stage) {
  m.stage = stage;
  m.in_stage = 0;
  m.absent = 0;
}

// spandsp's receiver as a level meter in the far end's band; below the carrier-on power it does nothing else.
void meter_only(Modem& m) {
  m.v22bis.rx.carrier_on_power = INT32_MAX;
}

void set_carrier_power(Modem& m, float reading) {
  m.v22bis.rx.carrier_on_power = int32_t(std::fmin(reading * 1.8f, 1e9f));
  m.v22bis.rx.carrier_off_power = int32_t(std::fmin(reading / 1.8f, 1e9f));
}

// Becomes silent until the far end is, then trains.
void recover(Modem& m) {
  ++m.retrains;
  v22bis_restart(&m.v22bis, m.bit_rate);
  meter_only(m);
  m.error_symbols = 0;
  enter(m, Stage::kQuiet);
}

void begin_data(Modem& m) {
  m.v22bis.rx.carrier_off_power = 0;  // this code watches the carrier, because spandsp would restart in a 30 ms gap
  m.level = float(m.v22bis.rx.rx_power.reading);
  m.error = 0;
  m.error_symbols = 0;
  m.without_data = 0;
  enter(m, Stage::kData);
}

int get_bit(void* user) {
  Modem& m = *static_cast<Modem*>(user);
  if (m.stage != Stage::kData) return 1;
  ++m.bits_sent;
  return oh_port_get_bit(&m.config.port);
}

void put_bit(void* user, int bit) {
  Modem& m = *static_cast<Modem*>(user);
  if (m.stage != Stage::kData || bit < 0) return;
  ++m.bits_received;
  oh_port_put_bit(&m.config.port, bit);
}

void on_status(void* user, int status) {
  if (status == SIG_STATUS_CARRIER_DOWN) static_cast<Modem*>(user)->carrier_down = true;
}

void on_tone(void* user, int tone, int level, int) {
  Modem& m = *static_cast<Modem*>(user);
  if (tone == MODEM_CONNECT_TONES_NONE) return;
  m.tone_heard = true;
  m.tone_dbm0 = float(level);
}

void on_symbol(void* user, const complexf_t* z, const complexf_t* target, int) {
  Modem& m = *static_cast<Modem*>(user);
  if (!z || !target) return;  // a timing report
  if (m.observer.symbol) m.observer.symbol(m.observer.user, z->re, z->im);
  if (m.stage != Stage::kData) return;
  const float re = z->re - target->re, im = z->im - target->im;
  m.error += (re * re + im * im - m.error) * (1.0f / 64);
  const float limit = m.v22bis.rx.sixteen_way_decisions ? kLostError16 : kLostError4;
  m.error_symbols = m.error < limit ? 0 : m.error_symbols + 1;
}

constexpr double kBellToneHz = 2225;

int16_t transmit(Modem& m) {
  int16_t tx = 0;
  v22bis_tx(&m.v22bis, &tx, 1);
  if (!m.bell || m.v22bis.tx.training != V22BIS_TX_TRAINING_STAGE_U11) return tx;
  m.bell_phase += 2 * 3.14159265358979 * kBellToneHz / kRateHz;
  return int16_t(5000 * std::sin(m.bell_phase));
}

// Still silent, or sending unscrambled ones, without having received the answer to them.
bool unanswered(const Modem& m) {
  const int sends = m.v22bis.tx.training;
  return sends == V22BIS_TX_TRAINING_STAGE_INITIAL_TIMED_SILENCE || sends == V22BIS_TX_TRAINING_STAGE_INITIAL_SILENCE ||
         sends == V22BIS_TX_TRAINING_STAGE_U11;
}

void measure_floor(Modem& m, int16_t rx) {
  v22bis_rx(&m.v22bis, &rx, 1);
  if (m.v22bis.rx.rx_power.reading > m.window_peak) m.window_peak = m.v22bis.rx.rx_power.reading;
  if (m.in_stage % kFloorWindow == 0) {
    m.floor = m.window_peak;
    m.window_peak = 0;
  }
}

// Noise must not look like the caller, who remains silent for some time and the round trip.
void listen_above_floor(Modem& m) {
  v22bis_rx_signal_cutoff(&m.v22bis, kLeastDbm0);
  set_carrier_power(m, std::fmax(float(m.v22bis.rx.carrier_off_power) * 1.8f, float(m.floor) * 2.2f));
}

// Without the 75 ms of silence that spandsp sends before them.
void send_unscrambled_ones(Modem& m) {
  m.v22bis.tx.training = V22BIS_TX_TRAINING_STAGE_U11;
  m.v22bis.tx.training_count = 0;
}

void expect_far_level(Modem& m, float dbm0) {
  v22bis_rx_signal_cutoff(&m.v22bis, std::fmax(dbm0 - 10.0f, kLeastDbm0));
}

// In kListen, after each sample: the end of an answer tone, or the ones that follow it.
void follow_answer(Modem& m, int16_t rx) {
  modem_connect_tones_rx(&m.tone_rx, &rx, 1);
  m.activity.put(rx);
  m.ones.put(rx);
  m.absent = m.tone_rx.tone_on ? 0 : m.absent + 1;
  if (m.tone_heard && m.absent >= kToneAbsent) {
    expect_far_level(m, m.tone_dbm0);
    enter(m, Stage::kTrain);
  } else if (m.ones.unbroken_ms() >= kUnscrambledOnesMs && std::fabs(m.ones.frequency_offset_hz()) <= kMaxOffsetHz) {
    m.tone_heard = true;
    expect_far_level(m, 20.0f * log10f(m.ones.peak() / 32767.0f) + DBM0_MAX_SINE_POWER);
    enter(m, Stage::kTrain);
  } else if (m.in_stage >= kToneTimeout) {
    enter(m, Stage::kFailed);
  }
}

// For the answerer: spandsp's actions when it has found S1 (6.3.1.1.2 b).
void look_for_s1(Modem& m, int16_t rx) {
  m.s1_low.put(rx);
  m.s1_high.put(rx);
  const float steady = std::fmin(m.s1_low.steady_ms(), m.s1_high.steady_ms());
  if (steady >= kS1Ms) m.s1_heard = true;
  if (!m.s1_heard || steady > 0 || m.v22bis.tx.training != V22BIS_TX_TRAINING_STAGE_U11) return;
  m.s1_heard = false;
  m.v22bis.tx.training = V22BIS_TX_TRAINING_STAGE_U0011;
  m.v22bis.tx.training_count = 0;
  m.v22bis.negotiated_bit_rate = 2400;
}

// In kTrain, after each sample.
void follow_training(Modem& m) {
  if (m.v22bis.rx.training == V22BIS_RX_TRAINING_STAGE_NORMAL_OPERATION &&
      m.v22bis.tx.training == V22BIS_TX_TRAINING_STAGE_NORMAL_OPERATION) {
    begin_data(m);
  } else if (++m.without_data >= kGiveUp) {
    enter(m, Stage::kFailed);
  } else if (m.carrier_down && answers(m) && !m.answered) {
    // The apparent caller was a click, such as the end of a V.32 caller's tone; spandsp has started again.
    m.carrier_down = false;
    send_unscrambled_ones(m);
    listen_above_floor(m);
  } else if (m.carrier_down || m.in_stage >= kTrainTimeout) {
    m.carrier_down = false;
    recover(m);
  }
}

// In kData, after each sample.
void follow_carrier(Modem& m) {
  const float reading = float(m.v22bis.rx.rx_power.reading);
  if (reading < m.level * kLost) {
    ++m.absent;
  } else {
    m.absent = 0;
    m.level += (reading - m.level) / float(m.in_stage < kLevelWindow ? m.in_stage : kLevelWindow);
  }
  // In the last case, spandsp mistook noise for the far end's S1 and began a retrain that cannot succeed.
  if (m.absent >= kCarrierGone || m.error_symbols >= kLostSymbols || m.v22bis.rx.training != 0) recover(m);
}

// One sample in, one out: the action of each stage, and the next stage.
int16_t step(Modem& m, int16_t rx) {
  ++m.samples;
  ++m.in_stage;
  int16_t tx = 0;
  switch (m.stage) {
    case Stage::kSilence:
      if (m.in_stage == kAnswerSilence && m.bell) {
        send_unscrambled_ones(m);
        v22bis_rx_signal_cutoff(&m.v22bis, kLeastDbm0);
        enter(m, Stage::kTrain);
      } else if (m.in_stage == kAnswerSilence) {
        enter(m, Stage::kAnswerTone);
      }
      break;
    case Stage::kAnswerTone:
      measure_floor(m, rx);
      if (modem_connect_tones_tx(&m.tone_tx, &tx, 1) == 0) {
        listen_above_floor(m);
        enter(m, Stage::kTrain);
      }
      break;
    case Stage::kListen:
      follow_answer(m, rx);
      break;
    case Stage::kFloor:
      measure_floor(m, rx);
      tx = transmit(m);
      if (m.in_stage >= kFloorTime) {
        listen_above_floor(m);
        enter(m, Stage::kTrain);
      }
      break;
    case Stage::kQuiet:
      v22bis_rx(&m.v22bis, &rx, 1);
      m.absent = float(m.v22bis.rx.rx_power.reading) < m.level * kLost ? m.absent + 1 : 0;
      if (m.absent >= kFarQuiet && m.in_stage >= (answers(m) ? kAnswererQuiet : 0)) {
        set_carrier_power(m, m.level * kLost);
        enter(m, Stage::kTrain);
      } else if (++m.without_data >= kGiveUp) {
        enter(m, Stage::kFailed);
      }
      break;
    case Stage::kTrain:
      v22bis_rx(&m.v22bis, &rx, 1);
      if (answers(m) && !m.answered && m.bit_rate == 2400) look_for_s1(m, rx);
      tx = transmit(m);
      m.answered |= !unanswered(m);
      follow_training(m);
      break;
    case Stage::kData:
      v22bis_rx(&m.v22bis, &rx, 1);
      tx = transmit(m);
      follow_carrier(m);
      break;
    case Stage::kReleased:
    case Stage::kFailed:
      break;
  }
  return tx;
}

int rate_of(const oh_pump_config& c) {
  return c.max_bit_rate == 0 || c.max_bit_rate >= 2400 ? 2400 : 1200;
}

size_t size(const oh_pump_config* config) {
  return is_possible(config, 1200) ? (sizeof(Modem) + 63) / 64 * 64 : 0;
}

int init_as(void* self, const oh_pump_config* config, bool bell) {
  if (!self || size(config) == 0) return -EINVAL;
  Modem& m = *new (self) Modem{};
  m.bell = bell;
  if (bell) m.ones = ToneDetector(int(kBellToneHz));
  m.config = *config;
  m.observer = observer_of(*config);
  m.bit_rate = m.bell ? 1200 : rate_of(*config);
  v22bis_init(&m.v22bis, m.bit_rate, V22BIS_GUARD_TONE_NONE, !answers(m), get_bit, &m, put_bit, &m);
  v22bis_tx_power(&m.v22bis, config->tx_level_dbm0 - kTxPowerExcessDb);
  v22bis_set_modem_status_handler(&m.v22bis, on_status, &m);
  v22bis_rx_set_qam_report_handler(&m.v22bis, on_symbol, &m);
  if (answers(m)) {
    meter_only(m);
    modem_connect_tones_tx_init(&m.tone_tx, MODEM_CONNECT_TONES_ANS);
    m.tone_tx.level = dds_scaling_dbm0(config->tx_level_dbm0);
    enter(m, Stage::kSilence);
  } else {
    modem_connect_tones_rx_init(&m.tone_rx, MODEM_CONNECT_TONES_ANS, on_tone, &m);
    enter(m, Stage::kListen);
  }
  return 0;
}

int init(void* self, const oh_pump_config* config) {
  return init_as(self, config, false);
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

oh_pump_state state_of(const Modem& m) {
  switch (m.stage) {
    case Stage::kQuiet:
    case Stage::kTrain:
      return m.answered ? OH_PUMP_TRAINING : OH_PUMP_CONNECTING;
    case Stage::kData:
      return OH_PUMP_DATA;
    case Stage::kReleased:
      return OH_PUMP_IDLE;
    case Stage::kFailed:
      return OH_PUMP_FAILED;
    default:
      return OH_PUMP_CONNECTING;
  }
}

void status(const void* self, oh_pump_status* s) {
  const Modem& m = *static_cast<const Modem*>(self);
  oh_pump_status all{};
  all.state = state_of(m);
  // An answer tone or another signal, without any sign of V.22bis after it.
  if (m.stage == Stage::kFailed && (m.tone_heard || m.activity.heard()) && !m.answered) {
    all.failure = OH_PUMP_NOTHING_IN_COMMON;
  }
  if (m.stage == Stage::kData) {
    all.tx_bit_rate = uint32_t(m.v22bis.negotiated_bit_rate);
    all.rx_bit_rate = m.v22bis.rx.sixteen_way_decisions ? 2400 : 1200;
  }
  const int rate = m.stage == Stage::kData ? m.v22bis.negotiated_bit_rate : m.bit_rate;
  all.modulation = rate == 1200 ? OH_MODULATION_V22 : OH_MODULATION_V22BIS;
  const float reading = m.stage == Stage::kData ? m.level : float(m.v22bis.rx.rx_power.reading);
  all.rx_level_dbm0 = 10.0f * log10f(reading / (32767.0f * 32767.0f) + 1e-10f) + DBM0_MAX_POWER + kBandLossDb;
  all.samples = m.samples;
  all.filled_in = m.filled_in;
  all.retrains = m.retrains;
  all.bits_sent = m.bits_sent;
  all.bits_received = m.bits_received;
  give_status(all, s);
}

void hang_up(void* self) {
  enter(*static_cast<Modem*>(self), Stage::kReleased);
}

constexpr oh_pump_type type_named(const char* name, int (*init)(void*, const oh_pump_config*)) {
  return {.format_count = 1,
          .name = name,
          .formats = &kLinear8000,
          .roles = kBothRoles,
          .fpu = kEveryOperation,
          .longest_step = 1000,
          .size = size,
          .init = init,
          .process = process,
          .report_gap = report_gap,
          .status = status,
          .hang_up = hang_up,
          .release = [](void*) {},
          .advance = oh_pump_advance_each};
}

const oh_pump_type* v22bis_type() {
  static constexpr oh_pump_type kType = type_named("spandsp's v22bis", init);
  return &kType;
}

/// As a Bell 212A modem: spandsp's modulator and receiver at 1200 bit/s after Bell's tone.
[[maybe_unused]] const oh_pump_type* bell212a_type() {
  static constexpr oh_pump_type kType = type_named(
      "spandsp's bell212a", [](void* self, const oh_pump_config* config) { return init_as(self, config, true); });
  return &kType;
}

/// The same at 1200 bit/s only.
[[maybe_unused]] const oh_pump_type* v22_type() {
  static constexpr oh_pump_type kType = type_named("spandsp's v22", [](void* self, const oh_pump_config* config) {
    if (size(config) == 0) return -EINVAL;
    oh_pump_config slow = *config;
    slow.max_bit_rate = 1200;
    return init(self, &slow);
  });
  return &kType;
}

}  // namespace
}  // namespace offhook::test::spandsp
#endif
