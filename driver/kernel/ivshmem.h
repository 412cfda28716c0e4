// SPDX-License-Identifier: MIT
//
// QEMU's ivshmem-doorbell as the bus of a card: the socket protocol of its specification (docs/specs/ivshmem-spec.txt
// of QEMU), one virtual machine at a time. BAR 2 is shared memory of this process, doorbells and interrupts are
// eventfds, and the host's memory is the file given to QEMU as its memory (memory-backend-file, share=on).
#pragma once

#include <optional>
#include <string>

#include "driver/base/local_socket.h"
#include "driver/kernel/pci_card.h"

namespace offhook {

class IvshmemTransport final : public PciTransport {
 public:
  /// Listens. @param ram  the guest's memory, from guest-physical address 0 on; opened when it is first used
  /// @throws std::runtime_error with the path and the reason
  IvshmemTransport(std::string socket_path, std::string ram_path);
  ~IvshmemTransport() override;
  IvshmemTransport(const IvshmemTransport&) = delete;
  IvshmemTransport& operator=(const IvshmemTransport&) = delete;

  /// Wait for QEMU for up to `ms`, and give it the shared memory. @return true: it is there
  bool wait_for_host(int ms);

  oh_pci_registers& registers() override { return *static_cast<oh_pci_registers*>(bar_); }
  std::uint32_t doorbell() const override;
  void* memory(std::uint64_t address, std::uint64_t size) override;
  void raise_interrupt() override;
  bool wait_doorbell(int ms) override;

 private:
  std::string socket_path_, ram_path_;
  std::optional<LocalListener> listener_;
  int host_ = -1, bar_memory_ = -1, interrupt_ = -1;
  int doorbells_[OH_PCI_DOORBELLS];
  void* bar_ = nullptr;
  void* ram_ = nullptr;
  std::uint64_t ram_size_ = 0;
};

}  // namespace offhook
