// SPDX-License-Identifier: MIT
//
// The two directions of cells.h, an octet at a time.
//
// Source: ITU-T I.432.1 4.3.2 (HEC), 4.3.3.2 (delineation: alpha = 7, delta = 6), 4.3.4.1 (scrambler), 4.4.1 (idle
// cells)
#pragma once

#include <stdint.h>

#include "dsp/blocks/byte_ring.h"
#include "dsp/link/cells.h"

namespace offhook::atm {

inline constexpr int kLineCell = OH_CELL_OCTETS + 1;
inline constexpr int kHeader = OH_CELL_HEADER + 1;  ///< on the line
inline constexpr int kAlpha = 7, kDelta = 6;
/// Idle cells that are sent first: a receiver returns none before its seventh, and any of them may be damaged.
inline constexpr int kGreeting = 16;

/// 1 + x^-43 over octets, the most significant bit first.
class PayloadScrambler {
 public:
  uint8_t scramble(uint8_t octet) { return keep(octet ^ before()); }
  uint8_t descramble(uint8_t octet) {
    const uint8_t plain = octet ^ before();
    keep(octet);
    return plain;
  }

 private:
  uint8_t before() const { return static_cast<uint8_t>(history_ >> (43 - 8)); }
  uint8_t keep(uint8_t octet) {
    history_ = history_ << 8 | octet;
    return octet;
  }
  uint64_t history_ = 0;  // scrambled bits, the newest lowest
};

class CellSender {
 public:
  /// @param queue  whole cells of users. @return the next octet for the line
  uint8_t next(ByteRing* queue);
  uint64_t sent() const { return sent_; }
  uint64_t idle() const { return idle_; }

 private:
  uint8_t cell_[OH_CELL_OCTETS]{};
  uint8_t hec_ = 0;
  int at_ = kLineCell;
  PayloadScrambler scrambler_;
  uint64_t sent_ = 0, idle_ = 0;
};

class CellReceiver {
 public:
  /// An octet of the line. @return whether a user's cell is complete; cell() has it until the next octet
  bool put(uint8_t octet);
  const uint8_t* cell() const { return cell_; }
  void status(oh_cells_status* s) const;

 private:
  void look_for_header();
  void judge_header();
  bool header_is_right() const;

  oh_delineation state_ = OH_DELINEATION_HUNT;
  uint8_t header_[kHeader]{};       // the newest octets during the search
  uint8_t cell_[OH_CELL_OCTETS]{};  // without the HEC
  int at_ = 0;                      // octets of the current cell
  int right_ = 0, wrong_ = 0;       // headers in a row
  bool wanted_ = false;             // deliver the current cell when it is complete
  PayloadScrambler descrambler_;
  uint64_t received_ = 0, idle_ = 0, hec_errors_ = 0, losses_ = 0;
};

}  // namespace offhook::atm
