// SPDX-License-Identifier: MIT
#include "src/decode/start_up/answer_tone.h"

#include "dsp/v8/answer_tone.h"
#include "src/decode/start_up/echoes.h"

namespace offhook::decode {

const char* AnswerToneHeard::kind() const {
  if (ansam) return reversals.empty() ? "ANSam" : "ANSam with reversals";
  return reversals.empty() ? "ANS" : "ANS with reversals";
}

std::vector<AnswerToneHeard> find_answer_tones(const Recording& r) {
  std::vector<AnswerToneHeard> found;
  for (std::size_t c = 0; c < r.channel.size(); ++c) {
    v8::AnswerToneDetector detector;
    AnswerToneHeard now;
    double frequency = 0, depth = 0, amplitude = 0;
    int n = 0;
    const auto end = [&](double t) {
      if (n > 0 && t - now.t0 > 0.6) {
        now.t1 = t;
        now.channel = static_cast<int>(c);
        now.frequency_hz = v8::kAnswerToneHz + frequency / n;
        now.amplitude = amplitude / n;
        now.depth = depth;
        found.push_back(now);
      }
      now = {};
      n = 0;
      frequency = depth = amplitude = 0;
    };
    double last_present = 0;
    for (std::size_t i = 0; i < r.channel[c].size(); ++i) {
      const auto event = detector.put(r.channel[c][i]);
      const auto& tone = detector.detector();
      const double t = seconds(i + 1);
      const bool present = detector.tone() != v8::AnswerTone::kNone;
      if (tone.present()) {
        if (now.t0 == 0) now.t0 = t - tone.steady_ms() / 1000;
        last_present = t;
      }
      if (event == ToneEvent::kReversal && now.t0 > 0) now.reversals.push_back(seconds(tone.reversal_time()));
      if (detector.tone() == v8::AnswerTone::kAnsam || detector.tone() == v8::AnswerTone::kAns) {
        now.ansam = detector.tone() == v8::AnswerTone::kAnsam;
        depth = depth == 0 ? detector.depth() : depth + 0.001 * (detector.depth() - depth);
      }
      // Means of the steady tone: a multiple of the 15 Hz would be 66.7 ms, and the sum of many does as well.
      if (present && tone.steady_ms() > 60 && i % 80 == 0) {
        frequency += tone.frequency_offset_hz();
        amplitude += tone.peak();
        ++n;
      }
      if (!present && now.t0 > 0 && t - last_present > 0.1) end(last_present);
    }
    if (now.t0 > 0) end(last_present);
  }
  // An echo of a tone lies within it.
  drop_echoes(found, [](const AnswerToneHeard& x, const AnswerToneHeard& of) {
    return of.amplitude > 2 * x.amplitude && x.t0 > of.t0 - 0.3 && x.t0 < of.t1;
  });
  return found;
}

}  // namespace offhook::decode
