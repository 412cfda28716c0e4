// SPDX-License-Identifier: MIT
//
// Files that are either whole or not there, and errors that say which file and why (a full disk, a folder that cannot
// be written).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace offhook {

/// Create the folder and check that files can be made in it. @throws std::runtime_error
void make_folder(const std::filesystem::path& folder);

/// Write to a file beside it, flush to the disk, rename: a reader, or a run after a crash, sees the old bytes or the
/// new ones. @throws std::runtime_error
void write_file(const std::filesystem::path& file, std::string_view bytes);

/// Before long work: that a file of this name can be written where it is to be. Changes nothing.
/// @throws std::runtime_error
void expect_writable(const std::filesystem::path& file);

/// @throws std::runtime_error
std::string read_file(const std::filesystem::path& file);

/// FNV-1a, 64 bits: names contents and finds damage, keeps no secrets.
std::uint64_t fnv1a(std::string_view bytes);
/// As 16 hexadecimal digits.
std::string fnv1a_hex(std::string_view bytes);

}  // namespace offhook
