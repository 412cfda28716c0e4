// SPDX-License-Identifier: MIT
#include "src/report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "src/lab/analysis/confidence.h"
#include "src/report/report.h"

namespace offhook {

std::string grouped(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string counted(std::uint64_t n, const std::string& what) {
  return grouped(n) + ' ' + what + (n == 1 ? "" : "s");
}

std::string listed(const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += i + 1 == items.size() ? " and " : ", ";
    out += items[i];
  }
  return out;
}

std::string hold_in_words(const hostsim::HoldStatus& hold) {
  const auto seconds = [](hostsim::Ns ns) { return static_cast<double>(ns) * 1e-9; };
  if (hold.refused_at >= 0) return fmt::format("requested at {:.3f} s, refused", seconds(hold.asked_at));
  if (hold.away_at < 0) return fmt::format("requested at {:.3f} s, no answer", seconds(hold.asked_at));
  if (hold.resumed_at < 0) return fmt::format("from {:.3f} s on", seconds(hold.away_at));
  const std::string away = fmt::format("for {:.3f} s", seconds(hold.resumed_at - hold.away_at));
  return hold.data_at >= 0 ? fmt::format("{}, data again after {:.3f} s", away, seconds(hold.data_at - hold.resumed_at))
                           : away + ", no data afterwards";
}

namespace {

constexpr double kBeforeLossNs = 25e6;

// The users of the CPU in the 25 ms before the first loss, in descending order of their shares.
std::string culprits(const CallReport& call, const Figures& f) {
  for (const CloseUp& close_up : f.timeline.close_ups()) {
    if (close_up.title.rfind("First loss", 0) != 0) continue;
    const double centre = static_cast<double>(close_up.centre_ns);
    const double from = std::max(centre - kBeforeLossNs, static_cast<double>(f.begin_ns));
    if (centre <= from) return {};
    std::map<std::pair<std::uint16_t, std::uint8_t>, double> had;  // entity, CPU
    bool several_cpus = false;
    for (const CpuSegment& s : close_up.segments) {
      const double overlap =
          std::min(static_cast<double>(s.end_ns), centre) - std::max(static_cast<double>(s.begin_ns), from);
      if (overlap > 0) had[{s.entity, s.cpu}] += overlap / (centre - from);
      several_cpus |= s.cpu > 0;
    }
    if (had.empty()) return {};
    std::vector<std::pair<double, std::pair<std::uint16_t, std::uint8_t>>> order;
    order.reserve(had.size());
    for (const auto& [who, share] : had) order.emplace_back(-share, who);
    std::sort(order.begin(), order.end());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < order.size() && i < 3 && -order[i].first >= 0.01; ++i) {
      const auto [id, cpu] = order[i].second;
      const auto found = call.entities.find(id);
      const std::string name = id == kIdle                    ? "nobody (idle)"
                               : found != call.entities.end() ? found->second
                                                              : fmt::format("entity {}", id);
      const std::string where = several_cpus ? fmt::format(" of CPU {}", cpu) : "";
      names.push_back(fmt::format("{} {:.0f} %{}", name, -100 * order[i].first, where));
    }
    return fmt::format("The first loss occurred at {:.3f} s. In the {:.0f} ms before it the CPU ran {}.", centre * 1e-9,
                       (centre - from) * 1e-6, listed(names));
  }
  return {};
}

/// A device's buffers that correspond to these samples.
std::string in_buffers(const RunSummary::Device& device, double samples) {
  return fmt::format("{:.1f} of its {} buffers", samples / device.buffer_samples, device.buffers);
}

std::string work_done(const Figures& f) {
  return fmt::format("{} came in {:.2f} s; {} of them were late.", counted(f.total.blocks, "block"),
                     static_cast<double>(f.end_ns - f.begin_ns) * 1e-9, grouped(f.total.losses.blocks_late));
}

std::string pending(const CallReport& call, const Figures& f) {
  const std::uint32_t most = f.total.pending_max;
  if (call.device()) {
    return fmt::format("At most {} samples were pending after service: {}.", grouped(most),
                       in_buffers(*call.device(), most));
  }
  return most > call.ring_samples ? fmt::format(
                                        "Up to {} samples were pending after service. The ring holds {}; samples "
                                        "beyond that were overwritten before they were read.",
                                        grouped(most), call.ring_samples)
                                  : fmt::format("At most {} samples were pending after service; the ring holds {}.",
                                                grouped(most), call.ring_samples);
}

std::string dmt_headline(hostsim::DmtFault fault) {
  if (fault == hostsim::DmtFault::kNone) return "Insufficient: samples were lost.";
  return fmt::format("Insufficient: {}.", hostsim::fault_in_words(fault));
}

std::string fax_headline(const hostsim::FaxStatus& fax) {
  if (!fax.over) return "Insufficient: the fax did not end in time.";
  if (!fax.complete) return "Insufficient: T.30 ended the call.";
  return fax.intact() ? "Insufficient: samples were lost." : "Insufficient: pages were damaged.";
}

std::string headline(const CallReport& call, Verdict verdict, bool lost) {
  switch (verdict) {
    case Verdict::kSufficient:
      if (call.dmt()) return "Sufficient: every block was on time, and every superframe was correct.";
      if (call.radio()) {
        return call.radio()->received.lost() + call.radio()->sent.lost() == 0
                   ? "Sufficient: every block was on time, and every burst arrived."
                   : "Sufficient: every block was on time; all losses were caused by the radio channel.";
      }
      if (call.fax()) return "Sufficient: every block was on time, and every page arrived whole.";
      if (call.device()) return "Sufficient: every block was on time, and nothing was lost.";
      return !lost ? "Sufficient: the whole file arrived, and no sample was lost."
             : call.reference_s()
                 ? "Sufficient, with losses: the whole file arrived on time, but samples were lost on the way."
                 : "Sufficient by itself, with losses: the whole file arrived, but samples were lost on the way. "
                   "Compare with an INT run to see whether it was fast enough.";
    case Verdict::kMarginal:
      if (call.dmt()) return "Marginal: samples were lost, but every superframe was correct.";
      if (call.radio()) return "Marginal: samples were lost, but no burst was.";
      if (call.fax()) return "Marginal: samples were lost, but every page arrived whole.";
      if (!call.reference_s()) return "Marginal: the file arrived, but slowly for the line's bit rate.";
      return "Marginal: the file arrived, but its time differs from that of INT by more than 5 %.";
    default:
      if (call.dmt()) {
        return dmt_headline(call.dmt()->fault());
      }
      if (call.radio()) {
        return call.radio()->connected_s < 0 ? "Insufficient: the radios did not connect."
               : call.radio()->retrains > 0  ? "Insufficient: the link was lost."
               : call.radio()->received.late + call.radio()->sent.late > 0
                   ? "Insufficient: bursts were lost because the host was late."
                   : "Insufficient: samples were lost.";
      }
      if (call.fax()) return fax_headline(*call.fax());
      if (call.pump() && !lost) {
        return call.pump()->connected_s < 0 ? "Insufficient: data mode was not reached."
               : call.pump()->wrong() > 0   ? "Insufficient: wrong data arrived."
                                            : "Insufficient: the line was lost in data mode.";
      }
      if (call.device()) return "Insufficient: the device lost samples.";
      return lost ? "Insufficient: the transfer did not complete."
                  : "Not finished: no sample was lost, but the run ended before the transfer completed.";
  }
}

std::string carried(const hostsim::DmtStatus& dmt) {
  if (dmt.trained_s < 0) return "Data mode was never reached.";
  const auto way = [](const char* name, const hostsim::DmtDirection& d) {
    return fmt::format("{} {:.0f} kbit/s gross, {:.0f} net, {:.0f} carried, {} of {} and {} of {} wrong", name,
                       1e-3 * d.gross_bit_rate, 1e-3 * d.net_bit_rate, 1e-3 * d.carried_bit_rate,
                       grouped(d.pump.crc_errors), counted(d.pump.superframes, "superframe"), grouped(d.wrong_bits),
                       counted(d.bits, "bit")) +
           (d.pump.swapped_bits == 0 ? "" : fmt::format(", {} swapped", counted(d.pump.swapped_bits, "bit"))) +
           (d.cells
                ? fmt::format(", {}, {}", counted(d.cells->received, "cell"), counted(d.cells->hec_errors, "HEC error"))
                : "");
  };
  return fmt::format("Data mode after {:.2f} s, trained {}{}: {}; {}.", dmt.trained_s,
                     dmt.trainings == 1 ? "once" : fmt::format("{} times", dmt.trainings),
                     dmt.fast_retrains == 0 ? "" : ", " + counted(dmt.fast_retrains, "fast retrain"),
                     way("down", dmt.down), way("up", dmt.up));
}

/// A call that runs at its line's bit rate takes at most this factor times the time of its bits, plus the time of the
/// first window and the last acknowledgement, over a round trip of 1.2 s.
constexpr double kMostOfLineRate = 2, kStartS = 2.4;

/// Share of slots: makers of radios require that 99.999 % are on time (docs/radio.md).
constexpr double kMissRatioAsked = 1e-5;

std::string carried(const hostsim::RadioStatus& radio) {
  if (radio.connected_s < 0) return "The radios never reached data mode.";
  const auto way = [](const char* name, const hostsim::RadioDirection& d) {
    return fmt::format("{} {:.0f} kbit/s, {} of {} lost ({} missed, {} damaged; {} because the host was late)", name,
                       1e-3 * d.bit_rate, grouped(d.lost()), counted(d.due, "burst"), grouped(d.missed),
                       grouped(d.broken), grouped(d.late));
  };
  return fmt::format("Data mode after {:.3f} s: {}; {}.", radio.connected_s, way("received", radio.received),
                     way("sent", radio.sent));
}

std::string packets_in_words(const hostsim::FaxStatus& fax) {
  return fmt::format("The gateway's network carried {}: {} lost and recovered from copies, {} lost with all copies.",
                     counted(fax.packets_sent, "packet"), grouped(fax.packets_recovered), grouped(fax.packets_lost));
}

std::string carried(const hostsim::FaxStatus& fax) {
  const auto rate = [&] {
    return fax.pages.empty()
               ? std::string("no page came")
               : fmt::format("the last at {} bit/s ({})", fax.pages.back().bit_rate, fax.pages.back().modulation);
  };
  return fmt::format("{} of {} arrived whole in {:.1f} s, {}: {}, {}; {} ({} refused); {} refused{}.",
                     grouped(fax.whole), counted(fax.due, "page"), fax.lasted_s, rate(),
                     counted(fax.frames_again, "frame") + " sent again", counted(fax.bad_lines, "damaged line"),
                     counted(fax.trainings, "training"), fax.failed_trainings, counted(fax.refused_pages, "page"),
                     fax.failure.empty() ? "" : "; T.30: " + fax.failure);
}

std::string carried(const hostsim::PumpStatus& pump) {
  if (pump.connected_s < 0) return fmt::format("The pump \"{}\" never reached data mode.", pump.name);
  const auto way = [](const char* name, const hostsim::PumpDirection& d) {
    return d.bits == 0 ? fmt::format("{} no bits", name)
                       : fmt::format("{} {:.1f} kbit/s, {} of {} wrong", name, 1e-3 * d.bit_rate, grouped(d.wrong_bits),
                                     counted(d.bits, "bit"));
  };
  return fmt::format("The pump \"{}\" was in data mode after {:.3f} s: {}; {}.", pump.name, pump.connected_s,
                     way("received", pump.received), way("sent", pump.sent));
}

std::string miss_ratio(const hostsim::RadioStatus& radio) {
  const hostsim::RadioDirection& worse =
      miss_ratio_at_most(radio.received) > miss_ratio_at_most(radio.sent) ? radio.received : radio.sent;
  const double most = miss_ratio_at_most(worse);
  const double least = worse.due > 0 ? poisson_interval(worse.lost()).low / static_cast<double>(worse.due) : 0;
  return fmt::format(
      "In the worse direction {:.4f} % of the bursts arrived (at least {:.4f} % with 95 % confidence): {}.",
      100 * (1 - worse.miss_ratio()), 100 * std::max(0.0, 1 - most),
      fmt::format("{} the {:.3f} % that is required of radios",
                  most <= kMissRatioAsked   ? "meets"
                  : least > kMissRatioAsked ? "falls short of"
                                            : "too few bursts to decide whether it meets",
                  100 * (1 - kMissRatioAsked)));
}

std::string against_slot(const hostsim::RadioStatus& radio, const Figures& f) {
  return fmt::format(
      "From interrupt to output {:.3f} ms on average and {:.3f} ms at most: {:.1f} and {:.1f} % of a slot of {} ms.",
      1e-6 * f.interrupt_to_output.mean(), 1e-6 * static_cast<double>(f.interrupt_to_output.max()),
      100 * of_slot(radio, f.interrupt_to_output.mean()),
      100 * of_slot(radio, static_cast<double>(f.interrupt_to_output.max())), 1e3 * radio.slot_s);
}

/// The verdict of a call that was slow, or whose coding repaired a loss in this run.
Verdict limited(Verdict verdict, const CallReport& call, bool lost) {
  const bool slow =
      call.run->at_line_rate_s > 0 && call.run->transfer_s > kMostOfLineRate * call.run->at_line_rate_s + kStartS;
  const bool repaired = (call.dmt() || call.radio() || call.fax()) && lost;
  return verdict == Verdict::kSufficient && (slow || repaired) ? Verdict::kMarginal : verdict;
}

/// Whether the output was on time. @return empty if the log does not show it and no block was late
std::string lateness(const CallReport& call, const Figures& f) {
  const Losses& lost = f.total.losses;
  const bool known = call.transmit_lead_samples && f.interrupt_to_output.count() > 0;
  const double lead = call.transmit_lead_samples.value_or(0), used = f.total.lead_used_max_samples;
  if (lost.blocks_late == 0) {
    // The remaining lead when the output is queued: the safety margin of this context.
    return known ? fmt::format(
                       "Output was always on time: at worst {:.0f} of the {:.0f} samples of transmit lead were "
                       "used, {:.0f} were left.",
                       used, lead, lead - used)
                 : "";
  }
  // The card counts samples missing when due for sending, including the output of abandoned blocks.
  const std::string never_came =
      lost.underrun_samples > lost.samples_late
          ? fmt::format(", and {} more never arrived", grouped(lost.underrun_samples - lost.samples_late))
          : "";
  return fmt::format(
      "Output was late: {}, {} missed their time{}{}.", counted(lost.blocks_late, "block"),
      counted(lost.samples_late, "sample"), never_came,
      known ? fmt::format("; the worst case needs a lead of {:.0f} samples, {:.0f} are queued", used, lead) : "");
}

std::string transfer(const CallReport& call, const Figures& f, const std::optional<VerdictResult>& result) {
  if (call.device()) return work_done(f);
  if (!result) return "The log does not show whether the transfer completed.";
  if (result->complete == 0) {
    return fmt::format("The transfer did not complete: {} of {} bytes arrived.", grouped(bytes_delivered(call, f)),
                       grouped(call.bytes()));
  }
  std::string out = fmt::format("{} bytes arrived in {:.2f} s", grouped(call.bytes()), call.run->transfer_s);
  if (result->slower) {
    out += fmt::format(", {:.1f} % {} than the same call in INT, the reference ({:.2f} s)",
                       100 * std::abs(*result->slower), *result->slower < 0 ? "faster" : "slower", *call.reference_s());
  }
  if (call.run->at_line_rate_s > 0)
    out += fmt::format("; the bit rate of the line needs {:.2f} s", call.run->at_line_rate_s);
  return out + ".";
}

/// The transferred data, and how the call ended.
void add_transfer(const CallReport& call, const Figures& f, const std::optional<VerdictResult>& result,
                  std::vector<std::string>& reasons) {
  reasons.push_back(transfer(call, f, result));
  if (result && result->complete == 0 && !call.run->ending.empty())
    reasons.push_back(fmt::format("The call ended with: {}.", call.run->ending));
  if (call.run && call.run->hold) reasons.push_back(fmt::format("Modem-on-hold: {}.", hold_in_words(*call.run->hold)));
  if (call.dmt()) reasons.push_back(carried(*call.dmt()));
  if (call.pump()) reasons.push_back(carried(*call.pump()));
  if (call.fax()) reasons.push_back(carried(*call.fax()));
  if (call.fax() && call.fax()->packets_sent > 0) reasons.push_back(packets_in_words(*call.fax()));
  if (call.radio()) {
    reasons.push_back(carried(*call.radio()));
    if (call.radio()->received.due + call.radio()->sent.due > 0) reasons.push_back(miss_ratio(*call.radio()));
    if (f.interrupt_to_output.count() > 0) reasons.push_back(against_slot(*call.radio(), f));
  }
}

}  // namespace

std::uint64_t bytes_delivered(const CallReport& call, const Figures& f) {
  const std::optional<std::uint64_t> counted = call.run ? call.run->bytes_delivered : std::nullopt;
  return counted.value_or(std::max(f.ends[0].bytes_delivered, f.ends[1].bytes_delivered));
}

CallVerdict judge(const CallReport& call, const Figures& f) {
  CallVerdict out;
  const Losses& lost = f.total.losses;
  std::optional<VerdictResult> result;
  if (call.complete()) {
    const std::array<RunOutcome, 1> run = {RunOutcome{*call.complete(), call.run->transfer_s}};
    result = classify(run, call.reference_s());
    out.verdict = limited(result->verdict, call, lost.any());
  }
  if (out.verdict) {
    out.headline = headline(call, *out.verdict, lost.any());
  } else {
    out.headline = lost.any() ? "Samples were lost." : "No sample was lost.";
  }

  add_transfer(call, f, result, out.reasons);
  out.reasons.push_back(pending(call, f));
  if (std::string late = lateness(call, f); !late.empty()) out.reasons.push_back(std::move(late));
  if (lost.overrun_samples + lost.samples_filled_in > 0) {
    out.reasons.push_back(fmt::format("Input was overwritten before the driver took it: {}, {} concealed.",
                                      counted(lost.overrun_samples, "sample"), grouped(lost.samples_filled_in)));
  }
  if (lost.any()) {
    std::string why = culprits(call, f);
    if (!why.empty()) out.reasons.push_back(std::move(why));
  }
  const std::uint64_t again = f.ends[0].frames_retransmitted + f.ends[1].frames_retransmitted;
  if (again > 0) {
    out.reasons.push_back(fmt::format("V.42 repeated {}, recoveries: {}.", counted(again, "frame"),
                                      grouped(f.ends[0].recoveries + f.ends[1].recoveries)));
  }
  return out;
}

}  // namespace offhook
