// SPDX-License-Identifier: MIT
#include "src/decode/start_up/hold.h"

#include <algorithm>
#include <cmath>

#include "dsp/v34/phase2/info_detector.h"
#include "src/decode/start_up/echoes.h"

namespace offhook::decode {
namespace {

constexpr double kSequenceS = static_cast<double>(v90::HoldMessage::kBits) / kDpskBaud;
constexpr double kOneRunS = 4 * kSequenceS;  // some of a run may be lost

// Sequences of one direction, those that repeat as one.
void find_in(const std::vector<float>& samples, int channel, int carrier_hz, std::vector<HoldHeard>& found) {
  DpskReceiver receiver(carrier_hz);
  v34::InfoDetector<v90::HoldMessage> detector;
  DpskDecision decision{};
  HoldHeard* run = nullptr;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!receiver.put(samples[i], &decision) || !detector.put(decision)) continue;
    const auto& f = detector.found();
    constexpr double kAfterCrc = 4.5 / kDpskBaud;  // fill bits, and half of the last CRC bit
    const double end = seconds(static_cast<double>(i) - static_cast<double>(f.age_samples)) + kAfterCrc;
    if (run == nullptr || run->message != f.info || end - run->t1 > kOneRunS) {
      run = &found.emplace_back();
      run->channel = channel;
      run->carrier_hz = carrier_hz;
      run->t0 = end - kSequenceS;
      run->message = f.info;
    }
    run->t1 = end;
    run->amplitude = std::max(run->amplitude, static_cast<double>(f.peak));
    ++run->count;
  }
}

bool is_echo(const HoldHeard& x, const HoldHeard& of) {
  return of.carrier_hz == x.carrier_hz && of.message == x.message && of.amplitude > 2 * x.amplitude && x.t0 < of.t1 &&
         x.t1 > of.t0;
}

}  // namespace

std::vector<HoldHeard> find_hold(const Recording& r) {
  std::vector<HoldHeard> found;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    for (const int hz : {v34::kDpskCallHz, v34::kDpskAnswerHz}) {
      std::vector<HoldHeard> here;
      find_in(r.channel[c], static_cast<int>(c), hz, here);
      found.insert(found.end(), here.begin(), here.end());
    }
  }
  drop_echoes(found, is_echo);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.t0 < b.t0; });
  return found;
}

}  // namespace offhook::decode
