// SPDX-License-Identifier: MIT
#include "src/decode/call/call.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "driver/base/file.h"
#include "driver/user_modem/v21.h"
#include "dsp/modulation/modulation.h"
#include "offhook/decode.h"
#include "src/decode/call/verdict.h"
#include "src/decode/line/channels.h"
#include "src/decode/line/drift.h"
#include "src/decode/line/hum.h"
#include "src/decode/line/spectrogram.h"
#include "src/decode/line/spectrum.h"
#include "src/decode/modulation/v22bis.h"
#include "src/decode/modulation/v32bis.h"
#include "src/decode/v34/data_only.h"

namespace offhook::decode {
namespace {

constexpr auto kPowerBlock = static_cast<std::size_t>(Call::kPowerS * kRateHz);

std::vector<double> power_of(std::span<const float> x) {
  std::vector<double> power;
  for (std::size_t i = 0; i < x.size(); i += kPowerBlock) {
    double sum = 0;
    for (std::size_t k = i; k < std::min(x.size(), i + kPowerBlock); ++k) sum += static_cast<double>(x[k]) * x[k];
    power.push_back(sum / kPowerBlock);
  }
  return power;
}

// The end of the last 10 ms that are a signal: louder than a hundredth of the loudest, or, on a noisy line,
// than three times the noise. @param size  samples
double activity_end(const std::vector<double>& power, std::size_t size) {
  constexpr double kLeast = 1e-4, kSure = 1e-2;  // of the usual loud power
  constexpr double kNoise = 10;                  // over the power of the quietest
  if (power.empty()) return 0;
  std::vector<double> sorted = power;
  std::sort(sorted.begin(), sorted.end());
  const double loud = sorted[sorted.size() * 9 / 10], quiet = sorted[sorted.size() / 20];
  const double least = std::clamp(kNoise * quiet, kLeast * loud, kSure * loud);
  for (std::size_t k = power.size(); k > 0; --k) {
    if (power[k - 1] > least && power[k - 1] > 16) {
      return static_cast<double>(std::min(size, k * kPowerBlock)) / kRateHz;
    }
  }
  return 0;
}

// The channel that is not `c`, as a recorder with the clock of `c` would have it.
std::vector<float> other_on_clock_of(const Call& call, std::size_t c) {
  const auto& x = call.recording.channel;
  const double ppm = *call.clock_difference_ppm;
  return on_slower_clock(x[1 - c], c == 0 ? ppm : -ppm, x[c].size());
}

void find_echo_with_drift(Call& call) {
  for (std::size_t c = 0; c < 2; ++c)
    call.echo[c] = find_echo_paths(call.recording.channel[c], other_on_clock_of(call, c));
}

// The share of the echo that its paths do not explain.
double echo_left(const Call& call) {
  double sum = 0, learnt_s = 0;
  for (const std::vector<EchoPath>& paths : call.echo) {
    for (const EchoPath& path : paths) {
      sum += path.learnt_s * std::pow(10, -path.enhancement_db / 10);
      learnt_s += path.learnt_s;
    }
  }
  return learnt_s > 0 ? sum / learnt_s : 1;
}

// The difference at which the paths explain most: near it the error is a parabola.
// @param middle  echo_left() at the difference that the call has
void refine_clock_difference(Call& call, double middle) {
  constexpr double kStepPpm = 2;
  const double ppm = *call.clock_difference_ppm;
  const auto left_at = [&](double at_ppm) {
    call.clock_difference_ppm = at_ppm;
    find_echo_with_drift(call);
    return echo_left(call);
  };
  const double below = left_at(ppm - kStepPpm), above = left_at(ppm + kStepPpm);
  const double bend = below - 2 * middle + above;
  call.clock_difference_ppm =
      ppm + (bend > 0 ? std::clamp(kStepPpm * (below - above) / (2 * bend), -kStepPpm, kStepPpm) : 0);
}

void find_echo(Call& call) {
  constexpr double kLessLeft = 0.5;  // the movement of an echo on one clock is an error of its measurement
  const auto& x = call.recording.channel;
  call.echo.resize(x.size());
  if (x.size() != 2) return;
  for (std::size_t c = 0; c < 2; ++c) call.echo[c] = find_echo_paths(x[c], x[1 - c]);
  call.clock_difference_ppm = clock_difference_ppm(x[0], x[1]);
  if (!call.clock_difference_ppm) return;
  const std::vector<std::vector<EchoPath>> on_one_clock = call.echo;
  const double left = echo_left(call);
  find_echo_with_drift(call);
  // If a difference exists, its measurement is nearer to it than 0 is.
  if (const double measured = echo_left(call); measured < left) {
    refine_clock_difference(call, measured);
    find_echo_with_drift(call);
    if (echo_left(call) < kLessLeft * left) return;
  }
  call.clock_difference_ppm.reset();
  call.echo = on_one_clock;
}

// Each channel keeps its own clock, which PCM needs; the other one is brought to it as the source of the echo.
void take_echo_off_with_drift(Call& call) {
  auto& x = call.recording.channel;
  std::vector<float> others[2] = {other_on_clock_of(call, 0), other_on_clock_of(call, 1)};
  for (std::size_t c = 0; c < 2; ++c) {
    if (!call.echo[c].empty()) take_echo_off({x[c], others[c]}, {call.echo[c], {}});
  }
}

// Cancels the other direction's echo in each channel, as far as it is known. The page's data of the original recording
// are kept before: a second copy of an hour would take 230 MB.
void clean_of_echo(Call& call) {
  auto& x = call.recording.channel;
  const bool cleaned = !call.spectrograms.empty();
  if (cleaned || std::all_of(call.echo.begin(), call.echo.end(), [](const auto& paths) { return paths.empty(); }))
    return;
  for (const auto& channel : x) call.spectrograms.push_back(spectrogram(channel, kSpectrogramColumns));
  if (call.clock_difference_ppm) {
    take_echo_off_with_drift(call);
  } else {
    take_echo_off({x[0], x[1]}, {call.echo[0], call.echo[1]});
  }
}

// A mere answer tone may be mistaken for V.22bis.
bool only_answer_tones(const Connection& c, const StartUp& start_up) {
  bool any = false;
  for (const Connection::Side* side : {&c.call, &c.answer}) {
    for (const DataHeard& d : side->data) {
      double tones = 0;
      for (const AnswerToneHeard& a : start_up.answer_tones) {
        if (a.channel == side->channel) tones += std::max(0.0, std::min(a.t1, d.t1) - std::max(a.t0, d.t0));
      }
      if (tones < 0.8 * (d.t1 - d.t0)) return false;
      any = true;
    }
  }
  return any;
}

// Messages of V.32bis, which no other modem sends.
bool has_rate_signals(const Connection& c) {
  return !c.call.rate_signals.empty() || !c.answer.rate_signals.empty();
}

// Signals of V.21 and similar modems, except V.8 and V.8bis, which use V.21 themselves, and before Phase 2.
std::vector<FskHeard> fsk_data(const Call& call) {
  constexpr double kBesidesS = 0.3, kLeastS = 1;
  const StartUp& s = call.start_up;
  if (!s.info.empty()) return {};
  std::vector<FskHeard> all = find_fsk(call.recording);
  double start_up_end = 0;
  for (const auto* menus : {&s.v8.cm, &s.v8.jm}) {
    for (const MenuHeard& m : *menus) start_up_end = std::max(start_up_end, m.t1);
  }
  for (const V8bisMessage& m : s.v8bis)
    start_up_end = std::max(start_up_end, m.t + static_cast<double>(m.octets.size() + 4) * 8 / 300);
  std::erase_if(all, [&](const FskHeard& f) { return f.t1 - std::max(f.t0, start_up_end + kBesidesS) < kLeastS; });
  return all;
}

// Start of Bell's answer tone in a channel, s; 0: none.
double bell_answer_s(const Call& call, int channel) {
  const auto tone = std::find_if(call.signals.begin(), call.signals.end(), [&](const CallSignal& s) {
    return s.channel == channel && s.name == kBellAnswerTone;
  });
  return tone == call.signals.end() ? 0 : tone->t0;
}

// Assigns the modems, and removes false answer tones.
// @param channels  of the recording
void take_what_training_tells(const Connection& c, std::size_t channels, StartUp& s) {
  // The scramblers of V.32bis and the bands of V.22bis are stronger evidence than an answer tone, whose echo may be
  // present.
  if (c.modulation != nullptr && (s.call_channel != c.call.channel || s.answer_channel != c.answer.channel)) {
    const auto other = [&](int channel) { return channels == 2 && channel >= 0 ? 1 - channel : -1; };
    s.call_channel = c.call.channel >= 0 ? c.call.channel : other(c.answer.channel);
    s.answer_channel = c.answer.channel >= 0 ? c.answer.channel : other(c.call.channel);
    s.roles_from = "the training";
  }
  // Repeating data may have a line at 2100 Hz, and S1 in the high band always has one.
  std::erase_if(s.answer_tones, [&](const AnswerToneHeard& a) {
    const std::vector<DataHeard>& data = (a.channel == c.call.channel ? c.call : c.answer).data;
    return !data.empty() && a.t1 > data.front().t0;
  });
  std::erase_if(s.answer_tones, [&](const AnswerToneHeard& a) {
    return std::any_of(c.answer.signals.begin(), c.answer.signals.end(), [&](const Connection::Signal& b) {
      return a.channel == c.answer.channel && a.t1 > b.t0 && a.t0 > b.t0 - 0.5;
    });
  });
}

// V.34 without a decoded INFO1a: only one side was recorded, or noise damaged it.
void listen_without_info1a(const Recording& clean, Call& call) {
  std::optional<Training> training = find_training_without_info1a(clean, call.start_up, call.data_mode);
  if (training) call.trainings.push_back(std::move(*training));
}

// Decodes a recording that begins in data mode.
void listen_data_mode(Call& call) {
  const Recording& clean = call.recording;
  for (std::size_t c = 0; c < clean.channel.size(); ++c) {
    std::optional<SymbolClock> clock = find_symbol_clock(clean.samples(c));
    if (!clock) continue;
    clock->channel = static_cast<int>(c);
    call.symbol_clocks.push_back(*clock);
  }
  StartUp& s = call.start_up;
  if (!s.info.empty()) return;
  std::optional<Training> training = find_training_behind_data(clean, call.symbol_clocks, call.data_mode);
  if (!training) return;
  if (s.call_channel < 0 && s.answer_channel < 0) {
    s.call_channel = training->from_1200.direction.channel;
    s.answer_channel = training->from_2400.direction.channel;
    s.roles_from = "the scramblers of TRN";
  }
  call.trainings.push_back(std::move(*training));
  join_links(call.trainings, s.call_channel);
}

// Decodes the part of a call before the Phase 2 of a retrain.
void listen_before(const Recording& before, Call& call) {
  for (std::size_t c = 0; c < before.channel.size(); ++c) {
    std::optional<SymbolClock> clock = find_symbol_clock(before.samples(c));
    if (!clock) continue;
    clock->channel = static_cast<int>(c);
    call.symbol_clocks.push_back(*clock);
  }
  if (call.symbol_clocks.empty()) return;
  call.begins_behind_start_up = true;
  std::optional<Training> training = find_training_behind_data(before, call.symbol_clocks, call.data_mode);
  if (training) call.trainings.insert(call.trainings.begin(), std::move(*training));
}

// Phase 2 without INFO0 is that of a retrain (11.5): the recording begins behind the start-up, in training or data.
void listen_before_retrain(Call& call) {
  const StartUp& s = call.start_up;
  const double first_info1a = call.trainings.front().info1a_t;
  if (!s.v8.cm.empty() || !s.v8.jm.empty() || std::any_of(s.info.begin(), s.info.end(), [&](const InfoHeard& i) {
        return i.is_info0() && i.t0 < first_info1a;
      }))
    return;
  double end = s.info.front().t0;
  for (const auto* tone : {&s.tone_a, &s.tone_b}) {
    for (const auto& [from, to] : tone->segments) end = std::min(end, from);
  }
  Recording before;  // not a copy of the samples
  before.name = call.recording.name;
  before.duration_s = end;
  before.most = static_cast<std::size_t>(end * kRateHz);
  before.channel.swap(call.recording.channel);
  listen_before(before, call);
  call.recording.channel.swap(before.channel);
}

}  // namespace

namespace {

void drop_wide(Call& call) {
  std::vector<std::vector<std::int16_t>>().swap(call.recording.wide);
}

// The page's data of the samples are made before they are freed: an hour of two channels is 230 MB.
void drop_samples(Call& call) {
  if (call.spectrograms.empty()) {
    for (const auto& channel : call.recording.channel)
      call.spectrograms.push_back(spectrogram(channel, kSpectrogramColumns));
  }
  for (auto& channel : call.recording.channel) std::vector<float>().swap(channel);
  drop_wide(call);
}

using Say = std::function<void(double share, const char* what)>;

/// Start-up of V.34 and V.90, if there is one.
void read_start_up(Call& call, const Say& say) {
  say(0.02, "answer tone, V.8, INFO, probing");
  call.start_up = listen_start_up(call.recording);
  if (!chooses_pcm(call.start_up)) drop_wide(call);
  say(0.2, "digits, call progress, caller ID");
  call.signals = find_call_signals(call.recording);
  say(0.25, "echo");
  find_echo(call);
  if (call.start_up.info.empty()) return;
  clean_of_echo(call);
  say(0.3, "training");
  call.trainings = find_trainings(call.recording, call.start_up, call.data_mode);
  if (!call.trainings.empty()) {
    listen_before_retrain(call);
  } else {
    listen_without_info1a(call.recording, call);
  }
}

/// Technologies that a detector found, each with its evidence: signals of one modem may resemble another's.
class Detected {
 public:
  Detected(Call& call, Connection v32bis, Connection v22bis)
      : call_(call), found_{{std::move(v32bis), std::move(v22bis)}} {}

  /// Keeps what the detector with the most evidence found; the others' evidence goes to the rivals.
  void keep_the_best() {
    struct Hypothesis {
      std::string technology;
      std::function<void()> drop;
    };
    std::vector<Hypothesis> all;
    Scores scores = scores_of_fax(call_);
    scores.add_two_tones(call_);
    if (call_.is_fax()) all.push_back({"fax", [&] { call_.fax = {}; }});
    if (const FskHeard* f = best_fsk(call_, scores)) all.push_back({f->modulation, [&] { call_.fsk.clear(); }});
    for (Connection& c : found_) {
      if (c.modulation == nullptr) continue;
      scores.add_connection(c);
      all.push_back({c.modulation, [&] { c = {}; }});
    }
    const auto best = std::max_element(all.begin(), all.end(), [&](const Hypothesis& a, const Hypothesis& b) {
      return scores.sum_of(a.technology) < scores.sum_of(b.technology);
    });
    for (auto h = all.begin(); h != all.end(); ++h) {
      if (h == best) continue;
      call_.rivals.add(scores.only(h->technology));
      h->drop();
    }
    for (Connection& c : found_) {
      if (c.modulation != nullptr) call_.connection = std::move(c);
    }
  }

  /// The most evidence of the detectors that have searched.
  static double most(const Call& call) {
    Scores scores = scores_of_fax(call);
    scores.add_two_tones(call);
    const FskHeard* f = best_fsk(call, scores);
    return std::max(call.is_fax() ? scores.sum_of("fax") : 0, f != nullptr ? scores.sum_of(f->modulation) : 0);
  }

 private:
  static Scores scores_of_fax(const Call& call) {
    Scores scores;
    if (!call.is_fax()) return scores;
    scores.add_messages(call);
    scores.add_fax(call);
    return scores;
  }
  Call& call_;
  std::array<Connection, 2> found_;
};

/// Modulations without such a start-up. Searches of the original recording come before echo cancellation.
void read_others(Call& call, const Say& say) {
  constexpr double kMostOfTraining = kMessageBits + 27;  // a training, and an SNR of 80 dB
  say(0.3, "fax, modems of two frequencies");
  call.fax = find_fax(call.recording);
  if (call.cm_is_of_fax()) return;
  call.fsk = fsk_data(call);
  if (call.is_fax() && call.fax.has_t30()) {  // in V.21's band of the answering station
    std::erase_if(call.fsk,
                  [](const FskHeard& f) { return !f.calling && std::string_view(f.modulation) == kV21.title; });
  }
  const bool is_decided = Detected::most(call) > kMostOfTraining;
  Connection v32bis, v22bis;
  if (!is_decided) {
    clean_of_echo(call);
    say(0.65, kV32bis.title);
    v32bis = find_v32bis(call.recording);
    say(0.8, kV22bis.title);
    if (!has_rate_signals(v32bis)) v22bis = find_v22bis(call.recording);
    if (only_answer_tones(v22bis, call.start_up)) v22bis = {};
  }
  Detected(call, std::move(v32bis), std::move(v22bis)).keep_the_best();
  if (call.is_fax()) return;
  clean_of_echo(call);
  take_what_training_tells(call.connection, call.recording.channel.size(), call.start_up);
  // Bell 212A is V.22 at 1200 bit/s behind Bell's answer tone.
  if (call.connection.modulation == kV22.title && call.connection.answer.channel >= 0)
    call.bell_answer_s = bell_answer_s(call, call.connection.answer.channel);
  if (call.fsk.empty() && call.connection.modulation == nullptr) {
    say(0.9, "data mode without a training");
    listen_data_mode(call);
  }
}

}  // namespace

Call analyse(Recording recording, const std::function<void(double, const std::string&)>& progress, bool data_mode) {
  Call call;
  call.data_mode = data_mode;
  call.recording = std::move(recording);
  take_hum_off(call.recording);
  join_alike_channels(call.recording);
  for (const auto& x : call.recording.channel) {
    call.power.push_back(power_of(x));
    call.activity_end_s.push_back(activity_end(call.power.back(), x.size()));
  }
  if (call.recording.rtp.empty() && !call.recording.t38_streams.empty()) {  // no speech
    call.fax = find_fax(call.recording);
  } else {
    const Say say = [&](double share, const char* what) {
      if (progress) progress(share, what);
    };
    read_start_up(call, say);
    if (call.trainings.empty()) read_others(call, say);
  }
  drop_samples(call);
  if (!call.trainings.empty()) join_links(call.trainings, call.start_up.call_channel);
  return call;
}

bool Call::is_fax() const {
  if (!fax.frames.empty() || fax.cng_repeats() ||
      (!fax.cng.empty() && (fax.flags_channel >= 0 || !start_up.answer_tones.empty())))
    return true;
  return cm_is_of_fax();
}

bool Call::cm_is_of_fax() const {
  const auto& cm = start_up.v8.cm;
  return !cm.empty() && (cm[0].menu.call_function == v8::CallFunction::kTransmitFax ||
                         cm[0].menu.call_function == v8::CallFunction::kReceiveFax);
}

int Call::retrains() const {
  const auto behind_info1a =
      std::count_if(trainings.begin(), trainings.end(), [](const Training& t) { return !t.begins_in_data; });
  return std::max(0, static_cast<int>(behind_info1a) - (begins_behind_start_up ? 0 : 1));
}

std::vector<Change> Call::changes() const {
  return trainings.empty() ? connection.changes : find_changes(trainings, start_up.call_channel);
}

const char* Call::modulation() const {
  if (trainings.empty()) return connection.modulation;
  return trainings.back().pcm ? "V.90/V.92 downstream PCM" : kV34.title;
}

bool modem_found(const Call& call) {
  return verdict_of(call).found;
}

std::shared_ptr<const Call> decode_file(const std::string& path, const Options& options) {
  return with_memory_for(path, [&] {
    Recording recording = read_recording(path);
    recording.remark = options.remark;
    return std::make_shared<const Call>(analyse(std::move(recording), options.progress, options.data_mode));
  });
}

std::shared_ptr<const Call> decode_samples(Samples samples, const Options& options) {
  Recording recording = make_recording(samples.channels, samples.rate_hz, samples.name);
  recording.remark = options.remark;
  return std::make_shared<const Call>(analyse(std::move(recording), options.progress, options.data_mode));
}

}  // namespace offhook::decode
