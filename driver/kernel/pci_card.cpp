// SPDX-License-Identifier: MIT
#include "driver/kernel/pci_card.h"

#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace offhook {

static_assert(offsetof(oh_pci_registers, command) == 0x80, "docs/card.md");
static_assert(offsetof(oh_pci_registers, memory_address) == 0x88, "docs/card.md");
static_assert(offsetof(oh_pci_registers, queue_address) == 0x98, "docs/card.md");
static_assert(offsetof(oh_pci_registers, command_done) == 0x100, "docs/card.md");
static_assert(sizeof(oh_pci_registers) == 0x200 && sizeof(oh_pci_registers) <= OH_PCI_BAR_SIZE, "docs/card.md");
static_assert(sizeof(oh_pci_descriptor) == 16, "docs/card.md");

namespace {

constexpr std::uint32_t kQueueLeast = 2, kQueueMost = 1 << 16, kAlignment = 64;
constexpr int kStormInterrupts = 1000;

template <class T>
T load(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_ACQUIRE);
}
template <class T>
void store(T& field, T value) {
  __atomic_store_n(&field, value, __ATOMIC_RELEASE);
}

}  // namespace

CardFault parse_fault(const std::string& name) {
  if (name == "gone") return CardFault::kGone;
  if (name == "frozen") return CardFault::kFrozen;
  if (name == "garbage") return CardFault::kGarbage;
  if (name == "storm") return CardFault::kStorm;
  throw std::invalid_argument("fault '" + name + "': expected gone, frozen, garbage or storm");
}

PciCard::PciCard(PciTransport& transport, const oh_streams& streams, bool step)
    : transport_(transport), streams_(streams) {
  oh_pci_registers& r = transport.registers();
  std::memset(&r, 0, sizeof r);
  r.version = OH_PCI_VERSION;
  r.features = step ? OH_PCI_WANTS_PROGRESS : 0;
  r.doorbell = transport.doorbell();
  r.streams = streams;
  store(r.magic, std::uint32_t{OH_PCI_MAGIC});
}

// The host's memory may hold any values: each value is read once and checked.
oh_pci_error PciCard::start() {
  const oh_pci_registers& r = transport_.registers();
  const std::uint64_t address = load(r.memory_address), size = load(r.memory_size), queue = load(r.queue_address);
  const std::uint32_t entries = load(r.queue_entries);
  if (entries < kQueueLeast || entries > kQueueMost || (entries & (entries - 1)) != 0) return OH_PCI_BAD_QUEUE;
  if (address % kAlignment != 0 || queue % kAlignment != 0) return OH_PCI_BAD_ADDRESS;
  void* memory = transport_.memory(address, size);
  void* descriptors = transport_.memory(queue, std::uint64_t{entries} * sizeof(oh_pci_descriptor));
  if (memory == nullptr || descriptors == nullptr) return OH_PCI_BAD_ADDRESS;
  if (oh_card_attach(&card_, memory, size) != 0 || std::memcmp(&card_.streams, &streams_, sizeof streams_) != 0)
    return OH_PCI_BAD_MEMORY;
  queue_ = static_cast<oh_pci_descriptor*>(descriptors);
  entries_ = entries;
  sequence_ = 0;
  fault_ = CardFault::kNone;
  oh_card_engine_init(&engine_, &card_, nullptr);
  oh_card_engine_start(&engine_, 0);
  lead_ = load(engine_.state->tx_written) - engine_.position;
  return OH_PCI_NO_ERROR;
}

bool PciCard::take_command() {
  oh_pci_registers& r = transport_.registers();
  const std::uint32_t sequence = load(r.command_sequence);
  if (sequence == taken_ || fault_ == CardFault::kGone) return false;
  taken_ = sequence;
  const bool was_running = running_, failed = r.status == OH_PCI_FAILED;
  oh_pci_error error = OH_PCI_NO_ERROR;
  switch (load(r.command)) {
    case OH_PCI_RESET:
      running_ = false;
      break;
    case OH_PCI_START:
      error = was_running || failed ? OH_PCI_BAD_COMMAND : start();
      running_ = error == OH_PCI_NO_ERROR;
      break;
    case OH_PCI_STOP:
      if (failed) error = OH_PCI_BAD_COMMAND;
      running_ = false;
      break;
    default:
      error = OH_PCI_BAD_COMMAND;
      running_ = false;
  }
  store(r.error, static_cast<std::uint32_t>(error));
  store(r.status, static_cast<std::uint32_t>(error != OH_PCI_NO_ERROR ? OH_PCI_FAILED
                                             : running_               ? OH_PCI_RUNNING
                                                                      : OH_PCI_STOPPED));
  store(r.command_done, sequence);
  return running_ && !was_running;
}

void PciCard::set_ringing(bool ringing) {
  store(transport_.registers().ringing, std::uint32_t{ringing});
}

void PciCard::finish_block() {
  ++sequence_;
  oh_pci_descriptor& d = queue_[(sequence_ - 1) % entries_];
  d.end = load(engine_.state->finished_end);
  d.reserved = 0;
  store(d.sequence, sequence_);
  transport_.raise_interrupt();
}

// Values from a counter, so that they are the same every time (SplitMix64).
void PciCard::garble() {
  const auto next = [this] {
    std::uint64_t z = noise_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  };
  for (std::uint32_t k = 0; k < entries_; ++k) {
    queue_[k].end = next();
    store(queue_[k].sequence, static_cast<std::uint32_t>(next() % 4 == 0 ? sequence_ + next() % entries_ : next()));
  }
  for (std::uint64_t* field : {&engine_.state->position, &engine_.state->finished_end, &engine_.state->rx_lost_before,
                               &engine_.state->interrupts, &engine_.state->overrun, &engine_.state->underrun})
    store(*field, next());
  transport_.raise_interrupt();
}

void PciCard::run(const oh_line_end& line, std::uint32_t n) {
  switch (fault_) {
    case CardFault::kGone:
      return;
    case CardFault::kFrozen:
      transport_.raise_interrupt();
      return;
    case CardFault::kGarbage:
      garble();
      return;
    case CardFault::kStorm:
      for (int k = 0; k < kStormInterrupts; ++k) transport_.raise_interrupt();
      break;
    case CardFault::kNone:
      break;
  }
  while (n > 0) {
    const std::uint32_t now = left() < n ? left() : n;
    oh_card_engine_pass(&engine_, &line, now, 0);
    if (oh_card_engine_end_block(&engine_, 0) != 0) finish_block();
    n -= now;
  }
}

bool PciCard::caught_up() const {
  return load(engine_.state->tx_written) - lead_ >= load(engine_.state->finished_end);
}

}  // namespace offhook
