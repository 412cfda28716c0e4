// SPDX-License-Identifier: MIT
#include "dsp/v34/session/bank.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "dsp/v34/session/pump.h"
#include "tests/unit/dsp/v34/random.h"

namespace offhook::v34 {
namespace {

constexpr size_t kBlock = 96;
constexpr int kBlocksASecond = 8000 / static_cast<int>(kBlock);

// The bits requested from it and given to it, in order. Sent
// bits depend on all earlier ones, as with error control.
struct PortLog {
  uint64_t hash = 0xcbf29ce484222325;
  uint64_t sent = 0, received = 0, auxiliary = 0;

  void add(uint64_t v) { hash = (hash ^ v) * 0x100000001b3; }
  static void get_bits(void* user, uint8_t* octets, size_t n) {
    auto& log = *static_cast<PortLog*>(user);
    log.sent += n;
    for (size_t k = 0; k < (n + 7) / 8; ++k) {
      log.add(1);
      octets[k] = static_cast<uint8_t>(log.hash >> 40);
    }
  }
  static void put_bits(void* user, const uint8_t* octets, size_t n) {
    auto& log = *static_cast<PortLog*>(user);
    log.received += n;
    for (size_t k = 0; k < n; ++k) log.add(2 + (octets[k / 8] >> k % 8 & 1));
  }
  static int get_bit(void* user) {
    auto& log = *static_cast<PortLog*>(user);
    ++log.auxiliary;
    log.add(4);
    return static_cast<int>(log.hash >> 40 & 1);
  }
  static void put_bit(void* user, int bit) {
    auto& log = *static_cast<PortLog*>(user);
    ++log.auxiliary;
    log.add(5 + static_cast<uint64_t>(bit));
  }
  oh_bit_port port() { return {nullptr, nullptr, this, get_bits, put_bits}; }
  oh_bit_port auxiliary_port() { return {get_bit, put_bit, this}; }
};

// The properties of a call and its events. Times in s.
struct Plan {
  uint32_t max_bit_rate = 0;
  double noise = 1;                                                // int16 units
  int lowpass = 0;                                                 // filters (1 + z^-1) / 2 in the line
  double joins = 0;                                                // when the call begins
  double retrain = 0, renegotiate = 0, hang_up = 0, drop_out = 0;  // 0: never
  bool auxiliary = false;
};

const std::vector<Plan> kPlans = {
    {},
    {.max_bit_rate = 9600},
    {.noise = 20},
    {.noise = 10, .lowpass = 6},
    {.noise = 4, .lowpass = 4},
    {.auxiliary = true},
    {.retrain = 13.001},
    {.max_bit_rate = 21600, .renegotiate = 12.503},
    {.drop_out = 13.507},
    {.hang_up = 14.509},
    {.joins = 4.011},
    {.noise = 5, .joins = 1.253, .renegotiate = 15.017},
};
constexpr double kSeconds = 21;

class Call {
 public:
  Call(const Plan& plan, uint32_t number) : plan_(plan), random_(number, 7) {
    for (size_t end = 0; end < 2; ++end) {
      oh_pump_config config{};
      config.struct_size = sizeof config;
      config.format = kLinear8000;
      config.role = static_cast<oh_pump_role>(end);
      config.max_bit_rate = plan.max_bit_rate;
      config.tx_level_dbm0 = -12;
      config.io_delay_samples = kBlock;
      log[end].add(2 * number + end);
      config.port = log[end].port();
      const oh_pump_type* type = oh_v34_type();
      self[end].reset(std::aligned_alloc(64, type->size(&config)));
      EXPECT_EQ(type->init(self[end].get(), &config), 0);
      if (plan.auxiliary) {
        const oh_bit_port port = log[end].auxiliary_port();
        oh_v34_want_auxiliary(self[end].get(), &port);
      }
    }
  }
  bool has_begun(int block) const { return block >= blocks(plan_.joins); }
  void order(int block) {
    if (plan_.retrain > 0 && block == blocks(plan_.retrain)) oh_v34_retrain(self[0].get());
    if (plan_.renegotiate > 0 && block == blocks(plan_.renegotiate)) oh_v34_renegotiate(self[1].get());
    if (plan_.hang_up > 0 && block == blocks(plan_.hang_up)) oh_v34_type()->hang_up(self[0].get());
  }
  // Both directions: half the amplitude, one block late; a drop-out begins in the middle of a block.
  void exchange(int block) {
    for (size_t end = 0; end < 2; ++end) {
      for (size_t i = 0; i < kBlock; ++i) {
        hash[end] = (hash[end] ^ static_cast<uint16_t>(tx[end][i])) * 0x100000001b3;
        double y = 0.5 * tx[end][i];
        for (int k = 0; k < plan_.lowpass; ++k) {
          const double x = y;
          y = (x + before_[end][static_cast<size_t>(k)]) / 2;
          before_[end][static_cast<size_t>(k)] = x;
        }
        y += plan_.noise * random_.gaussian();
        const int since = (block - blocks(plan_.drop_out)) * static_cast<int>(kBlock) + static_cast<int>(i);
        if (plan_.drop_out > 0 && since > 37 && since < 2000) y = 0;
        rx[1 - end][i] = static_cast<int16_t>(y < -32768 ? -32768 : y > 32767 ? 32767 : y);
      }
    }
  }
  oh_pump_status status(size_t end) const {
    oh_pump_status s{};
    s.struct_size = sizeof s;
    oh_v34_type()->status(self[end].get(), &s);
    return s;
  }
  // Signals that both ends will receive.
  float symbol_rate_hz() const {
    oh_v34_instruments i{};
    oh_v34_get_instruments(self[0].get(), &i);
    return i.rx_symbol_rate_hz;
  }

  std::array<PortLog, 2> log;
  std::unique_ptr<void, decltype(&std::free)> self[2]{{nullptr, &std::free}, {nullptr, &std::free}};
  std::array<std::array<int16_t, kBlock>, 2> rx{}, tx{};
  std::array<uint64_t, 2> hash{};

 private:
  static int blocks(double seconds) { return static_cast<int>(seconds * kBlocksASecond); }
  const Plan& plan_;
  Random random_;
  std::array<std::array<double, 8>, 2> before_{};
};

using Calls = std::vector<std::unique_ptr<Call>>;

Calls make_calls() {
  Calls calls;
  for (size_t k = 0; k < kPlans.size(); ++k) {
    calls.push_back(std::make_unique<Call>(kPlans[k], static_cast<uint32_t>(k)));
  }
  return calls;
}

// Each block: all pumps that have begun, in one call.
void run_together(const Calls& calls, std::set<float>* symbol_rates) {
  for (int block = 0; block < static_cast<int>(kSeconds * kBlocksASecond); ++block) {
    std::vector<void*> self, tx;
    std::vector<const void*> rx;
    for (const auto& call : calls) {
      if (!call->has_begun(block)) continue;
      call->order(block);
      for (size_t end = 0; end < 2; ++end) {
        self.push_back(call->self[end].get());
        rx.push_back(call->rx[end].data());
        tx.push_back(call->tx[end].data());
      }
    }
    oh_v34_type()->advance(oh_v34_type(), self.data(), rx.data(), tx.data(), self.size(), kBlock);
    for (const auto& call : calls) {
      if (call->has_begun(block)) call->exchange(block);
      if (call->status(0).state == OH_PUMP_DATA) symbol_rates->insert(call->symbol_rate_hz());
    }
  }
}

void run_alone(Call& call) {
  for (int block = 0; block < static_cast<int>(kSeconds * kBlocksASecond); ++block) {
    if (!call.has_begun(block)) continue;
    call.order(block);
    for (size_t end = 0; end < 2; ++end) {
      oh_v34_type()->process(call.self[end].get(), call.rx[end].data(), call.tx[end].data(), kBlock);
    }
    call.exchange(block);
  }
}

TEST(V34Bank, EachPumpDoesWhatItDoesAlone) {
  const Calls together = make_calls(), alone = make_calls();
  std::set<float> symbol_rates;
  run_together(together, &symbol_rates);
  EXPECT_GE(symbol_rates.size(), 3u);  // the calls differ
  std::set<uint32_t> bit_rates;
  for (size_t k = 0; k < kPlans.size(); ++k) {
    SCOPED_TRACE("call " + std::to_string(k));
    run_alone(*alone[k]);
    for (size_t end = 0; end < 2; ++end) {
      EXPECT_EQ(together[k]->hash[end], alone[k]->hash[end]);
      EXPECT_EQ(together[k]->log[end].hash, alone[k]->log[end].hash);
      EXPECT_EQ(together[k]->log[end].sent, alone[k]->log[end].sent);
      EXPECT_EQ(together[k]->log[end].received, alone[k]->log[end].received);
      EXPECT_GT(together[k]->log[end].received, 0u);  // there was data mode
      const oh_pump_status one = together[k]->status(end), other = alone[k]->status(end);
      EXPECT_EQ(one.state, other.state);
      EXPECT_EQ(one.bits_sent, other.bits_sent);
      EXPECT_EQ(one.bits_received, other.bits_received);
      EXPECT_EQ(one.retrains, other.retrains);
      EXPECT_EQ(one.rx_level_dbm0, other.rx_level_dbm0);
      bit_rates.insert(one.rx_bit_rate);
      EXPECT_EQ(together[k]->log[end].auxiliary > 0, kPlans[k].auxiliary);
    }
    if (kPlans[k].hang_up > 0) {
      EXPECT_EQ(together[k]->status(0).state, OH_PUMP_IDLE);
    } else {
      EXPECT_EQ(together[k]->status(0).state, OH_PUMP_DATA);
    }
    if (kPlans[k].retrain > 0) {
      EXPECT_GT(together[k]->status(1).retrains, 0u);
    }
    if (kPlans[k].renegotiate > 0) {
      oh_v34_instruments i{};
      oh_v34_get_instruments(together[k]->self[0].get(), &i);
      EXPECT_GT(i.renegotiations, 0u);
    }
  }
  EXPECT_GE(bit_rates.size(), 4u);
}

}  // namespace
}  // namespace offhook::v34
