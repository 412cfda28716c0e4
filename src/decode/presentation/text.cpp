// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "driver/base/printable.h"
#include "offhook/decode.h"
#include "src/decode/call/verdict.h"
#include "src/decode/presentation/fax_words.h"
#include "src/decode/presentation/fields.h"
#include "src/decode/presentation/names.h"
#include "src/decode/presentation/notes.h"
#include "src/decode/presentation/timeline.h"

namespace offhook::decode {
namespace {

std::string to_text(const FieldTable& table) {
  std::vector<std::size_t> width;
  for (const std::string& c : table.columns) width.push_back(c.size());
  for (const auto& row : table.rows) {
    for (std::size_t k = 0; k < row.size(); ++k) width[k] = std::max(width[k], row[k].size());
  }
  std::string out = fmt::format("\n{}\n", table.title);
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line = " ";
    for (std::size_t k = 0; k < row.size(); ++k) line += fmt::format(" {:<{}}", printable(row[k]), width[k] + 1);
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  add(table.columns);
  for (const auto& row : table.rows) add(row);
  if (!table.note.empty()) out += fmt::format("  {}\n", table.note);
  return out;
}

/// The common parameters of both sides of a training of V.34 or V.90.
std::string of_training(const Training& t) {
  std::string out;
  const auto say = [&](const char* way, const Training::Side& side, int rate) {
    const Direction& d = side.direction;
    const bool known = d.channel >= 0 && !side.segments.empty();
    if (!known && (t.begins_in_data || t.without_info1a)) return;  // nothing is known of it
    out += fmt::format("{}: {:.0f} symbols/s, carrier {:.0f} Hz, pre-emphasis {}{}\n", way, symbol_rate_hz(d.rate),
                       carrier_hz(d.rate, d.carrier), d.pre_emphasis,
                       rate > 0 ? fmt::format(", {} bit/s", 2400 * rate) : "");
  };
  if (t.pcm) {
    if (t.from_2400.direction.pcm) {
      out += "upstream: PCM\n";
    } else {
      say("upstream", t.from_2400, 0);
    }
    const CpHeard* cp = t.from_2400.cp();
    out += cp != nullptr ? fmt::format("downstream: PCM, {} bit/s requested by CP", downstream_bit_rate(cp->cp))
                         : std::string("downstream: PCM");
    if (t.downstream.training_db < 0)
      out += fmt::format("; TRN1d at {:.2f} s, {:.1f} dB left of it", t.downstream.t_trn1d, t.downstream.training_db);
    out += '\n';
  } else {
    say("call to answer", t.from_1200, t.rates.call_to_answer);
    say("answer to call", t.from_2400, t.rates.answer_to_call);
  }
  return out;
}

}  // namespace

std::string summary(const Call& call) {
  const Recording& r = call.recording;
  const StartUp& s = call.start_up;
  std::string out =
      fmt::format("{}{}: {:.1f} s, {} at {} Hz{}\n", printable(r.name),
                  r.call > 0 ? fmt::format(", call {} at {:.1f} s", r.call, r.start_s) : "", r.duration_s,
                  r.channel.size() == 2                                       ? "both directions"
                  : s.call_channel >= 0 && s.call_channel == s.answer_channel ? "both directions in one channel"
                                                                              : "one direction",
                  r.file_rate_hz, r.truncated ? ", truncated" : "");
  const Verdict v = verdict_of(call);
  out += fmt::format("verdict: {}{}\n", v.technology,
                     v.evidence.empty() ? "" : printable(fmt::format(" ({})", fmt::join(v.evidence, "; "))));
  if (const std::string weight = describe_weight(v); !weight.empty()) out += "  probability " + weight + '\n';
  const auto many = [](int n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  if (!v.directions.empty()) {
    out += fmt::format("  {}, {}, {}\n", many(v.retrains, "retrain"), many(v.renegotiations, "rate renegotiation"),
                       many(v.cleardowns, "cleardown"));
  }
  for (const Verdict::Direction& d : v.directions) {
    out += fmt::format("  {}: {}; {}; {}\n", d.name,
                       d.bit_rate > 0 ? fmt::format("{} bit/s ({})", d.bit_rate, d.rate_from) : "rate not decoded",
                       describe(d), describe_frames(d));
  }
  for (const FaxPage& p : call.fax.sent.pages)
    out += fmt::format("page {}: {}\n", &p - call.fax.sent.pages.data() + 1, describe(p));
  if (s.call_channel >= 0 && s.answer_channel >= 0) {
    out += fmt::format("call modem: channel {}, answer modem: channel {} (from {})\n", s.call_channel, s.answer_channel,
                       s.roles_from);
  }
  for (std::size_t c = 0; c < call.echo.size(); ++c) {
    for (const EchoPath& e : call.echo[c]) {
      out += fmt::format("echo of channel {} on channel {}: {:.1f} dB below it, {:.1f} ms late, {:.1f} dB cancelled\n",
                         1 - c, c, e.loss_db, e.delay_ms(), e.enhancement_db);
    }
  }
  for (const Training& t : call.trainings) out += of_training(t);
  const auto say = [&](const char* way, const Connection::Side& side) {
    if (side.channel < 0) return;
    out += fmt::format("{}: channel {}, carrier {} Hz {:+.2f} Hz, clock {:+.1f} ppm{}\n", way, side.channel,
                       side.carrier_hz, side.frequency_offset_hz, side.clock_ppm,
                       side.data.empty() ? "" : fmt::format(", {} bit/s", side.data.back().bit_rate));
  };
  say("call to answer", call.connection.call);
  say("answer to call", call.connection.answer);
  return out;
}

std::string to_summary(const Call& call) {
  return summary(call);
}

std::string to_text(const Call& call) {
  std::string out = summary(call);
  for (const std::string& note : notes(call)) out += "note: " + printable(note) + '\n';
  const auto events = timeline(call);
  if (events.empty()) return out;
  out += "\n    from s       to s  ch  what\n";
  for (const Event& e : events) {
    out += fmt::format("{:>10.4f} {:>10}  {:>2}  {}{}{}\n", e.t, e.t_end > 0 ? fmt::format("{:.4f}", e.t_end) : "",
                       e.channel, e.event, e.detail.empty() ? "" : ": ", printable(e.detail));
  }
  for (const FieldTable& table : field_tables(call)) out += to_text(table);
  return out;
}

}  // namespace offhook::decode
