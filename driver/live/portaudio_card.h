// SPDX-License-Identifier: MIT
//
// A sound device through PortAudio, by its name or number. PortAudio's own thread moves the samples, one period at a
// time, and wakes the waiting one. As with ALSA the device may have a multiple of the card's rates, and samples that it
// lost are skipped by the clock.
#pragma once

#include <portaudio.h>
#include <semaphore.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/core/line_end.h"
#include "driver/live/card_kind.h"
#include "driver/live/clock_watch.h"
#include "driver/live/sound_rates.h"

namespace offhook {

class PortAudioCard final : public LocalCard, private LineEnd {
 public:
  /// @param device  a number of `offhook devices`, or the beginning of a name
  /// @throws std::runtime_error naming the device and the missing feature
  explicit PortAudioCard(const std::string& device, const SoundConfig& config = {});
  ~PortAudioCard() override;

  std::uint32_t queued_samples() const override { return queued_; }
  void start() override;
  Wait wait() override;
  void stop() override;
  std::string failure() const override { return failure_; }
  /// Number of losses of samples that PortAudio reported.
  std::uint64_t xruns() const { return xruns_.load(std::memory_order_relaxed); }

 private:
  /// Entry of PortAudio's thread. After a device is lost, the thread still retries and may enter after the card's end.
  /// The gate is closed then, and is never freed.
  struct Gate {
    PortAudioCard* card;
    std::atomic<bool> closed{false};
    std::atomic<int> inside{0};
  };
  void callback(const std::int16_t* in, std::int16_t* out, std::size_t n, bool lost);
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override;

  std::string name_, failure_;
  SoundRates rates_;
  PaStream* stream_ = nullptr;
  std::unique_ptr<Gate> gate_{new Gate{this}};
  std::uint32_t queued_ = 0;
  sem_t interrupt_;
  std::atomic<bool> stopped_{false};
  ClockWatch watch_;  // the waiting thread's
  // PortAudio's thread's
  oh_line_end line_ = handle();
  ClockWatch pace_;
  const std::int16_t* in_ = nullptr;
  std::int16_t* out_ = nullptr;
  std::atomic<std::uint64_t> xruns_{0};
};

/// PortAudio's devices on this machine.
extern const CardKind kPortAudioCards;

}  // namespace offhook
