// SPDX-License-Identifier: MIT
#include "dsp/radio/single_carrier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace offhook::radio {
namespace {

using S = SingleCarrier;

constexpr float kDetectionThreshold = 0.6f;
constexpr float kLearningRate = 0.4f;
// Delay of the equaliser, which begins as the matched filter, and of the sender's pulse.
constexpr unsigned kDelay = 2 * S::kSymbolSamples * S::kFilterSymbols;

/// Known symbols: two maximum-length sequences, for real and imaginary part.
std::array<Complex, S::kPreambleSymbols> preamble() {
  std::array<Complex, S::kPreambleSymbols> symbols;
  const Owned<msequence, msequence_destroy> bits(msequence_create_default(7));
  for (Complex& z : symbols) {
    const float re = msequence_advance(bits.get()) ? kRootHalf : -kRootHalf;
    z = {re, msequence_advance(bits.get()) ? kRootHalf : -kRootHalf};
  }
  return symbols;
}

}  // namespace

S::Sender::Sender()
    : packets_(kPacketSymbols),
      pilots_(qpilotgen_create(packets_.symbols(), kPilotSpacing)),
      pulse_(firinterp_crcf_create_prototype(kPulse, kSymbolSamples, kFilterSymbols, kExcessBandwidth, 0)),
      symbols_(packets_.symbols()),
      frame_(kPreambleSymbols + qpilotgen_get_frame_len(pilots_.get())) {
  std::ranges::copy(preamble(), frame_.begin());
  samples_.resize((frame_.size() + 2 * kFilterSymbols) * kSymbolSamples);
}

const Complex* S::Sender::burst(const BurstHeader& header, const std::uint8_t* payload) {
  packets_.encode(header, payload, symbols_.data());
  qpilotgen_execute(pilots_.get(), symbols_.data(), frame_.data() + kPreambleSymbols);
  firinterp_crcf_reset(pulse_.get());
  for (std::size_t k = 0; k * kSymbolSamples < samples_.size(); ++k) {
    firinterp_crcf_execute(pulse_.get(), k < frame_.size() ? frame_[k] : Complex{}, &samples_[k * kSymbolSamples]);
  }
  return samples_.data();
}

S::Receiver::Receiver()
    : packets_(kPacketSymbols),
      known_(preamble()),
      detector_(qdetector_cccf_create_linear(known_.data(), kPreambleSymbols, kPulse, kSymbolSamples, kFilterSymbols,
                                             kExcessBandwidth)),
      carrier_(nco_crcf_create(LIQUID_VCO)),
      equaliser_(eqlms_cccf_create_rnyquist(kPulse, kSymbolSamples, kFilterSymbols, kExcessBandwidth, 0)),
      pilots_(qpilotsync_create(packets_.symbols(), kPilotSpacing)),
      start_(kDelay + kPreambleSymbols * kSymbolSamples),
      frame_(qpilotsync_get_frame_len(pilots_.get())),
      symbols_(packets_.symbols()),
      payload_(packets_.most_octets()) {
  qdetector_cccf_set_threshold(detector_.get(), kDetectionThreshold);
  qdetector_cccf_set_range(detector_.get(), kMostOffset);
  eqlms_cccf_set_bw(equaliser_.get(), kLearningRate);
}

void S::Receiver::restart() {
  qdetector_cccf_reset(detector_.get());
  stage_ = Stage::kSearch;
}

Heard S::Receiver::step(Complex x) {
  if (stage_ != Stage::kSearch) return take(x);
  const auto* const held = static_cast<const Complex*>(qdetector_cccf_execute(detector_.get(), x));
  if (held == nullptr) return Heard::kNothing;
  const float gain = qdetector_cccf_get_gamma(detector_.get()), turn = qdetector_cccf_get_dphi(detector_.get());
  scale_ = 1 / gain;
  level_db_ = 20 * std::log10(gain);
  offset_turns_ = turn * static_cast<float>(1 / (2 * std::numbers::pi));
  nco_crcf_set_frequency(carrier_.get(), turn);
  nco_crcf_set_phase(carrier_.get(), qdetector_cccf_get_phi(detector_.get()));
  age_ = taken_ = 0;
  stage_ = Stage::kPreamble;
  const unsigned n = qdetector_cccf_get_buf_len(detector_.get());
  for (unsigned k = 0; k < n; ++k) take(held[k]);
  return Heard::kNothing;
}

Heard S::Receiver::take(Complex x) {
  Complex z;
  nco_crcf_mix_down(carrier_.get(), x * scale_, &z);
  nco_crcf_step(carrier_.get());
  ++age_;
  if (stage_ == Stage::kPreamble) {
    start_[age_ - 1] = z;
    if (age_ == start_.size()) train();
    return Heard::kNothing;
  }
  eqlms_cccf_push(equaliser_.get(), z);
  if ((age_ - 1 - kDelay) % kSymbolSamples != 0) return Heard::kNothing;
  eqlms_cccf_execute(equaliser_.get(), &frame_[taken_]);
  return ++taken_ < frame_.size() ? Heard::kNothing : finish();
}

/// The equaliser is trained over the preamble several times.
void S::Receiver::train() {
  eqlms_cccf_reset(equaliser_.get());
  for (unsigned pass = 0; pass < kTrainingPasses; ++pass) {
    for (unsigned k = 0; k < start_.size(); ++k) {
      eqlms_cccf_push(equaliser_.get(), start_[k]);
      if (k < kDelay || (k - kDelay) % kSymbolSamples != 0) continue;
      Complex y;
      eqlms_cccf_execute(equaliser_.get(), &y);
      eqlms_cccf_step(equaliser_.get(), known_[(k - kDelay) / kSymbolSamples], y);
    }
  }
  stage_ = Stage::kFrame;
}

Heard S::Receiver::finish() {
  qpilotsync_execute(pilots_.get(), frame_.data(), symbols_.data());
  restart();
  if (!packets_.decode_header(symbols_.data(), header_)) return Heard::kBroken;
  const bool whole = packets_.decode_payload(symbols_.data(), header_.rate, payload_.data());
  snr_db_ = -qpilotsync_get_evm(pilots_.get());
  return whole ? Heard::kBurst : Heard::kHeader;
}

}  // namespace offhook::radio
