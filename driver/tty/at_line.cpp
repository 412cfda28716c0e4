// SPDX-License-Identifier: MIT
#include "driver/tty/at_line.h"

namespace offhook::modem {

bool AtLine::is(Event event, char c, char end, char erase) const {
  const bool printed = static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  switch (event) {
    case Event::kLetterA:
      return c == 'A' || c == 'a';
    case Event::kLetterT:
      return c == 'T' || c == 't';
    case Event::kSlash:
      return c == '/';
    case Event::kEnd:
      return c == end;
    case Event::kErase:
      return c == erase;
    case Event::kFull:
      return printed && line_.size() >= kMax;
    case Event::kCharacter:
      return printed;
    case Event::kAny:
      return true;
  }
  return false;
}

AtLine::Action AtLine::put(char c, char end, char erase) {
  for (const Transition& t : kTransitions) {
    if (t.state != state_ || !is(t.event, c, end, erase)) continue;
    state_ = t.next;
    if (t.action == Action::kClear) line_.clear();
    if (t.action == Action::kAppend) line_ += c;
    if (t.action == Action::kErase && !line_.empty()) line_.pop_back();
    if (t.action == Action::kRun) body_ = line_;
    return t.action;
  }
  return Action::kNone;
}

}  // namespace offhook::modem
