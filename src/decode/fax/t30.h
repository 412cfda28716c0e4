// SPDX-License-Identifier: MIT
//
// The frames of T.30 in words, and the page format in DCS. The text of T.30 was not available: names and
// meanings are those of spandsp 0.0.6 (t30_fcf.h, t30_logging.c, private/t30_dis_dtc_dcs_bits.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/decode/fax/page_coding.h"

namespace offhook::decode {

inline constexpr std::uint8_t kT30Address = 0xFF;  ///< first octet of a frame (T.30 5.3.4)

/// The name of a frame by its facsimile control field (T.30 5.3.6): "DIS", "MCF"; "???" if unknown.
std::string fax_frame_name(std::uint8_t control_field);

/// The content of a frame in words: each field of DIS, DTC and DCS, the text of an identification, the counts of PPS,
/// the frames that PPR requests. @param frame  with the address and control octets  @return empty: the name is complete
std::vector<std::string> fax_meaning(const std::string& name, std::span<const std::uint8_t> frame);

enum class PageModem { kV27ter, kV29, kV17 };
const char* name_of(PageModem modem);  ///< "V.27ter"

struct PageRate {
  PageModem modem = PageModem::kV27ter;
  int bit_rate = 0;
  bool operator==(const PageRate&) const = default;
};

/// How the pages behind a DCS are sent.
struct PageFormat {
  std::optional<PageRate> rate;      ///< nothing: V.33, or a reserved value
  std::optional<PageCoding> coding;  ///< nothing: JBIG, colour, or not a page
  bool error_correction = false;
  int width = 1728;  ///< pixels
  double x_dpi = 204, y_dpi = 98;
};

/// @param frame  a DCS with the address and control octets
PageFormat page_format(std::span<const std::uint8_t> frame);
/// @param frame  a DCS or CTC
std::optional<PageRate> page_rate(std::span<const std::uint8_t> frame);

/// The content of PPS.
struct PartialPage {
  std::string then;  ///< "EOP", "MPS", "EOM", "NULL": what follows the frames
  int page = 0, block = 0, frames = 0;
};
/// @return nothing: the frame is too short
std::optional<PartialPage> partial_page(std::span<const std::uint8_t> frame);

}  // namespace offhook::decode
