// SPDX-License-Identifier: MIT
//
// Fax machines in the JSON of a decoded call.
#include "src/decode/call/call.h"
#include "src/decode/presentation/fax_words.h"
#include "src/decode/presentation/json_tables.h"
#include "src/decode/presentation/names.h"

namespace offhook::decode {
namespace {

using Cng = Written<CallingTone>;
constexpr Row kCallingToneRows[] = {
    Cng::of<&CallingTone::channel>("channel", "", "channel of the sender"),
    Cng::of<&CallingTone::t0>("start_s", "s", "start of the tone").decimals(kTime),
    Cng::of<&CallingTone::t1>("end_s", "s", "end of the tone").decimals(kTime),
};
constexpr Table kCallingTone{kCallingToneRows, "CallingTone"};

using FF = Written<FaxFrame>;
constexpr Row kFaxFrameRows[] = {
    FF::of<&FaxFrame::name>("name", "", "name of the facsimile control field: `DIS`, `DCS`, `CFR`, ..."),
    FF::of<&FaxFrame::channel>("channel", "", "channel of the sender"),
    FF::of<&FaxFrame::t>("start_s", "s", "time of the opening flag").decimals(kTime),
    FF::of("octets", "", "address, control and facsimile control field, and the rest of the frame",
           [](const FaxFrame& f) { return octet_string(f.received.octets); }),
    FF::of<&FaxFrame::meaning>("meaning", "",
                               "content of the frame: each field of DIS, DTC and DCS, the text of an identification, "
                               "page, block and frames of PPS, the frames that PPR requests"),
};
constexpr Table kFaxFrame{kFaxFrameRows, "FaxFrame"};

using FC = Written<FaxCarrier>;
constexpr Row kFaxCarrierRows[] = {
    FC::of("kind", "", "`test` (TCF) or `page`", [](const FaxCarrier& c) { return c.test ? "test" : "page"; }),
    FC::of<&FaxCarrier::channel>("channel", "", "channel of the sender"),
    FC::of<&FaxCarrier::t0>("start_s", "s", "start of the training").decimals(kTime),
    FC::of<&FaxCarrier::t1>("end_s", "s", "end of the carrier").decimals(kTime),
    FC::of("modulation", "", "`V.27ter`, `V.29` or `V.17`", [](const FaxCarrier& c) { return name_of(c.rate.modem); }),
    FC::of("bit_rate", "bit/s", "bit rate that DCS or CTC names", [](const FaxCarrier& c) { return c.rate.bit_rate; }),
    FC::of<&FaxCarrier::trained>("trained", "", "whether the receiver was trained; else nothing was read"),
    FC::of<&FaxCarrier::bits>("bit_count", "", "bits after the training"),
    FC::of("wrong_bit_count", "", "number of wrong bits (ones) in the first 1.35 s of a test, which consists of zeros",
           [](const FaxCarrier& c) { return c.test ? std::optional(c.wrong_bits) : std::nullopt; })
        .absent("no test"),
    FC::of<&FaxCarrier::good_frames>("good_frames", "", "frames of a page with a good check sequence")
        .absent_if_0("no error correction, or none"),
    FC::of<&FaxCarrier::bad_frames>("bad_frames", "",
                                    "HDLC frames with a wrong check sequence, after the first good one")
        .absent_if_0("none"),
    FC::of<&FaxCarrier::lost_packets>("lost_packet_count", "", "lost packets of T.38").absent_if_0("none"),
};
constexpr Table kFaxCarrier{kFaxCarrierRows, "FaxCarrier"};

using FB = Written<FaxBlock>;
constexpr Row kFaxBlockRows[] = {
    FB::of<&FaxBlock::page>("page", "", "number of the page in PPS, from 0"),
    FB::of<&FaxBlock::number>("block", "", "number of the block in PPS, from 0"),
    FB::of<&FaxBlock::frames>("frame_count", "", "frames of the block, by PPS").absent_if_0("no PPS was read"),
    FB::of<&FaxBlock::repeated>("repeated_frame_count", "", "good frames that were received more than once"),
    FB::of<&FaxBlock::missing>("missing_frames", "", "numbers of frames without a good check sequence"),
};
constexpr Table kFaxBlock{kFaxBlockRows, "FaxBlock"};

using Stretch = std::pair<int, int>;
using LS = Written<Stretch>;
constexpr Row kFaxLinesRows[] = {
    LS::of<&Stretch::first>("first", "", "first line, from 0"),
    LS::of<&Stretch::second>("last", "", "last line"),
};
constexpr Table kFaxLines{kFaxLinesRows, "FaxLines"};

using FP = Written<FaxPage>;
constexpr Row kFaxPageRows[] = {
    FP::of<&FaxPage::channel>("channel", "", "channel of the sender"),
    FP::of<&FaxPage::t0>("start_s", "s", "start of its first carrier").decimals(kTime),
    FP::of<&FaxPage::t1>("end_s", "s", "end of its last carrier").decimals(kTime),
    FP::of("modulation", "", "`V.27ter`, `V.29` or `V.17`",
           [](const FaxPage& p) { return name_of(p.format.rate->modem); }),
    FP::of("bit_rate", "bit/s", "bit rate that DCS or CTC names",
           [](const FaxPage& p) { return p.format.rate->bit_rate; }),
    FP::of("coding", "", "`T.4 one-dimensional`, `T.4 two-dimensional` or `T.6`",
           [](const FaxPage& p) { return coding_name(p.format); })
        .absent("not decoded: JBIG, JPEG, a file"),
    FP::of<&FaxPage::format, &PageFormat::error_correction>("error_correction", "", "whether DCS requests it"),
    FP::of<&FaxPage::format, &PageFormat::width>("width", "", "pixels in a line, by DCS"),
    FP::of<&FaxPage::reading, &PageReading::lines>("line_count", "", "decoded lines"),
    FP::of<&FaxPage::format, &PageFormat::x_dpi>("x_dpi", "", "pixels in an inch of a line, by DCS").decimals(0),
    FP::of<&FaxPage::format, &PageFormat::y_dpi>("y_dpi", "", "lines in an inch, by DCS").decimals(0),
    FP::of("damaged_line_count", "", "lines that the coding does not permit, or that refer to such a line",
           [](const FaxPage& p) { return p.reading.bad_lines(); }),
    FP::part(
        "damaged_lines", kFaxLines, [](const FaxPage& p) -> const auto& { return p.reading.bad; })
        .means("groups of consecutive damaged lines"),
    FP::of<&FaxPage::reading, &PageReading::ended>("ended", "", "whether the end of the page (RTC, EOFB) was read"),
    FP::of<&FaxPage::missing_frames>("missing_frame_count", "",
                                     "frames that were received in no carrier with a good check sequence"),
    FP::part<&FaxPage::blocks>("blocks", kFaxBlock).means("blocks of a page with error correction"),
    FP::of<&FaxPage::end>("end", "", "command after the page: `EOP`, `MPS`, `PPS-EOP`, ...")
        .absent_if_0("none was read"),
    FP::of<&FaxPage::response>("response", "", "answer to that command: `MCF`, `RTN`, ...")
        .absent_if_0("none was read"),
    FP::of<&FaxPage::whole>("whole", "",
                            "whether all lines are undamaged, all frames are present, and the end was read"),
};
constexpr Table kFaxPage{kFaxPageRows, "FaxPage"};

using Fx = Written<FaxHeard>;
constexpr Row kFaxRows[] = {
    Fx::part<&FaxHeard::cng>("cng", kCallingTone).means("calling tone, 1100 Hz"),
    Fx::part<&FaxHeard::frames>("frames", kFaxFrame).means("frames of T.30 with a good check sequence"),
    Fx::part<&FaxHeard::damaged>("damaged_frames", kFaxFrame)
        .means("frames of T.30 with a wrong check sequence: any of their bits may be wrong"),
    Fx::part(
        "carriers", kFaxCarrier, [](const FaxHeard& f) -> const auto& { return f.sent.carriers; })
        .means("tests of the line and pages, in order of time"),
    Fx::part(
        "pages", kFaxPage, [](const FaxHeard& f) -> const auto& { return f.sent.pages; })
        .means("pages as they were sent; a page that was refused and sent again appears twice"),
};

}  // namespace

constexpr Table kFax{kFaxRows, "Fax"};

}  // namespace offhook::decode
