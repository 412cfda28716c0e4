// SPDX-License-Identifier: MIT
#include "dsp/v34/session/rate_search.h"

namespace offhook::v34 {

void RateSearch::start(uint8_t rate, uint8_t lowest) {
  rate_ = rate;
  lowest_ = lowest;
  excess_ = 0;
  errors_ = 0;
  windows_ = 0;
  if (rate_ == most_ && trial_) left_ = kTrial;
}

void RateSearch::reset() {
  const RateSearch old = *this;
  *this = {};
  start(old.rate_, old.lowest_);
}

void RateSearch::lose() {
  constexpr float kAllFrames = 25;  // data frames per second
  errors_at_[rate_] = kAllFrames;
  if (again_) wait_ = wait_ < kLongestWait ? kPatience * wait_ : wait_;
  again_ = trial_ = false;
  excess_ = 0;
  if (rate_ > lowest_ && most_ >= rate_) most_ = static_cast<uint8_t>(rate_ - 1);
  left_ = wait_;
}

bool RateSearch::put(int errors) {
  ++windows_;
  errors_ += errors;
  excess_ += static_cast<float>(errors) - kTolerated;
  if (excess_ < 0) excess_ = 0;
  if (left_ > 0 && --left_ == 0) try_again();
  return excess_ >= (trial_ && rate_ == most_ ? kTooManyInTrial : kTooMany) && !no_rate_fits_ && too_many();
}

// The wait is over. The result from a minute ago may be outdated.
void RateSearch::try_again() {
  if (rate_ < most_) {  // the trial has not begun
    left_ = kTrial;
    return;
  }
  const bool try_between = between_ == Between::kLeftOut && errors_ == 0;
  const bool was_between = between_ != Between::kNone;
  between_ = try_between ? Between::kTried : Between::kNone;
  if (was_between) {
    trial_ = try_between;
    in_vain_ = 0;  // if the trial fails, the rate below is known to be good
    most_ = static_cast<uint8_t>(most_ + try_between);
    left_ = try_between ? kTrial : wait_;
    return;
  }
  for (float& e : errors_at_) e = 0;
  again_ = true;
  no_rate_fits_ = false;
  in_vain_ = 0;
  excess_ = 0;
  trial_ = most_ < kNoLimit;
  if (!trial_) return;
  ++most_;
  left_ = kTrial;
}

float RateSearch::goodput(int rate) const {
  return errors_at_[rate] > 0 ? 2400.f * static_cast<float>(rate) - kErrorBits * errors_at_[rate] : 0;
}

// The highest rate with `enough`, unless a lower one has clearly fewer errors.
int RateSearch::choose(float enough) const {
  int chosen = rate_;
  float errors = 0;
  for (int rate = kNoLimit; rate >= rate_; --rate) {
    if (goodput(rate) < enough || errors_at_[rate] == 0) continue;
    if (errors > 0 && errors_at_[rate] > kClearly * errors) continue;
    chosen = rate;
    errors = errors_at_[rate];
  }
  return chosen;
}

bool RateSearch::too_many() {
  excess_ = 0;
  if (again_) wait_ = windows_ > wait_ ? kWait : wait_ < kLongestWait ? kPatience * wait_ : wait_;
  again_ = trial_ = false;
  errors_at_[rate_] = static_cast<float>(errors_ * kWindowsASecond) / static_cast<float>(windows_);
  float best = 0;
  for (int rate = 1; rate <= kNoLimit; ++rate) best = goodput(rate) > best ? goodput(rate) : best;
  in_vain_ = 2400.f * static_cast<float>(rate_) > kErrorBits * errors_at_[rate_] ? 0 : in_vain_ + 1;
  const int step = in_vain_ < kMostInVain ? 1 : 2;
  const int next = rate_ - step < lowest_ && rate_ > lowest_ ? lowest_ : rate_ - step;
  no_rate_fits_ = next < lowest_ || 2400.f * static_cast<float>(next) < kWorth * best;
  between_ = next < rate_ - 1 ? Between::kLeftOut : Between::kNone;
  left_ = no_rate_fits_ ? kPatience * wait_ : between_ == Between::kLeftOut ? kToBetween : wait_;
  most_ = static_cast<uint8_t>(no_rate_fits_ ? choose(kWorth * best) : next);
  return most_ != rate_;
}

}  // namespace offhook::v34
