// SPDX-License-Identifier: MIT
//
// What modems of other makes do in Phases 2 to 4, in data mode, renegotiations and cleardowns of V.34: the procedures
// of clauses 10 and 11 as recorded calls show them. What our own modem does is held against the same clauses elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include "tests/unit/src/decode/call/recorded_calls.h"

namespace offhook::decode {
namespace {

constexpr const char* kWays[] = {"call_to_answer", "answer_to_call"};

// Every call in which both directions have V.34 training.
void each_call(const std::function<void(const std::string& file, const Json& call)>& check) {
  int calls = 0;
  const Json all = Json::parse(std::ifstream(kCalls / "truth.json"));
  for (const auto& [file, truth] : all.items()) {
    if (truth["modulation"] != "V.34" || own(file)["verdict"]["technology"] != "V.34") continue;
    SCOPED_TRACE(file);
    check(file, own(file));
    ++calls;
  }
  EXPECT_GE(calls, 9);
}

// One direction of each training of each call, and the other one.
void each_way(const std::function<void(const Json& side, const Json& far, bool answer)>& check) {
  each_call([&](const std::string&, const Json& call) {
    for (const Json& training : call["trainings"]) {
      for (int answer = 0; answer < 2; ++answer) {
        SCOPED_TRACE(kWays[answer]);
        check(training[kWays[answer]], training[kWays[1 - answer]], answer != 0);
      }
    }
  });
}

// The n-th segment of a training that is no renegotiation.
const Json& phase(const Json& side, std::size_t n) {
  return side["segments"].at(n - 3);
}

double begins(const Json& segment) {
  return segment.contains("s") ? segment["s"]["start_s"].get<double>() : segment["trn"]["start_s"].get<double>();
}

constexpr int kLeastTrn = 512;                      // 10.1.3.8
constexpr double kMostTrnS = 2, kRoundTripS = 0.3;  // 11.4.1.1.2, and what the network adds at most
constexpr double kClearlyAlike = 0.9;

// Figures 19 and 20, clauses 11.3 and 11.4.
TEST(ForeignProcedures, PhaseThreeIsSThenPpThenTrnThenJTheAnswerModemFirst) {
  NEEDS_RECORDINGS();
  each_way([](const Json& side, const Json& far, bool answer) {
    const Json& own3 = phase(side, 3);
    const Json& far3 = phase(far, 3);
    ASSERT_TRUE(own3.contains("s") && own3.contains("pp_s") && own3.contains("j"));
    EXPECT_GT(own3["s"]["correlation"].get<double>(), kClearlyAlike);
    EXPECT_EQ(own3["trn"]["points"], 4);
    EXPECT_GE(own3["trn"]["symbols"].get<int>(), kLeastTrn);
    EXPECT_LT(own3["trn"]["end_s"].get<double>() - own3["trn"]["start_s"].get<double>(), kMostTrnS);
    EXPECT_GE(own3["j"]["start_s"].get<double>(), own3["trn"]["end_s"].get<double>());
    if (answer) return;
    // The call modem begins when it has found J, and the answer modem then ends it.
    EXPECT_GT(begins(own3), far3["j"]["start_s"].get<double>());
    EXPECT_GT(own3["trn"]["start_s"].get<double>(), far3["j"]["end_s"].get<double>() - kRoundTripS);
  });
}

TEST(ForeignProcedures, PhaseFourIsTrnThenMpThenMpWithTheAcknowledgeBitThenEThenData) {
  NEEDS_RECORDINGS();
  each_way([](const Json& side, const Json& far, bool answer) {
    const Json& four = phase(side, 4);
    const Json& far4 = phase(far, 4);
    EXPECT_EQ(four.contains("s"), answer) << "only the answer modem sends S again";
    if (answer) {
      EXPECT_GT(begins(four), phase(far, 3)["j"]["start_s"].get<double>());
    } else {
      EXPECT_GT(four["trn"]["start_s"].get<double>(), begins(far4));
    }
    EXPECT_GE(four["trn"]["symbols"].get<int>(), kLeastTrn);
    EXPECT_LT(four["trn"]["end_s"].get<double>() - four["trn"]["start_s"].get<double>(), kMostTrnS + kRoundTripS);
    ASSERT_FALSE(four["mp"].empty());
    EXPECT_GE(four["mp"][0]["start_s"].get<double>(), four["trn"]["end_s"].get<double>());
    // MP' acknowledges: the far MP has come by then.
    for (const Json& mp : four["mp"]) {
      if (mp["acknowledge"] == true) {
        EXPECT_GT(mp["end_s"].get<double>(), far4["mp"][0]["start_s"].get<double>());
      }
    }
    ASSERT_TRUE(four.contains("e"));
    EXPECT_GT(four["e"]["start_s"].get<double>(), far4["mp"][0]["start_s"].get<double>());
    EXPECT_NEAR(four["e"]["start_s"].get<double>(), four["mp"].back()["end_s"].get<double>(), 0.001);
    ASSERT_FALSE(side["data"].empty());
    EXPECT_NEAR(side["data"][0]["start_s"].get<double>(), four["e"]["end_s"].get<double>(), 0.02);
    EXPECT_GT(side["data"][0]["b1_match"].get<double>(), 0.99);
    EXPECT_FALSE(side["data"][0]["frames"].empty());
  });
}

// 10.1.3.3: J speaks for the far transmitter, and for Phase 4 alone.
TEST(ForeignProcedures, TrnOfPhaseFourHasThePointsThatTheFarEndsJAskedFor) {
  NEEDS_RECORDINGS();
  std::set<int> seen;
  each_way([&](const Json& side, const Json& far, bool) {
    const int asked = phase(far, 3)["j"]["points"].get<int>();
    EXPECT_EQ(phase(side, 4)["trn"]["points"].get<int>(), asked);
    seen.insert(asked);
  });
  EXPECT_EQ(seen, (std::set<int>{4, 16}));
}

// Table 20: the far receiver's MP governs the transmitter. Data that are whole frames were coded so.
TEST(ForeignProcedures, DataAreCodedWithTheTrellisShapingAndEncoderThatTheFarEndsMpAsksFor) {
  NEEDS_RECORDINGS();
  std::set<int> states;
  std::set<bool> shaping;
  int unlike = 0;
  each_way([&](const Json& side, const Json& far, bool) {
    const Json& asked = phase(far, 4)["mp"][0];
    const Json& data = side["data"][0];
    EXPECT_EQ(data["trellis_states"], asked["trellis_states"]);
    EXPECT_EQ(data["nonlinear"], asked["nonlinear"]);
    EXPECT_FALSE(data["frames"].empty());
    states.insert(data["trellis_states"].get<int>());
    shaping.insert(asked["expanded_shaping"].get<bool>());
    unlike += phase(side, 4)["mp"][0]["trellis_states"] != asked["trellis_states"];
  });
  EXPECT_EQ(states, (std::set<int>{16, 32, 64}));
  EXPECT_EQ(shaping, (std::set<bool>{false, true}));
  EXPECT_GT(unlike, 0);
}

// 9.6.2: MP of type 0 brings no coefficients and leaves those that were sent before.
TEST(ForeignProcedures, ThePrecoderIsKeptWhereARenegotiationsMpBringsNone) {
  NEEDS_RECORDINGS();
  const Json& call = own("conexant-rh56sp-33600-33600.wav")["trainings"].back();
  const Json& start = phase(call["answer_to_call"], 4)["mp"][0];
  ASSERT_EQ(start["type"], 1);
  double energy = 0;
  for (const Json& tap : start["precoder"]) energy += std::norm(Cd(tap[0].get<double>(), tap[1].get<double>()));
  EXPECT_GT(energy, 1e-4);
  EXPECT_EQ(call["answer_to_call"]["segments"][2]["mp"][0]["type"], 0);
  ASSERT_GE(call["call_to_answer"]["data"].size(), 2u);
  const Json& after = call["call_to_answer"]["data"][1];
  EXPECT_GT(after["b1_match"].get<double>(), 0.99);
  EXPECT_GE(after["frames"].size(), 5u);
  EXPECT_EQ(after["bad_frames"], 0);
}

double power_db(const std::vector<float>& x, double from_s, double to_s) {
  double sum = 0;
  const auto from = static_cast<std::size_t>(from_s * kRateHz), to = static_cast<std::size_t>(to_s * kRateHz);
  for (std::size_t i = from; i < to && i < x.size(); ++i) sum += static_cast<double>(x[i]) * x[i];
  return 10 * std::log10(sum / static_cast<double>(to - from));
}

// 10.1.3, note, with precoding and the non-linear encoder on. The text gives no tolerance.
TEST(ForeignProcedures, PowerInDataIsThatOfTraining) {
  NEEDS_RECORDINGS();
  int directions = 0;
  each_call([&](const std::string& file, const Json& call) {
    const Recording r = read_recording(kCalls / file);
    const Json& training = call["trainings"][0];
    for (const char* way : kWays) {
      const Json& side = training[way];
      const std::vector<float>& x = r.channel[side["channel"].get<std::size_t>()];
      const Json& trn = phase(side, 4)["trn"];
      const double data = side["data"][0]["start_s"].get<double>() + 0.1;
      EXPECT_NEAR(power_db(x, data, data + 2),
                  power_db(x, trn["start_s"].get<double>() + 0.02, trn["end_s"].get<double>() - 0.02), 0.5)
          << file << ", " << way;
      ++directions;
    }
  });
  EXPECT_GE(directions, 18);
}

bool clears_down(const Json& segment) {
  for (const Json& mp : segment["mp"]) {
    if (mp["call_to_answer_max_bit_rate"] == 0 && mp["answer_to_call_max_bit_rate"] == 0) return true;
  }
  return false;
}

// Clauses 11.6 and 11.7: four points whatever J said; a cleardown is MP with both rates 0, and has no E.
TEST(ForeignProcedures, RenegotiationAndCleardownAreSThenTrnOfFourPointsThenMp) {
  NEEDS_RECORDINGS();
  int renegotiations = 0, cleardowns = 0, without_trn = 0;
  each_way([&](const Json& side, const Json&, bool) {
    for (std::size_t k = 2; k < side["segments"].size(); ++k) {
      const Json& s = side["segments"][k];
      if (s["mp"].empty()) continue;  // a call may end in it
      without_trn += !s.contains("trn");
      if (!s.contains("trn")) continue;
      EXPECT_TRUE(s.contains("s") && s["s"]["correlation"].get<double>() > kClearlyAlike);
      EXPECT_FALSE(s.contains("pp_s"));
      EXPECT_EQ(s["trn"]["points"], 4);
      EXPECT_LT(s["trn"]["end_s"].get<double>() - s["trn"]["start_s"].get<double>(), kMostTrnS);
      EXPECT_GE(s["mp"][0]["start_s"].get<double>(), s["trn"]["end_s"].get<double>());
      if (clears_down(s)) {
        ++cleardowns;
        EXPECT_FALSE(s.contains("e"));
      } else if (s.contains("e")) {
        ++renegotiations;
        EXPECT_EQ(s["mp"].back()["acknowledge"], true);
      }
    }
  });
  EXPECT_GE(renegotiations, 2);
  EXPECT_GE(cleardowns, 9);
  EXPECT_GE(without_trn, 3);  // it may be left out: MP is read all the same
}

const Json* last_info(const Json& call, const std::string& name, double before_s) {
  const Json* last = nullptr;
  for (const Json& info : call["phase2"]["info"]) {
    if (info["name"] == name && info["start_s"].get<double>() < before_s) last = &info;
  }
  return last;
}

// Tables 14 to 16 and their notes.
TEST(ForeignProcedures, Info1aChoosesWhatBothInfo0AndInfo1cAllow) {
  NEEDS_RECORDINGS();
  each_call([](const std::string&, const Json& call) {
    for (const Json& training : call["trainings"]) {
      const double at = training["info1a_s"].get<double>() + 0.001;
      const Json *a = last_info(call, "INFO1a", at), *c = last_info(call, "INFO1c", at),
                 *own0 = last_info(call, "INFO0a", at), *far0 = last_info(call, "INFO0c", at);
      ASSERT_TRUE(a != nullptr && c != nullptr && own0 != nullptr && far0 != nullptr);
      const double down = (*a)["answer_to_call_symbol_rate"].get<double>();
      const double up = (*a)["call_to_answer"]["symbol_rate"].get<double>();
      if (std::min((*own0)["max_symbol_rate_difference"].get<int>(),
                   (*far0)["max_symbol_rate_difference"].get<int>()) == 0) {
        EXPECT_EQ(up, down);
      }
      for (const double rate : {up, down}) {
        if (rate > 3300) {
          EXPECT_TRUE((*own0)["supports_3429"] == true && (*far0)["supports_3429"] == true);
        }
      }
      bool usable = false;
      for (const Json& record : (*c)["symbol_rates"])
        usable |= record["symbol_rate"].get<double>() == down && record["max_bit_rate"].get<int>() > 0;
      EXPECT_TRUE(usable) << "INFO1c has no rate at " << down;
    }
  });
}

// Clause 11.5: tone B from the call modem, then tone A, reversals, probing, INFO1 of both, and no INFO0.
TEST(ForeignProcedures, ARetrainFromTheCallModemBeginsWithToneBAndHasNoInfo0) {
  NEEDS_RECORDINGS();
  const Json& call = own("banksia-wavesp336-33600-33600.wav");
  ASSERT_EQ(call["trainings"].size(), 2u);
  const double data = call["trainings"][0]["call_to_answer"]["data"][0]["start_s"].get<double>();
  const double again = call["trainings"][1]["info1a_s"].get<double>();
  const auto first_tone = [&](const char* tone) {
    for (const Json& s : call["phase2"][tone]["segments"]) {
      if (s["start_s"].get<double>() > data) return s["start_s"].get<double>();
    }
    return 0.0;
  };
  const double b = first_tone("tone_b"), a = first_tone("tone_a");
  EXPECT_GT(b, data);
  EXPECT_GT(a, b + 0.05);  // tone B for more than 50 ms
  EXPECT_LT(a, again);
  std::vector<std::string> infos;
  for (const Json& info : call["phase2"]["info"]) {
    if (info["start_s"].get<double>() > data) infos.push_back(info["name"]);
  }
  EXPECT_EQ(infos, (std::vector<std::string>{"INFO1c", "INFO1a"}));
}

}  // namespace
}  // namespace offhook::decode
