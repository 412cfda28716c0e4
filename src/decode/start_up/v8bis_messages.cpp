// SPDX-License-Identifier: MIT
#include "src/decode/start_up/v8bis_messages.h"

#include <spandsp.h>

#include <algorithm>
#include <cmath>

#include "dsp/v42/hdlc.h"
#include "src/decode/start_up/echoes.h"

namespace offhook::decode {
namespace {

constexpr double kTransactionTimeOutS = 5;  // V.8bis 9.8
constexpr double kPreambleS = 0.2;          // mark and flags, 7.2.4 and 7.2.5

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
  const std::uint32_t flags = f->hdlc.flags();
  const auto result = f->hdlc.put(bit);
  f->bits += 1;
  const std::size_t size = f->hdlc.size();
  // A bad frame that a flag ended after two at its beginning (7.2.5); what an abort ended leaves no flag.
  const bool bad = result == v42::HdlcReceiver::kBadFrame && flags >= 2 && f->hdlc.flags() == 1;
  const bool good = result == v42::HdlcReceiver::kFrame && f->hdlc.fcs16();
  if ((good || bad) && !f->hdlc.oversize() && size >= 3) {
    V8bisMessage m;
    m.t = f->now - (f->bits + 8) / 300;  // from its opening flag on
    m.octets.assign(f->hdlc.data(), f->hdlc.data() + size - 2);
    m.fcs = {f->hdlc.data()[size - 2], f->hdlc.data()[size - 1]};
    m.fcs_good = good;
    m.malformed = v8bis::parse(m.octets.data(), static_cast<int>(m.octets.size()), &m.message);
    f->found.push_back(std::move(m));
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

std::vector<V8bisMessage> v8bis_messages(const Recording& r, const std::vector<V8bisSignal>& signals) {
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
  const auto expected = [&](const V8bisMessage& m) {
    const auto follows = [&m](double t) { return m.t > t && m.t < t + kTransactionTimeOutS; };
    return std::any_of(signals.begin(), signals.end(), [&](const auto& o) { return follows(o.t0); }) ||
           std::any_of(all.begin(), all.end(), [&](const auto& o) { return o.fcs_good && follows(o.t); });
  };
  // The stations take turns: a bad frame beside a good message is that one's echo, or its noise in the other band.
  const auto beside_good = [&](const V8bisMessage& m) {
    return std::any_of(all.begin(), all.end(), [&](const auto& o) {
      const double end = o.t + static_cast<double>(o.octets.size() + 4) * 8 / 300;
      const double echo = o.channel != m.channel ? 0.3 : 0;
      return o.fcs_good && m.t > o.t - kPreambleS && m.t < end + echo;
    });
  };
  std::vector<V8bisMessage> kept = all;
  drop_echoes(kept, [](const V8bisMessage& m, const V8bisMessage& of) {
    return of.octets == m.octets && of.amplitude > m.amplitude && std::abs(of.t - m.t) < 0.4;
  });
  std::erase_if(kept, [&](const V8bisMessage& m) { return !m.fcs_good && (!expected(m) || beside_good(m)); });
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  return kept;
}

std::string V8bisMessage::type() const {
  const char* known = v8bis::type_name(message.type);
  return known != nullptr ? known : "message type " + std::to_string(message.type);
}

}  // namespace offhook::decode
