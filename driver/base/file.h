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

/// Limit for documents, plans, profiles and histograms. None of them comes near it.
inline constexpr std::uint64_t kMostTextBytes = std::uint64_t{1} << 26;
/// Limit for results of a sweep and files to send. None of them comes near it. Such a file is read into memory as a
/// whole, and parts of it twice.
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 26;

/// Checks the size before it allocates memory. A file without a size, such as a device or a FIFO, must end within
/// kMostTextBytes.
/// @param most  bytes  @throws std::runtime_error
std::string read_file(const std::filesystem::path& file, std::uint64_t most = kMostFileBytes);

/// Returns the result of `work`. If an allocation fails in it, the error names the file. @throws std::runtime_error
template <typename Work>
auto with_memory_for(const std::filesystem::path& file, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(file.string() + ": not enough memory to read it");
  }
}

/// Opens for reading, without waiting for the writer of a FIFO: a FIFO without a writer reads as ended.
/// @return a descriptor  @throws std::runtime_error
int open_file(const std::filesystem::path& file);

/// @throws std::runtime_error "PATH: WHY"
[[noreturn]] void fail_at(const std::string& path, const std::string& why);
/// @param error  an errno  @throws std::system_error "PATH: No space left on device"; a command detects by its code
/// that its reader has left
[[noreturn]] void fail_at(const std::string& path, int error);

/// FNV-1a, 64 bits: identifies contents and detects damage; not for cryptography.
std::uint64_t fnv1a(std::string_view bytes);
/// As 16 hexadecimal digits.
std::string fnv1a_hex(std::string_view bytes);

}  // namespace offhook
