// SPDX-License-Identifier: MIT
#include "dsp/v22/modem.h"

#include "dsp/blocks/level.h"
#include "dsp/pump/pump_type.h"

namespace offhook::v22 {
namespace {

constexpr uint32_t kRateHz = 8000;
constexpr uint64_t ms(uint64_t t) {
  return t * kRateHz / 1000;
}

// Symbols without data mode: for a caller that received no unscrambled ones, and for others.
constexpr uint32_t kUnanswered = 60 * kSymbolHz, kGiveUp = 40 * kSymbolHz;
constexpr uint64_t kGone = 10 * kRateHz;  // time without carrier after data mode
constexpr int kOnes = 32;                 // 6.3.1.1.1 e
constexpr int kRateBits = 2 * 32;         // 6.6.2 c: dibits 01 or 10, which alternate
constexpr int kAnswerToneHz = 2100;

// Delay from the line to a decided symbol: filter, and half of the equaliser.
constexpr int64_t kSymbolDelay = Receiver::kDelay + Receiver::kTaps / 2 * 20 / 3;
constexpr int64_t kSixteen = static_cast<int64_t>(ms(450));  // 6.3.1.1.1 d
constexpr int kOnesHeard = 324;                              // T/2 of 270 ms (6.3.1.2)
constexpr int kSureOnes = 96;                                // number of these bits that must be right
constexpr int kOneWrong = 8;                                 // cost of a wrong bit
constexpr int kNoRawOnes = 40;                               // unscrambled ones are ones as well
constexpr uint32_t kPatience = 120;                          // symbols for a receiver that found no known signal

// Mean squared distance to the nearest point that indicates a lost receiver. With sixteen points at distance 2, noise
// 17 dB below the signal gives 0.2, and random values give 0.67. Four turning points at distance 4.5 give 2.
constexpr float kLostError16 = 0.45f, kLostError4 = 1.4f;
constexpr uint32_t kLostSymbols = 300;

// At this distance, every second frame of V.42's 128 octets is damaged: 1200 bit/s delivers more. It must last, because
// hits and gaps pass, and damage longer frames more often.
constexpr float kPoorError16 = 0.2f;
constexpr uint32_t kPoorSymbols = 300, kPoorInARow = 12;

constexpr int kInitiation = 190 * kSymbolHz / 1000;  // 7.1.1: 154 to 231 ms
constexpr int kRawZero = 4;                          // cost of a zero: with random bits, 32 ones are used up after 21

constexpr uint64_t kInstrumentsEvery = kRateHz / 10, kTapsEvery = 10 * kRateHz;

}  // namespace

Modem::Modem(const oh_pump_config& c, const Kernels& kernels, Standard standard)
    : config_(c),
      observer_(observer_of(c)),
      calls_(c.role == OH_PUMP_CALL),
      bell_(standard == Standard::kBell212a),
      fast_(!bell_ && (c.max_bit_rate == 0 || c.max_bit_rate >= 2400)),
      step_(calls_ ? Step::kListen : Step::kSilence),
      usb1_(bell_ ? kBellToneHz : kUsb1Hz),
      ans_(bell_ ? kBellToneHz : kAnswerToneHz),
      ans_peak_(static_cast<float>(dbm0_to_peak(static_cast<double>(c.tx_level_dbm0)))),
      tx_(calls_ ? Channel::kLow : Channel::kHigh, c.tx_level_dbm0, c.port),
      receiver_(calls_ ? Channel::kHigh : Channel::kLow, kernels) {
  if (!calls_ && !bell_ && c.guard_tone_hz != 0)
    tx_.set_guard_tone(c.guard_tone_hz == 1800 ? GuardTone::k1800Hz : GuardTone::k550Hz);
}

int16_t Modem::step(int16_t rx, bool is_lost) {
  ++samples_;
  if (ended()) return 0;
  const float x = rx;
  if (step_ == Step::kListen) listen(x);
  receive(x, is_lost);
  if (tx_.wants_symbol()) {
    follow_time();
    if (ended()) return 0;
    tx_.next_symbol();
  }
  if (live() && observer_.taps != nullptr) show_taps();
  if (observer_.instrument != nullptr && samples_ % kInstrumentsEvery == 0) show_instruments();
  float tx = tx_.next();
  if (step_ == Step::kAnswerTone || step_ == Step::kBellTone) tx += ans_peak_ * ans_.next().re;
  return clip(tx);
}

// Once a symbol.
void Modem::follow_time() {
  if (receiver_.carrier()) {
    carrier_at_ = samples_;
  } else {
    no_carrier_at_ = samples_;
    fire(Event::kCarrierOff);
  }
  fire(Event::kSymbol);
  without_data_ = live() || in_loop() ? 0 : without_data_ + 1;
  const bool gone = bits_received_ > 0 && samples_ - carrier_at_ > kGone;
  if (gone || without_data_ > (calls_ && !usb1_was_heard_ ? kUnanswered : kGiveUp)) fire(Event::kGiveUp);
}

void Modem::listen(float rx) {
  usb1_.put(rx);
  activity_.put(rx);
}

void Modem::receive(float rx, bool is_lost) {
  const bool symbol = is_lost ? receiver_.process_lost() : receiver_.process(rx);
  switch (receiver_.take_s1_event()) {
    case S1Detector::Event::kBegin:
      fire(Event::kS1);
      break;
    case S1Detector::Event::kEnd:
      fire(Event::kS1End);
      break;
    case S1Detector::Event::kNone:
      break;
  }
  if (symbol) symbol_received();
}

void Modem::symbol_received() {
  const Decision d = receiver_.decision();
  const int dibit = kDibitOfTurn[(d.quadrant - quadrant_) & 3];
  quadrant_ = d.quadrant;
  const bool sixteen = receiver_.decides_sixteen();
  take_bits(sixteen ? dibit << 2 | d.inner : dibit, sixteen ? 4 : 2);
  if (observer_.symbol != nullptr) observer_.symbol(observer_.user, receiver_.symbol().re, receiver_.symbol().im);
  if (live() || in_loop() || step_ == Step::kDropped) {
    seek_loop();
    follow_data();
    follow_quality();
    return;
  }
  seek_far_end();
  if (!sixteen && reversals_ >= kRateBits) fire(Event::kRate);
  if (!sixteen && fast_ && !rate_1200_ && since_s1() >= kSixteen + kSymbolDelay) {
    receiver_.decide_sixteen(true);
    ones_ = 0;
  }
}

/// @param bits  the first one in bit n - 1
void Modem::take_bits(int bits, int n) {
  uint8_t octet = 0;
  for (int k = 0; k < n; ++k) {
    const int raw = bits >> (n - 1 - k) & 1;
    const int bit = descrambler_.descramble(raw);
    octet = static_cast<uint8_t>(octet | bit << k);
    raw_ones_ = raw != 0 ? raw_ones_ + 1 : 0;
    ones_ = bit != 0 ? ones_ + 1 : 0;
    raw_score_ += raw != 0 ? 1 : -kRawZero;
    if (raw_score_ > kRawScore) raw_score_ = kRawScore;
    reversals_ = bit != last_bit_ ? reversals_ + 1 : 0;
    last_bit_ = bit;
    same_score_ += bit != 0 ? 1 : -kOneWrong;
    if (same_score_ < 0) same_score_ = 0;
    if (same_score_ > 2 * kSureOnes) same_score_ = 2 * kSureOnes;
  }
  if ((n == 4 || rate_1200_) && ones_ >= kOnes) ones_seen_ = true;
  if (step_ == Step::kLooped) tx_.loop_back(octet, n);
  if (!receives_data()) return;
  // 6.4 a, 6.5: circuit 104 is clamped. Scrambled data have at most 64 ones in a row (5.1), so more initiate.
  if (!receiver_.carrier() || receiver_.in_s1() || raw_ones_ > kMostOnes) octet = 0xff;
  if (!live()) return keep_early(octet, n);
  bits_received_ += static_cast<uint64_t>(n);
  oh_port_put(&config_.port, &octet, static_cast<size_t>(n));
}

void Modem::seek_loop() {
  constexpr int kAnswer = static_cast<int>(kLoopAnswerSamples * kSymbolHz / kRateHz);
  const int bits = at_2400_ ? 4 : 2;
  if (raw_ones_ >= bits * kInitiation) fire(Event::kInitiation);
  if (raw_score_ <= 0) fire(Event::kInitiationOver);
  if (reversals_ >= bits * kAnswer) fire(Event::kReversals);
  if (ones_ >= bits * kAnswer) fire(Event::kLoopedOnes);
}

bool Modem::loop(oh_loop_order order) {
  switch (order) {
    case OH_LOOP_END:
      return fire(Event::kLoopEnd);
    case OH_LOOP_LOCAL:
      return !bell_ && fire(Event::kLoopLocal);
    case OH_LOOP_REMOTE:
      return !bell_ && fire(Event::kLoopRequest);
    case OH_LOOP_ALLOW:
    case OH_LOOP_REFUSE:
      loop_allowed_ = order == OH_LOOP_ALLOW && !bell_;
      return !bell_;
  }
  return false;
}

oh_loop_state Modem::loop_state() const {
  switch (step_) {
    case Step::kLoopAsk:
    case Step::kLoopOnes:
    case Step::kLoopDrop:
    case Step::kLoopAfter:
      return OH_LOOP_ASKED;
    case Step::kLoopTest:
      return OH_LOOP_TESTING;
    case Step::kLoopGrant:
    case Step::kLooped:
      return OH_LOOP_LOOPED;
    default:
      return loop_refused_ ? OH_LOOP_REFUSED : OH_LOOP_NONE;
  }
}

void Modem::keep_early(int bits, int n) {
  for (int k = 0; k < n && early_bits_ < kMostEarly; ++k, ++early_bits_) {
    const int at = early_bits_ % 8, octet = early_bits_ / 8;
    early_[octet] = static_cast<uint8_t>((at == 0 ? 0 : early_[octet]) | (bits >> k & 1) << at);
  }
}

void Modem::give_early() {
  if (early_bits_ == 0) return;
  bits_received_ += early_bits_;
  oh_port_put(&config_.port, early_, early_bits_);
  early_bits_ = 0;
}

// 6.3.1.2: scrambled ones at 1200 bit/s. If they are absent for too long, the signal was misidentified.
void Modem::seek_far_end() {
  if (receiver_.confirmed()) return;
  const bool ones = same_score_ >= kSureOnes && raw_ones_ < kNoRawOnes;
  if (ones && receiver_.heard() >= kOnesHeard) {
    if (since_s1() < 0) fire(Event::kOnes);
  } else if (!ones && receiver_.symbols() > kPatience) {
    receiver_.acquire();
  }
}

void Modem::follow_data() {
  const float limit = receiver_.decides_sixteen() ? kLostError16 : kLostError4;
  lost_symbols_ = receiver_.error() < limit || !receiver_.carrier() ? 0 : lost_symbols_ + 1;
  if (lost_symbols_ < kLostSymbols) return;
  lost_symbols_ = 0;
  fire(Event::kLost);
}

// The mean of each half second, because one hit raises only its own.
void Modem::follow_quality() {
  if (!receiver_.decides_sixteen() || !receiver_.carrier()) {
    quality_ = {};
    return;
  }
  quality_.error += receiver_.error();
  if (++quality_.symbols < kPoorSymbols) return;
  const bool poor = quality_.error >= kPoorError16 * kPoorSymbols;
  quality_ = {0, 0, poor ? quality_.poor + 1 : 0};
  if (quality_.poor < kPoorInARow) return;
  quality_ = {};
  fire(Event::kPoor);
}

void Modem::train_again(oh_retrain_cause cause) {
  ++retrains_;
  cause_ = cause;
  if (observer_.instrument != nullptr) {
    observer_.instrument(observer_.user, OH_INSTRUMENT_RETRAIN_CAUSE, static_cast<float>(cause_));
  }
}

void Modem::show_instruments() const {
  if (!receiver_.running() || !receiver_.confirmed()) return;
  const auto show = [this](oh_instrument what, float value) { observer_.instrument(observer_.user, what, value); };
  if (receiver_.snr() > 0) show(OH_INSTRUMENT_SNR, static_cast<float>(power_db(static_cast<double>(receiver_.snr()))));
  show(OH_INSTRUMENT_CLOCK, receiver_.clock_ppm());
  show(OH_INSTRUMENT_CARRIER, receiver_.carrier_offset_hz());
}

// When data mode begins, and every 10 s in it.
void Modem::show_taps() {
  if (live_samples_++ % kTapsEvery == 0) {
    observer_.taps(observer_.user, receiver_.tap_re(), receiver_.tap_im(), Receiver::kTaps);
  }
}

void Modem::status(oh_pump_status* s) const {
  *s = {};
  const bool waits = (step_ == Step::kUsb1 || step_ == Step::kBellTone || step_ == Step::kListen ||
                      step_ == Step::kPause || step_ == Step::kS1 || step_ == Step::kSb1) &&
                     !answered_;
  s->state = waits ? OH_PUMP_CONNECTING : info(step_).state;
  s->modulation = bell_                            ? OH_MODULATION_BELL212A
                  : fast_ && (!live() || at_2400_) ? OH_MODULATION_V22BIS
                                                   : OH_MODULATION_V22;
  if (step_ == Step::kNothingInCommon) s->failure = OH_PUMP_NOTHING_IN_COMMON;
  if (live()) s->tx_bit_rate = s->rx_bit_rate = at_2400_ ? 2400 : 1200;
  s->rx_level_dbm0 = static_cast<float>(mean_square_to_dbm0(static_cast<double>(receiver_.line_power())));
  s->samples = samples_;
  s->filled_in = filled_in_;
  s->retrains = retrains_;
  s->bits_sent = tx_.bits_sent();
  s->bits_received = bits_received_;
}

}  // namespace offhook::v22
