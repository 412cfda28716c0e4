// SPDX-License-Identifier: MIT
#include "dsp/link/cell_stream.h"

#include <string.h>

namespace offhook::atm {
namespace {

constexpr uint8_t kIdleHeader[OH_CELL_HEADER] = {0, 0, 0, 1};
constexpr uint8_t kIdlePayload = 0x6a;
constexpr uint8_t kCoset = 0x55;
constexpr unsigned kGenerator = 0x07;  // x^2 + x + 1, below x^8

bool is_idle(const uint8_t* header) {
  return memcmp(header, kIdleHeader, sizeof kIdleHeader) == 0;
}

}  // namespace

uint8_t CellSender::next(ByteRing* queue) {
  if (at_ == kLineCell) {
    at_ = 0;
    if (queue->used() >= OH_CELL_OCTETS && idle_ >= kGreeting) {
      queue->copy(queue->tail, cell_, OH_CELL_OCTETS);
      queue->tail += OH_CELL_OCTETS;
      ++sent_;
    } else {
      memcpy(cell_, kIdleHeader, sizeof kIdleHeader);
      memset(cell_ + OH_CELL_HEADER, kIdlePayload, OH_CELL_PAYLOAD);
      ++idle_;
    }
    hec_ = oh_cell_hec(cell_);
  }
  const int at = at_++;
  if (at < OH_CELL_HEADER) return cell_[at];
  return at == OH_CELL_HEADER ? hec_ : scrambler_.scramble(cell_[at - 1]);
}

bool CellReceiver::header_is_right() const {
  return oh_cell_hec(header_) == header_[OH_CELL_HEADER];
}

void CellReceiver::look_for_header() {
  if (at_ < kHeader || !header_is_right()) return;
  state_ = OH_DELINEATION_PRESYNC;
  right_ = wrong_ = 0;
  wanted_ = false;
}

/// In PRESYNC and SYNC, at the end of a header.
void CellReceiver::judge_header() {
  const bool right = header_is_right();
  if (state_ == OH_DELINEATION_PRESYNC) {
    right_ = right ? right_ + 1 : 0;
    if (right_ >= kDelta) state_ = OH_DELINEATION_SYNC;
    if (!right) state_ = OH_DELINEATION_HUNT;
  } else if (!right) {
    ++hec_errors_;
    if (++wrong_ >= kAlpha) {
      state_ = OH_DELINEATION_HUNT;
      ++losses_;
    }
  } else {
    wrong_ = 0;
  }
  const bool good = right && state_ == OH_DELINEATION_SYNC, idle = is_idle(header_);
  if (good) ++(idle ? idle_ : received_);
  wanted_ = good && !idle;
  memcpy(cell_, header_, OH_CELL_HEADER);
}

bool CellReceiver::put(uint8_t octet) {
  if (state_ == OH_DELINEATION_HUNT) {
    memmove(header_, header_ + 1, kHeader - 1);
    header_[kHeader - 1] = octet;
    if (at_ < kHeader) ++at_;
    look_for_header();
    return false;
  }
  if (at_ == kLineCell) at_ = 0;
  if (at_ < kHeader) {
    header_[at_++] = octet;
    if (at_ == kHeader) judge_header();
    return false;
  }
  cell_[at_++ - 1] = descrambler_.descramble(octet);
  return at_ == kLineCell && wanted_;
}

void CellReceiver::status(oh_cells_status* s) const {
  s->state = state_;
  s->received = received_;
  s->idle_received = idle_;
  s->hec_errors = hec_errors_;
  s->losses = losses_;
}

}  // namespace offhook::atm

uint8_t oh_cell_hec(const uint8_t* header) {
  unsigned crc = 0;
  for (int k = 0; k < OH_CELL_HEADER; ++k) {
    crc ^= header[k];
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x80) != 0 ? (crc << 1 ^ offhook::atm::kGenerator) & 0xff : crc << 1;
  }
  return static_cast<uint8_t>(crc ^ offhook::atm::kCoset);
}
