// SPDX-License-Identifier: MIT
//
// The signals of the digital modem in Phases 3 and 4 and in data mode (8.4, 8.6), one PCM code after the other. Each is
// started, runs for its length, and then another must be: which, is the procedure's business.
//
// All of them are whole data frames long, so that the alignment that began with Sd is kept.
#pragma once

#include <stdint.h>

#include "dsp/blocks/scrambler.h"
#include "dsp/v90/coding/data_frame.h"
#include "dsp/v90/coding/sequences.h"
#include "dsp/v90/coding/upstream_sequences.h"
#include "offhook/pump.h"

namespace offhook::v90 {

inline constexpr int kSdSymbols = 384;
inline constexpr int kSdBarSymbols = 48;
inline constexpr int kLeastTrn1d = 2040;
inline constexpr int kLeastRi = 192;
inline constexpr int kRSymbols = 384;  ///< Rd, Rt
inline constexpr int kRBarSymbols = 24;
inline constexpr int kLeastTrn2d = 2040;
inline constexpr int kEdFrames = 2;
inline constexpr int kB1dFrames = 48;

/// n rounded up to whole data frames.
constexpr int whole_frames(int symbols) {
  return (symbols + kFrameIntervals - 1) / kFrameIntervals * kFrameIntervals;
}

class Downstream {
 public:
  enum class Signal : uint8_t {
    kSilence,
    kSd,
    kSdBar,
    kTrn1d,
    kJd,
    kJdPrime,
    kDil,  ///< one segment; V.92: or SCR
    kR,
    kRBar,
    kDrain,  ///< the frames that look-ahead still holds
    kTrn2d,  ///< from here on coded in data frames
    kMp,
    kEd,
    kB1d,
    kData
  };

  Downstream() = default;
  explicit Downstream(Law law) : law_(law) {}

  /// kSilence, kSd, kSdBar, kTrn1d, kJdPrime, kRBar, kDrain, kTrn2d, kEd, kB1d, kData. @param symbols  of kSilence,
  /// kTrn1d, kTrn2d: how many, rounded up to whole frames; 0 for kSilence: without end. The others have a fixed length.
  void start(Signal s, int symbols = 0);
  /// Silence of any length, before the alignment begins or as a part of it. @param symbols  at least 1
  void wait(int symbols) { start(Signal::kSilence), length_ = symbols; }
  void set_u_info(uint8_t u_info) { u_info_ = u_info; }
  void start_jd(const Jd& jd);
  /// One segment. @param dil  kept by the caller until it has been sent
  void start_dil(const Dil& dil, int segment);
  /// R of these six Ucodes. @param symbols  whole frames; 0: without end
  void start_r(const uint8_t* ucodes, int symbols);
  void start_mp(const Mp& mp);
  /// Any sequence, whole data frames long, as kMp. @param[in] bits  [size] kept by the caller until it has been sent
  void start_sequence(const uint8_t* bits, int size);
  void start_jp(const Jp& jp);
  /// V.92's SCR: of the same events as a segment of a DIL.
  void start_scr(int symbols);
  /// Data frames follow: all memories at zero.
  void begin_frames(const FrameParameters& p);

  Signal signal() const { return signal_; }
  int64_t sent() const { return sent_; }  ///< symbols, of data frames those that were taken in
  /// next() may be called; else the signal has ended and another must be started.
  /// @param live  of kData: bits are taken from the port; else they are ones.  Real-time: yes, O(look-ahead).
  bool ready(const oh_bit_port& port, bool live);
  /// @pre ready()  Real-time: yes; the work of a data frame comes with its first symbol.
  Pcm next();
  uint64_t bits_sent() const { return bits_sent_; }

 private:
  bool framed() const { return signal_ >= Signal::kTrn2d || signal_ == Signal::kDrain; }
  void put_frame(const oh_bit_port& port, bool live);
  Pcm coded(int bit);
  /// Without the differential encoder: TRN1d, SCR.
  Pcm scrambled_one();

  Law law_ = Law::kMu;
  Signal signal_ = Signal::kSilence;
  int64_t sent_ = 0;
  int64_t length_ = 0;  // 0: without end
  uint8_t u_info_ = 0;
  Scrambler scrambler_{kGpc};
  int sign_ = 0;  // of the last TRN1d or Jd symbol
  uint8_t bits_[Mp::kBitsType1]{};
  const uint8_t* sequence_ = nullptr;
  int bits_size_ = 0;
  const Dil* dil_ = nullptr;
  int segment_ = 0;
  uint8_t r_[kFrameIntervals]{};
  FrameEncoder encoder_;
  Pcm codes_[kFrameIntervals]{};
  int code_ = kFrameIntervals;
  uint64_t bits_sent_ = 0;
};

}  // namespace offhook::v90
