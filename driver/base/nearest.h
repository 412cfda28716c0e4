// SPDX-License-Identifier: MIT
//
// Suggests the correct name for a misspelt one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace offhook {

/// @return the candidate with the least edit distance (letters put in, left out, changed, two of them swapped); empty
/// when there is none, or when more than half of the letters differ: that is no slip of the hand. A name without a dot
/// may be the last part of a candidate that has some ("loss_db" of "line.loss_db"), or begin it
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);
/// The same at the end of a message. @return "; the nearest known key is \"seed\"" (without noun "; the nearest is"),
/// or empty
std::string the_nearest(std::string_view name, std::span<const std::string_view> candidates,
                        std::string_view noun = "");

}  // namespace offhook
