// SPDX-License-Identifier: MIT
//
// The digital modem: which phase runs, and what lies between the octets of the network and the procedures.
#pragma once

#include "dsp/pump/pump_type.h"
#include "dsp/qam/receiver.h"
#include "dsp/v34/phase2/phase2.h"
#include "dsp/v34/phase34/symbol_reader.h"
#include "dsp/v8/v8.h"
#include "dsp/v90/control/pump.h"
#include "dsp/v90/pcm/echo_canceller.h"
#include "dsp/v90/procedure/digital.h"

namespace offhook::v90 {

class DigitalModem {
 public:
  /// @param v34  memory for the pump of V.34 that a call falls back to: v34_size()
  DigitalModem(const oh_pump_config& c, void* v34);
  static size_t v34_size(const oh_pump_config& c);

  uint8_t process(uint8_t rx) {
    ++samples_;
    return step(rx, false);
  }
  void lost() {
    ++samples_;
    ++filled_in_;
    step(octet_of(law_, {0, true}), true);
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
  bool in_data() const { return stage_ == Stage::kTraining && procedure_.state() == DigitalProcedure::State::kData; }
  const DigitalProcedure& procedure() const { return procedure_; }

 private:
  enum class Stage : uint8_t { kV8, kPhase2, kTraining, kV34, kReleased, kFailed };
  uint8_t step(uint8_t rx, bool is_lost);
  uint8_t train(float rx, bool is_lost);
  void begin_training();
  void begin_v34(oh_pump_role role, bool phase2_is_over);
  void receive(float rx, bool is_lost);
  const v34::LineQuality* measure_noise();
  void leave_training(Stage next);

  oh_pump_config config_;
  void* v34_;
  Law law_;
  Stage stage_ = Stage::kV8;
  uint64_t samples_ = 0, filled_in_ = 0, without_data_ = 0;
  uint64_t bits_sent_ = 0, bits_received_ = 0;  // of earlier data modes
  uint32_t retrains_ = 0;
  bool nothing_in_common_ = false;
  float power_ = 0;

  v8::V8 v8_;
  v34::Phase2 phase2_;
  v34::RetrainDetector retrain_tone_{v34::kToneAHz};
  DigitalProcedure procedure_;
  v34::SymbolReader reader_;
  v34::LineQuality quality_;
  uint32_t order_version_ = 0;
  qam::Receiver receiver_;
  PcmEchoCanceller echo_;
};

}  // namespace offhook::v90
