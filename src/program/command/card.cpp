// SPDX-License-Identifier: MIT
//
// `offhook line card`: the hardware of a PCI card for a virtual machine, the telephone line at it, and the modem at the
// other end.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "driver/base/output.h"
#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "driver/core/card_memory.h"
#include "driver/core/line_end.h"
#include "driver/kernel/ivshmem.h"
#include "driver/live/shared_card.h"
#include "driver/live/timer_card.h"
#include "driver/user_modem/modem.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/random_file.h"
#include "hostsim/channel/line.h"
#include "offhook/driver.h"
#include "offhook/kernel_modem.h"
#include "offhook/modem.h"
#include "src/program/command/card_call.h"
#include "src/program/command/kernel_call.h"
#include "src/program/command/kernel_run.h"
#include "src/program/command/option_words.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"
#include "src/program/command/socket_modem.h"
#include "traces/scenario/scenario.h"

namespace offhook::command {
namespace {

/// The hardware of a card whose driver is another process: `offhook modem unix:PATH`.
class OtherCard final : public FarParty {
 public:
  explicit OtherCard(const std::string& path) : server_(path, oh_modem_streams(hostsim::kLineRateHz)) {}
  bool wait_for_modem(int ms) {
    if (!server_.wait_for_modem(ms)) return false;
    oh_card_engine_init(&engine_, &server_.card(), nullptr);
    oh_card_engine_start(&engine_, 0);
    return true;
  }
  void process(const void* rx, void* tx, std::size_t n) override {
    if (oh_card_engine_copy(&engine_, tx, rx, static_cast<std::uint32_t>(n), 0) > 0) server_.raise_interrupt();
  }
  // Half the ring is for it, because it computes while the other card's driver does.
  bool caught_up() const override {
    const std::uint64_t read = __atomic_load_n(&server_.state().rx_read, __ATOMIC_ACQUIRE);
    return server_.modem_left() || engine_.position < read + OH_MODEM_RING_SAMPLES / 4;
  }
  void add_to(CardSummary& summary) const override {
    const oh_card_counters c = oh_card_counts(&server_.state());
    summary.far_overrun = c.overrun_samples;
    summary.far_underrun = c.underrun_samples;
  }

 private:
  CardServer server_;
  oh_card_engine engine_{};
};

using CardSummaryKeys = record::Written<CardSummary>;
constexpr record::Row kCardRows[] = {
    CardSummaryKeys::of<&CardSummary::interrupts>("interrupts", "", "interrupts raised"),
    CardSummaryKeys::of<&CardSummary::overrun>("overrun", "sample periods", "received samples that were lost"),
    CardSummaryKeys::of<&CardSummary::underrun>("underrun", "sample periods", "samples missing when due for sending"),
    CardSummaryKeys::of<&CardSummary::near_received>("near_received", "bytes", "received by the modem at the card")
        .absent("without --in-process"),
    CardSummaryKeys::of<&CardSummary::seconds>("seconds", "s", "line time"),
    CardSummaryKeys::of<&CardSummary::hashed_seconds>("hashed_seconds", "s", "hashed part of the line time, --hash"),
    CardSummaryKeys::of<&CardSummary::hash>("hash", "",
                                            "hash (FNV-1a, hexadecimal) of the samples at the codec, both directions"),
    CardSummaryKeys::of<&CardSummary::hash_played>("hash_played", "", "hash of the played samples alone"),
    CardSummaryKeys::of<&CardSummary::far_received>("far_received", "bytes", "received by the far modem")
        .absent("the far modem is another program"),
    CardSummaryKeys::of<&CardSummary::far_retrains>("far_retrains", "", "retrains of the far modem")
        .absent("the far modem is another program"),
    CardSummaryKeys::of<&CardSummary::far_overrun>("far_overrun", "samples", "overruns of the second card")
        .absent("without --far-card"),
    CardSummaryKeys::of<&CardSummary::far_underrun>("far_underrun", "samples", "underruns of the second card")
        .absent("without --far-card"),
    CardSummaryKeys::of<&CardSummary::far_end>("far_end", "", "why the external program stopped sending, --far-end")
        .absent("the external program did not stop sending"),
};

/// @param summary  receives the counters of the card
void finish(const CardOptions& options, const CardCall& call, const FarParty& far, CardSummary summary) {
  if (const auto* octets = far.received(); octets != nullptr && !options.receive.empty())
    write_file(options.receive, {reinterpret_cast<const char*>(octets->data()), octets->size()}, Privacy::kPrivate);
  if (!options.record.empty())
    write_file(options.record, {reinterpret_cast<const char*>(call.heard().data()), call.heard().size()},
               Privacy::kPrivate);
  call.add_to(summary);
  far.add_to(summary);
  say("{}\n", Lines(record::json_text(kCardCall, &summary)));
  flush_output();
}

/// Time between two checks of the commands.
class Clock {
 public:
  /// @param rate_hz  of the card's periods
  Clock(const std::string& name, std::uint32_t rate_hz) : burst_(rate_hz / 1000) {
    if (name == "stepped") return;
    if (name == "guest") {
      guest_ = true;
      return;
    }
    double slowed = 1;
    if (name.starts_with("slowed:")) {
      slowed = std::stod(name.substr(7));
    } else if (name != "real") {
      throw std::runtime_error("--clock " + name + ": expected stepped, real, slowed:FACTOR or guest");
    }
    if (!(slowed >= 1 && slowed <= 1000))
      throw std::runtime_error("--clock " + name + ": expected a factor of 1 to 1000");
    pacer_.emplace(static_cast<std::uint32_t>(rate_hz / slowed), 0);
  }
  bool stepped() const { return !pacer_ && !guest_; }
  std::uint32_t burst() const { return burst_; }
  /// The virtual machine moves the samples itself.
  bool guest() const { return guest_; }
  void start() {
    passed_ = 0;
    if (pacer_) pacer_->start();
  }
  void sleep() {
    passed_ += burst_;
    pacer_->sleep_until(passed_);
  }

 private:
  std::uint32_t burst_;  // 1 ms: samples that a clock moves in one step
  std::optional<SamplePacer> pacer_;
  bool guest_ = false;
  std::uint64_t passed_ = 0;
};

/// The card's life with one virtual machine.
class Bench {
 public:
  Bench(const CardOptions& options, const hostsim::Scenario& scenario)
      : options_(options),
        scenario_(scenario),
        streams_(card_streams(scenario)),
        clock_(options.clock, oh_streams_rate_hz(&streams_)),
        transport_(options.socket, options.ram),
        card_(transport_, streams_, clock_.stepped()) {
    if (!options.far_card.empty()) other_ = std::make_unique<OtherCard>(options.far_card);
    const std::size_t at = options.fault.find('@');
    if (!options.fault.empty()) {
      if (at == std::string::npos) throw std::runtime_error("--fault " + options.fault + ": expected FAULT@SECONDS");
      fault_ = parse_fault(options.fault.substr(0, at));
      fault_at_ = static_cast<std::uint64_t>(std::stod(options.fault.substr(at + 1)) * oh_streams_rate_hz(&streams_));
    }
  }
  int run() {
    while (other_ && !other_->wait_for_modem(100)) {
      if (interrupted()) return interrupt_status();
    }
    while (!transport_.wait_for_host(100)) {
      if (interrupted()) return interrupt_status();
    }
    bool there = true;
    while (there && !interrupted()) {
      card_.set_ringing(!card_.running() && options_.rings && ring_voltage());
      if (clock_.guest()) {  // commands are also answered there
        there = transport_.wait_doorbell(100);
        continue;
      }
      there = !card_.running()     ? transport_.wait_doorbell(100)
              : !clock_.stepped()  ? pass()
              : !far_->caught_up() ? transport_.wait_doorbell(1)
              : card_.caught_up()  ? pass()
                                   : transport_.wait_doorbell(100);
      const bool was_running = card_.running();
      if (card_.take_command()) {
        if (was_running) end_call();
        begin_call();
        clock_.start();
      } else if (was_running && !card_.running()) {
        end_call();
      }
    }
    if (call_) end_call();
    return interrupted() ? interrupt_status() : kOk;
  }

 private:
  /// The cadence of North American exchanges: 2 s of 6.
  static bool ring_voltage() { return monotonic_ns() / 1'000'000'000 % 6 < 2; }
  /// One block or burst. @return whether the host still exists
  bool pass() {
    if (fault_ != CardFault::kNone && card_.position() >= fault_at_) card_.fail(fault_);
    if (!clock_.stepped()) clock_.sleep();
    card_.run(call_->handle(), clock_.stepped() ? std::max(card_.left(), 1u) : clock_.burst());
    // A failed card is not served, and a stepped clock would then run without limit.
    const bool failed = fault_ != CardFault::kNone && card_.position() >= fault_at_;
    return transport_.wait_doorbell(failed ? 10 : 0);
  }
  void begin_call() {
    if (!other_) party_ = make_far_party(options_, scenario_);
    far_ = other_ ? static_cast<FarParty*>(other_.get()) : party_.get();
    call_ = std::make_unique<CardCall>(options_, scenario_, *far_);
  }
  void end_call() {
    if (!call_) return;
    const oh_card_counters c = card_.counters();
    finish(options_, *call_, *far_,
           {.interrupts = c.interrupts, .overrun = c.overrun_samples, .underrun = c.underrun_samples});
    call_.reset();
    party_.reset();
  }

  CardOptions options_;
  hostsim::Scenario scenario_;
  oh_streams streams_;
  Clock clock_;
  IvshmemTransport transport_;
  PciCard card_;
  std::unique_ptr<OtherCard> other_;
  std::unique_ptr<FarParty> party_;  // of the call
  FarParty* far_ = nullptr;
  std::unique_ptr<CardCall> call_;
  CardFault fault_ = CardFault::kNone;
  std::uint64_t fault_at_ = 0;
};

/// The same call with the driver in this process: stepped, in slices as in a kernel.
int run_in_process(const CardOptions& options, const hostsim::Scenario& scenario) {
  struct Near {
    std::unique_ptr<Talker> talker;
    std::uint32_t slice, rx_octets, tx_octets;  ///< periods; of a period
    oh_driver driver{};
  };
  const oh_streams streams = card_streams(scenario);
  const std::uint32_t rate_hz = oh_streams_rate_hz(&streams);
  const std::unique_ptr<FarParty> far = make_far_party(options, scenario);
  CardCall call(options, scenario, *far);
  Near near{make_talker(options, scenario, options.lead), oh_kernel_slice(rate_hz),
            streams.rx.rate_hz / rate_hz * oh_sample_bytes(streams.rx.encoding),
            streams.tx.rate_hz / rate_hz * oh_sample_bytes(streams.tx.encoding)};
  CardMemory memory(streams);
  oh_card_engine engine{};
  oh_card_engine_init(&engine, &memory.card(), nullptr);
  std::vector<std::uint64_t> staging(oh_driver_staging_size(&memory.card()) / sizeof(std::uint64_t) + 1);
  oh_context_ops served{};  // immediately, in the interrupt
  served.struct_size = sizeof served;
  served.start = [](void*) { return 0; };
  served.stop = [](void*) {};
  served.request = [](void* self) { oh_driver_service(&static_cast<Near*>(self)->driver); };
  oh_driver_config config{};
  config.card = memory.card();
  config.pump = {[](void* self, const void* rx, void* tx, std::size_t n) {
                   Near& end = *static_cast<Near*>(self);
                   const auto* in = static_cast<const std::uint8_t*>(rx);
                   auto* out = static_cast<std::uint8_t*>(tx);
                   for (std::size_t k = 0; k < n; k += end.slice)
                     end.talker->process(in + k * end.rx_octets, out + k * end.tx_octets,
                                         std::min<std::size_t>(end.slice, n - k));
                 },
                 [](void* self, std::size_t n) { static_cast<Near*>(self)->talker->report_gap(n); }, &near};
  config.context = {&served, &near};
  config.staging = staging.data();
  config.policy = OH_SERVICE_DRAIN_ALL;
  config.transmit_lead_samples = options.lead;
  config.block_plan[0] = options.block;
  config.block_plan_length = 1;
  if (oh_driver_init(&near.driver, &config) != 0) throw std::runtime_error("invalid block length or transmit lead");
  oh_card_engine_start(&engine, 0);
  const oh_line_end end = call.handle();
  const auto total = static_cast<std::uint64_t>(options.hash_seconds * rate_hz);
  while (engine.position < total && !interrupted()) {
    if (oh_card_engine_run(&engine, &end, oh_card_engine_left(&engine), 0) > 0) oh_driver_isr(&near.driver);
  }
  const oh_card_counters c = oh_card_counts(engine.state);
  finish(options, call, *far,
         {.interrupts = c.interrupts,
          .overrun = c.overrun_samples,
          .underrun = c.underrun_samples,
          .near_received = near.talker->received().size()});
  return interrupted() ? interrupt_status() : kOk;
}

/// Line, far modem and file come from the scenario.
void take(const hostsim::Scenario& scenario, CardOptions& options) {
  const oh_kernel_call near = kernel_call_of(scenario);
  options.pump = near.pump;
  options.link = hostsim::link_of(scenario, modulation_of(scenario.modem));
  if (options.send.empty()) options.octets = hostsim::random_file(scenario);
}

int run(CardOptions options) {
  config::ScenarioBuilder builder;
  if (!options.scenario.empty()) {
    builder.set(kKernelHost);
    builder.apply_file(options.scenario);
  }
  const bool trunk = options.pump == "v90", loop = options.pump == "dmt";
  if ((trunk || loop) && !options.far_card.empty())
    throw std::runtime_error("--pump " + options.pump +
                             ": the far end is a pump of this process; expected no --far-card");
  if (!options.far_end.empty()) {
    FarEndAddress::parse(options.far_end);
    if (!options.receive.empty())
      throw std::runtime_error("--receive: the external modem keeps its received data; expected no --far-end");
  }
  if (loop && options.far_training_s > 0)
    throw std::runtime_error("--far-training: a subscriber loop carries ATM cells without V.42; expected another pump");
  if (loop && options.no_v42)
    throw std::runtime_error("--pump dmt: a subscriber loop carries ATM cells; expected no --no-v42");
  if (trunk) builder.set("line.kind=\"digital-trunk\"");
  if (trunk) builder.set("pump.modem=\"v90\"");
  if (loop) builder.set("line.kind=\"subscriber-loop\"");
  if (loop) builder.set("device=\"g-lite\"");
  for (const std::string& assignment : options.set) {
    constexpr std::array<std::string_view, 4> kOfALine = {"line.", "trunk.", "loop.", "device="};
    if (std::ranges::none_of(kOfALine, [&](std::string_view start) { return assignment.starts_with(start); }))
      throw std::runtime_error("--set " + assignment + ": unknown key of the line");
    builder.set(assignment);
  }
  hostsim::Scenario scenario = builder.finish();
  options.octets = octets_to_send(options.send, on_a_loop(scenario));
  if (options.block == 0) options.block = usual_block(scenario);
  if (options.lead == 0) options.lead = usual_lead(scenario);
  if (options.no_v42) options.link.error_control = OH_ERROR_CONTROL_NONE;
  if (!options.scenario.empty()) {
    take(scenario, options);
  } else {
    scenario.role = options.role == "answer" ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    scenario.seed = options.seed;
  }
  catch_interrupts();
  if (options.in_process) return run_in_process(options, scenario);
  if (options.socket.empty() || options.ram.empty())
    throw std::runtime_error("expected a socket and --ram FILE, or --in-process");
  return Bench(options, scenario).run();
}

}  // namespace

constexpr record::Table kCardCall{kCardRows};

void add_card(App& line, Action& action) {
  App* sub = line.add_subcommand("card", "Emulate the PCI card of a virtual machine, with its line and the far modem");
  auto options = std::make_shared<CardOptions>();
  sub->add_option("socket", options->socket, "Socket to which QEMU's ivshmem-doorbell connects")->type_name("PATH");
  sub->add_option("--ram", options->ram, "File that backs the virtual machine's memory")->type_name("FILE");
  sub->add_option("--clock", options->clock,
                  "Pace of the card: stepped (the next block starts when the previous one was served), real, "
                  "slowed:FACTOR, or guest (the virtual machine moves the samples, see tests/live/vm/pacer)")
      ->type_name("CLOCK");
  Option* scenario = sub->add_option("--scenario", options->scenario,
                                     "Take line, seed, far modem and its file from a scenario, as `offhook run "
                                     "SCENARIO.toml --host kernel` expects them")
                         ->type_name("SCENARIO.toml");
  sub->add_option("--pump", options->pump,
                  "Modulation of the far modem; v90: over a digital trunk; dmt: ADSL on a subscriber loop, whose files "
                  "are ATM cells of 52 octets")
      ->excludes(scenario)
      ->check(one_of({"v90", "v34", "v32bis", "v22bis", "dmt"}));
  sub->add_option("--role", options->role, "Role of the far modem")
      ->excludes(scenario)
      ->check(one_of({"call", "answer"}));
  sub->add_flag("--no-v42", options->no_v42,
                "Send start-stop characters (V.14) without error control from the far modem")
      ->excludes(scenario);
  sub->add_flag("--ring", options->rings, "Ring while no samples pass, 2 s of every 6");
  Option* far_card =
      sub->add_option("--far-card", options->far_card,
                      "Connect a second card instead of a far modem in this process, for: offhook modem unix:PATH")
          ->type_name("PATH");
  sub->add_option("--far-end", options->far_end,
                  "Use an external program as the far modem, as `offhook run` does; each call opens a new connection")
      ->excludes(far_card)
      ->type_name("unix:PATH[,rate=8000|9600][,block=N][,ahead=N][,patience=S]");
  sub->add_option("--far-training", options->far_training_s,
                  "Time by which the far modem trains longer than the near one, to test the wait for V.42 (0 to 20)")
      ->check(in_range(0.0, 20.0))
      ->type_name("S");
  sub->add_option("--send", options->send, "File that the far modem sends")->type_name("FILE");
  sub->add_option("--receive", options->receive, "File for the far modem's received data, written when the call ends")
      ->type_name("FILE");
  sub->add_option("--set", options->set,
                  "Override a key of the line, the trunk or the loop (offhook help keys scenario line.)")
      ->type_name("line.KEY=VALUE")
      ->allow_extra_args(false);
  sub->add_option("--seed", options->seed, "Seed of the line's noise")
      ->type_name("N")
      ->check(seed())
      ->excludes(scenario);
  sub->add_option("--hash", options->hash_seconds, "Hash the samples of the first S seconds of each call")
      ->type_name("SECONDS");
  sub->add_option("--record", options->record,
                  "File for the codec's captured samples (s16le, or the trunk's octets), written when the call ends")
      ->type_name("FILE");
  sub->add_option("--fault", options->fault, "Inject a fault (gone, frozen, garbage or storm) at SECONDS into the call")
      ->type_name("FAULT@SECONDS");
  sub->add_flag("--in-process", options->in_process,
                "Run the driver in this process, without a virtual machine, for the duration of --hash; its modem "
                "sends the same file");
  sub->add_option("--block", options->block, "Samples per interrupt, with --in-process")->type_name("N");
  sub->add_option("--lead", options->lead, "Samples queued ahead, with --in-process")->type_name("N");
  sub->footer(R"(Examples:
  offhook line card /tmp/card --ram /dev/shm/guest --send README.md &
  offhook line card /tmp/card --ram /dev/shm/guest --scenario examples/kernel.toml &
  qemu-system-x86_64 ... -object memory-backend-file,id=ram,size=1G,mem-path=/dev/shm/guest,share=on \
    -machine q35,memory-backend=ram -chardev socket,path=/tmp/card,id=card -device ivshmem-doorbell,vectors=2,chardev=card

In the virtual machine, the kernel module offhook drives the card (docs/kernel.md). `./dev vm call` does all of this.
The command prints one line of JSON per call: the card's counters, the far modem's octets and a hash of the samples at
the codec. docs/card.md is the card's data sheet.
)");
  sub->final_callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace offhook::command
