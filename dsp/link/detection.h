// SPDX-License-Identifier: MIT
//
// The detection phase (ITU-T V.42, 7.2.1): two modems detect that both can correct errors, by start-stop characters
// that disturb a terminal as little as possible.
#ifndef OFFHOOK_DSP_V42_DETECTION_H
#define OFFHOOK_DSP_V42_DETECTION_H

#include <stdint.h>

namespace offhook::v42 {

/// Sends one of the patterns repeatedly: two characters, each followed by eight ones.
class PatternSender {
 public:
  enum Pattern : uint8_t { kMarks, kOriginator, kAnswerer };
  void start(Pattern pattern) { pattern_ = pattern, at_ = 0, repeats_ = 0; }
  int next();
  /// Whole patterns sent since start().
  uint32_t repeats() const { return repeats_; }
  bool between() const { return at_ == 0; }

 private:
  Pattern pattern_ = kMarks;
  uint8_t at_ = 0;
  uint32_t repeats_ = 0;
};

/// Searches for the far end's pattern.
class PatternReceiver {
 public:
  enum Result : uint8_t {
    kNothing,
    kOriginator,  ///< four DC1 of alternating parity
    kAnswerer,    ///< E C twice: V.42 supported
    kRefused      ///< E NUL twice: no error-correcting protocol desired
  };
  Result put(int bit);

 private:
  uint32_t last_ = 0;  // the last four characters, the newest in the low octet
  uint8_t known_ = 0;  // how many of them are adjacent
  uint8_t ones_ = 0;   // since the last character
  uint8_t bits_ = 0;   // of the current character; 0: none
  uint8_t character_ = 0;
};

}  // namespace offhook::v42
#endif
