// SPDX-License-Identifier: MIT
//
// How characters become command lines (V.250 5.2): "AT", a body and the character of S3; or "A/" for the last body once
// more. All of it is one table; characters that no row of the state takes are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace offhook::modem {

class AtLine {
 public:
  static constexpr std::size_t kMax = 255;  ///< octets of a body; V.250 5.2.1 requires at least 40

  enum class State : std::uint8_t {
    kOutside,  ///< no prefix yet
    kPrefix,   ///< "A" has come
    kBody,
    kOverlong  ///< more than kMax octets arrived
  };
  enum class Event : std::uint8_t {
    kLetterA,
    kLetterT,
    kSlash,
    kEnd,    ///< S3
    kErase,  ///< S5
    kFull,   ///< a character for which there is no room
    kCharacter,
    kAny
  };
  enum class Action : std::uint8_t { kNone, kClear, kAppend, kErase, kRun, kRepeat, kRefuse };

  struct Transition {
    State state;
    Event event;
    Action action;
    State next;
    std::string_view clause;  ///< of V.250
  };
  /// The first row with this state whose event occurs is used.
  static constexpr Transition kTransitions[] = {
      {State::kOutside, Event::kLetterA, Action::kNone, State::kPrefix, "5.2.1"},
      {State::kPrefix, Event::kLetterA, Action::kNone, State::kPrefix, "5.2.1"},
      {State::kPrefix, Event::kLetterT, Action::kClear, State::kBody, "5.2.1"},
      {State::kPrefix, Event::kSlash, Action::kRepeat, State::kOutside, "5.2.4"},
      {State::kPrefix, Event::kAny, Action::kNone, State::kOutside, "5.2.1"},
      {State::kBody, Event::kEnd, Action::kRun, State::kOutside, "5.2.1"},
      {State::kBody, Event::kErase, Action::kErase, State::kBody, "5.2.2"},
      {State::kBody, Event::kFull, Action::kNone, State::kOverlong, "5.2.1"},
      {State::kBody, Event::kCharacter, Action::kAppend, State::kBody, "5.2.2"},
      {State::kOverlong, Event::kEnd, Action::kRefuse, State::kOutside, "5.2.1"},
  };

  /// One character. @param end, erase  S3 and S5
  /// @return kRun: execute body(); kRepeat: execute the same body again; kRefuse: the line was too long; otherwise the
  /// action that was taken
  Action put(char c, char end, char erase);
  /// The last complete body.
  std::string_view body() const { return body_; }
  State state() const { return state_; }

 private:
  bool is(Event event, char c, char end, char erase) const;
  State state_ = State::kOutside;
  std::string line_, body_;
};

}  // namespace offhook::modem
