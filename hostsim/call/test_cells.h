// SPDX-License-Identifier: MIT
//
// The pattern of a bit error rate test in the payload of ATM cells, all of one channel. If the receiver drops a cell, a
// part of the pattern is missing. The search for the pattern restarts then, so that only received bits are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "dsp/link/cells.h"
#include "hostsim/call/bit_error_tester.h"

namespace offhook::hostsim {

class TestCells {
 public:
  /// @param test  outlives it
  explicit TestCells(BitErrorTester& test);

  /// As in oh_bit_port, n / 8 octets. Real-time: yes.
  void get(std::uint8_t* octets, std::size_t n);
  void put(const std::uint8_t* octets, std::size_t n);
  oh_cells_status status() const;

 private:
  struct Release {
    void operator()(void* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  BitErrorTester& test_;
  std::unique_ptr<void, Release> memory_;
  oh_cells* cells_;
  oh_bit_port port_{};
  std::uint64_t dropped_ = 0;
};

}  // namespace offhook::hostsim
