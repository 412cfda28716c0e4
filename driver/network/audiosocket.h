// SPDX-License-Identifier: MIT
//
// AudioSocket, the protocol of Asterisk's application of that name: messages over TCP, each of a kind, a length and a
// payload. A connection is a call. The end that connects first names the call by a UUID; then both send audio, 16-bit
// linear samples at 8000 Hz, low octet first. Either ends the call with a hang-up message, or by closing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace offhook {

enum class AudioSocketKind : std::uint8_t { kHangUp = 0x00, kUuid = 0x01, kDtmf = 0x03, kAudio = 0x10, kError = 0xff };

inline constexpr std::size_t kAudioSocketHeader = 3, kUuidOctets = 16;

/// @param[out] octets [kAudioSocketHeader]
void write_audiosocket_header(AudioSocketKind kind, std::uint16_t length, std::uint8_t* octets);

/// "40325ec2-5efd-4bd3-805f-53576e581d13"
std::string uuid_text(std::span<const std::uint8_t, kUuidOctets> uuid);
/// @throws std::runtime_error with the expected form
std::array<std::uint8_t, kUuidOctets> parse_uuid(std::string_view text);

/// Finds messages in a stream that arrives in pieces. Audio is passed on immediately, other payloads when they are
/// complete. Any bytes are accepted.
class AudioSocketReader {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void audio(std::int16_t sample) = 0;
    virtual void uuid(std::span<const std::uint8_t, kUuidOctets> uuid) = 0;
    virtual void hang_up() = 0;  ///< or an error
  };
  /// Real-time: yes, O(octets), if the sink is
  void put(std::span<const std::uint8_t> octets, Sink& sink);
  /// A new connection.
  void reset() { *this = {}; }
  /// Messages of unknown kinds or of a wrong length. Their payload is skipped.
  std::uint64_t ignored() const { return ignored_; }

 private:
  void begin(Sink& sink);
  std::array<std::uint8_t, kUuidOctets> held_{};  // the header, or the payload so far
  std::size_t held_octets_ = 0;
  bool in_payload_ = false;
  AudioSocketKind kind_ = AudioSocketKind::kHangUp;
  std::size_t left_ = 0;  // of the payload
  std::uint64_t ignored_ = 0;
};

}  // namespace offhook
