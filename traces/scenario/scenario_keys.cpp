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
// The modulations that automode chooses from; automode is the last row of the table.
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
// By enum oh_link_protocol.
constexpr std::array<std::string_view, 3> kLinkProtocols = {"v42", "mnp", "v42-or-mnp"};
constexpr std::array<std::string_view, 4> kFarLinkProtocols = {"same", "v42", "mnp", "v42-or-mnp"};
constexpr std::array<std::string_view, 2> kEnds = {"near-end", "far-end"};
// By the code of T1: V.92, Table 33.
constexpr std::array<std::string_view, 14> kHoldLimits = {"denied", "10 s",   "20 s",   "30 s",  "40 s",
                                                          "1 min",  "2 min",  "3 min",  "4 min", "6 min",
                                                          "8 min",  "12 min", "16 min", "none"};
constexpr std::array<std::string_view, 2> kRoles = {"call", "answer"};
constexpr std::array<std::string_view, 3> kGuardTones = {"none", "550 Hz", "1800 Hz"};
constexpr std::array<std::uint32_t, 3> kGuardTonesHz = {0, 550, 1800};
constexpr std::array<std::string_view, 2> kPolicies = {"one-block", "drain-all"};
constexpr std::array<std::string_view, 3> kProtocols = {"bytes", "ppp-tcp", "atm"};
constexpr std::array<std::string_view, 2> kLaws = {"mu-law", "a-law"};
constexpr std::array<std::string_view, 2> kTrunkEnds = {"analogue", "digital"};
constexpr std::array<std::string_view, 4> kLineKinds = {"analogue", "digital-trunk", "subscriber-loop", "air"};
constexpr std::array<std::string_view, 2> kWaveforms = {"radio-burst", "radio-ofdm"};
constexpr std::array<std::string_view, 3> kCodecs = {"none", "a-law", "mu-law"};
constexpr std::array<std::string_view, 3> kConcealments = {"repeat", "fade", "silence"};
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
      key<H>("name", "host: a file of traces/data/hosts, loaded before the other host keys", &H::name),
      key<H>("tick_hz", 100, 10000, "clock interrupts per second; one interval is a reservation's tick", &H::tick_hz),
      key_of_time<H>("clock_isr_us", 0, 1000, "CPU time of a clock interrupt", kUs, &H::clock_isr_ns),
      key_of_time<H>("dispatch_us", 0, 1000, "CPU time of a context switch", kUs, &H::dispatch_ns),
      key_of_time<H>("switch_us", 0, 10'000, "CPU time that a thread loses to cold caches after another thread ran",
                     kUs, &H::switch_ns),
      key_of_time<H>("migration_us", 0, 10'000, "additional cost after migrating from another CPU", kUs,
                     &H::migration_ns),
      key<H>("charge_stolen_time",
             "true: time that interrupts and softirqs take from a thread is charged to it, as on Linux without "
             "CONFIG_IRQ_TIME_ACCOUNTING (Debian's)",
             &H::charge_stolen_time),
      key_of_time<H>("quantum_ms", 0, 1000, "quantum of normal threads; 0: none", kMs, &H::quantum_ns),
      key<H>("slot_priority", 1, 31, "priority of a thread inside a slot of Rialto/NT; not published",
             &H::slot_priority),
      key<H>("clock_ppm", -1000, 1000, "offset of the card's crystal from the host's clock", &H::clock_ppm),
      key<H>("clock_ppm_spread", 0, 1000, "random part of that offset, at most, drawn from the seed",
             &H::clock_ppm_spread),
      key_of_time<H>("callback_us", 0, 1000, "CPU time of the 1 ms timer callback", kUs, &H::callback_ns),
      key<H>("priorities", 32, 256, "number of thread priorities, from 0; a higher one is more urgent", &H::priorities),
      key<H>("latencies", "host with a table [latency] from which this host draws its latencies; empty: none",
             &H::latencies),
      key<H>("virus_scanner", "effect of the Plus! 98 virus scanner on the latencies", &H::virus_scanner),
      key<H>("scheduler",
             "scheduler of threads: plain priorities, priorities with NT's boosts, or Linux's classes and softirqs "
             "(docs/schedulers.md)",
             [](H& h) -> Field { return one_of(h.scheduler, policy_names(PolicyUse::kThreads)); }),
      key<H>("reservations",
             "kind of reservation behind RES X/Y: slots, Rez and its variants, SCHED_DEADLINE or cpu.max "
             "(docs/schedulers.md)",
             [](H& h) -> Field { return one_of(h.reservations, policy_names(PolicyUse::kReservations)); }),
      key<H>("threaded_interrupts", "true: interrupt handlers of devices are threads of priority 50, as on PREEMPT_RT",
             &H::threaded_interrupts),
      key<H>("cpus", 1, hostsim::kMaxCpus, "number of CPUs; the scheduler moves threads that are not pinned", &H::cpus),
      key_of_time<H>("hard_irq_us", 0, 1000, "time of a threaded interrupt at interrupt level, to wake its thread", kUs,
                     &H::hard_irq_ns),
      key<H>("high_resolution_timers",
             "true: the 1 ms timer expires when due, as on Linux; false: at the next clock interrupt",
             &H::high_resolution_timers),
      optional(key<H>("locks",
                      "effect on a mutex holder when another thread waits: none; the waiter's priority; or the "
                      "waiter's scheduling context and budget (docs/schedulers.md)",
                      [](H& h) -> Field { return choice(h.locks, hostsim::kLockProtocols); })),
  };
}

KeyTable context_keys() {
  using C = ContextScenario;
  return {
      key<C>("kind", "context that calls the driver's service routine",
             [](C& c) -> Field { return choice(c.kind, offhook::context_keys()); }),
      key<C>("priority", 1, 255, "priority of the thread; for a reservation, before the reservation begins",
             &C::priority),
      key<C>("background_priority", 0, 31, "priority of a standard reservation's thread outside its slots",
             &C::background_priority),
      key<C>("x_ticks", 1, 1024, "reservation: X ticks of CPU time", &C::x_ticks),
      key<C>("y_ticks", 1, 1024, "reservation: in every Y ticks", &C::y_ticks),
      optional(key<C>("nice", -20, 19, "nice value of a normal thread", &C::nice)),
      optional(key_of_time<C>("budget_ms", 0, 4000, "reservation as a time, which takes precedence over the ticks", kMs,
                              &C::budget_ns)),
      optional(key_of_time<C>("period_ms", 0, 4000, "period of a reservation as a time", kMs, &C::period_ns)),
      key<C>("strict", "true: never outside the slots, any Y; false: leftover time is shared, Y is a power of two",
             &C::strict),
      key<C>("slot_phase", -1, 1, "start of the first slot as a share of Y; negative: drawn from the seed",
             &C::slot_phase),
      key<C>("cpu", -1, kLastCpu, "CPU to which the driver's thread is pinned; -1: none", &C::cpu),
      key<C>("interrupt_cpu", 0, kLastCpu, "CPU that takes the card's interrupt", &C::interrupt_cpu),
      key<C>("dpc_importance", "Windows: high goes to the head of the queue, low may wait for the clock",
             [](C& c) -> Field { return choice(c.dpc_importance, kDpcImportances); }),
      key<C>("dpc_cpu", -1, kLastCpu, "CPU in whose queue the driver's DPC waits; -1: that of the interrupt",
             &C::dpc_cpu),
      optional(key<C>("lock", "mutex that the driver's thread holds during each of its jobs; empty: none", &C::lock)),
  };
}

KeyTable load_keys() {
  using L = hostsim::LoadScenario;
  return {
      key<L>("spinner", "true: a thread that never blocks competes", &L::spinner),
      key<L>("spinner_priority", 1, 31, "priority of the spinner on Windows NT; on Linux it is SCHED_OTHER at nice 0",
             &L::spinner_priority),
      key<L>("spinner_cpu", -1, kLastCpu, "CPU to which the spinner is pinned; -1: none", &L::spinner_cpu),
      key<L>("timer_callback", "true: a 1 ms multimedia timer runs, with its callback at priority 31",
             &L::timer_callback),
      key<L>("timer_cpu", -1, kLastCpu, "CPU to which the callback is pinned; -1: none", &L::timer_cpu),
      key<L>("trace",
             "recorded host that is replayed as the competing load: trace-cmd's .dat, perf sched's text, or a load of "
             "offhook trace",
             &L::trace),
      key<L>("trace_cpu", 0, 65535, "CPU of the trace that is replayed", &L::trace_cpu),
      key<L>("trace_from_s", -1, 1e7, "position in the trace at which the replay starts; negative: drawn from the seed",
             &L::trace_from_s),
  };
}

KeyTable line_keys() {
  using L = hostsim::LineScenario;
  return {
      key<L>("loss_db", -20, 60, "loss of one direction at 1000 Hz; negative: gain, which overloads the codec",
             &L::loss_db),
      key<L>("near_echo_db", 0, 100, "transhybrid loss of a modem's own hybrid", &L::near_echo_db),
      key<L>("far_echo_db", 0, 100,
             "transhybrid loss of the network's hybrids; the far echo is lower by twice the line's loss",
             &L::far_echo_db),
      key<L>("delay_ms", 0, 1000, "one-way delay; 0: the minimum, 9 ms", &L::delay_ms),
      key<L>("noise_dbm0", -120, 0, "white noise over 0 to 4000 Hz, at each receiver", &L::noise_dbm0),
      key<L>("impulse_rate_hz", 0, 1000, "impulses per second at each receiver, Poisson", &L::impulse_rate_hz),
      key<L>("impulse_dbm0", -60, 3, "level of the sine with the peak value of an impulse", &L::impulse_dbm0),
      key<L>("frequency_offset_hz", -100, 100, "offset added to every frequency, each direction",
             &L::frequency_offset_hz),
      key<L>("phase_jitter_deg", 0, 90, "peak-to-peak phase jitter of every frequency, each direction",
             &L::phase_jitter_deg),
      key<L>("phase_jitter_hz", 0, 300, "its rate", &L::phase_jitter_hz),
      key<L>("interruption_ms", 0, 60000, "length of a gap in both directions; 0: never", &L::interruption_ms),
      key<L>("interruption_at_s", 0, 1e6, "time of the gap, in seconds after answer", &L::interruption_at_s),
      key<L>("slip_ms", -1000, 1000,
             "increase of the delay of both directions: samples are heard twice; negative: lost", &L::slip_ms),
      key<L>("slip_at_s", 0, 1e6, "time of that increase, in seconds after answer", &L::slip_at_s),
      key<L>("upper_edge_hz", 1000, 3400, "upper band edge: 3 dB at 200 Hz above, 30 dB at 500", &L::upper_edge_hz),
      key<L>("steep_edge_hz", 0, 3800, "upper band edge of a steep filter: 8 dB at 100 Hz above, 40 dB at 250; 0: none",
             &L::steep_edge_hz),
      key<L>("limit_dbm0", -60, 20, "level of the sine at whose peak each direction is limited", &L::limit_dbm0),
      key<L>("dc_percent", -50, 50, "DC that a receiver's converter adds, percent of full scale", &L::dc_percent),
      key<L>("hum_dbm0", -400, 3, "mains hum at each receiver, with two odd harmonics; -200: none", &L::hum_dbm0),
      key<L>("hum_hz", 10, 500, "frequency of the hum", &L::hum_hz),
      key<L>("gain_hit_db", -40, 20, "change of the gain of both directions in a hit", &L::gain_hit_db),
      key<L>("phase_hit_deg", -180, 180, "change of the phase of every frequency in a hit", &L::phase_hit_deg),
      key<L>("hit_at_s", 0, 1e6, "start of the first hit, in seconds after answer", &L::hit_at_s),
      key<L>("hit_ms", 0, 1e6, "length of a hit; 0: until the end of the call", &L::hit_ms),
      key<L>("hit_period_s", 0, 1e6, "time from hit to hit; 0: one hit only", &L::hit_period_s),
      key<L>("wander_ppm", -200, 200, "peak of a slow sine that modulates the far clock", &L::wander_ppm),
      key<L>("wander_hz", 0.01, 10, "frequency of that sine", &L::wander_hz),
      key<L>("tandem_codecs", 0, 8, "further G.711 pairs in tandem: A-law first, then mu-law, in turn",
             &L::tandem_codecs),
      key<L>("suppressor_db", 0, 100, "attenuation of the quieter direction by an echo suppressor; 0: none",
             &L::suppressor_db),
      key<L>("vad_dbm0", -200, 3, "level below which a direction becomes comfort noise; -200: never", &L::vad_dbm0),
      key<L>("comfort_noise_dbm0", -200, 3, "level of the comfort noise", &L::comfort_noise_dbm0),
      key<L>("tone_disabling", "true: an answer tone of 2100 Hz switches suppressor_db and vad_dbm0 off",
             &L::tone_disabling),
      key<L>("packet_ms", 0, 100, "length of a packet, added to the delay; 0: no packets", &L::packet_ms),
      key<L>("packet_loss", 0, 1, "share of the packets that are lost", &L::packet_loss),
      key<L>("concealment",
             "replacement of a lost packet: the previous packet, the previous packet faded out, or silence",
             [](L& l) -> Field { return one_of(l.concealment, kConcealments); }),
      key<L>("call_waiting_at_s", 0, 1e6,
             "first call-waiting tone towards the near end, in seconds after answer, then every 10 s; 0: never",
             &L::call_waiting_at_s),
      key<L>("call_waiting_ms", 1, 10'000, "length of a call-waiting tone", &L::call_waiting_ms),
      key<L>("clock_ppm", -1000, 1000, "offset of the far end's sample clock from the near end's", &L::clock_ppm),
      key<L>("codec", "G.711 companding", [](L& l) -> Field { return one_of(l.codec, kCodecs); }),
      key<L>("channel", "frequency response: flat, or a test channel of hostsim/channel",
             [](L& l) -> Field { return one_of(l.channel, hostsim::kChannelNames); }),
      key<L>("robbed_bit", "true: the last bit of every sixth octet carries signalling", &L::robbed_bit),
      key<L>("far_digital", "true: the far end is a modem on the digital network, without a hybrid", &L::far_digital),
  };
}

KeyTable trunk_keys() {
  using T = hostsim::DigitalTrunkConfig;
  return {
      key<T>("law", "companding law of the digital modem", [](T& t) -> Field { return one_of(t.law, kLaws); }),
      key<T>("codec", "companding law of the line card; if it differs, the network converts",
             [](T& t) -> Field { return one_of(t.codec, kLaws); }),
      key<T>("pad_db", 0, 20, "digital pad, each direction", &T::pad_db),
      key<T>("robbed_bits", 0, 63,
             "set of robbed bits: with bit i set, the last bit of every sixth octet from the i-th is taken, each "
             "direction",
             &T::robbed_bits),
      key<T>("robbed_value", "value of the robbed bits", &T::robbed_value),
      key<T>("converters",
             "true: a pair of converters between the digital modem and the trunk, so that no digital route downstream "
             "exists",
             &T::converters),
      key<T>("loss_db", 0, 40, "loss of the loop, one direction", &T::loss_db),
      key<T>("slope_db", 0, 30, "additional loss of the loop at 3400 Hz", &T::slope_db),
      key<T>("high_pass_hz", 0, 300, "corner of the analogue modem's transformer; 0: none", &T::high_pass_hz),
      key<T>("near_echo_db", 0, 100, "transhybrid loss of the analogue modem's hybrid", &T::near_echo_db),
      key<T>("card_echo_db", 0, 100, "transhybrid loss of the line card's hybrid", &T::card_echo_db),
      key<T>("delay_ms", 0, 1000, "one-way delay of the network", &T::delay_ms),
      key<T>("noise_dbm0", -120, 0, "white noise over 0 to 4000 Hz, at each receiver", &T::noise_dbm0),
      key<T>("clock_ppm", -1000, 1000, "offset of the network's clock from the near end's", &T::clock_ppm),
      key<T>("slip_every_s", 0, 1e6,
             "time between slips: an octet is deleted or repeated in turn, each direction; 0: never",
             [](T& t) -> Field { return &t.network.slip_every_s; }),
      key<T>("packet_ms", 0, 100, "packet length in which octets travel; 0: a circuit",
             [](T& t) -> Field { return &t.network.packet_ms; }),
      key<T>("packet_loss", 0, 1, "share of the packets that are lost",
             [](T& t) -> Field { return &t.network.packet_loss; }),
      key<T>("concealment", "true: the previous packet replaces a lost one; false: silence does",
             [](T& t) -> Field { return &t.network.concealment; }),
      key<T>("jump_every_s", 0, 1e6,
             "time between playout jumps, back and forward in turn, the directions alternating; 0: never",
             [](T& t) -> Field { return &t.network.jump_every_s; }),
      key<T>("jump_ms", 0, 500, "size of the jump", [](T& t) -> Field { return &t.network.jump_ms; }),
  };
}

KeyTable loop_keys() {
  using L = hostsim::SubscriberLoop;
  return {
      key<L>("cable",
             "wire pair, exchange first: a standard loop (\"CSA 4\", \"T1.601 7\"), none, or sections of gauge and "
             "kft, bridged taps with a slash: \"26:9 24:2 24/0.5\"",
             &L::cable),
      key<L>("disturbers", "other services in the cable: \"24 ISDN, 10 HDSL FEXT\"; empty: none", &L::disturbers),
      key<L>("ingress", "broadcast radio at each receiver, kHz and dBm: \"540:-60, 621:-70\"; empty: none",
             &L::ingress),
      key<L>("disturbers_from_s", 0, 1e6, "start of disturbers and ingress, in seconds from the first sample",
             &L::disturbers_from_s),
      key<L>("noise_dbm_hz", -250, -60, "white noise at each receiver", &L::noise_dbm_hz),
      key<L>("hybrid_loss_db", 0, 400,
             "loss from a transmitter to its own receiver, before the filters; 200 or more: no echo",
             &L::hybrid_loss_db),
      key<L>("impulse_rate_hz", 0, 1000, "impulses per second at each receiver, Poisson", &L::impulse_rate_hz),
      key<L>("impulse_volts", 0, 10, "peak of one impulse", &L::impulse_volts),
      key<L>("clock_ppm", -1000, 1000, "offset of the far end's clock from the near end's", &L::clock_ppm),
      key<L>("converter_bits", 4, 16, "resolution of the converters of both ends", &L::converter_bits),
  };
}

KeyTable air_keys() {
  using A = hostsim::AirScenario;
  return {
      key<A>("waveform",
             "waveform of both radios: a single carrier in slots of 0.625 ms, or OFDM in slots of 0.5 ms (1 or 0.25 ms "
             "with a card of 2 or 8 Msamples/s)",
             [](A& a) -> Field { return one_of(a.waveform, kWaveforms); }),
      key<A>("snr_db", -20, 100, "signal-to-noise ratio of a path without loss, over the band of 2 MHz, each direction",
             &A::snr_db),
      key<A>("offset_hz", -1e5, 1e5, "offset of the far end's carrier from the near end's", &A::offset_hz),
      key<A>("doppler_hz", 0, 1000,
             "Clarke's Doppler frequency, the fading of every path, equal in both directions; 0: no fading",
             &A::doppler_hz),
      key<A>("rice_db", -100, 60, "power of a fading path's steady wave relative to its scattered waves; -100: none",
             &A::rice_db),
      key<A>("echo_us", 0, 100, "delay of a second path after the first; 0: none", &A::echo_us),
      key<A>("echo_loss_db", 0, 100, "loss of the second path relative to the first", &A::echo_loss_db),
  };
}

KeyTable fax_keys() {
  using F = hostsim::FaxScenario;
  return {
      key<F>(
          "pages", 0, 1000,
          "pages of a fax call, which the calling end sends; the device is then a fax machine, and pump.role decides "
          "whether it sends or receives; 0: no fax",
          &F::pages),
      key<F>("lines", 1, 20'000, "lines of a page of 1728 pixels; A4 has 1143 or 2286", &F::lines),
      key<F>("error_correction", "true: both fax machines offer error correction (ECM)", &F::error_correction),
      key<F>("max_bit_rate", 4800, 14'400,
             "highest bit rate of both fax machines: V.27ter at 4800, also V.29 from 9600 on, also V.17 from 14400 on",
             &F::max_bit_rate),
      key<F>(
          "v34",
          "true: both fax machines use V.34 half duplex, up to 33600 bit/s, with error correction (experimental: tried "
          "only between two of this program)",
          &F::v34),
      key<F>(
          "gateway",
          "true: the device is a T.38 gateway between the line and a packet network, behind which its fax machine is",
          &F::gateway),
      key<F>("packet_loss", 0, 1, "share of the gateway's datagrams that are lost, in each direction", &F::packet_loss),
      key<F>("packet_delay_ms", 0, 2000, "one-way delay of the gateway's packet network", &F::packet_delay_ms),
      key<F>("packet_copies", 0, 15, "copies of earlier packets in each datagram of the gateway", &F::packet_copies),
  };
}

KeyTable pump_keys() {
  using S = Scenario;
  return {
      key<S>("pump.kind",
             "real: a real pump; cost-profile: only its cost with a link model; device: the device of device.* (a real "
             "DMT pump on a subscriber loop, a real radio on the air, a real fax with fax.pages, else only its cost)",
             [](S& s) -> Field { return choice(s.pump, kPumpKinds); }),
      key<S>("pump.modem", "modem that a real pump implements; auto negotiates between both ends",
             [](S& s) -> Field {
               return Choice{modems(), [&s] { return index_of(s.modem); },
                             [&s](int v) { s.modem = kModulations[static_cast<std::size_t>(v)].id; }};
             }),
      key<S>("pump.modulations", "modulations that automode at the near end may use",
             [](S& s) -> Field { return modulations(&s.modulations); }),
      key<S>("pump.far_modem", "modem at the far end, if it differs",
             [](S& s) -> Field {
               return Choice{far_modems(), [&s] { return s.far_modem ? index_of(*s.far_modem) + 1 : 0; },
                             [&s](int v) {
                               s.far_modem.reset();
                               if (v > 0) s.far_modem = kModulations[static_cast<std::size_t>(v) - 1].id;
                             }};
             }),
      key<S>("pump.far_modulations", "modulations that automode at the far end may use",
             [](S& s) -> Field { return modulations(&s.far_modulations); }),
      key<S>("pump.pcm_upstream", "true: V.90 modems have V.92's PCM upstream, 24000 to 48000 bit/s", &S::pcm_upstream),
      key<S>("pump.role",
             "role of the near end's real pump; DMT pump: call is the customer's end; radio: call provides the timing; "
             "fax: call sends the pages",
             [](S& s) -> Field { return choice(s.role, kRoles); }),
      key<S>("pump.answer_delay_ms",
             "silence of the end that answers, before the pump's own 0.2 s (V.8) or 1.9 s (V.25) and the answer tone",
             &S::answer_delay_ms),
      key<S>("pump.guard_tone", "guard tone of the end that answers, with V.22 and V.22bis (V.22bis 2.2)",
             [](S& s) -> Field {
               return Choice{kGuardTones,
                             [&s] {
                               const auto* at = std::find(kGuardTonesHz.begin(), kGuardTonesHz.end(), s.guard_tone_hz);
                               return static_cast<int>(at - kGuardTonesHz.begin());
                             },
                             [&s](int v) { s.guard_tone_hz = kGuardTonesHz[static_cast<std::size_t>(v)]; }};
             }),
      key<S>("pump.cost_profile", "CPU time of ISR and service: a profile of traces/data/profiles, or a file.toml",
             &S::cost_profile),
      key<S>("pump.event_logging_cost", "true: charge the cost of the paper's instrumentation", &S::event_logging_cost),
  };
}

KeyTable link_keys() {
  using L = oh_link_config;
  return {
      key<L>("error_control", "error control at both ends; none: start-stop characters, which may arrive wrong",
             [](L& l) -> Field { return choice(l.error_control, kErrorControls); }),
      key<L>("protocols", "protocols of error control that a modem permits",
             [](L& l) -> Field {
               return Choice{kLinkProtocols, [&l] { return static_cast<int>(l.protocols) - 1; },
                             [&l](int v) { l.protocols = static_cast<std::uint32_t>(v) + 1; }};
             }),
      key<L>("mnp_class", 2, 5, "highest class of MNP; 5 needs compression", &L::mnp_class),
      key<L>("compression", "compression of V.42's data, both directions; with real pumps; v42bis permits MNP 5",
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
             "largest dictionary of the compression (P1; V.44's history has three characters per entry)",
             &L::codewords),
      key<L>("max_string", 6, 250, "longest string of V.42bis (P2); V.44's have 255", &L::max_string),
  };
}

KeyTable hold_keys() {
  using H = hostsim::HoldScenario;
  return {
      key<H>("at_s", 0, 1e6, "seconds after connect at which one modem requests hold, as V.90 modems can; 0: never",
             &H::at_s),
      key<H>("away_s", 0, 1e6, "time from the grant of hold until the order to return", &H::away_s),
      key<H>("by", "who asks",
             [](H& h) -> Field {
               return Choice{kEnds, [&h] { return h.by_far_end ? 1 : 0; }, [&h](int v) { h.by_far_end = v == 1; }};
             }),
      key<H>("limit", "duration of hold that the other end grants (T1 of V.92); after it the other end ends the call",
             [](H& h) -> Field {
               return Choice{kHoldLimits, [&h] { return static_cast<int>(h.limit); },
                             [&h](int v) { h.limit = static_cast<std::uint32_t>(v); }};
             }),
  };
}

/// Keys of the driver and of the transfer.
KeyTable run_keys() {
  using S = Scenario;
  return {
      key<S>("driver.policy", "blocks served per call: one, as in the vendor's driver, or all that are due",
             [](S& s) -> Field { return choice(s.policy, kPolicies); }),
      key<S>("driver.transmit_lead_samples", 1, 512, "output queued ahead of the codec when idle",
             &S::transmit_lead_samples),
      key<S>("driver.device_delay_samples", 0, 8000,
             "samples queued by the device behind the card, both directions together, as configured in the near modem; "
             "real pumps",
             &S::device_delay_samples),
      key<S>("driver.block_plan_samples", 1, 256, "samples per interrupt once connected, repeated", &S::block_plan),
      key<S>("transfer.bytes", 1, 1e12, "length of the transferred file", &S::bytes),
      key<S>("transfer.protocol",
             "protocol above V.42, with real pumps: none, or PPP and TCP/IP; on a subscriber loop, carrier of the "
             "pattern: none, or ATM cells",
             [](S& s) -> Field { return choice(s.protocol, kProtocols); }),
      key<S>("transfer.time_limit_s", 0.001, 1e7, "give up after this much simulated time", &S::time_limit_s),
      key<S>("transfer.device_s", 0.001, 1e7, "working time of a device", &S::device_s),
      key<S>("transfer.stop_at_loss", "true: end a device's run at its first loss", &S::stop_at_loss),
      key<S>("transfer.dial", "true: start with the on-hook and dialling phases; false: start with the training",
             &S::dial),
  };
}

KeyTable make_scenario_keys() {
  using S = Scenario;
  KeyTable keys = {
      key<S>("name", "name of the run, shown in reports: a valid file name, at most 100 characters", &S::name),
      key<S>("seed", 0, kAnyMax, "random seed; runs with the same seed are identical", &S::seed)};
  const auto add = [&](const KeyTable& more) { keys.insert(keys.end(), more.begin(), more.end()); };
  add(keys_under<S>("context", context_keys(), [](S& s) -> ContextScenario& { return s.context; }));
  add(keys_under<S>("host", host_keys(), [](S& s) -> HostScenario& { return s.host; }));
  add(keys_under<S>("load", load_keys(), [](S& s) -> hostsim::LoadScenario& { return s.load; }));
  add(keys_under<S>("line", line_keys(), [](S& s) -> hostsim::LineScenario& { return s.line; }));
  add({key<S>(
      "line.kind",
      "connection between the modems: analogue (line.*); digital-trunk (trunk.*), with one end on the digital network; "
      "subscriber-loop (loop.*), where a device is a DMT pump; or air (air.*), where a device is a radio",
      [](S& s) -> Field { return choice(s.line_kind, kLineKinds); })});
  add({key<S>("trunk.near_end", "V.90 modem at the near end", [](S& s) -> Field {
    return Choice{kTrunkEnds, [&s] { return s.near_is_digital ? 1 : 0; }, [&s](int v) { s.near_is_digital = v == 1; }};
  })});
  add(keys_under<S>("trunk", trunk_keys(), [](S& s) -> hostsim::DigitalTrunkConfig& { return s.trunk; }));
  add(keys_under<S>("loop", loop_keys(), [](S& s) -> hostsim::SubscriberLoop& { return s.loop; }));
  add(keys_under<S>("air", air_keys(), [](S& s) -> hostsim::AirScenario& { return s.air; }));
  add(keys_under<S>("fax", fax_keys(), [](S& s) -> hostsim::FaxScenario& { return s.fax; }));
  add(pump_keys());
  add({key<S>("link.far_protocols", "protocols that the far end permits, if they differ", [](S& s) -> Field {
    return Choice{kFarLinkProtocols, [&s] { return static_cast<int>(s.far_protocols); },
                  [&s](int v) { s.far_protocols = static_cast<std::uint32_t>(v); }};
  })});
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
