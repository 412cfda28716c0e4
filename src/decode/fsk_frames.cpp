// SPDX-License-Identifier: MIT
#include "src/decode/fsk_frames.h"

#include <spandsp.h>

#include <algorithm>
#include <cmath>

#include "dsp/v42/hdlc.h"

namespace offhook::decode {
namespace {

struct Frames {
  std::uint8_t buffer[128];
  v42::HdlcReceiver hdlc;
  double bits = 0;  // since the frame's opening flag
  std::vector<V8bisMessage> found;
  double now = 0;
};

void put_bit(void* user, int bit) {
  auto* f = static_cast<Frames*>(user);
  if (bit < 0) return;  // status of the demodulator
  const auto result = f->hdlc.put(bit);
  f->bits += 1;
  if (result == v42::HdlcReceiver::kFrame && f->hdlc.fcs16() && !f->hdlc.oversize() && f->hdlc.size() >= 3) {
    V8bisMessage m;
    m.t = f->now - (f->bits + 8) / 300;  // from its opening flag on
    m.octets.assign(f->hdlc.data(), f->hdlc.data() + f->hdlc.size() - 2);
    f->found.push_back(m);
  }
  if (result != v42::HdlcReceiver::kNothing) f->bits = 0;
}

double rms_peak(const std::vector<float>& x, double t0, double t1) {
  const auto a = static_cast<std::size_t>(std::max(0.0, t0) * kRateHz);
  const auto b = std::min(x.size(), static_cast<std::size_t>(std::max(0.0, t1) * kRateHz));
  double sum = 0;
  for (std::size_t i = a; i < b; ++i) sum += static_cast<double>(x[i]) * x[i];
  return b > a ? std::sqrt(2 * sum / static_cast<double>(b - a)) : 0;
}

}  // namespace

std::vector<V8bisMessage> v8bis_messages(const Recording& r) {
  std::vector<V8bisMessage> all;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    for (const bool high : {false, true}) {
      Frames frames;
      frames.hdlc.init(frames.buffer, sizeof frames.buffer);
      fsk_rx_state_t* fsk = fsk_rx_init(nullptr, &preset_fsk_specs[high ? FSK_V21CH2 : FSK_V21CH1], FSK_FRAME_MODE_SYNC,
                                        put_bit, &frames);
      fsk_rx_signal_cutoff(fsk, -50);
      const auto& x = r.channel[c];
      for (std::size_t i = 0; i < x.size(); i += 16) {
        std::int16_t block[16];
        const std::size_t n = std::min<std::size_t>(16, x.size() - i);
        for (std::size_t k = 0; k < n; ++k) {
          block[k] = static_cast<std::int16_t>(std::clamp(x[i + k], -32768.f, 32767.f));
        }
        frames.now = static_cast<double>(i) / kRateHz;
        fsk_rx(fsk, block, static_cast<int>(n));
      }
      fsk_rx_free(fsk);
      for (V8bisMessage& m : frames.found) {
        m.channel = static_cast<int>(c);
        m.high_band = high;
        m.amplitude = rms_peak(x, m.t, m.t + static_cast<double>(m.octets.size()) * 8 / 300);
        all.push_back(std::move(m));
      }
    }
  }
  std::vector<V8bisMessage> kept;
  for (const auto& m : all) {
    const bool echo = std::any_of(all.begin(), all.end(), [&](const auto& o) {
      return o.channel != m.channel && o.octets == m.octets && o.amplitude > m.amplitude && std::abs(o.t - m.t) < 0.4;
    });
    if (!echo) kept.push_back(m);
  }
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  return kept;
}

// Low four bits of the first octet. Source: V.8bis (11/2000) Table 4-2; 11 to 14 of V.92 Table 25
std::string V8bisMessage::type() const {
  if (octets.empty()) return "?";
  switch (octets[0] & 15) {
    case 1:
      return "MS";
    case 2:
      return "CL";
    case 3:
      return "CLR";
    case 4:
      return "ACK(1)";
    case 5:
      return "ACK(2)";
    case 8:
      return "NAK(1)";
    case 9:
      return "NAK(2)";
    case 10:
      return "NAK(3)";
    case 11:
      return "NAK(4)";
    case 13:
      return "V.92 QC2/QCA2";
    default:
      return "message type " + std::to_string(octets[0] & 15);
  }
}

}  // namespace offhook::decode
