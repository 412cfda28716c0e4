// SPDX-License-Identifier: MIT
//
// A card under Linux. Somebody who is called the interrupt thread waits in wait(); when it returns kInterrupt a block
// has ended, and the thread calls oh_driver_isr(). What moves the samples meanwhile is the kind's own affair: this same
// thread by the clock (timer), another process (shared memory), a sound device (ALSA, PortAudio).
#pragma once

#include <cstdint>
#include <string>

#include "driver/card/rings.h"

namespace offhook {

class LiveCard {
 public:
  enum class Wait {
    kInterrupt,
    kStopped,  ///< stop() was called
    kGone      ///< the device vanished, changed its rate, or failed: see failure()
  };
  virtual ~LiveCard() = default;

  virtual CardRings& rings() = 0;
  /// Samples: the one length of block that its interrupts come at; 0: any. Known from the start.
  virtual std::uint32_t period() const { return 0; }
  /// Samples between the rings and the line, both directions together, beyond what the driver keeps queued.
  virtual std::uint32_t queued_samples() const { return 0; }
  /// Samples begin to pass. After oh_driver_init(). @throws std::runtime_error when the device refuses
  virtual void start() = 0;
  /// Blocks until the next interrupt. From one thread. No allocation.
  virtual Wait wait() = 0;
  /// wait() returns kStopped soon, now and for ever. From any thread or signal handler.
  virtual void stop() = 0;
  /// For people; after kGone.
  virtual std::string failure() const { return ""; }
};

}  // namespace offhook
