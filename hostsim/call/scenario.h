// SPDX-License-Identifier: MIT
//
// All inputs of one simulated call, as plain data. The same scenario gives the same bytes. traces/scenario reads it
// from TOML.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/context/context_spec.h"
#include "driver/user_modem/modulations.h"
#include "hostsim/call/soft_device.h"
#include "hostsim/channel/digital_trunk.h"
#include "hostsim/channel/line_config.h"
#include "hostsim/cpu/cpu.h"
#include "hostsim/engine/engine.h"
#include "hostsim/host/device.h"
#include "hostsim/host/distribution.h"
#include "hostsim/host/host_load.h"
#include "hostsim/sched/mutexes.h"
#include "offhook/driver.h"
#include "offhook/link.h"

namespace offhook::hostsim {

/// The context, and the CPUs of its parts. A reservation has
/// the priority of its thread before the reservation begins.
struct ContextScenario : ContextSpec {
  ContextScenario() = default;
  ContextScenario(const ContextSpec& spec) : ContextSpec(spec) {}
  int background_priority = 8;  ///< of a reservation in standard form: priority outside the slots
  int cpu = kAnyCpu;            ///< for the driver's thread; any: it moves like other threads of its scheduler
  int interrupt_cpu = 0;        ///< CPU that takes the card's interrupt
  DpcImportance dpc_importance = DpcImportance::kMedium;
  int dpc_cpu = kAnyCpu;   ///< for the driver's DPC; any: that of the interrupt
  double slot_phase = -1;  ///< start of the first slot as a share of Y, 0 to 1; negative: drawn from the seed
  std::string lock;        ///< mutex that the driver's thread holds during each of its jobs; empty: none
};

/// The machine: traces/data/hosts/*.toml has every constant with its source.
struct HostScenario {
  std::string name = "nt2000-p2-450";
  int cpus = 1;
  int tick_hz = 1024;                         ///< clock interrupt: 1024 (RTC) or 1000
  Ns clock_isr_ns = 0;                        ///< cost of one clock interrupt
  Ns dispatch_ns = 0;                         ///< cost of a context switch (charged to the DPC that readies the thread)
  Ns switch_ns = 0;                           ///< time a thread loses if another ran meanwhile (SwitchCosts)
  Ns migration_ns = 0;                        ///< additional time if it comes from another CPU
  bool charge_stolen_time = false;            ///< charge interrupts to the threads that they interrupt
  Ns quantum_ns = 0;                          ///< of normal threads; 0: none
  int slot_priority = 30;                     ///< priority of a thread inside a slot of Rialto/NT; not published
  double clock_ppm = 0;                       ///< card's crystal relative to the host's clock
  double clock_ppm_spread = 0;                ///< maximum random part of that offset, drawn from the seed
  Ns callback_ns = 10'000;                    ///< CPU time of the 1 ms timer callback
  std::string scheduler = "fixed-priority";   ///< for threads without a reservation, see sched/scheduler.h
  std::string reservations = "rialto";        ///< the meaning of X of every Y
  bool threaded_interrupts = false;           ///< devices' handlers are threads of priority 50, as on PREEMPT_RT
  Ns hard_irq_ns = 1'000;                     ///< remaining part at interrupt level, to wake them
  bool high_resolution_timers = false;        ///< whether timers expire exactly when due, not at clock interrupts
  int priorities = 32;                        ///< number of thread priorities, from 0; a higher one is more urgent
  LockProtocol locks = LockProtocol::kPlain;  ///< protocol for the holder of a mutex, see sched/mutexes.h
  std::string latencies;       ///< host with a table [latency], from which this host draws latencies; empty: none
  bool virus_scanner = false;  ///< whether the table affects them
  std::optional<HostLatencies> latency;  ///< that table; set by traces/scenario
};

/// A thread that never blocks and has its own reservation.
struct ReservedThread {
  std::string name = "reserved";
  int x_ticks = 1;  ///< X of every Y
  int y_ticks = 8;
  int cpu = kAnyCpu;
};

/// How a thread of the load is scheduled. kDefault: with a priority, the host's default (SCHED_FIFO on Linux, as for
/// the driver's thread); without one, a normal program (priority 8 on NT, SCHED_OTHER). The others exist only on hosts
/// of that system.
enum class ThreadClass : std::uint8_t { kDefault, kFifo, kRoundRobin, kDeadline, kOther, kNt };
inline constexpr std::array<std::string_view, 6> kThreadClasses = {"default", "fifo", "rr", "deadline", "other", "nt"};

/// A competing program. It works, waits and works again, or it never blocks.
struct LoadThread {
  std::string name = "thread";
  ThreadClass scheduling = ThreadClass::kDefault;
  int priority = 0;  ///< in the host's range; 0: none given
  int nice = 0;      ///< of SCHED_OTHER
  Ns budget_ns = 0;  ///< for SCHED_DEADLINE; 0: equal to work_ns
  Ns period_ns = 0;  ///< for SCHED_DEADLINE; 0: equal to every_ns
  Ns every_ns = 0;   ///< time from start to start; 0: it never blocks
  Ns work_ns = 1'000'000;
  int cpu = kAnyCpu;
  std::string lock{};    ///< a mutex that it holds for a part of each work; empty: none
  Ns lock_after_ns = 0;  ///< CPU time until it takes the mutex
  Ns lock_ns = 0;        ///< CPU time with the mutex; 0: to the end of the work
};

/// Another soft device on the host with its own card, driver and context. Only its cost is simulated.
struct CompetingDevice {
  std::string name;
  SoftDevice device;
  ContextScenario context;
};

struct LoadScenario {
  bool spinner = false;  ///< a thread of normal priority that never blocks
  int spinner_priority = 8;
  int spinner_cpu = kAnyCpu;
  bool timer_callback = false;  ///< 1 ms multimedia timer with a callback at priority 31
  int timer_cpu = kAnyCpu;      ///< of the callback; its DPC is on CPU 0
  std::string trace;            ///< a recorded host, replayed around the driver (recorded_load.h); empty: none
  int trace_cpu = 0;            ///< the CPU of the recorded host that this one replays
  double trace_from_s = 0;      ///< beginning of the run in the trace; negative: drawn from the seed
  std::shared_ptr<const HostLoad> recorded;  ///< that trace; set by traces/scenario
  std::vector<LoadDevice> devices;
  std::vector<LoadThread> threads;
  std::vector<ReservedThread> reservations;   ///< admitted together with the driver's reservation
  std::vector<CompetingDevice> soft_devices;  ///< likewise
};

/// kDevice: a device of any kind, simulated by its cost (soft_device.h). On a subscriber loop, on the air, or as a fax,
/// it has a real pump; otherwise no line.
enum class PumpKind { kReal, kCostProfile, kDevice };

/// A hold of the call (V.92 9.10) during the transfer; only with V.90 pumps.
struct HoldScenario {
  double at_s = 0;    ///< seconds after connect at which one modem requests hold; 0: never
  double away_s = 5;  ///< from leaving until it is told to return
  bool by_far_end = false;
  /// Time that the other end grants: code of T1 (V.92, Table 33), 5 is a minute; 0: denied.
  std::uint32_t limit = 5;
  /// The limit for the modems. Without a hold in the scenario, every request is denied.
  std::uint32_t granted() const { return at_s > 0 ? limit : 0; }
};

using LineScenario = LineConfig;

/// How a file crosses the connection: as octets of V.42 or V.14; by TCP over PPP (ppp_tcp.h); or in ATM cells
/// (dsp/link), only for DMT pumps.
enum class TransferProtocol { kBytes, kPppTcp, kAtm };

/// The connection between the modems: line.*, trunk.*, loop.* (the device is a DMT pump, subscriber_call.h) or air.*
/// (the device is a radio, radio_call.h).
enum class LineKind { kAnalogue, kDigitalTrunk, kSubscriberLoop, kAir };

/// The twisted pair of a DMT pump, with the usual names of its parts (hostsim/channel).
struct SubscriberLoop {
  std::string cable = "T1.601 7";
  std::string disturbers;  ///< at each receiver: "24 ISDN, 10 HDSL FEXT"; empty: none
  std::string ingress;     ///< at each receiver: "540:-60, 621:-70", kHz and dBm; empty: none
  double disturbers_from_s = 0;
  double noise_dbm_hz = -140;  ///< white noise at each receiver
  double hybrid_loss_db = 20;  ///< 200 or more: no echo
  double impulse_rate_hz = 0;
  double impulse_volts = 0.01;
  double clock_ppm = 0;  ///< of the far end's clock, relative to the near end's
  std::int32_t converter_bits = 14;
};

/// The channel between two soft radios (hostsim/air).
struct AirScenario {
  std::string waveform = "radio-burst";  ///< or "radio-ofdm"
  double snr_db = 30;                    ///< for a path without loss, in each direction
  double offset_hz = 0;                  ///< offset of the far end's carrier from the near end's
  double doppler_hz = 0;                 ///< 0: nothing fades
  double rice_db = -100;                 ///< steady power relative to the scattered waves; -100: none
  double echo_us = 0;                    ///< delay of a second path after the first; 0: none
  double echo_loss_db = 10;
};

/// The pages of a fax call (fax_call.h).
struct FaxScenario {
  std::uint32_t pages = 0;     ///< 0: the device is not a fax machine
  std::uint32_t lines = 1143;  ///< of one page: A4 at 3.85 lines/mm
  bool error_correction = true;
  std::uint32_t max_bit_rate = 14'400;  ///< as in fax::TerminalConfig
  bool v34 = false;                     ///< both machines try V.34 half duplex; requires error correction
  bool gateway = false;                 ///< the device is a T.38 gateway (fax_machine.h); the next three require it
  double packet_loss = 0;               ///< share of the datagrams that are lost, in each direction
  double packet_delay_ms = 40;          ///< one-way delay of the packet network
  std::uint32_t packet_copies = 3;      ///< earlier packets in each datagram
};

struct Scenario {
  std::string name = "call";
  std::uint64_t seed = 1;
  ContextScenario context;
  HostScenario host;
  LoadScenario load;
  LineKind line_kind = LineKind::kAnalogue;
  LineScenario line;
  DigitalTrunkConfig trunk;
  bool near_is_digital = false;  ///< on a digital trunk: the near end is the modem on the digital network
  SubscriberLoop loop;
  AirScenario air;
  FaxScenario fax;
  PumpKind pump = PumpKind::kReal;
  oh_modulation modem = OH_MODULATION_V22BIS;   ///< of the near end, with real pumps; NONE: automode
  std::uint32_t modulations = kAllModulations;  ///< set of enum oh_modulation, for automode
  std::optional<oh_modulation> far_modem;       ///< at the far end; empty: as at the near end
  std::uint32_t far_modulations = kAllModulations;
  bool pcm_upstream = false;                             ///< whether V.90 modems have V.92's PCM upstream
  oh_pump_role role = OH_PUMP_CALL;                      ///< of the near end, with real pumps
  std::uint32_t answer_delay_ms = 0, guard_tone_hz = 0;  ///< for the answering end: oh_modem_end_config
  oh_link_config link;              ///< at both ends, with real pumps; window and V.44's parameters: link_of()
  std::uint32_t far_protocols = 0;  ///< of enum oh_link_protocol, at the far end; 0: as at the near end
  HoldScenario hold;
  std::string cost_profile =
      "pentium2-450-vendor";        ///< traces/data/profiles/NAME.toml: cost of ISR and service by phase
  bool event_logging_cost = false;  ///< the cost of the instrumented kernel's logging counts (see the profile)
  oh_service_policy policy = OH_SERVICE_DRAIN_ALL;
  std::uint32_t transmit_lead_samples = 204;
  std::uint32_t device_delay_samples = 0;  ///< delay after the card, both directions; only the near modem has it
  std::vector<std::uint32_t> block_plan = {105, 105, 90};  ///< once connected
  std::uint64_t bytes = 200'000;
  TransferProtocol protocol = TransferProtocol::kBytes;  ///< of real pumps
  double time_limit_s = 3600;                            ///< of virtual time
  SoftDevice device;                                     ///< kDevice; its blocks and lead replace those above
  double device_s = 60;                                  ///< kDevice: how long it must work
  bool stop_at_loss = false;  ///< kDevice: the first loss decides, so the rest is not simulated
  bool dial = true;           ///< on-hook and dialling phases come first (jones.fig1); false: begin with training
};

}  // namespace offhook::hostsim
