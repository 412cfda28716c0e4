// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/constants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "driver/base/nearest.h"
#include "traces/scenario/key.h"

namespace offhook::reproduce {

using hostsim::Ns;
using hostsim::Phase;

namespace {

Ns us(double value) {
  return std::max<Ns>(0, std::llround(value * 1e3));
}
double in_us(Ns ns) {
  return static_cast<double>(ns) * 1e-3;
}
hostsim::PhaseProfile& phase(Setup& s, Phase p) {
  return s.profile.phases[static_cast<int>(p)];
}
const hostsim::PhaseProfile& phase(const Setup& s, Phase p) {
  return s.profile.phases[static_cast<int>(p)];
}

constexpr Constant kConstants[] = {
    {"phi", "", "share of a service call after which its output is ready; fitted", true, 0.02, 0.5,
     [](const Setup& s) { return s.profile.phi; }, [](Setup& s, double v) { s.profile.phi = std::clamp(v, 0.0, 1.0); }},
    {"spread", "", "random variation of a block's cost, as a share; fitted", true, 0, 0.12,
     [](const Setup& s) { return s.profile.service_spread; },
     [](Setup& s, double v) { s.profile.service_spread = std::clamp(v, 0.0, 1.0); }},
    {"block_us", "us",
     "CPU time of a block once connected; published, less the kernel's logging by an assumed size of events", false,
     1500, 1900, [](const Setup& s) { return in_us(phase(s, Phase::kConnected).service_ns); },
     [](Setup& s, double v) { phase(s, Phase::kConnected).service_ns = us(v); }},
    {"lead_samples", "samples", "transmit lead; fitted", true, 190, 220,
     [](const Setup& s) { return static_cast<double>(s.scenario.transmit_lead_samples); },
     [](Setup& s, double v) { s.scenario.transmit_lead_samples = static_cast<std::uint32_t>(std::llround(v)); }},
    {"sync_loss_samples", "samples", "lost samples after which the far receiver loses synchronisation; fitted", true, 1,
     40, [](const Setup& s) { return s.profile.link.sync_loss_samples; },
     [](Setup& s, double v) { s.profile.link.sync_loss_samples = std::max(1.0, v); }},
    {"settling_ms", "ms", "wrong bits after a hole; measured with our own V.34 receiver", false, 0, 0,
     [](const Setup& s) { return s.profile.link.settling_ms; },
     [](Setup& s, double v) { s.profile.link.settling_ms = std::max(0.0, v); }},
    {"t401_ms", "ms", "V.42's acknowledgement timer; V.42 9.2.1", false, 0, 0,
     [](const Setup& s) { return s.profile.link.t401_ms; },
     [](Setup& s, double v) { s.profile.link.t401_ms = std::max(1.0, v); }},
    {"retrain_ms", "ms", "duration of a retrain; assumed, from V.34's", false, 0, 0,
     [](const Setup& s) { return s.profile.link.training_ms; },
     [](Setup& s, double v) { s.profile.link.training_ms = std::max(1.0, v); }},
    {"retrain_block_us", "us", "CPU time of a block during a retrain; not published, taken from data mode", false, 0, 0,
     [](const Setup& s) {
       return in_us(s.profile.link.retrain_service_ns > 0 ? s.profile.link.retrain_service_ns
                                                          : phase(s, Phase::kConnected).service_ns);
     },
     [](Setup& s, double v) { s.profile.link.retrain_service_ns = us(v); }},
    {"give_up_ms", "ms", "time of unsuccessful training after which the call ends; S7 of V.250", false, 0, 0,
     [](const Setup& s) { return s.profile.link.give_up_ms; },
     [](Setup& s, double v) { s.profile.link.give_up_ms = std::max(1.0, v); }},
    {"worst_us", "us", "CPU time of the single costliest block while connecting; published", false, 0, 0,
     [](const Setup& s) { return in_us(phase(s, Phase::kConnecting).worst_service_ns); },
     [](Setup& s, double v) { phase(s, Phase::kConnecting).worst_service_ns = us(v); }},
    {"training_us", "us", "CPU time of every other block while connecting; assumed", false, 500, 3300,
     [](const Setup& s) { return in_us(phase(s, Phase::kConnecting).service_ns); },
     [](Setup& s, double v) { phase(s, Phase::kConnecting).service_ns = us(v); }},
    {"isr_mean_us", "us", "CPU time of the interrupt routine; published", false, 0, 0,
     [](const Setup& s) { return in_us(s.profile.isr_mean_ns); },
     [](Setup& s, double v) {
       s.profile.isr_mean_ns = us(v);
       s.profile.isr_max_ns = std::max(s.profile.isr_max_ns, s.profile.isr_mean_ns);
     }},
    {"down_bps", "bit/s", "bit rate of the link towards the modem; published", false, 0, 0,
     [](const Setup& s) { return s.profile.link.down_bps; }, [](Setup& s, double v) { s.profile.link.down_bps = v; }},
    {"tick_hz", "Hz", "rate of the clock interrupts in which slots are counted; published", false, 0, 0,
     [](const Setup& s) { return static_cast<double>(s.scenario.host.tick_hz); },
     [](Setup& s, double v) { s.scenario.host.tick_hz = std::max(1, static_cast<int>(std::llround(v))); }},
    {"clock_isr_us", "us", "CPU time of a clock interrupt; assumed", false, 0, 0,
     [](const Setup& s) { return in_us(s.scenario.host.clock_isr_ns); },
     [](Setup& s, double v) { s.scenario.host.clock_isr_ns = us(v); }},
    {"dispatch_us", "us", "CPU time of a switch to a thread; assumed", false, 0, 0,
     [](const Setup& s) { return in_us(s.scenario.host.dispatch_ns); },
     [](Setup& s, double v) { s.scenario.host.dispatch_ns = us(v); }},
    {"quantum_ms", "ms", "quantum of normal threads; from the literature", false, 15.625, 187.5,
     [](const Setup& s) { return static_cast<double>(s.scenario.host.quantum_ns) * 1e-6; },
     [](Setup& s, double v) { s.scenario.host.quantum_ns = us(v * 1e3); }},
    {"slot_priority", "", "priority of a thread inside its slot; not published, one sentence of the paper excludes 31",
     false, 24, 31, [](const Setup& s) { return static_cast<double>(s.scenario.host.slot_priority); },
     [](Setup& s, double v) {
       s.scenario.host.slot_priority = static_cast<int>(std::clamp(std::round(v), 1.0, 31.0));
     }},
};

}  // namespace

std::span<const Constant> constants() {
  return kConstants;
}

const Constant& constant(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Constant& c : kConstants) {
    if (c.name == name) return c;
    known.push_back(c.name);
  }
  throw std::invalid_argument(fmt::format("\"{}\" is not a constant{}; expected one of: {}", name,
                                          the_nearest(name, known), fmt::join(known, ", ")));
}

Perturbation Perturbation::parse(const std::vector<std::string>& changes) {
  Perturbation out;
  for (const std::string& text : changes) {
    const std::size_t equals = text.find('=');
    Change change{&constant(text.substr(0, equals)), Change::Kind::kValue, 0};
    std::string_view by = equals == std::string::npos ? std::string_view() : std::string_view(text).substr(equals + 1);
    const bool relative = by.starts_with('+') || by.starts_with('-'), share = by.ends_with('%');
    if (by.starts_with('+')) by.remove_prefix(1);
    if (share) by.remove_suffix(1);
    const auto [end, error] = std::from_chars(by.data(), by.data() + by.size(), change.by);
    if (error != std::errc() || end != by.data() + by.size() || by.empty() || !std::isfinite(change.by) ||
        (share && !relative)) {
      throw std::invalid_argument(fmt::format("\"{}\": expected NAME=+10%, NAME=-2 or NAME=VALUE", text));
    }
    if (relative) change.kind = share ? Change::Kind::kFactor : Change::Kind::kOffset;
    if (share) change.by = 1 + change.by / 100;
    out.text_ += (out.text_.empty() ? "" : ", ") + text;
    out.changes_.push_back(change);
  }
  return out;
}

Perturbation Perturbation::and_also(const std::string& change) const {
  Perturbation out = *this, more = parse({change});
  out.text_ += (text_.empty() ? "" : ", ") + more.text_;
  out.changes_.insert(out.changes_.end(), more.changes_.begin(), more.changes_.end());
  return out;
}

void Perturbation::apply(Setup& setup) const {
  for (const Change& c : changes_) {
    const double now = c.constant->get(setup);
    c.constant->set(setup, c.kind == Change::Kind::kFactor   ? now * c.by
                           : c.kind == Change::Kind::kOffset ? now + c.by
                                                             : c.by);
  }
}

}  // namespace offhook::reproduce
