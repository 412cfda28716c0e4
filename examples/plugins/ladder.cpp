// SPDX-License-Identifier: MIT
//
// A pump of one's own in C++ with two rates: 1104 kHz towards the calling end, 276 kHz towards the answering end.
//
// A period of 276 kHz carries one pulse: four samples downstream, one sample upstream. Of 64 periods, 8 are the
// synchronisation, which is twice as large as the 56 bits.
#include <offhook/plugin.h>

#include <algorithm>
#include <optional>

#include "hostsim/call/registered_pump.h"

namespace {

constexpr std::uint32_t kDownHz = 1'104'000, kUpHz = 276'000, kFrame = 64, kSync = 8;
constexpr int kLevel = 4000;

class Ladder {
 public:
  explicit Ladder(const oh_pump_config& config)
      : port_(config.port), rx_ratio_(config.format.rx.rate_hz / kUpHz), tx_ratio_(config.format.tx.rate_hz / kUpHz) {}

  /// n periods: n * ratio samples of the faster direction.
  void process(const void* rx, void* tx, std::size_t n) {
    const auto* in = static_cast<const std::int16_t*>(rx);
    auto* out = static_cast<std::int16_t*>(tx);
    for (std::size_t i = 0; i < n; ++i, in += rx_ratio_, out += tx_ratio_) {
      take(in[0]);
      std::fill(out, out + tx_ratio_, next());
    }
    samples_ += n;
  }
  void report_gap(std::size_t n) {
    rx_at_ = static_cast<std::uint32_t>((rx_at_ + n) % kFrame);
    tx_at_ = static_cast<std::uint32_t>((tx_at_ + n) % kFrame);
    samples_ += n;
    lost_ += n;
  }
  void status(oh_pump_status& s) const {
    s.state = in_step_ ? OH_PUMP_DATA : OH_PUMP_TRAINING;
    s.tx_bit_rate = s.rx_bit_rate = in_step_ ? kUpHz / kFrame * (kFrame - kSync) : 0;
    s.samples = samples_;
    s.filled_in = lost_;
  }
  std::optional<oh_metric> metric(std::uint32_t index) const {
    if (index > 0) return std::nullopt;
    return oh_metric{"frames received", "", static_cast<double>(frames_)};
  }

 private:
  std::int16_t next() {
    const std::uint32_t at = tx_at_;
    tx_at_ = (at + 1) % kFrame;
    if (at < kSync) return at < kSync / 2 ? 2 * kLevel : -2 * kLevel;
    if (!in_step_) return 0;
    std::uint8_t bit = 0;
    oh_port_get(&port_, &bit, 1);
    return (bit & 1) != 0 ? kLevel : -kLevel;
  }
  void take(std::int16_t x) {
    if (!in_step_ && x > kLevel * 3 / 2) {
      in_step_ = true;
      rx_at_ = 0;
    }
    if (!in_step_) return;
    const std::uint32_t at = rx_at_;
    rx_at_ = (at + 1) % kFrame;
    if (at == 0) in_step_ = x > kLevel * 3 / 2;
    if (at == kSync / 2) {
      in_step_ = x < -kLevel * 3 / 2;
      frames_ += in_step_ ? 1 : 0;
    }
    if (at < kSync || (x < kLevel / 2 && x > -kLevel / 2)) return;
    const std::uint8_t bit = x > 0 ? 1 : 0;
    oh_port_put(&port_, &bit, 1);
  }

  oh_bit_port port_;
  std::uint32_t rx_ratio_, tx_ratio_;  // samples of a period
  std::uint64_t samples_ = 0, lost_ = 0, frames_ = 0;
  std::uint32_t tx_at_ = 0, rx_at_ = 0;  // index of the period in the frame
  bool in_step_ = false;
};

// For the calling end; the answering end is the mirror image.
constexpr oh_pump_format kFormats[] = {{{kDownHz, OH_LINEAR16}, {kUpHz, OH_LINEAR16}}};

}  // namespace

OH_PLUGIN(reason) {
  (void)reason;  // the exception has the reason
  offhook::hostsim::register_pump(offhook::hostsim::pump_type<Ladder>("ladder", kFormats));
  return 0;
}
