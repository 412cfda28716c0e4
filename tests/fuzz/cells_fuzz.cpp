// SPDX-License-Identifier: MIT
//
// The ATM cell stream on arbitrary octets, and a sender's whose octets are changed, lost and doubled: what is counted
// is what was given out, and once the line is good again a user's cell arrives whole.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "dsp/link/cell_stream.h"

using namespace offhook;
using namespace offhook::atm;

namespace {

constexpr std::uint32_t kQueue = 1024;

struct Counted {
  CellReceiver receiver;
  std::uint64_t octets = 0, cells = 0;

  bool put(std::uint8_t octet) {
    ++octets;
    const bool whole = receiver.put(octet);
    cells += whole;
    return whole;
  }
  oh_cells_status status() const {
    oh_cells_status s{};
    receiver.status(&s);
    return s;
  }
  void check() const {
    const oh_cells_status s = status();
    if (s.received != cells && s.received != cells + 1) std::abort();  // one may be in progress
    if ((s.received + s.idle_received) * kLineCell > octets + kLineCell) std::abort();
    if (s.state > OH_DELINEATION_SYNC) std::abort();
  }
};

void damaged_then_good(const std::uint8_t* data, std::size_t size) {
  std::uint8_t memory[kQueue];
  ByteRing queue{.bytes = memory, .size = kQueue};
  CellSender sender;
  Counted c;
  for (std::size_t n = 0; n < size; ++n) {
    if (queue.free() >= OH_CELL_OCTETS && (data[n] & 64) != 0) {
      std::uint8_t cell[OH_CELL_OCTETS];
      std::memset(cell, data[n], sizeof cell);
      queue.put(cell, sizeof cell);
    }
    const std::uint8_t octet = sender.next(&queue);
    switch (data[n] & 7) {
      case 1:
        break;  // lost
      case 2:
        c.put(octet);
        c.put(octet);
        break;
      case 3:
        c.put(octet ^ static_cast<std::uint8_t>(data[n] >> 3));
        break;
      default:
        c.put(octet);
    }
  }
  c.check();
  // Fewer headers would be sufficient, but a false position may be kept until seven are wrong, and six correct ones are
  // then required. Some octets in between may look like a header.
  constexpr int kCalm = 64;
  for (int n = 0; n < kCalm * kLineCell || queue.used() > 0; ++n) c.put(sender.next(&queue));
  std::uint8_t sent[OH_CELL_OCTETS];
  for (std::size_t k = 0; k < sizeof sent; ++k) sent[k] = static_cast<std::uint8_t>(size + 7 * k + 1);
  queue.put(sent, sizeof sent);
  bool arrived = false;
  for (int n = 0; n < 24 * kLineCell; ++n)
    arrived |= c.put(sender.next(&queue)) && std::memcmp(c.receiver.cell(), sent, sizeof sent) == 0;
  c.check();
  if (!arrived || c.status().state != OH_DELINEATION_SYNC) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Counted c;
  for (std::size_t n = 0; n < size; ++n) c.put(data[n]);
  c.check();
  damaged_then_good(data, size);
  return 0;
}
