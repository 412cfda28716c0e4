// SPDX-License-Identifier: MIT
//
// `offhook modem kernel`: a call of the kernel driver's modem.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>

#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "driver/kernel/kernel_modem.h"
#include "driver/kernel/kernel_transfer.h"
#include "hostsim/channel/line_config.h"
#include "hostsim/channel/loop.h"
#include "src/lab/analysis/figures.h"
#include "src/measure/host_description.h"
#include "src/program/command/kernel_call.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "src/program/command/times.h"
#include "traces/log/clock.h"
#include "traces/log/header.h"
#include "traces/log/writer.h"

namespace offhook::command {
namespace {

constexpr double kReleaseS = 5;  ///< in line time, so that link and pump can end the call at the far end

struct KernelOptions {
  std::string device = "/dev/offhook0", pump = "v34", role = "call", send, receive, log;
  std::vector<std::string> contexts = {"FIFO 50"};
  double seconds = 20, timeout = 600;
  std::uint32_t block = 0, lead = 0;  ///< periods; 0: the card's usual number
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

/// @param symbol  in the kernel's form: NAME+0x12/0x34 [offhook]  @return the same with the C++ name demangled
std::string place(std::string_view symbol) {
  const std::size_t end = symbol.find('+');
  const std::string name(symbol.substr(0, end));
  const std::unique_ptr<char, decltype(&std::free)> words(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr),
                                                          &std::free);
  return words == nullptr ? std::string(symbol)
                          : words.get() + std::string(symbol.substr(std::min(end, symbol.size())));
}

struct KernelCallResult {
  double rate_hz;
  const KernelTransfer* transfer;
  oh_kernel_status status;
  const Figures& figures;
};

using KernelCallResultKeys = record::Written<KernelCallResult>;
constexpr record::Row kKernelCallRows[] = {
    KernelCallResultKeys::of("context", "", "context of the service at the end",
                             [](const KernelCallResult& k) { return k.transfer->context().str(); }),
    KernelCallResultKeys::of("switches", "", "switches of context during the call",
                             [](const KernelCallResult& k) { return k.transfer->switches(); }),
    KernelCallResultKeys::of("card", "", "no call, in call or failed",
                             [](const KernelCallResult& k) {
                               return k.status.card == OH_KERNEL_CARD_FAILED ? "failed"
                                      : k.status.card == OH_KERNEL_IN_CALL   ? "in call"
                                                                             : "no call";
                             }),
    KernelCallResultKeys::of("connected", "", "whether data mode was reached",
                             [](const KernelCallResult& k) { return k.transfer->connected(); }),
    KernelCallResultKeys::of("tx_bit_rate", "bit/s", "bit rate sent in the last data mode",
                             [](const KernelCallResult& k) { return k.transfer->tx_bit_rate(); }),
    KernelCallResultKeys::of("rx_bit_rate", "bit/s", "bit rate received in the last data mode",
                             [](const KernelCallResult& k) { return k.transfer->rx_bit_rate(); }),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::retrains>("retrains", "",
                                                                                     "retrains of the near pump"),
    KernelCallResultKeys::of("sent", "bytes", "bytes of the user; cells of a DMT pump",
                             [](const KernelCallResult& k) { return k.transfer->sent(); }),
    KernelCallResultKeys::of("received", "bytes", "bytes of the user; cells of a DMT pump",
                             [](const KernelCallResult& k) { return k.transfer->received().size(); }),
    KernelCallResultKeys::of(
        "seconds", "s", "line time",
        [](const KernelCallResult& k) { return static_cast<double>(k.status.samples) / k.rate_hz; }),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::interrupts>(
        "interrupts", "", "interrupts with at least one new descriptor"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::coalesced>(
        "coalesced", "", "descriptors without an interrupt of their own"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::spurious>(
        "spurious", "", "interrupts without a new descriptor"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::bad>(
        "bad", "", "malformed descriptors (wrong sequence number or position)"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::storms>(
        "storms", "", "times that the interrupt was masked because of a storm"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::overrun>(
        "overrun", "sample periods", "received samples that were lost, by the card's counter"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::underrun>(
        "underrun", "sample periods", "samples missing when due for sending, by the card's counter"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::blocks>("blocks", "", "blocks served"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::blocks_late>(
        "blocks_late", "", "blocks served after their samples were due"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::samples_late>(
        "samples_late", "sample periods", "late samples"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::samples_filled_in>(
        "samples_filled_in", "sample periods", "samples replaced by silence"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::pending_max>(
        "pending_max", "sample periods", "greatest number of samples that waited for service"),
    KernelCallResultKeys::of("longest_section_us", "us", "longest section that held the FPU",
                             [](const KernelCallResult& k) { return k.status.longest_section_ns / 1000.0; }),
    KernelCallResultKeys::of(
        "longest_section", "", "code at which that section began and ended; empty: no section",
        [](const KernelCallResult& k) {
          return std::vector{place(k.status.longest_section_from), place(k.status.longest_section_to)};
        }),
    KernelCallResultKeys::of(
        "latency_max_us", "us", "longest time from interrupt to service, measured by the driver",
        [](const KernelCallResult& k) { return static_cast<double>(k.status.latency.max_ns) / 1000.0; }),
    KernelCallResultKeys::of("pending_samples.p50", "sample periods", "samples that waited at a service: median",
                             [](const KernelCallResult& k) { return k.figures.pending_samples.quantile(0.5); }),
    KernelCallResultKeys::of("pending_samples.p99", "sample periods",
                             "samples that waited at a service: 99th percentile",
                             [](const KernelCallResult& k) { return k.figures.pending_samples.quantile(0.99); }),
    KernelCallResultKeys::of("pending_samples.max", "sample periods", "the same, greatest",
                             [](const KernelCallResult& k) { return k.figures.pending_samples.max(); }),
    KernelCallResultKeys::part(
        "interrupt_to_service", kQuantiles,
        [](const KernelCallResult& k) -> const LogLinearHistogram& { return k.figures.interrupt_to_service; })
        .described_apart("time from interrupt to service, from the log"),
    KernelCallResultKeys::part(
        "service_time", kQuantiles,
        [](const KernelCallResult& k) -> const LogLinearHistogram& { return k.figures.service_run_elapsed; })
        .described_apart("time of the service, from the log"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::cells_sent>("cells.sent", "",
                                                                                       "ATM cells sent, of a DMT pump"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::cells_received>("cells.received", "",
                                                                                           "ATM cells received"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::cells_idle>("cells.idle", "", "idle cells"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::hec_errors>("cells.hec_errors", "",
                                                                                       "cells with a wrong header"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::delineation_losses>(
        "cells.delineation_losses", "", "times that cell delineation was lost"),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::cells_unread>(
        "cells.unread", "", "cells received and dropped because no program read them"),
    KernelCallResultKeys::of("log_events", "", "events read from the log",
                             [](const KernelCallResult& k) { return k.transfer->log_events(); }),
    KernelCallResultKeys::of<&KernelCallResult::status, &oh_kernel_status::log_lost>(
        "log_lost", "", "events dropped because the log was full"),
};

/// The call and its result.
class KernelCall {
 public:
  explicit KernelCall(const KernelOptions& options) : options_(options) {
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
      header.scenario.clock = traces::live_clock();
      header.scenario.context = transfer_->context().str();
      log_.emplace(OutputFile(options.log, Privacy::kPrivate, Appears::kAtOnce), traces::to_json(header));
    }
  }

  /// @return whether the call ended as expected
  bool run() {
    transfer_->begin();
    begun_ = std::chrono::steady_clock::now();
    const bool whole = follow();
    transfer_->end();
    analyzer_.finish();
    if (log_) log_->close();
    return whole;
  }

  KernelCallResult result() const {
    return {.rate_hz = options_.rate_hz(),
            .transfer = &*transfer_,
            .status = transfer_->status(),
            .figures = analyzer_.figures()};
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
        // Some modems leave when the link is released, and do not answer a cleardown.
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

  KernelOptions options_;
  std::optional<KernelModem> modem_;
  std::optional<traces::LogWriter> log_;
  Analyzer analyzer_;
  std::chrono::steady_clock::time_point begun_;
  std::optional<KernelTransfer> transfer_;
};

int run(const KernelOptions& options) {
  catch_interrupts();
  KernelCall call(options);
  const bool whole = call.run();
  if (!options.receive.empty()) {
    write_file(options.receive, {reinterpret_cast<const char*>(call.received().data()), call.received().size()},
               Privacy::kPrivate);
  }
  const KernelCallResult result = call.result();
  say("{}\n", Lines(record::json_text(kKernelCall, &result)));
  if (interrupted()) return interrupt_status();
  return whole ? kOk : kInsufficient;
}

}  // namespace

constexpr record::Table kKernelCall{kKernelCallRows};

void add_kernel(App& modem, Action& action) {
  App* sub = modem.add_subcommand("kernel", "Make a call with a modem of the kernel driver");
  auto options = std::make_shared<KernelOptions>();
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
                  "loop. Octets are ATM cells of 52 octets; the remote end calls, and the central end answers")
      ->check(one_of({"v90", "v34", "v32bis", "v22bis", "dmt"}));
  sub->add_flag("--no-v42", options->no_v42, "Start-stop characters (V.14) without error control, as with AT\\N0");
  sub->add_option("--role", options->role, "Role of this modem: call or answer")->check(one_of({"call", "answer"}));
  sub->add_option("--send", options->send, "File to send, up to 64 KiB at once")->type_name("FILE");
  sub->add_option("--receive", options->receive, "File for the received data")->type_name("FILE");
  sub->add_option("--log", options->log, "File for the event log, for offhook report and report export")
      ->type_name("FILE");
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
  modprobe offhook && offhook modem kernel --context INT --send README.md --receive got --log call.ohlog
  offhook modem kernel --context INT SOFTIRQ "FIFO 50" "RES 2ms/8ms" WORKER --switch 100

The result is one line of JSON (docs/kernel.md).

Exit status: 0 connected, 1 error, 2 no connection, or the card failed, 130 interrupted.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
