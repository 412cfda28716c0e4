// SPDX-License-Identifier: MIT
//
// V.8bis, V.8 and Phase 2 in the JSON of a decoded call.
#include <array>

#include "dsp/v34/phase2/tones.h"
#include "src/decode/presentation/json_tables.h"
#include "src/decode/presentation/names.h"
#include "src/decode/presentation/v8bis_fields.h"

namespace offhook::decode {
namespace {

/// QC1 and QCA1 in the octets of V.8, QC2 and QCA2 as messages of V.8bis.
struct QuickConnect {
  v90::QuickConnect qc;
  const QuickConnectHeard* heard = nullptr;  ///< null: a message of V.8bis
};
using Q = Written<QuickConnect>;
constexpr Row kQuickConnectRows[] = {
    Q::of<&QuickConnect::heard, &QuickConnectHeard::channel>("channel", "", "channel of the sender")
        .absent("QC2, QCA2: in the message"),
    Q::of<&QuickConnect::heard, &QuickConnectHeard::t>("start_s", "s", "first octet")
        .decimals(kTime)
        .absent("QC2, QCA2"),
    Q::of<&QuickConnect::heard, &QuickConnectHeard::repeats>("count", "", "number of repetitions").absent("QC2, QCA2"),
    Q::of("octet", "", "octet of V.92",
          [](const QuickConnect& q) {
            return q.heard == nullptr ? std::nullopt : std::optional(octet_string({&q.heard->octet, 1}));
          })
        .absent("QC2, QCA2"),
    Q::of("name", "", "`QC1`, `QCA1`, `QC2` or `QCA2`",
          [](const QuickConnect& q) {
            return std::string(q.qc.acknowledge ? "QCA" : "QC") + (q.heard != nullptr ? "1" : "2");
          }),
    Q::of("modem", "", "`analogue` or `digital`",
          [](const QuickConnect& q) { return q.qc.digital ? "digital" : "analogue"; }),
    Q::of<&QuickConnect::qc, &v90::QuickConnect::lapm>("lapm", "", "LAPM is requested"),
    Q::of("anspcm_level_dbm0", "dBm0", "level of ANSpcm",
          [](const QuickConnect& q) {
            return q.qc.digital ? std::optional(q.qc.anspcm_tenth_dbm0 / 10.0) : std::nullopt;
          })
        .absent("an analogue modem's"),
    Q::of<&QuickConnect::qc, &v90::QuickConnect::uqts>("uqts", "", "Ucode of QTS")
        .absent_if_0("a digital modem's; cleardown"),
    Q::of("cleardown", "", "cleardown from modem-on-hold",
          [](const QuickConnect& q) { return !q.qc.digital && q.qc.uqts == 0; })
        .absent_if_0("unless true"),
};
constexpr Table kQuickConnect{kQuickConnectRows, "QuickConnect"};

std::vector<QuickConnect> quick_connects(const V8Heard& v8) {
  std::vector<QuickConnect> all;
  for (const QuickConnectHeard& q : v8.quick_connect) all.push_back({q.qc, &q});
  return all;
}

using Pa = Written<V8bisParameters>;
extern const Table kParameters;
constexpr Row kParametersRows[] = {
    Pa::of<&V8bisParameters::name>("name", "", "parameter to which these parameters belong")
        .absent_if_0("in the field itself"),
    Pa::of<&V8bisParameters::parameters>("parameters", "", "set parameters without further parameters"),
    Pa::part<&V8bisParameters::fields>("fields", kParameters).means("set parameters with further parameters"),
};
constexpr Table kParameters{kParametersRows, "Parameters"};

using NS = Written<V8bisNonStandard>;
constexpr Row kNonStandardRows[] = {
    NS::of<&V8bisNonStandard::country_code>("country_code", "", "octet of T.35"),
    NS::of<&V8bisNonStandard::provider_code>("provider_code", "", "octets"),
    NS::of<&V8bisNonStandard::octets>("octets", "", "the following content"),
    NS::of<&V8bisNonStandard::country>("country", "", "name of the country").absent_if_0("unknown"),
    NS::of<&V8bisNonStandard::provider>("provider", "", "name of the provider").absent_if_0("unknown"),
};
constexpr Table kNonStandard{kNonStandardRows, "NonStandard"};

using Mal = Written<v8bis::Malformed>;
constexpr Row kMalformedRows[] = {
    Mal::of<&v8bis::Malformed::octet>("octet", "", "the first is 1"),
    Mal::of<&v8bis::Malformed::expected>("expected", "", "expected content"),
};
constexpr Table kMalformed{kMalformedRows, "Malformed"};

std::optional<QuickConnect> quick_connect_2(const V8bisMessage& m) {
  QuickConnect q{};
  const bool is_one = v90::decode_qc2(m.octets.data(), static_cast<int>(m.octets.size()), &q.qc);
  return is_one ? std::optional(q) : std::nullopt;
}

std::vector<V8bisNonStandard> non_standards(const V8bisMessage& m) {
  std::vector<V8bisNonStandard> all;
  for (int k = 0; k < m.message.non_standards; ++k) all.push_back(v8bis_non_standard(m.message.non_standard[k]));
  return all;
}

using M = Written<V8bisMessage>;
constexpr Row kMessageFieldRows[] = {
    M::part("identification", kParameters,
            [](const V8bisMessage& m) { return v8bis_parameters(m.message, v8bis::Field::kIdentification); })
        .means("identification field"),
    M::part("standard", kParameters,
            [](const V8bisMessage& m) { return v8bis_parameters(m.message, v8bis::Field::kStandard); })
        .means("standard information field"),
    M::part<&non_standards>("non_standard", kNonStandard).means("non-standard information field"),
};
constexpr Table kMessageFields{kMessageFieldRows};

constexpr Row kMessageRows[] = {
    M::of<&V8bisMessage::type>("name", "", "`MS`, `CL`, `CLR`, `ACK(1)`, `NAK(1)`, ..., or `message type 6`"),
    M::of("type", "", "code of its name (7.1, Table 3)", [](const V8bisMessage& m) { return m.message.type; }),
    M::of("revision", "", "revision of V.8bis", [](const V8bisMessage& m) { return m.message.revision; }),
    M::of<&V8bisMessage::channel>("channel", "", "channel of the sender"),
    M::of("band", "", "`V.21 low` (initiating station) or `V.21 high`",
          [](const V8bisMessage& m) { return m.high_band ? "V.21 high" : "V.21 low"; }),
    M::of<&V8bisMessage::t>("start_s", "s", "time of the opening flag").decimals(kTime),
    M::of<&V8bisMessage::amplitude>("amplitude", "", "amplitude of the carrier").decimals(0),
    M::of("octets", "", "the information field", [](const V8bisMessage& m) { return octet_string(m.octets); }),
    M::of("fcs", "", "the frame check sequence, in the order received",
          [](const V8bisMessage& m) { return octet_string(m.fcs); }),
    M::of<&V8bisMessage::fcs_good>("fcs_good", "", "whether it is correct"),
    M::part("malformed", kMalformed, [](const V8bisMessage& m) { return m.malformed ? &m.malformed : nullptr; })
        .absent("well formed")
        .means("first position at which the octets violate the structure of V.8bis"),
    M::part<&quick_connect_2>("quick_connect", kQuickConnect)
        .absent("no QC2 or QCA2")
        .means("request as QC2 or QCA2 of V.92"),
    M::part("", kMessageFields, [](const V8bisMessage& m) { return m.message.has_parameters() ? &m : nullptr; })
        .absent("no parameters in this message"),
};
constexpr Table kMessage{kMessageRows, "V8bisMessage"};

using Sig = Written<V8bisSignal>;
constexpr Row kSignalRows[] = {
    Sig::of<&V8bisSignal::name>("name", "", "`MRe`, `MRd`, `CRe`, `CRd`, `ESi` or `ESr`"),
    Sig::of("station", "", "`initiating` or `responding`",
            [](const V8bisSignal& s) { return s.responding ? "responding" : "initiating"; }),
    Sig::of<&V8bisSignal::channel>("channel", "", "channel of the sender"),
    Sig::of<&V8bisSignal::t0>("start_s", "s", "segment 1, the dual tone").decimals(kTime),
    Sig::of<&V8bisSignal::t_segment2>("segment2_s", "s", "segment 2, the single tone").decimals(kTime),
    Sig::of<&V8bisSignal::t1>("end_s", "s", "end of segment 2").decimals(kTime),
    Sig::of<&V8bisSignal::tone_hz>("tone_hz", "Hz", "nominal frequency of segment 2"),
    Sig::of<&V8bisSignal::amplitude>("amplitude", "", "amplitude of segment 2").decimals(0),
};
constexpr Table kSignal{kSignalRows, "V8bisSignal"};

struct Extension {
  const char* category;
  std::uint8_t octet;
};
// Extension octets that V.8 has no use for: those of other categories than the modulations.
std::vector<Extension> extensions(const MenuHeard& menu) {
  std::vector<Extension> all;
  const char* category = "unknown";
  bool modulation = false;
  for (const std::uint8_t o : menu.octets) {
    const int tag = o & 31;
    if (v8::is_extension(o)) {
      if (!modulation) all.push_back({category, o});
      continue;
    }
    modulation = tag == v8::kModulation;
    category = tag == v8::kCallFunction ? "call function"
               : tag == v8::kProtocol   ? "protocol"
               : tag == v8::kAccess     ? "PSTN access"
               : tag == v8::kPcmModem   ? "PCM modem availability"
                                        : "unknown";
  }
  return all;
}
using X = Written<Extension>;
constexpr Row kExtensionRows[] = {
    X::of<&Extension::category>("category", "", "category of the octet before it, or `unknown`"),
    X::of("octet", "", "extension octet",
          [](const Extension& e) {
            return octet_string({&e.octet, 1});
          }),
};
constexpr Table kExtension{kExtensionRows, "Extension"};

using Me = Written<v8::Menu>;
constexpr Row kAccessRows[] = {
    Me::of("call_cellular", "", "the call modem is on a cellular connection",
           [](const v8::Menu& m) { return (m.access & 1) != 0; }),
    Me::of("answer_cellular", "", "the answer modem is on a cellular connection",
           [](const v8::Menu& m) { return (m.access & 2) != 0; }),
    Me::of("digital", "", "on a digital network connection", [](const v8::Menu& m) { return (m.access & 4) != 0; }),
};
constexpr Table kAccess{kAccessRows, "PstnAccess"};
constexpr Row kPcmRows[] = {
    Me::of("v90_v92_analogue", "", "V.90 or V.92 analogue modem", [](const v8::Menu& m) { return (m.pcm & 1) != 0; }),
    Me::of("v90_v92_digital", "", "V.90 or V.92 digital modem", [](const v8::Menu& m) { return (m.pcm & 2) != 0; }),
    Me::of("v91", "", "V.91", [](const v8::Menu& m) { return (m.pcm & 4) != 0; }),
};
constexpr Table kPcm{kPcmRows, "PcmAvailability"};

using MH = Written<MenuHeard>;
constexpr Row kMenuRows[] = {
    MH::of<&MenuHeard::channel>("channel", "", "channel of the sender"),
    MH::of<&MenuHeard::t0>("start_s", "s", "first sequence").decimals(kTime),
    MH::of<&MenuHeard::t1>("end_s", "s", "end of CM at CJ, of JM with its carrier").decimals(kTime),
    MH::of<&MenuHeard::identical>("count", "", "sequences with exactly these octets"),
    MH::of("octets", "", "without the synchronisation octet",
           [](const MenuHeard& m) { return octet_string(m.octets); }),
    MH::of<&MenuHeard::confidence>("octet_confidence", "",
                                   "confidence of each octet, 0.5 (unknown) to 1 (all repetitions agree on every bit)")
        .decimals(2),
    MH::of("call_function", "", "`data`, `transmit fax`, ...",
           [](const MenuHeard& m) { return call_function_name(m.menu); }),
    MH::of("modulations", "", "offered, in V.8's order", [](const MenuHeard& m) { return modulation_names(m.menu); }),
    MH::part<&extensions>("extensions", kExtension).means("extension octets of categories that have none in V.8"),
    MH::of("protocol", "", "`LAPM` or `other`",
           [](const MenuHeard& m) {
             return !m.menu.has_protocol ? nullptr : m.menu.protocol == v8::kProtocolLapm ? "LAPM" : "other";
           })
        .absent("not in the menu"),
    MH::part("pstn_access", kAccess, [](const MenuHeard& m) { return m.menu.has_access ? &m.menu : nullptr; })
        .absent("not in the menu")
        .means("PSTN access category"),
    MH::part("pcm", kPcm, [](const MenuHeard& m) { return m.menu.has_pcm ? &m.menu : nullptr; })
        .absent("not in the menu")
        .means("PCM modem availability category"),
};
constexpr Table kMenu{kMenuRows, "Menu"};

using A = Written<AnswerToneHeard>;
constexpr Row kAnswerToneRows[] = {
    A::of<&AnswerToneHeard::name>("name", "",
                                  "`ANSam`; without amplitude modulation `ANS`, or `ANSpcm` of V.92 if it is 0.33 Hz "
                                  "lower or QC or QCA was heard"),
    A::of<&AnswerToneHeard::channel>("channel", "", "channel of the sender"),
    A::of<&AnswerToneHeard::t0>("start_s", "s", "start of the tone").decimals(kTime),
    A::of<&AnswerToneHeard::t1>("end_s", "s", "end of the tone").decimals(kTime),
    A::of<&AnswerToneHeard::frequency_hz>("frequency_hz", "Hz", "measured").decimals(2),
    A::of<&AnswerToneHeard::amplitude>("amplitude", "", "amplitude of the tone").decimals(0),
    A::of<&AnswerToneHeard::depth>("modulation_depth", "", "depth of the amplitude modulation at 15 Hz, 0 to 1")
        .decimals(3),
    A::of<&AnswerToneHeard::reversals>("reversals_s", "s", "phase reversals").decimals(kTime),
};
constexpr Table kAnswerTone{kAnswerToneRows, "AnswerTone"};

using E8 = Written<V8Heard>;
constexpr Row kCjRows[] = {
    E8::of<&V8Heard::cj>("start_s", "s", "first octet").decimals(kTime),
    E8::of<&V8Heard::cj_octets>("octet_count", "",
                                "whole octets of zeros in a row; the Recommendation has 3, and senders may send more"),
};
constexpr Table kCj{kCjRows, "Cj"};

constexpr Row kV8HeardRows[] = {
    E8::part<&quick_connects>("quick_connect", kQuickConnect).means("QC1 and QCA1 of V.92"),
    E8::part("cm", kMenu, [](const V8Heard& v) { return v.cm.empty() ? nullptr : &v.cm[0]; })
        .absent("not heard")
        .means("call menu"),
    E8::part("cj", kCj, [](const V8Heard& v) { return v.cj > 0 ? &v : nullptr; })
        .absent("not heard")
        .means("CM terminator"),
    E8::part("jm", kMenu, [](const V8Heard& v) { return v.jm.empty() ? nullptr : &v.jm[0]; })
        .absent("not heard")
        .means("joint menu"),
};
constexpr Table kV8Heard{kV8HeardRows};

using I0 = Written<v34::Info0>;
constexpr Row kInfo0Rows[] = {
    I0::of<&v34::Info0::supports_2743>("supports_2743", "", "2743 symbols/s are supported"),
    I0::of<&v34::Info0::supports_2800>("supports_2800", "", "2800 symbols/s are supported"),
    I0::of<&v34::Info0::supports_3429>("supports_3429", "", "3429 symbols/s are supported"),
    I0::of<&v34::Info0::low_carrier_3000>("low_carrier_3000", "", "can transmit 3000 symbols/s at the low carrier"),
    I0::of<&v34::Info0::high_carrier_3000>("high_carrier_3000", "", "can transmit 3000 symbols/s at the high carrier"),
    I0::of<&v34::Info0::low_carrier_3200>("low_carrier_3200", "", "can transmit 3200 symbols/s at the low carrier"),
    I0::of<&v34::Info0::high_carrier_3200>("high_carrier_3200", "", "can transmit 3200 symbols/s at the high carrier"),
    I0::of<&v34::Info0::may_transmit_3429>("may_transmit_3429", "", "transmission at 3429 symbols/s is allowed"),
    I0::of<&v34::Info0::can_reduce_power>("can_reduce_power", "", "transmit power can be reduced"),
    I0::of<&v34::Info0::max_rate_difference>("max_symbol_rate_difference", "",
                                             "steps between the symbol rates of the two directions"),
    I0::of<&v34::Info0::cme>("cme", "", "circuit multiplication equipment"),
    I0::of<&v34::Info0::supports_1664_points>("supports_1664_points", "", "constellations for more than 28 800 bit/s"),
    I0::of<&v34::Info0::acknowledge>("acknowledge", "", "an INFO0 was received correctly"),
};
constexpr Table kInfo0{kInfo0Rows};

using I0d = Written<v34::Info0d>;
constexpr Row kInfo0dRows[] = {
    I0d::of("nominal_power_dbm0", "dBm0", "transmit power in Phase 2",
            [](const v34::Info0d& i) { return -6 - i.nominal_power; }),
    I0d::of("max_power_dbm0", "dBm0", "highest transmit power",
            [](const v34::Info0d& i) { return -0.5 * (i.max_power + 1); }),
    I0d::of<&v34::Info0d::power_at_codec>("power_at_codec", "",
                                          "powers are measured at the codec, else at the terminals"),
    I0d::of("codec_law", "", "`A` or `mu`", [](const v34::Info0d& i) { return i.a_law ? "A" : "mu"; }),
    I0d::of<&v34::Info0d::upstream_3429>("upstream_3429", "", "3429 symbols/s upstream are supported"),
};
constexpr Table kInfo0d{kInfo0dRows};

struct ProbingResult {
  v34::SymbolRate rate;
  v34::ProbingResult result;
};
using PR = Written<ProbingResult>;
constexpr Row kProbingResultRows[] = {
    PR::of("symbol_rate", "symbols/s", "symbol rate", [](const ProbingResult& p) { return symbol_rate_hz(p.rate); })
        .decimals(3),
    PR::of("carrier_hz", "Hz", "carrier frequency",
           [](const ProbingResult& p) { return carrier_hz(p.rate, p.result.carrier); })
        .decimals(3),
    PR::of<&ProbingResult::result, &v34::ProbingResult::pre_emphasis>("pre_emphasis", "",
                                                                      "index of the filter, 0 to 10"),
    PR::of("max_bit_rate", "bit/s", "projected; 0: this symbol rate cannot be used",
           [](const ProbingResult& p) { return 2400 * p.result.max_rate; }),
};
constexpr Table kProbingResult{kProbingResultRows, "ProbingResult"};

/// The fields that INFO1c, INFO1d and INFO1a share.
struct Info1 {
  int md_length, frequency_offset;
  std::optional<int> min_power_reduction, extra_power_reduction;  ///< none in V.90's INFO1a
};
std::optional<Info1> info1_of(const InfoHeard& h) {
  if (const auto* c = std::get_if<v34::Info1c>(&h.info))
    return Info1{c->md_length, c->frequency_offset, c->min_power_reduction, c->extra_power_reduction};
  if (const auto* a = std::get_if<v34::Info1a>(&h.info))
    return Info1{a->md_length, a->frequency_offset, a->min_power_reduction, a->extra_power_reduction};
  if (const auto* v = std::get_if<v34::Info1aV90>(&h.info)) return Info1{v->md_length, v->frequency_offset, {}, {}};
  return {};
}
using I1 = Written<Info1>;
constexpr Row kInfo1Rows[] = {
    I1::of("md_s", "s", "length of MD", [](const Info1& i) { return 0.035 * i.md_length; }).decimals(3),
    I1::of("frequency_offset_hz", "Hz", "frequency offset of the probing tones as received",
           [](const Info1& i) {
             return i.frequency_offset == v34::kOffsetUnknown ? std::nullopt : std::optional(0.02 * i.frequency_offset);
           })
        .decimals(2)
        .absent("INFO0; not measured"),
    I1::of<&Info1::min_power_reduction>("min_power_reduction_db", "dB", "requested power reduction")
        .absent("INFO0; V.90's INFO1a"),
    I1::of<&Info1::extra_power_reduction>("extra_power_reduction_db", "dB", "additional tolerable power reduction")
        .absent("INFO0; V.90's INFO1a"),
};
constexpr Table kInfo1{kInfo1Rows};

std::array<ProbingResult, v34::kSymbolRates> probing_results(const v34::Info1c& info) {
  std::array<ProbingResult, v34::kSymbolRates> all;
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = {static_cast<v34::SymbolRate>(k), info.probing[k]};
  return all;
}
using I1c = Written<v34::Info1c>;
constexpr Row kInfo1cRows[] = {
    I1c::part<&probing_results>("symbol_rates", kProbingResult).means("capacity of the line at each symbol rate"),
};
constexpr Table kInfo1c{kInfo1cRows};

using I1a = Written<v34::Info1a>;
constexpr Row kInfo1aRows[] = {
    I1a::part("call_to_answer", kProbingResult,
              [](const v34::Info1a& a) {
                return ProbingResult{a.rate_call_to_answer, a.call_to_answer};
              })
        .means("choices of the answer modem"),
    I1a::of("answer_to_call_symbol_rate", "symbols/s", "chosen symbol rate of the other direction",
            [](const v34::Info1a& a) { return symbol_rate_hz(a.rate_answer_to_call); })
        .decimals(3),
};
constexpr Table kInfo1a{kInfo1aRows};

using I1v = Written<v34::Info1aV90>;
constexpr Row kInfo1aV90Rows[] = {
    I1v::of<&v34::Info1aV90::u_info>("u_info", "", "Ucode of TRN1d"),
    I1v::of("upstream_symbol_rate", "symbols/s", "chosen symbol rate of the upstream; 8000: PCM upstream of V.92",
            [](const v34::Info1aV90& v) { return v.pcm_upstream ? kRateHz : symbol_rate_hz(v.rate_upstream); })
        .decimals(3),
};
constexpr Table kInfo1aV90{kInfo1aV90Rows};

const v34::Info0* info0_of(const InfoHeard& h) {
  const auto* d = std::get_if<v34::Info0d>(&h.info);
  return d != nullptr ? &d->v34 : std::get_if<v34::Info0>(&h.info);
}
template <typename T>
const T* info_of(const InfoHeard& h) {
  return std::get_if<T>(&h.info);
}
using I = Written<InfoHeard>;
constexpr Row kInfoOfV90Rows[] = {
    I::of<&InfoHeard::v92_short_phase2>("v92_short_phase2", "",
                                        "V.92: short Phase 2 is requested; bit 26 of INFO0d, 27 of INFO0a"),
    I::of<&InfoHeard::v92_capable>("v92_capable", "",
                                   "V.92 capability; bit 27 of INFO0d, 26 of INFO0a (in the order of recorded modems)"),
};
constexpr Table kInfoOfV90{kInfoOfV90Rows};
constexpr Row kInfoRows[] = {
    I::of<&InfoHeard::type>("name", "",
                            "`INFO0c`, `INFO0a`, `INFO0d`, `INFO1c`, `INFO1d` or `INFO1a`; decides which keys are "
                            "present, for INFO1a together with the modem: that of V.90 has `u_info`"),
    I::of<&InfoHeard::channel>("channel", "", "channel of the sender"),
    I::of<&InfoHeard::carrier_hz>("carrier_hz", "Hz", "1200 or 2400"),
    I::of<&InfoHeard::t0>("start_s", "s", "first fill bit").decimals(kTime),
    I::of<&InfoHeard::t1>("end_s", "s", "last fill bit").decimals(kTime),
    I::of<&InfoHeard::amplitude>("amplitude", "", "amplitude of the signal").decimals(0),
    I::of("bits", "", "fill, sync, fields, CRC and fill", [](const InfoHeard& h) { return bit_string(h.bits); }),
    I::part("", kInfoOfV90, [](const InfoHeard& h) { return h.is_v90() ? &h : nullptr; })
        .absent("other than INFO0 of V.90"),
    I::part<&info0_of>("", kInfo0).absent("INFO1"),
    I::of("transmit_clock", "", "`internal`, `from its receiver`, `external` or `reserved`",
          [](const InfoHeard& h) {
            const auto* i0 = info_of<v34::Info0>(h);
            return i0 != nullptr && !h.is_v90() ? clock_name(*i0) : nullptr;
          })
        .absent("other than V.34's INFO0a, INFO0c"),
    I::part<&info_of<v34::Info0d>>("", kInfo0d).absent("other than INFO0d"),
    I::part<&info1_of>("", kInfo1).absent("INFO0"),
    I::part<&info_of<v34::Info1c>>("", kInfo1c).absent("other than INFO1c, INFO1d"),
    I::part<&info_of<v34::Info1a>>("", kInfo1a).absent("other than V.34's INFO1a"),
    I::part<&info_of<v34::Info1aV90>>("", kInfo1aV90).absent("other than V.90's INFO1a"),
};
constexpr Table kInfo{kInfoRows, "Info"};

using T = Written<ToneHeard>;
constexpr Row kToneRows[] = {
    T::of<&ToneHeard::channel>("channel", "", "channel of the sender"),
    T::part<&ToneHeard::segments>("segments", kSpan).means("time of the tone, together with adjacent INFO sequences"),
    T::of<&ToneHeard::reversals>("reversals_s", "s", "phase reversals outside of INFO sequences").decimals(kTime),
};
constexpr Table kTone{kToneRows, "Tone"};

struct ProbingTone {
  double frequency_hz, level_db, snr_db;
};
std::vector<ProbingTone> probing_tones(const Probing& p) {
  std::vector<ProbingTone> all;
  for (std::size_t k = 0; k < p.snr_db.size(); ++k) all.push_back({p.frequency_hz[k], p.tone_db[k], p.snr_db[k]});
  return all;
}
using PT = Written<ProbingTone>;
constexpr Row kProbingToneRows[] = {
    PT::of<&ProbingTone::frequency_hz>("frequency_hz", "Hz", "frequency of the tone"),
    PT::of<&ProbingTone::level_db>("level_db", "dB", "level over the mean power of the tones").decimals(1),
    PT::of<&ProbingTone::snr_db>("snr_db", "dB", "level of the tone over noise and distortion within 150 Hz around it")
        .decimals(1),
};
constexpr Table kProbingTone{kProbingToneRows, "ProbingTone"};

using P = Written<Probing>;
constexpr Row kProbingRows[] = {
    P::of<&Probing::channel>("channel", "", "channel of the sender"),
    P::of<&Probing::t0>("l1_start_s", "s", "start of L1").decimals(kTime),
    P::of<&Probing::t1>("end_s", "s", "end of L2").decimals(kTime),
    P::of("l1_level_db", "dB", "RMS over one unit of a full scale of 32 768",
          [](const Probing& p) { return p.level_db[0]; })
        .decimals(1),
    P::of("l2_level_db", "dB", "level of L2, in the unit of `l1_level_db`",
          [](const Probing& p) { return p.level_db[1]; })
        .decimals(1),
    P::part<&probing_tones>("tones", kProbingTone).means("tones of L2; empty if L2 was too short"),
    P::of<&Probing::l1_to_l2>("l2_start_s", "s", "start of L2")
        .decimals(kTime)
        .absent_if_0("L1 and L2 are equally loud"),
};
constexpr Table kProbing{kProbingRows, "Probing"};

// An MH sequence of V.92, Table 32.
using H = Written<HoldHeard>;
constexpr Row kHoldRows[] = {
    H::of("name", "", "`MHreq`, `MHack`, `MHnack`, `MHclrd`, `MHcda` or `MHfrr`",
          [](const HoldHeard& h) { return name(h.message.signal); }),
    H::of("modem", "", "`analogue` or `digital`",
          [](const HoldHeard& h) { return h.carrier_hz == v34::kDpskCallHz ? "digital" : "analogue"; }),
    H::of<&HoldHeard::channel>("channel", "", "channel of the sender"),
    H::of<&HoldHeard::t0>("start_s", "s", "start of the first sequence").decimals(kTime),
    H::of<&HoldHeard::t1>("end_s", "s", "end of the last sequence").decimals(kTime),
    H::of<&HoldHeard::amplitude>("amplitude", "", "amplitude of the signal").decimals(0),
    H::of<&HoldHeard::count>("count", "", "number of sequences"),
    H::of<&HoldHeard::message, &v90::HoldMessage::information>("information", "",
                                                               "bits 16:19 of Table 32, in the printed order"),
    H::of("meaning", "", "meaning: `hold for 30 s`, `incoming call`",
          [](const HoldHeard& h) { return describe(h.message); })
        .absent_if_0("the signal has no further content"),
};
constexpr Table kHold{kHoldRows, "ModemOnHold"};

using StartUpRow = Written<StartUp>;
constexpr Row kV8bisRows[] = {
    StartUpRow::part<&StartUp::v8bis_signals>("signals", kSignal).means("in order of time"),
    StartUpRow::part<&StartUp::v8bis>("messages", kMessage).means("in order of time"),
};
constexpr Row kV8Rows[] = {
    StartUpRow::part<&StartUp::answer_tones>("answer_tones", kAnswerTone).means("by channel"),
    StartUpRow::part<&StartUp::v8>("", kV8Heard),
};
constexpr Row kPhase2Rows[] = {
    StartUpRow::part<&StartUp::info>("info", kInfo)
        .means("INFO sequences with a good CRC, in order of time, repeated ones too"),
    StartUpRow::part<&StartUp::probing>("probing", kProbing).means("L1 and L2"),
    StartUpRow::part<&StartUp::hold>("modem_on_hold", kHold)
        .means("MH sequences of V.92 with a good CRC, in order of time; consecutive equal ones count once"),
    StartUpRow::of<&StartUp::channel_1200>("channel_1200_hz", "",
                                           "channel that sends at 1200 Hz: V.34's call modem, V.90's digital modem")
        .absent_below_0("no INFO sequence heard"),
    StartUpRow::of<&StartUp::channel_2400>("channel_2400_hz", "",
                                           "channel that sends at 2400 Hz: V.34's answer modem, V.90's analogue modem")
        .absent_below_0("no INFO sequence heard"),
    StartUpRow::part("tone_a", kTone,
                     [](const StartUp& s) { return !s.info.empty() && s.channel_2400 >= 0 ? &s.tone_a : nullptr; })
        .absent("no INFO sequence heard")
        .means("2400 Hz"),
    StartUpRow::part("tone_b", kTone,
                     [](const StartUp& s) { return !s.info.empty() && s.channel_1200 >= 0 ? &s.tone_b : nullptr; })
        .absent("no INFO sequence heard")
        .means("1200 Hz"),
};

using Span = std::pair<double, double>;
constexpr Row kSpanRows[] = {
    Written<Span>::of<&Span::first>("start_s", "s", "start").decimals(kTime),
    Written<Span>::of<&Span::second>("end_s", "s", "end").decimals(kTime),
};

}  // namespace

constexpr Table kV8bis{kV8bisRows, "V8bis"}, kV8{kV8Rows, "V8"}, kPhase2{kPhase2Rows, "Phase2"},
    kSpan{kSpanRows, "Span"};

}  // namespace offhook::decode
