// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "driver/base/colour.h"
#include "driver/base/file.h"
#include "driver/base/output.h"
#include "driver/base/prose.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/lab/sweep/plan.h"
#include "src/program/command/figures.h"
#include "src/program/command/folder.h"
#include "src/program/command/kernel_call.h"
#include "src/program/command/kernel_run.h"
#include "src/program/command/program.h"
#include "src/program/command/run_folder.h"
#include "src/program/command/socket_modem.h"
#include "src/report/words.h"
#include "traces/scenario/context_words.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

struct RunOptions {
  std::string scenario, file, out, context, far_end, expect, host, figures, reference = "auto";
  std::optional<std::uint64_t> seed;
  std::vector<std::string> set;
  TextOutput json;
};

hostsim::Scenario scenario_of(const RunOptions& options) {
  config::ScenarioBuilder builder;
  if (!options.host.empty()) builder.set(kKernelHost);
  builder.apply_file(options.scenario);
  if (!options.context.empty()) builder.apply(config::Document::setting("context", options.context, "--context"));
  if (options.seed) builder.set(fmt::format("seed={}", *options.seed));
  for (const std::string& assignment : options.set) builder.set(assignment);
  return builder.finish();
}

void add_rows(Table* table, const record::Table& of, std::initializer_list<const void*> subjects) {
  for (const auto& [what, value] : record::labelled(of, subjects)) table->row({what, value});
}

void add_in_data(Table* table, double after_s) {
  table->row({"in data mode after, s", after_s < 0 ? "never" : fmt::format("{:.3f}", after_s)});
}

void add_pages(Table* table, const hostsim::FaxStatus& fax) {
  add_rows(table, kFaxStatus, {&fax});
  for (const auto& page : fax.pages)
    table->row({fmt::format("page {}", page.page),
                fmt::format("{} bit/s, {}, after {:.1f} s", page.bit_rate, page.modulation, page.taken_s)});
}

std::string in_words(const RunSummary::Compression& c, std::uint64_t bytes) {
  if (!c.sent && !c.received) return "not negotiated";
  return fmt::format("{}, {} octets for {} bytes",
                     c.sent && c.received ? "both ways"
                     : c.sent             ? "sent"
                                          : "received",
                     c.octets, bytes);
}

/// The report of the pump about itself, or of the DSL, radio or fax in its place.
void add_pump(Table& table, const RunSummary& run) {
  if (run.dmt) {
    add_in_data(&table, run.dmt->trained_s);
    add_rows(&table, kDmtStatus, {run.dmt.get()});
    add_rows(&table, kDmtDirection, {&run.dmt->down, &run.dmt->up});
  }
  if (run.radio) {
    add_in_data(&table, run.radio->connected_s);
    add_rows(&table, kRadioStatus, {run.radio.get()});
    add_rows(&table, kRadioDirection, {&run.radio->received, &run.radio->sent});
    table.row(
        {fmt::format("longest service, per slot of {} ms", 1e3 * run.radio->slot_s),
         fmt::format("{:.3f}", of_slot(*run.radio, static_cast<double>(run.figures->interrupt_to_output.max())))});
  }
  if (run.pump) {
    add_in_data(&table, run.pump->connected_s);
    add_rows(&table, kPumpStatus, {run.pump.get()});
    add_rows(&table, kPumpDirection, {&run.pump->received, &run.pump->sent});
    for (const auto& m : run.pump->metrics)
      table.row({m.unit.empty() ? m.name : m.name + ", " + m.unit, fmt::format("{:.6g}", m.value)});
  }
  if (run.fax) add_pages(&table, *run.fax);
}

void print_table(const RunSummary& run, const hostsim::Scenario& scenario) {
  const PhaseFigures& total = run.figures->total;
  Table table;
  table.column(fmt::format(
      "{}, {}", run.name,
      run.kernel ? scenario.context.str() : config::context_in_full(scenario.context, scenario.host.tick_hz)));
  table.column("");
  const auto row = [&](const char* what, std::string value) { table.row({what, std::move(value)}); };
  const auto count = [&](const char* what, std::uint64_t n) { row(what, std::to_string(n)); };
  row("verdict", run.verdict);
  row("ended with", run.ending);
  const std::uint64_t bytes = run.bytes.value_or(0), delivered = run.bytes_delivered.value_or(0);
  if (run.device) {
    row("buffers", fmt::format("{} of {} samples", run.device->buffers, run.device->buffer_samples));
  } else {
    row("bytes delivered", fmt::format("{} of {}", delivered, bytes));
    if (run.complete) row("transfer time, s", fmt::format("{:.3f}", run.transfer_s));
  }
  if (run.mnp_class != 0) row("error control", fmt::format("MNP class {}", run.mnp_class));
  if (run.coding) row(run.coding->by.c_str(), in_words(*run.coding, delivered));
  if (run.hold) row("modem-on-hold", hold_in_words(*run.hold));
  if (run.reference)
    row("same call in INT, s",
        run.reference->complete ? fmt::format("{:.3f}", run.reference->transfer_s) : "not complete");
  row(run.line_s ? "line time, s" : "simulated time, s",
      fmt::format("{:.3f}", run.line_s.value_or(run.simulated_s.value_or(0))));
  count("blocks served", total.blocks);
  count("blocks late", total.losses.blocks_late);
  count("samples pending, max", total.pending_max);
  if (run.device)
    row("samples pending, in buffers", fmt::format("{:.2f}", 1.0 * total.pending_max / run.device->buffer_samples));
  add_pump(table, run);
  count("underrun, samples", total.losses.underrun_samples);
  count("overrun, samples", total.losses.overrun_samples);
  if (const Figures::End& near = run.figures->ends[0]; !run.device && near.data_modes > 0) {
    row("bit/s sent, received", fmt::format("{}, {}", near.sent_bps, near.received_bps));
    count("retrains and rate changes", near.data_modes - 1);
  }
  if (!run.device) {
    count("frames sent again, near", run.figures->ends[0].frames_retransmitted);
    count("frames sent again, far", run.figures->ends[1].frames_retransmitted);
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

/// The same call in INT, under the same load: "on time" is relative to INT's time. Without a loss, the far end received
/// the signal of INT, so a comparison is useless. @return none if it is not needed or not possible
std::optional<CallOutcome> reference_call(const RunOptions& options, const hostsim::Scenario& scenario,
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

/// As on the page: green only if nothing was lost, red only if samples were lost.
Tone tone_of_call(const RunSummary& run) {
  const Tone tone = tone_of(run.verdict);
  if (tone == Tone::kGood && run.lost) return Tone::kDoubtful;
  return tone == Tone::kBad && !run.device && !run.lost ? Tone::kNone : tone;
}

/// On standard error: reports that an earlier run with other keys is replaced, and which keys differ.
void note_replaced(const OutputFolder& folder, const hostsim::Scenario& scenario) {
  if (const std::string keys = changed_keys(folder.path(), scenario); !keys.empty())
    say(stderr, "offhook: {}: replacing the result of a run with another configuration ({})\n", folder.path().string(),
        keys);
}

int run(const RunOptions& options) {
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
  const CallRunner runner =
      device ? [&](const hostsim::Scenario& call,
                   const CallSinks& sinks) { return run_kernel_call(*device, call, octets(file), sinks); }
             : simulated(octets(file), far);
  note_replaced(folder, scenario);
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
  const RunSummary summary = summarise(scenario, outcome, folder, reference);
  write_figures(folder / kReportName, options.figures);
  options.json.write(record::json_text(kRunSummary, &summary, 1));
  if (!options.json.alone()) {
    print_table(summary, scenario);
    say("\n{}\n", Coloured(stdout, tone_of_call(summary), summary.headline));
    for (const std::string& reason : summary.reasons) say("{}", prose(reason, 2));
    say("report: {}\n", (folder / kReportName).string());
  }
  if (outcome.stopped || interrupted()) return interrupt_status();
  return summary.verdict == to_string(Verdict::kSufficient) ? kOk : kInsufficient;
}

}  // namespace

void add_run(App& app, Action& action) {
  App* sub = app.add_subcommand("run", "Run one call that transfers a file, in one context");
  auto options = std::make_shared<RunOptions>();
  sub->add_option("scenario", options->scenario, "Scenario file (keys: offhook help keys scenario)")
      ->required()
      ->type_name("SCENARIO.toml");
  sub->add_option("--file", options->file, "Transfer this file instead of transfer.bytes of random data")
      ->type_name("FILE");
  Option* host =
      sub->add_option(
             "--host", options->host,
             "kernel or kernel:N: use modem N (0) of the kernel driver on this machine instead of a simulated host")
          ->type_name("HOST");
  Option* far_end =
      sub->add_option(
             "--far-end", options->far_end,
             "Use an external program as the far-end modem (s16le mono samples, lock-step, UNIX stream socket)")
          ->type_name("unix:PATH[,rate=8000|9600][,block=N][,ahead=N][,patience=S]")
          ->excludes(host);
  sub->add_option("--expect", options->expect, "File that the external modem is expected to send")
      ->type_name("FILE")
      ->needs(far_end);
  sub->add_option(
         "--reference", options->reference,
         "Also run the call in INT as a baseline: auto (if samples were lost and the file arrived), always, never")
      ->type_name("WHEN")
      ->check(one_of({"auto", "always", "never"}));
  sub->add_option("-o,--out", options->out, "Output folder (default: out/NAME)")->type_name("DIR");
  add_figures(*sub, options->figures);
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
blocks and file come from the scenario. The card provides the line and the far modem; `offhook line card --scenario
SCENARIO.toml` takes them from the same scenario. Log times are kernel times; the transfer time is counted in line
samples. No line.wav is written.

--far-end connects to PATH if a program listens at PATH. If not, it makes the socket and waits. Both sides then exchange
N samples at a time, as fast as possible: Offhook writes first. RATE is 8000 (the default) or 9600 Hz; N is 20 ms by
default. AHEAD is the number of samples that the peer writes before it reads, for example to fill a sound card's queue.
Offhook sends --file. The call ends when --file is acknowledged and --expect has arrived, or when the peer leaves.
With link.error_control = "none" nothing is acknowledged: bytes are sent as start-stop characters from one second after
data mode starts. There is no baseline call in INT. A call is marginal if it takes longer than 2.4 s plus twice the time
that the bit rate needs.

`offhook help keys scenario` lists the keys of a scenario with their defaults, and `offhook help keys load`
the keys of competing devices.)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
