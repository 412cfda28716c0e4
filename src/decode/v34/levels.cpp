// SPDX-License-Identifier: MIT
#include "src/decode/v34/levels.h"

#include <algorithm>

#include "dsp/v90/coding/ucode.h"

namespace offhook::decode {

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

std::optional<float> DilLevels::known(int interval) const {
  const v90::Pcm p = dil_.symbol(segment_, symbol_);
  if (!heard(interval, p.ucode)) return std::nullopt;
  return p.positive ? mean(interval, p.ucode) : -mean(interval, p.ucode);
}

float DilLevels::expected() const {
  const v90::Pcm p = dil_.symbol(segment_, symbol_);
  const auto level = static_cast<float>(linear_of(law_, p.ucode));
  return p.positive ? level : -level;
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

float DilLevels::converted(Conversion conversion, int u) const {
  const v90::Law other = other_law(law_);
  const auto level = [&](int v) { return static_cast<float>(linear_of(other, converted_ucode(conversion, law_, v))); };
  return level(u) * static_cast<float>(linear_of(law_, u_info_)) / level(u_info_);
}

std::optional<Conversion> DilLevels::conversion() const {
  constexpr float kCloser = 4;  // in power
  const auto squared = [](float x) { return x * x; };
  int nearest_fits = 0, tables_fit = 0;  // in how many intervals: with robbed bits none does
  for (int i = 0; i < v90::kFrameIntervals; ++i) {
    float as_sent = 0, nearest = 0, by_tables = 0;
    for (int u = 0; u < v90::kUcodes; ++u) {
      if (!heard(i, u)) continue;
      as_sent += squared(mean(i, u) - static_cast<float>(linear_of(law_, u)));
      nearest += squared(mean(i, u) - converted(Conversion::kNearest, u));
      by_tables += squared(mean(i, u) - converted(Conversion::kTables, u));
    }
    if (as_sent <= kCloser * std::min(nearest, by_tables)) continue;
    ++(by_tables < nearest ? tables_fit : nearest_fits);
  }
  if (nearest_fits + tables_fit <= v90::kFrameIntervals / 2) return std::nullopt;
  return tables_fit > nearest_fits ? Conversion::kTables : Conversion::kNearest;
}

int DilLevels::take(v90::LearntLevels& levels, long moved) const {
  const std::optional<Conversion> converts = conversion();
  int learnt = 0;
  for (int i = 0; i < v90::kFrameIntervals; ++i) {
    float* const level = levels.level[(i + moved) % v90::kFrameIntervals];
    for (int u = 0; u < v90::kUcodes; ++u) {
      if (heard(i, u)) {
        level[u] = mean(i, u);
        ++learnt;
      } else if (converts) {
        level[u] = converted(*converts, u);
      }
    }
  }
  return learnt;
}

}  // namespace offhook::decode
