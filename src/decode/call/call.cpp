// SPDX-License-Identifier: MIT
#include "src/decode/call/call.h"

#include <algorithm>

#include "dsp/spandsp/v22.h"
#include "offhook/decode.h"
#include "src/decode/v22bis/v22bis.h"
#include "src/decode/v32bis/v32bis.h"

namespace offhook::decode {
namespace {

// The end of the last 10 ms that are louder than a hundredth of the loudest.
double activity_end(const std::vector<float>& x) {
  constexpr std::size_t kBlock = kRateHz / 100;
  std::vector<double> power;
  for (std::size_t i = 0; i < x.size(); i += kBlock) {
    double sum = 0;
    for (std::size_t k = i; k < std::min(x.size(), i + kBlock); ++k) sum += static_cast<double>(x[k]) * x[k];
    power.push_back(sum / kBlock);
  }
  const double loudest = power.empty() ? 0 : *std::max_element(power.begin(), power.end());
  for (std::size_t k = power.size(); k > 0; --k) {
    if (power[k - 1] > 1e-4 * loudest && power[k - 1] > 16) {
      return static_cast<double>(std::min(x.size(), k * kBlock)) / kRateHz;
    }
  }
  return 0;
}

// The recording with each channel free of the other's echo, as far as it could be learnt.
Recording take_echo_off(Call& call) {
  Recording clean = call.recording;
  const auto& x = call.recording.channel;
  call.echo.resize(x.size());
  for (std::size_t c = 0; x.size() == 2 && c < 2; ++c) {
    call.echo[c] = find_echo_paths(x[c], x[1 - c]);
    clean.channel[c] = without_echo(x[c], x[1 - c], call.echo[c]);
  }
  return clean;
}

// An answer tone alone may pass for V.22bis.
bool only_answer_tones(const Call& call) {
  bool any = false;
  for (const Connection::Side* side : {&call.connection.call, &call.connection.answer}) {
    for (const DataHeard& d : side->data) {
      const bool tone = std::any_of(call.start_up.answer_tones.begin(), call.start_up.answer_tones.end(),
                                    [&](const AnswerToneHeard& a) {
                                      const double both = std::min(a.t1, d.t1) - std::max(a.t0, d.t0);
                                      return a.channel == side->channel && both > 0.8 * (d.t1 - d.t0);
                                    });
      if (!tone) return false;
      any = true;
    }
  }
  return any;
}

// Who is who, and which answer tones are none.
void take_what_training_tells(const Connection& c, StartUp& s) {
  if (c.modulation != nullptr && s.call_channel < 0 && s.answer_channel < 0) {
    s.call_channel = c.call.channel;
    s.answer_channel = c.answer.channel;
    s.roles_from = "the training";
  }
  // Data that repeat themselves may have a line at 2100 Hz, and S1 in the high band has.
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

}  // namespace

Call analyse(Recording recording, const std::function<void(double, const std::string&)>& progress, bool data_mode) {
  const auto say = [&](double share, const char* what) {
    if (progress) progress(share, what);
  };
  Call call;
  call.recording = std::move(recording);
  for (const auto& x : call.recording.channel) call.activity_end_s.push_back(activity_end(x));
  say(0.02, "answer tone, V.8, INFO, probing");
  call.start_up = listen_start_up(call.recording);
  say(0.25, "echo");
  const Recording clean = take_echo_off(call);
  say(0.3, "training");
  call.trainings = find_trainings(clean, call.start_up, data_mode);
  if (!call.trainings.empty()) return call;
  say(0.6, kV32bis.title);
  call.connection = find_v32bis(clean);
  say(0.8, kV22bis.title);
  if (call.connection.modulation == nullptr) {
    call.connection = find_v22bis(clean);
    if (only_answer_tones(call)) call.connection = {};
  }
  take_what_training_tells(call.connection, call.start_up);
  return call;
}

std::vector<Change> Call::changes() const {
  return trainings.empty() ? connection.changes : find_changes(trainings, start_up.call_channel);
}

const char* Call::modulation() const {
  if (trainings.empty()) return connection.modulation;
  return trainings.back().pcm ? "V.90/V.92 downstream PCM" : kV34.title;
}

std::shared_ptr<const Call> decode_file(const std::string& path, const Options& options) {
  return std::make_shared<const Call>(analyse(read_recording(path), options.progress, options.data_mode));
}

std::shared_ptr<const Call> decode_samples(Samples samples, const Options& options) {
  Recording recording = make_recording(std::move(samples.channels), samples.rate_hz, samples.name);
  return std::make_shared<const Call>(analyse(std::move(recording), options.progress, options.data_mode));
}

}  // namespace offhook::decode
