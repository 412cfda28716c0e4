// SPDX-License-Identifier: MIT
#include "src/program/command/folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "driver/base/file.h"
#include "driver/base/json.h"
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
using Json = nlohmann::ordered_json;

namespace {

/// A time in ms to a nanosecond's precision, so that the text does not show the last bits of a division.
double rounded_s(double s) {
  return std::round(s * 1e9) / 1e9;
}

double tenths(float x) {
  return std::round(10 * static_cast<double>(x)) / 10;
}

/// Straight to the disk: a trace grows with the call, memory must not.
void export_trace(const OutputFolder& folder) {
  OutputStream trace(folder.create(kTraceName, Privacy::kPrivate, Appears::kWhole));
  traces::LogReader reader((folder / kLogName).string());
  traces::export_perfetto(reader, trace);
  trace.close();
}

/// @param kernel  the host is no simulated one, and the line is the card's
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

/// What a kernel's driver counted beside what the log has.
Json kernel_json(const oh_kernel_status& s) {
  return {{"interrupts", s.interrupts}, {"coalesced", s.coalesced},
          {"spurious", s.spurious},     {"bad", s.bad},
          {"storms", s.storms},         {"longest_section_us", s.longest_section_ns / 1000.0},
          {"log_lost", s.log_lost}};
}

Json to_json(const hostsim::DmtDirection& d) {
  Json tones = Json::array();
  for (std::size_t k = 0; k < d.tone_snr_db.size(); ++k) {
    if (d.tone_snr_db[k] > 0)
      tones.push_back({{"tone", k}, {"bits", d.tone_bits[k]}, {"snr_db", tenths(d.tone_snr_db[k])}});
  }
  Json json{{"gross_bit_rate", d.gross_bit_rate},
            {"net_bit_rate", d.net_bit_rate},
            {"trellis_bits", d.trellis_bits},
            {"loop_bit_rate", d.loop_bit_rate},
            {"capacity_bit_rate", d.capacity_bit_rate},
            {"margin_db", tenths(d.margin_db)},
            {"margin_now_db", tenths(d.margin_now_db)},
            {"swapped_bits", d.swapped_bits},
            {"clock_ppm", tenths(d.clock_ppm)},
            {"superframes", d.superframes},
            {"crc_errors", d.crc_errors},
            {"lost_syncs", d.lost_syncs},
            {"spoiled_symbols", d.spoiled_symbols},
            {"corrected_octets", d.corrected_octets},
            {"lost_words", d.lost_words},
            {"bits_compared", d.bits},
            {"wrong_bits", d.wrong_bits},
            {"pattern_losses", d.pattern_losses}};
  if (d.cells) {
    json["cells"] = d.cells->received;
    json["idle_cells"] = d.cells->idle;
    json["hec_errors"] = d.cells->hec_errors;
    json["delineation_losses"] = d.cells->losses;
  }
  json["tones"] = std::move(tones);
  return json;
}

Json to_json(const hostsim::DmtStatus& s) {
  return {{"trained_s", rounded_s(s.trained_s)},
          {"trainings", s.trainings},
          {"fast_retrains", s.fast_retrains},
          {"in_data", s.in_data},
          {"down", to_json(s.down)},
          {"up", to_json(s.up)}};
}

CallReport::Dmt dmt_report(const Json& json) {
  CallReport::Dmt dmt;
  dmt.trained_s = json.at("trained_s").get<double>();
  dmt.trainings = json.at("trainings").get<std::uint32_t>();
  dmt.fast_retrains = json.value("fast_retrains", 0u);
  for (const auto& [name, way] : {std::pair("down", &dmt.down), {"up", &dmt.up}}) {
    const Json& d = json.at(name);
    way->gross_bit_rate = d.at("gross_bit_rate").get<std::uint32_t>();
    way->net_bit_rate = d.at("net_bit_rate").get<std::uint32_t>();
    way->margin_db = d.at("margin_db").get<double>();
    way->swapped_bits = d.value("swapped_bits", 0u);
    way->superframes = d.at("superframes").get<std::uint32_t>();
    way->crc_errors = d.at("crc_errors").get<std::uint32_t>();
    way->corrected_octets = d.at("corrected_octets").get<std::uint32_t>();
    way->lost_words = d.at("lost_words").get<std::uint32_t>();
    way->bits_compared = d.at("bits_compared").get<std::uint64_t>();
    way->wrong_bits = d.at("wrong_bits").get<std::uint64_t>();
    if (d.contains("cells"))
      way->cells = {d.at("cells").get<std::uint64_t>(), d.at("idle_cells").get<std::uint64_t>(),
                    d.at("hec_errors").get<std::uint64_t>(), d.at("delineation_losses").get<std::uint64_t>()};
    for (const Json& tone : d.at("tones")) {
      way->tones.push_back({tone.at("tone").get<std::uint32_t>(), tone.at("bits").get<std::uint32_t>(),
                            tone.at("snr_db").get<double>()});
    }
  }
  return dmt;
}

Json to_json(const hostsim::RadioDirection& d) {
  return {{"bit_rate", d.bit_rate},    {"snr_db", tenths(d.snr_db)}, {"bursts_due", d.due},
          {"bursts_missed", d.missed}, {"bursts_broken", d.broken},  {"bursts_late", d.late},
          {"bits_compared", d.bits},   {"wrong_bits", d.wrong_bits}, {"pattern_losses", d.pattern_losses}};
}

Json to_json(const hostsim::RadioStatus& s) {
  return {{"slot_ms", 1e3 * s.slot_s}, {"connected_s", rounded_s(s.connected_s)}, {"retrains", s.retrains},
          {"in_data", s.in_data},      {"received", to_json(s.received)},         {"sent", to_json(s.sent)}};
}

CallReport::Radio radio_report(const Json& json) {
  CallReport::Radio radio;
  radio.slot_ms = json.at("slot_ms").get<double>();
  radio.connected_s = json.at("connected_s").get<double>();
  radio.retrains = json.at("retrains").get<std::uint32_t>();
  for (const auto& [name, way] : {std::pair("received", &radio.received), {"sent", &radio.sent}}) {
    const Json& d = json.at(name);
    way->bit_rate = d.at("bit_rate").get<std::uint32_t>();
    way->snr_db = d.at("snr_db").get<double>();
    way->due = d.at("bursts_due").get<std::uint64_t>();
    way->missed = d.at("bursts_missed").get<std::uint64_t>();
    way->broken = d.at("bursts_broken").get<std::uint64_t>();
    way->late = d.at("bursts_late").get<std::uint64_t>();
    way->bits_compared = d.at("bits_compared").get<std::uint64_t>();
    way->wrong_bits = d.at("wrong_bits").get<std::uint64_t>();
  }
  return radio;
}

Json to_json(const hostsim::HoldStatus& hold) {
  Json json;
  const auto add = [&json](const char* name, hostsim::Ns at) {
    if (at >= 0) json[name] = rounded_s(static_cast<double>(at) * 1e-9);
  };
  add("asked_at_s", hold.asked_at);
  add("refused_at_s", hold.refused_at);
  add("away_at_s", hold.away_at);
  if (hold.away_at >= 0) json["limit_s"] = hold.limit_s;
  add("resumed_at_s", hold.resumed_at);
  add("data_at_s", hold.data_at);
  return json;
}

bool is_live(const traces::LogHeader& header) {
  const auto live = header.scenario.find("live");
  return live != header.scenario.end() && *live == true;
}

CallReport call_report(const LogContents& log) {
  CallReport call;
  for (const traces::LogEntity& entity : log.header.entities) call.entities[entity.id] = entity.name;
  if (is_live(log.header)) {
    call.title = "Live call";
    if (const auto context = log.header.scenario.find("context");
        context != log.header.scenario.end() && context->is_string()) {
      call.title += ": " + context->get<std::string>();
      call.settings.emplace_back("context", context->get<std::string>());
    }
    call.host = measure::host_in_words(log.header.host);
  }
  if (!log.warning.empty()) call.warnings.push_back(log.warning);
  return call;
}

CallReport call_report(const LogContents& log, const hostsim::Scenario& scenario, const Json& summary) {
  CallReport call = call_report(log);
  const bool kernel = summary.contains("kernel");  // whose ticks are its own
  call.title =
      fmt::format("{}: {}", scenario.name,
                  kernel ? scenario.context.str() : config::context_in_full(scenario.context, scenario.host.tick_hz));
  call.settings = settings_of(scenario, kernel);
  if (kernel) call.host = measure::host_in_words(log.header.host);
  const bool device = scenario.pump == hostsim::PumpKind::kDevice;
  call.transmit_lead_samples = scenario.transmit_lead_samples;
  if (device) {
    const hostsim::SoftDevice at_work = hostsim::device_at_work(scenario);
    call.transmit_lead_samples = at_work.lead();
    call.ring_samples = at_work.streams().rx.ring_samples;
    call.device = CallReport::Device{at_work.buffers, at_work.buffer()};
  }
  if (const auto dmt = summary.find("dmt"); dmt != summary.end()) call.dmt = dmt_report(*dmt);
  if (const auto radio = summary.find("radio"); radio != summary.end()) call.radio = radio_report(*radio);
  const bool interrupted = summary.at("interrupted").get<bool>();
  if (!interrupted) call.complete = summary.at("complete").get<bool>();  // nobody knows what it would have come to
  call.transfer_s = summary.at("transfer_s").get<double>();
  call.at_line_rate_s = summary.value("at_line_rate_s", 0.0);
  if (!device) call.bytes = summary.at("bytes").get<std::uint64_t>();
  // The log has what this end's user got; what went to a foreign far end is not in it.
  if (summary.contains("bytes_delivered")) call.bytes_delivered = summary.at("bytes_delivered").get<std::uint64_t>();
  if (summary.contains("compression")) {
    const Json& c = summary.at("compression");
    if (c.at("sent").get<bool>() || c.at("received").get<bool>())
      call.octets_carried = c.at("octets").get<std::uint64_t>();
  }
  if (const auto reference = summary.find("reference"); reference != summary.end()) {
    const bool complete = reference->at("complete").get<bool>();
    if (complete) call.reference_s = reference->at("transfer_s").get<double>();
    if (!complete || reference->at("lost_samples").get<bool>()) {
      call.warnings.push_back(fmt::format("INT, the reference, {} under this load",
                                          complete ? "also lost samples" : "also did not complete the transfer"));
    }
  }
  call.ending = summary.value("ending", "");
  if (const auto hold = summary.find("hold"); hold != summary.end()) call.hold = hold_in_words(*hold);
  if (interrupted) call.warnings.push_back("the call was interrupted");
  return call;
}

}  // namespace

std::string hold_in_words(const Json& hold) {
  const auto at = [&hold](const char* name) { return hold.at(name).get<double>(); };
  const auto since = [&](const char* later, const char* earlier) { return at(later) - at(earlier); };
  if (hold.contains("refused_at_s")) return fmt::format("asked for at {:.3f} s, refused", at("asked_at_s"));
  if (!hold.contains("away_at_s")) return fmt::format("asked for at {:.3f} s, no answer", at("asked_at_s"));
  if (!hold.contains("resumed_at_s")) return fmt::format("from {:.3f} s on", at("away_at_s"));
  const std::string away = fmt::format("for {:.3f} s", since("resumed_at_s", "away_at_s"));
  return hold.contains("data_at_s")
             ? fmt::format("{}, data again after {:.3f} s", away, since("data_at_s", "resumed_at_s"))
             : away + ", no data afterwards";
}

LogContents read_log(const fs::path& log) {
  traces::LogReader reader(log.string());
  LogContents contents;
  contents.header = traces::parse_log_header(reader.header_json(), reader.name());
  Analyzer analyzer;
  // A live call's clock began when the machine was started: its figures count from the first event.
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
  std::unique_ptr<LineRecording> line;  // made with its first sample: a link model has none
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
  std::optional<OutputStream> received;  // made with its first byte: our own modem sends what the scenario says
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

Json summarise(const hostsim::Scenario& scenario, const CallOutcome& outcome, const OutputFolder& folder,
               const std::optional<CallOutcome>& reference) {
  const LogContents log = read_log(folder / kLogName);
  Json summary{{"offhook_summary", 1},
               {"version", OFFHOOK_VERSION},
               {"name", scenario.name},
               {"context", scenario.context.str()},
               {"seed", scenario.seed},
               {"complete", outcome.complete},
               {"interrupted", outcome.stopped},
               {"ending", outcome.ending},
               {"bytes", outcome.bytes},
               {"bytes_delivered", outcome.bytes_delivered},
               {"transfer_s", rounded_s(outcome.transfer_s)},
               {outcome.kernel ? "line_s" : "simulated_s", rounded_s(outcome.simulated_s)}};
  if (outcome.at_line_rate_s > 0) summary["at_line_rate_s"] = rounded_s(outcome.at_line_rate_s);
  if (outcome.kernel) summary["kernel"] = kernel_json(*outcome.kernel);
  if (scenario.pump == hostsim::PumpKind::kDevice) {
    const hostsim::SoftDevice at_work = hostsim::device_at_work(scenario);
    summary["device"] = {
        {"buffers", at_work.buffers}, {"buffer_samples", at_work.buffer()}, {"lead_samples", at_work.lead()}};
    if (outcome.dmt) summary["dmt"] = to_json(*outcome.dmt);
    if (outcome.radio) summary["radio"] = to_json(*outcome.radio);
    for (const char* of_a_file : {"bytes", "bytes_delivered"}) summary.erase(of_a_file);
  } else if (scenario.link.compression != 0 || scenario.link.v44 != 0) {
    summary["compression"] = {{"by", scenario.link.v44 != 0 ? "V.44" : "V.42bis"},
                              {"sent", (outcome.compression & OH_LAPM_COMPRESS_SENT) != 0},
                              {"received", (outcome.compression & OH_LAPM_COMPRESS_RECEIVED) != 0},
                              {"octets", outcome.octets_carried}};
  }
  if (outcome.hold) summary["hold"] = to_json(*outcome.hold);
  if (reference) {
    summary["reference"] = {{"context", "INT"},
                            {"complete", reference->complete},
                            {"lost_samples", reference->lost},
                            {"transfer_s", rounded_s(reference->transfer_s)}};
  }
  const CallReport call = call_report(log, scenario, summary);
  const CallVerdict verdict = judge(call, log.figures);
  summary["verdict"] = verdict.verdict ? std::string(to_string(*verdict.verdict)) : "";
  summary["headline"] = verdict.headline;
  summary["reasons"] = verdict.reasons;
  summary["figures"] = to_json(log.figures);
  if (call.radio) {
    for (const auto& [name, way] : {std::pair("received", &call.radio->received), {"sent", &call.radio->sent}}) {
      Json& d = summary["radio"][name];
      d["miss_ratio"] = way->miss_ratio();
      d["miss_ratio_at_most"] = way->miss_ratio_at_most();
    }
    summary["radio"]["longest_service_of_slot"] =
        of_slot(*call.radio, static_cast<double>(log.figures.interrupt_to_output.max()));
    summary["radio"]["mean_service_of_slot"] = of_slot(*call.radio, log.figures.interrupt_to_output.mean());
  }
  folder.write(kSummaryName, json_text(summary, 1) + "\n");
  export_trace(folder);
  folder.write(kReportName, call_page(call, log.figures));
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
    Json summary;
    const fs::path file = given / kSummaryName;
    if (!fs::exists(file)) {
      throw config::Error(
          fmt::format("{}: does not exist, because the run was stopped early; to read its log: offhook report {}",
                      file.string(), (given / kLogName).string()));
    }
    try {
      summary = with_memory_for(file, [&] { return parse_json<Json>(read_file(file, kMostTextBytes)); });
      call = call_report(log, builder.finish(), summary);
    } catch (const Json::exception& e) {
      throw config::Error(fmt::format("{}: not the summary of a run: {}", file.string(), in_words(e)));
    }
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
