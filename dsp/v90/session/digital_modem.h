// SPDX-License-Identifier: MIT
//
// The digital modem: the order of the phases, and the layer between the octets of the network and the procedures.
#pragma once

#include "dsp/blocks/hum_filter.h"
#include "dsp/qam/receiver.h"
#include "dsp/v34/session/symbol_reader.h"
#include "dsp/v90/pcm/echo_canceller.h"
#include "dsp/v90/pcm/robbed_bits.h"
#include "dsp/v90/session/digital.h"
#include "dsp/v90/session/digital_v92.h"
#include "dsp/v90/session/modem.h"
#include "dsp/v90/session/upstream_alignment.h"

namespace offhook::v90 {

class DigitalModem : public Modem<DigitalModem, DigitalProcedure, DigitalV92Procedure> {
 public:
  static constexpr uint32_t kDelay = 0;
  static constexpr oh_pump_role kPhase2Role = OH_PUMP_CALL;

  /// @param v34  memory for the pump of V.34 that a call falls back to: v34_size()
  /// @param v92  with PCM upstream, if the far end and the line permit it
  DigitalModem(const oh_pump_config& c, void* v34, bool v92);

  uint8_t process(uint8_t rx) {
    ++samples_;
    return step(rx, false);
  }
  void lost() {
    ++samples_;
    ++filled_in_;
    step(octet_of(law_, {0, true}), true);
  }
  uint32_t rx_bit_rate() const {
    return with([](const auto& p) { return static_cast<uint32_t>(p.rx_bit_rate()); });
  }
  uint32_t tx_bit_rate() const {
    return with([](const auto& p) { return static_cast<uint32_t>(p.cp().rate_thirds()) / 3; });
  }
  uint64_t bits_received() const { return pcm_upstream_ ? v92_.bits_received() : reader_.data().bits_received(); }
  void instruments(oh_v90_instruments* i) const;
  void end_v34(bool had_data);
  void note_bad_frames(uint32_t n) {
    if (!pcm_upstream_) procedure_.note_bad_frames(n);
  }
  oh_start_up training_step() const {
    if (pcm_upstream_) return v92_step();
    const DigitalState s = procedure_.state();
    return s <= DigitalState::kFarMd    ? OH_START_UP_FAR_S
           : s == DigitalState::kFarTrn ? OH_START_UP_FAR_TRAINING
           : s < DigitalState::kFinal   ? OH_START_UP_OWN_TRAINING
                                        : OH_START_UP_RATES;
  }

 private:
  uint8_t step(uint8_t rx, bool is_lost);
  oh_start_up v92_step() const {
    const DigitalV92State s = v92_.state();
    return s <= DigitalV92State::kFarMd    ? OH_START_UP_FAR_S
           : s == DigitalV92State::kFarTrn ? OH_START_UP_FAR_TRAINING
           : s < DigitalV92State::kFinal   ? OH_START_UP_OWN_TRAINING
                                           : OH_START_UP_RATES;
  }
  uint8_t train(float rx, bool is_lost);
  uint8_t train_v92(float rx, bool is_lost);
  void begin_training();
  void repeat_refusal();
  void count_training();
  void forget_failures();
  void receive(float rx, bool is_lost);
  void align(const v34::Heard& heard);
  const v34::LineQuality* measure_noise();

  Law law_;
  RobbedBits robbed_bits_;
  v34::SymbolReader reader_;
  v34::LineQuality quality_;
  uint32_t order_version_ = 0;
  HumFilter front_{kHighPassFrom220};  // not with PCM upstream, whose band begins at 0 Hz
  qam::Receiver receiver_;
  PcmEchoCanceller echo_;
  UpstreamAlignment alignment_;
};

}  // namespace offhook::v90
