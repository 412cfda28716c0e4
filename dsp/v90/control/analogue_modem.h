// SPDX-License-Identifier: MIT
//
// The analogue modem: which phase runs, and what lies between the samples of the line and the procedures.
#pragma once

#include "dsp/pump/pump_type.h"
#include "dsp/qam/modulator.h"
#include "dsp/v34/phase2/phase2.h"
#include "dsp/v8/v8.h"
#include "dsp/v90/control/pump.h"
#include "dsp/v90/pcm/near_echo.h"
#include "dsp/v90/pcm/receiver.h"
#include "dsp/v90/procedure/analogue.h"

namespace offhook::v90 {

/// Two samples of 16000 Hz to one of 8000 Hz, for what lies below 3800 Hz.
class Decimator {
 public:
  static constexpr int kTaps = 64;
  static constexpr int kDelay = kTaps / 4;  ///< samples of 8000 Hz
  /// Not real-time in the strict sense: fills a table.
  void init(const Kernels& kernels = best_kernels());
  float put(float first, float second);  ///< Real-time: yes, O(kTaps).

 private:
  const Kernels* kernels_ = nullptr;
  int at_ = 0;
  float history_[2 * kTaps]{};
  float taps_[kTaps]{};
};

class AnalogueModem {
 public:
  static constexpr int kReceived = 2;  ///< samples for each that is sent

  /// @param v34  memory for the pump of V.34 that a call falls back to: v34_size()
  AnalogueModem(const oh_pump_config& c, void* v34);
  static size_t v34_size(const oh_pump_config& c);

  int16_t process(const int16_t* rx) {
    ++samples_;
    return step(rx, false);
  }
  void lost() {
    constexpr int16_t kNothing[kReceived] = {};
    ++samples_;
    ++filled_in_;
    step(kNothing, true);
  }
  void begin() {
    stage_ = Stage::kPhase2;
    phase2_.start();
  }
  void status(oh_pump_status* s) const;
  void instruments(oh_v90_instruments* i) const;
  void renegotiate();
  void retrain();
  void hang_up();
  bool in_data() const { return stage_ == Stage::kTraining && procedure_.state() == AnalogueProcedure::State::kData; }
  const AnalogueProcedure& procedure() const { return procedure_; }
  const PcmReceiver& receiver() const { return receiver_; }

 private:
  enum class Stage : uint8_t { kV8, kPhase2, kTraining, kV34, kReleased, kFailed };
  int16_t step(const int16_t* rx, bool is_lost);
  float train(const int16_t* rx, bool is_lost);
  void begin_training();
  void begin_v34(oh_pump_role role, bool phase2_is_over);
  void receive(float rx, bool is_lost);
  void leave_training(Stage next);

  oh_pump_config config_;
  void* v34_;
  Stage stage_ = Stage::kV8;
  uint64_t samples_ = 0, filled_in_ = 0, without_data_ = 0;
  uint64_t bits_sent_ = 0, bits_received_ = 0;  // of earlier data modes
  uint32_t retrains_ = 0;
  int failures_ = 0;  // trainings in a row that came to nothing
  bool nothing_in_common_ = false;
  float power_ = 0;

  Decimator decimator_;
  v8::V8 v8_;
  v34::Phase2 phase2_;
  v34::RetrainDetector retrain_tone_{v34::kToneBHz};
  AnalogueProcedure procedure_;
  uint32_t refits_ = 0;
  PcmReceiver receiver_;
  qam::Modulator modulator_;
  NearEcho echo_;
};

}  // namespace offhook::v90
