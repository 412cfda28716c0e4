// SPDX-License-Identifier: MIT
//
// TIFF files of fax pages: test pages, and the comparison of two files pixel by pixel.
#pragma once

#include <cstdint>
#include <string>

namespace offhook::fax {

/// Writes pages of 1728 pixels per line that resemble print: rows of marks in columns, different on every page.
/// @throws std::runtime_error: the file
void write_test_pages(const std::string& path, std::uint32_t pages, std::uint32_t lines, std::uint64_t seed);

/// @return pages of the file. @throws std::runtime_error: not a TIFF file, or a page that is not black and white or has
/// another width than those of fax
std::uint32_t check_pages(const std::string& path);

/// @return the number of pages of `sent` that `received` has with the same size and pixels, in the same order; others
/// may be between them. 0 if either file is not readable.
std::uint32_t whole_pages(const std::string& sent, const std::string& received);

}  // namespace offhook::fax
