// SPDX-License-Identifier: MIT
#include "hostsim/call/fax_call.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "driver/base/left_behind.h"
#include "driver/core/logged_rate.h"
#include "driver/fax/slots.h"
#include "driver/fax/tiff.h"
#include "hostsim/call/fax_machine.h"
#include "hostsim/call/line_between.h"

namespace offhook::hostsim {
namespace {

constexpr std::size_t kPollSamples = 80;  // of the far machine: its T.30 runs every 10 ms
// When one machine has hung up, the exchange ends the other machine's call.
constexpr Ns kReleased = 5'000'000'000;

/// The files of the pages, which spandsp reads and writes by name.
class PageFiles {
 public:
  explicit PageFiles(const Scenario& s) { fax::write_test_pages(sent(), s.fax.pages, s.fax.lines, s.seed); }

  std::string sent() const { return (folder_.path() / "sent.tif").string(); }
  std::string received() const { return (folder_.path() / "received.tif").string(); }
  std::uint32_t whole() const { return fax::whole_pages(sent(), received()); }

 private:
  TemporaryFolder folder_{"fax"};
};

/// An end of the call, with its states in the log.
class FaxEnd {
 public:
  FaxEnd(std::unique_ptr<FaxMachine> machine, std::uint16_t id, oh_event_log* log)
      : machine_(std::move(machine)), id_(id), log_(log) {}

  oh_pump pump() const { return machine_->pump(); }
  void poll(Ns now) { machine_->poll(now); }
  void end_call() { machine_->end_call(); }
  const fax::Progress& progress() const { return machine_->progress(); }
  const FaxMachine& machine() const { return *machine_; }
  /// Whether it sends or receives a page.
  bool in_page() const { return machine_->status().state == OH_PUMP_DATA; }

  void look(Ns now) {
    const oh_pump_status s = machine_->status();
    if (s.state == state_) return;
    state_ = s.state;
    write(now, OH_EV_PUMP_STATE, static_cast<std::uint32_t>(state_));
    if (state_ == OH_PUMP_DATA)
      write(now, OH_EV_PUMP_RATES, logged_rate(s.tx_bit_rate) | logged_rate(s.rx_bit_rate) << 16);
  }

 private:
  void write(Ns now, oh_event_kind kind, std::uint32_t argument) {
    oh_event_log_write(log_, static_cast<std::uint64_t>(now), kind, id_, argument);
  }
  std::unique_ptr<FaxMachine> machine_;
  std::uint16_t id_;
  oh_event_log* log_;
  oh_pump_state state_ = OH_PUMP_IDLE;
};

class FaxConnection final : public Connection {
 public:
  FaxConnection(const Scenario& s, oh_event_log* log, LineTap tap)
      : pages_(s.fax.pages),
        near_sends_(s.role == OH_PUMP_CALL),
        runs_(static_cast<Ns>(s.device_s * 1e9)),
        stop_at_loss_(s.stop_at_loss),
        streams_(s.device.streams()),
        tap_(std::move(tap)),
        files_(s),
        near_(s.fax.gateway ? make_fax_gateway(s, config(s, near_sends_))
                            : make_fax_machine(s.role, config(s, near_sends_), s.fax.v34),
              0, log),
        far_(make_fax_machine(near_sends_ ? OH_PUMP_ANSWER : OH_PUMP_CALL, config(s, !near_sends_), s.fax.v34), 1, log),
        line_(make_line_between(s, [this](const void* rx, void* tx, std::size_t n) { serve_far(rx, tx, n); })) {}

  void bind(Engine& engine, SimulatedCard& card, const oh_driver& driver) override {
    engine_ = &engine;
    card_ = &card;
    driver_ = &driver;
  }
  oh_streams streams() const override { return streams_; }
  oh_pump near_pump() override { return near_.pump(); }
  oh_line_end line() override {
    return {[](void* self, const void* played, void* captured, std::size_t n) {
              static_cast<FaxConnection*>(self)->exchange(static_cast<const std::int16_t*>(played),
                                                          static_cast<std::int16_t*>(captured), n);
            },
            this};
  }
  void start(Ns now) override { started_ = now; }
  bool in_data() const override { return near_.in_page(); }

  void exchange_user_data(Ns now) override {
    now_ = now;
    near_.poll(now);
    near_.look(now);
    far_.look(now);
    const bool near_over = near_.progress().over, far_over = far_.progress().over;
    if (over_at_ >= 0 || (!near_over && !far_over)) return;
    if (first_over_ < 0) {
      first_over_ = now;
      reason_ = (near_over ? near_ : far_).progress().failure;
    }
    if (now - first_over_ >= kReleased) (near_over ? far_ : near_).end_call();
    if (!near_.progress().over || !far_.progress().over) return;
    over_at_ = now;
    whole_ = files_.whole();
  }

  TransferStatus status() const override {
    TransferStatus s;
    s.connected = started_ >= 0;
    s.connected_at = started_;
    if (!s.connected) return s;
    s.retrains = std::max(sender().trainings, 1u) - 1;
    const bool lost = samples_lost(*driver_, *card_), late = engine_->now() - started_ >= runs_;
    if (over_at_ < 0 && !late && !(stop_at_loss_ && lost)) return s;
    s.intact = over_at_ >= 0 && whole_ == pages_;
    const bool complete = s.intact && sender().complete;
    s.done = stop_at_loss_ ? !lost : complete;
    s.failed = !s.done;
    if (s.done) s.done_at = over_at_ >= 0 ? over_at_ : engine_->now();
    if (s.failed) s.failure = reason() + (lost ? "; samples were lost" : "; no sample was lost");
    return s;
  }

  std::shared_ptr<const FaxStatus> fax_status() const override {
    FaxStatus s;
    s.due = pages_;
    s.confirmed = sender().pages_sent;
    s.over = over_at_ >= 0;
    s.whole = s.over ? whole_ : files_.whole();
    s.error_correction = sender().error_correction;
    s.trainings = sender().trainings;
    s.failed_trainings = sender().failed_trainings;
    s.refused_pages = sender().refused_pages;
    s.frames_again = sender().frames_again;
    s.bad_lines = receiver().bad_lines;
    s.starved_bits = near_.machine().starved_bits();
    const FaxMachine::Packets packets = near_.machine().packets();
    s.packets_sent = packets.sent;
    s.packets_recovered = packets.recovered;
    s.packets_lost = packets.lost;
    s.lasted_s = started_ < 0 ? 0 : static_cast<double>((s.over ? over_at_ : now_) - started_) * 1e-9;
    s.complete = sender().complete;
    if (!s.complete) s.failure = t30_reason();
    s.pages = taken_;
    return std::make_shared<const FaxStatus>(std::move(s));
  }

 private:
  const fax::Progress& sender() const { return (near_sends_ ? near_ : far_).progress(); }
  const fax::Progress& receiver() const { return (near_sends_ ? far_ : near_).progress(); }

  fax::TerminalConfig config(const Scenario& s, bool sends) {
    fax::TerminalConfig c;
    c.calls = sends;
    (sends ? c.send : c.receive) = sends ? files_.sent() : files_.received();
    c.error_correction = s.fax.error_correction;
    c.max_bit_rate = s.fax.max_bit_rate;
    if (!sends) c.page = [this](const fax::Progress& p) { take_page(p); };
    return c;
  }
  void take_page(const fax::Progress& p) {
    const std::uint32_t again = sender().frames_again;
    taken_.push_back({.page = static_cast<std::uint32_t>(taken_.size()) + 1,
                      .taken_s = static_cast<double>(now_ - started_) * 1e-9,
                      .modulation = std::string(fax::modulation_name(p.modulation)),
                      .bit_rate = p.bit_rate,
                      .frames_again = again - again_,
                      .bad_lines = p.bad_lines - bad_lines_});
    again_ = again;
    bad_lines_ = p.bad_lines;
  }

  std::string t30_reason() const { return sender().complete ? "" : reason_.empty() ? sender().failure : reason_; }
  std::string reason() const {
    if (over_at_ < 0) return stop_at_loss_ ? "stopped at the first loss" : "time limit before the end of the fax";
    if (const std::string t30 = t30_reason(); !t30.empty()) return "T.30 ended the call: " + t30;
    return "pages with wrong pixels arrived";
  }

  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
    line_->exchange(played, captured, n);
    if (tap_) tap_({captured, n}, {played, n});
  }
  void serve_far(const void* rx, void* tx, std::size_t n) {
    far_samples_ += n;
    if (far_samples_ >= kPollSamples) {
      far_samples_ = 0;
      far_.poll(engine_->now());
    }
    const oh_pump pump = far_.pump();
    pump.process(pump.self, rx, tx, n);
  }

  const std::uint32_t pages_;
  const bool near_sends_;
  const Ns runs_;
  const bool stop_at_loss_;
  const oh_streams streams_;
  LineTap tap_;
  PageFiles files_;
  FaxEnd near_, far_;
  std::unique_ptr<LineBetween> line_;
  std::size_t far_samples_ = 0;
  std::vector<FaxStatus::Page> taken_;
  std::uint32_t again_ = 0, bad_lines_ = 0;  // up to and including the newest page
  std::uint32_t whole_ = 0;
  std::string reason_;  // of the machine that ended first
  Engine* engine_ = nullptr;
  SimulatedCard* card_ = nullptr;
  const oh_driver* driver_ = nullptr;
  Ns now_ = 0, started_ = -1, first_over_ = -1, over_at_ = -1;
};

}  // namespace

void check_fax(const Scenario& s) {
  if (s.line_kind != LineKind::kAnalogue)
    throw std::invalid_argument("a fax on this kind of line; expected line.kind = \"analogue\"");
  if (s.device.rate_hz != OH_MODEM_RATE_HZ)
    throw std::invalid_argument("a fax on a card of " + std::to_string(s.device.rate_hz) +
                                " samples/s; expected 8000, such as device = \"fax\"");
  if (!s.device.pump.empty())
    throw std::invalid_argument("a fax whose device.pump is \"" + s.device.pump + "\"; expected none");
  if (s.fax.v34 && !s.fax.error_correction)
    throw std::invalid_argument("a fax over V.34 without error correction; expected fax.error_correction = true");
  if (s.fax.v34 && s.fax.gateway) throw std::invalid_argument("a T.38 gateway with V.34; expected fax.gateway = false");
}

std::unique_ptr<Connection> make_fax_connection(const Scenario& scenario, oh_event_log* log, LineTap tap) {
  check_fax(scenario);
  return std::make_unique<FaxConnection>(scenario, log, std::move(tap));
}

}  // namespace offhook::hostsim
