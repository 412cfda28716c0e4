// SPDX-License-Identifier: MIT
//
// `offhook measure device`: a registered pump, a DMT pump, a radio, or the declared work of a device, live.
#include <fmt/format.h>

#include "driver/base/terminal.h"
#include "hostsim/call/pump_call.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/subscriber_call.h"
#include "src/measure/declared_device.h"
#include "src/measure/live_device.h"
#include "src/program/command/call_run.h"
#include "src/program/command/line_watch.h"
#include "src/program/command/measure.h"
#include "src/program/command/page_option.h"
#include "src/program/command/results.h"
#include "src/program/command/times.h"
#include "src/report/run_summary.h"
#include "traces/scenario/device.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

struct DeviceOptions {
  std::shared_ptr<MeasureOptions> measure;
  std::string scenario, card, page;
  bool recorded = false, cause = false;
};

/// The block of a device file with the longest time from its samples to its end.
struct Worst {
  const measure::DeclaredDevice* of;
  std::int64_t declared_ns = 0;
  bool caused = false;  ///< whether its cause was searched for

  const measure::WorstBlock& block() const { return of->worst; }
};

struct Device {
  Measured measured{"device"};
  std::string scenario;  ///< empty: only the device
  std::string device;
  LiveContextConfig context;
  measure::LiveDevice live;
  std::optional<Worst> worst{};

  bool reserved() const { return context.kind == OH_CONTEXT_RESERVATION; }
};

using WorstKeys = record::Written<Worst>;
using Declared = measure::DeclaredDevice;
double us_between(std::int64_t from, std::int64_t to) {
  return us_of(double(to - from));
}
constexpr record::Row kCausedRows[] = {
    record::Written<Declared>::of<&Declared::verdict>(
        "verdict", "", "with --cause, the code on the CPU during that block, in a sentence"),
    record::Written<Declared>::part<&Declared::had>("had_the_cpu", kCulprit),
    record::Written<Declared>::of<&Declared::lost_events>("lost_events", "", "lost events of the kernel's trace"),
};
constexpr record::Table kCaused{kCausedRows};
constexpr record::Row kWorstRows[] = {
    WorstKeys::of("number", "", "number of the block with the longest time from its samples to its end, from 0",
                  [](const Worst& w) { return w.block().number; }),
    WorstKeys::of("after_us", "us", "time from its samples to its end",
                  [](const Worst& w) { return us_between(w.block().due, w.block().ended); }),
    WorstKeys::of("waited_us", "us", "time from its samples to the start of its work",
                  [](const Worst& w) { return us_between(w.block().due, w.block().begun); }),
    WorstKeys::of("took_us", "us", "time of its work, with interruptions",
                  [](const Worst& w) { return us_between(w.block().begun, w.block().ended); }),
    WorstKeys::of<&Worst::declared_ns>("declared_us", "us", "CPU time that the device declares for it").scale(1e-3),
    WorstKeys::part("", kCaused, [](const Worst& w) { return w.caused ? w.of : nullptr; }),
};
constexpr record::Table kWorst{kWorstRows};
using Live = measure::LiveDevice;
constexpr record::Row kReservedRows[] = {
    record::Written<Live>::of<&Live::yields>("yields", "", "times that the CPU was yielded at preemption points"),
    record::Written<Live>::of<&Live::throttles>("throttles", "", "times that the budget was exhausted"),
};
constexpr record::Table kReserved{kReservedRows};
using MeasuredDeviceKeys = record::Written<Device>;
using Driver = oh_driver_counters;
using Card = oh_card_counters;
constexpr record::Row kDeviceRows[] = {
    MeasuredDeviceKeys::part<&Device::measured>("", kMeasured),
    MeasuredDeviceKeys::of<&Device::scenario>("scenario", "", "name of the scenario; empty: a device file"),
    MeasuredDeviceKeys::of<&Device::device>("device", "", "name of the device"),
    MeasuredDeviceKeys::of("context", "", "context of the service", [](const Device& d) { return d.context.str(); }),
    MeasuredDeviceKeys::of<&Device::live, &Live::seconds>("seconds", "s", "line time"),
    MeasuredDeviceKeys::of<&Device::live, &Live::driver, &Driver::blocks_served>("blocks", "", "blocks served"),
    MeasuredDeviceKeys::of<&Device::live, &Live::driver, &Driver::blocks_late>(
        "blocks_late", "", "blocks served after their samples were due"),
    MeasuredDeviceKeys::of<&Device::live, &Live::driver, &Driver::samples_late>("samples_late", "samples",
                                                                                "samples that were late"),
    MeasuredDeviceKeys::of<&Device::live, &Live::card, &Card::underrun_samples>("underrun_samples", "samples",
                                                                                "samples missing when due for sending"),
    MeasuredDeviceKeys::of<&Device::live, &Live::card, &Card::overrun_samples>("overrun_samples", "samples",
                                                                               "received samples that were lost"),
    MeasuredDeviceKeys::of<&Device::live, &Live::driver, &Driver::pending_max>(
        "pending_max_samples", "samples", "greatest number of samples that waited for service"),
    MeasuredDeviceKeys::of<&Device::live, &Live::buffer_samples>("buffer_samples", "samples",
                                                                 "length of a buffer of the device"),
    MeasuredDeviceKeys::part("service_time", kQuantiles,
                             [](const Device& d) -> const LogLinearHistogram& { return d.live.service; })
        .described_apart("time of the service"),
    MeasuredDeviceKeys::part("dispatch_latency", kQuantiles,
                             [](const Device& d) -> const LogLinearHistogram& { return d.live.dispatch; })
        .described_apart("time from request to service"),
    MeasuredDeviceKeys::of<&Device::live, &Live::demoted>(
        "demoted", "", "whether the watchdog demoted the thread of the service to normal priority"),
    MeasuredDeviceKeys::of<&Device::live, &Live::without>("without", "", "missing privileges").absent("there is none"),
    MeasuredDeviceKeys::part("reservation", kReserved,
                             [](const Device& d) { return d.reserved() ? &d.live : nullptr; }),
    MeasuredDeviceKeys::of<&Device::live, &Live::sent_otherwise>(
        "periods_sent_otherwise", "", "periods sent differently than recorded, with --recorded"),
    MeasuredDeviceKeys::part("dmt", kDmtStatus, [](const Device& d) { return d.live.dmt; }),
    MeasuredDeviceKeys::part("radio", kRadioStatus, [](const Device& d) { return d.live.radio; }),
    MeasuredDeviceKeys::part("pump", kPumpStatus, [](const Device& d) { return d.live.pump; }),
    MeasuredDeviceKeys::part<&Device::worst>("worst_block", kWorst),
};

/// That of the measurement; for a rehearsal, that of the near end.
template <typename Status>
std::shared_ptr<const Status> with_in_data(const std::shared_ptr<const Status>& status, bool in_data) {
  if (status == nullptr) return status;
  auto changed = std::make_shared<Status>(*status);
  changed->in_data = in_data;
  return changed;
}

Device device_result(const std::string& scenario, const std::string& device, const LiveContextConfig& context,
                     const measure::LiveDevice& live) {
  Device d{.scenario = scenario, .device = device, .context = context, .live = live};
  d.live.dmt = with_in_data(live.dmt, live.in_data);
  d.live.radio = with_in_data(live.radio, live.in_data);
  d.live.pump = with_in_data(live.pump, live.in_data);
  return d;
}

void print(const Device& d) {
  const measure::LiveDevice& r = d.live;
  Table table;
  table.column(fmt::format("{}, {}", d.scenario.empty() ? d.device : d.scenario, d.context.str()));
  table.column("");
  const auto row = [&](const char* what, const std::string& value) { table.row({what, value}); };
  row("seconds", fmt::format("{:.1f}", r.seconds));
  row("blocks, late", fmt::format("{}, {}", r.driver.blocks_served, r.driver.blocks_late));
  row("samples late, underrun, overrun",
      fmt::format("{}, {}, {}", r.driver.samples_late, r.card.underrun_samples, r.card.overrun_samples));
  if (r.sent_otherwise) row("periods sent differently than recorded", fmt::format("{}", *r.sent_otherwise));
  row("samples pending, max", fmt::format("{}", r.driver.pending_max));
  row("samples pending, in buffers", fmt::format("{:.2f}", double(r.driver.pending_max) / r.buffer_samples));
  add_times(table, r.service, r.dispatch);
  if (r.dmt) {
    const auto& [down, up] = std::tie(r.dmt->down, r.dmt->up);
    row("trainings, fast retrains", fmt::format("{}, {}", r.dmt->trainings, r.dmt->fast_retrains));
    row("gross rate, bit/s, down and up", fmt::format("{}, {}", down.gross_bit_rate, up.gross_bit_rate));
    row("net rate, bit/s", fmt::format("{}, {}", down.net_bit_rate, up.net_bit_rate));
    row("rate carried, bit/s", fmt::format("{}, {}", down.carried_bit_rate, up.carried_bit_rate));
    row("superframes", fmt::format("{}, {}", down.pump.superframes, up.pump.superframes));
    row("superframes wrong", fmt::format("{}, {}", down.pump.crc_errors, up.pump.crc_errors));
    row("bits wrong", fmt::format("{} of {}, {} of {}", down.wrong_bits, down.bits, up.wrong_bits, up.bits));
  }
  if (r.radio) {
    const auto& [received, sent] = std::tie(r.radio->received, r.radio->sent);
    row("links lost", fmt::format("{}", r.radio->retrains));
    row("bit/s, received and sent", fmt::format("{}, {}", received.bit_rate, sent.bit_rate));
    row("bursts due", fmt::format("{}, {}", received.due, sent.due));
    row("bursts missed or damaged", fmt::format("{}, {}", received.lost(), sent.lost()));
    row("bits wrong",
        fmt::format("{} of {}, {} of {}", received.wrong_bits, received.bits, sent.wrong_bits, sent.bits));
  }
  if (r.pump) {
    const auto& [received, sent] = std::tie(r.pump->received, r.pump->sent);
    row("bit/s, received and sent", fmt::format("{}, {}", received.bit_rate, sent.bit_rate));
    row("bits wrong",
        fmt::format("{} of {}, {} of {}", received.wrong_bits, received.bits, sent.wrong_bits, sent.bits));
    for (const auto& m : r.pump->metrics)
      row((m.unit.empty() ? m.name : m.name + ", " + m.unit).c_str(), fmt::format("{:.6g}", m.value));
  }
  say("{}", table.lines());
  say("\n{}\n", !r.in_data    ? "The pumps are not in data mode at the end."
                : r.in_time() ? "No block was late and no sample was lost."
                              : "Samples were lost.");
  if (r.demoted)
    say("The service did not leave the CPU for 0.4 s, so the watchdog demoted its thread to normal priority.\n");
}

/// A device description, by its name or by the contents of a file.
bool is_device(const std::string& name) {
  return !name.ends_with(".toml") || config::Document::read_file(name).has("work");
}

/// The events around the worst block, as a table and a sentence.
void print(const Worst& worst) {
  const measure::WorstBlock& w = worst.block();
  say("\nWorst block: number {}, done {:.1f} us after its samples arrived: {:.1f} us until its work began, {:.1f} "
      "us "
      "of work and interruptions (declared: {:.1f} us).\n",
      w.number, us_between(w.due, w.ended), us_between(w.due, w.begun), us_between(w.begun, w.ended),
      us_of(double(worst.declared_ns)));
  if (!worst.caused) return;
  say("{}\n", worst.of->verdict);
  if (worst.of->had.empty()) return;
  Table had;
  had.column("had the CPU meanwhile");
  had.column("as", Table::Align::kLeft);
  had.column("us");
  for (const measure::Culprit& c : worst.of->had) had.row({c.name, c.as, fmt::format("{:.1f}", us_of(double(c.ns)))});
  say("\n{}", had.lines());
}

/// The measurement on the live page.
class DevicePage {
 public:
  /// @param page  null: no page
  DevicePage(live_page::LivePage* page, const std::string& device, const std::string& card,
             const LiveContextConfig& context)
      : page_(page) {
    if (page_ == nullptr) return;
    ring_.resize(8 * kPageEvents);  // because devices have shorter blocks than modems
    oh_event_log_init(&log_, ring_.data(), ring_.size(), 0);
    live_page::LineView& v = watch_.view;
    v.has_calls = 0;
    v.phase = live_page::Phase::kRunning;
    v.state.set("running");
    v.name.set(device);
    v.address.set(card.empty() ? "by the clock" : card);
    v.context.set(context.str());
    page_->store(0, v);
  }
  measure::DeviceWatch watch() {
    if (page_ == nullptr) return {};
    return {&log_, [this](const LiveDriver& driver, const LiveCard& card) {
              const std::int64_t now = monotonic_ms();
              tell_page_failure(page_);
              watch_.drain(log_, nullptr, now);
              watch_.view.rate_hz = card.card().streams.rx.rate_hz;
              watch_.follow(driver.counters(), oh_card_counts(&card.state()), driver.context(), now);
              watch_.follow(card.figures());
              page_->store(0, watch_.view);
            }};
  }

 private:
  live_page::LivePage* page_;
  std::vector<oh_event> ring_;
  oh_event_log log_{};
  LineWatch watch_;
};

/// The declared work of a device.
int run_declared(const DeviceOptions& options) {
  if (options.recorded || !options.card.empty())
    throw config::Error(options.scenario +
                        ": --recorded and --card require a scenario with a line; a device file has no far end");
  const hostsim::SoftDevice device = config::load_device(options.scenario);
  measure::DeclaredDeviceConfig config;
  config.context = options.measure->context_spec();
  config.seconds = options.measure->seconds;
  config.cause = options.cause;
  const auto page = open_page(options.page, "offhook measure device", 1, options.measure->json.alone());
  DevicePage shown(page.get(), device.name, "", config.context);
  config.watch = shown.watch();
  catch_interrupts();
  measure::DeclaredDevice r;
  {
    Progress progress("device", options.measure->json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    r = measure::measure_declared_device(device, config, [&](double share) {
      if (progress.due()) progress.update(share, "");
      return !interrupted();
    });
  }
  say_without(r.live.without);
  Device result = device_result("", device.name, config.context, r.live);
  if (r.worst.ended > 0) {
    const bool costliest = r.worst.number == 0 && device.worst_cost_ns > 0;
    result.worst = Worst{&r, costliest ? device.worst_cost_ns : device.cost_ns, options.cause};
  }
  if (!options.measure->json.alone()) {
    print(result);
    if (result.worst) print(*result.worst);
  }
  const int status = finish_measure(*options.measure, kMeasureDevice, &result);
  return status == kOk && !r.live.in_time() ? kInsufficient : status;
}

int run_device(const DeviceOptions& options) {
  if (is_device(options.scenario)) return run_declared(options);
  if (options.cause)
    throw config::Error(options.scenario +
                        ": --cause requires a device file; a scenario has pumps at both ends of a line");
  config::ScenarioBuilder builder;
  builder.apply_file(options.scenario);
  const hostsim::Scenario scenario = builder.finish();
  expect_device_pump(scenario, options.scenario);
  measure::LiveDeviceConfig config;
  config.context = options.measure->context_spec();
  config.seconds = options.measure->seconds;
  config.recorded = options.recorded;
  config.card = options.card;
  const auto page = open_page(options.page, "offhook measure device", 1, options.measure->json.alone());
  DevicePage shown(page.get(), scenario.device.name, config.card, config.context);
  config.watch = shown.watch();
  catch_interrupts();
  measure::LiveDevice r;
  {
    Progress progress("device", options.measure->json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
    r = measure::measure_live_device(scenario, config, [&](double share) {
      if (progress.due()) progress.update(share, "");
      return !interrupted();
    });
  }
  say_without(r.without);
  const Device result = device_result(scenario.name, scenario.device.name, config.context, r);
  if (!options.measure->json.alone()) print(result);
  const int status = finish_measure(*options.measure, kMeasureDevice, &result);
  return status == kOk && !(r.in_data && r.in_time()) ? kInsufficient : status;
}

}  // namespace

constexpr record::Table kMeasureDevice{kDeviceRows};

void add_measure_device(App& measure, Action& action, const std::shared_ptr<MeasureOptions>& shared) {
  App* device = measure.add_subcommand(
      "device", "Run a device or a registered pump live, in a context of this host, and count late blocks");
  auto options = std::make_shared<DeviceOptions>();
  options->measure = shared;
  device
      ->add_option("scenario", options->scenario,
                   "Device whose declared work runs at its declared period: a name from traces/data/devices, or a "
                   "device file. Or a scenario whose DMT pump or radio runs on its line; its host, load and context "
                   "are not used")
      ->type_name("DEVICE.toml|SCENARIO.toml")
      ->required();
  Option* recorded =
      device->add_flag("--recorded", options->recorded,
                       "Compute line and far end in advance, for a run without late blocks, and play the recording; "
                       "the far end's signal is compared, not received");
  device
      ->add_option("--card", options->card,
                   "Card with its own line, as for offhook modem (default: a clock-driven card with the far end); "
                   "its period is the block")
      ->type_name("CARD")
      ->excludes(recorded);
  device->add_flag("--cause", options->cause,
                   "For a device file: record the kernel's trace and name the code on the CPU during the worst block "
                   "(root; adds overhead)");
  add_page(*device, options->page);
  add_context(device, *shared);
  add_seconds(device, *shared);
  add_common(device, *shared);
  device->footer(R"(Examples:
  offhook measure device rt-audio --context "FIFO 50" --seconds 60
  sudo offhook measure device my-device.toml --context "FIFO 50" --cause
  offhook measure device examples/g-lite.toml --context "FIFO 50" --seconds 20
  offhook measure device examples/adsl.toml --context "RES 2ms/4ms" --json
  offhook measure device examples/g-lite.toml --context "FIFO 50" --recorded
  offhook --plugin ./libtone.so measure device tone.toml --card alsa:hw:CARD=PCH --context "FIFO 50"

Without --card, one thread at FIFO 85 plays the card; for a scenario, the thread also plays the line and the far pump. The work of
a device file is a loop of the declared CPU time, calibrated on this CPU. The output of a block is queued when all of its
work is done. --seconds includes the start-up: the pumps of a scenario train, then carry a pattern in both directions.

Exit status: 0 done, 1 error, 2 samples were lost, or the pumps are not in data mode at the end,
130 interrupted.)");
  device->final_callback([&action, options] { action = [options] { return run_device(*options); }; });
}

}  // namespace offhook::command
