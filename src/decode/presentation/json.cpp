// SPDX-License-Identifier: MIT
#include "src/decode/presentation/json.h"

#include <nlohmann/json.hpp>

#include "offhook/decode.h"
#include "src/decode/call/verdict.h"
#include "src/decode/presentation/fax_words.h"
#include "src/decode/presentation/json_tables.h"
#include "src/decode/presentation/names.h"
#include "src/decode/presentation/notes.h"
#include "src/decode/presentation/timeline.h"

namespace offhook::decode {
namespace {

using RtpE = Written<RtpEvent>;
constexpr Row kRtpEventRows[] = {
    RtpE::of<&RtpEvent::what>("event", "",
                              "`packets lost`, `timestamp jump` without a loss, or `telephone event` (RFC 4733)"),
    RtpE::of<&RtpEvent::t>("start_s", "s", "start of the event").decimals(kTime),
    RtpE::of<&RtpEvent::t_end>("end_s", "s", "end of the event").decimals(kTime).absent_if_0("a moment"),
    RtpE::of<&RtpEvent::detail>("detail", "", "number of packets or samples, and inserted silence"),
};
constexpr Table kRtpEvent{kRtpEventRows, "RtpEvent"};

using Rtp = Written<RtpStream>;
constexpr Row kRtpStreamRows[] = {
    Rtp::of<&RtpStream::channel>("channel", "", "channel with the samples of the stream"),
    Rtp::of<&RtpStream::from>("from", "", "address and port of the sender"),
    Rtp::of<&RtpStream::to>("to", "", "address and port of the receiver"),
    Rtp::of<&RtpStream::codec>("codec", "",
                               "`G.711 mu-law`, `G.711 A-law`, `clear mode, mu-law` or `clear mode, A-law`"),
    Rtp::of<&RtpStream::packets>("packet_count", "", "packets, each counted once"),
    Rtp::of<&RtpStream::lost>("lost_count", "", "missing sequence numbers"),
    Rtp::of<&RtpStream::reordered>("reordered_count", "", "packets that arrived after a later one"),
    Rtp::of<&RtpStream::duplicates>("duplicate_count", "", "packets whose sequence number had already arrived"),
    Rtp::of<&RtpStream::jitter_s>("jitter_s", "s", "interarrival jitter of RFC 3550 at the end").decimals(kTime),
    Rtp::of<&RtpStream::clock_ppm>("clock_ppm", "ppm", "clock of the sender relative to the capture")
        .decimals(1)
        .absent("shorter than 20 s"),
    Rtp::of<&RtpStream::clock_uncertainty_ppm>("clock_uncertainty_ppm", "ppm",
                                               "the clock is within this much of `clock_ppm` at 95 %")
        .decimals(1)
        .absent("shorter than 20 s"),
    Rtp::part<&RtpStream::events>("events", kRtpEvent).means("losses and jumps, in order of time"),
};
constexpr Table kRtpStream{kRtpStreamRows, "RtpStream"};

using Sip = Written<SipCall>;
constexpr Row kSipRows[] = {
    Sip::of<&SipCall::call_id>("call_id", "", "Call-ID"),
    Sip::of<&SipCall::caller>("caller", "", "user of From, as a rule a telephone number"),
    Sip::of<&SipCall::called>("called", "", "user of To"),
};
constexpr Table kSip{kSipRows, "Sip"};

using T38 = Written<T38Frame>;
constexpr Row kT38FrameRows[] = {
    T38::of("name", "", "name of the facsimile control field: `DIS`, `DCS`, ...",
            [](const T38Frame& f) { return t38_name(f); }),
    T38::of<&T38Frame::channel>("channel", "", "channel of the sender"),
    T38::of<&T38Frame::t>("start_s", "s", "arrival of the first packet of the frame").decimals(kTime),
    T38::of<&T38Frame::fcs_good>("good", "", "whether the check sequence was good at the gateway"),
    T38::of("octets", "", "address, control and facsimile control field, and the rest of the frame",
            [](const T38Frame& f) { return octet_string(f.octets); }),
    T38::of("meaning", "", "content of the frame, as `meaning` of a FaxFrame",
            [](const T38Frame& f) { return fax_meaning(t38_name(f), f.octets); }),
};
constexpr Table kT38Frame{kT38FrameRows, "T38Frame"};

using T38S = Written<T38Stream>;
constexpr Row kT38StreamRows[] = {
    T38S::of<&T38Stream::channel>("channel", "", "channel of the sender"),
    T38S::of<&T38Stream::from>("from", "", "address and port of the sender"),
    T38S::of<&T38Stream::to>("to", "", "address and port of the receiver"),
    T38S::of<&T38Stream::version>("version", "", "T38FaxVersion by SIP; else 0 or 3, as the packets fit"),
    T38S::of<&T38Stream::packets>("packet_count", "", "packets of UDPTL, each counted once"),
    T38S::of<&T38Stream::lost>("lost_count", "", "missing sequence numbers that no redundant packet made up for"),
    T38S::of<&T38Stream::recovered>("recovered_count", "",
                                    "missing sequence numbers that a redundant packet made up for"),
};
constexpr Table kT38Stream{kT38StreamRows, "T38Stream"};

struct ChannelOfFile {
  int peak, clipped;
  std::optional<double> end_s;
};
std::vector<ChannelOfFile> channels(const Call& call) {
  std::vector<ChannelOfFile> all;
  for (std::size_t c = 0; c < call.recording.peak.size(); ++c) {
    all.push_back({call.recording.peak[c], call.recording.clipped[c], {}});
    if (c < call.activity_end_s.size()) all.back().end_s = call.activity_end_s[c];
  }
  return all;
}
using Ch = Written<ChannelOfFile>;
constexpr Row kChannelRows[] = {
    Ch::of<&ChannelOfFile::peak>("peak", "", "largest sample, full scale 32 768"),
    Ch::of<&ChannelOfFile::clipped>("clipped_samples", "",
                                    "samples at either end of the scale, in runs of two or more"),
    Ch::of<&ChannelOfFile::end_s>("signal_end_s", "s",
                                  "end of the last signal: the last 10 ms within 40 dB of the loudest")
        .decimals(3)
        .absent("not analysed"),
};
constexpr Table kChannel{kChannelRows, "Channel"};

using C = Written<Call>;
constexpr Row kRecordingRows[] = {
    C::of<&Call::recording, &Recording::name>("name", "", "name of the file, without its folder"),
    C::of<&Call::recording, &Recording::file_rate_hz>("sample_rate_hz", "Hz",
                                                      "sample rate of the file; the analysis uses 8000"),
    C::of<&Call::recording, &Recording::duration_s>("duration_s", "s",
                                                    "duration of the file, or of its part with this call")
        .decimals(3),
    C::of<&Call::recording, &Recording::start_s>(
        "start_s", "s", "beginning of that part, else 0; in a packet capture, after the first packet")
        .decimals(3),
    C::of<&Call::recording, &Recording::truncated>("truncated", "",
                                                   "whether the file is shorter than the length in its header"),
    C::part<&channels>("channels", kChannel).means("one for each channel"),
    C::of<&Call::recording, &Recording::call>("call", "", "number of this call in the file, from 1")
        .absent_if_0("one call"),
    C::of<&Call::clock_difference_ppm>("clock_difference_ppm", "ppm",
                                       "clock of channel 1 against that of channel 0, by the echo between them")
        .decimals(1)
        .absent("one clock, or no echo"),
    C::part(
        "rtp", kRtpStream, [](const Call& c) -> const auto& { return c.recording.rtp; })
        .absent_if_0("no packet capture, or no speech in the call")
        .means("streams that the channels were made of"),
    C::part("sip", kSip, [](const Call& c) { return c.recording.sip ? &*c.recording.sip : nullptr; })
        .absent("no packet capture, or no SIP for these streams")
        .means("the call of SIP that describes the streams"),
    C::part(
        "t38", kT38Frame, [](const Call& c) -> const auto& { return c.recording.t38; })
        .absent_if_0("no T.38 in this call")
        .means("frames of T.30 in the call's T.38"),
    C::part(
        "t38_streams", kT38Stream, [](const Call& c) -> const auto& { return c.recording.t38_streams; })
        .absent_if_0("no T.38 in this call")
        .means("packets of the call's T.38, one for each direction"),
};
constexpr Table kRecording{kRecordingRows, "Recording"};

using Towards = Verdict::Direction;
using VD = Written<Towards>;
constexpr Row kVerdictDirectionRows[] = {
    VD::of<&Towards::name>(
        "name", "",
        "`call to answer`, `answer to call`, `upstream`, `downstream`, or `channel 0` if the role is "
        "unknown"),
    VD::of<&Towards::rate_from>("rate_from", "",
                                "`both MPs`, `CP`, `rate signals`, `its symbols`, `nominal` or `not read`"),
    VD::of("data", "",
           "`data decoded to the end`, which `, but not those after ... s` or `, but damaged at ... s` may follow, or "
           "`data not decoded after ... s because ...`",
           [](const Towards& d) { return describe(d); }),
    VD::of<&Towards::channel>("channel", "", "channel of the sender").absent_below_0("not recorded"),
    VD::of<&Towards::bit_rate>("bit_rate", "bit/s", "bit rate of the last data mode").absent_if_0("not read"),
    VD::of("since_s", "s", "time from which data were not decoded",
           [](const Towards& d) { return d.to_the_end ? std::nullopt : std::optional(d.since_s); })
        .decimals(1)
        .absent("read to the end"),
    VD::of("reason", "", "why they were not decoded",
           [](const Towards& d) { return d.to_the_end ? std::nullopt : std::optional(d.reason); })
        .absent("read to the end"),
    VD::of<&Towards::format>("format", "", "format of start-stop characters: `8N1`, `7E1`, ...")
        .absent_if_0("no characters"),
    VD::of("character_count", "", "number of start-stop characters",
           [](const Towards& d) { return d.format.empty() ? std::nullopt : std::optional(d.characters); })
        .absent("no characters"),
    VD::of<&Towards::good_frames>("good_frames", "", "HDLC frames with a good check sequence, of all its data modes"),
    VD::of<&Towards::bad_frames>("bad_frames", "", "HDLC frames with a wrong check sequence, after the first good one"),
};
constexpr Table kVerdictDirection{kVerdictDirectionRows, "VerdictDirection"};

template <typename T>
std::optional<T> if_named(const Verdict& v, T value) {
  return v.weight.kind == EvidenceKind::kNone ? std::nullopt : std::optional<T>(std::move(value));
}
using V = Written<Verdict>;
constexpr Row kVerdictRows[] = {
    V::of<&Verdict::technology>("technology", "", "see [Technologies](#technologies)"),
    V::of<&Verdict::evidence>("evidence", "", "evidence, in sentences"),
    V::of("probability", "", "probability that the technology is correct, from generated signals of known kind",
          [](const Verdict& v) { return if_named(v, v.weight.probability); })
        .decimals(3)
        .absent("nothing is named"),
    V::of("next_best", "", "technology with the most evidence other than the named one",
          [](const Verdict& v) { return if_named(v, v.weight.next_best); })
        .absent("nothing is named"),
    V::of("evidence_kind", "", "`messages`, `training`, `two tones`, `symbol clock` or `tone`",
          [](const Verdict& v) { return name_of(v.weight.kind); })
        .absent("nothing is named"),
    V::of("evidence_strength", "",
          "evidence in bits that the next best hypothesis lacks, most of it of that kind; negative if it has more",
          [](const Verdict& v) { return if_named(v, v.weight.strength); })
        .decimals(1)
        .absent("nothing is named"),
    V::of<&Verdict::retrains>("retrains", "", "number of retrains"),
    V::of<&Verdict::renegotiations>("rate_renegotiations", "", "number of rate renegotiations"),
    V::of<&Verdict::cleardowns>("cleardowns", "", "number of cleardowns"),
    V::part<&Verdict::directions>("directions", kVerdictDirection).means("each direction of the call"),
};
constexpr Table kVerdict{kVerdictRows, "Verdict"};

using S = Written<StartUp>;
constexpr Row kRolesRows[] = {
    S::of<&StartUp::call_channel>("call_channel", "", "channel of the call modem")
        .absent_below_0("unknown, not recorded"),
    S::of<&StartUp::answer_channel>("answer_channel", "", "channel of the answer modem")
        .absent_below_0("unknown, not recorded"),
    S::of<&StartUp::roles_from>("determined_by", "", "signal that distinguishes them").absent("unknown"),
};
constexpr Table kRoles{kRolesRows, "Roles"};

struct EchoIn {
  std::size_t channel;
  const EchoPath* path;
};
std::vector<EchoIn> echoes(const Call& call) {
  std::vector<EchoIn> all;
  for (std::size_t c = 0; c < call.echo.size(); ++c)
    for (const EchoPath& e : call.echo[c]) all.push_back({c, &e});
  return all;
}
using E = Written<EchoIn>;
constexpr Row kEchoRows[] = {
    E::of<&EchoIn::channel>("channel", "", "channel that contains the other one's echo"),
    E::of("start_s", "s", "first interval used for training", [](const EchoIn& e) { return e.path->t0; })
        .decimals(kTime),
    E::of("end_s", "s", "last of them", [](const EchoIn& e) { return e.path->t1; }).decimals(kTime),
    E::of("delay_s", "s", "delay of its strongest tap", [](const EchoIn& e) { return e.path->delay_ms() / 1000; })
        .decimals(4),
    E::of("loss_db", "dB", "echo loss of the path: the source's power over the echo's",
          [](const EchoIn& e) { return e.path->loss_db; })
        .decimals(1),
    E::of("enhancement_db", "dB", "echo return loss enhancement in the training interval",
          [](const EchoIn& e) { return e.path->enhancement_db; })
        .decimals(1),
};
constexpr Table kEcho{kEchoRows, "Echo"};

constexpr std::size_t kMostText = 4096;  // characters; --payload has all

template <typename T>
std::optional<T> if_text(const FskHeard& f, T value) {
  return f.text.format.empty() ? std::nullopt : std::optional<T>(std::move(value));
}
using F = Written<FskHeard>;
constexpr Row kFskRows[] = {
    F::of<&FskHeard::modulation>("modulation", "", "`V.21`, `V.23`, `Bell 103` or `Bell 202`"),
    F::of<&FskHeard::channel>("channel", "", "channel of the sender"),
    F::of<&FskHeard::bit_rate>("bit_rate", "bit/s", "nominal bit rate"),
    F::of<&FskHeard::t0>("start_s", "s", "first bit").decimals(kTime),
    F::of<&FskHeard::t1>("end_s", "s", "last bit").decimals(kTime),
    F::of<&FskHeard::amplitude>("amplitude", "", "amplitude of the signal").decimals(0),
    F::of<&FskHeard::text, &StartStopText::format>("format", "", "format of start-stop characters: `8N1`, `7E1`, ...")
        .absent_if_0("no characters"),
    F::of("text", "", "at most 4096 characters; a space or a point replaces one that is not printable",
          [](const FskHeard& f) { return if_text(f, preview(f.text.characters, kMostText)); })
        .absent("no characters"),
    F::of("octet_count", "", "number of decoded characters",
          [](const FskHeard& f) { return if_text(f, f.text.characters.size()); })
        .absent("no characters"),
    F::of("station", "", "`calling` or `answering`: station that uses this band",
          [](const FskHeard& f) { return f.one_band  ? nullptr
                                         : f.calling ? "calling"
                                                     : "answering"; })
        .absent("Bell 202"),
};
constexpr Table kFsk{kFskRows, "Fsk"};

using CS = Written<CallSignal>;
constexpr Row kCallSignalRows[] = {
    CS::of<&CallSignal::name>("name", "",
                              "`DTMF`, `dial tone`, `ringback`, `busy`, `special information tone`, `calling tone 1300 "
                              "Hz`, `answer tone 2225 Hz` or `caller ID`"),
    CS::of<&CallSignal::detail>("detail", "", "the digits, the cadence, or the fields of a caller ID; may be empty"),
    CS::of<&CallSignal::channel>("channel", "", "channel of the sender"),
    CS::of<&CallSignal::t0>("start_s", "s", "start of the signal").decimals(kTime),
    CS::of<&CallSignal::t1>("end_s", "s", "end of the signal").decimals(kTime),
};
constexpr Table kCallSignal{kCallSignalRows, "CallSignal"};

using Sy = Written<SymbolClock>;
constexpr Row kSymbolClockRows[] = {
    Sy::of<&SymbolClock::channel>("channel", "", "channel of the sender"),
    Sy::of<&SymbolClock::symbol_rate>("symbol_rate", "symbols/s",
                                      "nominal, an integer; 0: several rates that are not multiples of one rate"),
    Sy::of<&SymbolClock::clock_ppm>("clock_ppm", "ppm", "clock of the sender relative to the recording").decimals(1),
    Sy::of<&SymbolClock::carrier_hz>("carrier_hz", "Hz", "middle of the band, measured to about 50 Hz").decimals(0),
    Sy::of<&SymbolClock::t0>("start_s", "s", "time from which the signal is steady").decimals(kTime),
    Sy::of<&SymbolClock::t1>("end_s", "s", "end of the steady signal").decimals(kTime),
    Sy::of<&SymbolClock::over_noise_db>(
        "over_noise_db", "dB", "similarity of the spectrum to itself one symbol rate higher, compared with chance")
        .decimals(1),
};
constexpr Table kSymbolClock{kSymbolClockRows, "SymbolClock"};

using Chg = Written<Change>;
constexpr Row kChangeRows[] = {
    Chg::of<&change_name>("name", "",
                          "`rate renegotiation`, `cleardown` or `retrain` (V.32bis, V.22bis; for V.34 see `trainings`; "
                          "this list has those whose INFO sequences were not decoded)"),
    Chg::of<&Change::t>("start_s", "s", "start of its first signal").decimals(kTime),
    Chg::of<&Change::channel>("channel", "", "channel of the sender"),
    Chg::of<&Change::by>("by", "", "`call`, `answer` or `both`").absent("only one direction was recorded"),
    Chg::of<&Change::bit_rate>("bit_rate", "bit/s", "bit rate of both directions after it")
        .absent_if_0("unknown; V.34; cleardown"),
};
constexpr Table kChange{kChangeRows, "Change"};

using Ev = Written<Event>;
constexpr Row kEventRows[] = {
    Ev::of<&Event::t>("start_s", "s", "start of the signal").decimals(kTime),
    Ev::of<&Event::t_end>("end_s", "s", "end of the signal").decimals(kTime).absent_if_0("a moment"),
    Ev::of<&Event::channel>("channel", "", "channel of the sender"),
    Ev::of<&Event::event>("event", "", "name of the signal, as in the timeline of text and page"),
    Ev::of<&Event::detail>("detail", "", "further properties, in words").absent_if_0("no further property"),
};
constexpr Table kEvent{kEventRows, "Event"};

constexpr Row kDocumentRows[] = {
    C::of("schema", "", "`offhook.decode/1`", [](const Call&) { return "offhook.decode/1"; }),
    C::part("recording", kRecording, [](const Call& c) -> const Call& { return c; }).means("the decoded file"),
    C::part<&verdict_of>("verdict", kVerdict).means("technology and evidence"),
    C::part<&Call::start_up>("roles", kRoles).means("channel of each modem"),
    C::of<&Call::modulation>("modulation", "",
                             "`V.34`, `V.90/V.92 downstream PCM`, `V.32bis`, `V.32`, `V.32 or V.32bis`, `V.22bis` or "
                             "`V.22`")
        .absent("nothing read"),
    C::of<&notes>("notes", "", "remarks on the whole recording, in sentences"),
    C::part<&echoes>("echo", kEcho).means("cancelled paths of the other direction's echo"),
    C::part<&Call::start_up>("v8bis", kV8bis).means("signals and messages of V.8bis"),
    C::part<&Call::start_up>("v8", kV8).means("answer tones, V.8, and V.92's octets in it"),
    C::part<&Call::start_up>("phase2", kPhase2).means("Phase 2 of V.34 and V.90"),
    C::part<&Call::trainings>("trainings", kOneTraining)
        .means("Phases 3 and 4 and data mode of V.34 and V.90, one for each INFO1a: the second is a retrain"),
    C::part("connection", kConnection,
            [](const Call& c) { return c.connection.modulation != nullptr ? &c.connection : nullptr; })
        .absent("other than V.32bis, V.32, V.22bis, V.22")
        .means("connections of V.32bis, V.32, V.22bis and V.22"),
    C::part("fax", kFax, [](const Call& c) { return c.is_fax() ? &c.fax : nullptr; })
        .absent("no fax machines")
        .means("calling tone, T.30, pages"),
    C::part<&Call::fsk>("fsk", kFsk)
        .means("V.21, V.23, Bell 103 and Bell 202, except the V.21 signals of V.8 and V.8bis"),
    C::part<&Call::signals>("signals", kCallSignal)
        .means("digits, call progress, caller ID and calling tones, in order of time"),
    C::part<&Call::symbol_clocks>("symbol_clocks", kSymbolClock)
        .means("symbol clocks of a recording that begins in data mode, by channel"),
    C::part<&Call::changes>("changes", kChange).means("changes of data mode"),
    C::part<&timeline>("events", kEvent).means("all detected signals, in order of time"),
};

}  // namespace

constexpr Table kDocument{kDocumentRows, "Document"};

nlohmann::ordered_json json_of(const Call& call) {
  return record::to_json(kDocument, &call);
}

std::string to_json(const Call& call) {
  using Json = nlohmann::ordered_json;
  return json_of(call).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace offhook::decode
