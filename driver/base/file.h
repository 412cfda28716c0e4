// SPDX-License-Identifier: MIT
//
// Reading files: errors name the file and the reason, and reading has a size limit. driver/base writes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace offhook {

/// More than any document, plan, profile or histogram has.
inline constexpr std::uint64_t kMostTextBytes = std::uint64_t{1} << 26;
/// More than any result of a sweep or file to send has; it is all read into memory, and some of it twice.
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 26;

/// Checks the size before it allocates memory. A file without a size, such as a device or a FIFO, must end within
/// kMostTextBytes.
/// @param most  bytes  @throws std::runtime_error
std::string read_file(const std::filesystem::path& file, std::uint64_t most = kMostFileBytes);

/// What `work` returns; an allocation that fails in it is an error that names the file. @throws std::runtime_error
template <typename Work>
auto with_memory_for(const std::filesystem::path& file, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(file.string() + ": not enough memory to read it");
  }
}

/// For reading, without waiting for a writer of a FIFO: a FIFO without a writer has ended.
/// @return a descriptor  @throws std::runtime_error
int open_file(const std::filesystem::path& file);

/// FNV-1a, 64 bits: names contents and finds damage, keeps no secrets.
std::uint64_t fnv1a(std::string_view bytes);
/// As 16 hexadecimal digits.
std::string fnv1a_hex(std::string_view bytes);

}  // namespace offhook
