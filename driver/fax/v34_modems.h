// SPDX-License-Identifier: MIT
//
// The signals of a fax machine on V.34 half duplex (V.34 clause 12), with the messages of modems.h. T.30 sees no
// difference, except that no test signal (TCF) is sent: MPh chooses the bit rate.
//
//     V.8 | Phase 2, training | control channel | page | control channel | ...
//     T.30's CED, CNG         | DIS, DCS, CFR   | ECM  | PPS, MCF
//
// Control frames are HDLC on the control channel, at 1200 or 2400 bit/s in both directions at once, with flags between
// them. A page is HDLC on the primary channel, at 2400 to 33,600 bit/s. It needs T.30's error correction.
//
// The turn to the page is agreed with ones, because T.30 may be late at either end:
//
//     source     flags | ones ............... | silence, S, PP, B1, page
//     recipient  flags ........| ones | silence
//
// A source that has a page to send sends ones. A recipient that expects a page answers 40 ones with 80, and turns. The
// source turns when it has received 40. The turn back is the pumps' own. If a retrain interrupts a page, the rest of
// the page is dropped, and T.30 repeats it.
//
// If V.8 shows that the far end is another kind of fax machine, or no fax machine answers by V.8, the modems of
// modems.h take over.
//
// Source: V.34 (10/96) clause 12; T.30's text (Annex F) was not available. Tried only between two of ours.
#pragma once

#include <cstdint>
#include <memory>

#include "driver/fax/modems.h"
#include "offhook/pump.h"

struct oh_v34_half_duplex_status;

namespace offhook::fax {

struct V34Config {
  oh_pump_role role = OH_PUMP_CALL;
  bool source = true;              ///< sends the pages; otherwise it receives them
  std::uint32_t max_bit_rate = 0;  ///< of the primary channel; 0: no limit
};

class V34Modems {
 public:
  /// It sends at kTxLevelDbm0. @throws std::bad_alloc
  explicit V34Modems(const V34Config& config);
  ~V34Modems();
  V34Modems(const V34Modems&) = delete;
  V34Modems& operator=(const V34Modems&) = delete;

  /// Its functions are real-time safe. It lives as long as the modems.
  oh_pump pump() const;
  Rings rings() const;
  /// `trained` counts pages whose signal was recognised. From any thread.
  Counters counters() const;
  /// Only from the thread that runs the pump: as oh_pump_type's status. OH_PUMP_DATA: a page.
  oh_pump_status status() const;
  oh_v34_half_duplex_status line() const;

 private:
  class Line;
  std::unique_ptr<Line> line_;
};

}  // namespace offhook::fax
