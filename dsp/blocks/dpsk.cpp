// SPDX-License-Identifier: MIT
#include "dsp/blocks/dpsk.h"

#include "dsp/blocks/level.h"

namespace offhook {
namespace {

struct PulseTable {
  static constexpr int kSize = 320;  // eight symbols at 24 000 Hz
  float at[kSize];
};
constexpr PulseTable make_pulse_table() {
  PulseTable t{};
  for (int k = 0; k < PulseTable::kSize; ++k) t.at[k] = static_cast<float>(dpsk_pulse((k + 0.5) / 40 - 4));
  return t;
}
constexpr PulseTable kPulse = make_pulse_table();

}  // namespace

DpskReceiver::DpskReceiver(int carrier_hz)
    : converter_(carrier_hz, [](int k) { return dpsk_pulse((k - (3 * kTaps - 1) * 0.5) * kDpskBaud / 24000.); }) {}

bool DpskReceiver::put(float x, DpskDecision* decision) {
  Complex y;
  if (!converter_.put(x, &y)) return false;
  const Complex turn = y * conj(history_[phase_]);
  history_[phase_] = y;
  const float size = magnitude(turn);
  decision->phase = phase_;
  decision->bit = turn.re < 0;
  decision->peak = magnitude(y);
  decision->turn = size > 0 ? 1 / size * turn : Complex{};
  phase_ = static_cast<uint8_t>((phase_ + 1) % kPhases);
  return true;
}

DpskModulator::DpskModulator(const DpskSignal& s)
    : carrier_(s.carrier_hz), guard_(s.guard_hz), peak_(static_cast<float>(dbm0_to_peak(s.level_dbm0))) {
  if (s.guard_hz == 0) return;
  guard_peak_[0] = static_cast<float>(dbm0_to_peak(s.guard_with_tone_dbm0));
  guard_peak_[1] = static_cast<float>(dbm0_to_peak(s.guard_with_bits_dbm0));
}

void DpskModulator::shift(bool turn) {
  const float symbol = turn ? -symbol_[0] : symbol_[0];
  for (int k = kSpan - 1; k > 0; --k) symbol_[k] = symbol_[k - 1];
  symbol_[0] = symbol;
}

void DpskModulator::fade(float to) {
  from_ = ramp_ < kRamp ? 0 : to_;  // an interrupted fade starts from zero, but this procedure never interrupts one
  to_ = to;
  ramp_ = 0;
}

void DpskModulator::tone() {
  if (mode_ == Mode::kSilence) {
    for (float& s : symbol_) s = 1;
    clock_ = 0;
    fade(1);
  }
  mode_ = Mode::kTone;
}

void DpskModulator::silence() {
  if (mode_ != Mode::kSilence) fade(0);
  mode_ = Mode::kSilence;
}

void DpskModulator::reverse() {
  fade(-to_);
}

void DpskModulator::bits() {
  if (mode_ == Mode::kSilence) {
    for (float& s : symbol_) s = 0;
    symbol_[0] = 1;  // the reference point
    clock_ = 0;
    from_ = to_ = 1;
    ramp_ = kRamp;
  } else if (mode_ == Mode::kTone) {
    reference_ = true;
  }
  mode_ = Mode::kBits;
}

float DpskModulator::sample() {
  float baseband = 0;
  for (int k = 0; k < kSpan; ++k) baseband += symbol_[k] * kPulse.at[clock_ + k * kSymbol];
  clock_ += 3;

  float envelope = to_;
  float size = to_ != 0 ? 1.f : 0.f;
  if (ramp_ < kRamp) {
    const float c = kOscillatorTable.at[(2 * ramp_ + 1) * OscillatorTable::kSize / (4 * kRamp)].re;  // 1 to -1
    envelope = to_ + (from_ - to_) * 0.5f * (1 + c);
    const float before = from_ != 0 ? 1.f : 0.f;
    size += (before - size) * 0.5f * (1 + c);
    ++ramp_;
  }
  const float guard = guard_peak_[mode_ == Mode::kBits];
  return envelope * baseband * peak_ * carrier_.next().re + size * guard * guard_.next().re;
}

}  // namespace offhook
