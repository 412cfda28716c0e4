// SPDX-License-Identifier: MIT
#include "src/program/command/trunk_test.h"

#include <fmt/format.h>
#include <poll.h>

#include <memory>

#include "driver/base/printable.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "driver/session/devices.h"
#include "driver/sip/phone.h"
#include "src/measure/trunk_call.h"
#include "src/program/command/figures.h"
#include "src/report/trunk_report.h"

namespace offhook::command {
namespace {

constexpr std::string_view kSip = "sip:";

struct TrunkTestOptions {
  std::vector<std::string> places;
  std::string number, context = "FIFO 50", html, figures;
  int interrupt_priority = 80;
  double seconds = 40;
  TextOutput json;
  bool best_effort = false;
};

measure::TrunkConfig config_of(const TrunkTestOptions& options) {
  measure::TrunkConfig config;
  config.context = LiveContextConfig::parse(options.context);
  config.context.best_effort = options.best_effort;
  config.interrupt_priority = options.interrupt_priority;
  config.seconds = options.seconds;
  return config;
}

measure::TrunkResult test(LiveCard& a, LiveCard& b, const measure::TrunkConfig& config,
                          const TrunkTestOptions& options) {
  Progress progress("trunk-test", options.json.alone() ? Progress::Style::kQuiet : Progress::Style::kAuto);
  return measure::test_trunk(a, b, config, [&](double share) {
    if (progress.due()) progress.update(share, share < 0.5 ? "A sends" : "B sends");
    return !interrupted();
  });
}

/// A call from the account to itself: line 0 dials, line 1 answers.
class OwnCall {
 public:
  OwnCall(const sip::SipPlace& place, const std::string& user)
      : a_(media_of(place)),
        b_(media_of(place)),
        phone_(sip::make_phone(place.account, {{.media = a_.local_port()}, {.media = b_.local_port()}})) {
    phone_->accept(0, false);
    phone_->accept(1, true);
    if (place.account.registers) wait([&] { return phone_->registration() == "registered"; }, "no registration: ");
    phone_->dial(0, user);
    wait([&] { return phone_->call(1).state == sip::CallState::kRinging; }, "the call did not come back: ");
    phone_->answer(1);
    wait([&] { return is_up(0) && is_up(1); }, "the call was not connected: ");
    // The laws are those of the call before anything is sent.
    a_.set_media(phone_->call(0).media);
    b_.set_media(phone_->call(1).media);
  }
  ~OwnCall() {
    phone_->hang_up(0);
    phone_->hang_up(1);
  }
  RtpCard& a() { return a_; }
  RtpCard& b() { return b_; }
  /// Why the call ended; empty if it has not.
  std::string ended() const {
    for (const std::size_t line : {0, 1})
      if (const sip::CallInfo info = phone_->call(line); info.state == sip::CallState::kEnded)
        return info.reason.empty() ? "the far end hung up" : printable(info.reason);
    return {};
  }

 private:
  static RtpConfig media_of(const sip::SipPlace& place) {
    RtpConfig media;
    media.local = place.account.local;
    media.local.set_port(0);
    media.buffer_samples = place.buffer_samples;
    return media;
  }
  bool is_up(std::size_t line) const {
    const sip::CallInfo info = phone_->call(line);
    return info.state == sip::CallState::kUp && info.media;
  }
  template <typename Condition>
  void wait(const Condition& holds, const char* otherwise) const {
    constexpr std::int64_t kPatienceMs = 30'000;
    const std::int64_t end = monotonic_ms() + kPatienceMs;
    while (!holds()) {
      std::string why = ended();
      if (why.empty() && monotonic_ms() >= end)
        why = fmt::format("nothing within {} s; {}", kPatienceMs / 1000, phone_->registration());
      if (!why.empty()) throw std::runtime_error(otherwise + why);
      if (interrupted()) throw std::runtime_error("interrupted");
      poll(nullptr, 0, 20);
    }
  }

  RtpCard a_, b_;
  std::unique_ptr<sip::Phone> phone_;
};

measure::TrunkResult test_places(const TrunkTestOptions& options) {
  measure::TrunkConfig config = config_of(options);
  if (options.places.size() == 2) {
    const std::unique_ptr<LiveCard> a = open_card(options.places[0]), b = open_card(options.places[1]);
    return test(*a, *b, config, options);
  }
  if (!options.places[0].starts_with(kSip))
    throw std::runtime_error("\"" + printable(options.places[0]) + "\": expected sip:USER@HOST, or two cards");
  if (options.number.empty())
    throw std::runtime_error("expected --number NUMBER, which the network connects with this same account");
  OwnCall call(sip::parse_sip_place(std::string_view(options.places[0]).substr(kSip.size())),
               sip::sip_number(options.number));
  config.ended = [&call] { return call.ended(); };
  return test(call.a(), call.b(), config, options);
}

std::string shown(const measure::TrunkDirection& d) {
  return d.path == measure::TrunkPath::kMapped
             ? fmt::format("mapped, {:.1f} dB, {} of 6 robbed", d.loss_db, d.robbed_intervals.size())
             : d.path_name();
}

/// For people: without the options of an address, which may name a password's file.
std::string places(const TrunkTestOptions& options) {
  std::vector<std::string> names;
  for (const std::string& place : options.places) names.push_back(printable(place.substr(0, place.find(','))));
  return fmt::format("{}", fmt::join(names, " and "));
}

int run(const TrunkTestOptions& options) {
  catch_interrupts();
  if (!options.html.empty()) expect_writable(options.html);
  const measure::TrunkResult r = test_places(options);
  options.json.write(record::json_text(measure::kTrunkResult, &r, 1));
  if (!options.html.empty() || !options.figures.empty())
    write_page(trunk_page(r, places(options)), options.html, options.figures);
  if (!options.json.alone()) {
    Table table;
    for (const char* head : {"", "A to B", "B to A"}) table.column(head);
    const auto row = [&](const char* name, const auto& value) { table.row({name, value(r.a_to_b), value(r.b_to_a)}); };
    using Direction = const measure::TrunkDirection&;
    row("octets", [](Direction d) { return shown(d); });
    row("octets that fit the map, %", [](Direction d) { return fmt::format("{:.2f}", 100 * d.same); });
    row("samples lost", [](Direction d) { return fmt::format("{}", d.lost_samples); });
    row("jumps of the delay", [](Direction d) { return fmt::format("{}", d.jumps.size()); });
    row("SNR of line probing, dB", [](Direction d) { return fmt::format("{:.1f}", d.snr_db); });
    row("V.34, bit/s", [](Direction d) { return fmt::format("{}", d.best_rate()); });
    row("sender's echo, dB", [](Direction d) {
      return d.echo ? fmt::format("{:.1f} after {:.1f} ms", d.echo->loss_db, d.echo->delay_ms) : "none";
    });
    say("{}", table.lines());
    for (const std::string& finding : r.findings()) say("{}\n", finding);
  }
  if (interrupted()) return interrupt_status();
  const auto silent = [](const measure::TrunkDirection& d) { return d.path == measure::TrunkPath::kSilent; };
  return silent(r.a_to_b) || silent(r.b_to_a) ? kInsufficient : kOk;
}

}  // namespace

void add_trunk_test(App& app, Action& action) {
  App* sub = app.add_subcommand("trunk-test", "Measure the effect of a telephone network on a modem's octets");
  auto options = std::make_shared<TrunkTestOptions>();
  sub->add_option(
         "place", options->places,
         "sip:USER@HOST: the account calls itself by --number. Or two cards with octets of G.711 that are connected: "
         "rtp:LOCAL,REMOTE rtp:LOCAL,REMOTE")
      ->required()
      ->type_name("PLACE")
      ->expected(1, 2);
  sub->add_option("--number", options->number, "Number that the network connects with this same account")
      ->type_name("NUMBER");
  sub->add_option("--seconds", options->seconds, "Duration of the test: each end sends for half of it")
      ->type_name("S")
      ->check(in_range(measure::kLeastTrunkSeconds, 3600.0));
  sub->add_option("--context", options->context, "Context of both modems, as in `offhook modem`")->type_name("CONTEXT");
  add_live_options(*sub, options->interrupt_priority, options->best_effort);
  add_text_output(*sub, kJsonOption, options->json, "Result as JSON");
  sub->add_option("--html", options->html, "Write a page: octets, jumps, line probing in both directions")
      ->type_name("FILE");
  add_figures(*sub, options->figures);
  sub->footer(R"(Examples:
  offhook trunk-test sip:100@192.0.2.1,password-file=sip.password --number 100
  offhook trunk-test rtp::4000,192.0.2.1:4000 rtp::4002,192.0.2.1:4002 --seconds 60 --json

Each end sends random octets and the line probing signal of V.34 for half of the time. The result states for each direction
whether the octets arrive unchanged, by a fixed map (a pad, another law, robbed bits) or altered, the samples lost, the jumps
of the delay, the echo, and the rate that V.34 would project. The signal is loud: do not send it to a person.
)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
