// SPDX-License-Identifier: MIT
//
// Headers of the frames of MNP, V.42's alternative error-correcting procedure (ITU-T V.42 of 1993 and 1996, A.6; later
// editions omit it). A header is its length, the type of the frame, and parameters: type, length and value each, or
// only values at fixed places.
#ifndef OFFHOOK_DSP_V42_MNP_FRAMES_H
#define OFFHOOK_DSP_V42_MNP_FRAMES_H

#include <stddef.h>
#include <stdint.h>

namespace offhook::v42 {

/// Table A.1
enum MnpType : uint8_t {
  kLinkRequest = 1,
  kLinkDisconnect = 2,
  kLinkTransfer = 4,
  kLinkAcknowledgement = 5,
  kLinkAttention = 6,
  kLinkAttentionAnswer = 7
};

/// Reasons of a link disconnect: Table A.5, and kNotAcknowledged of Microcom's classes. All end the link.
enum MnpReason : uint8_t {
  kNoLinkRequest = 1,
  kUnknownLevel = 2,
  kBadParameter = 3,
  kNotAcknowledged = 4,
  kUser = 255
};

/// Framing modes (A.6.4.1.5).
enum MnpFraming : uint8_t { kStartStop = 2, kBitOriented = 3 };

/// Bits of the data phase optimization (A.6.4.1.8).
enum MnpOptimization : uint8_t { kLongInformation = 1, kFixedFields = 2 };

inline constexpr uint8_t kClass5 = 1;  // of parameter 9, which V.42 does not have: docs/mnp.md

inline constexpr uint16_t kShortField = 64, kLongField = 256;  // octets of information: A.7.5.6, A.6.4.1.8

/// The parameters of a link request (Table A.2).
struct LinkRequest {
  uint8_t level = 2;             ///< constant parameter 1; another value is refused
  uint8_t framing = kStartStop;  ///< the lower one of both ends is used, as for k and n401
  uint8_t k = 8;                 ///< unacknowledged frames
  uint16_t n401 = kShortField;   ///< octets of information
  uint8_t optimization = 0;      ///< set of enum MnpOptimization; the common ones are used
  uint8_t compression = 0;       ///< set; of it only kClass5 is used
  bool valid() const { return framing >= kStartStop && framing <= kBitOriented && k > 0 && n401 > 0; }
};

/// The parameters for both ends (A.7.1.5).
LinkRequest common(const LinkRequest& ours, const LinkRequest& theirs);

/// The parameters of the other frames are one octet each, the first ones of these:
/// LT: N(S). LA: N(R), N(k). LN: N(SA), type of the break. LNA: N(RA). LD: reason.
struct MnpHeader {
  MnpType type;
  uint8_t first, second;
  const uint8_t* info;  ///< of LT
  size_t n;
};

inline constexpr size_t kMaxMnpHeader = 27;  ///< octets that the following functions write, at most

/// @param[out] out  [kMaxMnpHeader]  @return octets written
size_t write_link_request(const LinkRequest& request, uint8_t* out);
/// @param fixed  the short form of LT and LA  @return octets written, in front of the information
size_t write_header(MnpType type, uint8_t first, uint8_t second, bool fixed, uint8_t* out);

/// The type of a frame, 0 if it is too short. Both forms are known by their length.
/// @return false if the frame is not valid: then it is discarded (A.5)
bool read_header(const uint8_t* frame, size_t n, MnpHeader* header);
/// Absent parameters keep their defaults; unknown ones are skipped (A.7.1.5.6).  @pre header.type == kLinkRequest
bool read_link_request(const MnpHeader& header, LinkRequest* request);

}  // namespace offhook::v42
#endif
