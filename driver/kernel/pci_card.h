// SPDX-License-Identifier: MIT
//
// The hardware of a PCI card (offhook/pci_card.h, docs/card.md): takes the driver's commands, moves samples between the
// card memory in the host and a line, and ends blocks with a descriptor and an interrupt. The transport provides access
// to registers, the host's memory and interrupts. The owner advances time by run().
#pragma once

#include <cstdint>
#include <string>

#include "offhook/card_engine.h"
#include "offhook/pci_card.h"

namespace offhook {

/// The bus between a card and a host. One thread.
class PciTransport {
 public:
  virtual ~PciTransport() = default;
  /// BAR 2.
  virtual oh_pci_registers& registers() = 0;
  /// The number to add to the vector for the doorbell register.
  virtual std::uint32_t doorbell() const = 0;
  /// @return `size` octets of the host's memory at this bus address; null: not accessible
  virtual void* memory(std::uint64_t address, std::uint64_t size) = 0;
  /// Does not block.
  virtual void raise_interrupt() = 0;
  /// Waits until a doorbell rings (all rung doorbells are taken), the host leaves, or `ms` have passed.
  /// @return false: the host has left
  virtual bool wait_doorbell(int ms) = 0;
};

/// Faults that a card can simulate. A driver must tolerate them.
enum class CardFault {
  kNone,
  kGone,     ///< no interrupts, no progress, no answers to commands
  kFrozen,   ///< interrupts continue, but positions and samples stop
  kGarbage,  ///< descriptors, positions and counters are noise
  kStorm     ///< a thousand spurious interrupts per block
};
/// @throws std::invalid_argument
CardFault parse_fault(const std::string& name);

class PciCard {
 public:
  /// Writes the constant registers. @param step  samples pass only as fast as the driver serves: requests its doorbell
  PciCard(PciTransport& transport, const oh_streams& streams, bool step);

  /// Executes the driver's last command. @return true: a call began with this
  bool take_command();
  bool running() const { return running_; }
  /// Sets whether ring voltage is on the line.
  void set_ringing(bool ringing);
  /// Sample periods until the current block ends.
  std::uint32_t left() const { return oh_card_engine_left(&engine_); }
  /// Sample periods pass; blocks end in them. @pre running
  void run(const oh_line_end& line, std::uint32_t n);
  /// All blocks that ended are served and their output is queued. @pre running
  bool caught_up() const;
  /// From now on.
  void fail(CardFault fault) { fault_ = fault; }
  std::uint64_t position() const { return engine_.position; }
  oh_card_counters counters() const { return oh_card_counts(engine_.state); }

 private:
  oh_pci_error start();
  void finish_block();
  void garble();

  PciTransport& transport_;
  oh_streams streams_;
  oh_card card_{};
  oh_card_engine engine_{};
  oh_pci_descriptor* queue_ = nullptr;
  std::uint32_t entries_ = 0, sequence_ = 0, taken_ = 0;
  std::uint64_t lead_ = 0;  // queued when the samples began to pass
  bool running_ = false;
  CardFault fault_ = CardFault::kNone;
  std::uint64_t noise_ = 0x9e3779b97f4a7c15;
};

}  // namespace offhook
