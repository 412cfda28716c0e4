// SPDX-License-Identifier: MIT
//
// A card whose line is a channel of DAHDI: a time slot of a T1 or E1, or a port for an analogue line. A time slot gives
// the octets of G.711 unchanged, an analogue port linear samples. The sample clock is the span's.
//
// Samples move in blocks of 8 ms: with blocks of 10 ms, card and driver would queue the 40 ms that V.90 does not allow.
// The kernel keeps 256 ms of received samples for a late thread. If it drops some, the clock shows how many; the kernel
// works in chunks of 8. They are a gap at the right position (LiveCard::run_at()). Two blocks are queued for
// transmission. If they run out, the kernel sends silence, and as many late samples are dropped: the delay of the line
// stays.
//
// DAHDI is optional: it needs the header dahdi/user.h (Debian's dahdi-source) when the build is configured.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "driver/live/card_kind.h"
#include "driver/live/clock_watch.h"
#include "driver/network/dahdi_device.h"
#include "driver/network/lost_runs.h"

namespace offhook {

struct DahdiConfig {
  std::string name;                ///< as the user gave it, for messages
  std::string device;              ///< path
  int channel = 0;                 ///< channel for DAHDI_SPECIFY; 0: it is a channel already
  std::optional<oh_encoding> law;  ///< none: the channel's own
};

class DahdiCard final : public LocalCard {
 public:
  static constexpr std::uint32_t kBlock = 64;        ///< samples, 8 ms
  static constexpr std::uint32_t kQueuedBlocks = 2;  ///< to be transmitted, after each block
  static constexpr std::uint32_t kBuffers = 32;      ///< blocks that the kernel keeps per direction

  /// @throws std::runtime_error with the name and the reason: the channel has no samples or uses another law
  DahdiCard(std::unique_ptr<DahdiDevice> device, const DahdiConfig& config);

  /// Whether the signalling has a ring; a clear channel has none.
  bool can_ring() const { return signalling_ != Signalling::kNone; }
  std::uint32_t queued_samples() const override { return kQueuedBlocks * kBlock; }
  SampleRun run_at(std::uint64_t position, std::uint32_t n) override { return lost_.at(position, n); }
  std::string_view line_failure() const override;
  std::vector<CardFigure> figures() const override;
  void start() override;
  Wait wait() override;
  void stop() override { stopped_.store(true, std::memory_order_relaxed); }
  std::string failure() const override { return failure_; }

 private:
  enum class Signalling : std::uint8_t {
    kNone,       ///< a clear channel: the line is always there
    kExchange,   ///< an exchange rings us (FXS signalling, on an FXO port)
    kTrunk,      ///< both ends seize (E&M)
    kSubscriber  ///< we ring a telephone (FXO signalling, on an FXS port)
  };
  bool seizes() const { return signalling_ == Signalling::kTrunk || signalling_ == Signalling::kSubscriber; }
  enum class End : std::uint8_t { kNone, kRefused, kHungUp, kAlarm };

  void must(unsigned long request, void* argument, const char* what);
  void set(unsigned long request, int value, const char* what);
  oh_encoding configure(const DahdiConfig& config);
  oh_encoding set_law(std::optional<oh_encoding> law);
  void set_transparent(bool linear);
  void exchange(const std::uint8_t* played, std::uint8_t* captured, std::size_t n);
  void follow_hook();
  void follow_ringing();
  std::optional<Wait> fetch();
  std::optional<Wait> take_events();
  void take_event(int event);
  void note_overrun();
  bool pass();
  void send();
  void refill();
  void put(std::uint32_t samples);
  Wait gone(const std::string& why);

  std::unique_ptr<DahdiDevice> device_;
  std::string name_, failure_;
  Signalling signalling_ = Signalling::kNone;
  std::size_t width_ = 1;  // octets per sample
  oh_line_end line_;
  LostRuns lost_;
  std::atomic<bool> stopped_{false};
  std::atomic<End> end_{End::kNone};
  std::atomic<std::uint64_t> received_{0}, lost_samples_{0}, unsent_{0}, overruns_{0}, underruns_{0};

  // The card's thread.
  ClockWatch watch_{0, 0};
  std::uint64_t position_ = 0;  // of the card
  std::uint64_t passed_ = 0;    // samples read and lost
  std::uint64_t sent_to_ = 0;   // no played samples before this position will be queued
  std::array<std::uint8_t, 2 * kBlock> block_{};
  std::uint32_t filled_ = 0, at_ = 0;       // samples of the block that have arrived, and that have been passed on
  std::uint64_t before_gap_ = 0, gap_ = 0;  // position of samples that the kernel dropped, and their number
  bool losing_ = false;                     // the samples that are being passed on
  bool dry_ = false, prompt_ = false;       // nothing is queued; the thread waited for the latest block
  std::array<std::uint8_t, 2 * kBlock * kQueuedBlocks> played_{};  // the latest ones
  bool was_off_hook_ = false, far_off_hook_ = false, rings_ = false;
  std::uint64_t ring_begin_ = 0, ring_end_ = 0;
};

/// The channel and options after "dahdi:". @throws std::runtime_error with the expected form
DahdiConfig parse_dahdi_place(std::string_view place);

/// The card of a channel that can ring. @throws std::runtime_error: it cannot be opened, or its signalling has no ring
std::unique_ptr<LiveCard> open_ringing_channel(const DahdiConfig& config);

extern const CardKind kDahdiCards;

}  // namespace offhook
