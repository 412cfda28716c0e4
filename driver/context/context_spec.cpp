// SPDX-License-Identifier: MIT
#include "driver/context/context_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "driver/context/name_table.h"

namespace offhook {

namespace {

constexpr int kMostTicks = 1024;
constexpr double kLeastMs = 0.001, kMostMs = 4000;

struct Forms {
  NameTable<ContextForm, OH_CONTEXT_LAST + 1> by_word;
  NameTable<int, OH_CONTEXT_LAST + 1> by_key;
  std::mutex mutex;  // both tables get the same numbers

  // In the order of enum oh_context_kind.
  Forms() {
    using A = ContextArgument;
    for (const ContextForm& form : {
             ContextForm{"INT", "interrupt", A::kNone, 0, 0, "", "the interrupt routine"},
             ContextForm{"DPC", "dpc", A::kNone, 0, 0, "Windows NT", "a deferred procedure call"},
             ContextForm{"THR", "thread", A::kPriority, 1, 255, "Windows NT", "a thread at this priority"},
             ContextForm{"RES", "reservation", A::kReservation, 0, 0, "", "a thread with X of every Y of CPU time"},
             ContextForm{"THREADED", "threaded", A::kNone, 0, 0, "Linux", "the interrupt's handler as a thread"},
             ContextForm{"SOFTIRQ", "softirq", A::kNone, 0, 0, "Linux", "deferred work"},
             ContextForm{"FIFO", "fifo", A::kPriority, 1, 99, "Linux", "SCHED_FIFO"},
             ContextForm{"RR", "round-robin", A::kPriority, 1, 99, "Linux", "SCHED_RR"},
             ContextForm{"WORKER", "worker", A::kNone, 0, 0, "", "a worker thread of normal priority"},
             ContextForm{"OTHER", "normal", A::kNice, -20, 19, "Linux", "SCHED_OTHER, at this nice value"},
         }) {
      add(form);
    }
  }
  int add(const ContextForm& form) {
    const std::lock_guard lock(mutex);
    if (by_key.find(form.key) >= 0) throw std::invalid_argument("the key \"" + form.key + "\" is taken");
    const int kind = by_word.add(form.word, form);
    by_key.add(form.key, kind);
    return kind;
  }
};

Forms& forms() {
  static Forms all;
  return all;
}

/// The text of a context, word by word.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { skip(); }

  bool more() const { return at_ < text_.size(); }
  std::string_view peek() const { return text_.substr(at_, text_.find(' ', at_) - at_); }
  /// Takes the next `n` characters of the current word.
  void take(std::size_t n) { at_ += n; }
  void end_word() {
    if (more() && text_[at_] != ' ') fail("a space or the end");
    skip();
  }
  void end() {
    if (more() && text_[at_ - 1] != ' ') end_word();
    if (more()) fail("nothing more");
  }
  [[noreturn]] void fail(const std::string& expected) const {
    std::string shown(text_);
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    throw std::invalid_argument("\"" + shown + "\" is not a valid context: at character " + std::to_string(at_ + 1) +
                                (more() ? "" : ", its end,") + " expected " + expected);
  }
  int whole(int least, int most) {
    int value = 0;
    const std::string_view word = peek();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || value < least || value > most)
      fail("a whole number, " + std::to_string(least) + " to " + std::to_string(most));
    take(static_cast<std::size_t>(end - word.data()));
    return value;
  }
  /// "2.5ms" in ns; nothing if there is no such number at this position.
  std::optional<std::int64_t> time() {
    double ms = 0;
    const std::string_view word = peek();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), ms, std::chars_format::fixed);
    const std::string_view unit(end, static_cast<std::size_t>(word.data() + word.size() - end));
    if (error != std::errc() || !unit.starts_with("ms")) return std::nullopt;
    if (!(ms >= kLeastMs && ms <= kMostMs)) fail("a time, 0.001 to 4000 ms");
    take(static_cast<std::size_t>(end - word.data()) + 2);
    return std::llround(ms * 1e6);
  }

 private:
  void skip() { at_ = std::min(text_.find_first_not_of(' ', at_), text_.size()); }

  std::string_view text_;
  std::size_t at_ = 0;
};

void parse_reservation(Words& words, ContextSpec& spec) {
  if (const auto budget = words.time()) {
    if (!words.peek().starts_with('/')) words.fail("/ and a time in ms");
    words.take(1);
    const auto period = words.time();
    if (!period) words.fail("a time in ms, like the first");
    spec.budget_ns = *budget;
    spec.period_ns = *period;
  } else {
    if (!words.more()) words.fail("X/Y in ticks, or Xms/Yms");
    spec.x_ticks = words.whole(1, kMostTicks);
    if (!words.peek().starts_with('/')) words.fail("/ and a number of ticks; or times in ms");
    words.take(1);
    spec.y_ticks = words.whole(1, kMostTicks);
  }
  words.end_word();
  spec.strict = words.peek() == "strict";
  if (spec.strict) words.take(words.peek().size());
}

std::string in_ms(std::int64_t ns) {
  std::string fraction = std::to_string(1'000'000 + ns % 1'000'000).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return std::to_string(ns / 1'000'000) + (fraction.empty() ? "" : "." + fraction) + "ms";
}

}  // namespace

ContextSpec ContextSpec::parse(std::string_view text) {
  Words words(text);
  const std::string_view word = words.peek();
  const int kind = find_context_form(word);
  if (kind < 0) words.fail("one of " + context_usage());
  words.take(word.size());
  words.end_word();
  ContextSpec spec;
  spec.kind = static_cast<oh_context_kind>(kind);
  const ContextForm& form = context_form(spec.kind);
  switch (form.argument) {
    case ContextArgument::kNone:
      break;
    case ContextArgument::kPriority:
      spec.priority = words.whole(form.least, form.most);
      break;
    case ContextArgument::kNice:
      if (words.more()) spec.nice = words.whole(form.least, form.most);
      break;
    case ContextArgument::kReservation:
      parse_reservation(words, spec);
      break;
  }
  words.end();
  return spec;
}

std::string ContextSpec::str() const {
  const ContextForm& form = context_form(kind);
  std::string text = form.word;
  const auto number = [&](int n) { text.append(1, ' ').append(std::to_string(n)); };
  if (form.argument == ContextArgument::kPriority) number(priority);
  if (form.argument == ContextArgument::kNice && nice != 0) number(nice);
  if (form.argument == ContextArgument::kReservation) {
    text.append(1, ' ').append(in_ticks() ? std::to_string(x_ticks) : in_ms(budget_ns));
    text.append(1, '/').append(in_ticks() ? std::to_string(y_ticks) : in_ms(period_ns));
    if (strict) text += " strict";
  }
  return text;
}

double ContextSpec::share() const {
  return in_ticks() ? static_cast<double>(x_ticks) / y_ticks
                    : static_cast<double>(budget_ns) / static_cast<double>(period_ns);
}

std::string ContextForm::usage() const {
  const std::string range = std::to_string(least) + ".." + std::to_string(most);
  if (argument == ContextArgument::kPriority) return word + " " + range;
  if (argument == ContextArgument::kNice) return word + " [" + range + "]";
  if (argument == ContextArgument::kReservation) return word + " X/Y [strict] (ticks), " + word + " Xms/Yms";
  return word;
}

oh_context_kind add_context_form(ContextForm form) {
  if (form.word.empty() ||
      !std::all_of(form.word.begin(), form.word.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
    throw std::invalid_argument("\"" + form.word + "\" cannot name a context; expected a word of capital letters");
  return static_cast<oh_context_kind>(forms().add(form));
}

int find_context_form(std::string_view word) {
  return forms().by_word.find(word);
}

const ContextForm& context_form(oh_context_kind kind) {
  return forms().by_word[kind];
}

std::span<const std::string_view> context_keys() {
  return forms().by_key.names();
}

std::string context_usage(std::span<const oh_context_kind> kinds) {
  std::string all;
  const auto say = [&](const ContextForm& form) { all += (all.empty() ? "" : ", ") + form.usage(); };
  for (const oh_context_kind kind : kinds) say(context_form(kind));
  for (int k = 0; kinds.empty() && k < static_cast<int>(context_keys().size()); k++)
    say(context_form(static_cast<oh_context_kind>(k)));
  return all;
}

std::string not_of_this_host(const ContextSpec& spec, std::string_view host, std::span<const oh_context_kind> runs) {
  const std::string& system = context_form(spec.kind).system;
  return spec.str() + (system.empty() ? " cannot run here" : " is " + system + (system.back() == 's' ? "'" : "'s")) +
         "; this host is " + std::string(host) + ": " + context_usage(runs);
}

}  // namespace offhook
