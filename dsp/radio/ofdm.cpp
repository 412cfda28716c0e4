// SPDX-License-Identifier: MIT
#include "dsp/radio/ofdm.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace offhook::radio {
namespace {

using S = Ofdm;

std::vector<std::uint8_t> usual_carriers() {
  std::vector<std::uint8_t> carriers(S::kCarriers);
  ofdmframe_init_default_sctype(S::kCarriers, carriers.data());
  return carriers;
}

unsigned data_carriers(const std::vector<std::uint8_t>& carriers) {
  return static_cast<unsigned>(std::ranges::count(carriers, OFDMFRAME_SCTYPE_DATA));
}

// The share of three neighbours' noise that remains in their smoothed mean.
constexpr float kSmoothedNoise = 0.25f * 0.25f + 0.5f * 0.5f + 0.25f * 0.25f;

/// SNR in dB of QPSK symbols and their nearest points. @param worse  ratio of the payload's noise to theirs
float qpsk_snr_db(const Complex* symbols, unsigned n, float worse) {
  float error = 0;
  for (unsigned k = 0; k < n; ++k) {
    const float re = std::fabs(symbols[k].real()) - kRootHalf, im = std::fabs(symbols[k].imag()) - kRootHalf;
    error += re * re + im * im;
  }
  return -10 * std::log10(worse * error / static_cast<float>(n) + 1e-9f);
}

}  // namespace

S::Sender::Sender()
    : carriers_(usual_carriers()),
      packets_(data_carriers(carriers_) * kDataSymbols),
      generator_(ofdmframegen_create(kCarriers, kPrefix, kTaper, carriers_.data())),
      symbols_(packets_.symbols()),
      carried_(kCarriers),
      samples_((kTrainingSymbols + kDataSymbols) * kSymbolSamples + kTaper) {}

const Complex* S::Sender::burst(const BurstHeader& header, const std::uint8_t* payload) {
  packets_.encode(header, payload, symbols_.data());
  ofdmframegen_reset(generator_.get());
  Complex* out = samples_.data();
  const auto next = [&out] {
    Complex* const at = out;
    out += kSymbolSamples;
    return at;
  };
  ofdmframegen_write_S0a(generator_.get(), next());
  ofdmframegen_write_S0b(generator_.get(), next());
  ofdmframegen_write_S1(generator_.get(), next());
  const Complex* data = symbols_.data();
  for (unsigned k = 0; k < kDataSymbols; ++k) {
    for (unsigned c = 0; c < kCarriers; ++c) {
      carried_[c] = carriers_[c] == OFDMFRAME_SCTYPE_DATA ? *data++ : Complex{};
    }
    ofdmframegen_writesymbol(generator_.get(), carried_.data(), next());
  }
  ofdmframegen_writetail(generator_.get(), out);
  return samples_.data();
}

S::Receiver::Receiver()
    : carriers_(usual_carriers()),
      packets_(data_carriers(carriers_) * kDataSymbols),
      synchroniser_(ofdmframesync_create(
          kCarriers, kPrefix, kTaper, carriers_.data(),
          [](Complex* carriers, unsigned char* what, unsigned, void* self) {
            static_cast<Receiver*>(self)->symbol(carriers, what);
            return 0;
          },
          this)),
      symbols_(packets_.symbols()),
      known_(packets_.header_symbols()),
      gains_(data_carriers(carriers_)),
      smooth_(gains_.size()),
      payload_(packets_.most_octets()) {}

void S::Receiver::restart() {
  ofdmframesync_reset(synchroniser_.get());
  taken_ = 0;
}

Heard S::Receiver::step(Complex x) {
  ofdmframesync_execute(synchroniser_.get(), &x, 1);
  return taken_ == symbols_.size() ? finish() : Heard::kNothing;
}

void S::Receiver::symbol(const Complex* carriers, const std::uint8_t* what) {
  for (unsigned c = 0; c < kCarriers && taken_ < symbols_.size(); ++c) {
    if (what[c] == OFDMFRAME_SCTYPE_DATA) symbols_[taken_++] = carriers[c];
  }
}

/// @pre the header was read. @return ratio of the payload's noise to the header's, to which the gains were fitted
float S::Receiver::equalise_by_header() {
  packets_.encode_header(header_, known_.data());
  const std::size_t n = gains_.size(), half = n / 2;
  if (known_.size() < n) return 1;
  // The carriers come as positive frequencies, then negative ones. This moves neighbours next to each other.
  const auto place = [n, half](std::size_t carrier) { return (carrier + half) % n; };
  std::ranges::fill(gains_, Complex{});
  for (std::size_t k = 0; k < n; ++k) gains_[place(k)] = symbols_[k] * std::conj(known_[k]);
  for (std::size_t k = n; k < known_.size(); ++k) {  // carriers of a second symbol, those that have one
    Complex& gain = gains_[place(k % n)];
    gain = 0.5f * (gain + symbols_[k] * std::conj(known_[k]));
  }
  float differ = 0, noise = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const Complex before = gains_[k > 0 ? k - 1 : k], after = gains_[k + 1 < n ? k + 1 : k];
    smooth_[k] = 0.25f * before + 0.5f * gains_[k] + 0.25f * after;
    differ += std::norm(smooth_[k] - 1.0f);
    noise += std::norm(gains_[k] - smooth_[k]);  // white noise contributes as much to the mean as to the residual
  }
  // Wiener's weight. A channel that is already correct keeps its gains.
  const float weight = differ > noise ? 1 - noise / differ : 0;
  for (std::size_t k = 0; k < symbols_.size(); ++k) {
    const Complex gain = 1.0f + weight * (smooth_[place(k % n)] - 1.0f);
    if (std::norm(gain) > 0.01f) symbols_[k] /= gain;
  }
  const float of_gains = weight * weight * kSmoothedNoise;
  return (1 + of_gains) / (1 - weight + of_gains);  // a smoothed gain has half of its own carrier's noise
}

Heard S::Receiver::finish() {
  level_db_ = ofdmframesync_get_rssi(synchroniser_.get());
  offset_turns_ = ofdmframesync_get_cfo(synchroniser_.get()) * static_cast<float>(1 / (2 * std::numbers::pi));
  restart();
  if (!packets_.decode_header(symbols_.data(), header_)) return Heard::kBroken;
  const float worse = equalise_by_header();
  snr_db_ = qpsk_snr_db(symbols_.data(), packets_.header_symbols(), worse);
  return packets_.decode_payload(symbols_.data(), header_.rate, payload_.data()) ? Heard::kBurst : Heard::kHeader;
}

}  // namespace offhook::radio
