// SPDX-License-Identifier: MIT
//
// What two ends that want different error control come to, over real pumps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/user_modem/modem.h"
#include "driver/user_modem/modulations.h"
#include "tests/sim/calls.h"

namespace offhook::modem {
namespace {

constexpr std::size_t kBlock = 80;

/// Two ends connected by four wires, with some loss and no noise.
struct Pair {
  Pair(const oh_pump_type* ops, const oh_link_config& call, const oh_link_config& answer)
      : ends{make(ops, OH_PUMP_CALL, call), make(ops, OH_PUMP_ANSWER, answer)} {
    for (auto& end : ends) end->start();
  }
  static std::unique_ptr<Modem> make(const oh_pump_type* ops, oh_pump_role role, const oh_link_config& link) {
    return std::make_unique<Modem>(Modem::Config{.pump = ops, .role = role, .link = link});
  }
  void step() {
    std::array<std::array<std::int16_t, kBlock>, 2> next;
    for (std::size_t i = 0; i < 2; ++i) {
      std::array<std::uint8_t, 64> bytes;
      sent[i] += ends[i]->write(file[i].data() + sent[i], std::min<std::size_t>(64, file[i].size() - sent[i]));
      ends[i]->process(wire[1 - i].data(), next[i].data(), kBlock);
      const std::size_t n = ends[i]->read(bytes.data(), bytes.size());
      received[i].insert(received[i].end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    }
    for (auto& samples : next) {
      for (auto& s : samples) s = static_cast<std::int16_t>(s / 4);
    }
    wire = next;
  }
  /// Both files have arrived, in order and complete; in direct mode, other data may precede them.
  bool complete() const {
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& came = received[i];
      const auto& wanted = file[1 - i];
      if (std::search(came.begin(), came.end(), wanted.begin(), wanted.end()) == came.end()) return false;
    }
    return true;
  }
  bool run(double seconds) {
    for (int i = 0; i < seconds * 8000 / kBlock; ++i) {
      if (i % 100 == 0 && complete()) return true;
      step();
    }
    return complete();
  }
  std::array<std::unique_ptr<Modem>, 2> ends;
  std::array<std::array<std::int16_t, kBlock>, 2> wire{};
  std::array<std::vector<std::uint8_t>, 2> file{test::random_file(500), test::random_file(700)}, received;
  std::array<std::size_t, 2> sent{};
};

oh_link_config compressed(oh_error_control mode) {
  return {.error_control = mode, .compression = 3};
}

constexpr auto kNone = OH_ERROR_CONTROL_NONE, kOptional = OH_ERROR_CONTROL_OPTIONAL,
               kRequired = OH_ERROR_CONTROL_REQUIRED;

class ErrorControlOf : public testing::TestWithParam<Modulation> {};

TEST_P(ErrorControlOf, OptionalMeetsOptionalOrRequiredUnderV42) {
  for (const auto far : {kOptional, kRequired}) {
    Pair pair(GetParam().type(), compressed(kOptional), compressed(far));
    ASSERT_TRUE(pair.run(60));
    for (const auto& end : pair.ends) {
      EXPECT_FALSE(end->direct());
      EXPECT_EQ(end->lapm_status().state, OH_LAPM_CONNECTED);
      EXPECT_EQ(end->lapm_status().compression, 3);
    }
    EXPECT_EQ(pair.received[0], pair.file[1]);
    EXPECT_EQ(pair.received[1], pair.file[0]);
  }
}

TEST_P(ErrorControlOf, NoneCarriesStartStopCharactersAndOptionalFallsBackToThem) {
  for (const auto call : {kNone, kOptional}) {
    for (const auto answer : {kNone, kOptional}) {
      if (call == kOptional && answer == kOptional) continue;
      SCOPED_TRACE(testing::Message() << "call " << int{call} << " answer " << int{answer});
      Pair pair(GetParam().type(), compressed(call), compressed(answer));
      // While one end still searches for V.42, data from the other are lost, as with every modem.
      const auto files = pair.file;
      pair.file = {};
      for (int i = 0; i < 3000 && !(pair.ends[0]->direct() && pair.ends[1]->direct() &&
                                    pair.ends[0]->pump_status().state == OH_PUMP_DATA &&
                                    pair.ends[1]->pump_status().state == OH_PUMP_DATA);
           ++i) {
        pair.step();
      }
      for (int i = 0; i < 50; ++i) pair.step();
      pair.file = files;
      EXPECT_TRUE(pair.run(60));
      for (const auto& end : pair.ends) {
        EXPECT_TRUE(end->direct());
        EXPECT_EQ(end->failure(), "");
      }
    }
  }
}

// A far end from before V.42, in both roles; against the end that also has V.42, and against one without either.
TEST_P(ErrorControlOf, MnpIsUsedIfTheFarEndHasNoV42) {
  constexpr unsigned kMnp = OH_PROTOCOL_MNP, kBoth = OH_PROTOCOL_V42 | OH_PROTOCOL_MNP;
  for (const auto& [call, answer, mnp_class] :
       {std::array<unsigned, 3>{kBoth, kMnp, 4}, {kMnp, kBoth, 2}, {kBoth, kMnp, 5}}) {
    oh_link_config links[] = {compressed(kOptional), compressed(kRequired)};
    links[0].protocols = call;
    links[1].protocols = answer;
    links[1].mnp_class = mnp_class;
    Pair pair(GetParam().type(), links[0], links[1]);
    ASSERT_TRUE(pair.run(60)) << pair.ends[0]->failure() << pair.ends[1]->failure();
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_FALSE(pair.ends[i]->direct());
      EXPECT_EQ(pair.ends[i]->lapm_status().mnp_class, mnp_class);
      EXPECT_EQ(pair.ends[i]->lapm_status().compression, mnp_class == 5 ? 3 : 0);
      EXPECT_EQ(pair.received[i], pair.file[1 - i]);
    }
    for (auto& end : pair.ends) end->hang_up();
    for (int i = 0; i < 400; ++i) pair.step();
    for (const auto& end : pair.ends) EXPECT_TRUE(end->hung_up());
  }
}

TEST_P(ErrorControlOf, MnpThatFindsNothingFallsBackOrSaysSo) {
  oh_link_config link = compressed(kOptional);
  link.protocols = OH_PROTOCOL_V42 | OH_PROTOCOL_MNP;
  Pair optional(GetParam().type(), link, compressed(kNone));
  const auto files = optional.file;
  optional.file = {};
  for (int i = 0; i < 4000 && !optional.ends[0]->direct(); ++i) optional.step();
  optional.file = files;
  EXPECT_TRUE(optional.run(60));
  EXPECT_TRUE(optional.ends[0]->direct());
  link.error_control = kRequired;
  Pair required(GetParam().type(), link, compressed(kNone));
  EXPECT_FALSE(required.run(60));
  EXPECT_EQ(required.ends[0]->failure(), "found neither V.42 nor MNP at the other end");
}

TEST_P(ErrorControlOf, RequiredAndNoneIsNoConnection) {
  Pair pair(GetParam().type(), compressed(kRequired), compressed(kNone));
  EXPECT_FALSE(pair.run(60));
  EXPECT_EQ(pair.ends[0]->failure(), "found no V.42 at the other end");
}

std::vector<Modulation> rows(bool with_v42) {
  std::vector<Modulation> some;
  std::copy_if(
      std::begin(kModulations), std::end(kModulations), std::back_inserter(some),
      [with_v42](const Modulation& m) { return (m.v42_window > 0) == with_v42 && takes(*m.type(), kLinear8000); });
  return some;
}
std::string name_of(const testing::TestParamInfo<Modulation>& p) {
  return p.param.name;
}

INSTANTIATE_TEST_SUITE_P(Pumps, ErrorControlOf, testing::ValuesIn(rows(true)), name_of);

class WithoutV42 : public testing::TestWithParam<Modulation> {};

TEST_P(WithoutV42, OptionalIsDirectAtOnceAndTheFilesAreWhole) {
  Pair pair(GetParam().type(), compressed(kOptional), compressed(kOptional));
  const auto files = pair.file;
  pair.file = {};
  for (int i = 0; i < 2000 && !(pair.ends[0]->direct() && pair.ends[1]->direct()); ++i) pair.step();
  pair.file = files;
  // The slower direction, ten bits per character, and the data before it.
  EXPECT_TRUE(pair.run(10 + 7000.0 / GetParam().min_bit_rate));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(pair.received[i], pair.file[1 - i]) << "and nothing before or after them";
    EXPECT_EQ(pair.ends[i]->failure(), "");
  }
}

TEST_P(WithoutV42, RequiredIsNoConnectionAndSaysWhy) {
  Pair pair(GetParam().type(), compressed(kRequired), compressed(kRequired));
  EXPECT_FALSE(pair.run(15));
  EXPECT_EQ(pair.ends[0]->failure(), "requires V.42, which does not run over this modulation");
}

TEST_P(WithoutV42, AutomodeDoesNotOfferItWhereV42IsRequired) {
  Modem::Config config{.pump = kModulations.back().type(), .role = OH_PUMP_CALL, .modulations = GetParam().id};
  EXPECT_THROW(Modem{config}, std::invalid_argument);
  config.link.error_control = kOptional;
  EXPECT_NO_THROW(Modem{config});
}

INSTANTIATE_TEST_SUITE_P(Pumps, WithoutV42, testing::ValuesIn(rows(false)), name_of);

}  // namespace
}  // namespace offhook::modem
