// SPDX-License-Identifier: MIT
//
// A host load (hostsim/host/host_load.h) as a file: about five bytes an interval.
//
//   magic            8 bytes
//   origin           string
//   duration         varint, ns
//   sources          varint count; each: kind (1 byte), priority (varint), name (string)
//   CPUs             varint count; each: number, lost, count (varints); each interval: start since the one before,
//                    source, CPU time (varints)
//   CRC-32           of all before it, 4 bytes little endian
//
// A varint is LEB128; a string is its length as a varint and its bytes.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "hostsim/host/host_load.h"

namespace offhook::traces {

inline constexpr std::string_view kLoadMagic = "\x89OHLOAD\n";

inline constexpr int kMostCpu = 65535;  ///< the highest CPU number

/// A trace or a load file with an error. One line: file, position, expected content.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string write_load(const hostsim::HostLoad& load);
/// @param name for messages  @throws TraceError with the byte
hostsim::HostLoad read_load(std::string_view bytes, const std::string& name);

}  // namespace offhook::traces
