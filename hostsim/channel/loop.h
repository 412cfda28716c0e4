// SPDX-License-Identifier: MIT
//
// A subscriber loop between two ADSL transceivers: the one at the exchange (ATU-C) sends 1104 or 2208 kHz and takes 276
// kHz, the one at the customer (ATU-R) the reverse. This class contains everything between their samples and the
// copper.
//
//    near end                                                                     far end
//    sent -> D/A -+-> split filter -> transformer -> cable -> transformer -(+)-> split filter -> gain, A/D -> received
//                 |                                                         ^ noise, crosstalk, impulses
//                 +-> split filter -> hybrid -> split filter -(+)-> gain, A/D -> received    (echo)
//
// The near end drives the time, and the far end has its own crystal; Path connects the clocks. The far end is called in
// blocks of exactly kFarBlock periods of 276 kHz however the near end's calls are cut, so the result depends on the
// samples only.
//
// The receiver's gain is set in advance from the known signals on the loop, as a transceiver sets it before it trains;
// it stays constant.
//
// Same seed and configuration, same bytes: no libm, fixed order of additions, counter-based noise.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "driver/core/line_end.h"
#include "hostsim/channel/crosstalk.h"
#include "hostsim/channel/front_end.h"
#include "hostsim/channel/ingress.h"
#include "offhook/pump.h"

namespace offhook::hostsim {

inline constexpr std::uint32_t kUpstreamHz = 276'000;

struct LoopConfig {
  Cable cable = cable_named("T1.601 7");
  std::uint32_t downstream_hz = 1'104'000;  ///< or 2'208'000
  bool near_is_exchange = false;
  double noise_dbm_hz = -140;          ///< white, at each receiver
  std::vector<Disturbers> disturbers;  ///< at each receiver
  std::vector<RadioCarrier> ingress;   ///< at each receiver
  double disturbers_from_s = 0;        ///< time at which crosstalk and ingress begin, since the first sample
  double impulse_rate_hz = 0;          ///< mean rate of the Poisson process at each receiver
  double impulse_volts = 0.01;
  double clock_ppm = 0;  ///< of the far end's clock, relative to the near end's; at most 1000
  FrontEnd front_end;
};

class Loop final : public LineEnd {
 public:
  static constexpr std::size_t kFarBlock = 16;  ///< periods of 276 kHz

  /// @throws std::invalid_argument naming the field and the expected value. Only exchange() calls `far`, whose samples
  /// for a block are sent one block later.
  Loop(const LoopConfig& config, std::uint64_t seed, const oh_pump& far);
  ~Loop() override;

  /// n periods of 276 kHz. @param[in] played samples sent by the near end, 16 bits @param[out] captured samples
  /// received at the same instants; each at its own rate, in different memory. No allocation.
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override;

  /// Gain from the transmitter's samples to the receiver's at a frequency, as a ratio of sample values, for tests and
  /// reference rates, without images and aliases.
  std::complex<double> gain(Direction direction, double hz) const;
  /// Noise and crosstalk at the receiver of `direction` after its filters and gain, square sample values per Hz,
  /// folded.
  double noise_psd(Direction direction, double hz) const;
  std::uint64_t impulses() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace offhook::hostsim
