// SPDX-License-Identifier: MIT
#include "src/program/command/card_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "driver/base/terminal.h"
#include "dsp/dmt/pump.h"
#include "dsp/link/cells.h"
#include "dsp/v90/session/pump.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/subscriber_call.h"
#include "offhook/modem.h"
#include "src/program/command/kernel_call.h"
#include "src/program/command/late_pump.h"
#include "src/program/command/socket_modem.h"

namespace offhook::command {
namespace {

/// @param late_s  additional training time
const oh_pump_type* pump_named(const std::string& name, oh_pump_role role, double late_s) {
  if (name == "dmt") return role == OH_PUMP_CALL ? oh_dmt_remote_type() : oh_dmt_central_type();
  if (name == "v90") return late_s > 0 ? LatePump<oh_v90_type>::type(late_s) : oh_v90_type();
  if (name == "v32bis") return late_s > 0 ? LatePump<oh_v32bis_type>::type(late_s) : oh_v32bis_type();
  if (name == "v22bis") return late_s > 0 ? LatePump<oh_v22bis_type>::type(late_s) : oh_v22bis_type();
  return late_s > 0 ? LatePump<oh_v34_type>::type(late_s) : oh_v34_type();
}

oh_pump_format format_of(const oh_streams& streams) {
  return {{streams.rx.rate_hz, streams.rx.encoding}, {streams.tx.rate_hz, streams.tx.encoding}};
}

class BuiltIn final : public FarParty {
 public:
  BuiltIn(const CardOptions& options, const hostsim::Scenario& scenario)
      : role_(scenario.role == OH_PUMP_CALL ? OH_PUMP_ANSWER : OH_PUMP_CALL),
        talker_(options, pump_named(options.pump, role_, options.far_training_s), format(scenario), role_, 0) {}
  void process(const void* rx, void* tx, std::size_t n) override { talker_.process(rx, tx, n); }
  void add_to(CardSummary& summary) const override {
    summary.far_received = talker_.received().size();
    summary.far_retrains = talker_.retrains();
  }
  const std::vector<std::uint8_t>* received() const override { return &talker_.received(); }

 private:
  static oh_pump_format format(const hostsim::Scenario& scenario) {
    if (!on_a_loop(scenario)) return hostsim::far_format(scenario);
    const oh_streams near = card_streams(scenario);
    return format_of({near.tx, near.rx});
  }

  oh_pump_role role_;
  Talker talker_;
};

class Foreign final : public FarParty {
 public:
  Foreign(const CardOptions& options, const hostsim::Scenario& scenario)
      : modem_(make_far_end(options.far_end, scenario, [] { return !interrupted(); })) {}
  void process(const void* rx, void* tx, std::size_t n) override {
    modem_->process(static_cast<const std::int16_t*>(rx), static_cast<std::int16_t*>(tx), n);
  }
  void add_to(CardSummary& summary) const override {
    if (!modem_->failure().empty()) summary.far_end = modem_->failure();
  }

 private:
  std::unique_ptr<SocketModem> modem_;
};

/// FNV-1a, one sample at a time.
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

Talker::Talker(const CardOptions& options, const oh_pump_type* pump, const oh_pump_format& format, oh_pump_role role,
               std::uint32_t io_delay)
    : octets_(options.octets),
      modem_({.pump = pump,
              .role = role,
              .format = format,
              .kind = pump == oh_dmt_remote_type() || pump == oh_dmt_central_type() ? OH_LINK_CELLS : OH_LINK_OCTETS,
              .link = options.link,
              .io_delay_samples = io_delay}) {
  modem_.start();
}

void Talker::process(const void* rx, void* tx, std::size_t n) {
  sent_ += modem_.write(octets_.data() + sent_, octets_.size() - sent_);
  modem_.process(rx, tx, n);
  std::array<std::uint8_t, 5 * OH_CELL_OCTETS> piece;
  while (const std::size_t got = modem_.read(piece.data(), piece.size()))
    received_.insert(received_.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
}

std::unique_ptr<Talker> make_talker(const CardOptions& options, const hostsim::Scenario& scenario,
                                    std::uint32_t io_delay) {
  return std::make_unique<Talker>(options, pump_named(options.pump, scenario.role, 0),
                                  format_of(card_streams(scenario)), scenario.role, io_delay);
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

void CardCall::add_to(CardSummary& summary) const {
  summary.seconds = static_cast<double>(periods_) / rate_hz_;
  summary.hashed_seconds = static_cast<double>(std::min(periods_, hash_until_)) / rate_hz_;
  summary.hash = fmt::format("{:016x}", hash_);
  summary.hash_played = fmt::format("{:016x}", played_hash_);
}

}  // namespace offhook::command
