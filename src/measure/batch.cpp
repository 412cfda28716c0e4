// SPDX-License-Identifier: MIT
#include "src/measure/batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "dsp/pump/pump_type.h"
#include "hostsim/call/tested_pump.h"
#include "hostsim/channel/digital_trunk.h"
#include "src/measure/real_time.h"

namespace offhook::measure {
namespace {

constexpr double kBatchPatienceS = 60;
constexpr float kLevelDbm0 = -12;

std::uint32_t periods_hz(const oh_pump_format& format) {
  return std::min(format.rx.rate_hz, format.tx.rate_hz);
}

std::size_t octets(std::uint32_t periods, const oh_pump_format& format, const oh_sample_format& direction) {
  return periods * (direction.rate_hz / periods_hz(format)) * oh_sample_bytes(direction.encoding);
}

/// A pump and its block of each direction.
class End {
 public:
  End(const oh_pump_type& type, const oh_pump_format& format, oh_pump_role role, std::uint32_t io_delay,
      std::uint32_t block, std::uint32_t seed, std::pmr::memory_resource* states)
      : pump_(&type, config_of(format, role, io_delay), seed, false, states) {
    rx_.resize(octets(block, format, format.rx));
    tx_.resize(octets(block, format, format.tx));
  }

  template <class Sample>
  Sample* rx() {
    return reinterpret_cast<Sample*>(rx_.data());
  }
  template <class Sample>
  Sample* tx() {
    return reinterpret_cast<Sample*>(tx_.data());
  }
  const hostsim::TestedPump& pump() const { return pump_; }
  std::vector<std::uint8_t>& received() { return rx_; }
  std::vector<std::uint8_t>& sent() { return tx_; }
  bool in_data_mode() const { return pump_.status().state == OH_PUMP_DATA; }
  /// FNV-1a over everything that it sent.
  void add_to_hash() {
    for (const std::uint8_t octet : tx_) hash_ = (hash_ ^ octet) * 0x100000001b3;
  }
  std::uint64_t hash() const { return hash_; }

 private:
  static oh_pump_config config_of(const oh_pump_format& format, oh_pump_role role, std::uint32_t io_delay) {
    oh_pump_config config{};
    config.struct_size = sizeof config;
    config.format = format;
    config.role = role;
    config.tx_level_dbm0 = kLevelDbm0;
    config.io_delay_samples = io_delay;
    return config;
  }

  hostsim::TestedPump pump_;
  std::vector<std::uint8_t> rx_, tx_;
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

/// Two ends and their connection. Each end receives in one step what the other sent in the previous step.
class PumpCall {
 public:
  virtual ~PumpCall() = default;
  virtual void exchange() = 0;
  std::array<std::unique_ptr<End>, 2> ends;
};

/// Four wires.
class WiredCall final : public PumpCall {
 public:
  WiredCall(const BatchConfig& config, std::uint32_t seed, std::pmr::memory_resource* states) {
    for (const oh_pump_role role : {OH_PUMP_CALL, OH_PUMP_ANSWER})
      ends[role] = std::make_unique<End>(*config.modem.type(), kLinear8000, role, config.block, config.block,
                                         2 * seed + role + 1, states);
  }
  void exchange() override {
    ends[0]->received() = ends[1]->sent();
    ends[1]->received() = ends[0]->sent();
  }
};

/// A clean digital trunk with the answering digital modem at its end.
class TrunkCall final : public PumpCall, private hostsim::DigitalEnd {
 public:
  TrunkCall(const BatchConfig& config, std::uint32_t seed, std::pmr::memory_resource* states)
      : block_(config.block), trunk_({}, seed, *this) {
    ends[0] = std::make_unique<End>(*config.modem.type(), kLinear16000To8000, OH_PUMP_CALL, block_, block_,
                                    2 * seed + 1, states);
    ends[1] =
        std::make_unique<End>(*config.modem.type(), kMuLaw8000, OH_PUMP_ANSWER, block_, block_, 2 * seed + 2, states);
  }
  void exchange() override {
    for (at_ = 0; at_ < block_; ++at_)
      trunk_.exchange(ends[0]->tx<std::int16_t>()[at_], ends[0]->rx<std::int16_t>() + 2 * at_);
  }

 private:
  std::uint8_t process(std::uint8_t rx) override {
    ends[1]->rx<std::uint8_t>()[at_] = rx;
    return ends[1]->tx<std::uint8_t>()[at_];
  }
  std::size_t block_, at_ = 0;
  hostsim::DigitalTrunk trunk_;
};

std::unique_ptr<PumpCall> make_call(const BatchConfig& config, std::uint32_t seed, std::pmr::memory_resource* states) {
  if (takes(*config.modem.type(), kLinear8000)) return std::make_unique<WiredCall>(config, seed, states);
  return std::make_unique<TrunkCall>(config, seed, states);
}

/// Ends that advance in one call, and the duration of that call.
class Group {
 public:
  void add(End& end) {
    ends_.push_back(&end);
    selves_.push_back(end.pump().self());
    rx_.push_back(end.rx<void>());
    tx_.push_back(end.tx<void>());
  }
  void advance(const oh_pump_type& type, std::size_t n, bool timed, bool together) {
    const auto advance = together ? type.advance : oh_pump_advance_each;
    const std::uint64_t begin = timed ? thread_cpu_ns() : 0;
    advance(&type, selves_.data(), rx_.data(), tx_.data(), selves_.size(), n);
    if (timed) {
      Cost& cost = together ? together_ : one_by_one_;
      cost.ns += thread_cpu_ns() - begin;
      cost.periods += n * selves_.size();
    }
    for (End* end : ends_) end->add_to_hash();
  }
  double together_ns() const { return together_.a_period(); }
  double one_by_one_ns() const { return one_by_one_.a_period(); }
  const std::vector<End*>& ends() const { return ends_; }

 private:
  std::vector<End*> ends_;
  std::vector<void*> selves_;
  std::vector<const void*> rx_;
  std::vector<void*> tx_;
  struct Cost {
    std::uint64_t ns = 0, periods = 0;
    double a_period() const { return periods == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(periods); }
  };
  Cost together_, one_by_one_;
};

/// Several calls, whose ends are in groups of one type and format.
class Bank {
 public:
  Bank(const BatchConfig& config, int first, int count) : config_(config), type_(*config.modem.type()) {
    const bool one_kind = takes(type_, kLinear8000);
    groups_.resize(one_kind ? 1 : 2);
    for (int k = first; k < first + count; ++k) {
      calls_.push_back(make_call(config, static_cast<std::uint32_t>(k), &states_));
      for (std::size_t e = 0; e < 2; ++e) groups_[one_kind ? 0 : e].add(*calls_.back()->ends[e]);
    }
  }
  void step(bool timed, bool together) {
    for (Group& group : groups_) group.advance(type_, config_.block, timed, together);
    for (const auto& call : calls_) call->exchange();
  }
  int connected() const {
    return static_cast<int>(std::count_if(calls_.begin(), calls_.end(), [](const auto& call) {
      return call->ends[0]->in_data_mode() && call->ends[1]->in_data_mode();
    }));
  }
  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<std::unique_ptr<PumpCall>>& calls() const { return calls_; }

 private:
  const BatchConfig& config_;
  const oh_pump_type& type_;
  std::pmr::monotonic_buffer_resource states_;  // of the pumps called one after the other
  std::vector<std::unique_ptr<PumpCall>> calls_;
  std::vector<Group> groups_;
};

}  // namespace

BatchResult measure_batch(const BatchConfig& config, const std::function<bool(double)>& progress) {
  BatchResult result;
  result.calls = config.calls;
  const double block_s = static_cast<double>(config.block) / periods_hz(config.modem.type()->formats[0]);
  const auto patience = static_cast<std::uint64_t>(std::ceil(kBatchPatienceS / block_s));
  const auto data_steps = static_cast<std::uint64_t>(std::ceil(config.data_s / block_s));
  Bank bank(config, 0, config.calls);
  std::uint64_t connecting = 0;
  bool go_on = true;
  while (go_on && connecting < patience && bank.connected() < config.calls) {
    bank.step(false, true);
    ++connecting;
    if (connecting % 64 == 0) go_on = progress(0);
  }
  result.connected_after_s = static_cast<double>(connecting) * block_s;
  // Half of the work is the bank, the other half its calls one by one. Every second block of the bank is advanced one
  // by one, on the same caches.
  for (std::uint64_t k = 0; go_on && k < data_steps; ++k) {
    bank.step(true, k % 2 == 0);
    if (k % 64 == 0) go_on = progress(0.5 * static_cast<double>(k) / static_cast<double>(data_steps));
  }
  result.connected = bank.connected();
  const bool one_kind = bank.groups().size() == 1;
  for (std::size_t g = 0; g < bank.groups().size(); ++g) {
    const Group& group = bank.groups()[g];
    result.groups.push_back({.name = std::string(config.modem.name) + (one_kind ? ""
                                                                       : g == 0 ? " analogue"
                                                                                : " digital"),
                             .pumps = static_cast<int>(group.ends().size()),
                             .state_bytes = group.ends().front()->pump().state_bytes(),
                             .together_ns = group.together_ns(),
                             .one_by_one_ns = group.one_by_one_ns()});
    for (const End* end : group.ends()) {
      result.bits += end->pump().test().compared();
      result.bits_wrong += end->pump().test().wrong();
    }
  }
  if (!go_on) return result;

  for (int k = 0; go_on && k < config.calls; ++k) {
    Bank alone(config, k, 1);
    for (std::uint64_t step = 0; step < connecting + data_steps; ++step) alone.step(step >= connecting, false);
    ++result.calls_alone;
    const auto& with_others = bank.calls()[static_cast<std::size_t>(k)]->ends;
    const auto& by_itself = alone.calls()[0]->ends;
    result.calls_same +=
        by_itself[0]->hash() == with_others[0]->hash() && by_itself[1]->hash() == with_others[1]->hash();
    for (std::size_t g = 0; g < result.groups.size(); ++g)
      result.groups[g].alone_ns += alone.groups()[g].one_by_one_ns() / config.calls;
    go_on = progress(0.5 + 0.5 * (k + 1) / config.calls);
  }
  return result;
}

}  // namespace offhook::measure
