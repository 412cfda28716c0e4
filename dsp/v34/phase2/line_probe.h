// SPDX-License-Identifier: MIT
//
// Line probing (10.1.2.4, 11.2.1): measurement of the line towards this end by the far end's L1 and L2, and the
// resulting choice of symbol rate, carrier, pre-emphasis and power.
//
// L2 is cut into windows of 1024 samples (128 ms, Blackman-Harris, half overlapping) and transformed. A tone fills nine
// bins around its place, even when the line shifts it by 7 Hz; the bins between the tones are noise, distortion and
// echo. That gives gain and noise every 150 Hz, and from both the rate that a symbol rate could carry: the mean over
// its band of log2(1 + SNR / gap), with the transmit spectrum of the pre-emphasis tried.
//
// L2 hides hum at 150 and 300 Hz under its tones. So the same windows are also taken before probing, while both ends
// send tones and INFO0, which have nothing below 600 Hz.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dsp/blocks/fft.h"
#include "dsp/blocks/high_pass.h"
#include "dsp/blocks/oscillator.h"
#include "dsp/v34/coding/framing.h"
#include "dsp/v34/phase2/info.h"
#include "dsp/v34/phase2/probing.h"

namespace offhook::v34 {

class LineProbe {
 public:
  static constexpr int kWindow = 1024;
  static constexpr int kBands = 25;  ///< band k is around (k + 1) * 150 Hz: 150 to 3750 Hz

  LineProbe();

  /// One sample before L2. @param quiet  no end sends anything below 600 Hz; only windows of such samples count.
  /// Real-time: yes, as put().
  void put_quiet(float x, bool quiet);
  /// The next sample is the first of L2.
  void start();
  /// One sample of L2.  Real-time: yes, O(1) apart from one FFT of kWindow points every kWindow / 2 samples.
  void put(float x);
  /// Number of complete windows; analyse() needs one, five are 384 ms.
  int windows() const { return windows_; }
  /// Whether all its windows were analysed.
  bool is_analysed() const { return analysed_ == windows_; }

  /// Computes gain, noise and offset from all samples. Real-time: O(kBands), no.  @pre windows() > 0
  void analyse();

  /// Received power of the tone, and of noise and distortion within 150 Hz around it, as mean squares in int16 units.
  /// At the frequencies without a tone (900, 1200, 1800, 2400 Hz) the gain is the mean of the neighbours'.
  float tone_power(int band) const { return tone_[band]; }
  float noise_power(int band) const { return noise_[band]; }
  float snr_db(int band) const { return snr_db_[band]; }
  /// The high-pass that the receiver needs; null: none. DC and mains hum below the band need one if they are loud
  /// enough to disturb a receiver: less than 40 dB below the probing signal, and 9 dB above the white noise of the line
  /// there. Harmonics that this filter passes need the steeper one if they are less than 17 dB below the probing
  /// signal. The projected rates then have no band below it.
  const HighPassDesign* high_pass() const { return high_pass_; }
  /// Received minus sent frequency of the 1050 Hz tone.
  float frequency_offset_hz() const { return offset_hz_; }

  /// Rate in bit/s, not rounded, that the line could carry in this band with this pre-emphasis.
  double projected_rate(SymbolRate s, Carrier c, int pre_emphasis) const;

  /// The search for a symbol rate's best carrier and pre-emphasis, with one projected rate per step.
  struct Search {
    uint8_t tried = 0;
    Carrier carrier = Carrier::kLow;
    uint8_t pre_emphasis = 0;
    double rate = 0;  ///< bit/s, projected for these; 0: not usable
  };
  /// @param far  carriers of the far transmitter, and whether it has 3429  @return whether more combinations remain.
  /// Real-time: yes, O(1).
  bool step(SymbolRate s, const Info0& far, Search* search) const;
  /// The result, with the bit rate in whole 2400 bit/s; 0: not usable.
  /// @param allow_1664  more than 12 (28,800 bit/s) is permitted, because both ends have 1664 points
  static ProbingResult result(SymbolRate s, const Search& search, bool allow_1664);
  /// The whole search for a symbol rate in one call.
  ProbingResult best(SymbolRate s, const Info0& far, bool allow_1664) const {
    Search search;
    while (step(s, far, &search)) {
    }
    return result(s, search, allow_1664);
  }

  /// Frequency offset in the form of INFO1, in 0.02 Hz; kOffsetUnknown when it could not be measured.
  int16_t offset_field() const;

 private:
  static constexpr int kHop = kWindow / 2;
  static constexpr int kBins = kWindow / 2 + 1;
  static constexpr int kQuietBins = 380 * kWindow / 8000;  // the steep high-pass removes what is below
  static constexpr int kBlock = 160;  // for the offset: 20 ms, in which every tone has whole periods
  double snr(SymbolRate s, int pre_emphasis, double hz) const;
  bool fill(float x);
  const oh_complex* transform();
  void end_window();
  void measure_offset();
  void choose_high_pass(double scale);
  void find_edges();

  float window_[kWindow];
  float input_[kWindow]{};
  int filled_ = 0;
  int windows_ = 0, analysed_ = 0;
  float spectrum_[kBins]{};  // summed squares
  float tone_[kBands]{};
  float noise_[kBands]{};
  float snr_db_[kBands]{};
  double lower_edge_hz_ = 0, upper_edge_hz_ = 4000;  // of the band that can be equalised
  Oscillator offset_mixer_;
  Complex block_{};
  int in_block_ = 0;
  static constexpr int kMaxBlocks = 32;
  Complex blocks_of_tone_[kMaxBlocks]{};
  int blocks_ = 0;
  float offset_hz_ = 0;
  bool offset_known_ = false;
  float quiet_[kQuietBins]{};  // squares of the last window before L2
  bool was_quiet_ = false;
  const HighPassDesign* high_pass_ = nullptr;
  oh_complex work_[kWindow];
  alignas(64) unsigned char fft_[OH_FFT_RADIX2_SIZE(kWindow)];
};

}  // namespace offhook::v34
