// SPDX-License-Identifier: MIT
#include "hostsim/call/line_between.h"

#include <utility>

#include "dsp/blocks/decimator.h"
#include "dsp/blocks/level.h"
#include "dsp/v90/coding/ucode.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/network_side.h"
#include "hostsim/call/subscriber_call.h"
#include "hostsim/channel/digital_trunk.h"
#include "hostsim/channel/line.h"
#include "hostsim/channel/loop.h"

namespace offhook::hostsim {

namespace {

class OverLine final : public LineBetween, private FarEnd {
 public:
  OverLine(const Scenario& s, FarWork far) : far_(std::move(far)), line_(s.line, s.seed, *this) {}
  void exchange(const void* played, void* captured, std::size_t n) override {
    line_.exchange(static_cast<const std::int16_t*>(played), static_cast<std::int16_t*>(captured), n);
  }

 private:
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override { far_(rx, tx, n); }

  FarWork far_;
  Line line_;
};

class OverTrunk final : public LineBetween, private DigitalEnd {
 public:
  OverTrunk(const Scenario& s, FarWork far)
      : far_(std::move(far)),
        far_is_linear_(far_format(s).rx.encoding == OH_LINEAR16),
        law_(s.trunk.law == "a-law" ? v90::Law::kA : v90::Law::kMu),
        near_is_halved_(same_format(near_format(s), kLinear8000)),
        trunk_(s.trunk, s.seed, *this) {
    half_.init();
  }
  void exchange(const void* played, void* captured, std::size_t n) override {
    constexpr std::size_t kRatio = DigitalTrunk::kReceivedRatio;
    const auto* out = static_cast<const std::int16_t*>(played);
    auto* in = static_cast<std::int16_t*>(captured);
    for (std::size_t i = 0; i < n; ++i) {
      if (!near_is_halved_) {
        trunk_.exchange(out[i], in + kRatio * i);
        continue;
      }
      std::int16_t both[kRatio];
      trunk_.exchange(out[i], both);
      in[i] = clip(half_.put(both[0], both[1]));
    }
  }

 private:
  std::uint8_t process(std::uint8_t rx) override {
    std::uint8_t tx = 0;
    if (far_is_linear_) {
      const auto in = static_cast<std::int16_t>(v90::linear_of(law_, v90::pcm_of(law_, rx)));
      std::int16_t out = 0;
      far_(&in, &out, 1);
      tx = v90::nearest_octet(law_, out);
    } else {
      far_(&rx, &tx, 1);
    }
    return tx;
  }

  FarWork far_;
  bool far_is_linear_;
  v90::Law law_;
  bool near_is_halved_;  // the card has 8000 samples/s
  Decimator half_;
  DigitalTrunk trunk_;
};

/// The near end is the modem on the digital network.
class FromNetwork final : public LineBetween {
 public:
  FromNetwork(const Scenario& s, FarWork far)
      : far_(std::move(far)),
        far_is_halved_(same_format(far_format(s), kLinear8000)),
        trunk_(s.trunk, s.seed, [this](const std::int16_t* rx, std::int16_t* tx) { serve(rx, tx); }) {
    half_.init();
  }
  void exchange(const void* played, void* captured, std::size_t n) override {
    trunk_.exchange(static_cast<const std::uint8_t*>(played), static_cast<std::uint8_t*>(captured), n);
  }

 private:
  void serve(const std::int16_t* rx, std::int16_t* tx) {
    if (!far_is_halved_) return far_(rx, tx, 1);
    const std::int16_t in = clip(half_.put(rx[0], rx[1]));
    far_(&in, tx, 1);
  }

  FarWork far_;
  bool far_is_halved_;
  Decimator half_;
  NetworkSide trunk_;
};

class OverLoop final : public LineBetween {
 public:
  OverLoop(const Scenario& s, FarWork far)
      : far_(std::move(far)),
        loop_(
            loop_of(s), s.seed,
            {[](void* self, const void* rx, void* tx, std::size_t n) { static_cast<OverLoop*>(self)->far_(rx, tx, n); },
             [](void*, std::size_t) {}, this}) {}
  void exchange(const void* played, void* captured, std::size_t n) override {
    loop_.exchange(static_cast<const std::int16_t*>(played), static_cast<std::int16_t*>(captured), n);
  }

 private:
  FarWork far_;
  Loop loop_;
};

}  // namespace

std::unique_ptr<LineBetween> make_line_between(const Scenario& s, FarWork far) {
  if (s.line_kind == LineKind::kSubscriberLoop) return std::make_unique<OverLoop>(s, std::move(far));
  if (s.line_kind != LineKind::kDigitalTrunk) return std::make_unique<OverLine>(s, std::move(far));
  if (s.near_is_digital) return std::make_unique<FromNetwork>(s, std::move(far));
  return std::make_unique<OverTrunk>(s, std::move(far));
}

}  // namespace offhook::hostsim
