// SPDX-License-Identifier: MIT
//
// Suggests the correct name for a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace offhook {

/// @return the candidate with the least edit distance (letters inserted, left out, changed, or two of them swapped).
/// Empty if there is no candidate, or if more than half of the letters differ, which is no typing error. A name without
/// a dot may be the last part of a candidate with dots ("loss_db" of "line.loss_db"), or its beginning
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);
/// The candidate, worded for the end of a message. @return "; the nearest known key is \"seed\"" (without noun "; the
/// nearest is"), or empty
std::string the_nearest(std::string_view name, std::span<const std::string_view> candidates,
                        std::string_view noun = "");

}  // namespace offhook
