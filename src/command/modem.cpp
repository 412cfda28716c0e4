// SPDX-License-Identifier: MIT
#include "src/modem/modem.h"

#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "driver/card/devices.h"
#include "src/command/folder.h"
#include "src/command/program.h"
#include "src/output/file.h"
#include "src/output/run_folder.h"
#include "src/output/terminal.h"

namespace offhook::command {
namespace {

struct Options {
  std::string card, tty, context = "FIFO 50", out;
  int interrupt_priority = 80;
  std::optional<int> cpu;
  double seconds = 0;
  bool best_effort = false, json = false;
};

std::int64_t now_ms() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1'000'000;
}

nlohmann::ordered_json to_json(const LiveHistogram& h) {
  return {{"count", h.count()},
          {"p50_us", static_cast<double>(h.quantile(0.5)) * 1e-3},
          {"p99_us", static_cast<double>(h.quantile(0.99)) * 1e-3},
          {"p999_us", static_cast<double>(h.quantile(0.999)) * 1e-3},
          {"max_us", static_cast<double>(h.max()) * 1e-3}};
}

nlohmann::ordered_json summary(const modem::Session& session, const ContextSpec& context, const CardCounters& card) {
  const oh_driver_counters d = session.counters();
  const LiveContext& c = session.context();
  return {{"context", context.str()},
          {"interrupts", d.interrupts},
          {"blocks_served", d.blocks_served},
          {"blocks_late", d.blocks_late},
          {"samples_late", d.samples_late},
          {"samples_filled_in", d.samples_filled_in},
          {"pending_max_samples", d.pending_max},
          {"overrun_samples", card.overrun_samples},
          {"underrun_samples", card.underrun_samples},
          {"dispatch_latency", to_json(c.dispatch_latency())},
          {"service_time", to_json(c.service_time())},
          {"yields", c.yields()},
          {"throttles", c.throttles()},
          {"demoted", c.demoted()},
          {"without", session.shortcomings()}};
}

void print_summary(const nlohmann::ordered_json& s) {
  Table table;
  table.column(fmt::format("driver, {}", s.at("context").get<std::string>()));
  table.column("");
  for (const char* key : {"interrupts", "blocks_served", "blocks_late", "samples_filled_in", "pending_max_samples",
                          "overrun_samples", "underrun_samples", "yields", "throttles"}) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    table.row({name, s.at(key).dump()});
  }
  for (const char* key : {"dispatch_latency", "service_time"}) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    table.row({name + ", us: median, 99 %, 99.9 %, max",
               fmt::format("{:.1f}  {:.1f}  {:.1f}  {:.1f}", s.at(key).at("p50_us").get<double>(),
                           s.at(key).at("p99_us").get<double>(), s.at(key).at("p999_us").get<double>(),
                           s.at(key).at("max_us").get<double>())});
  }
  fmt::print("{}", table.str());
  if (s.at("demoted").get<bool>()) fmt::print("The watchdog made a normal thread of it.\n");
}

int run(const Options& options) {
  modem::SessionConfig config;
  config.context = ContextSpec::parse(options.context);
  config.context.best_effort = options.best_effort;
  config.context.cpu = options.cpu;
  config.interrupt_priority = options.interrupt_priority;
  if (!options.out.empty()) {
    make_folder(options.out);
    config.log = std::filesystem::path(options.out) / kLogName;
  }
  const std::unique_ptr<LiveCard> card = open_card(options.card);
  modem::Terminal terminal(options.tty);
  catch_interrupts();
  nlohmann::ordered_json result;
  std::string gone;
  {
    modem::Session session(*card, config);
    for (const std::string& s : session.shortcomings()) fmt::print(stderr, "offhook: going on without: {}\n", s);
    modem::Modem modem(session, card->rings(), terminal);
    if (!options.json) {
      fmt::print("modem on {} ({}), context {}\n", options.tty.empty() ? terminal.device() : options.tty, options.card,
                 config.context.str());
      std::fflush(stdout);
    }
    const std::int64_t end = options.seconds > 0 ? now_ms() + static_cast<std::int64_t>(1000 * options.seconds) : 0;
    std::int64_t next_drain = 0;
    std::string state;
    while (!interrupted() && (end == 0 || now_ms() < end)) {
      pollfd wait{terminal.fd(), POLLIN, 0};
      poll(&wait, 1, 10);
      if ((wait.revents & POLLHUP) != 0) poll(nullptr, 0, 10);  // nobody has it open: POLLIN would not wait
      modem.work(now_ms());
      if (now_ms() >= next_drain) {
        session.drain();
        next_drain = now_ms() + 100;
      }
      if (const std::string s = modem.state_text(); s != state && !options.json) {
        fmt::print("{}\n", s);
        std::fflush(stdout);
        state = s;
      }
      gone = session.card_failure();
      if (!gone.empty()) break;
    }
    result = summary(session, config.context, session.card_counters());
  }
  card->rings().off_hook.store(0);
  if (!options.out.empty()) {
    write_file(std::filesystem::path(options.out) / kSummaryName, result.dump(1) + "\n");
    report_run(config.log, std::filesystem::path(options.out) / kReportName);
  }
  if (options.json) {
    fmt::print("{}\n", result.dump(1));
  } else {
    print_summary(result);
  }
  if (!gone.empty()) throw std::runtime_error(gone);
  return interrupted() ? interrupt_status() : kOk;
}

}  // namespace

void add_modem(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("modem", "A live modem with AT commands on a pseudo-terminal");
  auto options = std::make_shared<Options>();
  sub->add_option("card", options->card,
                  "unix:PATH (a card of `offhook line`), alsa:NAME, file:IN.wav,OUT.wav or null; see `offhook devices`")
      ->required()
      ->type_name("CARD");
  sub->add_option("--tty", options->tty,
                  "Link to the terminal, such as /dev/ttySM0 (default: none, its name is printed)")
      ->type_name("PATH");
  sub->add_option("--context", options->context,
                  "\"FIFO 50\", \"RR 50\", \"RES 2/8\" (ms of CPU in every so many) or OTHER")
      ->type_name("CONTEXT");
  sub->add_option("--interrupt-priority", options->interrupt_priority,
                  "SCHED_FIFO priority of the thread that plays interrupt; 0: a normal thread")
      ->type_name("N")
      ->check(CLI::Range(0, 98));
  sub->add_option("--cpu", options->cpu, "Keep the context's thread to this CPU")->type_name("N");
  sub->add_option("-o,--out", options->out, "Record events.ohlog, summary.json and report.html there")
      ->type_name("DIR");
  sub->add_option("--seconds", options->seconds, "End after so long")->type_name("S");
  sub->add_flag("--best-effort", options->best_effort, "Go on without the privileges that are missing");
  sub->add_flag("--json", options->json, "Print the summary as JSON, nothing else");
  sub->footer(R"(Examples:
  offhook line /run/card-a /run/card-b &
  offhook modem unix:/run/card-a --tty /dev/ttySM0 --context "RES 2/8" --out out/live
  minicom -D /dev/ttySM0
  offhook modem null --seconds 10 --json      # what this machine's context costs, without a line

Ends with Ctrl-C; prints what the driver counted: samples pending, blocks late, dispatch latency.
)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
