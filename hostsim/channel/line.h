// SPDX-License-Identifier: MIT
//
// The telephone connection between two modems, both ends sampled at kLineRateHz.
//
//    near end                         the network, on the far end's clock                              far end
//    sent --+--> resample --(+)--------------> delay, filter, frequency shift, loss --> codec ----+--> (+) --> received
//           |               ^ far-echo hybrid                                                     |    ^ noise,
//           impulses
//      near | echo          |                                                    far-echo hybrid  v    | near echo
//  received <-(+)<- resample <-+------- loss, frequency shift, filter, delay <-- codec <---------(+)<--+--------- sent
//              ^ noise, impulses
//
// Each modem hears itself twice: through its own hybrid (near echo, kEchoDelay samples later) and from the network's
// hybrid at the other end (far echo). Echoes of echoes are included.
//
// The near end drives the time. The far end is called in blocks of exactly kFarBlock samples however the near end's
// calls are cut, so the result depends on the samples only. The network runs on the far end's clock: the near crystal
// has the offset, and only the two resamplers connect the clocks.
//
// Same seed and configuration, same bytes: no libm, fixed order of additions, counter-based noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "driver/core/line_end.h"
#include "hostsim/channel/line_config.h"

namespace offhook::hostsim {

/// The modem at the other end: one output sample per input sample.
class FarEnd {
 public:
  virtual ~FarEnd() = default;
  /// @param rx [n] received  @param tx [n] to send, in different memory.  n is always Line::kFarBlock.
  virtual void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) = 0;
};

class Line : public LineEnd {
 public:
  static constexpr std::size_t kFarBlock = 8;
  /// Delay of a modem's own hybrid: 1 ms at both ends.
  static constexpr std::size_t kEchoDelay = kFarBlock;
  /// Shortest one-way delay, in samples: channel filter, resampler and one block.
  static std::size_t least_delay();

  /// @throws std::invalid_argument naming the field and the expected value. `far` must outlive the line.
  Line(const LineConfig& config, std::uint64_t seed, FarEnd& far);
  ~Line() override;

  /// @param[in] played [n] samples sent by the near end @param[out] captured [n] samples received at the same instants;
  /// in different memory. Any n. No allocation.
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override;

  /// One-way delay in each direction at 1800 Hz, from delay_ms. A sample is 1/kLineRateHz s.
  std::size_t delay_samples() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace offhook::hostsim
