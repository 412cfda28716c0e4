// SPDX-License-Identifier: MIT
//
// `offhook line`: the hardware of two cards, and the telephone line between them, in real time.
#include "hostsim/channel/line.h"

#include <fmt/format.h>
#include <spandsp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <numbers>
#include <utility>

#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "driver/context/live_context.h"
#include "driver/live/shared_card.h"
#include "driver/live/timer_card.h"
#include "dsp/automode/conversion.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/channel/digital_trunk.h"
#include "src/measure/host_description.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

using hostsim::kLineRateHz;
constexpr std::uint32_t kBurst = hostsim::Line::kFarBlock;  // 1 ms, moved by the line in one step
constexpr std::int64_t kRingOnMs = 2000, kRingPeriodMs = 6000;

struct LineOptions {
  std::string call, answer;
  std::vector<std::string> set;
  std::uint64_t seed = 1;
  int priority = 90;
  TextOutput json;
  bool best_effort = false;
};

/// One card's hardware: moves samples to and from two buffers, and raises interrupts. Without a modem it is on hook.
class Hardware {
 public:
  /// @param news  gets arrivals and departures
  Hardware(const std::string& path, const oh_pump_format& format, std::FILE* news)
      : path_(path), news_(news), format_(format), conversion_(format), server_(path, hostsim::card_streams(format)) {}
  bool has_modem() const { return has_modem_; }
  /// Serves clients that connect for up to `ms`, and detects departures. Another client, or the same one, may then take
  /// the place.
  void follow(int ms) {
    if (has_modem_ && server_.modem_left()) {
      has_modem_ = false;
      say(news_, "the modem at {} has left\n", path_);
    }
    if (has_modem_ || !server_.wait_for_modem(ms)) return;
    has_modem_ = true;
    say(news_, "a modem is connected at {}\n", path_);
    std::fflush(news_);
    oh_card_engine_init(&engine_, &server_.card(), nullptr);
    oh_card_engine_start(&engine_, 0);
  }
  bool off_hook() const { return has_modem_ && oh_card_off_hook(&server_.state()); }
  bool ringing() const { return has_modem_ && oh_card_ringing(&server_.state()); }
  void set_ringing(bool rings) {
    if (has_modem_) oh_card_set_ringing(&server_.state(), rings ? 1 : 0);
  }

  /// The next kBurst sample periods: captured() to the driver, the driver's samples into played().
  void run() {
    if (!has_modem_) {
      played_.fill(0);
      if (conversion_.is_octets()) octets(played_).fill(oh_silence(format_.tx.encoding));
    } else if (oh_card_engine_copy(&engine_, played_.data(), captured_.data(), kBurst, 0) > 0) {
      server_.raise_interrupt();
    }
  }
  /// The burst's samples in the card's format; octets of G.711 lie in the first half.
  using Octets = std::array<std::uint8_t, kBurst>;
  std::int16_t* played() { return played_.data(); }
  std::int16_t* captured() { return captured_.data(); }
  Octets& played_octets() { return octets(played_); }
  Octets& captured_octets() { return octets(captured_); }

  /// Linear at 8000 Hz, for the exchange's tones and for digits. [kBurst]
  void said(std::int16_t* linear) const {
    for (std::size_t i = 0; i < kBurst; ++i) linear[i] = conversion_.sent(played_.data(), i);
  }
  void hear(const std::int16_t* linear) {
    for (std::size_t i = 0; i < kBurst; ++i) {
      if (conversion_.is_octets()) {
        conversion_.send(linear[i], captured_.data(), i);
      } else {
        const std::size_t ratio = format_.rx.rate_hz / kLineRateHz;
        std::fill_n(captured_.begin() + static_cast<std::ptrdiff_t>(i * ratio), ratio, linear[i]);
      }
    }
  }

 private:
  template <class Samples>
  static Octets& octets(Samples& samples) {
    return *reinterpret_cast<Octets*>(samples.data());
  }
  std::string path_;
  std::FILE* news_;
  oh_pump_format format_;
  automode::Conversion conversion_;
  CardServer server_;
  oh_card_engine engine_{};
  std::array<std::int16_t, kBurst> played_{};
  std::array<std::int16_t, kBurst * hostsim::DigitalTrunk::kReceivedRatio> captured_{};
  bool has_modem_ = false;
};

/// The exchange's tones for a subscriber: the precise plan of North America (ITU-T E.180, Supplement 2), at
/// -13 dBm0 each.
class Tones {
 public:
  enum class Kind { kNone, kDial, kRinging, kBusy };
  void play(Kind kind, std::int16_t* out, std::size_t n) {
    if (kind != kind_) at_ = 0;
    kind_ = kind;
    constexpr double kAmplitude = 5098;  // -13 dBm0; a full-scale sine has +3.14
    constexpr double kPair[][2] = {{0, 0}, {350, 440}, {440, 480}, {480, 620}};
    constexpr std::uint64_t kOn[] = {0, 1, 2 * kLineRateHz, kLineRateHz / 2},
                            kPeriod[] = {1, 1, 6 * kLineRateHz, kLineRateHz};
    const auto k = static_cast<std::size_t>(kind);
    for (std::size_t i = 0; i < n; ++i, ++at_) {
      const double t = 2 * std::numbers::pi * static_cast<double>(at_) / kLineRateHz;
      out[i] = at_ % kPeriod[k] >= kOn[k]
                   ? std::int16_t{0}
                   : static_cast<std::int16_t>(kAmplitude * (std::sin(kPair[k][0] * t) + std::sin(kPair[k][1] * t)));
    }
  }

 private:
  Kind kind_ = Kind::kNone;
  std::uint64_t at_ = 0;
};

/// One subscriber's line before there is a connection: dial tone until a digit arrives; after the last digit, the other
/// subscriber's line rings.
class Subscriber {
 public:
  explicit Subscriber(std::FILE* news) : news_(news), digits_(dtmf_rx_init(nullptr, nullptr, nullptr)) {}
  ~Subscriber() { dtmf_rx_free(digits_); }
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  /// @param busy  the other one is off hook, or stayed off hook after a call  @return whether it calls the other one
  bool run(bool off_hook, bool busy, const std::int16_t* said, std::int16_t* hears) {
    if (!off_hook) {
      tell_number();
      quiet_ = count_ = 0;
      tones_.play(Tones::Kind::kNone, hears, kBurst);
      return false;
    }
    dtmf_rx(digits_, said, kBurst);
    char digits[16];
    if (const std::size_t n = dtmf_rx_get(digits_, digits, sizeof digits - 1); n > 0) {
      number_ += digits;
      count_ += n;
      quiet_ = 0;
    }
    quiet_ += kBurst;
    const bool dialled = quiet_ > (count_ > 0 ? kLastDigit : kHotLine);
    if (dialled) tell_number();
    tones_.play(busy && (dialled || count_ == 0) ? Tones::Kind::kBusy
                : dialled                        ? Tones::Kind::kRinging
                : count_ == 0                    ? Tones::Kind::kDial
                                                 : Tones::Kind::kNone,
                hears, kBurst);
    return dialled && !busy;
  }

 private:
  void tell_number() {
    if (!number_.empty()) say(news_, "dialled {}\n", std::exchange(number_, {}));
  }

  static constexpr std::uint64_t kLastDigit = 2 * kLineRateHz;  // time after a digit until the number is complete
  static constexpr std::uint64_t kHotLine = 8 * kLineRateHz;    // time until the other one is called without digits
  std::FILE* news_;
  dtmf_rx_state_t* digits_;
  Tones tones_;
  std::string number_;  // its digits that were not printed yet
  std::uint64_t quiet_ = 0;
  std::size_t count_ = 0;
};

/// A connection of two cards.
class Connection {
 public:
  virtual ~Connection() = default;
  /// The next kBurst sample periods of both.
  virtual void run() = 0;
};

class AnalogueConnection final : public Connection, private hostsim::FarEnd {
 public:
  AnalogueConnection(Hardware& near, Hardware& far, const hostsim::LineConfig& config, std::uint64_t seed)
      : near_(near), far_(far), line_(config, seed, *this) {}
  void run() override {
    near_.run();
    line_.exchange(near_.played(), near_.captured(), kBurst);
  }

 private:
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t) override {
    std::copy_n(rx, kBurst, far_.captured());
    far_.run();
    std::copy_n(far_.played(), kBurst, tx);
  }
  Hardware& near_;
  Hardware& far_;
  hostsim::Line line_;
};

/// The digital card is a burst behind: it gets the octets of a burst when the trunk has made all of them.
class TrunkConnection final : public Connection, private hostsim::DigitalEnd {
 public:
  TrunkConnection(Hardware& analogue, Hardware& digital, const hostsim::DigitalTrunkConfig& config, std::uint64_t seed)
      : analogue_(analogue), digital_(digital), trunk_(config, seed, *this) {}
  void run() override {
    analogue_.run();
    for (std::size_t i = 0; i < kBurst; ++i)
      trunk_.exchange(analogue_.played()[i], analogue_.captured() + i * hostsim::DigitalTrunk::kReceivedRatio);
  }

 private:
  std::uint8_t process(std::uint8_t rx) override {
    if (at_ == kBurst) {
      digital_.run();
      at_ = 0;
    }
    digital_.captured_octets()[at_] = rx;
    return digital_.played_octets()[at_++];
  }
  Hardware& analogue_;
  Hardware& digital_;
  hostsim::DigitalTrunk trunk_;
  std::size_t at_ = kBurst;
};

/// The line between two cards: tones, ringing, or a connection, as the hooks are.
class Exchange {
 public:
  using Connect = std::function<std::unique_ptr<Connection>(std::uint64_t seed)>;
  /// @param news  gets the events
  Exchange(Hardware& near, Hardware& far, Connect connect, std::uint64_t seed, std::FILE* news)
      : near_(near),
        far_(far),
        connect_(std::move(connect)),
        seed_(seed),
        news_(news),
        near_subscriber_(news),
        far_subscriber_(news) {}
  std::uint64_t calls() const { return calls_; }

  void run_ms() {
    const bool a_off = near_.off_hook(), b_off = far_.off_hook();
    if (a_off && b_off && !connection_) {
      connection_ = connect_(seed_++);
      ++calls_;
      say(news_, "connected\n");
      near_.set_ringing(false);
      far_.set_ringing(false);
    } else if (connection_ && !(a_off && b_off)) {
      connection_.reset();
      say(news_, "cleared\n");
    }
    // Each end is left behind by a call until it has been on hook itself, whenever the other one was.
    near_left_ = a_off && (connection_ || near_left_);
    far_left_ = b_off && (connection_ || far_left_);
    if (connection_) {
      connection_->run();
    } else {
      // A modem that stays off hook after a call calls no other modem.
      const bool calls_b = serve(near_subscriber_, near_, a_off, b_off || near_left_);
      const bool calls_a = serve(far_subscriber_, far_, b_off, a_off || far_left_);
      if (!calls_a && !calls_b) next_ring_ = 0;
      ring(near_, calls_a);
      ring(far_, calls_b);
    }
    ++ms_;
  }

 private:
  static bool serve(Subscriber& subscriber, Hardware& card, bool off_hook, bool busy) {
    std::int16_t said[kBurst], hears[kBurst];
    card.run();
    card.said(said);
    const bool calls = subscriber.run(off_hook, busy, said, hears);
    card.hear(hears);
    return calls;
  }
  void ring(Hardware& card, bool called) {
    const bool begins = called && !card.ringing() && ms_ >= next_ring_;
    if (begins) {
      card.set_ringing(true);
      next_ring_ = ms_ + kRingPeriodMs;
      ring_ends_ = ms_ + kRingOnMs;
    } else if (!called || ms_ >= ring_ends_) {
      card.set_ringing(false);
    }
  }

  Hardware& near_;
  Hardware& far_;
  Connect connect_;
  std::uint64_t seed_;
  std::FILE* news_;
  std::uint64_t calls_ = 0;
  std::unique_ptr<Connection> connection_;
  Subscriber near_subscriber_, far_subscriber_;
  bool near_left_ = false, far_left_ = false;
  std::int64_t ms_ = 0, next_ring_ = 0, ring_ends_ = 0;
};

struct Ran {
  double seconds = 0;
  std::uint64_t calls = 0, bursts_late = 0;
  measure::HostDescription host;
};

using RanKeys = record::Written<Ran>;
constexpr record::Row kLineDocumentRows[] = {
    RanKeys::of<&Ran::seconds>("seconds", "s", "time that the line ran"),
    RanKeys::of<&Ran::calls>("calls", "", "calls that connected"),
    RanKeys::of<&Ran::bursts_late>("bursts_late", "", "bursts of 1 ms that were more than 1 ms late"),
    RanKeys::part<&Ran::host>("host", measure::kHostDescription).described_apart("this machine"),
};

/// @throws std::runtime_error, config::Error
hostsim::Scenario line_of(const LineOptions& options) {
  config::ScenarioBuilder builder;
  for (const std::string& assignment : options.set) {
    if (!assignment.starts_with("line.") && !assignment.starts_with("trunk.")) {
      throw std::runtime_error(fmt::format(
          "--set {}: unknown key of the line; expected line.KEY=VALUE, or trunk.KEY=VALUE of a digital trunk",
          assignment));
    }
    builder.set(assignment);
  }
  const hostsim::LineKind kind = builder.scenario().line_kind;
  if (kind != hostsim::LineKind::kAnalogue && kind != hostsim::LineKind::kDigitalTrunk)
    throw std::runtime_error("--set line.kind: expected analogue or digital-trunk between two modem cards");
  builder.set("pump.modem=\"auto\"");  // any modem may come
  return builder.finish();
}

int run(const LineOptions& options) {
  if (options.call == options.answer)
    throw std::runtime_error(printable(options.call) + ": is the path of both cards; expected two paths");
  const hostsim::Scenario scenario = line_of(options);
  catch_interrupts();  // before there are sockets, so that they do not stay behind
  std::FILE* news = options.json.alone() ? stderr : stdout;
  Hardware near(options.call, hostsim::near_format(scenario), news);
  Hardware far(options.answer, hostsim::far_format(scenario), news);
  Exchange exchange(
      near, far,
      [&](std::uint64_t seed) -> std::unique_ptr<Connection> {
        if (scenario.line_kind == hostsim::LineKind::kAnalogue)
          return std::make_unique<AnalogueConnection>(near, far, scenario.line, seed);
        return std::make_unique<TrunkConnection>(scenario.near_is_digital ? far : near,
                                                 scenario.near_is_digital ? near : far, scenario.trunk, seed);
      },
      options.seed, news);
  if (const std::string why = become_fifo(options.priority); options.priority > 0 && !why.empty()) {
    if (!options.best_effort) throw std::runtime_error(why + "; or continue without it by --best-effort");
    say(stderr, "offhook: {}\n", why);
  }
  if (const std::string why = lock_memory(); !why.empty() && !options.best_effort) throw std::runtime_error(why);

  say(news, "cards at {} and {}: waiting for a modem at each\n", options.call, options.answer);
  flush_output();
  while (!near.has_modem() || !far.has_modem()) {  // neither waits for the other's card
    if (interrupted()) return interrupt_status();
    near.follow(50);
    far.follow(50);
  }
  SamplePacer pacer(kLineRateHz, 0);
  pacer.start();
  std::uint64_t passed = 0;
  Ran ran;
  for (;; near.follow(0), far.follow(0)) {
    if (interrupted() || !(near.has_modem() || far.has_modem())) break;
    passed += kBurst;
    pacer.sleep_until(passed);
    if (pacer.samples_now() > passed + kBurst) ++ran.bursts_late;
    exchange.run_ms();
  }
  ran.seconds = static_cast<double>(passed) / kLineRateHz;
  ran.calls = exchange.calls();
  ran.host = measure::describe_host();
  options.json.write(record::json_text(kLine, &ran, 1));
  if (!options.json.alone()) say("{:.1f} s; {} bursts were more than 1 ms late\n", ran.seconds, ran.bursts_late);
  return interrupted() ? interrupt_status() : kOk;
}

}  // namespace

constexpr record::Table kLine{kLineDocumentRows};

void add_line(App& app, Action& action) {
  App* sub = app.add_subcommand("line", "Emulate two cards and the telephone line between them, in real time");
  auto options = std::make_shared<LineOptions>();
  sub->add_option("call", options->call, "Socket of the first card")->required()->type_name("CALL_PATH");
  sub->add_option("answer", options->answer, "Socket of the second card")->required()->type_name("ANSWER_PATH");
  sub->add_option("--set", options->set,
                  "Override a key of the line or the trunk (offhook help keys scenario line., or trunk.)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  sub->add_option("--seed", options->seed, "Seed of the line's noise")->type_name("N")->check(seed());
  sub->add_option("--priority", options->priority, "SCHED_FIFO priority of the hardware's thread (0: a normal thread)")
      ->type_name("N")
      ->check(in_range(0, 98));
  sub->add_flag("--best-effort", options->best_effort, "Continue without real-time privileges");
  add_text_output(*sub, kJsonOption, options->json, "Summary as JSON, with the host (messages go to standard error)");
  sub->footer(R"(Examples:
  offhook line /run/card-a /run/card-b &
  offhook modem unix:/run/card-a --tty /dev/ttySM0 --context "FIFO 50" &
  offhook modem unix:/run/card-b --tty /dev/ttySM1 --context "RES 2ms/8ms" &

A card consists of the memory of two rings and an interrupt (an eventfd), which the connecting modem receives. A modem
that goes off hook hears dial tone. When it has dialled any number in DTMF, the other modem rings. When both are off
hook, the line connects them. A modem that leaves is on hook and may return. The command ends when both have left.

With --set line.kind=digital-trunk, the first card is an analogue modem's, which receives 16,000 samples/s, and the
second one has the network's octets: `AT+MS=V90` on both gives a V.90 call. trunk.near_end=digital exchanges the two cards.
)");
  sub->require_subcommand(0, 1);
  add_card(*sub, action);
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
