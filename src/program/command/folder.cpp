// SPDX-License-Identifier: MIT
#include "src/program/command/folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "driver/base/file.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "dsp/link/lapm.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/radio_call.h"
#include "hostsim/call/subscriber_call.h"
#include "src/measure/host_description.h"
#include "src/page/page.h"
#include "src/program/command/line_recording.h"
#include "src/program/command/run_folder.h"
#include "traces/export/perfetto.h"
#include "traces/log/reader.h"
#include "traces/log/writer.h"
#include "traces/scenario/context_words.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {

namespace fs = std::filesystem;

namespace {

/// Directly to the disk, because a trace grows with the call, but memory must not.
void export_trace(const OutputFolder& folder) {
  OutputStream trace(folder.create(kTraceName, Privacy::kPrivate, Appears::kWhole));
  traces::LogReader reader((folder / kLogName).string());
  traces::export_perfetto(reader, trace);
  trace.close();
}

/// @param kernel  the host is not simulated, and the line is the card's
Settings settings_of(const hostsim::Scenario& scenario, bool kernel) {
  Settings settings;
  const auto another = [](std::string_view path) { return path.starts_with("host.") || path.starts_with("load."); };
  for (const config::Key& key : config::scenario_keys()) {
    if (kernel && another(key.path)) continue;
    if (config::is_written(key, &scenario)) settings.emplace_back(key.path, config::write_value(key, &scenario));
  }
  for (const hostsim::LoadDevice& device : scenario.load.devices) {
    settings.emplace_back("load.device", fmt::format("{}, {:.1f} % of the CPU", device.name, 100 * device.share()));
  }
  for (const hostsim::CompetingDevice& device : scenario.load.soft_devices)
    settings.emplace_back("load.soft_device", fmt::format("{}, {}", device.name, device.context.str()));
  return settings;
}

bool is_live(const traces::LogHeader& header) {
  return header.scenario.live;
}

CallReport call_report(const LogContents& log) {
  CallReport call;
  for (const traces::LogEntity& entity : log.header.entities) call.entities[entity.id] = entity.name;
  if (is_live(log.header)) {
    call.title = "Live call";
    if (const std::string& context = log.header.scenario.context; !context.empty()) {
      call.title += ": " + context;
      call.settings.emplace_back("context", context);
    }
    call.host = measure::host_text_in_words(log.header.host);
  }
  if (!log.warning.empty()) call.warnings.push_back(log.warning);
  return call;
}

CallReport call_report(const LogContents& log, const hostsim::Scenario& scenario, const RunSummary& summary) {
  CallReport call = call_report(log);
  const bool kernel = summary.kernel.has_value();  // which has its own ticks
  call.title =
      fmt::format("{}: {}", scenario.name,
                  kernel ? scenario.context.str() : config::context_in_full(scenario.context, scenario.host.tick_hz));
  call.settings = settings_of(scenario, kernel);
  if (kernel) call.host = measure::host_text_in_words(log.header.host);
  call.transmit_lead_samples = scenario.transmit_lead_samples;
  if (scenario.pump == hostsim::PumpKind::kDevice) {
    const hostsim::SoftDevice at_work = hostsim::device_at_work(scenario);
    call.transmit_lead_samples = at_work.lead();
    call.ring_samples = at_work.streams().rx.ring_samples;
  }
  if (const auto& reference = summary.reference; reference && (!reference->complete || reference->lost_samples)) {
    call.warnings.push_back(
        fmt::format("INT, the reference, {} under this load",
                    reference->complete ? "also lost samples" : "also did not complete the transfer"));
  }
  if (summary.stopped) call.warnings.push_back("the call was interrupted");
  call.run = summary;
  return call;
}

RunSummary read_summary(const fs::path& file) {
  if (!fs::exists(file)) {
    throw config::Error(
        fmt::format("{}: does not exist, because the run was stopped early; to read its log: offhook report {}",
                    file.string(), (file.parent_path() / kLogName).string()));
  }
  RunSummary summary;
  try {
    with_memory_for(file, [&] { record::from_json_text(kRunSummary, read_file(file, kMostTextBytes), &summary); });
  } catch (const std::invalid_argument& e) {
    throw config::Error(fmt::format("{}: not the summary of a run: {}", file.string(), e.what()));
  }
  return summary;
}

}  // namespace

LogContents read_log(const fs::path& log) {
  traces::LogReader reader(log.string());
  LogContents contents;
  contents.header = traces::parse_log_header(reader.header_json(), reader.name());
  Analyzer analyzer;
  // A live call's clock began when the machine was started, so its figures count from the first event.
  const bool live = is_live(contents.header);
  std::optional<std::uint64_t> begin_ns;
  while (reader.next()) {
    for (oh_event event : reader.events()) {
      if (live) {
        if (!begin_ns) begin_ns = event.time_ns;
        event.time_ns -= std::min(*begin_ns, event.time_ns);
      }
      analyzer.add(event);
    }
  }
  contents.figures = analyzer.finish();
  contents.warning = reader.ending().message;
  return contents;
}

namespace {

/// The assignments of a TOML text that to_toml() wrote: full key and value; tables of a list are numbered.
std::map<std::string, std::string> assignments(const std::string& toml) {
  std::map<std::string, std::string> out;
  std::map<std::string, int> tables;
  std::istringstream lines(toml);
  std::string table;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("[[")) {
      const std::string name = line.substr(2, line.find(']') - 2);
      table = fmt::format("{}[{}].", name, tables[name]++);
    } else if (line.starts_with('[')) {
      table = line.substr(1, line.find(']') - 1) + ".";
    } else if (const std::size_t equals = line.find(" = "); equals != std::string::npos) {
      out[table + line.substr(0, equals)] = line.substr(equals + 3);
    }
  }
  return out;
}

}  // namespace

std::string changed_keys(const std::filesystem::path& folder, const hostsim::Scenario& scenario) {
  if (!std::filesystem::is_regular_file(folder / kScenarioName)) return {};  // a FIFO would wait for a writer
  std::ifstream file(folder / kScenarioName);
  if (!file) return {};
  const std::string earlier((std::istreambuf_iterator<char>(file)), {});
  const std::map<std::string, std::string> before = assignments(earlier), now = assignments(config::to_toml(scenario));
  std::set<std::string> keys;
  for (const auto& [key, value] : before)
    if (const auto same = now.find(key); same == now.end() || same->second != value) keys.insert(key);
  for (const auto& [key, value] : now)
    if (!before.contains(key)) keys.insert(key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

CallOutcome record_call(const hostsim::Scenario& scenario, const OutputFolder& folder,
                        const std::function<bool(const CallProgress&)>& progress, const CallRunner& run) {
  folder.write(kScenarioName, config::to_toml(scenario));
  std::unique_ptr<traces::LogWriter> log;
  std::unique_ptr<LineRecording> line;  // created with its first sample, because a link model has none
  folder.remove(kLineName);
  CallSinks sinks;
  sinks.header = [&](const traces::LogHeader& header) {
    log = std::make_unique<traces::LogWriter>(folder.create(kLogName, Privacy::kPrivate, Appears::kAtOnce),
                                              traces::to_json(header));
  };
  sinks.events = [&](std::span<const oh_event> events, std::uint64_t lost) { log->append(0, events, lost); };
  sinks.line = [&](std::span<const std::int16_t> received, std::span<const std::int16_t> sent) {
    if (!line)
      line = std::make_unique<LineRecording>(folder.create(kLineName, Privacy::kPrivate, Appears::kAtOnce),
                                             static_cast<int>(hostsim::near_format(scenario).rx.rate_hz));
    line->write(received, sent);
  };
  std::optional<OutputStream> received;  // created with its first byte: our modem sends the scenario's data
  folder.remove(kReceivedName);
  sinks.received = [&](std::span<const std::uint8_t> bytes) {
    if (!received) received.emplace(folder.create(kReceivedName, Privacy::kPrivate, Appears::kAtOnce));
    received->write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  sinks.progress = progress;
  CallOutcome outcome = run(scenario, sinks);
  if (received) received->close();
  if (log) log->close();
  if (line) line->close();
  return outcome;
}

RunSummary summary_of(const hostsim::Scenario& scenario, const CallOutcome& outcome, const LogContents& log,
                      const std::optional<CallOutcome>& reference) {
  RunSummary summary;
  static_cast<CallOutcome&>(summary) = outcome;
  summary.version = OFFHOOK_VERSION;
  summary.name = scenario.name;
  summary.context = scenario.context.str();
  summary.seed = scenario.seed;
  if (scenario.pump == hostsim::PumpKind::kDevice) {
    const hostsim::SoftDevice at_work = hostsim::device_at_work(scenario);
    summary.device = {at_work.buffers, at_work.buffer(), at_work.lead()};
  } else if (scenario.link.compression != 0 || scenario.link.v44 != 0) {
    summary.coding = {outcome.mnp_class == 5   ? "MNP 5"
                      : scenario.link.v44 != 0 ? "V.44"
                                               : "V.42bis",
                      (outcome.compression & OH_LAPM_COMPRESS_SENT) != 0,
                      (outcome.compression & OH_LAPM_COMPRESS_RECEIVED) != 0, outcome.octets_carried};
  }
  if (reference) summary.reference = {"INT", reference->complete, reference->lost, reference->transfer_s};
  summary.figures = std::make_shared<const Figures>(log.figures);
  const CallVerdict verdict = judge(call_report(log, scenario, summary), log.figures);
  summary.verdict = verdict.verdict ? to_string(*verdict.verdict) : "";
  summary.headline = verdict.headline;
  summary.reasons = verdict.reasons;
  return summary;
}

RunSummary summarise(const hostsim::Scenario& scenario, const CallOutcome& outcome, const OutputFolder& folder,
                     const std::optional<CallOutcome>& reference) {
  const LogContents log = read_log(folder / kLogName);
  const RunSummary summary = summary_of(scenario, outcome, log, reference);
  folder.write(kSummaryName, record::json_text(kRunSummary, &summary, 1) + "\n");
  export_trace(folder);
  folder.write(kReportName, call_page(call_report(log, scenario, summary), log.figures));
  return summary;
}

fs::path place_page(const fs::path& folder, const std::string& page) {
  OutputFolder(folder, OutputFolder::Use::kOneFile).write(kReportName, page);
  return folder / kReportName;
}

void report_live(const OutputFolder& folder) {
  const LogContents log = read_log(folder / kLogName);
  folder.write(kReportName, call_page(call_report(log), log.figures));
}

fs::path report_run(const fs::path& given, const fs::path& out) {
  const LogContents log = read_log(log_in(given));
  CallReport call = call_report(log);
  if (fs::is_directory(given) && !is_live(log.header)) {
    config::ScenarioBuilder builder;
    builder.apply_file(given / kScenarioName);
    call = call_report(log, builder.finish(), read_summary(given / kSummaryName));
  } else if (call.title.empty()) {
    call.title = given.filename().string();
  }
  if (!log.warning.empty()) say(stderr, "offhook: {}\n", log.warning);
  const std::string page = call_page(call, log.figures);
  if (out.empty() && fs::is_directory(given)) return place_page(given, page);
  fs::path file = out.empty() ? fs::path(given).replace_extension(".html") : out;
  write_file(file, page);
  return file;
}

}  // namespace offhook::command
