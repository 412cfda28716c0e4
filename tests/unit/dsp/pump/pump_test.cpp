// SPDX-License-Identifier: MIT
#include "offhook/pump.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "driver/user_modem/modulations.h"
#include "dsp/automode/automode.h"
#include "dsp/pump/pump_type.h"

namespace offhook {
namespace {

/// Bits from one vector and into another, singly or in groups.
struct Bits {
  std::vector<int> out, in;
  std::size_t at = 0;
  oh_bit_port by_ones() {
    return {[](void* user) {
              auto* b = static_cast<Bits*>(user);
              return b->out[b->at++];
            },
            [](void* user, int bit) { static_cast<Bits*>(user)->in.push_back(bit); }, this};
  }
  oh_bit_port by_many() {
    oh_bit_port port{nullptr, nullptr, this};
    port.get_bits = [](void* user, uint8_t* octets, size_t n) {
      const oh_bit_port ones = static_cast<Bits*>(user)->by_ones();
      oh_port_get(&ones, octets, n);
    };
    port.put_bits = [](void* user, const uint8_t* octets, size_t n) {
      const oh_bit_port ones = static_cast<Bits*>(user)->by_ones();
      oh_port_put(&ones, octets, n);
    };
    return port;
  }
};

TEST(BitPort, CarriesTheSameBitsByOnesAndByMany) {
  std::mt19937 random(3);
  for (int how = 0; how < 4; ++how) {
    Bits bits;
    for (int k = 0; k < 5000; ++k) bits.out.push_back(static_cast<int>(random() & 1));
    const oh_bit_port port = how & 1 ? bits.by_many() : bits.by_ones();
    while (bits.at + 80 < bits.out.size()) {
      const std::size_t n = how & 2 ? 1 : 1 + random() % 80;
      std::array<uint8_t, 11> octets;
      octets.fill(0xff);
      if (n == 1) {
        oh_port_put_bit(&port, oh_port_get_bit(&port));
        continue;
      }
      oh_port_get(&port, octets.data(), n);
      if (n % 8 != 0) {
        EXPECT_EQ(octets[n / 8] >> n % 8, 0) << "the rest of the last octet is zero";
      }
      EXPECT_EQ(octets[(n + 7) / 8], 0xff) << "and nothing is written after it";
      oh_port_put(&port, octets.data(), n);
    }
    bits.out.resize(bits.at);
    EXPECT_EQ(bits.in, bits.out) << "way " << how;
  }
}

TEST(BitPort, IsWholeWithOneOfEachPair) {
  Bits bits;
  oh_bit_port port = bits.by_ones();
  EXPECT_TRUE(oh_port_is_whole(&port));
  port.get_bit = nullptr;
  EXPECT_FALSE(oh_port_is_whole(&port));
  port.get_bits = bits.by_many().get_bits;
  EXPECT_TRUE(oh_port_is_whole(&port));
}

constexpr std::size_t kMostRatio = 2;  // received samples per sent sample

class EveryPump : public testing::TestWithParam<const oh_pump_type*> {
 protected:
  EveryPump() {
    config_.format = type_.formats[0];
    config_.tx_level_dbm0 = -12;
    config_.port = {[](void*) { return 1; }, [](void*, int) {}, nullptr};
  }
  using Memory = std::unique_ptr<void, decltype(&std::free)>;
  Memory make() {
    Memory memory(std::aligned_alloc(64, type_.size(&config_)), &std::free);
    EXPECT_EQ(type_.init(memory.get(), &config_), 0);
    return memory;
  }
  const oh_pump_type& type_ = *GetParam();
  oh_pump_config config_{};
};

TEST_P(EveryPump, HasEveryFunctionAndSaysWhatItTakes) {
  EXPECT_EQ(type_.struct_size, sizeof type_);
  EXPECT_TRUE(type_.size && type_.init && type_.process && type_.report_gap && type_.status && type_.hang_up &&
              type_.release && type_.advance);
  EXPECT_GT(type_.longest_step, 0u);
  for (uint32_t k = 0; k < type_.format_count; ++k) {
    for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER}) {
      config_.format = type_.formats[k];
      config_.role = role;
      EXPECT_EQ(type_.size(&config_) > 0, (type_.roles >> role & 1) != 0) << type_.name << " " << k << " " << role;
    }
  }
}

TEST_P(EveryPump, RefusesAConfigurationOfAnUnknownSize) {
  const Memory memory = make();
  for (const int by : {-4, 4}) {
    oh_pump_config other = config_;
    other.struct_size += static_cast<uint32_t>(by);
    EXPECT_EQ(type_.size(&other), 0u);
    EXPECT_EQ(type_.init(memory.get(), &other), -22);
  }
}

TEST_P(EveryPump, WritesNoMoreOfAStatusThanItsCallerHas) {
  const Memory memory = make();
  alignas(oh_pump_status) unsigned char bytes[sizeof(oh_pump_status) + 8];
  for (const uint32_t room : {uint32_t{8}, uint32_t{sizeof(oh_pump_status)}, uint32_t{sizeof(oh_pump_status) + 8}}) {
    std::memset(bytes, 0xa5, sizeof bytes);
    auto* status = reinterpret_cast<oh_pump_status*>(bytes);
    status->struct_size = room;
    type_.status(memory.get(), status);
    EXPECT_EQ(status->struct_size, room);
    EXPECT_EQ(status->state, OH_PUMP_CONNECTING);
    for (std::size_t k = std::min<std::size_t>(room, sizeof *status); k < sizeof bytes; ++k)
      ASSERT_EQ(bytes[k], 0xa5) << type_.name << ": octet " << k << " of " << room;
  }
  type_.release(memory.get());
}

TEST_P(EveryPump, IsIdleAtOnceWhenItHangsUpBeforeDataMode) {
  const Memory memory = make();
  constexpr std::size_t kPeriods = 800;
  std::vector<int16_t> silence(kMostRatio * kPeriods), sent(silence.size());
  type_.process(memory.get(), silence.data(), sent.data(), kPeriods);
  type_.hang_up(memory.get());
  oh_pump_status status;
  type_.status(memory.get(), &status);
  EXPECT_EQ(status.state, OH_PUMP_IDLE);
  type_.process(memory.get(), silence.data(), sent.data(), kPeriods);
  EXPECT_EQ(sent, silence);
  type_.release(memory.get());
}

TEST_P(EveryPump, AdvancesManyAsItDoesEachAlone) {
  constexpr std::size_t kCount = 3, kBlock = 160;
  config_.role = OH_PUMP_ANSWER;
  std::vector<Memory> alone, together;
  for (std::size_t k = 0; k < kCount; ++k) {
    alone.push_back(make());
    together.push_back(make());
  }
  std::mt19937 random(5);
  for (int block = 0; block < 200; ++block) {
    int16_t rx[kCount][kMostRatio * kBlock], tx[2][kCount][kBlock];
    void *self[kCount], *out[kCount];
    const void* in[kCount];
    for (std::size_t k = 0; k < kCount; ++k) {
      for (int16_t& x : rx[k]) x = static_cast<int16_t>(static_cast<int>(random() % 2000) - 1000);
      type_.process(alone[k].get(), rx[k], tx[0][k], kBlock);
      self[k] = together[k].get();
      in[k] = rx[k];
      out[k] = tx[1][k];
    }
    type_.advance(&type_, self, in, out, kCount, kBlock);
    ASSERT_EQ(std::memcmp(tx[0], tx[1], sizeof tx[0]), 0) << "block " << block;
  }
}

std::vector<const oh_pump_type*> all_types() {
  std::vector<const oh_pump_type*> types{oh_automode_type()};
  for (const Modulation& m : kModulations) types.push_back(m.type());
  return types;
}

INSTANTIATE_TEST_SUITE_P(Pumps, EveryPump, testing::ValuesIn(all_types()), [](const auto& param) {
  return std::string(param.param->name) + std::to_string(param.index);
});

}  // namespace
}  // namespace offhook
