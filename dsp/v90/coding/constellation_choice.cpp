// SPDX-License-Identifier: MIT
#include "dsp/v90/coding/constellation_choice.h"

#include "dsp/blocks/preemption_point.h"

namespace offhook::v90 {
namespace {

// Ucodes of one interval by their level, those that were learnt.
struct Ordered {
  uint8_t count = 0;
  uint8_t ucode[kUcodes]{};
};

Ordered ordered(const float* level) {
  Ordered o;
  for (int u = 0; u < kUcodes; ++u) {
    if (level[u] < 0) continue;
    int at = o.count++;
    for (; at > 0 && level[o.ucode[at - 1]] > level[u]; --at) o.ucode[at] = o.ucode[at - 1];
    o.ucode[at] = static_cast<uint8_t>(u);
  }
  return o;
}

// Points at least `distance` apart, the highest Ucode last: in the order of levels.
struct Points {
  uint8_t count[kFrameIntervals];
  uint8_t ucode[kFrameIntervals][kUcodes];
};

void take(const Ordered& from, const float* level, float distance, uint8_t* count, uint8_t* ucode) {
  *count = 0;
  float next = distance / 2;
  for (int k = 0; k < from.count; ++k) {
    const uint8_t u = from.ucode[k];
    if (level[u] < next) continue;
    ucode[(*count)++] = u;
    next = level[u] + distance;
  }
}

// Drops the highest points for as long as enough combinations are left.
void trim(Points& p, uint64_t combinations, Law law) {
  uint64_t product = product_of(p.count);
  for (;;) {
    int highest = -1, most = -1;
    for (int i = 0; i < kFrameIntervals; ++i) {
      const uint64_t m = p.count[i];
      if (m < 2 || product / m * (m - 1) < combinations) continue;
      const int linear = linear_of(law, p.ucode[i][m - 1]);
      if (linear > most) most = linear, highest = i;
    }
    if (highest < 0) return;
    const uint64_t m = p.count[highest]--;
    product = product / m * (m - 1);
  }
}

LabelledPoints labelled(const Points& p) {
  LabelledPoints l{};
  for (int i = 0; i < kFrameIntervals; ++i) {
    UcodeMask mask{};
    for (int k = 0; k < p.count[i]; ++k) mask.add(p.ucode[i][k]);
    for (int u = kUcodes - 1; u >= 0; --u) {
      if (mask.has(u)) l.ucode[i][l.count[i]++] = static_cast<uint8_t>(u);
    }
  }
  return l;
}

class Search {
 public:
  Search(const LearntLevels& levels, const ConstellationLimits& limits) : levels_(levels), limits_(limits) {
    for (int i = 0; i < kFrameIntervals; ++i) ordered_[i] = ordered(levels.level[i]);
  }
  // The points of least power with this distance. @return whether there are enough, within the limit of power
  bool fits(int k, float distance, Points* p) const {
    oh_preemption_point();
    for (int i = 0; i < kFrameIntervals; ++i) {
      take(ordered_[i], levels_.level[i], distance, &p->count[i], p->ucode[i]);
      if (p->count[i] == 0) return false;
    }
    const uint64_t combinations = uint64_t{1} << k;
    if (product_of(p->count) < combinations) return false;
    trim(*p, combinations, limits_.law);
    return is_within_limit(k, limits_.law, labelled(*p), limits_.max_power);
  }

 private:
  const LearntLevels& levels_;
  const ConstellationLimits& limits_;
  Ordered ordered_[kFrameIntervals];
};

void store(const Points& p, uint8_t* interval, UcodeMask* constellation) {
  int n = 0;
  for (int i = 0; i < kFrameIntervals; ++i) {
    UcodeMask mask{};
    for (int k = 0; k < p.count[i]; ++k) mask.add(p.ucode[i][k]);
    int same = 0;
    while (same < n && !(constellation[same] == mask)) ++same;
    if (same == n) constellation[n++] = mask;
    interval[i] = static_cast<uint8_t>(same);
  }
}

}  // namespace

float fit_constellations(const LearntLevels& levels, const ConstellationLimits& limits, int k, uint8_t* interval,
                         UcodeMask* constellation) {
  const Search search(levels, limits);
  Points best{};
  float low = 0, high = 32768;
  for (int step = 0; step < 24; ++step) {
    const float middle = (low + high) / 2;
    Points p;
    if (search.fits(k, middle, &p)) {
      low = middle;
      best = p;
    } else {
      high = middle;
    }
  }
  if (low > 0) store(best, interval, constellation);
  return low;
}

float choose_rate(const LearntLevels& levels, const ConstellationLimits& limits, Cp* cp) {
  const Search search(levels, limits);
  cp->data_mode = true;
  cp->shaping_bits = limits.shaping_bits;
  for (int drn = Cp::kMaxDrn; drn > 0; --drn) {
    if ((limits.rates >> (drn - 1) & 1) == 0) continue;
    cp->drn = static_cast<uint8_t>(drn);
    Points p;
    if (!search.fits(cp->k(), limits.least_distance, &p)) continue;
    return fit_constellations(levels, limits, cp->k(), cp->interval, cp->constellation);
  }
  cp->drn = 0;
  return 0;
}

float choose_training(const LearntLevels& levels, const ConstellationLimits& limits, int k, Cp* cp) {
  cp->data_mode = false;
  cp->shaping_bits = limits.shaping_bits;
  cp->drn = static_cast<uint8_t>(k - 2 - limits.shaping_bits);
  return fit_constellations(levels, limits, k, cp->interval, cp->constellation);
}

}  // namespace offhook::v90
