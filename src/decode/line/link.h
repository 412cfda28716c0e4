// SPDX-License-Identifier: MIT
//
// The content of a data mode's bits: the detection phase of V.42, HDLC frames, LAPM, the user's octets, and PPP in
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/decode/line/data.h"

namespace offhook::decode {

struct LapmFrame {
  double t = 0;      ///< of its closing flag, s
  std::string kind;  ///< "I", "RR", "RNR", "REJ", "SREJ", "SABME", "UA", "DISC", "DM", "FRMR", "XID", "UI", "TEST"
  int address = 0;
  int ns = -1, nr = -1;  ///< -1: it has none
  bool poll_final = false;
  bool fcs32 = false;
  std::size_t octets = 0;                 ///< of information
  std::vector<std::uint8_t> information;  ///< of unnumbered frames and I frames
};

struct Link {
  const char* detection = nullptr;  ///< "ODP", "ADP", "ADP: no error control", or null
  double detection_t = 0;
  std::vector<LapmFrame> frames;      ///< with a good check sequence
  int bad_frames = 0;                 ///< after the first good one
  int gaps = 0;                       ///< I frames that were missed: the payload has a hole
  int ppp_frames = 0, ppp_bad = 0;    ///< in the payload
  std::vector<std::uint8_t> payload;  ///< information of the I frames in order, each once; uncompressed if it could be
  std::string format;  ///< of start-stop characters, if there are no frames: "8N1"; empty: there are none
  std::vector<std::uint8_t> characters;
  bool v42bis = false, v44 = false;  ///< the payload was compressed by this and has been uncompressed
  std::vector<std::uint8_t> rest;    ///< the bits from the last flag on: a frame that may continue in the next link
};

/// @param before  the same direction's link until a retrain or renegotiation, which this one continues; null: none
Link read_link(const DataHeard& data, const Link* before = nullptr);

/// The links of one direction in order of time, each continuing the one before it.
using LinksInOrder = std::vector<Link*>;

/// Adds the frames that later links of a direction repeated, and decodes V.44 or V.42bis if the XID frames of the
/// two directions negotiated it. @param call  the call modem's
void uncompress(const LinksInOrder& call, const LinksInOrder& answer);
void uncompress(std::span<Link> call, std::span<Link> answer);

}  // namespace offhook::decode
