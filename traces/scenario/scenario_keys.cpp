// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <vector>

#include "driver/user_modem/modulations.h"
#include "hostsim/channel/channel.h"
#include "hostsim/sched/scheduler.h"
#include "traces/scenario/device.h"
#include "traces/scenario/load_device.h"
#include "traces/scenario/scenario.h"

namespace offhook::config {

using hostsim::ContextScenario;
using hostsim::HostScenario;
using hostsim::policy_names;
using hostsim::PolicyUse;
using hostsim::Scenario;

namespace {

constexpr std::array<std::string_view, 3> kPumpKinds = {"real", "cost-profile", "device"};
// "same", and then the table of modulations.
std::span<const std::string_view> far_modems() {
  static const auto names = [] {
    std::vector<std::string_view> all{"same"};
    for (const Modulation& m : kModulations) all.emplace_back(m.name);
    return all;
  }();
  return names;
}
std::span<const std::string_view> modems() {
  return far_modems().subspan(1);
}
// Those that automode chooses from, which stands last in the table.
NameSet modulations(std::uint32_t* set) {
  static const auto masks = [] {
    std::vector<std::uint32_t> all;
    for (const Modulation& m : kModulations) all.push_back(m.id);
    return all;
  }();
  return {modems().first(masks.size() - 1), std::span(masks).first(masks.size() - 1), set};
}
constexpr std::array<std::string_view, 3> kCompressions = {"none", "v42bis", "v44"};
constexpr std::array<std::string_view, 3> kErrorControls = {"none", "optional", "required"};
constexpr std::array<std::string_view, 2> kEnds = {"near-end", "far-end"};
// By the code of T1: V.92, Table 33.
constexpr std::array<std::string_view, 14> kHoldLimits = {"denied", "10 s",   "20 s",   "30 s",  "40 s",
                                                          "1 min",  "2 min",  "3 min",  "4 min", "6 min",
                                                          "8 min",  "12 min", "16 min", "none"};
constexpr std::array<std::string_view, 2> kRoles = {"call", "answer"};
constexpr std::array<std::string_view, 2> kPolicies = {"one-block", "drain-all"};
constexpr std::array<std::string_view, 3> kProtocols = {"bytes", "ppp-tcp", "atm"};
constexpr std::array<std::string_view, 2> kLaws = {"mu-law", "a-law"};
constexpr std::array<std::string_view, 2> kTrunkEnds = {"analogue", "digital"};
constexpr std::array<std::string_view, 4> kLineKinds = {"analogue", "digital-trunk", "subscriber-loop", "air"};
constexpr std::array<std::string_view, 2> kWaveforms = {"radio-burst", "radio-ofdm"};
constexpr std::array<std::string_view, 3> kCodecs = {"none", "a-law", "mu-law"};
constexpr int kLastCpu = hostsim::kMaxCpus - 1;

/// A string field with a fixed set of values.
Choice one_of(std::string& field, std::span<const std::string_view> names) {
  return {names,
          [&field, names] {
            const auto found = std::find(names.begin(), names.end(), field);
            return found == names.end() ? 0 : static_cast<int>(found - names.begin());
          },
          [&field, names](int v) { field = names[static_cast<std::size_t>(v)]; }};
}

KeyTable make_host_keys() {
  using H = HostScenario;
  return {
      key<H>("name", "the machine: a file of traces/data/hosts, loaded before the other host keys", &H::name),
      key<H>("tick_hz", 100, 10000, "clock interrupts a second; a reservation's tick", &H::tick_hz),
      key_of_time<H>("clock_isr_us", 0, 1000, "CPU time of a clock interrupt", kUs, &H::clock_isr_ns),
      key_of_time<H>("dispatch_us", 0, 1000, "CPU time of a context switch", kUs, &H::dispatch_ns),
      key_of_time<H>("switch_us", 0, 10'000, "CPU time a thread loses to cold caches where another one ran meanwhile",
                     kUs, &H::switch_ns),
      key_of_time<H>("migration_us", 0, 10'000, "and more where it last ran on another CPU", kUs, &H::migration_ns),
      key<H>("charge_stolen_time",
             "what interrupts and softirqs take from a thread is charged to it, as by Linux without "
             "CONFIG_IRQ_TIME_ACCOUNTING (Debian's)",
             &H::charge_stolen_time),
      key_of_time<H>("quantum_ms", 0, 1000, "quantum of normal threads; 0: none", kMs, &H::quantum_ns),
      key<H>("clock_ppm", -1000, 1000, "the card's crystal against the host's clock", &H::clock_ppm),
      key<H>("clock_ppm_spread", 0, 1000, "and up to this much more or less, drawn from the seed",
             &H::clock_ppm_spread),
      key_of_time<H>("callback_us", 0, 1000, "CPU time of the 1 ms timer callback", kUs, &H::callback_ns),
      key<H>("priorities", 32, 256, "of threads: 0 to one less, the higher the more urgent", &H::priorities),
      key<H>("latencies", "a host with a table [latency], whose latencies this one draws; empty: none", &H::latencies),
      key<H>("virus_scanner", "what the Plus! 98 virus scanner does to them", &H::virus_scanner),
      key<H>("scheduler",
             "what schedules threads: priorities alone, with NT's boosts, or Linux's classes and softirqs "
             "(docs/schedulers.md)",
             [](H& h) -> Field { return one_of(h.scheduler, policy_names(PolicyUse::kThreads)); }),
      key<H>("reservations",
             "what a reservation of X in every Y is: slots, Rez in its forms, SCHED_DEADLINE, cpu.max "
             "(docs/schedulers.md)",
             [](H& h) -> Field { return one_of(h.reservations, policy_names(PolicyUse::kReservations)); }),
      key<H>("threaded_interrupts", "devices' interrupt handlers are threads of priority 50, as on PREEMPT_RT",
             &H::threaded_interrupts),
      key<H>("cpus", 1, hostsim::kMaxCpus, "numbered from 0; threads that are not pinned move by the scheduler's rules",
             &H::cpus),
      key_of_time<H>("hard_irq_us", 0, 1000, "what a threaded interrupt leaves at interrupt level, to wake its thread",
                     kUs, &H::hard_irq_ns),
      key<H>("high_resolution_timers",
             "the 1 ms timer expires when it is due, not when the clock interrupts, as on Linux",
             &H::high_resolution_timers),
      optional(
          key<H>("locks",
                 "what becomes of a thread that holds a mutex for which another waits: nothing; it has the waiter's "
                 "priority; it runs in the waiter's place and budget (docs/schedulers.md)",
                 [](H& h) -> Field { return choice(h.locks, hostsim::kLockProtocols); })),
  };
}

KeyTable context_keys() {
  using C = ContextScenario;
  return {
      key<C>("kind", "who calls the driver's service routine",
             [](C& c) -> Field { return choice(c.kind, offhook::context_keys()); }),
      key<C>("priority", 1, 255, "of the thread; of a reservation's thread before the reservation begins",
             &C::priority),
      key<C>("background_priority", 0, 31, "of a standard reservation's thread outside its slots",
             &C::background_priority),
      key<C>("x_ticks", 1, 1024, "reservation: X ticks of CPU time ...", &C::x_ticks),
      key<C>("y_ticks", 1, 1024, "... in every Y ticks", &C::y_ticks),
      optional(key<C>("nice", -20, 19, "of a normal thread", &C::nice)),
      optional(key_of_time<C>("budget_ms", 0, 4000, "reservation: the same as times, which go before the ticks ...",
                              kMs, &C::budget_ns)),
      optional(key_of_time<C>("period_ms", 0, 4000, "... in every so much", kMs, &C::period_ns)),
      key<C>("strict", "true: never outside the slots, any Y; false: leftover time shared, Y a power of two",
             &C::strict),
      key<C>("slot_phase", -1, 1, "start of the first slot as a share of Y; negative: drawn from the seed",
             &C::slot_phase),
      key<C>("cpu", -1, kLastCpu, "that the driver's thread is pinned to; -1: none", &C::cpu),
      key<C>("interrupt_cpu", 0, kLastCpu, "that takes the card's interrupt", &C::interrupt_cpu),
      key<C>("dpc_importance", "Windows: high goes to the head of the queue, low may wait for the clock",
             [](C& c) -> Field { return choice(c.dpc_importance, kDpcImportances); }),
      key<C>("dpc_cpu", -1, kLastCpu, "in whose queue the driver's DPC waits; -1: where the interrupt came",
             &C::dpc_cpu),
      optional(key<C>("lock", "a mutex that the driver's thread holds during each of its jobs; empty: none", &C::lock)),
  };
}

KeyTable load_keys() {
  using L = hostsim::LoadScenario;
  return {
      key<L>("spinner", "a thread that never blocks", &L::spinner),
      key<L>("spinner_priority", 1, 31, "its priority on Windows NT; on Linux it is SCHED_OTHER at nice 0",
             &L::spinner_priority),
      key<L>("spinner_cpu", -1, kLastCpu, "that it is pinned to; -1: none", &L::spinner_cpu),
      key<L>("timer_callback", "a 1 ms multimedia timer with its callback at priority 31", &L::timer_callback),
      key<L>("timer_cpu", -1, kLastCpu, "that the callback is pinned to; -1: none", &L::timer_cpu),
      key<L>("trace",
             "a recorded host replayed around the driver: trace-cmd's .dat, perf sched's text, a load of offhook trace",
             &L::trace),
      key<L>("trace_cpu", 0, 65535, "which of the trace's CPUs", &L::trace_cpu),
      key<L>("trace_from_s", -1, 1e7, "where in the trace to begin; negative: drawn from the seed", &L::trace_from_s),
  };
}

KeyTable line_keys() {
  using L = hostsim::LineScenario;
  return {
      key<L>("loss_db", -20, 60, "loss of one direction at 1000 Hz; less than 0: gain, which overloads the codec",
             &L::loss_db),
      key<L>("near_echo_db", 0, 100, "transhybrid loss of a modem's own hybrid", &L::near_echo_db),
      key<L>("far_echo_db", 0, 100,
             "transhybrid loss of the network's hybrids; the far echo is twice the line's loss lower", &L::far_echo_db),
      key<L>("delay_ms", 0, 1000, "one way; 0: the least, 9 ms", &L::delay_ms),
      key<L>("noise_dbm0", -120, 0, "white noise over 0 to 4000 Hz, at each receiver", &L::noise_dbm0),
      key<L>("impulse_rate_hz", 0, 1000, "impulses a second at each receiver, Poisson", &L::impulse_rate_hz),
      key<L>("impulse_dbm0", -60, 3, "level of the sine whose peak an impulse has", &L::impulse_dbm0),
      key<L>("frequency_offset_hz", -100, 100, "added to every frequency, each direction", &L::frequency_offset_hz),
      key<L>("phase_jitter_deg", 0, 90, "peak to peak, of every frequency, each direction", &L::phase_jitter_deg),
      key<L>("phase_jitter_hz", 0, 300, "its rate", &L::phase_jitter_hz),
      key<L>("interruption_ms", 0, 60000, "both directions are silent for so long; 0: never", &L::interruption_ms),
      key<L>("interruption_at_s", 0, 1e6, "from there on, since the call was answered", &L::interruption_at_s),
      key<L>("slip_ms", -1000, 1000,
             "the delay of both directions grows by so much: samples are heard twice; less than 0: lost", &L::slip_ms),
      key<L>("slip_at_s", 0, 1e6, "there, since the call was answered", &L::slip_at_s),
      key<L>("upper_edge_hz", 1000, 3400, "where the band ends: 3 dB at 200 Hz more, 30 dB at 500", &L::upper_edge_hz),
      key<L>("steep_edge_hz", 0, 3800, "a steep filter ends the band here: 8 dB at 100 Hz more, 40 dB at 250; 0: none",
             &L::steep_edge_hz),
      key<L>("limit_dbm0", -60, 20, "level of the sine at whose peak each direction is limited", &L::limit_dbm0),
      key<L>("dc_percent", -50, 50, "DC that a receiver's converter adds, percent of full scale", &L::dc_percent),
      key<L>("hum_dbm0", -400, 3, "mains hum at each receiver, with two odd harmonics; -200: none", &L::hum_dbm0),
      key<L>("hum_hz", 10, 500, "frequency of the hum", &L::hum_hz),
      key<L>("gain_hit_db", -40, 20, "change of the gain of both directions in a hit", &L::gain_hit_db),
      key<L>("phase_hit_deg", -180, 180, "change of the phase of every frequency in a hit", &L::phase_hit_deg),
      key<L>("hit_at_s", 0, 1e6, "when the first hit begins, in seconds since the call was answered", &L::hit_at_s),
      key<L>("hit_ms", 0, 1e6, "length of a hit; 0: it lasts", &L::hit_ms),
      key<L>("hit_period_s", 0, 1e6, "from one hit to the next; 0: there is one", &L::hit_period_s),
      key<L>("wander_ppm", -200, 200, "peak of a slow sine by which the far clock varies", &L::wander_ppm),
      key<L>("wander_hz", 0.01, 10, "frequency of that sine", &L::wander_hz),
      key<L>("clock_ppm", -1000, 1000, "the far end's sample clock against the near end's", &L::clock_ppm),
      key<L>("codec", "G.711 companding", [](L& l) -> Field { return one_of(l.codec, kCodecs); }),
      key<L>("channel", "frequency response: flat, or a test channel of hostsim/channel",
             [](L& l) -> Field { return one_of(l.channel, hostsim::kChannelNames); }),
      key<L>("robbed_bit", "every sixth octet's last bit is taken for signalling", &L::robbed_bit),
      key<L>("far_digital", "the far end is a modem on the digital network: no hybrid there", &L::far_digital),
  };
}

KeyTable trunk_keys() {
  using T = hostsim::DigitalTrunkConfig;
  return {
      key<T>("law", "of the digital modem", [](T& t) -> Field { return one_of(t.law, kLaws); }),
      key<T>("codec", "of the line card; where it is another, the network converts",
             [](T& t) -> Field { return one_of(t.codec, kLaws); }),
      key<T>("pad_db", 0, 20, "digital pad, each direction", &T::pad_db),
      key<T>("robbed_bits", 0, 63, "bit i: every sixth octet's last bit from the i-th on is taken, each direction",
             &T::robbed_bits),
      key<T>("robbed_value", "what it is then", &T::robbed_value),
      key<T>("converters", "a pair of converters lies between the digital modem and the trunk: no digital route down",
             &T::converters),
      key<T>("loss_db", 0, 40, "of the loop, one direction", &T::loss_db),
      key<T>("slope_db", 0, 30, "of the loop besides, at 3400 Hz", &T::slope_db),
      key<T>("high_pass_hz", 0, 300, "of the analogue modem's transformer; 0: none", &T::high_pass_hz),
      key<T>("near_echo_db", 0, 100, "transhybrid loss of the analogue modem's hybrid", &T::near_echo_db),
      key<T>("card_echo_db", 0, 100, "transhybrid loss of the line card's", &T::card_echo_db),
      key<T>("delay_ms", 0, 1000, "of the network, one way", &T::delay_ms),
      key<T>("noise_dbm0", -120, 0, "white noise over 0 to 4000 Hz, at each receiver", &T::noise_dbm0),
      key<T>("clock_ppm", -1000, 1000, "the network's clock against the near end's", &T::clock_ppm),
      key<T>("slip_every_s", 0, 1e6, "an octet is deleted, the next time one repeated, each direction; 0: never",
             [](T& t) -> Field { return &t.network.slip_every_s; }),
      key<T>("packet_ms", 0, 100, "octets travel in packets of so much; 0: a circuit",
             [](T& t) -> Field { return &t.network.packet_ms; }),
      key<T>("packet_loss", 0, 1, "share of the packets that is lost",
             [](T& t) -> Field { return &t.network.packet_loss; }),
      key<T>("concealment", "a lost packet is the one before once more; false: silence",
             [](T& t) -> Field { return &t.network.concealment; }),
      key<T>("jump_every_s", 0, 1e6,
             "a playout falls back, the next time comes forward, the directions in turn; 0: never",
             [](T& t) -> Field { return &t.network.jump_every_s; }),
      key<T>("jump_ms", 0, 500, "by so much", [](T& t) -> Field { return &t.network.jump_ms; }),
  };
}

KeyTable loop_keys() {
  using L = hostsim::SubscriberLoop;
  return {
      key<L>("cable",
             "of the pair, exchange first: a standard loop (\"CSA 4\", \"T1.601 7\"), none, or sections of gauge "
             "and kft, taps with a stroke: \"26:9 24:2 24/0.5\"",
             &L::cable),
      key<L>("disturbers", "other services in the cable: \"24 ISDN, 10 HDSL FEXT\"; empty: none", &L::disturbers),
      key<L>("ingress", "broadcast radio at each receiver, kHz and dBm: \"540:-60, 621:-70\"; empty: none",
             &L::ingress),
      key<L>("disturbers_from_s", 0, 1e6, "when disturbers and ingress begin, from the first sample on",
             &L::disturbers_from_s),
      key<L>("noise_dbm_hz", -250, -60, "white noise at each receiver", &L::noise_dbm_hz),
      key<L>("hybrid_loss_db", 0, 400,
             "from a transmitter to its own receiver, before the filters; from 200 on: no echo", &L::hybrid_loss_db),
      key<L>("impulse_rate_hz", 0, 1000, "impulses a second at each receiver, Poisson", &L::impulse_rate_hz),
      key<L>("impulse_volts", 0, 10, "peak of one", &L::impulse_volts),
      key<L>("clock_ppm", -1000, 1000, "the far end's clock against the near end's", &L::clock_ppm),
      key<L>("converter_bits", 4, 16, "of both ends", &L::converter_bits),
  };
}

KeyTable air_keys() {
  using A = hostsim::AirScenario;
  return {
      key<A>("waveform",
             "of both radios: a single carrier in slots of 0.625 ms, or OFDM in slots of 0.5 ms (with a "
             "card of 2 or 8 Msamples/s 1 or 0.25 ms)",
             [](A& a) -> Field { return one_of(a.waveform, kWaveforms); }),
      key<A>("snr_db", -20, 100, "of a path without loss, over the band of 2 MHz, each direction", &A::snr_db),
      key<A>("offset_hz", -1e5, 1e5, "of the far end's carrier against the near end's", &A::offset_hz),
      key<A>("doppler_hz", 0, 1000, "Clarke's fading of every path, the same both ways; 0: nothing fades",
             &A::doppler_hz),
      key<A>("rice_db", -100, 60, "power of a fading path's steady wave above its scattered ones; -100: none",
             &A::rice_db),
      key<A>("echo_us", 0, 100, "a second path, so much later; 0: none", &A::echo_us),
      key<A>("echo_loss_db", 0, 100, "how much weaker it is", &A::echo_loss_db),
  };
}

KeyTable pump_keys() {
  using S = Scenario;
  return {
      key<S>("pump.kind",
             "a real pump, only its cost with a link model, or the device of device.*: on a subscriber loop a real DMT "
             "pump, on the air a real radio, else its cost alone",
             [](S& s) -> Field { return choice(s.pump, kPumpKinds); }),
      key<S>("pump.modem", "the modem that a real pump is; auto finds out what both ends can do",
             [](S& s) -> Field {
               return Choice{modems(), [&s] { return index_of(s.modem); },
                             [&s](int v) { s.modem = kModulations[static_cast<std::size_t>(v)].id; }};
             }),
      key<S>("pump.modulations", "what automode at the near end may use",
             [](S& s) -> Field { return modulations(&s.modulations); }),
      key<S>("pump.far_modem", "the modem at the far end, if it is another one",
             [](S& s) -> Field {
               return Choice{far_modems(), [&s] { return s.far_modem ? index_of(*s.far_modem) + 1 : 0; },
                             [&s](int v) {
                               s.far_modem.reset();
                               if (v > 0) s.far_modem = kModulations[static_cast<std::size_t>(v) - 1].id;
                             }};
             }),
      key<S>("pump.far_modulations", "what automode at the far end may use",
             [](S& s) -> Field { return modulations(&s.far_modulations); }),
      key<S>("pump.role",
             "what the real pump at the near end does; of a DMT pump: call is the customer's end; of a radio: call "
             "gives the time",
             [](S& s) -> Field { return choice(s.role, kRoles); }),
      key<S>("pump.cost_profile", "CPU time of ISR and service: a profile of traces/data/profiles, or a file.toml",
             &S::cost_profile),
      key<S>("pump.event_logging_cost", "charge what the paper's own instrumentation cost", &S::event_logging_cost),
  };
}

KeyTable link_keys() {
  using L = oh_link_config;
  return {
      key<L>("error_control", "V.42, both ends; none: start-stop characters, and what arrives may be wrong",
             [](L& l) -> Field { return choice(l.error_control, kErrorControls); }),
      key<L>("compression", "of V.42's data, both ways; with real pumps",
             [](L& l) -> Field {
               return Choice{kCompressions, [&l] { return l.v44 != 0           ? 2
                                                          : l.compression != 0 ? 1
                                                                               : 0; },
                             [&l](int v) {
                               constexpr auto kBoth = OH_LAPM_COMPRESS_SENT | OH_LAPM_COMPRESS_RECEIVED;
                               l.compression = v == 1 ? kBoth : 0;
                               l.v44 = v == 2 ? kBoth : 0;
                             }};
             }),
      key<L>("codewords", 512, 65535,
             "largest dictionary of the compression (P1; V.44's history has three characters for each)", &L::codewords),
      key<L>("max_string", 6, 250, "longest string of V.42bis (P2); V.44's have 255", &L::max_string),
  };
}

KeyTable hold_keys() {
  using H = hostsim::HoldScenario;
  return {
      key<H>("at_s", 0, 1e6,
             "so long after the modems connected one asks the other to wait, as V.90 modems can; 0: none", &H::at_s),
      key<H>("away_s", 0, 1e6, "from when that is granted until the order to return", &H::away_s),
      key<H>("by", "who asks",
             [](H& h) -> Field {
               return Choice{kEnds, [&h] { return h.by_far_end ? 1 : 0; }, [&h](int v) { h.by_far_end = v == 1; }};
             }),
      key<H>("limit", "for how long the other end grants it (T1 of V.92), and then ends the call",
             [](H& h) -> Field {
               return Choice{kHoldLimits, [&h] { return static_cast<int>(h.limit); },
                             [&h](int v) { h.limit = static_cast<std::uint32_t>(v); }};
             }),
  };
}

/// Of the driver and of the transfer.
KeyTable run_keys() {
  using S = Scenario;
  return {
      key<S>("driver.policy", "blocks served a call: one, as the vendor's driver did, or all that is owed",
             [](S& s) -> Field { return choice(s.policy, kPolicies); }),
      key<S>("driver.transmit_lead_samples", 1, 512, "output queued ahead of the codec when idle",
             &S::transmit_lead_samples),
      key<S>("driver.device_delay_samples", 0, 8000,
             "what the device behind the card keeps queued, both directions together, as the near modem is told; "
             "real pumps",
             &S::device_delay_samples),
      key<S>("driver.block_plan_samples", 1, 256, "samples per interrupt once connected, repeated", &S::block_plan),
      key<S>("transfer.bytes", 1, 1e12, "length of the file that is transferred", &S::bytes),
      key<S>(
          "transfer.protocol",
          "what carries the file above V.42, with real pumps: nothing, or PPP and TCP/IP; on a subscriber loop, what "
          "carries the pattern: nothing, or ATM cells",
          [](S& s) -> Field { return choice(s.protocol, kProtocols); }),
      key<S>("transfer.time_limit_s", 0.001, 1e7, "give up after this much simulated time", &S::time_limit_s),
      key<S>("transfer.device_s", 0.001, 1e7, "how long a device must work", &S::device_s),
      key<S>("transfer.stop_at_loss", "end a device's run at its first loss", &S::stop_at_loss),
      key<S>("transfer.dial", "on-hook and dialling phases first; false: begin at the training", &S::dial),
  };
}

KeyTable make_scenario_keys() {
  using S = Scenario;
  KeyTable keys = {key<S>("name", "name of the run, shown in reports: a file's name, at most 100 characters", &S::name),
                   key<S>("seed", 0, kAnyMax, "same seed, same bytes", &S::seed)};
  const auto add = [&](const KeyTable& more) { keys.insert(keys.end(), more.begin(), more.end()); };
  add(keys_under<S>("context", context_keys(), [](S& s) -> ContextScenario& { return s.context; }));
  add(keys_under<S>("host", host_keys(), [](S& s) -> HostScenario& { return s.host; }));
  add(keys_under<S>("load", load_keys(), [](S& s) -> hostsim::LoadScenario& { return s.load; }));
  add(keys_under<S>("line", line_keys(), [](S& s) -> hostsim::LineScenario& { return s.line; }));
  add({key<S>(
      "line.kind",
      "what lies between the modems: line.*; trunk.*, at one end of which is the digital network; loop.*, on which a "
      "device is a DMT pump; or air.*, on which it is a radio",
      [](S& s) -> Field { return choice(s.line_kind, kLineKinds); })});
  add({key<S>("trunk.near_end", "which of V.90's modems the near end is", [](S& s) -> Field {
    return Choice{kTrunkEnds, [&s] { return s.near_is_digital ? 1 : 0; }, [&s](int v) { s.near_is_digital = v == 1; }};
  })});
  add(keys_under<S>("trunk", trunk_keys(), [](S& s) -> hostsim::DigitalTrunkConfig& { return s.trunk; }));
  add(keys_under<S>("loop", loop_keys(), [](S& s) -> hostsim::SubscriberLoop& { return s.loop; }));
  add(keys_under<S>("air", air_keys(), [](S& s) -> hostsim::AirScenario& { return s.air; }));
  add(pump_keys());
  add(keys_under<S>("link", link_keys(), [](S& s) -> oh_link_config& { return s.link; }));
  add(keys_under<S>("hold", hold_keys(), [](S& s) -> hostsim::HoldScenario& { return s.hold; }));
  add(keys_under<S>("device", device_keys(), [](S& s) -> hostsim::SoftDevice& { return s.device; }));
  add(run_keys());
  return keys;
}

}  // namespace

const KeyTable& scenario_keys() {
  static const KeyTable keys = make_scenario_keys();
  return keys;
}

const KeyTable& host_keys() {
  static const KeyTable keys = make_host_keys();
  return keys;
}

std::string to_toml(const Scenario& scenario) {
  return write(scenario_keys(), &scenario) + to_toml(scenario.load.devices) + to_toml(scenario.load.threads) +
         to_toml(scenario.load.reservations) + to_toml(scenario.load.soft_devices);
}

}  // namespace offhook::config
