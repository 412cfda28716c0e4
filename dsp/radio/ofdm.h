// SPDX-License-Identifier: MIT
//
// A burst of OFDM: 64 carriers over 2 MHz, 40 us per symbol, in slots of 0.5 ms; at half the sample rate 1 ms, at twice
// 0.25 ms. Radio stacks of today's base stations scale alike (3GPP TS 38.211, 4.3.2: the slot halves as the
// carriers' spacing doubles). Two short and one long training symbol give
// time, frequency and the channel; pilots hold the phase. "In the manner of": carriers, training and code are
// liquid-dsp's.
//
// liquid-dsp fits the channel over all carriers with a polynomial of fourth order, which follows an echo of one sample
// and none of four. So the header, which is read first and is better protected, serves as a second training symbol: the
// difference of its carriers from the sent ones corrects the payload's, if it is more than noise.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dsp/radio/burst.h"

namespace offhook::radio {

struct Ofdm {
  static constexpr const char* kName = "radio-ofdm";
  static constexpr unsigned kSlotSamples = 1000;
  /// The same symbols at half or twice the rate: slots of 0.5, 1 and 0.25 ms.
  static constexpr std::array<unsigned, 3> kSampleRatesHz = {kSampleRateHz, kSampleRateHz / 2, 2 * kSampleRateHz};
  static constexpr unsigned kCarriers = 64, kPrefix = 16, kTaper = 4, kTrainingSymbols = 3, kDataSymbols = 8;
  static constexpr unsigned kSymbolSamples = kCarriers + kPrefix;

  class Sender {
   public:
    Sender();
    const Packets& packets() const { return packets_; }
    unsigned samples() const { return static_cast<unsigned>(samples_.size()); }
    /// As SingleCarrier::Sender. Real-time: yes.
    const Complex* burst(const BurstHeader& header, const std::uint8_t* payload);

   private:
    std::vector<std::uint8_t> carriers_;  // use of each carrier
    Packets packets_;
    Owned<ofdmframegen, ofdmframegen_destroy> generator_;
    std::vector<Complex> symbols_, carried_, samples_;
  };

  /// As SingleCarrier::Receiver.
  class Receiver {
   public:
    Receiver();
    Receiver(const Receiver&) = delete;  // liquid holds its address
    Receiver& operator=(const Receiver&) = delete;
    const Packets& packets() const { return packets_; }
    Heard step(Complex x);
    void restart();
    const BurstHeader& header() const { return header_; }
    const std::uint8_t* payload() const { return payload_.data(); }
    unsigned age() const { return (kTrainingSymbols + kDataSymbols) * kSymbolSamples; }
    float snr_db() const { return snr_db_; }
    float offset_turns() const { return offset_turns_; }
    float level_db() const { return level_db_; }

   private:
    void symbol(const Complex* carriers, const std::uint8_t* what);
    float equalise_by_header();
    Heard finish();

    std::vector<std::uint8_t> carriers_;
    Packets packets_;
    Owned<ofdmframesync, ofdmframesync_destroy> synchroniser_;
    std::vector<Complex> symbols_, known_;
    std::vector<Complex> gains_, smooth_;  // of the data carriers, in order of frequency
    std::vector<std::uint8_t> payload_;
    unsigned taken_ = 0;  // symbols
    float snr_db_ = 0, offset_turns_ = 0, level_db_ = 0;
    BurstHeader header_;
  };
};

}  // namespace offhook::radio
