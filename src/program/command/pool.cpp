// SPDX-License-Identifier: MIT
//
// `offhook pool`: answering modems on the lines of a SIP account, an AudioSocket port or DAHDI channels (pool_trunk.h).
// Each line is a separate modem: a card, a driver in a context, and AT commands on its own pseudo-terminal. A call gets
// a program on its terminal, if one is named, and one line in the log.
#include "src/program/command/pool.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/printable.h"
#include "driver/base/terminal.h"
#include "driver/network/internet_address.h"
#include "driver/session/session.h"
#include "driver/tty/dce.h"
#include "driver/user_modem/modulations.h"
#include "src/program/command/call_log.h"
#include "src/program/command/line_watch.h"
#include "src/program/command/page_option.h"
#include "src/program/command/pool_admission.h"
#include "src/program/command/pool_trunk.h"
#include "src/program/command/program.h"
#include "src/program/command/tcp_program.h"

namespace offhook::command {
namespace {

constexpr std::int64_t kShowMs = 100;        // between two updates of the live page
constexpr std::int64_t kDrainMs = 100;       // between two reads of a line's events
constexpr std::int64_t kLastMs = 1000;       // time for a server's last octets to leave the modem
constexpr std::int64_t kKillAfterMs = 5000;  // limit for a program that ignores the hang-up

struct PoolOptions {
  std::string address, tty, exec, tcp, log, allow, page, context = "FIFO 50";
  int lines = 0, per_caller = 2, per_minute = 10, interrupt_priority = 80;
  double seconds = 0;
  bool best_effort = false;
};

std::string clock_text() {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(time(nullptr)));
}

void log_line(const std::string& text) {
  say("{} {}\n", clock_text(), text);
}

/// A caller's number or name in a form for a program's environment: one shell word.
std::string safe_word(std::string_view text) {
  std::string word;
  for (const char c : text.substr(0, 64)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '+' ||
                       c == '-' || c == '.' || c == '_';
    word += plain ? c : '_';
  }
  return word;
}

/// Resources that all lines use.
struct Shared {
  const PoolOptions& options;
  PoolTrunk& trunk;
  CallLogFolder* logs;                    ///< null: none
  std::optional<InternetAddress> server;  ///< the program of each call
};

/// One answering modem.
class PoolLine {
 public:
  PoolLine(std::size_t number, const Shared& shared)
      : number_(number), options_(shared.options), trunk_(shared.trunk), server_(shared.server) {
    modem::SessionConfig session;
    session.context = LiveContextConfig::parse(options_.context);
    session.context.best_effort = options_.best_effort;
    session.interrupt_priority = options_.interrupt_priority;
    if (!options_.page.empty() || shared.logs != nullptr) session.log = log_.emplace(shared.logs).ring();
    session_ = std::make_unique<modem::Session>(trunk_.card(number), session);
    terminal_ =
        std::make_unique<modem::PseudoTerminal>(options_.tty.empty() ? "" : options_.tty + std::to_string(number));
    offer_ =
        modem::offer(kModulations, session_->format(), session_->io_delay_samples(), modem::CardSamples::kConverted);
  }
  ~PoolLine() {
    if (child_ > 0) kill(-child_, SIGKILL), waitpid(child_, nullptr, 0);
  }
  modem::Session& session() { return *session_; }
  const std::string& device() const { return terminal_->device(); }

  /// Call it after the trunk's begin().
  void begin() {
    line_ = &trunk_.line(number_);
    dce_ = std::make_unique<modem::Dce>(*line_, *terminal_, offer_.carriers, offer_.missing);
    dce_->heed_ring(false);
    // Settings that a program could also make on the terminal. They remain when it is closed.
    const int terminal = open(terminal_->device().c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    const std::string_view settings = "AT&FE0Q1S0=1\r";
    [[maybe_unused]] const ssize_t n = write(terminal, settings.data(), settings.size());
    for (int k = 0; k < 3; ++k) dce_->work(monotonic_ms());
    std::array<char, 1024> said;
    while (read(terminal, said.data(), said.size()) > 0) {
    }
    close(terminal);
    // The last words of a call's program are read after the call.
    dce_->heed_commands(!server_ && options_.exec.empty());
  }

  /// For the live page. Only with --page.
  const live_page::LineView& view(std::int64_t now) {
    if (failed_) {
      watch_.gone();
      return watch_.view;
    }
    watch_.view.name.set(options_.tty.empty() ? device() : options_.tty + std::to_string(number_));
    watch_.view.address.set(trunk_.address(number_));
    watch_.view.context.set(options_.context);
    watch_.view.rate_hz = OH_MODEM_RATE_HZ;
    watch_.follow(*dce_, *line_, offer_.carriers, now);
    if (has_call_) watch_.view.caller.set(caller_);
    watch_.follow(session_->counters(), session_->card_counters(), session_->context(), now);
    watch_.follow(trunk_.card(number_).figures());
    watch_.view.bytes_sent = session_->traffic().bytes_sent;
    watch_.view.bytes_received = session_->traffic().bytes_received;
    return watch_.view;
  }

  /// Call it before the trunk's end().
  void end() { dce_.reset(); }
  bool has_call() const { return has_call_; }
  /// The caller of the call, if known.
  const std::string& caller() const { return caller_; }
  /// No further calls from now on.
  void drain() {
    draining_ = true;
    if (!has_call_) trunk_.close(number_);
  }
  /// The card is gone.
  bool failed() const { return failed_; }

  /// @param refusal  why a call of this caller is refused; empty: it is accepted
  void work(std::int64_t now, const std::function<std::string(const std::string& caller)>& refusal) {
    if (failed_) return follow(now);
    const bool rings = trunk_.rings(number_);
    if (rings && !has_call_) answer_or_refuse(now, refusal);
    if (!rings) refusing_ = false;
    dce_->heed_ring(has_call_);
    dce_->work(now);
    if (dce_->state() >= modem::Dce::State::kOnline && !online_) go_online(now);
    follow(now);
    if (has_call_ && !rings && dce_->state() == modem::Dce::State::kOnHook) end_call(now);
    if (const std::string why = session_->card_failure(); !why.empty()) fail(why, now);
    if (log_ && now >= drain_at_ms_) {
      drain_at_ms_ = now + kDrainMs;
      tell_log_failure(log_->drain(watch_, now));
    }
  }

 private:
  void answer_or_refuse(std::int64_t now, const std::function<std::string(const std::string& caller)>& refusal) {
    if (refusing_) return void(trunk_.refuse(number_));
    const std::string named = trunk_.caller(number_), caller = named.empty() ? "unknown" : named;
    if (const std::string why = refusal(caller); !why.empty()) return refuse(caller, why);
    begin_call(caller, now);
    trunk_.answer(number_);
  }
  /// The card is gone.
  void fail(const std::string& why, std::int64_t now) {
    failed_ = true;
    end_ = printable(why);
    dce_.reset();
    line_->end_call();
    log_line(fmt::format("line {} is gone: {}", number_, end_));
    if (has_call_) end_call(now);
    trunk_.close(number_);
    flush_output();
  }
  void tell_log_failure(const std::string& why) const {
    if (!why.empty()) log_line(fmt::format("line {} has no event log: {}", number_, why));
  }
  void refuse(const std::string& caller, const std::string& why) {
    say("{} line {} caller {} refused: {}\n", clock_text(), number_, printable(caller), why);
    flush_output();
    refusing_ = !trunk_.refuse(number_);
  }
  void begin_call(const std::string& caller, std::int64_t now) {
    caller_ = caller;
    began_ms_ = now;
    has_call_ = true;
    online_ = refusing_ = false;
    rates_ = "not connected";
    end_.clear();
    before_ = traffic_ = session_->traffic();
    if (log_) tell_log_failure(log_->begin(number_, options_.context, watch_, now));
  }
  void go_online(std::int64_t now) {
    online_ = true;
    if (!options_.exec.empty()) start_program();
    if (server_) {
      connection_.emplace(*server_, terminal_->device(), now);
      idle_room_ = line_->writable();
    }
  }
  void follow_connection(std::int64_t now);
  bool has_sent_all(std::int64_t now);
  void follow(std::int64_t now) {
    const modem::CallStatus status = line_->status();
    if (status.pump.state == OH_PUMP_DATA)
      rates_ = fmt::format("{}/{} bit/s", status.pump.tx_bit_rate, status.pump.rx_bit_rate);
    if (!status.failure().empty()) end_ = status.failure();
    traffic_ = session_->traffic();
    if (connection_) follow_connection(now);
    if (child_ <= 0) return;
    int ended = 0;
    if (waitpid(child_, &ended, WNOHANG) == child_) {
      child_ = 0;
      if (has_call_ && end_.empty()) end_ = "the program ended";
    } else if (!has_call_) {
      if (kill_at_ms_ == 0) kill(-child_, SIGHUP), kill_at_ms_ = now + kKillAfterMs;
      if (now >= kill_at_ms_) kill(-child_, SIGKILL);
    }
  }
  void end_call(std::int64_t now) {
    has_call_ = false;
    if (connection_) connection_->hang_up(now);
    const std::string log = log_ ? log_->end(watch_, now) : "";
    say("{} line {} caller {} {}, {:.1f} s, {} bytes sent, {} received, end: {}{}\n", clock_text(), number_,
        printable(caller_), rates_, static_cast<double>(now - began_ms_) / 1000,
        traffic_.bytes_sent - before_.bytes_sent, traffic_.bytes_received - before_.bytes_received,
        end_.empty() ? "the modem hung up" : end_, log.empty() ? "" : ", log: " + log);
    flush_output();
    trunk_.ended(number_);
    if (draining_) trunk_.close(number_);
  }
  void start_program();

  std::size_t number_;
  const PoolOptions& options_;
  PoolTrunk& trunk_;
  std::optional<InternetAddress> server_;
  std::optional<CallLog> log_;
  LineWatch watch_;
  std::unique_ptr<modem::Session> session_;
  std::unique_ptr<modem::PseudoTerminal> terminal_;
  modem::Offer offer_;
  modem::CallLine* line_ = nullptr;
  std::unique_ptr<modem::Dce> dce_;
  bool has_call_ = false, online_ = false, draining_ = false, refusing_ = false, failed_ = false;
  std::string caller_, rates_, end_;
  std::int64_t began_ms_ = 0, kill_at_ms_ = 0, drain_at_ms_ = 0, sent_at_ms_ = 0;
  modem::Traffic before_, traffic_;
  pid_t child_ = 0;
  std::optional<TcpProgram> connection_;  // of the present call, or of the last one until the server has closed it
  std::size_t idle_room_ = 0;             // limit for octets to the caller without progress
};

/// Whether the caller has received all octets of the server or, without error control, the modem has sent them.
bool PoolLine::has_sent_all(std::int64_t now) {
  const bool all = line_->writable() >= idle_room_ && line_->status().unsent == 0;
  if (!all || sent_at_ms_ == 0) sent_at_ms_ = now;
  return all && now - sent_at_ms_ >= kLastMs;
}

/// Without its connection, the terminal is closed and the modem hangs up.
void PoolLine::follow_connection(std::int64_t now) {
  connection_->work(now);
  if (has_call_ && end_.empty()) end_ = connection_->failure();
  const bool served = has_call_ && connection_->server_ended() && has_sent_all(now);
  if (served && end_.empty()) end_ = "the server closed the connection";
  if (!served && !connection_->over()) return;
  connection_.reset();
  sent_at_ms_ = 0;
}

/// In a new session, with the line's terminal as controlling terminal. Not by fork(), because until exec() each page
/// that a modem of the pool writes would be copied.
void PoolLine::start_program() {
  const std::string device = terminal_->device(), caller = "OFFHOOK_CALLER=" + safe_word(caller_),
                    line = fmt::format("OFFHOOK_LINE={}", number_), tty = "OFFHOOK_TTY=" + device;
  std::vector<char*> environment;
  for (char** e = environ; *e != nullptr; ++e)
    if (!std::string_view(*e).starts_with("OFFHOOK_")) environment.push_back(*e);
  for (const std::string* e : {&caller, &line, &tty}) environment.push_back(const_cast<char*>(e->c_str()));
  environment.push_back(nullptr);
  const char* const arguments[] = {"sh", "-c", options_.exec.c_str(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  // The first terminal that a session opens becomes its controlling terminal.
  posix_spawn_file_actions_addopen(&files, 0, device.c_str(), O_RDWR, 0);
  for (int fd = 1; fd < 3; ++fd) posix_spawn_file_actions_adddup2(&files, 0, fd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  kill_at_ms_ = 0;
  char* const* const words = const_cast<char* const*>(arguments);
  if (posix_spawn(&child_, "/bin/sh", &files, &attributes, words, environment.data()) != 0) {
    child_ = 0;
    end_ = "the program did not start";
    // As at the end of a program: the terminal is opened and closed, and the modem hangs up.
    const int terminal = open(device.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    dce_->work(monotonic_ms());
    if (terminal >= 0) close(terminal);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
}

/// Runs until no more calls are accepted and none is in progress.
void serve(const std::vector<std::unique_ptr<PoolLine>>& lines, PoolTrunk& trunk, const PoolOptions& options,
           live_page::LivePage* page, const std::function<std::string(const std::string& caller)>& refusal) {
  const std::int64_t end = options.seconds > 0 ? monotonic_ms() + static_cast<std::int64_t>(1000 * options.seconds) : 0;
  bool draining = false;
  std::string news;
  std::int64_t show_at = 0;
  while (!draining || std::any_of(lines.begin(), lines.end(), [](const auto& line) { return line->has_call(); })) {
    if (!draining && (interrupted() || (end > 0 && monotonic_ms() >= end))) {
      draining = true;
      for (auto& line : lines) line->drain();
      log_line("no further calls; waiting for those in progress");
    }
    if (std::string now = trunk.news(); now != news) {
      news = now;
      log_line(news);
    }
    flush_output();
    poll(nullptr, 0, 10);
    trunk.work(monotonic_ms(), log_line);
    for (auto& line : lines) line->work(monotonic_ms(), refusal);
    if (std::all_of(lines.begin(), lines.end(), [](const auto& line) { return line->failed(); }))
      throw std::runtime_error("no line is left");
    if (page == nullptr || monotonic_ms() < show_at) continue;
    show_at = monotonic_ms() + kShowMs;
    tell_page_failure(page);
    for (std::size_t k = 0; k < lines.size(); ++k) page->store(k, lines[k]->view(monotonic_ms()));
    live_page::PageView view;
    view.news.set(news + (!draining ? "" : news.empty() ? "no further calls" : "; no further calls"));
    page->store(view);
  }
}

int run(const PoolOptions& options) {
  PoolAdmission admission(options.allow, options.per_caller, options.per_minute);
  catch_interrupts();
  const std::unique_ptr<PoolTrunk> trunk =
      open_pool_trunk(options.address, static_cast<std::size_t>(options.lines), log_line);
  if (!options.allow.empty() && !trunk->names_callers())
    throw std::runtime_error("--allow: " + trunk->address(0) + " does not name callers");
  std::optional<CallLogFolder> logs;
  if (!options.log.empty()) logs.emplace(options.log);
  const Shared shared{options, *trunk, logs ? &*logs : nullptr,
                      options.tcp.empty() ? std::nullopt : std::optional(internet_address(options.tcp))};
  const auto page = open_page(options.page, "offhook pool", trunk->lines(), false);
  std::vector<std::unique_ptr<PoolLine>> lines;
  std::vector<modem::Session*> sessions;
  for (std::size_t k = 0; k < trunk->lines(); ++k) {
    lines.push_back(std::make_unique<PoolLine>(k, shared));
    sessions.push_back(&lines.back()->session());
  }
  trunk->begin(sessions);
  for (auto& line : lines) line->begin();
  log_line(fmt::format("{} lines on {}", lines.size(), trunk->address(0)));
  const auto refusal = [&](const std::string& caller) -> std::string {
    if (!trunk->names_callers()) return {};
    const auto in_progress = std::count_if(
        lines.begin(), lines.end(), [&](const auto& line) { return line->has_call() && line->caller() == caller; });
    return admission.refusal(caller, in_progress, monotonic_ms());
  };
  serve(lines, *trunk, options, page.get(), refusal);
  for (auto& line : lines) line->end();
  trunk->end();
  return kOk;
}

}  // namespace

void add_pool(App& app, Action& action) {
  App* sub = app.add_subcommand(
      "pool",
      "Answer many calls at once on a SIP account, an AudioSocket port or DAHDI channels, and run a program for each");
  auto options = std::make_shared<PoolOptions>();
  sub->add_option(
         "account", options->address,
         "sip:USER@HOST or audiosocket:HOST:PORT,listen with the options of `offhook modem`, or DAHDI channels: "
         "dahdi:SPAN, dahdi:SPAN/CHANNEL, dahdi:SPAN/FIRST-LAST or several, with commas (docs/network.md)")
      ->required()
      ->type_name("ADDRESS");
  sub->add_option("--lines", options->lines,
                  "Largest number of calls at once; others are refused. Default: 4; for DAHDI, all channels")
      ->type_name("N")
      ->check(in_range(1, static_cast<int>(kMostLines)));
  sub->add_option("--per-caller", options->per_caller,
                  "Largest number of calls at once from one number or UUID; not for DAHDI")
      ->type_name("N")
      ->check(in_range(1, 256));
  sub->add_option("--per-minute", options->per_minute,
                  "Largest number of calls from one number or UUID within a minute; others are refused. Not for DAHDI")
      ->type_name("N")
      ->check(in_range(1, 1000));
  sub->add_option("--allow", options->allow,
                  "Accept only the callers in this file: one number or UUID per line; \"+4989*\" matches all numbers "
                  "with that beginning. The number is the caller's claim and is not verified")
      ->type_name("FILE");
  sub->add_option(
         "--exec", options->exec,
         "Shell command for each connected call, with the call's terminal as standard input and output. "
         "OFFHOOK_CALLER, OFFHOOK_LINE and OFFHOOK_TTY are in its environment. The call ends when the command ends")
      ->type_name("COMMAND");
  sub->add_option(
         "--tcp", options->tcp,
         "Server that each connected call is connected to, in place of a program. The call ends when the server "
         "closes the connection")
      ->type_name("HOST:PORT")
      ->excludes("--exec");
  sub->add_option("--log", options->log, "Folder for the event logs of the calls, one file for each call")
      ->type_name("DIR");
  add_page(*sub, options->page);
  sub->add_option("--tty", options->tty, "Prefix of symbolic links to the terminals, such as /run/pool-tty")
      ->type_name("PREFIX");
  sub->add_option("--context", options->context, "Context of every modem, as in `offhook modem`")->type_name("CONTEXT");
  sub->add_option("--seconds", options->seconds, "Accept no further calls after S seconds")
      ->type_name("S")
      ->check(in_range(0.001, 1e9));
  add_live_options(*sub, options->interrupt_priority, options->best_effort);
  sub->footer(R"(Examples:
  offhook pool sip:100@192.0.2.1,password-file=sip.password --lines 8 --exec "/sbin/getty -L - \$OFFHOOK_TTY vt100"
  offhook pool audiosocket::9092,listen,law=pcmu --lines 8 --exec "exec /usr/sbin/pppd file ppp.options"
  offhook pool audiosocket::9092,listen --tcp 127.0.0.1:23 --log out/calls
  offhook pool dahdi:1/1-15 --tty /run/pool-tty

Each call is one line on standard output. After Ctrl-C the pool accepts no further calls and waits for those in
progress; a second Ctrl-C ends them.
)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
