// SPDX-License-Identifier: MIT
#include "src/measure/bank_modems.h"

#include <algorithm>
#include <array>

#include "driver/session/live_bank.h"
#include "driver/session/session.h"
#include "hostsim/call/tested_pump.h"

namespace offhook::measure {
namespace {

/// Bytes that the receiver can check.
class Pattern {
 public:
  explicit Pattern(std::uint32_t seed) : x_(seed * 2654435761u + 1) {}
  std::uint8_t peek() const { return static_cast<std::uint8_t>(x_ >> 24); }
  void next() { x_ = x_ * 1664525u + 1013904223u; }

 private:
  std::uint32_t x_;
};

/// A modem, and the bytes that its owner sends and expects.
struct Channel {
  Channel(LiveCard& card, const modem::SessionConfig& config, std::uint32_t seed, std::uint32_t far_seed)
      : session(card, config), sent(seed), expected(far_seed) {}
  modem::Session session;
  Pattern sent, expected;
  std::uint64_t bytes = 0, wrong = 0;

  void move_bytes() {
    std::array<std::uint8_t, 512> buffer;
    Pattern ahead = sent;
    const std::size_t room = std::min(buffer.size(), session.writable());
    for (std::size_t i = 0; i < room; ++i, ahead.next()) buffer[i] = ahead.peek();
    for (std::size_t taken = session.write(buffer.data(), room); taken > 0; --taken) sent.next();
    const std::size_t got = session.read(buffer.data(), buffer.size());
    for (std::size_t i = 0; i < got; ++i, expected.next()) wrong += buffer[i] != expected.peek();
    bytes += got;
  }
};

oh_pump_role role_of(std::size_t k) {
  return k % 2 == 0 ? OH_PUMP_CALL : OH_PUMP_ANSWER;
}

class Sessions final : public BankModems {
 public:
  explicit Sessions(const BankConfig& config) : BankModems(config.channels), modem_(config.modem) {
    modem::SessionConfig session;
    session.context = config.context;
    session.interrupt_priority = config.interrupt_priority;
    for (std::size_t k = 0; k < size(); ++k) {
      const auto n = static_cast<std::uint32_t>(k);
      channels_.push_back(std::make_unique<Channel>(card(k), session, n, n ^ 1));
    }
  }
  void interrupt(std::size_t k) override { cards_[k]->interrupt(); }
  oh_driver_counters counters(std::size_t k) const override { return channels_[k]->session.counters(); }
  void begin_calls() override {
    for (std::size_t k = 0; k < size(); ++k)
      channels_[k]->session.begin_call(
          {.pump = modem_.type(),
           .role = role_of(k),
           .link = {.error_control = modem_.v42_window > 0 ? OH_ERROR_CONTROL_REQUIRED : OH_ERROR_CONTROL_NONE,
                    .window = modem_.v42_window}});
  }
  int connected() const override {
    return static_cast<int>(std::count_if(channels_.begin(), channels_.end(),
                                          [](const auto& c) { return c->session.status().connected(); }));
  }
  void work() override {
    for (const auto& c : channels_) c->move_bytes();
  }
  std::vector<std::string> shortcomings() const override { return channels_.front()->session.shortcomings(); }

 private:
  void stop() override {
    for (const auto& c : channels_) c->session.stop();
  }
  void add_data(BankResult& result) override {
    for (const auto& c : channels_) {
      result.bytes += c->bytes;
      result.bytes_wrong += c->wrong;
      result.dispatch.add(c->session.context().dispatch_latency());
      result.service.add(c->session.context().service_time());
    }
  }
  Modulation modem_;
  std::vector<std::unique_ptr<Channel>> channels_;
};

/// Pumps that send a pattern and search for it in the received bits.
class Pumps final : public BankModems {
 public:
  explicit Pumps(const BankConfig& config) : BankModems(config.channels) {
    LiveDriverConfig driver;
    driver.context = config.context;
    oh_pump_config pump{};
    pump.struct_size = sizeof pump;
    pump.format = kLinear8000;
    pump.tx_level_dbm0 = kLevelDbm0;
    pump.io_delay_samples = driver.transmit_lead_samples;
    std::vector<LiveBank::Channel> channels;
    for (std::size_t k = 0; k < size(); ++k) {
      pump.role = role_of(k);
      pumps_.push_back(std::make_unique<hostsim::TestedPump>(config.modem.type(), pump,
                                                             static_cast<std::uint32_t>(k + 1), false, &states_));
      channels.push_back({&card(k), pumps_.back()->self()});
    }
    bank_ = std::make_unique<LiveBank>(*config.modem.type(), channels, driver);
  }
  void interrupt(std::size_t k) override {
    bank_->interrupt(k);
    interrupted_ = true;
  }
  void interrupts_ended() override {
    if (interrupted_) bank_->request();
    interrupted_ = false;
  }
  oh_driver_counters counters(std::size_t k) const override { return bank_->counters(k); }
  int connected() const override { return static_cast<int>(bank_->in_data_mode()); }
  std::vector<std::string> shortcomings() const override { return bank_->context().shortcomings(); }

 private:
  static constexpr float kLevelDbm0 = -12;
  void stop() override { bank_->stop(); }
  void add_data(BankResult& result) override {
    for (const auto& pump : pumps_) {
      result.bytes += pump->test().compared() / 8;
      result.bytes_wrong += (pump->test().wrong() + 7) / 8;
    }
    result.dispatch.add(bank_->context().dispatch_latency());
    result.service.add(bank_->context().service_time());
  }
  std::pmr::monotonic_buffer_resource states_;  // one after the other
  std::vector<std::unique_ptr<hostsim::TestedPump>> pumps_;
  std::unique_ptr<LiveBank> bank_;
  bool interrupted_ = false;  // the hardware's thread's
};

}  // namespace

BankModems::BankModems(int count) {
  for (int k = 0; k < count; ++k) cards_.push_back(std::make_unique<WiredCard>());
}

std::uint64_t BankModems::blocks_late() const {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < size(); ++k) sum += counters(k).blocks_late;
  return sum;
}

void BankModems::add_up(BankResult& result) {
  stop();
  for (std::size_t k = 0; k < size(); ++k) {
    const oh_driver_counters d = counters(k);
    result.blocks += d.blocks_served;
    result.blocks_late += d.blocks_late;
    result.samples_late += d.samples_late;
    result.samples_filled_in += d.samples_filled_in;
    result.pending_max_samples = std::max(result.pending_max_samples, d.pending_max);
    result.underrun_samples += oh_card_counts(&card(k).state()).underrun_samples;
  }
  add_data(result);
}

std::unique_ptr<BankModems> make_bank_modems(const BankConfig& config) {
  if (config.one_thread) return std::make_unique<Pumps>(config);
  return std::make_unique<Sessions>(config);
}

}  // namespace offhook::measure
