// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <memory>

#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "driver/context/context_spec.h"
#include "src/measure/kernel_recording.h"
#include "src/program/command/modem_channel.h"
#include "src/program/command/page_option.h"
#include "src/program/command/program.h"
#include "src/program/command/run_folder.h"

namespace offhook::command {
namespace {

struct ModemOptions {
  std::vector<std::string> cards;
  std::string tty, tty_group, context = "FIFO 50", out, keep_failed, profiles, page;
  int interrupt_priority = 80;
  std::optional<int> cpu;
  double seconds = 0, device_delay_ms = 0;
  TextOutput json;
  bool best_effort = false, trace_kernel = false;
};

using Channels = std::vector<std::unique_ptr<Channel>>;

Channels open_channels(const ModemOptions& options, const std::shared_ptr<FailedCalls>& failed_calls,
                       const std::shared_ptr<modem::QuickProfiles>& profiles) {
  const ContextSpec context = ContextSpec::parse(options.context);
  const std::size_t n = options.cards.size();
  Channels channels;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string number = n > 1 ? std::to_string(i) : "";
    channels.push_back(open_channel({.address = options.cards[i],
                                     .tty = options.tty.empty() ? "" : options.tty + number,
                                     .tty_group = options.tty_group,
                                     .out = options.out.empty() || n == 1 ? std::filesystem::path(options.out)
                                                                          : std::filesystem::path(options.out) / number,
                                     .context = context,
                                     .best_effort = options.best_effort,
                                     .cpu = options.cpu,
                                     .interrupt_priority = options.interrupt_priority,
                                     .device_delay_ms = options.device_delay_ms,
                                     .failed_calls = failed_calls,
                                     .profiles = profiles,
                                     .watched = !options.page.empty()}));
    Channel& c = *channels.back();
    if (i == 0) {
      for (const std::string& s : c.shortcomings()) say(stderr, "offhook: continuing without: {}\n", s);
    }
    if (!options.json.alone()) say("modem on {} ({}), context {}\n", c.name(), c.address(), context.str());
    if (!c.not_offered().empty()) say(options.json.alone() ? stderr : stdout, "not offered: {}\n", c.not_offered());
  }
  flush_output();
  return channels;
}

std::unique_ptr<measure::KernelRecording> record_kernel(const ModemOptions& options) {
  if (!options.trace_kernel) return nullptr;
  if (options.out.empty()) throw std::runtime_error("--trace-kernel requires --out DIR");
  return std::make_unique<measure::KernelRecording>(
      OutputFolder(options.out, OutputFolder::Use::kOneFile)
          .create(measure::kKernelName, Privacy::kPrivate, Appears::kAtOnce));
}

/// Waits up to 10 ms, or until a terminal has data.
void wait_for_terminals(const Channels& channels) {
  std::vector<pollfd> waits;
  for (const auto& c : channels) waits.push_back({c->gone() ? -1 : c->fd(), POLLIN, 0});
  poll(waits.data(), waits.size(), 10);
  // POLLIN does not wait on a terminal that no program has opened.
  if (std::any_of(waits.begin(), waits.end(), [](const pollfd& w) { return (w.revents & POLLHUP) != 0; }))
    poll(nullptr, 0, 10);
}

void tell(const std::string& news, const ModemOptions& options) {
  if (!news.empty()) say(options.json.alone() ? stderr : stdout, "{}\n", Lines(news));
  flush_output();
}

/// The calls go on if the file cannot be written.
void save(modem::QuickProfiles* profiles) {
  try {
    if (profiles != nullptr) profiles->save();
  } catch (const std::runtime_error& e) {
    say(stderr, "offhook: Quick Connect profiles are not stored: {}\n", e.what());
  }
}

/// Until the time is over, an interrupt, or the loss of all cards. @return why cards were lost
std::vector<std::string> serve(const Channels& channels, const ModemOptions& options, FailedCalls* failed_calls,
                               modem::QuickProfiles* profiles, measure::KernelRecording* kernel,
                               live_page::LivePage* page) {
  const std::size_t n = channels.size();
  const std::int64_t end = options.seconds > 0 ? monotonic_ms() + static_cast<std::int64_t>(1000 * options.seconds) : 0;
  std::int64_t next_drain = 0;
  std::vector<std::string> gone;
  for (std::size_t i = 0; i < n && page != nullptr; ++i) page->store(i, channels[i]->view(monotonic_ms()));
  while (!interrupted() && (end == 0 || monotonic_ms() < end) && gone.size() < n) {
    wait_for_terminals(channels);
    const bool drain = monotonic_ms() >= next_drain;
    if (drain) next_drain = monotonic_ms() + 100;
    if (drain && kernel != nullptr) kernel->drain();
    if (drain && failed_calls != nullptr) tell(failed_calls->take_news(), options);
    if (drain) tell_page_failure(page);
    if (drain) save(profiles);
    for (const auto& c : channels) {
      if (c->gone()) continue;
      c->work(monotonic_ms());
      if (drain) c->drain();
      if (const std::string news = c->news(); !news.empty() && !options.json.alone()) {
        say("{}{}\n", n > 1 ? c->name() + ": " : "", news);
        flush_output();
      }
      if (const std::string why = c->card_failure(); !why.empty()) {
        gone.push_back(why);
        if (n > 1) say(stderr, "offhook: {}: {}\n", c->name(), why);
        c->end();
      }
    }
    for (std::size_t i = 0; drain && page != nullptr && i < n; ++i) page->store(i, channels[i]->view(monotonic_ms()));
  }
  return gone;
}

void write_results(const Channels& channels, const ModemOptions& options) {
  const bool several = channels.size() > 1;
  std::vector<const void*> results;
  for (const auto& c : channels) {
    if (!c->gone()) c->end();
    if (several) c->result.card = c->address();
    results.push_back(&c->result);
  }
  options.json.write(several ? record::json_text(kModemSummary, results, 1)
                             : record::json_text(kModemSummary, results.front(), 1));
  if (options.json.alone()) return;
  for (const auto& c : channels) {
    if (several) say("\n{} ({})\n", c->name(), c->address());
    print_summary(c->result);
  }
}

int run(const ModemOptions& options) {
  catch_interrupts();
  const auto failed_calls = options.keep_failed.empty() ? nullptr : std::make_shared<FailedCalls>(options.keep_failed);
  const auto page = open_page(options.page, "offhook modem", options.cards.size(), options.json.alone());
  const auto profiles = std::make_shared<modem::QuickProfiles>(
      options.profiles.empty() ? modem::QuickProfiles() : modem::QuickProfiles(options.profiles));
  const Channels channels = open_channels(options, failed_calls, profiles);
  const std::unique_ptr<measure::KernelRecording> kernel = record_kernel(options);
  const std::vector<std::string> gone =
      serve(channels, options, failed_calls.get(), profiles.get(), kernel.get(), page.get());
  save(profiles.get());
  if (kernel) {
    kernel->close();
    say(stderr, "offhook: {} events of the kernel recorded{}\n", kernel->events(),
        kernel->lost() > 0 ? fmt::format(", {} did not fit into the kernel's rings", kernel->lost()) : "");
  }
  write_results(channels, options);
  if (failed_calls) {
    failed_calls->finish();
    tell(failed_calls->take_news(), options);
  }
  if (!gone.empty()) throw std::runtime_error(gone.back());
  return interrupted() ? interrupt_status() : kOk;
}

}  // namespace

void add_modem(App& app, Action& action) {
  App* sub = app.add_subcommand("modem", "Run a live modem with AT commands on a pseudo-terminal");
  auto options = std::make_shared<ModemOptions>();
  sub->add_option(
         "card", options->cards,
         "unix:PATH (a card of `offhook line`), alsa:NAME, rtp:LOCAL,REMOTE, audiosocket:HOST:PORT, dahdi:CHANNEL, "
         "file:IN.wav,OUT.wav or null (see `offhook devices`), sip:USER@HOST, or kernel:N of the kernel module "
         "offhook. Several cards make a bank with one modem each")
      ->required()
      ->type_name("CARD");
  sub->add_option("--tty", options->tty,
                  "Symbolic link to the terminal, such as /dev/ttySM0 (default: none, its name is printed); for a "
                  "bank, a prefix")
      ->type_name("PATH");
  sub->add_option("--tty-group", options->tty_group, "Group whose members may use the terminal, such as dialout")
      ->type_name("GROUP");
  sub->add_option("--context", options->context,
                  "\"FIFO 50\", \"RR 50\", \"RES 2ms/8ms\" (2 ms of CPU time every 8 ms) or OTHER; for a kernel modem "
                  "also INT, SOFTIRQ, THREADED and WORKER")
      ->type_name("CONTEXT");
  sub->add_option("--cpu", options->cpu, "Pin the context's thread to this CPU")->type_name("N");
  sub->add_option("--device-delay", options->device_delay_ms,
                  "Round-trip delay behind the card (a gateway, a codec or another program), from sending a sample to "
                  "hearing its echo. Do not include the queues of ALSA and PortAudio, which are known")
      ->type_name("MS")
      ->check(in_range(0, 1000));
  sub->add_option("-o,--out", options->out,
                  "Record events.ohlog, summary.json and report.html in DIR; for a bank in DIR/0, DIR/1 ...")
      ->type_name("DIR");
  add_page(*sub, options->page);
  sub->add_option("--keep-failed", options->keep_failed,
                  "For each call that fails, write its last 120 s as a recording and its decode page in DIR. Calls "
                  "that either end released on purpose are not kept")
      ->type_name("DIR");
  sub->add_option("--profiles", options->profiles,
                  "Keep the Quick Connect profiles of V.92 (AT+PQC) in FILE, for the next run. Without it they are "
                  "kept until the program ends")
      ->type_name("FILE");
  sub->add_flag(
      "--trace-kernel", options->trace_kernel,
      "Also record the kernel's scheduling and interrupts, for `offhook report export --perfetto DIR` (root)");
  sub->add_option("--seconds", options->seconds, "Stop after S seconds")->type_name("S")->check(in_range(0.001, 1e9));
  add_live_options(*sub, options->interrupt_priority, options->best_effort);
  add_text_output(*sub, kJsonOption, options->json, "Summary as JSON");
  sub->footer(R"(Examples:
  offhook line /run/card-a /run/card-b &
  offhook modem unix:/run/card-a --tty /dev/ttySM0 --context "RES 2ms/8ms" --out out/live
  minicom -D /dev/ttySM0
  offhook modem unix:/run/card-{0..7} --tty /dev/ttySM      # a bank: /dev/ttySM0 to /dev/ttySM7
  modprobe offhook && offhook modem kernel:0 --context INT  # AT commands for /dev/ttySM0 of the kernel driver
  offhook modem rtp::4000,192.0.2.1:4000,law=pcma           # G.711 in RTP packets
  offhook modem audiosocket::9092,listen                    # takes calls of Asterisk's AudioSocket
  offhook modem dahdi:1                                     # a channel of a T1, an E1 or an analogue port
  offhook modem sip:100@192.0.2.1,local=192.0.2.7:5060,password-file=sip.password   # calls by SIP
  offhook modem sip:100@pbx.example,local=192.0.2.7:5061,transport=tls,password-file=sip.password   # TLS and SRTP
  offhook modem rtp::4000,192.0.2.1:4000 --page 8080        # watch the call at http://127.0.0.1:8080/
  offhook modem null --seconds 10 --json      # cost of a context on this machine, without a line

Press Ctrl-C to stop. The command then prints the driver's counters: samples pending, blocks late, dispatch latency.
)");
  sub->require_subcommand(0, 1);
  add_kernel(*sub, action);
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
