// SPDX-License-Identifier: MIT
//
// Training and data mode in the JSON of a decoded call.
#include <array>

#include "src/decode/presentation/json_tables.h"
#include "src/decode/presentation/names.h"

namespace offhook::decode {
namespace {

using Fr = Written<LapmFrame>;
constexpr Row kFrameRows[] = {
    Fr::of<&LapmFrame::t>("end_s", "s", "time of the closing flag").decimals(kTime),
    Fr::of<&LapmFrame::kind>("name", "",
                             "`I`, `RR`, `RNR`, `REJ`, `SREJ`, `SABME`, `UA`, `DISC`, `DM`, `FRMR`, `XID`, `UI`, "
                             "`TEST`"),
    Fr::of<&LapmFrame::address>("address", "", "address octet"),
    Fr::of<&LapmFrame::ns>("ns", "", "N(S)").absent_below_0("other than I frames"),
    Fr::of<&LapmFrame::nr>("nr", "", "N(R)").absent_below_0("unnumbered frames"),
    Fr::of<&LapmFrame::poll_final>("poll_final", "", "P/F bit"),
    Fr::of("fcs_bits", "", "16 or 32", [](const LapmFrame& f) { return f.fcs32 ? 32 : 16; }),
    Fr::of<&LapmFrame::octets>("octet_count", "", "octets of information"),
};
constexpr Table kFrame{kFrameRows, "Frame"};

using L = Written<Link>;
constexpr Row kDetectionRows[] = {
    L::of<&Link::detection>("name", "", "`ODP`, `ADP` or `ADP: no error control`"),
    L::of<&Link::detection_t>("end_s", "s", "time at which it was recognised").decimals(kTime),
};
constexpr Table kDetection{kDetectionRows, "Detection"};

constexpr Row kLinkRows[] = {
    L::part<&Link::frames>("frames", kFrame).means("HDLC frames with a good check sequence"),
    L::of<&Link::bad_frames>("bad_frames", "", "HDLC frames with a wrong check sequence, after the first good one"),
    L::of<&Link::gaps>("missing_i_frames", "", "missing I frames, counted by N(S)"),
    L::of<&Link::v42bis>("v42bis", "", "whether V.42bis compressed the data, which are decompressed here"),
    L::of<&Link::v44>("v44", "", "whether V.44 compressed the data, which are decompressed here"),
    L::of<&Link::ppp_frames>("ppp_frames", "", "good PPP frames in the data of the I frames"),
    L::of("octet_count", "", "octets of the I frames", [](const Link& l) { return l.payload.size(); }),
    L::of<&Link::format>("format", "", "format of the characters of V.22 and V.22bis without frames: `8N1`, ...")
        .absent_if_0("no start-stop characters"),
    L::of("character_count", "", "number of start-stop characters",
          [](const Link& l) { return l.format.empty() ? std::nullopt : std::optional(l.characters.size()); })
        .absent("no start-stop characters"),
    L::part("v42_detection", kDetection, [](const Link& l) { return l.detection != nullptr ? &l : nullptr; })
        .absent("not heard")
        .means("detection phase of V.42"),
};
constexpr Table kLink{kLinkRows};

using V34DataRow = Written<V34DataHeard>;
constexpr Row kV34DataRows[] = {
    V34DataRow::of("trellis_states", "", "states of the trellis code",
                   [](const V34DataHeard& d) { return v34::trellis_states(d.parameters.coding.trellis); }),
    V34DataRow::of<&V34DataHeard::parameters, &v34::DataParameters::nonlinear>("nonlinear", "", "non-linear encoding"),
    V34DataRow::of("points", "", "points of the constellation",
                   [](const V34DataHeard& d) { return d.parameters.coding.framing.points(); }),
    V34DataRow::of("auxiliary_channel", "", "whether the auxiliary channel is used",
                   [](const V34DataHeard& d) { return d.parameters.coding.framing.aux; }),
    V34DataRow::of("found_by", "",
                   "`B1`; `points` if B1 did not match: the data were found by their points and their HDLC",
                   [](const V34DataHeard& d) -> std::optional<std::string> {
                     if (!d.was_read()) return std::nullopt;
                     return d.b1_found ? "B1" : "points";
                   })
        .absent("not decoded"),
    V34DataRow::of<&V34DataHeard::b1_match>("b1_match", "", "share of B1's energy explained by its known symbols")
        .decimals(4),
    V34DataRow::of<&V34DataHeard::b1_start, &v34::EncoderStart::quadrant>(
        "b1_quadrant", "",
        "state of the differential encoder before B1, 0 or 1, because half a turn is not detectable; the "
        "Recommendation "
        "requires 0"),
    V34DataRow::of<&V34DataHeard::b1_start, &v34::EncoderStart::trellis_state>(
        "b1_trellis_state", "", "state of the trellis encoder before B1; 0 by the Recommendation"),
    V34DataRow::of<&V34DataHeard::b1_start, &v34::EncoderStart::frame>(
        "b1_missing_frames", "", "mapping frames of B1 before its ones began; the Recommendation requires 0"),
};
constexpr Table kV34Data{kV34DataRows};

/// A data mode of any modulation. `v34` and `b1_errors` only if they are known.
struct DataMode {
  const DataHeard* data;
  const Link* link;
  const V34DataHeard* v34 = nullptr;
  std::optional<int> b1_errors = {};
};
using DM = Written<DataMode>;
using DH = Written<DataHeard>;
constexpr Row kDataHeardRows[] = {
    DH::of<&DataHeard::t0>("start_s", "s", "first symbol of B1; else the first one that was decoded").decimals(kTime),
    DH::of<&DataHeard::t1>("end_s", "s", "last symbol").decimals(kTime),
    DH::of<&DataHeard::bit_rate>("bit_rate", "bit/s", "bit rate"),
    DH::of("bit_count", "", "bits after B1", [](const DataHeard& d) { return d.bits.size(); }),
    DH::of<&DataHeard::snr_db>("snr_db", "dB", "SNR of the symbols, relative to the decided points").decimals(1),
};
constexpr Table kDataHeard{kDataHeardRows};
constexpr Row kDataRows[] = {
    DM::part("", kDataHeard, [](const DataMode& d) -> const DataHeard& { return *d.data; }),
    DM::of<&DataMode::b1_errors>("b1_errors", "", "number of bits of B1 that were not one").absent("V.90 downstream"),
    DM::part("", kLink, [](const DataMode& d) -> const Link& { return *d.link; }),
    DM::part("", kV34Data, [](const DataMode& d) { return d.v34; }).absent("other than V.34"),
};
constexpr Table kData{kDataRows, "Data"};

// The common part of MP of V.34 and MP of V.90 before the rates, and after them.
template <typename Heard>
constexpr auto kMpHeadRows = std::to_array<Row>({
    Written<Heard>::template of<&Heard::t_first>("start_s", "s", "start of the first of identical sequences")
        .decimals(kTime),
    Written<Heard>::template of<&Heard::t_last_end>("end_s", "s", "end of the last identical sequence, without fill")
        .decimals(kTime),
    Written<Heard>::template of<&Heard::count>("count", "", "number of identical sequences"),
    Written<Heard>::of("type", "", "0, or 1 with precoder coefficients",
                       [](const Heard& h) { return h.mp.type1 ? 1 : 0; }),
    Written<Heard>::of("acknowledge", "", "whether the sequence is MP'",
                       [](const Heard& h) { return h.mp.acknowledge; }),
});
template <typename Heard>
constexpr auto kMpCodingRows = std::to_array<Row>({
    Written<Heard>::of("trellis_states", "", "16, 32 or 64",
                       [](const Heard& h) { return v34::trellis_states(h.mp.trellis); }),
    Written<Heard>::of("nonlinear", "", "non-linear encoding", [](const Heard& h) { return h.mp.nonlinear; }),
    Written<Heard>::of("expanded_shaping", "", "expanded, else minimum", [](const Heard& h) { return h.mp.expanded; }),
    Written<Heard>::of("bits", "", "without fill; for V.90, reserved bits as zeros",
                       [](const Heard& h) { return bit_string(h.bits); }),
    Written<Heard>::of("precoder", "", "coefficients h(1) to h(3), each its real and its imaginary part",
                       [](const Heard& h) {
                         std::optional<std::vector<std::array<double, 2>>> all;
                         if (h.mp.type1) all.emplace();
                         for (const auto& c : h.mp.precoder.h)
                           if (all) all->push_back({c.re / 16384.0, c.im / 16384.0});
                         return all;
                       })
        .absent("type 0"),
});
template <typename Heard>
constexpr Table kMpHead{kMpHeadRows<Heard>};
template <typename Heard>
constexpr Table kMpCoding{kMpCodingRows<Heard>};

using Mp = Written<MpHeard>;
constexpr Row kMpRows[] = {
    Mp::part("", kMpHead<MpHeard>, [](const MpHeard& h) -> const MpHeard& { return h; }),
    Mp::of("call_to_answer_max_bit_rate", "bit/s", "0 in both directions: cleardown",
           [](const MpHeard& h) { return 2400 * h.mp.max_call_to_answer; }),
    Mp::of("answer_to_call_max_bit_rate", "bit/s", "as call_to_answer_max_bit_rate",
           [](const MpHeard& h) { return 2400 * h.mp.max_answer_to_call; }),
    Mp::of("bit_rates", "bit/s", "enabled", [](const MpHeard& h) { return bit_rates(h.mp.rate_mask); }),
    Mp::of("asymmetric", "", "asymmetric rates are enabled", [](const MpHeard& h) { return h.mp.asymmetric; }),
    Mp::of("auxiliary_channel", "", "the auxiliary channel is requested", [](const MpHeard& h) { return h.mp.aux; }),
    Mp::part("", kMpCoding<MpHeard>, [](const MpHeard& h) -> const MpHeard& { return h; }),
};
constexpr Table kMp{kMpRows, "Mp"};

using DMp = Written<DownstreamMp>;
constexpr Row kDownstreamMpRows[] = {
    DMp::part("", kMpHead<DownstreamMp>, [](const DownstreamMp& h) -> const DownstreamMp& { return h; }),
    DMp::of("max_bit_rate", "bit/s", "upstream; 0: cleardown", [](const DownstreamMp& h) { return 2400 * h.mp.drn; }),
    DMp::of("bit_rates", "bit/s", "enabled",
            [](const DownstreamMp& h) { return bit_rates(static_cast<std::uint32_t>(h.mp.rate_mask) << 1); }),
    DMp::part("", kMpCoding<DownstreamMp>, [](const DownstreamMp& h) -> const DownstreamMp& { return h; }),
};
constexpr Table kDownstreamMp{kDownstreamMpRows, "DownstreamMp"};

std::vector<std::vector<int>> ucodes(const v90::Cp& cp, const v90::UcodeMask* sets) {
  std::vector<std::vector<int>> all(static_cast<std::size_t>(cp.constellations()));
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (int u = 0; u < v90::kUcodes; ++u)
      if (sets[k].has(u)) all[k].push_back(u);
  }
  return all;
}
using Cp = Written<CpHeard>;
constexpr Row kCpRows[] = {
    Cp::of<&CpHeard::t_first>("start_s", "s", "start of the first of identical sequences").decimals(kTime),
    Cp::of<&CpHeard::t_last_end>("end_s", "s", "end of its fill").decimals(kTime),
    Cp::of<&CpHeard::t_last>("last_start_s", "s", "start of the last identical sequence").decimals(kTime),
    Cp::of<&CpHeard::count>("count", "", "number of identical sequences"),
    Cp::of<&CpHeard::points>("training_points", "",
                             "number of points with which it was sent, 4 or 16; PCM upstream: 2, 4 or 8"),
    Cp::of("name", "", "`CPt` or `CP`", [](const CpHeard& h) { return h.cp.data_mode ? "CP" : "CPt"; }),
    Cp::of<&CpHeard::cp, &v90::Cp::acknowledge>("acknowledge", "", "whether the sequence is CP'"),
    Cp::of<&CpHeard::cp, &v90::Cp::drn>("drn", "", "0: cleardown"),
    Cp::of("bit_rate", "bit/s", "downstream, to the nearest bit/s",
           [](const CpHeard& h) { return downstream_bit_rate(h.cp); }),
    Cp::of<&CpHeard::cp, &v90::Cp::k>("k", "", "bits of the magnitudes of a data frame"),
    Cp::of<&CpHeard::cp, &v90::Cp::silence>("silence", "", "silence is requested"),
    Cp::of<&CpHeard::cp, &v90::Cp::shaping_bits>("shaping_bits", "", "Sr"),
    Cp::of<&CpHeard::cp, &v90::Cp::look_ahead>("look_ahead", "", "look-ahead of spectral shaping"),
    Cp::of("shaping_filter", "", "a1, a2, b1, b2",
           [](const CpHeard& h) {
             return std::array{h.cp.a1 / 64.0, h.cp.a2 / 64.0, h.cp.b1 / 64.0, h.cp.b2 / 64.0};
           }),
    Cp::of("codec_law", "", "`A` or `mu`", [](const CpHeard& h) { return h.cp.a_law ? "A" : "mu"; }),
    Cp::of("trn1d_ratio", "", "RMS of TRN1d at the transmitter, divided by that at the codec",
           [](const CpHeard& h) { return h.cp.trn1d_ratio / 8192.0; }),
    Cp::of("upstream_bit_rates", "bit/s", "enabled", [](const CpHeard& h) { return upstream_bit_rates(h.cp); }),
    Cp::of("interval_constellation", "", "index into `constellations` for each of the 6 data frame intervals",
           [](const CpHeard& h) { return std::to_array(h.cp.interval); }),
    Cp::of("constellations", "", "Ucodes of each constellation",
           [](const CpHeard& h) { return ucodes(h.cp, h.cp.constellation); }),
    Cp::of("bits", "", "without fill", [](const CpHeard& h) { return bit_string(h.bits); }),
    Cp::of("codec_constellations", "", "Ucodes of each constellation at the codec",
           [](const CpHeard& h) { return h.cp.codec_differs ? std::optional(ucodes(h.cp, h.cp.codec)) : std::nullopt; })
        .absent("equal to `constellations`"),
};
constexpr Table kCp{kCpRows, "Cp"};

using G = Written<Segment>;
constexpr Row kSRows[] = {
    G::of<&Segment::t_s>("start_s", "s", "start of S").decimals(kTime),
    G::of<&Segment::t_s_bar>("s_bar_s", "s", "end of S, at the phase reversal").decimals(kTime),
    G::of<&Segment::s_correlation>("correlation", "",
                                   "correlation of the symbols of S with those two symbols earlier, 0 to 1")
        .decimals(3),
};
constexpr Table kS{kSRows, "S"};
constexpr Row kTrnRows[] = {
    G::of<&Segment::t_trn>("start_s", "s", "start of TRN").decimals(kTime),
    G::of<&Segment::t_trn_end>("end_s", "s", "end of TRN").decimals(kTime),
    G::of<&Segment::trn_symbols>("symbols", "", "number of symbols"),
    G::of("points", "", "4 or 16",
          [](const Segment& p) { return p.anchor.points == v34::TrainingPoints::k4 ? 4 : 16; }),
    G::of<&Segment::anchor, &Anchor::correlation>("correlation", "",
                                                  "correlation of the beginning of TRN, or of the preceding PP, 0 to 1")
        .decimals(3),
    G::of<&Segment::training_mse_db>("mse_db", "dB", "mean square error of the equaliser fitted to TRN").decimals(1),
    G::of<&Segment::clock_ppm>("clock_ppm", "ppm", "the sender's symbol clock relative to the recording's").decimals(1),
    G::of<&Segment::frequency_offset_hz>("frequency_offset_hz", "Hz", "frequency offset of the carrier").decimals(2),
};
constexpr Table kTrn{kTrnRows, "Trn"};
constexpr Row kJRows[] = {
    G::of<&Segment::t_j>("start_s", "s", "start of J").decimals(kTime),
    G::of<&Segment::t_j_end>("end_s", "s", "end of J").decimals(kTime),
    G::of<&Segment::j_points>("points", "", "number of points requested from the far modem, 4 or 16"),
    G::of<&Segment::j_repeats>("count", "", "number of repetitions"),
};
constexpr Table kJ{kJRows, "J"};

struct SegmentInOrder {
  const Segment* segment;
  bool data;  ///< data mode came before
};
using O = Written<SegmentInOrder>;
constexpr Row kSegmentPartRows[] = {
    G::part("s", kS, [](const Segment& p) { return p.t_s > 0 ? &p : nullptr; }).absent("not heard").means("S"),
    G::of<&Segment::t_pp>("pp_s", "s", "PP").decimals(kTime).absent_if_0("not heard"),
    G::part("trn", kTrn, [](const Segment& p) { return p.trn_symbols > 0 ? &p : nullptr; })
        .absent("not heard")
        .means("TRN; SCR of V.90's analogue modem"),
    G::part("j", kJ, [](const Segment& p) { return p.j_points > 0 ? &p : nullptr; }).absent("not heard").means("J"),
    G::of<&Segment::t_j_prime>("j_prime_s", "s", "J'").decimals(kTime).absent_if_0("not heard"),
    G::part<&Segment::mp>("mp", kMp).means("MP sequences"),
    G::part<&Segment::cp>("cp", kCp).means("CP sequences"),
    G::part("e", kSpan,
            [](const Segment& p) { return p.t_e_end > 0 ? std::optional(std::pair(p.t_e, p.t_e_end)) : std::nullopt; })
        .absent("not heard")
        .means("E, which data follow"),
};
constexpr Table kSegmentParts{kSegmentPartRows};
constexpr Row kSegmentRows[] = {
    O::of("name", "", "`phase 3`, `phase 4`, `rate renegotiation` or `cleardown`",
          [](const SegmentInOrder& o) { return segment_name(*o.segment, o.data); }),
    O::part("", kSegmentParts, [](const SegmentInOrder& o) -> const Segment& { return *o.segment; }),
};
constexpr Table kSegment{kSegmentRows, "Segment"};

/// The sequences of one modem of V.34, or of the analogue modem of V.90.
struct Sent {
  const Training::Side* side;
  int rate;  ///< in 2400 bit/s; 0: unknown
};
std::vector<SegmentInOrder> segments(const Sent& s) {
  std::vector<SegmentInOrder> all;
  bool data = false;
  for (const Segment& p : s.side->segments) {
    all.push_back({&p, data});
    data |= p.t_e_end > 0;
  }
  return all;
}
std::vector<DataMode> data_of_v34(const Sent& s) {
  std::vector<DataMode> all;
  for (std::size_t k = 0; k < s.side->data.size(); ++k) {
    const V34DataHeard& d = s.side->data[k];
    if (s.side->direction.pcm) {
      all.push_back({&d, &s.side->links[k]});
    } else {
      all.push_back({&d, &s.side->links[k], &d, d.b1_errors});
    }
  }
  return all;
}
using D = Written<Direction>;
constexpr Row kDirectionHeadRows[] = {
    D::of("symbol_rate", "symbols/s", "symbol rate, by INFO1a",
          [](const Direction& d) { return d.pcm ? kRateHz : symbol_rate_hz(d.rate); })
        .decimals(3),
    D::of("carrier_hz", "Hz", "carrier by INFO1; the low carrier if neither INFO1c nor INFO1d was heard",
          [](const Direction& d) { return d.pcm ? std::nullopt : std::optional(carrier_hz(d.rate, d.carrier)); })
        .decimals(3)
        .absent("V.92's PCM upstream"),
    D::of<&Direction::pre_emphasis>("pre_emphasis", "", "index of the filter, by INFO1"),
    D::of<&Direction::projected_rate>("max_bit_rate", "bit/s", "projected in INFO1; 0: unknown"),
    D::of("scrambler", "", "`GPC` or `GPA`", [](const Direction& d) { return d.scrambling == kGpc ? "GPC" : "GPA"; }),
};
constexpr Table kDirectionHead{kDirectionHeadRows};
using N = Written<Sent>;
constexpr Row kDirectionRows[] = {
    N::part("", kDirectionHead, [](const Sent& s) -> const Direction& { return s.side->direction; }),
    N::part<&segments>("segments", kSegment).means("training segments, in order of time"),
    N::part<&data_of_v34>("data", kData).means("one entry per decoded data mode; PCM upstream: as downstream"),
    N::of("channel", "", "channel of the sender", [](const Sent& s) { return s.side->direction.channel; })
        .absent_below_0("not recorded"),
    N::of("bit_rate", "bit/s", "negotiated by the MPs of Phase 4", [](const Sent& s) { return 2400 * s.rate; })
        .absent_if_0("MP of either end not decoded; V.90"),
};
constexpr Table kDirection{kDirectionRows, "Direction"};

using W = Written<DownstreamHeard>;
constexpr Row kTrn1dRows[] = {
    W::of<&DownstreamHeard::t_trn1d>("start_s", "s", "time of the first symbol").decimals(kTime),
    W::of<&DownstreamHeard::training_db>("mse_db", "dB", "residual after the equaliser").decimals(1),
};
constexpr Table kTrn1d{kTrn1dRows, "Trn1d"};
constexpr Row kJdRows[] = {
    W::of<&DownstreamHeard::jd, &v90::Jd::look_ahead>("look_ahead", "", "greatest look-ahead of spectral shaping")
        .always(),
    W::of("cp_points", "", "4 or 16: points of CP in the start-up",
          [](const DownstreamHeard& d) { return d.jd->points16 ? 16 : 4; }),
    W::of("cp_points_renegotiation", "", "number of points in renegotiations",
          [](const DownstreamHeard& d) { return d.jd->points16_renegotiation ? 16 : 4; }),
    W::of<&DownstreamHeard::jd, &v90::Jd::rates>("rates", "", "bit drn - 1 is set if that rate of CP can be sent")
        .always(),
    W::of<&DownstreamHeard::t_jd_end>("end_s", "s", "end of Jd'").decimals(kTime).absent_if_0("Jd' not seen"),
};
constexpr Table kJd{kJdRows, "Jd"};
constexpr Row kStoppedRows[] = {
    W::of<&DownstreamHeard::t_lost>("at_s", "s", "time at which decoding ended").decimals(kTime),
    W::of<&DownstreamHeard::stopped>("reason", "", "why decoding ended"),
};
constexpr Table kStopped{kStoppedRows, "Stopped"};

std::vector<DataMode> data_of_downstream(const Training& t) {
  std::vector<DataMode> all;
  for (std::size_t k = 0; k < t.downstream.data.size(); ++k)
    all.push_back({&t.downstream.data[k], &t.downstream_links[k]});
  return all;
}
using TrainingRow = Written<Training>;
constexpr Row kDownstreamHeardRows[] = {
    W::part("trn1d", kTrn1d, [](const DownstreamHeard& d) { return d.t_trn1d > 0 ? &d : nullptr; })
        .absent("not found")
        .means("TRN1d"),
    W::of<&DownstreamHeard::learnt>("learnt_levels", "", "number of levels in the DIL, all six intervals together")
        .absent_if_0("no DIL read"),
    W::part("jd", kJd, [](const DownstreamHeard& d) { return d.jd ? &d : nullptr; }).absent("not read").means("Jd"),
};
constexpr Table kDownstreamHeard{kDownstreamHeardRows};
constexpr Row kDownstreamRows[] = {
    TrainingRow::of("symbol_rate", "symbols/s", "8000", [](const Training&) { return 8000; }),
    TrainingRow::part(
        "mp", kDownstreamMp, [](const Training& t) -> const auto& { return t.downstream.mp; })
        .means("MP sequences"),
    TrainingRow::part<&data_of_downstream>("data", kData).means("one entry per decoded data mode, without `b1_errors`"),
    TrainingRow::of("bit_rate", "bit/s", "bit rate of the last CP before data mode",
                    [](const Training& t) {
                      const CpHeard* cp = t.from_2400.cp();
                      return cp != nullptr ? std::optional(downstream_bit_rate(cp->cp)) : std::nullopt;
                    })
        .absent("no CP read"),
    TrainingRow::part<&Training::downstream>("", kDownstreamHeard),
    TrainingRow::part("stopped", kStopped,
                      [](const Training& t) { return t.downstream.stopped.empty() ? nullptr : &t.downstream; })
        .absent("decoded to the end")
        .means("time at which decoding ended before the end of the recording"),
};
constexpr Table kDownstream{kDownstreamRows, "Downstream"};

std::optional<Sent> sent(const Training& t, bool pcm, const Training::Side& side, int rate) {
  return t.pcm == pcm ? std::optional(Sent{&side, rate}) : std::nullopt;
}
constexpr Row kTrainingRows[] = {
    TrainingRow::of("info1a_s", "s", "time of the INFO1a that began it",
                    [](const Training& t) {
                      return t.begins_in_data || t.without_info1a ? std::nullopt : std::optional(t.info1a_t);
                    })
        .decimals(kTime)
        .absent("not decoded; the recording begins in data mode"),
    TrainingRow::of("modulation", "", "`V.34` or `V.90/V.92 downstream PCM`",
                    [](const Training& t) { return t.pcm ? "V.90/V.92 downstream PCM" : "V.34"; }),
    TrainingRow::part("call_to_answer", kDirection,
                      [](const Training& t) { return sent(t, false, t.from_1200, t.rates.call_to_answer); })
        .absent("V.90")
        .means("from the call modem"),
    TrainingRow::part("answer_to_call", kDirection,
                      [](const Training& t) { return sent(t, false, t.from_2400, t.rates.answer_to_call); })
        .absent("V.90")
        .means("from the answer modem"),
    TrainingRow::part("upstream", kDirection, [](const Training& t) { return sent(t, true, t.from_2400, 0); })
        .absent("V.34")
        .means("from the analogue modem"),
    TrainingRow::part("downstream", kDownstream, [](const Training& t) { return t.pcm ? &t : nullptr; })
        .absent("V.34")
        .means("from the digital modem"),
};

using RS = Written<RateSignalHeard>;
constexpr Row kRateSignalRows[] = {
    RS::of<&RateSignalHeard::t0>("start_s", "s", "start of the signal").decimals(kTime),
    RS::of<&RateSignalHeard::t1>("end_s", "s", "end of the signal").decimals(kTime),
    RS::of<&RateSignalHeard::name>("name", "", "`R1` to `R5`, `E`, or `R4 or R5` if only one direction was recorded"),
    RS::of<&RateSignalHeard::count>("count", "", "number of repetitions"),
    RS::of("bits", "", "B0 first",
           [](const RateSignalHeard& r) {
             std::string bits;
             for (int k = 0; k < 16; ++k) bits += (r.bits >> k & 1) != 0 ? '1' : '0';
             return bits;
           }),
    RS::of<&RateSignalHeard::signal, &v32::RateSignal::v32bis>("v32bis", "",
                                                               "whether the sender has V.32bis, not only V.32"),
    RS::of("bit_rates", "bit/s", "enabled; empty: GSTN cleardown",
           [](const RateSignalHeard& r) { return bit_rates(r.signal); }),
    RS::of("trellis_9600", "", "whether 9600 bit/s has trellis coding",
           [](const RateSignalHeard& r) { return (r.signal.rates >> 2 & 1) != 0; }),
    RS::of<&RateSignalHeard::after_data>("after_data", "",
                                         "whether the signal belongs to a renegotiation or cleardown"),
};
constexpr Table kRateSignal{kRateSignalRows, "RateSignal"};

using SignalRow = Written<Connection::Signal>;
constexpr Row kSideSignalRows[] = {
    SignalRow::of<&Connection::Signal::t0>("start_s", "s", "start of the signal").decimals(kTime),
    SignalRow::of<&Connection::Signal::t1>("end_s", "s", "end of the signal").decimals(kTime),
    SignalRow::of<&Connection::Signal::what>(
        "name", "",
        "`AA`, `AC`, `S`, `S-bar`, `TRN`, `preamble`, `R1` ...; V.22bis: `S1`, `unscrambled ones, 1200 bit/s` ..."),
    SignalRow::of<&Connection::Signal::detail>("detail", "", "further properties, in words")
        .absent_if_0("no further property"),
};
constexpr Table kSideSignal{kSideSignalRows, "Signal"};

std::vector<DataMode> data_of_connection(const Connection::Side& side) {
  std::vector<DataMode> all;
  for (std::size_t k = 0; k < side.data.size(); ++k)
    all.push_back({&side.data[k], &side.links[k], nullptr, side.data[k].b1_errors});
  return all;
}
using B = Written<Connection::Side>;
constexpr Row kConnectionDirectionRows[] = {
    B::of<&Connection::Side::channel>("channel", "", "channel of the sender"),
    B::of<&Connection::Side::carrier_hz>("carrier_hz", "Hz", "nominal"),
    B::of<&Connection::Side::frequency_offset_hz>("frequency_offset_hz", "Hz", "frequency offset of the carrier")
        .decimals(2),
    B::of<&Connection::Side::clock_ppm>("clock_ppm", "ppm", "the sender's symbol clock relative to the recording's")
        .decimals(1),
    B::part<&Connection::Side::signals>("signals", kSideSignal)
        .means("signals of start-up, retrain and renegotiation, in order of time"),
    B::part<&Connection::Side::rate_signals>("rate_signals", kRateSignal).means("R1 to R5 and E of V.32bis"),
    B::part<&data_of_connection>("data", kData).means("one entry per decoded data mode"),
};
constexpr Table kConnectionDirection{kConnectionDirectionRows, "ConnectionDirection"};

using ConnectionRow = Written<Connection>;
constexpr Row kConnectionRows[] = {
    ConnectionRow::part("call_to_answer", kConnectionDirection,
                        [](const Connection& c) { return c.call.channel >= 0 ? &c.call : nullptr; })
        .absent("not heard")
        .means("from the call modem"),
    ConnectionRow::part("answer_to_call", kConnectionDirection,
                        [](const Connection& c) { return c.answer.channel >= 0 ? &c.answer : nullptr; })
        .absent("not heard")
        .means("from the answer modem"),
};

}  // namespace

constexpr Table kOneTraining{kTrainingRows, "Training"}, kConnection{kConnectionRows, "Connection"};

}  // namespace offhook::decode
