// SPDX-License-Identifier: MIT
//
// The analogue modem: the order of the phases, and the layer between the samples of the line and the procedures.
#pragma once

#include "dsp/blocks/decimator.h"
#include "dsp/qam/modulator.h"
#include "dsp/v90/pcm/near_echo.h"
#include "dsp/v90/pcm/receiver.h"
#include "dsp/v90/pcm/symbol_shaper.h"
#include "dsp/v90/session/analogue.h"
#include "dsp/v90/session/analogue_v92.h"
#include "dsp/v90/session/modem.h"

namespace offhook::v90 {

class AnalogueModem : public Modem<AnalogueModem, AnalogueProcedure, AnalogueV92Procedure> {
 public:
  static constexpr int kReceived = 2;  ///< samples for each that is sent

  static constexpr uint32_t kDelay = Decimator::kDelay;
  static constexpr oh_pump_role kPhase2Role = OH_PUMP_ANSWER;

  /// @param v34  memory for the pump of V.34 that a call falls back to: v34_size()
  /// @param v92  with PCM upstream, if the far end offers it
  AnalogueModem(const oh_pump_config& c, void* v34, bool v92);

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
  uint32_t rx_bit_rate() const {
    return with([](const auto& p) { return static_cast<uint32_t>(p.rx_rate_thirds()) / 3; });
  }
  uint32_t tx_bit_rate() const {
    return with([](const auto& p) { return p.tx_bit_rate(); });
  }
  uint64_t bits_received() const {
    return with([](const auto& p) { return p.bits_received(); });
  }
  /// As renegotiate(); the digital modem is silent for half a second in it.
  void renegotiate_with_silence() {
    if (in_data()) with([](auto& p) { p.renegotiate(true); });
  }
  void set_options(const oh_v90_options& options) {
    Modem::set_options(options);
    with([&options](auto& p) { p.set_shaping(options.shaping_bits); });
  }
  void retrain() {
    asked_ = true;
    Modem::retrain();
    asked_ = false;
  }
  void end_v34(bool had_data);
  void note_bad_frames(uint32_t) {}  // the rate downstream follows from the distances of its levels
  oh_start_up training_step() const {
    if (pcm_upstream_) return v92_step();
    const AnalogueState s = procedure_.state();
    return s <= AnalogueState::kSendJa ? OH_START_UP_OWN_TRAINING
           : s < AnalogueState::kFinal ? OH_START_UP_FAR_TRAINING
                                       : OH_START_UP_RATES;
  }
  void instruments(oh_v90_instruments* i) const;
  const PcmReceiver& receiver() const { return receiver_; }

 private:
  int16_t step(const int16_t* rx, bool is_lost);
  oh_start_up v92_step() const {
    const AnalogueV92State s = v92_.state();
    return s <= AnalogueV92State::kSendJa ? OH_START_UP_OWN_TRAINING
           : s < AnalogueV92State::kFinal ? OH_START_UP_FAR_TRAINING
                                          : OH_START_UP_RATES;
  }
  float train(const int16_t* rx, bool is_lost);
  float send();
  float send_v92();
  void begin_training();
  void follow_outcome();
  template <class Any>
  void receive(Any& procedure, float rx, bool is_lost);
  void watch_echo(float error);

  bool asked_ = false;  // the owner requested the training that begins

  Decimator decimator_;
  uint32_t refits_ = 0;
  PcmReceiver receiver_;
  qam::Modulator modulator_;
  // V.92: symbols at the network's clock
  SymbolShaper shaper_;
  float symbol_level_ = 0;   // L_U
  double sent_symbols_ = 0;  // time of the newest sample, in symbols
  double ahead_ = 0;         // of the receiver's
  bool locked_ = false;
  NearEcho echo_;
  bool watching_ = false;
};

}  // namespace offhook::v90
