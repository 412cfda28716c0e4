// SPDX-License-Identifier: MIT
//
// A burst on a single carrier: one million symbols per second, two samples each, in slots of 0.625 ms, as Bluetooth has
// them (Haartsen and Mattisson 2000). A preamble of known symbols gives time, frequency, level and the equaliser;
// pilots among the symbols hold the phase. "In the manner of": the modulation, the code and the frame are this
// project's own.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dsp/radio/burst.h"

namespace offhook::radio {

struct SingleCarrier {
  static constexpr const char* kName = "radio-burst";
  static constexpr unsigned kSlotSamples = 1250;
  static constexpr std::array<unsigned, 1> kSampleRatesHz = {kSampleRateHz};
  static constexpr unsigned kSymbolSamples = 2, kPreambleSymbols = 64, kPacketSymbols = 412, kPilotSpacing = 16;
  static constexpr unsigned kFilterSymbols = 7;  // half of the pulse's length
  static constexpr float kExcessBandwidth = 0.3f;
  static constexpr float kMostOffset = 0.06f;     // of the carrier, radians per sample: 19 kHz
  static constexpr unsigned kTrainingPasses = 3;  // passes of the equaliser over the preamble
  static constexpr int kPulse = LIQUID_FIRFILT_ARKAISER;

  /// The samples of a burst, made in one call.
  class Sender {
   public:
    Sender();
    const Packets& packets() const { return packets_; }
    unsigned samples() const { return static_cast<unsigned>(samples_.size()); }
    /// @param payload  [packets().octets(header.rate)]  @return [samples()], mean square 1. Real-time: yes.
    const Complex* burst(const BurstHeader& header, const std::uint8_t* payload);

   private:
    Packets packets_;
    Owned<qpilotgen, qpilotgen_destroy> pilots_;
    Owned<firinterp_crcf, firinterp_crcf_destroy> pulse_;
    std::vector<Complex> symbols_, frame_, samples_;
  };

  class Receiver {
   public:
    Receiver();
    const Packets& packets() const { return packets_; }
    /// One sample. Real-time: yes.
    Heard step(Complex x);
    /// Drops the current burst, if any; a new one begins with the next sample.
    void restart();
    // The burst that was just received:
    const BurstHeader& header() const { return header_; }
    const std::uint8_t* payload() const { return payload_.data(); }
    /// Samples since the burst's first one.
    unsigned age() const { return age_; }
    float snr_db() const { return snr_db_; }
    float offset_turns() const { return offset_turns_; }
    float level_db() const { return level_db_; }  ///< 20 log10 of the amplitude

   private:
    enum class Stage : std::uint8_t { kSearch, kPreamble, kFrame };
    Heard take(Complex x);
    void train();
    Heard finish();

    Packets packets_;
    std::array<Complex, kPreambleSymbols> known_;
    Owned<qdetector_cccf, qdetector_cccf_destroy> detector_;
    Owned<nco_crcf, nco_crcf_destroy> carrier_;
    Owned<eqlms_cccf, eqlms_cccf_destroy> equaliser_;
    Owned<qpilotsync, qpilotsync_destroy> pilots_;
    std::vector<Complex> start_;  // samples of the burst, mixed down, until the equaliser is trained
    std::vector<Complex> frame_, symbols_;
    std::vector<std::uint8_t> payload_;
    Stage stage_ = Stage::kSearch;
    unsigned age_ = 0, taken_ = 0;
    float scale_ = 1, snr_db_ = 0, offset_turns_ = 0, level_db_ = 0;
    BurstHeader header_;
  };
};

}  // namespace offhook::radio
