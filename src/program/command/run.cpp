// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "driver/base/colour.h"
#include "driver/base/file.h"
#include "driver/base/json.h"
#include "driver/base/output.h"
#include "driver/base/prose.h"
#include "driver/base/terminal.h"
#include "src/lab/sweep/plan.h"
#include "src/program/command/folder.h"
#include "src/program/command/kernel_call.h"
#include "src/program/command/kernel_run.h"
#include "src/program/command/program.h"
#include "src/program/command/run_folder.h"
#include "src/program/command/socket_modem.h"
#include "traces/scenario/context_words.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

struct Options {
  std::string scenario, file, out, context, far_end, expect, host, reference = "auto";
  std::optional<std::uint64_t> seed;
  std::vector<std::string> set;
  TextOutput json;
};

hostsim::Scenario scenario_of(const Options& options) {
  config::ScenarioBuilder builder;
  if (!options.host.empty()) builder.set(kKernelHost);
  builder.apply_file(options.scenario);
  if (!options.context.empty()) builder.apply(config::Document::setting("context", options.context, "--context"));
  if (options.seed) builder.set(fmt::format("seed={}", *options.seed));
  for (const std::string& assignment : options.set) builder.set(assignment);
  return builder.finish();
}

void add_dmt(Table* table, const nlohmann::ordered_json& dmt) {
  const auto both = [&](const char* what, const char* key) {
    table->row({what, fmt::format("{}, {}", dmt.at("down").at(key).dump(), dmt.at("up").at(key).dump())});
  };
  const double trained_s = dmt.at("trained_s").get<double>();
  table->row({"in data mode after, s", trained_s < 0 ? "never" : fmt::format("{:.3f}", trained_s)});
  table->row({"trainings", dmt.at("trainings").dump()});
  table->row({"fast retrains", dmt.at("fast_retrains").dump()});
  both("bit/s gross, down and up", "gross_bit_rate");
  both("bit/s net", "net_bit_rate");
  both("trellis code, bits per symbol", "trellis_bits");
  both("bit/s gross by the loop alone", "loop_bit_rate");
  both("capacity, bit/s", "capacity_bit_rate");
  both("least margin, dB", "margin_db");
  both("least margin after data mode, dB", "margin_now_db");
  both("bits swapped", "swapped_bits");
  both("superframes", "superframes");
  both("superframes wrong", "crc_errors");
  both("octets corrected", "corrected_octets");
  both("words beyond correction", "lost_words");
  both("bits compared", "bits_compared");
  both("bits wrong", "wrong_bits");
  if (!dmt.at("down").contains("cells")) return;
  both("ATM cells received", "cells");
  both("idle cells", "idle_cells");
  both("HEC errors", "hec_errors");
  both("cell delineation lost", "delineation_losses");
}

void add_radio(Table* table, const nlohmann::ordered_json& radio) {
  const auto both = [&](const char* what, const char* key) {
    table->row({what, fmt::format("{}, {}", radio.at("received").at(key).dump(), radio.at("sent").at(key).dump())});
  };
  const auto ratio = [&](const char* what, const char* key) {
    table->row({what, fmt::format("{:.2g}, {:.2g}", radio.at("received").at(key).get<double>(),
                                  radio.at("sent").at(key).get<double>())});
  };
  const double connected_s = radio.at("connected_s").get<double>();
  table->row({"in data mode after, s", connected_s < 0 ? "never" : fmt::format("{:.3f}", connected_s)});
  table->row({"links lost", radio.at("retrains").dump()});
  both("bit/s, received and sent", "bit_rate");
  both("SNR, dB", "snr_db");
  both("bursts due", "bursts_due");
  both("bursts not heard", "bursts_missed");
  both("bursts broken", "bursts_broken");
  both("of these, because the host was late", "bursts_late");
  ratio("miss ratio", "miss_ratio");
  ratio("miss ratio, upper bound, 95 %", "miss_ratio_at_most");
  both("bits compared", "bits_compared");
  both("bits wrong", "wrong_bits");
  table->row({fmt::format("longest service, per slot of {} ms", radio.at("slot_ms").dump()),
              fmt::format("{:.3f}", radio.at("longest_service_of_slot").get<double>())});
}

void print_table(const nlohmann::ordered_json& summary, const hostsim::Scenario& scenario) {
  const auto& figures = summary.at("figures");
  const auto& total = figures.at("total");
  Table table;
  table.column(fmt::format("{}, {}", summary.at("name").get<std::string>(),
                           summary.contains("kernel")
                               ? scenario.context.str()
                               : config::context_in_full(scenario.context, scenario.host.tick_hz)));
  table.column("");
  const auto row = [&](const char* what, std::string value) { table.row({what, std::move(value)}); };
  row("verdict", summary.at("verdict").get<std::string>());
  row("ended with", summary.at("ending").get<std::string>());
  const auto device = summary.find("device");
  const bool modem = device == summary.end();
  if (modem) {
    row("bytes delivered", fmt::format("{} of {}", summary.at("bytes_delivered").get<std::uint64_t>(),
                                       summary.at("bytes").get<std::uint64_t>()));
  } else {
    row("buffers", fmt::format("{} of {} samples", device->at("buffers").get<std::uint64_t>(),
                               device->at("buffer_samples").get<std::uint64_t>()));
  }
  if (modem && summary.at("complete").get<bool>()) {
    row("transfer time, s", fmt::format("{:.3f}", summary.at("transfer_s").get<double>()));
  }
  if (summary.contains("compression")) {
    const auto& c = summary.at("compression");
    const auto octets = c.at("octets").get<std::uint64_t>();
    const bool sent = c.at("sent").get<bool>(), received = c.at("received").get<bool>();
    row(c.value("by", "V.42bis").c_str(),
        !sent && !received ? "not negotiated"
                           : fmt::format("{}, {} octets for {} bytes",
                                         sent && received ? "both ways"
                                         : sent           ? "sent"
                                                          : "received",
                                         octets, summary.at("bytes_delivered").get<std::uint64_t>()));
  }
  if (const auto hold = summary.find("hold"); hold != summary.end()) row("modem-on-hold", hold_in_words(*hold));
  if (const auto reference = summary.find("reference"); reference != summary.end()) {
    row("same call in INT, s", reference->at("complete").get<bool>()
                                   ? fmt::format("{:.3f}", reference->at("transfer_s").get<double>())
                                   : "not complete");
  }
  if (const auto line = summary.find("line_s"); line != summary.end()) {
    row("line time, s", fmt::format("{:.3f}", line->get<double>()));
  } else {
    row("simulated time, s", fmt::format("{:.3f}", summary.at("simulated_s").get<double>()));
  }
  row("blocks served", total.at("blocks").dump());
  row("blocks late", total.at("blocks_late").dump());
  row("samples pending, max", total.at("pending_max_samples").dump());
  if (!modem) {
    row("samples pending, in buffers", fmt::format("{:.2f}", total.at("pending_max_samples").get<double>() /
                                                                 device->at("buffer_samples").get<double>()));
  }
  if (const auto dmt = summary.find("dmt"); dmt != summary.end()) add_dmt(&table, *dmt);
  if (const auto radio = summary.find("radio"); radio != summary.end()) add_radio(&table, *radio);
  row("underrun, samples", total.at("underrun_samples").dump());
  row("overrun, samples", total.at("overrun_samples").dump());
  if (const auto& near = figures.at("ends")[0]; modem && near.at("data_modes").get<int>() > 0) {
    row("bit/s sent, received", near.at("sent_bps").dump() + ", " + near.at("received_bps").dump());
    row("retrains and rate changes", fmt::format("{}", near.at("data_modes").get<int>() - 1));
  }
  for (std::size_t end = 0; modem && end < figures.at("ends").size(); ++end) {
    row(end == 0 ? "frames sent again, near" : "frames sent again, far",
        figures.at("ends")[end].at("frames_retransmitted").dump());
  }
  say("{}", table.lines());
}

std::string file_to_transfer(const std::string& name) {
  if (name.empty()) return {};
  std::string file = read_file(name);
  if (file.empty()) throw std::runtime_error(fmt::format("{}: is empty; expected at least one byte to transfer", name));
  return file;
}

std::span<const std::uint8_t> octets(const std::string& s) {
  return {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()};
}

/// The same call in INT, beside the same load: in time means in INT's time. Without a loss the far end heard what it
/// would have heard from INT, and there is nothing to compare. @return none when it is not needed, or not possible
std::optional<CallOutcome> reference_call(const Options& options, const hostsim::Scenario& scenario,
                                          const CallRunner& runner, const CallOutcome& outcome) {
  const std::optional<hostsim::Scenario> in_int = sweep::reference_of(scenario);
  const bool possible = in_int && options.far_end.empty() && !outcome.stopped;
  const bool needed = options.reference == "always" || (outcome.complete && outcome.lost);
  if (!possible || !needed || options.reference == "never") return std::nullopt;
  Progress progress(scenario.name + ": the reference, INT",
                    options.json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
  CallSinks sinks;
  sinks.progress = [&](const CallProgress& p) {
    if (progress.due()) {
      const double all = static_cast<double>(std::max<std::uint64_t>(scenario.bytes, 1));
      progress.update(static_cast<double>(p.bytes_delivered) / all, fmt::format("{:.1f} s simulated", p.simulated_s));
    }
    return !interrupted();
  };
  CallOutcome reference = runner(*in_int, sinks);
  if (reference.stopped) return std::nullopt;
  return reference;
}

/// As the page has it: green only where nothing was lost, red only where something was.
Tone tone_of_call(const nlohmann::ordered_json& summary, const CallOutcome& outcome) {
  const Tone tone = tone_of(summary.at("verdict").get<std::string>());
  if (tone == Tone::kGood && outcome.lost) return Tone::kDoubtful;
  const bool modem = !summary.contains("device") && !summary.contains("dmt");
  return tone == Tone::kBad && modem && !outcome.lost ? Tone::kNone : tone;
}

int run(const Options& options) {
  hostsim::Scenario scenario = scenario_of(options);
  std::unique_ptr<KernelDevice> device;  // null: the host is simulated
  if (!options.host.empty()) {
    (void)kernel_call_of(scenario);
    device = open_kernel_host(options.host);
  }
  const OutputFolder folder(options.out.empty() ? std::filesystem::path("out") / scenario.name
                                                : std::filesystem::path(options.out));
  const std::string file = file_to_transfer(options.file);
  const std::string expected = file_to_transfer(options.expect);
  if (!file.empty()) scenario.bytes = file.size();
  std::unique_ptr<SocketModem> foreign;
  FarSide far;
  catch_interrupts();
  if (!options.far_end.empty()) {
    if (scenario.pump != hostsim::PumpKind::kReal) {
      throw std::runtime_error("--far-end: that modem exchanges samples; expected pump.kind = \"real\"");
    }
    scenario.bytes = file.size() + expected.size();
    foreign = make_far_end(options.far_end, scenario, [] { return !interrupted(); });
    far = {foreign.get(), octets(expected)};
  }
  if (const std::string keys = changed_keys(folder.path(), scenario); !keys.empty())
    say(stderr, "offhook: {}: replacing the result of a run with another configuration ({})\n", folder.path().string(),
        keys);
  const CallRunner runner =
      device ? [&](const hostsim::Scenario& call,
                   const CallSinks& sinks) { return run_kernel_call(*device, call, octets(file), sinks); }
             : simulated(octets(file), far);
  const auto begin = std::chrono::steady_clock::now();
  CallOutcome outcome;
  {
    Progress progress(scenario.name, options.json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    outcome = record_call(
        scenario, folder,
        [&](const CallProgress& p) {
          if (progress.due()) {
            const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            const double all = static_cast<double>(std::max<std::uint64_t>(scenario.bytes, 1));
            const bool soft_device = scenario.pump == hostsim::PumpKind::kDevice;
            progress.update(
                soft_device ? p.simulated_s / scenario.device_s : static_cast<double>(p.bytes_delivered) / all,
                fmt::format("{:.1f} s {}, {:.{}f} x real time", p.simulated_s, device ? "of the line" : "simulated",
                            p.simulated_s / wall, p.simulated_s < 10 * wall ? 1 : 0));
          }
          return !interrupted();
        },
        runner);
  }
  const std::optional<CallOutcome> reference = reference_call(options, scenario, runner, outcome);
  const nlohmann::ordered_json summary = summarise(scenario, outcome, folder, reference);
  options.json.write(json_text(summary, 1));
  if (!options.json.alone()) {
    print_table(summary, scenario);
    say("\n{}\n", Coloured(stdout, tone_of_call(summary, outcome), summary.at("headline").get<std::string>()));
    for (const auto& reason : summary.at("reasons")) say("{}", prose(reason.get<std::string>(), 2));
    say("report: {}\n", (folder / kReportName).string());
  }
  if (outcome.stopped || interrupted()) return interrupt_status();
  return summary.at("verdict") == to_string(Verdict::kSufficient) ? kOk : kInsufficient;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("run", "Run one call that transfers a file, in one context");
  auto options = std::make_shared<Options>();
  sub->add_option("scenario", options->scenario, "Scenario file (keys: offhook keys scenario)")
      ->required()
      ->type_name("SCENARIO.toml");
  sub->add_option("--file", options->file, "Transfer this file instead of transfer.bytes of random data")
      ->type_name("FILE");
  CLI::Option* host =
      sub->add_option(
             "--host", options->host,
             "kernel or kernel:N: use modem N (0) of the kernel driver on this machine instead of a simulated host")
          ->type_name("HOST");
  CLI::Option* far_end =
      sub->add_option(
             "--far-end", options->far_end,
             "Use an external program as the far-end modem (s16le mono samples, lock-step, UNIX stream socket)")
          ->type_name("unix:PATH[,rate=8000|9600][,block=N][,ahead=N][,patience=S]")
          ->excludes(host);
  sub->add_option("--expect", options->expect, "File that the external modem is expected to send (with --far-end)")
      ->type_name("FILE")
      ->needs(far_end);
  sub->add_option(
         "--reference", options->reference,
         "Also run the call in INT as a baseline: auto (if samples were lost and the file arrived), always, never")
      ->type_name("WHEN")
      ->check(one_of({"auto", "always", "never"}));
  sub->add_option("-o,--out", options->out, "Output folder (default: out/NAME)")->type_name("DIR");
  sub->add_option("--context", options->context, "One of: " + context_usage())->type_name("CONTEXT");
  sub->add_option("--seed", options->seed, "Random seed; runs with the same seed are identical")
      ->type_name("N")
      ->check(seed());
  sub->add_option("--set", options->set, "Override one key of the scenario")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_text_output(*sub, kJsonOption, options->json, "Summary as JSON");
  sub->footer(R"(Examples:
  offhook run examples/res-2-8.toml --out out/res-2-8
  offhook run examples/int.toml --context "THR 8" --set load.spinner=true     # starved: exit status 2
  offhook run examples/int.toml --context "THR 24" --set load.device="network ide-dma"
  offhook run examples/int.toml --file README.md --seed 7 --json
  offhook run examples/kernel.toml --host kernel --context SOFTIRQ
  offhook run examples/int.toml --far-end unix:/tmp/modem,rate=9600 --file to-it.bin --expect from-it.bin

The output folder holds events.ohlog (the event log), summary.json, line.wav (left: received, right: sent),
trace.perfetto, report.html and scenario.toml (the effective scenario); with --far-end or --host also received.bin.

Sufficient: the whole file arrived, within 5 % of the time that INT takes under the same load. Marginal: the file
arrived, but took longer. Insufficient: the file did not arrive.

Exit status: 0 sufficient, 1 error, 2 not sufficient, 130 interrupted.

--host kernel makes the call in the contexts of this machine's kernel (module offhook, docs/kernel.md). Pump, context,
blocks and file come from the scenario. The card provides the line and the far modem; `offhook card --scenario
SCENARIO.toml` takes them from the same scenario. Log times are kernel times; the transfer time is counted in line
samples. No line.wav is written.

--far-end connects to PATH if a program listens there. If not, it makes the socket and waits. Both sides then exchange N
samples at a time, as fast as possible: Offhook writes first. RATE is 8000 (the default) or 9600 Hz; N is 20 ms by
default. AHEAD is the number of samples that the peer writes before it reads, for example to fill a sound card's queue.
Offhook sends --file. The call ends when --file is acknowledged and --expect has arrived, or when the peer leaves.
With link.error_control = "none" nothing is acknowledged: bytes are sent as start-stop characters from one second after
data mode starts. There is no baseline call in INT. A call is marginal if it takes longer than 2.4 s plus twice the time
that the bit rate needs.

`offhook keys scenario` lists the keys of a scenario with their defaults, `offhook keys load` those of competing devices.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
