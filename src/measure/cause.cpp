// SPDX-License-Identifier: MIT
#include "src/measure/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "src/measure/ip_samples.h"
#include "src/measure/kernel_trace.h"
#include "traces/import/import.h"

namespace offhook::measure {

using hostsim::HostLoad;
using traces::KernelEvent;
using Type = KernelEvent::Type;

namespace {

constexpr std::size_t kTimelineLines = 200;

double us(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-3;
}

std::string line_of(const KernelEvent& e, std::int64_t due) {
  std::string at = fmt::format("{:>10.1f} us  CPU {}  ", us(e.time - due), e.cpu);
  switch (e.type) {
    case Type::kSwitch:
      return at + fmt::format("switch      {} ({}) -> {} ({})", e.thread.name, e.thread.pid, e.next.name, e.next.pid);
    case Type::kWaking:
      return at + fmt::format("waking      {} ({})", e.thread.name, e.thread.pid);
    case Type::kEnter:
      return at +
             fmt::format("enter       {} {}", e.kind == HostLoad::Kind::kSoftirq ? "softirq" : "interrupt", e.name);
    case Type::kLeave:
      return at +
             fmt::format("leave       {} {}", e.kind == HostLoad::Kind::kSoftirq ? "softirq" : "interrupt", e.name);
    case Type::kSoftirqRaise:
      return at + fmt::format("raise       softirq {}", e.name);
    case Type::kTimerEnter:
      return at + "enter       hrtimer";
    case Type::kTimerLeave:
      return at + "leave       hrtimer";
    case Type::kOther:
      break;
  }
  return at;
}

std::string first_of(const std::vector<Culprit>& culprits, const std::string& but) {
  for (const Culprit& c : culprits) {
    if (c.name == but) continue;
    return c.as.empty() ? fmt::format("the CPU was idle or not traced for {:.1f} us", us(c.ns))
                        : fmt::format("{} {} had the CPU for {:.1f} us", c.as, c.name, us(c.ns));
  }
  return "no other thread had the CPU";
}

}  // namespace

std::vector<Culprit> had_the_cpu(const std::vector<KernelEvent>& events, int cpu, std::int64_t begin,
                                 std::int64_t end) {
  // Events outside are moved to its edges, where they have no duration.
  traces::LoadBuilder builder;
  for (KernelEvent e : events) {
    if (e.cpu != cpu || e.type == Type::kWaking || e.type == Type::kSoftirqRaise) continue;
    e.time = std::clamp(e.time, begin, end);
    add_to(builder, e);
  }
  const HostLoad load = builder.finish("");
  if (load.cpus.empty()) return {};
  std::map<std::pair<std::string, std::string>, std::int64_t> spent;
  std::int64_t known = 0;
  for (const HostLoad::Interval& i : load.cpus.front().intervals) {
    const HostLoad::Source& s = load.sources[i.source];
    spent[{s.name, traces::as_text(s)}] += i.cpu;
    known += i.cpu;
  }
  std::vector<Culprit> all;
  for (const auto& [who, ns] : spent) all.push_back({who.first, who.second, ns});
  if (end - begin > known) all.push_back({"idle, or untraced", "", end - begin - known});
  std::sort(all.begin(), all.end(), [](const Culprit& x, const Culprit& y) { return x.ns > y.ns; });
  return all;
}

void judge(CauseResult& r, const std::vector<KernelEvent>& events, const Wakeup& w, int pid,
           const std::string& thread) {
  r.stages = stages_of(w, events, pid);
  const WakeupStages& s = r.stages;
  const std::string late = fmt::format("{} ran {:.1f} us late", thread, us(s.ran));
  if (s.interrupt < 0 || s.switched < 0) {
    r.verdict = late + ": the trace lacks part of its wake-up";
    for (const KernelEvent& e : events) {
      if (e.time >= w.due && e.time <= w.ran && r.timeline.size() < kTimelineLines)
        r.timeline.push_back(line_of(e, w.due));
    }
    return;
  }
  const auto own = std::find_if(events.begin(), events.end(),
                                [pid](const KernelEvent& e) { return e.type == Type::kSwitch && e.next.pid == pid; });
  const std::string own_name = own == events.end() ? "" : own->next.name;
  r.culprits = had_the_cpu(events, s.cpu, w.due, w.ran);
  for (const KernelEvent& e : events) {
    if (e.cpu == s.cpu && e.time >= w.due && e.time <= w.ran && r.timeline.size() < kTimelineLines)
      r.timeline.push_back(line_of(e, w.due));
  }

  const std::int64_t stage[] = {s.interrupt, s.waking - s.interrupt, s.switched - s.waking, s.ran - s.switched};
  const auto worst = std::max_element(std::begin(stage), std::end(stage)) - std::begin(stage);
  const std::int64_t begin = w.due + (worst == 0 ? 0 : worst == 1 ? s.interrupt : worst == 2 ? s.waking : s.switched);
  const std::vector<Culprit> then = had_the_cpu(events, s.cpu, begin, begin + stage[worst]);
  const std::string share = fmt::format("{:.1f} us of it", us(stage[worst]));
  switch (worst) {
    case 0:
      r.verdict = fmt::format(
          "{}: {} until the timer interrupt came (interrupts off, or the machine itself was not running); meanwhile {}",
          late, share, first_of(then, own_name));
      break;
    case 1:
      r.verdict = fmt::format("{}: {} from the timer interrupt to the wake-up (other timers or interrupts first); {}",
                              late, share, first_of(then, own_name));
      break;
    case 2:
      r.verdict =
          fmt::format("{}: {} runnable, but not switched to; meanwhile {}", late, share, first_of(then, own_name));
      break;
    default:
      r.verdict = fmt::format("{}: {} after it was switched to, on the way back to its code; {}", late, share,
                              first_of(then, own_name));
  }
}

CauseResult measure_cause(const CauseConfig& config, const std::function<bool(const LatencyResult&)>& look) {
  if (config.latency.threshold_ns <= 0) throw std::runtime_error("expected a threshold above 0");
  CauseResult result;
  KernelTrace trace(all_scheduling_events(), kSchedulingRingKb);
  std::unique_ptr<IpSampler> sampler;
  try {
    sampler = std::make_unique<IpSampler>(config.samples_hz);
  } catch (const std::runtime_error& e) {
    if (!config.latency.context.best_effort) throw;
    result.without.push_back(e.what());
  }
  LatencyConfig latency = config.latency;
  latency.begin = [&](int) { trace.on(); };
  latency.at_threshold = [&] {
    trace.off();
    if (sampler) sampler->off();
  };
  result.latency = measure_latency(latency, look);
  result.found = result.latency.over_threshold_ns > 0;
  if (!result.found) return result;

  std::vector<KernelEvent> events;
  trace.read(events);
  result.lost_events = trace.lost();
  const std::int64_t ran = result.latency.over_at_ns;
  const Wakeup wakeup{ran - result.latency.over_threshold_ns, ran};
  judge(result, events, wakeup, result.latency.tid, config.latency.context.str());
  if (sampler && result.stages.cpu >= 0) {
    const KernelSymbols symbols;
    std::map<int, std::string> names;
    for (const KernelEvent& e : events) {
      if (e.type == Type::kSwitch) names[e.thread.pid] = e.thread.name, names[e.next.pid] = e.next.name;
    }
    std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
    for (const IpSample& sample : sampler->read()) {
      if (sample.cpu != result.stages.cpu || sample.time < wakeup.due || sample.time > wakeup.ran) continue;
      const std::string thread = names.contains(sample.pid) ? names[sample.pid] : fmt::format("pid {}", sample.pid);
      ++counts[{sample.kernel ? symbols.name(sample.ip) : "user code", thread}];
    }
    for (const auto& [where, count] : counts) result.samples.push_back({where.first, where.second, count});
    std::stable_sort(result.samples.begin(), result.samples.end(),
                     [](const SampledFunction& a, const SampledFunction& b) { return a.samples > b.samples; });
  }
  return result;
}

}  // namespace offhook::measure
