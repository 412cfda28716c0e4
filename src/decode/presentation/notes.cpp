// SPDX-License-Identifier: MIT
#include "src/decode/presentation/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dsp/v34/phase2/tones.h"

namespace offhook::decode {
namespace {

constexpr int kSilent = 2, kFaint = 100;  // int16 units at the peak: noise of the steps is 40 dB below the latter
constexpr double kMuchClipped = 1e-3;     // of the samples
constexpr int kTelephoneRateHz = 8000;

/// Faults of the recording, before the notes about the modems.
void add_recording(const Recording& r, std::vector<std::string>& out) {
  if (!r.remark.empty()) out.push_back(r.remark);
  if (r.truncated)
    out.push_back(
        fmt::format("the file ends after {:.1f} s, earlier than its header states: it is truncated", r.duration_s));
  if (r.channels_alike)
    out.emplace_back("the file's two channels are identical: it is decoded as one channel with both directions");
  if (r.likeness) {
    const double delay_ms = 1000 * r.likeness->delay_s;
    out.push_back(fmt::format(
        "the file's two channels are one line written twice (the second {:+.1f} dB{}, difference {:.0f} dB): it is "
        "decoded as one channel with both directions",
        r.likeness->gain_db,
        delay_ms == 0 ? std::string()
                      : fmt::format(", {:.1f} ms {}", std::abs(delay_ms), delay_ms > 0 ? "later" : "earlier"),
        r.likeness->difference_db));
  }
  if (r.file_rate_hz < kTelephoneRateHz) {
    out.push_back(fmt::format("recorded at {} Hz, which cannot contain signals above {} Hz; modems need up to 3700 Hz",
                              r.file_rate_hz, r.file_rate_hz / 2));
  }
  for (std::size_t c = 0; c < r.peak.size(); ++c) {
    const double clipped = r.clipped[c] / (r.duration_s * r.file_rate_hz);
    if (clipped > kMuchClipped) {
      out.push_back(
          fmt::format("channel {} is clipped: {:.1f} % of its samples are at full scale, which damages the data; "
                      "record at a lower level",
                      c, 100 * clipped));
    }
    if (r.peak[c] <= kSilent) {
      out.push_back(fmt::format("channel {} is silent", c));
    } else if (r.peak[c] < kFaint) {
      out.push_back(fmt::format(
          "channel {} is faint: its peak is {:.0f} dB below full scale, near the quantisation steps of 16 bits", c,
          20 * std::log10(32768.0 / r.peak[c])));
    }
  }
}

// A recording whose channels have clocks of their own.
void add_clocks(const Call& call, std::vector<std::string>& out) {
  if (call.clock_difference_ppm)
    out.push_back(
        fmt::format("the clock of channel 1 is {:+.1f} ppm against that of channel 0, by the echo between them; "
                    "the echo is cancelled with that difference",
                    *call.clock_difference_ppm));
}

// Notes on a packet capture: the streams, and for each retrain the packets that were lost before it.
void add_rtp(const Call& call, std::vector<std::string>& out) {
  if (const auto& sip = call.recording.sip)
    out.push_back(fmt::format("SIP: {} called {}, Call-ID {}", sip->caller, sip->called, sip->call_id));
  for (const RtpStream& s : call.recording.rtp) {
    out.push_back(fmt::format(
        "channel {}: RTP from {} to {}, {}, {} packets, {} lost, {} reordered, {} duplicates, jitter {:.1f} ms{}",
        s.channel, s.from, s.to, s.codec, s.packets, s.lost, s.reordered, s.duplicates, 1000 * s.jitter_s,
        s.clock_ppm
            ? fmt::format(", clock {:+.1f} +- {:.1f} ppm against the capture", *s.clock_ppm, *s.clock_uncertainty_ppm)
            : std::string()));
  }
  for (const T38Stream& s : call.recording.t38_streams) {
    out.push_back(
        fmt::format("channel {}: T.38 from {} to {}, version {}, {} packets, {} lost, {} more made up for by "
                    "redundant packets",
                    s.channel, s.from, s.to, s.version, s.packets, s.lost, s.recovered));
  }
  constexpr double kDetectionS = 6;  // from the loss to INFO1a, or to the S of a renegotiation
  const auto add_cause = [&](const char* what, double t) {
    const RtpEvent* last = nullptr;
    for (const RtpStream& s : call.recording.rtp) {
      for (const RtpEvent& e : s.events) {
        if (e.what != kTelephoneEvent && e.t < t && t - e.t < kDetectionS && (last == nullptr || e.t > last->t))
          last = &e;
      }
    }
    if (last != nullptr)
      out.push_back(fmt::format("{} at {:.1f} s: {} at {:.1f} s ({})", what, t, last->what, last->t, last->detail));
  };
  for (std::size_t k = 1; k < call.trainings.size(); ++k) add_cause("retrain", call.trainings[k].info1a_t);
  for (const Change& c : call.changes()) {
    if (c.kind != Change::Kind::kCleardown)
      add_cause(c.kind == Change::Kind::kRetrain ? "retrain" : "rate renegotiation", c.t);
  }
}

// The most INFO0 that a modem sent in one Phase 2. INFO0 behind its INFO1 begins another start-up, and in another
// channel it is an echo.
int most_info0(const StartUp& s, int carrier_hz, int channel) {
  int most = 0, here = 0;
  double last = 0;
  for (const InfoHeard& i : s.info) {
    if (i.carrier_hz != carrier_hz || i.channel != channel) continue;
    if (!i.is_info0() || i.t0 - last > kOnePhase2S) here = 0;
    here += i.is_info0();
    last = i.t0;
    most = std::max(most, here);
  }
  return most;
}

}  // namespace

std::vector<std::string> notes(const Call& call) {
  const StartUp& s = call.start_up;
  std::vector<std::string> out;
  add_recording(call.recording, out);
  add_clocks(call, out);
  add_rtp(call, out);
  if (!s.v8.quick_connect.empty()) out.emplace_back("V.92 Quick Connect: QC1 or QCA1 among the octets of V.8");
  for (const AnswerToneHeard& a : s.answer_tones) {
    if (a.kind == AnswerToneHeard::Kind::kAnspcm)
      out.push_back(fmt::format("ANSpcm of V.92: {:.2f} Hz without AM, channel {}", a.frequency_hz, a.channel));
  }
  if (s.info.empty()) return out;
  const auto count = [&](int carrier_hz, bool info0) {
    return std::count_if(s.info.begin(), s.info.end(),
                         [&](const InfoHeard& i) { return i.carrier_hz == carrier_hz && i.is_info0() == info0; });
  };
  const auto call0 = count(v34::kDpskCallHz, true), answer0 = count(v34::kDpskAnswerHz, true);
  const int call_most = most_info0(s, v34::kDpskCallHz, s.channel_1200),
            answer_most = most_info0(s, v34::kDpskAnswerHz, s.channel_2400);
  if (call_most > 1 || answer_most > 1) {
    out.push_back(fmt::format("INFO0 repeated (V.34 11.2.2): {} of the call modem, {} of the answer modem", call_most,
                              answer_most));
  }
  const auto missing = [&](const char* name, long heard) {
    if (heard == 0) out.push_back(fmt::format("no {} with a good CRC", name));
  };
  if (s.channel_1200 >= 0) missing("INFO0c", call0);
  if (s.channel_2400 >= 0) missing("INFO0a", answer0);
  if (s.channel_1200 >= 0) missing("INFO1c", count(v34::kDpskCallHz, false));
  if (s.channel_2400 >= 0) missing("INFO1a", count(v34::kDpskAnswerHz, false));
  return out;
}

}  // namespace offhook::decode
