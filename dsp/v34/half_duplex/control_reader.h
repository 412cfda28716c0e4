// SPDX-License-Identifier: MIT
//
// The bits of the control channel from decided points: MPh and E, then the user's data.
#pragma once

#include <stdint.h>

#include "dsp/v34/coding/training.h"
#include "dsp/v34/half_duplex/mph.h"
#include "offhook/pump.h"

namespace offhook::v34 {

class ControlReader {
 public:
  enum class Found : uint8_t {
    kNone,
    kMph,  ///< mph()
    kE     ///< its last symbol; the user's data follow
  };

  ControlReader() = default;
  /// @param far  the far end's scrambler
  explicit ControlReader(Scrambling far) : decoder_(far, TrainingPoints::k4) {}

  /// ALT follows, then MPh and E, or E immediately.
  void begin() {
    in_data_ = false;
    ones_ = 0;
    decoder_.set_points(TrainingPoints::k4);
  }
  /// E was received: the next symbol contains the user's data.
  void begin_data(bool at_2400) {
    in_data_ = true;
    points_ = at_2400 ? TrainingPoints::k16 : TrainingPoints::k4;
    decoder_.set_points(points_);
  }
  /// One decided point. Data go to the port.  Real-time: yes; O(1), and O(bits) after seventeen ones.
  Found put(Point p, const oh_bit_port& port) {
    uint8_t bits[4];
    decoder_.sequence(p, bits);
    if (in_data_) {
      deliver(bits, port);
      return Found::kNone;
    }
    Found found = Found::kNone;
    for (int k = 0; k < 2; ++k) {
      Mph mph;
      if (!receiver_.put(bits[k], &mph)) continue;
      mph_ = mph;
      found = Found::kMph;
    }
    // No other sequence has ten symbols of ones: MPh begins with seventeen bits, and every 17th of its bits is zero.
    ones_ = bits[0] != 0 && bits[1] != 0 ? ones_ + 1 : 0;
    return ones_ == kSequenceEBits / 2 ? Found::kE : found;
  }
  const Mph& mph() const { return mph_; }
  uint64_t bits_received() const { return bits_received_; }

 private:
  void deliver(const uint8_t* bits, const oh_bit_port& port) {
    uint8_t octet = 0;
    const int count = training_bits(points_);
    for (int k = 0; k < count; ++k) octet = static_cast<uint8_t>(octet | bits[k] << k);
    bits_received_ += static_cast<uint64_t>(count);
    oh_port_put(&port, &octet, static_cast<size_t>(count));
  }

  TrainingDecoder decoder_;
  SequenceReceiver<Mph> receiver_;
  Mph mph_{};
  TrainingPoints points_ = TrainingPoints::k4;
  bool in_data_ = false;
  int ones_ = 0;
  uint64_t bits_received_ = 0;
};

}  // namespace offhook::v34
