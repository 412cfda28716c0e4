// SPDX-License-Identifier: MIT
#include "dsp/v34/half_duplex/control_transmitter.h"

#include "dsp/blocks/level.h"
#include "dsp/v34/phase2/tones.h"
#include "dsp/v34/session/transmit_signals.h"

namespace offhook::v34 {
namespace {

constexpr int kLeastAlt = 16;  // symbols; 12.4.1.1, 12.4.2.3, 12.6.1.4, 12.8

constexpr v22::Channel channel_of(oh_pump_role role) {
  return role == OH_PUMP_CALL ? v22::Channel::kLow : v22::Channel::kHigh;
}

}  // namespace

ControlTransmitter::ControlTransmitter(oh_pump_role role, double nominal_dbm0)
    : shaper_(channel_of(role)), scrambling_(scrambling_of(role)), guard_(kGuardHz) {
  const bool answers = role == OH_PUMP_ANSWER;
  rms_ = static_cast<float>(dbm0_to_rms(nominal_dbm0 - (answers ? 1 : 0)));
  guard_peak_ = answers ? static_cast<float>(dbm0_to_peak(nominal_dbm0 - 7)) : 0;
}

void ControlTransmitter::start(ControlSignal s, int symbols) {
  signal_ = s;
  sent_ = 0;
  length_ = symbols;
  switch (s) {
    case ControlSignal::kPph:
      length_ = kPphSymbols;
      break;
    case ControlSignal::kSh:
      length_ = kShSymbols;
      break;
    case ControlSignal::kShBar:
      length_ = kShBarSymbols;
      break;
    case ControlSignal::kAlt:
      points_ = TrainingPoints::k4;
      encoder_ = TrainingEncoder(scrambling_, points_);
      break;
    case ControlSignal::kE:
      length_ = kSequenceEBits / training_bits(points_);
      break;
    default:
      break;
  }
}

void ControlTransmitter::start_mph(const Mph& mph) {
  signal_ = ControlSignal::kMph;
  sent_ = 0;
  length_ = encode(mph, bits_) / training_bits(points_);
}

void ControlTransmitter::start_data(bool at_2400) {
  start(ControlSignal::kData, kForEver);
  points_ = at_2400 ? TrainingPoints::k16 : TrainingPoints::k4;
  encoder_.set_points(points_);
}

void ControlTransmitter::end_alt(int symbols) {
  if (signal_ != ControlSignal::kAlt) return;
  length_ = sent_ + symbols > kLeastAlt ? sent_ + symbols : kLeastAlt;
}

Complex ControlTransmitter::encoded(const uint8_t* bits) {
  return training_scale(points_) * to_complex(encoder_.sequence(bits));
}

Complex ControlTransmitter::symbol(const oh_bit_port& port) {
  constexpr uint8_t kAlternations[4] = {0, 1, 0, 1}, kOnes[4] = {1, 1, 1, 1};
  constexpr float kScale = training_scale(TrainingPoints::k4);
  const int n = sent_;
  if (sent_ < kForEver) ++sent_;
  switch (signal_) {
    case ControlSignal::kSilence:
      return {};
    case ControlSignal::kPph:
      return pph_symbol(n);
    case ControlSignal::kSh:
      return kScale * to_complex(s_symbol(n));
    case ControlSignal::kShBar:
      return kScale * to_complex(s_bar_symbol(n));
    case ControlSignal::kAc:
      return kScale * to_complex(rotate_cw({1, 1}, 2 * (n & 1)));
    case ControlSignal::kAlt:
      return encoded(kAlternations);
    case ControlSignal::kMph:
      return encoded(bits_ + n * training_bits(points_));
    case ControlSignal::kE:
    case ControlSignal::kOnes:
      return encoded(kOnes);
    case ControlSignal::kData:
      break;
  }
  uint8_t bits[4]{};
  const int count = training_bits(points_);
  uint8_t octet = 0;
  oh_port_get(&port, &octet, static_cast<size_t>(count));
  for (int k = 0; k < count; ++k) bits[k] = octet >> k & 1;
  bits_sent_ += static_cast<uint64_t>(count);
  return encoded(bits);
}

void ControlTransmitter::next_symbol(const oh_bit_port& port) {
  shaper_.put(symbol(port));
}

float ControlTransmitter::next() {
  float x = rms_ * shaper_.next();
  if (guard_peak_ > 0) {
    const Complex w = guard_.next();
    if (signal_ != ControlSignal::kSilence) x += guard_peak_ * w.re;
  }
  return x;
}

}  // namespace offhook::v34
