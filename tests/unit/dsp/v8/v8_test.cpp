// SPDX-License-Identifier: MIT
// The V.8 procedure of both roles, checklist section 6.
#include "dsp/v8/v8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/v34/phase2/info_detector.h"

namespace offhook::v8 {
namespace {

Menu all_modes() {
  Menu menu;
  menu.call_function = CallFunction::kData;
  menu.modulations = kV34 | kV32bis | kV22bis;
  menu.has_protocol = true;
  menu.protocol = kProtocolLapm;
  return menu;
}

Config config(oh_pump_role role, Menu menu = all_modes()) {
  Config c;
  c.role = role;
  c.menu = menu;
  return c;
}

/// Two ends and a line with delay, noise and near echo; each end may be a script.
struct Call {
  Call(const Config& call_config, const Config& answer_config) : call(call_config), answer(answer_config) {}
  int delay = 80;
  double noise_rms = 1;
  float echo = 0.2f;
  std::function<float(int64_t, float)> to_call, to_answer;
  V8 call, answer;
  std::vector<float> sent_call, sent_answer;
  int64_t now = 0;

  void run(
      double seconds, const std::function<bool()>& done = [] { return false; }) {
    for (const int64_t end = now + static_cast<int64_t>(seconds * 8000); now < end && !done(); ++now) {
      const auto heard = [&](const std::vector<float>& far, const std::vector<float>& own) {
        const float far_sample = now >= delay ? 0.3f * far[static_cast<size_t>(now - delay)] : 0;
        const float near = now >= 8 ? echo * own[static_cast<size_t>(now - 8)] : 0;
        return far_sample + near + static_cast<float>(noise_rms * normal(random));
      };
      sent_call.push_back(0), sent_answer.push_back(0);
      float a = heard(sent_answer, sent_call), b = heard(sent_call, sent_answer);
      if (to_call) a = to_call(now, a);
      if (to_answer) b = to_answer(now, b);
      sent_call.back() = call.process(a);
      sent_answer.back() = answer.process(b);
    }
  }
  bool both_ended() const { return call.state() != State::kRunning && answer.state() != State::kRunning; }

  std::mt19937 random{1};
  std::normal_distribution<double> normal;
};

/// Intervals of sound in the sent signal: beginning and end in seconds; gaps under 20 ms do not count.
std::vector<std::pair<double, double>> sounds(const std::vector<float>& x) {
  std::vector<std::pair<double, double>> all;
  for (size_t n = 0; n < x.size(); ++n) {
    if (std::abs(x[n]) < 1) continue;
    const double t = static_cast<double>(n) / 8000;
    if (all.empty() || t > all.back().second + 0.02) all.push_back({t, t});
    all.back().second = t;
  }
  return all;
}

std::vector<Octet> octets_of(const std::vector<float>& x, Channel channel) {
  FskReceiver receiver(channel);
  std::vector<Octet> all;
  Octet octet;
  for (const float v : x) {
    if (receiver.put(v, &octet)) all.push_back(octet);
  }
  for (int n = 0; n < 200; ++n) {
    if (receiver.put(0, &octet)) all.push_back(octet);
  }
  return all;
}

TEST(V8, BothEndsSettleOnV34OverAnyDelayAndDownTo10dB) {
  for (const int delay : {0, 80, 1200, 4800}) {
    for (const double snr_db : {60., 10.}) {
      Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
      c.delay = delay + 1;
      c.noise_rms = 0.3 * dbm0_to_rms(-12 - snr_db);
      c.run(20, [&] { return c.both_ended(); });
      ASSERT_EQ(c.call.state(), State::kDone) << delay << ' ' << snr_db;
      ASSERT_EQ(c.answer.state(), State::kDone);
      EXPECT_EQ(c.call.result().modulation, kV34);
      EXPECT_EQ(c.answer.result().modulation, kV34);
      EXPECT_EQ(c.call.result().joint, all_modes());
      EXPECT_EQ(c.answer.result().far, all_modes());
      EXPECT_FALSE(c.answer.result().cj_lost);
    }
  }
}

// Checklist V8-2, V8-7, V8-8, V8-4: the times of the whole procedure, as sent.
TEST(V8, V8_2_4_7_8_TimesOfAnErrorFreeCall) {
  Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
  c.run(20, [&] { return c.both_ended(); });
  const double answer_end = static_cast<double>(c.now) / 8000;
  const auto call = sounds(c.sent_call), answer = sounds(c.sent_answer);
  ASSERT_EQ(call.size(), 1u);    // CM and CJ without a break
  ASSERT_EQ(answer.size(), 1u);  // ANSam and JM without a break
  EXPECT_GE(answer[0].first, 0.2);
  EXPECT_LT(answer[0].first, 0.21);
  const double detected = call[0].first - 1;  // Te = 1 s after ANSam was detected
  EXPECT_GT(detected, answer[0].first);
  EXPECT_LT(detected, answer[0].first + 0.4);
  EXPECT_NEAR(answer_end - answer[0].second, 0.075, 0.005);  // the answerer ends last: its silence is 75 +- 5 ms
  // The caller's CJ is three octets of zeros, begun after a stop bit.
  const auto octets = octets_of(c.sent_call, Channel::kLow);
  ASSERT_GE(octets.size(), 8u);
  for (size_t k = octets.size() - 3; k < octets.size(); ++k) EXPECT_EQ(octets[k].value, 0);
  EXPECT_EQ(octets[octets.size() - 1].ones_before, 0);
  EXPECT_EQ(octets[octets.size() - 2].ones_before, 0);
  EXPECT_NE(octets[octets.size() - 4].value, 0);
  // When the whole CJ was received, JM stops.
  EXPECT_GT(answer[0].second, call[0].second);
  EXPECT_LT(answer[0].second, call[0].second + 0.02) << answer[0].second - call[0].second;
}

// Another octet of the menu would have arrived ten bits after the last one. After fifteen bits there is none, and JM
// begins before the first octet of the next CM is complete.
TEST(V8, JmBeginsFifteenBitsAfterTheSecondCm) {
  Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
  FskReceiver receiver(Channel::kLow);
  AnsamGenerator ansam(-12, true);
  Octet octet;
  int64_t last = 0, jm = 0;
  const size_t before = 1600;  // silence, as in 8.2.1
  c.to_answer = [&](int64_t now, float x) {
    if (receiver.put(x, &octet)) last = now;
    return x;
  };
  c.run(20, [&] {
    if (c.sent_answer.size() <= before) return false;
    if (c.sent_answer.back() == ansam.next()) return false;
    jm = c.now - 1;
    return true;
  });
  ASSERT_GT(jm, 0);
  EXPECT_NEAR(static_cast<double>(jm - last), 15 * 8000. / 300, 4);
}

TEST(V8, V8_7_TheCallerIsSilentFor75msAfterCj) {
  Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
  c.run(20, [&] { return c.call.state() != State::kRunning; });
  const auto call = sounds(c.sent_call);
  EXPECT_NEAR(static_cast<double>(c.now) / 8000 - call.back().second, 0.075, 0.005);
}

// Checklist V8-2: no response to ANSam.
TEST(V8, V8_2_AnsamLasts5sWithoutCmThen75msOfSilence) {
  Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
  c.to_answer = [](int64_t, float) { return 0; };
  c.run(10, [&] { return c.answer.state() != State::kRunning; });
  EXPECT_EQ(c.answer.state(), State::kAnswerTone);
  const auto answer = sounds(c.sent_answer);
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_NEAR(answer[0].second - answer[0].first, 5, 1);
  EXPECT_NEAR(static_cast<double>(c.now) / 8000 - answer[0].second, 0.075, 0.005);
}

// Checklist V8-3.
TEST(V8, V8_3_CiHasItsCadenceAndStopsAtTheAnswerTone) {
  Config with_ci = config(OH_PUMP_CALL);
  with_ci.call_indicator = true;
  Call c(with_ci, config(OH_PUMP_ANSWER));
  c.echo = 0;
  c.to_call = [](int64_t n, float x) { return n < 48000 ? 0 : x; };
  c.run(12, [&] { return c.both_ended(); });
  const auto call = sounds(c.sent_call);
  ASSERT_GE(call.size(), 3u);
  EXPECT_GE(call[0].first, 0.999);
  for (size_t k = 0; k + 2 < call.size(); ++k) {
    EXPECT_GE(call[k].second - call[k].first, 3 * 0.1 - 0.001);
    EXPECT_LE(call[k].second - call[k].first, 2.0);
    EXPECT_GE(call[k + 1].first - call[k].second, 0.4);
    EXPECT_LE(call[k + 1].first - call[k].second, 2.0);
  }
  const std::vector<Octet> octets = octets_of(c.sent_call, Channel::kLow);
  EXPECT_EQ(octets[0].value, kSyncCi);
  EXPECT_GE(octets[0].ones_before, 9);
  EXPECT_EQ(octets[1].value, 0xC1);
  EXPECT_EQ(octets[2].value, kSyncCi);
  EXPECT_EQ(octets[2].ones_before, 10);
}

// Checklist V8-4: plain ANS does not cause a CM.
TEST(V8, V8_4_PlainAnsBringsNoCm) {
  Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
  Oscillator tone(2100);
  int64_t last_reversal = 0;
  float peak = 2000;
  c.to_call = [&](int64_t n, float) {
    if (n - last_reversal == 3600) peak = -peak, last_reversal = n;
    return peak * tone.next().re;
  };
  c.run(6, [&] { return c.call.state() != State::kRunning; });
  EXPECT_EQ(c.call.state(), State::kAnswerTone);
  EXPECT_TRUE(sounds(c.sent_call).empty());
}

/// The answerer's part as a script, from a clean line: silence, ANSam, then the bits of V.21's upper channel.
class ScriptedAnswerer {
 public:
  ScriptedAnswerer(int64_t ansam_from, int64_t bits_from) : ansam_from_(ansam_from), bits_from_(bits_from) {}
  void copy(std::vector<uint8_t> octets) {
    bits_.insert(bits_.end(), 10, 1);
    octets.insert(octets.begin(), kSyncCm);
    for (const uint8_t octet : octets) {
      bits_.push_back(0);
      for (int k = 0; k < 8; ++k) bits_.push_back(octet >> k & 1);
      bits_.push_back(1);
    }
  }
  void rest(int bits) { bits_.insert(bits_.end(), static_cast<size_t>(bits), 1); }
  /// When the last bit so far was sent.
  int64_t end() const { return bits_from_ + static_cast<int64_t>(bits_.size()) * 8000 / 300; }
  float next(int64_t now) {
    if (now < ansam_from_) return 0;
    if (now < bits_from_) return ansam_.next();
    return modulator_.next([this] { return at_ < bits_.size() ? bits_[at_++] : 1; });
  }

 private:
  int64_t ansam_from_, bits_from_;
  std::vector<uint8_t> bits_;
  size_t at_ = 0;
  AnsamGenerator ansam_{-18, true};
  FskModulator modulator_{Channel::kHigh, -18};
};

const std::vector<uint8_t> kCm = {0xC1, 0x45, 0x13, 0x94, 0x2A}, kJm = {0xC1, 0x45, 0x13, 0x10, 0x2A};

Config caller_of(const std::vector<uint8_t>& cm) {
  Config c = config(OH_PUMP_CALL);
  decode(cm.data(), static_cast<int>(cm.size()), &c.menu);
  return c;
}

// Checklist C2; V.8 8.1.2: after two identical JM the caller completes its octet, and CJ follows immediately. The
// second JM ends at each place of a CM.
TEST(V8, C2_CjFollowsTheOctetInWhichTwoIdenticalJmWereComplete) {
  const auto cm_bits = static_cast<int>(10 + 10 * (kCm.size() + 1));
  for (int shift = 0; shift < 2 * cm_bits; shift += 3) {
    ScriptedAnswerer answerer(1600, 24000 + shift * 8000 / 600);
    answerer.copy(kJm);
    answerer.copy(kJm);
    Call c(caller_of(kCm), config(OH_PUMP_ANSWER));
    c.to_call = [&](int64_t now, float) { return answerer.next(now); };
    c.run(20, [&] { return c.call.state() != State::kRunning; });
    ASSERT_EQ(c.call.state(), State::kDone) << shift;
    const auto sent = sounds(c.sent_call);
    ASSERT_EQ(sent.size(), 1u);
    const std::vector<Octet> octets = octets_of(c.sent_call, Channel::kLow);
    std::vector<uint8_t> whole = kCm;
    whole.insert(whole.begin(), kSyncCm);
    ASSERT_GT(octets.size(), 3u);
    const size_t cj = octets.size() - 3;
    int bits = 0;  // until CJ
    for (size_t k = 0; k < cj; ++k) {
      EXPECT_EQ(octets[k].value, whole[k % whole.size()]) << shift << ' ' << k;
      bits += (k % whole.size() == 0 ? 10 : 0) + 10;
    }
    for (size_t k = cj; k < octets.size(); ++k) {
      EXPECT_EQ(octets[k].value, 0);
      EXPECT_EQ(octets[k].ones_before, 0) << shift;
    }
    // V.21 at 300 bit/s without a break; CJ's 30 bits are last.
    EXPECT_NEAR((sent[0].second - sent[0].first) * 300, bits + 30, 1) << shift;
    // The octet where the second JM's end was detected, 15 bits after its last; a new CM begins with 10 ones.
    const double waited = (sent[0].second - static_cast<double>(answerer.end()) / 8000) * 300 - 30;
    EXPECT_GT(waited, 0) << shift;
    EXPECT_LT(waited, 15 + 20 + 1 + FskReceiver::kDelaySamples * 300. / 8000) << shift;
  }
}

// Checklist C2: one JM is not enough, nor are two that differ.
TEST(V8, C2_CmContinuesUntilTwoIdenticalJmHaveCome) {
  const std::vector<uint8_t> other = {0xC1, 0x45, 0x10, 0x10, 0x2A};
  const struct {
    std::vector<std::vector<uint8_t>> copies;
    bool enough;
  } cases[] = {{{}, false}, {{kJm}, false}, {{kJm, other}, false}, {{kJm, kJm}, true}, {{other, kJm, kJm}, true}};
  for (const auto& menus : cases) {
    ScriptedAnswerer answerer(1600, 24000);
    for (const auto& octets : menus.copies) answerer.copy(octets);
    Call c(caller_of(kCm), config(OH_PUMP_ANSWER));
    c.to_call = [&](int64_t now, float) { return answerer.next(now); };
    c.run(10, [&] { return c.call.state() != State::kRunning; });
    EXPECT_EQ(c.call.state(), menus.enough ? State::kDone : State::kRunning) << menus.copies.size();
    EXPECT_EQ(c.call.step(), menus.enough ? V8::Step::kEnd : V8::Step::kCm);
  }
}

/// When a caller with `c` begins CM, s, and its other signals. `tone`: the line towards it.
template <class Tone>
std::vector<std::pair<double, double>> sent_by_caller(const Config& c, double seconds, const Tone& tone) {
  Call call(c, config(OH_PUMP_ANSWER));
  call.to_call = tone;
  call.run(seconds);
  return sounds(call.sent_call);
}

// Checklist V8-4; 8.1.1: Te of 1 s, which switches off echo cancellers, after the detection of ANSam. ANSam counts as
// detected after the shortest duration that causes a CM.
TEST(V8, V8_4_CmBegins1sAfterTheShortestAnsamThatIsDetected) {
  constexpr int kFrom = 4000;
  const auto ansam = [](int length) {
    return [length, generator = AnsamGenerator(-18, true)](int64_t now, float) mutable {
      return now < kFrom || now >= kFrom + length ? 0.f : generator.next();
    };
  };
  int none = 0, enough = 8000;
  while (enough - none > 1) {
    const int length = (none + enough) / 2;
    (sent_by_caller(config(OH_PUMP_CALL), 4, ansam(length)).empty() ? none : enough) = length;
  }
  ASSERT_GT(enough, 800) << "a tone of less than 100 ms is no ANSam: three halves of a period of 15 Hz";
  const auto sent = sent_by_caller(config(OH_PUMP_CALL), 4, ansam(40000));
  ASSERT_FALSE(sent.empty());
  const double te = sent[0].first - static_cast<double>(kFrom + enough) / 8000;
  EXPECT_GE(te, 1);
  EXPECT_LT(te, 1.02) << "the detector's filters";
}

// Checklist V8-4; 8.1.1: with a call signal Te begins at its end. CI stops at the first 2100 Hz, and CM comes 1 s after
// ANSam was distinguished from ANS.
TEST(V8, V8_4_CmBegins1sAfterTheCallSignal) {
  Config with_ci = config(OH_PUMP_CALL);
  with_ci.call_indicator = true;
  int cut = 0;
  for (int from = 6000; from <= 18000; from += 500) {
    const auto sent =
        sent_by_caller(with_ci, 6, [from, generator = AnsamGenerator(-18, true)](int64_t now, float) mutable {
          return now < from ? 0.f : generator.next();
        });
    ASSERT_GE(sent.size(), 1u);
    const double cm = sent.back().first;
    EXPECT_GE(cm - static_cast<double>(from) / 8000, 1) << from;
    if (sent.size() == 1) continue;  // no CI yet
    const auto& ci = sent[sent.size() - 2];
    EXPECT_GE(cm - ci.second, 1) << from;
    if (ci.second - ci.first > 0.39) continue;  // it had ended by itself
    ++cut;
    EXPECT_LT(cm - ci.second, 1.25) << from;
  }
  EXPECT_GE(cut, 3);
}

TEST(V8, V8_4_TeIsWhatWasConfigured) {
  for (const float te : {0.5f, 1.0f, 1.5f}) {
    Config c0 = config(OH_PUMP_CALL);
    c0.silence_before_cm_s = te;
    Call c(c0, config(OH_PUMP_ANSWER));
    double detected = 0;
    c.run(20, [&] {
      if (detected == 0 && c.call.step() == V8::Step::kTe) detected = static_cast<double>(c.now) / 8000;
      return c.both_ended();
    });
    EXPECT_NEAR(sounds(c.sent_call)[0].first - detected, static_cast<double>(te), 0.002);
  }
}

// Checklist V8-6, V8-9: the modes of both ends, and the result.
TEST(V8, V8_6_JmHoldsWhatBothCanDoInAsManyModulationOctets) {
  struct {
    uint16_t call, answer, selected;
  } const cases[] = {{kV34 | kV32bis, kV32bis | kV22bis, kV32bis},
                     {kV34 | kV22bis | kV21, kV34 | kV21, kV34},
                     {kV34, kV22bis, 0},
                     {kPcm | kV34, kV34, kV34}};
  for (const auto& modes : cases) {
    Menu call = all_modes(), answer = all_modes();
    call.modulations = modes.call, answer.modulations = modes.answer;
    Call c(config(OH_PUMP_CALL, call), config(OH_PUMP_ANSWER, answer));
    c.run(20, [&] { return c.both_ended(); });
    ASSERT_EQ(c.call.state(), State::kDone);
    ASSERT_EQ(c.answer.state(), State::kDone);
    EXPECT_EQ(c.call.result().modulation, modes.selected);
    EXPECT_EQ(c.answer.result().modulation, modes.selected);
    EXPECT_EQ(c.call.result().joint.modulations, modes.call & modes.answer);
    uint8_t sent[kMaxMenuOctets];
    const int cm_octets = encode(call, sent);
    Menu far;
    const int modulation_octets = decode(sent, cm_octets, &far);
    // The content of JM on the line between two synchronizations.
    const auto jm = octets_of(c.sent_answer, Channel::kHigh);
    std::vector<uint8_t> one;
    size_t k = 0;
    while (jm[k].value != kSyncCm) ++k;
    for (++k; jm[k].value != kSyncCm; ++k) one.push_back(jm[k].value);
    Menu read;
    EXPECT_EQ(decode(one.data(), static_cast<int>(one.size()), &read), modulation_octets);
    EXPECT_EQ(read.modulations, modes.call & modes.answer);
  }
}

/// A caller with any menu: its octets after ANSam, repeatedly.  @return JM, or nothing within 12 s
std::vector<uint8_t> answer_to(std::vector<uint8_t> cm, const Menu& own, float echo = 0) {
  cm.insert(cm.begin(), kSyncCm);
  V8 answer(config(OH_PUMP_ANSWER, own));
  FskModulator modulator(Channel::kLow, -18);
  std::vector<float> line, jm;
  size_t bit = 0;
  for (int n = 0; n < 12 * 8000 && jm.size() < 8000; ++n) {
    const float x = n < 12000 ? 0 : modulator.next([&]() -> int {
      const size_t k = bit++ % (10 + 10 * cm.size());
      if (k < 10) return 1;
      const size_t in_octet = k % 10;
      return in_octet == 0 ? 0 : in_octet == 9 ? 1 : cm[k / 10 - 1] >> (in_octet - 1) & 1;
    });
    line.push_back(x);
    const float tx = answer.process(x + (n >= 24 ? echo * line[static_cast<size_t>(n - 24)] : 0));
    if (answer.step() == V8::Step::kJm) jm.push_back(tx);
  }
  std::vector<uint8_t> one;
  bool in_menu = false;
  for (const Octet& octet : octets_of(jm, Channel::kHigh)) {
    if (octet.value == kSyncCm && !one.empty()) break;
    if (in_menu) one.push_back(octet.value);
    in_menu |= octet.value == kSyncCm;
  }
  return one;
}

// 5.2, 6.6: non-standard facilities may have any length.
TEST(V8, AMenuOfAnyLengthIsAnswered) {
  const std::vector<uint8_t> jm = answer_to({0xC1, 0x45, 0x13, 0x94, 0x2A}, all_modes());
  ASSERT_EQ(jm, (std::vector<uint8_t>{0xC1, 0x45, 0x13, 0x10, 0x2A}));
  for (const size_t length : {1U, 11U, 12U, 20U, 40U}) {
    std::vector<uint8_t> cm = {0xC1, 0x45, 0x13, 0x94, 0x2A, 0x0F};
    for (size_t k = 0; k < length; ++k) cm.push_back(static_cast<uint8_t>(0x10 | (k & 7) | (k & 3) << 6));
    EXPECT_EQ(answer_to(cm, all_modes()), jm) << length;
  }
}

// 7.4, 8.2.3: in response to an unavailable call function, JM has this end's own, no modulation and no PCM category.
TEST(V8, ACallFunctionThatIsNotAvailableGetsNoModulation) {
  Menu own = all_modes();
  own.has_pcm = own.has_access = true;
  own.pcm = kPcmAnalogue;
  own.modulations |= kPcm;
  for (const CallFunction function : {CallFunction::kMultimedia, CallFunction::kTextphone, CallFunction::kVideotext,
                                      CallFunction::kTransmitFax, CallFunction::kReceiveFax}) {
    const auto callf = static_cast<uint8_t>(kCallFunction | static_cast<int>(function) << 5);
    EXPECT_EQ(answer_to({callf, 0x65, 0x13, 0x10, 0x0D, 0x27}, own),
              (std::vector<uint8_t>{0xC1, 0x05, 0x10, 0x10, 0x0D}))
        << int(function);
  }
}

// 7.4: the caller's cellular bit is repeated, and nothing else makes an analogue-network modem send the category.
TEST(V8, TheCallersCellularBitIsRepeated) {
  EXPECT_EQ(answer_to({0xC1, 0x45, 0x13, 0x2A, 0x2D}, all_modes()),
            (std::vector<uint8_t>{0xC1, 0x45, 0x13, 0x2A, 0x2D}));
  EXPECT_EQ(answer_to({0xC1, 0x45, 0x13, 0x2A, 0x8D}, all_modes()), (std::vector<uint8_t>{0xC1, 0x45, 0x13, 0x2A}));
}

// One echo 3 ms later lowers the contrast of the same bits in every repetition, but the framing is correct.
TEST(V8, AnEchoOfACmTakesNoOctetFromIt) {
  const std::vector<uint8_t> cm = {0xC1, 0x65, 0x13, 0x94, 0x2A, 0x0D, 0x27};
  Menu own = all_modes();
  for (const float echo : {0.3f, 0.5f, 0.6f})
    EXPECT_EQ(answer_to(cm, own, echo), (std::vector<uint8_t>{0xC1, 0x45, 0x13, 0x10, 0x2A})) << echo;
}

// Repetitions are combined, because in noise of this level successive copies are rarely equal.
TEST(V8, AMenuIsReadOverNoiseThatDamagesMostOfItsCopies) {
  int agreed = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
    c.random.seed(seed);
    c.to_answer = [&](int64_t, float x) { return x + static_cast<float>(0.3 * dbm0_to_rms(-8) * c.normal(c.random)); };
    c.run(12, [&] { return c.answer.step() == V8::Step::kJm || c.answer.state() != State::kRunning; });
    c.to_answer = nullptr;
    c.run(12, [&] { return c.both_ended(); });
    agreed += c.answer.result().far == all_modes();
  }
  EXPECT_GE(agreed, 18);
}

TEST(V8, NoiseIsNoMenu) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
    c.random.seed(seed);
    c.to_answer = [&](int64_t, float) { return static_cast<float>(3000 * c.normal(c.random)); };
    c.run(12, [&] { return c.answer.state() != State::kRunning; });
    EXPECT_EQ(c.answer.state(), State::kAnswerTone) << seed;
  }
}

// JM has LAPM if both ends have it.
TEST(V8, V8_6_AProtocolIsInJmWhereBothNamedIt) {
  for (const bool calls : {false, true}) {
    for (const bool answers : {false, true}) {
      Menu call = all_modes(), answer = all_modes();
      call.has_protocol = calls, answer.has_protocol = answers;
      Call c(config(OH_PUMP_CALL, call), config(OH_PUMP_ANSWER, answer));
      c.run(20, [&] { return c.both_ended(); });
      EXPECT_EQ(c.call.result().joint.has_protocol, calls && answers);
      EXPECT_EQ(c.answer.result().joint.has_protocol, calls && answers);
    }
  }
  Menu other = all_modes();
  other.protocol = 7;
  Call c(config(OH_PUMP_CALL, other), config(OH_PUMP_ANSWER));
  c.run(20, [&] { return c.both_ended(); });
  EXPECT_FALSE(c.call.result().joint.has_protocol);
  EXPECT_FALSE(c.answer.result().joint.has_protocol);
}

TEST(V8, V8_6_OneDamagedCmIsNotBelieved) {
  Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
  // A burst of noise in the first CM, and another one later.
  c.to_answer = [&](int64_t n, float x) {
    return (n > 14400 && n < 14600) || (n > 16800 && n < 17000) ? static_cast<float>(3000 * c.normal(c.random)) : x;
  };
  c.run(20, [&] { return c.both_ended(); });
  ASSERT_EQ(c.answer.state(), State::kDone);
  EXPECT_EQ(c.answer.result().far, all_modes());
  EXPECT_EQ(c.call.result().modulation, kV34);
}

// Checklist V8-8: CJ is lost; then the caller's INFO0c, or the absence of CM, ends JM.
TEST(V8, V8_8_LostCjIsReplacedByTheCallersInfo0OrByTheLongAbsenceOfCm) {
  for (const bool info0 : {true, false}) {
    Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
    bool cj = false;
    int64_t cj_at = 0;
    DpskModulator modulator(v34::phase2_signal(v34::kDpskCallHz, -20, -7));
    v34::SigCDetector sig_c;
    uint8_t bits[v34::Info0::kBits];
    encode(v34::Info0{}, bits);
    int at = 0;
    c.to_answer = [&](int64_t n, float x) -> float {
      if (!cj && c.call.step() == V8::Step::kCj) cj = true, cj_at = n;
      if (!cj) return x;
      if (!info0) return 0;
      if (n == cj_at + 1400) modulator.bits();
      const float heard = modulator.next([&] { return at < v34::Info0::kBits ? bits[at++] : -1; });
      if (sig_c.put(heard)) c.answer.far_end_has_begun();
      return heard;
    };
    c.run(20, [&] { return c.both_ended(); });
    ASSERT_EQ(c.answer.state(), State::kDone);
    EXPECT_TRUE(c.answer.result().cj_lost);
    EXPECT_EQ(c.answer.result().modulation, kV34);
    const double waited = static_cast<double>(c.now - cj_at) / 8000;
    if (info0) {
      EXPECT_LT(waited, 0.4);
    } else {
      EXPECT_NEAR(waited, 2.1, 0.1);
    }
  }
}

// Real modems truncate the third octet of CJ.
TEST(V8, TwoOctetsOfCjAndSilenceDo) {
  Call c(config(OH_PUMP_CALL), config(OH_PUMP_ANSWER));
  int64_t cj_at = 0;
  c.to_answer = [&](int64_t n, float x) -> float {
    if (cj_at == 0 && c.call.step() == V8::Step::kCj) cj_at = n;
    return cj_at != 0 && n > cj_at + 80 + 25 * 8000 / 300 ? 0 : x;
  };
  c.run(20, [&] { return c.both_ended(); });
  ASSERT_EQ(c.answer.state(), State::kDone);
  EXPECT_FALSE(c.answer.result().cj_lost);
}

}  // namespace
}  // namespace offhook::v8
