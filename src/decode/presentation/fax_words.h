// SPDX-License-Identifier: MIT
//
// The carriers and pages of a fax call, in words.
#pragma once

#include <string>

#include "src/decode/fax/pages.h"
#include "src/decode/presentation/fields.h"

namespace offhook::decode {

/// "T.4 one-dimensional", "T.4 two-dimensional", "T.6", or null: not decoded.
const char* coding_name(const PageFormat& format);

/// "1-3, 7": @param from  added to each number
std::string ranges(const std::vector<std::pair<int, int>>& all, int from);

/// "DIS"; "???": unknown, or too short
std::string t38_name(const T38Frame& frame);

/// "14400 bit/s, 0 of 21600 bits wrong"
std::string describe(const FaxCarrier& carrier);
/// "V.17 14400 bit/s, error correction, T.6, 1728 x 1100 pixels, 204 x 196 dpi, whole, MCF"
std::string describe(const FaxPage& page);

/// Columns and rows for text and page: one row per page. Without pages: no rows.
FieldTable fax_pages(const Call& call);

}  // namespace offhook::decode
