// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <new>
#include <stdexcept>

#include "offhook/card_engine.h"

namespace offhook {

/// A card's memory in this process.
class CardMemory {
 public:
  /// @throws std::invalid_argument if no card can have these streams
  explicit CardMemory(const oh_streams& streams) : memory_(::operator new(size_of(streams), kAlignment)) {
    oh_card_init(memory_.get(), &streams);
    oh_card_attach(&card_, memory_.get(), oh_card_size(&streams));
  }
  const oh_card& card() const { return card_; }
  oh_card_state& state() const { return *static_cast<oh_card_state*>(memory_.get()); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  static std::size_t size_of(const oh_streams& streams) {
    const std::size_t size = oh_card_size(&streams);
    if (size == 0) throw std::invalid_argument("streams that no card can have: encoding, rates, ring or blocks");
    return size;
  }
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<void, Free> memory_;
  oh_card card_{};
};

}  // namespace offhook
