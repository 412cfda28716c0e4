// SPDX-License-Identifier: MIT
#include "src/decode/modulation/v21_frames.h"

#include <spandsp.h>

#include <algorithm>

#include "dsp/link/hdlc.h"
#include "src/decode/line/samples.h"

namespace offhook::decode {
namespace {

constexpr std::uint32_t kBurstFlags = 4;
constexpr double kLongestFrameS = 3;

struct Receiver {
  std::uint8_t buffer[512];
  v42::HdlcReceiver hdlc;
  double bits = 0;  // since the frame's opening flag
  double now = 0;
  V21Frames found;
};

// Behind a flag.
void follow_burst(Receiver& r, bool behind_good_frame) {
  constexpr double kFlagS = 8.0 / 300;
  auto& bursts = r.found.bursts;
  const bool in_burst = !bursts.empty() && r.now - bursts.back().second < kLongestFrameS;
  if (r.hdlc.flags() >= kBurstFlags) {
    const double begin = r.now - r.hdlc.flags() * kFlagS;
    if (!in_burst || begin > bursts.back().second + kFlagS) bursts.emplace_back(begin, r.now);
    bursts.back().second = r.now;
  } else if (behind_good_frame && in_burst) {
    bursts.back().second = r.now;
  }
}

void put_bit(void* user, int bit) {
  auto* r = static_cast<Receiver*>(user);
  if (bit < 0) return;  // status of the demodulator
  const std::uint32_t flags = r->hdlc.flags();
  const auto result = r->hdlc.put(bit);
  r->bits += 1;
  r->found.flags = std::max(r->found.flags, r->hdlc.flags());
  const std::size_t size = r->hdlc.size();
  // A bad frame between flags, with two flags at its beginning (V.8bis 7.2.5); an aborted frame has no closing flag.
  const bool bad = result == v42::HdlcReceiver::kBadFrame && flags >= 2 && r->hdlc.flags() == 1;
  const bool good = result == v42::HdlcReceiver::kFrame && r->hdlc.fcs16();
  if ((good || bad) && !r->hdlc.oversize() && size >= 3) {
    V21Frame f;
    f.t = r->now - (r->bits + 8) / 300;
    f.t_end = r->now;
    f.octets.assign(r->hdlc.data(), r->hdlc.data() + size - 2);
    f.fcs = {r->hdlc.data()[size - 2], r->hdlc.data()[size - 1]};
    f.fcs_good = good;
    r->found.frames.push_back(std::move(f));
  }
  if (result != v42::HdlcReceiver::kNothing) {
    r->bits = 0;
    follow_burst(*r, good);
  }
}

}  // namespace

V21Frames v21_frames(std::span<const float> voice, bool high) {
  Receiver receiver;
  receiver.hdlc.init(receiver.buffer, sizeof receiver.buffer);
  fsk_rx_state_t* fsk =
      fsk_rx_init(nullptr, &preset_fsk_specs[high ? FSK_V21CH2 : FSK_V21CH1], FSK_FRAME_MODE_SYNC, put_bit, &receiver);
  fsk_rx_signal_cutoff(fsk, -50);
  for (std::size_t i = 0; i < voice.size(); i += 16) {
    std::int16_t block[16];
    const std::size_t n = std::min<std::size_t>(16, voice.size() - i);
    for (std::size_t k = 0; k < n; ++k)
      block[k] = static_cast<std::int16_t>(std::clamp(voice[i + k], -32768.f, 32767.f));
    receiver.now = seconds(i);
    fsk_rx(fsk, block, static_cast<int>(n));
  }
  fsk_rx_free(fsk);
  return std::move(receiver.found);
}

}  // namespace offhook::decode
