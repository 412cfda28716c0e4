// SPDX-License-Identifier: MIT
//
// A sound device through ALSA: hw:CARD=... or any name that asoundrc gives, mapped, one ALSA period a block.
//
// The device is the line end: at each period the samples it captured go into the rings and as many go from the rings to
// the device, which keeps kQueuedPeriods periods queued. The rings and their positions are those of every card, so the
// driver sees no difference. A device may have a multiple of the card's rates (sound_rates.h); one without, without one
// channel or without 16 bits is refused.
//
// If the device has an overrun or underrun (the waiting thread was delayed by more than the queue), it is
// restarted. Only the clock shows how many samples passed meanwhile: they are skipped in both rings, so that the driver
// conceals them and the modem's count of samples stays true.
#pragma once

#include <alsa/asoundlib.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/core/line_end.h"
#include "driver/live/card_kind.h"
#include "driver/live/clock_watch.h"
#include "driver/live/sound_rates.h"

namespace offhook {

class AlsaCard final : public LocalCard, private LineEnd {
 public:
  static constexpr std::uint32_t kQueuedPeriods = 2;  ///< queued at the device after each period

  /// Opens and configures both directions. The device may give the period nearest to the requested one.
  /// @throws std::runtime_error naming the device, the missing feature, and the available ones
  explicit AlsaCard(const std::string& device, const SoundConfig& config = {});
  ~AlsaCard() override;

  std::uint32_t queued_samples() const override { return kQueuedPeriods * period() + rates_.delay(); }
  void start() override;
  Wait wait() override;
  void stop() override { stopped_.store(true, std::memory_order_relaxed); }
  std::string failure() const override { return failure_; }
  /// Number of overruns and underruns of the device.
  std::uint64_t xruns() const { return xruns_; }

 private:
  static constexpr std::size_t kPiece = 64;  // sample periods moved at once
  void configure(const SoundConfig& config);
  [[noreturn]] void refuse(const std::string& why);
  template <class Copy>
  std::size_t move(snd_pcm_t* pcm, std::size_t count, Copy copy);
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override;
  void close();
  bool restart();
  /// The device returned `error`. @return empty: continue; or the result of wait()
  std::optional<Wait> recover(int error);
  Wait gone(const std::string& why);

  std::string device_, failure_;
  SoundRates rates_;
  std::vector<std::int16_t> frames_;  // of the device, in a piece
  snd_pcm_t* capture_ = nullptr;
  snd_pcm_t* playback_ = nullptr;
  oh_line_end line_ = handle();
  int error_ = 0;  ///< of the current exchange
  std::uint64_t xruns_ = 0;
  ClockWatch watch_{0, 0};
  std::atomic<bool> stopped_{false};
};

/// ALSA's devices on this machine.
extern const CardKind kAlsaCards;

}  // namespace offhook
