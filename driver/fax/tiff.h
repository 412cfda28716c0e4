// SPDX-License-Identifier: MIT
//
// TIFF files of fax pages: test pages, and the comparison of two files pixel by pixel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace offhook::fax {

/// Writes pages of 1728 pixels per line that resemble print: rows of marks in columns, different on every page.
/// @throws std::runtime_error: the file
void write_test_pages(const std::string& path, std::uint32_t pages, std::uint32_t lines, std::uint64_t seed);

/// @return pages of the file. @throws std::runtime_error: not a TIFF file, or a page that is not black and white or has
/// another width than those of fax
std::uint32_t check_pages(const std::string& path);

/// @return for each page of `sent`, whether `received` has a page of the same size with the same pixels, at any place.
/// Empty if `sent` is not readable.
std::vector<bool> whole_pages(const std::string& sent, const std::string& received);

/// @return the number of pages of `received` that have the size and every pixel of the page of that number in `sent`;
/// 0 if there is no such file
std::uint32_t equal_pages(const std::string& sent, const std::string& received);

}  // namespace offhook::fax
