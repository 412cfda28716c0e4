// SPDX-License-Identifier: MIT
//
// `offhook measure device`: a registered pump, a DMT pump, a radio, or the declared work of a device, live.
#include <fmt/format.h>

#include "driver/base/terminal.h"
#include "hostsim/call/pump_call.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/subscriber_call.h"
#include "src/measure/declared_device.h"
#include "src/measure/host_description.h"
#include "src/measure/live_device.h"
#include "src/program/command/call_run.h"
#include "src/program/command/line_watch.h"
#include "src/program/command/measure.h"
#include "src/program/command/page_option.h"
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

/// @param scenario  empty: only the device
Json to_json(const std::string& scenario, const std::string& device, const LiveContextConfig& context,
             const measure::LiveDevice& r) {
  Json json{{"measure", "device"},
            {"host", measure::host_description()},
            {"scenario", scenario},
            {"device", device},
            {"context", context.str()},
            {"seconds", r.seconds},
            {"blocks", r.driver.blocks_served},
            {"blocks_late", r.driver.blocks_late},
            {"samples_late", r.driver.samples_late},
            {"underrun_samples", r.card.underrun_samples},
            {"overrun_samples", r.card.overrun_samples},
            {"pending_max_samples", r.driver.pending_max},
            {"buffer_samples", r.buffer_samples},
            {"service_time", quantiles_us(r.service)},
            {"dispatch_latency", quantiles_us(r.dispatch)},
            {"without", r.without}};
  if (context.kind == OH_CONTEXT_RESERVATION) json["reservation"] = {{"yields", r.yields}, {"throttles", r.throttles}};
  if (r.sent_otherwise) json["periods_sent_otherwise"] = *r.sent_otherwise;
  if (r.dmt) json["dmt"] = record::to_json(kDmtStatus, r.dmt.get());
  if (r.radio) json["radio"] = record::to_json(kRadioStatus, r.radio.get());
  if (r.pump) json["pump"] = record::to_json(kPumpStatus, r.pump.get());
  for (const char* pumps : {"dmt", "radio", "pump"})
    if (json.contains(pumps)) json[pumps]["in_data"] = r.in_data;  // of a rehearsal only that of the near end
  return json;
}

void print(const Json& json, const measure::LiveDevice& r) {
  Table table;
  const bool alone = json.at("scenario").get<std::string>().empty();
  table.column(fmt::format("{}, {}", json.at(alone ? "device" : "scenario").get<std::string>(),
                           json.at("context").get<std::string>()));
  table.column("");
  const auto row = [&](const char* what, const std::string& value) { table.row({what, value}); };
  row("seconds", fmt::format("{:.1f}", r.seconds));
  row("blocks, late", fmt::format("{}, {}", r.driver.blocks_served, r.driver.blocks_late));
  row("samples late, underrun, overrun",
      fmt::format("{}, {}, {}", r.driver.samples_late, r.card.underrun_samples, r.card.overrun_samples));
  if (r.sent_otherwise) row("periods sent differently than recorded", fmt::format("{}", *r.sent_otherwise));
  row("samples pending, max", fmt::format("{}", r.driver.pending_max));
  row("samples pending, in buffers", fmt::format("{:.2f}", double(r.driver.pending_max) / r.buffer_samples));
  add_times(table, json);
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
}

/// A device description, by its name or by the file's content.
bool is_device(const std::string& name) {
  return !name.ends_with(".toml") || config::Document::read_file(name).has("work");
}

/// The events around the worst block, as a table and a sentence.
void print_worst(const Json& worst) {
  say("\nWorst block: number {}, done {:.1f} us after its samples arrived: {:.1f} us until its work began, {:.1f} "
      "us "
      "of work and interruptions (declared: {:.1f} us).\n",
      worst.at("number").get<std::uint64_t>(), worst.at("after_us").get<double>(), worst.at("waited_us").get<double>(),
      worst.at("took_us").get<double>(), worst.at("declared_us").get<double>());
  if (!worst.contains("verdict")) return;
  say("{}\n", worst.at("verdict").get<std::string>());
  if (worst.at("had_the_cpu").empty()) return;
  Table had;
  had.column("had the CPU meanwhile");
  had.column("as", Table::Align::kLeft);
  had.column("us");
  for (const Json& c : worst.at("had_the_cpu"))
    had.row({c.at("name").get<std::string>(), c.at("as").get<std::string>(),
             fmt::format("{:.1f}", c.at("us").get<double>())});
  say("\n{}", had.lines());
}

Json worst_json(const hostsim::SoftDevice& device, const measure::DeclaredDevice& r, bool cause) {
  const auto us = [](std::int64_t ns) { return us_of(double(ns)); };
  const measure::WorstBlock& w = r.worst;
  const hostsim::Ns declared = w.number == 0 && device.worst_cost_ns > 0 ? device.worst_cost_ns : device.cost_ns;
  Json json{{"number", w.number},
            {"after_us", us(w.ended - w.due)},
            {"waited_us", us(w.begun - w.due)},
            {"took_us", us(w.ended - w.begun)},
            {"declared_us", us(declared)}};
  if (!cause) return json;
  json.update({{"verdict", r.verdict}, {"had_the_cpu", Json::array()}, {"lost_events", r.lost_events}});
  for (const measure::Culprit& c : r.had)
    json["had_the_cpu"].push_back({{"name", c.name}, {"as", c.as}, {"us", us(c.ns)}});
  return json;
}

/// The measurement on the live page.
class DevicePage {
 public:
  /// @param page  null: nothing is shown
  DevicePage(live_page::LivePage* page, const std::string& device, const std::string& card,
             const LiveContextConfig& context)
      : page_(page) {
    if (page_ == nullptr) return;
    ring_.resize(8 * kPageEvents);  // devices have shorter blocks than modems
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
  Json json = to_json("", device.name, config.context, r.live);
  if (r.worst.ended > 0) json["worst_block"] = worst_json(device, r, options.cause);
  if (!options.measure->json.alone()) {
    print(json, r.live);
    if (json.contains("worst_block")) print_worst(json.at("worst_block"));
  }
  const int status = finish_measure(*options.measure, json);
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
  const Json json = to_json(scenario.name, scenario.device.name, config.context, r);
  if (!options.measure->json.alone()) print(json, r);
  const int status = finish_measure(*options.measure, json);
  return status == kOk && !(r.in_data && r.in_time()) ? kInsufficient : status;
}

}  // namespace

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

Without --card, one thread at FIFO 85 plays the card; of a scenario, also the line and the far pump. The work of a
device file is a loop of the declared CPU time, calibrated on this CPU; the output of a block is queued when all of its
work is done. --seconds includes the start-up: the pumps of a scenario train, then carry a pattern in both directions.

Exit status: 0 done, 1 error, 2 samples were lost, or the pumps are not in data mode at the end,
130 interrupted.)");
  device->final_callback([&action, options] { action = [options] { return run_device(*options); }; });
}

}  // namespace offhook::command
