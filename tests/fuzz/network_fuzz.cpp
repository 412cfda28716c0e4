// SPDX-License-Identifier: MIT
// What a network may bring: RTP, RTCP, AudioSocket, session descriptions with keys, intervals of session timers,
// addresses, and packets in any order.
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

#include "driver/base/rtp.h"
#include "driver/network/audiosocket.h"
#include "driver/network/internet_address.h"
#include "driver/network/jitter_buffer.h"
#include "driver/sip/sdp.h"
#include "driver/sip/session_timer.h"

namespace {

using Octets = std::span<const std::uint8_t>;

struct Counted final : offhook::AudioSocketReader::Sink {
  void audio(std::int16_t) override { ++samples; }
  void uuid(std::span<const std::uint8_t, offhook::kUuidOctets> uuid) override {
    if (offhook::parse_uuid(offhook::uuid_text(uuid)).size() != uuid.size()) __builtin_trap();
  }
  void hang_up() override { ++ends; }
  std::size_t samples = 0, ends = 0;
};

// The result in pieces equals the result as a whole.
void audiosocket(Octets octets) {
  Counted whole, pieces;
  offhook::AudioSocketReader one, other;
  one.put(octets, whole);
  for (const std::uint8_t octet : octets) other.put({&octet, 1}, pieces);
  if (whole.samples != pieces.samples || whole.ends != pieces.ends || whole.samples * 2 > octets.size())
    __builtin_trap();
}

void packet(Octets octets) {
  const auto rtp = offhook::parse_rtp(octets);
  if (rtp && rtp->payload.size() + offhook::kRtpHeaderOctets > octets.size()) __builtin_trap();
  std::uint8_t written[offhook::kRtcpOctets];
  if (const auto report = offhook::parse_rtcp(octets))
    if (!offhook::parse_rtcp({written, offhook::write_rtcp(*report, written)})) __builtin_trap();
}

// Each six octets are a packet; then some samples are read. The number read equals the number requested.
void stream(Octets octets) {
  static std::uint8_t payload[256], out[1024];
  offhook::JitterBuffer buffer(320);
  for (; octets.size() >= 6; octets = octets.subspan(6)) {
    const auto sequence = static_cast<std::uint16_t>(octets[0] | octets[1] << 8);
    const auto timestamp = static_cast<std::uint32_t>(octets[2] << 6 | octets[3] << 24);
    buffer.put(sequence, timestamp, {payload, octets[4]});
    for (std::size_t left = 4u * octets[5]; left > 0;) {
      offhook::JitterBuffer::Kind kind;
      const std::size_t n = buffer.take(out, left, &kind);
      if (n == 0 || n > left) __builtin_trap();
      left -= n;
    }
  }
}

void check_audio(const offhook::sip::MediaDescription& found) {
  const std::uint32_t n = found.media.packet_samples;
  if (found.laws.empty() || (n != 80 && n != 160 && n != 240)) __builtin_trap();
  if (found.encrypted != !found.crypto.empty()) __builtin_trap();
}

void description(Octets octets) {
  try {
    const auto found = offhook::sip::parse_sdp({reinterpret_cast<const char*>(octets.data()), octets.size()});
    if (found.line >= found.lines.size()) __builtin_trap();
    offhook::sip::OwnDescription own{
        found.fax ? found.fax->remote : found.media.remote, found.laws, found.media.packet_samples, 1, 1, {}};
    own.fax = found.fax.has_value();
    own.lines = found.lines;
    own.line = found.line;
    if (own.local.port() == 0) __builtin_trap();
    if (!own.fax) check_audio(found);
    if (found.encrypted) own.crypto = found.crypto.front();
    const auto again = offhook::sip::parse_sdp(offhook::sip::write_sdp(own));
    if (again.line != found.line || again.lines.size() != found.lines.size()) __builtin_trap();
    if (again.fax.has_value() != own.fax || again.laws != found.laws) __builtin_trap();
    if ((own.fax ? again.fax->remote : again.media.remote).text() != own.local.text()) __builtin_trap();
    if (own.crypto && (again.crypto.front().tag != own.crypto->tag || again.crypto.front().key != own.crypto->key))
      __builtin_trap();
  } catch (const std::runtime_error&) {
  }
}

void interval(Octets octets) {
  namespace sip = offhook::sip;
  const auto found = sip::parse_session_interval({reinterpret_cast<const char*>(octets.data()), octets.size()});
  if (!found) return;
  if (sip::parse_session_interval(sip::session_interval_text(*found)) != found) __builtin_trap();
  const sip::SessionInterval accepted = sip::accepted_interval(*found, octets.size() % 2 == 0);
  if (accepted.refresher == sip::TransactionSide::kUnnamed || accepted.seconds < sip::kLeastInterval) __builtin_trap();
  if (sip::end_after_ms(accepted.seconds) <= sip::refresh_after_ms(accepted.seconds)) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Octets octets(data + 1, size - 1);
  constexpr void (*kParsers[])(Octets) = {packet, audiosocket, stream, description, interval};
  kParsers[data[0] % 5](octets);
  return 0;
}
