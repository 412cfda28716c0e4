// SPDX-License-Identifier: MIT
#include "traces/import/perf_sched.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "driver/base/line_reader.h"
#include "traces/import/load_builder.h"
#include "traces/import/load_file.h"
#include "traces/import/softirq_names.h"

namespace offhook::traces {

using hostsim::HostLoad;
using hostsim::Ns;
using Kind = HostLoad::Kind;
using Type = KernelEvent::Type;

namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::size_t kLongestLine = 4096;  // the search for its fields is cached

template <typename Number>
std::optional<Number> whole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trim(std::string_view s) {
  const std::size_t begin = s.find_first_not_of(" \t\r");
  return begin == kNone ? std::string_view{} : s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

/// "26053.993346" or, with --ns, "26053.993346387", in ns.
std::optional<Ns> seconds(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == kNone || text.size() - point - 1 > 9) return std::nullopt;
  const auto s = whole<std::int64_t>(text.substr(0, point));
  auto fraction = whole<std::int64_t>(text.substr(point + 1));
  if (!s || !fraction || *s < 0 || *s > std::numeric_limits<Ns>::max() / 2'000'000'000 || *fraction < 0) return {};
  for (std::size_t digits = text.size() - point - 1; digits < 9; ++digits) *fraction *= 10;
  return *s * 1'000'000'000 + *fraction;
}

/// The text after "key=", up to " until", or else up to the next blank.
std::optional<std::string_view> field(std::string_view text, std::string_view key, std::string_view until = " ") {
  for (std::size_t at = text.find(key); at != kNone; at = text.find(key, at + 1)) {
    if (at > 0 && text[at - 1] != ' ') continue;
    const std::size_t begin = at + key.size();
    return text.substr(begin, std::min(text.find(until, begin), text.size()) - begin);
  }
  return std::nullopt;
}

class Line {
 public:
  Line(const std::string& name, std::size_t number, std::string_view text)
      : name_(name), number_(number), text_(text) {}

  /// Event name and rest of the line, if this line is an event.
  bool parse() {
    // COMM PID [CPU] TIME: EVENT: ...; comm can have blanks and brackets: the last "[digits]" before a time counts.
    for (std::size_t open = text_.find(" ["); open != kNone; open = text_.find(" [", open + 1)) {
      const std::size_t close = text_.find("] ", open);
      if (close == kNone) return false;
      const auto number = whole<int>(text_.substr(open + 2, close - open - 2));
      const std::size_t colon = text_.find(": ", close);
      if (!number || colon == kNone) continue;
      const std::string_view when = trim(text_.substr(close + 2, colon - close - 2));
      const auto t = seconds(when.substr(when.rfind(' ') + 1));  // flags of trace-cmd and ftrace can precede it
      if (!t) continue;
      cpu = *number;
      time = *t;
      const std::string_view rest = trim(text_.substr(colon + 2));
      const std::size_t end = std::min(rest.find(": "), rest.size());
      event = rest.substr(0, end);
      if (event.ends_with(':')) event.remove_suffix(1);
      if (const std::size_t system = event.rfind(':'); system != kNone) event.remove_prefix(system + 1);
      arguments = end < rest.size() ? trim(rest.substr(end + 2)) : std::string_view{};
      return true;
    }
    return false;
  }
  [[noreturn]] void fail(std::string_view expected) const {
    throw TraceError(fmt::format("{}:{}: expected {}", name_, number_, expected));
  }

  std::string_view text(std::string_view key, std::string_view until = " ") const {
    const auto found = field(arguments, key, until);
    if (!found) fail(fmt::format("{}... in {}", key, event));
    return *found;
  }
  int number(std::string_view key) const {
    const auto value = whole<int>(text(key));
    if (!value) fail(fmt::format("a whole number after {} in {}", key, event));
    return *value;
  }

  int cpu = 0;
  Ns time = 0;
  std::string_view event, arguments;

 private:
  const std::string& name_;
  std::size_t number_;
  std::string_view text_;
};

/// "kworker/0:1:1234 [120] S": the short form of newer tools.
KernelEvent::Thread short_thread(const Line& line, std::string_view text) {
  const std::size_t open = text.find(" ["), close = text.find(']', open);
  const std::size_t colon = text.substr(0, open).rfind(':');
  if (open != kNone && close != kNone && colon != kNone) {
    const auto pid = whole<int>(text.substr(colon + 1, open - colon - 1));
    const auto prio = whole<int>(text.substr(open + 2, close - open - 2));
    if (pid && prio) return {std::string(text.substr(0, colon)), *pid, *prio};
  }
  line.fail("COMM:PID [PRIO] on both sides of ==> in sched_switch");
}

void take_switch(const Line& line, KernelEvent& event) {
  event.type = Type::kSwitch;
  if (line.arguments.starts_with("prev_comm=")) {
    event.thread = {std::string(line.text("prev_comm=", " prev_pid=")), line.number("prev_pid="),
                    line.number("prev_prio=")};
    event.next = {std::string(line.text("next_comm=", " next_pid=")), line.number("next_pid="),
                  line.number("next_prio=")};
    return;
  }
  const std::size_t arrow = line.arguments.find(" ==> ");
  if (arrow == kNone) line.fail("prev ==> next in sched_switch");
  event.thread = short_thread(line, line.arguments.substr(0, arrow));
  event.next = short_thread(line, line.arguments.substr(arrow + 5));
}

KernelEvent event_of(const Line& line, std::map<int, std::string>& irqs) {
  KernelEvent event;
  event.time = line.time;
  event.cpu = line.cpu;
  if (line.event == "sched_switch") {
    take_switch(line, event);
  } else if (line.event == "irq_handler_entry") {
    event.type = Type::kEnter;
    event.name = irqs[line.number("irq=")] = line.text("name=", "\n");
  } else if (line.event == "irq_handler_exit") {
    event.type = Type::kLeave;
    event.name = irqs[line.number("irq=")];
  } else if (line.event == "softirq_entry" || line.event == "softirq_exit") {
    event.type = line.event == "softirq_entry" ? Type::kEnter : Type::kLeave;
    event.kind = Kind::kSoftirq;
    event.name = softirq_name(std::uint64_t(line.number("vec=")));
  } else if (line.event == "hrtimer_expire_entry") {
    event.type = Type::kTimerEnter;
  } else if (line.event == "hrtimer_expire_exit") {
    event.type = Type::kTimerLeave;
  } else if (line.arguments.starts_with("vector=")) {  // irq_vectors: local_timer_entry, reschedule_exit ...
    if (line.event.ends_with("_entry")) {
      event.type = Type::kEnter;
      event.name = line.event.substr(0, line.event.size() - 6);
    } else if (line.event.ends_with("_exit")) {
      event.type = Type::kLeave;
      event.name = line.event.substr(0, line.event.size() - 5);
    }
  }
  return event;
}

/// Lines that are not events: comments, and the head that `trace-cmd report` prints before the first event.
bool is_preamble(std::string_view line) {
  return line.empty() || line.starts_with('#') || line.starts_with("cpus=") || line.starts_with("version = ") ||
         (line.starts_with("CPU ") && line.ends_with(" is empty"));
}

}  // namespace

std::size_t read_perf_sched(std::string_view text, const std::string& name,
                            const std::function<void(const KernelEvent&)>& take) {
  std::map<int, std::string> irqs;
  std::map<int, Ns> before;
  LineReader lines{text};
  while (const auto whole_line = lines.next()) {
    Line line(name, lines.number, *whole_line);
    if (is_preamble(trim(*whole_line))) continue;
    if (whole_line->size() > kLongestLine) line.fail(fmt::format("at most {} characters in a line", kLongestLine));
    if (!line.parse()) line.fail("COMM PID [CPU] TIME: EVENT: ..., as perf sched script prints");
    if (line.cpu < 0 || line.cpu > kMostCpu) line.fail(fmt::format("a CPU of 0 to {}", kMostCpu));
    const auto [last, fresh] = before.try_emplace(line.cpu, line.time);
    if (line.time < last->second) line.fail("a time that does not precede the last one on this CPU");
    last->second = line.time;
    if (const KernelEvent event = event_of(line, irqs); event.type != Type::kOther) take(event);
  }
  return lines.number;
}

HostLoad import_perf_sched(std::string_view text, const std::string& name, const std::vector<std::string>& without) {
  LoadBuilder builder(without);
  const std::size_t lines =
      read_perf_sched(text, name, [&builder](const KernelEvent& event) { add_to(builder, event); });
  if (builder.events() == 0) throw TraceError(fmt::format("{}:{}: expected sched_switch events", name, lines));
  return builder.finish(name);
}

std::string PerfSchedWriter::line(const KernelEvent& e) {
  const auto at = [&e](std::string_view event) {
    return fmt::format("{} {} [{:03}] {}.{:09}: {}: ", e.thread.name.empty() ? "-" : e.thread.name, e.thread.pid, e.cpu,
                       e.time / 1'000'000'000, e.time % 1'000'000'000, event);
  };
  const bool entry = e.type == Type::kEnter;
  switch (e.type) {
    case Type::kSwitch:
      return at("sched:sched_switch") +
             fmt::format("prev_comm={} prev_pid={} prev_prio={} ==> next_comm={} next_pid={} next_prio={}\n",
                         e.thread.name, e.thread.pid, e.thread.prio, e.next.name, e.next.pid, e.next.prio);
    case Type::kEnter:
    case Type::kLeave:
      if (e.kind == Kind::kSoftirq) {
        const auto vector = std::find(kSoftirqNames.begin(), kSoftirqNames.end(), e.name) - kSoftirqNames.begin();
        return at(entry ? "irq:softirq_entry" : "irq:softirq_exit") +
               fmt::format("vec={} [action={}]\n", vector, e.name);
      } else {
        const std::size_t irq = irqs_.try_emplace(e.name, irqs_.size()).first->second;
        return entry ? at("irq:irq_handler_entry") + fmt::format("irq={} name={}\n", irq, e.name)
                     : at("irq:irq_handler_exit") + fmt::format("irq={} ret=handled\n", irq);
      }
    case Type::kTimerEnter:
      return at("timer:hrtimer_expire_entry") + "\n";
    case Type::kTimerLeave:
      return at("timer:hrtimer_expire_exit") + "\n";
    case Type::kOther:
    case Type::kWaking:
    case Type::kSoftirqRaise:
      break;
  }
  return "";
}

}  // namespace offhook::traces
