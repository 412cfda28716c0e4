// SPDX-License-Identifier: MIT
//
// The pages of a fax call. Frames of T.30 and carriers of pages alternate. DCS defines the carriers behind it,
// the first of which is the test of the line. Without error correction a carrier is a page. With it, a carrier
// has frames (FCD) of a block of up to 256; PPS names page, block and number of frames, PPR requests some of them
// again, and the frames of all carriers of a block are combined by their numbers.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/decode/fax/page_carrier.h"
#include "src/decode/fax/page_coding.h"
#include "src/decode/fax/t30.h"
#include "src/decode/line/recording.h"
#include "src/decode/modulation/v21_frames.h"

namespace offhook::decode {

/// A frame of T.30.
struct FaxFrame {
  int channel = 0;
  double t = 0;                        ///< s
  std::string name;                    ///< "DIS", "DCS", ...: its facsimile control field (T.30 5.3.6)
  V21Frame received;                   ///< with the address and control octets
  std::vector<std::string> meaning{};  ///< its content, in words
  bool packets = false;                ///< it came in T.38
};

/// A carrier of V.27ter, V.29 or V.17.
struct FaxCarrier {
  int channel = 0;
  double t0 = 0, t1 = 0;  ///< s
  PageRate rate{};
  bool test = false;     ///< of the line (TCF); else a page, or frames of one
  bool trained = false;  ///< else nothing was read
  std::size_t bits = 0;
  std::size_t wrong_bits = 0;           ///< of a test: ones
  int good_frames = 0, bad_frames = 0;  ///< with error correction
  int lost_packets = 0;                 ///< of T.38
};

/// A block of a page with error correction.
struct FaxBlock {
  int page = 0, number = 0;                       ///< as PPS counts them, from 0
  int frames = 0;                                 ///< by PPS; 0: no PPS was read
  int repeated = 0;                               ///< frames that came more than once
  std::vector<std::vector<std::uint8_t>> data{};  ///< by frame; empty: it did not come
  std::string then{};                             ///< of PPS
  std::vector<int> missing() const;               ///< frames that never came
};

struct FaxPage {
  int channel = 0;
  double t0 = 0, t1 = 0;  ///< s: first and last carrier
  PageFormat format;
  std::vector<FaxBlock> blocks{};  ///< with error correction
  BitString bits{};
  PageReading reading{};   ///< empty if format.coding is
  std::string end{};       ///< the command behind it: "EOP", "MPS", "PPS-EOP", ...; empty: none was read
  std::string response{};  ///< to that command: "MCF", "RTN", ...; empty: none was read
  int missing_frames() const;
  /// All of it was read: no damaged line, no missing frame, and the end of the page.
  bool whole() const;
};

struct FaxPages {
  std::vector<FaxCarrier> carriers;  ///< in order of time
  std::vector<FaxPage> pages;        ///< as sent: a page that was refused and sent again is there twice
};

/// @param channels  at 8000 Hz, int16 units  @param frames  with good check sequences, in order of time
/// @param bursts  V.21 in any channel, from and to, s, in any order: no carrier of a page is there
FaxPages read_pages(const std::vector<std::vector<float>>& channels, std::span<const FaxFrame> frames,
                    std::vector<std::pair<double, double>> bursts);

/// The pages of a call of T.38. @param frames  as above  @param carriers  in order of time
FaxPages read_t38_pages(std::span<const FaxFrame> frames, std::span<const T38Carrier> carriers);

/// The part of read_pages() that needs no samples: the state that T.30 is in.
class PageAssembler {
 public:
  PageAssembler() = default;

  /// A frame of T.30, in order of time.
  void take(const FaxFrame& frame);
  /// Whether a carrier of a page may follow; the functions below return its format.
  bool expects_carrier() const { return expects_; }
  const PageRate& rate() const { return *format_.rate; }
  int channel() const { return channel_; }
  bool short_training() const { return learnt_ && !test_next_; }
  /// The carriers between two bursts of V.21, in order of time.
  void take(const std::vector<PageCarrier>& carriers);
  FaxPages finish();

 private:
  void take_frames(const PageCarrier& carrier, FaxCarrier& entry);
  bool take_frame(std::span<const std::uint8_t> frame, FaxCarrier& entry);
  void end_block(const PartialPage& part);
  void put_pending_into(FaxBlock& block);
  void begin_block(int page, int number);
  void flush_pending();
  void answer(const std::string& name);

  PageFormat format_{};
  int channel_ = 0;
  bool expects_ = false, test_next_ = false, learnt_ = false;
  bool awaits_answer_ = false, block_closed_ = true, page_closed_ = true;
  double pending_t0_ = 0, pending_t1_ = 0;
  std::vector<std::vector<std::uint8_t>> pending_;  // frames by number since the last PPS
  int pending_repeats_ = 0;
  FaxPages result_;
};

}  // namespace offhook::decode
