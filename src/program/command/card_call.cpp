// SPDX-License-Identifier: MIT
#include "src/program/command/card_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

#include "dsp/link/cells.h"
#include "dsp/dmt/pump.h"
#include "dsp/v90/session/pump.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/subscriber_call.h"
#include "offhook/modem.h"
#include "src/program/command/kernel_call.h"
#include "src/program/command/socket_modem.h"
#include "driver/base/terminal.h"

namespace offhook::command {
namespace {

const oh_pump_type& pump_named(const std::string& name) {
  for (const oh_pump_type* type : {oh_v22bis_type(), oh_v32bis_type(), oh_v90_type()}) {
    if (name == type->name) return *type;
  }
  return *oh_v34_type();
}

oh_pump_format format_of(const oh_streams& streams) {
  return {{streams.rx.rate_hz, streams.rx.encoding}, {streams.tx.rate_hz, streams.tx.encoding}};
}

class ModemTalker final : public Talker {
 public:
  ModemTalker(const CardOptions& options, const oh_pump_format& format, oh_pump_role role, std::uint32_t io_delay)
      : octets_(options.octets), modem_([&] {
          modem::Modem::Config config{};
          config.pump = &pump_named(options.pump);
          config.role = role;
          config.io_delay_samples = io_delay;
          config.window = options.window;
          config.error_control = options.error_control;
          config.format = format;
          return config;
        }()) {
    modem_.start();
  }
  void process(const void* rx, void* tx, std::size_t n) override {
    sent_ += modem_.write(octets_.data() + sent_, octets_.size() - sent_);
    modem_.process(rx, tx, n);
    std::uint8_t piece[256];
    while (const std::size_t got = modem_.read(piece, sizeof piece))
      received_.insert(received_.end(), piece, piece + got);
  }
  void report_gap(std::size_t n) override { modem_.report_gap(n); }
  const std::vector<std::uint8_t>& received() const override { return received_; }
  std::uint32_t retrains() const override { return modem_.pump_status().retrains; }

 private:
  std::vector<std::uint8_t> octets_, received_;
  std::size_t sent_ = 0;
  modem::Modem modem_;
};

class CellTalker final : public Talker {
 public:
  CellTalker(const CardOptions& options, const oh_pump_format& format, oh_pump_role role)
      : octets_(options.octets),
        type_(role == OH_PUMP_CALL ? oh_dmt_remote_type() : oh_dmt_central_type()),
        cell_memory_(allocate(oh_cells_size())),
        cells_(oh_cells_init(cell_memory_.get())) {
    oh_pump_config config{};
    config.format = format;
    config.role = role;
    oh_cells_port(cells_, &config.port);
    pump_ = allocate(type_->size(&config));
    if (type_->init(pump_.get(), &config) != 0) throw std::runtime_error("a DMT pump of other rates than the card's");
  }
  void process(const void* rx, void* tx, std::size_t n) override {
    sent_ += oh_cells_write(cells_, octets_.data() + sent_, octets_.size() - sent_);
    type_->process(pump_.get(), rx, tx, n);
    std::array<std::uint8_t, OH_CELL_OCTETS> cell;
    while (oh_cells_read(cells_, cell.data(), cell.size()) > 0)
      received_.insert(received_.end(), cell.begin(), cell.end());
  }
  void report_gap(std::size_t n) override { type_->report_gap(pump_.get(), n); }
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

std::unique_ptr<Talker> make_talker(const CardOptions& options, bool cells, const oh_pump_format& format,
                                    oh_pump_role role, std::uint32_t io_delay) {
  if (cells) return std::make_unique<CellTalker>(options, format, role);
  return std::make_unique<ModemTalker>(options, format, role, io_delay);
}

oh_pump_format format_of_far_end(const hostsim::Scenario& scenario) {
  if (!on_a_loop(scenario)) return hostsim::far_format(scenario);
  const oh_streams near = card_streams(scenario);
  return format_of({near.tx, near.rx});
}

class BuiltIn final : public FarParty {
 public:
  BuiltIn(const CardOptions& options, const hostsim::Scenario& scenario)
      : talker_(make_talker(options, on_a_loop(scenario), format_of_far_end(scenario),
                            scenario.role == OH_PUMP_CALL ? OH_PUMP_ANSWER : OH_PUMP_CALL, 0)) {}
  void process(const void* rx, void* tx, std::size_t n) override { talker_->process(rx, tx, n); }
  nlohmann::ordered_json summary() const override {
    return {{"far_received", talker_->received().size()}, {"far_retrains", talker_->retrains()}};
  }
  const std::vector<std::uint8_t>* received() const override { return &talker_->received(); }

 private:
  std::unique_ptr<Talker> talker_;
};

class Foreign final : public FarParty {
 public:
  Foreign(const CardOptions& options, const hostsim::Scenario& scenario)
      : modem_(make_far_end(options.far_end, scenario, [] { return !interrupted(); })) {}
  void process(const void* rx, void* tx, std::size_t n) override {
    modem_->process(static_cast<const std::int16_t*>(rx), static_cast<std::int16_t*>(tx), n);
  }
  nlohmann::ordered_json summary() const override {
    auto said = nlohmann::ordered_json::object();
    if (!modem_->failure().empty()) said["far_end"] = modem_->failure();
    return said;
  }

 private:
  std::unique_ptr<SocketModem> modem_;
};

/// FNV-1a, a sample at a time.
std::uint64_t hashed(std::uint64_t hash, const void* samples, std::size_t n, oh_encoding encoding) {
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint16_t sample = encoding == OH_LINEAR16 ? static_cast<const std::uint16_t*>(samples)[k]
                                                         : static_cast<const std::uint8_t*>(samples)[k];
    hash = (hash ^ sample) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

bool on_a_loop(const hostsim::Scenario& scenario) {
  return scenario.line_kind == hostsim::LineKind::kSubscriberLoop;
}

oh_streams card_streams(const hostsim::Scenario& scenario) {
  return on_a_loop(scenario) ? subscriber_streams(scenario) : hostsim::card_streams(hostsim::near_format(scenario));
}

std::uint32_t usual_block(const hostsim::Scenario& scenario) {
  return on_a_loop(scenario) ? in_periods(scenario).longest_block() : kKernelBlock;
}

std::uint32_t usual_lead(const hostsim::Scenario& scenario) {
  return on_a_loop(scenario) ? in_periods(scenario).lead() : kKernelLead;
}

std::unique_ptr<Talker> make_talker(const CardOptions& options, const hostsim::Scenario& scenario,
                                    std::uint32_t io_delay) {
  return make_talker(options, on_a_loop(scenario), format_of(card_streams(scenario)), scenario.role, io_delay);
}

std::unique_ptr<FarParty> make_far_party(const CardOptions& options, const hostsim::Scenario& scenario) {
  if (options.far_end.empty()) return std::make_unique<BuiltIn>(options, scenario);
  return std::make_unique<Foreign>(options, scenario);
}

CardCall::CardCall(const CardOptions& options, const hostsim::Scenario& scenario, FarParty& far)
    : line_(make_line_between(scenario, [&far](const void* rx, void* tx, std::size_t n) { far.process(rx, tx, n); })),
      streams_(card_streams(scenario)),
      rate_hz_(oh_streams_rate_hz(&streams_)),
      hash_until_(static_cast<std::uint64_t>(options.hash_seconds * rate_hz_)),
      record_(!options.record.empty()) {}

oh_line_end CardCall::handle() {
  return {[](void* self, const void* played, void* captured, std::size_t n) {
            static_cast<CardCall*>(self)->exchange(played, captured, n);
          },
          this};
}

void CardCall::exchange(const void* played, void* captured, std::size_t n) {
  line_->exchange(played, captured, n);
  const std::size_t out = streams_.tx.rate_hz / rate_hz_, in = streams_.rx.rate_hz / rate_hz_;
  const std::size_t out_octets = out * oh_sample_bytes(streams_.tx.encoding);
  const std::size_t in_octets = in * oh_sample_bytes(streams_.rx.encoding);
  const auto* sent = static_cast<const std::uint8_t*>(played);
  const auto* heard = static_cast<const std::uint8_t*>(captured);
  if (record_) heard_.insert(heard_.end(), heard, heard + n * in_octets);
  for (std::size_t k = 0; k < n; ++k, ++periods_) {
    if (periods_ >= hash_until_) continue;
    hash_ = hashed(hash_, sent + k * out_octets, out, streams_.tx.encoding);
    played_hash_ = hashed(played_hash_, sent + k * out_octets, out, streams_.tx.encoding);
    hash_ = hashed(hash_, heard + k * in_octets, in, streams_.rx.encoding);
  }
}

nlohmann::ordered_json CardCall::summary() const {
  return {{"seconds", static_cast<double>(periods_) / rate_hz_},
          {"hashed_seconds", static_cast<double>(std::min(periods_, hash_until_)) / rate_hz_},
          {"hash", fmt::format("{:016x}", hash_)},
          {"hash_played", fmt::format("{:016x}", played_hash_)}};
}

}  // namespace offhook::command
