// SPDX-License-Identifier: MIT
//
// One end of a V.22bis connection, sample by sample. procedure.h defines the order of the signals; this class finds the
// procedure's events in the received signal.
#pragma once

#include <stdint.h>

#include "dsp/blocks/line_activity.h"
#include "dsp/blocks/oscillator.h"
#include "dsp/blocks/tone.h"
#include "dsp/v22/procedure.h"
#include "dsp/v22/receiver.h"
#include "dsp/v22/transmitter.h"
#include "offhook/loop.h"
#include "offhook/pump.h"

namespace offhook::v22 {

inline constexpr int kUsb1Hz = 2250;  ///< ones turn the high carrier by -90 degrees, 600 times per second
inline constexpr int kBellToneHz = 2225;

/// Bell 212A has the signals of V.22. Its answerer begins with a tone, which replaces unscrambled ones for a caller.
/// Source: public descriptions of the Bell 212A (AT&T's PUB 41214 was not available)
enum class Standard : uint8_t { kV22bis, kBell212a };

class Modem {
 public:
  static constexpr uint32_t kLeastBitRate = 1200;
  static constexpr uint32_t kLongestStep = 1000;

  explicit Modem(const oh_pump_config& c, const Kernels& kernels = best_kernels(),
                 Standard standard = Standard::kV22bis);

  void begin() { fire(Event::kBegin); }
  void retrain() { fire(Event::kRetrain); }
  /// @return false if not possible now
  bool loop(oh_loop_order order);
  oh_loop_state loop_state() const;
  void hang_up() { fire(Event::kHangUp); }
  int16_t process(int16_t rx) { return step(rx, false); }
  void lost() {
    ++filled_in_;
    step(0, true);
  }
  void status(oh_pump_status* s) const;

  Step current_step() const { return step_; }
  /// Released or failed: silence from now on.
  bool ended() const { return step_ >= Step::kReleased; }
  /// NULL: none yet.
  const Transition* newest_transition() const { return newest_; }
  const Receiver& receiver() const { return receiver_; }

 private:
  friend struct Procedure;

  int16_t step(int16_t rx, bool is_lost);
  /// Makes the transition that the table has for the event. @return false if there is none
  bool fire(Event event);
  void listen(float rx);
  void receive(float rx, bool is_lost);
  void symbol_received();
  void take_bits(int bits, int n);
  void seek_far_end();
  void seek_loop();
  void follow_data();
  void follow_quality();
  void follow_time();
  void show_instruments() const;
  void show_taps();
  void train_again(oh_retrain_cause cause);
  uint64_t age() const { return samples_ - entered_; }
  bool live() const { return step_ == Step::kData || step_ == Step::kLoopTest; }
  bool in_loop() const { return step_ >= Step::kLoopAsk && step_ <= Step::kLooped; }
  /// Circuit 109 is on (6.3.1.1.1 f, 6.3.1.1.2 e, 6.3.1.2.1 c).
  bool receives_data() const {
    return live() || far_loop_over() || (step_ == Step::kSb1Slow && calls_) ||
           ((step_ == Step::kSb2 || step_ == Step::kRateOnes) && ones_seen_);
  }
  /// The last bits that the far end sent back have arrived. It notices the suppressed signal after at most 65 ms, and
  /// sends data at least 105 ms after the end of the suppression (7.1.2). This time is in the middle, plus the trip.
  bool far_loop_over() const {
    constexpr int64_t kTail = (65 - 77 + 105) / 2 * 8;
    return step_ == Step::kLoopAfter && static_cast<int64_t>(age()) >= loop_trip_ + kTail;
  }
  /// Bits received while circuit 109 is on and this end is not ready to send wait for data mode, which opens the port.
  void keep_early(int bits, int n);
  void give_early();
  /// Samples since the far end's S1 ended, for the current transmitted or received sample; negative if it has not.
  int64_t since_s1() const { return s1_end_ == 0 ? -1 : static_cast<int64_t>(samples_ - s1_end_); }

  oh_pump_config config_;
  oh_pump_observer observer_;
  bool calls_;
  bool bell_;  ///< Bell 212A
  bool fast_;  ///< 2400 bit/s is allowed
  Step step_;
  const Transition* newest_ = nullptr;
  uint64_t samples_ = 0, filled_in_ = 0, entered_ = 0, live_samples_ = 0;
  uint64_t no_carrier_at_ = 0;  ///< in data mode: samples_ at the last time without it
  uint64_t carrier_at_ = 0;     ///< samples_ at the last time with it
  uint32_t without_data_ = 0;   ///< symbols
  uint32_t retrains_ = 0;
  oh_retrain_cause cause_ = OH_RETRAIN_NONE;
  bool usb1_was_heard_ = false;
  bool answered_ = false;   ///< the far end has shown that it has V.22
  bool at_2400_ = false;    ///< negotiated
  bool rate_1200_ = false;  ///< both ends have sent the dibits for 1200 bit/s in this training (6.6)
  uint32_t in_vain_ = 0;    ///< successive trainings for 2400 bit/s without lasting data

  ToneDetector usb1_;  ///< or the tone of Bell 212A
  LineActivity activity_;
  Oscillator ans_;
  float ans_peak_;
  Transmitter tx_;
  Receiver receiver_;

  uint64_t s1_end_ = 0;  ///< samples_ when the end of the far end's S1 was on the line; 0: no S1 yet
  GuardedDescrambler descrambler_;
  int quadrant_ = 0;
  int ones_ = 0;            ///< in a row, descrambled
  bool ones_seen_ = false;  ///< enough symbols at 2400 bit/s
  int same_score_ = 0;      ///< share of ones in all bits
  int raw_ones_ = 0;        ///< consecutive, as received
  static constexpr int kRawScore = 32;
  int raw_score_ = 0;  ///< share of ones in the raw bits
  int reversals_ = 0;  ///< in a row, descrambled
  int last_bit_ = 0;
  bool loop_allowed_ = false, loop_refused_ = false;
  static constexpr int64_t kLoopAnswerSamples = 270 * 8;  ///< of reversals, or of ones (7.1.1: 231 to 308 ms)
  int64_t loop_trip_ = 0;  ///< samples to the far end and back, for the loop that was tested
  uint32_t lost_symbols_ = 0;
  struct Quality {
    float error = 0;  ///< sum of the receiver's
    uint32_t symbols = 0;
    uint32_t poor = 0;  ///< intervals in a row
  } quality_;
  bool refused_1200_ = false;  ///< the far end has answered a request for 1200 bit/s (6.6) by 2400
  uint64_t bits_received_ = 0;
  static constexpr uint32_t kMostEarly = 1024;  ///< bits: 765 ms at 1200 bit/s are 918, 200 ms at 2400 are 480
  uint32_t early_bits_ = 0;
  uint8_t early_[kMostEarly / 8];
};

class Bell212aModem : public Modem {
 public:
  explicit Bell212aModem(const oh_pump_config& c) : Modem(c, best_kernels(), Standard::kBell212a) {}
};

}  // namespace offhook::v22
