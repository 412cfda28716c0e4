// SPDX-License-Identifier: MIT
#include "dsp/v34/session/line_monitor.h"

namespace offhook::v34 {

void LineMonitor::start(const DataParameters& p, double required_next, uint8_t lowest) {
  const int losses = losses_;
  const Memory kept = memory();
  *this = {};
  remember(kept);
  energy_ = p.mean_energy();
  search_.start(static_cast<uint8_t>(p.bit_rate / 2400), lowest);
  losses_ = losses;
  frame_pairs_ = kFrameBits * kGroupsPerMappingFrame / p.coding.framing.bits;
  if (frame_pairs_ < kWindowPairs) frame_pairs_ = kWindowPairs;
  explained_ = frame_pairs_;
  bad_ = static_cast<float>(tolerated_variance(p.coding.trellis, p.coding.framing, kBadFrames));
  // The variance at which the next rate is possible with a margin of 1 dB.
  constexpr double kSpare = 1.26;
  good_ = required_next > 0 ? static_cast<float>(p.mean_energy() / (2 * kSpare * required_next)) : 0;
}

void LineMonitor::remember(const Memory& memory) {
  search_ = memory.search;
  wait_for_higher_ = memory.wait_for_higher;
  quiet_then_ = memory.quiet_then;
  slips_ = memory.slips;
}

LineMonitor::Advice LineMonitor::put(const DataReceiver& r, bool uncertain) {
  sum_ += r.variance();
  grid_sum_ += r.grid_variance();
  const bool edge = r.since_inversion() < kEdgePairs;
  (edge ? edge_sum_ : rest_sum_) += r.variance();
  (edge ? edge_pairs_ : rest_pairs_) += 1;
  if (edge_pairs_ + rest_pairs_ >= kSuperframePairs && superframe_lost()) {
    ++slips_;
    return resynchronise();
  }
  errors_ += error(r, uncertain);
  if (++pairs_ < kWindowPairs) return Advice::kNone;
  const float mean = sum_ / kWindowPairs;
  const float grid = grid_sum_ / kWindowPairs;
  sum_ = 0;
  grid_sum_ = 0;
  pairs_ = 0;
  return window(mean, grid);
}

// The lowest noise of two seconds, compared with that after errors lowered the rate. Where impulses are dense, one such
// minimum may be small by chance, but not three in a row.
void LineMonitor::follow_quiet(float mean) {
  quietest_ = mean < quietest_ ? mean : quietest_;
  if (++quiet_windows_ < kBadWindows) return;
  recent_quiet_[2] = recent_quiet_[1];
  recent_quiet_[1] = recent_quiet_[0];
  recent_quiet_[0] = quietest_ / energy_;
  quiet_windows_ = 0;
  quietest_ = 1;
  if (recent_quiet_[2] == 0) return;
  float quiet = recent_quiet_[0];
  for (const float q : recent_quiet_) quiet = q > quiet ? q : quiet;
  if (quiet_then_ == 0) {
    quiet_then_ = quiet;
  } else if (kQuieter * quiet < quiet_then_) {
    quiet_then_ = quiet;
    search_.reset();
  }
}

// A damaged frame is reported at its end. It is an error only if nothing else explains it: a toss-up, a gap or hit, or
// the procedure before this data mode. A hit damages many frames, so at most one in a window counts.
bool LineMonitor::error(const DataReceiver& r, bool uncertain) {
  if (since_error_ > 0) --since_error_;
  if (explained_ > 0) --explained_;
  const bool is_toss_up = r.toss_up() && since_error_ == 0;
  const bool is_unexplained = has_bad_frame_ && explained_ == 0;
  has_bad_frame_ = false;
  if (r.toss_up() || uncertain || is_unexplained) explained_ = frame_pairs_;
  if (!is_toss_up && !is_unexplained) return false;
  since_error_ = kOneErrorPairs;
  return !uncertain;
}

bool LineMonitor::superframe_lost() {
  const float excess = edge_sum_ / static_cast<float>(edge_pairs_) - rest_sum_ / static_cast<float>(rest_pairs_);
  edges_wrong_ = excess > kEdgeExcess ? edges_wrong_ + 1 : 0;
  edge_sum_ = rest_sum_ = 0;
  edge_pairs_ = rest_pairs_ = 0;
  return edges_wrong_ >= 2;
}

LineMonitor::Advice LineMonitor::resynchronise() {
  lost_windows_ = slip_windows_ = edges_wrong_ = 0;
  switch (losses_++) {
    case 0:
      return Advice::kResynchronise;
    case 1:
      search_.lose();
      quiet_then_ = 0;  // as after errors, because a line that becomes quieter has changed
      return Advice::kYield;
    default:
      return Advice::kRetrain;
  }
}

LineMonitor::Advice LineMonitor::window(float mean, float grid) {
  if (windows_ < kSettledWindows && ++windows_ == kSettledWindows) losses_ = 0;
  lost_windows_ = mean < kLost ? 0 : lost_windows_ + 1;
  slip_windows_ = mean < kSlipRatio * grid + kSlipExcess ? 0 : slip_windows_ + 1;
  bad_windows_ = mean < bad_ ? 0 : bad_windows_ + 1;
  good_windows_ = mean < good_ ? good_windows_ + 1 : 0;
  const bool usual = lost_windows_ == 0 && slip_windows_ == 0;
  good_for_ = usual ? (good_for_ < kSettledMean ? good_for_ + 1 : kSettledMean) : 0;
  variance_ = good_for_ <= 1 ? mean : variance_ + (mean - variance_) / static_cast<float>(kSettledMean);
  if (lost_windows_ >= kLostWindows || slip_windows_ >= kLostWindows) {
    if (lost_windows_ < kLostWindows) ++slips_;
    return resynchronise();
  }
  if (bad_windows_ >= kBadWindows) {
    bad_windows_ = 0;
    return Advice::kLower;
  }
  follow_quiet(mean);
  const bool move = search_.put(errors_);
  errors_ = 0;
  if (move) {
    quiet_then_ = 0;
    return Advice::kMove;
  }
  if (good_windows_ >= wait_for_higher_ && search_.may_rise()) {
    good_windows_ = 0;
    if (wait_for_higher_ < kMostGoodWindows) wait_for_higher_ *= 2;
    return Advice::kHigher;
  }
  return Advice::kNone;
}

}  // namespace offhook::v34
