// SPDX-License-Identifier: MIT
#include "src/decode/v90/levels.h"

#include "dsp/v90/coding/ucode.h"

namespace offhook::decode {
namespace {

int in_other_law(v90::Law law, int u) {
  const v90::Law other = law == v90::Law::kA ? v90::Law::kMu : v90::Law::kA;
  return linear_of(other, pcm_of(other, nearest_octet(other, linear_of(law, u))).ucode);
}

}  // namespace

v90::LearntLevels levels_of(const v90::Cp& cp, v90::Law law) {
  v90::LearntLevels levels;
  for (auto& interval : levels.level) {
    for (int u = 0; u < v90::kUcodes; ++u) interval[u] = static_cast<float>(linear_of(law, u));
  }
  if (!cp.codec_differs) return levels;
  const v90::Law codec = cp.a_law ? v90::Law::kA : v90::Law::kMu;
  for (int i = 0; i < v90::kFrameIntervals; ++i) {
    const v90::UcodeMask& sent = cp.constellation[cp.interval[i]];
    const v90::UcodeMask& arrives = cp.codec[cp.interval[i]];
    // The n-th point sent is the n-th that arrives.
    for (int u = 0, v = -1; u < v90::kUcodes; ++u) {
      if (!sent.has(u)) continue;
      do ++v;
      while (v < v90::kUcodes && !arrives.has(v));
      if (v >= v90::kUcodes) break;
      levels.level[i][u] = static_cast<float>(linear_of(codec, v) * cp.trn1d_ratio) / 8192;
    }
  }
  return levels;
}

void DilLevels::put(float level, int interval) {
  const v90::Pcm p = dil_.symbol(segment_, symbol_);
  sum_[interval][p.ucode] += p.positive ? level : -level;
  ++count_[interval][p.ucode];
  if (++symbol_ == dil_.symbols(segment_)) {
    symbol_ = 0;
    if (++segment_ == dil_.segments) segment_ = 0, whole_ = true;
  }
}

float DilLevels::converted(int u) const {
  return static_cast<float>(in_other_law(law_, u)) * static_cast<float>(linear_of(law_, u_info_)) /
         static_cast<float>(in_other_law(law_, u_info_));
}

bool DilLevels::network_converts() const {
  constexpr float kCloser = 4;  // in power
  float as_sent = 0, as_converted = 0;
  for (int i = 0; i < v90::kFrameIntervals; ++i) {
    for (int u = 0; u < v90::kUcodes; ++u) {
      if (!heard(i, u)) continue;
      const float sent_off = mean(i, u) - static_cast<float>(linear_of(law_, u)),
                  converted_off = mean(i, u) - converted(u);
      as_sent += sent_off * sent_off;
      as_converted += converted_off * converted_off;
    }
  }
  return as_sent > kCloser * as_converted;
}

int DilLevels::take(v90::LearntLevels& levels, long moved) const {
  const bool converts = network_converts();
  int learnt = 0;
  for (int i = 0; i < v90::kFrameIntervals; ++i) {
    float* const level = levels.level[(i + moved) % v90::kFrameIntervals];
    for (int u = 0; u < v90::kUcodes; ++u) {
      if (heard(i, u)) {
        level[u] = mean(i, u);
        ++learnt;
      } else if (converts) {
        level[u] = converted(u);
      }
    }
  }
  return learnt;
}

}  // namespace offhook::decode
