// SPDX-License-Identifier: MIT
#include "driver/tty/at_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace offhook::modem {
namespace {

using State = AtLine::State;
using Event = AtLine::Event;
using Action = AtLine::Action;
constexpr char kEnd = '\r', kErase = '\b';

/// The text that brings a new line into each state.
std::string way_to(State state) {
  const std::map<State, std::string> ways = {{State::kOutside, ""},
                                             {State::kPrefix, "a"},
                                             {State::kBody, "AT"},
                                             {State::kOverlong, "AT" + std::string(AtLine::kMax + 1, 'X')}};
  return ways.at(state);
}

struct Step {
  State state;
  char c;
  Action action;
  State next;
};

/// By hand, independent of the table: what V.250 5.2 and common modems require.
const std::vector<Step> kSteps = {
    {State::kOutside, 'A', Action::kNone, State::kPrefix},
    {State::kOutside, 'a', Action::kNone, State::kPrefix},
    {State::kOutside, 'T', Action::kNone, State::kOutside},
    {State::kOutside, kEnd, Action::kNone, State::kOutside},
    {State::kPrefix, 'A', Action::kNone, State::kPrefix},
    {State::kPrefix, 't', Action::kClear, State::kBody},
    {State::kPrefix, '/', Action::kRepeat, State::kOutside},
    {State::kPrefix, kEnd, Action::kNone, State::kOutside},
    {State::kPrefix, 'x', Action::kNone, State::kOutside},
    {State::kBody, kEnd, Action::kRun, State::kOutside},
    {State::kBody, kErase, Action::kErase, State::kBody},
    {State::kBody, 'A', Action::kAppend, State::kBody},
    {State::kBody, '\n', Action::kNone, State::kBody},
    {State::kOverlong, kEnd, Action::kRefuse, State::kOutside},
    {State::kOverlong, kErase, Action::kNone, State::kOverlong},
    {State::kOverlong, 'A', Action::kNone, State::kOverlong},
};

TEST(AtLine, TakesEachCharacterInEachStateAsV250Says) {
  for (const Step& step : kSteps) {
    AtLine line;
    for (const char c : way_to(step.state)) line.put(c, kEnd, kErase);
    ASSERT_EQ(line.state(), step.state);
    EXPECT_EQ(line.put(step.c, kEnd, kErase), step.action) << int(step.state) << " '" << step.c << "'";
    EXPECT_EQ(line.state(), step.next) << int(step.state) << " '" << step.c << "'";
  }
}

TEST(AtLine, TheCharacterAfterAFullLineMakesItOverlong) {
  AtLine line;
  for (const char c : "AT" + std::string(AtLine::kMax, 'X')) line.put(c, kEnd, kErase);
  EXPECT_EQ(line.state(), State::kBody);
  EXPECT_EQ(line.put('X', kEnd, kErase), Action::kNone);
  EXPECT_EQ(line.state(), State::kOverlong);
}

TEST(AtLine, NoRowOfTheTableIsUntested) {
  std::set<std::pair<State, Event>> rows;
  for (const AtLine::Transition& t : AtLine::kTransitions) {
    EXPECT_TRUE(rows.insert({t.state, t.event}).second) << "two rows for one event";
    const bool stepped = std::any_of(kSteps.begin(), kSteps.end(), [&t](const Step& s) {
      return s.state == t.state && s.action == t.action && s.next == t.next;
    });
    EXPECT_TRUE(stepped || t.event == Event::kFull) << int(t.state) << " " << int(t.event);
  }
}

TEST(AtLine, RepeatsTheLastWholeLineWhateverCameSince) {
  AtLine line;
  for (const char c : std::string("ATS0=1\r") + "AT" + std::string(300, 'X') + "\r") line.put(c, kEnd, kErase);
  line.put('A', kEnd, kErase);
  EXPECT_EQ(line.put('/', kEnd, kErase), Action::kRepeat);
  EXPECT_EQ(line.body(), "S0=1");
}

TEST(AtLine, EndsAndErasesWithTheCharactersOfS3AndS5) {
  AtLine line;
  for (const char c : std::string("ATXY!")) line.put(c, '#', '!');
  EXPECT_EQ(line.put('#', '#', '!'), Action::kRun);
  EXPECT_EQ(line.body(), "X");
}

}  // namespace
}  // namespace offhook::modem
