// SPDX-License-Identifier: MIT
//
// `offhook kernel`: a call of the kernel driver's modem.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "driver/base/json.h"
#include "driver/base/output.h"
#include "driver/base/terminal.h"
#include "driver/kernel/kernel_modem.h"
#include "driver/kernel/kernel_transfer.h"
#include "hostsim/channel/line_config.h"
#include "hostsim/channel/loop.h"
#include "src/lab/analysis/figures.h"
#include "src/measure/host_description.h"
#include "src/program/command/kernel_call.h"
#include "src/program/command/program.h"
#include "src/program/command/times.h"
#include "traces/log/clock.h"
#include "traces/log/header.h"
#include "traces/log/writer.h"

namespace offhook::command {
namespace {

constexpr double kReleaseS = 5;  ///< of the line: for link and pump to end the call at the far end

struct Options {
  std::string device = "/dev/offhook0", pump = "v34", role = "call", send, receive, log;
  std::vector<std::string> contexts = {"FIFO 50"};
  double seconds = 20, timeout = 600;
  std::uint32_t block = 0, lead = 0;  ///< periods; 0: the card's usual ones
  int switches = 0;
  bool drop = false, no_v42 = false;

  bool on_a_loop() const { return pump == "dmt"; }
  /// The card's periods.
  double rate_hz() const { return on_a_loop() ? hostsim::kUpstreamHz : hostsim::kLineRateHz; }
  oh_kernel_call call() const {
    oh_kernel_call call = plain_kernel_call(role == "call" ? OH_PUMP_CALL : OH_PUMP_ANSWER, pump,
                                            block != 0    ? block
                                            : on_a_loop() ? kKernelLoopBlock
                                                          : kKernelBlock,
                                            lead != 0     ? lead
                                            : on_a_loop() ? kKernelLoopLead
                                                          : kKernelLead);
    if (no_v42) call.link.error_control = OH_ERROR_CONTROL_NONE;
    return call;
  }
};

std::vector<ContextSpec> contexts_of(const std::vector<std::string>& texts) {
  std::vector<ContextSpec> contexts;
  contexts.reserve(texts.size());
  for (const std::string& text : texts) contexts.push_back(ContextSpec::parse(text));
  return contexts;
}

/// @param symbol  in the kernel's form: NAME+0x12/0x34 [offhook]  @return the same with a name of C++ in words
std::string place(std::string_view symbol) {
  const std::size_t end = symbol.find('+');
  const std::string name(symbol.substr(0, end));
  const std::unique_ptr<char, decltype(&std::free)> words(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr),
                                                          &std::free);
  return words == nullptr ? std::string(symbol)
                          : words.get() + std::string(symbol.substr(std::min(end, symbol.size())));
}

/// The call and its result.
class KernelCall {
 public:
  explicit KernelCall(const Options& options) : options_(options) {
    KernelTransfer::Config config{.call = options.call(),
                                  .contexts = contexts_of(options.contexts),
                                  .switches = options.switches,
                                  .switch_samples = static_cast<std::uint64_t>(options.seconds * options.rate_hz()),
                                  .to_send = octets_to_send(options.send, options.on_a_loop()),
                                  .events = [this](auto events, auto lost) { take(events, lost); }};
    modem_.emplace(options.device);
    transfer_.emplace(*modem_, std::move(config));
    if (!options.log.empty()) {
      traces::LogHeader header;
      header.drivers = {{kKernelDriverId, "kernel modem"}};
      header.host = measure::host_description();
      header.scenario["clock"] = traces::live_clock();
      header.scenario["context"] = transfer_->context().str();
      log_.emplace(OutputFile(options.log, Privacy::kPrivate, Appears::kAtOnce), traces::to_json(header));
    }
  }

  /// @return whether the call ended as it should
  bool run() {
    transfer_->begin();
    begun_ = std::chrono::steady_clock::now();
    const bool whole = follow();
    transfer_->end();
    analyzer_.finish();
    if (log_) log_->close();
    return whole;
  }

  nlohmann::ordered_json summary() const {
    const oh_kernel_status& s = transfer_->status();
    const Figures& f = analyzer_.figures();
    return {{"context", transfer_->context().str()},
            {"switches", transfer_->switches()},
            {"card", s.card == OH_KERNEL_CARD_FAILED ? "failed"
                     : s.card == OH_KERNEL_IN_CALL   ? "in call"
                                                     : "no call"},
            {"connected", transfer_->connected()},
            {"tx_bit_rate", transfer_->tx_bit_rate()},
            {"rx_bit_rate", transfer_->rx_bit_rate()},
            {"retrains", s.retrains},
            {"sent", transfer_->sent()},
            {"received", transfer_->received().size()},
            {"seconds", static_cast<double>(s.samples) / options_.rate_hz()},
            {"interrupts", s.interrupts},
            {"coalesced", s.coalesced},
            {"spurious", s.spurious},
            {"bad", s.bad},
            {"storms", s.storms},
            {"overrun", s.overrun},
            {"underrun", s.underrun},
            {"blocks", s.blocks},
            {"blocks_late", s.blocks_late},
            {"samples_late", s.samples_late},
            {"samples_filled_in", s.samples_filled_in},
            {"pending_max", s.pending_max},
            {"longest_section_us", s.longest_section_ns / 1000.0},
            {"longest_section", {place(s.longest_section_from), place(s.longest_section_to)}},
            {"latency_max_us", static_cast<double>(s.latency.max_ns) / 1000.0},
            {"pending_samples",
             {{"p50", f.pending_samples.quantile(0.5)},
              {"p99", f.pending_samples.quantile(0.99)},
              {"max", f.pending_samples.max()}}},
            {"interrupt_to_service", quantiles_us(f.interrupt_to_service)},
            {"service_time", quantiles_us(f.service_run_elapsed)},
            {"cells",
             {{"sent", s.cells_sent},
              {"received", s.cells_received},
              {"idle", s.cells_idle},
              {"hec_errors", s.hec_errors},
              {"delineation_losses", s.delineation_losses},
              {"unread", s.cells_unread}}},
            {"log_events", transfer_->log_events()},
            {"log_lost", s.log_lost}};
  }
  const std::vector<std::uint8_t>& received() const { return transfer_->received(); }

 private:
  bool follow() {
    double hung_up_s = -1;
    for (;; transfer_->wait()) {
      const oh_kernel_status& s = transfer_->look();
      const std::chrono::duration<double> past = std::chrono::steady_clock::now() - begun_;
      if (s.card != OH_KERNEL_IN_CALL || interrupted() || past.count() > options_.timeout) return false;
      const double line_s = static_cast<double>(s.samples) / options_.rate_hz();
      const bool over = s.pump == OH_PUMP_IDLE || s.pump == OH_PUMP_FAILED;
      if (hung_up_s >= 0) {
        // Some modems leave as soon as the link is released, and do not answer a cleardown.
        if (over || line_s > hung_up_s + kReleaseS) return transfer_->connected();
        continue;
      }
      if (s.pump == OH_PUMP_FAILED) return false;
      if (line_s < options_.seconds) continue;
      if (!transfer_->connected() || over) return false;
      if (options_.drop) return true;
      transfer_->hang_up();
      hung_up_s = line_s;
    }
  }
  void take(std::span<const oh_event> events, std::uint64_t lost) {
    for (const oh_event& event : events) analyzer_.add(event);
    if (log_) log_->append(0, events, lost);
  }

  Options options_;
  std::optional<KernelModem> modem_;
  std::optional<traces::LogWriter> log_;
  Analyzer analyzer_;
  std::chrono::steady_clock::time_point begun_;
  std::optional<KernelTransfer> transfer_;
};

int run(const Options& options) {
  catch_interrupts();
  KernelCall call(options);
  const bool whole = call.run();
  if (!options.receive.empty()) {
    write_file(options.receive, {reinterpret_cast<const char*>(call.received().data()), call.received().size()},
               Privacy::kPrivate);
  }
  say("{}\n", Lines(json_text(call.summary())));
  if (interrupted()) return interrupt_status();
  return whole ? kOk : kInsufficient;
}

}  // namespace

void add_kernel(App& app, Action& action) {
  App* sub = app.add_subcommand("kernel", "Make a call with a modem of the kernel driver");
  auto options = std::make_shared<Options>();
  sub->add_option("device", options->device, "Device file of the kernel module offhook")->type_name("DEVICE");
  sub->add_option("--context", options->contexts,
                  "INT, SOFTIRQ, THREADED, WORKER, \"FIFO 50\", \"RR 10\", \"OTHER 0\" or \"RES 2ms/8ms\"; several "
                  "with --switch")
      ->type_name("CONTEXT")
      ->expected(1, 64);
  sub->add_option("--switch", options->switches, "Switch to the next of the contexts N times during the call")
      ->type_name("N")
      ->check(in_range(0, 1'000'000));
  sub->add_option("--pump", options->pump,
                  "Modulation; v90: needs a card at an end of a digital trunk; dmt: ADSL on a card of a subscriber "
                  "loop, octets are ATM cells of 52, the remote end calls and the central end answers")
      ->check(one_of({"v90", "v34", "v32bis", "v22bis", "dmt"}));
  sub->add_flag("--no-v42", options->no_v42, "Start-stop characters (V.14) without error control, as with AT\\N0");
  sub->add_option("--role", options->role, "Role of this modem: call or answer")->check(one_of({"call", "answer"}));
  sub->add_option("--send", options->send, "File to send, up to 64 KiB at once")->type_name("FILE");
  sub->add_option("--receive", options->receive, "File for the received data")->type_name("FILE");
  sub->add_option("--log", options->log, "File for the event log, for offhook report and export")->type_name("FILE");
  sub->add_option("--seconds", options->seconds, "Line time after which the modem hangs up")
      ->type_name("S")
      ->check(in_range(0.001, 1e9));
  sub->add_flag("--drop", options->drop, "Go on hook at the end without a message to the far end");
  sub->add_option("--timeout", options->timeout, "Give up after S seconds of wall-clock time")
      ->type_name("S")
      ->check(in_range(0.001, 1e9));
  sub->add_option("--block", options->block, "Samples per interrupt")->type_name("N");
  sub->add_option("--lead", options->lead, "Samples queued ahead of the codec")->type_name("N");
  sub->footer(R"(Examples:
  modprobe offhook && offhook kernel --context INT --send README.md --receive got --log call.ohlog
  offhook kernel --context INT SOFTIRQ "FIFO 50" "RES 2ms/8ms" WORKER --switch 100

The result is one line of JSON (docs/kernel.md).

Exit status: 0 connected, 1 error, 2 no connection, or the card failed, 130 interrupted.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
