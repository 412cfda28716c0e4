// SPDX-License-Identifier: MIT
#include "driver/network/audiosocket.h"

#include <fmt/format.h>

#include <stdexcept>

#include "driver/base/printable.h"

namespace offhook {

void write_audiosocket_header(AudioSocketKind kind, std::uint16_t length, std::uint8_t* octets) {
  octets[0] = static_cast<std::uint8_t>(kind);
  octets[1] = static_cast<std::uint8_t>(length >> 8);
  octets[2] = static_cast<std::uint8_t>(length);
}

std::string uuid_text(std::span<const std::uint8_t, kUuidOctets> uuid) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < kUuidOctets; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid[i] >> 4];
    text += kDigits[uuid[i] & 15];
  }
  return text;
}

std::array<std::uint8_t, kUuidOctets> parse_uuid(std::string_view text) {
  std::array<std::uint8_t, kUuidOctets> uuid{};
  std::size_t digits = 0;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (c == '-' && digits > 0) continue;
    if (digit < 0 || digits == 2 * kUuidOctets) break;
    uuid[digits / 2] = static_cast<std::uint8_t>(uuid[digits / 2] << 4 | digit);
    ++digits;
  }
  // Its length equals that of the given text, so no hyphen is missing or extra.
  const bool same = uuid_text(uuid).size() == text.size();
  if (digits != 2 * kUuidOctets || !same) {
    throw std::runtime_error(fmt::format(
        "uuid={}: expected 32 hexadecimal digits, such as 40325ec2-5efd-4bd3-805f-53576e581d13", printable(text)));
  }
  return uuid;
}

/// The header is complete.
void AudioSocketReader::begin(Sink& sink) {
  kind_ = static_cast<AudioSocketKind>(held_[0]);
  left_ = std::size_t{held_[1]} << 8 | held_[2];
  held_octets_ = 0;
  in_payload_ = left_ > 0;
  if (kind_ == AudioSocketKind::kHangUp || kind_ == AudioSocketKind::kError) sink.hang_up();
  const bool known = kind_ == AudioSocketKind::kHangUp || kind_ == AudioSocketKind::kError ||
                     kind_ == AudioSocketKind::kDtmf || (kind_ == AudioSocketKind::kAudio && left_ % 2 == 0) ||
                     (kind_ == AudioSocketKind::kUuid && left_ == kUuidOctets);
  if (known) return;
  ++ignored_;
  kind_ = AudioSocketKind::kDtmf;  // whose payload is skipped
}

void AudioSocketReader::put(std::span<const std::uint8_t> octets, Sink& sink) {
  for (const std::uint8_t octet : octets) {
    if (!in_payload_) {
      held_[held_octets_++] = octet;
      if (held_octets_ == kAudioSocketHeader) begin(sink);
      continue;
    }
    --left_;
    if (kind_ == AudioSocketKind::kAudio || kind_ == AudioSocketKind::kUuid) held_[held_octets_++] = octet;
    if (kind_ == AudioSocketKind::kAudio && held_octets_ == 2) {
      sink.audio(static_cast<std::int16_t>(held_[0] | held_[1] << 8));
      held_octets_ = 0;
    }
    if (left_ > 0) continue;
    if (kind_ == AudioSocketKind::kUuid) sink.uuid(held_);
    in_payload_ = false;
    held_octets_ = 0;
  }
}

}  // namespace offhook
