// SPDX-License-Identifier: MIT
#include "dsp/dmt/message.h"

#include "dsp/dmt/constellation.h"
#include "dsp/dmt/crc.h"

namespace offhook::dmt {
namespace {

constexpr int kHead = 7;
constexpr unsigned kAcknowledge = 1, kTrellis = 2;  // flags

}  // namespace

int write_message(const Band& band, const Message& message, uint8_t* symbols) {
  const PathParameters& p = message.loading.path;
  const int tones = band.last - band.first + 1;
  uint8_t octets[kMostMessageOctets] = {
      static_cast<uint8_t>((message.acknowledge ? kAcknowledge : 0) | (message.loading.trellis ? kTrellis : 0)),
      p.payload,
      p.check,
      p.frames_per_word,
      p.depth,
      static_cast<uint8_t>(band.first),
      static_cast<uint8_t>(tones)};
  int n = kHead;
  for (int tone = band.first; tone <= band.last; ++tone) {
    const auto gain = static_cast<uint8_t>(message.loading.gain_half_db[tone]);  // two's complement
    octets[n++] = static_cast<uint8_t>(message.loading.bits[tone] | (gain & 15) << 4);
  }
  const uint16_t crc = crc_of(octets, n);
  octets[n++] = static_cast<uint8_t>(crc);
  octets[n++] = static_cast<uint8_t>(crc >> 8);
  int at = 0;
  symbols[at++] = kMessageStart;
  for (int k = 0; k < 2 * n; ++k) symbols[at++] = static_cast<uint8_t>(kNibble | (octets[k / 2] >> 4 * (k % 2) & 15));
  symbols[at++] = kMessageEnd;
  return at;
}

bool MessageReader::put(uint8_t symbol, Message* message) {
  if (symbol == kMessageStart) {
    started_ = true;
    nibbles_ = 0;
    return false;
  }
  if (!started_) return false;
  if ((symbol & 0xf0) == kNibble && nibbles_ < 2 * kMostMessageOctets) {
    uint8_t& octet = octets_[nibbles_ / 2];
    octet = static_cast<uint8_t>(nibbles_ % 2 == 0 ? symbol & 15 : octet | (symbol & 15) << 4);
    ++nibbles_;
    return false;
  }
  started_ = false;
  return symbol == kMessageEnd && read(message);
}

bool MessageReader::read(Message* message) const {
  const int n = nibbles_ / 2;
  const int tones = band_.last - band_.first + 1;
  if (nibbles_ % 2 != 0 || n != kHead + tones + kCrcOctets) return false;
  if (crc_of(octets_, n - kCrcOctets) != (octets_[n - 2] | octets_[n - 1] << 8)) return false;
  if (octets_[5] != band_.first || octets_[6] != tones) return false;
  Message m;
  m.acknowledge = (octets_[0] & kAcknowledge) != 0;
  m.loading.trellis = (octets_[0] & kTrellis) != 0;
  m.loading.path = {octets_[1], octets_[2], octets_[3], octets_[4]};
  for (int k = 0; k < tones; ++k) {
    const int bits = octets_[kHead + k] & 15;
    const int gain = (octets_[kHead + k] >> 4 ^ 8) - 8;
    const bool known =
        bits == 0 ? gain == 0 : bits >= kLeastBits && bits <= band_.most_bits && band_.carries(band_.first + k);
    if (!known || gain < -kMostGain || gain > kMostGain) return false;
    m.loading.bits[band_.first + k] = static_cast<uint8_t>(bits);
    m.loading.gain_half_db[band_.first + k] = static_cast<int8_t>(gain);
  }
  if (!m.loading.path.possible() || !m.loading.fits(band_)) return false;
  *message = m;
  return true;
}

}  // namespace offhook::dmt
