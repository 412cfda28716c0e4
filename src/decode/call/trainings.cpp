// SPDX-License-Identifier: MIT
#include "src/decode/call/trainings.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "src/decode/phases/s_search.h"

namespace offhook::decode {
namespace {

// The two channels as one direction's receiver takes them.
struct Lines {
  Lines(const Recording& r, const Direction& d) {
    const double carrier = carrier_hz(d.rate, d.carrier), rate = symbol_rate_hz(d.rate);
    const auto own = static_cast<std::size_t>(d.channel);
    line = std::make_unique<Baseband>(r.channel[own], carrier, rate);
    if (r.channel.size() == 2) other = std::make_unique<Baseband>(r.channel[1 - own], carrier, rate);
  }
  std::unique_ptr<Baseband> line, other;
};

// The last MP before `t` of all that a side sent, with the coefficients of its last type 1.
std::optional<v34::Mp> mp_before(const Training::Side& side, double t) {
  std::optional<v34::Mp> mp;
  v34::PrecoderCoefficients precoder{};
  for (const Passage& p : side.passages) {
    for (const MpHeard& m : p.mp) {
      if (m.t_first > t) continue;
      if (m.mp.type1) precoder = m.mp.precoder;
      mp = m.mp;
    }
  }
  if (mp) mp->precoder = precoder;
  return mp;
}

// The data after one passage that ends with E.
void listen_data(const Lines& lines, Training::Side& side, const Training::Side& far, bool call_to_answer,
                 std::size_t passage) {
  const Direction& d = side.direction;
  const Passage& p = side.passages[passage];
  // Both ends send E within a round trip of each other; the far end's MP decides how this end transmits.
  const auto own_mp = mp_before(side, p.t_e_end), far_mp = mp_before(far, p.t_e_end + 0.3);
  if (!own_mp || !far_mp) return;
  const v34::RatePair rates = resolve_rates(*own_mp, *far_mp);
  const std::uint32_t rate = 2400u * (call_to_answer ? rates.call_to_answer : rates.answer_to_call);
  if (!v34::is_supported(d.rate, rate)) return;
  const bool aux = own_mp->aux && far_mp->aux;
  const v34::DataParameters parameters{
      {make_framing(d.rate, rate, aux, far_mp->expanded), d.scrambling, far_mp->trellis, far_mp->precoder},
      far_mp->nonlinear,
      rate};
  double end = static_cast<double>(lines.line->size());
  if (passage + 1 < side.passages.size()) {
    const Passage& next = side.passages[passage + 1];
    end = (next.t_s > 0 ? next.t_s : next.t_trn) * kRateHz;
  }
  side.data.push_back(read_data(*lines.line, lines.other.get(), d, parameters, p.at_data, end));
  const DataHeard& heard = side.data.back();
  side.links.push_back(read_link(heard, side.links.empty() ? nullptr : &side.links.back()));
  if (heard.s_after && heard.t1 * kRateHz < end - 400) {
    Passage after = follow_sequences(*lines.line, lines.other.get(), d, heard.at_end, end);
    after.t_s = heard.t_s;
    after.t_s_bar = heard.t_s + 128 / symbol_rate_hz(d.rate);
    if (!after.mp.empty()) side.passages.insert(side.passages.begin() + static_cast<long>(passage) + 1, after);
  }
}

// All data modes of both sides in order of time: what one side asks for in a renegotiation without TRN is only heard
// behind its data.
void listen_data(const std::unique_ptr<Lines> (&lines)[2], Training::Side* const (&sides)[2]) {
  std::size_t next[2]{};
  for (;;) {
    int first = -1;
    for (int i = 0; i < 2; ++i) {
      const auto& passages = sides[i]->passages;
      while (next[i] < passages.size() && passages[next[i]].t_e_end == 0) ++next[i];
      if (lines[i] == nullptr || next[i] == passages.size()) continue;
      if (first < 0 || passages[next[i]].t_e_end < sides[first]->passages[next[first]].t_e_end) first = i;
    }
    if (first < 0) return;
    listen_data(*lines[first], *sides[first], *sides[1 - first], first == 0, next[first]++);
  }
}

// What follows an S that no TRN stands behind, and that no passage has read to its CP: after DIL heard in silence, in a
// rate renegotiation, and where SCR began with the scrambler in any state.
void listen_s_bar(const Lines& lines, Training::Side& side, double to_s) {
  const Direction& d = side.direction;
  const auto begins = [](const Passage& p) { return p.t_s_bar > 0 ? p.t_s_bar : p.t_trn; };
  std::vector<Passage> more;
  const auto first = std::find_if(side.passages.begin(), side.passages.end(),
                                  [](const Passage& p) { return p.t_pp > 0 && p.trn_symbols > 0; });
  if (first == side.passages.end()) return;
  const std::vector<double> s_bar = find_s_bar(*lines.line, d, first->t_trn_end, to_s);
  for (std::size_t k = 0; k < s_bar.size(); ++k) {
    const double t = s_bar[k] / kRateHz;
    const double end = k + 1 < s_bar.size() ? s_bar[k + 1] : to_s * kRateHz;
    const Passage* trained = nullptr;
    Passage* around = nullptr;  // goes on through this S
    bool anchor = false;        // of its own TRN
    for (Passage& p : side.passages) {
      if (p.trn_symbols > 0 && p.t_trn_end < t + 0.01) trained = &p;
      if (t > begins(p) && t < p.t_lost) around = &p;
      anchor |= std::abs(begins(p) - t) < 0.01;
    }
    if (anchor || trained == nullptr) continue;
    Passage p = follow_s_bar(*lines.line, lines.other.get(), d, trained->trained, s_bar[k], end);
    if (p.s_correlation < 0.5) continue;
    if (around == nullptr) {
      more.push_back(std::move(p));
    } else if (p.cp.size() > around->cp.size()) {
      around->cp = p.cp;
      around->t_e = p.t_e, around->t_e_end = p.t_e_end;
    }
  }
  side.passages.insert(side.passages.end(), more.begin(), more.end());
  std::stable_sort(side.passages.begin(), side.passages.end(),
                   [&](const Passage& a, const Passage& b) { return begins(a) < begins(b); });
}

}  // namespace

const Passage* Training::Side::started() const {
  const auto p = std::find_if(passages.begin(), passages.end(), [](const Passage& x) { return x.t_e_end > 0; });
  return p == passages.end() ? nullptr : &*p;
}

const MpHeard* Training::Side::mp() const {
  const Passage* p = started();
  if (p == nullptr) {
    const auto any = std::find_if(passages.begin(), passages.end(), [](const Passage& x) { return !x.mp.empty(); });
    p = any == passages.end() ? nullptr : &*any;
  }
  return p == nullptr || p->mp.empty() ? nullptr : &p->mp.back();
}

std::vector<const CpHeard*> Training::Side::cps() const {
  std::vector<const CpHeard*> all;
  for (const Passage& p : passages) {
    for (const CpHeard& h : p.cp) all.push_back(&h);
  }
  return all;
}

const CpHeard* Training::Side::cp() const {
  const CpHeard* last = nullptr;
  for (const Passage& p : passages) {
    for (const CpHeard& h : p.cp) {
      if (h.cp.data_mode && h.cp.drn > 0) last = &h;
    }
    if (last != nullptr) break;
  }
  return last;
}

std::vector<Training> find_trainings(const Recording& r, const StartUp& s) {
  std::vector<Training> all;
  const v34::Info1c* info1c = nullptr;
  for (const InfoHeard& i : s.info) {
    if (const auto* c = std::get_if<v34::Info1c>(&i.info)) info1c = c;
    Training t;
    const auto* v34 = std::get_if<v34::Info1a>(&i.info);
    const auto* v90 = std::get_if<v34::Info1aV90>(&i.info);
    if (v34 == nullptr && v90 == nullptr) continue;
    if (!all.empty() && i.t0 - all.back().info1a_t < 1) continue;  // repeated
    t.info1a_t = i.t0;
    t.pcm = v90 != nullptr;
    Direction& up = t.tx_2400side.direction;
    up.rate = v90 != nullptr ? v90->rate_upstream : v34->rate_answer_to_call;
    up.scrambling = kGpa;
    up.v90 = t.pcm;
    up.channel = s.channel_2400;
    if (info1c != nullptr) {
      const v34::ProbingResult& p = info1c->probing[static_cast<int>(up.rate)];
      up.carrier = p.carrier;
      up.pre_emphasis = p.pre_emphasis;
      up.projected_rate = 2400 * p.max_rate;
    }
    Direction& down = t.tx_1200side.direction;
    down.scrambling = kGpc;
    down.channel = t.pcm ? -1 : s.channel_1200;
    if (v34 != nullptr) {
      down.rate = v34->rate_call_to_answer;
      down.carrier = v34->call_to_answer.carrier;
      down.pre_emphasis = v34->call_to_answer.pre_emphasis;
      down.projected_rate = 2400 * v34->call_to_answer.max_rate;
    }
    all.push_back(t);
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    Training& t = all[k];
    const double to = k + 1 < all.size() ? all[k + 1].info1a_t : r.duration_s;
    std::unique_ptr<Lines> lines[2];
    Training::Side* const sides[2] = {&t.tx_1200side, &t.tx_2400side};
    for (int i = 0; i < 2; ++i) {
      Direction& d = sides[i]->direction;
      if (d.channel < 0) continue;
      lines[i] = std::make_unique<Lines>(r, d);
      sides[i]->passages =
          follow(*lines[i]->line, lines[i]->other.get(), d, find_anchors(*lines[i]->line, d, t.info1a_t, to));
      if (d.v90) listen_s_bar(*lines[i], *sides[i], to);
    }
    const MpHeard* a = t.tx_1200side.mp();
    const MpHeard* b = t.tx_2400side.mp();
    if (a != nullptr || b != nullptr) {
      t.rates = resolve_rates(a ? a->mp : b->mp, b ? b->mp : a->mp);
    }
    listen_data(lines, sides);
    uncompress(t.tx_1200side.links, t.tx_2400side.links);
  }
  return all;
}

}  // namespace offhook::decode
