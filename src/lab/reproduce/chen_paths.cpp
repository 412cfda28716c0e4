// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/chen_paths.h"

#include <fmt/format.h>

#include <cmath>

#include "hostsim/cpu/cpu.h"
#include "src/lab/reproduce/claim.h"

namespace offhook::reproduce {

using hostsim::Cpu;
using hostsim::Engine;
using hostsim::EntityId;
using hostsim::Ns;

Path monolithic_path() {
  return {{Step::kEnter, Step::kLeave}, {}};
}

Path server_path() {
  return {{Step::kEnter, Step::kHandOver, Step::kLeave},
          {Step::kLeave, Step::kEnter, Step::kLeave, Step::kEnter, Step::kHandOver}};
}

Path mode_change_path(int changes) {
  return {std::vector<Step>(static_cast<std::size_t>(changes), Step::kModeChange), {}};
}

namespace {

struct Counts {
  int crossings = 0, mode_changes = 0;
};

/// Repeats its steps. A job ends where it waits for the other thread.
class Walker final : public hostsim::Program {
 public:
  Walker(Cpu& cpu, const std::vector<Step>& steps, const CrossingCosts& costs, Counts& counts, int rounds)
      : cpu_(cpu), steps_(steps), costs_(costs), counts_(counts), rounds_(rounds) {}
  void set_other(EntityId other) { other_ = other; }
  Ns ended() const { return ended_; }
  Ns next(Ns now) override {
    if (at_ == steps_.size()) {
      at_ = 0;
      ended_ = now;
      if (--rounds_ == 0) return 0;
    }
    if (rounds_ == 0) return 0;
    const Step step = steps_[at_++];
    if (step == Step::kHandOver) {
      cpu_.release(other_);
      return 0;
    }
    (step == Step::kModeChange ? counts_.mode_changes : counts_.crossings)++;
    return step == Step::kEnter ? costs_.enter : step == Step::kLeave ? costs_.leave : costs_.mode_change;
  }

 private:
  Cpu& cpu_;
  const std::vector<Step>& steps_;
  const CrossingCosts& costs_;
  Counts& counts_;
  int rounds_;
  EntityId other_ = hostsim::kNoEntity;
  std::size_t at_ = 0;
  Ns ended_ = 0;
};

/// Releases a thread when the engine starts.
class Start final : public hostsim::Event {
 public:
  Start(Cpu& cpu, EntityId thread) : cpu_(cpu), thread_(thread) {}
  void fire(Ns) override { cpu_.release(thread_); }

 private:
  Cpu& cpu_;
  EntityId thread_;
};

}  // namespace

PathResult run_path(const Path& path, const CrossingCosts& costs, int calls) {
  constexpr Ns kLongEnough = 1'000'000'000;
  Engine engine;
  Cpu cpu(engine);
  Counts counts;
  Walker application(cpu, path.application, costs, counts, calls), server(cpu, path.server, costs, counts, calls + 1);
  const EntityId first = cpu.add_thread("application", hostsim::FixedPriority{}, application);
  if (!path.server.empty()) {
    application.set_other(cpu.add_thread("server", hostsim::FixedPriority{}, server));
    server.set_other(first);
  }
  Start start(cpu, first);
  engine.at(0, start);
  engine.run_until(kLongEnough);
  const double n = calls;
  return {counts.crossings / n, counts.mode_changes / n, static_cast<double>(application.ended()) * 1e-3 / n};
}

namespace {

constexpr int kCalls = 50;  // 4.1, 4.2

CrossingCosts costs_of(const Published& p) {
  const auto ns = [per_us = p.number("mhz")](double cycles) { return std::llround(1e3 * cycles / per_us); };
  return {ns(p.number("int_cycles")), ns(p.number("iret_cycles")), ns(p.number("mode_change_cycles"))};
}

void add_inputs(Outcome& out, const Published& p, const CrossingCosts& costs) {
  const auto cycles = [&](const char* what, const char* key, Ns ns) {
    out.rows.push_back(input(what, "cycles", p.number(key), std::round(static_cast<double>(ns) * p.number("mhz") / 1e3),
                             "the length of a step of the path"));
  };
  cycles("INT", "int_cycles", costs.enter);
  cycles("IRET", "iret_cycles", costs.leave);
  cycles("either, with a change of mode", "mode_change_cycles", costs.mode_change);
  for (const char* kind : {"mode_changes_32_bit", "mode_changes_16_bit"})
    out.rows.push_back(input(fmt::format("changes of mode, {} bits", std::string_view(kind).substr(13, 2)), "",
                             p.number(kind), p.number(kind), "the steps of the path"));
}

}  // namespace

// 4.1, 4.2
Outcome chen_syscall(const Run& run) {
  const Published& p = run.published;
  const CrossingCosts costs = costs_of(p);
  const auto of_windows = [&](const char* kind) {
    return run_path(mode_change_path(static_cast<int>(p.number(kind))), costs, kCalls);
  };
  const PathResult netbsd = run_path(monolithic_path(), costs, kCalls), nt = run_path(server_path(), costs, kCalls),
                   win32 = of_windows("mode_changes_32_bit"), win16 = of_windows("mode_changes_16_bit");
  Outcome out;
  add_inputs(out, p, costs);
  out.rows.push_back(within("NetBSD, crossings of a call", "", p.number("netbsd_crossings"), netbsd.crossings, 0));
  out.rows.push_back(within("Windows NT, crossings of a call", "", p.number("nt_crossings"), nt.crossings, 0));
  out.rows.push_back(holds("Windows NT and 16-bit Windows against the others", p.text("costly"),
                           fmt::format("{:.2f} and {:.2f} us; {:.2f} (NetBSD), {:.2f} us (32 bits)", nt.elapsed_us,
                                       win16.elapsed_us, netbsd.elapsed_us, win32.elapsed_us),
                           std::min(nt.elapsed_us, win16.elapsed_us) > std::max(netbsd.elapsed_us, win32.elapsed_us)));
  out.rows.push_back(holds("32-bit Windows against NetBSD", p.text("cheapest"),
                           fmt::format("{:.2f} us, NetBSD {:.2f} us", win32.elapsed_us, netbsd.elapsed_us),
                           win32.elapsed_us < netbsd.elapsed_us));
  out.rows.back().note =
      "only the way into the kernel and out of it; the time of dup() inside the kernel is not published";
  const double by_modes = win16.elapsed_us / win32.elapsed_us;
  out.rows.push_back(
      within_share("16-bit call against 32-bit call", "times", p.number("factor_16_bit"), by_modes, 0.2));
  out.rows.back().note =
      "by the changes of mode alone. The paper names two more reasons, without a cost: hooks of other programs, and "
      "software that keeps state at each change";
  out.rows.push_back(paper_only("16-bit call against 32-bit call, two places", "times", p.number("factor_16_bit"),
                                p.number("factor_of_introduction"),
                                "section 4.2 has a factor of six, the introduction one of seven"));
  out.summary = fmt::format(
      "{} calls through each kernel, on an idle host: entering and leaving the kernel, changes of mode, and for "
      "Windows NT a request to a server that calls the kernel itself. Work inside the kernels, caches and TLBs are "
      "not simulated.",
      kCalls);
  return out;
}

// 5.1, Table 7
Outcome chen_segments(const Run& run) {
  const Published& p = run.published;
  const CrossingCosts unit{1, 1, 1};
  const double ratio =
      run_path(server_path(), unit, kCalls).crossings / run_path(monolithic_path(), unit, kCalls).crossings;
  const double netbsd = p.number("netbsd"), nt = p.number("windows_nt"), windows = p.number("windows");
  Outcome out;
  out.rows.push_back(within_share("loads, Windows NT against NetBSD", "times", p.number("nt_factor"), ratio, 0.2));
  out.rows.back().note =
      "boundary crossings of a call to a server, relative to a call of a monolithic kernel. The number of Wish's calls "
      "in "
      "each system and the number of loads per crossing are not published";
  out.rows.push_back(
      within_share("loads by Table 7, Windows NT against NetBSD", "times", p.number("nt_factor"), nt / netbsd, 0.1));
  out.rows.push_back(paper_only("loads by Table 7, Windows against Windows NT", "times", p.number("windows_factor"),
                                windows / nt, "Table 7 gives 26.9, the text 28"));
  out.summary = "Segment register loads represent changes of protection domain; only the paths are simulated.";
  return out;
}

}  // namespace offhook::reproduce
