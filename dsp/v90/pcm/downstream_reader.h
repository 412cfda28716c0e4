// SPDX-License-Identifier: MIT
//
// The digital modem's signals as the analogue modem reads them, from levels: TRN1d and Jd at two levels, the DIL, R,
// and data frames of training and of data mode. For each level it returns the most likely transmitted one, as the
// receiver's reference, and the decoded content.
//
// Everything has its place: the receiver counts symbols from the first of TRN1d, and all signals are whole data frames.
#pragma once

#include <stdint.h>

#include "dsp/blocks/scrambler.h"
#include "dsp/v90/coding/constellation_choice.h"
#include "dsp/v90/coding/data_frame.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/coding/upstream_sequences.h"
#include "dsp/v90/pcm/frame_alignment.h"
#include "dsp/v90/pcm/receiver.h"
#include "offhook/pump.h"

namespace offhook::v90 {

/// The result of digital impairment learning: the mean level of each Ucode in each interval.
class DilLearner {
 public:
  static constexpr int kPasses = 2;  ///< of the DIL

  void init(const Dil& dil);
  /// The next symbol, from the first of the DIL on. @return the reference; @param[out] trust  its permitted use: the
  /// DIL is the same each time, so taps that followed its means would learn their errors.
  /// Real-time: yes, O(1), except at the end of a pass: O(6 * kUcodes).
  float put(float level, int interval, PcmReceiver::Trust* trust);
  /// There is no DIL: every level is that of the law.
  void assume(Law law);
  bool learnt() const { return pass_ >= kPasses; }
  /// @pre learnt()
  const LearntLevels& levels() const { return levels_; }
  /// The data frames have moved by `intervals`.
  void move(int intervals) { levels_.move(intervals); }

 private:
  void end_pass();

  Dil dil_{};
  int pass_ = 0;
  int segment_ = 0;
  int symbol_ = 0;
  LearntLevels levels_{};  // of the passes so far
  float sum_[kFrameIntervals][kUcodes]{};
  uint16_t count_[kFrameIntervals][kUcodes]{};
};

class DownstreamReader {
 public:
  enum class Found : uint8_t {
    kNone,
    kJd,       ///< jd()
    kJdPrime,  ///< its last symbol: the next is the first of the DIL
    kLearnt,   ///< levels() are known
    kR,        ///< it has begun
    kRBar,     ///< its last symbol
    kMp,       ///< mp()
    kJp,       ///< V.92: jp()
    kSuv,      ///< V.92: suv()
    kCpd,      ///< V.92: cpd() has new parts
    kEd,       ///< its last symbol
    kB1d,      ///< its last symbol
    kMoved,    ///< the data frames have moved by Result::move intervals: the receiver is to count so from the next on
    kPoor,     ///< the same, and other constellations are needed there
    kLost      ///< the data were good and are not, however their frames may lie
  };
  struct Result {
    float reference;
    PcmReceiver::Trust trust;
    Found found;
    int move = 0;
  };

  DownstreamReader() = default;
  DownstreamReader(Law law, uint8_t u_info, const oh_bit_port& port) : law_(law), u_info_(u_info), port_(port) {}

  /// The signals of V.92 with PCM upstream: Jp after Jd, SUVd and CPd in place of MP.
  void set_v92() { v92_ = true; }
  /// TRN1d and Jd come. The levels of the intervals are all that of UINFO, until set_two_levels().
  void begin_two_levels();
  void set_two_levels(const float* levels);
  /// The DIL begins with the next symbol; R follows it.
  void begin_dil(const Dil& dil);
  /// There was no DIL: levels() are those of the law.
  void assume_levels() { learner_.assume(law_); }
  /// Frames begin with the next symbol. @param data  B1d and data, else TRN2d and MP  @param levels  as learnt
  void begin_frames(const FrameParameters& p, const LearntLevels& levels, bool data);
  /// Silence comes, and then R of the largest points of the frames so far (Rt).
  void begin_silence();
  /// Data, after B1d, go to the port.
  void deliver(bool live) { live_ = live; }

  /// Real-time: yes; the work of a data frame comes with its last symbol.
  Result put(float level, int interval);

  const Jd& jd() const { return jd_; }
  const Mp& mp() const { return mp_; }
  const Jp& jp() const { return jp_; }
  const Suv& suv() const { return suv_; }
  const Cpd& cpd() const { return cpd_; }
  const LearntLevels& levels() const { return learner_.levels(); }
  uint64_t bits_received() const { return bits_received_; }
  /// Half the least distance between levels that are in use.
  float decision_distance() const { return distance_ / 2; }

 private:
  enum class Mode : uint8_t { kNone, kTwoLevels, kDil, kR, kSilence, kTraining, kB1d, kData };
  Result put_frames(float level, int interval);
  void move(int intervals);
  void set_levels();
  void watch_r(int interval, bool largest);
  bool r_bar_over() const { return r_bar_frames_ == kRBarFrames; }
  Found two_levels(bool positive);
  Found end_frame();
  Found read_training(const uint8_t* bits, int d);
  Found read_training_v92(const uint8_t* bits, int d);

  static constexpr int kRBarFrames = 4;

  Law law_ = Law::kMu;
  uint8_t u_info_ = 0;
  oh_bit_port port_{};
  Mode mode_ = Mode::kNone;
  bool live_ = false;
  bool v92_ = false;
  Descrambler descrambler_{kGpc};
  // two levels
  float two_[kFrameIntervals]{};
  int sign_ = 0;
  FixedSequenceReceiver<Jd> jd_receiver_;
  FixedSequenceReceiver<Jp> jp_receiver_;
  Jp jp_{};
  Jd jd_{};
  bool jd_found_ = false;
  int jd_at_ = 0;  // bits since the end of a Jd, modulo its length
  int zeros_ = 0;
  DilLearner learner_;
  bool told_ = false;
  // R
  uint8_t signs_[kFrameIntervals]{};
  bool largest_ = true;  // all of the frame so far have the largest magnitude
  int r_frames_ = 0;     // in a row
  int r_bar_frames_ = 0;
  bool r_polarity_ = false;
  bool in_r_ = false;
  // frames
  FrameDecoder decoder_;
  LearntLevels following_{};  // as learnt, and as they continued in data
  FrameAlignment alignment_;
  float frame_error_ = 0;
  uint8_t labels_[kFrameIntervals]{};
  float level_[kFrameIntervals][kUcodes]{};
  float distance_ = 0;
  MpReceiver mp_receiver_;
  Mp mp_{};
  int mp_frames_ = 0;  // of one MP; 0: none was found
  int mp_at_ = 0;      // frames since the start of the MP that is being received
  FixedSequenceReceiver<Suv> suv_receiver_;
  Suv suv_{};
  CpdReceiver cpd_receiver_;
  Cpd cpd_{};
  int until_next_ = 0;  // frames until a sequence of V.92 begins; 0: not known
  int frames_ = 0;
  bool in_ed_ = false;
  uint64_t bits_received_ = 0;
};

}  // namespace offhook::v90
