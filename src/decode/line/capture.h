// SPDX-License-Identifier: MIT
//
// Packet captures, pcap and pcapng, through libpcap.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "src/decode/line/recording.h"

namespace offhook::decode {

/// By its first octets.
bool is_capture(const std::filesystem::path& file);

class RtpReader;

/// The telephone calls in a capture, a recording each.
class Capture {
 public:
  /// @param name  for messages and Recording::name
  /// @throws std::runtime_error: damaged, without calls of G.711 in RTP, or this build has no libpcap
  Capture(const std::filesystem::path& file, std::string name);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  std::size_t calls() const { return calls_; }
  Recording read(std::size_t k) const;

 private:
  std::string name_;
  std::size_t calls_ = 0;
  bool truncated_ = false;
  std::unique_ptr<RtpReader> reader_;
};

}  // namespace offhook::decode
