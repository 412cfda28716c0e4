// SPDX-License-Identifier: MIT
#include "src/program/command/card_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

#include "dsp/atm/cells.h"
#include "dsp/dmt/control/pump.h"
#include "hostsim/call/subscriber_call.h"
#include "hostsim/loop/loop.h"
#include "offhook/modem.h"
#include "offhook/modem_card.h"
#include "src/program/command/kernel_call.h"

namespace offhook::command {
namespace {

const oh_pump_type& pump_named(const std::string& name) {
  for (const oh_pump_type* type : {oh_v22bis_type(), oh_v32bis_type()}) {
    if (name == type->name) return *type;
  }
  return *oh_v34_type();
}

class ModemTalker final : public Talker {
 public:
  ModemTalker(const CardOptions& options, oh_pump_role role, std::uint32_t io_delay)
      : octets_(options.octets), modem_([&] {
          modem::Modem::Config config{};
          config.pump = &pump_named(options.pump);
          config.role = role;
          config.io_delay_samples = io_delay;
          config.window = options.window;
          config.error_control = options.error_control;
          return config;
        }()) {
    modem_.start();
  }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    sent_ += modem_.write(octets_.data() + sent_, octets_.size() - sent_);
    modem_.process(rx, tx, n);
    std::uint8_t piece[256];
    while (const std::size_t got = modem_.read(piece, sizeof piece))
      received_.insert(received_.end(), piece, piece + got);
  }
  void fill_in(std::size_t n) override { modem_.fill_in(n); }
  const std::vector<std::uint8_t>& received() const override { return received_; }
  std::uint32_t retrains() const override { return modem_.pump_status().retrains; }

 private:
  std::vector<std::uint8_t> octets_, received_;
  std::size_t sent_ = 0;
  modem::Modem modem_;
};

class CellTalker final : public Talker {
 public:
  CellTalker(const CardOptions& options, const oh_streams& streams, oh_pump_role role)
      : octets_(options.octets),
        type_(role == OH_PUMP_CALL ? oh_dmt_remote_type() : oh_dmt_central_type()),
        cell_memory_(allocate(oh_cells_size())),
        cells_(oh_cells_init(cell_memory_.get())) {
    oh_pump_config config{};
    config.format = {{streams.rx.rate_hz, OH_LINEAR16}, {streams.tx.rate_hz, OH_LINEAR16}};
    config.role = role;
    oh_cells_port(cells_, &config.port);
    pump_ = allocate(type_->size(&config));
    if (type_->init(pump_.get(), &config) != 0) throw std::runtime_error("a DMT pump of other rates than the card's");
  }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override {
    sent_ += oh_cells_write(cells_, octets_.data() + sent_, octets_.size() - sent_);
    type_->process(pump_.get(), rx, tx, n);
    std::array<std::uint8_t, OH_CELL_OCTETS> cell;
    while (oh_cells_read(cells_, cell.data(), cell.size()) > 0)
      received_.insert(received_.end(), cell.begin(), cell.end());
  }
  void fill_in(std::size_t n) override { type_->fill_in(pump_.get(), n); }
  const std::vector<std::uint8_t>& received() const override { return received_; }
  std::uint32_t retrains() const override {
    oh_pump_status s{};
    type_->status(pump_.get(), &s);
    return s.retrains;
  }

 private:
  struct Release {
    void operator()(void* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  using Memory = std::unique_ptr<void, Release>;
  static Memory allocate(std::size_t octets) { return Memory(::operator new (octets, std::align_val_t{64})); }

  std::vector<std::uint8_t> octets_, received_;
  std::size_t sent_ = 0;
  const oh_pump_type* type_;
  Memory cell_memory_, pump_;
  oh_cells* cells_;
};

class BuiltIn final : public FarParty {
 public:
  BuiltIn(const CardOptions& options, const oh_streams& streams)
      : talker_(make_talker(options, {streams.tx, streams.rx}, options.role == "answer" ? OH_PUMP_ANSWER : OH_PUMP_CALL,
                            0)) {}
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override { talker_->process(rx, tx, n); }
  nlohmann::ordered_json summary() const override {
    return {{"far_received", talker_->received().size()}, {"far_retrains", talker_->retrains()}};
  }
  const std::vector<std::uint8_t>* received() const override { return &talker_->received(); }

 private:
  std::unique_ptr<Talker> talker_;
};

/// The scenario, for the soft device at this card.
hostsim::Scenario of_near_end(const CardOptions& options, hostsim::Scenario scenario) {
  scenario.role = options.role == "answer" ? OH_PUMP_CALL : OH_PUMP_ANSWER;
  return scenario;
}

std::unique_ptr<LineEnd> make_line(const CardOptions& options, const hostsim::Scenario& scenario, FarParty& far) {
  if (!on_a_loop(options)) return std::make_unique<hostsim::Line>(scenario.line, options.seed, far);
  const oh_pump pump = {[](void* self, const void* rx, void* tx, std::size_t n) {
                          static_cast<FarParty*>(self)->process(static_cast<const std::int16_t*>(rx),
                                                                static_cast<std::int16_t*>(tx), n);
                        },
                        [](void*, std::size_t) {}, &far};
  return std::make_unique<hostsim::Loop>(loop_of(of_near_end(options, scenario)), options.seed, pump);
}

std::uint64_t hashed(std::uint64_t hash, std::int16_t sample) {  // FNV-1a, a sample at a time
  return (hash ^ static_cast<std::uint16_t>(sample)) * 0x100000001b3;
}

}  // namespace

bool on_a_loop(const CardOptions& options) {
  return options.pump == "dmt";
}

oh_streams card_streams(const CardOptions& options, const hostsim::Scenario& scenario) {
  return on_a_loop(options) ? subscriber_streams(of_near_end(options, scenario))
                            : oh_modem_streams(hostsim::kLineRateHz);
}

std::uint32_t usual_block(const CardOptions& options, const hostsim::Scenario& scenario) {
  return on_a_loop(options) ? in_periods(scenario).longest_block() : kKernelBlock;
}

std::uint32_t usual_lead(const CardOptions& options, const hostsim::Scenario& scenario) {
  return on_a_loop(options) ? in_periods(scenario).lead() : kKernelLead;
}

std::unique_ptr<Talker> make_talker(const CardOptions& options, const oh_streams& streams, oh_pump_role role,
                                    std::uint32_t io_delay) {
  if (on_a_loop(options)) return std::make_unique<CellTalker>(options, streams, role);
  return std::make_unique<ModemTalker>(options, role, io_delay);
}

std::unique_ptr<FarParty> make_built_in(const CardOptions& options, const oh_streams& streams) {
  return std::make_unique<BuiltIn>(options, streams);
}

CardCall::CardCall(const CardOptions& options, const hostsim::Scenario& scenario, FarParty& far)
    : line_(make_line(options, scenario, far)), record_(!options.record.empty()) {
  const oh_streams streams = card_streams(options, scenario);
  rate_hz_ = oh_streams_rate_hz(&streams);
  played_a_period_ = streams.tx.rate_hz / rate_hz_;
  captured_a_period_ = streams.rx.rate_hz / rate_hz_;
  hash_until_ = static_cast<std::uint64_t>(options.hash_seconds * rate_hz_);
}

void CardCall::exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
  line_->exchange(played, captured, n);
  if (record_) heard_.insert(heard_.end(), captured, captured + n * captured_a_period_);
  for (std::size_t k = 0; k < n; ++k, ++periods_) {
    if (periods_ >= hash_until_) continue;
    for (std::uint32_t i = 0; i < played_a_period_; ++i) {
      hash_ = hashed(hash_, *played);
      played_hash_ = hashed(played_hash_, *played++);
    }
    for (std::uint32_t i = 0; i < captured_a_period_; ++i) hash_ = hashed(hash_, *captured++);
  }
}

nlohmann::ordered_json CardCall::summary() const {
  return {{"seconds", static_cast<double>(periods_) / rate_hz_},
          {"hashed_seconds", static_cast<double>(std::min(periods_, hash_until_)) / rate_hz_},
          {"hash", fmt::format("{:016x}", hash_)},
          {"hash_played", fmt::format("{:016x}", played_hash_)}};
}

}  // namespace offhook::command
