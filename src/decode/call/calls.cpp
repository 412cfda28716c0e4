// SPDX-License-Identifier: MIT
//
// The calls of a long recording. Silence of 4.5 s in all channels separates two calls, and so does a dial tone or a
// ringback tone after other sound. Two parts are one call after all in these cases:
//
//  - the first has only digits, ringback or a caller ID, and the second does not begin by dialling: post-dial delay;
//  - both are fax, one FSK modulation, or V.34, and the second has no start: one recorded side waits for the other,
//    or the modems were on hold.
//
// A part without a modem, digits or call progress does not count as a call. One or two calls at a time are in memory.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/base/file.h"
#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "src/decode/call/verdict.h"
#include "src/decode/line/capture.h"
#include "src/decode/line/silence.h"

namespace offhook::decode {
namespace {

constexpr double kEdgeS = 1;          // of silence that a part has before its first sound
constexpr double kPostDialS = 30;     // the longest silence between dialling and the answer
constexpr double kAnotherAfterS = 3;  // of other sound before a dial tone that begins another call
constexpr double kForever = std::numeric_limits<double>::infinity();

bool named(const CallSignal& s, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), s.name) != names.end();
}
bool any_signal(const Call& call, std::initializer_list<std::string_view> names) {
  return std::any_of(call.signals.begin(), call.signals.end(), [&](const CallSignal& s) { return named(s, names); });
}

// Whether a modem was heard, not only a caller ID.
bool has_modem(const Call& call) {
  const Verdict v = verdict_of(call);
  return v.found && v.technology != kCallerId;
}

bool is_something(const Call& call) {
  return has_modem(call) || !call.signals.empty();
}

// Whether a part has the signals of a call's beginning.
bool has_start(const Call& call) {
  const StartUp& s = call.start_up;
  return !s.answer_tones.empty() || !s.v8.cm.empty() || !s.v8.jm.empty() || !s.v8bis.empty() || !call.fax.cng.empty() ||
         !call.signals.empty();
}

// Whether `next` continues the call that begins with `before`.
bool continues(const Call& before, const Call& next, double silence_s) {
  if (!has_modem(before)) {
    return silence_s < kPostDialS && !any_signal(before, {"busy", "special information tone"}) &&
           !any_signal(next, {"dial tone", "DTMF", kCallerId}) && is_something(before) && has_modem(next);
  }
  if (has_start(next)) return false;
  if (before.is_fax()) return next.is_fax();
  if (!before.trainings.empty()) return !next.start_up.info.empty();
  return !before.fsk.empty() && !next.fsk.empty() &&
         std::string_view(before.fsk.front().modulation) == next.fsk.front().modulation;
}

// Start of another call in this one: at a dial tone or ringback after some seconds of other sound.
std::optional<double> another_call(const Call& call) {
  constexpr double kSound = 1e-3;  // of the loudest 10 ms
  double loudest = 0;
  for (const auto& power : call.power) {
    for (const double p : power) loudest = std::max(loudest, p);
  }
  const auto sound_s = [&](double from_s, double to_s) {
    double most = 0;
    for (const auto& power : call.power) {
      int blocks = 0;
      for (auto k = static_cast<std::size_t>(from_s / Call::kPowerS);
           k < power.size() && static_cast<double>(k) * Call::kPowerS < to_s; ++k)
        blocks += power[k] > kSound * loudest;
      most = std::max(most, blocks * Call::kPowerS);
    }
    return most;
  };
  double since = 0;
  for (const CallSignal& s : call.signals) {
    if (named(s, {"dial tone", "ringback"}) && sound_s(since, s.t0) > kAnotherAfterS) return s.t0;
    since = std::max(since, s.t1);
  }
  return std::nullopt;
}

class CallFinder {
 public:
  CallFinder(const std::filesystem::path& path, const Options& options,
             const std::function<void(std::shared_ptr<const Call>)>& take)
      : file_(path, options.name), options_(options), take_(take) {}

  void run() {
    const auto power = file_.power();
    const std::vector<SoundSpan> spans = sound_spans(power, RecordingFile::kPowerS);
    const double end_s = static_cast<double>(power[0].size()) * RecordingFile::kPowerS;
    const bool whole = spans.size() < 2 && end_s <= kLongestCallS + RecordingFile::kPowerS;
    if (whole) split({0, kForever});
    if (!whole) length_s_ = spans.empty() ? end_s : spans.back().to_s;
    if (!whole && spans.empty()) be_silent(end_s);
    for (std::size_t k = 0; !whole && k < spans.size(); ++k) {
      const auto [from_s, to_s] = spans[k];
      if (k + 1 == spans.size() && is_one_call()) return;
      if (to_s - from_s < kLongestCallS - 2 * kEdgeS) {
        split({std::max(0.0, from_s - kEdgeS), end_s - to_s < kSeparatesS ? kForever : to_s + kEdgeS});
      } else {
        too_long_ =
            fmt::format("{}: the sound from {:.1f} to {:.1f} s is longer than an hour", file_.name(), from_s, to_s);
      }
    }
    finish();
    if (!too_long_.empty()) throw std::runtime_error(too_long_);
  }

 private:
  struct Part {
    double from_s = 0, to_s = 0;
  };

  std::shared_ptr<Call> analysed(const Part& part) {
    const auto progress = [&](double share, const std::string& what) {
      if (!options_.progress) return;
      const double to_s = std::min(part.to_s, length_s_);
      shown_ = std::max(shown_, length_s_ > 0 ? (part.from_s + share * (to_s - part.from_s)) / length_s_ : share);
      options_.progress(std::min(shown_, 1.0), what);
    };
    return std::make_shared<Call>(analyse(file_.read(part.from_s, part.to_s), progress, options_.data_mode));
  }

  // At the last part: if there was nothing before it, the recording is analysed as a whole in any case.
  // @return whether it was; not if it may hold several calls
  bool is_one_call() {
    if (held_ || given_ > 0 || !too_long_.empty() || length_s_ >= kLongestCallS - kEdgeS) return false;
    std::shared_ptr<Call> call = analysed({0, kForever});
    if (another_call(*call)) return false;
    take_(std::move(call));
    return true;
  }

  // Hours of silence: its beginning represents them.
  void be_silent(double length_s) {
    nothing_ = analysed({0, kEdgeS});
    nothing_->recording.duration_s = length_s;
  }

  // Several calls without silence between them.
  void split(Part part) {
    std::shared_ptr<Call> call = analysed(part);
    for (;;) {
      const std::optional<double> at = another_call(*call);
      if (!at) break;
      const Part first{part.from_s, part.from_s + *at}, second{part.from_s + *at, part.to_s};
      std::shared_ptr<Call> later = analysed(second);
      if (!has_modem(*later)) break;
      call.reset();
      add(first, analysed(first));
      part = second;
      call = std::move(later);
    }
    add(part, std::move(call));
  }

  void add(const Part& part, std::shared_ptr<Call> call) {
    if (!is_something(*call)) {
      if (!nothing_) nothing_ = std::move(call);
      return;
    }
    const double silence_s = part.from_s - held_part_.to_s + 2 * kEdgeS;
    const double end_s = std::min(part.to_s, length_s_);
    if (held_ && end_s - held_part_.from_s < kLongestCallS && continues(*held_, *call, silence_s)) {
      held_part_.to_s = part.to_s;
      joined_ = true;
      if (!has_modem(*held_)) held_ = std::move(call);
      return;
    }
    give(false);
    held_ = std::move(call);
    held_part_ = part;
  }

  // The kept call, which is complete.
  void give(bool last) {
    if (!held_) return;
    ++given_;
    if (last && given_ == 1) {  // the recording is one call
      const bool whole = held_part_.from_s == 0 && held_part_.to_s == kForever && !joined_;
      if (!whole && length_s_ < kLongestCallS - kEdgeS) {
        held_ = nullptr;
        held_ = analysed({0, kForever});
      }
      if (held_->recording.start_s > 0) held_->recording.call = 1;
    } else {
      if (joined_) {
        held_ = nullptr;
        held_ = analysed(held_part_);
      }
      held_->recording.call = given_;
    }
    joined_ = false;
    take_(std::move(held_));
    held_ = nullptr;
  }

  void finish() {
    if (held_) return give(true);
    if (given_ > 0 || !nothing_) return;
    const bool whole = nothing_->recording.start_s == 0 && length_s_ == 0;
    if (!whole && length_s_ < kLongestCallS - kEdgeS) {
      nothing_ = nullptr;
      nothing_ = analysed({0, kForever});
    }
    take_(std::move(nothing_));
  }

  RecordingFile file_;
  const Options& options_;
  const std::function<void(std::shared_ptr<const Call>)>& take_;
  double length_s_ = 0;  // to the last sound; 0: one part
  double shown_ = 0;     // share of the progress
  Part held_part_;
  std::shared_ptr<Call> held_, nothing_;
  bool joined_ = false;  // held_ is one part of several
  int given_ = 0;
  std::string too_long_;
};

// For a packet capture: a pair of streams is a call.
void analyse_capture(const std::filesystem::path& path, const Options& options,
                     const std::function<void(std::shared_ptr<const Call>)>& take) {
  const Capture capture(path, options.name.empty() ? path.string() : options.name);
  const auto count = static_cast<double>(capture.calls());
  for (std::size_t k = 0; k < capture.calls(); ++k) {
    Recording recording = capture.read(k);
    if (capture.calls() > 1) recording.call = static_cast<int>(k) + 1;
    const auto progress = [&](double share, const std::string& what) {
      if (options.progress) options.progress((static_cast<double>(k) + share) / count, what);
    };
    take(std::make_shared<const Call>(analyse(std::move(recording), progress, options.data_mode)));
  }
}

}  // namespace

void decode_calls(const std::string& path, const Options& options,
                  const std::function<void(std::shared_ptr<const Call>)>& take) {
  with_memory_for(options.name.empty() ? path : options.name, [&] {
    if (!is_capture(path)) {
      CallFinder(path, options, take).run();
    } else {
      analyse_capture(path, options, take);
    }
  });
}

}  // namespace offhook::decode
