// SPDX-License-Identifier: MIT
#include "driver/kernel/pci_card.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "offhook/modem_card.h"

namespace offhook {
namespace {

constexpr std::uint64_t kMemory = 4096, kQueue = 64, kRam = 1 << 16;
constexpr std::uint32_t kEntries = 8, kBlock = 80;

/// A host: its memory, and the effects of the card.
class Host final : public PciTransport {
 public:
  oh_pci_registers& registers() override { return registers_; }
  std::uint32_t doorbell() const override { return 0x50000; }
  void* memory(std::uint64_t address, std::uint64_t size) override {
    return size <= kRam && address <= kRam - size ? ram() + address : nullptr;
  }
  void raise_interrupt() override { ++interrupts; }
  bool wait_doorbell(int) override { return true; }

  std::uint8_t* ram() { return reinterpret_cast<std::uint8_t*>(ram_.data()); }
  const oh_pci_descriptor& descriptor(std::uint32_t k) {
    return reinterpret_cast<const oh_pci_descriptor*>(ram() + kQueue)[k];
  }
  oh_card_state& state() { return *reinterpret_cast<oh_card_state*>(ram() + kMemory); }
  void prepare(const oh_streams& streams) {
    ASSERT_EQ(oh_card_init(ram() + kMemory, &streams), 0);
    state().block = kBlock;
    registers_.memory_address = kMemory;
    registers_.memory_size = oh_card_size(&streams);
    registers_.queue_address = kQueue;
    registers_.queue_entries = kEntries;
  }
  bool command(PciCard& card, std::uint32_t what) {
    registers_.command = what;
    ++registers_.command_sequence;
    return card.take_command();
  }

  int interrupts = 0;

 private:
  struct alignas(64) Line {
    std::uint8_t octets[64];
  };
  oh_pci_registers registers_{};
  std::vector<Line> ram_ = std::vector<Line>(kRam / sizeof(Line));
};

const oh_line_end kSilence = {
    [](void*, const void*, void* captured, std::size_t n) { std::memset(captured, 0, 2 * n); }, nullptr};

class PciCardTest : public testing::Test {
 protected:
  oh_streams streams_ = oh_modem_streams(OH_MODEM_RATE_HZ);
  Host host_;
  PciCard card_{host_, streams_, true};
};

TEST_F(PciCardTest, SaysWhatItIs) {
  const oh_pci_registers& r = host_.registers();
  EXPECT_EQ(r.magic, std::uint32_t{OH_PCI_MAGIC});
  EXPECT_EQ(r.version, std::uint32_t{OH_PCI_VERSION});
  EXPECT_EQ(r.features, std::uint32_t{OH_PCI_WANTS_PROGRESS});
  EXPECT_EQ(r.doorbell, 0x50000u);
  EXPECT_EQ(std::memcmp(&r.streams, &streams_, sizeof streams_), 0);
}

TEST_F(PciCardTest, EachFinishedBlockHasADescriptorAndAnInterrupt) {
  host_.prepare(streams_);
  ASSERT_TRUE(host_.command(card_, OH_PCI_START));
  EXPECT_EQ(host_.registers().command_done, host_.registers().command_sequence);
  EXPECT_EQ(host_.registers().status, std::uint32_t{OH_PCI_RUNNING});
  for (std::uint32_t k = 1; k <= 2 * kEntries; ++k) {
    card_.run(kSilence, card_.left());
    const oh_pci_descriptor& d = host_.descriptor((k - 1) % kEntries);
    EXPECT_EQ(d.sequence, k);
    EXPECT_EQ(d.end, std::uint64_t{k} * kBlock);
  }
  EXPECT_EQ(host_.interrupts, static_cast<int>(2 * kEntries));
}

TEST_F(PciCardTest, HasCaughtUpWhenTheOutputOfAllFinishedBlocksIsQueued) {
  host_.prepare(streams_);
  host_.state().tx_written = 2 * kBlock;  // the lead
  ASSERT_TRUE(host_.command(card_, OH_PCI_START));
  EXPECT_TRUE(card_.caught_up());
  card_.run(kSilence, card_.left());
  EXPECT_FALSE(card_.caught_up());
  host_.state().tx_written = 3 * kBlock - 1;
  EXPECT_FALSE(card_.caught_up());
  host_.state().tx_written = 3 * kBlock;
  EXPECT_TRUE(card_.caught_up());
}

TEST_F(PciCardTest, NothingPassesAfterStop) {
  host_.prepare(streams_);
  ASSERT_TRUE(host_.command(card_, OH_PCI_START));
  card_.run(kSilence, card_.left());
  EXPECT_FALSE(host_.command(card_, OH_PCI_STOP));
  EXPECT_FALSE(card_.running());
  EXPECT_EQ(host_.registers().status, std::uint32_t{OH_PCI_STOPPED});
}

struct Wrong {
  const char* what;
  void (*spoil)(Host& host);
  oh_pci_error error;
};

class PciCardRefuses : public PciCardTest, public testing::WithParamInterface<Wrong> {};

TEST_P(PciCardRefuses, AStartThatCannotBeAndTakesOneAfterReset) {
  host_.prepare(streams_);
  GetParam().spoil(host_);
  EXPECT_FALSE(host_.command(card_, OH_PCI_START));
  EXPECT_FALSE(card_.running());
  EXPECT_EQ(host_.registers().status, std::uint32_t{OH_PCI_FAILED});
  EXPECT_EQ(host_.registers().error, static_cast<std::uint32_t>(GetParam().error));
  host_.prepare(streams_);
  EXPECT_FALSE(host_.command(card_, OH_PCI_START)) << "a card that has failed wants a RESET first";
  EXPECT_FALSE(host_.command(card_, OH_PCI_RESET));
  EXPECT_TRUE(host_.command(card_, OH_PCI_START));
}

const Wrong kWrong[] = {
    {"NoPowerOfTwo", [](Host& h) { h.registers().queue_entries = 12; }, OH_PCI_BAD_QUEUE},
    {"NoEntry", [](Host& h) { h.registers().queue_entries = 0; }, OH_PCI_BAD_QUEUE},
    {"OneEntry", [](Host& h) { h.registers().queue_entries = 1; }, OH_PCI_BAD_QUEUE},
    {"TooManyEntries", [](Host& h) { h.registers().queue_entries = 1 << 17; }, OH_PCI_BAD_QUEUE},
    {"AsManyEntriesAsThereMayBeBeyondMemory", [](Host& h) { h.registers().queue_entries = 1 << 16; },
     OH_PCI_BAD_ADDRESS},
    {"OddAddress", [](Host& h) { h.registers().memory_address += 2; }, OH_PCI_BAD_ADDRESS},
    {"MemoryOutside", [](Host& h) { h.registers().memory_address = kRam - 64; }, OH_PCI_BAD_ADDRESS},
    {"AddressWraps", [](Host& h) { h.registers().memory_address = ~std::uint64_t{63}; }, OH_PCI_BAD_ADDRESS},
    {"QueueOutside", [](Host& h) { h.registers().queue_address = kRam; }, OH_PCI_BAD_ADDRESS},
    {"NoCardMemory", [](Host& h) { h.state().magic = 0; }, OH_PCI_BAD_MEMORY},
    {"TooSmall", [](Host& h) { h.registers().memory_size -= 64; }, OH_PCI_BAD_MEMORY},
    {"OtherStreams", [](Host& h) { h.state().streams.rx.rate_hz = h.state().streams.tx.rate_hz = 16000; },
     OH_PCI_BAD_MEMORY},
};
INSTANTIATE_TEST_SUITE_P(Starts, PciCardRefuses, testing::ValuesIn(kWrong),
                         [](const auto& one) { return std::string(one.param.what); });

TEST_F(PciCardTest, TwoEntriesAreAQueue) {
  host_.prepare(streams_);
  host_.registers().queue_entries = 2;
  EXPECT_TRUE(host_.command(card_, OH_PCI_START));
}

TEST_F(PciCardTest, ACommandThatDoesNotExistFails) {
  EXPECT_FALSE(host_.command(card_, 77));
  EXPECT_EQ(host_.registers().error, std::uint32_t{OH_PCI_BAD_COMMAND});
}

TEST_F(PciCardTest, WhatTheDriverWritesDuringACallDoesNoHarm) {
  host_.prepare(streams_);
  ASSERT_TRUE(host_.command(card_, OH_PCI_START));
  host_.state().block = ~0u;
  host_.state().rx_read = host_.state().tx_written = ~std::uint64_t{0};
  host_.state().streams = {};
  for (int k = 0; k < 10; ++k) card_.run(kSilence, card_.left());
  EXPECT_EQ(host_.interrupts, 10);
}

TEST_F(PciCardTest, AFaultyCardDoesWhatItsNameSays) {
  host_.prepare(streams_);
  ASSERT_TRUE(host_.command(card_, OH_PCI_START));
  card_.fail(parse_fault("frozen"));
  card_.run(kSilence, kBlock);
  EXPECT_EQ(host_.interrupts, 1);
  EXPECT_EQ(host_.state().position, 0u);
  card_.fail(parse_fault("storm"));
  card_.run(kSilence, kBlock);
  EXPECT_GT(host_.interrupts, 1000);
  card_.fail(parse_fault("gone"));
  EXPECT_FALSE(host_.command(card_, OH_PCI_STOP));
  EXPECT_NE(host_.registers().command_done, host_.registers().command_sequence);
  EXPECT_THROW(parse_fault("sulking"), std::invalid_argument);
}

}  // namespace
}  // namespace offhook
