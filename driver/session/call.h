// SPDX-License-Identifier: MIT
//
// One call of a live modem, from the first digit on. It dials, listens for the exchange's answer, runs the modem,
// and moves the user's bytes between it and two rings. The context calls process() and report_gap(); the owner's thread
// calls the rest. Neither waits for the other.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driver/fax/modems.h"
#include "driver/session/call_progress.h"
#include "driver/session/snapshot.h"
#include "driver/session/spsc_byte_ring.h"
#include "driver/user_modem/modem.h"
#include "dsp/automode/conversion.h"
#include "dsp/modulation/modulation.h"

namespace offhook::modem {

struct CallConfig {
  const oh_pump_type* pump;  ///< of fax::pump_type(): the call has that pump, and no link above it
  oh_pump_role role;
  /// The owner's pump of type `pump`: the call has it, and no link above it. It outlives the call. Null: the call makes
  /// its own pump.
  void* pump_memory = nullptr;
  std::uint32_t modulations = 0;                     ///< this and the next as in oh_pump_config
  std::uint32_t min_bit_rate = 0, max_bit_rate = 0;  ///< bit/s, 0: no limit
  oh_link_config link{};
  std::string digits{};      ///< none: off hook is all
  bool digits_only = false;  ///< no modem after the digits: the line stays off hook and silent
  DialPlan plan{};
  std::uint32_t hold_timeout = 0, answer_delay_ms = 0, guard_tone_hz = 0;  ///< as in Modem::Config
  const Loops* loops = nullptr;                                            ///< of the pump; null: it has no test loops
  /// Of the pump; null: it has none. The next three require it, and are ignored if the card has no V.90.
  const V92Choices* v92 = nullptr;
  bool pcm_upstream = false;
  oh_v90_profile profile{};        ///< of an earlier call, for Quick Connect; no symbol rate: unknown
  std::uint32_t short_phases = 0;  ///< set of v90::ShortPhase
  bool seek_fax = false;           ///< until data mode: Progress::kFaxCaller
};

/// The status of the last order for modem-on-hold or a test loop.
enum class OrderStatus : std::uint8_t {
  kNone,     ///< there was no order, or it was obeyed: see the pump's status
  kPending,  ///< the context has not processed it
  kRefused   ///< the pump does not support it, or it was not possible
};

/// Status of a call.
struct CallStatus : oh_modem_end_status {
  bool dialling = false;                   ///< the digits have not all been sent
  std::string_view line_failure{};         ///< why the line itself ended the call, a static text; empty: it did not
  Progress progress = Progress::kNothing;  ///< the exchange's tones, outside of data mode
  OrderStatus order = OrderStatus::kNone;
  oh_loop_state loop = OH_LOOP_NONE;
  oh_v90_profile profile{};    ///< of the line, once V.90 had data; until then no symbol rate
  bool quick_connect = false;  ///< Phase 1 was short
  /// Bytes go through.
  bool connected() const { return oh_modem_end_is_connected(this) != 0; }
  /// Why the call ended by itself; empty while it continues.
  std::string_view failure() const { return line_failure.empty() ? oh_modem_end_failure(this) : line_failure; }
};

class Call {
 public:
  /// @param format  of the card's samples: one that automode::Conversion knows. A pump that does not take it gets
  /// linear samples at 8000 Hz.
  /// @param io_delay_samples  see oh_pump_config  @param log, now_ns, clock  as of oh_modem_end_config
  /// @throws std::invalid_argument as Modem
  Call(const CallConfig& config, const oh_pump_format& format, std::uint32_t io_delay_samples, oh_event_log* log,
       std::uint64_t (*now_ns)(void*), void* clock = nullptr);

  /// The context's. Real-time: yes. @param rx, tx  n sample periods in the card's format
  void process(const void* rx, void* tx, std::size_t n);
  /// The context's: n received samples were lost. Real-time: yes.
  void report_gap(std::size_t n);

  CallStatus status() const;
  std::size_t write(const std::uint8_t* bytes, std::size_t n) { return to_far_.write(bytes, n); }
  std::size_t read(std::uint8_t* bytes, std::size_t n);
  std::size_t writable() const { return to_far_.space(); }
  /// Asks the context to release the connection, with a message to the far end.
  void release() { releasing_.store(true, std::memory_order_relaxed); }
  /// The memory of the fax pump, if the call has one; else null.
  void* fax_pump() const { return fax_.get(); }
  /// Whether there is no link above the pump.
  bool is_bare() const { return bare_.self != nullptr; }
  bool released() const { return released_.load(std::memory_order_relaxed); }
  /// Asks the context to give this order to the pump; status() shows when that was done. One at a time.
  void hold(oh_hold_order order) {
    order_.store({Order::To::kHold, static_cast<std::int32_t>(order)}, std::memory_order_release);
  }
  /// The same for a test loop.  @return false if the pump has none
  bool loop(oh_loop_order order) {
    if (loops_ != nullptr)
      order_.store({Order::To::kLoop, static_cast<std::int32_t>(order)}, std::memory_order_release);
    return loops_ != nullptr;
  }

 private:
  struct Order {
    enum class To : std::int32_t { kNobody, kHold, kLoop } to;
    std::int32_t what;  ///< oh_hold_order or oh_loop_order
  };
  static_assert(std::atomic<Order>::is_always_lock_free);
  static constexpr std::size_t kPiece = 256;
  void piece(const void* rx, void* tx, std::size_t n);
  void run_modem(const void* rx, void* tx, std::size_t n);
  bool obey(Order order);
  void choose(const CallConfig& config);
  bool listening() const;
  void publish();

  static constexpr std::size_t kRingBytes = 1 << 14;
  automode::Conversion conversion_;  // for dialler, detectors and pumps of linear samples at 8000 Hz
  bool plain_;                       // the card has such samples
  bool converts_;                    // the pump has them, the card has not
  std::array<std::int16_t, kPiece> heard_{}, said_{};
  Dialler dialler_;
  ProgressDetector detector_;
  std::optional<FaxCallerDetector> fax_caller_;
  fax::OwnPump fax_;
  oh_pump bare_{};  // one of the two: a pump without a link
  const oh_pump_type* bare_type_;
  std::optional<Modem> modem_;
  CallStatus status_{};  // the context's
  const Loops* loops_;
  const V92Choices* v92_;
  bool digits_only_ = false;
  bool asked_ = false, had_data_ = false;
  std::atomic<bool> releasing_{false}, released_{false};
  std::atomic<Order> order_{Order{}};  // until its result is visible
  SpscByteRing<kRingBytes> to_far_, from_far_;
  Snapshot<CallStatus> shown_;
};

}  // namespace offhook::modem
