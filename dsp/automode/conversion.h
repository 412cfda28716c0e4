// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "dsp/blocks/decimator.h"
#include "dsp/blocks/level.h"
#include "dsp/pump/pump_type.h"
#include "dsp/v90/coding/ucode.h"

namespace offhook::automode {

/// Converts the samples of a card to linear samples at 8000 Hz, and back. A period is one of 8000 Hz: two samples
/// received where the card has 16 000, an octet where it has G.711's. Real-time safe.
class Conversion {
 public:
  explicit Conversion(const oh_pump_format& card)
      : kind_(same_format(card, kLinear8000)          ? Kind::kNone
              : same_format(card, kLinear16000To8000) ? Kind::kHalved
              : same_format(card, kMuLaw8000)         ? Kind::kMuLaw
                                                      : Kind::kALaw) {
    if (kind_ == Kind::kHalved) decimator_.init();
  }
  bool is_octets() const { return kind_ == Kind::kMuLaw || kind_ == Kind::kALaw; }
  /// Delay of the path between the line and a member, in samples of 8000 Hz.
  uint32_t delay() const { return kind_ == Kind::kHalved ? Decimator::kDelay : 0; }
  /// Period `i` of the card's received samples.
  int16_t received(const void* rx, size_t i) {
    const auto* linear = static_cast<const int16_t*>(rx);
    if (kind_ == Kind::kHalved) return clip(decimator_.put(linear[2 * i], linear[2 * i + 1]));
    if (kind_ == Kind::kNone) return linear[i];
    const uint8_t octet = static_cast<const uint8_t*>(rx)[i];
    return static_cast<int16_t>(v90::linear_of(law(), v90::pcm_of(law(), octet)));
  }
  /// Period `i` of the samples that it transmits.
  int16_t sent(const void* tx, size_t i) const {
    if (!is_octets()) return static_cast<const int16_t*>(tx)[i];
    return static_cast<int16_t>(v90::linear_of(law(), v90::pcm_of(law(), static_cast<const uint8_t*>(tx)[i])));
  }
  /// Sets that period.
  void send(int16_t x, void* tx, size_t i) const {
    if (is_octets()) {
      static_cast<uint8_t*>(tx)[i] = v90::nearest_octet(law(), x);
    } else {
      static_cast<int16_t*>(tx)[i] = x;
    }
  }
  size_t rx_octets() const { return kind_ == Kind::kHalved ? 4 : tx_octets(); }  ///< of a period
  size_t tx_octets() const { return is_octets() ? 1 : 2; }
  /// A lost period.
  void lose() {
    if (kind_ == Kind::kHalved) decimator_.put(0, 0);
  }

 private:
  enum class Kind : uint8_t { kNone, kHalved, kMuLaw, kALaw };
  v90::Law law() const { return kind_ == Kind::kMuLaw ? v90::Law::kMu : v90::Law::kA; }

  Kind kind_;
  Decimator decimator_;
};

}  // namespace offhook::automode
