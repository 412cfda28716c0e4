// SPDX-License-Identifier: MIT
#include "hostsim/call/test_cells.h"

#include <algorithm>
#include <array>

namespace offhook::hostsim {
namespace {

// VPI 8, VCI 35, user data.
constexpr std::array<std::uint8_t, OH_CELL_HEADER> kCellHeader = {0x00, 0x80, 0x02, 0x30};

}  // namespace

TestCells::TestCells(BitErrorTester& test)
    : test_(test),
      memory_(::operator new (oh_cells_size(), std::align_val_t{64})),
      cells_(oh_cells_init(memory_.get())) {
  oh_cells_port(cells_, &port_);
}

void TestCells::get(std::uint8_t* octets, std::size_t n) {
  std::array<std::uint8_t, OH_CELL_OCTETS> cell;
  std::copy(kCellHeader.begin(), kCellHeader.end(), cell.begin());
  // Enough for these octets; the rest of a cell is sent with the next octets.
  while (oh_cells_unsent(cells_) < n / 8) {
    test_.get(cell.data() + OH_CELL_HEADER, 8 * OH_CELL_PAYLOAD);
    oh_cells_write(cells_, cell.data(), cell.size());
  }
  oh_port_get(&port_, octets, n);
}

void TestCells::put(const std::uint8_t* octets, std::size_t n) {
  std::array<std::uint8_t, OH_CELL_OCTETS> cell;
  for (std::size_t k = 0; k < n / 8; ++k) {  // one at a time, because dropped cells are between two cells
    oh_port_put(&port_, octets + k, 8);
    const oh_cells_status s = status();
    if (s.hec_errors + s.losses != dropped_) test_.restart();
    dropped_ = s.hec_errors + s.losses;
    while (oh_cells_read(cells_, cell.data(), cell.size()) > 0)
      test_.put(cell.data() + OH_CELL_HEADER, 8 * OH_CELL_PAYLOAD);
  }
}

oh_cells_status TestCells::status() const {
  oh_cells_status s;
  oh_cells_get_status(cells_, &s);
  return s;
}

}  // namespace offhook::hostsim
